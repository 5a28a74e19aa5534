//! Random services as a model of their own: it knows nothing of XML Schema's components, so what it
//! expects of a change does not depend on the code that is tested.

use deltasoap_test_support::Chance;
use std::fmt::Write as _;

/// A service with document/literal operations.
#[derive(Debug, Clone)]
pub struct Service {
    pub namespace: String,
    pub is_version_12: bool,
    pub address: String,
    pub operations: Vec<Operation>,
    /// Named types, which any message may contain.
    pub types: Vec<Type>,
}

#[derive(Debug, Clone)]
pub struct Operation {
    pub name: String,
    pub action: String,
    pub request: Type,
    pub response: Option<Type>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compositor {
    Sequence,
    Choice,
    All,
}

/// A complex type.
#[derive(Debug, Clone)]
pub struct Type {
    pub compositor: Compositor,
    pub elements: Vec<Element>,
    pub attributes: Vec<Attribute>,
    /// True if a wildcard for other namespaces ends the sequence.
    pub has_any: bool,
    pub is_mixed: bool,
}

#[derive(Debug, Clone)]
pub struct Element {
    pub name: String,
    pub min: u32,
    pub max: Option<u32>,
    pub is_nillable: bool,
    pub fixed: Option<String>,
    pub kind: Kind,
}

#[derive(Debug, Clone)]
pub enum Kind {
    Text(Text),
    Inline(Box<Type>),
    Named(usize),
}

/// A simple type.
#[derive(Debug, Clone)]
pub struct Text {
    pub base: &'static str,
    pub facets: Vec<(&'static str, String)>,
}

#[derive(Debug, Clone)]
pub struct Attribute {
    pub name: String,
    pub is_required: bool,
    pub text: Text,
}

/// Where a type is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    pub root: Root,
    /// The numbers of the elements that lead to it.
    pub path: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    Request(usize),
    Response(usize),
    Named(usize),
}

/// How a service is written, where messages do not show it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Writing {
    pub xsd_prefix: &'static str,
    pub own_prefix: &'static str,
    /// Follows the names of types, messages, port types and bindings.
    pub suffix: &'static str,
    pub has_documentation: bool,
    pub is_reversed: bool,
    /// True if there is a type that nothing uses.
    pub has_unused: bool,
}

pub const PLAIN: Writing = Writing {
    xsd_prefix: "xs",
    own_prefix: "t",
    suffix: "",
    has_documentation: false,
    is_reversed: false,
    has_unused: false,
};

impl Service {
    pub fn random(chance: &mut Chance) -> Self {
        let count = chance.between(1, 3);
        let types = (0..count).map(|number| named_type(chance, number, count)).collect();
        let operation = |chance: &mut Chance, number: usize| Operation {
            name: format!("Op{number}"),
            action: format!("urn:op:{number}"),
            request: Type::random(chance, 2, count),
            response: (!chance.one_in(6)).then(|| Type::random(chance, 2, count)),
        };
        let operations = (0..chance.between(1, 3)).map(|number| operation(chance, number)).collect();
        Service {
            namespace: "urn:service".to_owned(),
            is_version_12: chance.one_in(4),
            address: "http://example.org/service".to_owned(),
            operations,
            types,
        }
    }

    pub fn type_at(&mut self, site: &Site) -> &mut Type {
        let mut at = match site.root {
            Root::Request(number) => &mut self.operations[number].request,
            Root::Response(number) => self.operations[number].response.as_mut().expect("a response"),
            Root::Named(number) => &mut self.types[number],
        };
        for &step in &site.path {
            let Kind::Inline(inner) = &mut at.elements[step].kind else { panic!("a path to a type") };
            at = inner;
        }
        at
    }

    /// Returns the places of all types, each with whether it is in messages of clients and of
    /// servers.
    pub fn sites(&self) -> Vec<(Site, [bool; 2])> {
        let mut sites = Vec::new();
        let mut reached = vec![[false; 2]; self.types.len()];
        for (number, operation) in self.operations.iter().enumerate() {
            self.reach(&operation.request, 0, &mut reached);
            add_sites(&operation.request, Root::Request(number), &mut Vec::new(), [true, false], &mut sites);
            if let Some(response) = &operation.response {
                self.reach(response, 1, &mut reached);
                add_sites(response, Root::Response(number), &mut Vec::new(), [false, true], &mut sites);
            }
        }
        for (number, it) in self.types.iter().enumerate() {
            add_sites(it, Root::Named(number), &mut Vec::new(), reached[number], &mut sites);
        }
        sites
    }

    fn reach(&self, from: &Type, sender: usize, reached: &mut [[bool; 2]]) {
        for element in &from.elements {
            match &element.kind {
                Kind::Text(_) => {}
                Kind::Inline(inner) => self.reach(inner, sender, reached),
                Kind::Named(number) => {
                    if !std::mem::replace(&mut reached[*number][sender], true) {
                        self.reach(&self.types[*number], sender, reached);
                    }
                }
            }
        }
    }

    /// Writes the WSDL.
    pub fn wsdl(&self, writing: &Writing) -> String {
        let Writing { xsd_prefix: x, own_prefix: t, suffix: s, .. } = *writing;
        let (mut globals, mut messages, mut port_type, mut binding) =
            (Vec::new(), Vec::new(), String::new(), String::new());
        for (number, it) in self.types.iter().enumerate() {
            globals.push(it.written(writing, &format!(" name='T{number}{s}'")));
        }
        if writing.has_unused {
            let restriction = format!("<{x}:restriction base='{x}:string'/>");
            globals.push(format!("<{x}:simpleType name='Unused'>{restriction}</{x}:simpleType>"));
        }
        for operation in &self.operations {
            let Operation { name, action, request, response } = operation;
            let mut parts = vec![("In", name.clone(), request)];
            parts.extend(response.iter().map(|response| ("Out", format!("{name}Response"), response)));
            let (mut ins, mut bound) = (String::new(), String::new());
            for (end, element, content) in parts {
                let content = content.written(writing, "");
                globals.push(format!("<{x}:element name='{element}'>{content}</{x}:element>"));
                messages.push(format!(
                    "<message name='{name}{end}{s}'><part name='p{s}' element='{t}:{element}'/></message>"
                ));
                let which = if end == "In" { "input" } else { "output" };
                write!(ins, "<{which} message='{t}:{name}{end}{s}'/>").expect("a string");
                write!(bound, "<{which}><soap:body use='literal'/></{which}>").expect("a string");
            }
            write!(port_type, "<operation name='{name}'>{}{ins}</operation>", documentation(writing))
                .expect("a string");
            write!(binding, "<operation name='{name}'><soap:operation soapAction='{action}'/>{bound}</operation>")
                .expect("a string");
        }
        if writing.is_reversed {
            globals.reverse();
            messages.reverse();
        }
        let soap = if self.is_version_12 {
            "http://schemas.xmlsoap.org/wsdl/soap12/"
        } else {
            "http://schemas.xmlsoap.org/wsdl/soap/"
        };
        let Service { namespace, address, .. } = self;
        format!(
            "<definitions targetNamespace='{namespace}' xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='{soap}' \
             xmlns:{t}='{namespace}' xmlns:{x}='http://www.w3.org/2001/XMLSchema'>{}<types><{x}:schema \
             targetNamespace='{namespace}' elementFormDefault='qualified'>{}</{x}:schema></types>{}\
             <portType name='P{s}'>{port_type}</portType><binding name='B{s}' type='{t}:P{s}'><soap:binding \
             transport='http://schemas.xmlsoap.org/soap/http'/>{binding}</binding><service name='S'><port name='Main' \
             binding='{t}:B{s}'><soap:address location='{address}'/></port></service></definitions>",
            documentation(writing),
            globals.concat(),
            messages.concat(),
        )
    }
}

fn documentation(writing: &Writing) -> &'static str {
    if writing.has_documentation { "<!-- a comment --><documentation>words</documentation>" } else { "" }
}

fn add_sites(it: &Type, root: Root, path: &mut Vec<usize>, senders: [bool; 2], into: &mut Vec<(Site, [bool; 2])>) {
    into.push((Site { root, path: path.clone() }, senders));
    for (number, element) in it.elements.iter().enumerate() {
        if let Kind::Inline(inner) = &element.kind {
            path.push(number);
            add_sites(inner, root, path, senders, into);
            path.pop();
        }
    }
}

/// Returns a type that may contain itself and other named types, where they are optional.
fn named_type(chance: &mut Chance, number: usize, count: usize) -> Type {
    let mut it = Type::random(chance, 1, 0);
    if it.compositor == Compositor::Sequence && chance.one_in(2) {
        let kind = Kind::Named(chance.between(number, count - 1));
        let name = format!("named{}", it.elements.len());
        it.elements.push(Element { name, min: 0, max: Some(1), is_nillable: false, fixed: None, kind });
    }
    it
}

impl Type {
    fn random(chance: &mut Chance, depth: usize, named: usize) -> Self {
        let compositor = match chance.below(5) {
            0 => Compositor::Choice,
            1 => Compositor::All,
            _ => Compositor::Sequence,
        };
        let count = chance.between(1, 4);
        let elements = (0..count).map(|number| Element::random(chance, (depth, named), number, compositor)).collect();
        let attributes = (0..chance.below(3)).map(|number| Attribute {
            name: format!("a{number}"),
            is_required: chance.one_in(2),
            text: Text::random(chance),
        });
        let attributes = attributes.collect();
        let has_any = compositor == Compositor::Sequence && chance.one_in(5);
        Type { compositor, elements, attributes, has_any, is_mixed: chance.one_in(12) }
    }

    fn written(&self, writing: &Writing, name: &str) -> String {
        let x = writing.xsd_prefix;
        let kind = match self.compositor {
            Compositor::Sequence => "sequence",
            Compositor::Choice => "choice",
            Compositor::All => "all",
        };
        let mixed = if self.is_mixed { " mixed='true'" } else { "" };
        let any = format!("<{x}:any namespace='##other' processContents='lax' minOccurs='0' maxOccurs='unbounded'/>");
        let any = if self.has_any { any } else { String::new() };
        let elements: String = self.elements.iter().map(|it| it.written(writing)).collect();
        let mut attributes: Vec<_> = self.attributes.iter().map(|it| it.written(writing)).collect();
        if writing.is_reversed {
            attributes.reverse();
        }
        let attributes = attributes.concat();
        let note = format!("<{x}:annotation><{x}:documentation>words</{x}:documentation></{x}:annotation>");
        let note = if writing.has_documentation { note } else { String::new() };
        format!(
            "<{x}:complexType{name}{mixed}>{note}<{x}:{kind}>{elements}{any}</{x}:{kind}>{attributes}</{x}:complexType>"
        )
    }
}

impl Element {
    fn random(chance: &mut Chance, (depth, named): (usize, usize), number: usize, within: Compositor) -> Self {
        let kind = match chance.below(6) {
            0 | 1 if depth > 0 => Kind::Inline(Box::new(Type::random(chance, depth - 1, named))),
            2 if named > 0 => Kind::Named(chance.below(named)),
            _ => Kind::Text(Text::random(chance)),
        };
        let max = match chance.below(5) {
            _ if within == Compositor::All => Some(1),
            0 => None,
            1 => Some(3),
            _ => Some(1),
        };
        let min = if within == Compositor::Choice { 1 } else { chance.below(2) as u32 };
        let is_nillable = chance.one_in(6);
        Element { name: format!("e{number}"), min, max, is_nillable, fixed: None, kind }
    }

    fn written(&self, writing: &Writing) -> String {
        let Writing { xsd_prefix: x, own_prefix: t, suffix, .. } = *writing;
        let Element { name, min, max, is_nillable, fixed, kind } = self;
        let max = max.map_or("unbounded".to_owned(), |max| max.to_string());
        let mut start = format!("<{x}:element name='{name}' minOccurs='{min}' maxOccurs='{max}'");
        if *is_nillable {
            start += " nillable='true'";
        }
        if let Some(fixed) = fixed {
            start += &format!(" fixed='{fixed}'");
        }
        match kind {
            Kind::Named(number) => format!("{start} type='{t}:T{number}{suffix}'/>"),
            Kind::Inline(inner) => format!("{start}>{}</{x}:element>", inner.written(writing, "")),
            Kind::Text(text) => match text.facets.is_empty() {
                true => format!("{start} type='{x}:{}'/>", text.base),
                false => format!("{start}>{}</{x}:element>", text.written(writing)),
            },
        }
    }
}

impl Attribute {
    fn written(&self, writing: &Writing) -> String {
        let x = writing.xsd_prefix;
        let used = if self.is_required { "required" } else { "optional" };
        let start = format!("<{x}:attribute name='{}' use='{used}'>", self.name);
        format!("{start}{}</{x}:attribute>", self.text.written(writing))
    }
}

impl Text {
    pub fn plain(base: &'static str) -> Self {
        Text { base, facets: Vec::new() }
    }

    pub fn with(base: &'static str, facets: &[(&'static str, &str)]) -> Self {
        Text { base, facets: facets.iter().map(|(name, value)| (*name, (*value).to_owned())).collect() }
    }

    fn random(chance: &mut Chance) -> Self {
        match chance.below(12) {
            0 | 1 => Text::plain("string"),
            2 => Text::with("string", &[("maxLength", "10")]),
            3 => Text::with("string", &[("enumeration", "A"), ("enumeration", "B"), ("enumeration", "C")]),
            4 => Text::with("string", &[("pattern", "[A-Z]{3}")]),
            5 => Text::plain("int"),
            6 => Text::with("int", &[("minInclusive", "1"), ("maxInclusive", "100")]),
            7 => Text::with("decimal", &[("fractionDigits", "2")]),
            8 => Text::plain("boolean"),
            9 => Text::plain("date"),
            10 => Text::plain("double"),
            _ => Text::plain("long"),
        }
    }

    fn written(&self, writing: &Writing) -> String {
        let x = writing.xsd_prefix;
        let mut facets: Vec<_> =
            self.facets.iter().map(|(name, value)| format!("<{x}:{name} value='{value}'/>")).collect();
        if writing.is_reversed {
            facets.reverse();
        }
        let facets = facets.concat();
        format!("<{x}:simpleType><{x}:restriction base='{x}:{}'>{facets}</{x}:restriction></{x}:simpleType>", self.base)
    }
}

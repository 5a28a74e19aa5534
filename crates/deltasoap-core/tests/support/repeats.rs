//! Streams of messages that repeat each other's markup, read by one decoder: each must give the
//! same result as with a decoder that learns nothing.
//!
//! In addition to the other streams: decoders change from schema to schema, invalid messages are
//! repeated, and limits are as tight as the markup.

use bytes::Bytes;
use deltasoap_checkpoints::{Portions, State};
use deltasoap_core::decode::{Cursor, Decoder, Root, Step};
use deltasoap_core::schema::{
    ArrayElement, Attribute, Builtin, ComplexElement, Compositor, Element, ElementRef, EnumerationValues, Field,
    OpenElement, Schema, SimpleElement, View,
};
use deltasoap_core::soap::{EnvelopeReader, Head, Receiver};
use deltasoap_core::{
    Content, DecodeOptions, Differential, Error, ErrorKind, Limits, Memory, QName, Tolerance, Typed, Value,
};
use deltasoap_test_support::Chance;
use std::borrow::Cow;

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
const NAMES: [&str; 7] = ["a", "b", "c", "d", "longer-than-the-others", "f", "g"];
const BASES: [Builtin; 9] = [
    Builtin::Int,
    Builtin::String,
    Builtin::Boolean,
    Builtin::Double,
    Builtin::Token,
    Builtin::Base64Binary,
    Builtin::QName,
    Builtin::DateTime,
    Builtin::Int,
];

fn simple(schema: &mut Schema, chance: &mut Chance) -> ElementRef {
    let base = *chance.pick(&BASES);
    let (enumeration, base) = match chance.one_in(8) {
        true => (vec![Cow::Borrowed("on"), Cow::Borrowed("off"), Cow::Borrowed("")].into(), Builtin::String),
        false => (EnumerationValues::ANY, base),
    };
    let default = match base {
        Builtin::Int if chance.one_in(8) => Some(Cow::Borrowed("17")),
        Builtin::String if chance.one_in(8) => Some(Cow::Borrowed("off")),
        _ => None,
    };
    schema.add(Element::Simple(SimpleElement { name: base.name(), base, enumeration, default, packed: None }))
}

fn attributes(schema: &mut Schema, chance: &mut Chance) -> Vec<Attribute> {
    let count = if chance.one_in(2) { 0 } else { 1 + chance.below(3) };
    let all = [("", "x"), ("", "id"), ("urn:t", "y")];
    all[..count]
        .iter()
        .map(|(namespace, local)| {
            let base = *chance.pick(&[Builtin::Int, Builtin::String]);
            let element = schema.add(Element::Simple(SimpleElement {
                name: base.name(),
                base,
                enumeration: Default::default(),
                default: None,
                packed: None,
            }));
            let default = chance.one_in(3).then_some(Cow::Borrowed("5"));
            Attribute { name: QName::new(namespace, local), element, required: chance.one_in(3), default }
        })
        .collect()
}

fn complex(schema: &mut Schema, chance: &mut Chance, depth: usize, compositor: Option<Compositor>) -> ElementRef {
    let kind = chance.below(10);
    let compositor = compositor.unwrap_or(match kind {
        0..7 => Compositor::Sequence,
        7..9 => Compositor::All,
        _ => Compositor::Choice,
    });
    let mut fields = Vec::new();
    for name in NAMES.iter().take(1 + chance.below(6)) {
        let wants_group = chance.one_in(14) && depth > 0;
        let element = if wants_group {
            complex(schema, chance, depth - 1, Some(Compositor::Choice))
        } else {
            element(schema, chance, depth)
        };
        let (min, max) = *chance.pick(&[
            (1, Some(1)),
            (1, Some(1)),
            (1, Some(1)),
            (0, Some(1)),
            (0, Some(1)),
            (0, None),
            (1, None),
            (0, Some(2)),
            (2, Some(3)),
            (2, Some(2)),
        ]);
        let namespace = if chance.one_in(3) { "urn:t" } else { "" };
        fields.push(Field {
            name: QName::new(namespace, name),
            element,
            min,
            max,
            nillable: chance.one_in(4),
            inline: wants_group,
        });
    }
    let attributes = attributes(schema, chance).into();
    schema.add(Element::Complex(ComplexElement {
        name: QName::new("urn:t", "C"),
        compositor,
        fields: fields.into(),
        attributes,
        text: None,
        open: chance.one_in(5),
        any_attribute: chance.one_in(6),
        choices: Cow::Borrowed(&[]),
    }))
}

fn element(schema: &mut Schema, chance: &mut Chance, depth: usize) -> ElementRef {
    // Reuses an earlier element.
    let len = schema.elements().len();
    if len > 0 && chance.one_in(4) {
        return ElementRef::Index(chance.below(len) as u32);
    }
    match chance.below(12) {
        0..5 => simple(schema, chance),
        5 => {
            let text = Some(simple(schema, chance));
            let attributes = attributes(schema, chance).into();
            schema.add(Element::Complex(ComplexElement {
                name: QName::new("urn:t", "T"),
                compositor: Compositor::Sequence,
                fields: Cow::Borrowed(&[]),
                attributes,
                text,
                open: false,
                any_attribute: chance.one_in(4),
                choices: Cow::Borrowed(&[]),
            }))
        }
        6 if depth > 0 => {
            let item = element(schema, chance, depth - 1);
            schema.add(Element::Array(ArrayElement {
                name: QName::new("urn:t", "A"),
                item_name: QName::new("", "item"),
                item,
                item_type: QName::new("urn:t", "I"),
                nillable: chance.one_in(2),
                dimensions: 1,
            }))
        }
        7 if chance.one_in(3) => schema.add(Element::Any),
        8 if chance.one_in(4) => {
            let content = element(schema, chance, depth.saturating_sub(1));
            match schema.elements().get(index(content)) {
                Some(Element::Complex(_) | Element::Open(_)) => schema.add(Element::Shared(content)),
                _ => content,
            }
        }
        9 if depth > 0 && chance.one_in(2) => open(schema, chance, depth - 1),
        10 => row(schema, chance),
        _ if depth > 0 => complex(schema, chance, depth - 1, None),
        _ => simple(schema, chance),
    }
}

/// A struct whose lists are tables.
fn row(schema: &mut Schema, chance: &mut Chance) -> ElementRef {
    let fields = NAMES.iter().take(1 + chance.below(3)).map(|name| {
        let base = *chance.pick(&[Builtin::Int, Builtin::String, Builtin::Boolean, Builtin::Double]);
        let (enumeration, default) = (EnumerationValues::ANY, None);
        let element =
            schema.add(Element::Simple(SimpleElement { name: base.name(), base, enumeration, default, packed: None }));
        Field { name: QName::new("", name), element, min: 1, max: Some(1), nillable: false, inline: false }
    });
    let fields = fields.collect();
    schema.add(Element::Complex(ComplexElement {
        name: QName::new("urn:t", "R"),
        compositor: *chance.pick(&[Compositor::Sequence, Compositor::Sequence, Compositor::All]),
        fields,
        attributes: Cow::Borrowed(&[]),
        text: None,
        open: false,
        any_attribute: false,
        choices: Cow::Borrowed(&[]),
    }))
}

/// Content whose type is named by the message.
fn open(schema: &mut Schema, chance: &mut Chance, depth: usize) -> ElementRef {
    let mut closed = || match chance.one_in(3) {
        true => simple(schema, chance),
        false => complex(schema, chance, depth, None),
    };
    let types = ["C", "Solid", "Point"].map(|local| (QName::new("urn:t", local), closed()));
    let base = closed();
    let base = chance.one_in(2).then_some(base);
    schema.add(Element::Open(OpenElement::new(base, types.into())))
}

fn index(reference: ElementRef) -> usize {
    match reference {
        ElementRef::Index(index) => index as usize,
        ElementRef::Static(_) => usize::MAX,
    }
}

fn schema(chance: &mut Chance) -> (Schema, ElementRef) {
    let mut schema = Schema::new();
    let depth = 1 + chance.below(3);
    let root = complex(&mut schema, chance, depth, None);
    (schema, root)
}

/// Derived types with fields of every kind.
mod typed {
    use deltasoap::types::{Node, Tracked};
    use deltasoap::{Nillable, Soap, SoapArray};

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(namespace = "urn:t")]
    pub enum State {
        On,
        Off,
        #[soap(name = "dark blue")]
        DarkBlue,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(transparent, name = "Level", namespace = "urn:t")]
    pub struct Level(i16);

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(namespace = "urn:t", name = "Point")]
    pub struct Point {
        #[soap(attribute)]
        unit: Option<String>,
        #[soap(attribute)]
        scale: i32,
        #[soap(attribute, default = 7)]
        x: i32,
        a: i32,
        b: Option<i32>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(namespace = "urn:t", name = "Solid")]
    pub struct Solid {
        #[soap(attribute)]
        unit: Option<i32>,
        a: i32,
        b: Option<i32>,
        c: Vec<String>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(derived, namespace = "urn:t", name = "Point")]
    pub enum Figure {
        #[soap(base)]
        Point(Point),
        Solid(Solid),
        #[soap(other)]
        Other(Node),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(namespace = "urn:t")]
    pub struct Text {
        #[soap(attribute)]
        x: Option<i32>,
        #[soap(attribute, default = 5)]
        y: i32,
        #[soap(text)]
        text: String,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    pub enum Either {
        #[soap(name = "i")]
        I(i32),
        #[soap(name = "p")]
        P(Point),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(all, namespace = "urn:t")]
    pub struct All {
        a: i32,
        b: Option<String>,
        c: Option<Point>,
        d: Vec<i32>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(open, namespace = "urn:t")]
    pub struct Root {
        #[soap(attribute)]
        version: Option<i32>,
        a: i32,
        b: Option<String>,
        state: State,
        level: Option<Level>,
        c: Nillable<i32>,
        d: Option<Nillable<String>>,
        #[soap(default = 9)]
        e: i32,
        point: Option<Point>,
        figure: Vec<Figure>,
        text: Vec<Text>,
        all: Vec<All>,
        tracked: Tracked<i32>,
        array: Option<SoapArray<Point>>,
        f: f64,
        more: Vec<Root>,
        any: Option<Node>,
        l: Vec<Level>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(namespace = "urn:t")]
    pub struct Choices {
        a: i32,
        #[soap(inline)]
        either: Vec<Either>,
        b: Option<Figure>,
        s: Option<Solid>,
        t: Vec<Text>,
        inner: Option<Box<Choices>>,
    }
}

/// Options for writing a message.
struct Writer<'c> {
    chance: &'c mut Chance,
    text: String,
    /// One in this many choices deviates.
    rarely: u32,
    indent: bool,
    typed: bool,
}

impl Writer<'_> {
    fn deviates(&mut self) -> bool {
        let rarely = self.rarely;
        self.chance.one_in(rarely)
    }

    fn white(&mut self) {
        if self.indent {
            self.text.push_str("\n  ");
        }
        if self.deviates() {
            let more = [
                "<!-- c -->",
                " ",
                "\r\n",
                "\t",
                "<!---->",
                "&#32;",
                "x",
                "<![CDATA[ ]]>",
                "                                        ",
            ];
            self.text.push_str(self.chance.pick::<&str>(&more));
        }
    }

    /// Writes the children of an element, or those of a group.
    fn children(&mut self, view: View<'_>, complex: &ComplexElement, depth: usize) {
        let mut order: Vec<usize> = (0..complex.fields.len()).collect();
        match complex.compositor {
            Compositor::Choice => order = vec![self.chance.below(order.len())],
            Compositor::All if self.chance.one_in(2) => order.rotate_left(1.min(complex.fields.len() - 1)),
            _ => {}
        }
        if self.deviates() && order.len() > 1 {
            let (one, other) = (self.chance.below(order.len()), self.chance.below(order.len()));
            order.swap(one, other);
        }
        for index in order {
            let field = &complex.fields[index];
            let most = field.max.unwrap_or(5) as usize;
            let mut count = field.min as usize + self.chance.below(most - field.min as usize + 1);
            if depth == 0 {
                count = field.min as usize;
            }
            if self.deviates() {
                count = self.chance.below(5);
            }
            for _ in 0..count {
                let content = view.follow(field.element);
                match content.element {
                    Element::Complex(group) if field.inline => self.children(content, group, depth.saturating_sub(1)),
                    _ => self.element(&field.name, content, depth.saturating_sub(1)),
                }
            }
            if self.deviates() {
                self.white();
                self.text.push_str(self.chance.pick::<&str>(&[
                    "<other>1</other>",
                    "<other/>",
                    "<a>1</a>",
                    "<p:b>x</p:b>",
                    "<c></c>",
                    "<d x=\"1\"/>",
                ]));
            }
        }
    }

    fn name(&mut self, name: &QName) -> String {
        let prefix = match (name.namespace.as_ref(), self.chance.one_in(40)) {
            ("", _) => "",
            (_, true) => "q:",
            _ => "p:",
        };
        format!("{prefix}{}", name.local)
    }

    fn element(&mut self, name: &QName, view: View<'_>, depth: usize) {
        self.white();
        let name = self.name(name);
        let mut tag = name.clone();
        let mut view = view.content();
        if let Element::Open(open) = view.element {
            let chosen = open.types.get(self.chance.below(open.types.len() + 1));
            if let Some((name, _)) = chosen {
                tag += &format!(" xsi:type=\"p:{}\"", name.local);
            }
            if let Some(content) = chosen.map(|(_, content)| *content).or(open.base) {
                view = view.follow(content);
            }
        }
        let complex = view.complex();
        for attribute in complex.map_or(&[][..], |it| &it.attributes[..]) {
            if attribute.required || self.chance.one_in(2) || self.deviates() {
                if self.deviates() {
                    continue;
                }
                let prefix = if attribute.name.namespace.is_empty() { "" } else { "p:" };
                let value = self.chance.pick::<&str>(&["1", "2", "3", "44"]).to_string();
                let value = if self.deviates() { "nothing&amp;".to_owned() } else { value };
                tag += &format!(" {prefix}{}=\"{value}\"", attribute.name.local);
            }
        }
        if self.typed {
            tag += " xsi:type=\"p:T\"";
        }
        if self.deviates() {
            let more: Vec<String> = [
                "xsi:nil=\"true\"",
                "xsi:nil=\"1\"",
                "xsi:nil=\"false\"",
                "xsi:nil=\"maybe\"",
                "xsi:type=\"p:C\"",
                "xsi:type=\"p:Solid\"",
                "xsi:type=\"p:Solid\"",
                "xsi:type=\"p:Point\"",
                "xsi:type=\"no:C\"",
                "xsi:type=\"xsi:int\"",
                "other=\"1\"",
                "p:other=\"2\"",
                "p:y=\"7\"",
                "x=\"8\"",
                "xmlns:q=\"urn:u\"",
                "xmlns:p=\"urn:u\"",
                "xmlns=\"urn:t\"",
                "q:z=\"3\" p:z=\"3\"",
                "href=\"#i1\"",
                "href=\"#i2\"",
                "href=\"urn:x\"",
                "id=\"i1\"",
                "id=\"i2\"",
            ]
            .iter()
            .map(|it| (*it).to_owned())
            .collect();
            tag += " ";
            let more = self.chance.pick(&more).clone();
            tag += &more;
        }
        if self.deviates() {
            tag.push(' ');
        }
        let start = self.text.len();
        self.text += &format!("<{tag}>");
        let inside = self.text.len();
        match view.content().element {
            Element::Simple(simple) => self.simple(simple),
            Element::Complex(complex) => match complex.text {
                Some(text) => {
                    if let Element::Simple(simple) = view.content().follow(text).element {
                        self.simple(simple);
                    }
                }
                None if depth > 0 || complex.fields.iter().any(|it| it.min > 0) && self.text.len() < 6000 => {
                    self.children(view.content(), complex, depth);
                    self.white();
                }
                None => {}
            },
            Element::Array(array) => {
                for _ in 0..self.chance.below(4) {
                    if self.text.len() < 6000 {
                        self.element(&array.item_name, view.follow(array.item), depth.saturating_sub(1));
                    }
                }
            }
            _ => self.text.push_str("<t>1</t>x"),
        }
        if self.text.len() == inside && self.chance.one_in(2) {
            self.text.truncate(start);
            self.text += &format!("<{tag}/>");
            return;
        }
        let white = if self.deviates() { " " } else { "" };
        self.text += &format!("</{name}{white}>");
    }

    fn simple(&mut self, simple: &SimpleElement) {
        let text = match simple.base {
            _ if !simple.enumeration.is_empty() => self.chance.pick::<&str>(&["on", "off", ""]),
            Builtin::Int => self.chance.pick::<&str>(&["1", "-7", "123456"]),
            Builtin::Boolean => self.chance.pick::<&str>(&["true", "0"]),
            Builtin::Double => self.chance.pick::<&str>(&["1.5", "INF", "3e7"]),
            Builtin::Base64Binary => self.chance.pick::<&str>(&["AAAA", "", "AA=="]),
            Builtin::QName => self.chance.pick::<&str>(&["p:n", "n", "xsi:z"]),
            Builtin::DateTime => self.chance.pick::<&str>(&["2020-01-01T00:00:00Z", "2020-01-01T00:00:00"]),
            _ => {
                self.chance.pick::<&str>(&["some text", "", "t\u{e9}xt", "a text that is somewhat longer than others"])
            }
        };
        let text = match self.deviates() {
            true => self.chance.pick::<&str>(&[
                "",
                " ",
                " 1 ",
                "&lt;",
                "x]]y",
                "x<!-- -->",
                "<![CDATA[1]]>",
                "]]>",
                "\r\n",
                "<a>1</a>",
                "on ",
                "\u{ffff}",
                "&#x31;",
                "nope:n",
                "99999999999",
            ]),
            false => text,
        };
        self.text.push_str(text);
    }
}

fn message(chance: &mut Chance, view: View<'_>, rarely: u32, bare: bool) -> String {
    let (indent, typed) = (chance.one_in(4), chance.one_in(8) && !bare);
    let more = *chance.pick(&["", "", "", " xmlns:z=\"urn:z\""]);
    let mut writer = Writer { chance, text: String::new(), rarely, indent, typed };
    writer.text = match bare {
        true => "<r".to_owned(),
        false => format!("<r xmlns:p=\"urn:t\" xmlns:q=\"urn:t\" xmlns:xsi=\"{XSI}\"{more}"),
    };
    if let Some(complex) = view.complex() {
        for attribute in complex.attributes.iter().filter(|it| it.required) {
            let prefix = if attribute.name.namespace.is_empty() { "" } else { "p:" };
            writer.text += &format!(" {prefix}{}=\"1\"", attribute.name.local);
        }
        writer.text.push('>');
        writer.children(view, complex, 3);
    }
    writer.white();
    writer.text + "</r>"
}

/// Returns the message of an operation, possibly followed by elements to which it refers.
fn enveloped(chance: &mut Chance, operation: &str) -> String {
    let soap = "http://schemas.xmlsoap.org/soap/envelope/";
    let after = *chance.pick(&[
        "",
        "",
        "",
        "<m id=\"i1\"><a>1</a></m>",
        "<m xmlns:p=\"urn:t\" id=\"i2\" x=\"1\"><p:a>1</p:a><b>x</b></m>",
    ]);
    let header = *chance.pick(&["", "", "<e:Header/>", "<e:Header><h xmlns=\"urn:h\">1</h></e:Header>"]);
    format!("<e:Envelope xmlns:e=\"{soap}\">{header}<e:Body>{operation}{after}</e:Body></e:Envelope>")
}

/// Returns a message that resembles an earlier one: bytes are removed, duplicated, or changed.
fn mutated(chance: &mut Chance, before: &str) -> String {
    let mut text = before.to_owned();
    for _ in 0..1 + chance.below(3) {
        let tags: Vec<usize> = text.match_indices('<').map(|(at, _)| at).collect();
        if tags.is_empty() {
            return before.to_owned();
        }
        let (one, other) = (*chance.pick(&tags), *chance.pick(&tags));
        let (one, other) = (one.min(other), one.max(other));
        match chance.below(6) {
            0 => text.replace_range(one..other, ""),
            1 if text.len() < 8000 => {
                let piece = text[one..other].to_owned();
                text.insert_str(other, &piece);
            }
            // One of its elements, duplicated.
            2 | 3 => {
                let end = text[one + 1..]
                    .find('<')
                    .and_then(|end| text[one + 1 + end..].find('>').map(|more| one + 2 + end + more));
                if let Some(end) = end.filter(|_| text.as_bytes().get(one + 1) != Some(&b'/')) {
                    let piece = text[one..end].to_owned();
                    let piece = if chance.one_in(2) { piece } else { String::new() };
                    text.replace_range(one..end, &(piece.clone() + &piece));
                }
            }
            4 => {
                let digits: Vec<usize> = text.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at).collect();
                if !digits.is_empty() {
                    let at = *chance.pick(&digits);
                    text.replace_range(at..=at, chance.pick::<&str>(&["1", "22", "", "x", "333"]));
                }
            }
            _ => {
                let at = chance.below(text.len());
                if text.is_char_boundary(at) {
                    text.insert_str(at, chance.pick::<&str>(&[" ", "<", ">", "/", "\"", "&", "x", "\n"]));
                }
            }
        }
        if text.is_empty() {
            return before.to_owned();
        }
    }
    text
}

/// An operation that is the whole document.
struct Operation<'v, T> {
    memory: Memory<T>,
    view: View<'v>,
}

impl<T: Content> Root for Operation<'_, T> {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        let (me, _) = cursor.enter();
        if cursor.frame(me).state == 0 {
            cursor.next_tag()?;
            cursor.frame(me).state = 1;
        }
        if cursor.frame(me).state == 1 {
            self.memory.decode(cursor, self.view)?;
            cursor.frame(me).state = 2;
        }
        cursor.next_tag()?;
        Ok(())
    }
}

impl<T: Content> Receiver for Operation<'_, T> {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.memory.decode(cursor, self.view)
    }
}

/// Reads a document, or the operation in an envelope.
fn read_operation<'v, T: Content>(
    decoder: &mut Decoder,
    operation: Operation<'v, T>,
    is_message: bool,
    document: &[u8],
    chunk: usize,
) -> (Operation<'v, T>, Result<(), Error>) {
    if is_message {
        let mut reader = EnvelopeReader::new(operation);
        let result = read(decoder, &mut reader, document, chunk);
        return (reader.into_parts().1, result);
    }
    let mut operation = operation;
    let result = read(decoder, &mut operation, document, chunk);
    (operation, result)
}

fn read(decoder: &mut Decoder, root: &mut impl Root, document: &[u8], chunk: usize) -> Result<(), Error> {
    decoder.reset();
    let mut rest = Bytes::copy_from_slice(document);
    while !rest.is_empty() {
        let chunk = rest.split_to(chunk.clamp(1, rest.len()));
        decoder.push_bytes(root, chunk)?;
    }
    decoder.finish(root)
}

fn shown<T: std::fmt::Debug>(result: Result<(), Error>, value: &T) -> String {
    match result {
        Ok(()) => format!("{value:?}"),
        Err(error) => format!("Err({error:?})"),
    }
}

fn limits(chance: &mut Chance) -> Limits {
    let mut limits = Limits::default();
    if chance.one_in(3) {
        match chance.below(8) {
            0 => limits.depth = 1 + chance.below(6),
            1 => limits.markup = 3 + *chance.pick(&[0, 1, 2, 3, 4, 8, 16, 24]),
            2 => limits.text = chance.below(12),
            3 => limits.attributes = chance.below(6),
            4 => limits.name = 1 + chance.below(25),
            5 => limits.attribute_value = 30 + chance.below(20),
            6 => limits.message = 200 + chance.below(600) as u64,
            _ => limits.referred = chance.below(100) as u64,
        }
    }
    limits
}

/// Checks the stream of a seed, or several streams that take turns with one decoder.
pub fn check(seed: u64) -> Result<(), String> {
    let mut chance = Chance::seeded(seed);
    let limits = limits(&mut chance);
    let leaf = Differential { adaptive: false, ..Differential::default() };
    let by = |state, size| Differential { checkpoints: Portions { state, size, ..Portions::default() }.into(), ..leaf };
    let full = by(State::Full, 32);
    let light = by(State::Lightweight, 64);
    let off = Differential::OFF;
    let differential = *chance.pick(&[off, off, off, leaf, leaf, Differential::default(), full, light]);
    let tolerance = *chance.pick(&[Tolerance::Strict, Tolerance::Unknown, Tolerance::AnyOrder]);
    let mut decoder = Decoder::new(DecodeOptions { limits, tolerance, differential });
    let first = schema(&mut chance);
    let second = if chance.one_in(3) { first.clone() } else { schema(&mut chance) };
    let mut schemas = [first, second];
    let turns = chance.one_in(4);
    for round in 0..1 + chance.below(3) {
        if round > 0 && chance.one_in(2) {
            // Another schema, possibly at the address of the previous one.
            schemas[0] = schema(&mut chance);
        }
        let views = schemas.each_ref().map(|(schema, root)| schema.view(*root));
        let options = DecodeOptions { limits, tolerance, differential };
        match chance.below(6) {
            0 => stream::<typed::Root>(&mut chance, &mut decoder, [typed::Root::view(); 2], turns, options)?,
            1 => stream::<typed::Choices>(&mut chance, &mut decoder, [typed::Choices::view(); 2], turns, options)?,
            _ => stream::<Value>(&mut chance, &mut decoder, views, turns, options)
                .map_err(|error| format!("{:#?}\n{error}", schemas[0].0))?,
        }
    }
    Ok(())
}

fn stream<T: Content + std::fmt::Debug>(
    chance: &mut Chance,
    decoder: &mut Decoder,
    views: [View<'_>; 2],
    turns: bool,
    options: DecodeOptions,
) -> Result<(), String> {
    let DecodeOptions { limits, differential, .. } = options;
    let mut memories = views.map(|view| Some(Memory::new(T::vacant(view))));
    let mut before: [Vec<String>; 2] = Default::default();
    let mut log = Vec::new();
    let usual = *chance.pick(&[12, 40, 100, 400]);
    // No declarations where tags have to be short.
    let bare = limits.markup < 30;
    let is_message = chance.one_in(3) && !bare;
    for _ in 0..10 + chance.below(20) {
        let which = if turns { chance.below(2) } else { 0 };
        let view = views[which];
        let text = match chance.below(7) {
            0 | 1 if !before[which].is_empty() => chance.pick(&before[which]).clone(),
            2 | 3 if !before[which].is_empty() => {
                let one = chance.pick(&before[which]).clone();
                mutated(chance, &one)
            }
            4 => message(chance, view, 4000, bare),
            _ => message(chance, view, usual, bare),
        };
        let text = if is_message && !text.starts_with("<e:") { enveloped(chance, &text) } else { text };
        let document: Vec<u8> = match chance.one_in(20) {
            true => [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect(),
            false => text.clone().into_bytes(),
        };
        let chunk = *chance.pick(&[usize::MAX, usize::MAX, usize::MAX, 1, 7, 40, 100]);
        let plain = DecodeOptions { differential: Differential::OFF, ..options };
        let mut naive = Decoder::without_shortcuts(plain);
        let fresh = || Operation { memory: Memory::new(T::vacant(view)), view };
        let (operation, result) = read_operation(&mut naive, fresh(), is_message, &document, usize::MAX);
        let expected = shown(result, operation.memory.value());
        let (ignored, flat) = (decoder.stats().deviations, decoder.stats().flat_items);
        let is_alone = chance.one_in(3);
        let memory = memories[which].take().filter(|_| !is_alone).unwrap_or_else(|| Memory::new(T::vacant(view)));
        let is_broken_off = chance.one_in(20);
        let document = if is_broken_off { &document[..chance.below(document.len())] } else { &document[..] };
        let (operation, result) = match is_broken_off {
            true => {
                let mut operation = Operation { memory, view };
                decoder.reset();
                let _ = decoder.push(&mut operation, document);
                (operation, Ok(()))
            }
            false => read_operation(decoder, Operation { memory, view }, is_message, document, chunk),
        };
        log.push(format!("[{which} {chunk} {is_alone}{}] {text}", if is_broken_off { " broken off" } else { "" }));
        if is_broken_off {
            memories[which] = Some(operation.memory);
            continue;
        }
        let found = shown(result, operation.memory.value());
        memories[which] = Some(operation.memory);
        let ignored = decoder.stats().deviations - ignored;
        let expected_ignored = naive.stats().deviations;
        let is_counted = differential == Differential::OFF && decoder.stats().flat_items == flat;
        let are_equal = ignored == expected_ignored && decoder.deviations() == naive.deviations();
        let counts = is_counted && !are_equal;
        if found != expected || counts {
            return Err(format!(
                "{differential:?} {limits:?}\n{}\nexpected ({expected_ignored}): {expected}\nfound    ({ignored}): {found}",
                log.join("\n")
            ));
        }
        before[which].push(text);
    }
    Ok(())
}

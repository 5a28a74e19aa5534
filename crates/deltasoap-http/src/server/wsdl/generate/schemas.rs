//! Writes the schemas: one for each namespace.

use super::SOAP_ENCODING;
use super::components::{Base, Components, GlobalType, any_type, builtin_of, default_of, is_foreign};
use super::names::Prefixes;
use super::tag::Tag;
use super::unambiguous::{Scope, unambiguous};
use deltasoap_core::ns;
use deltasoap_core::schema::{
    ArrayElement, Attribute, Branch, Builtin, Choice, ComplexElement, Compositor, Element, Field, NamePart, Packing,
    QName, SimpleElement, UnionElement, View,
};
use std::collections::{BTreeMap, BTreeSet};

/// Writes components.
pub(super) struct Schemas<'c> {
    components: &'c Components,
    prefixes: &'c mut Prefixes,
    /// The namespace of the schema being written.
    namespace: NamePart,
    /// The other namespaces that it refers to.
    imports: BTreeSet<NamePart>,
    /// The contents without an element of their own that are being written.
    groups: Vec<*const Element>,
}

/// Returns the schemas of all components.
pub(super) fn write(components: &Components, prefixes: &mut Prefixes) -> Vec<Tag> {
    let mut namespaces = BTreeSet::new();
    namespaces.extend(components.elements.keys().map(|name| name.namespace.clone()));
    namespaces.extend(components.attributes.keys().map(|name| name.namespace.clone()));
    namespaces.extend(components.types.iter().map(|found| found.name.namespace.clone()));
    namespaces.remove(ns::XML);
    let write_one = |namespace| {
        let (imports, groups) = (BTreeSet::new(), Vec::new());
        Schemas { components, prefixes: &mut *prefixes, namespace, imports, groups }.schema()
    };
    namespaces.into_iter().map(write_one).collect()
}

impl Schemas<'_> {
    fn schema(mut self) -> Tag {
        let (components, namespace) = (self.components, self.namespace.clone());
        let mut content = Vec::new();
        for (name, element) in components.elements.iter().filter(|(name, _)| name.namespace == namespace) {
            let tag = Tag::new("xsd:element").with("name", &*name.local);
            content.push(self.typed(tag, element.view, element.is_nillable));
        }
        for (name, view) in components.attributes.iter().filter(|(name, _)| name.namespace == namespace) {
            content.push(self.simply_typed(Tag::new("xsd:attribute").with("name", &*name.local), *view));
        }
        for found in components.types.iter().filter(|found| found.name.namespace == namespace) {
            content.push(self.global_type(found));
        }
        let target = (!namespace.is_empty()).then(|| namespace.to_string());
        let imports = self.imports.iter().map(|other| {
            let named = (!other.is_empty()).then(|| other.to_string());
            let location = (*other == ns::SOAP11_ENCODING).then_some(SOAP_ENCODING.0);
            Tag::new("xsd:import").with_some("namespace", named).with_some("schemaLocation", location)
        });
        let schema = Tag::new("xsd:schema").with_some("targetNamespace", target);
        with_form_default(schema, imports.chain(content).collect())
    }

    /// Returns a name as the schema refers to it.
    fn refer(&mut self, name: &QName) -> String {
        if name.namespace != self.namespace && name.namespace != ns::XSD {
            self.imports.insert(name.namespace.clone());
        }
        self.prefixes.qualify(name)
    }

    fn global_type(&mut self, found: &GlobalType) -> Tag {
        self.definition(found.view, found.base).with_name(&found.name)
    }

    fn definition(&mut self, view: View<'static>, base: Option<Base>) -> Tag {
        match view.element {
            Element::Simple(simple) => self.simple(simple),
            Element::Union(union) => self.union(union, view),
            Element::Array(array) => self.array(array, view),
            Element::Complex(complex) => self.complex(complex, view, base),
            Element::Any | Element::Open(_) | Element::Shared(_) => {
                let base = self.refer(&any_type());
                let extension = Tag::new("xsd:extension").with("base", base);
                Tag::new("xsd:complexType").add(Tag::new("xsd:complexContent").add(extension))
            }
        }
    }

    /// Adds the type of some content to an element.
    fn typed(&mut self, tag: Tag, view: View<'static>, is_nillable: bool) -> Tag {
        let tag = if is_nillable { tag.with("nillable", "true") } else { tag };
        let tag = tag.with_some("default", default_of(view));
        self.simply_typed(tag, view)
    }

    fn simply_typed(&mut self, tag: Tag, view: View<'static>) -> Tag {
        match self.components.type_of(view) {
            Some(name) => {
                let name = self.refer(&name);
                tag.with("type", name)
            }
            None => {
                let definition = self.definition(view.content(), None);
                tag.add(definition)
            }
        }
    }

    fn simple(&mut self, simple: &SimpleElement) -> Tag {
        let base = self.refer(&simple.base.name());
        let values = simple.enumeration.iter().map(|value| {
            let qualified = QName::from_expanded(value).filter(|_| simple.base == Builtin::QName);
            let value = qualified.map_or_else(|| value.to_string(), |name| self.prefixes.qualify(&name));
            Tag::new("xsd:enumeration").with("value", value)
        });
        let restriction = Tag::new("xsd:restriction").with("base", base).add_all(values);
        Tag::new("xsd:simpleType").add_all(simple.packed.map(packed)).add(restriction)
    }

    fn union(&mut self, union: &UnionElement, view: View<'static>) -> Tag {
        let members: Vec<_> = union.members.iter().map(|member| view.follow(*member)).collect();
        let mut names = Vec::new();
        let mut definitions = Vec::new();
        for member in members {
            match self.components.type_of(member) {
                Some(name) => names.push(self.refer(&name)),
                None => definitions.push(self.definition(member.content(), None)),
            }
        }
        if let ([name], [], true) = (&names[..], &definitions[..], union.list) {
            return Tag::new("xsd:simpleType").add(Tag::new("xsd:list").with("itemType", name.as_str()));
        }
        let names = (!names.is_empty()).then(|| names.join(" "));
        let union_tag = Tag::new("xsd:union").with_some("memberTypes", names).add_all(definitions);
        if union.list {
            let items = Tag::new("xsd:list").add(Tag::new("xsd:simpleType").add(union_tag));
            return Tag::new("xsd:simpleType").add(items);
        }
        Tag::new("xsd:simpleType").add(union_tag)
    }

    /// Returns the type of a SOAP array, as WSDL 1.1 defines it (section 2.2), with an element for
    /// the items: some tools ignore `arrayType`.
    fn array(&mut self, array: &ArrayElement, view: View<'static>) -> Tag {
        let item = self.components.type_of(view.follow(array.item)).unwrap_or_else(any_type);
        let dimensions = ",".repeat(array.dimensions.saturating_sub(1) as usize);
        let item = self.refer(&item);
        let items = format!("{item}[{dimensions}]");
        let base = self.refer(&QName::new(ns::SOAP11_ENCODING, "Array"));
        let attribute = Tag::new("xsd:attribute").with("ref", "soapenc:arrayType").with("wsdl:arrayType", items);
        let form = if array.item_name.namespace.is_empty() { "unqualified" } else { "qualified" };
        let nillable = array.nillable.then_some("true");
        let element = Tag::new("xsd:element").with("name", &*array.item_name.local).with("form", form);
        let element = element.occurring(0, None).with_some("nillable", nillable).with("type", item);
        let restriction = Tag::new("xsd:restriction").with("base", base);
        let restriction = restriction.add(Tag::new("xsd:sequence").add(element)).add(attribute);
        Tag::new("xsd:complexType").add(Tag::new("xsd:complexContent").add(restriction))
    }

    fn complex(&mut self, complex: &ComplexElement, view: View<'static>, base: Option<Base>) -> Tag {
        let definition = Tag::new("xsd:complexType");
        if let Some(text) = complex.text {
            let text = view.follow(text);
            let named = self.components.type_of(text);
            let named = named.or_else(|| builtin_of(text).map(Builtin::name)).unwrap_or(Builtin::String.name());
            let extension = Tag::new("xsd:extension").with("base", self.refer(&named));
            let extension = extension.add_all(self.attributes(complex, &[], view));
            return definition.add(Tag::new("xsd:simpleContent").add(extension));
        }
        let skipped = base.map_or(0, |base| base.fields);
        let content = self.content(complex, skipped, view).map(|content| self.unambiguous(content));
        let inherited = base.and_then(|base| base.view.complex()).map_or(&[][..], |base| &base.attributes);
        let attributes = self.attributes(complex, inherited, view);
        match base.and_then(|base| self.components.type_of(base.view)) {
            Some(base) => {
                let extension = Tag::new("xsd:extension").with("base", self.refer(&base));
                let extension = extension.add_all(content).add_all(attributes);
                definition.add(Tag::new("xsd:complexContent").add(extension))
            }
            None => definition.add_all(content).add_all(attributes),
        }
    }

    fn attributes(&mut self, complex: &ComplexElement, inherited: &[Attribute], view: View<'static>) -> Vec<Tag> {
        let own = complex.attributes.iter().filter(|attribute| !inherited.contains(attribute));
        let mut tags: Vec<_> = own.map(|attribute| self.attribute(attribute, view)).collect();
        if complex.any_attribute {
            tags.push(Tag::new("xsd:anyAttribute").with("processContents", "lax"));
        }
        tags
    }

    fn attribute(&mut self, attribute: &Attribute, view: View<'static>) -> Tag {
        let Attribute { name, element, required, default } = attribute;
        let used = required.then_some("required");
        let is_global = is_foreign(name, &self.namespace);
        let tag = Tag::new("xsd:attribute");
        if is_global {
            return tag.with("ref", self.refer(name)).with_some("use", used).with_some("default", default.as_deref());
        }
        let form = (!name.namespace.is_empty()).then_some("qualified");
        let tag = tag.with("name", &*name.local).with_some("form", form).with_some("use", used);
        self.simply_typed(tag.with_some("default", default.as_deref()), view.follow(*element))
    }

    /// The part that a type adds to its base is checked alone.
    fn unambiguous(&self, content: Tag) -> Tag {
        unambiguous(content, Scope { target: &self.namespace, prefixes: self.prefixes })
    }

    /// Returns the content model of a type, without its first fields; `None` for no child elements.
    fn content(&mut self, complex: &ComplexElement, skipped: usize, view: View<'static>) -> Option<Tag> {
        let fields = &complex.fields[skipped..];
        if fields.is_empty() && !complex.open {
            return None;
        }
        let others = complex.open.then(others);
        let is_plain = |field: &Field| !field.inline && !field.is_repeated();
        Some(match complex.compositor {
            Compositor::All if fields.iter().all(is_plain) && !complex.open => {
                Tag::new("xsd:all").add_all(self.fields(fields, view))
            }
            // `xsd:all` allows neither repeated elements nor wildcards.
            Compositor::All => Tag::new("xsd:choice")
                .with("minOccurs", "0")
                .with("maxOccurs", "unbounded")
                .add_all(fields.iter().map(|field| self.field(field, 1, Some(1), false, view)).collect::<Vec<_>>())
                .add_all(others),
            Compositor::Choice => {
                let choice = Tag::new("xsd:choice").add_all(self.fields(fields, view));
                if complex.open { Tag::new("xsd:sequence").add(choice).add_all(others) } else { choice }
            }
            Compositor::Sequence => {
                let is_new = |choice: &&Choice| choice.first as usize >= skipped;
                let choices: Vec<_> = complex.choices.iter().filter(is_new).map(|choice| at(choice, skipped)).collect();
                let has_wildcard = |field: &Field| field.inline && is_any(view.follow(field.element));
                let others = others.filter(|_| !fields.iter().any(has_wildcard));
                let content = self.sequence(fields, &choices, &|index| fields[index].min, view);
                Tag::new("xsd:sequence").add_all(content).add_all(others)
            }
        })
    }

    fn fields(&mut self, fields: &[Field], view: View<'static>) -> Vec<Tag> {
        let is_alone = fields.len() == 1;
        fields.iter().map(|field| self.field(field, field.min, field.max, is_alone, view)).collect()
    }

    /// Returns the particles of fields with choices between some of them.
    fn sequence(
        &mut self,
        fields: &[Field],
        choices: &[Choice],
        min: &dyn Fn(usize) -> u32,
        view: View<'static>,
    ) -> Vec<Tag> {
        let (mut tags, mut next) = (Vec::new(), 0);
        for choice in choices {
            let first = choice.first as usize;
            self.run(fields, next..first, min, view, &mut tags);
            tags.push(self.choice(choice, fields, view));
            next = first + choice.branches.iter().map(|branch| branch.fields as usize).sum::<usize>();
        }
        self.run(fields, next..fields.len(), min, view, &mut tags);
        tags
    }

    /// Adds the particles of consecutive fields.
    fn run(
        &mut self,
        fields: &[Field],
        range: std::ops::Range<usize>,
        min: &dyn Fn(usize) -> u32,
        view: View<'static>,
        tags: &mut Vec<Tag>,
    ) {
        for index in range {
            let field = &fields[index];
            // Elsewhere, a wildcard for any namespace would compete with other elements.
            let is_fixed = |other: &Field| !other.inline && other.max == Some(other.min);
            let is_last = index + 1 == fields.len() && fields[..index].iter().all(is_fixed);
            tags.push(self.field(field, min(index), field.max, is_last, view));
        }
    }

    fn choice(&mut self, choice: &Choice, fields: &[Field], view: View<'static>) -> Tag {
        let mut start = choice.first as usize;
        let mut branches: Vec<_> = choice
            .branches
            .iter()
            .map(|branch| {
                let end = start + branch.fields as usize;
                let particles = self.branch(branch, &fields[start..end], view);
                start = end;
                Tag::new("xsd:sequence").add_all(particles)
            })
            .collect();
        let min = choice.is_optional.then_some("0");
        match branches.pop() {
            Some(only) if branches.is_empty() => only.with_some("minOccurs", min),
            last => Tag::new("xsd:choice").with_some("minOccurs", min).add_all(branches).add_all(last),
        }
    }

    fn branch(&mut self, branch: &Branch, fields: &[Field], view: View<'static>) -> Vec<Tag> {
        let min = |index: usize| {
            let required = branch.required.iter().find(|it| it.field as usize == index);
            required.map_or(0, |required| required.min)
        };
        self.sequence(fields, &branch.choices, &min, view)
    }

    /// Returns the particle of a field. `is_free` is true for a wildcard that competes with no
    /// other element.
    fn field(&mut self, field: &Field, min: u32, max: Option<u32>, is_free: bool, view: View<'static>) -> Tag {
        let content = view.follow(field.element);
        if field.inline {
            return self.inline(field, content.content(), is_free).occurring(min, max);
        }
        if is_foreign(&field.name, &self.namespace) {
            if self.components.has_element(&field.name, content) {
                let tag = Tag::new("xsd:element").with("ref", self.refer(&field.name));
                return tag.occurring(min, max);
            }
            return wildcard(&field.name.namespace).occurring(min, max);
        }
        let form = if field.name.namespace.is_empty() { "unqualified" } else { "qualified" };
        let tag = Tag::new("xsd:element").with("name", &*field.name.local).with("form", form).occurring(min, max);
        self.typed(tag, content, field.nillable)
    }

    /// Returns the content of a field that has no element of its own.
    fn inline(&mut self, field: &Field, view: View<'static>, is_free: bool) -> Tag {
        let Some(complex) = view.complex() else {
            let label = &*field.name.namespace;
            return wildcard(if label.is_empty() && !is_free { "##other" } else { namespaces_of(label) });
        };
        // A group within itself has no form in XML Schema.
        if self.groups.contains(&std::ptr::from_ref(view.element)) {
            return wildcard("##any");
        }
        self.groups.push(view.element);
        let tag = match complex.compositor {
            Compositor::Choice => Tag::new("xsd:choice").add_all(self.fields(&complex.fields, view)),
            _ => {
                let min = |index: usize| complex.fields[index].min;
                let content = self.sequence(&complex.fields, &complex.choices, &min, view);
                Tag::new("xsd:sequence").add_all(content)
            }
        };
        self.groups.pop();
        tag
    }
}

impl Tag {
    pub(super) fn occurring(self, min: u32, max: Option<u32>) -> Self {
        let min = (min != 1).then(|| min.to_string());
        let max = (max != Some(1)).then(|| max.map_or_else(|| "unbounded".to_owned(), |max| max.to_string()));
        self.with_some("minOccurs", min).with_some("maxOccurs", max)
    }

    /// Adds the name of a type.
    fn with_name(self, name: &QName) -> Self {
        self.with("name", &*name.local)
    }
}

/// Makes the more frequent form of local elements the schema's default.
fn with_form_default(schema: Tag, mut content: Vec<Tag>) -> Tag {
    let mut counts: BTreeMap<bool, usize> = BTreeMap::new();
    let mut each =
        |change: &mut dyn FnMut(&mut Tag)| content.iter_mut().for_each(|tag| tag.each(&mut |tag| change(tag)));
    each(&mut |tag| {
        if let Some(form) = tag.element_form() {
            *counts.entry(form == "qualified").or_default() += 1;
        }
    });
    let default = if counts.get(&true) > counts.get(&false) { "qualified" } else { "unqualified" };
    each(&mut |tag| {
        if tag.element_form() == Some(default) {
            tag.remove("form");
        }
    });
    schema.with("elementFormDefault", default).add_all(content)
}

fn is_any(view: View<'_>) -> bool {
    matches!(view.content().element, Element::Any)
}

/// Returns a choice for a type without its first fields.
fn at(choice: &Choice, skipped: usize) -> Choice {
    Choice { first: choice.first - skipped as u32, branches: choice.branches.clone(), is_optional: choice.is_optional }
}

/// Returns the wildcard for elements that are ignored.
fn others() -> Tag {
    wildcard("##other").occurring(0, None)
}

fn wildcard(namespace: &str) -> Tag {
    Tag::new("xsd:any").with("namespace", namespace).with("processContents", "lax")
}

/// Returns the attribute `namespace` of a wildcard for the label of its field.
fn namespaces_of(label: &str) -> &str {
    match label.strip_prefix("##other") {
        Some(_) => "##other",
        None if label.is_empty() => "##any",
        None => label,
    }
}

/// Returns the annotation of packed numbers.
fn packed(packing: Packing) -> Tag {
    let order = packing.is_big_endian.then_some("big-endian");
    let tag = Tag::new("p:packed").with("xmlns:p", ns::PACKED).with("items", packing.items.local());
    Tag::new("xsd:annotation").add(Tag::new("xsd:appinfo").add(tag.with_some("order", order)))
}

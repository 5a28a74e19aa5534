//! Finds the types, elements and attributes that messages use, and names them.
//!
//! All are found before anything is written: whether a type is written as an extension of another
//! depends on hierarchies that may come later.

use deltasoap_core::ns;
use deltasoap_core::schema::{
    ArrayElement, Builtin, ComplexElement, Compositor, Element, ElementRef, Field, NamePart, OpenElement, QName, View,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A global element.
#[derive(Debug)]
pub(super) struct GlobalElement {
    pub(super) view: View<'static>,
    pub(super) is_nillable: bool,
}

/// A global type.
#[derive(Debug)]
pub(super) struct GlobalType {
    pub(super) name: QName,
    pub(super) view: View<'static>,
    pub(super) base: Option<Base>,
}

/// The type that a type extends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base {
    pub(super) view: View<'static>,
    /// The number of leading fields that are those of the base.
    pub(super) fields: usize,
}

/// The global components of all schemas. Types are in the order in which they were found.
#[derive(Debug)]
pub(super) struct Components {
    target: NamePart,
    pub(super) types: Vec<GlobalType>,
    /// The types by the name that their descriptions have, as indices. Different descriptions of
    /// one name get different names.
    by_name: HashMap<QName, Vec<usize>>,
    taken: HashSet<QName>,
    visited: HashSet<*const Element>,
    pub(super) elements: BTreeMap<QName, GlobalElement>,
    pub(super) attributes: BTreeMap<QName, View<'static>>,
}

impl Components {
    /// Creates an empty set. Types without a namespace of their own are in the target namespace.
    pub(super) fn new(target: NamePart) -> Self {
        Components {
            target,
            types: Vec::new(),
            by_name: HashMap::new(),
            taken: HashSet::new(),
            visited: HashSet::new(),
            elements: BTreeMap::new(),
            attributes: BTreeMap::new(),
        }
    }

    /// Adds a global element. Returns false if there is another one of this name with another
    /// content.
    pub(super) fn add_element(&mut self, name: &QName, reference: ElementRef, is_nillable: bool) -> bool {
        let view = View::from_static(reference);
        if let Some(known) = self.elements.get(name) {
            return is_alike(known.view, view) && default_of(known.view) == default_of(view);
        }
        self.elements.insert(name.clone(), GlobalElement { view, is_nillable });
        self.visit(view, &name.namespace);
        true
    }

    /// Adds the types of an accessor's content.
    pub(super) fn add_content(&mut self, view: View<'static>) {
        self.visit(view, &self.target.clone());
    }

    /// Returns true if an element of this name has the content.
    pub(super) fn has_element(&self, name: &QName, view: View<'_>) -> bool {
        self.elements.get(name).is_some_and(|known| is_alike(known.view, view))
    }

    /// Returns the name of the type of some content; `None` if it has none, and must be written in
    /// place.
    pub(super) fn type_of(&self, view: View<'static>) -> Option<QName> {
        let view = view.content();
        match view.element {
            Element::Any | Element::Open(OpenElement { base: None, .. }) => Some(any_type()),
            Element::Open(open) => Some(self.type_of_hierarchy(view, open)),
            Element::Simple(simple) if simple.name.local.is_empty() && simple.enumeration.is_empty() => {
                Some(simple.base.name())
            }
            _ => {
                let name = self.wanted_name(view)?;
                let known = || self.find(&name, view).map(|index| self.types[index].name.clone());
                if name.namespace == ns::XSD { Some(name) } else { known() }
            }
        }
    }

    /// Returns the base of a hierarchy if all its types are written as extensions of it.
    fn type_of_hierarchy(&self, view: View<'static>, open: &OpenElement) -> QName {
        let Some(base) = open.base.map(|base| view.follow(base)) else { return any_type() };
        let extends = |(_, reference): &(QName, ElementRef)| self.is_of(view.follow(*reference), base);
        if open.types.iter().all(extends) { self.type_of(base).unwrap_or_else(any_type) } else { any_type() }
    }

    /// Returns true if a type is the base or extends it, directly or not.
    fn is_of(&self, view: View<'static>, base: View<'static>) -> bool {
        let mut next = Some(view);
        for _ in 0..=self.types.len() {
            let Some(view) = next else { return false };
            if is_alike(view, base) {
                return true;
            }
            next = self.global(view).and_then(|found| found.base).map(|base| base.view);
        }
        false
    }

    fn global(&self, view: View<'static>) -> Option<&GlobalType> {
        Some(&self.types[self.find(&self.wanted_name(view)?, view)?])
    }

    fn find(&self, wanted: &QName, view: View<'static>) -> Option<usize> {
        let found = self.by_name.get(wanted)?;
        found.iter().copied().find(|&index| is_alike(self.types[index].view, view))
    }

    /// Visits some content that an element or type of this namespace has, and all content in it.
    fn visit(&mut self, view: View<'static>, namespace: &NamePart) {
        let mut ahead = vec![(view.content(), namespace.clone(), false)];
        while let Some((view, around, is_inline)) = ahead.pop() {
            // Inline content is written in place.
            let name = if is_inline { None } else { self.add_type(view) };
            if !self.visited.insert(std::ptr::from_ref(view.element)) {
                continue;
            }
            let namespace = name.map_or(around, |name| name.namespace);
            if let Element::Open(open) = view.element {
                self.add_hierarchy(view, open);
            }
            let inner = inner(view.element)
                .into_iter()
                .map(|(reference, is_inline)| (view.follow(reference).content(), namespace.clone(), is_inline));
            // The first is visited first.
            let first = ahead.len();
            ahead.extend(inner);
            ahead[first..].reverse();
            if let Element::Complex(complex) = view.element {
                self.add_references(view, complex, &namespace);
            }
        }
    }

    /// Adds the global elements and attributes that a type refers to.
    fn add_references(&mut self, view: View<'static>, complex: &ComplexElement, namespace: &NamePart) {
        for field in complex.fields.iter().filter(|field| !field.inline && is_foreign(&field.name, namespace)) {
            let content = view.follow(field.element);
            let element = GlobalElement { view: content, is_nillable: field.nillable };
            self.elements.entry(field.name.clone()).or_insert(element);
        }
        for attribute in complex.attributes.iter().filter(|attribute| is_foreign(&attribute.name, namespace)) {
            self.attributes.entry(attribute.name.clone()).or_insert_with(|| view.follow(attribute.element));
        }
    }

    fn add_type(&mut self, view: View<'static>) -> Option<QName> {
        let wanted = self.wanted_name(view).filter(|name| name.namespace != ns::XSD)?;
        if let Some(index) = self.find(&wanted, view) {
            return Some(self.types[index].name.clone());
        }
        let numbered = (2..).map(|number| QName::owned(wanted.namespace.clone(), format!("{}{number}", wanted.local)));
        let name = [wanted.clone()].into_iter().chain(numbered).find(|name| !self.taken.contains(name))?;
        self.taken.insert(name.clone());
        self.by_name.entry(wanted).or_default().push(self.types.len());
        self.types.push(GlobalType { name: name.clone(), view, base: None });
        Some(name)
    }

    fn add_hierarchy(&mut self, view: View<'static>, open: &OpenElement) {
        let types = open.types.iter().map(|(_, reference)| view.follow(*reference));
        let Some(base) = open.base.map(|base| view.follow(base)) else { return };
        self.add_type(base);
        for derived in types.filter(|derived| !is_alike(*derived, base)) {
            self.add_type(derived);
            let fields = shared_fields(base, derived);
            let index = self.wanted_name(derived).and_then(|name| self.find(&name, derived));
            if let (Some(fields), Some(index)) = (fields, index) {
                // Of several bases, the nearest has most of the fields.
                let place = &mut self.types[index].base;
                if place.is_none_or(|known| known.fields < fields) {
                    *place = Some(Base { view: base, fields });
                }
            }
        }
    }

    /// Returns the name of a type as its description has it, or one for an array or packed numbers;
    /// `None` for an anonymous type.
    fn wanted_name(&self, view: View<'static>) -> Option<QName> {
        let local = match view.element {
            Element::Array(array) if array.name.namespace == ns::SOAP11_ENCODING => array_name(array),
            Element::Simple(simple) if simple.name.namespace == ns::XSD => match simple.packed {
                Some(packed) if packed.is_big_endian => format!("Packed{}BigEndian", capitalized(packed.items.local())),
                Some(packed) => format!("Packed{}", capitalized(packed.items.local())),
                None => return Some(simple.name.clone()),
            },
            element => return element.type_name().filter(|name| !name.local.is_empty()).cloned(),
        };
        let namespace = match view.element {
            Element::Array(array) if array.item_type.namespace != ns::XSD => array.item_type.namespace.clone(),
            _ => self.target.clone(),
        };
        Some(QName::owned(namespace, local))
    }
}

/// Returns true if a name is neither in the namespace nor in none: it belongs to another schema.
pub(super) fn is_foreign(name: &QName, namespace: &NamePart) -> bool {
    !name.namespace.is_empty() && name.namespace != *namespace
}

pub(super) fn any_type() -> QName {
    QName::new(ns::XSD, "anyType")
}

/// Returns the default of an element with this content.
pub(super) fn default_of(view: View<'static>) -> Option<&'static str> {
    view.content().text().element.default_text()
}

/// Returns the number of a type's leading fields that are those of a base, if the type extends it.
fn shared_fields(base: View<'static>, derived: View<'static>) -> Option<usize> {
    let (parent, child) = (base.complex()?, derived.complex()?);
    let is_sequence = |it: &ComplexElement| it.compositor == Compositor::Sequence && it.text.is_none();
    let has_all = parent.attributes.iter().all(|attribute| child.attributes.contains(attribute));
    if !is_sequence(parent) || !is_sequence(child) || !has_all || parent.open || child.open {
        return None;
    }
    let is_group = |field: &Field| {
        field.inline
            && (field.min, field.max) == (1, Some(1))
            && std::ptr::eq(derived.follow(field.element).element, base.element)
    };
    match child.fields.first() {
        Some(first) if is_group(first) => Some(1),
        _ => {
            let end = parent.fields.len();
            let continues = child.fields.starts_with(&parent.fields) && child.choices.starts_with(&parent.choices);
            let has_own_choices = child.choices.iter().skip(parent.choices.len()).all(|it| it.first as usize >= end);
            (continues && has_own_choices).then_some(end)
        }
    }
}

/// Returns true for the same type. Defaults belong to elements, not to types.
fn is_alike(one: View<'_>, other: View<'_>) -> bool {
    let (one, other) = (one.content(), other.content());
    if std::ptr::eq(one.element, other.element) {
        return true;
    }
    match (one.element, other.element) {
        (Element::Simple(_), Element::Simple(_)) | (Element::Union(_), Element::Union(_)) => {
            one.element.clone().with_default("") == other.element.clone().with_default("")
        }
        (Element::Complex(a), Element::Complex(b)) => match (a.text, b.text) {
            (Some(text), Some(_)) => {
                let same_text = ComplexElement { text: Some(text), ..b.clone() };
                *a == same_text && is_alike(one.text(), other.text())
            }
            _ => a == b,
        },
        (a, b) => a == b,
    }
}

/// Returns the contents in a description, each with true if it has no element of its own.
fn inner(element: &'static Element) -> Vec<(ElementRef, bool)> {
    let own = |reference: ElementRef| (reference, false);
    match element {
        Element::Complex(complex) => {
            let fields = complex.fields.iter().map(|field| (field.element, field.inline));
            let attributes = complex.attributes.iter().map(|attribute| own(attribute.element));
            complex.text.map(own).into_iter().chain(fields).chain(attributes).collect()
        }
        Element::Array(array) => vec![own(array.item)],
        Element::Union(union) => union.members.iter().copied().map(own).collect(),
        Element::Open(open) => {
            open.base.into_iter().chain(open.types.iter().map(|(_, content)| *content)).map(own).collect()
        }
        Element::Shared(content) => vec![own(*content)],
        Element::Simple(_) | Element::Any => Vec::new(),
    }
}

fn array_name(array: &ArrayElement) -> String {
    let item = if array.item_type.local.is_empty() { "Any" } else { &*array.item_type.local };
    let dimensions = if array.dimensions > 1 { format!("{}D", array.dimensions) } else { String::new() };
    format!("ArrayOf{}{dimensions}", capitalized(item))
}

fn capitalized(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Returns the built-in type of an anonymous simple type.
pub(super) fn builtin_of(view: View<'_>) -> Option<Builtin> {
    match view.content().element {
        Element::Simple(simple) => Some(simple.base),
        _ => None,
    }
}

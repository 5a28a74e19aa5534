//! The names of properties, for each field of a complex type.
//!
//! Names are assigned in schema order, so that they depend on nothing else. The fields of a choice
//! that occurs once appear among those around it and share their namespace.

use super::parse_name;
use deltasoap_core::schema::{ComplexElement, Compositor, Element, ElementRef, Field, Schema};
use deltasoap_core::{QName, schema::View};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Maximum depth of nested choices.
const MAX_DEPTH: usize = 32;

/// The properties of a complex type: which property of its JSON holds which of its fields and
/// attributes. Other forms of messages, such as tables, use the same names.
#[derive(Debug, Clone)]
pub struct Layout {
    /// One for each field.
    pub slots: Vec<Slot>,
    /// One for each attribute.
    pub attributes: Vec<String>,
}

/// The place of a field in JSON.
#[derive(Debug, Clone)]
pub enum Slot {
    /// A property.
    Property(String),
    /// A choice that occurs once: its properties are among those around it.
    Among(Layout),
    /// A choice or a group that can occur more than once: an array of objects with these
    /// properties.
    Choices(String, Layout),
    /// None: the field is in a branch that is absent.
    Nowhere,
}

impl Layout {
    /// Returns the layout of a complex type. `view` is that of the type.
    pub fn of(complex: &ComplexElement, view: View<'_>) -> Self {
        Self::with(complex, view, &mut Names::default(), 0)
    }

    fn with(complex: &ComplexElement, view: View<'_>, names: &mut Names, depth: usize) -> Self {
        let attributes = complex.attributes.iter().map(|attribute| names.take("@", &attribute.name)).collect();
        let slots = complex.fields.iter().map(|field| slot(field, view.follow(field.element), names, depth)).collect();
        Layout { slots, attributes }
    }

    /// Returns the layout if only some of the fields are present: each gets the name that it would
    /// have without the others, among the names of this layout.
    pub(super) fn of_some(&self, complex: &ComplexElement, view: View<'_>, is_there: impl Fn(usize) -> bool) -> Self {
        let mut own = Vec::new();
        self.properties(&mut own);
        let own = own.into_iter().map(ToOwned::to_owned).collect();
        let mut names = Names { own: Some(own), ..Names::default() };
        let fields = complex.fields.iter().enumerate();
        let slots = fields.map(|(index, field)| match is_there(index) {
            true => slot(field, view.follow(field.element), &mut names, 0),
            false => Slot::Nowhere,
        });
        Layout { slots: slots.collect(), attributes: self.attributes.clone() }
    }

    /// Returns the property of an attribute, whether the schema names it or not.
    pub(crate) fn attribute(&self, complex: &ComplexElement, name: &QName) -> String {
        let index = complex.attributes.iter().position(|attribute| attribute.name == *name);
        let named = index.and_then(|index| self.attributes.get(index));
        named.map_or_else(|| self.other(name), Clone::clone)
    }

    /// Returns the name of the attribute for a property.
    pub(crate) fn attribute_named(&self, complex: &ComplexElement, key: &str) -> Option<QName> {
        match self.attributes.iter().position(|known| known == key) {
            Some(index) => complex.attributes.get(index).map(|attribute| attribute.name.clone()),
            None => parse_name(key.strip_prefix('@')?).filter(|name| complex.takes_other(name)),
        }
    }

    /// Returns the property of an attribute that the schema does not name.
    pub(crate) fn other(&self, name: &QName) -> String {
        let key = format!("@{name}");
        if self.attributes.contains(&key) { format!("@{{}}{}", name.local) } else { key }
    }

    /// Collects every property, including those of choices that appear among them.
    pub(crate) fn properties<'l>(&'l self, into: &mut Vec<&'l str>) {
        into.extend(self.attributes.iter().map(String::as_str));
        self.slots.iter().for_each(|slot| slot.properties(into));
    }
}

impl Slot {
    /// Collects its properties.
    pub(crate) fn properties<'l>(&'l self, into: &mut Vec<&'l str>) {
        match self {
            Slot::Property(name) | Slot::Choices(name, _) => into.push(name),
            Slot::Among(layout) => layout.properties(into),
            Slot::Nowhere => {}
        }
    }
}

/// Returns true for a choice between elements or groups; false for a sequence.
pub(super) fn is_choice(complex: &ComplexElement) -> bool {
    complex.compositor == Compositor::Choice || complex.is_choice_of_groups()
}

fn slot(field: &Field, content: View<'_>, names: &mut Names, depth: usize) -> Slot {
    match content.element {
        Element::Complex(choice) if field.inline && depth < MAX_DEPTH => match field.is_repeated() {
            true => {
                let name = names.take("$", &QName::new("", if is_choice(choice) { "choice" } else { "sequence" }));
                Slot::Choices(name, Layout::with(choice, content, &mut Names::default(), depth + 1))
            }
            false => Slot::Among(Layout::with(choice, content, names, depth + 1)),
        },
        _ if field.inline => Slot::Property(names.take("$", &QName::new("", "any"))),
        _ => Slot::Property(names.take("", &field.name)),
    }
}

/// Returns the local name that a property stands for, with its mark (`@` or `$`).
pub(super) fn short(property: &str) -> &str {
    let name = property.strip_prefix('{').and_then(|rest| rest.rsplit_once('}')).map_or(property, |(_, name)| name);
    name.split_once('#').map_or(name, |(name, _)| name)
}

/// The assigned names.
#[derive(Debug, Default)]
struct Names {
    taken: HashSet<String>,
    /// The last number assigned for a name.
    numbers: HashMap<String, usize>,
    /// The names that may be taken; `None` if any may.
    own: Option<HashSet<String>>,
}

impl Names {
    fn take(&mut self, mark: &str, name: &QName) -> String {
        let short = format!("{mark}{}", name.local);
        let long = format!("{mark}{name}");
        let may_be = |name: &String| self.own.as_ref().is_none_or(|own| own.contains(name));
        let mut free = [&short, &long].into_iter().filter(|name| may_be(name));
        if let Some(name) = free.find(|name| self.taken.insert((*name).clone())) {
            return name.clone();
        }
        // No XML name contains `#`, so the number alone distinguishes the names.
        let number = self.numbers.entry(short.clone()).or_insert(1);
        let most = *number + self.own.as_ref().map_or(0, HashSet::len);
        loop {
            *number += 1;
            let name = format!("{short}#{number}");
            if may_be(&name) || *number > most {
                return name;
            }
        }
    }
}

/// Layouts by their content, each computed once.
#[derive(Debug)]
pub(crate) struct Layouts<'s> {
    pub(crate) schema: &'s Schema,
    known: RefCell<HashMap<u32, Rc<Layout>>>,
}

impl<'s> Layouts<'s> {
    pub(crate) fn new(schema: &'s Schema) -> Self {
        Layouts { schema, known: RefCell::default() }
    }

    pub(crate) fn of(&self, content: ElementRef, complex: &ComplexElement) -> Rc<Layout> {
        let make = || Rc::new(Layout::of(complex, self.schema.view(content)));
        match content {
            ElementRef::Index(index) => Rc::clone(self.known.borrow_mut().entry(index).or_insert_with(make)),
            ElementRef::Static(_) => make(),
        }
    }
}

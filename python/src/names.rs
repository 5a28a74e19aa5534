//! The names of values in Python, for each part of a complex type.
//!
//! They are the names that zeep gives: an element has its local name, a second one of that name
//! `name__1`; an attribute has its name, or `attr__name` if an element has that name; text beside
//! attributes, wildcards, and groups that can occur more than once are `_value_1`, `_value_2`, ...;
//! attributes that the schema does not name are in `_attr_1`. The parts of a choice or sequence that
//! occurs once appear among those around it. Branches of a choice exclude each other, so that their
//! elements may have the same names.

use deltasoap_core::schema::{Choice, ComplexElement, Compositor, Element, ElementRef, Field, View};
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum depth of nested choices.
const MAX_DEPTH: usize = 32;

/// The names of the parts of a complex type.
#[derive(Debug)]
pub(crate) struct Layout {
    /// One for each field.
    pub(crate) slots: Vec<Slot>,
    /// One for each attribute.
    pub(crate) attributes: Vec<Name>,
    /// The text beside attributes.
    pub(crate) text: Name,
    /// Attributes that the schema does not name.
    pub(crate) others: Option<Name>,
}

/// The place of a field in Python.
#[derive(Debug)]
pub(crate) enum Slot {
    /// A value of its own.
    Value(Name),
    /// A choice or sequence that occurs once: its values are among those around it.
    Among(Layout),
    /// A choice or sequence that can occur more than once: a list of dicts.
    Groups(Name, Layout),
    /// Any element.
    Wildcard(Name),
}

/// A name, as a Python string that is made once.
#[derive(Debug)]
pub(crate) struct Name {
    text: Box<str>,
    python: Py<PyString>,
}

impl Name {
    fn new(py: Python<'_>, text: &str) -> Self {
        Name { text: text.into(), python: PyString::intern(py, text).unbind() }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn python<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        self.python.bind(py)
    }
}

impl Layout {
    /// Returns the layout of a complex type.
    pub(crate) fn of(py: Python<'_>, complex: &ComplexElement, view: View<'_>) -> Self {
        Self::with(py, complex, view, &mut Names::default(), 0)
    }

    fn with(py: Python<'_>, complex: &ComplexElement, view: View<'_>, names: &mut Names, depth: usize) -> Self {
        let mut slots = Vec::with_capacity(complex.fields.len());
        let mut add = |index: usize, names: &mut Names| {
            let field: &Field = &complex.fields[index];
            slots.push(slot(py, field, view.follow(field.element), names, depth));
        };
        match complex.compositor {
            Compositor::Choice => branches(0, (0..complex.fields.len()).map(|_| (1, &[][..])), names, &mut add),
            _ => assign(0, complex.fields.len(), &complex.choices, names, &mut add),
        }
        let mut elements = HashSet::new();
        slots.iter().for_each(|slot| slot.collect(&mut |name| _ = elements.insert(name.as_str())));
        let attributes = complex.attributes.iter().map(|attribute| {
            let local = &*attribute.name.local;
            let clashes = elements.contains(local);
            Name::new(py, &if clashes { format!("attr__{local}") } else { local.to_owned() })
        });
        let attributes = attributes.collect();
        let others = complex.any_attribute.then(|| Name::new(py, "_attr_1"));
        Layout { attributes, text: Name::new(py, "_value_1"), others, slots }
    }

    /// Returns all names, in their order.
    pub(crate) fn names(&self, complex: &ComplexElement) -> Vec<String> {
        let mut names = Vec::new();
        self.each(complex, &mut |name| names.push(name.as_str().to_owned()));
        names
    }

    /// Calls `see` with each name, in the order of the values: those of elements, then those of
    /// attributes.
    pub(crate) fn each<'l>(&'l self, complex: &ComplexElement, see: &mut impl FnMut(&'l Name)) {
        if complex.text.is_some() {
            see(&self.text);
        }
        self.slots.iter().for_each(|slot| slot.collect(see));
        self.attributes.iter().chain(&self.others).for_each(see);
    }
}

impl Slot {
    /// Calls `see` with its names.
    pub(crate) fn collect<'l>(&'l self, see: &mut impl FnMut(&'l Name)) {
        match self {
            Slot::Value(name) | Slot::Groups(name, _) | Slot::Wildcard(name) => see(name),
            Slot::Among(layout) => layout.slots.iter().for_each(|slot| slot.collect(see)),
        }
    }
}

/// Names the fields from `start` to `end`, with the choices between them.
fn assign(start: usize, end: usize, choices: &[Choice], names: &mut Names, add: &mut dyn FnMut(usize, &mut Names)) {
    let mut next = start;
    for choice in choices {
        let first = start + choice.first as usize;
        (next..first).for_each(|index| add(index, names));
        let all = choice.branches.iter().map(|branch| (branch.fields as usize, &branch.choices[..]));
        next = first + all.clone().map(|(count, _)| count).sum::<usize>();
        branches(first, all, names, add);
    }
    (next..end).for_each(|index| add(index, names));
}

/// Names the fields of branches, which may have the same names.
fn branches<'c>(
    first: usize,
    all: impl Iterator<Item = (usize, &'c [Choice])>,
    names: &mut Names,
    add: &mut dyn FnMut(usize, &mut Names),
) {
    let (before, mut start) = (names.clone(), first);
    for (count, choices) in all {
        let mut own = before.clone();
        assign(start, start + count, choices, &mut own, add);
        names.join(&own);
        start += count;
    }
}

fn slot(py: Python<'_>, field: &Field, content: View<'_>, names: &mut Names, depth: usize) -> Slot {
    match content.element {
        Element::Complex(group) if field.inline && depth < MAX_DEPTH => match field.is_repeated() {
            true => {
                let name = names.next_value(py);
                Slot::Groups(name, Layout::with(py, group, content, &mut Names::default(), depth + 1))
            }
            false => Slot::Among(Layout::with(py, group, content, names, depth + 1)),
        },
        _ if field.inline => Slot::Wildcard(names.next_value(py)),
        _ => Slot::Value(names.element(py, &field.name.local)),
    }
}

/// The names that are taken.
#[derive(Debug, Clone, Default)]
struct Names {
    /// How often each local name occurred.
    elements: HashMap<Box<str>, usize>,
    values: usize,
}

impl Names {
    fn element(&mut self, py: Python<'_>, local: &str) -> Name {
        let count = self.elements.entry(local.into()).or_default();
        *count += 1;
        match *count {
            1 => Name::new(py, local),
            count => Name::new(py, &format!("{local}__{}", count - 1)),
        }
    }

    /// Takes the names that either has taken.
    fn join(&mut self, other: &Names) {
        self.values = self.values.max(other.values);
        for (name, count) in &other.elements {
            let own = self.elements.entry(name.clone()).or_default();
            *own = (*own).max(*count);
        }
    }

    fn next_value(&mut self, py: Python<'_>) -> Name {
        self.values += 1;
        Name::new(py, &format!("_value_{}", self.values))
    }
}

/// Layouts by their content, each computed once.
#[derive(Debug, Default)]
pub(crate) struct Layouts(Mutex<HashMap<u32, Arc<Layout>>>);

impl Layouts {
    pub(crate) fn of(
        &self,
        py: Python<'_>,
        content: ElementRef,
        complex: &ComplexElement,
        view: View<'_>,
    ) -> Arc<Layout> {
        let ElementRef::Index(index) = content else { return Arc::new(Layout::of(py, complex, view)) };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(index).or_insert_with(|| Arc::new(Layout::of(py, complex, view))))
    }
}

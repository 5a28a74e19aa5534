//! Names that XML does not allow (`NCName`, Namespaces in XML 1.0, 4): no message can contain an
//! element, attribute or type with such a name. This module finds the content that needs one, so
//! that it is never written.

use super::operations::Method;
use deltasoap_core::QName;
use deltasoap_core::schema::{Element, ElementRef, Field, Schema};
use deltasoap_xml::lexical::is_ncname;

/// For each content, the first invalid name that it needs at any depth.
#[derive(Debug)]
pub(super) struct Unwritable(Vec<Option<Box<str>>>);

impl Unwritable {
    /// Finds such content. `named` lists content whose type is named in messages.
    pub(super) fn find<'n>(schema: &Schema, named: impl Iterator<Item = (ElementRef, &'n QName)>) -> Self {
        let elements = schema.elements();
        let mut found = Unwritable(elements.iter().map(own).collect());
        for (content, name) in named {
            if let Some(place) = found.place(content) {
                place.get_or_insert_with(|| reason("a type", &name.local));
            }
        }
        if found.0.iter().all(Option::is_none) {
            return found;
        }
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); elements.len()];
        let mut note = |user: usize, used: ElementRef| match used {
            ElementRef::Index(used) if (used as usize) < elements.len() => users[used as usize].push(user),
            _ => {}
        };
        for (user, element) in elements.iter().enumerate() {
            for_each_used(element, |used| note(user, used));
        }
        found.spread(&users);
        found
    }

    fn place(&mut self, content: ElementRef) -> Option<&mut Option<Box<str>>> {
        match content {
            ElementRef::Index(index) => self.0.get_mut(index as usize),
            ElementRef::Static(_) => None,
        }
    }

    /// Marks everything that contains such content.
    fn spread(&mut self, users: &[Vec<usize>]) {
        let mut ahead: Vec<usize> = (0..self.0.len()).filter(|&index| self.0[index].is_some()).collect();
        while let Some(index) = ahead.pop() {
            for &user in &users[index] {
                if self.0[user].is_none() {
                    self.0[user] = self.0[index].clone();
                    ahead.push(user);
                }
            }
        }
    }

    /// Returns the reason why content cannot be written.
    pub(super) fn why(&self, content: ElementRef) -> Option<&str> {
        match content {
            ElementRef::Index(index) => self.0.get(index as usize)?.as_deref(),
            ElementRef::Static(_) => None,
        }
    }

    /// Returns the reason why an operation's messages cannot be written.
    pub(super) fn why_not(&self, method: &Method) -> Option<String> {
        let element = &method.element;
        let bodies =
            [Some((&element.request_name, element.request)), element.response_name.as_ref().zip(element.response)];
        let fields = element.faults.iter().chain(&method.request_headers).chain(&method.response_headers);
        let others = fields.map(|Field { name, element, .. }| (name, *element));
        bodies.into_iter().flatten().chain(others).find_map(|(name, content)| {
            // Content directly in a body has no name around it.
            let is_bad = !name.local.is_empty() && !is_ncname(&name.local);
            let own = is_bad.then(|| reason("an element", &name.local).into());
            own.or_else(|| self.why(content).map(ToOwned::to_owned))
        })
    }
}

/// Returns the reason why an element's own names cannot be written.
fn own(element: &Element) -> Option<Box<str>> {
    match element {
        Element::Complex(complex) => {
            // An inline field has no element of its name.
            let fields = complex.fields.iter().filter(|field| !field.inline).map(|field| ("an element", &field.name));
            let attributes = complex.attributes.iter().map(|attribute| ("an attribute", &attribute.name));
            fields
                .chain(attributes)
                .find_map(|(what, name)| (!is_ncname(&name.local)).then(|| reason(what, &name.local)))
        }
        Element::Array(array) => {
            let names = [("an element", &array.item_name), ("a type", &array.item_type)];
            names.into_iter().find_map(|(what, name)| (!is_ncname(&name.local)).then(|| reason(what, &name.local)))
        }
        Element::Simple(_) | Element::Union(_) | Element::Any | Element::Open(_) | Element::Shared(_) => None,
    }
}

fn reason(what: &str, local: &str) -> Box<str> {
    format!("{local:?} is not an XML name (NCName), so no message can contain {what} of that name").into()
}

fn for_each_used(element: &Element, mut note: impl FnMut(ElementRef)) {
    match element {
        Element::Complex(complex) => {
            complex.fields.iter().for_each(|field| note(field.element));
            complex.attributes.iter().for_each(|attribute| note(attribute.element));
            complex.text.into_iter().for_each(note);
        }
        Element::Array(array) => note(array.item),
        Element::Union(union) => union.members.iter().for_each(|&member| note(member)),
        Element::Shared(content) => note(*content),
        // A message does not have to choose any of the other types.
        Element::Open(open) => open.base.into_iter().for_each(note),
        Element::Simple(_) | Element::Any => {}
    }
}

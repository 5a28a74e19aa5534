//! What a reader accepts beyond the schema, and the report of it.
//!
//! Services add elements, forget them, or send them in another order. A [`Tolerance`] says which of
//! this is read all the same. The general routines meet a deviation where they would report an
//! error: predicted markup, flat items and differential mode never decide on one, and a message
//! without deviations pays for one test an element. Deviations that change which fields may follow
//! (order, namespace, omission) make the message one that is compared with others as a whole alone:
//! no place in it can be gone on from.

use super::Cursor;
use crate::schema::{Builtin, ComplexElement, Compositor, Element, QName, View};
use deltasoap_xml::NameId;
use std::collections::HashMap;

/// What a reader accepts beyond the schema. Each level includes the ones before it.
///
/// Attributes that the schema does not name are skipped and [reported](Deviation) on every level.
/// What is not well-formed, a header block that must be understood, a value that is not of its
/// type, and an element that may occur once and occurs twice are errors on every level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Tolerance {
    /// Nothing: what the schema does not allow is an error. The default of servers, which answer
    /// for what they do with a request: an element that they do not know may be one that the client
    /// relies on.
    #[default]
    Strict,
    /// Unknown elements are skipped, and `xsi:nil` on an element that may be empty makes it empty.
    /// The default of clients: services add elements to their responses.
    Unknown,
    /// Beyond that, the elements of a sequence may come in any order, each may be in another
    /// namespace than the schema says, or in none, and required ones may be missing if they can be
    /// nil or their type has an obvious empty value: texts, numbers, booleans, binary data, and
    /// structs and arrays of these. They are nil or empty then; dynamic values are absent.
    AnyOrder,
}

/// Something in a message that its schema does not allow, and that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deviation {
    /// What it is.
    pub kind: DeviationKind,
    /// The path of the element that it is in, as in `/Envelope/Body/Order/item`; of the first, if
    /// there were several.
    pub path: String,
    /// The name of the element or attribute, as `{namespace}local`.
    pub name: String,
    /// How often it was met in elements of the same type. Elements that differential mode skips,
    /// and flat items whose markup repeats, are not counted again.
    pub count: u64,
}

/// How a message deviates from its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviationKind {
    /// An element that the schema does not name here. It was skipped.
    UnknownElement,
    /// An attribute that the schema does not name here. It was skipped.
    UnknownAttribute,
    /// An element that may not come here, after those before it.
    Order,
    /// An element in another namespace than the schema says.
    Namespace,
    /// A required element that does not occur.
    Missing,
    /// `xsi:nil` on an element that cannot be nil, and may be empty.
    Nil,
    /// An attribute of a nil element, for which the type has no place. It was skipped.
    BesideNil,
    /// A SOAP array in another form than declared: rows of a matrix as arrays of their own, or
    /// arrays of arrays as a matrix.
    ArrayForm,
}

impl DeviationKind {
    /// For people, before the name: `unknown element {urn:x}a`.
    pub fn describe(self) -> &'static str {
        match self {
            DeviationKind::UnknownElement => "unknown element",
            DeviationKind::UnknownAttribute => "unknown attribute",
            DeviationKind::Order => "element out of order",
            DeviationKind::Namespace => "element in another namespace",
            DeviationKind::Missing => "missing element",
            DeviationKind::Nil => "xsi:nil on an element that cannot be nil",
            DeviationKind::BesideNil => "attribute of a nil element",
            DeviationKind::ArrayForm => "array of another form than declared by",
        }
    }
}

impl std::fmt::Display for Deviation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} in {}", self.kind.describe(), self.name, self.path)?;
        if self.count > 1 { write!(f, ", {} times", self.count) } else { Ok(()) }
    }
}

/// Different deviations that a report lists, at most; the others are only counted.
const MOST_LISTED: usize = 100;

/// The deviations of the message at hand.
#[derive(Debug, Default)]
pub(crate) struct Tolerated {
    pub(crate) tolerance: Tolerance,
    deviations: Vec<Deviation>,
    /// What tells each of them from the others.
    keys: Vec<Key>,
    /// Whether a description has an obvious value, by its address. A message can lack elements of a
    /// few types very often.
    has_empty_values: HashMap<usize, bool>,
    /// How often each was found before the operation, and how many a decoder had found in all.
    before: (Vec<u64>, u64),
}

/// Kind, address of the description of the element around, name.
type Key = (DeviationKind, usize, Named);

/// An element or attribute: of the message, or the number of a field that it lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Id(NameId),
    Field(usize),
}

impl Tolerated {
    pub(crate) fn new(tolerance: Tolerance) -> Self {
        Tolerated { tolerance, ..Self::default() }
    }

    pub(crate) fn reset(&mut self) {
        self.deviations.clear();
        self.keys.clear();
        self.has_empty_values.clear();
    }

    /// Remembers what was found before an operation that may be read again from its start, with the
    /// number of all that a decoder has found.
    pub(crate) fn mark(&mut self, all: u64) {
        self.before.0.clear();
        self.before.0.extend(self.deviations.iter().map(|it| it.count));
        self.before.1 = all;
    }

    /// Goes back to what was found before the operation; gives the number of all.
    pub(crate) fn go_back(&mut self) -> u64 {
        let (counts, all) = &self.before;
        self.keys.truncate(counts.len());
        self.deviations.truncate(counts.len());
        self.deviations.iter_mut().zip(counts).for_each(|(it, &before)| it.count = before);
        *all
    }

    pub(crate) fn deviations(&self) -> &[Deviation] {
        &self.deviations
    }

    /// Counts a known deviation; false if it is a new one, and there is room for it.
    fn count(&mut self, key: Key) -> bool {
        let known = self.keys.iter().position(|known| *known == key);
        if let Some(deviation) = known.and_then(|known| self.deviations.get_mut(known)) {
            deviation.count += 1;
        }
        known.is_some() || self.keys.len() >= MOST_LISTED
    }

    fn add(&mut self, key: Key, path: String, name: String) {
        self.keys.push(key);
        self.deviations.push(Deviation { kind: key.0, path, name, count: 1 });
    }
}

impl Cursor<'_> {
    /// What may be accepted beyond the schema.
    #[inline]
    pub(crate) fn tolerance(&self) -> Tolerance {
        self.state.tolerated.tolerance
    }

    /// True if a value of this type is obvious where the message lacks a required one.
    #[cold]
    pub(crate) fn has_empty_value(&mut self, view: View<'_>) -> bool {
        let known = self.state.tolerated.has_empty_values.entry(std::ptr::from_ref(view.element).addr());
        *known.or_insert_with(|| has_empty_value(view))
    }

    /// Reports the element whose start tag was just read.
    #[cold]
    pub(crate) fn report_element(&mut self, kind: DeviationKind, around: &ComplexElement) {
        let key = (kind, std::ptr::from_ref(around).addr(), Named::Id(self.name()));
        self.state.stats.deviations += 1;
        if !self.state.tolerated.count(key) {
            let (path, name) = (self.state.names_path(self.reader().depth() - 1), self.found_name());
            self.state.tolerated.add(key, path, name);
        }
    }

    /// Reports an attribute of the element whose start tag was just read, or what is wrong with
    /// that element.
    #[cold]
    pub(crate) fn report_attribute(&mut self, kind: DeviationKind, attribute: NameId) {
        let key = (kind, self.name().index(), Named::Id(attribute));
        self.state.stats.deviations += 1;
        if !self.state.tolerated.count(key) {
            let (path, names) = (self.state.names_path(self.reader().depth()), self.names());
            let name = QName::owned(names.namespace(attribute), names.local(attribute)).to_string();
            self.state.tolerated.add(key, path, name);
        }
    }

    /// Reports a field that the element just closed lacks.
    #[cold]
    pub(crate) fn report_missing(&mut self, around: &ComplexElement, field: usize) {
        let key = (DeviationKind::Missing, std::ptr::from_ref(around).addr(), Named::Field(field));
        self.state.stats.deviations += 1;
        if !self.state.tolerated.count(key) {
            let (reader, mut path) = (self.reader(), self.state.names_path(self.reader().depth()));
            path.push('/');
            path.push_str(reader.names().local(reader.closed_name()));
            self.state.tolerated.add(key, path, around.fields[field].name.to_string());
        }
    }
}

/// See [`Cursor::has_empty_value`].
fn has_empty_value(view: View<'_>) -> bool {
    /// Types within types that are looked at, at most.
    const MOST: usize = 1000;
    let (mut ahead, mut seen) = (vec![view], 0);
    while let Some(view) = ahead.pop() {
        seen += 1;
        match view.element {
            _ if seen > MOST => return false,
            Element::Simple(simple) if !simple.enumeration.is_empty() || !is_obvious(simple.base) => return false,
            Element::Complex(complex) => {
                let needs_more = complex.compositor == Compositor::Choice
                    || !complex.choices.is_empty()
                    || complex.attributes.iter().any(|attribute| attribute.required);
                if needs_more {
                    return false;
                }
                let required = complex.fields.iter().filter(|field| field.min > 0 && !field.nillable);
                ahead.extend(required.map(|field| view.follow(field.element)));
                ahead.extend(complex.text.map(|text| view.follow(text)));
            }
            Element::Simple(_) | Element::Array(_) => {}
            Element::Union(_) | Element::Any | Element::Open(_) | Element::Shared(_) => return false,
        }
    }
    true
}

fn is_obvious(builtin: Builtin) -> bool {
    use Builtin as B;
    let primitive = std::iter::successors(Some(builtin), |it| it.base()).last();
    match builtin {
        // Zero is none, and the empty text is no name.
        B::PositiveInteger | B::NegativeInteger => false,
        B::String | B::NormalizedString | B::Token => true,
        _ => {
            [B::Boolean, B::Decimal, B::Float, B::Double, B::Base64Binary, B::HexBinary].map(Some).contains(&primitive)
        }
    }
}

//! Deviations from the schema that a reader accepts, and the report of them.
//!
//! Services add elements, forget them, or send them in another order. A [`Tolerance`] specifies
//! which of these deviations are accepted. The general routines detect a deviation where they would
//! otherwise report an error: predicted markup, flat items and differential mode never decide on
//! one. A message without deviations pays for one test per element. After a deviation that changes
//! which fields may follow (order, namespace, omission), the message can only be compared with
//! others as a whole: decoding cannot resume at any place within it.

use super::Cursor;
use crate::schema::{Builtin, ComplexElement, Compositor, Element, QName, View};
use deltasoap_xml::NameId;
use std::collections::HashMap;

/// What a reader accepts beyond the schema. Each level includes the previous ones.
///
/// Attributes that the schema does not name are skipped and [reported](Deviation) on every level.
/// The following are errors on every level: malformed XML, a header block that must be understood,
/// a value that is invalid for its type, and a repeated element that may occur only once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Tolerance {
    /// Accepts nothing: whatever the schema does not allow is an error. The default for servers,
    /// which are responsible for what they do with a request: the client may rely on an element
    /// that the server does not know.
    #[default]
    Strict,
    /// Skips unknown elements, and treats `xsi:nil` on an element that may be empty as an empty
    /// element. The default for clients: services add elements to their responses.
    Unknown,
    /// In addition, the elements of a sequence may come in any order, and each may be in a
    /// namespace other than that of the schema, or in none. Required elements may be missing if
    /// they can be nil or if their type has an obvious empty value: text, numbers, booleans, binary
    /// data, and structs and arrays of these. Missing elements become nil or empty; dynamic values
    /// are absent.
    AnyOrder,
}

/// A deviation of a message from its schema that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deviation {
    /// The kind of deviation.
    pub kind: DeviationKind,
    /// The path of the element that contains it, as in `/Envelope/Body/Order/item`; if it occurred
    /// several times, the path of the first.
    pub path: String,
    /// The name of the element or attribute, as `{namespace}local`.
    pub name: String,
    /// Number of occurrences in elements of the same type. Elements that differential mode skips,
    /// and flat items whose markup repeats, are not counted again.
    pub count: u64,
}

/// The ways in which a message can deviate from its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviationKind {
    /// An element that the schema does not name here. It was skipped.
    UnknownElement,
    /// An unknown element with the local name of a field that has not occurred, in another
    /// namespace than that field's. It was skipped: either it is an extension, or the namespace is
    /// wrong in the schema or in the message.
    Namesake,
    /// An attribute that the schema does not name here. It was skipped.
    UnknownAttribute,
    /// An element that may not come here, after the elements before it.
    Order,
    /// An element in a namespace other than that of the schema.
    Namespace,
    /// A required element that is missing.
    Missing,
    /// `xsi:nil` on an element that cannot be nil, but may be empty.
    Nil,
    /// An attribute of a nil element that the type cannot hold. It was skipped.
    BesideNil,
    /// A SOAP array in a form other than declared: rows of a matrix as separate arrays, or arrays
    /// of arrays as a matrix.
    ArrayForm,
}

impl DeviationKind {
    /// Returns a human-readable description that precedes the name: `unknown element {urn:x}a`.
    pub fn describe(self) -> &'static str {
        match self {
            DeviationKind::UnknownElement => "unknown element",
            DeviationKind::Namesake => "element skipped for its namespace:",
            DeviationKind::UnknownAttribute => "unknown attribute",
            DeviationKind::Order => "element out of order",
            DeviationKind::Namespace => "element in another namespace",
            DeviationKind::Missing => "missing element",
            DeviationKind::Nil => "xsi:nil on an element that cannot be nil",
            DeviationKind::BesideNil => "attribute of a nil element",
            DeviationKind::ArrayForm => "array in a form other than declared by",
        }
    }
}

impl std::fmt::Display for Deviation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} in {}", self.kind.describe(), self.name, self.path)?;
        if self.count > 1 { write!(f, ", {} times", self.count) } else { Ok(()) }
    }
}

/// Maximum number of different deviations that a report lists; further ones are only counted.
const MAX_LISTED: usize = 100;

/// The deviations of the current message.
#[derive(Debug, Default)]
pub(crate) struct DeviationLog {
    pub(crate) tolerance: Tolerance,
    deviations: Vec<Deviation>,
    /// The key that identifies each deviation.
    keys: Vec<Key>,
    /// True if a schema element has an obvious value, by its address. A message can lack elements
    /// of a few types very often.
    has_empty_values: HashMap<usize, bool>,
    /// Skipped elements with the local name of a field that is required: the frame of the element
    /// around them, and their names.
    namesakes: Vec<(usize, NameId)>,
    /// The count of each deviation before the operation, and the decoder's total.
    before: (Vec<u64>, u64),
}

/// Kind, address of the schema of the surrounding element, name.
type Key = (DeviationKind, usize, DeviationSubject);

/// An element or attribute: the name in the message, or the number of a missing field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeviationSubject {
    Id(NameId),
    Field(usize),
}

impl DeviationLog {
    pub(crate) fn new(tolerance: Tolerance) -> Self {
        DeviationLog { tolerance, ..Self::default() }
    }

    pub(crate) fn reset(&mut self) {
        self.deviations.clear();
        self.keys.clear();
        self.has_empty_values.clear();
        self.namesakes.clear();
    }

    /// Forgets the namesakes in elements that were read before the one with this frame.
    pub(crate) fn forget_namesakes(&mut self, frame: usize) {
        self.namesakes.retain(|&(other, _)| other < frame);
    }

    pub(crate) fn add_namesake(&mut self, frame: usize, name: NameId) {
        if self.namesakes.len() < MAX_LISTED {
            self.namesakes.push((frame, name));
        }
    }

    pub(crate) fn namesakes(&self, frame: usize) -> impl Iterator<Item = NameId> {
        self.namesakes.iter().filter(move |(other, _)| *other == frame).map(|(_, name)| *name)
    }

    /// Saves the counts before an operation that may be read again from its start; `all` is the
    /// decoder's total.
    pub(crate) fn mark(&mut self, all: u64) {
        self.before.0.clear();
        self.before.0.extend(self.deviations.iter().map(|it| it.count));
        self.before.1 = all;
    }

    /// Restores the counts from before the operation. Returns the decoder's total.
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

    /// Counts a known deviation. Returns false if it is new and there is room for it.
    fn count(&mut self, key: Key) -> bool {
        let known = self.keys.iter().position(|known| *known == key);
        if let Some(deviation) = known.and_then(|known| self.deviations.get_mut(known)) {
            deviation.count += 1;
        }
        known.is_some() || self.keys.len() >= MAX_LISTED
    }

    fn add(&mut self, key: Key, path: String, name: String) {
        self.keys.push(key);
        self.deviations.push(Deviation { kind: key.0, path, name, count: 1 });
    }
}

impl Cursor<'_> {
    /// Returns what may be accepted beyond the schema.
    #[inline]
    pub(crate) fn tolerance(&self) -> Tolerance {
        self.state.tolerated.tolerance
    }

    /// Returns the skipped elements in the element with this frame that have the local name of a
    /// field.
    pub(crate) fn namesakes(&self, frame: usize) -> impl Iterator<Item = NameId> {
        self.state.tolerated.namesakes(frame)
    }

    /// Returns true if a missing required element of this type has an obvious value.
    #[cold]
    pub(crate) fn has_empty_value(&mut self, view: View<'_>) -> bool {
        let known = self.state.tolerated.has_empty_values.entry(std::ptr::from_ref(view.element).addr());
        *known.or_insert_with(|| has_empty_value(view))
    }

    /// Reports the element whose start tag was just read.
    #[cold]
    pub(crate) fn report_element(&mut self, kind: DeviationKind, around: &ComplexElement) {
        let key = (kind, std::ptr::from_ref(around).addr(), DeviationSubject::Id(self.name()));
        self.state.stats.deviations += 1;
        if !self.state.tolerated.count(key) {
            let (path, name) = (self.state.names_path(self.reader().depth() - 1), self.found_name());
            self.state.tolerated.add(key, path, name);
        }
    }

    /// Reports an attribute of the element whose start tag was just read, or a deviation of that
    /// element itself.
    #[cold]
    pub(crate) fn report_attribute(&mut self, kind: DeviationKind, attribute: NameId) {
        let key = (kind, self.name().index(), DeviationSubject::Id(attribute));
        self.state.stats.deviations += 1;
        if !self.state.tolerated.count(key) {
            let (path, names) = (self.state.names_path(self.reader().depth()), self.names());
            let name = QName::owned(names.namespace(attribute), names.local(attribute)).to_string();
            self.state.tolerated.add(key, path, name);
        }
    }

    /// Reports a field that is missing from the element just closed.
    #[cold]
    pub(crate) fn report_missing(&mut self, around: &ComplexElement, field: usize) {
        let key = (DeviationKind::Missing, std::ptr::from_ref(around).addr(), DeviationSubject::Field(field));
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
    /// Maximum number of nested types that are checked.
    const MAX_SEEN: usize = 1000;
    let (mut ahead, mut seen) = (vec![view], 0);
    while let Some(view) = ahead.pop() {
        seen += 1;
        match view.element {
            _ if seen > MAX_SEEN => return false,
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
        // Zero is not a valid value, and the empty string is not a valid name.
        B::PositiveInteger | B::NegativeInteger => false,
        B::String | B::NormalizedString | B::Token => true,
        _ => {
            [B::Boolean, B::Decimal, B::Float, B::Double, B::Base64Binary, B::HexBinary].map(Some).contains(&primitive)
        }
    }
}

//! SOAP arrays (SOAP 1.1 section 5.4.2; SOAP 1.2 part 2, section 3.1.6).

use super::differential::Changes;
use super::{Encoder, flat};
use crate::content::Content;
use crate::ns;
use crate::schema::{ArrayElement, Field, QName, Use, View};
use crate::version::Version;

/// Writes the content of a SOAP array whose start tag is still open. `arrayType`, or `itemType` and
/// `arraySize` in SOAP 1.2, are always written: they make an element an array.
pub fn encode<T: Content>(items: &[T], encoder: &mut Encoder, view: View<'_>) {
    encode_part(items, Some(items.len()), encoder, view);
}

/// Like [`encode`], for an array of another or unknown size. Returns the field and the view for
/// writing its further items.
pub(crate) fn encode_part<T: Content>(
    items: &[T],
    size: Option<usize>,
    encoder: &mut Encoder,
    view: View<'_>,
) -> Field {
    let (field, item) = begin(size, encoder, view);
    flat::encode_items(items, encoder, &field, item);
    field
}

/// Like [`encode`], for a list that tracks which of its items changed since it was last written.
pub fn encode_changed<T: Content>(items: &[T], changes: Changes<'_>, encoder: &mut Encoder, view: View<'_>) {
    let (field, item) = begin(Some(items.len()), encoder, view);
    flat::encode_changed_items(items, changes, encoder, &field, item);
}

/// Begins an array of several dimensions. Returns the field for writing its items, which follow in
/// row-major order.
pub(crate) fn begin_rows(sizes: &[usize], encoder: &mut Encoder, view: View<'_>) -> Field {
    begin_sized(Sizes::Rows(sizes), encoder, view).0
}

/// Writes an array's attributes. Returns its items as a repeated field, and the description of an
/// item.
fn begin<'s>(size: Option<usize>, encoder: &mut Encoder, view: View<'s>) -> (Field, View<'s>) {
    begin_sized(size.map_or(Sizes::Unknown, Sizes::One), encoder, view)
}

fn begin_sized<'s>(size: Sizes<'_>, encoder: &mut Encoder, view: View<'s>) -> (Field, View<'s>) {
    let Some(array) = view.array() else { unreachable!("an array routine with another schema class") };
    write_attributes(encoder, array, size);
    let field = Field {
        name: array.item_name.clone(),
        element: array.item,
        min: 0,
        max: None,
        nillable: array.nillable,
        inline: false,
    };
    (field, view.follow(array.item))
}

fn write_attributes(encoder: &mut Encoder, array: &ArrayElement, size: Sizes<'_>) {
    const ANY: QName = QName::new(ns::XSD, "anyType");
    let version = encoder.version();
    if encoder.encoding() == Use::Encoded {
        encoder.type_attribute(Some(&in_version(&array.name, version)));
    }
    let item_type = if array.item_type.local.is_empty() { &ANY } else { &array.item_type };
    let item_type = in_version(item_type, version);
    let name = |local| QName::new(version.encoding_namespace(), local);
    match version {
        Version::Soap11 => {
            encoder.qname_attribute(&name("arrayType"), &item_type, &format!("[{}]", size.text("", ",")));
        }
        Version::Soap12 => {
            encoder.qname_attribute(&name("itemType"), &item_type, "");
            encoder.attribute(&name("arraySize"), &size.text("*", " "));
        }
    }
}

/// The number of items of an array.
#[derive(Debug, Clone, Copy)]
enum Sizes<'a> {
    Unknown,
    One(usize),
    /// The number of items in each dimension.
    Rows(&'a [usize]),
}

impl Sizes<'_> {
    /// Formats the sizes with a separator; an unknown size is written as `unknown`.
    fn text(self, unknown: &str, between: &str) -> String {
        match self {
            Sizes::Unknown => unknown.to_owned(),
            Sizes::One(size) => size.to_string(),
            Sizes::Rows(sizes) => sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(between),
        }
    }
}

/// Returns the name of a section-5 type in a version. Each version has its own namespace; schemas
/// use that of 1.1.
fn in_version(name: &QName, version: Version) -> QName {
    if name.namespace != ns::SOAP11_ENCODING {
        return name.clone();
    }
    QName { namespace: version.encoding_namespace().into(), local: name.local.clone() }
}

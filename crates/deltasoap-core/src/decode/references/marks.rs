//! Marks of a start tag: the element's id, or the id that it refers to.

use crate::decode::Cursor;
use crate::ns;
use crate::schema::View;
use deltasoap_xml::{NameId, Names, Reader};

/// The marks of a start tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Marks<'a> {
    /// The element's own id.
    pub(super) id: Option<&'a str>,
    /// The id of the element that it refers to.
    pub(super) reference: Option<&'a str>,
}

/// Returns the marks of the start tag just read. Attributes that the schema names are not marks.
pub(super) fn marks<'a>(cursor: &'a Cursor<'_>, view: View<'_>) -> Marks<'a> {
    let names = cursor.names();
    let is_named = |name: NameId| {
        let complex = view.complex();
        complex.is_some_and(|it| it.attributes.iter().any(|a| names.is(name, &a.name.namespace, &a.name.local)))
    };
    marks_of(cursor.reader(), |name| !is_named(name))
}

/// Returns the marks of the start tag just read, among the attributes for which `is_mark` returns
/// true.
pub(super) fn marks_of(reader: &Reader, is_mark: impl Fn(NameId) -> bool) -> Marks<'_> {
    let mut marks = Marks::default();
    for index in 0..reader.attribute_count() {
        let (name, text) = reader.attribute(index);
        let Some(kind) = kind(reader.names(), name).filter(|_| is_mark(name)) else { continue };
        let text = text.trim_ascii();
        match kind {
            Kind::Id if text.is_empty() => {}
            Kind::Id => marks.id = marks.id.or(Some(text)),
            Kind::Href => marks.reference = marks.reference.or(text.strip_prefix('#')),
            // The standard specifies a plain id; some toolkits write a fragment as in SOAP 1.1,
            // which is never a valid id.
            Kind::Ref => marks.reference = marks.reference.or(Some(text.strip_prefix('#').unwrap_or(text))),
        }
    }
    marks
}

/// Returns true if an attribute is an id.
pub(super) fn is_id(names: &Names, name: NameId) -> bool {
    kind(names, name) == Some(Kind::Id)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Id,
    /// A URI; a URI that is only a fragment is a reference.
    Href,
    Ref,
}

#[inline]
fn kind(names: &Names, name: NameId) -> Option<Kind> {
    // Compared as bytes, which needs no call: nearly all attributes are none of these.
    let kind = match names.local(name).as_bytes() {
        b"id" => Kind::Id,
        b"href" => Kind::Href,
        b"ref" => Kind::Ref,
        _ => return None,
    };
    let namespace = names.namespace(name);
    let is_such = match kind {
        Kind::Id => namespace.is_empty() || namespace == ns::SOAP12_ENCODING,
        Kind::Href => namespace.is_empty(),
        Kind::Ref => namespace == ns::SOAP12_ENCODING,
    };
    is_such.then_some(kind)
}

/// Returns true if the start tag just read refers to another element, or can be referred to.
pub(crate) fn has_marks(reader: &Reader) -> bool {
    (0..reader.attribute_count()).any(|index| kind(reader.names(), reader.attribute(index).0).is_some())
}

//! The attributes of an array's start tag (sizes and offset), and the positions of items.

use super::super::{Cursor, Step, nil_attribute, other_attribute};
use crate::{ErrorKind, QName, ns};
use deltasoap_xml::NameId;

/// The relevant attributes of an array's start tag.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// Sizes of all dimensions except the first: they determine where a row ends. The first, which
    /// is the only one of most arrays, is a claim that decides nothing except the number of rows
    /// without items.
    pub(super) inner: Vec<u64>,
    /// The first size, if it is given.
    pub(super) first: Option<u64>,
    /// The position of the first item that is present.
    pub(super) offset: Option<u64>,
}

impl Shape {
    /// Returns the number of dimensions.
    pub(super) fn dimensions(&self) -> usize {
        self.inner.len() + 1
    }
}

/// Reads the attributes of the element just opened, which is an array with `dimensions` dimensions
/// unless it specifies otherwise.
pub(super) fn read(cursor: &mut Cursor<'_>, dimensions: usize) -> Step<Shape> {
    nil_attribute(cursor)?.reject(cursor)?;
    (0..cursor.reader().attribute_count()).try_for_each(|index| other_attribute(cursor, index))?;
    let (first, inner) = sizes(cursor, dimensions)?;
    let offset = attribute(cursor, "offset").map(|text| place(cursor, text, &inner)).transpose()?;
    Ok(Shape { inner, first, offset })
}

/// Returns the position that the item just opened specifies.
pub(super) fn position(cursor: &Cursor<'_>, inner: &[u64]) -> Step<Option<u64>> {
    if cursor.reader().attribute_count() == 0 {
        return Ok(None);
    }
    attribute(cursor, "position").map(|text| place(cursor, text, inner)).transpose()
}

/// Returns the name of the items' type, if the array just opened specifies it: an array whose items
/// are arrays does not.
pub(super) fn item_type(cursor: &Cursor<'_>) -> Option<QName> {
    let named = |text: &str| {
        let (namespace, local) = cursor.reader().resolve(text.trim_ascii())?;
        Some(QName::owned(namespace, local))
    };
    match attribute(cursor, "arrayType") {
        Some(text) => {
            let (name, sizes) = split_array_type(text)?;
            if sizes.matches('[').count() == 1 { named(name) } else { None }
        }
        None => named(attribute(cursor, "itemType")?),
    }
}

/// Returns the number of dimensions that the array just opened specifies, if any.
pub(super) fn rank(cursor: &Cursor<'_>) -> Option<usize> {
    match (attribute(cursor, "arrayType"), attribute(cursor, "arraySize")) {
        (Some(text), _) => Some(text.rsplit_once('[')?.1.split(',').count()),
        (None, Some(text)) => Some(text.split_ascii_whitespace().count()),
        (None, None) => None,
    }
}

/// Returns true if the item just opened specifies its position.
pub(super) fn has_position(cursor: &Cursor<'_>) -> bool {
    cursor.reader().attribute_count() > 0 && attribute(cursor, "position").is_some()
}

/// Returns the first size, if it is given, and the others.
fn sizes(cursor: &Cursor<'_>, dimensions: usize) -> Step<(Option<u64>, Vec<u64>)> {
    let (own, is_list) = match (attribute(cursor, "arrayType"), attribute(cursor, "arraySize")) {
        (Some(text), _) => (own_sizes(cursor, text)?, false),
        (None, Some(text)) => (text.trim_ascii(), true),
        (None, None) if dimensions == 1 => return Ok((None, Vec::new())),
        (None, None) => ("", false),
    };
    let sizes = if is_list { sizes_in_list(own) } else { sizes_in_brackets(own) };
    let kind = if is_list { ErrorKind::ArraySize } else { ErrorKind::ArrayType };
    let wrong = || cursor.error_at_tag(kind(own.to_owned()));
    let sizes = sizes.ok_or_else(wrong)?;
    // Without the sizes, the end of a row is unknown.
    let first = sizes.first().copied().flatten();
    sizes.into_iter().skip(1).collect::<Option<Vec<u64>>>().map(|inner| (first, inner)).ok_or_else(wrong)
}

/// Returns the sizes of the array itself in `prefix:type[..][2,3]`: the last ones. The type before
/// them is ignored: the schema determines the items' type, and senders are careless with it.
fn own_sizes<'t>(cursor: &Cursor<'_>, text: &'t str) -> Step<&'t str> {
    let malformed = || cursor.error_at_tag(ErrorKind::ArrayType(text.to_owned()));
    let (_, sizes) = split_array_type(text).ok_or_else(malformed)?;
    let limit = cursor.limits().dimensions;
    if sizes.bytes().filter(|byte| matches!(byte, b'[' | b',')).count() > limit {
        return Err(cursor.limit_error("dimensions", limit));
    }
    let mut ranks = sizes.split_inclusive(']');
    let own = ranks.next_back().ok_or_else(malformed)?;
    if ranks.all(|rank| sizes_in_brackets(rank).is_some()) { Ok(own) } else { Err(malformed()) }
}

/// Splits `prefix:type[n]` into the name and the sizes.
fn split_array_type(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_ascii();
    let (name, sizes) = text.split_at(text.find('[')?);
    let name = name.trim_ascii();
    (!name.is_empty()).then_some((name, sizes))
}

/// Parses the sizes in `[2,3]`; `None` for a size that is not given.
fn sizes_in_brackets(text: &str) -> Option<Vec<Option<u64>>> {
    let sizes = text.strip_prefix('[')?.strip_suffix(']')?;
    sizes.split(',').map(|size| size_or_none(size.trim_ascii())).collect()
}

/// Parses the sizes in `* 3` (SOAP 1.2 part 2, section 3.1.6): only the first may be unknown.
fn sizes_in_list(text: &str) -> Option<Vec<Option<u64>>> {
    let size = |(index, text): (usize, &str)| if text == "*" && index == 0 { Some(None) } else { size_or_none(text) };
    // An empty list is one dimension of unknown size, as is the default.
    if text.is_empty() { Some(vec![None]) } else { text.split_ascii_whitespace().enumerate().map(size).collect() }
}

fn size_or_none(text: &str) -> Option<Option<u64>> {
    if text.is_empty() { Some(None) } else { number(text).map(Some) }
}

/// Parses a number of any length: one that does not fit is larger than any array.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

/// Returns the index in row-major order that `[1,2]` denotes.
fn place(cursor: &Cursor<'_>, text: &str, inner: &[u64]) -> Step<u64> {
    place_in(text, inner).ok_or_else(|| cursor.error_at_tag(ErrorKind::ArrayType(text.to_owned())))
}

fn place_in(text: &str, inner: &[u64]) -> Option<u64> {
    let numbers = text.trim_ascii().strip_prefix('[')?.strip_suffix(']')?;
    let numbers: Vec<u64> = numbers.split(',').map(|text| number(text.trim_ascii())).collect::<Option<_>>()?;
    let (first, rest) = numbers.split_first()?;
    let is_within = rest.len() == inner.len() && rest.iter().zip(inner).all(|(at, size)| at < size);
    let place = |place: u64, (at, size): (&u64, &u64)| place.saturating_mul(*size).saturating_add(*at);
    is_within.then(|| rest.iter().zip(inner).fold(*first, place))
}

/// Returns the name of the attribute that specifies the sizes of the array just opened.
pub(super) fn name_of_sizes(cursor: &Cursor<'_>) -> Option<NameId> {
    named(cursor, "arrayType").or_else(|| named(cursor, "arraySize")).map(|(name, _)| name)
}

/// Returns the value of an attribute of the encoding namespaces on the element just opened.
fn attribute<'a>(cursor: &'a Cursor<'_>, local: &str) -> Option<&'a str> {
    named(cursor, local).map(|(_, text)| text)
}

fn named<'a>(cursor: &'a Cursor<'_>, local: &str) -> Option<(NameId, &'a str)> {
    let (reader, names) = (cursor.reader(), cursor.names());
    (0..reader.attribute_count())
        .map(|index| reader.attribute(index))
        .find(|(name, _)| names.is(*name, ns::SOAP11_ENCODING, local) || names.is(*name, ns::SOAP12_ENCODING, local))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let own = |text| sizes_in_brackets(split_array_type(text)?.1);
        for good in ["xsd:int[3]", " xsd:int[3] ", "xsd:int[]", "int[2]"] {
            assert!(own(good).is_some_and(|sizes| sizes.len() == 1), "{good}");
        }
        for bad in ["", "xsd:int", "xsd:int[3", "xsd:int[x]", "[3]", "xsd:int[3]x", "xsd:int[-1]"] {
            assert_eq!(own(bad), None, "{bad}");
        }
        assert_eq!(own("xsd:int[2, 3]"), Some(vec![Some(2), Some(3)]));
        assert_eq!(own("xsd:int[,]"), Some(vec![None, None]));
        assert_eq!(sizes_in_list("* 4"), Some(vec![None, Some(4)]));
        assert_eq!(sizes_in_list("4 *"), None);
    }

    #[test]
    fn places() {
        assert_eq!(place_in("[7]", &[]), Some(7));
        assert_eq!(place_in(" [1,2] ", &[3]), Some(5));
        assert_eq!(place_in("[1,0,2]", &[2, 3]), Some(8));
        for bad in ["7", "[]", "[1,3]", "[1,2,0]", "[-1]", "[a]"] {
            assert_eq!(place_in(bad, &[3]), None, "{bad}");
        }
        assert_eq!(place_in("[99999999999999999999,0]", &[3]), Some(u64::MAX));
    }
}

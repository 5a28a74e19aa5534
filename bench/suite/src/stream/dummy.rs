//! The cost of decoding without conversion: the "Dummy" rows of *Differential Deserialization*,
//! Table 2.
//!
//! The authors left out the conversion from text to binary. Here a separate type does that: its
//! routine finds the end of the text and stores its length. Everything else is the same as for a
//! number: the markup is read or compared, a word is stored for each element, the array grows.

use deltasoap::Soap;
use deltasoap::engine::{Buffer, Escape, Lexical, Typed, simple_content};
use deltasoap::lexical::{LexicalError, WhiteSpace};
use deltasoap::schema::{Builtin, Element, EnumerationValues, QName, SimpleElement};
use deltasoap_streams::arrays;

use super::{Sent, Stream, fixed};
use crate::payload::Same;

/// The length in bytes of an element's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unread(u64);

/// `sendInts` without conversion.
#[derive(Debug, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:bench", element = "sendInts")]
pub struct UnreadInts {
    item: Vec<Unread>,
}

/// `sendDoubles` without conversion.
#[derive(Debug, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:bench", element = "sendDoubles")]
pub struct UnreadDoubles {
    item: Vec<Unread>,
}

/// Returns `count` equal messages.
pub(super) fn ints(values: &[i32], count: usize) -> Stream<UnreadInts> {
    let texts: Vec<_> = values.iter().map(i32::to_string).collect();
    stream(&arrays::message_ints(values), &texts, count, |item| UnreadInts { item })
}

/// Returns `count` equal messages.
pub(super) fn doubles(values: &[f64], count: usize) -> Stream<UnreadDoubles> {
    let texts: Vec<_> = values.iter().copied().map(arrays::double).collect();
    stream(&arrays::message_doubles(values), &texts, count, |item| UnreadDoubles { item })
}

fn stream<T>(message: &str, texts: &[String], count: usize, make: impl Fn(Vec<Unread>) -> T) -> Stream<T> {
    let value = || make(texts.iter().map(|text| Unread(text.len() as u64)).collect());
    let send = || Sent { bytes: fixed(message.as_bytes().to_vec()), value: value(), sender: 0 };
    Stream { messages: std::iter::repeat_with(send).take(count).collect(), senders: 1 }
}

impl Same for UnreadInts {
    fn is_same(&self, other: &Self) -> bool {
        self == other
    }
}

impl Same for UnreadDoubles {
    fn is_same(&self, other: &Self) -> bool {
        self == other
    }
}

impl Lexical for Unread {
    const XSD_NAME: &'static str = "string";
    const WHITE_SPACE: WhiteSpace = WhiteSpace::Preserve;
    const MAX_WIDTH: Option<usize> = None;

    fn vacant() -> Self {
        Unread(0)
    }

    fn parse(text: &str) -> Result<Self, LexicalError> {
        Ok(Unread(text.len() as u64))
    }

    #[inline]
    fn scan(bytes: &[u8]) -> Option<(Self, usize)> {
        let end = memchr::memchr2(b'<', b'&', bytes).filter(|&end| bytes[end] == b'<')?;
        Some((Unread(end as u64), end))
    }

    fn format(&self, out: &mut Buffer, escape: Escape) {
        out.push_text(&self.0.to_string(), escape);
    }
}

simple_content!(Unread);

impl Typed for Unread {
    const TYPE_NAME: QName = Builtin::String.name();

    fn element() -> &'static Element {
        static ELEMENT: Element = Element::Simple(SimpleElement {
            name: Builtin::String.name(),
            base: Builtin::String,
            enumeration: EnumerationValues::ANY,
            default: None,
            packed: None,
        });
        &ELEMENT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::soap::decode_request;

    #[test]
    fn lengths_are_found() {
        let stream = doubles(&[0.5, 1e300, -0.0], 2);
        let (_, found) = decode_request::<UnreadDoubles>(&stream.messages[1].bytes).unwrap();
        assert_eq!(found, UnreadDoubles { item: vec![Unread(3), Unread(6), Unread(2)] });
        assert!(found.is_same(&stream.messages[0].value));
    }

    #[test]
    fn lengths_are_those_of_resolved_references() {
        let with_reference = arrays::message_ints(&[123]).replace("2", "&#50;");
        let (_, found) = decode_request::<UnreadInts>(with_reference.as_bytes()).unwrap();
        assert_eq!(found.item, [Unread(3)]);
    }
}

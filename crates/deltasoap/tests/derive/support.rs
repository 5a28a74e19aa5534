//! Reading and writing one element named `r`.

use deltasoap::Error;
use deltasoap::engine::decode::{Decoder, ElementRoot};
use deltasoap::engine::encode::Encoder;
use deltasoap::engine::{DecodeOptions, ErrorKind, Stats, Typed};
use deltasoap::schema::QName;
use std::fmt::Debug;

/// Reads a document in chunks that end at the given positions.
pub fn decode_cut<T: Typed>(xml: &[u8], cuts: impl IntoIterator<Item = usize>) -> Result<(T, Stats), Error> {
    let mut decoder = Decoder::new(DecodeOptions::default());
    let mut root = ElementRoot::<T>::new(T::view());
    let mut start = 0;
    for cut in cuts.into_iter().chain([xml.len()]) {
        decoder.push(&mut root, &xml[start..cut])?;
        start = cut;
    }
    decoder.finish(&mut root)?;
    Ok((root.value, *decoder.stats()))
}

/// Reads a document in one piece, and asserts that reading single bytes gives the same result.
pub fn decode<T: Typed + Debug + PartialEq>(xml: &str) -> Result<T, Error> {
    let whole = decode_cut(xml.as_bytes(), []).map(|(value, _)| value);
    let bytes = decode_cut(xml.as_bytes(), 0..xml.len()).map(|(value, _)| value);
    assert_eq!(whole, bytes, "in one piece and byte by byte: {xml}");
    whole
}

/// Returns the fault in an invalid document.
pub fn fault<T: Typed + Debug + PartialEq>(xml: &str) -> ErrorKind {
    match decode::<T>(xml) {
        Ok(value) => panic!("read as {value:?}: {xml}"),
        Err(error) => error.kind().clone(),
    }
}

/// Writes a value.
pub fn encode<T: Typed>(value: &T) -> String {
    let mut encoder = Encoder::new();
    encoder.start(&QName::new("", "r"));
    value.encode(&mut encoder, T::view());
    encoder.end();
    let buffer = encoder.finish().expect("a value that XML can carry");
    String::from_utf8(buffer.into_vec()).expect("UTF-8")
}

/// Asserts that a value is written as this document, and read from it.
#[track_caller]
pub fn round_trip<T: Typed + Debug + PartialEq>(value: &T, xml: &str) {
    assert_eq!(encode(value), xml);
    assert_eq!(&decode::<T>(xml).expect("a valid document"), value);
}

/// Returns the fault for a missing element.
pub fn missing(name: &str) -> ErrorKind {
    ErrorKind::MissingElement { expected: name.to_owned(), skipped: None }
}

/// Returns the fault for an element that is not allowed there.
pub fn unexpected(found: &str, expected: &str) -> ErrorKind {
    ErrorKind::UnexpectedElement { found: found.to_owned(), expected: expected.to_owned() }
}

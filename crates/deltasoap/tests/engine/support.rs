//! Reads one document in every way.

use deltasoap::Error;
use deltasoap::engine::decode::{Decoder, ElementRoot};
use deltasoap::engine::{DecodeOptions, Limits, Typed};
use std::fmt::Debug;

/// Reads a document in chunks.
pub fn read_by<'a, T: Typed>(mut decoder: Decoder, chunks: impl Iterator<Item = &'a [u8]>) -> Result<T, Error> {
    let mut root = ElementRoot::<T>::new(T::view());
    for chunk in chunks {
        decoder.push(&mut root, chunk)?;
    }
    decoder.finish(&mut root)?;
    Ok(root.value)
}

/// Reads a document in one piece, without shortcuts, in chunks, and in two pieces split anywhere:
/// all results must be equal.
pub fn read_within<T: Typed + PartialEq + Debug>(xml: &str, limits: Limits) -> Result<T, Error> {
    let options = DecodeOptions { limits, ..DecodeOptions::default() };
    let bytes = xml.as_bytes();
    let whole = read_by(Decoder::new(options), [bytes].into_iter());
    let general = read_by(Decoder::without_shortcuts(options), [bytes].into_iter());
    assert_eq!(general, whole, "by the general routines: {xml}");
    for chunk in [1, 3, 16] {
        assert_eq!(read_by(Decoder::new(options), bytes.chunks(chunk)), whole, "in chunks of {chunk}: {xml}");
    }
    for cut in 0..bytes.len().min(400) {
        let (head, tail) = bytes.split_at(cut);
        assert_eq!(read_by(Decoder::new(options), [head, tail].into_iter()), whole, "cut at {cut}: {xml}");
    }
    whole
}

/// As [`read_within`], with the default limits.
pub fn read<T: Typed + PartialEq + Debug>(xml: &str) -> Result<T, Error> {
    read_within(xml, Limits::default())
}

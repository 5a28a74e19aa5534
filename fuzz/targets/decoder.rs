//! A typed message in one piece, byte by byte, in random chunks, without the shortcut for flat items, and with items that are taken out
//! of its lists after each chunk: the value or the error must be the same.
//!
//! The last three bytes of an input choose the chunks and a limit; an input that ends like a document is one, with
//! default limits.

#![no_main]

#[path = "../shared/message.rs"]
#[allow(dead_code, reason = "shared with another target")]
mod message;

use deltasoap::decode::{Cursor, Decoder, ElementRoot, Root, Step};
use deltasoap::{DecodeOptions, Error, ErrorKind, Typed};
use libfuzzer_sys::fuzz_target;
use message::{Lists, Message, limits};

fuzz_target!(|input: &[u8]| {
    let (document, [seed, which, size]) = match input.split_last_chunk() {
        Some((document, control)) if control[2] != b'>' && control[2] != b'\n' => (document, *control),
        _ => (input, [7, 9, 0]),
    };
    let options = DecodeOptions { limits: limits(which, usize::from(size)), ..DecodeOptions::default() };
    let whole = outcome(Decoder::new(options), [document].into_iter());
    assert_eq!(outcome(Decoder::without_shortcuts(options), [document].into_iter()), whole, "without shortcuts");
    assert_eq!(outcome(Decoder::new(options), document.chunks(1)), whole, "byte by byte");
    let step = usize::from(seed) * 3 + 2;
    assert_eq!(outcome(Decoder::new(options), document.chunks(step)), whole, "in chunks of {step}");
    let (head, tail) = document.split_at(usize::from(seed) * document.len() / 256);
    assert_eq!(outcome(Decoder::new(options), [head, tail].into_iter()), whole, "cut at {}", head.len());
    for decoder in [Decoder::new(options), Decoder::without_shortcuts(options)] {
        let taken = outcome_of_taken(decoder, document.chunks(step));
        assert!(taken == whole || has_positions(&taken), "taken in chunks of {step}: {taken:?} instead of {whole:?}");
    }
});

/// Arrays whose items say where they stand are refused where items are taken.
fn has_positions(taken: &Result<String, Error>) -> bool {
    let told = |kind: &ErrorKind| matches!(kind, ErrorKind::UnexpectedValue { expected, .. } if expected.contains("as they come"));
    taken.as_ref().is_err_and(|error| told(error.kind()))
}

/// An element of which items are taken.
struct Taken(ElementRoot<'static, Message>);

impl Root for Taken {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        cursor.let_items_go();
        self.0.decode(cursor)
    }
}

/// As [`outcome`], with the items that were taken put back.
fn outcome_of_taken<'a>(mut decoder: Decoder, chunks: impl Iterator<Item = &'a [u8]>) -> Result<String, Error> {
    let mut root = Taken(ElementRoot::<Message>::new(Message::view()));
    let mut lists = Lists::default();
    for chunk in chunks {
        decoder.push(&mut root, chunk)?;
        lists.take(&mut root.0.value);
    }
    decoder.finish(&mut root)?;
    lists.put_back(&mut root.0.value);
    Ok(format!("{:?}", root.0.value))
}

/// The value as text, in which not-a-number is equal to itself.
fn outcome<'a>(mut decoder: Decoder, chunks: impl Iterator<Item = &'a [u8]>) -> Result<String, Error> {
    let mut root = ElementRoot::<Message>::new(Message::view());
    for chunk in chunks {
        decoder.push(&mut root, chunk)?;
    }
    decoder.finish(&mut root)?;
    Ok(format!("{:?}", root.value))
}

//! A typed message in one piece, byte by byte, in random chunks, without the shortcut for flat
//! items, and with items that are taken out of its lists after each chunk: the value or the error
//! must be the same. The last variant is also tested with dynamic values.
//!
//! The last three bytes of an input choose the chunks and a limit. An input that ends like a
//! document is a whole document, with default limits.

#![no_main]

#[path = "../shared/message.rs"]
#[allow(dead_code, reason = "shared with another target")]
mod message;

use deltasoap::Error;
use deltasoap::engine::decode::{Cursor, Decoder, ElementRoot, Root, Step};
use deltasoap::engine::{Content, DecodeOptions, ErrorKind, Typed};
use deltasoap::types::{ListPath, Value};
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
    let whole = outcome_of_values(Decoder::new(options), [document].into_iter(), false);
    for decoder in [Decoder::new(options), Decoder::without_shortcuts(options)] {
        let taken = outcome_of_values(decoder, document.chunks(step), true);
        assert!(taken == whole || has_positions(&taken), "values in chunks of {step}: {taken:?} instead of {whole:?}");
    }
});

/// Arrays whose items have explicit positions are refused if items are taken.
fn has_positions(taken: &Result<String, Error>) -> bool {
    let told = |kind: &ErrorKind| matches!(kind, ErrorKind::UnexpectedValue { expected, .. } if expected.contains("as they come"));
    taken.as_ref().is_err_and(|error| told(error.kind()))
}

/// An element from which items are taken.
struct Taken<M>(ElementRoot<'static, M>);

impl<M: Content> Root for Taken<M> {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        cursor.stream_items();
        self.0.decode(cursor)
    }
}

/// Like [`outcome`], with the items that were taken put back.
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

/// The lists of a message, at any depth.
const LISTS: [&str; 10] = ["i", "d", "f", "n", "any", "ints", "flats", "texts", "order/c", "z"];

/// Returns the dynamic items of each list, and the value without them; they are taken after each
/// chunk, or at the end.
fn outcome_of_values<'a>(
    mut decoder: Decoder,
    chunks: impl Iterator<Item = &'a [u8]>,
    takes: bool,
) -> Result<String, Error> {
    let view = Message::view();
    let lists = LISTS.map(|path| ListPath::find(view, path).expect("a list"));
    let mut items: [Vec<Value>; LISTS.len()] = Default::default();
    let mut root = ElementRoot::<Value>::new(view);
    if takes {
        let mut taken = Taken(root);
        for chunk in chunks {
            decoder.push(&mut taken, chunk)?;
            let pairs = items.iter_mut().zip(&lists);
            pairs.for_each(|(items, list)| items.extend(list.take_finished::<Value>(&mut taken.0.value, view)));
        }
        decoder.finish(&mut taken)?;
        root = taken.0;
    } else {
        for chunk in chunks {
            decoder.push(&mut root, chunk)?;
        }
        decoder.finish(&mut root)?;
    }
    let pairs = items.iter_mut().zip(&lists);
    pairs.for_each(|(items, list)| items.extend(list.take_all::<Value>(&mut root.value, view)));
    Ok(format!("{items:?} {:?}", root.value))
}

/// Returns the value as text, in which NaN equals itself.
fn outcome<'a>(mut decoder: Decoder, chunks: impl Iterator<Item = &'a [u8]>) -> Result<String, Error> {
    let mut root = ElementRoot::<Message>::new(Message::view());
    for chunk in chunks {
        decoder.push(&mut root, chunk)?;
    }
    decoder.finish(&mut root)?;
    Ok(format!("{:?}", root.value))
}

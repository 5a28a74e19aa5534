//! A typed message in one piece, byte by byte, in random chunks, and without the shortcut for flat items: the value
//! or the error must be the same.
//!
//! The last three bytes of an input choose the chunks and a limit; an input that ends like a document is one, with
//! default limits.

#![no_main]

use deltasoap::decode::{Decoder, ElementRoot};
use deltasoap::lexical::{Base64, DateTime, Decimal, DoubleArray, Hex};
use deltasoap::{AnySimple, DecodeOptions, Empty, Error, Limits, Nillable, Soap, SoapArray, Typed};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Clone, PartialEq, Soap)]
struct Flat {
    x: i32,
    y: f64,
    s: String,
}

#[derive(Debug, Clone, PartialEq, Soap)]
struct Text {
    #[soap(attribute)]
    href: Option<String>,
    #[soap(text)]
    value: Decimal,
}

#[derive(Debug, Clone, PartialEq, Soap)]
enum Choice {
    One(i32),
    Two(Text),
    Many(Flat),
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(all)]
struct AnyOrder {
    a: Option<i32>,
    b: bool,
    c: Vec<Flat>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
struct Message {
    #[soap(attribute)]
    id: Option<u64>,
    i: Vec<i32>,
    d: Vec<f64>,
    f: Vec<Flat>,
    n: Vec<Nillable<String>>,
    o: Option<Nillable<Flat>>,
    any: Vec<AnySimple>,
    ints: Option<SoapArray<i32>>,
    flats: Option<SoapArray<Flat>>,
    texts: Vec<Text>,
    #[soap(inline)]
    choice: Option<Choice>,
    order: Option<AnyOrder>,
    base64: Option<Base64>,
    hex: Option<Hex>,
    doubles: Option<DoubleArray>,
    time: Option<DateTime>,
    e: Option<Empty>,
    inner: Option<Box<Message>>,
    z: Vec<String>,
}

fuzz_target!(|input: &[u8]| {
    let (document, [seed, which, size]) = match input.split_last_chunk() {
        Some((document, control)) if control[2] != b'>' && control[2] != b'\n' => (document, *control),
        _ => (input, [7, 9, 0]),
    };
    let options = DecodeOptions { limits: limits(which, usize::from(size)) };
    let whole = outcome(Decoder::new(options), [document].into_iter());
    assert_eq!(outcome(Decoder::without_shortcuts(options), [document].into_iter()), whole, "without shortcuts");
    assert_eq!(outcome(Decoder::new(options), document.chunks(1)), whole, "byte by byte");
    let step = usize::from(seed) * 3 + 2;
    assert_eq!(outcome(Decoder::new(options), document.chunks(step)), whole, "in chunks of {step}");
    let (head, tail) = document.split_at(usize::from(seed) * document.len() / 256);
    assert_eq!(outcome(Decoder::new(options), [head, tail].into_iter()), whole, "cut at {}", head.len());
});

/// The value as text, in which not-a-number is equal to itself.
fn outcome<'a>(mut decoder: Decoder, chunks: impl Iterator<Item = &'a [u8]>) -> Result<String, Error> {
    let mut root = ElementRoot::<Message>::new(Message::view());
    for chunk in chunks {
        decoder.push(&mut root, chunk)?;
    }
    decoder.finish(&mut root)?;
    Ok(format!("{:?}", root.value))
}

/// The defaults, or one of them made small enough to be reached.
fn limits(which: u8, size: usize) -> Limits {
    let default = Limits::default();
    match which % 8 {
        0 => Limits { depth: size % 8, ..default },
        1 => Limits { attributes: size % 8, ..default },
        2 => Limits { attribute_value: size, ..default },
        3 => Limits { name: size % 16, ..default },
        4 => Limits { text: size % 32, ..default },
        5 => Limits { markup: size, ..default },
        6 => Limits { message: size as u64 * 4, ..default },
        _ => default,
    }
}

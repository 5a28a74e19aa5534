//! Overlaid messages: their chunks have the same bytes as the message written in one piece.

use deltasoap::engine::{Buffer, ErrorKind, Typed};
use deltasoap::lexical::Hex;
use deltasoap::schema::Use;
use deltasoap::soap::{Envelope, HeaderBlock, Version, decode_request};
use deltasoap::stream::{Overlay, Streamed, StreamedArray};
use deltasoap::types::{AnySimple, Tracked};
use deltasoap::{Error, Message, Nillable, Soap, SoapArray};
use proptest::prelude::*;
use std::fmt::Debug;

#[derive(Debug, Clone, PartialEq, Soap)]
struct Mesh {
    x: i32,
    label: String,
    v: f64,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:other", qualified)]
struct Uneven {
    maybe: Option<i32>,
    parts: Vec<Mesh>,
}

/// The same message twice: with its items, and with a place for them.
#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:o", element = "send", qualified)]
struct Whole<T: Typed> {
    before: Option<String>,
    item: Vec<T>,
    after: Vec<i32>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:o", element = "send", qualified)]
struct Cut<T: Typed> {
    before: Option<String>,
    item: Streamed<T>,
    after: Vec<i32>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:o", element = "send")]
struct WholeArray<T: Typed> {
    items: SoapArray<T>,
    after: Vec<i32>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:o", element = "send")]
struct CutArray<T: Typed> {
    items: StreamedArray<T>,
    after: Vec<i32>,
}

/// The layout of a message.
type Layout = (Version, Use, usize);

fn layout() -> impl Strategy<Value = Layout> {
    let versions = prop::sample::select(vec![Version::Soap11, Version::Soap12]);
    let encodings = prop::sample::select(vec![Use::Literal, Use::Encoded]);
    (versions, encodings, prop_oneof![Just(0), 1..2000usize])
}

fn headers() -> Vec<HeaderBlock> {
    let block = Whole::<i32> { before: None, item: vec![1], after: vec![] };
    vec![HeaderBlock::from_message(&block).expect("plain text")]
}

fn whole<B: Message>(layout: Layout, body: &B) -> String {
    let message = Envelope::new(body)
        .version(layout.0)
        .encoding(layout.1)
        .headers(&headers())
        .write(Buffer::new())
        .expect("plain text");
    String::from_utf8(message.into_vec()).expect("UTF-8")
}

fn begin<B: Message, T: Typed, I: Iterator<Item = T>>(layout: Layout, body: &B, items: I) -> Result<Overlay<I>, Error> {
    Overlay::new(&Envelope::new(body).version(layout.0).encoding(layout.1).headers(&headers()), items, layout.2)
}

/// Returns all chunks. Chunks have the requested size, except those with a head, a tail or a long
/// item.
fn overlaid<B: Message, T: Typed>(
    layout: Layout,
    body: &B,
    items: impl Iterator<Item = T>,
) -> Result<Vec<String>, Error> {
    let mut overlay = begin(layout, body, items)?;
    let mut chunks = Vec::new();
    while let Some(chunk) = overlay.next_chunk()? {
        assert!(!chunk.is_empty());
        chunks.push(String::from_utf8(chunk.to_vec()).expect("chunks end between characters"));
    }
    assert_eq!(overlay.next_chunk()?, None);
    Ok(chunks)
}

/// Asserts that all of a list, or a part of it, may come from an iterator.
fn check<T: Typed + Clone>(layout: Layout, items: &[T], held: usize, after: &[i32]) {
    let (held, streamed) = items.split_at(held.min(items.len()));
    let (before, after) = (Some("b&".to_owned()), after.to_vec());
    let expected = whole(layout, &Whole { before: before.clone(), item: items.to_vec(), after: after.clone() });
    let body = Cut { before, item: held.to_vec().into(), after: after.clone() };
    assert_eq!(overlaid(layout, &body, streamed.iter().cloned()).expect("plain text").concat(), expected);
    // An iterator of unknown size.
    let unsized_items = streamed.iter().filter(|_| true).cloned();
    assert_eq!(overlaid(layout, &body, unsized_items).expect("plain text").concat(), expected);
    let expected = whole(layout, &WholeArray { items: items.to_vec().into(), after: after.clone() });
    let body = CutArray { items: held.to_vec().into(), after };
    assert_eq!(overlaid(layout, &body, streamed.iter().cloned()).expect("plain text").concat(), expected);
}

fn double() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>(), Just(f64::NAN), (0..9).prop_map(f64::from)]
}

fn mesh() -> impl Strategy<Value = Mesh> {
    (any::<i32>(), "[a-c<&é]{0,6}", double()).prop_map(|(x, label, v)| Mesh { x, label, v })
}

fn uneven() -> impl Strategy<Value = Uneven> {
    let parts = prop::collection::vec(mesh(), 0..3);
    (prop::option::of(any::<i32>()), parts).prop_map(|(maybe, parts)| Uneven { maybe, parts })
}

fn list<T: Debug>(item: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<T>> {
    prop::collection::vec(item, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn numbers(layout in layout(), items in list(double()), held in 0..4usize, after in list(0..3)) {
        check(layout, &items, held, &after);
    }

    #[test]
    fn texts(layout in layout(), items in list("[a-z<&\r ]{0,40}"), held in 0..4usize) {
        check(layout, &items, held, &[]);
    }

    #[test]
    fn flat_structs(layout in layout(), items in list(mesh()), held in 0..4usize) {
        check(layout, &items, held, &[7]);
    }

    #[test]
    fn other_structs(layout in layout(), items in list(uneven()), held in 0..4usize) {
        check(layout, &items, held, &[]);
        let tracked: Vec<_> = items.into_iter().map(Tracked::new).collect();
        check(layout, &tracked, held, &[]);
    }

    /// Types whose values differ in their markup.
    #[test]
    fn other_content(layout in layout(), items in list(prop::option::of(mesh())), held in 0..4usize) {
        let simple = |item: &Option<Mesh>| match item {
            Some(mesh) if mesh.x > 0 => AnySimple(deltasoap::types::Simple::Int(mesh.x)),
            Some(mesh) => AnySimple::from(mesh.label.as_str()),
            None => AnySimple(deltasoap::types::Simple::HexBinary(Hex(vec![1]))),
        };
        check(layout, &items.iter().map(simple).collect::<Vec<_>>(), held, &[]);
        let nillable: Vec<_> = items.into_iter().map(|item| item.map_or(Nillable::Nil, Nillable::Value)).collect();
        check(layout, &nillable, held, &[]);
    }

    /// A chunk has the requested length, unless the head and first items are longer; and little
    /// room is left in it.
    #[test]
    fn sizes(size in 400..3000usize, count in 100..2000) {
        let body = Cut::<i32> { before: None, item: Streamed::default(), after: vec![] };
        let chunks = overlaid((Version::Soap11, Use::Literal, size), &body, 1_000_000..1_000_000 + count);
        let chunks = chunks.expect("numbers");
        let (last, others) = chunks.split_last().expect("a message has bytes");
        prop_assert!(last.len() <= size && others.iter().all(|chunk| chunk.len() <= size && chunk.len() > size - 50));
    }
}

#[test]
fn without_items_the_element_is_as_empty_as_ever() {
    for (version, encoding) in [(Version::Soap11, Use::Literal), (Version::Soap12, Use::Encoded)] {
        check::<i32>((version, encoding, 100), &[], 0, &[]);
        check::<Mesh>((version, encoding, 100), &[], 0, &[1]);
        check((version, encoding, 100), &[1], 1, &[]);
    }
}

#[test]
fn a_size_that_nobody_knows_is_left_open() {
    let body = CutArray::<i32> { items: StreamedArray::default(), after: vec![] };
    let items = || (0..100).filter(|n| n % 3 == 0);
    for (version, mark) in [(Version::Soap11, "arrayType=\"xsd:int[]\""), (Version::Soap12, "arraySize=\"*\"")] {
        let message = overlaid((version, Use::Encoded, 512), &body, items()).expect("numbers").concat();
        assert!(message.contains(mark), "{message}");
        let (_, read) = decode_request::<CutArray<i32>>(message.as_bytes()).expect("a valid message");
        assert_eq!(*read.items, items().collect::<Vec<_>>());
    }
}

#[test]
fn what_is_streamed_is_read_into_the_same_type() {
    let body = Cut { before: None, item: vec![1, 2].into(), after: vec![3] };
    let message = overlaid((Version::Soap11, Use::Literal, 64), &body, 10..20).expect("numbers").concat();
    let (_, read) = decode_request::<Cut<i32>>(message.as_bytes()).expect("a valid message");
    let all: Vec<i32> = [1, 2].into_iter().chain(10..20).collect();
    assert_eq!(read, Cut { before: None, item: all.into(), after: vec![3] });
}

fn fault<T: Debug>(result: Result<T, Error>) -> ErrorKind {
    result.expect_err("it cannot be written").kind().clone()
}

#[derive(Soap)]
#[soap(namespace = "urn:o", message)]
struct Two {
    a: Streamed<i32>,
    b: StreamedArray<i32>,
}

#[test]
fn there_is_one_place_for_items() {
    const LITERAL: Layout = (Version::Soap11, Use::Literal, 100);
    let none = Whole::<i32> { before: None, item: vec![], after: vec![] };
    assert_eq!(fault(begin(LITERAL, &none, 0..3)), ErrorKind::Unwritable("the body has no streamed list"));
    let two = Two { a: Streamed::default(), b: StreamedArray::default() };
    let more = ErrorKind::Unwritable("the body has more than one streamed list");
    assert_eq!(fault(begin(LITERAL, &two, 0..3)), more);
    assert_eq!(fault(begin(LITERAL, &two, 0..0)), more);
    let ints = Cut::<i32> { before: None, item: Streamed::default(), after: vec![] };
    let other = ErrorKind::Unwritable("the items of the body's streamed list have another type");
    assert_eq!(fault(begin(LITERAL, &ints, [0.5].into_iter())), other);
    assert!(begin(LITERAL, &ints, [Box::new(1)].into_iter()).is_ok(), "a box is what it holds");
}

#[test]
fn a_text_that_xml_cannot_carry_ends_the_message() {
    let body = Cut::<String> { before: None, item: Streamed::default(), after: vec![] };
    let texts = (0..100).map(|n| if n == 90 { "\u{0}".to_owned() } else { "a".to_owned() });
    let mut overlay = begin((Version::Soap11, Use::Literal, 300), &body, texts).expect("the head is good");
    let mut bytes = 0;
    let error = loop {
        match overlay.next_chunk() {
            Ok(chunk) => bytes += chunk.expect("the message cannot end").len(),
            Err(error) => break error,
        }
    };
    assert!(matches!(error.kind(), ErrorKind::Unwritable(_)) && error.offset() > bytes as u64, "{error}");
    assert_eq!(overlay.next_chunk(), Err(error));
    let body = Cut::<i32> { before: Some("\u{1}".to_owned()), item: Streamed::default(), after: vec![] };
    assert!(matches!(fault(begin((Version::Soap11, Use::Literal, 300), &body, 0..3)), ErrorKind::Unwritable(_)));
}

/// An iterator that announces one number of items, and returns another.
struct Liar {
    said: usize,
    gives: usize,
}

impl Iterator for Liar {
    type Item = i32;

    fn next(&mut self) -> Option<i32> {
        self.gives = self.gives.checked_sub(1)?;
        self.said = self.said.saturating_sub(1);
        Some(1)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.said, Some(self.said))
    }
}

#[test]
fn a_number_of_items_that_is_not_what_was_said_is_a_fault() {
    let body = CutArray::<i32> { items: StreamedArray::default(), after: vec![] };
    for (said, gives) in [(9, 10), (10, 9), (1, 1000), (1000, 1)] {
        let result = overlaid((Version::Soap11, Use::Encoded, 50), &body, Liar { said, gives });
        let expected = ErrorKind::Unwritable("the iterator returned another number of items than reported");
        assert_eq!(fault(result), expected, "{gives} items of {said}");
    }
}

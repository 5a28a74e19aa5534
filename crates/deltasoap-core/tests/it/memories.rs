//! A memory that moves between decoders, and several memories in one document.

use crate::differential_shapes::{EXACT, Types, field};
use crate::streams::{self, Operation};
use deltasoap_core::decode::{Cursor, Decoder, Root, Step, Tag};
use deltasoap_core::schema::{Builtin, Element, Field, View};
use deltasoap_core::{DecodeOptions, Differential, Limits, Memory, QName, SoapArray, Tolerance, Typed, Value};

/// The same documents, but read by different decoders in turn, some of which have other limits or
/// have read other names, and one of which is dropped in the middle of a message.
#[test]
fn a_memory_moves_between_decoders() {
    let message = |value: i32| {
        let body = format!("<p:item>{value}</p:item><item>2</item><item>3</item>");
        format!("<x:r xmlns:x='urn:{}' xmlns:p='urn:p'>{body}</x:r>", value % 2)
    };
    let options = DecodeOptions { differential: EXACT, ..DecodeOptions::default() };
    let limits = Limits { text: 2, ..Limits::default() };
    let mut decoders =
        [Decoder::new(options), Decoder::new(options), Decoder::new(DecodeOptions { limits, ..options })];
    let view = SoapArray::<i32>::view();
    let mut operation = Operation::<SoapArray<i32>>::new(view);
    for turn in 0..60 {
        let (document, decoder) = (message(turn / 4 * 13), &mut decoders[turn as usize * 5 / 7 % 3]);
        let bytes = document.as_bytes();
        decoder.reset();
        if turn % 11 == 5 {
            let _ = decoder.push(&mut operation, &bytes[..bytes.len() / 2]);
            continue;
        }
        let result = decoder.push(&mut operation, bytes).and_then(|()| decoder.finish(&mut operation));
        let alone = deltasoap_core::decode::from_slice::<SoapArray<i32>>(
            bytes,
            &QName::owned(format!("urn:{}", turn / 4 * 13 % 2), "r"),
        );
        match result {
            Ok(()) => assert_eq!(format!("{:?}", operation.memory.value()), format!("{:?}", alone.expect("valid"))),
            Err(error) => assert!(error.to_string().contains("text"), "{error}"),
        }
    }
    assert!(operation.memory.stats().compared > 10, "{:?}", operation.memory.stats());
}

/// A deviation that one decoder has tolerated is an error again if a stricter one compares the next
/// message with it.
#[test]
fn a_memory_moves_between_decoders_of_other_tolerance() {
    let mut types = Types::default();
    let int = types.simple(Builtin::Int);
    let root = types.sequence(vec![field("a", int, 1, Some(1)), field("b", int, 0, None), field("c", int, 1, Some(1))]);
    let message = |body: &str, last: usize| {
        let items: String = (0..200).map(|number| format!("<b>{number}</b>")).collect();
        format!("<r>{}<c>{last}</c></r>", body.replace("ITEMS", &items))
    };
    for differential in [EXACT, Differential::default()] {
        for body in ["<a>1</a>ITEMS", "<a>1</a><x>1</x>ITEMS", "ITEMS<a>1</a>", "<a z='1'>1</a>ITEMS"] {
            let levels = [Tolerance::Unknown, Tolerance::AnyOrder, Tolerance::Strict];
            let options = |tolerance| DecodeOptions { differential, tolerance, ..DecodeOptions::default() };
            let mut decoders = levels.map(|tolerance| (Decoder::new(options(tolerance)), tolerance));
            let mut operation = Operation::<Value>::new(types.0.view(root));
            for turn in 0..60 {
                let (decoder, tolerance) = &mut decoders[turn * 5 / 7 % 3];
                let document = message(body, turn / 9);
                let result = decoder.decode(&mut operation, document.as_bytes());
                let mut alone = Operation::<Value>::new(types.0.view(root));
                let expected = Decoder::without_shortcuts(options(*tolerance)).decode(&mut alone, document.as_bytes());
                assert_eq!(result, expected, "turn {turn}, {tolerance:?}: {body}");
                if result.is_ok() {
                    assert_eq!(operation.memory.value(), alone.memory.value(), "turn {turn}, {tolerance:?}: {body}");
                }
            }
        }
    }
}

/// Two kinds of operations in one document, in any order, each kind with its own memory.
struct Pair<'v> {
    view: View<'v>,
    memories: [Memory<Value>; 2],
}

impl Root for Pair<'_> {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        const START: u8 = 0;
        const BETWEEN: u8 = 1;
        const AFTER: u8 = 2;
        const FIRST: u8 = 3;
        let (me, _) = cursor.enter();
        loop {
            let state = cursor.frame(me).state;
            let next = match state {
                START => cursor.next_tag().map(|_| BETWEEN)?,
                BETWEEN if cursor.next_tag()? == Tag::Start => {
                    FIRST + u8::from(cursor.names().local(cursor.name()) == "q")
                }
                BETWEEN => AFTER,
                AFTER => return cursor.next_tag().map(|_| ()),
                kind => {
                    self.memories[usize::from(kind - FIRST)].decode(cursor, self.view)?;
                    BETWEEN
                }
            };
            cursor.frame(me).state = next;
        }
    }
}

#[test]
fn several_memories_in_one_document() {
    let mut types = Types::default();
    let int = types.simple(Builtin::Int);
    let root = types.sequence(vec![field("n", int, 0, None), field("m", int, 0, Some(1))]);
    let view = types.0.view(root);
    let read = |decoder: &mut Decoder, memories, document: &str| {
        let mut pair = Pair { view, memories };
        decoder.decode(&mut pair, document.as_bytes()).expect("valid");
        pair.memories
    };
    let vacant = || [(); 2].map(|()| Memory::new(Value::Absent));
    for differential in streams::all(24).chain([EXACT]) {
        let mut decoder = Decoder::new(DecodeOptions { differential, ..DecodeOptions::default() });
        let mut memories = vacant();
        for turn in 0..60_usize {
            let kinds = ["p", "q", "pq", "qp", "qpq"][turn * turn % 11 % 5];
            let operation = |kind| {
                let numbers: String = (0..turn % 7).map(|n| format!("<n>{}</n>", n + turn % 5 * 20)).collect();
                format!("<{kind}>{numbers}<m>{}</m></{kind}>", turn % 3)
            };
            let document = format!("<r>{}</r>", kinds.chars().map(operation).collect::<String>());
            memories = read(&mut decoder, memories, &document);
            let alone = read(&mut Decoder::new(DecodeOptions::default()), vacant(), &document);
            for (memory, alone) in memories.iter().zip(&alone).filter(|(_, alone)| *alone.value() != Value::Absent) {
                assert_eq!(memory.value(), alone.value(), "{differential:?}: {document}");
            }
        }
        assert!(memories.iter().any(|memory| memory.stats().compared > 0), "{differential:?}");
    }
}

/// Trees are counted separately for each memory: skipping them in one does not affect the next.
#[test]
fn trees_of_several_memories_are_counted_apart() {
    let mut types = Types::default();
    let any = types.0.add(Element::Any);
    let root = types.sequence(vec![Field { inline: true, ..field("any", any, 0, None) }]);
    let view = types.0.view(root);
    let tree = |nodes: usize, text: &str| format!("<t xmlns='urn:{text}'>{}</t>", "<u/>".repeat(nodes) + text);
    let documents = [
        format!("<r><p>{}</p><q>{}</q></r>", tree(2, "a"), tree(1, "b")),
        format!("<r><p>{}</p><q>{}{}</q></r>", tree(2, "a"), tree(1, "b"), tree(2, "c")),
        format!("<r><p>{}</p><q>{}</q></r>", tree(4, "a"), tree(4, "b")),
        format!("<r><q>{}</q><p>{}</p><q>{}</q></r>", tree(4, "b"), tree(4, "a"), tree(1, "d")),
        format!("<r><p>{}</p><q>{}</q></r>", tree(4, "a"), tree(4, "b")),
    ];
    let vacant = || [(); 2].map(|()| Memory::new(Value::Absent));
    for differential in streams::all(24).chain([EXACT]) {
        for most in 0..14 {
            for limits in [
                Limits { tree_nodes: most, ..Limits::default() },
                Limits { inherited_bindings: most, ..Limits::default() },
            ] {
                let mut decoder = Decoder::new(DecodeOptions { limits, differential, ..DecodeOptions::default() });
                let mut memories = vacant();
                for document in documents.iter().chain(&documents) {
                    let mut pair = Pair { view, memories };
                    let result = decoder.decode(&mut pair, document.as_bytes());
                    memories = pair.memories;
                    let mut alone = Pair { view, memories: vacant() };
                    let regular = DecodeOptions { limits, differential: Differential::OFF, ..DecodeOptions::default() };
                    let expected = Decoder::new(regular).decode(&mut alone, document.as_bytes());
                    assert_eq!(result, expected, "{differential:?}, {limits:?}: {document}");
                }
            }
        }
    }
}

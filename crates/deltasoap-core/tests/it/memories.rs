//! A memory that goes from decoder to decoder.

use crate::differential_shapes::{EXACT, Types, field};
use crate::streams::Operation;
use deltasoap_core::decode::Decoder;
use deltasoap_core::schema::Builtin;
use deltasoap_core::{DecodeOptions, Differential, Limits, QName, SoapArray, Tolerance, Typed, Value};

/// The same documents, but given to different decoders in turn, some of which have other limits or have read other names,
/// and one of which is dropped in the middle of a message.
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

/// What a decoder has tolerated is an error again where a stricter one compares the next message with it.
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

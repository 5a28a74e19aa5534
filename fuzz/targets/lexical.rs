//! Any text as a value of every type: scan agrees with parse, pieces agree with the whole, and the
//! text form of a value parses to the value.

#![no_main]

use deltasoap::engine::{Buffer, Escape};
use deltasoap::lexical;
use deltasoap::lexical::{Lexical, LexicalError, Partial, WhiteSpace};
use libfuzzer_sys::fuzz_target;
use std::fmt::Debug;

macro_rules! check_all {
    ($text:expr, $($type:ty),* $(,)?) => { $(check::<$type>($text);)* };
}

fuzz_target!(|text: &str| {
    if text.contains('<') {
        return;
    }
    check_all!(
        text,
        i8,
        i16,
        i32,
        i64,
        u8,
        u16,
        u32,
        u64,
        f32,
        f64,
        bool,
        String,
        lexical::BigInt,
        lexical::NonNegativeInteger,
        lexical::PositiveInteger,
        lexical::NonPositiveInteger,
        lexical::NegativeInteger,
        lexical::Decimal,
        lexical::Date,
        lexical::Time,
        lexical::DateTime,
        lexical::Duration,
        lexical::GYear,
        lexical::GYearMonth,
        lexical::GMonth,
        lexical::GMonthDay,
        lexical::GDay,
        lexical::Base64,
        lexical::Hex,
        lexical::PackedText<f64, lexical::BigEndian>,
        lexical::PackedText<f64>,
        lexical::PackedText<f32>,
        lexical::PackedText<i16>,
        lexical::NormalizedString,
        lexical::Token,
        lexical::Language,
        lexical::Name,
        lexical::NcName,
        lexical::NmToken,
        lexical::NmTokens,
        lexical::Id,
        lexical::IdRef,
        lexical::IdRefs,
        lexical::Entity,
        lexical::Entities,
        lexical::AnyUri,
        lexical::QName,
        lexical::Notation,
    );
    check_float(text);
});

/// Values are compared as text, in which NaN equals itself.
fn check<T: Lexical + Debug>(text: &str) {
    let parsed = T::parse(text);
    check_scan(text, &parsed);
    if T::STREAMED {
        check_pieces::<T>(text, &parsed);
    }
    let Ok(value) = parsed else { return };
    let mut out = Buffer::new();
    value.format(&mut out, Escape::Text);
    let form = unescaped(out.as_slice());
    assert!(T::MAX_WIDTH.is_none_or(|width| form.len() <= width), "{form:?} is too wide");
    let again = T::parse(&form).unwrap_or_else(|error| panic!("{text:?} became {form:?}: {error}"));
    assert_eq!(format!("{again:?}"), format!("{value:?}"), "{text:?} became {form:?}");
}

/// A scan that succeeds gives the value of the text before the `<`. It declines text with
/// references, and with carriage returns if line ends are significant.
fn check_scan<T: Lexical + Debug>(text: &str, parsed: &Result<T, LexicalError>) {
    for behind in ["<", "</a>", "</item><item>00000000000000000000000000000000000000"] {
        let bytes = format!("{text}{behind}");
        let mut kept = T::vacant();
        let scanned = T::scan(bytes.as_bytes());
        assert_eq!(kept.scan_into(bytes.as_bytes()), scanned.as_ref().map(|(_, used)| *used), "{text:?}");
        if let Some((value, used)) = scanned {
            let keeps_line_ends = T::WHITE_SPACE != WhiteSpace::Collapse;
            assert!(!(text.contains('&') || keeps_line_ends && text.contains('\r')), "{text:?} scanned as {value:?}");
            assert_eq!(used, text.len(), "{text:?}");
            assert_eq!(format!("{value:?}"), format!("{:?}", parsed.as_ref().expect(text)));
            assert_eq!(format!("{value:?}"), format!("{kept:?}"));
        }
    }
}

fn check_pieces<T: Lexical + Debug>(text: &str, parsed: &Result<T, LexicalError>) {
    let pieces = |size: usize| {
        let (mut value, mut partial) = (T::vacant(), Partial::default());
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).step_by(size).collect();
        let ends = ends.iter().copied().chain([text.len()]).collect::<Vec<_>>();
        for pair in ends.windows(2).filter(|pair| pair[0] < pair[1]) {
            value.append(&text[pair[0]..pair[1]], &mut partial)?;
        }
        value.finish(&mut partial).map(|()| format!("{value:?}"))
    };
    let whole = pieces(usize::MAX);
    assert_eq!(whole.as_ref().ok(), parsed.as_ref().ok().map(|value| format!("{value:?}")).as_ref(), "{text:?}");
    for size in [1, 2, 3, 5] {
        assert_eq!(pieces(size), whole, "{text:?} by {size}");
    }
}

fn unescaped(text: &[u8]) -> String {
    let text = std::str::from_utf8(text).expect("UTF-8");
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&#13;", "\r").replace("&#xD;", "\r");
    text.replace("&amp;", "&")
}

/// Compares plain forms with the standard library.
fn check_float(text: &str) {
    let is_plain = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e' | b'E');
    if !text.bytes().all(is_plain) {
        return;
    }
    let ours = <f64 as Lexical>::parse(text).ok().map(f64::to_bits);
    assert_eq!(ours, text.parse::<f64>().ok().map(f64::to_bits), "{text:?}");
    let ours = <f32 as Lexical>::parse(text).ok().map(f32::to_bits);
    assert_eq!(ours, text.parse::<f32>().ok().map(f32::to_bits), "{text:?}");
}

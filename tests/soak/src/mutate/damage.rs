//! Changes of a single message: damage, garbage, another encoding. The stream continues from the
//! unchanged message.

use deltasoap_test_support::Chance;

const GARBAGE: [&[u8]; 18] = [
    b"<",
    b">",
    b"&",
    b"'",
    b"\"",
    b"]]>",
    b"<!--",
    b"-->",
    b"<![CDATA[",
    b"&#0;",
    b"&unknown;",
    b"\0",
    b"\xff\xfe",
    b"\xc3",
    b"</x>",
    b"<x>",
    b"=",
    b"<!DOCTYPE a>",
];

/// Returns the bytes of a message as sent: usually unchanged.
pub fn sent(text: &str, chance: &mut Chance) -> Vec<u8> {
    let bytes = text.as_bytes().to_vec();
    match chance.below(48) {
        0 => deltasoap_test_support::utf16(text, chance.one_in(2)),
        1 => [b"\xef\xbb\xbf", &bytes[..]].concat(),
        2 | 3 => truncated(bytes, chance),
        4 => replaced(bytes, chance),
        5 => flipped(bytes, chance),
        6 => cut_out(bytes, chance),
        7 => doubled(bytes, chance),
        _ => bytes,
    }
}

fn truncated(mut bytes: Vec<u8>, chance: &mut Chance) -> Vec<u8> {
    bytes.truncate(chance.below(bytes.len()));
    bytes
}

fn replaced(mut bytes: Vec<u8>, chance: &mut Chance) -> Vec<u8> {
    let at = chance.below(bytes.len());
    let to = bytes.len().min(at + chance.below(4));
    bytes.splice(at..to, chance.pick(&GARBAGE).iter().copied());
    bytes
}

fn flipped(mut bytes: Vec<u8>, chance: &mut Chance) -> Vec<u8> {
    let at = chance.below(bytes.len());
    bytes[at] ^= 1 << chance.below(8);
    bytes
}

fn cut_out(mut bytes: Vec<u8>, chance: &mut Chance) -> Vec<u8> {
    let at = chance.below(bytes.len());
    let to = bytes.len().min(at + chance.between(1, 40));
    bytes.drain(at..to);
    bytes
}

fn doubled(mut bytes: Vec<u8>, chance: &mut Chance) -> Vec<u8> {
    let at = chance.below(bytes.len());
    let to = bytes.len().min(at + chance.between(1, 200));
    let piece = bytes[at..to].to_vec();
    bytes.splice(at..at, piece);
    bytes
}

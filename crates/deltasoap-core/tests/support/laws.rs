//! Laws that must hold for every schema, value and document.

use crate::generate;
use deltasoap_core::decode::{Decoder, ElementRoot};
use deltasoap_core::schema::View;
use deltasoap_core::{DecodeOptions, Error, Value};
use deltasoap_test_support::Entropy;

fn read_by<'a>(mut decoder: Decoder, view: View<'_>, chunks: impl Iterator<Item = &'a [u8]>) -> Result<String, Error> {
    let mut root = ElementRoot::<Value>::new(view);
    for chunk in chunks {
        decoder.push(&mut root, chunk)?;
    }
    decoder.finish(&mut root)?;
    Ok(format!("{:?}", root.value))
}

/// Reads a document in every available way. All must give the same value or the same error. Returns
/// the value as text.
pub fn read(view: View<'_>, document: &[u8], options: DecodeOptions) -> Result<String, Error> {
    let whole = read_by(Decoder::new(options), view, [document].into_iter());
    let general = read_by(Decoder::without_shortcuts(options), view, [document].into_iter());
    assert_eq!(general, whole, "by the general routines: {}", String::from_utf8_lossy(document));
    for chunk in [1, 2, 7, 50] {
        let cut = read_by(Decoder::new(options), view, document.chunks(chunk));
        assert_eq!(cut, whole, "in chunks of {chunk}: {}", String::from_utf8_lossy(document));
    }
    for cut in [document.len() / 3, document.len() / 2] {
        let (head, tail) = document.split_at(cut);
        let cut = read_by(Decoder::new(options), view, [head, tail].into_iter());
        assert_eq!(cut, whole, "cut at {}: {}", head.len(), String::from_utf8_lossy(document));
    }
    whole
}

/// Entropy for the schema, the value, the notation and the damage.
pub struct Sources<'a>(pub [&'a [u8]; 4]);

/// Checks that a value that is written, by the encoder or in another notation, is read back
/// unchanged, and that damage gives the same result in every way of reading. Returns the document
/// as encoded, and in the other notation.
pub fn check(Sources([schema, value, wording, damage]): Sources<'_>) -> (String, String) {
    let (schema, root) = generate::schema(&mut Entropy(schema));
    let view = schema.view(root);
    let value = generate::value(&mut Entropy(value), view);
    let options = DecodeOptions::default();
    let expected = Ok(format!("{value:?}"));
    let encoded = generate::encoded(&value, view);
    assert_eq!(read(view, encoded.as_bytes(), options), expected, "{encoded}");
    let reworded = generate::reworded(&encoded, &mut Entropy(wording));
    assert_eq!(read(view, reworded.as_bytes(), options), expected, "{reworded}");
    let big = wording.len() % 2 == 0;
    assert_eq!(read(view, &deltasoap_test_support::utf16(&reworded, big), options), expected, "UTF-16 of {reworded}");
    let damaged = damaged(&reworded, &mut Entropy(damage));
    let _ = read(view, &damaged, options);
    let mut limited = options;
    limited.limits.text = damage.len();
    limited.limits.depth = 4;
    let _ = read(view, &damaged, limited);
    (encoded, reworded)
}

/// Returns a document with a few pieces cut out, duplicated, moved or inserted.
pub fn damaged(document: &str, entropy: &mut Entropy<'_>) -> Vec<u8> {
    const PIECES: [&str; 16] = [
        "<",
        ">",
        "&",
        "x",
        " ",
        "</f0>",
        "<f0>",
        "<!--",
        "]]>",
        "9",
        "<f1/>",
        "-->",
        "<![CDATA[",
        "&#x20;",
        "\0",
        "='",
    ];
    let mut bytes = document.as_bytes().to_vec();
    for _ in 0..entropy.below(4) {
        let at = (entropy.below(256) << 8 | entropy.below(256)) % (bytes.len() + 1);
        let to = bytes.len().min(at + entropy.below(40));
        match entropy.below(4) {
            0 => drop(bytes.drain(at..to)),
            1 => {
                let piece = bytes[at..to].to_vec();
                bytes.splice(at..at, piece);
            }
            2 => {
                let piece = PIECES[entropy.below(PIECES.len())];
                bytes.splice(at..at, piece.bytes());
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << entropy.below(8);
                }
            }
        }
    }
    bytes
}

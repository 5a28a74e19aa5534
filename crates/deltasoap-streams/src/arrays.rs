//! The papers' arrays: values, and their SOAP messages written naively.
//!
//! The values are those sent by the benchmarks of bSOAP and its predecessors: arrays of ints, of
//! doubles (easy: equal to the array index; hard: random), of strings, and of mesh interface
//! objects, which are two coordinates with a field value. They depend on `n` alone. The `message_`
//! functions write the text by simple appending: the naive twin that the encoder is tested against,
//! and the common file that every decoder of the benchmarks reads.
//!
//! All messages are SOAP 1.1, document/literal, on one line without white space before it:
//!
//! ```text
//! <?xml version="1.0" encoding="UTF-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>
//! <ns:sendInts xmlns:ns="urn:bench"><item>1</item><item>2</item></ns:sendInts></soap:Body></soap:Envelope>
//! ```
//!
//! (without the line break shown). The wrapper is in the namespace `urn:bench`, its children are in
//! none. [`message_encoded`] is the exception: rpc/encoded.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::prng::{SEED, SplitMix64};

/// The namespace of the operations.
pub const NAMESPACE: &str = "urn:bench";

/// A mesh interface object: coordinates `x` and `y`, field value `v`.
pub type Mio = (i32, i32, f64);

/// A simple event: its number `id`, a reading `value`, and a human-readable `message`.
pub type Event = (i32, f64, String);

/// Returns the ints `1, 2, ... n` (at most `i32::MAX` of them).
#[must_use]
pub fn ints(n: usize) -> Vec<i32> {
    (1..=i32::try_from(n).unwrap_or(i32::MAX)).collect()
}

/// Returns the doubles `1, 2, ... n`: short text, no exponent below 10^16.
#[must_use]
pub fn easy_doubles(n: usize) -> Vec<f64> {
    ints(n).into_iter().map(f64::from).collect()
}

/// Returns `n` finite doubles with random bits: the numbers of [`SplitMix64`] from [`SEED`] taken
/// as IEEE 754 bits, leaving out infinities and NaNs. Their shortest text has 22 characters on
/// average.
#[must_use]
pub fn hard_doubles(n: usize) -> Vec<f64> {
    let mut random = SplitMix64::new(SEED);
    let drawn = std::iter::repeat_with(move || f64::from_bits(random.next_u64()));
    drawn.filter(|value| value.is_finite()).take(n).collect()
}

/// Returns the objects `(i, i, sqrt(i))` for `i` in `1..=n`: √n values are short, the others have
/// up to 17 digits. IEEE 754 square roots are correctly rounded, so every language computes the
/// same ones.
#[must_use]
pub fn mios(n: usize) -> Vec<Mio> {
    ints(n).into_iter().map(|i| (i, i, f64::from(i).sqrt())).collect()
}

/// Returns the events `(i, sqrt(i), "Message #i")` for `i` in `1..=n`.
#[must_use]
pub fn events(n: usize) -> Vec<Event> {
    ints(n).into_iter().map(|i| (i, f64::from(i).sqrt(), format!("Message #{i}"))).collect()
}

/// Returns `n` strings of [`STRING_LENGTH`] letters each, the letter `k` of `A-Za-z` with `k` from
/// `below(52)` of [`SplitMix64`] from [`SEED`].
#[must_use]
pub fn strings(n: usize) -> Vec<String> {
    let mut random = SplitMix64::new(SEED);
    (0..n).map(|_| (0..STRING_LENGTH).map(|_| letter(&mut random)).collect()).collect()
}

/// Returns `n` strings that repeat: the first [`DIFFERENT_STRINGS`] of [`strings`], in turn.
#[must_use]
pub fn repeated_strings(n: usize) -> Vec<String> {
    strings(n.min(DIFFERENT_STRINGS)).into_iter().cycle().take(n).collect()
}

/// Number of different strings among [`repeated_strings`].
pub const DIFFERENT_STRINGS: usize = 1000;

/// Number of letters in each of [`strings`].
pub const STRING_LENGTH: usize = 100;

/// Returns `n` random bytes: the numbers of [`SplitMix64`] from [`SEED`], 8 bytes little-endian
/// each, cut to length.
#[must_use]
pub fn bytes(n: usize) -> Vec<u8> {
    let mut random = SplitMix64::new(SEED);
    let drawn = std::iter::repeat_with(move || random.next_u64().to_le_bytes());
    drawn.flatten().take(n).collect()
}

/// Returns the message `sendInts`: one `item` for each int.
#[must_use]
pub fn message_ints(values: &[i32]) -> String {
    message("sendInts", |out| {
        for value in values {
            element(out, "item", &value.to_string());
        }
    })
}

/// Returns the message `sendDoubles`: one `item` for each double, in the form of [`double`].
#[must_use]
pub fn message_doubles(values: &[f64]) -> String {
    message("sendDoubles", |out| {
        for &value in values {
            element(out, "item", &double(value));
        }
    })
}

/// Returns the message `sendStrings`: one `item` for each string.
#[must_use]
pub fn message_strings<S: AsRef<str>>(values: &[S]) -> String {
    message("sendStrings", |out| {
        for value in values {
            element(out, "item", &escape(value.as_ref()));
        }
    })
}

/// Returns the message of an operation in SOAP encoding (SOAP 1.1, section 5): an array of strings,
/// without references.
#[must_use]
pub fn message_encoded<S: AsRef<str>>(operation: &str, values: &[S]) -> String {
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
         <soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\" \
         xmlns:soapenc=\"http://schemas.xmlsoap.org/soap/encoding/\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\"><soap:Body>\
         <ns:{operation} xmlns:ns=\"{NAMESPACE}\" soap:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\">\
         <item xsi:type=\"soapenc:Array\" soapenc:arrayType=\"xsd:string[{}]\">",
        values.len()
    );
    for value in values {
        out.push_str("<item xsi:type=\"xsd:string\">");
        out.push_str(&escape(value.as_ref()));
        out.push_str("</item>");
    }
    out.push_str(&format!("</item></ns:{operation}></soap:Body></soap:Envelope>"));
    out
}

/// Returns the message `sendMios`: one `item` for each object, with `x`, `y` and `v`.
#[must_use]
pub fn message_mios(values: &[Mio]) -> String {
    message("sendMios", |out| {
        for &(x, y, v) in values {
            out.push_str("<item>");
            element(out, "x", &x.to_string());
            element(out, "y", &y.to_string());
            element(out, "v", &double(v));
            out.push_str("</item>");
        }
    })
}

/// Returns the message `sendEvents`: one `item` for each event, with `id`, `value` and `message`.
#[must_use]
pub fn message_events(values: &[Event]) -> String {
    message("sendEvents", |out| {
        for (id, value, text) in values {
            out.push_str("<item>");
            element(out, "id", &id.to_string());
            element(out, "value", &double(*value));
            element(out, "message", &escape(text));
            out.push_str("</item>");
        }
    })
}

/// Returns the message `sendBase64` with the bytes of the doubles: see [`doubles_to_bytes`].
#[must_use]
pub fn message_doubles64(values: &[f64]) -> String {
    message_base64(&doubles_to_bytes(values))
}

/// Converts doubles to their IEEE 754 bits, 8 bytes little-endian each.
#[must_use]
pub fn doubles_to_bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Converts the result of [`doubles_to_bytes`] back to doubles; `None` unless the length is a
/// multiple of 8.
#[must_use]
pub fn doubles_from_bytes(bytes: &[u8]) -> Option<Vec<f64>> {
    let (doubles, rest) = bytes.as_chunks();
    rest.is_empty().then(|| doubles.iter().map(|&octets| f64::from_le_bytes(octets)).collect())
}

/// Returns the message `sendBase64`: one `data` with all bytes in padded standard base64 without
/// line breaks.
#[must_use]
pub fn message_base64(bytes: &[u8]) -> String {
    message("sendBase64", |out| element(out, "data", &STANDARD.encode(bytes)))
}

/// Returns the message `sendIiDdSs`, a composite type of the cost model with these values: one
/// element for each value, `i0`, ... `d0`, ... `s0`, ...
#[must_use]
pub fn message_composite<S: AsRef<str>>(ints: &[i32], doubles: &[f64], strings: &[S]) -> String {
    let name = format!("sendI{}D{}S{}", ints.len(), doubles.len(), strings.len());
    message(&name, |out| {
        ints.iter().enumerate().for_each(|(at, value)| element(out, &format!("i{at}"), &value.to_string()));
        doubles.iter().enumerate().for_each(|(at, &value)| element(out, &format!("d{at}"), &double(value)));
        strings.iter().enumerate().for_each(|(at, value)| element(out, &format!("s{at}"), &escape(value.as_ref())));
    })
}

/// Formats a double as an xsd:double: the shortest digits that parse to the same value; `12345` (no
/// `.0`), `0.1`, `1.5e+300` (always with a sign), `-0`, `INF`, `-INF`, `NaN`.
#[must_use]
pub fn double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "INF".into() } else { "-INF".into() };
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value);
    text.strip_suffix(".0").unwrap_or(text).into()
}

/// Returns one of the 52 letters `A-Za-z`.
pub(crate) fn letter(random: &mut SplitMix64) -> char {
    const LETTERS: &[u8; 52] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    char::from(LETTERS[random.below(52) as usize])
}

fn message(operation: &str, content: impl FnOnce(&mut String)) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
         <soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body>",
    );
    out.push_str(&format!("<ns:{operation} xmlns:ns=\"{NAMESPACE}\">"));
    content(&mut out);
    out.push_str(&format!("</ns:{operation}></soap:Body></soap:Envelope>"));
    out
}

fn element(out: &mut String, name: &str, text: &str) {
    out.push_str(&format!("<{name}>{text}</{name}>"));
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\r', "&#xD;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum;

    /// Checksums of a thousand values each: peers and records depend on them, so they never change.
    #[test]
    fn values_are_what_they_always_were() {
        assert_eq!(checksum::ints(&ints(1000)), "cd3ed576492d74fc");
        assert_eq!(checksum::doubles(&easy_doubles(1000)), "ad9f783a7e8badd7");
        assert_eq!(checksum::doubles(&hard_doubles(1000)), "90c2012b05d821db");
        assert_eq!(checksum::mios(&mios(1000)), "1d3bec432ca66635");
        assert_eq!(checksum::strings(&strings(1000)), "d1bf1ac0784c7ba8");
        assert_eq!(checksum::events(&events(1000)), "c053ae2e88d10f1a");
        assert_eq!(checksum::bytes(&bytes(1000)), "21ecbe8c6d0b5bc0");
    }

    #[test]
    fn a_composite_type_is_named_after_its_fields() {
        let message = message_composite(&[1, 2], &[0.5], &["<"]);
        assert!(
            message.contains("<ns:sendI2D1S1 xmlns:ns=\"urn:bench\"><i0>1</i0><i1>2</i1><d0>0.5</d0><s0>&lt;</s0></ns")
        );
    }

    #[test]
    fn strings_repeat_after_a_thousand() {
        let (all, some) = (repeated_strings(2500), strings(DIFFERENT_STRINGS));
        assert_eq!((&all[..1000], &all[1000..2000], &all[2000..]), (&some[..], &some[..], &some[..500]));
        assert_eq!(repeated_strings(3), strings(3));
    }

    #[test]
    fn an_encoded_array_says_how_long_it_is() {
        let message = message_encoded("sendEncodedStrings", &["a", "<"]);
        for part in [
            "<ns:sendEncodedStrings xmlns:ns=\"urn:bench\" soap:encodingStyle=",
            "soapenc:arrayType=\"xsd:string[2]\"><item xsi:type=\"xsd:string\">a</item>",
            ">&lt;</item></item></ns:sendEncodedStrings></soap:Body>",
        ] {
            assert!(message.contains(part), "{part}");
        }
    }

    #[test]
    fn a_longer_array_continues_a_shorter_one() {
        assert_eq!(hard_doubles(100)[..10], hard_doubles(10));
        assert_eq!(strings(10)[..3], strings(3));
        assert_eq!(bytes(100)[..13], bytes(13));
    }

    #[test]
    fn hard_doubles_are_finite_and_long() {
        let values = hard_doubles(10_000);
        let length: usize = values.iter().map(|&value| double(value).len()).sum();
        assert!(values.iter().all(|value| value.is_finite()));
        assert!((215_000..225_000).contains(&length), "average of {length} / 10000");
    }

    #[test]
    fn doubles_have_the_documented_form() {
        let forms = [
            (1.0, "1"),
            (12345.0, "12345"),
            (0.1, "0.1"),
            (1.5e300, "1.5e+300"),
            (1e16, "1e+16"),
            (2.5e-9, "2.5e-9"),
            (-0.0, "-0"),
            (f64::INFINITY, "INF"),
            (f64::NEG_INFINITY, "-INF"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in forms {
            assert_eq!(double(value), text);
        }
    }

    #[test]
    fn doubles_read_back() {
        for value in hard_doubles(10_000) {
            assert_eq!(double(value).parse::<f64>().map(f64::to_bits), Ok(value.to_bits()));
        }
    }

    #[test]
    fn a_message_is_the_documented_text() {
        assert_eq!(
            message_ints(&[1, -2]),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><soap:Envelope \
             xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body><ns:sendInts xmlns:ns=\"urn:bench\">\
             <item>1</item><item>-2</item></ns:sendInts></soap:Body></soap:Envelope>"
        );
    }

    #[test]
    fn messages_hold_the_values() {
        let text = message_mios(&[(1, 2, 0.5)]);
        assert!(text.contains("<item><x>1</x><y>2</y><v>0.5</v></item>"));
        let text = message_events(&[(1, 0.5, "a<b".to_owned())]);
        assert!(text.contains("<item><id>1</id><value>0.5</value><message>a&lt;b</message></item>"));
        assert!(message_doubles64(&[1.0]).contains("<data>AAAAAAAA8D8=</data>"));
        assert!(message_base64(&[1, 2, 3, 4]).contains("<data>AQIDBA==</data>"));
        assert!(message_strings(&["a<b&c>d"]).contains("<item>a&lt;b&amp;c&gt;d</item>"));
        assert_eq!(message_doubles(&easy_doubles(10)).matches("<item>").count(), 10);
    }

    #[test]
    fn doubles_are_the_bytes_they_were() {
        let values = hard_doubles(10);
        assert_eq!(doubles_from_bytes(&doubles_to_bytes(&values)), Some(values));
        assert_eq!(doubles_from_bytes(&[0; 9]), None);
        assert_eq!(checksum::bytes(&doubles_to_bytes(&[0.5, -0.0])), checksum::doubles(&[0.5, -0.0]));
    }

    #[test]
    fn messages_are_well_formed() {
        for text in [
            message_ints(&ints(10)),
            message_doubles(&hard_doubles(10)),
            message_strings(&strings(10)),
            message_mios(&mios(10)),
            message_events(&events(10)),
            message_base64(&bytes(10)),
            message_strings(&["\r\n<&>\"'"]),
        ] {
            roxmltree::Document::parse(&text).unwrap();
        }
    }
}

//! Values of the benchmark's workloads, their messages and their checksums, as `bench/peers/PROTOCOL.md`
//! defines them.

use std::fmt::Write;

/// What one message holds.
pub enum Values {
    Ints(Vec<i32>),
    Doubles(Vec<f64>),
    Strings(Vec<String>),
    Mios(Vec<Mio>),
    Base64(Vec<u8>),
}

/// Mesh interface object: two coordinates and a value.
pub struct Mio {
    pub x: i32,
    pub y: i32,
    pub v: f64,
}

impl Values {
    pub fn message(&self) -> String {
        let operation = self.operation();
        let body = self.body();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
             <soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body>\
             <ns:{operation} xmlns:ns=\"urn:bench\">{body}</ns:{operation}>\
             </soap:Body></soap:Envelope>"
        )
    }

    /// The checksum as 16 hexadecimal digits.
    pub fn checksum(&self) -> String {
        let mut sum = Fnv::default();
        match self {
            Values::Ints(items) => items.iter().for_each(|item| sum.add(&item.to_le_bytes())),
            Values::Doubles(items) => items.iter().for_each(|item| sum.add(&item.to_le_bytes())),
            Values::Strings(items) => items.iter().for_each(|item| sum.add_text(item)),
            Values::Mios(items) => items.iter().for_each(|item| sum.add_mio(item)),
            Values::Base64(data) => sum.add(data),
        }
        format!("{:016x}", sum.0)
    }

    pub fn len(&self) -> usize {
        match self {
            Values::Ints(items) => items.len(),
            Values::Doubles(items) => items.len(),
            Values::Strings(items) => items.len(),
            Values::Mios(items) => items.len(),
            Values::Base64(data) => data.len(),
        }
    }

    fn operation(&self) -> &'static str {
        match self {
            Values::Ints(_) => "sendInts",
            Values::Doubles(_) => "sendDoubles",
            Values::Strings(_) => "sendStrings",
            Values::Mios(_) => "sendMios",
            Values::Base64(_) => "sendBase64",
        }
    }

    fn body(&self) -> String {
        match self {
            Values::Ints(items) => elements(items, i32::to_string),
            Values::Doubles(items) => elements(items, |&item| double(item)),
            Values::Strings(items) => elements(items, |item| escape(item)),
            Values::Mios(items) => elements(items, mio),
            Values::Base64(data) => format!("<data>{}</data>", base64(data)),
        }
    }
}

/// FNV-1a with 64 bits.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, octets: &[u8]) {
        for &octet in octets {
            self.0 = (self.0 ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn add_text(&mut self, text: &str) {
        let length = u32::try_from(text.len()).expect("texts here are short");
        self.add(&length.to_le_bytes());
        self.add(text.as_bytes());
    }

    fn add_mio(&mut self, mio: &Mio) {
        self.add(&mio.x.to_le_bytes());
        self.add(&mio.y.to_le_bytes());
        self.add(&mio.v.to_le_bytes());
    }
}

fn elements<T>(items: &[T], content: impl Fn(&T) -> String) -> String {
    items.iter().fold(String::new(), |mut text, item| {
        write!(text, "<item>{}</item>", content(item)).expect("a String takes everything");
        text
    })
}

fn double(value: f64) -> String {
    match value {
        f64::INFINITY => "INF".to_owned(),
        f64::NEG_INFINITY => "-INF".to_owned(),
        finite => format!("{finite:e}"),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn mio(mio: &Mio) -> String {
    format!("<x>{}</x><y>{}</y><v>{}</v>", mio.x, mio.y, double(mio.v))
}

fn base64(data: &[u8]) -> String {
    data.chunks(3).flat_map(base64_group).collect()
}

fn base64_group(group: &[u8]) -> [char; 4] {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let octet = |place: usize| u32::from(group.get(place).copied().unwrap_or(0));
    let bits = octet(0) << 16 | octet(1) << 8 | octet(2);
    let digit = |place: usize| match place {
        place if place > group.len() => '=',
        place => char::from(DIGITS[(bits >> (18 - 6 * place) & 63) as usize]),
    };
    [digit(0), digit(1), digit(2), digit(3)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_rfc_4648_vectors() {
        let vectors = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (plain, coded) in vectors {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn checksums_of_the_fnv_vectors() {
        // Published vectors for FNV-1a: the empty text, "a" and "foobar".
        let sum = |text: &str| Values::Base64(text.into()).checksum();
        assert_eq!(sum(""), "cbf29ce484222325");
        assert_eq!(sum("a"), "af63dc4c8601ec8c");
        assert_eq!(sum("foobar"), "85944171f73967e8");
    }

    #[test]
    fn messages_are_those_of_the_protocol() {
        let message = Values::Ints(vec![1, 2]).message();
        let body = "<ns:sendInts xmlns:ns=\"urn:bench\"><item>1</item><item>2</item></ns:sendInts>";
        assert!(message.ends_with(&format!("<soap:Body>{body}</soap:Body></soap:Envelope>")));
    }
}

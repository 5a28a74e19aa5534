//! Requests as the bytes that are sent, with places for values that differ.

use super::template::Variable;
use deltasoap_streams::prng::SplitMix64;
use std::io::Write as _;
use std::ops::Range;

/// A request, ready to be sent.
#[derive(Debug)]
pub enum Request {
    /// The same bytes each time.
    Fixed(Vec<u8>),
    /// A body with variables.
    Varying(Box<Varying>),
}

/// A request with variables.
#[derive(Debug)]
pub struct Varying {
    /// The head without the length.
    head: Vec<u8>,
    /// The body around the variables: one text more than variables.
    texts: Vec<Vec<u8>>,
    variables: Vec<Variable>,
    /// Number of bytes of all texts.
    len: usize,
}

impl Request {
    /// Creates a request from the lines of its head, without `Content-Length`, and its body, in which
    /// variables are at these places.
    pub fn new(head: &[u8], body: &[u8], places: &[(Range<usize>, Variable)]) -> Self {
        if places.is_empty() {
            let length = format!("Content-Length: {}\r\n\r\n", body.len());
            return Request::Fixed([head, length.as_bytes(), body].concat());
        }
        let starts = std::iter::once(0).chain(places.iter().map(|(place, _)| place.end));
        let ends = places.iter().map(|(place, _)| place.start).chain([body.len()]);
        let texts: Vec<Vec<u8>> = starts.zip(ends).map(|(start, end)| body[start..end].to_vec()).collect();
        let len = texts.iter().map(Vec::len).sum();
        let variables = places.iter().map(|(_, variable)| *variable).collect();
        Request::Varying(Box::new(Varying { head: head.to_vec(), texts, variables, len }))
    }

    /// Returns the number of bytes in memory.
    pub fn size(&self) -> usize {
        match self {
            Request::Fixed(bytes) => bytes.len(),
            Request::Varying(varying) => varying.head.len() + varying.len,
        }
    }

    /// Returns the bytes of a request with this number; `buffer` is empty. What is random depends on
    /// the seed and the number alone.
    pub fn bytes<'a>(&'a self, number: u64, seed: u64, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        match self {
            Request::Fixed(bytes) => bytes,
            Request::Varying(varying) => {
                varying.write(number, &SplitMix64::stream(seed, number), buffer);
                buffer
            }
        }
    }
}

impl Varying {
    fn write(&self, number: u64, random: &SplitMix64, buffer: &mut Vec<u8>) {
        let values = || {
            let mut random = random.clone();
            self.variables.iter().map(move |variable| Filled::draw(*variable, number, &mut random))
        };
        let len = self.len + values().map(|value| value.len()).sum::<usize>();
        buffer.extend_from_slice(&self.head);
        // Writing to memory never fails.
        let _ = write!(buffer, "Content-Length: {len}\r\n\r\n");
        let mut texts = self.texts.iter();
        texts.next().iter().for_each(|text| buffer.extend_from_slice(text));
        for (value, text) in values().zip(texts) {
            value.write(buffer);
            buffer.extend_from_slice(text);
        }
    }
}

/// The value of a variable in one request.
enum Filled {
    Number(u64),
    Uuid(u64, u64),
}

impl Filled {
    fn draw(variable: Variable, number: u64, random: &mut SplitMix64) -> Self {
        match variable {
            Variable::Number => Filled::Number(number),
            Variable::Random(first, last) => {
                // All numbers of 32 bits would be one too many for the bound.
                Filled::Number(u64::from(first) + u64::from(random.below((last - first).saturating_add(1))))
            }
            Variable::Uuid => Filled::Uuid(random.next_u64(), random.next_u64()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Filled::Number(number) => number.checked_ilog10().unwrap_or(0) as usize + 1,
            Filled::Uuid(..) => 36,
        }
    }

    /// Writes the value; a UUID has the version and the variant of random ones (RFC 9562, 5.4).
    fn write(&self, buffer: &mut Vec<u8>) {
        // Writing to memory never fails.
        let _ = match *self {
            Filled::Number(number) => write!(buffer, "{number}"),
            Filled::Uuid(high, low) => write!(
                buffer,
                "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
                high >> 32,
                high >> 16 & 0xffff,
                high & 0xfff,
                low >> 48 & 0x3fff | 0x8000,
                low & 0xffff_ffff_ffff
            ),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(request: &Request, number: u64, seed: u64) -> String {
        let mut buffer = Vec::new();
        String::from_utf8(request.bytes(number, seed, &mut buffer).to_vec()).expect("UTF-8")
    }

    #[test]
    fn the_length_is_that_of_the_filled_body() {
        let places = [(1..2, Variable::Number), (3..4, Variable::Uuid), (4..6, Variable::Random(5, 5))];
        let request = Request::new(b"POST / HTTP/1.1\r\n", b"a_b_ __c", &places);
        for number in [0, 9, 10, 12_345] {
            let text = written(&request, number, 7);
            let (head, body) = text.split_once("\r\n\r\n").expect("a head");
            assert_eq!(head, format!("POST / HTTP/1.1\r\nContent-Length: {}", body.len()));
            assert!(body.starts_with(&format!("a{number}b")) && body.ends_with("5_c"), "{body}");
        }
        let uuid = &written(&request, 0, 7).split_once("a0b").expect("a body").1[..36].to_owned();
        assert_eq!((&uuid[14..15], uuid.matches('-').count()), ("4", 4), "{uuid}");
        assert!(matches!(&uuid[19..20], "8" | "9" | "a" | "b"), "{uuid}");
        assert_eq!(written(&request, 3, 7), written(&request, 3, 7));
        assert_ne!(written(&request, 3, 7), written(&request, 3, 8));
        assert_ne!(written(&request, 3, 7)[60..], written(&request, 4, 7)[60..]);
    }

    #[test]
    fn a_request_without_variables_is_not_copied() {
        let request = Request::new(b"POST / HTTP/1.1\r\n", b"<x/>", &[]);
        let mut buffer = Vec::new();
        assert_eq!(request.bytes(0, 0, &mut buffer), b"POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\n<x/>");
        assert!(buffer.is_empty());
    }
}

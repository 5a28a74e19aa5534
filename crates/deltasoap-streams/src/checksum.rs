//! A checksum of decoded values, the same in every language.
//!
//! A benchmark is a test: a peer proves that it decoded a message by the checksum of the values,
//! not of the text, so that `1.50` and `1.5E0` count as equal. The checksum is 64-bit FNV-1a
//! (offset basis `cbf29ce484222325`, prime `100000001b3`) over these bytes, printed as sixteen
//! lower-case hexadecimal digits:
//!
//! | value | bytes |
//! |---|---|
//! | int | 4, two's complement, little-endian |
//! | double | the 8 of the IEEE 754 binary64, little-endian |
//! | string | length in bytes of the UTF-8 as 4 bytes little-endian, then the UTF-8 |
//! | struct | its fields in order |
//! | array | its elements in order, no length |
//! | base64 | the decoded bytes, no length |
//!
//! It detects mistakes, not malice: FNV is not a cryptographic hash.

/// 64-bit FNV-1a over values.
#[derive(Clone, Debug)]
pub struct Checksum {
    hash: u64,
}

impl Checksum {
    /// Creates the checksum of no values.
    #[must_use]
    pub fn new() -> Self {
        Self { hash: 0xCBF2_9CE4_8422_2325 }
    }

    /// Adds bytes unchanged (base64 content, or a whole message).
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    /// Adds an int.
    pub fn int(&mut self, value: i32) {
        self.bytes(&value.to_le_bytes());
    }

    /// Adds a double by its bits: `0` and `-0` differ, and so do NaNs with different payloads.
    pub fn double(&mut self, value: f64) {
        self.bytes(&value.to_bits().to_le_bytes());
    }

    /// Adds a string with its length (modulo 2^32).
    pub fn string(&mut self, value: &str) {
        self.bytes(&(value.len() as u32).to_le_bytes());
        self.bytes(value.as_bytes());
    }

    /// Returns the checksum as a number.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.hash
    }

    /// Returns the checksum as sixteen lower-case hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        format!("{:016x}", self.hash)
    }
}

impl Default for Checksum {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the checksum of an array of ints.
#[must_use]
pub fn ints(values: &[i32]) -> String {
    each(values, |sum, &value| sum.int(value))
}

/// Returns the checksum of an array of doubles.
#[must_use]
pub fn doubles(values: &[f64]) -> String {
    each(values, |sum, &value| sum.double(value))
}

/// Returns the checksum of an array of strings.
#[must_use]
pub fn strings<S: AsRef<str>>(values: &[S]) -> String {
    each(values, |sum, value| sum.string(value.as_ref()))
}

/// Returns the checksum of an array of mesh interface objects, each `x`, `y`, `v`.
#[must_use]
pub fn mios(values: &[crate::arrays::Mio]) -> String {
    each(values, |sum, &(x, y, v)| {
        sum.int(x);
        sum.int(y);
        sum.double(v);
    })
}

/// Returns the checksum of an array of simple events, each `id`, `value`, `message`.
#[must_use]
pub fn events(values: &[crate::arrays::Event]) -> String {
    each(values, |sum, (id, value, message)| {
        sum.int(*id);
        sum.double(*value);
        sum.string(message);
    })
}

/// Returns the checksum of bytes, such as the content of a base64 element.
#[must_use]
pub fn bytes(bytes: &[u8]) -> String {
    let mut sum = Checksum::new();
    sum.bytes(bytes);
    sum.hex()
}

fn each<T>(values: &[T], mut add: impl FnMut(&mut Checksum, &T)) -> String {
    let mut sum = Checksum::new();
    for value in values {
        add(&mut sum, value);
    }
    sum.hex()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test vectors of the FNV draft (draft-eastlake-fnv, appendix C).
    #[test]
    fn agrees_with_the_published_vectors() {
        assert_eq!(bytes(b""), "cbf29ce484222325");
        assert_eq!(bytes(b"a"), "af63dc4c8601ec8c");
        assert_eq!(bytes(b"foobar"), "85944171f73967e8");
    }

    #[test]
    fn values_are_their_little_endian_bytes() {
        assert_eq!(ints(&[1, -2]), bytes(&[1, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF]));
        assert_eq!(doubles(&[1.0]), bytes(&[0, 0, 0, 0, 0, 0, 0xF0, 0x3F]));
        assert_eq!(strings(&["é"]), bytes(&[2, 0, 0, 0, 0xC3, 0xA9]));
        let event = (1, 0.0, "a".to_owned());
        assert_eq!(events(&[event]), bytes(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, b'a']));
        assert_eq!(mios(&[(1, 2, 0.0)]), bytes(&[1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    }

    #[test]
    fn lengths_keep_neighbouring_strings_apart() {
        assert_ne!(strings(&["ab", "c"]), strings(&["a", "bc"]));
    }
}

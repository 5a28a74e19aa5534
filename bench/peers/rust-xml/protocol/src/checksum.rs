//! 64-bit FNV-1a over decoded values, as the protocol defines it.

/// The checksum so far.
#[derive(Debug)]
pub struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Checksum(0xCBF2_9CE4_8422_2325)
    }
}

impl Checksum {
    /// Adds octets unchanged.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        self.0 = bytes.iter().fold(self.0, step);
    }

    /// Adds an `xsd:int`.
    pub fn int(&mut self, value: i32) {
        self.bytes(&value.to_le_bytes());
    }

    /// Adds an `xsd:double`.
    pub fn double(&mut self, value: f64) {
        self.bytes(&value.to_bits().to_le_bytes());
    }

    /// Adds an `xsd:string`, preceded by its length.
    pub fn string(&mut self, value: &str) {
        self.bytes(&(value.len() as u32).to_le_bytes());
        self.bytes(value.as_bytes());
    }

    /// Formats the checksum as the protocol requires.
    #[must_use]
    pub fn hex(&self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors of the FNV draft.
    #[test]
    fn agrees_with_the_published_vectors() {
        for (text, hex) in [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")] {
            let mut sum = Checksum::default();
            sum.bytes(text.as_bytes());
            assert_eq!(sum.hex(), hex);
        }
    }
}

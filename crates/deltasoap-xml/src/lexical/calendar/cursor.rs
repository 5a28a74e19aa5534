//! Reading fields of fixed width from the front of a text.

/// The text that is left to read.
pub(super) struct Cursor<'t> {
    rest: &'t [u8],
}

impl<'t> Cursor<'t> {
    pub(super) fn new(rest: &'t [u8]) -> Self {
        Cursor { rest }
    }

    pub(super) fn rest(&self) -> &'t [u8] {
        self.rest
    }

    /// Returns true if the next byte is this one.
    pub(super) fn at(&self, byte: u8) -> bool {
        self.rest.first() == Some(&byte)
    }

    /// Takes the next byte if it is this one.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.at(byte);
        self.rest = &self.rest[usize::from(found)..];
        found
    }

    /// Takes a literal, or takes nothing.
    pub(super) fn literal(&mut self, literal: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(literal)?;
        Some(())
    }

    /// Takes exactly two digits.
    pub(super) fn two(&mut self) -> Option<u8> {
        let [tens @ b'0'..=b'9', ones @ b'0'..=b'9', rest @ ..] = self.rest else { return None };
        self.rest = rest;
        Some((tens - b'0') * 10 + (ones - b'0'))
    }

    /// Takes all digits that come next, possibly none.
    pub(super) fn digits(&mut self) -> &'t [u8] {
        let len = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at(len);
        self.rest = rest;
        digits
    }

    /// Takes a whole number; `None` if there are no digits, or if it exceeds `u64`.
    pub(super) fn number(&mut self) -> Option<u64> {
        number(self.digits())
    }

    /// Returns an error unless everything has been read.
    pub(super) fn end(&self) -> Result<(), &'static str> {
        if self.rest.is_empty() { Ok(()) } else { Err("trailing characters") }
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    let append = |number: u64, digit: &u8| number.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
    if digits.is_empty() { None } else { digits.iter().try_fold(0, append) }
}

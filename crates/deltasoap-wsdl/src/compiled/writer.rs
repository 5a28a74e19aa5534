//! Writes compiled WSDLs: numbers in as few bytes as possible, each text once, and each shared list
//! of values once.

use super::stored::Stored;
use deltasoap_core::schema::EnumerationValues;
use std::collections::HashMap;

/// The content written so far.
#[derive(Debug, Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    /// The number of each text.
    numbers: HashMap<Box<str>, u64>,
    /// Lengths of the texts, in order; the texts follow.
    lengths: Vec<usize>,
    texts: String,
    /// The numbers of shared lists, by address.
    lists: HashMap<usize, u64>,
}

impl Writer {
    pub(super) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// Writes a number, seven bits per byte, the lowest first (LEB128).
    pub(super) fn number(&mut self, number: u64) {
        put(&mut self.bytes, number);
    }

    /// Writes the number of a text.
    pub(super) fn text(&mut self, text: &str) {
        let known = self.numbers.get(text).copied();
        let number = known.unwrap_or_else(|| self.add(text));
        self.number(number);
    }

    fn add(&mut self, text: &str) -> u64 {
        let number = self.lengths.len() as u64;
        self.numbers.insert(text.into(), number);
        self.lengths.push(text.len());
        self.texts.push_str(text);
        number
    }

    /// Writes a list: 0 and its texts, or the number of an earlier list, counted from 1.
    pub(super) fn list(&mut self, list: &EnumerationValues) {
        if !list.is_empty() {
            let next = self.lists.len() as u64 + 1;
            let number = *self.lists.entry(list.as_ptr().addr()).or_insert(next);
            if number < next {
                return self.number(number);
            }
        }
        self.number(0);
        list.len().write(self);
        list.iter().for_each(|it| it.write(self));
    }

    /// Returns everything written, with the texts first, since the reader needs them first.
    pub(super) fn finish(self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.bytes.len() + self.texts.len() + 2 * self.lengths.len());
        put(&mut all, self.lengths.len() as u64);
        self.lengths.iter().for_each(|&length| put(&mut all, length as u64));
        all.extend_from_slice(self.texts.as_bytes());
        all.extend_from_slice(&self.bytes);
        all
    }
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

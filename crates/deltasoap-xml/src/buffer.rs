//! The output buffer: a growable byte vector with context-dependent escaping.
//!
//! The vector is always initialised to its full length, and `len` is the number of bytes written. A
//! hot loop can therefore take a slice of spare bytes, copy fixed-size blocks into it without a
//! length check for each byte, and commit what it used, all without `unsafe`.

use crate::scan::text::verbatim_run;

/// The context that text is written in, which decides the characters to escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// Character data of an element: `&`, `<`, `>` and carriage return, as in Canonical XML 1.0,
    /// section 2.3.
    Text,
    /// A double-quoted attribute value: `&`, `<`, `"`, tab, line feed and carriage return, as in
    /// Canonical XML.
    Attribute,
}

/// The bytes of a document under construction.
#[derive(Debug, Clone, Default)]
pub struct Buffer {
    /// Initialised to its length; bytes at `len..` are scratch.
    bytes: Vec<u8>,
    /// Bytes written so far, `len <= bytes.len()`.
    len: usize,
    /// See [`has_replaced`](Self::has_replaced).
    has_replaced: bool,
}

impl From<Vec<u8>> for Buffer {
    /// Creates a buffer that already holds `bytes`.
    fn from(bytes: Vec<u8>) -> Self {
        Buffer { len: bytes.len(), bytes, has_replaced: false }
    }
}

impl Buffer {
    /// Creates an empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty buffer with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Buffer { bytes: vec![0; capacity], ..Self::default() }
    }

    /// Returns the bytes written so far.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Returns the number of bytes allocated.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Returns the number of bytes written.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Discards the content and keeps the memory.
    pub fn clear(&mut self) {
        self.len = 0;
        self.has_replaced = false;
    }

    /// Discards everything after the first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Moves the write position to `len`: back, to overwrite what follows, or forward again to the
    /// end.
    ///
    /// # Panics
    /// If `len` is greater than the number of bytes initialised.
    #[inline]
    pub fn seek(&mut self, len: usize) {
        assert!(len <= self.bytes.len(), "a place that was never written");
        self.len = len;
    }

    /// Returns the bytes from `from` on for modification, including those after the write position.
    #[inline]
    pub fn tail_mut(&mut self, from: usize) -> &mut [u8] {
        &mut self.bytes[from..]
    }

    /// Converts the buffer into the bytes written.
    pub fn into_vec(mut self) -> Vec<u8> {
        self.bytes.truncate(self.len);
        self.bytes
    }

    /// Returns at least `n` bytes of scratch after the written bytes; follow with
    /// [`commit`](Self::commit).
    #[inline]
    pub fn spare(&mut self, n: usize) -> &mut [u8] {
        if self.bytes.len() - self.len < n {
            self.grow(n);
        }
        &mut self.bytes[self.len..]
    }

    /// Reserves room for about `n` more bytes at once. New memory is not touched before it is
    /// written, so reserving too much costs little.
    pub fn expect(&mut self, n: usize) {
        if self.bytes.len() - self.len < n {
            let mut bytes = vec![0; self.len + n];
            bytes[..self.len].copy_from_slice(self.as_slice());
            self.bytes = bytes;
        }
    }

    /// Counts `n` bytes of the last [`spare`](Self::spare) slice as written.
    ///
    /// # Panics
    /// If `n` is greater than the length of the slice.
    #[inline]
    pub fn commit(&mut self, n: usize) {
        assert!(n <= self.bytes.len() - self.len, "commit beyond the spare bytes");
        self.len += n;
    }

    /// Appends bytes unchanged.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        self.spare(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Appends a copy of the bytes at `start..end`.
    ///
    /// # Panics
    /// If the range is not within the written bytes.
    pub fn push_within(&mut self, start: usize, end: usize) {
        assert!(start <= end && end <= self.len, "range beyond what is written");
        let (len, at) = (end - start, self.len);
        self.spare(len);
        self.bytes.copy_within(start..end, at);
        self.len += len;
    }

    /// Returns true if a character that XML cannot represent was replaced since the buffer was
    /// created or cleared.
    pub fn has_replaced(&self) -> bool {
        self.has_replaced
    }

    /// Appends the first `n` bytes of a block. Cheaper than [`push`](Self::push) because the block
    /// is copied whole.
    ///
    /// # Panics
    /// If `n` is greater than the length of the block.
    #[inline]
    pub fn push_block<const N: usize>(&mut self, block: &[u8; N], n: usize) {
        assert!(n <= N, "more than the block");
        if let Some(spare) = self.spare(N).first_chunk_mut::<N>() {
            *spare = *block;
        }
        self.len += n;
    }

    /// Like [`push`](Self::push), for a few dozen bytes: copies in blocks of fixed size.
    #[inline]
    pub fn push_short(&mut self, bytes: &[u8]) {
        if let (Some(first), Some(last), 8..=16) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>(), bytes.len()) {
            let spare = self.spare(16);
            spare[..8].copy_from_slice(first);
            spare[bytes.len() - 8..bytes.len()].copy_from_slice(last);
            self.len += bytes.len();
        } else if let (Some(first), Some(last), 16..=32) =
            (bytes.first_chunk::<16>(), bytes.last_chunk::<16>(), bytes.len())
        {
            let spare = self.spare(32);
            spare[..16].copy_from_slice(first);
            spare[bytes.len() - 16..bytes.len()].copy_from_slice(last);
            self.len += bytes.len();
        } else {
            self.push(bytes);
        }
    }

    /// Returns `N` bytes of scratch, to be filled from the front in pieces of eight; follow with
    /// [`commit`](Self::commit) of the block's length.
    #[inline(always)]
    pub(crate) fn block<const N: usize>(&mut self) -> Block<'_, N> {
        let Some(bytes) = self.spare(N).first_chunk_mut() else { unreachable!("spare gives what it is asked for") };
        Block { bytes, len: 0 }
    }

    /// Appends text, escaped for the context.
    ///
    /// The result is well-formed for any text: a character that XML cannot represent, even as a
    /// reference (most controls, U+FFFE, U+FFFF), is written as U+FFFD, the replacement character.
    /// To report an error instead, check the text with
    /// [`find_illegal`](crate::lexical::find_illegal) first.
    #[inline]
    pub fn push_text(&mut self, text: &str, escape: Escape) {
        let mut rest = text.as_bytes();
        loop {
            let (run, tail) = rest.split_at(verbatim_run(rest, escape));
            self.push(run);
            let Some(&first) = tail.first() else { return };
            rest = self.push_special(first, tail, escape);
        }
    }

    /// Appends the character that ended a run, and returns the text after it.
    fn push_special<'t>(&mut self, first: u8, text: &'t [u8], escape: Escape) -> &'t [u8] {
        let width = if first == NONCHARACTER_LEAD { 3 } else { 1 };
        let (character, rest) = text.split_at(width.min(text.len()));
        let replacement = replacement(character, escape);
        self.has_replaced |= replacement == Some(REPLACEMENT);
        self.push(replacement.unwrap_or(character));
        rest
    }

    #[cold]
    fn grow(&mut self, n: usize) {
        let wanted = (self.len + n).max(self.bytes.len() * 2).max(256);
        self.bytes.resize(wanted, 0);
    }
}

/// Scratch of a [`Buffer`], filled from the front.
pub(crate) struct Block<'b, const N: usize> {
    bytes: &'b mut [u8; N],
    len: usize,
}

impl<const N: usize> Block<'_, N> {
    /// Writes eight bytes of which the first `len` count; the next write overwrites the others.
    ///
    /// # Panics
    /// If fewer than eight bytes are left.
    #[inline(always)]
    pub(crate) fn put(&mut self, text: [u8; 8], len: usize) {
        self.bytes[self.len..self.len + 8].copy_from_slice(&text);
        self.len += len;
    }

    /// Returns the number of bytes that count.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

/// The first byte of U+FFFE and U+FFFF in UTF-8.
const NONCHARACTER_LEAD: u8 = 0xEF;

/// The replacement character, U+FFFD.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// Returns what is written instead of a character; `None` if the character is written unchanged.
fn replacement(character: &[u8], escape: Escape) -> Option<&'static [u8]> {
    let attribute = escape == Escape::Attribute;
    match character {
        b"&" => Some(b"&amp;"),
        b"<" => Some(b"&lt;"),
        b">" if !attribute => Some(b"&gt;"),
        b"\r" => Some(b"&#xD;"),
        b"\"" if attribute => Some(b"&quot;"),
        b"\t" if attribute => Some(b"&#x9;"),
        b"\n" if attribute => Some(b"&#xA;"),
        b"\t" | b"\n" | b">" => None,
        [0..0x20] | [NONCHARACTER_LEAD, 0xBF, 0xBE | 0xBF] => Some(REPLACEMENT),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::is_xml_char;
    use proptest::prelude::*;

    fn escaped(text: &str, escape: Escape) -> String {
        let mut out = Buffer::new();
        out.push_text(text, escape);
        String::from_utf8(out.into_vec()).expect("text stays UTF-8")
    }

    /// Escapes one character at a time, by the rules of XML 1.0, 2.4 and 3.3.3.
    fn naive(text: &str, escape: Escape) -> String {
        let mut out = String::new();
        for character in text.chars() {
            match (character, escape) {
                ('&', _) => out.push_str("&amp;"),
                ('<', _) => out.push_str("&lt;"),
                ('>', Escape::Text) => out.push_str("&gt;"),
                ('\r', _) => out.push_str("&#xD;"),
                ('"', Escape::Attribute) => out.push_str("&quot;"),
                ('\t', Escape::Attribute) => out.push_str("&#x9;"),
                ('\n', Escape::Attribute) => out.push_str("&#xA;"),
                (character, _) if is_xml_char(character) => out.push(character),
                _ => out.push('\u{FFFD}'),
            }
        }
        out
    }

    #[test]
    fn escapes_by_place() {
        let text = "a<b>&\"'\t\n\r]]>\u{0}\u{FFFE}\u{FFFD}\u{FF0C}\u{7F}";
        assert_eq!(
            escaped(text, Escape::Text),
            "a&lt;b&gt;&amp;\"'\t\n&#xD;]]&gt;\u{FFFD}\u{FFFD}\u{FFFD}\u{FF0C}\u{7F}"
        );
        assert_eq!(
            escaped(text, Escape::Attribute),
            "a&lt;b>&amp;&quot;'&#x9;&#xA;&#xD;]]>\u{FFFD}\u{FFFD}\u{FFFD}\u{FF0C}\u{7F}"
        );
    }

    #[test]
    fn blocks_are_counted_by_what_is_used() {
        let mut out = Buffer::new();
        out.push(b"a");
        out.push_block(b"12345678", 3);
        out.push_block(b"--------", 0);
        out.push(b"b");
        assert_eq!(out.as_slice(), b"a123b");
    }

    #[test]
    fn what_is_expected_finds_room() {
        let mut out = Buffer::new();
        out.push(b"ab");
        out.expect(10_000);
        let capacity = out.capacity();
        out.push(&[b'c'; 10_000]);
        assert_eq!((out.capacity(), out.len(), &out.as_slice()[..3]), (capacity, 10_002, &b"abc"[..]));
        out.clear();
        out.expect(100);
        assert_eq!(out.capacity(), capacity);
    }

    #[test]
    #[should_panic(expected = "more than the block")]
    fn blocks_are_bounded() {
        Buffer::new().push_block(b"12", 3);
    }

    proptest! {
        #[test]
        fn as_one_character_at_a_time(text in ".{0,40}[\u{0}-\u{40}\u{ff00}-\u{ffff}]{0,4}[ -~]{0,40}") {
            for escape in [Escape::Text, Escape::Attribute] {
                prop_assert_eq!(escaped(&text, escape), naive(&text, escape));
            }
        }
    }
}

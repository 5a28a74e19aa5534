//! The output buffer: bytes written front to back, with the escaping that each place in a document needs.
//!
//! The idea: the vector is always initialised to its full length and `len` says how much of it is written, so a
//! hot loop can take a slice of spare bytes, copy fixed-size blocks into it without length checks a byte at a
//! time, and commit what it used; all without `unsafe`.

/// Where text goes, and so which characters must be escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// Character data of an element: `&`, `<`, `>` and carriage return.
    Text,
    /// A double-quoted attribute value: also `"`, tab and line feed.
    Attribute,
}

/// Bytes of a document under construction.
#[derive(Debug, Clone, Default)]
pub struct Buffer {
    /// Initialised to its length; bytes at `len..` are scratch.
    bytes: Vec<u8>,
    /// Bytes written so far, `len <= bytes.len()`.
    len: usize,
}

impl Buffer {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty buffer with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Buffer { bytes: vec![0; capacity], len: 0 }
    }

    /// The bytes written so far.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Number of bytes written.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets what was written and keeps the memory.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Forgets what was written behind the first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Takes the written bytes.
    pub fn into_vec(mut self) -> Vec<u8> {
        self.bytes.truncate(self.len);
        self.bytes
    }

    /// At least `n` bytes of scratch behind what is written; follow with [`commit`](Self::commit).
    #[inline]
    pub fn spare(&mut self, n: usize) -> &mut [u8] {
        if self.bytes.len() - self.len < n {
            self.grow(n);
        }
        &mut self.bytes[self.len..]
    }

    /// Counts `n` bytes of the last [`spare`](Self::spare) slice as written.
    ///
    /// # Panics
    /// When `n` is more than the slice had.
    #[inline]
    pub fn commit(&mut self, n: usize) {
        assert!(n <= self.bytes.len() - self.len, "commit beyond the spare bytes");
        self.len += n;
    }

    /// Appends bytes as they are.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        self.spare(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    #[cold]
    fn grow(&mut self, n: usize) {
        let wanted = (self.len + n).max(self.bytes.len() * 2).max(256);
        self.bytes.resize(wanted, 0);
    }
}

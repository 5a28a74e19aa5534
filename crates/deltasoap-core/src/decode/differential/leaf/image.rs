//! The received bytes of a message, by their position in it.
//!
//! Large chunks are kept as received, by reference count instead of a copy. Small ones are joined,
//! so that a slice of a few bytes does not keep a whole network buffer alive, and so that a
//! comparison seldom crosses a seam.

use bytes::Bytes;
use deltasoap_xml::scan::{first_mismatch, skip_white};

/// Minimum length of chunks that are kept as received.
const SHARED: usize = 16 << 10;

/// Maximum memory that an emptied image keeps.
const KEPT: usize = 64 << 10;
/// The start of a part that has no bytes yet.
const NOWHERE: u64 = u64::MAX;

/// A part of a message, starting with the chunk in which its operation begins.
#[derive(Debug, Default)]
pub(crate) struct Image {
    parts: Vec<ChunkPart>,
}

#[derive(Debug)]
struct ChunkPart {
    /// Position of its first byte in the message.
    start: u64,
    data: Data,
}

#[derive(Debug)]
enum Data {
    Shared(Bytes),
    Joined(Vec<u8>),
}

/// A chunk on its way into an image.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Chunk<'a> {
    /// Can be kept.
    Shared(&'a Bytes),
    /// Must be copied.
    Lent(&'a [u8]),
}

impl Chunk<'_> {
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Chunk::Shared(bytes) => bytes,
            Chunk::Lent(bytes) => bytes,
        }
    }
}

impl ChunkPart {
    fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Shared(bytes) => bytes,
            Data::Joined(bytes) => bytes,
        }
    }

    fn end(&self) -> u64 {
        self.start + self.bytes().len() as u64
    }
}

impl Image {
    /// Appends a chunk. The first one begins at `start`, each other one where the last one ended.
    pub(crate) fn push(&mut self, start: u64, chunk: Chunk<'_>) {
        if let [ChunkPart { start: nowhere @ NOWHERE, .. }] = self.parts.as_mut_slice() {
            *nowhere = start;
        }
        let start = self.parts.last().map_or(start, ChunkPart::end);
        let bytes = chunk.as_slice();
        match (chunk, self.parts.last_mut()) {
            (Chunk::Shared(bytes), _) if bytes.len() >= SHARED => {
                self.parts.push(ChunkPart { start, data: Data::Shared(bytes.clone()) });
            }
            (_, Some(ChunkPart { data: Data::Joined(joined), .. })) => joined.extend_from_slice(bytes),
            _ => self.parts.push(ChunkPart { start, data: Data::Joined(bytes.to_vec()) }),
        }
    }

    /// Returns an image without bytes that reuses the memory of this one.
    pub(crate) fn emptied(mut self) -> Self {
        self.parts.truncate(1);
        match self.parts.first_mut() {
            Some(ChunkPart { start, data: Data::Joined(bytes) }) if bytes.capacity() <= KEPT => {
                bytes.clear();
                *start = NOWHERE;
            }
            _ => self.parts.clear(),
        }
        self
    }

    /// Returns the position after the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.parts.last().map_or(0, ChunkPart::end)
    }

    /// Returns the bytes from a position to the end of its part; empty at the end.
    pub(crate) fn at(&self, position: u64) -> &[u8] {
        let part = match self.parts.as_slice() {
            [only] => only,
            parts => match parts.get(parts.partition_point(|part| part.end() <= position)) {
                Some(part) => part,
                None => return &[],
            },
        };
        let index = usize::try_from(position.saturating_sub(part.start)).unwrap_or(usize::MAX);
        part.bytes().get(index..).unwrap_or_default()
    }

    /// Returns the parts from a position on.
    pub(crate) fn from(&self, position: u64) -> impl Iterator<Item = &[u8]> {
        let first = self.parts.partition_point(|part| part.end() <= position);
        self.parts[first..].iter().map(move |part| {
            let skipped = usize::try_from(position.saturating_sub(part.start)).unwrap_or(usize::MAX);
            &part.bytes()[skipped.min(part.bytes().len())..]
        })
    }

    /// Returns the first position, from this one on, that is not white space.
    pub(crate) fn skip_white(&self, position: u64) -> u64 {
        let mut at = position;
        for part in self.from(position) {
            let white = skip_white(part, 0);
            at += white as u64;
            if white < part.len() {
                break;
            }
        }
        at
    }

    /// Returns up to `len` bytes from a position on, in one piece.
    pub(crate) fn read(&self, position: u64, len: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for part in self.from(position) {
            let wanted = len - bytes.len();
            bytes.extend_from_slice(&part[..wanted.min(part.len())]);
            if wanted <= part.len() {
                break;
            }
        }
        bytes
    }

    /// Returns the number of bytes from `own` on that equal those of `other` from `others` on.
    pub(crate) fn equal(&self, own: u64, other: &Image, others: u64) -> u64 {
        let mut equal = 0;
        loop {
            let (a, b) = (self.at(own + equal), other.at(others + equal));
            let len = a.len().min(b.len());
            let same = first_mismatch(&a[..len], &b[..len]);
            equal += same as u64;
            if same < len || len == 0 {
                return equal;
            }
        }
    }

    /// Returns the number of bytes from `own` on that equal the first bytes of `other`.
    pub(crate) fn equal_to(&self, own: u64, other: &[u8]) -> usize {
        let mut equal = 0;
        loop {
            let (a, b) = (self.at(own + equal as u64), &other[equal..]);
            let len = a.len().min(b.len());
            let same = first_mismatch(&a[..len], &b[..len]);
            equal += same;
            if same < len || len == 0 {
                return equal;
            }
        }
    }

    /// Returns the number of bytes held.
    pub(crate) fn capacity(&self) -> usize {
        let held = |part: &ChunkPart| match &part.data {
            Data::Shared(bytes) => bytes.len(),
            Data::Joined(bytes) => bytes.capacity(),
        };
        self.parts.iter().map(held).sum::<usize>() + self.parts.capacity() * size_of::<ChunkPart>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(start: u64, chunks: &[&[u8]]) -> Image {
        let mut image = Image::default();
        for chunk in chunks {
            image.push(start, Chunk::Lent(chunk));
        }
        image
    }

    #[test]
    fn positions_count_from_the_first_chunk() {
        let image = image(100, &[b"abc", b"def"]);
        assert_eq!((image.at(100), image.at(104), image.at(106)), (&b"abcdef"[..], &b"ef"[..], &b""[..]));
        assert_eq!(image.end(), 106);
    }

    #[test]
    fn large_chunks_are_not_copied_and_seams_do_not_matter() {
        let large = Bytes::from(vec![b'x'; SHARED]);
        let mut parts = Image::default();
        parts.push(7, Chunk::Lent(b"ab"));
        parts.push(0, Chunk::Shared(&large));
        parts.push(0, Chunk::Lent(b"cd"));
        assert_eq!(parts.at(9).as_ptr(), large.as_ptr());
        let mut whole = b"ab".to_vec();
        whole.extend_from_slice(&large);
        whole.extend_from_slice(b"cX");
        let whole = image(0, &[&whole]);
        assert_eq!(parts.equal(7, &whole, 0), SHARED as u64 + 3);
        assert_eq!(parts.equal_to(7, whole.at(0)), SHARED + 3);
        assert_eq!(parts.from(8).collect::<Vec<_>>().concat().len(), SHARED + 3);
    }

    #[test]
    fn white_space_may_go_on_in_the_next_part() {
        let mut parts = Image::default();
        parts.push(7, Chunk::Lent(b"a  "));
        parts.push(0, Chunk::Shared(&Bytes::from(vec![b' '; SHARED])));
        parts.push(0, Chunk::Lent(b"\n<"));
        let end = 7 + 3 + SHARED as u64 + 1;
        assert_eq!((parts.skip_white(7), parts.skip_white(8), parts.skip_white(end)), (7, end, end));
    }
}

//! An outgoing message.
//!
//! Each chunk is one `Bytes` that shares the chunk's memory through its `Arc`. Code that changes a
//! chunk takes ownership first (`tape::unshare`): if a frame, a clone of the template or another
//! template holds the chunk, it is copied. So a buffer in flight never changes, which the type
//! system guarantees, since changing a chunk takes `&mut`. A slow reader costs no more than a copy
//! of the chunks that changed in the meantime. A clone of the templates for another destination
//! costs nothing until the two diverge.

use super::{EncodeStats, MatchKind};
use crate::soap::{InFull, Version};
use bytes::Bytes;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A message to be sent, in pieces that share memory with their template. While one of them is
/// held, the template copies a chunk before changing it: the data being sent is unchanged.
#[derive(Debug, Clone)]
pub struct Outgoing {
    frames: Frames,
    kind: MatchKind,
    /// Number of bytes before the `Body` element.
    head: usize,
    inclusive_prefixes: Arc<BTreeSet<String>>,
}

/// The end of a message, after the `Body` element.
const TAIL: &str = "</soap:Envelope>";

impl Outgoing {
    /// Creates a message from a template. `head` is the number of bytes before its `Body`.
    pub(super) fn new(frames: Frames, kind: MatchKind, head: usize, prefixes: Arc<BTreeSet<String>>) -> Self {
        Outgoing { frames, kind, head, inclusive_prefixes: prefixes }
    }

    /// Creates a message that was written in full, and counts it.
    pub(crate) fn in_full(message: InFull, stats: &mut EncodeStats) -> Self {
        let InFull { bytes, head, unused_prefixes } = message;
        stats.count(MatchKind::FirstTime, bytes.len());
        stats.written += bytes.len() as u64;
        let frame = Bytes::from(bytes.into_vec());
        Self::new(Frames::one(frame), MatchKind::FirstTime, head, Arc::new(unused_prefixes))
    }

    /// Creates a message without a header around a `Body` element that is in canonical form
    /// already: one that was [received](crate::Node) and is to be signed. `prefixes` are those that
    /// [`inclusive_prefixes`](Self::inclusive_prefixes) returns.
    pub fn around(version: Version, body: impl Into<Bytes>, prefixes: impl IntoIterator<Item = String>) -> Self {
        let opening = format!("<soap:Envelope xmlns:soap=\"{}\">", version.namespace());
        let head = opening.len();
        let pieces = [opening.into(), body.into(), Bytes::from_static(TAIL.as_bytes())];
        let prefixes = Arc::new(prefixes.into_iter().collect());
        Self::new(Frames::new(pieces.into_iter()), MatchKind::FirstTime, head, prefixes)
    }

    /// Inserts a complete `Header` element before the `Body`. The message must have none.
    #[must_use]
    pub fn with_header(mut self, header: impl Into<Bytes>) -> Self {
        let header: Bytes = header.into();
        let (frames, at) = (self.frames.as_slice(), self.head);
        self.head += header.len();
        let (mut before, mut pieces) = (0, Vec::with_capacity(frames.len() + 2));
        for frame in frames {
            let cut = at.saturating_sub(before);
            if before <= at && cut < frame.len() {
                pieces.extend([frame.slice(..cut), header.clone(), frame.slice(cut..)]);
            } else {
                pieces.push(frame.clone());
            }
            before += frame.len();
        }
        self.frames = Frames::new(pieces.into_iter().filter(|piece| !piece.is_empty()));
        self
    }

    /// Replaces the `Body` element, by one with its content encrypted for instance.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        let (mut left, mut pieces) = (self.head, Vec::new());
        for frame in self.frames.as_slice() {
            let piece = frame.slice(..left.min(frame.len()));
            left -= piece.len();
            pieces.push(piece);
        }
        pieces.extend([body.into(), Bytes::from_static(TAIL.as_bytes())]);
        self.frames = Frames::new(pieces.into_iter().filter(|piece| !piece.is_empty()));
        self
    }

    /// Returns the bytes of the `Body` element, in pieces. They are its canonical form if the
    /// message was written in that ([`Envelope::canonical`](crate::soap::Envelope::canonical)).
    pub fn body(&self) -> impl Iterator<Item = &[u8]> {
        let end = self.len().saturating_sub(TAIL.len());
        let mut before = 0;
        self.frames().iter().filter_map(move |frame| {
            let part = |at: usize| at.saturating_sub(before).min(frame.len());
            let piece = &frame[part(self.head)..part(end)];
            before += frame.len();
            (!piece.is_empty()).then_some(piece)
        })
    }

    /// Returns the prefixes that a signature over the body lists as `InclusiveNamespaces`, in
    /// alphabetical order; `""` stands for `#default`. The list may name prefixes that the body
    /// does not declare.
    pub fn inclusive_prefixes(&self) -> impl Iterator<Item = &str> {
        self.inclusive_prefixes.iter().map(String::as_str)
    }

    /// Returns the message's pieces in order, one per chunk; none is empty. Send them unchanged, in
    /// vectored writes: they are not copies.
    pub fn frames(&self) -> &[Bytes] {
        self.frames.as_slice()
    }

    /// Returns the length of the message in bytes.
    pub fn len(&self) -> usize {
        self.frames.len
    }

    /// Returns true if the message has no bytes, which never happens.
    pub fn is_empty(&self) -> bool {
        self.frames.len == 0
    }

    /// Returns how the message matched earlier ones.
    pub fn kind(&self) -> MatchKind {
        self.kind
    }

    /// Copies the message into one vector.
    pub fn to_vec(&self) -> Vec<u8> {
        self.frames().concat()
    }
}

/// A message's pieces.
#[derive(Debug, Clone)]
pub(crate) struct Frames {
    pieces: Pieces,
    len: usize,
}

/// Most messages have one.
#[derive(Debug, Clone)]
enum Pieces {
    One(Bytes),
    Many(Arc<[Bytes]>),
}

impl Frames {
    pub(crate) fn new(frames: impl Iterator<Item = Bytes>) -> Self {
        let mut frames = frames.peekable();
        let first = frames.next().unwrap_or_default();
        if frames.peek().is_none() {
            return Self::one(first);
        }
        let frames: Arc<[Bytes]> = std::iter::once(first).chain(frames).collect();
        Frames { len: frames.iter().map(Bytes::len).sum(), pieces: Pieces::Many(frames) }
    }

    fn one(frame: Bytes) -> Self {
        Frames { len: frame.len(), pieces: Pieces::One(frame) }
    }

    fn as_slice(&self) -> &[Bytes] {
        match &self.pieces {
            Pieces::One(frame) => std::slice::from_ref(frame),
            Pieces::Many(frames) => frames,
        }
    }
}

//! An outgoing message.
//!
//! Each chunk is one `Bytes` that shares the chunk's memory through its `Arc`. Code that changes a
//! chunk takes ownership first (`tape::unshare`): if a frame, a clone of the template or another
//! template holds the chunk, it is copied. So a buffer in flight never changes, which the type
//! system guarantees, since changing a chunk takes `&mut`. A slow reader costs no more than a copy
//! of the chunks that changed in the meantime. A clone of the templates for another destination
//! costs nothing until the two diverge.

use super::{EncodeStats, MatchKind};
use bytes::Bytes;
use deltasoap_xml::Buffer;
use std::sync::Arc;

/// A message to be sent, in pieces that share memory with their template. While one of them is
/// held, the template copies a chunk before changing it: the data being sent is unchanged.
#[derive(Debug, Clone)]
pub struct Outgoing {
    frames: Frames,
    kind: MatchKind,
}

impl Outgoing {
    pub(crate) fn new(frames: Frames, kind: MatchKind) -> Self {
        Outgoing { frames, kind }
    }

    /// Creates a message that was written in full, and counts it.
    pub(super) fn in_full(message: Buffer, stats: &mut EncodeStats) -> Self {
        stats.count(MatchKind::FirstTime, message.len());
        stats.written += message.len() as u64;
        let frame = Bytes::from(message.into_vec());
        Self::new(Frames::one(frame), MatchKind::FirstTime)
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

    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

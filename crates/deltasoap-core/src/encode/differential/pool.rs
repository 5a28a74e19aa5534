//! Where templates of different operations and destinations meet: the runs that each of them holds.
//!
//! The same array is often sent in messages of several operations. The first message of one need
//! not write it again if a template of another holds it: its chunks are taken over, as many as are
//! the same, and belong to both until one of them changes. The pool knows runs by weak references
//! and keeps nothing alive: a run is forgotten with the last template that holds it, a chunk that
//! is changed in place is no longer the one that the pool knew, and is made known again with its
//! run.

use super::Templating;
use super::tape::Chunk;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Most runs that a pool knows.
const RUNS: usize = 16;
/// Most chunks of one that it knows.
const CHUNKS: usize = 4096;

/// What templates of several operations or destinations share: an array that one of them holds is
/// not written again when another [with the same pool](super::Template::with_pool) sends it for the
/// first time (*Differential Serialization*, section 6). Clones are the same pool.
///
/// Bytes are the same with and without. How long a first message takes tells whether its arrays
/// were sent before, by whichever template of the pool: share one only where that may be known.
#[derive(Debug, Clone, Default)]
pub struct RunPool(Arc<Mutex<Vec<Known>>>);

/// A run that some template holds, or held.
#[derive(Debug)]
struct Known {
    options: Templating,
    pieces: Arc<[Piece]>,
}

/// One of its chunks.
#[derive(Debug)]
pub(super) struct Piece {
    chunk: Weak<Chunk>,
    /// Number of items it holds.
    pub(super) items: usize,
}

impl RunPool {
    /// Creates a pool that knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of runs there are to share, of those that templates still hold; at most
    /// 16.
    pub fn len(&self) -> usize {
        self.runs().iter().filter(|run| run.is_held()).count()
    }

    /// Returns true if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes a run known, which takes the place of what it was before. Those shorter than a chunk
    /// are not worth it.
    pub(super) fn note(&self, options: &Templating, chunks: &[Arc<Chunk>]) {
        if chunks.len() < 2 && chunks.iter().all(|chunk| chunk.bytes().len() < options.chunk) {
            return;
        }
        let pieces = chunks.iter().take(CHUNKS).map(Piece::new).collect();
        let mut runs = self.runs();
        let mut dropped: Vec<_> = runs.extract_if(.., |run| run.is_within(chunks)).collect();
        runs.insert(0, Known { options: *options, pieces });
        dropped.extend((runs.len() > RUNS).then(|| runs.pop()).flatten());
        // What is freed is freed without the lock.
        drop(runs);
    }

    /// Returns the runs of templates with these options, the last that was noted first.
    pub(super) fn known(&self, options: &Templating) -> Vec<Arc<[Piece]>> {
        let runs = self.runs();
        runs.iter().filter(|run| run.options == *options).map(|run| Arc::clone(&run.pieces)).collect()
    }

    fn runs(&self) -> MutexGuard<'_, Vec<Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn is_held(&self) -> bool {
        self.pieces.iter().any(Piece::is_held)
    }

    /// Returns true if all that is left of it stands among these chunks, in this order.
    fn is_within(&self, chunks: &[Arc<Chunk>]) -> bool {
        let mut chunks = chunks.iter();
        let mut held = self.pieces.iter().filter(|piece| piece.is_held());
        held.all(|piece| chunks.any(|chunk| std::ptr::eq(Arc::as_ptr(chunk), piece.chunk.as_ptr())))
    }
}

impl Piece {
    fn new(chunk: &Arc<Chunk>) -> Self {
        Piece { chunk: Arc::downgrade(chunk), items: chunk.items() }
    }

    fn is_held(&self) -> bool {
        self.chunk.strong_count() > 0
    }

    /// Returns the chunk, as long as a template holds it as it was.
    pub(super) fn chunk(&self) -> Option<Arc<Chunk>> {
        self.chunk.upgrade()
    }
}

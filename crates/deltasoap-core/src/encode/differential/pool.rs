//! A pool of the runs held by templates of different operations and destinations.
//!
//! The same array is often sent in messages of several operations. The first message of one
//! operation need not write it again if a template of another holds it: the equal chunks are taken
//! over, and belong to both until one of them changes. The pool refers to runs by weak references
//! and keeps nothing alive. A run is forgotten with the last template that holds it. A chunk that
//! is changed in place no longer belongs to the known run, and is made known again with its own
//! run.

use super::Templating;
use super::tape::Chunk;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Maximum number of runs in a pool.
const RUNS: usize = 16;
/// Maximum number of chunks of a run in the pool.
const CHUNKS: usize = 4096;

/// A pool shared by templates of several operations or destinations: an array that one of them
/// holds is not rewritten when another [with the same pool](super::Template::with_pool) sends it
/// for the first time (*Differential Serialization*, section 6). Clones are the same pool.
///
/// The bytes are the same with and without a pool. The time of a first message reveals whether its
/// arrays were sent before, by any template of the pool: share a pool only where this may be known.
#[derive(Debug, Clone, Default)]
pub struct RunPool(Arc<Mutex<Vec<Known>>>);

/// A run that a template holds, or held.
#[derive(Debug)]
struct Known {
    options: Templating,
    pieces: Arc<[Piece]>,
}

/// A chunk of a run.
#[derive(Debug)]
pub(super) struct Piece {
    chunk: Weak<Chunk>,
    /// Number of items.
    pub(super) items: usize,
}

impl RunPool {
    /// Creates an empty pool.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of runs that templates still hold; at most 16.
    pub fn len(&self) -> usize {
        self.runs().iter().filter(|run| run.is_held()).count()
    }

    /// Returns true if there are no such runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes a run known, replacing its previous version. Runs shorter than a chunk are ignored.
    pub(super) fn note(&self, options: &Templating, chunks: &[Arc<Chunk>]) {
        if chunks.len() < 2 && chunks.iter().all(|chunk| chunk.bytes().len() < options.chunk) {
            return;
        }
        let pieces = chunks.iter().take(CHUNKS).map(Piece::new).collect();
        let mut runs = self.runs();
        let mut dropped: Vec<_> = runs.extract_if(.., |run| run.is_within(chunks)).collect();
        runs.insert(0, Known { options: *options, pieces });
        dropped.extend((runs.len() > RUNS).then(|| runs.pop()).flatten());
        // Memory is freed without holding the lock.
        drop(runs);
    }

    /// Returns the runs of templates with these options, the most recently noted first.
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

    /// Returns true if all that is left of the run is among these chunks, in this order.
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

    /// Returns the chunk, if a template still holds it unchanged.
    pub(super) fn chunk(&self) -> Option<Arc<Chunk>> {
        self.chunk.upgrade()
    }
}

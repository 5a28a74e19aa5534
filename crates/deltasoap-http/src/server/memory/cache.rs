//! The cache of a service: shelves by owner, in shards, with a bound on the total bytes.
//!
//! Connections have their shelves here too, so that one count and one eviction cover all waiting
//! memories. A connection reaches its own shelf without a lookup. Eviction is by *second chance*: a
//! hand moves over the shelves of a shard. If a shelf was used since the hand last passed, it is
//! skipped once; otherwise its oldest memory is dropped.
//!
//! Locks are taken in the order shard, shelf, and held only for list operations.

use super::saved::{SavedMemory, Saving};
use super::{MemoryBounds, Principal, Sharing, Stream};
use crate::shelf::{Idle, Shelf};
use foldhash::fast::{FixedState, RandomState};
use indexmap::IndexMap;
use std::hash::BuildHasher;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Number of shards: enough that connections of many threads seldom contend for one lock.
const SHARDS: usize = 16;

/// The owner of a shelf.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Owner {
    Connection(u64),
    Principal(Principal),
    /// All clients of an operation whose messages begin alike.
    Operation {
        operation: usize,
        prologue: u64,
    },
}

/// An owner's shelf.
#[derive(Debug)]
pub(crate) struct Keeper {
    /// `None` once the connection has ended.
    shelf: Mutex<Option<Shelf<Stream>>>,
    /// True if it was used since the hand last passed.
    is_used: AtomicBool,
}

impl Keeper {
    fn new(limit: usize) -> Arc<Self> {
        Arc::new(Keeper { shelf: Mutex::new(Some(Shelf::new(limit))), is_used: AtomicBool::new(true) })
    }

    fn shelf(&self) -> MutexGuard<'_, Option<Shelf<Stream>>> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, stream: &Stream) -> Option<Idle<Stream>> {
        self.is_used.store(true, Relaxed);
        self.shelf().as_mut()?.take(|key| key == stream)
    }

    /// Puts a memory on the shelf. Returns a memory if there is no room: the oldest, or this one if
    /// the shelf is closed or has no room at all.
    fn put(&self, idle: Idle<Stream>) -> Option<Idle<Stream>> {
        match &mut *self.shelf() {
            Some(shelf) => shelf.put(idle),
            None => Some(idle),
        }
    }

    fn oldest(&self) -> Option<Idle<Stream>> {
        self.shelf().as_mut()?.oldest()
    }

    fn is_empty(&self) -> bool {
        self.shelf().as_ref().is_none_or(Shelf::is_empty)
    }
}

#[derive(Debug, Default)]
struct Shard {
    keepers: IndexMap<Owner, Arc<Keeper>, RandomState>,
    /// Where eviction continues.
    hand: usize,
}

/// A service's memory of earlier messages.
#[derive(Debug)]
pub(crate) struct Cache {
    bounds: MemoryBounds,
    sharing: Sharing,
    /// True if a memory works with any decoder, so that it may outlive its connection.
    can_travel: bool,
    shards: [Mutex<Shard>; SHARDS],
    hasher: RandomState,
    /// The seed by which streams are told apart, once there is one.
    seed: OnceLock<u64>,
    /// Bytes of all waiting memories.
    held: AtomicUsize,
    /// Bytes of waiting memories, for each operation.
    held_by: Box<[AtomicUsize]>,
    evicted: AtomicU64,
    /// The shard to evict from next, modulo [`SHARDS`].
    hand: AtomicUsize,
    connections: AtomicU64,
    /// Number of consecutive connections that ended with their first request.
    singles: AtomicU32,
}

/// Returns a memory's message, with its stream.
fn saved(idle: &Idle<Stream>) -> Option<(Stream, Vec<u8>)> {
    Some((idle.key.clone(), idle.saved()?))
}

/// After this many consecutive connections that ended with their first request, others are expected
/// to do so too.
const SINGLES: u32 = 8;

impl Cache {
    pub(crate) fn new(bounds: MemoryBounds, sharing: Sharing, can_travel: bool, operations: usize) -> Self {
        Cache {
            bounds,
            sharing,
            can_travel,
            shards: Default::default(),
            hasher: RandomState::default(),
            seed: OnceLock::new(),
            held: AtomicUsize::new(0),
            held_by: (0..operations).map(|_| AtomicUsize::new(0)).collect(),
            evicted: AtomicU64::new(0),
            hand: AtomicUsize::new(0),
            connections: AtomicU64::new(0),
            singles: AtomicU32::new(0),
        }
    }

    /// Saves the waiting memories of owners that can return.
    pub(crate) fn save(&self, path: &Path) -> io::Result<usize> {
        let mut saving = Saving::begin(path, self.seed())?;
        for index in 0..SHARDS {
            let owned = |(owner, _): &(&Owner, &Arc<Keeper>)| !matches!(owner, Owner::Connection(_));
            let keepers: Vec<_> =
                self.locked(index).keepers.iter().filter(owned).map(|(_, keeper)| Arc::clone(keeper)).collect();
            for keeper in keepers {
                // Nothing is locked while a file is written.
                let saved: Vec<_> = keeper.shelf().iter().flat_map(Shelf::iter).filter_map(saved).collect();
                for (Stream { principal, prologue, .. }, message) in saved {
                    let principal = principal.as_ref().map(|principal| &*principal.0);
                    saving.add(SavedMemory { principal, prologue, message: &message })?;
                }
            }
        }
        saving.finish()
    }

    /// Tells streams apart as the service did that saved with this seed. Returns false if streams are
    /// told apart already.
    pub(crate) fn adopt(&self, seed: u64) -> bool {
        *self.seed.get_or_init(|| seed) == seed
    }

    /// Returns a hasher for this service's streams, which no sender can predict.
    pub(crate) fn hasher(&self) -> FixedState {
        FixedState::with_seed(self.seed())
    }

    fn seed(&self) -> u64 {
        *self.seed.get_or_init(|| RandomState::default().hash_one(0))
    }

    /// Returns the bound on all memories in bytes.
    pub(crate) fn bound(&self) -> usize {
        self.bounds.total_bytes
    }

    pub(crate) fn sharing(&self) -> Sharing {
        self.sharing
    }

    /// Returns true if a memory stays with the decoder that filled it.
    pub(crate) fn ties_decoders(&self) -> bool {
        !self.can_travel
    }

    /// Returns the bytes of all waiting memories.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Relaxed)
    }

    /// Returns the bytes of an operation's waiting memories.
    pub(crate) fn held_by(&self, operation: usize) -> usize {
        self.held_by[operation].load(Relaxed)
    }

    /// Returns the number of memories dropped to stay within the bound on bytes.
    pub(crate) fn evicted(&self) -> u64 {
        self.evicted.load(Relaxed)
    }

    /// Returns true if requests with this principal, without a known connection, can be remembered.
    pub(crate) fn remembers(&self, principal: Option<&Principal>) -> bool {
        self.can_travel && (self.sharing == Sharing::Operation || principal.is_some())
    }

    /// Returns a shelf for a connection, and the number to close it with.
    pub(crate) fn open_connection(&self) -> (u64, Arc<Keeper>) {
        let number = self.connections.fetch_add(1, Relaxed);
        let owner = Owner::Connection(number);
        let keeper = Keeper::new(self.bounds.per_connection);
        self.shard(&owner).keepers.insert(owner, Arc::clone(&keeper));
        (number, keeper)
    }

    /// Returns true if a connection is expected to end with its first request, so nothing need be
    /// recorded about it.
    pub(crate) fn expects_single_requests(&self) -> bool {
        self.singles.load(Relaxed) >= SINGLES
    }

    /// Closes a connection's shelf after a number of requests, and returns its waiting memories.
    pub(crate) fn close_connection(&self, number: u64, keeper: &Keeper, requests: u32) -> Vec<Idle<Stream>> {
        let singles = if requests > 1 { 0 } else { self.singles.load(Relaxed).saturating_add(1) };
        self.singles.store(singles, Relaxed);
        let owner = Owner::Connection(number);
        self.shard(&owner).keepers.swap_remove(&owner);
        let left = keeper.shelf().take().map(|mut shelf| shelf.clear()).unwrap_or_default();
        left.iter().for_each(|idle| self.count_out(idle));
        left
    }

    /// Returns a memory of the stream, from the connection's own shelf or the owner's.
    pub(crate) fn take(&self, stream: &Stream, own: Option<&Keeper>) -> Option<Idle<Stream>> {
        let found = own.and_then(|keeper| keeper.take(stream)).or_else(|| self.take_from_owner(stream));
        found.inspect(|idle| self.count_out(idle))
    }

    fn take_from_owner(&self, stream: &Stream) -> Option<Idle<Stream>> {
        let owner = self.owner(stream)?;
        let keeper = Arc::clone(self.shard(&owner).keepers.get(&owner)?);
        keeper.take(stream)
    }

    /// Keeps a memory with its connection, if it has one, or with its owner.
    pub(crate) fn put(&self, own: Option<&Keeper>, idle: Idle<Stream>) {
        match own {
            Some(keeper) => self.keep_with(keeper, idle),
            None => self.keep(idle),
        }
    }

    /// Keeps a memory with its connection. If that has ended or is full, a memory is passed on to
    /// its owner.
    fn keep_with(&self, own: &Keeper, idle: Idle<Stream>) {
        self.admit(idle, |idle| own.put(idle)).into_iter().for_each(|other| self.keep(other));
    }

    /// Keeps a memory with its owner, or not at all.
    pub(crate) fn keep(&self, idle: Idle<Stream>) {
        let Some(owner) = self.owner(&idle.key) else { return };
        let unwanted = self.admit(idle, |idle| {
            let mut shard = self.shard(&owner);
            let limit = self.limit(&owner);
            shard.keeper(owner, limit).put(idle)
        });
        drop(unwanted);
    }

    /// Puts a memory on a shelf and counts it. A memory that is returned in exchange is no longer
    /// counted.
    fn admit(
        &self,
        idle: Idle<Stream>,
        put: impl FnOnce(Idle<Stream>) -> Option<Idle<Stream>>,
    ) -> Option<Idle<Stream>> {
        if idle.bytes > self.bounds.total_bytes {
            self.evicted.fetch_add(1, Relaxed);
            return None;
        }
        self.count_in(&idle);
        let back = put(idle).inspect(|idle| self.count_out(idle));
        self.evict();
        back
    }

    /// Returns the owner of a memory, other than a connection; `None` if no owner can return.
    fn owner(&self, stream: &Stream) -> Option<Owner> {
        let Stream { operation, prologue, principal } = stream;
        match self.sharing {
            _ if !self.can_travel => None,
            Sharing::Operation => Some(Owner::Operation { operation: *operation, prologue: *prologue }),
            Sharing::Principal => principal.clone().map(Owner::Principal),
        }
    }

    fn limit(&self, owner: &Owner) -> usize {
        match owner {
            Owner::Connection(_) => self.bounds.per_connection,
            Owner::Principal(_) => self.bounds.per_principal,
            Owner::Operation { .. } => self.bounds.per_operation,
        }
    }

    fn shard(&self, owner: &Owner) -> MutexGuard<'_, Shard> {
        self.locked(self.hasher.hash_one(owner) as usize % SHARDS)
    }

    fn locked(&self, index: usize) -> MutexGuard<'_, Shard> {
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count_in(&self, idle: &Idle<Stream>) {
        self.held.fetch_add(idle.bytes, Relaxed);
        self.held_by[idle.key.operation].fetch_add(idle.bytes, Relaxed);
    }

    fn count_out(&self, idle: &Idle<Stream>) {
        self.held.fetch_sub(idle.bytes, Relaxed);
        self.held_by[idle.key.operation].fetch_sub(idle.bytes, Relaxed);
    }

    /// Drops memories while there are too many bytes. Continues from the shard where it last
    /// stopped, for at most two rounds, since used shelves are skipped once.
    fn evict(&self) {
        let is_too_much = || self.held() > self.bounds.total_bytes;
        let mut visits = 2 * SHARDS;
        while is_too_much() && visits > 0 {
            let index = self.hand.fetch_add(1, Relaxed) % SHARDS;
            let dropped = self.locked(index).evict(|idle| {
                self.count_out(idle);
                is_too_much()
            });
            self.evicted.fetch_add(dropped.len() as u64, Relaxed);
            visits -= 1;
        }
    }
}

impl Shard {
    /// Returns an owner's shelf, created on first use.
    fn keeper(&mut self, owner: Owner, limit: usize) -> &Keeper {
        if !self.keepers.contains_key(&owner) {
            self.tidy();
        }
        self.keepers.entry(owner).or_insert_with(|| Keeper::new(limit))
    }

    /// Moves the hand by two, and removes shelves that are empty and were not used for a round, so
    /// that owners who came only once do not accumulate.
    fn tidy(&mut self) {
        for _ in 0..2 {
            let Some((owner, keeper)) = self.keepers.get_index(self.hand) else {
                self.hand = 0;
                continue;
            };
            let is_kept = matches!(owner, Owner::Connection(_)) || keeper.is_used.swap(false, Relaxed);
            if !is_kept && keeper.is_empty() {
                self.keepers.swap_remove_index(self.hand);
            } else {
                self.hand += 1;
            }
        }
    }

    /// Makes one round and takes memories while `go_on` returns true for the last one taken.
    /// Shelves used since the previous round are skipped.
    fn evict(&mut self, mut go_on: impl FnMut(&Idle<Stream>) -> bool) -> Vec<Idle<Stream>> {
        let mut taken = Vec::new();
        for _ in 0..self.keepers.len() {
            self.hand %= self.keepers.len();
            let keeper = &self.keepers[self.hand];
            if !keeper.is_used.swap(false, Relaxed) {
                while let Some(idle) = keeper.oldest() {
                    let goes_on = go_on(&idle);
                    taken.push(idle);
                    if !goes_on {
                        return taken;
                    }
                }
            }
            self.hand += 1;
        }
        taken
    }
}

#[cfg(test)]
impl Cache {
    /// Returns the number of owners with shelves.
    pub(super) fn owners(&self) -> usize {
        (0..SHARDS).map(|index| self.locked(index).keepers.len()).sum()
    }

    /// Returns the bytes of all memories on the shelves, recounted.
    pub(super) fn counted_anew(&self) -> usize {
        let bytes = |keeper: &Arc<Keeper>| keeper.shelf().as_ref().map_or(0, Shelf::bytes);
        (0..SHARDS).map(|index| self.locked(index).keepers.values().map(bytes).sum::<usize>()).sum()
    }
}

//! The data of a connection: its memories, and the decoder that they belong to.

use super::{Cache, Principal, Stream};
use crate::coding::Throughput;
use crate::server::memory::cache::Keeper;
use crate::server::pool::{Pool, Pooled};
use crate::shelf::Idle;
use deltasoap_core::RunPool;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// A connection, attached to its requests by [`Server`](crate::Server).
///
/// Services keep their memory of its earlier messages here, and drop it with the last clone. A
/// different accept loop can create one for each connection and attach it to all requests of the
/// connection. Without one, and without a [`Principal`](crate::Principal), nothing identifies a
/// stream of messages, and each is read in full, unless the service shares [by
/// operation](crate::Sharing::Operation).
#[derive(Clone, Default)]
pub struct Connection(Arc<Shared>);

/// The data shared by the requests of a connection.
#[derive(Default)]
struct Shared {
    stores: Mutex<Vec<Arc<ConnectionStore>>>,
    /// How fast the client takes responses; `None` where there is no network.
    throughput: Option<Arc<Throughput>>,
}

impl Connection {
    /// Creates a connection without messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a connection whose throughput is measured.
    pub(crate) fn over(throughput: Option<Arc<Throughput>>) -> Self {
        Connection(Arc::new(Shared { throughput, ..Shared::default() }))
    }

    /// Returns how fast the client takes responses, where that is measured.
    pub(crate) fn throughput(&self) -> Option<&Arc<Throughput>> {
        self.0.throughput.as_ref()
    }

    /// Returns the connection's data at the service with this cache. A connection uses few
    /// services.
    pub(crate) fn store(&self, cache: &Arc<Cache>) -> Arc<ConnectionStore> {
        let mut stores = self.0.stores.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = stores.iter().find(|store| Arc::ptr_eq(&store.cache, cache)) {
            return Arc::clone(store);
        }
        let store = Arc::new(ConnectionStore::new(Arc::clone(cache)));
        stores.push(Arc::clone(&store));
        store
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

/// A connection's data at one service.
#[derive(Debug)]
pub(crate) struct ConnectionStore {
    cache: Arc<Cache>,
    number: u64,
    keeper: Arc<Keeper>,
    /// Number of requests so far.
    requests: AtomicU32,
    /// The decoder between two requests.
    decoder: Mutex<Option<Pooled>>,
    /// The arrays that responses to the last principal share.
    runs: Mutex<(Option<Principal>, RunPool)>,
}

impl ConnectionStore {
    fn new(cache: Arc<Cache>) -> Self {
        let (number, keeper) = cache.open_connection();
        let (requests, decoder, runs) = Default::default();
        ConnectionStore { cache, number, keeper, requests, decoder, runs }
    }

    /// Counts a request; returns true for the first.
    pub(crate) fn begin_request(&self) -> bool {
        self.requests.fetch_add(1, Relaxed) == 0
    }

    pub(crate) fn keeper(&self) -> &Arc<Keeper> {
        &self.keeper
    }

    /// Returns the pool of arrays that responses to a principal share. It is empty for another
    /// principal.
    pub(crate) fn runs(&self, principal: Option<&Principal>) -> RunPool {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if runs.0.as_ref() != principal {
            *runs = (principal.cloned(), RunPool::new());
        }
        runs.1.clone()
    }

    /// Returns the connection's decoder. The data saved by the papers' policies refers to names and
    /// scopes of the decoder that read the message, so the next message needs the same decoder. A
    /// decoder comes from the pool for the first request, or while another request of the
    /// connection is being read, and is returned to the pool when the connection ends.
    pub(crate) fn decoder(&self, pool: &Arc<Pool>) -> Pooled {
        let kept = self.decoder.lock().unwrap_or_else(PoisonError::into_inner).take();
        kept.unwrap_or_else(|| pool.take())
    }

    /// Keeps the decoder for the next request.
    pub(crate) fn keep_decoder(&self, mut decoder: Pooled) {
        decoder.reset();
        let former = self.decoder.lock().unwrap_or_else(PoisonError::into_inner).replace(decoder);
        drop(former);
    }
}

impl Drop for ConnectionStore {
    fn drop(&mut self) {
        let requests = *self.requests.get_mut();
        let left: Vec<Idle<Stream>> = self.cache.close_connection(self.number, &self.keeper, requests);
        left.into_iter().for_each(|idle| self.cache.keep(idle));
    }
}

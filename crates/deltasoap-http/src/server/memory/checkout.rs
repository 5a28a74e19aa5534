//! A memory on its way: out for one message, on lease, home again.

use super::cache::Keeper;
use super::{Cache, Connection, Principal, Sharing, Store, Stream};
use crate::server::record::Record;
use crate::shelf::Idle;
use deltasoap_core::soap::Version;
use deltasoap_core::{DifferentialStats, Home, Lease, Memory, Typed};
use http::header::USER_AGENT;
use http::request::Parts;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Where a request's memory comes from and goes to.
#[derive(Debug)]
pub(crate) struct Place {
    cache: Arc<Cache>,
    store: Option<Arc<Store>>,
    principal: Option<Principal>,
    /// A hash of the request's `User-Agent`.
    agent: u64,
}

impl Place {
    /// The place of a request; `None` where there is nothing to remember it by.
    pub(crate) fn of(parts: &Parts, cache: &Arc<Cache>) -> Option<Self> {
        let principal = parts.extensions.get::<Principal>().filter(|_| cache.sharing() == Sharing::Principal);
        let store = parts.extensions.get::<Connection>().map(|connection| connection.store(cache));
        if store.is_none() && !cache.remembers(principal) {
            return None;
        }
        let agent = parts.headers.get(USER_AGENT).map(|agent| agent.as_bytes());
        let agent = cache.hasher().hash_one(agent);
        Some(Place { cache: Arc::clone(cache), store, principal: principal.cloned(), agent })
    }

    /// The connection, if the request's decoder is to be kept with it.
    pub(crate) fn decoder_store(&self) -> Option<&Arc<Store>> {
        self.store.as_ref().filter(|_| self.cache.ties_decoders())
    }

    /// The stream that a message belongs to. Which style its sender has is told by the version of SOAP, by the body element's
    /// name as it is written, with its prefix, and by the `User-Agent`: all are at hand when the body opens, and a connection
    /// on which several senders alternate, as behind a proxy, seldom has two of them agree in all three.
    fn stream(&self, operation: usize, version: Version, name: &str) -> Stream {
        let prologue = self.cache.hasher().hash_one((version as u8, name, self.agent));
        Stream { operation, prologue, principal: self.principal.clone() }
    }

    /// A memory for a message, an earlier one's if there is one that waits. `name` is the body element's as it is written.
    pub(crate) fn check_out<T: Typed>(self, record: &Arc<Record>, version: Version, name: &str) -> Checkout<T>
    where
        Memory<T>: Send + 'static,
    {
        let stream = self.stream(record.number(), version, name);
        let Place { cache, store, .. } = self;
        let keeper = store.map(|store| Arc::clone(store.keeper()));
        let idle = cache.take(&stream, keeper.as_deref());
        let memory = idle.and_then(Idle::into_parts).map(|(_, memory)| memory).unwrap_or_default();
        let is_home = AtomicBool::new(false);
        let home = Arc::new(Return { cache, keeper, stream, record: Arc::clone(record), is_home });
        Checkout { before: memory.stats(), memory: Some(memory), home }
    }
}

/// A memory out for one message. If it is not turned into a lease, the message was not read whole: the memory then goes home
/// without it.
#[derive(Debug)]
pub(crate) struct Checkout<T>
where
    Memory<T>: Send + 'static,
{
    /// There until it goes home.
    memory: Option<Box<Memory<T>>>,
    /// The memory's counters in front of the message.
    before: DifferentialStats,
    home: Arc<Return>,
}

impl<T> Checkout<T>
where
    Memory<T>: Send + 'static,
{
    pub(crate) fn memory(&mut self) -> &mut Memory<T> {
        match &mut self.memory {
            Some(memory) => memory,
            None => unreachable!("a memory is there until it goes home"),
        }
    }

    /// The message's value, for a handler.
    pub(crate) fn lease(mut self) -> Lease<T> {
        match self.memory.take() {
            Some(memory) => {
                self.count(&memory);
                Lease::with_home(memory, Arc::clone(&self.home) as Arc<dyn Home<T>>)
            }
            None => unreachable!("a memory is there until it goes home"),
        }
    }

    /// Counts what the message came to.
    fn count(&self, memory: &Memory<T>) {
        self.home.record.count(&(memory.stats() - self.before));
    }
}

impl<T> Drop for Checkout<T>
where
    Memory<T>: Send + 'static,
{
    fn drop(&mut self) {
        if let Some(mut memory) = self.memory.take()
            && !std::thread::panicking()
        {
            self.count(&memory);
            memory.forget();
            self.home.take_back(memory);
        }
    }
}

/// The way home of one memory.
#[derive(Debug)]
struct Return {
    cache: Arc<Cache>,
    keeper: Option<Arc<Keeper>>,
    stream: Stream,
    record: Arc<Record>,
    /// True once the memory has come back.
    is_home: AtomicBool,
}

impl<T> Home<T> for Return
where
    Memory<T>: Send + 'static,
{
    fn take_back(&self, memory: Box<Memory<T>>) {
        self.is_home.store(true, Relaxed);
        let idle = Idle::new(self.stream.clone(), memory);
        match &self.keeper {
            Some(keeper) => self.cache.keep_with(keeper, idle),
            None => self.cache.keep(idle),
        }
    }
}

impl Drop for Return {
    fn drop(&mut self) {
        self.record.note_returned(*self.is_home.get_mut());
    }
}

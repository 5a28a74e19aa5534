//! A memory in use: taken out for one message, leased, returned.

use super::cache::Keeper;
use super::{Cache, Connection, ConnectionStore, Principal, SavedMemory, Sharing, Stream};
use crate::server::record::Record;
use crate::shelf::Idle;
use deltasoap_core::soap::Version;
use deltasoap_core::{DifferentialStats, Lease, LeaseOwner, Memory, RunPool, Templates, Templating, Typed};
use http::header::{HeaderValue, USER_AGENT};
use http::request::Parts;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Number of messages after which a memory has been compared with one, if that is useful: the first
/// ones of a stream leave no notes to compare with. Streams of many senders begin one after the
/// other, which says nothing about those that follow.
const SETTLED: u64 = 4;

/// The source of a request's memory, to which it is returned.
#[derive(Debug)]
pub(crate) struct MemorySource {
    cache: Arc<Cache>,
    store: Option<Arc<ConnectionStore>>,
    principal: Option<Principal>,
    /// A hash of the request's `User-Agent`; 0 where that does not matter.
    agent: u64,
    /// The number of the stream in place of what the request says, for messages that were saved.
    prologue: Option<u64>,
}

impl MemorySource {
    /// Returns the source of a request's memory; `None` if nothing identifies its stream, or
    /// keeping memories is useless: a service whose clients send one request per connection detects
    /// this, and then records nothing.
    pub(crate) fn for_request(parts: &Parts, cache: &Arc<Cache>) -> Option<Self> {
        let source = MemorySource::for_response(parts, cache)?;
        let agent = parts.headers.get(USER_AGENT).map(HeaderValue::as_bytes);
        Some(MemorySource { agent: cache.hasher().hash_one(agent), ..source })
    }

    /// Returns the source of the templates for a request's response, which are the same for all of
    /// a sender's programs.
    pub(crate) fn for_response(parts: &Parts, cache: &Arc<Cache>) -> Option<Self> {
        let principal = parts.extensions.get::<Principal>().filter(|_| cache.sharing() == Sharing::Principal);
        let store = parts.extensions.get::<Connection>().map(|connection| connection.store(cache));
        let is_last = |store: &Arc<ConnectionStore>| store.begin_request() && cache.expects_single_requests();
        if store.as_ref().is_none_or(is_last) && !cache.remembers(principal) {
            return None;
        }
        Some(MemorySource { cache: Arc::clone(cache), store, principal: principal.cloned(), agent: 0, prologue: None })
    }

    /// Returns the source of the memory of a message that was saved.
    pub(crate) fn for_saved(memory: &SavedMemory<'_>, cache: &Arc<Cache>) -> Option<Self> {
        let principal = memory.principal.filter(|_| cache.sharing() == Sharing::Principal).map(Principal::new);
        let source = MemorySource {
            cache: Arc::clone(cache),
            store: None,
            principal,
            agent: 0,
            prologue: Some(memory.prologue),
        };
        cache.remembers(source.principal.as_ref()).then_some(source)
    }

    /// Returns the source of the memory of a sender that a message proves.
    pub(crate) fn of_sender(mut self, key: String) -> Self {
        if self.cache.sharing() == Sharing::Principal {
            self.principal = Some(Principal::new(key));
        }
        self
    }

    /// Returns the connection, if the request's decoder should be kept with it.
    pub(crate) fn decoder_store(&self) -> Option<&Arc<ConnectionStore>> {
        self.store.as_ref().filter(|_| self.cache.ties_decoders())
    }

    /// Returns the stream that a message belongs to. Its sender's style is identified by the
    /// version of SOAP, the body element's name as written, with its prefix, and the `User-Agent`.
    /// All are known when the body opens. On a connection on which several senders alternate, for
    /// example behind a proxy, two senders seldom agree in all three.
    fn stream(&self, operation: usize, version: Version, name: &str) -> Stream {
        let told = || self.cache.hasher().hash_one((version as u8, name, self.agent));
        let prologue = self.prologue.unwrap_or_else(told);
        Stream { operation, prologue, principal: self.principal.clone() }
    }

    /// Returns a memory for a message: an earlier one's if one is waiting. `name` is the body
    /// element's name as written.
    pub(crate) fn check_out<T: Typed>(self, record: &Arc<Record>, version: Version, name: &str) -> Checkout<T>
    where
        Memory<T>: Send + 'static,
    {
        self.check_out_or(record, version, name, || T::vacant(T::view()))
    }

    /// As [`check_out`](Self::check_out), for types without a vacant value of their own.
    pub(crate) fn check_out_or<T>(
        self,
        record: &Arc<Record>,
        version: Version,
        name: &str,
        vacant: fn() -> T,
    ) -> Checkout<T>
    where
        Memory<T>: Send + 'static,
    {
        let (idle, target) = self.find(record, version, name);
        let memory = idle.and_then(Idle::into_parts::<Memory<T>>).map(|(_, memory)| memory);
        let memory = memory.unwrap_or_else(|| Box::new(Memory::new(vacant())));
        Checkout { before: memory.stats(), memory: Some(memory), home: Arc::new(Return { target, vacant }) }
    }

    /// Returns the memory that waits for a message, and the place to return it to.
    fn find(self, record: &Arc<Record>, version: Version, name: &str) -> (Option<Idle<Stream>>, ReturnTarget) {
        let stream = self.stream(record.number(), version, name);
        let MemorySource { cache, store, .. } = self;
        let keeper = store.map(|store| Arc::clone(store.keeper()));
        let idle = cache.take(&stream, keeper.as_deref());
        let is_home = AtomicBool::new(false);
        (idle, ReturnTarget { cache, keeper, stream, record: Arc::clone(record), is_home })
    }

    /// Returns the source of the templates of an operation's responses in a version.
    pub(crate) fn for_templates(self, record: &Record, version: Version) -> TemplateSource {
        let MemorySource { cache, store, principal, .. } = self;
        let stream = Stream { operation: record.number(), prologue: version as u64, principal };
        TemplateSource { cache, store, stream }
    }
}

/// The source of templates, to which they are returned.
#[derive(Debug)]
pub(crate) struct TemplateSource {
    cache: Arc<Cache>,
    store: Option<Arc<ConnectionStore>>,
    stream: Stream,
}

impl TemplateSource {
    /// Returns templates for a response: earlier ones if some are waiting.
    pub(crate) fn take(&self, options: Templating) -> Box<Templates> {
        let idle = self.cache.take(&self.stream, self.keeper());
        let earlier = idle.and_then(Idle::into_parts).map(|(_, templates)| templates);
        let mut templates = earlier.unwrap_or_else(|| Box::new(Templates::new(options)));
        templates.set_pool(self.runs());
        templates
    }

    /// Returns the pool in which responses of different operations share arrays: on one connection,
    /// for one principal. With sharing by operation, arrays are not shared between operations.
    fn runs(&self) -> Option<RunPool> {
        let store = self.store.as_ref().filter(|_| self.cache.sharing() == Sharing::Principal);
        store.map(|store| store.runs(self.stream.principal.as_ref()))
    }

    /// Keeps templates for the next response.
    pub(crate) fn put(self, templates: Box<Templates>) {
        let idle = Idle::new(self.stream.clone(), templates);
        self.cache.put(self.keeper(), idle);
    }

    fn keeper(&self) -> Option<&Keeper> {
        self.store.as_ref().map(|store| &**store.keeper())
    }
}

/// A memory taken out for one message. If it is not turned into a lease, the message was not read
/// in full, and the memory is returned without the message.
#[derive(Debug)]
pub(crate) struct Checkout<T>
where
    Memory<T>: Send + 'static,
{
    /// Present until it is returned.
    memory: Option<Box<Memory<T>>>,
    /// The memory's counters before the message.
    before: DifferentialStats,
    home: Arc<Return<T>>,
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

    /// Returns the counts of the message so far.
    pub(crate) fn counts(&self) -> DifferentialStats {
        self.memory.as_ref().map_or_else(DifferentialStats::default, |memory| memory.stats() - self.before)
    }

    /// Leases the message's value to a handler.
    pub(crate) fn lease(mut self) -> Lease<T> {
        match self.memory.take() {
            Some(memory) => {
                let stats = self.count(&memory);
                if self.before.messages >= SETTLED {
                    self.home.target.record.note_alike(stats.fast_bytes > 0);
                }
                Lease::with_owner(memory, Arc::clone(&self.home) as Arc<dyn LeaseOwner<T>>)
            }
            None => unreachable!("a memory is there until it goes home"),
        }
    }

    /// Returns the memory with its message, which no handler gets.
    pub(crate) fn keep(mut self) {
        if let Some(memory) = self.memory.take() {
            self.home.take_back(memory);
        }
    }

    /// Counts the result of the message.
    fn count(&self, memory: &Memory<T>) -> DifferentialStats {
        let stats = memory.stats() - self.before;
        self.home.target.record.count(&stats);
        stats
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

/// Returns one memory to its place.
#[derive(Debug)]
struct Return<T> {
    target: ReturnTarget,
    /// Creates the value of an empty memory.
    vacant: fn() -> T,
}

/// The place that one memory is returned to.
#[derive(Debug)]
struct ReturnTarget {
    cache: Arc<Cache>,
    keeper: Option<Arc<Keeper>>,
    stream: Stream,
    record: Arc<Record>,
    /// True once the memory was returned.
    is_home: AtomicBool,
}

impl<T> LeaseOwner<T> for Return<T>
where
    Memory<T>: Send + 'static,
{
    fn take_back(&self, mut memory: Box<Memory<T>>) {
        let ReturnTarget { cache, keeper, stream, is_home, .. } = &self.target;
        is_home.store(true, Relaxed);
        memory.drop_unneeded(self.vacant);
        cache.put(keeper.as_deref(), Idle::new(stream.clone(), memory));
    }
}

impl Drop for ReturnTarget {
    fn drop(&mut self) {
        self.record.note_returned(*self.is_home.get_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::super::MemoryBounds;
    use super::*;
    use crate::shelf::charge;
    use deltasoap_core::decode::{Cursor, Decoder, Root, Step};
    use deltasoap_core::{DecodeOptions, Differential, QName};
    use http::Request;
    use proptest::prelude::*;

    /// A cache, and the record of its one operation.
    struct Service {
        cache: Arc<Cache>,
        record: Arc<Record>,
    }

    impl Service {
        fn new(sharing: Sharing, bounds: MemoryBounds) -> Self {
            let cache = Arc::new(Cache::new(bounds, sharing, true, 1));
            Service { cache, record: Arc::new(Record::unregistered(QName::new("", "a"))) }
        }

        /// Checks out a memory for a message without a connection.
        fn check_out(&self, request: Request<()>) -> Option<Checkout<String>> {
            let source = MemorySource::for_request(&request.into_parts().0, &self.cache)?;
            Some(source.check_out(&self.record, Version::Soap11, "a:a"))
        }

        /// Handles a message: returns the mark left by the message it was compared with, and leaves
        /// a mark for the next.
        fn handle(&self, request: Request<()>, mark: &str) -> String {
            let Some(mut checkout) = self.check_out(request) else { return "nowhere".to_owned() };
            let found = checkout.memory().value().trim_end().to_owned();
            checkout.memory = Some(marked(mark));
            checkout.before = DifferentialStats::default();
            drop(checkout.lease());
            found
        }
    }

    /// Returns a memory of a message with this text. All take the same bytes.
    fn marked(mark: &str) -> Box<Memory<String>> {
        let mut message = Message(Box::default());
        let differential = Differential { adaptive: false, ..Differential::default() };
        let mut decoder = Decoder::new(DecodeOptions { differential, ..DecodeOptions::default() });
        decoder.decode(&mut message, format!("<a>{mark:8}</a>").as_bytes()).expect("a message");
        message.0
    }

    struct Message(Box<Memory<String>>);

    impl Root for Message {
        fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
            let (me, is_fresh) = cursor.enter();
            if is_fresh {
                cursor.next_tag()?;
            }
            if cursor.frame(me).state == 0 {
                self.0.decode(cursor, String::view())?;
                cursor.frame(me).state = 1;
            }
            cursor.next_tag().map(drop)
        }
    }

    /// Returns the number of bytes accounted for one memory here.
    fn one() -> usize {
        charge(&*marked(""))
    }

    fn default_service(sharing: Sharing) -> Service {
        Service::new(sharing, MemoryBounds::default())
    }

    fn over(connection: &Connection) -> Request<()> {
        Request::builder().extension(connection.clone()).body(()).expect("a request")
    }

    fn under(mut request: Request<()>, principal: &str) -> Request<()> {
        request.extensions_mut().insert(Principal::new(principal));
        request
    }

    fn plain() -> Request<()> {
        Request::new(())
    }

    #[test]
    fn a_connection_remembers_until_it_ends() {
        let service = default_service(Sharing::Principal);
        let (one, two) = (Connection::new(), Connection::new());
        assert_eq!(service.handle(over(&one), "1"), "");
        assert_eq!(service.handle(over(&two), "2"), "");
        assert_eq!((service.handle(over(&one), ""), service.handle(over(&two), "")), ("1".into(), "2".into()));
        assert!(service.cache.held() > 0);
        drop((one, two));
        assert_eq!(service.cache.held(), 0);
        assert_eq!(service.handle(plain(), ""), "nowhere");
    }

    #[test]
    fn a_principal_is_remembered_over_connections_and_without_one() {
        let service = default_service(Sharing::Principal);
        let connection = Connection::new();
        assert_eq!(service.handle(under(over(&connection), "ada"), "1"), "");
        assert_eq!(service.handle(under(over(&connection), "bob"), "2"), "", "another on the same connection");
        assert_eq!(service.handle(over(&connection), "3"), "", "nobody on the same connection");
        drop(connection);
        assert_eq!(service.handle(under(over(&Connection::new()), "ada"), "4"), "1");
        assert_eq!(service.handle(under(plain(), "ada"), "5"), "4");
        assert_eq!(service.handle(under(plain(), "bob"), "6"), "2");
        assert_eq!(service.handle(under(plain(), "eve"), "7"), "");
    }

    /// A memory without a message is not compared with.
    #[test]
    fn a_value_that_is_not_needed_is_not_kept() {
        let service = default_service(Sharing::Principal);
        let connection = Connection::new();
        let mut checkout = service.check_out(over(&connection)).expect("a memory source");
        *checkout.memory() = Memory::new("value".to_owned());
        let lease = checkout.lease();
        assert_eq!(*lease, "value");
        drop(lease);
        let mut checkout = service.check_out(over(&connection)).expect("a memory source");
        assert_eq!(checkout.memory().value(), "");
    }

    #[test]
    fn sharing_by_operation_is_among_all() {
        let service = default_service(Sharing::Operation);
        let (one, two) = (Connection::new(), Connection::new());
        assert_eq!(service.handle(under(over(&one), "ada"), "1"), "");
        assert_eq!(service.handle(over(&two), "2"), "", "what a connection has is its own while it lasts");
        assert_eq!(service.handle(over(&one), "3"), "1", "whoever it is");
        drop(one);
        assert_eq!(service.handle(over(&Connection::new()), "4"), "3");
        assert_eq!(service.handle(plain(), "5"), "4");
    }

    #[test]
    fn senders_of_different_styles_are_kept_apart() {
        let service = default_service(Sharing::Principal);
        let connection = Connection::new();
        let handle = |version, name, agent: &str| {
            let mut request = over(&connection);
            request.headers_mut().insert(USER_AGENT, agent.parse().expect("a value"));
            let source = MemorySource::for_request(&request.into_parts().0, &service.cache).expect("a memory source");
            let mut checkout = source.check_out::<String>(&service.record, version, name);
            let is_new = checkout.memory().value().is_empty();
            checkout.memory = Some(marked("x"));
            drop(checkout.lease());
            is_new
        };
        for is_new in [true, false] {
            assert_eq!(handle(Version::Soap11, "a:a", "x"), is_new);
            assert_eq!(handle(Version::Soap12, "a:a", "x"), is_new);
            assert_eq!(handle(Version::Soap11, "b:a", "x"), is_new);
            assert_eq!(handle(Version::Soap11, "a:a", "y"), is_new);
        }
    }

    #[test]
    fn what_is_out_is_nobody_elses() {
        let service = default_service(Sharing::Principal);
        let connection = Connection::new();
        service.handle(over(&connection), "1");
        let out = service.check_out(over(&connection)).expect("a memory source").lease();
        assert_eq!(out.trim_end(), "1");
        assert_eq!(service.handle(over(&connection), "2"), "", "while the first is out");
        assert_eq!(out.trim_end(), "1");
        drop(out);
        assert_eq!(service.handle(over(&connection), ""), "1");
        assert_eq!(service.cache.held(), 2 * one());
    }

    #[test]
    fn what_comes_home_after_its_connection_goes_to_its_owner() {
        let service = default_service(Sharing::Principal);
        for (principal, found) in [(None, "nowhere"), (Some("ada"), "late")] {
            let connection = Connection::new();
            let request = || principal.into_iter().fold(over(&connection), under);
            service.handle(request(), "late");
            let out = service.check_out(request()).expect("a memory source").lease();
            drop(connection);
            assert_eq!(service.cache.held(), 0);
            drop(out);
            assert_eq!(service.handle(principal.into_iter().fold(plain(), under), ""), found);
        }
    }

    #[test]
    fn a_message_not_read_leaves_its_memory_behind() {
        let service = default_service(Sharing::Principal);
        let connection = Connection::new();
        drop(service.check_out(over(&connection)));
        assert_eq!(service.cache.held(), charge(&Memory::new(String::new())));
    }

    #[test]
    fn a_request_taken_for_good_is_noted() {
        let service = default_service(Sharing::Principal);
        let connection = Connection::new();
        for _ in 0..8 {
            assert!(!service.record.skips_memory());
            let _ = service.check_out(over(&connection)).expect("a memory source").lease().into_owned();
        }
        assert!(service.record.skips_memory());
        service.handle(over(&connection), "");
        assert!(!service.record.skips_memory());
    }

    #[test]
    fn what_is_tied_to_a_decoder_does_not_outlive_its_connection() {
        let cache = Arc::new(Cache::new(MemoryBounds::default(), Sharing::Operation, false, 1));
        let service = Service { cache, ..default_service(Sharing::Operation) };
        let connection = Connection::new();
        assert_eq!(service.handle(over(&connection), "1"), "");
        assert_eq!(service.handle(over(&connection), "2"), "1");
        drop(connection);
        assert_eq!(service.cache.held(), 0);
        assert_eq!(service.handle(under(plain(), "ada"), ""), "nowhere");
    }

    #[test]
    fn bounds_on_number_move_the_oldest_on() {
        let bounds = MemoryBounds { per_connection: 1, per_principal: 2, ..MemoryBounds::default() };
        let service = Service::new(Sharing::Principal, bounds);
        let connection = Connection::new();
        let mut leases: Vec<_> = (0..5)
            .map(|number| {
                let mut checkout = service.check_out(under(over(&connection), "ada")).expect("a memory source");
                checkout.memory = Some(marked(&number.to_string()));
                checkout.lease()
            })
            .collect();
        leases.drain(..).for_each(drop);
        assert_eq!(service.cache.held(), 3 * one(), "one with the connection, two with the principal");
        assert_eq!(service.handle(under(over(&connection), "ada"), "x"), "4");
        assert_eq!(service.handle(under(plain(), "ada"), "y"), "3");
    }

    #[test]
    fn a_bound_on_bytes_drops_what_was_not_used_for_long() {
        let bounds = MemoryBounds { total_bytes: 3 * one(), ..MemoryBounds::default() };
        let service = Service::new(Sharing::Principal, bounds);
        let connections: Vec<_> = (0..20).map(|_| Connection::new()).collect();
        for connection in &connections {
            service.handle(over(connection), "x");
            assert!(service.cache.held() <= 3 * one());
        }
        assert_eq!((service.cache.held(), service.cache.evicted()), (3 * one(), 17));
        let remembered = connections.iter().filter(|&connection| service.handle(over(connection), "") == "x").count();
        assert!(remembered <= 3);
        let none = MemoryBounds { total_bytes: one() - 1, ..MemoryBounds::default() };
        let service = Service::new(Sharing::Principal, none);
        assert_eq!((service.handle(over(&connections[0]), "x"), service.cache.held()), (String::new(), 0));
    }

    #[test]
    fn connections_of_one_request_are_found_out() {
        let service = default_service(Sharing::Principal);
        for _ in 0..8 {
            assert_eq!(service.handle(over(&Connection::new()), ""), "");
        }
        assert_eq!(service.handle(under(over(&Connection::new()), "ada"), ""), "", "who can be met again");
        let connection = Connection::new();
        assert_eq!(service.handle(over(&connection), ""), "nowhere");
        assert_eq!(service.handle(over(&connection), "2"), "", "so there are more");
        assert_eq!(service.handle(over(&connection), ""), "2");
        drop(connection);
        assert_eq!(service.handle(over(&Connection::new()), ""), "");
    }

    #[test]
    fn owners_who_came_once_do_not_add_up() {
        let bounds = MemoryBounds { total_bytes: 10 * one(), ..MemoryBounds::default() };
        let service = Service::new(Sharing::Principal, bounds);
        for number in 0..10_000 {
            service.handle(under(plain(), &number.to_string()), "x");
        }
        assert!(service.cache.owners() < 500, "{}", service.cache.owners());
    }

    proptest! {
        /// In any order of messages, the count equals the memories on the shelves, is within the
        /// bound, and is zero at the end.
        #[test]
        fn what_is_counted_is_what_is_held(
            steps in proptest::collection::vec((0..6_u8, 0..4_usize, 0..3_u8), 1..80),
            by_operation: bool,
            room in 0..8_usize,
        ) {
            let sharing = if by_operation { Sharing::Operation } else { Sharing::Principal };
            let bounds = MemoryBounds { per_connection: 2, per_principal: 2, per_operation: 3, total_bytes: room * one() };
            let service = Service::new(sharing, bounds);
            let mut connections: Vec<_> = (0..4).map(|_| Connection::new()).collect();
            let mut out = Vec::new();
            for (step, index, principal) in steps {
                let request = over(&connections[index]);
                let request = if principal > 0 { under(request, &principal.to_string()) } else { request };
                match step {
                    0 | 1 => out.extend(service.check_out(request)),
                    2 | 3 => drop(out.pop().map(Checkout::lease)),
                    4 if !out.is_empty() => drop(out.remove(0)),
                    _ => connections[index] = Connection::new(),
                }
                prop_assert_eq!(service.cache.held(), service.cache.counted_anew());
                prop_assert_eq!(service.cache.held(), service.cache.held_by(0));
                prop_assert!(service.cache.held() <= room * one());
            }
            drop((connections, out));
            prop_assert!(sharing == Sharing::Operation || service.cache.held() <= 4 * one());
        }
    }
}

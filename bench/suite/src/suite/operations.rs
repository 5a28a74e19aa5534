//! The messages of `suite.wsdl` as Rust types, and their values.
//!
//! A type of items is a [`Content`]: the content of a list or an octet string.
//! [`operations!`](self) creates from each the messages of its three operations, our service's
//! handlers for them, and calls of them by our client. Those of `suite-encoded.wsdl` are in
//! [`encoded`].

use anyhow::Result;
use deltasoap::lexical::Base64;
use deltasoap::server::SoapServiceBuilder;
use deltasoap::soap::Envelope;
use deltasoap::{Fault, Lease, Message, Soap};
use deltasoap_streams::arrays;
use deltasoap_streams::checksum::{self, Checksum};
use deltasoap_streams::prng::SplitMix64;
use deltasoap_streams::similar::{self, Changes};

use super::calls::{Answer, Calls, Setup};
use super::definition::{Action, Change, Operation, Similarity};
use super::encoded;
use super::values::{MAX_ITEMS, number, number_sum, wide};
use crate::engine::Session;
use crate::messages::{Event, Mio, event_tuples, tuples};

/// The content of a message: items, or octets.
pub trait Content: Clone + Send + Sync + 'static {
    /// Returns the items of a `receive` operation: a function of their number alone, as
    /// `suite.wsdl` requires.
    fn generated(n: usize) -> Self;

    /// Returns values to send, each after its predecessor; the first one follows the last.
    fn ring(n: usize, similarity: &Similarity) -> Vec<Self>;

    /// Returns the number of items, or of octets.
    fn count(&self) -> usize;

    /// Returns the checksum of the peer protocol.
    fn checksum(&self) -> String;
}

/// Number of messages in a ring with different values.
const RING: usize = 8;
/// Returns the numbers 1, 2, ... n.
fn numbers(n: usize) -> impl Iterator<Item = i32> {
    1..=i32::try_from(n).unwrap_or(i32::MAX)
}

/// Returns a ring of changing values; a single value if none changes.
fn changed<T: Clone + PartialEq>(
    first: &[T],
    similarity: &Similarity,
    draw: impl FnMut(&mut SplitMix64) -> T,
) -> Vec<Vec<T>> {
    if similarity.changed == 0 {
        return vec![first.to_vec()];
    }
    let changes = Changes { percent: similarity.changed, partitions: similarity.clusters };
    similar::changed(first, changes, RING, draw)
}

impl Content for Vec<i32> {
    fn generated(n: usize) -> Self {
        numbers(n).collect()
    }

    fn ring(n: usize, similarity: &Similarity) -> Vec<Self> {
        changed(&arrays::ints(n), similarity, similar::int(n))
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn checksum(&self) -> String {
        checksum::ints(self)
    }
}

impl Content for Vec<f64> {
    fn generated(n: usize) -> Self {
        numbers(n).map(|i| f64::from(i).sqrt()).collect()
    }

    fn ring(n: usize, similarity: &Similarity) -> Vec<Self> {
        let first = arrays::hard_doubles(n);
        match similarity.change {
            Change::Values => changed(&first, similarity, similar::hard_double),
            Change::Longer => similar::one_changed(&first, RING, false),
            Change::Insert => similar::inserted(&first, RING),
        }
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn checksum(&self) -> String {
        checksum::doubles(self)
    }
}

impl Content for Vec<String> {
    fn generated(n: usize) -> Self {
        numbers(n).map(wide).collect()
    }

    fn ring(n: usize, similarity: &Similarity) -> Vec<Self> {
        changed(&arrays::strings(n), similarity, similar::string)
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn checksum(&self) -> String {
        checksum::strings(self)
    }
}

impl Content for Vec<Mio> {
    fn generated(n: usize) -> Self {
        arrays::mios(n).into_iter().map(Mio::from).collect()
    }

    fn ring(n: usize, similarity: &Similarity) -> Vec<Self> {
        let ring = changed(&arrays::mios(n), similarity, similar::mio(n));
        ring.into_iter().map(|mios| mios.into_iter().map(Mio::from).collect()).collect()
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn checksum(&self) -> String {
        checksum::mios(&tuples(self))
    }
}

impl Content for Vec<Event> {
    fn generated(n: usize) -> Self {
        arrays::events(n).into_iter().map(Event::from).collect()
    }

    /// Returns one message: there are no streams of similar events.
    fn ring(n: usize, _: &Similarity) -> Vec<Self> {
        vec![Self::generated(n)]
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn checksum(&self) -> String {
        checksum::events(&event_tuples(self))
    }
}

impl Content for Base64 {
    fn generated(n: usize) -> Self {
        Base64((0..n).map(|index| (index % 256) as u8).collect())
    }

    fn ring(n: usize, similarity: &Similarity) -> Vec<Self> {
        let octets = changed(&arrays::bytes(n), similarity, |random| random.below(256) as u8);
        octets.into_iter().map(Base64).collect()
    }

    fn count(&self) -> usize {
        self.0.len()
    }

    fn checksum(&self) -> String {
        checksum::bytes(&self.0)
    }
}

/// An empty request.
#[derive(Debug, Clone, Soap)]
#[soap(namespace = "urn:bench", element = "echoVoid")]
pub struct EchoVoid {}

/// An empty response.
#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "echoVoidResponse")]
pub struct EchoVoidResponse {}

impl Answer for EchoVoidResponse {
    fn checksum(&self) -> String {
        Checksum::new().hex()
    }
}

/// Encodes a message in full.
fn written<T: Message>(message: &T) -> Result<Vec<u8>> {
    Ok(Envelope::new(message).to_vec()?)
}

/// Creates a module for each type of items: messages, handlers, calls.
macro_rules! operations {
    ($($module:ident = $items:literal, $field:ident: $content:ty, $names:tt;)*) => {
        $(operations!(@one $module, $field: $content, $names);)*

        /// Adds all operations to a service.
        pub fn serve(builder: SoapServiceBuilder) -> SoapServiceBuilder {
            let builder = builder.operation(async |_: Lease<EchoVoid>| Ok::<_, Fault>(EchoVoidResponse {}));
            $(let builder = $module::serve(builder);)*
            encoded::serve(builder)
        }

        /// Opens calls of an operation with `n` items by our client. Returns `None` if there is no
        /// such type of items.
        ///
        /// # Errors
        /// When the first call fails.
        pub fn open(operation: &Operation, n: usize, similarity: &Similarity, setup: &Setup) -> Result<Option<Box<dyn Session>>> {
            if operation.action == Action::Void {
                let expected = Checksum::new().hex();
                return Ok(Some(Box::new(Calls::<EchoVoid, EchoVoidResponse>::open(setup, vec![(EchoVoid {}, expected)])?)));
            }
            match operation.items() {
                $($items => $module::open(operation.action, n, similarity, setup).map(Some),)*
                _ => encoded::open(operation, n, setup),
            }
        }

        /// Returns the message that shows a peer what to send, and the checksum of the expected
        /// response. Returns `None` if there is no such type of items.
        ///
        /// # Errors
        /// When the message cannot be written.
        pub fn request(operation: &Operation, n: usize, similarity: &Similarity) -> Result<Option<(Vec<u8>, String)>> {
            if operation.action == Action::Void {
                return Ok(Some((Vec::new(), Checksum::new().hex())));
            }
            match operation.items() {
                $($items => $module::request(operation.action, n, similarity).map(Some),)*
                _ => Ok(encoded::request(operation, n)),
            }
        }
    };

    (@one $module:ident, $field:ident: $content:ty, [$echo:literal, $echoed:literal, $send:literal, $sent:literal, $receive:literal, $received:literal]) => {
        mod $module {
            use super::*;

            #[derive(Debug, Clone, Soap)]
            #[soap(namespace = "urn:bench", element = $echo)]
            pub struct Echo { $field: $content }

            #[derive(Debug, Soap)]
            #[soap(namespace = "urn:bench", element = $echoed)]
            pub struct Echoed { $field: $content }

            #[derive(Debug, Clone, Soap)]
            #[soap(namespace = "urn:bench", element = $send)]
            pub struct Send { $field: $content }

            #[derive(Debug, Soap)]
            #[soap(namespace = "urn:bench", element = $sent)]
            pub struct Sent { count: i32 }

            #[derive(Debug, Clone, Soap)]
            #[soap(namespace = "urn:bench", element = $receive)]
            pub struct Receive { count: i32 }

            #[derive(Debug, Soap)]
            #[soap(namespace = "urn:bench", element = $received)]
            pub struct Received { $field: $content }

            impl Answer for Echoed {
                fn checksum(&self) -> String {
                    self.$field.checksum()
                }
            }

            impl Answer for Sent {
                fn checksum(&self) -> String {
                    checksum::ints(&[self.count])
                }
            }

            impl Answer for Received {
                fn checksum(&self) -> String {
                    self.$field.checksum()
                }
            }

            /// An echo returns a copy, so that the request stays in the service for comparison with
            /// the next one.
            pub fn serve(builder: SoapServiceBuilder) -> SoapServiceBuilder {
                builder
                    .operation(async |request: Lease<Echo>| Ok::<_, Fault>(Echoed { $field: request.$field.clone() }))
                    .operation(async |request: Lease<Send>| Ok::<_, Fault>(Sent { count: number(request.$field.count()) }))
                    .operation(async |request: Lease<Receive>| {
                        let count = usize::try_from(request.count).map_err(|_| Fault::sender("the count is negative"))?;
                        Ok::<_, Fault>(Received { $field: <$content>::generated(count.min(MAX_ITEMS)) })
                    })
            }

            pub fn open(action: Action, n: usize, similarity: &Similarity, setup: &Setup) -> Result<Box<dyn Session>> {
                let ring = || <$content>::ring(n, similarity).into_iter();
                Ok(match action {
                    Action::Send => {
                        let requests = ring().map(|items| (number_sum(items.count()), Send { $field: items }));
                        Box::new(Calls::<Send, Sent>::open(setup, requests.map(|(sum, request)| (request, sum)).collect())?)
                    }
                    Action::Receive => {
                        let request = (Receive { count: number(n) }, <$content>::generated(n).checksum());
                        Box::new(Calls::<Receive, Received>::open(setup, vec![request])?)
                    }
                    Action::Void | Action::Echo => {
                        let requests = ring().map(|items| (items.checksum(), Echo { $field: items }));
                        Box::new(Calls::<Echo, Echoed>::open(setup, requests.map(|(sum, request)| (request, sum)).collect())?)
                    }
                })
            }

            pub fn request(action: Action, n: usize, similarity: &Similarity) -> Result<(Vec<u8>, String)> {
                if action == Action::Receive {
                    return Ok((Vec::new(), <$content>::generated(n).checksum()));
                }
                let items = <$content>::ring(n, similarity).swap_remove(0);
                let sum = if action == Action::Send { number_sum(items.count()) } else { items.checksum() };
                Ok((written(&Send { $field: items })?, sum))
            }
        }
    };
}

operations! {
    ints = "Ints", item: Vec<i32>,
        ["echoInts", "echoIntsResponse", "sendInts", "sendIntsResponse", "receiveInts", "receiveIntsResponse"];
    doubles = "Doubles", item: Vec<f64>,
        ["echoDoubles", "echoDoublesResponse", "sendDoubles", "sendDoublesResponse", "receiveDoubles", "receiveDoublesResponse"];
    strings = "Strings", item: Vec<String>,
        ["echoStrings", "echoStringsResponse", "sendStrings", "sendStringsResponse", "receiveStrings", "receiveStringsResponse"];
    mios = "Mios", item: Vec<Mio>,
        ["echoMios", "echoMiosResponse", "sendMios", "sendMiosResponse", "receiveMios", "receiveMiosResponse"];
    events = "Events", item: Vec<Event>,
        ["echoEvents", "echoEventsResponse", "sendEvents", "sendEventsResponse", "receiveEvents", "receiveEventsResponse"];
    base64 = "Base64", data: Base64,
        ["echoBase64", "echoBase64Response", "sendBase64", "sendBase64Response", "receiveBase64", "receiveBase64Response"];
}

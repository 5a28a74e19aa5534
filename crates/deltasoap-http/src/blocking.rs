//! A client for programs without `async`, whose calls return when they are done.
//!
//! A blocking client is an ordinary [`crate::Client`] with its own Tokio runtime. A call runs on
//! the thread that makes it. A background thread drives connections and timers; without it,
//! connections closed by servers would go unnoticed between calls. Clones share both; the thread
//! ends with the last clone.
//!
//! ```no_run
//! use deltasoap::Soap;
//! use deltasoap::client::blocking::Client;
//!
//! #[derive(Soap)]
//! #[soap(namespace = "urn:hello", message, response = Greeting)]
//! struct Greet {
//!     name: String,
//! }
//!
//! #[derive(Soap)]
//! #[soap(namespace = "urn:hello", message)]
//! struct Greeting {
//!     text: String,
//! }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let client = Client::new("http://localhost:8080/hello")?;
//!     let greeting = client.call(&Greet { name: "Ada".to_owned() })?;
//!     println!("{}", greeting.text);
//!     Ok(())
//! }
//! ```
//!
//! # Panics
//!
//! Calls panic within `async` code, because they would block its thread. Use [`crate::Client`]
//! there, or `tokio::task::spawn_blocking`.

use crate::body::Body;
use crate::client::{CallError, CallOptions, ClientBuildError, ClientBuilder, HttpTransport, Response};
use crate::error::BoxError;
use bytes::Bytes;
use deltasoap_core::{Lease, Message, RequestMessage, Typed};
use http::Request;
use std::fmt;
use std::io;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use tower::Service;

/// Calls the operations of one endpoint, and waits for each.
///
/// Clones share their connections, and may be used by several threads at once.
#[derive(Debug, Clone)]
pub struct Client<S = HttpTransport> {
    client: crate::client::Client<S>,
    background: Arc<Background>,
}

impl Client {
    /// Creates a client of the endpoint at a URL, with default settings.
    ///
    /// # Errors
    /// Returns an error if the URL is malformed or names no host, or the background thread cannot
    /// be started.
    pub fn new(url: impl Into<String>) -> Result<Self, StartError> {
        Self::builder(url).build_blocking()
    }

    /// Starts to build a client of the endpoint at a URL; [`ClientBuilder::build_blocking`]
    /// finishes it.
    pub fn builder(url: impl Into<String>) -> ClientBuilder {
        crate::client::Client::builder(url)
    }
}

impl ClientBuilder {
    /// Builds a client for programs without `async`, over HTTP with its own connection pool.
    ///
    /// # Errors
    /// Returns an error if the URL is malformed or names no host, or the background thread cannot
    /// be started.
    pub fn build_blocking(self) -> Result<Client, StartError> {
        self.build_blocking_with(HttpTransport::new())
    }

    /// Builds a client for programs without `async` that sends its requests through a service.
    ///
    /// # Errors
    /// Returns the same errors as [`build_blocking`](Self::build_blocking).
    pub fn build_blocking_with<S>(self, transport: S) -> Result<Client<S>, StartError> {
        let client = self.build_with(transport).map_err(StartError::Client)?;
        Ok(Client { client, background: Arc::new(Background::start().map_err(StartError::Runtime)?) })
    }
}

impl<S> Client<S> {
    /// Returns the underlying client, for its counters.
    pub fn inner(&self) -> &crate::client::Client<S> {
        &self.client
    }

    /// Waits for another future related to calls, such as the next part of a response:
    /// `client.wait(response.attachments.next())`.
    ///
    /// # Panics
    /// Panics within `async` code.
    pub fn wait<F: Future>(&self, future: F) -> F::Output {
        self.background.wait(future)
    }
}

impl<S, B> Client<S>
where
    S: Service<Request<Body>, Response = http::Response<B>> + Clone,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    /// Calls an operation; see [`Client::call`](crate::Client::call).
    ///
    /// # Errors
    /// Returns a fault, or another reason why there is no response.
    ///
    /// # Panics
    /// Panics within `async` code, like all calls.
    pub fn call<R: RequestMessage>(&self, request: &R) -> Result<R::Response, CallError> {
        self.wait(self.client.call(request))
    }

    /// Calls an operation with settings of this call; see
    /// [`Client::call_with`](crate::Client::call_with).
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    pub fn call_with<R: RequestMessage>(
        &self,
        request: &R,
        options: CallOptions,
    ) -> Result<Response<R::Response>, CallError> {
        self.wait(self.client.call_with(request, options))
    }

    /// Calls an operation whose response is of the type that the caller names; see
    /// [`Client::call_as`](crate::Client::call_as).
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    pub fn call_as<Resp: Message>(&self, request: &impl Message) -> Result<Resp, CallError> {
        self.wait(self.client.call_as(request))
    }

    /// Like [`call_as`](Self::call_as), with settings of this call.
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    pub fn call_as_with<Resp: Message>(
        &self,
        request: &impl Message,
        options: CallOptions,
    ) -> Result<Response<Resp>, CallError> {
        self.wait(self.client.call_as_with(request, options))
    }

    /// Calls an operation whose responses resemble each other; see
    /// [`Client::call_leased`](crate::Client::call_leased).
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    pub fn call_leased<R: RequestMessage>(&self, request: &R) -> Result<Lease<R::Response>, CallError> {
        self.wait(self.client.call_leased(request))
    }

    /// Like [`call_leased`](Self::call_leased), with settings of this call.
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    pub fn call_leased_with<R: RequestMessage>(
        &self,
        request: &R,
        options: CallOptions,
    ) -> Result<Response<Lease<R::Response>>, CallError> {
        self.wait(self.client.call_leased_with(request, options))
    }

    /// Calls an operation whose request contains a list of any length; see
    /// [`Client::call_overlaid`](crate::Client::call_overlaid).
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    pub fn call_overlaid<R, I>(&self, request: &R, items: I) -> Result<R::Response, CallError>
    where
        R: RequestMessage,
        I: IntoIterator<Item: Typed + Send + 'static, IntoIter: Send + 'static>,
    {
        self.wait(self.client.call_overlaid(request, items))
    }

    /// Calls an operation whose response contains a list of any length, and returns its items while
    /// they arrive; see [`Client::call_items`](crate::Client::call_items).
    ///
    /// # Errors
    /// Returns those errors of [`call`](Self::call) that occur before the first item.
    pub fn call_items<R, Item, List>(&self, request: &R, list: List) -> Result<Items<R::Response, Item>, CallError>
    where
        R: RequestMessage,
        Item: Send + 'static,
        List: Fn(&mut R::Response) -> &mut Vec<Item> + Send + Sync + 'static,
    {
        let items = self.wait(self.client.call_items(request, list))?;
        Ok(Items { items, background: Arc::clone(&self.background) })
    }

    /// Sends a one-way message.
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    pub fn send<Req: Message>(&self, request: &Req) -> Result<(), CallError> {
        self.wait(self.client.send(request))
    }

    /// Sends a one-way message with settings of this call.
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    pub fn send_with<Req: Message>(&self, request: &Req, options: CallOptions) -> Result<(), CallError> {
        self.wait(self.client.send_with(request, options))
    }
}

/// The items of a list. Each is waited for; see [`Items`](crate::Items).
#[derive(Debug)]
pub struct Items<M, T> {
    items: crate::items::Items<M, T, CallError>,
    background: Arc<Background>,
}

impl<M, T> Items<M, T> {
    /// Reads the rest of the response, drops its items, and returns the response without them.
    ///
    /// # Errors
    /// Returns an error if the response is invalid, or does not arrive.
    pub fn finish(self) -> Result<M, CallError> {
        self.background.wait(self.items.finish())
    }
}

impl<M, T> Iterator for Items<M, T> {
    type Item = Result<T, CallError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.background.wait(self.items.next())
    }
}

/// The runtime that drives connections between two calls.
struct Background {
    /// Present until it is dropped.
    runtime: Option<Runtime>,
}

impl Background {
    fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("deltasoap").enable_all().build()?;
        Ok(Background { runtime: Some(runtime) })
    }

    fn wait<F: Future>(&self, future: F) -> F::Output {
        match &self.runtime {
            Some(runtime) => runtime.block_on(future),
            None => unreachable!("the runtime is there until it is dropped"),
        }
    }
}

/// Does not wait for the thread, so that a client may be dropped anywhere.
impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Background").finish_non_exhaustive()
    }
}

/// An error that prevents a blocking client from being created.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The client cannot be built.
    Client(ClientBuildError),
    /// The background thread or its runtime cannot be started.
    Runtime(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Client(error) => error.fmt(f),
            StartError::Runtime(error) => write!(f, "the client's thread cannot be started: {error}"),
        }
    }
}

/// The text contains that of the error inside, so the source is what that error was caused by.
impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StartError::Client(_) => None,
            StartError::Runtime(error) => error.source(),
        }
    }
}

//! Services that are called without a stream.

use super::memory::Connection;
use crate::body::Body;
use http::Request;
use std::task::{Context, Poll};
use tower::Service;

/// Calls a service as over one connection, without any bytes of a protocol: only the toolkit's own
/// time remains.
///
/// If a service is called directly, its requests belong to no connection. This type attaches a
/// [`Connection`], which identifies the memory of earlier messages. Clones share it. A call runs on
/// the task of its caller.
///
/// ```
/// use deltasoap_http::{Client, InMemory, SoapService};
///
/// # fn client(service: SoapService) -> Result<(), deltasoap_http::ClientBuildError> {
/// let client = Client::with_service("http://localhost/", InMemory::new(service))?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct InMemory<S> {
    service: S,
    connection: Connection,
}

impl<S> InMemory<S> {
    /// Creates a new connection to a service.
    pub fn new(service: S) -> Self {
        InMemory { service, connection: Connection::new() }
    }
}

impl<S: Service<Request<Body>>> Service<Request<Body>> for InMemory<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> S::Future {
        request.extensions_mut().insert(self.connection.clone());
        self.service.call(request)
    }
}

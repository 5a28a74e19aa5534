//! The default transport: HTTP/1.1 over a pool of connections.

use super::BoxError;
use crate::Body;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::task::{Context, Poll};
use std::time::Duration;

/// How long connecting may take.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// HTTP/1.1 with keep-alive: connections are pooled, and shared by all clones.
#[derive(Debug, Clone)]
pub struct HttpTransport(Client<HttpConnector, Body>);

impl HttpTransport {
    /// A transport with a pool of its own.
    pub fn new() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT_TIME));
        HttpTransport(Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector))
    }
}

impl Default for HttpTransport {
    fn default() -> Self {
        Self::new()
    }
}

impl tower::Service<Request<Body>> for HttpTransport {
    type Response = Response<Incoming>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<Incoming>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let exchange = self.0.request(request);
        Box::pin(async move { exchange.await.map_err(Into::into) })
    }
}

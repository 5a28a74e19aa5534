//! HTTP/1.1 by hyper, and the choice between it and HTTP/2.

pub(super) mod refused;
mod unread;

pub use unread::HttpRequestBody;

#[cfg(feature = "http2")]
use super::http2;
use super::io::Io;
use super::{Connector, Protocol, Served, Stream, Terms, Unsent};
use crate::body::Body;
use crate::error::BoxError;
use crate::settle::Connections;
use futures_util::future::BoxFuture;
use http::uri::Scheme;
use http::{Request, Response, Uri};
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tower::Service;
use unread::Unread;

/// Maximum size of a request's head in bytes.
const BUFFER: usize = 64 << 10;

/// hyper's default limit on headers. Setting it explicitly would make hyper clear a table for each
/// request.
const HEADERS: usize = 100;

/// HTTP/1.1 (and 1.0, for servers) with keep-alive; with the feature `http2` also HTTP/2.
///
/// Servers take either version, which a connection's first bytes tell: a client may have negotiated
/// HTTP/2 with TLS, or know that the server has it. [Pools](Protocol::pool) send HTTP/1.1, unless
/// they are made by `Http::http2_prior_knowledge`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Http {
    versions: Versions,
}

/// The versions of HTTP that are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Versions {
    /// Servers take all; clients send what a server chooses with TLS, and HTTP/1.1 without.
    #[default]
    Any,
    #[cfg(feature = "http2")]
    Http1,
    /// Clients send HTTP/2 without asking.
    #[cfg(feature = "http2")]
    Http2,
}

#[cfg(feature = "http2")]
impl Http {
    /// HTTP/1.1 alone, also for servers.
    pub fn http1_only() -> Self {
        Http { versions: Versions::Http1 }
    }

    /// HTTP/2, to servers that are known to have it (RFC 9113, 3.3): [pools](Protocol::pool) send
    /// HTTP/2. A server takes HTTP/1.1 as well.
    pub fn http2_prior_knowledge() -> Self {
        Http { versions: Versions::Http2 }
    }
}

impl Protocol for Http {
    type RequestBody = HttpRequestBody;
    type ResponseBody = Incoming;
    type Pool<C: Connector> = HttpPool<C>;

    fn alpn(&self) -> &'static [&'static [u8]] {
        match self.versions {
            #[cfg(feature = "http2")]
            Versions::Any | Versions::Http2 => &[b"h2", b"http/1.1"],
            _ => &[b"http/1.1"],
        }
    }

    fn pool<C: Connector>(&self, connector: C) -> HttpPool<C> {
        let mut builder = Client::builder(Connections);
        builder.pool_timer(TokioTimer::new());
        #[cfg(feature = "http2")]
        builder.http2_only(matches!(self.versions, Versions::Http2));
        HttpPool(builder.build(Plain(connector)))
    }

    async fn serve<T: Stream, S: Served<HttpRequestBody>>(
        &self,
        stream: T,
        service: S,
        mut terms: Terms,
    ) -> Result<(), BoxError> {
        #[cfg(feature = "http2")]
        let stream = match self.versions {
            Versions::Http1 => http2::Opened::unread(stream),
            Versions::Any | Versions::Http2 => match http2::Opened::read(stream, &mut terms).await? {
                Some(opened) if opened.is_http2() => return http2::serve(opened, service, terms).await,
                Some(opened) => opened,
                None => return Ok(()),
            },
        };
        // What found out the version took some of the time for the first head.
        #[cfg(feature = "http2")]
        let limit = Some(stream.since() + terms.head_timeout());
        #[cfg(not(feature = "http2"))]
        let limit = None;
        let begun = Begun::default();
        let begins = begun.clone();
        let service = service_fn(move |request| {
            begins.set();
            let answer = match refused::refusal(&request) {
                None => {
                    let (request, unread) = Unread::watch(request);
                    Ok((service.answer(request), unread))
                }
                Some(refusal) => Err(refusal),
            };
            async move {
                match answer {
                    Ok((answer, unread)) => {
                        let answer = answer.await;
                        if answer.extensions().get::<HangUp>().is_some() {
                            return Err(HangUp);
                        }
                        Ok(unread.settle(answer).await.map(Either::Left))
                    }
                    Err(refusal) => Ok(refusal.map(Either::Right)),
                }
            }
        });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(terms.head_timeout());
        // A client that has closed its sending half may still wait for an answer. The server
        // handles clients that are gone.
        builder.max_buf_size(BUFFER).half_close(true);
        if terms.max_headers() != HEADERS {
            builder.max_headers(terms.max_headers());
        }
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            biased;
            // Checked first, so that an answer given after the signal announces that the connection
            // ends.
            () = begun.stopped(&mut terms) => connection.as_mut().graceful_shutdown(),
            ended = connection.as_mut() => return ended.map_err(ended_by),
            () = begun.is_late(limit) => return Err("the client sends no request".into()),
        }
        connection.await.map_err(ended_by)
    }
}

/// Whether a connection has had a request.
#[derive(Debug, Clone, Default)]
pub(super) struct Begun(Arc<(AtomicBool, Notify)>);

impl Begun {
    pub(super) fn set(&self) {
        if !self.0.0.swap(true, Relaxed) {
            self.0.1.notify_one();
        }
    }

    /// Ends at a time, unless there was a request before.
    async fn is_late(&self, limit: Option<Instant>) {
        if let Some(limit) = limit {
            sleep_until(limit).await;
            if !self.0.0.load(Relaxed) {
                return;
            }
        }
        std::future::pending::<()>().await;
    }

    /// Ends when the connection should end, as the server is asked to stop.
    pub(super) async fn stopped(&self, terms: &mut Terms) {
        terms.stopped().await;
        if !self.0.0.load(Relaxed) {
            tokio::select! {
                () = self.0.1.notified() => {}
                () = terms.last_call() => {}
            }
        }
    }
}

/// In the extensions of a response: [`Http`] closes the connection, in HTTP/2 the stream, and sends
/// nothing of the response. For services that test how clients cope with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HangUp;

impl fmt::Display for HangUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the service closes the connection")
    }
}

impl std::error::Error for HangUp {}

/// Logs requests that hyper rejects by itself: those that are not HTTP.
fn ended_by(error: hyper::Error) -> BoxError {
    if error.is_parse() {
        tracing::info!(target: "deltasoap_http::server::request", %error, "refused");
    }
    error.into()
}

/// Sends requests in HTTP over the connections of a connector, and keeps the connections for later
/// requests.
///
/// It is for URLs of the scheme `http`; [`HttpTransport`](crate::HttpTransport) is for TCP, also
/// with TLS and proxies.
#[derive(Clone)]
pub struct HttpPool<C>(Client<Plain<C>, Body>);

impl<C> fmt::Debug for HttpPool<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpPool").finish_non_exhaustive()
    }
}

impl<C: Connector> Service<Request<Body>> for HttpPool<C> {
    type Response = Response<Incoming>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<Incoming>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let exchange = self.0.request(request);
        Box::pin(async move { exchange.await.map_err(failed) })
    }
}

/// Returns the error of an exchange: an [`Unsent`] if the server has not processed the request.
pub(crate) fn failed(error: hyper_util::client::legacy::Error) -> BoxError {
    #[cfg(feature = "http2")]
    if http2::is_refused(&error) {
        return Unsent(error.into()).into();
    }
    error.into()
}

/// Adapts a connector for hyper's client.
#[derive(Clone)]
struct Plain<C>(C);

impl<C: Connector> Service<Uri> for Plain<C> {
    type Response = Io<C::Stream>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Io<C::Stream>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, url: Uri) -> Self::Future {
        let connector = self.0.clone();
        Box::pin(async move {
            if url.scheme() != Some(&Scheme::HTTP) {
                return Err("this transport supports only `http` URLs".into());
            }
            let stream = connector.connect(&url).await.map_err(|error| Unsent(error.into()))?;
            Ok(Io::new(stream))
        })
    }
}

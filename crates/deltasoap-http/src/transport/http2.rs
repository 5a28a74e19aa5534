//! HTTP/2 by hyper, for servers.
//!
//! A connection begins with a fixed text if it is one of HTTP/2 ([`Opened`]), with and without TLS.
//! The exchanges of a connection run at the same time, so its time limits need more than in
//! HTTP/1.1: [`Exchanges`] knows which ones there are, and which wait for their client.

use super::http1::{Begun, HttpRequestBody};
use super::{Served, Stream, Terms};
use crate::error::BoxError;
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, COOKIE, Entry, HOST, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use pin_project_lite::pin_project;
use std::collections::HashMap;
use std::error::Error as StdError;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::time::{Instant, sleep_until, timeout};

/// What a client sends first (RFC 9113, 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Maximum number of exchanges of a connection at one time; others wait at the client.
const STREAMS: u32 = 100;

/// Maximum size of a request's fields in bytes, as for HTTP/1.1.
const FIELDS: u32 = 64 << 10;

/// Maximum number of bytes of a response that wait for a client's window, beyond one piece.
const AHEAD: usize = 64 << 10;

/// Maximum size of a piece of a response in bytes: that of a frame, unless a client wants larger ones.
const PIECE: usize = 16 << 10;

/// A connection whose first bytes were read to find out its version.
pub(super) struct Opened<T> {
    first: [u8; PREFACE.len()],
    /// Number of bytes in `first`, and how many of them the protocol has read.
    count: usize,
    taken: usize,
    stream: T,
}

impl<T> Opened<T> {
    /// A connection of which nothing was read.
    pub(super) fn unread(stream: T) -> Self {
        Opened { first: [0; PREFACE.len()], count: 0, taken: 0, stream }
    }

    /// Returns true if the connection begins as one of HTTP/2.
    pub(super) fn is_http2(&self) -> bool {
        self.first[..self.count] == PREFACE[..]
    }
}

impl<T: Stream> Opened<T> {
    /// Reads until the version is known, or the stream ends. Returns nothing if the server is asked to
    /// stop before that.
    ///
    /// # Errors
    /// When the stream breaks, or too little arrives in the time for a request's head.
    pub(super) async fn read(stream: T, terms: &mut Terms) -> io::Result<Option<Self>> {
        let mut opened = Self::unread(stream);
        let limit = terms.head_timeout();
        tokio::select! {
            biased;
            read = timeout(limit, opened.read_first()) => read??,
            () = terms.last_call() => return Ok(None),
        }
        Ok(Some(opened))
    }

    async fn read_first(&mut self) -> io::Result<()> {
        while self.count < PREFACE.len() && self.first[..self.count] == PREFACE[..self.count] {
            match self.stream.read(&mut self.first[self.count..]).await? {
                0 => break,
                read => self.count += read,
            }
        }
        Ok(())
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Opened<T> {
    fn poll_read(mut self: Pin<&mut Self>, task: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let left = &self.first[self.taken..self.count];
        if left.is_empty() {
            return Pin::new(&mut self.stream).poll_read(task, buffer);
        }
        let count = left.len().min(buffer.remaining());
        buffer.put_slice(&left[..count]);
        self.taken += count;
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Opened<T> {
    fn poll_write(mut self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(task, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(task, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(task)
    }
}

/// Serves the exchanges of a connection, until the client ends it, nothing happens for too long, or the
/// server is asked to stop.
pub(super) async fn serve<T: Stream, S: Served<HttpRequestBody>>(
    stream: Opened<T>,
    service: S,
    mut terms: Terms,
) -> Result<(), BoxError> {
    let (exchanges, limits) = (Exchanges::default(), terms.clone());
    let (begins, begun, max_headers) = (exchanges.clone(), Begun::default(), terms.max_headers());
    let first = begun.clone();
    let service = service_fn(move |request| {
        let answer = accepted(request, max_headers).map(|request| service.answer(request));
        let exchange = begins.begin();
        first.set();
        async move {
            let response = match answer {
                Ok(answer) => answer.await.map(Either::Left),
                Err(refusal) => refusal.map(Either::Right),
            };
            if response.extensions().get::<super::HangUp>().is_some() {
                return Err(super::HangUp);
            }
            Ok(of_http2(response).map(|body| Sent { body, rest: Bytes::new(), exchange }))
        }
    });
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.timer(TokioTimer::new()).max_concurrent_streams(STREAMS);
    builder.max_header_list_size(FIELDS).max_send_buf_size(AHEAD);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let mut is_ending = false;
    loop {
        tokio::select! {
            biased;
            () = begun.stopped(&mut terms), if !is_ending => {}
            ended = connection.as_mut() => return ended.map_err(BoxError::from),
            overdue = exchanges.overdue(&limits) => match overdue {
                Overdue::Idle if !is_ending => {}
                _ => return Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read").into()),
            },
        }
        is_ending = true;
        // The client has some time to end the connection.
        exchanges.state().last = Instant::now();
        connection.as_mut().graceful_shutdown();
    }
}

/// Returns true if a server says that it has not processed a request (RFC 9113, 8.7).
pub(super) fn is_refused(error: &(dyn StdError + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |cause| (*cause).source());
    let reason = causes.find_map(|cause| cause.downcast_ref::<h2::Error>());
    reason.is_some_and(|error| error.is_remote() && error.reason() == Some(h2::Reason::REFUSED_STREAM))
}

/// Returns a request as those of HTTP/1.1 are.
///
/// # Errors
/// Returns the response to a request that must be rejected.
fn accepted(request: Request<Incoming>, max_headers: usize) -> Result<Request<HttpRequestBody>, Response<Full<Bytes>>> {
    let (mut head, body) = request.into_parts();
    if head.headers.len() > max_headers {
        return Err(rejected(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "The request has too many fields.\n"));
    }
    let authority = head.uri.authority().map(|authority| HeaderValue::from_str(authority.as_str()));
    match (authority, head.headers.entry(HOST)) {
        (None, _) => {}
        (Some(Ok(authority)), Entry::Vacant(host)) => {
            host.insert(authority);
        }
        (Some(Ok(authority)), Entry::Occupied(host)) if host.get() == authority && host.iter().count() == 1 => {}
        // RFC 9113, 8.3.1.
        _ => return Err(rejected(StatusCode::BAD_REQUEST, "The Host header is not that of :authority.\n")),
    }
    join_cookies(&mut head.headers);
    Ok(Request::from_parts(head, HttpRequestBody::unwatched(body)))
}

fn rejected(status: StatusCode, reason: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(reason));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// Joins the fields with cookies, which a client may have split (RFC 9113, 8.2.3).
fn join_cookies(headers: &mut HeaderMap) {
    let mut cookies = headers.get_all(COOKIE).iter();
    if cookies.by_ref().nth(1).is_none() {
        return;
    }
    let all: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if let Ok(joined) = HeaderValue::from_bytes(&all.join(&b"; "[..])) {
        headers.insert(COOKIE, joined);
    }
}

/// Removes the fields that HTTP/2 does not have (RFC 9113, 8.2.2).
fn of_http2<B>(mut response: Response<B>) -> Response<B> {
    let (keep_alive, proxy) = (HeaderName::from_static("keep-alive"), HeaderName::from_static("proxy-connection"));
    for name in [CONNECTION, TRANSFER_ENCODING, UPGRADE, keep_alive, proxy] {
        response.headers_mut().remove(name);
    }
    response
}

/// The exchanges of a connection.
#[derive(Debug, Clone, Default)]
struct Exchanges(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// Since when an exchange waits for its client to take a part of its response, by the number of the
    /// exchange; `None` while it waits for the service.
    open: HashMap<u64, Option<Instant>>,
    next: u64,
    /// When there was an exchange last.
    last: Instant,
}

impl Default for State {
    fn default() -> Self {
        State { open: HashMap::new(), next: 0, last: Instant::now() }
    }
}

/// A time limit that was exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overdue {
    /// There was no exchange for too long.
    Idle,
    /// A client takes nothing of a response.
    Stalled,
}

impl Exchanges {
    fn begin(&self) -> Exchange {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.open.insert(number, None);
        Exchange { number, exchanges: self.clone() }
    }

    /// Waits until a time limit is exceeded.
    async fn overdue(&self, terms: &Terms) -> Overdue {
        let (idle, write) = (terms.head_timeout(), terms.write_timeout());
        loop {
            let found = self.state().overdue(Instant::now(), idle, write);
            match found {
                Ok(overdue) => return overdue,
                Err(until) => sleep_until(until).await,
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the limit that is exceeded, or else the earliest time at which one can be.
    fn overdue(&self, now: Instant, idle: Duration, write: Duration) -> Result<Overdue, Instant> {
        let stalls = self.open.values().flatten().map(|since| (*since + write, Overdue::Stalled));
        let idles = self.open.is_empty().then_some((self.last + idle, Overdue::Idle));
        let first = stalls.chain(idles).min_by_key(|(at, _)| *at);
        match first {
            Some((at, overdue)) if at <= now => Ok(overdue),
            // What begins from now on has its whole time.
            first => Err(first.map_or(now + idle.min(write), |(at, _)| at.min(now + idle.min(write)))),
        }
    }
}

/// An exchange, until it is dropped.
#[derive(Debug)]
struct Exchange {
    number: u64,
    exchanges: Exchanges,
}

impl Exchange {
    fn waits_for_client(&self, waits: bool) {
        self.exchanges.state().open.insert(self.number, waits.then(Instant::now));
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let mut state = self.exchanges.state();
        state.open.remove(&self.number);
        state.last = Instant::now();
    }
}

pin_project! {
    /// The body of a response, in pieces: hyper asks for the next one when the client has room for it.
    struct Sent<B> {
        #[pin]
        body: B,
        // The rest of a frame of the body.
        rest: Bytes,
        exchange: Exchange,
    }
}

impl<B: Body<Data = Bytes>> Body for Sent<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.project();
        if this.rest.is_empty() {
            this.exchange.waits_for_client(false);
            match ready!(this.body.poll_frame(task)).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => *this.rest = data,
                Some(Ok(Err(frame))) => return Poll::Ready(Some(Ok(frame))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        this.exchange.waits_for_client(true);
        let piece = this.rest.split_to(this.rest.len().min(PIECE));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, mut hint) = (self.rest.len() as u64, self.body.size_hint());
        match hint.exact() {
            Some(exact) => SizeHint::with_exact(exact + rest),
            None => {
                hint.set_lower(hint.lower() + rest);
                hint
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncWriteExt, duplex};

    #[tokio::test]
    async fn the_version_is_found_in_pieces_of_any_size() {
        let post = b"POST / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec();
        let long = [&PREFACE[..], b"more"].concat();
        let texts = [long.clone(), post, PREFACE[..23].to_vec(), b"PRI * HTTP/1.1\r\n\r\nSM\r\n\r\n".to_vec(), vec![]];
        for (text, is_http2) in texts.iter().zip([true, false, false, false, false]) {
            for piece in 1..text.len().max(2) {
                let (mut client, server) = duplex(piece);
                let text = text.clone();
                let writing = tokio::spawn({
                    let text = text.clone();
                    async move { client.write_all(&text).await }
                });
                let mut opened = Opened::unread(server);
                opened.read_first().await.expect("bytes");
                assert_eq!(opened.is_http2(), is_http2);
                let mut read = Vec::new();
                opened.read_to_end(&mut read).await.expect("bytes");
                assert_eq!(read, text);
                writing.await.expect("no panic").expect("written");
            }
        }
    }

    #[test]
    fn cookies_are_joined() {
        let mut headers = HeaderMap::new();
        join_cookies(&mut headers);
        assert!(headers.is_empty());
        for (cookie, joined) in [("a=1", "a=1"), ("b=2", "a=1; b=2"), ("c=3", "a=1; b=2; c=3")] {
            headers.append(COOKIE, HeaderValue::from_static(cookie));
            join_cookies(&mut headers);
            assert_eq!(headers.get_all(COOKIE).iter().collect::<Vec<_>>(), [joined]);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_limit_has_its_time() {
        const IDLE: Duration = Duration::from_secs(30);
        const WRITE: Duration = Duration::from_secs(20);
        let at = |exchanges: &Exchanges, after| exchanges.state().overdue(Instant::now() + after, IDLE, WRITE).ok();
        let exchanges = Exchanges::default();
        assert_eq!((at(&exchanges, WRITE), at(&exchanges, IDLE)), (None, Some(Overdue::Idle)));
        let (first, second) = (exchanges.begin(), exchanges.begin());
        assert_eq!(at(&exchanges, 10 * IDLE), None, "the service has no limit here");
        first.waits_for_client(true);
        assert_eq!(at(&exchanges, WRITE), Some(Overdue::Stalled));
        second.waits_for_client(true);
        first.waits_for_client(false);
        drop(second);
        assert_eq!(at(&exchanges, 10 * IDLE), None);
        drop(first);
        assert_eq!(at(&exchanges, IDLE), Some(Overdue::Idle));
        assert_eq!(exchanges.state().overdue(Instant::now(), IDLE, WRITE), Err(Instant::now() + WRITE));
    }
}

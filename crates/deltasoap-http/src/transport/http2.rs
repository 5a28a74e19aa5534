//! HTTP/2 by hyper, for servers.
//!
//! A connection begins with a fixed text if it is one of HTTP/2 ([`Opened`]), with and without TLS.
//! The exchanges of a connection run at the same time, so its time limits need more than in
//! HTTP/1.1: [`Exchanges`] knows which ones there are, and which wait for their client. One that waits
//! too long is reset; the others go on.

use super::http1::{Begun, HttpRequestBody, refused};
use super::{LAST_CALL, Served, Stream, Terms};
use crate::error::BoxError;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, COOKIE, Entry, HOST};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use pin_project_lite::pin_project;
use std::collections::HashMap;
use std::error::Error as StdError;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout};

/// What a client sends first (RFC 9113, 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Maximum number of exchanges of a connection at one time; others wait at the client.
const STREAMS: u32 = 100;

/// Maximum size of a request's fields in bytes, as for HTTP/1.1.
const FIELDS: u32 = 64 << 10;

/// Maximum number of bytes of a response that wait for a client's window, beyond one piece.
const AHEAD: usize = 64 << 10;

/// Maximum size of a piece of a response in bytes. A client that takes one within the time for writing
/// has not stopped reading.
const PIECE: usize = 4 << 10;

/// A connection whose first bytes were read to find out its version.
pub(super) struct Opened<T> {
    first: [u8; PREFACE.len()],
    /// Number of bytes in `first`, and how many of them the protocol has read.
    count: usize,
    taken: usize,
    /// When the connection was opened.
    since: Instant,
    stream: T,
}

impl<T> Opened<T> {
    /// A connection of which nothing was read.
    pub(super) fn unread(stream: T) -> Self {
        Opened { first: [0; PREFACE.len()], count: 0, taken: 0, since: Instant::now(), stream }
    }

    /// Returns when the connection was opened.
    pub(super) fn since(&self) -> Instant {
        self.since
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
    let (exchanges, begun) = (Exchanges::new(stream.since), Begun::default());
    let (begins, first, max_headers) = (exchanges.clone(), begun.clone(), terms.max_headers());
    let service = service_fn(move |request: Request<Incoming>| {
        let is_head = request.method() == Method::HEAD;
        let answer = accepted(request, max_headers).map(|request| service.answer(request));
        let exchange = begins.begin();
        first.set();
        async move {
            let response = match answer {
                Ok(answer) => answer.await.map(Either::Left),
                Err(refusal) => (*refusal).map(Either::Right),
            };
            if response.extensions().get::<super::HangUp>().is_some() {
                return Err(super::HangUp);
            }
            Ok(Sent::of(response, is_head, exchange))
        }
    });
    let mut builder = http2::Builder::new(exchanges.clone());
    builder.timer(TokioTimer::new()).max_concurrent_streams(STREAMS);
    builder.max_header_list_size(FIELDS).max_send_buf_size(AHEAD);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let (mut idle, write, mut is_ending) = (terms.head_timeout(), terms.write_timeout(), false);
    loop {
        tokio::select! {
            biased;
            () = begun.stopped(&mut terms), if !is_ending => {}
            ended = connection.as_mut() => return ended.map_err(BoxError::from),
            () = exchanges.idle(idle, write) => if is_ending {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not end the connection").into());
            },
        }
        // The client has a moment to end the connection, once nothing is left to do.
        (is_ending, idle) = (true, LAST_CALL);
        exchanges.state().last = Instant::now();
        connection.as_mut().graceful_shutdown();
    }
}

/// Returns true if a server says that it has not processed a request (RFC 9113, 8.7).
pub(super) fn is_refused(error: &(dyn StdError + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |cause| (*cause).source());
    let Some(error) = causes.find_map(|cause| cause.downcast_ref::<h2::Error>()) else { return false };
    // A server that says goodbye ends the exchanges that it has processed; others get this error.
    let is_goodbye = error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR);
    error.is_remote() && (is_goodbye || error.reason() == Some(h2::Reason::REFUSED_STREAM))
}

/// Returns a request as those of HTTP/1.1 are: with a `Host`, and a path for its URL.
///
/// # Errors
/// Returns the response to a request that must be rejected.
fn accepted(
    request: Request<Incoming>,
    max_headers: usize,
) -> Result<Request<HttpRequestBody>, Box<Response<Full<Bytes>>>> {
    let (mut head, body) = request.into_parts();
    join_cookies(&mut head.headers);
    let authority = head.uri.authority().map(|authority| HeaderValue::from_str(authority.as_str()));
    let is_same = match (authority, head.headers.entry(HOST)) {
        (None, _) => true,
        (Some(Ok(authority)), Entry::Vacant(host)) => {
            host.insert(authority);
            true
        }
        (Some(Ok(authority)), Entry::Occupied(host)) => {
            host.iter().all(|host| host.as_bytes().eq_ignore_ascii_case(authority.as_bytes()))
        }
        (Some(Err(_)), _) => false,
    };
    let request = Request::from_parts(head, HttpRequestBody::unwatched(body));
    let found = match (is_same, request.headers().len() > max_headers) {
        // RFC 9113, 8.3.1.
        (false, _) => Some(refused::rejected(&request, StatusCode::BAD_REQUEST, "Host differs from :authority.")),
        (true, true) => {
            let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            Some(refused::rejected(&request, status, "The request has too many fields."))
        }
        (true, false) => refused::refusal(&request),
    };
    match found {
        Some(response) => Err(Box::new(response)),
        None => Ok(with_path(request)),
    }
}

/// Leaves out the scheme, which is whatever the client says, and the host.
fn with_path(mut request: Request<HttpRequestBody>) -> Request<HttpRequestBody> {
    if let Some(path) = request.uri().path_and_query().cloned() {
        *request.uri_mut() = path.into();
    }
    request
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

/// The exchanges of a connection, each of which runs in a task of its own.
#[derive(Debug, Clone)]
struct Exchanges(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// By their numbers.
    open: HashMap<u64, Open>,
    next: u64,
    /// When there was an exchange last.
    last: Instant,
}

/// An exchange that has not ended.
#[derive(Debug, Default)]
struct Open {
    /// Since when it waits for its client to take a part of its response; `None` while it waits for the
    /// service.
    stalled: Option<Instant>,
    task: Option<AbortHandle>,
}

impl Exchanges {
    /// No exchanges, on a connection that was opened at a time.
    fn new(since: Instant) -> Self {
        Exchanges(Arc::new(Mutex::new(State { open: HashMap::new(), next: 0, last: since })))
    }

    fn begin(&self) -> Exchange {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.open.insert(number, Open::default());
        Exchange { number, exchanges: self.clone() }
    }

    /// Resets exchanges whose client takes nothing for too long, and ends when there was none for too
    /// long.
    async fn idle(&self, idle: Duration, write: Duration) {
        loop {
            let until = self.state().next_limit(Instant::now(), idle, write);
            match until {
                Some(until) => sleep_until(until).await,
                None => return,
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// hyper runs the task of an exchange right after the service was called for it.
impl<F> Executor<F> for Exchanges
where
    F: Future<Output: Send> + Send + 'static,
{
    fn execute(&self, exchange: F) {
        let number = self.state().next.wrapping_sub(1);
        let task = tokio::spawn(exchange).abort_handle();
        if let Some(open) = self.state().open.get_mut(&number) {
            open.task = Some(task);
        }
    }
}

impl State {
    /// Resets what stalls, and returns the earliest time at which a limit can be exceeded next; `None` if
    /// the connection is idle for too long.
    fn next_limit(&mut self, now: Instant, idle: Duration, write: Duration) -> Option<Instant> {
        // What begins from now on has its whole time.
        let mut until = now + idle.min(write);
        for open in self.open.values_mut() {
            let Some(limit) = open.stalled.map(|since| since + write) else { continue };
            if limit > now {
                until = until.min(limit);
            } else if let Some(task) = open.task.take() {
                // Its stream is reset when the task is dropped.
                task.abort();
            }
        }
        if !self.open.is_empty() {
            return Some(until);
        }
        let limit = self.last + idle;
        (limit > now).then_some(until.min(limit))
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
        if let Some(open) = self.exchanges.state().open.get_mut(&self.number) {
            open.stalled = waits.then(Instant::now);
        }
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
        // `None` for a response that has none.
        #[pin]
        body: Option<B>,
        // The rest of a frame of the body.
        rest: Bytes,
        exchange: Exchange,
    }
}

impl<B: Body<Data = Bytes>> Sent<B> {
    fn of(mut response: Response<B>, is_head: bool, exchange: Exchange) -> Response<Self> {
        let status = response.status();
        let has_none = is_head || status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED;
        let length = response.body().size_hint().exact().filter(|_| is_head);
        if let (Some(length), Entry::Vacant(missing)) = (length, response.headers_mut().entry(CONTENT_LENGTH)) {
            missing.insert(length.into());
        }
        response.map(|body| Sent { body: (!has_none).then_some(body), rest: Bytes::new(), exchange })
    }
}

impl<B: Body<Data = Bytes>> Body for Sent<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let mut this = self.project();
        if this.rest.is_empty() {
            this.exchange.waits_for_client(false);
            let Some(body) = this.body.as_mut().as_pin_mut() else { return Poll::Ready(None) };
            match ready!(body.poll_frame(task)).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => *this.rest = data,
                Some(Ok(Err(frame))) => return Poll::Ready(Some(Ok(frame))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        this.exchange.waits_for_client(true);
        // hyper asks for the last byte once the client has room for all others, so that nothing waits for
        // the client after the end.
        let is_last = this.body.as_ref().get_ref().as_ref().is_none_or(Body::is_end_stream);
        let kept = usize::from(is_last && this.rest.len() > 1);
        let piece = this.rest.split_to((this.rest.len() - kept).min(PIECE));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let mut hint = self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint);
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
        let now = Instant::now();
        let exchanges = Exchanges::new(now);
        let limit = |after| exchanges.state().next_limit(now + after, IDLE, WRITE);
        assert_eq!((limit(Duration::ZERO), limit(WRITE), limit(IDLE)), (Some(now + WRITE), Some(now + IDLE), None));
        let begin = || {
            let exchange = exchanges.begin();
            exchanges.execute(std::future::pending::<()>());
            exchange
        };
        let (first, second) = (begin(), begin());
        let is_reset = |exchange: &Exchange| exchanges.state().open[&exchange.number].task.is_none();
        assert!(limit(10 * IDLE).is_some(), "the service has no limit here");
        first.waits_for_client(true);
        assert!(limit(WRITE - Duration::from_secs(1)) == Some(now + WRITE) && !is_reset(&first));
        limit(WRITE);
        assert!(is_reset(&first) && !is_reset(&second));
        second.waits_for_client(true);
        second.waits_for_client(false);
        limit(10 * IDLE);
        assert!(!is_reset(&second));
        drop((first, second));
        assert_eq!(limit(IDLE), None);
    }
}

//! One HTTP request and its response: its sender, the session that it names, and its outcome.

use super::table::Token;
use bytes::Bytes;
use deltasoap::server::{Authenticate, Denial, Principal};
use http::header::{COOKIE, HeaderMap, HeaderValue};
use http::request::Parts;
use http_body::{Body, Frame, SizeHint};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// Name of the cookie that ties the requests of a session together.
const COOKIE_NAME: &str = "cwmp";

/// State of an exchange, attached to the request as an extension.
#[derive(Debug)]
pub(crate) struct Exchange {
    token: Option<Token>,
    principal: Mutex<Option<Principal>>,
    /// Number of bytes of the request's body so far.
    bytes: AtomicU64,
    /// True once the message was decoded and handled.
    is_taken: AtomicBool,
    /// The session that this exchange began.
    begun: Mutex<Option<Token>>,
}

impl Exchange {
    /// Creates the exchange of a request with these headers, and its principal if that is known
    /// already.
    pub(crate) fn new(headers: &HeaderMap, principal: Option<&Principal>) -> Self {
        Exchange {
            token: token_in(headers),
            principal: Mutex::new(principal.cloned()),
            bytes: AtomicU64::new(0),
            is_taken: AtomicBool::new(false),
            begun: Mutex::new(None),
        }
    }

    /// Returns the session that the request's cookie names.
    pub(crate) fn token(&self) -> Option<Token> {
        self.token
    }

    pub(crate) fn principal(&self) -> Option<Principal> {
        lock(&self.principal).clone()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    pub(crate) fn take(&self) {
        self.is_taken.store(true, Relaxed);
    }

    pub(crate) fn is_taken(&self) -> bool {
        self.is_taken.load(Relaxed)
    }

    /// Records the new session, whose cookie goes with the response.
    pub(crate) fn begin(&self, token: Token) {
        *lock(&self.begun) = Some(token);
    }

    pub(crate) fn cookie_to_set(&self) -> Option<HeaderValue> {
        let token = (*lock(&self.begun))?;
        let mut value = HeaderValue::try_from(format!("{COOKIE_NAME}={}; Path=/; HttpOnly", token.text())).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the first valid token among the cookies of our name. Old clients quote values, and send
/// attributes along (RFC 2965).
fn token_in(headers: &HeaderMap) -> Option<Token> {
    let texts = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = texts.flat_map(|text| text.split([';', ','])).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == COOKIE_NAME).find_map(|(_, value)| Token::parse(value.trim_matches('"')))
}

/// Authentication that records the principal.
pub(crate) struct RecordPrincipal(Box<dyn Authenticate>);

impl RecordPrincipal {
    pub(crate) fn new(hook: impl Authenticate) -> Self {
        RecordPrincipal(Box::new(hook))
    }
}

impl Authenticate for RecordPrincipal {
    fn authenticate(&self, request: &Parts, peer: Option<SocketAddr>) -> Result<Option<Principal>, Denial> {
        let principal = self.0.authenticate(request, peer)?;
        if let (Some(exchange), Some(principal)) = (request.extensions.get::<Arc<Exchange>>(), &principal) {
            *lock(&exchange.principal) = Some(principal.clone());
        }
        Ok(principal)
    }
}

/// A body that counts its bytes.
pub(crate) struct Counted<B> {
    body: Pin<Box<B>>,
    exchange: Arc<Exchange>,
}

impl<B> Counted<B> {
    pub(crate) fn new(body: B, exchange: Arc<Exchange>) -> Self {
        Counted { body: Box::pin(body), exchange }
    }
}

impl<B: Body<Data = Bytes>> Body for Counted<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let polled = self.body.as_mut().poll_frame(task);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            let len = frame.data_ref().map_or(0, Bytes::len) as u64;
            self.exchange.bytes.fetch_add(len, Relaxed);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_found_as_clients_write_them() {
        let token = Token::random().expect("random numbers");
        let text = token.text();
        let found = |value: String| {
            let mut headers = HeaderMap::new();
            headers.insert(COOKIE, HeaderValue::try_from(value).expect("a header"));
            token_in(&headers)
        };
        for written in ["cwmp=T", "a=b; cwmp=T; c=d", "$Version=\"1\"; cwmp=\"T\"; $Path=\"/\"", "cwmp=x, cwmp=T"] {
            assert_eq!(found(written.replace('T', &text)), Some(token), "{written}");
        }
        for other in ["", "cwmp", "cwmp=", "cwmpx=T", "cwmp=TT", "cwmp=+T"] {
            assert_eq!(found(other.replace('T', &text)), None, "{other}");
        }
    }
}

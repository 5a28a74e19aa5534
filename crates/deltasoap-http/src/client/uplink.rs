//! What a client knows about the connection to its server, for requests that are compressed if that
//! pays off ([`Compression::ADAPTIVE`]).
//!
//! A server announces its codings in answers (RFC 7694), including those that refuse a coding. The
//! throughput of requests is measured on each connection; the client uses the latest connection
//! with a known throughput, as long as it is open. The effect of compression on requests is learned
//! for each action.

use crate::body::Body;
use crate::coding::{AdaptiveState, Codings, LearnedEffects, Link, Throughput};
use crate::coding::{Compression, ContentCoding};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use http::request::Parts;
use http::{HeaderValue, Request, Response, StatusCode};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Maximum number of actions that are distinguished.
const ACTIONS: usize = 256;

/// The knowledge about a server and the connection to it.
#[derive(Debug, Default)]
pub(super) struct Uplink(Mutex<State>);

/// Another client has another server.
impl Clone for Uplink {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[derive(Debug, Default)]
struct State {
    /// The codings that the server accepts.
    codings: Codings,
    /// True once the server refused a coding that it announced.
    is_refused: bool,
    link: Weak<Throughput>,
    learned: BTreeMap<String, Arc<LearnedEffects>>,
}

/// An extension of a request that is compressed because that pays off.
#[derive(Debug, Clone)]
pub(super) struct Coded {
    coding: ContentCoding,
    learned: Arc<LearnedEffects>,
    /// The uncompressed body, if it can be sent too.
    plain: Option<Box<Body>>,
}

impl Uplink {
    /// Returns the body to send. Adds its coding to the headers, and [`Coded`] to the extensions if
    /// the connection determined the coding.
    pub(super) fn compress(&self, compression: Compression, action: &str, body: Body, parts: &mut Parts) -> Body {
        let (accepted, adaptive) = match compression.is_adaptive() {
            true => self.state().adaptive(action),
            false => (compression.own_coding(), AdaptiveState::default()),
        };
        let learned = adaptive.learned.clone();
        let plain = (learned.is_some() && body.is_repeatable()).then(|| Box::new(body.clone()));
        match body.compressed(compression, accepted, adaptive) {
            Ok((body, coding)) => {
                parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
                if let Some(learned) = learned {
                    parts.extensions.insert(Coded { coding, learned, plain });
                }
                body
            }
            Err(body) => body,
        }
    }

    /// Learns from the server's answer to a request.
    pub(super) fn note<B>(&self, coded: Option<&Coded>, response: &Response<B>) {
        let mut state = self.state();
        let headers = response.headers();
        let said = headers.contains_key(ACCEPT_ENCODING).then(|| Codings::preferred(headers));
        state.codings = said.unwrap_or(state.codings);
        match (coded, response.status()) {
            // Another server under the same name may have announced the opposite.
            (Some(coded), StatusCode::UNSUPPORTED_MEDIA_TYPE) => {
                state.is_refused |= said.is_none_or(|said| said.contains(coded.coding));
            }
            // The server may take it for a decompression bomb.
            (Some(coded), StatusCode::PAYLOAD_TOO_LARGE) => coded.learned.refuse(),
            _ => {}
        }
        if let Some(Link(link)) = response.extensions().get::<Link>() {
            let is_known = |link: &Arc<Throughput>| link.rate().is_some();
            if is_known(link) || !state.link.upgrade().is_some_and(|link| is_known(&link)) {
                state.link = Arc::downgrade(link);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn adaptive(&mut self, action: &str) -> (Codings, AdaptiveState) {
        let codings = if self.is_refused { Codings::NONE } else { self.codings };
        (codings, AdaptiveState { throughput: self.link.upgrade(), learned: Some(self.learned(action)) })
    }

    fn learned(&mut self, action: &str) -> Arc<LearnedEffects> {
        if let Some(learned) = self.learned.get(action) {
            return Arc::clone(learned);
        }
        let key = if self.learned.len() < ACTIONS { action } else { "" };
        Arc::clone(self.learned.entry(key.to_owned()).or_default())
    }
}

/// Returns the request without compression, if it was compressed because that pays off, and the
/// uncompressed body is available.
pub(super) fn plain_of(request: &mut Request<Body>) -> Option<Box<Request<Body>>> {
    let plain = request.extensions_mut().get_mut::<Coded>()?.plain.take()?;
    let (mut parts, body) = std::mem::take(request).into_parts();
    *request = Request::from_parts(parts.clone(), body);
    parts.headers.remove(CONTENT_ENCODING);
    parts.extensions.remove::<Coded>();
    Some(Box::new(Request::from_parts(parts, *plain)))
}

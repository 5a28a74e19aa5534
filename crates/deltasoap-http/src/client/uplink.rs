//! What a client knows of the way to its server, for requests that are compressed where that pays ([`Compression::ADAPTIVE`]).
//!
//! Which codings a server reads, it says in answers (RFC 7694). How fast requests get there is measured on each connection; the client
//! goes by the latest for which something is known. What compression makes of requests is learned by their action.

use crate::coding::{Codings, Learned, Link, Outlook};
use crate::{Body, Compression, ContentCoding};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use http::{Request, Response, StatusCode};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of actions that are told apart.
const ACTIONS: usize = 256;

/// The way to a server.
#[derive(Debug, Default)]
pub(super) struct Uplink(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// What the server reads.
    codings: Codings,
    /// True once the server refused what it said it reads.
    is_refused: bool,
    link: Option<Link>,
    learned: BTreeMap<String, Arc<Learned>>,
}

impl Uplink {
    /// The body as it is to be sent, and its coding.
    ///
    /// # Errors
    /// The body as it was, if it is not to be compressed.
    pub(super) fn compress(
        &self,
        compression: Compression,
        action: &str,
        body: Body,
    ) -> Result<(Body, ContentCoding), Body> {
        if !compression.is_adaptive() {
            return compression.compress(body, compression.own_coding(), Outlook::default());
        }
        let (codings, outlook) = self.state().outlook(action);
        compression.compress(body, codings, outlook)
    }

    /// Learns from the answer to a request.
    pub(super) fn note<B>(&self, was_coded: bool, response: &Response<B>) {
        let mut state = self.state();
        state.is_refused |= was_coded && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE;
        if response.headers().contains_key(ACCEPT_ENCODING) {
            state.codings = Codings::preferred(response.headers());
        }
        if let Some(link) = response.extensions().get::<Link>() {
            let is_known = |link: &Link| link.0.rate().is_some();
            if is_known(link) || !state.link.as_ref().is_some_and(is_known) {
                state.link = Some(link.clone());
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn outlook(&mut self, action: &str) -> (Codings, Outlook) {
        let codings = if self.is_refused { Codings::NONE } else { self.codings };
        let rate = self.link.as_ref().and_then(|link| link.0.rate());
        (codings, Outlook { rate, learned: Some(self.learned(action)) })
    }

    fn learned(&mut self, action: &str) -> Arc<Learned> {
        if let Some(learned) = self.learned.get(action) {
            return Arc::clone(learned);
        }
        let key = if self.learned.len() < ACTIONS { action } else { "" };
        Arc::clone(self.learned.entry(key.to_owned()).or_default())
    }
}

/// True if the body of a request has a coding.
pub(super) fn is_coded<B>(request: &Request<B>) -> bool {
    request.headers().contains_key(CONTENT_ENCODING)
}

//! HTTP's Digest authentication (RFC 7616), for clients.

use super::credentials::sensitive;
use http::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use http::{Method, Uri};
use http_auth::digest::{Algorithm, DigestClient, Qop};
use http_auth::{ChallengeRef, ParamValue, PasswordParams, parse_challenges};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) struct Digest {
    user: String,
    password: String,
    /// The server's last challenge, with the count of its uses.
    challenge: Mutex<Option<DigestClient>>,
}

/// Omits the challenge, since the clone may be for another server.
impl Clone for Digest {
    fn clone(&self) -> Self {
        Digest::new(self.user.clone(), self.password.clone())
    }
}

impl Digest {
    pub(super) fn new(user: String, password: String) -> Self {
        Digest { user, password, challenge: Mutex::default() }
    }

    pub(super) fn has_challenge(&self) -> bool {
        self.challenge().is_some()
    }

    /// Returns the answer to the challenge, if there is one.
    pub(super) fn respond(&self, method: &Method, uri: &Uri) -> Option<HeaderValue> {
        let uri = uri.path_and_query().map_or("/", |path| path.as_str());
        let (username, password) = (self.user.as_str(), self.password.as_str());
        let params = PasswordParams { username, password, uri, method: method.as_str(), body: None };
        sensitive(self.challenge().as_mut()?.respond(&params).ok()?)
    }

    /// Records the challenge of an answer. Returns true if the request should be sent again.
    pub(super) fn note_challenge(&self, was_authorized: bool, received: &HeaderMap) -> bool {
        let Some(challenge) = strongest(received) else { return false };
        let is_to_repeat = !was_authorized || challenge.stale();
        *self.challenge() = Some(challenge);
        is_to_repeat
    }

    fn challenge(&self) -> MutexGuard<'_, Option<DigestClient>> {
        self.challenge.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the strongest supported challenge.
fn strongest(headers: &HeaderMap) -> Option<DigestClient> {
    let texts = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
    let challenges = texts.filter_map(|text| parse_challenges(text).ok()).flatten();
    let digests = challenges.filter(|challenge| challenge.scheme.eq_ignore_ascii_case("digest"));
    let clients = digests.filter_map(|challenge| DigestClient::try_from(&with_known_algorithm(challenge)).ok());
    clients.filter(|client| client.qop() & Qop::Auth && !client.rfc2069_compat()).max_by_key(strength)
}

/// Corrects the spelling of an algorithm's name: servers vary it, while the parser requires that of
/// RFC 7616 (section 6.1).
fn with_known_algorithm(mut challenge: ChallengeRef<'_>) -> ChallengeRef<'_> {
    const KNOWN: [&str; 6] = ["MD5", "MD5-sess", "SHA-256", "SHA-256-sess", "SHA-512-256", "SHA-512-256-sess"];
    for (name, value) in &mut challenge.params {
        let known = KNOWN.iter().find(|known| known.eq_ignore_ascii_case(value.as_escaped()));
        if let Some(known) = known.filter(|_| name.eq_ignore_ascii_case("algorithm"))
            && let Ok(known) = ParamValue::try_from_escaped(known)
        {
            *value = known;
        }
    }
    challenge
}

fn strength(client: &DigestClient) -> u8 {
    match client.algorithm() {
        Algorithm::Md5 => 0,
        _ => 1,
    }
}

//! HTTP Digest authentication (RFC 7616), for servers.
//!
//! A nonce contains its creation time and a code over it that only this server can compute. So a
//! challenge needs no memory, and nothing is kept for clients that never answer it. The server
//! keeps, within a bound, the highest count of each nonce that was answered with the right
//! password: a replayed answer, for example by an eavesdropper, is refused.

use super::auth::{Authenticate, Denial};
use super::memory::Principal;
use crate::media;
use http::header::{AUTHORIZATION, HeaderValue};
use http::request::Parts;
use http_auth::parse_challenges;
use indexmap::IndexMap;
use md5::Md5;
use sha2::Sha256;
use sha2::digest::Digest as _;
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;

/// Default lifetime of a nonce.
const LIFETIME: Duration = Duration::from_secs(300);
/// Maximum number of nonces whose counts are kept.
const MAX_NONCES: usize = 10_000;
/// Maximum length of an `Authorization` header, in bytes.
const MAX_HEADER: usize = 4096;

/// Digest authentication (RFC 7616) with `qop=auth`.
///
/// Anyone who can read the connection learns no password. It does not protect the messages
/// themselves, so it is no substitute for TLS.
///
/// The service must see the request's target as the client sent it: a router that strips a prefix
/// makes all answers wrong. A client that answers a nonce several times concurrently may have to
/// answer again.
///
/// ```
/// use deltasoap_http::{DigestUsers, SoapService};
///
/// let builder = SoapService::builder().authenticate(DigestUsers::new("devices", [("ada", "analytical engine")]));
/// ```
pub struct DigestUsers {
    realm: String,
    passwords: Box<Passwords>,
    hash: Hash,
    lifetime: Duration,
    key: [u8; 32],
    started: Instant,
    used: Mutex<Used>,
}

type Passwords = dyn Fn(&str) -> Option<String> + Send + Sync;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hash {
    Sha256,
    Md5,
}

/// The counts of nonces that were answered.
#[derive(Default)]
struct Used {
    counts: IndexMap<String, Count>,
    /// In milliseconds: nonces created up to this time are too old, whatever their lifetime,
    /// because their counts are no longer known.
    floor: Option<u64>,
}

struct Count {
    made: u64,
    highest: u32,
}

impl DigestUsers {
    /// Authenticates these users by their passwords. A user's principal has the user's name.
    /// Clients show the realm to users; characters that a header cannot carry are removed.
    ///
    /// # Panics
    /// When the system provides no random numbers.
    pub fn new<U, P>(realm: &str, users: impl IntoIterator<Item = (U, P)>) -> Self
    where
        U: Into<String>,
        P: Into<String>,
    {
        let users: HashMap<String, String> = users.into_iter().map(|(user, word)| (user.into(), word.into())).collect();
        Self::from_fn(realm, move |user| users.get(user).cloned())
    }

    /// As [`new`](Self::new), with passwords from a function, which must not block.
    ///
    /// # Panics
    /// When the system provides no random numbers.
    pub fn from_fn(realm: &str, password: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        let mut key = [0; 32];
        getrandom::fill(&mut key).expect("random numbers of the system");
        DigestUsers {
            realm: realm.chars().filter(|c| matches!(c, ' '..='~')).collect(),
            passwords: Box::new(password),
            hash: Hash::Sha256,
            lifetime: LIFETIME,
            key,
            started: Instant::now(),
            used: Mutex::default(),
        }
    }

    /// Uses MD5 instead of SHA-256, for clients that support nothing else (RFC 2617).
    #[must_use]
    pub fn md5(mut self) -> Self {
        self.hash = Hash::Md5;
        self
    }

    /// Sets the lifetime of a nonce. After that the client is asked to answer another one. Default:
    /// 5 minutes.
    #[must_use]
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    fn unauthorized(&self, is_stale: bool) -> Denial {
        let (realm, nonce) = (media::quote(&self.realm), self.nonce(self.now()));
        let stale = if is_stale { ", stale=true" } else { "" };
        let text =
            format!("Digest realm={realm}, qop=\"auth\", algorithm={}, nonce=\"{nonce}\"{stale}", self.hash.name());
        // The text is always ASCII.
        Denial::unauthorized(HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("Digest")))
    }

    /// Returns the milliseconds since the server was created.
    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns a nonce with this creation time: the time, some random bits, and a code over both.
    fn nonce(&self, made: u64) -> String {
        let mut salt = [0; 8];
        // Without the random bits, two nonces of one millisecond are equal, and share their counts.
        // Nothing else depends on them.
        let _ = getrandom::fill(&mut salt);
        let salt = u64::from_le_bytes(salt);
        format!("{made:016x}{salt:016x}{}", self.code(made, salt))
    }

    fn code(&self, made: u64, salt: u64) -> String {
        let inner =
            Sha256::new().chain_update(self.key).chain_update(made.to_le_bytes()).chain_update(salt.to_le_bytes());
        // Hashed twice to prevent length extension.
        hex(&Sha256::new().chain_update(self.key).chain_update(inner.finalize()).finalize())
    }

    /// Returns the creation time of a nonce, if we created it.
    fn made(&self, nonce: &str) -> Option<u64> {
        let number = |range| u64::from_str_radix(nonce.get(range)?, 16).ok();
        let (made, salt) = (number(0..16)?, number(16..32)?);
        let code = self.code(made, salt);
        bool::from(code.as_bytes().ct_eq(nonce.get(32..)?.as_bytes())).then_some(made)
    }

    /// Records that a nonce was answered with a count. Returns false if the count is not new, or
    /// the nonce is too old.
    fn note(&self, nonce: &str, made: u64, count: u32) -> bool {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = self.now().checked_sub(u64::try_from(self.lifetime.as_millis()).unwrap_or(u64::MAX));
        if oldest.is_some_and(|oldest| made < oldest) || used.floor.is_some_and(|floor| made <= floor) {
            return false;
        }
        if let Some(known) = used.counts.get_mut(nonce) {
            let is_next = count > known.highest;
            known.highest = known.highest.max(count);
            return is_next;
        }
        if used.counts.len() >= MAX_NONCES {
            used.forget(oldest);
        }
        used.counts.insert(nonce.to_owned(), Count { made, highest: count });
        true
    }
}

impl Used {
    /// Removes nonces that are too old; if there are none, the oldest half.
    fn forget(&mut self, oldest: Option<u64>) {
        self.counts.retain(|_, count| oldest.is_none_or(|oldest| count.made >= oldest));
        if self.counts.len() < MAX_NONCES {
            return;
        }
        self.counts.sort_by(|_, a, _, b| a.made.cmp(&b.made));
        let forgotten = self.counts.drain(..MAX_NONCES / 2);
        self.floor = forgotten.map(|(_, count)| count.made).max().max(self.floor);
    }
}

impl Authenticate for DigestUsers {
    fn authenticate(&self, request: &Parts, _: Option<SocketAddr>) -> Result<Option<Principal>, Denial> {
        let answer = request.headers.get(AUTHORIZATION).and_then(DigestCredentials::read);
        let answer = answer.ok_or_else(|| self.unauthorized(false))?;
        let made = answer.is_for(request, self).then(|| self.made(&answer.nonce)).flatten();
        let Some(made) = made else { return Err(self.unauthorized(false)) };
        let password = (self.passwords)(&answer.username);
        // The password of an unknown user is compared too, so that the time does not reveal which
        // users exist.
        let expected = answer.expected(request, self.hash, &self.realm, password.as_deref().unwrap_or_default());
        let is_right = bool::from(expected.as_bytes().ct_eq(answer.response.as_bytes()));
        if password.is_none() || !is_right {
            return Err(self.unauthorized(false));
        }
        if !self.note(&answer.nonce, made, answer.count) {
            return Err(self.unauthorized(true));
        }
        Ok(Some(Principal::new(answer.username)))
    }
}

/// Shows no passwords and no key.
impl fmt::Debug for DigestUsers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DigestUsers { realm, hash, lifetime, .. } = self;
        let mut shown = f.debug_struct("DigestUsers");
        shown.field("realm", realm).field("hash", hash).field("lifetime", lifetime).finish_non_exhaustive()
    }
}

impl Hash {
    fn name(self) -> &'static str {
        match self {
            Hash::Sha256 => "SHA-256",
            Hash::Md5 => "MD5",
        }
    }

    /// Returns the hash of the parts, joined by colons, in hexadecimal digits.
    fn sum(self, parts: &[&str]) -> String {
        let text = parts.join(":");
        match self {
            Hash::Sha256 => hex(&Sha256::digest(&text)),
            Hash::Md5 => hex(&Md5::digest(&text)),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The content of `Authorization: Digest …` (RFC 7616, 3.4).
#[derive(Default)]
struct DigestCredentials {
    username: String,
    realm: String,
    nonce: String,
    uri: String,
    response: String,
    algorithm: Option<String>,
    cnonce: String,
    qop: String,
    /// `nc` as sent.
    nc: String,
    count: u32,
}

impl DigestCredentials {
    /// Parses the header. Challenges and their answers have the same syntax (RFC 9110, 11.4).
    fn read(header: &HeaderValue) -> Option<Self> {
        let text = header.to_str().ok().filter(|text| text.len() <= MAX_HEADER)?;
        let read = parse_challenges(text).ok()?;
        let [read] = &read[..] else { return None };
        if !read.scheme.eq_ignore_ascii_case("digest") {
            return None;
        }
        let mut answer = DigestCredentials::default();
        for (name, value) in &read.params {
            answer.take(&name.to_ascii_lowercase(), value.to_unescaped());
        }
        answer.count = u32::from_str_radix(&answer.nc, 16).ok()?;
        Some(answer)
    }

    fn take(&mut self, name: &str, value: String) {
        match name {
            "username" => self.username = value,
            "realm" => self.realm = value,
            "nonce" => self.nonce = value,
            "uri" => self.uri = value,
            "response" => self.response = value.to_ascii_lowercase(),
            "algorithm" => self.algorithm = Some(value),
            "cnonce" => self.cnonce = value,
            "qop" => self.qop = value,
            "nc" => self.nc = value,
            _ => {}
        }
    }

    /// Returns true if this answers one of our challenges, for this request.
    fn is_for(&self, request: &Parts, server: &DigestUsers) -> bool {
        let is_same = |name: &String| name.eq_ignore_ascii_case(server.hash.name());
        let target = request.uri.path_and_query().map_or("/", |path| path.as_str());
        self.realm == server.realm
            && self.qop == "auth"
            && self.algorithm.as_ref().map_or(server.hash == Hash::Md5, is_same)
            && (self.uri == target || self.uri == request.uri.to_string())
    }

    fn expected(&self, request: &Parts, hash: Hash, realm: &str, password: &str) -> String {
        let user = hash.sum(&[&self.username, realm, password]);
        let target = hash.sum(&[request.method.as_str(), &self.uri]);
        hash.sum(&[&user, &self.nonce, &self.nc, &self.cnonce, &self.qop, &target])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    const URI: &str = "/acs?a=1";

    fn parts(authorization: &str) -> Parts {
        Request::post(URI).header(AUTHORIZATION, authorization).body(()).expect("a request").into_parts().0
    }

    fn challenged(server: &DigestUsers) -> (String, bool) {
        let denial = server.authenticate(&parts("x"), None).expect_err("a denial");
        nonce_of(&denial)
    }

    fn nonce_of(denial: &Denial) -> (String, bool) {
        let text = denial.challenge.as_ref().expect("a challenge").to_str().expect("ASCII").to_owned();
        let nonce = text.split("nonce=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a nonce");
        (nonce.to_owned(), text.contains("stale=true"))
    }

    fn answer(hash: Hash, nonce: &str, count: u32, password: &str) -> String {
        let (user, target) = (hash.sum(&["ada", "devices", password]), hash.sum(&["POST", URI]));
        let nc = format!("{count:08x}");
        let response = hash.sum(&[&user, nonce, &nc, "c", "auth", &target]);
        format!(
            "Digest username=\"ada\", realm=\"devices\", nonce=\"{nonce}\", uri=\"{URI}\", response=\"{response}\", \
             algorithm={}, cnonce=\"c\", qop=auth, nc={nc}",
            hash.name()
        )
    }

    fn server() -> DigestUsers {
        DigestUsers::new("devices", [("ada", "se:cret")])
    }

    #[test]
    fn the_example_of_rfc_7616_is_computed() {
        let answer = DigestCredentials {
            username: "Mufasa".into(),
            nonce: "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v".into(),
            uri: "/dir/index.html".into(),
            cnonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ".into(),
            qop: "auth".into(),
            nc: "00000001".into(),
            ..DigestCredentials::default()
        };
        let request = Request::get("/dir/index.html").body(()).expect("a request").into_parts().0;
        let expected = |hash| answer.expected(&request, hash, "http-auth@example.org", "Circle of Life");
        assert_eq!(expected(Hash::Md5), "8ca523f5e9506fed4657c9700eebdbec");
        assert_eq!(expected(Hash::Sha256), "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1");
    }

    #[test]
    fn the_right_answer_counts_once() {
        for (server, hash) in [(server(), Hash::Sha256), (server().md5(), Hash::Md5)] {
            let (nonce, _) = challenged(&server);
            let ask = |count, password| server.authenticate(&parts(&answer(hash, &nonce, count, password)), None);
            assert_eq!(ask(1, "se:cret"), Ok(Some(Principal::new("ada"))));
            assert!(ask(3, "se:cret").is_ok());
            for again in [1, 2, 3] {
                let (_, is_stale) = nonce_of(&ask(again, "se:cret").expect_err("a denial"));
                assert!(is_stale);
            }
            let (_, is_stale) = nonce_of(&ask(9, "wrong").expect_err("a denial"));
            assert!(!is_stale);
        }
    }

    #[test]
    fn what_is_no_answer_of_ours_is_denied() {
        let server = server();
        let (nonce, _) = challenged(&server);
        let right = answer(Hash::Sha256, &nonce, 1, "se:cret");
        let other = DigestUsers::new("devices", [("ada", "se:cret")]);
        let changes = [
            right.replace("qop=auth", "qop=auth-int"),
            right.replace("\"ada\"", "\"bob\""),
            right.replace(URI, "/other"),
            right.replace("SHA-256", "MD5"),
            right.replace("nc=00000001", "nc=x"),
            right.replace("nc=00000001", "nc=00000002"),
            right.replace(&nonce, &nonce.replace(&nonce[40..44], "0000")),
            right.replace(&nonce, "é"),
            right.replace("Digest ", "Basic "),
            "Digest".into(),
            "Digest username=\"".into(),
            "Digest =, =, \"\\".into(),
        ];
        for changed in changes {
            assert!(server.authenticate(&parts(&changed), None).is_err(), "{changed}");
        }
        assert!(other.authenticate(&parts(&right), None).is_err(), "another server's nonce");
        assert!(server.authenticate(&parts(&right), None).is_ok());
    }

    #[test]
    fn old_nonces_are_stale_and_few_are_kept() {
        let server = server().lifetime(Duration::ZERO);
        let nonce = server.nonce(0);
        std::thread::sleep(Duration::from_millis(3));
        let denial = server.authenticate(&parts(&answer(Hash::Sha256, &nonce, 1, "se:cret")), None);
        assert!(nonce_of(&denial.expect_err("a denial")).1);

        let server = self::server();
        for made in 0..20_000 {
            server.note(&server.nonce(made), made, 1);
        }
        assert!(server.used.lock().expect("a lock").counts.len() <= MAX_NONCES);
        assert!(!server.note(&server.nonce(5), 5, 1), "forgotten");
    }

    #[test]
    fn secrets_are_not_shown() {
        assert!(!format!("{:?}", server()).contains("cret"));
    }
}

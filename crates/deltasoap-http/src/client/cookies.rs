//! What servers want to be told again.

use http::header::{COOKIE, HeaderMap, HeaderValue, SET_COOKIE};
use http::{Request, Uri};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use url::Url;

/// Most cookies that are kept.
const COOKIES: usize = 64;
/// Longest cookie that is kept, attributes included.
const LENGTH: usize = 4096;

/// The cookies of one client, all of the origin that it calls.
#[derive(Default)]
pub(super) struct Cookies(Mutex<cookie_store::CookieStore>);

impl Cookies {
    /// Adds the cookies that belong to a request's URL, if it has none of its own.
    pub(super) fn add<B>(&self, request: &mut Request<B>) {
        if let Some(cookies) = self.of(request.uri()).filter(|_| !request.headers().contains_key(COOKIE)) {
            request.headers_mut().insert(COOKIE, cookies);
        }
    }

    fn of(&self, url: &Uri) -> Option<HeaderValue> {
        let url = Url::parse(&url.to_string()).ok()?;
        let store = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cookies: Vec<_> = store.get_request_values(&url).map(|(name, value)| format!("{name}={value}")).collect();
        let mut header = HeaderValue::try_from(cookies.join("; ")).ok().filter(|header| !header.is_empty())?;
        header.set_sensitive(true);
        Some(header)
    }

    /// Keeps what an answer from a URL sets.
    pub(super) fn keep(&self, url: &Uri, headers: &HeaderMap) {
        let Ok(url) = Url::parse(&url.to_string()) else { return };
        let mut store = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for cookie in headers.get_all(SET_COOKIE).iter().filter_map(|cookie| cookie.to_str().ok()) {
            let has_room = store.iter_unexpired().count() < COOKIES;
            // Those that are malformed or for somewhere else are not kept.
            let kept = if has_room && cookie.len() <= LENGTH { store.parse(cookie, &url).is_ok() } else { false };
            tracing::trace!(kept, "a cookie came");
        }
    }
}

impl fmt::Debug for Cookies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cookies").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(cookies: &Cookies, url: &'static str, cookie: &str) {
        let headers = HeaderMap::from_iter([(SET_COOKIE, HeaderValue::from_str(cookie).expect("a value"))]);
        cookies.keep(&Uri::from_static(url), &headers);
    }

    fn of(cookies: &Cookies, url: &'static str) -> Option<String> {
        cookies.of(&Uri::from_static(url)).map(|header| header.to_str().expect("text").to_owned())
    }

    #[test]
    fn cookies_go_where_they_belong() {
        let cookies = Cookies::default();
        let here = "https://a.example/soap/x";
        set(&cookies, here, "session=1; Path=/soap; Secure");
        set(&cookies, here, "elsewhere=1; Domain=b.example");
        assert_eq!(of(&cookies, here).as_deref(), Some("session=1"));
        assert_eq!(of(&cookies, "https://a.example/other"), None);
        assert_eq!(of(&cookies, "http://a.example/soap/x"), None, "it is for secure connections");
        set(&cookies, here, "session=2; Path=/soap");
        assert_eq!(of(&cookies, here).as_deref(), Some("session=2"));
        set(&cookies, here, "session=; Path=/soap; Max-Age=0");
        assert_eq!(of(&cookies, here), None);
    }

    #[test]
    fn their_number_and_length_are_bounded() {
        let cookies = Cookies::default();
        (0..100).for_each(|number| set(&cookies, "http://a.example/", &format!("c{number}=x")));
        assert_eq!(of(&cookies, "http://a.example/").map(|header| header.split("; ").count()), Some(COOKIES));
        let other = Cookies::default();
        set(&other, "http://a.example/", &format!("long={}", "x".repeat(LENGTH)));
        assert_eq!(of(&other, "http://a.example/"), None);
    }
}

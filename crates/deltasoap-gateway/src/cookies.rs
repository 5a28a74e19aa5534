//! Cookies of services, for services with sessions.
//!
//! Each service has its own cookies: for the client, their names begin with the path of the service.
//! So no service gets the cookies of another one, nor those of other programs on the gateway's host.

use http::header::{COOKIE, HeaderValue, SET_COOKIE};
use http::{HeaderMap, Response};
use std::cell::RefCell;

tokio::task_local! {
    /// The cookies that the service has set during a call.
    static RECEIVED: RefCell<Vec<HeaderValue>>;
}

/// Separates the parts of a cookie's name; no path has it.
pub(crate) const SEPARATOR: char = '~';

/// Runs a call; returns also the cookies that the service has set, whatever its answer is.
pub(crate) async fn collected<T>(call: impl Future<Output = T>) -> (T, Vec<HeaderValue>) {
    let call = async {
        let result = call.await;
        (result, RECEIVED.with(RefCell::take))
    };
    RECEIVED.scope(RefCell::default(), call).await
}

/// Notes the cookies of an answer, if they are collected.
pub(crate) fn note<B>(response: &Response<B>) {
    let all = response.headers().get_all(SET_COOKIE);
    // Nothing is collected for services without sessions.
    let _ = RECEIVED.try_with(|received| received.borrow_mut().extend(all.iter().cloned()));
}

/// Returns a service's cookie for the client.
pub(crate) fn for_client(cookie: &HeaderValue, path: &str) -> Option<HeaderValue> {
    let is_kept = |attribute: &&[u8]| {
        let name = attribute.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii();
        !name.eq_ignore_ascii_case(b"domain") && !name.eq_ignore_ascii_case(b"path")
    };
    let mut parts = cookie.as_bytes().split(|byte| *byte == b';');
    let mut own = [prefix(path).as_bytes(), parts.next()?.trim_ascii()].concat();
    for attribute in parts.filter(is_kept) {
        own.extend_from_slice(b"; ");
        own.extend_from_slice(attribute.trim_ascii());
    }
    own.extend_from_slice(b"; Path=/");
    HeaderValue::from_bytes(&own).ok()
}

/// Returns the client's cookies that are those of a service.
pub(crate) fn for_service(headers: &HeaderMap, path: &str) -> Option<HeaderValue> {
    let prefix = prefix(path);
    let all = headers.get_all(COOKIE).iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
    let own: Vec<_> = all.filter_map(|cookie| cookie.trim_ascii().strip_prefix(prefix.as_bytes())).collect();
    if own.is_empty() { None } else { HeaderValue::from_bytes(&own.join(&b"; "[..])).ok() }
}

/// Returns what the names of a service's cookies begin with: `~~` for a service without a path,
/// `~shop~~` for `/shop`. No one is the beginning of another.
fn prefix(path: &str) -> String {
    let mut prefix: String = path.chars().map(|c| if c == '/' { SEPARATOR } else { c }).collect();
    prefix.extend([SEPARATOR, SEPARATOR]);
    prefix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_get_the_name_of_their_service() {
        for (cookie, path, expected) in [
            ("a=\"b\"; Path=/sdk; HttpOnly", "", "~~a=\"b\"; HttpOnly; Path=/"),
            ("a=b;domain=.example;Max-Age=5", "/shop", "~shop~~a=b; Max-Age=5; Path=/"),
            ("pathfinder=1; PATH = /x", "/shop/eu", "~shop~eu~~pathfinder=1; Path=/"),
        ] {
            assert_eq!(for_client(&HeaderValue::from_static(cookie), path).expect("a header"), expected);
        }
        let strange = HeaderValue::from_bytes(b"a=\xe4; Secure").expect("a header");
        assert_eq!(for_client(&strange, "").expect("a header").as_bytes(), b"~~a=\xe4; Secure; Path=/");
    }

    #[test]
    fn a_service_gets_its_own_cookies() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("other=1; ~shop~~a=1; ~shop~eu~~b=2"));
        headers.append(COOKIE, HeaderValue::from_static("~~c=3;~shop~~d=\"4\""));
        assert_eq!(for_service(&headers, "/shop").expect("cookies"), "a=1; d=\"4\"");
        assert_eq!(for_service(&headers, "/shop/eu").expect("cookies"), "b=2");
        assert_eq!(for_service(&headers, "/sho"), None);
    }
}

//! Cookies.

use cookie_store::{Cookie, CookieDomain, CookieExpiration, CookieStore, RawCookie};
use http::header::{COOKIE, HeaderMap, HeaderValue, SET_COOKIE};
use http::{Request, Uri};
use std::cmp::Reverse;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use url::Url;

/// Maximum number of cookies.
const COOKIES: usize = 64;
/// Maximum length of a cookie, attributes included.
const LENGTH: usize = 4096;

/// The cookies of clients. Clones share them. A program can keep them from run to run, in the
/// format of curl's cookie files.
///
/// ```
/// use deltasoap_http::CookieJar;
///
/// let line = "example.com\tFALSE\t/sdk\tTRUE\t0\tvmware_soap_session\t52f1";
/// let jar = CookieJar::from_netscape(line)?;
/// assert!(jar.to_netscape().ends_with("vmware_soap_session\t52f1\n"));
/// # Ok::<(), deltasoap_http::InvalidCookies>(())
/// ```
#[derive(Clone, Default)]
pub struct CookieJar(Arc<Mutex<CookieStore>>);

/// A malformed line of a cookie file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidCookies {
    /// The line, counted from 1.
    pub line: usize,
}

impl fmt::Display for InvalidCookies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}: not a cookie as in curl's cookie files: domain, FALSE or TRUE, path, FALSE or TRUE, expiry in seconds, name \
             and value, with tabs between",
            self.line
        )
    }
}

impl std::error::Error for InvalidCookies {}

impl CookieJar {
    /// Reads cookies from a file written by curl or [`to_netscape`](Self::to_netscape). Expired
    /// cookies are left out.
    ///
    /// # Errors
    /// Returns an error if a line is not a cookie. The error names the line, not its content.
    pub fn from_netscape(text: &str) -> Result<Self, InvalidCookies> {
        let mut store = CookieStore::default();
        for (number, line) in text.lines().enumerate() {
            let (line, http_only) = line.strip_prefix(HTTP_ONLY).map_or((line, false), |rest| (rest, true));
            if !line.trim().is_empty() && (http_only || !line.starts_with('#')) {
                let read = add_line(&mut store, line, http_only);
                read.ok_or(InvalidCookies { line: number + 1 })?;
            }
        }
        Ok(CookieJar(Arc::new(Mutex::new(store))))
    }

    /// Returns all cookies, including session cookies, in the format of curl's cookie files. They
    /// are secrets.
    pub fn to_netscape(&self) -> String {
        let store = self.store();
        let mut lines: Vec<String> = store.iter_unexpired().filter_map(line_of).collect();
        lines.sort_unstable();
        let mut text = "# Netscape HTTP Cookie File\n".to_owned();
        lines.iter().for_each(|line| text += line);
        text
    }

    fn store(&self) -> MutexGuard<'_, CookieStore> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the cookies that belong to a request's URL, if it has no cookies of its own.
    pub(super) fn add<B>(&self, request: &mut Request<B>) {
        if let Some(cookies) = self.header_for(request.uri()).filter(|_| !request.headers().contains_key(COOKIE)) {
            request.headers_mut().insert(COOKIE, cookies);
        }
    }

    fn header_for(&self, url: &Uri) -> Option<HeaderValue> {
        let url = Url::parse(&url.to_string()).ok()?;
        let store = self.store();
        let mut cookies = store.matches(&url);
        // Longer paths come first (RFC 6265, 5.4).
        cookies.sort_by_key(|cookie| (Reverse(cookie.path.len()), cookie.name()));
        let cookies: Vec<_> = cookies.iter().map(|it| format!("{}={}", it.name(), it.value())).collect();
        let mut header = HeaderValue::try_from(cookies.join("; ")).ok().filter(|header| !header.is_empty())?;
        header.set_sensitive(true);
        Some(header)
    }

    /// Keeps the cookies that an answer from a URL sets.
    pub(super) fn keep(&self, url: &Uri, headers: &HeaderMap) {
        let Ok(url) = Url::parse(&url.to_string()) else { return };
        let mut store = self.store();
        for cookie in headers.get_all(SET_COOKIE).iter().filter_map(|cookie| cookie.to_str().ok()) {
            let cookie = fit(&store, cookie, &url);
            let kept = cookie.is_some_and(|cookie| store.insert(cookie, &url).is_ok());
            tracing::trace!(kept, "cookie received");
        }
    }
}

/// Returns the cookie, if it may be kept. Malformed cookies and those for other hosts may not. Like
/// browsers and curl, this is stricter than RFC 6265: a cookie must not contain control characters,
/// must not apply to all names below a public suffix (`example`, `co.uk`), must not become or
/// replace a secure one over an insecure connection, and must keep what its name
/// [promises](keeps_promise).
fn fit(store: &CookieStore, text: &str, url: &Url) -> Option<Cookie<'static>> {
    if text.len() > LENGTH || text.contains(|c: char| c.is_ascii_control()) {
        return None;
    }
    let mut raw = RawCookie::parse(text).ok()?;
    if !keeps_promise(&raw) {
        return None;
    }
    let domain = raw.domain().map(|domain| domain.trim_matches('.').to_ascii_lowercase()).unwrap_or_default();
    if !domain.is_empty() && psl::domain_str(&domain).is_none() {
        // If the host itself is a public suffix, the cookie is for this host only (RFC 6265, 5.3).
        if url.host_str() != Some(&domain) {
            return None;
        }
        raw.unset_domain();
    }
    let cookie = Cookie::try_from_raw_cookie(&raw, url).ok()?.into_owned();
    let is_secured =
        |other: &Cookie<'_>| other.secure() == Some(true) && other.name() == cookie.name() && other.domain.matches(url);
    if url.scheme() != "https" && (cookie.secure() == Some(true) || store.iter_unexpired().any(is_secured)) {
        return None;
    }
    let (path, name): (&str, _) = (&cookie.path, cookie.name());
    let is_known = match &cookie.domain {
        CookieDomain::HostOnly(domain) | CookieDomain::Suffix(domain) => store.contains(domain, path, name),
        CookieDomain::NotPresent | CookieDomain::Empty => false,
    };
    let has_room = is_known || store.iter_unexpired().count() < COOKIES;
    if !has_room {
        tracing::warn!(name, "cookie not kept: the limit of {COOKIES} cookies is reached");
    }
    has_room.then_some(cookie)
}

/// Returns true unless the name promises something that the attributes lack (RFC 6265bis, 4.1.3):
/// `__Secure-` that the cookie is secure, and `__Host-` that it also is for this host only and for
/// all its paths.
fn keeps_promise(cookie: &RawCookie<'_>) -> bool {
    let name = cookie.name().to_ascii_lowercase();
    let is_secure = cookie.secure() == Some(true);
    let is_hosts = is_secure && cookie.domain().is_none() && cookie.path() == Some("/");
    (is_hosts || !name.starts_with("__host-")) && (is_secure || !name.starts_with("__secure-"))
}

/// Omits the cookies, which are secrets.
impl fmt::Debug for CookieJar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CookieJar").finish_non_exhaustive()
    }
}

/// Prefix of the lines of cookies that scripts in pages must not see.
const HTTP_ONLY: &str = "#HttpOnly_";

/// Adds the cookie of a line: domain, whether subdomains get it, path, whether it is for secure
/// connections, expiry in Unix seconds (0 for the end of the session), name, value.
fn add_line(store: &mut CookieStore, line: &str, http_only: bool) -> Option<()> {
    let fields: Vec<&str> = line.split('\t').collect();
    let &[domain, subdomains, path, secure, expires, name, value] = &fields[..] else { return None };
    let host = domain.trim_start_matches('.');
    let ends: u64 = expires.parse().ok()?;
    let left = ends.saturating_sub(seconds_now());
    if ends > 0 && left == 0 {
        return Some(());
    }
    let mut cookie = format!("{name}={value}; Path={path}");
    for (is_said, attribute) in [
        (subdomains == "TRUE", format!("Domain={host}")),
        (http_only, "HttpOnly".to_owned()),
        (secure == "TRUE", "Secure".to_owned()),
        (ends > 0, format!("Max-Age={left}")),
    ] {
        if is_said {
            cookie += "; ";
            cookie += &attribute;
        }
    }
    let scheme = if secure == "TRUE" { "https" } else { "http" };
    let url = Url::parse(&format!("{scheme}://{host}{path}")).ok()?;
    store.parse(&cookie, &url).is_ok().then_some(())
}

fn line_of(cookie: &Cookie<'_>) -> Option<String> {
    let (domain, subdomains) = match &cookie.domain {
        CookieDomain::HostOnly(host) => (host.clone(), "FALSE"),
        CookieDomain::Suffix(domain) => (format!(".{domain}"), "TRUE"),
        CookieDomain::NotPresent | CookieDomain::Empty => return None,
    };
    let http_only = if cookie.http_only() == Some(true) { HTTP_ONLY } else { "" };
    let secure = if cookie.secure() == Some(true) { "TRUE" } else { "FALSE" };
    let ends = match cookie.expires {
        CookieExpiration::AtUtc(time) => time.unix_timestamp().max(1),
        CookieExpiration::SessionEnd => 0,
    };
    let (path, name, value): (&str, _, _) = (&cookie.path, cookie.name(), cookie.value());
    Some(format!("{http_only}{domain}\t{subdomains}\t{path}\t{secure}\t{ends}\t{name}\t{value}\n"))
}

fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(cookies: &CookieJar, url: &'static str, cookie: &str) {
        let headers = HeaderMap::from_iter([(SET_COOKIE, HeaderValue::from_str(cookie).expect("a value"))]);
        cookies.keep(&Uri::from_static(url), &headers);
    }

    fn of(cookies: &CookieJar, url: &'static str) -> Option<String> {
        cookies.header_for(&Uri::from_static(url)).map(|header| header.to_str().expect("text").to_owned())
    }

    #[test]
    fn cookies_go_where_they_belong() {
        let cookies = CookieJar::default();
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
    fn cookies_that_reach_too_far_are_not_kept() {
        let cookies = CookieJar::default();
        for (url, cookie) in [
            ("http://a.example/", "tab=1\tTRUE"),
            ("http://a.example/", "wide=1; Domain=example"),
            ("http://a.example/", "wide=1; Domain=.example."),
            ("http://a.co.uk/", "wide=1; Domain=co.uk"),
            ("http://a.co.uk/", "wide=1; Domain=CO.UK"),
            ("http://a.example/", "secure=1; Secure"),
        ] {
            set(&cookies, url, cookie);
            assert_eq!(
                (of(&cookies, "https://a.example/"), of(&cookies, "https://a.co.uk/")),
                (None, None),
                "{cookie}"
            );
        }
        set(&cookies, "http://co.uk/", "own=1; Domain=co.uk");
        assert_eq!((of(&cookies, "http://co.uk/").as_deref(), of(&cookies, "http://a.co.uk/")), (Some("own=1"), None));
        set(&cookies, "http://localhost/", "own=1; Domain=localhost");
        assert_eq!(of(&cookies, "http://localhost/").as_deref(), Some("own=1"));
        set(&cookies, "https://a.example/", "session=1; Secure");
        set(&cookies, "http://a.example/", "session=2");
        set(&cookies, "http://a.example/", "session=; Max-Age=0");
        assert_eq!(of(&cookies, "https://a.example/").as_deref(), Some("session=1"));
        CookieJar::from_netscape(&cookies.to_netscape()).expect("its own file");
    }

    #[test]
    fn cookies_keep_what_their_names_promise() {
        let here = "https://a.example/soap/x";
        for (cookie, is_kept) in [
            ("__Host-a=1", false),
            ("__Host-a=1; Secure", false),
            ("__Host-a=1; Secure; Path=/soap", false),
            ("__Host-a=1; Secure; Path=/; Domain=a.example", false),
            ("__host-a=1; Path=/", false),
            ("__Host-a=1; Secure; Path=/", true),
            ("__Secure-a=1", false),
            ("__secure-a=1", false),
            ("__Secure-a=1; Secure", true),
            ("_Host-a=1", true),
        ] {
            let cookies = CookieJar::default();
            set(&cookies, here, cookie);
            assert_eq!(of(&cookies, here).is_some(), is_kept, "{cookie}");
        }
    }

    #[test]
    fn files_keep_what_servers_set() {
        let cookies = CookieJar::default();
        let here = "https://a.example/soap/x";
        set(&cookies, here, "session=\"52 f1\"; Path=/soap; Secure; HttpOnly");
        set(&cookies, here, "user=ada; Domain=a.example; Path=/; Max-Age=1000");
        let file = cookies.to_netscape();
        assert_eq!(file.lines().count(), 3, "{file}");
        let again = CookieJar::from_netscape(&file).expect("its own file");
        assert_eq!(of(&again, here), of(&cookies, here));
        assert_eq!(of(&again, "https://b.a.example/").as_deref(), Some("user=ada"));
        assert_eq!(again.to_netscape(), file);
        let past = "a.example\tFALSE\t/\tFALSE\t1\told\tx";
        assert_eq!(CookieJar::from_netscape(past).expect("a file").to_netscape().lines().count(), 1);
    }

    #[test]
    fn what_is_no_cookie_file_is_refused_by_line() {
        for (text, line) in [("a", 1), ("# c\n\na\tb\n", 3), ("a.example\tFALSE\t/\tFALSE\tsoon\tn\tv", 1)] {
            let error = CookieJar::from_netscape(text).expect_err("no cookie");
            assert_eq!(error, InvalidCookies { line });
        }
    }

    #[test]
    fn their_number_and_length_are_bounded() {
        let cookies = CookieJar::default();
        (0..100).for_each(|number| set(&cookies, "http://a.example/", &format!("c{number}=x")));
        assert_eq!(of(&cookies, "http://a.example/").map(|header| header.split("; ").count()), Some(COOKIES));
        set(&cookies, "http://a.example/", "c7=y");
        assert!(of(&cookies, "http://a.example/").is_some_and(|header| header.contains("c7=y")));
        set(&cookies, "http://a.example/", "c7=; Max-Age=0");
        set(&cookies, "http://a.example/", "new=z");
        assert!(of(&cookies, "http://a.example/").is_some_and(|header| header.contains("new=z")));
        let other = CookieJar::default();
        set(&other, "http://a.example/", &format!("long={}", "x".repeat(LENGTH)));
        assert_eq!(of(&other, "http://a.example/"), None);
    }
}

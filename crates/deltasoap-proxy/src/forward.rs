//! Requests to the target, and what of their heads is passed on.

use crate::message::{is_xml, media_parts};
use deltasoap_http::Peer;
use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, HeaderMap, HeaderName,
    HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, VIA,
};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{Method, Uri};
use url::Url;

/// The proxy in `Via`.
const NAME: HeaderValue = HeaderValue::from_static("1.1 deltasoap");

/// Removes the headers that are for one connection only (RFC 9110, 7.6.1).
pub(crate) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let listed = headers.get_all(CONNECTION).into_iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let listed: Vec<_> = listed.filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok()).collect();
    listed.iter().for_each(|name| _ = headers.remove(name));
    let known = [CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
    known.iter().for_each(|name| _ = headers.remove(name));
    for name in ["keep-alive", "proxy-connection"] {
        headers.remove(name);
    }
}

/// Returns the headers of a request for the target.
pub(crate) fn request_headers(head: &Parts, is_tls: bool) -> HeaderMap {
    let mut headers = head.headers.clone();
    remove_hop_by_hop(&mut headers);
    // The server has told the client to continue.
    headers.remove(EXPECT);
    let host = headers.remove(HOST);
    headers.append(VIA, NAME);
    let mut forwarded = |name: &'static str, value: Option<HeaderValue>| {
        if let Some(value) = value {
            headers.append(HeaderName::from_static(name), value);
        }
    };
    let peer = head.extensions.get::<Peer>();
    forwarded("x-forwarded-for", peer.and_then(|peer| HeaderValue::from_str(&peer.0.ip().to_string()).ok()));
    if !head.headers.contains_key("x-forwarded-proto") {
        forwarded("x-forwarded-proto", Some(HeaderValue::from_static(if is_tls { "https" } else { "http" })));
    }
    if !head.headers.contains_key("x-forwarded-host") {
        forwarded("x-forwarded-host", host);
    }
    headers
}

/// Allows the target no content coding but gzip, if the client takes that.
pub(crate) fn accept_gzip_alone(headers: &mut HeaderMap) {
    let accepts_gzip = accepts_gzip(headers);
    headers.remove(ACCEPT_ENCODING);
    if accepts_gzip {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    }
}

/// Returns true for a client that takes gzip.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    codings.any(|codings| {
        codings.split(',').any(|coding| {
            let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
            let quality = quality.trim().trim_start_matches("q=").parse::<f32>().unwrap_or(1.0);
            name.trim().eq_ignore_ascii_case("gzip") && quality > 0.0
        })
    })
}

/// Sets the headers of a body that was changed: it has no content coding, and another length.
pub(crate) fn changed_body(headers: &mut HeaderMap, len: usize) {
    headers.remove(CONTENT_ENCODING);
    // Digests of the body.
    ["content-md5", "digest", "content-digest", "etag"].iter().for_each(|name| _ = headers.remove(*name));
    headers.insert(CONTENT_LENGTH, len.into());
}

/// Names UTF-8 as the charset of a body that was written again.
pub(crate) fn in_utf8(headers: &mut HeaderMap) {
    let Some(media) = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()) else { return };
    let parts = media_parts(media).map(str::trim).filter(|part| !part.to_ascii_lowercase().starts_with("charset="));
    let mut media: Vec<_> = parts.collect();
    media.insert(1.min(media.len()), "charset=utf-8");
    if let Ok(value) = HeaderValue::from_str(&media.join("; ")) {
        headers.insert(CONTENT_TYPE, value);
    }
}

/// Returns the URL at the target for a path: it is added to the path of the target.
pub(crate) fn url_at(target: &Url, path_and_query: Option<&PathAndQuery>) -> Result<Uri, String> {
    let path_and_query = path_and_query.map_or("/", PathAndQuery::as_str);
    let base = target.path().trim_end_matches('/');
    let path = match path_and_query.strip_prefix('/') {
        // The target itself, which may have no slash at its end.
        Some("") if !base.is_empty() => target.path().to_owned(),
        Some(rest) if rest.starts_with('?') && !base.is_empty() => format!("{}{rest}", target.path()),
        _ => format!("{base}{path_and_query}"),
    };
    let authority = &target[url::Position::BeforeHost..url::Position::AfterPort];
    let built = Uri::builder().scheme(target.scheme()).authority(authority).path_and_query(path).build();
    built.map_err(|error| error.to_string())
}

/// Returns true for an answer that may be a WSDL or a schema.
pub(crate) fn may_be_description(method: &Method, status: http::StatusCode, essence: &str) -> bool {
    *method == Method::GET && status == http::StatusCode::OK && is_xml(essence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn headers_of_a_connection_stay_there() {
        let mut headers = map(&[
            ("connection", "close, X-Own"),
            ("x-own", "1"),
            ("keep-alive", "timeout=5"),
            ("transfer-encoding", "chunked"),
            ("proxy-authorization", "Basic x"),
            ("authorization", "Basic y"),
        ]);
        remove_hop_by_hop(&mut headers);
        assert_eq!(headers, map(&[("authorization", "Basic y")]));
    }

    #[test]
    fn paths_are_added_to_that_of_the_target() {
        let at = |target: &str, path: &str| {
            let path = path.parse().expect("a path");
            url_at(&Url::parse(target).expect("a URL"), Some(&path)).expect("a URL").to_string()
        };
        assert_eq!(at("http://h:1", "/"), "http://h:1/");
        assert_eq!(at("http://h:1/", "/a/b?c"), "http://h:1/a/b?c");
        assert_eq!(at("http://h:1/soap/shop", "/"), "http://h:1/soap/shop");
        assert_eq!(at("http://h:1/soap/shop", "/?wsdl"), "http://h:1/soap/shop?wsdl");
        assert_eq!(at("http://h:1/soap/shop/", "/?wsdl"), "http://h:1/soap/shop/?wsdl");
        assert_eq!(at("http://h:1/soap", "/a"), "http://h:1/soap/a");
        assert_eq!(at("https://[::1]/", "/%2e%2e/a"), "https://[::1]/%2e%2e/a");
    }

    #[test]
    fn gzip_is_accepted_if_the_client_takes_it() {
        for (accept, expected) in [("br, gzip;q=0.5", Some("gzip")), ("gzip;q=0", None), ("br", None)] {
            let mut headers = map(&[("accept-encoding", accept)]);
            accept_gzip_alone(&mut headers);
            assert_eq!(headers.get(ACCEPT_ENCODING).map(|value| value.to_str().expect("text")), expected, "{accept}");
        }
    }

    #[test]
    fn charsets_are_replaced() {
        let mut headers = map(&[("content-type", "application/soap+xml; charset=utf-16; action=\"a;b\"")]);
        in_utf8(&mut headers);
        assert_eq!(headers[CONTENT_TYPE], "application/soap+xml; charset=utf-8; action=\"a;b\"");
    }
}

//! Pages that do not change while a gateway runs: the one to try a service, and the list of
//! services. They load nothing from elsewhere.

use crate::backend::Ready;
use crate::body::{ResponseBody, full};
use bytes::Bytes;
use http::Response;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};

/// What the pages may do: use their own scripts and styles, and call the gateway.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Something that is always the same.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    media: &'static str,
    bytes: Bytes,
}

impl Page {
    pub(crate) fn json(bytes: Bytes) -> Self {
        Page { media: "application/json", bytes }
    }

    fn html(bytes: impl Into<Bytes>) -> Self {
        Page { media: "text/html; charset=utf-8", bytes: bytes.into() }
    }

    pub(crate) fn response(&self) -> Response<ResponseBody> {
        let mut response = Response::new(full(self.bytes.clone()));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.media));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}

/// Returns the page to try a service, and what it needs, with their names.
pub(crate) fn of_service() -> [(&'static str, Page); 3] {
    [
        ("", Page::html(include_str!("page/try.html"))),
        (
            "try.css",
            Page { media: "text/css; charset=utf-8", bytes: Bytes::from_static(include_bytes!("page/try.css")) },
        ),
        (
            "try.js",
            Page { media: "text/javascript; charset=utf-8", bytes: Bytes::from_static(include_bytes!("page/try.js")) },
        ),
    ]
}

/// Returns the list of services.
pub(crate) fn index(services: &[Ready]) -> Page {
    let item =
        |service: &Ready| format!("<li><a href=\"{}/\">{}</a></li>", escaped(&service.path), escaped(&service.title));
    let items: String = services.iter().map(item).collect();
    Page::html(format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Services</title><h1>Services</h1><ul>{items}</ul></html>"
    ))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_load_nothing_from_elsewhere() {
        for (name, page) in of_service() {
            let text = std::str::from_utf8(&page.bytes).expect("text");
            assert!(!text.contains("http://") && !text.contains("https://") && !text.contains("//cdn"), "{name}");
        }
    }

    #[test]
    fn titles_are_escaped() {
        assert_eq!(escaped("<a href=\"&\">"), "&lt;a href=&quot;&amp;&quot;&gt;");
    }
}

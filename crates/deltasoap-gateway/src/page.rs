//! Pages that do not change while a gateway runs: the one to try a service, which is Swagger UI, and
//! the list of services. They load nothing from elsewhere.

use crate::backend::Ready;
use crate::body::{ResponseBody, full};
use crate::config::ConfigError;
use bytes::Bytes;
use http::Response;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use std::borrow::Cow;
use std::io::{Cursor, Read as _};
use std::sync::LazyLock;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

/// What the pages may do: use their own scripts and styles, and call the gateway. Swagger UI has
/// icons within its style sheet, and styles within its markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const SCRIPT: &str = "text/javascript; charset=utf-8";

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
///
/// # Errors
/// If Swagger UI is not in its archive.
pub(crate) fn of_service() -> Result<[(&'static str, Page); 4], ConfigError> {
    let [script, style] = SWAGGER_UI.as_ref().map_err(|reason| ConfigError::invalid("the page", reason))?.clone();
    Ok([
        ("", Page::html(include_str!("page/try.html"))),
        ("try.js", Page { media: SCRIPT, bytes: Bytes::from_static(include_bytes!("page/try.js")) }),
        ("swagger-ui-bundle.js", Page { media: SCRIPT, bytes: script }),
        ("swagger-ui.css", Page { media: "text/css; charset=utf-8", bytes: style }),
    ])
}

/// The script and the style sheet of Swagger UI.
static SWAGGER_UI: LazyLock<Result<[Bytes; 2], String>> = LazyLock::new(|| {
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED)).map_err(|error| error.to_string())?;
    Ok([unpacked(&mut archive, "/dist/swagger-ui-bundle.js")?, unpacked(&mut archive, "/dist/swagger-ui.css")?])
});

fn unpacked(archive: &mut ZipArchive<Cursor<&[u8]>>, end: &str) -> Result<Bytes, String> {
    let mut names = archive.file_names().filter_map(Result::ok);
    let name = names.find(|name| name.ends_with(end)).map(Cow::into_owned);
    drop(names);
    let name = name.ok_or_else(|| format!("Swagger UI has no {end}"))?;
    let mut bytes = Vec::new();
    let mut file = archive.by_name(&name).map_err(|error| error.to_string())?;
    file.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes.into())
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
    fn the_page_has_all_that_it_loads() {
        let pages = of_service().expect("Swagger UI is there");
        let [(_, page), (_, own), (script, bundle), (style, sheet)] = &pages;
        let page = std::str::from_utf8(&page.bytes).expect("text");
        for name in [script, style, &"try.js"] {
            assert!(page.contains(&format!("=\"{name}\"")), "{name}");
        }
        assert_eq!(page.matches("src=").count() + page.matches("href=").count(), 4, "these, and an icon in place");
        assert!(std::str::from_utf8(&own.bytes).expect("text").contains("SwaggerUIBundle"));
        assert!(bundle.bytes.len() > 1 << 20 && sheet.bytes.len() > 1 << 16);
    }

    #[test]
    fn titles_are_escaped() {
        assert_eq!(escaped("<a href=\"&\">"), "&lt;a href=&quot;&amp;&quot;&gt;");
    }
}

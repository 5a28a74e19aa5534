//! Commands for a shell that send a request again. They have the options of this run; secrets are
//! left out of them.

use super::Service;
use super::saved::file_name;
use crate::cli::{Access, Loading, Test};
use crate::contract::{SECRET, without_secrets};
use deltasoap_dynamic::testing::{Finding, Form, Report, http_headers};
use deltasoap_http::is_secret_header;
use http::{HeaderName, HeaderValue};
use std::path::Path;

/// Maximum number of bytes of a request in the text of a command.
const MAX_INLINE: usize = 4_000;

/// Returns the command that sends the request again without this program; `None` if the request is
/// no text and was not saved.
pub fn curl(arguments: &Test, services: &[Service], number: usize, finding: &Finding) -> Option<String> {
    let found = services
        .iter()
        .find_map(|service| Some((service, service.operations.iter().find(|it| it.full_name() == finding.operation)?)));
    let (service, operation) = found?;
    let body = match (&arguments.save, std::str::from_utf8(&finding.request)) {
        (Some(folder), _) => format!("@{}", folder.join(format!("{}.xml", file_name(number, finding))).display()),
        // A text that begins with @ would be the name of a file.
        (None, Ok(text)) if text.len() <= MAX_INLINE && !text.starts_with('@') => text.to_owned(),
        (None, _) => return None,
    };
    let access = &arguments.description.loading.access;
    let mut line = Line(format!("curl -sS {}", quoted(&without_secrets(&service.url))));
    for (name, value) in http_headers(operation, finding.form) {
        line.value("-H", &format!("{name}: {value}"));
    }
    if finding.form == Form::Chunked {
        line.value("-H", "Transfer-Encoding: chunked");
    }
    line.access(access);
    line.value("--data-binary", &body);
    Some(line.0)
}

/// Returns the command that sends the case again, with the requests that show it.
pub fn case(arguments: &Test, result: &Report, finding: &Finding) -> String {
    let loading = &arguments.description.loading;
    let mut line = Line(format!("deltasoap test {}", quoted(&without_secrets(&arguments.description.wsdl))));
    line.loading(loading);
    line.access(&loading.access);
    if loading.access.proxy.is_some() {
        line.value("--proxy", SECRET);
    }
    if let Some(url) = &arguments.endpoint {
        line.value("--endpoint", &without_secrets(url));
    }
    line.blocks(arguments);
    line.checks(arguments);
    line.value("--operation", &finding.operation);
    line.value("--seed", &result.seed.to_string());
    line.flag("--encodings", arguments.encodings);
    line.value("--case", &finding.case.to_string());
    line.0
}

/// A command.
struct Line(String);

impl Line {
    fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.0.push_str(&format!(" {name}"));
        }
    }

    fn value(&mut self, name: &str, value: &str) {
        self.0.push_str(&format!(" {name} {}", quoted(value)));
    }

    fn path(&mut self, name: &str, path: Option<&Path>) {
        if let Some(path) = path {
            self.value(name, &path.to_string_lossy());
        }
    }

    /// Adds what curl and this program have in common.
    fn access(&mut self, access: &Access) {
        for (name, value) in &access.headers {
            self.value("-H", &format!("{name}: {}", header_value(name, value)));
        }
        if let Some(user) = &access.user {
            self.flag("--digest", access.digest);
            self.value("-u", without_password(user));
        }
        self.path("--cacert", access.cacert.as_deref());
        self.path("--cert", access.cert.as_deref());
        self.path("--key", access.key.as_deref());
        self.flag("-k", access.insecure);
    }

    fn loading(&mut self, loading: &Loading) {
        self.flag("--offline", loading.offline);
        self.path("--root", loading.root.as_deref());
        self.flag("--allow-private", loading.allow_private);
        for (url, file) in &loading.maps {
            self.value("--map", &format!("{url}={}", file.display()));
        }
        for catalog in &loading.catalogs {
            self.path("--catalog", Some(catalog));
        }
    }

    fn blocks(&mut self, arguments: &Test) {
        if let Some(user) = &arguments.token.wsse_user {
            self.value("--wsse-user", without_password(user));
        }
        self.flag("--wsse-digest", arguments.token.wsse_digest);
        self.flag("--wsse-timestamp", arguments.token.wsse_timestamp);
        self.flag("--wsa", arguments.wsa);
    }

    fn checks(&mut self, arguments: &Test) {
        self.flag("--strict", arguments.strict);
        for (name, checks) in [("--checks", &arguments.checks), ("--exclude-checks", &arguments.exclude_checks)] {
            if !checks.is_empty() {
                self.value(name, &checks.join(","));
            }
        }
        for name in &arguments.idempotent {
            self.value("--idempotent", name);
        }
        if let Some(most) = arguments.max_response_time {
            self.value("--max-response-time", &most.to_string());
        }
    }
}

fn header_value<'v>(name: &HeaderName, value: &'v HeaderValue) -> &'v str {
    value.to_str().ok().filter(|_| !is_secret_header(name)).unwrap_or(SECRET)
}

fn without_password(user: &str) -> &str {
    user.split(':').next().unwrap_or_default()
}

/// Quotes a text for a shell, if it needs that.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@?%+,".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_for_shells() {
        assert_eq!(quoted("http://a/b?c"), "http://a/b?c");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(shlex::split(&quoted("<a b='c'>$x`y`</a>")), Some(vec!["<a b='c'>$x`y`</a>".to_owned()]));
    }
}

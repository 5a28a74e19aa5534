//! Value parsers of options. An invalid value is a usage error, with exit code 2.
//!
//! Errors do not show values that may contain passwords.

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use deltasoap::lexical::is_ncname;
use deltasoap_http::{Proxy, is_secret_header};
use http::header::{CONTENT_LENGTH, TRAILER, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderName, HeaderValue};
use std::ffi::OsStr;
use std::path::PathBuf;
#[cfg(feature = "load")]
use std::time::Duration;
use url::Url;

/// A value parser that wraps a function; the function's error says what is wrong with the value.
#[derive(Clone)]
pub struct ParseWith<T>(pub fn(&str) -> Result<T, String>);

impl<T: Clone + Send + Sync + 'static> TypedValueParser for ParseWith<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let read = value.to_str().ok_or_else(|| "it is not in UTF-8".to_owned()).and_then(self.0);
        read.map_err(|why| {
            let arg = arg.map(|arg| format!("{arg}: ")).unwrap_or_default();
            Error::raw(ErrorKind::ValueValidation, format!("{arg}{why}")).with_cmd(command)
        })
    }
}

/// Parses an HTTP header.
pub fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("expected a name, a colon and a value, and found no colon")?;
    let (name, value) = (name.trim(), value.trim());
    let read: HeaderName = name.parse().map_err(|_| format!("{name:?} is not the name of an HTTP header"))?;
    if [CONTENT_LENGTH, TRAILER, TRANSFER_ENCODING, UPGRADE].contains(&read) {
        return Err(format!("{name} describes the connection or the body, and follows from the request"));
    }
    let mut value =
        HeaderValue::from_str(value).map_err(|_| format!("the value of {name} has a character that HTTP forbids"))?;
    value.set_sensitive(is_secret_header(&read));
    Ok((read, value))
}

/// Parses a number of requests per second.
pub fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| format!("expected a number above 0, found {text:?}"))
}

/// Parses a number of things, such as `1e9`.
#[cfg(feature = "archive")]
pub fn amount(text: &str) -> Result<f64, String> {
    let amount = text.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount >= 1.0);
    amount.ok_or_else(|| format!("expected a number of at least 1, such as 1e9, found {text:?}"))
}

/// Parses a number of bytes, such as `500MB` or `1.5TB`. Units are powers of 1000, and with an `i`
/// (`GiB`) of 1024.
#[cfg(feature = "archive")]
pub fn size(text: &str) -> Result<f64, String> {
    const UNITS: [(&str, f64); 9] = [
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
        ("B", 1.0),
    ];
    let unit = UNITS.into_iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, size)));
    let (number, unit) = unit.unwrap_or((text, 1.0));
    let size = number.trim().parse().ok().map(|number: f64| number * unit);
    let size = size.filter(|size| size.is_finite() && *size >= 1.0);
    size.ok_or_else(|| format!("expected a size such as 500MB or 1TB, found {text:?}"))
}

/// Parses seconds.
#[cfg(feature = "load")]
pub fn seconds(text: &str) -> Result<Duration, String> {
    const MOST: f64 = 1e7;
    let seconds = text.parse().ok().filter(|seconds: &f64| (0.0..=MOST).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| format!("expected seconds from 0 to {MOST}, found {text:?}"))
}

/// Parses a proxy, for all hosts except those that the environment lists.
pub fn proxy(url: &str) -> Result<Proxy, String> {
    let proxy = Proxy::new(url, &Proxy::no_proxy()).map_err(|error| error.to_string())?;
    Ok(proxy.named_by("--proxy"))
}

/// Parses a URL and the file that is read in its place.
pub fn mapping(text: &str) -> Result<(String, PathBuf), String> {
    let parts = text.rsplit_once('=').filter(|(url, file)| !url.is_empty() && !file.is_empty());
    let (url, file) = parts.ok_or_else(|| format!("expected URL=FILE, found {text:?}"))?;
    Ok((url.to_owned(), file.into()))
}

/// Checks a header block: XML, or a name and the content of the block.
pub fn header_block(text: &str) -> Result<String, String> {
    let is_named = text.split_once('=').is_some_and(|(name, _)| !name.trim().is_empty());
    match is_named || text.trim_start().starts_with('<') {
        true => Ok(text.to_owned()),
        false => Err(format!("expected NAME=JSON, NAME=@FILE or XML, found {text:?}")),
    }
}

/// Checks the name of a header block: `{namespace}Name` or `Name`.
pub fn block_name(text: &str) -> Result<String, String> {
    let local = match text.strip_prefix('{') {
        Some(rest) => rest.split_once('}').map(|(_, local)| local),
        None => Some(text),
    };
    match local {
        Some(local) if is_ncname(local) => Ok(text.to_owned()),
        _ => Err(format!("expected {{namespace}}Name or Name, found {text:?}")),
    }
}

/// Returns the URL of a service in ASCII: an internationalized host by its IDNA name, other
/// characters percent-encoded.
pub fn endpoint(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|error| format!("the URL is malformed: {error}"))?;
    match url.scheme() {
        "http" | "https" => Ok(url.into()),
        other => Err(format!("the scheme of the URL is {other}; http and https are supported")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_positive_numbers() {
        assert_eq!(rate("0.5"), Ok(0.5));
        assert!(["0", "-1", "NaN", "inf", "x"].iter().all(|text| rate(text).is_err()));
    }

    #[test]
    fn headers_that_frame_the_request_are_not_for_users() {
        for text in ["Content-Length: 3", "transfer-encoding: gzip", "Trailer: x", "Upgrade: h2c"] {
            assert!(header(text).is_err_and(|why| why.contains("follows from the request")), "{text}");
        }
        for text in ["Host: other", "X: 1", "Authorization:Bearer x"] {
            assert!(header(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn urls_are_written_in_ascii() {
        for (text, expected) in [
            ("http://b\u{FC}cher.example/", "http://xn--bcher-kva.example/"),
            ("http://a/my service?\u{FC}", "http://a/my%20service?%C3%BC"),
            ("https://a:8443/x", "https://a:8443/x"),
        ] {
            assert_eq!(endpoint(text).as_deref(), Ok(expected));
        }
        assert!(endpoint("ftp://a/").is_err() && endpoint("a/b").is_err());
    }
}

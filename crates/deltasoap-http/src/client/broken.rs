//! Exchanges that break off: what happened, where, and what can be done.

use super::error::{causes, shown};
use super::network::Unreachable;
use crate::error::BoxError;
use crate::transport::Unsent;
use http::Uri;
use std::error::Error;
use std::fmt;
use std::io;

/// An exchange without an answer in HTTP, although there was a connection.
#[derive(Debug)]
pub(super) struct BrokenExchange {
    url: String,
    kind: Kind,
    source: BoxError,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Closed,
    NotHttp,
}

/// Explains the error of an exchange with a URL, if it broke off.
pub(super) fn explained(error: BoxError, url: &Uri) -> BoxError {
    match kind(&*error) {
        Some(kind) => Box::new(BrokenExchange { url: shown(url), kind, source: error }),
        None => error,
    }
}

fn kind(error: &(dyn Error + 'static)) -> Option<Kind> {
    if causes(error).any(|cause| cause.is::<Unreachable>() || cause.is::<Unsent>()) {
        return None;
    }
    let http = causes(error).find_map(|cause| cause.downcast_ref::<hyper::Error>())?;
    let is_closed = http.is_incomplete_message() || http.is_closed() || causes(http).any(is_reset);
    match () {
        () if is_closed => Some(Kind::Closed),
        () if http.is_parse() && !http.is_parse_too_large() => Some(Kind::NotHttp),
        () => None,
    }
}

fn is_reset(error: &(dyn Error + 'static)) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let closed = [BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof];
    error.downcast_ref::<io::Error>().is_some_and(|error| closed.contains(&error.kind()))
}

impl fmt::Display for BrokenExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = &self.url;
        match self.kind {
            Kind::Closed => write!(
                f,
                "{url} closed the connection without an answer: see the log of the server or of a proxy before it; set \
                 CallOptions::idempotent if the call may be repeated"
            ),
            Kind::NotHttp => {
                write!(f, "{url} does not answer in valid HTTP: is it the port of another protocol, such as https?")
            }
        }
    }
}

impl Error for BrokenExchange {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

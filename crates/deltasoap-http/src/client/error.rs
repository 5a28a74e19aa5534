//! Errors of calls.

use super::broken::BrokenExchange;
use super::network::Unreachable;
use super::redirects::RedirectError;
use crate::attachments::AttachmentError;
use crate::charset::CharsetError;
use crate::coding::CodingError;
use crate::error::BoxError;
use crate::secured::WriteError;
use crate::validation::Invalid;
use deltasoap_core::Error;
use deltasoap_core::soap::Fault;
use http::header::InvalidHeaderValue;
use http::{StatusCode, Uri};
use std::fmt;
use std::time::Duration;

/// The reason why a call returned no response.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The request could not be sent, or the answer did not arrive.
    Http(BoxError),
    /// The answer is not a SOAP message, or has an error status and is malformed.
    Status(Box<StatusError>),
    /// The answer is a fault.
    Fault(Box<Fault>),
    /// The answer is malformed, or is not the expected message.
    Decode(Error),
    /// The answer has a header block that must be understood, but neither the client nor the call
    /// [understands](crate::CallOptions::understands).
    NotUnderstood(Error),
    /// The answer is not in the encoding that its media type names.
    Charset(CharsetError),
    /// The client's [inspector](crate::ClientBuilder::inspect) or an
    /// [interceptor](crate::ClientBuilder::intercept_response) refused the answer.
    Refused(BoxError),
    /// An [interceptor](crate::ClientBuilder::intercept) refused the request, or the settings of
    /// the client do not allow the call. It was not sent.
    RefusedRequest(BoxError),
    /// The request could not be secured as the client requires; it was not sent.
    Unsecured(BoxError),
    /// The answer lacks security that the client requires, or its security is invalid. If it is a
    /// fault, the text has its reason, which anyone may have written; the cause is what is wrong
    /// with it.
    Insecure(BoxError),
    /// The answer violates its schema, and the client
    /// [refuses](crate::ClientBuilder::validate) such answers.
    InvalidResponse(Invalid),
    /// The request violates its schema; it was not sent. See
    /// [`ClientBuilder::validate_sent`](crate::ClientBuilder::validate_sent).
    InvalidRequest(Invalid),
    /// The content coding of the answer, or its transfer coding, cannot be decoded.
    Coding(CodingError),
    /// The parts that came with the answer are malformed.
    Attachment(AttachmentError),
    /// The request contains text that XML cannot carry.
    Encode(Error),
    /// The action contains characters that an HTTP header cannot carry.
    Action(InvalidHeaderValue),
    /// The call took too long.
    Timeout(TimeoutError),
    /// The answer is a redirect that the client does not follow, although it follows
    /// [others](crate::ClientBuilder::redirects).
    Redirect(RedirectError),
}

impl From<WriteError> for CallError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Encode(error) => CallError::Encode(error),
            WriteError::Protect(error) => CallError::Unsecured(error),
        }
    }
}

impl CallError {
    /// Creates the error of an answer with a status and a malformed message.
    pub fn malformed(status: StatusCode, error: Error) -> Self {
        if status.is_success() {
            return CallError::Decode(error);
        }
        let cause = Some(MessageError::Decode(error));
        CallError::Status(Box::new(StatusError { cause, ..StatusError::new(status) }))
    }
}

/// The limit on time that a call exceeded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TimeoutError {
    url: Option<String>,
    limit: Option<Duration>,
    /// True if only an attempt was limited.
    is_attempt: bool,
}

impl TimeoutError {
    /// Creates the error of a call that exceeded its limit.
    pub(super) fn of_call(limit: Duration) -> Self {
        TimeoutError { limit: Some(limit), ..Self::default() }
    }

    /// Creates the error of an attempt that exceeded its limit.
    pub(super) fn of_attempt(limit: Duration) -> Self {
        TimeoutError { is_attempt: true, ..Self::of_call(limit) }
    }

    /// Adds the URL of the endpoint, unless it is there.
    pub(super) fn at(self, url: &Uri) -> Self {
        let url = self.url.or_else(|| Some(shown(url)));
        TimeoutError { url, ..self }
    }

    /// Returns the limit; `None` if it is not known here.
    pub fn limit(&self) -> Option<Duration> {
        self.limit
    }
}

impl fmt::Display for TimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} did not answer within ", self.url.as_deref().unwrap_or("the server"))?;
        match self.limit {
            Some(limit) => write!(f, "{} s", limit.as_secs_f64())?,
            None => f.write_str("the time of the call")?,
        }
        f.write_str(match self.is_attempt {
            true => ", the limit of an attempt set by Retries::attempt_timeout",
            false => ", the limit set by ClientBuilder::timeout or CallOptions::timeout",
        })
    }
}

impl std::error::Error for TimeoutError {}

/// Returns a URL without what may be secret: user, password and query.
pub(super) fn shown(url: &Uri) -> String {
    let authority = url.authority().map_or("", |authority| authority.as_str());
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{}://{host}{}", url.scheme_str().unwrap_or_default(), url.path())
}

/// Returns a location of a redirect, which may be relative, without what may be secret.
pub(super) fn shown_location(location: &str) -> String {
    match location.parse::<Uri>() {
        Ok(url) if url.host().is_some() => shown(&url),
        _ => location.split(['?', '#']).next().unwrap_or_default().to_owned(),
    }
}

/// An HTTP answer that is not a readable SOAP message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StatusError {
    /// The URL of the call, without user and query; `None` if it is not known here.
    pub url: Option<String>,
    /// The status.
    pub status: StatusCode,
    /// Where the answer redirects to, as received.
    pub location: Option<String>,
    /// The declared media type of the body, as received.
    pub media_type: Option<String>,
    /// The first bytes of the body, for people; at most 512 of them.
    pub excerpt: String,
    /// The authentication schemes that the server offers, or a proxy with status 407.
    pub schemes: Vec<String>,
    /// The error in the message, if there is a message.
    pub cause: Option<MessageError>,
}

impl StatusError {
    /// Creates the error of an answer without a body.
    pub(super) fn new(status: StatusCode) -> Self {
        StatusError {
            url: None,
            status,
            location: None,
            media_type: None,
            excerpt: String::new(),
            schemes: Vec::new(),
            cause: None,
        }
    }

    /// Adds the URL of the call, unless it is there.
    pub(super) fn at(self, url: &Uri) -> Self {
        let url = self.url.or_else(|| Some(shown(url)));
        StatusError { url, ..self }
    }

    /// Returns what can be done, where the status tells.
    fn remedy(&self) -> Option<String> {
        match (&self.location, self.status) {
            (Some(location), _) => Some(format!(
                "it redirects to {}, which is not followed: use that URL, or set ClientBuilder::redirects",
                shown_location(location)
            )),
            (None, StatusCode::ACCEPTED) if self.excerpt.is_empty() => {
                Some("the service took the message as one-way: send it with Client::send".to_owned())
            }
            _ => None,
        }
    }
}

/// The error in a message that came with an error status.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum MessageError {
    /// The message is malformed.
    Decode(Error),
    /// The message is not in the encoding that its media type names, or in an unsupported one.
    Charset(CharsetError),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Http(error) => match reason(error) {
                Some(reason) => write!(f, "{reason}"),
                None => write!(f, "the HTTP exchange failed: {error}"),
            },
            CallError::Status(error) => error.fmt(f),
            CallError::Fault(fault) => fault.fmt(f),
            CallError::Decode(error) => write!(f, "the answer is malformed: {error}"),
            CallError::NotUnderstood(error) => write!(f, "the answer is refused: {error}"),
            CallError::Charset(error) => write!(f, "the answer cannot be read: {error}"),
            CallError::Refused(error) => write!(f, "the answer is refused: {error}"),
            CallError::RefusedRequest(error) => write!(f, "the request was not sent: {error}"),
            CallError::Unsecured(error) => write!(f, "the request was not sent: {error}"),
            CallError::Insecure(error) => write!(f, "the answer is refused: {error}"),
            CallError::InvalidResponse(error) => write!(f, "the answer is refused: {error}"),
            CallError::InvalidRequest(error) => write!(f, "the request was not sent: {error}"),
            CallError::Coding(error) => write!(f, "the answer cannot be read: {error}"),
            CallError::Attachment(error) => write!(f, "the answer's package is malformed: {error}"),
            CallError::Encode(error) => write!(f, "the request cannot be written: {error}"),
            CallError::Action(_) => f.write_str("the action has a character that an HTTP header cannot carry"),
            CallError::Timeout(error) => error.fmt(f),
            CallError::Redirect(error) => error.fmt(f),
        }
    }
}

/// The text contains that of the error inside, so the source is what that error was caused by.
impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CallError::Http(error) => reason(error).unwrap_or(&**error).source(),
            CallError::Refused(error)
            | CallError::RefusedRequest(error)
            | CallError::Unsecured(error)
            | CallError::Insecure(error) => error.source(),
            CallError::Attachment(error) => error.source(),
            CallError::Action(error) => Some(error),
            CallError::Status(_)
            | CallError::Fault(_)
            | CallError::Decode(_)
            | CallError::NotUnderstood(_)
            | CallError::Charset(_)
            | CallError::Coding(_)
            | CallError::Encode(_)
            | CallError::InvalidResponse(_)
            | CallError::InvalidRequest(_)
            | CallError::Timeout(_)
            | CallError::Redirect(_) => None,
        }
    }
}

/// Returns the reason why the exchange failed, if it stands alone. The layers of HTTP above
/// [`Unreachable`] only say that there is no connection.
fn reason(error: &BoxError) -> Option<&(dyn std::error::Error + 'static)> {
    let mut causes = causes(&**error);
    causes.find(|error| error.is::<Unreachable>() || error.is::<BrokenExchange>())
}

/// Returns an error and what it was caused by.
pub(super) fn causes<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}

impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(url) = &self.url {
            write!(f, "{url} answered with ")?;
        }
        if let Some(cause) = &self.cause {
            return write!(f, "HTTP status {} and {cause}", self.status);
        }
        write!(f, "HTTP status {} and no SOAP message", self.status)?;
        if let Some(media_type) = self.media_type.as_ref().filter(|_| !self.excerpt.is_empty()) {
            write!(f, ", but {media_type}")?;
        }
        if !self.schemes.is_empty() {
            write!(f, " (authentication is offered by {})", self.schemes.join(", "))?;
        }
        match self.remedy() {
            Some(remedy) => write!(f, "; {remedy}"),
            None if self.excerpt.is_empty() => Ok(()),
            None => write!(f, ": {}", self.excerpt),
        }
    }
}

impl std::error::Error for StatusError {}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MessageError::Decode(error) => write!(f, "a malformed SOAP message: {error}"),
            MessageError::Charset(error) => write!(f, "a message that cannot be read: {error}"),
        }
    }
}

impl std::error::Error for MessageError {}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(1500);

    #[test]
    fn urls_are_shown_without_secrets() {
        let of = |url: &'static str| shown(&Uri::from_static(url));
        assert_eq!(of("http://ada:secret@a.example:80/x?key=1"), "http://a.example:80/x");
        assert_eq!(of("https://a.example/ada@x"), "https://a.example/ada@x");
    }

    #[test]
    fn what_took_too_long_is_named_with_its_limit() {
        let url = Uri::from_static("https://ada:secret@a.example/soap?key=1");
        let said = |error: TimeoutError| CallError::Timeout(error.at(&url)).to_string();
        assert_eq!(
            said(TimeoutError::of_call(LIMIT)),
            "https://a.example/soap did not answer within 1.5 s, the limit set by ClientBuilder::timeout or CallOptions::timeout"
        );
        assert_eq!(
            said(TimeoutError::of_attempt(LIMIT)),
            "https://a.example/soap did not answer within 1.5 s, the limit of an attempt set by Retries::attempt_timeout"
        );
        let unknown = CallError::Timeout(TimeoutError::default()).to_string();
        assert!(unknown.starts_with("the server did not answer within the time of the call, the limit"), "{unknown}");
    }
}

//! What can be different from one call to the next.

use super::trace::Trace;
use super::understood::Understood;
use crate::{Mtom, Part, is_secret_header};
use deltasoap_core::QName;
use deltasoap_core::schema::Use;
use deltasoap_core::soap::HeaderBlock;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use std::borrow::Cow;
use std::time::Duration;

/// Settings of one call; what is not set is the client's.
#[derive(Debug, Clone, Default)]
pub struct CallOptions {
    pub(super) headers: Vec<HeaderBlock>,
    pub(super) action: Option<Cow<'static, str>>,
    pub(super) encoding: Option<Use>,
    pub(super) references: Option<bool>,
    pub(super) timeout: Option<Duration>,
    pub(super) http_headers: HeaderMap,
    /// Written in full whatever was sent before, and not kept.
    pub(super) is_single: bool,
    pub(super) parts: Vec<Part>,
    pub(super) mtom: Option<Mtom>,
    pub(super) is_idempotent: bool,
    pub(super) trace: Option<Trace>,
    pub(super) understood: Understood,
}

impl CallOptions {
    /// The client's settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a SOAP header block.
    #[must_use]
    pub fn header(mut self, block: HeaderBlock) -> Self {
        self.headers.push(block);
        self
    }

    /// The SOAP header blocks that were added.
    pub fn header_blocks(&self) -> &[HeaderBlock] {
        &self.headers
    }

    /// The action: `SOAPAction` in 1.1, a parameter of the media type in 1.2.
    #[must_use]
    pub fn action(mut self, action: impl Into<Cow<'static, str>>) -> Self {
        self.action = Some(action.into());
        self
    }

    /// How the request is laid out.
    #[must_use]
    pub fn encoding(mut self, encoding: Use) -> Self {
        self.encoding = Some(encoding);
        self
    }

    /// Whether shared values are written once; see [`ClientBuilder::references`](crate::ClientBuilder::references).
    #[must_use]
    pub fn references(mut self, are_written: bool) -> Self {
        self.references = Some(are_written);
        self
    }

    /// How long the call may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Whether the request is written against the client's [templates](crate::ClientBuilder::templating), and becomes one
    /// itself; without, it is written in full. Default: yes.
    #[must_use]
    pub fn templates(mut self, are_used: bool) -> Self {
        self.is_single = !are_used;
        self
    }

    /// Adds a part that is sent with the message: in MIME, or as the client's [options](crate::ClientBuilder::attachments) say.
    #[must_use]
    pub fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// When binary values are sent as parts of their own.
    #[must_use]
    pub fn mtom(mut self, mtom: Mtom) -> Self {
        self.mtom = Some(mtom);
        self
    }

    /// Adds an HTTP header, in place of one of the same name that the client would send. One whose name [tells a
    /// secret](is_secret_header) counts as marked as sensitive: it is not shown, and not sent to another origin.
    #[must_use]
    pub fn http_header(mut self, name: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(value.is_sensitive() || is_secret_header(&name));
        self.http_headers.insert(name, value);
        self
    }

    /// Whether the operation may be carried out more than once with the same effect as once, so that the request is sent again where
    /// it is not known what became of it; see [`Retries`](crate::Retries). Default: no.
    #[must_use]
    pub fn idempotent(mut self, is_idempotent: bool) -> Self {
        self.is_idempotent = is_idempotent;
        self
    }

    /// Says that the caller understands header blocks of this name in the response, besides those that the
    /// [client](crate::ClientBuilder::understands) does. A response with a mandatory block that nobody understands is an error
    /// ([`CallError::NotUnderstood`](crate::CallError::NotUnderstood)).
    #[must_use]
    pub fn understands(mut self, header: QName) -> Self {
        self.understood.names.push(header);
        self
    }

    /// Takes responses with whatever mandatory header blocks: the caller looks at them itself, or may do without.
    #[must_use]
    pub fn understands_all(mut self) -> Self {
        self.understood.all = true;
        self
    }

    /// Notes what goes over the wire, instead of where [the client](crate::ClientBuilder::trace) does.
    #[must_use]
    pub fn trace(mut self, trace: &Trace) -> Self {
        self.trace = Some(trace.clone());
        self
    }
}

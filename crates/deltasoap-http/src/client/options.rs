//! Settings that can differ from one call to the next.

use super::addressing::CallAddressing;
use super::trace::Trace;
use super::understood::Understood;
use crate::attachments::{Mtom, Part};
use crate::secret::is_secret_header;
use crate::secured::{Exchange, Protect};
use deltasoap_core::QName;
use deltasoap_core::schema::Use;
use deltasoap_core::soap::HeaderBlock;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// Settings of one call; the client's settings apply to the rest.
#[derive(Debug, Clone, Default)]
pub struct CallOptions {
    pub(super) headers: Vec<HeaderBlock>,
    pub(super) action: Option<Cow<'static, str>>,
    pub(super) encoding: Option<Use>,
    pub(super) references: Option<bool>,
    pub(super) timeout: Option<Duration>,
    pub(super) http_headers: HeaderMap,
    pub(super) templates: Option<bool>,
    pub(super) parts: Vec<Part>,
    pub(super) mtom: Option<Mtom>,
    pub(super) is_idempotent: Option<bool>,
    pub(super) trace: Option<Trace>,
    pub(super) understood: Understood,
    /// On the heap, since few calls set any.
    pub(super) addressing: Option<Box<CallAddressing>>,
    pub(super) protection: Option<Arc<dyn Protect>>,
    /// What the response is verified against; set when the request is secured.
    pub(super) exchange: Option<Exchange>,
}

impl CallOptions {
    /// Creates options with the client's settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns these options with others added, which replace those of the same kind. Header
    /// blocks, parts and what is understood add up.
    ///
    /// ```
    /// # use deltasoap_http::CallOptions;
    /// # use std::time::Duration;
    /// let patient = CallOptions::new().timeout(Duration::from_secs(300)).action("urn:a");
    /// let options = patient.and(CallOptions::new().action("urn:b"));
    /// // Five minutes, and the action "urn:b".
    /// ```
    #[must_use]
    pub fn and(mut self, later: CallOptions) -> Self {
        self.headers.extend(later.headers);
        self.parts.extend(later.parts);
        for (name, value) in &later.http_headers {
            self.http_headers.insert(name, value.clone());
        }
        CallOptions {
            headers: self.headers,
            action: later.action.or(self.action),
            encoding: later.encoding.or(self.encoding),
            references: later.references.or(self.references),
            timeout: later.timeout.or(self.timeout),
            http_headers: self.http_headers,
            templates: later.templates.or(self.templates),
            parts: self.parts,
            mtom: later.mtom.or(self.mtom),
            is_idempotent: later.is_idempotent.or(self.is_idempotent),
            trace: later.trace.or(self.trace),
            understood: self.understood.and(later.understood),
            addressing: match (self.addressing, later.addressing) {
                (Some(own), Some(later)) => Some(Box::new(own.and(*later))),
                (own, later) => later.or(own),
            },
            protection: later.protection.or(self.protection),
            exchange: None,
        }
    }

    /// Adds a SOAP header block.
    #[must_use]
    pub fn header(mut self, block: HeaderBlock) -> Self {
        self.headers.push(block);
        self
    }

    /// Returns the SOAP header blocks that were added.
    pub fn header_blocks(&self) -> &[HeaderBlock] {
        &self.headers
    }

    /// Sets the action: `SOAPAction` in 1.1, a parameter of the media type in 1.2.
    #[must_use]
    pub fn action(mut self, action: impl Into<Cow<'static, str>>) -> Self {
        self.action = Some(action.into());
        self
    }

    /// Sets the encoding of the request.
    #[must_use]
    pub fn encoding(mut self, encoding: Use) -> Self {
        self.encoding = Some(encoding);
        self
    }

    /// Sets whether shared values are written once; see
    /// [`ClientBuilder::references`](crate::ClientBuilder::references).
    #[must_use]
    pub fn references(mut self, are_written: bool) -> Self {
        self.references = Some(are_written);
        self
    }

    /// Sets the maximum time of the call.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets whether the request is written against the client's
    /// [templates](crate::ClientBuilder::templating), and becomes a template itself. Otherwise it
    /// is written in full. Default: true.
    #[must_use]
    pub fn templates(mut self, are_used: bool) -> Self {
        self.templates = Some(are_used);
        self
    }

    /// Adds a part that is sent with the message: in MIME, or as set in the client's
    /// [options](crate::ClientBuilder::attachments).
    #[must_use]
    pub fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Sets when binary values are sent as separate parts.
    #[must_use]
    pub fn mtom(mut self, mtom: Mtom) -> Self {
        self.mtom = Some(mtom);
        self
    }

    /// Adds an HTTP header, which replaces a header of the same name from the client. If its name
    /// [indicates a secret](is_secret_header), it is treated as sensitive: it is not shown, and not
    /// sent to another origin.
    #[must_use]
    pub fn http_header(mut self, name: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(value.is_sensitive() || is_secret_header(&name));
        self.http_headers.insert(name, value);
        self
    }

    /// Sets whether the operation can be repeated with the same effect, so that the request is sent
    /// again if its outcome is unknown; see [`Retries`](crate::Retries). Default: false.
    #[must_use]
    pub fn idempotent(mut self, is_idempotent: bool) -> Self {
        self.is_idempotent = Some(is_idempotent);
        self
    }

    /// Declares that the caller understands header blocks of this name in the response, in addition
    /// to those of the [client](crate::ClientBuilder::understands). A response with a mandatory
    /// block that is not understood is an error
    /// ([`CallError::NotUnderstood`](crate::CallError::NotUnderstood)).
    #[must_use]
    pub fn understands(mut self, header: QName) -> Self {
        self.understood.names.push(header);
        self
    }

    /// Accepts responses with any mandatory header blocks: the caller checks them itself, or
    /// ignores them.
    #[must_use]
    pub fn understands_all(mut self) -> Self {
        self.understood.all = true;
        self
    }

    /// Secures the request, in place of the client's
    /// [protection](crate::ClientBuilder::protection).
    #[cfg(feature = "security")]
    #[must_use]
    pub fn protection(mut self, protection: deltasoap_security::Protection) -> Self {
        self.protection = Some(Arc::new(protection));
        self
    }

    /// Records the exchanges here, instead of in the trace of [the
    /// client](crate::ClientBuilder::trace).
    #[must_use]
    pub fn trace(mut self, trace: &Trace) -> Self {
        self.trace = Some(trace.clone());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_options_add_to_earlier_ones() {
        let header = |name| (HeaderName::from_static(name), HeaderValue::from_static("1"));
        let (name, value) = header("x-a");
        let part = || Part::new("part", "text/plain", &b"x"[..]);
        let first = CallOptions::new()
            .timeout(Duration::from_secs(5))
            .action("urn:a")
            .part(part())
            .idempotent(true)
            .templates(false)
            .understands(QName::new("urn:h", "one"))
            .http_header(name, value);
        let (name, value) = header("x-b");
        let later = CallOptions::new()
            .action("urn:b")
            .part(part())
            .templates(true)
            .understands(QName::new("urn:h", "two"))
            .http_header(name, value);
        let both = first.clone().and(later);
        assert_eq!((both.timeout, both.action.as_deref()), (Some(Duration::from_secs(5)), Some("urn:b")));
        assert_eq!((both.is_idempotent, both.templates), (Some(true), Some(true)));
        assert_eq!((both.parts.len(), both.http_headers.len(), both.understood.names.len()), (2, 2, 2));
        let same = first.and(CallOptions::new());
        assert_eq!((same.action.as_deref(), same.templates, same.parts.len()), (Some("urn:a"), Some(false), 1));
    }
}

//! The context of a request: everything besides its body.

use super::auth::PeerCertificates;
use super::memory::Principal;
use crate::attachments::Attachments;
use crate::media::{self, MediaType};
use crate::transport::Peer;
use crate::validation::Finding;
use deltasoap_core::decode::Deviation;
use deltasoap_core::soap::{Head, HeaderBlock, Version};
use deltasoap_core::{Error, Message};
use http::HeaderMap;
use http::request::Parts;
use std::net::SocketAddr;
use std::sync::Arc;

/// A request without its body: header blocks, HTTP headers, and the extensions attached by layers
/// around the service.
#[derive(Debug)]
pub struct Context {
    head: Arc<Head>,
    parts: Arc<Parts>,
    /// `None` if an argument of the handler took them.
    attachments: Option<Attachments>,
    remarks: Arc<Remarks>,
    /// The roles of the service.
    roles: Arc<[String]>,
}

/// What was accepted in a request although its schema does not allow it.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    pub(crate) deviations: Vec<Deviation>,
    pub(crate) findings: Vec<Finding>,
}

/// Attached to requests that came over TLS.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Secure;

impl Context {
    pub(crate) fn new(
        head: Head,
        parts: Parts,
        attachments: Attachments,
        remarks: Remarks,
        roles: Arc<[String]>,
    ) -> Self {
        let (head, parts, remarks) = (Arc::new(head), Arc::new(parts), Arc::new(remarks));
        Context { head, parts, attachments: Some(attachments), remarks, roles }
    }

    /// Returns the context; leaves one behind that lacks only the attachments.
    pub(super) fn take(&mut self) -> Self {
        Context {
            head: Arc::clone(&self.head),
            parts: Arc::clone(&self.parts),
            attachments: self.attachments.take(),
            remarks: Arc::clone(&self.remarks),
            roles: Arc::clone(&self.roles),
        }
    }

    /// Returns the attachments; `None` if an argument before has taken them.
    pub(super) fn take_attachments(&mut self) -> Option<Attachments> {
        self.attachments.take()
    }

    /// Returns the parts that came with the message, which may still be arriving.
    ///
    /// When a handler succeeds, the service reads the rest of the package, up to
    /// [`AttachmentLimits::total`](crate::AttachmentLimits), and checks it before it sends the
    /// answer. If the package is invalid, the client gets a fault instead, with status 400, or 413
    /// if a limit is exceeded. A handler can do the same earlier with [`Attachments::finish`], for
    /// example before it commits a transaction. A handler that moves its context elsewhere, for
    /// example into a part of the response that it streams, must read to the end itself. After a
    /// fault the rest is not read, which may end the connection.
    pub fn attachments(&mut self) -> &mut Attachments {
        self.attachments.get_or_insert_default()
    }

    /// Returns the deviations of the message from its schema that the service
    /// [accepted](crate::SoapServiceBuilder::tolerance). Content that is equal to an earlier
    /// message is not reported again.
    pub fn deviations(&self) -> &[Deviation] {
        &self.remarks.deviations
    }

    /// Returns the violations of the schema in the message that the service
    /// [reports](crate::Validation::Report). An invalid value is reported each time, also if it is
    /// equal to that of an earlier message. Requests whose items
    /// [arrive](crate::Operation::with_items) while the handler runs are not validated.
    pub fn findings(&self) -> &[Finding] {
        &self.remarks.findings
    }

    /// Returns the SOAP header blocks and the version.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Returns the version of SOAP.
    pub fn version(&self) -> Version {
        self.head.version()
    }

    /// Returns the first header block with the type's element name that is for this service, as a
    /// typed value. Blocks for other [roles](crate::SoapServiceBuilder::role) are only in
    /// [`head`](Self::head) (SOAP 1.2 part 1, 2.2).
    pub fn header<T: Message>(&self) -> Option<Result<T, Error>> {
        let is_ours = |block: &&HeaderBlock| block.is_for(self.version(), &self.roles);
        self.head.headers.iter().filter(is_ours).find_map(HeaderBlock::to_typed)
    }

    /// Returns the method, URI, HTTP headers and extensions.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Returns an extension that a layer around the service has attached to the request.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.parts.extensions.get()
    }

    /// Attaches an extension to the request, which replaces one of the same type.
    pub fn insert_extension<T: Clone + Send + Sync + 'static>(&mut self, extension: T) {
        Arc::make_mut(&mut self.parts).extensions.insert(extension);
    }

    /// Returns the address that the request came from, if [`Server`](crate::Server) accepted it.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.extension::<Peer>().map(|peer| peer.0)
    }

    /// Returns the sender of the request, if it was authenticated: by
    /// [`SoapServiceBuilder::authenticate`](crate::SoapServiceBuilder::authenticate), or by a layer
    /// around the service.
    pub fn principal(&self) -> Option<&Principal> {
        self.extension()
    }

    /// Returns the certificates that the client presented, if [`Server`](crate::Server) requested
    /// them.
    pub fn peer_certificates(&self) -> Option<&PeerCertificates> {
        self.extension()
    }

    /// Returns the action of the request: `SOAPAction` in 1.1, a parameter of the media type in
    /// 1.2; in MTOM possibly a parameter of the media type in its `start-info`. If the version's
    /// own place contains none, the other version's is used.
    pub fn action(&self) -> Option<String> {
        requested_action(&self.parts.headers, self.version())
    }

    /// Returns the actions of all these places, and of the message's own headers in its package.
    pub(crate) fn actions(&self) -> impl Iterator<Item = String> {
        let of_root = self.attachments.iter().flat_map(Attachments::root_actions).cloned();
        requested_actions(&self.parts.headers, self.version()).chain(of_root)
    }
}

/// See [`Context::action`].
pub(crate) fn requested_action(headers: &HeaderMap, version: Version) -> Option<String> {
    requested_actions(headers, version).next()
}

/// Returns the actions of all places that may contain one, in order of precedence.
fn requested_actions(headers: &HeaderMap, version: Version) -> impl Iterator<Item = String> {
    let header = headers.get("soapaction").and_then(|value| value.to_str().ok()).map(media::unquote);
    let media = MediaType::from_headers(headers);
    let start_info = media.as_ref().and_then(|media| MediaType::parse(media.parameter("start-info")?));
    let (own, inside) = (media.and_then(|media| media.action), start_info.and_then(|inside| inside.action));
    let places = match version {
        Version::Soap11 => [header, own, inside],
        Version::Soap12 => [own, inside, header],
    };
    places.into_iter().flatten()
}

//! What a handler can know of a request besides its body.

use super::auth::PeerCertificates;
use super::memory::Principal;
use crate::media::{self, MediaType};
use crate::{Attachments, Peer};
use deltasoap_core::decode::Deviation;
use deltasoap_core::soap::{Head, HeaderBlock, Version};
use deltasoap_core::{Error, Message};
use http::HeaderMap;
use http::request::Parts;
use std::net::SocketAddr;

/// A request without its body: header blocks, HTTP headers, and what the layers around the service have attached.
#[derive(Debug)]
pub struct Context {
    head: Head,
    parts: Parts,
    attachments: Attachments,
    deviations: Vec<Deviation>,
}

/// Attached to requests that came over TLS.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Secure;

impl Context {
    pub(crate) fn new(head: Head, parts: Parts, attachments: Attachments, deviations: Vec<Deviation>) -> Self {
        Context { head, parts, attachments, deviations }
    }

    /// The parts that came with the message, which may be still on their way.
    ///
    /// When a handler succeeds, the service reads what the handler left of the package, up to
    /// [`AttachmentLimits::total`](crate::AttachmentLimits), and checks it before it sends the answer. If the package is invalid the
    /// client gets a fault instead, with status 400, or 413 for a limit. A handler can do the same earlier, as before it commits a
    /// transaction, by [`Attachments::finish`]. A handler that moves its context elsewhere, as into a part of the response
    /// that it streams, has to read to the end itself. After a fault the rest is not read, which may end the connection.
    pub fn attachments(&mut self) -> &mut Attachments {
        &mut self.attachments
    }

    /// What the message had beyond its schema, and the service [accepted](crate::ServiceBuilder::tolerance). Of what was equal to an
    /// earlier message nothing is said.
    pub fn deviations(&self) -> &[Deviation] {
        &self.deviations
    }

    /// The SOAP header blocks and the version.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The version of SOAP.
    pub fn version(&self) -> Version {
        self.head.version()
    }

    /// The first header block with the type's element name, as a typed value.
    pub fn header<T: Message>(&self) -> Option<Result<T, Error>> {
        self.head.headers.iter().find_map(HeaderBlock::to_typed)
    }

    /// Method, URI, HTTP headers and extensions.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// What a layer around the service has attached to the request.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.parts.extensions.get()
    }

    /// The address that the request came from, where [`Server`](crate::Server) accepted it.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.extension::<Peer>().map(|peer| peer.0)
    }

    /// Who sent the request, where that was found out: by [`ServiceBuilder::authenticate`](crate::ServiceBuilder::authenticate), or
    /// by a layer in front of the service.
    pub fn principal(&self) -> Option<&Principal> {
        self.extension()
    }

    /// The certificates that the client has shown, where [`Server`](crate::Server) asked for some.
    pub fn peer_certificates(&self) -> Option<&PeerCertificates> {
        self.extension()
    }

    /// The action that the request names: `SOAPAction` in 1.1, a parameter of the media type in 1.2; in MTOM perhaps of the
    /// media type that its `start-info` gives. Where a version's own place names none, the other's counts.
    pub fn action(&self) -> Option<String> {
        requested_action(&self.parts.headers, self.version())
    }
}

/// See [`Context::action`].
pub(crate) fn requested_action(headers: &HeaderMap, version: Version) -> Option<String> {
    let from_header = || headers.get("soapaction")?.to_str().ok().map(media::unquote);
    let from_media = || {
        let media = MediaType::of(headers)?;
        let inside = media.parameter("start-info").and_then(MediaType::parse).and_then(|inside| inside.action);
        media.action.or(inside)
    };
    match version {
        Version::Soap11 => from_header().or_else(from_media),
        Version::Soap12 => from_media().or_else(from_header),
    }
}

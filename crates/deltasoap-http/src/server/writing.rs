//! Writes responses: against the templates of earlier ones if templates can be kept, otherwise in
//! full.
//!
//! Templates are selected by the same rules as memories for requests: see
//! [`memory`](super::memory). They are taken out while a response is written, and put back
//! immediately, since they copy data that is still being sent before they change it.

use super::context::Context;
use super::intercept::Interceptors;
use super::memory::{MemorySource, TemplateSource};
use super::noted::Notes;
use super::record::Record;
use super::reply::{Overlaying, Reply};
use crate::attachments::Part;
use crate::attachments::package::Packing;
use crate::body::Body;
use crate::secured::{Protect, Securing, WriteError, cannot_be_secured};
use crate::sizes::in_full;
use crate::validation::{Subject, Validating, Verdict};
use deltasoap_core::schema::{Use, View};
use deltasoap_core::soap::{Envelope, Fault, HeaderBlock, Version};
use deltasoap_core::{Buffer, Content, EncodeStats, Error, Message, QName, Templating};
use http::header::HeaderValue;
use std::any::Any;
use std::sync::Arc;

/// Settings for writing a response.
#[derive(Debug)]
pub struct Writing {
    pub(crate) version: Version,
    pub(crate) encoding: Use,
    pub(crate) record: Arc<Record>,
    /// The source of templates, to which they are returned; `None` for a response without
    /// templates.
    pub(crate) source: Option<MemorySource>,
    pub(crate) templating: Templating,
    /// True if values that several places share are written once.
    pub(crate) references: bool,
    pub(crate) packing: Packing,
    /// Validates the response, unless it is written while it is sent.
    pub(crate) validating: Option<Validating>,
    /// Secures the response.
    pub(crate) protection: Option<Arc<dyn Protect>>,
    pub(crate) notes: Arc<Notes>,
    /// Those of the service; `None` if there are none.
    pub(crate) interceptors: Option<Arc<Interceptors>>,
    /// The header blocks of WS-Addressing.
    pub(crate) addressing: Vec<HeaderBlock>,
}

/// A written response.
#[derive(Debug)]
pub struct Written {
    pub(crate) body: Body,
    pub(crate) verdict: Verdict,
    /// The media type, if the response is a package of parts.
    pub(crate) media_type: Option<HeaderValue>,
}

impl Writing {
    /// Shows a request to the interceptors, before its handler is called.
    ///
    /// # Errors
    /// Returns the fault that answers the request instead.
    pub(crate) fn intercept(&self, context: &mut Context, body: Option<&dyn Any>) -> Result<(), Fault> {
        let Some(interceptors) = &self.interceptors else { return Ok(()) };
        interceptors.request(self.record.name(), context, body)
    }

    /// Adds the header blocks of WS-Addressing to a response, and shows it to the interceptors,
    /// before it is written.
    ///
    /// # Errors
    /// Returns the fault that takes its place.
    pub(crate) fn intercept_response<T: 'static>(&self, reply: &mut Reply<T>) -> Result<(), Fault> {
        reply.headers.extend_from_slice(&self.addressing);
        let Some(interceptors) = &self.interceptors else { return Ok(()) };
        interceptors.response(self.record.name(), &mut reply.headers, &reply.body)
    }

    /// Writes a response, given the body's element and its schema.
    ///
    /// # Errors
    /// When the value contains text that XML cannot carry, or does not match its schema.
    pub(crate) fn write<T: Content>(
        self,
        reply: &Reply<T>,
        name: &QName,
        view: View<'_>,
    ) -> Result<Written, WriteError> {
        let protection = self.protection.clone();
        let envelope = self.envelope(Envelope::element(name, &reply.body, view));
        let response = Securing::new(envelope, self.version, &reply.headers, protection.as_deref()).parts(&reply.parts);
        let response = response.keep_plain(self.validating.is_some());
        self.write_any(&response, &reply.parts)
    }

    /// Starts writing a response whose list is written while it is sent.
    ///
    /// # Errors
    /// When its other content cannot be written, or has no place for the items.
    pub(crate) fn begin<T: Message>(self, reply: Reply<T>, overlaying: Overlaying) -> Result<Written, WriteError> {
        if self.protection.is_some() {
            return Err(WriteError::Protect(cannot_be_secured()));
        }
        let envelope = self.envelope(Envelope::new(&reply.body)).headers(&reply.headers);
        let (body, verdict) = (overlaying.begin(&envelope, self.templating.chunk)?, Ok(Vec::new()));
        self.count(&in_full(0));
        let (media_type, body) = self.packing.pack(self.version, "", body, reply.parts)?;
        Ok(Written { body, verdict, media_type })
    }

    fn count(&self, stats: &EncodeStats) {
        self.record.count_encoded(stats);
        self.notes.written(stats);
    }

    /// Returns an envelope with the settings, without header blocks.
    fn envelope<'a>(&self, envelope: Envelope<'a>) -> Envelope<'a> {
        envelope.version(self.version).encoding(self.encoding).references(self.references)
    }

    fn write_any(mut self, response: &Securing<'_>, attached: &[Part]) -> Result<Written, WriteError> {
        let source = self.source.take().filter(|_| !self.record.sizes().are_small());
        let mut parts = Vec::new();
        let (body, stats) = match (source, self.packing.threshold()) {
            (_, Some(_)) if response.is_secured() => return Err(WriteError::Protect(cannot_be_secured())),
            (_, Some(threshold)) => self.write_optimized(&response.envelope, threshold, &mut parts)?,
            (Some(source), None) => self.write_on(source.for_templates(&self.record, self.version), response)?,
            (None, None) => self.write_in_full(response)?,
        };
        self.count(&stats);
        parts.extend_from_slice(attached);
        let plain = response.plain();
        let validate =
            |validating: Validating| validating.sent(Subject::Response, plain.as_ref().unwrap_or(&body), &parts);
        let verdict = self.validating.take().map_or(Ok(Vec::new()), validate);
        let (media_type, body) = self.packing.pack(self.version, "", body, parts)?;
        Ok(Written { body, verdict, media_type })
    }

    /// Writes a message whose larger binary values are parts. It is written in full, since the rest
    /// is mostly small.
    fn write_optimized(
        &self,
        envelope: &Envelope<'_>,
        threshold: usize,
        parts: &mut Vec<Part>,
    ) -> Result<(Body, EncodeStats), Error> {
        let buffer = Buffer::with_capacity(self.record.sizes().expected());
        let written = envelope.write_optimized(threshold, buffer)?;
        self.record.sizes().note(written.message.len());
        let stats = in_full(written.message.len());
        parts.extend(written.parts.into_iter().map(Part::taken));
        Ok((written.message.into(), stats))
    }

    fn write_on(&self, source: TemplateSource, response: &Securing<'_>) -> Result<(Body, EncodeStats), WriteError> {
        let mut templates = source.take(self.templating);
        let before = templates.stats();
        let written = templates.encode(&response.envelope);
        let stats = templates.stats() - before;
        let outgoing = response.seal(written?)?;
        self.record.sizes().note(outgoing.len());
        if !self.record.sizes().are_small() {
            source.put(templates);
        }
        Ok((outgoing.into(), stats))
    }

    fn write_in_full(&self, response: &Securing<'_>) -> Result<(Body, EncodeStats), WriteError> {
        let sizes = self.record.sizes();
        let (body, len) = response.write_in_full(Buffer::with_capacity(sizes.expected()))?;
        sizes.note(len);
        Ok((body, in_full(len)))
    }
}

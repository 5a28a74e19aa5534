//! Writes responses: against the templates of earlier ones if they can be kept, else in full.
//!
//! The choice of templates follows the same rules as for requests: see [`memory`](super::memory). They are taken out while a response is
//! written, and put back immediately, since they copy data that is still being sent before they change it.

use super::answer::Answer;
use super::memory::{Place, TemplatePlace};
use super::record::Record;
use crate::Part;
use crate::attachments::package::Packing;
use crate::body::Body;
use crate::sizes::in_full;
use deltasoap_core::schema::{Use, View};
use deltasoap_core::soap::{Optimization, Version, encode_element, encode_optimized, encode_without_references};
use deltasoap_core::{Buffer, Content, EncodeStats, Error, QName, Templating};
use http::header::HeaderValue;
use std::sync::Arc;

/// How a response is to be written.
#[derive(Debug)]
pub(crate) struct Writing {
    pub(crate) version: Version,
    pub(crate) encoding: Use,
    pub(crate) record: Arc<Record>,
    /// Where templates come from and are returned to; `None` for a response without templates.
    pub(crate) place: Option<Place>,
    pub(crate) templating: Templating,
    /// Whether values that several places share are written once.
    pub(crate) references: bool,
    pub(crate) packing: Packing,
}

/// A written response.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) body: Body,
    /// Its media type, if it is a package of parts.
    pub(crate) media_type: Option<HeaderValue>,
}

impl Writing {
    /// Writes a response, given the body's element and its description.
    ///
    /// # Errors
    /// When the value contains text that XML cannot carry, or is of another shape than its schema.
    pub(crate) fn write<T: Content>(
        mut self,
        answer: &Answer<T>,
        name: &QName,
        view: View<'_>,
    ) -> Result<Written, Error> {
        let place = self.place.take().filter(|_| !self.record.sizes().are_small());
        let mut parts = Vec::new();
        let element = (name, view);
        let (body, stats) = match (place, self.packing.threshold()) {
            (_, Some(threshold)) => self.write_optimized(answer, element, threshold, &mut parts)?,
            (Some(place), None) => self.write_on(place.for_templates(&self.record, self.version), answer, element)?,
            (None, None) => self.write_in_full(answer, element)?,
        };
        self.record.count_encoded(&stats);
        parts.extend_from_slice(&answer.parts);
        let (media_type, body) = self.packing.pack(self.version, "", body, parts)?;
        Ok(Written { body, media_type })
    }

    /// Writes a message whose larger binary values are parts. It is written in full, since the rest is mostly small.
    fn write_optimized<T: Content>(
        &self,
        answer: &Answer<T>,
        (name, view): (&QName, View<'_>),
        threshold: usize,
        parts: &mut Vec<Part>,
    ) -> Result<(Body, EncodeStats), Error> {
        let Writing { version, encoding, references, .. } = *self;
        let buffer = Buffer::with_capacity(self.record.sizes().expected());
        let (body, optimization) = ((&answer.body, view), Optimization { threshold, references });
        let written = encode_optimized(version, encoding, &answer.headers, name, body, optimization, buffer)?;
        self.record.sizes().note(written.message.len());
        let stats = in_full(written.message.len());
        parts.extend(written.parts.into_iter().map(Part::taken));
        Ok((written.message.into(), stats))
    }

    fn write_on<T: Content>(
        &self,
        place: TemplatePlace,
        answer: &Answer<T>,
        (name, view): (&QName, View<'_>),
    ) -> Result<(Body, EncodeStats), Error> {
        let mut templates = place.take(self.templating);
        templates.set_references(self.references);
        let before = templates.stats();
        let body = (&answer.body, view);
        let written = templates.encode_element(self.version, self.encoding, &answer.headers, name, body);
        let stats = templates.stats() - before;
        let outgoing = written?;
        self.record.sizes().note(outgoing.len());
        if !self.record.sizes().are_small() {
            place.put(templates);
        }
        Ok((outgoing.into(), stats))
    }

    fn write_in_full<T: Content>(
        &self,
        answer: &Answer<T>,
        (name, view): (&QName, View<'_>),
    ) -> Result<(Body, EncodeStats), Error> {
        let sizes = self.record.sizes();
        let buffer = Buffer::with_capacity(sizes.expected());
        let encode = if self.references { encode_element } else { encode_without_references };
        let buffer = encode(self.version, self.encoding, &answer.headers, name, (&answer.body, view), buffer)?;
        sizes.note(buffer.len());
        let stats = in_full(buffer.len());
        Ok((buffer.into(), stats))
    }
}

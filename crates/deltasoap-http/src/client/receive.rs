//! Reads the answer to a call as its bytes arrive.

use super::builder::Settings;
use super::credentials::offered;
use super::error::{CallError, MessageError, StatusError};
use super::observed::CallNotes;
use super::understood::{Checked, Understood};
use crate::attachments::Attachments;
use crate::charset::Charset;
#[cfg(feature = "gzip")]
use crate::coding::Inflated;
use crate::coding::{Bound, check_transfer};
use crate::coding::{CodingError, ContentCoding};
use crate::error::BoxError;
use crate::inspect::{Inspection, Rejection};
use crate::media::MediaType;
use crate::secured::{self, Exchange, Verifying};
use crate::validation::{Finding, Subject};
use bytes::Bytes;
use deltasoap_core::decode::{Cursor, Decoder, Deviation, Step, skip_element};
use deltasoap_core::soap::{EnvelopeReader, Fault, Head, Receiver};
use deltasoap_core::{Content, DecodeOptions, Error, ErrorKind, Node, QName, Typed};
use http::header::{CONTENT_TYPE, LOCATION};
use http::response::Parts;
use http::{Extensions, HeaderMap, StatusCode};
use http_body::Body;
use http_body_util::BodyExt;
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;

/// Maximum number of bytes kept of a body that is not a message, for display.
const EXCERPT: usize = 512;
/// Maximum number of bytes kept of an answer that needs security, in case that it is a fault
/// without.
const UNSECURED_FAULT: usize = 8 << 10;

/// An answer, read in full.
pub(super) struct Received<R> {
    pub(super) parts: Parts,
    /// `None` if the body was empty.
    pub(super) message: Option<(Head, R)>,
    pub(super) decoder: Box<Decoder>,
    /// The other parts of the package that the message came in.
    pub(super) attachments: Attachments,
    /// Deviations of the message from its schema.
    pub(super) deviations: Vec<Deviation>,
    /// Violations of its schema.
    pub(super) findings: Vec<Finding>,
    /// What is known about its security.
    pub(super) extensions: Extensions,
}

/// Reads an answer with a decoder that is ready for a message.
///
/// # Errors
/// Returns an error if it is not a SOAP message, is malformed, or does not arrive.
pub(super) async fn receive<R, B>(
    response: http::Response<B>,
    receiver: R,
    decoder: Box<Decoder>,
    settings: &Settings,
) -> Result<Received<R>, CallError>
where
    R: Receiver,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let (parts, body) = response.into_parts();
    let body = body.map_err(Into::into);
    let media = MediaType::from_headers(&parts.headers).filter(|media| media.can_be_soap() || media.is_package());
    match check_transfer(&parts.headers).and_then(|()| ContentCoding::from_headers(&parts.headers)) {
        Ok(None) => receive_plain(parts, media, body, receiver, decoder, settings).await,
        #[cfg(feature = "gzip")]
        Ok(Some(coding)) if settings.accepts_gzip => {
            let body = Inflated::new(body, coding, bound(media.as_ref(), settings));
            // Boxed, like packages: what few answers need must not enlarge every call's future.
            Box::pin(receive_plain(parts, media, body, receiver, decoder, settings)).await
        }
        coding => Err(undecodable(&parts, coding)),
    }
}

/// Returns the error for an answer whose coding is not decoded.
pub(super) fn undecodable(parts: &Parts, coding: Result<Option<ContentCoding>, CodingError>) -> CallError {
    if !parts.status.is_success() {
        // A page from an intermediary.
        return empty(parts.status, &parts.headers);
    }
    let unasked =
        |coding: Option<ContentCoding>| CodingError::Unknown(coding.map_or("", ContentCoding::name).to_owned());
    CallError::Coding(coding.map_or_else(|error| error, unasked))
}

/// Returns the limits on a compressed answer.
pub(super) fn bound(media: Option<&MediaType>, settings: &Settings) -> Bound {
    let is_package = media.is_some_and(MediaType::is_package);
    Bound::new(settings.gzip_limits, is_package, &settings.options.limits, settings.attachments.limits.total)
}

/// Reads an answer whose content coding was removed; `media` is its media type, if a message can
/// have it.
async fn receive_plain<R, B>(
    mut parts: Parts,
    media: Option<MediaType>,
    body: B,
    receiver: R,
    decoder: Box<Decoder>,
    settings: &Settings,
) -> Result<Received<R>, CallError>
where
    R: Receiver,
    B: Body<Data = Bytes, Error = BoxError> + Send + 'static,
{
    let Some(media) = media else {
        return Err(status_error(parts.status, &parts.headers, &excerpt(pin!(body)).await, None));
    };
    let mut reading = Reading::new(&mut parts, receiver, decoder, settings);
    let mut attachments = Attachments::default();
    let result = if media.is_package() {
        let limits = settings.attachments.limits;
        attachments = Attachments::from_body(&media, body, limits, settings.timeout).map_err(CallError::Attachment)?;
        Box::pin(reading.read_root(&mut attachments)).await
    } else {
        reading.expect(&media);
        reading.read(pin!(body)).await
    };
    match result {
        Ok(()) => {
            let (head, receiver) = reading.reader.into_parts();
            let (message, decoder) = (Some((head, receiver.into_inner())), reading.decoder);
            let (deviations, findings, extensions) = (Vec::new(), reading.findings, reading.extensions);
            Ok(Received { parts, message, decoder, attachments, deviations, findings, extensions })
        }
        Err(CallError::Decode(_)) if reading.first.is_empty() => {
            let (message, decoder, deviations, findings) = (None, reading.decoder, Vec::new(), Vec::new());
            let extensions = Extensions::new();
            Ok(Received { parts, message, decoder, attachments, deviations, findings, extensions })
        }
        Err(error) => Err(reading.explained(error, &parts)),
    }
}

/// An answer that is being read.
pub(super) struct Reading<R> {
    /// On the heap, since it is moved often.
    pub(super) decoder: Box<Decoder>,
    reader: EnvelopeReader<Checked<R>>,
    charset: Charset,
    inspection: Inspection,
    verifying: Option<Box<dyn Verifying>>,
    extensions: Extensions,
    findings: Vec<Finding>,
    /// The first bytes of the body, at most [`EXCERPT`], or [`UNSECURED_FAULT`] if they are
    /// verified.
    first: Vec<u8>,
    notes: Option<Arc<CallNotes>>,
}

impl<R: Receiver> Reading<R> {
    /// Begins to read an answer, with what its call understands.
    pub(super) fn new(parts: &mut Parts, receiver: R, decoder: Box<Decoder>, settings: &Settings) -> Self {
        let understood = settings.understood.and(parts.extensions.remove::<Understood>().unwrap_or_default());
        Reading {
            decoder,
            reader: EnvelopeReader::new(Checked::new(receiver, understood)),
            charset: Charset::default(),
            inspection: Inspection::new(&settings.checks, settings.options.limits.tree_nodes),
            verifying: settings
                .verify
                .as_ref()
                .map(|verify| verify.begin_response(settings.options.limits, parts.extensions.remove::<Exchange>())),
            extensions: Extensions::new(),
            findings: Vec::new(),
            first: Vec::new(),
            notes: parts.extensions.remove::<Arc<CallNotes>>(),
        }
    }

    pub(super) fn head(&self) -> &Head {
        self.reader.head()
    }

    pub(super) fn receiver(&mut self) -> &mut R {
        self.reader.receiver.inner()
    }

    /// Converts an error in reading to the error that the caller gets.
    pub(super) fn explained(&self, error: CallError, parts: &Parts) -> CallError {
        match error {
            CallError::Decode(error) if matches!(error.kind(), ErrorKind::MustUnderstand(_)) => {
                CallError::NotUnderstood(error)
            }
            CallError::Decode(error) if !parts.status.is_success() => {
                // If it is not a message, it is a page from an intermediary.
                let is_message = self.head().version.is_some() || matches!(error.kind(), ErrorKind::VersionMismatch(_));
                let cause = is_message.then_some(MessageError::Decode(error));
                status_error(parts.status, &parts.headers, self.excerpt(), cause)
            }
            CallError::Charset(error) if !parts.status.is_success() => {
                status_error(parts.status, &parts.headers, self.excerpt(), Some(MessageError::Charset(error)))
            }
            CallError::Insecure(error) => CallError::Insecure(self.with_fault(error)),
            error => error,
        }
    }

    fn excerpt(&self) -> &[u8] {
        &self.first[..self.first.len().min(EXCERPT)]
    }

    /// Adds what the answer says if it is a fault. Services answer what they cannot verify by
    /// faults that are not secured themselves, and these have the reason.
    fn with_fault(&self, error: BoxError) -> BoxError {
        let mut reader = EnvelopeReader::new(FaultReceiver::default());
        let mut decoder = Decoder::new(DecodeOptions::default());
        let read = decoder.push(&mut reader, &self.first).and_then(|()| decoder.finish(&mut reader));
        match read.and_then(|()| reader.into_parts().1.into_fault()) {
            Ok(Some(fault)) => UnsecuredFault { reason: fault.reason.clone(), error }.into(),
            _ => error,
        }
    }

    /// Returns true if nothing was read.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// Takes the encoding of the message from the media type.
    pub(super) fn expect(&mut self, media: &MediaType) {
        self.charset = Charset::from_media_type(media);
        if let Some(encoding) = self.charset.encoding() {
            self.decoder.set_encoding(encoding);
            if let Some(verifying) = &mut self.verifying {
                verifying.set_encoding(encoding);
            }
        }
    }

    async fn read<B>(&mut self, mut body: Pin<&mut B>) -> Result<(), CallError>
    where
        B: Body<Data = Bytes, Error = BoxError>,
    {
        while let Some(frame) = body.frame().await {
            if let Ok(data) = frame.map_err(arrival_error)?.into_data() {
                self.push(data)?;
            }
        }
        self.finish(None).await
    }

    /// Reads the message out of a package.
    pub(super) async fn read_root(&mut self, attachments: &mut Attachments) -> Result<(), CallError> {
        let mut root = attachments.root().await.map_err(CallError::Attachment)?;
        // Under an unknown charset, ASCII can be read, as outside of packages.
        let media = root.message_type(|_| true).map_err(CallError::Attachment)?;
        self.expect(&media);
        while let Some(data) = root.chunk().await.map_err(CallError::Attachment)? {
            self.push(data)?;
        }
        self.finish(Some(attachments)).await
    }

    /// Ends the message. `attachments` are the other parts of its package.
    pub(super) async fn finish(&mut self, attachments: Option<&mut Attachments>) -> Result<(), CallError> {
        self.finish_decoding()?;
        if let Some(verifying) = self.verifying.take() {
            let checks = verifying.finish(&mut self.extensions);
            let checked = checks.and_then(|checks| secured::check_parts(checks, attachments));
            checked.map_err(|insecure| CallError::Insecure(insecure.error))?;
        }
        let subject = if self.reader.receiver.is_fault { Subject::Fault } else { Subject::Response };
        let inspected = self.inspection.finish(&self.charset, subject).await;
        self.findings = inspected.map_err(|rejection| match rejection {
            Rejection::Refused(error) => CallError::Refused(error),
            Rejection::Invalid(invalid) => CallError::InvalidResponse(invalid),
        })?;
        Ok(())
    }

    /// Decodes the received bytes to their end.
    pub(super) fn finish_decoding(&mut self) -> Result<(), CallError> {
        self.decoder.finish(&mut self.reader).map_err(CallError::Decode)
    }

    pub(super) fn push(&mut self, mut data: Bytes) -> Result<(), CallError> {
        keep(&mut self.first, &data, if self.verifying.is_some() { UNSECURED_FAULT } else { EXCERPT });
        if let Some(notes) = &self.notes {
            notes.received(data.len());
        }
        let checked = self.charset.cut(&mut data);
        if let Some(verifying) = &mut self.verifying {
            data = verifying.push(data).map_err(|insecure| CallError::Insecure(insecure.error))?;
        }
        self.inspection.add(&data);
        self.decoder.push_bytes(&mut self.reader, data).map_err(CallError::Decode)?;
        checked.map_err(CallError::Charset)
    }
}

/// Converts the error of a body that did not arrive.
pub(super) fn arrival_error(error: BoxError) -> CallError {
    CodingError::downcast(error).map_or_else(CallError::Http, CallError::Coding)
}

/// Returns the first bytes of a body.
pub(super) async fn excerpt<B: Body<Data = Bytes> + ?Sized>(mut body: Pin<&mut B>) -> Vec<u8> {
    let mut first = Vec::new();
    while first.len() < EXCERPT
        && let Some(Ok(frame)) = body.frame().await
    {
        if let Some(data) = frame.data_ref() {
            keep(&mut first, data, EXCERPT);
        }
    }
    first
}

fn keep(first: &mut Vec<u8>, data: &[u8], limit: usize) {
    let room = limit.saturating_sub(first.len());
    first.extend_from_slice(&data[..data.len().min(room)]);
}

/// Returns the error for an answer without a body.
pub(super) fn empty(status: StatusCode, headers: &HeaderMap) -> CallError {
    status_error(status, headers, b"", None)
}

pub(super) fn status_error(
    status: StatusCode,
    headers: &HeaderMap,
    first: &[u8],
    cause: Option<MessageError>,
) -> CallError {
    let excerpt = String::from_utf8_lossy(first).trim().to_owned();
    let media_type = headers.get(CONTENT_TYPE).map(|media_type| String::from_utf8_lossy(media_type.as_bytes()).into());
    let location = headers.get(LOCATION).filter(|_| status.is_redirection());
    let location = location.map(|location| String::from_utf8_lossy(location.as_bytes()).into());
    let schemes = offered(status, headers);
    let error = StatusError { location, media_type, excerpt, schemes, cause, ..StatusError::new(status) };
    CallError::Status(Box::new(error))
}

/// The error for a fault that lacks the security that the client requires.
#[derive(Debug)]
struct UnsecuredFault {
    reason: String,
    error: BoxError,
}

impl fmt::Display for UnsecuredFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it is a fault without security: {:?}", self.reason)
    }
}

impl std::error::Error for UnsecuredFault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.error)
    }
}

/// Accepts the possible answers to a one-way message: nothing relevant, or a fault.
#[derive(Default)]
pub(super) struct FaultReceiver {
    fault: Option<Node>,
    /// The names in the header of a fault message that were not understood.
    not_understood: Vec<QName>,
}

impl FaultReceiver {
    /// Returns the fault, if there is one.
    ///
    /// # Errors
    /// Returns an error if it had no code.
    pub(super) fn into_fault(self) -> Result<Option<Fault>, Error> {
        let Some(node) = self.fault else { return Ok(None) };
        let mut fault = Fault::from_node(&node)?;
        fault.not_understood = self.not_understood;
        Ok(Some(fault))
    }
}

impl Receiver for FaultReceiver {
    fn open_body(&mut self, head: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        let is_fault = namespace == head.version().namespace() && local == "Fault";
        if is_fault {
            self.fault = Some(Node::default());
            self.not_understood = Fault::not_understood_in(&head.headers);
        }
        Ok(())
    }

    fn empty_body(&mut self, _: &Head) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        match &mut self.fault {
            Some(node) => Content::decode(node, cursor, Node::view()),
            None => skip_element(cursor),
        }
    }
}

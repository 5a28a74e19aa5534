//! Reads one request's body, as its bytes arrive, into the call of an operation.

use super::addressing::AddressingMode;
use super::context::Remarks;
use super::dispatch::{Chosen, Dispatch};
use super::guard::{Panicked, guard, guard_call};
use super::heavy::Pace;
use super::memory::{ConnectionStore, MemorySource};
use super::noted::Notes;
use super::pool::Pooled;
use super::service::Inner;
use crate::attachments::{AttachmentError, AttachmentErrorKind, Attachments};
use crate::charset::{Charset, CharsetError};
use crate::coding::CodingError;
use crate::drain::drain;
use crate::error::BoxError;
use crate::inspect::{Inspection, Rejection};
use crate::media::MediaType;
use crate::secured::{self, Insecure, Protect};
use crate::slow::TooSlow;
use crate::validation::{Invalid, Subject};
use bytes::Bytes;
use deltasoap_core::decode::{Cursor, Decoder, Step, skip_element};
use deltasoap_core::soap::{EnvelopeReader, Fault, FaultCode, Head, HeaderBlock, Receiver, Version};
use deltasoap_core::{DecodeOptions, Error, ErrorKind};
use deltasoap_xml::XmlErrorKind;
use http::{Extensions, StatusCode};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A refused request, with its answer.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) version: Version,
    pub(crate) fault: Fault,
    /// The HTTP status, if it differs from that of the fault.
    pub(crate) status: Option<StatusCode>,
    /// The header blocks of the fault's message.
    pub(crate) blocks: Vec<HeaderBlock>,
    /// What secures the answer, if the request was verified: it may tell what was decrypted.
    pub(crate) protection: Option<Arc<dyn Protect>>,
}

impl Refusal {
    fn new(version: Version, fault: Fault, status: Option<StatusCode>) -> Self {
        Refusal { version, fault, status, blocks: Vec::new(), protection: None }
    }

    pub(super) fn without_body(version: Version) -> Self {
        Refusal::new(version, Fault::receiver("the message has no body"), None)
    }
}

/// A request that was read.
pub(crate) struct Received {
    pub(crate) head: Head,
    pub(crate) chosen: Chosen,
    /// The parts of the message, which may still be arriving.
    pub(crate) attachments: Attachments,
    /// Bytes of the message.
    pub(crate) bytes: u64,
    pub(crate) remarks: Remarks,
    /// What is known about the security of the message.
    pub(crate) extensions: Extensions,
}

/// Reads a request.
///
/// # Errors
/// When the message is invalid or does not arrive. If the message does not determine the version,
/// that of the media type is used.
pub(crate) async fn receive<B>(
    service: &Arc<Inner>,
    media: &MediaType,
    info: RequestInfo,
    pace: Pace,
    body: B,
) -> Result<Received, Refusal>
where
    B: Body<Data = Bytes, Error = BoxError>,
{
    let (mut body, fallback) = (pin!(body), media.version());
    let mut receiving = Receiving::new(service, info, pace);
    receiving.expect(media);
    let limit = service.options.limits.message;
    let result = if body.size_hint().lower() > limit {
        Err(Failure::TooLarge("message", limit))
    } else {
        receiving.read(body.as_mut()).await
    };
    receiving.count(service);
    if let Err(failure) = result {
        if failure.leaves_a_rest() {
            drain(body).await;
        }
        return Err(receiving.refuse(fallback, failure));
    }
    receiving.conclude(service, Attachments::default()).ok_or_else(|| Refusal::without_body(fallback))
}

/// What the HTTP request specifies about its message.
pub(crate) struct RequestInfo {
    /// The source of the memory to compare it with.
    pub(crate) source: Option<MemorySource>,
    /// The action, if it identifies any operation.
    pub(crate) action: Option<String>,
    pub(crate) notes: Arc<Notes>,
}

/// Reads a request that comes with other parts. The parts after it are left for the handler.
///
/// # Errors
/// As [`receive`], and when the package is malformed.
pub(crate) async fn receive_package<B>(
    service: &Arc<Inner>,
    media: &MediaType,
    info: RequestInfo,
    pace: Pace,
    body: B,
) -> Result<Received, Refusal>
where
    B: Body<Data = Bytes, Error = BoxError> + Send + 'static,
{
    let fallback = media.version();
    let (limits, announced) = (service.attachments.limits, body.size_hint().lower());
    let opened = Attachments::from_body(media, body, limits, service.body_timeout);
    let mut attachments = opened.map_err(|error| refuse_package(fallback, error))?;
    let mut receiving = Receiving::new(service, info, pace);
    let result = if announced > limits.total {
        Err(Failure::TooLarge("total", limits.total))
    } else {
        receiving.read_root(&mut attachments).await
    };
    receiving.count(service);
    if let Err(failure) = result {
        if let (true, Some(rest)) = (failure.leaves_a_rest(), attachments.into_rest()) {
            drain(pin!(rest)).await;
        }
        return Err(receiving.refuse(fallback, failure));
    }
    let mut received = receiving.conclude(service, attachments).ok_or_else(|| Refusal::without_body(fallback))?;
    if received.chosen.operation.is_one_way() {
        // Only a complete message is accepted.
        let version = received.head.version();
        received.attachments.keep().await.map_err(|error| refuse_package(version, error))?;
    }
    Ok(received)
}

/// Returns the answer to a malformed package.
pub(crate) fn refuse_package(version: Version, error: AttachmentError) -> Refusal {
    let status = match error.kind() {
        AttachmentErrorKind::Limit { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        AttachmentErrorKind::Coding(error) => coding_status(error),
        AttachmentErrorKind::Timeout => StatusCode::REQUEST_TIMEOUT,
        AttachmentErrorKind::Io(_) => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    };
    Refusal::new(version, error.into(), Some(status))
}

/// Returns the HTTP status for a body whose content coding cannot be decoded.
fn coding_status(error: &CodingError) -> StatusCode {
    match error {
        CodingError::Limit { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        CodingError::Memory => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    }
}

/// The reason that a message was not read.
pub(super) enum Failure {
    /// The message is invalid.
    Message(Error),
    /// The message announces more bytes than a limit allows.
    TooLarge(&'static str, u64),
    /// The package is malformed.
    Package(AttachmentError),
    /// The message is not in the encoding that its media type names.
    Charset(CharsetError),
    /// The content coding cannot be decoded.
    Coding(CodingError),
    /// The message did not arrive in full.
    Transport,
    /// The service's inspector refused the message.
    Refused(BoxError),
    /// The message violates its schema, and the service refuses such messages.
    Invalid(Invalid),
    /// The message is not secured as the service requires.
    Insecure(Insecure),
    /// The message stopped arriving.
    Timeout,
    /// The request's own type panicked while it was read.
    Panicked(Panicked),
}

impl Failure {
    /// Returns true if the rest of the body may still be arriving.
    pub(super) fn leaves_a_rest(&self) -> bool {
        matches!(self, Failure::Message(_) | Failure::Charset(_) | Failure::Panicked(_) | Failure::Insecure(_))
    }
}

/// A message that is being read.
pub(super) struct Receiving {
    decoder: OnLoan,
    reader: EnvelopeReader<Dispatch>,
    charset: Charset,
    inspection: Inspection,
    /// Maximum pause of the body.
    timeout: Option<Duration>,
    /// The time that decoding may continue without yielding.
    pace: Pace,
    /// Bytes received.
    bytes: u64,
    /// Time spent decoding.
    time: Duration,
    remarks: Remarks,
    /// What is known about the security of the message.
    extensions: Extensions,
    /// The first bytes of a message whose security is checked, if the service has WS-Addressing.
    beginning: Bytes,
    /// True if the message violates its schema, accepted or not.
    is_invalid: bool,
    /// Number of deviations, including those beyond the reported ones.
    all_deviations: u64,
}

impl Receiving {
    pub(super) fn new(service: &Arc<Inner>, info: RequestInfo, pace: Pace) -> Self {
        Receiving {
            decoder: OnLoan::new(service, info.source.as_ref()),
            reader: EnvelopeReader::new(Dispatch::new(Arc::clone(service), info)),
            charset: Charset::default(),
            inspection: Inspection::new(&service.checks, service.options.limits.tree_nodes),
            timeout: service.body_timeout,
            pace,
            bytes: 0,
            time: Duration::ZERO,
            remarks: Remarks::default(),
            extensions: Extensions::new(),
            beginning: Bytes::new(),
            is_invalid: false,
            all_deviations: 0,
        }
    }

    /// Sets the encoding of the message from the media type.
    pub(super) fn expect(&mut self, media: &MediaType) {
        self.charset = Charset::from_media_type(media);
        if let Some(encoding) = self.charset.encoding() {
            let mut decoder = self.decoder.take();
            decoder.set_encoding(encoding);
            self.decoder.put_back(decoder);
            if let Some(verifying) = &mut self.reader.receiver.verifying {
                verifying.set_encoding(encoding);
            }
        }
    }

    async fn read<B: Body<Data = Bytes, Error = BoxError>>(&mut self, mut body: Pin<&mut B>) -> Result<(), Failure> {
        while let Some(frame) = next_frame(body.as_mut(), self.timeout).await? {
            if let Ok(data) = frame.into_data() {
                self.push(data).await?;
            }
        }
        self.finish(None).await
    }

    /// Reads the message from a package.
    async fn read_root(&mut self, attachments: &mut Attachments) -> Result<(), Failure> {
        let mut root = attachments.root().await.map_err(Failure::Package)?;
        let media = root.message_type(MediaType::is_readable).map_err(Failure::Package)?;
        self.expect(&media);
        while let Some(data) = root.chunk().await.map_err(Failure::Package)? {
            self.push(data).await?;
        }
        self.finish(Some(attachments)).await?;
        attachments.set_root_type(&media);
        Ok(())
    }

    /// Decodes some bytes, and yields to other tasks if that took long.
    pub(super) async fn push(&mut self, mut data: Bytes) -> Result<(), Failure> {
        self.bytes += data.len() as u64;
        let checked = self.charset.cut(&mut data);
        let before = self.time;
        let data = self.verify(data)?;
        self.inspection.add(&data);
        self.timed(|decoder, reader| decoder.push_bytes(reader, data))?;
        checked.map_err(Failure::Charset)?;
        self.pace.pause(self.time - before).await;
        Ok(())
    }

    /// Checks the security of some bytes. Returns those to be decoded.
    fn verify(&mut self, data: Bytes) -> Result<Bytes, Failure> {
        let dispatch = &mut self.reader.receiver;
        let is_addressed = dispatch.service().addressing.mode != AddressingMode::Ignore;
        let Some(verifying) = &mut dispatch.verifying else { return Ok(data) };
        if is_addressed && self.beginning.is_empty() {
            self.beginning = data.clone();
        }
        let start = Instant::now();
        let verified = verifying.push(data);
        self.time += start.elapsed();
        verified.map_err(Failure::Insecure)
    }

    /// Ends the message. `attachments` are the other parts of its package.
    pub(super) async fn finish(&mut self, attachments: Option<&mut Attachments>) -> Result<(), Failure> {
        self.timed(Decoder::finish)?;
        if let Some(verifying) = self.reader.receiver.verifying.take() {
            let checks = verifying.finish(&mut self.extensions);
            checks.and_then(|checks| secured::check_parts(checks, attachments)).map_err(Failure::Insecure)?;
        }
        let inspection = guard(self.inspection.finish(&self.charset, Subject::Request)).await;
        let findings = match inspection.map_err(Failure::Panicked)? {
            Ok(findings) => findings,
            Err(Rejection::Refused(error)) => return Err(Failure::Refused(error)),
            Err(Rejection::Invalid(invalid)) => {
                self.is_invalid = true;
                return Err(Failure::Invalid(invalid));
            }
        };
        self.is_invalid = !findings.is_empty();
        let decoder = self.decoder.take();
        self.remarks = Remarks { deviations: decoder.deviations().to_vec(), findings };
        self.all_deviations = decoder.stats().deviations;
        self.decoder.put_back(decoder);
        Ok(())
    }

    fn timed(
        &mut self,
        decode: impl FnOnce(&mut Decoder, &mut EnvelopeReader<Dispatch>) -> Result<(), Error>,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let reader = &mut self.reader;
        // The decoder is passed in, so that a panic drops it: its position is then unknown.
        let mut decoder = self.decoder.take();
        let caught = guard_call(move || {
            let result = decode(&mut decoder, reader);
            (decoder, result)
        });
        self.time += start.elapsed();
        let (decoder, result) = caught.map_err(Failure::Panicked)?;
        self.decoder.put_back(decoder);
        result.map_err(Failure::Message)
    }

    pub(super) fn head(&self) -> &Head {
        self.reader.head()
    }

    pub(super) fn dispatch(&self) -> &Dispatch {
        &self.reader.receiver
    }

    pub(super) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Counts what was read, when no more will be read.
    pub(super) fn count(&self, service: &Inner) {
        service.stats.count_decoded(self.bytes, self.time);
        service.stats.count_invalid(self.is_invalid);
        self.dispatch().notes().received(self.bytes);
    }

    /// Counts what the operation has read, when no more will be read.
    pub(super) fn count_call(&self, service: &Inner) {
        service.stats.count_deviations(self.all_deviations);
        service.deviations.log(&self.remarks.deviations);
        if let Some(ticket) = self.pace.ticket() {
            ticket.note_decoded(self.bytes, self.time);
        }
        if let Some(operation) = self.dispatch().operation() {
            operation.record().count_decode_time(self.time);
        }
    }

    /// Reads a message that was saved, and keeps it for the comparison with the next one. Returns true
    /// if it was itself compared with one; no inspector and no handler is called.
    ///
    /// # Errors
    /// When the message does not fit the service.
    pub(super) fn keep(mut self, message: Bytes) -> Result<bool, Failure> {
        self.timed(|decoder, reader| decoder.push_bytes(reader, message))?;
        self.timed(Decoder::finish)?;
        let (_, dispatch) = self.reader.into_parts();
        let Some(Chosen { call, .. }) = dispatch.into_chosen() else { return Ok(false) };
        let is_compared = call.counts().is_some_and(|counts| counts.compared > 0);
        call.keep();
        Ok(is_compared)
    }

    /// Returns the request that was read; `None` if it had no body.
    pub(super) fn conclude(self, service: &Inner, attachments: Attachments) -> Option<Received> {
        self.count_call(service);
        let (head, dispatch) = self.reader.into_parts();
        let chosen = dispatch.into_chosen()?;
        let (bytes, remarks, extensions) = (self.bytes, self.remarks, self.extensions);
        Some(Received { head, chosen, attachments, bytes, remarks, extensions })
    }

    /// Takes the items from a list that is used while it arrives. Returns true if items are
    /// available; `None` if the message has no such list so far.
    ///
    /// # Errors
    /// When the operation panics while it looks for its list.
    pub(super) fn take_items(&mut self) -> Result<Option<bool>, Failure> {
        let Some(call) = self.reader.receiver.call() else { return Ok(None) };
        let taken = guard_call(|| call.take_items()).map_err(Failure::Panicked)?;
        if taken == Some(true) {
            let mut decoder = self.decoder.take();
            decoder.restart_limits();
            self.decoder.put_back(decoder);
        }
        Ok(taken)
    }

    /// Takes the items before a failure. Returns true if items are available. If the body failed,
    /// rather than the message, what has arrived is read to its end, since the decoder may have
    /// left the beginning of an item for later.
    pub(super) fn take_items_before(&mut self, failure: &Failure) -> bool {
        let read = match failure {
            Failure::Charset(_) | Failure::Coding(_) | Failure::Transport | Failure::Timeout => {
                self.timed(Decoder::finish)
            }
            _ => Ok(()),
        };
        let is_sound = !matches!(failure, Failure::Panicked(_)) && !matches!(read, Err(Failure::Panicked(_)));
        let Some(call) = self.reader.receiver.call().filter(|_| is_sound) else { return false };
        matches!(guard_call(|| call.take_items()), Ok(Some(true)))
    }

    /// Takes the last items, after the message was read.
    ///
    /// # Errors
    /// As [`take_items`](Self::take_items).
    pub(super) fn take_rest(&mut self) -> Result<(), Failure> {
        match self.reader.receiver.call() {
            Some(call) => guard_call(|| call.take_rest()).map_err(Failure::Panicked),
            None => Ok(()),
        }
    }

    /// Returns the answer to a message that was not read.
    pub(super) fn refuse(&mut self, fallback: Version, failure: Failure) -> Refusal {
        // These look at messages that were decrypted and verified; the others do not get that far.
        let is_verified = matches!(failure, Failure::Refused(_) | Failure::Invalid(_));
        let protection = is_verified.then(|| self.dispatch().service().protection_for(&self.extensions)).flatten();
        let is_withheld = matches!(failure, Failure::Insecure(_)) && self.head().headers.is_empty();
        let unverified = is_withheld.then(|| self.unverified_head());
        let mut refusal = Refusal { protection, ..self.refuse_without_blocks(fallback, failure) };
        let head = unverified.as_ref().unwrap_or(self.head());
        let addressing = &self.dispatch().service().addressing;
        refusal.blocks = addressing.refusal_blocks(head, &mut refusal.fault, refusal.version);
        refusal
    }

    /// Reads the header of a message that is refused before any of it was verified, as far as it is
    /// in the first bytes. The fault tells which message it answers; nothing else may depend on
    /// this.
    fn unverified_head(&self) -> Head {
        let limits = self.dispatch().service().options.limits;
        let mut decoder = Decoder::new(DecodeOptions { limits, ..DecodeOptions::default() });
        if let Some(encoding) = self.charset.encoding() {
            decoder.set_encoding(encoding);
        }
        let mut reader = EnvelopeReader::new(HeadReceiver);
        // It ends with an error at the body. Blocks before any error are used.
        let _ = decoder.push(&mut reader, &self.beginning);
        reader.into_parts().0
    }

    fn refuse_without_blocks(&mut self, fallback: Version, failure: Failure) -> Refusal {
        let version = self.reader.head().version.unwrap_or(fallback);
        let dispatch = &mut self.reader.receiver;
        match failure {
            Failure::Message(error) if dispatch.verifying.as_ref().is_some_and(|verifying| verifying.decrypts()) => {
                tracing::warn!(%error, "a request that may be encrypted cannot be read");
                Refusal::new(version, Fault::sender("the message cannot be read"), None)
            }
            Failure::Message(error) => {
                let mut fault = Fault::from_error(&error);
                if dispatch.is_encoding_unknown {
                    fault.code = FaultCode::DataEncodingUnknown;
                }
                fault.not_understood = std::mem::take(&mut dispatch.not_understood);
                Refusal::new(version_for(&error, version), fault, status_for(&error))
            }
            Failure::Package(error) => refuse_package(version, error),
            Failure::Charset(error) => {
                Refusal::new(version, Fault::sender(error.to_string()), Some(StatusCode::BAD_REQUEST))
            }
            Failure::Coding(error) => {
                Refusal::new(version, Fault::sender(error.to_string()), Some(coding_status(&error)))
            }
            Failure::Refused(error) => Refusal::new(version, Fault::sender(error.to_string()), None),
            Failure::Insecure(Insecure { error, fault }) => {
                tracing::warn!(%error, "a request is not secured as the service requires");
                Refusal::new(version, fault(version), None)
            }
            Failure::Invalid(error) => Refusal::new(version, Fault::sender(error.to_string()), None),
            Failure::TooLarge(name, limit) => {
                let fault = Fault::sender(format!("the limit `{name}` of {limit} is exceeded"));
                Refusal::new(version, fault, Some(StatusCode::PAYLOAD_TOO_LARGE))
            }
            Failure::Panicked(Panicked(message)) => {
                tracing::error!(message, "decoding a request panicked");
                Refusal::new(version, Fault::receiver("an internal error"), None)
            }
            Failure::Timeout => {
                let fault = Fault::sender("the message did not arrive in time");
                Refusal::new(version, fault, Some(StatusCode::REQUEST_TIMEOUT))
            }
            Failure::Transport => {
                let fault = Fault::sender("the message did not arrive in full");
                Refusal::new(version, fault, Some(StatusCode::BAD_REQUEST))
            }
        }
    }
}

/// Reads no body.
struct HeadReceiver;

impl Receiver for HeadReceiver {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        Err(ErrorKind::Envelope("only the header is read"))
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        skip_element(cursor)
    }
}

/// A decoder for one message, which is returned to its connection, if it belongs to one, or to the
/// pool.
struct OnLoan {
    /// Present until it is dropped, except while it decodes. A panic meanwhile leaves none.
    decoder: Option<Pooled>,
    store: Option<Arc<ConnectionStore>>,
}

impl OnLoan {
    fn new(service: &Inner, source: Option<&MemorySource>) -> Self {
        let store = source.and_then(MemorySource::decoder_store).cloned();
        let pool = if source.is_some() { &service.decoders } else { &service.plain_decoders };
        let decoder = match &store {
            Some(store) => store.decoder(pool),
            None => pool.take(),
        };
        OnLoan { decoder: Some(decoder), store }
    }

    fn take(&mut self) -> Pooled {
        match self.decoder.take() {
            Some(decoder) => decoder,
            None => unreachable!("nothing is read after a panic"),
        }
    }

    fn put_back(&mut self, decoder: Pooled) {
        self.decoder = Some(decoder);
    }
}

impl Drop for OnLoan {
    fn drop(&mut self) {
        if let (Some(store), false) = (&self.store, std::thread::panicking())
            && let Some(decoder) = self.decoder.take()
        {
            store.keep_decoder(decoder);
        }
    }
}

/// Returns the next frame of a body; `None` after its end.
pub(super) async fn next_frame<B>(
    mut body: Pin<&mut B>,
    timeout: Option<Duration>,
) -> Result<Option<Frame<Bytes>>, Failure>
where
    B: Body<Data = Bytes, Error = BoxError> + ?Sized,
{
    let frame = match timeout {
        Some(time) => tokio::time::timeout(time, body.frame()).await.map_err(|_| Failure::Timeout)?,
        None => body.frame().await,
    };
    frame.transpose().map_err(failure)
}

fn failure(error: BoxError) -> Failure {
    if error.is::<TooSlow>() {
        return Failure::Timeout;
    }
    CodingError::downcast(error).map_or(Failure::Transport, Failure::Coding)
}

/// Returns the version to answer in. An envelope of an unknown version is answered in 1.1, which
/// all clients understand (SOAP 1.2 part 1, appendix A).
fn version_for(error: &Error, version: Version) -> Version {
    if matches!(error.kind(), ErrorKind::VersionMismatch(_)) { Version::Soap11 } else { version }
}

fn status_for(error: &Error) -> Option<StatusCode> {
    let is_too_large = matches!(error.kind(), ErrorKind::Xml(XmlErrorKind::Limit { name: "message", .. }));
    is_too_large.then_some(StatusCode::PAYLOAD_TOO_LARGE)
}

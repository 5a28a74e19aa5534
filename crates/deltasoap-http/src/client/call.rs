//! One call: sends a typed request, returns a typed response or a typed error.

use super::builder::Client;
use super::error::CallError;
use super::observed::CallNotes;
use super::options::CallOptions;
use super::receive::{FaultReceiver, Received, empty, receive};
use super::templates::{Sent, Written};
use super::transmit::{Outbound, RecordedBody};
use crate::attachments::Attachments;
use crate::attachments::package::Packing;
use crate::body::Body;
use crate::coding::READ;
use crate::error::BoxError;
use crate::media;
use crate::secured::{Protect, Securing, cannot_be_secured};
use crate::validation::{Finding, Subject, is_invalid};
use bytes::Bytes;
use deltasoap_core::decode::{Decoder, Deviation};
use deltasoap_core::schema::View;
use deltasoap_core::soap::{Envelope, Head, HeaderBlock, Receiver, Reply, ReplyReceiver, Version};
use deltasoap_core::{
    Content, DecodeOptions, Differential, DifferentialStats, Error, Lease, Message, QName, RequestMessage,
};
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Extensions, Method, Request, StatusCode};
use std::pin::pin;
use std::sync::Arc;
use tower::Service;

/// A response with its header blocks, HTTP headers and parts.
#[derive(Debug)]
#[non_exhaustive]
pub struct Response<T> {
    /// SOAP header blocks, and the version of the answer.
    pub head: Head,
    /// The body's element.
    pub body: T,
    /// The HTTP status.
    pub status: StatusCode,
    /// HTTP headers.
    pub http_headers: HeaderMap,
    /// The parts that came with the message, which may still be arriving.
    ///
    /// They may pause for no longer than the client's [timeout](crate::ClientBuilder::timeout),
    /// whatever the timeout of the call. The package is known to be valid only after it was read to
    /// its end; [`into_body`](Self::into_body) and [`Attachments::finish`] do that.
    pub attachments: Attachments,
    /// Deviations from the schema that the client [accepted](crate::ClientBuilder::tolerance).
    /// Content that is equal to an earlier answer is not reported again.
    pub deviations: Vec<Deviation>,
    /// Violations of the schema, if the client [reports](crate::Validation::Report) them. An
    /// invalid value is reported each time, also if it is equal to that of an earlier answer.
    pub findings: Vec<Finding>,
    /// Further data about the answer: with the feature `security`, the `Verified` sender.
    pub extensions: Extensions,
}

impl<T> Response<T> {
    /// Returns the body's element, after the rest of the package was read and checked. Calls that
    /// return only the element, such as [`Client::call`], do this.
    ///
    /// # Errors
    /// Returns an error if the package is invalid, or does not arrive in full.
    pub async fn into_body(mut self) -> Result<T, CallError> {
        self.attachments.finish().await.map_err(CallError::Attachment)?;
        Ok(self.body)
    }

    /// Returns the first header block with the type's element name, as a typed value; `None` if
    /// there is none.
    pub fn header<H: Message>(&self) -> Option<Result<H, Error>> {
        let is_ours = |block: &&HeaderBlock| block.is_for_us(self.head.version());
        self.head.headers.iter().filter(is_ours).find_map(HeaderBlock::to_typed)
    }
}

impl<S, B> Client<S>
where
    S: Service<Request<Body>, Response = http::Response<B>> + Clone,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    /// Calls an operation with the client's settings. The type of the request determines that of
    /// the response.
    ///
    /// Parts that come with the response are discarded, after a check that their package is valid;
    /// see [`call_with`](Self::call_with).
    ///
    /// The caller owns the response, so nothing of it is left to compare the next one with: it is
    /// read in full. See [`call_leased`](Self::call_leased) for responses that resemble each other.
    ///
    /// # Errors
    /// Returns a fault, or another reason why there is no response; see [`CallError`].
    pub async fn call<R: RequestMessage>(&self, request: &R) -> Result<R::Response, CallError> {
        self.call_as(request).await
    }

    /// Calls an operation with settings of this call. The options
    /// [declare](CallOptions::understands) which header blocks of the response are understood.
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    pub async fn call_with<R: RequestMessage>(
        &self,
        request: &R,
        options: CallOptions,
    ) -> Result<Response<R::Response>, CallError> {
        self.call_as_with(request, options).await
    }

    /// Calls an operation whose response is of the type that the caller names:
    /// `client.call_as::<Greeting>(&greet)`. For messages that are no
    /// [`RequestMessage`], and for reading the response as another type than usual.
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    pub async fn call_as<Resp: Message>(&self, request: &impl Message) -> Result<Resp, CallError> {
        self.call_to_end(request, CallOptions::default()).await
    }

    /// Like [`call_as`](Self::call_as), with settings of this call.
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    pub async fn call_as_with<Resp: Message>(
        &self,
        request: &impl Message,
        options: CallOptions,
    ) -> Result<Response<Resp>, CallError> {
        let timeout = options.timeout.or(self.settings.timeout);
        let name = name_of(request);
        let (mut request, sent) = self.request(request, options).await?;
        request.observed(&name.local).run(timeout, pin!(self.exchange(request, sent))).await
    }

    pub(super) async fn call_to_end<Req: Message, Resp: Message>(
        &self,
        request: &Req,
        options: CallOptions,
    ) -> Result<Resp, CallError> {
        let timeout = options.timeout.or(self.settings.timeout);
        let (mut request, sent) = self.request(request, options).await?;
        let observed = request.observed(&Req::ELEMENT.local);
        observed.run(timeout, pin!(async { self.exchange(request, sent).await?.into_body().await })).await
    }

    /// Calls an operation whose responses resemble each other, with the client's settings.
    ///
    /// The response is compared with the last one to such a request, and only the differences are
    /// read. The response is on lease: when the lease is dropped, the next response is compared
    /// with it. Until then, another call gets its own memory.
    ///
    /// ```
    /// # use deltasoap::{Client, Soap, SoapService};
    /// #[derive(Soap)]
    /// #[soap(namespace = "urn:hello", message, response = Levels)]
    /// struct Read {}
    ///
    /// #[derive(Soap)]
    /// #[soap(namespace = "urn:hello", message)]
    /// struct Levels {
    ///     level: Vec<f64>,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let levels = |_: Read| Levels { level: vec![0.5; 10] };
    /// # let client = Client::with_service("http://localhost/", SoapService::builder().operation(levels).build()?)?;
    /// for _ in 0..3 {
    ///     let levels = client.call_leased(&Read {}).await?;
    ///     assert_eq!(levels.level.len(), 10);
    /// }
    /// assert_eq!(client.differential_stats().messages, 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call). The next response is then read in full.
    pub async fn call_leased<R: RequestMessage>(&self, request: &R) -> Result<Lease<R::Response>, CallError> {
        self.call_leased_as(request).await
    }

    /// Like [`call_leased`](Self::call_leased), with settings of this call.
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    pub async fn call_leased_with<R: RequestMessage>(
        &self,
        request: &R,
        options: CallOptions,
    ) -> Result<Response<Lease<R::Response>>, CallError> {
        self.call_leased_as_with(request, options).await
    }

    /// Like [`call_leased`](Self::call_leased), with a response of the type that the caller names;
    /// see [`call_as`](Self::call_as).
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    pub async fn call_leased_as<Resp: Message + Send + 'static>(
        &self,
        request: &impl Message,
    ) -> Result<Lease<Resp>, CallError> {
        self.call_leased_to_end(request, CallOptions::default()).await
    }

    /// Like [`call_leased_as`](Self::call_leased_as), with settings of this call.
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    pub async fn call_leased_as_with<Resp: Message + Send + 'static>(
        &self,
        request: &impl Message,
        options: CallOptions,
    ) -> Result<Response<Lease<Resp>>, CallError> {
        let timeout = options.timeout.or(self.settings.timeout);
        let name = name_of(request);
        let (mut request, sent) = self.request(request, options).await?;
        request.observed(&name.local).run(timeout, pin!(self.exchange_leased(request, sent, name))).await
    }

    pub(super) async fn call_leased_to_end<Req, Resp>(
        &self,
        request: &Req,
        options: CallOptions,
    ) -> Result<Lease<Resp>, CallError>
    where
        Req: Message,
        Resp: Message + Send + 'static,
    {
        let timeout = options.timeout.or(self.settings.timeout);
        let (mut request, sent) = self.request(request, options).await?;
        let observed = request.observed(&Req::ELEMENT.local);
        observed
            .run(timeout, pin!(async { self.exchange_leased(request, sent, Req::ELEMENT).await?.into_body().await }))
            .await
    }

    /// Sends a one-way message.
    ///
    /// It is accepted if the HTTP exchange succeeds and the answer is empty or a SOAP message other
    /// than a fault. Anything else, such as a login page, is an error.
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    pub async fn send<Req: Message>(&self, request: &Req) -> Result<(), CallError> {
        self.send_with(request, CallOptions::default()).await
    }

    /// Sends a one-way message with settings of this call.
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    pub async fn send_with<Req: Message>(&self, request: &Req, options: CallOptions) -> Result<(), CallError> {
        let timeout = options.timeout.or(self.settings.timeout);
        let (mut request, _) = self.request(request, options).await?;
        request.observed(&Req::ELEMENT.local).run(timeout, pin!(self.deliver(request))).await
    }

    pub(super) async fn exchange<T: Message>(
        &self,
        request: Outbound,
        sent: Option<Sent>,
    ) -> Result<Response<T>, CallError> {
        if let Some(notes) = &request.notes {
            notes.compared(&DifferentialStats::default());
        }
        let response = self.transmit(request).await?;
        let received = self.receive(response, ReplyReceiver::<T>::default(), self.decoder(), sent).await?;
        let (status, http_headers, attachments) = (received.parts.status, received.parts.headers, received.attachments);
        let (deviations, findings, extensions) = (received.deviations, received.findings, received.extensions);
        let Some((head, receiver)) = received.message else { return Err(empty(status, &http_headers)) };
        match receiver.into_reply().map_err(|error| CallError::malformed(status, error))? {
            Reply::Response(body) => {
                let response =
                    Response { head, body, status, http_headers, attachments, deviations, findings, extensions };
                self.settings.interceptors.response(&response, &response.body).map_err(CallError::Refused)?;
                Ok(response)
            }
            Reply::Fault(fault) => Err(CallError::Fault(fault)),
        }
    }

    async fn exchange_leased<T: Message + Send + 'static>(
        &self,
        request: Outbound,
        sent: Option<Sent>,
        name: QName,
    ) -> Result<Response<Lease<T>>, CallError> {
        let notes = request.notes.clone();
        let response = self.transmit(request).await?;
        let (checkout, memory, decoder) = self.memories.check_out::<T>(name);
        let received = self.receive(response, ReplyReceiver::new(memory), decoder, sent).await?;
        let (status, http_headers, attachments) = (received.parts.status, received.parts.headers, received.attachments);
        let (deviations, findings, extensions) = (received.deviations, received.findings, received.extensions);
        let Some((head, mut receiver)) = received.message else { return Err(empty(status, &http_headers)) };
        let fault = receiver.take_fault().map_err(|error| CallError::malformed(status, error))?;
        // A fault leaves the memory unchanged, and returns it immediately.
        let memory = receiver.into_memory();
        if let Some(notes) = notes {
            notes.compared(&checkout.counts(&memory));
        }
        let body = checkout.lease(memory, received.decoder);
        match fault {
            Some(fault) => Err(CallError::Fault(Box::new(fault))),
            None => {
                let response =
                    Response { head, body, status, http_headers, attachments, deviations, findings, extensions };
                self.settings.interceptors.response(&response, &*response.body).map_err(CallError::Refused)?;
                Ok(response)
            }
        }
    }

    /// Reads an answer, using the request as a hint.
    pub(super) async fn receive<R: Receiver>(
        &self,
        response: http::Response<RecordedBody<B>>,
        receiver: R,
        mut decoder: Box<Decoder>,
        sent: Option<Sent>,
    ) -> Result<Received<R>, CallError> {
        let before = *decoder.stats();
        decoder.set_hint(sent.as_ref().map(|sent| sent.hint.clone()));
        let mut received = self.read(response, receiver, decoder).await?;
        let stats = *received.decoder.stats();
        received.deviations = received.decoder.deviations().to_vec();
        self.memories.note_deviations(stats.deviations - before.deviations);
        self.memories.log.log(&received.deviations);
        if let Some(sent) = sent {
            self.writer.note_found(&sent, stats.hinted_leaves - before.hinted_leaves);
        }
        Ok(received)
    }

    /// Reads an answer, and counts an invalid one.
    async fn read<R: Receiver>(
        &self,
        response: http::Response<RecordedBody<B>>,
        receiver: R,
        decoder: Box<Decoder>,
    ) -> Result<Received<R>, CallError> {
        let received = receive(response, receiver, decoder, &self.settings).await;
        self.memories.note_invalid(match &received {
            Ok(received) => !received.findings.is_empty(),
            Err(error) => matches!(error, CallError::InvalidResponse(_)),
        });
        received
    }

    /// Returns a decoder for an answer that is not compared with others.
    pub(super) fn decoder(&self) -> Box<Decoder> {
        Box::new(Decoder::new(DecodeOptions { differential: Differential::OFF, ..self.settings.options }))
    }

    pub(super) async fn deliver(&self, request: Outbound) -> Result<(), CallError> {
        let response = self.transmit(request).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        match self.read(response, FaultReceiver::default(), self.decoder()).await {
            Ok(received) => match received.message.map(|(_, receiver)| receiver.into_fault()) {
                Some(Ok(Some(fault))) => Err(CallError::Fault(Box::new(fault))),
                Some(Err(error)) => Err(CallError::malformed(status, error)),
                Some(Ok(None)) | None if status.is_success() => Ok(()),
                Some(Ok(None)) | None => Err(empty(status, &headers)),
            },
            // An empty answer, whatever its media type.
            Err(CallError::Status(error)) if status.is_success() && error.excerpt.is_empty() => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn request<T: Message>(
        &self,
        body: &T,
        options: CallOptions,
    ) -> Result<(Outbound, Option<Sent>), CallError> {
        self.request_with(&T::ELEMENT, (body, T::view()), options).await
    }

    pub(super) async fn request_with<T: Content>(
        &self,
        name: &QName,
        (value, view): (&T, View<'_>),
        mut options: CallOptions,
    ) -> Result<(Outbound, Option<Sent>), CallError> {
        self.provide(name, &mut options).await?;
        self.intercept(name, value, &mut options)?;
        let envelope = Envelope::element(name, value, view);
        let (Written { body, sent, stats }, plain) = self.message(envelope, &mut options)?;
        self.validate(plain.as_ref().unwrap_or(&body), &options)?;
        let outbound = self.request_of(body, options)?;
        if let Some(notes) = &outbound.notes {
            notes.written(&stats);
        }
        Ok((outbound, sent))
    }

    /// Adds the header blocks of WS-Addressing to a request, and shows it to the interceptors.
    pub(super) fn intercept<T: 'static>(
        &self,
        name: &QName,
        body: &T,
        options: &mut CallOptions,
    ) -> Result<(), CallError> {
        self.address(options)?;
        self.settings.interceptors.request(name, options, body).map_err(CallError::RefusedRequest)
    }

    /// Creates the HTTP request with a message as its body.
    pub(super) fn request_of(&self, message: Body, options: CallOptions) -> Result<Outbound, CallError> {
        let settings = &*self.settings;
        let action = options.action.as_ref().unwrap_or(&settings.action);
        let packing = self.packing(&options);
        let mut headers = HeaderMap::new();
        set_media_type(&mut headers, settings.version, action)?;
        let (media_type, body) =
            packing.pack(settings.version, action, message, options.parts).map_err(CallError::Encode)?;
        if let Some(media_type) = media_type {
            headers.insert(CONTENT_TYPE, media_type);
        }
        if settings.accepts_gzip {
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(READ));
        }
        let (mut parts, ()) = Request::new(()).into_parts();
        (parts.method, parts.uri, parts.headers) = (Method::POST, settings.url.clone(), headers);
        let body = settings.uplink.compress(settings.compression, action, body, &mut parts);
        options.http_headers.iter().for_each(|(name, value)| _ = parts.headers.insert(name, value.clone()));
        let request = Request::from_parts(parts, body);
        let trace = options.trace.or_else(|| settings.trace.clone());
        let CallOptions { is_idempotent, understood, exchange, .. } = options;
        let is_idempotent = is_idempotent.unwrap_or_default();
        Ok(Outbound { request, is_idempotent, trace, understood, exchange, notes: CallNotes::if_logged(), pace: None })
    }

    /// Validates a message before it is secured and sent.
    pub(super) fn validate(&self, message: &Body, options: &CallOptions) -> Result<(), CallError> {
        let Some(validating) = &self.settings.validating else { return Ok(()) };
        let verdict = validating.sent(Subject::Request, message, &options.parts);
        self.memories.note_invalid(is_invalid(&verdict));
        verdict.map(drop).map_err(CallError::InvalidRequest)
    }

    fn packing(&self, options: &CallOptions) -> Packing {
        Packing::for_request(&self.settings.attachments, options.mtom)
    }

    /// Writes the message; values that become parts are added to those of the call.
    /// Returns it as it was before it was secured too, if it is to be validated.
    fn message(&self, envelope: Envelope<'_>, options: &mut CallOptions) -> Result<(Written, Option<Body>), CallError> {
        let mut protection = self.protection(options);
        if let (Some(verify), Some(all)) = (&self.settings.verify, &protection)
            && verify.refers_to_requests()
        {
            let (of_request, exchange) = all.requesting();
            (protection, options.exchange) = (Some(of_request), Some(exchange));
        }
        let envelope = self.with_settings(envelope, options);
        let request = Securing::new(envelope, self.settings.version, &options.headers, protection.as_deref());
        let request = request.parts(&options.parts).keep_plain(self.settings.validating.is_some());
        let Some(threshold) = self.packing(options).threshold() else {
            let written = self.writer.write(&request, options.templates == Some(false))?;
            return Ok((written, request.plain()));
        };
        if request.is_secured() {
            return Err(CallError::Unsecured(cannot_be_secured()));
        }
        let written = self.writer.write_optimized(&request.envelope, threshold);
        let (message, taken) = written.map_err(CallError::Encode)?;
        options.parts.splice(0..0, taken);
        Ok((message, None))
    }

    /// Returns what secures a request.
    pub(super) fn protection(&self, options: &CallOptions) -> Option<Arc<dyn Protect>> {
        options.protection.clone().or_else(|| self.settings.protection.clone())
    }

    /// Returns the envelope with the settings of the client and the call, without header blocks.
    pub(super) fn with_settings<'a>(&self, envelope: Envelope<'a>, options: &CallOptions) -> Envelope<'a> {
        envelope
            .version(self.settings.version)
            .encoding(options.encoding.unwrap_or(self.settings.encoding))
            .references(options.references.unwrap_or(self.settings.references))
    }
}

/// Sets media type and action. In SOAP 1.1 the action's header is present even if it is empty
/// (section 6.1.1).
fn set_media_type(headers: &mut HeaderMap, version: Version, action: &str) -> Result<(), CallError> {
    let media_type = media::request_type(version, action).map_err(CallError::Action)?;
    headers.insert(CONTENT_TYPE, media_type);
    if version == Version::Soap11 {
        let action = HeaderValue::try_from(media::quote(action)).map_err(CallError::Action)?;
        headers.insert("soapaction", action);
    }
    Ok(())
}

fn name_of<T: Message>(_: &T) -> QName {
    T::ELEMENT
}

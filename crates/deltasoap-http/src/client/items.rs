//! Calls whose response contains a list of any length, which is used while it arrives.

use super::builder::{Client, Settings};
use super::call::Response;
use super::error::CallError;
use super::options::CallOptions;
use super::pace::Patience;
use super::receive::{FaultReceiver, Reading, arrival_error, bound, empty, excerpt, status_error, undecodable};
use super::transmit::Outbound;
use crate::attachments::Attachments;
use crate::body::Body;
use crate::coding::ContentCoding;
#[cfg(feature = "gzip")]
use crate::coding::Inflated;
use crate::coding::check_transfer;
use crate::error::BoxError;
use crate::items::{Flow, ItemSource, Items, ListIn, Listed, WINDOW};
use crate::media::MediaType;
use bytes::Bytes;
use deltasoap_core::decode::{Cursor, Decoder, Step};
use deltasoap_core::soap::{Head, Receiver};
use deltasoap_core::{ErrorKind, Message, QName, RequestMessage};
use futures_util::future::BoxFuture;
use http::response::Parts;
use http::{Extensions, Request};
use http_body_util::BodyExt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tower::Service;

impl<S, B> Client<S>
where
    S: Service<Request<Body>, Response = http::Response<B>> + Clone,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    /// Calls an operation whose response contains a list of any length, and returns its items while
    /// they arrive. `list` finds the list in the response.
    ///
    /// The memory needed does not grow with the list, and the client's limits on the
    /// [length](deltasoap_core::Limits::message) of a message and on the nodes of trees count from
    /// the last items that were taken. Nothing is read ahead: while no items are requested, the
    /// server has to wait. The client's [timeout](crate::ClientBuilder::timeout) covers the call up
    /// to the first items, and then each wait for more bytes. A server that keeps sending a few
    /// bytes is waited for indefinitely, so a caller that needs an item by some time sets a limit
    /// to [`next`](Items::next) itself. Servers have limits too: those of this library close a
    /// connection on which nothing could be written for their
    /// [`write_timeout`](crate::Server::write_timeout), 30 seconds by default, so a caller that
    /// pauses for longer may lose the rest.
    ///
    /// The memory of [new names](deltasoap_core::decode::Decoder::restart_limits) is bounded too:
    /// after some thousand names or namespaces that were not known before, the limit on the length
    /// counts on. A package of parts is read whole, and so are its parts, which are dropped. A
    /// client that [inspects](crate::ClientBuilder::inspect) or
    /// [validates](crate::ClientBuilder::validate) answers rejects such calls, since that needs
    /// whole messages. If the response is compressed, the client's
    /// [ratio](crate::GzipLimits) applies to the whole of it.
    ///
    /// ```
    /// # use deltasoap::{Client, Soap, SoapService};
    /// #[derive(Soap)]
    /// #[soap(namespace = "urn:lab", message, response = Measured)]
    /// struct Measure {}
    ///
    /// #[derive(Soap)]
    /// #[soap(namespace = "urn:lab", message)]
    /// struct Measured {
    ///     level: Vec<f64>,
    ///     unit: String,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let measure = |_: Measure| Measured { level: vec![0.5; 10_000], unit: "m".to_owned() };
    /// # let client = Client::with_service("http://localhost/", SoapService::builder().operation(measure).build()?)?;
    /// let mut levels = client.call_items(&Measure {}, |measured| &mut measured.level).await?;
    /// let mut total = 0.0;
    /// while let Some(level) = levels.next().await {
    ///     total += level?;
    /// }
    /// assert_eq!(total, 5_000.0);
    /// assert_eq!(levels.finish().await?.unit, "m");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns those errors of [`call`](Self::call) that occur before the first item; later ones
    /// are returned with the items.
    pub async fn call_items<R, Item, List>(
        &self,
        request: &R,
        list: List,
    ) -> Result<Items<R::Response, Item, CallError>, CallError>
    where
        R: RequestMessage,
        Item: Send + 'static,
        List: Fn(&mut R::Response) -> &mut Vec<Item> + Send + Sync + 'static,
    {
        Ok(self.call_items_with(request, list, CallOptions::default()).await?.body)
    }

    /// Like [`call_items`](Self::call_items), with settings of this call. Deviations from the
    /// schema are not known yet.
    ///
    /// # Errors
    /// Returns the same errors as [`call_items`](Self::call_items).
    pub async fn call_items_with<R, Item, List>(
        &self,
        request: &R,
        list: List,
        options: CallOptions,
    ) -> Result<Response<Items<R::Response, Item, CallError>>, CallError>
    where
        R: RequestMessage,
        Item: Send + 'static,
        List: Fn(&mut R::Response) -> &mut Vec<Item> + Send + Sync + 'static,
    {
        let timeout = options.timeout.or(self.settings.timeout);
        let (request, _) = self.request(request, options).await?;
        let expected = Some(R::Response::ELEMENT);
        self.items((&R::ELEMENT.local, request), timeout, expected, Arc::new(ListIn(list))).await
    }

    /// Sends a request, and reads the answer up to its first items.
    pub(super) async fn items<M: Send + 'static, T: Send + 'static>(
        &self,
        (name, mut request): (&str, Outbound),
        timeout: Option<Duration>,
        expected: Option<QName>,
        list: Arc<dyn Listed<M, T>>,
    ) -> Result<Response<Items<M, T, CallError>>, CallError> {
        if !self.settings.checks.is_empty() || self.settings.verify.is_some() {
            return Err(CallError::RefusedRequest("inspection, validation and security need the whole answer".into()));
        }
        let flow = Arc::new(Flow::new(list));
        let observed = request.observed(name);
        let patience = Patience { limit: timeout, pace: request.pace.clone() };
        let exchange = async {
            let response = self.transmit(request).await?;
            let (flow, fault) = (Arc::clone(&flow), FaultReceiver::default());
            let receiver = ItemsReceiver { flow, expected, fault, is_fault: false };
            let mut arrival = Arrival::begin(response, receiver, self.decoder(), &self.settings, patience).await?;
            arrival.more().await?;
            Ok(arrival)
        };
        let arrival = observed.run(timeout, pin!(exchange)).await?;
        let (head, status) = (arrival.reading.head().clone(), arrival.parts.status);
        let http_headers = arrival.parts.headers.clone();
        let (body, attachments) = (Items::new(flow, Box::new(arrival)), Attachments::default());
        Ok(Response {
            head,
            body,
            status,
            http_headers,
            attachments,
            deviations: Vec::new(),
            findings: Vec::new(),
            extensions: Extensions::new(),
        })
    }
}

/// Receives a response whose items are used while it arrives, or a fault.
struct ItemsReceiver<M, T> {
    flow: Arc<Flow<M, T>>,
    /// The name of the response's element; `None` if any is accepted.
    expected: Option<QName>,
    fault: FaultReceiver,
    is_fault: bool,
}

impl<M, T> Receiver for ItemsReceiver<M, T> {
    fn open_body(&mut self, head: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        self.is_fault = namespace == head.version().namespace() && local == "Fault";
        if self.is_fault {
            return self.fault.open_body(head, namespace, local);
        }
        match self.expected.as_ref().filter(|expected| !expected.is(namespace, local)) {
            None => Ok(()),
            Some(expected) => {
                let (found, expected) = (QName::owned(namespace, local).to_string(), format!("<{expected}>"));
                Err(ErrorKind::UnexpectedElement { found, expected })
            }
        }
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        if self.is_fault { self.fault.decode_body(cursor) } else { self.flow.decode(cursor) }
    }
}

/// An answer that is still arriving.
struct Arrival<M, T> {
    parts: Parts,
    reading: Reading<ItemsReceiver<M, T>>,
    /// The body; `None` once it has ended.
    body: Option<Pin<Box<dyn http_body::Body<Data = Bytes, Error = BoxError> + Send>>>,
    /// Bytes that have arrived and are not read yet.
    unread: Bytes,
    /// Maximum pause of the body.
    patience: Patience,
    /// An error that follows the available items.
    failure: Option<CallError>,
}

impl<M, T> Arrival<M, T> {
    /// Begins to read an answer. An answer in a package is read whole.
    async fn begin<B>(
        response: http::Response<B>,
        receiver: ItemsReceiver<M, T>,
        decoder: Box<Decoder>,
        settings: &Settings,
        patience: Patience,
    ) -> Result<Self, CallError>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let (mut parts, body) = response.into_parts();
        let media = MediaType::from_headers(&parts.headers).filter(|media| media.can_be_soap() || media.is_package());
        let body = decoded(&parts, media.as_ref(), body.map_err(Into::into), settings)?;
        let Some(media) = media else {
            let first = excerpt(std::pin::pin!(body)).await;
            return Err(status_error(parts.status, &parts.headers, &first, None));
        };
        let mut reading = Reading::new(&mut parts, receiver, decoder, settings);
        if !media.is_package() {
            reading.expect(&media);
            return Ok(Arrival { parts, reading, body: Some(body), unread: Bytes::new(), patience, failure: None });
        }
        let limits = settings.attachments.limits;
        let attachments = Attachments::from_body(&media, body, limits, patience.limit);
        let mut attachments = attachments.map_err(CallError::Attachment)?;
        if let Err(error) = reading.read_root(&mut attachments).await {
            return Err(reading.explained(error, &parts));
        }
        attachments.finish().await.map_err(CallError::Attachment)?;
        let mut arrival = Arrival { parts, reading, body: None, unread: Bytes::new(), patience, failure: None };
        arrival.end()?;
        Ok(arrival)
    }

    /// Reads more items. Those before an error come first, so that they do not depend on how the
    /// bytes were split.
    async fn more(&mut self) -> Result<bool, CallError> {
        let result = match self.failure.take() {
            Some(failure) => Err(failure),
            None => match self.read_on().await {
                Err(failure) if self.has_items_before(&failure) => {
                    self.failure = Some(failure);
                    return Ok(true);
                }
                result => result,
            },
        };
        match result {
            Err(CallError::Decode(_)) if self.reading.is_empty() => Err(empty(self.parts.status, &self.parts.headers)),
            result => result.map_err(|error| self.reading.explained(error, &self.parts)),
        }
    }

    /// Takes the items before a failure. Returns true if there are any. If the failure is not in
    /// the message itself, the received bytes are read to their end, since the decoder may have
    /// left the beginning of an item for later.
    fn has_items_before(&mut self, failure: &CallError) -> bool {
        if matches!(failure, CallError::Charset(_) | CallError::Coding(_) | CallError::Http(_) | CallError::Timeout(_))
        {
            // The failure came first, whatever is wrong here.
            let _ = self.reading.finish_decoding();
        }
        self.reading.receiver().flow.take_finished()
    }

    async fn read_on(&mut self) -> Result<bool, CallError> {
        let Some(body) = &mut self.body else { return Ok(false) };
        loop {
            while !self.unread.is_empty() {
                self.reading.push(self.unread.split_to(self.unread.len().min(WINDOW)))?;
                if self.reading.receiver().flow.take_finished() {
                    self.reading.decoder.restart_limits();
                    return Ok(true);
                }
            }
            match self.patience.within(async { Ok(body.frame().await) }).await? {
                Some(frame) => self.unread = frame.map_err(arrival_error)?.into_data().unwrap_or_default(),
                None => break,
            }
        }
        self.body = None;
        self.reading.finish(None).await?;
        self.end()?;
        Ok(false)
    }

    /// Ends the message.
    fn end(&mut self) -> Result<(), CallError> {
        let receiver = self.reading.receiver();
        receiver.flow.take_rest();
        let fault = std::mem::take(&mut receiver.fault).into_fault();
        match fault.map_err(|error| CallError::malformed(self.parts.status, error))? {
            Some(fault) => Err(CallError::Fault(Box::new(fault))),
            None => Ok(()),
        }
    }
}

impl<M: Send + 'static, T: Send + 'static> ItemSource<CallError> for Arrival<M, T> {
    fn more(&mut self) -> BoxFuture<'_, Result<bool, CallError>> {
        Box::pin(self.more())
    }
}

/// Returns the body without its content coding.
#[cfg_attr(not(feature = "gzip"), allow(unused_variables, reason = "only compressed content has bounds of its own"))]
fn decoded<B>(
    parts: &Parts,
    media: Option<&MediaType>,
    body: B,
    settings: &Settings,
) -> Result<Pin<Box<dyn http_body::Body<Data = Bytes, Error = BoxError> + Send>>, CallError>
where
    B: http_body::Body<Data = Bytes, Error = BoxError> + Send + 'static,
{
    match check_transfer(&parts.headers).and_then(|()| ContentCoding::from_headers(&parts.headers)) {
        Ok(None) => Ok(Box::pin(body)),
        #[cfg(feature = "gzip")]
        Ok(Some(coding)) if settings.accepts_gzip => Ok(Box::pin(Inflated::new(body, coding, bound(media, settings)))),
        coding => Err(undecodable(parts, coding)),
    }
}

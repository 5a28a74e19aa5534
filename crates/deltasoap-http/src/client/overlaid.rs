//! Calls whose request contains a list of any length, which is written while it is sent.

use super::builder::Client;
use super::call::Response;
use super::error::CallError;
use super::options::CallOptions;
use super::transmit::Outbound;
use crate::body::Body;
use crate::error::BoxError;
use crate::secured::cannot_be_secured;
use bytes::Bytes;
use deltasoap_core::soap::Envelope;
use deltasoap_core::{Message, Overlay, RequestMessage, Typed};
use futures_util::stream::Stream;
use http::Request;
use std::pin::pin;
use tower::Service;

impl<S, B> Client<S>
where
    S: Service<Request<Body>, Response = http::Response<B>> + Clone,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    /// Calls an operation whose request contains a list of any length.
    ///
    /// The items come from an iterator, for the request's one
    /// [`Streamed`](deltasoap_core::Streamed) field (or
    /// [`StreamedArray`](deltasoap_core::StreamedArray)), which does not hold them itself. They are
    /// written one chunk at a time, as the connection accepts them (HTTP/1.1, chunked transfer
    /// coding), so that the memory needed does not grow with the message. A chunk is as long as
    /// those of [templates](crate::ClientBuilder::templating).
    ///
    /// The connection polls the iterator, so it must not block. The client's
    /// [timeout](crate::ClientBuilder::timeout) covers the whole sending, so that a longer one may
    /// be needed here.
    ///
    /// ```
    /// # use deltasoap::{Client, Soap, SoapService};
    /// # use deltasoap::stream::Streamed;
    /// #[derive(Soap)]
    /// #[soap(namespace = "urn:lab", message, response = Total)]
    /// struct Sum {
    ///     item: Streamed<f64>,
    /// }
    ///
    /// # #[derive(Soap)]
    /// # #[soap(namespace = "urn:lab", message)]
    /// # struct Total {
    /// #     total: f64,
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let sum = |sum: Sum| Total { total: sum.item.iter().sum() };
    /// # let client = Client::with_service("http://localhost/", SoapService::builder().operation(sum).build()?)?;
    /// let numbers = (0..100_000).map(f64::from);
    /// let total = client.call_overlaid(&Sum { item: Streamed::default() }, numbers).await?;
    /// assert_eq!(total.total, 4999950000.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call). An item that cannot be written is detected
    /// while the request is being sent. The request is then aborted, so that the receiver does not
    /// take it for complete.
    pub async fn call_overlaid<R, I>(&self, request: &R, items: I) -> Result<R::Response, CallError>
    where
        R: RequestMessage,
        I: IntoIterator<Item: Typed + Send + 'static, IntoIter: Send + 'static>,
    {
        Ok(self.call_overlaid_with(request, items, CallOptions::default()).await?.body)
    }

    /// Like [`call_overlaid`](Self::call_overlaid), with settings of this call.
    ///
    /// # Errors
    /// Returns the same errors as [`call_overlaid`](Self::call_overlaid).
    pub async fn call_overlaid_with<R, I>(
        &self,
        request: &R,
        items: I,
        options: CallOptions,
    ) -> Result<Response<R::Response>, CallError>
    where
        R: RequestMessage,
        I: IntoIterator<Item: Typed + Send + 'static, IntoIter: Send + 'static>,
    {
        let timeout = options.timeout.or(self.settings.timeout);
        let mut request = self.overlaid(request, items, options).await?;
        request.observed(&R::ELEMENT.local).run(timeout, pin!(self.exchange(request, None))).await
    }

    /// Like [`call_overlaid_with`](Self::call_overlaid_with), with items from a stream. Ready items
    /// are sent immediately, even if the request is compressed. An error of the stream aborts the
    /// request.
    ///
    /// # Errors
    /// Returns the same errors as [`call_overlaid`](Self::call_overlaid).
    pub async fn call_overlaid_stream<R, Item, E>(
        &self,
        request: &R,
        items: impl Stream<Item = Result<Item, E>> + Send + 'static,
        options: CallOptions,
    ) -> Result<Response<R::Response>, CallError>
    where
        R: RequestMessage,
        Item: Typed + Send + 'static,
        E: Into<BoxError> + 'static,
    {
        let timeout = options.timeout.or(self.settings.timeout);
        let mut options = options;
        self.provide(&R::ELEMENT, &mut options).await?;
        self.intercept(&R::ELEMENT, request, &mut options)?;
        let overlay = Overlay::open(&self.overlaid_envelope(Envelope::new(request), &options)?, self.writer.chunk());
        let body = Body::fed(overlay.map_err(CallError::Encode)?, items);
        let mut request = self.request_of(body, options)?;
        request.observed(&R::ELEMENT.local).run(timeout, pin!(self.exchange(request, None))).await
    }

    /// Sends a one-way message with a list of any length; see
    /// [`call_overlaid`](Self::call_overlaid).
    ///
    /// # Errors
    /// Returns the same errors as [`call_overlaid`](Self::call_overlaid).
    pub async fn send_overlaid<Req, I>(&self, request: &Req, items: I) -> Result<(), CallError>
    where
        Req: Message,
        I: IntoIterator<Item: Typed + Send + 'static, IntoIter: Send + 'static>,
    {
        self.send_overlaid_with(request, items, CallOptions::default()).await
    }

    /// Like [`send_overlaid`](Self::send_overlaid), with settings of this call.
    ///
    /// # Errors
    /// Returns the same errors as [`call_overlaid`](Self::call_overlaid).
    pub async fn send_overlaid_with<Req, I>(
        &self,
        request: &Req,
        items: I,
        options: CallOptions,
    ) -> Result<(), CallError>
    where
        Req: Message,
        I: IntoIterator<Item: Typed + Send + 'static, IntoIter: Send + 'static>,
    {
        let timeout = options.timeout.or(self.settings.timeout);
        let mut request = self.overlaid(request, items, options).await?;
        request.observed(&Req::ELEMENT.local).run(timeout, pin!(self.deliver(request))).await
    }

    async fn overlaid<Req, I>(&self, body: &Req, items: I, mut options: CallOptions) -> Result<Outbound, CallError>
    where
        Req: Message,
        I: IntoIterator<Item: Typed + Send + 'static, IntoIter: Send + 'static>,
    {
        self.provide(&Req::ELEMENT, &mut options).await?;
        self.intercept(&Req::ELEMENT, body, &mut options)?;
        let envelope = self.overlaid_envelope(Envelope::new(body), &options)?;
        let overlay = Overlay::new(&envelope, items, self.writer.chunk());
        self.request_of(overlay.map_err(CallError::Encode)?.into(), options)
    }

    pub(super) fn overlaid_envelope<'a>(
        &self,
        envelope: Envelope<'a>,
        options: &'a CallOptions,
    ) -> Result<Envelope<'a>, CallError> {
        match self.protection(options) {
            None => Ok(self.with_settings(envelope, options).headers(&options.headers)),
            Some(_) => Err(CallError::Unsecured(cannot_be_secured())),
        }
    }
}

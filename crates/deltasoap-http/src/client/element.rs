//! Calls with messages whose types are known only at run time: the caller supplies their content
//! and reads the answers.

use super::builder::Client;
use super::call::Response;
use super::error::CallError;
use super::options::CallOptions;
#[cfg(feature = "values")]
use super::pace::Pace;
use super::receive::empty;
use super::templates::Sent;
use super::transmit::Outbound;
#[cfg(feature = "values")]
use crate::body::Body;
use crate::error::BoxError;
#[cfg(feature = "values")]
use crate::items::{DescribedList, Items};
use bytes::Bytes;
use deltasoap_core::decode::Decoder;
use deltasoap_core::schema::View;
#[cfg(feature = "values")]
use deltasoap_core::soap::Envelope;
use deltasoap_core::soap::Receiver;
use deltasoap_core::{Content, QName};
#[cfg(feature = "values")]
use deltasoap_core::{FromList, ListPlace, Overlay, Value};
#[cfg(feature = "values")]
use futures_util::stream::Stream;
use http::Request;
use std::pin::pin;
#[cfg(feature = "values")]
use std::sync::Arc;
use tower::Service;

impl<S, B> Client<S>
where
    S: Service<Request<crate::body::Body>, Response = http::Response<B>> + Clone,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    /// Calls an operation whose types are known only at run time.
    ///
    /// A receiver reads the answer with a decoder, by which the caller compares answers with
    /// earlier ones. The request is an element with any name, or without one
    /// ([`Envelope::element`](deltasoap_core::soap::Envelope::element)). The decoder is returned,
    /// to be [reset](Decoder::reset) and reused.
    ///
    /// The call's timeout bounds the message. The caller bounds the parts that it reads for the
    /// call by the call's [deadline](Self::deadline).
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call), except that the receiver handles a fault.
    pub async fn call_element<T: Content, R: Receiver>(
        &self,
        name: &QName,
        request: (&T, View<'_>),
        options: CallOptions,
        reading: (R, Decoder),
    ) -> Result<(Response<R>, Decoder), CallError> {
        let timeout = options.timeout.or(self.settings.timeout);
        let (mut request, sent) = self.request_with(name, request, options).await?;
        request.observed(&name.local).run(timeout, pin!(self.read_by(request, sent, reading))).await
    }

    /// Like [`call_items`](Self::call_items), for messages whose types are known only at run time;
    /// see [`call_element`](Self::call_element). `response` is the name of the response's element,
    /// if it carries a meaning, and its list. The items are taken as [`Value`]s, or as
    /// [batches](deltasoap_core::Batch) of them.
    ///
    /// # Errors
    /// Returns the same errors as [`call_items`](Self::call_items).
    #[cfg(feature = "values")]
    pub async fn call_element_items<T: Content, Item: FromList>(
        &self,
        name: &QName,
        request: (&T, View<'_>),
        options: CallOptions,
        response: (Option<&QName>, DescribedList),
    ) -> Result<Response<Items<Value, Item, CallError>>, CallError> {
        let timeout = options.timeout.or(self.settings.timeout);
        let (request, _) = self.request_with(name, request, options).await?;
        let (expected, list) = response;
        self.items((&name.local, request), timeout, expected.cloned(), Arc::new(list)).await
    }

    /// Sends a one-way message whose types are known only at run time; see
    /// [`call_element`](Self::call_element).
    ///
    /// # Errors
    /// Returns the same errors as [`send`](Self::send).
    pub async fn send_element<T: Content>(
        &self,
        name: &QName,
        request: (&T, View<'_>),
        options: CallOptions,
    ) -> Result<(), CallError> {
        let timeout = options.timeout.or(self.settings.timeout);
        let (mut request, _) = self.request_with(name, request, options).await?;
        request.observed(&name.local).run(timeout, pin!(self.deliver(request))).await
    }

    /// Like [`call_element`](Self::call_element), for a request with a list of any length, whose
    /// further items come from a stream, in batches.
    ///
    /// They are written after those that the request has, as they come and as the connection
    /// accepts them, each batch before the next is taken: the memory needed does not grow with the
    /// list. An error of the stream aborts the request, so that the receiver does not take it for
    /// complete. The call's timeout counts from the last batch that was taken: the stream itself
    /// bounds how long the next one may take.
    ///
    /// # Errors
    /// Returns the same errors as [`call_element`](Self::call_element). An error of the stream, or
    /// an item that cannot be written, is [`CallError::Encode`]. A client that
    /// [validates](crate::ClientBuilder::validate_sent) or secures requests refuses such calls,
    /// since that needs the whole request.
    #[cfg(feature = "values")]
    pub async fn call_element_overlaid<E: Into<BoxError> + 'static, R: Receiver>(
        &self,
        name: &QName,
        request: &ListPlace<'_>,
        batches: impl Stream<Item = Result<Vec<Value>, E>> + Send + 'static,
        options: CallOptions,
        reading: (R, Decoder),
    ) -> Result<(Response<R>, Decoder), CallError> {
        let timeout = options.timeout.or(self.settings.timeout);
        let mut request = self.overlaid_element(name, request, batches, options).await?;
        request.observed(&name.local).run(timeout, pin!(self.read_by(request, None, reading))).await
    }

    /// Like [`call_element_items`](Self::call_element_items), for a request with a list of any
    /// length; see [`call_element_overlaid`](Self::call_element_overlaid). The first items of the
    /// response may be there before the last ones of the request.
    ///
    /// # Errors
    /// Returns the same errors as [`call_items`](Self::call_items) and
    /// [`call_element_overlaid`](Self::call_element_overlaid).
    #[cfg(feature = "values")]
    pub async fn call_element_overlaid_items<E: Into<BoxError> + 'static, Item: FromList>(
        &self,
        name: &QName,
        request: &ListPlace<'_>,
        batches: impl Stream<Item = Result<Vec<Value>, E>> + Send + 'static,
        options: CallOptions,
        response: (Option<&QName>, DescribedList),
    ) -> Result<Response<Items<Value, Item, CallError>>, CallError> {
        let timeout = options.timeout.or(self.settings.timeout);
        let request = self.overlaid_element(name, request, batches, options).await?;
        let (expected, list) = response;
        self.items((&name.local, request), timeout, expected.cloned(), Arc::new(list)).await
    }

    /// Sends a one-way message with a list of any length; see
    /// [`call_element_overlaid`](Self::call_element_overlaid).
    ///
    /// # Errors
    /// Returns the same errors as [`send`](Self::send) and
    /// [`call_element_overlaid`](Self::call_element_overlaid).
    #[cfg(feature = "values")]
    pub async fn send_element_overlaid<E: Into<BoxError> + 'static>(
        &self,
        name: &QName,
        request: &ListPlace<'_>,
        batches: impl Stream<Item = Result<Vec<Value>, E>> + Send + 'static,
        options: CallOptions,
    ) -> Result<(), CallError> {
        let timeout = options.timeout.or(self.settings.timeout);
        let mut request = self.overlaid_element(name, request, batches, options).await?;
        request.observed(&name.local).run(timeout, pin!(self.deliver(request))).await
    }

    #[cfg(feature = "values")]
    async fn overlaid_element<E: Into<BoxError> + 'static>(
        &self,
        name: &QName,
        request: &ListPlace<'_>,
        batches: impl Stream<Item = Result<Vec<Value>, E>> + Send + 'static,
        mut options: CallOptions,
    ) -> Result<Outbound, CallError> {
        if self.settings.validating.is_some() {
            return Err(CallError::RefusedRequest("validation needs the whole request".into()));
        }
        self.provide(name, &mut options).await?;
        self.intercept(name, request.message(), &mut options)?;
        let envelope = Envelope::element(name, request.message(), request.view());
        let envelope = self.overlaid_envelope(envelope, &options)?;
        let overlay = Overlay::open_described(&envelope, request, self.writer.chunk()).map_err(CallError::Encode)?;
        let pace = Pace::default();
        let request = self.request_of(Body::fed_batches(overlay, pace.noting(batches)), options)?;
        Ok(Outbound { pace: Some(pace), ..request })
    }

    async fn read_by<R: Receiver>(
        &self,
        request: Outbound,
        sent: Option<Sent>,
        (receiver, decoder): (R, Decoder),
    ) -> Result<(Response<R>, Decoder), CallError> {
        let response = self.transmit(request).await?;
        let received = self.receive(response, receiver, Box::new(decoder), sent).await?;
        let (status, http_headers, attachments) = (received.parts.status, received.parts.headers, received.attachments);
        let Some((head, body)) = received.message else { return Err(empty(status, &http_headers)) };
        let (deviations, findings, extensions) = (received.deviations, received.findings, received.extensions);
        let response = Response { head, body, status, http_headers, attachments, deviations, findings, extensions };
        Ok((response, *received.decoder))
    }
}

//! Exchanges of messages whose description is known at run time only: the caller writes them, and reads the answers.

use super::builder::Client;
use super::call::Response;
use super::error::CallError;
use super::options::CallOptions;
use super::receive::{receive, status_error};
use super::transmit::{Outbound, within};
use crate::{Body, BoxError};
use bytes::Bytes;
use deltasoap_core::decode::Decoder;
use deltasoap_core::soap::Receiver;
use http::Request;
use tower::Service;

impl<S, B> Client<S>
where
    S: Service<Request<Body>, Response = http::Response<B>> + Clone,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    /// Sends a message that is written already, in the client's version of SOAP, and has the answer read by a receiver with a
    /// decoder: for dynamic values, whose schema the caller has, and for what the caller compares messages with. Header blocks
    /// of the options are not written, since the message has its own. The decoder comes back, to be
    /// [reset](Decoder::reset) and used again.
    ///
    /// # Errors
    /// As [`call`](Self::call), but that a fault is for the receiver to take.
    pub async fn exchange_message<R: Receiver>(
        &self,
        message: Body,
        receiver: R,
        decoder: Decoder,
        options: CallOptions,
    ) -> Result<(Response<R>, Decoder), CallError> {
        let timeout = options.timeout.or(self.settings.timeout);
        let request = self.request_of(message, options)?;
        within(timeout, self.read_by(request, receiver, decoder)).await
    }

    /// Sends a one-way message that is written already; see [`exchange_message`](Self::exchange_message).
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn send_message(&self, message: Body, options: CallOptions) -> Result<(), CallError> {
        let timeout = options.timeout.or(self.settings.timeout);
        let request = self.request_of(message, options)?;
        within(timeout, self.deliver(request)).await
    }

    async fn read_by<R: Receiver>(
        &self,
        request: Outbound,
        receiver: R,
        decoder: Decoder,
    ) -> Result<(Response<R>, Decoder), CallError> {
        let response = self.transmit(request).await?;
        let received = receive(response, receiver, Box::new(decoder), &self.settings).await?;
        let (status, http_headers, attachments) = (received.parts.status, received.parts.headers, received.attachments);
        let Some((head, body)) = received.message else { return Err(status_error(status, b"")) };
        Ok((Response { head, body, status, http_headers, attachments }, *received.decoder))
    }
}

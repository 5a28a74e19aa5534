//! One call of an operation.

use super::error::{DynamicError, DynamicFault};
use super::reply::{Answer, Held, Reply};
use super::{DynamicClient, streams::Stream};
use crate::{LookupError, Operation};
use deltasoap_core::schema::ElementRef;
use deltasoap_core::soap::HeaderBlock;
use deltasoap_core::{Error, Lease, QName, Value};
use deltasoap_http::{Body, BoxError, CallError, CallOptions, Response};
use deltasoap_wsdl::lower::Method;
use http::Request;
use serde_json::Value as Json;
use tower::Service;

/// A call that is not sent yet.
#[derive(Debug)]
pub struct Call<'c, S> {
    client: &'c DynamicClient<S>,
    operation: Operation,
    headers: Vec<HeaderBlock>,
    options: CallOptions,
}

impl<'c, S> Call<'c, S> {
    pub(super) fn new(client: &'c DynamicClient<S>, operation: Operation) -> Self {
        Call { client, operation, headers: Vec::new(), options: CallOptions::default() }
    }

    /// The operation that is called.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// Adds a SOAP header block.
    #[must_use]
    pub fn header(mut self, block: HeaderBlock) -> Self {
        self.headers.push(block);
        self
    }

    /// Adds a header block from the JSON of its content. Its name is that of an element of the contract.
    ///
    /// # Errors
    /// When no schema declares the element, or the JSON is not what it says.
    pub fn header_json(self, name: &QName, json: &Json) -> Result<Self, DynamicError> {
        let node = self.client.contract.element_from_json(name, json).map_err(DynamicError::Json)?;
        Ok(self.header(HeaderBlock { node }))
    }

    /// Timeouts, HTTP headers and all else that a call can have. Header blocks and the layout are not taken from there, nor is the action if
    /// the description gives one.
    #[must_use]
    pub fn options(mut self, options: CallOptions) -> Self {
        self.options = options;
        self
    }
}

impl<S, B> Call<'_, S>
where
    S: Service<Request<Body>, Response = http::Response<B>> + Clone,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    /// Sends a request made from JSON; `None` comes back from one-way operations.
    ///
    /// # Errors
    /// When the JSON is not what the operation takes, or there is no response.
    pub async fn send_json(self, request: &Json) -> Result<Option<Reply>, DynamicError> {
        self.operation.method().map_err(DynamicError::Lookup)?;
        let value = self.operation.request_from_json(request).map_err(DynamicError::Json)?;
        self.send(&value).await
    }

    /// Sends a request; `None` comes back from one-way operations.
    ///
    /// # Errors
    /// When the value is not what the operation takes, or there is no response.
    pub async fn send(self, request: &Value) -> Result<Option<Reply>, DynamicError> {
        let Call { client, operation, headers, options } = self;
        let method = operation.method().map_err(DynamicError::Lookup)?.clone();
        let http = client.http(&operation)?;
        let mut stream = client.streams.take(&operation);
        let written = write(&operation, &method, &mut stream, &headers, request);
        let message = match written {
            Ok(message) => message,
            Err(error) => return Err(DynamicError::Call(CallError::Encode(error))),
        };
        client.streams.count_encoded(&mut stream);
        let options = options.action(method.element.action.clone());
        let Some((name, content)) = operation.response().map(|(name, content)| (name.clone(), content)) else {
            client.streams.put(stream);
            return http.send_message(message, options).await.map(|()| None).map_err(|it| explained(&operation, it));
        };
        let Stream { memory, decoder, key, templates, counted } = stream;
        let answer = Answer::new(&operation, &name, content, memory);
        let (response, decoder) =
            http.exchange_message(message, answer, decoder, options).await.map_err(DynamicError::Call)?;
        let Response { head, body, status, attachments, .. } = response;
        let (memory, held) = body.into_parts();
        let stream = Stream { memory, decoder, key, templates, counted };
        let lease = client.streams.lease(stream);
        let body = match held.map_err(|error| DynamicError::Call(CallError::Decode(error)))? {
            Held::Fault(fault) => return Err(explained(&operation, CallError::Fault(Box::new(fault)))),
            Held::Apart(value) => Lease::new(value),
            Held::InMemory => lease,
        };
        Ok(Some(Reply { operation, head, body, status, attachments }))
    }
}

fn write(
    operation: &Operation,
    method: &Method,
    stream: &mut Stream,
    headers: &[HeaderBlock],
    value: &Value,
) -> Result<Body, Error> {
    let element = &method.element;
    let content: ElementRef = element.request;
    let body = (value, operation.view(content));
    let version = operation.version();
    let written = stream.templates.encode_element(version, element.encoding, headers, &element.request_name, body);
    written.map(Body::from)
}

/// A fault with its detail as the contract says it.
fn explained(operation: &Operation, error: CallError) -> DynamicError {
    match error {
        CallError::Fault(fault) => DynamicError::Fault(Box::new(DynamicFault::new(operation, *fault))),
        error => DynamicError::Call(error),
    }
}

impl From<LookupError> for DynamicError {
    fn from(error: LookupError) -> Self {
        DynamicError::Lookup(error)
    }
}

//! One call of an operation.

use super::error::{DynamicError, DynamicFault};
use super::items::ItemsReply;
use super::parts::Parts;
use super::reply::{BodyContent, Reply, ResponseReceiver};
use super::{DynamicClient, streams::Stream};
use crate::json::RequestList;
use crate::{LookupError, Operation};
use deltasoap_core::schema::{MethodElement, Style};
use deltasoap_core::soap::HeaderBlock;
use deltasoap_core::{FromList, Lease, ListPathError, ListPlace, QName, Value};
use deltasoap_http::{Body, BoxError, CallError, CallOptions, Client, DescribedList, Response};
use futures_util::stream::{self, Stream as ItemStream};
use http::Request;
use serde_json::Value as Json;
use std::sync::Arc;
use tower::Service;

/// A call that has not been sent yet.
#[derive(Debug)]
pub struct Call<'c, S> {
    client: &'c DynamicClient<S>,
    operation: Operation,
    options: CallOptions,
}

impl<'c, S> Call<'c, S> {
    pub(super) fn new(client: &'c DynamicClient<S>, operation: Operation) -> Self {
        Call { client, operation, options: CallOptions::default() }
    }

    /// Returns the operation that is called.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// Adds a SOAP header block.
    #[must_use]
    pub fn header(mut self, block: HeaderBlock) -> Self {
        self.options = self.options.header(block);
        self
    }

    /// Adds a header block from the JSON of its content; see [`Operation::header_from_json`].
    ///
    /// # Errors
    /// If nothing declares the block, or the JSON does not match its declaration.
    pub fn header_json(self, name: &QName, json: &Json) -> Result<Self, DynamicError> {
        let node = self.operation.header_from_json(name, json).map_err(DynamicError::Json)?;
        Ok(self.header(HeaderBlock { node }))
    }

    /// Sets the call's options: timeouts, HTTP headers, parts, MTOM and others. Header blocks that
    /// the call has are kept. Encoding and action remain those of the WSDL.
    #[must_use]
    pub fn options(mut self, options: CallOptions) -> Self {
        let headers = self.options.header_blocks().iter().cloned();
        self.options = headers.fold(options, CallOptions::header);
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
    /// Sends a request made from JSON; returns `None` for one-way operations.
    ///
    /// # Errors
    /// If the JSON does not match the operation's request, or there is no response.
    pub async fn send_json(self, request: &Json) -> Result<Option<Reply>, DynamicError> {
        self.operation.method().map_err(DynamicError::Lookup)?;
        let value = self.operation.request_from_json(request).map_err(DynamicError::Json)?;
        self.send(&value).await
    }

    /// Sends a request; returns `None` for one-way operations.
    ///
    /// # Errors
    /// If the value does not match the operation's request, or there is no response.
    pub async fn send(self, request: &Value) -> Result<Option<Reply>, DynamicError> {
        self.exchange(Outgoing::whole(request)).await
    }

    /// Sends a request with a list of any length, whose further items come from a stream, in
    /// batches; returns `None` for one-way operations.
    ///
    /// The items are written after those that the request has, as they come and as the connection
    /// accepts them, each batch before the next is taken: the memory needed does not grow with the
    /// list. An error of the stream aborts the request, so that the service does not take it for
    /// complete. The timeout counts from the last batch that was taken: the stream itself bounds how
    /// long the next one may take.
    ///
    /// ```
    /// # use deltasoap_dynamic::{Contract, DynamicClient, JsonError, Mock};
    /// # use futures_util::stream;
    /// # use serde_json::{Value as Json, json};
    /// # const WSDL: &str = include_str!("../../tests/data/lab.wsdl");
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let contract = Contract::from_text(WSDL)?;
    /// # let mock = Mock::new(contract.clone()).handle("Report", |report: Json| {
    /// #     Ok(json!({ "count": report["level"].as_array().map_or(0, Vec::len), "total": 0.5 }))
    /// # });
    /// # let client = DynamicClient::with_transport(contract, mock?.service()?);
    /// let call = client.prepare("Report")?;
    /// let list = call.operation().request_list(Some("level"))?;
    /// let report = list.request_from_json(json!({ "station": "north", "checked": true }), vec![])?;
    /// let mut items = list.items_from(0);
    /// let mut batch = |from: u32| (from..from + 100).map(|n| items.read(&json!(n))).collect::<Result<Vec<_>, JsonError>>();
    /// let batches = vec![batch(0), batch(100), batch(200)];
    /// let reply = call.send_overlaid(&report, &list, stream::iter(batches)).await?;
    /// assert_eq!(reply.expect("a response").to_json()?["count"], 300);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`send`](Self::send), and if the request has no place for the list. An error of the
    /// stream, or an item that does not match, is [`CallError::Encode`]. A client that
    /// [validates](DynamicClient::validation) or secures messages refuses such calls.
    pub async fn send_overlaid<E: Into<BoxError> + 'static>(
        self,
        request: &Value,
        list: &RequestList,
        batches: impl ItemStream<Item = Result<Vec<Value>, E>> + Send + 'static,
    ) -> Result<Option<Reply>, DynamicError> {
        self.exchange(Outgoing::overlaid(request, list, batches)?).await
    }

    /// Like [`send_overlaid`](Self::send_overlaid), for a response with a list whose items are used
    /// as they arrive; see [`send_items`](Self::send_items). The first ones may arrive before the
    /// last ones of the request are sent.
    ///
    /// # Errors
    /// As for [`send_overlaid`](Self::send_overlaid) and [`send_items`](Self::send_items).
    pub async fn send_overlaid_items<E: Into<BoxError> + 'static, T: FromList>(
        self,
        request: &Value,
        list: &RequestList,
        batches: impl ItemStream<Item = Result<Vec<Value>, E>> + Send + 'static,
        answered: Option<&str>,
    ) -> Result<ItemsReply<T>, DynamicError> {
        self.exchange_items(Outgoing::overlaid(request, list, batches)?, answered).await
    }

    async fn exchange<I, E>(self, request: Outgoing<'_, I>) -> Result<Option<Reply>, DynamicError>
    where
        I: ItemStream<Item = Result<Vec<Value>, E>> + Send + 'static,
        E: Into<BoxError> + 'static,
    {
        let Ready { client, operation, http, method, options } = self.ready()?;
        let (view, name_sent) = (operation.view(method.request), &method.request_name);
        let mut deadline = http.deadline(&options);
        let Some((name, content)) = operation.response().map(|(name, content)| (name.clone(), content)) else {
            let sent = match request {
                Outgoing::Whole(value) => http.send_element(name_sent, (value, view), options).await,
                Outgoing::Overlaid(place, items) => http.send_element_overlaid(name_sent, &place, items, options).await,
            };
            return sent.map(|()| None).map_err(|error| explained(&operation, error, &[]));
        };
        let Stream { memory, decoder, key, counted } = client.streams.take(&operation, http.decode_options());
        let reading = (ResponseReceiver::new(&operation, &name, content, memory), decoder);
        let called = match request {
            Outgoing::Whole(value) => http.call_element(name_sent, (value, view), options, reading).await,
            Outgoing::Overlaid(place, items) => {
                let called = http.call_element_overlaid(name_sent, &place, items, options, reading).await;
                deadline = deadline.restarted();
                called
            }
        };
        let (response, decoder) = called.map_err(DynamicError::Call)?;
        let Response { head, body, status, http_headers, mut attachments, deviations, findings, .. } = response;
        let (memory, held) = body.into_parts();
        let stream = Stream { memory, decoder, key, counted };
        let lease = client.streams.lease(stream);
        let body = match held.map_err(|error| DynamicError::Call(CallError::malformed(status, error)))? {
            BodyContent::Fault(fault) => {
                return Err(explained(&operation, CallError::Fault(Box::new(fault)), &head.headers));
            }
            BodyContent::Apart(value) => Lease::new(value),
            BodyContent::InMemory => lease,
        };
        let arriving = async {
            let parts = Parts::of(&body, &mut attachments).await?;
            // The package is known to be valid only after all of it has arrived.
            attachments.keep().await.map(|()| parts)
        };
        let parts = deadline.within(arriving).await.map_err(DynamicError::Call)?.map_err(DynamicError::Part)?;
        Ok(Some(Reply { operation, head, body, status, http_headers, attachments, deviations, findings, parts }))
    }

    /// Like [`send_json`](Self::send_json), for a response with a list whose items are used as they
    /// arrive; see [`DynamicClient::call_items`].
    ///
    /// # Errors
    /// As for [`send_items`](Self::send_items).
    pub async fn send_json_items<T: FromList>(
        self,
        request: &Json,
        list: Option<&str>,
    ) -> Result<ItemsReply<T>, DynamicError> {
        self.operation.method().map_err(DynamicError::Lookup)?;
        let value = self.operation.request_from_json(request).map_err(DynamicError::Json)?;
        self.send_items(&value, list).await
    }

    /// Sends a request, and returns the items of a list of the response as they arrive: each as a
    /// [`Value`], or in [batches](deltasoap_core::Batch). `list` is the
    /// [path](deltasoap_core::ListPath) of the list; it may be omitted if there is only one.
    ///
    /// Such responses are not compared with earlier ones, and a client that
    /// [validates](DynamicClient::validation) needs whole ones.
    ///
    /// # Errors
    /// If there is no such list, the value does not match the operation's request, or there is no
    /// response. An error after the first item is returned in place of the next item. The header
    /// blocks of a fault are not kept.
    pub async fn send_items<T: FromList>(
        self,
        request: &Value,
        list: Option<&str>,
    ) -> Result<ItemsReply<T>, DynamicError> {
        self.exchange_items(Outgoing::whole(request), list).await
    }

    async fn exchange_items<I, E, T>(
        self,
        request: Outgoing<'_, I>,
        list: Option<&str>,
    ) -> Result<ItemsReply<T>, DynamicError>
    where
        I: ItemStream<Item = Result<Vec<Value>, E>> + Send + 'static,
        E: Into<BoxError> + 'static,
        T: FromList,
    {
        let Ready { operation, http, method, options, .. } = self.ready()?;
        let (name, content) = method.response_name.as_ref().zip(method.response).ok_or(ListPathError::NoList)?;
        if name.local.is_empty() {
            return Err(ListPathError::NoElement.into());
        }
        let list = DescribedList::new(Arc::clone(&operation.contract().lowered().schema), content, list)?;
        let path = list.path().clone();
        // The name of an rpc response carries no meaning (SOAP 1.1, 7.1).
        let answer = (Some(name).filter(|_| operation.bound().style != Style::Rpc), list);
        let name = &method.request_name;
        let called = match request {
            Outgoing::Whole(value) => {
                http.call_element_items(name, (value, operation.view(method.request)), options, answer).await
            }
            Outgoing::Overlaid(place, items) => {
                http.call_element_overlaid_items(name, &place, items, options, answer).await
            }
        };
        let response = called.map_err(|error| explained(&operation, error, &[]))?;
        Ok(ItemsReply::new(operation, path, response))
    }
}

/// A request to be sent.
enum Outgoing<'r, I> {
    Whole(&'r Value),
    /// With further items of a list from a stream of batches.
    Overlaid(ListPlace<'r>, I),
}

impl<'r> Outgoing<'r, stream::Empty<Result<Vec<Value>, BoxError>>> {
    fn whole(request: &'r Value) -> Self {
        Outgoing::Whole(request)
    }
}

impl<'r, I> Outgoing<'r, I> {
    fn overlaid(request: &'r Value, list: &RequestList, items: I) -> Result<Self, DynamicError> {
        let place = list.place(request).map_err(DynamicError::RequestList)?;
        Ok(Outgoing::Overlaid(place, items))
    }
}

/// A call that is ready to be sent.
struct Ready<'c, S> {
    client: &'c DynamicClient<S>,
    operation: Operation,
    http: Client<S>,
    method: MethodElement,
    options: CallOptions,
}

impl<'c, S: Clone> Call<'c, S> {
    /// Applies the settings of the WSDL.
    fn ready(self) -> Result<Ready<'c, S>, DynamicError> {
        let Call { client, operation, options } = self;
        let lowered = operation.method().map_err(DynamicError::Lookup)?;
        let (method, headers) = (lowered.element.clone(), lowered.response_headers.clone());
        let http = client.http(&operation)?;
        let options = options.action(method.action.clone()).encoding(method.encoding);
        let options = options.addressing_action(operation.addressing_actions().request);
        // Header blocks that the WSDL declares are in the reply, for the caller to inspect.
        let options = headers.into_iter().fold(options, |options, header| options.understands(header.name));
        Ok(Ready { client, operation, http, method, options })
    }
}

/// Returns a fault with its detail and its header blocks, decoded by the contract.
fn explained(operation: &Operation, error: CallError, headers: &[HeaderBlock]) -> DynamicError {
    match error {
        CallError::Fault(fault) => DynamicError::Fault(Box::new(DynamicFault::new(operation, *fault, headers))),
        error => DynamicError::Call(error),
    }
}

impl From<ListPathError> for DynamicError {
    fn from(error: ListPathError) -> Self {
        DynamicError::List(error)
    }
}

impl From<LookupError> for DynamicError {
    fn from(error: LookupError) -> Self {
        DynamicError::Lookup(error)
    }
}

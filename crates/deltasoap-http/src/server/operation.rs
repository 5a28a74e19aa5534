//! Operations: a handler of one request type, and the schema of its messages.
//!
//! The service keeps operations of many types in one table, so the type of the request is erased
//! here. An operation starts a [`Call`], which is decoded by monomorphic code, and then runs the
//! handler with the decoded value. Nothing else needs to know the type.

use super::context::Context;
use super::guard::{Panicked, guard};
use super::handler::{Extract, FromRequest, Handler, HandlerResult, Running};
use super::memory::{Checkout, MemorySource};
use super::record::Record;
use super::reply::MessageReply;
use super::writing::{Writing, Written};
use super::wsdl::{Actions, OperationMetadata};
use crate::items::{Flow, ItemSource, Items, ListIn, Listed, WholeMessage};
use crate::secured::WriteError;
use deltasoap_core::decode::{Cursor, Step};
use deltasoap_core::schema::{ElementRef, Field, List, MethodElement, Schema, Style, Use, View};
use deltasoap_core::soap::{BodyParts, Fault, Version};
use deltasoap_core::{DifferentialStats, ErrorKind, Lease, Message, QName, Typed, Value};
use futures_util::future::BoxFuture;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::Instrument;

/// An operation of a service: a handler, the body element it takes, and the encoding of its
/// messages.
///
/// A handler gets its request on [`Lease`]: when the lease is dropped, the request stays with the
/// service, which compares the next message with it and reads only the differences. A request taken
/// by [`Lease::into_owned`] is gone, so the next message is read in full. If a handler takes all
/// its requests, nothing is kept for it any more.
///
/// Created by [`new`](Self::new) and its siblings, configured by the other methods, and passed to
/// [`SoapServiceBuilder::add_operation`](crate::SoapServiceBuilder::add_operation). Operations that
/// need no configuration are added in one step by
/// [`SoapServiceBuilder::operation`](crate::SoapServiceBuilder::operation).
pub struct Operation {
    method: MethodElement,
    /// The documentation of the operation; may be empty.
    documentation: Cow<'static, str>,
    /// Names and schemas of the header blocks that the WSDL describes: of requests and of
    /// responses.
    headers: [Vec<(QName, ElementRef)>; 2],
    /// True if the operation sets its own encoding of responses.
    has_own_encoding: bool,
    /// Minimum weight of its requests, in bytes.
    weight: u64,
    form: BodyForm,
    /// The schema of its messages, if they are described at run time.
    described_by: Option<(MethodElement, Arc<Schema>)>,
    /// A sample request.
    sample: Option<Value>,
    /// True if its handler takes items of its requests while they arrive.
    takes_items: bool,
    /// The actions of its messages in WS-Addressing.
    actions: Actions,
    record: Arc<Record>,
    start: Box<Start>,
}

/// Returns the name of an operation whose requests have an empty body: the last segment of its
/// action.
pub(super) fn name_of_action(action: &str) -> QName {
    QName::owned("", action.rsplit(['/', '#', ':']).next().unwrap_or_default())
}

impl Operation {
    /// Creates an operation from its [handler](Handler). The type of the request determines which
    /// body element it takes.
    ///
    /// The handler runs as part of the HTTP exchange: when the client disconnects, its future is
    /// dropped. A panic in it becomes a receiver fault without details.
    pub fn new<M, Q, R, H>(handler: H) -> Self
    where
        H: Handler<M>,
        H::Arguments: Extract<()>,
        H::Request: FromRequest<Q>,
        H::Output: HandlerResult<R>,
    {
        Self::with_state(handler, ())
    }

    /// As [`new`](Self::new), for handlers that take a [`State`](crate::State).
    pub fn with_state<M, Q, R, S, H>(handler: H, state: S) -> Self
    where
        S: Send + Sync + 'static,
        H: Handler<M>,
        H::Arguments: Extract<S>,
        H::Request: FromRequest<Q>,
        H::Output: HandlerResult<R>,
    {
        let (handler, state) = (Arc::new(handler), Arc::new(state));
        let response = H::Output::response();
        let is_one_way = response.is_none();
        let run = move |request: Lease<<H::Request as FromRequest<Q>>::Message>, mut context, writing: Writing| {
            if let Err(fault) = writing.intercept(&mut context, Some(&*request)) {
                return refused(fault);
            }
            let request = H::Request::from_request(request);
            let finish = move |reply: H::Output| reply.into_outcome(writing);
            let state = Arc::clone(&state);
            let extract = move || H::Arguments::extract(&mut context, &state);
            let running = Arc::clone(&handler).call(extract, request, finish);
            if is_one_way { in_background(running) } else { running }
        };
        let operation = Self::erased::<<H::Request as FromRequest<Q>>::Message>(response, run);
        operation.declaring::<H::Arguments, S, H::Output, R>()
    }

    /// Declares the header blocks that the handler's arguments take, and the faults that it may
    /// return.
    fn declaring<Arguments: Extract<S>, S, Reply: HandlerResult<R>, R>(self) -> Self {
        let operation = Arguments::understood().into_iter().fold(self, Self::understands);
        let mut operation = Reply::faults().into_iter().fold(operation, Self::with_fault);
        operation.headers[0] = Arguments::headers();
        operation
    }

    /// Creates an operation whose handler takes the items of a list of its requests while they
    /// arrive. `list` finds the list in the request: the same one each time, from the empty request
    /// on. It must not change anything else; an optional element that it creates remains in the
    /// request.
    ///
    /// The memory needed does not grow with the list. The service's limits on the
    /// [length](deltasoap_core::Limits::message) of a message and on the nodes of trees count from
    /// the last items that were taken. Nothing is read ahead: while the handler does not ask for
    /// items, the client has to wait. The handler's [time
    /// limit](crate::SoapServiceBuilder::handler_timeout) holds from one read to the next.
    ///
    /// The handler starts when there are items, or when the message is complete. Of an invalid
    /// message it gets the finished items before the error, then the error, however the bytes
    /// arrived. When it succeeds, the service reads the unread rest of the message, within its
    /// limits, and sends the response only if the message is valid; otherwise the client gets a
    /// fault. A handler that must know earlier, for example to commit a transaction, asks until
    /// there is no item left, or calls [`finish`](Items::finish). A handler that passes the items
    /// on to another task must read to the end itself.
    ///
    /// Names and namespaces are kept to the end of a message: after some thousand new ones, the
    /// limit on the length [counts on](deltasoap_core::decode::Decoder::restart_limits). Messages
    /// with attachments are read whole, and their items are then available at once. If the message
    /// is compressed, the [ratio](crate::GzipLimits) applies to all of it, and its length has no
    /// other bound than that of the content. [Deviations](Context::deviations) are not known when
    /// the handler starts. In SOAP encoding, a message with references is kept from the first
    /// reference on, and messages with an array that has positions or an offset are refused.
    /// Requests are not compared with earlier ones. If a request returns to a list after another
    /// element, where these may come in any order, it is bounded as a whole. The handler runs where
    /// the connection is served, whatever the length: see [`HeavyWork`](crate::HeavyWork).
    ///
    /// ```
    /// use deltasoap::{Client, Fault, Soap, SoapService};
    /// use deltasoap::server::Operation;
    /// use deltasoap::stream::{Items, Streamed};
    ///
    /// #[derive(Soap)]
    /// #[soap(namespace = "urn:lab", message)]
    /// struct Sum {
    ///     unit: String,
    ///     item: Vec<f64>,
    /// }
    ///
    /// #[derive(Soap)]
    /// #[soap(namespace = "urn:lab", message)]
    /// struct Total {
    ///     total: f64,
    /// }
    ///
    /// async fn sum(mut items: Items<Sum, f64, Fault>) -> Result<Total, Fault> {
    ///     assert_eq!(items.with_message(|sum| sum.unit.clone()), "m");
    ///     let mut total = 0.0;
    ///     while let Some(batch) = items.next_batch().await {
    ///         total += batch?.iter().sum::<f64>();
    ///     }
    ///     Ok(Total { total })
    /// }
    ///
    /// # #[derive(Soap)]
    /// # #[soap(namespace = "urn:lab", message, name = "Sum", response = Total)]
    /// # struct Numbers {
    /// #     unit: String,
    /// #     item: Streamed<f64>,
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let operation = Operation::with_items(|sum: &mut Sum| &mut sum.item, sum);
    /// let service = SoapService::builder().add_operation(operation).build()?;
    /// # let client = Client::with_service("http://localhost/", service)?;
    /// # let numbers = (0..100_000).map(f64::from);
    /// # let request = Numbers { unit: "m".to_owned(), item: Streamed::default() };
    /// # let total = client.call_overlaid(&request, numbers).await?;
    /// # assert_eq!(total.total, 4999950000.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_items<M, R, Request, Item, List, H>(list: List, handler: H) -> Self
    where
        Request: Message + Send + 'static,
        Item: Send + 'static,
        List: Fn(&mut Request) -> &mut Vec<Item> + Send + Sync + 'static,
        H: Handler<M, Request = Items<Request, Item, Fault>>,
        H::Arguments: Extract<()>,
        H::Output: HandlerResult<R>,
    {
        let handler = Arc::new(handler);
        let run = move |items, mut context, writing: Writing| {
            if let Err(fault) = writing.intercept(&mut context, None) {
                return refused(fault);
            }
            let finish = move |reply: H::Output| reply.into_outcome(writing);
            let extract = move || H::Arguments::extract(&mut context, &());
            Arc::clone(&handler).call(extract, items, finish)
        };
        let start = starting_with_items(Arc::new(ListIn(list)), Arc::new(run));
        let (form, name) = BodyForm::identify(&Request::ELEMENT, None);
        let request = (name, <Request as Typed>::REFERENCE);
        let operation = Self::literal(request, form, H::Output::response(), start).taking_items();
        operation.declaring::<H::Arguments, (), H::Output, R>()
    }

    /// Marks the operation as taking items of its requests while they arrive.
    pub(super) fn taking_items(self) -> Self {
        Operation { takes_items: true, ..self }
    }

    /// Creates an operation with its own way of starting calls.
    pub(super) fn started_by(method: MethodElement, form: BodyForm, start: Box<Start>) -> Self {
        let record = Arc::new(Record::unregistered(method.request_name.clone()));
        Operation {
            method,
            documentation: Cow::Borrowed(""),
            headers: Default::default(),
            has_own_encoding: false,
            weight: 0,
            form,
            described_by: None,
            sample: None,
            takes_items: false,
            actions: Actions::default(),
            record,
            start,
        }
    }

    fn erased<Request: Message + Send + 'static>(
        response: Option<(QName, ElementRef)>,
        run: impl Fn(Lease<Request>, Context, Writing) -> BoxFuture<'static, Outcome> + Send + Sync + 'static,
    ) -> Self {
        let run: Arc<Run<Request>> = Arc::new(run);
        let start: Box<Start> = Box::new(move |opening| {
            let record = Arc::clone(opening.record);
            Box::new(TypedCall { request: opening.request::<Request>(), record, run: Arc::clone(&run) })
        });
        let (form, name) = BodyForm::identify(&Request::ELEMENT, Request::HAS_PARTS.then(Request::view));
        Self::literal((name, <Request as Typed>::REFERENCE), form, response, start)
    }

    /// Creates a literal operation of the document style, without faults and headers.
    fn literal(
        (request_name, request): (QName, ElementRef),
        form: BodyForm,
        response: Option<(QName, ElementRef)>,
        start: Box<Start>,
    ) -> Self {
        let (response_name, response) = response.unzip();
        let (faults, headers, action) = (List::default(), List::default(), Cow::Borrowed(""));
        let (style, encoding) = (Style::Document, Use::Literal);
        let method =
            MethodElement { request_name, request, response_name, response, faults, headers, action, style, encoding };
        Self::started_by(method, form, start)
    }

    /// Takes the body element of this name instead of that of the request's type: for a type that
    /// several protocols, or versions of one protocol, use under different names.
    #[must_use]
    pub fn named(mut self, name: QName) -> Self {
        self.record = Arc::new(Record::unregistered(name.clone()));
        self.method.request_name = name;
        self
    }

    /// Sets the action of requests (`soapAction` in WSDL 1.1). Dispatch uses the body's element; if
    /// several operations take the same element, the action selects one (HTTP's, or that of
    /// WS-Addressing). A request with another operation's action is refused, see
    /// [`ActionCheck`](crate::ActionCheck). Default: that of the service's WSDL, if any.
    #[must_use]
    pub fn action(mut self, action: impl Into<Cow<'static, str>>) -> Self {
        self.set_action(action.into());
        self
    }

    fn set_action(&mut self, action: Cow<'static, str>) {
        if self.takes_nothing() {
            self.method.request_name = name_of_action(&action);
            self.record = Arc::new(Record::unregistered(self.method.request_name.clone()));
        }
        self.method.action = action;
    }

    /// Sets the encoding of responses. Default: that of the service. Requests are read in both
    /// encodings.
    #[must_use]
    pub fn encoding(mut self, encoding: Use) -> Self {
        self.method.encoding = encoding;
        self.has_own_encoding = true;
        self
    }

    /// Sets the body's style in [`method`](Self::method): an element of the schema, or one named
    /// after the operation with an accessor for each parameter. On the wire, the message types
    /// decide. Default: document.
    #[must_use]
    pub fn style(mut self, style: Style) -> Self {
        self.method.style = style;
        self
    }

    /// Sets the weight of a request, independent of its length: it counts as a message of at least
    /// this many bytes where [small ones go first](crate::Scheduling::SmallFirst). For short
    /// requests that need much work, such as reports. If the request names the operation's action,
    /// the weight counts from the start, otherwise once its body has been read: then it waits
    /// again, and may be refused like a request that has not begun. One-way operations have no
    /// weight, since their handlers run on their own. Default 0: the length counts, and the weight
    /// that was [learned](crate::Weigh).
    ///
    /// As in *Toward Characterizing the Performance of SOAP Toolkits*, section 2.9: the type of
    /// operation indicates the load.
    #[must_use]
    pub fn weight(mut self, bytes: u64) -> Self {
        self.weight = bytes;
        self
    }

    /// Sets the documentation of the operation on the service's page. Default: that of the
    /// service's WSDL, if any.
    #[must_use]
    pub fn documentation(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.documentation = text.into();
        self
    }

    /// Sets a sample request for the service's page, for an operation that is described at run
    /// time. Default: one is made from the schema.
    #[must_use]
    pub fn sample(mut self, request: Value) -> Self {
        self.sample = Some(request);
        self
    }

    /// Sets the schema of the operation's messages, for samples.
    pub(super) fn described_by(mut self, method: MethodElement, schema: Arc<Schema>) -> Self {
        self.described_by = Some((method, schema));
        self
    }

    /// Returns the name, value and schema of a sample request; `None` if there is none.
    pub(super) fn sampled(&self) -> Option<(&QName, Value, View<'_>)> {
        let (method, view) = match &self.described_by {
            Some((method, schema)) => (method, schema.view(method.request)),
            None => (&self.method, View::from_static(self.method.request)),
        };
        let value = self.sample.clone().or_else(|| Value::sample(view))?;
        // The name of the first part is not the name of an element around all parts.
        const NONE: &QName = &QName::new("", "");
        Some((if self.form == BodyForm::Parts { NONE } else { &method.request_name }, value, view))
    }

    /// Declares that faults of the operation may have this detail entry, as reported by
    /// [`method`](Self::method) and described by a [WSDL made from the
    /// types](crate::SoapService::wsdl). Handlers may answer with other faults too. The details of
    /// an error that is a [`TypedFault`](crate::TypedFault), or derives `Faults`, are declared
    /// already.
    #[must_use]
    pub fn fault<Detail: Message>(self) -> Self {
        self.with_fault((Detail::ELEMENT, <Detail as Typed>::REFERENCE))
    }

    /// Declares a detail entry, once.
    fn with_fault(mut self, (name, element): (QName, ElementRef)) -> Self {
        if self.method.faults.iter().all(|known| known.name != name) {
            let field = Field { name, element, min: 0, max: Some(1), nillable: false, inline: false };
            self.method.faults.to_mut().push(field);
        }
        self
    }

    /// Declares that the handler understands header blocks of this name. A mandatory block that
    /// nothing understands is answered with a `MustUnderstand` fault before the handler is called.
    /// For a block that has a type, see [`request_header`](Self::request_header).
    #[must_use]
    pub fn understands(mut self, header: QName) -> Self {
        self.method.headers.to_mut().push(header);
        self
    }

    /// Declares that the handler [understands](Self::understands) header blocks of this type, which
    /// it finds by itself in the [`Context`]. A [WSDL made from the
    /// types](crate::SoapService::wsdl) describes them. Those that its arguments take are declared
    /// already.
    #[must_use]
    pub fn request_header<Block: Message>(mut self) -> Self {
        self.headers[0].push((Block::ELEMENT, <Block as Typed>::REFERENCE));
        self.understands(Block::ELEMENT)
    }

    /// Declares that responses may have header blocks of this type. A [WSDL made from the
    /// types](crate::SoapService::wsdl) describes them.
    ///
    /// ```
    /// use deltasoap::{Fault, Soap, SoapService};
    /// use deltasoap::server::{Reply, Header, Operation};
    /// use deltasoap::soap::HeaderBlock;
    ///
    /// #[derive(Soap)]
    /// #[soap(namespace = "urn:shop", message)]
    /// struct Buy {
    ///     sku: String,
    /// }
    ///
    /// #[derive(Soap, Clone)]
    /// #[soap(namespace = "urn:shop", message)]
    /// struct Session {
    ///     id: String,
    /// }
    ///
    /// async fn buy(session: Header<Session>, request: Buy) -> Result<Reply<Buy>, Fault> {
    ///     let block = HeaderBlock::from_message(&session.0).map_err(|error| Fault::receiver(error.to_string()))?;
    ///     Ok(Reply::new(request).with_header(block))
    /// }
    ///
    /// let operation = Operation::new(buy).response_header::<Session>();
    /// let service = SoapService::builder().add_operation(operation).build()?;
    /// let wsdl = service.wsdl().expect("an operation");
    /// assert!(wsdl.contains(r#"<soap:header message="tns:BuyResponseHeader" part="Session" use="literal"/>"#));
    /// # Ok::<(), deltasoap::server::BuildError>(())
    /// ```
    #[must_use]
    pub fn response_header<Block: Message>(mut self) -> Self {
        self.headers[1].push((Block::ELEMENT, <Block as Typed>::REFERENCE));
        self
    }

    /// Sets the action of responses to requests with WS-Addressing. Default: that of the WSDL, or
    /// the action of the request with `Response` after it.
    #[must_use]
    pub fn response_action(mut self, action: impl Into<String>) -> Self {
        self.actions.response = Some(action.into());
        self
    }

    /// Returns the header blocks of requests and those of responses, as far as their types are
    /// known.
    pub(crate) fn headers(&self) -> &[Vec<(QName, ElementRef)>; 2] {
        &self.headers
    }

    /// Returns the name of the body element that the operation takes: the first, if there are
    /// several. If there is none, the name is the last segment of the action.
    pub fn name(&self) -> &QName {
        &self.method.request_name
    }

    /// Returns the operation as schema data: its messages, header blocks and action.
    pub fn method(&self) -> &MethodElement {
        &self.method
    }

    pub(crate) fn is_one_way(&self) -> bool {
        self.method.response.is_none()
    }

    /// Returns true if its requests have an empty body, so that the action identifies them.
    pub(crate) fn takes_nothing(&self) -> bool {
        self.form == BodyForm::Nothing
    }

    /// Returns true if the body of its requests may hold several elements.
    pub(crate) fn takes_several(&self) -> bool {
        self.form == BodyForm::Parts
    }

    pub(crate) fn takes_items(&self) -> bool {
        self.takes_items
    }

    /// Returns true if a schema describes its messages at run time.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.described_by.is_some()
    }

    pub(crate) fn described_action(&self) -> &str {
        &self.method.action
    }

    /// Returns true for the action of its requests, in HTTP or in WS-Addressing.
    pub(crate) fn has_action(&self, action: &str) -> bool {
        !action.is_empty() && (*self.method.action == *action || self.actions.request == action)
    }

    /// Returns the action of its responses in WS-Addressing. If nothing declares one, it follows
    /// from that of the request.
    pub(crate) fn action_of_response(&self, request: &str) -> String {
        self.actions.response.clone().unwrap_or_else(|| format!("{request}Response"))
    }

    /// Returns the action of a fault in WS-Addressing; `None` if the operation declares none.
    pub(crate) fn action_of_fault(&self, fault: &Fault) -> Option<&str> {
        let detail = &fault.detail.first()?.name;
        self.actions.faults.iter().find(|(name, _)| name == detail).map(|(_, action)| action.as_str())
    }

    pub(crate) fn weighs(&self) -> u64 {
        if self.is_one_way() { 0 } else { self.weight }
    }

    pub(crate) fn described(&self) -> &str {
        &self.documentation
    }

    /// Takes over metadata of the WSDL that the operation lacks.
    pub(crate) fn learn(&mut self, metadata: OperationMetadata) {
        if self.method.action.is_empty() {
            self.set_action(metadata.action.into());
        }
        if self.documentation.is_empty() {
            self.documentation = metadata.documentation.into();
        }
        let response = self.actions.response.take();
        self.actions = metadata.addressing;
        self.actions.response = response.or(self.actions.response.take());
    }

    pub(crate) fn own_encoding(&self) -> Option<Use> {
        self.has_own_encoding.then_some(self.method.encoding)
    }

    pub(crate) fn has_understanding_of(&self, header: &QName) -> bool {
        self.method.headers.contains(header)
    }

    /// Returns the record of the operation.
    pub(crate) fn record(&self) -> &Arc<Record> {
        &self.record
    }

    /// Registers the operation with a service, under a number.
    pub(crate) fn register(&mut self, service: &str, number: usize) {
        self.record = Arc::new(Record::new(service, number, self.name().clone()));
    }

    /// Starts a call for a message in a version; `name` is the body element's name as written.
    pub(crate) fn start(&self, source: Option<MemorySource>, version: Version, name: &str) -> Box<dyn Call> {
        (self.start)(Opening { record: &self.record, source, version, name })
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation").field("method", &self.method).finish_non_exhaustive()
    }
}

/// The content of a request's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyForm {
    Element,
    /// Several elements.
    Parts,
    /// No element, so the action identifies the operation.
    Nothing,
}

impl BodyForm {
    /// Returns the form of a body whose element has this name, or has no element but these parts,
    /// and the name that identifies it, which is empty for an empty body.
    pub(super) fn identify(name: &QName, parts: Option<View<'_>>) -> (Self, QName) {
        let first = parts.and_then(View::complex).and_then(|complex| complex.fields.first());
        match (name.local.is_empty(), first) {
            (false, _) => (BodyForm::Element, name.clone()),
            (true, Some(first)) => (BodyForm::Parts, first.name.clone()),
            (true, None) => (BodyForm::Nothing, name.clone()),
        }
    }
}

/// A request of an operation, which is first read, then run.
pub(crate) trait Call: Send {
    /// Reads the body's element; see [`Content::decode`](deltasoap_core::Content::decode).
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step;

    /// Opens another element of the body, which is read next; only if the operation takes several.
    ///
    /// # Errors
    /// When the operation does not take such an element.
    fn open_another(&mut self, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        let _ = (namespace, local);
        unreachable!("an operation of one element")
    }

    /// Ends the body.
    ///
    /// # Errors
    /// When an element is missing, if the operation takes several.
    fn close(&self) -> Result<(), ErrorKind> {
        Ok(())
    }

    /// Takes the finished items of the call's list. Returns true if items are available; `None` if
    /// the call has no list that is used while it arrives.
    fn take_items(&mut self) -> Option<bool> {
        None
    }

    /// Takes the last items, after the message was read.
    fn take_rest(&mut self) {}

    /// Returns the function that starts the handler while the message arrives, if it takes items.
    fn starter(&self) -> Option<Starter> {
        None
    }

    /// Returns the counts of the comparison with an earlier request, if there was one.
    fn counts(&self) -> Option<DifferentialStats> {
        None
    }

    /// Keeps the request for the comparison with the next one, and calls no handler.
    fn keep(self: Box<Self>) {}

    /// Runs the handler with the request, and writes its response.
    fn run(self: Box<Self>, context: Context, writing: Writing) -> BoxFuture<'static, Outcome>;
}

/// Starts a handler with the items of a message that is still arriving.
pub(crate) type Starter =
    Box<dyn FnOnce(Context, Writing, Box<dyn ItemSource<Fault>>) -> BoxFuture<'static, Outcome> + Send>;

/// The outcome of a call.
#[derive(Debug)]
pub enum Outcome {
    /// A response, and the time spent encoding it.
    Response(Written, Duration),
    /// A one-way message was accepted.
    Accepted,
    /// A reply that the handler has written itself.
    Reply(MessageReply),
    /// A fault.
    Fault(Fault),
}

impl Outcome {
    /// Returns the outcome of writing a response. If it cannot be written, the handler is the
    /// cause: the client only learns that there is no response.
    pub(crate) fn written(written: Result<Written, WriteError>, start: Instant) -> Self {
        match written {
            Ok(written) => Outcome::Response(written, start.elapsed()),
            Err(WriteError::Encode(error)) => {
                tracing::error!(%error, "the response could not be written");
                Outcome::Fault(Fault::receiver("the response could not be written"))
            }
            Err(WriteError::Protect(error)) => {
                tracing::error!(%error, "the response could not be secured");
                Outcome::Fault(Fault::receiver("the response could not be secured"))
            }
        }
    }
}

pub(super) type Start = dyn Fn(Opening<'_>) -> Box<dyn Call> + Send + Sync;

type Run<Request> = dyn Fn(Lease<Request>, Context, Writing) -> BoxFuture<'static, Outcome> + Send + Sync;

/// The arguments for starting a call.
pub(super) struct Opening<'a> {
    pub(super) record: &'a Arc<Record>,
    pub(super) source: Option<MemorySource>,
    pub(super) version: Version,
    /// The body element's name as written.
    pub(super) name: &'a str,
}

impl Opening<'_> {
    fn request<T: Message + Send + 'static>(self) -> Incoming<T> {
        match self.source {
            _ if T::HAS_PARTS => Incoming::Parts(BodyParts::new(T::view())),
            Some(source) if !self.record.skips_memory() => {
                Incoming::Kept(source.check_out(self.record, self.version, self.name))
            }
            _ => Incoming::Single { value: T::vacant(T::view()), start: None, len: 0 },
        }
    }
}

/// A request that is being read.
enum Incoming<T: Send + 'static> {
    /// A request of a stream, compared with the previous one.
    Kept(Checkout<T>),
    /// A standalone request.
    Single {
        value: T,
        /// Start of the request, in bytes received, once it has begun.
        start: Option<u64>,
        /// Its length in bytes, once it is read.
        len: u64,
    },
    /// A request of several elements, which are not compared.
    Parts(BodyParts<T>),
}

impl<T: Message + Send + 'static> Incoming<T> {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        match self {
            Incoming::Kept(checkout) => checkout.memory().decode(cursor, T::view()),
            Incoming::Single { value, start, len } => {
                let start = *start.get_or_insert(cursor.offset());
                value.decode(cursor, T::view())?;
                *len = cursor.offset() - start;
                Ok(())
            }
            Incoming::Parts(parts) => parts.decode(cursor, T::view()),
        }
    }

    fn lease(self, record: &Record) -> Lease<T> {
        match self {
            Incoming::Kept(checkout) => checkout.lease(),
            Incoming::Single { value, len, .. } => {
                record.count(&DifferentialStats { messages: 1, regular_bytes: len, ..DifferentialStats::default() });
                Lease::new(value)
            }
            Incoming::Parts(parts) => Lease::new(parts.into_value()),
        }
    }
}

struct TypedCall<Request: Send + 'static> {
    request: Incoming<Request>,
    record: Arc<Record>,
    run: Arc<Run<Request>>,
}

impl<Request: Message + Send + 'static> Call for TypedCall<Request> {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.request.decode(cursor)
    }

    fn open_another(&mut self, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        match &mut self.request {
            Incoming::Parts(parts) => parts.open(Request::view(), namespace, local),
            _ => unreachable!("an operation of one element"),
        }
    }

    fn close(&self) -> Result<(), ErrorKind> {
        match &self.request {
            Incoming::Parts(parts) => parts.check(Request::view()),
            _ => Ok(()),
        }
    }

    fn counts(&self) -> Option<DifferentialStats> {
        match &self.request {
            Incoming::Kept(checkout) => Some(checkout.counts()),
            Incoming::Single { .. } | Incoming::Parts(_) => None,
        }
    }

    fn keep(self: Box<Self>) {
        if let Incoming::Kept(checkout) = self.request {
            checkout.keep();
        }
    }

    fn run(self: Box<Self>, context: Context, writing: Writing) -> BoxFuture<'static, Outcome> {
        (self.run)(self.request.lease(&self.record), context, writing)
    }
}

/// Runs a handler that takes items.
pub(super) type RunItems<Request, Item> =
    dyn Fn(Items<Request, Item, Fault>, Context, Writing) -> BoxFuture<'static, Outcome> + Send + Sync;

/// Returns a function that starts calls whose handler takes items while they arrive.
pub(super) fn starting_with_items<Request: Send + 'static, Item: Send + 'static>(
    list: Arc<dyn Listed<Request, Item>>,
    run: Arc<RunItems<Request, Item>>,
) -> Box<Start> {
    Box::new(move |_| {
        let flow = Arc::new(Flow::new(Arc::clone(&list)));
        Box::new(ItemsCall { flow, run: Arc::clone(&run) })
    })
}

/// A call whose handler takes items while they arrive.
struct ItemsCall<Request, Item> {
    flow: Arc<Flow<Request, Item>>,
    run: Arc<RunItems<Request, Item>>,
}

impl<Request: Send + 'static, Item: Send + 'static> Call for ItemsCall<Request, Item> {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.flow.decode(cursor)
    }

    fn take_items(&mut self) -> Option<bool> {
        Some(self.flow.take_finished())
    }

    fn take_rest(&mut self) {
        self.flow.take_rest();
    }

    fn starter(&self) -> Option<Starter> {
        let (flow, run) = (Arc::clone(&self.flow), Arc::clone(&self.run));
        Some(Box::new(move |context, writing, arriving| run(Items::new(flow, arriving), context, writing)))
    }

    fn run(self: Box<Self>, context: Context, writing: Writing) -> BoxFuture<'static, Outcome> {
        self.flow.take_rest();
        (self.run)(Items::new(self.flow, Box::new(WholeMessage)), context, writing)
    }
}

/// Returns the outcome of a call whose handler is not called.
pub(super) fn refused(fault: Fault) -> Running {
    Box::pin(std::future::ready(Outcome::Fault(fault)))
}

/// Runs the handler of a one-way operation in a task of its own.
pub(super) fn in_background(running: Running) -> Running {
    let logged = async {
        match guard(running).await {
            Ok(Outcome::Fault(fault)) => tracing::error!(%fault, "a one-way handler failed"),
            Ok(_) => {}
            Err(Panicked(message)) => tracing::error!(message, "a one-way handler panicked"),
        }
    };
    tokio::spawn(logged.in_current_span());
    Box::pin(std::future::ready(Outcome::Accepted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::Soap;

    #[derive(Soap)]
    #[soap(message, namespace = "urn:t")]
    struct Ask {
        question: String,
    }

    #[derive(Soap)]
    #[soap(message, namespace = "urn:t")]
    struct Tell {
        answer: String,
    }

    async fn tell(ask: Lease<Ask>) -> Result<Tell, Fault> {
        Ok(Tell { answer: ask.question.clone() })
    }

    #[test]
    fn an_operation_describes_itself() {
        let header = QName::new("urn:t", "h");
        let operation = Operation::new(tell).action("urn:t#ask").encoding(Use::Encoded).understands(header.clone());
        let method = operation.method();
        assert_eq!((&*method.request_name.local, &*method.action), ("Ask", "urn:t#ask"));
        assert_eq!(method.response_name, Some(QName::new("urn:t", "Tell")));
        assert_eq!((method.response, method.encoding), (Some(Tell::REFERENCE), Use::Encoded));
        assert_eq!(&method.headers[..], [header]);
        let operation = operation.style(Style::Rpc).fault::<Ask>().fault::<Tell>();
        let faults: Vec<_> =
            operation.method().faults.iter().map(|field| (&*field.name.local, field.element)).collect();
        assert_eq!(faults, [("Ask", Ask::REFERENCE), ("Tell", Tell::REFERENCE)]);
        assert_eq!(operation.method().style, Style::Rpc);
        let one_way = Operation::new(async |_: Lease<Ask>| Ok::<_, Fault>(()));
        assert_eq!(one_way.method().response, None);
    }
}

//! Operations whose messages are described at run time: they take and return dynamic values.
//!
//! They work like all operations: requests are compared with earlier ones, and responses are
//! written against earlier ones; or the items of a list are taken while their request arrives.

use super::answer::Answer;
use super::context::Context;
use super::memory::Checkout;
use super::operation::{BodyForm, Call, Opening, Operation, Outcome, log_failure, name_of_action, starting_with_items};
use super::record::Record;
use super::writing::Writing;
use crate::items::{DescribedList, Items};
use deltasoap_core::decode::{Cursor, Step};
use deltasoap_core::schema::{ElementRef, MethodElement, Schema, View};
use deltasoap_core::soap::{BodyParts, Fault};
use deltasoap_core::{Content, ErrorKind, FromList, Lease, ListPathError, Memory, Node, QName, Typed, Value};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Instant;
use tracing::Instrument;

impl Operation {
    /// Creates an operation that a schema describes at run time, such as one imported from a WSDL.
    /// Its references are those of the schema. Without a response it is one-way, like those of
    /// [`one_way`](Self::one_way).
    ///
    /// ```
    /// # use deltasoap::http::{Answer, Operation, SoapService};
    /// # use deltasoap::schema::{Builtin, Element, MethodElement, Schema, SimpleElement, Style, Use};
    /// # use deltasoap::{Lease, QName, Value, soap::Fault};
    /// # use std::sync::Arc;
    /// let mut schema = Schema::new();
    /// let int = Builtin::Int;
    /// let simple = SimpleElement { name: int.name(), base: int, enumeration: Vec::new().into(), default: None, packed: None };
    /// let number = schema.add(Element::Simple(simple));
    /// let method = MethodElement {
    ///     request_name: QName::new("urn:t", "echo"),
    ///     request: number,
    ///     response_name: Some(QName::new("urn:t", "echoed")),
    ///     response: Some(number),
    ///     faults: Vec::new().into(),
    ///     headers: Vec::new().into(),
    ///     action: "".into(),
    ///     style: Style::Document,
    ///     encoding: Use::Literal,
    /// };
    /// let echo = Operation::dynamic(method, Arc::new(schema), async |value: Lease<Value>, _| {
    ///     Ok::<_, Fault>(Answer::new(value.clone()))
    /// });
    /// let service = SoapService::builder().add_operation(echo).build()?;
    /// # Ok::<(), deltasoap::http::BuildError>(())
    /// ```
    pub fn dynamic<Handler, Running>(method: MethodElement, schema: Arc<Schema>, handler: Handler) -> Self
    where
        Handler: Fn(Lease<Value>, Context) -> Running + Send + Sync + 'static,
        Running: Future<Output = Result<Answer<Value>, Fault>> + Send + 'static,
    {
        let (encoding, response) = (method.encoding, method.response_name.clone().zip(method.response));
        let (described, form) = self_contained(&method, &schema);
        let run: Box<Run> = Box::new(move |request, context| Box::pin(handler(request, context)));
        let described_by = (method.clone(), Arc::clone(&schema));
        let shared = Arc::new(Shared { schema, request: method.request, form, response, run });
        let operation = Self::started_by(described, form, Box::new(move |opening| shared.start(opening)));
        operation.described_by(described_by.0, described_by.1).encoding(encoding)
    }

    /// As [`dynamic`](Self::dynamic), with a handler that takes the items of a list of its requests
    /// while they arrive. The rules of [`with_items`](Self::with_items) apply here too.
    /// `list` is the [path](deltasoap_core::ListPath) of the list in the request; without one, the
    /// only list is meant.
    ///
    /// The handler takes each item as a [`Value`], or in batches: numbers as a
    /// [`Column`](deltasoap_core::Column), plain structs as a [`Table`](deltasoap_core::Table).
    /// Without a response, the operation is one-way: its handler runs before the request is
    /// accepted.
    ///
    /// ```
    /// use deltasoap::http::{Answer, Context, Items, Operation, SoapService};
    /// use deltasoap::soap::Fault;
    /// use deltasoap::{Batch, Column, Value};
    /// # use deltasoap::schema::{Builtin, Compositor, ComplexElement, Element, Field, MethodElement, Schema, SimpleElement, Style, Use};
    /// # use deltasoap::{QName, Simple};
    /// # use std::sync::Arc;
    ///
    /// async fn sum(mut items: Items<Value, Batch, Fault>, _: Context) -> Result<Answer<Value>, Fault> {
    ///     let mut total = 0.0;
    ///     while let Some(batch) = items.next().await {
    ///         let Batch::Column(Column::Double(numbers)) = batch? else { return Err(Fault::sender("numbers alone")) };
    ///         total += numbers.iter().sum::<f64>();
    ///     }
    ///     Ok(Answer::new(Value::Simple(Simple::Double(total))))
    /// }
    ///
    /// # let mut schema = Schema::new();
    /// # let simple = SimpleElement { name: Builtin::Double.name(), base: Builtin::Double, enumeration: Vec::new().into(), default: None, packed: None };
    /// # let number = schema.add(Element::Simple(simple));
    /// # let item = Field { name: QName::new("", "item"), element: number, min: 0, max: None, nillable: false, inline: false };
    /// # let sums = schema.add(Element::Complex(ComplexElement {
    /// #     name: QName::new("urn:lab", "Sum"), compositor: Compositor::Sequence, fields: vec![item].into(), attributes: Vec::new().into(),
    /// #     text: None, open: false, any_attribute: false, choices: Vec::new().into(),
    /// # }));
    /// # let method = MethodElement {
    /// #     request_name: QName::new("urn:lab", "Sum"), request: sums, response_name: Some(QName::new("urn:lab", "total")),
    /// #     response: Some(number), faults: Vec::new().into(), headers: Vec::new().into(), action: "".into(), style: Style::Document,
    /// #     encoding: Use::Literal,
    /// # };
    /// # let schema = Arc::new(schema);
    /// let operation = Operation::dynamic_with_items(method, schema, Some("item"), sum)?;
    /// let service = SoapService::builder().add_operation(operation).build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such list, or several could be meant.
    pub fn dynamic_with_items<Item, Handler, Running>(
        method: MethodElement,
        schema: Arc<Schema>,
        list: Option<&str>,
        handler: Handler,
    ) -> Result<Self, ListPathError>
    where
        Item: FromList,
        Handler: Fn(Items<Value, Item, Fault>, Context) -> Running + Send + Sync + 'static,
        Running: Future<Output = Result<Answer<Value>, Fault>> + Send + 'static,
    {
        let (described, form) = self_contained(&method, &schema);
        if form != BodyForm::Element {
            return Err(ListPathError::NoElement);
        }
        let list = DescribedList::new(Arc::clone(&schema), method.request, list)?;
        let response = Arc::new((Arc::clone(&schema), method.response_name.clone().zip(method.response)));
        let handler = Arc::new(handler);
        let run = move |items: Items<Value, Item, Fault>, context, writing| -> BoxFuture<'static, Outcome> {
            let (handler, response) = (Arc::clone(&handler), Arc::clone(&response));
            Box::pin(async move {
                let (schema, response) = &*response;
                match handler(items, context).await {
                    Ok(answer) => write(schema, response.as_ref(), writing, &answer),
                    Err(fault) => Outcome::Fault(fault),
                }
            })
        };
        let start = starting_with_items(Arc::new(list), Arc::new(run));
        let (encoding, operation) = (method.encoding, Self::started_by(described, form, start));
        Ok(operation.taking_items().described_by(method, schema).encoding(encoding))
    }
}

/// Converts an operation for callers without the schema: it has a name, and its references refer to
/// arbitrary content.
fn self_contained(method: &MethodElement, schema: &Schema) -> (MethodElement, BodyForm) {
    let any = <Node as Typed>::REFERENCE;
    let mut described = method.clone();
    let (form, name) = BodyForm::identify(&method.request_name, Some(schema.view(method.request)));
    described.request_name = if form == BodyForm::Nothing { name_of_action(&method.action) } else { name };
    described.request = any;
    described.response = method.response.map(|_| any);
    described.faults.to_mut().iter_mut().for_each(|fault| fault.element = any);
    (described, form)
}

type Run = dyn Fn(Lease<Value>, Context) -> BoxFuture<'static, Result<Answer<Value>, Fault>> + Send + Sync;

/// Data shared by an operation's calls.
struct Shared {
    schema: Arc<Schema>,
    request: ElementRef,
    form: BodyForm,
    response: Option<(QName, ElementRef)>,
    run: Box<Run>,
}

impl Shared {
    fn view(&self) -> View<'_> {
        self.schema.view(self.request)
    }

    fn start(self: &Arc<Self>, opening: Opening<'_>) -> Box<dyn Call> {
        let Opening { record, source, version, name } = opening;
        let request = match source {
            _ if self.form == BodyForm::Parts => Incoming::Parts(BodyParts::new(self.view())),
            Some(source) if !record.expects_none_back() => {
                Incoming::Kept(source.check_out_or(record, version, name, Value::default))
            }
            _ => Incoming::Single(Box::new(Memory::new(Value::vacant(self.view())))),
        };
        Box::new(ElementCall { shared: Arc::clone(self), record: Arc::clone(record), request })
    }
}

/// A request that is being read.
enum Incoming {
    /// A request of a stream, compared with the previous one.
    Kept(Checkout<Value>),
    /// A standalone request.
    Single(Box<Memory<Value>>),
    /// A request of several elements, which are not compared.
    Parts(BodyParts<Value>),
}

struct ElementCall {
    shared: Arc<Shared>,
    record: Arc<Record>,
    request: Incoming,
}

impl Call for ElementCall {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        match &mut self.request {
            Incoming::Kept(checkout) => checkout.memory().decode(cursor, self.shared.view()),
            Incoming::Single(memory) => memory.decode(cursor, self.shared.view()),
            Incoming::Parts(parts) => parts.decode(cursor, self.shared.view()),
        }
    }

    fn open_another(&mut self, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        match &mut self.request {
            Incoming::Parts(parts) => parts.open(self.shared.view(), namespace, local),
            _ => unreachable!("an operation of one element"),
        }
    }

    fn close(&self) -> Result<(), ErrorKind> {
        match &self.request {
            Incoming::Parts(parts) => parts.check(self.shared.view()),
            _ => Ok(()),
        }
    }

    fn run(self: Box<Self>, context: Context, writing: Writing) -> BoxFuture<'static, Outcome> {
        let ElementCall { shared, record, request } = *self;
        let request = match request {
            Incoming::Kept(checkout) => checkout.lease(),
            Incoming::Single(memory) => {
                record.count(&memory.stats());
                Lease::new(memory.into_value())
            }
            Incoming::Parts(parts) => Lease::new(parts.into_value()),
        };
        let running = (shared.run)(request, context);
        let Some(_) = &shared.response else {
            tokio::spawn(log_failure(async move { running.await.map(drop) }).in_current_span());
            return Box::pin(std::future::ready(Outcome::Accepted));
        };
        Box::pin(async move {
            match running.await {
                Ok(answer) => write(&shared.schema, shared.response.as_ref(), writing, &answer),
                Err(fault) => Outcome::Fault(fault),
            }
        })
    }
}

/// Writes a response. If it cannot be written, the handler is the cause: the client only learns
/// that there is no response.
fn write(schema: &Schema, response: Option<&(QName, ElementRef)>, writing: Writing, answer: &Answer<Value>) -> Outcome {
    let Some((name, content)) = response else { return Outcome::Accepted };
    let start = Instant::now();
    match writing.write(answer, name, schema.view(*content)) {
        Ok(written) => Outcome::Response(written, start.elapsed()),
        Err(error) => {
            tracing::error!(%error, "the response could not be written");
            Outcome::Fault(Fault::receiver("the response could not be written"))
        }
    }
}

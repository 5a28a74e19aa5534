//! Operations whose messages are described at run time: they take and return dynamic values.
//!
//! They work like all operations: requests are compared with earlier ones, and responses are
//! written against earlier ones; or the items of a list are taken while their request arrives.

use super::context::Context;
use super::handler::{Extract, Handler, Running};
use super::memory::Checkout;
use super::operation::{
    BodyForm, Call, Opening, Operation, Outcome, in_background, name_of_action, refused, starting_with_items,
};
use super::record::Record;
use super::reply::Reply;
use super::writing::Writing;
use crate::items::{DescribedList, Items};
use deltasoap_core::decode::{Cursor, Step};
use deltasoap_core::schema::{ElementRef, MethodElement, Schema, View};
use deltasoap_core::soap::{BodyParts, Fault};
use deltasoap_core::{
    Content, DifferentialStats, ErrorKind, FromList, Lease, ListPathError, Memory, Node, QName, Typed, Value,
};
use std::sync::Arc;
use std::time::Instant;

impl Operation {
    /// Creates an operation that a schema describes at run time, such as one imported from a WSDL.
    /// Its references are those of the schema. Without a response it is one-way.
    ///
    /// ```
    /// # use deltasoap::{Lease, SoapService};
    /// # use deltasoap::schema::{
    /// #     Builtin, Element, MethodElement, QName, Schema, SimpleElement, Style, Use,
    /// # };
    /// # use deltasoap::server::{Reply, Operation};
    /// # use deltasoap::types::Value;
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
    /// let echo = async |value: Lease<Value>| Ok(Reply::new(value.clone()));
    /// let echo = Operation::dynamic(method, Arc::new(schema), echo);
    /// let service = SoapService::builder().add_operation(echo).build()?;
    /// # Ok::<(), deltasoap::server::BuildError>(())
    /// ```
    pub fn dynamic<M: 'static, H>(method: MethodElement, schema: Arc<Schema>, handler: H) -> Self
    where
        H: Handler<M, Request = Lease<Value>, Output = Result<Reply<Value>, Fault>>,
        H::Arguments: Extract<()>,
    {
        let encoding = method.encoding;
        let (described, form) = self_contained(&method, &schema);
        let is_one_way = method.response.is_none();
        let run = running(&method, &schema, handler);
        let run: Box<Run> = Box::new(move |request, mut context, writing| {
            if let Err(fault) = writing.intercept(&mut context, Some(&*request)) {
                return refused(fault);
            }
            let running = run(request, context, writing);
            if is_one_way { in_background(running) } else { running }
        });
        let described_by = (method.clone(), Arc::clone(&schema));
        let shared = Arc::new(Shared { schema, request: method.request, form, run });
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
    /// use deltasoap::{Fault, SoapService};
    /// use deltasoap::server::{Reply, Operation};
    /// use deltasoap::stream::Items;
    /// use deltasoap::types::{Batch, Column, Value};
    /// # use deltasoap::schema::{
    /// #     Builtin, ComplexElement, Compositor, Element, Field, MethodElement, QName, Schema,
    /// #     SimpleElement, Style, Use,
    /// # };
    /// # use deltasoap::types::Simple;
    /// # use std::sync::Arc;
    ///
    /// async fn sum(mut items: Items<Value, Batch, Fault>) -> Result<Reply<Value>, Fault> {
    ///     let mut total = 0.0;
    ///     while let Some(batch) = items.next().await {
    ///         let Batch::Column(Column::Double(numbers)) = batch? else { return Err(Fault::sender("numbers alone")) };
    ///         total += numbers.iter().sum::<f64>();
    ///     }
    ///     Ok(Reply::new(Value::Simple(Simple::Double(total))))
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
    pub fn dynamic_with_items<M: 'static, Item, H>(
        method: MethodElement,
        schema: Arc<Schema>,
        list: Option<&str>,
        handler: H,
    ) -> Result<Self, ListPathError>
    where
        Item: FromList,
        H: Handler<M, Request = Items<Value, Item, Fault>, Output = Result<Reply<Value>, Fault>>,
        H::Arguments: Extract<()>,
    {
        let (described, form) = self_contained(&method, &schema);
        if form != BodyForm::Element {
            return Err(ListPathError::NoElement);
        }
        let list = DescribedList::new(Arc::clone(&schema), method.request, list)?;
        let run = running(&method, &schema, handler);
        let run = move |items, mut context, writing: Writing| match writing.intercept(&mut context, None) {
            Ok(()) => run(items, context, writing),
            Err(fault) => refused(fault),
        };
        let start = starting_with_items(Arc::new(list), Arc::new(run));
        let (encoding, operation) = (method.encoding, Self::started_by(described, form, start));
        Ok(operation.taking_items().described_by(method, schema).encoding(encoding))
    }
}

/// Returns the function that runs a handler and writes its response.
fn running<M: 'static, H>(
    method: &MethodElement,
    schema: &Arc<Schema>,
    handler: H,
) -> impl Fn(H::Request, Context, Writing) -> Running + use<M, H>
where
    H: Handler<M, Output = Result<Reply<Value>, Fault>>,
    H::Arguments: Extract<()>,
{
    let response = Arc::new((Arc::clone(schema), method.response_name.clone().zip(method.response)));
    let handler = Arc::new(handler);
    move |request, mut context: Context, writing| {
        let response = Arc::clone(&response);
        let finish = move |result| match (result, &*response) {
            (Ok(reply), (schema, response)) => write(schema, response.as_ref(), writing, reply),
            (Err(fault), _) => Outcome::Fault(fault),
        };
        let extract = move || H::Arguments::extract(&mut context, &());
        Arc::clone(&handler).call(extract, request, finish)
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

type Run = dyn Fn(Lease<Value>, Context, Writing) -> Running + Send + Sync;

/// Data shared by an operation's calls.
struct Shared {
    schema: Arc<Schema>,
    request: ElementRef,
    form: BodyForm,
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
            Some(source) if !record.skips_memory() => {
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

    fn counts(&self) -> Option<DifferentialStats> {
        match &self.request {
            Incoming::Kept(checkout) => Some(checkout.counts()),
            Incoming::Single(_) | Incoming::Parts(_) => None,
        }
    }

    fn keep(self: Box<Self>) {
        if let Incoming::Kept(checkout) = self.request {
            checkout.keep();
        }
    }

    fn run(self: Box<Self>, context: Context, writing: Writing) -> Running {
        let ElementCall { shared, record, request } = *self;
        let request = match request {
            Incoming::Kept(checkout) => checkout.lease(),
            Incoming::Single(memory) => {
                record.count(&memory.stats());
                Lease::new(memory.into_value())
            }
            Incoming::Parts(parts) => Lease::new(parts.into_value()),
        };
        (shared.run)(request, context, writing)
    }
}

/// Writes a response, if there is one.
fn write(
    schema: &Schema,
    response: Option<&(QName, ElementRef)>,
    writing: Writing,
    mut reply: Reply<Value>,
) -> Outcome {
    let Some((name, content)) = response else { return Outcome::Accepted };
    if let Err(fault) = writing.intercept_response(&mut reply) {
        return Outcome::Fault(fault);
    }
    let start = Instant::now();
    Outcome::written(writing.write(&reply, name, schema.view(*content)), start)
}

//! Operations whose messages are described at run time: dynamic values in, dynamic values out.
//!
//! They work like all operations: requests are compared with earlier ones, responses written against earlier ones.

use super::answer::Answer;
use super::context::Context;
use super::memory::Checkout;
use super::operation::{Call, Form, Opening, Operation, Outcome, log_failure, name_of_action};
use super::record::Record;
use super::writing::Writing;
use deltasoap_core::decode::{Cursor, Step};
use deltasoap_core::schema::{ElementRef, MethodElement, Schema, View};
use deltasoap_core::soap::{BodyParts, Fault};
use deltasoap_core::{Content, ErrorKind, Lease, Memory, Node, QName, Typed, Value};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Instant;
use tracing::Instrument;

impl Operation {
    /// An operation that a schema describes at run time, such as one imported from a WSDL. Its references are those of
    /// the schema. Without a response it is one-way, like those of [`one_way`](Self::one_way).
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
}

/// The operation for callers without the schema: it has a name, and its references lead to anything.
fn self_contained(method: &MethodElement, schema: &Schema) -> (MethodElement, Form) {
    let any = <Node as Typed>::REFERENCE;
    let mut described = method.clone();
    let (form, name) = Form::of(&method.request_name, Some(schema.view(method.request)));
    described.request_name = if form == Form::Nothing { name_of_action(&method.action) } else { name };
    described.request = any;
    described.response = method.response.map(|_| any);
    described.faults.to_mut().iter_mut().for_each(|fault| fault.element = any);
    (described, form)
}

type Run = dyn Fn(Lease<Value>, Context) -> BoxFuture<'static, Result<Answer<Value>, Fault>> + Send + Sync;

/// The shared data of an operation's calls.
struct Shared {
    schema: Arc<Schema>,
    request: ElementRef,
    form: Form,
    response: Option<(QName, ElementRef)>,
    run: Box<Run>,
}

impl Shared {
    fn view(&self) -> View<'_> {
        self.schema.view(self.request)
    }

    fn start(self: &Arc<Self>, opening: Opening<'_>) -> Box<dyn Call> {
        let Opening { record, place, version, name } = opening;
        let request = match place {
            _ if self.form == Form::Parts => Incoming::Parts(BodyParts::new(self.view())),
            Some(place) if !record.expects_none_back() => {
                Incoming::Kept(place.check_out_or(record, version, name, Value::default))
            }
            _ => Incoming::Single(Box::new(Memory::new(Value::vacant(self.view())))),
        };
        Box::new(ElementCall { shared: Arc::clone(self), record: Arc::clone(record), request })
    }
}

/// A request that is being read.
enum Incoming {
    /// One of a stream, compared with the previous one.
    Kept(Checkout<Value>),
    /// A standalone one.
    Single(Box<Memory<Value>>),
    /// One of several elements, which are not compared.
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
                Ok(answer) => shared.write(writing, &answer),
                Err(fault) => Outcome::Fault(fault),
            }
        })
    }
}

impl Shared {
    /// If a response cannot be written, the handler is the cause: the client only learns that there is no response.
    fn write(&self, writing: Writing, answer: &Answer<Value>) -> Outcome {
        let Some((name, content)) = &self.response else { return Outcome::Accepted };
        let start = Instant::now();
        match writing.write(answer, name, self.schema.view(*content)) {
            Ok(written) => Outcome::Response(written, start.elapsed()),
            Err(error) => {
                tracing::error!(%error, "the response could not be written");
                Outcome::Fault(Fault::receiver("the response could not be written"))
            }
        }
    }
}

//! Mock services: a contract's operations, answered with samples, recorded messages, or by functions.

mod recorded;

pub use recorded::RecordedError;

use crate::client::Parts;
use crate::{Contract, LookupError, Operation};
use deltasoap_core::schema::MethodElement;
use deltasoap_core::soap::Fault;
use deltasoap_core::{Lease, QName, Value};
use deltasoap_http::{Answer, BuildError, Context, ServiceBuilder, SoapService};
use serde_json::Value as Json;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A service of a contract that is not there yet. Every operation reads its requests as the contract says, so that wrong ones
/// are answered with a fault, and answers with a sample unless it is told otherwise.
///
/// ```
/// # use deltasoap_dynamic::{Contract, DynamicClient, Mock};
/// # use serde_json::json;
/// # const WSDL: &str = include_str!("../tests/data/shop.wsdl");
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let contract = Contract::from_text(WSDL)?;
/// let price = json!({ "@currency": "EUR", "$": 20 });
/// let placed = json!({ "number": 7, "total": price, "placed": "2026-11-22T10:00:00Z" });
/// let service = Mock::new(contract.clone()).answer("Order", &placed)?.service()?;
///
/// let client = DynamicClient::with_transport(contract, service);
/// let order = json!({ "customer": "Ada", "item": [{ "code": "A-1", "count": 2 }] });
/// assert_eq!(client.call("Order", &order).await?, placed);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Mock {
    contract: Contract,
    /// By the operation's name.
    replies: HashMap<String, Replies>,
}

/// What an operation answers with.
enum Replies {
    /// One after the other, from the beginning again at the end.
    Recorded(Vec<Reply>),
    /// What a function makes of the request.
    Function(Box<Function>),
}

type Function = dyn Fn(Json) -> Result<Json, Box<Fault>> + Send + Sync;

/// One recorded answer.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Response(Value),
    Fault(Box<Fault>),
}

impl std::fmt::Debug for Replies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Replies::Recorded(replies) => write!(f, "{} recorded", replies.len()),
            Replies::Function(_) => f.write_str("a function"),
        }
    }
}

impl Mock {
    /// A mock that answers with samples.
    pub fn new(contract: Contract) -> Self {
        Mock { contract, replies: HashMap::new() }
    }

    /// Answers an operation with this response; said several times, with one after the other.
    ///
    /// # Errors
    /// When there is no such operation, or the JSON is not what it answers.
    pub fn answer(mut self, operation: &str, response: &Json) -> Result<Self, RecordedError> {
        let operation = self.contract.operation(operation).map_err(RecordedError::Lookup)?;
        let response = operation.response_from_json(response).map_err(RecordedError::Json)?;
        self.add(&operation, Reply::Response(response));
        Ok(self)
    }

    /// Answers an operation with what a function makes of the request, in JSON.
    ///
    /// # Errors
    /// When there is no such operation.
    pub fn handle(
        mut self,
        operation: &str,
        function: impl Fn(Json) -> Result<Json, Box<Fault>> + Send + Sync + 'static,
    ) -> Result<Self, LookupError> {
        let operation = self.contract.operation(operation)?;
        self.replies.insert(operation.name().to_owned(), Replies::Function(Box::new(function)));
        Ok(self)
    }

    /// Answers with the messages of a directory: `.xml` files with an envelope, told by the body's element, and `.json` files
    /// with the content of a response, told by their name, as are faults: `Order.json`, `Order-2.json`, `Order-fault.xml`.
    /// Several of one operation come one after the other, in the order of their names.
    ///
    /// # Errors
    /// When a file cannot be read, or is none of these.
    pub fn recorded(mut self, directory: &Path) -> Result<Self, RecordedError> {
        for (operation, reply) in recorded::read(&self.contract, directory)? {
            self.add(&operation, reply);
        }
        Ok(self)
    }

    fn add(&mut self, operation: &Operation, reply: Reply) {
        let replies = self.replies.entry(operation.name().to_owned());
        match replies.or_insert_with(|| Replies::Recorded(Vec::new())) {
            Replies::Recorded(all) => all.push(reply),
            other => *other = Replies::Recorded(vec![reply]),
        }
    }

    /// Operations that the mock cannot tell apart, since their requests have the same element. Each pair names an operation, and the earlier
    /// one whose answer its requests get.
    pub fn not_told_apart(&self) -> Vec<(String, String)> {
        let mut first: HashMap<(QName, String), Operation> = HashMap::new();
        let mut others = Vec::new();
        for operation in self.contract.operations() {
            let Ok(method) = operation.method() else { continue };
            match first.entry(told_by(&operation, &method.element)) {
                Entry::Occupied(it) if it.get().name() != operation.name() => {
                    others.push((operation.full_name(), it.get().full_name()));
                }
                Entry::Occupied(_) => {}
                Entry::Vacant(place) => _ = place.insert(operation),
            }
        }
        others
    }

    /// The service.
    ///
    /// # Errors
    /// As [`ServiceBuilder::build`].
    pub fn service(self) -> Result<SoapService, BuildError> {
        self.mount(SoapService::builder()).build()
    }

    /// Adds the operations to a service that has settings, or operations, of its own.
    #[must_use]
    pub fn mount(mut self, builder: ServiceBuilder) -> ServiceBuilder {
        let schema = Arc::new(self.contract.lowered().schema.clone());
        let mut served = HashSet::new();
        let mut builder = builder;
        for operation in self.contract.operations() {
            let Ok(method) = operation.method() else { continue };
            // The ports of both versions of SOAP are one service here.
            if served.insert(told_by(&operation, &method.element)) {
                let answering = Arc::new(Answering::new(&operation, self.replies.remove(operation.name())));
                let handler = move |request: Lease<Value>, mut context: Context| {
                    let answering = Arc::clone(&answering);
                    async move {
                        let parts = Parts::of(&request, context.attachments()).await.map_err(Fault::from)?;
                        answering.answer(&request, &parts).map(Answer::new).map_err(|fault| *fault)
                    }
                };
                let method = method.element.clone();
                let mut served = deltasoap_http::Operation::dynamic(method, Arc::clone(&schema), handler);
                if let Some(text) = operation.documentation() {
                    served = served.documentation(text.to_owned());
                }
                if let Some(sample) = operation.request_sample() {
                    served = served.sample(sample);
                }
                builder = builder.add_operation(served);
            }
        }
        builder
    }
}

/// What tells requests of an operation from others: the first element of the body, or the action where there is none.
fn told_by(operation: &Operation, method: &MethodElement) -> (QName, String) {
    let parts = operation.view(method.request).complex().map_or(&[][..], |complex| &complex.fields);
    match parts {
        _ if !method.request_name.local.is_empty() => (method.request_name.clone(), String::new()),
        [] => (QName::default(), method.action.to_string()),
        [first, ..] => (first.name.clone(), String::new()),
    }
}

/// How one operation is answered.
struct Answering {
    operation: Operation,
    replies: Option<Replies>,
    /// What is answered without replies.
    sample: Value,
    /// Answers given so far.
    given: AtomicUsize,
}

impl Answering {
    fn new(operation: &Operation, replies: Option<Replies>) -> Self {
        let sample = operation.response_sample().unwrap_or_default();
        Answering { operation: operation.clone(), replies, sample, given: AtomicUsize::new(0) }
    }

    fn answer(&self, request: &Value, parts: &Parts) -> Result<Value, Box<Fault>> {
        match &self.replies {
            Some(Replies::Recorded(replies)) if !replies.is_empty() => {
                let next = self.given.fetch_add(1, Relaxed) % replies.len();
                match &replies[next] {
                    Reply::Response(value) => Ok(value.clone()),
                    Reply::Fault(fault) => Err(fault.clone()),
                }
            }
            Some(Replies::Function(function)) => self.made_by(function, request, parts),
            _ => Ok(self.sample.clone()),
        }
    }

    fn made_by(&self, function: &Function, request: &Value, parts: &Parts) -> Result<Value, Box<Fault>> {
        let wrong = |error: crate::JsonError| Box::new(Fault::receiver(error.to_string()));
        let request = self.operation.request_with_parts(request, parts).map_err(wrong)?;
        let response = function(request)?;
        match self.operation.is_one_way() {
            true => Ok(Value::Absent),
            false => self.operation.response_from_json(&response).map_err(wrong),
        }
    }
}

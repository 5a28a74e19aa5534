//! Mock services: a contract's operations, answered by samples, recorded messages, or functions.

mod recorded;

pub use recorded::RecordedError;

use crate::client::Parts;
use crate::{Contract, LookupError, Operation, Validation};
use deltasoap_core::soap::{Fault, HeaderBlock, Version};
use deltasoap_core::{Deviation, Lease, Tolerance, Value};
use deltasoap_http::{BuildError, Context, Reply, SoapService, SoapServiceBuilder};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A service of a contract that does not exist yet.
///
/// Every operation answers with a sample by default. Requests that do not match the contract
/// are answered with a fault; with [`mount`](Self::mount), the service determines how strict it is.
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
    /// By the indices of the operation's port type and of the operation in it.
    replies: HashMap<(usize, usize), Replies>,
    /// The deviations from the contract that recorded answers may have, and those that they have,
    /// by file.
    tolerance: Tolerance,
    deviations: Vec<(PathBuf, Deviation)>,
}

/// The answers of an operation.
enum Replies {
    /// One after the other, starting over at the end.
    Recorded(Vec<MockReply>),
    /// The result of a function of the request.
    Function(Box<Function>),
}

type Function = dyn Fn(Json) -> Result<Json, Box<Fault>> + Send + Sync;

/// The header blocks of a recorded answer, and its version of SOAP.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorded {
    version: Version,
    headers: Vec<HeaderBlock>,
}

/// One recorded answer.
#[derive(Debug, Clone)]
pub(crate) enum MockReply {
    Response(Value, Recorded),
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
    /// Creates a mock that answers with samples.
    pub fn new(contract: Contract) -> Self {
        Mock { contract, replies: HashMap::new(), tolerance: Tolerance::Unknown, deviations: Vec::new() }
    }

    /// Answers an operation with this response. If called several times, the responses are used in
    /// turn.
    ///
    /// # Errors
    /// If there is no such operation, or the JSON does not match its response.
    pub fn answer(mut self, operation: &str, response: &Json) -> Result<Self, RecordedError> {
        let operation = self.contract.operation(operation).map_err(RecordedError::Lookup)?;
        let response = operation.response_from_json(response).map_err(RecordedError::Json)?;
        self.add(&operation, MockReply::Response(response, Recorded::default()));
        Ok(self)
    }

    /// Answers an operation with the result of a function of the request, in JSON.
    ///
    /// # Errors
    /// If there is no such operation.
    pub fn handle(
        mut self,
        operation: &str,
        function: impl Fn(Json) -> Result<Json, Box<Fault>> + Send + Sync + 'static,
    ) -> Result<Self, LookupError> {
        let operation = self.contract.operation(operation)?;
        self.replies.insert(operation.declared(), Replies::Function(Box::new(function)));
        Ok(self)
    }

    /// Sets which deviations from the contract the messages of later calls of
    /// [`recorded`](Self::recorded) may have. Default [`Tolerance::Unknown`], as clients read
    /// responses. Content that the contract does not name is not sent. Elements out of order are
    /// put in order, and answers that lack elements are sent without them.
    #[must_use]
    pub fn tolerance(mut self, tolerance: Tolerance) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Returns the deviations of recorded messages from the contract, by file. A path begins with
    /// the element in the body.
    pub fn deviations(&self) -> impl Iterator<Item = (&Path, &Deviation)> {
        self.deviations.iter().map(|(path, deviation)| (&**path, deviation))
    }

    /// Answers with the messages of a directory.
    ///
    /// `.xml` files contain an envelope. They are assigned to an operation by the body's element,
    /// and by their name if several operations answer with it. `.json` files contain the content of
    /// a response. They are assigned by their name, as are faults: `Order.json`, `Order-2.json`,
    /// `Order-fault.xml`. The header blocks of envelopes are sent too, in the request's version of
    /// SOAP. Several answers of one operation are used in turn, in the order of their names.
    ///
    /// # Errors
    /// If a file cannot be read, or is none of these.
    pub fn recorded(mut self, directory: &Path) -> Result<Self, RecordedError> {
        for recorded::RecordedAnswer { path, operation, reply, deviations } in
            recorded::read(&self.contract, self.tolerance, directory)?
        {
            self.add(&operation, reply);
            self.deviations.extend(deviations.into_iter().map(|deviation| (path.clone(), deviation)));
        }
        Ok(self)
    }

    fn add(&mut self, operation: &Operation, reply: MockReply) {
        let replies = self.replies.entry(operation.declared());
        match replies.or_insert_with(|| Replies::Recorded(Vec::new())) {
            Replies::Recorded(all) => all.push(reply),
            other => *other = Replies::Recorded(vec![reply]),
        }
    }

    /// Returns the operations that the mock cannot distinguish because their requests have the same
    /// element and the same action, or none. Each pair names an operation, and the earlier one
    /// whose answer its requests get.
    pub fn indistinguishable(&self) -> Vec<(String, String)> {
        let mut others = Vec::new();
        for (served, operations) in self.contract.served() {
            let is_other = |operation: &&Operation| operation.declared() != served.declared();
            others.extend(operations.iter().filter(is_other).map(|it| (it.full_name(), served.full_name())));
        }
        others
    }

    /// Builds the service, which [validates](Contract::validate) its requests.
    ///
    /// # Errors
    /// As for [`SoapServiceBuilder::build`].
    pub fn service(self) -> Result<SoapService, BuildError> {
        let builder = SoapService::builder().validate(self.contract.clone(), Validation::Refuse);
        self.mount(builder).build()
    }

    /// Adds the operations to a service with its own settings or operations. Requests must be
    /// readable by the contract, and undeclared attributes are logged. Facets and header blocks are
    /// only checked if the service [validates](SoapServiceBuilder::validate) requests; with
    /// [`Validation::Report`], each finding is logged as a warning.
    #[must_use]
    pub fn mount(mut self, builder: SoapServiceBuilder) -> SoapServiceBuilder {
        let schema = Arc::clone(&self.contract.lowered().schema);
        let mut builder = builder;
        // An operation with an action in each version of SOAP is served twice; its answers are
        // still used in turn.
        let mut all = HashMap::new();
        for (operation, _) in self.contract.served() {
            let Ok(method) = operation.method() else { continue };
            let own = (operation.declared(), operation.response().map(|(name, _)| name.clone()));
            let answering = Arc::clone(all.entry(own).or_insert_with(|| {
                Arc::new(MockOperation::new(&operation, self.replies.remove(&operation.declared())))
            }));
            let handler = move |mut context: Context, request: Lease<Value>| {
                let answering = Arc::clone(&answering);
                async move {
                    answering.note(&context);
                    let parts = Parts::of(&request, context.attachments()).await.map_err(Fault::from)?;
                    answering.answer(&request, &parts, context.version()).map_err(|fault| *fault)
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
        builder
    }
}

/// The answers of one operation.
struct MockOperation {
    operation: Operation,
    replies: Option<Replies>,
    /// The answer if there are no replies.
    sample: Value,
    /// Number of answers given so far.
    given: AtomicUsize,
}

impl MockOperation {
    fn new(operation: &Operation, replies: Option<Replies>) -> Self {
        let sample = operation.response_sample().unwrap_or_default();
        MockOperation { operation: operation.clone(), replies, sample, given: AtomicUsize::new(0) }
    }

    /// Logs in what a request differs from the contract.
    fn note(&self, context: &Context) {
        for deviation in context.deviations() {
            tracing::warn!(operation = self.operation.name(), %deviation, "the request deviates from the WSDL");
        }
        for finding in context.findings() {
            tracing::warn!(operation = self.operation.name(), %finding, "the request violates the WSDL");
        }
    }

    fn answer(&self, request: &Value, parts: &Parts, version: Version) -> Result<Reply<Value>, Box<Fault>> {
        match &self.replies {
            Some(Replies::Recorded(replies)) if !replies.is_empty() => {
                let next = self.given.fetch_add(1, Relaxed) % replies.len();
                match &replies[next] {
                    MockReply::Response(value, recorded) => {
                        Ok(Reply { headers: recorded.in_version(version), ..Reply::new(value.clone()) })
                    }
                    MockReply::Fault(fault) => Err(fault.clone()),
                }
            }
            Some(Replies::Function(function)) => self.made_by(function, request, parts).map(Reply::new),
            _ => Ok(Reply::new(self.sample.clone())),
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

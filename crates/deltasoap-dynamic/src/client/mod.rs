//! A client of a contract: operations are called by name, with JSON or dynamic values.
//!
//! Requests are written against earlier ones of the same operation, and responses are compared with
//! earlier ones, as for generated or hand-written types: one HTTP client per port keeps the
//! requests, [`streams`] the responses.
//!
//! ```text
//! JSON ── JsonReader ──> Value ── Client::call_element, templates ──> HTTP
//! JSON <── JsonWriter ── Value <── Memory, leaf checkpoints <──────── HTTP
//! ```
//!
//! A client takes bytes that came in parts out of the package before it returns the response.

mod call;
mod error;
mod items;
mod parts;
mod ports;
mod reply;
mod streams;

pub use call::Call;
pub use error::{DynamicError, DynamicFault};
pub use items::ItemsReply;
pub use parts::Parts;
pub use reply::Reply;

use crate::{Contract, Operation, Selector, Validation};
use deltasoap_core::soap::Version;
use deltasoap_core::{DifferentialStats, EncodeStats, Value};
use deltasoap_http::{Body, Client, ClientBuilder, HttpTransport, SharedTemplates};
use http::Request;
use ports::{PortSettings, Ports};
use serde_json::Value as Json;
use std::fmt;
use std::sync::Arc;
use streams::Streams;
use tower::Service;

/// Calls the operations of a contract by name. Clones share the memory of earlier messages.
///
/// ```no_run
/// use deltasoap_dynamic::DynamicClient;
/// use serde_json::json;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let client = DynamicClient::from_wsdl("http://localhost:8080/shop?wsdl").await?;
/// let placed = client.call("Order", &json!({ "customer": "Ada", "item": [{ "code": "A-1", "count": 2 }] })).await?;
/// println!("{}", placed["number"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct DynamicClient<S = HttpTransport> {
    contract: Contract,
    settings: Settings,
    transport: S,
    ports: Ports<S>,
    streams: Arc<Streams>,
}

type Configure = dyn Fn(ClientBuilder) -> ClientBuilder + Send + Sync;

#[derive(Clone, Default)]
struct Settings {
    endpoint: Option<String>,
    version: Option<Version>,
    configure: Option<Arc<Configure>>,
    validation: Validation,
    /// By default, the requests to all ports are kept together.
    templates: SharedTemplates,
}

impl<S> fmt::Debug for DynamicClient<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicClient").field("contract", &self.contract).finish_non_exhaustive()
    }
}

impl DynamicClient {
    /// Creates a client of the services of a WSDL, from a URL, a file, a directory or a zip
    /// archive.
    ///
    /// # Errors
    /// If it cannot be loaded, or is invalid.
    pub async fn from_wsdl(location: impl Into<String>) -> Result<Self, DynamicError> {
        let location = location.into();
        let import = tokio::task::spawn_blocking(move || Contract::import(&location));
        let contract =
            import.await.map_err(|error| DynamicError::Call(deltasoap_http::CallError::Http(error.into())))?;
        Ok(Self::new(contract.map_err(DynamicError::Import)?))
    }

    /// Creates a client of the services of a contract.
    pub fn new(contract: Contract) -> Self {
        Self::with_transport(contract, HttpTransport::new())
    }
}

impl<S> DynamicClient<S> {
    /// Creates a client that sends its requests through a service, as [`Client::with_service`]
    /// does.
    pub fn with_transport(contract: Contract, transport: S) -> Self {
        let (settings, ports, streams) = Default::default();
        DynamicClient { contract, settings, transport, ports, streams }
    }

    /// Sends all requests to this URL, whatever the WSDL specifies.
    #[must_use]
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.settings.endpoint = Some(url.into());
        self.ports = Ports::default();
        self
    }

    /// Uses ports of this version of SOAP. Default: the first port that has the operation.
    #[must_use]
    pub fn version(mut self, version: Version) -> Self {
        self.settings.version = Some(version);
        self
    }

    /// Sets other options of the client: timeouts, credentials, compression, MTOM, whether
    /// references are written, where requests are kept ([`SharedTemplates`]; by default, one store
    /// for all ports). By default a client uses MTOM and WS-Addressing if a policy requires it.
    #[must_use]
    pub fn configure(mut self, configure: impl Fn(ClientBuilder) -> ClientBuilder + Send + Sync + 'static) -> Self {
        self.settings.configure = Some(Arc::new(configure));
        (self.ports, self.streams) = Default::default();
        self
    }

    /// Sets how requests and responses are handled that violate the contract but can be written and
    /// read. Default [`Validation::Off`], since validation builds a tree of each message.
    /// [`configure`](Self::configure) can set one for requests and another for responses:
    /// [`ClientBuilder::validate_sent`], [`ClientBuilder::validate`].
    #[must_use]
    pub fn validation(mut self, validation: Validation) -> Self {
        self.settings.validation = validation;
        self.ports = Ports::default();
        self
    }

    /// Returns the contract.
    pub fn contract(&self) -> &Contract {
        &self.contract
    }

    /// Returns an operation by its name: `Operation`, `Port.Operation` or `Service.Port.Operation`.
    ///
    /// # Errors
    /// If there is none, or the name is ambiguous.
    pub fn operation(&self, name: &str) -> Result<Operation, DynamicError> {
        let selector = Selector { name: name.to_owned(), version: self.settings.version };
        self.contract.select(&selector).map_err(DynamicError::Lookup)
    }

    /// Returns statistics of differential decoding for responses.
    pub fn differential_stats(&self) -> DifferentialStats {
        self.streams.decoded()
    }

    /// Returns statistics of differential serialization for requests.
    pub fn encode_stats(&self) -> EncodeStats {
        self.ports.stats()
    }

    /// Returns the total number of [deviations](Reply::deviations) in responses.
    pub fn deviations(&self) -> u64 {
        self.ports.deviations()
    }

    /// Returns the number of requests and responses that [validation](Self::validation) found
    /// invalid, accepted or not.
    pub fn invalid_messages(&self) -> u64 {
        self.ports.invalid_messages()
    }

    /// Returns the HTTP client for an operation.
    fn http(&self, operation: &Operation) -> Result<Client<S>, DynamicError>
    where
        S: Clone,
    {
        let endpoint = self.settings.endpoint.as_deref().or(operation.address());
        let endpoint = endpoint.ok_or_else(|| DynamicError::NoEndpoint(operation.full_name()))?.to_owned();
        let settings = PortSettings {
            endpoint,
            version: operation.version(),
            mtom: operation.binding().policy.mtom,
            addressing: operation.addressing().filter(|policy| policy.is_required).map(|policy| policy.version),
            policies: operation.policies(),
        };
        self.ports.client(settings, |builder| self.build(builder))
    }

    fn build(&self, builder: ClientBuilder) -> Result<Client<S>, DynamicError>
    where
        S: Clone,
    {
        let builder = builder.templates(self.settings.templates.clone());
        let builder = match &self.settings.configure {
            Some(configure) => configure(builder),
            None => builder,
        };
        let builder = match self.settings.validation {
            Validation::Off => builder,
            validation => {
                builder.validate(self.contract.clone(), validation).validate_sent(self.contract.clone(), validation)
            }
        };
        builder.build_with(self.transport.clone()).map_err(DynamicError::Endpoint)
    }
}

impl<S, B> DynamicClient<S>
where
    S: Service<Request<Body>, Response = http::Response<B>> + Clone,
    S::Error: Into<deltasoap_http::BoxError>,
    B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<deltasoap_http::BoxError>,
{
    /// Calls an operation with JSON and returns the response as JSON; `null` for a one-way
    /// operation.
    ///
    /// # Errors
    /// If there is no such operation, the JSON does not match its request, or there is no
    /// response; see [`DynamicError`].
    pub async fn call(&self, name: &str, request: &Json) -> Result<Json, DynamicError> {
        let reply = self.prepare(name)?.send_json(request).await?;
        reply.map_or(Ok(Json::Null), |reply| reply.to_json().map_err(DynamicError::Json))
    }

    /// Calls an operation with JSON, and returns the items of a list of its response as they
    /// arrive. `list` is the [path](deltasoap_core::ListPath) of the list in the response; it may
    /// be omitted if there is only one.
    ///
    /// The memory needed does not grow with the list. See
    /// [`Client::call_items`](deltasoap_http::Client::call_items) for limits and timeouts, and
    /// [`Call::send_items`] for items in batches.
    ///
    /// # Errors
    /// As for [`call`](Self::call), for errors before the first item, and if there is no such list.
    pub async fn call_items(
        &self,
        name: &str,
        request: &Json,
        list: Option<&str>,
    ) -> Result<ItemsReply<Value>, DynamicError> {
        self.prepare(name)?.send_json_items(request, list).await
    }
}

impl<S> DynamicClient<S> {
    /// Prepares a call: header blocks, HTTP headers and timeouts can be set before it is sent.
    ///
    /// # Errors
    /// As for [`operation`](Self::operation).
    pub fn prepare(&self, name: &str) -> Result<Call<'_, S>, DynamicError> {
        Ok(self.prepare_operation(self.operation(name)?))
    }

    /// Prepares a call of an operation of the client's contract.
    pub fn prepare_operation(&self, operation: Operation) -> Call<'_, S> {
        Call::new(self, operation)
    }
}

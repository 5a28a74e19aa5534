//! The gateway as a tower service: which path is what, and what a call does.
//!
//! Everything that a configuration determines is in one [`Core`], which is built whole and then
//! replaced whole, so that a request sees one configuration from its beginning to its end. The
//! paths are in a radix tree; compression and CORS are layers around the core.

use crate::accept::{self, Form};
use crate::backend::{Backend, Ready, SECURED, TRACES, Transport};
use crate::body::{self, ResponseBody, full};
use crate::coding;
use crate::config::{Config, ConfigError, Cors, Limits, ServiceConfig};
use crate::cookies;
use crate::incoming::{self, Failure, Incoming, Items, Lines as RequestLines};
use crate::multipart::{self, Sent};
use crate::page::{self, Page};
use crate::parameters;
use crate::problem::{Problem, with_causes};
use crate::targets::{BLOCK, Route, Target};
use bytes::Bytes;
use deltasoap_core::Value;
use deltasoap_dynamic::json::{self, TextError};
use deltasoap_dynamic::{Call, Contract, DynamicError, ItemsReply, Reply};
use deltasoap_http::{BoxError, CallError, Part};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN, SET_COOKIE};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::io::Write as _;
use std::sync::{Arc, PoisonError, RwLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::util::BoxCloneSyncService;
use tower::{Layer, Service, service_fn};
use tower_http::compression::Compression;
use tower_http::compression::predicate::SizeAbove;
use tower_http::cors::{AllowHeaders, AllowMethods, AllowOrigin, CorsLayer};
use tracing::field::Empty;
use tracing::{Instrument, Span};

type RequestBody = UnsyncBoxBody<Bytes, BoxError>;
type App = BoxCloneSyncService<Request<RequestBody>, Response<ResponseBody>, Infallible>;

/// Maximum length of the HTTP header with a header block of a response; longer ones are left out.
const MAX_BLOCK: usize = 8 << 10;
/// Lines of JSON are sent in pieces of about this many bytes.
const PIECE: usize = 16 << 10;

/// REST, JSON and OpenAPI for SOAP services, as a tower service; see the [crate](crate). Clones
/// share their services.
#[derive(Clone)]
pub struct Gateway {
    current: Arc<RwLock<Current>>,
}

/// What a gateway answers with, until it is replaced.
#[derive(Clone)]
struct Current {
    core: Arc<Core>,
    /// The core, with its layers.
    app: App,
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway").finish_non_exhaustive()
    }
}

impl Gateway {
    /// Creates a gateway of one service with the default configuration.
    ///
    /// # Errors
    /// If the contract has no operation that can be called.
    pub fn of(contract: Contract) -> Result<Self, ConfigError> {
        Self::new(&Config::new(vec![ServiceConfig::new("")]), vec![Backend::new(contract)])
    }

    /// Creates a gateway with a configuration, and the backend of each of its services.
    ///
    /// # Errors
    /// If the configuration does not match the contracts, or contradicts itself. The error names
    /// the key.
    pub fn new(config: &Config, backends: Vec<Backend>) -> Result<Self, ConfigError> {
        let core = Arc::new(Core::new(config, backends)?);
        let own = Arc::clone(&core);
        let answering = service_fn(move |request: Request<RequestBody>| {
            let core = Arc::clone(&own);
            // The layers move a pointer, and not the whole state of a call.
            Box::pin(async move { Ok::<_, Infallible>(core.answer(request).await) })
        });
        let app = match &config.compression {
            Some(compression) => {
                let when = SizeAbove::new(compression.from_bytes);
                let compressed = Compression::new(answering).compress_when(when);
                shared(config.cors.as_ref(), Unified(compressed))?
            }
            None => shared(config.cors.as_ref(), Unified(answering))?,
        };
        Ok(Gateway { current: Arc::new(RwLock::new(Current { core, app })) })
    }

    /// Returns true for requests that are the gateway's by their method and path.
    pub(crate) fn serves(&self, method: &Method, path: &str) -> bool {
        self.current().core.serves(method, path)
    }

    fn current(&self) -> Current {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the OpenAPI document of each service.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn documents(config: &Config, backends: Vec<Backend>) -> Result<Vec<Json>, ConfigError> {
        let core = Core::new(config, backends)?;
        let document = |service: &Ready| {
            serde_json::from_slice(&service.document).map_err(|error| ConfigError::invalid("service", error))
        };
        core.services.iter().map(document).collect()
    }

    /// Replaces configuration and services by those of another gateway, also for the clones of this
    /// one. Requests that have begun continue with what they began with.
    pub fn replace(&self, other: Gateway) {
        let current = other.current();
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = current;
    }
}

impl<B> Service<Request<B>> for Gateway
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        self.current().app.call(request.map(|body| body.map_err(Into::into).boxed_unsync()))
    }
}

/// Gives a service the type of all, with CORS around it.
fn shared<S>(cors: Option<&Cors>, service: S) -> Result<App, ConfigError>
where
    S: Service<Request<RequestBody>, Response = Response<ResponseBody>, Error = Infallible, Future: Send>,
    S: Clone + Send + Sync + 'static,
{
    Ok(match cors {
        Some(cors) => BoxCloneSyncService::new(Unified(cors_layer(cors)?.layer(service))),
        None => BoxCloneSyncService::new(service),
    })
}

fn cors_layer(config: &Cors) -> Result<CorsLayer, ConfigError> {
    let is_any = config.origins.iter().any(|origin| origin == "*");
    if is_any && config.credentials {
        let reason = "browsers send credentials only to origins that are named";
        return Err(ConfigError::invalid("cors.credentials", reason));
    }
    let origin = |origin: &String| {
        let value = HeaderValue::from_str(origin).ok().filter(|_| origin.contains("://") && !origin.ends_with('/'));
        value.ok_or_else(|| ConfigError::invalid("cors.origins", format!("{origin:?} is not an origin")))
    };
    let origins = match is_any {
        true => AllowOrigin::any(),
        false => AllowOrigin::list(config.origins.iter().map(origin).collect::<Result<Vec<_>, _>>()?),
    };
    Ok(CorsLayer::new()
        .allow_origin(origins)
        .allow_methods(AllowMethods::mirror_request())
        .allow_headers(AllowHeaders::mirror_request())
        .allow_credentials(config.credentials)
        .max_age(Duration::from_secs(config.max_age_seconds)))
}

/// A service whose errors cannot occur, and whose bodies have the type of all.
#[derive(Clone)]
struct Unified<S>(S);

impl<S, B> Service<Request<RequestBody>> for Unified<S>
where
    S: Service<Request<RequestBody>, Response = Response<B>>,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // The services below are always ready.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let unified = |result: Result<Response<B>, S::Error>| {
            Ok(match result {
                Ok(response) => response.map(|body| body.map_err(Into::into).boxed_unsync()),
                Err(error) => Problem::malformed(error.into().to_string()).response(),
            })
        };
        Box::pin(self.0.call(request).map(unified))
    }
}

/// What a path is.
#[derive(Debug, Clone)]
enum Action {
    /// Something that is always the same.
    Static(Page),
    /// An operation of a service, which the path names.
    Operation { service: usize },
    /// A route of a service.
    Route { service: usize, route: usize },
}

/// What a configuration determines.
struct Core {
    paths: matchit::Router<Vec<(Method, Action)>>,
    services: Vec<Ready>,
    limits: Limits,
    slots: Arc<Semaphore>,
    /// The other origins whose pages may call.
    origins: Vec<String>,
}

impl Core {
    fn new(config: &Config, backends: Vec<Backend>) -> Result<Self, ConfigError> {
        if config.services.is_empty() {
            return Err(ConfigError::invalid("service", "there is none"));
        }
        if backends.len() != config.services.len() {
            return Err(ConfigError::invalid("service", "each needs its backend"));
        }
        let mut services = Vec::new();
        for (index, (backend, service)) in backends.into_iter().zip(&config.services).enumerate() {
            services.push(Ready::new(backend, service, &config.limits, &format!("service[{index}]"))?);
        }
        let slots = Arc::new(Semaphore::new(config.limits.concurrent_calls.clamp(1, Semaphore::MAX_PERMITS)));
        let origins = config.cors.as_ref().map(|cors| cors.origins.clone()).unwrap_or_default();
        Ok(Core { paths: paths(&services)?, services, limits: config.limits.clone(), slots, origins })
    }

    /// Returns true for requests that are those of its services; those by which browsers ask whether
    /// they may call are. The list of all services at the root is none of them.
    fn serves(&self, method: &Method, path: &str) -> bool {
        if path == "/" && self.services.iter().all(|service| !service.path.is_empty()) {
            return false;
        }
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let has = |methods: &Vec<(Method, Action)>| methods.iter().any(|(known, _)| known == method);
        self.paths.at(path).is_ok_and(|found| method == Method::OPTIONS || has(found.value))
    }

    async fn answer(&self, request: Request<RequestBody>) -> Response<ResponseBody> {
        let start = Instant::now();
        let (mut head, body) = request.into_parts();
        let span = span();
        if deltasoap_http::join_trace(&span, &head.headers) {
            // The calls name the gateway's own span.
            TRACES.iter().for_each(|name| drop(head.headers.remove(name)));
        }
        let mut operation = None;
        let answered = match coding::decoded(&head.headers, body) {
            Ok(body) => self.routed(&head, body, &mut operation).instrument(span.clone()).await,
            Err(problem) => Err(problem),
        };
        let response = answered.unwrap_or_else(|problem| {
            tracing::debug!(method = %head.method, path = head.uri.path(), problem = %problem.to_json());
            problem.response()
        });
        span.record("rpc.method", operation.map(|named| named.operation));
        span.record("http.response.status_code", response.status().as_u16());
        noted(&head, operation, response.status(), start);
        response
    }

    async fn routed<'c>(
        &'c self,
        head: &Parts,
        body: RequestBody,
        operation: &mut Option<Named<'c>>,
    ) -> Result<Response<ResponseBody>, Problem> {
        let path = head.uri.path();
        let Ok(found) = self.paths.at(path) else { return Err(Problem::not_found(path)) };
        let method = if head.method == Method::HEAD { &Method::GET } else { &head.method };
        let Some((_, action)) = found.value.iter().find(|(allowed, _)| allowed == method) else {
            let allowed: Vec<_> = found.value.iter().map(|(method, _)| method.as_str()).collect();
            return Err(Problem::method(&allowed.join(", ")));
        };
        if *method != Method::GET && is_foreign(&head.headers, &self.origins) {
            return Err(Problem::foreign());
        }
        let in_path = || found.params.iter().map(|(name, text)| (name.to_owned(), decoded(text)));
        match action {
            Action::Static(page) => Ok(page.response()),
            Action::Operation { service } => {
                let service = &self.services[*service];
                let name = in_path().next().map(|(_, name)| name).unwrap_or_default();
                let target = service.target(&name).ok_or_else(|| Problem::unknown_operation(&name))?;
                *operation = Some(Named { service: &service.path, operation: &target.name });
                let lists = lists_in(head.uri.query())?;
                let is_lines = incoming::is_lines(&media(head));
                if lists.items.is_some() && !is_lines {
                    return Err(Problem::parameter("items", "it is for requests in application/jsonl"));
                }
                let payload = if is_lines {
                    let whole = (true, |json| json);
                    Box::pin(self.lines((service, target), body, lists.items.as_deref(), whole)).await?
                } else {
                    let given = self.body(head, body).await?;
                    let request = target.operation.request_from_text(given.text()?);
                    Payload::Whole(request.map_err(|error| unread(&error))?, given.parts)
                };
                let called = Called { service, target, is_idempotent: target.is_idempotent, list: lists.list };
                self.call(head, called, payload).await
            }
            Action::Route { service, route } => {
                let service = &self.services[*service];
                let route = &service.routes[*route];
                let target = &service.targets[route.target];
                *operation = Some(Named { service: &service.path, operation: &target.name });
                let values = parameters::values(&route.parameters, in_path(), head.uri.query())?;
                let payload = if route.has_body && incoming::is_lines(&media(head)) {
                    // A body that is the list has nothing else.
                    let complete = (route.list.is_none(), |json| request_of(route, target, json, values));
                    Box::pin(self.lines((service, target), body, route.list.as_deref(), complete)).await?
                } else {
                    let given = if route.has_body { self.body(head, body).await? } else { Given::default() };
                    let request = target.operation.request_from_json(&request_of(route, target, given.json()?, values));
                    Payload::Whole(request.map_err(|error| Problem::invalid_json(&error))?, given.parts)
                };
                let is_idempotent = target.is_idempotent || route.method == Method::GET;
                let called = Called { service, target, is_idempotent, list: None };
                self.call(head, called, payload).await
            }
        }
    }

    /// Reads a request in JSON lines, up to its first items. `items` is the path of the list, and
    /// `complete` says whether there is a first line with the rest of the request, and adds to it what
    /// else belongs to that.
    async fn lines(
        &self,
        (service, target): (&Ready, &Target),
        body: RequestBody,
        items: Option<&str>,
        complete: (bool, impl FnOnce(Json) -> Json),
    ) -> Result<Payload, Problem> {
        if let Some(reason) = service.needs_whole {
            return Err(Problem::whole_requests(reason));
        }
        let list = target.operation.request_list(items).map_err(|error| Problem::no_request_list(&error))?;
        let lines = RequestLines::new(body, &self.limits);
        let Incoming { request, items } = Incoming::begin(lines, list, complete).await?;
        Ok(match items {
            Some(items) => Payload::Lines(request, Box::new(items)),
            None => Payload::Whole(request, Vec::new()),
        })
    }

    /// Reads the JSON of a body, and its parts.
    async fn body(&self, head: &Parts, body: RequestBody) -> Result<Given, Problem> {
        let (limit, seconds) = (self.limits.request_bytes, self.limits.body_seconds);
        let media = media(head);
        if let Some(boundary) = multipart::boundary(&media) {
            let form = multipart::read(body, boundary, limit, seconds).await?;
            return Ok(Given { bytes: form.json, parts: form.parts });
        }
        let bytes = body::read(body, limit, seconds).await?;
        match bytes.is_empty() {
            true => Ok(Given::default()),
            false if is_json(&media) => Ok(Given { bytes, parts: Vec::new() }),
            false => Err(Problem::media_type(&media)),
        }
    }

    /// Calls, and passes the cookies on that the service sets, also with a fault.
    async fn call(
        &self,
        head: &Parts,
        called: Called<'_>,
        payload: Payload,
    ) -> Result<Response<ResponseBody>, Problem> {
        let (has_sessions, path) = (called.service.has_sessions, &called.service.path);
        // It is there once, whatever becomes of it.
        let call = Box::pin(self.perform(head, called, payload));
        if !has_sessions {
            return call.await;
        }
        let (result, received) = cookies::collected(call).await;
        let mut response = result.unwrap_or_else(|problem| problem.response());
        let own = received.iter().filter_map(|cookie| cookies::for_client(cookie, path));
        response.headers_mut().extend(own.map(|cookie| (SET_COOKIE, cookie)));
        Ok(response)
    }

    async fn perform(
        &self,
        head: &Parts,
        called: Called<'_>,
        mut payload: Payload,
    ) -> Result<Response<ResponseBody>, Problem> {
        let form = accept::form(&head.headers).ok_or_else(Problem::not_acceptable)?;
        if matches!(form, Form::Lines) && called.service.is_validated {
            return Err(Problem::whole_answers());
        }
        let slot = Arc::new(Arc::clone(&self.slots).try_acquire_owned().map_err(|_| Problem::busy())?);
        payload.hold(&slot);
        let call = called.prepare(&head.headers, payload.take_parts())?;
        let (failure, is_lines) = (payload.failure(), matches!(payload, Payload::Lines(..)));
        // A request that broke off was not complete, whatever the service makes of it.
        let failed = |error: &DynamicError| failure.problem().unwrap_or_else(|| called.problem(error, is_lines));
        match form {
            Form::Lines => {
                let sent = payload.send_items(call, called.list.as_deref()).await;
                let reply = sent.map_err(|error| failed(&error))?;
                Ok(lines(reply, slot, failure))
            }
            Form::Json | Form::Multipart => {
                let reply = payload.send(call).await.map_err(|error| failed(&error))?;
                match (reply, failure.problem()) {
                    (_, Some(problem)) => Err(problem),
                    (Some(reply), None) => answered(reply, form).await,
                    (None, None) => Ok(accepted()),
                }
            }
        }
    }
}

/// What is sent to a service.
enum Payload {
    /// A request, and its parts.
    Whole(Value, Vec<Part>),
    /// A request, and the items of its list that are still arriving.
    Lines(Value, Box<Items>),
}

impl Payload {
    fn take_parts(&mut self) -> Vec<Part> {
        match self {
            Payload::Whole(_, parts) => std::mem::take(parts),
            Payload::Lines(..) => Vec::new(),
        }
    }

    /// Holds a call's slot as long as items may arrive.
    fn hold(&mut self, slot: &Arc<OwnedSemaphorePermit>) {
        if let Payload::Lines(_, items) = self {
            items.hold(slot);
        }
    }

    /// Returns the place for what goes wrong with items that are still arriving.
    fn failure(&self) -> Failure {
        match self {
            Payload::Whole(..) => Failure::default(),
            Payload::Lines(_, items) => items.failure(),
        }
    }

    /// Sends it. The call's state is large, and is nobody's else: it is moved nowhere.
    async fn send(self, call: Call<'_, Transport>) -> Result<Option<Reply>, DynamicError> {
        match self {
            Payload::Whole(request, _) => Box::pin(call.send(&request)).await,
            Payload::Lines(request, items) => {
                Box::pin(call.send_overlaid(&request, &items.list(), items.batches())).await
            }
        }
    }

    /// Sends it for a response in lines, with its list.
    async fn send_items(
        self,
        call: Call<'_, Transport>,
        list: Option<&str>,
    ) -> Result<ItemsReply<Value>, DynamicError> {
        match self {
            Payload::Whole(request, _) => Box::pin(call.send_items(&request, list)).await,
            Payload::Lines(request, items) => {
                Box::pin(call.send_overlaid_items(&request, &items.list(), items.batches(), list)).await
            }
        }
    }
}

/// The text of a request's JSON, and its parts.
#[derive(Debug)]
struct Given {
    bytes: Bytes,
    parts: Vec<Part>,
}

impl Default for Given {
    fn default() -> Self {
        Given { bytes: Bytes::from_static(b"{}"), parts: Vec::new() }
    }
}

impl Given {
    fn text(&self) -> Result<&str, Problem> {
        let text = std::str::from_utf8(&self.bytes);
        text.map_err(|error| Problem::malformed(format!("JSON is in UTF-8: {error}")))
    }

    fn json(&self) -> Result<Json, Problem> {
        json::parse(self.text()?).map_err(|error| unread(&TextError::Syntax(error)))
    }
}

fn unread(error: &TextError) -> Problem {
    match error {
        TextError::Json(error) => Problem::invalid_json(error),
        error => Problem::malformed(format!("the body is not usable as JSON: {error}")),
    }
}

/// What is called, and how.
struct Called<'c> {
    service: &'c Ready,
    target: &'c Target,
    is_idempotent: bool,
    /// The path of the list, for JSON lines.
    list: Option<String>,
}

impl<'c> Called<'c> {
    /// Prepares the call, with what it has of the client's headers.
    fn prepare(&self, headers: &HeaderMap, parts: Vec<Part>) -> Result<Call<'c, Transport>, Problem> {
        let options = self.service.options(headers, self.is_idempotent)?;
        let options = parts.into_iter().fold(options, deltasoap_http::CallOptions::part);
        let mut call = self.service.client.prepare_operation(self.target.operation.clone()).options(options);
        for (header, block) in &self.target.headers {
            let Some(value) = headers.get(header) else { continue };
            let malformed = |reason: String| Problem::parameter(header.as_str(), reason);
            let text = std::str::from_utf8(value.as_bytes()).map_err(|error| malformed(error.to_string()))?;
            let content = json::parse(text).map_err(|error| malformed(format!("it is not JSON: {error}")))?;
            call = call.header_json(block, &content).map_err(|error| malformed(error.to_string()))?;
        }
        Ok(call)
    }

    fn problem(&self, error: &DynamicError, is_lines: bool) -> Problem {
        let problem = match error {
            DynamicError::Call(CallError::Unsecured(_)) if is_lines => Problem::whole_requests(SECURED),
            error => Problem::of_call(error, &self.service.statuses),
        };
        // The client's own errors are no concern of the operator.
        if !matches!(error, DynamicError::Json(_) | DynamicError::Fault(_)) {
            tracing::warn!(operation = self.target.name, error = with_causes(error), "a call failed");
        }
        problem
    }
}

/// Returns the paths of all services.
fn paths(services: &[Ready]) -> Result<matchit::Router<Vec<(Method, Action)>>, ConfigError> {
    let mut all: BTreeMap<String, Vec<(Method, Action)>> = BTreeMap::new();
    let mut add = |path: String, method: Method, action: Action| {
        let methods = all.entry(path.clone()).or_default();
        if methods.iter().any(|(other, _)| *other == method) {
            return Err(ConfigError::invalid("service", format!("{method} {path} is there twice")));
        }
        methods.push((method, action));
        Ok(())
    };
    for (index, service) in services.iter().enumerate() {
        let path = &service.path;
        add(format!("{path}/operations/{{name}}"), Method::POST, Action::Operation { service: index })?;
        add(format!("{path}/openapi.json"), Method::GET, Action::Static(Page::json(service.document.clone())))?;
        for (name, page) in page::of_service()? {
            add(format!("{path}/{name}"), Method::GET, Action::Static(page))?;
        }
        for (number, route) in service.routes.iter().enumerate() {
            let action = Action::Route { service: index, route: number };
            add(format!("{path}{}", route.template), route.method.clone(), action)?;
        }
    }
    if services.iter().all(|service| !service.path.is_empty()) {
        add("/".to_owned(), Method::GET, Action::Static(page::index(services)))?;
    }
    let mut router = matchit::Router::new();
    for (path, methods) in all {
        let inserted = router.insert(path.clone(), methods);
        inserted.map_err(|error| ConfigError::invalid("service", format!("the path {path}: {error}")))?;
    }
    Ok(router)
}

/// Returns the request of a route: its body, its fixed values and its parameters.
fn request_of(route: &Route, target: &Target, body: Json, values: Vec<(&str, Json)>) -> Json {
    let mut request = match &route.body {
        Some(place) => target.operation.build().set(place, body),
        None => target.operation.build().with_json(body),
    };
    for (place, value) in &route.fixed {
        request = request.set(place, value.clone());
    }
    values.into_iter().fold(request, |request, (place, value)| request.set(place, value)).json().clone()
}

/// The paths of lists that a query names.
#[derive(Debug, Default)]
struct Lists {
    /// The list of the response.
    list: Option<String>,
    /// The list of the request.
    items: Option<String>,
}

/// Returns the lists that a query names; the query of an operation has nothing else.
fn lists_in(query: Option<&str>) -> Result<Lists, Problem> {
    let mut lists = Lists::default();
    for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        let place = match &*name {
            "list" => &mut lists.list,
            "items" => &mut lists.items,
            _ => return Err(Problem::parameter(&name, "the query may name a list and items, and nothing else")),
        };
        if place.replace(value.into_owned()).is_some() {
            return Err(Problem::parameter(&name, "the query names it twice"));
        }
    }
    Ok(lists)
}

/// Returns the media type of a request's body; empty if it has none.
fn media(head: &Parts) -> String {
    let value = head.headers.get(CONTENT_TYPE);
    value.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default()
}

/// Returns true for a request that a browser sends for a page of another origin, unless that is
/// allowed. A form needs no permission by CORS, nor does a body without a media type.
fn is_foreign(headers: &HeaderMap, allowed: &[String]) -> bool {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(origin) = text(&ORIGIN) else { return false };
    if allowed.iter().any(|it| it == "*" || it == origin) {
        return false;
    }
    match text(&HeaderName::from_static("sec-fetch-site")) {
        Some(site) => site != "same-origin",
        None => origin.split_once("://").map(|(_, host)| host) != text(&HOST),
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Returns true for media types of JSON. Without a media type, a body is taken for JSON.
fn is_json(media: &str) -> bool {
    let essence = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence.is_empty() || essence == "application/json" || essence.ends_with("+json")
}

/// Returns the answer to a call of an operation without a response.
fn accepted() -> Response<ResponseBody> {
    let mut response = Response::new(full(Bytes::new()));
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// Returns a response as JSON, or as JSON and parts.
async fn answered(mut reply: Reply, form: Form) -> Result<Response<ResponseBody>, Problem> {
    for deviation in &reply.deviations {
        tracing::warn!(operation = reply.operation.name(), %deviation, "the response deviates from the WSDL");
    }
    let unwritten = |error: json::JsonError| {
        tracing::error!(%error, "a response cannot be written as JSON");
        Problem::malformed("the response cannot be written as JSON")
    };
    let headers = blocks(&reply);
    let (media, bytes) = match form {
        Form::Multipart => {
            let json = reply.operation.response_to_json(&reply.body).map_err(unwritten)?;
            let parts = parts_of(&mut reply).await?;
            multipart::write(json.to_string().as_bytes(), &parts)
        }
        _ => ("application/json".to_owned(), Bytes::from(reply.to_json_text().map_err(unwritten)?)),
    };
    let mut response = Response::new(full(bytes));
    *response.headers_mut() = headers;
    // A boundary is ASCII.
    let media = HeaderValue::try_from(media).unwrap_or(HeaderValue::from_static("application/octet-stream"));
    response.headers_mut().insert(CONTENT_TYPE, media);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// Returns the parts of a reply: those that the body refers to, then the others.
async fn parts_of(reply: &mut Reply) -> Result<Vec<Sent>, Problem> {
    let octets = || "application/octet-stream".to_owned();
    let id = |uri: &str| uri.strip_prefix("cid:").unwrap_or(uri).to_owned();
    let referred =
        reply.parts().map(|(uri, bytes)| Sent { id: id(&uri.to_string()), media: octets(), bytes: bytes.clone() });
    let mut all: Vec<_> = referred.collect();
    all.sort_by(|one, other| one.id.cmp(&other.id));
    let broken = |error| Problem::of_call(&DynamicError::Part(error), &BTreeMap::new());
    while let Some(part) = reply.attachments.next().await.map_err(broken)? {
        let id = part.content_id().unwrap_or_default().to_owned();
        let media = part.content_type().map_or_else(octets, ToOwned::to_owned);
        all.push(Sent { id, media, bytes: part.bytes().await.map_err(broken)? });
    }
    Ok(all)
}

/// Returns the header blocks of a response as HTTP headers.
fn blocks(reply: &Reply) -> HeaderMap {
    let Json::Object(blocks) = reply.headers_to_json() else { return HeaderMap::new() };
    let header = |(name, json): (String, Json)| {
        let text = ascii(&json.to_string());
        let name = HeaderName::try_from(format!("{BLOCK}{name}")).ok().filter(|_| text.len() <= MAX_BLOCK);
        let pair = name.zip(HeaderValue::try_from(text).ok());
        if pair.is_none() {
            tracing::warn!(operation = reply.operation.name(), "a header block has no place in an HTTP header");
        }
        pair
    };
    blocks.into_iter().filter_map(header).collect()
}

/// Returns JSON with escapes in place of characters that are not ASCII.
fn ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c.is_ascii() {
            true => out.push(c),
            false => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    out
}

/// Returns the items of a list as lines of JSON, which are sent as they arrive. An error after the
/// first line is a last line with a `$problem`, and breaks the response off.
fn lines(reply: ItemsReply<Value>, slot: Arc<OwnedSemaphorePermit>, failure: Failure) -> Response<ResponseBody> {
    let state = Lines { reply, _slot: slot, ready: Vec::new().into_iter(), failure, has_failed: false };
    let frames = stream::unfold(state, |mut state| async move { Some((state.next().await?, state)) });
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/jsonl"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A response that is sent in lines.
struct Lines {
    reply: ItemsReply<Value>,
    /// Held until the last line is sent.
    _slot: Arc<OwnedSemaphorePermit>,
    /// Items that have arrived and are not sent yet.
    ready: std::vec::IntoIter<Value>,
    /// What goes wrong with the request, which may still be arriving.
    failure: Failure,
    has_failed: bool,
}

impl Lines {
    async fn next(&mut self) -> Option<Result<Frame<Bytes>, BoxError>> {
        if self.has_failed {
            return Some(Err("the response broke off".into()));
        }
        let mut out = Vec::with_capacity(PIECE);
        while out.len() < PIECE {
            let Some(item) = self.ready.next() else {
                if !out.is_empty() {
                    break;
                }
                match (self.reply.items.next_batch().await, self.failure.problem()) {
                    (Some(Ok(items)), _) => self.ready = items.into_iter(),
                    (Some(Err(error)), _) => return Some(Ok(self.failed(&DynamicError::Call(error)))),
                    // The service answered before it had the whole request.
                    (None, Some(problem)) => return Some(Ok(self.broken(&problem))),
                    (None, None) => return None,
                }
                continue;
            };
            match self.reply.items_to_json(std::slice::from_ref(&item)) {
                // Writing to memory does not fail.
                Ok(written) => written.iter().for_each(|json| _ = writeln!(out, "{json}")),
                Err(error) => return Some(Ok(self.failed(&DynamicError::Json(error)))),
            }
        }
        Some(Ok(Frame::data(out.into())))
    }

    fn failed(&mut self, error: &DynamicError) -> Frame<Bytes> {
        tracing::warn!(operation = self.reply.operation.name(), error = with_causes(error), "a response broke off");
        self.broken(&self.failure.problem().unwrap_or_else(|| Problem::of_call(error, &BTreeMap::new())))
    }

    fn broken(&mut self, problem: &Problem) -> Frame<Bytes> {
        self.has_failed = true;
        let problem = problem.to_json();
        Frame::data(format!("{}\n", Json::Object(Map::from_iter([("$problem".to_owned(), problem)]))).into())
    }
}

/// An operation, and the path of its service.
#[derive(Debug, Clone, Copy, Default)]
struct Named<'c> {
    service: &'c str,
    operation: &'c str,
}

/// Returns the span of a request, of a kind known to OpenTelemetry.
fn span() -> Span {
    tracing::info_span!("gateway", otel.kind = "server", rpc.method = Empty, http.response.status_code = Empty)
}

/// Logs and counts a request.
fn noted(head: &Parts, named: Option<Named<'_>>, status: StatusCode, start: Instant) {
    let elapsed = start.elapsed();
    let operation = named.map(|named| named.operation);
    tracing::info!(
        method = %head.method,
        path = head.uri.path(),
        operation,
        status = status.as_u16(),
        ms = elapsed.as_secs_f64() * 1000.0,
        "answered"
    );
    let Named { service, operation } = named.unwrap_or_default();
    let own = [("service", service.to_owned()), ("operation", operation.to_owned())];
    let [service, operation] = own.clone();
    let labels = [service, operation, ("status", status.as_str().to_owned())];
    metrics::counter!("deltasoap_gateway_requests_total", &labels).increment(1);
    metrics::histogram!("deltasoap_gateway_duration_seconds", &own).record(elapsed.as_secs_f64());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_values_are_ascii() {
        assert_eq!(ascii(r#"{"a":"ä😀"}"#), r#"{"a":"\u00e4\ud83d\ude00"}"#);
    }

    #[test]
    fn media_types_of_json_are_known() {
        for media in ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json", ""] {
            assert!(is_json(media), "{media}");
        }
        assert!(!is_json("text/plain") && !is_json("application/xml"));
    }
}

//! The proxy as a tower service: what a request passes on its way to the target, and an answer on
//! its way back.
//!
//! ```text
//! client ── trouble ── verify ── validate ── recording or cache ── secure ── target
//!        ── secure ── validate ── keep ── verify ──
//! ```
//!
//! Bodies are read as a whole only where one of these steps needs it; otherwise they are passed on
//! while they arrive.

use crate::cache::{Cache, CacheRule, Control, Kept, Varies, is_neutral};
use crate::canonical::{Identity, Key};
use crate::config::{Config, ConfigError, Side, ValidationMode};
use crate::document::{self, Edits, escaped};
use crate::exchange::{Exchange, is_with_message};
use crate::forward::{
    accept_gzip_alone, changed_body, in_utf8, may_be_description, remove_hop_by_hop, request_headers, url_at,
};
use crate::message::{self, Glance, Message, Tree, is_addressing};
use crate::names::Names;
use crate::offload::{Offload, fault_of_answer};
use crate::record::{Half, Recorder};
use crate::refusal::Refusal;
use crate::replay::{Answer, Asked, Replay};
use crate::stream::{End, ResponseBody, Watched, full, read};
use crate::trouble::Trouble;
use crate::wsdl::{self, Places};
use bytes::Bytes;
use deltasoap_core::soap::{Fault, Version};
use deltasoap_dynamic::{Contract, Finding};
use deltasoap_http::{Body, BoxError, Credentials, is_secret_header};
use deltasoap_security::{Exchange as SecuredExchange, SecurityError};
use deltasoap_xml::Event;
use futures_util::future::BoxFuture;
use http::header::{AGE, AUTHORIZATION, HOST, HeaderName, HeaderValue, SET_COOKIE, VIA};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error as StdError;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tower::util::BoxCloneSyncService;
use tower::{Service, ServiceExt};
use url::Url;

/// Seconds of a day, the longest time of a limit.
const DAY: u64 = 86_400;
/// Maximum number of exchanges that are validated at one time, of those that have passed.
const REPORTS: u32 = 64;
/// Maximum number of findings of an operation that are warnings.
const WARNINGS: u32 = 10;

type Transport = BoxCloneSyncService<Request<Body>, Response<ResponseBody>, BoxError>;

/// A reverse proxy in front of a SOAP service, as a tower service; see the [crate](crate). Clones
/// share everything.
#[derive(Clone)]
pub struct Proxy {
    core: Arc<Core>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("target", &self.core.target.as_ref().map(Url::as_str)).finish_non_exhaustive()
    }
}

impl Proxy {
    /// Creates a proxy that sends requests by a transport, such as
    /// [`HttpTransport`](deltasoap_http::HttpTransport). `contract` is that of the configuration's
    /// WSDL, if it names one. Of the configuration's `access`, headers and password are used here;
    /// the rest is the transport's.
    ///
    /// # Errors
    /// If the configuration contradicts itself, or names files that cannot be read. The error names
    /// the key.
    pub fn new<S, B>(config: &Config, contract: Option<Contract>, transport: S) -> Result<Self, ConfigError>
    where
        S: Service<Request<Body>, Response = Response<B>, Error: Into<BoxError>, Future: Send>,
        S: Clone + Send + Sync + 'static,
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let transport = transport.map_err(Into::into);
        let transport = transport.map_response(|response| response.map(|body| body.map_err(Into::into).boxed_unsync()));
        Ok(Proxy { core: Arc::new(Core::new(config, contract, BoxCloneSyncService::new(transport))?) })
    }

    /// Waits until everything that was recorded is written, and what passed is validated. Call it
    /// before the process ends.
    pub async fn flush(&self) {
        // It is never closed.
        let _ = self.core.reports.acquire_many(REPORTS).await;
        if let Some(recorder) = &self.core.recorder {
            recorder.flush().await;
        }
    }

    /// Returns the number of recorded exchanges that the proxy answers with.
    pub fn recorded(&self) -> usize {
        self.core.replay.as_ref().map_or(0, Replay::len)
    }
}

impl<B> Service<Request<B>> for Proxy
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
        let core = Arc::clone(&self.core);
        Box::pin(async move { Ok(core.answer(request).await) })
    }
}

/// What a configuration determines.
pub(crate) struct Core {
    pub(crate) target: Option<Url>,
    transport: Transport,
    pub(crate) contract: Option<Contract>,
    pub(crate) names: Names,
    public_url: Option<String>,
    is_tls: bool,
    /// Headers that every request to the target gets.
    own_headers: HeaderMap,
    /// Maximum bytes of a body in memory.
    pub(crate) limit: usize,
    pub(crate) idle: Duration,
    timeout: Duration,
    slots: Arc<Semaphore>,
    pub(crate) recorder: Option<Recorder>,
    replay: Option<Replay>,
    pub(crate) validation: ValidationMode,
    /// Turns of exchanges that are validated when they have passed.
    pub(crate) reports: Arc<Semaphore>,
    /// Warnings about each operation so far.
    warnings: Mutex<HashMap<Arc<str>, u32>>,
    offload: Option<Offload>,
    cache: Cache,
    cache_rules: Vec<CacheRule>,
    is_cache_shared: bool,
    trouble: Trouble,
}

impl Core {
    fn new(config: &Config, contract: Option<Contract>, transport: Transport) -> Result<Self, ConfigError> {
        let target = config.target.as_deref().map(|target| url("target", target)).transpose()?;
        if target.is_none() && config.replay.is_none() {
            return Err(ConfigError::invalid("target", "it is missing"));
        }
        if contract.is_none() && config.validation != ValidationMode::Off {
            return Err(ConfigError::invalid("validation", "it needs the WSDL"));
        }
        if config.replay.is_some() && config.record.directory == config.replay {
            return Err(ConfigError::invalid("record.directory", "it is the recording that answers"));
        }
        let names = Names::new(contract.as_ref());
        for rule in &config.cache.operations {
            let checked = names.check_cached(&rule.operation).and_then(|()| names.check(&rule.operation));
            checked.map_err(|reason| ConfigError::invalid("cache.operations", reason))?;
        }
        for operation in config.trouble.operations() {
            names.check(operation).map_err(|reason| ConfigError::invalid("trouble", reason))?;
        }
        let public_url = config.public_url.as_deref().map(|text| url("public_url", text)).transpose()?;
        let limits = &config.limits;
        Ok(Core {
            target,
            transport,
            names,
            contract,
            public_url: public_url.map(|url| url.as_str().trim_end_matches('/').to_owned()),
            is_tls: config.tls.is_some(),
            own_headers: own_headers(config)?,
            limit: limits.body_bytes,
            idle: Duration::from_secs(limits.idle_seconds.clamp(1, DAY)),
            timeout: Duration::from_secs(limits.timeout_seconds.clamp(1, DAY)),
            slots: Arc::new(Semaphore::new(limits.exchanges.clamp(1, Semaphore::MAX_PERMITS))),
            recorder: Recorder::new(&config.record, limits.body_bytes)?,
            replay: config.replay.as_deref().map(Replay::open).transpose()?,
            validation: config.validation,
            reports: Arc::new(Semaphore::new(REPORTS as usize)),
            warnings: Mutex::default(),
            offload: config.security.as_ref().map(Offload::new).transpose()?,
            cache: Cache::new(config.cache.entries, config.cache.bytes),
            cache_rules: config.cache.operations.clone(),
            is_cache_shared: config.cache.shared,
            trouble: Trouble::new(&config.trouble),
        })
    }

    /// Returns true if bodies are kept as a whole, to be looked at when they have passed.
    pub(crate) fn keeps_bodies(&self) -> bool {
        self.recorder.is_some() || self.validation == ValidationMode::Report
    }

    /// Returns true if another finding of an operation may be a warning.
    pub(crate) fn may_warn(&self, operation: &Arc<str>) -> bool {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        let count = warnings.entry(Arc::clone(operation)).or_default();
        *count += 1;
        if *count == WARNINGS {
            tracing::warn!(%operation, "further findings are only counted, and logged at the level `debug`");
        }
        *count < WARNINGS
    }

    /// Returns the URL of the proxy as the client knows it, without a slash at its end.
    pub(crate) fn origin(&self, head: &Parts) -> String {
        if let Some(url) = &self.public_url {
            return url.clone();
        }
        let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host.or(head.uri.authority().map(http::uri::Authority::as_str)).unwrap_or("localhost");
        format!("{}://{host}", if self.is_tls { "https" } else { "http" })
    }

    fn side(&self, side: Side) -> Option<&Offload> {
        self.offload.as_ref().filter(|offload| offload.side == side)
    }

    async fn answer<B>(self: Arc<Self>, request: Request<B>) -> Response<ResponseBody>
    where
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let (head, body) = request.into_parts();
        let mut exchange = Exchange::new(Arc::clone(&self), &head);
        let answered = match Arc::clone(&self.slots).try_acquire_owned() {
            Ok(slot) => {
                exchange.slot = Some(slot);
                if let Some(recorder) = &self.recorder {
                    exchange.room = recorder.room().await;
                }
                self.answered(&mut exchange, &head, body).await
            }
            Err(_) => Err(Refusal::busy()),
        };
        let response = answered.unwrap_or_else(|refusal| {
            exchange.is_own = true;
            refusal.response(exchange.version)
        });
        let mut response = match self.secured_for_client(&mut exchange, response).await {
            Ok(response) => response,
            Err(refusal) => {
                exchange.is_own = true;
                refusal.response(exchange.version)
            }
        };
        response.headers_mut().append(VIA, HeaderValue::from_static("1.1 deltasoap"));
        exchange.sent(response)
    }

    async fn answered<B>(
        &self,
        exchange: &mut Exchange,
        head: &Parts,
        body: B,
    ) -> Result<Response<ResponseBody>, Refusal>
    where
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        if head.method == Method::CONNECT {
            return Err(Refusal::Text(StatusCode::METHOD_NOT_ALLOWED, "this proxy opens no tunnels".to_owned()));
        }
        if !is_with_message(&head.method) {
            self.check_description(head, &body)?;
        }
        let mut headers = request_headers(head, self.is_tls);
        headers.extend(self.own_headers.clone());
        let with_message = is_with_message(&head.method);
        if self.keeps_bodies() || !with_message || self.needs_answers() {
            accept_gzip_alone(&mut headers);
        }
        if self.takes_whole_requests(with_message) {
            return self.answered_whole(exchange, head, headers, body).await;
        }
        if with_message && !self.trouble.is_none() {
            self.make_trouble(exchange, None).await?;
        }
        let watched = Watched::new(body, exchange.request.clone(), exchange.keep(), self.idle);
        let response = self.forward(exchange, head, headers, Body::passed_on(watched)).await?;
        self.passed_back(exchange, head, response, After::default()).await
    }

    /// Returns true if answers are looked at as a whole.
    fn needs_answers(&self) -> bool {
        self.offload.is_some() || self.validation == ValidationMode::Refuse || !self.cache_rules.is_empty()
    }

    fn takes_whole_requests(&self, with_message: bool) -> bool {
        self.replay.is_some() || with_message && (self.needs_answers() || self.trouble.needs_operation())
    }

    /// Answers a request that is read as a whole.
    async fn answered_whole<B>(
        &self,
        exchange: &mut Exchange,
        head: &Parts,
        mut headers: HeaderMap,
        body: B,
    ) -> Result<Response<ResponseBody>, Refusal>
    where
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let arrived = read(body, self.limit, self.idle).await;
        let mut body = arrived.map_err(|error| Refusal::unread(&error, self.limit))?;
        let with_message = is_with_message(&head.method);
        let mut plain = plain(&head.headers, &body, self.limit)?;
        let mut glance = Glance::at(&plain);
        exchange.read(&head.headers, body.clone(), glance.as_ref());
        if with_message {
            self.make_trouble(exchange, glance.as_ref()).await?;
        }
        if let Some(offload) = self.side(Side::Client).filter(|_| with_message)
            && offload.verifies()
        {
            let (verified_plain, verified) = self.verified(exchange, offload, &head.headers, plain).await?;
            exchange.verified = verified;
            (plain, body) = (verified_plain.clone(), verified_plain);
            changed_body(&mut headers, body.len());
            in_utf8(&mut headers);
            glance = Glance::at(&plain);
            exchange.saw(&headers, body.clone(), glance.as_ref());
        }
        if self.validation == ValidationMode::Refuse && with_message {
            self.refuse_invalid(exchange, &headers, body.clone()).await?;
        }
        if let Some(replay) = &self.replay {
            return self.replayed(exchange, head, replay, plain).await;
        }
        let mut after = After::default();
        if let Some(rule) = self.cache_rule(glance.as_ref()) {
            match self.cached(exchange, head, rule, &plain).await {
                Ok(response) => return Ok(response),
                Err(keep) => after.keep = keep,
            }
        }
        if let Some(offload) = self.side(Side::Target).filter(|_| with_message)
            && offload.protects()
        {
            let message = root(&headers, plain).await?;
            let secured = offload.secure_request(&message);
            let (secured, secured_exchange) = secured.map_err(|error| {
                self.note_insecure(exchange, "request", &error);
                unsecurable(&error)
            })?;
            body = secured;
            changed_body(&mut headers, body.len());
            in_utf8(&mut headers);
            after.secured = secured_exchange;
        }
        let response = self.forward(exchange, head, headers, Body::from(body)).await?;
        self.passed_back(exchange, head, response, after).await
    }

    /// Refuses requests without messages that might call an operation, if messages must be verified
    /// or secured.
    fn check_description(&self, head: &Parts, body: &impl http_body::Body) -> Result<(), Refusal> {
        let is_strict = |offload: &Offload| match offload.side {
            Side::Client => offload.verifies(),
            Side::Target => offload.protects(),
        };
        if !self.offload.as_ref().is_some_and(is_strict) {
            return Ok(());
        }
        let query = head.uri.query().unwrap_or_default().to_ascii_lowercase();
        let name = query.split_once('=').map_or(&*query, |(name, _)| name);
        let is_read = matches!(head.method, Method::GET | Method::HEAD) && body.is_end_stream();
        match is_read && matches!(name, "wsdl" | "xsd") && !query.contains(['&', ';']) {
            true => Ok(()),
            false => {
                let text =
                    "requests without a message are only for descriptions here: GET or HEAD with the query wsdl or xsd";
                Err(Refusal::Text(StatusCode::FORBIDDEN, text.to_owned()))
            }
        }
    }

    async fn make_trouble(&self, exchange: &mut Exchange, glance: Option<&Glance>) -> Result<(), Refusal> {
        if self.trouble.is_none() {
            return Ok(());
        }
        exchange.plan = self.trouble.plan(glance.and_then(|glance| self.names.whole(glance)));
        let plan = exchange.plan;
        if !plan.latency.is_zero() {
            exchange.count_trouble("latency");
            tokio::time::sleep(plan.latency).await;
        }
        if plan.hang_up {
            exchange.count_trouble("drop");
            return Err(Refusal::HangUp);
        }
        if plan.fault {
            exchange.count_trouble("fault");
            return Err(Refusal::fault(Fault::receiver("a fault on purpose, by the proxy")));
        }
        Ok(())
    }

    /// Verifies the request of a client.
    async fn verified(
        &self,
        exchange: &Exchange,
        offload: &Offload,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<(Bytes, Option<deltasoap_security::Verified>), Refusal> {
        let message = root(headers, body).await?;
        if Glance::at(&message).is_none() && Tree::parse(&message).is_err() {
            return Err(Refusal::fault(Fault::sender("the request is no SOAP message")));
        }
        offload.verify_request(message).map_err(|error| {
            self.note_insecure(exchange, "request", &error);
            Refusal::fault(error.to_fault(exchange.version))
        })
    }

    /// Counts and logs a message that is not secured as it should be, or cannot be secured. The
    /// peer learns less.
    fn note_insecure(&self, exchange: &Exchange, subject: &'static str, error: &SecurityError) {
        let operation = exchange.operation.as_deref().unwrap_or_default();
        tracing::warn!(operation, %error, "the security of a {subject} failed");
        metrics::counter!("deltasoap_proxy_insecure_total", "subject" => subject).increment(1);
    }

    async fn refuse_invalid(&self, exchange: &Exchange, headers: &HeaderMap, body: Bytes) -> Result<(), Refusal> {
        if body.is_empty() {
            return Err(Refusal::fault(Fault::sender("the request is empty")));
        }
        let findings = self.findings("request", headers, body).await;
        let findings = findings
            .map_err(|reason| Refusal::fault(Fault::sender(format!("the request cannot be validated: {reason}"))))?;
        let operation = exchange.operation.clone().unwrap_or_else(|| Arc::from(""));
        self.invalid(&operation, "request", &findings);
        match findings.first() {
            None => Ok(()),
            Some(first) => Err(Refusal::fault(Fault::sender(invalid_text("request", first, findings.len())))),
        }
    }

    /// Answers with the recording.
    async fn replayed(
        &self,
        exchange: &mut Exchange,
        head: &Parts,
        replay: &Replay,
        body: Bytes,
    ) -> Result<Response<ResponseBody>, Refusal> {
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let asked = Asked::read(&head.method, path, &head.headers, body).await;
        let found = replay.answer(&asked);
        let result = if found.is_ok() { "found" } else { "missing" };
        metrics::counter!("deltasoap_proxy_replayed_total", "result" => result).increment(1);
        let Answer { status, mut headers, body, target, ids } = match found {
            Ok(answer) => answer,
            Err(text) if is_with_message(&head.method) => return Err(Refusal::fault(Fault::sender(text))),
            Err(text) => return Err(Refusal::Text(StatusCode::NOT_FOUND, text)),
        };
        let body = related(body, ids.as_ref());
        remove_hop_by_hop(&mut headers);
        changed_body(&mut headers, body.len());
        let target = target.and_then(|target| Url::parse(&target).ok());
        let described = self.described(exchange, head, (status, &headers), &body, target.as_ref());
        let body = described.unwrap_or(body);
        changed_body(&mut headers, body.len());
        Ok(response(status, headers, body))
    }

    fn cache_rule(&self, glance: Option<&Glance>) -> Option<&CacheRule> {
        let glance = glance?;
        let entry = glance.entry.as_ref()?.to_expanded();
        let operation = self.names.whole(glance);
        self.cache_rules.iter().find(|rule| Some(&*rule.operation) == operation || rule.operation == entry)
    }

    /// Answers with what is kept. The error says where the answer of the target is kept.
    async fn cached(
        &self,
        exchange: &mut Exchange,
        head: &Parts,
        rule: &CacheRule,
        body: &Bytes,
    ) -> Result<Response<ResponseBody>, Option<Keep>> {
        let message = Message::read(&head.headers, body.clone()).await.map_err(|_| None)?;
        let tree = Tree::parse(&message.root).map_err(|_| None)?;
        let (key, message_id) = (self.cache_key(head, &tree, &message), tree.addressing("MessageID"));
        let control = Control::read(&head.headers);
        let is_young = |age: Duration| control.max_age.is_none_or(|most| age <= most);
        let found = self.cache.get(&key, &head.headers, Instant::now());
        let found = found.filter(|(_, age)| !control.is_forbidden && is_young(*age));
        let result = if found.is_some() { "hit" } else { "miss" };
        let operation = exchange.operation.clone().unwrap_or_else(|| Arc::from(""));
        metrics::counter!("deltasoap_proxy_cache_total", "operation" => operation, "result" => result).increment(1);
        exchange.cache = Some(result);
        let Some((Kept { status, mut headers, body, message_id: old, .. }, age)) = found else {
            let keep = Keep { key, time: rule.time, message_id, request: head.headers.clone() };
            return Err(Some(keep).filter(|_| !control.is_not_stored));
        };
        let body = related(body, old.zip(message_id).as_ref());
        changed_body(&mut headers, body.len());
        headers.insert(AGE, age.as_secs().into());
        Ok(response(status, headers, body))
    }

    /// Returns what an answer depends on.
    fn cache_key(&self, head: &Parts, tree: &Tree, message: &Message) -> Key {
        let mut identity = Identity::new();
        identity.add(head.method.as_str());
        identity.add(head.uri.path_and_query().map_or("/", |path| path.as_str()));
        identity.add(message::action(&head.headers).unwrap_or_default());
        identity.add(message::essence(&head.headers));
        // An answer that relates to a request is not for one without an id.
        identity.add([u8::from(tree.addressing("MessageID").is_some())]);
        identity.add_body(tree, message);
        identity.add_blocks(tree, message, !self.is_cache_shared);
        let counts = |name: &HeaderName| !(is_neutral(name) || self.is_cache_shared && is_secret_header(name));
        let headers = head.headers.iter().filter(|(name, _)| counts(name));
        let mut headers: Vec<_> = headers.map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        headers.sort_unstable();
        headers.iter().for_each(|(name, value)| _ = identity.add(name).add(value));
        identity.key()
    }

    /// Sends a request to the target. Returns the answer, whose body may still be arriving.
    async fn forward(
        &self,
        exchange: &mut Exchange,
        head: &Parts,
        headers: HeaderMap,
        body: Body,
    ) -> Result<Response<ResponseBody>, Refusal> {
        let no_target = || Refusal::Text(StatusCode::BAD_GATEWAY, "there is no target".to_owned());
        let target = self.target.as_ref().ok_or_else(no_target)?;
        let uri = url_at(target, head.uri.path_and_query());
        let uri = uri.map_err(|reason| Refusal::Text(StatusCode::BAD_REQUEST, reason))?;
        let mut request = Request::new(body);
        (*request.method_mut(), *request.uri_mut(), *request.headers_mut()) = (head.method.clone(), uri, headers);
        let begun = Instant::now();
        let mut calling = pin!(self.transport.clone().oneshot(request));
        loop {
            match tokio::time::timeout(self.timeout, &mut calling).await {
                Ok(Ok(response)) => {
                    exchange.wait = Some(begun.elapsed());
                    return Ok(response);
                }
                Ok(Err(error)) => return Err(unanswered(exchange, target, &*error)),
                // The time begins when the request has arrived.
                Err(_) if exchange.request.is_running() => {}
                Err(_) => {
                    let text = format!("the service did not answer within {} s", self.timeout.as_secs());
                    return Err(Refusal::Text(StatusCode::GATEWAY_TIMEOUT, text));
                }
            }
        }
    }

    /// Passes an answer back, as it arrives if nothing needs it as a whole.
    async fn passed_back(
        &self,
        exchange: &mut Exchange,
        head: &Parts,
        answer: Response<ResponseBody>,
        after: After,
    ) -> Result<Response<ResponseBody>, Refusal> {
        let (mut parts, body) = answer.into_parts();
        remove_hop_by_hop(&mut parts.headers);
        let with_message = is_with_message(&head.method);
        let verifies = self.side(Side::Target).filter(|offload| with_message && offload.verifies());
        let refuses = with_message && self.validation == ValidationMode::Refuse;
        let may_describe = may_be_description(&head.method, parts.status, &message::essence(&parts.headers));
        if verifies.is_none() && !refuses && !may_describe && after.keep.is_none() {
            return Ok(Response::from_parts(parts, body));
        }
        let mut body =
            read(body, self.limit, self.idle).await.map_err(|error| Refusal::bad_answer(describe(&error)))?;
        if let Some(offload) = verifies
            && !(body.is_empty() && parts.status.is_success())
        {
            let message = plain_answer(&parts.headers, &body, self.limit).await?;
            if Glance::at(&message).is_none() {
                let status = parts.status.as_u16();
                return Err(Refusal::bad_answer(format!("it must be signed, and is no message (status {status})")));
            }
            let verified = offload.verify_answer(message, after.secured);
            body = verified.map_err(|error| {
                self.note_insecure(exchange, "response", &error);
                Refusal::fault(fault_of_answer(&error, exchange.version))
            })?;
            changed_body(&mut parts.headers, body.len());
            in_utf8(&mut parts.headers);
        }
        if refuses {
            self.refuse_invalid_answer(exchange, &parts.headers, &body).await?;
        }
        if let Some(keep) = after.keep {
            self.keep(keep, &parts, &body);
        }
        if may_describe {
            let described = self.described(exchange, head, (parts.status, &parts.headers), &body, self.target.as_ref());
            if let Some(described) = described {
                body = described;
                changed_body(&mut parts.headers, body.len());
            }
        }
        Ok(Response::from_parts(parts, full(body)))
    }

    async fn refuse_invalid_answer(
        &self,
        exchange: &Exchange,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<(), Refusal> {
        let start = message::decoded_start(headers, body, self.limit);
        // The client needs to know why there is no response.
        if Glance::at(&start).is_some_and(|glance| glance.is_fault()) {
            return Ok(());
        }
        let findings = self.findings("response", headers, body.clone()).await.map_err(Refusal::bad_answer)?;
        let operation = exchange.operation.clone().unwrap_or_else(|| Arc::from(""));
        self.invalid(&operation, "response", &findings);
        match findings.first() {
            None => Ok(()),
            Some(first) => Err(Refusal::fault(Fault::receiver(invalid_text("response", first, findings.len())))),
        }
    }

    /// Keeps an answer for later requests, unless it is a fault or says that it must not be kept.
    fn keep(&self, keep: Keep, parts: &http::response::Parts, body: &Bytes) {
        let Keep { key, time, message_id, request } = keep;
        let control = Control::read(&parts.headers);
        if parts.status != StatusCode::OK || control.is_forbidden || parts.headers.contains_key(SET_COOKIE) {
            return;
        }
        let Some(varies) = Varies::read(&parts.headers, &request) else { return };
        let time = control.max_age.map_or(time, |age| age.min(time));
        // It is kept without its coding, since not all clients take it.
        let Ok(body) = message::decoded(&parts.headers, body, self.limit) else { return };
        let is_package = message::is_package(&message::essence(&parts.headers));
        let is_good = is_package || Glance::at(&body).is_some_and(|glance| !glance.is_fault());
        if is_good {
            let (status, headers) = (parts.status, parts.headers.clone());
            let kept = Kept { status, headers, body: Bytes::copy_from_slice(&body), message_id, varies };
            self.cache.put(key, kept, time, Instant::now());
        }
    }

    /// Returns a description with the addresses of the proxy. What came from the target is
    /// recorded.
    fn described(
        &self,
        exchange: &mut Exchange,
        head: &Parts,
        (status, headers): (StatusCode, &HeaderMap),
        body: &Bytes,
        target: Option<&Url>,
    ) -> Option<Bytes> {
        if !may_be_description(&head.method, status, &message::essence(headers)) {
            return None;
        }
        let text = message::decoded(headers, body, self.limit).ok()?;
        let nowhere = Url::parse("http://localhost/").ok();
        let target = target.or(nowhere.as_ref())?;
        let from = url_at(target, head.uri.path_and_query()).ok()?;
        let (from, proxy) = (Url::parse(&from.to_string()).ok()?, self.origin(head));
        if matches!(text.get(..2), Some([0xFE, 0xFF] | [0xFF, 0xFE] | [0, b'<'] | [b'<', 0])) {
            tracing::warn!("a description in UTF-16 passes with the addresses of the target");
        }
        let rewritten = wsdl::rewritten(&text, &Places { target, proxy: &proxy, document: &from })?;
        exchange.plain_response = Some(Half { headers: headers.clone(), body: body.clone() });
        Some(rewritten.into())
    }

    /// Secures an answer, if that side of the proxy is secured.
    async fn secured_for_client(
        &self,
        exchange: &mut Exchange,
        answer: Response<ResponseBody>,
    ) -> Result<Response<ResponseBody>, Refusal> {
        let offload = self.side(Side::Client).filter(|offload| offload.protects() && is_with_message(&exchange.method));
        let essence = message::essence(answer.headers());
        let (Some(offload), true) = (offload, message::is_xml(&essence) || message::is_package(&essence)) else {
            return Ok(answer);
        };
        let (mut parts, body) = answer.into_parts();
        let body = read(body, self.limit, self.idle).await.map_err(|error| Refusal::bad_answer(describe(&error)))?;
        let plain = plain_answer(&parts.headers, &body, self.limit).await?;
        if Glance::at(&plain).is_none() {
            return Ok(Response::from_parts(parts, full(body)));
        }
        let secured = offload.secure_answer(&plain, exchange.verified.as_ref());
        let secured = secured.map_err(|error| {
            tracing::warn!(%error, "an answer cannot be secured");
            Refusal::bad_answer("it could not be secured")
        })?;
        exchange.plain_response = Some(Half { headers: parts.headers.clone(), body });
        changed_body(&mut parts.headers, secured.len());
        in_utf8(&mut parts.headers);
        Ok(Response::from_parts(parts, full(secured)))
    }
}

/// What is to be done with the answer of the target.
#[derive(Default)]
struct After {
    keep: Option<Keep>,
    /// What the answer is verified against.
    secured: SecuredExchange,
}

/// Where an answer is kept.
struct Keep {
    key: Key,
    time: Duration,
    message_id: Option<String>,
    /// The headers of the request.
    request: HeaderMap,
}

fn response(status: StatusCode, headers: HeaderMap, body: Bytes) -> Response<ResponseBody> {
    let mut response = Response::new(full(body));
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    response
}

/// Returns a request's body without its content coding.
fn plain(headers: &HeaderMap, body: &Bytes, limit: usize) -> Result<Bytes, Refusal> {
    match message::decoded(headers, body, limit) {
        Ok(std::borrow::Cow::Borrowed(_)) => Ok(body.clone()),
        Ok(std::borrow::Cow::Owned(decoded)) => Ok(decoded.into()),
        Err(reason) => {
            let text = format!("the request cannot be read: {reason}");
            Err(Refusal::Text(StatusCode::UNSUPPORTED_MEDIA_TYPE, text))
        }
    }
}

/// Returns the refusal of a request that cannot be secured.
fn unsecurable(error: &SecurityError) -> Refusal {
    Refusal::fault(match error {
        SecurityError::Malformed(text) => Fault::sender(text.clone()),
        _ => Fault::receiver("the message could not be secured"),
    })
}

/// Returns the envelope of a request, to be secured or verified.
async fn root(headers: &HeaderMap, body: Bytes) -> Result<Bytes, Refusal> {
    let wrong = |reason: &str| Refusal::fault(Fault::sender(reason));
    let message = Message::read(headers, body).await.map_err(|reason| wrong(&reason))?;
    if message.is_package {
        return Err(wrong("messages with attachments can be neither secured nor verified by the proxy"));
    }
    Ok(message.root)
}

/// Returns the envelope of an answer.
async fn plain_answer(headers: &HeaderMap, body: &Bytes, limit: usize) -> Result<Bytes, Refusal> {
    let plain = message::decoded(headers, body, limit).map_err(Refusal::bad_answer)?.into_owned();
    let message = Message::read(headers, plain.into()).await.map_err(Refusal::bad_answer)?;
    match message.is_package {
        true => Err(Refusal::bad_answer("it has attachments, which are neither secured nor verified")),
        false => Ok(message.root),
    }
}

fn describe(error: &crate::stream::ReadError) -> String {
    use crate::stream::ReadError;
    match error {
        ReadError::TooLarge => "it is larger than the limit of the proxy".to_owned(),
        ReadError::Slow => "it did not arrive in time".to_owned(),
        ReadError::Broken(error) => format!("it broke off: {error}"),
    }
}

fn invalid_text(subject: &str, first: &Finding, count: usize) -> String {
    let more = match count {
        1 => String::new(),
        count => format!("; {} more findings", count - 1),
    };
    format!("the {subject} violates the WSDL: {first}{more}")
}

/// Returns the refusal of a request that got no answer.
fn unanswered(exchange: &Exchange, target: &Url, error: &(dyn StdError + 'static)) -> Refusal {
    match exchange.request.see().end {
        Some(End::Slow) => return Refusal::slow(),
        Some(End::Broken) => return Refusal::Text(StatusCode::BAD_REQUEST, "the request broke off".to_owned()),
        _ => {}
    }
    let causes: Vec<_> = std::iter::successors(Some(error), |&error| error.source()).map(ToString::to_string).collect();
    let origin = target.origin().ascii_serialization();
    let text = format!("the service at {origin} does not answer: {}", causes.join(": "));
    tracing::warn!("{text}");
    Refusal::Text(StatusCode::BAD_GATEWAY, text)
}

/// Returns an answer that relates to another request than the one that it was recorded or kept for.
fn related(body: Bytes, ids: Option<&(String, String)>) -> Bytes {
    let Some((old, new)) = ids.filter(|(old, new)| old != new) else { return body };
    let (mut edits, mut from, mut version) = (Edits::default(), None, None);
    let _ = document::read(&body, |event, reader, after| {
        let names = reader.names();
        match (event, reader.depth()) {
            (Event::Start, 1) => version = Version::from_namespace(names.namespace(reader.name())),
            // Anything else than the header ends the reading.
            (Event::Start, 2) => {
                return version.is_some_and(|version| document::is_named(reader, version.namespace(), "Header"));
            }
            (Event::Start, 3) if names.local(reader.name()) == "RelatesTo" => {
                from = is_addressing(names.namespace(reader.name())).then_some(after);
            }
            (Event::End, 2) => {
                if let Some(from) = from.take() {
                    let range = from..document::tag_start(&body, reader);
                    if body[range.clone()].trim_ascii() == escaped(old).as_bytes()
                        || body[range.clone()].trim_ascii() == old.as_bytes()
                    {
                        edits.replace(range, escaped(new));
                    }
                }
            }
            _ => {}
        }
        true
    });
    if edits.is_empty() { body } else { edits.apply(&body).into() }
}

/// Reads the URL of a place in the configuration.
fn url(place: &str, text: &str) -> Result<Url, ConfigError> {
    let url = Url::parse(text).map_err(|error| ConfigError::invalid(place, format!("it is no URL: {error}")))?;
    match url.scheme() {
        "http" | "https"
            if url.query().is_none()
                && url.fragment().is_none()
                && url.username().is_empty()
                && url.password().is_none() =>
        {
            Ok(url)
        }
        "http" | "https" => Err(ConfigError::invalid(place, "a query, a fragment or a user name has no meaning there")),
        scheme => Err(ConfigError::invalid(place, format!("{scheme} is neither http nor https"))),
    }
}

/// Returns the headers that every request gets.
fn own_headers(config: &Config) -> Result<HeaderMap, ConfigError> {
    const PLACE: &str = "access.headers";
    let mut headers = HeaderMap::new();
    for text in &config.access.headers {
        let wrong = || ConfigError::invalid(PLACE, format!("{:?} is not `NAME: VALUE`", text.split(':').next()));
        let (name, value) = text.split_once(':').ok_or_else(wrong)?;
        let name = name.trim().parse::<HeaderName>().map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(value.trim()).map_err(|_| wrong())?;
        value.set_sensitive(is_secret_header(&name));
        headers.insert(name, value);
    }
    if let Some(user) = &config.access.user {
        let missing = || ConfigError::invalid("access.password", "it is missing");
        let password = config.access.password.as_ref().ok_or_else(missing)?.read("access.password")?;
        let credentials = Credentials::basic(user, &password);
        let credentials = credentials.map_err(|error| ConfigError::invalid("access.user", error))?;
        let value = credentials.authorization(&Method::POST, &http::Uri::from_static("/")).ok_or_else(missing)?;
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

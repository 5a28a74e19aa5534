//! Requests as a client would send them: each is written by the dynamic client, whose transport only
//! keeps it. So they have the headers, credentials and header blocks of `call`.

use super::calls::Call;
use super::request::Request;
use super::template::{Rows, Variable, WAYS, marks, places};
use crate::cli;
use crate::contract::access::{credentials, with_password};
use crate::contract::call::{header_block, service_url};
use crate::contract::security::{in_options, secures_messages};
use crate::output::{one_line, with_causes};
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use bytes::Bytes;
use deltasoap::security::{PolicyCredentials, Protection, UsernameToken};
use deltasoap_dynamic::json::parse;
use deltasoap_dynamic::{Contract, DynamicClient, DynamicError, Operation, Validation};
use deltasoap_http::{Body, BoxError, CallError, CallOptions, ClientBuildError};
use deltasoap_wsdl::fetch::{credentials_in, shown};
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{Request as HttpRequest, Response};
use http_body_util::{BodyExt as _, Full};
use memchr::memmem;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tower::Service;
use url::Url;

/// Maximum number of bytes of all requests that are prepared.
const MAX_BYTES: usize = 512 << 20;

/// Writes the requests of a call: one, or one for each row of a table. Returns the URL to which they
/// are sent, and the requests.
pub async fn requests(
    arguments: &cli::Load,
    contract: &Contract,
    call: &Call,
    rows: &Rows,
) -> Result<(Url, Vec<Request>)> {
    let name = call.operation.full_name();
    let url = service_url(
        arguments.wsdl.as_deref().unwrap_or_default(),
        &arguments.loading,
        arguments.endpoint.as_deref(),
        &call.operation,
    )?;
    ensure!(!url.is_empty(), "the WSDL gives no URL for {name}; --endpoint takes one");
    let url = Url::parse(&url).context("the URL of the service is malformed")?;
    let mut writer = Writer::new(arguments, contract, &call.operation, &url)?;
    let (mut requests, mut size) = (Vec::new(), 0);
    for row in 0..call.template.requests(rows) {
        let request = writer.request(call, rows, row).await;
        let request = request.with_context(|| match call.template.requests(rows) {
            1 => format!("the request of {name}"),
            _ => format!("the request of {name} with row {} of --data-from", row + 1),
        })?;
        size += request.size();
        ensure!(size <= MAX_BYTES, "the requests of {name} have more than {MAX_BYTES} bytes; use fewer rows");
        requests.push(request);
    }
    Ok((url, requests))
}

/// Writes requests of one operation.
struct Writer<'a> {
    client: DynamicClient<Recorder>,
    recorder: Recorder,
    options: CallOptions,
    operation: &'a Operation,
    arguments: &'a cli::Load,
    /// The way of marking variables that fits the types of the elements.
    way: usize,
}

impl<'a> Writer<'a> {
    fn new(arguments: &'a cli::Load, contract: &Contract, operation: &'a Operation, url: &Url) -> Result<Self> {
        let recorder = Recorder::default();
        let access = &arguments.loading.access;
        let own = credentials_in(url);
        let address = if own.is_some() { shown(url.as_str()) } else { url.as_str().to_owned() };
        let credentials = credentials(access)?.or(own);
        let user = arguments.wsse_user.as_deref().map(|user| with_password(user, "--wsse-user")).transpose()?;
        let user = user.map(|(name, password)| (name.to_owned(), password));
        let is_secured = secures_messages(&operation.policies());
        let validator = contract.clone();
        let client = DynamicClient::with_transport(contract.clone(), recorder.clone()).endpoint(address);
        let client = client.configure(move |builder| {
            let builder = builder.accept_gzip(false).validate_sent(validator.clone(), Validation::Refuse);
            let builder = match &credentials {
                Some(credentials) => builder.credentials(credentials.clone()),
                None => builder,
            };
            match &user {
                Some((name, password)) if is_secured => {
                    builder.policy_credentials(PolicyCredentials::new().user(name.clone(), password.clone()))
                }
                Some((name, password)) => {
                    builder.protection(Protection::new().user(UsernameToken::text(name.clone(), password.clone())))
                }
                None => builder,
            }
        });
        let mut options = CallOptions::new();
        for (name, value) in &access.headers {
            options = options.http_header(name.clone(), value.clone());
        }
        for block in &arguments.blocks {
            options = options.header(header_block(operation, block)?);
        }
        Ok(Writer { client, recorder, options, operation, arguments, way: 0 })
    }

    /// Writes the request with the values of a row. The first failure explains most.
    async fn request(&mut self, call: &Call, rows: &Rows, row: usize) -> Result<Request> {
        let variables: Vec<Variable> = call.template.variables().collect();
        let mut first = None;
        loop {
            let marks = marks(&variables, self.way);
            let marked = self.captured(&call.template.filled(rows, row, &marks)).await.and_then(|request| {
                let places = places(request.body(), &marks, &variables);
                let places = places.context(
                    "a variable is not in the message as it was given: its element must hold text or a whole number, \
                     and values of other types can come from --data-from",
                )?;
                Ok(self.finished(&request, places))
            });
            match marked {
                Ok(request) => return Ok(request),
                Err(error) => drop(first.get_or_insert(error)),
            }
            if variables.is_empty() || self.way + 1 == WAYS {
                return Err(first.unwrap_or_else(|| anyhow!("it cannot be written")));
            }
            self.way += 1;
        }
    }

    /// Returns the request that the client sends for some JSON.
    async fn captured(&self, json: &str) -> Result<HttpRequest<Bytes>> {
        let json = parse(json).context("the data is not usable as JSON")?;
        let call = self.client.prepare_operation(self.operation.clone()).options(self.options.clone());
        let sent = call.send_json(&json).await;
        match (self.recorder.take(), sent) {
            (Some(request), _) => Ok(request),
            (None, Err(error)) => Err(self.explained(error)),
            (None, Ok(_)) => bail!("it was not written"),
        }
    }

    fn explained(&self, error: DynamicError) -> anyhow::Error {
        match error {
            DynamicError::Json(error) => {
                let wsdl = shown(self.arguments.wsdl.as_deref().unwrap_or_default());
                let name = self.operation.full_name();
                anyhow!(
                    "the data does not fit: {error}; `deltasoap template {wsdl} {name}` prints a request to begin with"
                )
            }
            DynamicError::Call(CallError::InvalidRequest(error)) => {
                let findings = error.findings.iter().map(|it| one_line(&it.to_string())).collect::<Vec<_>>().join("; ");
                anyhow!("it does not conform to the WSDL: {findings}")
            }
            DynamicError::Endpoint(ClientBuildError::Policies(error)) => {
                anyhow!("{}; `load` supports user name tokens, by --wsse-user", in_options(&error.to_string()))
            }
            error => anyhow!("{}", with_causes(&error)),
        }
    }

    fn finished(&self, request: &HttpRequest<Bytes>, mut places: Vec<(Range<usize>, Variable)>) -> Request {
        if let Some(place) = message_id(request.body()) {
            places.push((place, Variable::Uuid));
            places.sort_by_key(|(place, _)| place.start);
        }
        Request::new(&head(request, self.arguments), request.body(), &places)
    }
}

/// Returns the lines of a request's head, without its length.
pub fn head<B>(request: &HttpRequest<B>, arguments: &cli::Load) -> Vec<u8> {
    lines(request, arguments.gzip, arguments.reconnect)
}

fn lines<B>(request: &HttpRequest<B>, accepts_gzip: bool, is_last: bool) -> Vec<u8> {
    let uri = request.uri();
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut head = format!("{} {path} HTTP/1.1\r\n", request.method()).into_bytes();
    let mut line = |name: &str, value: &[u8]| {
        head.extend_from_slice(&[name.as_bytes(), b": ", value, b"\r\n"].concat());
    };
    if !request.headers().contains_key(HOST) {
        let authority = uri.authority().map_or("", |it| it.as_str());
        line("Host", authority.rsplit('@').next().unwrap_or(authority).as_bytes());
    }
    let own = [CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION];
    let headers = request.headers().iter().filter(|(name, _)| !own.contains(name));
    headers.for_each(|(name, value)| line(name.as_str(), value.as_bytes()));
    // Other codings are not read, whatever the client has been built with.
    if accepts_gzip {
        line("Accept-Encoding", b"gzip");
    }
    if is_last {
        line("Connection", b"close");
    }
    head
}

/// Finds the UUID in the `MessageID` of WS-Addressing, which no two requests must share.
fn message_id(body: &[u8]) -> Option<Range<usize>> {
    const URN: &[u8] = b">urn:uuid:";
    const UUID: usize = 36;
    let name = memmem::find(body, b"MessageID")?;
    let start = name + memmem::find(&body[name..], URN)? + URN.len();
    let is_near = body[name..start].iter().filter(|byte| **byte == b'<').count() == 0;
    (is_near && body.get(start + UUID) == Some(&b'<')).then_some(start..start + UUID)
}

/// A transport that keeps the last request, and sends nothing.
#[derive(Debug, Clone, Default)]
struct Recorder(Arc<Mutex<Option<HttpRequest<Bytes>>>>);

impl Recorder {
    fn take(&self) -> Option<HttpRequest<Bytes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    async fn keep(self, request: HttpRequest<Body>) -> Result<Response<Full<Bytes>>, BoxError> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map_err(|error| BoxError::from(error.to_string()))?.to_bytes();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(HttpRequest::from_parts(parts, body));
        Err("nothing is sent yet".into())
    }
}

impl Service<HttpRequest<Body>> for Recorder {
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequest<Body>) -> Self::Future {
        Box::pin(self.clone().keep(request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_what_the_client_sets() {
        let request = HttpRequest::post("http://ada:secret@host:81/shop?a=b")
            .header("SOAPAction", "\"x\"")
            .header("Content-Length", "3")
            .body(())
            .expect("a request");
        let head = |is_last| String::from_utf8(lines(&request, is_last, is_last)).expect("UTF-8");
        assert_eq!(head(false), "POST /shop?a=b HTTP/1.1\r\nHost: host:81\r\nsoapaction: \"x\"\r\n");
        assert!(head(true).ends_with("\r\nAccept-Encoding: gzip\r\nConnection: close\r\n"));
    }

    #[test]
    fn the_message_id_is_found() {
        let id = "0f8fad5b-d9cb-469f-a165-70867728950e";
        let body = format!("<w:MessageID a='b'>urn:uuid:{id}</w:MessageID><x>urn:uuid:{id}</x>");
        assert_eq!(message_id(body.as_bytes()), Some(28..64));
        let other = format!("<MessageID>1</MessageID><x>urn:uuid:{id}</x>");
        assert_eq!(message_id(other.as_bytes()), None);
        assert_eq!(message_id(b"<MessageID>urn:uuid:0"), None);
    }
}

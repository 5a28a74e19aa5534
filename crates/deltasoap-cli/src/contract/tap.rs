//! A transport that shows what passes, for `--verbose`.

use crate::output::stderr;
use bytes::Bytes;
use deltasoap_http::{Body, BoxError, HttpTransport, is_secret_header};
use deltasoap_wsdl::fetch::shown;
use http::header::{HeaderMap, LOCATION};
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use std::fmt::Arguments;
use std::io::{self, Write as _};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tower::Service;

/// HTTP, shown on standard error if wanted. What is shown is held in memory whole.
#[derive(Debug, Clone)]
pub struct Tap {
    transport: HttpTransport,
    is_open: bool,
    /// Values of headers that may hold secrets are shown.
    shows_secrets: bool,
    /// Where the last answer sends the client to.
    location: Arc<Mutex<Option<String>>>,
}

impl Tap {
    pub fn new(transport: HttpTransport, is_open: bool, shows_secrets: bool) -> Self {
        Tap { transport, is_open, shows_secrets, location: Arc::default() }
    }

    /// Where the last answer sent the client to, if it was a redirect.
    pub fn location(&self) -> Option<String> {
        self.location.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note<B>(&self, response: &Response<B>) {
        let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection());
        *self.location.lock().unwrap_or_else(PoisonError::into_inner) =
            location.map(|location| String::from_utf8_lossy(location.as_bytes()).into_owned());
    }

    async fn exchange(mut self, request: Request<Body>) -> Result<Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError> {
        if self.is_open {
            let response = self.transport.call(shown_request(request, self.shows_secrets).await?).await?;
            self.note(&response);
            return shown_response(response, self.shows_secrets).await;
        }
        let response = self.transport.call(request).await?;
        self.note(&response);
        Ok(response.map(|body| body.map_err(BoxError::from).boxed_unsync()))
    }
}

type Exchange = Pin<Box<dyn Future<Output = Result<Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError>> + Send>>;

impl Service<Request<Body>> for Tap {
    type Response = Response<UnsyncBoxBody<Bytes, BoxError>>;
    type Error = BoxError;
    type Future = Exchange;

    fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.transport.poll_ready(task)
    }

    fn call(&mut self, request: Request<Body>) -> Exchange {
        Box::pin(self.clone().exchange(request))
    }
}

async fn shown_request(request: Request<Body>, secrets: bool) -> Result<Request<Body>, BoxError> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(|error| BoxError::from(error.to_string()))?.to_bytes();
    let first = format_args!("{} {}", parts.method, shown(&parts.uri.to_string()));
    show(">", first, (&parts.headers, secrets), &body)?;
    Ok(Request::from_parts(parts, Body::from(body)))
}

async fn shown_response<B>(
    response: Response<B>,
    secrets: bool,
) -> Result<Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError>
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>>,
{
    let (parts, body) = response.into_parts();
    let body = body.collect().await.map_err(Into::into)?.to_bytes();
    show("<", format_args!("{}", parts.status), (&parts.headers, secrets), &body)?;
    Ok(Response::from_parts(parts, Full::new(body).map_err(|never| match never {}).boxed_unsync()))
}

/// Shows a first line, headers and a body; secrets only if asked for.
fn show(mark: &str, first: Arguments<'_>, (headers, secrets): (&HeaderMap, bool), body: &[u8]) -> io::Result<()> {
    let mut out = stderr();
    writeln!(out, "{mark} {first}")?;
    for (name, value) in headers {
        let value = if !secrets && (value.is_sensitive() || is_secret_header(name)) {
            "(not shown)".into()
        } else {
            String::from_utf8_lossy(value.as_bytes())
        };
        writeln!(out, "{mark} {name}: {value}")?;
    }
    match headers.get("content-encoding") {
        Some(coding) => {
            writeln!(out, "{mark}\n({} bytes, {})\n", body.len(), String::from_utf8_lossy(coding.as_bytes()))
        }
        None => writeln!(out, "{mark}\n{}\n", String::from_utf8_lossy(body)),
    }
}

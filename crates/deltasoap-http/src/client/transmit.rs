//! From a request to the final answer, which may take more than one exchange.
//!
//! Each layer turns one request into one or more of the next layer's. A call is retried
//! ([`Attempts`]), redirected ([`redirects`](super::redirects)), sent without its coding if that
//! is refused ([`uplink`](super::uplink)), and authenticated ([`credentials`](super::credentials)).
//! The last layer is one exchange, with the cookies of earlier ones, which is recorded on request.
//!
//! ```text
//! call ── attempts ── redirects ── coding ── credentials ── cookies, trace ── transport
//!          retries     same body    refused   challenges     one exchange
//! ```
//!
//! To send a request again, the client needs its body again. A body is lent to the transport
//! (`body/lent.rs`): while nobody has read from it, the client can take it back. So a request that
//! found no connection costs no copy, streams can be resent, and the client knows that nothing was
//! sent. Only idempotent calls, redirects, challenges and requests that `Compression::ADAPTIVE`
//! compressed keep a second body; for a body from a template this is a reference to the same
//! frames.

use super::broken::explained;
use super::builder::Client;
#[cfg(feature = "cookies")]
use super::cookies::CookieJar;
use super::credentials::Credentials;
use super::error::{CallError, TimeoutError, causes};
use super::observed::CallNotes;
use super::pace::{Pace, Patience};
use super::redirects::{RedirectError, is_same_origin, redirect};
use super::retries::Attempts;
use super::trace::{Recorder, Trace};
use super::understood::Understood;
use super::uplink::{Coded, plain_of};
use crate::body::{Body, Failure, Slot};
use crate::error::BoxError;
use crate::secured::Exchange;
use bytes::Bytes;
use deltasoap_core::Error;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, HeaderMap};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode, Uri};
use http_body::{Frame, SizeHint};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tower::{Service, ServiceExt};

/// A request with the settings of its call.
#[derive(Debug)]
pub(super) struct Outbound {
    pub(super) request: Request<Body>,
    pub(super) is_idempotent: bool,
    pub(super) trace: Option<Trace>,
    pub(super) understood: Understood,
    /// What the response is verified against.
    pub(super) exchange: Option<Exchange>,
    /// What is known of the call; `None` if it is not logged.
    pub(super) notes: Option<Arc<CallNotes>>,
    /// The progress of a request that waits for items.
    pub(super) pace: Option<Pace>,
}

/// Maximum number of repetitions of a challenged request: one for the challenge, and one if its
/// answer came too late.
const MAX_REPEATS: u32 = 2;

impl<S, B> Client<S>
where
    S: Service<Request<Body>, Response = Response<B>> + Clone,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    /// Sends a request until there is an answer, or retrying makes no sense. The header blocks that
    /// the call [understands](Understood), its security and its notes are returned among the
    /// answer's extensions.
    pub(super) async fn transmit(&self, outbound: Outbound) -> Result<Response<RecordedBody<B>>, CallError> {
        let Outbound { mut request, is_idempotent, trace, understood, exchange, notes, .. } = outbound;
        let mut attempts = Attempts::new(self.settings.retries, is_idempotent);
        loop {
            if let Some(notes) = &notes {
                notes.attempt();
            }
            let (outgoing, spare) = Spare::new(request, &attempts);
            let outcome = attempt(attempts.timeout(), self.follow(outgoing, trace.as_ref())).await;
            let again = attempts.pause(&outcome).and_then(|pause| Some((pause, spare.into_request()?)));
            let Some((pause, again)) = again else {
                return outcome.map(|mut answer| {
                    answer.extensions_mut().insert(understood);
                    exchange.map(|exchange| answer.extensions_mut().insert(exchange));
                    if let Some(notes) = notes {
                        notes.status(answer.status());
                        answer.extensions_mut().insert(notes);
                    }
                    answer
                });
            };
            tracing::debug!(?pause, "the request is sent again");
            drop(outcome);
            tokio::time::sleep(pause).await;
            request = again;
        }
    }

    /// Sends a request and follows its redirects.
    async fn follow(
        &self,
        mut request: Request<Body>,
        trace: Option<&Trace>,
    ) -> Result<Response<RecordedBody<B>>, CallError> {
        let (redirects, mut hops) = (self.settings.redirects, 0);
        if redirects.is_off() {
            let plain = plain_of(&mut request);
            let answer = self.prove(request, trace).await?;
            return self.unless_refused(answer, plain, trace).await;
        }
        loop {
            let from = request.uri().clone();
            let again = request.body().is_repeatable().then(|| request.clone());
            let plain = plain_of(&mut request);
            let answer = self.prove(request, trace).await?;
            let answer = self.unless_refused(answer, plain, trace).await?;
            let target = redirects.target(&from, &answer, hops).map_err(CallError::Redirect)?;
            let Some(target) = target else { return Ok(answer) };
            let Some(mut again) = again else {
                return Err(CallError::Redirect(RedirectError::unrepeatable(answer.status(), &from, &target)));
            };
            tracing::debug!(%target, "the request is redirected");
            redirect(&mut again, target);
            (request, hops) = (again, hops + 1);
        }
    }

    /// Returns the answer to a request, or to the plain one if the server does not support the
    /// coding of the first. The server has not acted on the first one then (RFC 9110, 15.5.16 and
    /// 8.4).
    async fn unless_refused(
        &self,
        answer: Response<RecordedBody<B>>,
        plain: Option<Box<Request<Body>>>,
        trace: Option<&Trace>,
    ) -> Result<Response<RecordedBody<B>>, CallError> {
        let is_refused = answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE;
        let Some(plain) = plain.filter(|_| is_refused) else { return Ok(answer) };
        drop(answer);
        tracing::debug!("the request is sent again without its content coding");
        // Boxed, since few requests need it.
        Box::pin(self.prove(*plain, trace)).await
    }

    /// Sends a request with the client's credentials, and again if it was challenged and can be
    /// repeated.
    async fn prove(
        &self,
        mut request: Request<Body>,
        trace: Option<&Trace>,
    ) -> Result<Response<RecordedBody<B>>, CallError> {
        let is_home = is_same_origin(request.uri(), &self.settings.url);
        let has_own = request.headers().contains_key(AUTHORIZATION);
        let credentials = self.settings.credentials.as_ref().filter(|_| is_home && !has_own);
        let Some(credentials) = credentials else { return self.pass(request, trace).await };
        if credentials.needs_challenge() && !request.body().is_repeatable() {
            self.fetch_challenge(credentials, request.headers(), trace).await?;
        }
        let is_repeatable = credentials.can_be_challenged() && request.body().is_repeatable();
        let mut repeats = 0;
        loop {
            let again = (is_repeatable && repeats < MAX_REPEATS).then(|| request.clone());
            let was_authorized = authorize(&mut request, credentials);
            let response = self.pass(request, trace).await?;
            let is_challenged = response.status() == StatusCode::UNAUTHORIZED
                && credentials.note_challenge(was_authorized, response.headers());
            let Some(next) = again.filter(|_| is_challenged) else { return Ok(response) };
            (request, repeats) = (next, repeats + 1);
        }
    }

    /// Requests a challenge without the message, which could not be sent a second time.
    async fn fetch_challenge(
        &self,
        credentials: &Credentials,
        headers: &HeaderMap,
        trace: Option<&Trace>,
    ) -> Result<(), CallError> {
        let mut request = Request::new(Body::default());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.settings.url.clone();
        *request.headers_mut() = headers.clone();
        request.headers_mut().remove(CONTENT_ENCODING);
        let response = self.pass(request, trace).await?;
        if response.status() == StatusCode::UNAUTHORIZED {
            credentials.note_challenge(false, response.headers());
        }
        Ok(())
    }

    /// Performs one exchange.
    async fn pass(
        &self,
        request: Request<Body>,
        trace: Option<&Trace>,
    ) -> Result<Response<RecordedBody<B>>, CallError> {
        let coded = request.extensions().get::<Coded>().cloned();
        // Another origin tells nothing about the path to this one.
        let is_learned_from =
            self.settings.compression.is_adaptive() && is_same_origin(request.uri(), &self.settings.url);
        #[cfg(feature = "cookies")]
        let (request, cookies) = self.with_cookies(request);
        let recorder = trace.map(|trace| trace.begin(&request));
        let mut request = match &recorder {
            Some(recorder) => request.map(|body| body.recorded(Arc::new(recorder.clone()))),
            None => request,
        };
        let failure = request.body_mut().failure();
        let url = request.uri().clone();
        let outcome = self.transport.clone().oneshot(request).await;
        let outcome = outcome.map_err(|error| blame_content(error.into(), failure, &url));
        if let (true, Ok(response)) = (is_learned_from, &outcome) {
            self.settings.uplink.note(coded.as_ref(), response);
        }
        match (&recorder, &outcome) {
            (Some(recorder), Ok(response)) => recorder.answered(response),
            (Some(recorder), Err(error)) => recorder.failed(error),
            (None, _) => {}
        }
        #[cfg(feature = "cookies")]
        if let (Some((cookies, url)), Ok(response)) = (cookies, &outcome) {
            cookies.keep(&url, response.headers());
        }
        Ok(outcome?.map(|body| RecordedBody { body, recorder }))
    }

    /// Adds cookies to the request, and returns the jar for those of the answer.
    #[cfg(feature = "cookies")]
    fn with_cookies(&self, mut request: Request<Body>) -> (Request<Body>, Option<(&CookieJar, Uri)>) {
        let is_home = is_same_origin(request.uri(), &self.settings.url);
        let Some(cookies) = self.settings.cookies.as_ref().filter(|_| is_home) else { return (request, None) };
        cookies.add(&mut request);
        let url = request.uri().clone();
        (request, Some((cookies, url)))
    }
}

/// A copy from which a request can be sent again.
enum Spare {
    None,
    /// An independent copy.
    Copy(Box<Request<Body>>),
    /// The same body, if nothing was read of it.
    Lent(Box<Parts>, Slot),
}

impl Spare {
    /// Splits a request into the one to send and the spare.
    fn new(request: Request<Body>, attempts: &Attempts) -> (Request<Body>, Self) {
        if attempts.are_over() {
            return (request, Spare::None);
        }
        if request.body().is_repeatable() {
            let spare = Spare::Copy(Box::new(request.clone()));
            return (request, spare);
        }
        let (parts, body) = request.into_parts();
        let (lent, slot) = body.lend();
        let spare = Spare::Lent(Box::new(parts.clone()), slot);
        (Request::from_parts(parts, lent), spare)
    }

    fn into_request(self) -> Option<Request<Body>> {
        match self {
            Spare::None => None,
            Spare::Copy(request) => Some(*request),
            Spare::Lent(parts, slot) => Some(Request::from_parts(*parts, slot.take()?)),
        }
    }
}

/// Adds the credentials. Returns true if there were any to add.
fn authorize(request: &mut Request<Body>, credentials: &Credentials) -> bool {
    let value = credentials.authorization(request.method(), request.uri());
    let is_authorized = value.is_some();
    request.headers_mut().extend(value.map(|value| (AUTHORIZATION, value)));
    is_authorized
}

/// Reports the error of an item or a part that could not be written, instead of the network error
/// of the failed exchange.
fn blame_content(error: BoxError, failure: Option<Failure>, url: &Uri) -> CallError {
    let content = causes(&*error).find_map(|cause| cause.downcast_ref::<Error>());
    let content = content.or(failure.as_ref().and_then(|failure| failure.get())).cloned();
    content.map_or_else(|| CallError::Http(explained(error, url)), CallError::Encode)
}

/// Runs an attempt within a time limit.
async fn attempt<T>(
    time: Option<Duration>,
    attempt: impl Future<Output = Result<T, CallError>>,
) -> Result<T, CallError> {
    match time {
        None => attempt.await,
        Some(time) => {
            let late = |_| Err(CallError::Timeout(TimeoutError::of_attempt(time)));
            tokio::time::timeout(time, attempt).await.unwrap_or_else(late)
        }
    }
}

/// Runs a call within a time limit.
pub(super) async fn within<T>(
    time: Option<Duration>,
    call: impl Future<Output = Result<T, CallError>>,
) -> Result<T, CallError> {
    Patience::from(time).within(call).await
}

pin_project! {
    /// The body of an answer, which is recorded on request.
    #[derive(Debug)]
    pub(super) struct RecordedBody<B> {
        #[pin]
        body: B,
        recorder: Option<Recorder>,
    }
}

impl<B: http_body::Body<Data = Bytes>> http_body::Body for RecordedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.project();
        let frame = ready!(this.body.poll_frame(context));
        if let (Some(recorder), Some(Ok(frame))) = (this.recorder, &frame)
            && let Some(data) = frame.data_ref()
        {
            recorder.received(data);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

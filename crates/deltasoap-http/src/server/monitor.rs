//! Monitoring of a server: its health, its readiness for requests, and its metrics.
//!
//! These are separate paths, not queries of a service: a load balancer asks about the server, often
//! without credentials, and without knowing any service.

use super::respond;
use super::serve::ServerHandle;
use crate::body::Body;
use futures_util::TryFutureExt;
use futures_util::future::{Either, MapOk};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Either as EitherBody;
use std::convert::Infallible;
use std::fmt;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;
use tower::Service;

/// The media type of Prometheus's text format.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Answers requests about a server, as a [`tower::Service`]: standalone in a router, or around a
/// service.
///
/// | path | |
/// |---|---|
/// | `/health` | 200 as long as the server answers at all |
/// | `/ready` | 200 if it should be sent requests; 503 once it is to stop, or a check fails |
/// | `/metrics` | metrics in Prometheus's text format, if configured |
///
/// All other paths are 404. Nothing here requires credentials or reveals the content of requests;
/// metrics do reveal the names of operations and how often they are called. In an axum router it is
/// mounted by `nest_service("/ops", monitor)`, or by `route_service("/health", monitor)` for each
/// path; without a router it [wraps](Self::wrap) a service.
///
/// ```no_run
/// # async fn run(service: deltasoap_http::SoapService) -> std::io::Result<()> {
/// use deltasoap_http::{Monitor, Server, shutdown_signal};
/// use std::time::Duration;
///
/// let server = Server::bind("0.0.0.0:8080").await?;
/// let monitor = Monitor::for_server(&server.handle());
/// // Load balancers see that the server is about to go while it still answers them.
/// let drained = monitor.clone().drained(shutdown_signal(), Duration::from_secs(10));
/// server.serve_with_shutdown(monitor.wrap(service), drained).await
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Monitor {
    is_draining: Arc<AtomicBool>,
    checks: Vec<Check>,
    metrics: Option<Render>,
}

type Check = Arc<dyn Fn() -> bool + Send + Sync>;
type Render = Arc<dyn Fn() -> String + Send + Sync>;

impl Monitor {
    /// Creates a monitor of a server that is ready until [`drain`](Self::drain).
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a monitor of a server that is ready until it is asked to stop.
    pub fn for_server(server: &ServerHandle) -> Self {
        let server = server.clone();
        Self::new().ready_when(move || !server.is_stopping())
    }

    /// Adds a condition for readiness, such as a reachable database. It is evaluated for each
    /// request to `/ready`, and should not block.
    #[must_use]
    pub fn ready_when(mut self, check: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.checks.push(Arc::new(check));
        self
    }

    /// Sets the metrics in Prometheus's text format, which are rendered for each request to
    /// `/metrics`.
    #[must_use]
    pub fn metrics(mut self, render: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.metrics = Some(Arc::new(render));
        self
    }

    /// Installs a recorder of the [`metrics`] facade for the whole program, and renders its metrics
    /// for `/metrics`.
    ///
    /// Services that are built after this report to it, see [`ServiceStats`](crate::ServiceStats).
    /// A thread regularly aggregates the samples of histograms, so that their memory does not grow
    /// when nobody requests metrics.
    ///
    /// # Errors
    /// When a recorder is already installed: then render that one by [`metrics`](Self::metrics).
    #[cfg(feature = "prometheus")]
    pub fn prometheus(self) -> Result<Self, metrics_exporter_prometheus::BuildError> {
        use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
        let durations = Matcher::Suffix("_duration_seconds".to_owned());
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Full("deltasoap_decode_seconds".to_owned()), &DECODE_SECONDS)?
            .set_buckets_for_metric(durations, &DURATION_SECONDS)?
            .install_recorder()?;
        let gathering = recorder.clone();
        let upkeep = move || loop {
            std::thread::sleep(UPKEEP);
            gathering.run_upkeep();
        };
        if let Err(error) = std::thread::Builder::new().name("deltasoap-metrics".to_owned()).spawn(upkeep) {
            tracing::warn!(%error, "cannot start the metrics thread: histograms grow until metrics are requested");
        }
        Ok(self.metrics(move || {
            recorder.run_upkeep();
            recorder.render()
        }))
    }

    /// Announces to load balancers that the server is about to stop: `/ready` is 503 from now on,
    /// for all clones. Requests are still served; once no more arrive, [`ServerHandle::shutdown`]
    /// stops the server.
    pub fn drain(&self) {
        self.is_draining.store(true, Relaxed);
    }

    /// Waits for a signal, then [drains](Self::drain) for this time, in which load balancers
    /// notice. For [`Server::serve_with_shutdown`](crate::Server::serve_with_shutdown).
    pub async fn drained(self, signal: impl Future<Output = ()>, time: Duration) {
        signal.await;
        self.drain();
        tokio::time::sleep(time).await;
    }

    /// Returns true if the server should be sent requests.
    pub fn is_ready(&self) -> bool {
        !self.is_draining.load(Relaxed) && self.checks.iter().all(|check| check())
    }

    /// Returns a service that answers these paths, and passes everything else to another one.
    pub fn wrap<S>(self, service: S) -> Monitored<S> {
        Monitored { monitor: self, service }
    }

    fn answer(&self, method: &Method, path: &str) -> Response<Body> {
        respond::noted(method, path, self.response(method, path))
    }

    fn response(&self, method: &Method, path: &str) -> Response<Body> {
        if self.has(path) && !matches!(*method, Method::GET | Method::HEAD) {
            return respond::only_get();
        }
        match (path, &self.metrics) {
            ("/health", _) => text(StatusCode::OK, "alive\n".to_owned()),
            ("/ready", _) if self.is_ready() => text(StatusCode::OK, "ready\n".to_owned()),
            ("/ready", _) => text(StatusCode::SERVICE_UNAVAILABLE, "not ready\n".to_owned()),
            ("/metrics", Some(render)) => {
                let mut response = text(StatusCode::OK, render());
                response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PROMETHEUS));
                response
            }
            _ => text(StatusCode::NOT_FOUND, "There is nothing here.\n".to_owned()),
        }
    }

    /// Returns true for the paths that a monitor around a service answers.
    fn has(&self, path: &str) -> bool {
        matches!(path, "/health" | "/ready") || path == "/metrics" && self.metrics.is_some()
    }
}

/// How often the samples of histograms are aggregated.
#[cfg(feature = "prometheus")]
const UPKEEP: Duration = Duration::from_secs(1);

/// Bucket bounds for seconds spent decoding a message: from small requests to large arrays.
#[cfg(feature = "prometheus")]
const DECODE_SECONDS: [f64; 10] = [5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 2e-2, 0.1];

/// Bucket bounds for seconds from a request to its response: from a service that answers from
/// memory to one that waits for others.
#[cfg(feature = "prometheus")]
const DURATION_SECONDS: [f64; 16] =
    [1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

fn text(status: StatusCode, text: String) -> Response<Body> {
    let mut response = respond::text(status, "text/plain", text);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").field("is_ready", &self.is_ready()).finish_non_exhaustive()
    }
}

impl<B> Service<Request<B>> for Monitor {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ready(Ok(self.answer(request.method(), request.uri().path())))
    }
}

/// A service wrapped by a [`Monitor`].
#[derive(Debug, Clone)]
pub struct Monitored<S> {
    monitor: Monitor,
    service: S,
}

/// The response of the wrapped service.
type Passed<F, R> = MapOk<F, fn(Response<R>) -> Response<EitherBody<Body, R>>>;

impl<S, B, R> Service<Request<B>> for Monitored<S>
where
    S: Service<Request<B>, Response = Response<R>, Error = Infallible>,
{
    type Response = Response<EitherBody<Body, R>>;
    type Error = Infallible;
    type Future = Either<Ready<Result<Self::Response, Infallible>>, Passed<S::Future, R>>;

    fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.service.poll_ready(task)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let path = request.uri().path();
        if self.monitor.has(path) {
            let answer = self.monitor.answer(request.method(), path);
            return Either::Left(ready(Ok(answer.map(EitherBody::Left))));
        }
        Either::Right(self.service.call(request).map_ok(|response| response.map(EitherBody::Right)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    async fn get(monitor: &Monitor, path: &str) -> (u16, String) {
        let response = monitor.clone().oneshot(Request::get(path).body(()).expect("a request")).await;
        let (parts, body) = response.expect("infallible").into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        (parts.status.as_u16(), String::from_utf8(body.into()).expect("UTF-8"))
    }

    #[tokio::test]
    async fn readiness_ends_by_draining_and_by_checks() {
        let monitor = Monitor::new();
        assert_eq!(get(&monitor, "/ready").await.0, 200);
        assert_eq!(get(&monitor.clone().ready_when(|| false), "/ready").await.0, 503);
        monitor.clone().drain();
        assert_eq!(get(&monitor, "/ready").await, (503, "not ready\n".to_owned()));
        assert_eq!(get(&monitor, "/health").await, (200, "alive\n".to_owned()));
    }

    #[tokio::test]
    async fn metrics_are_there_where_there_are_any() {
        assert_eq!(get(&Monitor::new(), "/metrics").await.0, 404);
        assert_eq!(get(&Monitor::new().metrics(|| "a 1\n".to_owned()), "/metrics").await, (200, "a 1\n".to_owned()));
        assert_eq!(get(&Monitor::new(), "/").await.0, 404);
    }

    #[tokio::test]
    async fn it_is_asked_by_get() {
        let response = Monitor::new().oneshot(Request::post("/health").body(()).expect("a request")).await;
        assert_eq!(response.expect("infallible").status(), StatusCode::METHOD_NOT_ALLOWED);
        let response = Monitor::new().oneshot(Request::post("/soap").body(()).expect("a request")).await;
        assert_eq!(response.expect("infallible").status(), StatusCode::NOT_FOUND, "there is nothing to get either");
    }
}

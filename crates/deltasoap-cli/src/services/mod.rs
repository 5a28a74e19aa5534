//! The demo's services, one per module, and their router.

pub mod bench;
mod cwmp;
pub mod tr069;
pub mod vsphere;

use crate::certificate::{self, Renewal};
use crate::cli::Serve;
use crate::listening::listen;
use crate::output::print_line;
use anyhow::Result;
use axum::Router;
use deltasoap::engine::{Differential, Templating};
use deltasoap_http::{
    Compression, HeavyWork, Monitor, Scheduling, Server, ServerTls, ServiceIndex, Sharing, SmallFirst, SoapService,
    SoapServiceBuilder, shutdown_signal,
};
use std::time::Duration;

/// All services.
pub struct Services {
    pub tr069: SoapService,
    pub vsphere: SoapService,
    pub bench: SoapService,
}

/// Paths of the services.
pub const PATHS: [&str; 3] = ["/bench", "/tr069", "/vsphere"];

impl Services {
    /// Builds services with these options for decoding and encoding; loads the recorded vSphere
    /// sessions.
    pub fn new(differential: Differential, templating: Templating, sharing: Sharing) -> Result<Self> {
        Self::with(|| SoapService::builder().differential(differential).templating(templating).sharing(sharing))
    }

    /// Builds the services, each from a builder of its own.
    fn with(builder: impl Fn() -> SoapServiceBuilder) -> Result<Self> {
        Ok(Services {
            tr069: tr069::service(builder())?,
            vsphere: vsphere::service(builder())?,
            bench: bench::service(builder())?,
        })
    }

    /// Returns a router with every service under its path, and a list of them at its root.
    pub fn router(&self) -> Router {
        let services = PATHS.into_iter().zip([&self.bench, &self.tr069, &self.vsphere]);
        let index = ServiceIndex::new("deltasoap");
        let index = services.clone().fold(index, |index, (path, service)| index.add(path, service));
        let router = Router::new().route_service("/", index);
        services.fold(router, |router, (path, service)| router.route_service(path, service.clone()))
    }
}

/// Serves until interrupted.
pub async fn serve(arguments: &Serve) -> Result<()> {
    let (server, renewal) = bind(arguments).await?;
    let (scheme, address) = (if arguments.tls_cert.is_some() { "https" } else { "http" }, server.local_addr()?);
    let monitor = Monitor::for_server(&server.handle()).prometheus()?;
    let services = Services::with(|| builder(arguments))?;
    for path in PATHS.into_iter().chain([cwmp::PATH]) {
        print_line(format_args!("listening on {scheme}://{address}{path}"))?;
    }
    print_line(format_args!("also at {scheme}://{address}: / for a browser, /health, /ready, /metrics"))?;
    let drained = monitor.clone().drained(shutdown_signal(), Duration::from_secs(arguments.drain));
    let acs = cwmp::acs(|service| service.compression(compression(arguments)))?;
    let router = services.router().route_service(cwmp::PATH, acs).fallback_service(monitor);
    tokio::select! {
        served = server.serve_with_shutdown(router.into_service(), drained) => Ok(served?),
        never = certificate::renewed(renewal) => never,
    }
}

/// Listens; returns also what renews the certificate.
async fn bind(arguments: &Serve) -> Result<(Server, Option<Renewal<'_>>)> {
    let server = listen(arguments.listen, arguments.takeover)
        .await?
        .worker_threads(arguments.worker_threads.map_or_else(processors, usize::from));
    match (&arguments.tls_cert, &arguments.tls_key) {
        (Some(certificate), Some(key)) => {
            let tls = ServerTls::new(certificate::identity((certificate, key))?);
            let renewal = Renewal::new(tls.rotation(), (certificate, key))?;
            Ok((server.tls(tls)?, Some(renewal)))
        }
        _ => Ok((server, None)),
    }
}

/// Returns the number of processors that this process may use.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns a builder with the options of the command line.
fn builder(arguments: &Serve) -> SoapServiceBuilder {
    let mut builder = SoapService::builder().tolerance(arguments.tolerance.into());
    if arguments.regular {
        builder = builder.differential(Differential::OFF).templating(Templating::OFF);
    }
    if arguments.small_first {
        builder = builder
            .scheduling(Scheduling::SmallFirst(SmallFirst { weigh: arguments.weigh.into(), ..SmallFirst::default() }));
    }
    if arguments.in_one_go {
        builder = builder.heavy_work(HeavyWork::OFF);
    }
    builder.compression(compression(arguments))
}

fn compression(arguments: &Serve) -> Compression {
    arguments.gzip_from.map_or(Compression::OFF, Compression::from_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::http::{Method, Request, StatusCode, header::CONTENT_TYPE};
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    async fn ask(router: &Router, method: Method, path: &str, body: &'static str) -> (StatusCode, String) {
        let request = Request::builder().method(method).uri(path).header(CONTENT_TYPE, "text/xml");
        let request = request.body(Body::from(body)).expect("a request");
        let response = router.clone().oneshot(request).await.expect("infallible");
        let status = response.status();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        (status, String::from_utf8(body.into()).expect("UTF-8"))
    }

    #[tokio::test]
    async fn browsers_and_prometheus_see_the_services() {
        let monitor = Monitor::new().prometheus().expect("no other recorder");
        let services = Services::new(Differential::default(), Templating::default(), Sharing::default());
        let router = services.expect("services").router().fallback_service(monitor);
        let message = r#"<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>
            <b:echoVoid xmlns:b="urn:bench"></b:echoVoid></e:Body></e:Envelope>"#;
        assert_eq!(ask(&router, Method::POST, "/bench", message).await.0, StatusCode::OK);
        let (status, text) = ask(&router, Method::GET, "/metrics", "").await;
        assert_eq!(status, StatusCode::OK);
        for metric in [
            r#"deltasoap_messages_total{service="Bench"}"#,
            r#"deltasoap_differential_messages_total{service="Bench",operation="{urn:bench}echoVoid"}"#,
            r#"deltasoap_encode_messages_total{service="Bench",operation="{urn:bench}echoVoid",match="first"}"#,
            r#"deltasoap_decode_seconds_count{service="Bench",operation="{urn:bench}echoVoid"}"#,
        ] {
            // The recorder is global to the process: it also counts the messages of other tests.
            let count = text.lines().find_map(|line| line.strip_prefix(metric)?.trim().parse::<u64>().ok());
            assert!(count >= Some(1), "{metric} in {text}");
        }
        let index = ask(&router, Method::GET, "/", "").await.1;
        for path in PATHS {
            assert!(index.contains(&format!("href=\"{path}\"")), "{path} in {index}");
            assert_eq!(ask(&router, Method::GET, path, "").await.0, StatusCode::OK);
        }
        for (path, status) in [("/health", 200), ("/ready", 200), ("/other", 404)] {
            assert_eq!(ask(&router, Method::GET, path, "").await.0.as_u16(), status, "{path}");
        }
    }
}

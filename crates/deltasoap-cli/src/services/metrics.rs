//! The demo's metrics, as Prometheus fetches them.

use anyhow::Result;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// Where the metrics are.
pub const PATH: &str = "/metrics";

/// The media type of Prometheus's text format.
const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Bounds of the buckets for seconds spent decoding a message: from small requests to large arrays.
const SECONDS: [f64; 10] = [5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 2e-2, 0.1];

/// Installs the recorder: services that are built from now on report to it.
pub fn install() -> Result<PrometheusHandle> {
    let buckets = Matcher::Suffix("_seconds".to_owned());
    Ok(PrometheusBuilder::new().set_buckets_for_metric(buckets, &SECONDS)?.install_recorder()?)
}

/// The route that renders what was recorded.
pub fn router(handle: PrometheusHandle) -> Router {
    let render = move || {
        // What histograms have gathered is added up here, since nothing else runs for it.
        handle.run_upkeep();
        std::future::ready(([(CONTENT_TYPE, MEDIA_TYPE)], handle.render()))
    };
    Router::new().route(PATH, get(render))
}

#[cfg(test)]
mod tests {
    use super::super::Services;
    use super::*;
    use axum::body::Body;
    use axum::http::{Method, Request, StatusCode};
    use deltasoap::{Differential, Templating};
    use deltasoap_http::Sharing;
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
    async fn prometheus_sees_the_services() {
        let recorder = install().expect("no other recorder");
        let router = Services::new(Differential::default(), Templating::default(), Sharing::default())
            .expect("services")
            .router()
            .merge(router(recorder));
        let message = r#"<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>
            <b:echoVoid xmlns:b="urn:bench"></b:echoVoid></e:Body></e:Envelope>"#;
        assert_eq!(ask(&router, Method::POST, "/bench", message).await.0, StatusCode::OK);
        let (status, text) = ask(&router, Method::GET, PATH, "").await;
        assert_eq!(status, StatusCode::OK);
        for line in [
            r#"deltasoap_messages_total{service="Bench"} 1"#,
            r#"deltasoap_differential_messages_total{service="Bench",operation="{urn:bench}echoVoid"} 1"#,
            r#"deltasoap_encode_messages_total{service="Bench",operation="{urn:bench}echoVoid",match="first"} 1"#,
            r#"deltasoap_decode_seconds_count{service="Bench",operation="{urn:bench}echoVoid"} 1"#,
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }
}

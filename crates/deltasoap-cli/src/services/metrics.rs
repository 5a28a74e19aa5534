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

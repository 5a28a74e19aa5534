//! What the command says of its work while it runs: lines on standard error, and with the feature
//! `opentelemetry` spans, which go to a collector by OTLP.

use anyhow::Result;
use std::io::{self, IsTerminal as _};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt};

/// Sends the last spans when it is dropped.
#[must_use]
pub struct Telemetry {
    #[cfg(feature = "opentelemetry")]
    spans: Option<spans::Provider>,
}

/// Logs to standard error at the levels that `RUST_LOG` selects; warnings by default. If the program
/// logs already, it continues to do so in its own way. Spans are sent if the environment names a collector.
///
/// # Errors
/// If the collector's address cannot be used.
#[expect(clippy::disallowed_methods, reason = "the subscriber colours lines itself, and escapes what they hold")]
pub fn start() -> Result<Telemetry> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(io::stderr().is_terminal()).with_filter(filter);
    let subscriber = tracing_subscriber::registry().with(lines);
    #[cfg(feature = "opentelemetry")]
    {
        let spans = spans::Provider::from_env()?;
        let _ = subscriber.with(spans.as_ref().map(spans::Provider::layer)).try_init();
        Ok(Telemetry { spans })
    }
    #[cfg(not(feature = "opentelemetry"))]
    {
        let _ = subscriber.try_init();
        Ok(Telemetry {})
    }
}

#[cfg(feature = "opentelemetry")]
impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.spans.take().map(spans::Provider::end) {
            crate::output::report(format_args!("warning: spans are lost: {error:#}"));
        }
    }
}

/// Spans and their exporter.
#[cfg(feature = "opentelemetry")]
mod spans {
    use anyhow::{Context as _, Result};
    use opentelemetry::trace::TracerProvider as _;
    use opentelemetry_otlp::SpanExporter;
    use opentelemetry_sdk::Resource;
    use opentelemetry_sdk::trace::SdkTracerProvider;
    use std::env;
    use tracing::Subscriber;
    use tracing_subscriber::registry::LookupSpan;
    use tracing_subscriber::{EnvFilter, Layer};

    /// The variables of OpenTelemetry that name a collector.
    const ADDRESSES: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
    /// The one that names this process in traces.
    const NAME: &str = "OTEL_SERVICE_NAME";
    /// What spans are sent of, whatever is logged.
    const SENT: &str = "off,deltasoap_http=info,deltasoap_gateway=info";

    pub(super) struct Provider(SdkTracerProvider);

    impl Provider {
        /// Returns `None` if the environment names no collector. It must not be called by a thread of the
        /// runtime, since the exporter's client blocks.
        pub(super) fn from_env() -> Result<Option<Self>> {
            let Some(address) = ADDRESSES.into_iter().find(|name| env::var_os(name).is_some()) else { return Ok(None) };
            let exporter = SpanExporter::builder().with_http().build();
            let exporter = exporter.with_context(|| format!("{address} must be the http URL of a collector"))?;
            let name = env::var(NAME).unwrap_or_else(|_| "deltasoap".to_owned());
            let resource = Resource::builder().with_service_name(name).build();
            Ok(Some(Provider(
                SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build(),
            )))
        }

        pub(super) fn layer<S: Subscriber + for<'s> LookupSpan<'s>>(&self) -> impl Layer<S> + use<S> {
            tracing_opentelemetry::layer().with_tracer(self.0.tracer("deltasoap")).with_filter(EnvFilter::new(SENT))
        }

        pub(super) fn end(self) -> Result<()> {
            Ok(self.0.shutdown()?)
        }
    }
}

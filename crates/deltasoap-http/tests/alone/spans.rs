//! Spans and events that the service logs for each message, by `tracing`. Runs alone: interest in
//! spans is cached for all threads of a process, and tests without a subscriber have none.

use crate::ALONE;
use crate::common::*;
use deltasoap::Lease;
use deltasoap::http::{Finding, PartLookup, SoapService, Validation, Validator};
use deltasoap::soap::Version;
use std::convert::Infallible;
use std::io::Write;
use std::sync::{Arc, Mutex};
use tracing::subscriber::DefaultGuard;

/// The log of spans and events.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Logs what this thread does until the guard is dropped.
    fn start(&self) -> DefaultGuard {
        let writer = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::DEBUG)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::set_default(subscriber)
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("no panic").clone()).expect("UTF-8")
    }
}

#[tokio::test]
async fn each_message_has_a_span() {
    let _alone = ALONE.lock().await;
    let log = Log::default();
    let _guard = log.start();
    let service = service().0;
    let body = message(Version::Soap11, &[], &echo("on the wire"));
    post(&service, "text/xml", &body).await;
    post(&service, "application/soap+xml", message(Version::Soap12, &[], &Unserved {})).await;
    let text = log.text();
    let answered: Vec<&str> = text.lines().filter(|line| line.contains("answered")).collect();
    let [good, bad] = answered[..] else { panic!("two lines of {text}") };
    for field in ["soap{", "operation=\"Echo\"", "version=Soap11", &format!("bytes_in={}", body.len()), "status=200"] {
        assert!(good.contains(field), "{field} in {good}");
    }
    assert!(bad.contains("version=Soap12") && bad.contains("status=400") && !bad.contains("operation="), "{bad}");
}

/// Finds two violations in any message, one of them in an element with a long name.
struct Always;

impl Validator for Always {
    fn findings(&self, _: &[u8], _: Option<&PartLookup<'_>>, _: usize) -> Vec<Finding> {
        let message = "\"a secret\" is none of \"a\", \"b\"".to_owned();
        let at = |path: String| Finding { line: 1, column: 2, path, message: message.clone() };
        vec![at(format!("/Envelope/{}", "long".repeat(1000))), at("/Envelope/Body".to_owned())]
    }
}

#[tokio::test]
async fn an_invalid_message_is_logged_once_and_its_values_only_for_debugging() {
    let _alone = ALONE.lock().await;
    for (validation, warnings) in [(Validation::Report, 1), (Validation::Refuse, 0), (Validation::Off, 0)] {
        let log = Log::default();
        let _guard = log.start();
        let echo = async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request));
        let service = SoapService::builder().operation(echo).validate(Always, validation).build().expect("a service");
        post(&service, "text/xml", message(Version::Soap11, &[], &self::echo("x"))).await;
        let text = log.text();
        let is_debug = |line: &&str| line.split_whitespace().nth(1) == Some("DEBUG");
        let (details, others): (Vec<&str>, Vec<&str>) = text.lines().partition(is_debug);
        let warned: Vec<_> = others.iter().filter(|line| line.contains("WARN")).collect();
        assert_eq!(warned.len(), warnings, "{text}");
        assert!(warned.iter().all(|line| line.contains("findings=2") && line.len() < 1000), "{text}");
        assert!(others.iter().all(|line| !line.contains("a secret")), "{text}");
        let detailed = details.iter().filter(|line| line.contains("a secret")).count();
        assert_eq!(detailed >= 2, validation != Validation::Off, "{text}");
    }
}

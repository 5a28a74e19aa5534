//! Spans and events that the service logs for each message, by `tracing`. Runs alone: interest in
//! spans is cached for all threads of a process, and tests without a subscriber have none.

use crate::ALONE;
use crate::common::*;
use deltasoap::soap::Version;
use std::io::Write;
use std::sync::{Arc, Mutex};

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

#[tokio::test]
async fn each_message_has_a_span() {
    let _alone = ALONE.lock().await;
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let service = service().0;
    let body = message(Version::Soap11, &[], &echo("on the wire"));
    post(&service, "text/xml", &body).await;
    post(&service, "application/soap+xml", message(Version::Soap12, &[], &Unserved {})).await;
    let text = String::from_utf8(log.0.lock().expect("no panic").clone()).expect("UTF-8");
    let answered: Vec<&str> = text.lines().filter(|line| line.contains("answered")).collect();
    let [good, bad] = answered[..] else { panic!("two lines of {text}") };
    for field in ["soap{", "operation=\"Echo\"", "version=Soap11", &format!("bytes_in={}", body.len()), "status=200"] {
        assert!(good.contains(field), "{field} in {good}");
    }
    assert!(bad.contains("version=Soap12") && bad.contains("status=400") && !bad.contains("operation="), "{bad}");
}

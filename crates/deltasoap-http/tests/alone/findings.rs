//! What validation logs, by `tracing`. Runs alone: interest in events is cached for all threads of
//! a process, and tests without a subscriber have none.

use crate::ALONE;
use crate::common::*;
use crate::logs::Log;
use deltasoap::soap::Version;
use deltasoap::validation::{Finding, PartLookup, Validation, Validator};
use deltasoap::{Lease, SoapService};
use std::convert::Infallible;
use tracing::Level;

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
        let (log, _guard) = Log::start(Level::DEBUG);
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

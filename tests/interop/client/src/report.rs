//! The output: a line of JSON for each test, or for each feature that the peer does not have.

use crate::Failure;
use deltasoap::soap::Version;
use serde::Serialize;
use std::collections::HashMap;
use std::pin::Pin;
use std::str::FromStr;
use std::time::Duration;

/// A row of the final table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feature {
    Arrays,
    Values,
    Similar,
    Structs,
    Faults,
    Headers,
    Utf16,
    Chunked,
    Length,
    Gzip,
    Tls,
    Mtom,
    OneWay,
}

/// Features with their names.
const NAMES: [(Feature, &str); 13] = [
    (Feature::Arrays, "arrays"),
    (Feature::Values, "values"),
    (Feature::Similar, "similar"),
    (Feature::Structs, "structs"),
    (Feature::Faults, "faults"),
    (Feature::Headers, "headers"),
    (Feature::Utf16, "utf-16"),
    (Feature::Chunked, "chunked"),
    (Feature::Length, "length"),
    (Feature::Gzip, "gzip"),
    (Feature::Tls, "tls"),
    (Feature::Mtom, "mtom"),
    (Feature::OneWay, "one-way"),
];

impl From<Feature> for &str {
    fn from(feature: Feature) -> Self {
        NAMES.iter().find(|(known, _)| *known == feature).map_or("", |(_, name)| name)
    }
}

impl FromStr for Feature {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = NAMES.iter().find(|(_, name)| *name == text);
        known.map(|(feature, _)| *feature).ok_or_else(|| format!("unknown feature {text:?}"))
    }
}

/// Time limit of a test: a peer that does not answer fails it too.
const TIME: Duration = Duration::from_secs(60);

/// A test.
type Running<'a> = Pin<Box<dyn Future<Output = Result<(), Failure>> + 'a>>;

/// The output for one version of SOAP.
pub struct Report {
    soap: &'static str,
    unsupported: HashMap<String, String>,
}

#[derive(Serialize)]
struct Line<'a> {
    soap: &'a str,
    feature: &'a str,
    test: &'a str,
    ok: bool,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<&'a str>,
}

impl Report {
    /// Creates a report. `unsupported` has reasons, by the names of features, or of single tests as
    /// `FEATURE/TEST`.
    pub fn new(version: Version, unsupported: HashMap<String, String>) -> Self {
        let soap = match version {
            Version::Soap11 => "1.1",
            Version::Soap12 => "1.2",
        };
        Report { soap, unsupported }
    }

    /// Runs a test of a feature, given as such or by its name, unless the peer lacks it.
    pub fn test<'a>(
        &'a self,
        feature: impl Into<&'a str>,
        test: &'a str,
        running: impl Future<Output = Result<(), Failure>> + 'a,
    ) -> impl Future<Output = ()> + 'a {
        self.run(feature.into(), test, "", Box::pin(running))
    }

    /// Runs a case that is exchanged by the WSDL alone.
    pub fn dynamic_case<'a>(
        &'a self,
        feature: &'a str,
        test: &'a str,
        running: impl Future<Output = Result<(), Failure>> + 'a,
    ) -> impl Future<Output = ()> + 'a {
        self.run(feature, test, ", by the description alone", Box::pin(running))
    }

    /// Runs a boxed test: many of them in one function would exceed the stack. `suffix` is appended
    /// to the name in the output, but is not part of the names in `unsupported`.
    async fn run(&self, feature: &str, test: &str, suffix: &str, running: Running<'_>) {
        let reason = self.unsupported.get(feature).or_else(|| self.unsupported.get(&format!("{feature}/{test}")));
        let skipped = reason.map(String::as_str);
        let outcome = match skipped {
            Some(_) => Ok(()),
            None => tokio::time::timeout(TIME, running).await.unwrap_or_else(|_| Err("no answer".into())),
        };
        let detail = outcome.as_ref().err().map(|error| shortened(&full(&**error))).unwrap_or_default();
        let test = &format!("{test}{suffix}");
        let line = Line { soap: self.soap, feature, test, ok: outcome.is_ok(), detail, skipped };
        println!("{}", serde_json::to_string(&line).unwrap_or_default());
    }
}

/// Returns an error with its causes.
fn full(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn shortened(text: &str) -> String {
    text.chars().take(300).collect()
}

/// Fails unless both are equal.
pub fn same<T: PartialEq + std::fmt::Debug>(actual: &T, expected: &T, what: &str) -> Result<(), Failure> {
    if actual == expected {
        return Ok(());
    }
    Err(format!("{what}: expected {}, got {}", shortened(&format!("{expected:?}")), shortened(&format!("{actual:?}")))
        .into())
}

/// Fails with a text unless the condition holds.
pub fn ensure(is_so: bool, otherwise: &str) -> Result<(), Failure> {
    if is_so { Ok(()) } else { Err(otherwise.into()) }
}

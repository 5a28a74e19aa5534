//! Every case once more without types of our own: by the description alone, as JSON.
//!
//! Our server gives the case out, the peer's echoes it, and our server says what is wrong with what
//! came back. So no value is known here.

use crate::Failure;
use crate::report::{Report, ensure};
use deltasoap::soap::Version;
use deltasoap_cases::{Exchange, Kind, Visitor};
use deltasoap_dynamic::DynamicClient;
use serde_json::json;

/// The same service at two places.
pub struct Pair {
    ours: DynamicClient,
    theirs: DynamicClient,
}

/// Kinds, features and names of cases.
#[derive(Default)]
pub struct Names(Vec<(&'static str, &'static str, &'static str)>);

impl Names {
    /// Those that a function visits.
    pub fn of(visit: impl FnOnce(&mut Self)) -> Self {
        let mut names = Self::default();
        visit(&mut names);
        names
    }
}

impl Visitor for Names {
    /// Large arrays are left out: what is in them is in others. So are those with items left out:
    /// of which type of ours the others are is not in the description.
    fn visit<E: Exchange>(&mut self) {
        if !matches!(E::Kind::FEATURE, "large" | "sparse") {
            self.0.extend(E::Kind::CASES.iter().map(|(name, _)| (E::Kind::NAME, E::Kind::FEATURE, *name)));
        }
    }
}

impl Pair {
    /// Imports the description from our server.
    pub async fn new(ours: &str, theirs: &str, version: Version) -> Result<Self, Failure> {
        let ours = DynamicClient::from_wsdl(format!("{ours}?wsdl")).await?.version(version);
        let theirs = DynamicClient::new(ours.contract().clone()).version(version).endpoint(theirs);
        Ok(Pair { ours, theirs })
    }

    /// Tests all cases of a style, `literal` or `encoded`.
    pub async fn test(&self, style: &str, names: Names, report: &Report) {
        for (kind, feature, name) in names.0 {
            report.dynamic_case(&format!("{style} {feature}"), name, self.echo(kind, name)).await;
        }
    }

    async fn echo(&self, kind: &str, name: &str) -> Result<(), Failure> {
        let sampled = self.ours.call(&format!("sample{kind}"), &json!({ "case": name })).await?;
        let echoed = self.theirs.call(&format!("echo{kind}"), &sampled).await?;
        let claim = json!({ "case": name, "value": echoed["value"] });
        let checked = self.ours.call(&format!("check{kind}"), &claim).await?;
        let problem = checked["problem"].as_str().ok_or("no answer on what is wrong")?;
        ensure(problem.is_empty(), problem)
    }
}

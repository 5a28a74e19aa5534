//! Every case a second time, without types of ours: with the WSDL alone, as JSON.
//!
//! Our server returns the case, the peer's echoes it, and our server checks the result. So no
//! values are needed here.

use crate::Failure;
use crate::report::{Report, ensure};
use deltasoap::soap::Version;
use deltasoap_cases::{Exchange, Kind, Visitor};
use deltasoap_dynamic::DynamicClient;
use serde_json::json;

/// Two servers of the same service.
pub struct Pair {
    ours: DynamicClient,
    theirs: DynamicClient,
}

/// Kinds, features and names of cases.
#[derive(Default)]
pub struct Names(Vec<(&'static str, &'static str, &'static str)>);

impl Names {
    /// Collects the cases that a function visits.
    pub fn of(visit: impl FnOnce(&mut Self)) -> Self {
        let mut names = Self::default();
        visit(&mut names);
        names
    }
}

impl Visitor for Names {
    /// Large arrays are left out, since other cases have the same content. Arrays with omitted
    /// items are left out too: the WSDL does not give our types for them.
    fn visit<E: Exchange>(&mut self) {
        if !matches!(E::Kind::FEATURE, "large" | "sparse") {
            self.0.extend(E::Kind::CASES.iter().map(|(name, _)| (E::Kind::NAME, E::Kind::FEATURE, *name)));
        }
    }
}

impl Pair {
    /// Imports the WSDL from our server.
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
        let problem = checked["problem"].as_str().ok_or("no result of the check")?;
        ensure(problem.is_empty(), problem)
    }
}

//! The report in JUnit's XML, as continuous integration reads it: a suite for each operation, with a
//! test case for each check.

use crate::files;
use crate::output::with_causes;
use anyhow::{Context as _, Result, anyhow};
use deltasoap_dynamic::testing::{Check, Finding, Report, Severity, Stop, Tested};
use quick_junit::{NonSuccessKind, Report as Junit, TestCase, TestCaseStatus, TestSuite};
use std::path::Path;

/// Writes the report, and creates its directory.
pub fn write(result: &Report, path: &Path) -> Result<()> {
    let text = text(result).map_err(|error| anyhow!("the JUnit report cannot be made: {}", with_causes(&error)))?;
    let written =
        path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| files::write(path, text.as_bytes()));
    written.with_context(|| format!("{} cannot be written", path.display()))
}

fn text(result: &Report) -> Result<String, quick_junit::SerializeError> {
    let mut junit = Junit::new("deltasoap test");
    for tested in &result.operations {
        let mut suite = TestSuite::new(tested.operation.as_str());
        suite.add_property(("seed", result.seed.to_string().as_str()));
        match &tested.skipped {
            Some(reason) => {
                let mut status = TestCaseStatus::skipped();
                status.set_message(reason.as_str());
                suite.add_test_case(case(tested, "requests", status));
            }
            None => {
                suite.add_test_cases(tested.tallies.keys().map(|&check| checked(result, tested, check)));
            }
        }
        junit.add_test_suite(suite);
    }
    if let Some(reason) = result.stop.as_ref().and_then(stopped) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(reason);
        let mut suite = TestSuite::new("service");
        suite.add_test_case(TestCase::new("answers", status));
        junit.add_test_suite(suite);
    }
    junit.to_string()
}

fn case(tested: &Tested, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(tested.operation.as_str());
    case
}

fn checked(result: &Report, tested: &Tested, check: Check) -> TestCase {
    let is_it = |it: &&Finding| it.operation == tested.operation && it.check == check;
    let found: Vec<_> = result.findings.iter().filter(is_it).collect();
    let failures: Vec<_> = found.iter().filter(|it| it.severity == Severity::Failure).copied().collect();
    let Some(first) = failures.first() else {
        let mut case = case(tested, check.name(), TestCaseStatus::success());
        if !found.is_empty() {
            let warnings: Vec<_> = found.iter().map(|it| format!("warning: {}", described(it))).collect();
            case.set_system_out(warnings.join("\n\n"));
        }
        return case;
    };
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(first.reason.as_str()).set_type(check.name());
    status.set_description(failures.iter().map(|it| described(it)).collect::<Vec<_>>().join("\n\n"));
    case(tested, check.name(), status)
}

/// Describes a finding: what, why, and the request.
fn described(finding: &Finding) -> String {
    let request = String::from_utf8_lossy(&finding.request);
    format!("{}\n{}\ncase {}\n{request}", finding.what, finding.reason, finding.case)
}

/// Returns why the test ended early, if that is an error.
fn stopped(stop: &Stop) -> Option<String> {
    match stop {
        Stop::Unreachable(reason) => Some(format!("the service does not answer: {reason}")),
        Stop::Unreadable(reason) => Some(format!("the service answers, but its answer cannot be read: {reason}")),
        Stop::Denied(status) => Some(format!("the service refuses the credentials: HTTP status {status}")),
        Stop::Dead | Stop::Time => None,
    }
}

//! The report as text and as JSON.

use super::{Service, again, failed};
use crate::cli::Test;
use crate::output::{one_line, print_line};
use anyhow::Result;
use deltasoap_dynamic::testing::{Finding, Form, Outcome, Report, Severity, Stop, Tested};
use serde_json::{Value as Json, json};

/// Maximum number of characters of a request and of an answer.
const MAX_SHOWN: usize = 2_000;
/// Maximum number of warnings in the text output.
const MAX_WARNINGS: usize = 50;

/// Prints tables, findings, and how to see each of them again.
pub fn text(arguments: &Test, result: &Report, services: &[Service]) -> Result<()> {
    print_operations(result)?;
    for (number, finding) in result.findings.iter().enumerate().filter(|(_, it)| it.severity == Severity::Failure) {
        print_line("")?;
        print_finding(arguments, result, services, (number + 1, finding))?;
    }
    print_warnings(result)?;
    print_line("")?;
    match &result.stop {
        Some(Stop::Unreachable(reason)) => {
            print_line(format_args!("the service does not answer: {}", one_line(reason)))?;
        }
        Some(Stop::Unreadable(reason)) => {
            print_line(format_args!("the service answers, but its answer cannot be read: {}", one_line(reason)))?;
        }
        Some(Stop::Denied(status)) => {
            print_line(format_args!(
                "the service refuses access (HTTP status {status}): -u, -H and --wsse-user take credentials"
            ))?;
        }
        Some(Stop::Dead) => print_line("the test ended early: the service no longer answers")?,
        Some(Stop::Time) => print_line("the test ended early: the time of --max-time is over")?,
        None => {}
    }
    print_line(summary(result))
}

/// Prints what was sent to each operation, and the checks that failed.
fn print_operations(result: &Report) -> Result<()> {
    let headings = ["operation", "valid", "invalid", "failures", "warnings"].map(str::to_owned);
    let mut rows = vec![headings];
    for tested in &result.operations {
        let count = |severity| {
            let of = |it: &&Finding| it.operation == tested.operation && it.severity == severity;
            result.findings.iter().filter(of).count().to_string()
        };
        rows.push([
            one_line(&tested.operation),
            tested.valid.to_string(),
            (tested.cases - tested.valid).to_string(),
            count(Severity::Failure),
            count(Severity::Warning),
        ]);
    }
    print_table(&rows)?;
    for tested in &result.operations {
        if let Some(reason) = &tested.skipped {
            print_line(format_args!("{}: not tested: {}", one_line(&tested.operation), one_line(reason)))?;
        }
    }
    if result.operations.iter().any(|tested| failed(tested) > 0) {
        print_line("")?;
        print_checks(result)?;
    }
    Ok(())
}

/// Prints the checks that failed, by operation.
fn print_checks(result: &Report) -> Result<()> {
    let mut rows = vec![["operation", "check", "passed", "failed"].map(str::to_owned)];
    for tested in &result.operations {
        for (check, tally) in tested.tallies.iter().filter(|(_, tally)| tally.failed > 0) {
            let numbers = [tally.passed, tally.failed].map(|number| number.to_string());
            let [passed, failed] = numbers;
            rows.push([one_line(&tested.operation), check.name().to_owned(), passed, failed]);
        }
    }
    print_table(&rows)
}

/// Prints a table: the first column to the left, numbers to the right.
fn print_table<const N: usize>(rows: &[[String; N]]) -> Result<()> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    for row in rows {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let width = width(column);
            let is_number = rows.last().is_some_and(|row| row[column].chars().all(|c| c.is_ascii_digit()));
            if is_number && column > 0 { format!("{cell:>width$}") } else { format!("{cell:width$}") }
        });
        print_line(cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

fn print_finding(
    arguments: &Test,
    result: &Report,
    services: &[Service],
    (number, finding): (usize, &Finding),
) -> Result<()> {
    let severity = severity(finding);
    let place = format!("{}: {}", finding.operation, finding.what);
    print_line(format_args!("{number}. {severity}: {}: {}", finding.check, one_line(&place)))?;
    print_line(format_args!("   {}", one_line(&finding.reason)))?;
    if finding.count > 1 {
        print_line(format_args!("   {} cases fail in this way; this is the smallest request found", finding.count))?;
    }
    print_others(finding)?;
    if !finding.is_repeatable {
        print_line("   it did not fail again when it was sent again")?;
    }
    let form = if finding.form == Form::Plain { String::new() } else { format!(", with {}", finding.form) };
    print_line(format_args!("   request{form}:"))?;
    print_message(&finding.request)?;
    match &finding.outcome {
        Outcome::Answer(answer) => {
            let kind = if answer.content_type.is_empty() { "no content type" } else { &answer.content_type };
            print_line(format_args!("   answer: HTTP status {}, {}", answer.status, one_line(kind)))?;
            match answer.content_encoding.is_empty() {
                true => print_message(&answer.body)?,
                false => {
                    let (count, coding) = (answer.body.len(), one_line(&answer.content_encoding));
                    print_line(format_args!("     {count} bytes with Content-Encoding: {coding}"))?;
                }
            }
        }
        Outcome::Lost(reason) => print_line(format_args!("   no answer: {}", one_line(reason)))?,
        Outcome::Broken(reason) => {
            print_line(format_args!("   the answer cannot be read: {}", one_line(reason)))?;
        }
        Outcome::TimedOut(time) => print_line(format_args!("   no answer within {} s", time.as_secs_f32()))?,
    }
    if let Some(curl) = again::curl(arguments, services, number, finding) {
        print_line(format_args!("   {}", one_line(&curl)))?;
    }
    if arguments.replay.is_none() {
        print_line(format_args!("   {}", one_line(&again::case(arguments, result, finding))))?;
    }
    Ok(())
}

/// Prints a line for each warning.
fn print_warnings(result: &Report) -> Result<()> {
    let warnings = || result.findings.iter().enumerate().filter(|(_, it)| it.severity == Severity::Warning);
    if warnings().next().is_some() {
        print_line("")?;
    }
    for (number, finding) in warnings().take(MAX_WARNINGS) {
        let place = format!("{}: {}: {}", finding.operation, finding.what, finding.reason);
        print_line(format_args!("{}. warning: {}: {}", number + 1, finding.check, one_line(&place)))?;
        print_others(finding)?;
    }
    match warnings().count().saturating_sub(MAX_WARNINGS) {
        0 => Ok(()),
        more => print_line(format_args!("{more} more warnings; --json shows all")),
    }
}

/// Prints how many other operations fail in the same way.
fn print_others(finding: &Finding) -> Result<()> {
    const MAX_NAMES: usize = 3;
    let names = |count| one_line(&finding.others.iter().take(count).cloned().collect::<Vec<_>>().join(", "));
    match finding.others.len() {
        0 => Ok(()),
        count if count <= MAX_NAMES => print_line(format_args!("   also {}", names(count))),
        count => print_line(format_args!("   also {} and {} more operations", names(MAX_NAMES), count - MAX_NAMES)),
    }
}

fn severity(finding: &Finding) -> &'static str {
    match finding.severity {
        Severity::Failure => "failure",
        Severity::Warning => "warning",
    }
}

/// Prints a message, indented, and cut if it is long.
fn print_message(message: &[u8]) -> Result<()> {
    let text = String::from_utf8_lossy(message);
    let (text, rest) = match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => (&text[..end], text.len() - end),
        None => (&*text, 0),
    };
    for line in text.lines() {
        print_line(format_args!("     {line}"))?;
    }
    if rest > 0 {
        print_line(format_args!("     … {rest} more bytes"))?;
    }
    Ok(())
}

fn summary(result: &Report) -> String {
    let count = |severity| result.findings.iter().filter(|it| it.severity == severity).count();
    let plural = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let cases: u32 = result.operations.iter().map(|it| it.cases).sum();
    format!(
        "{}, {}, {}; {}, {}; seed {}",
        plural(result.operations.len(), "operation"),
        plural(cases as usize, "case"),
        plural(result.requests as usize, "request"),
        plural(count(Severity::Failure), "failure"),
        plural(count(Severity::Warning), "warning"),
        result.seed
    )
}

/// Returns the report as JSON.
pub fn as_json(result: &Report) -> Json {
    json!({
        "seed": result.seed,
        "requests": result.requests,
        "stopped": result.stop.as_ref().map(stopped),
        "operations": result.operations.iter().map(operation_as_json).collect::<Vec<_>>(),
        "findings": result.findings.iter().map(finding_as_json).collect::<Vec<_>>(),
    })
}

fn stopped(stop: &Stop) -> Json {
    match stop {
        Stop::Unreachable(reason) => json!({ "why": "unreachable", "reason": reason }),
        Stop::Unreadable(reason) => json!({ "why": "unreadable", "reason": reason }),
        Stop::Denied(status) => json!({ "why": "denied", "status": status }),
        Stop::Dead => json!({ "why": "dead" }),
        Stop::Time => json!({ "why": "time" }),
    }
}

fn operation_as_json(tested: &Tested) -> Json {
    let checks: serde_json::Map<_, _> = tested
        .tallies
        .iter()
        .map(|(check, tally)| (check.name().to_owned(), json!({ "passed": tally.passed, "failed": tally.failed })))
        .collect();
    json!({
        "operation": tested.operation,
        "valid": tested.valid,
        "invalid": tested.cases - tested.valid,
        "skipped": tested.skipped,
        "checks": checks,
    })
}

fn finding_as_json(finding: &Finding) -> Json {
    let answer = match &finding.outcome {
        Outcome::Answer(answer) => json!({
            "status": answer.status,
            "content_type": answer.content_type,
            "milliseconds": answer.time.as_millis() as u64,
            "body": String::from_utf8_lossy(&answer.body),
        }),
        Outcome::Lost(reason) => json!({ "lost": reason }),
        Outcome::Broken(reason) => json!({ "broken": reason }),
        Outcome::TimedOut(time) => json!({ "timed_out": time.as_secs_f64() }),
    };
    json!({
        "operation": finding.operation,
        "check": finding.check.name(),
        "severity": severity(finding),
        "kind": finding.kind.name(),
        "what": finding.what,
        "case": finding.case,
        "cases": finding.count,
        "others": finding.others,
        "repeatable": finding.is_repeatable,
        "reason": finding.reason,
        "form": finding.form.name(),
        "request": String::from_utf8_lossy(&finding.request),
        "answer": answer,
    })
}

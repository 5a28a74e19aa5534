//! Failing requests as files: the message in XML, and a file of JSON that says what it is.

use super::{Service, settings, tester};
use crate::cli::Test;
use crate::files;
use crate::output::report;
use anyhow::{Context as _, Result, bail};
use deltasoap_dynamic::testing::{Check, Finding, Form, Kind, Report, Tally, Tested};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What a saved message is.
#[derive(Debug, Serialize, Deserialize)]
struct Saved {
    /// The file of the message.
    request: String,
    operation: String,
    check: String,
    kind: String,
    form: String,
    what: String,
    reason: String,
    seed: u64,
    case: u32,
}

/// Writes the requests of all findings, in the place of those of earlier runs. Other files stay.
pub fn save(result: &Report, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    clear(folder)?;
    for (number, finding) in result.findings.iter().enumerate() {
        let name = file_name(number + 1, finding);
        let saved = Saved {
            request: format!("{name}.xml"),
            operation: finding.operation.clone(),
            check: finding.check.name().to_owned(),
            kind: finding.kind.name().to_owned(),
            form: finding.form.name().to_owned(),
            what: finding.what.clone(),
            reason: finding.reason.clone(),
            seed: result.seed,
            case: finding.case,
        };
        let json = serde_json::to_vec_pretty(&saved)?;
        for (path, content) in [(format!("{name}.xml"), &finding.request), (format!("{name}.json"), &json)] {
            let path = folder.join(path);
            files::write(&path, content).with_context(|| format!("{} cannot be written", path.display()))?;
        }
    }
    Ok(())
}

/// Removes what an earlier run wrote: descriptions together with the requests of the same name.
fn clear(folder: &Path) -> Result<()> {
    for path in descriptions(folder)? {
        let Some(stem) = path.file_stem().map(|it| it.to_string_lossy().into_owned()) else { continue };
        let saved = files::read_text(&path).ok().and_then(|text| serde_json::from_str::<Saved>(&text).ok());
        if saved.is_none_or(|saved| saved.request != format!("{stem}.xml")) {
            continue;
        }
        for path in [path.with_extension("xml"), path] {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("{} cannot be removed", path.display()));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Returns the name of a finding's files, without its extension.
pub fn file_name(number: usize, finding: &Finding) -> String {
    let operation = finding.operation.rsplit('.').next().unwrap_or_default();
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let operation: String = operation.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    format!("{number}-{operation}-{}", finding.check)
}

/// Sends the saved requests again. The result has a finding for each that still fails the check that
/// it failed before, or has no answer.
pub async fn replay(arguments: &Test, services: &[Service], folder: &Path) -> Result<Report> {
    let all = read(folder)?;
    if all.is_empty() {
        bail!("{} holds no saved requests", folder.display());
    }
    let checks = settings(arguments).checks;
    let mut result = Report { seed: arguments.seed, ..Report::default() };
    let mut contacted: Vec<&str> = Vec::new();
    for (saved, request) in all {
        let known = services.iter().find_map(|service| {
            Some((service, service.operations.iter().find(|it| it.full_name() == saved.operation)?))
        });
        let Some((service, operation)) = known else {
            report(format_args!("note: {} is not among the operations that are tested", saved.operation));
            continue;
        };
        let kind =
            Kind::named(&saved.kind).with_context(|| format!("{}: there is no kind {}", saved.request, saved.kind))?;
        let form =
            Form::named(&saved.form).with_context(|| format!("{}: there is no form {}", saved.request, saved.form))?;
        let check = Check::named(&saved.check);
        let check = check.with_context(|| format!("{}: there is no check {}", saved.request, saved.check))?;
        if !checks.has(check) {
            report(format_args!("note: {}: the check {check} is not made", saved.request));
            continue;
        }
        let tester = tester(arguments, service)?;
        if !contacted.contains(&&*service.url) {
            contacted.push(&service.url);
            result.stop = tester.contact(operation).await;
            if result.stop.is_some() {
                return Ok(result);
            }
        }
        let failing = tester.replay(operation, check, kind, &request, form).await;
        let check = failing.as_ref().map_or(check, |finding| finding.check);
        note(&mut result, operation.full_name(), check, kind, failing.is_some());
        result.findings.extend(failing.map(|mut finding| {
            (finding.what, finding.case) = (saved.what, saved.case);
            finding
        }));
    }
    if result.requests == 0 {
        bail!("no request in {} is for the operations and checks that are selected", folder.display());
    }
    Ok(result)
}

fn note(result: &mut Report, operation: String, check: Check, kind: Kind, fails: bool) {
    result.requests += 1;
    let position = result.operations.iter().position(|it| it.operation == operation);
    let position = position.unwrap_or_else(|| {
        result.operations.push(Tested { operation, ..Tested::default() });
        result.operations.len() - 1
    });
    let tested = &mut result.operations[position];
    tested.cases += 1;
    tested.valid += u32::from(kind.is_valid());
    let tally: &mut Tally = tested.tallies.entry(check).or_default();
    tally.failed += u32::from(fails);
    tally.passed += u32::from(!fails);
}

/// Returns the files that may describe saved requests, in the order of their names.
fn descriptions(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut paths = entries.map(|entry| entry.map(|it| it.path())).collect::<Result<Vec<_>, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    alphanumeric_sort::sort_path_slice(&mut paths);
    Ok(paths)
}

/// Reads the saved requests, in the order of their names.
fn read(folder: &Path) -> Result<Vec<(Saved, Vec<u8>)>> {
    let mut all = Vec::new();
    for path in descriptions(folder)? {
        let text = files::read_text(&path)?;
        let saved: Saved =
            serde_json::from_str(&text).with_context(|| format!("{} does not describe a request", path.display()))?;
        // The file is next to its description, whatever the name says.
        let name = Path::new(&saved.request).file_name().unwrap_or_default();
        let request = files::read(&folder.join(name))?;
        all.push((saved, request));
    }
    Ok(all)
}

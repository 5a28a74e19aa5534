//! `diff`: what changed between two WSDLs, and whom it breaks.

use super::{INTERPRETATION_NOTES, contract_of, report_notes};
use crate::cli::{Diff as Arguments, FailOn, Party};
use crate::files;
use crate::output::{one_line, print_json, print_line, report, with_causes};
use anyhow::{Context as _, Result};
use deltasoap_dynamic::Contract;
use deltasoap_dynamic::diff::{Change, Diff, Place, Side, Verdict, Witness};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::process::ExitCode;

/// Exit code if a WSDL cannot be loaded: neither 0 nor 1 would be true.
const NOT_COMPARED: u8 = 2;
/// Maximum number of characters of a message in the text output.
const MAX_SHOWN: usize = 160;
/// Maximum number of places of a change that are shown in the text output.
const MAX_PLACES: usize = 3;

/// Compares two WSDLs. Fails if there are changes that the arguments ask about.
pub fn diff(arguments: &Arguments) -> Result<ExitCode> {
    let [old, new] = [&arguments.old, &arguments.new].map(|wsdl| contract_of(wsdl, &arguments.loading));
    let (old, new) = match (old, new) {
        (Ok(old), Ok(new)) => (old, new),
        (old, new) => {
            for error in [old.err(), new.err()].into_iter().flatten() {
                report(format_args!("error: {}", with_causes(error.as_ref())));
            }
            return Ok(ExitCode::from(NOT_COMPARED));
        }
    };
    for (wsdl, contract) in [(&arguments.old, &old), (&arguments.new, &new)] {
        warn(wsdl, contract);
    }
    let diff = old.diff(&new);
    if diff.is_cut {
        report("warning: there are more changes than are listed, or parts of messages were not compared");
    }
    if let Some(folder) = &arguments.witnesses {
        write_witnesses(&diff, folder)?;
    }
    match (arguments.json, arguments.markdown) {
        (true, _) => print_json(&as_json(&diff))?,
        (_, true) => print_markdown(&diff)?,
        _ => print_text(&diff)?,
    }
    Ok(if fails(&diff, arguments) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Reports what may make the comparison incomplete.
fn warn(wsdl: &str, contract: &Contract) {
    report_notes(contract, &INTERPRETATION_NOTES[..1]);
    if contract.operations().is_empty() {
        report(format_args!("warning: {wsdl} has no operations with a SOAP binding: there is nothing to compare"));
    }
}

/// Returns true if a change is one that the arguments ask about.
fn fails(diff: &Diff, arguments: &Arguments) -> bool {
    let is_asked = |verdict: &Verdict| match arguments.fail_on {
        FailOn::Breaking => verdict.is_breaking(),
        FailOn::Unknown => verdict.is_breaking() || verdict.is_unknown(),
        FailOn::Any => true,
        FailOn::Never => false,
    };
    let of_party = |change: &Change| match arguments.party {
        Party::Clients => is_asked(&change.clients),
        Party::Servers => is_asked(&change.servers),
        Party::All => is_asked(&change.clients) || is_asked(&change.servers),
    };
    diff.changes.iter().any(of_party)
}

/// Returns the verdicts of a change, each with whom it is about.
fn parties(change: &Change) -> [(&'static str, &Verdict); 2] {
    [("clients", &change.clients), ("servers", &change.servers)]
}

fn print_text(diff: &Diff) -> Result<()> {
    if diff.changes.is_empty() {
        return print_line("no changes that messages show");
    }
    let headings = ["place", "change", "clients", "servers"].map(str::to_owned);
    let rows: Vec<_> = diff.changes.iter().map(row).collect();
    let width = |column: usize| {
        let cells = rows.iter().chain([&headings]).map(|row| row[column].chars().count());
        cells.max().unwrap_or_default()
    };
    let widths = [0, 1, 2].map(width);
    let print = |[place, what, clients, servers]: &[String; 4]| {
        let [place_width, what_width, clients_width] = widths;
        print_line(format_args!("{place:place_width$}  {what:what_width$}  {clients:clients_width$}  {servers}"))
    };
    print(&headings)?;
    for (row, change) in rows.iter().zip(&diff.changes) {
        print(row)?;
        print_reasons(change)?;
    }
    print_line("")?;
    print_line(summary(diff))
}

fn row(change: &Change) -> [String; 4] {
    let shown = |text: String| one_line(&text);
    let texts = [change.place.to_string(), change.what.clone()].map(shown);
    let [place, what] = texts;
    [place, what, change.clients.to_string(), change.servers.to_string()]
}

/// Prints why verdicts are what they are, and where else the change is.
fn print_reasons(change: &Change) -> Result<()> {
    if !change.others.is_empty() {
        let places: Vec<_> = change.others.iter().take(MAX_PLACES).map(ToString::to_string).collect();
        let more = change.others.len().saturating_sub(MAX_PLACES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        print_line(format_args!("    also in {}{more}", one_line(&places.join(", "))))?;
    }
    for (party, verdict) in parties(change) {
        match verdict {
            Verdict::Safe => {}
            Verdict::Unknown(reason) => print_line(format_args!("    {party}: unknown: {}", one_line(reason)))?,
            Verdict::Breaking(witness) => {
                let Witness { refusal, valid_for, .. } = &**witness;
                let other = valid_for.other();
                print_line(format_args!("    {party}: the {other} WSDL refuses {}", shortened(witness)))?;
                print_line(format_args!("      {}", one_line(refusal)))?;
            }
        }
    }
    Ok(())
}

/// Returns the part of a message that matters, as one line.
fn shortened(witness: &Witness) -> String {
    let message = witness.message.as_str();
    let within = |tag: &&str| message.split_once(tag).map(|(_, rest)| rest).filter(|_| !witness.is_http());
    let inner = ["<soap:Header>", "<soap:Body>"].iter().find_map(within).unwrap_or(message);
    let body = inner.strip_suffix("</soap:Body></soap:Envelope>").unwrap_or(inner);
    let line = body.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Counts changes by verdict.
fn summary(diff: &Diff) -> String {
    let count = |of: fn(&Change) -> &Verdict, is: fn(&Verdict) -> bool| {
        diff.changes.iter().filter(|change| is(of(change))).count()
    };
    let party = |name: &str, of: fn(&Change) -> &Verdict| {
        let [breaking, unknown] = [Verdict::is_breaking, Verdict::is_unknown].map(|is| count(of, is));
        format!("{name}: {breaking} breaking, {unknown} unknown")
    };
    let changes = match diff.changes.len() {
        1 => "1 change".to_owned(),
        count => format!("{count} changes"),
    };
    format!("{changes}; {}; {}", party("clients", |it| &it.clients), party("servers", |it| &it.servers))
}

/// Prints a table and, below it, the messages: for a comment on a pull request.
fn print_markdown(diff: &Diff) -> Result<()> {
    if diff.changes.is_empty() {
        return print_line("No changes that messages show.");
    }
    print_line(format_args!("{}.\n", summary(diff)))?;
    print_line("| | place | change | clients | servers |\n|--:|---|---|---|---|")?;
    for (number, change) in diff.changes.iter().enumerate() {
        let [place, what, ..] = row(change).map(|text| cell(&text));
        let [clients, servers] = parties(change).map(|(_, verdict)| strong(verdict));
        print_line(format_args!("| {} | {place} | {what} | {clients} | {servers} |", number + 1))?;
    }
    for (number, change) in diff.changes.iter().enumerate() {
        print_details(number + 1, change)?;
    }
    Ok(())
}

fn print_details(number: usize, change: &Change) -> Result<()> {
    for (party, verdict) in parties(change) {
        match verdict {
            Verdict::Safe => {}
            Verdict::Unknown(reason) => {
                print_line(format_args!("\n{number}. {party}: unknown: {}", cell(&one_line(reason))))?;
            }
            Verdict::Breaking(witness) => {
                let Witness { message, valid_for, refusal } = &**witness;
                let (other, refusal) = (valid_for.other(), cell(&one_line(refusal)));
                print_line(format_args!("\n<details><summary>{number}. {party}: {refusal}</summary>\n"))?;
                print_line(format_args!("Valid by the {valid_for} WSDL, refused by the {other} one:\n"))?;
                let (fence, language) = (fence(message), if witness.is_http() { "http" } else { "xml" });
                print_line(format_args!("{fence}{language}\n{}\n{fence}\n\n</details>", message.replace('\r', "")))?;
            }
        }
    }
    Ok(())
}

/// Returns a fence that a text does not contain.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(longest.max(2) + 1)
}

/// Returns text as Markdown that shows it, within a cell of a table.
fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => cell.push_str("&lt;"),
            '&' => cell.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '\\' | '[' | ']' | '#' => cell.extend(['\\', character]),
            character => cell.push(character),
        }
    }
    cell
}

fn strong(verdict: &Verdict) -> String {
    if verdict.is_breaking() { format!("**{verdict}**") } else { verdict.to_string() }
}

fn as_json(diff: &Diff) -> Json {
    let verdict = |verdict: &Verdict| match verdict {
        Verdict::Safe => json!({ "verdict": "safe" }),
        Verdict::Unknown(reason) => json!({ "verdict": "unknown", "reason": reason }),
        Verdict::Breaking(witness) => json!({
            "verdict": "breaking",
            "valid_for": witness.valid_for.to_string(),
            "refused_by": witness.valid_for.other().to_string(),
            "refusal": witness.refusal,
            "message": witness.message,
        }),
    };
    let place = |place: &Place| {
        json!({
            "operation": place.operation,
            "message": place.message.as_ref().map(ToString::to_string),
            "path": place.path,
        })
    };
    let changes: Vec<_> = diff
        .changes
        .iter()
        .map(|change| {
            let mut json = place(&change.place);
            json["change"] = change.what.clone().into();
            json["clients"] = verdict(&change.clients);
            json["servers"] = verdict(&change.servers);
            json["also_in"] = change.others.iter().map(place).collect();
            json
        })
        .collect();
    json!({ "changes": changes, "is_cut": diff.is_cut })
}

/// Writes the messages as files, named by the number of the change, whom it breaks, and the WSDL
/// that the message is valid for.
fn write_witnesses(diff: &Diff, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for (number, change) in diff.changes.iter().enumerate() {
        for (party, verdict) in parties(change) {
            let Some(witness) = verdict.witness() else { continue };
            let valid_for = match witness.valid_for {
                Side::Old => "valid-for-old",
                Side::New => "valid-for-new",
            };
            let extension = if witness.is_http() { "http" } else { "xml" };
            let path = folder.join(format!("{}-{party}-{valid_for}.{extension}", number + 1));
            let written = files::write(&path, witness.message.as_bytes());
            written.with_context(|| format!("{} cannot be written", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text_in_markdown() {
        assert_eq!(cell("<a> | *b* `c`"), r"&lt;a> \| \*b\* \`c\`");
        assert_eq!(fence("a ``` b"), "````");
        assert_eq!(fence("a"), "```");
    }
}

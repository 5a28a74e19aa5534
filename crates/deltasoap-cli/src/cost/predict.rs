//! `cost predict`.

use super::tables::{percent, table, time};
use super::{calibration, check_changes, operations, sizes};
use crate::cli::cost::Predict;
use crate::output::{report, stderr, stdout};
use anyhow::{Context as _, Result, ensure};
use deltasoap_cost::predict::{Direction, MessageCost, Prediction, SizeKind, Sizes, predict, samples};
use deltasoap_cost::{Estimate, Model};
use deltasoap_dynamic::Operation;
use std::io::{self, BufRead as _, Write as _};

/// Predicts, and prints.
pub fn run(arguments: &Predict) -> Result<()> {
    let operations = operations(&arguments.messages)?;
    let model = Model::fit(&calibration(&arguments.calibrated)?)?;
    check_changes(&arguments.messages, &model)?;
    let mut printed = 0;
    for operation in &operations {
        let mut sizes = sizes(&arguments.messages)?;
        if arguments.ask {
            ask(operation, &mut sizes)?;
        }
        let predicted = predict(&model, operation, &sizes);
        let prediction = match predicted {
            // Operations that cannot be predicted are reported, and do not stop the others.
            Err(error) if operations.len() > 1 => {
                report(format_args!("{}: {error}", operation.full_name()));
                continue;
            }
            predicted => predicted.with_context(|| operation.full_name())?,
        };
        if arguments.json {
            writeln!(stdout(), "{}", serde_json::to_string(&prediction)?)?;
        } else {
            print(&prediction)?;
        }
        printed += 1;
    }
    ensure!(printed > 0, "nothing could be predicted");
    Ok(())
}

/// Asks for sizes that were not given; an empty line takes the default.
fn ask(operation: &Operation, sizes: &mut Sizes) -> Result<()> {
    let open: Vec<_> = samples(operation, sizes)?.into_iter().flat_map(|sample| sample.open).collect();
    let mut lines = io::stdin().lock().lines();
    for part in open.into_iter().filter(|part| part.is_assumed) {
        let (unit, sizes) = match part.kind {
            SizeKind::Length => ("items", &mut sizes.lengths),
            SizeKind::Text => ("characters", &mut sizes.texts),
        };
        let mut out = stderr();
        write!(out, "{}: {unit} of {} [{}] ", operation.name(), part.path, part.size)?;
        out.flush()?;
        let Some(line) = lines.next().transpose()? else { break };
        if !line.trim().is_empty() {
            sizes.insert(part.path, line.trim().parse().context("expected a number")?);
        }
    }
    Ok(())
}

fn print(prediction: &Prediction) -> Result<()> {
    let mut out = stdout();
    writeln!(out, "{}\n", prediction.operation)?;
    let headings = ["", "bytes", "values", "serialize", "serialize to socket", "deserialize"];
    writeln!(out, "{}\n", table(&headings, &prediction.messages.iter().map(row).collect::<Vec<_>>()))?;
    for message in &prediction.messages {
        print_parts(message)?;
    }
    Ok(())
}

fn name(message: &MessageCost) -> &'static str {
    match message.direction {
        Direction::Request => "request",
        Direction::Response => "response",
    }
}

fn row(message: &MessageCost) -> Vec<String> {
    let (bytes, leaves) = (message.bytes.to_string(), message.leaves.to_string());
    let send = message.send.map_or_else(|| "-".to_owned(), estimate);
    vec![name(message).to_owned(), bytes, leaves, estimate(message.serialize), send, estimate(message.deserialize)]
}

fn estimate(it: Estimate) -> String {
    format!("{} ({} to {})", time(it.cost), time(it.low()), time(it.high()))
}

fn print_parts(message: &MessageCost) -> Result<()> {
    let mut out = stdout();
    let part = |path: &str| if path.is_empty() { "(the message)".to_owned() } else { path.to_owned() };
    let cells = |it: &deltasoap_cost::predict::PartCost| {
        vec![part(&it.path), time(it.serialize), time(it.deserialize), percent(it.share)]
    };
    let rows: Vec<_> = message.parts.iter().map(cells).collect();
    let name = name(message);
    writeln!(out, "{}\n", table(&[name, "serialize", "deserialize", "share"], &rows))?;
    let assumed: Vec<_> = message.open.iter().filter(|it| it.is_assumed).collect();
    for (kind, option, unit) in [(SizeKind::Length, "--length", "items"), (SizeKind::Text, "--string", "characters")] {
        let of_kind: Vec<_> =
            assumed.iter().filter(|it| it.kind == kind).map(|it| format!("{}={}", it.path, it.size)).collect();
        if !of_kind.is_empty() {
            writeln!(out, "assumed {unit} in the {name} ({option}): {}\n", of_kind.join(" "))?;
        }
    }
    Ok(())
}

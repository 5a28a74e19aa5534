//! The jobs, in order.

use anyhow::Result;

use super::definition::{Change, Definition, LoadDefinition, Operation, Scope, Similarity};
use super::row::{Part, Subject};
use crate::definitions::Definitions;
use crate::send::{Action as Sent, Case};
use crate::stream::{Kind, Recipe};
use crate::workload::{Values, Workload};

/// A job, whose sessions alternate.
#[derive(Debug)]
pub struct Job<'d> {
    /// See [`super::row::Row::row`].
    pub row: String,
    /// The work.
    pub work: Work<'d>,
}

/// The work of a job.
#[derive(Debug)]
pub enum Work<'d> {
    /// A workload in one process.
    Process(&'d Workload, usize),
    /// Each toolkit's client calls its own server.
    Calls(&'d Operation, usize),
    /// A load on each server.
    Load(&'d LoadDefinition),
    /// An operation with and without gzip and TLS.
    Transport(&'d Operation, usize),
    /// Decoding of a stream, in one process.
    Decode(Recipe, &'d Similarity),
    /// Writing of messages through a template, in one process.
    Encode(Case, &'d Similarity),
    /// Calls with differential mode in some directions.
    Differential(&'d Operation, usize, &'d Similarity),
}

/// Returns all jobs of the parts; all parts if empty.
///
/// # Errors
/// When the definition has an unknown name.
pub fn jobs<'d>(
    definition: &'d Definition,
    definitions: &'d Definitions,
    scope: Scope,
    parts: &[Part],
) -> Result<Vec<Job<'d>>> {
    let is_asked = |part: Part| parts.is_empty() || parts.contains(&part);
    let mut works = Vec::new();
    if is_asked(Part::Process) {
        works.extend(process(definition, definitions, scope));
    }
    if is_asked(Part::Calls) {
        works.extend(calls(definition, scope));
    }
    if is_asked(Part::Load) {
        works.extend(definition.loads(scope).map(Work::Load));
    }
    if is_asked(Part::Transport) {
        works.extend(transports(definition, scope));
    }
    if is_asked(Part::Ablation) {
        works.extend(ablations(definition, scope)?);
    }
    let jobs = works.into_iter().map(|work| Job { row: work.row(), work });
    Ok(jobs.filter(|job| job.is_measured(definition)).collect())
}

fn process<'d>(definition: &Definition, definitions: &'d Definitions, scope: Scope) -> Vec<Work<'d>> {
    // Hints need calls.
    let workloads = || definitions.workloads.iter().filter(|workload| workload.sent.is_none());
    let of_size = |n| workloads().map(move |workload| Work::Process(workload, n));
    definition.sizes_in_process(scope).into_iter().flat_map(of_size).collect()
}

fn calls(definition: &Definition, scope: Scope) -> Vec<Work<'_>> {
    let of_operation = |operation: &'_ Operation| {
        let sizes = if operation.values.is_empty() { vec![0] } else { definition.sizes(scope).to_vec() };
        sizes.into_iter()
    };
    let operations = definition.operation.iter();
    operations.flat_map(|operation| of_operation(operation).map(move |n| Work::Calls(operation, n))).collect()
}

/// Returns the echoes with streams, the most interesting ones.
fn transports(definition: &Definition, scope: Scope) -> Vec<Work<'_>> {
    let operations = definition
        .operation
        .iter()
        .filter(|operation| ["echoVoid", "echoDoubles", "echoStrings"].contains(&&*operation.name));
    let sizes = match scope {
        Scope::Full => vec![1000, 100_000],
        Scope::Quick => vec![1000],
        Scope::Smoke => vec![definition.largest(scope)],
    };
    let of_operation = |operation: &'_ Operation| if operation.values.is_empty() { vec![0] } else { sizes.clone() };
    operations
        .flat_map(|operation| of_operation(operation).into_iter().map(move |n| Work::Transport(operation, n)))
        .collect()
}

fn ablations(definition: &Definition, scope: Scope) -> Result<Vec<Work<'_>>> {
    let mut works = Vec::new();
    for operation in &definition.operation {
        // The goals are about doubles; the rest takes time.
        let streams = definition.streams(operation)?;
        let is_measured = scope == Scope::Full || operation.name == "echoDoubles";
        let streams =
            streams.into_iter().filter(|_| is_measured).take(if scope == Scope::Smoke { 2 } else { usize::MAX });
        for similarity in streams {
            let n = definition.largest(scope);
            works.extend(in_process(operation, n, similarity));
            works.push(Work::Differential(operation, n, similarity));
        }
    }
    Ok(works)
}

/// Returns a stream of similar messages to decode, and one to encode, if they exist.
fn in_process<'d>(operation: &Operation, n: usize, similarity: &'d Similarity) -> Vec<Work<'d>> {
    let (kind, values) = match operation.items() {
        "Ints" => (Kind::Ints, Values::Ints),
        "Doubles" => (Kind::Hard, Values::Hard),
        "Strings" => (Kind::Strings, Values::Strings),
        "Mios" => (Kind::Structs, Values::Structs),
        _ => return vec![],
    };
    let (changed, clusters) = (similarity.changed, similarity.clusters);
    let recipe = |kind| Recipe { kind, n, percent: changed, partitions: clusters };
    let case = |action| Case { partitions: clusters, ..Case::new(action, values, n).changed(changed) };
    match similarity.change {
        Change::Values if changed == 0 => {
            vec![Work::Decode(recipe(kind), similarity), Work::Encode(case(Sent::ContentMatch), similarity)]
        }
        Change::Values => {
            vec![Work::Decode(recipe(kind), similarity), Work::Encode(case(Sent::Structural), similarity)]
        }
        Change::Longer => vec![Work::Decode(Recipe { partitions: 1, ..recipe(Kind::OneLonger) }, similarity)],
        Change::Insert => vec![Work::Decode(Recipe { partitions: 1, ..recipe(Kind::Insert) }, similarity)],
    }
}

impl Work<'_> {
    fn part(&self) -> Part {
        match self {
            Work::Process(..) => Part::Process,
            Work::Calls(..) => Part::Calls,
            Work::Load(..) => Part::Load,
            Work::Transport(..) => Part::Transport,
            Work::Decode(..) | Work::Encode(..) | Work::Differential(..) => Part::Ablation,
        }
    }

    fn row(&self) -> String {
        match self {
            Work::Process(workload, n) => format!("process/{}/{n}", workload.name),
            Work::Calls(operation, n) => format!("calls/{}/{n}", operation.name),
            Work::Load(load) => format!("load/{}/{load}", load.message),
            Work::Transport(operation, n) => format!("transport/{}/{n}", operation.name),
            Work::Decode(recipe, similarity) => {
                format!("ablation/decode-{:?}/{}/{}", recipe.kind, recipe.n, similarity.name)
            }
            Work::Encode(case, similarity) => {
                format!("ablation/encode-{:?}/{}/{}", case.values, case.n, similarity.name)
            }
            Work::Differential(operation, n, similarity) => {
                format!("ablation/{}/{n}/{}", operation.name, similarity.name)
            }
        }
    }
}

impl Job<'_> {
    /// Returns false for a size between the others that the paper does not show.
    fn is_measured(&self, definition: &Definition) -> bool {
        match self.work {
            Work::Process(_, n) | Work::Calls(_, n) => {
                let row = self.row.rsplit_once('/').map_or(&*self.row, |(row, _)| row);
                definition.has(row, n)
            }
            _ => true,
        }
    }

    /// Returns the subject of the job's rows.
    pub fn subject(&self) -> Subject<'_> {
        let (operation, values, n) = match &self.work {
            Work::Process(workload, n) => {
                (workload.name.split('-').next().unwrap_or_default(), values_name(workload.values), *n)
            }
            Work::Calls(operation, n) | Work::Transport(operation, n) | Work::Differential(operation, n, _) => {
                (&*operation.name, &*operation.values, *n)
            }
            Work::Load(load) => (load.operation(), "", load.items()),
            Work::Decode(recipe, _) => ("decode", kind_name(recipe.kind), recipe.n),
            Work::Encode(case, _) => ("encode", values_name(case.values), case.n),
        };
        Subject { row: &self.row, part: self.work.part(), operation, values, n, similarity: self.similarity() }
    }

    fn similarity(&self) -> Option<&str> {
        match &self.work {
            Work::Decode(_, similarity) | Work::Encode(_, similarity) | Work::Differential(_, _, similarity) => {
                Some(&similarity.name)
            }
            _ => None,
        }
    }
}

/// Returns the name of values in workloads.
fn values_name(values: Values) -> &'static str {
    match values {
        Values::Ints => "ints",
        Values::Easy => "easy",
        Values::Hard => "hard",
        Values::Strings => "strings",
        Values::Structs => "structs",
        Values::Events => "events",
        Values::Base64 => "base64",
        Values::Doubles64 => "doubles64",
        Values::Encoded => "encoded",
        Values::Repeated => "repeated",
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Ints => "ints",
        Kind::Strings => "strings",
        Kind::Structs => "structs",
        _ => "hard",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn rows(scope: Scope, parts: &[Part]) -> Vec<String> {
        let (definition, definitions) = (Definition::load().unwrap(), Definitions::load().unwrap());
        let jobs = jobs(&definition, &definitions, scope, parts).unwrap();
        jobs.into_iter().map(|job| job.row).collect()
    }

    #[test]
    fn every_piece_of_work_has_a_name_of_its_own() {
        for scope in [Scope::Full, Scope::Quick, Scope::Smoke] {
            let rows = rows(scope, &[]);
            assert_eq!(rows.iter().collect::<HashSet<_>>().len(), rows.len());
        }
    }

    #[test]
    fn what_is_asked_for_is_done() {
        let all = rows(Scope::Full, &[]);
        for row in [
            "process/decode-hard/100000",
            "calls/echoVoid/0",
            "calls/receiveEvents/10",
            "load/echoDoubles:100/open, 500 requests/s, 64 connections",
            "transport/echoDoubles/100000",
            "ablation/decode-Hard/100000/5 % changed",
            "ablation/encode-Hard/100000/identical",
            "ablation/echoDoubles/100000/100 % changed",
        ] {
            assert!(all.iter().any(|known| known == row), "{row}");
        }
        assert!(rows(Scope::Quick, &[Part::Load]).iter().all(|row| row.starts_with("load/")));
        assert!(rows(Scope::Smoke, &[]).len() < 160);
        let all_sizes = |work: &str| all.iter().filter(|row| row.starts_with(work)).count();
        assert_eq!((all_sizes("calls/echoDoubles/"), all_sizes("calls/echoMios/")), (7, 5));
        assert_eq!((all_sizes("process/decode-hard/"), all_sizes("process/decode-structs/")), (5, 3));
    }
}

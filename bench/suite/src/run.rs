//! `run`: every workload in every size, with alternating engines; then similar messages to decode
//! and to send, with alternating modes.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};

use crate::definitions::{Definitions, Selection, SendWorkload, StreamWorkload, peers_folder};
use crate::engine::{Deltasoap, Engine, Peer, Session};
use crate::environment::Environment;
use crate::measure::{self, ROUNDS, SampleSize};
use crate::options::RunArguments;
use crate::report::{self, Row};
use crate::send::{self, Case};
use crate::similar::{self, Outcome};
use crate::socket::Sink;
use crate::stream::Recipe;
use crate::workload::{Layer, PeerDefinition, Workload};

/// Measures and reports what the arguments select.
///
/// # Errors
/// When an argument has an unknown name, or an engine fails or gives a wrong result.
pub fn run(arguments: &RunArguments, definitions: &Definitions) -> Result<ExitCode> {
    let Selection { workloads, streams, sends } = definitions.select(&arguments.workloads)?;
    let environment = Environment::prepare();
    if let Some(warning) = environment.warning() {
        eprintln!("{warning}");
    }
    let is_ours_asked = arguments.engines.iter().any(|engine| engine == OURS || engine == ALL);
    let (streams, sends) = if is_ours_asked { (streams, sends) } else { (vec![], vec![]) };
    let (recipes, cases) = (recipes(arguments, &streams), cases(arguments, &sends));
    let steps = workloads.len() * arguments.sizes.len() + recipes.len() + cases.len();
    let mut bench = Bench::new(arguments, definitions, steps)?;
    let mut rows = Vec::new();
    for workload in workloads {
        for &n in &arguments.sizes {
            let group = bench.group(workload, n)?;
            if arguments.json {
                bench.progress.suspend(|| report::print_json(&group))?;
            }
            rows.extend(group);
        }
    }
    let mut outcomes = Vec::new();
    for (name, recipe) in recipes {
        let outcome = bench.stream(arguments, name, recipe)?;
        if arguments.json {
            bench.progress.suspend(|| report::print_stream_json(name, &outcome, &arguments.differential))?;
        }
        outcomes.push((name, outcome));
    }
    let sent = bench.all_sent(arguments, cases)?;
    bench.progress.finish_and_clear();
    if !arguments.json {
        println!("{environment}");
        print_tables(&rows, &outcomes, arguments, definitions);
        if !sent.is_empty() {
            println!("{}", report::send_table(&sent));
        }
    }
    Ok(if arguments.json && bench.is_missing_one() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print_tables(rows: &[Row<'_>], outcomes: &[(&str, Outcome)], arguments: &RunArguments, definitions: &Definitions) {
    let (soap, xml) = layers(rows, definitions);
    if !soap.is_empty() {
        println!("{}", report::table(&soap, arguments.chunk));
    }
    if !xml.is_empty() {
        println!("XML libraries only:\n{}", report::table(&xml, arguments.chunk));
    }
    if !outcomes.is_empty() {
        println!("{}", report::stream_table(outcomes));
    }
}

/// Splits rows into those of SOAP toolkits and those of XML libraries; ours and the reference are
/// in both, unless there is no library.
fn layers<'w>(rows: &[Row<'w>], definitions: &Definitions) -> (Vec<Row<'w>>, Vec<Row<'w>>) {
    let layer = |row: &Row<'_>| {
        let peer = definitions.peers.iter().find(|peer| peer.name == row.engine);
        peer.map_or(Layer::Soap, |peer| peer.layer)
    };
    let is_in_both = |row: &Row<'_>| [OURS, report::REFERENCE].contains(&&*row.engine);
    let of = |wanted: Layer| rows.iter().filter(move |row| layer(row) == wanted || is_in_both(row)).cloned().collect();
    let has_library = rows.iter().any(|row| layer(row) == Layer::Xml);
    (of(Layer::Soap), if has_library { of(Layer::Xml) } else { Vec::new() })
}

/// Returns the selected streams, each with the name of its workload.
fn recipes<'w>(arguments: &RunArguments, streams: &[&'w StreamWorkload]) -> Vec<(&'w str, Recipe)> {
    let partitions: Vec<usize> = arguments.partitions.iter().copied().map(usize::from).collect();
    let of = |stream: &&'w StreamWorkload| {
        let changed = if arguments.changed.is_empty() { &[25][..] } else { &arguments.changed };
        let recipes = similar::recipes(stream.stream, &arguments.sizes, changed, &partitions);
        let name = &*stream.name;
        recipes.into_iter().map(move |recipe| (name, recipe))
    };
    streams.iter().flat_map(of).collect()
}

/// Returns the cases of messages to send, each with the name of its workload.
fn cases<'w>(arguments: &RunArguments, sends: &[&'w SendWorkload]) -> Vec<(&'w str, Case)> {
    let of = |workload: &&'w SendWorkload| {
        let name = &*workload.name;
        send::cases(workload.send, &workload.values, arguments).into_iter().map(move |case| (name, case))
    };
    sends.iter().flat_map(of).collect()
}

/// The engines, and how they are measured.
struct Bench {
    engines: Vec<Slot>,
    sample_size: SampleSize,
    progress: ProgressBar,
}

/// A selected engine.
enum Slot {
    Ready(Box<dyn Engine>),
    Missing {
        name: String,
        reason: String,
        /// True if it was selected by name, not by `all`.
        is_named: bool,
    },
}

/// A session, or the reason why there is none.
type Opened<'a> = Result<Box<dyn Session + 'a>, String>;

impl Slot {
    /// Returns the engine's name, and a session or the reason why there is none.
    fn open(&mut self, workload: &Workload, n: usize) -> Result<(String, Opened<'_>)> {
        Ok(match self {
            Slot::Missing { name, reason, .. } => (name.clone(), Err(reason.clone())),
            Slot::Ready(engine) if !engine.offers(workload) => {
                (engine.name().to_owned(), Err("not offered".to_owned()))
            }
            Slot::Ready(engine) => (engine.name().to_owned(), Ok(engine.prepare(workload, n)?)),
        })
    }
}

impl Bench {
    fn new(arguments: &RunArguments, definitions: &Definitions, groups: usize) -> Result<Self> {
        let engines = open_engines(arguments, definitions)?;
        let sample_size = SampleSize { runs: arguments.runs.into(), time: arguments.seconds };
        let progress = ProgressBar::new((groups * ROUNDS) as u64);
        progress.set_style(ProgressStyle::with_template("{msg:24} {bar:40} {eta}")?);
        Ok(Bench { engines, sample_size, progress })
    }

    /// Measures one workload in one size.
    fn group<'w>(&mut self, workload: &'w Workload, n: usize) -> Result<Vec<Row<'w>>> {
        self.progress.set_message(format!("{} {n}", workload.name));
        let mut names = Vec::new();
        let mut sessions = Vec::new();
        for slot in &mut self.engines {
            let (name, session) = slot.open(workload, n)?;
            names.push((name, session.as_ref().err().cloned()));
            sessions.extend(session);
        }
        let mut figures = measure::measure(&mut sessions, self.sample_size, || self.progress.inc(1))?.into_iter();
        let mut outcome = |reason| match reason {
            Some(reason) => Err(reason),
            None => figures.next().ok_or_else(String::new),
        };
        Ok(names.into_iter().map(|(engine, reason)| Row { workload, engine, n, outcome: outcome(reason) }).collect())
    }

    /// Measures one stream.
    fn stream(&mut self, arguments: &RunArguments, name: &str, recipe: Recipe) -> Result<Outcome> {
        self.progress.set_message(format!("{name} {}", recipe.n));
        let differential = arguments.differential.differential();
        similar::run(recipe, differential, arguments.chunk, self.sample_size, || self.progress.inc(1))
    }

    /// Measures sending.
    fn all_sent<'w>(
        &mut self,
        arguments: &RunArguments,
        cases: Vec<(&'w str, Case)>,
    ) -> Result<Vec<(&'w str, send::Outcome)>> {
        let sink = if arguments.send.socket { Some(Sink::start()?) } else { None };
        let server = sink.as_ref().map(Sink::address);
        let mut outcomes = Vec::new();
        for (name, case) in cases {
            self.progress.set_message(format!("{name} {}", case.n));
            let outcome = send::run(case, &case.modes(), server, self.sample_size, || self.progress.inc(1))?;
            if arguments.json {
                self.progress.suspend(|| report::print_send_json(name, &outcome, server.is_some()))?;
            }
            outcomes.push((name, outcome));
        }
        Ok(outcomes)
    }

    fn is_missing_one(&self) -> bool {
        self.engines.iter().any(|slot| matches!(slot, Slot::Missing { is_named: true, .. }))
    }
}

/// Opens the selected engines, each once.
fn open_engines(arguments: &RunArguments, definitions: &Definitions) -> Result<Vec<Slot>> {
    let known: Vec<&str> = std::iter::once(OURS).chain(definitions.peers.iter().map(|peer| &*peer.name)).collect();
    if let Some(unknown) = arguments.engines.iter().find(|name| *name != ALL && !known.contains(&name.as_str())) {
        bail!("no engine is named {unknown:?}; there are {}, and `{ALL}` for all of them", known.join(", "));
    }
    let is_named = |name: &str| arguments.engines.iter().any(|asked| asked == name);
    let is_asked = |name: &str| is_named(name) || is_named(ALL);
    let mut engines = Vec::new();
    if is_asked(OURS) {
        engines.push(Slot::Ready(Box::new(Deltasoap { chunk: arguments.chunk })));
    }
    let folder = arguments.peers.clone().unwrap_or_else(peers_folder);
    let peers = definitions.peers.iter().filter(|peer| is_asked(&peer.name));
    engines.extend(peers.map(|peer| open_peer(peer, &folder, is_named(&peer.name))));
    Ok(engines)
}

const OURS: &str = "deltasoap";
const ALL: &str = "all";

fn open_peer(definition: &PeerDefinition, folder: &Path, is_named: bool) -> Slot {
    match Peer::start(definition, folder) {
        Ok(peer) => Slot::Ready(Box::new(peer)),
        Err(error) => {
            let reason = format!("{error:#}");
            eprintln!("{reason}");
            Slot::Missing { name: definition.name.clone(), reason, is_named }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_libraries_have_a_table_of_their_own_beside_us_and_the_reference() {
        let definitions = Definitions::load().unwrap();
        let workload = &definitions.workloads[0];
        let row = |engine: &str| Row { workload, engine: engine.to_owned(), n: 1, outcome: Err(String::new()) };
        let names = |rows: Vec<Row<'_>>| rows.into_iter().map(|row| row.engine).collect::<Vec<_>>();
        let (soap, xml) = layers(&[OURS, "gsoap", "cxf", "pugixml"].map(row), &definitions);
        assert_eq!(
            (names(soap), names(xml)),
            (
                [OURS, "gsoap", "cxf"].map(str::to_owned).to_vec(),
                [OURS, "gsoap", "pugixml"].map(str::to_owned).to_vec()
            )
        );
        assert!(layers(&[OURS, "cxf"].map(row), &definitions).1.is_empty());
    }
}

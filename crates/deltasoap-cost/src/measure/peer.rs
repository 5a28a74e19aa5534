//! Other toolkits, by the peer protocol (`bench/peers/PROTOCOL.md`): one process each, which times
//! itself.
//!
//! Peers support fixed types: arrays of ints, doubles and strings; a string as an array of one; the
//! composite types that some are built with; and from the operations of
//! `bench/definitions/suite.wsdl` the lists of structs, and binary data. For elapsed time the
//! median of each batch counts; for processor time only the sum is known, and so the mean. A batch
//! repeats one message, since a peer gets one: its processor learns a short message by heart, which
//! does not happen with ours, since they alternate.

use super::clock::time_of_process;
use super::{Engine, Job, MAX_BATCH, Sink, Times, order, process_time};
use crate::CostError;
use crate::calibration::{Activity, Mode, Toolkit};
use crate::predict::Sample;
use crate::workload::{Body, Class, Message, NAMESPACE, Workload, compiled};
use deltasoap_core::{Buffer, Value};
use deltasoap_streams::peer::PeerProcess;
use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Duration of each run of a workload during warm-up.
const WARM_VISIT: Duration = Duration::from_millis(1);
/// Maximum number of warm-up passes over all workloads.
const WARM_PASSES: u32 = 20;

/// A toolkit's process; killed when dropped.
#[derive(Debug)]
pub struct Peer {
    program: PathBuf,
    process: PeerProcess,
    /// Processor time of earlier processes.
    ended: Duration,
    toolkit: Toolkit,
    workloads: Vec<String>,
    sink: Sink,
    is_connected: bool,
    /// The composite types that the peer is built with.
    composites: BTreeSet<[u32; 3]>,
    /// How long each activity runs before its times count.
    warm: Duration,
    /// True after the warm-up.
    is_warm: bool,
}

impl Peer {
    /// Starts a peer's program, and asks for its identity.
    ///
    /// # Errors
    /// When the program cannot be started, or does not answer as a peer.
    pub fn start(program: &Path) -> Result<Self, CostError> {
        let file = |source| CostError::File { path: program.to_owned(), source };
        let mut peer = Peer {
            program: program.to_owned(),
            process: PeerProcess::start(program).map_err(file)?,
            ended: Duration::ZERO,
            toolkit: Toolkit { name: String::new(), version: String::new() },
            workloads: Vec::new(),
            sink: Sink::start().map_err(file)?,
            is_connected: false,
            composites: compiled(),
            warm: Duration::ZERO,
            is_warm: false,
        };
        let hello = peer.process.hello().map_err(|error| peer.failed("hello", &error))?;
        peer.toolkit = Toolkit { name: hello.peer, version: hello.version };
        peer.workloads = hello.workloads;
        peer.warm = Duration::from_millis(hello.warm);
        Ok(peer)
    }

    /// Restarts with a new process.
    fn restart(&mut self) -> Result<(), CostError> {
        let started = PeerProcess::start(&self.program);
        self.ended += spent(&self.process);
        self.process = started.map_err(|source| CostError::File { path: self.program.clone(), source })?;
        (self.is_connected, self.is_warm) = (false, false);
        Ok(())
    }

    /// Runs every activity with one message; returns how long that took.
    fn warm_up_with(&mut self, workload: &Workload) -> Result<f64, CostError> {
        let mut spent = 0.0;
        for activity in Activity::ALL {
            let Some(mut job) = self.prepare(workload, activity, Mode::Regular)? else { continue };
            let one = job.run(1)?.elapsed.max(1.0);
            let count = (WARM_VISIT.as_nanos() as f64 / one).clamp(1.0, MAX_BATCH) as usize;
            spent += one + job.run(count)?.elapsed * count as f64;
        }
        Ok(spent)
    }

    fn failed(&self, request: &str, error: &dyn Error) -> CostError {
        CostError::Engine { what: format!("{} ({request})", self.toolkit.name), reason: error.to_string() }
    }

    /// Prepares a workload of the protocol, if the peer supports it.
    fn prepare_message(
        &mut self,
        name: &str,
        count: usize,
        body: &Body<'_>,
        (activity, mode): (Activity, Mode),
    ) -> Result<Option<Box<dyn Job + '_>>, CostError> {
        if mode == Mode::Differential || !self.workloads.iter().any(|it| it == name) {
            return Ok(None);
        }
        if activity == Activity::Send {
            self.connect()?;
        }
        let text = body.encode(Buffer::new()).map_err(|error| self.failed(name, &error))?;
        let prepared = self.process.prepare(name, count, text.as_slice());
        let prepared = prepared.map_err(|error| self.failed(name, &error))?;
        Ok(Some(Box::new(PeerJob { peer: self, bytes: prepared.bytes })))
    }

    fn connect(&mut self) -> Result<(), CostError> {
        if !self.is_connected {
            // Any limit on the buffer would make large messages wait for the receiver.
            let connected = self.process.connect(self.sink.address().port(), Some(0));
            connected.map_err(|error| self.failed("connect", &error))?;
            self.is_connected = true;
        }
        Ok(())
    }
}

/// Returns the processor time of a process so far.
fn spent(process: &PeerProcess) -> Duration {
    time_of_process(process.id()).unwrap_or_default()
}

/// Returns the protocol's name for the values of a workload.
fn values(workload: &Workload) -> Option<(&'static str, u32)> {
    match *workload {
        Workload::Array { class: Class::Int, length, .. } => Some(("ints", length)),
        Workload::Array { class: Class::Double, length, .. } => Some(("hard", length)),
        Workload::Array { class: Class::Text, length, .. } => Some(("strings", length)),
        Workload::Text { .. } => Some(("strings", 1)),
        _ => workload.fields().map(|_| ("composites", 1)),
    }
}

/// Returns the protocol's name for the values of an operation's message. Returns `None` for
/// messages that the protocol lacks, and for arrays of ints, doubles and strings: predictions are
/// fitted to exactly these, so they prove nothing.
fn values_of(sample: &Sample) -> Option<&'static str> {
    let element = sample.element();
    match &*element.local {
        _ if element.namespace != NAMESPACE => None,
        "sendMios" => Some("structs"),
        "sendEvents" => Some("events"),
        "sendBase64" => Some("base64"),
        _ => None,
    }
}

/// Returns the number of items of a message: those of its list, or 1.
fn items(value: &Value) -> usize {
    let Value::Record(record) = value else { return 1 };
    match record.fields.first() {
        Some(Value::List(items)) => items.len(),
        Some(Value::Column(column)) => column.len(),
        Some(Value::Table(table)) => table.len(),
        _ => 1,
    }
}

fn name(values: &str, activity: Activity) -> String {
    let action = match activity {
        Activity::Serialize => "encode",
        Activity::Send => "send",
        Activity::Deserialize => "decode",
    };
    format!("{action}-{values}")
}

impl Engine for Peer {
    fn toolkit(&self) -> Toolkit {
        self.toolkit.clone()
    }

    fn refuses(&self, workload: &Workload) -> Option<String> {
        let Some((values, _)) = values(workload) else {
            return Some("peers support only arrays and composite types".to_owned());
        };
        if !Activity::ALL.iter().any(|&it| self.workloads.contains(&name(values, it))) {
            return Some(format!("{} has no workload of {values}", self.toolkit.name));
        }
        let is_built = |fields| self.composites.contains(&fields);
        let is_missing = workload.fields().is_some_and(|fields| !is_built(fields));
        is_missing.then(|| "peers are built with only a sample of the composite types".to_owned())
    }

    /// Runs all workloads repeatedly in random order, a few messages each. The limit is the run
    /// time itself: on a busy machine the toolkit waits for a processor, and is not compiled
    /// meanwhile. A JIT-compiled toolkit that is already warm restarts in a new process.
    fn warm_up(&mut self, workloads: &[Workload]) -> Result<(), CostError> {
        if self.is_warm && !self.warm.is_zero() {
            self.restart()?;
        }
        self.is_warm = true;
        let mut left = self.warm.as_nanos() as f64 * Activity::ALL.len() as f64;
        for pass in 0..WARM_PASSES {
            for index in order(workloads.len(), pass) {
                if left <= 0.0 {
                    return Ok(());
                }
                left -= self.warm_up_with(&workloads[index])?;
            }
        }
        Ok(())
    }

    /// Includes this process, the toolkit's process, and its earlier ones.
    fn spent(&self) -> Duration {
        process_time() + self.ended + spent(&self.process)
    }

    fn prepare(
        &mut self,
        workload: &Workload,
        activity: Activity,
        mode: Mode,
    ) -> Result<Option<Box<dyn Job + '_>>, CostError> {
        let Some((values, count)) = values(workload) else { return Ok(None) };
        let message = Message::new(workload)?;
        self.prepare_message(&name(values, activity), count as usize, &message.body(0), (activity, mode))
    }

    fn prepare_sample<'s>(
        &'s mut self,
        sample: &'s Sample,
        activity: Activity,
        mode: Mode,
    ) -> Result<Option<Box<dyn Job + 's>>, CostError> {
        let Some(values) = values_of(sample) else { return Ok(None) };
        self.prepare_message(&name(values, activity), items(sample.value()), &sample.body(), (activity, mode))
    }
}

struct PeerJob<'p> {
    peer: &'p mut Peer,
    bytes: usize,
}

impl Job for PeerJob<'_> {
    fn run(&mut self, count: usize) -> Result<Times, CostError> {
        let runs = self.peer.process.run(count).map_err(|error| self.peer.failed("run", &error))?;
        let mut times = runs.ns;
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        let cpu = runs.cpu_ns.map(|all| all as f64 / times.len().max(1) as f64);
        Ok(Times { cpu, elapsed: median as f64 })
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::{Sizes, samples};
    use deltasoap_dynamic::Contract;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    const SUITE: &str = include_str!("../../../../bench/definitions/suite.wsdl");

    /// A peer that supports events, and records its requests.
    const PROGRAM: &str = r#"#!/bin/sh
while read -r request workload count length; do
    echo "$request $workload $count" >> "$0.requests"
    case $request in
    hello) echo '{"peer":"some","version":"1","workloads":["decode-events","encode-events"]}' ;;
    prepare) head -c "$length" >> "$0.messages"; echo '{"ok":true,"checksum":"0","bytes":77}' ;;
    *) echo '{"ns":[3000,1000,2000],"checksum":"0","cpu_ns":5400}' ;;
    esac
done
"#;

    fn suite(operation: &str) -> Vec<Sample> {
        let operation = Contract::from_text(SUITE).expect("a contract").operation(operation).expect("an operation");
        samples(&operation, &Sizes { length: 7, ..Sizes::default() }).expect("samples")
    }

    #[test]
    fn messages_of_the_suites_operations_are_measured() {
        let folder = tempfile::tempdir().expect("a directory");
        let program = folder.path().join("peer");
        fs::write(&program, PROGRAM).expect("written");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it can be run");
        let mut peer = Peer::start(&program).expect("started");
        let events = suite("sendEvents").remove(0);
        let mut job =
            peer.prepare_sample(&events, Activity::Deserialize, Mode::Regular).expect("ready").expect("offered");
        assert_eq!(job.bytes(), 77);
        assert_eq!(job.run(3).expect("times"), Times { cpu: Some(1800.0), elapsed: 2000.0 });
        drop(job);
        let requests = fs::read_to_string(folder.path().join("peer.requests")).expect("requests");
        assert_eq!(
            requests.trim().lines().map(str::trim).collect::<Vec<_>>(),
            ["hello", "prepare decode-events 7", "run 3"]
        );
        let message = fs::read_to_string(folder.path().join("peer.messages")).expect("a message");
        assert_eq!((message.matches("<item>").count(), message.matches("<message>").count()), (7, 7));
        let mut is_offered =
            |sample: &Sample, activity, mode| peer.prepare_sample(sample, activity, mode).expect("asked").is_some();
        assert!(is_offered(&events, Activity::Serialize, Mode::Regular));
        assert!(!is_offered(&events, Activity::Send, Mode::Regular), "it does not send");
        assert!(!is_offered(&events, Activity::Serialize, Mode::Differential));
        assert!(!is_offered(&suite("sendMios")[0], Activity::Serialize, Mode::Regular), "it knows no structs");
        assert!(!is_offered(&suite("sendEvents")[1], Activity::Serialize, Mode::Regular), "a response");
    }

    #[test]
    fn what_the_suite_sends_has_its_name() {
        let names = [("sendMios", "structs"), ("sendEvents", "events"), ("sendBase64", "base64")];
        for (operation, values) in names {
            let both = suite(operation);
            assert_eq!((values_of(&both[0]), values_of(&both[1])), (Some(values), None), "{operation}");
            assert_eq!(items(both[0].value()), if values == "base64" { 1 } else { 7 });
        }
        for fitted in ["sendInts", "sendDoubles", "sendStrings"] {
            assert_eq!(values_of(&suite(fitted)[0]), None, "{fitted}: predictions are fitted to it");
        }
    }
}

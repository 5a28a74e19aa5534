//! The toolkits that the suite compares: deltasoap in this process, and a process for each peer.
//!
//! A toolkit that is missing, fails or hangs is a row with the reason. A failed peer is restarted
//! for the next job, unless all it does is fail; the work at which it failed is not retried with
//! more items.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::not_measured::NotMeasured;
use super::record::EngineNote;
use super::row::Layer;
use crate::definitions::Definitions;
use crate::engine::{Call, Deltasoap, Engine, Peer, Session};
use crate::workload::{Action, PeerDefinition, Workload};

/// Maximum time for an answer of a peer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);
/// Number of consecutive failures after which a peer is not restarted.
const MAX_FAILURES: u32 = 4;

/// All toolkits, ours first.
pub struct Toolkits {
    /// The toolkits, in the order of reports.
    pub all: Vec<Toolkit>,
}

/// A toolkit.
pub struct Toolkit {
    /// The name in rows.
    pub name: String,
    /// The toolkit's kind.
    pub layer: Layer,
    description: String,
    hides_memory: bool,
    version: Option<String>,
    state: State,
    /// The toolkit whose server its client calls.
    server: String,
    /// The reason why it does not call.
    no_calls: Option<String>,
    /// Duration of its warm-up.
    warm: Duration,
    /// Work that has been warmed up since the last start.
    warmed: HashSet<String>,
    watchdog: Watchdog,
}

enum State {
    Ours(Deltasoap),
    Peer(Box<Peer>),
    /// The reason why it is missing.
    Missing(String),
}

impl Toolkits {
    /// Starts the requested toolkits; all if there are no names.
    ///
    /// # Errors
    /// When a name is unknown.
    pub fn start(definitions: &Definitions, names: &[String], folder: &std::path::Path) -> Result<Self> {
        let watchdog = Watchdog::start();
        let ours = Toolkit {
            name: OURS.to_owned(),
            layer: Layer::Soap,
            description: "this repository".to_owned(),
            hides_memory: false,
            version: Some(format!("deltasoap {}", env!("CARGO_PKG_VERSION"))),
            state: State::Ours(Deltasoap::default()),
            server: OURS.to_owned(),
            no_calls: None,
            warm: Duration::ZERO,
            warmed: HashSet::new(),
            watchdog: watchdog.clone(),
        };
        let peer = |definition: &PeerDefinition| Toolkit::peer(definition, folder, &watchdog);
        let is_asked = |name: &str| names.is_empty() || names.iter().any(|asked| asked == name);
        let known: Vec<&str> = std::iter::once(OURS).chain(definitions.peers.iter().map(|peer| &*peer.name)).collect();
        if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
            bail!("no engine is named {unknown:?}; there are {}", known.join(", "));
        }
        let mut all = if is_asked(OURS) { vec![ours] } else { vec![] };
        all.extend(definitions.peers.iter().filter(|peer| is_asked(&peer.name)).map(peer));
        Ok(Toolkits { all })
    }

    /// Makes all clients call our server.
    ///
    /// # Errors
    /// When we are not among the requested toolkits.
    pub fn call_ours(&mut self) -> Result<()> {
        if !self.all.iter().any(|toolkit| toolkit.name == OURS) {
            bail!("our server belongs to no requested engine; request it with `--engine {OURS}`");
        }
        for toolkit in self.all.iter_mut().filter(|toolkit| toolkit.server != OURS) {
            OURS.clone_into(&mut toolkit.server);
            toolkit.description = format!("{}; in this run it calls our server", toolkit.description);
        }
        Ok(())
    }

    /// Returns which servers support an operation, by toolkit, and why the others do not.
    pub fn offers(&self, operation: &str) -> Offers {
        self.all.iter().map(|toolkit| (toolkit.name.clone(), toolkit.offers(operation))).collect()
    }

    /// Returns the notes for the record.
    pub fn notes(&self) -> Vec<EngineNote> {
        self.all.iter().map(Toolkit::note).collect()
    }
}

const OURS: &str = "deltasoap";

/// Support of an operation, by toolkit: an error if its server does not support it.
pub type Offers = HashMap<String, Result<(), String>>;

/// A session, or the reason why there is none.
pub type Opened<'a> = Result<Box<dyn Session + 'a>, NotMeasured>;

impl Toolkit {
    fn peer(definition: &PeerDefinition, folder: &std::path::Path, watchdog: &Watchdog) -> Self {
        let mut toolkit = Toolkit {
            name: definition.name.clone(),
            layer: definition.layer,
            description: definition.description.clone(),
            hides_memory: definition.hides_memory,
            version: None,
            state: State::Missing(String::new()),
            no_calls: definition.no_calls.clone(),
            server: definition.server.clone().unwrap_or_else(|| definition.name.clone()),
            warm: Duration::ZERO,
            warmed: HashSet::new(),
            watchdog: watchdog.clone(),
        };
        toolkit.begin(definition, folder);
        toolkit
    }

    fn begin(&mut self, definition: &PeerDefinition, folder: &std::path::Path) {
        match Peer::start(definition, folder) {
            Err(error) => self.state = State::Missing(format!("{error:#}")),
            Ok(peer) => {
                self.version = Some(peer.version().to_owned());
                let (peer, warm) = peer.without_warm_up();
                (self.state, self.warm) = (State::Peer(Box::new(peer)), warm);
                self.warmed.clear();
            }
        }
    }

    fn note(&self) -> EngineNote {
        let reason = if let State::Missing(reason) = &self.state { Some(reason.clone()) } else { None };
        let (name, description) = (self.name.clone(), self.description.clone());
        EngineNote { name, version: self.version.clone(), description, reason, hides_memory: self.hides_memory }
    }

    /// Returns an error if its server does not support an operation.
    pub fn offers(&self, operation: &str) -> Result<(), String> {
        match &self.state {
            State::Missing(reason) => Err(reason.clone()),
            State::Peer(peer) if peer.operations().is_empty() => {
                Err("its server has no part in the peer protocol".to_owned())
            }
            State::Peer(peer) if peer.operations().iter().any(|known| known == operation) => Ok(()),
            State::Peer(_) => Err(format!("its server does not offer {operation}")),
            State::Ours(_) => Ok(()),
        }
    }

    /// Returns the toolkit whose server its client calls.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns an error if its server and its client do not support a transport.
    pub fn can_speak(&self, transport: &str) -> Result<(), String> {
        match &self.state {
            State::Missing(reason) => Err(reason.clone()),
            State::Peer(peer) if transport != "plain" && !peer.transports().iter().any(|known| known == transport) => {
                Err(format!("its peer does not offer {transport}"))
            }
            State::Ours(_) | State::Peer(_) => Ok(()),
        }
    }

    /// Returns an error if its client cannot call an operation.
    pub fn can_call(&self, operation: &str) -> Result<(), String> {
        match &self.state {
            State::Missing(reason) => Err(reason.clone()),
            State::Ours(_) => Ok(()),
            State::Peer(peer) if peer.calls().is_empty() => {
                let why = self.no_calls.as_ref().map_or_else(String::new, |why| format!(": {why}"));
                Err(format!("its client has no part in the peer protocol{why}"))
            }
            State::Peer(peer) if peer.calls().iter().any(|known| known == operation) => Ok(()),
            State::Peer(_) => Err(format!("its client does not offer {operation}")),
        }
    }

    /// Returns the warm-up for work of that name: JIT-compiled code is kept for all sizes.
    fn warm_once(&mut self, work: &str) -> Duration {
        if self.warmed.insert(work.to_owned()) { self.warm } else { Duration::ZERO }
    }

    /// Opens a workload.
    pub fn open(&mut self, workload: &Workload, n: usize) -> Opened<'_> {
        let warm = self.warm_once(&workload.name);
        let Toolkit { state, watchdog, .. } = self;
        let is_floor = matches!(workload.action, Action::Compare | Action::Copy);
        match state {
            State::Missing(reason) => Err(NotMeasured::Absent(reason.clone())),
            State::Ours(ours) => ours.prepare(workload, n).map_err(|error| NotMeasured::failed(&error)),
            State::Peer(peer) if is_floor || !peer.offers(workload) => {
                Err(NotMeasured::Absent(format!("does not offer {}", workload.name)))
            }
            State::Peer(peer) => {
                let pid = peer.pid();
                watchdog.guard((pid, warm), || peer.prepare(workload, n))
            }
        }
    }

    /// Opens calls by a peer's client.
    pub fn open_call(&mut self, call: &Call<'_>) -> Opened<'_> {
        let transport = call.transport.map_or("plain", |transport| transport.name);
        let warm = self.warm_once(&format!("{transport} {}", call.operation));
        let Toolkit { state, watchdog, .. } = self;
        match state {
            State::Missing(reason) => Err(NotMeasured::Absent(reason.clone())),
            State::Ours(_) => Err(NotMeasured::Absent("our client is not a peer".to_owned())),
            State::Peer(peer) => {
                let pid = peer.pid();
                watchdog.guard((pid, warm), || peer.prepare_call(call))
            }
        }
    }
}

/// Restarts peers that have ended, and remembers the work at which they failed.
#[derive(Debug)]
pub struct Restarts {
    peers: PathBuf,
    /// Number of consecutive failures, by toolkit.
    consecutive_failures: HashMap<String, u32>,
    /// Number of items and reason, by toolkit and work.
    failures: HashMap<(String, String), (usize, String)>,
}

impl Restarts {
    /// Creates it for a folder of built peers.
    pub fn new(peers: PathBuf) -> Self {
        Restarts { peers, consecutive_failures: HashMap::new(), failures: HashMap::new() }
    }

    /// Restarts a peer that failed at some work with `n` items.
    pub fn restart(
        &mut self,
        toolkit: &mut Toolkit,
        definitions: &Definitions,
        (work, n): (&str, usize),
        failure: &str,
    ) {
        let definition = definitions.peers.iter().find(|peer| peer.name == toolkit.name);
        let (Some(definition), State::Peer(_)) = (definition, &toolkit.state) else { return };
        self.failures.insert((toolkit.name.clone(), work.to_owned()), (n, failure.to_owned()));
        let count = self.consecutive_failures.entry(toolkit.name.clone()).or_default();
        *count += 1;
        match *count {
            count if count < MAX_FAILURES => toolkit.begin(definition, &self.peers),
            count => toolkit.state = State::Missing(format!("failed {count} times in a row; the last time: {failure}")),
        }
    }

    /// Notes that a toolkit has succeeded.
    pub fn succeeded(&mut self, toolkit: &str) {
        self.consecutive_failures.remove(toolkit);
    }

    /// Returns an error if a toolkit has failed at that work with fewer items.
    pub fn ensure_not_failed(&self, toolkit: &str, work: &str, n: usize) -> Result<(), NotMeasured> {
        match self.failures.get(&(toolkit.to_owned(), work.to_owned())) {
            Some((items, failure)) if *items < n => {
                Err(NotMeasured::Absent(format!("failed with {items} items: {failure}")))
            }
            _ => Ok(()),
        }
    }
}

/// Kills peers that do not answer.
#[derive(Clone)]
struct Watchdog(Arc<Mutex<Watch>>);

#[derive(Default)]
struct Watch {
    /// The process that must answer, and its deadline.
    waiting: Option<(u32, Instant)>,
    ended: HashSet<u32>,
}

impl Watchdog {
    fn start() -> Self {
        let watchdog = Watchdog(Arc::default());
        let watch = Arc::downgrade(&watchdog.0);
        thread::spawn(move || {
            while let Some(watch) = watch.upgrade() {
                lock(&watch).check_deadline();
                drop(watch);
                thread::sleep(Duration::from_millis(200));
            }
        });
        watchdog
    }

    /// Runs `work`, which a peer must answer in time, and guards the resulting session.
    fn guard<'a>(
        &self,
        (pid, warm): (u32, Duration),
        open: impl FnOnce() -> Result<Box<dyn Session + 'a>>,
    ) -> Opened<'a> {
        let session = self.during(pid, open).map_err(|error| NotMeasured::failed(&error))?;
        Ok(Box::new(Guarded { session, pid, warm, watchdog: self.clone() }))
    }

    fn during<R>(&self, pid: u32, work: impl FnOnce() -> Result<R>) -> Result<R> {
        lock(&self.0).waiting = Some((pid, Instant::now() + ANSWER_TIMEOUT));
        let result = work();
        let mut watch = lock(&self.0);
        watch.waiting = None;
        match result {
            Err(_) if watch.ended.contains(&pid) => bail!("no answer within {} s", ANSWER_TIMEOUT.as_secs()),
            result => result,
        }
    }
}

impl Watch {
    fn check_deadline(&mut self) {
        let Some((pid, _)) = self.waiting.filter(|(_, until)| *until < Instant::now()) else { return };
        self.waiting = None;
        self.ended.insert(pid);
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            // Fails only if the process has already ended.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn lock(watch: &Mutex<Watch>) -> MutexGuard<'_, Watch> {
    watch.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A peer's session, which must answer in time.
struct Guarded<'a> {
    session: Box<dyn Session + 'a>,
    pid: u32,
    warm: Duration,
    watchdog: Watchdog,
}

impl Session for Guarded<'_> {
    fn warm(&self) -> Duration {
        self.warm
    }

    fn bytes(&self) -> usize {
        self.session.bytes()
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        self.watchdog.during(self.pid, || self.session.run(count))
    }

    fn check(&mut self) -> Result<()> {
        self.watchdog.during(self.pid, || self.session.check())
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        self.session.peak_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_peer_that_does_not_answer_is_killed() {
        let mut sleeper = Command::new("sleep").arg("600").spawn().unwrap();
        let mut watch = Watch { waiting: Some((sleeper.id(), Instant::now())), ended: HashSet::new() };
        thread::sleep(Duration::from_millis(1));
        watch.check_deadline();
        assert!(!sleeper.wait().unwrap().success());
        assert!(watch.ended.contains(&sleeper.id()) && watch.waiting.is_none());
    }

    #[test]
    fn work_is_warmed_up_once_in_all_sizes() {
        let definitions = Definitions::load().unwrap();
        let mut toolkits =
            Toolkits::start(&definitions, &["gsoap".to_owned()], std::path::Path::new("/nowhere")).unwrap();
        let toolkit = &mut toolkits.all[0];
        toolkit.warm = Duration::from_secs(3);
        let warmed = ["decode-ints", "decode-ints", "encode-ints"].map(|work| toolkit.warm_once(work).as_secs());
        assert_eq!(warmed, [3, 0, 3]);
    }

    #[test]
    fn what_failed_is_not_tried_with_more_items() {
        let definitions = Definitions::load().unwrap();
        let nowhere = std::path::PathBuf::from("/nowhere");
        let mut toolkits = Toolkits::start(&definitions, &["gsoap".to_owned()], &nowhere).unwrap();
        let toolkit = &mut toolkits.all[0];
        let mut restarts = Restarts::new(nowhere);
        let mut fail = |restarts: &mut Restarts, work| {
            // Any program works as a process.
            toolkit.state = State::Missing("it was not started".to_owned());
            restarts.restart(toolkit, &definitions, (work, 100), "it ended");
        };
        fail(&mut restarts, "calls/echoInts");
        assert!(
            restarts.ensure_not_failed("gsoap", "calls/echoInts", 1000).is_ok(),
            "a toolkit that is not there cannot fail"
        );
        restarts.failures.insert(("gsoap".to_owned(), "calls/echoInts".to_owned()), (100, "it ended".to_owned()));
        let not_measured = |n| restarts.ensure_not_failed("gsoap", "calls/echoInts", n).err().map(NotMeasured::reason);
        assert_eq!(not_measured(1000).as_deref(), Some("failed with 100 items: it ended"));
        assert_eq!((not_measured(100), not_measured(10)), (None, None));
        assert!(restarts.ensure_not_failed("gsoap", "calls/sendInts", 1000).is_ok());
    }

    #[test]
    fn a_toolkit_that_is_not_built_says_so() {
        let definitions = Definitions::load().unwrap();
        let nowhere = std::path::Path::new("/nowhere");
        let mut toolkits = Toolkits::start(&definitions, &["gsoap".to_owned()], nowhere).unwrap();
        let Err(NotMeasured::Absent(reason)) = toolkits.all[0].open(&definitions.workloads[0], 1) else {
            panic!("it is not missing")
        };
        assert!(reason.contains("not built"), "{reason}");
        assert!(toolkits.notes()[0].reason.is_some());
        assert!(Toolkits::start(&definitions, &["soapgun".to_owned()], nowhere).is_err());
    }

    #[test]
    fn all_clients_may_call_our_server() {
        let definitions = Definitions::load().unwrap();
        let names = ["deltasoap", "zeep"].map(str::to_owned);
        let mut toolkits = Toolkits::start(&definitions, &names, std::path::Path::new("/nowhere")).unwrap();
        let servers = |toolkits: &Toolkits| toolkits.all.iter().map(|it| it.server().to_owned()).collect::<Vec<_>>();
        assert_eq!(servers(&toolkits), ["deltasoap", "spyne"]);
        toolkits.call_ours().unwrap();
        assert_eq!(servers(&toolkits), ["deltasoap", "deltasoap"]);
        assert!(toolkits.notes()[1].description.ends_with("; in this run it calls our server"));
        let mut others = Toolkits::start(&definitions, &names[1..], std::path::Path::new("/nowhere")).unwrap();
        assert!(others.call_ours().is_err(), "we are not requested");
    }
}

//! Servers to load: ours, and those of other toolkits, each in a separate process on the cores that
//! the generator does not use.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::definitions::Definitions;
use crate::engine::{Peer, Transport};

/// Our server with default options.
pub const OURS: &str = "deltasoap";
/// Our server with only regular decoding and encoding.
pub const REGULAR: &str = "deltasoap-regular";
/// Our server with small requests first.
pub const SMALL_FIRST: &str = "deltasoap-small-first";
/// Our server without scheduling: each message is read and answered in one go.
pub const IN_ONE_GO: &str = "deltasoap-in-one-go";
/// Prefixes of the line on standard output in which our server prints the service's address.
const ANNOUNCEMENTS: [&str; 2] = ["listening on http://", "listening on https://"];
/// Duration of the load before it counts, for ahead-of-time compiled servers.
const WARM_UP: Duration = Duration::from_secs(1);
/// Warm-up of a JIT-compiled server on the core on which it also serves, as a multiple of the
/// warm-up in memory: with CXF, whose peer asks for three seconds, it is 90.
const COLD: u32 = 30;
/// Path of the benchmark service.
const PATH: &str = "/bench";

/// Options for starting servers.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Our program.
    pub program: PathBuf,
    /// Additional arguments of `deltasoap serve`.
    pub options: Vec<String>,
    /// Folder of built peers.
    pub peers: PathBuf,
    /// Maximum number of concurrent connections.
    pub connections: usize,
    /// The transport of a peer's server; plain HTTP if `None`.
    pub transport: Option<Transport>,
    /// True if generator and server get separate cores.
    pub is_pinned: bool,
}

/// A running server; killed when dropped.
pub struct Server {
    /// The name in reports.
    pub name: String,
    /// The address it listens on.
    pub address: SocketAddr,
    /// Its process ID.
    pub pid: u32,
    /// Duration of the load before it counts.
    pub warm_up: Duration,
    _process: Process,
}

/// The owner of a server's process.
#[expect(dead_code, reason = "held for being dropped")]
enum Process {
    Ours(KillOnDrop),
    Peer(Box<Peer>),
}

/// A process that is killed when dropped.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        // Errors only mean that the process has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Launch {
    /// Starts the server with a name: `deltasoap`, `deltasoap-regular`, `deltasoap-small-first`,
    /// `deltasoap-in-one-go`, or that of a peer.
    ///
    /// # Errors
    /// When there is no server with that name, it is not built, or it does not start.
    pub fn start(&self, name: &str) -> Result<Server> {
        // Child processes inherit the core affinity of the thread that starts them.
        let spawn = move || {
            if self.is_pinned {
                pin_to_others()?;
            }
            match name {
                OURS => self.ours(name, &[]),
                REGULAR => self.ours(name, &["--regular"]),
                SMALL_FIRST => self.ours(name, &["--small-first"]),
                IN_ONE_GO => self.ours(name, &["--in-one-go"]),
                peer => self.peer(peer),
            }
        };
        thread::scope(|scope| scope.spawn(spawn).join().expect("starting a server does not panic"))
    }

    fn ours(&self, name: &str, options: &[&str]) -> Result<Server> {
        let mut command = Command::new(&self.program);
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(options).args(&self.options);
        let missing =
            || format!("{} cannot be started: build deltasoap-cli, or use --deltasoap", self.program.display());
        let mut process = KillOnDrop(command.stdout(Stdio::piped()).spawn().with_context(missing)?);
        let output = process.0.stdout.take().context("the server has no standard output")?;
        let mut lines = BufReader::new(output).lines();
        let address = lines.by_ref().map_while(Result::ok).find_map(|line| announced(&line));
        let address = address.context("the server exited before it listened")?;
        // The rest of its output is drained, so that it never blocks on a full pipe.
        thread::spawn(move || lines.for_each(drop));
        let (name, pid) = (name.to_owned(), process.0.id());
        Ok(Server { name, address, pid, warm_up: WARM_UP, _process: Process::Ours(process) })
    }

    fn peer(&self, name: &str) -> Result<Server> {
        let definitions = Definitions::load()?;
        let Some(definition) = definitions.peers.iter().find(|peer| peer.name == name) else {
            let known: Vec<_> = definitions.peers.iter().map(|peer| &*peer.name).collect();
            bail!(
                "no server is named {name:?}; there are {OURS}, {REGULAR}, {SMALL_FIRST}, {IN_ONE_GO}, {}",
                known.join(", ")
            );
        };
        let mut peer = Peer::start(definition, &self.peers)?;
        peer.speak(self.transport.as_ref())?;
        let address = peer.serve(self.connections)?;
        let (name, pid, warm_up) = (name.to_owned(), peer.pid(), WARM_UP.max(peer.warm() * COLD));
        Ok(Server { name, address, pid, warm_up, _process: Process::Peer(Box::new(peer)) })
    }
}

/// Returns the address in the line that announces the service.
fn announced(line: &str) -> Option<SocketAddr> {
    let address = ANNOUNCEMENTS.iter().find_map(|announcement| line.strip_prefix(announcement))?;
    address.strip_suffix(PATH)?.parse().ok()
}

/// Returns the path of our program, which is beside this one.
///
/// # Errors
/// When the system does not report where this program is.
pub fn our_program() -> Result<PathBuf> {
    let own = std::env::current_exe().context("the path of this program is unknown")?;
    Ok(own.parent().unwrap_or(Path::new("")).join("deltasoap"))
}

/// Pins this thread, and those that it starts, to the last core.
///
/// # Errors
/// When there is only one core, or the system does not allow it.
pub fn pin_to_last() -> Result<()> {
    let (_, last) = cores()?;
    let mut one = CpuSet::new();
    one.set(last);
    sched_setaffinity(None, &one).context("cannot choose a core")
}

/// Runs `work` in a thread that may use all cores again, as may the processes that it starts.
///
/// # Errors
/// When the system does not allow it.
pub fn on_all_cores<R: Send>(work: impl FnOnce() -> R + Send) -> Result<R> {
    let work = || sched_setaffinity(None, &initial_cores()).map(|()| work()).context("cannot choose cores");
    thread::scope(|scope| scope.spawn(work).join().expect("the work does not panic"))
}

/// Pins this thread, and the threads and processes that it starts, to all cores except the last.
///
/// # Errors
/// When there is only one core, or the system does not allow it.
pub fn pin_to_others() -> Result<()> {
    let (mut others, last) = cores()?;
    others.unset(last);
    sched_setaffinity(None, &others).context("cannot choose cores")
}

/// Returns the cores of this machine that this program was given at its start, and the last of
/// them.
fn cores() -> Result<(CpuSet, usize)> {
    let all = (0..CpuSet::MAX_CPU).filter(|&core| initial_cores().is_set(core)).collect::<Vec<_>>();
    ensure!(all.len() > 1, "there is only one core: use --no-pin");
    Ok((initial_cores(), all[all.len() - 1]))
}

/// Returns the cores that this process could use at the first call.
fn initial_cores() -> CpuSet {
    static CORES: std::sync::OnceLock<CpuSet> = std::sync::OnceLock::new();
    *CORES.get_or_init(|| sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new()))
}

/// Remembers the available cores; must be called before anything is pinned.
pub fn remember_cores() {
    initial_cores();
}

/// Raises the limit of open files for this process and its children to the maximum.
pub fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    // If this fails, connections will fail and be reported.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_announcement_of_the_benchmarks_service_is_found() {
        assert_eq!(announced("listening on http://127.0.0.1:80/bench"), Some(([127, 0, 0, 1], 80).into()));
        assert_eq!(announced("listening on https://127.0.0.1:80/bench"), Some(([127, 0, 0, 1], 80).into()));
        assert_eq!(announced("listening on http://127.0.0.1:80/tr069"), None);
        assert_eq!(announced("metrics at http://127.0.0.1:80/metrics"), None);
    }

    #[test]
    fn unknown_servers_are_refused() {
        let (program, peers) = (PathBuf::from("/nowhere/deltasoap"), PathBuf::from("/nowhere"));
        let launch = Launch { program, options: vec![], peers, connections: 1, transport: None, is_pinned: false };
        let error = |name| launch.start(name).err().unwrap().to_string();
        assert!(error("soapgun").contains("deltasoap-in-one-go, gsoap"), "{}", error("soapgun"));
        assert!(error(OURS).contains("/nowhere/deltasoap"));
        assert!(error("gsoap").contains("not built"));
    }
}

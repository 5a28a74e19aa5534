//! The environment of measurements: processor, compiler, date.

use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::process::Command;
use std::sync::OnceLock;
use std::thread;

use serde::{Deserialize, Serialize};

/// The environment in a report.
#[derive(Debug)]
pub struct Environment {
    processor: String,
    cores: usize,
    /// The cores that the processes ran on.
    placement: String,
    /// Load average over the last minute at the start.
    load: f64,
    date: jiff::civil::Date,
}

impl Environment {
    /// Reads the environment, and pins this process, and its future children, to one core.
    pub fn prepare() -> Self {
        // In this order: after pinning, there seems to be only one core.
        let environment = Environment::detect(String::new());
        let placement = pin_to_core().map(|core| format!("pinned to core {core}"));
        Environment { placement: placement.unwrap_or_else(|| "not pinned to a core".to_owned()), ..environment }
    }

    /// Reads the environment without pinning. `placement` describes the cores that the processes
    /// run on.
    pub fn detect(placement: String) -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Environment {
            processor: processor(&cpuinfo).unwrap_or("unknown processor").to_owned(),
            cores: thread::available_parallelism().map_or(1, usize::from),
            placement,
            load: load_now(),
            date: jiff::Zoned::now().date(),
        }
    }
}

/// A machine in a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor model.
    pub processor: String,
    /// Number of cores that this program may use.
    pub cores: usize,
    /// Memory in kibibytes.
    pub memory_kib: u64,
    /// The kernel and its version.
    pub system: String,
    /// The cores that the processes ran on.
    pub placement: String,
    /// Load average over the last minute at the start.
    pub load: f64,
    /// The date, such as `2026-01-31`.
    pub date: String,
    /// The version of deltasoap.
    pub deltasoap: String,
    /// The compiler of this program.
    pub compiler: String,
    /// The commit of the sources, and whether they have changed since; `None` outside a repository.
    #[serde(default)]
    pub commit: Option<Commit>,
    /// The build flags of this program.
    #[serde(default)]
    pub profile: String,
    /// A checksum of this program's file, which reveals uncommitted changes of the sources.
    #[serde(default)]
    pub program: String,
    /// The kernel's frequency governor; unknown on many virtual machines.
    #[serde(default)]
    pub governor: Option<String>,
}

/// A commit of this repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// The commit hash.
    pub id: String,
    /// True if tracked files have changed since.
    pub is_dirty: bool,
}

impl Commit {
    /// Returns the commit of the repository that this program was built in.
    pub fn here() -> Option<Self> {
        let git = |arguments: &[&str]| {
            let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
            let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let id = git(&["rev-parse", "HEAD"]).filter(|id| !id.is_empty())?;
        let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
        Some(Commit { id, is_dirty: !changed.is_empty() })
    }
}

impl fmt::Display for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)?;
        if self.is_dirty { f.write_str(" with changes") } else { Ok(()) }
    }
}

/// Returns the checksum of this program's file; empty if it cannot be read.
pub fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let file = std::env::current_exe().and_then(fs::read);
        file.map_or_else(|_| String::new(), |bytes| format!("{:016x}", hash(&bytes)))
    })
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// Returns the reason if this build distorts times.
pub fn unoptimized() -> Option<String> {
    let profile = env!("BENCH_PROFILE");
    let is_quick = cfg!(debug_assertions) || !profile.contains("opt-level 3");
    is_quick
        .then(|| format!("this program was built for tests, not for measurements ({profile}): its times mean nothing"))
}

impl Environment {
    /// Returns the machine for a record.
    pub fn machine(&self) -> Machine {
        let read = |file| fs::read_to_string(file).unwrap_or_default();
        Machine {
            processor: self.processor.clone(),
            cores: self.cores,
            memory_kib: memory_kib(&read("/proc/meminfo")).unwrap_or(0),
            system: read("/proc/sys/kernel/ostype").trim().to_owned() + " " + read("/proc/sys/kernel/osrelease").trim(),
            placement: self.placement.clone(),
            load: self.load,
            date: self.date.to_string(),
            deltasoap: env!("CARGO_PKG_VERSION").to_owned(),
            compiler: env!("BENCH_RUSTC").to_owned(),
            commit: Commit::here(),
            profile: env!("BENCH_PROFILE").to_owned(),
            program: program().to_owned(),
            governor: fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
                .ok()
                .map(|name| name.trim().to_owned()),
        }
    }
}

impl Environment {
    /// Returns the reason if figures are doubtful. On a busy machine long runs are interrupted and
    /// short ones are not, so even ratios are wrong.
    pub fn warning(&self) -> Option<String> {
        let is_busy = self.load > self.cores as f64 - 0.5;
        is_busy.then(|| format!("warning: the machine is busy (load {}), the figures are not reliable", self.load))
    }
}

/// Pins to the last core, which is the least busy one if interrupts go to the first. Returns `None`
/// if the system does not allow it.
fn pin_to_core() -> Option<usize> {
    let core = core_affinity::get_core_ids()?.into_iter().last()?;
    core_affinity::set_for_current(core).then_some(core.id)
}

/// Returns the load average over the last minute; zero if unknown.
pub fn load_now() -> f64 {
    load(&fs::read_to_string("/proc/loadavg").unwrap_or_default()).unwrap_or(0.0)
}

/// Returns the average over the last minute from the text of `/proc/loadavg`.
fn load(loadavg: &str) -> Option<f64> {
    loadavg.split_whitespace().next()?.parse().ok()
}

/// Returns the total memory from the text of `/proc/meminfo`.
fn memory_kib(meminfo: &str) -> Option<u64> {
    meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.split_whitespace().next()?.parse().ok()
}

/// Returns the processor model from the text of `/proc/cpuinfo`.
fn processor(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, model)| model.trim())
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = env!("CARGO_PKG_VERSION");
        write!(f, "deltasoap {version}, {}, {}, {} cores", env!("BENCH_RUSTC"), self.processor, self.cores)?;
        write!(f, " ({}), load {}, {}", self.placement, self.load, self.date)
    }
}

#[cfg(test)]
mod tests {
    use super::{load, memory_kib, processor};

    #[test]
    fn finds_the_model() {
        assert_eq!(processor("processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\n"), Some("Some CPU @ 3 GHz"));
        assert_eq!(processor(""), None);
    }

    #[test]
    fn finds_the_memory() {
        assert_eq!(memory_kib("MemTotal:       16384 kB\nMemFree: 1 kB\n"), Some(16384));
        assert_eq!(memory_kib(""), None);
    }

    #[test]
    fn finds_the_load() {
        assert_eq!(load("0.86 0.85 0.59 2/345 6789\n"), Some(0.86));
        assert_eq!(load(""), None);
    }
}

//! The servers and the load balancer, started by `examples/fleet/fleet.sh` as a user starts them.

use anyhow::{Context, Result, ensure};
use deltasoap_load::{Failure, Target, Wire};
use std::collections::BTreeMap;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Number of servers.
pub const SERVERS: usize = 3;
/// Linux reports the time of processes in hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// Processes that run until this value is dropped.
#[derive(Debug)]
pub struct Site {
    script: PathBuf,
    settings: Vec<(String, String)>,
    folder: PathBuf,
    /// What devices call.
    pub address: SocketAddr,
    servers: [SocketAddr; SERVERS],
}

/// What a run of the script needs besides addresses.
#[derive(Debug, Clone)]
pub struct Settings<'a> {
    /// The folder of the example.
    pub example: &'a Path,
    /// The server.
    pub program: &'a Path,
    /// The backend in the configuration of the load balancer.
    pub backend: &'a str,
    /// MiB of earlier messages that each server keeps.
    pub memory: u32,
    /// Envoy, in place of HAProxy.
    pub envoy: Option<&'a Path>,
}

/// Counters of all servers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    /// Bytes of `Inform`s that were skipped, and that were read.
    pub fast: f64,
    pub regular: f64,
    /// Time to decode `Inform`s, in seconds, and their number.
    pub decode: f64,
    pub informs: f64,
    /// Bytes of earlier messages that are kept, and memories that were dropped for their bound.
    pub held: f64,
    pub evictions: f64,
    /// Processor time of the servers, in seconds.
    pub cpu: f64,
}

impl std::ops::Sub for Counts {
    type Output = Counts;

    fn sub(self, before: Counts) -> Counts {
        Counts {
            fast: self.fast - before.fast,
            regular: self.regular - before.regular,
            decode: self.decode - before.decode,
            informs: self.informs - before.informs,
            held: self.held,
            evictions: self.evictions - before.evictions,
            cpu: self.cpu - before.cpu,
        }
    }
}

impl Site {
    /// Starts everything on free ports.
    ///
    /// # Errors
    /// If something does not start.
    pub fn start(settings: &Settings<'_>, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let [address, servers @ ..] = free_addresses()?;
        let mut all = vec![
            ("FLEET_PROGRAM".to_owned(), fs::canonicalize(settings.program)?.display().to_string()),
            ("FLEET_DIR".to_owned(), folder.display().to_string()),
            ("FLEET_AFFINITY".to_owned(), settings.backend.to_owned()),
            ("FLEET_LISTEN".to_owned(), address.to_string()),
            ("FLEET_MEMORY".to_owned(), settings.memory.to_string()),
        ];
        all.extend(servers.iter().enumerate().map(|(at, it)| (format!("FLEET_SERVER_{}", at + 1), it.to_string())));
        all.extend(settings.envoy.map(|envoy| ("FLEET_ENVOY".to_owned(), envoy.display().to_string())));
        let script = settings.example.join("fleet.sh");
        let site = Site { script, settings: all, folder: folder.to_owned(), address, servers };
        site.run(&["start"])?;
        Ok(site)
    }

    /// Runs the script.
    ///
    /// # Errors
    /// If it fails.
    fn run(&self, arguments: &[&str]) -> Result<()> {
        let status = self.command(arguments).status().context("sh")?;
        ensure!(status.success(), "fleet.sh {} failed", arguments.join(" "));
        Ok(())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.arg(&self.script).args(arguments).envs(self.settings.iter().map(|(name, value)| (name, value)));
        command.stdout(Stdio::null());
        command
    }

    /// Restarts a server, from 0, as a user does, while others go on.
    ///
    /// # Errors
    /// If that fails.
    pub async fn restart(&self, server: usize) -> Result<()> {
        let mut command = self.command(&["restart", &(server + 1).to_string()]);
        let status = tokio::task::spawn_blocking(move || command.status()).await?.context("sh")?;
        ensure!(status.success(), "server {} could not be restarted", server + 1);
        Ok(())
    }

    /// Kills a server, from 0, with SIGKILL.
    ///
    /// # Errors
    /// If it does not run.
    pub fn kill(&self, server: usize) -> Result<()> {
        let status = Command::new("kill").arg("-KILL").arg(self.process(server)?.to_string()).status()?;
        ensure!(status.success(), "server {} does not run", server + 1);
        Ok(())
    }

    fn process(&self, server: usize) -> Result<u32> {
        let file = self.folder.join(format!("s{}.pid", server + 1));
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        text.trim().parse().with_context(|| format!("{}: {text:?}", file.display()))
    }

    /// Returns the resident bytes of each server.
    pub fn resident(&self) -> [u64; SERVERS] {
        std::array::from_fn(|server| self.process(server).ok().and_then(crate::memory::resident).unwrap_or(0))
    }

    /// Returns the counters of all servers together.
    ///
    /// # Errors
    /// If one does not answer.
    pub async fn counts(&self) -> Result<Counts> {
        let mut counts = Counts::default();
        for (server, address) in self.servers.iter().enumerate() {
            let metrics = metrics(*address).await.with_context(|| format!("the metrics of server {}", server + 1))?;
            let sum = |name: &str, label: &str| {
                let of_name = metrics.iter().filter(|(found, _)| found.0 == name && found.1.contains(label));
                of_name.map(|(_, value)| value).sum::<f64>()
            };
            counts.fast += sum("deltasoap_differential_fast_bytes_total", "}Inform\"");
            counts.regular += sum("deltasoap_differential_regular_bytes_total", "}Inform\"");
            counts.decode += sum("deltasoap_decode_seconds_sum", "}Inform\"");
            counts.informs += sum("deltasoap_decode_seconds_count", "}Inform\"");
            counts.held += sum("deltasoap_differential_memory_bytes", "");
            counts.evictions += sum("deltasoap_differential_evictions_total", "");
            counts.cpu += cpu(self.process(server)?)?.as_secs_f64();
        }
        Ok(counts)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Err(error) = self.run(&["stop"]) {
            eprintln!("warning: {error:#}");
        }
    }
}

/// Returns addresses that nobody listens on. Others may take them before they are used.
fn free_addresses() -> Result<[SocketAddr; 1 + SERVERS]> {
    let listeners = (0..=SERVERS).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<std::io::Result<Vec<_>>>()?;
    let mut addresses = [SocketAddr::from(([127, 0, 0, 1], 0)); 1 + SERVERS];
    for (address, listener) in addresses.iter_mut().zip(&listeners) {
        *address = listener.local_addr()?;
    }
    Ok(addresses)
}

/// Values of metrics by name and labels.
type Metrics = BTreeMap<(String, String), f64>;

async fn metrics(address: SocketAddr) -> Result<Metrics> {
    let asking = async {
        let mut wire = Wire::connect(&Target::plain(address)).await?;
        let answer = wire.exchange(b"GET /metrics HTTP/1.1\r\nHost: monitor\r\n\r\n").await?;
        if answer.status == 200 {
            Ok(parsed(&String::from_utf8_lossy(answer.body)))
        } else {
            Err(Failure::Other.into())
        }
    };
    asking
        .await
        .map_err(|failed: deltasoap_load::Failed| anyhow::anyhow!("{}: {}", failed.failure.name(), failed.detail))
}

fn parsed(text: &str) -> Metrics {
    let parse = |line: &str| {
        let (series, value) = line.rsplit_once(' ')?;
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        Some(((name.to_owned(), labels.to_owned()), value.parse().ok()?))
    };
    text.lines().filter(|line| !line.starts_with('#')).filter_map(parse).collect()
}

/// Returns the processor time of a process so far: fields 14 and 15 of its `stat` (proc(5)).
fn cpu(process: u32) -> Result<Duration> {
    let file = format!("/proc/{process}/stat");
    let text = fs::read_to_string(&file).with_context(|| file.clone())?;
    ticks(&text).map(|ticks| TICK * ticks).with_context(|| format!("{file}: {text}"))
}

fn ticks(stat: &str) -> Option<u32> {
    // The name of the program may have spaces and parentheses.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(fields.get(11)?.parse::<u32>().ok()? + fields.get(12)?.parse::<u32>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_and_times_are_read() {
        let all = parsed("# TYPE a counter\na{x=\"{urn:b}Inform\"} 12\na{x=\"other\"} 3.5\nb 7\n\nbroken\n");
        assert_eq!(all.len(), 3);
        assert_eq!(all[&("a".to_owned(), "x=\"{urn:b}Inform\"}".to_owned())], 12.0);
        assert_eq!(all[&("b".to_owned(), String::new())], 7.0);
        let stat = "7 (a) b) S 1 1 1 0 -1 4194304 1 0 0 0 250 50 0 0 20 0 1 0 1 1 1";
        assert_eq!(ticks(stat), Some(300));
        assert_eq!(ticks("7 (a"), None);
        assert!(cpu(std::process::id()).is_ok());
    }

    #[test]
    fn addresses_are_free_and_differ() {
        let addresses = free_addresses().expect("addresses");
        assert!(TcpListener::bind(addresses[0]).is_ok() && addresses[0] != addresses[3]);
    }
}

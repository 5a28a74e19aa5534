//! `cargo xtask gateway-figures`: what `deltasoap gateway` costs in front of our server, beside a
//! gateway on fastify and node-soap, under wrk.
//!
//! The gateway has the last core to itself; the server and wrk share the first. All is measured in
//! one run: the same call without a gateway, in SOAP, is the reference. An answer counts only if its
//! status is 200.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::interop::Server;
use crate::shell::{self, Profile};
use crate::{debian, node};

#[derive(clap::Args)]
pub struct Arguments {
    /// Seconds of each measurement
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
}

/// Different bodies of each kind, so that no answer is that of the request before.
const BODIES: usize = 8;
/// Items of a long list.
const MANY: usize = 100_000;
/// Connections under load.
const CONNECTIONS: usize = 16;
/// The clock of `/proc/PID/stat`, in ticks a second (`getconf CLK_TCK` on Linux).
const TICKS: f64 = 100.0;

/// What wrk prints.
#[derive(Debug, Deserialize)]
struct Measured {
    requests: u64,
    seconds: f64,
    failed: u64,
    /// Microseconds.
    median: f64,
    p99: f64,
}

impl Measured {
    fn rate(&self) -> f64 {
        self.requests as f64 / self.seconds
    }
}

/// A server that is measured.
struct Target<'s> {
    name: &'static str,
    server: &'s Server,
    path: &'static str,
    is_json: bool,
}

/// Measures, and prints a table.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    debian::install(&["wrk"])?;
    shell::build(&["deltasoap-cli"], Profile::Release)?;
    let folder = shell::workspace("gateway-bench")?;
    write_bodies(&folder)?;
    let wsdl = shell::root().join("testdata/wsdl/bench.wsdl");
    let mut serve = pinned(&shell::ours("deltasoap-cli", Profile::Release), First);
    let server = Server::start(
        "gateway-bench-server",
        serve.args(["serve", "--listen", "127.0.0.1:0", "--worker-threads", "1"]),
        1,
    )?;
    let mut gateway = pinned(&shell::ours("deltasoap-cli", Profile::Release), Last);
    gateway.arg("gateway").arg(&wsdl).args(["--endpoint", &server.url, "--listen", "127.0.0.1:0"]);
    let gateway = Server::start("gateway-bench-ours", &mut gateway, 1)?;
    let node = Server::start("gateway-bench-node", &mut node_gateway(&folder, &wsdl, &server.url)?, 1)?;
    let targets = [
        Target { name: "SOAP, no gateway", server: &server, path: "/bench", is_json: false },
        Target { name: "deltasoap gateway", server: &gateway, path: "/operations/", is_json: true },
        Target { name: "fastify, node-soap", server: &node, path: "/operations/", is_json: true },
    ];
    print!("{}", table(&targets, &folder, arguments.seconds)?);
    Ok(ExitCode::SUCCESS)
}

use Core::{First, Last};

/// A core that a program has.
#[derive(Clone, Copy)]
enum Core {
    First,
    Last,
}

/// Returns a command that keeps to one core.
fn pinned(command: &Command, core: Core) -> Command {
    let number = match core {
        First => 0,
        Last => std::thread::available_parallelism().map_or(0, |count| count.get() - 1),
    };
    let mut pinned = shell::command("taskset", ["--cpu-list", &number.to_string()]);
    pinned.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        pinned.current_dir(folder);
    }
    pinned
}

fn node_gateway(folder: &Path, wsdl: &Path, endpoint: &str) -> Result<Command> {
    let sources = shell::root().join("bench/gateway");
    for name in ["package.json", "package-lock.json", "node_gateway.js"] {
        fs::copy(sources.join(name), folder.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    node::install(&sources, folder)?;
    let mut command = shell::command("node", [folder.join("node_gateway.js")]);
    Ok(pinned(command.arg(wsdl).arg(endpoint), Last))
}

/// Writes the bodies of the messages, in JSON and SOAP.
fn write_bodies(folder: &Path) -> Result<()> {
    for number in 0..BODIES {
        let items = |count: usize| (0..count).map(move |item| random(number * MANY + item));
        for (kind, count) in [("small", 10), ("large", MANY)] {
            let json = items(count).map(|item| item.to_string()).collect::<Vec<_>>().join(",");
            write_body(folder, &format!("{kind}-json"), number, &format!("{{\"item\":[{json}]}}"))?;
            let mut xml = String::new();
            items(count).for_each(|item| _ = write!(xml, "<item>{item}</item>"));
            let envelope = format!(
                "<S:Envelope xmlns:S=\"http://schemas.xmlsoap.org/soap/envelope/\"><S:Body><b:echoDoubles xmlns:b=\"urn:bench\">{xml}</b:echoDoubles></S:Body></S:Envelope>"
            );
            write_body(folder, &format!("{kind}-xml"), number, &envelope)?;
        }
    }
    Ok(())
}

fn write_body(folder: &Path, kind: &str, number: usize, body: &str) -> Result<()> {
    let folder = folder.join(kind);
    shell::create_folder(&folder)?;
    fs::write(folder.join(number.to_string()), body).context("a body")
}

/// Returns a number of 16 or 17 digits between 0 and 1 (splitmix64).
fn random(number: usize) -> f64 {
    let mut bits = (number as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn table(targets: &[Target<'_>], folder: &Path, seconds: u32) -> Result<String> {
    let mut out = String::new();
    writeln!(
        out,
        "{:<20} {:>12} {:>12} {:>12} {:>12} {:>14}",
        "", "1 conn., µs", "p99, µs", "16 conn., /s", "CPU, µs", "100,000, CPU ms"
    )?;
    for target in targets {
        let one = measure(target, (folder, "small"), 1, seconds)?.0;
        let (many, cpu) = measure(target, (folder, "small"), CONNECTIONS, seconds)?;
        let (large, large_cpu) = measure(target, (folder, "large"), 1, seconds)?;
        writeln!(
            out,
            "{:<20} {:>12.1} {:>12.1} {:>12.0} {:>12.1} {:>14.2}",
            target.name,
            one.median,
            one.p99,
            many.rate(),
            cpu / many.requests as f64 * 1e6,
            large_cpu / large.requests as f64 * 1e3
        )?;
    }
    Ok(out)
}

/// Loads a server; returns what wrk measured, and the server's processor time in seconds.
fn measure(
    target: &Target<'_>,
    (folder, kind): (&Path, &str),
    connections: usize,
    seconds: u32,
) -> Result<(Measured, f64)> {
    let (form, media, path) = match target.is_json {
        true => ("json", "application/json", format!("{}echoDoubles", target.path)),
        false => ("xml", "text/xml", target.path.to_owned()),
    };
    let url = target.server.at(&path);
    let load = |seconds: u32| -> Result<Measured> {
        let mut wrk = shell::command("wrk", ["--threads", "1", "--timeout", "60"]);
        wrk.args(["--connections", &connections.to_string(), "--duration", &format!("{seconds}s")]);
        wrk.arg("--script").arg(script()).arg(&url).arg("--");
        wrk.arg(folder.join(format!("{kind}-{form}"))).arg(BODIES.to_string()).arg(media);
        let said = shell::output(&mut pinned(&wrk, First))?;
        let line = said.lines().find(|line| line.starts_with('{')).context("wrk printed no figures")?;
        Ok(serde_json::from_str(line)?)
    };
    load(1)?;
    let before = target.server.processor_ticks()?;
    let measured = load(seconds)?;
    ensure!(measured.failed == 0 && measured.requests > 0, "{}: {measured:?}", target.name);
    Ok((measured, (target.server.processor_ticks()? - before) as f64 / TICKS))
}

fn script() -> PathBuf {
    shell::root().join("bench/gateway/requests.lua")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_long_and_differ() {
        let numbers: Vec<_> = (0..1000).map(|number| random(number).to_string()).collect();
        assert!(numbers.iter().all(|number| number.len() > 12));
        assert!(numbers.iter().collect::<std::collections::HashSet<_>>().len() == 1000);
    }
}

//! `cargo xtask gateway-figures`: what `deltasoap gateway` costs in front of our server, beside
//! Membrane and a gateway on fastify and node-soap, under wrk.
//!
//! The gateway has the last core to itself; the server and wrk share the first. All is measured in
//! one run: the same call without a gateway, in SOAP, is the reference. Before a target is measured,
//! its answers to all bodies must have the numbers that were sent; under wrk, an answer counts only
//! if its status is 200.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::interop::{Server, fetch};
use crate::shell::{self, Profile};
use crate::{debian, membrane, node};

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
/// The kinds of bodies, with their numbers of items.
const KINDS: [(&str, usize); 2] = [("small", 10), ("large", MANY)];
/// Connections under load.
const CONNECTIONS: usize = 16;
/// Seconds of load before a measurement.
const WARM_UP: u32 = 1;
/// The same for Membrane, before all its measurements, since Java compiles what runs often.
const JAVA_WARM_UP: u32 = 60;
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
    /// Seconds of load before all its measurements.
    warm_up: u32,
}

impl Target<'_> {
    /// Returns the URL of the operation, and the name and the type of the form of its bodies.
    fn call(&self) -> (String, &'static str, &'static str) {
        let url = self.server.at(self.path);
        if self.is_json { (url, "json", "application/json") } else { (url, "xml", "text/xml") }
    }
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
    let membrane = membrane::start(&folder, &server.url, |command| pinned(command, Last))?;
    let json = "/operations/echoDoubles";
    let targets = [
        Target { name: "SOAP, no gateway", server: &server, path: "/bench", is_json: false, warm_up: 0 },
        Target { name: "deltasoap gateway", server: &gateway, path: json, is_json: true, warm_up: 0 },
        Target { name: "fastify, node-soap", server: &node, path: json, is_json: true, warm_up: 0 },
        Target { name: "Membrane", server: &membrane, path: json, is_json: true, warm_up: JAVA_WARM_UP },
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
        for (kind, count) in KINDS {
            let json = items(number, count).map(|item| item.to_string()).collect::<Vec<_>>().join(",");
            write_body(folder, &format!("{kind}-json"), number, &format!("{{\"item\":[{json}]}}"))?;
            let mut xml = String::new();
            items(number, count).for_each(|item| _ = write!(xml, "<item>{item}</item>"));
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

/// Returns the numbers in a body.
fn items(body: usize, count: usize) -> impl Iterator<Item = f64> {
    (0..count).map(move |item| random(body * MANY + item))
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
        check_answers(target, folder)?;
        if target.warm_up > 0 {
            load(target, (folder, "small"), CONNECTIONS, target.warm_up)?;
        }
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

/// Asserts that a target answers each body with the numbers in it.
fn check_answers(target: &Target<'_>, folder: &Path) -> Result<()> {
    let (url, form, media) = target.call();
    for (kind, count) in KINDS {
        for number in 0..BODIES {
            let body = fs::read_to_string(folder.join(format!("{kind}-{form}")).join(number.to_string()))?;
            let answer = fetch::post(&url, media, &body).with_context(|| target.name)?;
            let answered = if target.is_json { numbers_in_json(&answer) } else { numbers_in_xml(&answer) };
            let is_right = answered.is_some_and(|numbers| numbers.into_iter().eq(items(number, count)));
            ensure!(is_right, "{}: a wrong answer to {kind} body {number}: {answer:.300}", target.name);
        }
    }
    Ok(())
}

/// Returns the numbers of `{"item": [...]}`. serde_json may be one digit off.
fn numbers_in_json(answer: &str) -> Option<Vec<f64>> {
    let inner = answer.trim().strip_prefix('{')?.strip_suffix('}')?.trim().strip_prefix("\"item\"")?;
    let inner = inner.trim().strip_prefix(':')?.trim().strip_prefix('[')?.strip_suffix(']')?;
    inner.split(',').map(|number| number.trim().parse().ok()).collect()
}

/// Returns the numbers in elements `item`.
fn numbers_in_xml(answer: &str) -> Option<Vec<f64>> {
    let items = answer.split("<item>").skip(1);
    items.map(|item| item.split_once("</item>")?.0.parse().ok()).collect()
}

/// Loads a server; returns what wrk measured, and the server's processor time in seconds.
fn measure(target: &Target<'_>, bodies: (&Path, &str), connections: usize, seconds: u32) -> Result<(Measured, f64)> {
    load(target, bodies, connections, WARM_UP)?;
    let before = target.server.processor_ticks()?;
    let measured = load(target, bodies, connections, seconds)?;
    ensure!(measured.failed == 0 && measured.requests > 0, "{}: {measured:?}", target.name);
    Ok((measured, (target.server.processor_ticks()? - before) as f64 / TICKS))
}

/// Sends the bodies of a kind in turn.
fn load(target: &Target<'_>, (folder, kind): (&Path, &str), connections: usize, seconds: u32) -> Result<Measured> {
    let (url, form, media) = target.call();
    let mut wrk = shell::command("wrk", ["--threads", "1", "--timeout", "60"]);
    wrk.args(["--connections", &connections.to_string(), "--duration", &format!("{seconds}s")]);
    wrk.arg("--script").arg(script()).arg(&url).arg("--");
    wrk.arg(folder.join(format!("{kind}-{form}"))).arg(BODIES.to_string()).arg(media);
    let said = shell::output(&mut pinned(&wrk, First))?;
    let line = said.lines().find(|line| line.starts_with('{')).context("wrk printed no figures")?;
    Ok(serde_json::from_str(line)?)
}

fn script() -> PathBuf {
    shell::root().join("bench/gateway/requests.lua")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() {
        assert_eq!(numbers_in_json("{\"item\": [0.5,1e-1]}"), Some(vec![0.5, 0.1]));
        assert_eq!(numbers_in_xml("<b><item>0.5</item><item>1e-1</item></b>"), Some(vec![0.5, 0.1]));
        for wrong in ["{\"item\":[\"0.5\"]}", "{\"items\":[0.5]}", "{\"item\":[0.5],\"more\":1}", "[0.5]"] {
            assert_eq!(numbers_in_json(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_are_long_and_differ() {
        let numbers: Vec<_> = (0..1000).map(|number| random(number).to_string()).collect();
        assert!(numbers.iter().all(|number| number.len() > 12));
        assert!(numbers.iter().collect::<std::collections::HashSet<_>>().len() == 1000);
    }
}

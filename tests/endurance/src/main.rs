//! `cargo xtask endurance`: a server, or a gateway and the server behind it, under load for minutes
//! or hours, while other clients misbehave.
//!
//! Three kinds of clients call at the same time:
//!
//! | clients | module |
//! |---|---|
//! | good ones, at a share of the server's capacity, which check each value of each answer | [`traffic`] |
//! | bad ones: killed, half-closed, slow, wrong, truncated | [`trouble`] |
//! | good ones in a process that is killed again and again | [`victims`] |
//!
//! With `--tls` the server's certificate is replaced all the time, and bad clients are left out
//! ([`certificates`]). With `--full-disk` others upload more than a small disk holds ([`spills`]).
//!
//! Good clients must get all their answers, and the right ones. Memory must be level ([`memory`]).
//! At the end the servers are asked to stop while good clients call, and must do so without a wrong
//! answer and within their time.
//!
//! `cargo xtask fleet` is another program in here: [`fleet`].

#![forbid(unsafe_code)]

mod certificates;
mod fleet;
mod memory;
mod report;
mod servers;
mod spills;
mod traffic;
mod trouble;
mod victims;

use anyhow::{Context, Result, ensure};
use certificates::{Authority, Rotation};
use clap::{Args, Parser, Subcommand};
use deltasoap_load::{Arrivals, Outcome, Plan, Progress, Stop, Target, Watch};
use fleet::FleetArguments;
use indicatif::{ProgressBar, ProgressStyle};
use memory::Memory;
use report::{Others, Report};
use servers::{Conditions, Servers};
use spills::{SmallDisk, Spills};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};
use traffic::{Echoes, Form};
use trouble::Trouble;
use victims::Victims;

/// How long the capacity is measured.
const CALIBRATION: Duration = Duration::from_secs(5);
/// How long good clients call while the servers are stopped, and when those are asked to.
const FAREWELL: Duration = Duration::from_secs(4);
const ASKED_AFTER: Duration = Duration::from_secs(1);
/// Servers may take this long to stop.
const MAX_STOP: Duration = Duration::from_secs(40);

/// Servers under load, with clients that are killed, half-closed, slow or wrong
#[derive(Debug, Parser)]
#[command(name = "cargo xtask endurance", version)]
struct Arguments {
    #[command(flatten)]
    run: RunArguments,
    #[command(subcommand)]
    role: Option<Role>,
}

#[derive(Debug, Args)]
struct RunArguments {
    /// The program `deltasoap`
    #[arg(long, value_name = "PROGRAM", default_value = "target/release/deltasoap")]
    program: PathBuf,
    /// Duration of the load
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Call in JSON, through a gateway in front of the server
    #[arg(long)]
    gateway: bool,
    /// Call by TLS, while the server's certificate is replaced again and again; without bad clients
    #[arg(long, conflicts_with = "gateway")]
    tls: bool,
    /// Upload more than the server's disk holds: a small one that is mounted for this (Linux, as root)
    #[arg(long, conflicts_with = "gateway")]
    full_disk: bool,
    /// Connections of good clients
    #[arg(long, default_value_t = 32, value_name = "N")]
    connections: usize,
    /// Good clients call at this share of the capacity that is measured first
    #[arg(long, default_value_t = 0.8, value_name = "SHARE")]
    share: f64,
    /// Bad clients that misbehave at the same time
    #[arg(long, default_value_t = 16, value_name = "N")]
    bad: usize,
    /// Seed of what is sent and how clients misbehave
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Role {
    /// Devices call three servers behind a load balancer; `cargo xtask fleet`
    Fleet(FleetArguments),
    /// Calls as a good client until it is killed; used by the program itself
    #[command(hide = true)]
    Victim {
        /// The server
        url: String,
        /// Call in JSON
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.role {
        Some(Role::Victim { url, json }) => victims::call(&url, Form::new(json)).map(|()| ExitCode::SUCCESS),
        Some(Role::Fleet(arguments)) => fleet::run(&arguments),
        None => run(&arguments.run),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// Runs everything; fails if anything was wrong.
fn run(arguments: &RunArguments) -> Result<ExitCode> {
    let form = Form::new(arguments.gateway);
    let folder = tempfile::tempdir()?;
    let authority = arguments.tls.then(|| Authority::new(folder.path())).transpose()?;
    let disk = arguments.full_disk.then(|| SmallDisk::mount(folder.path())).transpose()?;
    let certificate = authority.as_ref().map(Authority::files);
    let conditions = Conditions { certificate, temporary: disk.as_ref().map(SmallDisk::path) };
    let mut servers = Servers::start(&arguments.program, arguments.gateway, &conditions)?;
    let target = match &authority {
        Some(authority) => authority.target(servers.address())?,
        None => Target::plain(servers.address()),
    };
    let echoes = Echoes::new(form, servers.address());
    let capacity = capacity(&target, echoes.clone(), arguments)?;
    let report = endure(arguments, &servers, authority, (&target, &echoes), capacity)?;
    let report = match farewell(&mut servers, (&target, echoes), arguments) {
        Ok(farewell) => report.with_farewell(farewell),
        Err(error) => {
            print!("{}", report.table());
            return Err(error);
        }
    };
    match arguments.json {
        true => println!("{}", serde_json::to_string_pretty(&report)?),
        false => print!("{}", report.table()),
    }
    let complaints = report.complaints();
    complaints.iter().for_each(|complaint| eprintln!("error: {complaint}"));
    Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Measures how many requests a second the servers answer to good clients alone.
fn capacity(target: &Target, echoes: Echoes, arguments: &RunArguments) -> Result<f64> {
    let plan = Plan { connections: arguments.connections, time: Some(CALIBRATION), ..Plan::default() };
    let outcome = deltasoap_load::run(target, echoes, &plan, &Stop::default(), &mut ())?;
    let total = outcome.total();
    ensure!(total.failed() == 0, "{}", report::failures(&total));
    Ok(total.answered() as f64 / outcome.time.as_secs_f64())
}

/// Has all clients call at the same time.
fn endure(
    arguments: &RunArguments,
    servers: &Servers,
    authority: Option<Authority>,
    (target, echoes): (&Target, &Echoes),
    capacity: f64,
) -> Result<Report> {
    let time = Duration::from_secs_f64(arguments.minutes * 60.0);
    let rate = capacity * arguments.share;
    let plan = Plan {
        connections: arguments.connections,
        open: Some((rate, Arrivals::Poisson)),
        time: Some(time),
        seed: arguments.seed,
        ..Plan::default()
    };
    // Bad clients and victims speak no TLS.
    let is_plain = authority.is_none();
    let (address, seed) = (servers.address(), arguments.seed);
    let trouble = Trouble::start(echoes, address, if is_plain { arguments.bad } else { 0 }, seed)?;
    let victims = is_plain.then(|| Victims::start(&servers.url(), echoes.form(), seed)).transpose()?;
    let rotate = |authority| Rotation::start(authority, servers.process(), address, echoes.clone(), seed);
    let rotation = authority.map(rotate).transpose()?;
    let spills = arguments.full_disk.then(|| Spills::start(target)).transpose()?;
    let mut watcher = Watcher::new(time, Memory::of(servers.processes()));
    let outcome = deltasoap_load::run(target, echoes.clone(), &plan, &Stop::default(), &mut watcher)?;
    watcher.bar.finish_and_clear();
    let others = Others {
        troubled: trouble.end()?,
        killed: victims.map_or(Ok(0), Victims::end),
        rotated: rotation.map(Rotation::end).transpose(),
        spilled: spills.map(Spills::end).transpose()?,
    };
    Ok(Report::new(&outcome, (capacity, rate), others, watcher.memory))
}

/// Stops the servers while good clients call.
fn farewell(
    servers: &mut Servers,
    (target, echoes): (&Target, Echoes),
    arguments: &RunArguments,
) -> Result<(Outcome, Duration)> {
    let plan = Plan { connections: arguments.connections, time: Some(FAREWELL), ..Plan::default() };
    let target = target.clone();
    let calling = thread::spawn(move || deltasoap_load::run(&target, echoes, &plan, &Stop::default(), &mut ()));
    thread::sleep(ASKED_AFTER);
    let asked = Instant::now();
    servers.stop(MAX_STOP)?;
    let took = asked.elapsed();
    let outcome = calling.join().ok().context("the load panicked")??;
    Ok((outcome, took))
}

/// Shows progress and samples memory.
struct Watcher {
    bar: ProgressBar,
    memory: Memory,
}

impl Watcher {
    fn new(time: Duration, memory: Memory) -> Self {
        let style = ProgressStyle::with_template("{elapsed_precise} [{bar:40}] {msg}");
        let bar = ProgressBar::new(time.as_secs()).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Watcher { bar, memory }
    }
}

impl Watch for Watcher {
    fn tick(&mut self, progress: &Progress<'_>) {
        self.memory.sample(progress.measured);
        self.bar.set_position(progress.measured.as_secs());
        self.bar.set_message(self.memory.now());
    }
}

//! Processes of good clients that are killed in the middle of what they do.

use crate::report;
use crate::traffic::{Echoes, Form};
use anyhow::{Context, Result, ensure};
use deltasoap_load::{Plan, Stop, Target};
use deltasoap_test_support::Chance;
use std::env;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A process calls over this many connections, and waits this long between calls.
const CONNECTIONS: usize = 8;
const THINK: Duration = Duration::from_millis(20);
/// Milliseconds that a process lives.
const LIFE: (usize, usize) = (200, 2000);

/// Processes, one after the other.
#[derive(Debug)]
pub struct Victims {
    has_ended: Arc<AtomicBool>,
    thread: JoinHandle<Result<u64>>,
}

impl Victims {
    /// Starts the first process, and another one after each that was killed.
    pub fn start(url: &str, form: Form, seed: u64) -> Result<Self> {
        let has_ended = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&has_ended);
        let program = env::current_exe().context("this program")?;
        let url = url.to_owned();
        let thread = thread::spawn(move || {
            let mut chance = Chance::seeded(seed);
            let mut killed = 0;
            while !ended.load(Ordering::Relaxed) {
                let mut command = Command::new(&program);
                command.args(["victim", &url]).args((form == Form::Json).then_some("--json"));
                let mut child = command.stderr(Stdio::inherit()).spawn().context("a client")?;
                thread::sleep(Duration::from_millis(chance.between(LIFE.0, LIFE.1) as u64));
                // It ends by itself only if an answer is wrong, which it has printed.
                ensure!(child.try_wait()?.is_none(), "a client got a wrong answer");
                child.kill().context("a client")?;
                child.wait().context("a client")?;
                killed += 1;
            }
            Ok(killed)
        });
        Ok(Victims { has_ended, thread })
    }

    /// Returns the number of processes that were killed.
    pub fn end(self) -> Result<u64> {
        self.has_ended.store(true, Ordering::Relaxed);
        self.thread.join().ok().context("a thread panicked")?
    }
}

/// Calls a server until this process is killed.
///
/// # Errors
/// If an answer is wrong.
pub fn call(url: &str, form: Form) -> Result<()> {
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let address: SocketAddr = address.parse().with_context(|| format!("{url} has no address"))?;
    let plan = Plan { connections: CONNECTIONS, time: None, think: THINK, max_failed: Some(1), ..Plan::default() };
    let outcome =
        deltasoap_load::run(&Target::plain(address), Echoes::new(form, address), &plan, &Stop::default(), &mut ())?;
    anyhow::bail!("{}", report::failures(&outcome.total()))
}

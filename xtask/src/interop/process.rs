//! Programs under test: clients, which run to completion, and servers, which run until they are
//! dropped.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::shell;

/// Prefix of the lines of standard output in which a server announces its URL.
const ANNOUNCEMENT: &str = "listening on ";
/// Time limit for a server's announcement, and for the run of a client.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Runs a client to completion and returns its standard output. Its other output is shown only if
/// it fails.
pub fn output(command: &mut Command) -> Result<String> {
    let mut timed = shell::command("timeout", [TIMEOUT.as_secs().to_string()]);
    timed.arg(command.get_program()).args(command.get_args());
    timed.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        timed.current_dir(folder);
    }
    shell::output(&mut timed)
}

/// A server; killed when dropped.
pub struct Server {
    process: Child,
    pub url: String,
    /// URL for TLS, if the same process serves it.
    pub secure_url: Option<String>,
}

impl Server {
    /// Starts a server and waits until it has announced its URL: once, or twice with TLS. Its
    /// standard error goes to `.peers/NAME/server.log`.
    pub fn start(name: &str, command: &mut Command, addresses: usize) -> Result<Self> {
        let find_url = |line: &str| line.strip_prefix(ANNOUNCEMENT).map(|url| url.trim().to_owned());
        Self::start_with_announcement(name, command, addresses, find_url)
    }

    /// Like [`Server::start`], for a server with another announcement: `find_url` finds the URL in
    /// a line.
    pub fn start_with_announcement(
        name: &str,
        command: &mut Command,
        addresses: usize,
        find_url: impl Fn(&str) -> Option<String> + Send + 'static,
    ) -> Result<Self> {
        let log = shell::workspace(name)?.join("server.log");
        let log = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn()?;
        let output = process.stdout.take().context("the server has no standard output")?;
        let mut server = Server { process, url: String::new(), secure_url: None };
        server.note(announced(output, addresses, find_url).with_context(|| format!("no server of {name}"))?);
        Ok(server)
    }

    fn note(&mut self, urls: Vec<String>) {
        let (secure, plain): (Vec<_>, Vec<_>) = urls.into_iter().partition(|url| url.starts_with("https:"));
        let secure = secure.into_iter().next();
        match plain.into_iter().next() {
            Some(url) => (self.url, self.secure_url) = (url, secure),
            None => self.url = secure.unwrap_or_default(),
        }
    }

    /// Returns the processor time that the process has used, in ticks of the system's clock (`man 5
    /// proc`: fields 14 and 15 of `stat`).
    ///
    /// # Errors
    /// Returns an error where there is no `/proc`.
    pub fn processor_ticks(&self) -> Result<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id())).context("no /proc")?;
        // The name, which may contain spaces, ends with the last parenthesis.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
        fields.map(|field| field.parse::<u64>().context("a field of stat")).sum()
    }

    /// Returns the URL with another path.
    pub fn at(&self, path: &str) -> String {
        let origin = self.url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
        origin + path
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Errors only mean that the process has already ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the first announced URLs. The output is read to its end, so that the server can go on
/// writing.
fn announced(
    output: ChildStdout,
    count: usize,
    find_url: impl Fn(&str) -> Option<String> + Send + 'static,
) -> Result<Vec<String>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        for url in lines.filter_map(|line| find_url(&line)) {
            // Further URLs are not needed.
            let _ = sender.send(url);
        }
    });
    let next = || receiver.recv_timeout(TIMEOUT).ok();
    let urls: Vec<String> = std::iter::from_fn(next).take(count).collect();
    if urls.len() < count {
        bail!("it exited, or did not announce its URL {count} times; see its server.log");
    }
    Ok(urls)
}

//! Our own server, as a process of its own that tests meet on a socket.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};

use anyhow::{Context, Result, bail};

use crate::shell;

/// Starts the server of `testdata/wsdl/bench.wsdl`. On Unix cargo becomes the program that it runs, so that
/// killing this process kills the server.
const SERVER: &[&str] = &["cargo", "run", "--release", "-p", "deltasoap-cli", "--", "serve", "--listen", "127.0.0.1:0"];
/// The server says where it is in a line of its standard output that begins so.
const ANNOUNCEMENT: &str = "listening on ";

/// Our server; killed when dropped.
pub struct Server {
    process: Child,
    /// The URL of the service.
    pub url: String,
    /// Kept open, so that the server may go on writing.
    output: BufReader<ChildStdout>,
}

impl Server {
    /// Starts it, on a free port.
    pub fn start() -> Result<Self> {
        let [program, arguments @ ..] = SERVER else { unreachable!("the command has a program") };
        let mut command = shell::command(program, arguments);
        let mut process = command.current_dir(shell::root()).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let output = process.stdout.take().context("the server has no standard output")?;
        let mut server = Server { process, url: String::new(), output: BufReader::new(output) };
        server.url = server.announced_url()?;
        Ok(server)
    }

    fn announced_url(&mut self) -> Result<String> {
        let mut line = String::new();
        while self.output.read_line(&mut line)? > 0 {
            if let Some(url) = line.strip_prefix(ANNOUNCEMENT) {
                return Ok(url.trim().to_owned());
            }
            line.clear();
        }
        bail!("the server has ended without a line that begins with {ANNOUNCEMENT:?}")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only if the process has ended, which is what they are for.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

//! The processes under load.

use anyhow::{Context, Result, ensure};
use deltasoap_test_support::Serving;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// A server, and the gateway that calls it.
#[derive(Debug)]
pub struct Servers {
    /// The one that clients call is the last.
    all: Vec<(&'static str, Serving)>,
}

/// What the server gets besides its arguments.
#[derive(Debug, Default)]
pub struct Conditions<'a> {
    /// The files of a certificate and its key: it serves by TLS.
    pub certificate: Option<[&'a Path; 2]>,
    /// Where it keeps temporary files.
    pub temporary: Option<&'a Path>,
}

impl Servers {
    /// Starts the demo's services, and a gateway for them on request.
    pub fn start(program: &Path, has_gateway: bool, conditions: &Conditions<'_>) -> Result<Self> {
        ensure!(program.exists(), "{} does not exist; build it first", program.display());
        let mut command = Command::new(program);
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        if let Some([certificate, key]) = conditions.certificate {
            command.arg("--tls-cert").arg(certificate).arg("--tls-key").arg(key);
        }
        if let Some(temporary) = conditions.temporary {
            // Each part that cannot be stored is an error in the log.
            command.env("TMPDIR", temporary).env("RUST_LOG", "off");
        }
        let server = Serving::start(&mut command);
        let mut all = vec![("server", server)];
        if has_gateway {
            let wsdl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wsdl/bench.wsdl");
            let mut command = Command::new(program);
            command.arg("gateway").arg(wsdl).args(["--listen", "127.0.0.1:0", "--endpoint", &all[0].1.url]);
            all.push(("gateway", Serving::start(&mut command)));
        }
        Ok(Servers { all })
    }

    /// Returns the address that clients call.
    pub fn address(&self) -> SocketAddr {
        self.front().address()
    }

    /// Returns the URL of the one that clients call.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address())
    }

    fn front(&self) -> &Serving {
        &self.all[self.all.len() - 1].1
    }

    /// Returns the number of the process that clients call.
    pub fn process(&self) -> u32 {
        self.front().child.id()
    }

    /// Returns names and numbers of the processes.
    pub fn processes(&self) -> Vec<(String, u32)> {
        self.all.iter().map(|(name, serving)| ((*name).to_owned(), serving.child.id())).collect()
    }

    /// Asks the servers to stop, the first one called first, and waits until they have.
    ///
    /// # Errors
    /// If one takes longer, or ends with an error.
    pub fn stop(&mut self, most: Duration) -> Result<()> {
        for (name, serving) in self.all.iter_mut().rev() {
            serving.signal("TERM");
            let asked = Instant::now();
            let status = loop {
                if let Some(status) = serving.child.try_wait().context("the process")? {
                    break status;
                }
                ensure!(asked.elapsed() < most, "the {name} has not stopped {} s after SIGTERM", most.as_secs());
                thread::sleep(Duration::from_millis(10));
            };
            ensure!(status.success(), "the {name} ended with {status} after SIGTERM");
        }
        Ok(())
    }
}

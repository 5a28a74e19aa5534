//! The servers of the toolkits, each in a separate process on the cores that the clients do not
//! use, and their transports.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use deltasoap::tls::Roots;
use tempfile::TempDir;

use super::calls::Mode;
use super::definition::LoadDefinition;
use super::not_measured::NotMeasured;
use super::toolkits::{Offers, Toolkit};
use crate::engine::Transport;
use crate::load::server::{Launch, OURS, Server};

/// A transport between a client and its server.
#[derive(Clone, Copy)]
pub struct TransportMode<'s> {
    /// The name in rows.
    pub mode: &'static str,
    /// The name in the peer protocol.
    pub name: &'static str,
    /// True if messages are compressed.
    pub is_gzip: bool,
    /// True if messages are encrypted.
    pub is_tls: bool,
    /// The secrets for TLS.
    pub secrets: Option<&'s Secrets>,
}

/// All transports.
pub const TRANSPORTS: [TransportMode<'_>; 4] = [
    TransportMode { mode: "plain", name: "plain", is_gzip: false, is_tls: false, secrets: None },
    TransportMode { mode: "gzip", name: "gzip", is_gzip: true, is_tls: false, secrets: None },
    TransportMode { mode: "TLS", name: "tls", is_gzip: false, is_tls: true, secrets: None },
    TransportMode { mode: "gzip and TLS", name: "gzip+tls", is_gzip: true, is_tls: true, secrets: None },
];

impl TransportMode<'_> {
    /// Returns the default, for measurements that are not about transports.
    pub fn plain() -> Self {
        TransportMode { mode: Mode::Regular.name(), ..TRANSPORTS[0] }
    }

    /// Returns the transport to set in a peer; `None` if it cannot have another one.
    pub fn for_peer(&self) -> Option<Transport> {
        let secrets = self.secrets?;
        Some(Transport { name: self.name, folder: secrets.folder.path().to_owned() })
    }

    /// Returns the options of our server.
    fn options(&self) -> Vec<String> {
        let secrets = self.secrets.map_or_else(Vec::new, |secrets| secrets.options(self.is_gzip, self.is_tls));
        [options(Mode::Regular), secrets].concat()
    }
}

/// Servers, each in a separate process on the cores that the clients do not use.
pub struct Servers {
    program: PathBuf,
    peers: PathBuf,
    is_pinned: bool,
    /// The servers for calls, by toolkit.
    running: HashMap<String, Result<Server, NotMeasured>>,
}

impl Servers {
    /// Creates the servers for a folder of built peers.
    ///
    /// # Errors
    /// When the path of this program is unknown.
    pub fn new(peers: PathBuf, is_pinned: bool) -> Result<Self> {
        let program = std::env::current_exe().context("the path of this program is unknown")?;
        Ok(Servers { program, peers, is_pinned, running: HashMap::new() })
    }

    /// Returns the address of a toolkit's server for calls by its own client, one connection at a
    /// time.
    ///
    /// # Errors
    /// When client or server do not support it, or the server does not start.
    pub fn of(
        &mut self,
        toolkit: &Toolkit,
        operation: &str,
        offers: &Offers,
        transport: &TransportMode<'_>,
    ) -> Result<SocketAddr, NotMeasured> {
        toolkit.can_call(operation).map_err(NotMeasured::Absent)?;
        toolkit.can_speak(transport.name).map_err(NotMeasured::Absent)?;
        let name = toolkit.server();
        let missing = || Err(format!("the server that its client calls, {name}, was not requested"));
        offers.get(name).cloned().unwrap_or_else(missing).map_err(NotMeasured::Absent)?;
        if !self.running.contains_key(name) {
            let launch = Launch { transport: transport.for_peer(), ..self.launch(1, transport.options()) };
            let server = launch.start(name).map_err(|error| NotMeasured::failed(&error));
            self.running.insert(name.to_owned(), server);
        }
        match &self.running[name] {
            Ok(server) => Ok(server.address),
            Err(reason) => Err(reason.clone()),
        }
    }

    /// Stops the server of a toolkit, if there is one.
    pub fn forget(&mut self, name: &str) {
        self.running.remove(name);
    }

    /// Stops all servers.
    pub fn forget_all(&mut self) {
        self.running.clear();
    }

    /// Starts a new server.
    ///
    /// # Errors
    /// When the toolkit has none for that, or it does not start.
    pub fn fresh(&self, toolkit: &Toolkit, load: &LoadDefinition, mode: Mode) -> Result<Server, NotMeasured> {
        toolkit.offers(load.operation()).map_err(NotMeasured::Absent)?;
        // One more, for trying the messages.
        let launch = self.launch(load.connections + 1, options(mode));
        launch.start(&toolkit.name).map_err(|error| NotMeasured::failed(&error))
    }

    /// Starts a server of ours.
    ///
    /// # Errors
    /// When it does not start.
    pub fn ours(&self, mode: Mode) -> Result<Server, NotMeasured> {
        self.launch(1, options(mode)).start(OURS).map_err(|error| NotMeasured::failed(&error))
    }

    fn launch(&self, connections: usize, options: Vec<String>) -> Launch {
        let (program, peers) = (self.program.clone(), self.peers.clone());
        Launch { program, options, peers, connections, transport: None, is_pinned: self.is_pinned }
    }
}

fn options(mode: Mode) -> Vec<String> {
    vec!["--mode".to_owned(), crate::options::name(mode)]
}

/// A self-signed certificate for this machine.
pub struct Secrets {
    folder: TempDir,
    /// The certificate as a trusted root.
    pub roots: Roots,
}

impl Secrets {
    /// Creates a certificate.
    ///
    /// # Errors
    /// When it cannot be created or written.
    pub fn new() -> Result<Self> {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
        let (folder, certificate) = (tempfile::tempdir()?, made.cert.pem());
        std::fs::write(folder.path().join("certificate.pem"), &certificate)?;
        let key = made.signing_key.serialize_pem();
        std::fs::write(folder.path().join("key.pem"), &key)?;
        std::fs::write(folder.path().join("identity.pem"), key + &certificate)?;
        Ok(Secrets { folder, roots: Roots::from_pem(certificate)? })
    }

    /// Returns our server's options.
    fn options(&self, is_gzip: bool, is_tls: bool) -> Vec<String> {
        let file = |name: &str| self.path(name).display().to_string();
        let mut options = if is_gzip { vec!["--gzip".to_owned()] } else { vec![] };
        if is_tls {
            options.extend(["--tls-cert".to_owned(), file("certificate.pem"), "--tls-key".to_owned(), file("key.pem")]);
        }
        options
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::new(self.folder.path()).join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transports_have_their_options() {
        let secrets = Secrets::new().unwrap();
        assert!(secrets.options(false, false).is_empty());
        assert_eq!(secrets.options(true, true).len(), 5);
    }
}

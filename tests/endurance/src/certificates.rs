//! A server's certificate that is replaced again and again while it serves (SIGHUP). A visitor connects
//! anew all the time: each handshake must succeed, with the newest certificate once it has been seen.

use crate::traffic::Echoes;
use crate::trouble::answer;
use anyhow::{Context, Result, bail, ensure};
use deltasoap_load::Target;
use deltasoap_test_support::Chance;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::client::Resumption;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde::Serialize;
use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The server's name in certificates.
const HOST: &str = "127.0.0.1";
/// A certificate is in use for this time before it is replaced.
const LIFE: Duration = Duration::from_secs(2);
/// The pause between two visits.
const PAUSE: Duration = Duration::from_millis(50);
/// A new certificate must be presented within this time.
const MAX_DELAY: Duration = Duration::from_secs(20);
/// A server that takes longer for a step of a visit hangs.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// An authority, and the files of the certificate that it issued last.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    certificate: PathBuf,
    key: PathBuf,
}

/// What became of certificates.
#[derive(Debug, Default, Serialize)]
pub struct Rotated {
    /// Certificates that were replaced, and connections that were made anew.
    pub replaced: u64,
    pub visits: u64,
    /// The longest time until a new certificate was presented, in seconds.
    pub delay: f64,
}

impl Authority {
    /// Creates an authority, with files in a folder, and issues the first certificate.
    ///
    /// # Errors
    /// If the files cannot be written.
    pub fn new(folder: &Path) -> Result<Self> {
        let mut params = CertificateParams::new([])?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let authority = Authority { issuer, certificate: folder.join("server.pem"), key: folder.join("server.key") };
        authority.issue()?;
        Ok(authority)
    }

    /// Returns the files of certificate and key.
    pub fn files(&self) -> [&Path; 2] {
        [&self.certificate, &self.key]
    }

    /// Writes a new certificate and its key.
    fn issue(&self) -> Result<CertificateDer<'static>> {
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new([HOST.to_owned()])?.signed_by(&key, &self.issuer)?;
        fs::write(&self.certificate, certificate.pem()).context("the certificate")?;
        fs::write(&self.key, key.serialize_pem()).context("the key")?;
        Ok(certificate.der().clone())
    }

    /// Returns a server whose certificates are of this authority.
    ///
    /// # Errors
    /// If the settings contradict each other.
    pub fn target(&self, server: SocketAddr) -> Result<Target> {
        Ok(Target::tls(server, self.clients()?, HOST)?)
    }

    /// Returns the settings of clients that trust this authority, and make each handshake in full.
    fn clients(&self) -> Result<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.resumption = Resumption::disabled();
        Ok(config)
    }
}

/// The rotation, in a thread of its own.
#[derive(Debug)]
pub struct Rotation {
    has_ended: Arc<AtomicBool>,
    thread: JoinHandle<Result<Rotated>>,
}

impl Rotation {
    /// Begins to replace the certificate of a server, which is a process.
    ///
    /// # Errors
    /// If the settings contradict each other.
    pub fn start(authority: Authority, process: u32, server: SocketAddr, echoes: Echoes, seed: u64) -> Result<Self> {
        let has_ended = Arc::new(AtomicBool::new(false));
        let visitor = Visitor { config: Arc::new(authority.clients()?), server, echoes, chance: Chance::seeded(seed) };
        let ended = Arc::clone(&has_ended);
        let thread = thread::spawn(move || rotate(&authority, process, visitor, &ended));
        Ok(Rotation { has_ended, thread })
    }

    /// Ends the rotation; returns what was found.
    ///
    /// # Errors
    /// If a visit failed, or a certificate was not presented in time, or was presented too long.
    pub fn end(self) -> Result<Rotated> {
        self.has_ended.store(true, Ordering::Relaxed);
        self.thread.join().ok().context("the visitor panicked")?
    }
}

fn rotate(authority: &Authority, process: u32, mut visitor: Visitor, ended: &AtomicBool) -> Result<Rotated> {
    let mut rotated = Rotated::default();
    let mut current = visitor.visit()?;
    while !ended.load(Ordering::Relaxed) {
        let new = authority.issue()?;
        let status = Command::new("kill").args(["-HUP", &process.to_string()]).status().context("kill")?;
        ensure!(status.success(), "the server is gone");
        let issued = Instant::now();
        loop {
            let presented = visitor.visit()?;
            rotated.visits += 1;
            if presented == new {
                break;
            }
            ensure!(presented == current, "a certificate was presented that is neither the old nor the new one");
            ensure!(issued.elapsed() < MAX_DELAY, "a new certificate was not presented in {} s", MAX_DELAY.as_secs());
            thread::sleep(PAUSE);
        }
        rotated.delay = rotated.delay.max(issued.elapsed().as_secs_f64());
        rotated.replaced += 1;
        current = new;
        while issued.elapsed() < LIFE && !ended.load(Ordering::Relaxed) {
            ensure!(visitor.visit()? == current, "an old certificate was presented after the new one");
            rotated.visits += 1;
            thread::sleep(PAUSE);
        }
    }
    Ok(rotated)
}

/// A client that connects for each request.
struct Visitor {
    config: Arc<ClientConfig>,
    server: SocketAddr,
    echoes: Echoes,
    chance: Chance,
}

impl Visitor {
    /// Makes a request over a connection of its own, and checks the answer. Returns the certificate that
    /// the server presented.
    fn visit(&mut self) -> Result<CertificateDer<'static>> {
        let echo = self.echoes.short(&mut self.chance);
        let socket = TcpStream::connect_timeout(&self.server, MAX_WAIT).context("the visitor cannot connect")?;
        socket.set_read_timeout(Some(MAX_WAIT))?;
        let connection = ClientConnection::new(Arc::clone(&self.config), HOST.try_into()?)?;
        let mut stream = StreamOwned::new(connection, socket);
        stream.write_all(&echo.last_request).context("the visitor's handshake")?;
        let mut bytes = Vec::new();
        match stream.read_to_end(&mut bytes) {
            // The length of the answer shows whether it is whole.
            Err(error) if error.kind() != ErrorKind::UnexpectedEof => bail!("the visitor's answer: {error}"),
            _ => {}
        }
        let answer = answer(&bytes).map_err(anyhow::Error::msg)?;
        let (status, body) = answer.context("the visitor's answer was broken off")?;
        let checked = self.echoes.check(echo, status, &body);
        checked.map_err(|failed| anyhow::anyhow!("the visitor: {}: {}", failed.failure.name(), failed.detail))?;
        let presented = stream.conn.peer_certificates().and_then(<[_]>::first).context("no certificate")?;
        Ok(presented.clone().into_owned())
    }
}

//! The certificate of a server, which is read again when the process is told to (SIGHUP).

use crate::files;
use crate::hangups::Hangups;
use crate::output::{print_line, report};
use anyhow::{Context as _, Result};
use deltasoap_http::{Identity, Rotation};
use std::path::Path;

/// Reads a certificate and its private key from PEM files.
pub fn identity((certificate, key): (&Path, &Path)) -> Result<Identity> {
    let identity = Identity::from_pem(files::read(certificate)?, files::read(key)?);
    identity.with_context(|| {
        format!("{} and {} are not a certificate and its private key", certificate.display(), key.display())
    })
}

/// The certificate of a running server.
pub struct Renewal<'p> {
    hangups: Hangups,
    rotation: Rotation,
    paths: (&'p Path, &'p Path),
}

impl<'p> Renewal<'p> {
    /// From here on, a signal does not end the process.
    pub fn new(rotation: Rotation, paths: (&'p Path, &'p Path)) -> Result<Self> {
        Ok(Renewal { hangups: Hangups::watch()?, rotation, paths })
    }

    /// Reads the files again whenever the process is told to, and replaces the certificate. What cannot be
    /// used is reported, and the old certificate stays.
    async fn run(mut self) -> Result<()> {
        loop {
            self.hangups.next().await;
            match identity(self.paths).and_then(|identity| Ok(self.rotation.replace(identity)?)) {
                // The server goes on, even if nobody reads what it prints.
                Ok(()) => drop(print_line("the certificate was read again")),
                Err(error) => report(format_args!("error: the old certificate stays: {error:#}")),
            }
        }
    }
}

/// Renews a certificate, if there is one.
pub async fn renewed(renewal: Option<Renewal<'_>>) -> Result<()> {
    match renewal {
        Some(renewal) => renewal.run().await,
        None => std::future::pending().await,
    }
}

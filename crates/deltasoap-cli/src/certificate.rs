//! The certificate of a server, which is read again when the process is told to (SIGHUP).

use crate::files;
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

/// Reads the files again whenever the process is told to, and replaces the certificate of a server. What
/// cannot be used is reported, and the old certificate stays. Without a certificate, nothing happens.
#[cfg(unix)]
pub async fn renewed(certificate: Option<(Rotation, (&Path, &Path))>) -> Result<()> {
    use crate::output::{print_line, report};
    use tokio::signal::unix::{SignalKind, signal};
    let Some((rotation, paths)) = certificate else { return std::future::pending().await };
    let mut hangups = signal(SignalKind::hangup())?;
    loop {
        hangups.recv().await;
        match identity(paths).and_then(|identity| Ok(rotation.replace(identity)?)) {
            // The server goes on, even if nobody reads what it prints.
            Ok(()) => drop(print_line("the certificate was read again")),
            Err(error) => report(format_args!("error: the old certificate stays: {error:#}")),
        }
    }
}

#[cfg(not(unix))]
pub async fn renewed(_: Option<(Rotation, (&Path, &Path))>) -> Result<()> {
    std::future::pending().await
}

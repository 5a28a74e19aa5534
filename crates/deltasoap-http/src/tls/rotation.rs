//! A server's certificate that can be replaced while the server runs.
//!
//! rustls asks for the certificate in each handshake. So a new one needs no restart: connections that
//! are open keep the old one, those that follow get the new one.

use super::{Identity, TlsError, provider};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Replaces the certificate of running servers: see [`ServerTls::rotation`](super::ServerTls::rotation).
/// All clones replace the same one.
///
/// ```no_run
/// # async fn run(service: deltasoap_http::SoapService) -> Result<(), Box<dyn std::error::Error>> {
/// use deltasoap_http::{Identity, Server, ServerTls};
/// use std::fs::read;
///
/// let identity = || -> Result<_, Box<dyn std::error::Error>> {
///     Ok(Identity::from_pem(read("server.pem")?, read("server.key")?)?)
/// };
/// let tls = ServerTls::new(identity()?);
/// let rotation = tls.rotation();
/// let server = Server::bind("0.0.0.0:443").await?.tls(tls)?;
/// tokio::spawn(server.serve(service));
/// // Later, when the files are new:
/// rotation.replace(identity()?)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Rotation(Arc<RwLock<Current>>);

enum Current {
    /// Not looked at yet.
    Given(Identity),
    Checked(Arc<CertifiedKey>),
}

impl Rotation {
    pub(super) fn new(identity: Identity) -> Self {
        Rotation(Arc::new(RwLock::new(Current::Given(identity))))
    }

    /// Presents another certificate in handshakes from now on. Connections that are open keep theirs,
    /// and a client that resumes a session of TLS gets no certificate at all.
    ///
    /// # Errors
    /// When certificate and key do not match or cannot be used. Then the previous certificate stays.
    pub fn replace(&self, identity: Identity) -> Result<(), TlsError> {
        let checked = Current::Checked(certified(identity)?);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = checked;
        Ok(())
    }

    /// Makes the certificate ready for handshakes.
    ///
    /// # Errors
    /// When certificate and key do not match or cannot be used.
    pub(super) fn check(&self) -> Result<(), TlsError> {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Current::Given(identity) = &*current {
            *current = Current::Checked(certified(identity.clone())?);
        }
        Ok(())
    }
}

fn certified(identity: Identity) -> Result<Arc<CertifiedKey>, TlsError> {
    let Identity { chain, key } = identity;
    Ok(Arc::new(CertifiedKey::from_der(chain, key, &provider())?))
}

impl ResolvesServerCert for Rotation {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        match &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            Current::Checked(key) => Some(Arc::clone(key)),
            Current::Given(_) => None,
        }
    }
}

/// Omits the key.
impl fmt::Debug for Rotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rotation").finish_non_exhaustive()
    }
}

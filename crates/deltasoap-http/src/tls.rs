//! TLS 1.2 and 1.3 for servers and clients, by rustls with ring, or with aws-lc.
//!
//! [`Identity`] is a side's own certificate, [`Roots`] are the certificates it trusts. Nothing here
//! depends on the provider that the process may have installed for rustls, or installs one.

mod explained;
mod pinned;
mod rotation;

pub(crate) use explained::explained;
use explained::is_of_version_1;
use pinned::Pinned;
pub use rotation::Rotation;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::{
    ClientConfig, ConfigBuilder, ConfigSide, DigitallySignedStruct, RootCertStore, ServerConfig, SignatureScheme,
    WantsVerifier, WantsVersions,
};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Default maximum time of a handshake.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

/// Certificates and keys that TLS cannot use.
#[derive(Debug)]
#[non_exhaustive]
pub enum TlsError {
    /// PEM text is malformed, or lacks its expected content. Holds the reason, but none of the
    /// text, which may be a key.
    Pem(&'static str),
    /// The text contains no certificate.
    NoCertificate,
    /// The private key is encrypted.
    EncryptedKey,
    /// A certificate or a key cannot be used, or they do not match.
    Tls(rustls::Error),
    /// Roots for verifying the peer cannot be used.
    Verifier(rustls::server::VerifierBuilderError),
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsError::Pem(error) => write!(f, "the PEM text cannot be used: {error}"),
            TlsError::NoCertificate => f.write_str("the PEM text contains no certificate"),
            TlsError::EncryptedKey => {
                f.write_str("the private key is encrypted; `openssl pkey -in KEY -out PLAIN` decrypts it")
            }
            TlsError::Tls(error) if is_of_version_1(error) => f.write_str(
                "a certificate cannot be used: it has X.509 version 1, but version 3 is required, as made by `openssl req -x509`",
            ),
            TlsError::Tls(error) => write!(f, "certificate and key cannot be used: {error}"),
            TlsError::Verifier(error) => write!(f, "the trusted certificates cannot be used: {error}"),
        }
    }
}

/// The text contains that of the error inside, so the source is what that error was caused by.
impl std::error::Error for TlsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TlsError::Pem(_) | TlsError::NoCertificate | TlsError::EncryptedKey => None,
            TlsError::Tls(error) => error.source(),
            TlsError::Verifier(error) => error.source(),
        }
    }
}

impl From<pem::Error> for TlsError {
    fn from(error: pem::Error) -> Self {
        TlsError::Pem(match error {
            pem::Error::MissingSectionEnd { .. } => {
                "a section has no END line; BEGIN, END and the content between them must be on separate lines"
            }
            pem::Error::IllegalSectionStart { .. } => "the BEGIN line of a section is malformed",
            pem::Error::Base64Decode(_) => "the content of a section is not base64",
            pem::Error::NoItemsFound => "it has no section of the required kind",
            pem::Error::SectionTooLarge => "a section is too large",
            _ => "it cannot be read",
        })
    }
}

impl From<rustls::Error> for TlsError {
    fn from(error: rustls::Error) -> Self {
        TlsError::Tls(error)
    }
}

/// A certificate with its chain and its private key, by which a server or a client identifies
/// itself.
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    /// Creates an identity from two PEM texts, which may be the same.
    ///
    /// The first contains certificates, the own one first; the second an unencrypted private key in
    /// PKCS #8, PKCS #1 or SEC1.
    ///
    /// # Errors
    /// Returns an error if a text is malformed, or contains no certificate or no key. A mismatch
    /// between the two is only detected when they are used.
    pub fn from_pem(chain: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> Result<Self, TlsError> {
        let (chain, key) = (certificates(chain.as_ref())?, key.as_ref());
        if memchr::memmem::find(key, b"ENCRYPTED").is_some() {
            return Err(TlsError::EncryptedKey);
        }
        Ok(Identity { chain, key: PrivateKeyDer::from_pem_slice(key)? })
    }
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        Identity { chain: self.chain.clone(), key: self.key.clone_key() }
    }
}

/// Omits the key.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("certificates", &self.chain.len()).finish_non_exhaustive()
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>()?;
    if certificates.is_empty() { Err(TlsError::NoCertificate) } else { Ok(certificates) }
}

/// Trusted certificates: of authorities, and of servers themselves.
///
/// A server whose own certificate is [among those given](Self::from_pem) is trusted without further
/// verification of its chain. The certificate can be self-signed, as made by `openssl req -x509`,
/// be an authority's, or be issued by an authority that is not trusted. Its dates must be valid,
/// and it must match the host's name: by its `subjectAltName`, or by its common name if it has no
/// `subjectAltName`.
#[derive(Debug, Clone)]
pub struct Roots {
    store: RootCertStore,
    /// The given certificates, unchanged.
    given: Vec<CertificateDer<'static>>,
}

impl Roots {
    /// Creates roots from PEM text with one or more certificates.
    ///
    /// # Errors
    /// Returns an error if the text is malformed or contains no certificate, or one cannot be used.
    pub fn from_pem(pem: impl AsRef<[u8]>) -> Result<Self, TlsError> {
        let mut store = RootCertStore::empty();
        let given = certificates(pem.as_ref())?;
        given.iter().cloned().try_for_each(|certificate| store.add(certificate))?;
        Ok(Roots { store, given })
    }

    /// Returns the roots that the system trusts, or those in the files of `SSL_CERT_FILE` and
    /// `SSL_CERT_DIR`. Unreadable certificates are left out, with a warning. This reads files,
    /// which takes some milliseconds.
    pub fn platform() -> Self {
        let found = rustls_native_certs::load_native_certs();
        found.errors.iter().for_each(|error| tracing::warn!(%error, "a system root certificate could not be read"));
        let mut store = RootCertStore::empty();
        let (_, ignored) = store.add_parsable_certificates(found.certs);
        if ignored > 0 || store.is_empty() {
            tracing::warn!(used = store.len(), ignored, "some or all system root certificates cannot be used");
        }
        Roots { store, given: Vec::new() }
    }

    /// Returns the public authorities on Mozilla's list, for machines without trusted roots in the
    /// system.
    pub fn public() -> Self {
        let store = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        Roots { store, given: Vec::new() }
    }

    /// Returns true if nobody is trusted.
    pub fn is_empty(&self) -> bool {
        self.store.is_empty()
    }

    fn verifier(self) -> Result<Pinned, TlsError> {
        let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(self.store), provider());
        Ok(Pinned { chains: chains.build().map_err(TlsError::Verifier)?, trusted: self.given })
    }

    /// Combines these roots with others.
    #[must_use]
    pub fn and(mut self, others: Roots) -> Self {
        self.store.roots.extend(others.store.roots);
        self.given.extend(others.given);
        self
    }
}

/// TLS in a [`Server`](crate::Server): see [`Server::tls`](crate::Server::tls).
///
/// ```no_run
/// # fn settings() -> Result<deltasoap_http::ServerTls, Box<dyn std::error::Error>> {
/// use deltasoap_http::{Identity, Roots, ServerTls};
///
/// let identity = Identity::from_pem(std::fs::read("server.pem")?, std::fs::read("server.key")?)?;
/// let clients = Roots::from_pem(std::fs::read("clients-ca.pem")?)?;
/// let tls = ServerTls::new(identity).require_clients(clients);
/// # Ok(tls)
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ServerTls {
    identity: Rotation,
    clients: Clients,
    pub(crate) handshake_timeout: Duration,
}

/// The policy for client certificates.
#[derive(Debug, Clone)]
enum Clients {
    Anonymous,
    Optional(Roots),
    Required(Roots),
}

impl ServerTls {
    /// Creates settings for a server that presents its certificate, and requests none from clients.
    pub fn new(identity: Identity) -> Self {
        ServerTls { identity: Rotation::new(identity), clients: Clients::Anonymous, handshake_timeout: HANDSHAKE_TIME }
    }

    /// Returns what replaces the certificate while servers with these settings, or clones of them, run.
    pub fn rotation(&self) -> Rotation {
        self.identity.clone()
    }

    /// Serves only clients with a certificate signed by one of these roots (mutual TLS).
    #[must_use]
    pub fn require_clients(mut self, roots: Roots) -> Self {
        self.clients = Clients::Required(roots);
        self
    }

    /// Requests a certificate from clients, and also serves those without one. A certificate that
    /// none of these roots signed is rejected.
    #[must_use]
    pub fn accept_clients(mut self, roots: Roots) -> Self {
        self.clients = Clients::Optional(roots);
        self
    }

    /// Sets the maximum time of a handshake; the connection ends after that. Default 10 s.
    #[must_use]
    pub fn handshake_timeout(mut self, timeout: Duration) -> Self {
        self.handshake_timeout = timeout;
        self
    }

    /// Returns the configuration of rustls, which negotiates one of the protocols with these names.
    pub(crate) fn config(self, alpn: &[&[u8]]) -> Result<Arc<ServerConfig>, TlsError> {
        let verifier = |roots: Roots| WebPkiClientVerifier::builder_with_provider(Arc::new(roots.store), provider());
        let verifier = match self.clients {
            Clients::Anonymous => Ok(WebPkiClientVerifier::no_client_auth()),
            Clients::Optional(roots) => verifier(roots).allow_unauthenticated().build(),
            Clients::Required(roots) => verifier(roots).build(),
        };
        let builder = versions(ServerConfig::builder_with_provider(provider()))?;
        let builder = builder.with_client_cert_verifier(verifier.map_err(TlsError::Verifier)?);
        self.identity.check()?;
        let mut config = builder.with_cert_resolver(Arc::new(self.identity));
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        Ok(Arc::new(config))
    }
}

/// TLS in a client: see [`HttpTransport::with_tls`](crate::HttpTransport::with_tls).
///
/// Servers are verified: their chain, the time, and that the certificate matches the host of the
/// URL, unless [verification is disabled](Self::unverified).
#[derive(Debug, Clone)]
pub struct ClientTls {
    roots: Roots,
    identity: Option<Identity>,
    is_unverified: bool,
}

impl ClientTls {
    /// Creates settings for a client that trusts only these roots, which may be
    /// [those of the system](Roots::platform), and presents no certificate.
    pub fn new(roots: Roots) -> Self {
        ClientTls { roots, identity: None, is_unverified: false }
    }

    /// Accepts any certificate, whoever owns it.
    ///
    /// Anyone on the network path can read the requests, and answer in the server's place. For
    /// testing servers without a certificate.
    #[must_use]
    pub fn unverified(mut self) -> Self {
        self.is_unverified = true;
        self
    }

    /// Sets the certificate to present to servers that request one (mutual TLS).
    #[must_use]
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identity = Some(identity);
        self
    }

    /// Returns the configuration of rustls, for other clients that trust the same servers.
    ///
    /// # Errors
    /// Returns an error if the identity or the roots cannot be used.
    pub fn config(self) -> Result<ClientConfig, TlsError> {
        let builder = versions(ClientConfig::builder_with_provider(provider()))?;
        let builder = match self.is_unverified {
            true => builder.dangerous().with_custom_certificate_verifier(Arc::new(Unverified(provider()))),
            // The verifier requires at least one root.
            false if self.roots.is_empty() => builder.with_root_certificates(self.roots.store),
            false => builder.dangerous().with_custom_certificate_verifier(Arc::new(self.roots.verifier()?)),
        };
        match self.identity {
            Some(Identity { chain, key }) => Ok(builder.with_client_auth_cert(chain, key)?),
            None => Ok(builder.with_no_client_auth()),
        }
    }
}

/// Accepts every server.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(&self, _: &[u8], _: &CertificateDer<'_>, _: &DigitallySignedStruct) -> Believed {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(&self, _: &[u8], _: &CertificateDer<'_>, _: &DigitallySignedStruct) -> Believed {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

type Believed = Result<HandshakeSignatureValid, rustls::Error>;

/// Returns ring's provider, or aws-lc's if that feature is the only one.
fn provider() -> Arc<CryptoProvider> {
    #[cfg(not(feature = "tls-ring"))]
    use rustls::crypto::aws_lc_rs::default_provider;
    #[cfg(feature = "tls-ring")]
    use rustls::crypto::ring::default_provider;
    Arc::new(default_provider())
}

fn versions<S: ConfigSide>(
    builder: ConfigBuilder<S, WantsVersions>,
) -> Result<ConfigBuilder<S, WantsVerifier>, TlsError> {
    Ok(builder.with_safe_default_protocol_versions()?)
}

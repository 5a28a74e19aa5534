//! WS-Security: what secures requests, and how answers and recorded messages are verified.

use super::access::with_password;
use crate::cli::Call;
use crate::files;
use anyhow::{Context as _, Result, bail};
use deltasoap::security::{Identity, Protection, Requirements, SecurityError, Trust, UsernameToken};
use deltasoap::types::Node;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The time for which a request is valid.
const VALID: Duration = Duration::from_secs(300);

/// Returns what secures the request of a call.
pub fn protection(arguments: &Call) -> Result<Option<Protection>> {
    let security = &arguments.security;
    let access = &arguments.description.loading.access;
    if access.cert.is_some() && access.key.is_none() && security.sign.is_none() {
        bail!("--cert needs the certificate's private key: --key for TLS, or --sign to sign the request");
    }
    let mut protection = Protection::new();
    if security.wsse_timestamp || security.sign.is_some() {
        protection = protection.timestamp(VALID);
    }
    if let Some(user) = &security.wsse_user {
        let (user, password) = with_password(user, "--wsse-user")?;
        protection = protection.user(match security.wsse_digest {
            true => UsernameToken::digest(user, password),
            false => UsernameToken::text(user, password),
        });
    }
    if let (Some(key), Some(cert)) = (&security.sign, &access.cert) {
        let identity = Identity::from_pem(files::read(cert)?, files::read(key)?);
        protection = protection.sign(identity.with_context(|| {
            format!("the certificate {} and the key {} cannot be used", cert.display(), key.display())
        })?);
    }
    let is_used = security.wsse_timestamp || security.wsse_user.is_some() || security.sign.is_some();
    Ok(is_used.then_some(protection))
}

/// Returns what is required of the answer of a call.
pub fn requirements(arguments: &Call) -> Result<Option<Requirements>> {
    let Some(path) = &arguments.security.wsse_trust else { return Ok(None) };
    Ok(Some(Requirements::new().trust(trust(path)?).signed_body()))
}

/// Reads certificates to trust: of signers, or of authorities.
fn trust(path: &Path) -> Result<Trust> {
    let pem = files::read(path)?;
    let trust = Trust::nobody().authorities(&pem).and_then(|trust| trust.certificates(&pem));
    trust.with_context(|| path.display().to_string())
}

/// Verifies a recorded message as of the time at which it was created. Returns the name of its
/// signer, or of its assertion's subject; `None` if it is not secured.
///
/// # Errors
/// The reason why it is not accepted.
pub fn verify(message: &[u8], certificates: &Path) -> Result<Result<Option<String>, SecurityError>> {
    let time = created(message).unwrap_or_else(SystemTime::now);
    let requirements = Arc::new(Requirements::new().trust(trust(certificates)?).unchecked_users().at(time));
    let mut verification = requirements.begin(deltasoap::engine::Limits::default());
    let verified = verification.push(message.to_vec()).and_then(|_| verification.finish());
    Ok(verified.map(|verified| verified.sender.name().map(str::to_owned)))
}

/// Returns the time at which a message says that it was created.
fn created(message: &[u8]) -> Option<SystemTime> {
    const WSU: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";
    let envelope = Node::parse(message).ok()?;
    let header = envelope.element(&envelope.name.namespace, "Header")?;
    let security = header.elements().find(|block| *block.name.local == *"Security")?;
    let text = security.element(WSU, "Timestamp")?.element(WSU, "Created")?.text();
    deltasoap::security::parse_time(&text).ok()
}

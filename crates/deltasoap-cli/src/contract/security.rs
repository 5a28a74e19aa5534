//! WS-Security: what secures requests, and how answers and recorded messages are verified.

use super::access::with_password;
use crate::cli::{Call, UserToken};
use crate::files;
use crate::output::report;
use anyhow::{Context as _, Result, bail};
use deltasoap::client::ClientBuilder;
use deltasoap::security::{
    Certificate, Identity, PolicyCredentials, Protection, Requirements, SecurityError, SecurityPolicy, Tls, Trust,
    UsernameToken,
};
use deltasoap::soap::PolicyDocuments;
use deltasoap::types::Node;
use deltasoap_dynamic::Operation;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The time for which a request is valid.
const VALID: Duration = Duration::from_secs(300);

/// How a call is secured: as the policies of the WSDL require, or as the options say alone.
pub enum Security {
    ByPolicy(Box<PolicyCredentials>),
    ByOptions { protection: Option<Box<Protection>>, requirements: Option<Arc<Requirements>>, ignores_policy: bool },
}

impl Security {
    /// Reads keys, certificates and passwords that the options name.
    pub fn of(arguments: &Call, operation: &Operation) -> Result<Self> {
        let given = Given::read(arguments)?;
        let options = &arguments.security;
        if options.ignore_policy || !secures_messages(&operation.policies()) {
            return Ok(Security::ByOptions {
                protection: given.protection().map(Box::new),
                requirements: given.requirements()?.map(Arc::new),
                ignores_policy: options.ignore_policy,
            });
        }
        let token = &options.token;
        for (is_given, option) in [(token.wsse_digest, "--wsse-digest"), (token.wsse_timestamp, "--wsse-timestamp")] {
            if is_given {
                report(format_args!(
                    "note: {option} has no effect: the policy of the WSDL decides; see --ignore-policy"
                ));
            }
        }
        Ok(Security::ByPolicy(Box::new(given.credentials()?)))
    }

    /// Sets the security of a client.
    pub fn apply(&self, builder: ClientBuilder) -> ClientBuilder {
        match self {
            Security::ByPolicy(credentials) => builder.policy_credentials((**credentials).clone()),
            Security::ByOptions { protection, requirements, ignores_policy } => {
                let builder = if *ignores_policy { builder.policies(PolicyDocuments::default()) } else { builder };
                let builder = match protection {
                    Some(protection) => builder.protection((**protection).clone()),
                    None => builder,
                };
                match requirements {
                    Some(requirements) => builder.requirements(Arc::clone(requirements)),
                    None => builder,
                }
            }
        }
    }
}

/// Describes what policies require of the security of operations: a note for each set of
/// requirements, with the first operation that has them and the number of others; and what is not
/// supported.
pub fn policy_notes(operations: &[Operation]) -> Vec<String> {
    let mut sets: Vec<(PolicyDocuments, usize, &Operation)> = Vec::new();
    for operation in operations {
        let documents = operation.policies();
        match sets.iter_mut().find(|(known, ..)| *known == documents) {
            Some((_, count, _)) => *count += 1,
            None if documents.is_empty() => {}
            None => sets.push((documents, 1, operation)),
        }
    }
    let note = |(documents, count, first): &(PolicyDocuments, usize, &Operation)| {
        let which = match count {
            1 => first.full_name(),
            count => format!("{count} operations, {} among them,", first.full_name()),
        };
        let verb = if *count == 1 { "requires" } else { "require" };
        let (requirements, unsupported) = described(documents);
        let mut note = format!("{which} {verb} {}", requirements.join(", "));
        if !unsupported.is_empty() {
            note.push_str(&format!("; `call` needs --ignore-policy, since {}", unsupported.join("; ")));
        }
        note
    };
    sets.iter().take(MAX_POLICY_NOTES).map(note).collect()
}

/// Maximum number of sets of requirements that are described.
const MAX_POLICY_NOTES: usize = 20;

/// Returns true if policies require more of messages than TLS, or cannot be read: then no client is
/// built.
pub fn secures_messages(documents: &PolicyDocuments) -> bool {
    SecurityPolicy::parse(documents).map_or(true, |policy| policy.secures_messages())
        || documents.request.is_empty() && !documents.required.is_empty()
}

/// Returns what policies require, in words, and what of it is not supported.
pub fn described(documents: &PolicyDocuments) -> (Vec<String>, Vec<String>) {
    match SecurityPolicy::parse(documents) {
        Ok(policy) if !policy.describe().is_empty() => (policy.describe(), policy.unsupported()),
        Ok(policy) => (vec![documents.required.to_string()], policy.unsupported()),
        Err(error) => (vec![documents.required.to_string()], vec![error.to_string()]),
    }
}

/// Names options in place of the library's functions.
pub fn in_options(reasons: &str) -> String {
    const OPTIONS: [(&str, &str); 11] = [
        ("a URL with https, or PolicyCredentials::tls", "a URL with https"),
        ("PolicyCredentials::tls with Tls::Mutual", "--cert and --key"),
        ("PolicyCredentials::trust or peer", "--wsse-trust or --encrypt-for"),
        ("PolicyCredentials::user", "--wsse-user"),
        ("PolicyCredentials::identity", "--sign and --cert"),
        ("PolicyCredentials::peer", "--encrypt-for"),
        ("PolicyCredentials::trust", "--wsse-trust"),
        ("PolicyCredentials::modern_algorithms", "--modern-algorithms"),
        ("PolicyCredentials::assertion", "which `call` does not send"),
        ("PolicyCredentials::kerberos", "which `call` does not send"),
        ("PolicyCredentials::http_authentication", "-u"),
    ];
    OPTIONS.iter().fold(reasons.to_owned(), |text, (function, option)| text.replace(function, option))
}

/// Returns name and password of a user name token.
pub fn user_of(token: &UserToken) -> Result<Option<(String, String)>> {
    let Some(user) = &token.wsse_user else { return Ok(None) };
    let (user, password) = with_password(user, "--wsse-user")?;
    Ok(Some((user.to_owned(), password)))
}

/// Returns what adds a user name token and a timestamp to requests.
pub fn token_protection(token: &UserToken, user: Option<&(String, String)>) -> Protection {
    let mut protection = Protection::new();
    if token.wsse_timestamp {
        protection = protection.timestamp(VALID);
    }
    if let Some((user, password)) = user {
        protection = protection.user(match token.wsse_digest {
            true => UsernameToken::digest(user, password),
            false => UsernameToken::text(user, password),
        });
    }
    protection
}

/// What the options name, read from files and the environment.
struct Given<'a> {
    arguments: &'a Call,
    identity: Option<Identity>,
    peer: Option<Certificate>,
    user: Option<(String, String)>,
}

impl<'a> Given<'a> {
    fn read(arguments: &'a Call) -> Result<Self> {
        let security = &arguments.security;
        let access = &arguments.description.loading.access;
        if access.cert.is_some() && access.key.is_none() && security.sign.is_none() {
            bail!("--cert needs the certificate's private key: --key for TLS, or --sign to sign the request");
        }
        let identity = match (&security.sign, &access.cert) {
            (Some(key), Some(cert)) => {
                let identity = Identity::from_pem(files::read(cert)?, files::read(key)?);
                Some(identity.with_context(|| {
                    format!("the certificate {} and the key {} cannot be used", cert.display(), key.display())
                })?)
            }
            _ => None,
        };
        let user = user_of(&security.token)?;
        let peer = security.encrypt_for.as_deref().map(certificate).transpose()?;
        Ok(Given { arguments, identity, peer, user })
    }

    /// Returns what secures the request, without policies.
    fn protection(&self) -> Option<Protection> {
        let token = &self.arguments.security.token;
        let mut protection = token_protection(token, self.user.as_ref());
        if let Some(identity) = &self.identity {
            protection = protection.timestamp(VALID).sign(identity.clone());
        }
        if let Some(peer) = &self.peer {
            protection = protection.encrypt(peer.clone());
        }
        let is_used = token.wsse_timestamp || self.user.is_some() || self.identity.is_some() || self.peer.is_some();
        is_used.then_some(protection)
    }

    /// Returns what is required of the answer, without policies.
    fn requirements(&self) -> Result<Option<Requirements>> {
        let mut requirements = None;
        if let Some(path) = &self.arguments.security.wsse_trust {
            requirements = Some(Requirements::new().trust(trust(path)?).signed_body());
        }
        if let (Some(identity), Some(_)) = (&self.identity, &self.peer) {
            requirements = Some(requirements.unwrap_or_default().decrypt_with(identity.clone())?);
        }
        Ok(requirements)
    }

    /// Returns what meets policies.
    fn credentials(self) -> Result<PolicyCredentials> {
        let security = &self.arguments.security;
        let mut credentials = PolicyCredentials::new();
        if let Some(identity) = self.identity {
            credentials = credentials.identity(identity);
        }
        if let Some(peer) = self.peer {
            credentials = credentials.peer(peer);
        }
        if let Some((user, password)) = self.user {
            credentials = credentials.user(user, password);
        }
        if let Some(path) = &security.wsse_trust {
            credentials = credentials.trust(trust(path)?);
        }
        if security.modern_algorithms {
            credentials = credentials.modern_algorithms();
        }
        if self.arguments.description.loading.access.key.is_some() {
            credentials = credentials.tls(Tls::Mutual);
        }
        Ok(credentials)
    }
}

/// Reads a certificate.
fn certificate(path: &Path) -> Result<Certificate> {
    let all = Certificate::all_from_pem(files::read(path)?).with_context(|| path.display().to_string())?;
    all.into_iter().next().with_context(|| format!("{} holds no certificate", path.display()))
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

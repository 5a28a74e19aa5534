//! WS-Security on one side of the proxy: messages there are secured, those on the other side plain.
//!
//! A message that is to be secured is read as a tree; its body is written in canonical form, and
//! what was in its header is signed with it. A message that arrives secured is verified in its own
//! bytes, decrypted, and passed on without its `Security` header.

use crate::config::{ConfigError, SecurityConfig, Side};
use crate::document::{self, Edits};
use crate::message::Tree;
use bytes::Bytes;
use deltasoap_core::soap::{Fault, FaultCode, HeaderBlock, Version};
use deltasoap_core::{Child, Node, Outgoing, QName, ns};
use deltasoap_security::{
    Certificate, Exchange, Identity, Protection, Requirements, SecurityError, Trust, UsernameToken, Verified,
};
use deltasoap_settings::file;
use deltasoap_xml::{Event, Limits};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The time for which a message is valid.
const VALID: Duration = Duration::from_secs(300);

/// What secures messages on one side, and what is required of those received there.
#[derive(Debug)]
pub(crate) struct Offload {
    pub(crate) side: Side,
    protection: Option<Protection>,
    requirements: Option<Arc<Requirements>>,
}

impl Offload {
    /// Reads keys, certificates and passwords.
    pub(crate) fn new(config: &SecurityConfig) -> Result<Self, ConfigError> {
        let read = Read::new(config)?;
        let offload = Offload {
            side: config.side,
            protection: read.protection(),
            requirements: read.requirements()?.map(Arc::new),
        };
        if offload.protection.is_none() && offload.requirements.is_none() {
            return Err(ConfigError::invalid("security", "it secures nothing, and requires nothing"));
        }
        Ok(offload)
    }

    /// Returns true if messages are secured before they are sent to the side.
    pub(crate) fn protects(&self) -> bool {
        self.protection.is_some()
    }

    /// Returns true if messages of the side are verified.
    pub(crate) fn verifies(&self) -> bool {
        self.requirements.is_some()
    }

    /// Secures a request. Also returns what its answer is verified against.
    pub(crate) fn secure_request(&self, message: &[u8]) -> Result<(Bytes, Exchange), SecurityError> {
        match &self.protection {
            Some(protection) => {
                let (protection, exchange) = protection.requesting();
                Ok((secured(&protection, message)?, exchange))
            }
            None => Ok((Bytes::copy_from_slice(message), Exchange::default())),
        }
    }

    /// Secures the answer to a request; `None` stands for a request that was not accepted.
    pub(crate) fn secure_answer(&self, message: &[u8], request: Option<&Verified>) -> Result<Bytes, SecurityError> {
        match (&self.protection, request) {
            (None, _) => Ok(Bytes::copy_from_slice(message)),
            (Some(protection), Some(request)) if protection.refers_to_requests() => {
                secured(&protection.answering(request), message)
            }
            (Some(protection), Some(_)) => secured(protection, message),
            (Some(protection), None) => secured(&protection.refusing(), message),
        }
    }

    /// Verifies a request. Returns it decrypted and without its `Security` header.
    pub(crate) fn verify_request(&self, message: Bytes) -> Result<(Bytes, Option<Verified>), SecurityError> {
        let Some(requirements) = &self.requirements else { return Ok((message, None)) };
        let (plain, verified) = verified(requirements.begin(Limits::server()), message)?;
        Ok((plain, Some(verified)))
    }

    /// Verifies the answer to a request; likewise.
    pub(crate) fn verify_answer(&self, message: Bytes, request: Exchange) -> Result<Bytes, SecurityError> {
        let Some(requirements) = &self.requirements else { return Ok(message) };
        verified(requirements.begin_response(Limits::server(), request), message).map(|(plain, _)| plain)
    }
}

/// Returns the fault for a client whose answer was not accepted: the target made it.
pub(crate) fn fault_of_answer(error: &SecurityError, version: Version) -> Fault {
    let fault = error.to_fault(version);
    let code = match &fault.code {
        FaultCode::Other(code) => Some(code.clone()),
        _ => fault.subcodes.first().cloned(),
    };
    let reason = format!("the answer of the service was not accepted: {}", fault.reason);
    match (code, version) {
        (Some(code), Version::Soap11) => Fault::new(FaultCode::Other(code), reason),
        (code, _) => {
            let mut fault = Fault::receiver(reason);
            fault.subcodes = code.into_iter().collect();
            fault
        }
    }
}

fn secured(protection: &Protection, message: &[u8]) -> Result<Bytes, SecurityError> {
    let unwritable = |error: &dyn std::fmt::Display| SecurityError::Write(error.to_string());
    let Tree { version, envelope } = Tree::parse(message).map_err(SecurityError::Malformed)?;
    let mut shape = Shape::default();
    for child in &envelope.children {
        match child {
            Child::Element(child) => shape.element(version, &child.name.namespace, &child.name.local),
            Child::Text(text) => shape.text(text),
        }
    }
    shape.check()?;
    let name = deltasoap_security::header_name();
    let header = envelope.element(version.namespace(), "Header");
    let around = |nodes: &[&Node]| {
        let bindings = nodes.iter().flat_map(|node| node.bindings.iter());
        bindings.map(|(prefix, namespace)| (prefix.clone(), namespace.clone())).collect::<BTreeMap<_, _>>()
    };
    let mut blocks = Vec::new();
    if let Some(header) = header {
        let outer = around(&[&envelope, header]);
        for block in header.elements() {
            if block.name == name && actor(block, version).is_none() {
                return Err(SecurityError::Malformed("the message has a Security header already".to_owned()));
            }
            blocks.push(HeaderBlock { node: detached(block, &outer) });
        }
    }
    let body = envelope.element(version.namespace(), "Body").cloned().unwrap_or_default();
    let mut body = detached(&body, &around(&[&envelope]));
    let id = QName::new(ns::WSU, "Id");
    body.attributes.retain(|(name, _)| *name != id);
    if let Some(own) = protection.body_id() {
        body.attributes.push((id, own.into()));
    }
    let (body, prefixes) = HeaderBlock { node: body }.to_canonical().map_err(|error| unwritable(&error))?;
    let message = protection.secure(version, &blocks, Outgoing::around(version, body, prefixes), &[])?;
    Ok(message.to_vec().into())
}

fn detached(node: &Node, outer: &BTreeMap<String, String>) -> Node {
    node.detached(&outer.iter().map(|(prefix, namespace)| (prefix.as_str(), namespace.as_str())).collect())
}

/// Returns the receiver that a header block is for, if that is not the last one.
fn actor(block: &Node, version: Version) -> Option<&str> {
    block.attribute(version.namespace(), actor_name(version)).filter(|actor| is_of_another(actor))
}

fn verified(
    mut verification: deltasoap_security::Verification,
    message: Bytes,
) -> Result<(Bytes, Verified), SecurityError> {
    let plain = verification.push(message)?;
    let verified = verification.finish()?;
    Ok((without_security(&plain)?, verified))
}

/// What an envelope holds: at most one header, then one body. Another one might be read by a
/// service although nobody has signed it.
#[derive(Default)]
struct Shape {
    header: bool,
    bodies: usize,
    is_wrong: bool,
}

impl Shape {
    fn element(&mut self, version: Version, namespace: &str, local: &str) {
        match local {
            "Header" if namespace == version.namespace() && !self.header && self.bodies == 0 => self.header = true,
            "Body" if namespace == version.namespace() => self.bodies += 1,
            _ => self.is_wrong = true,
        }
    }

    fn text(&mut self, text: &str) {
        self.is_wrong |= !text.trim_ascii().is_empty();
    }

    fn check(&self) -> Result<(), SecurityError> {
        const WRONG: &str = "the envelope holds something else than one Body after at most one Header";
        match self.bodies == 1 && !self.is_wrong {
            true => Ok(()),
            false => Err(SecurityError::Malformed(WRONG.to_owned())),
        }
    }
}

/// Returns a message without the `Security` header that is for us, and without a header if that is
/// then empty.
fn without_security(message: &[u8]) -> Result<Bytes, SecurityError> {
    let name = deltasoap_security::header_name();
    let (mut edits, mut removed_from, mut others, mut header_from) = (Edits::default(), None, 0, 0);
    let (mut whole_header, mut version, mut shape) = (None, None, Shape::default());
    let read = document::read(message, |event, reader, after| {
        let (names, is_in_body) = (reader.names(), shape.bodies > 0);
        match (event, reader.depth()) {
            (Event::Start, 1) => version = Version::from_namespace(names.namespace(reader.name())),
            (Event::Start, 2) => {
                let Some(version) = version else { return false };
                shape.element(version, names.namespace(reader.name()), names.local(reader.name()));
                header_from = document::tag_start(message, reader);
            }
            (Event::Text(text), 1) => shape.text(text),
            (Event::Char(c), 1) => shape.text(c.encode_utf8(&mut [0; 4])),
            _ if is_in_body => {}
            (Event::Start, 3) => {
                let is_named = document::is_named(reader, &name.namespace, &name.local);
                let is_ours = is_named && version.is_some_and(|version| !has_actor(reader, version));
                removed_from = is_ours.then(|| document::tag_start(message, reader));
                others += usize::from(!is_ours);
            }
            (Event::End, 2) => {
                if let Some(from) = removed_from.take() {
                    edits.replace(from..after, "");
                }
            }
            (Event::End, 1) => whole_header = Some(header_from..after),
            _ => {}
        }
        true
    });
    read.map_err(|_| SecurityError::Unsupported("secured messages must be in UTF-8".to_owned()))?;
    shape.check()?;
    if edits.is_empty() {
        return Ok(Bytes::copy_from_slice(message));
    }
    if let Some(range) = whole_header.filter(|_| others == 0) {
        edits = Edits::default();
        edits.replace(range, "");
    }
    Ok(edits.apply(message).into())
}

fn has_actor(reader: &deltasoap_xml::Reader, version: Version) -> bool {
    let (names, local) = (reader.names(), actor_name(version));
    let mut attributes = (0..reader.attribute_count()).map(|index| reader.attribute(index));
    attributes.any(|(name, value)| {
        names.namespace(name) == version.namespace() && names.local(name) == local && is_of_another(value)
    })
}

fn actor_name(version: Version) -> &'static str {
    if version == Version::Soap11 { "actor" } else { "role" }
}

fn is_of_another(actor: &str) -> bool {
    !matches!(actor.trim(), "" | ULTIMATE_RECEIVER)
}

const ULTIMATE_RECEIVER: &str = "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver";

/// Returns the error of a file that holds something else.
fn in_file(place: &str, path: &Path, error: &dyn std::fmt::Display) -> ConfigError {
    ConfigError::invalid(place, format!("{}: {error}", path.display()))
}

/// What the configuration names, read.
struct Read<'c> {
    config: &'c SecurityConfig,
    identity: Option<Identity>,
    peer: Option<Certificate>,
    user: Option<(String, String)>,
}

impl<'c> Read<'c> {
    fn new(config: &'c SecurityConfig) -> Result<Self, ConfigError> {
        let identity = match (&config.sign, &config.certificate) {
            (Some(key), Some(certificate)) => {
                let identity = Identity::from_pem(file(certificate)?, file(key)?);
                Some(identity.map_err(|error| in_file("security.sign", key, &error))?)
            }
            (Some(_), None) => return Err(ConfigError::invalid("security.certificate", "the key needs a certificate")),
            (None, _) => None,
        };
        let peer = match &config.encrypt_for {
            Some(path) => {
                let all = Certificate::all_from_pem(file(path)?);
                let all = all.map_err(|error| in_file("security.encrypt_for", path, &error))?;
                let none = || ConfigError::invalid("security.encrypt_for", "the file holds no certificate");
                Some(all.into_iter().next().ok_or_else(none)?)
            }
            None => None,
        };
        let user = match (&config.user, &config.password) {
            (Some(user), Some(password)) => Some((user.clone(), password.read("security.password")?)),
            (Some(_), None) => return Err(ConfigError::invalid("security.password", "it is missing")),
            (None, _) => None,
        };
        Ok(Read { config, identity, peer, user })
    }

    /// Returns what secures messages. User names are sent to the target alone.
    fn protection(&self) -> Option<Protection> {
        let user = self.user.as_ref().filter(|_| self.config.side == Side::Target);
        let mut protection = Protection::new();
        if self.config.timestamp || self.identity.is_some() {
            protection = protection.timestamp(VALID);
        }
        if let Some((user, password)) = user {
            protection = protection.user(match self.config.digest {
                true => UsernameToken::digest(user, password),
                false => UsernameToken::text(user, password),
            });
        }
        if let Some(identity) = &self.identity {
            protection = protection.sign(identity.clone());
        }
        if let Some(peer) = &self.peer {
            protection = protection.encrypt(peer.clone());
        }
        let is_used = self.config.timestamp || user.is_some() || self.identity.is_some() || self.peer.is_some();
        is_used.then_some(protection)
    }

    /// Returns what is required of received messages. User names are required of clients alone.
    fn requirements(&self) -> Result<Option<Requirements>, ConfigError> {
        let (mut requirements, mut is_used) = (Requirements::new(), false);
        if let Some(path) = &self.config.trust {
            let pem = file(path)?;
            let trust = Trust::nobody().authorities(&pem).and_then(|trust| trust.certificates(&pem));
            let trust = trust.map_err(|error| in_file("security.trust", path, &error))?;
            requirements = requirements.trust(trust).signed_body();
            is_used = true;
        }
        if self.config.side == Side::Client {
            if let Some((user, password)) = self.user.clone() {
                requirements = requirements.users(move |name: &str| (name == user).then(|| password.clone()));
                is_used = true;
            }
            if self.config.timestamp {
                let is_signed = self.config.trust.is_some();
                requirements = if is_signed { requirements.signed_timestamp() } else { requirements.timestamp() };
                is_used = true;
            }
        }
        if let (Some(identity), Some(_)) = (&self.identity, &self.peer) {
            let decrypting = requirements.decrypt_with(identity.clone());
            requirements = decrypting.map_err(|error| ConfigError::invalid("security.sign", error))?;
            is_used = true;
        }
        Ok(is_used.then_some(requirements))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECURED: &str = "<?xml version='1.0'?><e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/' \
        xmlns:w='http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd'>";

    fn plain(header: &str) -> String {
        let message = format!("{SECURED}{header}<e:Body> <a/></e:Body></e:Envelope>");
        String::from_utf8(without_security(message.as_bytes()).expect("a message").to_vec()).expect("UTF-8")
    }

    #[test]
    fn the_security_header_is_removed() {
        let rest = "<e:Body> <a/></e:Body></e:Envelope>";
        for (header, left) in [
            ("<e:Header><w:Security><x><Body/></x></w:Security></e:Header>", ""),
            ("<e:Header><b/><w:Security/><c/></e:Header>", "<e:Header><b/><c/></e:Header>"),
            (
                "<e:Header><w:Security e:actor='urn:x'/></e:Header>",
                "<e:Header><w:Security e:actor='urn:x'/></e:Header>",
            ),
            ("<e:Header><Security/></e:Header>", "<e:Header><Security/></e:Header>"),
            ("", ""),
        ] {
            assert_eq!(plain(header), format!("{SECURED}{left}{rest}"));
        }
    }

    #[test]
    fn envelopes_hold_one_header_and_one_body() {
        let (header, body) = ("<e:Header><w:Security/></e:Header>", "<e:Body><a/></e:Body>");
        for content in [
            format!("{header}{body}<e:Body><b/></e:Body>"),
            format!("{header}{header}{body}"),
            format!("{body}{header}"),
            format!("<Body/>{header}{body}"),
            format!("{header}{body}<x/>"),
            format!("{header}x{body}"),
            format!("{header}{body}&#120;"),
            header.to_owned(),
        ] {
            let message = format!("{SECURED}{content}</e:Envelope>");
            assert!(matches!(without_security(message.as_bytes()), Err(SecurityError::Malformed(_))), "{content}");
            let protection = Protection::new().timestamp(VALID);
            let message = message.replace("<w:Security/>", "<h/>");
            assert!(secured(&protection, message.as_bytes()).is_err(), "{content}");
        }
    }

    #[test]
    fn user_names_are_sent_and_required() {
        let config = |side| SecurityConfig {
            side,
            user: Some("ada".to_owned()),
            password: Some(crate::Secret::Text("pass<word".to_owned())),
            timestamp: true,
            ..SecurityConfig::default()
        };
        let (sending, receiving) = (Offload::new(&config(Side::Target)), Offload::new(&config(Side::Client)));
        let (sending, receiving) = (sending.expect("it sends"), receiving.expect("it requires"));
        let message = "<e:Envelope xmlns:e='http://www.w3.org/2003/05/soap-envelope' xmlns:t='urn:t'><e:Header><h/></e:Header>\
            <e:Body><a xmlns='urn:a' xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:type='t:T'>&lt;x</a></e:Body></e:Envelope>";
        let (secured, _) = sending.secure_request(message.as_bytes()).expect("secured");
        let (plain, verified) = receiving.verify_request(secured.clone()).expect("verified");
        assert_eq!(verified.expect("required").sender.name(), Some("ada"));
        let (one, other) = (Tree::parse(message.as_bytes()).expect("one"), Tree::parse(&plain).expect("other"));
        assert!(one.body().expect("a body").is_equivalent(other.body().expect("a body")), "{plain:?}");
        assert_eq!(other.blocks().count(), 1);
        let again = receiving.verify_request(message.as_bytes().to_vec().into()).expect_err("not secured");
        assert!(matches!(again, SecurityError::Missing(_)), "{again}");
        assert!(sending.secure_request(&secured).is_err(), "secured already");
    }
}

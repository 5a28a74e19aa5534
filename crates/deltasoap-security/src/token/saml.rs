//! SAML assertions 1.1 and 2.0 as tokens (SAML Token Profile 1.1).

use super::timestamp::{Freshness, parse_date_time, shown};
use crate::error::SecurityError;
use crate::keys::Certificate;
use crate::keys::VerifyingKey;
use crate::ns;
use crate::received::{MessageHead, Tree};
use crate::signature::{KeyInfo, KeySource, References, Signature};
use crate::trust::Trust;
use std::time::{Duration, SystemTime};

/// The content of a verified assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assertion {
    /// The id of the assertion.
    pub id: String,
    /// Who made the assertion.
    pub issuer: String,
    /// The name of the subject; empty if it has none.
    pub subject: String,
    /// How the sender relates to the subject.
    pub confirmation: Confirmation,
    /// Attributes of the subject: names, and the texts of their values.
    pub attributes: Vec<(String, Vec<String>)>,
    /// The certificate of the issuer's signature.
    pub signed_by: Certificate,
}

/// How the sender of an assertion relates to its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Confirmation {
    /// Whoever presents the assertion counts as the subject.
    Bearer,
    /// The sender signs the message with a key that the assertion names.
    HolderOfKey,
    /// The sender, who signs the message, vouches for the subject.
    SenderVouches,
}

/// Which assertions are accepted.
#[derive(Debug)]
pub struct AssertionRules {
    pub(crate) issuers: Trust,
    pub(crate) audience: Option<String>,
}

impl AssertionRules {
    /// Accepts assertions that are signed with trusted certificates.
    pub fn new(issuers: Trust) -> Self {
        AssertionRules { issuers, audience: None }
    }

    /// Requires that assertions with a restricted audience name this one. Without this, such
    /// assertions are refused.
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audience = Some(audience.into());
        self
    }
}

/// A verified assertion, with the key that its holder must have.
#[derive(Debug)]
pub(crate) struct Verified {
    pub(crate) assertion: Assertion,
    pub(crate) holder: Option<VerifyingKey>,
}

/// Returns true for an assertion.
pub(crate) fn is_assertion(tree: &Tree, index: usize) -> bool {
    let element = tree.get(index);
    element.is(ns::SAML1, "Assertion") || element.is(ns::SAML2, "Assertion")
}

/// Verifies an assertion: its signature, its conditions.
///
/// # Errors
/// Returns an error if the assertion is not signed by a trusted issuer, or does not apply now or
/// here.
pub(crate) fn verify(
    head: &MessageHead,
    index: usize,
    rules: &AssertionRules,
    freshness: Freshness,
    now: SystemTime,
) -> Result<Verified, SecurityError> {
    let signed_by = verify_signature(head, index, rules, now)?;
    let tree = &head.tree;
    check_conditions(tree, index, rules, freshness.skew, now)?;
    let is_saml2 = tree.get(index).namespace == ns::SAML2;
    let (subject, confirmation, holder) =
        if is_saml2 { subject_2(tree, index, freshness.skew, now)? } else { subject_1(tree, index)? };
    // Other confirmations have data too, but no key.
    let holder = holder.filter(|_| confirmation == Confirmation::HolderOfKey);
    let holder = holder.map(|element| holder_key(tree, element)).transpose()?;
    let assertion = Assertion {
        id: tree.get(index).ids().next().unwrap_or_default().to_owned(),
        issuer: issuer(tree, index).to_owned(),
        subject,
        confirmation,
        attributes: attributes(tree, index),
        signed_by,
    };
    Ok(Verified { assertion, holder })
}

/// Verifies that the assertion's own signature signs this assertion, and nothing else.
fn verify_signature(
    head: &MessageHead,
    index: usize,
    rules: &AssertionRules,
    now: SystemTime,
) -> Result<Certificate, SecurityError> {
    let unsigned = || SecurityError::Token("an assertion is not signed".to_owned());
    let signature = head.tree.find(index, ns::DS, "Signature").ok_or_else(unsigned)?;
    let signature = Signature::read(&head.tree, signature)?;
    if signature.algorithm.is_symmetric() {
        return Err(SecurityError::Unsupported("an assertion is signed with a shared secret".to_owned()));
    }
    let (certificate, intermediates) = issuer_certificate(&signature.key_info, rules)?;
    rules.issuers.check(&certificate, &intermediates, now)?;
    let mut references = References::default();
    references.verify(head, &signature, certificate.key()?)?;
    let is_whole = references.elements == [index] && references.plan.targets.is_empty();
    if is_whole {
        Ok(certificate)
    } else {
        Err(SecurityError::Token("a signature does not cover its assertion".to_owned()))
    }
}

fn issuer_certificate(
    info: &KeyInfo,
    rules: &AssertionRules,
) -> Result<(Certificate, Vec<Certificate>), SecurityError> {
    for source in &info.sources {
        match source {
            KeySource::Chain(chain) => {
                let mut chain = chain.iter().map(|der| Certificate::from_der(der.as_slice()));
                if let Some(own) = chain.next() {
                    return Ok((own?, chain.collect::<Result<_, _>>()?));
                }
            }
            KeySource::Certificate(id) => {
                if let Some(certificate) = rules.issuers.find(id) {
                    return Ok((certificate.clone(), Vec::new()));
                }
            }
            KeySource::Key(key) => {
                if let Some(certificate) = rules.issuers.with_key(key) {
                    return Ok((certificate.clone(), Vec::new()));
                }
            }
            _ => {}
        }
    }
    Err(SecurityError::UnknownToken("the certificate of an assertion's issuer is not known".to_owned()))
}

fn issuer(tree: &Tree, index: usize) -> &str {
    let element = tree.get(index);
    tree.text_of(index, ns::SAML2, "Issuer").or(element.attribute("", "Issuer")).unwrap_or_default()
}

/// Checks the times and the audience (SAML 2.0 Core, section 2.5).
fn check_conditions(
    tree: &Tree,
    index: usize,
    rules: &AssertionRules,
    skew: Duration,
    now: SystemTime,
) -> Result<(), SecurityError> {
    let namespace = tree.get(index).namespace.as_str();
    let Some(conditions) = tree.find(index, namespace, "Conditions") else { return Ok(()) };
    check_times(tree, conditions, skew, now)?;
    for child in tree.children(conditions) {
        match tree.get(child).local.as_str() {
            "AudienceRestriction" | "AudienceRestrictionCondition" => {
                let mut audiences = tree.all(child, namespace, "Audience").map(|audience| tree.get(audience).text());
                if !audiences.any(|audience| rules.audience.as_deref() == Some(audience)) {
                    return Err(SecurityError::Token("an assertion is meant for another audience".to_owned()));
                }
            }
            "OneTimeUse" | "DoNotCacheCondition" | "ProxyRestriction" => {}
            other => return Err(SecurityError::Token(format!("an assertion has the unknown condition {other}"))),
        }
    }
    Ok(())
}

/// Checks `NotBefore` and `NotOnOrAfter`.
fn check_times(tree: &Tree, index: usize, skew: Duration, now: SystemTime) -> Result<(), SecurityError> {
    let time = |local| tree.get(index).attribute("", local).map(parse_date_time).transpose();
    if let Some(start) = time("NotBefore")?
        && now + skew < start
    {
        return Err(SecurityError::Expired(format!("an assertion is not valid before {}", shown(start))));
    }
    if let Some(end) = time("NotOnOrAfter")?
        && now >= end + skew
    {
        return Err(SecurityError::Expired(format!("an assertion expired at {}", shown(end))));
    }
    Ok(())
}

/// The subject's name, how it is confirmed, and the element with its holder's key.
type Subject = (String, Confirmation, Option<usize>);

/// Returns the subject of a SAML 2.0 assertion. One of its confirmations must be possible now.
fn subject_2(tree: &Tree, index: usize, skew: Duration, now: SystemTime) -> Result<Subject, SecurityError> {
    let missing = || SecurityError::Token("an assertion has no subject that can be confirmed".to_owned());
    let subject = tree.find(index, ns::SAML2, "Subject").ok_or_else(missing)?;
    let name = tree.text_of(subject, ns::SAML2, "NameID").unwrap_or_default().to_owned();
    let mut failure = missing();
    for confirmation in tree.all(subject, ns::SAML2, "SubjectConfirmation") {
        let method = tree.get(confirmation).attribute("", "Method").unwrap_or_default();
        let data = tree.find(confirmation, ns::SAML2, "SubjectConfirmationData");
        let possible = data.map_or(Ok(()), |data| check_times(tree, data, skew, now));
        match (confirmation_of(method), possible) {
            (Some(how), Ok(())) => return Ok((name, how, data)),
            (Some(_), Err(error)) => failure = error,
            (None, _) => {}
        }
    }
    Err(failure)
}

/// Returns the subject of a SAML 1.1 assertion, which each of its statements has.
fn subject_1(tree: &Tree, index: usize) -> Result<Subject, SecurityError> {
    let missing = || SecurityError::Token("an assertion has no subject that can be confirmed".to_owned());
    let mut subjects = tree.children(index).filter_map(|statement| tree.find(statement, ns::SAML1, "Subject"));
    let subject = subjects.next().ok_or_else(missing)?;
    let name = tree.text_of(subject, ns::SAML1, "NameIdentifier").unwrap_or_default().to_owned();
    let others = subjects.all(|other| tree.text_of(other, ns::SAML1, "NameIdentifier").unwrap_or_default() == name);
    if !others {
        return Err(SecurityError::Token("an assertion has several subjects".to_owned()));
    }
    let confirmation = tree.find(subject, ns::SAML1, "SubjectConfirmation").ok_or_else(missing)?;
    let method = tree.text_of(confirmation, ns::SAML1, "ConfirmationMethod").unwrap_or_default();
    Ok((name, confirmation_of(method).ok_or_else(missing)?, Some(confirmation)))
}

fn confirmation_of(method: &str) -> Option<Confirmation> {
    let method = method.strip_prefix("urn:oasis:names:tc:SAML:")?;
    match method.split_once(":cm:")? {
        ("1.0" | "2.0", "bearer") => Some(Confirmation::Bearer),
        ("1.0" | "2.0", "holder-of-key") => Some(Confirmation::HolderOfKey),
        ("1.0" | "2.0", "sender-vouches") => Some(Confirmation::SenderVouches),
        _ => None,
    }
}

/// Returns the key that a `KeyInfo` in a confirmation contains.
fn holder_key(tree: &Tree, element: usize) -> Result<VerifyingKey, SecurityError> {
    let unusable = || SecurityError::Token("an assertion names no key of its holder that can be used".to_owned());
    for source in KeyInfo::read(tree, element)?.sources {
        match source {
            KeySource::Key(key) => return Ok(key),
            KeySource::Chain(chain) => {
                let own = chain.into_iter().next().ok_or_else(unusable)?;
                return Certificate::from_der(own)?.key().cloned();
            }
            _ => {}
        }
    }
    Err(unusable())
}

fn attributes(tree: &Tree, index: usize) -> Vec<(String, Vec<String>)> {
    let namespace = tree.get(index).namespace.as_str();
    let name = if namespace == ns::SAML2 { "Name" } else { "AttributeName" };
    let statements = tree.all(index, namespace, "AttributeStatement");
    let attributes = statements.flat_map(|statement| tree.all(statement, namespace, "Attribute"));
    let attribute = |attribute| {
        let values = tree.all(attribute, namespace, "AttributeValue").map(|value| tree.get(value).text().to_owned());
        (tree.get(attribute).attribute("", name).unwrap_or_default().to_owned(), values.collect())
    };
    attributes.map(attribute).collect()
}

//! Messages that we sign and the others verify.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use deltasoap::Soap;
use deltasoap_core::soap::{Envelope, HeaderBlock, Version};
use deltasoap_core::{Node, QName, Template, Templating};
use deltasoap_security::{
    DigestAlgorithm, Identity, KeyReference, Protection, SignatureAlgorithm, SigningKey, UsernameToken,
};

use crate::keys;

/// A message body with characters that canonical forms escape.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:bank", message, qualified)]
struct Transfer {
    to: String,
    amount: f64,
    note: Option<String>,
    lines: Vec<i32>,
}

/// A message: how it is signed, and with which key.
struct Case {
    name: String,
    key: &'static str,
    version: Version,
    protection: Protection,
}

/// Writes the messages, and has them verified. Returns true if all results are right.
///
/// # Errors
/// Returns an error if a message cannot be written, or the others cannot be run.
pub fn compare(folder: &Path, oracle: impl Fn(&str) -> Result<String>) -> Result<bool> {
    let cases = cases(folder)?;
    let mut list = String::new();
    for case in &cases {
        let message = message(case)?;
        let changed = message.replacen(">0.1<", ">9.9<", 1);
        ensure!(changed != message, "{} lacks what is to be changed", case.name);
        for (name, text) in [(case.name.clone(), &message), (format!("{}-changed", case.name), &changed)] {
            std::fs::write(folder.join(format!("{name}.xml")), text)?;
            list += &format!("{name}\t{}\n", case.key);
        }
    }
    std::fs::write(folder.join("ours.tsv"), list)?;
    evaluate(&oracle("check")?, cases.len())
}

/// Counts the answers by tool, and prints those that are wrong.
fn evaluate(answers: &str, cases: usize) -> Result<bool> {
    let (mut counts, mut wrong) = (BTreeMap::<&str, [usize; 3]>::new(), 0);
    for line in answers.lines() {
        let mut fields = line.split('\t');
        let (Some(name), Some(tool), Some(result)) = (fields.next(), fields.next(), fields.next()) else {
            bail!("a bad answer: {line:?}");
        };
        let is_changed = name.ends_with("-changed");
        if result != "lacking" && (result == "valid") == is_changed {
            wrong += 1;
            println!("WRONG {name}, {tool}: {result}");
        }
        let kind = if result == "lacking" { 2 } else { usize::from(is_changed) };
        counts.entry(tool).or_default()[kind] += 1;
    }
    println!("{cases} messages of ours, and as many that were changed");
    for (tool, [valid, changed, lacking]) in &counts {
        println!("{tool:8} {valid:4} and {changed:4} checked, {lacking:4} of an algorithm that it lacks");
    }
    let is_complete = counts.len() == 3 && counts.values().all(|of_tool| of_tool.iter().sum::<usize>() == 2 * cases);
    Ok(wrong == 0 && is_complete)
}

fn cases(folder: &Path) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for version in [Version::Soap11, Version::Soap12] {
        let number = if version == Version::Soap11 { 11 } else { 12 };
        for (key, algorithm) in algorithms() {
            let identity = with_algorithm(folder, key, algorithm)?;
            let digests = [DigestAlgorithm::Sha256, DigestAlgorithm::Sha384, DigestAlgorithm::Sha512];
            for (digest, reference) in references(key).into_iter().flat_map(|it| digests.map(|d| (d, it.clone()))) {
                let protection = Protection::new()
                    .timestamp(Duration::from_secs(300))
                    .user(UsernameToken::digest("ada", "pass & word"))
                    .sign(identity.clone())
                    .digest(digest)
                    .key_reference(reference.clone());
                let name = format!("ours-{number}-{key}-{algorithm:?}-{digest:?}-{reference:?}");
                let name = name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
                cases.push(Case { name, key, version, protection });
            }
        }
    }
    Ok(cases)
}

fn algorithms() -> [(&'static str, SignatureAlgorithm); 10] {
    [
        ("rsa", SignatureAlgorithm::RsaSha256),
        ("rsa", SignatureAlgorithm::RsaSha384),
        ("rsa", SignatureAlgorithm::RsaSha512),
        ("rsa", SignatureAlgorithm::RsaPssSha256),
        ("rsa", SignatureAlgorithm::RsaPssSha384),
        ("rsa", SignatureAlgorithm::RsaPssSha512),
        ("p256", SignatureAlgorithm::EcdsaP256Sha256),
        ("p384", SignatureAlgorithm::EcdsaP384Sha384),
        ("ed25519", SignatureAlgorithm::Ed25519),
        ("secret", SignatureAlgorithm::HmacSha256),
    ]
}

fn with_algorithm(folder: &Path, key: &str, algorithm: SignatureAlgorithm) -> Result<Identity> {
    if key == "secret" {
        return keys::identity(folder, key);
    }
    let read = |extension: &str| std::fs::read(folder.join(format!("{key}.{extension}")));
    let signing = SigningKey::from_pem(read("pem")?)?.with_algorithm(algorithm)?;
    Ok(Identity::new(signing, deltasoap_security::Certificate::all_from_pem(read("crt")?)?))
}

fn references(key: &str) -> Vec<KeyReference> {
    match key {
        "secret" => vec![KeyReference::Name("secret".to_owned())],
        _ => vec![
            KeyReference::Token,
            KeyReference::TokenPath,
            KeyReference::Thumbprint,
            KeyReference::KeyIdentifier,
            KeyReference::IssuerSerial,
        ],
    }
}

fn message(case: &Case) -> Result<String> {
    let value = Transfer {
        to: "Ada & <Bob>\r\n\t\"\u{e4}\u{10000}".to_owned(),
        amount: 0.1,
        note: None,
        lines: (0..20).collect(),
    };
    let envelope = Envelope::new(&value).version(case.version);
    let envelope = envelope.canonical(case.protection.body_id().context("the body is signed")?);
    let message = Template::new(Templating::default()).encode(&envelope)?;
    let message = case.protection.secure(case.version, &blocks(), message, &[])?;
    Ok(String::from_utf8(message.to_vec())?)
}

/// Header blocks, one of which has a name as the value of an attribute.
fn blocks() -> Vec<HeaderBlock> {
    let mut node = Node::with_text(QName::new("urn:tx", "transaction"), "7");
    node.bindings = [("t".to_owned(), "urn:types".to_owned())].into();
    node.attributes.push((QName::new("", "kind"), "t:urgent".into()));
    vec![HeaderBlock { node }, HeaderBlock { node: Node::with_text(QName::new("urn:tx", "second"), " x\r ") }]
}

//! Encrypted messages, and attacks on them.

use crate::support::{
    C14N, HMAC, KEYS, Transfer, between, blocks, client, now, open, open_in, reference, send, send_by, server,
    signature, text, timestamp_id, transfer, trust, verify,
};
use aws_lc_rs::cipher::{AES_128, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::rsa::{OAEP_SHA1_MGF1SHA1, OaepPublicEncryptingKey, PrivateDecryptingKey};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use deltasoap_core::soap::{Envelope, HeaderBlock, Version, decode_request};
use deltasoap_core::{QName, Template, Templating};
use deltasoap_security::{
    BODY_ID, Certificate, ContentCipher, Decrypter, Identity, KeyReference, KeyTransport, Protection, Requirements,
    SecurityError, SigningKey, Trust, UsernameToken,
};
use deltasoap_xml::Limits;
use deltasoap_xml::c14n::{Method, canonicalize};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject;
use std::sync::Arc;
use std::time::Duration;

const VALID: Duration = Duration::from_secs(300);

fn recipient() -> Certificate {
    server().certificate().expect("a certificate").clone()
}

fn encrypted() -> Protection {
    Protection::new().timestamp(VALID).sign(client()).encrypt(recipient())
}

fn message() -> String {
    text(&send(&encrypted(), Version::Soap11, &blocks()))
}

fn decrypting() -> Requirements {
    Requirements::new().decrypt_with(server()).expect("a key")
}

fn requirements() -> Requirements {
    decrypting().trust(trust()).signed_body().signed_timestamp().encrypted_body()
}

const SECRET: &str = "Ada &amp; &lt;Bob&gt;";

#[test]
fn what_one_side_encrypts_the_other_reads() {
    for version in [Version::Soap11, Version::Soap12] {
        for protection in [
            encrypted(),
            encrypted().encrypt_signature(true),
            encrypted().encrypt_header(QName::new("urn:tx", "transaction")),
            encrypted().cipher(ContentCipher::Aes128Gcm).key_transport(KeyTransport::RsaOaepSha1),
            encrypted().cipher(ContentCipher::Aes192Gcm).key_transport(KeyTransport::RsaOaepSha512),
            encrypted().recipient_reference(KeyReference::Token),
            encrypted().recipient_reference(KeyReference::TokenPath),
            encrypted().recipient_reference(KeyReference::IssuerSerial),
        ] {
            let message = send(&protection, version, &blocks());
            assert!(!text(&message).contains(SECRET));
            let (decoded, verified) = open(&message, requirements()).expect("a valid message");
            assert!(verified.is_body_signed && verified.is_body_encrypted);
            assert_eq!(verified.sender.name(), Some("CN=client\\, of Ä"));
            let (head, value) = decode_request::<Transfer>(&decoded).expect("a message");
            assert_eq!((value, head.headers.len()), (transfer(), 3));
            // The rest of the message is as it was.
            assert!(
                text(&decoded).contains(SECRET) && text(&decoded).contains(">7</ns:transaction>"),
                "{}",
                text(&decoded)
            );
        }
    }
}

#[test]
fn key_identifiers() {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).expect("a key");
    let mut params = rcgen::CertificateParams::default();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).expect("a certificate").pem();
    let identity = Identity::from_pem(certificate, key.serialize_pem()).expect("an identity");
    let recipient = identity.certificate().expect("a certificate").clone();
    assert!(recipient.key_identifier().is_some());
    let protection = Protection::new().encrypt(recipient).recipient_reference(KeyReference::KeyIdentifier);
    let message = send(&protection, Version::Soap11, &[]);
    let both = decrypting().decrypt_with(identity).expect("a key");
    assert!(open(&message, both).is_ok());
    assert!(matches!(open(&message, decrypting()), Err(SecurityError::UnknownToken(_))));
}

#[test]
fn what_is_not_encrypted_stays_as_it_is() {
    let plain = send(&Protection::new().timestamp(VALID).sign(client()), Version::Soap11, &blocks());
    verify(&plain, decrypting().trust(trust()).signed_body()).expect("a valid message");
    let refused = open(&plain, requirements());
    assert!(matches!(refused, Err(SecurityError::Missing(_))), "{refused:?}");
    // The bytes are those that were given, not copies.
    let requirements = Arc::new(decrypting().trust(trust()).at(now()));
    for given in
        [plain.clone(), b"<html><p>no message</p></html>".to_vec(), b"<malformed".to_vec(), b"<a></b>".to_vec()]
    {
        let mut verification = requirements.begin(deltasoap_xml::Limits::default());
        let bytes = bytes::Bytes::from(given.clone());
        let returned = verification.push(bytes.clone()).expect("nothing to refuse yet");
        if given != b"<malformed" {
            assert_eq!((returned.as_ptr(), returned.len()), (bytes.as_ptr(), bytes.len()), "{}", text(&given));
        }
        assert_eq!(verification.finish().is_ok(), given == plain);
    }
    let named = send(&Protection::new().sign(client()).encrypt(recipient()), Version::Soap11, &blocks());
    let header = |local| decrypting().trust(trust()).encrypted_header(QName::new("urn:tx", local));
    assert!(matches!(open(&named, header("second")), Err(SecurityError::Missing(_))));
    assert!(matches!(open(&plain, header("second")), Err(SecurityError::Missing(_))));
    assert!(open(&named, header("other")).is_ok());
    let protection = Protection::new().encrypt(recipient()).encrypt_header(QName::new("urn:tx", "second"));
    assert!(open(&send(&protection, Version::Soap11, &blocks()), header("second")).is_ok());
}

#[test]
fn user_names_are_encrypted_too() {
    let users = |user: &str| (user == "ada").then_some("pass & word");
    let protection = Protection::new().user(UsernameToken::text("ada", "pass & word")).encrypt(recipient());
    for (protection, is_hidden) in [(protection.clone(), true), (protection.encrypt_user(false), false)] {
        let message = send(&protection, Version::Soap11, &[]);
        assert_eq!(!text(&message).contains("pass &amp; word"), is_hidden);
        let (_, verified) = open(&message, decrypting().users(users)).expect("a valid message");
        assert_eq!(verified.sender.name(), Some("ada"));
    }
}

/// Whoever signs the ciphertext of a user name may not know it, so it is not a signed token.
#[test]
fn signed_ciphertext_is_no_signed_user_name() {
    let users = |user: &str| (user == "ada").then_some("word");
    let protection = Protection::new().timestamp(VALID).user(UsernameToken::text("ada", "word"));
    let message = text(&send(&protection.encrypt(recipient()), Version::Soap11, &[]));
    let timestamp = between(&message, "<wsu:Timestamp", "</wsu:Timestamp>");
    let data = between(&message, "<xenc:EncryptedData", "</xenc:EncryptedData>");
    let id = between(data, " Id=\"", "\" ").trim().trim_start_matches("Id=").trim_matches('"');
    let canonical = canonicalize(data.as_bytes(), Limits::default(), &Method::exclusive()).expect("a canonical form");
    let references =
        reference(timestamp_id(&message), &[C14N], timestamp.as_bytes()) + &reference(id, &[C14N], &canonical);
    let key_info = "<ds:KeyInfo><ds:KeyName>branch</ds:KeyName></ds:KeyInfo>";
    let signature = signature(&SigningKey::hmac(b"a secret"), HMAC, &references, key_info);
    let tag = between(&message, "<wsse:Security", ">");
    let signed = message.replacen(tag, &format!("{tag}{signature}"), 1);
    let requirements = || decrypting().users(users).trust(trust().secret("branch", "a secret")).signed_timestamp();
    let (_, verified) = open(signed.as_bytes(), requirements()).expect("a valid message");
    assert_eq!((verified.sender.user.as_deref(), verified.sender.secret.as_deref()), (Some("ada"), Some("branch")));
    let refused = open(signed.as_bytes(), requirements().signed_tokens()).map(|(_, verified)| verified);
    assert!(matches!(refused, Err(SecurityError::Missing(_))), "{refused:?}");
}

/// Messages of several pieces, written against a template, with a few changes each.
#[test]
fn messages_of_a_template_are_encrypted_anew() {
    let protection = encrypted();
    let requirements = Arc::new(requirements().at(now()));
    let mut template = Template::new(Templating::default());
    let mut value = Transfer { lines: (0..60_000).collect(), ..transfer() };
    for turn in 0..4 {
        value.lines[30_000] += turn;
        let message = send_by(&mut template, &value, &protection, Version::Soap11, &blocks());
        let (decoded, _) = open_in(&message, 16 << 10, &requirements).expect("a valid message");
        assert_eq!(decode_request::<Transfer>(&decoded).expect("a message").1, value);
    }
    assert_eq!(template.stats().first, 1, "{:?}", template.stats());
}

/// The sender cannot decrypt what it encrypts for a recipient, and others cannot either.
#[test]
fn only_the_recipient_reads() {
    let message = message();
    let with = |identity| requirements_with(identity);
    let stranger = Identity::from_pem(&KEYS.stranger.0, &KEYS.stranger.1).expect("an identity");
    for identity in [client(), stranger] {
        assert!(matches!(open(message.as_bytes(), with(identity)), Err(SecurityError::UnknownToken(_))));
    }
    let unable = Requirements::new().trust(trust());
    assert!(matches!(open(message.as_bytes(), unable), Err(SecurityError::Unsupported(_))));
    // The certificate of the recipient with another key.
    let wrong = Identity::from_pem(&KEYS.server.0, &KEYS.client.1).expect("an identity");
    assert_eq!(open(message.as_bytes(), with(wrong)).err(), Some(undecipherable()));
    let hmac = Identity::new(SigningKey::hmac(b"x"), vec![recipient()]);
    assert!(matches!(Requirements::new().decrypt_with(hmac), Err(SecurityError::Key(_))));
}

fn requirements_with(identity: Identity) -> Requirements {
    Requirements::new().decrypt_with(identity).expect("a key").trust(trust()).signed_body()
}

fn undecipherable() -> SecurityError {
    SecurityError::Check("an encrypted part of the message could not be decrypted".to_owned())
}

/// A key in a module that may be gone.
struct Module(Option<SecurityError>);

impl Decrypter for Module {
    fn decrypt(&self, _: KeyTransport, _: &[u8]) -> Result<Vec<u8>, SecurityError> {
        self.0.clone().map_or(Ok(vec![0; 5]), Err)
    }
}

#[test]
fn modules_that_fail() {
    let message = message();
    let absent = SecurityError::Key("the module is absent".to_owned());
    for (outcome, expected) in [
        (None, undecipherable()),
        (Some(SecurityError::Check("the padding is wrong".to_owned())), undecipherable()),
        (Some(absent.clone()), absent),
    ] {
        let identity = Identity::new(SigningKey::hmac(b"x"), vec![recipient()]).decrypter(Module(outcome));
        assert_eq!(open(message.as_bytes(), requirements_with(identity)).err(), Some(expected));
    }
}

fn flipped(base64: &str, at: usize) -> String {
    let mut bytes = BASE64_STANDARD.decode(base64).expect("base64");
    let at = at.min(bytes.len() - 1);
    bytes[at] ^= 1;
    BASE64_STANDARD.encode(bytes)
}

const VALUE: (&str, &str) = ("<xenc:CipherValue>", "</xenc:CipherValue>");

/// Returns the values of the encrypted key and of the encrypted body.
fn values(message: &str) -> (String, String) {
    let value = |text: &str| {
        let value = between(text, VALUE.0, VALUE.1);
        value[VALUE.0.len()..value.len() - VALUE.1.len()].to_owned()
    };
    (value(message), value(between(message, "<soap:Body", "</soap:Body>")))
}

#[test]
fn changed_ciphertext() {
    let message = message();
    let (key, body) = values(&message);
    for at in [0, 11, 12, 100, usize::MAX] {
        for value in [&key, &body] {
            let attack = message.replace(value.as_str(), &flipped(value, at));
            assert_eq!(open(attack.as_bytes(), requirements()).err(), Some(undecipherable()), "{at}");
        }
    }
    for (value, changed) in [(&body, ""), (&body, "AAAA"), (&key, ""), (&key, "AAAA")] {
        let attack = message.replace(value.as_str(), changed);
        assert_eq!(open(attack.as_bytes(), requirements()).err(), Some(undecipherable()), "{changed}");
    }
    // White space is no change.
    let spaced: String = body.as_bytes().chunks(76).map(|line| format!("{}\r\n", text(line))).collect();
    open(message.replace(&body, &spaced).as_bytes(), requirements()).expect("the same message");
    for changed in ["!", "AAA", "A===", "AA==AAAA", "<a/>"] {
        let attack = message.replace(&body, changed);
        assert!(open(attack.as_bytes(), requirements()).is_err(), "{changed}");
    }
}

#[test]
fn structures_that_are_refused() {
    let message = message();
    let data = between(&message, "<xenc:EncryptedData", "</xenc:EncryptedData>");
    let key = between(&message, "<xenc:EncryptedKey", "</xenc:EncryptedKey>");
    let cipher = between(data, "<xenc:CipherData>", "</xenc:CipherData>");
    let reference = "<xenc:CipherReference URI=\"http://attacker.example/\"></xenc:CipherReference>";
    let list = "<xenc:DataReference URI=\"#encrypted-part-1\"></xenc:DataReference>";
    let attacks = [
        // Content elsewhere is not fetched.
        message.replace(cipher, &format!("<xenc:CipherData>{reference}</xenc:CipherData>")),
        message.replace(cipher, &format!("<xenc:CipherData>{cipher}{reference}</xenc:CipherData>")),
        message.replace(cipher, ""),
        // Encrypted data that is nowhere, twice, within other such data, or out of place.
        message.replace(list, &list.repeat(2).replacen("part-1", "part-2", 1)),
        message.replace(data, &data.repeat(2)),
        message.replace(cipher, &format!("{data}{cipher}")),
        message.replace(data, "").replace("<soap:Body", &format!("{data}<soap:Body")),
        message.replace(data, "").replace("</wsse:Security>", &format!("{data}</wsse:Security>")),
        message.replace("</soap:Header>", &format!("{data}</soap:Header>")),
        message.replace("<soap:Body", "<soap:Body Id=\"encrypted-part-1\""),
        // Something else that has the id.
        message.replace(list, &list.replace("encrypted-part-1", timestamp_id(&message))),
        message.replace(list, "<xenc:DataReference URI=\"http://attacker.example/\"></xenc:DataReference>"),
        message.replace(list, "<xenc:KeyReference URI=\"#encrypted-key\"></xenc:KeyReference>"),
        message.replace(list, &(0..100).map(|n| list.replace("part-1", &format!("part-{n}"))).collect::<String>()),
        // The key, which is not there, or too often.
        message.replace(key, ""),
        message.replace(key, &key.repeat(5)),
        message.replace("#Content\"", "#Other\""),
    ];
    for (number, attack) in attacks.iter().enumerate() {
        assert_ne!(*attack, message, "attack {number} changed nothing");
        assert!(open(attack.as_bytes(), requirements()).is_err(), "attack {number}");
    }
    for (from, to) in [
        ("http://www.w3.org/2009/xmlenc11#aes256-gcm", "http://www.w3.org/2001/04/xmlenc#tripledes-cbc"),
        ("http://www.w3.org/2009/xmlenc11#aes256-gcm", "http://www.w3.org/2001/04/xmlenc#aes256-cbc"),
        ("http://www.w3.org/2009/xmlenc11#rsa-oaep", "http://www.w3.org/2001/04/xmlenc#rsa-1_5"),
        ("http://www.w3.org/2009/xmlenc11#mgf1sha256", "http://www.w3.org/2009/xmlenc11#mgf1sha1"),
        ("</ds:DigestMethod><xenc11:MGF", "</ds:DigestMethod><xenc:OAEPparams>AA==</xenc:OAEPparams><xenc11:MGF"),
    ] {
        assert!(message.contains(from), "{from}");
        let refused = open(message.replacen(from, to, 1).as_bytes(), requirements());
        assert!(matches!(refused, Err(SecurityError::Unsupported(_))), "{to}: {refused:?}");
    }
    for cut in (0..message.len()).step_by(61) {
        assert!(open_in(&message.as_bytes()[..cut], 50, &Arc::new(requirements().at(now()))).is_err(), "{cut}");
    }
}

/// Whichever byte is changed, the message is refused or read as it was meant.
#[test]
fn changed_bytes() {
    let message = send(&encrypted().encrypt_signature(true), Version::Soap11, &blocks());
    let cbc = Toolkit::new().message(&signed()).into_bytes();
    let requirements = Arc::new(requirements().accept_cbc().at(now()));
    let mut refused = 0;
    for message in [message, cbc] {
        for at in (0..message.len()).step_by(7) {
            for bit in [1, 2, 64] {
                let mut changed = message.clone();
                changed[at] ^= bit;
                match open_in(&changed, 400, &requirements) {
                    Err(_) => refused += 1,
                    Ok((decoded, _)) => match decode_request::<Transfer>(&decoded) {
                        Ok((_, value)) => assert_eq!(value, transfer(), "{at}"),
                        Err(_) => refused += 1,
                    },
                }
            }
        }
    }
    assert!(refused > 1000, "{refused}");
}

/// Encrypted data in each other's place is decrypted; the signature shows it.
#[test]
fn swapped_data() {
    let protection = encrypted().encrypt_header(QName::new("urn:tx", "second"));
    let message = text(&send(&protection, Version::Soap11, &blocks()));
    let header = between(&message, "<xenc:EncryptedData", "</xenc:EncryptedData>");
    let body = &message[message.find("<soap:Body").expect("a body")..];
    let body = between(body, "<xenc:EncryptedData", "</xenc:EncryptedData>");
    let swapped = message.replace(body, "@").replace(header, body).replace('@', header);
    assert!(matches!(open(swapped.as_bytes(), requirements()), Err(SecurityError::Check(_))));
}

/// Returns a message that was encrypted before it was signed: the signature covers the ciphertext.
fn encrypted_then_signed(blocks: &[HeaderBlock]) -> String {
    let value = transfer();
    let plain = Template::new(Templating::default()).encode(&Envelope::new(&value).canonical(BODY_ID));
    let plain = plain.expect("a message");
    let sealing = Protection::new().encrypt(recipient());
    let sealed = sealing.secure(Version::Soap11, &[], plain.clone(), &[]).expect("an encrypted message");
    let body = sealed.body().collect::<Vec<_>>().concat();
    let sealed = text(&sealed.to_vec());
    let key = between(&sealed, "<xenc:EncryptedKey", "</xenc:EncryptedKey>");
    let signing = Protection::new().timestamp(VALID).sign(client()).at(now());
    let signed = signing.secure(Version::Soap11, blocks, plain.with_body(body), &[]).expect("a signed message");
    text(&signed.to_vec()).replace("</wsse:Security>", &format!("{key}</wsse:Security>"))
}

#[test]
fn what_was_encrypted_may_be_signed() {
    let message = encrypted_then_signed(&blocks());
    let block = QName::new("urn:tx", "transaction");
    let (decoded, verified) = open(message.as_bytes(), requirements().signed_header(block)).expect("a valid message");
    assert!(verified.is_body_signed && verified.is_body_encrypted);
    assert_eq!(verified.sender.name(), Some("CN=client\\, of Ä"));
    assert_eq!(decode_request::<Transfer>(&decoded).expect("a message").1, transfer());
    let far = Arc::new(decrypting().trust(trust()).at(now() + VALID * 2));
    assert!(matches!(open_in(message.as_bytes(), 99, &far), Err(SecurityError::Expired(_))));
    let signature = between(&message, "<ds:Signature ", "</ds:Signature>");
    let key = between(&message, "<xenc:EncryptedKey", "</xenc:EncryptedKey>");
    let body = values(&message).1;
    let other = encrypted_then_signed(&blocks());
    let attacks = [
        message.replace(&body, &flipped(&body, 40)),
        // The key of another message, and its content.
        message.replace(key, between(&other, "<xenc:EncryptedKey", "</xenc:EncryptedKey>")),
        message.replace(between(&message, "<soap:Body", "</soap:Body>"), between(&other, "<soap:Body", "</soap:Body>")),
        // Signed after all, so that the signature is expected to cover the plaintext.
        message.replace(key, "").replace(signature, &format!("{key}{signature}")),
        message.replace(signature, ""),
        message.replace(">7</ns:transaction>", ">8</ns:transaction>"),
    ];
    for (number, attack) in attacks.iter().enumerate() {
        assert_ne!(*attack, message, "attack {number} changed nothing");
        let verified = open(attack.as_bytes(), requirements()).map(|(_, verified)| verified);
        assert!(verified.is_err(), "attack {number}: {verified:?}");
    }
    // Encrypted, signed, and encrypted again.
    let again = key.replace("encrypted-key", "other").replace("part-1", "part-2");
    let attack = message.replace(signature, &format!("{again}{signature}"));
    assert!(matches!(open(attack.as_bytes(), requirements()), Err(SecurityError::Unsupported(_))));
}

/// A signature over what is encrypted says nothing about the place that plaintext of the head is
/// put in: only about what it replaces.
#[test]
fn signed_blocks_stay_signed_behind_plaintext() {
    let message = encrypted_then_signed(&blocks());
    let protection = Protection::new().encrypt(recipient()).encrypt_header(QName::new("urn:tx", "second"));
    let with_block = text(&send(&protection, Version::Soap11, &blocks()[1..]));
    let block =
        between(&with_block, "<wsse11:EncryptedHeader", "</wsse11:EncryptedHeader>").replace("part-1", "part-9");
    let key = between(&with_block, "<xenc:EncryptedKey", "</xenc:EncryptedKey>");
    let list = between(key, "<xenc:ReferenceList>", "</xenc:ReferenceList>");
    let key =
        key.replace(list, "<xenc:ReferenceList><xenc:DataReference URI=\"#encrypted-part-9\"/></xenc:ReferenceList>");
    // Someone else adds an encrypted block before the signed ones, whose places change.
    let added = message.replacen("<soap:Header>", &format!("<soap:Header>{block}"), 1);
    let added =
        added.replace("</wsse:Security>", &format!("{}</wsse:Security>", key.replace("encrypted-key", "other")));
    let (decoded, _) = open(added.as_bytes(), requirements().signed_header(QName::new("urn:tx", "transaction")))
        .expect("a valid message");
    assert!(text(&decoded).matches("</ns:second>").count() == 2);
    // It is not signed.
    let refused = open(added.as_bytes(), requirements().signed_header(QName::new("urn:tx", "second")));
    assert!(matches!(refused, Err(SecurityError::Missing(_))));
}

#[test]
fn plain_content_beside_encrypted_content() {
    let message = text(&send(&Protection::new().encrypt(recipient()), Version::Soap11, &[]));
    for plain in ["<x/>", "text", "&lt;", "<xenc:EncryptedData xmlns:xenc=\"http://www.w3.org/2001/04/xmlenc#\"/>"] {
        for (at, is_before) in [("<xenc:EncryptedData", true), ("</soap:Body>", false)] {
            let attack = message.replacen(at, &format!("{plain}{at}"), 1);
            assert!(matches!(open(attack.as_bytes(), decrypting().encrypted_body()), Err(SecurityError::Missing(_))));
            let (decoded, verified) = open(attack.as_bytes(), decrypting()).expect("a message");
            assert!(!verified.is_body_encrypted && text(&decoded).contains(SECRET), "{is_before}");
        }
    }
}

/// Encrypts content as other toolkits do, with AES-CBC too.
struct Toolkit {
    key: [u8; 16],
}

impl Toolkit {
    fn new() -> Self {
        Toolkit { key: [42; 16] }
    }

    fn encrypted_key(&self, list: &str) -> String {
        let der = PrivatePkcs8KeyDer::from_pem_slice(KEYS.server.1.as_bytes()).expect("a key");
        let private = PrivateDecryptingKey::from_pkcs8(der.secret_pkcs8_der()).expect("a key");
        let public = OaepPublicEncryptingKey::new(private.public_key()).expect("a key");
        let mut wrapped = vec![0; public.ciphertext_size()];
        public.encrypt(&OAEP_SHA1_MGF1SHA1, &self.key, &mut wrapped, None).expect("a wrapped key");
        format!(
            "<e:EncryptedKey xmlns:e='http://www.w3.org/2001/04/xmlenc#' Id='k'>\
             <e:EncryptionMethod Algorithm='http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p'/>\
             <e:CipherData><e:CipherValue>{}</e:CipherValue></e:CipherData>{list}</e:EncryptedKey>",
            BASE64_STANDARD.encode(wrapped)
        )
    }

    /// Encrypts content, with the padding given.
    fn cbc(&self, content: &[u8], padding: &[u8]) -> Vec<u8> {
        let key = EncryptingKey::cbc(UnboundCipherKey::new(&AES_128, &self.key).expect("a key")).expect("a key");
        let mut bytes = [content, padding].concat();
        let vector = [9; 16];
        key.less_safe_encrypt(&mut bytes, EncryptionContext::Iv128((&vector).into())).expect("whole blocks");
        [&vector[..], &bytes].concat()
    }

    fn data(&self, id: &str, kind: &str, cipher: &[u8], info: &str) -> String {
        format!(
            "<e:EncryptedData xmlns:e='http://www.w3.org/2001/04/xmlenc#' Id='{id}' \
             Type='http://www.w3.org/2001/04/xmlenc#{kind}'>\
             <e:EncryptionMethod Algorithm='http://www.w3.org/2001/04/xmlenc#aes128-cbc'/>{info}\
             <e:CipherData><e:CipherValue>{}</e:CipherValue></e:CipherData></e:EncryptedData>",
            BASE64_STANDARD.encode(cipher)
        )
    }

    /// Encrypts the content of the body of a message. The padding is of random bytes and its
    /// length.
    fn message(&self, plain: &str) -> String {
        let start = plain.find("<soap:Body").expect("a body");
        let start = start + plain[start..].find('>').expect("a tag") + 1;
        let end = plain.rfind("</soap:Body>").expect("a body");
        let content = &plain.as_bytes()[start..end];
        let len = 16 - content.len() % 16;
        let mut padding = vec![200; len - 1];
        padding.push(len as u8);
        self.with(plain, &self.cbc(content, &padding))
    }

    /// Replaces the content of the body by ciphertext.
    fn with(&self, plain: &str, cipher: &[u8]) -> String {
        let start = plain.find("<soap:Body").expect("a body");
        let start = start + plain[start..].find('>').expect("a tag") + 1;
        let end = plain.rfind("</soap:Body>").expect("a body");
        let sealed = format!("{}{}{}", &plain[..start], self.data("d", "Content", cipher, ""), &plain[end..]);
        let list = "<e:ReferenceList><e:DataReference URI='#d'/></e:ReferenceList>";
        let at = sealed.find("<wsu:Timestamp").expect("a timestamp");
        format!("{}{}{}", &sealed[..at], self.encrypted_key(list), &sealed[at..])
    }
}

fn signed() -> String {
    text(&send(&Protection::new().timestamp(VALID).sign(client()), Version::Soap11, &blocks()))
}

#[test]
fn cbc_is_read_if_it_is_accepted_and_signed() {
    let toolkit = Toolkit::new();
    let message = toolkit.message(&signed());
    let (decoded, _) = open(message.as_bytes(), requirements().accept_cbc()).expect("a valid message");
    assert_eq!(decode_request::<Transfer>(&decoded).expect("a message").1, transfer());
    assert!(matches!(open(message.as_bytes(), requirements()), Err(SecurityError::Unsupported(_))));
    let unsigned = text(&send(&Protection::new().timestamp(VALID), Version::Soap11, &[]));
    let refused = open(toolkit.message(&unsigned).as_bytes(), decrypting().accept_cbc());
    assert!(matches!(refused, Err(SecurityError::Missing(_))), "{refused:?}");
}

/// Whatever is wrong with content in AES-CBC, the answer is the same, and nothing of it leaves.
#[test]
fn cbc_has_one_answer() {
    let toolkit = Toolkit::new();
    let plain = signed();
    let block = |padding: u8| {
        let mut bytes = [7; 16];
        bytes[15] = padding;
        bytes
    };
    let whole = "<ns:x xmlns:ns='urn:bank'/>     ";
    let mut ciphers: Vec<Vec<u8>> = (0..=255).map(|padding| toolkit.cbc(whole.as_bytes(), &block(padding))).collect();
    for content in ["no element      ", "<unbound:x/>    ", "</soap:Body>    ", "<!--            ", "\0               "]
    {
        ciphers.push(toolkit.cbc(content.as_bytes(), &block(16)));
    }
    ciphers.extend([vec![], vec![1; 15], vec![1; 16], vec![1; 33], vec![1; 64]]);
    let requirements = Arc::new(requirements().accept_cbc().at(now()));
    let mut faults = Vec::new();
    for cipher in ciphers {
        let attack = toolkit.with(&plain, &cipher);
        let mut verification = requirements.begin(deltasoap_xml::Limits::default());
        let (mut decoded, mut error) = (Vec::new(), None);
        for piece in attack.as_bytes().chunks(300) {
            match verification.push(bytes::Bytes::copy_from_slice(piece)) {
                Ok(bytes) => decoded.extend(bytes),
                Err(refused) => {
                    error = Some(refused);
                    break;
                }
            }
        }
        assert_eq!(error, Some(undecipherable()), "{cipher:?}");
        assert!(text(&decoded).ends_with("wsu:Id=\"signed-body\">") || decoded.is_empty(), "{}", text(&decoded));
        faults.push(error.map(|error| format!("{:?}", error.to_fault(Version::Soap11))));
    }
    faults.dedup();
    assert_eq!(faults.len(), 1);
    // A changed key.
    let attack = toolkit.message(&plain);
    let value = between(&attack, "<e:CipherValue>", "</e:CipherValue>");
    let key = &value["<e:CipherValue>".len()..value.len() - "</e:CipherValue>".len()];
    let attack = attack.replace(key, &flipped(key, 3));
    assert_eq!(open(attack.as_bytes(), self::requirements().accept_cbc()).err(), Some(undecipherable()));
}

/// Content that ends an element around it would move what follows.
#[test]
fn content_that_breaks_out() {
    let protection = Protection::new().encrypt(recipient()).encrypt_header(QName::new("urn:tx", "second"));
    let message = text(&send(&protection, Version::Soap11, &blocks()));
    let header = between(&message, "<wsse11:EncryptedHeader", "</wsse11:EncryptedHeader>");
    let toolkit = Toolkit::new();
    let list = "<e:ReferenceList><e:DataReference URI='#h'/></e:ReferenceList>";
    let cipher = |content: &str| {
        let mut bytes = content.as_bytes().to_vec();
        let len = 16 - bytes.len() % 16;
        bytes.resize(bytes.len() + len, len as u8);
        toolkit.cbc(&bytes, &[])
    };
    let attack = |content: &str| {
        let data = toolkit.data("h", "Element", &cipher(content), "");
        let replaced = header.replace(between(header, "<xenc:EncryptedData", "</xenc:EncryptedData>"), &data);
        let list_only = between(&message, "<xenc:DataReference URI=\"#encrypted-part-1\"", "</xenc:DataReference>");
        let message = message.replace(header, &replaced).replace(list_only, "");
        message.replace("</wsse:Security>", &format!("{}</wsse:Security>", toolkit.encrypted_key(list)))
    };
    for content in [
        "</soap:Header><soap:Body>evil</soap:Body><soap:Header>",
        "<x/></soap:Header><soap:Body/><soap:Header>",
        "<x/><y/>",
        "text",
        "<x>",
        "<x/><!--",
    ] {
        let opened = open(attack(content).as_bytes(), decrypting().accept_cbc());
        assert_eq!(opened.err(), Some(undecipherable()), "{content}");
    }
    // Even a good block is refused, since nobody signed it.
    assert_eq!(open(attack("<x/>").as_bytes(), decrypting().accept_cbc()).err(), Some(undecipherable()));
}

macro_rules! data {
    ($name:literal) => {
        include_str!(concat!("../../../../testdata/security/", $name))
    };
}

/// See `testdata/security/README.md`.
#[test]
fn what_xmlsec_encrypts() {
    let certificate = data!("cert.pem");
    let identity = || Identity::from_pem(certificate, data!("key.pem")).expect("an identity");
    for (message, is_cbc) in [
        (data!("xmlsec-AES256_GCM-content.xml"), false),
        (data!("xmlsec-AES128_GCM-element.xml"), false),
        (data!("xmlsec-AES256-content.xml"), true),
    ] {
        let created = between(message, "<wsu:Created>", "</wsu:Created>");
        let created = created.trim_start_matches("<wsu:Created>").trim_end_matches("</wsu:Created>");
        let created = deltasoap_security::parse_time(created).expect("a time");
        let trust = Trust::nobody().certificates(certificate).expect("a certificate");
        let requirements = requirements_with(identity()).trust(trust).encrypted_body().at(created);
        let requirements = Arc::new(if is_cbc { requirements.accept_cbc() } else { requirements });
        for len in [17, 10_000] {
            let (decoded, verified) = open_in(message.as_bytes(), len, &requirements).expect("a valid message");
            assert!(verified.is_body_signed && verified.is_body_encrypted);
            assert!(text(&decoded).contains("<to>Ä &amp; &lt;b&gt;</to>"), "{}", text(&decoded));
        }
    }
}

//! What one side protects, the other verifies.

use crate::support::{
    C14N, ENVELOPED, HMAC, KEYS, Transfer, WSSE, WSU, blocks, client, now, reference, send, send_by, signature, text,
    transfer, trust, verify,
};
use deltasoap_core::QName;
use deltasoap_core::soap::{Version, decode_request};
use deltasoap_core::{Template, Templating};
use deltasoap_security::{
    AttachmentContent, DigestAlgorithm, Identity, KeyReference, Protection, Requirements, SecurityError,
    SignatureAlgorithm, Signer, SigningKey, Trust, UsernameToken,
};
use std::time::Duration;

const VALID: Duration = Duration::from_secs(300);

fn all_signed() -> Requirements {
    let headers = [QName::new("urn:tx", "transaction"), QName::new("urn:tx", "second")];
    let requirements = Requirements::new().trust(trust()).signed_body().signed_timestamp();
    headers.into_iter().fold(requirements, Requirements::signed_header)
}

#[test]
fn signed_messages_are_verified() {
    let protection = Protection::new().timestamp(VALID).sign(client());
    for version in [Version::Soap11, Version::Soap12] {
        let message = send(&protection, version, &blocks());
        let verified = verify(&message, all_signed()).expect("a valid message");
        assert!(verified.is_body_signed);
        assert_eq!(verified.sender.name(), Some("CN=client\\, of Ä"));
        let (head, value) = decode_request::<Transfer>(&message).expect("a message");
        assert_eq!(value, transfer());
        assert_eq!(head.headers.len(), 3);
    }
}

/// A header that must be understood would be refused by receivers without WS-Security.
#[test]
fn protection_that_adds_nothing_writes_no_header() {
    for version in [Version::Soap11, Version::Soap12] {
        let message = send(&Protection::new(), version, &[]);
        assert!(!text(&message).contains("Header"), "{}", text(&message));
        let (head, value) =
            decode_request::<Transfer>(&send(&Protection::new(), version, &blocks())).expect("a message");
        assert_eq!((head.headers.len(), value), (2, transfer()));
    }
}

/// node-soap signs like this: the transforms leave out a signature that is elsewhere, and ids have
/// no namespace.
#[test]
fn parts_that_do_not_contain_their_signature() {
    let soap = Version::Soap11.namespace();
    let body = |xmlns: &str, amount: &str| format!("<s:Body{xmlns} Id=\"_0\"><amount>{amount}</amount></s:Body>");
    let time = format!("<Timestamp xmlns=\"{WSU}\" Id=\"_1\"><Created>2026-09-21T14:13:20Z</Created></Timestamp>");
    let xmlns = format!(" xmlns:s=\"{soap}\"");
    let references = reference("_0", &[ENVELOPED, C14N], body(&xmlns, "1.5").as_bytes())
        + &reference("_1", &[ENVELOPED, C14N], time.as_bytes());
    let key_info = "<ds:KeyInfo><ds:KeyName>branch</ds:KeyName></ds:KeyInfo>";
    let signature = signature(&SigningKey::hmac(b"a secret"), HMAC, &references, key_info);
    let verified = |body: &str, time: &str| {
        let message = format!(
            "<s:Envelope xmlns:s=\"{soap}\"><s:Header><wsse:Security xmlns:wsse=\"{WSSE}\">{time}{signature}\
             </wsse:Security></s:Header>{body}</s:Envelope>"
        );
        let trust = Trust::nobody().secret("branch", "a secret");
        verify(message.as_bytes(), Requirements::new().trust(trust).signed_body().signed_timestamp())
    };
    verified(&body("", "1.5"), &time).expect("a valid message");
    for (body, time) in [(body("", "2.5"), time.clone()), (body("", "1.5"), time.replace("14:13:20", "14:13:21"))] {
        let refused = verified(&body, &time);
        assert!(matches!(refused, Err(SecurityError::Check(_))), "{refused:?}");
    }
}

#[test]
fn every_way_to_refer_to_a_key() {
    let with_client = || trust().known(&KEYS.client.0).expect("a certificate");
    let pinned = || Trust::nobody().certificates(&KEYS.client.0).expect("a certificate");
    for reference in [
        KeyReference::Token,
        KeyReference::TokenPath,
        KeyReference::Thumbprint,
        KeyReference::KeyIdentifier,
        KeyReference::IssuerSerial,
    ] {
        let protection = Protection::new().timestamp(VALID).sign(client()).key_reference(reference.clone());
        // Certificates of rcgen have no subject key identifier unless they are authorities.
        let identity = client();
        if reference == KeyReference::KeyIdentifier
            && identity.certificate().is_some_and(|it| it.key_identifier().is_none())
        {
            continue;
        }
        let message = send(&protection, Version::Soap11, &[]);
        // gSOAP would answer in the namespace of WS-Security 1.1 if it saw a declaration of it.
        assert!(!text(&message).contains("secext-1.1.xsd"), "{reference:?}");
        for trust in [with_client(), pinned()] {
            let verified = verify(&message, Requirements::new().trust(trust).signed_body());
            assert!(verified.is_ok(), "{reference:?}: {verified:?}");
        }
        let is_contained = matches!(reference, KeyReference::Token | KeyReference::TokenPath);
        let without = verify(&message, Requirements::new().trust(trust()).signed_body());
        assert_eq!(without.is_ok(), is_contained, "{reference:?}");
    }
}

#[test]
fn every_algorithm() {
    let ec = |algorithm| {
        let key = rcgen::KeyPair::generate_for(algorithm).expect("a key");
        let certificate = rcgen::CertificateParams::default().self_signed(&key).expect("a certificate");
        (certificate.pem(), key.serialize_pem())
    };
    let rsa = KEYS.client.clone();
    let cases = [
        (SignatureAlgorithm::RsaSha256, rsa.clone()),
        (SignatureAlgorithm::RsaSha384, rsa.clone()),
        (SignatureAlgorithm::RsaSha512, rsa.clone()),
        (SignatureAlgorithm::RsaPssSha256, rsa.clone()),
        (SignatureAlgorithm::RsaPssSha384, rsa.clone()),
        (SignatureAlgorithm::RsaPssSha512, rsa),
        (SignatureAlgorithm::EcdsaP256Sha256, ec(&rcgen::PKCS_ECDSA_P256_SHA256)),
        (SignatureAlgorithm::EcdsaP384Sha384, ec(&rcgen::PKCS_ECDSA_P384_SHA384)),
        (SignatureAlgorithm::Ed25519, ec(&rcgen::PKCS_ED25519)),
    ];
    for (algorithm, (certificate, key)) in cases {
        let key = SigningKey::from_pem(&key).and_then(|key| key.with_algorithm(algorithm)).expect("a key");
        assert_eq!(key.algorithm(), algorithm);
        let certificates = deltasoap_security::Certificate::all_from_pem(&certificate).expect("a certificate");
        let protection = Protection::new().sign(Identity::new(key, certificates)).digest(DigestAlgorithm::Sha512);
        let message = send(&protection, Version::Soap12, &[]);
        let trust = Trust::nobody().certificates(&certificate).expect("a certificate");
        let verified = verify(&message, Requirements::new().trust(trust).signed_body());
        assert!(verified.is_ok(), "{algorithm}: {verified:?}");
    }
}

#[test]
fn shared_secrets() {
    let identity = Identity::new(SigningKey::hmac(b"a secret"), Vec::new());
    let protection =
        Protection::new().timestamp(VALID).sign(identity).key_reference(KeyReference::Name("branch".into()));
    let message = send(&protection, Version::Soap11, &blocks());
    let with = |name: &str, secret: &str| Requirements::new().trust(Trust::nobody().secret(name, secret)).signed_body();
    let verified = verify(&message, with("branch", "a secret")).expect("a valid message");
    assert_eq!(verified.sender.name(), Some("branch"));
    assert!(matches!(verify(&message, with("branch", "another")), Err(SecurityError::Check(_))));
    assert!(matches!(verify(&message, with("other", "a secret")), Err(SecurityError::UnknownToken(_))));
}

/// A template holds the canonical form: what changed is signed anew, with the rest as it was.
#[test]
fn messages_of_a_template_are_signed_anew() {
    let protection = Protection::new().timestamp(VALID).sign(client());
    let mut template = Template::new(Templating::default());
    let mut value = transfer();
    for turn in 0..6 {
        value.lines[3] += 1000 * turn;
        value.note = (turn % 2 == 0).then(|| "n".repeat(turn as usize));
        let message = send_by(&mut template, &value, &protection, Version::Soap11, &blocks());
        verify(&message, all_signed()).expect("a valid message");
        assert_eq!(decode_request::<Transfer>(&message).expect("a message").1, value);
    }
    assert!(template.stats().first == 1 && template.stats().partial > 1, "{:?}", template.stats());
}

/// A user whose name is the subject of a certificate is someone else.
#[test]
fn senders_have_keys() {
    let certified =
        verify(&send(&Protection::new().sign(client()), Version::Soap11, &[]), Requirements::new().trust(trust()));
    let subject = certified.expect("a valid message").sender;
    let name = subject.name().expect("a name").to_owned();
    let users = |_: &str| Some("word");
    let by_name = send(&Protection::new().user(UsernameToken::text(&name, "word")), Version::Soap11, &[]);
    let user = verify(&by_name, Requirements::new().users(users)).expect("a valid message").sender;
    assert_eq!(user.name(), subject.name());
    assert!(user.key().is_some() && user.key() != subject.key(), "{:?}", user.key());
    let plain = send(&Protection::new().timestamp(VALID), Version::Soap11, &[]);
    assert_eq!(verify(&plain, Requirements::new()).expect("a valid message").sender.key(), None);
}

#[test]
fn user_names() {
    let users = || |user: &str| (user == "ada").then_some("pass & word");
    for token in [UsernameToken::text("ada", "pass & word"), UsernameToken::digest("ada", "pass & word")] {
        let message = send(&Protection::new().user(token), Version::Soap11, &[]);
        let verified = verify(&message, Requirements::new().users(users())).expect("a valid message");
        assert_eq!((verified.sender.name(), verified.is_body_signed), (Some("ada"), false));
        let needs = verify(&message, Requirements::new().users(users()).signed_tokens());
        assert!(matches!(needs, Err(SecurityError::Missing(_))), "{needs:?}");
    }
    for token in [
        UsernameToken::text("ada", "wrong"),
        UsernameToken::digest("ada", "wrong"),
        UsernameToken::text("bob", ""),
        UsernameToken::digest("bob", ""),
        UsernameToken::without_password("ada"),
    ] {
        let message = send(&Protection::new().user(token.clone()), Version::Soap11, &[]);
        let refused = verify(&message, Requirements::new().users(users()));
        assert!(matches!(refused, Err(SecurityError::Authentication(_))), "{token:?}: {refused:?}");
    }
    let plain = send(&Protection::new().timestamp(VALID), Version::Soap11, &[]);
    assert!(matches!(verify(&plain, Requirements::new().users(users())), Err(SecurityError::Missing(_))));
    assert!(verify(&plain, Requirements::new().users(users()).optional_tokens()).is_ok());
}

#[test]
fn clocks_may_differ() {
    let users = || |user: &str| (user == "ada").then_some("x");
    let token = || UsernameToken::digest("ada", "x");
    let sent = |protection: Protection| send(&protection.user(token()), Version::Soap11, &[]);
    for (protection, is_fine) in [
        (Protection::new().clock_ahead(Duration::from_secs(59)), true),
        (Protection::new().clock_ahead(Duration::from_secs(61)), false),
        (Protection::new().clock_behind(Duration::from_secs(359)), true),
        (Protection::new().clock_behind(Duration::from_secs(361)), false),
    ] {
        let verified = verify(&sent(protection.clone()), Requirements::new().users(users()));
        assert_eq!(verified.is_ok(), is_fine, "{protection:?}");
        let verified = verify(&sent(protection.timestamp(VALID)), Requirements::new().users(users()).timestamp());
        assert_eq!(verified.is_ok(), is_fine);
    }
    let wide = Requirements::new().users(users()).clock_skew(Duration::from_secs(7200));
    assert!(verify(&sent(Protection::new().clock_ahead(Duration::from_secs(7000))), wide).is_ok());
}

/// Attachments are signed by the SwA profile.
#[test]
fn attachments() {
    use deltasoap_core::soap::Envelope;
    let protection = Protection::new().sign(client()).sign_attachments(true).at(now());
    let value = transfer();
    let envelope = Envelope::new(&value).canonical(protection.body_id().expect("a signed body"));
    let message = Template::new(Templating::default()).encode(&envelope).expect("a message");
    let part = |content_id, media_type, bytes| AttachmentContent { content_id, media_type, bytes };
    let parts = [part("one@x", "application/pdf", &b"\x00\xff"[..]), part("two@x", "text/plain", b"two\nlines")];
    let message = protection.secure(Version::Soap11, &[], message, &parts).expect("a header").to_vec();
    assert!(text(&message).contains("URI=\"cid:one@x\""));
    let verified = verify(&message, Requirements::new().trust(trust()).signed_body()).expect("a valid message");
    assert_eq!(verified.signed_attachments().collect::<Vec<_>>(), ["one@x", "two@x"]);
    let check = |content_id, media_type, bytes| verified.check_attachment(&part(content_id, media_type, bytes));
    assert!(check("one@x", "application/pdf", b"\x00\xff").is_ok());
    assert!(check("two@x", "text/plain", b"two\r\nlines").is_ok());
    assert!(matches!(check("one@x", "application/pdf", b"\x00"), Err(SecurityError::Check(_))));
    assert!(matches!(check("three@x", "application/pdf", b""), Err(SecurityError::Missing(_))));
}

//! Attacks, which are refused.

use crate::support::{
    C14N, HMAC, KEYS, WSSE, WSU, between, blocks, client, now, reference, send, signature, text, timestamp_id, trust,
    verify, verify_in,
};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use deltasoap_core::soap::Version;
use deltasoap_security::{
    Exchange, Identity, KeyReference, Protection, ReplayCache, Requirements, SecurityError, SigningKey, Trust,
    UsernameToken,
};
use deltasoap_xml::Limits;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

fn signed() -> String {
    let protection = Protection::new().timestamp(Duration::from_secs(300)).sign(client());
    text(&send(&protection, Version::Soap11, &blocks()))
}

fn requirements() -> Requirements {
    Requirements::new().trust(trust()).signed_body().signed_timestamp()
}

#[track_caller]
fn refused(message: &str) -> SecurityError {
    assert_ne!(message, signed_text(message), "the attack changed nothing");
    verify(message.as_bytes(), requirements()).expect_err("an attack")
}

/// Returns the message if it is a valid one.
fn signed_text(message: &str) -> &str {
    if verify(message.as_bytes(), requirements()).is_ok() { message } else { "" }
}

#[test]
fn the_message_itself_is_valid() {
    verify(signed().as_bytes(), requirements()).expect("a valid message");
}

#[test]
fn other_documents_are_no_messages() {
    for message in [signed().replace("soap:Envelope", "Envelope"), signed().replace("soap:Header", "soap:<Header")] {
        let error = refused(&message);
        assert!(matches!(error, SecurityError::Malformed(_)), "{error:?}");
    }
}

#[test]
fn changed_content() {
    let message = signed();
    for (from, to) in [
        ("<amount>0.1</amount>", "<amount>9.9</amount>"),
        ("<to>Ada", "<to>Eve"),
        ("<lines>0</lines>", ""),
        (">7</", ">8</"),
        ("t:urgent", "t:normal"),
        ("xmlns:t=\"urn:types\"", "xmlns:t=\"urn:other\""),
        ("<amount>", "<amount xmlns:x=\"urn:x\" x:y=\"1\">"),
        ("</wsu:Created>", "</wsu:Created ><!-- --><wsu:Created>2026-01-01T00:00:00Z</wsu:Created>"),
    ] {
        assert!(message.contains(from), "{from}");
        let error = refused(&message.replacen(from, to, 1));
        assert!(matches!(error, SecurityError::Check(_)), "{from}: {error:?}");
    }
    // What canonicalization removes is not content.
    let respelt = message.replacen("<amount>0.1</amount>", "<amount  ><!-- x --><![CDATA[0]]>.1</amount >", 1);
    verify(respelt.as_bytes(), requirements()).expect("the same content");
}

/// McIntosh and Austel, *XML Signature Element Wrapping Attacks and Countermeasures*, 2005, and
/// variants: the signed element is moved to a place where nobody reads it, and another one is put
/// in its place.
#[test]
fn wrapping() {
    let message = signed();
    let body = between(&message, "<soap:Body", "</soap:Body>");
    let forged = body.replace("0.1", "999");
    let unsigned = forged.replace("signed-body", "other");
    let without_id = forged.replacen(" wsu:Id=\"signed-body\"", "", 1);
    let header_end = "</soap:Header>";
    let in_header = |wrapped: &str, new: &str| {
        message.replace(body, new).replace(header_end, &format!("<w xmlns=\"urn:w\">{wrapped}</w>{header_end}"))
    };
    let in_security = |wrapped: &str, new: &str| {
        message
            .replace(body, new)
            .replace("</wsse:Security>", &format!("<w xmlns=\"urn:w\">{wrapped}</w></wsse:Security>"))
    };
    let attacks = [
        // 1 to 3: the body in a header block; the new one has the same id, another one, or none.
        in_header(body, &forged),
        in_header(body, &unsigned),
        in_header(body, &without_id),
        // 4, 5: in the security header.
        in_security(body, &unsigned),
        in_security(body, &without_id),
        // 6: in an object of the signature.
        message
            .replace(body, &without_id)
            .replace("</ds:Signature>", &format!("<ds:Object>{body}</ds:Object></ds:Signature>")),
        // 7: in the new body.
        message.replace(body, &unsigned.replace("</soap:Body>", &format!("<w>{body}</w></soap:Body>"))),
        // 8: a second body.
        message.replace(body, &format!("{unsigned}{body}")),
        message.replace(body, &format!("{body}{unsigned}")),
    ];
    for (number, attack) in attacks.iter().enumerate() {
        let verified = verify(attack.as_bytes(), requirements());
        match verified {
            // The decoder refuses a second body; the signed one is the first.
            Ok(_) if number == 8 => {
                assert!(deltasoap_core::soap::decode_request::<crate::support::Transfer>(attack.as_bytes()).is_err());
            }
            verified => assert!(verified.is_err(), "attack {number}: {verified:?}"),
        }
    }
}

/// The same with signed header blocks: the timestamp, and a block.
#[test]
fn wrapped_header_blocks() {
    let message = signed();
    let timestamp = between(&message, "<wsu:Timestamp", "</wsu:Timestamp>");
    let fresh = timestamp.replace(&format!(" wsu:Id=\"{}\"", timestamp_id(&message)), "");
    for attack in [
        message.replace(timestamp, &format!("{fresh}<w>{timestamp}</w>")),
        message.replace(timestamp, &format!("<w>{timestamp}</w>")),
        message.replace(timestamp, &format!("{fresh}{timestamp}")),
        message.replace(timestamp, ""),
    ] {
        refused(&attack);
    }
    let block = between(&message, "<ns:transaction", "</ns:transaction>");
    let name = deltasoap_core::QName::new("urn:tx", "transaction");
    let forged = block.replace(">7<", ">8<").replace("signed-block-0", "x");
    for attack in [
        message.replace(block, &forged),
        message.replace(block, &format!("{forged}<w>{block}</w>")),
        message.replace(block, &format!("{forged}{block}")),
    ] {
        let verified = verify(attack.as_bytes(), requirements().signed_header(name.clone()));
        assert!(verified.is_err(), "{verified:?}");
    }
}

#[test]
fn ids_that_occur_twice() {
    let message = signed();
    let time = timestamp_id(&message);
    for attack in [
        message.replace("<lines>0</lines>", "<lines xmlns:u=\"http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd\" u:Id=\"signed-body\">0</lines>"),
        message.replace("<lines>0</lines>", &format!("<lines Id=\"{time}\">0</lines>")),
        message.replace("</soap:Header>", "<x Id=\"signed-body\"/></soap:Header>"),
        message.replace("</soap:Header>", &format!("<x ID=\"{time}\"/></soap:Header>")),
        message.replace("</wsse:Security>", "<x xml:id=\"signed-block-0\"/></wsse:Security>"),
    ] {
        let error = refused(&attack);
        assert!(matches!(error, SecurityError::Malformed(_)), "{error:?}");
    }
}

#[test]
fn strangers() {
    let (certificate, key) = &KEYS.stranger;
    let identity = Identity::from_pem(certificate, key).expect("an identity");
    let message = send(&Protection::new().timestamp(Duration::from_secs(300)).sign(identity), Version::Soap11, &[]);
    assert!(matches!(verify(&message, requirements()), Err(SecurityError::Token(_))));
    let plain = send(&Protection::new().timestamp(Duration::from_secs(300)), Version::Soap11, &[]);
    assert!(matches!(verify(&plain, requirements()), Err(SecurityError::Missing(_))));
    // A certificate says nothing without the key.
    let message = signed();
    let own = between(&message, "<wsse:BinarySecurityToken", "</wsse:BinarySecurityToken>");
    let foreign = text(&send(
        &Protection::new().sign(Identity::from_pem(certificate, key).expect("an identity")),
        Version::Soap11,
        &[],
    ));
    let foreign = between(&foreign, "<wsse:BinarySecurityToken", "</wsse:BinarySecurityToken>");
    refused(&message.replace(own, foreign));
}

#[test]
fn algorithms_that_are_not_allowed() {
    let message = signed();
    let rsa = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
    for (from, to) in [
        // The public key as the secret of an HMAC.
        (rsa, "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256"),
        (rsa, "http://www.w3.org/2000/09/xmldsig#dsa-sha1"),
        ("http://www.w3.org/2001/04/xmlenc#sha256", "http://www.w3.org/2001/04/xmldsig-more#md5"),
        // A truncated digest.
        (
            "rsa-sha256\"></ds:SignatureMethod>",
            "rsa-sha256\"><ds:HMACOutputLength>8</ds:HMACOutputLength></ds:SignatureMethod>",
        ),
        // Transforms that compute.
        (
            "<ds:Transform Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\">",
            "<ds:Transform Algorithm=\"http://www.w3.org/TR/1999/REC-xslt-19991116\"><s xmlns=\"urn:s\"/>",
        ),
        (
            "<ds:Transform Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\">",
            "<ds:Transform Algorithm=\"http://www.w3.org/TR/1999/REC-xpath-19991116\">",
        ),
        // References outside the message, or to all of it.
        ("URI=\"#signed-body\"", "URI=\"http://attacker.example/\""),
        ("URI=\"#signed-body\"", "URI=\"file:///etc/passwd\""),
        ("URI=\"#signed-body\"", "URI=\"\""),
        ("URI=\"#signed-body\"", "URI=\"#xpointer(/)\""),
        ("URI=\"#certificate-token\" ValueType", "URI=\"http://attacker.example/\" ValueType"),
    ] {
        assert!(message.contains(from), "{from}");
        let error = refused(&message.replacen(from, to, 1));
        let is_refused_early =
            matches!(error, SecurityError::Unsupported(_) | SecurityError::UnknownToken(_) | SecurityError::Check(_));
        assert!(is_refused_early, "{to}: {error:?}");
    }
}

/// Returns a signed message and one with a user name, sent now, since a fixed time turns the memory
/// off, and what is required of them.
fn sent_now() -> [(Vec<u8>, Arc<Requirements>); 2] {
    let secure = |protection: Protection| {
        let value = crate::support::transfer();
        let envelope = deltasoap_core::soap::Envelope::new(&value).canonical(deltasoap_security::BODY_ID);
        let message =
            deltasoap_core::Template::new(deltasoap_core::Templating::default()).encode(&envelope).expect("a message");
        protection.secure(Version::Soap11, &[], message, &[]).expect("a header").to_vec()
    };
    let signed = secure(Protection::new().timestamp(Duration::from_secs(300)).sign(client()));
    let named = secure(Protection::new().user(UsernameToken::digest("ada", "x")));
    let users = |user: &str| (user == "ada").then_some("x");
    let replays = Arc::new(ReplayCache::default());
    let by_signature = Requirements::new().trust(trust()).signed_body().replays(Some(Arc::clone(&replays)));
    let by_nonce = Requirements::new().users(users).replays(Some(replays));
    [(signed, Arc::new(by_signature)), (named, Arc::new(by_nonce))]
}

#[test]
fn messages_are_accepted_once() {
    for (message, requirements) in sent_now() {
        verify_in(&message, 1000, &requirements).expect("a message");
        let again = verify_in(&message, 1000, &requirements);
        assert!(matches!(again, Err(SecurityError::Expired(_))), "{again:?}");
    }
}

/// A sender may have the same to say twice in one millisecond. RSA gives equal signatures for equal
/// content.
#[test]
fn equal_messages_of_one_moment_are_accepted() {
    let protection = Protection::new().timestamp(Duration::from_secs(300)).sign(client()).at(SystemTime::now());
    let requirements = Arc::new(Requirements::new().trust(trust()).signed_body().signed_timestamp());
    let value = crate::support::transfer();
    let envelope = deltasoap_core::soap::Envelope::new(&value).canonical(deltasoap_security::BODY_ID);
    for _ in 0..3 {
        let mut template = deltasoap_core::Template::new(deltasoap_core::Templating::default());
        let message = template.encode(&envelope).expect("a message");
        let message = protection.secure(Version::Soap11, &[], message, &[]).expect("a header").to_vec();
        verify_in(&message, 1000, &requirements).expect("a message that is not an earlier one");
    }
}

/// A message may be sent again if the first copy did not arrive as it was sent.
#[test]
fn messages_that_were_refused_do_not_count() {
    for (message, requirements) in sent_now() {
        verify_in(&message[..message.len() - 20], 1000, &requirements).expect_err("a part of a message");
        verify_in(&message, 1000, &requirements).expect("a message");
    }
}

/// Of copies that arrive at the same time, one is accepted.
#[test]
fn copies_at_the_same_time() {
    for (message, requirements) in sent_now() {
        let [mut one, mut other] = [(); 2].map(|()| requirements.begin(Default::default()));
        one.push(message.clone()).expect("a message");
        other.push(message).expect("a message");
        other.finish().expect("a message");
        let again = one.finish();
        assert!(matches!(again, Err(SecurityError::Expired(_))), "{again:?}");
    }
}

/// An ECDSA signature (r, s) is valid as (r, n - s) too, so it does not identify a message.
#[test]
fn the_other_value_of_a_signature() {
    let certified = rcgen::generate_simple_self_signed(["client".to_owned()]).expect("a certificate");
    let identity = Identity::from_pem(certified.cert.pem(), certified.signing_key.serialize_pem());
    let protection = Protection::new().timestamp(Duration::from_secs(300)).sign(identity.expect("an identity"));
    let requirements = |replays| {
        let trust = Trust::nobody().certificates(certified.cert.pem()).expect("a certificate");
        Arc::new(Requirements::new().trust(trust).signed_timestamp().replays(replays))
    };
    let value = crate::support::transfer();
    let envelope = deltasoap_core::soap::Envelope::new(&value).canonical(deltasoap_security::BODY_ID);
    let message =
        deltasoap_core::Template::new(deltasoap_core::Templating::default()).encode(&envelope).expect("a message");
    let message = text(&protection.secure(Version::Soap11, &[], message, &[]).expect("a header").to_vec());
    let value = between(&message, "<ds:SignatureValue>", "</ds:SignatureValue>");
    let text = &value["<ds:SignatureValue>".len()..value.len() - "</ds:SignatureValue>".len()];
    let mut signature = BASE64_STANDARD.decode(text).expect("a value");
    negate(&mut signature[32..]);
    let other = message.replace(text, &BASE64_STANDARD.encode(&signature));
    assert_ne!(other, message);
    let forgetful = requirements(None);
    verify_in(other.as_bytes(), 1000, &forgetful).expect("a valid signature");
    let requirements = requirements(Some(Arc::default()));
    verify_in(message.as_bytes(), 1000, &requirements).expect("a message");
    let again = verify_in(other.as_bytes(), 1000, &requirements);
    assert!(matches!(again, Err(SecurityError::Expired(_))), "{again:?}");
}

/// Replaces s by n - s, where n is the order of the group of P-256 (SEC 2, section 2.4.2).
fn negate(s: &mut [u8]) {
    let order = 0xffff_ffff_0000_0000_ffff_ffff_ffff_ffff_u128.to_be_bytes();
    let order = [order, 0xbce6_faad_a717_9e84_f3b9_cac2_fc63_2551_u128.to_be_bytes()].concat();
    let mut borrow = false;
    for (byte, order) in s.iter_mut().zip(order).rev() {
        let (first, below) = order.overflowing_sub(*byte);
        let (second, still_below) = first.overflowing_sub(borrow.into());
        (*byte, borrow) = (second, below || still_below);
    }
}

#[test]
fn old_messages_and_those_from_the_future() {
    let message = signed();
    for (ahead, seconds, is_fine) in
        [(true, 0, true), (true, 299, true), (true, 361, false), (false, 59, true), (false, 61, false)]
    {
        let difference = Duration::from_secs(seconds);
        let time = if ahead { now() + difference } else { now() - difference };
        // The certificates are valid at all these times.
        let requirements = Arc::new(requirements().at(time));
        let verified = verify_in(message.as_bytes(), 1000, &requirements);
        assert_eq!(verified.is_ok(), is_fine, "{seconds}: {verified:?}");
    }
}

#[test]
fn heads_are_bounded() {
    let many = format!("<x xmlns=\"urn:x\">{}</x>", "<y/>".repeat(20_000));
    let long = format!("<x xmlns=\"urn:x\">{}</x>", "y".repeat(2 << 20));
    for block in [many, long] {
        let message = signed().replace("</soap:Header>", &format!("{block}</soap:Header>"));
        let error = verify(message.as_bytes(), requirements()).expect_err("too large");
        assert!(matches!(error, SecurityError::Malformed(_)), "{error:?}");
    }
}

#[test]
fn malformed_messages() {
    let message = signed();
    let trusted = || Trust::nobody().certificates(&KEYS.client.0).expect("a certificate");
    for cut in (0..message.len()).step_by(97) {
        assert!(verify(&message.as_bytes()[..cut], requirements()).is_err(), "{cut}");
    }
    for (from, to) in [
        ("<ds:SignatureValue>", "<ds:SignatureValue>!"),
        ("<ds:DigestValue>", "<ds:DigestValue>="),
        ("<ds:SignedInfo", "<ds:SignedInfo2"),
        ("</ds:SignedInfo>", "</ds:SignedInfo><ds:SignedInfo></ds:SignedInfo>"),
        ("Algorithm=", "algorithm="),
        (
            "<wsse:Security ",
            "<wsse:Security xmlns:wsse=\"http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd\"></wsse:Security><wsse:Security ",
        ),
    ] {
        assert!(message.contains(from), "{from}");
        let attack = message.replace(from, to);
        assert!(verify(attack.as_bytes(), requirements().trust(trusted())).is_err(), "{from}");
    }
}

/// A signature of someone else over something else, from an earlier message, changes neither who
/// the sender is nor what the sender has signed.
#[test]
fn signatures_of_others() {
    let victim = Protection::new().sign(client()).sign_body(false).sign_tokens(false);
    let earlier = text(&send(&victim, Version::Soap11, &blocks()[..1]));
    let key = Identity::new(SigningKey::hmac(b"a secret"), Vec::new());
    let protection = Protection::new().timestamp(Duration::from_secs(300)).sign(key);
    let own = protection.key_reference(KeyReference::Name("branch".to_owned()));
    let own = text(&send(&own, Version::Soap11, &[]));
    let block = between(&earlier, "<ns:transaction", "</ns:transaction>");
    let token = between(&earlier, "<wsse:BinarySecurityToken", "</wsse:BinarySecurityToken>");
    let signature = between(&earlier, "<ds:Signature ", "</ds:Signature>");
    let attack = own
        .replace("<soap:Header>", &format!("<soap:Header>{block}"))
        .replace("</wsse:Security>", &format!("{token}{signature}</wsse:Security>"));
    let requirements = || requirements().trust(trust().secret("branch", "a secret"));
    let verified = verify(attack.as_bytes(), requirements()).expect("a valid message");
    assert_eq!((verified.sender.name(), verified.sender.certificate.is_none()), (Some("branch"), true));
    let name = deltasoap_core::QName::new("urn:tx", "transaction");
    let unsigned = verify(attack.as_bytes(), requirements().signed_header(name));
    assert!(matches!(unsigned, Err(SecurityError::Missing(_))), "{unsigned:?}");
}

/// Each reference to the body costs a pass over it, also if its signature is valid.
#[test]
fn many_references_to_the_body() {
    let element = |index: usize| format!("<a xmlns:u=\"{WSU}\" u:Id=\"part-{index}\"></a>");
    let verified = |count: usize| {
        let references =
            (0..count).map(|index| reference(&format!("part-{index}"), &[C14N], element(index).as_bytes()));
        let key_info = "<ds:KeyInfo><ds:KeyName>branch</ds:KeyName></ds:KeyInfo>";
        let signature = signature(&SigningKey::hmac(b"a secret"), HMAC, &references.collect::<String>(), key_info);
        let message = format!(
            "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Header>\
             <wsse:Security xmlns:wsse=\"{WSSE}\">{signature}</wsse:Security></s:Header><s:Body>{}</s:Body></s:Envelope>",
            (0..count).map(element).collect::<String>()
        );
        verify(message.as_bytes(), Requirements::new().trust(trust().secret("branch", "a secret")))
    };
    verified(16).expect("a valid message");
    let refused = verified(17);
    assert!(matches!(&refused, Err(SecurityError::Malformed(error)) if error.contains("16")), "{refused:?}");
}

/// The canonical form of a header block may be much longer than the block. Nothing of it is
/// computed before the signature's value is known to be valid, and what is computed is bounded.
#[test]
fn canonical_forms_that_grow() {
    let message = signed();
    let long = "u".repeat(60_000);
    let block = format!("<x Id=\"signed-block-x\">{}</x>", "<p:a/>".repeat(4000));
    let reference = between(&message, "<ds:Reference ", "</ds:Reference>");
    let to_block = reference.replace("signed-block-0", "signed-block-x");
    let attack = message
        .replace("<soap:Envelope ", &format!("<soap:Envelope xmlns:p=\"urn:{long}\" "))
        .replace("</soap:Header>", &format!("{block}</soap:Header>"))
        .replacen(reference, &to_block.repeat(8), 1);
    let start = std::time::Instant::now();
    let refused = verify(attack.as_bytes(), requirements());
    assert!(matches!(refused, Err(SecurityError::Check(_))), "{refused:?}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

/// Services that write whole seconds send equal responses; requests are accepted once all the same.
#[test]
fn responses_of_one_second_may_be_equal() {
    let signed = |created: &str| {
        let timestamp = format!(
            "<wsu:Timestamp xmlns:wsu=\"{WSU}\" wsu:Id=\"t\"><wsu:Created>{created}</wsu:Created></wsu:Timestamp>"
        );
        let references = reference("t", &[C14N], timestamp.as_bytes());
        let signature = signature(
            &SigningKey::hmac(b"secret"),
            HMAC,
            &references,
            "<ds:KeyInfo><ds:KeyName>key</ds:KeyName></ds:KeyInfo>",
        );
        format!(
            "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Header>\
             <wsse:Security xmlns:wsse=\"{WSSE}\">{timestamp}{signature}</wsse:Security></s:Header><s:Body/></s:Envelope>"
        )
    };
    let verify = |message: &str, is_response: bool, requirements: &Arc<Requirements>| {
        let mut verification = match is_response {
            true => requirements.begin_response(Limits::default(), Exchange::default()),
            false => requirements.begin(Limits::default()),
        };
        verification.push(message.as_bytes().to_vec())?;
        verification.finish()
    };
    let requirements = || {
        let requirements = Requirements::new().trust(Trust::nobody().secret("key", b"secret")).signed_timestamp();
        Arc::new(requirements.at(now()).replays(Some(Arc::default())))
    };
    for (created, is_response, is_accepted) in [
        ("2026-09-21T14:13:20Z", true, true),
        ("2026-09-21T14:13:20Z", false, false),
        ("2026-09-21T14:13:20.001Z", true, false),
    ] {
        let (message, requirements) = (signed(created), requirements());
        verify(&message, is_response, &requirements).expect("a valid message");
        let again = verify(&message, is_response, &requirements);
        assert_eq!(again.is_ok(), is_accepted, "{created}: {again:?}");
    }
}

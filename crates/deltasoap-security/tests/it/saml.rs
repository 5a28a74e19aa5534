//! SAML assertions, and attacks on them.

use crate::support::{
    C14N, DS, ENVELOPED, KEYS, RSA, blocks, client, now, open_in, reference, send, signature, text, trust, verify,
};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use deltasoap_core::soap::Version;
use deltasoap_security::{
    AssertionRules, Certificate, Confirmation, Identity, KeyReference, Protection, Requirements, SecurityError,
    SigningKey, Trust, Verified,
};
use std::sync::Arc;
use std::time::Duration;

const SAML1: &str = "urn:oasis:names:tc:SAML:1.0:assertion";
const SAML2: &str = "urn:oasis:names:tc:SAML:2.0:assertion";
const VALID: &str = "<saml:Conditions NotBefore=\"2026-09-21T14:13:00Z\" NotOnOrAfter=\"2026-09-21T14:23:20Z\">";

/// What an issuer asserts. All texts are in canonical form.
#[derive(Clone)]
struct Claims {
    is_saml2: bool,
    id: &'static str,
    method: &'static str,
    /// The holder's key.
    holder: Option<String>,
    /// Attributes of the `SubjectConfirmationData`.
    data: &'static str,
    conditions: String,
    /// Statements of SAML 1.1 after the first one.
    more: &'static str,
}

fn claims(is_saml2: bool, method: &'static str) -> Claims {
    let conditions = format!("{VALID}</saml:Conditions>");
    Claims { is_saml2, id: "assertion-1", method, holder: None, data: "", conditions, more: "" }
}

impl Claims {
    fn held_by(self, certificate: &str) -> Self {
        Claims { holder: Some(x509_data(certificate)), ..self }
    }

    fn conditions(self, conditions: &str) -> Self {
        Claims { conditions: conditions.to_owned(), ..self }
    }

    /// Returns the assertion with an issuer's signature, or something else, in its place.
    fn write(&self, signature: &str) -> String {
        let Claims { id, method, data, conditions, more, .. } = self;
        let holder = self.holder.as_deref().unwrap_or_default();
        if self.is_saml2 {
            return format!(
                "<saml:Assertion xmlns:saml=\"{SAML2}\" ID=\"{id}\" IssueInstant=\"2026-09-21T14:13:00Z\" \
                 Version=\"2.0\">\
                 <saml:Issuer>urn:issuer</saml:Issuer>{signature}<saml:Subject><saml:NameID>ada</saml:NameID>\
                 <saml:SubjectConfirmation Method=\"urn:oasis:names:tc:SAML:2.0:cm:{method}\">\
                 <saml:SubjectConfirmationData{data}>{holder}</saml:SubjectConfirmationData></saml:SubjectConfirmation>\
                 </saml:Subject>{conditions}<saml:AttributeStatement><saml:Attribute Name=\"role\">\
                 <saml:AttributeValue>teller</saml:AttributeValue><saml:AttributeValue>clerk</saml:AttributeValue>\
                 </saml:Attribute></saml:AttributeStatement></saml:Assertion>"
            );
        }
        format!(
            "<saml:Assertion xmlns:saml=\"{SAML1}\" AssertionID=\"{id}\" IssueInstant=\"2026-09-21T14:13:00Z\" \
             Issuer=\"urn:issuer\" MajorVersion=\"1\" MinorVersion=\"1\">{conditions}<saml:AttributeStatement>\
             <saml:Subject><saml:NameIdentifier>ada</saml:NameIdentifier><saml:SubjectConfirmation>\
             <saml:ConfirmationMethod>urn:oasis:names:tc:SAML:1.0:cm:{method}</saml:ConfirmationMethod>{holder}\
             </saml:SubjectConfirmation></saml:Subject><saml:Attribute AttributeName=\"role\" \
             AttributeNamespace=\"urn:bank\"><saml:AttributeValue>teller</saml:AttributeValue>\
             <saml:AttributeValue>clerk</saml:AttributeValue></saml:Attribute></saml:AttributeStatement>{more}\
             {signature}</saml:Assertion>"
        )
    }

    fn signature(&self, issuer: &(String, String)) -> String {
        let key = SigningKey::from_pem(&issuer.1).expect("a key");
        let reference = reference(self.id, &[ENVELOPED, C14N], self.write("").as_bytes());
        signature(&key, RSA, &reference, &x509_data(&issuer.0))
    }

    fn signed(&self) -> String {
        self.write(&self.signature(&KEYS.server))
    }
}

fn x509_data(certificate: &str) -> String {
    let certificate = Certificate::all_from_pem(certificate).expect("a certificate").remove(0);
    format!(
        "<ds:KeyInfo xmlns:ds=\"{DS}\"><ds:X509Data><ds:X509Certificate>{}</ds:X509Certificate></ds:X509Data>\
         </ds:KeyInfo>",
        BASE64_STANDARD.encode(certificate.der())
    )
}

fn rules() -> AssertionRules {
    AssertionRules::new(Trust::nobody().certificates(&KEYS.server.0).expect("a certificate"))
}

fn requirements() -> Requirements {
    Requirements::new().assertions(rules())
}

fn with(assertion: &str) -> Protection {
    Protection::new().timestamp(Duration::from_secs(300)).assertion(assertion).expect("an assertion")
}

fn sent(protection: &Protection) -> String {
    text(&send(protection, Version::Soap11, &blocks()))
}

#[track_caller]
fn accepted(message: &str, requirements: Requirements) -> Verified {
    verify(message.as_bytes(), requirements).expect("a valid message")
}

#[track_caller]
fn refused(message: &str, requirements: Requirements) -> SecurityError {
    verify(message.as_bytes(), requirements).expect_err("an attack")
}

#[test]
fn bearers() {
    for is_saml2 in [false, true] {
        let assertion = claims(is_saml2, "bearer").signed();
        let message = sent(&with(&assertion));
        // It is sent as its issuer wrote it.
        assert!(message.contains(&assertion));
        let verified = accepted(&message, requirements());
        let [found] = &verified.sender.assertions[..] else { panic!("one assertion") };
        assert_eq!((found.id.as_str(), found.issuer.as_str()), ("assertion-1", "urn:issuer"));
        assert_eq!((verified.sender.name(), found.confirmation), (Some("ada"), Confirmation::Bearer));
        assert_eq!(found.attributes, [("role".to_owned(), vec!["teller".to_owned(), "clerk".to_owned()])]);
        assert_eq!(found.signed_by.subject(), "CN=server");
        assert!(matches!(refused(&message, Requirements::new()), SecurityError::Unsupported(_)));
        assert!(matches!(refused(&message, requirements().signed_tokens()), SecurityError::Missing(_)));
    }
    let plain = sent(&Protection::new().timestamp(Duration::from_secs(300)));
    assert!(matches!(refused(&plain, requirements()), SecurityError::Missing(_)));
    accepted(&plain, requirements().optional_tokens());
}

#[test]
fn holders_of_keys() {
    let stranger = || Identity::from_pem(&KEYS.stranger.0, &KEYS.stranger.1).expect("an identity");
    for is_saml2 in [false, true] {
        // Nobody but the issuer knows the holder's certificate.
        let assertion = claims(is_saml2, "holder-of-key").held_by(&KEYS.stranger.0).signed();
        let protection = with(&assertion).sign(stranger()).key_reference(KeyReference::Assertion);
        let needs = || requirements().signed_body().signed_timestamp().signed_tokens();
        let message = sent(&protection);
        let verified = accepted(&message, needs());
        assert_eq!(verified.sender.assertions[0].confirmation, Confirmation::HolderOfKey);
        assert_eq!((verified.sender.name(), verified.is_body_signed), (Some("ada"), true));
        assert!(verified.sender.certificate.is_none());
        let changed = message.replacen("<amount>0.1</amount>", "<amount>9.9</amount>", 1);
        assert!(matches!(refused(&changed, needs()), SecurityError::Check(_)));
        // Others have the assertion too, but not the key.
        let thief = sent(&with(&assertion).sign(client()).key_reference(KeyReference::Assertion));
        assert!(matches!(refused(&thief, requirements()), SecurityError::Check(_)));
        let unsigned = sent(&with(&assertion));
        assert!(matches!(refused(&unsigned, requirements()), SecurityError::Authentication(_)));
        let known = sent(&with(&assertion).sign(client()));
        assert!(matches!(refused(&known, requirements().trust(trust())), SecurityError::Authentication(_)));
        // The holder signs nothing that was made for this message.
        let protection = protection.sign_body(false).sign_tokens(true);
        let nothing = sent(&protection).replace("<wsu:Timestamp", "<x").replace("</wsu:Timestamp>", "</x>");
        let error = refused(&nothing, requirements());
        assert!(matches!(error, SecurityError::Check(_) | SecurityError::Authentication(_)), "{error:?}");
        let keyless = sent(&with(&claims(is_saml2, "holder-of-key").signed()));
        assert!(matches!(
            refused(&keyless, requirements()),
            SecurityError::Token(_) | SecurityError::Authentication(_)
        ));
    }
}

#[test]
fn senders_who_vouch() {
    for is_saml2 in [false, true] {
        let assertion = claims(is_saml2, "sender-vouches").signed();
        let protection = with(&assertion).sign(client());
        let message = sent(&protection);
        assert!(message.contains("#STR-Transform") && message.contains(&assertion));
        let verified = accepted(&message, requirements().trust(trust()).signed_tokens());
        assert_eq!(verified.sender.assertions[0].confirmation, Confirmation::SenderVouches);
        assert_eq!(verified.sender.certificate.as_ref().map(Certificate::subject), Some("CN=client\\, of Ä"));
        for (protection, trust) in [
            (with(&assertion), trust()),
            // The sender signs something else.
            (protection.clone().sign_tokens(false), trust()),
        ] {
            let error = refused(&sent(&protection), requirements().trust(trust));
            assert!(matches!(error, SecurityError::Authentication(_)), "{error:?}");
        }
        // Nobody knows the sender.
        assert!(matches!(refused(&message, requirements()), SecurityError::Token(_)));
        // Another assertion of the same issuer in place of the signed one.
        let other = Claims {
            conditions: format!("{VALID}<saml:OneTimeUse></saml:OneTimeUse></saml:Conditions>"),
            ..claims(is_saml2, "sender-vouches")
        };
        let attack = message.replace(&assertion, &other.signed());
        assert_ne!(attack, message);
        assert!(matches!(refused(&attack, requirements().trust(trust())), SecurityError::Check(_)));
    }
}

#[test]
fn audiences_and_conditions() {
    for (is_saml2, name) in [(false, "AudienceRestrictionCondition"), (true, "AudienceRestriction")] {
        let restricted = format!(
            "{VALID}<saml:{name}><saml:Audience>urn:bank</saml:Audience><saml:Audience>urn:other</saml:Audience>\
             </saml:{name}>\
             </saml:Conditions>"
        );
        let message = sent(&with(&claims(is_saml2, "bearer").conditions(&restricted).signed()));
        let meant_for = |audience| Requirements::new().assertions(rules().audience(audience));
        accepted(&message, meant_for("urn:bank"));
        accepted(&message, meant_for("urn:other"));
        for requirements in [requirements(), meant_for("urn:ban"), meant_for("urn:bank/"), meant_for("")] {
            assert!(matches!(refused(&message, requirements), SecurityError::Token(_)));
        }
        let unknown = format!("{VALID}<saml:Moon></saml:Moon></saml:Conditions>");
        let message = sent(&with(&claims(is_saml2, "bearer").conditions(&unknown).signed()));
        assert!(matches!(refused(&message, requirements()), SecurityError::Token(_)));
        let message = sent(&with(&claims(is_saml2, "bearer").conditions("").signed()));
        accepted(&message, meant_for("urn:bank"));
    }
}

#[test]
fn times() {
    // The clocks may differ by a minute. The message is as old as the assertion.
    for is_saml2 in [false, true] {
        let message = send(
            &Protection::new().assertion(&claims(is_saml2, "bearer").signed()).expect("an assertion"),
            Version::Soap11,
            &[],
        );
        for (ahead, seconds, is_fine) in [(false, 80, true), (false, 81, false), (true, 659, true), (true, 660, false)]
        {
            let difference = Duration::from_secs(seconds);
            let time = if ahead { now() + difference } else { now() - difference };
            let verified = open_in(&message, 500, &Arc::new(requirements().at(time)));
            assert_eq!(verified.is_ok(), is_fine, "{seconds}: {verified:?}");
            assert!(is_fine || matches!(verified, Err(SecurityError::Expired(_))));
        }
    }
    for (data, is_fine) in [
        (" NotOnOrAfter=\"2026-09-21T14:12:21Z\"", true),
        (" NotOnOrAfter=\"2026-09-21T14:12:20Z\"", false),
        (" NotBefore=\"2026-09-21T14:14:20Z\"", true),
        (" NotBefore=\"2026-09-21T14:14:21Z\"", false),
        (" NotBefore=\"soon\"", false),
    ] {
        let message = sent(&with(&Claims { data, ..claims(true, "bearer") }.signed()));
        assert_eq!(verify(message.as_bytes(), requirements()).is_ok(), is_fine, "{data}");
    }
}

#[test]
fn issuers() {
    for is_saml2 in [false, true] {
        let claims = claims(is_saml2, "bearer");
        assert!(matches!(refused(&sent(&with(&claims.write(""))), requirements()), SecurityError::Token(_)));
        let forged = claims.write(&claims.signature(&KEYS.stranger));
        assert!(matches!(refused(&sent(&with(&forged)), requirements()), SecurityError::Token(_)));
        // The certificate of the issuer with another key.
        let mixed = claims.write(&claims.signature(&(KEYS.server.0.clone(), KEYS.stranger.1.clone())));
        let error = refused(&sent(&with(&mixed)), requirements());
        assert!(matches!(error, SecurityError::Check(_)), "{error:?}");
        let without_key = claims.signed().replace(&x509_data(&KEYS.server.0), "");
        assert!(matches!(refused(&sent(&with(&without_key)), requirements()), SecurityError::UnknownToken(_)));
        // Trust in those who sign messages is none in issuers.
        let own = claims.write(&claims.signature(&KEYS.client));
        assert!(matches!(refused(&sent(&with(&own)), requirements().trust(trust())), SecurityError::Token(_)));
    }
}

#[test]
fn changed_and_wrapped_assertions() {
    for is_saml2 in [false, true] {
        let claims = claims(is_saml2, "bearer");
        let (assertion, signature) = (claims.signed(), claims.signature(&KEYS.server));
        let message = sent(&with(&assertion));
        accepted(&message, requirements());
        for (from, to) in [
            (">teller<", ">director<"),
            (">ada<", ">eve<"),
            ("urn:issuer", "urn:other"),
            ("cm:bearer", "cm:holder-of-key"),
            ("14:23:20Z", "15:23:20Z"),
        ] {
            assert!(message.contains(from), "{from}");
            let error = refused(&message.replacen(from, to, 1), requirements());
            assert!(matches!(error, SecurityError::Check(_)), "{from}: {error:?}");
        }
        // Canonicalization removes comments. What is around them is one text.
        let commented = message.replacen(">ada<", ">ad<!-- x -->a<", 1);
        assert_eq!(accepted(&commented, requirements()).sender.name(), Some("ada"));
        let other = Claims { id: "evil", ..claims.clone() };
        let forged = |inner: &str| other.write(inner).replace(">ada<", ">eve<");
        let attacks = [
            // A forged assertion with the signature of another one, which is in it or elsewhere.
            forged(&format!("{signature}{}", claims.write(""))),
            forged(&format!("{}{signature}", claims.write(""))),
            forged(
                &signature
                    .replace("</ds:Signature>", &format!("<ds:Object>{}</ds:Object></ds:Signature>", claims.write(""))),
            ),
            format!("{}{}", forged(&signature), claims.write("")),
            format!("{}<w xmlns=\"urn:w\">{}</w>", forged(&signature), claims.write("")),
            // Beside the valid one: unsigned, or with the same id.
            format!("{assertion}{}", forged("")),
            format!("{}{assertion}", forged("")),
            format!("{assertion}{assertion}"),
            format!("{assertion}{}", claims.write("").replace(">ada<", ">eve<")),
            // Several signatures.
            claims.write(&format!("{signature}{signature}")),
        ];
        for (number, attack) in attacks.iter().enumerate() {
            let attack = message.replace(&assertion, attack);
            assert_ne!(attack, message, "attack {number} changed nothing");
            let verified = verify(attack.as_bytes(), requirements());
            assert!(verified.is_err(), "attack {number}: {verified:?}");
        }
    }
}

#[test]
fn several_subjects() {
    let statement = "<saml:AuthenticationStatement><saml:Subject><saml:NameIdentifier>ada</saml:NameIdentifier>\
                     </saml:Subject></saml:AuthenticationStatement>";
    let same = Claims { more: statement, ..claims(false, "bearer") };
    accepted(&sent(&with(&same.signed())), requirements());
    let other = Claims {
        more: "<saml:AuthenticationStatement><saml:Subject><saml:NameIdentifier>eve</saml:NameIdentifier>\
               </saml:Subject></saml:AuthenticationStatement>",
        ..claims(false, "bearer")
    };
    assert!(matches!(refused(&sent(&with(&other.signed())), requirements()), SecurityError::Token(_)));
    for is_saml2 in [false, true] {
        let unknown = claims(is_saml2, "telepathy").signed();
        assert!(matches!(refused(&sent(&with(&unknown)), requirements()), SecurityError::Token(_)));
    }
}

#[test]
fn texts_that_are_no_assertions() {
    for xml in ["", "text", "<a/>", "<saml:Assertion/>", "<Assertion xmlns=\"urn:oasis:names:tc:SAML:2.0:assertion\"/>"]
    {
        assert!(matches!(Protection::new().assertion(xml), Err(SecurityError::Token(_))), "{xml}");
    }
    let declared = format!("<?xml version=\"1.0\"?>\n{}\n", claims(true, "bearer").signed());
    accepted(&sent(&with(&declared)), requirements());
}

/// See `testdata/security/README.md`.
#[test]
fn what_xmlsec_signs() {
    let assertion = include_str!("../../../../testdata/security/xmlsec-saml2.xml");
    let issuer = include_str!("../../../../testdata/security/cert.pem");
    let requirements = || {
        let issuers = Trust::nobody().certificates(issuer).expect("a certificate");
        Requirements::new().assertions(AssertionRules::new(issuers)).trust(trust())
    };
    let message = sent(&with(assertion).sign(client()));
    let verified = accepted(&message, requirements().signed_tokens());
    assert_eq!(verified.sender.name(), Some("ada@bank.example"));
    assert_eq!(verified.sender.assertions[0].attributes, [("role".to_owned(), vec!["téller".to_owned()])]);
    let changed = message.replacen("ada@bank", "eve@bank", 1);
    assert!(matches!(refused(&changed, requirements()), SecurityError::Check(_)));
}

/// A policy may name the version of assertions.
#[test]
fn versions_of_policies() {
    use deltasoap_core::soap::PolicyDocuments;
    use deltasoap_security::{PolicyCredentials, SecurityPolicy, Tls};
    let request = "<wsp:Policy xmlns:wsp='http://www.w3.org/ns/ws-policy' \
        xmlns:sp='http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702'><sp:SupportingTokens><wsp:Policy>\
        <sp:SamlToken><wsp:Policy><sp:WssSamlV11Token11/></wsp:Policy></sp:SamlToken></wsp:Policy></sp:SupportingTokens>\
        </wsp:Policy>";
    let documents = PolicyDocuments { request: request.into(), ..PolicyDocuments::default() };
    let policy = SecurityPolicy::parse(&documents).expect("a policy");
    let credentials = PolicyCredentials::new().assertions(rules()).tls(Tls::Server);
    let requirements = || policy.server(&credentials).expect("a server").requirements.expect("an assertion");
    accepted(&sent(&with(&claims(false, "bearer").signed())), requirements());
    let error = refused(&sent(&with(&claims(true, "bearer").signed())), requirements());
    assert!(error.to_string().contains("version"), "{error}");
}

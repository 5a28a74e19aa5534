//! Policies: what they require of each side, and what is refused.

use crate::support::{between, blocks, client, now, send_by, server, text, transfer, trust, verify};
use deltasoap_core::Template;
use deltasoap_core::Templating;
use deltasoap_core::soap::{PolicyDocuments, Version};
use deltasoap_security::{PolicyCredentials, PolicyError, Protection, Secured, SecurityError, SecurityPolicy, Tls};
use deltasoap_xml::Limits;
use std::sync::Arc;

const SP: &str = "http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702";

/// Returns a policy with assertions of WS-SecurityPolicy 1.2, where `P` is `wsp:Policy`.
fn document(assertions: &str) -> String {
    let assertions = assertions.replace("<P>", "<wsp:Policy>").replace("</P>", "</wsp:Policy>");
    format!("<wsp:Policy xmlns:wsp='http://www.w3.org/ns/ws-policy' xmlns:sp='{SP}'>{assertions}</wsp:Policy>")
}

fn parse_both(request: &str, response: &str) -> SecurityPolicy {
    let documents = PolicyDocuments {
        request: request.to_owned().into(),
        response: response.to_owned().into(),
        ..PolicyDocuments::default()
    };
    SecurityPolicy::parse(&documents).expect("a policy")
}

/// Returns a policy for requests and responses.
fn parse(assertions: &str) -> SecurityPolicy {
    parse_both(&document(assertions), &document(assertions))
}

fn asymmetric(suite: &str, more: &str) -> String {
    format!(
        "<sp:AsymmetricBinding><P>\
         <sp:InitiatorToken><P><sp:X509Token sp:IncludeToken='{SP}/IncludeToken/AlwaysToRecipient'><P><sp:WssX509V3Token10/></P></sp:X509Token></P></sp:InitiatorToken>\
         <sp:RecipientToken><P><sp:X509Token sp:IncludeToken='{SP}/IncludeToken/Never'><P><sp:RequireThumbprintReference/></P></sp:X509Token></P></sp:RecipientToken>\
         <sp:AlgorithmSuite><P><sp:{suite}/></P></sp:AlgorithmSuite><sp:Layout><P><sp:Strict/></P></sp:Layout>{more}\
         </P></sp:AsymmetricBinding>"
    )
}

const TLS: &str = "<sp:TransportBinding><P><sp:TransportToken><P><sp:HttpsToken/></P></sp:TransportToken><sp:AlgorithmSuite><P><sp:Basic256/></P></sp:AlgorithmSuite><sp:IncludeTimestamp/></P></sp:TransportBinding>";

const SIGNED: &str = "<sp:SignedParts><sp:Body/><sp:Header Namespace='urn:tx'/></sp:SignedParts>";

fn user(kind: &str, form: &str) -> String {
    format!("<sp:{kind}><P><sp:UsernameToken><P>{form}</P></sp:UsernameToken></P></sp:{kind}>")
}

fn of_client() -> PolicyCredentials {
    let peer = server().certificate().expect("a certificate").clone();
    PolicyCredentials::new().identity(client()).peer(peer).trust(trust()).user("ada", "secret")
}

fn of_server() -> PolicyCredentials {
    let peer = client().certificate().expect("a certificate").clone();
    let users = |user: &str| (user == "ada").then_some("secret");
    PolicyCredentials::new().identity(server()).peer(peer).trust(trust()).users(users)
}

#[track_caller]
fn reasons(secured: Result<Secured, PolicyError>) -> Vec<String> {
    match secured {
        Err(PolicyError::Unmet(reasons)) => reasons,
        other => panic!("{other:?}"),
    }
}

/// Sends a request from one side to the other, both by their policies. Returns it as it was sent.
#[track_caller]
fn request(clients: &SecurityPolicy, servers: &SecurityPolicy, tls: Option<Tls>) -> Result<String, String> {
    let with = |credentials: PolicyCredentials| tls.map_or(credentials.clone(), |tls| credentials.clone().tls(tls));
    let protection = clients.client(&with(of_client())).expect("a client").protection.unwrap_or_default();
    let message =
        send_by(&mut Template::new(Templating::default()), &transfer(), &protection, Version::Soap11, &blocks());
    let requirements = servers.server(&with(of_server())).expect("a server").requirements.unwrap_or_default();
    let opened = crate::support::open(&message, requirements.at(now()));
    opened.map(|_| text(&message)).map_err(|error| error.to_string())
}

#[test]
fn asymmetric_bindings_sign_and_verify_in_both_directions() {
    let policy = parse(
        &[asymmetric("Basic256Sha256", "<sp:IncludeTimestamp/><sp:OnlySignEntireHeadersAndBody/>"), SIGNED.to_owned()]
            .concat(),
    );
    assert_eq!(policy.unsupported(), [] as [&str; 0]);
    assert_eq!(
        policy.describe(),
        ["signatures by certificates (Basic256Sha256)", "a Timestamp", "signed body and header blocks"]
    );
    let message = request(&policy, &policy, None).expect("a valid request");
    for part in ["wsu:Timestamp", "signed-body", "signed-block-0", "BinarySecurityToken"] {
        assert!(message.contains(part), "{part} in {message}");
    }
    // The response refers to the server's certificate.
    let protection = policy.server(&of_server()).expect("a server").protection.expect("protection");
    let response =
        text(&send_by(&mut Template::new(Templating::default()), &transfer(), &protection, Version::Soap11, &[]));
    assert!(response.contains("#ThumbprintSHA1") && !response.contains("BinarySecurityToken"), "{response}");
    let requirements = policy.client(&of_client()).expect("a client").requirements.expect("requirements");
    verify(response.as_bytes(), requirements).expect("a valid response");
}

#[test]
fn requests_that_do_not_meet_the_policy_are_refused() {
    let binding = |more: &str| asymmetric("Basic256Sha256", more);
    let stamped = "<sp:IncludeTimestamp/>";
    let strict = parse(&[binding(stamped), SIGNED.to_owned()].concat());
    for (lax, missing) in [
        (binding(stamped), "signature over its body"),
        ([binding(""), SIGNED.to_owned()].concat(), "timestamp"),
        ([binding(stamped), "<sp:SignedParts><sp:Body/></sp:SignedParts>".to_owned()].concat(), "is not signed"),
    ] {
        let refused = request(&parse(&lax), &strict, None).expect_err(missing);
        assert!(refused.contains(missing), "{refused}");
    }
    let all = parse(&[binding(stamped), "<sp:SignedParts/>".to_owned()].concat());
    request(&all, &strict, None).expect("everything is signed");
    request(&strict, &all, None).expect("everything is signed");
    let one = parse(&[binding(stamped), "<sp:SignedParts><sp:Body/></sp:SignedParts>".to_owned()].concat());
    let refused = request(&one, &all, None).expect_err("headers");
    assert!(refused.contains("is not signed"), "{refused}");
}

#[test]
fn content_is_encrypted_by_suites_that_are_written() {
    let parts = "<sp:EncryptedParts><sp:Body/></sp:EncryptedParts>";
    let with = |suite: &str, more: &str| [asymmetric(suite, more), SIGNED.to_owned(), parts.to_owned()].concat();
    let policy = parse(&with("CustomAlgorithmSuite", "<sp:IncludeTimestamp/><sp:EncryptSignature/>"));
    let message = request(&policy, &policy, None).expect("a valid request");
    assert!(message.contains("aes256-gcm") && !message.contains("<ds:SignedInfo"), "{message}");
    let plain = parse(&[asymmetric("CustomAlgorithmSuite", "<sp:IncludeTimestamp/>"), SIGNED.to_owned()].concat());
    let refused = request(&plain, &policy, None).expect_err("clear text");
    assert!(refused.contains("encrypted body"), "{refused}");

    let cbc = parse(&with("Basic128Rsa15", ""));
    let [signature, cipher, key] = &reasons(cbc.client(&of_client()))[..] else { panic!("three reasons") };
    assert!(signature.contains("SHA-1") && cipher.contains("AES-CBC") && key.contains("v1.5"));
    assert_eq!(cbc.unsupported(), [] as [&str; 0]);
    let modern = cbc.client(&of_client().modern_algorithms()).expect("a client").protection.expect("protection");
    let message = send_by(&mut Template::new(Templating::default()), &transfer(), &modern, Version::Soap11, &blocks());
    assert!(text(&message).contains("aes128-gcm"));
}

#[test]
fn user_names_are_sent_as_the_policy_says() {
    for (form, part) in [("", "#PasswordText"), ("<sp:HashPassword/>", "#PasswordDigest")] {
        let policy = parse(&[TLS, &user("SignedSupportingTokens", form)].concat());
        let message = request(&policy, &policy, Some(Tls::Server)).expect("a valid request");
        assert!(message.contains(part) && message.contains("Timestamp") && !message.contains("Signature"), "{message}");
    }
    let alone = parse(&user("SupportingTokens", "<sp:HashPassword/>"));
    let message = request(&alone, &alone, None).expect("a valid request");
    assert!(message.contains("#PasswordDigest") && !message.contains("Timestamp"), "{message}");
    let nobody = parse(&user("SupportingTokens", "<sp:NoPassword/>"));
    let protection = nobody.client(&of_client()).expect("a client").protection.expect("protection");
    let message = send_by(&mut Template::new(Templating::default()), &transfer(), &protection, Version::Soap11, &[]);
    assert!(!text(&message).contains("Password"));
    assert!(reasons(nobody.server(&of_server()))[0].contains("prove nothing"));
}

#[test]
fn signed_and_encrypted_user_names_are_both() {
    let binding = asymmetric("CustomAlgorithmSuite", "<sp:IncludeTimestamp/>");
    let policy = parse(&[binding, user("SignedEncryptedSupportingTokens", "")].concat());
    let message = request(&policy, &policy, None).expect("a valid request");
    assert!(!message.contains("ada") && message.contains("EncryptedData"), "{message}");
    assert!(message.contains("<amount>"), "the body is not encrypted: {message}");
}

#[test]
fn certificates_endorse_over_tls() {
    let token = "<sp:EndorsingSupportingTokens><P><sp:X509Token/></P></sp:EndorsingSupportingTokens>";
    let suite = TLS.replace("Basic256", "Basic256Sha256");
    let policy = parse(&[&suite, token].concat());
    let message = request(&policy, &policy, Some(Tls::Server)).expect("a valid request");
    assert!(message.contains("#timestamp-") && !message.contains("#signed-body"), "{message}");
    let plain = request(&parse(&suite), &policy, Some(Tls::Server)).expect_err("no signature");
    assert!(plain.contains("timestamp"), "{plain}");
}

/// A hook for Kerberos that knows one user and one service.
#[test]
fn kerberos_tickets_are_made_and_verified_by_hooks() {
    let token = "<sp:SignedSupportingTokens><P><sp:KerberosToken><P><sp:WssGssKerberosV5ApReqToken11/></P></sp:KerberosToken></P></sp:SignedSupportingTokens>";
    let policy = parse(&[TLS, token].concat());
    let client = of_client().tls(Tls::Server).kerberos(|| Ok(b"ticket of ada".to_vec()));
    let protection = policy.client(&client).expect("a client").protection.expect("protection");
    let message = send_by(&mut Template::new(Templating::default()), &transfer(), &protection, Version::Soap11, &[]);
    assert!(text(&message).contains("#GSS_Kerberosv5_AP_REQ"));
    let verifier = |ticket: &[u8]| match ticket.strip_prefix(b"ticket of ") {
        Some(name) => Ok(text(name)),
        None => Err(SecurityError::Authentication("an unknown ticket".to_owned())),
    };
    let server = of_server().tls(Tls::Server).kerberos_verifier(verifier);
    let requirements = || policy.server(&server).expect("a server").requirements.expect("requirements").at(now());
    let (_, verified) = crate::support::open(&message, requirements()).expect("a ticket");
    assert_eq!(verified.sender.name(), Some("ada"));
    assert_eq!(verified.sender.key().as_deref(), Some("token of ada"));

    let without = parse(TLS).client(&client).expect("a client").protection.expect("protection");
    let without = send_by(&mut Template::new(Templating::default()), &transfer(), &without, Version::Soap11, &[]);
    let error = crate::support::open(&without, requirements()).expect_err("no ticket").to_string();
    assert!(error.contains("no token of its sender"), "{error}");
    let ticket = between(&text(&message), "<wsse:BinarySecurityToken", "</wsse:BinarySecurityToken>").to_owned();
    for (changed, reason) in [
        (text(&message).replace("dGlja2V0IG9mIGFkYQ==", "Zm9yZ2Vk"), "unknown ticket"),
        (text(&message).replace("dGlja2V0IG9mIGFkYQ==", "?"), "base64"),
        (text(&message).replace(&ticket, &ticket.repeat(2).replacen("binary-token", "other", 1)), "several tokens"),
    ] {
        let error = crate::support::open(changed.as_bytes(), requirements()).expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
    }
    let lacking = reasons(policy.client(&of_client().tls(Tls::Server))).join("; ");
    assert!(lacking.contains("PolicyCredentials::kerberos"), "{lacking}");
}

#[test]
fn responses_confirm_the_signatures_of_their_requests() {
    let wss = "<sp:Wss11><P><sp:RequireSignatureConfirmation/></P></sp:Wss11>";
    let policy = parse(&[&asymmetric("Basic256Sha256", "<sp:IncludeTimestamp/>"), SIGNED, wss].concat());
    let clients = policy.client(&of_client()).expect("a client");
    let servers = policy.server(&of_server()).expect("a server");
    let (sent, requirements) = (clients.protection.expect("protection"), clients.requirements.expect("requirements"));
    let (answers, received) = (servers.protection.expect("protection"), servers.requirements.expect("requirements"));
    let requirements = Arc::new(requirements.at(now()));
    let write = |protection: &Protection| {
        send_by(&mut Template::new(Templating::default()), &transfer(), protection, Version::Soap11, &[])
    };
    let (request, exchange) = sent.requesting();
    let (_, verified) = crate::support::open(&write(&request), received.at(now())).expect("a valid request");
    let response = write(&answers.answering(&verified));
    let verify = |response: &[u8], exchange| {
        let mut verification = requirements.begin_response(Limits::default(), exchange);
        verification.push(response.to_vec())?;
        verification.finish()
    };
    verify(&response, exchange.clone()).expect("the response to this request");
    let confirmation = "<wsse11:SignatureConfirmation";
    assert_eq!(text(&response).matches(confirmation).count(), 1);

    let (other_request, other) = sent.requesting();
    let other_request = Protection::clone(&other_request).timestamp(std::time::Duration::from_secs(9));
    write(&other_request);
    for (response, exchange) in [
        (response.clone(), other),
        (write(&answers), exchange.clone()),
        (
            text(&response)
                .replace(confirmation, "<wsse11:Other")
                .replace("</wsse11:SignatureConfirmation", "</wsse11:Other")
                .into_bytes(),
            exchange,
        ),
    ] {
        let error = verify(&response, exchange).expect_err("no confirmation").to_string();
        assert!(error.contains("confirmation of the request's signature") || error.contains("digest"), "{error}");
    }
    let error = requirements.begin(Limits::default()).push(response).expect_err("an unknown request").to_string();
    assert!(error.contains("confirmation"), "{error}");
}

#[test]
fn what_is_lacking_is_named() {
    let tls = parse(&[TLS, &user("SignedSupportingTokens", "")].concat());
    let lacking = reasons(tls.client(&PolicyCredentials::new()));
    assert!(
        lacking.iter().any(|it| it.contains("TLS")) && lacking.iter().any(|it| it.contains("a user name")),
        "{lacking:?}"
    );
    let mutual =
        TLS.replace("<sp:HttpsToken/>", "<sp:HttpsToken><P><sp:RequireClientCertificate/></P></sp:HttpsToken>");
    assert!(reasons(parse(&mutual).client(&of_client().tls(Tls::Server)))[0].contains("client certificate"));
    parse(&mutual).client(&of_client().tls(Tls::Mutual).tls(Tls::Server)).expect("both certificates");
    let signed = parse(&[&asymmetric("Basic256Sha256", "<sp:IncludeTimestamp/>"), SIGNED].concat());
    let lacking = reasons(signed.client(&PolicyCredentials::new())).join("; ");
    assert!(lacking.contains("identity") && lacking.contains("PolicyCredentials::trust"), "{lacking}");
}

#[test]
fn what_is_not_supported_is_named() {
    for (assertions, name) in [
        ("<sp:SymmetricBinding/>", "SymmetricBinding"),
        ("<sp:SignedElements/>", "SignedElements"),
        ("<sp:Unheard/>", "Unheard"),
        ("<sp:SupportingTokens><P><sp:IssuedToken/></P></sp:SupportingTokens>", "IssuedToken"),
        ("<sp:Wss11><P><sp:MustBeHeard/></P></sp:Wss11>", "MustBeHeard"),
        ("<sp:EncryptedParts><sp:Header Namespace='urn:x'/></sp:EncryptedParts>", "urn:x"),
        (&asymmetric("Basic256Sha256", "<sp:EncryptBeforeSigning/>"), "EncryptBeforeSigning"),
        (&asymmetric("Basic512", ""), "Basic512"),
        (&asymmetric("Basic256Sha256", "").repeat(2), "several security bindings"),
    ] {
        let policy = parse(assertions);
        let unsupported = policy.unsupported();
        assert!(unsupported.iter().any(|reason| reason.contains(name)), "{name}: {unsupported:?}");
        let credentials = of_client().tls(Tls::Mutual).modern_algorithms();
        assert!(reasons(policy.client(&credentials)).iter().any(|reason| reason.contains(name)), "{name}");
    }
}

#[test]
fn the_first_alternative_that_can_be_met_is_taken() {
    let either = |one: &str, other: &str| {
        format!("<wsp:ExactlyOne><wsp:All>{one}</wsp:All><wsp:All>{other}</wsp:All></wsp:ExactlyOne>")
    };
    let policy = parse(&either("<sp:SymmetricBinding/>", &user("SupportingTokens", "")));
    assert_eq!(policy.unsupported(), [] as [&str; 0]);
    assert_eq!(policy.describe(), ["a user name with a password"]);
    request(&policy, &policy, None).expect("a valid request");
    // Without the key for the first one.
    let signed = asymmetric("Basic256Sha256", "<sp:IncludeTimestamp/>");
    let policy = parse(&either(&signed, &user("SupportingTokens", "")));
    let by_name = policy.client(&PolicyCredentials::new().user("ada", "secret").trust(trust())).expect("a client");
    assert_eq!(by_name.protection.expect("protection").body_id(), None);
    // Optional assertions are an alternative to nothing.
    let optional =
        user("SupportingTokens", "").replacen("<sp:SupportingTokens", "<sp:SupportingTokens wsp:Optional='true'", 1);
    assert!(parse(&optional).client(&PolicyCredentials::new()).expect("a client").protection.is_none());
    assert!(parse(&optional).client(&of_client()).expect("a client").protection.is_some());
}

#[test]
fn policies_of_any_version_are_read() {
    for version in [
        "http://schemas.xmlsoap.org/ws/2005/07/securitypolicy",
        "http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200802",
    ] {
        let assertions = [asymmetric("Basic256Sha256", "<sp:IncludeTimestamp/>"), SIGNED.to_owned()].concat();
        let policy = parse_both(&document(&assertions).replace(SP, version), "");
        assert_eq!(policy.unsupported(), [] as [&str; 0], "{version}");
        assert!(policy.client(&of_client()).expect("a client").protection.expect("protection").body_id().is_some());
    }
}

#[test]
fn hostile_policies_are_errors() {
    let parse = |document: &str| {
        SecurityPolicy::parse(&PolicyDocuments { request: document.to_owned().into(), ..PolicyDocuments::default() })
    };
    let choice = "<wsp:ExactlyOne><sp:A/><sp:B/></wsp:ExactlyOne>";
    for (text, reason) in [
        ("<".to_owned(), "cannot be read"),
        (document("<wsp:ExactlyOne/>"), "no alternatives"),
        (document(&choice.repeat(20)), "more than 64 alternatives"),
        (document(&format!("<wsp:ExactlyOne>{}</wsp:ExactlyOne>", "<sp:A/>".repeat(65))), "more than 64 alternatives"),
    ] {
        let error = parse(&text).expect_err("an error").to_string();
        assert!(error.contains(reason), "{error}");
    }
    assert!(SecurityPolicy::parse(&PolicyDocuments::default()).expect("nothing").is_empty());
    assert!(parse(&document("<x:Other xmlns:x='urn:x'/>")).expect("a policy").is_empty());
}

fn either(one: &str, other: &str) -> String {
    format!("<wsp:ExactlyOne><wsp:All>{one}</wsp:All><wsp:All>{other}</wsp:All></wsp:ExactlyOne>")
}

fn supporting(kind: &str, token: &str) -> String {
    format!("<sp:{kind}><P>{token}</P></sp:{kind}>")
}

/// What a client does not meet, a server does not skip.
#[test]
fn neither_side_skips_tokens() {
    let binding = asymmetric("Basic256Sha256", "<sp:IncludeTimestamp/>");
    let certificate = "<sp:X509Token/>";
    for assertions in [
        [&binding, SIGNED, &supporting("EndorsingSupportingTokens", certificate)].concat(),
        [TLS, &supporting("SignedSupportingTokens", certificate)].concat(),
        supporting("EndorsingSupportingTokens", certificate),
        supporting("SupportingTokens", certificate),
        [TLS, &supporting("EndorsingSupportingTokens", "<sp:SamlToken/>")].concat(),
        supporting("SignedSupportingTokens", "<sp:UsernameToken/>"),
        supporting("SupportingTokens", ""),
        supporting("UnheardSupportingTokens", "<sp:UsernameToken/>"),
        supporting("SupportingTokens", "<sp:UsernameToken/><sp:UsernameToken/>"),
        supporting(
            "SupportingTokens",
            "<sp:UsernameToken/><sp:AlgorithmSuite><P><sp:Basic256/></P></sp:AlgorithmSuite>",
        ),
        "<sp:SupportingTokens><sp:UsernameToken/></sp:SupportingTokens>".to_owned(),
        supporting("SupportingTokens", "<wsp:ExactlyOne><sp:IssuedToken/></wsp:ExactlyOne>"),
        supporting("SupportingTokens", "<sp:UsernameToken><sp:Issuer/></sp:UsernameToken>"),
        [
            asymmetric("Basic256Sha256", ""),
            "<sp:SignedParts><sp:Header Namespace='urn:tx'/></sp:SignedParts>".to_owned(),
        ]
        .concat(),
        [asymmetric("Basic256Sha256", ""), user("SignedSupportingTokens", "")].concat(),
        asymmetric("Basic256Sha256Invented", "<sp:IncludeTimestamp/>"),
        asymmetric("Basic256GCMSha256", "<sp:IncludeTimestamp/>"),
        binding
            .replace("</sp:X509Token></P></sp:InitiatorToken>", "</sp:X509Token><sp:Unheard/></P></sp:InitiatorToken>"),
        TLS.replace("</P></sp:TransportBinding>", "<sp:ProtectTokens/></P></sp:TransportBinding>"),
    ] {
        let policy = parse(&assertions);
        assert!(!policy.unsupported().is_empty(), "{assertions}");
        assert!(!reasons(policy.client(&of_client().tls(Tls::Mutual))).is_empty(), "{assertions}");
        assert!(!reasons(policy.server(&of_server().tls(Tls::Mutual))).is_empty(), "{assertions}");
    }
}

#[test]
fn alternatives_inside_assertions_are_alternatives() {
    let token = "<wsp:ExactlyOne><sp:IssuedToken/><sp:UsernameToken/></wsp:ExactlyOne>";
    let policy = parse(&supporting("SupportingTokens", token));
    assert_eq!(policy.unsupported(), [] as [&str; 0]);
    request(&policy, &policy, None).expect("a valid request");
    let documents = |assertions: &str| PolicyDocuments {
        request: document(&supporting("SupportingTokens", assertions)).into(),
        ..PolicyDocuments::default()
    };
    for (assertions, reason) in [
        ("<wsp:ExactlyOne/>".to_owned(), "no alternatives"),
        ("<sp:UsernameToken wsp:Optional='true'/>".repeat(7), "more than 64 alternatives"),
    ] {
        let error = SecurityPolicy::parse(&documents(&assertions)).expect_err("an error").to_string();
        assert!(error.contains(reason), "{error}");
    }
    // Only an attribute of WS-Policy makes an assertion optional.
    let token = supporting("SupportingTokens", "<sp:UsernameToken/>");
    for attribute in ["xmlns:x='urn:x' x:Optional='true'", "wsp:Ignorable='true'"] {
        let policy = parse(&token.replacen("<sp:SupportingTokens", &format!("<sp:SupportingTokens {attribute}"), 1));
        assert!(reasons(policy.server(&PolicyCredentials::new()))[0].contains("users"), "{attribute}");
    }
}

/// Both messages of an exchange follow the same alternative.
#[test]
fn requests_and_responses_have_the_same_binding() {
    let signed = [&asymmetric("Basic256Sha256", "<sp:IncludeTimestamp/>"), SIGNED].concat();
    let policy = parse(&either(&signed, TLS));
    for credentials in [
        PolicyCredentials::new().identity(client()).tls(Tls::Server),
        PolicyCredentials::new().trust(trust()).tls(Tls::Server),
    ] {
        let secured = policy.client(&credentials).expect("over TLS");
        assert_eq!(secured.protection.expect("a timestamp").body_id(), None);
        let requirements = secured.requirements.expect("a timestamp");
        let plain = parse(TLS).server(&credentials).expect("a server").protection.expect("a timestamp");
        let response = send_by(&mut Template::new(Templating::default()), &transfer(), &plain, Version::Soap11, &[]);
        verify(&response, requirements).expect("a response over TLS");
    }
    assert!(policy.client(&of_client()).expect("a client").protection.expect("protection").body_id().is_some());
}

#[test]
fn receivers_require_what_senders_add() {
    let binding = asymmetric("CustomAlgorithmSuite", "<sp:IncludeTimestamp/><sp:ProtectTokens/><sp:EncryptSignature/>");
    let policy = |form: &str| parse(&[&binding, SIGNED, &user("SignedEncryptedSupportingTokens", form)].concat());
    let strict = policy("<sp:HashPassword/>");
    request(&strict, &strict, None).expect("a valid request");
    let error = request(&policy(""), &strict, None).expect_err("a text").to_string();
    assert!(error.contains("digest"), "{error}");
    let plain = |more: &str, kind: &str| {
        let binding = asymmetric("CustomAlgorithmSuite", &format!("<sp:IncludeTimestamp/>{more}"));
        parse(&[&binding, SIGNED, &user(kind, "<sp:HashPassword/>")].concat())
    };
    for (lax, missing) in [
        (plain("<sp:ProtectTokens/><sp:EncryptSignature/>", "SignedSupportingTokens"), "encrypted user name"),
        (plain("<sp:ProtectTokens/>", "SignedEncryptedSupportingTokens"), "encrypted signature"),
    ] {
        let error = request(&lax, &strict, None).expect_err(missing).to_string();
        assert!(error.contains(missing), "{error}");
    }
    let lax = parse(&[&asymmetric("Basic256Sha256", "<sp:IncludeTimestamp/>"), SIGNED].concat());
    let strict = parse(&[&asymmetric("Basic256Sha256", "<sp:IncludeTimestamp/><sp:ProtectTokens/>"), SIGNED].concat());
    let error = request(&lax, &strict, None).expect_err("an unsigned certificate").to_string();
    assert!(error.contains("over its certificate"), "{error}");
}

#[test]
fn http_authentication_is_required() {
    let basic = TLS.replace("<sp:HttpsToken/>", "<sp:HttpsToken><P><sp:HttpBasicAuthentication/></P></sp:HttpsToken>");
    let policy = parse(&basic);
    let credentials = || of_client().tls(Tls::Server);
    assert!(reasons(policy.client(&credentials()))[0].contains("HTTP authentication"));
    policy.client(&credentials().http_authentication()).expect("a client");
    policy.server(&of_server().tls(Tls::Server).http_authentication()).expect("a server");
}

/// Assertions are of the version that the policy names.
#[test]
fn saml_assertions_have_the_version_of_the_policy() {
    let token = |version: &str| {
        parse(
            &[TLS, &supporting("SignedSupportingTokens", &format!("<sp:SamlToken><P>{version}</P></sp:SamlToken>"))]
                .concat(),
        )
    };
    let credentials =
        of_client().tls(Tls::Server).assertion("<a:Assertion xmlns:a='urn:oasis:names:tc:SAML:2.0:assertion' ID='x'/>");
    for (version, is_met) in [("", true), ("<sp:WssSamlV20Token11/>", true), ("<sp:WssSamlV11Token11/>", false)] {
        assert_eq!(token(version).client(&credentials).is_ok(), is_met, "{version}");
    }
}

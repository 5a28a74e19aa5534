//! WS-Security between clients and servers.

use deltasoap::attachments::Part;
use deltasoap::client::{CallError, CallOptions, ClientBuildError};
use deltasoap::security::{
    Identity, KeyReference, PolicyCredentials, Protection, Requirements, SigningKey, Trust, UsernameToken, Verified,
};
use deltasoap::server::{Extension, MessageReply, Reply, Sharing};
use deltasoap::soap::addressing::Addressing;
use deltasoap::soap::{Envelope, FaultCode, Header, HeaderBlock, PolicyDocuments, Version};
use deltasoap::types::TrackedVec;
use deltasoap::validation::{Finding, PartLookup, Validation, Validator};
use deltasoap::{Client, Context, Fault, Soap, SoapService};
use deltasoap_core::{Buffer, QName};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:bank", message, response = Receipt)]
struct Transfer {
    amount: f64,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:bank", message)]
struct Receipt {
    amount: f64,
    sender: String,
}

const VALID: Duration = Duration::from_secs(300);

fn identity(secret: &str) -> Identity {
    Identity::new(SigningKey::hmac(secret.as_bytes()), Vec::new())
}

fn signed(secret: &str) -> Protection {
    let protection = Protection::new().timestamp(VALID).sign(identity(secret));
    protection.key_reference(KeyReference::Name("shared".to_owned()))
}

fn required(secret: &str) -> Requirements {
    Requirements::new().trust(Trust::nobody().secret("shared", secret)).signed_body().signed_timestamp()
}

fn receipt(verified: &Verified, transfer: &Transfer) -> Result<Receipt, Fault> {
    let sender = verified.sender.name().unwrap_or_default().to_owned();
    match transfer.amount {
        amount if amount < 0.0 => Err(Fault::sender("negative")),
        amount => Ok(Receipt { amount, sender }),
    }
}

fn bank() -> SoapService {
    SoapService::builder()
        .requirements(required("request"))
        .protection(signed("response"))
        .operation(async |Extension(verified): Extension<Verified>, transfer: Transfer| receipt(&verified, &transfer))
        .build()
        .expect("a service")
}

#[tokio::test]
async fn both_directions_are_signed() {
    for version in [Version::Soap11, Version::Soap12] {
        let client = Client::builder("http://localhost/")
            .version(version)
            .protection(signed("request"))
            .requirements(required("response"))
            .build_with(bank())
            .expect("a client");
        // The later requests are written against templates and compared with memories.
        for amount in 0..5 {
            let response =
                client.call_with(&Transfer { amount: amount.into() }, CallOptions::new()).await.expect("a receipt");
            assert_eq!(response.body, Receipt { amount: amount.into(), sender: "shared".to_owned() });
            let verified = response.extensions.get::<Verified>().expect("a verified answer");
            assert!(verified.is_body_signed);
        }
        // Faults are signed too.
        let error = client.call(&Transfer { amount: -1.0 }).await.expect_err("a fault");
        assert!(matches!(&error, CallError::Fault(fault) if fault.reason == "negative"), "{error:?}");
    }
}

/// Returns an identity with an RSA key, which all of them share.
fn rsa(name: &str) -> Identity {
    let key = include_str!("../../../../testdata/tls/openssl.key");
    let pair = rcgen::KeyPair::from_pem(key).expect("a key");
    let certificate = rcgen::CertificateParams::new([name.to_owned()]).expect("a name").self_signed(&pair);
    Identity::from_pem(certificate.expect("a certificate").pem(), key).expect("an identity")
}

/// Both sides encrypt for each other. What is validated and decoded is the plaintext.
#[tokio::test]
async fn both_directions_are_encrypted() {
    let (here, there) = (rsa("client"), rsa("server"));
    let to = |identity: &Identity| identity.certificate().expect("a certificate").clone();
    let service = SoapService::builder()
        .requirements(required("request").decrypt_with(there.clone()).expect("a key").encrypted_body())
        .protection(signed("response").encrypt(to(&here)))
        .operation(async |Extension(verified): Extension<Verified>, transfer: Transfer| {
            assert!(verified.is_body_encrypted && verified.is_body_signed);
            receipt(&verified, &transfer)
        })
        .build()
        .expect("a service");
    for version in [Version::Soap11, Version::Soap12] {
        let client = Client::builder("http://localhost/")
            .version(version)
            .protection(signed("request").encrypt(to(&there)).encrypt_signature(true))
            .requirements(required("response").decrypt_with(here.clone()).expect("a key").encrypted_body())
            .build_with(service.clone())
            .expect("a client");
        for amount in 0..5 {
            let response =
                client.call_with(&Transfer { amount: amount.into() }, CallOptions::new()).await.expect("a receipt");
            assert_eq!(response.body, Receipt { amount: amount.into(), sender: "shared".to_owned() });
            assert!(response.extensions.get::<Verified>().expect("a verified answer").is_body_encrypted);
        }
        let error = client.call(&Transfer { amount: -1.0 }).await.expect_err("a fault");
        assert!(matches!(&error, CallError::Fault(fault) if fault.reason == "negative"), "{error:?}");
        // Encrypted for someone else.
        let client = Client::builder("http://localhost/")
            .version(version)
            .protection(signed("request").encrypt(to(&here)))
            .requirements(required("response").decrypt_with(here.clone()).expect("a key"))
            .build_with(service.clone())
            .expect("a client");
        let error = client.call(&Transfer { amount: 1.0 }).await.expect_err("a fault");
        assert!(matches!(&error, CallError::Fault(_)), "{error:?}");
    }
}

/// A transfer whose amount is no number.
#[derive(Soap)]
#[soap(namespace = "urn:bank", name = "Transfer", message, response = Receipt)]
struct Named {
    amount: String,
}

/// Whoever changes ciphertext learns nothing of the plaintext from the fault.
#[tokio::test]
async fn faults_do_not_tell_what_was_decrypted() {
    let own = rsa("server");
    let certificate = own.certificate().expect("a certificate").clone();
    let service = SoapService::builder()
        .requirements(required("request").decrypt_with(own).expect("a key"))
        .operation(async |_: Transfer| Receipt { amount: 0.0, sender: String::new() })
        .build()
        .expect("a service");
    let protection = signed("request").encrypt(certificate);
    let client = Client::builder("http://localhost/").protection(protection).build_with(service).expect("a client");
    let reason = async |client: &Client<SoapService>| match client.call(&Named { amount: "much".to_owned() }).await {
        Err(CallError::Fault(fault)) => fault.reason.clone(),
        other => panic!("a fault, not {other:?}"),
    };
    assert_eq!(reason(&client).await, "the message cannot be read");
    let service =
        SoapService::builder().operation(async |_: Transfer| Receipt { amount: 0.0, sender: String::new() }).build();
    let plain = Client::with_service("http://localhost/", service.expect("a service")).expect("a client");
    assert!(reason(&plain).await.contains("Transfer/amount"), "others are told the place");
}

#[tokio::test]
async fn what_is_not_secured_is_refused() {
    let plain = Client::with_service("http://localhost/", bank()).expect("a client");
    let forger =
        Client::builder("http://localhost/").protection(signed("forged")).build_with(bank()).expect("a client");
    let wsse = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
    for (client, code) in [(plain, "InvalidSecurity"), (forger, "FailedCheck")] {
        let Err(CallError::Fault(fault)) = client.call(&Transfer { amount: 1.0 }).await else { panic!("a fault") };
        assert_eq!(fault.code, FaultCode::Other(QName::new(wsse, code)), "{fault:?}");
    }
    // The client does not accept an answer of someone else.
    let trusting = |secret: &str| {
        Client::builder("http://localhost/")
            .protection(signed("request"))
            .requirements(required(secret))
            .build_with(bank())
            .expect("a client")
    };
    let error = trusting("other").call(&Transfer { amount: 1.0 }).await.expect_err("a stranger");
    assert!(matches!(error, CallError::Insecure(_)), "{error:?}");
    assert!(error.to_string().contains("signature"), "{error}");
    // Without requirements, a mandatory security header is not understood.
    let careless =
        Client::builder("http://localhost/").protection(signed("request")).build_with(bank()).expect("a client");
    let error = careless.call(&Transfer { amount: 1.0 }).await.expect_err("not understood");
    assert!(matches!(error, CallError::NotUnderstood(_)), "{error:?}");
}

/// A call may have its own protection.
#[tokio::test]
async fn protection_of_one_call() {
    let client =
        Client::builder("http://localhost/").requirements(required("response")).build_with(bank()).expect("a client");
    let options = CallOptions::new().protection(signed("request"));
    assert!(client.call_with(&Transfer { amount: 1.0 }, options).await.is_ok());
    assert!(client.call(&Transfer { amount: 1.0 }).await.is_err());
}

/// Memories of different senders are kept apart, though they come on one connection.
#[tokio::test]
async fn memories_belong_to_the_sender() {
    let users = |user: &str| Some(format!("password of {user}"));
    let service = SoapService::builder()
        .requirements(Requirements::new().users(users))
        .sharing(Sharing::Principal)
        .operation(async |Extension(verified): Extension<Verified>, transfer: Transfer| receipt(&verified, &transfer))
        .build()
        .expect("a service");
    let stats = service.stats();
    let client = Client::with_service("http://localhost/", service).expect("a client");
    for turn in 0..6 {
        let user = ["ada", "bob"][turn % 2];
        let token = UsernameToken::digest(user, format!("password of {user}"));
        let options = CallOptions::new().protection(Protection::new().user(token));
        let receipt = client.call_with(&Transfer { amount: 1.5 }, options).await.expect("a receipt").body;
        assert_eq!(receipt.sender, user);
    }
    assert_eq!(stats.snapshot().messages, 6);
}

/// A message that fails is remembered by nothing: the next one is compared with the last valid one.
#[tokio::test]
async fn nothing_of_a_forged_message_remains() {
    let client = |secret: &str, service: &SoapService| {
        Client::builder("http://localhost/").protection(signed(secret)).build_with(service.clone()).expect("a client")
    };
    let service = SoapService::builder()
        .requirements(required("request"))
        .operation(async |Extension(verified): Extension<Verified>, transfer: Transfer| receipt(&verified, &transfer))
        .build()
        .expect("a service");
    let (honest, forger) = (client("request", &service), client("forged", &service));
    for turn in 0..6 {
        let amount = f64::from(turn);
        assert_eq!(honest.call(&Transfer { amount }).await.expect("a receipt").amount, amount);
        assert!(forger.call(&Transfer { amount: 1e6 }).await.is_err());
    }
}

#[tokio::test]
async fn what_cannot_be_signed_is_an_error() {
    let client =
        Client::builder("http://localhost/").protection(signed("request")).build_with(bank()).expect("a client");
    let overlaid = client.call_overlaid(&Transfer { amount: 1.0 }, Vec::<i32>::new()).await.expect_err("an error");
    assert!(matches!(overlaid, CallError::Unsecured(_)), "{overlaid:?}");
    // A handler that writes its response itself.
    let written =
        |_: Context, transfer: Transfer| Envelope::new(&transfer).write(Buffer::new()).map(MessageReply::message);
    let service = SoapService::builder().protection(signed("response")).operation(written).build().expect("a service");
    let client =
        Client::builder("http://localhost/").requirements(required("response")).build_with(service).expect("a client");
    let error = client.call(&Transfer { amount: 1.0 }).await.expect_err("a fault");
    assert!(matches!(&error, CallError::Fault(fault) if fault.reason.contains("secured")), "{error:?}");
}

#[derive(Soap)]
#[soap(namespace = "urn:session", message)]
struct Session {
    number: u32,
}

#[derive(Soap)]
#[soap(namespace = "urn:lab", message, response = Received)]
struct Levels {
    level: TrackedVec<f64>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:lab", message)]
struct Received {
    session: u32,
}

/// New header blocks do not cost an unchanged request its content match.
#[tokio::test]
async fn provided_headers_leave_the_template_alone() {
    let service = SoapService::builder()
        .operation(async |session: Header<Session>, _: Levels| Received { session: session.number })
        .build()
        .expect("a service");
    let calls = Arc::new(AtomicU32::new(0));
    let provider = move |_: &deltasoap::client::OutgoingCall<'_>| {
        let number = calls.fetch_add(1, Relaxed);
        async move { Ok::<_, std::convert::Infallible>((Header(Session { number }), None::<HeaderBlock>)) }
    };
    let client = Client::builder("http://localhost/").provide_headers(provider).build_with(service).expect("a client");
    let levels = Levels { level: (0..100_000).map(f64::from).collect() };
    for session in 0..5 {
        assert_eq!(client.call(&levels).await.expect("an answer"), Received { session });
    }
    let stats = client.encode_stats();
    assert_eq!((stats.first, stats.content), (1, 4), "{stats:?}");
}

/// A provider that fails prevents the call, and one that hangs is bounded by the time of the call.
#[tokio::test]
async fn providers_fail_and_hang() {
    let client = |hangs: bool| {
        let provider = move |_: &deltasoap::client::OutgoingCall<'_>| async move {
            if hangs {
                std::future::pending::<()>().await;
            }
            Err::<Vec<HeaderBlock>, _>("no token")
        };
        let builder = Client::builder("http://localhost/").timeout(Duration::from_millis(50));
        builder.provide_headers(provider).build_with(bank()).expect("a client")
    };
    let error = client(false).call(&Transfer { amount: 1.0 }).await.expect_err("no token");
    assert!(matches!(&error, CallError::RefusedRequest(error) if error.to_string() == "no token"), "{error:?}");
    let start = Instant::now();
    let error = client(true).call(&Transfer { amount: 1.0 }).await.expect_err("too late");
    assert!(matches!(error, CallError::Timeout(_)) && start.elapsed() < Duration::from_secs(5), "{error:?}");
}

/// Header blocks of WS-Addressing are signed with the body, in both directions.
#[tokio::test]
async fn addressing_is_signed() {
    let addressing = deltasoap::soap::addressing::Addressing::V10;
    let named = |local: &'static str| QName::new(addressing.namespace(), local);
    let required = |secret: &str| {
        ["Action", "MessageID", "To", "RelatesTo"]
            .into_iter()
            .fold(required(secret), |requirements, local| requirements.signed_header(named(local)))
    };
    let service = SoapService::builder()
        .addressing(deltasoap::server::AddressingMode::Require)
        .requirements(required("request"))
        .protection(signed("response"))
        .operation(async |Extension(verified): Extension<Verified>, transfer: Transfer| receipt(&verified, &transfer))
        .build()
        .expect("a service");
    let client = Client::builder("http://localhost/")
        .addressing(addressing)
        .protection(signed("request"))
        .requirements(required("response"))
        .build_with(service)
        .expect("a client");
    for amount in 0..3 {
        let response = client
            .call_with(&Transfer { amount: amount.into() }, CallOptions::new().action("urn:transfer"))
            .await
            .expect("a receipt");
        assert_eq!(response.body.amount, f64::from(amount));
        assert!(response.head.header(addressing.namespace(), "RelatesTo").is_some(), "{:?}", response.head);
    }
}

/// Clients that require WS-Addressing, such as Metro, ignore what a fault says if it does not tell
/// which request it answers, although that is not verified.
#[tokio::test]
async fn faults_about_security_name_their_request() {
    use bytes::Bytes;
    use http_body::Frame;
    use http_body_util::{BodyExt, StreamBody};
    let service = SoapService::builder()
        .addressing(deltasoap::server::AddressingMode::Require)
        .requirements(required("request"))
        .protection(signed("response"))
        .operation(async |_: Transfer| Receipt { amount: 0.0, sender: String::new() })
        .build()
        .expect("a service");
    let addressed = "<Header><Action xmlns='http://www.w3.org/2005/08/addressing'>urn:transfer</Action>\
                     <MessageID xmlns='http://www.w3.org/2005/08/addressing'>urn:1</MessageID></Header>";
    let bytes = |chunk: &[u8]| Ok::<_, std::convert::Infallible>(Frame::data(Bytes::copy_from_slice(chunk)));
    // In pieces, the header is read before it turns out that nothing is signed; in one, it is not.
    for (header, size, is_named) in [(addressed, usize::MAX, true), (addressed, 1, true), ("", usize::MAX, false)] {
        let message = format!(
            "<Envelope xmlns='http://schemas.xmlsoap.org/soap/envelope/'>{header}\
             <Body><Transfer xmlns='urn:bank'><amount>1</amount></Transfer></Body></Envelope>"
        );
        let chunks: Vec<_> = message.as_bytes().chunks(size).map(bytes).collect();
        let body = StreamBody::new(futures_util::stream::iter(chunks));
        let request = http::Request::post("/").header("Content-Type", "text/xml").body(body).expect("a request");
        let response = tower::ServiceExt::oneshot(service.clone(), request).await.expect("infallible");
        let fault = response.into_body().collect().await.expect("a body").to_bytes();
        let fault = String::from_utf8_lossy(&fault);
        assert!(fault.contains("lacks security that the service requires"), "{fault}");
        assert!(fault.contains(">http://www.w3.org/2005/08/addressing/soap/fault</"), "{fault}");
        assert_eq!(fault.contains(">urn:1</"), is_named, "{fault}");
    }
}

/// A response says which request it answers.
#[tokio::test]
async fn responses_confirm_signatures() {
    let service = |confirms| {
        let protection = signed("response").confirm_signatures(confirms);
        SoapService::builder()
            .requirements(required("request"))
            .protection(protection)
            .operation(async |Extension(verified): Extension<Verified>, transfer: Transfer| {
                receipt(&verified, &transfer)
            })
            .build()
            .expect("a service")
    };
    let client = |confirms| {
        Client::builder("http://localhost/")
            .protection(signed("request"))
            .requirements(required("response").signature_confirmation())
            .build_with(service(confirms))
            .expect("a client")
    };
    for amount in 0..3 {
        let receipt = client(true).call(&Transfer { amount: amount.into() }).await.expect("a receipt");
        assert_eq!(receipt.amount, f64::from(amount));
    }
    let fault = client(true).call(&Transfer { amount: -1.0 }).await.expect_err("a fault");
    assert!(matches!(&fault, CallError::Fault(fault) if fault.reason == "negative"), "{fault:?}");
    let error = client(false).call(&Transfer { amount: 1.0 }).await.expect_err("no confirmation");
    assert!(matches!(&error, CallError::Insecure(_)) && format!("{error:?}").contains("confirmation"), "{error:?}");
}

/// Each client gets its responses encrypted for itself.
#[tokio::test]
async fn responses_are_encrypted_for_the_signer_of_the_request() {
    let server = rsa("server");
    let pem = |identity: &Identity| identity.certificate().expect("a certificate").clone();
    let (ada, bob) = (rsa("ada"), rsa("bob"));
    let trust = Trust::nobody().certificate(pem(&ada)).certificate(pem(&bob));
    let service = SoapService::builder()
        .requirements(Requirements::new().trust(trust).signed_body().signed_timestamp())
        .protection(Protection::new().timestamp(VALID).sign(server.clone()).encrypt_for_signer())
        .operation(async |Extension(verified): Extension<Verified>, transfer: Transfer| receipt(&verified, &transfer))
        .build()
        .expect("a service");
    let client = |signs: &Identity, decrypts: &Identity| {
        let requirements = Requirements::new().trust(Trust::nobody().certificate(pem(&server))).encrypted_body();
        Client::builder("http://localhost/")
            .protection(Protection::new().timestamp(VALID).sign(signs.clone()))
            .requirements(requirements.decrypt_with(decrypts.clone()).expect("a key"))
            .build_with(service.clone())
            .expect("a client")
    };
    for identity in [&ada, &bob] {
        client(identity, identity).call(&Transfer { amount: 1.0 }).await.expect("a receipt");
        let fault = client(identity, identity).call(&Transfer { amount: -1.0 }).await.expect_err("a fault");
        assert!(matches!(&fault, CallError::Fault(fault) if fault.reason == "negative"), "{fault:?}");
    }
    let error = client(&ada, &bob).call(&Transfer { amount: 1.0 }).await.expect_err("for somebody else");
    assert!(matches!(&error, CallError::Insecure(_)), "{error:?}");
}

/// Nobody is known whom the fault for such a request could be encrypted for. It says only what kind
/// of check failed.
#[tokio::test]
async fn the_fault_for_a_request_without_a_signer_can_be_read() {
    let server = rsa("server");
    let trust = |identity: &Identity| Trust::nobody().certificate(identity.certificate().expect("one").clone());
    let service = SoapService::builder()
        .requirements(Requirements::new().trust(trust(&rsa("ada"))).signed_body())
        .protection(Protection::new().timestamp(VALID).sign(server.clone()).encrypt_for_signer())
        .operation(async |_: Transfer| Receipt { amount: 0.0, sender: String::new() })
        .build()
        .expect("a service");
    let client = Client::builder("http://localhost/")
        .requirements(Requirements::new().trust(trust(&server)).signed_body())
        .build_with(service)
        .expect("a client");
    let error = client.call(&Transfer { amount: 1.0 }).await.expect_err("a fault");
    let reason = "the message lacks security that the service requires";
    assert!(matches!(&error, CallError::Fault(fault) if fault.reason == reason), "{error:?}");
}

/// Many services do not secure their faults about security, which say what is wrong with the
/// request.
#[tokio::test]
async fn the_reason_of_a_fault_without_security_is_shown() {
    let service = SoapService::builder()
        .requirements(required("request"))
        .operation(async |_: Transfer| Receipt { amount: 0.0, sender: String::new() })
        .build()
        .expect("a service");
    let client = Client::builder("http://localhost/")
        .protection(signed("forged"))
        .requirements(required("response"))
        .build_with(service)
        .expect("a client");
    let error = client.call(&Transfer { amount: 1.0 }).await.expect_err("a fault");
    assert!(matches!(&error, CallError::Insecure(_)), "{error:?}");
    assert!(error.to_string().contains("the signature or decryption was invalid"), "{error}");
    let cause = std::error::Error::source(&error).expect("a cause").to_string();
    assert!(cause.contains("timestamp"), "{cause}");
}

/// A service that counts the bytes of the parts of a request.
fn counting(requirements: Requirements) -> SoapService {
    SoapService::builder()
        .requirements(requirements)
        .protection(signed("response").sign_attachments(true))
        .operation(async |mut context: Context, transfer: Transfer| {
            let attachments = context.attachments();
            let mut len = 0;
            while let Some(part) = attachments.next().await? {
                len += part.bytes().await?.len();
            }
            let receipt = Receipt { amount: transfer.amount, sender: len.to_string() };
            Ok::<_, Fault>(Reply::new(receipt).with_part(Part::new("receipt@x", "text/plain", "paid\n")))
        })
        .build()
        .expect("a service")
}

/// Attachments are signed in both directions, and refused if they are not what was signed.
#[tokio::test]
async fn attachments_are_signed() {
    let client = |protection: Protection, requirements: Requirements| {
        Client::builder("http://localhost/")
            .protection(protection)
            .requirements(required("response").signed_attachments())
            .build_with(counting(requirements))
            .expect("a client")
    };
    let signing = || signed("request").sign_attachments(true);
    let strict = || required("request").signed_attachments();
    let options = || {
        CallOptions::new().part(Part::new("a b@x", "application/pdf", &b"\x00\xff"[..])).part(Part::new(
            "xml@x",
            "text/xml",
            "<a  b='1'/>",
        ))
    };
    let transfer = Transfer { amount: 1.0 };
    for requirements in [strict(), required("request")] {
        let mut response = client(signing(), requirements).call_with(&transfer, options()).await.expect("a receipt");
        assert_eq!(response.body.sender, "13");
        let part = response.attachments.next().await.expect("a part").expect("a part");
        assert_eq!(part.bytes().await.expect("signed content"), "paid\n");
        assert!(response.attachments.next().await.expect("the end").is_none());
    }
    // No parts, and parts that are not signed.
    let receipt = client(signing(), strict()).call(&transfer).await.expect("a receipt");
    assert_eq!(receipt.sender, "0");
    let error = client(signed("request"), strict()).call_with(&transfer, options()).await.expect_err("a fault");
    assert!(matches!(&error, CallError::Fault(fault) if fault.reason.contains("is not signed")), "{error:?}");
    let unsigned = client(signed("request"), required("request")).call_with(&transfer, options()).await;
    assert_eq!(unsigned.expect("a receipt").body.sender, "13");
    // A part that is read while it is sent.
    let stream = futures_util::stream::iter([Ok(bytes::Bytes::from_static(b"x"))]);
    let options = CallOptions::new().part(Part::stream("s@x", "application/pdf", stream));
    let error = client(signing(), strict()).call_with(&transfer, options).await.expect_err("unsigned");
    assert!(matches!(&error, CallError::Unsecured(_)), "{error:?}");
}

/// Sends a request with an attachment, which is changed on the way.
async fn sent_changed(change: fn(&mut http::request::Parts, String) -> String) -> Result<Receipt, CallError> {
    use http_body_util::BodyExt;
    let service = tower::service_fn(move |request: http::Request<deltasoap_http::Body>| async move {
        let (mut parts, body) = request.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        let body = change(&mut parts, String::from_utf8(body.to_vec()).expect("text")).into_bytes();
        let request = http::Request::from_parts(parts, deltasoap_http::Body::from(body));
        tower::ServiceExt::oneshot(counting(required("request")), request).await
    });
    let client = Client::builder("http://localhost/").protection(signed("request").sign_attachments(true));
    let client = client.understands(deltasoap::security::header_name()).build_with(service).expect("a client");
    let options = CallOptions::new().part(Part::new("one@x", "text/plain", "content"));
    Ok(client.call_with(&Transfer { amount: 1.0 }, options).await?.body)
}

#[tokio::test]
async fn changed_and_missing_attachments_are_refused() {
    assert_eq!(sent_changed(|_, text| text).await.expect("a receipt").sender, "7");
    let changed = sent_changed(|_, text| text.replace("\r\ncontent\r\n", "\r\nforgery\r\n")).await;
    let changed = changed.expect_err("a changed part").to_string();
    assert!(changed.contains("does not match"), "{changed}");
    let other = sent_changed(|_, text| text.replace("<one@x>", "<two@x>")).await.expect_err("another part").to_string();
    assert!(other.contains("is not in the package"), "{other}");
    // Without its package.
    let alone = sent_changed(|parts, text| {
        parts.headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("text/xml"));
        let envelope = text.split_once("<?xml").and_then(|(_, rest)| rest.split_once("</soap:Envelope>"));
        format!("<?xml{}</soap:Envelope>", envelope.expect("an envelope").0)
    });
    let alone = alone.await.expect_err("no part").to_string();
    assert!(alone.contains("not secured as the service requires"), "{alone}");
}

/// Finds fault with what is encrypted, and with negative amounts.
struct Readable;

impl Validator for Readable {
    fn findings(&self, message: &[u8], _: Option<&PartLookup<'_>>, _: usize) -> Vec<Finding> {
        let message = String::from_utf8_lossy(message);
        let is_valid = !["EncryptedData", "<amount>-", ">forbidden<"].iter().any(|text| message.contains(text));
        let finding = Finding { line: 1, column: 1, path: String::new(), message: "unreadable".to_owned() };
        if is_valid { Vec::new() } else { vec![finding] }
    }
}

/// What is validated before it is sent is not encrypted yet.
#[tokio::test]
async fn messages_are_validated_before_they_are_encrypted() {
    let (here, there) = (rsa("client"), rsa("server"));
    let to = |identity: &Identity| identity.certificate().expect("a certificate").clone();
    let service = SoapService::builder()
        .requirements(required("request").decrypt_with(there.clone()).expect("a key"))
        .protection(signed("response").encrypt(to(&here)))
        .validate_sent(Readable, Validation::Refuse)
        .operation(async |Extension(verified): Extension<Verified>, transfer: Transfer| receipt(&verified, &transfer))
        .build()
        .expect("a service");
    let client = Client::builder("http://localhost/")
        .protection(signed("request").encrypt(to(&there)))
        .requirements(required("response").decrypt_with(here).expect("a key"))
        .validate_sent(Readable, Validation::Refuse)
        .build_with(service)
        .expect("a client");
    for _ in 0..3 {
        client.call(&Transfer { amount: 1.0 }).await.expect("a receipt");
    }
    let block = HeaderBlock { node: deltasoap::types::Node::with_text(QName::new("urn:tx", "note"), "forbidden") };
    for (amount, options) in [(-1.0, CallOptions::new()), (1.0, CallOptions::new().header(block))] {
        let error = client.call_with(&Transfer { amount }, options).await.expect_err("an invalid request");
        assert!(matches!(error, CallError::InvalidRequest(_)), "{error:?}");
    }
}

/// Faults about verified requests are for their signer, whoever finds fault with them.
#[tokio::test]
async fn faults_about_verified_requests_are_encrypted_for_their_signer() {
    let (here, there) = (rsa("client"), rsa("server"));
    let trust = |identity: &Identity| Trust::nobody().certificate(identity.certificate().expect("one").clone());
    let service = SoapService::builder()
        .requirements(Requirements::new().trust(trust(&here)).signed_body().signed_timestamp())
        .protection(
            Protection::new().timestamp(VALID).sign(there.clone()).encrypt_for_signer().confirm_signatures(true),
        )
        .addressing(deltasoap::server::AddressingMode::Require)
        .validate(Readable, Validation::Refuse)
        .operation(async |_: Transfer| Receipt { amount: 0.0, sender: String::new() })
        .build()
        .expect("a service");
    let client = |addressing: Option<Addressing>| {
        let requirements = Requirements::new().trust(trust(&there)).signed_body().encrypted_body();
        Client::builder("http://localhost/")
            .addressing(addressing)
            .action("urn:transfer")
            .protection(Protection::new().timestamp(VALID).sign(here.clone()))
            .requirements(requirements.signature_confirmation().decrypt_with(here.clone()).expect("a key"))
            .build_with(service.clone())
            .expect("a client")
    };
    for (addressing, amount, reason) in [(Some(Addressing::V10), -1.0, "unreadable"), (None, 1.0, "Action")] {
        let error = client(addressing).call(&Transfer { amount }).await.expect_err("a fault");
        assert!(
            matches!(&error, CallError::Fault(fault) if fault.reason.contains(reason) || format!("{fault:?}").contains(reason)),
            "{error:?}"
        );
    }
    client(Some(Addressing::V10)).call(&Transfer { amount: 1.0 }).await.expect("a receipt");
}

/// What is set replaces what the policies lead to, and credentials are used all the same.
#[tokio::test]
async fn policies_and_settings() {
    const SP: &str = "http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702";
    let document = |assertion: &str| {
        format!("<p:Policy xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:s='{SP}'>{assertion}</p:Policy>")
    };
    let user = document("<s:SupportingTokens><p:Policy><s:UsernameToken/></p:Policy></s:SupportingTokens>");
    let user = PolicyDocuments { required: "SupportingTokens".into(), request: user.into(), response: "".into() };
    let service = SoapService::builder()
        .policies(user.clone())
        .policy_credentials(PolicyCredentials::new().users(|user: &str| (user == "ada").then_some("x")))
        .protection(signed("response"))
        .operation(async |Extension(verified): Extension<Verified>, transfer: Transfer| receipt(&verified, &transfer))
        .build()
        .expect("a service");
    let client = || Client::builder("http://localhost/").policies(user.clone());
    let credentials = || PolicyCredentials::new().user("ada", "x");
    let both = client().policy_credentials(credentials()).requirements(required("response"));
    let receipt = both.build_with(service.clone()).expect("a client").call(&Transfer { amount: 1.0 }).await;
    assert_eq!(receipt.expect("a receipt").sender, "ada");
    assert!(matches!(client().build(), Err(ClientBuildError::Policies(_))));
    client().requirements(required("response")).build().expect("settings alone are taken to meet the policies");

    let tls = document("<s:TransportBinding/>");
    let tls = PolicyDocuments { required: "TransportBinding".into(), request: tls.into(), response: "".into() };
    for (url, is_met) in [("http://localhost/", false), ("https://localhost/", true)] {
        assert_eq!(Client::builder(url).policies(tls.clone()).build().is_ok(), is_met, "{url}");
    }
    let server = || SoapService::builder().policies(tls.clone()).operation(async |transfer: Transfer| transfer);
    server().build().expect("whoever serves it sees to TLS");
    server().policy_credentials(PolicyCredentials::new()).build().expect_err("no TLS");
    // Policies that could not be read.
    let unknown = PolicyDocuments::new("policy #gone", "", "");
    let error = Client::builder("https://localhost/").policies(unknown).build().expect_err("unknown").to_string();
    assert!(error.contains("policy #gone"), "{error}");
}

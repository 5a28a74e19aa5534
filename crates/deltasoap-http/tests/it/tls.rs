//! TLS over loopback: which peers are trusted or refused, and what the server knows of a client.

#![cfg(feature = "tls")]

use crate::common::authority::Authority;
use crate::common::*;
use deltasoap::client::{CallError, HttpTransport};
use deltasoap::server::{ByCertificate, PeerCertificates, ServerHandle};
use deltasoap::tls::{ClientTls, Identity, Roots, ServerTls};
use deltasoap::{Client, Context, Fault, Lease, Server, Soap, SoapService};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// Asks how the server identifies the client.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
struct WhoAmI {}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
struct YouAre {
    principal: Option<String>,
    fingerprint: Option<String>,
}

async fn who_am_i(context: Context, _: Lease<WhoAmI>) -> Result<YouAre, Fault> {
    Ok(YouAre {
        principal: context.principal().map(|principal| principal.0.to_string()),
        fingerprint: context.peer_certificates().map(PeerCertificates::fingerprint),
    })
}

async fn serve_tls(tls: ServerTls, service: SoapService) -> (SocketAddr, ServerHandle) {
    let server = Server::bind("127.0.0.1:0").await.expect("a free port").tls(tls).expect("an identity");
    let (address, handle) = (server.local_addr().expect("an address"), server.handle());
    tokio::spawn(server.serve(service));
    (address, handle)
}

fn open_service() -> SoapService {
    SoapService::builder().operation(who_am_i).wsdl(WSDL).build().expect("a service")
}

fn closed_service() -> SoapService {
    let builder = SoapService::builder().operation(who_am_i);
    builder.authenticate(ByCertificate::fingerprint()).build().expect("a service")
}

fn client(address: SocketAddr, tls: ClientTls) -> Client {
    let transport = HttpTransport::with_tls(tls).expect("an identity");
    let builder = Client::builder(format!("https://localhost:{}/", address.port()));
    builder.timeout(Duration::from_secs(20)).build_with(transport).expect("a client")
}

async fn ask(address: SocketAddr, tls: ClientTls) -> Result<YouAre, CallError> {
    client(address, tls).call_as(&WhoAmI {}).await
}

/// Returns the full error, if the exchange failed as expected for TLS.
fn failure(result: Result<YouAre, CallError>) -> String {
    match result {
        Err(CallError::Http(error)) => format!("{error:?}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn unverified_servers_are_called_only_by_who_wants_it() {
    let (stranger, own) = (Authority::new(), Authority::new());
    let (address, _handle) = serve_tls(stranger.server(), open_service()).await;
    assert!(failure(ask(address, own.client()).await).contains("InvalidCertificate"));
    assert!(ask(address, own.client().unverified()).await.is_ok());
}

#[tokio::test]
async fn calls_go_over_tls() {
    let authority = Authority::new();
    let (address, _handle) = serve_tls(authority.server(), open_service()).await;
    let client = client(address, authority.client());
    for _ in 0..3 {
        let you_are: YouAre = client.call_as(&WhoAmI {}).await.expect("a response");
        assert_eq!(you_are, YouAre { principal: None, fingerprint: None });
    }
}

/// A new certificate is presented to new connections, open ones go on, and what cannot be used changes
/// nothing.
#[tokio::test]
async fn certificates_are_replaced_while_the_server_runs() {
    let (old, new) = (Authority::new(), Authority::named("new"));
    let tls = old.server();
    let rotation = tls.rotation();
    let (address, _handle) = serve_tls(tls, open_service()).await;
    let kept = client(address, old.client());
    let _: YouAre = kept.call_as(&WhoAmI {}).await.expect("a response");

    rotation.replace(new.identity("localhost")).expect("an identity");
    assert!(ask(address, new.client()).await.is_ok());
    assert!(failure(ask(address, old.client()).await).contains("InvalidCertificate"));
    let _: YouAre = kept.call_as(&WhoAmI {}).await.expect("a response over the connection that is open");

    let (mine, other) = (KeyPair::generate().expect("a key"), KeyPair::generate().expect("a key"));
    let params = CertificateParams::new(["localhost".to_owned()]).expect("parameters");
    let certificate = params.signed_by(&mine, &old.0).expect("a certificate");
    let mismatched = Identity::from_pem(certificate.pem(), other.serialize_pem()).expect("two texts");
    assert!(rotation.replace(mismatched).is_err());
    assert!(ask(address, new.client()).await.is_ok(), "the certificate before stays");
}

#[tokio::test]
async fn servers_must_be_trusted() {
    let authority = Authority::new();
    let (address, _handle) = serve_tls(authority.server(), open_service()).await;
    assert!(failure(ask(address, Authority::named("other").client()).await).contains("InvalidCertificate"));
    assert!(failure(ask(address, Authority::new().client()).await).contains("BadSignature"), "of the same name");
    let own: Client = Client::new(format!("https://localhost:{}/", address.port())).expect("a client");
    assert!(matches!(own.call_as::<YouAre>(&WhoAmI {}).await, Err(CallError::Http(_))));
}

#[tokio::test]
async fn certificates_are_for_one_host() {
    let authority = Authority::new();
    let tls = ServerTls::new(authority.identity("elsewhere.example.org"));
    let (address, _handle) = serve_tls(tls, open_service()).await;
    assert!(failure(ask(address, authority.client()).await).contains("NotValidForName"));
}

#[tokio::test]
async fn certificates_expire() {
    let authority = Authority::new();
    let mut params = CertificateParams::new(["localhost".to_owned()]).expect("parameters");
    params.not_before = rcgen::date_time_ymd(2001, 1, 1);
    params.not_after = rcgen::date_time_ymd(2002, 1, 1);
    let (address, _handle) = serve_tls(ServerTls::new(authority.identity_of(params)), open_service()).await;
    assert!(failure(ask(address, authority.client()).await).contains("Expired"));
}

#[tokio::test]
async fn clients_are_known_by_their_certificates() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let tls = authority.server().require_clients(clients.roots());
    let (address, _handle) = serve_tls(tls, closed_service()).await;
    let mut seen = Vec::new();
    for _ in 0..2 {
        let you_are = ask(address, authority.client().identity(clients.identity("device"))).await.expect("a response");
        assert_eq!(you_are.principal, you_are.fingerprint);
        let fingerprint = you_are.fingerprint.expect("a fingerprint");
        assert!(fingerprint.len() == 64 && !seen.contains(&fingerprint));
        seen.push(fingerprint);
    }
}

#[tokio::test]
async fn clients_without_a_certificate_are_refused() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let tls = authority.server().require_clients(clients.roots());
    let (address, _handle) = serve_tls(tls, open_service()).await;
    failure(ask(address, authority.client()).await);
    failure(ask(address, authority.client().identity(authority.identity("device"))).await);
}

#[tokio::test]
async fn certificates_can_be_optional() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let tls = authority.server().accept_clients(clients.roots());
    let (open, _open) = serve_tls(tls.clone(), open_service()).await;
    let (closed, _closed) = serve_tls(tls, closed_service()).await;
    let known = || authority.client().identity(clients.identity("device"));
    assert_eq!(ask(open, authority.client()).await.expect("a response").fingerprint, None);
    assert!(ask(open, known()).await.expect("a response").fingerprint.is_some());
    assert!(ask(closed, known()).await.expect("a response").principal.is_some());
    let Err(CallError::Status(status)) = ask(closed, authority.client()).await else { panic!("a response") };
    assert_eq!(status.status, 403);
    failure(ask(open, authority.client().identity(authority.identity("device"))).await);
}

#[tokio::test]
async fn slow_handshakes_keep_nobody_waiting_and_end() {
    let authority = Authority::new();
    let tls = authority.server().handshake_timeout(Duration::from_millis(300));
    let (address, _handle) = serve_tls(tls, open_service()).await;
    let mut silent = TcpStream::connect(address).await.expect("a connection");
    ask(address, authority.client()).await.expect("a response");
    let ended = tokio::time::timeout(Duration::from_secs(10), silent.read(&mut [0])).await.expect("an end");
    assert!(matches!(ended, Ok(0)) || ended.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionReset));
}

#[tokio::test]
async fn a_stop_ends_handshakes() {
    let authority = Authority::new();
    let server = Server::bind("127.0.0.1:0").await.expect("a port").tls(authority.server()).expect("a server");
    let (address, handle) = (server.local_addr().expect("an address"), server.handle());
    let serving = tokio::spawn(server.serve(open_service()));
    let _silent = TcpStream::connect(address).await.expect("a connection");
    // Connections are accepted in order: when a later one is served, the silent one is in its
    // handshake.
    ask(address, authority.client()).await.expect("a response");
    handle.shutdown();
    let ended = tokio::time::timeout(Duration::from_secs(5), serving).await.expect("in time");
    ended.expect("no panic").expect("no error");
}

#[tokio::test]
async fn the_description_gives_a_secure_url() {
    use http_body_util::BodyExt;
    use tower::ServiceExt;
    let authority = Authority::new();
    let (address, _handle) = serve_tls(authority.server(), open_service()).await;
    let transport = HttpTransport::with_tls(authority.client()).expect("a transport");
    let url = format!("https://localhost:{}/soap", address.port());
    let request = http::Request::get(format!("{url}?wsdl")).body(Default::default()).expect("a request");
    let response = transport.oneshot(request).await.expect("a response");
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    assert!(String::from_utf8_lossy(&body).contains(&format!("location=\"{url}\"")), "{body:?}");
}

#[test]
fn identities_are_checked_and_not_shown() {
    let authority = Authority::new();
    let (pem, key) = (authority.0.pem(), KeyPair::generate().expect("a key").serialize_pem());
    assert!(Identity::from_pem("", &key).is_err());
    // The error does not reveal a key that has lost its line breaks.
    for broken in [key.replace('\n', " "), key.replace('\n', ""), key.replacen("MI", "M!", 1)] {
        let error = Identity::from_pem(&pem, &broken).expect_err("no key");
        let (secret, said) = (key.lines().nth(1).expect("base64"), format!("{error} {error:?}"));
        let bytes = format!("{:?}", secret.as_bytes());
        assert!(!said.contains(&secret[4..]) && !said.contains(&bytes[20..60]) && said.len() < 400, "{said}");
    }
    assert!(Identity::from_pem(&pem, "").is_err());
    let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIE\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let error = Identity::from_pem(&pem, encrypted).expect_err("a password").to_string();
    assert!(error.contains("is encrypted"), "{error}");
    assert!(Roots::from_pem(&key).is_err());
    assert_eq!(
        format!("{:?}", Identity::from_pem(&pem, &key).expect("an identity")),
        "Identity { certificates: 1, .. }"
    );
    let strange = Identity::from_pem(&pem, &key).expect("an identity");
    assert!(HttpTransport::with_tls(authority.client().identity(strange)).is_err(), "another's key");
}

#[tokio::test]
async fn other_protocols_go_over_tls_too() {
    use deltasoap::transport::{Frames, Protocol, SecureConnector, TcpConnector};
    let (authority, listener) = (Authority::new(), tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port"));
    let address = listener.local_addr().expect("an address");
    let server = Server::over(listener, Frames::default()).tls(authority.server()).expect("an identity");
    tokio::spawn(server.serve(open_service()));
    for (trusted, host) in [(&authority, "localhost"), (&authority, "127.0.0.1"), (&Authority::new(), "localhost")] {
        let connector = SecureConnector::new(TcpConnector::new(), trusted.client()).expect("roots");
        let url = format!("frames://{host}:{}/", address.port());
        let client = Client::builder(url).retries(deltasoap::client::Retries::OFF);
        let client = client.build_with(Frames::default().pool(connector)).expect("a client");
        let is_right = std::ptr::eq(trusted, &authority) && host == "localhost";
        assert_eq!(client.call_as::<YouAre>(&WhoAmI {}).await.is_ok(), is_right, "{host}");
    }
}

/// Returns a self-signed certificate as `openssl req -x509` makes it: an authority's, which the
/// server presents as its own.
fn self_signed(change: impl FnOnce(&mut CertificateParams)) -> (Identity, Roots) {
    let mut params = CertificateParams::new([]).expect("parameters");
    params.distinguished_name.push(DnType::CommonName, "localhost");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    change(&mut params);
    let key = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate").pem();
    let identity = Identity::from_pem(&certificate, key.serialize_pem()).expect("an identity");
    (identity, Roots::from_pem(certificate).expect("roots"))
}

/// As written by openssl.
#[tokio::test]
async fn a_certificate_of_openssl_is_trusted_where_it_is_the_one_that_was_given() {
    const CERTIFICATE: &str = include_str!("../../../../testdata/tls/openssl.pem");
    let identity = Identity::from_pem(CERTIFICATE, include_str!("../../../../testdata/tls/openssl.key"));
    let (address, handle) = serve_tls(ServerTls::new(identity.expect("an identity")), open_service()).await;
    let roots = Roots::from_pem(CERTIFICATE).expect("roots");
    assert!(ask(address, ClientTls::new(roots)).await.is_ok());
    assert!(ask(address, ClientTls::new(Roots::platform())).await.is_err());
    handle.shutdown();
}

#[tokio::test]
async fn a_self_signed_certificate_is_trusted_where_it_is_the_one_that_was_given() {
    let alternative = |name: &str| rcgen::SanType::DnsName(name.try_into().expect("a name"));
    type Change = Box<dyn Fn(&mut CertificateParams)>;
    let cases: [(&str, Change, Option<&str>); 8] = [
        ("no alternative name", Box::new(|_| {}), None),
        ("an alternative name", Box::new(move |params| params.subject_alt_names.push(alternative("localhost"))), None),
        ("no authority's", Box::new(|params| params.is_ca = IsCa::NoCa), None),
        ("an explicit end entity", Box::new(|params| params.is_ca = IsCa::ExplicitNoCa), None),
        (
            "another alternative name, whatever the common name is",
            Box::new(move |params| params.subject_alt_names.push(alternative("other.example"))),
            Some("not valid for name"),
        ),
        (
            "another common name",
            Box::new(|params| params.distinguished_name.push(DnType::CommonName, "other.example")),
            Some("not valid for"),
        ),
        ("expired", Box::new(|params| params.not_after = rcgen::date_time_ymd(2020, 1, 1)), Some("expired")),
        (
            "not yet valid",
            Box::new(|params| params.not_before = rcgen::date_time_ymd(4000, 1, 1)),
            Some("not valid yet"),
        ),
    ];
    for (case, change, refused) in cases {
        let (identity, roots) = self_signed(change);
        let (address, handle) = serve_tls(ServerTls::new(identity), open_service()).await;
        let call = async |roots: Roots| {
            let transport = HttpTransport::with_tls(ClientTls::new(roots)).expect("a transport");
            let url = format!("https://localhost:{}/", address.port());
            let client = Client::builder(url).build_with(transport).expect("a client");
            client.call_as::<YouAre>(&WhoAmI {}).await
        };
        match (call(roots).await, refused) {
            (Ok(_), None) => {}
            (Err(error), Some(refused)) => {
                let text = format!("{error:?} {error}").to_lowercase().replace("notvalidyet", "not valid yet");
                assert!(text.contains(refused) || text.contains("notvalidfor"), "{case}: {text}");
            }
            (found, _) => panic!("{case}: {found:?}"),
        }
        // The same name with a different key is a different certificate.
        assert!(call(self_signed(|_| {}).1).await.is_err(), "{case}");
        assert!(call(Roots::platform()).await.is_err(), "{case}");
        handle.shutdown();
    }
}

/// A certificate that an authority signed is trusted if it is the given one, as openssl does with
/// `-partial_chain`; the server must have its key, and its dates and names are checked.
#[tokio::test]
async fn an_issued_certificate_is_trusted_where_it_is_the_one_that_was_given() {
    let authority = Authority::new();
    let issued = |change: &dyn Fn(&mut CertificateParams)| {
        let mut params = CertificateParams::new(["localhost".to_owned()]).expect("parameters");
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &authority.0).expect("a certificate").pem();
        (Identity::from_pem(&certificate, key.serialize_pem()).expect("an identity"), certificate)
    };
    let expired = |params: &mut CertificateParams| params.not_after = rcgen::date_time_ymd(2002, 1, 1);
    let elsewhere = |params: &mut CertificateParams| {
        params.subject_alt_names = vec![rcgen::SanType::DnsName("elsewhere.example".try_into().expect("a name"))];
    };
    for (change, refused) in [
        (&(|_: &mut CertificateParams| {}) as &dyn Fn(&mut CertificateParams), None),
        (&expired, Some("expired on 2002-01-01 00:00 UTC")),
        (&elsewhere, Some("is for elsewhere.example and not for localhost")),
    ] {
        let (identity, certificate) = issued(change);
        let (address, _handle) = serve_tls(ServerTls::new(identity), open_service()).await;
        let answer = ask(address, ClientTls::new(Roots::from_pem(&certificate).expect("roots"))).await;
        match (answer, refused) {
            (Ok(_), None) => {}
            (Err(error), Some(refused)) => assert!(error.to_string().contains(refused), "{error}"),
            (other, _) => panic!("{other:?}"),
        }
        let (_, another) = issued(&|_| {});
        let other = ask(address, ClientTls::new(Roots::from_pem(another).expect("roots"))).await;
        let text = other.expect_err("another certificate of the same authority").to_string();
        assert!(
            refused == Some("expired on 2002-01-01 00:00 UTC") || text.contains("authority that is not trusted"),
            "{text}"
        );
    }
}

/// Returns the error of a call to a server that answers everything with these bytes.
async fn answered_with(bytes: &'static [u8], scheme: &str) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 2048]).await;
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, bytes).await;
            // A reset would overtake the answer.
            let _ = tokio::time::timeout(Duration::from_secs(2), stream.read(&mut [0; 2048])).await;
        }
    });
    let client = Client::builder(format!("{scheme}://localhost:{}/", address.port())).timeout(Duration::from_secs(20));
    let client =
        client.build_with(HttpTransport::with_tls(Authority::new().client()).expect("roots")).expect("a client");
    with_causes(&client.call_as::<YouAre>(&WhoAmI {}).await.expect_err("no answer"))
}

fn with_causes(error: &CallError) -> String {
    let first: &dyn std::error::Error = error;
    std::iter::successors(Some(first), |error| error.source()).map(|error| format!("{error}\n")).collect()
}

/// TLS errors are reported in words.
#[tokio::test]
async fn servers_that_speak_other_protocols_are_told_apart() {
    // Alerts (RFC 8446, 6), and a ServerHello of TLS 1.1 (RFC 4346, 7.4.1.3).
    const PROTOCOL_VERSION: &[u8] = &[21, 3, 1, 0, 2, 2, 70];
    const HANDSHAKE_FAILURE: &[u8] = &[21, 3, 3, 0, 2, 2, 40];
    const DECODE_ERROR: &[u8] = &[21, 3, 3, 0, 2, 2, 50];
    let mut hello = vec![22, 3, 2, 0, 42, 2, 0, 0, 38, 3, 2];
    hello.extend([7; 32]);
    hello.extend([0, 0, 0x2F, 0]);
    let hello: &'static [u8] = hello.leak();
    for (bytes, scheme, text) in [
        (PROTOCOL_VERSION, "https", "neither TLS 1.2 nor TLS 1.3"),
        (hello, "https", "neither TLS 1.2 nor TLS 1.3"),
        (HANDSHAKE_FAILURE, "https", "no TLS version, cipher suite and key type in common"),
        (
            b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
            "https",
            "does not answer in TLS: is the URL http://?",
        ),
        (DECODE_ERROR, "http", "answers in TLS: is the URL https://?"),
    ] {
        let error = answered_with(bytes, scheme).await;
        assert!(error.contains(text), "{error}");
    }
    let authority = Authority::new();
    let (address, _handle) = serve_tls(authority.server(), open_service()).await;
    let plain = Client::new(format!("http://127.0.0.1:{}/", address.port())).expect("a client");
    let error = plain.call_as::<YouAre>(&WhoAmI {}).await.expect_err("no answer");
    let text = with_causes(&error);
    assert!(text.contains("the server answers in TLS: is the URL https://?"), "{text}");
}

#[tokio::test]
async fn certificates_that_are_refused_are_told_in_words() {
    let (authority, stranger) = (Authority::new(), Authority::named("stranger"));
    let early = {
        let mut params = CertificateParams::new(["localhost".to_owned()]).expect("parameters");
        params.not_before = rcgen::date_time_ymd(3999, 12, 31);
        authority.identity_of(params)
    };
    for (identity, text) in [
        (early, "the server's certificate is not valid before 3999-12-31 00:00 UTC; it is 2"),
        (stranger.identity("localhost"), "the server's certificate was issued by an authority that is not trusted"),
        (authority.identity("a.example"), "the server's certificate is for a.example and not for localhost"),
    ] {
        let (address, _handle) = serve_tls(ServerTls::new(identity), open_service()).await;
        let error = ask(address, authority.client()).await.expect_err("refused").to_string();
        assert!(error.contains(text), "{error}");
    }
}

#[tokio::test]
async fn weak_keys_of_rsa_are_recognized_by_their_size() {
    const AUTHORITY: &str = include_str!("../../../../testdata/tls/weak-ca.pem");
    const ISSUED: &str = include_str!("../../../../testdata/tls/weak-issued.pem");
    let identity = Identity::from_pem(ISSUED, include_str!("../../../../testdata/tls/weak-issued.key"));
    let (address, _handle) = serve_tls(ServerTls::new(identity.expect("an identity")), open_service()).await;
    let trusting = |pem: &str| ClientTls::new(Roots::from_pem(pem).expect("roots"));
    let error = ask(address, trusting(AUTHORITY)).await.expect_err("refused").to_string();
    assert!(error.contains("an RSA key of 1024 bits; 2048 to 8192 are accepted"), "{error}");
    ask(address, trusting(ISSUED)).await.expect("trusted by itself, whoever issued it");
}

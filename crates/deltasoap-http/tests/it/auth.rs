//! Authentication: Basic and Digest authentication, hooks, and whose messages are compared.

use crate::common::*;
use deltasoap::client::{CallError, CallOptions, ClientBuilder, Credentials};
use deltasoap::engine::Differential;
use deltasoap::server::{Basic, Connection, Denial, Principal};
use deltasoap::stream::Streamed;
use deltasoap::transport::Body;
use deltasoap::{Client, Context, Lease, SoapService};
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, Request, Response};
use http_body_util::BodyExt;
use md5::Md5;
use sha2::{Digest, Sha256};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tower::ServiceExt;

const URL: &str = "http://localhost/test?a=b";
const PASSWORD: &str = "Circle of Life";

fn users() -> Basic {
    Basic::users("test", [("ada", "engine"), ("bob", "builder")])
}

fn guarded() -> SoapService {
    let echo = async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request));
    let always = Differential { adaptive: false, ..Differential::default() };
    let builder = SoapService::builder().differential(always).operation(echo);
    builder.authenticate(users()).build().expect("a service")
}

fn as_user(user: &str, password: &str) -> ClientBuilder {
    Client::builder(URL).credentials(Credentials::basic(user, password).expect("credentials"))
}

fn status_of<T: std::fmt::Debug>(result: Result<T, CallError>) -> u16 {
    match result {
        Err(CallError::Status(error)) => error.status.as_u16(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn basic_lets_users_in_and_nobody_else() {
    let call = async |builder: ClientBuilder| {
        builder.build_with(guarded()).expect("a client").call_as::<EchoResponse>(&echo("x")).await
    };
    call(as_user("ada", "engine")).await.expect("a response");
    call(as_user("bob", "builder")).await.expect("a response");
    assert_eq!(status_of(call(Client::builder(URL)).await), 401);
    assert_eq!(status_of(call(as_user("ada", "builder")).await), 401);
    assert_eq!(status_of(call(as_user("eve", "engine")).await), 401);
}

#[tokio::test]
async fn pages_are_guarded_too() {
    for path in ["/", "/?wsdl"] {
        let request = Request::get(path).body(Pieces::of(b"", 1)).expect("a request");
        let answered = send(&guarded(), request).await;
        assert_eq!(answered.status, 401);
        assert_eq!(answered.headers[WWW_AUTHENTICATE], "Basic realm=\"test\", charset=\"UTF-8\"");
    }
}

#[tokio::test]
async fn handlers_do_not_see_credentials() {
    let describe = async |context: Context, _: Lease<Describe>| {
        let own = context.parts().headers.get(AUTHORIZATION).map(|value| value.to_str().expect("text").to_owned());
        Ok::<_, Infallible>(DescribeResponse { action: None, peer: None, user_agent: own })
    };
    let builder = || SoapService::builder().operation(describe);
    for (builder, is_seen) in [(builder(), true), (builder().authenticate(users()), false)] {
        let client = as_user("ada", "engine").build_with(builder.build().expect("a service")).expect("a client");
        let response: DescribeResponse = client.call_as(&Describe {}).await.expect("a response");
        assert_eq!(response.user_agent.is_some(), is_seen);
    }
}

#[tokio::test]
async fn a_header_of_the_call_goes_before_the_credentials_of_the_client() {
    let client = as_user("ada", "wrong").build_with(guarded()).expect("a client");
    let own = CallOptions::new().http_header(AUTHORIZATION, HeaderValue::from_static("Basic YWRhOmVuZ2luZQ=="));
    client.call_as_with::<EchoResponse>(&echo("x"), own).await.expect("a response");
    assert_eq!(status_of(client.call_as::<EchoResponse>(&echo("x")).await), 401);
}

#[tokio::test]
async fn basic_works_over_a_connection() {
    let (address, _handle) = serve(guarded()).await;
    let client = |password| {
        let credentials = Credentials::basic("ada", password).expect("credentials");
        Client::builder(format!("http://{address}/")).credentials(credentials).build().expect("a client")
    };
    client("engine").call_as::<EchoResponse>(&echo("x")).await.expect("a response");
    let long = echo(&"x".repeat(150_000));
    assert_eq!(status_of(client("wrong").call_as::<EchoResponse>(&long).await), 401);
}

#[tokio::test]
async fn hooks_see_requests_and_may_panic() {
    let hook = |request: &Parts, _: Option<SocketAddr>| match request.headers.get("x-user") {
        Some(user) if user == "panic" => panic!("asked for"),
        Some(user) => Ok(user.to_str().ok().map(Principal::new)),
        None => Err(Denial::forbidden()),
    };
    let echo_operation = async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request));
    let service = SoapService::builder().operation(echo_operation).authenticate(hook).build().expect("a service");
    let client = Client::with_service(URL, service).expect("a client");
    let call = async |user: Option<&'static str>| {
        let mut options = CallOptions::new();
        if let Some(user) = user {
            options = options.http_header("x-user".parse().expect("a name"), HeaderValue::from_static(user));
        }
        client.call_as_with::<EchoResponse>(&echo("x"), options).await
    };
    call(Some("ada")).await.expect("a response");
    assert_eq!(status_of(call(None).await), 403);
    assert_eq!(status_of(call(Some("panic")).await), 500);
}

/// Sends the same message for each user in turn over one connection; returns the number of messages
/// that were compared with an earlier one.
async fn compared(senders: &[(&str, &str)]) -> u64 {
    let (service, connection) = (guarded(), Connection::new());
    for (user, password) in senders {
        let (service, connection) = (service.clone(), connection.clone());
        let attach = tower::service_fn(move |mut request: Request<Body>| {
            request.extensions_mut().insert(connection.clone());
            service.clone().oneshot(request)
        });
        let client = as_user(user, password).build_with(attach).expect("a client");
        client.call_as::<EchoResponse>(&echo("the same")).await.expect("a response");
    }
    service.stats().snapshot().differential.compared
}

#[tokio::test]
async fn principals_share_no_memories() {
    let (ada, bob) = (("ada", "engine"), ("bob", "builder"));
    assert_eq!(compared(&[ada, ada]).await, 1);
    assert_eq!(compared(&[ada, bob]).await, 0);
    assert_eq!(compared(&[ada, bob, ada, bob]).await, 2);
}

#[test]
fn secrets_are_not_shown() {
    let builder = as_user("ada", "engine");
    let digest = Credentials::digest("ada", "engine").expect("credentials");
    let shown = format!("{builder:?} {digest:?} {:?}", users());
    assert!(!shown.contains("engine") && !shown.contains("YWRh"), "{shown}");
    assert!(Credentials::basic("a:b", "c").is_err());
    assert!(Credentials::digest("a", "b\r\n").is_err());
}

/// The test service with Digest authentication.
#[derive(Clone)]
struct DigestServer {
    service: SoapService,
    /// The challenge, without the nonce and `stale`.
    challenge: &'static str,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    /// The number in the currently valid nonce.
    nonce: u32,
    /// Number of nonces that are stale when their answers arrive.
    expiring: u32,
    /// Received values of `nc`, in order.
    counts: Vec<String>,
    /// Lengths of received bodies, in order.
    bodies: Vec<usize>,
}

impl DigestServer {
    fn new(challenge: &'static str) -> Self {
        DigestServer { service: service().0, challenge, seen: Arc::default() }
    }

    fn client(
        &self,
        password: &str,
    ) -> Client<
        impl tower::Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send> + Clone + use<>,
    > {
        let server = self.clone();
        let credentials = Credentials::digest("Mufasa", password).expect("credentials");
        let transport = tower::service_fn(move |request| server.clone().answer(request));
        Client::builder(URL).credentials(credentials).build_with(transport).expect("a client")
    }

    async fn answer(self, request: Request<Body>) -> Result<Response<Body>, Infallible> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        let is_stale = match self.check(&parts, body.len()) {
            Ok(()) => return self.service.oneshot(Request::from_parts(parts, Body::from(body))).await,
            Err(is_stale) => is_stale,
        };
        let nonce = self.seen.lock().expect("no panic").nonce;
        let mut response = Response::new(Body::default());
        *response.status_mut() = http::StatusCode::UNAUTHORIZED;
        for challenge in self.challenge.split('|') {
            let challenge = format!("{challenge}, nonce=\"n{nonce}\", stale={is_stale}");
            response.headers_mut().append(WWW_AUTHENTICATE, challenge.parse().expect("a value"));
        }
        Ok(response)
    }

    /// Checks the answer by RFC 7616, 3.4.1. The error is true if only the nonce is stale.
    fn check(&self, parts: &Parts, body: usize) -> Result<(), bool> {
        let mut seen = self.seen.lock().expect("no panic");
        seen.bodies.push(body);
        let header = parts.headers.get(AUTHORIZATION).ok_or(false)?.to_str().expect("text");
        let is_sha = header.contains("SHA-256");
        let h = |text: String| if is_sha { hex(&Sha256::digest(text)) } else { hex(&Md5::digest(text)) };
        let [realm, nonce, nc, cnonce, qop, uri, response] =
            ["realm", "nonce", "nc", "cnonce", "qop", "uri", "response"].map(|name| parameter(header, name));
        assert_eq!((realm.as_str(), qop.as_str(), uri.as_str()), ("lions", "auth", "/test?a=b"));
        let (secret, request) = (h(format!("Mufasa:{realm}:{PASSWORD}")), h(format!("POST:{uri}")));
        if response != h(format!("{secret}:{nonce}:{nc}:{cnonce}:{qop}:{request}")) {
            return Err(false);
        }
        if nonce != format!("n{}", seen.nonce) {
            return Err(true);
        }
        if seen.expiring > 0 {
            (seen.expiring, seen.nonce) = (seen.expiring - 1, seen.nonce + 1);
            return Err(true);
        }
        seen.counts.push(nc);
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a parameter of a header, in quotes or without.
fn parameter(header: &str, name: &str) -> String {
    let fields = header.split_once(' ').expect("a scheme").1.split(", ");
    let mut pairs = fields.filter_map(|field| field.split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value.trim_matches('"').to_owned()).expect("the parameter")
}

const MD5: &str = "Digest realm=\"lions\", qop=\"auth\", algorithm=MD5";
const BOTH: &str = "Basic realm=\"lions\"|Digest realm=\"lions\", qop=\"auth\"|\
    Digest realm=\"lions\", qop=\"auth,auth-int\", algorithm=SHA-256";

#[tokio::test]
async fn digest_answers_challenges_and_counts() {
    let small = "Digest realm=\"lions\", qop=\"auth\", algorithm=sha-256";
    for challenge in [MD5, BOTH, small] {
        let server = DigestServer::new(challenge);
        let client = server.client(PASSWORD);
        for _ in 0..3 {
            client.call_as::<EchoResponse>(&echo("x")).await.expect("a response");
        }
        let seen = server.seen.lock().expect("no panic");
        assert_eq!(seen.counts, ["00000001", "00000002", "00000003"]);
        assert_eq!(seen.bodies.len(), 4, "one challenge for all");
    }
}

#[tokio::test]
async fn digest_renews_stale_nonces() {
    let server = DigestServer::new(BOTH);
    let client = server.client(PASSWORD);
    for nonce in 0..3 {
        server.seen.lock().expect("no panic").nonce = nonce;
        client.call_as::<EchoResponse>(&echo("x")).await.expect("a response");
    }
    assert_eq!(server.seen.lock().expect("no panic").counts, ["00000001"; 3]);
}

#[tokio::test]
async fn a_nonce_may_be_stale_at_once() {
    let answer = async |expiring: u32| {
        let server = DigestServer::new(BOTH);
        server.seen.lock().expect("no panic").expiring = expiring;
        let answer = server.client(PASSWORD).call_as::<EchoResponse>(&echo("x")).await;
        let bodies = server.seen.lock().expect("no panic").bodies.len();
        (answer, bodies)
    };
    let (answered, bodies) = answer(1).await;
    assert_eq!((answered.is_ok(), bodies), (true, 3));
    // A client that is never in time gives up.
    let (refused, bodies) = answer(9).await;
    assert_eq!((status_of(refused), bodies), (401, 3));
}

#[tokio::test]
async fn digest_gives_up_on_wrong_passwords() {
    let server = DigestServer::new(MD5);
    let client = server.client("wrong");
    assert_eq!(status_of(client.call_as::<EchoResponse>(&echo("x")).await), 401);
    assert_eq!(server.seen.lock().expect("no panic").bodies.len(), 2);
}

#[tokio::test]
async fn digest_answers_no_weaker_challenge() {
    for weak in ["Basic realm=\"lions\"", "Digest realm=\"lions\""] {
        let server = DigestServer::new(weak);
        assert_eq!(status_of(server.client(PASSWORD).call_as::<EchoResponse>(&echo("x")).await), 401);
        assert_eq!(server.seen.lock().expect("no panic").bodies.len(), 1, "{weak}");
    }
}

/// A list that is written while it is sent.
#[derive(deltasoap::Soap)]
#[soap(namespace = "urn:test", name = "Echo", message, response = EchoResponse)]
struct Overlaid {
    text: String,
    numbers: Streamed<i32>,
}

#[tokio::test]
async fn digest_asks_first_where_a_body_can_be_sent_once() {
    let server = DigestServer::new(MD5);
    let client = server.client(PASSWORD);
    for _ in 0..2 {
        let request = Overlaid { text: "x".to_owned(), numbers: Streamed::default() };
        let response: EchoResponse = client.call_overlaid(&request, [1, 2]).await.expect("a response");
        assert_eq!(response.numbers, [1, 2]);
    }
    let seen = server.seen.lock().expect("no panic");
    assert_eq!(seen.bodies[0], 0, "nothing but the question");
    assert_eq!((seen.bodies.len(), seen.counts.len()), (3, 2));
}

//! Differential serialization over HTTP: messages equal those written in full, whatever was sent
//! before and whoever still reads it; and the statistics.

use crate::common::*;
use bytes::Bytes;
use deltasoap::client::{CallOptions, SharedTemplates};
use deltasoap::engine::{EncodeStats, Templating};
use deltasoap::schema::Use;
use deltasoap::server::{Connection, MemoryBounds, Principal, Sharing, SoapServiceBuilder};
use deltasoap::soap::{Envelope, HeaderBlock, Version};
use deltasoap::transport::Body;
use deltasoap::{Client, Fault, Lease, SoapService};
use http::{Request, Response};
use http_body::Body as _;
use http_body_util::{BodyExt, Full};
use proptest::prelude::*;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tower::ServiceExt;

/// Small chunks, so that messages have many.
const SMALL: Templating = Templating {
    templates: 4,
    chunk: 256,
    split: 512,
    reserve: 16,
    width: deltasoap::engine::Width::Exact,
    adaptive: false,
    bytes: 1 << 20,
};

fn builder() -> SoapServiceBuilder {
    let handler = async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request));
    SoapService::builder().name("Writing").operation(handler).operation(fail)
}

async fn fail(_: Lease<Fail>) -> Result<EchoResponse, Fault> {
    Err(Fault::sender("asked for"))
}

fn build(builder: SoapServiceBuilder) -> SoapService {
    builder.build().expect("a service")
}

fn encode(service: &SoapService) -> EncodeStats {
    service.stats().snapshot().encode
}

/// Returns the number of messages by match kind: content, perfect, partial, first.
fn kinds(stats: EncodeStats) -> [u64; 4] {
    [stats.content, stats.perfect, stats.partial, stats.first]
}

/// Returns a message that is long enough to be remembered.
fn long(last: i32) -> Echo {
    Echo { text: "a text".to_owned(), numbers: (0..500).chain([last]).collect() }
}

/// Returns a request of a connection, for `echo`, or for a principal.
fn request(connection: &Connection, echo: &Echo) -> Request<Full<Bytes>> {
    let body = message(Version::Soap11, &[], echo);
    let request = Request::post("/").header("content-type", "text/xml").extension(connection.clone());
    request.body(Full::from(body)).expect("a request")
}

fn under(mut request: Request<Full<Bytes>>, principal: &str) -> Request<Full<Bytes>> {
    request.extensions_mut().insert(Principal::new(principal));
    request
}

async fn ask(service: &SoapService, request: Request<Full<Bytes>>) -> Response<Body> {
    service.clone().oneshot(request).await.expect("infallible")
}

async fn text(response: Response<Body>) -> String {
    let bytes = response.into_body().collect().await.expect("a body").to_bytes();
    String::from_utf8(bytes.into()).expect("UTF-8")
}

/// Returns the response to a request, written in full.
fn in_full(echo: &Echo) -> String {
    message(Version::Soap11, &[], &echoed(echo))
}

#[tokio::test]
async fn responses_of_a_connection_match() {
    let service = build(builder());
    let connection = Connection::new();
    let longer = Echo { numbers: (0..600).collect(), ..long(1) };
    let steps = [
        (long(100), [0, 0, 0, 1]),
        (long(100), [1, 0, 0, 1]),
        (long(200), [1, 1, 0, 1]),
        (longer.clone(), [1, 1, 1, 1]),
        (longer, [2, 1, 1, 1]),
    ];
    for (echo, expected) in steps {
        assert_eq!(text(ask(&service, request(&connection, &echo)).await).await, in_full(&echo));
        let stats = encode(&service);
        assert_eq!(kinds(stats), expected, "{stats:?}");
    }
    let snapshot = service.stats().snapshot();
    assert_eq!(snapshot.encode.bytes, snapshot.bytes_out);
    assert!(snapshot.encode.written < snapshot.bytes_out / 2 && snapshot.template_memory > 0, "{snapshot:?}");
    drop(connection);
    assert_eq!(service.stats().snapshot().template_memory, 0);
}

#[tokio::test]
async fn connections_and_principals_do_not_share_and_operations_do() {
    let service = build(builder());
    let (one, two) = (Connection::new(), Connection::new());
    for (connection, principal, contents) in [
        (&one, None, 0),
        (&two, None, 0),
        (&one, None, 1),
        (&one, Some("ada"), 1),
        (&one, Some("bob"), 1),
        (&one, Some("ada"), 2),
    ] {
        let request = principal.into_iter().fold(request(connection, &long(1)), under);
        assert_eq!(text(ask(&service, request).await).await, in_full(&long(1)));
        assert_eq!(encode(&service).content, contents, "{principal:?}");
    }

    let service = build(builder().sharing(Sharing::Operation));
    for contents in 0..4 {
        text(ask(&service, request(&Connection::new(), &long(1))).await).await;
        assert_eq!(encode(&service).content, contents);
    }
}

#[tokio::test]
async fn what_is_being_sent_stays_as_it_is() {
    let service = build(builder().templating(SMALL));
    let (one, two) = (Connection::new(), Connection::new());
    let mut sent = Vec::new();
    for number in 0..20 {
        let connection = if number % 3 == 0 { &two } else { &one };
        let echo = Echo { numbers: (number..400 + 7 * number).collect(), ..long(0) };
        let response = ask(&service, under(request(connection, &echo), "ada")).await;
        sent.push((response, in_full(&echo)));
    }
    for (response, expected) in sent.into_iter().rev() {
        assert_eq!(text(response).await, expected);
    }
}

#[tokio::test]
async fn a_slow_reader_gets_its_own_message() {
    let service = build(builder().templating(SMALL));
    let (address, _handle) = serve(service.clone()).await;
    let large = |first| Echo { text: "x".repeat(10_000), numbers: (first..first + 10_000).collect() };
    let head = |body: &str| {
        let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: ";
        format!("{head}{}\r\n\r\n", body.len())
    };
    // All are sent before any is read to its end, so responses wait in the server, frame by frame.
    let mut streams = Vec::new();
    for connection in 0..3 {
        let (mut reader, mut writer) = TcpStream::connect(address).await.expect("a connection").into_split();
        let bodies = [0, 1, 100_000].map(|number| message(Version::Soap11, &[], &large(connection + number)));
        let requests: String = bodies.iter().map(|body| head(body) + body).collect();
        let sending = tokio::spawn(async move {
            writer.write_all(requests.as_bytes()).await.expect("sent");
            writer
        });
        reader.read_exact(&mut [0]).await.expect("an answer begins");
        streams.push((connection, reader, sending));
    }
    for (connection, mut reader, sending) in streams {
        for number in [0, 1, 100_000] {
            let skipped = usize::from(number == 0);
            assert_eq!(body(&mut reader, skipped).await, in_full(&large(connection + number)));
        }
        drop(sending.await.expect("no panic"));
    }
}

/// Returns the body of the next response, of which `skipped` bytes were read already.
async fn body(stream: &mut (impl AsyncRead + Unpin), skipped: usize) -> String {
    let mut head = vec![b'H'; skipped];
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("a head"));
    }
    let head = String::from_utf8(head).expect("text").to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
    let mut body = vec![0; length.parse().expect("a number")];
    stream.read_exact(&mut body).await.expect("a body");
    String::from_utf8(body).expect("UTF-8")
}

#[tokio::test]
async fn the_length_is_exact_in_http_1_0_too() {
    let service = build(builder().templating(SMALL));
    let (address, _handle) = serve(service.clone()).await;
    for version in ["1.0", "1.1"] {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        for number in 0..3 {
            let body = message(Version::Soap11, &[], &long(number));
            let keep = if number < 2 { "keep-alive" } else { "close" };
            let head = format!("POST / HTTP/{version}\r\nHost: h\r\nConnection: {keep}\r\nContent-Type: text/xml\r\n");
            let request = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
            stream.write_all(request.as_bytes()).await.expect("sent");
            assert_eq!(self::body(&mut stream, 0).await, in_full(&long(number)), "HTTP/{version}");
        }
        assert_eq!(stream.read(&mut [0]).await.expect("an end"), 0);
    }
    assert_eq!(encode(&service).first, 2, "one a connection");
}

#[tokio::test]
async fn requests_of_a_client_match() {
    let service = build(builder());
    let (address, _handle) = serve(service.clone()).await;
    let client = Client::new(format!("http://{address}/")).expect("a client");
    let longer = Echo { numbers: (0..600).collect(), ..long(1) };
    for echo in [long(100), long(100), long(200), longer, long(100)] {
        assert_eq!(client.call_as::<EchoResponse>(&echo).await.expect("a response"), echoed(&echo));
    }
    let stats = client.clone().encode_stats();
    assert_eq!((stats.messages, stats.first), (5, 1), "{stats:?}");
    assert!(stats.content >= 1 && stats.written < stats.bytes / 2, "{stats:?}");
    assert_eq!(service.stats().snapshot().bytes_in, stats.bytes);
    assert_eq!(encode(&service).messages, 5);
}

/// A client transport that records what it sends, and gets no answer.
#[derive(Clone, Default)]
struct Noting(Arc<Mutex<Vec<Body>>>);

impl tower::Service<Request<Body>> for Noting {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.0.lock().expect("not poisoned").push(request.into_body());
        std::future::ready(Ok(Response::new(Body::default())))
    }
}

impl Noting {
    /// Returns the sent messages, which are only read now.
    async fn texts(&self) -> Vec<String> {
        let bodies = std::mem::take(&mut *self.0.lock().expect("not poisoned"));
        let mut texts = Vec::new();
        for body in bodies {
            texts.push(text(Response::new(body)).await);
        }
        texts
    }
}

#[tokio::test]
async fn requests_still_being_sent_stay_as_they_are() {
    let noting = Noting::default();
    let client = Client::builder("http://localhost/").templating(SMALL).build_with(noting.clone()).expect("a client");
    let echoes: Vec<_> =
        (0..30).map(|number| Echo { numbers: (0..20 * (number % 7)).collect(), ..echo("x") }).collect();
    for echo in &echoes {
        client.send(echo).await.expect("accepted");
    }
    let expected: Vec<_> = echoes.iter().map(|echo| message(Version::Soap11, &[], echo)).collect();
    assert_eq!(noting.texts().await, expected);
}

#[tokio::test]
async fn every_setting_of_a_call_is_written() {
    let noting = Noting::default();
    let client = Client::with_service("http://localhost/", noting.clone()).expect("a client");
    let ticket = |number| HeaderBlock::from_message(&Ticket { number }).expect("a block");
    for _ in 0..2 {
        client.send_with(&long(1), CallOptions::new().header(ticket(1))).await.expect("accepted");
        client.send_with(&long(1), CallOptions::new().header(ticket(22))).await.expect("accepted");
        client.send_with(&long(1), CallOptions::new().encoding(Use::Encoded)).await.expect("accepted");
        client.send_with(&long(1), CallOptions::new().templates(false)).await.expect("accepted");
    }
    let in_full = |encoding, headers: &[HeaderBlock]| {
        let message = Envelope::new(&long(1)).encoding(encoding).headers(headers).to_vec().expect("a message");
        String::from_utf8(message).expect("UTF-8")
    };
    let expected = [
        in_full(Use::Literal, &[ticket(1)]),
        in_full(Use::Literal, &[ticket(22)]),
        in_full(Use::Encoded, &[]),
        in_full(Use::Literal, &[]),
    ];
    assert_eq!(noting.texts().await, expected.iter().chain(&expected).cloned().collect::<Vec<_>>());
    let stats = client.encode_stats();
    assert_eq!(stats.messages, 8);
    assert!(stats.first >= 4, "two kinds, and two by themselves: {stats:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_at_one_time_each_get_their_own_answer() {
    let service = build(builder().sharing(Sharing::Operation).templating(SMALL));
    let (address, _handle) = serve(service.clone()).await;
    let client = Client::builder(format!("http://{address}/")).templating(SMALL).build().expect("a client");
    let calls = (0..20).map(|number| {
        let client = client.clone();
        tokio::spawn(async move {
            for round in 0..5 {
                let echo = Echo { numbers: (number..300 + number * round).collect(), ..long(0) };
                assert_eq!(client.call_as::<EchoResponse>(&echo).await.expect("a response"), echoed(&echo));
            }
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.expect("no panic");
    }
    assert_eq!((client.encode_stats().messages, encode(&service).messages), (100, 100));
}

#[tokio::test]
async fn destinations_share_what_was_sent() {
    let templates = SharedTemplates::default();
    let clients = ["http://a/", "http://b/"].map(|url| {
        let noting = Noting::default();
        let builder = Client::builder(url).templates(templates.clone());
        (builder.build_with(noting.clone()).expect("a client"), noting)
    });
    for (client, noting) in &clients {
        client.send(&long(1)).await.expect("accepted");
        assert_eq!(noting.texts().await, [message(Version::Soap11, &[], &long(1))]);
    }
    let [a, b] = clients.each_ref().map(|(client, _)| client.encode_stats());
    assert_eq!((kinds(a), kinds(b)), ([0, 0, 0, 1], [1, 0, 0, 0]), "the second is written upon the first");
    for number in 0..6 {
        let (client, noting) = &clients[number % 2];
        client.send(&long(number as i32)).await.expect("accepted");
        assert_eq!(noting.texts().await, [message(Version::Soap11, &[], &long(number as i32))]);
    }
    assert!(templates.memory() > 0);
}

/// Returns a message whose array fills small chunks.
fn several_chunks() -> Echo {
    Echo { numbers: (0..500).collect(), ..echo("x") }
}

#[tokio::test]
async fn requests_of_different_operations_share_arrays() {
    let noting = Noting::default();
    let builder = Client::builder("http://localhost/").templating(SMALL);
    let client = builder.build_with(noting.clone()).expect("a client");
    client.send(&several_chunks()).await.expect("accepted");
    assert_eq!(client.encode_stats().shared, 0);
    client.send(&echoed(&several_chunks())).await.expect("accepted");
    assert!(client.encode_stats().shared > 10, "{:?}", client.encode_stats());
    let mut other = several_chunks();
    other.numbers[100] = -1;
    client.send(&other).await.expect("accepted");
    client.send(&echoed(&several_chunks())).await.expect("accepted");
    let echoed = message(Version::Soap11, &[], &echoed(&several_chunks()));
    let [first, changed] = [several_chunks(), other].map(|echo| message(Version::Soap11, &[], &echo));
    assert_eq!(noting.texts().await, [first, echoed.clone(), changed, echoed]);
}

/// Two operations that answer with the same array.
fn two_operations() -> SoapServiceBuilder {
    let echo = async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request));
    let describe = async |_: Lease<Describe>| Ok::<_, Infallible>(several_chunks());
    SoapService::builder().templating(SMALL).operation(echo).operation(describe)
}

/// Calls one operation, then the other, perhaps on another connection; returns the number of chunks
/// that the second answer shares with the first.
async fn shared(service: &SoapService, connections: [&Connection; 2], principals: [Option<&str>; 2]) -> u64 {
    let before = encode(service);
    let first = principals[0].into_iter().fold(request(connections[0], &several_chunks()), under);
    assert_eq!(text(ask(service, first).await).await, in_full(&several_chunks()));
    let body = Full::from(message(Version::Soap11, &[], &Describe {}));
    let second = Request::post("/").header("content-type", "text/xml").extension(connections[1].clone()).body(body);
    let second = principals[1].into_iter().fold(second.expect("a request"), under);
    assert_eq!(text(ask(service, second).await).await, message(Version::Soap11, &[], &several_chunks()));
    encode(service).shared - before.shared
}

#[tokio::test]
async fn responses_of_different_operations_share_arrays_where_nobody_else_can_tell() {
    let service = build(two_operations());
    let new = || Connection::new();
    let (one, two) = (new(), new());
    assert_eq!(shared(&service, [&one, &two], [None, None]).await, 0, "two connections");
    assert_eq!(shared(&service, [&one, &two], [Some("ada"), Some("bob")]).await, 0, "nor two principals on them");
    let both = new();
    assert_eq!(shared(&service, [&both, &both], [Some("eve"), Some("fay")]).await, 0, "nor two on one");
    assert_ne!(shared(&service, [&both, &both], [Some("guy"), Some("guy")]).await, 0, "one principal");
    let both = new();
    assert_ne!(shared(&service, [&both, &both], [None, None]).await, 0, "one connection");
    let service = build(two_operations().sharing(Sharing::Operation));
    assert_eq!(shared(&service, [&one, &one], [None, None]).await, 0, "those of an operation are among its own");
}

#[tokio::test]
async fn a_store_keeps_no_more_than_it_is_told() {
    for (sets, bytes) in [(0, usize::MAX), (usize::MAX, 0)] {
        let templates = SharedTemplates::new(sets, bytes);
        let builder = Client::builder("http://localhost/").templates(templates.clone());
        let client = builder.build_with(Noting::default()).expect("a client");
        for _ in 0..3 {
            client.send(&long(1)).await.expect("accepted");
        }
        assert_eq!((templates.memory(), client.encode_stats().first), (0, 3));
    }
}

#[tokio::test]
async fn a_service_keeps_no_more_than_it_is_told() {
    let bounds = MemoryBounds { total_bytes: 100_000, ..MemoryBounds::default() };
    let service = build(builder().memory_bounds(bounds));
    let connections: Vec<_> = (0..40).map(|_| Connection::new()).collect();
    for connection in &connections {
        text(ask(&service, request(connection, &long(1))).await).await;
        assert!(service.stats().snapshot().template_memory <= 100_000);
    }
    let stats = service.stats().snapshot();
    assert!(stats.template_evictions > 0 && stats.template_memory > 0, "{stats:?}");
}

#[tokio::test]
async fn nothing_is_kept_where_it_is_off() {
    let service = build(builder().templating(Templating::OFF).sharing(Sharing::Operation));
    let client = Client::builder("http://localhost/").templating(Templating::OFF);
    let client = client.build_with(service.clone()).expect("a client");
    for _ in 0..3 {
        assert_eq!(client.call_as::<EchoResponse>(&long(1)).await.expect("a response"), echoed(&long(1)));
    }
    assert_eq!(kinds(client.encode_stats()), [0, 0, 0, 3]);
    let snapshot = service.stats().snapshot();
    assert_eq!((kinds(snapshot.encode), snapshot.template_memory), ([0, 0, 0, 3], 0));
    assert_eq!(snapshot.encode.written, snapshot.bytes_out);
}

#[tokio::test]
async fn small_responses_and_faults_are_not_remembered() {
    let service = build(builder());
    let connection = Connection::new();
    for _ in 0..3 {
        assert_eq!(text(ask(&service, request(&connection, &echo("small"))).await).await, in_full(&echo("small")));
        let body = message(Version::Soap11, &[], &Fail { how: String::new() });
        let fault = Request::post("/").header("content-type", "text/xml").extension(connection.clone());
        let fault = ask(&service, fault.body(Full::from(body)).expect("a request")).await;
        assert!(fault.body().size_hint().exact().is_some() && text(fault).await.contains("asked for"));
    }
    let snapshot = service.stats().snapshot();
    assert_eq!((kinds(snapshot.encode), snapshot.template_memory, snapshot.faults), ([0, 0, 0, 3], 0, 3));
}

#[tokio::test]
async fn small_requests_are_not_remembered() {
    let (noting, templates) = (Noting::default(), SharedTemplates::default());
    let client = Client::builder("http://localhost/").templates(templates.clone()).build_with(noting.clone());
    let client = client.expect("a client");
    for _ in 0..3 {
        client.send(&echo("small")).await.expect("accepted");
    }
    assert_eq!(noting.texts().await, vec![message(Version::Soap11, &[], &echo("small")); 3]);
    assert_eq!((kinds(client.encode_stats()), templates.memory()), ([0, 0, 0, 3], 0));
}

#[tokio::test]
async fn the_page_tells_how_responses_matched() {
    let service = build(builder());
    let connection = Connection::new();
    for _ in 0..3 {
        text(ask(&service, request(&connection, &long(1))).await).await;
    }
    let page = text(ask(&service, Request::get("/").body(Full::default()).expect("a request")).await).await;
    let row = page.split("<tr>").filter(|row| row.contains("title=\"{urn:test}Echo\"")).last().expect("a row");
    let EncodeStats { bytes, written, .. } = encode(&service);
    assert_eq!(bytes, 3 * in_full(&long(1)).len() as u64);
    let cells = format!("<td>3</td><td>2</td><td>0</td><td>0</td><td>1</td><td>{bytes}</td><td>{written}</td>");
    assert!(row.contains(&cells), "{row}");
    assert_eq!(
        service.stats().responses().map(|(name, stats)| (&*name.local, stats.messages)).next(),
        Some(("Echo", 3))
    );
}

#[tokio::test]
async fn metrics_tell_how_responses_matched() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let service = metrics::with_local_recorder(&recorder, || build(builder()));
    let connection = Connection::new();
    for _ in 0..3 {
        text(ask(&service, request(&connection, &long(1))).await).await;
    }
    let (text, EncodeStats { bytes, written, .. }) = (handle.render(), encode(&service));
    assert!(0 < written && written < bytes / 2, "{written} of {bytes}");
    let labels = r#"service="Writing",operation="{urn:test}Echo""#;
    for line in [
        format!(r#"deltasoap_encode_messages_total{{{labels},match="content"}} 2"#),
        format!(r#"deltasoap_encode_messages_total{{{labels},match="first"}} 1"#),
        format!("deltasoap_encode_bytes_total{{{labels}}} {bytes}"),
        format!("deltasoap_encode_written_bytes_total{{{labels}}} {written}"),
        r#"deltasoap_encode_memory_bytes{service="Writing"}"#.to_owned(),
    ] {
        assert!(text.contains(&line), "{line} in {text}");
    }
}

/// A request of one of three connections; the flag determines whether its answer is read at once or
/// at the end.
type Step = (usize, Vec<i32>, String, bool);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any order of requests, and however long answers are held: each is what a service without
    /// templates gives.
    #[test]
    fn every_response_is_what_writing_in_full_gives(
        steps in proptest::collection::vec(
            (0..3_usize, proptest::collection::vec(any::<i32>(), 0..400), "[a-z<&]{0,30}", any::<bool>()), 1..20),
        by_operation: bool,
    ) {
        let sharing = if by_operation { Sharing::Operation } else { Sharing::Principal };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(exchange(build(builder().templating(SMALL).sharing(sharing)), steps))?;
    }
}

async fn exchange(service: SoapService, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let connections: Vec<_> = (0..3).map(|_| Connection::new()).collect();
    let mut held = Vec::new();
    for (connection, numbers, text, is_held) in steps {
        let echo = Echo { text, numbers };
        let response = ask(&service, request(&connections[connection], &echo)).await;
        if is_held {
            held.push((response, in_full(&echo)));
        } else {
            prop_assert_eq!(self::text(response).await, in_full(&echo));
        }
    }
    for (response, expected) in held {
        prop_assert_eq!(text(response).await, expected);
    }
    Ok(())
}

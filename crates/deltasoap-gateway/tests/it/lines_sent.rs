//! Requests in JSON lines: what the service gets, when, and what happens if a line is wrong.

use crate::{Got, get, got, post, send, shop};
use bytes::Bytes;
use deltasoap_core::soap::Fault;
use deltasoap_dynamic::{Contract, Mock};
use deltasoap_gateway::{Backend, Config, Gateway, ResponseBody};
use deltasoap_http::{Body, BoxError, CallOptions, Server};
use deltasoap_wsdl::Importer;
use futures_util::{StreamExt as _, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use serde_json::{Value as Json, json};
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tower::ServiceExt;

const PLAIN: &str = "[[service]]\nwsdl = \"s\"\n";

fn lab() -> Contract {
    Contract::from_text(include_str!("../../../deltasoap-dynamic/tests/data/lab.wsdl")).expect("a description")
}

fn bench() -> Contract {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/wsdl/bench.wsdl");
    Contract::from(Importer::new().offline().trust_tree().import(path).expect("a WSDL"))
}

fn gateway_to<S, B>(contract: Contract, config: &str, service: S) -> Gateway
where
    S: tower::Service<Request<Body>, Response = Response<B>, Error: Into<BoxError>, Future: Send>,
    S: Clone + Send + Sync + 'static,
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let config = Config::parse(config).unwrap_or_else(|error| panic!("{error}"));
    Gateway::new(&config, vec![Backend::new(contract).transport(service)]).unwrap_or_else(|error| panic!("{error}"))
}

/// The bodies of the requests that a service got, up to their end or their error.
type Bodies = Arc<Mutex<Vec<Result<String, String>>>>;

/// Returns a gateway to a service that answers with a fault, and what it gets.
fn recording(contract: Contract, config: &str) -> (Gateway, Bodies) {
    let bodies = Bodies::default();
    let seen = Arc::clone(&bodies);
    let service = tower::service_fn(move |request: Request<Body>| {
        let seen = Arc::clone(&seen);
        async move {
            let body = request.into_body().collect().await;
            let body = body.map(|body| String::from_utf8_lossy(&body.to_bytes()).into_owned());
            let body = body.map_err(|error| error.to_string());
            let result = body.clone().map_err(BoxError::from);
            seen.lock().expect("a lock").push(body);
            result.map(|_| fault())
        }
    });
    (gateway_to(contract, config, service), bodies)
}

fn fault() -> Response<Full<Bytes>> {
    let text = "<S:Envelope xmlns:S=\"http://schemas.xmlsoap.org/soap/envelope/\"><S:Body><S:Fault><faultcode>S:Client</faultcode>\
                <faultstring>seen</faultstring></S:Fault></S:Body></S:Envelope>";
    Response::builder().status(500).header("content-type", "text/xml").body(Full::from(text)).expect("a response")
}

fn request<B>(path: &str, body: B) -> Request<B> {
    let request = Request::post(path).header("content-type", "application/jsonl");
    request.body(body).expect("a request")
}

async fn lines(gateway: &Gateway, path: &str, text: &str) -> Got {
    send(gateway, request(path, Full::from(text.to_owned()))).await
}

/// A body whose frames come from a channel.
fn channel() -> (mpsc::Sender<Result<Bytes, BoxError>>, impl http_body::Body<Data = Bytes, Error = BoxError> + Send) {
    let (sender, receiver) = mpsc::channel::<Result<Bytes, BoxError>>(1);
    let frames =
        stream::unfold(
            receiver,
            |mut receiver| async move { Some((receiver.recv().await?.map(Frame::data), receiver)) },
        );
    (sender, StreamBody::new(frames))
}

async fn answer<B>(gateway: &Gateway, request: Request<B>) -> Response<ResponseBody>
where
    B: http_body::Body<Data = Bytes, Error = BoxError> + Send + 'static,
{
    let Ok(response) = gateway.clone().oneshot(request).await;
    response
}

const REPORT: &str = r#"{"station": "north", "checked": true}"#;

#[tokio::test]
async fn the_service_gets_the_same_message_as_ever() {
    let items: Vec<_> = (0..3000).map(|n| json!({ "code": format!("A-{n}"), "count": n + 1, "@id": "a" })).collect();
    let choices = (0..3000).map(|n| if n % 2 == 0 { json!({ "gift": "g&" }) } else { json!({ "coupon": n }) });
    let choices: Vec<_> = choices.collect();
    let order = json!({ "customer": "Ada", "item": [{ "code": "B-1", "count": 1 }], "pickup": "2026-01-02" });
    let ints: Vec<_> = (0..20_000).map(|n| json!(n)).collect();
    let levels: Vec<_> = (0..5000).map(|n| json!(f64::from(n) / 3.0)).collect();
    let cases = [
        (shop(), "Order", "?items=item", "item", items, order.clone()),
        (shop(), "Order", "?items=$choice", "$choice", choices, order),
        (lab(), "Report", "", "level", levels, json!({ "station": "n", "checked": true })),
        (bench(), "echoInts", "?items=item", "item", ints, json!({})),
    ];
    for (contract, operation, query, key, items, mut rest) in cases {
        let (gateway, bodies) = recording(contract, PLAIN);
        let mut whole = rest.clone();
        rest.as_object_mut().expect("an object").remove(key);
        whole[key] = json!(items);
        post(&gateway, &format!("/operations/{operation}"), &whole.to_string()).await.problem(400, "fault");
        let lined: String = std::iter::once(&rest).chain(&items).map(|json| format!("{json}\n")).collect();
        lines(&gateway, &format!("/operations/{operation}{query}"), &lined).await.problem(400, "fault");
        let bodies = bodies.lock().expect("a lock");
        assert!(bodies[0].as_ref().expect("a request").len() > 50_000 && bodies[0] == bodies[1], "{operation}");
    }
}

/// Blank lines, other ends of lines, no end of the last line, and no lines at all.
#[tokio::test]
async fn lines_may_end_and_be_missing_as_they_like() {
    let (gateway, bodies) = recording(lab(), PLAIN);
    let path = "/operations/Report";
    let whole = r#"{"station": "north", "checked": true, "level": [1, 2]}"#;
    post(&gateway, path, whole).await.problem(400, "fault");
    for text in [
        format!("{REPORT}\n1\n2\n"),
        format!("\n{REPORT}\r\n\r\n1\r\n  2  "),
        format!("{REPORT}\n1\n2"),
        format!("{{\"level\": [], {}\n1\n \n2\n\n", &REPORT[1..]),
    ] {
        lines(&gateway, path, &text).await.problem(400, "fault");
        let bodies = bodies.lock().expect("a lock");
        assert_eq!(bodies.first(), bodies.last(), "{text}");
    }
    bodies.lock().expect("a lock").clear();
    post(&gateway, path, REPORT).await.problem(400, "fault");
    lines(&gateway, path, &format!("{REPORT}\n\n")).await.problem(400, "fault");
    {
        let bodies = bodies.lock().expect("a lock");
        assert_eq!(bodies.first(), bodies.last());
    }
    // An empty body is an empty request.
    let (gateway, bodies) = recording(bench(), PLAIN);
    post(&gateway, "/operations/echoInts", "{}").await.problem(400, "fault");
    lines(&gateway, "/operations/echoInts", "").await.problem(400, "fault");
    lines(&gateway, "/operations/echoInts", "{}").await.problem(400, "fault");
    lines(&crate::plain(), "/operations/Order?items=item", "").await.problem(422, "invalid");
    let bodies = bodies.lock().expect("a lock");
    assert!(bodies.iter().all(|body| *body == bodies[0]) && bodies.len() == 3);
}

/// A contract, a path and a body; status, kind, line and pointer of the problem.
type Case<'c> = (fn() -> Contract, &'c str, &'c str, u16, &'c str, Option<u64>, Option<&'c str>);

#[tokio::test]
async fn what_is_wrong_before_the_first_item_is_told_before_the_call() {
    let report = "/operations/Report";
    let order = "/operations/Order?items=item";
    let long = format!("{REPORT}\n{}\n", "1".repeat(5000));
    let cases: &[Case<'_>] = &[
        (lab, report, "{", 400, "malformed", Some(1), None),
        (lab, report, "\n\n{\"a\": 1, \"a\": 2}", 400, "malformed", Some(3), None),
        (lab, report, "\u{0}", 400, "malformed", Some(1), None),
        (lab, report, "{\"station\": \"n\"}\n1\n", 422, "invalid", Some(1), Some("/checked")),
        (lab, report, "[]\n1\n", 422, "invalid", Some(1), Some("")),
        (lab, report, "7\n1\n", 422, "invalid", Some(1), Some("")),
        (
            lab,
            report,
            "{\"station\": \"n\", \"checked\": true, \"level\": [1]}\n1\n",
            422,
            "invalid",
            Some(1),
            Some("/level"),
        ),
        (
            lab,
            report,
            "{\"station\": \"n\", \"checked\": true, \"level\": null}\n1\n",
            422,
            "invalid",
            Some(1),
            Some("/level"),
        ),
        (lab, report, "{\"station\": \"n\", \"checked\": true}\n\n\"x\"\n", 422, "invalid", Some(3), Some("/level/0")),
        (lab, report, "{\"station\": \"n\", \"checked\": true}\n1 2\n", 400, "malformed", Some(2), None),
        (lab, report, &long, 413, "too-large", Some(2), None),
        (lab, "/operations/Report?items=station", "{}", 415, "no-list", None, None),
        (lab, "/operations/Report?items=level&items=level", "{}", 400, "parameter", None, None),
        (lab, "/operations/Measure", "{\"count\": 1}", 415, "no-list", None, None),
        (shop, "/operations/Order", "{}", 415, "no-list", None, None),
        (shop, order, "{\"customer\": \"A\"}\n", 422, "invalid", Some(1), Some("/item")),
        (shop, order, "{\"customer\": \"A\"}\n{\"code\": \"A-1\"}\n", 422, "invalid", Some(2), Some("/item/0/count")),
        (
            shop,
            "/operations/Order?items=$choice",
            "{\"customer\": \"A\"}\n{\"gift\": \"g\"}\n",
            422,
            "invalid",
            Some(1),
            Some("/item"),
        ),
    ];
    for (contract, path, text, status, kind, line, pointer) in cases {
        let config = format!("limits.request_bytes = 4096\n{PLAIN}");
        let (gateway, bodies) = recording(contract(), &config);
        let problem = lines(&gateway, path, text).await.problem(*status, kind);
        assert_eq!(problem.get("line").and_then(Json::as_u64), *line, "{text}: {problem}");
        assert_eq!(problem.get("pointer").and_then(Json::as_str), *pointer, "{text}: {problem}");
        assert!(bodies.lock().expect("a lock").is_empty(), "{text}");
    }
}

/// As many items as the schema requires are there before the call, and not more than it allows.
#[tokio::test]
async fn the_number_of_items_is_bounded() {
    let text = include_str!("../../../deltasoap-dynamic/tests/data/lab.wsdl");
    let (any, some) =
        ("\"xs:double\" minOccurs=\"0\" maxOccurs=\"unbounded\"", "\"xs:double\" minOccurs=\"3\" maxOccurs=\"5\"");
    let contract = Contract::from_text(&text.replace(any, some)).expect("a description");
    let (gateway, bodies) = recording(contract, PLAIN);
    for count in 0..8_usize {
        let got = lines(&gateway, "/operations/Report", &format!("{REPORT}\n{}", "1\n".repeat(count))).await;
        let line = match count {
            0..3 => 1,
            3..=5 => {
                got.problem(400, "fault");
                assert!(bodies.lock().expect("a lock").drain(..).all(|body| body.is_ok()));
                continue;
            }
            _ => 7,
        };
        let problem = got.problem(422, "invalid");
        assert_eq!((&problem["line"], &problem["pointer"]), (&json!(line), &json!("/level")), "{problem}");
        assert!(bodies.lock().expect("a lock").drain(..).all(|body| body.is_err()), "{count}");
    }
}

/// Messages that are signed or validated must be whole.
#[tokio::test]
async fn services_that_need_whole_requests_take_no_lines() {
    for (setting, reason) in [
        ("credentials = { kind = \"username-token\", user = \"a\", password = { env = \"PATH\" } }", "WS-Security"),
        ("credentials = { kind = \"basic-to-username-token\" }", "WS-Security"),
        ("validation = \"refuse\"", "validated"),
        ("validation = \"report\"", "validated"),
    ] {
        let (gateway, bodies) = recording(lab(), &format!("{PLAIN}{setting}\n"));
        let problem = lines(&gateway, "/operations/Report", REPORT).await.problem(415, "media-type");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains(reason)), "{problem}");
        if reason == "validated" {
            let ask = Request::post("/operations/Measure").header("accept", "application/jsonl");
            let ask = ask.header("content-type", "application/json").body(Full::from("{\"count\": 1}"));
            send(&gateway, ask.expect("a request")).await.problem(406, "not-acceptable");
        }
        assert!(bodies.lock().expect("a lock").is_empty());
    }
}

/// Also if a program has secured them.
#[tokio::test]
async fn secured_calls_take_no_lines() {
    let service = tower::service_fn(|_: Request<Body>| async { Ok::<_, Infallible>(fault()) });
    let token = deltasoap_security::UsernameToken::text("a", "b");
    let options = CallOptions::new().protection(deltasoap_security::Protection::new().user(token));
    let backend = Backend::new(lab()).transport(service).options(options);
    let gateway = Gateway::new(&Config::parse(PLAIN).expect("a configuration"), vec![backend]).expect("a gateway");
    lines(&gateway, "/operations/Report", &format!("{REPORT}\n1\n")).await.problem(415, "media-type");
}

/// A mistake in a later line, at the end of many.
fn broken_report(bad: &[u8]) -> Vec<Bytes> {
    let mut text = format!("{REPORT}\n").into_bytes();
    (0..20_000).for_each(|n| text.extend_from_slice(format!("{n}.5\n").as_bytes()));
    text.extend_from_slice(bad);
    text.extend_from_slice(b"\n1\n");
    text.chunks(8000).map(Bytes::copy_from_slice).collect()
}

/// Returns the problems of requests that break off after many lines.
async fn check_broken(gateway: &Gateway) {
    let cases: [(&[u8], u16, &str, Option<&str>); 5] = [
        (b"\"x\"", 422, "invalid", Some("/level/20000")),
        (b"{", 400, "malformed", None),
        (b"\xff", 400, "malformed", None),
        (b"{\"a\": 1, \"a\": 2}", 400, "malformed", None),
        (&[b'1'; 5000], 413, "too-large", None),
    ];
    for (bad, status, kind, pointer) in cases {
        let frames = stream::iter(broken_report(bad)).map(|piece| Ok(Frame::data(piece)));
        let response = answer(gateway, request("/operations/Report", StreamBody::new(frames))).await;
        let problem = got(response).await.problem(status, kind);
        assert_eq!(problem["line"], 20_002, "{problem}");
        assert_eq!(problem.get("pointer").and_then(Json::as_str), pointer, "{problem}");
    }
    let pieces = broken_report(b"1").into_iter().map(|piece| Ok(Frame::data(piece)));
    let cut = stream::iter(pieces.chain([Err("gone".into())]));
    let response = answer(gateway, request("/operations/Report", StreamBody::new(cut))).await;
    got(response).await.problem(400, "incomplete");
}

const SMALL: &str = "limits.request_bytes = 4096\n[[service]]\nwsdl = \"s\"\n";

#[tokio::test]
async fn a_line_that_is_wrong_breaks_the_request_off() {
    let (gateway, bodies) = recording(lab(), SMALL);
    check_broken(&gateway).await;
    let bodies = bodies.lock().expect("a lock");
    assert!(bodies.len() == 6 && bodies.iter().all(Result::is_err), "{bodies:?}");
}

/// Returns a mock that counts the reports that it got.
fn counting() -> (Mock, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let summary = move |report: Json| {
        counted.fetch_add(1, Ordering::Relaxed);
        let levels = report["level"].as_array().map_or(0, Vec::len);
        match levels {
            0 => Err(Box::new(Fault::sender("no levels"))),
            _ => Ok(json!({ "count": levels, "total": 0.5 })),
        }
    };
    (Mock::new(lab()).handle("Report", summary).expect("an operation"), count)
}

#[tokio::test]
async fn over_a_connection_a_part_is_not_taken_for_the_whole() {
    let (mock, count) = counting();
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    let address = server.local_addr().expect("an address");
    let service = mock.service().expect("a service");
    let serving = tokio::spawn(async move { server.serve(service).await });
    let config = Config::parse(&format!("{SMALL}endpoint = \"http://{address}/\"\n")).expect("a configuration");
    let gateway = Gateway::new(&config, vec![Backend::new(lab())]).expect("a gateway");
    check_broken(&gateway).await;
    assert_eq!(count.load(Ordering::Relaxed), 0);
    let levels = "0.5\n".repeat(50_000);
    let answer = lines(&gateway, "/operations/Report", &format!("{REPORT}\n{levels}")).await;
    assert_eq!((answer.json()["count"].clone(), count.load(Ordering::Relaxed)), (json!(50_000), 1));
    lines(&gateway, "/operations/Report", REPORT).await.problem(400, "fault");
    serving.abort();
}

/// Longer than the limit of a whole request, in short lines.
#[tokio::test]
async fn the_limit_is_that_of_a_line() {
    let (mock, _) = counting();
    let gateway = gateway_to(lab(), SMALL, mock.service().expect("a service"));
    let levels = "0.125\n".repeat(20_000);
    assert_eq!(lines(&gateway, "/operations/Report", &format!("{REPORT}\n{levels}")).await.json()["count"], 20_000);
}

#[tokio::test]
async fn items_are_sent_on_while_they_arrive() {
    let (seen, mut levels) = mpsc::unbounded_channel();
    let service = tower::service_fn(move |request: Request<Body>| {
        let seen = seen.clone();
        async move {
            let mut body = request.into_body();
            while let Some(frame) = body.frame().await {
                let data = frame?.into_data().unwrap_or_default();
                let _ = seen.send(String::from_utf8_lossy(&data).matches("</level>").count());
            }
            Ok::<_, deltasoap_core::Error>(fault())
        }
    });
    let gateway = gateway_to(lab(), PLAIN, service);
    let (sender, body) = channel();
    let client = tokio::spawn(async move { got(answer(&gateway, request("/operations/Report", body)).await).await });
    sender.send(Ok(Bytes::from(format!("{REPORT}\n1\n")))).await.expect("a reader");
    let mut total = 0;
    for round in 1..=5 {
        // The service has everything that was sent, although the request goes on.
        while total < round {
            total += levels.recv().await.expect("a request");
        }
        assert_eq!(total, round);
        sender.send(Ok(Bytes::from(format!("{round}\n")))).await.expect("a reader");
    }
    drop(sender);
    client.await.expect("no panic").problem(400, "fault");
}

/// A service that reads nothing stops the client.
#[tokio::test(start_paused = true)]
async fn nothing_is_read_ahead() {
    let taken = Arc::new(AtomicUsize::new(0));
    let service = tower::service_fn(move |request: Request<Body>| async move {
        let _body = request.into_body();
        std::future::pending::<Result<Response<Full<Bytes>>, BoxError>>().await
    });
    let gateway = gateway_to(lab(), "[[service]]\nwsdl = \"s\"\ntimeout_seconds = 7\n", service);
    let read = Arc::clone(&taken);
    let head = stream::iter([Ok(Frame::data(Bytes::from(format!("{REPORT}\n1\n"))))]);
    let pieces = head.chain(stream::repeat_with(move || {
        read.fetch_add(1, Ordering::Relaxed);
        Ok(Frame::data(Bytes::from("1.5\n".repeat(1000))))
    }));
    let start = Instant::now();
    let response = answer(&gateway, request("/operations/Report", StreamBody::new(pieces))).await;
    got(response).await.problem(504, "timeout");
    assert_eq!(start.elapsed().as_secs(), 7);
    assert!(taken.load(Ordering::Relaxed) <= 1, "{taken:?} pieces");
}

/// The time of a client counts for each line, and that of the service without the client's.
#[tokio::test(start_paused = true)]
async fn times_are_those_of_a_line() {
    let config = "limits = { body_seconds = 20, lines_rate = 0 }\n[[service]]\nwsdl = \"s\"\ntimeout_seconds = 10\n";
    let (gateway, bodies) = recording(lab(), config);
    let slowly = |pause: u64, lines: u64| {
        let lines = stream::iter(0..lines).then(move |_| async move {
            tokio::time::sleep(Duration::from_secs(pause)).await;
            Ok(Frame::data(Bytes::from_static(b"1.5\n")))
        });
        let head = stream::iter([Ok(Frame::data(Bytes::from(format!("{REPORT}\n1\n"))))]);
        StreamBody::new(head.chain(lines))
    };
    let patient = got(answer(&gateway, request("/operations/Report", slowly(15, 10))).await).await;
    patient.problem(400, "fault");
    let late = got(answer(&gateway, request("/operations/Report", slowly(25, 1))).await).await;
    assert_eq!(late.problem(408, "slow")["line"], 3);
    let bodies = bodies.lock().expect("a lock");
    assert!(bodies.len() == 2 && bodies[0].is_ok() && bodies[1].is_err(), "{bodies:?}");
}

#[tokio::test]
async fn lists_go_through_in_both_directions() {
    let echo = |request: Json| Ok(request);
    let mock = Mock::new(bench()).handle("echoInts", echo).expect("an operation");
    let gateway = gateway_to(bench(), PLAIN, mock.service().expect("a service"));
    let numbers: String = (0..20_000).map(|n| format!("{n}\n")).collect();
    let request = Request::post("/operations/echoInts?items=item&list=item")
        .header("content-type", "application/x-ndjson; charset=utf-8")
        .header("accept", "application/jsonl")
        .body(Full::from(format!("{{}}\n{numbers}")))
        .expect("a request");
    let answer = send(&gateway, request).await;
    assert_eq!(answer.headers["content-type"], "application/jsonl");
    assert!(answer.text == numbers, "{:.200}", answer.text);
}

/// The answer may begin before the request ends: then its last line is the problem of the request.
#[tokio::test]
async fn an_answer_that_has_begun_ends_with_the_problem_of_the_request() {
    let service = tower::service_fn(|request: Request<Body>| async move {
        let head = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><b:echoIntsResponse xmlns:b='urn:bench'>";
        let first = format!("{head}{}", "<item>7</item>".repeat(10_000));
        let frames = stream::unfold((Some(first), request.into_body()), |(first, mut body)| async move {
            if let Some(first) = first {
                return Some((Ok(Frame::data(Bytes::from(first))), (None, body)));
            }
            loop {
                match body.frame().await? {
                    Ok(_) => {}
                    Err(_) => return Some((Err(BoxError::from("the request broke off")), (None, body))),
                }
            }
        });
        let response = Response::builder().header("content-type", "text/xml");
        Ok::<_, Infallible>(response.body(StreamBody::new(frames)).expect("a response"))
    });
    let gateway = gateway_to(bench(), PLAIN, service);
    let (sender, body) = channel();
    let mut request = request("/operations/echoInts?items=item&list=item", body);
    request.headers_mut().insert("accept", http::HeaderValue::from_static("application/jsonl"));
    sender.send(Ok(Bytes::from_static(b"{}\n1\n"))).await.expect("a reader");
    let mut response = answer(&gateway, request).await;
    let first = response.body_mut().frame().await.expect("a frame").expect("data").into_data().expect("data");
    assert!(first.starts_with(b"7\n"));
    sender.send(Ok(Bytes::from_static(b"\"x\"\n"))).await.expect("a reader");
    let mut text = Vec::new();
    while let Some(Ok(frame)) = response.body_mut().frame().await {
        text.extend_from_slice(&frame.into_data().expect("data"));
    }
    let text = String::from_utf8(text).expect("text");
    let last: Json = serde_json::from_str(text.lines().last().expect("a line")).expect("JSON");
    assert_eq!((&last["$problem"]["status"], &last["$problem"]["line"]), (&json!(422), &json!(3)), "{last}");
}

/// A service may answer before it has the whole request.
#[tokio::test]
async fn an_early_answer_is_the_answer() {
    let service = tower::service_fn(|_: Request<Body>| async { Ok::<_, Infallible>(fault()) });
    let gateway = gateway_to(lab(), PLAIN, service);
    let (sender, body) = channel();
    sender.send(Ok(Bytes::from(format!("{REPORT}\n1\n")))).await.expect("a reader");
    let early = answer(&gateway, request("/operations/Report", body)).await;
    got(early).await.problem(400, "fault");
    drop(sender);
}

#[tokio::test]
async fn compressed_lines_are_read() {
    let (gateway, bodies) = recording(lab(), PLAIN);
    let text = format!("{REPORT}\n{}", "1.5\n".repeat(20_000));
    let plain = text.clone();
    let service = tower::service_fn(move |_: Request<Full<Bytes>>| {
        let body = Full::<Bytes>::from(plain.clone());
        async { Ok::<_, Infallible>(Response::builder().header("content-type", "text/plain").body(body).expect("it")) }
    });
    let ask = Request::get("/").header("accept-encoding", "gzip").body(Full::default()).expect("a request");
    let Ok(coded) = tower_http::compression::Compression::new(service).oneshot(ask).await;
    let coded = coded.into_body().collect().await.expect("a body").to_bytes();
    assert!(coded.len() < text.len() / 10);
    let sent = |bytes: Bytes| {
        let mut request = request("/operations/Report", Full::from(bytes));
        request.headers_mut().insert("content-encoding", http::HeaderValue::from_static("gzip"));
        request
    };
    send(&gateway, sent(coded.clone())).await.problem(400, "fault");
    lines(&gateway, "/operations/Report", &text).await.problem(400, "fault");
    {
        let bodies = bodies.lock().expect("a lock");
        assert!(bodies.len() == 2 && bodies[0].is_ok() && bodies[0] == bodies[1]);
    }
    send(&gateway, sent(coded.slice(..coded.len() / 2))).await.problem(400, "incomplete");
    // Bytes after the last member are none of it.
    send(&gateway, sent([&coded[..], b"junk"].concat().into())).await.problem(400, "incomplete");
    assert!(bodies.lock().expect("a lock").iter().skip(2).all(Result::is_err));
}

/// A gzip body may have several members: `cat a.gz b.gz`. Part of a list is not taken for the whole.
#[tokio::test]
async fn all_members_of_a_compressed_body_are_read() {
    use async_compression::tokio::write::GzipEncoder;
    use tokio::io::AsyncWriteExt as _;

    let (gateway, bodies) = recording(lab(), PLAIN);
    let mut members = Vec::new();
    for part in [format!("{REPORT}\n1\n2\n"), "3\n4\n".to_owned()] {
        let mut encoder = GzipEncoder::new(Vec::new());
        encoder.write_all(part.as_bytes()).await.expect("memory");
        encoder.shutdown().await.expect("memory");
        members.push(encoder.into_inner());
    }
    for pieces in [vec![members.concat()], members.clone()] {
        let frames = stream::iter(pieces).map(|piece| Ok::<_, BoxError>(Frame::data(Bytes::from(piece))));
        let mut request = request("/operations/Report", StreamBody::new(frames));
        request.headers_mut().insert("content-encoding", http::HeaderValue::from_static("gzip"));
        let Ok(response) = gateway.clone().oneshot(request).await;
        got(response).await.problem(400, "fault");
    }
    lines(&gateway, "/operations/Report", &format!("{REPORT}\n1\n2\n3\n4\n")).await.problem(400, "fault");
    let bodies = bodies.lock().expect("a lock");
    assert!(bodies.len() == 3 && bodies[0].is_ok() && bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
}

#[tokio::test]
async fn codings_that_are_not_read_are_a_problem() {
    let (gateway, bodies) = recording(lab(), PLAIN);
    let mut request = request("/operations/Report", Full::from("x"));
    request.headers_mut().insert("content-encoding", http::HeaderValue::from_static("br"));
    let got = send(&gateway, request).await.problem(415, "coding");
    assert!(got["detail"].as_str().is_some_and(|detail| detail.contains("gzip")), "{got}");
    assert!(bodies.lock().expect("a lock").is_empty());
}

/// The list is named for lines alone; otherwise a forgotten media type would go unnoticed.
#[tokio::test]
async fn a_list_of_items_needs_lines() {
    let (gateway, _) = recording(lab(), PLAIN);
    post(&gateway, "/operations/Report?items=level", "{}").await.problem(400, "parameter");
}

/// The parameters of a path belong to the first line.
#[tokio::test]
async fn routes_take_lines() {
    let routes = "[[service]]\nwsdl = \"s\"\n[[service.route]]\npath = \"/reports/{station}\"\nmethod = \"POST\"\n\
                  operation = \"Report\"\nfixed = { checked = true }\n";
    let (gateway, bodies) = recording(lab(), routes);
    lines(&gateway, "/operations/Report", &format!("{REPORT}\n1\n2\n")).await.problem(400, "fault");
    lines(&gateway, "/reports/north", "{}\n1\n2\n").await.problem(400, "fault");
    let bodies = bodies.lock().expect("a lock");
    assert!(bodies[0].is_ok() && bodies[0] == bodies[1], "{bodies:?}");
}

/// Where the body of a route is a list, the lines are its items.
#[tokio::test]
async fn the_body_of_a_route_may_be_the_list() {
    let routes = "[[service]]\nwsdl = \"s\"\n[[service.route]]\npath = \"/orders/{customer}\"\nmethod = \"PUT\"\n\
                  operation = \"Order\"\nbody = \"item\"\n";
    let (gateway, _) = recording(shop(), routes);
    let mut put = request("/orders/Ada", Full::from("{\"code\": \"A-1\", \"count\": 2}\n{\"code\": \"B-1\"}\n"));
    *put.method_mut() = http::Method::PUT;
    let problem = send(&gateway, put).await.problem(422, "invalid");
    assert_eq!((&problem["line"], &problem["pointer"]), (&json!(2), &json!("/item/1/count")));
}

#[tokio::test]
async fn the_document_describes_lines() {
    let document = get(&crate::plain(), "/openapi.json").await.json();
    let order = &document["paths"]["/operations/Order"]["post"];
    assert!(order["requestBody"]["content"]["application/jsonl"].is_object(), "{order}");
    let parameters = order["parameters"].as_array().expect("parameters");
    let items = parameters.iter().find(|it| it["name"] == "items").expect("a parameter");
    assert_eq!(items["schema"]["examples"], json!(["item", "$choice"]));
    let ping = &document["paths"]["/operations/Ping"]["post"];
    assert!(ping["requestBody"]["content"]["application/jsonl"].is_null() && !ping.to_string().contains("items"));
    let document = get(&Gateway::of(lab()).expect("a gateway"), "/openapi.json").await.json();
    let report = &document["paths"]["/operations/Report"]["post"];
    let text = report["requestBody"]["description"].as_str().expect("a description");
    assert!(text.contains("the items of level") && report["parameters"].is_null(), "{report}");
}

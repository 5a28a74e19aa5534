//! The client: against a service in memory, over loopback, and against answers that our services
//! never give.

use crate::common::*;
use bytes::Bytes;
use deltasoap::client::{CallError, CallOptions, MessageError};
use deltasoap::schema::{QName, Use};
use deltasoap::soap::{FaultCode, HeaderBlock, TypedFault, Version};
use deltasoap::transport::Body;
use deltasoap::{Client, Message, SoapService};
use deltasoap_test_support::latin_1;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use std::convert::Infallible;
use std::time::Duration;

const URL: &str = "http://localhost/test";

fn in_memory(version: Version) -> Client<SoapService> {
    Client::builder(URL).version(version).build_with(service().0).expect("a client")
}

#[tokio::test]
async fn calls_in_memory() {
    for version in [Version::Soap11, Version::Soap12] {
        let response: EchoResponse = in_memory(version).call_as(&echo("x")).await.expect("a response");
        assert_eq!(response, echoed(&echo("x")));
    }
}

#[tokio::test]
async fn the_future_of_a_call_is_small() {
    let (client, request) = (in_memory(Version::Soap11), echo("x"));
    let call = client.call_as::<EchoResponse>(&request);
    // The call is part of every future that awaits it, and is moved with them.
    assert!(size_of_val(&call) < 20 << 10, "{} bytes", size_of_val(&call));
    let (leased, sent) = (client.call_leased_as::<EchoResponse>(&request), client.send(&request));
    assert!(size_of_val(&leased) < 20 << 10 && size_of_val(&sent) < 20 << 10);
}

#[tokio::test]
async fn calls_in_section_5_encoding() {
    let options = CallOptions::new().encoding(Use::Encoded);
    let response = in_memory(Version::Soap11).call_as_with::<EchoResponse>(&echo("x"), options).await;
    assert_eq!(response.expect("a response").body, echoed(&echo("x")));
}

#[tokio::test]
async fn headers_and_action_travel_both_ways() {
    for version in [Version::Soap11, Version::Soap12] {
        let ticket = HeaderBlock::from_message(&Ticket { number: 17 }).expect("a block").must_understand(version);
        let options = CallOptions::new()
            .header(ticket)
            .action("urn:a \"b\\c\"")
            .http_header(http::header::USER_AGENT, HeaderValue::from_static("tester"));
        let response = in_memory(version).call_as_with::<DescribeResponse>(&Describe {}, options).await;
        let response = response.expect("a response");
        assert_eq!(response.body.action.as_deref(), Some("urn:a \"b\\c\""));
        assert_eq!(response.body.user_agent.as_deref(), Some("tester"));
        assert_eq!(response.status, StatusCode::OK);
        assert_eq!(response.head.version, Some(version));
        let back = response.head.headers.iter().find_map(HeaderBlock::to_typed::<Ticket>).expect("the ticket");
        assert_eq!(back.expect("a ticket"), Ticket { number: 17 });
    }
}

#[tokio::test]
async fn faults_arrive_typed() {
    for version in [Version::Soap11, Version::Soap12] {
        let result = in_memory(version).call_as::<EchoResponse>(&Fail { how: "typed".to_owned() }).await;
        let Err(CallError::Fault(fault)) = result else { panic!("{result:?}") };
        let typed = TypedFault::<NoSuchThing>::from_fault(&fault).expect("a detail").expect("a typed detail");
        let detail = NoSuchThing { name: "thing".to_owned(), code: 7 };
        assert_eq!(typed, TypedFault::sender("no such thing", detail));
        assert!(TypedFault::<Ticket>::from_fault(&fault).is_none());
    }
}

#[tokio::test]
async fn one_way_messages_are_sent() {
    let (service, mut events) = service();
    let client = Client::with_service(URL, service).expect("a client");
    client.send(&Notify { event: "sent".to_owned() }).await.expect("accepted");
    assert_eq!(events.recv().await.as_deref(), Some("sent"));
    let refused = client.send(&Unserved {}).await;
    assert!(matches!(refused, Err(CallError::Fault(fault)) if fault.code == FaultCode::Sender));
    client.send(&echo("answered all the same")).await.expect("accepted");
}

#[tokio::test]
async fn calls_over_loopback_with_the_peers_address() {
    let (address, _handle) = serve(service().0).await;
    let client = Client::new(format!("http://{address}/any/path")).expect("a client");
    let response: DescribeResponse = client.call_as(&Describe {}).await.expect("a response");
    assert_eq!(response.peer.as_deref(), Some("127.0.0.1"));
    assert_eq!(response.action.as_deref(), Some(""), "an empty SOAPAction is sent");
    let long = Echo { text: "ü".repeat(20_000), numbers: (0..5_000).collect() };
    assert_eq!(client.call_as::<EchoResponse>(&long).await.expect("a response"), echoed(&long));
}

#[tokio::test]
async fn fifty_calls_at_once() {
    let (service, _) = service();
    let stats = service.stats();
    let (address, _handle) = serve(service).await;
    let client = Client::new(format!("http://{address}/")).expect("a client");
    let calls = (0..50).map(|number| {
        let client = client.clone();
        tokio::spawn(async move {
            let text = number.to_string();
            let response: EchoResponse = client.call_as(&echo(&text)).await.expect("a response");
            assert_eq!(response.text, text);
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.expect("no panic");
    }
    assert_eq!(stats.snapshot().messages, 50);
}

/// Returns a client of a server that always gives the same answer.
async fn answered_with(
    status: u16,
    content_type: &'static str,
    body: impl Into<Bytes>,
) -> Result<EchoResponse, CallError> {
    canned(status, content_type, body).call_as(&echo("")).await
}

fn canned(
    status: u16,
    content_type: &'static str,
    body: impl Into<Bytes>,
) -> Client<impl tower::Service<Request<Body>, Response = Response<Full<Bytes>>, Error = Infallible> + Clone> {
    let body = body.into();
    let service = tower::service_fn(move |_: Request<Body>| {
        let response = Response::builder().status(status).header("content-type", content_type);
        std::future::ready(Ok::<_, Infallible>(response.body(Full::from(body.clone())).expect("a response")))
    });
    Client::with_service(URL, service).expect("a client")
}

#[tokio::test]
async fn answers_that_are_no_messages_are_told_from_broken_ones() {
    let page = answered_with(502, "text/html", "<html>Bad gateway").await;
    let Err(CallError::Status(error)) = page else { panic!("{page:?}") };
    assert_eq!((error.status, error.excerpt.as_str()), (StatusCode::BAD_GATEWAY, "<html>Bad gateway"));

    let disguised = answered_with(404, "text/xml", "not found").await;
    assert!(matches!(disguised, Err(CallError::Status(error)) if error.excerpt == "not found"));
    let empty = answered_with(200, "text/xml", "").await;
    assert!(matches!(empty, Err(CallError::Status(error)) if error.status == StatusCode::OK));
    let portal = answered_with(200, "text/html", "log in").await;
    assert!(matches!(portal, Err(CallError::Status(_))));
    let broken = answered_with(200, "text/xml", "<a>").await;
    assert!(matches!(broken, Err(CallError::Decode(_))), "{broken:?}");
}

#[tokio::test]
async fn deviations_of_all_answers_are_counted() {
    const ANSWER: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
        <t:EchoResponse xmlns:t='urn:test'><text>x</text><new/><new/></t:EchoResponse></s:Body></s:Envelope>";
    let client = canned(200, "text/xml", ANSWER);
    let response = client.call_as_with::<EchoResponse>(&echo(""), CallOptions::new()).await.expect("an answer");
    assert_eq!(response.deviations.len(), 1);
    client.call_leased_as::<EchoResponse>(&echo("")).await.expect("an answer");
    assert_eq!(client.clone().deviations(), 4);
}

/// The error of an invalid message with an error status contains the place and the status.
#[tokio::test]
async fn malformed_faults_are_told_from_pages() {
    const START: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>";
    for (body, parts) in [
        ("<s:Fault><detail>no</detail></s:Fault></s:Body></s:Envelope>", ["faultcode", "at byte"]),
        ("<s:Fault><faultcode>s:Server</faultcode>", ["the document ends too early", "/Envelope/Body/Fault"]),
        ("<s:Fault><faultcode>s:Server</faultstring>", ["found `</faultstring>`", "/Envelope/Body/Fault/faultcode"]),
        ("<t:Other xmlns:t='urn:test'/></s:Body></s:Envelope>", ["expected <{urn:test}EchoResponse>", "at byte"]),
    ] {
        let body: &'static str = format!("{START}{body}").leak();
        for one_way in [false, true] {
            let client = canned(500, "text/xml", body);
            let refused = match one_way {
                false => client.call_as::<EchoResponse>(&echo("")).await.expect_err("a fault"),
                true => client.send(&echo("")).await.expect_err("a fault"),
            };
            let CallError::Status(error) = &refused else { panic!("{refused:?}") };
            assert_eq!(error.status, StatusCode::INTERNAL_SERVER_ERROR);
            // Any such answer means that a one-way message was not accepted.
            if one_way && body.contains("Other") {
                continue;
            }
            let text = refused.to_string();
            assert!(
                matches!(error.cause, Some(MessageError::Decode(_))) && !text.contains("no SOAP message"),
                "{text}"
            );
            let start = "answered with HTTP status 500 Internal Server Error and a malformed SOAP message: ";
            assert!(text.contains(start), "{text}");
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        }
    }
    let leased = canned(500, "text/xml", "<e/>").call_leased_as::<EchoResponse>(&echo("")).await;
    assert!(matches!(leased, Err(CallError::Status(error)) if error.cause.is_none() && error.excerpt == "<e/>"));
}

#[tokio::test]
async fn who_is_refused_learns_which_authentication_is_offered() {
    let service = tower::service_fn(|_: Request<Body>| {
        let response = Response::builder().status(401).header("www-authenticate", "Negotiate");
        let response = response.header("www-authenticate", "Basic realm=\"a secret place\"");
        std::future::ready(Ok::<_, Infallible>(response.body(Full::<Bytes>::default()).expect("a response")))
    });
    let client = Client::with_service(URL, service).expect("a client");
    let error = client.call_as::<EchoResponse>(&echo("")).await.expect_err("no answer");
    let text = error.to_string();
    assert_eq!(
        text,
        "http://localhost/test answered with HTTP status 401 Unauthorized and no SOAP message (authentication is offered by Negotiate, Basic)"
    );
    let Err(CallError::Status(error)) = client.send(&echo("")).await else { panic!("accepted") };
    assert_eq!(error.schemes, ["Negotiate", "Basic"]);
}

/// Returns an answer with header blocks before its body.
fn answer_with_headers(version: Version, headers: &str) -> &'static str {
    let answer = message(version, &[], &echoed(&echo("x")));
    let (front, body) = answer.split_at(answer.find("<soap:Body").expect("a body"));
    format!("{front}<soap:Header>{headers}</soap:Header>{body}").leak()
}

#[tokio::test]
async fn header_blocks_that_must_be_understood_are() {
    const NEXT: &str = "soap:actor='http://schemas.xmlsoap.org/soap/actor/next'";
    let block = |attributes: &str| format!("<t:Lock xmlns:t='urn:lock' {attributes}/>");
    let lock = || QName::new("urn:lock", "Lock");
    let must = block("soap:mustUnderstand='1'");
    for (version, headers) in [
        (Version::Soap11, format!("<a/>{must}")),
        (Version::Soap11, block(&format!("soap:mustUnderstand='1' {NEXT}"))),
        (Version::Soap12, block("soap:mustUnderstand='true'")),
        (Version::Soap12, format!("<a/>{must}<b/>")),
    ] {
        let answer = answer_with_headers(version, &headers);
        let client = canned(200, "text/xml", answer);
        let errors = [
            client.call_as::<EchoResponse>(&echo("")).await.err(),
            client.call_leased_as::<EchoResponse>(&echo("")).await.err(),
            client.call_as_with::<EchoResponse>(&echo(""), CallOptions::new()).await.err(),
            client.call_as_with::<EchoResponse>(&echo(""), CallOptions::new().understands(Ticket::ELEMENT)).await.err(),
            client.send(&echo("")).await.err(),
        ];
        for error in errors {
            let Some(CallError::NotUnderstood(error)) = error else { panic!("{error:?}") };
            let place = ("/Envelope/Header/Lock", answer.find("<t:Lock").expect("a block") as u64);
            assert_eq!((error.path(), error.offset()), place);
            assert!(error.to_string().contains("{urn:lock}Lock"), "{error}");
        }
        for options in [CallOptions::new().understands(lock()), CallOptions::new().understands_all()] {
            let response = client.call_as_with::<EchoResponse>(&echo(""), options).await.expect("a response");
            assert!(response.head.header("urn:lock", "Lock").is_some());
        }
    }
    // Blocks for others, or without `mustUnderstand`, are accepted; so is a fault, which says more
    // than the block.
    for headers in
        [block("soap:mustUnderstand='0'"), block("soap:mustUnderstand='1' soap:actor='urn:other'"), block("")]
    {
        let answer = answer_with_headers(Version::Soap11, &headers);
        canned(200, "text/xml", answer).call_as::<EchoResponse>(&echo("")).await.expect("a response");
    }
    let odd = answer_with_headers(Version::Soap11, &block("soap:mustUnderstand='maybe'"));
    let odd = canned(200, "text/xml", odd).call_as::<EchoResponse>(&echo("")).await;
    assert!(matches!(&odd, Err(CallError::Decode(error)) if error.to_string().contains("maybe")), "{odd:?}");
    let fault = format!(
        "<soap:Envelope xmlns:soap='{}'><soap:Header>{must}</soap:Header><soap:Body><soap:Fault><faultcode>soap:Server</faultcode>\
         <faultstring>no</faultstring></soap:Fault></soap:Body></soap:Envelope>",
        Version::Soap11.namespace()
    );
    let failed = canned(500, "text/xml", fault).call_as::<EchoResponse>(&echo("")).await;
    assert!(matches!(failed, Err(CallError::Fault(fault)) if fault.reason == "no"));
}

/// Header blocks that a client understands apply to all its calls.
#[tokio::test]
async fn a_client_understands_what_it_was_told() {
    let answer = answer_with_headers(Version::Soap12, "<t:Lock xmlns:t='urn:lock' soap:mustUnderstand='1'/>");
    let service = tower::service_fn(move |_: Request<Body>| {
        let response = Response::builder().header("content-type", "application/soap+xml");
        std::future::ready(Ok::<_, Infallible>(response.body(Full::<Bytes>::from(answer)).expect("a response")))
    });
    let understanding =
        Client::builder(URL).understands(QName::new("urn:lock", "Lock")).build_with(service).expect("a client");
    for _ in 0..2 {
        assert_eq!(understanding.call_as::<EchoResponse>(&echo("")).await.expect("a response").text, "x");
        assert_eq!(understanding.call_leased_as::<EchoResponse>(&echo("")).await.expect("a response").text, "x");
    }
    let other = Client::builder(URL).understands(QName::new("urn:lock", "Key")).build_with(service).expect("a client");
    assert!(matches!(other.call_as::<EchoResponse>(&echo("")).await, Err(CallError::NotUnderstood(_))));
}

#[tokio::test]
async fn an_answer_is_in_the_charset_that_it_names() {
    const ANSWER: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
        <t:EchoResponse xmlns:t='urn:test'><text>\u{e4}</text></t:EchoResponse></s:Body></s:Envelope>";
    assert_eq!(answered_with(200, "text/xml; charset=utf-8", ANSWER).await.expect("an answer").text, "\u{e4}");
    for (charset, text) in [
        ("utf-16", "says charset=utf-16, but the message is in UTF-8"),
        ("iso-8859-15", "the encoding ISO-8859-15 is not supported"),
        ("windows-1250", "use UTF-8 or UTF-16"),
    ] {
        let media: &'static str = format!("text/xml; charset={charset}").leak();
        let error = answered_with(200, media, ANSWER).await.expect_err(charset);
        assert!(matches!(&error, CallError::Charset(error) if error.charset() == charset), "{error:?}");
        assert!(error.to_string().contains(text), "{error}");
    }
    let declared: &'static str = format!("<?xml version='1.0' encoding='KOI8-R'?>{ANSWER}").leak();
    let error = answered_with(200, "text/xml", declared).await.expect_err("an encoding that is declared");
    assert!(error.to_string().contains("the encoding `KOI8-R` is not supported; use UTF-8"), "{error}");
    let error = answered_with(500, "text/xml; charset=koi8-r", ANSWER).await.expect_err("an error's status");
    assert!(error.to_string().contains("HTTP status 500"), "{error}");
    assert!(error.to_string().contains("the encoding KOI8-R is not supported"), "{error}");
    // Pure ASCII text is the same in most encodings.
    let plain: &'static str = ANSWER.replace('\u{e4}', "a").leak();
    assert_eq!(answered_with(200, "text/xml; charset=koi8-r", plain).await.expect("an answer").text, "a");
}

#[tokio::test]
async fn an_answer_in_a_byte_a_character_is_read_as_it_says() {
    const ANSWER: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
        <t:EchoResponse xmlns:t='urn:test'><text>\u{e4}\u{80}</text></t:EchoResponse></s:Body></s:Envelope>";
    let declared = |label: &str| format!("<?xml version='1.0' encoding='{label}'?>{ANSWER}");
    let answer = async |media: &'static str, text: &str| {
        answered_with(200, media, latin_1(text)).await.map(|answer| answer.text)
    };
    let read = async |media, text: &str| answer(media, text).await.expect("an answer");
    assert_eq!(read("text/xml", &declared("latin1")).await, "\u{e4}\u{80}");
    assert_eq!(read("text/xml; charset=ISO-8859-1", ANSWER).await, "\u{e4}\u{80}");
    assert_eq!(read("text/xml; charset=ISO-8859-1", &declared("iso-8859-1")).await, "\u{e4}\u{80}");
    assert_eq!(read("text/xml; charset=windows-1252", ANSWER).await, "\u{e4}\u{20ac}");
    for (media, label, expected) in [
        ("text/xml; charset=utf-8", "latin1", "says charset=utf-8, but the message is in ISO-8859-1"),
        ("text/xml; charset=windows-1252", "latin1", "says charset=windows-1252, but the message is in ISO-8859-1"),
        ("text/xml; charset=iso-8859-1", "UTF-8", "says charset=iso-8859-1, but the message is in UTF-8"),
    ] {
        let error = answer(media, &declared(label)).await.expect_err(media);
        assert!(matches!(&error, CallError::Charset(_)) && error.to_string().contains(expected), "{error:?}");
    }
    // Many servers declare this for text in UTF-8, which is mostly ASCII.
    let plain = declared("UTF-8").replace("\u{e4}\u{80}", "a");
    assert_eq!(read("text/xml; charset=iso-8859-1", &plain).await, "a");
}

/// A charset has the same meaning for a plain message and for one in a package.
#[tokio::test]
async fn the_root_of_a_package_is_in_the_charset_that_it_names() {
    const ANSWER: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
        <t:EchoResponse xmlns:t='urn:test'><text>TEXT</text></t:EchoResponse></s:Body></s:Envelope>";
    for (charset, text, expected) in [
        ("iso-8859-1", "a", Some("a")),
        ("iso-8859-1", "\u{e4}", Some("\u{e4}")),
        ("windows-1252", "\u{80}", Some("\u{20ac}")),
        ("koi8-r", "a", Some("a")),
        ("koi8-r", "\u{e4}", None),
    ] {
        let (root, head) = (ANSWER.replace("TEXT", text), format!("text/xml; charset={charset}"));
        let package = latin_1(&format!("--b\r\nContent-Type: {head}\r\n\r\n{root}\r\n--b--\r\n"));
        let by_itself = answered_with(200, head.leak(), latin_1(&root)).await;
        let in_package = answered_with(200, "multipart/related; type=\"text/xml\"; boundary=b", package).await;
        assert_eq!(by_itself.ok().map(|answer| answer.text).as_deref(), expected, "{charset} {text:?}");
        assert_eq!(in_package.ok().map(|answer| answer.text).as_deref(), expected, "{charset} {text:?} in a package");
    }
}

#[tokio::test]
async fn a_one_way_message_is_accepted_by_nothing_or_by_an_envelope() {
    let envelope: &'static str = message(Version::Soap11, &[], &echoed(&echo("x"))).leak();
    for (status, media, body) in [
        (202, "text/xml", ""),
        (204, "", ""),
        (200, "text/html", "\r\n"),
        (200, "text/xml", envelope),
        (202, "text/xml", envelope),
    ] {
        canned(status, media, body).send(&echo("")).await.expect("accepted");
    }
    for (status, media, body) in
        [(500, "text/xml", ""), (404, "text/plain", "no"), (200, "text/html", "<h1>Log in"), (202, "text/plain", "OK")]
    {
        let error = canned(status, media, body).send(&echo("")).await.expect_err("not accepted");
        assert!(matches!(&error, CallError::Status(error) if error.status == status), "{error}");
        let text = error.to_string();
        assert!(body.is_empty() || text.ends_with(&format!("no SOAP message, but {media}: {body}")), "{text}");
    }
    let cut: &'static str = envelope[..envelope.len() - 5].to_owned().leak();
    for body in ["<ok/>", cut] {
        let error = canned(200, "text/xml", body).send(&echo("")).await.expect_err("no envelope");
        assert!(matches!(error, CallError::Decode(_)), "{error}");
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_not() {
    let client = in_memory(Version::Soap12);
    let unwritable = client.call_as::<EchoResponse>(&echo("\u{1}")).await;
    assert!(matches!(unwritable, Err(CallError::Encode(_))));
    let options = CallOptions::new().action("a\r\nx: y");
    let action = client.call_as_with::<EchoResponse>(&echo(""), options).await;
    assert!(matches!(action, Err(CallError::Action(_))));
}

#[tokio::test(start_paused = true)]
async fn slow_answers_time_out() {
    let never = tower::service_fn(async |_: Request<Body>| {
        std::future::pending::<Result<Response<Full<Bytes>>, Infallible>>().await
    });
    let client = Client::builder(URL).timeout(Duration::from_secs(5)).build_with(never).expect("a client");
    let start = tokio::time::Instant::now();
    assert!(matches!(client.call_as::<EchoResponse>(&echo("")).await, Err(CallError::Timeout(_))));
    assert_eq!(start.elapsed().as_secs(), 5);
}

#[tokio::test]
async fn a_server_that_is_not_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let client = Client::new(format!("http://{address}/")).expect("a client");
    assert!(matches!(client.call_as::<EchoResponse>(&echo("")).await, Err(CallError::Http(_))));
}

#[test]
fn urls_must_be_absolute() {
    for bad in ["", "/path", "localhost/path", "http://", "http://a b/"] {
        assert!(Client::new(bad).is_err(), "{bad:?}");
    }
}

/// Old servers fold long headers (RFC 9112, 5.2).
#[tokio::test]
async fn headers_of_answers_may_go_on_in_another_line() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let body = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><t:EchoResponse xmlns:t='urn:test'><text>x</text></t:EchoResponse></e:Body></e:Envelope>";
    let server = async {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let (mut socket, _) = listener.accept().await.expect("a connection");
        let mut request = vec![0; 65_536];
        assert!(socket.read(&mut request).await.expect("a request") > 0);
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/xml;\r\n charset=utf-8\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        socket.write_all(head.as_bytes()).await.expect("sent");
        socket.write_all(body.as_bytes()).await.expect("sent");
        socket
    };
    let client = Client::new(&url).expect("a client");
    let request = echo("folded");
    let (response, _socket) = tokio::join!(client.call_as::<EchoResponse>(&request), server);
    response.expect("an answer");
}

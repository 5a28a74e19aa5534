//! What is passed on, and what not.

use super::*;
use futures_util::stream;
use http::header::{CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING};
use http_body::Frame;
use http_body_util::StreamBody;
use std::io::Write as _;
use std::time::Duration;
use tokio::sync::mpsc;

#[tokio::test]
async fn methods_paths_headers_and_bodies_pass() {
    let target = Target::default();
    let proxy = target.proxy("[access]\nheaders = [\"X-Api-Key: 7\"]", None, |request, body| {
        let answer = Response::builder().status(207).header("x-own", "1").header(CONNECTION, "x-secret");
        answer.header("x-secret", "2").body(format!("{} {body}", request.method())).expect("a response")
    });
    let request = Request::put("/a/b?c=d").header("host", "proxy:1").header(TRANSFER_ENCODING, "chunked");
    let request = request.header("soapaction", "\"urn:a\"").header(CONNECTION, "close, x-gone").header("x-gone", "3");
    let answer = send(&proxy, request.body(Full::from("text".to_owned())).expect("a request")).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (207, "PUT text"));
    assert_eq!(answer.headers["x-own"], "1");
    assert!(!answer.headers.contains_key("x-secret") && !answer.headers.contains_key(CONNECTION), "{answer:?}");
    let (request, body) = target.last();
    assert_eq!((request.uri().to_string(), body.as_str()), ("http://target.example/soap/a/b?c=d".to_owned(), "text"));
    let headers = request.headers();
    assert_eq!((&headers["soapaction"], &headers["x-api-key"]), (&"\"urn:a\"".parse().unwrap(), &"7".parse().unwrap()));
    assert_eq!(
        (&headers["via"], &headers["x-forwarded-host"]),
        (&"1.1 deltasoap".parse().unwrap(), &"proxy:1".parse().unwrap())
    );
    for gone in ["x-gone", "host", "connection", "transfer-encoding"] {
        assert!(!headers.contains_key(gone), "{gone}");
    }
}

/// The first piece arrives at the client before the target has sent the second one.
#[tokio::test]
async fn bodies_pass_while_they_arrive() {
    let (pieces, receiver) = mpsc::unbounded_channel::<&'static str>();
    let receiver = Arc::new(Mutex::new(Some(receiver)));
    let transport = service_fn(move |_: Request<Body>| {
        let receiver = receiver.lock().expect("not poisoned").take().expect("one request");
        let frames = stream::unfold(receiver, |mut receiver| async move {
            let piece = receiver.recv().await?;
            Some((Ok::<_, BoxError>(Frame::data(Bytes::from_static(piece.as_bytes()))), receiver))
        });
        async move { Ok::<_, BoxError>(Response::new(StreamBody::new(frames))) }
    });
    let proxy = Proxy::new(&configured(""), None, transport).expect("a proxy");
    let Ok(answer) = proxy.oneshot(post(&order("Ada"))).await;
    let mut body = answer.into_body();
    for piece in ["one", "two"] {
        pieces.send(piece).expect("sent");
        let frame = body.frame().await.expect("a frame").expect("no error").into_data().expect("data");
        assert_eq!(frame, piece);
    }
    drop(pieces);
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn gzip_passes_unchanged() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(order("Ada").as_bytes()).expect("written");
    let coded = Bytes::from(encoder.finish().expect("gzip"));
    let answered = coded.clone();
    let transport = service_fn(move |request: Request<Body>| {
        let answered = answered.clone();
        async move {
            let got = request.into_body().collect().await?.to_bytes();
            assert_eq!(got, answered, "the request too");
            let response = Response::builder().header(CONTENT_ENCODING, "gzip").header("content-type", "text/xml");
            Ok::<_, BoxError>(response.body(Full::new(answered)).expect("a response"))
        }
    });
    // Both are looked at, but pass as they are.
    let config = "validation = \"refuse\"\n";
    for config in ["", config] {
        let contract = (!config.is_empty()).then(shop);
        let proxy = Proxy::new(&configured(config), contract, transport.clone()).expect("a proxy");
        let request = Request::post("/").header(CONTENT_ENCODING, "gzip").header("content-type", "text/xml");
        let request = request.header("accept-encoding", "gzip").body(Full::new(coded.clone())).expect("a request");
        let Ok(answer) = proxy.oneshot(request).await;
        assert_eq!(answer.headers()[CONTENT_ENCODING], "gzip");
        assert_eq!(answer.into_body().collect().await.expect("a body").to_bytes(), coded);
    }
}

#[tokio::test]
async fn descriptions_get_the_address_of_the_proxy() {
    let target = Target::default();
    let proxy = target.proxy("", None, |_, _| xml(SHOP.replace("http://localhost:8080/shop", "http://x/soap/shop")));
    let answer = send(&proxy, get("/?wsdl")).await;
    assert_eq!(answer.text, SHOP.replace("http://localhost:8080/shop", "http://proxy:1/shop"));
    assert_eq!(answer.headers[CONTENT_LENGTH], answer.text.len().to_string());
    assert_eq!(target.last().0.uri().to_string(), "http://target.example/soap?wsdl");
    let public = target.proxy("public_url = \"https://a.example/b/\"", None, |_, _| {
        xml(SHOP.replace("http://localhost:8080/shop", "http://x/soap"))
    });
    assert!(send(&public, get("/?wsdl")).await.text.contains("location=\"https://a.example/b/\""));
}

#[tokio::test]
async fn what_goes_wrong_has_a_status() {
    let unreachable = service_fn(|_: Request<Body>| async {
        Err::<Response<Full<Bytes>>, BoxError>(BoxError::from("nothing listens at target.example"))
    });
    let proxy = Proxy::new(&configured(""), None, unreachable).expect("a proxy");
    let answer = send(&proxy, post(&order("Ada"))).await;
    assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
    assert!(answer.text.contains("http://target.example does not answer: nothing listens"), "{answer:?}");

    let limited = before_shop("validation = \"refuse\"\n[limits]\nbody_bytes = 100");
    let answer = send(&limited, post(&order("Ada"))).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE, "{answer:?}");
    assert!(answer.text.contains("more than 100 bytes"), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn what_takes_too_long_has_a_status() {
    let silent = service_fn(|request: Request<Body>| async {
        request.into_body().collect().await?;
        std::future::pending::<Result<Response<Full<Bytes>>, BoxError>>().await
    });
    for (config, contract) in [("", None), ("validation = \"refuse\"", Some(shop()))] {
        let proxy = Proxy::new(&configured(config), contract, silent).expect("a proxy");
        let answer = send(&proxy, post(&order("Ada"))).await;
        assert_eq!(answer.status, StatusCode::GATEWAY_TIMEOUT, "{answer:?}");
        let stalled = StreamBody::new(stream::pending::<Result<Frame<Bytes>, Infallible>>());
        let request = Request::post("/").header("content-type", "text/xml").body(stalled).expect("a request");
        let answer = send(&proxy, request).await;
        assert_eq!(answer.status, StatusCode::REQUEST_TIMEOUT, "{answer:?}");
    }
}

#[tokio::test]
async fn more_exchanges_than_allowed_wait_nowhere() {
    let silent = service_fn(|_: Request<Body>| std::future::pending::<Result<Response<Full<Bytes>>, BoxError>>());
    let proxy = Proxy::new(&configured("[limits]\nexchanges = 1"), None, silent).expect("a proxy");
    let first = tokio::spawn(proxy.clone().oneshot(post(&order("Ada"))));
    tokio::time::sleep(Duration::from_millis(1)).await;
    loop {
        let second = tokio::time::timeout(Duration::from_millis(50), send(&proxy, post(&order("Bob")))).await;
        // The first one may not have begun.
        if let Ok(answer) = second {
            assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(answer.headers["retry-after"], "1");
            break;
        }
    }
    first.abort();
}

#[tokio::test]
async fn configurations_that_contradict_themselves_are_refused() {
    let refused = |text: &str| {
        let never = service_fn(|_: Request<Body>| async { Ok::<_, BoxError>(Response::new(Full::<Bytes>::default())) });
        let config = Config::parse(text).unwrap_or_else(|error| panic!("{error}"));
        Proxy::new(&config, None, never).expect_err(text).to_string()
    };
    for (text, part) in [
        ("", "target: it is missing"),
        ("target = \"ftp://h/\"", "target: ftp is neither http nor https"),
        ("target = \"http://h/?a\"", "target: a query"),
        ("target = \"http://h/\"\nvalidation = \"report\"", "validation: it needs the WSDL"),
        ("replay = \"/no/such\"", "exchanges.jsonl cannot be read"),
        ("target = \"http://h/\"\n[security]", "security: it secures nothing"),
        ("target = \"http://h/\"\n[security]\nuser = \"ada\"", "security.password: it is missing"),
        ("target = \"http://h/\"\n[access]\nheaders = [\"x\"]", "access.headers"),
    ] {
        let error = refused(text);
        assert!(error.contains(part), "{text}: {error}");
    }
}

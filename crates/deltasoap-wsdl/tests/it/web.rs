//! The blocking client with a server on this machine.

#![cfg(feature = "http")]

use deltasoap_http::{Identity, Proxy, Roots, Server, ServerTls, SoapService};
use deltasoap_test_support::Answering;
use deltasoap_wsdl::fetch::{Access, Fetch, FetchError, Reach, Request, WebClient};
use deltasoap_wsdl::{ErrorKind, Importer};
use std::io::Write;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use url::Url;

/// Serves a schema, redirects and a long body for the rest of the test. Returns its URL.
fn server() -> Url {
    let server = Answering::new(|request| {
        let (line, headers) = request.split_once("\r\n").expect("a request");
        let path = line.split(' ').nth(1).unwrap_or_default();
        let is_known = headers.to_lowercase().contains("authorization: basic ywrhonb3");
        let path = if is_known { path.trim_start_matches("/secret") } else { path };
        let path = if answers_challenge(headers, path) { path.trim_start_matches("/digest") } else { path };
        answer(path)
    });
    Url::parse(&server.url()).expect("a URL")
}

/// Returns true for an answer to the challenge of [`answer`].
fn answers_challenge(headers: &str, path: &str) -> bool {
    let mut lines = headers.lines().filter_map(|line| line.split_once(": Digest "));
    let Some((_, proof)) = lines.next() else { return false };
    let has = |part: &str| proof.contains(part);
    let response = proof.split("response=\"").nth(1).and_then(|rest| rest.split('"').next());
    has("username=\"ada\"")
        && has("nonce=\"n1\"")
        && has(&format!("uri=\"{path}\""))
        && response.is_some_and(|it| it.len() == 64)
}

fn answer(path: &str) -> String {
    let (status, header, body) = match path {
        "/a" => (
            "200 OK",
            "X: y",
            "<schema xmlns='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:a'>\
            <include schemaLocation='moved'/></schema>"
                .to_owned(),
        ),
        "/b" => (
            "200 OK",
            "X: y",
            "<schema xmlns='http://www.w3.org/2001/XMLSchema'><element name='e'/></schema>".to_owned(),
        ),
        "/moved" => ("302 Found", "Location: /b", String::new()),
        "/loop" => ("302 Found", "Location: /loop", String::new()),
        "/file" => ("302 Found", "Location: file:///etc/passwd", String::new()),
        "/elsewhere" => ("302 Found", "Location: http://127.0.0.1:1/", String::new()),
        // The stronger challenge must be answered.
        "/digest/b" => (
            "401 Unauthorized",
            "WWW-Authenticate: Digest realm=\"r\", nonce=\"n0\", qop=\"auth\", algorithm=MD5\r\n\
             WWW-Authenticate: Digest realm=\"r\", nonce=\"n1\", qop=\"auth\", algorithm=SHA-256\r\n\
             WWW-Authenticate: Digest realm=\"r\", nonce=\"n2\", qop=\"auth\", algorithm=MD5",
            String::new(),
        ),
        "/basic" => ("401 Unauthorized", "WWW-Authenticate: Basic realm=\"r\"", String::new()),
        "/long" => ("200 OK", "X: y", " ".repeat(1 << 20)),
        _ => ("404 Not Found", "X: y", String::new()),
    };
    format!("HTTP/1.1 {status}\r\n{header}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

fn fetch(url: &Url, path: &str, reach: Reach) -> Result<Vec<u8>, FetchError> {
    let url = url.join(path).expect("a URL");
    let timeout = Duration::from_secs(10);
    let fetched = WebClient::default().fetch(&Request { url: &url, reach, max_bytes: 1 << 16, timeout })?;
    assert!(fetched.is_private);
    Ok(fetched.bytes)
}

#[test]
fn documents_are_fetched_with_what_they_include() {
    let url = server().join("a").expect("a URL");
    let import = Importer::new().url(url).expect("a schema");
    assert_eq!(import.documents().count(), 2);
    assert!(import.schemas().element_named(&deltasoap_core::QName::new("urn:a", "e")).is_some());
}

#[test]
fn what_is_not_to_be_had_is_said() {
    let url = server();
    assert!(fetch(&url, "b", Reach::Origin).is_ok());
    assert!(matches!(fetch(&url, "b", Reach::Public), Err(FetchError::Forbidden(_))));
    assert!(matches!(fetch(&url, "elsewhere", Reach::Origin), Err(FetchError::Forbidden(_))));
    assert!(matches!(fetch(&url, "elsewhere", Reach::All), Err(FetchError::Unavailable(_))));
    assert!(matches!(fetch(&url, "long", Reach::Origin), Err(FetchError::TooLarge(..))));
    for path in ["nothing", "loop", "file"] {
        assert!(matches!(fetch(&url, path, Reach::Origin), Err(FetchError::Unavailable(_))), "{path}");
    }
    let error = Importer::new().url(url.join("nothing").expect("a URL")).expect_err("404");
    assert!(matches!(error.kind(), ErrorKind::Fetch(FetchError::Unavailable(_))), "{error}");
}

#[test]
fn names_of_this_machine_are_private() {
    let mut url = server();
    url.set_host(Some("localhost")).expect("a host");
    assert!(matches!(fetch(&url, "b", Reach::Public), Err(FetchError::Forbidden(_))));
}

#[test]
fn local_documents_name_private_addresses_only_if_the_caller_allows_it() {
    let mut url = server();
    for host in ["127.0.0.1", "localhost"] {
        url.set_host(Some(host)).expect("a host");
        let text =
            format!("<schema xmlns='http://www.w3.org/2001/XMLSchema'><include schemaLocation='{url}b'/></schema>");
        let error = Importer::new().text(&text).expect_err("a private address");
        assert!(matches!(error.kind(), ErrorKind::Fetch(FetchError::Forbidden(_))), "{error}");
        assert_eq!(Importer::new().allow_private().text(&text).expect("a schema").documents().count(), 2);
    }
}

#[test]
fn challenges_are_answered_where_they_come_from_the_origin() {
    let (server, other) = (server(), server());
    let import = |url: &Url, path: &str| {
        let client = WebClient::with_access(Access::to(&server).digest("ada", "pw").expect("a name"));
        Importer::new().fetch_with(client).url(url.join(path).expect("a URL"))
    };
    assert_eq!(import(&server, "digest/b").expect("a schema").documents().count(), 1);
    for refused in [import(&other, "digest/b"), import(&server, "basic")] {
        assert!(refused.expect_err("401").to_string().contains("status 401"));
    }
}

#[test]
fn credentials_go_to_their_origin_alone() {
    let (server, other) = (server(), server());
    let fetch = |url: &Url| {
        let access = Access::to(&server).basic("ada", "pw").expect("a name");
        let timeout = Duration::from_secs(10);
        WebClient::with_access(access).fetch(&Request { url, reach: Reach::Origin, max_bytes: 1 << 16, timeout })
    };
    assert!(fetch(&server.join("secret/a").expect("a URL")).is_ok());
    assert!(fetch(&other.join("secret/a").expect("a URL")).is_err());
    assert!(fetch(&other.join("a").expect("a URL")).is_ok());
    let shown = format!("{:?}", Access::to(&server).header("authorization", "Bearer secret"));
    assert!(!shown.contains("secret"), "{shown}");
    assert!(Access::to(&server).header("a b", "c").is_err() && Access::to(&server).basic("a:b", "c").is_err());
}

/// A proxy that answers every request itself with this schema, and records the requests.
fn proxy(answer: &'static str) -> (String, Arc<Mutex<Vec<String>>>) {
    let server = Answering::alike(answer);
    (server.url(), server.requests)
}

const SCHEMA: &str = "HTTP/1.1 200 OK\r\nContent-Length: 50\r\nConnection: close\r\n\r\n\
    <schema xmlns='http://www.w3.org/2001/XMLSchema'/>";

#[test]
fn proxies_are_asked_for_the_whole_url_and_private_addresses_stay_private() {
    let (url, asked) = proxy(SCHEMA);
    let client = || WebClient::default().proxy(Proxy::new(&url, "").expect("a proxy"));
    let get = |text: &str, reach| {
        let document = Url::parse(text).expect("a URL");
        let timeout = Duration::from_secs(10);
        client().fetch(&Request { url: &document, reach, max_bytes: 1 << 16, timeout })
    };
    let fetched = get("http://ada:secret@nowhere.invalid:8000/a?b#c", Reach::Public).expect("a schema");
    assert!(!fetched.is_private, "nobody here knows the name");
    let request = std::mem::take(&mut *asked.lock().expect("no panic")).concat();
    assert!(request.starts_with("GET http://nowhere.invalid:8000/a?b HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("authorization: Basic YWRhOnNlY3JldA=="), "{request}");
    for private in ["http://localhost/", "http://127.0.0.1/", "http://10.1.2.3/", "http://[::1]/"] {
        assert!(matches!(get(private, Reach::Public), Err(FetchError::Forbidden(_))), "{private}");
    }
    assert!(asked.lock().expect("no panic").is_empty());
    assert!(get("http://127.0.0.1:1/", Reach::Origin).expect("by the proxy").is_private);
}

#[test]
fn gzip_is_undone_within_the_limit() {
    let mut body = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    body.write_all(&[b' '; 100_000]).expect("written");
    let body = body.finish().expect("written");
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len());
    let url = Url::parse(&Answering::alike([head.as_bytes(), &body].concat()).url()).expect("a URL");
    let timeout = Duration::from_secs(10);
    let get = |max_bytes| WebClient::default().fetch(&Request { url: &url, reach: Reach::Origin, max_bytes, timeout });
    assert_eq!(get(100_000).expect("all of it").bytes.len(), 100_000);
    assert!(matches!(get(99_999), Err(FetchError::TooLarge(..))), "little is received, and much comes out");
}

#[test]
fn a_silent_host_is_given_up_by_name_of_the_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url =
        Url::parse(&format!("http://ada:secret@{}/x", listener.local_addr().expect("an address"))).expect("a URL");
    let timeout = Duration::from_millis(300);
    let begin = std::time::Instant::now();
    let error = WebClient::default().fetch(&Request { url: &url, reach: Reach::Origin, max_bytes: 1, timeout });
    let text = error.expect_err("nothing").to_string();
    let shown = url.as_str().replace("ada:secret@", "");
    assert_eq!(text, format!("{shown}: no answer within 0.3 s (the limit `timeout`)"));
    assert!(begin.elapsed() < Duration::from_secs(10));
}

/// One time limit for all documents, which continues between them.
#[test]
fn all_documents_together_have_a_time() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = Url::parse(&format!("http://{}/x", listener.local_addr().expect("an address"))).expect("a URL");
    let begin = std::time::Instant::now();
    let client = WebClient::default().total_timeout(Duration::from_millis(400));
    let fetch = |timeout: u64| {
        let timeout = Duration::from_millis(timeout);
        client
            .fetch(&Request { url: &url, reach: Reach::Origin, max_bytes: 1, timeout })
            .expect_err("nothing")
            .to_string()
    };
    assert!(fetch(100).ends_with("no answer within 0.1 s (the limit `timeout`)"));
    let late = "not loaded within 0.4 s, the time limit for the WSDL and its documents";
    assert!(fetch(30_000).ends_with(late) && begin.elapsed() >= Duration::from_millis(400));
    assert!(fetch(30_000).ends_with(late) && begin.elapsed() < Duration::from_secs(10));
}

/// A certificate in the default format of openssl; see testdata/tls.
#[test]
fn certificates_of_openssl_are_trusted_where_they_are_given() {
    const CERTIFICATE: &str = include_str!("../../../../testdata/tls/openssl.pem");
    const KEY: &str = include_str!("../../../../testdata/tls/openssl.key");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
    let port = runtime.block_on(async {
        let tls = ServerTls::new(Identity::from_pem(CERTIFICATE, KEY).expect("an identity"));
        let server = Server::bind("127.0.0.1:0").await.expect("a port").tls(tls).expect("TLS");
        let port = server.local_addr().expect("an address").port();
        let schema = "<schema xmlns='http://www.w3.org/2001/XMLSchema'/>";
        tokio::spawn(server.serve(SoapService::builder().wsdl(schema).build().expect("a service")));
        port
    });
    let url = Url::parse(&format!("https://localhost:{port}/?wsdl")).expect("a URL");
    let import = |client: WebClient| Importer::new().fetch_with(client).url(url.clone());
    let given = Roots::from_pem(CERTIFICATE).expect("roots");
    assert_eq!(import(WebClient::default().roots(given)).expect("a schema").documents().count(), 1);
    assert!(import(WebClient::with_access(Access::to(&url).unverified())).is_ok());
    let refused = import(WebClient::default()).expect_err("nobody knows it").to_string();
    assert!(
        refused.contains("is not trusted itself") || refused.contains("authority that is not trusted"),
        "{refused}"
    );
    // Loading blocks, which no thread of an async runtime may do, so it runs in another thread.
    let inside = runtime.block_on(async { import(WebClient::with_access(Access::to(&url).unverified())).is_ok() });
    assert!(inside);
}

//! The blocking client against a server on this machine.

#![cfg(feature = "http")]

use deltasoap_wsdl::fetch::{Access, Fetch, FetchError, Reach, Request, WebClient};
use deltasoap_wsdl::{ErrorKind, Importer};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::time::Duration;
use url::Url;

/// Serves for the rest of the test: a schema, redirects, a long body. Gives its URL.
fn server() -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = Url::parse(&format!("http://{}/", listener.local_addr().expect("an address"))).expect("a URL");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(&stream);
            let mut line = String::new();
            drop(reader.read_line(&mut line));
            let mut header = String::new();
            while reader.read_line(&mut header).is_ok_and(|read| read > 2) {}
            let path = line.split(' ').nth(1).unwrap_or_default();
            let is_known = header.to_lowercase().contains("authorization: basic ywrhonb3");
            let path = if is_known { path.trim_start_matches("/secret") } else { path };
            let path = if answers_challenge(&header, path) { path.trim_start_matches("/digest") } else { path };
            drop((&stream).write_all(answer(path).as_bytes()));
        }
    });
    url
}

/// True for an answer to the challenge of [`answer`].
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
        // The stronger one is to be answered.
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
    let fetched = WebClient::default().fetch(&Request { url: &url, reach, most_bytes: 1 << 16, timeout })?;
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
        let client = WebClient::with_access(Access::to(&server).digest("ada", "pw"));
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
        WebClient::with_access(access).fetch(&Request { url, reach: Reach::Origin, most_bytes: 1 << 16, timeout })
    };
    assert!(fetch(&server.join("secret/a").expect("a URL")).is_ok());
    assert!(fetch(&other.join("secret/a").expect("a URL")).is_err());
    assert!(fetch(&other.join("a").expect("a URL")).is_ok());
    let shown = format!("{:?}", Access::to(&server).header("authorization", "Bearer secret"));
    assert!(!shown.contains("secret"), "{shown}");
    assert!(Access::to(&server).header("a b", "c").is_err() && Access::to(&server).basic("a:b", "c").is_err());
    assert!(Access::to(&server).roots_pem(b"none").is_err());
}

//! Calls over the network: what is sent and to whom, what is answered, and which errors are
//! reported.

use super::*;

/// Starts a server that answers every request alike; returns its URL and the requests it received.
pub(super) fn canned(answer: &'static str) -> (String, std::sync::Arc<std::sync::Mutex<Vec<String>>>) {
    let server = Answering::alike(answer);
    (server.url(), server.requests)
}

#[test]
fn secrets_in_headers_are_not_shown() {
    const ANSWER: &str = "HTTP/1.1 500 No\r\nContent-Type: text/xml\r\nSet-Cookie: a=s3cret\r\nX-Session-Id: s3cret\r\n\
        X-Other: seen\r\nConnection: close\r\n\r\n\
        <s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault>\
        <faultcode>s:Client</faultcode><faultstring>no</faultstring></s:Fault></s:Body></s:Envelope>";
    let (url, requests) = canned(ANSWER);
    let mut arguments = vec!["call".to_owned(), shop(), "Soap11.Order".to_owned(), "-v".to_owned()];
    arguments.extend(["-d".to_owned(), ORDER.to_owned(), "--endpoint".to_owned(), url]);
    let headers = ["Authorization", "proxy-authorization", "Cookie", "X-API-KEY", "x-auth", "Api-Token", "My-Secret"];
    for name in headers {
        arguments.extend(["-H".to_owned(), format!("{name}: s3cret")]);
    }
    arguments.extend(["-H".to_owned(), "X-Request-Id: seen too".to_owned()]);
    let output = command().args(&arguments).env("RUST_LOG", "trace").output().expect("the program runs");
    let text = stderr(&output);
    assert!(!text.contains("s3cret"), "{text}");
    assert!(text.contains("< x-session-id: (not shown)\n") && text.contains("> x-api-key: (not shown)\n"), "{text}");
    assert!(text.contains("< x-other: seen\n") && text.contains("> x-request-id: seen too\n"), "{text}");
    let sent = requests.lock().expect("no panic").concat();
    assert_eq!(sent.matches("s3cret").count(), headers.len(), "{sent}");
}

#[test]
fn header_blocks_come_from_files() {
    let mock = serving(&["mock", &shop()]);
    let folder = tempfile::tempdir().expect("a directory");
    let call_with = |content: &[u8]| {
        let path = folder.path().join("block");
        std::fs::write(&path, content).expect("a file");
        let block = format!("Session=@{}", path.display());
        run(&["call", &shop(), "Order", "-d", ORDER, "-v", "--header-block", &block, "--endpoint", &mock.url])
    };
    let call = |content: &str| call_with(content.as_bytes());
    let block = |encoding: &str| {
        format!(
            "<?xml version='1.0' encoding='{encoding}'?>\n<Session xmlns='urn:shop'><token>\u{e9}t\u{e9}</token></Session>\n"
        )
    };
    let latin: Vec<u8> = block("ISO-8859-1").chars().map(|c| c as u8).collect();
    let utf_16 = |bytes: fn(u16) -> [u8; 2]| {
        format!("\u{feff}{}", block("UTF-16")).encode_utf16().flat_map(bytes).collect::<Vec<u8>>()
    };
    for content in [latin, utf_16(u16::to_le_bytes), utf_16(u16::to_be_bytes), block("UTF-8").into_bytes()] {
        let output = call_with(&content);
        assert!(output.status.success() && stderr(&output).contains("token>\u{e9}t\u{e9}<"), "{output:?}");
    }
    for content in [r#"{"token": "from a file"}"#, "<Session xmlns='urn:shop'><token>from a file</token></Session>\n"] {
        let output = call(content);
        assert!(output.status.success() && stderr(&output).contains("token>from a file<"), "{output:?}");
        let output = call(&format!("\u{feff}{content}"));
        assert!(output.status.success() && stderr(&output).contains("token>from a file<"), "{output:?}");
    }
    let output = call("<Other xmlns='urn:shop'/>");
    assert!(!output.status.success() && stderr(&output).contains("holds <{urn:shop}Other>"), "{output:?}");
    let output = call("<Session><token>of no namespace</token></Session>");
    let text = stderr(&output);
    assert!(!output.status.success() && text.contains("<Session>, and the WSDL has {urn:shop}Session"), "{text}");
    let output =
        run(&["call", &shop(), "Order", "-d", ORDER, "--header-block", "Session=@/no/such", "--endpoint", &mock.url]);
    assert!(!output.status.success() && stderr(&output).contains("/no/such cannot be read"), "{output:?}");
}

#[test]
fn header_blocks_without_a_namespace_are_sent_with_a_warning() {
    let mock = serving(&["mock", &shop()]);
    let call = |block| run(&["call", &shop(), "Order", "-d", ORDER, "--header-block", block, "--endpoint", &mock.url]);
    let warning = "warning: the header block <x> has no namespace, which SOAP requires (SOAP 1.1, 4.2)";
    assert!(stderr(&call("<x/>")).contains(warning));
    assert!(!stderr(&call("<x xmlns='urn:x'/>")).contains(warning));
}

/// Even a request that is refused before it reaches a service, or for which there is no service.
#[test]
fn requests_that_no_service_answers_are_logged() {
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n");
    let refused = [
        "GET /hostless HTTP/1.1\r\n\r\n",
        "POST /expecting HTTP/1.1\r\nHost: h\r\nExpect: q\r\n\r\n",
        "no request\r\n\r\n",
    ];
    let logged = logged(&["mock", &shop()], &refused.map(ToOwned::to_owned));
    for expected in [
        "path=\"/hostless\" http.response.status_code=400",
        "url.path=\"/expecting\" http.response.status_code=417",
        "refused error=invalid",
    ] {
        assert!(logged.contains(expected), "{expected}: {logged}");
    }
    let logged = self::logged(&["serve"], &["/", "/health", "/ready", "/metrics", "/nope"].map(get));
    for expected in [
        "\"/\" http.response.status_code=200",
        "/health\" http.response.status_code=200",
        "/ready\" http.response.status_code=200",
        "/metrics\" http.response.status_code=200",
        "/nope\" http.response.status_code=404",
    ] {
        assert!(logged.contains(expected), "{expected}: {logged}");
    }
}

#[test]
fn attributes_that_a_mock_passes_over_are_logged() {
    let request = |attributes: &str| {
        let body = format!(
            "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><Catalogue xmlns='urn:shop' {attributes}/></e:Body>\
             </e:Envelope>"
        );
        format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    };
    let lenient = ["mock", &shop(), "--validation", "off"];
    let warned = logged(&lenient, &[request("zz='1' id='a' xml:lang='en'")]);
    let said = ["unknown attribute zz in", "unknown attribute id in", "namespace}lang in", "\"Catalogue\""];
    assert_eq!(warned.matches("WARN").count(), 3, "{warned}");
    assert!(said.iter().all(|said| warned.contains(said)), "{warned}");
    let silent = logged(&lenient, &[request("")]);
    assert!(silent.contains("answered") && !silent.contains("WARN"), "{silent}");
}

#[test]
fn findings_of_a_mock_are_logged() {
    let body = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><Order xmlns='urn:shop'>\
                <customer>Ada</customer><item><code>A-1</code><count>2000</count></item></Order></e:Body></e:Envelope>";
    let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: ";
    let request = format!("{head}{}\r\n\r\n{body}", body.len());
    for (validation, is_reported) in [("off", false), ("report", true)] {
        let logged = logged(&["mock", &shop(), "--validation", validation], std::slice::from_ref(&request));
        // One line has the path, as for any service; the mock adds what is wrong.
        let (path, finding) = ("path=/Envelope/Body/Order/item/count", "2000 is not at most 1000");
        let lines = |text: &str| logged.lines().filter(|line| line.contains("WARN") && line.contains(text)).count();
        let expected = if is_reported { (1, 1) } else { (0, 0) };
        assert_eq!((lines(path), lines(finding)), expected, "{logged}");
    }
}

/// Returns what a server logs for these requests, each of which gets an answer.
fn logged(server: &[&str], requests: &[String]) -> String {
    let mut command = command();
    let command = command.args(server).args(["--listen", "127.0.0.1:0"]).env("RUST_LOG", "info");
    let mut server = Serving::start(command.stderr(Stdio::piped()));
    for request in requests {
        let mut stream = std::net::TcpStream::connect(server.address()).expect("a connection");
        stream.write_all(request.as_bytes()).expect("sent");
        let read = std::io::Read::read(&mut stream, &mut [0; 64]).expect("an answer");
        assert!(read > 0, "{request}");
    }
    // The end of a connection is logged after its answer.
    std::thread::sleep(std::time::Duration::from_millis(200));
    server.kill()
}

/// Each error names the URL and the limit or cause, and says what to do.
#[test]
fn what_is_not_answered_is_said_with_what_to_do() {
    const DENIED: &str =
        "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    const MOVED: &str =
        "HTTP/1.1 302 Go\r\nLocation: https://other.example/soap\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let silent = format!("http://ada:secret@{}/", silent.local_addr().expect("an address")).leak::<'static>();
    let listening = std::net::TcpListener::bind(silent.trim_start_matches("http://ada:secret@").trim_end_matches('/'));
    let refused = "http://127.0.0.1:1/".to_owned();
    let (_folder, _, tls) = serving_tls(&[]);
    let plain = serving(&["mock", &shop()]);
    let to_plain = plain.url.replace("http://", "https://");
    let to_tls = tls.url.replace("https://", "http://");
    for (url, cause, remedy) in [
        (refused.as_str(), "Connection refused", "is the service running"),
        (&canned(DENIED).0, "401", "-u NAME:PASSWORD"),
        (&canned(MOVED).0, "302", "the server redirects to https://other.example/soap; --endpoint"),
        (&tls.url, "authority that is not trusted", "--cacert FILE adds one, -k"),
        (&to_plain, "does not answer in TLS", "is the URL http://?"),
        (&to_tls, "answers in TLS", "is the URL https://?"),
        (&canned("").0, "connection closed", "if it expects TLS, the URL begins with https://"),
        (silent, "no answer within 1 s", "--timeout SECONDS"),
        ("http://no-such-host.invalid/", "failed to lookup", "is the name right"),
    ] {
        let output = run(&["call", &shop(), "Order", "-d", ORDER, "--timeout", "1", "--endpoint", url]);
        let (text, shown) = (stderr(&output), url.replace("ada:secret@", ""));
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        assert!(text.starts_with(&format!("error: {shown}")), "{url}: {text}");
        assert!(text.contains(cause) && text.contains(remedy) && !text.contains("secret"), "{url}: {text}");
    }
    drop(listening);
}

#[test]
fn each_request_is_logged_where_that_is_asked_for() {
    let mut server = command();
    let server = server.args(["mock", &shop(), "--listen", "127.0.0.1:0"]).env("RUST_LOG", "info");
    let mut server = Serving::start(server.stderr(Stdio::piped()));
    let url = server.url.clone();
    let mut call = command();
    let call =
        call.args(["call", &format!("{url}?wsdl"), "Order", "-d", ORDER]).env("RUST_LOG", "deltasoap_http=debug");
    let called = call.output().expect("the program runs");
    assert!(called.status.success(), "{called:?}");
    let logged = stderr(&called);
    let line = logged.lines().find(|line| line.contains("INFO deltasoap_http::client::call: ")).expect("a line");
    let host = url.trim_start_matches("http://127.0.0.1:").trim_end_matches('/');
    for field in ["rpc.method=\"Order\"", "http.response.status_code=200", &format!("server.port={host}")] {
        assert!(line.contains(field), "{field} in {line}");
    }
    assert!(logged.contains(&format!("method=GET url=\"{url}\" status=200")), "{logged}");
    let lost =
        command().args(["list", "http://ada:secret@127.0.0.1:1/"]).env("RUST_LOG", "deltasoap_http=debug").output();
    let lost = stderr(&lost.expect("the program runs"));
    assert!(lost.contains("method=GET url=\"http://127.0.0.1:1/\"") && !lost.contains("secret"), "{lost}");
    let logged = server.kill();
    assert!(logged.contains("http.request.method=\"GET\"") && logged.contains("answered"), "{logged}");
    assert!(logged.contains("rpc.method=\"Order\"") && logged.contains("status_code=200"), "{logged}");
}

#[test]
fn calls_go_through_a_proxy() {
    const DENIED: &str = "HTTP/1.1 407 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let call = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = command();
        let names = [
            "http_proxy",
            "HTTP_PROXY",
            "https_proxy",
            "HTTPS_PROXY",
            "all_proxy",
            "ALL_PROXY",
            "no_proxy",
            "NO_PROXY",
        ];
        names.iter().for_each(|name| _ = command.env_remove(name));
        command.args([
            "call",
            &shop(),
            "Order",
            "-d",
            ORDER,
            "--timeout",
            "5",
            "--endpoint",
            "http://nowhere.invalid/x",
        ]);
        command.args(arguments).envs(variables.iter().copied()).output().expect("the program runs")
    };
    let (url, requests) = canned(DENIED);
    let asked = || std::mem::take(&mut *requests.lock().expect("no panic"));
    let is_proxied = |requests: Vec<String>| matches!(&requests[..], [request] if request.starts_with("POST http://nowhere.invalid/x HTTP/1.1"));
    let output = call(&["--proxy", &url], &[]);
    assert!(is_proxied(asked()) && stderr(&output).contains("--proxy http://NAME:PASSWORD@"), "{output:?}");
    for name in ["http_proxy", "all_proxy", "ALL_PROXY"] {
        call(&[], &[(name, &url)]);
        assert!(is_proxied(asked()), "{name}");
    }
    call(&[], &[("HTTP_PROXY", &url)]);
    call(&[], &[("https_proxy", &url)]);
    call(&["--proxy", &url], &[("no_proxy", "nowhere.invalid")]);
    assert!(asked().is_empty());
    assert!(stderr(&call(&["--proxy", "ftp://x"], &[])).contains("--proxy <URL>: not the URL of a proxy"));
}

/// Invalid arguments end the command before anything is loaded, and passwords in them are not
/// shown.
#[test]
fn values_that_options_do_not_take_are_usage_errors() {
    let endpoint = "http://127.0.0.1:1/";
    for (arguments, part) in [
        (&["-H", "nocolon"][..], "--header <NAME: VALUE>: expected a name, a colon and a value, and found no colon"),
        (&["-H", "no name: x"], "\"no name\" is not the name of an HTTP header"),
        (&["-H", "X: a\u{7}secret"], "the value of X has a character that HTTP forbids"),
        (&["--map", "foo"], "--map <URL=FILE>: expected URL=FILE"),
        (&["--map", "=foo"], "--map <URL=FILE>: expected URL=FILE"),
        (&["--map", "urn:x="], "--map <URL=FILE>: expected URL=FILE"),
        (&["--header-block", ""], "--header-block <NAME=JSON|NAME=@FILE|XML>: expected NAME=JSON"),
        (&["--header-block", " =1"], "expected NAME=JSON"),
        (&["--header-block", "Session"], "expected NAME=JSON"),
        (&["--understand", ""], "--understand <NAME>: expected {namespace}Name or Name"),
        (&["--understand", "{urn:x"], "expected {namespace}Name or Name"),
        (&["--endpoint", "ftp://ada:secret@host/"], "the scheme of the URL is ftp; http and https are supported"),
        (&["--endpoint", "host/path"], "--endpoint <URL>: the URL is malformed"),
        (&["--endpoint", "jms:queue"], "the scheme of the URL is jms"),
        (&["--endpoint", endpoint, "--proxy", "ftp://ada:secret@x"], "--proxy <URL>: not the URL of a proxy"),
        (&["--endpoint", endpoint, "--timeout", "0"], "--timeout"),
    ] {
        let output = run(&[&["call", &shop(), "Order", "-d", ORDER], arguments].concat());
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(part) && !text.contains("secret"), "{arguments:?}: {text}");
    }
    // The same for a file, which needs no header.
    assert_eq!(run(&["list", &shop(), "-H", "nocolon"]).status.code(), Some(2));
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("jms.wsdl");
    let wsdl = std::fs::read_to_string(shop()).expect("a WSDL").replace("http://localhost:8080/shop", "jms:queue:shop");
    std::fs::write(&path, wsdl).expect("a file");
    let output = run(&["call", &path.to_string_lossy(), "Order", "-d", ORDER]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("the WSDL gives jms:queue:shop as the service's URL") && text.contains("--endpoint"),
        "{text}"
    );
}

#[test]
fn header_blocks_that_must_be_understood_are_accepted_where_that_is_said() {
    const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nConnection: close\r\n\r\n\
        <s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'>\
        <s:Header><a:Action xmlns:a='http://www.w3.org/2005/08/addressing' s:mustUnderstand='1'>urn:done</a:Action></s:Header>\
        <s:Body><CatalogueResponse xmlns='urn:shop'><root><name>all</name></root></CatalogueResponse></s:Body></s:Envelope>";
    let (url, _) = canned(ANSWER);
    let (shop, action) = (shop(), "{http://www.w3.org/2005/08/addressing}Action");
    let call = |more: &[&str]| run(&[&["call", &shop, "Soap11.Catalogue", "--endpoint", &url], more].concat());
    let refused = call(&[]);
    let text = stderr(&refused);
    assert_eq!(refused.status.code(), Some(4), "{text}");
    assert!(text.contains(&format!("header <{action}> must be understood")), "{text}");
    assert!(text.contains("in /Envelope/Header/Action") && text.contains("--understand NAME"), "{text}");
    for name in [action, "all"] {
        let output = call(&["--understand", name, "--json"]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(json(&output)["headers"]["Action"].to_string().contains("urn:done"), "{output:?}");
    }
    assert_eq!(call(&["--understand", "{urn:x}Action"]).status.code(), Some(4));
    let text = stderr(&call(&["--understand", "Actoin"]));
    assert!(text.contains("no element Actoin; --understand {namespace}Actoin accepts"), "{text}");
    for name in ["{urn:x", "{urn:x}a b", "a:Action", "5"] {
        assert_eq!(call(&["--understand", name]).status.code(), Some(2), "{name}");
    }
}

#[test]
fn a_request_that_cannot_be_written_is_no_missing_answer() {
    let wsdl = std::fs::read_to_string(shop()).expect("a description");
    let file = tempfile::NamedTempFile::with_suffix(".wsdl").expect("a file");
    std::fs::write(file.path(), wsdl.replace("urn:shop#", "urn:&#10;shop#")).expect("a file");
    let (url, _) = canned("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    let call = ["call", &file.path().to_string_lossy(), "Soap11.Catalogue", "--endpoint", &url];
    let output = run(&call);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("the action has a character") && text.contains("; nothing was sent"), "{text}");
}

#[test]
fn addresses_that_call_refuses_are_noted() {
    let wsdl = std::fs::read_to_string(shop()).expect("a description");
    let start = wsdl.find("location=\"").expect("an address") + "location=\"".len();
    let end = start + wsdl[start..].find('"').expect("its end");
    let file = tempfile::NamedTempFile::with_suffix(".wsdl").expect("a file");
    std::fs::write(file.path(), format!("{}jms:queue{}", &wsdl[..start], &wsdl[end..])).expect("a file");
    let path = file.path().to_string_lossy().into_owned();
    let output = run(&["list", &path]);
    let note = "`call` needs --endpoint for Shop.Soap11: the scheme of the URL is jms; http and https are supported";
    assert!(output.status.success() && stderr(&output).contains(&format!("note: {note}\n")), "{output:?}");
    assert_eq!(json(&run(&["list", "--json", &path]))["notes"][0], note);
    assert!(!stderr(&run(&["list", &shop()])).contains("--endpoint"));
}

/// Packs a catalogue, and the bytes that follow it.
fn packed(body: &str, behind: &str) -> String {
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: multipart/related; boundary=B; type=\"text/xml\"; start=\"<r@x>\"\r\n\
        Connection: close\r\n\r\n--B\r\nContent-Type: text/xml\r\nContent-ID: <r@x>\r\n\r\n\
        <s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>{body}</s:Body></s:Envelope>\r\n--B{behind}"
    );
    canned(answer.leak()).0
}

const CATALOGUE: &str = "<CatalogueResponse xmlns='urn:shop'><root><name>all</name></root></CatalogueResponse>";

#[test]
fn packages_that_cannot_be_read_are_told_as_other_answers() {
    let part = "\r\nContent-ID: <p@x>\r\n\r\nabc\r\n--B";
    for (behind, why) in [
        ("\r\nContent-ID: <p@x>\r\n\r\nabc".to_owned(), "the package ended before"),
        (format!("{part}{part}--\r\n"), "two parts have the content ID"),
        (
            "\r\nContent-ID: <p@x>\r\nContent-Transfer-Encoding: x-foo\r\n\r\nabc\r\n--B--\r\n".to_owned(),
            "unknown Content-Transfer-Encoding",
        ),
    ] {
        let url = packed(CATALOGUE, &behind);
        let call = ["call", &shop(), "Soap11.Catalogue", "--endpoint", &url];
        let output = run(&call);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(4), "{text}");
        assert!(text.starts_with(&format!("error: {url}: ")) && text.contains(why), "{text}");
        assert!(text.ends_with("--verbose shows the messages\n"), "{text}");
        let output = run(&[&call[..], &["--json"]].concat());
        assert!(json(&output)["error"].to_string().contains(why), "{output:?}");
    }
}

#[test]
fn parts_that_are_not_printed_are_said() {
    let one = "\r\nContent-ID: <p@x>\r\nContent-Type: application/pdf\r\n\r\n%PDF\r\n--B";
    let two = format!("{one}\r\nContent-Location: urn:q\r\n\r\nq\r\n--B--\r\n");
    for (behind, said) in [
        ("--\r\n", ""),
        (&format!("{one}--\r\n"), "warning: 1 part of the answer is not printed: application/pdf <p@x>; "),
        (
            &two,
            "warning: 2 parts of the answer are not printed: application/pdf <p@x>, \
             a part without a media type at urn:q; ",
        ),
    ] {
        let url = packed(CATALOGUE, behind);
        let output = run(&["call", &shop(), "Soap11.Catalogue", "--json", "--endpoint", &url]);
        let text = stderr(&output);
        assert!(output.status.success() && text.starts_with(said) && text.is_empty() == said.is_empty(), "{text}");
        assert_eq!(json(&output)["response"]["root"]["name"], "all");
    }
}

#[test]
fn attributes_that_are_not_printed_are_said() {
    const MANY: &str = "<CatalogueResponse xmlns='urn:shop' status='partial' xml:lang='de' \
        xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:schemaLocation='urn:shop a'>\
        <root><name note='lost'>all</name></root></CatalogueResponse>";
    const ONE: &str =
        "<CatalogueResponse xmlns='urn:shop'><root><name note='lost'>all</name></root></CatalogueResponse>";
    const ID: &str = "<CatalogueResponse xmlns='urn:shop'><root><name id='lost'>all</name></root></CatalogueResponse>";
    for (body, said) in [
        (CATALOGUE, ""),
        (ONE, "warning: unknown attribute note in /Envelope/Body/CatalogueResponse/root/name\n"),
        (ID, "warning: unknown attribute id in /Envelope/Body/CatalogueResponse/root/name\n"),
        (
            MANY,
            "warning: unknown attribute status in /Envelope/Body/CatalogueResponse\nwarning: unknown attribute \
             {http://www.w3.org/XML/1998/namespace}lang in /Envelope/Body/CatalogueResponse\nwarning: unknown attribute \
             note in /Envelope/Body/CatalogueResponse/root/name\n",
        ),
    ] {
        let url = packed(body, "--\r\n");
        let output = run(&["call", &shop(), "Soap11.Catalogue", "--endpoint", &url]);
        let text = stderr(&output);
        assert!(output.status.success() && text.starts_with(said) && text.is_empty() == said.is_empty(), "{text}");
        let output = run(&["call", &shop(), "Soap11.Catalogue", "-v", "--endpoint", &url]);
        assert!(!stderr(&output).contains("--verbose shows"), "{output:?}");
    }
}

/// Elements that a service adds are omitted and reported; other orders and namespaces are accepted
/// if the tolerance allows them.
#[test]
fn answers_beyond_the_schema_are_read_as_far_as_told() {
    const START: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>";
    let call = |body: &str, arguments: &[&str]| {
        let message = format!("{START}{body}</s:Body></s:Envelope>");
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{message}",
            message.len()
        );
        let (url, _) = canned(answer.leak());
        let catalogue = shop();
        let base = ["call", &catalogue, "Soap11.Catalogue", "--endpoint", &url];
        run(&[&base[..], arguments].concat())
    };
    let added = "<CatalogueResponse xmlns='urn:shop'><root><name>all</name><new>1</new></root></CatalogueResponse>";
    let output = call(added, &[]);
    assert_eq!(json(&output), json!({ "root": { "name": "all" } }));
    assert_eq!(stderr(&output), "warning: unknown element {urn:shop}new in /Envelope/Body/CatalogueResponse/root\n");
    let output = call(added, &["--tolerance", "strict"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("{urn:shop}new"), "{}", stderr(&output));
    let bare = "<x:CatalogueResponse xmlns:x='urn:shop'><root><name>all</name></root></x:CatalogueResponse>";
    assert_eq!(call(bare, &[]).status.code(), Some(4));
    assert_eq!(json(&call(bare, &["--tolerance", "any-order"])), json!({ "root": { "name": "all" } }));
}

/// Calls with one cookie file are one session to the service.
#[test]
fn a_session_file_keeps_cookies() {
    const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nSet-Cookie: sid=\"abc\"; Path=/; HttpOnly\r\n\
        Connection: close\r\n\r\n<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
        <CatalogueResponse xmlns='urn:shop'><root><name>all</name></root></CatalogueResponse></s:Body></s:Envelope>";
    let (url, requests) = canned(ANSWER);
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("session");
    let session = file.to_string_lossy().into_owned();
    let call = |more: &[&str]| {
        let shop = shop();
        let base = ["call", &shop, "Soap11.Catalogue", "--endpoint", &url, "--session", &session];
        let output = run(&[&base[..], more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    assert!(!call(&["-v"]).contains("abc"));
    assert!(std::fs::read_to_string(&file).expect("a file").contains("\tsid\t"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    }
    assert!(call(&["-v", "--secrets"]).contains("abc"));
    let requests = requests.lock().expect("no panic");
    let cookies: Vec<bool> = requests.iter().map(|request| request.to_lowercase().contains("cookie: sid=")).collect();
    assert_eq!(cookies, [false, true]);
    std::fs::write(&file, "no cookies").expect("written");
    let output = run(&["call", &shop(), "Soap11.Catalogue", "--endpoint", &url, "--session", &session]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("line 1"), "{}", stderr(&output));
}

fn lab() -> String {
    testdata("crates/deltasoap-dynamic/tests/data/lab.wsdl")
}

/// Answers one request with the beginning of a list, and with the rest on a signal.
fn in_two_parts(
    first: String,
    rest: impl FnOnce(&mut std::net::TcpStream) + Send + 'static,
) -> (String, std::sync::mpsc::Sender<()>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let (go, gone) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        read_request(&mut BufReader::new(&stream)).expect("a request");
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nConnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).expect("sent");
        stream.write_all(first.as_bytes()).expect("sent");
        if gone.recv().is_ok() {
            rest(&mut stream);
        }
    });
    (url, go)
}

const MEASURED: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
    <Measured xmlns='urn:lab'><station>s</station>";

#[test]
fn items_are_printed_while_they_arrive() {
    const COUNT: u32 = 600_000;
    let first = format!("{MEASURED}<level>0.5</level><level>1.5</level><level>");
    let (url, go) = in_two_parts(first, |stream| {
        let mut out = std::io::BufWriter::new(stream);
        for n in 2..COUNT {
            write!(out, "{n}.5</level><level>").expect("sent");
        }
        write!(out, "7</level></Measured></s:Body></s:Envelope>").expect("sent");
    });
    let mut call = command();
    call.args(["call", &lab(), "Measure", "-d", "{\"count\":1}", "--stream", "--endpoint", &url]);
    let mut child = call.stdout(Stdio::piped()).spawn().expect("the program runs");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines().map(|line| line.expect("UTF-8"));
    // The first item is printed before the server has sent the others; the last of the items that
    // arrived may be incomplete.
    assert_eq!(lines.next().as_deref(), Some("0.5"));
    go.send(()).expect("the server waits");
    for n in 1..COUNT - 1 {
        assert_eq!(lines.next(), Some(format!("{n}.5")));
        // The client is not done: the buffers between the two programs are too small for the rest.
        if n == COUNT - 50_000
            && let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", child.id()))
        {
            let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let most: u32 = most.and_then(|most| most.trim().strip_suffix(" kB")?.parse().ok()).expect("a size");
            assert!(most < 64 << 10, "{most} KiB for 14 MB of XML");
        }
    }
    assert_eq!(lines.by_ref().collect::<Vec<_>>(), [format!("{}.5", COUNT - 1), "7.0".to_owned()]);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn what_is_wrong_with_streamed_items_is_said() {
    let call = |arguments: &[&str], url: &str| run(&[&["call", &lab()], arguments, &["--endpoint", url]].concat());
    let nowhere = "http://127.0.0.1:9/";
    let output = call(&["Look", "--stream"], nowhere);
    assert!(!output.status.success() && stderr(&output).contains("name, $choice; nothing was sent"), "{output:?}");
    let output = call(&["Look", "--stream=nick"], nowhere);
    assert!(stderr(&output).contains("no field nick; the fields are: name, $choice"), "{output:?}");
    assert_eq!(call(&["Look", "--stream", "--json"], nowhere).status.code(), Some(2));
    // Items that arrived before the connection broke are printed.
    let levels = "<level>2</level>".repeat(10);
    let (url, go) = in_two_parts(format!("{MEASURED}{levels}"), |_| {});
    go.send(()).expect("the server waits");
    // Validation is of the request alone.
    let output = call(&["Measure", "-d", "{\"count\":1}", "--stream=level", "--validation=refuse"], &url);
    assert_eq!((output.status.code(), stdout(&output)), (Some(4), "2.0\n".repeat(9).as_str()), "{output:?}");
    assert!(stderr(&output).contains("error: "), "{output:?}");
}

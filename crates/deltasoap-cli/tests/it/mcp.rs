//! `mcp`: a client of the Model Context Protocol speaks with it, on its pipes and over HTTP.

use super::{bench, command, serving, shop, stderr, testdata};
use deltasoap_test_support::{Answering, Serving};
use serde_json::{Value as Json, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A client on the pipes of the server.
struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    count: u64,
}

impl Session {
    fn start(arguments: &[&str]) -> Self {
        let mut command = command();
        let command = command.arg("mcp").args(arguments).env("DELTASOAP_PASSWORD", "let-me-in");
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let mut session = Session { child, input, output: BufReader::new(output), count: 0 };
        let begun = session.request("initialize", initialization());
        assert_eq!(begun["result"]["serverInfo"]["name"], "deltasoap", "{begun}");
        session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        session
    }

    fn send(&mut self, message: &Json) {
        writeln!(self.input, "{message}").expect("it reads");
    }

    fn request(&mut self, method: &str, parameters: Json) -> Json {
        self.count += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.count, "method": method, "params": parameters }));
        let mut line = String::new();
        self.output.read_line(&mut line).expect("an answer");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Calls a tool; returns its text, and whether it is an error.
    fn tool(&mut self, name: &str, arguments: Json) -> (String, bool) {
        let answer = self.request("tools/call", json!({ "name": name, "arguments": arguments }));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        (text.to_owned(), answer["result"]["isError"] == true)
    }

    fn fine(&mut self, name: &str, arguments: Json) -> String {
        let (text, is_error) = self.tool(name, arguments);
        assert!(!is_error, "{text}");
        text
    }

    fn error(&mut self, name: &str, arguments: Json) -> String {
        let (text, is_error) = self.tool(name, arguments);
        assert!(is_error, "{text}");
        text
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn initialization() -> Json {
    let client = json!({ "name": "test", "version": "1" });
    json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client })
}

fn mock() -> Serving {
    serving(&["mock", &shop()])
}

fn order() -> Json {
    json!({ "customer": "Ada", "item": [{ "code": "A-1", "count": 2 }] })
}

#[test]
fn a_model_finds_describes_and_calls_an_operation() {
    let mock = mock();
    let mut session = Session::start(&[&shop(), "--endpoint", &mock.url, "--allow", "Order"]);
    let tools = session.request("tools/list", json!({}));
    let names: Vec<_> = tools["result"]["tools"].as_array().expect("tools").iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["search", "describe", "call"]);
    assert!(tools.to_string().len() < 8 << 10);

    let found = session.fine("search", json!({ "query": "order" }));
    assert!(found.starts_with("Shop.Soap11.Order"), "{found}");
    assert!(!found.lines().next().expect("a line").contains("must not"), "{found}");
    let described = session.fine("describe", json!({ "name": "Order" }));
    assert!(described.contains("customer") && described.contains("A request to start from"), "{described}");

    let answer = session.fine("call", json!({ "operation": "Order", "request": order() }));
    let answer: Json = serde_json::from_str(&answer).expect("JSON");
    assert!(answer["number"].is_number(), "{answer}");
    let part = session.fine("call", json!({ "operation": "Order", "request": order(), "select": ["number"] }));
    assert_eq!(part, json!({ "number": answer["number"] }).to_string());
}

#[test]
fn what_is_not_allowed_is_not_called() {
    let mock = mock();
    let mut session = Session::start(&[&shop(), "--endpoint", &mock.url]);
    let error = session.error("call", json!({ "operation": "Order", "request": order() }));
    assert!(error.contains("(`--allow Shop.Soap11.Order`)"), "{error}");
    assert!(session.fine("search", json!({ "query": "order" })).contains("Order (must not be called)"));
    assert!(session.fine("describe", json!({ "name": "Order" })).contains("must not be called"));
    // Its name says that it reads.
    session.fine("call", json!({ "operation": "Ping", "request": { "text": "x" } }));
    drop(session);
    let mut session = Session::start(&[&shop(), "--endpoint", &mock.url, "--only", "--allow", "Catalogue"]);
    session.error("call", json!({ "operation": "Ping", "request": { "text": "x" } }));
    session.fine("call", json!({ "operation": "Catalogue" }));
    let output = command().args(["mcp", &shop(), "--allow", "Nothing"]).output().expect("it runs");
    assert!(!output.status.success() && stderr(&output).contains("Nothing"), "{output:?}");
}

#[test]
fn mistakes_are_explained() {
    let mock = mock();
    let mut session = Session::start(&[&shop(), "--endpoint", &mock.url, "--allow-all"]);
    let error = session.error("call", json!({ "operation": "Order", "request": { "customer": 1 } }));
    assert!(error.contains("the request does not fit") && error.contains("`describe` shows one"), "{error}");
    let error = session.error("call", json!({ "operation": "Odrer" }));
    assert!(error.contains("`search` finds operations"), "{error}");
    let error = session.error("describe", json!({ "name": "Odrer" }));
    assert!(error.contains("Order") || error.contains("search"), "{error}");
    let error = session.error("search", json!({ "words": "x" }));
    assert!(error.contains("unknown field `words`"), "{error}");
    let unknown = session.request("tools/call", json!({ "name": "drop", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    drop(mock);
    let error = session.error("call", json!({ "operation": "Order", "request": order() }));
    assert!(error.contains("nothing listens at"), "{error}");
}

/// A service that repeats what it was sent.
#[test]
fn credentials_stay_hidden() {
    let echo = Answering::new(|request: &str| {
        let seen = request.replace(['<', '>', '&'], " ");
        let fault = format!("<faultcode>s:Server</faultcode><faultstring>let-me-in {seen}</faultstring>");
        let body = format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault>{fault}</s:Fault></s:Body></s:Envelope>"
        );
        let length = body.len();
        format!("HTTP/1.1 500 Error\r\nContent-Type: text/xml\r\nContent-Length: {length}\r\n\r\n{body}")
    });
    let url = echo.url();
    let arguments = [&*shop(), "--allow-all", "--endpoint", &url, "-u", "ada", "-H", "X-Key: key-4711"];
    let mut session = Session::start(&arguments);
    let error = session.error("call", json!({ "operation": "Order", "request": order() }));
    assert!(error.contains("***") && error.to_lowercase().contains("x-key"), "{error}");
    for secret in ["let-me-in", "key-4711", "YWRhOmxldC1tZS1pbg=="] {
        assert!(!error.contains(secret), "{secret}: {error}");
    }
    assert!(echo.requests.lock().expect("requests")[0].contains("key-4711"), "it is sent");
}

#[test]
fn long_answers_are_cut() {
    let server = serving(&["serve"]);
    let mut session = Session::start(&[&bench(), "--endpoint", &server.url, "--max-answer", "2000", "--allow-all"]);
    let request = json!({ "item": (0..5000).collect::<Vec<_>>() });
    let answer = session.fine("call", json!({ "operation": "Soap11.echoInts", "request": request }));
    assert!(answer.contains("item has 5000 items, of which 100 are here"), "{answer}");
    assert!(answer.len() < 2500);
}

#[test]
fn large_descriptions_have_small_lists() {
    let wsdl = testdata("testdata/wsdl/FalkTannhaeuser+python-onvif-zeep/wsdl/devicemgmt.wsdl");
    let mut session = Session::start(&[&wsdl, "--max-answer", "4000"]);
    let all = session.fine("search", json!({ "limit": 200 }));
    assert!(all.len() < 4100 && all.contains(" more; search for other words"), "{all}");
    let network = session.fine("search", json!({ "query": "network get", "limit": 3 }));
    assert!(network.lines().count() <= 4 && network.contains("GetNetwork"), "{network}");
    assert!(session.fine("describe", json!({ "name": "GetDeviceInformation" })).len() <= 4000);
}

#[test]
fn it_is_served_over_http_too() {
    let mock = mock();
    let server = serving(&["mcp", &shop(), "--endpoint", &mock.url]);
    let address = server.url.strip_prefix("http://").and_then(|url| url.strip_suffix("/mcp")).expect("a URL");
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialization() }).to_string();
    let exchange = |host: &str, more: &str| {
        let mut stream = std::net::TcpStream::connect(address).expect("a connection");
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nConnection: close\r\n{more}Content-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("it reads");
        stream.write_all(body.as_bytes()).expect("it reads");
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        let mut seen = String::new();
        for line in lines {
            seen += &line;
            if line.contains("serverInfo") {
                break;
            }
        }
        seen
    };
    let answer = exchange(address, "");
    assert!(answer.contains("200 OK") && answer.contains(r#""name":"deltasoap""#), "{answer}");
    assert!(exchange("evil.example", "").contains("403"));
    assert!(exchange(address, "Origin: http://evil.example\r\n").contains("403"));
}

//! The commands as programs: their output and exit codes.

mod addressing;
#[cfg(feature = "archive")]
mod archive;
mod compiled;
mod cost;
mod diff;
mod documents;
mod faults;
#[cfg(feature = "gateway")]
mod gateway;
mod generate;
#[cfg(feature = "load")]
mod load;
mod loading;
#[cfg(feature = "mcp")]
mod mcp;
mod network;
#[cfg(feature = "proxy")]
mod proxy;
mod replay;
mod security;
mod takeover;
#[cfg(feature = "test")]
mod testing;
#[cfg(feature = "opentelemetry")]
mod traces;

use deltasoap_test_support::{Answering, Serving, files, read_request};
use serde_json::{Value as Json, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Programs that contain the command end it when they are interrupted. (In the unit tests, other
/// servers have taken what a process has only once.)
#[test]
fn a_command_ends_when_it_is_stopped() {
    let serve = ["deltasoap", "serve", "--listen", "127.0.0.1:0"];
    assert_eq!(deltasoap_cli::run(serve, std::future::ready(())), 130);
}

fn testdata(path: &str) -> String {
    files::in_repository(path).to_string_lossy().into_owned()
}

fn shop() -> String {
    testdata("crates/deltasoap-dynamic/tests/data/shop.wsdl")
}

fn bench() -> String {
    testdata("testdata/wsdl/bench.wsdl")
}

fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_deltasoap"))
}

fn run(arguments: &[&str]) -> Output {
    command().args(arguments).output().expect("the program runs")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> Json {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Starts a server on a free port, which runs until the test ends.
fn serving(arguments: &[&str]) -> Serving {
    Serving::start(command().args(arguments).args(["--listen", "127.0.0.1:0"]))
}

const ORDER: &str = r#"{"customer": "Ada", "item": [{"code": "A-1", "count": 2}]}"#;

#[test]
fn list_shows_ports_and_succeeds_for_what_is_whole() {
    let output = run(&["list", &shop()]);
    assert!(output.status.success(), "{output:?}");
    let expected = "Shop.Soap11  SOAP 1.1  http://localhost:8080/shop\n  Order\n  Catalogue\n  Ping\n\
                    Shop.Soap12  SOAP 1.2  http://localhost:8080/shop\n  Order\n  Catalogue\n  Ping\n";
    assert_eq!(stdout(&output), expected);
    let listing = json(&run(&["list", "--json", &shop()]));
    assert_eq!(listing["operations"].as_array().map(Vec::len), Some(6));
    assert_eq!(listing["operations"][0]["action"], "urn:shop#Order");
    let output = run(&["list", "/no/such.wsdl"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("/no/such.wsdl cannot be imported"), "{output:?}");
}

#[test]
fn who_has_seen_enough_is_no_error() {
    let folder = tempfile::tempdir().expect("a directory");
    let xml = run(&["template", "--xml", &shop(), "Order"]).stdout;
    std::fs::write(folder.path().join("order.xml"), xml).expect("a file");
    let shop = shop();
    let commands: [&[&str]; 3] = [
        &["describe", &shop],
        &["man"],
        &["replay", "--wsdl", &shop, "--repeat", "1", &folder.path().to_string_lossy()],
    ];
    for arguments in commands {
        let mut command = command();
        let command = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("an end");
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
}

/// Files that do not exist, are not WSDLs, or are not allowed: each error says so once, and what to
/// do.
#[test]
fn what_cannot_be_imported_is_said_with_what_to_do() {
    let mock = serving(&["mock", &shop()]);
    let folder = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_string_lossy().into_owned()
    };
    let wsdl2 = write("wsdl2.wsdl", "<description xmlns='http://www.w3.org/ns/wsdl'/>");
    let page = write("page.html", "<html><body/></html>");
    let out = "<schema xmlns='http://www.w3.org/2001/XMLSchema'><include schemaLocation='/etc/hostname'/></schema>";
    let out = write("out.xsd", out);
    let nowhere = "http://127.0.0.1:1/x?wsdl";
    for (wsdl, parts) in [
        (
            nowhere,
            &[
                "http://127.0.0.1:1/x?wsdl cannot be imported: ",
                "cannot connect: nothing listens at ",
                "is the service running",
            ][..],
        ),
        ("ftp://127.0.0.1/x", &["ftp is none of http, https and file"]),
        ("ftp://ada:pass@127.0.0.1/x", &["error: ftp://127.0.0.1/x cannot be imported: ftp is none of"]),
        ("http://ada:pass@a host/x", &["error: http://a host/x cannot be imported: the URL is malformed: "]),
        (&wsdl2, &["a WSDL 2.0 document"]),
        (&page, &["the root element is <html>", "with ?wsdl)"]),
        (&mock.url, &["is it a web page?", "with ?wsdl)"]),
        (&out, &["/etc/hostname is outside of ", "the nearest folder that contains both", "(--root DIR names"]),
    ] {
        let output = run(&["list", wsdl]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        assert!(text.lines().count() == 1 && text.matches(nowhere).count() <= 1, "{text}");
    }
    assert_eq!(run(&["list", ""]).status.code(), Some(2));
    let as_url = run(&["list", &format!("file://{}", Path::new(&shop()).canonicalize().expect("a path").display())]);
    assert!(as_url.status.success(), "{as_url:?}");
}

#[test]
fn documents_are_mapped_and_cataloged() {
    let folder = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_string_lossy().into_owned()
    };
    let wsdl = "http://127.0.0.1:1/shop?wsdl";
    let catalog = format!(
        "<catalog xmlns='urn:oasis:names:tc:entity:xmlns:xml:catalog'><uri name='{wsdl}' uri='{}'/></catalog>",
        Path::new(&shop()).canonicalize().expect("a path").display()
    );
    let catalog = write("catalog.xml", &catalog);
    let map = format!("{wsdl}={}", shop());
    for arguments in [["list", wsdl, "--map", &map], ["list", wsdl, "--catalog", &catalog]] {
        assert!(stdout(&run(&arguments)).contains("  Order\n"));
    }
    for (arguments, code, part) in [
        (["list", wsdl, "--map", "http://x/=/nowhere"], 1, "the file of --map cannot be read"),
        (["list", wsdl, "--map", "x"], 2, "--map <URL=FILE>: expected URL=FILE, found \"x\""),
        (["list", wsdl, "--catalog", "/nowhere"], 1, "/nowhere: No such file"),
    ] {
        let output = run(&arguments);
        assert!(output.status.code() == Some(code) && stderr(&output).contains(part), "{output:?}");
    }
}

#[test]
fn descriptions_without_operations_say_so() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("types.xsd");
    let text =
        "<schema xmlns='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'><complexType name='T'/></schema>";
    std::fs::write(&path, text).expect("a file");
    let path = path.to_string_lossy();
    let described = run(&["describe", &path]);
    assert_eq!(stdout(&described), "no operations with a SOAP binding\n");
    let http = folder.path().join("http.wsdl");
    let text = "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:t='urn:t' targetNamespace='urn:t'>\
        <portType name='P'/><binding name='B' type='t:P'/><service name='S'><port name='Q' binding='t:B'/></service></definitions>";
    std::fs::write(&http, text).expect("a file");
    for path in [&path, &http.to_string_lossy()] {
        let output = run(&["list", path]);
        assert!(output.status.code() == Some(1) && output.stdout.is_empty(), "{output:?}");
        let said = format!("error: {path} has no operations with a SOAP binding\n");
        assert!(stderr(&output).starts_with(&said), "{output:?}");
        let output = run(&["list", "--json", path]);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(json(&output)["faults"], json!(["no operations with a SOAP binding"]));
    }
    let output = run(&["generate", &path]);
    assert!(stdout(&output).contains("pub struct T") && output.stderr.is_empty(), "{output:?}");
    assert_eq!(run(&["mock", &path]).status.code(), Some(1));
    let empty = folder.path().join("empty.wsdl");
    std::fs::write(&empty, "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'/>").expect("a file");
    assert!(stderr(&run(&["generate", &empty.to_string_lossy()])).starts_with("warning: there is nothing to generate"));
}

#[test]
fn list_fails_where_something_is_missing() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("shop.wsdl");
    let text = std::fs::read_to_string(shop()).expect("a WSDL").replace("type=\"tns:Count\"", "type=\"tns:Number\"");
    std::fs::write(&path, text).expect("a file");
    let output = run(&["list", &path.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("  Order\n") && stderr(&output).contains("Number"), "{output:?}");
}

/// A WSDL with operations of all kinds and, before them, policies and a schema that does not exist.
const KINDS: &str = "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/'
  xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:t='urn:t' targetNamespace='urn:t'>
  <types><xs:schema targetNamespace='urn:t'>IMPORT<xs:element name='e' type='xs:int'/></xs:schema></types>
  <message name='m'><part name='a' element='t:e'/></message><message name='none'/><message name='typed'><part name='n' type='xs:int'/></message>
  <portType name='P'>
    <operation name='Ask'><input message='t:m'/><output message='t:m'/></operation>
    <operation name='Void'><input message='t:none'/></operation>
    <operation name='Typed'><input message='t:typed'/><output message='t:typed'/></operation>
    <operation name='Notify'><output message='t:m'/></operation>
    <operation name='Solicit'><output message='t:m'/><input message='t:m'/></operation>
  </portType>
  <binding name='B' type='t:P'><p:Policy><p:All>POLICY</p:All></p:Policy><soap:binding/>
    <operation name='Ask'/><operation name='Void'/><operation name='Typed'/><operation name='Notify'/><operation name='Solicit'/>
  </binding>
  <service name='S'><port name='Q' binding='t:B'><soap:address location='https://127.0.0.1:1/'/></port></service>
</definitions>";

#[test]
fn list_says_which_operations_cannot_be_called_or_generated() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("kinds.wsdl");
    std::fs::write(&path, KINDS.replace("IMPORT", "").replace("POLICY", "")).expect("a file");
    let path = path.to_string_lossy();
    let output = run(&["list", &path]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let expected = "S.Q  SOAP 1.1  https://127.0.0.1:1/\n  Ask\n  Void\n  Typed\n  \
        Notify  (notification: the service starts it; `call` can send it, `generate` omits it)\n  Solicit  (solicit-response: the service starts it; `call` can send it, `generate` omits it)\n";
    assert_eq!(stdout(&output), expected);
    let listed = json(&run(&["list", "--json", &path]));
    let marks: Vec<_> = listed["operations"]
        .as_array()
        .expect("operations")
        .iter()
        .map(|it| (it["kind"].as_str().expect("a kind"), it["not_callable"].is_null(), it["not_generated"].is_null()))
        .collect();
    assert_eq!(
        marks,
        [
            ("request-response", true, true),
            ("one-way", true, true),
            ("request-response", true, true),
            ("notification", true, false),
            ("solicit-response", true, false),
        ]
    );
    let output = run(&["template", "--xml", &path, "Typed"]);
    let template = stdout(&output);
    assert!(template.contains("<n xmlns=\"urn:t\""), "{template}");
}

/// Two operations with empty bodies and one action, at three ports of one binding.
const PORTS: &str = "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/' xmlns:t='urn:t'
  targetNamespace='urn:t'>
  <message name='none'/>
  <portType name='P'>
    <operation name='Ping'><input message='t:none'/><output message='t:none'/></operation>
    <operation name='Pong'><input message='t:none'/><output message='t:none'/></operation>
  </portType>
  <binding name='B' type='t:P'><soap:binding/>
    <operation name='Ping'><soap:operation soapAction='urn:ping'/></operation>
    <operation name='Pong'><soap:operation soapAction='urn:ping'/></operation>
  </binding>
  <service name='S'>
    <port name='Http' binding='t:B'><soap:address location='http://a.example/'/></port>
    <port name='Https' binding='t:B'><soap:address location='https://a.example/'/></port>
  </service>
  <service name='S2'><port name='Http' binding='t:B'><soap:address location='http://b.example/'/></port></service>
</definitions>";

#[test]
fn list_shows_each_port_and_what_generate_leaves_out_at_it() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("ports.wsdl");
    std::fs::write(&path, PORTS).expect("a file");
    let path = path.to_string_lossy();
    let output = run(&["list", &path]);
    let of_each = "\n  Ping\n  Pong  (`generate` omits it: its body is empty, and another has the same action)\n";
    let ports = ["S.Http  SOAP 1.1  http://a", "S.Https  SOAP 1.1  https://a", "S2.Http  SOAP 1.1  http://b"];
    let expected: String = ports.iter().map(|port| format!("{port}.example/{of_each}")).collect();
    assert_eq!(stdout(&output), expected, "{output:?}");
    let listed = json(&run(&["list", "--json", &path]));
    let listed = listed["operations"].as_array().expect("operations").iter();
    let generated: Vec<_> =
        listed.filter(|it| it["not_generated"].is_null()).map(|it| it["full_name"].clone()).collect();
    assert_eq!(generated, ["S.Http.Ping", "S.Https.Ping", "S2.Http.Ping"]);
    let code = run(&["generate", &path]);
    assert!(stdout(&code).contains("fn ping(") && !stdout(&code).contains("fn pong("), "{code:?}");
    assert!(
        stderr(&code).contains("left out: P.Pong: its body is empty, and its action is the same as that of Ping"),
        "{code:?}"
    );
}

#[test]
fn operations_that_need_a_name_xml_does_not_allow_are_left_out() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("names.wsdl");
    let bad = "<xs:element name='e'><xs:complexType><xs:all><xs:element name='area:Code' type='xs:int'/></xs:all></xs:complexType></xs:element>";
    let text = KINDS.replace("IMPORT", "").replace("POLICY", "").replace("<xs:element name='e' type='xs:int'/>", bad);
    std::fs::write(&path, text).expect("a file");
    let path = path.to_string_lossy();
    let why = "\"area:Code\" is not an XML name (NCName), so no message can contain an element of that name";
    let listed = run(&["list", &path]);
    assert_eq!(listed.status.code(), Some(1), "{listed:?}");
    assert!(stdout(&listed).contains(&format!("\n  Ask  (cannot be called: {why})\n")), "{listed:?}");
    assert!(stdout(&listed).contains("\n  Typed\n"), "{listed:?}");
    let notes = json(&run(&["list", "--json", &path]))["notes"].to_string();
    assert!(notes.contains("names.wsdl:3:") && notes.contains("area:Code"), "{notes}");
    for command in ["call", "template"] {
        let output = run(&[command, &path, "Ask"]);
        assert!(output.status.code() == Some(1) && stderr(&output).contains(why), "{output:?}");
    }
    let generated = run(&["generate", &path]);
    assert_eq!(generated.status.code(), Some(1), "{generated:?}");
    assert!(stderr(&generated).contains(&format!("left out: P.Ask: {why}")), "{generated:?}");
    let code = stdout(&generated);
    assert!(code.contains("fn typed(") && !code.contains("fn ask(") && !code.contains("area_Code"), "{code}");
}

#[test]
fn documents_that_are_not_there_are_said_though_nothing_needs_them() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("kinds.wsdl");
    let import = "<xs:import namespace='urn:gone' schemaLocation='gone.xsd'/>";
    std::fs::write(&path, KINDS.replace("IMPORT", import).replace("POLICY", "")).expect("a file");
    let output = run(&["list", &path.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("gone.xsd could not be loaded"), "{output:?}");
}

#[test]
fn policies_that_are_not_met_are_said() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("kinds.wsdl");
    let policy = "<x:SignedParts xmlns:x='urn:x'/><x:May xmlns:x='urn:x' p:Optional='true'/><sp:TransportBinding xmlns:sp='http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702'/>";
    std::fs::write(&path, KINDS.replace("IMPORT", "").replace("POLICY", policy)).expect("a file");
    let path = path.to_string_lossy();
    let call = ["call", &path, "Ask", "-d", "1", "--timeout", "5"];
    // `mock` reports everything else before it fails because it cannot listen.
    let mock = ["mock", &path, "--listen", "192.0.2.1:1"];
    for arguments in [&["list", &path][..], &["generate", &path], &call, &mock] {
        let said = stderr(&run(arguments));
        let warning = said
            .lines()
            .find(|line| line.contains("have requirements that are not met automatically: "))
            .expect("a warning");
        assert!(warning.ends_with(": SignedParts") && warning.contains("S.Q.Ask"), "{warning}");
    }
    assert!(run(&["list", &path]).status.success());
    let listed = json(&run(&["list", "--json", &path]));
    assert_eq!(listed["operations"][0]["unmet_policies"], json!(["SignedParts"]));
}

/// Extensions that must be understood are reported like policies.
#[test]
fn extensions_that_are_required_and_unknown_are_said() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("kinds.wsdl");
    let extension = "<x:secure xmlns:x='urn:x' w:required='true' xmlns:w='http://schemas.xmlsoap.org/wsdl/'/>";
    let text = KINDS
        .replace("IMPORT", "")
        .replace("POLICY", "")
        .replace("<soap:binding/>", &format!("{extension}<soap:binding/>"));
    std::fs::write(&path, text).expect("a file");
    let path = path.to_string_lossy();
    let listed = run(&["list", &path]);
    let said = stderr(&listed);
    assert!(listed.status.success(), "{said}");
    assert!(said.contains("the extension {urn:x}secure is required but unknown"), "{said}");
    for arguments in [&["list", &*path][..], &["call", &path, "Ask", "-d", "1", "--timeout", "5"]] {
        let said = stderr(&run(arguments));
        let warning = said.lines().find(|line| line.contains("requirements that are not met automatically"));
        assert!(warning.is_some_and(|line| line.ends_with(": extension {urn:x}secure")), "{said}");
    }
}

#[test]
fn describe_shows_occurrence_facets_and_documentation() {
    let output = run(&["describe", &shop(), "Order"]);
    let text = stdout(&output);
    for line in [
        "# Orders articles.",
        "operation Shop.Soap11.Order  (SOAP 1.1; document/literal; action urn:shop#Order; at http://localhost:8080/shop)",
        "item         Item  [1..*]",
        "one of       [0..1]",
        "payment      Payment  [0..1]",
        "request header SessionHeader",
        "fault SoldOutFault",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let output = run(&["describe", &shop(), "Code"]);
    let text = "# Code of an article, as on its label.\n\
                type Code {urn:shop} : xsd:token  (xsd:token; length at most 12; pattern [A-Z]{1,3}-\\d+)\n";
    assert_eq!(stdout(&output), text);
    let part = &json(&run(&["describe", "--json", &shop(), "Item"]))[0];
    assert_eq!(part["parts"][1]["facts"], json!(["xsd:token", "length at most 12", "pattern [A-Z]{1,3}-\\d+"]));
    let output = run(&["describe", &shop(), "itm"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let output = run(&["describe", &shop(), "order"]);
    assert!(stderr(&output).contains("available: Order, OrderResponse"), "{output:?}");
}

#[test]
fn a_template_is_a_request() {
    let output = run(&["template", &shop(), "Order"]);
    let template = stdout(&output).to_owned();
    assert!(template.starts_with("{\n  \"@urgent\": true,\n  \"customer\""), "{template}");
    let mock = serving(&["mock", &shop()]);
    let output = run(&["call", &shop(), "Order", "-d", &template, "--endpoint", &mock.url]);
    assert!(output.status.success(), "{output:?}");
    let xml = run(&["template", "--xml", &shop(), "Soap12.Order"]);
    assert!(stdout(&xml).contains("http://www.w3.org/2003/05/soap-envelope"), "{xml:?}");
    assert_eq!(json(&run(&["template", "--response", &shop(), "Order"]))["number"], 1);
}

/// An order of more items than the schema allows.
fn invalid_order() -> String {
    let order = ORDER.replace("\"count\":2", "\"count\":2000").replace("\"count\": 2", "\"count\": 2000");
    assert_ne!(order, ORDER);
    order
}

#[test]
fn invalid_requests_are_not_sent_unless_that_is_asked_for() {
    let (mock, order) = (serving(&["mock", &shop(), "--validation", "off"]), invalid_order());
    let call =
        |more: &[&str]| run(&[&["call", &shop(), "Order", "-d", &order, "--endpoint", &mock.url], more].concat());
    for more in [&[][..], &["--validation", "refuse"]] {
        let output = call(more);
        let said = stderr(&output);
        assert_eq!((output.status.code(), stdout(&output)), (Some(1), ""), "{output:?}");
        let is_shown = said.contains("nothing was sent:\n  ") && said.contains("item/count: 2000 is not at most 1000");
        assert!(is_shown && said.contains("`--validation report` sends it"), "{said}");
    }
    let output = call(&["--validation", "report"]);
    let warned = "warning: the request is invalid: 1:";
    assert!(output.status.success() && stderr(&output).contains(warned), "{output:?}");
    assert_eq!(stderr(&output).lines().count(), 1, "{output:?}");
    let output = call(&["--validation", "off"]);
    assert_eq!((output.status.success(), &*stderr(&output)), (true, ""), "{output:?}");
    assert_eq!(call(&["--validation", "sometimes"]).status.code(), Some(2));
}

#[test]
fn invalid_answers_are_reported_or_refused_where_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("a file");
        path.to_string_lossy().into_owned()
    };
    let placed = r#"{"number": 7000, "total": {"@currency": "EUR", "$": 20}, "placed": "2026-11-22T10:00:00Z"}"#;
    file("Order.json", placed);
    let mock = serving(&["mock", &shop(), "--replies", &folder.path().to_string_lossy()]);
    let text = std::fs::read_to_string(shop()).expect("a WSDL");
    let text = text.replace("name=\"number\" type=\"xs:long\"", "name=\"number\" type=\"tns:Count\"");
    let narrow = file("narrow.wsdl", &text);
    let call = |more: &[&str]| run(&[&["call", &narrow, "Order", "-d", ORDER, "--endpoint", &mock.url], more].concat());
    for more in [&[][..], &["--validation", "off"]] {
        let output = call(more);
        assert_eq!((json(&output)["number"].as_u64(), &*stderr(&output)), (Some(7000), ""), "{output:?}");
    }
    let output = call(&["--validation", "report"]);
    assert_eq!(json(&output)["number"], 7000);
    let finding = "OrderResponse/number: 7000 is not at most 1000";
    assert!(
        stderr(&output).contains("warning: the answer is invalid: ") && stderr(&output).contains(finding),
        "{output:?}"
    );
    let output = call(&["--validation", "refuse"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(4), ""), "{output:?}");
    assert!(stderr(&output).contains("the answer is refused: ") && stderr(&output).contains(finding), "{output:?}");
}

#[test]
fn mocks_refuse_or_report_invalid_requests() {
    let order = invalid_order();
    let call = |mock: &Serving| {
        let arguments = ["call", &shop(), "Order", "-d", &order, "--validation", "off", "--endpoint", &mock.url];
        run(&arguments)
    };
    for more in [&[][..], &["--validation", "refuse"], &["--tolerance", "unknown", "--validation", "refuse"]] {
        let output = call(&serving(&[&["mock", &shop()], more].concat()));
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(stderr(&output).contains("/Envelope/Body/Order/item/count: 2000 is not at most 1000"), "{output:?}");
    }
    for more in [&["--validation", "report"][..], &["--validation", "off"], &["--tolerance", "unknown"]] {
        assert!(call(&serving(&[&["mock", &shop()], more].concat())).status.success(), "{more:?}");
    }
}

#[test]
fn call_takes_json_from_anywhere() {
    let mock = serving(&["mock", &shop()]);
    let endpoint = ["--endpoint", mock.url.as_str()];
    let (shop, folder) = (shop(), tempfile::tempdir().expect("a directory"));
    let file = folder.path().join("order.json");
    std::fs::write(&file, ORDER).expect("a file");
    let at_file = format!("@{}", file.display());
    for (version, data) in [("1.1", ORDER), ("1.2", at_file.as_str())] {
        let arguments = ["call", &shop, "Order", "-d", data, "--soap", version];
        let output = run(&[&arguments[..], &endpoint].concat());
        assert_eq!(json(&output)["total"], json!({ "@currency": "EUR", "$": 1 }), "{output:?}");
    }
    let mut child = command()
        .args(["call", &shop, "Ping", "-d", "-"])
        .args(endpoint)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    child.stdin.take().expect("its input").write_all(br#"{"text": "x"}"#).expect("written");
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success() && stderr(&output).contains("one-way"), "{output:?}");
    let by_url = format!("{}?wsdl", mock.url);
    let output = run(&["call", &by_url, "Catalogue", "--json"]);
    assert_eq!(json(&output)["response"]["root"]["name"], "text", "the URL is rewritten: {output:?}");
}

#[test]
fn call_shows_what_passes_but_no_secrets() {
    let mock = serving(&["mock", &shop()]);
    let blocks = ["--header-block", r#"Session={"token": "t"}"#, "--header-block", "<x xmlns='urn:x'/>"];
    let arguments =
        ["call", &shop(), "Order", "-d", ORDER, "-v", "-H", "X-Trace: 5", "-u", "ada:secret", "--endpoint", &mock.url];
    let output = run(&[&arguments[..], &blocks].concat());
    let shown = stderr(&output);
    for part in [
        "> POST http://",
        "> x-trace: 5",
        "> authorization: (not shown)",
        "customer>Ada<",
        ":token>t<",
        "urn:x",
        "< 200 OK",
        "OrderResponse",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    assert!(output.status.success() && !shown.contains("secret"), "{output:?}");
    let url = mock.url.replace("http://", "http://ada:secret@");
    let mut in_url = command();
    in_url.args(["call", &shop(), "Order", "-d", ORDER, "-v", "--endpoint", &url]);
    let output = in_url.env("RUST_LOG", "info").output().expect("the program runs");
    let shown = stderr(&output);
    assert!(shown.contains("> authorization: (not shown)") && shown.contains("answered"), "{shown}");
    assert!(output.status.success() && !shown.contains("secret"), "{output:?}");
}

#[test]
fn errors_say_what_to_do_and_have_codes() {
    let mock = serving(&["mock", &shop()]);
    let call = |arguments: &[&str]| run(&[&["call", &shop()], arguments, &["--endpoint", &mock.url]].concat());
    let output = call(&["Order", "-d", r#"{"customer": "Ada"}"#]);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(
        text.contains(".item: expected an array of at least 1, found nothing") && text.contains("deltasoap template"),
        "{text}"
    );
    let output = call(&["Odrer"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("available: Catalogue, Order, Ping"), "{output:?}");
    assert_eq!(call(&["Order", "-d", "{"]).status.code(), Some(1));
    assert_eq!(call(&["Order", "--soap", "2.0"]).status.code(), Some(2));
    let output = call(&["Order", "-d", ORDER, "--header-block", "Sesion={}"]);
    assert!(stderr(&output).contains("declares no element Sesion"), "{output:?}");
    let output = run(&["call", &shop(), "Order", "-d", ORDER, "--endpoint", "http://127.0.0.1:1/"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
}

#[test]
fn faults_are_readable() {
    let replies = tempfile::tempdir().expect("a directory");
    let fault = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault><faultcode>s:Client</faultcode>\
                 <faultstring>sold out</faultstring><detail><SoldOut xmlns='urn:shop'><code>A-1</code></SoldOut></detail>\
                 </s:Fault></s:Body></s:Envelope>";
    std::fs::write(replies.path().join("Order-fault.xml"), fault).expect("a file");
    std::fs::write(replies.path().join("Catalogue.json"), r#"{"root": {"name": "recorded"}}"#).expect("a file");
    let mock = serving(&["mock", &shop(), "--replies", &replies.path().to_string_lossy()]);
    let output = run(&["call", &shop(), "Order", "-d", ORDER, "--endpoint", &mock.url]);
    assert_eq!(output.status.code(), Some(3));
    let text = stderr(&output);
    assert!(text.starts_with("fault: sold out\n  code: Client\n  detail SoldOut: {\n    \"code\": \"A-1\""), "{text}");
    let output = run(&["call", &shop(), "Order", "-d", ORDER, "--json", "--endpoint", &mock.url]);
    assert_eq!(json(&output)["fault"]["detail"]["SoldOut"]["code"], "A-1");
    assert_eq!(json(&run(&["call", &shop(), "Catalogue", "--endpoint", &mock.url]))["root"]["name"], "recorded");
}

#[test]
fn the_services_of_serve_are_called_by_their_wsdl() {
    let server = serving(&["serve"]);
    let call = |operation: &str, data: &str| run(&["call", &bench(), operation, "-d", data, "--endpoint", &server.url]);
    let output = call("echoDoubles", r#"{"item": [0.1, "INF", -2]}"#);
    assert_eq!(json(&output), json!({ "item": [0.1, "INF", -2.0] }), "{output:?}");
    let output = run(&["list", &format!("{}?wsdl", server.url)]);
    assert!(output.status.success() && stdout(&output).contains("echoStruct"), "{output:?}");
}

#[test]
fn validate_names_the_place() {
    let folder = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    let good = write("good.xml", "<Ping xmlns='urn:shop'><text>x</text></Ping>");
    let bad = write("bad.http", "POST / HTTP/1.1\r\nHost: x\r\n\r\n<Ping xmlns='urn:shop'>\n <txt>x</txt></Ping>");
    let output = run(&["validate", &shop(), &good.to_string_lossy()]);
    assert!(output.status.success() && stdout(&output).ends_with("good.xml: ok\n"), "{output:?}");
    let output = run(&["validate", &shop(), &good.to_string_lossy(), &bad.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("bad.http:2:2: /Ping/txt: expected <text>, found <txt>"), "{output:?}");
    let output = run(&["validate", "--json", &shop(), &bad.to_string_lossy()]);
    assert_eq!(json(&output)["line"], 2);
    let mut command = command();
    let command = command.args(["validate", &shop(), "-"]).stdin(std::fs::File::open(&bad).expect("a file"));
    let output = command.output().expect("the program runs");
    assert!(stdout(&output).starts_with("-:2:2: /Ping/txt: expected <text>"), "{output:?}");
}

#[test]
fn validate_goes_on_after_what_it_cannot_read() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    std::fs::write(file("empty.xml"), " ").expect("a file");
    std::fs::write(file("cut.xml"), "<Ping xmlns='urn:shop'>").expect("a file");
    std::fs::write(file("good.xml"), "<Ping xmlns='urn:shop'><text>x</text></Ping>").expect("a file");
    let output =
        run(&["validate", &shop(), &file("none.xml"), &file("empty.xml"), &file("cut.xml"), &file("good.xml")]);
    let (out, text) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text.contains("none.xml cannot be read: No such file") && text.contains("empty.xml: no message: empty"),
        "{text}"
    );
    assert!(out.contains("cut.xml:1:24: ") && !out.contains(": : ") && out.ends_with("good.xml: ok\n"), "{out}");
}

#[test]
fn validate_reads_packages() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name).to_string_lossy().into_owned();
        std::fs::write(&path, content).expect("a file");
        path
    };
    let wsdl = file(
        "w.wsdl",
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' targetNamespace='urn:t'><types>\
         <xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'><xs:element name='Op'>\
         <xs:simpleType><xs:restriction base='xs:base64Binary'><xs:maxLength value='3'/></xs:restriction></xs:simpleType>\
         </xs:element></xs:schema></types></definitions>",
    );
    let package = |href: &str, part: &str| {
        format!(
            "--B\r\nContent-Type: application/xop+xml; type=\"text/xml\"\r\n\r\n<Op xmlns='urn:t'>\
             <x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' href='cid:{href}'/></Op>\r\n\
             --B\r\nContent-ID: <p@x>\r\n\r\n{part}\r\n--B--\r\n"
        )
    };
    let head = "POST / HTTP/1.1\r\nContent-Type: multipart/related; boundary=B; type=\"application/xop+xml\"\r\n\r\n";
    let good = file("good.http", &format!("{head}{}", package("p@x", "abc")));
    let bare = file("bare.mime", &package("p%40x", "abc"));
    let output = run(&["validate", &wsdl, &good, &bare]);
    assert!(output.status.success(), "{output:?}");
    let long = file("long.http", &format!("{head}{}", package("p@x", "abcd")));
    let other = file("other.mime", &package("q@x", "abc"));
    let output = run(&["validate", &wsdl, &long, &other]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = stdout(&output);
    assert!(text.contains("long.http:1:1: /Op: ") && text.contains("at most 3"), "{text}");
    assert!(text.contains("/Op/Include: the message came without the part that \"cid:q@x\" refers to"), "{text}");
}

#[test]
fn replay_reads_messages_by_a_wsdl() {
    let folder = tempfile::tempdir().expect("a directory");
    let files: Vec<String> = (0..8)
        .map(|number| {
            let xml =
                stdout(&run(&["template", "--xml", &shop(), "Order"])).replace(">1<", &format!(">{}<", 1 + number % 2));
            let path = folder.path().join(format!("order-{number}.xml"));
            std::fs::write(&path, xml).expect("a file");
            path.to_string_lossy().into_owned()
        })
        .collect();
    let output = run(&["replay", "--wsdl", &shop(), "--repeat", "1", "--json", &folder.path().to_string_lossy()]);
    assert_eq!(json(&output)["messages"], 8, "{output:?}");
    let arguments = ["replay", "--wsdl", &shop(), "--repeat", "1"].map(ToOwned::to_owned);
    let output = command().args(arguments).args(&files).output().expect("the program runs");
    assert!(output.status.success() && stdout(&output).contains("Order"), "{output:?}");
}

#[test]
fn options_of_loading_need_something_to_load() {
    let output = run(&["replay", "--offline", "."]);
    assert!(output.status.code() == Some(2) && stderr(&output).contains("--wsdl"), "{output:?}");
    let output = run(&["replay", "-u", "ada:pw", "."]);
    assert!(output.status.code() == Some(2) && stderr(&output).contains("--wsdl"), "{output:?}");
    let output = run(&["list", "-u", "ada", "http://127.0.0.1:1/"]);
    assert!(stderr(&output).ends_with("or set DELTASOAP_PASSWORD\n"), "{output:?}");
}

/// Starts a server whose certificate nobody trusts; returns the certificate as a file.
fn serving_tls(options: &[&str]) -> (tempfile::TempDir, String, Serving) {
    let folder = tempfile::tempdir().expect("a directory");
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let file = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_string_lossy().into_owned()
    };
    let (cert, key) = (file("cert.pem", made.cert.pem()), file("key.pem", made.signing_key.serialize_pem()));
    let serving = serving(&[&["serve", "--tls-cert", &cert, "--tls-key", &key], options].concat());
    (folder, cert, serving)
}

#[test]
fn who_is_trusted_is_said_once_for_the_wsdl_and_the_service() {
    let (folder, cert, server) = serving_tls(&[]);
    let wsdl = format!("{}?wsdl", server.url);
    let output = run(&["list", &wsdl]);
    assert!(output.status.code() == Some(1) && stderr(&output).contains("(--cacert FILE"), "{output:?}");
    let output = run(&["call", &bench(), "echoDoubles", "--endpoint", &server.url]);
    let (code, text) = (output.status.code(), stderr(&output));
    assert!(
        code == Some(4) && text.contains("authority that is not trusted") && text.contains("--cacert FILE"),
        "{text}"
    );
    std::fs::write(folder.path().join("one.xml"), run(&["template", "--xml", &bench(), "echoDoubles"]).stdout)
        .expect("a file");
    for trust in [&["-k"][..], &["--cacert", &cert]] {
        let with = |arguments: &[&str]| run(&[arguments, trust].concat());
        assert!(stdout(&with(&["list", &wsdl])).contains("echoStruct"));
        let output = with(&["call", &wsdl, "echoDoubles", "-d", r#"{"item": [2.5]}"#]);
        assert_eq!(json(&output), json!({ "item": [2.5] }), "{output:?}");
        let output = with(&[
            "replay",
            "--wsdl",
            &wsdl,
            "--repeat",
            "1",
            "--json",
            &folder.path().join("one.xml").to_string_lossy(),
        ]);
        assert_eq!(json(&output)["messages"], 1, "{output:?}");
    }
}

/// A certificate with openssl's defaults: an authority's, self-signed, with the host as its common
/// name.
#[test]
fn certificates_of_openssl_are_trusted_for_the_wsdl_and_the_service() {
    let file = |name: &str| format!("{}/../../testdata/tls/{name}", env!("CARGO_MANIFEST_DIR"));
    let (cert, key) = (file("openssl.pem"), file("openssl.key"));
    let server = serving(&["serve", "--tls-cert", &cert, "--tls-key", &key]);
    let url = server.url.replace("127.0.0.1", "localhost");
    let wsdl = format!("{url}?wsdl");
    let output = run(&["list", &wsdl]);
    assert!(output.status.code() == Some(1) && stderr(&output).contains("--cacert FILE trusts"), "{output:?}");
    let output = run(&["list", &wsdl, "--cacert", &cert]);
    assert!(stdout(&output).contains("echoStruct"), "{output:?}");
    for described in [&wsdl, &bench()] {
        let arguments = ["call", described, "echoDoubles", "-d", r#"{"item": [2.5]}"#, "--endpoint", &url];
        let output = run(&[&arguments[..], &["--cacert", &cert]].concat());
        assert_eq!(json(&output), json!({ "item": [2.5] }), "{output:?}");
    }
    let other = run(&["list", &format!("{}?wsdl", server.url), "--cacert", &cert]);
    assert!(!other.status.success() && stderr(&other).contains("use a URL with"), "{other:?}");
}

#[test]
fn completions_and_manual_pages_are_those_of_the_command() {
    for shell in ["bash", "zsh", "fish"] {
        let output = run(&["completions", shell]);
        assert!(stdout(&output).contains("header-block"), "{shell}");
    }
    assert!(stdout(&run(&["man"])).contains(".TH deltasoap 1"));
    let folder = tempfile::tempdir().expect("a directory");
    assert!(run(&["man", "--dir", &folder.path().to_string_lossy()]).status.success());
    let page = std::fs::read_to_string(folder.path().join("deltasoap-call.1")).expect("a page");
    assert!(page.contains("header\\-block"), "{page}");
}

#[test]
fn keys_that_are_there_twice_are_refused() {
    let data = r#"{"customer": "A", "item": [{"code": "A-1", "count": 1, "count": 2}]}"#;
    let output = run(&["call", &shop(), "Order", "-d", data]);
    let said = stderr(&output);
    assert!(!output.status.success() && said.contains(".item[0]: the key \"count\" appears twice at line 1"), "{said}");
}

#[test]
fn notes_are_said_with_the_list() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("kinds.wsdl");
    std::fs::write(
        folder.path().join("other.xsd"),
        "<schema xmlns='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:o'/>",
    )
    .expect("a file");
    let more = "<xs:include schemaLocation='other.xsd'/><junk xmlns=''/><xs:simpleType name='P'><xs:restriction base='xs:string'>\
                <xs:pattern value='a*?'/></xs:restriction></xs:simpleType>";
    std::fs::write(&path, KINDS.replace("IMPORT", more).replace("POLICY", "")).expect("a file");
    let output = run(&["list", &path.to_string_lossy()]);
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    for note in [
        "`urn:o` is included in one for `urn:t`",
        "<junk>, in no namespace, is not part",
        "the pattern a*? is not valid",
    ] {
        let line = said.lines().find(|line| line.contains(note)).unwrap_or_else(|| panic!("{note}: {said}"));
        assert!(line.starts_with("note: ") && line.contains("kinds.wsdl:"), "{line}");
    }
}

#[test]
fn what_is_read_otherwise_is_said_by_every_command_that_goes_by_it() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("shop.wsdl").to_string_lossy().into_owned();
    let wsdl = std::fs::read_to_string(shop()).expect("a description");
    let wrong =
        wsdl.replacen("<xs:element name=\"Order\"", "<xs:element nillable=\"yes\" size=\"1\" name=\"Order\"", 1);
    assert_ne!(wsdl, wrong);
    let missing = "<xs:complexType name=\"None\"><xs:complexContent><xs:extension base=\"no:T\"/></xs:complexContent></xs:complexType>";
    let wrong = wrong.replacen("</xs:schema>", &format!("{missing}</xs:schema>"), 1);
    let line = wrong.lines().position(|line| line.contains("nillable=\"yes\"")).expect("the line") + 1;
    std::fs::write(&path, wrong).expect("a file");
    let note = format!("note: {path}:{line}:");
    for arguments in [
        &["list", &path][..],
        &["describe", &path, "Order"],
        &["generate", &path],
        &["template", &path, "Order"],
        &["call", &path, "Order", "--endpoint", "http://127.0.0.1:9/"],
        &["mock", &path, "--listen", "192.0.2.1:1"],
    ] {
        let text = stderr(&run(arguments));
        for what in ["`nillable=\"yes\"` of <element> is not one of", "<element> has no attribute `size`"] {
            assert!(text.lines().any(|line| line.starts_with(&note) && line.contains(what)), "{what}: {text}");
        }
        assert_eq!(text.matches("type no:T is not defined").count(), 1, "{text}");
    }
}

#[test]
fn shared_types_and_rows_are_described() {
    let graph = testdata("crates/deltasoap-dynamic/tests/data/graph.wsdl");
    let vertex = run(&["describe", &graph, "Vertex"]);
    assert!(stdout(&vertex).contains("$id, $ref"), "{}", stdout(&vertex));
    let matrix = run(&["describe", &graph, "Matrix"]);
    assert!(stdout(&matrix).contains("arrays of arrays"), "{}", stdout(&matrix));
}

//! WSDLs and servers that attack the user of the command: their text must not control the terminal,
//! add lines to a request, or pass for output of the command itself.

use deltasoap_test_support::Answering;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Instant;
use tempfile::TempDir;

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_deltasoap")).args(arguments).output().expect("the program runs")
}

/// Returns what was printed: standard output and standard error.
fn printed(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    (text(&output.stdout), text(&output.stderr))
}

/// Asserts that the output has nothing that a terminal would obey, nor text that is shown in a
/// different order.
fn assert_harmless(arguments: &[&str], output: &Output) {
    let (out, err) = printed(output);
    let reverses =
        |c: char| matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let obeyed = |c: char| c.is_control() && c != '\n' || reverses(c);
    for text in [&out, &err] {
        assert!(!text.contains(obeyed), "{arguments:?} prints {text:?}");
        // In XML, values may have several lines.
        let forged = text.lines().find(|line| line.starts_with("forged") && !arguments.contains(&"--xml"));
        assert_eq!(forged, None, "{arguments:?} prints {text}");
    }
}

/// Prints a row of the table of attacks.
fn row(attack: &str, answer: &str, start: Instant) {
    println!("| {attack} | {answer} | {} ms | |", start.elapsed().as_millis());
}

/// Everything that terminals obey and XML may contain (CSI and OSC in their forms of one character,
/// DEL), a mark that reverses text, and a line that passes for one of ours.
const EVIL: &str =
    "&#x9B;2J&#x9D;0;owned&#x9C;&#x7F;&#x85;&#x202E;lave&#x2066;&#x200F;&#10;forged: all is well&#13;forged";

/// Returns a WSDL with [`EVIL`] wherever it may contain text.
fn hostile_wsdl() -> String {
    let nc = "x&#x9B;2J&#10;forged";
    format!(
        r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
  xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t&#x9B;2J&#10;forged" targetNamespace="urn:t&#x9B;2J&#10;forged" name="{EVIL}">
 <documentation>{EVIL}</documentation>
 <types><xs:schema targetNamespace="urn:t&#x9B;2J&#10;forged" elementFormDefault="qualified">
  <xs:element name="Ask"><xs:annotation><xs:documentation>{EVIL}</xs:documentation></xs:annotation><xs:complexType><xs:sequence>
   <xs:element name="colour" type="t:colour" default="{EVIL}"/>
   <xs:element name="pattern" minOccurs="0"><xs:simpleType><xs:restriction base="xs:string"><xs:pattern value="{EVIL}"/></xs:restriction></xs:simpleType></xs:element>
  </xs:sequence><xs:attribute name="kind" fixed="{EVIL}"/></xs:complexType></xs:element>
  <xs:element name="Answer" type="xs:string"/>
  <xs:simpleType name="colour"><xs:restriction base="xs:string"><xs:enumeration value="{EVIL}"/></xs:restriction></xs:simpleType>
  <xs:complexType name="base{nc}" abstract="true"><xs:sequence><xs:element name="{nc}" type="xs:string"/></xs:sequence></xs:complexType>
 </xs:schema></types>
 <message name="in"><part name="p" element="t:Ask"/></message><message name="out"><part name="p" element="t:Answer"/></message>
 <portType name="P"><operation name="Ask"><documentation>{EVIL}</documentation><input message="t:in"/><output message="t:out"/></operation>
  <operation name="Odd{nc}"><input message="t:in"/><output message="t:out"/></operation></portType>
 <binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
  <operation name="Ask"><soap:operation soapAction="{EVIL}"/><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation>
  <operation name="Odd{nc}"><soap:operation soapAction=""/><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation></binding>
 <service name="S{nc}"><port name="Q{nc}" binding="t:B"><soap:address location="http://h/{EVIL}"/></port></service>
</definitions>"#
    )
}

const PLAIN_WSDL: &str = r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
  xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">
 <types><xs:schema targetNamespace="urn:t"><xs:element name="Ask" type="xs:string"/><xs:element name="Answer" type="xs:string"/></xs:schema></types>
 <message name="in"><part name="p" element="t:Ask"/></message><message name="out"><part name="p" element="t:Answer"/></message>
 <portType name="P"><operation name="Ask"><input message="t:in"/><output message="t:out"/></operation></portType>
 <binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
  <operation name="Ask"><soap:operation soapAction=""/><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation></binding>
 <service name="S"><port name="Q" binding="t:B"><soap:address location="http://localhost:1/"/></port></service>
</definitions>"#;

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Files(tempfile::tempdir().expect("a directory"))
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path: PathBuf = self.0.path().join(name);
        std::fs::write(&path, content).expect("a file");
        path.to_string_lossy().into_owned()
    }
}

#[test]
fn descriptions_do_not_control_the_terminal() {
    let start = Instant::now();
    let files = Files::new();
    let wsdl = files.write("hostile.wsdl", hostile_wsdl());
    let message = files.write(
        "message.xml",
        format!("<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><Ask xmlns='{EVIL}'>{EVIL}</Ask></e:Body></e:Envelope>"),
    );
    let compiled = files.0.path().join("compiled").to_string_lossy().into_owned();
    let commands: [&[&str]; 12] = [
        &["list", &wsdl],
        &["list", "--json", &wsdl],
        &["describe", &wsdl],
        &["describe", "--json", &wsdl],
        &["describe", &wsdl, "Ask"],
        &["describe", &wsdl, "colour"],
        &["template", &wsdl, "Ask"],
        &["template", "--xml", &wsdl, "Ask"],
        &["validate", &wsdl, &message],
        &["validate", "--json", &wsdl, &message],
        &["generate", &wsdl],
        &["compile", &wsdl, "-o", &compiled],
    ];
    for arguments in &commands {
        let output = run(arguments);
        assert_harmless(arguments, &output);
        let (out, err) = printed(&output);
        let is_expected = if arguments[0] == "validate" { Some(1) } else { output.status.code() };
        assert_eq!(output.status.code(), is_expected);
        assert!(!out.is_empty() || !err.is_empty(), "{arguments:?} says something");
    }
    // Escaped text is still there, and means the same.
    let listing: serde_json::Value = serde_json::from_slice(&run(&["list", "--json", &wsdl]).stdout).expect("JSON");
    let action = listing["operations"][0]["action"].as_str().expect("an action");
    assert!(action.contains("\u{9b}2J") && action.contains("\u{202e}lave"), "{action:?}");
    let sample = String::from_utf8(run(&["template", "--xml", &wsdl, "Ask"]).stdout).expect("UTF-8");
    assert!(sample.contains("&#x9B;2J"), "{sample}");
    let answer = format!("{} commands print them escaped", commands.len());
    row(
        "terminal escapes, reversing marks and forged lines in names, values and documentation of a WSDL",
        &answer,
        start,
    );
}

/// The error of a failed import quotes the text that caused it.
#[test]
fn what_is_no_description_does_not_control_the_terminal() {
    let start = Instant::now();
    let files = Files::new();
    let escape = "\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}";
    let broken = [
        format!("<{escape}/>"),
        format!("<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'><{escape}/></definitions>"),
        "<a\u{9b}2J/>".to_owned(),
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:xs='http://www.w3.org/2001/XMLSchema'><import location='x&#x9B;2J&#10;forged: yes.wsdl' \
         namespace='&#x9B;2J&#10;forged'/><types><xs:schema><xs:element name='a' type='b&#x9B;2J&#10;forged'/><xs:include \
         schemaLocation='x&#x9B;2J&#10;forged'/></xs:schema></types></definitions>".to_owned(),
        format!("<html xmlns='{EVIL}'/>"),
    ];
    for (number, text) in broken.iter().enumerate() {
        let wsdl = files.write(&format!("{number}.wsdl"), text);
        for command in ["list", "generate"] {
            let arguments = [command, &wsdl];
            assert_harmless(&arguments, &run(&arguments));
        }
    }
    row("the same in what is no WSDL", &format!("{} errors quote them escaped", 2 * broken.len()), start);
}

fn response(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
        .into_bytes()
}

#[test]
fn servers_do_not_control_the_terminal() {
    let start = Instant::now();
    let files = Files::new();
    let wsdl = files.write("plain.wsdl", PLAIN_WSDL);
    let envelope = |body: &str| {
        format!("<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>{body}</e:Body></e:Envelope>")
    };
    let fault = envelope(&format!(
        "<e:Fault><faultcode xmlns:x='{EVIL}'>x:a</faultcode><faultstring>{EVIL}</faultstring><faultactor>{EVIL}</faultactor>\
         <detail><a xmlns='{EVIL}'>{EVIL}</a></detail></e:Fault>"
    ));
    let answer = envelope(&format!("<Answer xmlns='urn:t'>{EVIL}</Answer>"));
    let wrong = envelope(&format!("<Other xmlns='{EVIL}'/>"));
    let raw = "\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}\rforged";
    let text = "Content-Type: text/xml\r\nX: a\u{9b}2J\u{202e}\r\n";
    let answers = [
        response("500 Oops", text, &fault),
        response("200 OK", text, &answer),
        response("200 OK", text, &wrong),
        response("200 OK", text, raw),
        response("404 \u{9b}2J", "Content-Type: text/html\r\n", raw),
        response("200 OK", "Content-Type: \u{9b}2J\r\n", raw),
        response("302 Found", "Location: http://h/\u{9b}2J\r\n", ""),
        response("200 OK", &format!("Content-Encoding: \u{9b}2J\r\n{text}"), raw),
        raw.as_bytes().to_vec(),
    ];
    let request = r#""a question""#;
    let (mut shown, calls) = (0, 3 * answers.len());
    for answer in answers {
        let url = Answering::alike(answer).url();
        for more in [&[][..], &["--json"], &["--verbose"]] {
            let front = ["call", &wsdl, "Ask", "-d", request, "--endpoint", &url, "--timeout", "10"];
            let arguments = [&front, more].concat();
            let output = run(&arguments);
            assert_harmless(&arguments, &output);
            let (out, err) = printed(&output);
            shown += usize::from(format!("{out}{err}").contains("u009b2J"));
        }
    }
    assert!(shown > 10, "{shown} of the answers are shown");
    row(
        "the same in status lines, headers, faults and values of a server",
        &format!("{calls} calls print nothing that a terminal obeys"),
        start,
    );
}

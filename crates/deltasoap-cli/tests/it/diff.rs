//! `deltasoap diff`, as a user runs it.

use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const SHOP: &str = include_str!("../../../deltasoap-dynamic/tests/data/shop.wsdl");

/// Two versions of a WSDL.
struct Versions {
    folder: TempDir,
}

impl Versions {
    /// Replaces a piece of the shop's WSDL.
    fn new(from: &str, to: &str) -> Self {
        assert!(SHOP.contains(from), "{from}");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("old.wsdl"), SHOP).expect("written");
        std::fs::write(folder.path().join("new.wsdl"), SHOP.replace(from, to)).expect("written");
        Versions { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn diff(&self, arguments: &[&str]) -> Output {
        command("diff").args(arguments).args([self.path("old.wsdl"), self.path("new.wsdl")]).output().expect("it runs")
    }
}

fn command(name: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deltasoap"));
    command.arg(name);
    command
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8")
}

fn tighter() -> Versions {
    Versions::new("<xs:maxInclusive value=\"1000\"/>", "<xs:maxInclusive value=\"100\"/>")
}

#[test]
fn text_shows_place_change_verdicts_and_messages() {
    let output = tighter().diff(&[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let expected = "\
place                           change                   clients   servers
Order request Order/item/count  1 to 1000 → 1 to 100     breaking  safe
    clients: the new WSDL refuses ";
    assert!(stdout(&output).replace("   ", "").starts_with(&expected.replace("   ", "")), "{}", stdout(&output));
    assert!(
        stdout(&output).ends_with("\n\n1 change; clients: 1 breaking, 0 unknown; servers: 0 breaking, 0 unknown\n")
    );
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn no_change_is_success() {
    let output = Versions::new("A shop that has", "A shop which has").diff(&[]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(stdout(&output), "no changes that messages show\n");
    let output = Versions::new("A shop that has", "A shop which has").diff(&["--markdown", "--fail-on", "any"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), "No changes that messages show.\n"));
}

#[test]
fn the_exit_code_depends_on_what_is_asked() {
    let tighter = tighter();
    let moved = Versions::new("http://localhost:8080/shop", "http://localhost:8081/shop");
    for (versions, arguments, code) in [
        (&tighter, &["--for", "clients"][..], 1),
        (&tighter, &["--for", "servers"], 0),
        (&tighter, &["--for", "servers", "--fail-on", "any"], 1),
        (&tighter, &["--fail-on", "never"], 0),
        (&moved, &[], 0),
        (&moved, &["--fail-on", "unknown"], 1),
        (&moved, &["--json", "--markdown"], 2),
    ] {
        let output = versions.diff(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
    }
    let missing = command("diff").args(["/no/such.wsdl", "/no/other.wsdl"]).output().expect("it runs");
    assert_eq!(missing.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&missing.stderr);
    assert!(stderr.contains("/no/such.wsdl cannot be") && stderr.contains("/no/other.wsdl cannot be"), "{stderr}");
}

#[test]
fn witnesses_are_files_that_validate_judges() {
    let versions = tighter();
    let folder = versions.path("broken/messages");
    let output = versions.diff(&["--witnesses", &folder.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(1));
    let names: Vec<_> = folder.read_dir().expect("a folder").flatten().map(|it| it.file_name()).collect();
    assert_eq!(names, ["1-clients-valid-for-old.xml"]);
    let message = folder.join("1-clients-valid-for-old.xml");
    let judge = |wsdl: &str, message: &Path| {
        command("validate").args([versions.path(wsdl).as_path(), message]).status().expect("it runs").code()
    };
    assert_eq!((judge("old.wsdl", &message), judge("new.wsdl", &message)), (Some(0), Some(1)));
}

#[test]
fn an_action_is_an_http_request() {
    let versions = Versions::new("soapAction=\"urn:shop#Ping\"", "soapAction=\"urn:shop#Pong\"");
    let folder = versions.path("broken");
    versions.diff(&["--witnesses", &folder.to_string_lossy()]);
    let message = folder.join("1-servers-valid-for-new.http");
    let text = std::fs::read_to_string(&message).expect("a file");
    assert!(text.contains("SOAPAction: \"urn:shop#Pong\""), "{text}");
    let judged = command("validate").args([versions.path("old.wsdl"), message]).output().expect("it runs");
    assert!(judged.status.success(), "{judged:?}");
}

#[test]
fn json_has_everything() {
    let output = tighter().diff(&["--json"]);
    let json: Json = serde_json::from_slice(&output.stdout).expect("JSON");
    let change = &json["changes"][0];
    assert_eq!((&change["operation"], &change["message"]), (&"Order".into(), &"request".into()));
    assert_eq!((&change["path"], &change["servers"]["verdict"]), (&"Order/item/count".into(), &"safe".into()));
    let clients = &change["clients"];
    assert_eq!((&clients["verdict"], &clients["valid_for"]), (&"breaking".into(), &"old".into()));
    assert_eq!(clients["refused_by"], "new");
    assert!(clients["message"].as_str().is_some_and(|it| it.contains("Envelope")), "{clients}");
    assert!(clients["refusal"].as_str().is_some_and(|it| it.ends_with("is not at most 100")), "{clients}");
}

#[test]
fn markdown_is_a_table_with_messages_to_unfold() {
    let output = tighter().diff(&["--markdown"]);
    let text = stdout(&output);
    assert!(
        text.starts_with("1 change; clients: 1 breaking, 0 unknown; servers: 0 breaking, 0 unknown.\n\n| |"),
        "{text}"
    );
    assert!(
        text.contains("| 1 | Order request Order/item/count | 1 to 1000 → 1 to 100 | **breaking** | safe |\n"),
        "{text}"
    );
    assert!(text.contains("<details><summary>1. clients: ") && text.contains("```xml\n<?xml"), "{text}");
}

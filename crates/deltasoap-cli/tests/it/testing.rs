//! `deltasoap test`, as a user runs it.

use crate::{json, run, serving, shop, stderr, stdout};
use deltasoap_test_support::Answering;
use std::process::Output;

/// A service that answers orders, blames itself for one of them, and does not read what it gets.
fn broken() -> Answering {
    let response = |status: &str, body: &str| {
        let text = format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>{body}</s:Body></s:Envelope>"
        );
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/xml\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
            text.len()
        )
    };
    Answering::new(move |request| match request.contains("maybe") {
        true => response(
            "500 Internal Server Error",
            "<s:Fault><faultcode>s:Server</faultcode><faultstring>Traceback (most recent call last):</faultstring></s:Fault>",
        ),
        false => response(
            "200 OK",
            "<OrderResponse xmlns='urn:shop'><number>1</number><total currency='EUR'>1</total>\
             <placed>2026-01-02T03:04:05Z</placed></OrderResponse>",
        ),
    })
}

fn test(url: &str, arguments: &[&str]) -> Output {
    run(&[&["test", &shop(), "--endpoint", url, "--operation", "Soap11.Order"], arguments].concat())
}

#[test]
fn a_mock_passes_all_checks() {
    let mock = serving(&["mock", &shop()]);
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("new/reports/report.xml").to_string_lossy().into_owned();
    let output = run(&[
        "test",
        &shop(),
        "--endpoint",
        &mock.url,
        "--strict",
        "--max-cases",
        "40",
        "--junit",
        &report,
        "--wsa",
        "--jobs",
        "4",
        "--encodings",
        // A machine with much to do is no finding.
        "--timeout",
        "60",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("6 operations") && stdout(&output).ends_with("0 failures, 0 warnings; seed 1\n"));
    assert!(stderr(&output).contains("the requests may change data"), "{output:?}");
    let read = std::fs::read_to_string(report).expect("a report");
    let junit = quick_junit::Report::deserialize_from_str(&read).expect("a JUnit report");
    assert_eq!((junit.test_suites.len(), junit.failures), (6, 0));
    assert!(junit.tests > 60, "{}", junit.tests);
}

#[test]
fn failures_are_shown_with_request_answer_and_commands() {
    let server = broken();
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.xml").to_string_lossy().into_owned();
    let output = test(&server.url(), &["--max-cases", "60", "--junit", &report]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = stdout(&output);
    for part in [
        "failure: stack-trace: Shop.Soap11.Order: ",
        "answer: HTTP status 500, text/xml",
        "curl -sS http://127.0.0.1:",
        "-H 'soapaction: \"urn:shop#Order\"'",
        " --operation Shop.Soap11.Order --seed 1 --case ",
        "warning: missing-element: ",
        "failure: version-mismatch: ",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let read = std::fs::read_to_string(report).expect("a report");
    let junit = quick_junit::Report::deserialize_from_str(&read).expect("a JUnit report");
    assert!(junit.failures > 2, "{read}");
}

#[test]
fn json_says_all_and_a_case_is_repeated_by_its_number() {
    let server = broken();
    let arguments = ["--max-cases", "60", "--json", "--checks", "stack-trace"];
    let found = json(&test(&server.url(), &arguments));
    let findings = found["findings"].as_array().expect("an array");
    let finding = findings.first().expect("a finding");
    assert_eq!((&finding["check"], &finding["severity"]), (&"stack-trace".into(), &"failure".into()));
    assert!(finding["request"].as_str().is_some_and(|request| request.contains("maybe")), "{finding}");
    assert_eq!(found["operations"][0]["checks"].as_object().map(serde_json::Map::len), Some(1));
    let number = finding["case"].to_string();
    let again = json(&test(&server.url(), &["--json", "--checks", "stack-trace", "--case", &number]));
    assert_eq!(again["findings"][0]["request"], finding["request"]);
    assert_eq!(again["operations"][0]["valid"], 0);
}

#[test]
fn the_same_seed_sends_the_same_requests() {
    let requests = |seed| {
        let server = broken();
        test(&server.url(), &["--max-cases", "30", "--max-shrinks", "0", "--seed", seed]);
        let mut requests = server.requests.lock().expect("no panic").clone();
        requests.iter_mut().for_each(|it| *it = it.split_off(it.find("\r\n\r\n").unwrap_or(0)));
        requests
    };
    let first = requests("3");
    assert!(first.len() > 20);
    assert_eq!(first, requests("3"));
    assert_ne!(first, requests("4"));
}

#[test]
fn saved_requests_are_sent_again() {
    let server = broken();
    let folder = tempfile::tempdir().expect("a folder");
    let saved = folder.path().join("failing").to_string_lossy().into_owned();
    let checks = ["--max-cases", "60", "--checks", "stack-trace,version-mismatch"];
    let output = test(&server.url(), &[&checks[..], &["--save", &saved]].concat());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stdout(&output).contains("failing/1-Order-"), "{output:?}");
    let again = test(&server.url(), &["--replay", &saved]);
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    let mock = serving(&["mock", &shop()]);
    let mended = test(&mock.url, &["--replay", &saved]);
    assert_eq!(mended.status.code(), Some(0), "{mended:?}");
    let empty = test(&mock.url, &["--replay", &folder.path().to_string_lossy()]);
    assert_eq!(empty.status.code(), Some(2), "{empty:?}");
}

/// What was not answered, or not even sent, has not passed.
#[test]
fn replays_without_answers_fail() {
    let server = broken();
    let folder = tempfile::tempdir().expect("a folder");
    let saved = folder.path().to_string_lossy().into_owned();
    test(&server.url(), &["--max-cases", "60", "--checks", "stack-trace", "--save", &saved]);
    let closed = std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    let output = test(&format!("http://{closed}/"), &["--replay", &saved]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(stdout(&output).contains("the service does not answer: "), "{output:?}");
    let locked = Answering::alike("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let output = test(&locked.url(), &["--replay", &saved]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let hangs_up = Answering::new(|request: &str| match request.contains("maybe") {
        true => Vec::new(),
        false => b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec(),
    });
    let output = test(&hangs_up.url(), &["--replay", &saved]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stdout(&output).contains("failure: answered: "), "{output:?}");
    let other = ["test", &shop(), "--endpoint", &server.url(), "--operation", "Soap12.Ping", "--replay", &saved];
    for output in [run(&other), test(&server.url(), &["--replay", &saved, "--checks", "envelope"])] {
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(stderr(&output).contains("is for the operations and checks that are selected"), "{output:?}");
    }
}

#[test]
fn saved_requests_replace_those_of_earlier_runs_and_nothing_else() {
    let server = broken();
    let folder = tempfile::tempdir().expect("a folder");
    let names = || {
        let entries = std::fs::read_dir(folder.path()).expect("a directory");
        let mut names: Vec<_> =
            entries.map(|it| it.expect("an entry").file_name().into_string().expect("text")).collect();
        names.sort();
        names
    };
    for other in ["notes.json", "1-Order-stack-trace.txt", "own.xml"] {
        std::fs::write(folder.path().join(other), "{}").expect("a file");
    }
    let saved = folder.path().to_string_lossy().into_owned();
    test(&server.url(), &["--max-cases", "60", "--checks", "stack-trace,version-mismatch", "--save", &saved]);
    assert!(names().len() >= 3 + 4, "{:?}", names());
    test(&server.url(), &["--max-cases", "20", "--checks", "response-time", "--save", &saved]);
    assert_eq!(names(), ["1-Order-stack-trace.txt", "notes.json", "own.xml"]);
}

#[test]
fn nothing_tested_is_an_error_that_says_why() {
    let server = broken();
    let output =
        run(&["test", &shop(), "--endpoint", &server.url(), "--operation", "Soap11.Catalogue", "--case", "5000"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stdout(&output).contains(" cases, and none with the number 5000"), "{output:?}");
    assert!(stderr(&output).contains("no operation was tested"), "{output:?}");
    assert!(server.requests.lock().expect("no panic").is_empty());
}

#[test]
fn answers_that_cannot_be_read_are_described() {
    for (answer, said) in [
        ("SSH-2.0-OpenSSH_9.9\r\n", "its answer cannot be read: "),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\nConnection: close\r\n\r\n<a/>", "its answer cannot be read: "),
    ] {
        let output = test(&Answering::alike(answer).url(), &[]);
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        assert!(stdout(&output).contains(said) && !stdout(&output).contains("does not answer"), "{output:?}");
    }
    for (head, said) in [
        ("200 OK\r\nContent-Type: text/xml\r\nContent-Encoding: gzip", "Content-Encoding: gzip)"),
        ("302 Found\r\nLocation: /elsewhere?token=hush", "Location: /elsewhere?...)"),
    ] {
        let answer = format!("HTTP/1.1 {head}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n\u{1f}\u{1}");
        let output = test(&Answering::alike(answer).url(), &["--max-cases", "3"]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(stdout(&output).contains(said) && !stdout(&output).contains("hush"), "{output:?}");
    }
}

#[test]
fn commands_have_the_options_of_the_run_without_secrets() {
    let server = broken();
    let url = format!("{}?token=hush&wsdl", server.url());
    let arguments = [
        "--max-cases",
        "40",
        "--strict",
        "--checks",
        "stack-trace,missing-element",
        "--idempotent",
        "Ping",
        "--max-response-time",
        "60000",
        "--wsa",
        "-H",
        "X-Token: hush",
        "-H",
        "X-Plain: a b",
        "-u",
        "ada:hush",
        "--wsse-user",
        "bob:hush",
        "--wsse-timestamp",
    ];
    let output = test(&url, &arguments);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let again = stdout(&output).lines().find(|line| line.contains(" deltasoap test ")).expect("a command");
    for part in [
        " -H 'X-Token: ...' -H 'X-Plain: a b' -u ada ",
        "?token=...&wsdl",
        " --wsse-user bob --wsse-timestamp --wsa --strict --checks stack-trace,missing-element --idempotent Ping \
         --max-response-time 60000 --operation Shop.Soap11.Order ",
    ] {
        assert!(again.to_lowercase().contains(&part.to_lowercase()), "{part}\n{again}");
    }
    let curl = stdout(&output).lines().find(|line| line.contains(" curl ")).expect("a command");
    assert!(curl.contains("?token=...&wsdl'") && curl.contains(" -u ada "), "{curl}");
    let shown = format!("{}{}", stdout(&output), stderr(&output));
    assert!(!shown.contains("hush"), "{shown}");
}

#[test]
fn wrong_arguments_and_services_that_do_not_answer_have_their_exit_codes() {
    let output = run(&["test", &shop(), "--operation", "Nothing"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there is no operation Nothing"), "{output:?}");
    assert_eq!(run(&["test", &shop(), "--checks", "nothing"]).status.code(), Some(2));
    assert_eq!(run(&["test", "/no/such.wsdl"]).status.code(), Some(2));
    let closed = std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    let output = test(&format!("http://{closed}/"), &[]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(stdout(&output).contains("the service does not answer: "), "{output:?}");
    let locked = Answering::alike("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let output = test(&locked.url(), &[]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(stdout(&output).contains("refuses access (HTTP status 401)"), "{output:?}");
}

#[test]
fn header_blocks_are_sent_and_secrets_are_not_shown() {
    let server = broken();
    let output =
        test(&server.url(), &["--max-cases", "40", "--wsse-user", "ada:let-me-in", "--wsa", "-H", "X-Token: hush"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let requests = server.requests.lock().expect("no panic").clone();
    let is_whole = |request: &&String| {
        ["UsernameToken", "let-me-in", "urn:shop#Order</", "MessageID", "x-token: hush"]
            .iter()
            .all(|it| request.contains(it))
    };
    assert!(requests.iter().filter(is_whole).count() > 30, "{:?}", requests.first());
    let shown = format!("{}{}", stdout(&output), stderr(&output));
    assert!(!shown.contains("let-me-in") && !shown.contains("UsernameToken") && !shown.contains("hush"), "{shown}");
}

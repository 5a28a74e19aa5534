//! Tests the load generator against a small server that can be faulty.
#![cfg(unix)]

use deltasoap_test_support::read_request;
use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// Returns the answer to a request's body; `None` closes the connection instead.
type Answer = fn(request: &str, number: u64) -> Option<String>;

/// Starts a server with these answers.
fn serve(answer: Answer) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::new(AtomicU64::new(0)));
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let count = Arc::clone(&count);
            thread::spawn(move || serve_connection(stream, answer, &count));
        }
    });
    address
}

fn serve_connection(stream: TcpStream, answer: Answer, count: &AtomicU64) {
    let mut requests = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some(request) = read_request(&mut requests) {
        let (_, request) = request.split_once("\r\n\r\n").expect("a head");
        let Some(body) = answer(request, count.fetch_add(1, Relaxed)) else { return };
        let status = if body.is_empty() { "500 No" } else { "200 OK" };
        let response = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        if stream.write_all(response.as_bytes()).is_err() {
            return;
        }
    }
}

/// Returns the correct answer of an echo.
fn echo(request: &str) -> String {
    ["echoVoid", "echoInts"]
        .iter()
        .fold(request.to_owned(), |text, name| text.replace(name, &format!("{name}Response")))
}

fn load(server: SocketAddr, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deltasoap-bench"));
    command.args(["load", "--json", "--no-pin", "--url", &server.to_string()]).args(arguments);
    for (option, default) in [("--seconds", "0.3"), ("--warm-up", "0.1")] {
        if !arguments.contains(&option) {
            command.args([option, default]);
        }
    }
    command.output().unwrap()
}

fn line(output: &Output) -> serde_json::Value {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn a_closed_loop_keeps_every_connection_busy() {
    let own = std::process::id().to_string();
    let messages = ["--message", "echoVoid=3", "--message", "echoInts:10=1"];
    let server = serve(|request, _| Some(echo(request)));
    let output = load(
        server,
        &[&messages[..], &["--connections", "8", "--threads", "2", "--seconds", "1", "--pid", &own]].concat(),
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line = line(&output);
    let answered = |index: usize| line["messages"][index]["answered"].as_f64().unwrap();
    assert_eq!((&line["messages"][0]["message"], &line["connections"]), (&"echoVoid".into(), &8.into()));
    let share = answered(0) / (answered(0) + answered(1));
    assert!(answered(0) > 100.0 && (share - 0.75).abs() < 0.1, "{line}");
    assert!(line["cpu_us_per_request"].as_f64().is_some() && line["peak_bytes"].as_u64() > Some(0), "{line}");
    let [p50, p999, max] = ["p50", "p999", "max"].map(|key| line["messages"][0][key].as_f64().unwrap());
    assert!(0.0 < p50 && p50 <= p999 && p999 <= max, "{line}");
}

#[test]
fn an_open_loop_sends_as_many_as_asked_for() {
    for arrivals in ["constant", "poisson"] {
        let server = serve(|request, _| Some(echo(request)));
        let options = ["--rate", "500", "--arrivals", arrivals, "--connections", "20", "--seconds", "1"];
        let line = line(&load(server, &options));
        let answered = line["messages"][0]["answered"].as_u64().unwrap();
        assert!((400..=600).contains(&answered), "{line}");
    }
}

/// A server that answers one request at a time, every 20 milliseconds, at twice the rate that it
/// can sustain: latency counts from the scheduled time, even with few connections.
#[test]
fn time_in_which_a_request_could_not_be_sent_counts() {
    let server = serve(|request, _| {
        thread::sleep(Duration::from_millis(20));
        Some(echo(request))
    });
    let options = ["--rate", "100", "--arrivals", "constant", "--seconds", "1", "--warm-up", "0"];
    let line = line(&load(server, &options));
    assert!(line["messages"][0]["max"].as_f64().unwrap() > 500_000.0, "{line}");
}

#[test]
fn a_wrong_answer_does_not_count() {
    // The first answers are correct, since the messages are tried first.
    let answers: [(Answer, &str); 3] = [
        (
            |request, number| {
                Some(echo(request).replace("<item>7<", if number > 40 { "<item>8<" } else { "<item>7<" }))
            },
            "wrong values",
        ),
        (|request, number| Some(if number % 50 == 49 { String::new() } else { echo(request) }), "status 500"),
        (|request, number| (number % 50 != 49).then(|| echo(request)), "closed"),
    ];
    for (answer, complaint) in answers {
        let output = load(serve(answer), &["--message", "echoInts:9", "--connections", "4"]);
        assert!(!output.status.success(), "{complaint}");
        let line = line(&output);
        assert!(line["messages"][0]["failed"][complaint].as_u64() > Some(0), "{line}");
        assert!(line["messages"][0]["answered"].as_u64() > Some(0), "{line}");
    }
}

#[test]
fn a_server_that_is_wrong_from_the_beginning_is_not_loaded() {
    let output = load(serve(|request, _| Some(request.to_owned())), &["--message", "echoInts:9"]);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("echoInts:9 is answered with: wrong values"), "{said}");
    let nobody = load("127.0.0.1:1".parse().unwrap(), &[]);
    assert!(String::from_utf8_lossy(&nobody.stderr).contains("no server listens"));
}

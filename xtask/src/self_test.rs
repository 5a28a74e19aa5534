//! The self-test of a peer: small messages whose checksums are computed here.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::composites::{self, Composite};
use crate::values::Values;
use crate::{peer, shell};
use deltasoap_streams::arrays::{self, Event, Mio};
use deltasoap_streams::peer::{Hello, PeerProcess};
use deltasoap_streams::vsphere;

/// Time limit for all checks of a peer: then it is killed, and its remaining checks fail.
const LIMIT: Duration = Duration::from_secs(180);

/// Runs every workload of the peer on small values, and requests that must fail, and calls its
/// server (another peer's if it has none); returns the result of each check.
pub fn run(program: &Path, server: &Path) -> Result<Vec<bool>> {
    let mut peer = start(program)?;
    let _limit = peer::limit(&peer, LIMIT);
    let hello = peer.hello()?;
    println!("{} {}", hello.peer, hello.version);
    if hello.workloads.iter().any(|name| name.starts_with("send-")) {
        peer.connect(start_sink()?, None)?;
    }
    let capabilities = Capabilities::of(&hello);
    let mut outcomes: Vec<_> =
        hello.workloads.iter().map(|name| report(name, check_workload(&mut peer, name, capabilities))).collect();
    outcomes.push(report("errors", check_errors(&mut peer, hello.workloads.is_empty())));
    outcomes.extend(check_server(&mut peer, &hello)?);
    outcomes.extend(check_calls(&mut peer, &hello, server)?);
    outcomes.push(report("quit", peer.quit().map_err(Into::into)));
    Ok(outcomes)
}

fn start(program: &Path) -> Result<PeerProcess> {
    PeerProcess::start(program).with_context(|| format!("cannot start {}", program.display()))
}

/// Starts a server for one connection that reads and discards everything; returns its port.
fn start_sink() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot listen")?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || -> io::Result<u64> { io::copy(&mut listener.accept()?.0, &mut io::sink()) });
    Ok(port)
}

fn report(name: &str, result: Result<()>) -> bool {
    match &result {
        Ok(()) => println!("{name:16} ok"),
        Err(error) => println!("{name:16} FAILED: {error:#}"),
    }
    result.is_ok()
}

fn check_workload(peer: &mut PeerProcess, workload: &str, capabilities: Capabilities) -> Result<()> {
    let (direction, kind) = workload.split_once('-').context("a workload is DIRECTION-KIND")?;
    if kind == "resource" {
        return check_recorded(peer, workload);
    }
    for values in samples(kind, capabilities)? {
        check_runs(peer, workload, &values)?;
        if direction != "decode" {
            check_output(peer, kind, &values)?;
        }
    }
    Ok(())
}

/// Checks a recorded message. Its values are checked by the benchmark program, which knows their
/// type.
fn check_recorded(peer: &mut PeerProcess, workload: &str) -> Result<()> {
    let message = vsphere::resource();
    let prepared = peer.prepare(workload, 1, message)?;
    let runs = peer.run(20)?;
    same(&runs.checksum, &prepared.checksum, "the checksum after run")?;
    same(&prepared.bytes, &message.len(), "bytes")
}

fn check_runs(peer: &mut PeerProcess, workload: &str, values: &Values) -> Result<()> {
    let message = values.message();
    let prepared = peer.prepare(workload, values.len(), message.as_bytes())?;
    same(&prepared.checksum, &values.checksum(), "the checksum after prepare")?;
    // More runs than there are copies of the message.
    let runs = peer.run(20)?;
    same(&runs.checksum, &values.checksum(), "the checksum after run")?;
    same(&runs.ns.len(), &20, "the number of runs")?;
    match workload.starts_with("decode") {
        true => same(&prepared.bytes, &message.len(), "bytes"),
        false => same(&prepared.bytes, &peer.output()?.len(), "bytes"),
    }
}

/// Checks that the peer's output is a message that it decodes to the same values.
fn check_output(peer: &mut PeerProcess, kind: &str, values: &Values) -> Result<()> {
    let output = peer.output()?;
    let text = str::from_utf8(&output).context("the output is not UTF-8")?;
    ensure!(text.contains("urn:bench"), "the output has no operation of ours: {text}");
    let again = peer.prepare(&format!("decode-{kind}"), values.len(), &output)?;
    same(&again.checksum, &values.checksum(), "the checksum of the output")
}

/// Sends a message to each operation that the peer's server offers.
fn check_server(peer: &mut PeerProcess, hello: &Hello) -> Result<Vec<bool>> {
    if hello.operations.is_empty() {
        return Ok(Vec::new());
    }
    let (port, capabilities) = (peer.serve(2)?, Capabilities::of(hello));
    Ok(hello.operations.iter().map(|operation| report(operation, call(port, operation, capabilities))).collect())
}

/// Has the peer's client call each operation that it offers, and the last of them over each
/// transport, each time in a new process.
fn check_calls(peer: &mut PeerProcess, hello: &Hello, server: &Path) -> Result<Vec<bool>> {
    let Some(last) = hello.calls.last() else { return Ok(Vec::new()) };
    let (secrets, capabilities) = (Secrets::new()?, Capabilities::of(hello));
    let mut outcomes = Vec::new();
    let mut plain = start(server)?;
    let port = plain.serve(2)?;
    for operation in &hello.calls {
        outcomes.push(report(&format!("call {operation}"), check_call(peer, port, operation, capabilities)));
    }
    for transport in &hello.transports {
        let over_it = check_transport(peer, server, transport, &secrets, last, capabilities);
        outcomes.push(report(&format!("call by {transport}"), over_it));
    }
    Ok(outcomes)
}

/// Checks a call over a transport other than plain HTTP.
fn check_transport(
    peer: &mut PeerProcess,
    server: &Path,
    transport: &str,
    secrets: &Secrets,
    operation: &str,
    capabilities: Capabilities,
) -> Result<()> {
    let mut server = start(server)?;
    let _limit = peer::limit(&server, LIMIT);
    for end in [&mut server, peer] {
        end.transport(transport, &secrets.folder)?;
    }
    let port = server.serve(2)?;
    check_call(peer, port, operation, capabilities)
}

/// Has the peer's client call a server.
fn check_call(peer: &mut PeerProcess, port: u16, operation: &str, capabilities: Capabilities) -> Result<()> {
    let (message, checksum) = called(operation, capabilities)?;
    let prepared = peer.call(port, operation, RECEIVED, message.as_bytes())?;
    same(&prepared.checksum, &checksum, "the checksum of the first call")?;
    let runs = peer.run(3)?;
    same(&runs.checksum, &checksum, "the checksum of the last call")?;
    same(&runs.ns.len(), &3, "the number of calls")
}

/// A certificate for this machine with its key, as required by the protocol's `transport`.
struct Secrets {
    folder: PathBuf,
}

impl Secrets {
    fn new() -> Result<Self> {
        let folder = shell::workspace("secrets")?;
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
        let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        fs::write(folder.join("certificate.pem"), &certificate)?;
        fs::write(folder.join("key.pem"), &key)?;
        fs::write(folder.join("identity.pem"), key + &certificate)?;
        Ok(Secrets { folder })
    }
}

/// The values that a peer can handle.
#[derive(Debug, Clone, Copy)]
struct Capabilities {
    /// Maximum number of bytes of a character in UTF-8.
    octets: usize,
    /// True if it can handle neither the minimum xsd:int nor infinite xsd:doubles.
    no_extremes: bool,
}

impl Capabilities {
    fn of(hello: &Hello) -> Self {
        let octets = match (hello.two_octets, hello.basic_plane) {
            (true, _) => 2,
            (false, true) => 3,
            (false, false) => 4,
        };
        Capabilities { octets, no_extremes: hello.no_extremes }
    }

    fn has(self, character: char) -> bool {
        character.len_utf8() <= self.octets
    }

    fn min_int(self) -> i32 {
        if self.no_extremes { i32::MIN + 1 } else { i32::MIN }
    }

    fn max_double(self) -> f64 {
        if self.no_extremes { f64::MAX } else { f64::INFINITY }
    }
}

/// Number of items that a call receives.
const RECEIVED: usize = 3;

/// Returns the message with the values to send, and the checksum that must come back.
fn called(operation: &str, capabilities: Capabilities) -> Result<(String, String)> {
    if operation == "echoVoid" {
        return Ok((String::new(), Values::Ints(vec![]).checksum()));
    }
    if let Some(items) = operation.strip_prefix("receive") {
        return Ok((String::new(), received(items)?.checksum()));
    }
    let values = sent(operation, capabilities)?;
    let count = Values::Ints(vec![i32::try_from(values.len())?]);
    let checksum = if operation.starts_with("send") { count.checksum() } else { values.checksum() };
    Ok((values.message(), checksum))
}

/// Returns the values that an operation sends in these checks.
fn sent(operation: &str, capabilities: Capabilities) -> Result<Values> {
    let items = operation.trim_start_matches("echo").trim_start_matches("send").to_lowercase();
    let kind = match &*items {
        "doubles" => "easy",
        "mios" => "structs",
        "encodedstrings" => "encoded",
        "repeatedstrings" => "repeated",
        items => items,
    };
    samples(kind, capabilities)?.into_iter().next().context("there are no such values")
}

/// Returns the values that a service generates from a number: see `bench/definitions/suite.wsdl`.
fn received(items: &str) -> Result<Values> {
    let text = |i: &i32| format!("{:.<100}", format!("Message #{i}"));
    Ok(match items {
        "Ints" => Values::Ints(arrays::ints(RECEIVED)),
        "Doubles" => Values::Doubles(arrays::mios(RECEIVED).into_iter().map(|(_, _, root)| root).collect()),
        "Strings" | "EncodedStrings" | "RepeatedStrings" => {
            Values::Strings(arrays::ints(RECEIVED).iter().map(text).collect())
        }
        "Mios" => Values::Mios(arrays::mios(RECEIVED)),
        "Events" => Values::Events(arrays::events(RECEIVED)),
        "Base64" => Values::Base64(vec![0, 1, 2]),
        _ => bail!("no service makes {items}"),
    })
}

/// Returns the message of an operation that requests some items.
fn asking(operation: &str) -> String {
    Values::Ints(vec![3]).message().replace("sendInts", operation).replace("item>", "count>")
}

/// Calls an operation. The load generator checks the returned values each time it is used.
fn call(port: u16, operation: &str, capabilities: Capabilities) -> Result<()> {
    let message = match operation {
        "echoVoid" => Values::Ints(vec![]).message().replace("sendInts", operation),
        _ if operation.starts_with("receive") => asking(operation),
        _ => sent(operation, capabilities)?.message().replace(&operation.replacen("echo", "send", 1), operation),
    };
    let answer = post(port, operation, &message)?;
    ensure!(["HTTP/1.1 200", "HTTP/1.0 200"].iter().any(|status| answer.starts_with(status)), "{answer}");
    ensure!(answer.contains(&format!("{operation}Response")), "{answer}");
    Ok(())
}

/// Sends one request, and reads until the server closes the connection.
fn post(port: u16, operation: &str, message: &str) -> Result<String> {
    let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    let length = message.len();
    // For literal messages, the element alone determines the operation.
    let action = if operation.ends_with("edStrings") { format!("urn:bench#{operation}") } else { String::new() };
    write!(
        connection,
        "POST /bench HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml; charset=utf-8\r\nSOAPAction: \"{action}\"\r\n\
         Connection: close\r\nContent-Length: {length}\r\n\r\n{message}"
    )?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Each of these is answered with an error, and the peer keeps running.
fn check_errors(peer: &mut PeerProcess, is_server_alone: bool) -> Result<()> {
    let message = Values::Ints(vec![1, 2, 3]).message();
    let cut = &message.as_bytes()[..message.len() / 2];
    ensure!(peer.prepare("decode-nothing", 3, message.as_bytes()).is_err(), "accepted an unknown workload");
    ensure!(peer.prepare("decode-ints", 3, cut).is_err(), "accepted half a message");
    ensure!(peer.prepare("decode-strings", 3, message.as_bytes()).is_err(), "accepted another operation");
    ensure!(peer.run(1).is_err(), "ran without anything prepared");
    ensure!(peer.connect(1, None).is_err(), "connected to a closed port");
    ensure!(peer.serve(0).is_err(), "served zero connections");
    if is_server_alone {
        return Ok(());
    }
    peer.prepare("decode-ints", 3, message.as_bytes()).context("after the errors")?;
    ensure!(peer.output().is_err(), "had an output of a decode");
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(actual: &T, expected: &T, what: &str) -> Result<()> {
    ensure!(actual == expected, "{what} is {actual:?}, not {expected:?}");
    Ok(())
}

/// Returns small values of a kind of workload: some, and none.
fn samples(kind: &str, capabilities: Capabilities) -> Result<Vec<Values>> {
    Ok(match kind {
        "ints" => vec![Values::Ints(vec![capabilities.min_int(), -1, 0, 7, i32::MAX]), Values::Ints(vec![])],
        "easy" => vec![Values::Doubles(vec![0.5, -1.25, 3.0, 99.99]), Values::Doubles(vec![])],
        "hard" => vec![Values::Doubles(hard_doubles(capabilities))],
        "strings" => vec![Values::Strings(texts(capabilities)), Values::Strings(vec![])],
        "structs" => vec![Values::Mios(mios()), Values::Mios(vec![])],
        "events" => vec![Values::Events(events(capabilities)), Values::Events(vec![])],
        "doubles64" => vec![Values::Doubles64(hard_doubles(capabilities)), Values::Doubles64(vec![0.5])],
        "composites" => composites::all()?.iter().step_by(20).map(|kind| composite(kind, capabilities)).collect(),
        "encoded" => {
            vec![
                Values::Encoded("sendEncodedStrings", texts(capabilities)),
                Values::Encoded("sendEncodedStrings", vec![]),
            ]
        }
        "repeated" => vec![Values::Encoded("sendRepeatedStrings", [texts(capabilities), texts(capabilities)].concat())],
        "base64" => (0..4).map(|length| Values::Base64((0..=length).collect())).collect(),
        _ => bail!("unknown kind of workload {kind}"),
    })
}

fn composite(kind: &Composite, capabilities: Capabilities) -> Values {
    let doubles = arrays::hard_doubles(kind.doubles);
    let texts = texts(capabilities).into_iter().cycle().take(kind.texts).collect();
    Values::Composite(arrays::ints(kind.ints), doubles, texts)
}

fn hard_doubles(capabilities: Capabilities) -> Vec<f64> {
    let largest = capabilities.max_double();
    vec![0.1, 1.0 / 3.0, -0.0, 5e-324, f64::MIN_POSITIVE, f64::MAX, largest, -largest]
}

fn texts(capabilities: Capabilities) -> Vec<String> {
    ["plain", "<a> & \"b\"", " two  spaces ", "äß漢字🦀", "", "a\tb\nc"]
        .map(|text| text.chars().filter(|&c| capabilities.has(c)).collect())
        .to_vec()
}

fn mios() -> Vec<Mio> {
    (0..40).map(|n| (n, -n, f64::from(n) / 7.0)).collect()
}

fn events(capabilities: Capabilities) -> Vec<Event> {
    let texts = texts(capabilities).into_iter().zip(1..);
    texts.map(|(text, id)| (id, f64::from(id).sqrt(), text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Capabilities = Capabilities { octets: 4, no_extremes: false };

    #[test]
    fn what_is_sent_comes_back_as_items_or_as_their_number() {
        let checksum = |operation| called(operation, ALL).unwrap().1;
        let items = sent("echoInts", ALL).unwrap();
        assert_eq!(checksum("echoInts"), items.checksum());
        assert_eq!(checksum("sendInts"), Values::Ints(vec![items.len() as i32]).checksum());
        assert_eq!(checksum("receiveInts"), Values::Ints(vec![1, 2, 3]).checksum());
        assert!(called("echoVoid", ALL).unwrap().0.is_empty());
        assert!(called("receiveNothing", ALL).is_err());
    }

    #[test]
    fn peers_limited_to_the_first_plane_get_no_other_characters() {
        let of = |octets| Capabilities { octets, ..ALL };
        let widest = |capabilities| texts(capabilities).concat().chars().max().unwrap();
        assert!(u32::from(widest(ALL)) > 0xffff && widest(of(3)) == '\u{6f22}');
        assert_eq!(widest(of(2)), '\u{e4}');
        assert_eq!(texts(ALL).len(), texts(of(3)).len());
    }

    #[test]
    fn peers_without_extremes_get_the_next_values() {
        let ints = |capabilities| samples("ints", capabilities).unwrap().remove(0).checksum();
        let values = |least| Values::Ints(vec![least, -1, 0, 7, i32::MAX]).checksum();
        let finite = Capabilities { no_extremes: true, ..ALL };
        assert_eq!(ints(ALL), values(i32::MIN));
        assert_eq!(ints(finite), values(i32::MIN + 1));
        assert!(!hard_doubles(ALL)[7].is_finite() && hard_doubles(finite).iter().all(|value| value.is_finite()));
    }
}

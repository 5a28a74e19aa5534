//! The proxy as a program: before a mock and before the demo's services.

use super::*;
use std::io::Read as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Starts a proxy. Its standard error is piped, for [`Serving::kill`].
fn proxying(arguments: &[&str]) -> Serving {
    let mut command = command();
    command.arg("proxy").args(arguments).args(["--listen", "127.0.0.1:0"]).env("RUST_LOG", "info");
    Serving::start(command.stderr(Stdio::piped()))
}

fn order(endpoint: &str, more: &[&str]) -> Output {
    run(&[&["call", &shop(), "Order", "-d", ORDER, "--endpoint", endpoint], more].concat())
}

/// Ends a server as a service manager does. Returns what it wrote to standard error.
fn ended(mut server: Serving) -> String {
    server.signal("TERM");
    assert!(server.child.wait().expect("an end").success());
    server.kill()
}

fn exchanged(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    write!(stream, "{request}").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

fn get(address: SocketAddr, path: &str) -> String {
    exchanged(address, &format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"))
}

/// An address that is free at the moment.
fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port")
}

/// Writes a certificate for 127.0.0.1 and its key. Returns their paths.
fn identity(folder: &Path, name: &str) -> (String, String) {
    let key = rcgen::KeyPair::generate().expect("a key");
    let mut params = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("a name");
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    let certificate = params.self_signed(&key).expect("a certificate");
    let (cert, secret) = (folder.join(format!("{name}.pem")), folder.join(format!("{name}.key")));
    std::fs::write(&cert, certificate.pem()).expect("a file");
    std::fs::write(&secret, key.serialize_pem()).expect("a file");
    (cert.to_string_lossy().into_owned(), secret.to_string_lossy().into_owned())
}

#[test]
fn calls_pass_and_descriptions_lead_back() {
    let mock = serving(&["mock", &shop()]);
    let admin = free();
    let proxy = proxying(&[&mock.url, "--admin", &admin.to_string()]);
    let direct = order(&mock.url, &[]);
    assert_eq!(json(&order(&proxy.url, &[])), json(&direct));
    assert_eq!(json(&order(&proxy.url, &["--soap", "1.2"])), json(&direct));
    let listed = run(&["list", &format!("{}?wsdl", proxy.url), "--allow-private"]);
    assert!(listed.status.success() && stdout(&listed).contains(&format!("SOAP 1.1  {}", proxy.url)), "{listed:?}");
    assert!(get(admin, "/health").starts_with("HTTP/1.1 200") && get(admin, "/ready").starts_with("HTTP/1.1 200"));
    let metrics = get(admin, "/metrics");
    for metric in [
        "deltasoap_proxy_requests_total{operation=\"Order\",status=\"200\",outcome=\"ok\"} 2",
        "deltasoap_proxy_duration_seconds_count{operation=\"Order\"} 2",
        "deltasoap_proxy_response_bytes_count{operation=\"Order\"} 2",
    ] {
        assert!(metrics.contains(metric), "{metric} in {metrics}");
    }
    let log = ended(proxy);
    assert_eq!(log.matches("operation=\"Order\" status=200").count(), 2, "{log}");
}

#[test]
fn a_target_that_does_not_answer_is_named() {
    let nowhere = free();
    let proxy = proxying(&[&format!("http://{nowhere}/")]);
    let called = order(&proxy.url, &["--verbose"]);
    let said = stderr(&called);
    assert_eq!(called.status.code(), Some(4), "{said}");
    assert!(said.contains("502") && said.contains(&format!("nothing listens at {nowhere}")), "{said}");
}

#[test]
fn recordings_are_read_by_all_that_read_messages() {
    let folder = tempfile::tempdir().expect("a directory");
    let (tape, har) = (folder.path().join("tape"), folder.path().join("shop.har"));
    let (tape, har) = (tape.to_string_lossy().into_owned(), har.to_string_lossy().into_owned());
    let mock = serving(&["mock", &shop()]);
    let proxy = proxying(&[&mock.url, "--record", &tape, "--har", &har]);
    let direct = json(&order(&mock.url, &[]));
    let token = "<w:Security xmlns:w='http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd'>\
        <w:UsernameToken><w:Password>pass:word</w:Password></w:UsernameToken></w:Security>";
    let secret = ["-u", "ada:pass:word", "--header-block", token];
    for more in [&[][..], &secret] {
        assert_eq!(json(&order(&proxy.url, more)), direct);
    }
    assert!(run(&["list", &format!("{}?wsdl", proxy.url), "--allow-private"]).status.success());
    ended(proxy);
    drop(mock);

    let replayed = run(&["replay", "--wsdl", &shop(), "--json", "--repeat", "1", &tape]);
    assert!(replayed.status.success(), "{replayed:?}");
    for operation in ["{urn:shop}Order\"", "{urn:shop}OrderResponse\""] {
        assert!(stdout(&replayed).contains(operation), "{replayed:?}");
    }
    let mock = serving(&["mock", &shop(), "--replies", &tape]);
    assert_eq!(json(&order(&mock.url, &[])), direct);
    let proxy = proxying(&["--replay", &tape]);
    assert_eq!(json(&order(&proxy.url, &[])), direct);
    let listed = run(&["list", &format!("{}?wsdl", proxy.url), "--allow-private"]);
    assert!(stdout(&listed).contains(&format!("SOAP 1.1  {}", proxy.url)), "{listed:?}");
    let other = run(&["call", &shop(), "Order", "-d", &ORDER.replace("Ada", "Bob"), "--endpoint", &proxy.url]);
    assert_eq!(other.status.code(), Some(3), "{other:?}");
    assert!(stderr(&other).contains("at /Order/customer: recorded \"Ada\", got \"Bob\""), "{other:?}");

    let entries = serde_json::from_str::<Json>(&std::fs::read_to_string(&har).expect("a file")).expect("JSON");
    assert_eq!(entries["log"]["entries"].as_array().map(Vec::len), Some(3));
    for path in files::all_below(folder.path()) {
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("a file")).into_owned();
        let encoded = "YWRhOnBhc3M6d29yZA==";
        assert!(!text.contains("pass:word") && !text.contains(encoded), "{}: {text}", path.display());
    }
}

/// A process that is killed leaves recordings that can be read.
#[test]
fn what_a_killed_proxy_has_recorded_is_whole() {
    let folder = tempfile::tempdir().expect("a directory");
    let (tape, har) = (folder.path().join("tape"), folder.path().join("shop.har"));
    let mock = serving(&["mock", &shop()]);
    let arguments = [&mock.url, "--record", &tape.to_string_lossy(), "--har", &har.to_string_lossy()];
    let mut proxy = proxying(&arguments);
    for _ in 0..3 {
        assert!(order(&proxy.url, &[]).status.success());
    }
    let index = tape.join("exchanges.jsonl");
    let start = Instant::now();
    while std::fs::read_to_string(&index).expect("the index").lines().count() < 2 {
        assert!(start.elapsed() < Duration::from_secs(30), "nothing is recorded");
        std::thread::sleep(Duration::from_millis(10));
    }
    proxy.kill();
    let har = std::fs::read_to_string(har).expect("a file");
    serde_json::from_str::<Json>(&har).unwrap_or_else(|error| panic!("{error}: {har}"));
    let replaying = proxying(&["--replay", &tape.to_string_lossy()]);
    assert!(order(&replaying.url, &[]).status.success());
}

#[test]
fn one_proxy_signs_and_another_verifies() {
    let folder = tempfile::tempdir().expect("a directory");
    let (client, client_key) = identity(folder.path(), "client");
    let (server, server_key) = identity(folder.path(), "server");
    let mock = serving(&["mock", &shop()]);
    let verifying = [
        &*mock.url,
        "--secured-side",
        "client",
        "--sign",
        &server_key,
        "--cert",
        &server,
        "--wsse-trust",
        &client,
        "--wsse-user",
        "ada:pass",
        "--wsse-timestamp",
    ];
    let verifying = proxying(&verifying);
    let signing = |user: &str| {
        let trust = ["--wsse-trust", &server, "--wsse-user", user];
        proxying(&[&[&*verifying.url, "--sign", &client_key, "--cert", &client], &trust[..]].concat())
    };
    let good = signing("ada:pass");
    assert_eq!(json(&order(&good.url, &[])), json(&order(&mock.url, &[])));
    let unsigned = order(&verifying.url, &["--wsse-user", "ada:pass", "--wsse-trust", &server]);
    assert_eq!(unsigned.status.code(), Some(3), "{unsigned:?}");
    assert!(stderr(&unsigned).contains("lacks security"), "{unsigned:?}");
    let wrong = order(&signing("ada:wrong").url, &[]);
    assert!(wrong.status.code() == Some(3) && stderr(&wrong).contains("FailedAuthentication"), "{wrong:?}");
    // A client that signs by itself needs no proxy on its side.
    let own = ["--sign", &client_key, "--cert", &client, "--wsse-trust", &server, "--wsse-user", "ada:pass"];
    assert_eq!(json(&order(&verifying.url, &own)), json(&order(&mock.url, &[])));
    assert!(!ended(good).contains("pass"), "no password in the log");
}

#[test]
fn tls_and_gzip_on_both_sides() {
    let folder = tempfile::tempdir().expect("a directory");
    let (service, service_key) = identity(folder.path(), "service");
    let (own, own_key) = identity(folder.path(), "proxy");
    let serve = serving(&["serve", "--gzip-from", "1", "--tls-cert", &service, "--tls-key", &service_key]);
    let tape = folder.path().join("tape").to_string_lossy().into_owned();
    let target = serve.url.trim_end_matches("/bench").to_owned();
    let tls = ["--cacert", &service, "--tls-cert", &own, "--tls-key", &own_key, "--record", &tape];
    let proxy = proxying(&[&[&*target], &tls[..]].concat());
    assert!(proxy.url.starts_with("https://"), "{}", proxy.url);
    let call = |endpoint: &str, trusted: &str| {
        let numbers = ["-d", "{\"item\": [1.5, 2.5, 3.5]}", "--cacert", trusted, "--verbose"];
        run(&[&["call", &bench(), "echoDoubles", "--endpoint", endpoint], &numbers[..]].concat())
    };
    let direct = call(&serve.url, &service);
    let through = call(&format!("{}bench", proxy.url), &own);
    assert_eq!(json(&through), json(&direct), "{}", stderr(&through));
    assert!(stderr(&through).contains("< content-encoding: gzip"), "it passes unchanged: {}", stderr(&through));
    let listed = run(&["list", &format!("{}bench?wsdl", proxy.url), "--cacert", &own, "--allow-private"]);
    assert!(stdout(&listed).contains(&format!("{}bench", proxy.url)), "{listed:?}");
    let address = proxy.address();
    ended(proxy);
    let answer = std::fs::read_to_string(Path::new(&tape).join("echoDoubles-0001.xml")).expect("a recorded answer");
    assert!(answer.contains("echoDoublesResponse"), "it is recorded without gzip: {answer}");
    assert!(TcpStream::connect(address).is_err(), "the port is free again");
}

/// Server and proxy read new certificates without a restart; what cannot be used changes nothing.
#[test]
fn a_new_certificate_is_read_on_sighup() {
    let folder = tempfile::tempdir().expect("a directory");
    let (cert, key) = identity(folder.path(), "service");
    let old = folder.path().join("old.pem").to_string_lossy().into_owned();
    std::fs::copy(&cert, &old).expect("a copy");
    let serve = serving(&["serve", "--tls-cert", &cert, "--tls-key", &key]);
    let proxy = proxying(&[serve.url.trim_end_matches("/bench"), "-k", "--tls-cert", &cert, "--tls-key", &key]);
    let urls = [serve.url.clone(), format!("{}bench", proxy.url)];
    let is_trusted = |trusted: &str, url: &String| {
        let arguments = ["call", &bench(), "echoDoubles", "-d", "{\"item\": [1.5]}", "--endpoint", url];
        run(&[&arguments[..], &["--cacert", trusted]].concat()).status.success()
    };
    let hang_up = || [&serve, &proxy].iter().for_each(|server| server.signal("HUP"));
    assert!(urls.iter().all(|url| is_trusted(&old, url)));
    std::fs::write(&key, "no key").expect("a file");
    hang_up();
    std::thread::sleep(Duration::from_millis(300));
    assert!(urls.iter().all(|url| is_trusted(&old, url)), "the old certificate stays");
    identity(folder.path(), "service");
    hang_up();
    let start = Instant::now();
    while !urls.iter().all(|url| is_trusted(&cert, url)) {
        assert!(start.elapsed() < Duration::from_secs(30), "the certificate was not read again");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!urls.iter().any(|url| is_trusted(&old, url)));
}

#[test]
fn trouble_reaches_clients() {
    let mock = serving(&["mock", &shop()]);
    let dropping = proxying(&[&mock.url, "--drop-rate", "Order:1"]);
    let dropped = order(&dropping.url, &[]);
    assert_eq!(dropped.status.code(), Some(4), "{dropped:?}");
    assert!(run(&["call", &shop(), "Catalogue", "--endpoint", &dropping.url]).status.success());
    let cutting = proxying(&[&mock.url, "--cut-rate", "100%"]);
    let cut = order(&cutting.url, &[]);
    assert_eq!(cut.status.code(), Some(4), "{cut:?}");
    let faulty = proxying(&[&mock.url, "--fault-rate", "1", "--seed", "7"]);
    let fault = order(&faulty.url, &[]);
    assert!(fault.status.code() == Some(3) && stderr(&fault).contains("a fault on purpose"), "{fault:?}");
}

#[test]
fn invalid_requests_do_not_reach_the_target() {
    let mock = serving(&["mock", &shop(), "--validation", "off"]);
    let proxy = proxying(&[&mock.url, "--wsdl", &shop(), "--validation", "refuse"]);
    let long = ORDER.replace("A-1", "not a code");
    let call = |url: &str| run(&["call", &shop(), "Order", "-d", &long, "--validation", "off", "--endpoint", url]);
    assert!(call(&mock.url).status.success());
    let refused = call(&proxy.url);
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    assert!(stderr(&refused).contains("/Envelope/Body/Order/item/code"), "{refused:?}");
    assert!(order(&proxy.url, &[]).status.success());
    let admin = free();
    let report = ["--wsdl", &shop(), "--validation", "report", "--admin", &admin.to_string()];
    let reporting = proxying(&[&[&*mock.url], &report[..]].concat());
    assert!(call(&reporting.url).status.success());
    let (counted, start) = ("deltasoap_proxy_invalid_total{operation=\"Order\",subject=\"request\"} 1", Instant::now());
    while !get(admin, "/metrics").contains(counted) {
        assert!(start.elapsed() < Duration::from_secs(30), "nothing is counted");
        std::thread::sleep(Duration::from_millis(20));
    }
    let log = ended(reporting);
    assert!(log.contains("path=/Envelope/Body/Order/item/code") && !log.contains("not a code"), "{log}");
}

#[test]
fn configurations_are_checked() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("proxy.toml");
    let check = |text: &str, more: &[&str]| {
        std::fs::write(&path, text).expect("a file");
        run(&[&["proxy", "--config", path.to_str().expect("UTF-8"), "--check"], more].concat())
    };
    let good = check("target = \"http://127.0.0.1:1/\"\n[cache]\noperations = [\"Order=5\"]\n", &[]);
    assert!(good.status.success() && stdout(&good).contains("the configuration is good"), "{good:?}");
    for (text, more, expected) in [
        ("", &[][..], "target: it is missing"),
        ("tagret = \"x\"\n", &[], "line 1, column 1"),
        ("target = \"http://h/\"\nvalidation = \"refuse\"\n", &[], "validation: it needs the WSDL"),
        ("target = \"http://h/\"\n", &["--wsse-trust", "/no/such.pem"], "/no/such.pem cannot be read"),
    ] {
        let output = check(text, more);
        assert!(output.status.code() == Some(1) && stderr(&output).contains(expected), "{text}: {output:?}");
    }
    // A check writes nothing.
    let tape = folder.path().join("tape");
    let checked = check("target = \"http://h/\"\n", &["--record", tape.to_str().expect("UTF-8")]);
    assert!(checked.status.success() && !tape.exists(), "{checked:?}");
    let schema = json(&run(&["proxy", "--schema"]));
    for key in ["target", "record", "security", "cache", "trouble", "limits"] {
        assert!(schema["properties"][key].is_object(), "{key} in {schema}");
    }
    let most = u64::MAX.to_string();
    for wrong in [
        &["--latency", "x"][..],
        &["--fault-rate", "2"],
        &["--cache", "=5"],
        &["--idle-timeout", &most],
        &["--max-body", &most],
        &[],
    ] {
        let target = if wrong.is_empty() { &[][..] } else { &["http://h/"] };
        let output = run(&[&["proxy"], target, wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
}

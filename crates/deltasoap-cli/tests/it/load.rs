//! Loads as programs: what is sent, what is counted, and what fails.

use super::*;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PLACED: &str = "<OrderResponse xmlns='urn:shop'><number>7</number><total currency='EUR'>1</total>\
    <placed>2026-01-02T03:04:05Z</placed></OrderResponse>";
const FAULT: &str = "<s:Fault xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><faultcode>s:Server</faultcode>\
    <faultstring>no\u{9b} more</faultstring></s:Fault>";

/// Returns an HTTP answer with a body in an envelope.
fn answer(status: u16, body: &str) -> String {
    let envelope =
        format!("<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>{body}</s:Body></s:Envelope>");
    let length = envelope.len();
    format!(
        "HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Type: text/xml\r\nContent-Length: {length}\r\n\r\n{envelope}"
    )
}

fn load(url: &str, arguments: &[&str]) -> Output {
    run(&[&["load", "--json", "--endpoint", url], arguments].concat())
}

/// Loads the operation Order.
fn orders(url: &str, arguments: &[&str]) -> Output {
    load(url, &[&[&shop(), "Soap11.Order"], arguments].concat())
}

/// Returns the body of a request.
fn body(request: &str) -> &str {
    request.split_once("\r\n\r\n").expect("a head").1
}

#[test]
fn as_many_are_sent_as_asked_for_and_each_is_another() {
    let sent = |seed: &str| {
        let server = Answering::alike(answer(200, PLACED));
        let data = r#"{"customer": "{{i}} {{uuid}}", "item": [{"code": "A-1", "count": {{random 1 1000}}}]}"#;
        let output = orders(&server.url(), &["-d", data, "-n", "60", "-c", "7", "--threads", "2", "--seed", seed]);
        assert!(output.status.success(), "{output:?}");
        let report = json(&output);
        assert_eq!((&report["total"]["answered"], &report["total"]["errors"]), (&json!(60), &json!(0)), "{report}");
        let requests = server.requests.lock().expect("no panic").clone();
        assert_eq!(requests.len(), 60);
        let bytes: usize = requests.iter().map(String::len).sum();
        assert_eq!(report["total"]["sent_bytes"], bytes);
        requests.iter().map(|request| body(request).to_owned()).collect::<BTreeSet<_>>()
    };
    let first = sent("1");
    assert_eq!(first.len(), 60, "no two are equal");
    assert!((0..60).all(|number| first.iter().any(|body| body.contains(&format!(">{number} ")))));
    assert_eq!(sent("1"), first, "a seed has its requests");
    assert_ne!(sent("2"), first);
}

#[test]
fn an_open_loop_keeps_its_rate() {
    let mock = serving(&["mock", &shop()]);
    let rate = ["--rate", "150", "--arrivals", "constant", "--duration", "1", "-c", "20"];
    let report = json(&orders(&mock.url, &rate));
    let requests = report["total"]["requests"].as_u64().expect("a number");
    assert!((148..=151).contains(&requests), "{report}");
    let ramp = [&rate[..], &["--ramp", "1"]].concat();
    let requests = json(&orders(&mock.url, &ramp))["total"]["requests"].as_u64().expect("a number");
    assert!((73..=77).contains(&requests), "{requests}: half as many while the rate grows");
}

/// A server that stalls once for half a second. In an open loop, the requests that wait meanwhile are
/// slow; in a closed one only a single request is.
#[test]
fn a_server_that_stalls_is_seen() {
    let stalling = || {
        let (count, lock) = (AtomicU64::new(0), Mutex::new(()));
        Answering::new(move |_| {
            let _one_at_a_time = lock.lock().expect("no panic");
            if count.fetch_add(1, Relaxed) == 20 {
                std::thread::sleep(Duration::from_millis(500));
            }
            answer(200, PLACED)
        })
    };
    let slow = |arguments: &[&str]| {
        let report = json(&orders(&stalling().url(), arguments));
        assert!(report["total"]["latency_ms"]["max"].as_f64() > Some(450.0), "{report}");
        (report["total"]["latency_ms"]["p90"].as_f64().expect("a number"), report)
    };
    let (open, report) = slow(&["--rate", "100", "--arrivals", "constant", "-n", "100", "-c", "2"]);
    assert!(open > 250.0, "{report}");
    assert!(report["generator"]["waited_for_connection"].as_u64() > Some(20), "{report}");
    let (closed, report) = slow(&["-n", "100", "-c", "2"]);
    assert!(closed < 250.0, "{report}");
}

#[test]
fn errors_are_told_apart() {
    let count = AtomicU64::new(0);
    let server = Answering::new(move |_| match count.fetch_add(1, Relaxed) % 5 {
        0 => answer(500, FAULT),
        1 => "HTTP/1.1 503 X\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbusy".to_owned(),
        2 => String::new(),
        3 => "What?\r\n\r\n".to_owned(),
        _ => answer(200, PLACED),
    });
    let report = json(&orders(&server.url(), &["-n", "50", "-c", "1"]));
    let failures = report["operations"][0]["failures"].as_array().expect("a list");
    let found: Vec<_> = failures.iter().map(|it| (it["what"].as_str().expect("text"), it["count"].as_u64())).collect();
    let expected = ["closed", "malformed", "status 503", "fault Server"];
    assert_eq!(found, expected.map(|what| (what, Some(10))), "{report}");
    assert_eq!((&failures[2]["sample"], &failures[3]["sample"]), (&json!("busy"), &json!("no\u{9b} more")));
    assert_eq!(report["operations"][0]["answered"], 10);
    let slow = Answering::new(|_| {
        std::thread::sleep(Duration::from_millis(600));
        answer(200, PLACED)
    });
    let output = orders(&slow.url(), &["-n", "1", "--timeout", "0.1"]);
    assert_eq!(output.status.code(), Some(4), "there was no answer: {output:?}");
    assert_eq!(json(&output)["total"]["failures"][0]["what"], "timeout");
}

#[test]
fn faults_and_conditions_decide_on_the_exit_code() {
    let count = Arc::new(AtomicU64::new(0));
    let server = Answering::new(move |_| match count.fetch_add(1, Relaxed) % 10 {
        0 => answer(500, FAULT),
        _ => answer(200, PLACED),
    });
    let code = |arguments: &[&str]| orders(&server.url(), &[&["-n", "50"], arguments].concat()).status.code();
    assert_eq!(code(&[]), Some(0));
    assert_eq!(code(&["--fail-if", "errors>5%", "--fail-if", "p50>60s"]), Some(1));
    assert_eq!(code(&["--fail-if", "errors>5%", "--faults-ok"]), Some(0));
    assert_eq!(code(&["--max-errors", "2"]), Some(1));
    assert_eq!(code(&["--fail-if", "p50"]), Some(2), "that is no condition");
    let text =
        run(&["load", &shop(), "Soap11.Order", "-n", "10", "--endpoint", &server.url(), "--fail-if", "errors>0"]);
    assert!(stderr(&text).contains("failed: errors>0: there are 1"), "{text:?}");
    assert!(stdout(&text).contains("Order: 1 × fault Server, such as: no\\u009b more"), "{text:?}");
    let faulty = Answering::alike(answer(500, FAULT));
    assert_eq!(orders(&faulty.url(), &["-n", "3"]).status.code(), Some(1), "no answer was good");
    let nobody = orders("http://127.0.0.1:1/", &["-n", "3"]);
    assert!(nobody.status.code() == Some(4) && stderr(&nobody).contains("cannot be reached"), "{nobody:?}");
}

#[test]
fn answers_are_validated_by_the_wsdl() {
    let checked = |body: &str, level: &str| {
        let server = Answering::alike(answer(200, body));
        json(&orders(&server.url(), &["-n", "2", "--check", level]))["total"]["failures"].clone()
    };
    let wrong = PLACED.replace("EUR", "DM");
    assert_eq!(checked(PLACED, "schema"), json!([]));
    assert_eq!(checked(&wrong, "fault"), json!([]));
    let failures = checked(&wrong, "schema");
    assert_eq!((&failures[0]["what"], &failures[0]["count"]), (&json!("invalid answer"), &json!(2)));
    assert!(failures[0]["sample"].as_str().is_some_and(|sample| sample.contains("currency")), "{failures}");
    let other = checked("<Pong xmlns='urn:shop'/>", "schema");
    assert!(other[0]["sample"].as_str().is_some_and(|sample| sample.contains("OrderResponse")), "{other}");
    assert_eq!(checked(FAULT, "off"), json!([]));
}

#[test]
fn rows_of_a_table_and_several_operations_are_mixed() {
    let folder = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_string_lossy().into_owned()
    };
    let users = write("users.csv", "name,amount\n\"Ada & \"\"Co\"\"\",2\nBob,3\n");
    let order = r#"{"customer": "{{name}}", "item": [{"code": "A-{{i}}", "count": {{amount}}}]}"#;
    let order = format!("Soap11.Order=3:@{}", write("order.json", order));
    let server = Answering::alike(answer(200, PLACED));
    let calls = ["--call", &order, "--call", "Soap11.Catalogue", "--data-from", &users];
    let output = load(&server.url(), &[&[&shop()[..]], &calls[..], &["-n", "80"]].concat());
    assert!(output.status.success(), "{output:?}");
    let report = json(&output);
    let requests = |index: usize| report["operations"][index]["requests"].as_u64().expect("a number");
    assert!((45..=75).contains(&requests(0)) && requests(0) + requests(1) == 80, "{report}");
    assert_eq!(
        (&report["operations"][0]["operation"], &report["operations"][1]["operation"]),
        (&json!("Order"), &json!("Catalogue"))
    );
    let sent = server.requests.lock().expect("no panic").clone();
    let of = |text: &str| sent.iter().filter(|request| request.contains(text)).count();
    assert_eq!(of("Ada &amp; \"Co\"<") + of(">Bob<"), requests(0) as usize, "{sent:?}");
    assert!(of("Ada &amp;") > 5 && of(">Bob<") > 5 && of("urn:shop#Catalogue") == requests(1) as usize);
    let mix = "[[call]]\noperation = \"Soap12.Order\"\ndata = { customer = \"Eve\", item = [] }\n\
               [[call]]\noperation = \"Soap11.Catalogue\"\nweight = 2\n";
    let refused = load(&server.url(), &[&shop(), "--mix", &write("mix.toml", mix)]);
    assert!(refused.status.code() == Some(2) && stderr(&refused).contains("item"), "{refused:?}");
    let item = mix.replace("[]", "[{ code = \"A-1\", count = 1 }]");
    let mixed = json(&load(&server.url(), &[&shop(), "--mix", &write("mix.toml", &item), "-n", "30"]));
    assert_eq!(mixed["total"]["answered"], 30, "{mixed}");
    assert!(mixed["operations"][1]["requests"].as_u64() > Some(10), "{mixed}");
    for (arguments, expected) in [
        (&["--call", "Nothing"][..], "Nothing"),
        (&["Soap11.Order", "-d", "{{nobody}}"], "--data-from"),
        (&["Soap11.Order", "-d", "{\"customer\": 1"], "not usable as JSON"),
        (&["Soap11.Order", "-d", r#"{"customer": "{{i + 1}}", "item": []}"#], "{{i + 1}} is no variable"),
        (&["Soap11.Order", "-d", r#"{"customer": "{{i}", "item": []}"#], "{{i} has no end"),
        (&["Soap11.Order", "-d", "@/no/such/file"], "/no/such/file"),
        (&["Soap11.Order", "--data-from", "/no/such/file"], "/no/such/file"),
        (&["Soap11.Order", "--digest", "-u", "a:b"], "--digest"),
        (&["Soap11.Order", "--proxy", "http://127.0.0.1:1"], "--proxy"),
        (&["Soap11.Order", "--duration", "0"], "above 0"),
        (&["Soap11.Order", "--rate", "1e12"], "at most 1000000"),
        (&["--call", "Soap11.Order=x"], "not a weight"),
        (&["--messages", "/no/such/folder"], "does not exist"),
    ] {
        let output = load(&server.url(), &[&[&shop()[..]], arguments].concat());
        assert!(output.status.code() == Some(2) && stderr(&output).contains(expected), "{output:?}");
    }
    assert_eq!(load(&server.url(), &[&shop()]).status.code(), Some(2), "nothing to send");
}

#[test]
fn recorded_messages_are_sent_as_they_are() {
    let folder = tempfile::tempdir().expect("a directory");
    let write = |name: &str, content: &[u8]| std::fs::write(folder.path().join(name), content).expect("a file");
    let order = run(&["template", "--xml", &shop(), "Soap11.Order"]).stdout;
    let order = String::from_utf8(order).expect("UTF-8").replace("?>", "?><!-- as it was -->").into_bytes();
    write("1.xml", &order);
    write(
        "2.http",
        &[b"POST /old HTTP/1.1\r\nHost: old\r\nSOAPAction: \"mine\"\r\nAuthorization: x\r\n\r\n", &order[..]].concat(),
    );
    write("10.xml", answer(200, PLACED).split_once("\r\n\r\n").expect("a head").1.as_bytes());
    write("11.http", answer(200, PLACED).as_bytes());
    write("12.xml", b"nothing");
    let server = Answering::alike(answer(200, PLACED));
    let messages = ["--messages", &folder.path().to_string_lossy()].map(str::to_owned);
    let messages = messages.each_ref().map(String::as_str);
    let output =
        load(&server.url(), &[&[&shop()[..]], &messages[..], &["-n", "4", "-c", "1", "--check", "schema"]].concat());
    assert!(output.status.success(), "{output:?}");
    assert_eq!(json(&output)["operations"][0]["answered"], 4);
    let report = stderr(&output);
    assert!(
        report.contains("10.xml: <OrderResponse> is no request") && report.contains("11.http: it is an answer"),
        "{report}"
    );
    let sent = server.requests.lock().expect("no panic").clone();
    assert!(sent.iter().all(|request| body(request).as_bytes() == order), "{sent:?}");
    let actions: Vec<_> = sent
        .iter()
        .map(|it| it.lines().find_map(|line| line.strip_prefix("soapaction: ")).expect("an action"))
        .collect();
    assert_eq!(actions, ["\"urn:shop#Order\"", "\"mine\"", "\"urn:shop#Order\"", "\"mine\""]);
    assert!(sent.iter().all(|it| !it.contains("Authorization: x") && it.starts_with("POST / HTTP/1.1\r\n")));
    // Without a WSDL everything is sent that is not an answer over HTTP.
    let output =
        load(&server.url(), &[&messages[..], &["-n", "3", "-c", "1", "-u", "ada:pw", "-H", "X-Trace: 1"]].concat());
    assert!(output.status.success(), "{output:?}");
    let kinds = json(&output)["operations"].as_array().map(Vec::len);
    assert_eq!(kinds, Some(2), "{output:?}");
    let sent = server.requests.lock().expect("no panic").clone();
    assert!(sent[4..].iter().all(|it| it.contains("authorization: Basic YWRhOnB3\r\nx-trace: 1\r\n")), "{sent:?}");
    let none = run(&["load", messages[0], messages[1]]);
    assert!(none.status.code() == Some(2) && stderr(&none).contains("--endpoint"), "{none:?}");
}

#[test]
fn requests_have_credentials_and_header_blocks() {
    let server = Answering::alike(answer(200, PLACED));
    let output = orders(
        &server.url(),
        &[
            "-n",
            "2",
            "-u",
            "ada:pw",
            "-H",
            "X-Trace: 1",
            "--wsse-user",
            "eve:secret",
            "--gzip",
            "--header-block",
            r#"Session={"token": "t"}"#,
        ],
    );
    assert!(output.status.success(), "{output:?}");
    let sent = server.requests.lock().expect("no panic").concat();
    for part in
        ["authorization: Basic YWRhOnB3", "x-trace: 1", "Accept-Encoding: gzip", "UsernameToken", ">secret<", ">t<"]
    {
        assert!(sent.matches(part).count() >= 2, "{part}: {sent}");
    }
}

#[test]
fn a_page_shows_the_load() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("load.html");
    let count = AtomicU64::new(0);
    let server = Answering::new(move |_| match count.fetch_add(1, Relaxed) % 10 {
        0 => answer(500, &FAULT.replace("no\u{9b} more", "&lt;script>")),
        _ => answer(200, PLACED),
    });
    let output = orders(&server.url(), &["-n", "50", "--html", &path.to_string_lossy(), "--fail-if", "errors>0"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let page = std::fs::read_to_string(path).expect("a page");
    for part in [
        "Failed: errors&gt;0",
        "The slowest request of so many",
        "Good answers",
        "Latency",
        "5 × fault Server",
        "&lt;script",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.matches("<svg").count() >= 4 && !page.contains("<script"), "{page}");
}

#[test]
fn a_load_is_sent_by_tls_and_answered_in_gzip() {
    let (_folder, cert, server) = serving_tls(&["--gzip-from", "1"]);
    let send = |arguments: &[&str]| load(&server.url, &[&[&bench(), "echoStrings", "-n", "20"], arguments].concat());
    for options in [&["--check", "schema", "--gzip"][..], &["--reconnect"]] {
        let output = send(&[&["--cacert", &cert], options].concat());
        assert!(output.status.success(), "{output:?}");
        assert_eq!(json(&output)["total"]["answered"], 20);
    }
    let refused = send(&[]);
    let (code, text) = (refused.status.code(), stderr(&refused));
    assert!(code == Some(4) && text.contains("not trusted") && text.contains("--cacert FILE"), "{text}");
    let plain = load(&server.url.replace("https:", "http:"), &[&bench(), "echoStrings", "-n", "1"]);
    assert_ne!(plain.status.code(), Some(0));
}

/// The handshake of TLS is part of the time of a request, and so is the first connection.
#[test]
fn a_service_that_says_nothing_is_given_up() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("an address");
    let output = orders(&format!("https://{address}/"), &["-n", "1", "--timeout", "0.2"]);
    assert!(output.status.code() == Some(4) && stderr(&output).contains("no connection within"), "{output:?}");
    let begin = std::time::Instant::now();
    let open = ["--rate", "1000", "--arrivals", "constant", "--duration", "0.3", "--timeout", "0.5", "-c", "2"];
    let output = orders(&format!("http://{address}/"), &open);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let report = json(&output);
    assert_eq!((&report["not_sent"], &report["total"]["errors"]), (&json!(298), &json!(2)), "{report}");
    assert!(report["warnings"].to_string().contains("298 requests were not sent"), "{report}");
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    let output = orders(&format!("http://{address}/"), &[&open[..], &["--fail-if", "errors>0"]].concat());
    assert_eq!(output.status.code(), Some(1), "a condition decides: {output:?}");
}

#[test]
fn answers_have_a_limit_and_may_follow_interim_ones() {
    let long = Answering::alike(answer(200, &PLACED.replace('7', &"7".repeat(5000))));
    let report = json(&orders(&long.url(), &["-n", "2", "--max-answer", "4000"]));
    let failures = &report["total"]["failures"];
    assert_eq!((&failures[0]["what"], &failures[0]["count"]), (&json!("too-large"), &json!(2)), "{report}");
    let interim = Answering::alike(format!("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n{}", answer(200, PLACED)));
    assert_eq!(json(&orders(&interim.url(), &["-n", "2", "--check", "schema"]))["total"]["answered"], 2);
}

#[test]
fn secrets_of_the_url_are_sent_and_not_shown() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("load.html");
    let server = Answering::alike(answer(200, PLACED));
    let url = format!("{}?token=s3cret&tenant=7", server.url());
    for format in [&["--json"][..], &[]] {
        let html = ["--html", &path.to_string_lossy()].map(str::to_owned);
        let html = html.each_ref().map(String::as_str);
        let output = run(&[&["load", &shop(), "Soap11.Order", "-n", "1", "--endpoint", &url], format, &html].concat());
        assert!(output.status.success(), "{output:?}");
        let page = std::fs::read_to_string(&path).expect("a page");
        let all = [stdout(&output), &stderr(&output), &page].concat();
        assert!(all.contains("?token=") && all.contains("tenant="), "{all}");
        assert!(!all.contains("s3cret"), "{all}");
    }
    assert!(server.requests.lock().expect("no panic")[0].contains("?token=s3cret&tenant=7 "));
    let nobody = orders("http://127.0.0.1:1/?token=s3cret", &["-n", "1"]);
    assert!(nobody.status.code() == Some(4) && !stderr(&nobody).contains("s3cret"), "{nobody:?}");
}

#[test]
fn help_names_what_works() {
    let output = run(&["load", "--help"]);
    let help = stdout(&output);
    assert!(help.contains("--cacert") && help.contains("--max-answer"), "{help}");
    assert!(!help.contains("--digest") && !help.contains("--proxy"), "{help}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_load_with_a_report() {
    let mock = serving(&["mock", &shop()]);
    let mut started = command();
    let url = &mock.url;
    started.args(["load", &shop(), "Soap11.Order", "--json", "--duration", "600", "--endpoint", url]);
    let child = started.stdout(Stdio::piped()).spawn().expect("the program runs");
    std::thread::sleep(Duration::from_millis(1500));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success(), "{output:?}");
    let report = json(&output);
    assert_eq!(report["end"], "stopped");
    assert!(report["total"]["answered"].as_u64() > Some(0) && report["seconds"].as_f64() < Some(60.0), "{report}");
}

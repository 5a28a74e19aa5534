//! Loading of WSDLs over the network: proxies, credentials, timeouts, and the errors that name
//! their remedy.

use super::network::canned;
use super::*;

/// Each error names the URL and the limit or cause, and says what to do.
#[test]
fn what_is_not_loaded_is_said_with_what_to_do() {
    const DENIED: &str =
        "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    const LOOP: &str = "HTTP/1.1 302 Go\r\nLocation: /on\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    const AWAY: &str = "HTTP/1.1 302 Go\r\nLocation: file:///x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    const PRIVATE: &str =
        "HTTP/1.1 302 Go\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    const CUT: &str = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\n<definitions";
    const NOTHING: &str = "HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let (_folder, _, tls) = serving_tls(&[]);
    let plain = serving(&["mock", &shop()]);
    let to_plain = plain.url.replace("http://", "https://");
    let to_tls = tls.url.replace("https://", "http://");
    for (url, cause, remedy) in [
        ("http://ada:secret@127.0.0.1:1/", "Connection refused", "is the service running"),
        (&canned(DENIED).0, "status 401", "-u NAME:PASSWORD"),
        (&canned(NOTHING).0, "status 404", "with ?wsdl"),
        (&canned(LOOP).0, "more than 5 redirects", "--cert give them"),
        (&canned(AWAY).0, "file:///x", "is the URL right?"),
        (&canned(PRIVATE).0, "http://127.0.0.1:1/ is a private address", "--allow-private"),
        (&canned(CUT).0, "before message length", "the answer was truncated"),
        (&tls.url, "authority that is not trusted", "(--cacert FILE adds one, -k"),
        (&to_plain, "does not answer in TLS", "is the URL http://?"),
        (&to_tls, "answers in TLS", "is the URL https://?"),
        ("http://no-such-host.invalid/", "failed to lookup", "is the name right"),
    ] {
        let output = run(&["list", url]);
        let (text, shown) = (stderr(&output), url.replace("ada:secret@", ""));
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text.starts_with(&format!("error: {shown} cannot be imported: ")), "{url}: {text}");
        assert!(text.contains(cause) && text.contains(remedy) && !text.contains("secret"), "{url}: {text}");
    }
}

#[test]
fn descriptions_are_loaded_through_a_proxy() {
    let wsdl = std::fs::read_to_string(shop()).expect("a file");
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{wsdl}", wsdl.len());
    let (url, requests) = canned(answer.leak());
    let folder = tempfile::tempdir().expect("a directory");
    let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    std::fs::write(file("message.xml"), run(&["template", "--xml", &shop(), "Order"]).stdout).expect("a file");
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = command();
        for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"] {
            command.env_remove(name);
        }
        for name in ["all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] {
            command.env_remove(name);
        }
        let output = command.args(arguments).envs(variables.iter().copied()).output().expect("the program runs");
        (output, std::mem::take(&mut *requests.lock().expect("no panic")))
    };
    const WSDL: &str = "http://nowhere.invalid/shop?wsdl";
    let (compiled, generated, message) = (file("shop.bin"), file("shop.rs"), file("message.xml"));
    for arguments in [
        &["list", WSDL][..],
        &["describe", WSDL],
        &["template", WSDL, "Order"],
        &["validate", WSDL, &message],
        &["compile", WSDL, "-o", &compiled],
        &["generate", WSDL, "-o", &generated],
        &["replay", "--wsdl", WSDL, &message],
    ] {
        for (more, variables) in [(&["--proxy", &url][..], &[][..]), (&[], &[("http_proxy", &*url)])] {
            let (output, requests) = run(&[arguments, more].concat(), variables);
            assert!(output.status.success(), "{output:?}");
            let [request] = &requests[..] else { panic!("{arguments:?}: {requests:?}") };
            assert!(request.starts_with(&format!("GET {WSDL} HTTP/1.1\r\n")), "{request}");
        }
    }
    let secure = run(&["list", "https://nowhere.invalid/shop"], &[("https_proxy", &url)]).1;
    assert!(secure[0].starts_with("CONNECT nowhere.invalid:443 HTTP/1.1\r\n"), "{secure:?}");
    let (output, direct) = run(&["list", "--proxy", &url, WSDL], &[("no_proxy", "nowhere.invalid")]);
    assert!(direct.is_empty() && stderr(&output).contains("failed to lookup"), "{output:?}");
    // The same for documents that a file names.
    let import = "<wsdl:import namespace=\"urn:other\" location=\"http://nowhere.invalid/other.wsdl\"/>";
    let naming =
        format!("<wsdl:definitions xmlns:wsdl=\"http://schemas.xmlsoap.org/wsdl/\">{import}</wsdl:definitions>");
    std::fs::write(file("naming.wsdl"), naming).expect("a file");
    let asked = run(&["list", "--proxy", &url, &file("naming.wsdl")], &[]).1;
    assert!(asked[0].starts_with("GET http://nowhere.invalid/other.wsdl HTTP/1.1\r\n"), "{asked:?}");
}

/// Credentials for a WSDL's host go to another host that it names only if the caller says so.
#[test]
fn credentials_do_not_follow_a_wsdl_to_another_host() {
    let wsdl = std::fs::read_to_string(shop()).expect("a WSDL");
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{wsdl}", wsdl.len());
    let (url, _) = canned(answer.leak());
    let (service, requests) = canned("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    for secret in [["-u", "ada:secret"], ["-H", "X-Api-Key: secret"]] {
        let call = [&["call", &url, "Order", "-d", ORDER], &secret[..]].concat();
        let output = run(&call);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("`--endpoint http://localhost:8080/shop` sends them there"), "{text}");
        run(&[&call[..], &["--endpoint", &service]].concat());
        assert!(requests.lock().expect("no panic").pop().is_some(), "{secret:?}");
    }
}

#[test]
fn hints_do_not_show_the_password_of_a_url() {
    let wsdl = std::fs::read_to_string(shop()).expect("a WSDL");
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{wsdl}", wsdl.len());
    let url = canned(answer.leak()).0.replace("//", "//ada:secret@");
    for arguments in
        [&["call", &url, "Nope", "-d", "{}"][..], &["describe", &url, "Nope"], &["call", &url, "Order", "-d", "{}"]]
    {
        let output = run(arguments);
        assert!(!output.status.success());
        let text = stderr(&output);
        assert!(text.contains("`deltasoap ") && !text.contains("secret"), "{text}");
    }
}

/// The hint about a refusal depends on what was sent, and on what the server offers.
#[test]
fn credentials_that_are_refused_are_told_from_missing_ones() {
    let refusing = |challenge: &str| {
        let answer = format!(
            "HTTP/1.1 401 No\r\nWWW-Authenticate: {challenge}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        canned(answer.leak()).0
    };
    let digest = "Digest realm=\"hidden\", nonce=\"n\", qop=\"auth\"";
    for (challenge, arguments, offered, remedy) in [
        ("Basic realm=\"hidden\"", &[][..], "offered by Basic", "-u NAME:PASSWORD gives credentials"),
        ("Basic realm=\"hidden\"", &["-u", "ada:secret"], "offered by Basic", "refused the credentials; are name"),
        (digest, &["-u", "ada:secret"], "offered by Digest", "add --digest"),
        (digest, &["-u", "ada:secret", "--digest"], "offered by Digest", "refused the credentials"),
        (digest, &[], "offered by Digest", "-u NAME:PASSWORD --digest"),
        ("Basic realm=\"hidden\"", &["-u", "ada:secret", "--digest"], "offered by Basic", "omit --digest"),
        ("Negotiate", &["-u", "ada:secret"], "offered by Negotiate", "-u knows Basic and Digest"),
        ("Bearer", &["-H", "Authorization: Bearer secret"], "offered by Bearer", "in the Authorization header"),
    ] {
        let url = refusing(challenge);
        for (first, code) in [(["call", &shop(), "Order"], 4), (["list", &url, "--offline"], 1)] {
            let to_service = ["-d", ORDER, "--endpoint", &url];
            let more = if code == 4 { &to_service[..] } else { &[] };
            let output = run(&[&first[..], arguments, more].concat());
            let text = stderr(&output);
            assert_eq!(output.status.code(), Some(code), "{text}");
            assert!(text.contains(offered) && text.contains(remedy), "{challenge} {arguments:?}: {text}");
            assert!(!text.contains("secret") && !text.contains("hidden"), "{text}");
        }
    }
    let in_url = refusing("Basic realm=x").replace("http://", "http://ada:secret@");
    let text = stderr(&run(&["list", &in_url]));
    assert!(text.contains("refused the credentials") && !text.contains("secret"), "{text}");
}

/// `--offline` is about imports: a WSDL given by its URL is fetched, and nothing else.
#[test]
fn offline_imports_use_no_network() {
    let wsdl = "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' targetNamespace='urn:t'>\
        <import namespace='urn:other' location='other.wsdl'/></definitions>";
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{wsdl}",
        wsdl.len()
    );
    let (url, requests) = canned(answer.leak());
    let output = run(&["list", "--offline", &format!("{url}w.wsdl")]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("the import is offline"), "{text}");
    let requests = requests.lock().expect("no panic");
    assert_eq!(requests.len(), 1, "{requests:?}");
}

/// Errors of a proxy name the proxy and where it was set, and do not blame the service.
#[test]
fn proxies_that_cannot_be_reached_are_named() {
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = command();
        for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] {
            command.env_remove(name);
        }
        stderr(&command.args(arguments).envs(variables.iter().copied()).output().expect("the program runs"))
    };
    let shop = shop();
    let call = ["call", &shop, "Order", "-d", ORDER, "--timeout", "5"];
    let list = ["list", "http://nowhere.invalid/shop?wsdl"];
    const PROXY: &str = "http://ada:secret@127.0.0.1:1";
    for first in [&call[..], &list[..]] {
        for (arguments, variables, source) in [
            (&["--proxy", PROXY][..], &[][..], "--proxy"),
            (&[], &[("http_proxy", PROXY)], "the environment variable http_proxy"),
            (&[], &[("ALL_PROXY", PROXY)], "the environment variable ALL_PROXY"),
        ] {
            let text = run(&[first, arguments].concat(), variables);
            let named = format!("cannot connect to the proxy http://127.0.0.1:1 (from {source}): ");
            assert!(text.contains(&named) && text.contains("is the proxy running"), "{text}");
            assert!(!text.contains("that of the WSDL") && !text.contains("is the service running"), "{text}");
            assert!(!text.contains("secret") && text.matches("Connection refused").count() == 1, "{text}");
        }
    }
    for list in ["*", "127.0.0.1:2", "[::1],127.0.0.1"] {
        let arguments = [&call[..], &["--endpoint", "http://127.0.0.1:2/", "--proxy", PROXY]].concat();
        let text = run(&arguments, &[("no_proxy", list)]);
        assert!(!text.contains("proxy") && text.contains("is the service running"), "{list}: {text}");
    }
}

#[test]
fn the_timeout_holds_while_the_wsdl_is_loaded() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", silent.local_addr().expect("an address"));
    let import = format!("<wsdl:import namespace=\"urn:other\" location=\"{url}other.wsdl\"/>");
    let naming =
        format!("<wsdl:definitions xmlns:wsdl=\"http://schemas.xmlsoap.org/wsdl/\">{import}</wsdl:definitions>");
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("naming.wsdl");
    std::fs::write(&path, naming).expect("a file");
    let begin = std::time::Instant::now();
    let output = run(&["call", &url, "Order", "-d", ORDER, "--timeout", "1"]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("not loaded within 1 s") && text.contains("--timeout SECONDS waits longer"), "{text}");
    let imported = run(&["call", &path.to_string_lossy(), "Order", "--allow-private", "-d", ORDER, "--timeout", "1"]);
    assert!(!imported.status.success());
    assert!(begin.elapsed() < std::time::Duration::from_secs(15), "{:?}", begin.elapsed());
    drop(silent);
}

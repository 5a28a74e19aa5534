//! WS-Security on the command line.

use super::{command, json, run, stderr, stdout};
use deltasoap::security::{Identity, PolicyCredentials, Protection, Requirements, Trust, Verified};
use deltasoap::server::Extension;
use deltasoap::{Server, Soap, SoapService};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

#[derive(Soap)]
#[soap(namespace = "urn:bank", message)]
struct Transfer {
    amount: f64,
}

#[derive(Soap)]
#[soap(namespace = "urn:bank", message)]
struct Receipt {
    sender: String,
}

/// Serves on a free port until the test ends. Returns the URL of the WSDL.
fn serve(service: impl FnOnce() -> SoapService + Send + 'static) -> String {
    let (sender, url) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let server = Server::bind("127.0.0.1:0").await.expect("a port");
            sender.send(format!("http://{}/?wsdl", server.local_addr().expect("an address"))).expect("the test waits");
            server.serve(service()).await.expect("the server runs");
        });
    });
    url.recv().expect("the server starts")
}

fn bank(requirements: Requirements, protection: Protection) -> SoapService {
    SoapService::builder()
        .requirements(requirements)
        .protection(protection)
        .operation(async |Extension(verified): Extension<Verified>, _: Transfer| Receipt {
            sender: verified.sender.name().unwrap_or_default().to_owned(),
        })
        .build()
        .expect("a service")
}

#[test]
fn user_names() {
    let url = serve(|| {
        let users = |user: &str| (user == "ada").then_some("pass:word");
        bank(Requirements::new().users(users), Protection::new().must_understand(false))
    });
    for digest in [&[][..], &["--wsse-digest"]] {
        let output =
            run(&[&["call", &url, "Transfer", "-d", "{\"amount\": 1}", "--wsse-user", "ada:pass:word"], digest]
                .concat());
        assert!(output.status.success(), "{output:?}");
        assert_eq!(json(&output), json!({ "sender": "ada" }));
    }
    let from_environment = command()
        .args(["call", &url, "Transfer", "--wsse-user", "ada", "-d", "{\"amount\": 1}"])
        .env("DELTASOAP_PASSWORD", "pass:word")
        .output();
    assert!(from_environment.expect("it runs").status.success());
    let wrong = run(&["call", &url, "Transfer", "-d", "{\"amount\": 1}", "--wsse-user", "ada:wrong"]);
    assert_eq!(wrong.status.code(), Some(3), "{wrong:?}");
    assert!(stderr(&wrong).contains("FailedAuthentication"), "{wrong:?}");
    // Passwords are shown only if asked for.
    let arguments = ["call", &url, "Transfer", "-d", "{\"amount\": 1}", "--wsse-user", "ada:pass:word", "--verbose"];
    let hidden = stderr(&run(&arguments));
    assert!(hidden.contains("UsernameToken") && !hidden.contains("pass:word"), "{hidden}");
    assert!(stderr(&run(&[&arguments[..], &["--secrets"]].concat())).contains("pass:word"));
}

/// Writes a certificate and its key. Returns their paths.
fn identity(folder: &Path, name: &str) -> (String, String) {
    let key = rcgen::KeyPair::generate().expect("a key");
    let mut params = rcgen::CertificateParams::default();
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    let certificate = params.self_signed(&key).expect("a certificate");
    let (cert, secret) = (folder.join(format!("{name}.pem")), folder.join(format!("{name}.key")));
    std::fs::write(&cert, certificate.pem()).expect("a file");
    std::fs::write(&secret, key.serialize_pem()).expect("a file");
    (cert.to_string_lossy().into_owned(), secret.to_string_lossy().into_owned())
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).expect("a file")
}

#[test]
fn signed_requests_and_answers() {
    let folder = TempDir::new().expect("a folder");
    let (client, client_key) = identity(folder.path(), "client");
    let (server, server_key) = identity(folder.path(), "server");
    let (trusted, own) = (read(&client), Identity::from_pem(read(&server), read(&server_key)).expect("an identity"));
    let url = serve(move || {
        let trust = Trust::nobody().certificates(trusted).expect("a certificate");
        let requirements = Requirements::new().trust(trust).signed_body().signed_timestamp();
        bank(requirements, Protection::new().timestamp(Duration::from_secs(60)).sign(own))
    });
    let call = ["call", &url, "Transfer", "-d", "{\"amount\": 1}"];
    let signed = [&call[..], &["--cert", &client, "--sign", &client_key]].concat();
    let trusting = run(&[&signed[..], &["--wsse-trust", &server]].concat());
    assert_eq!(json(&trusting), json!({ "sender": "CN=client" }), "{trusting:?}");
    let distrustful = run(&[&signed[..], &["--wsse-trust", &client]].concat());
    assert_eq!(distrustful.status.code(), Some(4), "{distrustful:?}");
    assert!(stderr(&distrustful).contains("not trusted"), "{distrustful:?}");
    // The answer's security must be understood, or accepted unread.
    assert_eq!(run(&signed).status.code(), Some(4));
    let security = "{http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd}Security";
    assert!(run(&[&signed[..], &["--understand", security]].concat()).status.success());
    let unsigned = run(&call);
    assert!(stderr(&unsigned).contains("lacks security"), "{unsigned:?}");
    let keyless = run(&[&call[..], &["--cert", &client]].concat());
    assert!(stderr(&keyless).contains("--sign"), "{keyless:?}");

    // A recorded message is verified as of its time.
    let shown = stderr(&run(&[&signed[..], &["--understand", security, "--verbose"]].concat()));
    let request = shown.split("\n>\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a request").trim();
    let file = folder.path().join("request.xml");
    let validate = |message: &str, certificates: &str| {
        std::fs::write(&file, message).expect("a file");
        run(&["validate", &url, &file.to_string_lossy(), "--verify", certificates])
    };
    assert!(stdout(&validate(request, &client)).contains("ok, from CN=client"), "{request}");
    for (message, certificates) in [(request, &server), (&*request.replace(">1</", ">2</"), &client)] {
        let output = validate(message, certificates);
        assert!(!output.status.success() && stdout(&output).contains("not secure"), "{output:?}");
    }
}

#[derive(Soap)]
#[soap(transparent, namespace = "urn:vault", element = "Open")]
struct Open(String);

#[derive(Soap)]
#[soap(transparent, namespace = "urn:vault", element = "Opened")]
struct Opened(i32);

/// The policies of a WSDL decide how requests are secured, and what is missing is said before
/// anything is sent.
#[test]
fn policies() {
    const WSDL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../deltasoap-codegen/tests/data/secured.wsdl");
    let folder = TempDir::new().expect("a folder");
    let (client, client_key) = identity(folder.path(), "client");
    let (server, server_key) = identity(folder.path(), "server");
    let (trusted, own) = (read(&client), Identity::from_pem(read(&server), read(&server_key)).expect("an identity"));
    let url = serve(move || {
        let contract = deltasoap_dynamic::Contract::import(WSDL).expect("a contract");
        let policies = contract.operation("Open").expect("an operation").policies();
        let trust = Trust::nobody().certificates(trusted).expect("a certificate");
        let service = SoapService::builder().policies(policies);
        let service = service.policy_credentials(PolicyCredentials::new().identity(own).trust(trust));
        service.operation(async |_: Open| Opened(7)).build().expect("a service")
    });

    let listed = run(&["list", WSDL]);
    assert!(
        stderr(&listed).contains("Open requires signatures by certificates (Basic256Sha256), a Timestamp"),
        "{listed:?}"
    );
    let listed = json(&run(&["list", "--json", WSDL]));
    assert_eq!(listed["operations"][0]["security"]["unsupported"], json!([]));
    assert_eq!(listed["operations"][0]["unmet_policies"], json!([]));

    let endpoint = url.trim_end_matches("?wsdl");
    let call = ["call", WSDL, "Open", "-d", "\"sesame\"", "--endpoint", endpoint];
    let keyless = run(&call);
    assert!(!keyless.status.success(), "{keyless:?}");
    let said = stderr(&keyless);
    for option in ["--sign and --cert", "--wsse-trust", "nothing was sent", "--ignore-policy"] {
        assert!(said.contains(option), "{option}: {said}");
    }
    assert!(!said.contains("PolicyCredentials"), "{said}");
    let signed = [&call[..], &["--cert", &client, "--sign", &client_key, "--wsse-trust", &server]].concat();
    let answer = run(&signed);
    assert_eq!(json(&answer), json!(7), "{answer:?}");
    let without_effect = run(&[&signed[..], &["--wsse-timestamp"]].concat());
    assert!(stderr(&without_effect).contains("--wsse-timestamp has no effect"), "{without_effect:?}");
    let ignored = run(&[&call[..], &["--ignore-policy"]].concat());
    assert_eq!(ignored.status.code(), Some(3), "{ignored:?}");
    assert!(stderr(&ignored).contains("lacks security"), "{ignored:?}");

    let mock = run(&["mock", WSDL, "--listen", "192.0.2.1:1"]);
    assert!(stderr(&mock).contains("the mock neither checks nor adds"), "{mock:?}");
}

/// A policy that requires TLS leaves messages to the options.
#[test]
fn policies_that_require_tls() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("vault.wsdl");
    let wsdl = read(concat!(env!("CARGO_MANIFEST_DIR"), "/../deltasoap-codegen/tests/data/secured.wsdl"));
    let start = wsdl.find("<sp:AsymmetricBinding>").expect("a binding");
    let end = wsdl.find("</sp:AsymmetricBinding>").expect("a binding") + "</sp:AsymmetricBinding>".len();
    let parts =
        "<sp:SignedParts><sp:Body/><sp:Header Namespace=\"http://www.w3.org/2005/08/addressing\"/></sp:SignedParts>";
    let wsdl = format!("{}<sp:TransportBinding/>{}", &wsdl[..start], &wsdl[end..]).replace(parts, "");
    std::fs::write(&path, wsdl).expect("a file");
    let path = path.to_string_lossy();
    let call = ["call", &path, "Open", "-d", "\"sesame\"", "--endpoint", "http://127.0.0.1:1/"];
    let clear = stderr(&run(&call));
    assert!(clear.contains("a URL with https; nothing was sent"), "{clear}");
    // Options of one's own are sent.
    let url = serve(|| {
        let users = |user: &str| (user == "ada").then_some("password");
        let service = SoapService::builder().requirements(Requirements::new().users(users));
        service.operation(async |_: Open| Opened(7)).build().expect("a service")
    });
    let named = [
        "call",
        &path,
        "Open",
        "-d",
        "\"sesame\"",
        "--endpoint",
        url.trim_end_matches("?wsdl"),
        "--wsse-user",
        "ada:password",
    ];
    assert_eq!(json(&run(&named)), json!(7));
    assert!(stderr(&run(&["list", &path])).contains("Open requires TLS"), "{path}");
}

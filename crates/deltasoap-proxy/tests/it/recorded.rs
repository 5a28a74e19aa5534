//! Recordings, and what they answer.

use super::*;
use serde_json::Value as Json;
use std::path::Path;

fn recording(folder: &Path, more: &str) -> String {
    format!("[record]\ndirectory = {:?}\nhar = {:?}\n{more}", folder.join("tape"), folder.join("all.har"))
}

fn replaying(folder: &Path) -> Proxy {
    let never = service_fn(|_: Request<Body>| async {
        Err::<Response<Full<Bytes>>, BoxError>(BoxError::from("the target is called"))
    });
    let config = Config::parse(&format!("replay = {:?}", folder.join("tape"))).expect("a configuration");
    Proxy::new(&config, None, never).unwrap_or_else(|error| panic!("{error}"))
}

fn all_text(folder: &Path) -> String {
    let mut all = String::new();
    for path in deltasoap_test_support::files::all_below(folder) {
        all.push_str(&String::from_utf8_lossy(&std::fs::read(path).expect("a file")));
    }
    all
}

#[tokio::test]
async fn recordings_answer_equal_requests_in_their_order() {
    let folder = tempfile::tempdir().expect("a directory");
    let target = Target::default();
    let counter = Mutex::new(0);
    let proxy = target.proxy(&recording(folder.path(), ""), None, move |request, _| {
        let mut count = counter.lock().expect("not poisoned");
        *count += 1;
        match request.method().as_str() {
            "GET" => xml(SHOP.replace("http://localhost:8080/shop", "http://x/soap/shop")),
            _ => xml(envelope("", &format!("<OrderResponse><number>{count}</number></OrderResponse>"))),
        }
    });
    for customer in ["Ada", "Ada", "Bob"] {
        send(&proxy, post(&order(customer))).await;
    }
    send(&proxy, get("/?wsdl")).await;
    proxy.flush().await;

    let replay = replaying(folder.path());
    assert_eq!(replay.recorded(), 4);
    let header = "<e:Header><x xmlns='urn:y'>7</x></e:Header><e:Body>\n";
    let again = order("Ada").replace("<e:Body>", header).replace("xmlns=\"urn:shop\"", "xmlns='urn:shop' ");
    for expected in ["1", "2", "2"] {
        assert_eq!(send(&replay, post(&again)).await.element("number"), expected);
    }
    assert_eq!(send(&replay, post(&order("Bob"))).await.element("number"), "3");
    let described = send(&replay, get("/?wsdl")).await;
    assert!(described.text.contains("location=\"http://proxy:1/shop\""), "{described:?}");
    assert_eq!(send(&replay, get("/?xsd")).await.status, StatusCode::NOT_FOUND);

    let missing = send(&replay, post(&order("Eve"))).await;
    let reason = missing.element("faultstring");
    assert!(missing.element("faultcode").ends_with(":Client"), "{missing:?}");
    for part in ["requests/0001-Order.http", "at /Order/customer: recorded \"Ada\", got \"Eve\""] {
        assert!(reason.contains(part), "{reason}");
    }
    let mut other = post(&order("Bob"));
    other.headers_mut().insert("soapaction", "\"urn:other\"".parse().expect("a value"));
    let reason = send(&replay, other).await;
    assert!(reason.element("faultstring").contains("in the action: recorded nothing"), "{reason:?}");
}

#[tokio::test]
async fn secrets_are_not_recorded_unless_that_is_said() {
    const SECRETS: [&str; 6] =
        ["basic-secret", "cookie-secret", "set-secret", "wsse-secret", "saml-secret", "key-secret"];
    let header = "<e:Header><w:Security xmlns:w='urn:wsse'><w:UsernameToken><w:Username>ada</w:Username>\
        <w:Password><![CDATA[wsse-secret]]></w:Password></w:UsernameToken>\
        <Assertion xmlns='urn:oasis:names:tc:SAML:2.0:assertion'>saml-secret</Assertion></w:Security></e:Header><e:Body>";
    let message = order("Ada").replace("<e:Body>", header);
    for (keeps, more) in [(false, ""), (true, "secrets = true")] {
        let folder = tempfile::tempdir().expect("a directory");
        let proxy = Target::default().proxy(&recording(folder.path(), more), None, |_, _| {
            let mut answer = xml(envelope("", "<OrderResponse/>"));
            answer.headers_mut().insert("set-cookie", "a=set-secret".parse().expect("a value"));
            answer
        });
        let request = Request::post("/?api_key=key-secret").header("content-type", "text/xml");
        let request = request.header("authorization", "basic-secret").header("cookie", "a=cookie-secret");
        send(&proxy, request.body(Full::from(message.clone())).expect("a request")).await;
        proxy.flush().await;
        let text = all_text(folder.path());
        assert!(text.contains("<customer>Ada</customer>"));
        for secret in SECRETS {
            assert_eq!(text.contains(secret), keeps, "{secret} in {text}");
        }
        // The recording answers the same request.
        let request = post(&message);
        assert_eq!(send(&replaying(folder.path()), request).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_har_is_json_after_each_exchange() {
    let folder = tempfile::tempdir().expect("a directory");
    let proxy = Target::default().proxy(&recording(folder.path(), ""), None, |_, _| xml(envelope("", "<R>ä</R>")));
    let read = || {
        let text = std::fs::read_to_string(folder.path().join("all.har")).expect("a file");
        serde_json::from_str::<Json>(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    assert_eq!(read()["log"]["entries"], serde_json::json!([]));
    for count in 1..4 {
        send(&proxy, post(&order("Ada"))).await;
        proxy.flush().await;
        let log = &read()["log"];
        assert_eq!((&log["version"], log["entries"].as_array().map(Vec::len)), (&"1.2".into(), Some(count)));
        let entry = &log["entries"][count - 1];
        assert_eq!(entry["request"]["postData"]["text"], order("Ada"));
        assert_eq!(entry["response"]["content"]["text"], envelope("", "<R>ä</R>"));
        assert_eq!((&entry["request"]["url"], &entry["comment"]), (&"http://proxy:1/".into(), &"Order".into()));
    }
}

/// Faults with header blocks, packages and other encodings are recorded too, and answer.
#[tokio::test]
async fn all_kinds_of_answers_are_recorded() {
    let folder = tempfile::tempdir().expect("a directory");
    let fault = envelope(
        "<e:Header><h xmlns='urn:h'/></e:Header>",
        "<e:Fault><faultcode>e:Server</faultcode><faultstring>no</faultstring></e:Fault>",
    );
    let package = format!(
        "--B\r\nContent-Type: text/xml\r\n\r\n{}\r\n--B\r\nContent-ID: <p>\r\n\r\nabc\r\n--B--\r\n",
        envelope("", "<R/>")
    );
    let answers = [("text/xml", fault), ("multipart/related; boundary=B", package), ("text/html", "<p>no".to_owned())];
    let answer = {
        let answers = answers.clone();
        move |_: &Request<()>, body: &str| {
            let index = ["Ada", "Bob", "Eve"].iter().position(|name| body.contains(name)).expect("a name");
            let (media, text) = answers[index].clone();
            Response::builder().header("content-type", media).body(text).expect("a response")
        }
    };
    let proxy = Target::default().proxy(&recording(folder.path(), ""), None, answer);
    for customer in ["Ada", "Bob", "Eve"] {
        send(&proxy, post(&order(customer))).await;
    }
    proxy.flush().await;
    let replay = replaying(folder.path());
    for (customer, (media, text)) in ["Ada", "Bob", "Eve"].into_iter().zip(answers) {
        let answer = send(&replay, post(&order(customer))).await;
        assert_eq!((answer.headers["content-type"].to_str().expect("text"), answer.text), (media, text));
    }
}

#[tokio::test]
async fn requests_that_are_not_read_to_the_end_are_not_recorded() {
    let folder = tempfile::tempdir().expect("a directory");
    let unread = service_fn(|_: Request<Body>| async { Ok::<_, BoxError>(Response::new(Full::<Bytes>::from("no"))) });
    let proxy = Proxy::new(&configured(&recording(folder.path(), "")), None, unread).expect("a proxy");
    assert_eq!(send(&proxy, post(&order("Ada"))).await.text, "no");
    proxy.flush().await;
    assert!(!all_text(folder.path()).contains("Ada"));
}

//! WS-Security on one side of the proxy.

use super::*;
use tower::Service;

/// A service behind another one.
#[derive(Clone)]
struct Behind(Proxy);

impl Service<Request<Body>> for Behind {
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = futures_util::future::BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), BoxError>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let answer = self.0.clone().oneshot(request);
        Box::pin(async move {
            let Ok(answer) = answer.await;
            Ok(answer)
        })
    }
}

struct Keys {
    folder: tempfile::TempDir,
}

impl Keys {
    fn new(names: &[&str]) -> Self {
        Self::with(names, &rcgen::PKCS_ECDSA_P256_SHA256)
    }

    fn with(names: &[&str], algorithm: &'static rcgen::SignatureAlgorithm) -> Self {
        let keys = Keys { folder: tempfile::tempdir().expect("a directory") };
        for name in names {
            let key = rcgen::KeyPair::generate_for(algorithm).expect("a key");
            let mut params = rcgen::CertificateParams::default();
            params.distinguished_name.push(rcgen::DnType::CommonName, *name);
            let certificate = params.self_signed(&key).expect("a certificate");
            std::fs::write(keys.path(name, "pem"), certificate.pem()).expect("a file");
            std::fs::write(keys.path(name, "key"), key.serialize_pem()).expect("a file");
        }
        keys
    }

    fn path(&self, name: &str, extension: &str) -> std::path::PathBuf {
        self.folder.path().join(format!("{name}.{extension}"))
    }

    fn config(&self, side: &str, own: &str, trusted: &str, more: &str) -> String {
        format!(
            "[security]\nside = {side:?}\nsign = {:?}\ncertificate = {:?}\ntrust = {:?}\n{more}",
            self.path(own, "key"),
            self.path(own, "pem"),
            self.path(trusted, "pem")
        )
    }
}

fn chained(first: &str, second: &str) -> (Proxy, Target) {
    let target = Target::default();
    let inner = target.proxy(second, None, |_, body| match body.contains("Eve") {
        true => xml(envelope("", "<e:Fault><faultcode>e:Server</faultcode><faultstring>no</faultstring></e:Fault>")),
        false => xml(envelope("<e:Header><h xmlns='urn:h'/></e:Header>", "<OrderResponse xmlns='urn:shop'/>")),
    });
    (Proxy::new(&configured(first), None, Behind(inner)).expect("a proxy"), target)
}

#[tokio::test]
async fn what_one_proxy_signs_another_verifies() {
    // Only RSA encrypts.
    let keys = Keys::with(&["client", "server"], &rcgen::PKCS_RSA_SHA256);
    let more = format!("encrypt_for = {:?}\n", keys.path("server", "pem"));
    let back = format!("encrypt_for = {:?}\n", keys.path("client", "pem"));
    for (more, back) in [("", ""), (&*more, &*back)] {
        let first = keys.config("target", "client", "server", more);
        let second = keys.config("client", "server", "client", back);
        let (proxy, target) = chained(&first, &second);
        let header = "<e:Header><tx xmlns='urn:tx'>7</tx></e:Header><e:Body>";
        let answer = send(&proxy, post(&order("Ada").replace("<e:Body>", header))).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        assert!(answer.text.contains("<h ") && answer.text.contains("OrderResponse"), "{answer:?}");
        let (_, request) = target.last();
        assert!(request.contains("urn:tx") && request.contains("Ada"), "{request}");
        assert!(!request.contains("Security>") && !answer.text.contains("Security>"), "{request} {answer:?}");
        let fault = send(&proxy, post(&order("Eve"))).await;
        assert_eq!(fault.element("faultstring"), "no");
    }
}

#[tokio::test]
async fn what_is_not_signed_by_whom_it_should_be_is_a_fault() {
    let keys = Keys::new(&["client", "server", "other"]);
    let (good_first, good_second) =
        (keys.config("target", "client", "server", ""), keys.config("client", "server", "client", ""));
    // The request is signed by somebody else.
    let (proxy, target) = chained(&keys.config("target", "other", "server", ""), &good_second);
    let answer = send(&proxy, post(&order("Ada"))).await;
    assert!(answer.element("faultcode").contains("InvalidSecurityToken"), "{answer:?}");
    assert_eq!(target.count(), 0);
    // So is the answer, which came from the target.
    let (proxy, target) = chained(&good_first, &keys.config("client", "other", "client", ""));
    let answer = send(&proxy, post(&order("Ada"))).await;
    assert!(answer.element("faultstring").contains("the answer of the service was not accepted"), "{answer:?}");
    assert_eq!(target.count(), 1);
    // A request without security, of either version.
    let proxy = target.proxy(&good_second, None, |_, _| xml(""));
    for (text, code) in [
        (order("Ada"), "InvalidSecurity"),
        (
            order("Ada")
                .replace("http://schemas.xmlsoap.org/soap/envelope/", "http://www.w3.org/2003/05/soap-envelope"),
            "InvalidSecurity",
        ),
        ("<html/>".to_owned(), "no SOAP message"),
    ] {
        let answer = send(&proxy, post(&text)).await;
        assert!(answer.text.contains(code), "{answer:?}");
    }
    let called = send(&proxy, get("/Order?customer=Ada")).await;
    assert_eq!(called.status, StatusCode::FORBIDDEN);
    assert_eq!(target.count(), 1, "none reached it");
    // An answer that is no message.
    let proxy = target.proxy(&good_first, None, |_, _| Response::new("gateway down".to_owned()));
    let answer = send(&proxy, post(&order("Ada"))).await;
    assert_eq!(answer.status, StatusCode::BAD_GATEWAY, "{answer:?}");
}

#[tokio::test]
async fn changed_messages_fail_the_check() {
    let keys = Keys::new(&["client", "server"]);
    let target = Target::default();
    let signing = target.proxy(&keys.config("target", "client", "server", ""), None, |_, _| xml(""));
    send(&signing, post(&order("Ada"))).await;
    let (_, signed) = target.last();
    assert!(signed.contains("<ds:Signature"), "{signed}");
    let verifying = target
        .proxy(&keys.config("client", "server", "client", ""), None, |_, _| xml(envelope("", "<OrderResponse/>")));
    let answer = send(&verifying, post(&signed.replace("Ada", "Eve"))).await;
    assert!(answer.element("faultcode").contains("FailedCheck"), "{answer:?}");
    assert_eq!(target.count(), 0);
    assert!(send(&verifying, post(&signed)).await.text.contains("OrderResponse"), "unchanged");
    let again = send(&verifying, post(&signed)).await;
    assert!(again.element("faultcode").contains("MessageExpired"), "once: {again:?}");
}

#[tokio::test]
async fn user_names_are_added_and_required() {
    const USER: &str = "[security]\nuser = \"ada\"\npassword = { env = \"CARGO_PKG_NAME\" }\ntimestamp = true\n";
    for digest in ["", "digest = true\n"] {
        let (proxy, target) = chained(&format!("{USER}{digest}"), &format!("{USER}side = \"client\"\n"));
        assert_eq!(send(&proxy, post(&order("Ada"))).await.status, StatusCode::OK);
        assert!(!target.last().1.contains("UsernameToken"));
    }
    let wrong = USER.replace("CARGO_PKG_NAME", "CARGO_PKG_VERSION");
    let (proxy, target) = chained(&wrong, &format!("{USER}side = \"client\"\n"));
    let answer = send(&proxy, post(&order("Ada"))).await;
    assert!(answer.element("faultcode").contains("FailedAuthentication"), "{answer:?}");
    assert_eq!(target.count(), 0);
}

/// What cannot be secured does not reach the target plain.
#[tokio::test]
async fn what_cannot_be_secured_is_refused() {
    let keys = Keys::new(&["client", "server"]);
    let target = Target::default();
    let proxy = target.proxy(&keys.config("target", "client", "server", ""), None, |_, _| xml(""));
    let package = format!("--B\r\nContent-Type: text/xml\r\n\r\n{}\r\n--B--\r\n", order("Ada"));
    let two = order("Ada").replace("</e:Envelope>", "<e:Body/></e:Envelope>");
    for (media, text) in [
        ("multipart/related; boundary=B; type=\"text/xml\"", &*package),
        ("text/xml; charset=utf-16", &order("Ada")),
        ("text/xml", &format!("<!DOCTYPE a>{}", order("Ada"))),
        ("text/xml", "<a/>"),
        ("text/xml", &two),
        ("application/json", "{}"),
        ("text/xml", ""),
    ] {
        let request = Request::post("/").header("content-type", media).body(Full::from(text.to_owned()));
        let answer = send(&proxy, request.expect("a request")).await;
        assert!(!answer.element("faultstring").is_empty(), "{media} {text}: {answer:?}");
    }
    let with_body = Request::get("/?wsdl").body(Full::from(order("Ada"))).expect("a request");
    assert_eq!(send(&proxy, with_body).await.status, StatusCode::FORBIDDEN);
    assert_eq!(target.count(), 0, "none reached it");
    send(&proxy, get("/?wsdl")).await;
    assert_eq!(target.count(), 1);
}

#[tokio::test]
async fn only_descriptions_need_no_message() {
    let keys = Keys::new(&["client", "server"]);
    let target = Target::default();
    let proxy = target.proxy(&keys.config("client", "server", "client", ""), None, |_, _| xml(""));
    for (method, path) in [
        ("GET", "/a?wsdl=1&b=2"),
        ("GET", "/a?wsdlx"),
        ("GET", "/a.xsd?b=2"),
        ("HEAD", "/a?xsd&b"),
        ("OPTIONS", "/?wsdl"),
        ("TRACE", "/?wsdl"),
    ] {
        let request = Request::builder().method(method).uri(path).body(Full::<Bytes>::default()).expect("a request");
        assert_eq!(send(&proxy, request).await.status, StatusCode::FORBIDDEN, "{method} {path}");
    }
    assert_eq!(target.count(), 0);
    for path in ["/?WSDL", "/?wsdl=a", "/?xsd=1"] {
        send(&proxy, get(path)).await;
    }
    assert_eq!(target.count(), 3);
}

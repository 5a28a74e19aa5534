//! Configurations: several services, errors, CORS, compression, replacement.

use crate::{gateway, get, plain, post, send, shop};
use deltasoap_dynamic::Mock;
use deltasoap_gateway::{Backend, Config, Gateway};
use deltasoap_http::Body;
use http::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};
use http::{HeaderValue, Method, Request};
use http_body_util::{BodyExt, Full};
use std::sync::{Arc, Mutex};
use tower::ServiceExt;

const ORDER: &str = r#"{"customer": "Ada", "item": [{"code": "A-1", "count": 2}]}"#;

#[tokio::test]
async fn services_have_paths() {
    let two = gateway(
        "[[service]]\nwsdl = \"s\"\npath = \"/one\"\n[[service]]\nwsdl = \"s\"\npath = \"/two\"\ntitle = \"<Two>\"\n",
    );
    for path in ["/one", "/two"] {
        assert_eq!(post(&two, &format!("{path}/operations/Order"), ORDER).await.status.as_u16(), 200);
        assert_eq!(get(&two, &format!("{path}/openapi.json")).await.json()["servers"][0]["url"], path);
    }
    let index = get(&two, "/").await.text;
    assert!(index.contains("href=\"/one/\"") && index.contains("&lt;Two&gt;"), "{index}");
    get(&two, "/operations/Order").await.problem(404, "not-found");
}

#[tokio::test]
async fn a_port_is_chosen() {
    for (port, media) in
        [("Soap11", "text/xml"), ("Soap12", "application/soap+xml"), ("Shop.Soap12", "application/soap+xml")]
    {
        let config =
            Config::parse(&format!("[[service]]\nwsdl = \"s\"\nport = \"{port}\"\n")).expect("a configuration");
        let mock = Mock::new(shop()).service().expect("a service");
        let seen = Arc::new(Mutex::new(String::new()));
        let sent = Arc::clone(&seen);
        let noted = mock.map_request(move |request: Request<Body>| {
            let media = request.headers()[CONTENT_TYPE].to_str().expect("text").to_owned();
            *sent.lock().expect("not poisoned") = media;
            request
        });
        let gateway = Gateway::new(&config, vec![Backend::new(shop()).transport(noted)]).expect("a gateway");
        assert_eq!(post(&gateway, "/operations/Order", ORDER).await.status.as_u16(), 200);
        let seen = seen.lock().expect("not poisoned").clone();
        assert!(seen.starts_with(media), "{port}: {seen}");
    }
}

/// Returns a gateway to a service that sets a cookie, and the cookies that it gets.
fn with_session(config: &str) -> (Gateway, Arc<Mutex<Vec<String>>>) {
    let config = Config::parse(config).expect("a configuration");
    let mock = Mock::new(shop()).service().expect("a service");
    let got = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&got);
    let service = mock.map_request(move |request: Request<Body>| {
        let cookies = request.headers().get_all(COOKIE).iter().map(|it| it.to_str().expect("text").to_owned());
        noted.lock().expect("not poisoned").extend(cookies);
        request
    });
    let service = service.map_response(|mut response| {
        let cookie = HeaderValue::from_static("session=7; Domain=inside.example; Path=/soap; HttpOnly");
        response.headers_mut().append(SET_COOKIE, cookie);
        response
    });
    (Gateway::new(&config, vec![Backend::new(shop()).transport(service)]).expect("a gateway"), got)
}

#[tokio::test]
async fn clients_have_sessions_if_that_is_configured() {
    let order = ("Order", ORDER, 200);
    for (setting, (operation, body, status), set, expected) in [
        ("cookies = true", order, Some("~shop~~session=7; HttpOnly; Path=/"), &["session=7; b=2"][..]),
        (
            "cookies = true",
            ("Ping", "{\"text\": \"a\"}", 202),
            Some("~shop~~session=7; HttpOnly; Path=/"),
            &["session=7; b=2"],
        ),
        ("cookies = false", order, None, &[]),
    ] {
        let (gateway, got) = with_session(&format!("[[service]]\nwsdl = \"s\"\npath = \"/shop\"\n{setting}\n"));
        let request = Request::post(format!("/shop/operations/{operation}"))
            .header(COOKIE, "other=1; ~shop~~session=7; session=8")
            .header(COOKIE, "~shop~~b=2; ~~c=3");
        let response = gateway.oneshot(request.body(Full::from(body)).expect("a request")).await.expect("an answer");
        let cookie = response.headers().get(SET_COOKIE).map(|it| it.to_str().expect("text"));
        assert_eq!((response.status().as_u16(), cookie), (status, set));
        assert_eq!(*got.lock().expect("not poisoned"), expected);
    }
}

#[tokio::test]
async fn a_session_may_begin_with_a_fault() {
    let config = Config::parse("[[service]]\nwsdl = \"s\"\ncookies = true\n").expect("a configuration");
    let fault = "<S:Envelope xmlns:S=\"http://schemas.xmlsoap.org/soap/envelope/\"><S:Body><S:Fault><faultcode>S:Client</faultcode>\
                 <faultstring>log in</faultstring></S:Fault></S:Body></S:Envelope>";
    let service = tower::service_fn(move |_: Request<Body>| async move {
        let response = http::Response::builder().status(500).header(CONTENT_TYPE, "text/xml").header(SET_COOKIE, "a=1");
        Ok::<_, std::convert::Infallible>(response.body(Full::<bytes::Bytes>::from(fault)).expect("a response"))
    });
    let gateway = Gateway::new(&config, vec![Backend::new(shop()).transport(service)]).expect("a gateway");
    let got = post(&gateway, "/operations/Order", ORDER).await;
    got.problem(400, "fault");
    assert_eq!(got.headers[SET_COOKIE], "~~a=1; Path=/");
}

#[tokio::test]
async fn errors_name_the_key() {
    let service = "[[service]]\nwsdl = \"s\"\n";
    let route = |route: &str| format!("{service}[[service.route]]\n{route}\n");
    for (config, expected) in [
        (String::new(), "service: there is none"),
        (format!("{service}idempotent = [\"Odrer\"]\n"), "service[0].idempotent[0]: there is no operation Odrer"),
        (
            format!("{service}port = \"Soap13\"\n"),
            "service[0].port: no port Soap13; the WSDL has Shop.Soap11, Shop.Soap12",
        ),
        (format!("{service}path = \"shop\"\n"), "service[0].path: expected a path"),
        (format!("{service}faults = {{ SoldOut = 200 }}\n"), "service[0].faults.SoldOut: expected a status"),
        (route("path = \"/a\"\noperation = \"Odrer\""), "service[0].route[0].operation: there is no operation"),
        (route("path = \"/a/{b}\"\noperation = \"Order\""), "service[0].route[0].path: the parameter b has no place"),
        (route("path = \"/a\"\noperation = \"Order\"\nbody = \"item\""), "service[0].route[0].body: requests"),
        (
            route("path = \"/a\"\nmethod = \"PUT\"\noperation = \"Order\"\nbody = \"itm\""),
            "service[0].route[0].body: the request has no property itm",
        ),
        (
            route("path = \"/a\"\noperation = \"Order\"\nfixed = { itm = 1 }"),
            "service[0].route[0].fixed.itm: the request has no such property",
        ),
        (route("path = \"/openapi.json\"\noperation = \"Catalogue\""), "service: GET /openapi.json is there twice"),
        (
            format!(
                "{service}credentials = {{ kind = \"basic\", user = \"a\", password = {{ env = \"NO_SUCH\" }} }}\n"
            ),
            "service[0].credentials: the environment has no variable NO_SUCH",
        ),
        (format!("cors = {{ origins = [\"*\"], credentials = true }}\n{service}"), "cors.credentials: browsers"),
        (format!("cors = {{ origins = [\"app.example\"] }}\n{service}"), "cors.origins: \"app.example\" is not"),
        (format!("{service}tls = {{ roots = \"/no/such.pem\" }}\n"), "service[0].tls: /no/such.pem cannot be read"),
    ] {
        let parsed = Config::parse(&config).unwrap_or_else(|error| panic!("{config}: {error}"));
        let backends = parsed.services.iter().map(|_| Backend::new(shop())).collect();
        let error = Gateway::new(&parsed, backends).expect_err(&config).to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[tokio::test]
async fn a_gateway_is_replaced_while_it_runs() {
    let gateway = plain();
    let clone = gateway.clone();
    gateway.replace(crate::gateway("[[service]]\nwsdl = \"s\"\npath = \"/new\"\n"));
    assert_eq!(post(&clone, "/new/operations/Order", ORDER).await.status.as_u16(), 200);
    get(&clone, "/operations/Order").await.problem(404, "not-found");
}

#[tokio::test]
async fn pages_of_other_origins_may_be_allowed() {
    let preflight = || {
        let request = Request::builder().method(Method::OPTIONS).uri("/operations/Order");
        let request = request.header("origin", "https://app.example").header("access-control-request-method", "POST");
        request.header("access-control-request-headers", "content-type").body(Full::default()).expect("a request")
    };
    let allowing = gateway("cors.origins = [\"https://app.example\"]\n[[service]]\nwsdl = \"s\"\n");
    let allowed = send(&allowing, preflight()).await;
    assert_eq!(allowed.headers["access-control-allow-origin"], "https://app.example");
    assert_eq!(allowed.headers["access-control-allow-methods"], "POST");
    let other = Request::get("/openapi.json").header("origin", "https://other.example").body(Full::default());
    let other = send(&allowing, other.expect("a request")).await;
    assert!(!other.headers.contains_key("access-control-allow-origin"));
    let without = send(&plain(), preflight()).await;
    assert!(!without.headers.contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn pages_of_other_sites_cannot_call() {
    let call = async |gateway: &Gateway, headers: &[(&'static str, &'static str)]| {
        let request = Request::post("/operations/Order").header("content-type", "application/json");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        send(gateway, request.body(Full::from(ORDER)).expect("a request")).await
    };
    let closed = plain();
    for headers in [
        &[("host", "a.example"), ("origin", "https://b.example")][..],
        &[("host", "a.example"), ("origin", "null")],
        &[("host", "a.example"), ("origin", "https://a.example"), ("sec-fetch-site", "cross-site")],
    ] {
        call(&closed, headers).await.problem(403, "foreign");
    }
    for headers in [
        &[("host", "a.example:81"), ("origin", "http://a.example:81")][..],
        &[("host", "inner"), ("origin", "https://a.example"), ("sec-fetch-site", "same-origin")],
    ] {
        assert_eq!(call(&closed, headers).await.status.as_u16(), 200, "{headers:?}");
    }
    let open = gateway("cors.origins = [\"https://b.example\"]\n[[service]]\nwsdl = \"s\"\n");
    let allowed = call(&open, &[("host", "a.example"), ("origin", "https://b.example")]).await;
    assert_eq!(allowed.status.as_u16(), 200);
}

#[tokio::test]
async fn responses_are_compressed_for_those_who_accept_it() {
    let gateway = gateway("compression = {}\n[[service]]\nwsdl = \"s\"\n");
    let request = Request::get("/openapi.json").header("accept-encoding", "gzip").body(Full::<bytes::Bytes>::default());
    let Ok(response) = gateway.clone().oneshot(request.expect("a request")).await;
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let coded = response.into_body().collect().await.expect("a body").to_bytes();
    assert!(coded.starts_with(&[0x1F, 0x8B]));
    // What the gateway has compressed is a compressed request too; it is no request of an order.
    let request = Request::post("/operations/Order").header("content-encoding", "gzip");
    let request = request.header("content-type", "application/json").body(Full::new(coded)).expect("a request");
    let problem = send(&gateway, request).await.problem(422, "invalid");
    assert!(problem["detail"].as_str().is_some_and(|it| it.contains(".openapi")), "{problem}");
}

#[tokio::test]
async fn limits_count_what_is_decompressed() {
    let gateway = gateway("compression = {}\nlimits.request_bytes = 1000\n[[service]]\nwsdl = \"s\"\n");
    let request = Request::get("/openapi.json").header("accept-encoding", "gzip").body(Full::<bytes::Bytes>::default());
    let Ok(response) = gateway.clone().oneshot(request.expect("a request")).await;
    let coded = response.into_body().collect().await.expect("a body").to_bytes();
    let request = Request::post("/operations/Order").header("content-encoding", "gzip");
    let request = request.header("content-type", "application/json").body(Full::new(coded)).expect("a request");
    send(&gateway, request).await.problem(413, "too-large");
}

#[test]
fn the_schema_of_the_configuration_accepts_what_is_accepted() {
    let schema = jsonschema::validator_for(&Config::json_schema()).expect("a schema");
    let good = "listen = \"127.0.0.1:0\"\nlimits.request_bytes = 1\n[[service]]\nwsdl = \"s\"\nfaults.A = 409\n\
                credentials = { kind = \"basic\", user = \"a\", password = { env = \"A\" } }\n\
                [[service.route]]\npath = \"/a\"\noperation = \"A\"\nmethod = \"PUT\"\nfixed = { a = 1 }\n";
    for (text, is_good) in [(good, true), ("[[service]]\npath = 7\n", false), ("lsten = \"a\"\n", false)] {
        let json = serde_json::to_value(toml::from_str::<toml::Value>(text).expect("TOML")).expect("JSON");
        assert_eq!(schema.is_valid(&json), is_good, "{text}");
        assert_eq!(Config::parse(text).is_ok(), is_good, "{text}");
    }
}

/// The configuration of the guide is one.
#[tokio::test]
async fn the_configuration_of_the_guide_works() {
    let guide = include_str!("../../../../docs/guide/src/gateway.md");
    let text = guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a configuration");
    let config = Config::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let backends = config.services.iter().map(|_| Backend::new(shop())).collect();
    let made = Gateway::new(&config, backends);
    made.unwrap_or_else(|error| panic!("{error}"));
    let schema = jsonschema::validator_for(&Config::json_schema()).expect("a schema");
    let json = serde_json::to_value(toml::from_str::<toml::Value>(text).expect("TOML")).expect("JSON");
    assert!(schema.is_valid(&json));
    // The table of credentials.
    let kinds = guide.lines().filter_map(|line| line.strip_prefix("| `{ kind")?.split('`').next());
    let mut count = 0;
    for kind in kinds {
        let text = format!("[[service]]\nwsdl = \"s\"\ncredentials = {{ kind{kind}\n");
        Config::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        count += 1;
    }
    assert_eq!(count, 4);
}

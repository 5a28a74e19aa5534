//! The landing page, as text: its content, its policy, and the initial samples of its form.

use crate::common::*;
use deltasoap::schema::Use;
use deltasoap::server::{LandingPage, Operation, ServiceIndex};
use deltasoap::soap::Version;
use deltasoap::types::{AnySimple, Node};
use deltasoap::{Binary, Context, Fault, Lease, Message, Nillable, Soap, SoapArray, SoapService, lexical};
use http::{Request, StatusCode};

async fn get(service: &SoapService, uri: &str) -> Answered {
    let request = Request::get(uri).header("host", "h");
    send(service, request.body(Pieces::of(b"", 1)).expect("a request")).await
}

#[tokio::test]
async fn operations_are_listed_by_name_with_what_is_known() {
    let page = get(&service().0, "/").await;
    assert_eq!((page.status, page.content_type()), (StatusCode::OK, "text/html; charset=utf-8"));
    let places: Vec<_> = ["Describe", "Echo", "Fail", "Notify"]
        .iter()
        .map(|name| page.body.find(&format!("<h3><code>{name}</code></h3>")).expect("a listed operation"))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    for part in ["<h1>Test &amp; more</h1>", ">one-way<", ">urn:describe<", "href=\"?wsdl\"", "Differential decoding"] {
        assert!(page.body.contains(part), "{part} in {}", page.body);
    }
    assert!(!page.body.contains(">MTOM<"), "no operation has parts");
}

#[tokio::test]
async fn the_page_may_run_and_load_only_its_own() {
    let page = get(&service().0, "/").await;
    let policy = page.headers["content-security-policy"].to_str().expect("text");
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    for rule in ["script-src 'sha256-", "style-src 'sha256-", "connect-src 'self'", "frame-ancestors 'none'"] {
        assert!(policy.contains(rule), "{rule} in {policy}");
    }
    assert_eq!(page.headers["x-content-type-options"], "nosniff");
    for handler in [" onclick=", " onload=", " style=", "javascript:", "http-equiv", " src="] {
        assert!(!page.body.contains(handler), "{handler}");
    }
}

#[derive(Soap)]
#[soap(namespace = "urn:\"><script>alert(1)</script>&'", element = "Ask", qualified)]
struct Hostile {
    text: String,
}

#[tokio::test]
async fn every_text_is_escaped() {
    let start = std::time::Instant::now();
    let evil = "</script><script>alert(1)</script><img src=x onerror='alert(2)'>\"";
    let operation = Operation::new(async |_: Lease<Hostile>| Ok::<_, Fault>(echoed(&echo(""))));
    let service = SoapService::builder()
        .name(evil)
        .add_operation(operation.action(evil).documentation(evil))
        .wsdl(format!("<!-- {evil} -->{WSDL}").replace("<?xml version=\"1.0\"?>", ""))
        .build()
        .expect("a service");
    let page = get(&service, "/").await.body;
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(!page.contains("<img") && page.contains("&lt;img"), "{page}");
    // A row of the table of attacks.
    let took = start.elapsed().as_millis();
    println!(
        "| HTML in a service's name, action, documentation, namespace and WSDL | its page shows it as text | {took} ms | |"
    );
}

/// Text that would be markup in an element, in a script, and in an attribute.
const EVIL: &str = "</script><script>alert(1)</script><img src=x onerror='alert(2)'>\" onload=\"alert(3)";

/// Asserts that a page shows [`EVIL`] as text, without any markup of it.
#[track_caller]
fn shows_as_text(page: &str, scripts: usize) {
    assert_eq!(page.matches("<script").count(), scripts, "{page}");
    assert!(!page.contains("<img") && !page.contains("\" onload=\""), "{page}");
    assert!(page.contains("&lt;img src=x"), "{page}");
}

#[tokio::test]
async fn what_messages_and_documents_are_called_is_escaped() {
    let operation = Operation::new(async |_: Lease<Hostile>| Ok::<_, Fault>(echoed(&echo(""))));
    let document = format!("{}.xsd", EVIL.replace('/', ""));
    let location = document.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let import = format!("<import namespace=\"urn:i\" location=\"{location}\"/><service ");
    let service = SoapService::builder()
        .add_operation(operation)
        .wsdl(WSDL.replacen("<service ", &import, 1))
        .wsdl_document(document, "<schema xmlns=\"http://www.w3.org/2001/XMLSchema\"/>")
        .build()
        .expect("a service");
    let body = message(Version::Soap11, &[], &Hostile { text: EVIL.to_owned() });
    assert_eq!(post(&service, "text/xml", body).await.status, StatusCode::OK);
    let page = get(&service, "/").await.body;
    assert!(page.contains("1 messages answered") && page.contains("?xsd=%3C"), "statistics and documents: {page}");
    shows_as_text(&page, 1);
}

#[tokio::test]
async fn the_index_escapes_what_it_lists() {
    let service = SoapService::builder().name(EVIL).wsdl(WSDL);
    let service =
        service.operation(async |_: Lease<Echo>| Ok::<_, Fault>(echoed(&echo("")))).build().expect("a service");
    let index = ServiceIndex::new(EVIL).add(EVIL, &service);
    let request = Request::get("/").body(()).expect("a request");
    let answer = tower::ServiceExt::oneshot(index, request).await.expect("infallible");
    let bytes = http_body_util::BodyExt::collect(answer.into_body()).await.expect("a body").to_bytes();
    shows_as_text(&String::from_utf8_lossy(&bytes), 0);
}

#[tokio::test]
async fn the_index_is_nothing_to_post_to_and_other_paths_are_nothing_at_all() {
    for (method, path, status) in [("POST", "/", 405), ("POST", "/nope", 404), ("GET", "/nope", 404), ("GET", "/", 200)]
    {
        let request = Request::builder().method(method).uri(path).body(()).expect("a request");
        let answer = tower::ServiceExt::oneshot(ServiceIndex::new("Index"), request).await.expect("infallible");
        assert_eq!(answer.status(), status, "{method} {path}");
    }
}

#[tokio::test]
async fn answers_that_are_no_page_are_taken_for_none() {
    let xhtml =
        "<documentation><script xmlns=\"http://www.w3.org/1999/xhtml\">alert(1)</script></documentation><service ";
    let service = SoapService::builder().wsdl(WSDL.replacen("<service ", xhtml, 1));
    let service =
        service.operation(async |_: Lease<Echo>| Ok::<_, Fault>(echoed(&echo("")))).build().expect("a service");
    let uri = "/?xsd=%3Cscript%3Ealert(1)%3C/script%3E";
    for (uri, media) in [("/?wsdl", "text/xml; charset=utf-8"), (uri, "text/plain; charset=utf-8")] {
        let answer = get(&service, uri).await;
        assert!(answer.content_type() == media && answer.body.contains("<script"), "{uri}: {}", answer.body);
        assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{uri}");
    }
    // A browser runs XHTML in a document of type text/xml.
    let policy = get(&service, "/?wsdl").await.headers["content-security-policy"].clone();
    assert_eq!(policy, "default-src 'none'; sandbox; frame-ancestors 'none'");
    // The URL in the WSDL is the one at which the WSDL was requested.
    let request = Request::get("/%22%3E%3Cx/?wsdl").header("host", "h\"><evil/>");
    let answer = send(&service, request.body(Pieces::of(b"", 1)).expect("a request")).await;
    assert!(!answer.body.contains("<evil") && !answer.body.contains("\"><x"), "{}", answer.body);
}

#[tokio::test]
async fn the_form_can_be_left_out_and_so_can_the_page() {
    let build = |page| {
        let builder = SoapService::builder().wsdl(WSDL).landing_page(page);
        builder.operation(async |_: Lease<Echo>| Ok::<_, Fault>(echoed(&echo("")))).build().expect("a service")
    };
    let list = get(&build(LandingPage::List), "/").await;
    assert!(list.body.contains("<code>Echo</code>") && !list.body.contains("<script"), "{}", list.body);
    let off = build(LandingPage::Off);
    for uri in ["/", "/?sample=Echo&ns=urn:test"] {
        assert_eq!(get(&off, uri).await.status, StatusCode::NOT_FOUND, "{uri}");
    }
    assert_eq!(get(&off, "/?wsdl").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_page_of_another_site_sends_nothing_without_being_asked_for_it() {
    let body = message(Version::Soap11, &[], &echo("forged"));
    let post = |origin: bool| {
        let request = Request::post("/");
        let request = if origin { request.header("origin", "https://elsewhere") } else { request };
        request.body(Pieces::of(body.as_bytes(), 100)).expect("a request")
    };
    let service = service().0;
    assert_eq!(send(&service, post(false)).await.status, StatusCode::OK);
    assert_eq!(send(&service, post(true)).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let mut unnamed = post(true);
    unnamed.headers_mut().insert("content-type", http::HeaderValue::from_static(" "));
    assert_eq!(send(&service, unnamed).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "a name that is none");
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:s", rename_all = "lowercase")]
enum Colour {
    Red,
    Green,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:s")]
enum Shape {
    Circle(Circle),
    Side(f64),
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:s")]
struct Circle {
    radius: f64,
    #[soap(attribute)]
    colour: Option<Colour>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:s")]
struct Tree {
    label: String,
    branch: Vec<Tree>,
    twin: Option<Box<Tree>>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:s", message)]
struct Everything {
    colour: Colour,
    shape: Shape,
    tree: Tree,
    when: Option<lexical::DateTime>,
    nil: Nillable<lexical::Date>,
    scan: Binary,
    items: SoapArray<i32>,
    any: AnySimple,
    node: Node,
    price: lexical::Decimal,
    hex: lexical::Hex,
    wait: lexical::Duration,
    flag: bool,
    small: u8,
}

fn everything() -> SoapService {
    let answer = async |mut context: Context, request: Lease<Everything>| {
        let bytes =
            context.attachments().bytes(&request.scan).await.map_err(|error| Fault::receiver(error.to_string()))?;
        let text = format!("{:?} {:?} {}", request.colour, request.shape, bytes.len());
        Ok::<_, Fault>(EchoResponse { text, numbers: request.items.0.clone() })
    };
    SoapService::builder().operation(answer).build().expect("a service")
}

#[tokio::test]
async fn the_service_takes_its_samples() {
    let service = everything();
    for (version, number) in [(Version::Soap11, "1.1"), (Version::Soap12, "1.2")] {
        let sample = get(&service, &format!("/?sample=Everything&ns=urn%3As&soap={number}")).await;
        assert_eq!((sample.status, sample.content_type()), (StatusCode::OK, "text/xml; charset=utf-8"));
        assert!(sample.body.contains(version.namespace()), "{}", sample.body);
        assert_eq!(sample.body.matches("<label>").count(), 1, "a tree holds no other: {}", sample.body);
        let answer = post(&service, version.media_type(), &sample.body).await;
        assert_eq!(answer.status, StatusCode::OK, "{}\n{}", sample.body, answer.body);
        assert!(answer.body.contains("Red Circle(Circle { radius: 1.5, colour: Some(Red) }) 3"), "{}", answer.body);
    }
    assert!(get(&service, "/").await.body.contains(">MTOM<"));
    assert_eq!(get(&service, "/?sample=Nothing&ns=urn%3As").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn samples_are_laid_out_as_their_operations_are() {
    let operation = Operation::new(async |_: Lease<Echo>| Ok::<_, Fault>(echoed(&echo("")))).encoding(Use::Encoded);
    let service = SoapService::builder().add_operation(operation).build().expect("a service");
    let sample = get(&service, "/?sample=Echo&ns=urn:test").await.body;
    assert!(sample.contains("xsi:type=\"xsd:string\""), "{sample}");
    assert_eq!(post(&service, "text/xml", &sample).await.status, StatusCode::OK);
    assert_eq!(Echo::ELEMENT.local, "Echo");
}

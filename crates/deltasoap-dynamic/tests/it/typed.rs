//! Typed services and clients that validate by a WSDL, and what dynamic clients get of validation.

use crate::support::{SHOP, shop};
use deltasoap::attachments::{Mtom, Part};
use deltasoap::client::{CallError, CallOptions};
use deltasoap::engine::Limits;
use deltasoap::server::{Sharing, SoapServiceBuilder};
use deltasoap::soap::{Envelope, Version};
use deltasoap::transport::Body;
use deltasoap::validation::{Finding, Validation};
use deltasoap::{Client, Context, Fault, Lease, Message, Soap, SoapService};
use deltasoap_dynamic::{Contract, DynamicClient, DynamicError, Mock};
use http::Request;
use http_body_util::BodyExt;
use serde_json::json;
use std::sync::{Arc, Mutex};
use tower::ServiceExt;

const URL: &str = "http://localhost/";

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:shop", qualified, message, response = OrderResponse)]
struct Order {
    customer: String,
    item: Vec<Item>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:shop", qualified)]
struct Item {
    code: String,
    count: i32,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:shop", qualified, message)]
struct OrderResponse {
    number: i64,
    total: Price,
    placed: String,
}

#[derive(Debug, Clone, PartialEq, Soap)]
struct Price {
    #[soap(attribute)]
    currency: String,
    #[soap(text)]
    amount: i32,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:shop", qualified, message)]
struct SoldOut {
    code: String,
}

/// The shop, whose orders have each code only once.
fn with_unique_codes() -> Contract {
    let urgent = "<xs:attribute name=\"urgent\" type=\"xs:boolean\"/>\n        </xs:complexType>";
    let unique =
        "<xs:unique name=\"codes\"><xs:selector xpath=\"tns:item\"/><xs:field xpath=\"tns:code\"/></xs:unique>";
    let text = SHOP.replace(urgent, &format!("{urgent}{unique}"));
    assert_ne!(text, SHOP);
    Contract::from_text(&text).expect("a description")
}

fn order(items: &[(&str, i32)]) -> Order {
    let item = items.iter().map(|&(code, count)| Item { code: code.to_owned(), count }).collect();
    Order { customer: "Ada".to_owned(), item }
}

/// The requests that a service received, with their findings.
type Seen = Arc<Mutex<Vec<(Order, Vec<Finding>)>>>;

/// A shop that notes its orders, and is sold out of all that begins with `SO`.
fn builder(seen: &Seen) -> SoapServiceBuilder {
    let seen = Arc::clone(seen);
    SoapService::builder().sharing(Sharing::Operation).operation(move |context: Context, order: Lease<Order>| {
        seen.lock().expect("no panic").push((order.clone(), context.findings().to_vec()));
        let sold_out = order.item.iter().find(|item| item.code.starts_with("SO")).map(|item| item.code.clone());
        async move {
            if let Some(code) = sold_out {
                return Err(Fault::sender("sold out").with_detail(&SoldOut { code }).expect("a detail"));
            }
            let total = Price { currency: "EUR".to_owned(), amount: 20 };
            Ok(OrderResponse { number: 7, total, placed: "2026-11-22T10:00:00Z".to_owned() })
        }
    })
}

fn message<T: Message>(version: Version, body: &T) -> Vec<u8> {
    Envelope::new(body).version(version).to_vec().expect("a message")
}

async fn post(service: &SoapService, version: Version, message: Vec<u8>) -> (u16, String) {
    let request = Request::post(URL).header("content-type", version.media_type()).body(Body::from(message));
    let response = service.clone().oneshot(request.expect("a request")).await.expect("a response");
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn a_typed_service_refuses_what_violates_a_facet() {
    let seen = Seen::default();
    let service = builder(&seen).validate(shop(), Validation::Refuse).build().expect("a service");
    for (version, code, status) in [(Version::Soap11, "Client", 500), (Version::Soap12, "Sender", 400)] {
        for (wrong, reason) in [
            (order(&[("A-1", 1), ("B-1", 2000)]), "/Envelope/Body/Order/item[2]/count: 2000 is not at most 1000"),
            (order(&[("a-1", 1)]), "/Envelope/Body/Order/item/code: "),
            (order(&[]), "/Envelope/Body/Order: "),
        ] {
            let (found, text) = post(&service, version, message(version, &wrong)).await;
            assert_eq!(found, status, "{text}");
            assert!(text.contains(code) && text.contains(reason), "{text}");
        }
        assert_eq!(post(&service, version, message(version, &order(&[("A-1", 1)]))).await.0, 200);
    }
    assert_eq!(seen.lock().expect("no panic").len(), 2, "a handler sees valid orders only");
}

/// The decoder skips what is equal to the last message. A value becomes invalid, valid again, and
/// a code becomes a duplicate because another item changes.
#[tokio::test]
async fn values_are_those_without_validation_and_findings_those_of_each_message() {
    let items = |code: &str, count: i32| -> Vec<Item> {
        let others = (0..200).map(|n| Item { code: format!("X-{n}"), count: 1 });
        others.chain([Item { code: code.to_owned(), count }]).collect()
    };
    let stream = [
        ("A-1", 1, 0),
        ("A-1", 2000, 1),
        ("A-1", 2000, 1),
        ("B-1", 2000, 1),
        ("B-1", 2, 0),
        ("X-7", 2, 1),
        ("X-7", 3, 1),
        ("a-7", 0, 2),
        ("A-7", 3, 0),
    ];
    for validation in [Validation::Off, Validation::Report, Validation::Refuse] {
        let seen = Seen::default();
        let service = builder(&seen).validate(with_unique_codes(), validation).build().expect("a service");
        for (code, count, findings) in stream {
            let order = Order { customer: "Ada".to_owned(), item: items(code, count) };
            let (status, text) = post(&service, Version::Soap11, message(Version::Soap11, &order)).await;
            let is_refused = validation == Validation::Refuse && findings > 0;
            assert_eq!(status, if is_refused { 500 } else { 200 }, "{code} {count}: {text}");
            if !is_refused {
                let seen = seen.lock().expect("no panic");
                let (received, found) = seen.last().expect("an order");
                assert_eq!(*received, order);
                assert_eq!(found.len(), if validation == Validation::Report { findings } else { 0 }, "{found:?}");
            }
        }
        let stats = service.stats().snapshot();
        assert!(stats.differential.fast_bytes > 0, "it is a stream");
        assert_eq!(stats.invalid_messages, if validation == Validation::Off { 0 } else { 6 });
    }
}

#[tokio::test]
async fn a_typed_client_validates_answers_and_requests() {
    let seen = Seen::default();
    let narrow = SHOP.replace("name=\"number\" type=\"xs:long\"", "name=\"number\" type=\"tns:Currency\"");
    let narrow = || Contract::from_text(&narrow.replace("value=\"CHF\"", "value=\"8\"")).expect("a description");
    let client = |validation| {
        let service = builder(&seen).build().expect("a service");
        let builder = Client::builder(URL).validate(narrow(), validation).validate_sent(shop(), validation);
        builder.build_with(service).expect("a client")
    };
    let good = order(&[("A-1", 1)]);
    let reporting = client(Validation::Report);
    for _ in 0..2 {
        let response = reporting.call_leased_with(&good, CallOptions::new()).await;
        let response = response.expect("a response");
        assert_eq!((response.body.number, response.findings.len()), (7, 1));
        assert_eq!(response.findings[0].path, "/Envelope/Body/OrderResponse/number");
    }
    let response: OrderResponse = reporting.call(&order(&[("no", 1)])).await.expect("it is sent");
    assert_eq!((response.number, reporting.invalid_messages()), (7, 4));
    let refusing = client(Validation::Refuse);
    match refusing.call(&good).await {
        Err(CallError::InvalidResponse(invalid)) => assert_eq!(invalid.findings.len(), 1),
        other => panic!("{other:?}"),
    }
    let before = seen.lock().expect("no panic").len();
    match refusing.call(&order(&[("no", 1)])).await {
        Err(CallError::InvalidRequest(invalid)) => {
            assert_eq!(invalid.findings[0].path, "/Envelope/Body/Order/item/code");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(seen.lock().expect("no panic").len(), before, "it was not sent");
}

#[tokio::test]
async fn a_service_finds_what_is_invalid_in_its_own_faults() {
    let seen = Seen::default();
    let service = builder(&seen).validate_sent(shop(), Validation::Refuse).build().expect("a service");
    for (code, invalid) in [("A-1", 0), ("SO-1", 0), ("SO", 1), ("SO", 2)] {
        let order = message(Version::Soap12, &order(&[(code, 1)]));
        let (_, text) = post(&service, Version::Soap12, order).await;
        assert_eq!(text.contains("sold out"), code != "A-1", "a fault is sent, however invalid: {text}");
        assert_eq!(service.stats().snapshot().invalid_messages, invalid, "{code}");
    }
}

#[tokio::test]
async fn a_message_of_too_many_nodes_is_invalid() {
    let seen = Seen::default();
    let limits = Limits { tree_nodes: 50, ..Limits::server() };
    let service = builder(&seen).limits(limits).validate(shop(), Validation::Refuse).build().expect("a service");
    for (items, status) in [(5, 200), (50, 500)] {
        let order = order(&vec![("A-1", 1); items]);
        let (found, text) = post(&service, Version::Soap11, message(Version::Soap11, &order)).await;
        assert_eq!(found, status, "{text}");
        assert!(status == 200 || text.contains("tree_nodes"), "{text}");
    }
}

/// A binary value may be in a part. Its length is known before it is sent.
#[tokio::test]
async fn binary_values_in_parts_are_validated_before_they_are_sent() {
    let text = include_str!("../data/files.wsdl");
    let short = "name=\"content\"><xs:simpleType><xs:restriction base=\"xs:base64Binary\"><xs:maxLength value=\"5000\"/>\
                 </xs:restriction></xs:simpleType></xs:element>";
    let text = text.replace("name=\"content\" type=\"xs:base64Binary\"/>", short);
    assert!(text.contains("5000"));
    let contract = || Contract::from_text(&text).expect("a description");
    let service = Mock::new(contract()).service().expect("a service");
    let client = DynamicClient::with_transport(contract(), service).validation(Validation::Refuse);
    for mtom in [Mtom::Off, Mtom::On] {
        for (len, is_valid) in [(5000, true), (5001, false)] {
            let content = "AAAA".repeat(len / 3) + ["", "AA==", "AAA="][len % 3];
            let call = client.prepare("Store").expect("an operation").options(CallOptions::new().mtom(mtom));
            let sent = call.send_json(&json!({ "name": "a", "content": content })).await;
            let is_refused = matches!(&sent, Err(DynamicError::Call(CallError::InvalidRequest(_))));
            assert!(if is_valid { sent.is_ok() } else { is_refused }, "{mtom:?} {len}: {sent:?}");
        }
        // A part of the caller's own, to which the value refers.
        for (len, is_valid) in [(5000, true), (5001, false)] {
            let part = Part::new("own", "application/octet-stream", vec![0; len]);
            let options = CallOptions::new().mtom(mtom).part(part);
            let call = client.prepare("Store").expect("an operation").options(options);
            let sent = call.send_json(&json!({ "name": "a", "content": { "$part": "cid:own" } })).await;
            let is_refused = matches!(&sent, Err(DynamicError::Call(CallError::InvalidRequest(_))));
            assert!(if is_valid { sent.is_ok() } else { is_refused }, "{mtom:?} {len}: {sent:?}");
        }
    }
    assert_eq!(client.invalid_messages(), 4);
}

#[tokio::test]
async fn a_reply_has_its_findings() {
    let text = SHOP.replace("name=\"number\" type=\"xs:long\"", "name=\"number\" type=\"tns:Count\"");
    let contract = Contract::from_text(&text).expect("a description");
    let placed = json!({ "number": 5000, "total": { "@currency": "EUR", "$": 20 }, "placed": "2026-11-22T10:00:00Z" });
    let mock = Mock::new(contract.clone()).answer("Order", &placed).expect("a response");
    let service = mock.mount(SoapService::builder()).build().expect("a service");
    let client = DynamicClient::with_transport(contract, service).validation(Validation::Report);
    let order = json!({ "customer": "Ada", "item": [{ "code": "A-1", "count": 2 }] });
    for _ in 0..2 {
        let reply = client.prepare("Order").expect("an operation").send_json(&order).await.expect("a response");
        let findings = reply.expect("a response").findings;
        assert_eq!((findings.len(), &*findings[0].path), (1, "/Envelope/Body/OrderResponse/number"));
    }
    assert_eq!(client.invalid_messages(), 2);
}

//! Requests with a list whose items come while they are sent.

use crate::support::shop;
use bytes::Bytes;
use deltasoap_core::soap::Fault;
use deltasoap_core::{ListPathError, Record, Simple, Value};
use deltasoap_dynamic::json::RequestList;
use deltasoap_dynamic::{Contract, DynamicClient, DynamicError, Mock, Validation};
use deltasoap_http::{Body, BoxError, CallError, Server};
use futures_util::stream;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::{Value as Json, json};
use std::sync::{Arc, Mutex};

fn lab() -> Contract {
    Contract::from_text(include_str!("../data/lab.wsdl")).expect("a description")
}

/// An operation with a SOAP array in its request, and lists in choices.
fn encoded() -> Contract {
    let text = include_str!("../data/lab.wsdl");
    // The operation `Count` the other way round.
    let turned = text.replace(
        "<input message=\"tns:Count\"/><output message=\"tns:Counted\"/>",
        "<input message=\"tns:Counted\"/><output message=\"tns:Count\"/>",
    );
    Contract::from_text(&turned).expect("a description")
}

fn list_of(contract: &Contract, operation: &str, path: Option<&str>) -> RequestList {
    contract.operation(operation).expect("an operation").request_list(path).expect("a list")
}

type Seen = Arc<Mutex<Vec<String>>>;

/// Returns a transport that notes the bodies of requests and answers with a fault.
fn noting()
-> (impl tower::Service<Request<Body>, Response = Response<Full<Bytes>>, Error = BoxError, Future: Send> + Clone, Seen)
{
    let seen = Seen::default();
    let noted = Arc::clone(&seen);
    let service = tower::service_fn(move |request: Request<Body>| {
        let noted = Arc::clone(&noted);
        async move {
            let bytes = request.into_body().collect().await?.to_bytes();
            noted.lock().expect("a lock").push(String::from_utf8_lossy(&bytes).into_owned());
            let text = "<S:Envelope xmlns:S='http://schemas.xmlsoap.org/soap/envelope/'><S:Body><S:Fault>\
                        <faultcode>S:Client</faultcode><faultstring>no</faultstring></S:Fault></S:Body></S:Envelope>";
            let response = Response::builder().status(500).header("content-type", "text/xml");
            Ok::<_, BoxError>(response.body(Full::from(text)).expect("a response"))
        }
    });
    (service, seen)
}

/// Returns items in batches of different sizes, some of which are empty.
fn batches(list: &RequestList, items: &[Json], from: usize) -> Vec<Result<Vec<Value>, BoxError>> {
    let mut reader = list.items_from(from);
    let values: Vec<_> = items.iter().map(|item| reader.read(item).expect("an item")).collect();
    let (mut rest, mut size, mut all) = (&values[..], 0, Vec::new());
    while !rest.is_empty() {
        let (batch, behind) = rest.split_at(size.min(rest.len()));
        all.push(Ok(batch.to_vec()));
        (rest, size) = (behind, (size * 2 + 1) % 700);
    }
    all
}

/// A contract and an operation; the path and the property of a list; the rest of the request, and the
/// items.
type Case = (Contract, &'static str, Option<&'static str>, &'static str, Json, Vec<Json>);

#[tokio::test]
async fn the_bytes_are_those_of_the_whole_request() {
    let items: Vec<_> = (0..2000).map(|n| json!({ "code": format!("A-{n}"), "count": 1, "remark": null })).collect();
    let choices = (0..2000).map(|n| if n % 3 == 0 { json!({ "gift": "g" }) } else { json!({ "coupon": n }) });
    let levels: Vec<_> = (0..2000).map(|n| json!(f64::from(n) / 3.0)).chain([json!("INF")]).collect();
    let numbers: Vec<_> = (0..2000).map(|n| json!(n)).collect();
    let order = json!({ "customer": "Ada", "item": [{ "code": "A-1", "count": 1 }], "note": { "$content": ["n"] } });
    let cases: [Case; 4] = [
        (shop(), "Order", Some("item"), "item", order.clone(), items),
        (shop(), "Order", Some("$choice"), "$choice", order, choices.collect()),
        (lab(), "Report", None, "level", json!({ "station": "s", "checked": true }), levels),
        (encoded(), "Count", None, "numbers", json!({}), numbers),
    ];
    for (contract, operation, path, key, mut rest, items) in cases {
        let (service, seen) = noting();
        let client = DynamicClient::with_transport(contract.clone(), service);
        let list = list_of(&contract, operation, path);
        rest.as_object_mut().expect("an object").remove(key);
        for held in [1, 5] {
            let mut whole = rest.clone();
            whole[key] = Json::Array(items.clone());
            let call = || client.prepare(operation).expect("an operation");
            assert!(matches!(call().send_json(&whole).await, Err(DynamicError::Fault(_))));
            let request = list.request_from_json(rest.clone(), items[..held].to_vec()).expect("a request");
            let batches = stream::iter(batches(&list, &items[held..], held));
            assert!(matches!(call().send_overlaid(&request, &list, batches).await, Err(DynamicError::Fault(_))));
            let mut seen = seen.lock().expect("a lock");
            // The size of an array is not known at its beginning.
            seen[0] = seen[0].replace(&format!("[{}]", items.len()), "[]");
            assert!(seen[0].len() > 30_000 && seen[0] == seen[1], "{operation} {key}");
            seen.clear();
        }
    }
}

#[tokio::test]
async fn answers_are_compared_with_earlier_ones() {
    let placed = json!({ "number": 7, "total": { "@currency": "EUR", "$": 20 }, "placed": "2026-11-22T10:00:00Z" });
    let service = Mock::new(shop()).answer("Order", &placed).expect("an answer").service().expect("a service");
    let client = DynamicClient::with_transport(shop(), service);
    let list = list_of(&shop(), "Order", Some("item"));
    let item = json!({ "code": "A-1", "count": 1 });
    for round in 1..=3 {
        let request = list.request_from_json(json!({ "customer": "Ada" }), vec![item.clone()]).expect("a request");
        let more = stream::iter(batches(&list, &vec![item.clone(); 100], 1));
        let reply = client.prepare("Order").expect("an operation").send_overlaid(&request, &list, more).await;
        assert_eq!(reply.expect("a response").expect("a response").to_json().expect("JSON"), placed);
        assert_eq!(client.differential_stats().messages, round);
    }
    assert!(client.differential_stats().fast_bytes > 0);
}

#[tokio::test]
async fn lists_of_both_messages_are_streams() {
    let bench = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/wsdl/bench.wsdl");
    let importer = deltasoap_wsdl::Importer::new().offline().trust_tree();
    let bench = Contract::from(importer.import(bench).expect("a description"));
    let mock = Mock::new(bench.clone()).handle("echoInts", Ok).expect("an operation");
    let client = DynamicClient::with_transport(bench.clone(), mock.service().expect("a service"));
    let list = list_of(&bench, "echoInts", None);
    let numbers: Vec<_> = (0..5000).map(|n| json!(n)).collect();
    let request = list.request_from_json(json!({}), Vec::new()).expect("a request");
    let sent = stream::iter(batches(&list, &numbers, 0));
    let call = client.prepare("echoInts").expect("an operation");
    let mut reply = call.send_overlaid_items::<_, Value>(&request, &list, sent, None).await.expect("a response");
    let mut all = Vec::new();
    while let Some(batch) = reply.items.next_batch().await {
        all.extend(reply.items_to_json(&batch.expect("valid")).expect("JSON"));
    }
    assert_eq!(all, numbers);
}

/// Over a connection, so that the service sees what is complete.
#[tokio::test]
async fn errors_of_items_break_the_request_off() {
    let calls = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&calls);
    let mock = Mock::new(lab()).handle("Report", move |_| {
        *counted.lock().expect("a lock") += 1;
        Err(Box::new(Fault::sender("no")))
    });
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    let address = server.local_addr().expect("an address");
    tokio::spawn(server.serve(mock.expect("an operation").service().expect("a service")));
    let client = DynamicClient::new(lab()).endpoint(format!("http://{address}/"));
    let list = list_of(&lab(), "Report", None);
    let report = list.request_from_json(json!({ "station": "s", "checked": true }), Vec::new()).expect("a request");
    let level = || Value::Simple(Simple::Double(0.5));
    for bad in [Err("gone"), Ok(vec![Value::Record(Box::<Record>::default())])] {
        let good = (0..100).map(move |_| Ok(vec![level(); 100]));
        let items = stream::iter(good.chain([bad, Ok(vec![level()])]));
        let call = client.prepare("Report").expect("an operation");
        match call.send_overlaid(&report, &list, items).await {
            Err(DynamicError::Call(CallError::Encode(_))) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(*calls.lock().expect("a lock"), 0);
}

#[tokio::test]
async fn calls_that_cannot_be_overlaid_are_not_sent() {
    let (service, seen) = noting();
    let client = DynamicClient::with_transport(lab(), service);
    let list = list_of(&lab(), "Report", None);
    let report = list.request_from_json(json!({ "station": "s", "checked": true }), Vec::new()).expect("a request");
    let nothing = || stream::empty::<Result<Vec<Value>, BoxError>>();
    let call = client.prepare("Report").expect("an operation");
    let refused = call.send_overlaid(&Value::Absent, &list, nothing()).await;
    assert!(matches!(refused, Err(DynamicError::RequestList(ListPathError::NoPlace(_)))), "{refused:?}");
    let validating = client.clone().validation(Validation::Report);
    let call = validating.prepare("Report").expect("an operation");
    let refused = call.send_overlaid(&report, &list, nothing()).await;
    assert!(matches!(refused, Err(DynamicError::Call(CallError::RefusedRequest(_)))), "{refused:?}");
    assert!(seen.lock().expect("a lock").is_empty());
}

#[test]
fn items_are_checked_with_their_place() {
    let list = list_of(&shop(), "Order", Some("item"));
    let item = json!({ "code": "A-1", "count": 1 });
    let error = |request: Json, first: Vec<Json>| {
        let error = list.request_from_json(request, first).expect_err("invalid");
        (error.pointer().to_owned(), error.to_string())
    };
    for (request, first, pointer) in [
        (json!({ "customer": "A" }), vec![], "/item"),
        (json!({ "customer": "A", "item": [item] }), vec![item.clone()], "/item"),
        (json!({ "customer": "A", "item": {} }), vec![item.clone()], "/item"),
        (json!({ "customer": "A" }), vec![json!({ "code": "A-1" })], "/item/0/count"),
        (json!({}), vec![item.clone()], "/customer"),
        (json!(7), vec![item.clone()], ""),
    ] {
        let (found, error) = error(request, first);
        assert_eq!(found, pointer, "{error}");
    }
    let mut items = list.items_from(41);
    assert!(items.read(&item).is_ok());
    assert_eq!(items.read(&json!([])).expect_err("an array").pointer(), "/item/42");
    let order = shop().operation("Order").expect("an operation");
    assert_eq!(list.first_items(), 1);
    assert!(matches!(order.request_list(None), Err(ListPathError::Several(_))));
    assert!(matches!(order.request_list(Some("customer")), Err(ListPathError::NoRepetition(_))));
}

//! Memory used by trees, and by lists that are used as they arrive. This test runs alone in its
//! process, since all of its memory is counted.

use bytes::Bytes;
use deltasoap_core::decode::value_from_slice;
use deltasoap_core::schema::{Builtin, ComplexElement, Compositor, Element, Field, Schema, SimpleElement};
use deltasoap_core::soap::Fault;
use deltasoap_core::{Batch, FromList, Limits, ListPath, QName, Simple, Value};
use deltasoap_dynamic::{Contract, DynamicClient, DynamicError};
use deltasoap_http::{Body, CallError, Items, Operation, SoapService};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full};
use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};
use std::alloc::System;
use std::convert::Infallible;
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tower::Service;

#[global_allocator]
static ALLOCATOR: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Tests run one after the other.
static TURN: Mutex<()> = Mutex::new(());

/// The number of references is limited by a message's length.
#[test]
fn lists_take_no_more_room_to_validate_than_they_need() {
    const COUNT: usize = 200_000;
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let schema = |item: &str| {
        format!(
            "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'><xs:element name='r' type='{item}'/>\
             </xs:schema>"
        )
    };
    for (list, lost) in [("xs:IDREFS", 1), ("xs:NMTOKENS", 0)] {
        let contract = Contract::from_text(&schema(list)).expect("a schema");
        let message = format!("<r xmlns='urn:t'>{}</r>", "ab ".repeat(COUNT));
        ALLOCATOR.reset_peak_memory();
        let findings = contract.validate(message.as_bytes());
        let each = ALLOCATOR.get_peak_memory() / COUNT;
        assert_eq!(findings.len(), lost, "{list}: {:?}", findings.first());
        assert!(each <= 48, "{list}: {each} bytes");
    }
}

#[test]
fn trees_take_no_more_room_than_they_need() {
    const COUNT: usize = 20_000;
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let contract = Contract::from_text(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'><xs:element name='r'><xs:complexType>\
         <xs:sequence><xs:element name='a' maxOccurs='unbounded' form='qualified'/></xs:sequence></xs:complexType></xs:element></xs:schema>",
    )
    .expect("a schema");
    let name = QName::new("urn:t", "r");
    let id = contract.description().schemas().element_named(&name).expect("an element");
    let content = contract.lowered().element(id).expect("its content");
    // Bytes per element: of its value, and of its JSON.
    for (element, of_value, of_json) in [("<a/>", 200, 600), ("<a><b>text</b><c>text</c></a>", 950, 1500)] {
        let message = format!("<r xmlns='urn:t'>{}</r>", element.repeat(COUNT));
        ALLOCATOR.reset_peak_memory();
        let value: Value = value_from_slice(message.as_bytes(), &name, contract.view(content)).expect("valid");
        let read = ALLOCATOR.get_peak_memory();
        ALLOCATOR.reset_peak_memory();
        let json = contract.to_json(&name, content, &value).expect("JSON");
        let written = ALLOCATOR.get_peak_memory();
        assert_eq!(json["a"].as_array().map(Vec::len), Some(COUNT));
        let each = (read / COUNT, written / COUNT);
        assert!(each.0 <= of_value && each.1 <= of_json, "{element}: {each:?}");
    }
}

/// A message that is generated while it is sent.
struct Made {
    head: Option<&'static str>,
    /// The text of an item, with `N` for its number.
    item: &'static str,
    /// The items that are left.
    items: std::ops::Range<u32>,
    tail: Option<&'static str>,
}

impl http_body::Body for Made {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = if let Some(head) = self.head.take() {
            Bytes::from(head)
        } else if !self.items.is_empty() {
            let items = self.items.by_ref().take(400).collect::<Vec<_>>();
            Bytes::from(items.iter().map(|n| self.item.replace('N', &n.to_string())).collect::<String>())
        } else if let Some(tail) = self.tail.take() {
            Bytes::from(tail)
        } else {
            return Poll::Ready(None);
        };
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}

const COUNT: u32 = 400_000;

const LEVEL: &str = "<level>N.125</level>";

fn made(head: &'static str, item: &'static str, tail: &'static str) -> Made {
    Made { head: Some(head), item, items: 0..COUNT, tail: Some(tail) }
}

/// Returns the beginning of a message, up to its list.
fn head(name: &str) -> &'static str {
    const ENVELOPE: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>";
    format!("{ENVELOPE}<{name} xmlns='urn:lab'><station>s</station>").leak()
}

async fn counted<T: FromList>(mut items: Items<Value, T, impl Debug>, length: impl Fn(&T) -> usize) -> usize {
    let mut count = 0;
    while let Some(item) = items.next().await {
        count += length(&item.expect("valid"));
    }
    count
}

/// Responses and requests of 9 MB, in the memory of a few windows.
#[test]
fn lists_that_are_used_while_they_arrive_take_the_memory_of_a_window() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let contract = Contract::from_text(include_str!("data/lab.wsdl")).expect("a description");
    let (measured, reported) = (head("Measured"), head("Report"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let service = tower::service_fn(move |_: Request<Body>| {
        let body = made(measured, LEVEL, "</Measured></s:Body></s:Envelope>");
        let response = Response::builder().header("content-type", "text/xml").body(body);
        std::future::ready(Ok::<_, Infallible>(response.expect("a response")))
    });
    let client = DynamicClient::with_transport(contract.clone(), service);
    let ask = serde_json::json!({ "count": 1 });
    let peak = |what: &str, running: &mut dyn FnMut() -> usize| {
        ALLOCATOR.reset_peak_memory();
        assert_eq!(running(), COUNT as usize, "{what}");
        let peak = ALLOCATOR.get_peak_memory();
        assert!(peak < 2 << 20, "{what}: {peak} bytes");
    };
    peak("values of a response", &mut || {
        let reply = runtime.block_on(client.call_items("Measure", &ask, None)).expect("a response");
        runtime.block_on(counted(reply.items, |_| 1))
    });
    peak("columns of a response", &mut || {
        let call = client.prepare("Measure").expect("an operation");
        let reply = runtime.block_on(call.send_json_items::<Batch>(&ask, None)).expect("a response");
        runtime.block_on(counted(reply.items, Batch::len))
    });
    let method = contract.operation("Report").expect("an operation").method().expect("messages").element.clone();
    let schema = Arc::clone(&contract.lowered().schema);
    let total = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&total);
    let handler = move |items: Items<Value, Batch, Fault>| {
        let seen = Arc::clone(&seen);
        async move {
            seen.store(counted(items, Batch::len).await, Ordering::Relaxed);
            Err(Fault::sender("that is all"))
        }
    };
    let operation = Operation::dynamic_with_items(method, schema, None, handler).expect("a list");
    let mut service = SoapService::builder().add_operation(operation).build().expect("a service");
    peak("columns of a request", &mut || {
        let body = made(reported, LEVEL, "<checked>1</checked></Report></s:Body></s:Envelope>");
        let request = Request::post("/").header("content-type", "text/xml").body(body).expect("a request");
        let response = runtime.block_on(service.call(request)).expect("it never fails");
        assert_eq!(response.status(), http::StatusCode::INTERNAL_SERVER_ERROR);
        total.load(Ordering::Relaxed)
    });
}

/// A request of 9 MB, whose items come in batches.
#[test]
fn lists_that_are_sent_while_they_come_take_the_memory_of_a_chunk() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let contract = Contract::from_text(include_str!("data/lab.wsdl")).expect("a description");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let service = tower::service_fn(move |request: Request<Body>| {
        let counted = Arc::clone(&counted);
        async move {
            let mut body = request.into_body();
            while let Some(frame) = body.frame().await {
                counted.fetch_add(frame?.data_ref().map_or(0, Bytes::len), Ordering::Relaxed);
            }
            Ok::<_, deltasoap_core::Error>(Response::new(Full::<Bytes>::default()))
        }
    });
    let client = DynamicClient::with_transport(contract, service);
    let call = client.prepare("Report").expect("an operation");
    let list = call.operation().request_list(None).expect("a list");
    let report = serde_json::json!({ "station": "s", "checked": true });
    let report = list.request_from_json(report, Vec::new()).expect("a request");
    let batches = futures_util::stream::iter((0..COUNT / 400).map(|batch| {
        let level = |n: u32| Value::Simple(Simple::Double(f64::from(batch * 400 + n) + 0.125));
        Ok::<_, Infallible>((0..400).map(level).collect())
    }));
    ALLOCATOR.reset_peak_memory();
    let result = runtime.block_on(call.send_overlaid(&report, &list, batches));
    let peak = ALLOCATOR.get_peak_memory();
    assert!(matches!(result, Err(DynamicError::Call(CallError::Status(_)))), "{result:?}");
    let sent = sent.load(Ordering::Relaxed);
    assert!(sent > 8 << 20 && peak < 1 << 20, "{peak} bytes for {sent}");
}

/// Names and namespaces are kept to the end of a message, so they are bounded by the limit on its
/// length.
#[test]
fn lists_whose_items_bring_new_names_are_bounded() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let contract = Contract::from_text(include_str!("data/lab.wsdl")).expect("a description");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let measured = head("Measured");
    let service = tower::service_fn(move |_: Request<Body>| {
        let body = made(measured, "<level xmlns:pN='uN'>N</level>", "</Measured></s:Body></s:Envelope>");
        let response = Response::builder().header("content-type", "text/xml").body(body);
        std::future::ready(Ok::<_, Infallible>(response.expect("a response")))
    });
    let limits = Limits { message: 256 << 10, ..Limits::default() };
    let client = DynamicClient::with_transport(contract, service).configure(move |builder| builder.limits(limits));
    let ask = serde_json::json!({ "count": 1 });
    let check = |finish: &dyn Fn() -> String| {
        ALLOCATOR.reset_peak_memory();
        let error = finish();
        assert!(error.contains("name: \"message\""), "{error}");
        let peak = ALLOCATOR.get_peak_memory();
        assert!(peak < 6 << 20, "{peak} bytes");
    };
    check(&|| {
        let reply = runtime.block_on(client.call_items("Measure", &ask, None)).expect("the first items");
        format!("{:?}", runtime.block_on(reply.items.finish()).map(drop))
    });
    check(&|| {
        let call = client.prepare("Measure").expect("an operation");
        let reply = runtime.block_on(call.send_json_items::<Batch>(&ask, None)).expect("the first items");
        format!("{:?}", runtime.block_on(reply.items.finish()).map(drop))
    });
}

/// Builds a chain of types, with many fields in the last one.
#[test]
fn a_list_is_found_in_the_memory_of_the_description() {
    const DEPTH: usize = 1000;
    const FIELDS: usize = 20_000;
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut schema = Schema::new();
    let complex = |fields: Vec<Field>| {
        Element::Complex(ComplexElement {
            name: QName::new("", "type"),
            compositor: Compositor::Sequence,
            fields: fields.into(),
            attributes: Vec::new().into(),
            text: None,
            open: false,
            any_attribute: false,
            choices: Vec::new().into(),
        })
    };
    let field = |name: String, element, max| Field {
        name: QName::owned("", &*name),
        element,
        min: 0,
        max,
        nillable: false,
        inline: false,
    };
    let simple = SimpleElement {
        name: Builtin::Int.name(),
        base: Builtin::Int,
        enumeration: Vec::new().into(),
        default: None,
        packed: None,
    };
    let int = schema.add(Element::Simple(simple));
    let leaf = schema.add(complex(vec![field("leaf".to_owned(), int, Some(1))]));
    // Half of them have fields of their own, and so can lead to lists.
    let fields = (0..FIELDS).map(|n| field(format!("f{n}"), if n % 2 == 0 { leaf } else { int }, Some(1)));
    let mut content = complex(fields.chain([field("list".to_owned(), int, None)]).collect());
    for level in 0..DEPTH {
        let inner = schema.add(content);
        content = complex(vec![field(format!("level{level}"), inner, Some(1))]);
    }
    let outermost = schema.add(content);
    ALLOCATOR.reset_peak_memory();
    let list = ListPath::only(schema.view(outermost)).expect("one list");
    let found = ListPath::find(schema.view(outermost), &list.to_string()).expect("the same");
    let peak = ALLOCATOR.get_peak_memory();
    assert!(found == list && list.to_string().ends_with("/level0/list"));
    assert!(peak < 16 << 20, "{peak} bytes");
}

//! How much memory trees take, and lists that are used while they arrive: alone in its process, since it is all counted.

use bytes::Bytes;
use deltasoap_core::decode::value_from_slice;
use deltasoap_core::soap::Fault;
use deltasoap_core::{Batch, FromList, QName, Value};
use deltasoap_dynamic::{Contract, DynamicClient};
use deltasoap_http::{Body, Items, Operation, SoapService};
use http::{Request, Response};
use http_body::Frame;
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

/// One after the other.
static TURN: Mutex<()> = Mutex::new(());

/// References are as many as a message's length allows.
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
    // Bytes an element: of its value, and of its JSON.
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

/// A message that is made while it is sent.
struct Made {
    head: Option<&'static str>,
    /// Items that are still to come.
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
            let items = self.items.by_ref().take(400).map(|n| format!("<level>{n}.125</level>"));
            Bytes::from(items.collect::<String>())
        } else if let Some(tail) = self.tail.take() {
            Bytes::from(tail)
        } else {
            return Poll::Ready(None);
        };
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}

const COUNT: u32 = 400_000;

fn made(head: &'static str, tail: &'static str) -> Made {
    Made { head: Some(head), items: 0..COUNT, tail: Some(tail) }
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
    const ENVELOPE: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>";
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let contract = Contract::from_text(include_str!("data/lab.wsdl")).expect("a description");
    let head = |name: &str| &*format!("{ENVELOPE}<{name} xmlns='urn:lab'><station>s</station>").leak();
    let (measured, reported) = (head("Measured"), head("Report"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let service = tower::service_fn(move |_: Request<Body>| {
        let body = made(measured, "</Measured></s:Body></s:Envelope>");
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
    let handler = move |items: Items<Value, Batch, Fault>, _| {
        let seen = Arc::clone(&seen);
        async move {
            seen.store(counted(items, Batch::len).await, Ordering::Relaxed);
            Err(Fault::sender("that is all"))
        }
    };
    let operation = Operation::dynamic_with_items(method, schema, None, handler).expect("a list");
    let mut service = SoapService::builder().add_operation(operation).build().expect("a service");
    peak("columns of a request", &mut || {
        let body = made(reported, "<checked>1</checked></Report></s:Body></s:Envelope>");
        let request = Request::post("/").header("content-type", "text/xml").body(body).expect("a request");
        let response = runtime.block_on(service.call(request)).expect("it never fails");
        assert_eq!(response.status(), http::StatusCode::INTERNAL_SERVER_ERROR);
        total.load(Ordering::Relaxed)
    });
}

//! Lists of dynamic messages whose items are used as they arrive: of requests by handlers, of
//! responses by callers.

use crate::support::send;
use bytes::Bytes;
use deltasoap_core::decode::value_from_slice;
use deltasoap_core::soap::Fault;
use deltasoap_core::{Batch, Column, FromList, Limits, ListPath, ListPathError, QName, Record, Simple, Value};
use deltasoap_dynamic::{Contract, DynamicClient, DynamicError, Mock, Validation};
use deltasoap_http::{Body, BoxError, CallError, Extract, Handler, Items, Operation, Reply, SoapService};
use http::{Request, Response};
use http_body::Frame;
use serde_json::{Value as Json, json};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context as Task, Poll};
use std::time::Duration;
use tower::Service;

fn lab() -> Contract {
    Contract::from_text(include_str!("../data/lab.wsdl")).expect("a description")
}

/// A body in pieces, which counts the pieces taken.
struct Pieces {
    rest: VecDeque<Bytes>,
    taken: Arc<AtomicUsize>,
    end: End,
}

/// What follows the pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Whole,
    Cut,
    Silence,
}

impl Pieces {
    fn of(text: &str, size: usize, end: End) -> Self {
        let rest = text.as_bytes().chunks(size).map(Bytes::copy_from_slice).collect();
        Pieces { rest, taken: Arc::default(), end }
    }
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Task<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match (self.rest.pop_front(), self.end) {
            (Some(piece), _) => {
                self.taken.fetch_add(1, Ordering::Relaxed);
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            (None, End::Whole) => Poll::Ready(None),
            (None, End::Cut) => Poll::Ready(Some(Err("gone".into()))),
            (None, End::Silence) => Poll::Pending,
        }
    }
}

/// Returns a client whose requests are all answered with one message.
fn answered_with(
    body: impl Fn() -> Pieces + Clone + Send + 'static,
) -> DynamicClient<impl Service<Request<Body>, Response = Response<Pieces>, Error = Infallible, Future: Send> + Clone> {
    let service = tower::service_fn(move |_: Request<Body>| {
        let response = Response::builder().header("content-type", "text/xml").body(body());
        std::future::ready(Ok::<_, Infallible>(response.expect("a response")))
    });
    DynamicClient::with_transport(lab(), service).configure(|builder| builder.timeout(Some(Duration::from_millis(200))))
}

fn envelope(body: &str) -> String {
    format!("<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>{body}</s:Body></s:Envelope>")
}

fn measured(count: usize) -> String {
    let levels: String = (0..count).map(|n| format!("<level>{n}.5</level>")).collect();
    envelope(&format!("<Measured xmlns='urn:lab'><station>north</station>{levels}<note>end</note></Measured>"))
}

fn report(count: usize) -> String {
    let levels: String = (0..count).map(|n| format!("<level>{n}</level>")).collect();
    envelope(&format!("<Report xmlns='urn:lab'><station>north</station>{levels}<checked>true</checked></Report>"))
}

/// Returns all operations with a list, their requests, responses, and the position of the list.
fn exchanges() -> [(&'static str, Json, Json, Option<&'static str>, &'static str); 6] {
    let rows: Vec<_> = (0..500).map(|n| json!({ "id": n, "value": f64::from(n) + 0.5 })).collect();
    let levels: Vec<_> = (0..1000).map(|n| json!(f64::from(n) + 0.25)).collect();
    let seen = json!({ "name": ["a", null, "b"], "$choice": [{ "up": 1 }, { "down": "x" }, { "up": 2 }] });
    let numbers: Vec<_> = (0..300).collect();
    [
        ("Measure", json!({ "count": 1 }), json!({ "station": "s", "level": levels, "note": "n" }), None, "/level"),
        ("Measure", json!({ "count": 1 }), json!({ "station": "s" }), Some("level"), "/level"),
        ("Read", json!({}), json!({ "page": { "row": rows, "total": 500 }, "last": true }), None, "/page/row"),
        ("Look", json!({}), seen.clone(), Some("name"), "/name"),
        ("Look", json!({}), seen, Some("$choice"), "/$choice"),
        ("Count", json!({ "to": 300 }), json!({ "numbers": numbers }), None, "/numbers"),
    ]
}

async fn all_items<T: FromList>(
    client: &DynamicClient<SoapService>,
    operation: &str,
    request: &Json,
    list: Option<&str>,
    into_values: impl Fn(T) -> Vec<Value>,
) -> (Vec<Json>, Json) {
    let call = client.prepare(operation).expect("an operation");
    let mut reply = call.send_json_items::<T>(request, list).await.expect("a response");
    let mut all = Vec::new();
    while let Some(item) = reply.items.next().await {
        let values = into_values(item.expect("valid"));
        all.extend(reply.items_to_json(&values).expect("JSON"));
    }
    let rest = reply.items.finish().await.expect("valid");
    (all, reply.operation.response_to_json(&rest).expect("JSON"))
}

#[tokio::test]
async fn items_are_those_of_the_whole_response() {
    for (operation, request, response, list, place) in exchanges() {
        let service = Mock::new(lab()).answer(operation, &response).expect("an answer").service().expect("a service");
        let client = DynamicClient::with_transport(lab(), service);
        let mut whole = client.call(operation, &request).await.expect("a response");
        assert_eq!(whole, response);
        let items = whole.pointer(place).cloned().unwrap_or_else(|| json!([]));
        let (values, rest) = all_items::<Value>(&client, operation, &request, list, |value| vec![value]).await;
        assert_eq!(Json::Array(values), items, "{operation}");
        let (batches, _) = all_items::<Batch>(&client, operation, &request, list, Batch::into_values).await;
        assert_eq!(Json::Array(batches), items, "{operation}");
        // Everything else is there at the end. An empty array is present; an empty list is absent.
        let (parent, name) = place.rsplit_once('/').expect("a path");
        let around = whole.pointer_mut(parent).and_then(Json::as_object_mut).expect("an object");
        around.shift_remove(name);
        if operation == "Count" {
            around.insert(name.to_owned(), json!([]));
        }
        assert_eq!(rest, whole, "{operation}");
    }
}

#[tokio::test]
async fn numbers_and_plain_structs_come_in_columns() {
    let client = answered_with(|| Pieces::of(&measured(5000), 900, End::Whole));
    let call = client.prepare("Measure").expect("an operation");
    let mut reply = call.send_json_items::<Batch>(&json!({ "count": 1 }), None).await.expect("a response");
    assert_eq!(reply.list.to_string(), "level");
    let (mut total, mut batches) = (0.0, 0);
    while let Some(batch) = reply.items.next().await {
        let Batch::Column(Column::Double(levels)) = batch.expect("valid") else { panic!("no numbers") };
        total += levels.iter().sum::<f64>();
        batches += 1;
    }
    assert!(batches > 50, "{batches}");
    assert_eq!(total, (0..5000).map(|n| f64::from(n) + 0.5).sum::<f64>());
    let rows: String = (0..1000).map(|n| format!("<row><id>{n}</id><value>1</value></row>")).collect();
    // Also if the message names a type that is derived from the declared one.
    let named = "xmlns:i='http://www.w3.org/2001/XMLSchema-instance' xmlns:t='urn:lab' i:type='t:MarkedPage'";
    for (attributes, mark) in [("", ""), (named, "<mark>m</mark>")] {
        let page = format!("<page {attributes}>{rows}<total>7</total>{mark}</page>");
        let text = envelope(&format!("<Rows xmlns='urn:lab'>{page}<last>1</last></Rows>"));
        let client = answered_with(move || Pieces::of(&text, 900, End::Whole));
        let call = client.prepare("Read").expect("an operation");
        let mut reply = call.send_json_items::<Batch>(&json!({}), None).await.expect("a response");
        let mut ids = Vec::new();
        while let Some(batch) = reply.items.next().await {
            let Batch::Table(table) = batch.expect("valid") else { panic!("no table") };
            let Some(Column::Int(some)) = table.column("id") else { panic!("no ids") };
            ids.extend(some.iter().copied());
        }
        assert_eq!(ids, (0..1000).collect::<Vec<_>>());
    }
}

/// Nothing is sent if the list is ambiguous, or there is none.
#[tokio::test]
async fn the_list_is_told_before_the_call() {
    let client = answered_with(|| panic!("nothing is to be sent"));
    let several = ["name", "$choice"].map(str::to_owned).to_vec();
    let cases = [
        ("Look", json!({}), None, ListPathError::Several(several)),
        ("Report", json!({ "station": "s", "checked": true }), None, ListPathError::NoList),
        ("Measure", json!({ "count": 1 }), Some("station"), ListPathError::NoRepetition("station".to_owned())),
        ("Measure", json!({ "count": 1 }), Some(""), ListPathError::NoRepetition("the body".to_owned())),
        ("Read", json!({}), Some("page/row/id"), ListPathError::WithinItems("page/row".to_owned())),
    ];
    for (operation, request, list, expected) in cases {
        match client.call_items(operation, &request, list).await {
            Err(DynamicError::List(error)) => assert_eq!(error, expected),
            other => panic!("{operation}: {other:?}"),
        }
    }
    let whole = client.clone().validation(Validation::Refuse);
    let refused = whole.call_items("Measure", &json!({ "count": 1 }), None).await;
    assert!(matches!(refused, Err(DynamicError::Call(CallError::RefusedRequest(_)))), "{refused:?}");
}

#[tokio::test]
async fn the_server_waits_for_the_caller() {
    let taken = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&taken);
    let client =
        answered_with(move || Pieces { taken: Arc::clone(&counter), ..Pieces::of(&measured(5000), 500, End::Whole) });
    let mut reply = client.call_items("Measure", &json!({ "count": 1 }), None).await.expect("a response");
    reply.items.next().await.expect("an item").expect("valid");
    tokio::time::sleep(Duration::from_millis(20)).await;
    let before = taken.load(Ordering::Relaxed);
    assert!((1..5).contains(&before), "{before}");
    let left = reply.items.finish().await.expect("valid");
    assert!(
        matches!(left, Value::Record(record) if record.fields[2] == Value::Simple(Simple::String("end".to_owned())))
    );
    assert!(taken.load(Ordering::Relaxed) > 100);
}

#[tokio::test]
async fn errors_of_a_response_come_after_the_items_before_them() {
    let bad = measured(2000).replace("<level>1000.5<", "<level>x<");
    let after = measured(2000).replace("<note>end", "<note><other/>end");
    let half = measured(2000)[..20_000].to_owned();
    let cases = [(bad, End::Whole), (after, End::Whole), (half.clone(), End::Cut), (half, End::Silence)];
    for (index, (text, end)) in cases.into_iter().enumerate() {
        let client = answered_with(move || Pieces::of(&text, 100, end));
        let mut reply = client.call_items("Measure", &json!({ "count": 1 }), None).await.expect("the first items");
        let mut seen = 0;
        let error = loop {
            match reply.items.next().await.expect("an error") {
                Ok(item) => {
                    assert_eq!(item, Value::Simple(Simple::Double(f64::from(seen) + 0.5)));
                    seen += 1;
                }
                Err(error) => break error,
            }
        };
        assert!(reply.items.next().await.is_none());
        match (index, error) {
            (0, CallError::Decode(error)) => {
                assert!(error.path().ends_with("level[1001]") && seen == 1000, "{seen} {error:?}");
            }
            (1, CallError::Decode(error)) => {
                assert!(error.path().ends_with("/note/other") && seen == 1999, "{seen} {error:?}");
            }
            (2, CallError::Http(_)) | (3, CallError::Timeout(_)) => assert!((900..1999).contains(&seen), "{seen}"),
            (_, error) => panic!("{index}: {error:?}"),
        }
    }
    let fault = envelope("<s:Fault><faultcode>s:Server</faultcode><faultstring>no</faultstring></s:Fault>");
    let client = answered_with(move || Pieces::of(&fault, 10, End::Whole));
    let fault = client.call_items("Measure", &json!({ "count": 1 }), None).await;
    assert!(matches!(fault, Err(DynamicError::Fault(fault)) if fault.fault.reason == "no"));
}

async fn until_error<T: FromList, E: std::fmt::Display>(
    items: &mut Items<Value, T, E>,
    into_values: fn(T) -> Vec<Value>,
) -> (Vec<Value>, E) {
    let mut all = Vec::new();
    loop {
        match items.next().await.expect("an error") {
            Ok(item) => all.extend(into_values(item)),
            Err(error) => return (all, error),
        }
    }
}

/// The items that come before an error depend on the message, not on how its bytes were split.
#[tokio::test]
async fn the_items_before_an_error_are_the_same_in_pieces_of_any_length() {
    type Break = fn(&str) -> String;
    const SIZES: [usize; 6] = [1, 7, 64, 333, 5000, 1 << 20];
    let breaks: [(Break, End, usize); 5] = [
        (|good| good.replace(">500", ">x"), End::Whole, 500),
        // The last item in the list may not be finished.
        (|good| good.replace("<level>500", "</other><level>500"), End::Whole, 499),
        (|good| good.replace("<level>500", "<level<"), End::Whole, 499),
        (|good| good[..good.find("<level>500").expect("an item") + 2].to_owned(), End::Whole, 499),
        (|good| good[..good.find("<level>500").expect("an item") + 9].to_owned(), End::Cut, 500),
    ];
    for (break_at, end, count) in breaks {
        let (response, request) = (break_at(&measured(1500)), break_at(&report(800)));
        let mut results = Vec::new();
        for size in SIZES {
            let text = response.clone();
            let client = answered_with(move || Pieces::of(&text, size, end));
            let call = client.prepare("Measure").expect("an operation");
            let mut reply = call.send_json_items(&json!({ "count": 1 }), None).await.expect("the first items");
            let (values, error) = until_error(&mut reply.items, |value: Value| vec![value]).await;
            results.push((values, error.to_string()));
            let call = client.prepare("Measure").expect("an operation");
            let mut reply = call.send_json_items(&json!({ "count": 1 }), None).await.expect("the first items");
            let (values, error) = until_error(&mut reply.items, Batch::into_values).await;
            results.push((values, error.to_string()));
        }
        assert!(results.iter().all(|(values, _)| values.len() == count), "{count}");
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{count}");
        let (seen, sees) = std::sync::mpsc::channel();
        let of_values = {
            let seen = seen.clone();
            serving(None, move |mut items: Items<Value, Value, Fault>| {
                let seen = seen.clone();
                async move {
                    let (values, fault) = until_error(&mut items, |value| vec![value]).await;
                    seen.send((values, fault.reason.clone())).expect("the test waits");
                    Err(fault)
                }
            })
        };
        let of_batches = serving(None, move |mut items: Items<Value, Batch, Fault>| {
            let seen = seen.clone();
            async move {
                let (values, fault) = until_error(&mut items, Batch::into_values).await;
                seen.send((values, fault.reason.clone())).expect("the test waits");
                Err(fault)
            }
        });
        for size in SIZES {
            for service in [&of_values, &of_batches] {
                let (status, body) = post(service, Pieces::of(&request, size, end)).await;
                assert!(status >= 400 && body.contains("Fault"), "{body}");
            }
        }
        let results: Vec<_> = sees.try_iter().collect();
        assert!(results.len() == 2 * SIZES.len() && results[0].0.len() == count, "{results:?}");
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{count}");
    }
}

/// An element that others can replace is a choice of them, which its own name finds too.
#[test]
fn lists_of_choices_have_the_names_of_json() {
    let contract = Contract::from_text(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t' xmlns='urn:t' elementFormDefault='qualified'>\
         <xs:element name='shape' type='xs:int'/><xs:element name='circle' type='xs:int' substitutionGroup='shape'/>\
         <xs:element name='r'><xs:complexType><xs:sequence>\
         <xs:choice maxOccurs='unbounded'><xs:element name='up' type='xs:int'/><xs:element name='down' type='xs:int'/></xs:choice>\
         <xs:element name='title' type='xs:string'/><xs:element ref='shape' maxOccurs='unbounded'/>\
         </xs:sequence></xs:complexType></xs:element></xs:schema>",
    )
    .expect("a schema");
    let name = QName::new("urn:t", "r");
    let id = contract.description().schemas().element_named(&name).expect("an element");
    let content = contract.lowered().element(id).expect("its content");
    let view = contract.view(content);
    let several = ["$choice", "$choice#2"].map(str::to_owned).to_vec();
    assert_eq!(ListPath::only(view), Err(ListPathError::Several(several)));
    let document = "<r xmlns='urn:t'><up>1</up><title>t</title><circle>2</circle><shape>3</shape></r>";
    let mut value: Value = value_from_slice(document.as_bytes(), &name, view).expect("valid");
    let json = contract.to_json(&name, content, &value).expect("JSON");
    assert_eq!(json["$choice#2"], json!([{ "circle": 2 }, { "shape": 3 }]));
    let list = ListPath::find(view, "shape").expect("a list");
    assert_eq!(ListPath::find(view, "$choice#2").as_ref(), Ok(&list));
    assert_eq!(list.to_string(), "$choice#2");
    assert_eq!(list.take_all::<Value>(&mut value, view).len(), 2);
}

/// A service with one handler of `Report`, which keeps little of a message in memory.
fn serving<T: FromList, M: 'static>(
    list: Option<&str>,
    handler: impl Handler<M, Arguments: Extract<()>, Request = Items<Value, T, Fault>, Output = Result<Reply<Value>, Fault>>,
) -> SoapService {
    let contract = lab();
    let method = contract.operation("Report").expect("an operation").method().expect("messages").element.clone();
    let schema = Arc::clone(&contract.lowered().schema);
    let operation = Operation::dynamic_with_items(method, schema, list, handler).expect("a list");
    let limits = Limits { message: 20_000, ..Limits::default() };
    SoapService::builder().limits(limits).add_operation(operation).build().expect("a service")
}

fn summary(count: usize, total: f64) -> Reply<Value> {
    let fields = vec![Value::Simple(Simple::Int(count as i32)), Value::Simple(Simple::Double(total))];
    Reply::new(Value::Record(Box::new(Record { fields, ..Record::default() })))
}

async fn sum_of_values(mut items: Items<Value, Value, Fault>) -> Result<Reply<Value>, Fault> {
    let (mut count, mut total) = (0, 0.0);
    while let Some(item) = items.next().await {
        let Value::Simple(Simple::Double(level)) = item? else { return Err(Fault::sender("no number")) };
        (count, total) = (count + 1, total + level);
    }
    let Value::Record(rest) = items.finish().await? else { return Err(Fault::receiver("no record")) };
    assert_eq!(rest.fields[2], Value::Simple(Simple::Boolean(true)));
    Ok(summary(count, total))
}

async fn sum_of_columns(mut items: Items<Value, Batch, Fault>) -> Result<Reply<Value>, Fault> {
    let (mut count, mut total) = (0, 0.0);
    while let Some(batch) = items.next().await {
        let Batch::Column(Column::Double(levels)) = batch? else { return Err(Fault::sender("no numbers")) };
        (count, total) = (count + levels.len(), total + levels.iter().sum::<f64>());
    }
    Ok(summary(count, total))
}

async fn post(service: &SoapService, body: Pieces) -> (u16, String) {
    send(service.clone(), Request::post("/"), body).await
}

#[tokio::test]
async fn handlers_take_values_or_columns() {
    for service in [serving(None, sum_of_values), serving(Some("level"), sum_of_columns)] {
        // The longest message is many times what the service keeps of it.
        for count in [0, 1, 2, 20_000] {
            let total = (0..count).fold(0.0, |sum, n| sum + n as f64);
            for size in [7, 1000] {
                let (status, body) = post(&service, Pieces::of(&report(count), size, End::Whole)).await;
                assert_eq!(status, 200, "{body}");
                assert!(
                    body.contains(&format!("count>{count}</")) && body.contains(&format!("total>{total}</")),
                    "{body}"
                );
            }
        }
        let answer = DynamicClient::with_transport(lab(), service);
        let request = json!({ "station": "s", "level": [1, 2, 4], "checked": true });
        assert_eq!(answer.call("Report", &request).await.expect("a response"), json!({ "count": 3, "total": 7.0 }));
    }
}

/// A handler that succeeds early does not make a request valid, and one that waits makes its sender
/// wait.
#[tokio::test]
async fn requests_are_read_to_their_end_and_not_ahead() {
    let early = serving(None, async |mut items: Items<Value, Value, Fault>| {
        items.next().await.expect("an item")?;
        Ok(summary(1, 0.0))
    });
    let good = report(500);
    assert_eq!(post(&early, Pieces::of(&good, 100, End::Whole)).await.0, 200);
    for (place, with) in [("<level>490<", "<level>x<"), ("<checked>true", "<checked>maybe"), ("</s:Body>", "")] {
        let (status, body) = post(&early, Pieces::of(&good.replace(place, with), 100, End::Whole)).await;
        assert!(status >= 400 && body.contains("Fault"), "{place}: {body}");
    }
    let (status, body) = post(&early, Pieces::of(&good[..5000], 100, End::Cut)).await;
    assert!(status == 400 && body.contains("did not arrive in full"), "{body}");
    let taken = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&taken);
    let waiting = serving(None, move |mut items: Items<Value, Batch, Fault>| {
        let counter = Arc::clone(&counter);
        async move {
            items.next().await.expect("a batch")?;
            tokio::time::sleep(Duration::from_millis(30)).await;
            let before = counter.load(Ordering::Relaxed);
            assert!((1..5).contains(&before), "{before}");
            Ok(summary(1, 0.0))
        }
    });
    let body = Pieces { taken: Arc::clone(&taken), ..Pieces::of(&good, 100, End::Whole) };
    let (status, body) = post(&waiting, body).await;
    assert_eq!(status, 200, "{body}");
    assert!(taken.load(Ordering::Relaxed) > 50);
}

#[test]
fn an_operation_without_such_a_list_is_refused() {
    let contract = lab();
    let method = |name| contract.operation(name).expect("an operation").method().expect("messages").element.clone();
    let schema = Arc::clone(&contract.lowered().schema);
    let refused = Operation::dynamic_with_items(method("Measure"), Arc::clone(&schema), None, sum_of_values);
    assert!(matches!(refused, Err(ListPathError::NoList)));
    let refused = Operation::dynamic_with_items(method("Report"), schema, Some("station"), sum_of_columns);
    assert!(matches!(refused, Err(ListPathError::NoRepetition(path)) if path == "station"));
}

/// The items of an array in SOAP encoding, in place or by reference, some of them nil.
#[tokio::test]
async fn arrays_in_soap_encoding() {
    let spaces = "xmlns:i='http://www.w3.org/2001/XMLSchema-instance' xmlns:x='http://www.w3.org/2001/XMLSchema' \
                  xmlns:e='http://schemas.xmlsoap.org/soap/encoding/'";
    let items: String = (0..400).map(|n| format!("<item i:type='x:int'>{n}</item>")).collect();
    let array = format!("{items}<item i:nil='1'/>{items}");
    let inline =
        format!("<r:any xmlns:r='urn:lab' {spaces}><numbers e:arrayType='x:int[801]'>{array}</numbers></r:any>");
    let apart = format!(
        "<r:any xmlns:r='urn:lab' {spaces}><numbers href='#a'/></r:any><m id='a' {spaces} e:arrayType='x:int[801]'>{array}</m>"
    );
    for body in [inline, apart] {
        let text = envelope(&body);
        for size in [50, 3000] {
            let text = text.clone();
            let client = answered_with(move || Pieces::of(&text, size, End::Whole));
            let mut reply = client.call_items("Count", &json!({ "to": 1 }), None).await.expect("a response");
            let mut all = Vec::new();
            while let Some(item) = reply.items.next().await {
                all.push(item.expect("valid"));
            }
            assert_eq!((all.len(), &all[400]), (801, &Value::Nil));
            let numbers: Vec<_> = (0..400).map(|n| Value::Simple(Simple::Int(n))).collect();
            assert!(all[..400] == numbers && all[401..] == numbers);
        }
    }
}

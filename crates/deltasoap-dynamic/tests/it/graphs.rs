//! Values that several places share, as JSON, and in calls.

use crate::support;
use deltasoap_core::decode::{Cursor, DecodeOptions, Decoder, Step, value_from_slice};
use deltasoap_core::encode::Encoder;
use deltasoap_core::schema::{Use, View};
use deltasoap_core::soap::{EnvelopeReader, Head, Receiver, Version};
use deltasoap_core::{Content, ErrorKind, Memory, Record, Shared, Simple, Value};
use deltasoap_dynamic::{Contract, DynamicClient, Mock, Operation};
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::sync::LazyLock;

const GRAPH: &str = include_str!("../data/graph.wsdl");

fn contract() -> Contract {
    Contract::from_text(GRAPH).expect("a description")
}

fn echo(contract: &Contract) -> Operation {
    contract.operation("Echo").expect("an operation")
}

/// Vertices: the targets of `next` and of `others`.
#[derive(Debug, Clone)]
struct Graph(Vec<(Option<usize>, Vec<usize>)>);

fn graphs() -> impl Strategy<Value = Graph> {
    (1_usize..9).prop_flat_map(|count| {
        let vertex = (proptest::option::of(0..count), proptest::collection::vec(0..count, 0..3));
        proptest::collection::vec(vertex, count).prop_map(Graph)
    })
}

impl Graph {
    /// Returns a message whose parts are the first vertex, and another one.
    fn message(&self) -> Value {
        let mut known = HashMap::new();
        let fields = [0, self.0.len() / 2].map(|vertex| Value::Shared(self.vertex(vertex, &mut known)));
        Value::Record(Box::new(Record { fields: fields.into(), attributes: Vec::new(), others: Default::default() }))
    }

    /// Returns a handle to a vertex: a weak one within it.
    fn vertex(&self, number: usize, known: &mut HashMap<usize, Shared<Value>>) -> Shared<Value> {
        if let Some(known) = known.get(&number) {
            return known.clone();
        }
        let shared = Shared::cyclic(|this| {
            known.insert(number, this);
            let (next, others) = &self.0[number];
            let next = next.map_or(Value::Nil, |next| Value::Shared(self.vertex(next, known)));
            let others = others.iter().map(|&other| Value::Shared(self.vertex(other, known))).collect();
            let fields = vec![text(&number.to_string()), next, Value::List(others)];
            Value::Record(Box::new(Record { fields, attributes: Vec::new(), others: Default::default() }))
        });
        known.insert(number, shared.clone());
        shared
    }
}

fn text(text: &str) -> Value {
    Value::Simple(Simple::String(text.to_owned()))
}

/// Returns the visible shape of a value: its contents in traversal order, with shared values by
/// number.
fn shape(value: &Value) -> Vec<String> {
    let (mut shape, mut known) = (Vec::new(), HashMap::new());
    trace(value, &mut known, &mut shape);
    shape
}

fn trace(value: &Value, known: &mut HashMap<usize, usize>, shape: &mut Vec<String>) {
    match value {
        Value::Record(record) => record.fields.iter().for_each(|field| trace(field, known, shape)),
        Value::List(items) => {
            shape.push(format!("{} items", items.len()));
            items.iter().for_each(|item| trace(item, known, shape));
        }
        Value::Shared(shared) => {
            let (next, is_new) = (known.len(), !known.contains_key(&shared.address()));
            shape.push(format!("value {}", known.entry(shared.address()).or_insert(next)));
            if is_new {
                trace(&shared.get().expect("a value"), known, shape);
            }
        }
        other => shape.push(format!("{other:?}")),
    }
}

/// Imported once.
static CONTRACT: LazyLock<Contract> = LazyLock::new(contract);

proptest! {
    #[test]
    fn graphs_survive_json(graph in graphs()) {
        let contract = CONTRACT.clone();
        let (operation, message) = (echo(&contract), graph.message());
        let json = operation.request_to_json(&message).expect("JSON");
        let text = serde_json::to_string(&json).expect("text");
        let again = operation.request_from_json(&serde_json::from_str(&text).expect("JSON"));
        prop_assert!(again.is_ok(), "{:?}\n{:#}", again, json);
        let again = again.expect("a value");
        prop_assert_eq!(shape(&again), shape(&message), "{:#}", json);
        prop_assert_eq!(operation.request_to_json(&again).expect("JSON"), json);
    }
}

#[test]
fn only_what_is_shared_has_an_id() {
    let contract = contract();
    let operation = echo(&contract);
    let tree = json!({ "first": { "name": "a", "next": { "name": "b", "next": null } }, "second": null });
    let value = operation.request_from_json(&tree).expect("a value");
    assert_eq!(operation.request_to_json(&value).expect("JSON"), tree);
    let ring = json!({
        "first": { "$id": "1", "name": "a", "next": { "name": "b", "next": { "$ref": "1" } } },
        "second": { "$ref": "1" },
    });
    let value = operation.request_from_json(&ring).expect("a value");
    assert_eq!(operation.request_to_json(&value).expect("JSON"), ring);
    let nil = json!({ "first": { "$id": "1", "$nil": true }, "second": { "$ref": "1" } });
    let value = operation.request_from_json(&nil).expect("a value");
    assert_eq!(operation.request_to_json(&value).expect("JSON"), nil);
}

#[test]
fn ids_of_any_text_become_numbers() {
    let contract = contract();
    let operation = echo(&contract);
    let json = json!({ "first": { "$id": "it", "name": "a", "next": null }, "second": { "$ref": "it" } });
    let value = operation.request_from_json(&json).expect("a value");
    let again = operation.request_to_json(&value).expect("JSON");
    assert_eq!((&again["first"]["$id"], &again["second"]), (&json!("1"), &json!({ "$ref": "1" })));
}

#[test]
fn errors_name_the_place_of_an_id() {
    let contract = contract();
    let operation = echo(&contract);
    let vertex = |id: &str| json!({ "$id": id, "name": "a", "next": null });
    for (first, second, message) in [
        (
            json!({ "$ref": "1" }),
            vertex("1"),
            ".first[\"$ref\"]: expected an $id that occurs earlier, in the order of the schema, found \"1\"",
        ),
        (vertex("1"), vertex("1"), ".second[\"$id\"]: expected a unique id, found \"1\", which occurs earlier"),
        (
            vertex("1"),
            json!({ "$ref": "1", "name": "a" }),
            ".second: expected no properties other than $ref, found more properties",
        ),
        (json!({ "$ref": null }), vertex("1"), ".first[\"$ref\"]: expected an id: a string, found null"),
        (
            json!({ "$id": "1", "name": "a", "next": null, "more": 1 }),
            vertex("2"),
            ".first.more: expected one of the properties name, next, others, $id, found an unknown property",
        ),
    ] {
        let error = operation.request_from_json(&json!({ "first": first, "second": second })).expect_err(message);
        assert_eq!(error.to_string(), message);
    }
    let shop = support::shop();
    let order = json!({ "$id": "1", "customer": "A", "item": [{ "code": "A-1", "count": 1 }] });
    let error = shop.operation("Order").expect("an operation").request_from_json(&order).expect_err("no shared value");
    assert_eq!(error.path(), "[\"$id\"]");
}

/// The stack is sufficient even in a program without optimizations, and with less of it than
/// threads usually get (2 MiB).
#[test]
fn values_without_end_are_refused() {
    let thread = std::thread::Builder::new().stack_size(7 << 18);
    thread.spawn(refuse_a_value_without_end).expect("a thread").join().expect("a refusal");
}

fn refuse_a_value_without_end() {
    let contract = contract();
    let mut chain = Value::Nil;
    for _ in 0..300 {
        let fields = vec![text("a"), chain, Value::Absent];
        chain = Value::Shared(Shared::new(Value::Record(Box::new(Record {
            fields,
            attributes: Vec::new(),
            others: Default::default(),
        }))));
    }
    let message = Value::Record(Box::new(Record {
        fields: vec![chain, Value::Nil],
        attributes: Vec::new(),
        others: Default::default(),
    }));
    let error = echo(&contract).request_to_json(&message).expect_err("too deep");
    assert_eq!(error.expected(), "at most 256 shared values within each other");
}

#[test]
fn arrays_of_several_dimensions_are_arrays_of_arrays() {
    let contract = contract();
    let operation = contract.operation("Count").expect("an operation");
    for json in
        [json!({ "matrix": [[1, 2, 3], [4, 5, 6]], "lists": [[1], [], [2, 3]] }), json!({ "matrix": [], "lists": [] })]
    {
        let value = operation.request_from_json(&json).expect("a value");
        assert_eq!(operation.request_to_json(&value).expect("JSON"), json);
    }
    let error = operation.request_from_json(&json!({ "matrix": [1, 2], "lists": [] })).expect_err("no rows");
    assert_eq!(error.path(), ".matrix[0]");
    for (matrix, place, length, found) in [
        (json!([[1], [2, 3]]), ".matrix[1]", 1, 2),
        (json!([[1, 2], [3, 4], []]), ".matrix[2]", 2, 0),
        (json!([[], [1]]), ".matrix[1]", 0, 1),
    ] {
        let ragged = operation.request_from_json(&json!({ "matrix": matrix, "lists": [] })).expect_err("ragged rows");
        let expected = format!("{place}: expected a row of {length}, like the first one, found an array of {found}");
        assert_eq!(ragged.to_string(), expected);
    }
}

/// Axis writes `string[][2]` where `string[,]` is declared; others do the opposite.
#[test]
fn a_matrix_may_be_written_as_arrays_of_arrays() {
    let contract = contract();
    let operation = contract.operation("Count").expect("an operation");
    let (name, content) = operation.request().expect("a request");
    let message = |matrix: &str, lists: &str| {
        format!(
            "<g:{0} xmlns:g='{1}' xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' \
             xmlns:x='http://www.w3.org/2001/XMLSchema'>{matrix}{lists}</g:{0}>",
            name.local, name.namespace
        )
    };
    let row = |items: &[i32]| {
        let content: String = items.iter().map(|item| format!("<item>{item}</item>")).collect();
        format!("<item e:arrayType='x:int[{}]'>{content}</item>", items.len())
    };
    let nested = format!("<matrix e:arrayType='x:int[][2]'>{}{}</matrix>", row(&[1, 2]), row(&[3, 4]));
    let flat = "<lists e:arrayType='x:int[2,2]'><item>5</item><item>6</item><item>7</item><item>8</item></lists>";
    let text = message(&nested, flat);
    let value = value_from_slice(text.as_bytes(), name, operation.view(content)).expect("read");
    let json = operation.request_to_json(&value).expect("JSON");
    assert_eq!(json, json!({ "matrix": [[1, 2], [3, 4]], "lists": [[5, 6], [7, 8]] }));
    let soap = "http://schemas.xmlsoap.org/soap/envelope/";
    let whole = format!("<s:Envelope xmlns:s='{soap}'><s:Body>{text}</s:Body></s:Envelope>");
    assert_eq!(contract.validate(whole.as_bytes()), []);
    let ragged = format!("<matrix e:arrayType='x:int[][2]'>{}{}</matrix>", row(&[1, 2]), row(&[3]));
    let error = value_from_slice(message(&ragged, flat).as_bytes(), name, operation.view(content)).expect_err("ragged");
    assert!(error.to_string().contains("[][]") && error.to_string().contains("[,]"), "{error}");
}

/// The number of items is given by the array's size alone, and bounded.
#[test]
fn rows_without_items_are_kept() {
    let contract = contract();
    let operation = contract.operation("Count").expect("an operation");
    let (name, content) = operation.request().expect("a request");
    let json = json!({ "matrix": [[], []], "lists": [] });
    let value = operation.request_from_json(&json).expect("a value");
    let mut encoder = Encoder::new();
    encoder.set_encoding(Use::Encoded);
    encoder.start(name);
    value.encode(&mut encoder, operation.view(content));
    encoder.end();
    let written = String::from_utf8(encoder.finish().expect("a message").as_slice().to_vec()).expect("UTF-8");
    let read = |text: &str| value_from_slice(text.as_bytes(), name, operation.view(content));
    let to_json = |value| operation.request_to_json(&value).expect("JSON");
    assert_eq!(read(&written).map(to_json), Ok(json.clone()), "{written}");
    let matrix = |matrix: &str| {
        format!(
            "<g:{0} xmlns:g='{1}' xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' \
             xmlns:x='http://www.w3.org/2001/XMLSchema'>{matrix}<lists e:arrayType='x:int[][0]'/></g:{0}>",
            name.local, name.namespace
        )
    };
    let row = "<item e:arrayType='x:int[0]'/>";
    let nested = matrix(&format!("<matrix e:arrayType='x:int[][2]'>{row}{row}</matrix>"));
    assert_eq!(read(&nested).map(to_json), Ok(json.clone()));
    let none = matrix("<matrix e:arrayType='x:int[7,2]'/>");
    assert_eq!(to_json(read(&none).expect("no items"))["matrix"], json!([]));
    for many in ["70000", "99999999999999999999999999"] {
        let error = read(&matrix(&format!("<matrix e:arrayType='x:int[{many},0]'/>"))).expect_err("too many");
        assert!(error.to_string().contains("omitted_items"), "{error}");
    }
}

fn echoing() -> DynamicClient<deltasoap_http::SoapService> {
    let mock = Mock::new(contract()).handle("Echo", Ok).and_then(|mock| mock.handle("Count", Ok));
    let service = mock.expect("an operation").service().expect("a service");
    DynamicClient::with_transport(contract(), service)
}

fn ring() -> Json {
    json!({
        "first": { "$id": "1", "name": "a", "next": { "$id": "2", "name": "b", "next": { "$ref": "1" }, "others": [] } },
        "second": { "name": "c", "next": { "$ref": "2" }, "others": [{ "$ref": "1" }, null, { "$ref": "2" }] },
    })
}

#[tokio::test]
async fn graphs_survive_calls() {
    for version in [Version::Soap11, Version::Soap12] {
        let client = echoing().version(version);
        for _ in 0..3 {
            assert_eq!(client.call("Echo", &ring()).await.expect("a response"), ring());
        }
        let numbers = json!({ "matrix": [[1, 2], [3, 4]], "lists": [[1], [2, 3]] });
        assert_eq!(client.call("Count", &numbers).await.expect("a response"), numbers);
    }
}

#[test]
fn messages_with_references_are_validated() {
    let message = |name: &str, body: &str| {
        format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:g='urn:graph' \
             xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'>\
             <s:Body><multi id='a' e:root='0'><name>a</name>{name}</multi>{body}</s:Body></s:Envelope>"
        )
    };
    let contract = contract();
    let echo = "<g:Echo><first href='#a'/><second xsi:nil='true'/></g:Echo>";
    assert_eq!(contract.validate(message("<next href='#a'/>", echo).as_bytes()), []);
    let findings = contract.validate(message("<unknown/>", echo).as_bytes());
    assert!(findings.iter().any(|finding| finding.message.contains("unknown")), "{findings:?}");
    let findings = contract.validate(message("<next href='#a'/>", "<g:Eco/>").as_bytes());
    assert!(findings[0].message.contains("no operation has"), "{findings:?}");
}

#[tokio::test]
async fn samples_have_a_row_in_each_dimension() {
    let contract = contract();
    let count = contract.operation("Count").expect("an operation");
    let sample = count.request_sample().expect("a sample");
    let json = json!({ "matrix": [[1]], "lists": [[1]] });
    assert_eq!(count.request_to_json(&sample).expect("JSON"), json);
    assert_eq!(echoing().call("Count", &json).await.expect("a response"), json);
    let mock = Mock::new(contract.clone()).service().expect("a service");
    let client = DynamicClient::with_transport(contract, mock);
    assert_eq!(client.call("Count", &json).await.expect("a sample"), json);
}

#[test]
fn values_that_may_be_of_derived_types_are_read_by_their_type() {
    let contract = Contract::from_text(include_str!("../data/derived.wsdl")).expect("a description");
    let read = |content: &str, others: &str| {
        let message = format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:d='urn:derived' \
             xmlns:c='http://schemas.xmlsoap.org/soap/encoding/' xmlns:i='http://www.w3.org/2001/XMLSchema-instance' \
             xmlns:x='http://www.w3.org/2001/XMLSchema'><s:Body \
             s:encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'><d:Echo>{content}</d:Echo>{others}</s:Body></s:Envelope>"
        );
        let operation = contract.operation("Echo").expect("an operation");
        let (_, content) = operation.request().expect("a request");
        let value = Memory::new(Value::Absent);
        let mut reader = EnvelopeReader::new(Taker { value, view: contract.view(content) });
        let result = Decoder::new(DecodeOptions::default()).decode(&mut reader, message.as_bytes());
        let value = reader.into_parts().1.value.into_value();
        let findings: Vec<_> = contract.validate(message.as_bytes()).into_iter().map(|it| it.message).collect();
        (result.ok().map(|()| operation.request_to_json(&value).expect("JSON")), findings)
    };
    let (base, derived) =
        (json!({ "a": 1, "word": "one" }), json!({ "$type": "More", "a": 1, "word": "one", "b": 2.5 }));
    let fields = "<a i:type='x:int'>1</a><word i:type='d:Word'>one</word>";
    let style = "s:encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'";
    for (item, others, expected) in [
        (format!("<item>{fields}</item>"), String::new(), &base),
        (format!("<item id='q' {style} c:position='[0]'>{fields}</item>"), String::new(), &base),
        (format!("<item i:type='d:More'>{fields}<b>2.5</b></item>"), String::new(), &derived),
        ("<item href='#q'/>".to_owned(), format!("<multiRef id='q' c:root='0' {style}>{fields}</multiRef>"), &base),
        (
            "<item href='#q'/>".to_owned(),
            format!("<multiRef id='q' c:root='0' {style} i:type='d:More'>{fields}<b>2.5</b></multiRef>"),
            &derived,
        ),
        (
            "<item><a href='#n'/><word>one</word></item>".to_owned(),
            "<multiRef id='n' c:root='0' i:type='x:int'>1</multiRef>".to_owned(),
            &base,
        ),
    ] {
        let (json, findings) = read(&format!("<list c:arrayType='d:Base[1]'>{item}</list>"), &others);
        assert_eq!((json, findings), (Some(json!({ "list": [expected] })), Vec::new()), "{item} {others}");
    }
    // The array gives the type of items that do not name theirs.
    let named = format!(
        "<list c:arrayType='d:More[2]'><item>{fields}<b>2.5</b></item><item i:type='d:Base'>{fields}</item></list>"
    );
    let labelled = json!({ "$type": "Base", "a": 1, "word": "one" });
    assert_eq!(read(&named, ""), (Some(json!({ "list": [derived, labelled] })), Vec::new()));
    for (item, expected) in [
        ("<item><a>x</a><word>one</word></item>", "not a digit"),
        ("<item><a>1</a><word>two</word></item>", "two"),
        ("<item><a>1</a><word>one</word><z/></item>", "<z>"),
        ("<item i:type='d:Nope'><a>1</a></item>", "d:Nope is not allowed here"),
        ("<item i:type='x:int'>1</item>", "xsd:int is not derived from Base"),
        ("<item i:type='d:More'><a>1</a><word>one</word><b>x</b></item>", "decimal"),
    ] {
        let (_, findings) = read(&format!("<list c:arrayType='d:Base[1]'>{item}</list>"), "");
        assert!(findings.len() == 1 && findings[0].contains(expected), "{item}: {findings:?}");
    }
}

struct Taker<'v> {
    value: Memory<Value>,
    view: View<'v>,
}

impl Receiver for Taker<'_> {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.value.decode(cursor, self.view)
    }
}

/// A value that names no type is a tree, which may be shared as well.
#[test]
fn shared_trees_survive_json() {
    let text = include_str!("../data/derived.wsdl").replace("d:Base[]", "xs:anyType[]");
    let text = text.replace("name=\"b\" type=\"xs:decimal\"", "name=\"b\" type=\"xs:anyType\"");
    let contract = Contract::from_text(&text).expect("a description");
    let operation = contract.operation("Echo").expect("an operation");
    let json = json!({ "list": [{ "$id": "1", "$content": [{ "$name": "z", "$content": ["1"] }] }, { "$ref": "1" }] });
    let value = operation.request_from_json(&json).expect("a request");
    assert_eq!(operation.request_to_json(&value).expect("JSON"), json);
}

/// Values that are read before they are referred to can be chained without nesting: code that walks
/// or drops them must not recurse as deep.
#[test]
fn chains_of_shared_values_of_any_length_are_validated_and_dropped() {
    const LENGTH: usize = 20_000;
    let handles: String = (0..LENGTH).rev().map(|id| format!("<i href='#v{id}'/>")).collect();
    let next = |id: usize| match id + 1 {
        LENGTH => "<next i:nil='1'/>".to_owned(),
        next => format!("<next href='#v{next}'/>"),
    };
    let vertices: String =
        (0..LENGTH).map(|id| format!("<m id='v{id}' i:type='t:Vertex'><name>{id}</name>{}</m>", next(id))).collect();
    let message = format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:t='urn:graph' \
         xmlns:i='http://www.w3.org/2001/XMLSchema-instance' xmlns:e='http://schemas.xmlsoap.org/soap/encoding/'>\
         <s:Body s:encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'><t:Echo><first><name>x</name><next i:nil='1'/>\
         <others e:arrayType='t:Vertex[{LENGTH}]'>{handles}</others></first><second i:nil='1'/></t:Echo>{vertices}</s:Body></s:Envelope>"
    );
    assert_eq!(contract().validate(message.as_bytes()), []);
}

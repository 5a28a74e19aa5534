//! Choices between groups of elements: read, written, as JSON, in samples, in compiled descriptions.

mod support;

use deltasoap_core::decode::value_from_slice;
use deltasoap_core::encode::Encoder;
use deltasoap_core::{Content, QName, Value};
use deltasoap_dynamic::Contract;
use deltasoap_wsdl::Importer;
use deltasoap_wsdl::fetch::Location;
use serde_json::{Value as Json, json};
use support::Codec;

const WSDL: &str = include_str!("../../deltasoap-codegen/tests/data/groups.wsdl");

fn contract() -> Contract {
    Contract::from_text(WSDL).expect("a description")
}

fn codec<'c>(contract: &'c Contract, local: &str) -> Codec<'c> {
    Codec::named(contract, QName::owned("urn:groups", local))
}

fn read(codec: &Codec<'_>, local: &str, content: &str) -> Result<Value, String> {
    let document = format!("<{local} xmlns='urn:groups'>{content}</{local}>");
    let name = QName::owned("urn:groups", local);
    value_from_slice(document.as_bytes(), &name, codec.view()).map_err(|error| error.to_string())
}

#[test]
fn each_branch_to_json_and_back() {
    let contract = contract();
    let codec = codec(&contract, "Ask");
    for (content, expected) in [
        ("<id>1</id><from>2026-01-02</from>", json!({ "id": 1, "from": "2026-01-02" })),
        (
            "<id>1</id><from>2026-01-02</from><days>3</days><hours>4</hours><note>n</note>",
            json!({ "id": 1, "from": "2026-01-02", "days": 3, "hours": 4, "note": "n" }),
        ),
        (
            "<id>1</id><from>2026-01-02</from><to>2026-01-03</to>",
            json!({ "id": 1, "from": "2026-01-02", "to": "2026-01-03" }),
        ),
        ("<id>1</id><number>1</number><number>2</number>", json!({ "id": 1, "number": [1, 2] })),
        ("<id>1</id><name>n</name><alias>a</alias>", json!({ "id": 1, "name": "n", "alias": ["a"] })),
        (
            "<id>1</id><name>n</name><key>k</key><value>v</value>",
            json!({ "id": 1, "name": "n", "key": "k", "value": "v" }),
        ),
        (
            "<id>1</id><name>n</name><value>v</value><unit>u</unit>",
            json!({ "id": 1, "name": "n", "{urn:groups}value": "v", "unit": "u" }),
        ),
    ] {
        let value = read(&codec, "Ask", content).unwrap_or_else(|error| panic!("{content}: {error}"));
        let json = codec.to_json(&value);
        assert_eq!(json, expected, "{content}");
        assert_eq!(codec.read_json(&json).expect("a value"), value, "{content}");
        let written = codec.write(&value);
        let name = QName::owned("urn:groups", "Ask");
        assert_eq!(value_from_slice(written.as_bytes(), &name, codec.view()).as_ref(), Ok(&value), "{written}");
    }
}

#[test]
fn other_than_one_branch_is_no_message() {
    let contract = contract();
    let answer = codec(&contract, "AskResponse");
    let leaf = "<Success><leaf>1</leaf></Success>";
    let of_both = "only one of <{urn:groups}Success> or <{urn:groups}Errors>";
    for (content, expected) in [
        (format!("{leaf}<Errors/>"), of_both),
        (String::new(), "one of <{urn:groups}Success> or <{urn:groups}Errors>"),
        ("<Warning/>".to_owned(), "<{urn:groups}Success>"),
        ("<Success><left><leaf>1</leaf></left></Success>".to_owned(), "<{urn:groups}right>"),
    ] {
        let error = read(&answer, "AskResponse", &content).expect_err(&content);
        assert!(error.contains(expected), "{content}: {error}");
    }
    let ask = codec(&contract, "Ask");
    let error = |json: Json| ask.read_json(&json).expect_err("no request").to_string();
    let both = error(json!({ "id": 1, "from": "2026-01-02", "number": [1] }));
    assert!(both.contains("one of the properties from, number, name") && both.contains("several of them"), "{both}");
    let none = error(json!({ "id": 1 }));
    assert!(none.contains("one of the properties from, number, name") && none.contains("none of them"), "{none}");
    let half = error(json!({ "id": 1, "number": [1], "key": "k" }));
    assert!(half.starts_with(".value:"), "{half}");
}

#[test]
fn a_value_of_two_branches_is_not_written() {
    let contract = contract();
    let codec = codec(&contract, "AskResponse");
    let mut value = read(&codec, "AskResponse", "<Errors>e</Errors>").expect("an answer");
    let other = read(&codec, "AskResponse", "<Success><leaf>1</leaf></Success>").expect("an answer");
    let (Value::Record(record), Value::Record(other)) = (&mut value, other) else { panic!("no records") };
    record.fields[0] = other.fields[0].clone();
    let mut encoder = Encoder::new();
    encoder.start(&QName::owned("urn:groups", "AskResponse"));
    value.encode(&mut encoder, codec.view());
    encoder.end();
    let error = encoder.finish().expect_err("two branches").to_string();
    assert!(error.contains("several branches"), "{error}");
}

/// What one branch takes by a wildcard is no element of another; and where the first element does not tell the branch, none is enforced.
#[test]
fn wildcards_and_branches_that_begin_alike() {
    let contract = support::schema(
        "<xs:element name='r'><xs:complexType><xs:choice><xs:sequence><xs:element name='a' type='xs:int'/>\
         <xs:any minOccurs='0' maxOccurs='unbounded' processContents='lax'/></xs:sequence><xs:element name='b' type='xs:int'/>\
         </xs:choice></xs:complexType></xs:element>\
         <xs:element name='s'><xs:complexType><xs:choice>\
         <xs:sequence><xs:element name='a' type='xs:int'/><xs:element name='b' type='xs:int'/></xs:sequence>\
         <xs:sequence><xs:element name='a' type='xs:int'/><xs:element name='c' type='xs:int'/></xs:sequence>\
         </xs:choice></xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    for content in ["<a>1</a><b>2</b><c/>", "<a>1</a>", "<b>2</b>"] {
        let value = codec.read(content);
        support::assert_same(&codec.read_json(&codec.to_json(&value)).expect("a value"), &value, content);
    }
    let codec = Codec::of_element(&contract, "s");
    for content in ["<a>1</a><b>2</b>", "<a>1</a><c>2</c>"] {
        codec.read(content);
    }
}

/// What a template shows and what a mock answers is one branch, and valid.
#[test]
fn samples_have_one_branch() {
    let contract = contract();
    let ask = contract.operation("Ask").expect("an operation");
    let sample = ask.request_to_json(&ask.request_sample().expect("a sample")).expect("JSON");
    let expected = json!({
        "id": 1, "from": "2026-01-02", "days": 1, "hours": 1, "key": "text", "value": "text", "note": "text",
    });
    assert_eq!(sample, expected);
    for seed in 1..200 {
        for (local, value) in [("Ask", ask.random_request(seed)), ("AskResponse", ask.random_response(seed))] {
            let Some(value) = value else { continue };
            let codec = codec(&contract, local);
            let written = codec.write(&value);
            let again: Value = value_from_slice(written.as_bytes(), &QName::owned("urn:groups", local), codec.view())
                .unwrap_or_else(|error| panic!("{written}: {error}"));
            assert_eq!(codec.read_json(&codec.to_json(&again)).as_ref(), Ok(&again), "{written}");
        }
    }
}

#[test]
fn compiled_descriptions_have_the_same_choices() {
    let import = Importer::new().text(WSDL).expect("a description");
    let again = Importer::new().bytes(Location::Text("a file".to_owned()), import.compile());
    let contract = Contract::from(again.expect("a compiled description"));
    let codec = codec(&contract, "AskResponse");
    assert!(read(&codec, "AskResponse", "<Errors/>").is_ok());
    assert!(read(&codec, "AskResponse", "").is_err());
}

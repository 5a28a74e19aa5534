//! Samples of real descriptions: they are written, read, and taken to JSON and back without loss.

mod support;

use deltasoap_core::decode::value_from_slice;
use deltasoap_core::encode::Encoder;
use deltasoap_core::schema::ElementRef;
use deltasoap_core::{Content, QName, Value};
use deltasoap_dynamic::{Contract, Operation};
use deltasoap_wsdl::Importer;
use proptest::prelude::*;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use support::shop;

#[test]
fn a_template_shows_everything() {
    let contract = shop();
    let order = contract.operation("Order").expect("an operation");
    let json = order.request_to_json(&order.request_sample().expect("a sample")).expect("JSON");
    let expected = json!({
        "@urgent": true,
        "customer": "text",
        "item": [{
            "@id": "name", "code": "A-1", "count": 1, "price": { "@currency": "EUR", "$": 1 }, "remark": "text",
        }],
        "pickup": "2026-01-02",
        "payment": { "$type": "Card", "limit": 1, "number": "text", "until": "2026-01" },
        "note": { "$content": ["text"] },
        "$choice": [{ "gift": "text" }],
        "extra": { "$content": ["text"] },
    });
    assert_eq!(json, expected);
    let catalogue = contract.operation("Catalogue").expect("an operation");
    let json = catalogue.response_to_json(&catalogue.response_sample().expect("a sample")).expect("JSON");
    assert_eq!(json, json!({ "root": { "name": "text" }, "weight": [1.0] }));
}

/// The request of an operation whose body is the element `Op` of a schema with this in it.
fn request_of(schema: &str) -> String {
    let text = format!(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/' \
         xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'><types>\
         <xs:schema targetNamespace='urn:t' elementFormDefault='qualified'>{schema}</xs:schema></types>\
         <message name='I'><part name='p' element='t:Op'/></message>\
         <portType name='P'><operation name='Op'><input message='t:I'/></operation></portType>\
         <binding name='B' type='t:P'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='Op'>\
         <soap:operation soapAction=''/><input><soap:body use='literal'/></input></operation></binding></definitions>"
    );
    let contract = Contract::from_text(&text).expect("a description");
    let operation = contract.operation("Op").expect("an operation");
    let (name, content) = operation.request().expect("a request");
    let value = operation.request_sample().expect("a sample");
    let mut encoder = Encoder::new();
    encoder.start(name);
    value.encode(&mut encoder, contract.view(content));
    encoder.end();
    let written = encoder.finish().expect("a message");
    assert_eq!(contract.validate(written.as_slice()), []);
    String::from_utf8_lossy(written.as_slice()).into_owned()
}

/// Checks the request's `Op`: its attributes, and what is in it.
fn check_request(schema: &str, expected: &str) {
    let request = request_of(schema);
    let request = request.replace("<ns:", "<").replace("</ns:", "</").replace(" xmlns:ns=\"urn:t\"", "");
    let request = request.replace(" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"", "");
    assert_eq!(request, expected, "{schema}");
}

#[test]
fn fixed_values_stand_in_samples() {
    check_request(
        "<xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='a' type='xs:string' fixed='yes'/>\
         <xs:element name='n' type='xs:int' default='5'/></xs:sequence>\
         <xs:attribute name='v' type='xs:string' use='required' fixed='3'/></xs:complexType></xs:element>",
        "<Op v=\"3\"><a>yes</a><n>1</n></Op>",
    );
}

#[test]
fn mixed_content_has_its_attributes_and_children() {
    check_request(
        "<xs:element name='Op'><xs:complexType mixed='true'><xs:sequence><xs:element name='req' type='xs:int'/></xs:sequence>\
         <xs:attribute name='q' type='xs:int' use='required'/></xs:complexType></xs:element>",
        "<Op q=\"1\">text<req>1</req></Op>",
    );
}

#[test]
fn wildcards_that_must_be_filled_are_with_what_they_let_in() {
    let any = |attributes: &str| {
        format!(
            "<xs:element name='Op'><xs:complexType><xs:sequence><xs:any {attributes}/></xs:sequence></xs:complexType>\
             </xs:element><xs:element name='known' type='xs:int'/>"
        )
    };
    for (attributes, expected) in [
        (
            "namespace='urn:only:this' processContents='lax'",
            "<Op><ns2:any xmlns:ns2=\"urn:only:this\">text</ns2:any></Op>",
        ),
        ("namespace='##local' processContents='skip'", "<Op><any>text</any></Op>"),
        ("namespace='##targetNamespace'", "<Op><known>1</known></Op>"),
        ("", "<Op><known>1</known></Op>"),
        ("processContents='lax'", "<Op><ns2:any xmlns:ns2=\"urn:example:any\">text</ns2:any></Op>"),
    ] {
        check_request(&any(attributes), expected);
    }
}

#[test]
fn abstract_types_have_samples_of_derived_ones_that_are_not_blocked() {
    let schema = |block: &str| {
        format!(
            "<xs:complexType name='car' abstract='true'><xs:sequence><xs:element name='n' type='xs:string'/></xs:sequence>\
             </xs:complexType><xs:complexType name='ford'><xs:complexContent><xs:extension base='t:car'><xs:sequence/>\
             </xs:extension></xs:complexContent></xs:complexType><xs:complexType name='kit'><xs:complexContent>\
             <xs:restriction base='t:car'><xs:sequence><xs:element name='n' type='xs:string'/></xs:sequence>\
             <xs:attribute name='q' type='xs:int' use='required'/></xs:restriction></xs:complexContent></xs:complexType>\
             <xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='c' type='t:car' {block}/></xs:sequence>\
             </xs:complexType></xs:element>"
        )
    };
    let typed = |name: &str, attributes: &str| {
        format!("<Op><c xmlns:t1=\"urn:t\" xsi:type=\"t1:{name}\"{attributes}><t1:n>text</t1:n></c></Op>")
    };
    check_request(&schema(""), &typed("ford", ""));
    check_request(&schema("block='extension'"), &typed("kit", " q=\"1\""));
}

#[test]
fn abstract_elements_that_nothing_stands_for_are_left_out() {
    check_request(
        "<xs:element name='none' abstract='true' type='xs:int'/><xs:element name='Op'><xs:complexType><xs:sequence>\
         <xs:element ref='t:none' minOccurs='0'/><xs:element name='a' type='xs:int'/></xs:sequence></xs:complexType></xs:element>",
        "<Op><a>1</a></Op>",
    );
}

#[test]
fn names_and_ids_are_right_where_they_stand() {
    check_request(
        "<xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='i' type='xs:ID' minOccurs='2' maxOccurs='2'/>\
         <xs:element name='q'><xs:simpleType><xs:restriction base='xs:QName'><xs:enumeration value='t:one'/></xs:restriction>\
         </xs:simpleType></xs:element></xs:sequence></xs:complexType></xs:element>",
        "<Op><i>name</i><i>name2</i><q>ns:one</q></Op>",
    );
}

/// The descriptions of the test data, and more where the environment names a directory.
fn contracts() -> Vec<(PathBuf, Contract)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wsdl");
    let folder = std::env::var_os("DELTASOAP_WSDL_CORPUS").map_or(folder, PathBuf::from);
    let (mut found, mut ahead) = (Vec::new(), vec![folder.clone()]);
    while let Some(next) = ahead.pop() {
        for path in next.read_dir().expect("a directory").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                ahead.push(path);
            } else if path.extension().is_some_and(|it| it == "wsdl")
                && let Ok(import) = Importer::new().offline().root(&folder).file(&path)
            {
                found.push((path, Contract::from(import)));
            }
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

/// Writes a value, reads it, takes it to JSON and back; all must be the same.
fn check(operation: &Operation, name: &QName, content: ElementRef, value: &Value) -> Result<(), String> {
    let contract = operation.contract();
    // Parts that stand in the body by themselves need something around them here.
    let around = QName::new("", "parts");
    let name = if name.local.is_empty() { &around } else { name };
    let view = contract.view(content);
    let mut encoder = Encoder::new();
    encoder.start(name);
    value.encode(&mut encoder, view);
    encoder.end();
    let written = encoder.finish().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(written.as_slice()).into_owned();
    let read = value_from_slice(written.as_slice(), name, view).map_err(|error| format!("{error}\n{text}"))?;
    let json = contract.to_json(name, content, &read).map_err(|error| error.to_string())?;
    let parsed = serde_json::from_str(&json.to_string()).map_err(|error| error.to_string())?;
    let again = contract.from_json(name, content, &parsed).map_err(|error| format!("{error}\n{json:#}"))?;
    match support::is_same(&again, &read) {
        true => Ok(()),
        false => Err(format!("not the same\n{text}\n{json:#}")),
    }
}

/// What is wrong with the messages of an operation.
fn check_operation(path: &Path, operation: &Operation, seed: Option<u64>) -> Result<(), String> {
    let request = seed.map_or_else(|| operation.request_sample(), |seed| operation.random_request(seed));
    let response = seed.map_or_else(|| operation.response_sample(), |seed| operation.random_response(seed));
    for (body, value) in [(operation.request(), request), (operation.response(), response)] {
        let (Some((name, content)), Some(value)) = (body, value) else { continue };
        let result = check(operation, name, content, &value);
        // Types that require themselves have no sample, and elements with a colon in their name none that can be read.
        let is_known = |error: &String| {
            seed.is_none() && error.contains("missing") || error.contains("undeclared namespace prefix")
        };
        if let Err(error) = result
            && !is_known(&error)
        {
            return Err(format!("{} {}: {error}", path.display(), operation.full_name()));
        }
    }
    Ok(())
}

static CONTRACTS: LazyLock<Vec<(PathBuf, Contract)>> = LazyLock::new(contracts);

#[test]
fn samples_are_messages_and_json_keeps_all_of_them() {
    assert!(CONTRACTS.len() > 50);
    let check = |(path, contract): &(PathBuf, Contract)| {
        contract
            .operations()
            .iter()
            .filter_map(|operation| check_operation(path, operation, None).err())
            .collect::<Vec<_>>()
    };
    let wrong: Vec<_> = CONTRACTS.iter().flat_map(check).collect();
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Values by chance, of operations by chance.
    #[test]
    fn json_keeps_all_of_any_value(which: prop::sample::Index, operation: prop::sample::Index, seed: u64) {
        let (path, contract) = which.get(&CONTRACTS);
        let operations = contract.operations();
        if !operations.is_empty() {
            let result = check_operation(path, operation.get(&operations), Some(seed));
            prop_assert!(result.is_ok(), "{result:?}");
        }
    }
}

//! Packed numbers: columns and arrays of JSON for elements that an annotation of the WSDL declares
//! as packed.

use crate::support::Codec;
use deltasoap_core::{Column, QName, Value};
use deltasoap_dynamic::describe::Component;
use deltasoap_dynamic::{Contract, DynamicClient, Mock, Operation};
use deltasoap_http::{CallOptions, Mtom};
use serde_json::{Value as Json, json};

fn series() -> Contract {
    Contract::from_text(include_str!("../../../deltasoap-codegen/tests/data/packed.wsdl")).expect("a description")
}

fn scale() -> Operation {
    series().operation("Scale").expect("an operation")
}

fn full() -> Json {
    json!({
        "factor": 2.0,
        "values": [1.0, -3.0, "NaN", "INF"],
        "few": [0.5],
        "counts": [1, 2, -1_000_000],
        "row": [[1.0, 2.0], [], [5.0]],
        "track": { "@unit": "m", "@digest": "AAAAAAAAAAA=", "$": [0.25] },
        "plain": "AQID",
    })
}

#[test]
fn values_are_columns_and_json_is_arrays() {
    let operation = scale();
    let value = operation.request_from_json(&full()).expect("a request");
    let (_, content) = operation.request().expect("a request");
    let field = |name| value.field(operation.view(content), name).expect("a field");
    assert_eq!(*field("counts"), Value::Packed(Column::Int(vec![1, 2, -1_000_000])));
    let Value::Packed(Column::Double(values)) = field("values") else { panic!("{value:?}") };
    assert!(values[..2] == [1.0, -3.0] && values[2].is_nan() && values[3] == f64::INFINITY);
    assert_eq!(operation.request_to_json(&value).expect("JSON"), full());
}

#[test]
fn json_that_is_no_array_of_such_numbers_is_refused() {
    for (name, wrong, expected) in [
        ("values", json!("AAAAAAAA8D8="), "values: expected an array of xsd:double, found "),
        ("values", json!([1.0, "x"]), "values[1]: expected a number of xsd:double"),
        ("counts", json!([1, 2.5]), "counts[1]: expected a number of xsd:int"),
        ("counts", json!([3_000_000_000_u64]), "counts[0]: expected a number of xsd:int"),
    ] {
        let mut json = full();
        json[name] = wrong;
        let error = scale().request_from_json(&json).expect_err("not such an array").to_string();
        assert!(error.contains(expected), "{error}");
    }
}

fn body(values: &str, counts: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><Scale xmlns='urn:series'><factor>1</factor>\
         <values>{values}</values><counts>{counts}</counts></Scale></s:Body></s:Envelope>"
    )
}

#[test]
fn validation_finds_numbers_that_are_cut() {
    let found = |text: &str| {
        series()
            .validate(text.as_bytes())
            .into_iter()
            .map(|it| format!("{}: {}", it.path, it.message))
            .collect::<Vec<_>>()
    };
    assert_eq!(found(&body("AAAAAAAA8D8=", "AAAAAQ==")), [""; 0]);
    let wrong = found(&body("AAAA8D8=", "AAAAAQ=="));
    assert!(
        matches!(&wrong[..], [one] if one.contains("/values: 5 bytes, which are not a whole number of xsd:double, of 8 each")),
        "{wrong:?}"
    );
}

#[test]
fn samples_and_descriptions_know_the_packing() {
    let contract = series();
    let sample = scale().request_sample().expect("a sample");
    let codec = Codec::named(&contract, QName::new("urn:series", "Scale"));
    let text = codec.write(&sample);
    assert_eq!(contract.validate(text.as_bytes()).len(), 0, "{text}");
    let json = scale().request_to_json(&sample).expect("JSON");
    assert_eq!((&json["values"], &json["counts"]), (&json!([0.0]), &json!([0, 0])));
    let shown: String = contract.describe("Scale").iter().map(Component::to_text).collect();
    for packing in ["packed xsd:double, little-endian", "packed xsd:int, big-endian"] {
        assert!(shown.contains(packing), "{shown}");
    }
}

/// Numbers come back as they were sent, inline and in parts, also if a message is read and written
/// against the previous one.
#[tokio::test]
async fn numbers_are_called_with_and_answered() {
    let mock = || {
        let mock = Mock::new(series());
        let mock = mock.answer("Scale", &json!({ "values": vec![0.5; 1000], "total": 7 })).expect("a response");
        mock.service().expect("a service")
    };
    for mtom in [Mtom::Off, Mtom::On] {
        let client = DynamicClient::with_transport(series(), mock());
        for len in [2, 2000, 2000, 1999] {
            let mut request = full();
            request["values"] = json!((0..len).map(f64::from).collect::<Vec<_>>());
            let call = client.prepare("Scale").expect("an operation").options(CallOptions::new().mtom(mtom));
            let reply = call.send_json(&request).await.expect("a response").expect("a response");
            let json = reply.to_json().expect("JSON");
            assert_eq!(json, json!({ "values": vec![0.5; 1000], "total": 7 }), "{mtom:?}");
        }
    }
}

//! OpenAPI documents: every reference leads somewhere, and what is read and written matches them.

use crate::{get, plain, shop};
use deltasoap_dynamic::Contract;
use deltasoap_dynamic::json::JsonSchemas;
use deltasoap_gateway::Gateway;
use deltasoap_wsdl::Importer;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// Maximum number of operations of one WSDL that are sampled.
const OPERATIONS: usize = 40;
/// Random messages of each operation.
const RANDOM: u64 = 8;

#[tokio::test]
async fn the_document_describes_the_operations() {
    let document = get(&plain(), "/openapi.json").await.json();
    assert_eq!((&document["openapi"], &document["info"]["title"]), (&json!("3.1.0"), &json!("Shop")));
    let order = &document["paths"]["/operations/Order"]["post"];
    assert_eq!(order["description"], "Orders articles.");
    assert_eq!(order["parameters"][0]["name"], "soap-header-session");
    assert_eq!(
        order["responses"]["200"]["content"]["application/json"]["schema"]["$ref"],
        "#/components/schemas/OrderResponse"
    );
    let detail = &order["responses"]["500"]["content"]["application/problem+json"]["schema"]["allOf"][1];
    assert!(detail.to_string().contains("SoldOut"), "{detail}");
    assert!(document["paths"]["/operations/Ping"]["post"]["responses"]["202"].is_object());
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["Currency"], json!({ "type": "string", "enum": ["EUR", "CHF"] }));
    assert_eq!(schemas["Count"], json!({ "type": "integer", "format": "int32", "minimum": 1, "maximum": 1000 }));
    let code = json!({
        "type": "string", "maxLength": 12, "pattern": r"^(?:[A-Z]{1,3}-\d+)$",
        "description": "Code of an article, as on its label."
    });
    assert_eq!(schemas["Code"], code);
    let order = &schemas["Order"];
    assert_eq!(order["required"], json!(["customer", "item"]));
    let (pickup, address) = (json!({ "required": ["pickup"] }), json!({ "required": ["address"] }));
    let choice = json!([{ "oneOf": [pickup, address, { "not": { "anyOf": [pickup, address] } }] }]);
    assert_eq!(order["allOf"], choice);
    let remark = &schemas["Item"]["properties"]["remark"];
    assert_eq!(*remark, json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }));
}

#[tokio::test]
async fn forms_are_described_for_messages_with_bytes() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/wsdl/bench.wsdl");
    let contract = Contract::from(Importer::new().offline().trust_tree().import(root).expect("a WSDL"));
    let document = get(&Gateway::of(contract).expect("a gateway"), "/openapi.json").await.json();
    for (operation, expected) in [
        ("echoAttachment", (true, true)),
        ("sendBase64", (true, false)),
        ("echoStruct", (false, false)),
        ("echoInts", (false, false)),
    ] {
        let described = &document["paths"][format!("/operations/{operation}")]["post"];
        let form = &described["requestBody"]["content"]["multipart/form-data"];
        let parts = &described["responses"]["200"]["content"]["multipart/mixed"];
        assert_eq!((form.is_object(), parts.is_object()), expected, "{operation}");
    }
    let lines = &document["paths"]["/operations/echoInts"]["post"]["responses"]["200"];
    assert!(lines["description"].as_str().expect("text").contains("the items of item"), "{lines}");
}

/// Generators of clients cannot join schemas in a union, and some not even have `$type` beside
/// `type`.
#[test]
fn types_that_messages_choose_have_schemas_of_their_own() {
    let wsdl = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/interop/vcsim/vim.wsdl");
    let contract = Contract::from(Importer::new().offline().import(wsdl).expect("a WSDL"));
    let mut schemas = JsonSchemas::new(&contract, "#/$defs/");
    schemas.request(&contract.operation("RetrievePropertiesEx").expect("an operation")).expect("a schema");
    let definitions = schemas.finish();
    let all = &definitions["AnySelectionSpec"]["anyOf"];
    let names: Vec<_> =
        all.as_array().expect("a union").iter().map(|it| it["$ref"].as_str().expect("a name")).collect();
    let expected = ["TypedSelectionSpec", "TypedTraversalSpec", "SelectionSpec", "XmlTree"];
    assert_eq!(names, expected.map(|name| format!("#/$defs/{name}")));
    assert_eq!(definitions["TypedSelectionSpec"]["properties"]["$type"], json!({ "const": "SelectionSpec" }));
    for name in ["SelectionSpec", "ManagedObjectReference", "TypedTraversalSpec"] {
        assert_eq!(definitions[name]["properties"].get("$type"), None, "{name}");
    }
    let whole = json!({ "$ref": "#/$defs/AnySelectionSpec", "$defs": definitions });
    let validator = jsonschema::validator_for(&whole).expect("a schema");
    for (is_valid, step) in [
        (true, json!({ "$type": "TraversalSpec", "type": "Folder", "path": "view" })),
        (true, json!({ "$type": "SelectionSpec", "name": "a" })),
        (true, json!({ "name": "a" })),
        (false, json!({ "type": "Folder", "path": "view" })),
        (false, json!({ "$type": "SelectionSpec", "type": "Folder", "path": "view" })),
        (false, json!({ "$type": "TraversalSpec", "type": "Folder" })),
        (false, json!({ "$type": "TraversalSpec", "type": "Folder", "path": "view", "more": 1 })),
    ] {
        assert_eq!(validator.is_valid(&step), is_valid, "{step}");
    }
}

#[tokio::test]
async fn the_document_has_routes() {
    let gateway = crate::gateway(
        "[[service]]\nwsdl = \"s\"\n[[service.route]]\npath = \"/o/{customer}?code\"\noperation = \"Order\"\n\
         parameters = { code = \"item/0/code\" }\n",
    );
    let document = get(&gateway, "/openapi.json").await.json();
    let route = &document["paths"]["/o/{customer}"]["get"];
    assert_eq!((&route["parameters"][0]["in"], &route["parameters"][1]["name"]), (&json!("path"), &json!("code")));
    assert_eq!(route["parameters"][1]["schema"]["$ref"], "#/components/schemas/Code");
    check_references(&document);
}

/// Asserts that every reference of a document leads somewhere.
fn check_references(document: &Json) {
    let mut ahead = vec![document];
    while let Some(json) = ahead.pop() {
        match json {
            Json::Array(items) => ahead.extend(items),
            Json::Object(object) => {
                if let Some(Json::String(reference)) = object.get("$ref") {
                    let pointer = reference.strip_prefix('#').expect("a reference within the document");
                    assert!(document.pointer(pointer).is_some(), "{reference}");
                }
                ahead.extend(object.values());
            }
            _ => {}
        }
    }
}

/// Returns the WSDLs of the test data, and of another folder.
pub(crate) fn wsdls(more: Option<&Path>) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("testdata/wsdl"), root.join("crates/deltasoap-dynamic/tests/data")];
    folders.extend(more.map(Path::to_owned));
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "wsdl" => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// The messages of a contract, and their schemas.
fn check_messages(contract: &Contract, name: &str) -> usize {
    let mut schemas = JsonSchemas::new(contract, "#/$defs/");
    let mut messages = Vec::new();
    for operation in contract.operations().into_iter().filter(|it| it.method().is_ok()).take(OPERATIONS) {
        let request = schemas.request(&operation).expect("a request");
        let mut values: Vec<_> = operation.request_sample().into_iter().collect();
        values.extend((1..=RANDOM).filter_map(|seed| operation.random_request(seed)));
        let values: Vec<_> = values.iter().map(|it| operation.request_to_json(it).expect("JSON")).collect();
        messages.push((operation.full_name(), request, values));
        if let (Some(response), Some(value)) = (schemas.response(&operation), operation.response_sample()) {
            let json = operation.response_to_json(&value).expect("JSON");
            messages.push((operation.full_name(), response, vec![json]));
        }
    }
    let definitions = Json::Object(schemas.finish());
    let mut checked = 0;
    for (operation, schema, values) in messages {
        let whole = json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "allOf": [schema], "$defs": definitions });
        check_references(&whole);
        let validator = jsonschema::validator_for(&whole).unwrap_or_else(|error| panic!("{name}: {error}"));
        for value in values {
            let errors: Vec<_> = validator
                .iter_errors(&value)
                .take(3)
                .map(|error| format!("{error} at {} by {}", error.instance_path(), error.schema_path()))
                .collect();
            assert!(errors.is_empty(), "{name}: {operation}: {errors:#?}\n{value}\n");
            checked += 1;
        }
    }
    checked
}

#[test]
fn samples_match_their_schemas() {
    let mut checked = 0;
    for path in wsdls(None) {
        let Ok(import) = Importer::new().offline().trust_tree().import(&path.to_string_lossy()) else { continue };
        checked += check_messages(&Contract::from(import), &path.display().to_string());
    }
    assert!(checked > 1000, "{checked} messages");
}

#[test]
fn messages_that_the_reader_refuses_do_not_match() {
    let contract = shop();
    let mut schemas = JsonSchemas::new(&contract, "#/$defs/");
    let order = contract.operation("Order").expect("an operation");
    let schema = schemas.request(&order).expect("a schema");
    let validator =
        jsonschema::validator_for(&json!({ "allOf": [schema], "$defs": schemas.finish() })).expect("a schema");
    let good = json!({ "customer": "A", "item": [{ "code": "A-1", "count": 2 }] });
    assert!(validator.is_valid(&good));
    for (key, value) in [
        ("item", json!([])),
        ("item", json!([{ "code": "A-1", "count": "two" }])),
        ("item", json!([{ "code": "A-1" }])),
        ("other", json!(1)),
        ("urgent", json!(true)),
        ("@urgent", json!("maybe")),
        ("$choice", json!([{ "gift": "a", "coupon": 1 }])),
        ("$choice", json!([{}])),
        ("payment", json!({ "$type": "Card" })),
    ] {
        let mut wrong = good.clone();
        wrong[key] = value;
        let is_read = order.request_from_json(&wrong).is_ok();
        assert!(!is_read && !validator.is_valid(&wrong), "{wrong}");
    }
    let mut both = good.clone();
    both["pickup"] = json!("2026-01-02");
    assert!(validator.is_valid(&both));
    both["address"] = json!("there");
    assert!(!validator.is_valid(&both) && order.request_from_json(&both).is_err());
}

//! Samples of real WSDLs as rows, and the messages of a shop.

use crate::oracle;
use arrow_array::Array as _;
use arrow_array::cast::AsArray as _;
use deltasoap_arrow::{Flattener, MessageSchema, Misfit, NoParts};
use deltasoap_core::schema::ElementRef;
use deltasoap_core::{QName, Value};
use deltasoap_dynamic::{Contract, Operation};
use deltasoap_test_support::files;
use serde_json::{Value as Json, json};

/// One side of an operation, and its samples.
struct Message<'o> {
    name: &'o QName,
    content: ElementRef,
    samples: Vec<(Value, Json)>,
}

fn messages(operation: &Operation, seeds: u64) -> Vec<Message<'_>> {
    let requests = || {
        let samples = (0..seeds).filter_map(|seed| operation.random_request(seed)).chain(operation.request_sample());
        samples.filter_map(|it| Some((operation.request_to_json(&it).ok()?, it))).map(|(json, it)| (it, json)).collect()
    };
    let responses = || {
        let samples = (0..seeds).filter_map(|seed| operation.random_response(seed)).chain(operation.response_sample());
        samples
            .filter_map(|it| Some((operation.response_to_json(&it).ok()?, it)))
            .map(|(json, it)| (it, json))
            .collect()
    };
    let request = operation.request().map(|(name, content)| Message { name, content, samples: requests() });
    let response = operation.response().map(|(name, content)| Message { name, content, samples: responses() });
    request.into_iter().chain(response).collect()
}

/// Counts what was compared.
#[derive(Debug, Default)]
struct Compared {
    rows: usize,
    leaves: usize,
    refused: usize,
}

impl Compared {
    fn message(&mut self, contract: &Contract, message: &Message<'_>) {
        let schema = MessageSchema::of(contract, message.name, message.content);
        let mut builder = schema.builder();
        let mut kept = Vec::new();
        for (value, json) in &message.samples {
            match builder.append(value, &NoParts) {
                Ok(()) => kept.push(json),
                Err(error) => {
                    assert!(matches!(error.reason, Misfit::Range { .. }), "{}: {error}", message.name);
                    self.refused += 1;
                }
            }
        }
        let batch = builder.finish().expect("a batch");
        assert_eq!(batch.num_rows(), kept.len(), "{}", message.name);
        for (row, json) in kept.into_iter().enumerate() {
            let leaves = oracle::compare(json, &batch, row);
            self.leaves += leaves.unwrap_or_else(|error| panic!("{}: {error}\n{json:#}", message.name));
            self.rows += 1;
        }
        let flattener = Flattener::new(schema.arrow());
        let ids: Vec<i64> = (0..batch.num_rows() as i64).collect();
        let tables = flattener.flatten(&batch, &ids, &mut vec![0; flattener.tables().len()]).expect("tables");
        let items = |list: &arrow_array::ListArray| list.values().len();
        let lists = batch.columns().iter().filter_map(|column| column.as_list_opt::<i32>()).map(items);
        // The lists directly in the message, and those within them.
        assert!(tables.iter().skip(1).map(arrow_array::RecordBatch::num_rows).sum::<usize>() >= lists.sum());
    }
}

#[test]
fn samples_of_real_descriptions_are_rows_with_the_values_of_their_json() {
    let folder = files::in_repository("testdata/wsdl");
    let mut compared = Compared::default();
    for path in files::below(&folder, &["wsdl"]) {
        let Ok(contract) = Contract::import(&path.to_string_lossy()) else { continue };
        for operation in contract.operations().iter().take(40) {
            for message in messages(operation, 8) {
                compared.message(&contract, &message);
            }
        }
    }
    assert!(compared.rows > 5000 && compared.leaves > 10_000, "{compared:?}");
    assert!(compared.refused * 20 < compared.rows, "{compared:?}");
}

fn shop() -> Contract {
    Contract::from_text(include_str!("../data/shop.wsdl")).expect("a description")
}

#[test]
fn a_message_at_fault_adds_no_row() {
    let contract = shop();
    let operation = contract.operation("Order").expect("an operation");
    let (name, content) = operation.request().expect("a request");
    let mut builder = MessageSchema::of(&contract, name, content).builder();
    let order = |customer: &str, pickup: &str| {
        let json = json!({ "customer": customer, "item": [{ "code": "A-1", "count": 1 }], "pickup": pickup });
        operation.request_from_json(&json).expect("a request")
    };
    builder.append(&order("Ada", "2026-01-02"), &NoParts).expect("a row");
    let error = builder.append(&order("Bob", "12026-01-02"), &NoParts).expect_err("a year that no date can have");
    assert_eq!(error.to_string(), ".pickup: 12026-01-02 does not fit into a column of dates");
    builder.append(&order("Eve", "2026-01-03"), &NoParts).expect("a row");
    let batch = builder.finish().expect("a batch");
    assert_eq!(batch.num_rows(), 2);
    for (row, (customer, pickup)) in [("Ada", "2026-01-02"), ("Eve", "2026-01-03")].into_iter().enumerate() {
        let json = operation.request_to_json(&order(customer, pickup)).expect("JSON");
        oracle::compare(&json, &batch, row).expect("the same values");
    }
}

#[test]
fn columns_are_what_the_documentation_says() {
    let contract = shop();
    let operation = contract.operation("Order").expect("an operation");
    let (name, content) = operation.request().expect("a request");
    let schema = MessageSchema::of(&contract, name, content);
    let columns: Vec<_> =
        schema.arrow().fields().iter().map(|it| (it.name().as_str(), it.data_type().to_string())).collect();
    let of =
        |name: &str| columns.iter().find(|(known, _)| *known == name).map(|(_, it)| it.as_str()).unwrap_or_default();
    assert_eq!((of("@urgent"), of("customer"), of("pickup"), of("note")), ("Boolean", "Utf8", "Date32", "Utf8"));
    assert!(of("item").starts_with("List(Struct(") && of("$choice").starts_with("List(Struct("), "{columns:?}");
    assert!(of("payment").contains("$type") && of("payment").contains("$json"), "{columns:?}");
    let catalogue = contract.operation("Catalogue").expect("an operation");
    let (name, content) = catalogue.response().expect("a response");
    let schema = MessageSchema::of(&contract, name, content);
    // A category within a category is JSON.
    assert!(schema.arrow().field_with_name("root").expect("a column").data_type().to_string().contains("List(Utf8"));
}

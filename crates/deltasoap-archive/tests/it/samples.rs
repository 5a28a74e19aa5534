//! Samples of real WSDLs, as messages in JSON lines, in Parquet and back.

use crate::oracle;
use crate::streams::{json_of_message, tables};
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use deltasoap_archive::{Archive, Options, Sources};
use deltasoap_core::schema::ElementRef;
use deltasoap_core::soap::Envelope;
use deltasoap_core::{Buffer, QName, Value};
use deltasoap_dynamic::{Contract, Operation};
use deltasoap_test_support::files;
use serde_json::json;
use std::fs;
use std::path::Path;

/// A message, and what it is.
struct Sample {
    text: String,
    content: ElementRef,
    operation: String,
    direction: &'static str,
}

/// Returns the sides of an operation with a random value of each.
fn samples(operation: &Operation, seed: u64) -> Vec<Sample> {
    let written = |direction, body: Option<(&QName, ElementRef)>, value: Option<Value>| {
        let (name, content) = body.filter(|(name, _)| !name.local.is_empty())?;
        let value = value?;
        let written = Envelope::element(name, &value, operation.view(content)).write(Buffer::new()).ok()?;
        let text = String::from_utf8(written.as_slice().to_vec()).ok()?;
        Some(Sample { text, content, operation: operation.distinct_name(), direction })
    };
    let request = written("request", operation.request(), operation.random_request(seed));
    let response = written("response", operation.response(), operation.random_response(seed));
    request.into_iter().chain(response).collect()
}

/// Compares the tables of one contract; returns the numbers of rows and of leaves.
fn check(contract: &Contract, folder: &Path) -> (usize, usize) {
    let all: Vec<_> = contract.operations();
    let samples: Vec<_> = all.iter().take(8).flat_map(|it| (0..3).flat_map(|seed| samples(it, seed))).collect();
    let lines = samples
        .iter()
        .map(|it| json!({ "body": it.text, "operation": it.operation, "direction": it.direction }).to_string());
    let captures = folder.join("log.jsonl");
    fs::write(&captures, lines.collect::<Vec<_>>().join("\n")).expect("a file");
    let root = folder.join("tables");
    let options = Options { is_nested: true, ..Options::default() };
    let archive = Archive::open(&root, contract, Sources::find(&[captures]), options).expect("an archive");
    archive.run(&mut |_| {}).expect("tables");
    let (mut rows, mut leaves) = (0, 0);
    for (name, batches) in tables(&root) {
        if !name.ends_with(".request") && !name.ends_with(".response") {
            continue;
        }
        for batch in batches {
            let ids = batch.column(0).as_primitive::<Int64Type>().clone();
            let message = batch.project(&(1..batch.num_columns()).collect::<Vec<_>>()).expect("columns");
            for row in 0..message.num_rows() {
                let sample = &samples[ids.value(row) as usize];
                let json = json_of_message(contract, Some(sample.content), sample.text.as_bytes()).expect("a message");
                leaves +=
                    oracle::compare(&json, &message, row).unwrap_or_else(|error| panic!("{name}: {error}\n{json:#}"));
                rows += 1;
            }
        }
    }
    (rows, leaves)
}

#[test]
fn tables_of_real_descriptions_hold_their_samples() {
    let (mut rows, mut leaves) = (0, 0);
    for path in files::below(&files::in_repository("testdata/wsdl"), &["wsdl"]).into_iter().step_by(3) {
        let Ok(contract) = Contract::import(&path.to_string_lossy()) else { continue };
        let folder = tempfile::tempdir().expect("a directory");
        let (of_rows, of_leaves) = check(&contract, folder.path());
        (rows, leaves) = (rows + of_rows, leaves + of_leaves);
    }
    assert!(rows > 300 && leaves > 1000, "{rows} rows, {leaves} leaves");
}

#[test]
fn tables_of_a_shop_hold_its_samples() {
    let contract =
        Contract::from_text(include_str!("../../../deltasoap-dynamic/tests/data/shop.wsdl")).expect("a description");
    let folder = tempfile::tempdir().expect("a directory");
    let (rows, leaves) = check(&contract, folder.path());
    assert!(rows >= 20 && leaves > 100, "{rows} rows, {leaves} leaves");
}

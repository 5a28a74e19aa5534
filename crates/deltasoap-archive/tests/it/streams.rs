//! Tables of recorded streams hold what the JSON of their messages holds. The JSON is that of
//! each message by itself, decoded in regular mode without shortcuts.

use crate::oracle;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{Array as _, RecordBatch};
use arrow_schema::DataType;
use bytes::Bytes;
use deltasoap_archive::{Archive, Counts, Options, Sources, message_in};
use deltasoap_core::decode::{Cursor, Decoder, Step};
use deltasoap_core::schema::ElementRef;
use deltasoap_core::soap::{EnvelopeReader, Head, Receiver};
use deltasoap_core::{DecodeOptions, Differential, Error, ErrorKind, Memory, QName, Value};
use deltasoap_dynamic::Contract;
use deltasoap_test_support::files;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::RowGroupMetaData;
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::path::Path;

/// Reads all tables of an archive.
pub fn tables(root: &Path) -> BTreeMap<String, Vec<RecordBatch>> {
    let mut tables = BTreeMap::<String, Vec<RecordBatch>>::new();
    for path in files::below(root, &["parquet"]) {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).expect("a file")).expect("Parquet");
        let statistics = reader.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
        assert!(statistics.into_iter().all(|column| column.statistics().is_some()), "{}", path.display());
        let table = path.parent().and_then(Path::file_name).expect("a table").to_string_lossy().into_owned();
        let batches = reader.build().expect("a reader").map(|batch| batch.expect("rows"));
        tables.entry(table).or_default().extend(batches);
    }
    tables
}

fn archive(wsdl: &str, captures: &str, root: &Path, is_nested: bool) -> (Contract, Counts) {
    let contract = Contract::import(&files::in_repository(wsdl).to_string_lossy()).expect("a description");
    let sources = Sources::find(&[files::in_repository(captures)]);
    let options = Options { is_nested, chunk_messages: 100, ..Options::default() };
    let archive = Archive::open(root, &contract, sources, options).expect("an archive");
    (contract, archive.run(&mut |_| {}).expect("tables").counts)
}

/// Returns the JSON of the body of a message file.
fn json_of(contract: &Contract, place: &str) -> Json {
    let message = message_in(Bytes::from(fs::read(place).expect("a file"))).expect("a message");
    json_of_message(contract, None, &message.bytes).expect("a message")
}

/// Returns the JSON of a body, decoded by itself in regular mode. Its content is given, or that of
/// the declared element.
pub fn json_of_message(contract: &Contract, content: Option<ElementRef>, message: &[u8]) -> Result<Json, Error> {
    let options = DecodeOptions { differential: Differential::OFF, ..DecodeOptions::default() };
    let body = Body { contract, content, name: QName::default(), memory: Memory::new(Value::Absent) };
    let mut reader = EnvelopeReader::new(body);
    Decoder::without_shortcuts(options).decode(&mut reader, message)?;
    let Body { content, name, memory, .. } = reader.receiver;
    Ok(contract.to_json(&name, content.expect("an opened body"), memory.value()).expect("JSON"))
}

/// Receives an element that the contract declares, or of this content.
struct Body<'c> {
    contract: &'c Contract,
    content: Option<ElementRef>,
    name: QName,
    memory: Memory<Value>,
}

impl Receiver for Body<'_> {
    fn open_body(&mut self, _: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        self.name = QName::owned(namespace.to_owned(), local.to_owned());
        let declared = self.contract.description().schemas().element_named(&self.name);
        let declared = declared.and_then(|id| self.contract.lowered().element(id));
        self.content = Some(self.content.or(declared).expect("a declared element"));
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.memory.decode(cursor, self.contract.view(self.content.expect("an opened body")))
    }
}

/// Number of items in the lists directly in the messages.
fn items(batch: &RecordBatch) -> BTreeMap<String, usize> {
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns());
    let lists = columns.filter_map(|(field, column)| match column.data_type() {
        DataType::List(_) => Some((field.name().clone(), column.as_list::<i32>().values().len())),
        _ => None,
    });
    lists.collect()
}

fn check(wsdl: &str, captures: &str, least: u64) {
    let folder = tempfile::tempdir().expect("a directory");
    let (nested_root, flat_root) = (folder.path().join("nested"), folder.path().join("flat"));
    let (contract, counts) = archive(wsdl, captures, &nested_root, true);
    let (_, of_flat) = archive(wsdl, captures, &flat_root, false);
    assert!(counts == of_flat && counts.messages >= least, "{counts:?}");
    let (nested, flat) = (tables(&nested_root), tables(&flat_root));
    let mut places = HashMap::new();
    for batch in &nested["messages"] {
        let ids = batch.column_by_name("id").expect("a column").as_primitive::<Int64Type>();
        let of = batch.column_by_name("place").expect("a column").as_string::<i32>();
        places.extend((0..batch.num_rows()).map(|row| (ids.value(row), of.value(row).to_owned())));
    }
    let (mut rows, mut leaves, mut lists) = (0, 0, BTreeMap::<String, usize>::new());
    for (name, batches) in nested.iter().filter(|(name, _)| name.ends_with(".request") || name.ends_with(".response")) {
        for batch in batches {
            let ids = batch.column(0).as_primitive::<Int64Type>().clone();
            let message = batch.project(&(1..batch.num_columns()).collect::<Vec<_>>()).expect("columns");
            for row in 0..message.num_rows() {
                let place = &places[&ids.value(row)];
                let json = json_of(&contract, place);
                leaves +=
                    oracle::compare(&json, &message, row).unwrap_or_else(|error| panic!("{place}: {error}\n{json:#}"));
                rows += 1;
            }
            for (list, count) in items(&message) {
                *lists.entry(format!("{name}.{list}")).or_default() += count;
            }
        }
        let ids = |batches: &[RecordBatch]| {
            batches.iter().flat_map(|it| it.column(0).as_primitive::<Int64Type>().values().to_vec()).collect::<Vec<_>>()
        };
        assert_eq!(ids(batches), ids(&flat[name]), "{name}");
    }
    assert_eq!(rows as u64, counts.messages - counts.faults);
    assert!(leaves as u64 > counts.messages, "{leaves}");
    for (table, count) in lists {
        let found = flat.get(&table).map_or(0, |batches| batches.iter().map(RecordBatch::num_rows).sum());
        assert_eq!(found, count, "{table}");
    }
}

#[test]
fn recorded_sessions_of_v_sphere() {
    check("testdata/wsdl/vsphere-fetch.wsdl", "testdata/sequences/vsphere-fetch", 500);
}

#[test]
fn service_contents_of_v_sphere_have_a_table_of_errors() {
    let folder = tempfile::tempdir().expect("a directory");
    let (_, counts) =
        archive("testdata/wsdl/vsphere-content.wsdl", "testdata/sequences/vsphere-content", folder.path(), false);
    // Newer services have elements that this description lacks.
    assert_eq!((counts.messages, counts.errors), (0, 2));
    assert_eq!(tables(folder.path()).keys().collect::<Vec<_>>(), ["errors"]);
}

#[test]
fn informs_of_tr069_by_the_schema_alone() {
    check("testdata/wsdl/BroadbandForum+cwmp-data-models/cwmp-1-0.xsd", "testdata/sequences/tr069-inform", 8);
    check("testdata/wsdl/BroadbandForum+cwmp-data-models/cwmp-1-0.xsd", "testdata/sequences/tr069-rpcs", 20);
}

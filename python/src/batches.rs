//! Columns of messages as columns of their values: record batches in, record batches out.
//!
//! A [`BatchDecoder`] reads the messages of one operation and direction. Rows stay rows: a message that
//! cannot be decoded is a row of nulls, whose last column says why. It works without the GIL, and
//! several threads may use it at once: each takes what is remembered of senders ([`Decoding`]) out of
//! it, or begins without.

use crate::contract::{self, Model, PyContract};
use crate::{arrow, errors, gate};
use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::{
    AnyDictionaryArray, Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, LargeStringArray, RecordBatch,
    RecordBatchOptions, StringArray, StringViewArray, StructArray,
};
use arrow_buffer::NullBufferBuilder;
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use bytes::Bytes;
use deltasoap_archive::{Decoded, Decoding, Direction, Hint, KeptSenders, MessageType, message_within};
use deltasoap_arrow::{Flattener, MessageBuilder, MessageSchema, Misfit, NoParts, TableSchema};
use deltasoap_core::{Tolerance, Value};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of threads whose memory of senders is kept for later calls.
const IDLE: usize = 8;

/// The names and limits of a decoder.
#[derive(Debug)]
struct Options {
    /// The column of messages.
    column: String,
    /// The column of senders.
    sender: Option<String>,
    /// The columns that are in the result as well.
    keep: Vec<String>,
    /// The name of the column of errors.
    error: String,
    /// Whether the first error is raised.
    raises: bool,
    tolerance: Tolerance,
    /// Maximum number of bytes of a message, also after decompression.
    message: u64,
    kept: KeptSenders,
}

/// Decodes columns of messages of one operation and direction.
#[pyclass(module = "deltasoap._engine", frozen)]
pub(crate) struct BatchDecoder {
    model: Arc<Model>,
    kind: usize,
    operation: String,
    direction: Direction,
    schema: MessageSchema,
    options: Options,
    /// Locked with the GIL only, so that no thread holds it during a fork.
    idle: Mutex<Vec<Decoding>>,
}

#[pymethods]
impl BatchDecoder {
    #[new]
    #[pyo3(signature = (
        contract, operation, direction, *, column, sender, keep, error_column, errors, tolerance,
        limit_message, limit_senders, limit_kept
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        contract: &PyContract,
        operation: &str,
        direction: &str,
        column: String,
        sender: Option<String>,
        keep: Vec<String>,
        error_column: String,
        errors: &str,
        tolerance: &str,
        limit_message: u64,
        limit_senders: usize,
        limit_kept: usize,
    ) -> PyResult<Self> {
        let raises = match errors {
            "column" => false,
            "raise" => true,
            other => return Err(PyValueError::new_err(format!("errors={other:?} is none of column, raise"))),
        };
        let direction = Direction::named(direction)
            .ok_or_else(|| PyValueError::new_err(format!("direction={direction:?} is none of request, response")))?;
        let options = Options {
            column,
            sender,
            keep,
            error: error_column,
            raises,
            tolerance: contract::tolerance(tolerance)?,
            message: limit_message,
            kept: KeptSenders { senders: limit_senders, bytes: limit_kept },
        };
        let model = Arc::clone(&contract.model);
        let decoding = Decoding::new(&model.contract, options.tolerance, options.kept);
        let kind = kind_of(decoding.types(), operation, direction)?;
        let of = &decoding.types()[kind];
        let schema = MessageSchema::of(&model.contract, &of.name, of.content);
        let operation = of.operation.clone();
        let made = BatchDecoder { model, kind, operation, direction, schema, options, idle: Mutex::default() };
        made.output(&made.kept(&made.assumed())?)?;
        made.idle.lock().unwrap_or_else(PoisonError::into_inner).push(decoding);
        Ok(made)
    }

    /// Returns the result's schema, as a result without rows. `input` has the types of the columns that
    /// are kept.
    #[pyo3(signature = (input=None))]
    fn schema(&self, input: Option<&Bound<'_, PyAny>>) -> PyResult<RecordBatches> {
        let input = input.map(arrow::read_schema).transpose()?;
        let Some(input) = input.or_else(|| self.options.keep.is_empty().then(Schema::empty)) else {
            return Err(PyValueError::new_err("keep=... needs the schema of the input, for the types of its columns"));
        };
        let kept = self.kept(&input)?;
        let schema = self.output(&kept)?;
        let batches = vec![RecordBatch::new_empty(Arc::clone(&schema))];
        Ok(RecordBatches { schema, batches, kept: Some(kept.len()) })
    }

    /// Decodes a table or a column of messages.
    fn decode(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<RecordBatches> {
        let (input, batches) = arrow::read(data, &self.options.column)?;
        self.place(&input, &self.options.column)?;
        let kept = self.kept(&input)?;
        let schema = self.output(&kept)?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let decoding = idle.unwrap_or_else(|| self.decoding());
        let mut run = Run::new(self, decoding, Arc::clone(&schema));
        for batch in batches {
            gate::leave(py, || run.batch(&batch)).map_err(|error| error.into_py_err(py))?;
            py.check_signals()?;
        }
        let Run { decoding, mut done, .. } = run;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE {
            idle.push(decoding);
        }
        if done.is_empty() {
            done.push(RecordBatch::new_empty(Arc::clone(&schema)));
        }
        Ok(RecordBatches { schema, batches: done, kept: Some(kept.len()) })
    }
}

/// Returns the number of the messages of an operation.
fn kind_of(types: &[MessageType], operation: &str, direction: Direction) -> PyResult<usize> {
    let of_direction: Vec<usize> = (0..types.len()).filter(|&kind| types[kind].direction == direction).collect();
    let called: Vec<usize> = of_direction.iter().copied().filter(|&kind| types[kind].is_of(operation)).collect();
    let text = match called[..] {
        [kind] => return Ok(kind),
        [] => format!(
            "no operation {operation} whose {} has a body of one element; there are {}",
            direction.name(),
            names(types, &of_direction)
        ),
        _ => format!("several operations are called {operation}: name one of {}", names(types, &called)),
    };
    Err(PyKeyError::new_err(text))
}

/// Lists operations, if there are not too many.
fn names(types: &[MessageType], kinds: &[usize]) -> String {
    const SHOWN: usize = 20;
    let shown: Vec<_> = kinds.iter().take(SHOWN).map(|&kind| types[kind].operation.as_str()).collect();
    shown.join(", ") + if kinds.len() > SHOWN { ", ..." } else { "" }
}

impl BatchDecoder {
    fn decoding(&self) -> Decoding {
        Decoding::new(&self.model.contract, self.options.tolerance, self.options.kept)
    }

    /// Returns a schema with all columns that are kept, of any type.
    fn assumed(&self) -> Schema {
        Schema::new(self.options.keep.iter().map(|name| Field::new(name, DataType::Null, true)).collect::<Vec<_>>())
    }

    fn place(&self, input: &Schema, name: &str) -> PyResult<usize> {
        let mut places = (0..input.fields().len()).filter(|&place| input.field(place).name() == name);
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(place),
            (Some(_), Some(_)) => Err(PyKeyError::new_err(format!("several columns are called {name}"))),
            (None, _) => {
                let names: Vec<_> = input.fields().iter().map(|field| field.name().as_str()).collect();
                Err(PyKeyError::new_err(format!("no column {name} among {}", names.join(", "))))
            }
        }
    }

    /// Returns the columns that are kept.
    fn kept(&self, input: &Schema) -> PyResult<Vec<Arc<Field>>> {
        self.options.keep.iter().map(|name| Ok(Arc::clone(&input.fields()[self.place(input, name)?]))).collect()
    }

    /// Returns the schema of the result: the columns that are kept, those of the message, and that of
    /// errors.
    fn output(&self, kept: &[Arc<Field>]) -> PyResult<SchemaRef> {
        let error = Arc::new(Field::new(&self.options.error, DataType::Struct(error_fields()), true));
        let own = self.schema.arrow().fields();
        let fields: Vec<Arc<Field>> = kept.iter().chain(own).cloned().chain([error]).collect();
        let mut names = std::collections::HashSet::new();
        match fields.iter().find(|field| !names.insert(field.name())) {
            Some(twice) => {
                let text = format!("two columns of the result are called {}: rename that of the input", twice.name());
                Err(PyValueError::new_err(text))
            }
            None => Ok(Arc::new(Schema::new(fields))),
        }
    }
}

fn error_fields() -> Fields {
    Fields::from(vec![
        Field::new("reason", DataType::Utf8, true),
        Field::new("path", DataType::Utf8, true),
        Field::new("offset", DataType::Int64, true),
    ])
}

/// Why there is no result.
enum Failed {
    /// The columns are not what was asked for.
    Column(String),
    Arrow(ArrowError),
    /// The first message that cannot be decoded, if errors are raised.
    Message(u64, Finding),
}

impl Failed {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        match self {
            Failed::Column(text) => PyTypeError::new_err(text),
            Failed::Arrow(error) => PyValueError::new_err(error.to_string()),
            Failed::Message(row, Finding { reason, path, offset }) => {
                let path = path.map(|path| format!(": {path}")).unwrap_or_default();
                let offset = offset.map(|offset| format!(" (at byte {offset})")).unwrap_or_default();
                errors::raise(py, "XMLParseError", (format!("row {row}{path}: {reason}{offset}"),), &[])
            }
        }
    }
}

impl From<ArrowError> for Failed {
    fn from(error: ArrowError) -> Self {
        Failed::Arrow(error)
    }
}

/// Why a message cannot be decoded, and where.
#[derive(Debug, Default)]
struct Finding {
    reason: String,
    path: Option<String>,
    /// Bytes from the start of the envelope.
    offset: Option<i64>,
}

impl Finding {
    fn new(reason: impl Into<String>) -> Self {
        Finding { reason: reason.into(), ..Finding::default() }
    }
}

/// The decoding of one table.
struct Run<'d> {
    decoder: &'d BatchDecoder,
    decoding: Decoding,
    schema: SchemaRef,
    builder: MessageBuilder,
    findings: Findings,
    /// Number of rows before the current record batch.
    rows: u64,
    done: Vec<RecordBatch>,
}

impl<'d> Run<'d> {
    fn new(decoder: &'d BatchDecoder, decoding: Decoding, schema: SchemaRef) -> Self {
        let (builder, findings) = (decoder.schema.builder(), Findings::default());
        Run { decoder, decoding, schema, builder, findings, rows: 0, done: Vec::new() }
    }

    /// Decodes a record batch. It becomes several if a column would have more than 2 GiB.
    fn batch(&mut self, input: &RecordBatch) -> Result<(), Failed> {
        let options = &self.decoder.options;
        let bodies = Texts::of(input, &options.column)?;
        let senders = options.sender.as_ref().map(|name| Texts::of(input, name)).transpose()?;
        let mut first = 0;
        for row in 0..input.num_rows() {
            let sender = senders.as_ref().and_then(|senders| senders.get(row)).unwrap_or_default();
            let sender = String::from_utf8_lossy(sender);
            let Some(bytes) = bodies.get(row) else {
                self.null(None)?;
                continue;
            };
            let body = Body { bytes, is_text: bodies.are_texts() };
            match self.message(body, &sender) {
                Ok(()) => self.findings.push(None),
                Err(Refused::Full) => {
                    self.end(input, first, row)?;
                    first = row;
                    match self.message(body, &sender) {
                        Ok(()) => self.findings.push(None),
                        Err(refused) => self.refused(row, refused)?,
                    }
                }
                Err(refused) => self.refused(row, refused)?,
            }
        }
        self.end(input, first, input.num_rows())?;
        self.rows += input.num_rows() as u64;
        Ok(())
    }

    /// Adds a message as a row.
    fn message(&mut self, body: Body<'_>, sender: &str) -> Result<(), Refused> {
        let most = self.decoder.options.message;
        let too_large = || Finding::new(format!("more than {most} bytes"));
        if body.bytes.len() as u64 > most {
            return Err(too_large().into());
        }
        let message = message_within(body.copied(), most).map_err(Finding::new)?;
        if message.bytes.len() as u64 > most {
            return Err(too_large().into());
        }
        let BatchDecoder { kind, operation, direction, .. } = self.decoder;
        let hint = Hint { operation: Some(operation), direction: Some(*direction) };
        let (types, decoded) = self.decoding.decode(sender, message.bytes.clone(), hint);
        match decoded {
            Ok(Decoded::Message(of, value)) if of == *kind => {
                self.builder.append(value, &message).map_err(|error| match error.reason {
                    Misfit::Full if !self.builder.is_empty() => Refused::Full,
                    reason => Finding { reason: reason.to_string(), path: Some(error.path), offset: None }.into(),
                })
            }
            Ok(Decoded::Message(of, _)) => {
                let of = &types[of];
                Err(Finding::new(format!("a {} of {}", of.direction.name(), of.operation)).into())
            }
            Ok(Decoded::Fault(fault)) => {
                let code = fault.wording.code().map_or_else(|| format!("{:?}", fault.code), ToString::to_string);
                Err(Finding::new(format!("a fault: {code}: {}", fault.reason)).into())
            }
            Err(undecoded) => {
                let error = undecoded.error;
                let path = (!error.path().is_empty()).then(|| error.path().to_owned());
                Err(Finding { reason: error.kind().to_string(), path, offset: Some(error.offset() as i64) }.into())
            }
        }
    }

    fn refused(&mut self, row: usize, refused: Refused) -> Result<(), Failed> {
        let finding = match refused {
            Refused::Message(finding) => finding,
            Refused::Full => Finding::new(Misfit::Full.to_string()),
        };
        match self.decoder.options.raises {
            true => Err(Failed::Message(self.rows + row as u64, finding)),
            false => self.null(Some(finding)),
        }
    }

    /// Adds a row of nulls.
    fn null(&mut self, finding: Option<Finding>) -> Result<(), Failed> {
        let appended = self.builder.append(&Value::Absent, &NoParts);
        appended.map_err(|error| Failed::Column(error.to_string()))?;
        self.findings.push(finding);
        Ok(())
    }

    /// Ends a record batch of the result: these rows of the input.
    fn end(&mut self, input: &RecordBatch, from: usize, to: usize) -> Result<(), Failed> {
        let message = self.builder.finish()?;
        let of_input = |name: &String| input.column_by_name(name).map(|column| column.slice(from, to - from));
        let kept = self.decoder.options.keep.iter().filter_map(of_input);
        let columns: Vec<ArrayRef> =
            kept.chain(message.columns().iter().cloned()).chain([self.findings.finish()?]).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(to - from));
        self.done.push(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?);
        Ok(())
    }
}

/// A message in its column.
#[derive(Clone, Copy)]
struct Body<'b> {
    bytes: &'b [u8],
    is_text: bool,
}

impl Body<'_> {
    /// Copies the message: what is kept of a sender must not keep a whole column.
    ///
    /// A text is in UTF-8 here, whatever encoding it declares: that of the bytes that it was before. So
    /// another one is blanked out, which leaves everything at its offset.
    fn copied(self) -> Bytes {
        let mut bytes = self.bytes.to_vec();
        if self.is_text
            && let Some(end) = foreign_declaration(&bytes)
        {
            bytes[..end].fill(b' ');
        }
        bytes.into()
    }
}

/// Returns the length of an XML declaration that names another encoding than UTF-8.
fn foreign_declaration(text: &[u8]) -> Option<usize> {
    const LONGEST: usize = 200;
    let text = &text[..text.len().min(LONGEST)];
    if !text.starts_with(b"<?xml ") {
        return None;
    }
    let end = text.windows(2).position(|two| two == b"?>")? + 2;
    let declaration = text[..end].to_ascii_lowercase();
    let has = |word: &[u8]| declaration.windows(word.len()).any(|it| it == word);
    (has(b"encoding") && !has(b"\"utf-8\"") && !has(b"'utf-8'")).then_some(end)
}

/// Why a message is no row.
enum Refused {
    Message(Finding),
    /// The record batch has no room for it.
    Full,
}

impl From<Finding> for Refused {
    fn from(finding: Finding) -> Self {
        Refused::Message(finding)
    }
}

/// The column of errors.
#[derive(Default)]
struct Findings {
    reason: StringBuilder,
    path: StringBuilder,
    offset: Int64Builder,
    valid: Vec<bool>,
}

impl Findings {
    fn push(&mut self, finding: Option<Finding>) {
        self.valid.push(finding.is_some());
        let finding = finding.map(|Finding { reason, path, offset }| (Some(reason), path, offset));
        let (reason, path, offset) = finding.unwrap_or_default();
        self.reason.append_option(reason);
        self.path.append_option(path);
        self.offset.append_option(offset);
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let columns: Vec<ArrayRef> =
            vec![Arc::new(self.reason.finish()), Arc::new(self.path.finish()), Arc::new(self.offset.finish())];
        let valid = std::mem::take(&mut self.valid);
        let mut nulls = NullBufferBuilder::new(valid.len());
        valid.iter().for_each(|valid| nulls.append(*valid));
        let length = valid.len();
        Ok(Arc::new(StructArray::try_new_with_length(error_fields(), columns, nulls.finish(), length)?))
    }
}

/// A column of texts or bytes.
enum Texts<'a> {
    Binary(&'a BinaryArray),
    LargeBinary(&'a LargeBinaryArray),
    BinaryView(&'a BinaryViewArray),
    String(&'a StringArray),
    LargeString(&'a LargeStringArray),
    StringView(&'a StringViewArray),
    Dictionary(&'a dyn AnyDictionaryArray, Vec<usize>, Box<Texts<'a>>),
    Null,
}

impl<'a> Texts<'a> {
    fn of(batch: &'a RecordBatch, name: &str) -> Result<Self, Failed> {
        let missing = || Failed::Column(format!("no column {name}"));
        let column = batch.column_by_name(name).ok_or_else(missing)?;
        let wrong = |found: &DataType| {
            Failed::Column(format!("the column {name} is of the type {found}: texts or bytes are needed"))
        };
        Self::of_array(column).map_err(wrong)
    }

    fn of_array(array: &'a dyn Array) -> Result<Self, &'a DataType> {
        Ok(match array.data_type() {
            DataType::Binary => Texts::Binary(array.as_binary()),
            DataType::LargeBinary => Texts::LargeBinary(array.as_binary()),
            DataType::BinaryView => Texts::BinaryView(array.as_binary_view()),
            DataType::Utf8 => Texts::String(array.as_string()),
            DataType::LargeUtf8 => Texts::LargeString(array.as_string()),
            DataType::Utf8View => Texts::StringView(array.as_string_view()),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let keys = if dictionary.values().is_empty() { Vec::new() } else { dictionary.normalized_keys() };
                Texts::Dictionary(dictionary, keys, Box::new(Self::of_array(dictionary.values())?))
            }
            DataType::Null => Texts::Null,
            other => return Err(other),
        })
    }

    fn are_texts(&self) -> bool {
        match self {
            Texts::String(_) | Texts::LargeString(_) | Texts::StringView(_) => true,
            Texts::Dictionary(.., values) => values.are_texts(),
            _ => false,
        }
    }

    fn get(&self, row: usize) -> Option<&[u8]> {
        match self {
            Texts::Binary(array) => array.is_valid(row).then(|| array.value(row)),
            Texts::LargeBinary(array) => array.is_valid(row).then(|| array.value(row)),
            Texts::BinaryView(array) => array.is_valid(row).then(|| array.value(row)),
            Texts::String(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Texts::LargeString(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Texts::StringView(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Texts::Dictionary(array, keys, values) => {
                array.is_valid(row).then(|| values.get(*keys.get(row)?)).flatten()
            }
            Texts::Null => None,
        }
    }
}

/// Decoded messages: record batches of one schema, nearly always one.
#[pyclass(module = "deltasoap._engine", frozen)]
pub(crate) struct RecordBatches {
    schema: SchemaRef,
    /// At least one.
    batches: Vec<RecordBatch>,
    /// Number of columns before those of the messages, after which there is that of errors; `None` for
    /// plain tables.
    kept: Option<usize>,
}

impl RecordBatches {
    /// Returns plain tables with their names, that of the messages first.
    fn flattened(&self, first_id: i64) -> Result<Vec<(String, RecordBatches)>, ArrowError> {
        let refused = || ArrowError::InvalidArgumentError("the tables are plain already".to_owned());
        let kept = self.kept.ok_or_else(refused)?;
        let of_messages: Vec<usize> = (kept..self.schema.fields().len() - 1).collect();
        let flattener = Flattener::new(&self.schema.project(&of_messages)?);
        let mut next = vec![0; flattener.tables().len()];
        let mut tables = vec![Vec::new(); next.len()];
        let mut id = first_id;
        for batch in &self.batches {
            let end = id.checked_add(batch.num_rows() as i64);
            let end = end.ok_or_else(|| ArrowError::ArithmeticOverflow("first_id is too large".to_owned()))?;
            let ids: Vec<i64> = (id..end).collect();
            id = end;
            let flat = flattener.flatten(&batch.project(&of_messages)?, &ids, &mut next)?;
            for (place, (table, rows)) in tables.iter_mut().zip(flat).enumerate() {
                table.push(if place == 0 { around(batch, kept, &rows)? } else { rows });
            }
        }
        let named = |(table, batches): (&TableSchema, Vec<RecordBatch>)| {
            let schema = batches[0].schema();
            (table.path.clone(), RecordBatches { schema, batches, kept: None })
        };
        Ok(flattener.tables().iter().zip(tables).map(named).collect())
    }
}

/// Adds the columns that are kept, and that of errors, to the plain table of messages.
fn around(batch: &RecordBatch, kept: usize, plain: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let (of_batch, of_plain) = (batch.schema(), plain.schema());
    let (id, rest) = of_plain.fields().split_at(1);
    let fields = id.iter().chain(&of_batch.fields()[..kept]).chain(rest).chain(of_batch.fields().last());
    let schema = Schema::new(fields.cloned().collect::<Vec<_>>());
    let (id, rest) = plain.columns().split_at(1);
    let columns = id.iter().chain(&batch.columns()[..kept]).chain(rest).chain(batch.columns().last());
    RecordBatch::try_new(Arc::new(schema), columns.cloned().collect())
}

#[pymethods]
impl RecordBatches {
    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Returns plain tables by their names: that of the messages, whose name is empty, and one for each
    /// list. Messages are numbered from `first_id`.
    #[pyo3(signature = (*, first_id=0))]
    fn flatten<'py>(&self, py: Python<'py>, first_id: i64) -> PyResult<Bound<'py, PyDict>> {
        let tables = gate::leave(py, || self.flattened(first_id));
        let tables = tables.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let dict = PyDict::new(py);
        for (name, table) in tables {
            // A name of XML may contain a dot, so two paths can be alike.
            let mut distinct = name.clone();
            let mut number = 1;
            while dict.contains(&distinct)? {
                number += 1;
                distinct = format!("{name}#{number}");
            }
            dict.set_item(distinct, Bound::new(py, table)?)?;
        }
        Ok(dict)
    }

    /// The Arrow PyCapsule interface: the schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema(py, &self.schema)
    }

    /// The Arrow PyCapsule interface: the record batch.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        drop(requested_schema);
        match &self.batches[..] {
            [batch] => arrow::capsules(py, &StructArray::from(batch.clone())),
            several => {
                let text = format!("{} record batches: read them as a table or a stream", several.len());
                Err(PyValueError::new_err(text))
            }
        }
    }

    /// The Arrow PyCapsule interface: a stream of the record batches.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        arrow::stream(py, Arc::clone(&self.schema), self.batches.clone())
    }

    fn __len__(&self) -> usize {
        self.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<RecordBatches: {} of {}>", self.num_rows(), self.column_names().join(", "))
    }
}

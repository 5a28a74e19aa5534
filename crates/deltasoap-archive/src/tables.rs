//! The tables of an archive: those of each operation and direction, of faults, of all messages, and
//! of errors, which are messages that cannot be decoded.
//!
//! Rows are collected in memory until there are enough for a batch, and written as Parquet. What is
//! in memory is bounded by the size of the messages since the last batch, whatever the number of
//! tables.

use crate::archive::Options;
use crate::capture::Capture;
use crate::decode::MessageType;
use crate::error::ArchiveError;
use crate::store::{Complete, Store, TableFile};
use arrow_array::builder::{Int64Builder, StringBuilder, TimestampMicrosecondBuilder, UInt16Builder};
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use deltasoap_arrow::{AppendError, Flattener, MessageBuilder, MessageSchema, Parts};
use deltasoap_core::Value;
use deltasoap_core::soap::Fault;
use deltasoap_dynamic::Contract;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The table of all messages that are in other tables.
const MESSAGES: &str = "messages";
/// The table of messages that cannot be decoded.
const ERRORS: &str = "errors";
/// The table of faults whose operation is unknown.
const FAULTS: &str = "fault";
/// Number of bytes of messages after which rows are written.
const BATCH_BYTES: usize = 8 << 20;
/// Number of messages after which rows are written.
const BATCH_MESSAGES: usize = 16 << 10;

/// Why a message cannot be decoded, and where the error is in it.
#[derive(Debug, Default)]
pub(crate) struct Finding {
    pub(crate) reason: String,
    pub(crate) path: Option<String>,
    pub(crate) offset: Option<u64>,
    /// Line and column.
    pub(crate) line: Option<(usize, usize)>,
}

/// What is known of every message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'e> {
    pub(crate) id: i64,
    pub(crate) capture: &'e Capture,
    pub(crate) operation: Option<&'e str>,
    pub(crate) direction: Option<&'e str>,
    /// Bytes.
    pub(crate) size: usize,
}

/// All tables.
pub(crate) struct Tables {
    contract: Contract,
    store: Store,
    is_nested: bool,
    chunk: u64,
    /// By the number of the message's type.
    messages: BTreeMap<usize, MessageTables>,
    faults: BTreeMap<String, FaultTable>,
    all: MessageList,
    errors: ErrorList,
    /// The open files, by the names of their tables.
    files: BTreeMap<String, TableFile>,
    next: BTreeMap<String, i64>,
    /// The names of tables, in lower case: some file systems do not distinguish case.
    taken: HashSet<String>,
    waiting_bytes: usize,
    waiting_messages: usize,
}

impl Tables {
    /// Creates the tables; `next` holds the numbers of the next rows of an archive that is
    /// continued.
    pub(crate) fn new(
        contract: &Contract,
        store: Store,
        options: &Options,
        chunk: u64,
        next: BTreeMap<String, i64>,
    ) -> Self {
        Tables {
            contract: contract.clone(),
            store,
            is_nested: options.is_nested,
            chunk,
            messages: BTreeMap::new(),
            faults: BTreeMap::new(),
            all: MessageList { same_as: options.deduplicate.then(Int64Builder::new), ..MessageList::default() },
            errors: ErrorList::default(),
            files: BTreeMap::new(),
            next,
            taken: HashSet::new(),
            waiting_bytes: 0,
            waiting_messages: 0,
        }
    }

    /// Makes the tables of all types, so that their names do not depend on the order of messages.
    /// Their columns are made with the first message.
    pub(crate) fn declare(&mut self, types: &[MessageType]) {
        for (kind, each) in types.iter().enumerate() {
            let name = self.distinct(&format!("{}.{}", without_dots(&each.operation), each.direction.name()));
            self.messages.insert(kind, MessageTables { name, state: None });
        }
        for each in types {
            if !self.faults.contains_key(&each.operation) {
                let name = self.distinct(&format!("{}.fault", without_dots(&each.operation)));
                self.faults.insert(each.operation.clone(), FaultTable { name, rows: FaultRows::default() });
            }
        }
        let name = self.distinct(FAULTS);
        self.faults.insert(String::new(), FaultTable { name, rows: FaultRows::default() });
    }

    /// Returns a name for a table that is a file name, and none of another table.
    fn distinct(&mut self, name: &str) -> String {
        distinct_in(&mut self.taken, name)
    }

    /// Adds a message.
    ///
    /// # Errors
    /// If a column cannot hold a value of it. Then there is no new row.
    pub(crate) fn message(
        &mut self,
        id: i64,
        kind: usize,
        of: &MessageType,
        value: &Value,
        parts: &dyn Parts,
    ) -> Result<(), AppendError> {
        let Some(tables) = self.messages.get_mut(&kind) else { unreachable!("a type that was declared") };
        let (contract, is_nested) = (&self.contract, self.is_nested);
        let state = tables.state.get_or_insert_with(|| State::new(contract, of, &tables.name, is_nested));
        state.builder.append(value, parts)?;
        state.ids.push(id);
        Ok(())
    }

    /// Adds a fault of an operation, if that is known.
    pub(crate) fn fault(&mut self, id: i64, operation: Option<&str>, fault: &Fault) {
        let operation = operation.filter(|name| self.faults.contains_key(*name)).unwrap_or_default();
        let contract = &self.contract;
        if let Some(table) = self.faults.get_mut(operation) {
            table.rows.push(id, fault, contract);
        }
    }

    /// Adds a message to the list of all messages, with the number of the one whose rows are its
    /// own, too.
    pub(crate) fn list(&mut self, entry: Entry<'_>, same_as: Option<i64>) {
        self.all.common.push(entry);
        if let Some(column) = &mut self.all.same_as {
            column.append_option(same_as);
        }
        self.note(entry.size);
    }

    /// Adds a message that cannot be decoded.
    pub(crate) fn error(&mut self, entry: Entry<'_>, finding: &Finding) {
        self.errors.push(entry, finding);
        self.note(entry.size);
    }

    fn note(&mut self, size: usize) {
        self.waiting_bytes += size;
        self.waiting_messages += 1;
    }

    /// Writes the rows if there are enough.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn write_some(&mut self) -> Result<(), ArchiveError> {
        match self.waiting_bytes >= BATCH_BYTES || self.waiting_messages >= BATCH_MESSAGES {
            true => self.write(),
            false => Ok(()),
        }
    }

    /// Writes all rows.
    fn write(&mut self) -> Result<(), ArchiveError> {
        let mut writing =
            Writing { store: &self.store, chunk: self.chunk, files: &mut self.files, next: &mut self.next };
        for tables in self.messages.values_mut() {
            if let Some(state) = &mut tables.state {
                state.write(&mut writing)?;
            }
        }
        for table in self.faults.values_mut() {
            writing.rows(&table.name, table.rows.finish())?;
        }
        writing.rows(MESSAGES, self.all.finish())?;
        writing.rows(ERRORS, self.errors.finish())?;
        (self.waiting_bytes, self.waiting_messages) = (0, 0);
        Ok(())
    }

    /// Ends a chunk: all its files are complete, and have their names.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn end_chunk(&mut self) -> Result<&BTreeMap<String, i64>, ArchiveError> {
        self.write()?;
        let files = std::mem::take(&mut self.files).into_values();
        let complete = files.map(TableFile::complete).collect::<Result<Vec<Complete>, _>>()?;
        complete.into_iter().try_for_each(Complete::publish)?;
        self.chunk += 1;
        Ok(&self.next)
    }
}

/// Returns the name of an operation in those of its tables: the dots that follow divide it from the
/// direction and the list, so that no two tables can have the same name.
fn without_dots(operation: &str) -> String {
    operation.replace('.', "-")
}

/// Returns a name that is a file name, and not taken yet.
fn distinct_in(taken: &mut HashSet<String>, name: &str) -> String {
    let is_safe = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '$' | '@' | '#');
    let safe: String = name.chars().map(|c| if is_safe(c) { c } else { '_' }).take(200).collect();
    let mut distinct = safe.clone();
    let mut number = 1;
    while [MESSAGES, ERRORS].contains(&distinct.as_str()) || !taken.insert(distinct.to_lowercase()) {
        number += 1;
        distinct = format!("{safe}-{number}");
    }
    distinct
}

/// Where rows are written.
struct Writing<'w> {
    store: &'w Store,
    chunk: u64,
    files: &'w mut BTreeMap<String, TableFile>,
    next: &'w mut BTreeMap<String, i64>,
}

impl Writing<'_> {
    /// Appends rows to a table, whose file is created with the first ones.
    fn rows(&mut self, name: &str, rows: Result<RecordBatch, ArrowError>) -> Result<(), ArchiveError> {
        let rows = rows.map_err(|error| ArchiveError::Rows { table: name.to_owned(), error })?;
        if rows.num_rows() == 0 {
            return Ok(());
        }
        if !self.files.contains_key(name) {
            self.files.insert(name.to_owned(), self.store.table(name, self.chunk, &rows.schema())?);
        }
        match self.files.get_mut(name) {
            Some(file) => file.write(&rows),
            None => unreachable!("a file that was just added"),
        }
    }
}

/// The tables of a type of messages.
struct MessageTables {
    name: String,
    state: Option<State>,
}

struct State {
    builder: MessageBuilder,
    ids: Vec<i64>,
    form: Form,
    /// The names of the tables, that of the messages first.
    names: Vec<String>,
}

enum Form {
    /// One table with nested columns.
    Nested(SchemaRef),
    /// One table for each list.
    Flat(Flattener),
}

impl State {
    fn new(contract: &Contract, of: &MessageType, name: &str, is_nested: bool) -> Self {
        let schema = MessageSchema::of(contract, &of.name, of.content);
        let builder = schema.builder();
        if is_nested {
            let id = Arc::new(Field::new("_id", DataType::Int64, false));
            let fields: Vec<_> = std::iter::once(id).chain(schema.arrow().fields().iter().cloned()).collect();
            let form = Form::Nested(Arc::new(Schema::new(fields)));
            return State { builder, ids: Vec::new(), form, names: vec![name.to_owned()] };
        }
        let flattener = Flattener::new(schema.arrow());
        let lists = flattener.tables().iter().skip(1);
        let mut taken = HashSet::new();
        let names = lists.map(|table| distinct_in(&mut taken, &format!("{name}.{}", table.path)));
        let names = std::iter::once(name.to_owned()).chain(names).collect();
        State { builder, ids: Vec::new(), form: Form::Flat(flattener), names }
    }

    fn write(&mut self, writing: &mut Writing<'_>) -> Result<(), ArchiveError> {
        if self.ids.is_empty() {
            return Ok(());
        }
        let wrong = |error| ArchiveError::Rows { table: self.names[0].clone(), error };
        let ids = std::mem::take(&mut self.ids);
        let batch = self.builder.finish().map_err(wrong)?;
        match &self.form {
            Form::Nested(schema) => {
                let id: ArrayRef = Arc::new(Int64Array::from(ids));
                let columns = std::iter::once(id).chain(batch.columns().iter().cloned()).collect();
                writing.rows(&self.names[0], RecordBatch::try_new(Arc::clone(schema), columns))
            }
            Form::Flat(flattener) => {
                let mut next: Vec<i64> =
                    self.names.iter().map(|name| writing.next.get(name).copied().unwrap_or_default()).collect();
                let tables = flattener.flatten(&batch, &ids, &mut next).map_err(wrong)?;
                for (place, ((name, rows), next)) in self.names.iter().zip(tables).zip(next).enumerate() {
                    // The rows of the first table have the numbers of their messages.
                    if place > 0 {
                        writing.next.insert(name.clone(), next);
                    }
                    writing.rows(name, Ok(rows))?;
                }
                Ok(())
            }
        }
    }
}

/// The faults of an operation.
struct FaultTable {
    name: String,
    rows: FaultRows,
}

#[derive(Default)]
struct FaultRows {
    id: Int64Builder,
    code: StringBuilder,
    subcodes: StringBuilder,
    reason: StringBuilder,
    role: StringBuilder,
    node: StringBuilder,
    detail: StringBuilder,
}

impl FaultRows {
    fn push(&mut self, id: i64, fault: &Fault, contract: &Contract) {
        self.id.append_value(id);
        let code = fault.wording.code().map_or_else(|| format!("{:?}", fault.code), ToString::to_string);
        self.code.append_value(code);
        let subcodes: Vec<_> = fault.subcodes.iter().map(ToString::to_string).collect();
        self.subcodes.append_option((!subcodes.is_empty()).then(|| subcodes.join(" ")));
        self.reason.append_value(&fault.reason);
        self.role.append_option(fault.role.as_deref());
        self.node.append_option(fault.node.as_deref());
        let detail = fault.detail.iter().map(|entry| {
            serde_json::Value::Object(serde_json::Map::from_iter([(
                entry.name.to_string(),
                contract.element_to_json(entry),
            )]))
        });
        let detail: Vec<_> = detail.collect();
        self.detail.append_option((!detail.is_empty()).then(|| serde_json::Value::Array(detail).to_string()));
    }

    fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("_id", Arc::new(self.id.finish())),
            ("code", Arc::new(self.code.finish())),
            ("subcodes", Arc::new(self.subcodes.finish())),
            ("reason", Arc::new(self.reason.finish())),
            ("role", Arc::new(self.role.finish())),
            ("node", Arc::new(self.node.finish())),
            ("detail", Arc::new(self.detail.finish())),
        ];
        batch(columns)
    }
}

/// The columns of entries.
#[derive(Default)]
struct Common {
    id: Int64Builder,
    time: TimestampMicrosecondBuilder,
    sender: StringBuilder,
    operation: StringBuilder,
    direction: StringBuilder,
    status: UInt16Builder,
    size: Int64Builder,
    place: StringBuilder,
}

impl Common {
    fn push(&mut self, Entry { id, capture, operation, direction, size }: Entry<'_>) {
        self.id.append_value(id);
        self.time.append_option(capture.time);
        self.sender.append_option(capture.sender.as_deref());
        self.operation.append_option(operation);
        self.direction.append_option(direction);
        self.status.append_option(capture.status);
        self.size.append_value(size as i64);
        self.place.append_value(&capture.place);
    }

    fn finish(&mut self) -> Vec<(&'static str, ArrayRef)> {
        vec![
            ("id", Arc::new(self.id.finish())),
            ("time", Arc::new(self.time.finish().with_timezone("UTC"))),
            ("sender", Arc::new(self.sender.finish())),
            ("operation", Arc::new(self.operation.finish())),
            ("direction", Arc::new(self.direction.finish())),
            ("status", Arc::new(self.status.finish())),
            ("size", Arc::new(self.size.finish())),
            ("place", Arc::new(self.place.finish())),
        ]
    }
}

#[derive(Default)]
struct MessageList {
    common: Common,
    /// The numbers of messages whose rows hold for others; `None` if every message has its own.
    same_as: Option<Int64Builder>,
}

impl MessageList {
    fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let mut columns = self.common.finish();
        if let Some(same_as) = &mut self.same_as {
            columns.push(("same_as", Arc::new(same_as.finish())));
        }
        batch(columns)
    }
}

#[derive(Default)]
struct ErrorList {
    common: Common,
    reason: StringBuilder,
    path: StringBuilder,
    offset: Int64Builder,
    line: Int64Builder,
    column: Int64Builder,
}

impl ErrorList {
    fn push(&mut self, entry: Entry<'_>, finding: &Finding) {
        self.common.push(entry);
        self.reason.append_value(&finding.reason);
        self.path.append_option(finding.path.as_deref());
        self.offset.append_option(finding.offset.map(|it| it as i64));
        self.line.append_option(finding.line.map(|(line, _)| line as i64));
        self.column.append_option(finding.line.map(|(_, column)| column as i64));
    }

    fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let mut columns = self.common.finish();
        columns.push(("reason", Arc::new(self.reason.finish())));
        columns.push(("path", Arc::new(self.path.finish())));
        columns.push(("offset", Arc::new(self.offset.finish())));
        columns.push(("line", Arc::new(self.line.finish())));
        columns.push(("column", Arc::new(self.column.finish())));
        batch(columns)
    }
}

/// Joins columns. Their types depend on nothing that is in them.
fn batch(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch, ArrowError> {
    let fields: Vec<_> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

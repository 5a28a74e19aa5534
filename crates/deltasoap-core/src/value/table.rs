//! Tables: the structs of a repeated field as columns, one for each of their fields.
//!
//! The items of many long lists are plain structs of a few numbers and texts. As a [`Record`] an
//! item takes two allocations. In a table its values are in typed buffers, and the routines of
//! typed lists read and write them. A list becomes a table with its first item, if its description
//! allows nothing but plain rows ([`Table::for_field`]). Structs with optional fields do not become
//! tables: their items differ in markup, so they are not read in one loop, and each column would
//! need to record which of its values are present.
//!
//! A message can still hold content that reading accepts but a table cannot hold: `xsi:nil` on an
//! item or on a field, and a missing field that is tolerated. The table is then
//! [spread](Value::spread) into a list of records, if necessary in the middle of an item. The
//! item's routines continue in the record, since their frames are the same.

use super::record::{Occurrences, Target};
use super::{CONTENT, Column, Record, Simple, Value};
use crate::decode::flat::{self, FlatItems, Patch, Run};
use crate::decode::items::still_there;
use crate::decode::{self, Cursor, DecodeFields, FlatSource, Leaf, Step, nil_attribute};
use crate::encode::flat::{Item, encode_items, encode_list};
use crate::encode::{self, EncodeFields, Encoder, FlatSink};
use crate::schema::{ComplexElement, Compositor, Field, QName, View};
use std::fmt;

/// The items of a repeated field whose type is a struct of plain values: rows, in the order of the
/// message. All columns have the same length.
///
/// ```
/// use deltasoap_core::{Column, QName, Record, Simple, Table, Value};
///
/// let table = Table::new([
///     (QName::new("", "id"), Column::Int(vec![1, 2])),
///     (QName::new("", "price"), Column::Double(vec![0.5, 2.0])),
/// ])?;
/// let Some(Column::Double(prices)) = table.column("price") else { unreachable!() };
/// assert_eq!(prices.iter().sum::<f64>(), 2.5);
/// let ids: Vec<Value> = table.rows().map(|row| row.fields[0].clone()).collect();
/// assert_eq!(ids, [Value::Simple(Simple::Int(1)), Value::Simple(Simple::Int(2))]);
/// // A table is equal to the list of its rows.
/// let rows = table.rows().map(|row| Value::Record(Box::new(row))).collect();
/// assert_eq!(Value::Table(Box::new(table)), Value::List(rows));
/// # Ok::<_, deltasoap_core::UnevenColumns>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// At least one column.
    columns: Vec<Column>,
    names: Vec<QName>,
}

/// Columns that do not form a table: their lengths differ, or there are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnevenColumns {
    /// Number of items of each column.
    pub lengths: Vec<usize>,
}

impl fmt::Display for UnevenColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lengths.is_empty() {
            true => f.write_str("a table without columns"),
            false => write!(f, "columns of different lengths: {:?}", self.lengths),
        }
    }
}

impl std::error::Error for UnevenColumns {}

impl Table {
    /// Creates a table of these columns, in the order of the type's fields.
    ///
    /// # Errors
    /// Returns an error if their lengths differ, or there are none.
    pub fn new(columns: impl IntoIterator<Item = (QName, Column)>) -> Result<Self, UnevenColumns> {
        let (names, columns): (_, Vec<Column>) = columns.into_iter().unzip();
        let lengths: Vec<usize> = columns.iter().map(Column::len).collect();
        let is_even = lengths.first().is_some_and(|first| lengths.iter().all(|length| length == first));
        if is_even { Ok(Table { columns, names }) } else { Err(UnevenColumns { lengths }) }
    }

    /// Creates a table without rows for the items of a field, if they can only be plain rows.
    /// `view` is that of the field's content.
    pub fn for_field(field: &Field, view: View<'_>) -> Option<Self> {
        if !field.is_repeated() || field.inline || field.nillable {
            return None;
        }
        let complex = view.complex().filter(|complex| is_plain(complex))?;
        // Most structs are not plain rows; this check comes before any allocation.
        complex.fields.iter().all(|field| column(field, view).is_some()).then(|| Table {
            columns: complex.fields.iter().filter_map(|field| column(field, view)).collect(),
            names: complex.fields.iter().map(|field| field.name.clone()).collect(),
        })
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the names of the fields.
    pub fn names(&self) -> &[QName] {
        &self.names
    }

    /// Returns the columns, in the order of the names.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the column of the first field with this local name.
    pub fn column(&self, local: &str) -> Option<&Column> {
        self.names.iter().zip(&self.columns).find(|(name, _)| name.local == *local).map(|(_, column)| column)
    }

    /// Converts into the columns with their names, to continue with the buffers.
    pub fn into_columns(self) -> impl Iterator<Item = (QName, Column)> {
        self.names.into_iter().zip(self.columns)
    }

    /// Returns a row as a separate value.
    pub fn row(&self, place: usize) -> Option<Record> {
        let fields = self.columns.iter().map(|column| column.get(place).map(Value::Simple));
        Some(Record { fields: fields.collect::<Option<_>>()?, ..Record::default() })
    }

    /// Returns an iterator over the rows.
    pub fn rows(&self) -> impl Iterator<Item = Record> {
        (0..self.len()).map_while(|place| self.row(place))
    }

    /// Returns the rows as separate values.
    pub fn to_values(&self) -> Vec<Value> {
        self.rows().map(|row| Value::Record(Box::new(row))).collect()
    }

    /// Appends a row; returns false if its values do not have the types of the columns.
    pub fn push(&mut self, row: &Record) -> bool {
        let values: Option<Vec<&Simple>> = row.fields.iter().map(simple).collect();
        let Some(values) = values.filter(|values| row.has_fields_alone() && values.len() == self.columns.len()) else {
            return false;
        };
        let is_of_types = values.iter().zip(&self.columns).all(|(value, column)| value.is_of(column.builtin()));
        is_of_types && self.columns.iter_mut().zip(values).all(|(column, value)| column.push(value))
    }

    /// Replaces a value, given its row and column; returns false if there is none, or the new value
    /// has another type.
    pub fn set(&mut self, row: usize, column: usize, value: &Simple) -> bool {
        self.columns.get_mut(column).is_some_and(|column| column.set(row, value))
    }

    /// Takes rows out of the table: all, or, while it is being read, only the finished ones.
    pub(super) fn take_items(&mut self, keeps_last: bool) -> Self {
        let columns = self.columns.iter_mut().map(|column| column.take_items(keeps_last)).collect();
        Table { columns, names: self.names.clone() }
    }

    /// Returns true if the rows are equal to these values.
    pub(super) fn is_same(&self, values: &[Value]) -> bool {
        let is_same = |(place, value): (usize, &Value)| match value {
            Value::Record(record) => {
                let mut pairs = self.columns.iter().zip(&record.fields);
                let is_same = |(column, value): (&Column, &Value)| column.get(place).as_ref() == simple(value);
                record.has_fields_alone() && record.fields.len() == self.columns.len() && pairs.all(is_same)
            }
            _ => false,
        };
        self.len() == values.len() && values.iter().enumerate().all(is_same)
    }

    /// Returns true if both tables have the same rows, regardless of names.
    pub(super) fn has_rows_of(&self, other: &Table) -> bool {
        self.columns == other.columns
    }

    /// Returns true if rows of the view's type have these columns.
    fn is_of(&self, view: View<'_>) -> bool {
        let Some(complex) = view.complex().filter(|complex| is_plain(complex)) else { return false };
        let mut pairs = self.columns.iter().zip(complex.fields.iter());
        let is_of = |(ours, field): (&Column, &Field)| {
            column(field, view).is_some_and(|column| column.builtin() == ours.builtin())
        };
        self.columns.len() == complex.fields.len() && pairs.all(is_of)
    }

    pub(super) fn column_mut(&mut self, column: usize) -> Option<&mut Column> {
        self.columns.get_mut(column)
    }

    /// Writes the same as for the list of its rows.
    pub(super) fn encode(&self, encoder: &mut Encoder, field: &Field, view: View<'_>) {
        if !self.is_of(view) {
            return encode_items(&self.to_values(), encoder, field, view);
        }
        let rows: Vec<Row<'_>> = (0..self.len()).map(|place| Row { table: self, place }).collect();
        encode_list(&rows, None, encoder, field, view);
    }
}

/// Returns true for types of plain rows, apart from the types of the fields.
fn is_plain(complex: &ComplexElement) -> bool {
    complex.compositor != Compositor::Choice
        && complex.choices.is_empty()
        && !complex.fields.is_empty()
        && complex.has_required_fields_alone()
}

/// Creates the column for a field of a row.
fn column(field: &Field, around: View<'_>) -> Option<Column> {
    Column::for_values(field, around.follow(field.element))
}

fn simple(value: &Value) -> Option<&Simple> {
    match value {
        Value::Simple(simple) => Some(simple),
        _ => None,
    }
}

impl Occurrences for Table {
    fn open(&mut self, place: usize, view: View<'_>) -> usize {
        if self.is_empty() {
            // Many lists have only one item, and many structs have many fields.
            self.columns.iter_mut().for_each(|column| column.reserve_exact(1));
        }
        self.columns.iter_mut().fold(0, |_, column| column.open(place, view))
    }

    fn splice(&mut self, place: usize, removed: usize, inserted: usize, view: View<'_>) -> usize {
        self.columns.iter_mut().map(|column| Occurrences::splice(column, place, removed, inserted, view)).sum()
    }

    fn truncate(&mut self, count: usize) {
        self.columns.iter_mut().for_each(|column| column.truncate(count));
    }

    fn run(&mut self, cursor: &mut Cursor<'_>, field: &Field, view: View<'_>) -> Run {
        flat::run(self, cursor, std::ptr::from_ref(field).addr(), view)
    }

    fn patch(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Patch {
        flat::patch(self, cursor, view)
    }
}

impl FlatItems for Table {
    fn len(&self) -> usize {
        self.len()
    }

    fn truncate(&mut self, count: usize) {
        Occurrences::truncate(self, count);
    }

    fn expect(&mut self, count: usize) {
        self.columns.iter_mut().for_each(|column| column.reserve(count));
    }

    fn splice(&mut self, place: usize, removed: usize, inserted: usize, view: View<'_>) {
        Occurrences::splice(self, place, removed, inserted, view);
    }

    #[inline(always)]
    fn scan_over<S: FlatSource>(&mut self, place: usize, scan: &mut S, _: View<'_>) -> Option<()> {
        self.columns.iter_mut().try_for_each(|column| column.scan(place, scan))
    }

    /// Reads a new row after all others first, so that an old row stays complete until the new one
    /// is.
    #[inline(always)]
    fn scan_into<S: FlatSource, E>(
        &mut self,
        place: usize,
        _: usize,
        scan: &mut S,
        view: View<'_>,
        end: impl FnOnce(&S) -> Option<E>,
    ) -> Option<E> {
        let count = self.len();
        self.scan_over(count, scan, view)?;
        let end = end(scan)?;
        if place < count {
            self.columns.iter_mut().for_each(|column| column.move_last(place));
        }
        Some(end)
    }
}

/// A row to be written.
struct Row<'t> {
    table: &'t Table,
    place: usize,
}

impl Item for Row<'_> {
    fn flat_leaves(view: View<'_>) -> Option<usize> {
        super::record::flat_leaves(view)
    }

    #[inline(always)]
    fn is_flat(&self, _: View<'_>) -> bool {
        true
    }

    fn count_same(_: &[Self], _: &[u8]) -> usize {
        0
    }

    /// Compares column by column, so that the kind of a column is checked once.
    fn compare(items: &[Self], images: &[u8], size: usize, _: View<'_>, mut note: impl FnMut(bool)) {
        for (items, images) in items.chunks(64).zip(images.chunks(64 * size)) {
            let (Some(first), mut marks, mut at) = (items.first(), 0, 0) else { return };
            for column in &first.table.columns {
                at += column.mark_changed(first.place, images.get(at..).unwrap_or_default(), size, &mut marks);
            }
            (0..items.len()).for_each(|index| note(marks >> index & 1 != 0));
        }
    }

    #[inline(always)]
    fn write_flat<S: FlatSink>(&self, sink: &mut S, _: View<'_>) {
        self.table.columns.iter().for_each(|column| column.write_leaf(self.place, sink));
    }

    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        encode::complex::encode(self, encoder, view);
    }
}

impl EncodeFields for Row<'_> {
    fn encode_field(&self, index: usize, encoder: &mut Encoder, field: &Field, view: View<'_>) {
        encoder.start(&field.name);
        self.table.columns[index].encode_item(self.place, encoder, view);
        encoder.end();
    }
}

/// Reads the row at a position of a list that is a table, or was one when the row began. Its frames
/// are those of a [`Value`]: between two messages a table may replace a list, or a list a table.
pub(super) fn decode_row(list: &mut Value, place: usize, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    let (me, fresh) = cursor.enter();
    if fresh {
        if !cursor.is_seeking() {
            cursor.go_over(me);
        }
        cursor.frame(me).state = CONTENT;
    }
    let place = still_there(place, list.occurrences().unwrap_or_default());
    decode::complex::decode(&mut Reading { list, place, view }, cursor, view)?;
    cursor.leave(me);
    Ok(())
}

/// A row being read.
struct Reading<'t> {
    list: &'t mut Value,
    place: usize,
    view: View<'t>,
}

impl Reading<'_> {
    fn column(&mut self, field: usize) -> Option<&mut Column> {
        match &mut *self.list {
            Value::Table(table) => table.column_mut(field),
            _ => None,
        }
    }

    /// Returns the row as a record if the table was spread.
    fn record(&mut self) -> Option<Target<'_>> {
        match &mut *self.list {
            Value::List(items) => match items.get_mut(self.place)? {
                Value::Record(record) => Some(Target { record, complex: self.view.complex()?, view: self.view }),
                _ => None,
            },
            _ => None,
        }
    }

    /// Spreads the table and returns the row as a record.
    fn spread(&mut self) -> Target<'_> {
        self.list.spread();
        let Some(record) = self.record() else { unreachable!("a row that was opened") };
        record
    }
}

/// There are no vacant values: all fields are required, so each is read, or keeps the value of the
/// previous message.
impl DecodeFields for Reading<'_> {
    fn open(&mut self, field: usize, place: usize, view: View<'_>) -> usize {
        self.record().map_or(0, |mut record| record.open(field, place, view))
    }

    fn keep(&mut self, field: usize, count: usize, view: View<'_>) {
        if let Some(mut record) = self.record() {
            record.keep(field, count, view);
        }
    }

    fn decode_field(&mut self, field: usize, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        let place = self.place;
        if let Some(column) = self.column(field)
            && !(cursor.is_entering() && nil_attribute(cursor)?.0)
        {
            return column.decode(place, cursor, view);
        }
        self.spread().decode_field(field, cursor, view)
    }

    #[inline]
    fn scan_leaf(&mut self, field: usize, leaf: &mut Leaf<'_>, view: View<'_>) -> Option<()> {
        let place = self.place;
        match self.column(field) {
            Some(column) => column.scan(place, leaf),
            None => self.record()?.scan_leaf(field, leaf, view),
        }
    }

    fn note_missing(&mut self, field: usize) {
        self.spread().record.fields[field] = Value::Absent;
    }

    fn vacate(&mut self, view: View<'_>) {
        if let Some(mut record) = self.record() {
            record.vacate(view);
        }
    }
}

impl Value {
    /// Converts a [`Column`] or a [`Table`] to a [`List`](Value::List), so that its values can be
    /// changed one by one. Returns the items; `None` if the value is not a list.
    pub fn spread(&mut self) -> Option<&mut Vec<Value>> {
        let items = match self {
            Value::Column(column) => Some(column.to_values()),
            Value::Table(table) => Some(table.to_values()),
            _ => None,
        };
        if let Some(items) = items {
            *self = Value::List(items);
        }
        match self {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// Converts a list to a column or a table, if the field can be one and all items have its type:
    /// it is written faster, and takes less memory. `view` is that of the field's content.
    pub fn gather(&mut self, field: &Field, view: View<'_>) {
        let Value::List(items) = self else { return };
        if let Some(mut column) = Column::for_field(field, view) {
            if items.iter().all(|item| matches!(item, Value::Simple(item) if column.push(item))) {
                *self = Value::Column(column);
            }
        } else if let Some(mut table) = Table::for_field(field, view)
            && items.iter().all(|item| matches!(item, Value::Record(item) if table.push(item)))
        {
            *self = Value::Table(Box::new(table));
        }
    }

    /// Returns the number of items of a list in any form; `None` if the value is not a list.
    pub(super) fn occurrences(&self) -> Option<usize> {
        match self {
            Value::List(items) => Some(items.len()),
            Value::Column(column) => Some(column.len()),
            Value::Table(table) => Some(table.len()),
            _ => None,
        }
    }
}

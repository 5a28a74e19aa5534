//! Appends values to columns.
//!
//! The builder has the form of the [`Shape`]: values are appended by one walk through both. Columns
//! and tables of a value, the long lists of numbers and of plain structs, are appended as they are,
//! without a step for each item.

use crate::buffers::{Bits, Numbers, Offsets, Texts};
use crate::error::{AppendError, Misfit};
use crate::moments::{days, microseconds};
use crate::shape::{Group, Kind, Leaf, Members, Open, Place, Shape, others_fields};
use arrow_array::types::{
    BinaryType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type, Utf8Type,
};
use arrow_array::{ArrayRef, ListArray, MapArray, StructArray};
use arrow_buffer::NullBufferBuilder;
use arrow_schema::{ArrowError, DataType, Field as ArrowField};
use bytes::Bytes;
use deltasoap_core::schema::{Field, Packing};
use deltasoap_core::{Column, PartUri, QName, Record, Simple, Table, TypedValue, Value};
use deltasoap_dynamic::Contract;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The parts of a message's package.
pub trait Parts {
    /// Returns the bytes of a part; `None` if the package has no such part.
    fn bytes(&self, uri: &PartUri) -> Option<Bytes>;
}

/// A message without a package.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoParts;

impl Parts for NoParts {
    fn bytes(&self, _: &PartUri) -> Option<Bytes> {
        None
    }
}

impl Parts for deltasoap_dynamic::Parts {
    fn bytes(&self, uri: &PartUri) -> Option<Bytes> {
        self.bytes(uri).cloned()
    }
}

/// What all columns need to know of a message.
pub(crate) struct Context<'c> {
    pub(crate) contract: &'c Contract,
    pub(crate) parts: &'c dyn Parts,
}

/// A growing column.
pub(crate) enum Builder {
    Leaf(LeafBuilder),
    Packed(Offsets, LeafBuilder, Packing),
    Json(Texts, Box<Field>),
    Struct(StructBuilder),
    List(Offsets, Box<Builder>),
    Others(Offsets, Texts, Texts),
}

impl Builder {
    pub(crate) fn new(shape: &Shape) -> Self {
        match shape {
            Shape::Leaf(leaf) => Builder::Leaf(LeafBuilder::new(*leaf)),
            Shape::Packed(leaf, packing) => Builder::Packed(Offsets::new(), LeafBuilder::new(*leaf), *packing),
            Shape::Json(field) => Builder::Json(Texts::new(), field.clone()),
            Shape::Struct(members) => Builder::Struct(StructBuilder {
                members: Arc::clone(members),
                columns: members.shapes.iter().map(Builder::new).collect(),
                valid: NullBufferBuilder::new(0),
            }),
            Shape::List(item) => Builder::List(Offsets::new(), Box::new(Builder::new(item))),
            Shape::Others => Builder::Others(Offsets::new(), Texts::new(), Texts::new()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Builder::Leaf(leaf) => leaf.len(),
            Builder::Packed(offsets, ..) | Builder::List(offsets, _) | Builder::Others(offsets, ..) => offsets.len(),
            Builder::Json(texts, _) => texts.len(),
            Builder::Struct(it) => it.valid.len(),
        }
    }

    /// Appends a value. If it does not fit, the column is left in a state that only
    /// [`truncate`](Self::truncate) repairs.
    ///
    /// # Errors
    /// If the value does not fit.
    pub(crate) fn append(&mut self, value: &Value, context: &Context<'_>) -> Result<(), AppendError> {
        match (self, value) {
            (Builder::List(offsets, item), value) => append_list(offsets, item, value, context),
            (Builder::Json(texts, field), value) => Ok(append_json(texts, field, value, context)?),
            (it, Value::Absent | Value::Nil | Value::NilWith(_)) => {
                it.append_null();
                Ok(())
            }
            (Builder::Leaf(leaf), value) => Ok(leaf.append(value, context)?),
            (Builder::Packed(offsets, items, packing), value) => {
                Ok(append_packed(offsets, items, *packing, value, context)?)
            }
            (Builder::Struct(it), value) => it.append(value, context),
            (Builder::Others(..), _) => Err(Misfit::Shape.into()),
        }
    }

    /// Appends null: for content that is not there.
    pub(crate) fn append_null(&mut self) {
        match self {
            Builder::Leaf(leaf) => leaf.append_null(),
            Builder::Packed(offsets, ..) | Builder::List(offsets, _) | Builder::Others(offsets, ..) => {
                offsets.push_null();
            }
            Builder::Json(texts, _) => texts.push_null(),
            Builder::Struct(it) => it.append_null(),
        }
    }

    /// Appends the items of a column.
    ///
    /// # Errors
    /// If an item does not fit.
    fn extend(&mut self, column: &Column, context: &Context<'_>) -> Result<(), AppendError> {
        match self {
            Builder::Leaf(leaf) => leaf.extend(column),
            other => {
                let mut items = column.iter().enumerate();
                items.try_for_each(|(index, item)| {
                    other.append(&Value::Simple(item), context).map_err(|error| error.at(index))
                })
            }
        }
    }

    /// Removes all rows after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        match self {
            Builder::Leaf(leaf) => leaf.truncate(len),
            Builder::Packed(offsets, items, _) => items.truncate(offsets.truncate(len)),
            Builder::List(offsets, items) => items.truncate(offsets.truncate(len)),
            Builder::Json(texts, _) => texts.truncate(len),
            Builder::Struct(it) => {
                it.columns.iter_mut().for_each(|column| column.truncate(len));
                it.valid.truncate(len);
            }
            Builder::Others(offsets, keys, values) => {
                let items = offsets.truncate(len);
                keys.truncate(items);
                values.truncate(items);
            }
        }
    }

    /// Returns the rows, and starts again without any.
    ///
    /// # Errors
    /// None are known.
    pub(crate) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        fn list(offsets: &mut Offsets, items: ArrayRef) -> Result<ArrayRef, ArrowError> {
            let (offsets, valid) = offsets.finish();
            let field = Arc::new(ArrowField::new("item", items.data_type().clone(), true));
            Ok(Arc::new(ListArray::try_new(field, offsets, items, valid)?))
        }
        match self {
            Builder::Leaf(leaf) => leaf.finish(),
            Builder::Packed(offsets, items, _) => list(offsets, items.finish()?),
            Builder::List(offsets, items) => list(offsets, items.finish()?),
            Builder::Json(texts, _) => Ok(Arc::new(texts.finish::<Utf8Type>())),
            Builder::Struct(it) => it.finish(),
            Builder::Others(offsets, keys, values) => {
                let columns: Vec<ArrayRef> =
                    vec![Arc::new(keys.finish::<Utf8Type>()), Arc::new(values.finish::<Utf8Type>())];
                let entries = StructArray::try_new(others_fields(), columns, None)?;
                let field = Arc::new(ArrowField::new("entries", DataType::Struct(others_fields()), false));
                let (offsets, valid) = offsets.finish();
                Ok(Arc::new(MapArray::try_new(field, offsets, entries, valid, false)?))
            }
        }
    }
}

/// Appends the occurrences of a repeated field.
fn append_list(
    offsets: &mut Offsets,
    items: &mut Builder,
    value: &Value,
    context: &Context<'_>,
) -> Result<(), AppendError> {
    match value {
        Value::Absent | Value::Nil | Value::NilWith(_) => {
            offsets.push_null();
            return Ok(());
        }
        Value::List(values) => {
            for (index, value) in values.iter().enumerate() {
                items.append(value, context).map_err(|error| error.at(index))?;
            }
        }
        Value::Column(column) => items.extend(column, context)?,
        Value::Table(table) => match items {
            Builder::Struct(it) => it.extend(table, context)?,
            _ => {
                for (index, row) in table.rows().enumerate() {
                    items.append(&Value::Record(Box::new(row)), context).map_err(|error| error.at(index))?;
                }
            }
        },
        _ => return Err(Misfit::Shape.into()),
    }
    Ok(offsets.end(items.len())?)
}

fn append_json(texts: &mut Texts, field: &Field, value: &Value, context: &Context<'_>) -> Result<(), Misfit> {
    if matches!(value, Value::Absent) {
        texts.push_null();
        return Ok(());
    }
    texts.push_written(|to| {
        let begin = to.len();
        context.contract.write_occurrence(field, value, to).map_err(|error| Misfit::Json(Box::new(error)))?;
        Ok(&to[begin..] != b"null")
    })
}

fn append_packed(
    offsets: &mut Offsets,
    items: &mut LeafBuilder,
    packing: Packing,
    value: &Value,
    context: &Context<'_>,
) -> Result<(), Misfit> {
    let read =
        |bytes: &[u8]| Column::from_packed(bytes, packing).map_err(|_| Misfit::range(&"packed bytes", "numbers"));
    match value {
        Value::Packed(column) => items.extend(column),
        Value::Part(uri) => items.extend(&read(&part(uri, context)?)?),
        Value::Simple(Simple::Base64Binary(bytes)) => items.extend(&read(&bytes.0)?),
        _ => return Err(Misfit::Shape),
    }
    .map_err(|error| error.reason)?;
    offsets.end(items.len())
}

fn part(uri: &PartUri, context: &Context<'_>) -> Result<Bytes, Misfit> {
    context.parts.bytes(uri).ok_or_else(|| Misfit::MissingPart(uri.clone()))
}

/// A growing column of structs.
pub(crate) struct StructBuilder {
    members: Arc<Members>,
    columns: Vec<Builder>,
    valid: NullBufferBuilder,
}

impl StructBuilder {
    fn append(&mut self, value: &Value, context: &Context<'_>) -> Result<(), AppendError> {
        let members = Arc::clone(&self.members);
        let names = &members.names;
        match (&members.kind, value) {
            (Kind::Record(group), Value::Record(record)) => {
                append_record(group, &mut self.columns, names, record, context)?;
            }
            (Kind::Record(_), _) => return Err(Misfit::Shape.into()),
            (Kind::Open(open), value) => append_open(open, &mut self.columns, names, value, context)?,
        }
        self.valid.append_non_null();
        Ok(())
    }

    fn append_null(&mut self) {
        self.columns.iter_mut().for_each(Builder::append_null);
        self.valid.append_null();
    }

    /// Appends the rows of a table.
    fn extend(&mut self, table: &Table, context: &Context<'_>) -> Result<(), AppendError> {
        let members = Arc::clone(&self.members);
        let Kind::Record(group) = &members.kind else { return Err(Misfit::Shape.into()) };
        if group.fields.len() != table.columns().len() || self.columns.len() != group.fields.len() {
            return Err(Misfit::Shape.into());
        }
        for (column, place) in table.columns().iter().zip(&group.fields) {
            let Place::Column(index) = place else { return Err(Misfit::Shape.into()) };
            self.columns[*index].extend(column, context).map_err(|error| error.within(&members.names[*index]))?;
        }
        self.valid.append_n_non_nulls(table.len());
        Ok(())
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let columns = self.columns.iter_mut().map(Builder::finish).collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(StructArray::try_new(self.members.fields(), columns, self.valid.finish())?))
    }
}

/// Appends a record to the columns of a struct.
fn append_record(
    group: &Group,
    columns: &mut [Builder],
    names: &[String],
    record: &Record,
    context: &Context<'_>,
) -> Result<(), AppendError> {
    for (index, &column) in group.attributes.iter().enumerate() {
        match record.attributes.get(index).and_then(Option::as_ref) {
            Some(simple) => {
                append_simple(&mut columns[column], simple).map_err(|error| error.within(&names[column]))?;
            }
            None => columns[column].append_null(),
        }
    }
    if let Some(column) = group.others {
        append_others(&mut columns[column], &record.others)?;
    }
    if let Some(column) = group.text {
        let text = record.fields.first().unwrap_or(&Value::Absent);
        columns[column].append(text, context).map_err(|error| error.within(&names[column]))?;
    }
    for (index, place) in group.fields.iter().enumerate() {
        let value = record.fields.get(index).unwrap_or(&Value::Absent);
        match place {
            Place::Column(column) => {
                columns[*column].append(value, context).map_err(|error| error.within(&names[*column]))?;
            }
            Place::Among(inner) => match value {
                Value::Record(record) => append_record(inner, columns, names, record, context)?,
                Value::Absent => append_absent(inner, columns, names, context)?,
                _ => return Err(Misfit::Shape.into()),
            },
            Place::Nowhere => {}
        }
    }
    Ok(())
}

/// Appends nothing to the columns of a choice that is not there.
fn append_absent(
    group: &Group,
    columns: &mut [Builder],
    names: &[String],
    context: &Context<'_>,
) -> Result<(), AppendError> {
    append_record(group, columns, names, &Record::default(), context)
}

fn append_simple(column: &mut Builder, simple: &Simple) -> Result<(), AppendError> {
    match column {
        Builder::Leaf(leaf) => Ok(leaf.append_simple(simple)?),
        _ => Err(Misfit::Shape.into()),
    }
}

fn append_others(column: &mut Builder, others: &BTreeMap<QName, String>) -> Result<(), AppendError> {
    let Builder::Others(offsets, keys, values) = column else { return Err(Misfit::Shape.into()) };
    for (name, text) in others {
        keys.push_shown(name)?;
        values.push(text.as_bytes())?;
    }
    Ok(offsets.end(keys.len())?)
}

/// Appends content whose type the message can choose.
fn append_open(
    open: &Open,
    columns: &mut [Builder],
    names: &[String],
    value: &Value,
    context: &Context<'_>,
) -> Result<(), AppendError> {
    let (typed, inner) = match value {
        Value::Typed(typed) => (Some(&**typed), &typed.value),
        value => (None, value),
    };
    let is_base = typed.is_none_or(|typed| is_of_base(open, typed, context));
    let record = match inner {
        Value::Record(record) if is_base => Some(&**record),
        _ => None,
    };
    let text = open.text.filter(|_| matches!(inner, Value::Simple(_) | Value::Name(_)));
    match typed {
        Some(typed) => {
            let label = context.contract.type_label(&typed.name);
            append_simple(&mut columns[open.type_name], &Simple::String(label))?;
        }
        None => columns[open.type_name].append_null(),
    }
    let record = record.filter(|_| open.base.is_some());
    if let Some((_, group)) = &open.base {
        match record {
            Some(record) => append_record(group, columns, names, record, context)?,
            None => append_absent(group, columns, names, context)?,
        }
    }
    if let Some(column) = open.text {
        columns[column].append(if text.is_some() { inner } else { &Value::Absent }, context)?;
    }
    match record.is_none() && text.is_none() {
        true => columns[open.json].append(value, context),
        false => {
            columns[open.json].append_null();
            Ok(())
        }
    }
}

/// Returns true if a message names the declared type itself.
fn is_of_base(open: &Open, typed: &TypedValue, context: &Context<'_>) -> bool {
    let view = context.contract.view(open.content);
    let deltasoap_core::schema::Element::Open(element) = view.element else { return false };
    open.base.as_ref().is_some_and(|(base, _)| element.named(&typed.name) == Some(*base))
}

/// A growing column of simple values.
pub(crate) enum LeafBuilder {
    Boolean(Bits),
    Int8(Numbers<i8>),
    Int16(Numbers<i16>),
    Int32(Numbers<i32>),
    Int64(Numbers<i64>),
    UInt8(Numbers<u8>),
    UInt16(Numbers<u16>),
    UInt32(Numbers<u32>),
    UInt64(Numbers<u64>),
    Float32(Numbers<f32>),
    Float64(Numbers<f64>),
    Timestamp(Numbers<i64>),
    Date(Numbers<i32>),
    Decimal(Numbers<i128>, u8, u8),
    Binary(Texts),
    Text(Texts),
    Present(Bits),
}

/// Runs the same expression on any column.
macro_rules! with_column {
    ($leaf:expr, $column:ident => $work:expr) => {
        match $leaf {
            LeafBuilder::Boolean($column) | LeafBuilder::Present($column) => $work,
            LeafBuilder::Int8($column) => $work,
            LeafBuilder::Int16($column) => $work,
            LeafBuilder::Int32($column) | LeafBuilder::Date($column) => $work,
            LeafBuilder::Int64($column) | LeafBuilder::Timestamp($column) => $work,
            LeafBuilder::UInt8($column) => $work,
            LeafBuilder::UInt16($column) => $work,
            LeafBuilder::UInt32($column) => $work,
            LeafBuilder::UInt64($column) => $work,
            LeafBuilder::Float32($column) => $work,
            LeafBuilder::Float64($column) => $work,
            LeafBuilder::Decimal($column, ..) => $work,
            LeafBuilder::Binary($column) | LeafBuilder::Text($column) => $work,
        }
    };
}

impl LeafBuilder {
    fn new(leaf: Leaf) -> Self {
        match leaf {
            Leaf::Boolean => LeafBuilder::Boolean(Bits::new()),
            Leaf::Int8 => LeafBuilder::Int8(Numbers::new()),
            Leaf::Int16 => LeafBuilder::Int16(Numbers::new()),
            Leaf::Int32 => LeafBuilder::Int32(Numbers::new()),
            Leaf::Int64 => LeafBuilder::Int64(Numbers::new()),
            Leaf::UInt8 => LeafBuilder::UInt8(Numbers::new()),
            Leaf::UInt16 => LeafBuilder::UInt16(Numbers::new()),
            Leaf::UInt32 => LeafBuilder::UInt32(Numbers::new()),
            Leaf::UInt64 => LeafBuilder::UInt64(Numbers::new()),
            Leaf::Float32 => LeafBuilder::Float32(Numbers::new()),
            Leaf::Float64 => LeafBuilder::Float64(Numbers::new()),
            Leaf::Timestamp => LeafBuilder::Timestamp(Numbers::new()),
            Leaf::Date => LeafBuilder::Date(Numbers::new()),
            Leaf::Decimal { precision, scale } => LeafBuilder::Decimal(Numbers::new(), precision, scale),
            Leaf::Binary => LeafBuilder::Binary(Texts::new()),
            Leaf::Text => LeafBuilder::Text(Texts::new()),
            Leaf::Present => LeafBuilder::Present(Bits::new()),
        }
    }

    fn len(&self) -> usize {
        with_column!(self, column => column.len())
    }

    fn append_null(&mut self) {
        with_column!(self, column => column.push_null());
    }

    fn truncate(&mut self, len: usize) {
        with_column!(self, column => column.truncate(len));
    }

    fn append(&mut self, value: &Value, context: &Context<'_>) -> Result<(), Misfit> {
        match (self, value) {
            (LeafBuilder::Present(bits), _) => {
                bits.push(true);
                Ok(())
            }
            (it, Value::Simple(simple)) => it.append_simple(simple),
            (LeafBuilder::Text(texts), Value::Name(name)) => texts.push_shown(name),
            (LeafBuilder::Binary(texts), Value::Part(uri)) => texts.push(&part(uri, context)?),
            _ => Err(Misfit::Shape),
        }
    }

    #[inline]
    fn append_simple(&mut self, simple: &Simple) -> Result<(), Misfit> {
        match (&mut *self, simple) {
            (LeafBuilder::Text(texts), Simple::String(text)) => texts.push(text.as_bytes())?,
            (LeafBuilder::Text(texts), simple) => texts.push_shown(simple)?,
            (LeafBuilder::Boolean(bits), Simple::Boolean(it)) => bits.push(*it),
            (LeafBuilder::Int8(numbers), Simple::Byte(it)) => numbers.push(*it),
            (LeafBuilder::Int16(numbers), Simple::Short(it)) => numbers.push(*it),
            (LeafBuilder::Int32(numbers), Simple::Int(it)) => numbers.push(*it),
            (LeafBuilder::Int64(numbers), Simple::Long(it)) => numbers.push(*it),
            (LeafBuilder::UInt8(numbers), Simple::UnsignedByte(it)) => numbers.push(*it),
            (LeafBuilder::UInt16(numbers), Simple::UnsignedShort(it)) => numbers.push(*it),
            (LeafBuilder::UInt32(numbers), Simple::UnsignedInt(it)) => numbers.push(*it),
            (LeafBuilder::UInt64(numbers), Simple::UnsignedLong(it)) => numbers.push(*it),
            (LeafBuilder::Float32(numbers), Simple::Float(it)) => numbers.push(*it),
            (LeafBuilder::Float64(numbers), Simple::Double(it)) => numbers.push(*it),
            (LeafBuilder::Timestamp(numbers), Simple::DateTime(it)) => {
                numbers.push(microseconds(it).ok_or_else(|| Misfit::range(simple, "timestamps"))?);
            }
            (LeafBuilder::Date(numbers), Simple::Date(it)) => {
                numbers.push(days(it).ok_or_else(|| Misfit::range(simple, "dates"))?);
            }
            (LeafBuilder::Decimal(numbers, precision, scale), simple) => {
                let digits = unscaled(&simple.to_string(), *precision, *scale);
                numbers.push(digits.ok_or_else(|| Misfit::range(simple, "decimals"))?);
            }
            (LeafBuilder::Binary(texts), Simple::Base64Binary(bytes)) => texts.push(&bytes.0)?,
            (LeafBuilder::Binary(texts), Simple::HexBinary(bytes)) => texts.push(&bytes.0)?,
            (_, Simple::NonCanonical(given)) => return self.append_simple(&given.value),
            _ => return Err(Misfit::Shape),
        }
        Ok(())
    }

    /// Appends the items of a column.
    ///
    /// # Errors
    /// If an item does not fit.
    fn extend(&mut self, column: &Column) -> Result<(), AppendError> {
        match (&mut *self, column) {
            (LeafBuilder::Boolean(bits), Column::Boolean(items)) => bits.extend(items),
            (LeafBuilder::Int8(numbers), Column::Byte(items)) => numbers.extend(items),
            (LeafBuilder::Int16(numbers), Column::Short(items)) => numbers.extend(items),
            (LeafBuilder::Int32(numbers), Column::Int(items)) => numbers.extend(items),
            (LeafBuilder::Int64(numbers), Column::Long(items)) => numbers.extend(items),
            (LeafBuilder::UInt8(numbers), Column::UnsignedByte(items)) => numbers.extend(items),
            (LeafBuilder::UInt16(numbers), Column::UnsignedShort(items)) => numbers.extend(items),
            (LeafBuilder::UInt32(numbers), Column::UnsignedInt(items)) => numbers.extend(items),
            (LeafBuilder::UInt64(numbers), Column::UnsignedLong(items)) => numbers.extend(items),
            (LeafBuilder::Float32(numbers), Column::Float(items)) => numbers.extend(items),
            (LeafBuilder::Float64(numbers), Column::Double(items)) => numbers.extend(items),
            (LeafBuilder::Text(texts), Column::String(items)) => {
                items.iter().try_for_each(|item| texts.push(item.as_bytes()))?;
            }
            (it, column) => {
                for (index, item) in column.iter().enumerate() {
                    it.append_simple(&item).map_err(|error| AppendError::from(error).at(index))?;
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            LeafBuilder::Boolean(bits) | LeafBuilder::Present(bits) => bits.finish(),
            LeafBuilder::Int8(numbers) => Arc::new(numbers.finish::<Int8Type>()),
            LeafBuilder::Int16(numbers) => Arc::new(numbers.finish::<Int16Type>()),
            LeafBuilder::Int32(numbers) => Arc::new(numbers.finish::<Int32Type>()),
            LeafBuilder::Int64(numbers) => Arc::new(numbers.finish::<Int64Type>()),
            LeafBuilder::UInt8(numbers) => Arc::new(numbers.finish::<UInt8Type>()),
            LeafBuilder::UInt16(numbers) => Arc::new(numbers.finish::<UInt16Type>()),
            LeafBuilder::UInt32(numbers) => Arc::new(numbers.finish::<UInt32Type>()),
            LeafBuilder::UInt64(numbers) => Arc::new(numbers.finish::<UInt64Type>()),
            LeafBuilder::Float32(numbers) => Arc::new(numbers.finish::<Float32Type>()),
            LeafBuilder::Float64(numbers) => Arc::new(numbers.finish::<Float64Type>()),
            LeafBuilder::Timestamp(numbers) => {
                Arc::new(numbers.finish::<TimestampMicrosecondType>().with_timezone("UTC"))
            }
            LeafBuilder::Date(numbers) => Arc::new(numbers.finish::<Date32Type>()),
            LeafBuilder::Decimal(numbers, precision, scale) => {
                Arc::new(numbers.finish::<Decimal128Type>().with_precision_and_scale(*precision, *scale as i8)?)
            }
            LeafBuilder::Binary(texts) => Arc::new(texts.finish::<BinaryType>()),
            LeafBuilder::Text(texts) => Arc::new(texts.finish::<Utf8Type>()),
        })
    }
}

/// Returns a decimal as an integer of its last digits; `None` if it has too many digits.
fn unscaled(text: &str, precision: u8, scale: u8) -> Option<i128> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > usize::from(scale) {
        return None;
    }
    let mut number = 0_i128;
    let padding = std::iter::repeat_n(b'0', usize::from(scale) - fraction.len());
    for digit in whole.bytes().chain(fraction.bytes()).chain(padding) {
        number = number.checked_mul(10)?.checked_add(i128::from(digit.checked_sub(b'0').filter(|it| *it < 10)?))?;
    }
    let is_within = number < 10_i128.checked_pow(u32::from(precision))?;
    is_within.then_some(if is_negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_their_digits_or_are_refused() {
        assert_eq!(unscaled("-12.500", 5, 2), Some(-1250));
        assert_eq!((unscaled("0", 1, 0), unscaled("999.99", 5, 2)), (Some(0), Some(99_999)));
        assert_eq!((unscaled("1000.00", 5, 2), unscaled("1.005", 5, 2)), (None, None));
        assert_eq!(unscaled(&"9".repeat(38), 38, 0), Some(10_i128.pow(38) - 1));
        assert_eq!(unscaled(&"9".repeat(60), 38, 0), None);
    }
}

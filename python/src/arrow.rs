//! Columns as Arrow arrays, by the PyCapsule interface (Arrow, "The Arrow PyCapsule Interface").

use crate::columns::microseconds;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray, RecordBatch, RecordBatchIterator, StringArray,
    StructArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Fields};
use deltasoap_core::Column;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::sync::Arc;

/// Copies a column into an array. `nil` is true where an item is nil, and empty if none can be.
pub(crate) fn array(column: &Column, nil: &[bool]) -> ArrayRef {
    let valid = (!nil.is_empty()).then(|| NullBuffer::from_iter(nil.iter().map(|nil| !nil)));
    fn numbers<T: ArrowPrimitiveType>(items: &[T::Native], valid: Option<NullBuffer>) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::new(items.to_vec().into(), valid))
    }
    match column {
        Column::Boolean(items) => Arc::new(BooleanArray::new(items.clone().into(), valid)),
        Column::Byte(items) => numbers::<Int8Type>(items, valid),
        Column::Short(items) => numbers::<Int16Type>(items, valid),
        Column::Int(items) => numbers::<Int32Type>(items, valid),
        Column::Long(items) => numbers::<Int64Type>(items, valid),
        Column::UnsignedByte(items) => numbers::<UInt8Type>(items, valid),
        Column::UnsignedShort(items) => numbers::<UInt16Type>(items, valid),
        Column::UnsignedInt(items) => numbers::<UInt32Type>(items, valid),
        Column::UnsignedLong(items) => numbers::<UInt64Type>(items, valid),
        Column::Float(items) => numbers::<Float32Type>(items, valid),
        Column::Double(items) => numbers::<Float64Type>(items, valid),
        Column::DateTime(items) => {
            let moments = items.iter().enumerate().map(|(index, item)| match nil.get(index) {
                Some(true) => None,
                _ => microseconds(item),
            });
            let moments: PrimitiveArray<TimestampMicrosecondType> = moments.collect();
            // A moment with a zone is one in UTC.
            match items.iter().any(|item| item.zone().is_some()) {
                true => Arc::new(moments.with_timezone("UTC")),
                false => Arc::new(moments),
            }
        }
        Column::String(items) => {
            let texts = items.iter().enumerate().map(|(index, item)| match nil.get(index) {
                Some(true) => None,
                _ => Some(item.as_str()),
            });
            Arc::new(texts.collect::<StringArray>())
        }
        other => Arc::new(other.iter().map(|item| Some(item.to_string())).collect::<StringArray>()),
    }
}

/// Joins columns of one length.
pub(crate) fn table(columns: Vec<(String, ArrayRef)>, count: usize) -> StructArray {
    let field = |(name, array): &(String, ArrayRef)| Field::new(name, array.data_type().clone(), true);
    let fields: Fields = columns.iter().map(field).collect();
    let arrays: Vec<ArrayRef> = columns.into_iter().map(|(_, array)| array).collect();
    match StructArray::try_new_with_length(fields, arrays, None, count) {
        Ok(array) => array,
        Err(_) => StructArray::new_null(Fields::empty(), count),
    }
}

/// Returns the capsules of the schema and of the array.
///
/// # Errors
/// If the type cannot be exported.
pub(crate) fn capsules<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyTuple>> {
    let refused = |error: arrow_schema::ArrowError| PyValueError::new_err(error.to_string());
    let is_table = matches!(array.data_type(), DataType::Struct(_));
    let field = Field::new("", array.data_type().clone(), !is_table);
    let schema = FFI_ArrowSchema::try_from(&field).map_err(refused)?;
    let data = FFI_ArrowArray::new(&array.to_data());
    let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
    let data = PyCapsule::new_with_value(py, data, c"arrow_array")?;
    PyTuple::new(py, [schema, data])
}

/// Returns the capsule of a stream with one record batch.
///
/// # Errors
/// If the type cannot be exported.
pub(crate) fn stream(py: Python<'_>, table: StructArray) -> PyResult<Bound<'_, PyCapsule>> {
    let batch = RecordBatch::from(table);
    let schema = batch.schema();
    let reader = RecordBatchIterator::new([Ok(batch)], schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
}

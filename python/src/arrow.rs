//! Columns as Arrow arrays, by the PyCapsule interface (Arrow, "The Arrow PyCapsule Interface").

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator, StructArray};
use arrow_schema::{DataType, Field, Fields};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

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

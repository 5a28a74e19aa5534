//! Arrow by the PyCapsule interface (Arrow, "The Arrow PyCapsule Interface"): columns and record batches
//! that are given to other libraries, and tables that are read from them.

use crate::gate;
use arrow_array::cast::AsArray as _;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader as _, StructArray, make_array};
use arrow_data::ArrayData;
use arrow_pyarrow::FromPyArrow as _;
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
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

/// Returns the capsule of a stream of record batches.
///
/// # Errors
/// If the type cannot be exported.
pub(crate) fn stream(py: Python<'_>, schema: SchemaRef, batches: Vec<RecordBatch>) -> PyResult<Bound<'_, PyCapsule>> {
    let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
}

/// Returns the capsule of a schema.
///
/// # Errors
/// If a type cannot be exported.
pub(crate) fn schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(|error| PyValueError::new_err(error.to_string()))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// Reads the schema of a table, from whatever has the PyCapsule interface.
///
/// # Errors
/// If it has not, or holds types that are unknown.
pub(crate) fn read_schema(data: &Bound<'_, PyAny>) -> PyResult<Schema> {
    if !data.hasattr("__arrow_c_schema__")? {
        return Err(no_arrow(data, "schema"));
    }
    Schema::from_pyarrow_bound(data).map_err(|error| invalid(data.py(), error))
}

/// Reads record batches from whatever has the PyCapsule interface. An array that is not of structs is a
/// column of this name.
///
/// # Errors
/// If it has no such interface, or does not hold what its schema says.
pub(crate) fn read(data: &Bound<'_, PyAny>, name: &str) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let py = data.py();
    if data.hasattr("__arrow_c_array__")? {
        // Checks offsets, sizes, and that texts are UTF-8.
        let array = ArrayData::from_pyarrow_bound(data).map_err(|error| invalid(py, error))?;
        let batch = as_batch(make_array(array), name).map_err(refused)?;
        return Ok((batch.schema(), vec![batch]));
    }
    if !data.hasattr("__arrow_c_stream__")? {
        return Err(no_arrow(data, "table"));
    }
    let mut reader = RecordBatchStreamReader::from_pyarrow_bound(data).map_err(|error| invalid(py, error))?;
    let schema = reader.schema();
    let mut batches = Vec::new();
    loop {
        // What makes the batches may wait for other threads of Python.
        let (next, rest) = gate::leave(py, || (reader.next().map(checked), reader));
        reader = rest;
        match next {
            Some(batch) => batches.push(batch.map_err(refused)?),
            None => break,
        }
        py.check_signals()?;
    }
    gate::leave(py, || drop(reader));
    Ok((schema, batches))
}

/// Checks offsets, sizes, and that texts are UTF-8.
fn checked(batch: Result<RecordBatch, ArrowError>) -> Result<RecordBatch, ArrowError> {
    let batch = batch?;
    batch.columns().iter().try_for_each(|column| column.to_data().validate_full())?;
    Ok(batch)
}

fn as_batch(array: ArrayRef, name: &str) -> Result<RecordBatch, ArrowError> {
    let Some(table) = array.as_struct_opt() else {
        return RecordBatch::try_from_iter_with_nullable([(name, array, true)]);
    };
    match table.null_count() {
        0 => Ok(RecordBatch::from(table.clone())),
        _ => Err(ArrowError::InvalidArgumentError("some rows are null as wholes".to_owned())),
    }
}

fn refused(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn no_arrow(data: &Bound<'_, PyAny>, what: &str) -> PyErr {
    let class = data.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{class} is no {what} of Arrow: it does not have the Arrow PyCapsule interface"))
}

/// Converts an error of the import. Its class is one of pyarrow, which need not be there.
fn invalid(py: Python<'_>, error: PyErr) -> PyErr {
    match py.import("pyarrow") {
        Ok(_) => PyValueError::new_err(error.value(py).to_string()),
        Err(_) => PyValueError::new_err("not valid in the Arrow C data interface"),
    }
}

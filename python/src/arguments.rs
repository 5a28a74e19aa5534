//! Arrays and tables as arguments, without a Python object for each item.
//!
//! The functions of `deltasoap._columns` give the bytes of an array in the type that the schema
//! asks for. A number that does not fit is an error, never another number.

use crate::columns::{ColumnView, Rows};
use crate::errors::Invalid;
use deltasoap_core::lexical::DateTime;
use deltasoap_core::schema::{Builtin, Element, Field, View};
use deltasoap_core::{Column, Table, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// Converts an array of numbers or moments; `None` for other objects, and types that have no
/// column. Items that are masked are nil.
///
/// # Errors
/// If an item does not fit into the type.
pub(crate) fn numbers(value: &Bound<'_, PyAny>, base: Builtin) -> Result<Option<Value>, Invalid> {
    if let Ok(view) = value.cast::<ColumnView>() {
        let column = view.get().column().filter(|column| column.builtin() == base && view.get().is_full());
        return Ok(column.cloned().map(Value::Column));
    }
    let Some(code) = code(base) else { return Ok(None) };
    if !is_array(value)? {
        return Ok(None);
    }
    let found = columns_module(value)?.getattr("numbers")?.call1((value, code));
    let found = found.map_err(|error| match error.is_instance_of::<PyValueError>(value.py()) {
        true => Invalid::new(error.value(value.py()).to_string()),
        false => error.into(),
    })?;
    let Some((bytes, mask)) = found.extract::<Option<(Bound<'_, PyBytes>, Option<Bound<'_, PyBytes>>)>>()? else {
        return Ok(None);
    };
    let column =
        read(base, bytes.as_bytes()).ok_or_else(|| Invalid::new("a moment outside the years of xsd:dateTime"))?;
    Ok(Some(match mask {
        None => Value::Column(column),
        Some(mask) => {
            let items = column.iter().zip(mask.as_bytes());
            Value::List(
                items.map(|(item, &masked)| if masked == 0 { Value::Simple(item) } else { Value::Nil }).collect(),
            )
        }
    }))
}

/// Returns the items of an array, or of a table, of any library as objects; `None` for other
/// objects. This is the way for what the engine has no columns for: values that may be absent,
/// texts, moments with zones.
///
/// # Errors
/// If the library raises an exception.
pub(crate) fn items<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyList>>> {
    if is_table(value)? {
        let rows: Option<Bound<'py, PyList>> = columns_module(value)?.getattr("rows")?.call1((value,))?.extract()?;
        if rows.is_some() {
            return Ok(rows);
        }
    }
    if !is_array(value)? || !columns_module(value)?.getattr("is_sequence")?.call1((value,))?.is_truthy()? {
        return Ok(None);
    }
    Ok(Some(columns_module(value)?.getattr("items")?.call1((value,))?.cast_into()?))
}

fn columns_module<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyModule>> {
    value.py().import("deltasoap._columns")
}

fn is_array(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(value.hasattr("__array_interface__")? || value.hasattr("__array__")?)
}

fn is_table(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(value.hasattr("__arrow_c_array__")? || value.hasattr("__arrow_c_stream__")? || value.hasattr("dtype")?)
}

/// Converts a table: rows of an earlier response, a structured array, a DataFrame, an Arrow table;
/// `None` for other objects, and for structs that are not flat.
///
/// # Errors
/// If a column is missing or has items of another type.
pub(crate) fn table(value: &Bound<'_, PyAny>, field: &Field, view: View<'_>) -> Result<Option<Value>, Invalid> {
    if let Ok(rows) = value.cast::<Rows>() {
        return Ok(rows.get().items_of(field.element).cloned());
    }
    let (true, Some(mut empty)) = (is_table(value)?, Table::for_field(field, view).map(Table::into_columns)) else {
        return Ok(None);
    };
    let found = columns_module(value)?.getattr("columns")?.call1((value,))?;
    let Some(given) = found.extract::<Option<Bound<'_, PyDict>>>().map_err(PyErr::from)? else { return Ok(None) };
    for key in given.keys() {
        let key: String = key.extract()?;
        let names = view.complex().into_iter().flat_map(|complex| complex.fields.iter());
        if !names.clone().any(|field| *field.name.local == *key) {
            let names: Vec<&str> = names.map(|field| &*field.name.local).collect();
            return Err(Invalid::new(format!("no column {key:?} in this type, which has {}", names.join(", "))));
        }
    }
    let columns = empty.try_fold(Vec::new(), |mut columns, (name, column)| {
        let missing = || Invalid::new(format!("Missing element {}", name.local)).within(&name.local);
        let items = given.get_item(&*name.local)?.ok_or_else(missing)?;
        let column = items_of(&items, column, view, &name.local).map_err(|error| error.within(&name.local))?;
        columns.push((name, column));
        Ok::<_, Invalid>(columns)
    })?;
    let table = Table::new(columns).map_err(|error| Invalid::new(error.to_string()))?;
    Ok(Some(Value::Table(Box::new(table))))
}

/// Converts the items of a column: an array at once, other sequences item by item.
fn items_of(items: &Bound<'_, PyAny>, mut column: Column, view: View<'_>, name: &str) -> Result<Column, Invalid> {
    if let Some(Value::Column(column)) = numbers(items, column.builtin())? {
        return Ok(column);
    }
    let fields = view.complex().into_iter().flat_map(|complex| complex.fields.iter());
    let field = fields.into_iter().find(|field| *field.name.local == *name);
    let content =
        field.map(|field| view.follow(field.element)).filter(|view| matches!(view.element, Element::Simple(_)));
    let content = content.ok_or_else(|| Invalid::new("no simple type"))?;
    let listed = self::items(items)?.map_or_else(|| items.clone(), Bound::into_any);
    for (index, item) in listed.try_iter()?.enumerate() {
        let item = item?;
        if item.is_none() {
            return Err(Invalid::new("Value is required").at(index));
        }
        let item = crate::scalars::from_python(&item, content).map_err(|error| error.at(index))?;
        if !column.push(&item) {
            return Err(Invalid::new(format!("expected a value of xsd:{}", column.builtin().local())).at(index));
        }
    }
    Ok(column)
}

/// Returns NumPy's code of a type.
fn code(base: Builtin) -> Option<&'static str> {
    Some(match base {
        Builtin::Boolean => "?",
        Builtin::Byte => "i1",
        Builtin::Short => "i2",
        Builtin::Int => "i4",
        Builtin::Long => "i8",
        Builtin::UnsignedByte => "u1",
        Builtin::UnsignedShort => "u2",
        Builtin::UnsignedInt => "u4",
        Builtin::UnsignedLong => "u8",
        Builtin::Float => "f4",
        Builtin::Double => "f8",
        Builtin::DateTime => "datetime64[us]",
        _ => return None,
    })
}

/// Reads numbers in the machine's order.
fn read(base: Builtin, bytes: &[u8]) -> Option<Column> {
    macro_rules! numbers {
        ($variant:ident, $type:ty) => {{
            let items = bytes.as_chunks::<{ size_of::<$type>() }>().0;
            Some(Column::$variant(items.iter().map(|item| <$type>::from_ne_bytes(*item)).collect()))
        }};
    }
    match base {
        Builtin::Boolean => Some(Column::Boolean(bytes.iter().map(|byte| *byte != 0).collect())),
        Builtin::Byte => numbers!(Byte, i8),
        Builtin::Short => numbers!(Short, i16),
        Builtin::Int => numbers!(Int, i32),
        Builtin::Long => numbers!(Long, i64),
        Builtin::UnsignedByte => numbers!(UnsignedByte, u8),
        Builtin::UnsignedShort => numbers!(UnsignedShort, u16),
        Builtin::UnsignedInt => numbers!(UnsignedInt, u32),
        Builtin::UnsignedLong => numbers!(UnsignedLong, u64),
        Builtin::Float => numbers!(Float, f32),
        Builtin::Double => numbers!(Double, f64),
        Builtin::DateTime => {
            let items = bytes.as_chunks::<8>().0.iter().map(|item| moment(i64::from_ne_bytes(*item)));
            items.collect::<Option<_>>().map(Column::DateTime)
        }
        _ => None,
    }
}

/// Returns the moment of a number of microseconds since 1970, without a zone, as `datetime64` has
/// none.
fn moment(microseconds: i64) -> Option<DateTime> {
    let epoch = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0);
    epoch.checked_add(jiff::SignedDuration::from_micros(microseconds)).ok().map(DateTime::from)
}

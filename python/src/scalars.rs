//! Simple values in Python.
//!
//! Strings, numbers, booleans and bytes are converted here. All others, such as dates, are converted
//! from and to their text by functions in `deltasoap._scalars`, so that both ways are written once,
//! in Python.

use crate::errors::Invalid;
use deltasoap_core::lexical::{Base64, is_xml_char};
use deltasoap_core::schema::{Builtin, Element, View, shown_values};
use deltasoap_core::{Simple, lexical};
use pyo3::exceptions::{PyArithmeticError, PyAttributeError, PyUnicodeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::borrow::Cow;

/// The functions of `deltasoap._scalars`.
struct Functions {
    /// By the local name of a built-in type: from text to a value.
    read: Py<PyDict>,
    /// By the local name of a built-in type: from a value to text.
    write: Py<PyDict>,
    decimal: Py<PyAny>,
}

fn functions(py: Python<'_>) -> PyResult<&'static Functions> {
    static FUNCTIONS: PyOnceLock<Functions> = PyOnceLock::new();
    FUNCTIONS.get_or_try_init(py, || {
        let module = py.import("deltasoap._scalars")?;
        Ok(Functions {
            read: module.getattr("READ")?.cast_into::<PyDict>().map_err(PyErr::from)?.unbind(),
            write: module.getattr("WRITE")?.cast_into::<PyDict>().map_err(PyErr::from)?.unbind(),
            decimal: py.import("decimal")?.getattr("Decimal")?.unbind(),
        })
    })
}

/// Converts a simple value to Python.
///
/// # Errors
/// If Python cannot represent it, such as a date in the year 20000.
pub(crate) fn to_python<'py>(py: Python<'py>, simple: &Simple) -> PyResult<Bound<'py, PyAny>> {
    Ok(match simple {
        Simple::String(text) => PyString::new(py, text).into_any(),
        Simple::Boolean(it) => PyBool::new(py, *it).to_owned().into_any(),
        Simple::Int(it) => it.into_pyobject(py)?.into_any(),
        Simple::Double(it) => PyFloat::new(py, *it).into_any(),
        Simple::Float(it) => PyFloat::new(py, single(*it)).into_any(),
        Simple::Long(it) => it.into_pyobject(py)?.into_any(),
        Simple::Short(it) => it.into_pyobject(py)?.into_any(),
        Simple::Byte(it) => it.into_pyobject(py)?.into_any(),
        Simple::UnsignedLong(it) => it.into_pyobject(py)?.into_any(),
        Simple::UnsignedInt(it) => it.into_pyobject(py)?.into_any(),
        Simple::UnsignedShort(it) => it.into_pyobject(py)?.into_any(),
        Simple::UnsignedByte(it) => it.into_pyobject(py)?.into_any(),
        Simple::Base64Binary(bytes) => PyBytes::new(py, &bytes.0).into_any(),
        Simple::List(items) => {
            let items = items.iter().map(|item| to_python(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Simple::NonCanonical(given) => match &given.value {
            Simple::Decimal(_) => functions(py)?.decimal.bind(py).call1((&*given.text,))?,
            value => to_python(py, value)?,
        },
        Simple::Decimal(_) => functions(py)?.decimal.bind(py).call1((simple.to_string(),))?,
        other => by_text(py, other.builtin(), &other.to_string())?,
    })
}

/// Returns the shortest text of a single, as a double.
fn single(value: f32) -> f64 {
    if value.is_finite() { format!("{value:e}").parse().unwrap_or(f64::from(value)) } else { f64::from(value) }
}

fn by_text<'py>(py: Python<'py>, builtin: Builtin, text: &str) -> PyResult<Bound<'py, PyAny>> {
    match functions(py)?.read.bind(py).get_item(builtin.local())? {
        Some(read) => read.call1((text,)),
        None => Ok(PyString::new(py, text).into_any()),
    }
}

/// Converts an item of a list from its text.
///
/// # Errors
/// If Python cannot represent it.
pub(crate) fn word<'py>(py: Python<'py>, items: Builtin, text: &str) -> PyResult<Bound<'py, PyAny>> {
    match Simple::parse(items, text) {
        Ok(item) => to_python(py, &item),
        Err(_) => Ok(PyString::new(py, text).into_any()),
    }
}

/// Returns the text of a list, whose items are of a built-in type.
///
/// # Errors
/// If an item is not of that type.
pub(crate) fn words<'py>(value: &Bound<'py, PyAny>, items: Builtin) -> Result<Bound<'py, PyAny>, Invalid> {
    if value.is_instance_of::<PyString>() {
        return Ok(value.clone());
    }
    let texts = value.try_iter()?.map(|item| text_of(&item?, items)).collect::<Result<Vec<_>, Invalid>>()?;
    Ok(PyString::new(value.py(), &texts.join(" ")).into_any())
}

/// Reads a simple value, or one of a union.
///
/// # Errors
/// If the object is not such a value.
pub(crate) fn from_python(value: &Bound<'_, PyAny>, view: View<'_>) -> Result<Simple, Invalid> {
    match view.element {
        Element::Simple(simple) => {
            if simple.enumeration.is_empty()
                && let Some(fast) = fast(value, simple.base)
            {
                return Ok(fast);
            }
            let text = text_of(value, simple.base)?;
            checked(&text)?;
            let parsed = match view.element.is_name() {
                true => Simple::named(simple.base, &text).map_err(|error| error.reason),
                false => Simple::parse_as(simple, &text).map_err(|error| error.reason),
            };
            let parsed = parsed.and_then(|parsed| finite(parsed, &text));
            parsed.map_err(|reason| refused(&text, view, reason))
        }
        Element::Union(union) => {
            let text = union_text(value, view)?;
            checked(&text)?;
            Simple::parse_union(union, view, &text).ok_or_else(|| refused(&text, view, ""))
        }
        _ => Err(Invalid::new("the schema has no simple type here")),
    }
}

/// Converts the usual types without a detour by text.
fn fast(value: &Bound<'_, PyAny>, base: Builtin) -> Option<Simple> {
    match base {
        Builtin::String => {
            let text = value.cast_exact::<PyString>().ok()?;
            let text: Cow<'_, str> = text.extract().ok()?;
            text.chars().all(is_xml_char).then(|| Simple::String(text.into_owned()))
        }
        Builtin::Boolean => value.cast_exact::<PyBool>().ok().map(|it| Simple::Boolean(it.is_true())),
        Builtin::Double => value.cast_exact::<PyFloat>().ok().map(|it| Simple::Double(it.value())),
        Builtin::Int => integer(value).map(Simple::Int),
        Builtin::Long => integer(value).map(Simple::Long),
        Builtin::Short => integer(value).map(Simple::Short),
        Builtin::Base64Binary => match value.cast::<PyBytes>() {
            Ok(bytes) => Some(Simple::Base64Binary(Base64(bytes.as_bytes().to_vec()))),
            Err(_) => value.cast::<PyByteArray>().ok().map(|bytes| Simple::Base64Binary(Base64(bytes.to_vec()))),
        },
        _ => None,
    }
}

fn integer<'py, T: FromPyObjectOwned<'py>>(value: &Bound<'py, PyAny>) -> Option<T> {
    value.cast_exact::<PyInt>().ok()?.extract().ok()
}

/// Returns the text of a value of a built-in type, not yet checked.
fn text_of(value: &Bound<'_, PyAny>, base: Builtin) -> Result<String, Invalid> {
    let py = value.py();
    let native = native(value)?;
    let value = native.as_ref().unwrap_or(value);
    let write = functions(py).and_then(|functions| functions.write.bind(py).get_item(base.local()));
    let text = match write.map_err(Invalid::from)? {
        Some(write) => write.call1((value,)).map_err(|error| unwritable(error, value, base))?,
        None if value.is_instance_of::<PyString>() => value.clone(),
        None if is_collection(value) => {
            return Err(Invalid::new(format!("expected a value of xsd:{}, found {}", base.local(), kind(value))));
        }
        None => value.str().map_err(Invalid::from)?.into_any(),
    };
    text.extract().map_err(|error| unwritable(error, value, base))
}

/// Returns a scalar of NumPy as an object of Python; `None` for other objects.
fn native<'py>(value: &Bound<'py, PyAny>) -> Result<Option<Bound<'py, PyAny>>, Invalid> {
    let py = value.py();
    let is_numpy = value.get_type().module().is_ok_and(|module| module == "numpy");
    // Those that Python's own types include have the right text already.
    if !is_numpy || value.is_instance_of::<PyFloat>() || !value.hasattr(intern!(py, "dtype"))? {
        return Ok(None);
    }
    Ok(Some(py.import("deltasoap._scalars")?.getattr("native")?.call1((value,))?))
}

/// Explains that an object has no text of a type: by what is wrong with it, or by its kind.
fn unwritable(error: PyErr, value: &Bound<'_, PyAny>, base: Builtin) -> Invalid {
    let py = value.py();
    let is_of_other_kind = error.is_instance_of::<PyAttributeError>(py)
        || error.is_instance_of::<PyArithmeticError>(py)
        || error.is_instance_of::<PyUnicodeError>(py);
    match is_of_other_kind {
        true => Invalid::new(format!("expected a value of xsd:{}, found {} ({error})", base.local(), kind(value))),
        false => Invalid::from(error),
    }
}

/// Returns a number, unless it became infinite since the type has none so large.
fn finite(parsed: Simple, text: &str) -> Result<Simple, &'static str> {
    let is_infinite = match parsed {
        Simple::Float(it) => it.is_infinite(),
        Simple::Double(it) => it.is_infinite(),
        _ => false,
    };
    if is_infinite && !text.contains("INF") { Err("too large") } else { Ok(parsed) }
}

/// Returns the text of a value of a union or list: that of the first built-in type that takes it.
fn union_text(value: &Bound<'_, PyAny>, view: View<'_>) -> Result<String, Invalid> {
    if let Ok(text) = value.cast::<PyString>() {
        return text.extract().map_err(Invalid::from);
    }
    let Element::Union(union) = view.element else { return Err(Invalid::new("no union")) };
    let bases: Vec<Builtin> = union.members.iter().filter_map(|&member| base_of(view.follow(member))).collect();
    let of_item = |item: &Bound<'_, PyAny>| match bases.iter().find_map(|&base| text_of(item, base).ok()) {
        Some(text) => Ok(text),
        None => item.str().and_then(|text| text.extract()).map_err(Invalid::from),
    };
    match value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        true => {
            let items = value.try_iter().map_err(Invalid::from)?;
            let texts = items.map(|item| of_item(&item.map_err(Invalid::from)?));
            Ok(texts.collect::<Result<Vec<_>, _>>()?.join(" "))
        }
        false => of_item(value),
    }
}

fn base_of(view: View<'_>) -> Option<Builtin> {
    match view.element {
        Element::Simple(simple) => Some(simple.base),
        Element::Union(union) => union.members.first().and_then(|&member| base_of(view.follow(member))),
        _ => None,
    }
}

fn is_collection(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyList>() || value.is_instance_of::<PyDict>() || value.is_instance_of::<PyTuple>()
}

fn checked(text: &str) -> Result<(), Invalid> {
    match text.chars().find(|&it| !lexical::is_xml_char(it)) {
        None => Ok(()),
        Some(it) => Err(Invalid::new(format!("the text has U+{:04X}, which XML does not allow", u32::from(it)))),
    }
}

fn refused(text: &str, view: View<'_>, reason: &str) -> Invalid {
    let expected = match view.element {
        Element::Simple(simple) if !simple.enumeration.is_empty() => {
            format!("one of {}", shown_values(simple.enumeration.iter().map(AsRef::as_ref)))
        }
        Element::Simple(simple) => format!("a value of {}", readable(&simple.name)),
        Element::Union(union) => format!("a value of {}", readable(&union.name)),
        _ => "a simple value".to_owned(),
    };
    let text: String = text.chars().take(60).collect();
    let because = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
    Invalid::new(format!("expected {expected}, found {text:?}{because}"))
}

fn readable(name: &deltasoap_core::QName) -> String {
    if name.namespace == deltasoap_core::ns::XSD { format!("xsd:{}", name.local) } else { name.to_string() }
}

/// Returns the name of an object's type, for errors.
pub(crate) fn kind(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string())
}

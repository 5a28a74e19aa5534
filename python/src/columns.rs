//! Lists of numbers and of flat structs, without a Python object for each item.
//!
//! A [`ColumnView`] shows the items of a list of numbers to NumPy by the array interface: the array
//! reads the engine's memory. [`Rows`] are the items of a list of flat structs: a sequence whose
//! items are made when they are asked for, and an Arrow record batch for programs that want all of
//! them. Both keep the response alive, which then is not reused as the memory of the next one.
//!
//! What a message cannot have as a column in the engine's memory is copied into one: items of SOAP
//! arrays, lists with nil, and structs with optional values.

use crate::contract::Model;
use crate::to_python::ToPython;
use crate::{arrow, scalars};
use arrow_array::{RecordBatch, StructArray};
use deltasoap_arrow::{column_array, microseconds};
use deltasoap_core::schema::{Builtin, ComplexElement, Element, ElementRef, View};
use deltasoap_core::{Column, Lease, Record, Simple, Value};
use deltasoap_dynamic::Reply;
use pyo3::exceptions::{PyAttributeError, PyIndexError, PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PySlice, PyString, PyTuple, PyType};
use std::borrow::Cow;
use std::sync::Arc;

/// A step from a value to one within it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Field(usize),
    Item(usize),
    /// The value of a type that the message names.
    Typed,
}

/// A message that was received, and stays as it is while columns read it.
pub(crate) trait Message: Send + Sync {
    /// Returns the content of the body.
    fn body(&self) -> &Value;
}

impl Message for Reply {
    fn body(&self) -> &Value {
        &self.body
    }
}

impl Message for Value {
    fn body(&self) -> &Value {
        self
    }
}

impl Message for Lease<Value> {
    fn body(&self) -> &Value {
        self
    }
}

/// Where a list is.
pub(crate) enum Source {
    /// In a message.
    Message(Arc<dyn Message>, Box<[Step]>),
    /// A copy.
    Owned(Value),
}

impl Source {
    fn value(&self) -> &Value {
        const ABSENT: &Value = &Value::Absent;
        match self {
            Source::Message(message, steps) => {
                steps.iter().try_fold(message.body(), |value, step| within(value, *step)).unwrap_or(ABSENT)
            }
            Source::Owned(value) => value,
        }
    }
}

fn within(value: &Value, step: Step) -> Option<&Value> {
    match (value, step) {
        (Value::Record(record), Step::Field(index)) => record.fields.get(index),
        (Value::List(items), Step::Item(index)) => items.get(index),
        (Value::Typed(typed), Step::Typed) => Some(&typed.value),
        _ => None,
    }
}

/// A list of numbers, booleans, moments or strings.
#[pyclass(module = "deltasoap._engine", frozen, sequence)]
pub(crate) struct ColumnView {
    source: Arc<Source>,
    /// The column of a table.
    index: Option<usize>,
    /// True where an item is nil; empty if none can be.
    nil: Vec<bool>,
}

impl ColumnView {
    pub(crate) fn new(source: Source) -> Self {
        ColumnView { source: Arc::new(source), index: None, nil: Vec::new() }
    }

    /// Holds a column that is no part of a message.
    fn of(column: Column) -> Self {
        Self::new(Source::Owned(Value::Column(column)))
    }

    /// Copies items of one type; `None` if they are of several.
    pub(crate) fn gather(builtin: Builtin, items: &[Value]) -> Option<Self> {
        let mut column = Column::new(builtin)?;
        let mut nil = Vec::with_capacity(items.len());
        for item in items {
            let simple = match item {
                Value::Simple(Simple::NonCanonical(given)) => Some(&given.value),
                Value::Simple(simple) => Some(simple),
                Value::Nil | Value::NilWith(_) => None,
                _ => return None,
            };
            let is_pushed = match simple {
                Some(simple) => column.push(simple),
                None => column.push(&Simple::vacant(builtin)),
            };
            if !is_pushed {
                return None;
            }
            nil.push(simple.is_none());
        }
        Some(ColumnView { nil, ..Self::of(column) })
    }

    /// Returns true if no item is nil.
    pub(crate) fn is_full(&self) -> bool {
        !self.nil.contains(&true)
    }

    /// Returns the column without a mask if no item is nil.
    pub(crate) fn masked_where_nil(self) -> Self {
        let nil = if self.is_full() { Vec::new() } else { self.nil };
        ColumnView { nil, ..self }
    }

    pub(crate) fn column(&self) -> Option<&Column> {
        match (self.source.value(), self.index) {
            (Value::Column(column) | Value::Packed(column), None) => Some(column),
            (Value::Table(table), Some(index)) => table.columns().get(index),
            _ => None,
        }
    }

    /// Returns what the package makes of it: an array of NumPy, or itself.
    pub(crate) fn into_array(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let is_text = matches!(self.column(), Some(Column::String(_)) | None);
        let may_be_nil = !self.nil.is_empty();
        let view = Bound::new(py, self)?.into_any();
        if is_text {
            return Ok(view);
        }
        py.import("deltasoap._columns")?.getattr("array")?.call1((view, may_be_nil))
    }
}

#[pymethods]
impl ColumnView {
    fn __len__(&self) -> usize {
        self.column().map_or(0, Column::len)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let item = |index: usize| match self.nil.get(index) {
            Some(true) => Ok(py.None().into_bound(py)),
            _ => {
                let simple = self.column().and_then(|column| column.get(index));
                scalars::to_python(py, &simple.ok_or_else(|| PyIndexError::new_err("index out of range"))?)
            }
        };
        item_or_slice(index, self.__len__(), item)
    }

    /// Returns the items as a list.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.__getitem__(py, &PySlice::full(py))
    }

    /// Returns the position of an item, as of a list.
    #[pyo3(signature = (*args))]
    fn index<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        self.to_list(py)?.call_method1("index", args)
    }

    /// Returns how often an item occurs.
    #[pyo3(signature = (value, /))]
    fn count<'py>(&self, py: Python<'py>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.to_list(py)?.call_method1("count", (value,))
    }

    /// Copies and pickles are lists, which keep no response alive.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Plain<'py>> {
        Ok((py.get_type::<PyList>(), (self.to_list(py)?,)))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let other = match other.cast::<ColumnView>() {
            Ok(view) => view.get().to_list(py)?,
            Err(_) => other.clone(),
        };
        self.to_list(py)?.eq(other)
    }

    /// NumPy's array interface, version 3. Strings have none.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (kind, pointer) = match self.column() {
            Some(Column::Boolean(items)) => ("|b1", items.as_ptr().addr()),
            Some(Column::Byte(items)) => ("|i1", items.as_ptr().addr()),
            Some(Column::UnsignedByte(items)) => ("|u1", items.as_ptr().addr()),
            Some(Column::Short(items)) => ("i2", items.as_ptr().addr()),
            Some(Column::UnsignedShort(items)) => ("u2", items.as_ptr().addr()),
            Some(Column::Int(items)) => ("i4", items.as_ptr().addr()),
            Some(Column::UnsignedInt(items)) => ("u4", items.as_ptr().addr()),
            Some(Column::Long(items)) => ("i8", items.as_ptr().addr()),
            Some(Column::UnsignedLong(items)) => ("u8", items.as_ptr().addr()),
            Some(Column::Float(items)) => ("f4", items.as_ptr().addr()),
            Some(Column::Double(items)) => ("f8", items.as_ptr().addr()),
            _ => return Err(PyAttributeError::new_err("the items have no array interface")),
        };
        let order = if cfg!(target_endian = "little") { "<" } else { ">" };
        let typestr = if kind.starts_with('|') { kind.to_owned() } else { format!("{order}{kind}") };
        let dict = PyDict::new(py);
        dict.set_item("version", 3)?;
        dict.set_item("typestr", typestr)?;
        dict.set_item("shape", PyTuple::new(py, [self.__len__()])?)?;
        // True: the array may only be read.
        dict.set_item("data", (pointer, true))?;
        Ok(dict)
    }

    /// Moments as microseconds since 1970, for `datetime64[us]`; those with a zone in UTC.
    fn microseconds(&self) -> PyResult<ColumnView> {
        let Some(Column::DateTime(items)) = self.column() else {
            return Err(PyTypeError::new_err("the items are no moments"));
        };
        let items = items.iter().map(|item| microseconds(item).unwrap_or(i64::MIN)).collect();
        Ok(Self::of(Column::Long(items)))
    }

    /// True for moments.
    #[getter]
    fn is_moments(&self) -> bool {
        matches!(self.column(), Some(Column::DateTime(_)))
    }

    /// True where an item is nil, as an array of booleans.
    #[getter]
    fn mask(&self) -> ColumnView {
        Self::of(Column::Boolean(self.nil.clone()))
    }

    /// The Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        drop(requested_schema);
        let column = self.column().ok_or_else(|| PyTypeError::new_err("no column"))?;
        arrow::capsules(py, &*column_array(column, &self.nil))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        const SHOWN: usize = 10;
        let count = self.__len__();
        let shown = self.__getitem__(py, &PySlice::new(py, 0, SHOWN.min(count) as isize, 1))?.repr()?.to_string();
        let shown = shown.trim_end_matches(']').to_owned();
        Ok(format!("{shown}{}]", if count > SHOWN { format!(", ... {} more", count - SHOWN) } else { String::new() }))
    }
}

/// The items of a list of flat structs.
#[pyclass(module = "deltasoap._engine", frozen, sequence)]
pub(crate) struct Rows {
    model: Arc<Model>,
    source: Arc<Source>,
    /// The content of an item.
    content: ElementRef,
}

impl Rows {
    pub(crate) fn new(model: Arc<Model>, source: Source, content: ElementRef) -> Self {
        Rows { model, source: Arc::new(source), content }
    }

    /// Returns the items themselves if they are of this content.
    pub(crate) fn items_of(&self, content: ElementRef) -> Option<&Value> {
        (self.content == content).then(|| self.source.value())
    }

    fn complex(&self) -> PyResult<&ComplexElement> {
        let view = self.model.schema().view(self.content);
        view.complex().ok_or_else(|| PyTypeError::new_err("no rows"))
    }

    fn row(&self, index: usize) -> Option<Cow<'_, Value>> {
        match self.source.value() {
            Value::Table(table) => table.row(index).map(|row| Cow::Owned(Value::Record(Box::new(row)))),
            Value::List(items) => items.get(index).map(Cow::Borrowed),
            _ => None,
        }
    }

    /// Returns the column of a name, and whether items can be missing in it.
    fn find(&self, name: &str) -> PyResult<ColumnView> {
        if let Value::Table(table) = self.source.value() {
            let index = table.names().iter().position(|it| *it.local == *name);
            let index = index.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
            return Ok(ColumnView { source: Arc::clone(&self.source), index: Some(index), nil: Vec::new() });
        }
        let complex = self.complex()?;
        let records = self.records();
        let (builtin, items): (_, Vec<Value>) = match part(complex, name) {
            Some(Part::Field(index)) => {
                let view = self.model.schema().view(complex.fields[index].element);
                (base_of(view), records.map(|record| item_of(record, index)).collect())
            }
            Some(Part::Attribute(index)) => {
                let view = self.model.schema().view(complex.attributes[index].element);
                (base_of(view), records.map(|record| attribute_of(record, index)).collect())
            }
            None => return Err(PyKeyError::new_err(name.to_owned())),
        };
        let gathered = ColumnView::gather(builtin, &items);
        // Other types are columns of their texts.
        let texts = || {
            let text = |value: &Value| match value {
                Value::Simple(simple) => Value::Simple(Simple::String(simple.to_string())),
                Value::Name(name) => Value::Simple(Simple::String(name.to_string())),
                _ => Value::Nil,
            };
            ColumnView::gather(Builtin::String, &items.iter().map(text).collect::<Vec<_>>())
        };
        gathered.or_else(texts).ok_or_else(|| PyTypeError::new_err("no column"))
    }

    fn table(&self) -> PyResult<StructArray> {
        let mut columns = Vec::new();
        for name in self.names()? {
            let view = self.find(&name)?;
            let column = view.column().ok_or_else(|| PyTypeError::new_err("no column"))?;
            columns.push((name, column_array(column, &view.nil)));
        }
        Ok(arrow::table(columns, self.__len__()))
    }

    fn records(&self) -> impl Iterator<Item = Option<&Record>> {
        let items = match self.source.value() {
            Value::List(items) => &items[..],
            _ => &[],
        };
        items.iter().map(|item| match item {
            Value::Record(record) => Some(&**record),
            _ => None,
        })
    }

    fn names(&self) -> PyResult<Vec<String>> {
        let complex = self.complex()?;
        let fields = complex.fields.iter().map(|field| field.name.local.to_string());
        Ok(fields.chain(complex.attributes.iter().map(|attribute| attribute.name.local.to_string())).collect())
    }
}

#[pymethods]
impl Rows {
    fn __len__(&self) -> usize {
        match self.source.value() {
            Value::Table(table) => table.len(),
            Value::List(items) => items.len(),
            _ => 0,
        }
    }

    /// Returns an item by its position, items by a slice, or a column by its name.
    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(name) = index.cast::<PyString>() {
            return self.find(&name.to_cow()?)?.into_array(py);
        }
        let converter = ToPython::new(py, &self.model, &|_| None);
        let item = |index: usize| match self.row(index) {
            Some(row) => converter.content(&row, self.content),
            None => Err(PyIndexError::new_err("index out of range")),
        };
        item_or_slice(index, self.__len__(), item)
    }

    /// Returns the names of the columns.
    fn keys(&self) -> PyResult<Vec<String>> {
        self.names()
    }

    /// Returns the items as a list of values.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.__getitem__(py, &PySlice::full(py))
    }

    /// Returns a structured array of NumPy.
    fn to_numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("deltasoap._columns")?.getattr("structured")?.call1((slf,))
    }

    /// The Arrow PyCapsule interface: a record batch, as a struct array.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        drop(requested_schema);
        arrow::capsules(py, &self.table()?)
    }

    /// The Arrow PyCapsule interface: a stream of one record batch.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batch = RecordBatch::from(self.table()?);
        arrow::stream(py, batch.schema(), vec![batch])
    }

    /// Returns the position of an item, as of a list.
    #[pyo3(signature = (*args))]
    fn index<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        self.to_list(py)?.call_method1("index", args)
    }

    /// Returns how often an item occurs.
    #[pyo3(signature = (value, /))]
    fn count<'py>(&self, py: Python<'py>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.to_list(py)?.call_method1("count", (value,))
    }

    /// Copies and pickles are lists, which keep no response alive.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Plain<'py>> {
        Ok((py.get_type::<PyList>(), (self.to_list(py)?,)))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let other = match other.cast::<Rows>() {
            Ok(rows) => rows.get().to_list(py)?,
            Err(_) => other.clone(),
        };
        self.to_list(py)?.eq(other)
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("<Rows: {} of {}>", self.__len__(), self.names()?.join(", ")))
    }
}

/// What copies are made of: `list`, and its argument.
type Plain<'py> = (Bound<'py, PyType>, (Bound<'py, PyAny>,));

/// Makes columns sequences of `collections.abc`. Rows are not: polars would read their items instead
/// of their columns.
pub(crate) fn register(py: Python<'_>) -> PyResult<()> {
    let sequence = py.import("collections.abc")?.getattr("Sequence")?;
    sequence.call_method1("register", (py.get_type::<ColumnView>(),)).map(drop)
}

/// Returns true for a struct whose values are all simple and occur at most once.
pub(crate) fn is_flat(complex: &ComplexElement, view: View<'_>) -> bool {
    let is_simple = |element: &Element| matches!(element, Element::Simple(simple) if simple.packed.is_none());
    let names = complex.fields.iter().map(|field| &field.name.local);
    let names = names.chain(complex.attributes.iter().map(|attribute| &attribute.name.local));
    let mut known = std::collections::HashSet::new();
    !complex.fields.is_empty()
        && complex.text.is_none()
        && !complex.any_attribute
        && complex.choices.is_empty()
        && complex.compositor != deltasoap_core::schema::Compositor::Choice
        && complex
            .fields
            .iter()
            .all(|field| !field.inline && !field.is_repeated() && is_simple(view.follow(field.element).element))
        && names.into_iter().all(|name| known.insert(name))
}

/// A part of a row.
enum Part {
    Field(usize),
    Attribute(usize),
}

fn part(complex: &ComplexElement, name: &str) -> Option<Part> {
    let field = complex.fields.iter().position(|field| *field.name.local == *name).map(Part::Field);
    let attribute = || complex.attributes.iter().position(|it| *it.name.local == *name).map(Part::Attribute);
    field.or_else(attribute)
}

fn item_of(record: Option<&Record>, index: usize) -> Value {
    match record.and_then(|record| record.fields.get(index)) {
        Some(value @ (Value::Simple(_) | Value::Name(_))) => value.clone(),
        _ => Value::Nil,
    }
}

fn attribute_of(record: Option<&Record>, index: usize) -> Value {
    let simple = record.and_then(|record| record.attributes.get(index)?.clone());
    simple.map_or(Value::Nil, Value::Simple)
}

/// Returns the built-in type of simple content.
pub(crate) fn base_of(view: View<'_>) -> Builtin {
    match view.element {
        Element::Simple(simple) => simple.base,
        _ => Builtin::String,
    }
}

/// Returns the item of an index, or the list of a slice.
fn item_or_slice<'py>(
    index: &Bound<'py, PyAny>,
    count: usize,
    item: impl Fn(usize) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = index.py();
    if let Ok(slice) = index.cast::<PySlice>() {
        let indices = slice.indices(count as isize)?;
        let places = (0..indices.slicelength).map(|number| indices.start + number as isize * indices.step);
        let items = places.map(|place| item(place as usize)).collect::<PyResult<Vec<_>>>()?;
        return Ok(PyList::new(py, items)?.into_any());
    }
    let place: isize = index.extract()?;
    let place = if place < 0 { place + count as isize } else { place };
    match usize::try_from(place) {
        Ok(place) if place < count => item(place),
        _ => Err(PyIndexError::new_err("index out of range")),
    }
}

//! Conversion of values to Python, by the schema.
//!
//! Complex types become instances of a class each, lists become lists, nil and absent values become
//! `None`. Nested values are converted by nested calls: the depth of a message is limited when it is
//! read.

use crate::columns::{self, ColumnView, Message, Rows, Source, Step};
use crate::contract::Model;
use crate::names::{Layout, Name, Slot};
use crate::scalars;
use deltasoap_core::decode::value_from_slice;
use deltasoap_core::encode::Encoder;
use deltasoap_core::schema::{ArrayElement, Builtin, ComplexElement, Compositor, Element, ElementRef, Field, View};
use deltasoap_core::{Column, Node, PartUri, Record, Shared, Simple, Value, ns};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A message that columns read, and the way from its body to the value that is being converted.
type Columns = (Arc<Model>, Arc<dyn Message>, RefCell<Vec<Step>>);

/// Converts values of one message.
pub(crate) struct ToPython<'c, 'py> {
    py: Python<'py>,
    model: &'c Model,
    /// Returns the bytes of another part of the message's package.
    part: &'c dyn Fn(&PartUri) -> Option<Vec<u8>>,
    /// Values that several places share, by their address.
    shared: Rc<RefCell<HashMap<usize, Py<PyAny>>>>,
    /// Set if lists of numbers and flat structs are columns.
    columns: Option<Columns>,
    /// True if empty texts are texts; for zeep, they are `None`.
    keeps_empty: bool,
}

impl<'c, 'py> ToPython<'c, 'py> {
    pub(crate) fn new(py: Python<'py>, model: &'c Model, part: &'c dyn Fn(&PartUri) -> Option<Vec<u8>>) -> Self {
        ToPython { py, model, part, shared: Rc::default(), columns: None, keeps_empty: false }
    }

    /// Converts lists of numbers and of flat structs to columns, which keep the response.
    pub(crate) fn with_columns(self, model: Arc<Model>, message: Arc<dyn Message>) -> Self {
        ToPython { columns: Some((model, message, RefCell::default())), ..self }
    }

    /// Converts empty texts and empty elements to values, not to `None`.
    pub(crate) fn with_empty_values(self) -> Self {
        ToPython { keeps_empty: true, ..self }
    }

    /// Returns true for a text that is `None` in Python.
    fn is_none(&self, text: &str) -> bool {
        text.is_empty() && !self.keeps_empty
    }

    /// Converts a value within the current one.
    fn within<T>(&self, step: Step, convert: impl FnOnce() -> T) -> T {
        let Some((_, _, steps)) = &self.columns else { return convert() };
        steps.borrow_mut().push(step);
        let converted = convert();
        steps.borrow_mut().pop();
        converted
    }

    fn none(&self) -> Bound<'py, PyAny> {
        self.py.None().into_bound(self.py)
    }

    /// Converts the content of an element.
    ///
    /// # Errors
    /// If Python code of a type refuses it.
    pub(crate) fn content(&self, value: &Value, content: ElementRef) -> PyResult<Bound<'py, PyAny>> {
        let view = self.model.schema().view(content);
        match (value, view.element) {
            // Of text beside attributes, zeep has only the text as None.
            (Value::Nil | Value::NilWith(_), Element::Complex(complex)) if complex.text.is_some() => {
                self.complex(&Record::default(), complex, content, view)
            }
            (Value::Absent | Value::Nil | Value::NilWith(_), _) => Ok(self.none()),
            // zeep has no empty texts: an element without text is None.
            (Value::Simple(Simple::String(text)), _) if self.is_none(text) => Ok(self.none()),
            (Value::Simple(simple), _) => self.simple(simple, content),
            (Value::Name(name), _) => Ok(PyString::new(self.py, &name.to_string()).into_any()),
            (Value::Packed(column) | Value::Column(column), _) => match &self.columns {
                Some((_, message, steps)) => self.column_view(message, steps),
                None => self.column(column, content),
            },
            (Value::Part(uri), _) => match (self.part)(uri) {
                Some(bytes) => Ok(PyBytes::new(self.py, &bytes).into_any()),
                None => Err(PyValueError::new_err(format!("the message has no part {uri}"))),
            },
            (Value::Record(record), Element::Complex(complex)) => self.complex(record, complex, content, view),
            (Value::List(items), Element::Array(array)) => self.rows(items, array, array.dimensions),
            (Value::Tree(node), Element::Open(_)) => self.open_tree(node),
            (Value::Tree(node), _) => tree(self.py, node),
            (Value::Typed(typed), Element::Open(open)) => match open.named(&typed.name) {
                Some(content) => self.within(Step::Typed, || self.content(&typed.value, content)),
                None => Err(misshapen()),
            },
            (value, Element::Open(open)) => match open.base {
                Some(base) => self.content(value, base),
                None => Err(misshapen()),
            },
            (Value::Shared(shared), Element::Shared(content)) => self.shared(shared, *content),
            (value, Element::Shared(content)) => self.content(value, *content),
            _ => Err(misshapen()),
        }
    }

    fn simple(&self, simple: &Simple, content: ElementRef) -> PyResult<Bound<'py, PyAny>> {
        if let Simple::String(text) = simple {
            return self.text(text, content);
        }
        let is_token = matches!(simple, Simple::Token(_));
        match is_token.then(|| self.model.list_items(content)).flatten() {
            Some(items) => {
                let text = simple.to_string();
                self.list(text.split_ascii_whitespace().map(|word| scalars::word(self.py, items, word)))
            }
            None => scalars::to_python(self.py, simple),
        }
    }

    /// Converts a text, which is of another type if the message was read leniently; then it is
    /// `None` if that type does not allow it.
    fn text(&self, text: &str, content: ElementRef) -> PyResult<Bound<'py, PyAny>> {
        let view = self.model.schema().view(content);
        let typed = match view.element {
            Element::Simple(simple) if simple.base == Builtin::String => {
                return Ok(PyString::new(self.py, text).into_any());
            }
            Element::Simple(simple) => Simple::parse(simple.base, text.trim_ascii()).ok(),
            Element::Union(union) => Simple::parse_union(union, view, text.trim_ascii()),
            _ => return Ok(PyString::new(self.py, text).into_any()),
        };
        // Dates that Python does not have are texts that are not allowed, too.
        Ok(typed.and_then(|typed| self.simple(&typed, content).ok()).unwrap_or_else(|| self.none()))
    }

    /// Converts a value that several places may share: all of them have the same object.
    fn shared(&self, shared: &Shared<Value>, content: ElementRef) -> PyResult<Bound<'py, PyAny>> {
        let known = self.shared.borrow().get(&shared.address()).map(|known| known.bind(self.py).clone());
        if let Some(known) = known {
            return Ok(known);
        }
        // A value within itself is None: instances are made after their parts.
        self.shared.borrow_mut().insert(shared.address(), self.py.None());
        let converted = match shared.get() {
            // A way through the response cannot lead into a shared value.
            Some(value) => {
                ToPython { columns: None, shared: Rc::clone(&self.shared), ..*self }.content(&value, content)?
            }
            None => self.none(),
        };
        self.shared.borrow_mut().insert(shared.address(), converted.clone().unbind());
        Ok(converted)
    }

    fn rows(&self, items: &[Value], array: &ArrayElement, dimensions: u32) -> PyResult<Bound<'py, PyAny>> {
        if dimensions == 1
            && let Some(columns) = self.as_columns(items, array.item)?
        {
            return Ok(columns);
        }
        let item = |(index, item): (usize, &Value)| {
            self.within(Step::Item(index), || match item {
                Value::List(items) if dimensions > 1 => self.rows(items, array, dimensions - 1),
                item => self.content(item, array.item),
            })
        };
        self.list(items.iter().enumerate().map(item))
    }

    fn column_view(&self, message: &Arc<dyn Message>, steps: &RefCell<Vec<Step>>) -> PyResult<Bound<'py, PyAny>> {
        ColumnView::new(Source::Message(Arc::clone(message), steps.borrow().clone().into())).into_array(self.py)
    }

    /// Converts items to a column, or to rows, if they are of such a type.
    fn as_columns(&self, items: &[Value], content: ElementRef) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some((model, message, steps)) = &self.columns else { return Ok(None) };
        let view = self.model.schema().view(content);
        match view.element {
            Element::Simple(_) => {
                let gathered = ColumnView::gather(columns::base_of(view), items);
                gathered.map(|column| column.into_array(self.py)).transpose()
            }
            Element::Complex(complex) if columns::is_flat(complex, view) => {
                let source = Source::Message(Arc::clone(message), steps.borrow().clone().into());
                let rows = Rows::new(Arc::clone(model), source, content);
                Ok(Some(Bound::new(self.py, rows)?.into_any()))
            }
            _ => Ok(None),
        }
    }

    fn list(&self, items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(self.py, items.collect::<PyResult<Vec<_>>>()?)?.into_any())
    }

    fn column(&self, column: &Column, content: ElementRef) -> PyResult<Bound<'py, PyAny>> {
        self.list(column.iter().map(|item| match &item {
            Simple::String(text) if self.is_none(text) => Ok(self.none()),
            item => self.simple(item, content),
        }))
    }

    /// Converts a complex value to an instance of its class.
    fn complex(
        &self,
        record: &Record,
        complex: &ComplexElement,
        content: ElementRef,
        view: View<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let layout = self.model.layouts.of(self.py, content, complex, view);
        let values = PyDict::new(self.py);
        self.values(record, complex, &layout, &values)?;
        self.model.instance(self.py, content, complex, &layout, values)
    }

    fn values(
        &self,
        record: &Record,
        complex: &ComplexElement,
        layout: &Layout,
        values: &Bound<'py, PyDict>,
    ) -> PyResult<()> {
        if let Some(content) = complex.text {
            let text = record.fields.first().map_or_else(|| Ok(self.none()), |text| self.content(text, content))?;
            values.set_item(layout.text.python(self.py), text)?;
        }
        for (index, (field, slot)) in complex.fields.iter().zip(&layout.slots).enumerate() {
            let value = record.fields.get(index).unwrap_or(&Value::Absent);
            self.within(Step::Field(index), || self.field(value, field, slot, values))?;
        }
        for (index, (attribute, name)) in complex.attributes.iter().zip(&layout.attributes).enumerate() {
            let value = match record.attributes.get(index).and_then(Option::as_ref) {
                Some(value) => self.simple(value, attribute.element)?,
                None => self.none(),
            };
            values.set_item(name.python(self.py), value)?;
        }
        if let Some(name) = &layout.others {
            values.set_item(name.python(self.py), self.others(record)?)?;
        }
        Ok(())
    }

    /// Converts the attributes that the schema does not name: a dict; `None` for an element without
    /// any attribute, as in zeep.
    fn others(&self, record: &Record) -> PyResult<Bound<'py, PyAny>> {
        if record.others.is_empty() && record.attributes.iter().all(Option::is_none) {
            return Ok(self.none());
        }
        let others = PyDict::new(self.py);
        for (name, text) in &record.others {
            others.set_item(name.to_string(), text)?;
        }
        Ok(others.into_any())
    }

    fn field(&self, value: &Value, field: &Field, slot: &Slot, values: &Bound<'py, PyDict>) -> PyResult<()> {
        // Another branch of a choice may have a value of the same name.
        let has = |name: &Name| is_absent(value) && values.contains(name.python(self.py)).unwrap_or(false);
        match slot {
            Slot::Value(name) | Slot::Groups(name, _) | Slot::Wildcard(name) if has(name) => Ok(()),
            Slot::Value(name) => values.set_item(name.python(self.py), self.occurrences(value, field)?),
            Slot::Among(layout) => self.group(value, field, layout, values),
            Slot::Groups(name, layout) => {
                let Value::List(items) = value else { return values.set_item(name.python(self.py), self.none()) };
                let group = |(index, item): (usize, &Value)| {
                    let values = PyDict::new(self.py);
                    self.within(Step::Item(index), || self.chosen(item, field, layout, &values))?;
                    self.unwrapped(values, field, layout)
                };
                let groups = self.list(items.iter().enumerate().map(group))?;
                let is_empty = items.is_empty();
                values.set_item(name.python(self.py), if is_empty { self.none() } else { groups })
            }
            Slot::Wildcard(name) => values.set_item(name.python(self.py), self.wildcard(value, field)?),
        }
    }

    fn occurrences(&self, value: &Value, field: &Field) -> PyResult<Bound<'py, PyAny>> {
        match value {
            Value::List(items) if field.is_repeated() => match self.as_columns(items, field.element)? {
                Some(columns) => Ok(columns),
                None => {
                    let item = |(index, item): (usize, &Value)| match item {
                        Value::Record(record) if self.is_vacant(record) => Ok(self.none()),
                        item => self.within(Step::Item(index), || self.content(item, field.element)),
                    };
                    self.list(items.iter().enumerate().map(item))
                }
            },
            Value::Column(_) => self.content(value, field.element),
            Value::Table(_) if self.columns.is_some() => self.as_columns(&[], field.element)?.ok_or_else(misshapen),
            Value::Table(table) => {
                self.list(table.rows().map(|row| self.content(&Value::Record(Box::new(row)), field.element)))
            }
            Value::Absent if field.is_repeated() => Ok(PyList::empty(self.py).into_any()),
            Value::Record(record) if self.is_vacant(record) => Ok(self.none()),
            value => self.content(value, field.element),
        }
    }

    /// Returns true for an element with nothing in it, which is `None` in Python.
    fn is_vacant(&self, record: &Record) -> bool {
        !self.keeps_empty && is_vacant(record)
    }

    /// Adds the values of a group that occurs once; `None` for those that are absent.
    fn group(&self, value: &Value, field: &Field, layout: &Layout, values: &Bound<'py, PyDict>) -> PyResult<()> {
        let Element::Complex(complex) = self.model.schema().view(field.element).element else {
            return Err(misshapen());
        };
        match value {
            Value::Record(record) => self.values(record, complex, layout, values),
            _ => complex
                .fields
                .iter()
                .zip(&layout.slots)
                .try_for_each(|(field, slot)| self.field(&Value::Absent, field, slot, values)),
        }
    }

    /// Returns an occurrence of a group: the value itself if a wildcard of a choice took it.
    fn unwrapped(&self, values: Bound<'py, PyDict>, field: &Field, layout: &Layout) -> PyResult<Bound<'py, PyAny>> {
        let element = self.model.schema().view(field.element).element;
        let is_choice = matches!(element, Element::Complex(complex) if complex.compositor == Compositor::Choice);
        let wildcard = layout.slots.iter().find_map(|slot| match slot {
            Slot::Wildcard(name) if is_choice && values.len() == 1 => Some(name),
            _ => None,
        });
        match wildcard.map(|name| values.get_item(name.python(self.py))).transpose()?.flatten() {
            Some(value) => Ok(value),
            None => Ok(values.into_any()),
        }
    }

    /// Adds the values of an occurrence of a group: of a choice, only those that are present.
    fn chosen(&self, value: &Value, field: &Field, layout: &Layout, values: &Bound<'py, PyDict>) -> PyResult<()> {
        let (Value::Record(record), Element::Complex(complex)) =
            (value, self.model.schema().view(field.element).element)
        else {
            return Err(misshapen());
        };
        let is_choice = complex.compositor == Compositor::Choice || complex.is_choice_of_groups();
        if !is_choice {
            return self.values(record, complex, layout, values);
        }
        let fields = complex.fields.iter().zip(&layout.slots).zip(&record.fields).enumerate();
        let mut present = fields.filter(|(_, (_, value))| !is_absent(value));
        present.try_for_each(|(index, ((field, slot), value))| {
            self.within(Step::Field(index), || self.field(value, field, slot, values))
        })
    }

    /// Converts elements that a wildcard took: those that the schema declares by their type.
    fn wildcard(&self, value: &Value, field: &Field) -> PyResult<Bound<'py, PyAny>> {
        match value {
            Value::Absent => Ok(self.none()),
            Value::List(items) if items.is_empty() => Ok(self.none()),
            Value::List(items) if field.is_repeated() => self.list(items.iter().map(|item| self.any_element(item))),
            value => self.any_element(value),
        }
    }

    fn any_element(&self, value: &Value) -> PyResult<Bound<'py, PyAny>> {
        match value {
            Value::Tree(node) => self.element(node),
            _ => Err(misshapen()),
        }
    }

    /// Converts an element: by its type if the schema declares it, otherwise to a tree.
    pub(crate) fn element(&self, node: &Node) -> PyResult<Bound<'py, PyAny>> {
        let content = self.model.element(&node.name);
        let typed = content.and_then(|content| {
            let document = document(node)?;
            let value = value_from_slice(&document, &node.name, self.model.schema().view(content)).ok()?;
            Some((value, content))
        });
        match typed {
            Some((value, content)) => self.content(&value, content),
            None => tree(self.py, node),
        }
    }

    /// Converts content whose type the message does not name: to its text if it has no elements.
    fn open_tree(&self, node: &Node) -> PyResult<Bound<'py, PyAny>> {
        let is_plain = node.attributes.iter().all(|(name, _)| name.namespace == ns::XSI);
        match is_plain && node.elements().next().is_none() {
            true => Ok(match node.text() {
                text if text.is_empty() => self.none(),
                text => PyString::new(self.py, &text).into_any(),
            }),
            false => children(self.py, node),
        }
    }
}

/// Returns true for an element with nothing in it, which zeep has as `None`.
fn is_vacant(record: &Record) -> bool {
    let is_nothing = |value: &Value| match value {
        Value::Record(group) => is_vacant(group),
        value => is_absent(value),
    };
    record.attributes.iter().all(Option::is_none) && record.others.is_empty() && record.fields.iter().all(is_nothing)
}

fn is_absent(value: &Value) -> bool {
    matches!(value, Value::Absent) || is_empty(value)
}

/// Returns true for a list without items.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::List(items) => items.is_empty(),
        Value::Column(column) => column.is_empty(),
        Value::Table(table) => table.is_empty(),
        _ => false,
    }
}

/// Returns an element as a document.
pub(crate) fn document(node: &Node) -> Option<Vec<u8>> {
    let mut encoder = Encoder::new();
    node.write(&mut encoder);
    Some(encoder.finish().ok()?.into_vec())
}

/// Converts an element to an lxml element, or one of the standard library if lxml is not installed.
pub(crate) fn tree<'py>(py: Python<'py>, node: &Node) -> PyResult<Bound<'py, PyAny>> {
    let document = document(node).ok_or_else(misshapen)?;
    py.import("deltasoap._trees")?.getattr("parse")?.call1((PyBytes::new(py, &document),))
}

/// Converts the children of an element.
fn children<'py>(py: Python<'py>, node: &Node) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyList::new(py, tree(py, node)?.try_iter()?.collect::<PyResult<Vec<_>>>()?)?.into_any())
}

#[cold]
fn misshapen() -> PyErr {
    PyValueError::new_err("a value of another shape than its schema")
}

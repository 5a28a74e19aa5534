//! Conversion of Python objects to values, by the schema.
//!
//! Complex types are taken from dicts, from instances of their classes, from dataclasses and from
//! any other object with the attributes. What is `None` is absent, or nil if the element is required
//! and nillable.

use crate::arguments;
use crate::contract::Model;
use crate::errors::Invalid;
use crate::names::{Layout, Name, Slot};
use crate::scalars::{self, kind};
use crate::to_python::is_empty;
use deltasoap_core::schema::{
    ArrayElement, Builtin, ChoiceFault, ComplexElement, Compositor, Element, ElementRef, Field, OpenElement, View,
};
use deltasoap_core::{Child, Column, Content, Node, QName, Record, Shared, Simple, Value};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyMapping, PyString, PyTuple};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

/// Maximum depth of nested arguments, which is that of messages: objects can contain themselves.
const MAX_DEPTH: usize = 100;

/// Marks of `deltasoap._scalars`.
struct Marks {
    nil: Py<PyAny>,
    skip: Py<PyAny>,
}

fn marks(py: Python<'_>) -> PyResult<&'static Marks> {
    static MARKS: PyOnceLock<Marks> = PyOnceLock::new();
    MARKS.get_or_try_init(py, || {
        let module = py.import("deltasoap._scalars")?;
        Ok(Marks { nil: module.getattr("NIL")?.unbind(), skip: module.getattr("SKIP")?.unbind() })
    })
}

/// Where the values of a complex type come from.
enum Values<'py> {
    Dict(Bound<'py, PyDict>),
    /// Any object, by its attributes.
    Object(Bound<'py, PyAny>),
}

impl<'py> Values<'py> {
    /// Returns a value; `None` if it is missing or `None`.
    fn get(&self, py: Python<'py>, name: &Name) -> Result<Option<Bound<'py, PyAny>>, Invalid> {
        let found = match self {
            Values::Dict(dict) => dict.get_item(name.python(py))?,
            Values::Object(object) => object.getattr_opt(name.python(py))?,
        };
        Ok(found.filter(|value| !value.is_none()))
    }
}

/// Converts the arguments of one message.
pub(crate) struct FromPython<'c, 'py> {
    py: Python<'py>,
    model: &'c Model,
    marks: &'static Marks,
    depth: std::cell::Cell<usize>,
}

impl<'c, 'py> FromPython<'c, 'py> {
    pub(crate) fn new(py: Python<'py>, model: &'c Model) -> PyResult<Self> {
        Ok(FromPython { py, model, marks: marks(py)?, depth: Default::default() })
    }

    /// Converts the arguments of a call to the content of the body's element.
    ///
    /// # Errors
    /// If the arguments do not match the schema.
    pub(crate) fn arguments(
        &self,
        content: ElementRef,
        name: &QName,
        positional: &Bound<'py, PyTuple>,
        keywords: &Bound<'py, PyDict>,
    ) -> Result<Value, Invalid> {
        let view = self.model.schema().view(content);
        let complex = match view.element {
            Element::Complex(complex) => Some((complex, content, view)),
            Element::Open(OpenElement { base: Some(base), .. }) => {
                let view = self.model.schema().view(*base);
                view.complex().map(|complex| (complex, *base, view))
            }
            _ => None,
        };
        let Some((complex, exact, view)) = complex else {
            return match (positional.len(), keywords.len()) {
                (1, 0) => self.content(&positional.get_item(0)?, content, name),
                _ => Err(Invalid::unexpected(format!("{} takes one positional argument", name.local))),
            };
        };
        let layout = self.model.layouts.of(self.py, exact, complex, view);
        let values = keywords.copy()?;
        let mut names = Vec::new();
        layout.each(complex, &mut |name| names.push(name));
        if positional.len() > names.len() {
            let text = "__init__() takes at most";
            let text = format!("{text} {} positional arguments ({} given)", names.len(), positional.len());
            return Err(Invalid::unexpected(text));
        }
        for (value, name) in positional.iter().zip(&names) {
            if values.contains(name.python(self.py))? {
                let text = format!("got multiple values for argument '{}'", name.as_str());
                return Err(Invalid::unexpected(text));
            }
            values.set_item(name.python(self.py), value)?;
        }
        self.only_known(&values, complex, &layout, name)?;
        let record = self.record(&Values::Dict(values), complex, &layout)?;
        Ok(Value::Record(Box::new(record)))
    }

    /// Converts the content of an element.
    ///
    /// # Errors
    /// If the object does not match the schema.
    pub(crate) fn content(
        &self,
        value: &Bound<'py, PyAny>,
        content: ElementRef,
        name: &QName,
    ) -> Result<Value, Invalid> {
        if value.is(&self.marks.nil) {
            return Ok(Value::Nil);
        }
        let view = self.model.schema().view(content);
        match view.element {
            Element::Simple(simple) if simple.packed.is_some() => self.packed(value, view),
            element if element.is_name() => self.name(value).map(|name| Value::Name(Box::new(name))),
            Element::Simple(_) | Element::Union(_) => self.simple(value, content, view).map(Value::Simple),
            Element::Complex(complex) => self.complex(value, complex, content, view, name),
            Element::Array(array) => self.array(value, array),
            Element::Shared(content) => self.content(value, *content, name).map(|value| match value {
                Value::Nil => Value::Nil,
                value => Value::Shared(Shared::new(value)),
            }),
            Element::Any => self.any(value, name),
            Element::Open(open) => self.open(value, open, name),
        }
    }

    fn packed(&self, value: &Bound<'py, PyAny>, view: View<'_>) -> Result<Value, Invalid> {
        let Element::Simple(simple) = view.element else { return Err(Invalid::new("no packed numbers")) };
        let mut column = simple
            .packed
            .and_then(|packing| Column::new(packing.items))
            .ok_or_else(|| Invalid::new("no packed numbers"))?;
        for (index, item) in self.items(value)?.into_iter().enumerate() {
            let parse = |text: String| deltasoap_core::Simple::parse(column.builtin(), &text).ok();
            let parsed = item.str().and_then(|text| text.extract()).ok().and_then(parse);
            if !parsed.is_some_and(|item| column.push(&item)) {
                return Err(Invalid::new(format!("expected a number, found {}", kind(&item))).at(index));
            }
        }
        Ok(Value::Packed(column))
    }

    fn simple(&self, value: &Bound<'py, PyAny>, content: ElementRef, view: View<'_>) -> Result<Simple, Invalid> {
        let is_list = matches!(view.element, Element::Simple(simple) if simple.base == Builtin::Token);
        match is_list.then(|| self.model.list_items(content)).flatten() {
            Some(items) => scalars::from_python(&scalars::words(value, items)?, view),
            None => scalars::from_python(value, view),
        }
    }

    /// Converts a qualified name: `{namespace}local`, also as an `lxml.etree.QName`.
    fn name(&self, value: &Bound<'py, PyAny>) -> Result<QName, Invalid> {
        let text: String = match value.getattr_opt("text")? {
            Some(text) => text.extract()?,
            None => value.str()?.extract()?,
        };
        let refused = || Invalid::new(format!("expected a qualified name as {{namespace}}local, found {text:?}"));
        parse_name(&text).ok_or_else(refused)
    }

    fn complex(
        &self,
        value: &Bound<'py, PyAny>,
        complex: &ComplexElement,
        content: ElementRef,
        view: View<'_>,
        name: &QName,
    ) -> Result<Value, Invalid> {
        let layout = self.model.layouts.of(self.py, content, complex, view);
        let values = match self.values_of(value)? {
            Some(values) => values,
            // A value alone is the first one, as in a call of the type.
            None => {
                let mut first = None;
                layout.each(complex, &mut |name| first = first.or(Some(name)));
                let found = || Invalid::new(format!("expected a dict or an object, found {}", kind(value)));
                let dict = PyDict::new(self.py);
                dict.set_item(first.ok_or_else(found)?.python(self.py), value)?;
                Values::Dict(dict)
            }
        };
        match &values {
            Values::Dict(dict) => self.only_known(dict, complex, &layout, name)?,
            Values::Object(object) => self.has_any_name(object, complex, &layout)?,
        }
        if complex.text.is_some() && self.is_nil_text(&values, &layout)? {
            return Ok(Value::Nil);
        }
        self.record(&values, complex, &layout).map(|record| Value::Record(Box::new(record)))
    }

    /// Returns true if the text beside attributes is nil, and there are no attributes.
    fn is_nil_text(&self, values: &Values<'py>, layout: &Layout) -> Result<bool, Invalid> {
        let text = values.get(self.py, &layout.text)?;
        if !text.is_some_and(|text| text.is(&self.marks.nil)) {
            return Ok(false);
        }
        for name in &layout.attributes {
            if values.get(self.py, name)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the values of an object; `None` for one that is a value itself.
    fn values_of(&self, value: &Bound<'py, PyAny>) -> Result<Option<Values<'py>>, Invalid> {
        if let Ok(dict) = value.cast::<PyDict>() {
            return Ok(Some(Values::Dict(dict.clone())));
        }
        if let Some(values) = value.getattr_opt("__values__")? {
            return Ok(Some(Values::Dict(values.cast_into::<PyDict>().map_err(PyErr::from)?)));
        }
        if let Ok(mapping) = value.cast::<PyMapping>() {
            let dict = PyDict::new(self.py);
            dict.update(mapping)?;
            return Ok(Some(Values::Dict(dict)));
        }
        let has_attributes = value.hasattr("__dict__")? || value.hasattr("__dataclass_fields__")?;
        Ok(has_attributes.then(|| Values::Object(value.clone())))
    }

    /// Refuses an object that has none of the names of a type: it would be an empty element.
    fn has_any_name(
        &self,
        object: &Bound<'py, PyAny>,
        complex: &ComplexElement,
        layout: &Layout,
    ) -> Result<(), Invalid> {
        let mut names = Vec::new();
        layout.each(complex, &mut |name| names.push(name));
        for name in &names {
            if object.hasattr(name.python(self.py))? {
                return Ok(());
            }
        }
        let names: Vec<&str> = names.into_iter().map(Name::as_str).collect();
        match names.is_empty() {
            true => Ok(()),
            false => Err(Invalid::new(format!("{} has none of {}", kind(object), names.join(", ")))),
        }
    }

    /// Refuses names that no part of the type has.
    fn only_known(
        &self,
        values: &Bound<'py, PyDict>,
        complex: &ComplexElement,
        layout: &Layout,
        name: &QName,
    ) -> Result<(), Invalid> {
        let mut known = HashSet::new();
        layout.each(complex, &mut |name| _ = known.insert(name.as_str()));
        for key in values.keys() {
            let key = key.cast::<PyString>().map_err(PyErr::from)?;
            let key = key.to_cow()?;
            // zeep's values have the elements that it could not read under this name.
            if !known.contains(&*key) && key != "_raw_elements" {
                let mut names = Vec::new();
                layout.each(complex, &mut |name| names.push(name.as_str()));
                let near = near_match(self.py, &key, &names)?;
                let remedy = near.map(|near| format!(" Did you mean '{near}'?")).unwrap_or_default();
                return Err(Invalid::unexpected(format!(
                    "{}() got an unexpected keyword argument '{key}'. Signature: `{}`{remedy}",
                    if complex.name.local.is_empty() { name } else { &complex.name },
                    names.join(", ")
                )));
            }
        }
        Ok(())
    }

    fn record(&self, values: &Values<'py>, complex: &ComplexElement, layout: &Layout) -> Result<Record, Invalid> {
        self.depth.set(self.depth.get() + 1);
        if self.depth.get() > MAX_DEPTH {
            return Err(Invalid::new(format!("the value has more than {MAX_DEPTH} levels, or contains itself")));
        }
        let mut record = Record { others: self.others(values, layout)?, ..Record::default() };
        for (attribute, name) in complex.attributes.iter().zip(&layout.attributes) {
            let view = self.model.schema().view(attribute.element);
            let value = match values.get(self.py, name)?.filter(|value| !value.is(&self.marks.skip)) {
                Some(value) => {
                    let converted = self.simple(&value, attribute.element, view);
                    Some(converted.map_err(|error| error.within(name.as_str()))?)
                }
                None if attribute.required && attribute.default.is_none() => {
                    let text = format!("The attribute {} is not valid: Value is required", attribute.name);
                    return Err(Invalid::new(text).within(name.as_str()));
                }
                None => None,
            };
            record.attributes.push(value);
        }
        if let Some(content) = complex.text {
            let text = match values.get(self.py, &layout.text)? {
                Some(text) => self.content(&text, content, &complex.name)?,
                None => Value::vacant(self.model.schema().view(content)),
            };
            record.fields.push(text);
        }
        let taken = self.taken(values, complex, layout)?;
        let is_choice = complex.compositor == Compositor::Choice;
        for ((field, slot), is_taken) in complex.fields.iter().zip(&layout.slots).zip(taken) {
            record.fields.push(match is_taken {
                true => self.field(values, field, slot, is_choice)?,
                false if field.is_repeated() => Value::List(Vec::new()),
                false => Value::Absent,
            });
        }
        self.check_choices(&record, complex, layout)?;
        self.depth.set(self.depth.get() - 1);
        Ok(record)
    }

    /// Returns which fields may have values: of each choice those of the branch that has the most.
    /// Branches can share names.
    fn taken(&self, values: &Values<'py>, complex: &ComplexElement, layout: &Layout) -> Result<Vec<bool>, Invalid> {
        let mut taken = vec![true; complex.fields.len()];
        if complex.choices.is_empty() && complex.compositor != Compositor::Choice {
            return Ok(taken);
        }
        let mut present = Vec::with_capacity(layout.slots.len());
        for slot in &layout.slots {
            present.push(self.names_with_value(values, std::slice::from_ref(slot))?);
        }
        let names =
            |fields: &Range<usize>| -> HashSet<&str> { present[fields.clone()].iter().flatten().copied().collect() };
        let mut conflict = None;
        let mut pick = |branches: &[Range<usize>]| {
            let lacks = |fields: &Range<usize>| {
                let required = |index: &usize| complex.fields[*index].min > 0 && present[*index].is_empty();
                fields.clone().filter(required).count()
            };
            let all: Vec<_> = branches.iter().map(names).collect();
            let best = (0..all.len()).max_by_key(|&index| {
                let lacking = lacks(&branches[index]);
                (all[index].len(), std::cmp::Reverse(lacking), std::cmp::Reverse(index))
            });
            let Some(best) = best.filter(|&best| !all[best].is_empty()) else { return branches.len() };
            let other = all.iter().flatten().find(|name| !all[best].contains(**name));
            let own = all[best].iter().next();
            conflict = conflict.take().or(other.zip(own).map(|(other, own)| format!("{own} and {other}")));
            best
        };
        match complex.compositor {
            Compositor::Choice => {
                let all: Vec<_> = (0..complex.fields.len()).map(|index| index..index + 1).collect();
                let chosen = pick(&all);
                taken.iter_mut().enumerate().for_each(|(index, it)| *it = index == chosen);
            }
            _ => {
                let least = complex.taken(|branches| pick(branches));
                taken = least.iter().map(Option::is_some).collect();
            }
        }
        match conflict {
            Some(both) => Err(Invalid::new(format!("only one of {both} may have a value: they are in a choice"))),
            None => Ok(taken),
        }
    }

    /// Converts the attributes that the schema does not name.
    fn others(&self, values: &Values<'py>, layout: &Layout) -> Result<BTreeMap<QName, String>, Invalid> {
        let mut others = BTreeMap::new();
        let Some(name) = &layout.others else { return Ok(others) };
        let Some(given) = values.get(self.py, name)? else { return Ok(others) };
        let given = given.cast_into::<PyDict>().map_err(PyErr::from)?;
        for (key, value) in given.iter() {
            let text: String = key.str()?.extract()?;
            let refused = || Invalid::new(format!("expected the name of an attribute, found {text:?}"));
            let name = parse_name(&text).ok_or_else(refused)?;
            others.insert(name, value.str()?.extract()?);
        }
        Ok(others)
    }

    fn field(&self, values: &Values<'py>, field: &Field, slot: &Slot, is_choice: bool) -> Result<Value, Invalid> {
        let is_optional = field.min == 0 || is_choice;
        match slot {
            Slot::Value(name) => match values.get(self.py, name)? {
                None => self.missing(field, name, is_optional),
                Some(value) => self.occurrences(&value, field).map_err(|error| error.within(name.as_str())),
            },
            Slot::Among(layout) => self.among(values, field, layout, is_optional),
            Slot::Groups(name, layout) => match values.get(self.py, name)? {
                None if is_optional => Ok(Value::List(Vec::new())),
                None => Err(Invalid::new(format!("Missing element {}", name.as_str()))),
                Some(value) => self.groups(&value, field, layout).map_err(|error| error.within(name.as_str())),
            },
            Slot::Wildcard(name) => match values.get(self.py, name)? {
                None if !is_optional && !field.is_repeated() => {
                    Err(Invalid::new("Missing element for Any").within(name.as_str()))
                }
                None => Ok(if field.is_repeated() { Value::List(Vec::new()) } else { Value::Absent }),
                Some(value) => self.wildcard(&value, field).map_err(|error| error.within(name.as_str())),
            },
        }
    }

    /// Returns the value of an element that the arguments do not have.
    fn missing(&self, field: &Field, name: &Name, is_optional: bool) -> Result<Value, Invalid> {
        let view = self.model.schema().view(field.element);
        match field.is_repeated() {
            true if is_optional => return Ok(Value::List(Vec::new())),
            true => {
                let text = format!("Expected at least {} items (minOccurs check) 0 items found.", field.min);
                return Err(Invalid::new(text).within(name.as_str()));
            }
            false if is_optional => return Ok(Value::Absent),
            false => {}
        }
        if let Some(text) = view.element.default_text() {
            let text = PyString::new(self.py, text);
            return scalars::from_python(&text, view).map(Value::Simple);
        }
        match field.nillable {
            true => Ok(Value::Nil),
            false => Err(Invalid::new(format!("Missing element {}", field.name.local)).within(name.as_str())),
        }
    }

    fn occurrences(&self, value: &Bound<'py, PyAny>, field: &Field) -> Result<Value, Invalid> {
        if value.is(&self.marks.skip) {
            return Ok(if field.is_repeated() { Value::List(Vec::new()) } else { Value::Absent });
        }
        if !field.is_repeated() {
            return self.content(value, field.element, &field.name);
        }
        if let Some(columns) = self.columns(value, field)? {
            return Ok(columns);
        }
        let items = self.items(value)?;
        self.check_count(items.len(), field)?;
        let is_simple = self.model.schema().view(field.element).complex().is_none();
        let mut all = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let item = match item.is_none() {
                true if field.nillable => Ok(Value::Nil),
                true if is_simple => Err(Invalid::new("Value is required")),
                // zeep leaves them out, too.
                true => continue,
                false => self.content(item, field.element, &field.name),
            };
            all.push(item.map_err(|error| error.at(index))?);
        }
        let mut list = Value::List(all);
        list.gather(field, self.model.schema().view(field.element));
        Ok(list)
    }

    /// Converts an array of numbers, or a table, without an object for each item; `None` for other
    /// objects.
    fn columns(&self, value: &Bound<'py, PyAny>, field: &Field) -> Result<Option<Value>, Invalid> {
        if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            return Ok(None);
        }
        let view = self.model.schema().view(field.element);
        let columns = match view.element {
            Element::Simple(simple) if simple.enumeration.is_empty() => arguments::numbers(value, simple.base)?,
            Element::Complex(_) => arguments::table(value, field, view)?,
            _ => None,
        };
        if let Some(columns) = &columns {
            let count = match columns {
                Value::Column(column) => column.len(),
                Value::Table(table) => table.len(),
                Value::List(items) => items.len(),
                _ => 1,
            };
            if let (Value::List(items), false) = (columns, field.nillable)
                && let Some(index) = items.iter().position(|item| matches!(item, Value::Nil))
            {
                return Err(Invalid::new("Value is required").at(index));
            }
            self.check_count(count, field)?;
        }
        Ok(columns)
    }

    fn check_count(&self, count: usize, field: &Field) -> Result<(), Invalid> {
        let text = match field.max {
            _ if (count as u64) < u64::from(field.min) => {
                format!("Expected at least {} items (minOccurs check) {count} items found.", field.min)
            }
            Some(max) if count as u64 > u64::from(max) => {
                format!("Expected at most {max} items (maxOccurs check) {count} items found.")
            }
            _ => return Ok(()),
        };
        Err(Invalid::new(text))
    }

    /// Returns the items of a sequence; a value that is none is the only item.
    fn items(&self, value: &Bound<'py, PyAny>) -> Result<Vec<Bound<'py, PyAny>>, Invalid> {
        if let Ok(list) = value.cast::<PyList>() {
            return Ok(list.iter().collect());
        }
        if let Some(items) = arguments::items(value)? {
            return Ok(items.iter().collect());
        }
        let is_one = value.is_instance_of::<PyString>()
            || value.is_instance_of::<PyBytes>()
            || value.is_instance_of::<PyByteArray>()
            || value.is_instance_of::<PyDict>()
            || value.hasattr("__values__")?
            || value.hasattr("tag")?;
        match value.try_iter() {
            Ok(items) if !is_one => Ok(items.collect::<PyResult<_>>()?),
            _ => Ok(vec![value.clone()]),
        }
    }

    /// Converts a group that occurs once, whose values are among those around it.
    fn among(&self, values: &Values<'py>, field: &Field, layout: &Layout, is_optional: bool) -> Result<Value, Invalid> {
        let view = self.model.schema().view(field.element);
        let Element::Complex(complex) = view.element else { return Ok(Value::Absent) };
        if !self.has_any(values, layout)? && is_optional {
            return Ok(Value::Absent);
        }
        self.record(values, complex, layout).map(|record| Value::Record(Box::new(record)))
    }

    fn has_any(&self, values: &Values<'py>, layout: &Layout) -> Result<bool, Invalid> {
        Ok(!self.names_with_value(values, &layout.slots)?.is_empty())
    }

    /// Returns the names in slots that have a value. An empty list is none, as for values that were
    /// received.
    fn names_with_value<'l>(&self, values: &Values<'py>, slots: &'l [Slot]) -> Result<Vec<&'l str>, Invalid> {
        let mut names = Vec::new();
        slots.iter().for_each(|slot| slot.collect(&mut |name| names.push(name)));
        let mut found = Vec::new();
        for name in names {
            let is_value =
                |value: Bound<'py, PyAny>| !value.cast::<PyList>().is_ok_and(pyo3::types::PyListMethods::is_empty);
            if values.get(self.py, name)?.is_some_and(is_value) {
                found.push(name.as_str());
            }
        }
        Ok(found)
    }

    fn groups(&self, value: &Bound<'py, PyAny>, field: &Field, layout: &Layout) -> Result<Value, Invalid> {
        let view = self.model.schema().view(field.element);
        let Element::Complex(complex) = view.element else { return Err(Invalid::new("no group")) };
        let mut items = self.items(value)?;
        if field.min == 0 {
            // The default of a group that occurs any number of times is one without values.
            items.retain(|item| !item.cast::<PyDict>().is_ok_and(pyo3::types::PyDictMethods::is_empty));
        }
        self.check_count(items.len(), field)?;
        let mut groups = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let group = match self.values_of_group(item, layout)? {
                Some(Values::Dict(dict)) => self
                    .only_known(&dict, complex, layout, &field.name)
                    .and_then(|()| self.record(&Values::Dict(dict), complex, layout)),
                Some(values) => self.record(&values, complex, layout),
                None => Err(Invalid::new(format!("expected a dict, found {}", kind(item)))),
            };
            groups.push(Value::Record(Box::new(group.map_err(|error| error.at(index))?)));
        }
        Ok(Value::List(groups))
    }

    /// Returns the values of an occurrence of a group. An element stands for a wildcard in it.
    fn values_of_group(&self, item: &Bound<'py, PyAny>, layout: &Layout) -> Result<Option<Values<'py>>, Invalid> {
        let wildcard = layout.slots.iter().find_map(|slot| match slot {
            Slot::Wildcard(name) => Some(name),
            _ => None,
        });
        match wildcard {
            Some(name) if self.is_element(item)? => {
                let dict = PyDict::new(self.py);
                dict.set_item(name.python(self.py), item)?;
                Ok(Some(Values::Dict(dict)))
            }
            _ => self.values_of(item),
        }
    }

    /// Converts elements for a wildcard: lxml elements, or objects that render one.
    fn wildcard(&self, value: &Bound<'py, PyAny>, field: &Field) -> Result<Value, Invalid> {
        if !field.is_repeated() {
            return self.any_element(value).map(|node| Value::Tree(Box::new(node)));
        }
        let items = self.items(value)?;
        let nodes = items.iter().enumerate().map(|(index, item)| {
            self.any_element(item).map(|node| Value::Tree(Box::new(node))).map_err(|error| error.at(index))
        });
        nodes.collect::<Result<_, _>>().map(Value::List)
    }

    /// Converts an element, as the package decides.
    pub(crate) fn any_element(&self, value: &Bound<'py, PyAny>) -> Result<Node, Invalid> {
        self.node(value)
    }

    fn node(&self, value: &Bound<'py, PyAny>) -> Result<Node, Invalid> {
        let text = match value.is_instance_of::<PyBytes>() {
            true => value.clone(),
            false => self.py.import("deltasoap._trees")?.getattr("text")?.call1((value,))?,
        };
        let bytes = text.cast::<PyBytes>().map_err(PyErr::from)?;
        Node::parse(bytes.as_bytes()).map_err(|error| Invalid::new(format!("not an XML element: {error}")))
    }

    /// Converts content that the schema does not restrict.
    fn any(&self, value: &Bound<'py, PyAny>, name: &QName) -> Result<Value, Invalid> {
        let node = match self.is_element(value)? {
            true => Node { name: name.clone(), ..self.node(value)? },
            false => {
                let text = self.py.import("deltasoap._scalars")?.getattr("write_any")?.call1((value,))?;
                let text: String = text.extract()?;
                let children = if text.is_empty() { Vec::new() } else { vec![Child::Text(text.as_str().into())] };
                Node { children, ..Node::new(name.clone()) }
            }
        };
        Ok(Value::Tree(Box::new(node)))
    }

    fn is_element(&self, value: &Bound<'py, PyAny>) -> Result<bool, Invalid> {
        Ok(value.hasattr("tag")? || value.hasattr("to_document")?)
    }

    /// Converts content whose type is chosen by the object: by its class, by an `AnyObject`, or the
    /// declared type.
    fn open(&self, value: &Bound<'py, PyAny>, open: &OpenElement, name: &QName) -> Result<Value, Invalid> {
        let (value, type_name) = match value.getattr_opt("xsd_obj")? {
            Some(of) => (value.getattr("value")?, self.type_name(&of)?),
            None => (value.clone(), self.type_name(value)?),
        };
        if let Some(type_name) = type_name {
            let declared = open.base.and_then(|base| self.model.type_name(base));
            if let Some(content) = open.named(&type_name).filter(|_| declared.as_ref() != Some(&type_name)) {
                return Ok(Value::typed(type_name, self.content(&value, content, name)?));
            }
        }
        match open.base {
            Some(base) => self.content(&value, base, name),
            None => self.any(&value, name),
        }
    }

    /// Returns the name of the type that an object is an instance of.
    fn type_name(&self, value: &Bound<'py, PyAny>) -> Result<Option<QName>, Invalid> {
        let Some(text) = value.getattr_opt("__deltasoap__")? else { return Ok(None) };
        let text: Option<String> = text.extract()?;
        Ok(text.as_deref().and_then(parse_name))
    }

    fn array(&self, value: &Bound<'py, PyAny>, array: &ArrayElement) -> Result<Value, Invalid> {
        // zeep's arrays are values with one list.
        let list = match self.values_of(value)? {
            Some(Values::Dict(dict)) => dict.values().iter().next(),
            _ => None,
        };
        self.rows(list.as_ref().unwrap_or(value), array, array.dimensions)
    }

    fn rows(&self, value: &Bound<'py, PyAny>, array: &ArrayElement, dimensions: u32) -> Result<Value, Invalid> {
        if let (1, Element::Simple(simple)) = (dimensions, self.model.schema().view(array.item).element)
            && let Some(column) = arguments::numbers(value, simple.base)?
        {
            return Ok(match column {
                Value::Column(column) => Value::List(column.to_values()),
                items => items,
            });
        }
        let items = self.items(value)?;
        let items = items.iter().enumerate().map(|(index, item)| {
            let item = match dimensions > 1 {
                true => self.rows(item, array, dimensions - 1),
                false if item.is_none() => Ok(Value::Nil),
                false => self.content(&self.unwrapped(item, array)?, array.item, &array.item_name),
            };
            item.map_err(|error| error.at(index))
        });
        items.collect::<Result<_, _>>().map(Value::List)
    }

    /// Returns the item in a dict of one element, the form in which zeep takes the items of arrays
    /// whose schema has a wildcard or a choice.
    fn unwrapped(&self, item: &Bound<'py, PyAny>, array: &ArrayElement) -> Result<Bound<'py, PyAny>, Invalid> {
        let dict = item.cast::<PyDict>().ok().filter(|dict| dict.len() == 1);
        let inner = dict.map(|dict| dict.get_item(&*array.item_name.local)).transpose()?.flatten();
        Ok(inner.unwrap_or_else(|| item.clone()))
    }

    fn check_choices(&self, record: &Record, complex: &ComplexElement, layout: &Layout) -> Result<(), Invalid> {
        let names = |fields: &mut dyn Iterator<Item = usize>| {
            let mut names = Vec::new();
            let slots = fields.filter_map(|field| layout.slots.get(field));
            slots.for_each(|slot| slot.collect(&mut |name| names.push(name.as_str().to_owned())));
            names.join(", ")
        };
        if complex.compositor == Compositor::Choice && !complex.fields.is_empty() {
            let is_there = |value: &Value| !matches!(value, Value::Absent) && !is_empty(value);
            let mut chosen = (0..record.fields.len()).filter(|&index| is_there(&record.fields[index]));
            let can_be_empty = complex.fields.iter().any(|field| field.min == 0);
            let all = || names(&mut (0..complex.fields.len()));
            return match (chosen.next(), chosen.next()) {
                (None, _) if !can_be_empty => Err(Invalid::new(format!("Missing choice values: one of {}", all()))),
                (Some(one), Some(two)) => {
                    let both = names(&mut [one, two].into_iter());
                    Err(Invalid::new(format!("only one of {} may have a value, found {both}", all())))
                }
                _ => Ok(()),
            };
        }
        match record.choice_fault(complex) {
            None => Ok(()),
            Some(ChoiceFault::Several(fields)) => {
                Err(Invalid::new(format!("only one of {} may have a value", names(&mut fields.into_iter()))))
            }
            Some(ChoiceFault::Nothing(fields)) => {
                Err(Invalid::new(format!("Missing choice values: one of {}", names(&mut fields.into_iter()))))
            }
            Some(ChoiceFault::TooFew { field, min }) => {
                Err(Invalid::new(format!("Missing element {}: at least {min}", names(&mut [field].into_iter()))))
            }
        }
    }
}

/// Parses `{namespace}local`, or `local` for a name in no namespace.
pub(crate) fn parse_name(text: &str) -> Option<QName> {
    let (namespace, local) = match text.strip_prefix('{') {
        Some(rest) => rest.rsplit_once('}')?,
        None => ("", text),
    };
    deltasoap_core::lexical::is_ncname(local).then(|| QName::owned(namespace, local))
}

/// Returns the name that a misspelt one is most similar to.
#[cold]
fn near_match(py: Python<'_>, name: &str, names: &[&str]) -> PyResult<Option<String>> {
    let matches = py.import("difflib")?.getattr("get_close_matches")?.call1((name, names.to_vec(), 1))?;
    Ok(matches.extract::<Vec<String>>()?.pop())
}

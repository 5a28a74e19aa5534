//! The cost of a binary format: a lower bound for all of them.
//!
//! Values are stored consecutively in the machine's byte order, strings with a length prefix, and
//! nothing else: no names, no versions, no checks. A message is read into a new value of known
//! shape. A real format (protocol buffers, Fast Infoset) costs more. If even this gains little, no
//! format is worth the change.

use crate::measure::{Clock, Times};
use crate::predict::{Direction, Sample};
use deltasoap_core::{Child, Column, Node, QName, Record, Shared, Simple, Table, TypedValue, Value};
use serde::Serialize;
use std::borrow::Cow;

/// Messages per batch, and number of batches, of which the fastest credible one counts.
const BATCH: usize = 50;
const BATCHES: usize = 20;

/// The cost of an operation's messages in a binary format.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BinaryCost {
    /// Seconds at the server, to read the request and write the response.
    pub server: f64,
    /// Seconds at the client, to write the request and read the response.
    pub client: f64,
    /// Seconds at the client with XML.
    pub xml_client: f64,
    /// Size of a request in bytes.
    pub request_bytes: usize,
    /// Size of a response in bytes.
    pub response_bytes: usize,
}

impl BinaryCost {
    /// Adds the client's cost to the server's: one processor does the work of both.
    #[must_use]
    pub fn on_one_machine(self) -> Self {
        BinaryCost { server: self.server + self.client, client: 0.0, xml_client: 0.0, ..self }
    }
}

/// Measures the cost on this machine. `xml_client` is the time the client now spends on XML, in
/// seconds.
pub fn binary_cost(samples: &[Sample], xml_client: f64) -> BinaryCost {
    let mut cost = BinaryCost { server: 0.0, client: 0.0, xml_client, request_bytes: 0, response_bytes: 0 };
    for sample in samples {
        let (write, read, bytes) = measured(sample.value());
        match sample.direction {
            Direction::Request => {
                (cost.client, cost.server, cost.request_bytes) = (cost.client + write, cost.server + read, bytes);
            }
            Direction::Response => {
                (cost.client, cost.server, cost.response_bytes) = (cost.client + read, cost.server + write, bytes);
            }
        }
    }
    cost
}

/// Returns seconds to write, seconds to read, and bytes.
fn measured(value: &Value) -> (f64, f64, usize) {
    let mut bytes = Vec::new();
    let write = fastest(|| {
        bytes.clear();
        put(value, &mut bytes);
    });
    let read = fastest(|| _ = std::hint::black_box(taken(value, &mut bytes.as_slice())));
    (write, read, bytes.len())
}

fn fastest(mut work: impl FnMut()) -> f64 {
    let mut batch = || {
        let clock = Clock::start();
        (0..BATCH).for_each(|_| work());
        clock.stop(BATCH)
    };
    let times: Vec<_> = (0..BATCHES).map(|_| batch()).collect();
    Times::least(&times).cost() / 1e9
}

fn put(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Simple(simple) => put_simple(simple, out),
        Value::Record(record) => {
            record.attributes.iter().flatten().for_each(|attribute| put_simple(attribute, out));
            record.others.values().for_each(|text| put_text(text, out));
            record.fields.iter().for_each(|field| put(field, out));
        }
        Value::List(items) => {
            out.extend((items.len() as u32).to_ne_bytes());
            items.iter().for_each(|item| put(item, out));
        }
        Value::Column(column) | Value::Packed(column) => put_column(column, out),
        Value::Table(table) => table.columns().iter().for_each(|column| put_column(column, out)),
        Value::Shared(shared) => match shared.get() {
            Some(value) => put(&value, out),
            None => out.push(0),
        },
        Value::Typed(typed) => {
            put_text(&typed.name.local, out);
            put(&typed.value, out);
        }
        Value::Tree(node) => put_node(node, out),
        Value::Name(name) => {
            put_text(&name.namespace, out);
            put_text(&name.local, out);
        }
        _ => out.push(0),
    }
}

fn put_column(column: &Column, out: &mut Vec<u8>) {
    out.extend((column.len() as u32).to_ne_bytes());
    match column {
        // Creating an item of another type is cheap.
        Column::String(texts) => texts.iter().for_each(|text| put_text(text, out)),
        column => column.iter().for_each(|item| put_simple(&item, out)),
    }
}

fn put_simple(simple: &Simple, out: &mut Vec<u8>) {
    match simple {
        Simple::Int(number) => out.extend(number.to_ne_bytes()),
        Simple::Long(number) => out.extend(number.to_ne_bytes()),
        Simple::Double(number) => out.extend(number.to_ne_bytes()),
        Simple::Boolean(is_true) => out.push(u8::from(*is_true)),
        Simple::String(text) => put_text(text, out),
        other => put_text(&other.to_string(), out),
    }
}

fn put_node(node: &Node, out: &mut Vec<u8>) {
    put_text(&node.name.local, out);
    node.attributes.iter().for_each(|(_, value)| put_text(value, out));
    for child in &node.children {
        match child {
            Child::Element(child) => put_node(child, out),
            Child::Text(text) => put_text(text, out),
        }
    }
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    out.extend((text.len() as u32).to_ne_bytes());
    out.extend(text.as_bytes());
}

/// Reads a value of the same shape.
fn taken(shape: &Value, bytes: &mut &[u8]) -> Value {
    match shape {
        Value::Simple(simple) => Value::Simple(taken_simple(simple, bytes)),
        Value::Record(record) => Value::Record(Box::new(taken_record(record, bytes))),
        Value::List(items) => {
            let _ = number::<4>(bytes);
            Value::List(items.iter().map(|item| taken(item, bytes)).collect())
        }
        Value::Column(column) => Value::Column(taken_column(column, bytes)),
        Value::Packed(column) => Value::Packed(taken_column(column, bytes)),
        Value::Table(table) => {
            let columns = table.names().iter().cloned().zip(table.columns());
            let columns = columns.map(|(name, column)| (name, taken_column(column, bytes)));
            Table::new(columns).map_or(Value::Absent, |table| Value::Table(Box::new(table)))
        }
        Value::Shared(shared) => match shared.get() {
            Some(value) => Value::Shared(Shared::new(taken(&value, bytes))),
            None => nothing(shape, bytes),
        },
        Value::Typed(typed) => {
            let name = QName { local: taken_text(bytes).into_owned().into(), ..typed.name.clone() };
            Value::Typed(Box::new(TypedValue { name, value: taken(&typed.value, bytes) }))
        }
        Value::Tree(node) => Value::Tree(Box::new(taken_node(node, bytes))),
        Value::Name(_) => {
            let namespace = taken_text(bytes).into_owned().into();
            Value::Name(Box::new(QName { namespace, local: taken_text(bytes).into_owned().into() }))
        }
        _ => nothing(shape, bytes),
    }
}

/// Reads the mark of an absent value.
fn nothing(shape: &Value, bytes: &mut &[u8]) -> Value {
    let _ = number::<1>(bytes);
    shape.clone()
}

fn taken_record(shape: &Record, bytes: &mut &[u8]) -> Record {
    let attribute = |attribute: &Option<Simple>| attribute.as_ref().map(|attribute| taken_simple(attribute, bytes));
    let attributes = shape.attributes.iter().map(attribute).collect();
    let others = shape.others.keys().map(|name| (name.clone(), taken_text(bytes).into_owned())).collect();
    Record { attributes, others, fields: shape.fields.iter().map(|field| taken(field, bytes)).collect() }
}

fn taken_column(shape: &Column, bytes: &mut &[u8]) -> Column {
    let _ = number::<4>(bytes);
    match shape {
        Column::Int(all) => Column::Int(all.iter().map(|_| i32::from_ne_bytes(number(bytes))).collect()),
        Column::Long(all) => Column::Long(all.iter().map(|_| i64::from_ne_bytes(number(bytes))).collect()),
        Column::Double(all) => Column::Double(all.iter().map(|_| f64::from_ne_bytes(number(bytes))).collect()),
        Column::String(all) => Column::String(all.iter().map(|_| taken_text(bytes).into_owned()).collect()),
        other => {
            let mut column = other.clone();
            for (place, item) in other.iter().enumerate() {
                column.set(place, &taken_simple(&item, bytes));
            }
            column
        }
    }
}

/// Reads a simple value. Types without a native form are skipped.
fn taken_simple(shape: &Simple, bytes: &mut &[u8]) -> Simple {
    match shape {
        Simple::Int(_) => Simple::Int(i32::from_ne_bytes(number(bytes))),
        Simple::Long(_) => Simple::Long(i64::from_ne_bytes(number(bytes))),
        Simple::Double(_) => Simple::Double(f64::from_ne_bytes(number(bytes))),
        Simple::Boolean(_) => Simple::Boolean(number::<1>(bytes) != [0]),
        Simple::String(_) => Simple::String(taken_text(bytes).into_owned()),
        other => {
            let _ = taken_text(bytes);
            other.clone()
        }
    }
}

fn taken_node(shape: &Node, bytes: &mut &[u8]) -> Node {
    let name = QName { local: taken_text(bytes).into_owned().into(), ..shape.name.clone() };
    let attribute = |(name, _): &(QName, _)| (name.clone(), taken_text(bytes).into());
    let attributes = shape.attributes.iter().map(attribute).collect();
    let child = |child: &Child| match child {
        Child::Element(child) => Child::Element(taken_node(child, bytes)),
        Child::Text(_) => Child::Text(taken_text(bytes).into()),
    };
    let children = shape.children.iter().map(child).collect();
    Node { name, attributes, children, bindings: shape.bindings.clone() }
}

fn taken_text<'b>(bytes: &mut &'b [u8]) -> Cow<'b, str> {
    let length = (u32::from_ne_bytes(number(bytes)) as usize).min(bytes.len());
    let (own, rest) = bytes.split_at(length);
    *bytes = rest;
    String::from_utf8_lossy(own)
}

/// Returns the next bytes; zeros after the end.
fn number<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    match bytes.split_first_chunk::<N>() {
        Some((own, rest)) => {
            *bytes = rest;
            *own
        }
        None => [0; N],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workload;
    use crate::workload::Message;
    use deltasoap_core::QName;

    #[test]
    fn what_is_written_is_read() {
        let composite = Workload::Composite { ints: 3, doubles: 4, texts: 2, length: 50 };
        let message = Message::new(&composite).expect("a message");
        let value = message.body(0).value.clone();
        let mut bytes = Vec::new();
        put(&value, &mut bytes);
        assert_eq!(bytes.len(), 3 * 4 + 4 * 8 + 2 * (4 + 50));
        let other =
            Message::new(&Workload::Composite { ints: 3, doubles: 4, texts: 2, length: 10 }).expect("a message");
        let shape = other.body(0).value;
        assert_eq!(taken(shape, &mut bytes.as_slice()), value);
        let (write, read, size) = measured(&value);
        assert!(write > 0.0 && read > 0.0 && size == bytes.len());
    }

    #[test]
    fn what_has_no_schema_and_what_is_shared_counts_too() {
        let node = |text: &str| {
            let mut root = Node::new(QName::new("", "root"));
            root.attributes.push((QName::new("", "a"), text.into()));
            root.children.push(Child::Element(Node::with_text(QName::new("", "leaf"), text.to_owned())));
            Value::Tree(Box::new(root))
        };
        let name = |local: &str| Value::Name(Box::new(QName::owned("urn:x", local.to_owned())));
        let value = |text: &str| Value::List(vec![Value::Shared(Shared::new(node(text))), name(text), Value::Nil]);
        let (written, other) = (value("some text"), value("other"));
        let mut bytes = Vec::new();
        put(&written, &mut bytes);
        assert!(bytes.len() > 3 * "some text".len() + 4 * 7, "{bytes:?}");
        assert_eq!(taken(&other, &mut bytes.as_slice()), written);
    }

    /// The new value has nothing of the value that gives the shape, not even the capacity of its
    /// strings.
    #[test]
    fn all_kinds_are_read_into_a_new_value() {
        let value = |text: &str, number: i32| {
            let columns = [
                (QName::new("", "a"), Column::String(vec![text.to_owned(), text.to_owned()])),
                (QName::new("", "b"), Column::Int(vec![number, 2])),
            ];
            let typed = TypedValue { name: QName::owned("urn:x", text.to_owned()), value: Simple::Int(number).into() };
            let record = Record {
                fields: vec![Value::Column(Column::Boolean(vec![number > 5])), Simple::String(text.to_owned()).into()],
                attributes: vec![None, Some(Simple::Long(number.into()))],
                others: [(QName::new("", "c"), text.to_owned())].into(),
            };
            Value::List(vec![
                Value::Table(Box::new(Table::new(columns).expect("even"))),
                Value::Packed(Column::Double(vec![number.into()])),
                Value::Typed(Box::new(typed)),
                Value::Record(Box::new(record)),
            ])
        };
        let (shape, written) = (value(&"long".repeat(1000), 1), value("short", 7));
        let mut bytes = Vec::new();
        put(&written, &mut bytes);
        let read = taken(&shape, &mut bytes.as_slice());
        assert_eq!(read, written);
        let Value::List(items) = read else { panic!("{read:?}") };
        let Value::Record(record) = &items[3] else { panic!("{items:?}") };
        assert!(matches!(&record.fields[1], Value::Simple(Simple::String(text)) if text.capacity() < 100));
    }
}

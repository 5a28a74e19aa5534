//! What a binary format would cost: the least that any could.
//!
//! The values stand one after the other in the machine's own order of bytes, texts with their length in front, and nothing else: no names, no
//! versions, no checks. A real format (protocol buffers, Fast Infoset) costs more. If even this gains little, no format is worth the change.

use crate::measure::Clock;
use crate::predict::{Direction, Sample};
use deltasoap_core::{Child, Node, Shared, Simple, Value};
use serde::Serialize;

/// Messages of a batch, and batches, of which the fastest counts.
const BATCH: usize = 50;
const BATCHES: usize = 20;

/// What the messages of an operation cost in a binary format.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BinaryCost {
    /// Seconds at the server: the request read, the response written.
    pub server: f64,
    /// Seconds at the client: the request written, the response read.
    pub client: f64,
    /// Seconds at the client for the same in XML.
    pub xml_client: f64,
    /// Bytes of a request.
    pub request_bytes: usize,
    /// Bytes of a response.
    pub response_bytes: usize,
}

impl BinaryCost {
    /// The same where one processor does the work of both sides.
    #[must_use]
    pub fn on_one_machine(self) -> Self {
        BinaryCost { server: self.server + self.client, client: 0.0, xml_client: 0.0, ..self }
    }
}

/// Measures it on this machine. `xml_client` is what the client spends on XML now, in seconds.
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

/// Seconds to write, seconds to read, bytes.
fn measured(value: &Value) -> (f64, f64, usize) {
    let mut bytes = Vec::new();
    let write = fastest(|| {
        bytes.clear();
        put(value, &mut bytes);
    });
    let read = fastest(|| {
        let mut copy = value.clone();
        take(&mut copy, &mut bytes.as_slice());
        std::hint::black_box(copy);
    });
    (write, read, bytes.len())
}

fn fastest(mut work: impl FnMut()) -> f64 {
    let mut batch = || {
        let clock = Clock::start();
        (0..BATCH).for_each(|_| work());
        clock.stop(BATCH).cost() / 1e9
    };
    (0..BATCHES).map(|_| batch()).fold(f64::INFINITY, f64::min)
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
        Value::Column(column) | Value::Packed(column) => {
            out.extend((column.len() as u32).to_ne_bytes());
            column.iter().for_each(|item| put_simple(&item, out));
        }
        Value::Table(table) => {
            out.extend((table.len() as u32).to_ne_bytes());
            table.rows().flat_map(|row| row.fields).for_each(|value| put(&value, out));
        }
        Value::Shared(shared) => match shared.get() {
            Some(value) => put(&value, out),
            None => out.push(0),
        },
        Value::Tree(node) => put_node(node, out),
        Value::Name(name) => {
            put_text(&name.namespace, out);
            put_text(&name.local, out);
        }
        _ => out.push(0),
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

/// Reads over a value of the same shape.
fn take(value: &mut Value, bytes: &mut &[u8]) {
    match value {
        Value::Simple(simple) => take_simple(simple, bytes),
        Value::Record(record) => {
            record.attributes.iter_mut().flatten().for_each(|attribute| take_simple(attribute, bytes));
            record.others.values_mut().for_each(|text| *text = take_text(bytes));
            record.fields.iter_mut().for_each(|field| take(field, bytes));
        }
        Value::List(items) => {
            let _ = number::<4>(bytes);
            items.iter_mut().for_each(|item| take(item, bytes));
        }
        Value::Column(column) | Value::Packed(column) => {
            let _ = number::<4>(bytes);
            for place in 0..column.len() {
                let Some(mut item) = column.get(place) else { break };
                take_simple(&mut item, bytes);
                column.set(place, &item);
            }
        }
        Value::Table(table) => {
            let _ = number::<4>(bytes);
            let columns = table.columns().len();
            for (row, column) in (0..table.len() * columns).map(|at| (at / columns, at % columns)) {
                let Some(mut item) = table.columns()[column].get(row) else { break };
                take_simple(&mut item, bytes);
                table.set(row, column, &item);
            }
        }
        Value::Shared(shared) => match shared.get().map(|value| (*value).clone()) {
            Some(mut value) => {
                take(&mut value, bytes);
                *shared = Shared::new(value);
            }
            None => _ = number::<1>(bytes),
        },
        Value::Tree(node) => take_node(node, bytes),
        Value::Name(name) => {
            name.namespace = take_text(bytes).into();
            name.local = take_text(bytes).into();
        }
        _ => _ = number::<1>(bytes),
    }
}

fn take_simple(simple: &mut Simple, bytes: &mut &[u8]) {
    match simple {
        Simple::Int(number_) => *number_ = i32::from_ne_bytes(number(bytes)),
        Simple::Long(number_) => *number_ = i64::from_ne_bytes(number(bytes)),
        Simple::Double(number_) => *number_ = f64::from_ne_bytes(number(bytes)),
        Simple::Boolean(is_true) => *is_true = number::<1>(bytes) != [0],
        Simple::String(text) => *text = take_text(bytes),
        _ => {
            let length = (u32::from_ne_bytes(number(bytes)) as usize).min(bytes.len());
            *bytes = &bytes[length..];
        }
    }
}

fn take_node(node: &mut Node, bytes: &mut &[u8]) {
    node.name.local = take_text(bytes).into();
    node.attributes.iter_mut().for_each(|(_, value)| *value = take_text(bytes).into());
    for child in &mut node.children {
        match child {
            Child::Element(child) => take_node(child, bytes),
            Child::Text(text) => *text = take_text(bytes).into(),
        }
    }
}

fn take_text(bytes: &mut &[u8]) -> String {
    let length = (u32::from_ne_bytes(number(bytes)) as usize).min(bytes.len());
    let (own, rest) = bytes.split_at(length);
    *bytes = rest;
    String::from_utf8_lossy(own).into_owned()
}

/// The next bytes; zeros behind the end.
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
        let mut read = other.body(0).value.clone();
        take(&mut read, &mut bytes.as_slice());
        assert_eq!(read, value);
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
        let (written, mut read) = (value("some text"), value("other"));
        let mut bytes = Vec::new();
        put(&written, &mut bytes);
        assert!(bytes.len() > 3 * "some text".len() + 4 * 7, "{bytes:?}");
        take(&mut read, &mut bytes.as_slice());
        assert_eq!(read, written);
    }
}

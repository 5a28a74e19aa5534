//! Messages that say again what the last one said.
//!
//! Services that are polled send the same message for hours. Such a message needs no rows of its
//! own if its value is the same as that of the last message of its sender and type: every column
//! would hold the same again. The values are compared, never sums of them.
//!
//! A message refers only to rows of its own chunk, so that a run that continues after an
//! interruption, which knows nothing of earlier chunks, writes the same files.

use deltasoap_core::{Column, Simple, Value};
use std::collections::HashMap;

/// Maximum number of bytes of the messages whose values are kept. In memory, a value takes several times
/// as much as its message.
const KEPT: usize = 8 << 20;
/// Maximum number of values that are kept.
const VALUES: usize = 4096;

/// The last values of senders.
#[derive(Default)]
pub(crate) struct Repeats {
    /// By sender and number of the message's type.
    last: HashMap<String, HashMap<usize, Last>>,
    /// Counts messages, to find the value that was not used the longest.
    clock: u64,
    count: usize,
    bytes: usize,
}

struct Last {
    /// The message that has the rows.
    id: i64,
    value: Value,
    size: usize,
    used: u64,
}

impl Repeats {
    /// Returns the message whose rows hold this value; `None` if the message needs its own.
    pub(crate) fn same_as(&mut self, sender: &str, kind: usize, value: &Value) -> Option<i64> {
        self.clock += 1;
        let last = self.last.get_mut(sender)?.get_mut(&kind)?;
        if !is_same(&last.value, value) {
            return None;
        }
        last.used = self.clock;
        Some(last.id)
    }

    /// Keeps the value of a message that has rows. `size` is that of the message, in bytes.
    pub(crate) fn keep(&mut self, sender: &str, kind: usize, id: i64, value: &Value, size: usize) {
        self.forget(sender, kind);
        if size > KEPT {
            return;
        }
        self.make_room(size);
        self.bytes += size;
        self.count += 1;
        let last = Last { id, value: value.clone(), size, used: self.clock };
        self.last.entry(sender.to_owned()).or_default().insert(kind, last);
    }

    /// Forgets all values.
    pub(crate) fn clear(&mut self) {
        *self = Repeats::default();
    }

    fn forget(&mut self, sender: &str, kind: usize) {
        let Some(of_sender) = self.last.get_mut(sender) else { return };
        if let Some(gone) = of_sender.remove(&kind) {
            self.bytes -= gone.size;
            self.count -= 1;
        }
        if of_sender.is_empty() {
            self.last.remove(sender);
        }
    }

    /// Forgets the values that were not used the longest: half of them at once, so that this is rare.
    fn make_room(&mut self, size: usize) {
        while self.count >= VALUES || self.bytes + size > KEPT {
            let mut used: Vec<u64> = self.last.values().flat_map(HashMap::values).map(|last| last.used).collect();
            used.sort_unstable();
            let Some(&limit) = used.get(used.len() / 2) else { return };
            for of_sender in self.last.values_mut() {
                of_sender.retain(|_, last| last.used > limit);
            }
            self.last.retain(|_, of_sender| !of_sender.is_empty());
            let left = || self.last.values().flat_map(HashMap::values);
            (self.count, self.bytes) = (left().count(), left().map(|last| last.size).sum());
        }
    }
}

/// Returns true if two values of one type give the same rows. That is stricter than equality: zero
/// and negative zero differ, and so do numbers that are equal and have another text. Values that
/// refer to something else, parts of a package or values in other places, are never the same.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Simple(one), Value::Simple(other)) => is_same_simple(one, other),
        (Value::Record(one), Value::Record(other)) => {
            one.fields.len() == other.fields.len()
                && one.attributes.len() == other.attributes.len()
                && one.others == other.others
                && one.attributes.iter().zip(&other.attributes).all(|pair| match pair {
                    (Some(one), Some(other)) => is_same_simple(one, other),
                    (None, None) => true,
                    _ => false,
                })
                && one.fields.iter().zip(&other.fields).all(|(one, other)| is_same(one, other))
        }
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Typed(one), Value::Typed(other)) => one.name == other.name && is_same(&one.value, &other.value),
        (Value::Column(one), Value::Column(other)) | (Value::Packed(one), Value::Packed(other)) => {
            is_same_column(one, other)
        }
        (Value::Table(one), Value::Table(other)) => {
            one.columns().len() == other.columns().len()
                && one.columns().iter().zip(other.columns()).all(|(one, other)| is_same_column(one, other))
        }
        (Value::Absent, Value::Absent) | (Value::Nil, Value::Nil) => true,
        (Value::NilWith(one), Value::NilWith(other)) => one == other,
        (Value::Tree(one), Value::Tree(other)) => one == other,
        (Value::Name(one), Value::Name(other)) => one == other,
        _ => false,
    }
}

fn is_same_simple(one: &Simple, other: &Simple) -> bool {
    match (one, other) {
        (Simple::Double(one), Simple::Double(other)) => one.to_bits() == other.to_bits(),
        (Simple::Float(one), Simple::Float(other)) => one.to_bits() == other.to_bits(),
        (Simple::String(one), Simple::String(other)) => one == other,
        (Simple::Boolean(one), Simple::Boolean(other)) => one == other,
        (Simple::Int(one), Simple::Int(other)) => one == other,
        (Simple::Long(one), Simple::Long(other)) => one == other,
        (one, other) => one == other && one.to_string() == other.to_string(),
    }
}

fn is_same_column(one: &Column, other: &Column) -> bool {
    match (one, other) {
        (Column::Double(one), Column::Double(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.to_bits() == other.to_bits())
        }
        (Column::Float(one), Column::Float(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.to_bits() == other.to_bits())
        }
        (one, other) => {
            let is_plain = !matches!(one, Column::DateTime(_));
            one == other && (is_plain || one.iter().zip(other.iter()).all(|(one, other)| is_same_simple(&one, &other)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64) -> Value {
        Value::Simple(Simple::Double(value))
    }

    #[test]
    fn values_are_the_same_only_if_their_rows_are() {
        assert!(is_same(&number(f64::NAN), &number(f64::NAN)));
        assert!(!is_same(&number(0.0), &number(-0.0)));
        assert!(!is_same(&Value::Column(Column::Double(vec![0.0])), &Value::Column(Column::Double(vec![-0.0]))));
        assert!(!is_same(&Value::Absent, &Value::Nil) && !is_same(&Value::Absent, &Value::List(Vec::new())));
        let decimal = |text| Value::Simple(Simple::parse(deltasoap_core::schema::Builtin::Decimal, text).expect("one"));
        assert!(is_same(&decimal("1.0"), &decimal("1.0")) && !is_same(&decimal("1.0"), &decimal("1.00")));
        let moment = |text| Simple::parse(deltasoap_core::schema::Builtin::DateTime, text).expect("one");
        assert!(!is_same_simple(&moment("2026-01-02T03:04:05Z"), &moment("2026-01-02T04:04:05+01:00")));
    }

    #[test]
    fn a_value_is_the_same_as_the_last_one_of_its_sender_and_type() {
        let mut repeats = Repeats::default();
        repeats.keep("a", 0, 7, &number(1.0), 10);
        assert_eq!(repeats.same_as("a", 0, &number(1.0)), Some(7));
        assert_eq!((repeats.same_as("a", 1, &number(1.0)), repeats.same_as("b", 0, &number(1.0))), (None, None));
        repeats.keep("a", 0, 8, &number(2.0), 10);
        assert_eq!((repeats.same_as("a", 0, &number(1.0)), repeats.same_as("a", 0, &number(2.0))), (None, Some(8)));
        repeats.clear();
        assert_eq!(repeats.same_as("a", 0, &number(2.0)), None);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut repeats = Repeats::default();
        for sender in 0..10_000 {
            let name = sender.to_string();
            assert_eq!(repeats.same_as(&name, 0, &number(1.0)), None);
            repeats.keep(&name, 0, sender, &number(1.0), 16 << 10);
            assert!(repeats.bytes <= KEPT && repeats.count <= VALUES, "{} {}", repeats.bytes, repeats.count);
        }
        assert_eq!(repeats.same_as("9999", 0, &number(1.0)), Some(9999));
        repeats.keep("large", 0, 1, &number(1.0), KEPT + 1);
        assert_eq!(repeats.same_as("large", 0, &number(1.0)), None);
        let kept = repeats.last.values().map(HashMap::len).sum::<usize>();
        assert_eq!(kept, repeats.count);
    }
}

//! Bytes of a message that came in separate parts.

use bytes::Bytes;
use deltasoap_core::{Binary, Held, PartUri, Value};
use deltasoap_http::{AttachmentError, Attachments};
use std::collections::{HashMap, HashSet};

/// The bytes of the parts that a value refers to. A client's [`Reply`](crate::Reply) has them; a
/// service takes them out of the request's package.
#[derive(Debug, Default)]
pub struct Parts(HashMap<PartUri, Bytes>);

impl Parts {
    /// Takes the parts that a value refers to out of the package that it came in.
    ///
    /// # Errors
    /// If the package is malformed, or has no such part.
    pub async fn of(value: &Value, attachments: &mut Attachments) -> Result<Self, AttachmentError> {
        let mut parts = Parts::default();
        for uri in referred(value) {
            let bytes = attachments.bytes(&Binary::Part(uri.clone())).await?;
            parts.0.insert(uri, bytes);
        }
        Ok(parts)
    }

    /// Returns all parts.
    pub(super) fn all(&self) -> impl Iterator<Item = (&PartUri, &Bytes)> {
        self.0.iter()
    }

    /// Returns the bytes of a part.
    pub fn bytes(&self, uri: &PartUri) -> Option<&Bytes> {
        self.0.get(uri)
    }
}

/// Returns the parts that a value refers to, each once.
fn referred(value: &Value) -> HashSet<PartUri> {
    let (mut found, mut known, mut held) = (HashSet::new(), HashSet::new(), Vec::<Held<Value>>::new());
    let mut note = |value: &Value, held: &mut Vec<Held<Value>>| {
        let mut ahead = vec![value];
        while let Some(value) = ahead.pop() {
            match value {
                Value::Part(uri) => _ = found.insert(uri.clone()),
                Value::Record(record) => ahead.extend(&record.fields),
                Value::List(items) => ahead.extend(items),
                Value::Typed(typed) => ahead.push(&typed.value),
                Value::Shared(shared) if known.insert(shared.address()) => held.extend(shared.get()),
                _ => {}
            }
        }
    };
    note(value, &mut held);
    while let Some(shared) = held.pop() {
        note(&shared, &mut held);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_core::{QName, Shared};

    #[test]
    fn parts_are_found_wherever_they_stand() {
        let part = || Value::Part(PartUri::new("cid:a"));
        let typed = |value| Value::typed(QName::new("urn:t", "T"), value);
        for value in [
            part(),
            Value::List(vec![Value::Nil, part()]),
            typed(part()),
            typed(Value::List(vec![part()])),
            Value::Shared(Shared::new(typed(part()))),
        ] {
            assert_eq!(referred(&value).len(), 1, "{value:?}");
        }
        assert!(referred(&typed(Value::List(vec![Value::Nil]))).is_empty());
    }
}

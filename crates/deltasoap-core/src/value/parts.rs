//! Bodies whose parts stand in them by themselves: none, or several elements, where most bodies have one.
//!
//! Such a body is a record without an element of its own, with a field a part (document style, WSDL 1.1, section 3.5). Messages are
//! written so where the [name](crate::schema::MethodElement::request_name) of the body's element is empty.

use super::{Record, Value};
use crate::decode::{Cursor, Step};
use crate::schema::{QName, View};
use crate::{Content, ErrorKind};

/// Reads such a body, for a [`Receiver`](crate::soap::Receiver): an element a part, in any order.
#[derive(Debug)]
pub struct BodyParts {
    record: Box<Record>,
    /// The part that is being read.
    current: usize,
}

impl BodyParts {
    /// A body of this description, of which nothing is read yet.
    pub fn new(view: View<'_>) -> Self {
        let count = view.complex().map_or(0, |complex| complex.fields.len());
        BodyParts {
            record: Box::new(Record {
                fields: vec![Value::Absent; count],
                attributes: Vec::new(),
                others: Default::default(),
            }),
            current: 0,
        }
    }

    /// An element of the body was opened, the first or another one.
    ///
    /// # Errors
    /// When no part has its name, or all such parts were there before.
    pub fn open(&mut self, view: View<'_>, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        let fields = view.complex().map_or(&[][..], |complex| &complex.fields);
        let is_missing = |index: usize| self.record.fields[index] == Value::Absent;
        // Several parts may have one element: they come in the order of the parts.
        let is_it = |&index: &usize| fields[index].name.is(namespace, local) && is_missing(index);
        match (0..fields.len()).find(is_it) {
            Some(index) => {
                self.current = index;
                Ok(())
            }
            None => {
                let found = QName::owned(namespace, local).to_string();
                let missing = fields.iter().enumerate().find(|(index, _)| is_missing(*index));
                let expected = missing.map_or("no more parts".to_owned(), |(_, field)| format!("<{}>", field.name));
                Err(ErrorKind::UnexpectedElement { found, expected })
            }
        }
    }

    /// Reads the element last opened; see [`Content::decode`].
    ///
    /// # Errors
    /// As [`Content::decode`].
    pub fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        let field = view.complex().and_then(|complex| complex.fields.get(self.current));
        match (field, self.record.fields.get_mut(self.current)) {
            (Some(field), Some(value)) => value.decode(cursor, view.follow(field.element)),
            _ => unreachable!("a part that was opened"),
        }
    }

    /// The body, once the message was read.
    ///
    /// # Errors
    /// When a part is missing.
    pub fn finish(self, view: View<'_>) -> Result<Value, ErrorKind> {
        let fields = view.complex().map_or(&[][..], |complex| &complex.fields);
        let missing = |(field, value): &(&crate::schema::Field, &Value)| field.min > 0 && **value == Value::Absent;
        match fields.iter().zip(&self.record.fields).find(missing) {
            Some((field, _)) => Err(ErrorKind::MissingElement { expected: field.name.to_string() }),
            None => Ok(Value::Record(self.record)),
        }
    }
}

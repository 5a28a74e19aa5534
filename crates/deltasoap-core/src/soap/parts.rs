//! Bodies without a wrapper element: their parts, none or several, are direct children of the body.
//!
//! Such a body is a value with one field per part (document style, WSDL 1.1, section 3.5): a record
//! of dynamic values, or a [`Message`] that [has parts](Message::HAS_PARTS). Messages are written
//! this way if the [name](crate::schema::MethodElement::request_name) of the body's element is
//! empty.

use crate::ErrorKind;
use crate::content::Message;
use crate::decode::{Cursor, Step};
use crate::schema::{Field, QName, View};

/// The value of a body without a wrapper element.
pub trait Parts: Sized {
    /// Creates a body without any parts.
    fn without_parts(view: View<'_>) -> Self;

    /// Makes room for the part with this number, whose start tag was just read.
    fn open_part(&mut self, part: usize, content: View<'_>);

    /// Reads the last opened part; see [`Content::decode`](crate::Content::decode).
    ///
    /// # Errors
    /// Same as [`Content::decode`](crate::Content::decode).
    fn decode_part(&mut self, part: usize, cursor: &mut Cursor<'_>, content: View<'_>) -> Step;
}

impl<T: Message> Parts for T {
    fn without_parts(view: View<'_>) -> Self {
        T::vacant(view)
    }

    fn open_part(&mut self, part: usize, content: View<'_>) {
        Message::open_part(self, part, content);
    }

    fn decode_part(&mut self, part: usize, cursor: &mut Cursor<'_>, content: View<'_>) -> Step {
        Message::decode_part(self, part, cursor, content)
    }
}

/// Reads a body without a wrapper element for a [`Receiver`](super::Receiver): one element per
/// part, in any order.
#[derive(Debug)]
pub struct BodyParts<T> {
    value: T,
    /// Flags of the parts that were opened.
    seen: Vec<bool>,
    /// The part being read.
    current: usize,
}

impl<T: Parts> BodyParts<T> {
    /// Creates a body of this description, before any part is read.
    pub fn new(view: View<'_>) -> Self {
        BodyParts { value: T::without_parts(view), seen: vec![false; fields(view).len()], current: 0 }
    }

    /// Opens an element of the body, the first or a later one.
    ///
    /// # Errors
    /// Returns an error if no part has its name, or all parts with that name were already opened.
    pub fn open(&mut self, view: View<'_>, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        let fields = fields(view);
        // Several parts may have the same element name: they come in the order of the parts.
        let is_it = |&part: &usize| fields[part].name.is(namespace, local) && !self.seen[part];
        match (0..fields.len()).find(is_it) {
            Some(part) => {
                self.begin(view, part);
                Ok(())
            }
            None => {
                let found = QName::owned(namespace, local).to_string();
                let missing = fields.iter().zip(&self.seen).find(|(_, seen)| !**seen);
                let expected = missing.map_or("no more parts".to_owned(), |(field, _)| format!("<{}>", field.name));
                Err(ErrorKind::UnexpectedElement { found, expected })
            }
        }
    }

    fn begin(&mut self, view: View<'_>, part: usize) {
        if let Some(field) = fields(view).get(part) {
            (self.current, self.seen[part]) = (part, true);
            self.value.open_part(part, view.follow(field.element));
        }
    }

    /// Reads the last opened element. If none was opened, reads the first part, since a message is
    /// identified by it. See [`Content::decode`](crate::Content::decode).
    ///
    /// # Errors
    /// Same as [`Content::decode`](crate::Content::decode).
    pub fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        if !self.seen.contains(&true) {
            self.begin(view, 0);
        }
        match fields(view).get(self.current) {
            Some(field) => self.value.decode_part(self.current, cursor, view.follow(field.element)),
            None => unreachable!("a part that was opened"),
        }
    }

    /// Checks at the end of the body that all required parts were read.
    ///
    /// # Errors
    /// Returns an error if a part is missing.
    pub fn check(&self, view: View<'_>) -> Result<(), ErrorKind> {
        match fields(view).iter().zip(&self.seen).find(|(field, seen)| field.min > 0 && !**seen) {
            Some((field, _)) => Err(ErrorKind::MissingElement { expected: field.name.to_string(), skipped: None }),
            None => Ok(()),
        }
    }

    /// Returns the body, after it was [checked](Self::check).
    pub fn into_value(self) -> T {
        self.value
    }
}

fn fields(view: View<'_>) -> &[Field] {
    view.complex().map_or(&[], |complex| &complex.fields)
}

//! Bodies whose parts stand in them by themselves: none, or several elements, where most bodies
//! have one.
//!
//! Such a body is a value without an element of its own, with a field a part (document style, WSDL
//! 1.1, section 3.5): a record of dynamic values, or a [`Message`] that [has
//! parts](Message::HAS_PARTS). Messages are written so where the
//! [name](crate::schema::MethodElement::request_name) of the body's element is empty.

use crate::ErrorKind;
use crate::content::Message;
use crate::decode::{Cursor, Step};
use crate::schema::{Field, QName, View};

/// The value of such a body.
pub trait Parts: Sized {
    /// A body without any part.
    fn without_parts(view: View<'_>) -> Self;

    /// Makes room for a part, by its number, whose start tag was just read.
    fn open_part(&mut self, part: usize, content: View<'_>);

    /// Reads the part last opened; see [`Content::decode`](crate::Content::decode).
    ///
    /// # Errors
    /// As [`Content::decode`](crate::Content::decode).
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

/// Reads such a body, for a [`Receiver`](super::Receiver): an element a part, in any order.
#[derive(Debug)]
pub struct BodyParts<T> {
    value: T,
    /// Which parts were opened.
    seen: Vec<bool>,
    /// The part that is being read.
    current: usize,
}

impl<T: Parts> BodyParts<T> {
    /// A body of this description, of which nothing is read yet.
    pub fn new(view: View<'_>) -> Self {
        BodyParts { value: T::without_parts(view), seen: vec![false; fields(view).len()], current: 0 }
    }

    /// An element of the body was opened, the first or another one.
    ///
    /// # Errors
    /// When no part has its name, or all such parts were there before.
    pub fn open(&mut self, view: View<'_>, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        let fields = fields(view);
        // Several parts may have one element: they come in the order of the parts.
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

    /// Reads the element last opened; the first part, if none was, for it is what a message is
    /// known by. See [`Content::decode`](crate::Content::decode).
    ///
    /// # Errors
    /// As [`Content::decode`](crate::Content::decode).
    pub fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        if !self.seen.contains(&true) {
            self.begin(view, 0);
        }
        match fields(view).get(self.current) {
            Some(field) => self.value.decode_part(self.current, cursor, view.follow(field.element)),
            None => unreachable!("a part that was opened"),
        }
    }

    /// At the end of the body.
    ///
    /// # Errors
    /// When a part is missing.
    pub fn check(&self, view: View<'_>) -> Result<(), ErrorKind> {
        match fields(view).iter().zip(&self.seen).find(|(field, seen)| field.min > 0 && !**seen) {
            Some((field, _)) => Err(ErrorKind::MissingElement { expected: field.name.to_string() }),
            None => Ok(()),
        }
    }

    /// The body, once it was [checked](Self::check).
    pub fn into_value(self) -> T {
        self.value
    }
}

fn fields(view: View<'_>) -> &[Field] {
    view.complex().map_or(&[], |complex| &complex.fields)
}

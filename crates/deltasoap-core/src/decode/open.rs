//! Which type the message chose for an [`OpenElement`].

use super::{Cursor, Step, array, named_type};
use crate::ns;
use crate::schema::{ElementRef, OpenElement, QName, View};

impl OpenElement {
    /// The content of the element just opened; `None` for one that is kept as a tree.
    ///
    /// # Errors
    /// As [`chosen`](Self::chosen).
    pub(crate) fn content_of(&self, cursor: &Cursor<'_>, view: View<'_>) -> Step<Option<ElementRef>> {
        Ok(match self.chosen(cursor, view)? {
            Some(named) => named.map(|(_, content)| content),
            None => self.base,
        })
    }

    /// The type that the element just opened names, and its content; the outer `None` if it names
    /// none, the inner one for a type that is none of these, or an array of more dimensions than
    /// these have. `view` is that of this content.
    ///
    /// # Errors
    /// When what it names has a prefix that is not declared.
    pub(crate) fn chosen(&self, cursor: &Cursor<'_>, view: View<'_>) -> Step<Option<Option<(&QName, ElementRef)>>> {
        let place = match named_type(cursor)? {
            Some(name) => Some(self.place_of(&name)),
            None => cursor.named_by_array().or_else(|| self.named_by_element(cursor)).map(Some),
        };
        let named = |place: usize| self.types.get(place).map(|(name, content)| (name, *content));
        // Where the declaration names an array, one of another form is an error.
        let fits = |content| self.base.is_some() || array::fits(cursor, view.follow(content));
        Ok(place.map(|place| place.and_then(named).filter(|(_, content)| fits(*content))))
    }

    /// The type of an element that the schema of SOAP encoding declares, such as `<enc:int>` for
    /// `xsd:int`, where any type is allowed (SOAP 1.1, sections 5.1 and 5.4.2).
    fn named_by_element(&self, cursor: &Cursor<'_>) -> Option<usize> {
        let (names, name) = (cursor.names(), cursor.name());
        let is_of_encoding = [ns::SOAP11_ENCODING, ns::SOAP12_ENCODING].contains(&names.namespace(name));
        let named = || self.place_of(&QName::owned(ns::XSD, names.local(name)));
        (is_of_encoding && self.base.is_none()).then(named).flatten()
    }
}

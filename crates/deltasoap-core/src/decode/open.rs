//! The type that the message selected for an [`OpenElement`].

use super::{Cursor, Step, array, named_type};
use crate::ns;
use crate::schema::{ElementRef, OpenElement, QName, View};

impl OpenElement {
    /// Returns the content of the element just opened; `None` if the element is kept as a tree.
    ///
    /// # Errors
    /// See [`chosen`](Self::chosen).
    pub(crate) fn content_of(&self, cursor: &Cursor<'_>, view: View<'_>) -> Step<Option<ElementRef>> {
        Ok(match self.chosen(cursor, view)? {
            Some(named) => named.map(|(_, content)| content),
            None => self.base,
        })
    }

    /// Returns the type that the element just opened names, and its content. The outer `None` means
    /// that it names no type, the inner one that the type is not among `types` or is an array with
    /// more dimensions than they have. `view` is that of this content.
    ///
    /// # Errors
    /// When the prefix of the type's name is not declared.
    pub(crate) fn chosen(&self, cursor: &Cursor<'_>, view: View<'_>) -> Step<Option<Option<(&QName, ElementRef)>>> {
        let place = match named_type(cursor)? {
            Some(name) => Some(self.place_of(&name)),
            None => cursor.named_by_array().or_else(|| self.named_by_element(cursor)).map(Some),
        };
        let named = |place: usize| self.types.get(place).map(|(name, content)| (name, *content));
        // If the declaration names an array, an array of another form is an error.
        let fits = |content| self.base.is_some() || array::fits(cursor, view.follow(content));
        Ok(place.map(|place| place.and_then(named).filter(|(_, content)| fits(*content))))
    }

    /// Returns the type of an element that the schema of SOAP encoding declares, such as
    /// `<enc:int>` for `xsd:int`, where any type is allowed (SOAP 1.1, sections 5.1 and 5.4.2).
    fn named_by_element(&self, cursor: &Cursor<'_>) -> Option<usize> {
        let (names, name) = (cursor.names(), cursor.name());
        let is_of_encoding = [ns::SOAP11_ENCODING, ns::SOAP12_ENCODING].contains(&names.namespace(name));
        let named = || self.place_of(&QName::owned(ns::XSD, names.local(name)));
        (is_of_encoding && self.base.is_none()).then(named).flatten()
    }
}

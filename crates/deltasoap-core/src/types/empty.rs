//! The type of elements without content.

use crate::content::Shortcuts;
use crate::content::{Content, Typed};
use crate::decode::{Cursor, DecodeFields, Step, complex};
use crate::encode::Encoder;
use crate::schema::{ComplexElement, Compositor, Element, QName, View};
use std::borrow::Cow;

/// An element without content. Only its presence matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, PartialOrd, Ord)]
pub struct Empty;

impl Content for Empty {
    const REPLACES: bool = true;

    fn vacant(_: View<'_>) -> Self {
        Empty
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        complex::decode(self, cursor, view)
    }

    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        encoder.type_attribute(view.element.type_name());
    }
}

impl Shortcuts for Empty {}

impl Typed for Empty {
    /// Empty: the type is anonymous, so no `xsi:type` is written.
    const TYPE_NAME: QName = QName::new("", "");

    fn element() -> &'static Element {
        static ELEMENT: Element = Element::Complex(ComplexElement {
            name: Empty::TYPE_NAME,
            compositor: Compositor::Sequence,
            fields: Cow::Borrowed(&[]),
            attributes: Cow::Borrowed(&[]),
            text: None,
            open: false,
            any_attribute: false,
            choices: Cow::Borrowed(&[]),
        });
        &ELEMENT
    }
}

/// There are no fields.
impl DecodeFields for Empty {
    fn open(&mut self, _: usize, _: usize, _: View<'_>) -> usize {
        0
    }

    fn keep(&mut self, _: usize, _: usize, _: View<'_>) {}

    fn vacate(&mut self, _: View<'_>) {}

    fn decode_field(&mut self, _: usize, _: &mut Cursor<'_>, _: View<'_>) -> Step {
        Ok(())
    }
}

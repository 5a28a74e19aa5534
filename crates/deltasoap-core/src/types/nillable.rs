//! Nil, distinguished from content.

use crate::content::{Content, Shortcuts, Typed};
use crate::decode::{Cursor, FlatSource, Step, expect_end, nil_attribute, report_beside_nil};
use crate::encode::{Encoder, FlatSink};
use crate::schema::{Element, QName, View};

/// The content of an element that may be marked `xsi:nil="true"`: distinguishes nil from empty. In
/// an `Option`, it distinguishes both from absent. Attributes of a nil element are not kept; they
/// are [reported](crate::Deviation).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, PartialOrd, Ord)]
pub enum Nillable<T> {
    /// `xsi:nil="true"`.
    #[default]
    Nil,
    /// Content, which may be empty.
    Value(T),
}

impl<T> Nillable<T> {
    /// Returns the content, or `None` for nil.
    pub fn value(&self) -> Option<&T> {
        match self {
            Nillable::Nil => None,
            Nillable::Value(value) => Some(value),
        }
    }
}

impl<T> From<T> for Nillable<T> {
    fn from(value: T) -> Self {
        Nillable::Value(value)
    }
}

/// `None` is nil.
impl<T> From<Option<T>> for Nillable<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Nillable::Nil, Nillable::Value)
    }
}

/// Nil is `None`.
impl<T> From<Nillable<T>> for Option<T> {
    fn from(value: Nillable<T>) -> Self {
        match value {
            Nillable::Nil => None,
            Nillable::Value(value) => Some(value),
        }
    }
}

/// Reading the content.
const CONTENT: u8 = 1;
/// Nil: only the end tag may follow.
const NIL: u8 = 2;

impl<T: Content> Content for Nillable<T> {
    const REPLACES: bool = true;

    fn vacant(_: View<'_>) -> Self {
        Nillable::Nil
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        let (me, fresh) = cursor.enter();
        if fresh && cursor.is_seeking() {
            cursor.frame(me).state = CONTENT;
        } else if fresh && cursor.is_next_in_row() {
            if let Nillable::Nil = self {
                *self = Nillable::Value(T::vacant(view));
            }
            cursor.frame(me).state = CONTENT;
        } else if fresh {
            let is_nil = nil_attribute(cursor)?.0;
            let stays = !is_nil && T::REPLACES && matches!(self, Nillable::Value(_)) && cursor.go_over(me);
            if !stays {
                *self = if is_nil { Nillable::Nil } else { Nillable::Value(T::vacant(view)) };
            }
            if is_nil {
                report_beside_nil(cursor);
            }
            cursor.frame(me).state = if is_nil { NIL } else { CONTENT };
        }
        match self {
            Nillable::Value(value) => value.decode(cursor, view)?,
            Nillable::Nil => expect_end(cursor)?,
        }
        cursor.leave(me);
        Ok(())
    }

    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        match self {
            Nillable::Nil => encoder.nil(),
            Nillable::Value(value) => value.encode(encoder, view),
        }
    }
}

impl<T: Content> Shortcuts for Nillable<T> {
    const COMPACT: bool = true;

    fn scan_flat<S: FlatSource>(&mut self, _: &mut S, _: View<'_>) -> Option<()> {
        None
    }

    fn write_flat<S: FlatSink>(&self, _: &mut S, _: View<'_>) {}
}

impl<T: Typed> Typed for Nillable<T> {
    const TYPE_NAME: QName = T::TYPE_NAME;
    const ITEM_NAME: &'static str = T::ITEM_NAME;
    const NILLABLE: bool = true;

    fn element() -> &'static Element {
        T::element()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nil_is_none() {
        assert_eq!(Nillable::from(7), Nillable::Value(7));
        assert_eq!([Some(7), None].map(Nillable::from), [Nillable::Value(7), Nillable::Nil]);
        assert_eq!([Nillable::Value(7), Nillable::Nil].map(Option::from), [Some(7), None]);
    }
}

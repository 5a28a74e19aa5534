//! Simple values whose types are restricted by a schema: enumerations, unions, lists and names.

use crate::decode::Names;
use crate::encode::Encoder;
use crate::schema::{Builtin, Element, QName, SimpleElement, UnionElement, View};
use crate::types::{NonCanonical, Simple, is_name};
use deltasoap_xml::lexical::LexicalError;
use std::borrow::Cow;
use std::cmp::Ordering;

impl Simple {
    /// Parses a text of a type that may enumerate its values.
    ///
    /// # Errors
    /// Returns an error if the text is not of the type, or is not an enumerated value.
    pub fn parse_as(element: &SimpleElement, text: &str) -> Result<Self, LexicalError> {
        let value = Simple::parse(element.base, text)?;
        if value.is_one_of(element) {
            return Ok(value);
        }
        Err(LexicalError { expected: element.base.local(), reason: "not one of the enumerated values" })
    }

    /// Parses a text of a union. The first member that accepts it determines the value (XSD 1.0
    /// part 2, 2.5.1.3). The text is kept if the value would be written differently. Names are
    /// `{namespace}local`, as for [`named`](Self::named). Returns `None` if no member accepts the
    /// text. `view` is that of the union.
    pub fn parse_union(union: &UnionElement, view: View<'_>, text: &str) -> Option<Self> {
        Self::parse_union_in(union, view, text, &QName::from_expanded)
    }

    /// Like [`parse_union`](Self::parse_union), but names are resolved by `names`.
    pub(super) fn parse_union_in(union: &UnionElement, view: View<'_>, text: &str, names: Names<'_>) -> Option<Self> {
        if !union.list {
            return Self::parse_member(union, view, text, names);
        }
        let items = text.split_ascii_whitespace().map(|text| Self::parse_member(union, view, text, names));
        items.collect::<Option<_>>().map(Simple::List)
    }

    fn parse_member(union: &UnionElement, view: View<'_>, text: &str, names: Names<'_>) -> Option<Self> {
        let value = union.members.iter().find_map(|&member| match view.follow(member).element {
            Element::Union(list) if list.list => Simple::parse_union_in(list, view.follow(member), text, names),
            Element::Simple(simple) if is_name(simple.base) => Simple::named_in(simple.base, text, names).ok(),
            Element::Simple(simple) => Simple::parse_as(simple, text).ok(),
            _ => None,
        })?;
        let given = text.trim_ascii();
        match value.builtin().has_several_texts() && value.to_string() != given {
            true => Some(Simple::NonCanonical(Box::new(NonCanonical { value, text: given.to_owned() }))),
            false => Some(value),
        }
    }

    /// Returns true if an element of this type is written with this value.
    pub(super) fn is_of(&self, base: Builtin) -> bool {
        self.builtin() == base && !matches!(self, Simple::NonCanonical(_) | Simple::List(_))
    }

    /// Like [`named`](Self::named), for a text whose prefix is resolved by `names`.
    pub(super) fn named_in(builtin: Builtin, text: &str, names: Names<'_>) -> Result<Self, LexicalError> {
        let name = names(text.trim_ascii()).ok_or(LexicalError { expected: builtin.local(), reason: "not a name" })?;
        Simple::named(builtin, &name.to_string())
    }

    /// Writes the value as an attribute.
    pub(super) fn attribute(&self, encoder: &mut Encoder, name: &QName) {
        match self.text_of_names(encoder) {
            Some(text) => encoder.attribute(name, &text),
            None => self.attribute_text(encoder, name),
        }
    }

    /// Writes the value as the text of the element just opened.
    pub(super) fn text(&self, encoder: &mut Encoder) {
        match self.text_of_names(encoder) {
            Some(text) => encoder.text(&text),
            None => self.leaf(encoder),
        }
    }

    /// Parses an attribute's text that holds names, resolved by `names`; `None` for other text.
    /// `view` is that of the attribute.
    pub(super) fn holding_names(view: View<'_>, text: &str, names: Names<'_>) -> Option<Self> {
        let value = match view.element {
            Element::Simple(simple) if is_name(simple.base) => Simple::named_in(simple.base, text, names).ok(),
            Element::Union(union) => Simple::parse_union_in(union, view, text, names),
            _ => None,
        };
        value.filter(Simple::holds_names)
    }

    fn holds_names(&self) -> bool {
        match self {
            Simple::List(items) => items.iter().any(Simple::holds_names),
            value => is_name(value.builtin()),
        }
    }

    /// Returns the text of a value with names, choosing and declaring their prefixes; `None` for
    /// other values.
    fn text_of_names(&self, encoder: &mut Encoder) -> Option<String> {
        if let Simple::List(items) = self {
            let text = |item: &Simple| item.text_of_names(encoder).unwrap_or_else(|| item.to_string());
            return Some(items.iter().map(text).collect::<Vec<_>>().join(" "));
        }
        Some(encoder.qname_text(&self.expanded_name()?))
    }

    /// Returns true if both are the same value (XSD 1.0 part 2, 4.2.1), regardless of their texts:
    /// not-a-number equals itself, and a moment is the same in all time zones.
    fn is_same_value(&self, other: &Simple) -> bool {
        let is_same = match (self, other) {
            (Simple::Double(one), Simple::Double(other)) => one.is_nan() && other.is_nan(),
            (Simple::Float(one), Simple::Float(other)) => one.is_nan() && other.is_nan(),
            (Simple::DateTime(one), Simple::DateTime(other)) => one.compare(other) == Some(Ordering::Equal),
            (Simple::Date(one), Simple::Date(other)) => one.compare(other) == Some(Ordering::Equal),
            (Simple::Time(one), Simple::Time(other)) => one.compare(other) == Some(Ordering::Equal),
            (Simple::Duration(one), Simple::Duration(other)) => one.compare(other) == Some(Ordering::Equal),
            _ => false,
        };
        is_same || self == other
    }

    /// Returns true if the value is an enumerated one, or the type enumerates none. Values are
    /// compared, not texts: `1.0` and `1` are one decimal (XSD 1.0 part 2, 4.3.5).
    pub(super) fn is_one_of(&self, element: &SimpleElement) -> bool {
        if element.enumeration.is_empty() {
            return true;
        }
        // Most values are listed in the form in which they are written. Only for others each listed
        // value is parsed and compared.
        let text = match self {
            Simple::String(text) => Cow::Borrowed(text.as_str()),
            other => Cow::Owned(other.to_string()),
        };
        if element.enumeration.contains(&text) {
            return true;
        }
        if element.base == Builtin::String {
            return false;
        }
        let is_this =
            |allowed: &Cow<'_, str>| Simple::parse(element.base, allowed).is_ok_and(|it| self.is_same_value(&it));
        element.enumeration.iter().any(is_this)
    }
}

//! Attributes that any typed element can have: `xsi:nil`, `xsi:type`, references.
//!
//! `xsi:type` and `arrayType` must be well-formed, but the type that they name is not checked where
//! the schema knows it: senders are careless with it. Dynamic content and `AnySimple` do check it.

use super::cursor::Tag;
use super::{Cursor, DeviationKind, Step, Stop};
use crate::schema::{QName, is_markup};
use crate::{ErrorKind, ns};
use deltasoap_xml::NameId;

/// True if the element just opened has `xsi:nil="true"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IsNil(pub(crate) bool);

impl IsNil {
    /// Returns an error if true: for elements that cannot be nil.
    pub(crate) fn reject(self, cursor: &Cursor<'_>) -> Step {
        if self.0 { Err(cursor.error_at_tag(ErrorKind::Nil("this element cannot be nil"))) } else { Ok(()) }
    }
}

/// Looks for `xsi:nil` on the element just opened.
pub(crate) fn nil_attribute(cursor: &Cursor<'_>) -> Step<IsNil> {
    let (reader, names) = (cursor.reader(), cursor.names());
    for index in 0..reader.attribute_count() {
        let (name, text) = reader.attribute(index);
        if names.is(name, ns::XSI, "nil") {
            let is_nil = nil_value(text).map(IsNil);
            return is_nil.ok_or_else(|| cursor.error_at_tag(ErrorKind::Nil("neither true nor false")));
        }
    }
    Ok(IsNil(false))
}

/// Parses the value of `xsi:nil`; `None` if the text is not a boolean.
pub(crate) fn nil_value(text: &str) -> Option<bool> {
    match text.trim_ascii() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Checks an attribute that the schema does not name. The type named by `xsi:type` is not compared
/// with the schema, because senders may use any name (SOAP 1.1, section 5.1), but it must be a
/// valid name.
///
/// # Errors
/// For an `xsi:type` whose prefix is not declared, and for references out of the message: those
/// within were already followed.
pub(crate) fn other_attribute(cursor: &mut Cursor<'_>, index: usize) -> Step {
    let (reader, names) = (cursor.reader(), cursor.names());
    let (name, text) = reader.attribute(index);
    if names.is(name, ns::XSI, "type") {
        let is_declared = reader.resolve(text.trim_ascii()).is_some();
        return if is_declared { Ok(()) } else { Err(undeclared_type(cursor, text)) };
    }
    if names.is(name, "", "href") {
        let what = format!("{text}: only elements of the message can be referred to");
        return Err(cursor.error_at_tag(ErrorKind::Reference(what)));
    }
    if !is_common(cursor, name) {
        cursor.report_attribute(DeviationKind::UnknownAttribute, name);
    }
    Ok(())
}

/// Reports the other attributes of the nil element just opened, for types that do not keep them.
pub(crate) fn report_beside_nil(cursor: &mut Cursor<'_>) {
    for index in 0..cursor.reader().attribute_count() {
        let name = cursor.reader().attribute(index).0;
        if !is_common(cursor, name) && !cursor.names().is(name, "", "href") {
            cursor.report_attribute(DeviationKind::BesideNil, name);
        }
    }
}

/// Returns true for attributes that any element may have.
fn is_common(cursor: &Cursor<'_>, name: NameId) -> bool {
    let names = cursor.names();
    let is_id = names.is(name, "", "id") && cursor.state.references.have_meaning();
    is_id || is_markup(names.namespace(name)) || names.namespace(name) == ns::XMIME
}

/// Returns the type that the start tag just read names, if any.
///
/// # Errors
/// When the name's prefix is not declared.
pub(crate) fn named_type(cursor: &Cursor<'_>) -> Step<Option<QName>> {
    let (reader, names) = (cursor.reader(), cursor.names());
    let mut attributes = (0..reader.attribute_count()).map(|index| reader.attribute(index));
    let Some((_, text)) = attributes.find(|(name, _)| names.is(*name, ns::XSI, "type")) else { return Ok(None) };
    match reader.resolve(text.trim_ascii()) {
        Some((namespace, local)) => Ok(Some(QName::owned(namespace, local))),
        None => Err(undeclared_type(cursor, text)),
    }
}

/// Creates the error for an `xsi:type` that is not a valid name or has an undeclared prefix.
#[cold]
pub(crate) fn undeclared_type(cursor: &Cursor<'_>, text: &str) -> Stop {
    let (found, expected) = (text.to_owned(), "a name whose prefix is declared".to_owned());
    cursor.error_at_tag(ErrorKind::Type { found, expected })
}

pub(crate) fn expect_end(cursor: &mut Cursor<'_>) -> Step {
    match cursor.next_tag()? {
        Tag::Start => Err(cursor.error_at_tag(ErrorKind::Nil("content in a nil element"))),
        Tag::End | Tag::Done => Ok(()),
    }
}

//! Attributes that any typed element can carry: `xsi:nil`, `xsi:type`, references.

use super::cursor::Tag;
use super::{Cursor, DeviationKind, Step, Stop};
use crate::schema::is_markup;
use crate::{ErrorKind, ns};
use deltasoap_xml::NameId;

/// Whether the element just opened says `xsi:nil="true"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IsNil(pub(crate) bool);

impl IsNil {
    /// An error if it does: for elements that cannot be nil.
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
            return match text.trim_ascii() {
                "true" | "1" => Ok(IsNil(true)),
                "false" | "0" => Ok(IsNil(false)),
                _ => Err(cursor.error_at_tag(ErrorKind::Nil("neither true nor false"))),
            };
        }
    }
    Ok(IsNil(false))
}

/// Looks at an attribute that the schema does not name. What `xsi:type` names is not compared with the schema, for
/// senders mark what they like (SOAP 1.1, section 5.1), but it must be a name.
///
/// # Errors
/// For an `xsi:type` whose prefix is not declared, and for references out of the message: those within were followed.
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

/// Reports what the nil element just opened says besides, for types that do not keep it.
pub(crate) fn report_beside_nil(cursor: &mut Cursor<'_>) {
    for index in 0..cursor.reader().attribute_count() {
        let name = cursor.reader().attribute(index).0;
        if !is_common(cursor, name) && !cursor.names().is(name, "", "href") {
            cursor.report_attribute(DeviationKind::BesideNil, name);
        }
    }
}

/// True for attributes that any element may have.
fn is_common(cursor: &Cursor<'_>, name: NameId) -> bool {
    let names = cursor.names();
    let is_id = names.is(name, "", "id") && cursor.state.references.have_meaning();
    is_id || is_markup(names.namespace(name)) || names.namespace(name) == ns::XMIME
}

/// The error for an `xsi:type` that is no name or has a prefix that is not declared.
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

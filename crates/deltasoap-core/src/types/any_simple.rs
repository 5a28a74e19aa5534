//! `xsd:anySimpleType`: a simple value whose type is given by the message.

use super::Simple;
use super::qname::{is_name, resolved};
use crate::content::Shortcuts;
use crate::content::{Content, Typed};
use crate::decode::{Cursor, FlatSource, Step, expect_end, nil_attribute, undeclared_type};
use crate::encode::Encoder;
use crate::encode::complex::Text;
use crate::schema::{Builtin, Element, EnumerationValues, QName, SimpleElement, View};
use crate::{ErrorKind, ns};

/// A simple value of the type that `xsi:type` names, or a string without one. Types that are not
/// built in are read as strings; their names are not kept. Nil is read as an empty string; use
/// `Nillable<AnySimple>` to distinguish it. Written with its `xsi:type`.
///
/// A name (`xsd:QName`, `xsd:NOTATION`) is read with its namespace, as by
/// [`Simple::named`], and written with a prefix that is declared.
#[derive(Debug, Clone, PartialEq)]
pub struct AnySimple(pub Simple);

impl AnySimple {
    /// Returns the value as text; names as `{namespace}local`.
    pub fn text(&self) -> String {
        self.0.to_string()
    }

    /// Resolves the prefix of a name that was read.
    fn resolve(&mut self, cursor: &Cursor<'_>) -> Step {
        let builtin = self.0.builtin();
        if is_name(builtin) {
            let name = resolved(cursor, self.0.to_string())?;
            self.0 = Simple::named(builtin, &name.to_string())
                .map_err(|error| cursor.error_at_end(ErrorKind::Lexical(error)))?;
        }
        Ok(())
    }
}

/// An empty string.
impl Default for AnySimple {
    fn default() -> Self {
        AnySimple(Simple::String(String::new()))
    }
}

impl From<&str> for AnySimple {
    fn from(text: &str) -> Self {
        AnySimple(Simple::String(text.to_owned()))
    }
}

/// Reading the text.
const CONTENT: u8 = 1;
/// Nil: only the end tag may follow.
const NIL: u8 = 2;

impl Content for AnySimple {
    const REPLACES: bool = true;

    fn vacant(_: View<'_>) -> Self {
        Self::default()
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        let (me, fresh) = cursor.enter();
        if fresh {
            let is_nil = nil_attribute(cursor)?.0;
            let named = named_builtin(cursor)?;
            self.0 = Simple::vacant(named);
            cursor.frame(me).state = if is_nil { NIL } else { CONTENT };
            cursor.learn_type(named);
            if is_name(named) {
                // The value depends on declarations, not on the markup and the text alone.
                cursor.stop_learning();
                cursor.keep_elsewhere();
                cursor.keep_declarations();
            }
        }
        if cursor.frame(me).state == NIL {
            expect_end(cursor)?;
        } else {
            self.0.decode(cursor, view)?;
            self.resolve(cursor)?;
        }
        cursor.leave(me);
        Ok(())
    }

    fn encode(&self, encoder: &mut Encoder, _: View<'_>) {
        encoder.qname_attribute(&QName::new(ns::XSI, "type"), &self.0.builtin().name(), "");
        match self.0.expanded_name() {
            Some(name) => name.encode_text(encoder),
            None => self.0.leaf(encoder),
        }
    }
}

impl Shortcuts for AnySimple {
    /// Used for decoding: the type is part of the markup, so equal markup means an equal type.
    fn flat_leaves(_: View<'_>) -> Option<usize> {
        Some(1)
    }

    /// Used for encoding: another value can need other markup.
    fn is_flat(&self, _: View<'_>) -> bool {
        false
    }

    fn scan_flat<S: FlatSource>(&mut self, scan: &mut S, _: View<'_>) -> Option<()> {
        let named = scan.named_type().filter(|named| !is_name(*named))?;
        if self.0.builtin() != named {
            self.0 = Simple::vacant(named);
        }
        self.0.scan_flat(scan)
    }
}

impl Typed for AnySimple {
    const TYPE_NAME: QName = QName::new(ns::XSD, "anySimpleType");

    fn element() -> &'static Element {
        static ELEMENT: Element = Element::Simple(SimpleElement {
            name: AnySimple::TYPE_NAME,
            base: Builtin::String,
            enumeration: EnumerationValues::ANY,
            default: None,
            packed: None,
        });
        &ELEMENT
    }
}

/// Returns the built-in type named by the element just opened; `String` if it names none, or a type
/// that is not built in.
fn named_builtin(cursor: &Cursor<'_>) -> Step<Builtin> {
    let (reader, names) = (cursor.reader(), cursor.names());
    let mut attributes = (0..reader.attribute_count()).map(|index| reader.attribute(index));
    let Some((_, text)) = attributes.find(|(name, _)| names.is(*name, ns::XSI, "type")) else {
        return Ok(Builtin::String);
    };
    let Some((namespace, local)) = reader.resolve(text.trim_ascii()) else {
        return Err(undeclared_type(cursor, text));
    };
    let builtin = if namespace == ns::XSD { Builtin::from_local(&local) } else { None };
    Ok(builtin.unwrap_or(Builtin::String))
}

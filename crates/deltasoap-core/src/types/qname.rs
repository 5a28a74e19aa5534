//! `xsd:QName` as content: the expanded name, not the text.

use super::Simple;
use crate::content::Shortcuts;
use crate::content::{Content, Typed};
use crate::decode::{self, Cursor, Step};
use crate::encode::Encoder;
use crate::encode::complex::Text;
use crate::lexical::LexicalError;
use crate::schema::{Builtin, Element, EnumerationValues, QName, SimpleElement, View};
use crate::{ErrorKind, Lexical, lexical};

/// The prefix is resolved at the element, including its own declarations. When written, the name's
/// namespace gets a prefix there. An unprefixed name is in the default namespace (XSD 1.0 part 2,
/// 3.2.18).
impl Content for QName {
    fn vacant(_: View<'_>) -> Self {
        QName::default()
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        let (me, fresh) = cursor.enter();
        if fresh {
            *self = QName::default();
            cursor.keep_elsewhere();
            cursor.keep_declarations();
        }
        // Until the text is complete, it is stored in the local part.
        let mut text = String::from(std::mem::take(&mut self.local));
        let result = decode::simple::decode(&mut text, cursor, QName::view());
        if result.is_err() {
            self.local = text.into();
            return result;
        }
        let default = view.element.default_text().filter(|_| text.is_empty());
        if let Some(name) = default.filter(|text| text.starts_with('{')).and_then(QName::from_expanded) {
            *self = name;
            cursor.leave(me);
            return Ok(());
        }
        let text = default.map_or(text, ToOwned::to_owned);
        lexical::QName::parse(&text).map_err(|error| cursor.error_at_end(ErrorKind::Lexical(error)))?;
        *self = resolved(cursor, text)?;
        cursor.leave(me);
        Ok(())
    }

    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        encoder.type_attribute(view.element.type_name());
        self.encode_text(encoder);
    }
}

/// Resolves the text of the element just closed, whose declarations were kept.
///
/// # Errors
/// Returns an error if its prefix is not declared.
pub(super) fn resolved(cursor: &Cursor<'_>, text: String) -> Step<QName> {
    cursor.resolve_kept(text.trim_ascii()).ok_or_else(|| {
        let expected = "a name whose prefix is declared".to_owned();
        cursor.error_at_end(ErrorKind::UnexpectedValue { found: text, expected })
    })
}

impl Text for QName {
    fn encode_text(&self, encoder: &mut Encoder) {
        let text = encoder.qname_text(self);
        encoder.text(&text);
    }
}

impl Shortcuts for QName {}

impl Typed for QName {
    const TYPE_NAME: QName = Builtin::QName.name();

    fn element() -> &'static Element {
        static ELEMENT: Element = Element::Simple(SimpleElement {
            name: Builtin::QName.name(),
            base: Builtin::QName,
            enumeration: EnumerationValues::ANY,
            default: None,
            packed: None,
        });
        &ELEMENT
    }
}

impl Simple {
    /// Parses an `xsd:QName` or `xsd:NOTATION` as written by [`QName`]'s `Display`:
    /// `{namespace}local`, or `local` for a name in no namespace.
    ///
    /// # Errors
    /// Returns an error if the text does not have that form.
    pub fn named(builtin: Builtin, text: &str) -> Result<Self, LexicalError> {
        let (namespace, local) = text.strip_prefix('{').and_then(|rest| rest.rsplit_once('}')).unwrap_or(("", text));
        let name = match builtin {
            Builtin::Notation => lexical::Notation::expanded(namespace, local).map(Simple::Notation),
            _ => lexical::QName::expanded(namespace, local).map(Simple::QName),
        };
        name.ok_or(LexicalError { expected: builtin.local(), reason: "not a name" })
    }

    /// Returns the name if its namespace is known, which it is not in a text that was parsed alone.
    pub(crate) fn expanded_name(&self) -> Option<QName> {
        let (namespace, local) = match self {
            Simple::QName(name) => name.parts(),
            Simple::Notation(name) => name.parts(),
            _ => None,
        }?;
        Some(QName::owned(namespace, local))
    }
}

/// Returns true for names, whose prefixes are declared in the surrounding elements.
pub(crate) fn is_name(base: Builtin) -> bool {
    matches!(base, Builtin::QName | Builtin::Notation)
}

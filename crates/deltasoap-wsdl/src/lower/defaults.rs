//! Default and fixed values: the value of an empty element or an absent attribute.
//!
//! A default belongs to a declaration, not to a type. So content with a default has its own schema
//! element next to that of its type. Defaults that are invalid for their type are ignored. Defaults
//! that are names have the form `{namespace}local`. An `xsd:anySimpleType` with a default is a
//! string, whatever the message says.

use super::simple::enumeration;
use super::{Lowering, Work};
use crate::NormalizedContent;
use crate::xsd::{AttributeUse, ElementId, Schemas, TypeId, Variety};
use deltasoap_core::schema::{Builtin, Element, ElementRef, SimpleElement, Use};
use deltasoap_core::{Lexical, QName, Simple, lexical};

impl Schemas {
    /// Returns the text of an empty element: its default or fixed value (XSD 1.0 part 1, 3.3.1).
    /// Returns `None` if the text is invalid for the element's type or is meaningful only in the
    /// schema, and for types without text.
    pub fn default_of_element(&self, id: ElementId) -> Option<&str> {
        let declaration = &self[id];
        let text = declaration.default.as_deref().or(declaration.fixed.as_deref());
        let of = self.type_of_text(declaration.type_id)?;
        text.filter(|text| !text.is_empty() && self.is_of(of, text))
    }

    /// Returns the text of an absent attribute (XSD 1.0 part 1, 3.2.1), with the same exceptions as
    /// for elements.
    pub fn default_of_attribute<'s>(&'s self, it: &'s AttributeUse) -> Option<&'s str> {
        let declaration = &self[it.attribute];
        let texts = [&it.default, &it.fixed, &declaration.default, &declaration.fixed];
        let text = texts.into_iter().flatten().next()?;
        Some(&**text).filter(|text| self.is_of(declaration.type_id, text))
    }

    /// Returns the name that an empty element of type `xsd:QName` stands for.
    pub fn default_name_of_element(&self, id: ElementId) -> Option<&QName> {
        self[id].value_name.as_ref().filter(|_| self.type_of_text(self[id].type_id).is_some_and(|of| self.is_name(of)))
    }

    /// Returns the name that an absent attribute of type `xsd:QName` stands for.
    pub fn default_name_of_attribute<'s>(&'s self, it: &'s AttributeUse) -> Option<&'s QName> {
        let declaration = &self[it.attribute];
        it.value_name.as_ref().or(declaration.value_name.as_ref()).filter(|_| self.is_name(declaration.type_id))
    }

    pub(super) fn is_name(&self, id: TypeId) -> bool {
        matches!(self.variety(id), Some(Variety::Builtin(Builtin::QName | Builtin::Notation)))
    }

    /// Returns true if elements of a type have text.
    pub(super) fn has_text(&self, id: TypeId) -> bool {
        self.type_of_text(id).is_some()
    }

    /// Returns the simple type of a type's text.
    fn type_of_text(&self, id: TypeId) -> Option<TypeId> {
        match self.content(id) {
            None => Some(id).filter(|id| *id != TypeId::ANY),
            Some(normal) => match normal.content {
                NormalizedContent::Text(text) => Some(text),
                _ => None,
            },
        }
    }

    /// Returns true if `text` is a value of a simple type that does not depend on its context.
    /// Members of unions are not checked.
    fn is_of(&self, id: TypeId, text: &str) -> bool {
        let is_one = |id, text| match self.variety(id) {
            Some(Variety::Builtin(Builtin::QName | Builtin::Notation)) => false,
            Some(Variety::Builtin(base)) => {
                let enumeration = enumeration(self, id, *base);
                let element =
                    SimpleElement { name: base.name(), base: *base, enumeration, default: None, packed: None };
                Simple::parse_as(&element, text).is_ok()
            }
            _ => true,
        };
        match self.variety(id) {
            Some(&Variety::List(item)) => text.split_ascii_whitespace().all(|text| is_one(item, text)),
            // It may be a name with a prefix that the schema declares.
            Some(Variety::Union(_)) if self.has_names(id) && lexical::QName::parse(text).is_ok() => false,
            _ => is_one(id, text),
        }
    }
}

impl Lowering<'_> {
    /// Returns the content of an element.
    pub(super) fn element(&mut self, id: ElementId, encoding: Use) -> ElementRef {
        let schemas = self.schemas;
        let type_id = schemas[id].type_id;
        let default = schemas.default_of_element(id);
        if let (TypeId::ANY_SIMPLE, Some(text)) = (type_id, default) {
            return self.with_default(type_id, encoding, text);
        }
        let content = self.content(type_id, encoding);
        let is_open = self.open.get(&(type_id, encoding == Use::Encoded)) == Some(&content);
        match default {
            Some(text) if is_open => self.open_with_default(type_id, encoding, text),
            Some(text) => self.with_default(type_id, encoding, text),
            None if is_open => content,
            None => match schemas.default_name_of_element(id) {
                Some(name) => self.with_default(type_id, encoding, &name.to_expanded()),
                None => content,
            },
        }
    }

    /// Returns content with a default whose type the message chooses.
    fn open_with_default(&mut self, id: TypeId, encoding: Use, text: &str) -> ElementRef {
        let key = ((id, encoding == Use::Encoded), text.into());
        if let Some(&known) = self.open_defaulted.get(&key) {
            return known;
        }
        let reference = self.refer(Work::Open(id, encoding, Some(text.into())));
        self.open_defaulted.insert(key, reference);
        reference
    }

    pub(super) fn with_default(&mut self, id: TypeId, encoding: Use, text: &str) -> ElementRef {
        let key = ((id, encoding == Use::Encoded), text.into());
        if let Some(&known) = self.defaulted.get(&key) {
            return known;
        }
        let reference = self.refer(Work::Defaulted(id, encoding, text.into()));
        self.defaulted.insert(key, reference);
        reference
    }

    /// Returns the schema element of this type, with a default.
    pub(super) fn defaulted_element(&mut self, id: TypeId, encoding: Use, text: Box<str>) -> Element {
        let mut element = self.type_element(id, encoding);
        if let (Element::Complex(complex), Some(of)) = (&mut element, self.schemas.type_of_text(id)) {
            complex.text = Some(self.with_default(of, Use::Literal, &text));
        }
        element.with_default(String::from(text))
    }
}

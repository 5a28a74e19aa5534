//! Values of SOAP-encoded messages. The engine alone knows what may stand where, since the order of accessors says nothing and values may
//! stand elsewhere. What it does not look at are the facets of simple types: those are checked here, at every element whose type is known.

use super::Checker;
use super::item::Item;
use crate::Operation;
use deltasoap_core::ns;
use deltasoap_wsdl::wsdl::PartContent;
use deltasoap_wsdl::xsd::{ElementId, Particle, Term, TypeDefinition, TypeId};
use deltasoap_wsdl::{Normal, NormalContent};

impl<'c> Checker<'c> {
    /// The accessors of an encoded message, each by the part of its name.
    pub(super) fn encoded_parts(&mut self, operation: &Operation, entry: &Item, is_request: bool) {
        let declared = operation.declaration();
        let parameter = if is_request { &declared.input } else { &declared.output };
        let Some(parameter) = parameter else { return };
        let parts = &operation.contract().description().definitions().messages[parameter.message].parts;
        for child in &entry.children {
            let part = parts.iter().find_map(|part| match part.content {
                PartContent::Type(id) if *part.name == *child.name.local => Some(id),
                _ => None,
            });
            if let Some(id) = part {
                self.within(child, |this| this.encoded(child, id));
            }
        }
    }

    /// Values beside the operation, which references lead to: each by the type that it names.
    pub(super) fn encoded_apart(&mut self, body: &Item, entry: &Item) {
        let is_referred = |it: &&Item| it.offset != entry.offset && it.attribute("", "id").is_some();
        for item in body.children.iter().filter(is_referred) {
            self.within(item, |this| this.encoded(item, TypeId::ANY));
        }
    }

    fn encoded(&mut self, item: &Item, declared: TypeId) {
        let schemas = self.types.import.schemas();
        let is_nil = item.attribute(ns::XSI, "nil").is_some_and(|text| matches!(text.trim_ascii(), "true" | "1"));
        let refers = item.attribute("", "href").is_some() || item.attribute(ns::SOAP12_ENCODING, "ref").is_some();
        if is_nil || refers {
            return;
        }
        let id = self.encoded_type(item, declared);
        match &schemas[id].definition {
            TypeDefinition::Simple(_) => self.encoded_text(item, id),
            TypeDefinition::Complex(_) => match schemas.content(id) {
                Some(Normal { array: Some(array), .. }) => self.encoded_items(item, array.item),
                Some(Normal { content: NormalContent::Text(id), .. }) => self.encoded_text(item, *id),
                Some(Normal { content: NormalContent::Elements(particle), .. }) => self.encoded_fields(item, particle),
                _ => {}
            },
        }
    }

    /// The type that an element names, where that says more than the declared one: many senders name the base of a derived simple type.
    fn encoded_type(&self, item: &Item, declared: TypeId) -> TypeId {
        let named = item.attribute(ns::XSI, "type").and_then(|text| item.resolve(text));
        let named = named.and_then(|name| self.types.named(&name));
        named.filter(|id| self.types.can_be(*id, declared)).unwrap_or(declared)
    }

    fn encoded_text(&mut self, item: &Item, id: TypeId) {
        if item.children.is_empty() {
            self.simple(item, id, None, false);
        }
    }

    /// The items of an array; of one whose items are arrays, theirs name their type themselves.
    fn encoded_items(&mut self, item: &Item, declared: TypeId) {
        let of = item.attribute(ns::SOAP11_ENCODING, "arrayType").or(item.attribute(ns::SOAP12_ENCODING, "itemType"));
        let named = of.map(|text| text.split('[').next().unwrap_or(text)).and_then(|text| item.resolve(text));
        let named = named.and_then(|name| self.types.named(&name)).filter(|id| self.types.can_be(*id, declared));
        let is_nested = of.is_some_and(|text| text.matches('[').count() > 1);
        let id = if is_nested { TypeId::ANY } else { named.unwrap_or(declared) };
        for child in &item.children {
            self.within(child, |this| this.encoded(child, id));
        }
    }

    fn encoded_fields(&mut self, item: &Item, particle: &'c Particle) {
        let schemas = self.types.import.schemas();
        for child in &item.children {
            let field = elements(particle).into_iter().find(|id| schemas[*id].name.local == child.name.local);
            if let Some(id) = field {
                self.within(child, |this| this.encoded(child, schemas[id].type_id));
            }
        }
    }
}

/// The elements of a content model.
fn elements(particle: &Particle) -> Vec<ElementId> {
    match &particle.term {
        Term::Element(id) => vec![*id],
        Term::Sequence(parts) | Term::Choice(parts) | Term::All(parts) => parts.iter().flat_map(elements).collect(),
        Term::Group(_) | Term::Any(_) => Vec::new(),
    }
}

//! One element: its type, its attributes, its content.

use super::Checker;
use super::item::Item;
use super::model::{Assigned, Matching};
use crate::facets;
use deltasoap_core::schema::Use;
use deltasoap_core::soap::Version;
use deltasoap_core::{QName, ns};
use deltasoap_wsdl::lower::Origin;
use deltasoap_wsdl::xsd::{Element, Particle, TypeDefinition, TypeId};
use deltasoap_wsdl::{Normal, NormalContent};

impl Checker<'_> {
    /// An element that must be one of the contract's.
    pub(super) fn declared(&mut self, item: &Item, otherwise: &str) {
        match self.types.import.schemas().element_named(&item.name) {
            Some(_) => self.if_declared(item),
            None => self.find(item, otherwise),
        }
    }

    /// An element that may be one of the contract's.
    pub(super) fn if_declared(&mut self, item: &Item) {
        let schemas = self.types.import.schemas();
        if let Some(id) = schemas.element_named(&item.name) {
            self.element(item, schemas[id].type_id, Some(&schemas[id]));
        }
    }

    /// An element of a type, by a declaration if there is one.
    pub(super) fn element(&mut self, item: &Item, type_id: TypeId, declaration: Option<&Element>) {
        let Some(type_id) = self.actual_type(item, type_id) else { return };
        if self.is_nil(item, declaration) {
            return;
        }
        let types = self.types;
        match &types.import.schemas()[type_id].definition {
            _ if type_id == TypeId::ANY => {}
            TypeDefinition::Simple(_) => {
                self.no_children(item);
                self.attributes(item, None);
                self.text(item, type_id, declaration);
            }
            TypeDefinition::Complex(_) => {
                if let Some(normal) = types.import.schemas().content(type_id) {
                    self.complex(item, normal, declaration);
                }
            }
        }
    }

    /// The type that the element says it is of, or else the declared one; `None` if that is wrong.
    fn actual_type(&mut self, item: &Item, declared: TypeId) -> Option<TypeId> {
        let types = self.types;
        let id = match &item.named_type {
            None => declared,
            Some(Err(text)) => {
                self.find(item, format!("xsi:type {text:?} has a prefix that is not declared"));
                return None;
            }
            Some(Ok(name)) => match types.named(name) {
                Some(id) => id,
                None => {
                    self.find(item, format!("xsi:type names {name}, which the contract does not have"));
                    return None;
                }
            },
        };
        let origin = Origin { type_id: declared, encoding: Use::Literal, is_open: true };
        if !types.fits(id, origin) {
            let names = [id, declared].map(|id| types.label(id).unwrap_or_default());
            self.find(item, format!("xsi:type {} is not derived from {}", names[0], names[1]));
            return None;
        }
        if matches!(&types.import.schemas()[id].definition, TypeDefinition::Complex(it) if it.is_abstract) {
            let label = types.label(id).unwrap_or_default();
            self.find(item, format!("{label} is abstract: xsi:type has to name a type derived from it"));
            return None;
        }
        Some(id)
    }

    fn is_nil(&mut self, item: &Item, declaration: Option<&Element>) -> bool {
        let is_nil = item.attribute(ns::XSI, "nil").is_some_and(|it| matches!(it.trim_ascii(), "true" | "1"));
        if is_nil && declaration.is_some_and(|declaration| !declaration.is_nillable) {
            self.find(item, "nil, and the element is not nillable");
        }
        if is_nil && (item.has_text() || !item.children.is_empty()) {
            self.find(item, "nil, and there is content");
        }
        is_nil
    }

    fn no_children(&mut self, item: &Item) {
        if let Some(child) = item.children.first() {
            self.within(child, |this| this.find(child, "no elements may stand here"));
        }
    }

    fn text(&mut self, item: &Item, type_id: TypeId, declaration: Option<&Element>) {
        let given = |text: &Option<Box<str>>| text.as_deref().filter(|_| item.text.is_empty()).map(ToOwned::to_owned);
        let text = declaration.and_then(|it| given(&it.default).or_else(|| given(&it.fixed)));
        let text = text.unwrap_or_else(|| item.text.clone());
        if let Some(violation) = facets::violation(self.types.import.schemas(), type_id, &text) {
            self.find(item, violation);
        }
        let fixed = declaration.and_then(|it| it.fixed.as_deref());
        if let Some(fixed) = fixed.filter(|fixed| fixed.trim_ascii() != text.trim_ascii()) {
            self.find(item, format!("{text:?} instead of the fixed value {fixed:?}"));
        }
    }

    fn complex(&mut self, item: &Item, normal: &Normal, declaration: Option<&Element>) {
        self.attributes(item, Some(normal));
        match &normal.content {
            NormalContent::Text(id) => {
                self.no_children(item);
                self.text(item, *id, declaration);
            }
            _ if !normal.is_mixed && item.has_text() => self.find(item, "no text may stand here"),
            NormalContent::Empty => self.no_children(item),
            NormalContent::Elements(particle) => self.children(item, particle),
        }
    }

    fn children(&mut self, item: &Item, particle: &Particle) {
        let schemas = self.types.import.schemas();
        let mut matching = Matching::new(schemas, &item.children);
        let result = matching.run(particle);
        let assigned = matching.assigned;
        for (child, assigned) in item.children.iter().zip(&assigned) {
            self.within(child, |this| match assigned {
                Assigned::Element(id) => this.element(child, schemas[*id].type_id, Some(&schemas[*id])),
                Assigned::Any => this.if_declared(child),
            });
        }
        let Err(message) = result else { return };
        match item.children.get(assigned.len()) {
            Some(child) => {
                // Where only namespaces differ, the message has them.
                let is_alike = message.contains('{');
                let found = if is_alike { child.name.to_string() } else { child.name.local.to_string() };
                self.within(child, |this| this.find(child, format!("{message}, found <{found}>")));
            }
            None => self.find(item, message),
        }
    }

    /// Attributes; `None` for a type that has none.
    fn attributes(&mut self, item: &Item, normal: Option<&Normal>) {
        let schemas = self.types.import.schemas();
        let uses = normal.map_or(&[][..], |normal| &normal.attributes);
        for (name, value) in item.attributes.iter().filter(|(name, _)| !is_of_the_envelope(name)) {
            let known = uses.iter().find(|it| schemas[it.attribute].name == *name);
            let any = normal.and_then(|normal| normal.any_attribute.as_ref());
            match known {
                Some(known) => {
                    let violation = facets::violation(schemas, schemas[known.attribute].type_id, value);
                    violation.into_iter().for_each(|it| self.find(item, format!("attribute {}: {it}", name.local)));
                    let fixed = known.fixed.as_deref().or(schemas[known.attribute].fixed.as_deref());
                    if let Some(fixed) = fixed.filter(|fixed| fixed != value) {
                        self.find(
                            item,
                            format!("attribute {}: {value:?} instead of the fixed value {fixed:?}", name.local),
                        );
                    }
                }
                None if any.is_some_and(|any| any.namespaces.allow(&name.namespace)) => {}
                None => self.find(item, format!("the attribute {name} may not stand here")),
            }
        }
        for missing in uses.iter().filter(|it| it.is_required) {
            let name = &schemas[missing.attribute].name;
            if item.attribute(&name.namespace, &name.local).is_none() {
                self.find(item, format!("the attribute {} is missing", name.local));
            }
        }
    }
}

/// Attributes that may stand anywhere: those of instances, of SOAP, and `xml:`.
fn is_of_the_envelope(name: &QName) -> bool {
    let namespace = &*name.namespace;
    namespace == ns::XSI || namespace == ns::XML || Version::from_namespace(namespace).is_some()
}

//! Simple types: a built-in type with its allowed values, or a union of such types.

use super::{Lowering, Work};
use crate::document::ns;
use crate::xsd::{Schemas, TypeDefinition, TypeId, Variety};
use deltasoap_core::QName;
use deltasoap_core::schema::{Builtin, Element, ElementRef, EnumerationValues, SimpleElement, UnionElement, Use};
use std::collections::HashSet;

/// Maximum nesting of unions.
const MAX_DEPTH: usize = 16;

impl Lowering<'_> {
    /// Lowers a simple type.
    pub(super) fn simple(&mut self, id: TypeId) -> Element {
        let (members, list) = match self.schemas.variety(id) {
            Some(Variety::Union(_)) => (self.schemas.members(id), false),
            Some(&Variety::List(item)) if self.schemas.has_names(item) => {
                self.notes.list_type(id);
                (self.schemas.members(item), true)
            }
            _ if keeps_text(self.schemas, id) => (vec![id], false),
            _ => return Element::Simple(self.simple_element(id)),
        };
        let members = members.into_iter().map(|member| self.member(member)).collect();
        Element::Union(UnionElement { name: name(self.schemas, id), members, list, default: None })
    }

    /// Lowers a type that is not a union.
    fn member(&mut self, id: TypeId) -> ElementRef {
        if !keeps_text(self.schemas, id) {
            return self.exactly(id, Use::Literal);
        }
        let element = Element::Simple(self.simple_element(id));
        self.refer(Work::Done(element))
    }

    fn simple_element(&mut self, id: TypeId) -> SimpleElement {
        let base = match self.schemas.variety(id) {
            Some(Variety::Builtin(builtin)) => *builtin,
            Some(Variety::List(_)) => {
                self.notes.list_type(id);
                Builtin::Token
            }
            _ => Builtin::String,
        };
        let is_list = matches!(self.schemas.variety(id), Some(Variety::List(_)));
        let enumeration = if is_list { EnumerationValues::ANY } else { enumeration(self.schemas, id, base) };
        let packed = self.schemas.packing(id);
        SimpleElement { name: name(self.schemas, id), base, enumeration, default: None, packed }
    }
}

impl Schemas {
    /// Returns true for names, and for unions with a member that is a name.
    pub(super) fn has_names(&self, id: TypeId) -> bool {
        self.members(id).into_iter().any(|member| self.is_name(member))
    }

    /// Returns the type itself or the members of a union; none of them is a union.
    fn members(&self, id: TypeId) -> Vec<TypeId> {
        let mut members = Vec::new();
        self.collect_members(id, &mut members, &mut HashSet::new(), 0);
        members
    }

    fn collect_members(&self, id: TypeId, into: &mut Vec<TypeId>, seen: &mut HashSet<TypeId>, depth: usize) {
        if !seen.insert(id) {
            return;
        }
        match self.variety(id) {
            Some(Variety::Union(_)) if depth > MAX_DEPTH => into.push(TypeId::ANY_SIMPLE),
            Some(Variety::Union(members)) => {
                members.iter().for_each(|&member| self.collect_members(member, into, seen, depth + 1));
            }
            Some(_) => into.push(id),
            None => {}
        }
    }
}

/// Returns true if a pattern may require a different text for a value than the one it is normally
/// written with.
fn keeps_text(schemas: &Schemas, id: TypeId) -> bool {
    let Some(Variety::Builtin(base)) = schemas.variety(id) else { return false };
    base.has_several_texts() && schemas.has_patterns(id)
}

/// Returns the name of a simple type for `xsi:type`: its own, or that of the type it restricts.
fn name(schemas: &Schemas, id: TypeId) -> QName {
    let mut id = id;
    loop {
        match (&schemas[id].name, &schemas[id].definition) {
            _ if id == TypeId::ANY_SIMPLE => return Builtin::String.name(),
            (Some(name), _) => return name.clone(),
            (None, TypeDefinition::Simple(simple)) => match &simple.variety {
                Variety::Restriction(base) => id = *base,
                _ => return Builtin::String.name(),
            },
            (None, TypeDefinition::Complex(_)) => return Builtin::String.name(),
        }
    }
}

/// Returns the allowed values. Names are not compared, since their prefixes are the schema's.
pub(super) fn enumeration(schemas: &Schemas, id: TypeId, base: Builtin) -> EnumerationValues {
    match base {
        Builtin::QName | Builtin::Notation => EnumerationValues::ANY,
        _ => schemas.enumeration(id),
    }
}

/// Returns true for the types of SOAP encoding.
pub(super) fn is_soap_encoding(schemas: &Schemas, id: TypeId) -> bool {
    let is_encoding = |name: &QName| [ns::SOAP11_ENCODING, ns::SOAP12_ENCODING].contains(&&*name.namespace);
    schemas[id].name.as_ref().is_some_and(is_encoding)
}

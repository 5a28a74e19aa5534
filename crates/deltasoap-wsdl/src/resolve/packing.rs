//! The annotation of packed numbers: `packed` in the `appinfo` of a simple type or of an element.
//!
//! Packing is a property of types. An annotated element gets its own type, which restricts the
//! declared one.

use super::Builder;
use crate::document::{Node, Place};
use crate::xsd::{SimpleType, Type, TypeDefinition, TypeId, Variety};
use deltasoap_core::schema::{Builtin, Packing};

/// Maximum length of a chain of restrictions.
const MAX_DEPTH: usize = 64;

impl<'s> Builder<'s> {
    /// Parses the annotation, if there is one. An annotation with unknown values is noted.
    pub(super) fn packing(&mut self, node: Node<'s>) -> Option<Packing> {
        let annotation = node.packing()?;
        let read = read(annotation);
        if read.is_none() {
            let what = "an annotation `packed` whose `items` are not a type of packed numbers, or whose `order` is neither \
                        `little-endian` nor `big-endian`; it is ignored";
            self.tolerated.push((what.to_owned(), annotation.place()));
        }
        read
    }

    /// Gives annotated elements a type of their own.
    pub(super) fn pack_elements(&mut self) {
        for index in 0..self.schemas.elements.len() {
            let element = &self.schemas.elements[index];
            let (declared, place) = (element.type_id, element.place);
            let Some(&packing) = self.packings.get(&place) else { continue };
            if self.is_binary(declared) {
                self.schemas.elements[index].type_id = self.packed_type(declared, packing, place);
            } else {
                let what = "an annotation `packed` on an element that is not of `xsd:base64Binary`; it is ignored";
                self.tolerated.push((what.to_owned(), place));
            }
        }
    }

    fn packed_type(&mut self, declared: TypeId, packing: Packing, place: Place) -> TypeId {
        let simple = SimpleType { variety: Variety::Restriction(declared), facets: None, packing: Some(packing) };
        let definition = TypeDefinition::Simple(simple);
        self.push_type(Type { name: None, definition, documentation: None, place: Some(place) })
    }

    /// Returns true for `xsd:base64Binary` and its restrictions.
    fn is_binary(&self, id: TypeId) -> bool {
        let mut id = id;
        for _ in 0..MAX_DEPTH {
            match &self.schemas[id].definition {
                TypeDefinition::Simple(SimpleType { variety: Variety::Restriction(base), .. }) => id = *base,
                TypeDefinition::Simple(SimpleType { variety, .. }) => {
                    return *variety == Variety::Builtin(Builtin::Base64Binary);
                }
                TypeDefinition::Complex(_) => return false,
            }
        }
        false
    }
}

fn read(annotation: Node<'_>) -> Option<Packing> {
    let is_big_endian = match annotation.attribute("order").map(str::trim_ascii) {
        None | Some("little-endian") => false,
        Some("big-endian") => true,
        Some(_) => return None,
    };
    Packing::new(Builtin::from_local(annotation.attribute("items")?.trim_ascii())?, is_big_endian)
}

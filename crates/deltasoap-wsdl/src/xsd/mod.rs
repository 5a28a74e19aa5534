//! XML Schema 1.0 as a model: what the documents say, every reference resolved.
//!
//! Components live in one table a kind and refer to each other by numbers, so recursive types are
//! no trouble. They are what was written down: groups are references, and a derived type holds only
//! what it adds. What content a type has in the end is a question for [`Schemas::content`].

mod chains;
mod components;
mod constraints;
mod facets;

pub(crate) use chains::Chains;
pub use components::{
    Attribute, AttributeGroup, AttributeGroupId, AttributeId, AttributeUse, Attributes, Block, ComplexType, Content,
    Derivation, Element, ElementId, Group, GroupId, Particle, ProcessContents, SimpleType, SoapArray, Term, Type,
    TypeDefinition, TypeId, Variety, Wildcard, WildcardNamespaces,
};
pub use constraints::{ConstraintKind, IdentityConstraint, NameTest, Path};
pub use facets::{Enumerated, Facets, WhiteSpace};

use crate::normalize::Normal;
use deltasoap_core::QName;
use deltasoap_core::schema::Builtin;
use std::collections::HashMap;
use std::ops::Index;
use std::sync::OnceLock;

/// All components of an import.
#[derive(Debug, Default)]
pub struct Schemas {
    pub(crate) types: Vec<Type>,
    pub(crate) elements: Vec<Element>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) groups: Vec<Group>,
    pub(crate) attribute_groups: Vec<AttributeGroup>,
    pub(crate) types_by_name: HashMap<QName, TypeId>,
    pub(crate) elements_by_name: HashMap<QName, ElementId>,
    pub(crate) attributes_by_name: HashMap<QName, AttributeId>,
    /// Content of the complex types, by number; `None` for simple types.
    pub(crate) normal: Vec<Option<Box<Normal>>>,
    /// For each head of a substitution group the elements that can stand for it.
    pub(crate) substitutes: HashMap<ElementId, Vec<ElementId>>,
    /// For each type those that are derived from it, directly.
    pub(crate) derived: HashMap<TypeId, Vec<TypeId>>,
    /// What simple types have of those that they restrict, once it is asked for.
    pub(crate) chains: OnceLock<Chains>,
}

impl Schemas {
    /// All types, built-in ones first, then those with names, then those without.
    pub fn types(&self) -> impl ExactSizeIterator<Item = (TypeId, &Type)> {
        self.types.iter().enumerate().map(|(index, it)| (TypeId(index as u32), it))
    }

    /// All element declarations, global ones first.
    pub fn elements(&self) -> impl ExactSizeIterator<Item = (ElementId, &Element)> {
        self.elements.iter().enumerate().map(|(index, it)| (ElementId(index as u32), it))
    }

    /// The type with this name.
    pub fn type_named(&self, name: &QName) -> Option<TypeId> {
        self.types_by_name.get(name).copied()
    }

    /// The global element with this name.
    pub fn element_named(&self, name: &QName) -> Option<ElementId> {
        self.elements_by_name.get(name).copied()
    }

    /// The global attribute with this name.
    pub fn attribute_named(&self, name: &QName) -> Option<AttributeId> {
        self.attributes_by_name.get(name).copied()
    }

    /// What a complex type's content is once its base types and groups are taken in; `None` for
    /// simple types.
    pub fn content(&self, id: TypeId) -> Option<&Normal> {
        self.normal.get(id.0 as usize)?.as_deref()
    }

    /// The elements that can stand in place of this one, at any distance, abstract ones left out;
    /// without itself.
    pub fn substitutes(&self, id: ElementId) -> &[ElementId] {
        self.substitutes.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The types that are derived from this one in one step.
    pub fn derived(&self, id: TypeId) -> &[TypeId] {
        self.derived.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The number of a built-in type.
    pub(crate) fn builtin(builtin: Builtin) -> TypeId {
        let index = Builtin::ALL.iter().position(|&it| it == builtin).unwrap_or_default();
        TypeId(TypeId::FIRST_BUILTIN + index as u32)
    }
}

macro_rules! tables {
    ($($id:ident => $table:ident: $component:ident),* $(,)?) => {
        $(impl Index<$id> for Schemas {
            type Output = $component;

            fn index(&self, id: $id) -> &$component {
                &self.$table[id.0 as usize]
            }
        })*
    };
}

tables! {
    TypeId => types: Type,
    ElementId => elements: Element,
    AttributeId => attributes: Attribute,
    GroupId => groups: Group,
    AttributeGroupId => attribute_groups: AttributeGroup,
}

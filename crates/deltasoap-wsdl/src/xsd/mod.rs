//! XML Schema 1.0 as a model: the content of the documents, with every reference resolved.
//!
//! Each kind of component has one table, and components refer to each other by number, so recursive
//! types need no special handling. Components are kept as written: groups are references, and a
//! derived type has only what it adds. [`Schemas::content`] returns the effective content of a
//! type.
//!
//! The crate `xsd-parser` was tried (1.5.2, with its defaults and its resolver for files) on the
//! 757 schema documents of a collection of real descriptions: 494 went through parser and
//! interpreter. Its parser refused 155, of which 115 have an import that cannot be resolved, an
//! error there and a hint in XML Schema; its interpreter refused 108, 50 of them for `anyType`,
//! which has to be switched on. The deciding factor was its scope: it does not support WSDL, a
//! reference to nothing ends it, and from the interpreter on, errors have no position.

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

use crate::normalize::NormalizedType;
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
    pub(crate) normal: Vec<Option<Box<NormalizedType>>>,
    /// Substitutes of each head of a substitution group.
    pub(crate) substitutes: HashMap<ElementId, Vec<ElementId>>,
    /// Types derived directly from each type.
    pub(crate) derived: HashMap<TypeId, Vec<TypeId>>,
    /// What simple types inherit from the types that they restrict, computed on first use.
    pub(crate) chains: OnceLock<Chains>,
}

impl Schemas {
    /// Returns all types: built-in types first, then named types, then anonymous types.
    pub fn types(&self) -> impl ExactSizeIterator<Item = (TypeId, &Type)> {
        self.types.iter().enumerate().map(|(index, it)| (TypeId(index as u32), it))
    }

    /// Returns all element declarations, global ones first.
    pub fn elements(&self) -> impl ExactSizeIterator<Item = (ElementId, &Element)> {
        self.elements.iter().enumerate().map(|(index, it)| (ElementId(index as u32), it))
    }

    /// Returns the type with this name.
    pub fn type_named(&self, name: &QName) -> Option<TypeId> {
        self.types_by_name.get(name).copied()
    }

    /// Returns the global element with this name.
    pub fn element_named(&self, name: &QName) -> Option<ElementId> {
        self.elements_by_name.get(name).copied()
    }

    /// Returns the global attribute with this name.
    pub fn attribute_named(&self, name: &QName) -> Option<AttributeId> {
        self.attributes_by_name.get(name).copied()
    }

    /// Returns the global attributes, in the order of their declarations.
    pub fn global_attributes(&self) -> impl ExactSizeIterator<Item = AttributeId> + use<> {
        let mut all: Vec<_> = self.attributes_by_name.values().copied().collect();
        all.sort_unstable_by_key(|id| id.0);
        all.into_iter()
    }

    /// Returns the effective content of a complex type, with base types and groups included; `None`
    /// for simple types.
    pub fn content(&self, id: TypeId) -> Option<&NormalizedType> {
        self.normal.get(id.0 as usize)?.as_deref()
    }

    /// Returns the direct and indirect substitutes of an element, without abstract elements and
    /// without itself.
    pub fn substitutes(&self, id: ElementId) -> &[ElementId] {
        self.substitutes.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Returns the types derived directly from this one.
    pub fn derived(&self, id: TypeId) -> &[TypeId] {
        self.derived.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Returns the number of a built-in type.
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

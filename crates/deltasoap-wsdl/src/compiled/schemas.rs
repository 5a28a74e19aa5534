//! Schemas: components and what is computed from them.
//!
//! Groups and the content of single definitions are left out: normalized content includes all of
//! it.

use super::Fault;
use super::reader::Reader;
use super::stored::{Stored, stored_enum, stored_struct};
use super::writer::Writer;
use crate::document::Place;
use crate::normalize::{NormalizedContent, NormalizedType};
use crate::xsd::{
    Attribute, AttributeId, AttributeUse, Attributes, Block, ComplexType, ConstraintKind, Content, Derivation, Element,
    ElementId, Enumerated, Facets, GroupId, IdentityConstraint, NameTest, Particle, Path, ProcessContents, Schemas,
    SimpleType, SoapArray, Term, Type, TypeDefinition, TypeId, Variety, WhiteSpace, Wildcard, WildcardNamespaces,
};
use deltasoap_core::schema::Builtin;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::OnceLock;

macro_rules! references {
    ($($type:ident => $count:ident),*) => {$(
        impl Stored for $type {
            fn write(&self, to: &mut Writer) {
                self.0.write(to);
            }

            fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
                from.reference(from.counts.$count).map($type)
            }
        }
    )*};
}

references!(TypeId => types, ElementId => elements, AttributeId => attributes);

impl Stored for GroupId {
    fn write(&self, to: &mut Writer) {
        self.0.write(to);
    }

    fn read(_: &mut Reader<'_>) -> Result<Self, Fault> {
        Err(Fault::Content("a group is not expanded"))
    }
}

impl Stored for Place {
    fn write(&self, to: &mut Writer) {
        self.document.write(to);
        self.offset.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        let document = from.reference(from.counts.documents)?;
        let offset = u32::read(from)?;
        if offset == u32::MAX {
            return Err(Fault::Content("an offset is too large"));
        }
        Ok(Place { document, offset })
    }
}

impl Stored for Builtin {
    fn write(&self, to: &mut Writer) {
        to.number(Builtin::ALL.iter().position(|it| it == self).unwrap_or_default() as u64);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        let number = from.reference(Builtin::ALL.len() as u32)?;
        Ok(Builtin::ALL[number as usize])
    }
}

impl Stored for ComplexType {
    fn write(&self, to: &mut Writer) {
        let ComplexType { base, derivation, is_abstract, block, is_mixed, content: _, attributes: _, array } = self;
        base.write(to);
        derivation.write(to);
        is_abstract.write(to);
        block.write(to);
        is_mixed.write(to);
        array.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        Ok(ComplexType {
            base: TypeId::read(from)?,
            derivation: Derivation::read(from)?,
            is_abstract: bool::read(from)?,
            block: Block::read(from)?,
            is_mixed: bool::read(from)?,
            content: Content::Empty,
            attributes: Attributes::default(),
            array: Option::read(from)?,
        })
    }
}

stored_struct! {
    Type { name, definition, documentation, place }
    SimpleType { variety, facets, packing }
    SoapArray { item, element, dimensions }
    Particle { min, max, term }
    Wildcard { namespaces, process }
    Block { extension, restriction, substitution }
    IdentityConstraint { name, kind, selector, fields }
    Path { is_deep, steps, attribute }
    Element {
        name, type_id, is_global, is_nillable, is_abstract, block, default, fixed, value_name, substitutes_for,
        constraints, documentation, place,
    }
    Attribute { name, type_id, default, fixed, value_name, documentation }
    AttributeUse { attribute, is_required, is_prohibited, default, fixed, value_name }
    Facets {
        length, min_length, max_length, patterns, enumeration, white_space, min_inclusive, max_inclusive, min_exclusive,
        max_exclusive, total_digits, fraction_digits,
    }
    Enumerated { value, name, documentation }
    NormalizedType { content, is_mixed, attributes, any_attribute, array }
}

stored_enum! {
    TypeDefinition { 0 = Simple(it), 1 = Complex(it) }
    Variety { 0 = Any, 1 = Builtin(it), 2 = Restriction(base), 3 = List(item), 4 = Union(members) }
    ProcessContents { 0 = Strict, 1 = Lax, 2 = Skip }
    ConstraintKind { 0 = Unique, 1 = Key, 2 = KeyRef(name) }
    NameTest { 0 = Any, 1 = In(namespace), 2 = Name(name) }
    Derivation { 0 = Extension, 1 = Restriction }
    Term { 0 = Element(id), 1 = Sequence(parts), 2 = Choice(parts), 3 = All(parts), 4 = Group(id), 5 = Any(wildcard) }
    WildcardNamespaces { 0 = Any, 1 = Other(own), 2 = Only(list) }
    WhiteSpace { 0 = Preserve, 1 = Replace, 2 = Collapse }
    NormalizedContent { 0 = Empty, 1 = Elements(particle), 2 = Text(id) }
}

impl Stored for Schemas {
    fn write(&self, to: &mut Writer) {
        self.types.iter().for_each(|it| it.write(to));
        self.elements.iter().for_each(|it| it.write(to));
        self.attributes.iter().for_each(|it| it.write(to));
        self.normal.iter().for_each(|it| it.write(to));
        sorted(self.types_by_name.values().copied()).write(to);
        sorted(self.elements_by_name.values().copied()).write(to);
        sorted(self.attributes_by_name.values().copied()).write(to);
        self.substitutes.write(to);
        self.derived.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        let counts = from.counts;
        let types: Vec<Type> = from.table(counts.types, Type::read)?;
        let elements: Vec<Element> = from.table(counts.elements, Element::read)?;
        let attributes: Vec<Attribute> = from.table(counts.attributes, Attribute::read)?;
        Ok(Schemas {
            groups: Vec::new(),
            attribute_groups: Vec::new(),
            normal: from.table(counts.types, Option::read)?,
            types_by_name: by_name(Vec::read(from)?, |id: TypeId| types[id.index()].name.as_ref())?,
            elements_by_name: by_name(Vec::read(from)?, |id: ElementId| Some(&elements[id.index()].name))?,
            attributes_by_name: by_name(Vec::read(from)?, |id: AttributeId| Some(&attributes[id.index()].name))?,
            substitutes: HashMap::read(from)?,
            derived: HashMap::read(from)?,
            types,
            elements,
            attributes,
            chains: OnceLock::new(),
        })
    }
}

/// The same import gives the same bytes.
fn sorted<T: Ord>(ids: impl Iterator<Item = T>) -> Vec<T> {
    let mut ids: Vec<T> = ids.collect();
    ids.sort_unstable();
    ids
}

fn by_name<'n, T: Copy, N: Hash + Eq + Clone + 'n>(
    ids: Vec<T>,
    name: impl Fn(T) -> Option<&'n N>,
) -> Result<HashMap<N, T>, Fault> {
    let mut by_name = HashMap::with_capacity(ids.len());
    for id in ids {
        let name = name(id).ok_or(Fault::Content("a global component has no name"))?;
        by_name.insert(name.clone(), id);
    }
    Ok(by_name)
}

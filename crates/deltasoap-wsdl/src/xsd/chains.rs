//! What simple types inherit from the types that they restrict. Chains of restrictions can be long,
//! so each is followed only once. Thousands of types can have the values of one, so they share
//! them.

use super::{Schemas, SimpleType, TypeDefinition, TypeId, Variety};
use deltasoap_core::schema::{Builtin, EnumerationValues, Packing};
use std::borrow::Cow;
use std::collections::HashMap;

/// Inherited properties of all types.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    of_types: Vec<Chain>,
    /// The values of each type that enumerates some.
    texts: HashMap<TypeId, EnumerationValues>,
}

#[derive(Debug, Clone, Copy)]
struct Chain {
    /// The type at the end of the chain, which restricts none.
    root: TypeId,
    enumerating: Option<TypeId>,
    has_patterns: bool,
    packing: Option<Packing>,
}

impl Schemas {
    /// Returns the variety of a simple type: one built-in type, a list, or a union. Restrictions do
    /// not change it. Returns `None` for complex types.
    pub fn variety(&self, id: TypeId) -> Option<&Variety> {
        match &self[self.chain(id).root].definition {
            TypeDefinition::Simple(simple) => Some(&simple.variety),
            TypeDefinition::Complex(_) => None,
        }
    }

    /// Returns the type whose enumeration applies to a simple type: itself or the nearest one that
    /// it restricts.
    pub fn enumerating(&self, id: TypeId) -> Option<TypeId> {
        self.chain(id).enumerating
    }

    /// Returns the values that a simple type allows, if it has an enumeration.
    pub(crate) fn enumeration(&self, id: TypeId) -> EnumerationValues {
        let texts = &self.chains().texts;
        self.enumerating(id).and_then(|id| texts.get(&id)).cloned().unwrap_or_default()
    }

    /// Returns true if a simple type, or one that it restricts, has patterns.
    pub(crate) fn has_patterns(&self, id: TypeId) -> bool {
        self.chain(id).has_patterns
    }

    /// Returns the packing of the numbers in the bytes of a simple type: from its annotation, or
    /// from that of the nearest type that it restricts. Only types of `xsd:base64Binary` without an
    /// enumeration have one.
    pub fn packing(&self, id: TypeId) -> Option<Packing> {
        let is_binary = matches!(self.variety(id), Some(Variety::Builtin(Builtin::Base64Binary)));
        self.chain(id).packing.filter(|_| is_binary && self.enumerating(id).is_none())
    }

    fn chain(&self, id: TypeId) -> Chain {
        self.chains().of_types[id.0 as usize]
    }

    fn chains(&self) -> &Chains {
        self.chains.get_or_init(|| Chains::of(self))
    }
}

impl Chains {
    fn of(schemas: &Schemas) -> Self {
        let mut chains: Vec<Option<Chain>> = vec![None; schemas.types.len()];
        let mut texts = HashMap::new();
        for (id, _) in schemas.types() {
            let (mut path, mut at) = (Vec::new(), id);
            let mut chain = loop {
                match (chains[at.0 as usize], base(schemas, at)) {
                    (Some(chain), _) => break chain,
                    (None, Some(base)) => {
                        path.push(at);
                        at = base;
                    }
                    (None, None) => {
                        path.push(at);
                        break Chain { root: at, enumerating: None, has_patterns: false, packing: None };
                    }
                }
            };
            for id in path.into_iter().rev() {
                if let Some(values) = values(schemas, id) {
                    texts.insert(id, values);
                    chain.enumerating = Some(id);
                }
                chain.has_patterns |= has_patterns(schemas, id);
                chain.packing = packing(schemas, id).or(chain.packing);
                chains[id.0 as usize] = Some(chain);
            }
        }
        Chains { of_types: chains.into_iter().flatten().collect(), texts }
    }
}

fn base(schemas: &Schemas, id: TypeId) -> Option<TypeId> {
    match &schemas[id].definition {
        TypeDefinition::Simple(SimpleType { variety: Variety::Restriction(base), .. }) => Some(*base),
        _ => None,
    }
}

/// Returns the values that a type itself enumerates.
fn values(schemas: &Schemas, id: TypeId) -> Option<EnumerationValues> {
    let TypeDefinition::Simple(simple) = &schemas[id].definition else { return None };
    let values = &simple.facets.as_ref()?.enumeration;
    let texts: Vec<_> = values.iter().map(|it| Cow::Owned(String::from(&*it.value))).collect();
    (!texts.is_empty()).then(|| texts.into())
}

fn packing(schemas: &Schemas, id: TypeId) -> Option<Packing> {
    let TypeDefinition::Simple(simple) = &schemas[id].definition else { return None };
    simple.packing
}

fn has_patterns(schemas: &Schemas, id: TypeId) -> bool {
    let TypeDefinition::Simple(simple) = &schemas[id].definition else { return false };
    simple.facets.as_ref().is_some_and(|facets| !facets.patterns.is_empty())
}

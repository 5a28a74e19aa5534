//! What a simple type has of those that it restricts. Chains of restrictions can be long, so each
//! is followed once; and thousands of types can have the values of one, so they share them.

use super::{Schemas, SimpleType, TypeDefinition, TypeId, Variety};
use deltasoap_core::schema::{Builtin, Packing, Texts};
use std::borrow::Cow;
use std::collections::HashMap;

/// The facts about all types.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    of_types: Vec<Chain>,
    /// The values of each type that names some.
    texts: HashMap<TypeId, Texts>,
}

#[derive(Debug, Clone, Copy)]
struct Chain {
    /// The type at the end, which restricts none.
    root: TypeId,
    enumerating: Option<TypeId>,
    has_patterns: bool,
    packing: Option<Packing>,
}

impl Schemas {
    /// What a simple type's values are: of one built-in type, lists, or of several types.
    /// Restrictions do not change it. `None` for complex types.
    pub fn variety(&self, id: TypeId) -> Option<&Variety> {
        match &self[self.chain(id).root].definition {
            TypeDefinition::Simple(simple) => Some(&simple.variety),
            TypeDefinition::Complex(_) => None,
        }
    }

    /// The type whose values a simple type may have: itself or the nearest that it restricts, where
    /// one names values.
    pub fn enumerating(&self, id: TypeId) -> Option<TypeId> {
        self.chain(id).enumerating
    }

    /// The values that a simple type may have, if its description names them.
    pub(crate) fn enumeration(&self, id: TypeId) -> Texts {
        let texts = &self.chains().texts;
        self.enumerating(id).and_then(|id| texts.get(&id)).cloned().unwrap_or_default()
    }

    /// True if a simple type has patterns, or restricts one that has.
    pub(crate) fn has_patterns(&self, id: TypeId) -> bool {
        self.chain(id).has_patterns
    }

    /// How the numbers are packed that the bytes of a simple type stand for: as its annotation
    /// says, or that of the nearest type that it restricts. Only of types of `xsd:base64Binary`
    /// that name no values.
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
            let (mut way, mut at) = (Vec::new(), id);
            let mut chain = loop {
                match (chains[at.0 as usize], base(schemas, at)) {
                    (Some(chain), _) => break chain,
                    (None, Some(base)) => {
                        way.push(at);
                        at = base;
                    }
                    (None, None) => {
                        way.push(at);
                        break Chain { root: at, enumerating: None, has_patterns: false, packing: None };
                    }
                }
            };
            for id in way.into_iter().rev() {
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

/// The values that a type itself names.
fn values(schemas: &Schemas, id: TypeId) -> Option<Texts> {
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

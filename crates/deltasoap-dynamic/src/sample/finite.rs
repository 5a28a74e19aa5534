//! Types with finite values: `R` with a required element of type `R` has none, unless the element
//! can be nil or of another type.

use super::MAX_DEPTH;
use crate::contract::Types;
use deltasoap_wsdl::NormalizedContent;
use deltasoap_wsdl::xsd::{Block, ElementId, Particle, Term, TypeDefinition, TypeId};
use std::collections::HashSet;

/// Maximum number of derived types examined for one that may replace an element's type.
const MAX_DERIVED: usize = 1000;

/// The types and elements that have a value of finite size. Simple types always have one.
#[derive(Debug, Default)]
pub(crate) struct Finite {
    /// Complex types that are not abstract.
    types: HashSet<TypeId>,
    /// Declared elements with finite values: the element, or one that may replace it, has a type,
    /// or one that may replace it, with finite values.
    elements: HashSet<ElementId>,
}

impl Finite {
    /// Computes the least sets whose members need only other members.
    pub(crate) fn of(types: &Types) -> Self {
        let (mut finite, schemas) = (Finite::default(), types.import.schemas());
        let all = schemas.types().map(|(id, _)| id);
        let mut rest: Vec<TypeId> = all.filter(|&id| is_concrete(types, id)).collect();
        let mut elements: Vec<ElementId> = schemas.elements().map(|(id, _)| id).collect();
        // Each pass finds the values that are one level deeper. Samples deeper than this are cut
        // anyway.
        for _ in 0..MAX_DEPTH {
            let before = (rest.len(), elements.len());
            let found: HashSet<ElementId> = elements.iter().copied().filter(|&id| finite.finds(types, id)).collect();
            elements.retain(|id| !found.contains(id));
            finite.elements.extend(found);
            let found: HashSet<TypeId> = rest.iter().copied().filter(|&id| finite.has_content(types, id)).collect();
            rest.retain(|id| !found.contains(id));
            finite.types.extend(found);
            if (rest.len(), elements.len()) == before {
                break;
            }
        }
        finite
    }

    /// Returns true if elements of exactly this type can be finite.
    pub(crate) fn has(&self, types: &Types, id: TypeId) -> bool {
        let is_simple = matches!(types.import.schemas()[id].definition, TypeDefinition::Simple(_));
        is_simple || id == TypeId::ANY || self.types.contains(&id)
    }

    /// Returns true if the term can occur in a finite message.
    pub(crate) fn allows(&self, term: &Term) -> bool {
        let can_be = |part: &Particle| part.min == 0 || self.allows(&part.term);
        match term {
            Term::Element(id) => self.elements.contains(id),
            Term::Sequence(parts) | Term::All(parts) => parts.iter().all(can_be),
            Term::Choice(parts) => parts.iter().any(|part| part.max != Some(0) && can_be(part)),
            Term::Any(_) | Term::Group(_) => true,
        }
    }

    fn finds(&self, types: &Types, id: ElementId) -> bool {
        types.members(id).any(|id| self.allows_element(types, id))
    }

    /// Returns true if exactly this element, not one that may replace it, can be finite.
    pub(crate) fn allows_element(&self, types: &Types, id: ElementId) -> bool {
        let element = &types.import.schemas()[id];
        let can_be_nil = element.is_nillable && element.fixed.is_none();
        // A nil element may not be of an abstract type either (XSD 1.0 part 1, 3.4.4).
        let is_good = |id| if can_be_nil { is_concrete(types, id) } else { self.has(types, id) };
        is_good(element.type_id) || has_derived(types, element.type_id, element.block, is_good)
    }

    fn has_content(&self, types: &Types, id: TypeId) -> bool {
        let Some(normal) = types.import.schemas().content(id) else { return true };
        match &normal.content {
            // An array can be empty.
            NormalizedContent::Elements(particle) if normal.array.is_none() => {
                particle.min == 0 || self.allows(&particle.term)
            }
            _ => true,
        }
    }
}

fn is_concrete(types: &Types, id: TypeId) -> bool {
    match &types.import.schemas()[id].definition {
        TypeDefinition::Complex(complex) => !complex.is_abstract,
        TypeDefinition::Simple(_) => true,
    }
}

/// Returns true if a type derived from this one, directly or indirectly, may replace it and is
/// good.
fn has_derived(types: &Types, declared: TypeId, block: Block, is_good: impl Fn(TypeId) -> bool) -> bool {
    let schemas = types.import.schemas();
    let (mut ahead, mut seen) = (schemas.derived(declared).to_vec(), HashSet::new());
    while let Some(id) = ahead.pop().filter(|_| seen.len() < MAX_DERIVED) {
        if is_good(id) && types.can_stand_for(id, declared, block) {
            return true;
        }
        if seen.insert(id) {
            ahead.extend(schemas.derived(id));
        }
    }
    false
}

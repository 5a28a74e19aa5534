//! Content models with their groups expanded.
//!
//! A repeated group ends at a tag that none of its next fields accepts. Some groups remain lists of
//! single elements, in any order and number, with a note ([`Repetitions`] decides): those with a
//! wildcard or with a name that also occurs elsewhere in the type, those in SOAP encoding, those
//! nested more than four deep, and those where counts make the end depend on later elements, such
//! as `(x{2,3}, y?)*`. Such a list also takes an element that appears again after it, so the later
//! one becomes optional (`ambiguity`).

use super::ambiguity::{Ambiguity, begins_with_list};
use super::{NormalizedContent, NormalizedType, Normalizer, parts};
use crate::xsd::{ElementId, Group, GroupId, Particle, Schemas, Term, Type, TypeDefinition, TypeId};
use crate::{Error, Place};
use deltasoap_core::QName;
use std::cell::OnceCell;
use std::collections::HashSet;

impl Normalizer<'_> {
    /// Expands every group in a particle.
    pub(super) fn expanded(&mut self, particle: &Particle, depth: usize, id: TypeId) -> Result<Particle, Error> {
        self.check_depth(depth, id)?;
        self.spend(1, id)?;
        let Particle { min, max, .. } = *particle;
        let term = match &particle.term {
            Term::Group(group) => {
                let inner = self.expanded_group(*group, depth, id)?;
                return Ok(if (min, max) == (1, Some(1)) { inner } else { around(min, max, inner) });
            }
            Term::Sequence(parts) => Term::Sequence(self.expanded_parts(parts, depth, id)?),
            Term::Choice(parts) => Term::Choice(self.expanded_parts(parts, depth, id)?),
            Term::All(parts) => Term::All(self.expanded_parts(parts, depth, id)?),
            term @ (Term::Element(_) | Term::Any(_)) => term.clone(),
        };
        Ok(Particle { min, max, term })
    }

    fn expanded_group(&mut self, group: GroupId, depth: usize, id: TypeId) -> Result<Particle, Error> {
        if self.open.groups.contains(&group) {
            let Group { name, place, .. } = &self.schemas[group];
            return Err(self.sources.invalid(format!("group {name} contains itself"), *place));
        }
        self.open.groups.push(group);
        let particle = self.schemas[group].particle.clone();
        let inner = self.expanded(&particle, depth + 1, id);
        self.open.groups.pop();
        inner
    }

    fn expanded_parts(&mut self, parts: &[Particle], depth: usize, id: TypeId) -> Result<Vec<Particle>, Error> {
        parts.iter().map(|part| self.expanded(part, depth + 1, id)).collect()
    }
}

/// Wraps a group that does not occur exactly once.
fn around(min: u32, max: Option<u32>, inner: Particle) -> Particle {
    match inner {
        Particle { min: 1, max: Some(1), term } => Particle { min, max, term },
        inner => Particle { min, max, term: Term::Sequence(vec![inner]) },
    }
}

/// Concatenates two content models. Sequences are not nested: chains of derived types can be long.
pub(super) fn in_sequence(first: &Particle, then: Particle) -> Particle {
    let mut parts = match first {
        Particle { min: 1, max: Some(1), term: Term::Sequence(parts) } => parts.clone(),
        other => vec![other.clone()],
    };
    match then {
        Particle { min: 1, max: Some(1), term: Term::Sequence(more) } => parts.extend(more),
        other => parts.push(other),
    }
    Particle { min: 1, max: Some(1), term: Term::Sequence(parts) }
}

/// Returns the number of particles in a particle, including itself.
pub(super) fn count(particle: &Particle) -> usize {
    1 + parts(&particle.term).iter().map(count).sum::<usize>()
}

/// Maximum number of notes about types without valid content.
const MAX_NOTES: usize = 100;

/// Returns notes about types that no content satisfies, except types derived from such types.
pub(super) fn impossible(schemas: &Schemas) -> Vec<(String, Place)> {
    // The items of an array are read by type.
    let is_impossible = |id| match schemas.content(id) {
        Some(NormalizedType { content: NormalizedContent::Elements(model), array: None, .. }) => !model.can_occur(),
        _ => false,
    };
    let impossible: HashSet<TypeId> = schemas.types().map(|(id, _)| id).filter(|id| is_impossible(*id)).collect();
    let types = schemas.types().filter(|(id, _)| impossible.contains(id));
    let first = types.filter(|(_, it)| match &it.definition {
        TypeDefinition::Complex(complex) => !impossible.contains(&complex.base),
        TypeDefinition::Simple(_) => false,
    });
    let note = |it: &Type| {
        let owner = it.name.as_ref().map_or("a type without a name".to_owned(), |name| format!("type {name}"));
        let text = "requires a choice without alternatives: no content satisfies it; it is read without that choice";
        Some((format!("{owner} {text}"), it.place?))
    };
    first.filter_map(|(_, it)| note(it)).take(MAX_NOTES).collect()
}

impl Particle {
    /// Returns true if each part is one element or a choice of single elements, so that a choice
    /// between the parts is one element. With `may_repeat`, parts may also be repeated.
    pub fn are_elements(parts: &[Particle], may_repeat: bool) -> bool {
        parts.iter().all(|part| match &part.term {
            _ if part.max != Some(1) && !may_repeat => false,
            Term::Element(_) | Term::Any(_) => true,
            Term::Choice(parts) => Self::are_elements(parts, may_repeat),
            Term::Sequence(_) | Term::All(_) | Term::Group(_) => false,
        })
    }

    /// Returns the maximum number of elements of a choice whose occurrences are single elements;
    /// `None` if the number is not limited.
    pub fn max_elements(&self) -> Option<u32> {
        match &self.term {
            Term::Choice(parts) if Self::are_elements(parts, false) => self.max,
            _ => None,
        }
    }

    /// Returns the branches of a choice. The branches of a nested choice that occurs once are
    /// included.
    pub fn branches(parts: &[Particle]) -> Vec<&Particle> {
        let (mut branches, mut ahead) = (Vec::new(), parts.iter().rev().collect::<Vec<_>>());
        while let Some(part) = ahead.pop() {
            match &part.term {
                Term::Choice(parts) if part.max == Some(1) => ahead.extend(parts.iter().rev()),
                _ if part.max == Some(0) => {}
                _ => branches.push(part),
            }
        }
        branches
    }

    /// Returns the parts of a branch of a choice, which are all present if the branch is chosen. An
    /// optional sequence is chosen as a whole or not at all.
    pub fn parts_of_branch(&self) -> &[Particle] {
        match &self.term {
            Term::Sequence(parts) if self.max == Some(1) => match &parts[..] {
                [only] => only.parts_of_branch(),
                _ if self.min == 0 => parts,
                _ => std::slice::from_ref(self),
            },
            _ => std::slice::from_ref(self),
        }
    }

    /// Returns true if the first element of a message determines the branch of a choice, as XML
    /// Schema requires (XSD 1.0 part 1, 3.8.6). Some schemas violate this.
    pub fn are_distinguishable(parts: &[Particle], schemas: &Schemas) -> bool {
        let mut seen = HashSet::new();
        Self::branches(parts).into_iter().all(|branch| {
            let mut first = HashSet::new();
            branch.firsts(schemas, &mut first);
            first.into_iter().all(|name| seen.insert(name))
        })
    }

    /// Collects the names that this part of a message can begin with, except those that only
    /// wildcards accept.
    fn firsts<'s>(&self, schemas: &'s Schemas, into: &mut HashSet<&'s QName>) {
        match &self.term {
            _ if self.max == Some(0) => {}
            Term::Element(id) => {
                into.extend([id].into_iter().chain(schemas.substitutes(*id)).map(|&id| &schemas[id].name));
            }
            Term::Any(_) | Term::Group(_) => {}
            Term::Choice(parts) | Term::All(parts) => parts.iter().for_each(|part| part.firsts(schemas, into)),
            Term::Sequence(parts) => {
                let last = parts.iter().position(|part| !part.can_be_empty()).unwrap_or(parts.len());
                parts.iter().take(last + 1).for_each(|part| part.firsts(schemas, into));
            }
        }
    }

    /// Returns true if a message may contain nothing for this particle.
    pub fn can_be_empty(&self) -> bool {
        self.min == 0
            || match &self.term {
                Term::Element(_) | Term::Any(_) | Term::Group(_) => false,
                Term::Sequence(parts) | Term::All(parts) => parts.iter().all(Self::can_be_empty),
                // Nothing satisfies a choice without alternatives, not even empty content (XSD 1.0
                // part 1, 3.8.4).
                Term::Choice(parts) => parts.iter().any(|part| part.max != Some(0) && part.can_be_empty()),
            }
    }

    /// Returns false if no content satisfies this particle because it requires a choice without
    /// alternatives.
    pub fn can_occur(&self) -> bool {
        self.min == 0
            || match &self.term {
                Term::Element(_) | Term::Any(_) | Term::Group(_) => true,
                Term::Sequence(parts) | Term::All(parts) => parts.iter().all(Self::can_occur),
                Term::Choice(parts) => parts.iter().any(|part| part.max != Some(0) && part.can_occur()),
            }
    }
}

/// Maximum nesting of repeated groups. Each is a level of calls in the reader.
const MAX_GROUP_DEPTH: usize = 4;

/// The repeated parts of a content model: which are groups of elements, and which are only lists of
/// elements. Also the parts whose elements occur again elsewhere, and how these affect each other.
#[derive(Debug)]
pub struct Repetitions<'m> {
    schemas: &'m Schemas,
    pub(super) model: &'m Particle,
    /// Names that occur several times in the model.
    duplicate_names: OnceCell<HashSet<&'m QName>>,
    /// The effect of these names on the reader.
    ambiguity: OnceCell<Ambiguity>,
}

impl<'m> Repetitions<'m> {
    /// Creates the analysis of a content model.
    pub fn new(schemas: &'m Schemas, model: &'m Particle) -> Self {
        Repetitions { schemas, model, duplicate_names: OnceCell::new(), ambiguity: OnceCell::new() }
    }

    /// Returns true if an occurrence has elements that belong together, and a message shows where
    /// each occurrence ends.
    pub fn is_group(&self, particle: &Particle) -> bool {
        may_group(particle) && self.is_unambiguous(particle, MAX_GROUP_DEPTH) && ends_at_once(particle)
    }

    /// Returns true if an occurrence has elements that belong together, but messages do not show
    /// where it ends, or only after looking far ahead.
    pub fn is_flattened(&self, particle: &Particle) -> bool {
        may_group(particle) && !self.is_group(particle)
    }

    /// Returns true for an optional sequence with an element that occurs again after the sequence.
    /// The elements of the sequence must be kept together: an element that comes without the
    /// elements required before it is the later one.
    pub fn is_tied(&self, particle: &Particle) -> bool {
        self.ambiguity().is_tied(particle)
    }

    /// Returns true for a part of the model that an earlier [flattened](Self::is_flattened) list
    /// may have taken, since it has the same name. Also returns true for what follows such a list
    /// in an optional sequence if the list may have taken elements after the sequence. Such a part
    /// is optional.
    pub fn may_be_taken(&self, particle: &Particle) -> bool {
        self.ambiguity().may_be_taken(particle)
    }

    /// Like [`Particle::can_be_empty`], except that parts which [a list before it may have
    /// taken](Self::may_be_taken) are optional.
    pub fn can_be_empty(&self, particle: &Particle) -> bool {
        self.ambiguity().can_be_empty(particle)
    }

    /// Returns the [branches](Particle::branches) of a choice in the order in which they are tried.
    /// Branches that begin with a list of single elements come last: the list may contain the first
    /// element of another branch and would take it.
    pub fn branches<'p>(&self, parts: &'p [Particle]) -> Vec<&'p Particle> {
        let mut branches = Particle::branches(parts);
        branches.sort_by_key(|branch| begins_with_list(branch, self));
        branches
    }

    fn ambiguity(&self) -> &Ambiguity {
        self.ambiguity.get_or_init(|| Ambiguity::of(self))
    }

    /// Returns true if the name of each element determines its position in the model.
    fn is_unambiguous(&self, particle: &Particle, within: usize) -> bool {
        let is_repeated = particle.max != Some(1) && has_sequence(&particle.term);
        match &particle.term {
            Term::Element(id) => self.names(*id).all(|name| !self.duplicate_names().contains(name)),
            Term::Sequence(parts) | Term::Choice(parts) => {
                let inner = if is_repeated { within.checked_sub(1) } else { Some(within) };
                inner.is_some_and(|inner| parts.iter().all(|part| self.is_unambiguous(part, inner)))
            }
            // A wildcard also accepts what comes next.
            Term::Any(_) | Term::All(_) | Term::Group(_) => false,
        }
    }

    pub(super) fn names(&self, id: ElementId) -> impl Iterator<Item = &'m QName> {
        let schemas = self.schemas;
        std::iter::once(id).chain(schemas.substitutes(id).iter().copied()).map(|id| &schemas[id].name)
    }

    fn duplicate_names(&self) -> &HashSet<&'m QName> {
        self.duplicate_names.get_or_init(|| {
            let (mut seen, mut duplicates, mut ahead) = (HashSet::new(), HashSet::new(), vec![self.model]);
            while let Some(particle) = ahead.pop() {
                ahead.extend(parts(&particle.term));
                if let Term::Element(id) = particle.term {
                    // A head may be one of its own substitutes.
                    let own: HashSet<_> = self.names(id).collect();
                    duplicates.extend(own.into_iter().filter(|name| !seen.insert(*name)));
                }
            }
            duplicates
        })
    }
}

fn may_group(particle: &Particle) -> bool {
    !matches!(particle.max, Some(0 | 1)) && has_sequence(&particle.term)
}

/// Returns true if there are elements that belong together: a sequence of several parts, at least
/// one of them required.
fn has_sequence(term: &Term) -> bool {
    let is_sequence = matches!(term, Term::Sequence(parts) | Term::All(parts)
        if parts.len() > 1 && parts.iter().any(|part| !part.can_be_empty()));
    is_sequence || parts(term).iter().any(|part| part.max != Some(0) && has_sequence(&part.term))
}

/// Returns true if a reader that takes as much as fits into each occurrence of a repeated particle
/// never finds too little for the next one, nor too few occurrences. This is false for
/// `(x{2,3}, y?)*`: of four `x` the reader takes three.
fn ends_at_once(particle: &Particle) -> bool {
    let is_repeated = particle.max != Some(1);
    let is_bad = |inner: &&Particle| inner.min > 1 || particle.min > 1;
    let is_ambiguous = is_repeated && whole(&particle.term).iter().any(is_bad);
    !is_ambiguous && parts(&particle.term).iter().all(ends_at_once)
}

/// Returns the repeated particles that can make up a whole occurrence of a term.
fn whole(term: &Term) -> Vec<&Particle> {
    let (mut found, mut ahead) = (Vec::new(), vec![term]);
    while let Some(term) = ahead.pop() {
        let required = parts(term).iter().filter(|part| !part.can_be_empty()).count();
        for part in parts(term) {
            let is_alone = match term {
                Term::Choice(_) => true,
                _ => required == usize::from(!part.can_be_empty()),
            };
            if is_alone {
                found.extend((part.max != Some(1)).then_some(part));
                ahead.push(&part.term);
            }
        }
    }
    found
}

//! Content models with their groups replaced.

use super::{Normalizer, parts};
use crate::Error;
use crate::xsd::{Particle, Schemas, Term, TypeId};
use deltasoap_core::QName;
use std::collections::HashSet;

impl Normalizer<'_> {
    /// A particle with every group replaced by what it stands for.
    pub(super) fn expanded(&mut self, particle: &Particle, depth: usize, id: TypeId) -> Result<Particle, Error> {
        self.check_depth(depth, id)?;
        self.spend(1, id)?;
        let Particle { min, max, .. } = *particle;
        let term = match &particle.term {
            Term::Group(group) => {
                let group = self.schemas[*group].particle.clone();
                let inner = self.expanded(&group, depth + 1, id)?;
                return Ok(if (min, max) == (1, Some(1)) { inner } else { around(min, max, inner) });
            }
            Term::Sequence(parts) => Term::Sequence(self.expanded_parts(parts, depth, id)?),
            Term::Choice(parts) => Term::Choice(self.expanded_parts(parts, depth, id)?),
            Term::All(parts) => Term::All(self.expanded_parts(parts, depth, id)?),
            term @ (Term::Element(_) | Term::Any(_)) => term.clone(),
        };
        Ok(Particle { min, max, term })
    }

    fn expanded_parts(&mut self, parts: &[Particle], depth: usize, id: TypeId) -> Result<Vec<Particle>, Error> {
        parts.iter().map(|part| self.expanded(part, depth + 1, id)).collect()
    }
}

/// A group that occurs otherwise than once.
fn around(min: u32, max: Option<u32>, inner: Particle) -> Particle {
    match inner {
        Particle { min: 1, max: Some(1), term } => Particle { min, max, term },
        inner => Particle { min, max, term: Term::Sequence(vec![inner]) },
    }
}

/// One content model, then another. Sequences are not nested: chains of derived types can be long.
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

/// Particles within a particle, itself included.
pub(super) fn count(particle: &Particle) -> usize {
    1 + parts(&particle.term).iter().map(count).sum::<usize>()
}

impl Particle {
    /// True if each of these is one element, or a choice of such: then a choice between them is one element. `may_repeat` if they may
    /// also be several.
    pub fn are_elements(parts: &[Particle], may_repeat: bool) -> bool {
        parts.iter().all(|part| match &part.term {
            _ if part.max != Some(1) && !may_repeat => false,
            Term::Element(_) | Term::Any(_) => true,
            Term::Choice(parts) => Self::are_elements(parts, may_repeat),
            Term::Sequence(_) | Term::All(_) | Term::Group(_) => false,
        })
    }

    /// The branches of a choice. Those of a choice that is a branch itself, once, are branches too.
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

    /// True if the first element of a message tells which branch of a choice is meant, as XML Schema demands (XSD 1.0 part 1, 3.8.6).
    /// Some descriptions do not keep to it.
    pub fn are_told_apart(parts: &[Particle], schemas: &Schemas) -> bool {
        let mut seen = HashSet::new();
        Self::branches(parts).into_iter().all(|branch| {
            let mut first = HashSet::new();
            branch.firsts(schemas, &mut first);
            first.into_iter().all(|name| seen.insert(name))
        })
    }

    /// The names that a message's part can begin with. Those that only wildcards take are none of them.
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

    /// True if a message need not have anything of this.
    pub fn can_be_empty(&self) -> bool {
        self.min == 0
            || match &self.term {
                Term::Element(_) | Term::Any(_) | Term::Group(_) => false,
                Term::Sequence(parts) | Term::All(parts) => parts.iter().all(Self::can_be_empty),
                Term::Choice(parts) => parts.is_empty() || parts.iter().any(Self::can_be_empty),
            }
    }
}

//! Content models with their groups replaced.

use super::{Normalizer, parts};
use crate::Error;
use crate::xsd::{Particle, Term, TypeId};

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

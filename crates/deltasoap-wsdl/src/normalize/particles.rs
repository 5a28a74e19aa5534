//! Content models with their groups replaced.

use super::again::{Again, begins_with_list};
use super::{Normal, NormalContent, Normalizer, parts};
use crate::xsd::{ElementId, Group, GroupId, Particle, Schemas, Term, Type, TypeDefinition, TypeId};
use crate::{Error, Place};
use deltasoap_core::QName;
use std::cell::OnceCell;
use std::collections::HashSet;

impl Normalizer<'_> {
    /// A particle with every group replaced by what it stands for.
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

/// Most notes about types without valid content.
const MOST: usize = 100;

/// What is said of types that no content satisfies; of those that such are the bases of, nothing
/// more is said.
pub(super) fn impossible(schemas: &Schemas) -> Vec<(String, Place)> {
    // Items of arrays are known by the type alone.
    let is_impossible = |id| match schemas.content(id) {
        Some(Normal { content: NormalContent::Elements(model), array: None, .. }) => !model.can_occur(),
        _ => false,
    };
    let impossible: HashSet<TypeId> = schemas.types().map(|(id, _)| id).filter(|id| is_impossible(*id)).collect();
    let types = schemas.types().filter(|(id, _)| impossible.contains(id));
    let first = types.filter(|(_, it)| match &it.definition {
        TypeDefinition::Complex(complex) => !impossible.contains(&complex.base),
        TypeDefinition::Simple(_) => false,
    });
    let note = |it: &Type| {
        let whose = it.name.as_ref().map_or("a type without a name".to_owned(), |name| format!("type {name}"));
        let text = "requires a choice without alternatives: no content satisfies it; it is read as if it did not";
        Some((format!("{whose} {text}"), it.place?))
    };
    first.filter_map(|(_, it)| note(it)).take(MOST).collect()
}

impl Particle {
    /// True if each of these is one element, or a choice of such: then a choice between them is one
    /// element. `may_repeat` if they may also be several.
    pub fn are_elements(parts: &[Particle], may_repeat: bool) -> bool {
        parts.iter().all(|part| match &part.term {
            _ if part.max != Some(1) && !may_repeat => false,
            Term::Element(_) | Term::Any(_) => true,
            Term::Choice(parts) => Self::are_elements(parts, may_repeat),
            Term::Sequence(_) | Term::All(_) | Term::Group(_) => false,
        })
    }

    /// How many elements a choice has at most where each of its occurrences is one element; `None`
    /// where it may have any number.
    pub fn most_elements(&self) -> Option<u32> {
        match &self.term {
            Term::Choice(parts) if Self::are_elements(parts, false) => self.max,
            _ => None,
        }
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

    /// The parts of a branch of a choice, which are all there if the branch is chosen. An optional
    /// sequence is chosen whole or not at all.
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

    /// True if the first element of a message tells which branch of a choice is meant, as XML
    /// Schema demands (XSD 1.0 part 1, 3.8.6). Some descriptions do not keep to it.
    pub fn are_told_apart(parts: &[Particle], schemas: &Schemas) -> bool {
        let mut seen = HashSet::new();
        Self::branches(parts).into_iter().all(|branch| {
            let mut first = HashSet::new();
            branch.firsts(schemas, &mut first);
            first.into_iter().all(|name| seen.insert(name))
        })
    }

    /// The names that a message's part can begin with. Those that only wildcards take are none of
    /// them.
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
                // A choice without alternatives is met by nothing, not even by no content (XSD 1.0
                // part 1, 3.8.4).
                Term::Choice(parts) => parts.iter().any(|part| part.max != Some(0) && part.can_be_empty()),
            }
    }

    /// False if no content can meet this, since it requires a choice that has no alternatives.
    pub fn can_occur(&self) -> bool {
        self.min == 0
            || match &self.term {
                Term::Element(_) | Term::Any(_) | Term::Group(_) => true,
                Term::Sequence(parts) | Term::All(parts) => parts.iter().all(Self::can_occur),
                Term::Choice(parts) => parts.iter().any(|part| part.max != Some(0) && part.can_occur()),
            }
    }
}

/// Most groups that are repeated within each other. Each is a level of calls for those who read.
const MOST_WITHIN: usize = 4;

/// The parts of a content model that may be repeated: which of them are groups of elements, and
/// which only lists of elements. And the parts whose elements stand again elsewhere: what they have
/// to do with each other.
#[derive(Debug)]
pub struct Repeated<'m> {
    schemas: &'m Schemas,
    pub(super) model: &'m Particle,
    /// Names that the model has in several places.
    again: OnceCell<HashSet<&'m QName>>,
    /// What that means for those who read.
    places: OnceCell<Again>,
}

impl<'m> Repeated<'m> {
    /// Those of a content model.
    pub fn new(schemas: &'m Schemas, model: &'m Particle) -> Self {
        Repeated { schemas, model, again: OnceCell::new(), places: OnceCell::new() }
    }

    /// True if an occurrence has elements that belong together, and a message tells where each
    /// occurrence ends.
    pub fn is_group(&self, particle: &Particle) -> bool {
        may_group(particle) && self.is_told(particle, MOST_WITHIN) && ends_at_once(particle)
    }

    /// True if an occurrence has elements that belong together, and messages do not tell where it
    /// ends, or only to those who look far ahead.
    pub fn is_blurred(&self, particle: &Particle) -> bool {
        may_group(particle) && !self.is_group(particle)
    }

    /// True for an optional sequence of the model that has an element which stands again behind it.
    /// Its elements are to be kept together: one that comes without what it needs before it is the
    /// one behind.
    pub fn is_tied(&self, particle: &Particle) -> bool {
        self.places().is_tied(particle)
    }

    /// True for a part of the model that a [blurred](Self::is_blurred) list before it may have
    /// taken, since it has the same name, and for what stands behind such a list in an optional
    /// sequence, if the list may have taken what is behind the sequence. It need not be there then.
    pub fn may_be_taken(&self, particle: &Particle) -> bool {
        self.places().may_be_taken(particle)
    }

    /// As [`Particle::can_be_empty`], where what [a list before it may have
    /// taken](Self::may_be_taken) need not be there.
    pub fn can_be_empty(&self, particle: &Particle) -> bool {
        self.places().can_be_empty(particle)
    }

    /// The [branches](Particle::branches) of a choice in the order in which they are tried. What
    /// one begins with may be in a list of single elements that another begins with, and would be
    /// taken for that.
    pub fn branches<'p>(&self, parts: &'p [Particle]) -> Vec<&'p Particle> {
        let mut branches = Particle::branches(parts);
        branches.sort_by_key(|branch| begins_with_list(branch, self));
        branches
    }

    fn places(&self) -> &Again {
        self.places.get_or_init(|| Again::of(self))
    }

    /// True if each element's name tells where in the model it stands.
    fn is_told(&self, particle: &Particle, within: usize) -> bool {
        let is_repeated = particle.max != Some(1) && has_sequence(&particle.term);
        match &particle.term {
            Term::Element(id) => self.names(*id).all(|name| !self.again().contains(name)),
            Term::Sequence(parts) | Term::Choice(parts) => {
                let inner = if is_repeated { within.checked_sub(1) } else { Some(within) };
                inner.is_some_and(|inner| parts.iter().all(|part| self.is_told(part, inner)))
            }
            // A wildcard takes what comes next, too.
            Term::Any(_) | Term::All(_) | Term::Group(_) => false,
        }
    }

    pub(super) fn names(&self, id: ElementId) -> impl Iterator<Item = &'m QName> {
        let schemas = self.schemas;
        std::iter::once(id).chain(schemas.substitutes(id).iter().copied()).map(|id| &schemas[id].name)
    }

    fn again(&self) -> &HashSet<&'m QName> {
        self.again.get_or_init(|| {
            let (mut seen, mut again, mut ahead) = (HashSet::new(), HashSet::new(), vec![self.model]);
            while let Some(particle) = ahead.pop() {
                ahead.extend(parts(&particle.term));
                if let Term::Element(id) = particle.term {
                    // Heads may be among their own substitutes.
                    let own: HashSet<_> = self.names(id).collect();
                    again.extend(own.into_iter().filter(|name| !seen.insert(*name)));
                }
            }
            again
        })
    }
}

fn may_group(particle: &Particle) -> bool {
    !matches!(particle.max, Some(0 | 1)) && has_sequence(&particle.term)
}

/// True if there are elements that belong together: a sequence of several parts, one of which must
/// be there.
fn has_sequence(term: &Term) -> bool {
    let is_sequence = matches!(term, Term::Sequence(parts) | Term::All(parts)
        if parts.len() > 1 && parts.iter().any(|part| !part.can_be_empty()));
    is_sequence || parts(term).iter().any(|part| part.max != Some(0) && has_sequence(&part.term))
}

/// True if who reads a repeated particle, and takes into each occurrence all that fits, never finds
/// too little in the next one, nor too few of them. Not so for `(x{2,3}, y?)*`: of four `x` he
/// takes three.
fn ends_at_once(particle: &Particle) -> bool {
    let is_repeated = particle.max != Some(1);
    let is_bad = |inner: &&Particle| inner.min > 1 || particle.min > 1;
    let is_ambiguous = is_repeated && whole(&particle.term).iter().any(is_bad);
    !is_ambiguous && parts(&particle.term).iter().all(ends_at_once)
}

/// The repeated particles of which an occurrence of a term may consist alone.
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

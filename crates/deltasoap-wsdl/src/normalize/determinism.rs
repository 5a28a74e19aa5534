//! Unique Particle Attribution (XSD 1.0 part 1, 3.8.6): the next element of a message must
//! determine which particle it belongs to.
//!
//! The reader relies on this and never backtracks. A content model that violates it is noted.

use super::NormalizedContent;
use crate::Place;
use crate::xsd::{Particle, Schemas, Term, TypeId, WildcardNamespaces};
use deltasoap_core::QName;
use std::collections::{BTreeMap, HashSet};

/// Maximum number of notes per import.
const MAX_NOTES: usize = 100;
/// Maximum number of steps. A few lines can require any number.
const MAX_STEPS: usize = 5_000_000;

/// Returns notes about content models that are not deterministic. A conflict in a base type and in
/// the types derived from it is noted once.
pub(super) fn notes(schemas: &Schemas) -> Vec<(String, Place)> {
    let (mut notes, mut seen, mut work) = (Vec::new(), HashSet::new(), MAX_STEPS);
    for (id, it) in schemas.types() {
        let (Some(place), Some(normal)) = (it.place, schemas.content(id)) else { continue };
        // The items of an array are read by type.
        let NormalizedContent::Elements(model) = &normal.content else { continue };
        if normal.array.is_some() || notes.len() >= MAX_NOTES {
            continue;
        }
        let mut check = Check { schemas, work, found: None };
        check.shape(model);
        work = check.work;
        let Some((one, other)) = check.found else { continue };
        if seen.insert(format!("{:?} {:?}", one.term, other.term)) {
            notes.push((text(schemas, id, one, other), place));
        }
    }
    notes
}

fn text(schemas: &Schemas, id: TypeId, one: &Particle, other: &Particle) -> String {
    let owner = schemas[id].name.as_ref().map_or("a type without a name".to_owned(), |name| format!("type {name}"));
    let shown = |particle: &Particle| match &particle.term {
        Term::Element(id) => format!("the element {}", schemas[*id].name),
        _ => "a wildcard".to_owned(),
    };
    let (one, other) = (shown(one), shown(other));
    let what = if one == other { format!("two particles, each {one},") } else { format!("{one} and {other}") };
    format!(
        "the content model of {owner} is not deterministic (XSD 1.0 part 1, 3.8.6): {what} can take the same next element, \
         which belongs to the first that can take it, but not to a wildcard that the element follows"
    )
}

struct Check<'s> {
    schemas: &'s Schemas,
    work: usize,
    /// Two particles that accept the same element.
    found: Option<(&'s Particle, &'s Particle)>,
}

/// Elements and wildcards that can come next.
#[derive(Default)]
struct Set<'s> {
    names: BTreeMap<&'s QName, &'s Particle>,
    wildcards: Vec<(&'s WildcardNamespaces, &'s Particle)>,
}

/// The elements at which a particle can begin and continue.
#[derive(Default)]
struct Shape<'s> {
    first: Set<'s>,
    /// What can come next when the particle may also be complete.
    open: Set<'s>,
    is_nullable: bool,
}

impl<'s> Check<'s> {
    fn shape(&mut self, particle: &'s Particle) -> Shape<'s> {
        if self.found.is_some() || self.work == 0 {
            return Shape::default();
        }
        let mut shape = match &particle.term {
            Term::Element(_) | Term::Any(_) => self.leaf(particle),
            Term::Sequence(parts) => self.sequence(parts),
            Term::Choice(parts) => self.choice(parts),
            Term::All(parts) => {
                let mut shape = self.choice(parts);
                self.add(&mut shape.open, &shape.first);
                shape.is_nullable = parts.iter().all(Particle::can_be_empty);
                shape
            }
            // Groups are expanded already.
            Term::Group(_) => Shape::default(),
        };
        if particle.max != Some(1) {
            self.compare(&shape.open, &shape.first);
            // With a fixed number of occurrences, the last one is known.
            if particle.max != Some(particle.min) || shape.is_nullable {
                self.add(&mut shape.open, &shape.first);
            }
        }
        shape.is_nullable |= particle.min == 0;
        shape
    }

    fn leaf(&mut self, particle: &'s Particle) -> Shape<'s> {
        let mut shape = Shape::default();
        let schemas = self.schemas;
        match &particle.term {
            Term::Element(id) => {
                let own = Some(id).filter(|id| !schemas[**id].is_abstract);
                let names = own.into_iter().chain(schemas.substitutes(*id)).map(|id| (&schemas[*id].name, particle));
                shape.first.names = names.collect();
            }
            Term::Any(wildcard) => shape.first.wildcards.push((&wildcard.namespaces, particle)),
            _ => {}
        }
        shape
    }

    fn sequence(&mut self, parts: &'s [Particle]) -> Shape<'s> {
        let mut all = Shape { is_nullable: true, ..Shape::default() };
        for part in parts {
            let part = self.shape(part);
            self.compare(&all.open, &part.first);
            if all.is_nullable {
                self.add(&mut all.first, &part.first);
            }
            // An optional part does not end what could continue before it.
            if part.is_nullable {
                self.add(&mut all.open, &part.open);
                self.add(&mut all.open, &part.first);
            } else {
                all.open = part.open;
            }
            all.is_nullable &= part.is_nullable;
        }
        all
    }

    fn choice(&mut self, parts: &'s [Particle]) -> Shape<'s> {
        let mut all = Shape::default();
        for part in parts {
            let part = self.shape(part);
            self.compare(&all.first, &part.first);
            self.add(&mut all.first, &part.first);
            self.add(&mut all.open, &part.open);
            all.is_nullable |= part.is_nullable;
        }
        all
    }

    /// Counts steps; returns false once there were too many. Then nothing more is found.
    fn spend(&mut self, steps: usize) -> bool {
        self.work = self.work.saturating_sub(steps);
        self.work > 0
    }

    fn add(&mut self, to: &mut Set<'s>, more: &Set<'s>) {
        if !self.spend(more.names.len() + more.wildcards.len() * (1 + to.wildcards.len())) {
            return;
        }
        to.names.extend(&more.names);
        for wildcard in &more.wildcards {
            if !to.wildcards.iter().any(|(_, known)| std::ptr::eq(*known, wildcard.1)) {
                to.wildcards.push(*wildcard);
            }
        }
    }

    /// Looks for an element that two particles accept.
    fn compare(&mut self, ones: &Set<'s>, others: &Set<'s>) {
        let of_names = others.names.len() * (1 + ones.wildcards.len());
        let of_wildcards = others.wildcards.len() * (1 + ones.wildcards.len() + ones.names.len());
        if !self.spend(of_names + of_wildcards) {
            return;
        }
        let by_name = others.names.iter().find_map(|(name, other)| {
            let one = ones.names.get(name).copied();
            let one =
                one.or_else(|| ones.wildcards.iter().find(|(it, _)| it.allow(&name.namespace)).map(|(_, it)| *it));
            one.filter(|one| !std::ptr::eq(*one, *other)).map(|one| (one, *other))
        });
        let by_wildcard = || {
            others.wildcards.iter().find_map(|(namespaces, other)| {
                let name = ones.names.iter().find(|(name, _)| namespaces.allow(&name.namespace)).map(|(_, it)| *it);
                let is_alike = |(it, one): &&(&WildcardNamespaces, &Particle)| {
                    !std::ptr::eq(*one, *other) && have_in_common(it, namespaces)
                };
                name.or_else(|| ones.wildcards.iter().find(is_alike).map(|(_, it)| *it)).map(|one| (one, *other))
            })
        };
        self.found = self.found.or(by_name).or_else(by_wildcard);
    }
}

/// Returns true if both allow some namespace.
fn have_in_common(one: &WildcardNamespaces, other: &WildcardNamespaces) -> bool {
    use WildcardNamespaces::{Any, Only, Other};
    match (one, other) {
        (Only(list), wildcard) | (wildcard, Only(list)) => list.iter().any(|namespace| wildcard.allow(namespace)),
        (Any | Other(_), Any | Other(_)) => true,
    }
}

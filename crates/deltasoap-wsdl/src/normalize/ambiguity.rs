//! Names that occur more than once in a content model, and their effect on a reader that works
//! field by field and assigns an element to the first field of its name.
//!
//! XML Schema distinguishes such positions by the elements before them (XSD 1.0 part 1, 3.8.6). Two
//! walks find the fields that need to know about those elements: one from the end of the model to
//! its start, one from the start to the end. In both, a branch of a choice does not see the other
//! branches: the names that it adds are removed after the branch and added again after the choice.

use super::{Repetitions, parts};
use crate::xsd::{ElementId, Particle, Term};
use deltasoap_core::QName;
use std::collections::{HashMap, HashSet};

/// Particles of a content model, by their address.
#[derive(Debug, Default)]
pub(super) struct Ambiguity {
    tied: HashSet<usize>,
    /// Tied sequences that begin with a list which may take what follows the sequence.
    loose: HashSet<usize>,
    taken: HashSet<usize>,
}

impl Ambiguity {
    pub(super) fn of(repeated: &Repetitions<'_>) -> Self {
        let mut ambiguity = Ambiguity::default();
        if has(repeated.model, &|it| is_optional_sequence(it)) {
            let Ambiguity { tied, loose, .. } = &mut ambiguity;
            let (names, next) = (Names::default(), Next::default());
            let mut walk = Backward { repeated, names, seen: 0, next, tied, loose };
            walk.particle(repeated.model);
        }
        if has(repeated.model, &|it| is_open_list(it, repeated)) {
            let Ambiguity { loose, taken, .. } = &mut ambiguity;
            let names = Names::default();
            let mut walk = Forward { repeated, names, lists: 0, is_loose: false, loose, taken };
            walk.particle(repeated.model, 0);
        }
        ambiguity
    }

    /// Returns true for an optional sequence with an element that occurs again after the sequence.
    /// If the element comes without what precedes it in the sequence, it is the later one.
    pub(super) fn is_tied(&self, particle: &Particle) -> bool {
        self.tied.contains(&place(particle))
    }

    /// Returns true if an earlier list of single elements may have taken elements of this particle.
    pub(super) fn may_be_taken(&self, particle: &Particle) -> bool {
        self.taken.contains(&place(particle))
    }

    /// Like [`Particle::can_be_empty`], except that particles whose elements may have been taken
    /// are optional.
    pub(super) fn can_be_empty(&self, particle: &Particle) -> bool {
        particle.min == 0
            || self.may_be_taken(particle)
            || match &particle.term {
                Term::Element(_) | Term::Any(_) | Term::Group(_) => false,
                Term::Sequence(parts) | Term::All(parts) => parts.iter().all(|part| self.can_be_empty(part)),
                Term::Choice(parts) => parts.iter().any(|part| part.max != Some(0) && self.can_be_empty(part)),
            }
    }
}

fn place(particle: &Particle) -> usize {
    std::ptr::from_ref(particle).addr()
}

fn has(particle: &Particle, is_it: &impl Fn(&Particle) -> bool) -> bool {
    is_it(particle) || parts(&particle.term).iter().any(|part| has(part, is_it))
}

fn is_optional_sequence(particle: &Particle) -> bool {
    (particle.min, particle.max) == (0, Some(1)) && matches!(particle.term, Term::Sequence(_))
}

/// Returns true if fields represent a particle as a choice of elements, once or several times.
fn is_list(particle: &Particle, repeated: &Repetitions<'_>) -> bool {
    let is_repeated = !matches!(particle.max, Some(0 | 1));
    match &particle.term {
        Term::Choice(parts) if Particle::are_elements(parts, false) => particle.max != Some(0),
        Term::Choice(_) | Term::Sequence(_) => is_repeated && !repeated.is_group(particle),
        _ => false,
    }
}

/// Returns true for a list whose end is not clear. The end of a choice of single elements is:
/// nothing that can follow it is one of them.
fn is_open_list(particle: &Particle, repeated: &Repetitions<'_>) -> bool {
    let is_plain = matches!(&particle.term, Term::Choice(parts) if Particle::are_elements(parts, false));
    !is_plain && is_list(particle, repeated)
}

/// Returns true if such a list may take the first element.
pub(super) fn begins_with_list(particle: &Particle, repeated: &Repetitions<'_>) -> bool {
    is_open_list(particle, repeated)
        || match &particle.term {
            Term::Element(_) => false,
            _ => first_parts(particle).iter().any(|part| begins_with_list(part, repeated)),
        }
}

/// Returns the parts of a group that may have its first element: all branches of a choice, and the
/// beginning of a sequence up to the first part that is required.
fn first_parts(particle: &Particle) -> &[Particle] {
    let parts = parts(&particle.term);
    match &particle.term {
        Term::Choice(_) => parts,
        _ => {
            let needed = parts.iter().position(|part| !part.can_be_empty());
            &parts[..needed.map_or(parts.len(), |needed| needed + 1)]
        }
    }
}

/// Names passed so far, with a number each.
#[derive(Default)]
struct Names<'m> {
    numbers: HashMap<&'m QName, usize>,
    /// The changes: name and previous number.
    log: Vec<(&'m QName, Option<usize>)>,
}

impl<'m> Names<'m> {
    fn set(&mut self, name: &'m QName, number: usize) {
        let before = self.numbers.insert(name, number);
        self.log.push((name, before));
    }

    /// Undoes the changes since `since`; returns the entries that were removed.
    fn take_back(&mut self, since: usize) -> Vec<(&'m QName, usize)> {
        let mut gone = Vec::new();
        for (name, before) in self.log.drain(since..).rev() {
            gone.extend(self.numbers.get(name).map(|&number| (name, number)));
            match before {
                Some(before) => self.numbers.insert(name, before),
                None => self.numbers.remove(name),
            };
        }
        gone
    }
}

/// The names of the elements that may come next; `None` if they are many, or any.
#[derive(Debug, Clone)]
struct Next<'m>(Option<Vec<&'m QName>>);

impl Default for Next<'_> {
    fn default() -> Self {
        Next(Some(Vec::new()))
    }
}

impl<'m> Next<'m> {
    /// Maximum number of names, so that a copy takes constant time.
    const MAX: usize = 16;

    fn of(names: Vec<&'m QName>) -> Self {
        Next(Some(names).filter(|names| names.len() <= Self::MAX))
    }

    fn add(&mut self, other: &Next<'m>) {
        *self = match (self.0.take(), &other.0) {
            (Some(mut names), Some(others)) => {
                let own = names.len();
                names.extend(others.iter().filter(|name| !names[..own].contains(name)).collect::<Vec<_>>());
                Next::of(names)
            }
            _ => Next(None),
        };
    }
}

/// Finds optional sequences with elements that occur again after them.
struct Backward<'r, 'm> {
    repeated: &'r Repetitions<'m>,
    /// For each name, when it was first seen.
    names: Names<'m>,
    /// Number of elements seen.
    seen: usize,
    /// The names that may come next.
    next: Next<'m>,
    tied: &'r mut HashSet<usize>,
    loose: &'r mut HashSet<usize>,
}

impl<'m> Backward<'_, 'm> {
    /// Returns the smallest number of the names in the particle that were seen before.
    fn particle(&mut self, particle: &'m Particle) -> usize {
        let start = self.seen;
        let after = (particle.min == 0).then(|| self.next.clone());
        let first = match &particle.term {
            _ if particle.max == Some(0) => return usize::MAX,
            Term::Element(id) => self.element(*id),
            Term::Choice(parts) => self.choice(parts),
            Term::Any(_) | Term::Group(_) | Term::All(_) => {
                let first = parts(&particle.term).iter().rev().map(|part| self.particle(part)).min();
                self.next = Next(None);
                first.unwrap_or(usize::MAX)
            }
            Term::Sequence(parts) => {
                let first = parts.iter().rev().map(|part| self.particle(part)).min().unwrap_or(usize::MAX);
                if is_optional_sequence(particle) && first <= start {
                    self.tied.insert(place(particle));
                    if after.as_ref().is_some_and(|after| self.list_may_take(particle, after)) {
                        self.loose.insert(place(particle));
                    }
                }
                first
            }
        };
        after.into_iter().for_each(|after| self.next.add(&after));
        first
    }

    /// Returns true if a particle begins with a list that may take what comes after it.
    fn list_may_take(&self, particle: &Particle, after: &Next<'m>) -> bool {
        if is_open_list(particle, self.repeated) {
            return after.0.as_ref().is_none_or(|names| self.has_name(particle, names));
        }
        first_parts(particle).iter().any(|part| self.list_may_take(part, after))
    }

    fn has_name(&self, particle: &Particle, names: &[&QName]) -> bool {
        match &particle.term {
            Term::Element(id) => self.repeated.names(*id).any(|name| names.contains(&name)),
            Term::Any(_) => true,
            term => parts(term).iter().any(|part| self.has_name(part, names)),
        }
    }

    fn element(&mut self, id: ElementId) -> usize {
        let names: Vec<_> = self.repeated.names(id).collect();
        let first = names.iter().filter_map(|name| self.names.numbers.get(name).copied()).min();
        self.next = Next::of(names.clone());
        self.seen += 1;
        for name in names {
            if !self.names.numbers.contains_key(name) {
                self.names.set(name, self.seen);
            }
        }
        first.unwrap_or(usize::MAX)
    }

    fn choice(&mut self, parts: &'m [Particle]) -> usize {
        let (mut first, mut all) = (usize::MAX, Vec::new());
        let since = self.names.log.len();
        let (after, mut next) = (self.next.clone(), Next::default());
        for part in parts {
            self.next = after.clone();
            first = first.min(self.particle(part));
            next.add(&self.next);
            all.extend(self.names.take_back(since));
        }
        self.next = next;
        for (name, number) in all {
            if !self.names.numbers.contains_key(name) {
                self.names.set(name, number);
            }
        }
        first
    }
}

/// Finds elements after a list of single elements that the list may take.
struct Forward<'r, 'm> {
    repeated: &'r Repetitions<'m>,
    /// For each name, the last list that contains it.
    names: Names<'m>,
    /// Number of lists seen.
    lists: usize,
    /// True within an optional sequence whose list may have taken elements after the sequence:
    /// everything else in the sequence is then optional.
    is_loose: bool,
    loose: &'r HashSet<usize>,
    taken: &'r mut HashSet<usize>,
}

impl<'m> Forward<'_, 'm> {
    /// `since` is the first list that may still continue before the particle; returns the first
    /// that may continue after it.
    fn particle(&mut self, particle: &'m Particle, since: usize) -> usize {
        match &particle.term {
            _ if particle.max == Some(0) => since,
            Term::Any(_) | Term::All(_) | Term::Group(_) => since,
            Term::Element(_) => self.leaf(particle, since),
            _ if is_list(particle, self.repeated) => self.leaf(particle, since),
            // A group.
            _ if particle.max != Some(1) => {
                if self.is_loose {
                    self.taken.insert(place(particle));
                }
                if self.is_loose || particle.can_be_empty() { since } else { self.lists }
            }
            Term::Choice(parts) => {
                let after = self.choice(parts, since);
                if particle.min == 0 { since } else { after }
            }
            Term::Sequence(parts) => {
                let was_loose = self.is_loose;
                self.is_loose |= self.loose.contains(&place(particle));
                let after = parts.iter().fold(since, |since, part| self.particle(part, since));
                self.is_loose = was_loose;
                if particle.min == 0 { since } else { after }
            }
        }
    }

    /// Handles an element or a list.
    fn leaf(&mut self, particle: &'m Particle, since: usize) -> usize {
        let mut names = Vec::new();
        self.collect(particle, &mut names);
        let is_taken =
            self.is_loose || names.iter().any(|name| self.names.numbers.get(name).is_some_and(|&list| list >= since));
        if is_taken {
            self.taken.insert(place(particle));
        }
        let after = if is_taken || particle.can_be_empty() { since } else { self.lists };
        if is_open_list(particle, self.repeated) {
            let list = self.lists;
            names.into_iter().for_each(|name| self.names.set(name, list));
            self.lists += 1;
        }
        after
    }

    fn collect(&self, particle: &'m Particle, names: &mut Vec<&'m QName>) {
        match &particle.term {
            Term::Element(id) => names.extend(self.repeated.names(*id)),
            term => parts(term).iter().for_each(|part| self.collect(part, names)),
        }
    }

    fn choice(&mut self, parts: &'m [Particle], since: usize) -> usize {
        let (mut after, mut all) = (usize::MAX, Vec::new());
        let start = self.names.log.len();
        for part in parts.iter().filter(|part| part.max != Some(0)) {
            after = after.min(self.particle(part, since));
            all.extend(self.names.take_back(start));
        }
        all.into_iter().for_each(|(name, list)| self.names.set(name, list));
        if after == usize::MAX { since } else { after }
    }
}

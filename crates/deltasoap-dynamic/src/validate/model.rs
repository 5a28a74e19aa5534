//! Content models: which declaration each child is of, and which child stands where none may.
//!
//! Content models of XML Schema are deterministic (part 1, 3.8.6, Unique Particle Attribution): the next child alone says which
//! particle it belongs to, so that one pass without going back will do.

use super::item::Item;
use crate::contract::Types;
use deltasoap_core::QName;
use deltasoap_wsdl::xsd::{ElementId, Particle, ProcessContents, Term, WildcardNamespaces};

/// What a child is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assigned {
    /// An element that the schema declares here.
    Element(ElementId),
    /// Anything that a wildcard lets in.
    Any(ProcessContents),
}

/// What could stand in a place.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Expected {
    Element(QName),
    Any(String),
}

/// What a wildcard lets in, in words.
fn any(namespaces: &WildcardNamespaces) -> Expected {
    let shown = |namespace: &str| if namespace.is_empty() { "no namespace".to_owned() } else { namespace.to_owned() };
    Expected::Any(match namespaces {
        WildcardNamespaces::Any => "an element".to_owned(),
        WildcardNamespaces::Other(own) => format!("an element of another namespace than {}", shown(own)),
        WildcardNamespaces::Only(list) => {
            let list: Vec<_> = list.iter().map(|it| shown(it)).collect();
            format!("an element of {}", list.join(" or "))
        }
    })
}

/// Children matched with a content model.
pub(super) struct Matching<'m> {
    types: &'m Types,
    children: &'m [Item],
    /// What each child is, up to the first that does not fit.
    pub(super) assigned: Vec<Assigned>,
    /// What could have stood behind the last child that fits: elements, and in words what a wildcard lets in.
    expected: Vec<Expected>,
    /// How many children `expected` is about.
    farthest: usize,
}

/// A particle that was begun, or is required, and is not complete.
struct Incomplete;

/// Most names of what was expected.
const MOST: usize = 8;

impl<'m> Matching<'m> {
    pub(super) fn new(types: &'m Types, children: &'m [Item]) -> Self {
        Matching { types, children, assigned: Vec::new(), expected: Vec::new(), farthest: 0 }
    }

    /// Matches all children; an error says what was expected, where there is something wrong. The child at fault is the first
    /// that is not assigned; there is none if something is missing at the end.
    pub(super) fn run(&mut self, particle: &Particle) -> Result<(), String> {
        let is_complete = self.occurs(particle).is_ok();
        match self.children.get(self.assigned.len()) {
            None if is_complete => Ok(()),
            None => Err(format!("{} is missing", self.names())),
            Some(_) if self.expected.is_empty() || self.farthest < self.assigned.len() => {
                Err("nothing more may stand here".to_owned())
            }
            Some(_) => Err(format!("expected {}{}", self.names(), if is_complete { ", or the end" } else { "" })),
        }
    }

    /// What was expected, with namespaces where those are what differs.
    fn names(&self) -> String {
        let found = self.children.get(self.assigned.len()).map(|child| &child.name.local);
        let is_alike =
            self.expected.iter().any(|it| matches!(it, Expected::Element(name) if Some(&name.local) == found));
        let shown = |it: &Expected| match it {
            Expected::Element(name) if is_alike => format!("<{name}>"),
            Expected::Element(name) => format!("<{}>", name.local),
            Expected::Any(words) => words.clone(),
        };
        let are_elements = self.expected.iter().any(|it| matches!(it, Expected::Element(_)));
        // Wildcards are everywhere, and say the least.
        let told = self.expected.iter().filter(|it| !are_elements || matches!(it, Expected::Element(_)));
        told.map(shown).collect::<Vec<_>>().join(" or ")
    }

    /// Matches as many occurrences as there are.
    fn occurs(&mut self, particle: &Particle) -> Result<(), Incomplete> {
        if let Some(flat) = flattened(particle) {
            return self.occurs(&flat);
        }
        let mut count = 0;
        while particle.max.is_none_or(|max| count < max) {
            let before = self.assigned.len();
            self.term(&particle.term)?;
            if self.assigned.len() == before {
                break;
            }
            count += 1;
        }
        if count < particle.min && !can_be_empty(&particle.term) { Err(Incomplete) } else { Ok(()) }
    }

    /// Matches one occurrence, or nothing.
    fn term(&mut self, term: &Term) -> Result<(), Incomplete> {
        match term {
            Term::Element(id) => self.element(*id),
            Term::Any(wildcard) => {
                let next = self.children.get(self.assigned.len());
                match next.is_some_and(|next| wildcard.namespaces.allow(&next.name.namespace)) {
                    true => self.assigned.push(Assigned::Any(wildcard.process)),
                    false => self.expect(self.assigned.len(), &any(&wildcard.namespaces)),
                }
            }
            Term::Sequence(parts) => return self.sequence(parts),
            Term::Choice(parts) => return self.choice(parts),
            Term::All(parts) => return self.all(parts),
            Term::Group(_) => {}
        }
        Ok(())
    }

    fn element(&mut self, id: ElementId) {
        let (at, schemas) = (self.assigned.len(), self.types.import.schemas());
        let own = Some(id).filter(|_| !schemas[id].is_abstract);
        let others = schemas.substitutes(id).iter().copied().filter(|&other| self.types.can_substitute(other, id));
        let mut candidates = own.into_iter().chain(others);
        let next = self.children.get(at);
        match candidates.find(|&id| next.is_some_and(|next| next.name == schemas[id].name)) {
            Some(id) => self.assigned.push(Assigned::Element(id)),
            None => self.expect(at, &Expected::Element(schemas[id].name.clone())),
        }
    }

    fn expect(&mut self, at: usize, name: &Expected) {
        if at > self.farthest {
            self.farthest = at;
            self.expected.clear();
        }
        if at == self.farthest && self.expected.len() < MOST && !self.expected.contains(name) {
            self.expected.push(name.clone());
        }
    }

    fn sequence(&mut self, parts: &[Particle]) -> Result<(), Incomplete> {
        let start = self.assigned.len();
        for part in parts {
            if self.occurs(part).is_err() {
                // A sequence that has not begun is not there.
                return if self.assigned.len() == start { Ok(()) } else { Err(Incomplete) };
            }
        }
        Ok(())
    }

    fn choice(&mut self, parts: &[Particle]) -> Result<(), Incomplete> {
        let start = self.assigned.len();
        for part in parts {
            let result = self.occurs(part);
            if self.assigned.len() > start {
                return result;
            }
        }
        Ok(())
    }

    fn all(&mut self, parts: &[Particle]) -> Result<(), Incomplete> {
        let start = self.assigned.len();
        let mut left: Vec<&Particle> = parts.iter().collect();
        loop {
            let before = self.assigned.len();
            let found = left.iter().position(|part| {
                let _ = self.occurs(part);
                self.assigned.len() > before
            });
            match found {
                Some(index) => _ = left.remove(index),
                None => break,
            }
        }
        let is_missing = |part: &&Particle| part.min > 0 && !can_be_empty(&part.term);
        if self.assigned.len() > start && left.iter().any(is_missing) { Err(Incomplete) } else { Ok(()) }
    }
}

/// Occurrences of occurrences as one: `(a{1,2}){2,10}` takes as many as `a{2,20}`, and who takes all it can of the inner ones
/// finds too few of the outer ones.
fn flattened(particle: &Particle) -> Option<Particle> {
    let (Term::Sequence(parts) | Term::Choice(parts)) = &particle.term else { return None };
    match &parts[..] {
        [part] if part.min <= 1 => Some(Particle {
            min: particle.min * part.min,
            max: particle.max.zip(part.max).map(|(outer, inner)| outer.saturating_mul(inner)),
            term: part.term.clone(),
        }),
        _ => None,
    }
}

/// True if nothing at all is an occurrence.
fn can_be_empty(term: &Term) -> bool {
    let is_optional = |part: &Particle| part.min == 0 || can_be_empty(&part.term);
    match term {
        Term::Element(_) | Term::Any(_) => false,
        Term::Sequence(parts) | Term::All(parts) => parts.iter().all(is_optional),
        Term::Choice(parts) => parts.is_empty() || parts.iter().any(is_optional),
        Term::Group(_) => true,
    }
}

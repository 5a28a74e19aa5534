//! Content models: which declaration each child is of, and which child stands where none may.
//!
//! Content models of XML Schema are deterministic (part 1, 3.8.6, Unique Particle Attribution): the next child alone says which
//! particle it belongs to, so that one pass without going back will do.

use super::item::Item;
use deltasoap_core::QName;
use deltasoap_wsdl::Schemas;
use deltasoap_wsdl::xsd::{ElementId, Particle, Term};

/// What a child is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assigned {
    /// An element that the schema declares here.
    Element(ElementId),
    /// Anything that a wildcard lets in.
    Any,
}

/// Children matched with a content model.
pub(super) struct Matching<'m> {
    schemas: &'m Schemas,
    children: &'m [Item],
    /// What each child is, up to the first that does not fit.
    pub(super) assigned: Vec<Assigned>,
    /// What could have stood behind the last child that fits.
    expected: Vec<QName>,
    /// How many children `expected` is about.
    farthest: usize,
}

/// A particle that was begun, or is required, and is not complete.
struct Incomplete;

/// Most names of what was expected.
const MOST: usize = 8;

impl<'m> Matching<'m> {
    pub(super) fn new(schemas: &'m Schemas, children: &'m [Item]) -> Self {
        Matching { schemas, children, assigned: Vec::new(), expected: Vec::new(), farthest: 0 }
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
        let is_alike = self.expected.iter().any(|name| Some(&name.local) == found);
        let shown = |name: &QName| if is_alike { format!("<{name}>") } else { format!("<{}>", name.local) };
        self.expected.iter().map(shown).collect::<Vec<_>>().join(" or ")
    }

    /// Matches as many occurrences as there are.
    fn occurs(&mut self, particle: &Particle) -> Result<(), Incomplete> {
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
                if next.is_some_and(|next| wildcard.namespaces.allow(&next.name.namespace)) {
                    self.assigned.push(Assigned::Any);
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
        let (at, schemas) = (self.assigned.len(), self.schemas);
        let own = Some(id).filter(|_| !schemas[id].is_abstract);
        let mut candidates = own.into_iter().chain(schemas.substitutes(id).iter().copied());
        let next = self.children.get(at);
        match candidates.find(|&id| next.is_some_and(|next| next.name == schemas[id].name)) {
            Some(id) => self.assigned.push(Assigned::Element(id)),
            None => self.expect(at, &schemas[id].name),
        }
    }

    fn expect(&mut self, at: usize, name: &QName) {
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

//! Content models: assigns a declaration to each child, and finds children that are not allowed.
//!
//! Content models of XML Schema are deterministic (part 1, 3.8.6, Unique Particle Attribution): the
//! next child alone determines its particle, so one pass without backtracking is enough.
//!
//! The next child does not determine where an occurrence ends: four `x` of `(x{2,3}, y?){1,2}` are
//! two occurrences, and three are one. Therefore the result of reading is not a number of
//! occurrences but a [range](Count) of them. If a child can be a whole occurrence (here the `x`),
//! several are read in a row, and their number is a range again: `x` of `{min,max}` in a row are at
//! least `x / max` and at most `x / min`.
//!
//! Schemas that violate the rule are in use nevertheless: a type that ends in a wildcard is
//! extended by an element that the wildcard also allows. A child that is declared further on is
//! then assigned to that element, and no longer to the wildcard.
//!
//! Choices can have thousands of alternatives: the elements among them are found by name.

use super::item::Item;
use crate::contract::Types;
use deltasoap_core::QName;
use deltasoap_wsdl::xsd::{ElementId, Particle, ProcessContents, Term, WildcardNamespaces};
use std::collections::HashMap;

/// The declaration of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assigned {
    /// An element that the schema declares here.
    Element(ElementId),
    /// Any element that a wildcard allows.
    Any(ProcessContents),
}

/// Content that is allowed in a place.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Expected {
    Element(QName),
    Any(String),
}

/// Describes what a wildcard allows.
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

/// For large choices, by their address, the alternatives that are elements: the first of each name.
pub(super) type Alternatives<'m> = HashMap<usize, HashMap<&'m QName, usize>>;

/// Choices with more alternatives than this have a lookup table.
const MANY: usize = 8;

/// Children being matched with a content model.
pub(super) struct Matcher<'m, 'c> {
    types: &'m Types,
    children: &'c [Item],
    alternatives: &'c mut Alternatives<'m>,
    /// The declaration of each child, up to the first that does not match.
    pub(super) assigned: Vec<Assigned>,
    /// What was allowed after the last matching child: elements, and descriptions of what a
    /// wildcard allows.
    expected: Vec<Expected>,
    /// Number of children before the position that `expected` refers to.
    farthest: usize,
    /// The particles after the current one, in the sequences around it, outermost first.
    after: Vec<&'m [Particle]>,
}

/// A particle that has begun, or is required, and is incomplete.
struct Incomplete;

/// The possible numbers of occurrences in the children read: any number in the range.
#[derive(Debug, Clone, Copy)]
struct Count {
    least: u64,
    most: u64,
}

impl Count {
    const NONE: Count = Count { least: 0, most: 0 };
    const ONE: Count = Count { least: 1, most: 1 };

    fn and(self, other: Count) -> Count {
        Count { least: self.least.saturating_add(other.least), most: self.most.saturating_add(other.most) }
    }

    /// Returns the number of occurrences of a particle, given that of its term.
    fn of(self, particle: &Particle) -> Result<Count, Incomplete> {
        let min = match particle.min {
            0 | 1 if self.least > 0 => particle.min.into(),
            _ if can_be_empty(&particle.term) => 0,
            min => min.into(),
        };
        if self.least == 0 {
            return if min == 0 { Ok(Count::NONE) } else { Err(Incomplete) };
        }
        let least = particle.max.map_or(1, |max| self.least.div_ceil(u64::from(max)));
        let most = self.most.checked_div(min).unwrap_or(u64::MAX);
        if least <= most { Ok(Count { least, most }) } else { Err(Incomplete) }
    }
}

/// Maximum number of names in the list of expected elements.
const MAX_EXPECTED: usize = 8;

impl<'m, 'c> Matcher<'m, 'c> {
    pub(super) fn new(types: &'m Types, children: &'c [Item], alternatives: &'c mut Alternatives<'m>) -> Self {
        let (assigned, expected, after) = Default::default();
        Matcher { types, children, alternatives, assigned, expected, farthest: 0, after }
    }

    /// Matches all children; an error says what was expected at the first mismatch. The invalid
    /// child is the first that is not assigned; there is none if something is missing at the end.
    pub(super) fn run(&mut self, particle: &'m Particle) -> Result<(), String> {
        let is_complete = self.occurs(particle, 1).is_ok();
        match self.children.get(self.assigned.len()) {
            None if is_complete => Ok(()),
            None if self.expected.is_empty() => {
                Err("nothing can be valid here: the schema requires a choice that has no alternatives".to_owned())
            }
            None => Err(format!("{} is missing", self.names())),
            Some(_) if self.expected.is_empty() || self.farthest < self.assigned.len() => {
                Err("nothing more is allowed here".to_owned())
            }
            Some(_) => Err(format!("expected {}{}", self.names(), if is_complete { ", or the end" } else { "" })),
        }
    }

    /// Formats the expected elements, with namespaces if only those differ.
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
        // Wildcards are common, and the least informative.
        let listed = self.expected.iter().filter(|it| !are_elements || matches!(it, Expected::Element(_)));
        listed.map(shown).collect::<Vec<_>>().join(" or ")
    }

    /// Matches as many occurrences as possible of a particle that may occur at most `room` times.
    fn occurs(&mut self, particle: &'m Particle, room: u64) -> Result<Count, Incomplete> {
        let most = particle.max.map_or(u64::MAX, |max| u64::from(max).saturating_mul(room));
        let mut count = Count::NONE;
        while count.least < most {
            let before = self.assigned.len();
            let is_wildcard = matches!(particle.term, Term::Any(_));
            if is_wildcard && count.least >= u64::from(particle.min) && self.is_declared_after() {
                break;
            }
            let next = self.term(&particle.term, most - count.least)?;
            if self.assigned.len() == before {
                break;
            }
            count = count.and(next);
        }
        count.of(particle)
    }

    /// Matches one occurrence, or nothing; or up to `room` occurrences in a row, if the first does
    /// not determine its end.
    fn term(&mut self, term: &'m Term, room: u64) -> Result<Count, Incomplete> {
        match term {
            Term::Element(id) => self.element(*id),
            Term::Any(wildcard) => {
                let next = self.children.get(self.assigned.len());
                match next.is_some_and(|next| wildcard.namespaces.allow(&next.name.namespace)) {
                    true => self.assigned.push(Assigned::Any(wildcard.process)),
                    false => self.expect(self.assigned.len(), &any(&wildcard.namespaces)),
                }
            }
            Term::Sequence(parts) => return self.sequence(parts, room),
            Term::Choice(parts) => return self.choice(parts, room),
            Term::All(parts) => self.all(parts)?,
            Term::Group(_) => {}
        }
        Ok(Count::ONE)
    }

    /// Returns true if the next child is an element that may come after the current particle.
    fn is_declared_after(&self) -> bool {
        let Some(next) = self.children.get(self.assigned.len()) else { return false };
        for parts in self.after.iter().rev() {
            for part in *parts {
                if self.can_begin(&part.term, next) {
                    return true;
                }
                if !is_optional(part) {
                    return false;
                }
            }
        }
        false
    }

    /// Returns true if an element is declared as the first of a term.
    fn can_begin(&self, term: &Term, next: &Item) -> bool {
        match term {
            Term::Element(id) => self.types.members(*id).any(|id| next.name == self.types.import.schemas()[id].name),
            Term::Sequence(parts) => {
                let required = parts.iter().position(|part| !is_optional(part)).map_or(parts.len(), |at| at + 1);
                parts[..required].iter().any(|part| self.can_begin(&part.term, next))
            }
            Term::Choice(parts) | Term::All(parts) => parts.iter().any(|part| self.can_begin(&part.term, next)),
            Term::Any(_) | Term::Group(_) => false,
        }
    }

    fn element(&mut self, id: ElementId) {
        let (at, schemas) = (self.assigned.len(), self.types.import.schemas());
        let next = self.children.get(at);
        // An abstract element is found here too, so that the error can name its possible
        // replacements.
        let mut known = self.types.members(id).chain([id]);
        match known.find(|&id| next.is_some_and(|next| next.name == schemas[id].name)) {
            Some(id) => self.assigned.push(Assigned::Element(id)),
            None if schemas[id].is_abstract => {
                let mut names = self.types.members(id).map(|it| Expected::Element(schemas[it].name.clone())).peekable();
                if names.peek().is_none() {
                    let needed = format!("an element that can replace the abstract <{}>", schemas[id].name.local);
                    self.expect(at, &Expected::Any(needed));
                }
                names.take(MAX_EXPECTED).for_each(|name| self.expect(at, &name));
            }
            None => self.expect(at, &Expected::Element(schemas[id].name.clone())),
        }
    }

    fn expect(&mut self, at: usize, name: &Expected) {
        if at > self.farthest {
            self.farthest = at;
            self.expected.clear();
        }
        if at == self.farthest && self.expected.len() < MAX_EXPECTED && !self.expected.contains(name) {
            self.expected.push(name.clone());
        }
    }

    fn sequence(&mut self, parts: &'m [Particle], room: u64) -> Result<Count, Incomplete> {
        let start = self.assigned.len();
        let required = parts.iter().filter(|part| room > 1 && !is_optional(part)).count();
        let mut count = if room > 1 && required == 0 { Count { least: 1, most: u64::MAX } } else { Count::ONE };
        for (index, part) in parts.iter().enumerate() {
            // A part that no other part requires can occur for several sequences in a row. The
            // other parts belong to the first or the last of them.
            let is_alone = room > 1 && required == usize::from(!is_optional(part));
            let room = if is_alone { room - (count.least - 1) } else { 1 };
            self.after.push(&parts[index + 1..]);
            let occurs = self.occurs(part, room);
            self.after.pop();
            match occurs {
                Ok(of_part) if is_alone && of_part.least > 0 => {
                    count.least += of_part.least - 1;
                    count.most = if required == 0 { u64::MAX } else { of_part.most };
                }
                Ok(_) => {}
                // A sequence that has not begun is absent.
                Err(_) if self.assigned.len() == start => return Ok(Count::NONE),
                Err(incomplete) => return Err(incomplete),
            }
        }
        Ok(count)
    }

    fn choice(&mut self, parts: &'m [Particle], room: u64) -> Result<Count, Incomplete> {
        let start = self.assigned.len();
        let known = self.alternative(parts);
        for (index, part) in parts.iter().enumerate() {
            let is_element = matches!(part.term, Term::Element(_));
            let is_passed_over = match known {
                // The elements before it have other names.
                Some(known) => is_element && index < known,
                // None of them is present, and enough of them are already listed as expected.
                None => {
                    is_element && parts.len() > MANY && self.farthest == start && self.expected.len() >= MAX_EXPECTED
                }
            };
            if is_passed_over {
                continue;
            }
            let result = self.occurs(part, room);
            if self.assigned.len() > start {
                return result;
            }
        }
        Ok(Count::NONE)
    }

    /// Returns the first alternative of a large choice that is an element with the next child's
    /// name.
    fn alternative(&mut self, parts: &'m [Particle]) -> Option<usize> {
        let next = self.children.get(self.assigned.len()).filter(|_| parts.len() > MANY)?;
        let key = std::ptr::from_ref(parts).addr();
        if !self.alternatives.contains_key(&key) {
            let mut table = HashMap::new();
            for (index, part) in parts.iter().enumerate().filter(|(_, part)| part.max != Some(0)) {
                if let Term::Element(id) = part.term {
                    let names = self.types.members(id).map(|id| &self.types.import.schemas()[id].name);
                    names.for_each(|name| _ = table.entry(name).or_insert(index));
                }
            }
            self.alternatives.insert(key, table);
        }
        self.alternatives.get(&key)?.get(&next.name).copied()
    }

    fn all(&mut self, parts: &'m [Particle]) -> Result<(), Incomplete> {
        let start = self.assigned.len();
        let mut left: Vec<&Particle> = parts.iter().collect();
        loop {
            let before = self.assigned.len();
            let found = left.iter().position(|part| {
                let _ = self.occurs(part, 1);
                self.assigned.len() > before
            });
            match found {
                Some(index) => _ = left.remove(index),
                None => break,
            }
        }
        if self.assigned.len() > start && left.iter().any(|part| !is_optional(part)) { Err(Incomplete) } else { Ok(()) }
    }
}

/// Describes what may replace an abstract element.
pub(super) fn stand_ins(types: &Types, id: ElementId) -> String {
    let schemas = types.import.schemas();
    let own = &schemas[id].name.local;
    let shown = |name: &QName| if name.local == *own { format!("<{name}>") } else { format!("<{}>", name.local) };
    let names: Vec<_> = types.members(id).map(|it| shown(&schemas[it].name)).take(MAX_EXPECTED + 1).collect();
    match &names[..] {
        [] => "the contract declares nothing that can replace it".to_owned(),
        _ if names.len() > MAX_EXPECTED => {
            format!("an element that can replace it is needed: {} or others", names[..MAX_EXPECTED].join(", "))
        }
        _ => format!("an element that can replace it is needed: {}", names.join(" or ")),
    }
}

/// Returns true if a term can be empty.
pub(crate) fn can_be_empty(term: &Term) -> bool {
    match term {
        Term::Element(_) | Term::Any(_) => false,
        Term::Sequence(parts) | Term::All(parts) => parts.iter().all(is_optional),
        // Nothing matches a choice without alternatives.
        Term::Choice(parts) => parts.iter().any(|part| part.max != Some(0) && is_optional(part)),
        Term::Group(_) => true,
    }
}

fn is_optional(part: &Particle) -> bool {
    part.min == 0 || can_be_empty(&part.term)
}

//! Pairs of declarations, one of each contract, and the walk over all pairs that a message reaches.
//!
//! What differs in a pair itself is found once, however many messages reach it, and so is which
//! pairs its content leads to. Recursive types lead back to pairs that are known already: there the
//! walk ends. It is breadth first, so a difference is shown at the shortest path to it.
//!
//! A wildcard allows any global element, and `xsd:anyType` any type that `xsi:type` names: there,
//! each message could contain everything. So these ways are walked only after all others, and only
//! to what no message of the same sender reaches without them.

use super::language::Symbol;
use crate::contract::Types;
use deltasoap_core::QName;
use deltasoap_wsdl::xsd::{ElementId, TypeId};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Maximum number of pairs that are visited for one message.
const MAX_VISITS: usize = 20_000;

/// The question whether all that one contract allows is allowed by another one, too.
pub(super) struct Inclusion<'c> {
    /// The contract whose messages are examined.
    pub(super) sub: &'c Types,
    /// The contract that may refuse them.
    pub(super) sup: &'c Types,
    known: HashMap<Pair, Rc<Local>>,
}

/// An element as declared. Parts of rpc messages have only a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Declared {
    pub(crate) element: Option<ElementId>,
    pub(crate) type_id: TypeId,
}

impl Declared {
    /// Returns true for types that all others are derived from, or all simple ones.
    pub(super) fn is_any(self) -> bool {
        [TypeId::ANY, TypeId::ANY_SIMPLE].contains(&self.type_id)
    }
}

/// Two things that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Pair {
    /// Declared elements.
    Declared([Declared; 2]),
    /// The content of elements of exactly these types.
    Content([TypeId; 2]),
}

impl Pair {
    pub(super) fn swapped(self) -> Self {
        match self {
            Pair::Declared([one, other]) => Pair::Declared([other, one]),
            Pair::Content([one, other]) => Pair::Content([other, one]),
        }
    }

    /// Returns true for content of built-in types: a difference is one of the element, not of a type
    /// that elements share.
    pub(super) fn is_builtin(self) -> bool {
        matches!(self, Pair::Content([one, other]) if one.builtin().is_some() && other.builtin().is_some())
    }
}

/// What a difference is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Subject {
    /// Nil elements.
    Nil,
    /// The only value of an element.
    Fixed,
    /// The value of an empty element.
    Default,
    /// Elements that name no type.
    Abstract,
    /// Elements of a derived type.
    Derived(QName),
    /// Keys, references to keys, and values that are unique.
    Constraints,
    /// Text, or elements, or a SOAP array.
    Kind,
    /// The text of a simple type.
    Text,
    /// The number of children of this name.
    Child(QName),
    /// Elements that wildcards allow.
    Wildcard,
    /// The order and combination of children.
    Order,
    /// Text between elements.
    Mixed,
    /// The presence of an attribute.
    Attribute(QName),
    /// The value of an attribute.
    AttributeText(QName),
    /// The value of an absent attribute.
    AttributeDefault(QName),
    /// Attributes that a wildcard allows.
    AttributeWildcard,
}

/// How an element of one contract differs from what the other one allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Deviation {
    /// It has only what is required.
    Least,
    /// It is nil.
    Nil,
    /// It has this text.
    Text(String),
    /// It has text between its elements.
    TextBetween,
    /// It has these children.
    Children(Vec<Symbol>),
    /// It has this attribute, with a text that its type allows if none is given.
    Attribute(QName, Option<String>),
    /// It is of this derived type.
    As(TypeId),
}

/// A difference in a pair: how to show it, or why that is not known.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) subject: Subject,
    pub(super) deviation: Result<Deviation, String>,
}

/// What differs in a pair, and where its content leads.
#[derive(Debug, Default)]
pub(super) struct Local {
    pub(super) found: Vec<Found>,
    pub(super) edges: Vec<(Step, Pair)>,
    /// Where wildcards and `xsd:anyType` lead.
    pub(super) open_edges: Vec<(Step, Pair)>,
    /// Types that `xsi:type` may name here, and that the other contract does not have.
    pub(super) missing: Vec<TypeId>,
}

impl Local {
    /// Returns true if a wildcard or `xsd:anyType` leads anywhere.
    fn is_open(&self) -> bool {
        !self.open_edges.is_empty() || !self.missing.is_empty()
    }
}

impl Local {
    pub(super) fn add(&mut self, subject: Subject, deviation: Deviation) {
        self.found.push(Found { subject, deviation: Ok(deviation) });
    }

    pub(super) fn add_unknown(&mut self, subject: Subject, reason: impl Into<String>) {
        self.found.push(Found { subject, deviation: Err(reason.into()) });
    }
}

/// The way from a pair to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// To the content of an element.
    Content,
    /// To a child of this name.
    Child(QName),
    /// To the items of a SOAP array.
    Item,
}

/// One element on the way to a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hop {
    pub(super) name: QName,
    pub(super) declared: [Declared; 2],
    /// The types that its content is of: the declared ones or derived ones.
    pub(super) actual: [TypeId; 2],
    /// True for an item of a SOAP array.
    pub(super) is_item: bool,
}

/// A difference at a place in a message.
pub(super) struct Seen {
    pub(super) pair: Pair,
    pub(super) found: Found,
    /// From the outermost element to the one that differs.
    pub(super) trail: Vec<Hop>,
}

/// The differences in a message.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) all: Vec<Seen>,
    /// True if there are more pairs than [`MAX_VISITS`].
    pub(super) is_cut: bool,
    /// The pairs from which wildcards or `xsd:anyType` lead to more.
    pub(super) sources: Vec<Pair>,
}

/// What the messages of one sender have led to already.
#[derive(Debug, Default)]
pub(super) struct Reached {
    /// Pairs that messages reach without wildcards and `xsd:anyType`.
    closed: HashSet<Pair>,
    /// Pairs that only those lead to.
    opened: HashSet<Pair>,
    /// Pairs from which all of those were followed.
    sources: HashSet<Pair>,
    /// Types that `xsi:type` may name and that the other contract does not have.
    missing: HashSet<TypeId>,
}

impl Reached {
    /// Returns true if a walk along wildcards and `xsd:anyType` from there finds nothing new.
    pub(super) fn has_followed(&self, sources: &[Pair]) -> bool {
        sources.iter().all(|source| self.sources.contains(source))
    }

    fn is_new(&self, pair: Pair) -> bool {
        pair.is_builtin() || !self.closed.contains(&pair) && !self.opened.contains(&pair)
    }
}

struct Visit {
    pair: Pair,
    /// The number of the visit before, and the step from there; `None` for a root.
    from: Option<(usize, Step)>,
}

impl<'c> Inclusion<'c> {
    pub(super) fn new(sub: &'c Types, sup: &'c Types) -> Self {
        Inclusion { sub, sup, known: HashMap::new() }
    }

    /// Finds the differences in an element and in everything that is declared in it.
    pub(super) fn walk(&mut self, name: &QName, root: [Declared; 2], reached: &mut Reached) -> Walked {
        let (walked, visits) =
            self.walk_along(name, root, |local, _| (local.found.clone(), local.edges.iter().collect()));
        reached.closed.extend(visits.iter().map(|visit| visit.pair));
        walked
    }

    /// Finds the differences in what only wildcards and `xsd:anyType` allow in an element, after all
    /// messages were [walked](Self::walk).
    pub(super) fn walk_open(&mut self, name: &QName, root: [Declared; 2], reached: &mut Reached) -> Walked {
        let schemas = self.sub.import.schemas();
        let missing = |id: &TypeId| {
            let subject = Subject::Derived(schemas[*id].name.clone()?);
            Some(Found { subject, deviation: Ok(Deviation::As(*id)) })
        };
        let (mut walked, visits) = self.walk_along(name, root, |local, pair| {
            let is_closed = reached.closed.contains(&pair);
            let has_followed = is_closed && reached.sources.contains(&pair);
            let own = local.found.iter().filter(|_| !is_closed).cloned();
            let more = local.missing.iter().filter(|id| !has_followed && !reached.missing.contains(id));
            // What is closed is passed only to find the ways out of it.
            let edges = local.edges.iter().filter(|(_, pair)| is_closed || reached.is_new(*pair));
            let open = local.open_edges.iter().filter(|(_, pair)| !has_followed && reached.is_new(*pair));
            (own.chain(more.filter_map(missing)).collect(), edges.chain(open).collect())
        });
        reached.sources.extend(&walked.sources);
        reached.opened.extend(visits.iter().map(|visit| visit.pair).filter(|pair| !reached.closed.contains(pair)));
        // A type is missing everywhere: once is enough.
        walked.all.retain(|seen| match (seen.pair, &seen.found.deviation) {
            (Pair::Declared([declared, _]), Ok(Deviation::As(id))) if declared.is_any() => reached.missing.insert(*id),
            _ => true,
        });
        walked
    }

    /// Walks over pairs. `chosen` returns what counts of what was found in one, and which edges lead
    /// on.
    fn walk_along(
        &mut self,
        name: &QName,
        root: [Declared; 2],
        chosen: impl for<'l> Fn(&'l Local, Pair) -> (Vec<Found>, Vec<&'l (Step, Pair)>),
    ) -> (Walked, Vec<Visit>) {
        let root = Pair::Declared(root);
        let (mut visits, mut seen) = (vec![Visit { pair: root, from: None }], HashSet::from([root]));
        let (mut walked, mut at) = (Walked::default(), 0);
        while at < visits.len() {
            let pair = visits[at].pair;
            let local = self.local(pair);
            walked.sources.extend(local.is_open().then_some(pair));
            let (all, edges) = chosen(&local, pair);
            for found in all {
                walked.all.push(Seen { pair, found, trail: trail(&visits, at, name) });
            }
            for (step, pair) in edges {
                if visits.len() >= MAX_VISITS {
                    walked.is_cut = true;
                } else if seen.insert(*pair) || pair.is_builtin() {
                    visits.push(Visit { pair: *pair, from: Some((at, step.clone())) });
                }
            }
            at += 1;
        }
        (walked, visits)
    }

    /// Returns what differs in a pair itself.
    fn local(&mut self, pair: Pair) -> Rc<Local> {
        if let Some(known) = self.known.get(&pair) {
            return Rc::clone(known);
        }
        let local = Rc::new(match pair {
            Pair::Declared(declared) => self.declared(declared),
            Pair::Content(types) => self.content(types),
        });
        self.known.insert(pair, Rc::clone(&local));
        local
    }
}

/// Returns the elements on the way from the root to a visit.
fn trail(visits: &[Visit], at: usize, root: &QName) -> Vec<Hop> {
    let mut path = vec![at];
    while let Some((before, _)) = &visits[path[path.len() - 1]].from {
        path.push(*before);
    }
    let mut hops: Vec<Hop> = Vec::new();
    for visit in path.into_iter().rev().map(|number| &visits[number]) {
        match (visit.pair, &visit.from, hops.last_mut()) {
            (Pair::Content(actual), _, Some(last)) => last.actual = actual,
            (Pair::Declared(declared), from, last) => {
                let name = match (from, last) {
                    (Some((_, Step::Child(name))), _) => name.clone(),
                    (_, Some(_)) => QName::new("", "item"),
                    (_, None) => root.clone(),
                };
                let is_item = matches!(from, Some((_, Step::Item)));
                hops.push(Hop { name, declared, actual: declared.map(|it| it.type_id), is_item });
            }
            (Pair::Content(_), _, None) => {}
        }
    }
    hops
}

//! Pairs of declarations, one of each contract, and the walk over all pairs that a message reaches.
//!
//! What differs in a pair itself is found once, however many messages reach it, and so is which
//! pairs its content leads to. Recursive types lead back to pairs that are known already: there the
//! walk ends. It is breadth first, so a difference is shown at the shortest path to it.

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

    /// Finds the differences in an element and in everything in it.
    pub(super) fn walk(&mut self, name: &QName, root: [Declared; 2]) -> Walked {
        let root = Pair::Declared(root);
        let (mut visits, mut seen) = (vec![Visit { pair: root, from: None }], HashSet::from([root]));
        let (mut walked, mut at) = (Walked::default(), 0);
        while at < visits.len() {
            let local = self.local(visits[at].pair);
            for found in &local.found {
                let trail = trail(&visits, at, name);
                walked.all.push(Seen { pair: visits[at].pair, found: found.clone(), trail });
            }
            for (step, pair) in &local.edges {
                if visits.len() >= MAX_VISITS {
                    walked.is_cut = true;
                } else if seen.insert(*pair) {
                    visits.push(Visit { pair: *pair, from: Some((at, step.clone())) });
                }
            }
            at += 1;
        }
        walked
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

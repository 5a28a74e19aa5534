//! Differences of two contracts: what changed, whom it breaks, and a message that proves it.
//!
//! An existing *client* sends requests of the old contract and receives responses of the new one.
//! An existing *server* receives requests of clients that were made from the new contract, and
//! answers by the old one. Either breaks if a message that one contract allows is refused by the
//! other. So for every message of every operation there are two questions: is all that the old
//! contract allows allowed by the new one, and vice versa?
//!
//! The answer is found by a walk over pairs of declarations (`pairs`): what they say about
//! elements (`declared`), children (`content`, `language`), attributes (`attributes`) and
//! texts (`simple`). A difference counts as breaking only with a [`Witness`] that the validator
//! of this crate accepts for one contract and refuses for the other (`witness`). Without one,
//! whether the difference matters is unknown.
//!
//! Names that messages do not show do not count: those of types (unless `xsi:type` names them),
//! messages, port types, bindings and prefixes. Types named by `xsi:type` are compared where the
//! declared type is a complex type that others are derived from. Global elements and attributes in
//! place of a wildcard, and types in place of `xsd:anyType`, are compared if no message of the same
//! sender reaches them otherwise. What is in undeclared elements is not compared, nor are names that
//! one contract alone declares where the other allows anything by that name.

mod attributes;
mod content;
mod declared;
mod language;
mod messages;
mod pairs;
mod services;
mod simple;
mod witness;
mod wording;

use crate::{Contract, Operation};
use deltasoap_core::QName;
use messages::Shape;
pub(crate) use messages::{kinds, shape, written};
use pairs::{Declared, Inclusion, Pair, Reached, Seen, Subject};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fmt;
use witness::Exchange;

/// Maximum number of changes; there is a note if there are more.
const MAX_CHANGES: usize = 2_000;
/// Maximum number of places that are listed for one change, in addition to the first.
const MAX_PLACES: usize = 100;
/// Maximum number of places where a proof of one change is tried.
const MAX_PROOFS: usize = 4;

/// The changes between two contracts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diff {
    /// The changes, in the order of the operations.
    pub changes: Vec<Change>,
    /// True if there are more changes than are listed, or a message has more parts than are
    /// compared.
    pub is_cut: bool,
}

/// A change, and whom it breaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Where it is.
    pub place: Place,
    /// Other places with the same change, at most 100: messages that contain the same type.
    pub others: Vec<Place>,
    /// What changed, in a few words: `optional → required`.
    pub what: String,
    /// Whether it breaks clients of the old contract.
    pub clients: Verdict,
    /// Whether it breaks servers of the old contract.
    pub servers: Verdict,
}

/// A place in a contract.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The operation: its name, with service and port if several operations have it. The name of
    /// the port for a change of the port itself.
    pub operation: String,
    /// The message; `None` for a change of the operation or the port itself.
    pub message: Option<MessageKind>,
    /// The path to the element or attribute: `Order/item/@id`; empty for the message as a whole.
    pub path: String,
}

/// One of the messages of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MessageKind {
    /// The request.
    Request,
    /// The response.
    Response,
    /// A fault, by its name.
    Fault(String),
    /// A header block of the request.
    RequestHeader(QName),
    /// A header block of the response.
    ResponseHeader(QName),
}

impl fmt::Display for MessageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MessageKind::Request => f.write_str("request"),
            MessageKind::Response => f.write_str("response"),
            MessageKind::Fault(name) => write!(f, "fault {name}"),
            MessageKind::RequestHeader(_) => f.write_str("request header"),
            MessageKind::ResponseHeader(_) => f.write_str("response header"),
        }
    }
}

impl fmt::Display for Place {
    /// Writes `Order request Order/item/@id`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.operation)?;
        if let Some(message) = &self.message {
            write!(f, " {message}")?;
        }
        if self.path.is_empty() { Ok(()) } else { write!(f, " {}", self.path) }
    }
}

/// What a change means for clients or for servers.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Nothing breaks.
    Safe,
    /// It is not known whether something breaks: the reason.
    Unknown(String),
    /// Something breaks, as the message shows.
    Breaking(Box<Witness>),
}

impl Verdict {
    /// Returns true for [`Breaking`](Self::Breaking).
    pub fn is_breaking(&self) -> bool {
        matches!(self, Verdict::Breaking(_))
    }

    /// Returns true for [`Unknown`](Self::Unknown).
    pub fn is_unknown(&self) -> bool {
        matches!(self, Verdict::Unknown(_))
    }

    /// Returns the message that shows what breaks.
    pub fn witness(&self) -> Option<&Witness> {
        match self {
            Verdict::Breaking(witness) => Some(witness),
            _ => None,
        }
    }
}

impl fmt::Display for Verdict {
    /// Writes `safe`, `unknown` or `breaking`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Safe => "safe",
            Verdict::Unknown(_) => "unknown",
            Verdict::Breaking(_) => "breaking",
        })
    }
}

/// One of the two contracts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The old one.
    Old,
    /// The new one.
    New,
}

impl Side {
    /// Returns the other side.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Side::Old => Side::New,
            Side::New => Side::Old,
        }
    }
}

impl fmt::Display for Side {
    /// Writes `old` or `new`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Side::Old => "old",
            Side::New => "new",
        })
    }
}

/// A message that one contract allows and the other one refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The message: an envelope, or an HTTP request if the difference is in its header fields.
    pub message: String,
    /// The contract that allows it.
    pub valid_for: Side,
    /// Why the other one refuses it: a path and a finding of [`Contract::validate`].
    pub refusal: String,
}

impl Witness {
    /// Returns true for an HTTP request, false for an envelope.
    pub fn is_http(&self) -> bool {
        self.message.starts_with("POST ")
    }
}

impl Contract {
    /// Compares the contract with a newer one.
    ///
    /// ```
    /// # use deltasoap_dynamic::Contract;
    /// # const WSDL: &str = include_str!("../../tests/data/shop.wsdl");
    /// let old = Contract::from_text(WSDL)?;
    /// let new = Contract::from_text(&WSDL.replace("<xs:maxInclusive value=\"1000\"/>", ""))?;
    /// let diff = old.diff(&new);
    /// let change = &diff.changes[0];
    /// assert_eq!(change.place.to_string(), "Order request Order/item/count");
    /// // Old clients send no count that the new service refuses; old servers may receive one.
    /// assert!(!change.clients.is_breaking());
    /// let witness = change.servers.witness().expect("a message");
    /// assert!(new.validate(witness.message.as_bytes()).is_empty());
    /// assert!(!old.validate(witness.message.as_bytes()).is_empty());
    /// # Ok::<(), deltasoap_wsdl::Error>(())
    /// ```
    pub fn diff(&self, new: &Contract) -> Diff {
        let mut comparison = Comparison {
            contracts: [self, new],
            inclusions: [Inclusion::new(&self.types, &new.types), Inclusion::new(&new.types, &self.types)],
            ambiguous: [self, new].into_iter().flat_map(ambiguous).collect(),
            diff: Diff::default(),
            known: HashMap::new(),
            compared: HashSet::new(),
            open: Vec::new(),
            reached: HashMap::new(),
        };
        comparison.ports();
        comparison.opened();
        comparison.diff
    }
}

/// Returns the names that several operations have, of different port types.
fn ambiguous(contract: &Contract) -> Vec<String> {
    let mut known: HashMap<String, (usize, usize)> = HashMap::new();
    let mut found = Vec::new();
    for operation in contract.operations() {
        match known.entry(operation.distinct_name()) {
            Entry::Occupied(other) if *other.get() != operation.declared() => found.push(operation.distinct_name()),
            Entry::Occupied(_) => {}
            Entry::Vacant(place) => _ = place.insert(operation.declared()),
        }
    }
    found
}

/// The comparison of two contracts.
struct Comparison<'c> {
    /// The old and the new one.
    contracts: [&'c Contract; 2],
    /// From old to new, and from new to old.
    inclusions: [Inclusion<'c>; 2],
    /// Names of operations that need those of their ports.
    ambiguous: HashSet<String>,
    diff: Diff,
    /// The numbers of the changes that were found, each with how often a proof was tried.
    known: HashMap<Key, (usize, usize)>,
    /// Messages that were compared: most ports have the same ones.
    compared: HashSet<(String, MessageKind, [Shape; 2])>,
    /// Elements of messages in which wildcards or `xsd:anyType` allow more.
    open: Vec<OpenElement>,
    /// What the messages of each sender have led to, from old to new and from new to old.
    reached: HashMap<Sender, [Reached; 2]>,
}

/// An element of a message in which a wildcard or `xsd:anyType` allows more.
struct OpenElement {
    operations: [Operation; 2],
    kind: MessageKind,
    /// The numbers of the element, its name and its declarations.
    roots: [usize; 2],
    name: QName,
    pair: [Declared; 2],
    /// The pairs from which more is reached, from old to new and from new to old.
    sources: [Vec<Pair>; 2],
}

/// Identifies a change, wherever it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    /// In the declarations of a message that clients or servers send.
    Declared(Sender, Pair, Subject),
    /// Of an operation, a port or a message as a whole.
    Whole(Place, String),
}

/// What is different, and what it is about. The pair is that of the old and the new contract.
type Topic = (Pair, Subject);

/// Who sends a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Sender {
    Client,
    Server,
}

/// Whether messages of one contract are refused by the other one.
type Outcome = Option<Result<Witness, String>>;

fn verdict(outcome: Outcome) -> Verdict {
    match outcome {
        None => Verdict::Safe,
        Some(Ok(witness)) => Verdict::Breaking(Box::new(witness)),
        Some(Err(reason)) => Verdict::Unknown(reason),
    }
}

/// Returns the verdicts for clients and servers. What an old client sends has to be valid by the
/// new contract, and what an old server receives is valid by the new one.
fn verdicts(sender: Sender, [forward, backward]: [Outcome; 2]) -> [Verdict; 2] {
    match sender {
        Sender::Client => [verdict(forward), verdict(backward)],
        Sender::Server => [verdict(backward), verdict(forward)],
    }
}

/// An operation of the old contract and the one of the new contract that takes its place.
type Operations<'o> = [&'o Operation; 2];

impl Comparison<'_> {
    /// Returns the name by which an operation is shown.
    fn label(&self, operation: &Operation) -> String {
        match operation.distinct_name() {
            name if self.ambiguous.contains(&name) => operation.full_name(),
            name => name,
        }
    }

    fn place(&self, operation: &Operation, message: Option<&MessageKind>) -> Place {
        Place { operation: self.label(operation), message: message.cloned(), path: String::new() }
    }

    /// Records a change of an operation, a port or a message as a whole.
    fn whole(&mut self, place: Place, what: impl Into<String>, verdicts: impl FnOnce() -> [Verdict; 2]) {
        let what = what.into();
        let key = Key::Whole(place.clone(), what.clone());
        if self.known.contains_key(&key) {
            return;
        }
        let [clients, servers] = verdicts();
        self.add(key, Change { place, others: Vec::new(), what, clients, servers });
    }

    fn add(&mut self, key: Key, change: Change) {
        if self.diff.changes.len() >= MAX_CHANGES {
            self.diff.is_cut = true;
            return;
        }
        self.known.insert(key, (self.diff.changes.len(), 1));
        self.diff.changes.push(change);
    }

    /// Compares all messages of two operations.
    fn messages(&mut self, operations: Operations<'_>) {
        let [old, new] = operations.map(kinds);
        for kind in &old {
            match new.contains(kind) {
                true => self.message(operations, kind),
                false => self.lost(operations, kind, Side::Old),
            }
        }
        for kind in new.iter().filter(|kind| !old.contains(kind)) {
            self.lost(operations, kind, Side::New);
        }
    }

    /// Compares one message of two operations.
    fn message(&mut self, operations: Operations<'_>, kind: &MessageKind) {
        let label = self.label(operations[0]);
        let [Some(old), Some(new)] = operations.map(|it| shape(it, kind)) else { return };
        if !self.compared.insert((label, kind.clone(), [old.clone(), new.clone()])) {
            return;
        }
        let whole = |this: &mut Self, what: String| {
            let place = this.place(operations[0], Some(kind));
            let outcomes = || both(operations, this.contracts, kind).map(|it| Some(it.prove_whole()));
            let verdicts = verdicts(sender(operations[0], kind), outcomes());
            this.whole(place, what, || verdicts);
        };
        match services::frame_change(&old, &new) {
            Some((what, true)) => return whole(self, what),
            Some((what, false)) => whole(self, what),
            None => {}
        }
        for change in services::part_changes(&old, &new) {
            whole(self, change);
        }
        for (index, (name, declared)) in old.roots.iter().enumerate() {
            let Some(other) = new.roots.iter().position(|(other, _)| other == name) else { continue };
            let pair = [*declared, new.roots[other].1];
            let [ahead, back] = self.reached.entry(sender(operations[0], kind)).or_default();
            let forward = self.inclusions[0].walk(name, pair, ahead);
            let backward = self.inclusions[1].walk(name, [pair[1], pair[0]], back);
            self.diff.is_cut |= forward.is_cut || backward.is_cut;
            let sources = [forward.sources, backward.sources];
            if sources.iter().any(|sources| !sources.is_empty()) {
                let (operations, kind, name) = (operations.map(Operation::clone), kind.clone(), name.clone());
                self.open.push(OpenElement { operations, kind, roots: [index, other], name, pair, sources });
            }
            self.differences(operations, kind, [index, other], [forward.all, backward.all]);
        }
    }

    /// Compares what only wildcards and `xsd:anyType` allow in messages.
    fn opened(&mut self) {
        for OpenElement { operations, kind, roots, name, pair, sources } in std::mem::take(&mut self.open) {
            let [ahead, back] = self.reached.entry(sender(&operations[0], &kind)).or_default();
            if ahead.has_followed(&sources[0]) && back.has_followed(&sources[1]) {
                continue;
            }
            let forward = self.inclusions[0].walk_open(&name, pair, ahead);
            let backward = self.inclusions[1].walk_open(&name, [pair[1], pair[0]], back);
            self.diff.is_cut |= forward.is_cut || backward.is_cut;
            self.differences(operations.each_ref(), &kind, roots, [forward.all, backward.all]);
        }
    }

    /// Records the differences of one element of a message. `roots` are its numbers.
    fn differences(
        &mut self,
        operations: Operations<'_>,
        kind: &MessageKind,
        roots: [usize; 2],
        [forward, backward]: [Vec<Seen>; 2],
    ) {
        let mut merged: Vec<(Topic, [Option<Seen>; 2])> = Vec::new();
        let mut numbers: HashMap<(Topic, Option<String>), usize> = HashMap::new();
        let forward = forward.into_iter().map(|seen| (seen.pair, 0, seen));
        let backward = backward.into_iter().map(|seen| (seen.pair.swapped(), 1, seen));
        for (pair, direction, seen) in forward.chain(backward) {
            let topic = (pair, seen.found.subject.clone());
            // Elements of a built-in type have nothing in common but this type.
            let place = pair.is_builtin().then(|| path(&seen, &topic.1));
            let number = *numbers.entry((topic.clone(), place)).or_insert_with(|| {
                merged.push((topic, [None, None]));
                merged.len() - 1
            });
            merged[number].1[direction].get_or_insert(seen);
        }
        for (topic, seen) in merged {
            self.difference(operations, kind, roots, topic, seen);
        }
    }

    fn difference(
        &mut self,
        operations: Operations<'_>,
        kind: &MessageKind,
        roots: [usize; 2],
        (pair, subject): Topic,
        seen: [Option<Seen>; 2],
    ) {
        let sender = sender(operations[0], kind);
        let path = seen.iter().flatten().next().map(|seen| path(seen, &subject)).unwrap_or_default();
        let place = Place { path, ..self.place(operations[0], Some(kind)) };
        let key = Key::Declared(sender, pair, subject.clone());
        let exchanges = both(operations, self.contracts, kind);
        let prove = || {
            verdicts(
                sender,
                [0, 1].map(|side| {
                    let Seen { found, trail, .. } = seen[side].as_ref()?;
                    let deviation = found.deviation.as_ref().map_err(Clone::clone);
                    Some(deviation.and_then(|deviation| exchanges[side].prove(roots[side], trail, deviation)))
                }),
            )
        };
        let Some((number, tries)) = self.known.get(&key).copied() else {
            let types = self.contracts.map(|contract| &*contract.types);
            let what = wording::what(types, pair, &subject);
            let [clients, servers] = prove();
            return self.add(key, Change { place, others: Vec::new(), what, clients, servers });
        };
        let change = &mut self.diff.changes[number];
        if (change.clients.is_unknown() || change.servers.is_unknown()) && tries < MAX_PROOFS {
            let [clients, servers] = prove();
            for (known, now) in [(&mut change.clients, clients), (&mut change.servers, servers)] {
                if known.is_unknown() && now.is_breaking() {
                    *known = now;
                }
            }
            self.known.insert(key, (number, tries + 1));
        }
        if change.place != place && !change.others.contains(&place) && change.others.len() < MAX_PLACES {
            change.others.push(place);
        }
    }
}

/// Returns the exchanges in both directions: messages of the old contract, and of the new one.
fn both<'e>(operations: Operations<'e>, contracts: [&'e Contract; 2], kind: &'e MessageKind) -> [Exchange<'e>; 2] {
    let [old, new] = operations;
    [
        Exchange { sub: old, sup: contracts[1], kind, side: Side::Old },
        Exchange { sub: new, sup: contracts[0], kind, side: Side::New },
    ]
}

/// Returns who sends a message. If the service starts the exchange, the service sends the request.
fn sender(operation: &Operation, kind: &MessageKind) -> Sender {
    let is_first = matches!(kind, MessageKind::Request | MessageKind::RequestHeader(_));
    match is_first != operation.declaration().is_solicited {
        true => Sender::Client,
        false => Sender::Server,
    }
}

/// Returns the path to a difference.
fn path(seen: &Seen, subject: &Subject) -> String {
    let hops = seen.trail.iter().map(|hop| hop.name.local.to_string());
    hops.chain(wording::step(subject)).collect::<Vec<_>>().join("/")
}

//! Cases: the requests that an operation is tested with, in an order that a seed determines.
//!
//! First every element of typical requests is looked at: what its type and its content model allow
//! at most and at least, and what they just do not allow. Each of these *proposals* changes one
//! thing. They are sorted by kind, shuffled within each kind, and taken from the kinds in turn, so
//! that the first hundred cases show a little of everything. What remains of the number of cases is
//! random. A proposal becomes a case only if the validator agrees with it.

use super::chance::Chance;
use super::draft::{Damage, Draft};
use super::edits::{Edit, UNKNOWN};
use super::form::Form;
use super::kinds::{Aspect, Breach, Kind};
use super::spots::{Key, Spot, model, spots, text_type};
use super::texts::texts;
use super::words::{Part, words};
use crate::Operation;
use crate::contract::Types;
use crate::diff::{MessageKind, kinds, shape, written};
use crate::sample::Sampler;
use deltasoap_core::schema::Use;
use deltasoap_core::soap::{Envelope, Version};
use deltasoap_core::{Node, QName, ns};
use deltasoap_wsdl::xsd::{TypeDefinition, TypeId};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;

/// Maximum number of typical requests whose elements are varied: one shows each branch of a choice.
const MAX_BASES: usize = 40;
/// Maximum number of proposals.
const MAX_PROPOSALS: usize = 20_000;
/// Number of levels of a recursive type.
const DEEP: usize = 20;
/// Maximum number of derived types that are tried for one element.
const MAX_DERIVED: usize = 20;
/// Number of random requests in a row that are not new before there are no more cases.
const MAX_STALE: usize = 20;
/// Maximum number of values of a random request that are at an edge.
const MAX_CHANGES: usize = 3;

/// A request, and what it shows.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its number among the cases of the operation, from 1 on. With the seed, it gives the request.
    pub number: u32,
    /// What it shows.
    pub kind: Kind,
    /// The same in words: `Order/item/count: 1001, next to the bound 1000`.
    pub what: String,
    /// The request.
    pub draft: Draft,
    /// The reasons why an invalid request is not valid, from the validator.
    pub refusals: Vec<String>,
}

/// Settings of the generation of cases.
#[derive(Debug, Clone, Copy, Default)]
pub struct Generation {
    /// The seed: the same one gives the same cases.
    pub seed: u64,
    /// Includes other encodings than UTF-8, which services need not support.
    pub encodings: bool,
}

/// The cases of an operation.
#[derive(Debug)]
pub struct Cases {
    operation: Operation,
    bases: Vec<Draft>,
    ready: VecDeque<Proposal>,
    chance: Chance,
    seed: u64,
    seen: HashSet<Vec<u8>>,
    number: u32,
    randoms: u64,
    /// The valid texts of simple types.
    known: HashMap<TypeId, Arc<Vec<super::texts::Text>>>,
    /// The time after which there are no more cases.
    deadline: Option<Instant>,
}

/// One change of a typical request.
#[derive(Debug)]
struct Proposal {
    kind: Kind,
    what: String,
    /// The number of the request.
    base: usize,
    spot: Option<Arc<Spot>>,
    edit: Edit,
}

impl Operation {
    /// Returns the cases that the operation is tested with: first those at the edges of its schema,
    /// then random ones, without end unless there are no more different ones.
    pub fn cases(&self, generation: Generation) -> Cases {
        Cases::new(self, generation, None)
    }
}

impl Cases {
    /// Makes the cases of an operation, until the time is over.
    pub(super) fn new(operation: &Operation, generation: Generation, deadline: Option<Instant>) -> Self {
        let mut chance = Chance::new(generation.seed, &operation.full_name());
        let mut planner = Planner {
            operation,
            types: &operation.contract().types,
            bases: Vec::new(),
            keys: HashSet::new(),
            reached: HashSet::new(),
            found: Vec::new(),
            known: HashMap::new(),
            deadline,
        };
        planner.plan(generation);
        let Planner { bases, found, .. } = planner;
        let ready = in_turn(found, &mut chance);
        Cases {
            operation: operation.clone(),
            bases,
            ready,
            chance,
            seed: generation.seed,
            seen: HashSet::new(),
            number: 0,
            randoms: 0,
            known: HashMap::new(),
            deadline,
        }
    }

    /// Returns true if the time is over.
    pub(super) fn is_late(&self) -> bool {
        is_over(self.deadline)
    }

    /// Returns the number of cases so far.
    pub(super) fn made(&self) -> u32 {
        self.number
    }

    /// Returns the valid texts of a type. They take a while, and many random requests need them.
    fn valid_texts(&mut self, type_id: TypeId) -> Arc<Vec<super::texts::Text>> {
        let schemas = self.operation.contract().types.import.schemas();
        let made = || texts(schemas, type_id).into_iter().filter(|it| it.kind.is_valid()).collect::<Vec<_>>().into();
        Arc::clone(self.known.entry(type_id).or_insert_with(made))
    }

    /// Returns a typical request, which a service should answer; `None` if no valid one could be
    /// made.
    pub fn typical(&self) -> Option<&Draft> {
        self.bases.first()
    }

    /// Returns a random valid request, with what it shows.
    fn random(&mut self) -> Option<(Kind, String, Draft)> {
        self.randoms += 1;
        let operation = self.operation.clone();
        let types = &operation.contract().types;
        let number = self.seed.wrapping_mul(0x0001_0001).wrapping_add(self.randoms);
        let mut draft = base(&operation, &mut Sampler::new(types, Some(number)), Some(number))?;
        let found = spots(&operation, &draft);
        let mut changed = Vec::new();
        for _ in 0..self.chance.below(MAX_CHANGES + 1) {
            let Some(spot) = found.get(self.chance.below(found.len())) else { break };
            let Some(text_type) = text_type(types, spot.actual) else { continue };
            let all = self.valid_texts(text_type);
            if all.is_empty() {
                continue;
            }
            let text = &all[self.chance.below(all.len())];
            if let Some(other) = Edit::Text(text.text.clone()).apply(types, &draft, Some(spot)) {
                draft = other;
                changed.push(format!("{}: {}", spot.place, text.what));
            }
        }
        let what = if changed.is_empty() { "random content".to_owned() } else { changed.join("; ") };
        Some((Kind::Valid(Aspect::Random), what, draft))
    }

    fn proposed(&self, proposal: Proposal) -> Option<(Kind, String, Draft)> {
        let Proposal { kind, what, base, spot, edit } = proposal;
        let types = &self.operation.contract().types;
        Some((kind, what, edit.apply(types, self.bases.get(base)?, spot.as_deref())?))
    }

    /// Makes a case of a proposal, if the validator agrees that it is one and it is new.
    fn case(&mut self, (kind, what, draft): (Kind, String, Draft)) -> Option<Case> {
        let message = draft.write();
        let refusals = refusals(&self.operation, kind, &message)?;
        let mut key = message;
        key.push(draft.form as u8);
        if !self.seen.insert(key) {
            return None;
        }
        self.number += 1;
        Some(Case { number: self.number, kind, what, draft, refusals })
    }
}

impl Iterator for Cases {
    type Item = Case;

    fn next(&mut self) -> Option<Case> {
        while let Some(proposal) = self.ready.pop_front().filter(|_| !self.is_late()) {
            let case = self.proposed(proposal).and_then(|proposed| self.case(proposed));
            if case.is_some() {
                return case;
            }
        }
        if self.bases.is_empty() {
            return None;
        }
        for _ in 0..MAX_STALE {
            if self.is_late() {
                return None;
            }
            let case = self.random().and_then(|random| self.case(random));
            if case.is_some() {
                return case;
            }
        }
        None
    }
}

fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() > deadline)
}

/// Returns why a message is invalid, if it is what its kind says; `None` if it is not.
pub(super) fn refusals(operation: &Operation, kind: Kind, message: &[u8]) -> Option<Vec<String>> {
    let findings = operation.contract().validate(message);
    let found: Vec<String> = findings.iter().map(|it| format!("{}: {}", it.path, it.message)).collect();
    match kind {
        Kind::Valid(_) => found.is_empty().then_some(found),
        // A schema does not say which header blocks a service understands.
        Kind::Invalid(Breach::MustUnderstand) => {
            found.is_empty().then(|| vec!["a header block that must be understood, and that nothing declares".into()])
        }
        Kind::Invalid(Breach::Malformed) if message.is_empty() => Some(vec!["the message is empty".into()]),
        Kind::Invalid(_) => (!found.is_empty()).then_some(found),
    }
}

/// Takes proposals from their kinds in turn, in a random order within each kind. Typical requests
/// come first.
fn in_turn(found: Vec<Proposal>, chance: &mut Chance) -> VecDeque<Proposal> {
    let mut kinds: BTreeMap<Kind, Vec<Proposal>> = BTreeMap::new();
    let mut ready = VecDeque::new();
    for proposal in found {
        match proposal.kind {
            Kind::Valid(Aspect::Typical) => ready.push_back(proposal),
            kind => kinds.entry(kind).or_default().push(proposal),
        }
    }
    let mut queues: Vec<VecDeque<Proposal>> = Vec::new();
    for (_, mut proposals) in kinds {
        chance.shuffle(&mut proposals);
        queues.push(proposals.into());
    }
    while !queues.is_empty() {
        ready.extend(queues.iter_mut().filter_map(VecDeque::pop_front));
        queues.retain(|queue| !queue.is_empty());
    }
    ready
}

/// Returns a request by a sampler; with a seed, requests in SOAP encoding are random too.
fn base(operation: &Operation, sampler: &mut Sampler<'_>, seed: Option<u64>) -> Option<Draft> {
    let is_encoded = shape(operation, &MessageKind::Request)?.is_encoded;
    let message = match is_encoded {
        false => written(operation, &MessageKind::Request, sampler, None)?,
        true => {
            let (name, content) = operation.request()?;
            let value = match seed {
                Some(seed) => operation.random_request(seed)?,
                None => operation.request_sample()?,
            };
            let envelope = Envelope::element(name, &value, operation.view(content));
            envelope.version(operation.version()).encoding(Use::Encoded).to_vec().ok()?
        }
    };
    let mut draft = Draft::parse(&message)?;
    for kind in kinds(operation) {
        let MessageKind::RequestHeader(_) = &kind else { continue };
        if let Some((name, declared)) = shape(operation, &kind).and_then(|shape| shape.roots.into_iter().next()) {
            draft.add_block(sampler.part(&name, declared.type_id, declared.element));
        }
    }
    Some(draft)
}

struct Planner<'t> {
    operation: &'t Operation,
    types: &'t Types,
    bases: Vec<Draft>,
    /// What has been varied.
    keys: HashSet<Key>,
    /// What occurs in the typical requests.
    reached: HashSet<Key>,
    found: Vec<Proposal>,
    /// The texts of simple types.
    known: HashMap<TypeId, Arc<Vec<super::texts::Text>>>,
    deadline: Option<Instant>,
}

impl<'t> Planner<'t> {
    fn plan(&mut self, generation: Generation) {
        let types = self.types;
        self.add_base(Sampler::new(types, None), None, "every element once");
        self.add_base(Sampler::least(types), None, "only what is required");
        // Some schemas have valid requests that only chance finds.
        for seed in 1..50 {
            if self.bases.is_empty() {
                self.add_base(Sampler::new(types, Some(seed)), Some(seed), "random content");
            }
        }
        if self.bases.is_empty() {
            return;
        }
        let mut at = 0;
        while at < self.bases.len() {
            for spot in spots(self.operation, &self.bases[at]) {
                if is_over(self.deadline) {
                    return;
                }
                if self.keys.insert(spot.key()) {
                    self.at_spot(at, &Arc::new(spot));
                }
            }
            at += 1;
        }
        self.of_envelope(generation);
    }

    /// Adds a typical request, if it is valid and new.
    fn add_base(&mut self, mut sampler: Sampler<'_>, seed: Option<u64>, what: &str) {
        let draft = base(self.operation, &mut sampler, seed);
        let Some(draft) = draft.filter(|draft| !self.bases.contains(draft) && self.is_valid(draft)) else { return };
        self.reached.extend(spots(self.operation, &draft).iter().map(Spot::key));
        self.bases.push(draft);
        self.propose(Kind::Valid(Aspect::Typical), what.to_owned(), self.bases.len() - 1, None, Edit::Nothing);
    }

    fn is_valid(&self, draft: &Draft) -> bool {
        self.operation.contract().validate(&draft.write()).is_empty()
    }

    fn propose(&mut self, kind: Kind, what: String, base: usize, spot: Option<&Arc<Spot>>, edit: Edit) {
        if self.found.len() >= MAX_PROPOSALS {
            return;
        }
        if kind.is_valid() && matches!(edit, Edit::Children(_) | Edit::As(_)) {
            self.reach(base, spot, &edit);
        }
        let what = match spot {
            Some(spot) => format!("{}: {what}", spot.place),
            None => what,
        };
        self.found.push(Proposal { kind, what, base, spot: spot.cloned(), edit });
    }

    /// Makes a changed request a typical one if it has elements that none had so far: they are then
    /// varied in turn.
    fn reach(&mut self, base: usize, spot: Option<&Arc<Spot>>, edit: &Edit) {
        if self.bases.len() >= MAX_BASES {
            return;
        }
        let Some(changed) = edit.apply(self.types, &self.bases[base], spot.map(|it| &**it)) else { return };
        let keys: Vec<Key> = spots(self.operation, &changed).iter().map(Spot::key).collect();
        if keys.iter().any(|key| !self.reached.contains(key)) && self.is_valid(&changed) {
            self.reached.extend(keys);
            self.bases.push(changed);
        }
    }

    fn at_spot(&mut self, base: usize, spot: &Arc<Spot>) {
        if let Some(type_id) = text_type(self.types, spot.actual) {
            for text in self.texts(type_id).iter() {
                self.propose(text.kind, text.what.clone(), base, Some(spot), Edit::Text(text.text.clone()));
            }
        }
        self.children(base, spot);
        self.attributes(base, spot);
        self.nil(base, spot);
        self.types(base, spot);
        self.names(base, spot);
    }

    fn texts(&mut self, type_id: TypeId) -> Arc<Vec<super::texts::Text>> {
        let schemas = self.types.import.schemas();
        Arc::clone(self.known.entry(type_id).or_insert_with(|| texts(schemas, type_id).into()))
    }

    fn children(&mut self, base: usize, spot: &Arc<Spot>) {
        let types = self.types;
        let Some(model) = model(types, spot.actual) else { return };
        for word in words(types, model) {
            self.recursion(base, spot, &word.parts);
            self.propose(word.kind, word.what, base, Some(spot), Edit::Children(word.parts));
        }
        let unknown = Kind::Invalid(Breach::Unknown);
        let stranger = Node::with_text(QName::new(UNKNOWN, "unknown"), "text");
        for is_first in [true, false] {
            let what = format!("an unknown element, {}", if is_first { "first" } else { "last" });
            self.propose(unknown, what, base, Some(spot), Edit::Insert(stranger.clone(), is_first));
        }
        let own = Node::with_text(QName::owned(&*spot.name.namespace, "unknown"), "text");
        self.propose(unknown, "an unknown element of its namespace".into(), base, Some(spot), Edit::Insert(own, false));
        self.propose(unknown, "text between elements".into(), base, Some(spot), Edit::StrayText);
    }

    /// Proposes a deep request if a type contains itself.
    fn recursion(&mut self, base: usize, spot: &Arc<Spot>, parts: &[Part]) {
        let schemas = self.types.import.schemas();
        for part in parts {
            let Part::Element(id) = part else { continue };
            let type_id = schemas[*id].type_id;
            if type_id == spot.actual && model(self.types, type_id).is_some() {
                let what = format!("{DEEP} levels of <{}>", schemas[*id].name.local);
                return self.propose(Kind::Valid(Aspect::Recursion), what, base, Some(spot), Edit::Nested(*id, DEEP));
            }
        }
    }

    fn attributes(&mut self, base: usize, spot: &Arc<Spot>) {
        let schemas = self.types.import.schemas();
        let Some(normal) = schemas.content(spot.actual).filter(|normal| normal.array.is_none()) else { return };
        if spot.actual == TypeId::ANY {
            return;
        }
        for it in &normal.attributes {
            let declared = &schemas[it.attribute];
            let name = &declared.name;
            let without =
                if it.is_required { Kind::Invalid(Breach::MissingAttribute) } else { Kind::Valid(Aspect::Attribute) };
            let what = format!("no attribute {}", name.local);
            self.propose(without, what, base, Some(spot), Edit::Attribute(name.clone(), None));
            if it.fixed.is_some() || declared.fixed.is_some() {
                continue;
            }
            for text in self.texts(declared.type_id).iter() {
                // Attributes have no line ends of their own (XML 1.0, section 3.3.3).
                let kind = if text.kind.is_valid() { Kind::Valid(Aspect::Attribute) } else { text.kind };
                let what = format!("attribute {}: {}", name.local, text.what);
                self.propose(kind, what, base, Some(spot), Edit::Attribute(name.clone(), Some(text.text.clone())));
            }
        }
        let unknown = Edit::Attribute(QName::new("", "unknown"), Some("1".into()));
        let kind = Kind::Invalid(Breach::UnknownAttribute);
        self.propose(kind, "an unknown attribute".into(), base, Some(spot), unknown);
    }

    fn nil(&mut self, base: usize, spot: &Arc<Spot>) {
        let Some(element) = spot.element.map(|id| &self.types.import.schemas()[id]) else { return };
        if element.is_nillable {
            let edit = Edit::Nil { is_whole: false };
            self.propose(Kind::Valid(Aspect::Nil), "nil".into(), base, Some(spot), edit);
            let edit = Edit::Nil { is_whole: true };
            self.propose(Kind::Invalid(Breach::Nil), "nil, with content".into(), base, Some(spot), edit);
        } else {
            let edit = Edit::Nil { is_whole: false };
            self.propose(Kind::Invalid(Breach::Nil), "nil, which is not allowed".into(), base, Some(spot), edit);
        }
    }

    fn types(&mut self, base: usize, spot: &Arc<Spot>) {
        let schemas = self.types.import.schemas();
        let block = spot.element.map(|id| schemas[id].block).unwrap_or_default();
        if spot.declared == TypeId::ANY {
            return;
        }
        let mut ahead = VecDeque::from([spot.declared]);
        let mut tried = 0;
        while let Some(id) = ahead.pop_front().filter(|_| tried < MAX_DERIVED) {
            ahead.extend(schemas.derived(id));
            let is_abstract = matches!(&schemas[id].definition, TypeDefinition::Complex(it) if it.is_abstract);
            let is_usual = id == spot.actual;
            let (Some(name), false) = (&schemas[id].name, is_abstract || is_usual) else { continue };
            if self.types.can_stand_for(id, spot.declared, block) && self.types.finite().has(self.types, id) {
                tried += 1;
                let what = format!("the type {}", name.local);
                self.propose(Kind::Valid(Aspect::Derived), what, base, Some(spot), Edit::As(id));
            }
        }
        let kind = Kind::Invalid(Breach::XsiType);
        let unknown = QName::new(UNKNOWN, "Unknown");
        self.propose(kind, "a type that does not exist".into(), base, Some(spot), Edit::TypeName(unknown));
        let other =
            QName::new(ns::XSD, if text_type(self.types, spot.declared).is_some() { "NOTATION" } else { "date" });
        self.propose(kind, format!("the type xsd:{}", other.local), base, Some(spot), Edit::TypeName(other));
    }

    /// Proposes another namespace. The root of the body is that of another operation then.
    fn names(&mut self, base: usize, spot: &Arc<Spot>) {
        if spot.around.is_empty() {
            return;
        }
        let other = match spot.name.namespace.is_empty() {
            true => UNKNOWN,
            false => "",
        };
        let kind = Kind::Invalid(Breach::Namespace);
        let what = if other.is_empty() { "no namespace" } else { "another namespace" };
        let name = QName::owned(other, &*spot.name.local);
        self.propose(kind, what.into(), base, Some(spot), Edit::Rename(name));
    }

    /// Proposes what concerns the envelope and the message as a whole.
    fn of_envelope(&mut self, generation: Generation) {
        const NOT_SOAP: &str = "urn:example:not-soap";
        let rich = self.rich();
        let forms = Form::COMMON.into_iter().chain(generation.encodings.then_some(Form::Utf16));
        for form in forms {
            self.propose(Kind::Valid(Aspect::Form), form.to_string(), rich, None, Edit::Form(form));
        }
        let (other, number) = match self.operation.version() {
            Version::Soap11 => (ns::SOAP12, "1.2"),
            Version::Soap12 => (ns::SOAP11, "1.1"),
        };
        let stranger = Node::with_text(QName::new(UNKNOWN, "Unknown"), "text");
        let breaches = [
            (Breach::Version, format!("an envelope in the namespace {NOT_SOAP}"), Edit::Envelope(NOT_SOAP)),
            (Breach::OtherVersion, format!("an envelope of SOAP {number}"), Edit::Envelope(other)),
            (Breach::MustUnderstand, "an unknown header block with mustUnderstand".to_owned(), Edit::MustUnderstand),
            (Breach::Operation, "an unknown element in the body".to_owned(), Edit::Body(Some(stranger))),
            (Breach::EmptyBody, "an empty body".to_owned(), Edit::Body(None)),
        ];
        let damages = Damage::ALL.into_iter().map(|it| (Breach::Malformed, it.what().to_owned(), Edit::Damage(it)));
        for (breach, what, edit) in damages.chain(breaches) {
            self.propose(Kind::Invalid(breach), what, 0, None, edit);
        }
    }

    /// Returns the number of a typical request with a text in it that needs escapes, if there is a
    /// place for one.
    fn rich(&mut self) -> usize {
        const RICH: &str = "a < b & c ]]> é😀";
        let draft = &self.bases[0];
        for spot in spots(self.operation, draft).iter().filter(|it| text_type(self.types, it.actual).is_some()) {
            let changed = Edit::Text(RICH.to_owned()).apply(self.types, draft, Some(spot));
            if let Some(changed) = changed.filter(|changed| self.is_valid(changed)) {
                self.bases.push(changed);
                return self.bases.len() - 1;
            }
        }
        0
    }
}

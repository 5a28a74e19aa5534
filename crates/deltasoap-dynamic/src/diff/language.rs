//! Content models as languages: which sequences of children a model allows, and the shortest one
//! that it allows and another model does not.
//!
//! A model is read by derivatives (Brzozowski 1964, Antimirov 1996): a state is what is left of the
//! model, and each child leads to the states after it. Counters stay numbers, so `x{0,1000}` has a
//! thousand small states and is never written out. The states of the two models are walked
//! together, breadth first, so that the first sequence found is a shortest one.

use crate::contract::Types;
use crate::validate::can_be_empty;
use deltasoap_core::QName;
use deltasoap_wsdl::xsd::{ElementId, Particle, ProcessContents, Term, Wildcard};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Maximum number of steps that one search takes through the states of two models.
const MAX_STEPS: usize = 300_000;

/// A search took more than [`MAX_STEPS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge;

/// A child of an element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Symbol {
    /// An element that the model declares.
    Element(ElementId),
    /// An element of this name, which a wildcard allows.
    Any(QName, Processing),
}

/// [`ProcessContents`], from the most to the least permissive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Processing {
    Skip,
    Lax,
    Strict,
}

impl From<ProcessContents> for Processing {
    fn from(process: ProcessContents) -> Self {
        match process {
            ProcessContents::Skip => Processing::Skip,
            ProcessContents::Lax => Processing::Lax,
            ProcessContents::Strict => Processing::Strict,
        }
    }
}

/// The sequences of children that a content model allows.
pub(super) struct Language<'p> {
    types: &'p Types,
    /// `None` for a model that allows only nothing.
    model: Option<&'p Particle>,
    /// Names of elements that wildcards are tried with.
    samples: &'p [QName],
    /// What follows each state, by the state.
    next: HashMap<State<'p>, Rc<Steps<'p>>>,
}

type Steps<'p> = Vec<(Symbol, State<'p>)>;

/// What is left of a model; the next part comes last.
type State<'p> = Vec<Frame<'p>>;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Frame<'p> {
    /// Occurrences of a particle's term.
    Times(Same<'p, Particle>, u32, Option<u32>),
    /// The rest of a sequence.
    Rest(Same<'p, [Particle]>),
    /// The parts of an `all` that are left, by their indices.
    All(Same<'p, [Particle]>, Vec<u32>),
}

/// A reference that is compared by its address and its length.
#[derive(Debug)]
struct Same<'p, T: ?Sized>(&'p T);

impl<T: ?Sized> Clone for Same<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Same<'_, T> {}

impl<T: ?Sized> PartialEq for Same<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl<T: ?Sized> Eq for Same<'_, T> {}

impl<T: ?Sized> Hash for Same<'_, T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self.0, state);
    }
}

impl<'p> Language<'p> {
    pub(super) fn new(types: &'p Types, model: Option<&'p Particle>, samples: &'p [QName]) -> Self {
        Language { types, model, samples, next: HashMap::new() }
    }

    fn start(&self) -> State<'p> {
        self.model.map(times).into_iter().collect()
    }

    /// Returns the children that can come next, each with what is left after it.
    fn steps(&mut self, state: &State<'p>) -> Rc<Steps<'p>> {
        if let Some(known) = self.next.get(state) {
            return Rc::clone(known);
        }
        let mut leaves = Vec::new();
        add_leaves(state.clone(), 0, &mut leaves);
        let mut steps = Vec::with_capacity(leaves.len());
        for (term, after) in leaves {
            match term {
                Term::Element(id) => {
                    let finite =
                        self.types.members(*id).filter(|id| self.types.finite().allows_element(self.types, *id));
                    steps.extend(finite.map(|id| (Symbol::Element(id), after.clone())));
                }
                Term::Any(any) => {
                    let names = self.samples.iter().filter(|name| any.namespaces.allow(&name.namespace));
                    steps.extend(names.map(|name| (Symbol::Any(name.clone(), any.process.into()), after.clone())));
                }
                _ => {}
            }
        }
        let steps = Rc::new(steps);
        self.next.insert(state.clone(), Rc::clone(&steps));
        steps
    }

    fn name<'s>(&'s self, symbol: &'s Symbol) -> &'s QName {
        name_of(self.types, symbol)
    }

    /// Returns the states after a child with this name.
    fn after(&mut self, states: &BTreeSet<usize>, all: &mut States<'p>, name: &QName) -> BTreeSet<usize> {
        let mut after = BTreeSet::new();
        for &state in states {
            let steps = self.steps(&all.state(state));
            let fitting = steps.iter().filter(|(symbol, _)| self.name(symbol) == name);
            after.extend(fitting.map(|(_, next)| all.number(next)));
        }
        after
    }
}

/// Returns the name of a child.
pub(super) fn name_of<'s>(types: &'s Types, symbol: &'s Symbol) -> &'s QName {
    match symbol {
        Symbol::Element(id) => &types.import.schemas()[*id].name,
        Symbol::Any(name, _) => name,
    }
}

/// States by number.
#[derive(Default)]
struct States<'p> {
    numbers: HashMap<State<'p>, usize>,
    all: Vec<State<'p>>,
}

impl<'p> States<'p> {
    fn number(&mut self, state: &State<'p>) -> usize {
        if let Some(&known) = self.numbers.get(state) {
            return known;
        }
        self.numbers.insert(state.clone(), self.all.len());
        self.all.push(state.clone());
        self.all.len() - 1
    }

    fn state(&self, number: usize) -> State<'p> {
        self.all[number].clone()
    }
}

/// What a search has reached: children that the first model allows so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reached {
    /// True if the first model allows nothing more.
    pub(super) is_complete: bool,
    /// True if the other model allows these children, and nothing more.
    pub(super) is_allowed: bool,
    /// The number of tracked children, up to the limit.
    pub(super) count: u64,
}

/// The children that a search counts: their name, and the number at which counting ends.
pub(super) type Tracked<'n> = Option<(&'n QName, u64)>;

/// Names that a search treats in another way.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    /// Children with these names do not exist for the other model.
    pub(super) ignored: HashSet<QName>,
    /// Sequences with these children are passed over.
    pub(super) forbidden: HashSet<QName>,
}

/// Finds the shortest sequence of children that the first model allows so far and that reaches the
/// goal.
///
/// # Errors
/// If the search takes too many steps.
pub(super) fn shortest<'p>(
    sub: &mut Language<'p>,
    sup: &mut Language<'p>,
    names: &Names,
    tracked: Tracked<'_>,
    goal: impl Fn(Reached) -> bool,
) -> Result<Option<Vec<Symbol>>, TooLarge> {
    let (mut subs, mut sups) = (States::default(), States::default());
    let first = subs.number(&sub.start());
    let starts = BTreeSet::from([sups.number(&sup.start())]);
    let mut seen = HashSet::from([(first, starts.clone(), 0)]);
    let mut queue = vec![Place { state: first, states: starts, count: 0, from: None }];
    let (mut at, mut steps) = (0, 0);
    while at < queue.len() {
        let Place { state, states, count, .. } = queue[at].clone();
        let is_allowed = states.iter().any(|&number| is_complete(&sups.all[number]));
        if goal(Reached { is_complete: is_complete(&subs.all[state]), is_allowed, count }) {
            return Ok(Some(word(&queue, at)));
        }
        let next = sub.steps(&subs.state(state));
        let mut after_names: HashMap<&QName, BTreeSet<usize>> = HashMap::new();
        for (symbol, next) in next.iter() {
            steps += 1;
            if steps > MAX_STEPS {
                return Err(TooLarge);
            }
            let name = name_of(sub.types, symbol);
            if names.forbidden.contains(name) {
                continue;
            }
            let states = match names.ignored.contains(name) {
                true => states.clone(),
                false => after_names.entry(name).or_insert_with(|| sup.after(&states, &mut sups, name)).clone(),
            };
            let is_counted = tracked.is_some_and(|(tracked, _)| tracked == name);
            let count = if is_counted { (count + 1).min(tracked.map_or(0, |it| it.1)) } else { count };
            let state = subs.number(next);
            if seen.insert((state, states.clone(), count)) {
                queue.push(Place { state, states, count, from: Some((at, symbol.clone())) });
            }
        }
        at += 1;
    }
    Ok(None)
}

/// What a search has reached, and how.
#[derive(Debug, Clone)]
struct Place {
    /// The state of the first model, by number.
    state: usize,
    /// The states that the other model may be in; none if it does not allow the children.
    states: BTreeSet<usize>,
    count: u64,
    /// The number of the place before, and the child between the two.
    from: Option<(usize, Symbol)>,
}

/// Returns the children that lead to a place.
fn word(queue: &[Place], at: usize) -> Vec<Symbol> {
    let before = |(number, _): &&(usize, Symbol)| queue[*number].from.as_ref();
    let steps = std::iter::successors(queue[at].from.as_ref(), before);
    let mut word: Vec<_> = steps.map(|(_, symbol)| symbol.clone()).collect();
    word.reverse();
    word
}

/// Returns the whole particle as a frame. If its term can be empty, any number of occurrences can
/// be: that counter would only multiply states.
fn times(particle: &Particle) -> Frame<'_> {
    occurrences(particle, particle.min, particle.max)
}

fn occurrences(particle: &Particle, min: u32, max: Option<u32>) -> Frame<'_> {
    let min = if can_be_empty(&particle.term) { 0 } else { min };
    Frame::Times(Same(particle), min, max)
}

/// Adds the elements and wildcards that can come next, each with what is left after it. The lowest
/// `floor` frames belong to an outer part, and are left alone.
fn add_leaves<'p>(mut state: State<'p>, floor: usize, found: &mut Vec<(&'p Term, State<'p>)>) {
    while state.len() > floor {
        let Some(frame) = state.pop() else { return };
        let can_be_skipped = is_optional(&frame);
        match frame {
            Frame::Times(_, _, Some(0)) => {}
            Frame::Times(particle, min, max) => {
                let mut after = state.clone();
                let left = max.map(|max| max - 1);
                if left != Some(0) {
                    after.push(occurrences(particle.0, min.saturating_sub(1), left));
                }
                enter(&particle.0.term, after, found);
            }
            Frame::Rest(parts) => {
                let Some((first, rest)) = parts.0.split_first() else { continue };
                if !rest.is_empty() {
                    state.push(Frame::Rest(Same(rest)));
                }
                state.push(times(first));
                continue;
            }
            Frame::All(parts, left) => {
                for (index, &part) in left.iter().enumerate() {
                    let mut after = state.clone();
                    let others: Vec<u32> = [&left[..index], &left[index + 1..]].concat();
                    if !others.is_empty() {
                        after.push(Frame::All(parts, others));
                    }
                    let base = after.len();
                    after.push(times(&parts.0[part as usize]));
                    add_leaves(after, base, found);
                }
            }
        }
        if !can_be_skipped {
            return;
        }
    }
}

/// Adds the elements and wildcards that a term can begin with.
fn enter<'p>(term: &'p Term, mut after: State<'p>, found: &mut Vec<(&'p Term, State<'p>)>) {
    let floor = after.len();
    match term {
        Term::Element(_) | Term::Any(_) => found.push((term, after)),
        Term::Sequence(parts) => {
            after.push(Frame::Rest(Same(parts)));
            add_leaves(after, floor, found);
        }
        Term::Choice(parts) => {
            for part in parts {
                let mut after = after.clone();
                after.push(times(part));
                add_leaves(after, floor, found);
            }
        }
        Term::All(parts) => {
            after.push(Frame::All(Same(parts), (0..parts.len() as u32).collect()));
            add_leaves(after, floor, found);
        }
        Term::Group(_) => {}
    }
}

fn is_complete(state: &State<'_>) -> bool {
    state.iter().all(is_optional)
}

fn is_optional(frame: &Frame<'_>) -> bool {
    let can_be_absent = |part: &Particle| part.min == 0 || can_be_empty(&part.term);
    match frame {
        Frame::Times(particle, min, _) => *min == 0 || can_be_empty(&particle.0.term),
        Frame::Rest(parts) => parts.0.iter().all(can_be_absent),
        Frame::All(parts, left) => left.iter().all(|&part| can_be_absent(&parts.0[part as usize])),
    }
}

/// A minimum and a maximum number of children; `None` for no maximum.
pub(super) type Range = (u64, Option<u64>);

/// Returns how many children of this name a model allows. With `with_wildcards`, those that a
/// wildcard allows count too.
pub(super) fn range(types: &Types, model: &Particle, name: &QName, with_wildcards: bool) -> Range {
    let once = match &model.term {
        Term::Element(id) => {
            let mut members = types.members(*id);
            let has = types.members(*id).any(|id| types.import.schemas()[id].name == *name);
            let is_only = members.next().is_some() && members.next().is_none();
            (u64::from(has && is_only), Some(u64::from(has)))
        }
        Term::Any(any) => (0, Some(u64::from(with_wildcards && any.namespaces.allow(&name.namespace)))),
        Term::Sequence(parts) | Term::All(parts) => {
            let ranges = parts.iter().map(|part| range(types, part, name, with_wildcards));
            ranges.fold((0, Some(0)), |(min, max): Range, (least, most): Range| {
                (min.saturating_add(least), max.zip(most).map(|(max, most)| max.saturating_add(most)))
            })
        }
        Term::Choice(parts) => {
            let parts = parts.iter().filter(|part| part.max != Some(0));
            let ranges = parts.map(|part| range(types, part, name, with_wildcards));
            let either = |(min, max): Range, (least, most): Range| {
                (min.min(least), max.zip(most).map(|(max, most)| max.max(most)))
            };
            ranges.reduce(either).unwrap_or((0, Some(0)))
        }
        Term::Group(_) => (0, Some(0)),
    };
    let max = match (once.1, model.max) {
        (Some(0), _) | (_, Some(0)) => Some(0),
        (Some(most), Some(max)) => Some(most.saturating_mul(max.into())),
        _ => None,
    };
    (once.0.saturating_mul(model.min.into()), max)
}

/// Adds the elements that a model declares, by name: the first of each, members of substitution
/// groups included.
pub(super) fn add_elements(types: &Types, model: &Particle, into: &mut Vec<ElementId>, seen: &mut HashSet<QName>) {
    match &model.term {
        _ if model.max == Some(0) => {}
        Term::Element(id) => {
            let new = types.members(*id).filter(|id| seen.insert(types.import.schemas()[*id].name.clone()));
            into.extend(new.collect::<Vec<_>>());
        }
        Term::Sequence(parts) | Term::Choice(parts) | Term::All(parts) => {
            parts.iter().for_each(|part| add_elements(types, part, into, seen));
        }
        Term::Any(_) | Term::Group(_) => {}
    }
}

/// Adds the wildcards of a model.
pub(super) fn add_wildcards<'p>(model: &'p Particle, into: &mut Vec<&'p Wildcard>) {
    match &model.term {
        _ if model.max == Some(0) => {}
        Term::Any(any) => into.push(any),
        Term::Sequence(parts) | Term::Choice(parts) | Term::All(parts) => {
            parts.iter().for_each(|part| add_wildcards(part, into));
        }
        Term::Element(_) | Term::Group(_) => {}
    }
}

/// Returns a model without the elements of these names.
pub(super) fn without(types: &Types, model: &Particle, names: &HashSet<QName>) -> Particle {
    let parts = |parts: &[Particle]| parts.iter().map(|part| without(types, part, names)).collect();
    let term = match &model.term {
        Term::Element(id) if types.members(*id).all(|id| names.contains(&types.import.schemas()[id].name)) => {
            Term::Sequence(Vec::new())
        }
        Term::Sequence(inner) => Term::Sequence(parts(inner)),
        Term::Choice(inner) => Term::Choice(parts(inner)),
        Term::All(inner) => Term::All(parts(inner)),
        term => term.clone(),
    };
    Particle { term, ..*model }
}

/// Returns a model in which a number of occurrences above this one is no limit. Numbers are
/// compared by their [`range`]; what remains to be compared needs no message that is so long.
pub(super) fn bounded(model: &Particle, most: u32) -> Particle {
    let parts = |parts: &[Particle]| parts.iter().map(|part| bounded(part, most)).collect();
    let term = match &model.term {
        Term::Sequence(inner) => Term::Sequence(parts(inner)),
        Term::Choice(inner) => Term::Choice(parts(inner)),
        Term::All(inner) => Term::All(parts(inner)),
        term => term.clone(),
    };
    Particle { min: model.min.min(most), max: model.max.filter(|max| *max <= most), term }
}

/// Returns a model whose `all` is a sequence in the order of names. For two models that are both
/// one `all`, this changes nothing in what they allow of each other, and saves their permutations.
pub(super) fn in_order(types: &Types, model: &Particle) -> Option<Particle> {
    let Term::All(parts) = &model.term else { return None };
    let mut parts = parts.clone();
    parts.sort_by_key(|part| match &part.term {
        Term::Element(id) => Some(types.import.schemas()[*id].name.to_string()),
        _ => None,
    });
    Some(Particle { term: Term::Sequence(parts), ..*model })
}

/// Returns true if two models are written alike: then they allow the same children.
pub(super) fn are_alike(one: (&Types, &Particle), other: (&Types, &Particle)) -> bool {
    let ((types, model), (other_types, other_model)) = (one, other);
    let names = |types: &Types, id: ElementId| -> BTreeSet<String> {
        types.members(id).map(|id| types.import.schemas()[id].name.to_string()).collect()
    };
    let all = |parts: &[Particle], others: &[Particle]| {
        let mut pairs = parts.iter().zip(others);
        parts.len() == others.len() && pairs.all(|(one, other)| are_alike((types, one), (other_types, other)))
    };
    (model.min, model.max) == (other_model.min, other_model.max)
        && match (&model.term, &other_model.term) {
            (Term::Element(id), Term::Element(other)) => names(types, *id) == names(other_types, *other),
            (Term::Sequence(parts), Term::Sequence(others))
            | (Term::Choice(parts), Term::Choice(others))
            | (Term::All(parts), Term::All(others)) => all(parts, others),
            (Term::Any(any), Term::Any(other)) => any == other,
            _ => false,
        }
}

/// Returns a model as text, in the notation of DTDs.
pub(super) fn shown(types: &Types, model: &Particle) -> String {
    let joined = |parts: &[Particle], separator: &str| {
        let parts: Vec<_> = parts.iter().map(|part| shown(types, part)).collect();
        if parts.len() == 1 { parts.concat() } else { format!("({})", parts.join(separator)) }
    };
    let term = match &model.term {
        Term::Element(id) => types.import.schemas()[*id].name.local.to_string(),
        Term::Any(any) => match any.namespaces.label() {
            label if label.is_empty() => "any".to_owned(),
            label => format!("any {label}"),
        },
        Term::Sequence(parts) => joined(parts, ", "),
        Term::Choice(parts) => joined(parts, " | "),
        Term::All(parts) => joined(parts, " & "),
        Term::Group(_) => String::new(),
    };
    match (model.min, model.max) {
        (1, Some(1)) => term,
        (0, Some(1)) => format!("{term}?"),
        (0, None) => format!("{term}*"),
        (1, None) => format!("{term}+"),
        (min, None) => format!("{term}{{{min},}}"),
        (min, Some(max)) => format!("{term}{{{min},{max}}}"),
    }
}

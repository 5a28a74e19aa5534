//! The message after a sample: a copy with other values in some of its leaves.
//!
//! The share of a path determines how many of the leaves below it change: one random leaf in each
//! of as many sections of the document, and at least one if there are any. New values are as
//! typical as the old ones, so some have text of another length, as in real messages. The actual
//! changes are counted: the prediction is for exactly the message that is measured.

use super::fill::Sizes;
use crate::element_path::ElementPath;
use crate::usage::Changes;
use crate::workload::{Class, typical};
use deltasoap_core::content::Shortcuts;
use deltasoap_core::schema::{Builtin, Element, Field, OpenElement, SimpleElement, View};
use deltasoap_core::{QName, Record, Shared, Simple, Value};
use deltasoap_streams::prng::{SEED, SplitMix64};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of new values tried: those of small types are often equal to the old one.
const TRIES: usize = 16;

/// Returns a message's next value, and the changes by part. Each `number` gives another value.
pub(super) fn next_value(
    value: &Value,
    view: View<'_>,
    sizes: &Sizes,
    number: u64,
) -> (Value, BTreeMap<String, Changes>) {
    let mut random = SplitMix64::stream(SEED, number);
    let mut next = value.clone();
    let mut counter = Changer::new(sizes, BTreeMap::new(), random.clone());
    counter.content(&mut next, view);
    let places = counter.turns.iter().map(|(&path, turn)| {
        let share = sizes.changed.get(path).copied().unwrap_or_default();
        (path, places(turn.passed, share, &mut random))
    });
    let mut changer = Changer::new(sizes, places.collect(), random.clone());
    changer.content(&mut next, view);
    (next, changer.changes)
}

/// Returns `share` of the places, rounded up: one random place in each of as many sections of equal
/// length.
fn places(all: usize, share: f64, random: &mut SplitMix64) -> BTreeSet<usize> {
    // A share may be slightly above its decimal value, like all binary fractions.
    const LITTLE: f64 = 1e-9;
    let count = (all as f64 * share - LITTLE).ceil().clamp(0.0, all as f64) as usize;
    let mut one = |stretch: usize| {
        let (begin, end) = (stretch * all / count, (stretch + 1) * all / count);
        begin + random.below((end - begin) as u32) as usize
    };
    (0..count).map(&mut one).collect()
}

struct Changer<'s> {
    sizes: &'s Sizes,
    path: ElementPath,
    /// Progress by path of a share.
    turns: BTreeMap<&'s str, Turn>,
    /// Leaves that change, by path of a share.
    places: BTreeMap<&'s str, BTreeSet<usize>>,
    changes: BTreeMap<String, Changes>,
    /// True within the first item of a flat list.
    is_first: bool,
    random: SplitMix64,
}

/// Progress through the leaves of a share.
#[derive(Debug, Clone, Copy, Default)]
struct Turn {
    /// Number of leaves passed.
    passed: usize,
    /// Changes that are due but not made yet: some leaves have no other value.
    due: usize,
}

impl<'s> Changer<'s> {
    fn new(sizes: &'s Sizes, places: BTreeMap<&'s str, BTreeSet<usize>>, random: SplitMix64) -> Self {
        let (path, turns, changes) = Default::default();
        Changer { sizes, path, turns, places, changes, is_first: false, random }
    }

    fn content(&mut self, value: &mut Value, view: View<'_>) {
        match (value, view.element) {
            (Value::Simple(simple), Element::Simple(element)) => self.leaf(simple, element),
            (Value::Name(name), _) => self.name(name),
            (Value::Record(record), Element::Complex(_)) => self.record(record, view),
            (Value::List(items), Element::Array(array)) => {
                let item_view = view.follow(array.item);
                self.items(items, item_view, |changer, item| changer.content(item, item_view));
            }
            (Value::Shared(shared), Element::Shared(content)) => {
                let Some(mut held) = shared.get().map(|value| (*value).clone()) else { return };
                self.content(&mut held, view.follow(*content));
                *shared = Shared::new(held);
            }
            (Value::Typed(typed), Element::Open(open)) => {
                if let Some(content) = open.named(&typed.name) {
                    self.content(&mut typed.value, view.follow(content));
                }
            }
            (value, Element::Open(OpenElement { base: Some(content), .. })) => {
                self.content(value, view.follow(*content));
            }
            _ => {}
        }
    }

    fn record(&mut self, record: &mut Record, view: View<'_>) {
        let Some(complex) = view.complex() else { return };
        for (value, attribute) in record.attributes.iter_mut().zip(complex.attributes.iter()) {
            if let (Some(value), Element::Simple(element)) = (value, view.follow(attribute.element).element) {
                let outside = self.path.enter(&format!("@{}", attribute.name.local));
                self.leaf(value, element);
                self.path.leave(outside);
            }
        }
        if let Some(text) = complex.text {
            return record.fields.iter_mut().for_each(|value| self.content(value, view.follow(text)));
        }
        for (value, field) in record.fields.iter_mut().zip(complex.fields.iter()) {
            let content = view.follow(field.element);
            value.spread();
            match value {
                Value::List(items) if field.is_repeated() && field.inline => {
                    items.iter_mut().for_each(|item| self.content(item, content));
                }
                Value::List(items) if field.is_repeated() => {
                    self.items(items, content, |changer, item| changer.field(item, field, content));
                }
                value => self.field(value, field, content),
            }
        }
    }

    fn items(&mut self, items: &mut [Value], view: View<'_>, mut each: impl FnMut(&mut Self, &mut Value)) {
        let (is_flat, outside) = (Value::flat_leaves(view).is_some() && items.len() > 1, self.is_first);
        for (at, item) in items.iter_mut().enumerate() {
            self.is_first = is_flat && at == 0;
            each(self, item);
        }
        self.is_first = outside;
    }

    /// Changes the content of a field, or one of its occurrences.
    fn field(&mut self, value: &mut Value, field: &Field, view: View<'_>) {
        if field.inline {
            return self.content(value, view);
        }
        let outside = self.path.enter(&field.name.local);
        self.content(value, view);
        self.path.leave(outside);
    }

    fn leaf(&mut self, value: &mut Simple, element: &SimpleElement) {
        let Some(turn) = self.due() else { return };
        let Some(new) = another(value, element, &mut self.random) else { return };
        let moves = new.to_string().len() != value.to_string().len();
        self.count(turn, Class::from_builtin(value.builtin()), moves);
        *value = new;
    }

    fn name(&mut self, name: &mut QName) {
        let Some(turn) = self.due() else { return };
        let element = SimpleElement {
            name: name.clone(),
            base: Builtin::NcName,
            enumeration: Default::default(),
            default: None,
            packed: None,
        };
        let Some(local) = typical(&element, name.local.len(), &mut self.random) else { return };
        name.local = local.to_string().into();
        self.count(turn, Class::QName, false);
    }

    /// Passes a leaf. Returns the path of its share if this leaf, or an earlier one, has to change.
    fn due(&mut self) -> Option<&'s str> {
        let (path, _) = closest(self.path.as_str(), &self.sizes.changed)?;
        let turn = self.turns.entry(path).or_default();
        turn.due += usize::from(self.places.get(path).is_some_and(|places| places.contains(&turn.passed)));
        turn.passed += 1;
        (turn.due > 0).then_some(path)
    }

    fn count(&mut self, path: &'s str, class: Class, moves: bool) {
        self.turns.entry(path).or_default().due -= 1;
        let changes = self.changes.entry(self.path.as_str().to_owned()).or_default();
        *changes.leaves.entry(class).or_default() += 1.0;
        changes.shifts += f64::from(moves);
        changes.firsts += f64::from(self.is_first);
    }
}

/// Returns the longest path of a share that contains a path: the most specific one.
fn closest<'s>(path: &str, shares: &'s BTreeMap<String, f64>) -> Option<(&'s str, f64)> {
    let is_within = |outer: &str| {
        let rest = path.strip_prefix(outer);
        outer.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let around = shares.iter().filter(|(outer, _)| is_within(outer));
    around.max_by_key(|(outer, _)| outer.len()).map(|(outer, &share)| (outer.as_str(), share))
}

/// Returns another value of the same type, with text of the same length if its length is open;
/// `None` for a type that has no other value.
fn another(value: &Simple, element: &SimpleElement, random: &mut SplitMix64) -> Option<Simple> {
    let text = value.to_string();
    if Class::from_builtin(element.base) == Class::Binary {
        return Simple::parse_as(element, &otherwise(&text)?).ok().filter(|new| new != value);
    }
    (0..TRIES).find_map(|_| typical(element, text.len(), random).filter(|new| new.to_string() != text))
}

/// Returns binary data with another first digit.
fn otherwise(text: &str) -> Option<String> {
    let first = text.chars().next()?;
    let other = if first == 'B' { 'C' } else { 'B' };
    Some(std::iter::once(other).chain(text.chars().skip(1)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{Activity, Mode};
    use crate::predict::{Sample, Work, samples};
    use crate::usage::{Feature, parts};
    use deltasoap_dynamic::Contract;

    const SHOP: &str = include_str!("../../../deltasoap-dynamic/tests/data/shop.wsdl");

    fn request(shares: &[(&str, f64)]) -> (Sample, Sizes) {
        let changed = shares.iter().map(|&(path, share)| (path.to_owned(), share)).collect();
        let sizes = Sizes { changed, ..Sizes::default() };
        let order = Contract::from_text(SHOP).expect("a contract").operation("Order").expect("an operation");
        (samples(&order, &sizes).expect("samples").remove(0), sizes)
    }

    fn changed(sample: &Sample) -> f64 {
        let usage = Work::new(Mode::Differential, Activity::Serialize, sample).expect("written").usage();
        Class::ALL.iter().map(|&class| usage.count(Feature::Changed(class))).sum()
    }

    #[test]
    fn as_many_leaves_change_as_their_share_says() {
        let leaves = |within: &str| -> f64 {
            let parts = parts(&request(&[]).0.body());
            parts.iter().filter(|it| it.0.starts_with(within)).map(|it| it.1.leaves()).sum()
        };
        for share in [0.0, 0.01, 0.1, 0.5] {
            assert_eq!(changed(&request(&[("item", share)]).0), (leaves("item") * share).ceil(), "{share}");
        }
        // One of the others is nil: its `xsi:nil` attribute does not change.
        let others = leaves("") - leaves("item");
        assert!((changed(&request(&[("", 0.5), ("item", 0.0)]).0) - others / 2.0).abs() <= 1.0, "{others}");
        assert_eq!(changed(&request(&[]).0), 0.0);
    }

    /// The counts equal the differences in the text.
    #[test]
    fn what_changed_is_counted() {
        let (sample, _) = request(&[("", 0.5)]);
        let text = |turn| {
            let written = sample.body_in_turn(turn).encode(deltasoap_core::Buffer::new()).expect("written");
            String::from_utf8(written.into_vec()).expect("text")
        };
        let (one, other) = (text(0), text(1));
        let places = |text: &str| text.split(['<', '>', '"']).map(str::to_owned).collect::<Vec<_>>();
        let differ = places(&one).iter().zip(places(&other)).filter(|(a, b)| *a != b).count();
        assert_eq!(differ as f64, changed(&sample));
        assert_eq!(text(2), one, "messages come in turn");
    }

    #[test]
    fn the_closest_path_is_meant() {
        let shares = BTreeMap::from([(String::new(), 0.0), ("item".to_owned(), 0.5)]);
        let share = |path| closest(path, &shares).map(|it| it.1);
        assert_eq!(["itemised", "item/code", "item"].map(share), [Some(0.0), Some(0.5), Some(0.5)]);
        assert_eq!(closest("item", &BTreeMap::new()), None);
    }

    #[test]
    fn every_type_with_two_values_has_another() {
        let mut random = SplitMix64::new(1);
        for &base in Builtin::ALL {
            let element = element(base);
            let value = typical(&element, 12, &mut random).expect("a value");
            match another(&value, &element, &mut random) {
                Some(other) => assert_ne!(other.to_string(), value.to_string()),
                // These have one typical value.
                None => assert!(base.local().starts_with('g') || base == Builtin::Language, "{base:?}"),
            }
        }
        let one = SimpleElement { enumeration: vec!["red".into()].into(), ..element(Builtin::String) };
        let red = Simple::parse(Builtin::String, "red").expect("a value");
        assert!(another(&red, &one, &mut random).is_none());
    }

    fn element(base: Builtin) -> SimpleElement {
        SimpleElement { name: base.name(), base, enumeration: Default::default(), default: None, packed: None }
    }
}

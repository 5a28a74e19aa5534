//! The features of a message: the regressors of its cost.
//!
//! A walk over a message and its schema counts everything that costs time: leaves by class,
//! attributes, elements with children, characters, markup. Measured messages and those of a WSDL
//! use the same walk, so their counts agree.
//!
//! Leaves come in two kinds. Items of a *flat* array share their markup, which is learned from the
//! first item; the others cost a fraction of a field. A model of a toolkit without this shortcut
//! has one coefficient for both.

mod compared;
mod feature;
mod walk;

pub use compared::{Changes, compared_parts};
pub use feature::Feature;
pub(crate) use walk::item_field;
pub use walk::parts;

use crate::CostError;
use crate::calibration::Mode;
use crate::workload::{Body, Class, Message, Workload, has_first};
use deltasoap_core::Buffer;
use std::collections::BTreeMap;

/// Counts of features.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    counts: BTreeMap<Feature, f64>,
    /// Number of texts, by length.
    texts: BTreeMap<usize, f64>,
}

impl Usage {
    /// Adds to the count of a feature.
    pub fn add(&mut self, feature: Feature, count: f64) {
        if count != 0.0 {
            *self.counts.entry(feature).or_default() += count;
        }
    }

    fn add_text(&mut self, length: usize) {
        self.add(Feature::Character, length as f64);
        *self.texts.entry(length).or_default() += 1.0;
    }

    /// Adds other counts.
    pub fn merge(&mut self, other: &Usage) {
        other.counts.iter().for_each(|(&feature, &count)| self.add(feature, count));
        other.texts.iter().for_each(|(&length, &count)| *self.texts.entry(length).or_default() += count);
    }

    /// Returns the count of a feature.
    pub fn count(&self, feature: Feature) -> f64 {
        let texts = |part: &dyn Fn(usize) -> f64| self.texts.iter().map(|(&length, count)| part(length) * count).sum();
        match feature {
            Feature::Over(place) => texts(&|length| f64::from(length > place as usize)),
            Feature::Beyond(place) => texts(&|length| length.saturating_sub(place as usize) as f64),
            feature => self.counts.get(&feature).copied().unwrap_or_default(),
        }
    }

    /// Returns all counts except those of cut-off points.
    pub fn counts(&self) -> impl Iterator<Item = (Feature, f64)> {
        self.counts.iter().map(|(&feature, &count)| (feature, count))
    }

    /// Returns the number of leaves of all classes and kinds.
    pub fn leaves(&self) -> f64 {
        let is_leaf =
            |feature: &Feature| matches!(feature, Feature::Field(_) | Feature::Item(_) | Feature::Attribute(_));
        self.counts().filter(|(feature, _)| is_leaf(feature)).map(|(_, count)| count).sum()
    }

    /// Counts the features of a measured message.
    ///
    /// # Errors
    /// When the message cannot be built.
    pub fn from_workload(workload: &Workload, mode: Mode) -> Result<Usage, CostError> {
        let message = Message::new(workload)?;
        if mode == Mode::Regular {
            return Ok(Usage::from_body(&message.body(0)));
        }
        let written = message.body(0).encode(Buffer::new());
        let bytes = written.map_or(0, |written| written.as_slice().len());
        let ((share, moves), has_first) = (changed_share(workload), first_changes(workload));
        let is_struct = matches!(workload, Workload::ChangedStructs { .. });
        let changes = |path: &str, part: &Usage| {
            // In structs the first field changes.
            let share = if is_struct && !path.starts_with("item/x") { 0.0 } else { share };
            let is_first = has_first && part.items() > 0.0 && share > 0.0;
            Changes { firsts: f64::from(is_first), ..Changes::from_share(part, share, moves) }
        };
        Ok(Usage::compared(&parts(&message.body(0)), bytes, changes))
    }

    /// Counts the features of a whole message.
    pub fn from_body(body: &Body<'_>) -> Usage {
        let mut all = Usage::default();
        parts(body).iter().for_each(|(_, part)| all.merge(part));
        all
    }

    /// Counts the features of a message in differential mode, from its parts and the changes in
    /// each.
    pub fn compared(parts: &[(String, Usage)], bytes: usize, changes: impl Fn(&str, &Usage) -> Changes) -> Usage {
        let mut all = Usage::default();
        compared_parts(parts, bytes, changes).iter().for_each(|(_, part)| all.merge(part));
        all
    }

    /// Returns the number of leaves and records that are stored individually.
    fn values(&self) -> f64 {
        let is_value =
            |feature: &Feature| matches!(feature, Feature::Field(_) | Feature::Attribute(_) | Feature::Record);
        self.counts().filter(|(feature, _)| is_value(feature)).map(|(_, count)| count).sum()
    }

    fn leaves_of(&self, class: Class) -> f64 {
        [Feature::Field(class), Feature::Item(class), Feature::Attribute(class)].map(|it| self.count(it)).iter().sum()
    }

    fn items(&self) -> f64 {
        Class::ALL.map(|class| self.count(Feature::Item(class))).iter().sum()
    }
}

/// Returns the fraction of a message's leaves, or of its structs, that change, and whether texts
/// become longer or shorter.
fn changed_share(workload: &Workload) -> (f64, bool) {
    let part = |count: u32, of: u32| f64::from(count) / f64::from(of.max(1));
    match *workload {
        Workload::Changed { length, changed, moves, .. } => (part(changed, length), moves),
        Workload::ChangedFields { count, changed, .. } => (part(changed, count), false),
        Workload::ChangedStructs { length, changed, .. } => (part(changed, length), false),
        _ => (0.0, false),
    }
}

/// Returns true if the first item of the list changes.
fn first_changes(workload: &Workload) -> bool {
    match *workload {
        Workload::Changed { length, changed, moves, .. } => !moves || changed == length,
        Workload::ChangedStructs { length, changed, .. } => has_first(changed) || changed == length,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Items, Style};

    fn usage(workload: Workload) -> Usage {
        Usage::from_workload(&workload, Mode::Regular).expect("a message")
    }

    #[test]
    fn an_array_has_a_field_and_items() {
        let array = usage(Workload::Array { class: Class::Text, length: 10, text: 30 });
        assert_eq!(array.count(Feature::Field(Class::Text)), 1.0);
        assert_eq!(array.count(Feature::Item(Class::Text)), 9.0);
        assert_eq!(array.count(Feature::Character), 300.0);
        assert_eq!([29, 30].map(|place| array.count(Feature::Over(place))), [10.0, 0.0]);
        assert_eq!(array.count(Feature::Beyond(20)), 100.0);
        assert_eq!(usage(Workload::Text { length: 5 }).count(Feature::List), 0.0);
    }

    #[test]
    fn a_composite_type_has_its_fields() {
        let composite = usage(Workload::Composite { ints: 1, doubles: 2, texts: 3, length: 100 });
        let fields = [Class::Int, Class::Double, Class::Text].map(|class| composite.count(Feature::Field(class)));
        assert_eq!((fields, composite.count(Feature::Record)), ([1.0, 2.0, 3.0], 1.0));
        assert_eq!(composite.leaves(), 6.0);
    }

    #[test]
    fn structs_are_flat_and_records_are_not() {
        let items = |optional| usage(Workload::Structs { length: 5, name: 3, optional });
        assert_eq!(items(false).count(Feature::ItemRecord), 4.0);
        assert_eq!(items(false).count(Feature::Item(Class::Int)), 8.0);
        assert_eq!(items(true).count(Feature::Record), 6.0);
        assert_eq!(items(true).count(Feature::Field(Class::Int)), 10.0);
    }

    #[test]
    fn lists_are_learned_once() {
        let lists = |items| usage(Workload::Lists { items, count: 3, length: 5 });
        let kinds = [Feature::Repeated, Feature::Relisted, Feature::RelistedRecords, Feature::Row];
        let counts = |items| kinds.map(|kind| lists(items).count(kind));
        assert_eq!(counts(Items::Ints), [3.0, 2.0, 0.0, 3.0]);
        assert_eq!(counts(Items::Structs), [3.0, 0.0, 2.0, 3.0]);
        assert_eq!(counts(Items::Enumerated), [0.0, 0.0, 0.0, 3.0 + 3.0 * 5.0]);
        assert_eq!(lists(Items::Texts).count(Feature::Item(Class::Text)), 12.0);
    }

    #[test]
    fn namespaces_are_declared_where_they_are_not_yet() {
        let lists = usage(Workload::Lists { items: Items::ForeignInts, count: 3, length: 5 });
        let kinds = [Feature::Declared, Feature::DeclaredItem];
        assert_eq!(kinds.map(|kind| lists.count(kind)), [3.0, 12.0]);
        let message = Message::new(&Workload::Lists { items: Items::ForeignInts, count: 3, length: 5 });
        let written = message.expect("a message").body(0).encode(Buffer::new()).expect("written").into_vec();
        let text = String::from_utf8(written).expect("text");
        assert_eq!(text.matches("=\"urn:bench:other\"").count(), 3 + 12, "{text}");
    }

    #[test]
    fn large_messages_have_values_that_are_far() {
        let far = |length| usage(Workload::Records { length }).count(Feature::Far);
        // Each has seven fields and two records; the body adds one record.
        assert_eq!((far(3000), far(4000)), (0.0, 4000.0 * 9.0 + 1.0 - 32_768.0));
        assert_eq!(usage(Workload::Array { class: Class::Int, length: 1000, text: 0 }).count(Feature::Far), 0.0);
    }

    #[test]
    fn styles_have_their_features() {
        let fields = |style| usage(Workload::Fields { class: Class::Int, count: 4, text: 0, style });
        assert_eq!(fields(Style::Qualified).count(Feature::Qualified), 4.0);
        assert_eq!([Style::Qualified, Style::Foreign].map(|it| fields(it).count(Feature::Declared)), [0.0, 4.0]);
        assert_eq!([Feature::Typed, Feature::Encoded].map(|it| fields(Style::Encoded).count(it)), [4.0, 1.0]);
        assert_eq!(fields(Style::Plain).count(Feature::Encoded), 0.0);
        assert!(fields(Style::Named(20)).count(Feature::Markup) > fields(Style::Plain).count(Feature::Markup));
        assert_eq!(usage(Workload::Tree { nodes: 7 }).count(Feature::Node), 8.0);
        assert_eq!(usage(Workload::Binary { length: 300 }).count(Feature::Octet), 300.0);
    }

    #[test]
    fn changes_are_counted_in_differential_mode() {
        let changed = Workload::Changed { class: Class::Double, length: 50, changed: 5, moves: true };
        let usage = Usage::from_workload(&changed, Mode::Differential).expect("a message");
        let counts = [Feature::Leaf, Feature::Changed(Class::Double), Feature::Shift, Feature::Field(Class::Double)];
        assert_eq!(counts.map(|feature| usage.count(feature)), [50.0, 5.0, 5.0, 0.0]);
    }

    #[test]
    fn changes_are_told_apart_by_where_they_are() {
        let usage = |workload| Usage::from_workload(&workload, Mode::Differential).expect("a message");
        let array = |length, changed| usage(Workload::Changed { class: Class::Int, length, changed, moves: false });
        let fields = usage(Workload::ChangedFields { class: Class::Int, count: 20, changed: 10 });
        let kinds = [Feature::ChangedField, Feature::ChangedShort, Feature::ChangedMost];
        let counts = |usage: &Usage| kinds.map(|feature| usage.count(feature).round());
        assert_eq!(counts(&fields), [10.0, 0.0, 5.0]);
        assert_eq!(counts(&array(100, 10)), [0.0, 10.0, 0.0]);
        assert_eq!(counts(&array(400, 300)), [0.0, 0.0, 200.0]);
    }

    #[test]
    fn parts_add_up_to_the_message() {
        let message = Message::new(&Workload::Structs { length: 3, name: 1, optional: false }).expect("a message");
        let parts = parts(&message.body(0));
        let paths: Vec<_> = parts.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["", "item", "item/x", "item/y", "item/v"]);
        assert_eq!(parts[2].1.leaves(), 3.0);
    }
}

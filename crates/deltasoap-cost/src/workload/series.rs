//! Series: the workloads of a calibration.

use super::{Class, Items, Style, Workload};
use crate::calibration::Mode;
use deltasoap_streams::prng::SplitMix64;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Characters of the strings in arrays (Imre et al., 3.1).
const TEXT: u32 = 100;
/// Characters of the strings in composite types (3.3).
pub const LENGTHS: [u32; 3] = [100, 500, 1000];
/// Number of composite types measured by default.
const SAMPLE: usize = 60;

/// The measured subset of the workloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// The paper's array lengths, and a sample of its composite types.
    Sample,
    /// All 1330 composite types with each string length.
    Full,
    /// A few points of each series, for tests.
    Few,
}

/// Returns the workloads of a calibration.
pub fn series(mode: Mode, extent: Extent) -> Vec<Workload> {
    match mode {
        Mode::Regular => regular(extent),
        // Some messages are never compared when read: they cost what they cost in regular mode.
        Mode::Differential => differential(extent).into_iter().chain(fitted(extent)).collect(),
    }
}

fn regular(extent: Extent) -> Vec<Workload> {
    let mut all = fitted(extent);
    all.extend(composites(extent));
    all
}

/// Returns the workloads that predictions are fitted to.
fn fitted(extent: Extent) -> Vec<Workload> {
    let mut all = paper(extent);
    all.extend(fields());
    all.extend(structure());
    all.extend(large(extent));
    all
}

/// Returns the first two series of the paper: arrays of 1, 10, 20, ... 1000 items, strings of up to
/// 10,000 characters.
pub fn paper(extent: Extent) -> Vec<Workload> {
    let step = if extent == Extent::Few { 100 } else { 10 };
    let lengths = || std::iter::once(1).chain((step..=1000).step_by(step as usize));
    let array = |class| lengths().map(move |length| Workload::Array { class, length, text: text_of(class) });
    let mut all: Vec<_> = [Class::Int, Class::Double, Class::Text].into_iter().flat_map(array).collect();
    let step = if extent == Extent::Few { 500 } else { 100 };
    let strings = (1..1000).step_by(step as usize / 5).chain((1000..=10_000).step_by(step as usize));
    all.extend(strings.map(|length| Workload::Text { length }));
    all
}

/// Returns fields of every class, in every style.
fn fields() -> Vec<Workload> {
    let mut all = Vec::new();
    let mut add = |class, counts: &[u32], text, style| {
        all.extend(counts.iter().map(|&count| Workload::Fields { class, count, text, style }));
    };
    add(Class::Int, &[0, 11, 12, 14, 16, 20, 24, 28, 32, 40], 0, Style::Plain);
    add(Class::Double, &[11, 12, 14, 16, 20, 24, 28, 32, 40], 0, Style::Plain);
    for text in [10, 100, 300, 500, 1000] {
        add(Class::Text, &[11, 14, 20, 28, 40], text, Style::Plain);
    }
    for class in Class::ALL.into_iter().skip(3) {
        add(class, &[4, 12, 20, 40], if class.has_length() { 20 } else { 0 }, Style::Plain);
    }
    add(Class::Token, &[4, 20], 100, Style::Plain);
    for name in [8, 20, 40, 60] {
        add(Class::Int, &[12, 24], 0, Style::Named(name));
    }
    for style in [
        Style::Qualified,
        Style::Foreign,
        Style::Encoded,
        Style::Enumerated(4),
        Style::Enumerated(12),
        Style::Enumerated(80),
    ] {
        let class = if matches!(style, Style::Enumerated(_)) { Class::Text } else { Class::Int };
        add(class, &[4, 12, 24, 40], 0, style);
    }
    all
}

/// Returns workloads for features other than fields.
fn structure() -> Vec<Workload> {
    let mut all: Vec<_> = [(1, 1), (4, 1), (12, 1), (24, 1), (1, 4), (1, 12), (4, 4)]
        .map(|(breadth, depth)| Workload::Nested { breadth, depth })
        .into();
    for class in [Class::Int, Class::Text] {
        all.extend([2, 6, 12, 20].map(|count| Workload::Attributes { class, count }));
    }
    for class in Class::ALL.into_iter().skip(3) {
        let text = if class.has_length() { 20 } else { 0 };
        all.extend([2, 10, 50, 200].map(|length| Workload::Array { class, length, text }));
    }
    for name in [1, 12, 30] {
        for optional in [false, true] {
            all.extend([2, 10, 40, 150].map(|length| Workload::Structs { length, name, optional }));
        }
    }
    for distinct in [false, true] {
        all.extend([2, 10, 30, 80].map(|count| Workload::Sparse { count, distinct }));
    }
    for items in [Items::Ints, Items::Texts, Items::Structs, Items::Enumerated, Items::ForeignInts] {
        for length in [2, 5, 10, 20] {
            all.extend([1, 3, 10, 30].map(|count| Workload::Lists { items, count, length }));
        }
    }
    all.extend([1, 3, 10, 30, 100, 300].map(|length| Workload::Records { length }));
    all.extend([1, 5, 20, 60].map(|nodes| Workload::Tree { nodes }));
    all.extend([100, 1000, 4000, 10_000].map(|length| Workload::Binary { length }));
    all
}

/// Returns messages larger than the nearer caches, up to some megabytes.
fn large(extent: Extent) -> Vec<Workload> {
    let lengths: &[u32] = if extent == Extent::Few { &[1000] } else { &[600, 1000, 2000, 4000, 8000, 16_000] };
    lengths.iter().map(|&length| Workload::Records { length }).collect()
}

/// Returns the paper's composite types: 0 to 10 fields of each of three types, with strings of
/// three lengths.
pub fn composites(extent: Extent) -> Vec<Workload> {
    let mut types: Vec<(u32, u32, u32)> =
        (1..11 * 11 * 11).map(|code| (code / 121, code / 11 % 11, code % 11)).collect();
    if extent != Extent::Full {
        shuffle(&mut types, &mut SplitMix64::new(deltasoap_streams::prng::SEED));
        types.truncate(if extent == Extent::Few { 8 } else { SAMPLE });
    }
    let of = |(ints, doubles, texts)| LENGTHS.map(|length| Workload::Composite { ints, doubles, texts, length });
    types.into_iter().flat_map(of).collect()
}

/// Shuffles a list: all orders are equally likely (Fisher and Yates).
pub(crate) fn shuffle<T>(list: &mut [T], random: &mut SplitMix64) {
    for end in (1..list.len()).rev() {
        list.swap(end, random.below(end as u32 + 1) as usize);
    }
}

/// Returns the numbers of ints, doubles and strings of the composite types measured by default:
/// peers are built with these.
pub fn compiled() -> BTreeSet<[u32; 3]> {
    regular(Extent::Sample).iter().filter_map(Workload::fields).filter(|counts| *counts != [0; 3]).collect()
}

/// Returns messages that no prediction is fitted to, to test predictions.
pub fn held_out(mode: Mode, extent: Extent) -> Vec<Workload> {
    match mode {
        Mode::Regular => composites(extent),
        Mode::Differential => unseen_changes(extent),
    }
}

/// Returns lengths and shares that [`differential`] does not have.
fn unseen_changes(extent: Extent) -> Vec<Workload> {
    let lengths: &[u32] = if extent == Extent::Few { &[70] } else { &[25, 70, 150, 300, 500, 750, 950] };
    let mut all = Vec::new();
    for class in [Class::Int, Class::Double, Class::Text] {
        for &length in lengths {
            for percent in [3, 15, 35, 75] {
                let changed = (length * percent).div_ceil(100);
                all.extend([false, true].map(|moves| Workload::Changed { class, length, changed, moves }));
            }
        }
        let fields = [(3, 1), (15, 1), (20, 7), (25, 20), (60, 5), (150, 40)];
        all.extend(fields.map(|(count, changed)| Workload::ChangedFields { class, count, changed }));
    }
    for optional in [false, true] {
        let structs = [(6, 1), (30, 4), (70, 50), (300, 20)];
        all.extend(structs.map(|(length, changed)| Workload::ChangedStructs { length, changed, optional }));
    }
    all
}

fn differential(extent: Extent) -> Vec<Workload> {
    let is_few = extent == Extent::Few;
    let lengths: &[u32] = if is_few { &[20, 200] } else { &[1, 2, 5, 10, 20, 50, 100, 200, 400, 600, 800, 1000] };
    let counts: &[u32] = if is_few { &[2, 30] } else { &[1, 2, 4, 8, 14, 30, 100, 300] };
    let mut all = Vec::new();
    for class in [Class::Int, Class::Double, Class::Text] {
        for (length, changed) in shares(lengths) {
            all.push(Workload::Changed { class, length, changed, moves: false });
            if changed > 0 {
                all.push(Workload::Changed { class, length, changed, moves: true });
            }
        }
        let fields = shares(counts).into_iter().chain([(0, 0)]);
        all.extend(fields.map(|(count, changed)| Workload::ChangedFields { class, count, changed }));
    }
    let lengths: &[u32] = if is_few { &[10] } else { &[2, 4, 10, 50, 200, 400] };
    for optional in [false, true] {
        all.extend(shares(lengths).into_iter().map(|(length, changed)| Workload::ChangedStructs {
            length,
            changed,
            optional,
        }));
    }
    all.extend(structure().into_iter().chain(fields()).map(|message| Workload::Again { message: Box::new(message) }));
    all
}

/// Returns each count with several numbers of changes, from none to all.
fn shares(counts: &[u32]) -> BTreeSet<(u32, u32)> {
    let of = |&count: &u32| [0, 1, 10, 25, 50, 100].map(|percent: u32| (count, (count * percent).div_ceil(100)));
    counts.iter().flat_map(of).collect()
}

fn text_of(class: Class) -> u32 {
    if class == Class::Text { TEXT } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_types_are_all_there() {
        let all = composites(Extent::Full);
        assert_eq!(all.len(), 3 * 1330);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        assert_eq!(composites(Extent::Sample).len(), 3 * SAMPLE);
    }

    /// Predictions are fitted to no composite type, and to no type of the same shape with one kind
    /// of field.
    #[test]
    fn composite_types_are_held_out() {
        for workload in regular(Extent::Sample).iter().filter(|workload| !workload.is_composite()) {
            let is_like = matches!(
                workload,
                Workload::Fields {
                    class: Class::Int | Class::Double | Class::Text,
                    count: 1..=10,
                    style: Style::Plain,
                    ..
                }
            );
            assert!(!is_like, "{workload}");
        }
    }

    #[test]
    fn unseen_changes_are_not_fitted_to() {
        let fitted: BTreeSet<_> = differential(Extent::Sample).into_iter().collect();
        let unseen = held_out(Mode::Differential, Extent::Sample);
        assert!(unseen.len() > 150 && unseen.iter().all(|workload| !fitted.contains(workload)));
    }

    #[test]
    fn arrays_have_the_papers_lengths() {
        let is_int = |workload: &&Workload| matches!(workload, Workload::Array { class: Class::Int, .. });
        assert_eq!(regular(Extent::Sample).iter().filter(is_int).count(), 101);
    }

    #[test]
    fn no_workload_comes_twice() {
        for mode in [Mode::Regular, Mode::Differential] {
            let mut seen = BTreeSet::new();
            let is_second = |it: &Workload| !seen.insert(it.clone());
            let twice: Vec<_> = series(mode, Extent::Sample).into_iter().filter(is_second).collect();
            assert!(twice.is_empty(), "{twice:?}");
        }
    }
}

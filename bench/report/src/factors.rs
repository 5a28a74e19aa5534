//! Trivial models of a table, and the information in a table beyond them.
//!
//! A cell of the papers' large tables depends on a few factors: the size, the number of partitions,
//! the length of portions. A model of one factor uses the paper's own numbers, but gives the same
//! number wherever that factor is the same: "portions of 32 bytes are slow" already sorts many
//! cells correctly. So an agreement must beat such models, or lie in the interaction of the
//! factors, which no sum of their effects explains.

use std::collections::BTreeMap;

use deltasoap_streams::prng::{SEED, SplitMix64};

use crate::statistics::{Compared, Group, correlation_or_none, mean, median, ranks, sides};

const FACTORS: usize = 3;

/// Returns the rank correlation with their numbers of the best one-factor model, chosen in each
/// group; the mean over the groups.
pub fn best_order(groups: &[Group]) -> f64 {
    let best = |group: &Group| {
        let theirs = ranks(&sides(group).1);
        let order = |factor| correlation_or_none(&ranks(&means(&theirs, &levels(group, factor))), &theirs);
        (0..FACTORS).map(order).fold(0.0, f64::max)
    };
    mean(&groups.iter().map(best).collect::<Vec<_>>())
}

/// Returns the correlation, within groups, of the logarithms of both sides after the effect of each
/// factor is removed; the mean over the groups. If nothing remains of a side, the correlation is 0.
pub fn interplay(groups: &[Group]) -> f64 {
    let within = |group: &Group| {
        let sets: Vec<_> = (0..FACTORS).flat_map(|factor| levels(group, factor)).collect();
        let (ours, theirs) = sides(group);
        correlation_or_none(&without_effects(&logarithms(&ours), &sets), &without_effects(&logarithms(&theirs), &sets))
    };
    mean(&groups.iter().map(within).collect::<Vec<_>>())
}

/// Returns the mean distance of our logarithms from theirs, divided by that of the best model with
/// one number for all cells, for each group, or for each level of a factor. Returns `None` if that
/// model equals their numbers.
pub fn distance(groups: &[Group]) -> Option<f64> {
    let (ours, theirs) = sides(&groups.concat());
    let (ours, theirs) = (logarithms(&ours), logarithms(&theirs));
    let best = models(groups).iter().map(|sets| gap(&medians(&theirs, sets), &theirs)).fold(f64::INFINITY, f64::min);
    Some(gap(&ours, &theirs) / best).filter(|share| share.is_finite())
}

/// Returns the value that chance reaches: 95 of 100 random tables do not exceed it. A random table
/// has our columns in another order, the same in all rows and in all groups with the same columns,
/// since the rows of a column are not independent. The seed is fixed, so each call returns the
/// same.
pub fn by_chance(groups: &[Group], statistic: impl Fn(&[Group]) -> f64) -> f64 {
    const DRAWS: usize = 200;
    let mut random = SplitMix64::new(SEED);
    let mut drawn: Vec<f64> = (0..DRAWS).map(|_| statistic(&shuffled(groups, &mut random))).collect();
    drawn.sort_unstable_by(f64::total_cmp);
    drawn[DRAWS * 95 / 100]
}

type Column = (usize, usize);

fn column(cell: &Compared) -> Column {
    (cell.place[1], cell.place[2])
}

fn shuffled(groups: &[Group], random: &mut SplitMix64) -> Vec<Group> {
    let mut orders: BTreeMap<Vec<Column>, Vec<Column>> = BTreeMap::new();
    let mut shuffled = |group: &Group| {
        let mut columns: Vec<Column> = group.iter().map(column).collect();
        columns.sort_unstable();
        columns.dedup();
        let others = orders.entry(columns.clone()).or_insert_with(|| permuted(columns.clone(), random));
        let other: BTreeMap<Column, Column> = columns.into_iter().zip(others.iter().copied()).collect();
        let ours: BTreeMap<_, f64> = group.iter().map(|cell| ((cell.place[0], column(cell)), cell.ours)).collect();
        let moved = |cell: &Compared| {
            let found = ours.get(&(cell.place[0], other[&column(cell)]));
            Compared { ours: found.copied().unwrap_or(cell.ours), ..*cell }
        };
        group.iter().map(moved).collect()
    };
    groups.iter().map(&mut shuffled).collect()
}

/// Shuffles by Fisher and Yates.
fn permuted(mut items: Vec<Column>, random: &mut SplitMix64) -> Vec<Column> {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last as u32 + 1) as usize);
    }
    items
}

/// Indices of cells that share a property.
type Set = Vec<usize>;

/// Returns the cells of each level of a factor.
fn levels(cells: &[Compared], factor: usize) -> Vec<Set> {
    let mut levels: BTreeMap<usize, Set> = BTreeMap::new();
    cells.iter().enumerate().for_each(|(at, cell)| levels.entry(cell.place[factor]).or_default().push(at));
    levels.into_values().collect()
}

/// Returns the sets of cells to which each model assigns one number.
fn models(groups: &[Group]) -> Vec<Vec<Set>> {
    let all = groups.concat();
    let mut start = 0;
    let each = groups.iter().map(|group| {
        start += group.len();
        (start - group.len()..start).collect()
    });
    let each: Vec<Set> = each.filter(|set: &Set| !set.is_empty()).collect();
    let by_factor = (0..FACTORS).map(|factor| levels(&all, factor));
    [vec![(0..all.len()).collect()], each].into_iter().chain(by_factor).collect()
}

/// Replaces each number by the mean of its set.
fn means(numbers: &[f64], sets: &[Set]) -> Vec<f64> {
    replaced(numbers, sets, |set| mean(&set))
}

/// Replaces each number by the median of its set, which minimizes the mean distance.
fn medians(numbers: &[f64], sets: &[Set]) -> Vec<f64> {
    replaced(numbers, sets, median)
}

fn replaced(numbers: &[f64], sets: &[Set], number: impl Fn(Vec<f64>) -> f64) -> Vec<f64> {
    let mut replaced = numbers.to_vec();
    for set in sets {
        let one = number(set.iter().map(|&at| numbers[at]).collect());
        set.iter().for_each(|&at| replaced[at] = one);
    }
    replaced
}

/// Removes the differences between the means of the sets. Returns all zeros if only rounding errors
/// remain.
fn without_effects(numbers: &[f64], sets: &[Set]) -> Vec<f64> {
    // One sweep is enough for a table without gaps.
    const SWEEPS: usize = 50;
    const ROUNDING: f64 = 1e-9;
    let mut left = numbers.to_vec();
    for _ in 0..SWEEPS {
        let mut greatest: f64 = 0.0;
        for set in sets {
            let effect = mean(&set.iter().map(|&at| left[at]).collect::<Vec<_>>());
            set.iter().for_each(|&at| left[at] -= effect);
            greatest = greatest.max(effect.abs());
        }
        if greatest < ROUNDING {
            break;
        }
    }
    if left.iter().all(|number| number.abs() < ROUNDING) { vec![0.0; left.len()] } else { left }
}

fn logarithms(numbers: &[f64]) -> Vec<f64> {
    numbers.iter().map(|number| number.ln()).collect()
}

fn gap(one: &[f64], other: &[f64]) -> f64 {
    mean(&one.iter().zip(other).map(|(one, other)| (one - other).abs()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::rank_correlation_within;

    /// Two rows of three times four columns; in theirs, the second and the third factor interact.
    fn table(ours: impl Fn([f64; 3]) -> f64) -> Vec<Group> {
        let theirs = |[row, one, other]: [f64; 3]| (0.1 * row + one * other).exp();
        let cell = |i: usize| {
            let place = [i % 2, i / 2 % 3, i / 6];
            let levels = place.map(|level| level as f64);
            Compared { ours: ours(levels), theirs: theirs(levels), place }
        };
        vec![(0..24).map(cell).collect()]
    }

    #[test]
    fn effects_that_add_up_are_no_interplay() {
        assert!(interplay(&table(|[row, one, other]| (row + 2.0 * one + 5.0 * other).exp())).abs() < 1e-12);
        assert!(interplay(&table(|_| 3.0)).abs() < 1e-12);
        assert!(
            (interplay(&table(|[_, one, other]| (7.0 * one - 2.0 * other + one * other).exp())) - 1.0).abs() < 1e-9
        );
        assert!((interplay(&table(|[_, one, other]| (-one * other).exp())) + 1.0).abs() < 1e-9);
    }

    #[test]
    fn effects_are_found_in_a_table_with_a_gap() {
        let mut groups = table(|[row, one, other]| (row + 2.0 * one + 5.0 * other).exp());
        groups[0].remove(7);
        assert!(interplay(&groups).abs() < 1e-9);
    }

    #[test]
    fn the_best_model_knows_one_factor() {
        let groups = table(|_| 1.0);
        let model = |factor: usize| {
            let theirs = logarithms(&sides(&groups[0]).1);
            let ours = medians(&theirs, &levels(&groups[0], factor));
            let cells = groups[0].iter().zip(ours).map(|(cell, ours)| Compared { ours: ours.exp(), ..*cell });
            vec![cells.collect::<Group>()]
        };
        let least = (0..FACTORS).filter_map(|factor| distance(&model(factor))).fold(f64::INFINITY, f64::min);
        assert!((least - 1.0).abs() < 1e-9, "{least}");
        assert!(distance(&table(|[row, one, other]| (0.1 * row + one * other).exp())).unwrap() < 1e-9);
        let orders = (0..FACTORS).map(|factor| rank_correlation_within(&model(factor)));
        assert!(orders.fold(0.0, f64::max) <= best_order(&groups) + 1e-9);
        assert!((0.5..0.95).contains(&best_order(&groups)), "{}", best_order(&groups));
    }

    #[test]
    fn a_group_is_a_model_too() {
        let group = |theirs: f64| (0..6).map(|i| Compared { ours: 5.0, theirs, place: [i, i, i] }).collect::<Group>();
        assert_eq!(distance(&[group(2.0), group(9.0)]), None);
    }

    /// The 95th percentile of Spearman's correlation of 30 random pairs is tabulated as 0.306.
    #[test]
    fn chance_reaches_what_tables_say() {
        let group = |rows: usize| -> Group {
            let cell = |i: usize| Compared { ours: i as f64, theirs: i as f64, place: [i % rows, i / rows, 0] };
            (0..30 * rows).map(cell).collect()
        };
        let one = by_chance(&[group(1)], rank_correlation_within);
        assert!((0.22..0.40).contains(&one), "{one}");
        // Ten identical rows count as one, and so do ten identical groups.
        let ten = by_chance(&[group(10)], rank_correlation_within);
        assert!((ten - one).abs() < 0.02, "{ten}");
        let groups = by_chance(&vec![group(1); 10], rank_correlation_within);
        assert!((groups - one).abs() < 1e-9, "{groups}");
    }
}

//! *Differential Deserialization for Optimized SOAP Performance*: Figures 2 to 5, Tables 2 and 3, sections 4.5 and 5.
//!
//! All of it with full checkpoints. CRC-32 is the processor's or a table's here, whichever is faster, and a plain loop in
//! the paper.

use anyhow::Result;

use super::exhibit::{Chart, Exhibit, Grid, Rule, Style, Verdict, number};
use super::points::{Condition, Points, Way};
use super::printed::{Cell, DifferentialDeserialization as Printed};
use super::scope::{Scope, hard, mean, ms_cells, size_names};
use super::section5;
use crate::options::{Match, Policy};
use crate::statistics::{rank_correlation, sign_agreement};
use crate::stream::{Kind, Recipe};

const PERCENTS: [u32; 4] = [25, 50, 75, 100];
const PORTIONS: [u32; 4] = [32, 512, 1024, 4096];

/// From this rank correlation on, and from this share of equal signs on, shapes agree.
pub const ALIKE: f64 = 0.8;

/// The paper's types, with their names in its tables.
const TYPES: [(Kind, Kind, &str, &str); 3] = [
    (Kind::Ints, Kind::UnreadInts, "ints", "Ints"),
    (Kind::Easy, Kind::UnreadEasy, "easy", "Easy doubles"),
    (Kind::Hard, Kind::UnreadHard, "hard", "Hard doubles"),
];

/// Draws everything. `peer` has the milliseconds of gSOAP for a type and a size, if it was measured.
///
/// # Errors
/// When a number of the paper is missing from `bench/papers/`.
pub fn exhibits(points: &Points, scope: &Scope, peer: &dyn Fn(Kind, usize) -> Option<f64>) -> Result<Vec<Exhibit>> {
    let printed = Printed::load()?;
    Ok(vec![
        figure2(points, scope, &printed, peer),
        figure3(points, scope, &printed),
        table2(points, scope, &printed)?,
        figure4_or_5(points, scope, &printed, ("Figure 4", 100)),
        figure4_or_5(points, scope, &printed, ("Figure 5", 200)),
        table3(points, scope, &printed),
        section45(points, scope, &printed)?,
        section5::exhibit(points, scope, &printed),
    ])
}

pub fn full(portion: u32) -> Way {
    Way::checkpoints(Policy::Full, portion)
}

pub fn named(printed: &Printed, name: &'static str, caption: &str) -> Exhibit {
    Exhibit {
        paper: format!("{} ({})", printed.title, printed.source),
        name,
        caption: caption.to_owned(),
        grids: vec![],
        charts: vec![],
        verdicts: vec![],
    }
}

/// Regular decoding beside gSOAP's.
fn figure2(points: &Points, scope: &Scope, printed: &Printed, peer: &dyn Fn(Kind, usize) -> Option<f64>) -> Exhibit {
    let mut series: Vec<(String, Vec<f64>)> = Vec::new();
    for (kind, _, _, name) in TYPES {
        let ours = scope.sizes.iter().map(|&n| points.ms(Recipe::identical(kind, n), Way::REGULAR));
        series.push((format!("deltasoap, {name}"), ours.collect()));
        let theirs: Option<Vec<f64>> = scope.sizes.iter().map(|&n| peer(kind, n)).collect();
        series.extend(theirs.map(|theirs| (format!("gSOAP, {name}"), theirs)));
    }
    let title = "Deserialization time without differential deserialization, ms";
    Exhibit {
        verdicts: figure2_verdicts(&series),
        grids: vec![grid(title, "toolkit and type", scope, &series)],
        charts: vec![chart(title, size_names(&scope.sizes), series)],
        ..named(printed, "Figure 2", "The baseline, by type and number of elements.")
    }
}

/// "Comparable": here, not slower.
fn figure2_verdicts(series: &[(String, Vec<f64>)]) -> Vec<Verdict> {
    let pairs = series.windows(2).filter(|pair| pair[1].0.starts_with("gSOAP"));
    let ratios: Vec<f64> =
        pairs.flat_map(|pair| pair[1].1.iter().zip(&pair[0].1).map(|(gsoap, ours)| gsoap / ours)).collect();
    let slowest = ratios.iter().copied().reduce(f64::min);
    let claim = "gSOAP's time by ours, the least of all";
    slowest.map(|least| Verdict::computed(claim, "section 4.2", least, Rule::AtLeast(1.0))).into_iter().collect()
}

/// The price of checkpoints that are never used.
fn figure3(points: &Points, scope: &Scope, printed: &Printed) -> Exhibit {
    let portions = [32, 256, 512, 1024, 4096];
    let recipe = |n| hard(n, 0, 1);
    let times = |way| -> Vec<f64> { scope.sizes.iter().map(|&n| points.ms(recipe(n), way)).collect() };
    let first = |portion| Way { condition: Condition::AlwaysFirst, ..full(portion) };
    let mut series = vec![("No DDS".to_owned(), times(Way::REGULAR))];
    series.extend(portions.map(|portion| (format!("N = {portion}"), times(first(portion)))));
    let overhead = |index: usize| mean(&ratios(&series[index].1, &series[0].1)) - 1.0;
    let others = (2..series.len()).map(overhead).fold(f64::MIN, f64::max);
    let claim = "overhead at N = 32 by the largest overhead at other N";
    let verdict = Verdict::computed(claim, "section 4.3", overhead(1) / others.max(1e-3), Rule::AtLeast(2.0));
    let title = "Deserialization time in regular mode with checkpoints, ms (hard doubles)";
    Exhibit {
        verdicts: vec![verdict],
        grids: vec![grid(title, "portion", scope, &series)],
        charts: vec![chart(title, size_names(&scope.sizes), series)],
        ..named(
            printed,
            "Figure 3",
            "The overhead of full checkpoints: each message is read as if it were the first one.",
        )
    }
}

/// The rows of Table 2: name, the paper's name for it, and how it is measured.
fn table2_rows() -> Vec<(&'static str, Option<&'static str>, Way)> {
    let fast = |matcher| Way { matcher, ..full(4096) };
    vec![
        ("Dummy", Some("dummy"), Way::REGULAR),
        ("No DDS", Some("regular"), Way::REGULAR),
        ("No DDS, no shortcut", None, Way::GENERAL),
        ("XOR", Some("xor"), fast(Match::Xor)),
        ("Adler32", Some("adler32"), fast(Match::Adler32)),
        ("CRC32", Some("crc32"), fast(Match::Crc32)),
        ("Cmp", Some("compare"), fast(Match::Compare)),
        ("Keyed", None, fast(Match::Keyed)),
        ("Leaf", None, Way::LEAF),
    ]
}

fn table2_recipe(row: &str, kinds: (Kind, Kind), n: usize) -> Recipe {
    Recipe::identical(if row == "Dummy" { kinds.1 } else { kinds.0 }, n)
}

fn table2(points: &Points, scope: &Scope, printed: &Printed) -> Result<Exhibit> {
    let (mut rows, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for (row, mode, way) in table2_rows() {
        for (kind, unread, key, name) in TYPES {
            let ms = |n: usize| points.ms(table2_recipe(row, (kind, unread), n), way);
            let paper = |n: usize| mode.and_then(|mode| printed.table2(mode, key, n));
            let cell = |n: usize| format!("{}{}", number(ms(n)), beside(paper(n)));
            rows.push(
                [vec![row.to_owned(), name.to_owned()], scope.sizes.iter().copied().map(cell).collect()].concat(),
            );
            for (&n, paper) in scope.sizes.iter().filter_map(|n| Some((n, paper(*n)?))) {
                ours.push(ms(n));
                theirs.push(paper);
            }
        }
    }
    let header = [vec!["".to_owned(), "type".to_owned()], size_names(&scope.sizes)].concat();
    let title =
        "Milliseconds for messages identical to the one before, N = 4096; in parentheses the paper's".to_owned();
    let caption = "Dummy: an element type whose routine looks for the end of the text and converts nothing. The rows \
                   \"no shortcut\", \"Keyed\" and \"Leaf\" are not in the paper.";
    Ok(Exhibit {
        grids: vec![Grid { title, header, rows, names: 2 }],
        charts: vec![table2_chart(points, scope)],
        verdicts: table2_verdicts(points, scope, printed, (&ours, &theirs))?,
        ..named(printed, "Table 2", caption)
    })
}

fn table2_chart(points: &Points, scope: &Scope) -> Chart {
    let n = scope.largest();
    let series = table2_rows().into_iter().map(|(row, _, way)| {
        let ms = TYPES.map(|(kind, unread, ..)| points.ms(table2_recipe(row, (kind, unread), n), way));
        (row.to_owned(), ms.to_vec())
    });
    let title = format!("Milliseconds for identical messages of {n} elements");
    chart(&title, TYPES.map(|(.., name)| name.to_owned()).to_vec(), series.collect())
}

fn table2_verdicts(
    points: &Points,
    scope: &Scope,
    printed: &Printed,
    (ours, theirs): (&[f64], &[f64]),
) -> Result<Vec<Verdict>> {
    let n = scope.largest();
    let regular = |kind| points.ms(Recipe::identical(kind, n), Way::REGULAR);
    let fast = |kind, matcher| points.ms(Recipe::identical(kind, n), Way { matcher, ..full(4096) });
    let dummy = points.ms(Recipe::identical(Kind::UnreadHard, n), Way::REGULAR);
    let speedups = [
        ("xor-hard-speedup", regular(Kind::Hard) / fast(Kind::Hard, Match::Xor)),
        ("xor-ints-speedup", regular(Kind::Ints) / fast(Kind::Ints, Match::Xor)),
        ("crc32-dummy-speedup", dummy / fast(Kind::Hard, Match::Crc32)),
    ];
    let mut verdicts = rank_verdict("Table 2", ours, theirs);
    for (key, speedup) in speedups {
        verdicts.push(Verdict::printed(printed.number(key)?, speedup, Rule::Factor(2.0)));
    }
    let matchers = [Match::Xor, Match::Adler32, Match::Crc32, Match::Compare];
    let slowest = TYPES.into_iter().flat_map(|(kind, ..)| matchers.map(|matcher| regular(kind) / fast(kind, matcher)));
    let claim = "least speedup of fast mode over regular mode, all types and matchers";
    verdicts.push(Verdict::computed(claim, "section 4.4", slowest.fold(f64::MAX, f64::min), Rule::AtLeast(1.0)));
    Ok(verdicts)
}

/// Part of Table 3: 25 and 75 percent, two portion sizes.
fn figure4_or_5(
    points: &Points,
    scope: &Scope,
    printed: &Printed,
    (name, partitions): (&'static str, usize),
) -> Exhibit {
    let bars = [(512, 25), (4096, 25), (512, 75), (4096, 75)];
    let times = |percent, portion| -> Vec<f64> {
        scope.sizes.iter().map(|&n| points.ms(hard(n, percent, partitions), full(portion))).collect()
    };
    let series =
        bars.map(|(portion, percent)| (format!("N = {portion}, P = {percent}"), times(percent, portion))).to_vec();
    let cells: Vec<Cell> = scope
        .sizes
        .iter()
        .flat_map(|&size| bars.map(|(portion, percent)| Cell { percent, size, partitions, portion }))
        .collect();
    let title = format!("Deserialization time, ms, T = {partitions}");
    Exhibit {
        verdicts: share_verdicts(name, points, printed, &cells),
        grids: vec![grid(&title, "portion and changes", scope, &series)],
        charts: vec![chart(&title, size_names(&scope.sizes), series)],
        ..named(
            printed,
            name,
            "Hard doubles; P percent of the values in the middle of each part change. The numbers of the paper's bars are in its Table 3.",
        )
    }
}

fn table3(points: &Points, scope: &Scope, printed: &Printed) -> Exhibit {
    let mut grids = Vec::new();
    let mut all = Vec::new();
    for &partitions in &scope.partitions {
        let mut rows = Vec::new();
        for percent in PERCENTS {
            for &size in &scope.sizes {
                let cells = PORTIONS.map(|portion| Cell { percent, size, partitions, portion });
                rows.push(table3_row(points, printed, &cells));
                all.extend(cells);
            }
        }
        let title = format!("T = {partitions}: milliseconds; time by that of No DDS, and in parentheses the paper's");
        let portions = PORTIONS.map(|portion| format!("N = {portion}"));
        let header = [vec!["P".to_owned(), "n".to_owned(), "No DDS".to_owned()], portions.to_vec()].concat();
        grids.push(Grid { title, header, rows, names: 2 });
    }
    let caption = "Hard doubles, all combinations. The paper's No DDS is that of its Table 2.";
    Exhibit { verdicts: share_verdicts("Table 3", points, printed, &all), grids, ..named(printed, "Table 3", caption) }
}

fn table3_row(points: &Points, printed: &Printed, cells: &[Cell; 4]) -> Vec<String> {
    let Cell { percent, size, partitions, .. } = cells[0];
    let recipe = hard(size, percent, partitions);
    let show = |cell: &Cell| {
        let paper = their_share(printed, *cell);
        let ms = points.ms(recipe, full(cell.portion));
        format!("{}; {}{}", number(ms), number(our_share(points, *cell, Way::REGULAR)), beside(paper))
    };
    let names = vec![format!("{percent} %"), size.to_string()];
    let regular = ms_cells(points, std::iter::once(recipe), Way::REGULAR);
    [names, regular, cells.iter().map(show).collect()].concat()
}

/// Time by that of `reference`, in the same condition.
fn our_share(points: &Points, cell: Cell, reference: Way) -> f64 {
    let recipe = hard(cell.size, cell.percent, cell.partitions);
    points.ms(recipe, full(cell.portion).as_in(reference)) / points.ms(recipe, reference)
}

fn their_share(printed: &Printed, cell: Cell) -> Option<f64> {
    Some(printed.table3(cell)? / printed.table2("regular", "hard", cell.size)?)
}

/// Order of the times; and whether each is below or above regular mode, both with our shortcuts and both without.
fn share_verdicts(place: &str, points: &Points, printed: &Printed, cells: &[Cell]) -> Vec<Verdict> {
    let known: Vec<(Cell, f64)> = cells.iter().filter_map(|&cell| Some((cell, their_share(printed, cell)?))).collect();
    let theirs: Vec<f64> = known.iter().map(|(_, share)| *share).collect();
    let ours = |reference| -> Vec<f64> { known.iter().map(|(cell, _)| our_share(points, *cell, reference)).collect() };
    let mut verdicts = rank_verdict(place, &ours(Way::REGULAR), &theirs);
    for (reference, name) in [(Way::REGULAR, "No DDS"), (Way::GENERAL, "No DDS, both without our shortcuts,")] {
        let gains = |shares: &[f64]| -> Vec<f64> { shares.iter().map(|share| 1.0 - share).collect() };
        let agreement = sign_agreement(&gains(&ours(reference)), &gains(&theirs), 0.05);
        let claim = format!("share of cells on the same side of {name}, where the paper's are 5 percent away from it");
        if !known.is_empty() {
            verdicts.push(Verdict::computed(claim, place, agreement, Rule::AtLeast(ALIKE)));
        }
    }
    verdicts
}

/// None where there are too few cells for an order.
pub fn rank_verdict(place: &str, ours: &[f64], theirs: &[f64]) -> Vec<Verdict> {
    let correlation = rank_correlation(ours, theirs);
    let claim = format!("rank correlation of {} cells", ours.len());
    let is_known = ours.len() > 2 && correlation.is_finite();
    is_known.then(|| Verdict::computed(claim, place, correlation, Rule::AtLeast(ALIKE))).into_iter().collect()
}

/// Switches and shares of bytes in regular mode.
fn section45(points: &Points, scope: &Scope, printed: &Printed) -> Result<Exhibit> {
    let n = scope.largest();
    let mut rows = Vec::new();
    for partitions in [1, 100, 500] {
        for portion in PORTIONS {
            let point = points.at(hard(n, 25, partitions), full(portion));
            let numbers = [point.switches(), point.futile(), point.regular_percent()].map(number);
            rows.push([vec![partitions.to_string(), portion.to_string()], numbers.to_vec()].concat());
        }
    }
    let title = format!("A message of {n} hard doubles, 25 percent changed");
    let header = ["T", "N", "switches to regular mode", "of them futile", "% of bytes in regular mode"];
    let header = header.map(str::to_owned).into();
    Ok(Exhibit {
        grids: vec![Grid { title, header, rows, names: 2 }],
        verdicts: section45_verdicts(points, scope, printed)?,
        ..named(
            printed,
            "Section 4.5",
            "How often the decoder switches, and how much it reads. A switch is futile if nothing was skipped before it: ours compares the portion \
             after a checkpoint first, and has not left regular mode then.",
        )
    })
}

/// Counts depend on the size alone, so they are compared at the paper's size only.
fn section45_verdicts(points: &Points, scope: &Scope, printed: &Printed) -> Result<Vec<Verdict>> {
    if !scope.is_full() {
        return Ok(vec![]);
    }
    let at = |partitions, portion| points.at(hard(scope.largest(), 25, partitions), full(portion));
    let percent = Rule::Within(5.0);
    [
        ("switches-t100", at(100, 4096).switches(), Rule::Factor(1.15)),
        ("switches-t500", at(500, 4096).switches(), Rule::Factor(1.15)),
        ("regular-bytes-n4096-t100", at(100, 4096).regular_percent(), percent),
        ("regular-bytes-n4096-t500", at(500, 4096).regular_percent(), percent),
        ("regular-bytes-n1024-t100", at(100, 1024).regular_percent(), percent),
        ("regular-bytes-n32-t1", at(1, 32).regular_percent(), percent),
    ]
    .into_iter()
    .map(|(key, ours, rule)| Ok(Verdict::printed(printed.number(key)?, ours, rule)))
    .collect()
}

/// A grid with a row a series and a column a size.
pub fn grid(title: &str, first: &str, scope: &Scope, series: &[(String, Vec<f64>)]) -> Grid {
    Grid {
        title: title.to_owned(),
        header: [vec![first.to_owned()], size_names(&scope.sizes)].concat(),
        rows: series
            .iter()
            .map(|(name, values)| [vec![name.clone()], values.iter().copied().map(number).collect()].concat())
            .collect(),
        names: 1,
    }
}

/// Bars of milliseconds.
pub fn chart(title: &str, groups: Vec<String>, series: Vec<(String, Vec<f64>)>) -> Chart {
    Chart { title: title.to_owned(), unit: "ms".to_owned(), groups, series, style: Style::Bars }
}

fn beside(paper: Option<f64>) -> String {
    paper.map_or_else(String::new, |value| format!(" ({})", number(value)))
}

fn ratios(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(one, other)| one / other).collect()
}

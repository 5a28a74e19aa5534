//! *Differential Deserialization for Optimized SOAP Performance*: Figures 2 to 5, Tables 2 and 3,
//! sections 4.5 and 5.
//!
//! Everything uses full checkpoints. Our CRC-32 uses the processor or a table, whichever is faster;
//! the paper's is a plain loop.

use std::rc::Rc;

use anyhow::Result;

use deltasoap_report::statistics::{Compared, Group};
use deltasoap_report::{Chart, Exhibit, Grid, Sizes, Test, number, size_names};

use super::fresh::MESSAGES;
use super::printed::{Cell, DifferentialDeserialization as Printed, LightweightCheckpointing};
use super::scope::{SIZES, Scope, general, hard};
use super::section5;
use super::setting::{Condition, Point, Setting};
use super::study::{Book, Data, Study, cells, claim, known, numbers, one, share};
use crate::options::{Match, Policy};
use crate::stream::{Kind, Recipe};

const PERCENTS: [u32; 4] = [25, 50, 75, 100];
const PORTIONS: [u32; 4] = [32, 512, 1024, 4096];

/// The paper's types, with their names in its tables.
const TYPES: [(Kind, Kind, &str, &str); 3] = [
    (Kind::Ints, Kind::UnreadInts, "ints", "Ints"),
    (Kind::Easy, Kind::UnreadEasy, "easy", "Easy doubles"),
    (Kind::Hard, Kind::UnreadHard, "hard", "Hard doubles"),
];

/// Returns all exhibits, without verdicts.
///
/// # Errors
/// When a number of the paper is missing from `bench/papers/`.
pub fn exhibits(study: Study<'_>, scope: &Scope) -> Result<Vec<Exhibit>> {
    let printed = Printed::load()?;
    Ok(vec![
        figure2(study, scope, &printed),
        figure3(study, scope, &printed),
        table2(study, scope, &printed),
        figure4_or_5(study, scope, &printed, ("Figure 4", 100)),
        figure4_or_5(study, scope, &printed, ("Figure 5", 200)),
        table3(study, scope, &printed),
        section45(study, scope, &printed),
        section5::exhibit(study, scope, &printed),
    ])
}

/// Regular decoding compared with gSOAP's.
fn figure2(study: Study<'_>, scope: &Scope, printed: &Printed) -> Exhibit {
    let mut series: Vec<(String, Vec<f64>)> = Vec::new();
    for (kind, _, _, name) in TYPES {
        let ours = scope.sizes.iter().map(|&n| study.ms(Recipe::identical(kind, n), Setting::REGULAR));
        series.push((format!("deltasoap, {name}"), ours.collect()));
        let theirs: Option<Vec<f64>> = scope.sizes.iter().map(|&n| study.gsoap(kind, n)).collect();
        series.extend(theirs.map(|theirs| (format!("gSOAP, {name}"), theirs)));
    }
    let title = "Deserialization time without differential deserialization, ms";
    Exhibit {
        grids: vec![grid(title, "toolkit and type", scope, &series)],
        charts: vec![Chart::bars(title, "elements", "ms", size_names(&scope.sizes), series)],
        ..Exhibit::new((&printed.title, &printed.source), "Figure 2", "The baseline, by type and number of elements.")
    }
}

/// The cost of checkpoints that are never used.
fn figure3(study: Study<'_>, scope: &Scope, printed: &Printed) -> Exhibit {
    let portions = [32, 256, 512, 1024, 4096];
    let times = |setting| -> Vec<f64> { scope.sizes.iter().map(|&n| study.ms(unread(n), setting)).collect() };
    let mut series = vec![("No DDS".to_owned(), times(Setting::REGULAR))];
    series.extend(portions.map(|portion| (format!("N = {portion}"), times(always_first(portion)))));
    let title = "Deserialization time in regular mode with checkpoints, ms (hard doubles)";
    Exhibit {
        grids: vec![grid(title, "portion", scope, &series)],
        charts: vec![Chart::bars(title, "elements", "ms", size_names(&scope.sizes), series)],
        ..Exhibit::new(
            (&printed.title, &printed.source),
            "Figure 3",
            "The overhead of full checkpoints: each message is read as if it were the first one.",
        )
    }
}

/// Returns a stream whose messages are each read as first ones.
fn unread(n: usize) -> Recipe {
    hard(n, 0, 1)
}

fn always_first(portion: u32) -> Setting {
    Setting { condition: Condition::AlwaysFirst, ..Setting::full(portion) }
}

/// Returns the rows of Table 2: name, the paper's name, and how it is measured.
fn table2_rows() -> Vec<(&'static str, Option<&'static str>, Setting)> {
    let fast = |matcher| Setting { matcher, ..Setting::full(4096) };
    vec![
        ("Dummy", Some("dummy"), Setting::REGULAR),
        ("No DDS", Some("regular"), Setting::REGULAR),
        ("No DDS, no shortcut", None, Setting::GENERAL),
        ("XOR", Some("xor"), fast(Match::Xor)),
        ("Adler32", Some("adler32"), fast(Match::Adler32)),
        ("CRC32", Some("crc32"), fast(Match::Crc32)),
        ("Cmp", Some("compare"), fast(Match::Compare)),
        ("Keyed", None, fast(Match::Keyed)),
        ("Leaf", None, Setting::LEAF),
    ]
}

fn table2_recipe(row: &str, kinds: (Kind, Kind), n: usize) -> Recipe {
    Recipe::identical(if row == "Dummy" { kinds.1 } else { kinds.0 }, n)
}

fn table2(study: Study<'_>, scope: &Scope, printed: &Printed) -> Exhibit {
    let mut rows = Vec::new();
    for (row, mode, setting) in table2_rows() {
        for (kind, unread, key, name) in TYPES {
            let ms = |n: usize| study.ms(table2_recipe(row, (kind, unread), n), setting);
            let paper = |n: usize| mode.and_then(|mode| printed.table2(mode, key, n));
            let cell = |n: usize| format!("{}{}", number(ms(n)), beside(paper(n)));
            rows.push(
                [vec![row.to_owned(), name.to_owned()], scope.sizes.iter().copied().map(cell).collect()].concat(),
            );
        }
    }
    let header = [vec!["".to_owned(), "type".to_owned()], size_names(&scope.sizes)].concat();
    let title =
        "Milliseconds for messages identical to the one before, N = 4096; in parentheses the paper's".to_owned();
    let caption = "Dummy: an element type whose routine looks for the end of the text and converts nothing. The rows \
                   \"no shortcut\", \"Keyed\" and \"Leaf\" are not in the paper.";
    Exhibit {
        grids: vec![Grid { title, header, rows, names: 2 }],
        charts: vec![table2_chart(study, scope)],
        ..Exhibit::new((&printed.title, &printed.source), "Table 2", caption)
    }
}

fn table2_chart(study: Study<'_>, scope: &Scope) -> Chart {
    let n = scope.largest();
    let series = table2_rows().into_iter().map(|(row, _, setting)| {
        let ms = TYPES.map(|(kind, unread, ..)| study.ms(table2_recipe(row, (kind, unread), n), setting));
        (row.to_owned(), ms.to_vec())
    });
    let title = format!("Milliseconds for identical messages of {n} elements");
    Chart::bars(title, "type of the elements", "ms", TYPES.map(|(.., name)| name.to_owned()).to_vec(), series.collect())
}

/// Part of Table 3: 25 and 75 percent, two portion sizes.
fn figure4_or_5(
    study: Study<'_>,
    scope: &Scope,
    printed: &Printed,
    (name, partitions): (&'static str, usize),
) -> Exhibit {
    let bars = [(512, 25), (4096, 25), (512, 75), (4096, 75)];
    let times = |percent, portion| -> Vec<f64> {
        scope.sizes.iter().map(|&n| study.ms(hard(n, percent, partitions), Setting::full(portion))).collect()
    };
    let series =
        bars.map(|(portion, percent)| (format!("N = {portion}, P = {percent}"), times(percent, portion))).to_vec();
    let title = format!("Deserialization time, ms, T = {partitions}");
    Exhibit {
        grids: vec![grid(&title, "portion and changes", scope, &series)],
        charts: vec![Chart::bars(title, "elements", "ms", size_names(&scope.sizes), series)],
        ..Exhibit::new(
            (&printed.title, &printed.source),
            name,
            "Hard doubles; P percent of the values in the middle of each part change. The numbers of the paper's bars are in its Table 3.",
        )
    }
}

fn table3(study: Study<'_>, scope: &Scope, printed: &Printed) -> Exhibit {
    let mut grids = Vec::new();
    for &partitions in &scope.partitions {
        let mut rows = Vec::new();
        for percent in PERCENTS {
            for &size in &scope.sizes {
                let cells = PORTIONS.map(|portion| Cell { percent, size, partitions, portion });
                rows.push(table3_row(study, printed, &cells));
            }
        }
        let title = format!("T = {partitions}: milliseconds; time by that of No DDS, and in parentheses the paper's");
        let portions = PORTIONS.map(|portion| format!("N = {portion}"));
        let header = [vec!["P".to_owned(), "n".to_owned(), "No DDS".to_owned()], portions.to_vec()].concat();
        grids.push(Grid { title, header, rows, names: 2 });
    }
    let mut caption = "Hard doubles, all combinations. The paper's No DDS is that of its Table 2.".to_owned();
    if SIZES.iter().all(|size| scope.sizes.contains(size)) && has_all_columns(&scope.partitions).is_ok() {
        grids.extend(scope.partitions.iter().map(|&partitions| table3_general(study, printed, partitions)));
        caption += GENERAL_CAPTION;
    }
    Exhibit { grids, ..Exhibit::new((&printed.title, &printed.source), "Table 3", &caption) }
}

/// Added to the caption if there are tables without our shortcuts. Only a run of the whole table
/// has the claims that compare these times.
pub const GENERAL_CAPTION: &str =
    " Claims \"without our shortcuts\" are about the last tables, where every tag is tokenized on both sides.";

/// Returns times by those of regular mode, both without our shortcuts.
fn table3_general(study: Study<'_>, printed: &Printed, partitions: usize) -> Grid {
    let mut rows = Vec::new();
    for percent in PERCENTS {
        for size in SIZES {
            let recipe = hard(size, percent, partitions);
            let cells = PORTIONS.map(|portion| {
                let ours = study.ms(recipe, general(Setting::full(portion))) / study.ms(recipe, Setting::GENERAL);
                let theirs = their_share(printed, Cell { percent, size, partitions, portion });
                format!("{}{}", number(ours), beside(theirs))
            });
            rows.push([vec![format!("{percent} %"), size.to_string()], cells.to_vec()].concat());
        }
    }
    let title =
        format!("T = {partitions}, without our shortcuts: time by that of No DDS, and in parentheses the paper's");
    let portions = PORTIONS.map(|portion| format!("N = {portion}"));
    let header = [vec!["P".to_owned(), "n".to_owned()], portions.to_vec()].concat();
    Grid { title, header, rows, names: 2 }
}

fn table3_row(study: Study<'_>, printed: &Printed, cells: &[Cell; 4]) -> Vec<String> {
    let Cell { percent, size, partitions, .. } = cells[0];
    let recipe = hard(size, percent, partitions);
    let show = |cell: &Cell| {
        let paper = their_share(printed, *cell);
        let (ms, regular) = (study.ms(recipe, Setting::full(cell.portion)), study.ms(recipe, Setting::REGULAR));
        format!("{}; {}{}", number(ms), number(ms / regular), beside(paper))
    };
    let names = vec![format!("{percent} %"), size.to_string()];
    let regular = study.ms_cells(std::iter::once(recipe), Setting::REGULAR);
    [names, regular, cells.iter().map(show).collect()].concat()
}

fn their_share(printed: &Printed, cell: Cell) -> Option<f64> {
    Some(printed.table3(cell)? / printed.table2("regular", "hard", cell.size)?)
}

/// Switches, and shares of bytes in regular mode.
fn section45(study: Study<'_>, scope: &Scope, printed: &Printed) -> Exhibit {
    let n = scope.counted;
    let mut rows = Vec::new();
    for partitions in [1, 100, 500] {
        for portion in PORTIONS {
            // Counts are the same in each repetition.
            let fresh = |data: &Data| {
                let (recipe, setting) = (hard(n, 25, partitions), Setting::full(portion));
                let [first, last] = data.fresh.ends(recipe, setting, Point::switches);
                let [switches, futile, regular] =
                    [Point::switches as fn(&Point) -> f64, Point::futile, Point::regular_percent]
                        .map(|number| data.fresh.mean(recipe, setting, number));
                [switches, first, last, futile, regular].map(number).to_vec()
            };
            let numbers = study.0.first().map(fresh).unwrap_or_default();
            rows.push([vec![partitions.to_string(), portion.to_string()], numbers].concat());
        }
    }
    let title =
        format!("{MESSAGES} messages of {n} hard doubles after a first one, 25 percent changed, values always fresh");
    let header = [
        "T",
        "N",
        "switches to regular mode",
        "first fifth",
        "last fifth",
        "of them futile",
        "% of bytes in regular mode",
    ];
    let header = header.map(str::to_owned).into();
    Exhibit {
        grids: vec![Grid { title, header, rows, names: 2 }],
        ..Exhibit::new(
            (&printed.title, &printed.source),
            "Section 4.5",
            "How often the decoder switches, and how much it reads.",
        )
    }
}

/// Returns a grid with a row per series and a column per size.
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

fn beside(paper: Option<f64>) -> String {
    paper.map_or_else(String::new, |value| format!(" ({})", number(value)))
}

/// Returns the paper's claims.
///
/// # Errors
/// When a number of the paper is missing from `bench/papers/`.
pub fn claims(scope: &Scope) -> Result<Book> {
    let printed = Rc::new(Printed::load()?);
    let mut book = Book::new("DDS", &scope.sizes);
    baseline_claims(&mut book);
    overhead_claims(&mut book, &printed);
    table2_claims(&mut book, &printed)?;
    dual_mode_claims(&mut book);
    table3_claims(&mut book, &printed, scope);
    section45_claims(&mut book, &printed, scope.counted)?;
    Ok(book)
}

/// The papers' largest size, which most of their statements are about.
const LARGEST: usize = 100_000;

fn largest() -> Sizes {
    Sizes::All(vec![LARGEST])
}

fn each() -> Sizes {
    Sizes::Each(SIZES.to_vec())
}

/// Returns the sizes of statements about a table as a whole.
fn all() -> Sizes {
    Sizes::All(SIZES.to_vec())
}

/// The numbers of partitions in both papers' large tables.
const PARTITIONS: [usize; 4] = [1, 100, 200, 500];

/// Returns an error if a run lacks columns of the papers' large tables.
pub fn has_all_columns(partitions: &[usize]) -> Result<(), String> {
    let has_all = PARTITIONS.iter().all(|wanted| partitions.contains(wanted));
    has_all
        .then_some(())
        .ok_or_else(|| format!("the paper's partitions are {PARTITIONS:?}, this run has {partitions:?}"))
}

const NO_STACK: &str = "regular mode is many times as fast as theirs, so that a checkpoint weighs more";

fn baseline_claims(book: &mut Book) {
    let statement = "gSOAP's time of regular deserialization by ours, each type and size (\"comparable\")";
    let test = Test::Range { low: 0.5, high: 2.0 };
    let comparable = claim("baseline", "section 4.2", statement, each(), test);
    let because = "ours is faster than comparable: flat arrays have a routine of their own";
    book.add("Figure 2", known(comparable, because), |data, sizes| {
        let mut ratios = Vec::new();
        for (kind, ..) in TYPES {
            for &n in sizes {
                let ours = data.ms(Recipe::identical(kind, n), Setting::REGULAR);
                ratios.push(data.gsoap(kind, n)? / ours);
            }
        }
        numbers(ratios)
    });
}

/// Returns the slowdown of a message by checkpoints that are never used, in percent.
fn overhead(data: &Data, n: usize, portion: u32) -> f64 {
    (data.ms(unread(n), always_first(portion)) / data.ms(unread(n), Setting::REGULAR) - 1.0) * 100.0
}

/// Returns the paper's slowdown from its Table 3: with all values changed, in one part, no
/// checkpoint is used.
fn their_overhead(printed: &Printed, size: usize, portion: u32) -> Option<f64> {
    let cell = Cell { percent: 100, size, partitions: 1, portion };
    Some((their_share(printed, cell)? - 1.0) * 100.0)
}

/// Returns the paper's slowdown at 256 bytes, which the table lacks: interpolated between 32 and
/// 512 bytes by the number of checkpoints.
fn their_overhead_at_256(printed: &Printed, size: usize) -> Option<f64> {
    let (at_32, at_512) = (their_overhead(printed, size, 32)?, their_overhead(printed, size, 512)?);
    Some(at_512 + (at_32 - at_512) / 15.0)
}

fn overhead_claims(book: &mut Book, printed: &Rc<Printed>) {
    let statement = "overhead of checkpoints by that of Table 3 with all values changed (23, 17 and 12 % of 100K), N = 512, 1024 and 4096, each size (\"small\")";
    let small = claim("overhead", "section 4.3", statement, each(), Test::AtMost(1.5));
    let theirs = printed.clone();
    book.add("Figure 3", known(small, NO_STACK), move |data, sizes| {
        let by_theirs = |n, portion| Some(overhead(data, n, portion) / their_overhead(&theirs, n, portion)?);
        let pairs = sizes.iter().flat_map(|&n| [512, 1024, 4096].map(|portion| (n, portion)));
        numbers(pairs.filter_map(|(n, portion)| by_theirs(n, portion)).collect())
    });
    let statement = "overhead of checkpoints at N = 256 by that of Table 3 between N = 32 and 512 (33 % of 100K), each size (\"relatively small\", from 256 bytes on)";
    let at_256 = claim("overhead-256", "section 4.3", statement, each(), Test::AtMost(1.5));
    let theirs = printed.clone();
    book.add("Figure 3", known(at_256, NO_STACK), move |data, sizes| {
        let by_theirs = |&n: &usize| Some(overhead(data, n, 256) / their_overhead_at_256(&theirs, n)?);
        numbers(sizes.iter().filter_map(by_theirs).collect())
    });
    // A quotient of both would be large if the divisor is near zero. Five times a negative overhead
    // counts as nothing, and what is left has to exceed what is still "relatively small" (33 % at
    // N = 256).
    let statement = "overhead at N = 32 less five times that at N = 4096, in percent of regular mode (\"small, except when the portion is extremely small\"; Table 3: 171 and 12)";
    let at_32 = claim("overhead-32", "section 4.3", statement, largest(), Test::AtLeast(33.0));
    book.add("Figure 3", at_32, |data, _| {
        one(overhead(data, LARGEST, 32) - 5.0 * overhead(data, LARGEST, 4096).max(0.0))
    });
}

fn regular(data: &Data, kind: Kind, n: usize) -> f64 {
    data.ms(Recipe::identical(kind, n), Setting::REGULAR)
}

fn speedup(data: &Data, kind: Kind, n: usize, matcher: Match) -> f64 {
    regular(data, kind, n) / data.ms(Recipe::identical(kind, n), Setting { matcher, ..Setting::full(4096) })
}

fn speedups(data: &Data, sizes: &[usize]) -> Vec<f64> {
    let matchers = [Match::Xor, Match::Adler32, Match::Crc32, Match::Compare];
    let kinds = TYPES.into_iter().flat_map(|(kind, ..)| matchers.map(|matcher| (kind, matcher)));
    kinds.flat_map(|(kind, matcher)| sizes.iter().map(move |&n| speedup(data, kind, n, matcher))).collect()
}

const CRC: &str = "CRC-32 is an instruction here, and was a loop there";

fn table2_claims(book: &mut Book, printed: &Rc<Printed>) -> Result<()> {
    let statement = "rank correlation of Table 2 within each size, in fast mode and without it apart (size and mode alone would put any two tables into much the same order)";
    let ranks = known(claim("table2", "Table 2", statement, all(), Test::Ranks { least: 0.8 }), CRC);
    let theirs = printed.clone();
    book.add("Table 2", ranks, move |data, sizes| {
        cells(sizes.iter().flat_map(|&n| table2_groups(data, &theirs, n)).collect())
    });
    let factor = |key: &str| {
        let number = printed.number(key)?;
        Ok::<_, anyhow::Error>(number.claim("", largest(), Test::Factor { printed: number.value, factor: 2.0 }))
    };
    book.add("Table 2", factor("xor-hard-speedup")?, |data, _| one(speedup(data, Kind::Hard, LARGEST, Match::Xor)));
    book.add("Table 2", factor("xor-ints-speedup")?, |data, _| one(speedup(data, Kind::Ints, LARGEST, Match::Xor)));
    let crc32 = known(factor("crc32-dummy-speedup")?, CRC);
    book.add("Table 2", crc32, |data, _| {
        let dummy = data.ms(Recipe::identical(Kind::UnreadHard, LARGEST), Setting::REGULAR);
        one(dummy / regular(data, Kind::Hard, LARGEST) * speedup(data, Kind::Hard, LARGEST, Match::Crc32))
    });
    // At least half of theirs: the factor of two of the other speedups, in the direction of the
    // statement.
    let number = printed.number("least-speedup")?;
    let least = number.claim("", each(), Test::AtLeast(number.value / 2.0));
    book.add("Table 2", least, |data, sizes| numbers(speedups(data, sizes)));
    let number = printed.number("greatest-speedup")?;
    let greatest = number.claim("", all(), Test::Factor { printed: number.value, factor: 2.0 });
    book.add("Table 2", greatest, |data, sizes| one(speedups(data, sizes).into_iter().fold(f64::MIN, f64::max)));
    let other = LightweightCheckpointing::load()?;
    let number = other.number("crc32-share")?;
    let mut share = number.claim("", largest(), Test::AtMost(number.value));
    share.place = format!("Lightweight Checkpointing, {}", share.place);
    book.add("Table 2", share, |data, _| one(100.0 / speedup(data, Kind::Hard, LARGEST, Match::Crc32)));
    Ok(())
}

/// Returns the times of a size, ours and theirs: without fast mode, and with it.
fn table2_groups(data: &Data, printed: &Printed, n: usize) -> [Group; 2] {
    let mut groups = [vec![], vec![]];
    for (at, (row, mode, setting)) in table2_rows().into_iter().enumerate() {
        for (type_at, (kind, unread, key, _)) in TYPES.into_iter().enumerate() {
            let Some(theirs) = mode.and_then(|mode| printed.table2(mode, key, n)) else { continue };
            let ours = data.ms(table2_recipe(row, (kind, unread), n), setting);
            groups[usize::from(setting.policy != Policy::Off)].push(Compared { ours, theirs, place: [n, at, type_at] });
        }
    }
    groups
}

/// Adds the text's claims about Figures 4 and 5: 100K elements, of which a quarter changes.
fn dual_mode_claims(book: &mut Book) {
    let ms = |data: &Data, partitions, portion| data.ms(hard(LARGEST, 25, partitions), Setting::full(portion));
    let statement = "time by that of regular mode, P = 25, T = 100, N = 512 and 4096";
    let better = claim("figure4", "section 4.5", statement, largest(), Test::AtMost(1.0));
    book.add("Figure 4", known(better, NO_STACK), move |data, _| {
        let regular = data.ms(hard(LARGEST, 25, 100), Setting::REGULAR);
        numbers(vec![ms(data, 100, 512) / regular, ms(data, 100, 4096) / regular])
    });
    let statement =
        "time, P = 25, N = 4096, as T goes from 1 over 100 and 200 to 500 (\"as T increases, performance worsens\")";
    let worse = claim("partitions", "section 4.5", statement, largest(), Test::Ascending);
    book.add("Figure 5", worse, move |data, _| numbers([1, 100, 200, 500].map(|t| ms(data, t, 4096)).to_vec()));
    let statement = "what T = 200 instead of 100 multiplies the time by, P = 25: at N = 4096 by at N = 512 (\"especially for larger N\")";
    let more = claim("partitions-portions", "section 4.5", statement, largest(), Test::AtLeast(1.0));
    let growth = move |data: &Data, portion| ms(data, 200, portion) / ms(data, 100, portion);
    book.add("Figure 5", more, move |data, _| one(growth(data, 4096) / growth(data, 512)));
}

/// Returns cells of Table 3, grouped by percentage.
fn table3_cells(percents: &[u32], sizes: &[usize], partitions: &[usize]) -> Vec<Vec<Cell>> {
    let of = |&percent: &u32| {
        let pairs = sizes.iter().flat_map(|&size| partitions.iter().map(move |&partitions| (size, partitions)));
        let all =
            pairs.flat_map(|(size, partitions)| PORTIONS.map(|portion| Cell { percent, size, partitions, portion }));
        all.collect()
    };
    percents.iter().map(of).collect()
}

/// Returns shares of regular mode, ours and theirs; `setting` applies to both of ours.
fn share_groups(data: &Data, printed: &Printed, groups: &[Vec<Cell>], modified: fn(Setting) -> Setting) -> Vec<Group> {
    let compared = |cell: &Cell| {
        let recipe = hard(cell.size, cell.percent, cell.partitions);
        let ours = data.ms(recipe, modified(Setting::full(cell.portion))) / data.ms(recipe, modified(Setting::REGULAR));
        let place = [cell.size, cell.partitions, cell.portion as usize];
        Some(Compared { ours, theirs: their_share(printed, *cell)?, place })
    };
    groups.iter().map(|group| group.iter().filter_map(compared).collect()).collect()
}

fn table3_claims(book: &mut Book, printed: &Rc<Printed>, scope: &Scope) {
    let as_it_is: fn(Setting) -> Setting = |setting| setting;
    let partitions = scope.partitions.clone();
    let statement = "order and interplay of T, N and n in Table 3: the lesser of two correlations within P = 25, 50 and 75, of ranks and of what is left of the times when each factor's own effect is taken away (P = 100 has no order)";
    // A model in which only N = 32 is slow, and T matters for the others, reaches 0.53.
    let order = claim("table3", "Table 3", statement, all(), Test::Interplay { least: 0.7 });
    let (theirs, columns) = (printed.clone(), partitions.clone());
    book.add("Table 3", known(order, NO_STACK), move |data, sizes| {
        has_all_columns(&columns)?;
        cells(share_groups(data, &theirs, &table3_cells(&[25, 50, 75], sizes, &columns), as_it_is))
    });
    for (key, reference, modified, because) in [
        ("table3-cells", "both with our shortcuts", as_it_is, NO_STACK),
        ("table3-cells-general", "both without our shortcuts, as theirs", general as fn(Setting) -> Setting, ""),
    ] {
        let statement = format!(
            "cells of Table 3, time by that of No DDS, {reference}: mean distance of logarithms from theirs, by that of the best model of P, T, N or n alone"
        );
        let alike = claim(key, "Table 3", statement, all(), Test::Closer { share: 0.9 });
        let alike = if because.is_empty() { alike } else { known(alike, because) };
        let (theirs, columns) = (printed.clone(), partitions.clone());
        book.add("Table 3", alike, move |data, sizes| {
            has_all_columns(&columns)?;
            cells(share_groups(data, &theirs, &table3_cells(&PERCENTS, sizes, &columns), modified))
        });
    }
    portion_claims(book);
    effect_claims(book);
}

/// Returns the cells of Table 3 with these percentages, 100K elements and portions above 32 bytes.
fn above_32(percents: &[u32]) -> impl Iterator<Item = Cell> + use<> {
    let all = table3_cells(percents, &[LARGEST], &PARTITIONS).concat();
    all.into_iter().filter(|cell| cell.portion > 32)
}

/// Returns the share of these cells that are faster than regular mode.
fn faster(data: &Data, percents: &[u32]) -> f64 {
    share(above_32(percents).map(|cell| {
        let recipe = hard(cell.size, cell.percent, cell.partitions);
        data.ms(recipe, Setting::full(cell.portion)) < data.ms(recipe, Setting::REGULAR)
    }))
}

/// Adds the claims of section 4.5 about portion sizes: 100K elements.
fn portion_claims(book: &mut Book) {
    let ms = |data: &Data, percent, portion| data.ms(hard(LARGEST, percent, 1), Setting::full(portion));
    let statement = "share of cells with P = 25 or 50 and N above 32 that are faster than regular mode (\"in general\"; the paper: 23 of 24)";
    let gains = claim("improvements", "section 4.5", statement, largest(), Test::AtLeast(0.9));
    book.add("Table 3", known(gains, NO_STACK), |data, _| one(faster(data, &[25, 50])));
    let statement = "share of cells with P = 75 and N above 32 that are faster than regular mode (\"and even 75 % in many cases\": at least half; the paper: 8 of 12)";
    let gains = claim("improvements-75", "section 4.5", statement, largest(), Test::AtLeast(0.5));
    book.add("Table 3", known(gains, NO_STACK), |data, _| one(faster(data, &[75])));
    let statement = "time at N = 32 by the greatest at other N, P = 25, T = 1 (\"the worst performance\")";
    let worst = claim("portion-32", "section 4.5", statement, largest(), Test::AtLeast(1.0));
    let most =
        move |data: &Data| [512, 1024, 4096].map(|portion| ms(data, 25, portion)).into_iter().fold(0.0, f64::max);
    book.add("Table 3", worst, move |data, _| one(ms(data, 25, 32) / most(data)));
    let statement =
        "time at N = 32 by that of regular mode, P = 25, T = 1 (\"still better than a regular deserializer\")";
    let better = claim("portion-32-better", "section 4.5", statement, largest(), Test::AtMost(1.0));
    book.add("Table 3", known(better, NO_STACK), move |data, _| {
        one(ms(data, 25, 32) / data.ms(hard(LARGEST, 25, 1), Setting::REGULAR))
    });
    let statement =
        "time at N = 512 by that at N = 4096, P = 100, T = 1 (\"comparable for all N other than 32\"; the paper: 1.1)";
    let level = claim("portions-level", "section 4.5", statement, largest(), Test::Range { low: 0.8, high: 1.25 });
    book.add("Table 3", known(level, NO_STACK), move |data, _| one(ms(data, 100, 512) / ms(data, 100, 4096)));
}

/// "As P becomes larger, the effect of both T and N becomes smaller": 100K elements.
fn effect_claims(book: &mut Book) {
    let ms =
        |data: &Data, percent, partitions, portion| data.ms(hard(LARGEST, percent, partitions), Setting::full(portion));
    let falls = |effects: Vec<f64>| effects.windows(2).map(|pair| pair[0] / pair[1]).collect::<Vec<_>>();
    let statement = "what T = 500 instead of 1 multiplies the time by, N = 512, 1024 and 4096: each value of P = 25, 50, 75 and 100 by the next, the least (\"smaller\")";
    let partitions = claim("effect-partitions", "section 4.5", statement, largest(), Test::AtLeast(1.0));
    book.add("Table 3", partitions, move |data, _| {
        let effect = |percent, portion| ms(data, percent, 500, portion) / ms(data, percent, 1, portion);
        let of = |portion| falls(PERCENTS.map(|percent| effect(percent, portion)).to_vec());
        numbers([512, 1024, 4096].map(of).concat())
    });
    let statement = "the greatest time of N = 512, 1024 and 4096 by the least, T = 100, 200 and 500: each value of P = 25, 50 and 75 by the next, the least (\"smaller\"; at P = 100 nothing is left of it)";
    let portions = claim("effect-portions", "section 4.5", statement, largest(), Test::AtLeast(1.0));
    book.add("Table 3", portions, move |data, _| {
        let effect = |percent, partitions| {
            let times = [512, 1024, 4096].map(|portion| ms(data, percent, partitions, portion));
            times.into_iter().fold(0.0, f64::max) / times.into_iter().fold(f64::INFINITY, f64::min)
        };
        let of = |partitions| falls([25, 50, 75].map(|percent| effect(percent, partitions)).to_vec());
        numbers([100, 200, 500].map(of).concat())
    });
}

/// Counts depend only on sizes, not on the machine.
const FEWER: &str = "a checkpoint among changed values gives way here where switching at it saves nothing";

/// The greatest distance of a share of bytes, in points. 25 %, the share of the changed values, is
/// farther from three of the paper's four numbers.
const DISTANCE: f64 = 1.0;

fn section45_claims(book: &mut Book, printed: &Printed, size: usize) -> Result<()> {
    let percent = |key: &str| {
        let number = printed.number(key)?;
        let test = Test::Near { printed: number.value, distance: DISTANCE };
        Ok::<_, anyhow::Error>(number.claim("", largest(), test))
    };
    for (key, partitions) in [("switches-t100", 100), ("switches-t500", 500)] {
        let number = printed.number(key)?;
        let test = Test::Factor { printed: number.value, factor: 1.25 };
        let switches =
            move |data: &Data| data.fresh.ends(hard(LARGEST, 25, partitions), Setting::full(4096), Point::switches);
        let fewer = known(number.claim("", largest(), test), FEWER);
        book.count("Section 4.5", fewer, &[size], move |data, _| {
            one(data.fresh.mean(hard(LARGEST, 25, partitions), Setting::full(4096), Point::switches))
        });
        let statement = format!(
            "switches, T = {partitions}: mean of the first and of the last fifth of the messages (an average means something if it is level)"
        );
        let level = claim(&format!("{key}-level"), "section 4.5", statement, largest(), Test::Level { percent: 10.0 });
        book.count("Section 4.5", level, &[size], move |data, _| numbers(switches(data).to_vec()));
    }
    for (key, partitions, portion, note) in [
        ("regular-bytes-n4096-t100", 100, 4096, ""),
        ("regular-bytes-n4096-t500", 500, 4096, ""),
        ("regular-bytes-n1024-t100", 100, 1024, ""),
        ("regular-bytes-n32-t1", 1, 32, "; 25 itself, the share of the changed values, would agree as well"),
    ] {
        let mut near = percent(key)?;
        near.statement += note;
        book.count("Section 4.5", near, &[size], move |data, _| {
            one(data.fresh.mean(hard(LARGEST, 25, partitions), Setting::full(portion), Point::regular_percent))
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::model::Paper;
    use crate::report::Counts;
    use deltasoap_report::{Outcome, Verdict};

    /// Returns verdicts on artificial times, which `ours` calculates from a recipe and a setting.
    fn judged(ours: impl Fn(Recipe, Setting) -> f64) -> Vec<Verdict> {
        let (data, book) = (Data::default(), claims(&Scope::new(false, &[])).unwrap());
        book.judge(Study(std::slice::from_ref(&data)));
        let mut data = data;
        data.points.fill(|recipe, setting| Point { ms: ours(recipe, setting), counts: None });
        Paper::Deserialization.fill(&mut data);
        book.judge(Study(std::slice::from_ref(&data)))
    }

    fn of<'v>(verdicts: &'v [Verdict], key: &str) -> &'v Verdict {
        verdicts.iter().find(|verdict| verdict.claim.key == key).unwrap()
    }

    fn in_table3(share: impl Fn(Recipe, f64) -> f64) -> impl Fn(Recipe, Setting) -> f64 {
        move |recipe, setting| {
            if setting.policy == Policy::Off { 1.0 } else { share(recipe, f64::from(setting.portion)) }
        }
    }

    /// Models that know parts of Table 3, as shares of regular mode: nothing, P, N, T, two of them,
    /// or all three without interaction.
    #[test]
    fn no_trivial_model_agrees_with_table_3() {
        let is_32 = |portion: f64| f64::from(u8::from(portion < 100.0));
        let partitions = |recipe: Recipe| recipe.partitions as f64;
        let models: [&dyn Fn(Recipe, f64) -> f64; 8] = [
            &|_, _| 1.0,
            &|recipe, _| f64::from(recipe.percent) / 100.0,
            &|recipe, _| [0.1, 0.4, 0.65, 0.95, 1.15][recipe.percent as usize / 25],
            &|_, portion| if portion < 100.0 { 1.8 } else { 0.7 },
            &|recipe, _| 0.5 + partitions(recipe) / 1000.0,
            &|recipe, portion| (5.0 * is_32(portion) + partitions(recipe) / 1000.0).exp(),
            &|recipe, portion| 1e4 * is_32(portion) + partitions(recipe),
            &|recipe, portion| partitions(recipe) * portion / recipe.n as f64,
        ];
        for (at, model) in models.into_iter().enumerate() {
            let verdicts = judged(in_table3(model));
            for key in ["table3", "table3-cells", "table3-cells-general"] {
                let verdict = of(&verdicts, key);
                assert_eq!(verdict.outcome, Outcome::Differs, "{at} {key}: {:?}", verdict.ours);
            }
        }
    }

    /// The paper's description: runs of changed bytes are read to the end of their portions, and
    /// each checkpoint has a cost.
    #[test]
    fn a_model_of_what_the_paper_describes_has_the_interplay_of_table_3() {
        let verdicts = judged(in_table3(|recipe, portion| {
            let part = recipe.n as f64 / recipe.partitions as f64 * 36.0;
            let read = (part * f64::from(recipe.percent) / 100.0 + portion).min(part) / part;
            read * (1.0 + 55.0 / portion) + 0.05
        }));
        let verdict = of(&verdicts, "table3");
        assert_eq!(verdict.outcome, Outcome::Agrees, "{:?} {:?}", verdict.ours, verdict.bar);
    }

    /// Fast modes are fast, hard doubles are slow, but matchers make no difference.
    #[test]
    fn no_trivial_model_agrees_with_table_2() {
        let is_hard = |recipe: Recipe| f64::from(u8::from(matches!(recipe.kind, Kind::Hard | Kind::UnreadHard)));
        let is_off = |setting: Setting| f64::from(u8::from(setting.policy == Policy::Off));
        let size = |recipe: Recipe| match recipe.kind {
            Kind::Ints | Kind::UnreadInts => 0.0,
            Kind::Easy | Kind::UnreadEasy => 1.0,
            _ => 2.0,
        };
        let models: [&dyn Fn(Recipe, Setting) -> f64; 3] = [
            &|_, setting| 1.0 + is_off(setting),
            &|recipe, setting| 1.0 + 10.0 * is_off(setting) + is_hard(recipe),
            &|recipe, setting| 1.0 + 10.0 * is_off(setting) + size(recipe),
        ];
        for (at, model) in models.into_iter().enumerate() {
            let verdicts = judged(model);
            let verdict = of(&verdicts, "table2");
            assert_eq!(verdict.outcome, Outcome::Differs, "{at}: {:?}", verdict.ours);
        }
    }

    #[test]
    fn some_columns_of_a_table_are_not_the_table() {
        let scope = Scope::new(true, &SIZES);
        let (book, data) = (claims(&scope).unwrap(), Data::default());
        let verdicts = book.judge(Study(std::slice::from_ref(&data)));
        let verdict = of(&verdicts, "table3");
        assert_eq!(verdict.outcome, Outcome::NotMeasured);
        assert_eq!(verdict.why(), "the paper's partitions are [1, 100, 200, 500], this run has [1, 100]");
    }

    #[test]
    fn the_paper_itself_has_23_of_24_gains_and_8_of_12() {
        let printed = Printed::load().unwrap();
        let gains = |percents: &[u32]| {
            let gains: Vec<bool> = above_32(percents).map(|cell| their_share(&printed, cell).unwrap() < 1.0).collect();
            (gains.len(), gains.iter().filter(|is_gain| **is_gain).count())
        };
        assert_eq!((gains(&[25, 50]), gains(&[75])), ((24, 23), (12, 8)));
    }

    /// Only small portions, or only arrays in one part, are faster than regular mode.
    #[test]
    fn many_cases_are_at_least_half() {
        let outcome = |is_faster: fn(Recipe, f64) -> bool| {
            let share = move |recipe: Recipe, portion| if is_faster(recipe, portion) { 0.9 } else { 1.1 };
            of(&judged(in_table3(share)), "improvements-75").outcome
        };
        assert_eq!(outcome(|_, portion| portion < 4096.0), Outcome::Agrees);
        assert_eq!(outcome(|_, portion| portion < 1024.0), Outcome::Differs);
        assert_eq!(outcome(|recipe, _| recipe.partitions == 1), Outcome::Differs);
        assert_eq!(outcome(|recipe, _| recipe.percent < 75), Outcome::Differs);
    }

    /// Overheads in percent at N = 32 and 4096.
    #[test]
    fn an_overhead_near_zero_makes_no_other_one_large() {
        let outcome = |at_32: f64, at_4096: f64| {
            let verdicts = judged(move |_, setting| match (setting.condition, setting.portion) {
                (Condition::AlwaysFirst, 32) => 1.0 + at_32 / 100.0,
                (Condition::AlwaysFirst, 4096) => 1.0 + at_4096 / 100.0,
                _ => 1.0,
            });
            of(&verdicts, "overhead-32").outcome
        };
        assert_eq!([outcome(171.0, 12.0), outcome(1200.0, 15.0), outcome(40.0, 0.1)], [Outcome::Agrees; 3]);
        assert_eq!([outcome(2.0, 0.1), outcome(2.0, -3.0), outcome(100.0, 20.0)], [Outcome::Differs; 3]);
    }

    #[test]
    fn fast_mode_takes_6_percent_at_most() {
        let outcome = |share: f64| {
            let verdicts = judged(move |_, setting| if setting.policy == Policy::Off { 1.0 } else { share });
            of(&verdicts, "crc32-share").outcome
        };
        assert_eq!([0.03, 0.059, 0.07].map(outcome), [Outcome::Agrees, Outcome::Agrees, Outcome::Differs]);
    }

    /// A decoder that reads the changed values and nothing else: only at N = 32 is the paper's so
    /// near to it.
    #[test]
    fn a_quarter_of_all_bytes_agrees_only_with_small_portions() {
        let (mut data, book) = (Data::default(), claims(&Scope::new(false, &[])).unwrap());
        book.judge(Study(std::slice::from_ref(&data)));
        let quarter = || Counts { fast_bytes: 75.0, regular_bytes: 25.0, ..Counts::default() };
        data.fresh.fill(|_, _, _| Point { ms: 0.0, counts: Some(quarter()) });
        Paper::Deserialization.fill(&mut data);
        let verdicts = book.judge(Study(std::slice::from_ref(&data)));
        let keys = ["n4096-t100", "n4096-t500", "n1024-t100", "n32-t1"];
        let outcomes = keys.map(|key| of(&verdicts, &format!("regular-bytes-{key}")).outcome);
        assert_eq!(outcomes, [Outcome::Differs, Outcome::Differs, Outcome::Differs, Outcome::Agrees]);
        assert!(of(&verdicts, "regular-bytes-n32-t1").claim.statement.contains("25 itself"));
    }

    /// The tables without shortcuts need no measurement of their own.
    #[test]
    fn what_claims_compare_without_shortcuts_is_shown() {
        let printed = Printed::load().unwrap();
        let shown = |scope: &Scope| {
            let data = Data::default();
            let exhibit = table3(Study(std::slice::from_ref(&data)), scope, &printed);
            (exhibit.grids.len(), without_shortcuts(&data))
        };
        let whole = Scope::new(false, &[]);
        let data = Data::default();
        claims(&whole).unwrap().judge(Study(std::slice::from_ref(&data)));
        let (grids, keys) = shown(&whole);
        assert_eq!((grids, keys.len()), (8, 4 * 6 * 4 * 5));
        assert_eq!(keys, without_shortcuts(&data));
        for part in [Scope::new(true, &[]), Scope::new(true, &SIZES), Scope::new(false, &[LARGEST])] {
            assert_eq!(shown(&part), (part.partitions.len(), vec![]));
        }
    }

    /// Returns the requested points without our shortcuts.
    fn without_shortcuts(data: &Data) -> Vec<String> {
        data.points.keys(0).into_iter().filter(|key| key.ends_with("/noshortcuts")).collect()
    }
}

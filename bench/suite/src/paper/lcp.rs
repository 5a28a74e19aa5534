//! *Lightweight Checkpointing for Faster SOAP Deserialization*: Figures 2 to 5, Table 1.
//!
//! Arrays of hard doubles and CRC-32 throughout. "Better by" a percentage means: so much more speed, as in the paper.

use std::rc::Rc;

use anyhow::Result;
use deltasoap_report::statistics::mean;
use deltasoap_report::{Chart, Exhibit, Grid, Sizes, Test, number, size_names};

use super::points::{Point, Way};
use super::printed::{Cell, LightweightCheckpointing as Printed};
use super::scope::{Scope, general, hard};
use super::study::{Book, Data, Study, cells, claim, counted, known, numbers, one, share};
use crate::options::Policy;
use crate::stream::Recipe;

/// The policies in the order of the paper's bars.
const POLICIES: [(Policy, &str); 3] =
    [(Policy::Full, "FCP"), (Policy::Differential, "DCP"), (Policy::Lightweight, "LCP")];

const FREQUENCIES: [u32; 6] = [32, 64, 128, 256, 512, 1024];

/// Draws everything, without verdicts.
///
/// # Errors
/// When a number of the paper is missing from `bench/papers/`.
pub fn exhibits(study: Study<'_>, scope: &Scope) -> Result<Vec<Exhibit>> {
    let printed = Printed::load()?;
    Ok(vec![
        figure2(study, scope, &printed),
        figure3_or_4(study, scope, &printed, ("Figure 3", 50)),
        figure3_or_4(study, scope, &printed, ("Figure 4", 500)),
        table1(study, scope, &printed),
        figure5(study, scope, &printed),
    ])
}

fn named(printed: &Printed, name: &'static str, caption: &str) -> Exhibit {
    Exhibit {
        paper: format!("{} ({})", printed.title, printed.source),
        name,
        caption: caption.to_owned(),
        grids: vec![],
        charts: vec![],
        verdicts: vec![],
    }
}

/// The price of checkpoints where messages have nothing in common.
fn figure2(study: Study<'_>, scope: &Scope, printed: &Printed) -> Exhibit {
    let recipes: Vec<Recipe> = scope.among(&[10_000, 50_000, 100_000]).into_iter().map(|n| hard(n, 100, 1)).collect();
    let title = "Deserialization time, ms; all values change";
    let mut rows = Vec::new();
    for (policy, name) in POLICIES {
        for frequency in FREQUENCIES {
            let ms = recipes.iter().map(|&recipe| number(study.ms(recipe, Way::checkpoints(policy, frequency))));
            rows.push([vec![name.to_owned(), frequency.to_string()], ms.collect()].concat());
        }
    }
    let regular = recipes.iter().map(|&recipe| number(study.ms(recipe, Way::REGULAR)));
    rows.push([vec!["No DDS".to_owned(), String::new()], regular.collect()].concat());
    for frequency in FREQUENCIES {
        let way = general(lightweight(frequency));
        let ms = recipes.iter().map(|&recipe| number(study.ms(recipe, way)));
        rows.push([vec!["LCP, no shortcuts".to_owned(), frequency.to_string()], ms.collect()].concat());
    }
    let general = recipes.iter().map(|&recipe| number(study.ms(recipe, Way::GENERAL)));
    rows.push([vec!["No DDS, no shortcuts".to_owned(), String::new()], general.collect()].concat());
    let sizes: Vec<usize> = recipes.iter().map(|recipe| recipe.n).collect();
    let header = [vec!["policy".to_owned(), "N".to_owned()], size_names(&sizes)].concat();
    let caption = "The overhead of checkpoints: messages in which nothing is similar but the markup. The paper's are of 350 KB, 1.7 MB and \
                   3.5 MB: 10, 50 and 100 thousand elements.";
    Exhibit {
        grids: vec![Grid { title: title.to_owned(), header, rows, names: 2 }],
        charts: recipes.last().map(|&recipe| figure2_chart(study, recipe)).into_iter().collect(),
        ..named(printed, "Figure 2", caption)
    }
}

fn figure2_chart(study: Study<'_>, recipe: Recipe) -> Chart {
    let series = POLICIES.map(|(policy, name)| {
        let ms = FREQUENCIES.map(|frequency| study.ms(recipe, Way::checkpoints(policy, frequency)));
        (name.to_owned(), ms.to_vec())
    });
    let groups = FREQUENCIES.map(|frequency| format!("N = {frequency}")).to_vec();
    let title = format!("Deserialization time of {} elements, ms; all values change", recipe.n);
    Chart::bars(title, "ms", groups, series.to_vec())
}

/// Streams of Figures 3 and 4.
fn half_recipes(scope: &Scope, percent: u32, partitions: usize) -> Vec<Recipe> {
    scope.among(&[50_000, 75_000, 100_000]).into_iter().map(|n| hard(n, percent, partitions)).collect()
}

const HALF_FREQUENCIES: [u32; 3] = [32, 128, 512];

fn figure3_or_4(
    study: Study<'_>,
    scope: &Scope,
    printed: &Printed,
    (name, partitions): (&'static str, usize),
) -> Exhibit {
    let mut rows = Vec::new();
    let mut charts = Vec::new();
    for percent in [25, 50, 75] {
        let recipes = half_recipes(scope, percent, partitions);
        for frequency in HALF_FREQUENCIES {
            for (policy, policy_name) in POLICIES {
                let ms = recipes.iter().map(|&recipe| number(study.ms(recipe, Way::checkpoints(policy, frequency))));
                let names = vec![format!("{percent} %"), frequency.to_string(), policy_name.to_owned()];
                rows.push([names, ms.collect()].concat());
            }
        }
        charts.extend(recipes.last().map(|&recipe| figure3_chart(study, recipe)));
    }
    let sizes: Vec<usize> = half_recipes(scope, 25, partitions).iter().map(|recipe| recipe.n).collect();
    let header = [["P", "N", "policy"].map(str::to_owned).to_vec(), size_names(&sizes)].concat();
    let title = format!("Deserialization time, ms, T = {partitions}");
    Exhibit {
        grids: vec![Grid { title, header, rows, names: 3 }],
        charts,
        ..named(printed, name, "The three policies, by changes and interrupt frequency.")
    }
}

fn figure3_chart(study: Study<'_>, recipe: Recipe) -> Chart {
    let series = POLICIES.map(|(policy, name)| {
        let ms = HALF_FREQUENCIES.map(|frequency| study.ms(recipe, Way::checkpoints(policy, frequency)));
        (name.to_owned(), ms.to_vec())
    });
    let groups = HALF_FREQUENCIES.map(|frequency| format!("N = {frequency}")).to_vec();
    let title = format!("{} elements, P = {}, T = {}, ms", recipe.n, recipe.percent, recipe.partitions);
    Chart::bars(title, "ms", groups, series.to_vec())
}

fn table1(study: Study<'_>, scope: &Scope, printed: &Printed) -> Exhibit {
    let mut grids = Vec::new();
    for &partitions in &scope.partitions {
        let mut rows = Vec::new();
        for percent in [25, 50, 75, 100] {
            for size in scope.among(&[25_000, 50_000, 75_000, 100_000]) {
                let cells = TABLE1_FREQUENCIES.map(|portion| Cell { percent, size, partitions, portion });
                let shown = cells.iter().map(|cell| table1_cell(study, printed, *cell));
                rows.push([vec![format!("{percent} %"), size.to_string()], shown.collect()].concat());
            }
        }
        let frequencies = TABLE1_FREQUENCIES.map(|frequency| format!("F = {frequency}"));
        let header = [vec!["P".to_owned(), "n".to_owned()], frequencies.to_vec()].concat();
        let title = format!("T = {partitions}: percent by which LCP is better than No DDS; in parentheses the paper's");
        grids.push(Grid { title, header, rows, names: 2 });
    }
    Exhibit { grids, ..named(printed, "Table 1", "Lightweight checkpoints against regular mode, all combinations.") }
}

const TABLE1_FREQUENCIES: [u32; 4] = [32, 128, 256, 512];

fn table1_cell(study: Study<'_>, printed: &Printed, cell: Cell) -> String {
    let recipe = hard(cell.size, cell.percent, cell.partitions);
    let (ms, regular) = (study.ms(recipe, lightweight(cell.portion)), study.ms(recipe, Way::REGULAR));
    let theirs = printed.table1(cell).map_or_else(String::new, |value| format!(" ({})", number(value)));
    format!("{}{theirs}", number((regular / ms - 1.0) * 100.0))
}

fn lightweight(frequency: u32) -> Way {
    Way::checkpoints(Policy::Lightweight, frequency)
}

/// Memory of checkpoints.
fn figure5(study: Study<'_>, scope: &Scope, printed: &Printed) -> Exhibit {
    let recipes: Vec<Recipe> =
        scope.among(&[10_000, 25_000, 50_000, 75_000, 100_000]).into_iter().map(|n| hard(n, 100, 1)).collect();
    let memory = |recipe, policy, frequency| study.of(recipe, Way::checkpoints(policy, frequency), Point::memory);
    let mut rows = Vec::new();
    for frequency in FREQUENCIES {
        for (policy, name) in POLICIES {
            let cells = recipes.iter().map(|&recipe| number(memory(recipe, policy, frequency) / 1e6));
            rows.push([vec![frequency.to_string(), name.to_owned()], cells.collect()].concat());
        }
    }
    let sizes: Vec<usize> = recipes.iter().map(|recipe| recipe.n).collect();
    let header = [vec!["N".to_owned(), "policy".to_owned()], size_names(&sizes)].concat();
    Exhibit {
        grids: vec![Grid { title: "Memory of the checkpoints of one message, MB".to_owned(), header, rows, names: 2 }],
        charts: recipes.last().map(|&recipe| figure5_chart(study, recipe)).into_iter().collect(),
        ..named(
            printed,
            "Figure 5",
            "Memory between two messages, values apart; full checkpoints are not in the paper's figure.",
        )
    }
}

fn figure5_chart(study: Study<'_>, recipe: Recipe) -> Chart {
    let series = POLICIES.map(|(policy, name)| {
        let memory =
            FREQUENCIES.map(|frequency| study.of(recipe, Way::checkpoints(policy, frequency), Point::memory) / 1e6);
        (name.to_owned(), memory.to_vec())
    });
    let groups = FREQUENCIES.map(|frequency| format!("N = {frequency}")).to_vec();
    Chart::bars(format!("Memory of the checkpoints of {} elements", recipe.n), "MB", groups, series.to_vec())
}

/// The paper's claims.
///
/// # Errors
/// When a number of the paper is missing from `bench/papers/`.
pub fn claims(scope: &Scope) -> Result<Book> {
    let printed = Rc::new(Printed::load()?);
    let mut book = Book::new("LCP", &scope.sizes);
    overhead_claims(&mut book, &printed)?;
    order_claims(&mut book, ("Figure 3", 50));
    order_claims(&mut book, ("Figure 4", 500));
    half_claims(&mut book, &printed)?;
    table1_claims(&mut book, &printed, scope)?;
    memory_claims(&mut book, &printed)?;
    Ok(book)
}

/// By how many percent lightweight checkpoints are better than another way.
fn better(data: &Data, recipe: Recipe, (way, other): (Way, Way)) -> f64 {
    (data.ms(recipe, other) / data.ms(recipe, way) - 1.0) * 100.0
}

/// The mean of it over streams and frequencies.
fn mean_better(data: &Data, recipes: &[Recipe], frequencies: &[u32], ways: impl Fn(u32) -> (Way, Way)) -> f64 {
    let ways = &ways;
    let of = |&recipe: &Recipe| frequencies.iter().map(move |&frequency| better(data, recipe, ways(frequency)));
    mean(&recipes.iter().flat_map(of).collect::<Vec<_>>())
}

/// Lightweight checkpoints of a frequency, and what they are compared with.
type Ways = fn(u32) -> (Way, Way);

/// Lightweight checkpoints beside another policy.
fn beside(policy: Policy) -> impl Fn(u32) -> (Way, Way) {
    move |frequency| (lightweight(frequency), Way::checkpoints(policy, frequency))
}

/// The papers' kind of regular mode, for lightweight checkpoints as well.
fn as_theirs(frequency: u32) -> (Way, Way) {
    (general(lightweight(frequency)), Way::GENERAL)
}

fn beside_regular(frequency: u32) -> (Way, Way) {
    (lightweight(frequency), Way::REGULAR)
}

const NO_STACK: &str = "no program stack is saved here, so that full checkpoints are small";
const FAST: &str = "our regular mode is many times as fast as theirs, so that a checkpoint weighs more";

fn streams(sizes: &[usize], percent: u32, partitions: usize) -> Vec<Recipe> {
    sizes.iter().map(|&n| hard(n, percent, partitions)).collect()
}

fn overhead_claims(book: &mut Book, printed: &Printed) -> Result<()> {
    let sizes = || Sizes::All(vec![10_000, 50_000, 100_000]);
    for (frequencies, suffix) in [(&FREQUENCIES[..], ""), (&FREQUENCIES[..3], "-small")] {
        for (name, policy) in [("dcp", Policy::Differential), ("fcp", Policy::Full)] {
            let number = printed.number(&format!("overhead-better-than-{name}{suffix}"))?;
            let test = Test::Factor { printed: number.value, factor: 2.0 };
            book.add("Figure 2", known(number.claim("", sizes(), test), NO_STACK), move |data, sizes| {
                one(mean_better(data, &streams(sizes, 100, 1), frequencies, beside(policy)))
            });
        }
        let number = printed.number(&format!("overhead-worse-than-regular{suffix}"))?;
        // The paper says how much worse than regular mode, as a percentage of that.
        let worse = |gain: f64| (100.0 / (100.0 + gain) - 1.0) * 100.0;
        let test = || Test::Near { printed: number.value, distance: 7.0 };
        let mut theirs = number.claim("", sizes(), test());
        theirs.statement += "; both without our shortcuts, as theirs";
        book.add("Figure 2", theirs, move |data, sizes| {
            one(worse(mean_better(data, &streams(sizes, 100, 1), frequencies, as_theirs)))
        });
        let mut ours = known(number.claim("", sizes(), test()), FAST);
        (ours.key, ours.statement) = (ours.key + "-shortcuts", ours.statement + "; both with our shortcuts");
        book.add("Figure 2", ours, move |data, sizes| {
            one(worse(mean_better(data, &streams(sizes, 100, 1), frequencies, beside_regular)))
        });
    }
    Ok(())
}

/// Sizes of Figures 3 and 4.
fn half_sizes() -> Sizes {
    Sizes::All(vec![50_000, 75_000, 100_000])
}

/// "LCP performs better": in how many of the bars.
fn order_claims(book: &mut Book, (name, partitions): (&'static str, usize)) {
    let statement = "share of bars in which LCP is the fastest of the three (\"LCP performs better\")";
    let fastest = claim(&format!("fastest-t{partitions}"), "section 5.3", statement, half_sizes(), Test::AtLeast(0.8));
    book.add(name, known(fastest, NO_STACK), move |data, sizes| {
        let recipes = [25, 50, 75].into_iter().flat_map(|percent| streams(sizes, percent, partitions));
        let bars = recipes.flat_map(|recipe| HALF_FREQUENCIES.map(|frequency| (recipe, frequency)));
        one(share(bars.map(|(recipe, frequency)| {
            let ms = |policy| data.ms(recipe, Way::checkpoints(policy, frequency));
            // All are asked for, even if the first one decides: asking makes a run measure them.
            let others = ms(Policy::Full).min(ms(Policy::Differential));
            ms(Policy::Lightweight) < others
        })))
    });
}

/// "When approximately half of the message is unchanged".
fn half_claims(book: &mut Book, printed: &Printed) -> Result<()> {
    for (key, policy) in [("half-better-than-dcp", Policy::Differential), ("half-better-than-fcp", Policy::Full)] {
        let number = printed.number(key)?;
        let test = Test::Factor { printed: number.value, factor: 2.0 };
        book.add("Figure 4", known(number.claim("", half_sizes(), test), NO_STACK), move |data, sizes| {
            let recipes = [streams(sizes, 50, 50), streams(sizes, 50, 500)].concat();
            one(mean_better(data, &recipes, &HALF_FREQUENCIES, beside(policy)))
        });
    }
    Ok(())
}

/// Speeds in cells of Table 1 by percentage, with and without lightweight checkpoints: ours and theirs.
fn table1_groups(
    data: &Data,
    printed: &Printed,
    (percents, sizes, partitions): (&[u32], &[usize], &[usize]),
    ways: Ways,
) -> Vec<Vec<(f64, f64)>> {
    let group = |&percent: &u32| {
        let pairs = sizes.iter().flat_map(|&size| partitions.iter().map(move |&partitions| (size, partitions)));
        let all = pairs.flat_map(|(size, partitions)| {
            TABLE1_FREQUENCIES.map(|portion| Cell { percent, size, partitions, portion })
        });
        let pair = |cell: Cell| {
            let ours = better(data, hard(cell.size, percent, cell.partitions), ways(cell.portion));
            Some((1.0 + ours / 100.0, 1.0 + printed.table1(cell)? / 100.0))
        };
        all.filter_map(pair).collect()
    };
    percents.iter().map(group).collect()
}

fn table1_claims(book: &mut Book, printed: &Rc<Printed>, scope: &Scope) -> Result<()> {
    let each = || Sizes::Each(vec![25_000, 50_000, 75_000, 100_000]);
    let statement = "rank correlation of Table 1 within P = 25, 50 and 75 (P alone would reach 0.87 over all cells; P = 100 has no order)";
    let ranks = claim("table1", "Table 1", statement, each(), Test::Ranks { least: 0.5 });
    let (theirs, columns) = (printed.clone(), scope.partitions.clone());
    book.add("Table 1", ranks, move |data, sizes| {
        cells(table1_groups(data, &theirs, (&[25, 50, 75], sizes, &columns), beside_regular))
    });
    let pairs: [(_, _, Ways); 2] = [
        ("", "both with our shortcuts", beside_regular),
        ("-general", "both without our shortcuts, as theirs", as_theirs),
    ];
    for (suffix, reference, ways) in pairs {
        let because = |claim| if suffix.is_empty() { known(claim, FAST) } else { claim };
        let statement = format!("cells of Table 1: speed by that of No DDS, {reference}");
        let test = Test::Cells { factor: 1.5, share: 0.7 };
        let alike = claim(&format!("table1-cells{suffix}"), "Table 1", statement, each(), test);
        let (theirs, columns) = (printed.clone(), scope.partitions.clone());
        book.add("Table 1", because(alike), move |data, sizes| {
            cells(table1_groups(data, &theirs, (&[25, 50, 75, 100], sizes, &columns), ways))
        });
        let all_of = move |data: &Data, percent| {
            let recipes = [1, 100, 200, 500].map(|partitions| hard(100_000, percent, partitions));
            one(mean_better(data, &recipes, &TABLE1_FREQUENCIES, ways))
        };
        let largest = || Sizes::All(vec![100_000]);
        let number = printed.number("headline")?;
        let (low, high) = number.range();
        // A quarter to either side.
        let mut headline = number.claim("", largest(), Test::Range { low: low / 1.25, high: high * 1.25 });
        headline.key += suffix;
        headline.statement += &format!("; {reference}");
        book.add("Table 1", because(headline), move |data, _| all_of(data, 50));
        let statement = format!("the same where all values change, {reference}: mean of P = 100 (Table 1: -10 to -21)");
        let loss = claim(
            &format!("loss{suffix}"),
            "Table 1",
            statement,
            largest(),
            Test::Near { printed: -14.2, distance: 5.0 },
        );
        book.add("Table 1", because(loss), move |data, _| all_of(data, 100));
    }
    Ok(())
}

fn memory_claims(book: &mut Book, printed: &Printed) -> Result<()> {
    for (key, policy, because) in [
        ("memory-of-fcp", Policy::Full, NO_STACK),
        ("memory-of-dcp", Policy::Differential, "our differential checkpoints are encoded"),
    ] {
        let number = printed.number(key)?;
        let test = Test::Factor { printed: number.value, factor: 1.5 };
        let sizes = Sizes::Each(vec![10_000, 25_000, 50_000, 75_000, 100_000]);
        let mut claim = known(number.claim("", sizes, test), because);
        claim.statement += ", each N";
        book.add("Figure 5", counted(claim), move |data, sizes| {
            let memory =
                |n, policy, frequency| data.points.at(hard(n, 100, 1), Way::checkpoints(policy, frequency)).memory();
            let percent = |frequency| {
                let of = |&n: &usize| memory(n, Policy::Lightweight, frequency) / memory(n, policy, frequency);
                mean(&sizes.iter().map(of).collect::<Vec<_>>()) * 100.0
            };
            numbers(FREQUENCIES.map(percent).to_vec())
        });
    }
    Ok(())
}

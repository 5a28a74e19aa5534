//! *Lightweight Checkpointing for Faster SOAP Deserialization*: Figures 2 to 5, Table 1.
//!
//! Arrays of hard doubles and CRC-32 throughout. "Better by" a percentage means: so much more speed, as in the paper.

use anyhow::Result;

use super::dds::{ALIKE, chart, rank_verdict};
use super::exhibit::{Chart, Exhibit, Grid, Rule, Style, Verdict, number};
use super::points::{Points, Way};
use super::printed::{Cell, LightweightCheckpointing as Printed};
use super::scope::{Scope, hard, mean, size_names};
use crate::options::Policy;
use crate::statistics::sign_agreement;
use crate::stream::Recipe;

/// The policies in the order of the paper's bars.
const POLICIES: [(Policy, &str); 3] =
    [(Policy::Full, "FCP"), (Policy::Differential, "DCP"), (Policy::Lightweight, "LCP")];

const FREQUENCIES: [u32; 6] = [32, 64, 128, 256, 512, 1024];

/// Draws everything.
///
/// # Errors
/// When a number of the paper is missing from `bench/papers/`.
pub fn exhibits(points: &Points, scope: &Scope) -> Result<Vec<Exhibit>> {
    let printed = Printed::load()?;
    Ok(vec![
        figure2(points, scope, &printed)?,
        figure3_or_4(points, scope, &printed, ("Figure 3", 50)),
        Exhibit {
            verdicts: half_verdicts(points, scope, &printed)?,
            ..figure3_or_4(points, scope, &printed, ("Figure 4", 500))
        },
        table1(points, scope, &printed),
        figure5(points, scope, &printed)?,
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

/// By how many percent `way` is better than `other`.
fn better(points: &Points, recipe: Recipe, way: Way, other: Way) -> f64 {
    (points.ms(recipe, other) / points.ms(recipe, way) - 1.0) * 100.0
}

/// The mean of it over streams and frequencies, of lightweight checkpoints over another policy.
fn mean_better(points: &Points, recipes: &[Recipe], frequencies: &[u32], policy: Policy) -> f64 {
    mean_better_than(points, recipes, frequencies, |frequency| other_way(policy, frequency))
}

/// The same over other ways, in their condition.
fn mean_better_than(points: &Points, recipes: &[Recipe], frequencies: &[u32], other: impl Fn(u32) -> Way) -> f64 {
    let at = |recipe: Recipe, frequency| {
        let lightweight = Way::checkpoints(Policy::Lightweight, frequency).as_in(other(frequency));
        better(points, recipe, lightweight, other(frequency))
    };
    let all = recipes.iter().flat_map(|&recipe| frequencies.iter().map(move |&frequency| at(recipe, frequency)));
    mean(&all.collect::<Vec<_>>())
}

fn other_way(policy: Policy, frequency: u32) -> Way {
    if policy == Policy::Off { Way::REGULAR } else { Way::checkpoints(policy, frequency) }
}

/// The price of checkpoints where messages have nothing in common.
fn figure2(points: &Points, scope: &Scope, printed: &Printed) -> Result<Exhibit> {
    let recipes: Vec<Recipe> = scope.among(&[10_000, 50_000, 100_000]).into_iter().map(|n| hard(n, 100, 1)).collect();
    let title = "Deserialization time, ms; all values change";
    let mut rows = Vec::new();
    for (policy, name) in POLICIES {
        for frequency in FREQUENCIES {
            let ms = recipes.iter().map(|&recipe| number(points.ms(recipe, Way::checkpoints(policy, frequency))));
            rows.push([vec![name.to_owned(), frequency.to_string()], ms.collect()].concat());
        }
    }
    let regular = recipes.iter().map(|&recipe| number(points.ms(recipe, Way::REGULAR)));
    rows.push([vec!["No DDS".to_owned(), String::new()], regular.collect()].concat());
    for frequency in FREQUENCIES {
        let way = Way::checkpoints(Policy::Lightweight, frequency).as_in(Way::GENERAL);
        let ms = recipes.iter().map(|&recipe| number(points.ms(recipe, way)));
        rows.push([vec!["LCP, no shortcuts".to_owned(), frequency.to_string()], ms.collect()].concat());
    }
    let general = recipes.iter().map(|&recipe| number(points.ms(recipe, Way::GENERAL)));
    rows.push([vec!["No DDS, no shortcuts".to_owned(), String::new()], general.collect()].concat());
    let sizes: Vec<usize> = recipes.iter().map(|recipe| recipe.n).collect();
    let header = [vec!["policy".to_owned(), "N".to_owned()], size_names(&sizes)].concat();
    Ok(Exhibit {
        grids: vec![Grid { title: title.to_owned(), header, rows, names: 2 }],
        charts: recipes.last().map(|&recipe| figure2_chart(points, recipe)).into_iter().collect(),
        verdicts: figure2_verdicts(points, &recipes, printed)?,
        ..named(
            printed,
            "Figure 2",
            "The overhead of checkpoints: messages of 350 KB, 1.7 MB and 3.5 MB in which nothing is similar but the markup. Without our shortcuts, all \
             is read by general routines that tokenize each tag, as the paper's are.",
        )
    })
}

fn figure2_chart(points: &Points, recipe: Recipe) -> Chart {
    let series = POLICIES.map(|(policy, name)| {
        let ms = FREQUENCIES.map(|frequency| points.ms(recipe, Way::checkpoints(policy, frequency)));
        (name.to_owned(), ms.to_vec())
    });
    let groups = FREQUENCIES.map(|frequency| format!("N = {frequency}")).to_vec();
    chart(&format!("Deserialization time of {} elements, ms; all values change", recipe.n), groups, series.to_vec())
}

fn figure2_verdicts(points: &Points, recipes: &[Recipe], printed: &Printed) -> Result<Vec<Verdict>> {
    let mut verdicts = Vec::new();
    for (frequencies, suffix) in [(&FREQUENCIES[..], ""), (&FREQUENCIES[..3], "-small")] {
        let gain = |policy| mean_better(points, recipes, frequencies, policy);
        // The paper says how much worse than regular mode, as a percentage of that.
        let worse = |gain: f64| (100.0 / (100.0 + gain) - 1.0) * 100.0;
        let general = worse(mean_better_than(points, recipes, frequencies, |_| Way::GENERAL));
        for (key, ours, rule) in [
            ("overhead-better-than-dcp", gain(Policy::Differential), Rule::Sign),
            ("overhead-better-than-fcp", gain(Policy::Full), Rule::Sign),
            ("overhead-worse-than-regular", worse(gain(Policy::Off)), Rule::Within(15.0)),
        ] {
            verdicts.push(Verdict::printed(printed.number(&format!("{key}{suffix}"))?, ours, rule));
        }
        let number = printed.number(&format!("overhead-worse-than-regular{suffix}"))?;
        let claim = format!("{}, both without our shortcuts", number.what);
        verdicts.push(Verdict { claim, ..Verdict::printed(number, general, Rule::Within(15.0)) });
    }
    Ok(verdicts)
}

/// Streams of Figures 3 and 4.
fn half_recipes(scope: &Scope, percent: u32, partitions: usize) -> Vec<Recipe> {
    scope.among(&[50_000, 75_000, 100_000]).into_iter().map(|n| hard(n, percent, partitions)).collect()
}

const HALF_FREQUENCIES: [u32; 3] = [32, 128, 512];

fn figure3_or_4(
    points: &Points,
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
                let ms = recipes.iter().map(|&recipe| number(points.ms(recipe, Way::checkpoints(policy, frequency))));
                let names = vec![format!("{percent} %"), frequency.to_string(), policy_name.to_owned()];
                rows.push([names, ms.collect()].concat());
            }
        }
        charts.extend(recipes.last().map(|&recipe| figure3_chart(points, recipe)));
    }
    let sizes: Vec<usize> = half_recipes(scope, 25, partitions).iter().map(|recipe| recipe.n).collect();
    let header = [["P", "N", "policy"].map(str::to_owned).to_vec(), size_names(&sizes)].concat();
    let title = format!("Deserialization time, ms, T = {partitions}");
    Exhibit {
        grids: vec![Grid { title, header, rows, names: 3 }],
        charts,
        verdicts: order_verdict(points, scope, (name, partitions)),
        ..named(printed, name, "The three policies, by changes and interrupt frequency.")
    }
}

fn figure3_chart(points: &Points, recipe: Recipe) -> Chart {
    let series = POLICIES.map(|(policy, name)| {
        let ms = HALF_FREQUENCIES.map(|frequency| points.ms(recipe, Way::checkpoints(policy, frequency)));
        (name.to_owned(), ms.to_vec())
    });
    let groups = HALF_FREQUENCIES.map(|frequency| format!("N = {frequency}")).to_vec();
    let title = format!("{} elements, P = {}, T = {}, ms", recipe.n, recipe.percent, recipe.partitions);
    chart(&title, groups, series.to_vec())
}

/// "LCP performs better": in how many of the bars.
fn order_verdict(points: &Points, scope: &Scope, (place, partitions): (&str, usize)) -> Vec<Verdict> {
    let recipes = [25, 50, 75].into_iter().flat_map(|percent| half_recipes(scope, percent, partitions));
    let bars = recipes.flat_map(|recipe| HALF_FREQUENCIES.map(|frequency| (recipe, frequency)));
    let ahead: Vec<f64> = bars
        .map(|(recipe, frequency)| {
            let ms = |policy| points.ms(recipe, Way::checkpoints(policy, frequency));
            let (full, lightweight) = (ms(Policy::Full), ms(Policy::Lightweight));
            f64::from(u8::from(lightweight <= full && lightweight <= ms(Policy::Differential)))
        })
        .collect();
    let claim = "share of bars in which LCP is the fastest of the three";
    vec![Verdict::computed(claim, format!("section 5.3, {place}"), mean(&ahead), Rule::AtLeast(ALIKE))]
}

/// "When approximately half of the message is unchanged".
fn half_verdicts(points: &Points, scope: &Scope, printed: &Printed) -> Result<Vec<Verdict>> {
    let recipes = [half_recipes(scope, 50, 50), half_recipes(scope, 50, 500)].concat();
    let mut verdicts = order_verdict(points, scope, ("Figure 4", 500));
    for (key, policy) in [("half-better-than-dcp", Policy::Differential), ("half-better-than-fcp", Policy::Full)] {
        let ours = mean_better(points, &recipes, &HALF_FREQUENCIES, policy);
        verdicts.push(Verdict::printed(printed.number(key)?, ours, Rule::Sign));
    }
    Ok(verdicts)
}

fn table1(points: &Points, scope: &Scope, printed: &Printed) -> Exhibit {
    let (mut grids, mut all) = (Vec::new(), Vec::new());
    for &partitions in &scope.partitions {
        let mut rows = Vec::new();
        for percent in [25, 50, 75, 100] {
            for size in scope.among(&[25_000, 50_000, 75_000, 100_000]) {
                let cells = TABLE1_FREQUENCIES.map(|portion| Cell { percent, size, partitions, portion });
                let shown = cells.iter().map(|cell| table1_cell(points, printed, *cell));
                rows.push([vec![format!("{percent} %"), size.to_string()], shown.collect()].concat());
                all.extend(cells);
            }
        }
        let frequencies = TABLE1_FREQUENCIES.map(|frequency| format!("F = {frequency}"));
        let header = [vec!["P".to_owned(), "n".to_owned()], frequencies.to_vec()].concat();
        let title = format!("T = {partitions}: percent by which LCP is better than No DDS; in parentheses the paper's");
        grids.push(Grid { title, header, rows, names: 2 });
    }
    Exhibit {
        grids,
        verdicts: table1_verdicts(points, printed, &all),
        ..named(printed, "Table 1", "Lightweight checkpoints against regular mode, all combinations.")
    }
}

const TABLE1_FREQUENCIES: [u32; 4] = [32, 128, 256, 512];

fn our_table1(points: &Points, cell: Cell, reference: Way) -> f64 {
    let recipe = hard(cell.size, cell.percent, cell.partitions);
    better(points, recipe, Way::checkpoints(Policy::Lightweight, cell.portion).as_in(reference), reference)
}

fn table1_cell(points: &Points, printed: &Printed, cell: Cell) -> String {
    let theirs = printed.table1(cell).map_or_else(String::new, |value| format!(" ({})", number(value)));
    format!("{}{theirs}", number(our_table1(points, cell, Way::REGULAR)))
}

fn table1_verdicts(points: &Points, printed: &Printed, cells: &[Cell]) -> Vec<Verdict> {
    let known: Vec<(Cell, f64)> = cells.iter().filter_map(|&cell| Some((cell, printed.table1(cell)?))).collect();
    let theirs: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
    let ours = |reference| -> Vec<f64> { known.iter().map(|(cell, _)| our_table1(points, *cell, reference)).collect() };
    let mut verdicts = rank_verdict("Table 1", &ours(Way::REGULAR), &theirs);
    for (reference, name) in [(Way::REGULAR, "No DDS"), (Way::GENERAL, "No DDS, both without our shortcuts,")] {
        let agreement = sign_agreement(&ours(reference), &theirs, 5.0);
        let claim =
            format!("share of cells with the same sign against {name}, where the paper's are 5 percent away from zero");
        if !known.is_empty() {
            verdicts.push(Verdict::computed(claim, "Table 1", agreement, Rule::AtLeast(ALIKE)));
        }
    }
    verdicts
}

/// Memory of checkpoints.
fn figure5(points: &Points, scope: &Scope, printed: &Printed) -> Result<Exhibit> {
    let recipes: Vec<Recipe> =
        scope.among(&[10_000, 25_000, 50_000, 75_000, 100_000]).into_iter().map(|n| hard(n, 100, 1)).collect();
    let memory = |recipe, policy, frequency| points.at(recipe, Way::checkpoints(policy, frequency)).memory();
    let mut rows = Vec::new();
    for frequency in FREQUENCIES {
        for (policy, name) in POLICIES {
            let cells = recipes.iter().map(|&recipe| number(memory(recipe, policy, frequency) / 1e6));
            rows.push([vec![frequency.to_string(), name.to_owned()], cells.collect()].concat());
        }
    }
    let sizes: Vec<usize> = recipes.iter().map(|recipe| recipe.n).collect();
    let header = [vec!["N".to_owned(), "policy".to_owned()], size_names(&sizes)].concat();
    let percent_of = |policy| {
        let shares = recipes.iter().flat_map(|&recipe| {
            FREQUENCIES
                .map(|frequency| memory(recipe, Policy::Lightweight, frequency) / memory(recipe, policy, frequency))
        });
        mean(&shares.collect::<Vec<_>>()) * 100.0
    };
    let verdicts = vec![
        Verdict::printed(printed.number("memory-of-fcp")?, percent_of(Policy::Full), Rule::Factor(3.0)),
        Verdict::printed(printed.number("memory-of-dcp")?, percent_of(Policy::Differential), Rule::Factor(3.0)),
    ];
    Ok(Exhibit {
        grids: vec![Grid { title: "Memory of the checkpoints of one message, MB".to_owned(), header, rows, names: 2 }],
        charts: recipes.last().map(|&recipe| figure5_chart(points, recipe)).into_iter().collect(),
        verdicts,
        ..named(
            printed,
            "Figure 5",
            "Memory between two messages, values apart; full checkpoints are not in the paper's figure.",
        )
    })
}

fn figure5_chart(points: &Points, recipe: Recipe) -> Chart {
    let series = POLICIES.map(|(policy, name)| {
        let memory = FREQUENCIES.map(|frequency| points.at(recipe, Way::checkpoints(policy, frequency)).memory() / 1e6);
        (name.to_owned(), memory.to_vec())
    });
    Chart {
        title: format!("Memory of the checkpoints of {} elements", recipe.n),
        unit: "MB".to_owned(),
        groups: FREQUENCIES.map(|frequency| format!("N = {frequency}")).to_vec(),
        series: series.to_vec(),
        style: Style::Bars,
    }
}

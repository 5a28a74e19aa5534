//! *Differential Serialization for Optimized SOAP Performance*: Figures 1 to 12.
//!
//! All times end when the last system call that sends of a message returns. "bSOAP" of the paper is this toolkit, with values that
//! track their changes; "full serialization" writes the message anew.

use anyhow::Result;

use super::dds::ALIKE;
use super::exhibit::{Chart, Exhibit, Grid, Rule, Style, Verdict, number};
use super::printed::DifferentialSerialization as Printed;
use super::scope::{Scope, size_names};
use super::sends::{Sender, Sends};
use crate::options::Stuffing;
use crate::send::{Action, Case, Mode, stuffed};
use crate::workload::Values;

const TRACKED: Sender = Sender::Ours(Mode::Tracked);
const FULL: Sender = Sender::Ours(Mode::Regular);

const PERCENTS: [u32; 4] = [25, 50, 75, 100];

/// The paper's types, with their names in its figures.
const STRUCTS: (Values, &str) = (Values::Structs, "MIO's");
const DOUBLES: (Values, &str) = (Values::Hard, "doubles");
const INTS: (Values, &str) = (Values::Ints, "integers");

/// Draws everything.
///
/// # Errors
/// When a number of the paper is missing from `bench/papers/`.
pub fn exhibits(sends: &Sends, scope: &Scope) -> Result<Vec<Exhibit>> {
    let paper = Paper { sends, scope, printed: Printed::load()? };
    Ok(vec![
        paper.content_match("Figure 1", STRUCTS, ("content-structs", Rule::Factor(2.0)))?,
        paper.content_match("Figure 2", DOUBLES, ("content-doubles", Rule::Factor(2.0)))?,
        paper.content_match("Figure 3", INTS, ("content-ints", Rule::AtLeast(4.0)))?,
        paper.structural("Figure 4", STRUCTS)?,
        paper.structural("Figure 5", DOUBLES)?,
        paper.worst_shift("Figure 6", STRUCTS)?,
        paper.worst_shift("Figure 7", DOUBLES)?,
        paper.some_shifts("Figure 8", STRUCTS, 36),
        paper.some_shifts("Figure 9", DOUBLES, 18),
        paper.stuffing("Figure 10", STRUCTS),
        paper.stuffing("Figure 11", DOUBLES),
        paper.overlaying("Figure 12"),
        paper.worst_stuffing("Section 4.4"),
    ])
}

/// Milliseconds by size.
type Series = (String, Vec<f64>);

struct Paper<'a> {
    sends: &'a Sends,
    scope: &'a Scope,
    printed: Printed,
}

impl Paper<'_> {
    fn content_match(&self, name: &'static str, kind: (Values, &str), key: (&str, Rule)) -> Result<Exhibit> {
        let case = |n| Case::new(Action::ContentMatch, kind.0, n);
        let series = vec![
            self.series("gSOAP", Sender::Peer("gsoap"), case),
            self.series("XSUL", Sender::Peer("xsul"), case),
            self.series("deltasoap, full serialization", FULL, case),
            self.series("deltasoap, message content match", TRACKED, case),
            self.series("the same, found by comparing", Sender::Ours(Mode::Compared), case),
        ];
        let [gsoap, xsul, full, matched, _] = [0, 1, 2, 3, 4].map(|row| &series[row].1);
        let speedup = last(full) / last(matched);
        let mut verdicts = vec![Verdict::printed(self.printed.number(key.0)?, speedup, key.1)];
        for (claim, slower, faster) in [
            ("gSOAP's time by that of full serialization, largest array", gsoap, full),
            ("XSUL's time by gSOAP's, largest array", xsul, gsoap),
        ] {
            let ratio = last(slower) / last(faster);
            verdicts
                .extend(ratio.is_finite().then(|| Verdict::computed(claim, "section 4.1", ratio, Rule::AtLeast(1.0))));
        }
        let caption =
            format!("Message content matches, arrays of {}: the same message again.{}", kind.1, self.absent());
        Ok(self.exhibit(name, caption, series, verdicts))
    }

    fn structural(&self, name: &'static str, kind: (Values, &str)) -> Result<Exhibit> {
        let case = |n| Case::new(Action::Structural, kind.0, n);
        let content = |n| Case::new(Action::ContentMatch, kind.0, n);
        let mut series = vec![self.series("message content match", TRACKED, content)];
        series.extend(PERCENTS.map(|percent| {
            let name = format!("{percent} % value re-serialization");
            self.series(&name, TRACKED, |n| case(n).changed(percent))
        }));
        series.push(self.series("full serialization", FULL, content));
        let parts = last(&series[5].1) / last(&series[1].1);
        let tags = last(&series[5].1) / last(&series[4].1);
        let verdicts = vec![
            Verdict::printed(self.printed.number("parts")?, parts, Rule::Factor(2.0)),
            Verdict::computed(
                "share of neighbouring rows and columns in ascending order",
                "section 4.2",
                ascending(&series),
                Rule::AtLeast(ALIKE),
            ),
            Verdict::computed(
                "full serialization by re-serialization of all values: the cost of tags",
                "section 4.2",
                tags,
                Rule::AtLeast(1.0),
            ),
        ];
        let caption = match kind.0 {
            Values::Structs => "Structural matches, arrays of MIO's: the doubles change, the integers stay.".to_owned(),
            _ => format!("Structural matches, arrays of {}: values change and keep their length.", kind.1),
        };
        Ok(self.exhibit(name, caption, series, verdicts))
    }

    fn worst_shift(&self, name: &'static str, kind: (Values, &str)) -> Result<Exhibit> {
        let width = shortest(kind.0);
        let shifted = |chunk: usize| move |n| Case { chunk, ..Case::new(Action::Shift { width }, kind.0, n) };
        let series = vec![
            self.series("all values grow, chunks of 32 KiB", TRACKED, shifted(32 << 10)),
            self.series("all values grow, chunks of 8 KiB", TRACKED, shifted(8 << 10)),
            self.series("100 % value re-serialization, no shifting", TRACKED, |n| {
                Case::new(Action::Rewritten, kind.0, n)
            }),
            self.series("full serialization", FULL, shifted(32 << 10)),
        ];
        let slowdown = last(&series[0].1) / last(&series[2].1);
        let verdicts = vec![Verdict::printed(self.printed.number("worst-shift")?, slowdown, Rule::Factor(2.0))];
        let caption = format!(
            "Worst-case shifting, arrays of {}: each value grows from the shortest to the longest. The last row is not in the paper.",
            kind.1
        );
        Ok(self.exhibit(name, caption, series, verdicts))
    }

    fn some_shifts(&self, name: &'static str, kind: (Values, &str), width: usize) -> Exhibit {
        let shifted = |percent| move |n| Case::new(Action::Shift { width }, kind.0, n).changed(percent);
        let mut series: Vec<Series> = PERCENTS
            .iter()
            .rev()
            .map(|&percent| self.series(&format!("{percent} % of the values grow"), TRACKED, shifted(percent)))
            .collect();
        series.push(
            self.series("100 % value re-serialization, no shifting", TRACKED, |n| {
                Case::new(Action::Rewritten, kind.0, n)
            }),
        );
        let decrease = last(&series[0].1) / last(&series[3].1);
        let verdicts = vec![Verdict::computed(
            "time with all values shifted by that with a quarter of them",
            "section 4.3",
            decrease,
            Rule::AtLeast(1.0),
        )];
        let caption = format!("Some values grow from {width} characters to the longest, arrays of {}.", kind.1);
        self.exhibit(name, caption, series, verdicts)
    }

    fn stuffing(&self, name: &'static str, kind: (Values, &str)) -> Exhibit {
        let rows = [
            ("maximal field width, full closing-tag shift", Stuffing::TagShift),
            ("maximal field width", Stuffing::Maximal),
            ("intermediate field width", Stuffing::Intermediate),
            ("exact field width", Stuffing::Exact),
        ];
        let series = rows.map(|(name, stuffing)| {
            self.series(name, TRACKED, move |n| Case::new(stuffed(kind.0, stuffing), kind.0, n))
        });
        let [shifted, maximal, _, exact] = [0, 1, 2, 3].map(|row| last(&series[row].1));
        let verdicts = vec![Verdict::computed(
            "what moving end tags multiplies the time by, by what longer messages do",
            "section 4.4",
            (shifted / maximal) / (maximal / exact),
            Rule::AtLeast(1.0),
        )];
        let caption = format!("Stuffing, arrays of {}: the shortest values are sent, and all of them change.", kind.1);
        self.exhibit(name, caption, series.to_vec(), verdicts)
    }

    fn overlaying(&self, name: &'static str) -> Exhibit {
        let (mut series, mut verdicts) = (Vec::new(), Vec::new());
        for kind in [STRUCTS, DOUBLES] {
            let overlaid = self.series(&format!("{}, one overlaid chunk", kind.1), Sender::Ours(Mode::Overlaid), |n| {
                Case::new(Action::Overlaid, kind.0, n)
            });
            let separate = self
                .series(&format!("{}, separate chunks", kind.1), TRACKED, |n| Case::new(Action::Overlaid, kind.0, n));
            let claim = format!("time with separate chunks by that with one overlaid chunk, {}", kind.1);
            let ratio = last(&separate.1) / last(&overlaid.1);
            verdicts.push(Verdict::computed(claim, "section 4.5", ratio, Rule::AtLeast(0.8)));
            series.extend([overlaid, separate]);
        }
        self.exhibit(name, "Chunk overlaying: all values change.".to_owned(), series, verdicts)
    }

    /// What the paper leaves open: which values in which fields cost most.
    fn worst_stuffing(&self, name: &'static str) -> Exhibit {
        let n = self.scope.sent.iter().copied().rfind(|n| *n <= 10_000).unwrap_or(1);
        let cells = sweep(n);
        let grids = [false, true].map(|is_moved| {
            let title = if is_moved {
                "Milliseconds where longer values filled the fields before, so that every end tag moves"
            } else {
                "Milliseconds where values as long stood there before"
            };
            self.sweep_grid(title, &cells, is_moved)
        });
        let ms = |cell: &&Cell| self.sends.ms(cell.case, TRACKED);
        let worst = cells.iter().max_by(|one, other| ms(one).total_cmp(&ms(other)));
        let corner = cells.iter().find(|cell| (cell.value, cell.field, cell.is_moved) == (1, 24, true));
        let verdicts = worst.zip(corner).map(|(worst, corner)| {
            let claim = format!("the most expensive send ({worst}) by the paper's bound ({corner})");
            Verdict::computed(claim, "section 4.4", ms(&worst) / ms(&corner), Rule::AtLeast(1.0))
        });
        let caption = format!(
            "The width at which stuffing costs most: {n} doubles of each width in fields of each width, all of them changed."
        );
        Exhibit { grids: grids.into(), verdicts: verdicts.into_iter().collect(), ..self.named(name, caption) }
    }

    fn sweep_grid(&self, title: &str, cells: &[Cell], is_moved: bool) -> Grid {
        let row = |value: usize| {
            let cell = |field: usize| {
                let found =
                    cells.iter().find(|cell| (cell.value, cell.field, cell.is_moved) == (value, field, is_moved));
                found.map_or_else(String::new, |cell| number(self.sends.ms(cell.case, TRACKED)))
            };
            [vec![value.to_string()], WIDTHS.map(cell).to_vec()].concat()
        };
        let header = [vec!["value / field".to_owned()], WIDTHS.map(|field| field.to_string()).to_vec()].concat();
        Grid { title: title.to_owned(), header, rows: WIDTHS.map(row).to_vec(), names: 1 }
    }

    fn series(&self, name: &str, sender: Sender, case: impl Fn(usize) -> Case) -> Series {
        (name.to_owned(), self.scope.sent.iter().map(|&n| self.sends.ms(case(n), sender)).collect())
    }

    /// Why rows are empty.
    fn absent(&self) -> String {
        let reasons = ["gsoap", "xsul"].into_iter().filter_map(|name| self.sends.reason(name));
        reasons.map(|reason| format!(" No row: {reason}.")).collect()
    }

    fn exhibit(&self, name: &'static str, caption: String, series: Vec<Series>, verdicts: Vec<Verdict>) -> Exhibit {
        let title = "Send time, ms";
        let row = |(name, values): &Series| {
            let cells = values.iter().map(|value| if value.is_nan() { String::new() } else { number(*value) });
            [vec![name.clone()], cells.collect()].concat()
        };
        let grid = Grid {
            title: title.to_owned(),
            header: [vec!["row".to_owned()], size_names(&self.scope.sent)].concat(),
            rows: series.iter().map(row).collect(),
            names: 1,
        };
        let chart = Chart {
            title: format!("{title}, by the number of elements"),
            unit: "ms".to_owned(),
            groups: size_names(&self.scope.sent),
            series,
            style: Style::Curves(self.scope.sent.iter().map(|&n| n as f64).collect()),
        };
        Exhibit { grids: vec![grid], charts: vec![chart], verdicts, ..self.named(name, caption) }
    }

    fn named(&self, name: &'static str, caption: String) -> Exhibit {
        let paper = format!("{} ({})", self.printed.title, self.printed.source);
        Exhibit { paper, name, caption, grids: vec![], charts: vec![], verdicts: vec![] }
    }
}

/// Widths of values and of fields, in characters.
const WIDTHS: [usize; 6] = [1, 5, 10, 15, 20, 24];

/// Values of one width in fields of another.
#[derive(Debug)]
struct Cell {
    value: usize,
    field: usize,
    is_moved: bool,
    case: Case,
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let moved = if self.is_moved { ", end tags moved" } else { "" };
        write!(f, "{} characters in {}{moved}", self.value, self.field)
    }
}

/// All of them; a field is as wide as its value at least, and end tags move where it is wider.
fn sweep(n: usize) -> Vec<Cell> {
    let mut cells = Vec::new();
    for value in WIDTHS {
        for field in WIDTHS.into_iter().filter(|field| *field >= value) {
            for is_moved in [false, true].into_iter().filter(|is_moved| !is_moved || field > value) {
                let over = if is_moved { field } else { value };
                let room = crate::send::Field::Given(field as u16);
                let action = Action::Stuffed { width: value, over, field: room };
                cells.push(Cell { value, field, is_moved, case: Case::new(action, Values::Hard, n) });
            }
        }
    }
    cells
}

fn shortest(values: Values) -> usize {
    crate::send::bounds(values).0
}

fn last(values: &[f64]) -> f64 {
    values.last().copied().unwrap_or(f64::NAN)
}

/// The share of neighbours in which the later one is greater: down each column, along each row.
fn ascending(series: &[Series]) -> f64 {
    let along = series.iter().flat_map(|(_, values)| values.windows(2).map(|pair| pair[0] < pair[1]));
    let down = series.windows(2).flat_map(|pair| pair[0].1.iter().zip(&pair[1].1).map(|(upper, lower)| upper < lower));
    let all: Vec<bool> = along.chain(down).collect();
    all.iter().filter(|is_ascending| **is_ascending).count() as f64 / all.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_counted_in_both_directions() {
        let series = |values: &[f64]| (String::new(), values.to_vec());
        assert!((ascending(&[series(&[1.0, 2.0]), series(&[2.0, 3.0])]) - 1.0).abs() < 1e-12);
        assert!((ascending(&[series(&[1.0, 2.0]), series(&[2.0, 1.0])]) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn the_sweep_has_every_value_in_every_field_that_holds_it() {
        let cells = sweep(10);
        assert_eq!(cells.len(), 21 + 15);
        assert!(cells.iter().all(|cell| cell.field >= cell.value && (cell.field > cell.value || !cell.is_moved)));
    }
}

//! *Differential Serialization for Optimized SOAP Performance*: Figures 1 to 12.
//!
//! All times end when the last system call that sends part of the message returns. The paper's
//! "bSOAP" is this toolkit, with values that track their changes; "full serialization" writes the
//! message again.

use anyhow::Result;
use deltasoap_report::{Chart, Exhibit, Grid, Sizes, Test, number, size_names};

use super::printed::DifferentialSerialization as Printed;
use super::scope::{SENT, Scope};
use super::sends::Sender;
use super::study::{Book, Data, EvidenceResult, Study, claim, known, numbers, one};
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

/// Returns all exhibits, without verdicts.
///
/// # Errors
/// When a number of the paper is missing from `bench/papers/`.
pub fn exhibits(study: Study<'_>, scope: &Scope) -> Result<Vec<Exhibit>> {
    let paper = Paper { study, scope, printed: Printed::load()? };
    Ok(vec![
        paper.content_match("Figure 1", STRUCTS),
        paper.content_match("Figure 2", DOUBLES),
        paper.content_match("Figure 3", INTS),
        paper.structural("Figure 4", STRUCTS),
        paper.structural("Figure 5", DOUBLES),
        paper.worst_shift("Figure 6", STRUCTS),
        paper.worst_shift("Figure 7", DOUBLES),
        paper.some_shifts("Figure 8", STRUCTS),
        paper.some_shifts("Figure 9", DOUBLES),
        paper.stuffing("Figure 10", STRUCTS),
        paper.stuffing("Figure 11", DOUBLES),
        paper.overlaying("Figure 12"),
        paper.worst_stuffing("Section 4.4"),
    ])
}

/// Milliseconds by size.
type Series = (String, Vec<f64>);

struct Paper<'a> {
    study: Study<'a>,
    scope: &'a Scope,
    printed: Printed,
}

impl Paper<'_> {
    fn content_match(&self, name: &'static str, kind: (Values, &str)) -> Exhibit {
        let case = |n| content(kind.0, n);
        let first = |n| Case::new(Action::First, kind.0, n);
        let series = vec![
            self.series("gSOAP", Sender::Peer("gsoap"), case),
            self.series("XSUL", Sender::Peer("xsul"), case),
            self.series("deltasoap, full serialization", FULL, case),
            self.series("deltasoap, first send of a template", TRACKED, first),
            self.series("deltasoap, message content match", TRACKED, case),
            self.series("the same, found by comparing", Sender::Ours(Mode::Compared), case),
        ];
        let caption = format!(
            "Message content matches, arrays of {}: the same message again. The first send is not in the paper's figure.{}",
            kind.1,
            self.absent()
        );
        self.exhibit(name, caption, series)
    }

    fn structural(&self, name: &'static str, kind: (Values, &str)) -> Exhibit {
        let mut series = vec![self.series("message content match", TRACKED, |n| content(kind.0, n))];
        series.extend(PERCENTS.map(|percent| {
            let name = format!("{percent} % value re-serialization");
            self.series(&name, TRACKED, |n| structural(kind.0, n, percent))
        }));
        series.push(self.series("full serialization", FULL, |n| content(kind.0, n)));
        let caption = match kind.0 {
            Values::Structs => "Structural matches, arrays of MIO's: the doubles change, the integers stay.".to_owned(),
            _ => format!("Structural matches, arrays of {}: values change and keep their length.", kind.1),
        };
        self.exhibit(name, caption, series)
    }

    fn worst_shift(&self, name: &'static str, kind: (Values, &str)) -> Exhibit {
        let series = vec![
            self.series("all values grow, chunks of 32 KiB", TRACKED, |n| worst_shift(kind.0, n, 32 << 10)),
            self.series("all values grow, chunks of 8 KiB", TRACKED, |n| worst_shift(kind.0, n, 8 << 10)),
            self.series(NO_SHIFT, TRACKED, |n| Case::new(Action::Rewritten, kind.0, n)),
            self.series("full serialization", FULL, |n| worst_shift(kind.0, n, 32 << 10)),
        ];
        let caption = format!(
            "Worst-case shifting, arrays of {}: each value grows from the shortest to the longest. The last row is not in the paper.",
            kind.1
        );
        self.exhibit(name, caption, series)
    }

    fn some_shifts(&self, name: &'static str, kind: (Values, &str)) -> Exhibit {
        let mut series: Vec<Series> = PERCENTS
            .iter()
            .rev()
            .map(|&percent| {
                self.series(&format!("{percent} % of the values grow"), TRACKED, |n| some_shift(kind.0, n, percent))
            })
            .collect();
        series.push(self.series(NO_SHIFT, TRACKED, |n| Case::new(Action::Rewritten, kind.0, n)));
        let width = grown_from(kind.0);
        let caption = format!("Some values grow from {width} characters to the longest, arrays of {}.", kind.1);
        self.exhibit(name, caption, series)
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
        let caption = format!("Stuffing, arrays of {}: the shortest values are sent, and all of them change.", kind.1);
        self.exhibit(name, caption, series.to_vec())
    }

    fn overlaying(&self, name: &'static str) -> Exhibit {
        let mut series = Vec::new();
        for kind in [STRUCTS, DOUBLES] {
            let case = |n| Case::new(Action::Overlaid, kind.0, n);
            series.push(self.series(&format!("{}, one overlaid chunk", kind.1), Sender::Ours(Mode::Overlaid), case));
            series.push(self.series(&format!("{}, separate chunks", kind.1), TRACKED, case));
        }
        let caption = "Chunk overlaying: all values change, of an MIO the integers too. For doubles, separate chunks are 100 % value re-serialization.";
        self.exhibit(name, caption.to_owned(), series)
    }

    /// An open question of the paper: which values in which fields cost most.
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
        let ms = |cell: &&Cell| self.study.sent(cell.case, TRACKED);
        let worst = cells.iter().max_by(|one, other| ms(one).total_cmp(&ms(other)));
        let corner = cells.iter().find(|cell| (cell.value, cell.field, cell.is_moved) == (1, 24, true));
        let question = worst.zip(corner).map(|(worst, corner)| self.worst_answer(worst, corner));
        let caption = format!(
            "The width at which stuffing costs most: {n} doubles of each width in fields of each width, all of them changed."
        );
        Exhibit { grids: grids.into_iter().chain(question).collect(), ..self.named(name, caption) }
    }

    /// An answer to the paper's question whether the worst case lies between its bounds. It is not
    /// a claim.
    fn worst_answer(&self, worst: &Cell, corner: &Cell) -> Grid {
        let ratio = self.study.shown(|data| data.sends.ms(worst.case, TRACKED) / data.sends.ms(corner.case, TRACKED));
        Grid {
            title: "An open question of the paper: is the most expensive send its bound, or between its bounds?"
                .to_owned(),
            header: ["most expensive", "bound", "the one by the other"].map(str::to_owned).into(),
            rows: vec![vec![worst.to_string(), corner.to_string(), ratio]],
            names: 2,
        }
    }

    fn sweep_grid(&self, title: &str, cells: &[Cell], is_moved: bool) -> Grid {
        let row = |value: usize| {
            let cell = |field: usize| {
                let found =
                    cells.iter().find(|cell| (cell.value, cell.field, cell.is_moved) == (value, field, is_moved));
                found.map_or_else(String::new, |cell| number(self.study.sent(cell.case, TRACKED)))
            };
            [vec![value.to_string()], WIDTHS.map(cell).to_vec()].concat()
        };
        let header = [vec!["value / field".to_owned()], WIDTHS.map(|field| field.to_string()).to_vec()].concat();
        Grid { title: title.to_owned(), header, rows: WIDTHS.map(row).to_vec(), names: 1 }
    }

    fn series(&self, name: &str, sender: Sender, case: impl Fn(usize) -> Case) -> Series {
        (name.to_owned(), self.scope.sent.iter().map(|&n| self.study.sent(case(n), sender)).collect())
    }

    /// Returns the reason for empty rows.
    fn absent(&self) -> String {
        let reasons = ["gsoap", "xsul"].into_iter().filter_map(|name| self.study.reason(name));
        reasons.map(|reason| format!(" No row: {reason}.")).collect()
    }

    fn exhibit(&self, name: &'static str, caption: String, series: Vec<Series>) -> Exhibit {
        let title = "Send time, ms";
        let row = |(name, values): &Series| [vec![name.clone()], values.iter().copied().map(number).collect()].concat();
        let grid = Grid {
            title: title.to_owned(),
            header: [vec!["row".to_owned()], size_names(&self.scope.sent)].concat(),
            rows: series.iter().map(row).collect(),
            names: 1,
        };
        let places: Vec<f64> = self.scope.sent.iter().map(|&n| n as f64).collect();
        let chart = Chart::curves(format!("{title}, by the number of elements"), "elements", "ms", &places, series);
        Exhibit { grids: vec![grid], charts: vec![chart], ..self.named(name, caption) }
    }

    fn named(&self, name: &'static str, caption: String) -> Exhibit {
        Exhibit::new((&self.printed.title, &self.printed.source), name, caption)
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

/// Returns all combinations. A field is at least as wide as its value, and end tags move where it
/// is wider.
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

/// Returns the initial characters of a growing value in Figures 8 and 9.
fn grown_from(values: Values) -> usize {
    if values == Values::Structs { 36 } else { 18 }
}

const NO_SHIFT: &str = "100 % value re-serialization, no shifting";

fn content(values: Values, n: usize) -> Case {
    Case::new(Action::ContentMatch, values, n)
}

fn structural(values: Values, n: usize, percent: u32) -> Case {
    Case::new(Action::Structural, values, n).changed(percent)
}

fn worst_shift(values: Values, n: usize, chunk: usize) -> Case {
    Case { chunk, ..Case::new(Action::Shift { width: shortest(values) }, values, n) }
}

fn some_shift(values: Values, n: usize, percent: u32) -> Case {
    Case::new(Action::Shift { width: grown_from(values) }, values, n).changed(percent)
}

/// Returns the paper's claims.
///
/// # Errors
/// When a number of the paper is missing from `bench/papers/`.
pub fn claims(scope: &Scope) -> Result<Book> {
    let printed = Printed::load()?;
    let mut book = Book::new("DS", &scope.sent);
    for (exhibit, kind, key) in
        [("Figure 1", STRUCTS, "structs"), ("Figure 2", DOUBLES, "doubles"), ("Figure 3", INTS, "ints")]
    {
        content_claims(&mut book, &printed, exhibit, (kind.0, key))?;
    }
    for (exhibits, kind, key) in [
        (["Figure 4", "Figure 6", "Figure 8", "Figure 10"], STRUCTS, "structs"),
        (["Figure 5", "Figure 7", "Figure 9", "Figure 11"], DOUBLES, "doubles"),
    ] {
        let [structural, worst, some, stuffed] = exhibits;
        structural_claims(&mut book, &printed, structural, (kind.0, key))?;
        shift_claims(&mut book, &printed, (worst, some), (kind.0, key))?;
        stuffing_claims(&mut book, stuffed, (kind.0, key));
        overlay_claims(&mut book, (kind.0, key));
    }
    Ok(book)
}

const LARGEST: usize = 100_000;

fn largest() -> Sizes {
    Sizes::All(vec![LARGEST])
}

/// Returns the sizes at which a message is more than its envelope.
fn large() -> Sizes {
    Sizes::Each(SENT.into_iter().filter(|n| *n >= 1000).collect())
}

fn each() -> Sizes {
    Sizes::Each(SENT.to_vec())
}

/// Returns one time divided by another, for each size.
fn ratios(
    data: &Data,
    sizes: &[usize],
    slow: impl Fn(usize) -> (Case, Sender),
    fast: impl Fn(usize) -> (Case, Sender),
) -> EvidenceResult {
    let sent = |(case, sender)| data.sent(case, sender);
    let ratio = |&n: &usize| Ok(sent(slow(n))? / sent(fast(n))?);
    numbers(sizes.iter().map(ratio).collect::<Result<_, String>>()?)
}

const KERNEL: &str =
    "full serialization takes little longer here than the system's way of moving the bytes, which both sides pay";

fn content_claims(
    book: &mut Book,
    printed: &Printed,
    exhibit: &'static str,
    (kind, key): (Values, &str),
) -> Result<()> {
    let number = printed.number(&format!("content-{key}"))?;
    let test = match kind {
        Values::Ints => Test::AtLeast(number.value),
        _ => Test::Factor { printed: number.value, factor: 2.0 },
    };
    book.add(exhibit, known(number.claim("", largest(), test), KERNEL), move |data, sizes| {
        ratios(data, sizes, |n| (content(kind, n), FULL), |n| (content(kind, n), TRACKED))
    });
    let statement = "gSOAP's time by that of full serialization (bSOAP is \"slightly better\")";
    let slightly =
        claim(&format!("gsoap-{key}"), "section 4.1", statement, largest(), Test::Range { low: 1.0, high: 1.5 });
    book.add(exhibit, known(slightly, "ours is more than slightly better"), move |data, sizes| {
        ratios(data, sizes, |n| (content(kind, n), Sender::Peer("gsoap")), |n| (content(kind, n), FULL))
    });
    let statement = "XSUL's time by gSOAP's (XSOAP is \"still slower\")";
    let slower = claim(&format!("xsul-{key}"), "section 4.1", statement, each(), Test::AtLeast(1.0));
    book.add(exhibit, slower, move |data, sizes| {
        let peer = |name| move |n| (content(kind, n), Sender::Peer(name));
        ratios(data, sizes, peer("xsul"), peer("gsoap"))
    });
    let statement = "time of a first send, which makes the template, by full serialization (\"negligible overhead\")";
    let first = claim(&format!("first-{key}"), "section 3", statement, each(), Test::AtMost(1.1));
    book.add(exhibit, first, move |data, sizes| {
        ratios(data, sizes, |n| (Case::new(Action::First, kind, n), TRACKED), |n| (content(kind, n), FULL))
    });
    Ok(())
}

fn structural_claims(
    book: &mut Book,
    printed: &Printed,
    exhibit: &'static str,
    (kind, key): (Values, &str),
) -> Result<()> {
    let number = printed.number("parts")?;
    let mut parts = known(number.claim("", largest(), Test::Factor { printed: number.value, factor: 2.0 }), KERNEL);
    parts.key += &format!("-{key}");
    book.add(exhibit, parts, move |data, sizes| {
        let best = |&n: &usize| {
            let full = data.sent(content(kind, n), FULL)?;
            let part = |percent| data.sent(structural(kind, n, percent), TRACKED);
            let fastest = part(25)?.min(part(50)?).min(part(75)?);
            Ok(full / fastest)
        };
        numbers(sizes.iter().map(best).collect::<Result<_, String>>()?)
    });
    let statement =
        "time as the share of changed values goes from 0 over 25, 50 and 75 to 100 %: the least step, each size";
    let ascending = claim(&format!("shares-{key}"), "section 4.2", statement, large(), Test::AtLeast(1.0));
    book.add(exhibit, ascending, move |data, sizes| {
        let mut steps = Vec::new();
        for &n in sizes {
            let changed = PERCENTS.map(|percent| data.sent(structural(kind, n, percent), TRACKED));
            let times = std::iter::once(data.sent(content(kind, n), TRACKED)).chain(changed);
            let times = times.collect::<Result<Vec<f64>, String>>()?;
            steps.extend(times.windows(2).map(|pair| pair[1] / pair[0]));
        }
        numbers(steps)
    });
    let statement = "full serialization by re-serialization of all values (the difference is \"the cost of tags\")";
    let tags = claim(&format!("tags-{key}"), "section 4.2", statement, large(), Test::AtLeast(1.0));
    let tags = known(tags, "numbers are written in one pass here, where a template visits each of its leaves");
    book.add(exhibit, tags, move |data, sizes| {
        ratios(data, sizes, |n| (content(kind, n), FULL), |n| (structural(kind, n, 100), TRACKED))
    });
    Ok(())
}

fn shift_claims(
    book: &mut Book,
    printed: &Printed,
    (worst, some): (&'static str, &'static str),
    (kind, key): (Values, &str),
) -> Result<()> {
    let unshifted = move |n| (Case::new(Action::Rewritten, kind, n), TRACKED);
    for (kib, suffix) in [(32, ""), (8, "-8k")] {
        let number = printed.number("worst-shift")?;
        let (low, high) = number.range();
        let test = Test::Range { low: low / 2.0, high: high * 2.0 };
        let mut claim =
            known(number.claim("", largest(), test), "a chunk in which anything moves is made anew in one pass");
        claim.key += &format!("-{key}{suffix}");
        claim.statement += &format!(", chunks of {kib} KiB");
        book.add(worst, claim, move |data, sizes| {
            ratios(data, sizes, |n| (worst_shift(kind, n, kib << 10), TRACKED), unshifted)
        });
    }
    let statement = "time as the share of growing values goes from 25 over 50 and 75 to 100 % (\"approaches no shifting\" the fewer)";
    let fewer = claim(&format!("fewer-{key}"), "section 4.3", statement, largest(), Test::Ascending);
    book.add(some, fewer, move |data, _| {
        let times = PERCENTS.map(|percent| data.sent(some_shift(kind, LARGEST, percent), TRACKED));
        numbers(times.into_iter().collect::<Result<_, String>>()?)
    });
    let statement = "time with a quarter of the values growing by that without shifting";
    let quarter =
        claim(&format!("quarter-{key}"), "section 4.3", statement, largest(), Test::Range { low: 0.67, high: 1.5 });
    let quarter =
        known(quarter, "three quarters of the values are not written again, which costs less than no shifting at all");
    book.add(some, quarter, move |data, sizes| ratios(data, sizes, |n| (some_shift(kind, n, 25), TRACKED), unshifted));
    Ok(())
}

fn stuffing_claims(book: &mut Book, exhibit: &'static str, (kind, key): (Values, &str)) {
    let statement =
        "what moving end tags multiplies the time by, by what wider fields do (\"the most significant penalty\")";
    let tags = claim(&format!("stuffing-{key}"), "section 4.4", statement, largest(), Test::AtLeast(1.0));
    book.add(exhibit, known(tags, "moving an end tag costs as little as writing white space"), move |data, _| {
        let ms = |stuffing| data.sent(Case::new(stuffed(kind, stuffing), kind, LARGEST), TRACKED);
        let (shifted, maximal, exact) = (ms(Stuffing::TagShift)?, ms(Stuffing::Maximal)?, ms(Stuffing::Exact)?);
        one((shifted / maximal) / (maximal / exact))
    });
}

fn overlay_claims(book: &mut Book, (kind, key): (Values, &str)) {
    // Both write all values. Figure 5's re-serialization of all doubles, which the text refers to,
    // uses separate chunks.
    let statement = format!("time with one overlaid chunk by that with separate ones (\"comparable\"), {key}");
    let test = Test::Range { low: 0.8, high: 1.25 };
    let comparable = claim(&format!("overlay-{key}"), "section 4.5", statement, largest(), test);
    book.add("Figure 12", comparable, move |data, sizes| {
        let overlaid = |n| (Case::new(Action::Overlaid, kind, n), Sender::Ours(Mode::Overlaid));
        ratios(data, sizes, overlaid, |n| (Case::new(Action::Overlaid, kind, n), TRACKED))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_report::Outcome;

    #[test]
    fn the_sweep_has_every_value_in_every_field_that_holds_it() {
        let cells = sweep(10);
        assert_eq!(cells.len(), 21 + 15);
        assert!(cells.iter().all(|cell| cell.field >= cell.value && (cell.field > cell.value || !cell.is_moved)));
    }
    /// Both do the same work: they write every value of the message.
    #[test]
    fn overlaying_is_judged_by_separate_chunks() {
        let outcomes = |by: f64| {
            let (mut data, book) = (Data::default(), claims(&Scope::new(false, &[])).unwrap());
            book.judge(Study(std::slice::from_ref(&data)));
            data.sends.fill(|case, sender| match (sender, case.action) {
                (Sender::Ours(Mode::Overlaid), _) => by,
                (_, Action::Overlaid) => 1.0,
                _ => 100.0,
            });
            let verdicts = book.judge(Study(std::slice::from_ref(&data)));
            let of = |key| verdicts.iter().find(|verdict| verdict.claim.key == key).unwrap();
            ["overlay-structs", "overlay-doubles"].map(|key| of(key).outcome)
        };
        assert_eq!(outcomes(1.2), [Outcome::Agrees; 2]);
        assert_eq!(outcomes(1.3), [Outcome::Differs; 2]);
        assert_eq!(outcomes(0.7), [Outcome::Differs; 2]);
    }
}

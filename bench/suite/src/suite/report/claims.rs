//! The claims of *Toward Characterizing the Performance of SOAP Toolkits*, judged by a record.
//!
//! A record has each time once, with the distance of the quartiles of its runs. So a ratio of two
//! times is judged three times: with the medians, and with both times at opposite ends of their
//! range, in either direction; where growth is judged, its ends shift in opposite directions. If
//! the results differ, the verdict is unstable. A time of one run has no range, and no claim is
//! judged by it. Variation between processes or days is not in a record. The claims do not compare
//! us: they check whether today's toolkits relate to each other as those of 2004 did.

use anyhow::Result;
use deltasoap_report::{Basis, Claim, Evidence, Printed, Registered, Sizes, Test, Verdict};

use super::Data;
use crate::paper::printed::CharacterizingPerformance as Paper;
use crate::suite::row::Part;

/// Returns a verdict for each claim, with the name of its exhibit.
///
/// # Errors
/// When a number of the paper is missing from `bench/papers/`.
pub fn verdicts(data: &Data<'_>) -> Result<Vec<(&'static str, Verdict)>> {
    let claims = Claims { data, paper: Paper::load()? }.all()?;
    let views = [Lean::None, Lean::Up, Lean::Down].map(|lean| View { data, lean });
    Ok(claims.iter().map(|(exhibit, registered)| (*exhibit, registered.judge(&views))).collect())
}

/// The ends of their ranges at which a ratio uses its times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lean {
    /// The medians.
    None,
    /// The numerator's upper end, and the denominator's lower one.
    Up,
    /// The numerator's lower end, and the denominator's upper one.
    Down,
}

impl Lean {
    fn other(self) -> Lean {
        match self {
            Lean::None => Lean::None,
            Lean::Up => Lean::Down,
            Lean::Down => Lean::Up,
        }
    }
}

/// A record, with ratios at one of the ends.
struct View<'a> {
    data: &'a Data<'a>,
    lean: Lean,
}

/// A job, at any size.
type Work = (Part, &'static str);

/// The paper's sizes, as far as its captions and text mention them.
const SIZES: [usize; 7] = [10, 100, 1000, 10_000, 50_000, 75_000, 100_000];

impl View<'_> {
    /// Returns the time of a toolkit divided by that of another.
    fn ratio(&self, (part, operation): Work, n: usize, slow: &str, fast: &str) -> Result<f64, String> {
        let row = super::place(part, operation, n);
        self.by((&row, slow), (&row, fast))
    }

    /// Returns a time divided by another, given by row and toolkit.
    fn by(&self, (row, toolkit): (&str, &str), (other_row, other): (&str, &str)) -> Result<f64, String> {
        let (above, below) = (timed(self.data, row, toolkit)?, timed(self.data, other_row, other)?);
        Ok(match self.lean {
            Lean::None => above.1 / below.1,
            Lean::Up => above.2 / below.0,
            Lean::Down => above.0 / below.2,
        })
    }

    fn ratios(&self, work: Work, sizes: &[usize], slow: &str, fast: &str) -> Result<Evidence, String> {
        let ratios: Result<Vec<f64>, String> = sizes.iter().map(|&n| self.ratio(work, n, slow, fast)).collect();
        Ok(Evidence::Numbers(ratios?))
    }

    /// Returns the ratios of a series whose last is judged relative to the first: the first shifts
    /// in the other direction, so that the errors add up.
    fn apart(&self, work: Work, sizes: &[usize], slow: &str, fast: &str) -> Result<Evidence, String> {
        let (first, others) = sizes.split_first().ok_or("no sizes")?;
        let first = View { data: self.data, lean: self.lean.other() }.ratio(work, *first, slow, fast)?;
        let others: Result<Vec<f64>, String> = others.iter().map(|&n| self.ratio(work, n, slow, fast)).collect();
        Ok(Evidence::Numbers([vec![first], others?].concat()))
    }
}

/// Returns the median of a toolkit's milliseconds and the ends of its range. The distance to either
/// end is half of that between the quartiles of its runs, which alternate with those of the other
/// toolkits. For few runs, it is half of the median's 95 % interval, if that is more: 1.82 times
/// this distance divided by the root of their number, as for normal distributions (1.96 standard
/// errors of 1.253 sigma divided by that root, where the quartiles are 1.349 sigma apart). All runs
/// are of one process.
fn timed(data: &Data<'_>, row: &str, toolkit: &str) -> Result<(f64, f64, f64), String> {
    let engine = engine(data, toolkit)?;
    let found = data.of(row, engine).ok_or_else(|| missing(data, engine))?;
    if let Some(flaw) = data.flaw(found) {
        return Err(named(engine, flaw));
    }
    let median = found.ms().ok_or_else(|| named(engine, found.reason.as_deref().unwrap_or("no number")))?;
    let runs = found.runs.filter(|runs| *runs > 1).ok_or_else(|| named(engine, "one run only"))?;
    let half = found.spread.unwrap_or(0.0) * f64::max(0.5, 1.82 / (runs as f64).sqrt());
    Ok((median / (1.0 + half), median, median * (1.0 + half)))
}

fn engine<'a>(data: &'a Data<'_>, toolkit: &str) -> Result<&'a str, String> {
    let known = data.definition.paper_toolkit.iter().find(|known| known.paper == toolkit);
    known.map(|known| &*known.engine).ok_or_else(|| format!("{toolkit} is not measured"))
}

/// Returns why a toolkit has no row.
fn missing(data: &Data<'_>, engine: &str) -> String {
    let note = data.environment.engines.iter().find(|note| note.name == engine);
    let reason = note.and_then(|note| note.reason.as_deref());
    named(engine, reason.unwrap_or("not measured in this record"))
}

/// Returns a reason with the toolkit's name, unless it begins with it.
fn named(engine: &str, reason: &str) -> String {
    if reason.starts_with(engine) { reason.to_owned() } else { format!("{engine}: {reason}") }
}

struct Claims<'a> {
    data: &'a Data<'a>,
    paper: Paper,
}

type Entry<'a> = (&'static str, Registered<'a, View<'a>>);

impl<'a> Claims<'a> {
    fn all(&self) -> Result<Vec<Entry<'a>>> {
        let mut all = self.tables();
        all.extend(self.figures()?);
        all.extend(self.references());
        all.extend(self.introduction());
        Ok(all)
    }

    fn tables(&self) -> Vec<Entry<'a>> {
        let void = (Part::Calls, "echoVoid");
        let toolkits = ["XSOAP4", ".NET", "AxisJava"];
        let printed = |toolkit: &str| self.paper.table1.ms(toolkit, "echoVoid", 0).unwrap_or(f64::NAN);
        let theirs = toolkits.map(|toolkit| printed(toolkit) / printed("gSOAP"));
        let order = claim_without_number(
            "latency-order",
            "Table 1",
            "echoVoid: how many times as long the next of gSOAP, XSOAP4, .NET and AxisJava takes, the least",
        );
        let order = Claim { test: Test::AtLeast(1.0), ..order };
        let order = Registered::new(order, &[], move |view: &View<'_>, _| {
            let pairs = [("XSOAP4", "gSOAP"), (".NET", "XSOAP4"), ("AxisJava", ".NET")];
            let steps: Result<_, String> = pairs.iter().map(|(slow, fast)| view.ratio(void, 0, slow, fast)).collect();
            Ok(Evidence::Numbers(steps?))
        });
        let latency = claim_without_number(
            "latency",
            "Table 1",
            "echoVoid: times of XSOAP4, .NET and AxisJava by that of gSOAP (1.2, 2.6 and 7.8)",
        );
        let latency = Claim { test: Test::Cells { factor: 2.0, share: 1.0 }, ..latency };
        let latency = Registered::new(latency, &[], move |view: &View<'_>, _| {
            let pair = |(toolkit, theirs): (&&str, f64)| {
                let ours = view.ratio(void, 0, toolkit, "gSOAP")?;
                Ok(deltasoap_report::statistics::Compared { ours, theirs, place: [0; 3] })
            };
            let cells: Result<_, String> = toolkits.iter().zip(theirs).map(pair).collect();
            Ok(Evidence::Cells(vec![cells?]))
        });
        [("Table 1", order), ("Table 1", latency)].into_iter().chain(self.table2()).chain(self.table3()).collect()
    }

    fn table2(&self) -> Vec<Entry<'a>> {
        let doubles = (Part::Calls, "echoDoubles");
        let sizes = || Sizes::All(vec![10, 100, 1000]);
        let beside = claim_without_number(
            "axis-cpp",
            "Table 2",
            "echo of doubles: time of AxisC++ by that of gSOAP (2.1, 2.0 and 1.8)",
        );
        let beside = Claim { sizes: sizes(), test: Test::Range { low: 1.5, high: 2.5 }, ..beside };
        let available = self.rows(doubles, "gSOAP", "gSOAP");
        let beside = Registered::new(beside, &available, move |view: &View<'_>, sizes| {
            view.ratios(doubles, sizes, "AxisC++", "gSOAP")
        });
        let sent = (Part::Calls, "sendDoubles");
        let read = claim_without_number(
            "axis-cpp-deserialization",
            "Table 2",
            "doubles are received: time of AxisC++ by that of gSOAP (2.2, 2.5 and 1.9: faster by 48 to 59 %)",
        );
        let read = Claim { sizes: sizes(), test: Test::Range { low: 1.6, high: 3.0 }, ..read };
        let read =
            Registered::new(read, &self.rows(sent, "gSOAP", "gSOAP"), move |view: &View<'_>, sizes: &[usize]| {
                view.ratios(sent, sizes, "AxisC++", "gSOAP")
            });
        let printed = |n| self.paper.table2.ms("gSOAP", "echoDoubles", n).unwrap_or(f64::NAN);
        let theirs = printed(1000) / printed(10);
        let growth = claim_without_number("growth", "Table 2", "gSOAP's echo of 1000 doubles by that of 10");
        let test = Test::Factor { printed: theirs, factor: 2.0 };
        let growth = Claim { sizes: sizes(), printed: Printed::Number(theirs), test, ..growth };
        let growth = Registered::new(growth, &available, move |view: &View<'_>, _| {
            let row = |n| super::place(doubles.0, doubles.1, n);
            view.by((&row(1000), "gSOAP"), (&row(10), "gSOAP")).map(Evidence::from)
        });
        vec![("Table 2", beside), ("Table 2", read), ("Table 2", growth)]
    }

    /// Returns the claims about .NET and XSOAP4: one is faster at 100 items, the other at 10,000
    /// and more.
    fn table3(&self) -> Vec<Entry<'a>> {
        let works = [(Part::Calls, "echoStrings"), (Part::Calls, "sendInts")];
        let claim = |key, sizes: Vec<usize>, what: &str, test| {
            let statement = format!("strings echoed and ints sent: time of .NET by that of XSOAP4, {what}");
            let claim = Claim { sizes: Sizes::All(sizes), test, ..claim_without_number(key, "Table 3", &statement) };
            let available = self.rows(works[1], ".NET", "XSOAP4");
            Registered::new(claim, &available, move |view: &View<'_>, sizes: &[usize]| {
                let pairs = works.into_iter().flat_map(|work| sizes.iter().map(move |&n| (work, n)));
                let ratios: Result<_, String> = pairs.map(|(work, n)| view.ratio(work, n, ".NET", "XSOAP4")).collect();
                Ok(Evidence::Numbers(ratios?))
            })
        };
        // "Better" without more: a tenth beyond what is printed, and not slower.
        let (slightly, better) = (Test::Range { low: 1.0, high: 1.5 }, Test::Range { low: 0.6, high: 1.0 });
        vec![
            (
                "Table 3",
                claim("small", vec![100], "small arrays (1.2 and 1.4: XSOAP4 is \"slightly better\")", slightly),
            ),
            ("Table 3", claim("large", vec![10_000, 50_000], "large arrays (0.70 to 0.90)", better)),
        ]
    }

    fn figures(&self) -> Result<Vec<Entry<'a>>> {
        let (doubles, ints) = ((Part::Calls, "echoDoubles"), (Part::Calls, "echoInts"));
        let (sent, read) = ((Part::Calls, "sendDoubles"), (Part::Process, "decode-hard"));
        let (received, written) = ((Part::Calls, "receiveBase64"), (Part::Process, "encode-base64"));
        let (xsoap, streaming, plain) =
            (("XSOAP4", "gSOAP"), ("AxisJava-Streaming", "XSOAP4"), ("AxisJava", "AxisJava-Streaming"));
        let axis = ("AxisJava", "XSOAP4");
        let growth = Test::Growth { least: 1.2 };
        let grows = "how many times as large it is for the largest array as for the smallest";
        // The captions give both ends: 3 % and 32 or 38 %, 6 and 1.6 times. The tolerance is
        // fifteen points, or a factor of 1.5, in either direction.
        let (first, axis_last) = ((0.88, 1.18), (1.07, 2.4));
        let axis_ends = Test::Ends { first: (4.0, 9.0), last: axis_last };
        let last = |printed: f64| (printed - 0.15, printed + 0.15);
        let ends = |printed: f64| Test::Ends { first, last: last(printed) };
        // In-process arrays are not small: below a thousand items, the envelope would dominate.
        let (in_memory, large) = ("from memory, large arrays", |(low, high): (f64, f64)| Test::Range { low, high });
        // The text has array sizes "close to 10" and "close to 75,000" for doubles; it gives no
        // sizes for base64.
        let (doubles_ends, far_ends) = ([10, 75_000], [10, 100_000]);
        Ok(vec![
            self.range("Figure 1", "figure1-xsoap", xsoap, doubles)?,
            self.range("Figure 1", "figure1-axis", streaming, doubles)?,
            self.range("Figure 1", "figure1-streaming", plain, doubles)?,
            self.range("Figure 2", "figure2-xsoap", xsoap, ints)?,
            self.factor("Figure 2", "figure2-xsoap", xsoap, ints, (&far_ends, growth, grows))?,
            self.range("Figure 2", "figure2-streaming", plain, ints)?,
            self.factor(
                "Figure 3",
                "figure3-xsoap",
                xsoap,
                sent,
                (&doubles_ends, ends(1.32), "a call that sends them"),
            )?,
            self.factor("Figure 3", "figure3-xsoap", xsoap, read, (&[75_000], large(last(1.32)), in_memory))?,
            self.factor(
                "Figure 4",
                "figure4-xsoap",
                xsoap,
                received,
                (&far_ends, ends(1.38), "a call that receives it"),
            )?,
            self.factor("Figure 4", "figure4-xsoap", xsoap, written, (&[100_000], large(last(1.38)), in_memory))?,
            self.factor("Figure 4", "figure4-axis", axis, received, (&far_ends, axis_ends, "a call that receives it"))?,
            self.factor("Figure 4", "figure4-axis", axis, written, (&[100_000], large(axis_last), in_memory))?,
        ])
    }

    /// Returns the claims about Figure 5: gSOAP's cost of looking up every string in case it is
    /// repeated.
    fn references(&self) -> [Entry<'a>; 2] {
        let strings = (Part::Process, "encode-encoded");
        let of = |key, statement: &str, sizes, test| Claim {
            sizes,
            test,
            ..claim_without_number(key, "Figure 5", statement)
        };
        let growth = of(
            "references",
            "gSOAP with references, arrays of strings: time of an item among 100,000 by that among 10,000 (\"drops\" beyond 50,000)",
            Sizes::All(vec![10_000, 100_000]),
            Test::AtLeast(1.3),
        );
        let available = self.rows(strings, WITH_REFERENCES, WITH_REFERENCES);
        let growth = Registered::new(growth, &available, move |view: &View<'_>, _| {
            let row = |n| super::place(strings.0, strings.1, n);
            let times = view.by((&row(100_000), WITH_REFERENCES), (&row(10_000), WITH_REFERENCES))?;
            Ok(Evidence::from(times / 10.0))
        });
        let cost = of(
            "references-cost",
            "gSOAP, large arrays of strings: time with references by that without (\"a significant performance penalty\")",
            Sizes::All(vec![75_000, 100_000]),
            // "Slightly" ends where "significant" begins.
            Test::AtLeast(1.5),
        );
        let available = self.rows(strings, WITH_REFERENCES, "gSOAP");
        let cost = Registered::new(cost, &available, move |view: &View<'_>, sizes| {
            view.ratios(strings, sizes, WITH_REFERENCES, "gSOAP")
        });
        [("Figure 5", growth), ("Figure 5", cost)]
    }

    /// Returns the claims of the introduction about all toolkits.
    fn introduction(&self) -> [Entry<'a>; 6] {
        let work = |operation| (Part::Calls, operation);
        let (ints, doubles, strings) = (work("echoInts"), work("echoDoubles"), work("echoStrings"));
        [
            self.fastest("Figure 1", "fastest: doubles", GSOAP, doubles, "echo of doubles"),
            self.fastest("Figure 2", "fastest: ints", GSOAP, ints, "echo of ints"),
            self.fastest("Figure 1", "before-axis: doubles", XSOAP, doubles, "echo of doubles"),
            self.fastest("Figure 2", "before-axis: ints", XSOAP, ints, "echo of ints"),
            self.fastest("Table 3", "before-axis: strings", XSOAP, strings, "echo of strings"),
            self.fastest("Figure 4", "before-axis: base64", XSOAP, work("receiveBase64"), "base64 received"),
        ]
    }

    /// Returns the claim that a toolkit is faster than others at each size. The first of these must
    /// have times; of the rest, those that can be judged.
    fn fastest(
        &self,
        exhibit: &'static str,
        key: &str,
        (fast, others, quoted): Faster,
        work: Work,
        what: &str,
    ) -> Entry<'a> {
        let statement = format!(
            "{what}: times of {} by that of {fast}, each size, as far as there are times to judge by ({quoted})",
            others.join(", ")
        );
        let available = self.sizes(work, others[0], fast);
        let sizes = if available.is_empty() { Sizes::None } else { Sizes::Each(SIZES.to_vec()) };
        let claim = Claim { sizes, test: Test::AtLeast(1.0), ..claim_without_number(key, "section 1", &statement) };
        let registered = Registered::new(claim, &available, move |view: &View<'_>, sizes: &[usize]| {
            if sizes.is_empty() {
                return Err(why(view.data, work, [others[0], fast]));
            }
            let pairs = sizes.iter().flat_map(|&n| others.iter().map(move |other| (n, *other)));
            let ratios = pairs.filter_map(|(n, other)| view.ratio(work, n, other, fast).ok());
            Ok(Evidence::Numbers(ratios.collect()))
        });
        (exhibit, registered)
    }

    /// Adds a factor that must lie within the printed range at each size.
    fn range(
        &self,
        exhibit: &'static str,
        key: &str,
        pair: (&'static str, &'static str),
        work: Work,
    ) -> Result<Entry<'a>> {
        let (low, high) = self.paper.number(key)?.range();
        let sizes = Sizes::Each(SIZES.to_vec());
        self.judged(exhibit, key, pair, work, (sizes, Test::Range { low, high }, "each size"))
    }

    /// Adds a factor that is judged at all of these sizes.
    fn factor(
        &self,
        exhibit: &'static str,
        key: &str,
        pair: (&'static str, &'static str),
        work: Work,
        (sizes, test, how): (&[usize], Test, &str),
    ) -> Result<Entry<'a>> {
        self.judged(exhibit, key, pair, work, (Sizes::All(sizes.to_vec()), test, how))
    }

    fn judged(
        &self,
        exhibit: &'static str,
        key: &str,
        (slow, fast): (&'static str, &'static str),
        work: Work,
        (sizes, test, how): (Sizes, Test, &str),
    ) -> Result<Entry<'a>> {
        let available = match sizes {
            Sizes::All(_) => self.rows(work, slow, fast),
            _ => self.sizes(work, slow, fast),
        };
        let sizes = if available.is_empty() { Sizes::None } else { sizes };
        let is_growth = matches!(test, Test::Growth { .. });
        let mut claim = self.paper.number(key)?.claim(PAPER, sizes, test);
        (claim.key, claim.statement) = (format!("{key}: {how}"), format!("{}; {how}", claim.statement));
        let registered = Registered::new(claim, &available, move |view: &View<'_>, sizes| match sizes {
            [] => Err(why(view.data, work, [slow, fast])),
            sizes if is_growth => view.apart(work, sizes, slow, fast),
            sizes => view.ratios(work, sizes, slow, fast),
        });
        Ok((exhibit, registered))
    }

    /// Returns the sizes at which two toolkits have a time to judge by.
    fn sizes(&self, work: Work, one: &str, other: &str) -> Vec<usize> {
        sizes_with(work, [one, other], |row, toolkit| timed(self.data, row, toolkit).is_ok())
    }

    /// Returns the sizes at which two toolkits have a row, for claims that need all of their sizes:
    /// a row without a time to judge by says why.
    fn rows(&self, work: Work, one: &str, other: &str) -> Vec<usize> {
        let has_row =
            |row: &str, toolkit: &str| engine(self.data, toolkit).is_ok_and(|it| self.data.of(row, it).is_some());
        sizes_with(work, [one, other], has_row)
    }
}

fn sizes_with((part, operation): Work, toolkits: [&str; 2], is_usable: impl Fn(&str, &str) -> bool) -> Vec<usize> {
    let is_there = |n: &usize| {
        let row = super::place(part, operation, *n);
        toolkits.into_iter().all(|toolkit| is_usable(&row, toolkit))
    };
    SIZES.into_iter().filter(is_there).collect()
}

/// A toolkit that is faster than others, and the paper's words for it.
type Faster = (&'static str, &'static [&'static str], &'static str);

const GSOAP: Faster = (
    "gSOAP",
    &["XSOAP4", ".NET", "AxisJava", "AxisJava-Streaming", "AxisC++"],
    "\"for scientific data, such as arrays of integers and doubles, gSOAP is faster than the other toolkits\"",
);

const XSOAP: Faster = (
    "XSOAP4",
    &["AxisJava", "AxisJava-Streaming"],
    "\"XSOAP4 outperforms AxisJava and AxisJava-Streaming for all data types\"",
);

const PAPER: &str = "Toolkits";

/// The paper's gSOAP in its Figure 5.
const WITH_REFERENCES: &str = "gSOAP with references";

/// Returns why there is no size at which all of these have a time.
fn why(data: &Data<'_>, (part, operation): Work, toolkits: [&str; 2]) -> String {
    let rows = SIZES.into_iter().map(|n| super::place(part, operation, n));
    let reasons = rows.flat_map(|row| toolkits.map(|toolkit| timed(data, &row, toolkit).err()));
    reasons.flatten().next().unwrap_or_else(|| "not measured at the same sizes".to_owned())
}

fn claim_without_number(key: &str, place: &str, statement: &str) -> Claim {
    Claim {
        key: key.to_owned(),
        paper: PAPER.to_owned(),
        place: place.to_owned(),
        statement: statement.to_owned(),
        printed: Printed::Text,
        sizes: Sizes::None,
        basis: Basis::Times,
        test: Test::AtLeast(1.0),
        because: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::definition::Definition;
    use crate::suite::record;
    use crate::suite::row::{Layer, Row, Subject};
    use deltasoap_report::Outcome;

    /// Returns a row of a toolkit, by its name in the paper.
    fn row(definition: &Definition, place: &str, n: usize, toolkit: &str, ms: f64) -> Row {
        let known = definition.paper_toolkit.iter().find(|known| known.paper == toolkit);
        let engine = &known.unwrap().engine;
        let (part, operation) = if place.starts_with("process") {
            (Part::Process, "decode")
        } else {
            (Part::Calls, place.split('/').nth(1).unwrap())
        };
        let subject = Subject { row: place, part, operation, values: "", n, similarity: None };
        let empty = subject.row(engine, Layer::Soap, "regular");
        Row { ns_median: Some((ms * 1e6) as u64), runs: Some(100), spread: Some(0.001), ..empty }
    }

    /// Judges a record in which `of` returns a toolkit's time in milliseconds.
    fn judged(of: impl Fn(&str, usize, &str) -> f64) -> Vec<Verdict> {
        judged_with(of, |row| row)
    }

    /// Judges such a record after changing its rows by `but`.
    fn judged_with(of: impl Fn(&str, usize, &str) -> f64, but: impl Fn(Row) -> Row) -> Vec<Verdict> {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/record");
        let (environment, _) = record::read(sample.as_ref()).unwrap();
        let definition = Definition::load().unwrap().without_flaws();
        let mut rows = vec![];
        let toolkits = ["gSOAP", "XSOAP4", "AxisC++", ".NET", "AxisJava", "AxisJava-Streaming", WITH_REFERENCES];
        for toolkit in toolkits {
            rows.push(row(&definition, "calls/echoVoid/0", 0, toolkit, of("echoVoid", 0, toolkit)));
            for n in SIZES {
                for operation in ["echoDoubles", "echoInts", "echoStrings", "sendInts", "sendDoubles", "receiveBase64"]
                {
                    let place = format!("calls/{operation}/{n}");
                    rows.push(row(&definition, &place, n, toolkit, of(operation, n, toolkit)));
                }
                for workload in ["decode-hard", "encode-base64", "encode-encoded"] {
                    let place = format!("process/{workload}/{n}");
                    rows.push(row(&definition, &place, n, toolkit, of(workload, n, toolkit)));
                }
            }
        }
        let rows: Vec<Row> = rows.into_iter().map(but).collect();
        let data = Data::new(&environment, &definition, &rows);
        verdicts(&data).unwrap().into_iter().map(|(_, verdict)| verdict).collect()
    }

    /// Returns 0 for the smallest size to 1 for the largest.
    fn share(n: usize) -> f64 {
        (n as f64 / 10.0).log10() / 4.0
    }

    /// Returns times with the paper's relations between toolkits.
    fn as_printed(work: &str, n: usize, toolkit: &str) -> f64 {
        if work == "echoVoid" {
            let all = [("gSOAP", 1.3), ("XSOAP4", 1.6), ("AxisC++", 2.7), (".NET", 3.4), ("AxisJava", 10.1)];
            return all.iter().find(|(name, _)| *name == toolkit).map_or(1.0, |(_, ms)| *ms);
        }
        let gsoap = 1.4 + n as f64 * 0.02;
        let is_base64 = work.ends_with("ase64");
        let (low, high) = match work {
            "echoDoubles" => (1.24, 1.76),
            "echoInts" => (1.1, 1.8),
            _ => (1.03, if is_base64 { 1.38 } else { 1.32 }),
        };
        let xsoap = gsoap * (low + (high - low) * share(n) * 0.99 + 0.003);
        match toolkit {
            "gSOAP" => gsoap,
            "XSOAP4" => xsoap,
            "AxisC++" => gsoap * 2.0,
            ".NET" => xsoap * if n <= 100 { 1.2 } else { 0.8 },
            "AxisJava-Streaming" => xsoap * 11.0,
            "AxisJava" if is_base64 => xsoap * (6.0 - 4.4 * share(n)),
            "AxisJava" => xsoap * 11.0 * 1.25,
            _ => gsoap * if n > 50_000 { 2.0 } else { 1.0 },
        }
    }

    #[test]
    fn every_claim_agrees_with_what_the_paper_prints() {
        let verdicts = judged(as_printed);
        for verdict in &verdicts {
            let (key, ours) = (&verdict.claim.key, verdict.ours);
            assert_eq!(verdict.outcome, Outcome::Agrees, "{key}: {ours:?} {}", verdict.why());
        }
        assert!(verdicts.len() > 25);
    }

    /// Tests both ends of a series in turn, and the range of times.
    #[test]
    fn both_ends_decide_and_the_worse_one_is_shown() {
        let with = |at: usize, by: f64| {
            let times = move |work: &str, n: usize, toolkit: &str| {
                let is_meant = (work, toolkit) == ("sendDoubles", "XSOAP4") && n == at;
                as_printed(work, n, toolkit) * if is_meant { by } else { 1.0 }
            };
            let key = "figure3-xsoap: a call that sends them";
            judged(times).into_iter().find(|verdict| verdict.claim.key == key).unwrap()
        };
        assert_eq!(with(10, 1.0).sizes_run, [10, 75_000]);
        assert_eq!(with(10, 1.0).outcome, Outcome::Agrees);
        let (first, last, beyond) = (with(10, 2.0), with(75_000, 2.0), with(100_000, 2.0));
        assert_eq!(
            (first.outcome, last.outcome, beyond.outcome),
            (Outcome::Differs, Outcome::Differs, Outcome::Agrees)
        );
        assert!((2.0..2.1).contains(&first.ours.unwrap().median), "{:?}", first.ours);
        assert!((2.6..2.7).contains(&last.ours.unwrap().median), "{:?}", last.ours);
    }

    /// 25 % growth, with errors of 4 % at both ends: either may be lower, the other higher.
    #[test]
    fn errors_of_the_ends_do_not_cancel_in_growth() {
        let outcome = |spread: f64| {
            let times = |_: &str, n: usize, toolkit: &str| match toolkit {
                "XSOAP4" if n == 100_000 => 1.25,
                _ => 1.0,
            };
            let verdicts = judged_with(times, |row| Row { spread: Some(spread), ..row });
            verdicts.into_iter().find(|verdict| verdict.claim.key.starts_with("figure2-xsoap: how")).unwrap()
        };
        assert_eq!(outcome(0.001).outcome, Outcome::Agrees);
        let unstable = outcome(0.04);
        assert_eq!(unstable.outcome, Outcome::Unstable);
        let (low, high) = (1.25 / 1.02_f64.powi(4), 1.25 * 1.02_f64.powi(4));
        let ours = unstable.ours.unwrap();
        assert!((ours.low - low).abs() < 1e-9 && (ours.high - high).abs() < 1e-9, "{ours:?}");
    }

    /// Half of the distance of the quartiles; for four runs, half of the 95 % interval of the
    /// median.
    #[test]
    fn few_runs_vary_by_more() {
        let range = |runs: u64| {
            let verdicts = judged_with(as_printed, |row| Row { spread: Some(0.1), runs: Some(runs), ..row });
            let ours = verdicts.into_iter().find(|verdict| verdict.claim.key == "growth").unwrap().ours.unwrap();
            (ours.high / ours.median).sqrt() - 1.0
        };
        assert!((range(100) - 0.05).abs() < 1e-9 && (range(4) - 0.091).abs() < 1e-9, "{} {}", range(100), range(4));
    }

    #[test]
    fn slightly_better_has_two_ends() {
        let outcome = |by: f64| {
            let times = move |work: &str, n: usize, toolkit: &str| match (toolkit, n) {
                (".NET", 100) => as_printed(work, n, "XSOAP4") * by,
                _ => as_printed(work, n, toolkit),
            };
            judged(times).into_iter().find(|verdict| verdict.claim.key == "small").unwrap().outcome
        };
        assert_eq!([0.9, 1.3, 3.63].map(outcome), [Outcome::Differs, Outcome::Agrees, Outcome::Differs]);
    }

    #[test]
    fn better_at_large_arrays_has_two_ends() {
        let outcome = |by: f64| {
            let times = move |work: &str, n: usize, toolkit: &str| match (toolkit, n) {
                (".NET", 10_000..) => as_printed(work, n, "XSOAP4") * by,
                _ => as_printed(work, n, toolkit),
            };
            judged(times).into_iter().find(|verdict| verdict.claim.key == "large").unwrap().outcome
        };
        assert_eq!([0.3, 0.7, 1.1].map(outcome), [Outcome::Differs, Outcome::Agrees, Outcome::Differs]);
    }

    /// A single run has no range, so that nothing is judged by it.
    #[test]
    fn one_run_proves_nothing() {
        let single = |toolkit: &'static str, n: usize| {
            judged_with(as_printed, move |row| {
                let is_meant = row.engine == toolkit && (n == 0 || row.n == n);
                Row { runs: if is_meant { Some(1) } else { row.runs }, ..row }
            })
        };
        let of = |verdicts: &[Verdict], key: &str| {
            let verdict = verdicts.iter().find(|verdict| verdict.claim.key == key).unwrap();
            (verdict.outcome, verdict.why().to_owned())
        };
        let none = single("xsul", 0);
        for key in ["latency-order", "small", "figure1-xsoap: each size", "figure3-xsoap: a call that sends them"] {
            assert_eq!(of(&none, key), (Outcome::NotMeasured, "xsul: one run only".to_owned()), "{key}");
        }
        let last = single("xsul", 75_000);
        let at_ends = of(&last, "figure3-xsoap: a call that sends them");
        assert_eq!(at_ends, (Outcome::NotMeasured, "xsul: one run only".to_owned()));
        let partial = (Outcome::NotMeasured, "agrees at 6 of the paper's 7 sizes, which confirms nothing".to_owned());
        assert_eq!(of(&last, "figure1-xsoap: each size"), partial);
        assert_eq!(of(&last, "growth").0, Outcome::Agrees);
    }

    /// One of the others is faster at one size. The first of them has to have times; the rest count
    /// where they have some.
    #[test]
    fn the_fastest_is_faster_than_all_that_have_times() {
        let outcome = |key: &str, faster: &'static str, but: fn(Row) -> Row| {
            let times = move |work: &str, n: usize, toolkit: &str| {
                if toolkit == faster && n == 10_000 { 0.1 } else { as_printed(work, n, toolkit) }
            };
            judged_with(times, but).into_iter().find(|verdict| verdict.claim.key == key).unwrap().outcome
        };
        let all: fn(Row) -> Row = |row| row;
        for faster in ["XSOAP4", ".NET", "AxisJava", "AxisC++"] {
            assert_eq!(outcome("fastest: ints", faster, all), Outcome::Differs, "{faster}");
        }
        for key in ["doubles", "ints", "strings", "base64"].map(|kind| format!("before-axis: {kind}")) {
            assert_eq!(outcome(&key, "AxisJava-Streaming", all), Outcome::Differs, "{key}");
            assert_eq!(outcome(&key, ".NET", all), Outcome::Agrees, "{key}");
        }
        let without = |row: Row| Row { ns_median: row.ns_median.filter(|_| row.engine != "axis-streaming"), ..row };
        assert_eq!(outcome("before-axis: ints", "AxisJava-Streaming", without), Outcome::Agrees);
        let without = |row: Row| Row { ns_median: row.ns_median.filter(|_| row.engine != "axis"), ..row };
        assert_eq!(outcome("before-axis: ints", "AxisJava-Streaming", without), Outcome::NotMeasured);
    }

    /// All toolkits are equally fast at everything, except .NET and AxisJava.
    #[test]
    fn every_claim_can_differ() {
        for verdict in judged(|_, n, toolkit| match toolkit {
            ".NET" if n == 100 => 0.5,
            ".NET" => 2.0,
            "AxisJava" => 0.9,
            _ => 1.0,
        }) {
            assert_eq!(
                verdict.outcome,
                Outcome::Differs,
                "{}: {:?} {}",
                verdict.claim.key,
                verdict.ours,
                verdict.why()
            );
        }
    }

    /// A cost that does not grow satisfies only one of the two claims of Figure 5.
    #[test]
    fn references_may_cost_and_not_grow() {
        let outcomes = |large: f64| {
            let verdicts = judged(|work, n, toolkit| match (toolkit, n) {
                (WITH_REFERENCES, 100_000) => as_printed(work, n, "gSOAP") * large,
                (WITH_REFERENCES, _) => as_printed(work, n, "gSOAP") * 1.6,
                _ => as_printed(work, n, toolkit),
            });
            let outcome = |key: &str| verdicts.iter().find(|verdict| verdict.claim.key == key).map(|it| it.outcome);
            [outcome("references"), outcome("references-cost")]
        };
        assert_eq!(outcomes(1.6), [Some(Outcome::Differs), Some(Outcome::Agrees)]);
        assert_eq!(outcomes(1.2), [Some(Outcome::Differs), Some(Outcome::Differs)]);
        assert_eq!(outcomes(1.0), [Some(Outcome::Differs), Some(Outcome::Differs)]);
        assert_eq!(outcomes(2.5), [Some(Outcome::Agrees), Some(Outcome::Agrees)]);
    }

    #[test]
    fn no_claim_is_judged_by_a_row_with_a_flaw() {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/record");
        let (environment, _) = record::read(sample.as_ref()).unwrap();
        let definition = Definition::load().unwrap();
        let work = (Part::Calls, "echoDoubles");
        let rows = ["XSOAP4", "AxisJava-Streaming"]
            .map(|toolkit| row(&definition, "calls/echoDoubles/100", 100, toolkit, 1.0));
        let claims = |definition: &Definition| {
            let data = Data::new(&environment, definition, &rows);
            Claims { data: &data, paper: Paper::load().unwrap() }.sizes(work, "AxisJava-Streaming", "XSOAP4")
        };
        assert_eq!(claims(&definition), Vec::<usize>::new());
        assert_eq!(claims(&definition.without_flaws()), [100]);
    }

    #[test]
    fn what_is_not_in_a_record_says_why() {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/record");
        let (environment, rows) = record::read(sample.as_ref()).unwrap();
        let definition = Definition::load().unwrap();
        let verdicts = verdicts(&Data::new(&environment, &definition, &rows)).unwrap();
        let missing: Vec<_> = verdicts.iter().filter(|(_, it)| it.outcome == Outcome::NotMeasured).collect();
        assert!(missing.len() > 10 && missing.iter().all(|(_, verdict)| !verdict.why().is_empty()), "{verdicts:?}");
    }
}

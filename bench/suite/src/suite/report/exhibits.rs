//! *Toward Characterizing the Performance of SOAP Toolkits*: Tables 1 to 3, Figures 1 to 5, from our data.

use anyhow::Result;

use super::sheet::number;
use super::{Data, OURS};
use crate::paper::exhibit::{Chart, Exhibit, Grid, Rule, Style, Verdict};
use crate::paper::printed::{CharacterizingPerformance as Printed, TimeTable};
use crate::paper::scope::size_names;
use crate::suite::row::{Layer, Part, Row};

/// Draws everything.
///
/// # Errors
/// When a number of the paper is missing from `bench/papers/`.
pub fn exhibits(data: &Data<'_>) -> Result<Vec<Exhibit>> {
    let paper = Paper { data, printed: Printed::load()? };
    let (printed, doubles) = (&paper.printed, "echoDoubles");
    Ok(vec![
        paper.table("Table 1", "Time of echoVoid: the latency that a toolkit imposes on a call.", &printed.table1),
        paper.table(
            "Table 2",
            "AxisC++ and gSOAP with arrays of doubles, and everybody else. The paper's deserDoubles is our sendDoubles.",
            &printed.table2,
        ),
        paper.table(
            "Table 3",
            ".NET and XSOAP4, and everybody else. The paper's receiveInts, named after what the service does, is our sendInts.",
            &printed.table3,
        ),
        paper.figure("Figure 1", "End to end, arrays of doubles.", &[(Part::Calls, doubles)], &FIGURE1)?,
        paper.figure("Figure 2", "End to end, arrays of ints.", &[(Part::Calls, "echoInts")], &FIGURE2)?,
        paper.figure(
            "Figure 3",
            "Deserialization of arrays of doubles: a call that sends them, and decoding from memory.",
            &[(Part::Calls, "sendDoubles"), (Part::Process, "decode-hard")],
            &FIGURE3,
        )?,
        paper.figure(
            "Figure 4",
            "Serialization of base64: encoding into memory, and a call that receives it.",
            &[(Part::Process, "encode-base64"), (Part::Calls, "receiveBase64")],
            &FIGURE4,
        )?,
        paper.figure(
            "Figure 5",
            "Serialization of arrays of strings: encoding into memory, and a call that receives them.",
            &[(Part::Process, "encode-strings"), (Part::Calls, "receiveStrings")],
            &[],
        )?,
    ])
}

/// A factor that the paper prints: its key, who is slower, than whom, and in which work.
type Claim = (&'static str, &'static str, &'static str, (Part, &'static str));

const FIGURE1: [Claim; 3] = [
    ("figure1-xsoap", "XSOAP4", "gSOAP", (Part::Calls, "echoDoubles")),
    ("figure1-axis", "AxisJava-Streaming", "XSOAP4", (Part::Calls, "echoDoubles")),
    ("figure1-streaming", "AxisJava", "AxisJava-Streaming", (Part::Calls, "echoDoubles")),
];
const FIGURE2: [Claim; 2] = [
    ("figure2-xsoap", "XSOAP4", "gSOAP", (Part::Calls, "echoInts")),
    ("figure2-streaming", "AxisJava", "AxisJava-Streaming", (Part::Calls, "echoInts")),
];
const FIGURE3: [Claim; 1] = [("figure3-xsoap", "XSOAP4", "gSOAP", (Part::Calls, "sendDoubles"))];
const FIGURE4: [Claim; 2] = [
    ("figure4-xsoap", "XSOAP4", "gSOAP", (Part::Process, "encode-base64")),
    ("figure4-axis", "AxisJava", "XSOAP4", (Part::Process, "encode-base64")),
];

/// Twenty years apart, a factor agrees if it is within this of the paper's.
const ALIKE: Rule = Rule::Factor(1.5);

struct Paper<'a> {
    data: &'a Data<'a>,
    printed: Printed,
}

impl Paper<'_> {
    fn exhibit(&self, name: &'static str, caption: &str) -> Exhibit {
        Exhibit {
            paper: format!("{} ({})", self.printed.title, self.printed.source),
            name,
            caption: caption.to_owned(),
            grids: vec![],
            charts: vec![],
            verdicts: vec![],
        }
    }

    fn table(&self, name: &'static str, caption: &str, table: &TimeTable) -> Exhibit {
        let grids = table.operations().into_iter().map(|operation| self.times(table, operation)).collect();
        Exhibit { grids, ..self.exhibit(name, caption) }
    }

    /// The paper's milliseconds beside ours, a row a toolkit.
    fn times(&self, table: &TimeTable, operation: &str) -> Grid {
        let sizes = size_names(&table.sizes);
        let mut header = vec!["toolkit".to_owned(), "in the paper".to_owned()];
        for side in ["paper", "here"] {
            header.extend(sizes.iter().map(|size| column(side, size)));
        }
        header.push("why empty".to_owned());
        let rows = self.toolkits().into_iter().map(|(engine, paper)| {
            let printed = table.sizes.iter().map(|&n| table.ms(paper, operation, n).map_or_else(String::new, number));
            let measured: Vec<_> =
                table.sizes.iter().map(|n| self.data.of(&format!("calls/{operation}/{n}"), engine)).collect();
            let ours = measured.iter().map(|row| row.and_then(Row::ms).map_or_else(String::new, number));
            let mut cells = vec![engine.to_owned(), paper.to_owned()];
            cells.extend(printed.chain(ours));
            cells.push(why(&measured));
            cells
        });
        Grid { title: format!("{operation}: milliseconds"), header, rows: rows.collect(), names: 2 }
    }

    /// All SOAP toolkits, and the names of those that the paper has.
    fn toolkits(&self) -> Vec<(&str, &str)> {
        let known = &self.data.definition.paper_toolkit;
        let paper = |engine: &str| known.iter().find(|known| known.engine == engine).map_or("", |known| &*known.paper);
        let is_xml = |engine: &str| self.data.rows.iter().any(|row| row.engine == engine && row.layer == Layer::Xml);
        let engines = self.data.engines().filter(|engine| !is_xml(engine));
        let mut all: Vec<_> = engines.map(|engine| (engine, paper(engine))).collect();
        let missing = known.iter().filter(|known| !self.data.engines().any(|engine| engine == known.engine));
        all.extend(missing.map(|known| (&*known.engine, &*known.paper)));
        all
    }

    fn figure(&self, name: &'static str, caption: &str, works: &[(Part, &str)], claims: &[Claim]) -> Result<Exhibit> {
        let mut exhibit = self.exhibit(name, caption);
        for &(part, operation) in works {
            exhibit.charts.push(self.curves(part, operation));
            exhibit.grids.push(self.grid(part, operation));
        }
        for claim in claims {
            exhibit.verdicts.extend(self.verdict(claim)?);
        }
        let unknown = claims.len() - exhibit.verdicts.len();
        if unknown > 0 {
            let all = claims.len();
            exhibit.caption +=
                &format!(" Factors that the paper prints: {all}; without a toolkit to compare with: {unknown}.");
        }
        Ok(exhibit)
    }

    fn curves(&self, part: Part, operation: &str) -> Chart {
        let sizes = self.sizes(part, operation);
        let heights = |engine: &str| sizes.iter().map(|n| self.data.ms(&place(part, operation, *n), engine)).collect();
        let series = self.toolkits().into_iter().map(|(engine, _)| (engine.to_owned(), heights(engine)));
        let is_there = |(_, heights): &(String, Vec<f64>)| heights.iter().any(|height| height.is_finite());
        Chart {
            title: format!("{operation}, milliseconds by items"),
            unit: "ms".to_owned(),
            groups: size_names(&sizes),
            series: series.filter(is_there).collect(),
            style: Style::Curves(sizes.iter().map(|&n| n as f64).collect()),
        }
    }

    fn grid(&self, part: Part, operation: &str) -> Grid {
        let sizes = self.sizes(part, operation);
        let mut header = vec!["toolkit".to_owned(), "in the paper".to_owned()];
        header.extend(size_names(&sizes));
        header.push("why empty".to_owned());
        let rows = self.toolkits().into_iter().map(|(engine, paper)| {
            let measured: Vec<_> = sizes.iter().map(|n| self.data.of(&place(part, operation, *n), engine)).collect();
            let mut cells = vec![engine.to_owned(), paper.to_owned()];
            cells.extend(measured.iter().map(|row| row.and_then(Row::ms).map_or_else(String::new, number)));
            cells.push(why(&measured));
            cells
        });
        Grid { title: format!("{operation}: milliseconds"), header, rows: rows.collect(), names: 2 }
    }

    fn sizes(&self, part: Part, operation: &str) -> Vec<usize> {
        let is_meant = |row: &&Row| row.row.starts_with(&place_of(part, operation));
        let mut sizes: Vec<usize> = self.data.part(part).filter(is_meant).map(|row| row.n).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// Compares a factor at the largest size. `None` where a toolkit is missing.
    fn verdict(&self, &(key, slow, fast, (part, operation)): &Claim) -> Result<Option<Verdict>> {
        let printed = self.printed.number(key)?;
        let engine = |paper: &str| self.data.definition.paper_toolkit.iter().find(|known| known.paper == paper);
        let (Some(slow), Some(fast)) = (engine(slow), engine(fast)) else { return Ok(None) };
        let Some(n) = self.sizes(part, operation).pop() else { return Ok(None) };
        let [slow, fast] = [slow, fast].map(|toolkit| self.data.ms(&place(part, operation, n), &toolkit.engine));
        let factor = slow / fast;
        Ok(factor.is_finite().then(|| Verdict::printed(printed, factor, ALIKE)))
    }
}

fn column(side: &str, size: &str) -> String {
    if size == "0" || size == "0K" { side.to_owned() } else { format!("{side}, {size}") }
}

fn place_of(part: Part, operation: &str) -> String {
    let part = if part == Part::Process { "process" } else { "calls" };
    format!("{part}/{operation}/")
}

fn place(part: Part, operation: &str, n: usize) -> String {
    place_of(part, operation) + &n.to_string()
}

/// Why a toolkit has no number at all.
fn why(measured: &[Option<&Row>]) -> String {
    if measured.iter().flatten().any(|row| row.ms().is_some()) {
        return String::new();
    }
    let reason = measured.iter().flatten().find_map(|row| row.reason.clone());
    reason
        .unwrap_or_else(|| if measured.is_empty() { "not measured" } else { "not measured in this record" }.to_owned())
}

/// The goals for echoes of hard doubles beside gSOAP, as far as the record has them.
pub fn goals(data: &Data<'_>) -> Vec<Verdict> {
    let Some(n) = data.sizes(Part::Ablation, "echoDoubles").pop() else { return vec![] };
    let row = format!("ablation/echoDoubles/{n}/5 % changed");
    let theirs = data.ms(&row, "gsoap");
    let goal = |mode: &str, bound: f64| {
        let ours = data.in_mode(&row, OURS, mode).and_then(Row::ms)?;
        let claim = format!("echoDoubles of {n} hard doubles, 5 % changed, {mode}: times as fast as gSOAP");
        let times = theirs / ours;
        times.is_finite().then(|| Verdict::computed(claim, "goal", times, Rule::AtLeast(bound)))
    };
    [goal("regular", 8.0), goal("differential, both", 25.0)].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_without_items_have_no_size() {
        assert_eq!((column("paper", "0K"), column("here", "10")), ("paper".to_owned(), "here, 10".to_owned()));
    }

    #[test]
    fn places_are_rows() {
        assert_eq!(place(Part::Process, "decode-hard", 10), "process/decode-hard/10");
    }
}

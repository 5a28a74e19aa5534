//! *Toward Characterizing the Performance of SOAP Toolkits*: Tables 1 to 3, Figures 1 to 5, from our data.

use anyhow::Result;
use deltasoap_report::{Chart, Exhibit, Grid, number, size_names};

use super::{Data, OURS, claims};
use crate::paper::printed::{CharacterizingPerformance as Printed, TimeTable};
use crate::suite::row::{Layer, Part, Row};

/// Draws everything, with verdicts on the paper's claims.
///
/// # Errors
/// When a number of the paper is missing from `bench/papers/`.
pub fn exhibits(data: &Data<'_>) -> Result<Vec<Exhibit>> {
    let paper = Paper { data, printed: Printed::load()? };
    let (printed, doubles) = (&paper.printed, "echoDoubles");
    let mut exhibits = vec![
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
        paper.figure("Figure 1", "End to end, arrays of doubles.", &[(Part::Calls, doubles)]),
        paper.figure("Figure 2", "End to end, arrays of ints.", &[(Part::Calls, "echoInts")]),
        paper.figure(
            "Figure 3",
            "Deserialization of arrays of doubles: a call that sends them, and decoding from memory.",
            &[(Part::Calls, "sendDoubles"), (Part::Process, "decode-hard")],
        ),
        paper.figure(
            "Figure 4",
            "Serialization of base64: encoding into memory, and a call that receives it.",
            &[(Part::Process, "encode-base64"), (Part::Calls, "receiveBase64")],
        ),
        paper.figure(
            "Figure 5",
            "Serialization of arrays of strings: encoding into memory, and a call that receives them.",
            &[(Part::Process, "encode-strings"), (Part::Calls, "receiveStrings")],
        ),
    ];
    for (name, verdict) in claims::verdicts(data)? {
        let exhibit = exhibits.iter_mut().find(|exhibit| exhibit.name == name);
        exhibit.into_iter().for_each(|exhibit| exhibit.verdicts.push(verdict.clone()));
    }
    Ok(exhibits)
}

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

    fn figure(&self, name: &'static str, caption: &str, works: &[(Part, &str)]) -> Exhibit {
        let mut exhibit = self.exhibit(name, caption);
        for &(part, operation) in works {
            exhibit.charts.push(self.curves(part, operation));
            exhibit.grids.push(self.grid(part, operation));
        }
        exhibit
    }

    fn curves(&self, part: Part, operation: &str) -> Chart {
        let sizes = self.sizes(part, operation);
        let heights = |engine: &str| sizes.iter().map(|n| self.data.ms(&place(part, operation, *n), engine)).collect();
        let series = self.toolkits().into_iter().map(|(engine, _)| (engine.to_owned(), heights(engine)));
        let is_there = |(_, heights): &(String, Vec<f64>)| heights.iter().any(|height| height.is_finite());
        let places: Vec<f64> = sizes.iter().map(|&n| n as f64).collect();
        Chart::curves(format!("{operation}, milliseconds by items"), "ms", &places, series.filter(is_there).collect())
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
}

fn column(side: &str, size: &str) -> String {
    if size == "0" { side.to_owned() } else { format!("{side}, {size}") }
}

fn place_of(part: Part, operation: &str) -> String {
    let part = if part == Part::Process { "process" } else { "calls" };
    format!("{part}/{operation}/")
}

/// The row of a piece of work.
pub fn place(part: Part, operation: &str, n: usize) -> String {
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

/// A goal of this project, and how far the record reaches it.
#[derive(Debug)]
pub struct Goal {
    /// What is compared.
    pub what: String,
    /// Our number.
    pub ours: f64,
    /// What it is to be at least.
    pub least: f64,
}

/// The goals for echoes of hard doubles beside gSOAP, as far as the record has them.
pub fn goals(data: &Data<'_>) -> Vec<Goal> {
    let Some(n) = data.sizes(Part::Ablation, "echoDoubles").pop() else { return vec![] };
    let row = format!("ablation/echoDoubles/{n}/5 % changed");
    let theirs = data.ms(&row, "gsoap");
    let goal = |mode: &str, least: f64| {
        let ours = theirs / data.in_mode(&row, OURS, mode).and_then(Row::ms)?;
        let what = format!("echoDoubles of {n} hard doubles, 5 % changed, {mode}: times as fast as gSOAP");
        ours.is_finite().then_some(Goal { what, ours, least })
    };
    [goal("regular", 8.0), goal("differential, both", 25.0)].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_without_items_have_no_size() {
        assert_eq!((column("paper", "0"), column("here", "10")), ("paper".to_owned(), "here, 10".to_owned()));
    }

    #[test]
    fn places_are_rows() {
        assert_eq!(place(Part::Process, "decode-hard", 10), "process/decode-hard/10");
    }
}

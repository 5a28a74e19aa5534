//! *Toward Characterizing the Performance of SOAP Toolkits*: Tables 1 to 3, Figures 1 to 5, from
//! our data.

use anyhow::Result;
use deltasoap_report::{Chart, Exhibit, Grid, number, size_names};

use super::{Data, OURS, claims, place, place_of};
use crate::encoded::SHARED;
use crate::paper::printed::{CharacterizingPerformance as Printed, TimeTable};
use crate::suite::definition::PaperToolkit;
use crate::suite::row::{Layer, Part, Row};

/// Returns all exhibits, with verdicts on the paper's claims.
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
            "Serialization of arrays of strings in SOAP encoding, different ones and a thousand in turn: encoding into memory, and a call that \
             receives them. gSOAP with references looks each string up by its pointer; ours are looked up where their type is Shared. Axis and \
             Mono share no strings. Beside it, literal strings, which nobody looks up.",
            &[
                (Part::Process, "encode-encoded"),
                (Part::Calls, "receiveEncodedStrings"),
                (Part::Process, "encode-repeated"),
                (Part::Calls, "receiveRepeatedStrings"),
                (Part::Process, "encode-strings"),
            ],
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
        Exhibit::new((&self.printed.title, &self.printed.source), name, caption)
    }

    fn table(&self, name: &'static str, caption: &str, table: &TimeTable) -> Exhibit {
        let grids = table.operations().into_iter().map(|operation| self.times(name, table, operation)).collect();
        Exhibit { grids, ..self.exhibit(name, caption) }
    }

    /// Returns the paper's milliseconds beside ours, one row per toolkit.
    fn times(&self, exhibit: &str, table: &TimeTable, operation: &str) -> Grid {
        let sizes = size_names(&table.sizes);
        let mut header = vec!["toolkit".to_owned(), "in the paper".to_owned()];
        for side in ["paper", "here"] {
            header.extend(sizes.iter().map(|size| column(side, size)));
        }
        header.push("why empty".to_owned());
        let rows = self.toolkits(exhibit).into_iter().map(|(engine, paper)| {
            let printed = table.sizes.iter().map(|&n| table.ms(paper, operation, n).map_or_else(String::new, number));
            let measured: Vec<_> =
                table.sizes.iter().map(|n| self.data.of(&format!("calls/{operation}/{n}"), engine)).collect();
            let ours = measured.iter().map(|row| row.and_then(Row::ms).map_or_else(String::new, number));
            let mut cells = vec![engine.to_owned(), paper.to_owned()];
            cells.extend(printed.chain(ours));
            cells.push(self.why(&measured));
            cells
        });
        Grid { title: format!("{operation}: milliseconds"), header, rows: rows.collect(), names: 2 }
    }

    /// Returns the SOAP toolkits of an exhibit, with the paper's names for those it has.
    fn toolkits(&self, exhibit: &str) -> Vec<(&str, &str)> {
        let known = &self.data.definition.paper_toolkit;
        let is_elsewhere = |known: &&PaperToolkit| known.exhibit.as_ref().is_some_and(|place| place != exhibit);
        let elsewhere: Vec<&str> = known.iter().filter(is_elsewhere).map(|known| &*known.engine).collect();
        let paper = |engine: &str| known.iter().find(|known| known.engine == engine).map_or("", |known| &*known.paper);
        let is_xml = |engine: &str| self.data.rows.iter().any(|row| row.engine == engine && row.layer == Layer::Xml);
        let engines = self.data.engines().filter(|engine| !is_xml(engine));
        let mut all: Vec<_> = engines.map(|engine| (engine, paper(engine))).collect();
        let missing = known.iter().filter(|known| !self.data.engines().any(|engine| engine == known.engine));
        all.extend(missing.map(|known| (&*known.engine, &*known.paper)));
        all.retain(|(engine, _)| !elsewhere.contains(engine));
        all
    }

    fn figure(&self, name: &'static str, caption: &str, works: &[(Part, &str)]) -> Exhibit {
        let mut exhibit = self.exhibit(name, caption);
        for &(part, operation) in works {
            let sizes = self.sizes(part, operation);
            let places: Vec<String> = sizes.iter().map(|&n| place(part, operation, n)).collect();
            let lanes = self.lanes(name, &places);
            exhibit.charts.push(curves(operation, &sizes, &lanes));
            exhibit.grids.push(self.grid(operation, &sizes, &lanes));
        }
        exhibit
    }

    /// Returns the results of an exhibit's toolkits for these jobs. Ours may also have results with
    /// shared values.
    fn lanes(&self, exhibit: &str, places: &[String]) -> Vec<Lane<'_>> {
        let in_mode = |engine, mode| places.iter().map(|place| self.data.in_mode(place, engine, mode)).collect();
        let mut lanes: Vec<Lane<'_>> = Vec::new();
        for (engine, paper) in self.toolkits(exhibit) {
            lanes.push(Lane { name: engine.to_owned(), paper, rows: in_mode(engine, "regular") });
            let shared = Lane { name: format!("{engine}, {SHARED}"), paper: "", rows: in_mode(engine, SHARED) };
            lanes.extend(Some(shared).filter(|lane| lane.rows.iter().any(Option::is_some)));
        }
        lanes
    }

    fn grid(&self, operation: &str, sizes: &[usize], lanes: &[Lane<'_>]) -> Grid {
        let mut header = vec!["toolkit".to_owned(), "in the paper".to_owned()];
        header.extend(size_names(sizes));
        header.push("why empty".to_owned());
        let rows = lanes.iter().map(|lane| {
            let mut cells = vec![lane.name.clone(), lane.paper.to_owned()];
            cells.extend(lane.rows.iter().map(|row| row.and_then(Row::ms).map_or_else(String::new, number)));
            cells.push(self.why(&lane.rows));
            cells
        });
        Grid { title: format!("{operation}: milliseconds"), header, rows: rows.collect(), names: 2 }
    }

    /// Returns why a toolkit has no number at all, or at which sizes its numbers are invalid, and
    /// why.
    fn why(&self, measured: &[Option<&Row>]) -> String {
        let rows = || measured.iter().copied().flatten();
        if rows().all(|row| row.ms().is_none()) {
            let none = if measured.is_empty() { "not measured" } else { "not measured in this record" };
            return rows().find_map(|row| row.reason.clone()).unwrap_or_else(|| none.to_owned());
        }
        let flawed: Vec<(usize, &str)> = rows().filter_map(|row| Some((row.n, self.data.flaw(row)?))).collect();
        let Some((_, flaw)) = flawed.first() else { return String::new() };
        let sizes: Vec<usize> = flawed.iter().map(|(n, _)| *n).collect();
        format!("no claim is judged by {}: {flaw}", size_names(&sizes).join(", "))
    }

    fn sizes(&self, part: Part, operation: &str) -> Vec<usize> {
        let is_meant = |row: &&Row| row.row.starts_with(&place_of(part, operation));
        let mut sizes: Vec<usize> = self.data.part(part).filter(is_meant).map(|row| row.n).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

/// The results of a toolkit, in one way, at each size.
struct Lane<'a> {
    name: String,
    /// Its name in the paper.
    paper: &'a str,
    rows: Vec<Option<&'a Row>>,
}

fn curves(operation: &str, sizes: &[usize], lanes: &[Lane<'_>]) -> Chart {
    let height = |row: &Option<&Row>| row.and_then(Row::ms).unwrap_or(f64::NAN);
    let series = lanes.iter().map(|lane| (lane.name.clone(), lane.rows.iter().map(height).collect()));
    let is_there = |(_, heights): &(String, Vec<f64>)| heights.iter().any(|height| height.is_finite());
    let places: Vec<f64> = sizes.iter().map(|&n| n as f64).collect();
    let title = format!("{operation}, milliseconds by items");
    Chart::curves(title, "items", "ms", &places, series.filter(is_there).collect())
}

fn column(side: &str, size: &str) -> String {
    if size == "0" { side.to_owned() } else { format!("{side}, {size}") }
}

/// A goal of this project, and the record's result.
#[derive(Debug)]
pub struct Goal {
    /// The comparison.
    pub what: String,
    /// Our number.
    pub ours: f64,
    /// The minimum.
    pub minimum: f64,
}

/// Returns the goals for echoes of hard doubles compared with gSOAP, as far as the record has them.
pub fn goals(data: &Data<'_>) -> Vec<Goal> {
    let Some(n) = data.sizes(Part::Ablation, "echoDoubles").pop() else { return vec![] };
    let row = format!("ablation/echoDoubles/{n}/5 % changed");
    let theirs = data.ms(&row, "gsoap");
    let goal = |mode: &str, minimum: f64| {
        let ours = theirs / data.in_mode(&row, OURS, mode).and_then(Row::ms)?;
        let what = format!("echoDoubles of {n} hard doubles, 5 % changed, {mode}: times as fast as gSOAP");
        ours.is_finite().then_some(Goal { what, ours, minimum })
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
}

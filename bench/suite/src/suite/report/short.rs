//! The short tables of a record, in Markdown, for documents: each number beside the best of the
//! other SOAP toolkits and of the XML libraries.

use anyhow::Result;
use deltasoap_report::{Grid, Verdict, claim, number};

use super::standings::{Standing, standings};
use super::tables::distinct;
use super::{Data, OURS, claims};
use crate::suite::row::{Layer, Part, Row};

/// The size that the tables show besides the largest, if the record has it.
const SHOWN: usize = 1000;

/// Returns all tables.
///
/// # Errors
/// When a file of `bench/papers` is malformed.
pub fn markdown(data: &Data<'_>) -> Result<String> {
    let verdicts: Vec<Verdict> = claims::verdicts(data)?.into_iter().map(|(_, verdict)| verdict).collect();
    let claims = format!("{}\n\n{}\n", claim::counts(&verdicts), claim::short(&verdicts).markdown());
    let tables = [
        wins(data),
        times(data, Part::Process, "from memory to memory"),
        times(data, Part::Calls, "calls, own client to own server"),
        loads(data),
        differential(data),
        missing(data),
    ];
    Ok(tables.iter().map(|table| format!("{}\n\n", table.markdown())).chain([claims]).collect())
}

/// Returns the number of rows in which nobody is better, by part and metric.
fn wins(data: &Data<'_>) -> Grid {
    let mut table =
        Grid::new("", &["part", "what counts", "rows", "first", "lost to a SOAP toolkit", "lost to an XML library"], 2);
    let all = standings(data);
    for (part, metric) in distinct(all.iter().map(|standing| (standing.part, standing.metric.name()))) {
        let rows: Vec<&Standing> =
            all.iter().filter(|standing| (standing.part, standing.metric.name()) == (part, metric)).collect();
        let lost_to = |layer| rows.iter().filter(|standing| standing.is_lost() && standing.best.layer == layer).count();
        let first = rows.iter().filter(|standing| !standing.is_lost()).count();
        let counts = [rows.len(), first, lost_to(Layer::Soap), lost_to(Layer::Xml)].map(|count| count.to_string());
        table.push([part.name().to_owned(), metric.to_owned()].into_iter().chain(counts));
    }
    table
}

/// Returns milliseconds in regular mode, of a small and the largest size.
fn times(data: &Data<'_>, part: Part, what: &str) -> Grid {
    let header = [what, "n", "deltasoap, ms", "next SOAP toolkit, ms", "times", "best XML library, ms", "times"];
    let columns = if part == Part::Process { 7 } else { 5 };
    let mut table = Grid::new("", &header[..columns], 1);
    let ours = data.part(part).filter(|row| row.engine == OURS && row.mode == "regular" && is_shown(data, row));
    for own in ours {
        let name = own.row.split('/').nth(1).unwrap_or_default();
        let mut cells = vec![name.to_owned(), own.n.to_string(), number(own.ms().unwrap_or(f64::NAN))];
        for layer in [Layer::Soap, Layer::Xml] {
            cells.extend(beside(own, best(data, own, layer)));
        }
        table.push(cells.into_iter().take(columns));
    }
    table
}

fn is_shown(data: &Data<'_>, row: &Row) -> bool {
    let is_hint = row.row.contains("decode-echo");
    let largest = data.part(row.part).filter(|other| other.operation == row.operation).map(|other| other.n).max();
    !is_hint && (row.n == SHOWN || Some(row.n) == largest)
}

/// Returns the fastest of the others.
fn best<'a>(data: &Data<'a>, own: &Row, layer: Layer) -> Option<&'a Row> {
    let others = data.part(own.part).filter(|row| row.row == own.row && row.engine != OURS && row.layer == layer);
    others.filter(|row| row.ns_median.is_some()).min_by_key(|row| row.ns_median)
}

/// Returns a time with its toolkit, and our speedup.
fn beside(own: &Row, other: Option<&Row>) -> [String; 2] {
    let (Some(other), Some(ours)) = (other, own.ms()) else { return [String::new(), String::new()] };
    let ms = other.ms().unwrap_or(f64::NAN);
    [format!("{} {}", other.engine, number(ms)), format!("{:.1}", ms / ours)]
}

/// Returns each load: ours, and the best of the others.
fn loads(data: &Data<'_>) -> Grid {
    let header = ["load", "server", "requests/s", "CPU \u{B5}s a request", "p50 \u{B5}s", "p99 \u{B5}s", "peak MiB"];
    let mut table = Grid::new("", &header, 2);
    for work in distinct(data.part(Part::Load).map(|row| &*row.row)) {
        let rows = || data.part(Part::Load).filter(|row| row.row == work && row.per_second.is_some());
        let others = rows().filter(|row| row.engine != OURS);
        // At a rate that all can sustain, processor time decides.
        let next =
            others.min_by(|one, other| one.cpu_us.unwrap_or(f64::MAX).total_cmp(&other.cpu_us.unwrap_or(f64::MAX)));
        for row in rows().filter(|row| row.engine == OURS).chain(next) {
            table.push(load(row, work));
        }
    }
    table
}

fn load(row: &Row, work: &str) -> [String; 7] {
    let us = |ns: Option<u64>| number(ns.map_or(f64::NAN, |ns| ns as f64 / 1e3));
    let name = if row.engine == OURS { format!("{OURS}, {}", row.mode) } else { row.engine.clone() };
    [
        work.trim_start_matches("load/").replacen('/', ", ", 1),
        name,
        row.per_second.map_or_else(String::new, |rate| format!("{rate:.0}")),
        number(row.cpu_us.unwrap_or(f64::NAN)),
        us(row.ns_median),
        us(row.ns_p99),
        row.peak_bytes.map_or_else(String::new, |bytes| format!("{:.0}", bytes as f64 / f64::from(1 << 20))),
    ]
}

/// Returns calls with similar messages: both directions regular, both differential, and the
/// reference toolkit.
fn differential(data: &Data<'_>) -> Grid {
    let header = [
        "calls",
        "stream",
        "regular, ms",
        "differential, ms",
        "gSOAP, ms",
        "regular, times gSOAP",
        "differential, times gSOAP",
    ];
    let mut table = Grid::new("", &header, 2);
    let calls = data.part(Part::Ablation).filter(|row| row.engine == OURS && row.mode == "differential, both");
    for both in calls {
        let ms = |row: Option<&Row>| row.and_then(Row::ms).unwrap_or(f64::NAN);
        let (regular, other) = (ms(data.of(&both.row, OURS)), ms(data.of(&both.row, "gsoap")));
        let both_ms = ms(Some(both));
        let name = format!("{}, {}", both.operation, both.n);
        let times = [regular, both_ms].map(|own| number(other / own));
        let times_of = [regular, both_ms, other].map(number);
        table.push([name, both.similarity.clone().unwrap_or_default()].into_iter().chain(times_of).chain(times));
    }
    table
}

/// Returns the missing toolkits.
fn missing(data: &Data<'_>) -> Grid {
    let mut table = Grid::new("", &["not measured", "why"], 2);
    for engine in &data.environment.engines {
        if let Some(reason) = &engine.reason {
            table.push([&engine.name, reason]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::super::definition::Definition;
    use super::super::super::record;
    use super::*;

    #[test]
    fn each_part_of_a_record_has_its_table() {
        let (environment, rows) = record::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/record").as_ref()).unwrap();
        let definition = Definition::load().unwrap();
        let text = markdown(&Data::new(&environment, &definition, &rows)).unwrap();
        for part in [
            "from memory to memory",
            "own client to own server",
            "decode-hard",
            "gsoap ",
            "requests/s",
            "5 % changed",
            "is not built",
            "echo of doubles: time of XSOAP4 by that of gSOAP",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        assert!(!text.contains("NaN"), "{text}");
    }
}

//! All measurements as tables: one row per toolkit, even if it has no number.

use deltasoap_report::{Cell, Emphasis, Sheet, number, size_names};

use super::standings::Standing;
use super::{Data, OURS};
use crate::encoded::SHARED;
use crate::suite::row::{Layer, Part, Row};

/// Returns one table per workload or operation: milliseconds by size.
pub fn times(data: &Data<'_>, part: Part) -> Vec<Sheet> {
    names(data, part).into_iter().map(|name| by_size(data, part, &name)).collect()
}

/// Returns the names of a part's rows, without part and size, each once.
fn names(data: &Data<'_>, part: Part) -> Vec<String> {
    distinct(data.part(part).map(|row| name_of(row).to_owned()))
}

/// Returns the middle of `part/name/size`.
fn name_of(row: &Row) -> &str {
    row.row.split('/').nth(1).unwrap_or_default()
}

/// Returns each item once, in order.
pub fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.fold(Vec::new(), |mut list, item| {
        if !list.contains(&item) {
            list.push(item);
        }
        list
    })
}

fn by_size(data: &Data<'_>, part: Part, name: &str) -> Sheet {
    let rows: Vec<&Row> = data.part(part).filter(|row| name_of(row) == name).collect();
    let mut sizes: Vec<usize> = distinct(rows.iter().map(|row| row.n));
    sizes.sort_unstable();
    let engines = distinct(rows.iter().map(|row| (&*row.engine, &*row.mode, row.layer)));
    let cells = |(engine, mode, layer): (&str, &str, Layer)| {
        let at = |n: &usize| rows.iter().copied().find(|row| row.engine == engine && row.mode == mode && row.n == *n);
        let measured: Vec<_> = sizes.iter().map(at).collect();
        let name = if mode == SHARED { format!("{engine}, {SHARED}") } else { engine.to_owned() };
        let mut cells = vec![Cell::new(name), Cell::new(layer_name(layer))];
        cells.extend(measured.iter().map(|row| row.map_or_else(|| Cell::new(""), |row| marked(row, &rows))));
        cells.push(Cell::new(reasons(&measured)));
        cells
    };
    let header =
        ["toolkit", "layer"].map(str::to_owned).into_iter().chain(size_names(&sizes)).chain(["why empty".to_owned()]);
    Sheet {
        caption: format!("{name}: milliseconds by items"),
        header: header.collect(),
        rows: engines.into_iter().map(cells).collect(),
        names: 1,
    }
}

fn layer_name(layer: Layer) -> &'static str {
    match layer {
        Layer::Soap => "SOAP",
        Layer::Xml => "XML",
        Layer::Floor => "memory",
    }
}

/// Returns the time of a toolkit, marked if it is the best, or ours and not the best.
fn marked(row: &Row, rows: &[&Row]) -> Cell {
    let Some(ms) = row.ms() else { return Cell::new("") };
    let rivals = rows.iter().filter(|other| other.n == row.n && other.layer != Layer::Floor);
    let best = rivals.filter_map(|other| other.ms()).fold(f64::INFINITY, f64::min);
    let mark = match ms <= best {
        _ if row.layer == Layer::Floor => Emphasis::None,
        true => Emphasis::Best,
        false if row.engine == OURS => Emphasis::Lost,
        false => Emphasis::None,
    };
    Cell { text: number(ms), mark }
}

/// Returns the reasons for empty sizes, each once.
fn reasons(measured: &[Option<&Row>]) -> String {
    distinct(measured.iter().flatten().filter_map(|row| row.reason.clone())).join("; ")
}

/// Returns one table per load.
pub fn loads(data: &Data<'_>) -> Vec<Sheet> {
    let works = distinct(data.part(Part::Load).map(|row| row.row.clone()));
    works.into_iter().map(|work| load(data, &work)).collect()
}

const LOAD: [&str; 10] = [
    "server",
    "mode",
    "requests/s",
    "CPU \u{B5}s/request",
    "p50 \u{B5}s",
    "p99 \u{B5}s",
    "p99.9 \u{B5}s",
    "answers",
    "peak MiB",
    "why empty",
];

fn load(data: &Data<'_>, work: &str) -> Sheet {
    let us = |ns: Option<u64>| Cell::number(ns.map_or(f64::NAN, |ns| ns as f64 / 1e3));
    let cells = |row: &Row| {
        vec![
            Cell::new(&*row.engine),
            Cell::new(&*row.mode),
            Cell::number(row.per_second.unwrap_or(f64::NAN)),
            Cell::number(row.cpu_us.unwrap_or(f64::NAN)),
            us(row.ns_median),
            us(row.ns_p99),
            us(row.ns_p999),
            Cell::new(row.runs.map_or_else(String::new, |runs| runs.to_string())),
            mebibytes(row.peak_bytes),
            Cell::new(row.reason.clone().unwrap_or_default()),
        ]
    };
    Sheet {
        caption: work.trim_start_matches("load/").replacen('/', ", ", 1),
        header: LOAD.map(str::to_owned).into(),
        rows: data.part(Part::Load).filter(|row| row.row == work).map(cells).collect(),
        names: 2,
    }
}

fn mebibytes(bytes: Option<u64>) -> Cell {
    Cell::number(bytes.map_or(f64::NAN, |bytes| bytes as f64 / f64::from(1 << 20)))
}

/// Returns memory at the largest size, one row per workload.
pub fn memory(data: &Data<'_>) -> Sheet {
    let engines = distinct(data.part(Part::Process).filter(|row| row.layer != Layer::Floor).map(|row| &*row.engine));
    let largest = data.part(Part::Process).map(|row| row.n).max().unwrap_or(0);
    let row = |name: String| {
        let at = |engine: &&str| data.of(&format!("process/{name}/{largest}"), engine).and_then(|row| row.peak_bytes);
        let cells = engines.iter().map(|engine| mebibytes(at(engine)));
        std::iter::once(Cell::new(&*name)).chain(cells).collect()
    };
    let names = names(data, Part::Process).into_iter().filter(|name| !name.starts_with("floor"));
    Sheet {
        caption: format!("Peak memory of a message of {largest} items, MiB"),
        header: std::iter::once("workload").chain(engines.iter().copied()).map(str::to_owned).collect(),
        rows: names.map(row).collect(),
        names: 1,
    }
}

/// Returns a table of our transports.
pub fn transports(data: &Data<'_>) -> Sheet {
    let cells = |row: &Row| {
        vec![
            Cell::new(row.row.trim_start_matches("transport/")),
            Cell::new(&*row.engine),
            Cell::new(&*row.mode),
            Cell::number(row.ms().unwrap_or(f64::NAN)),
            Cell::new(row.reason.clone().unwrap_or_default()),
        ]
    };
    Sheet {
        caption: "Calls with and without gzip and TLS, milliseconds".to_owned(),
        header: ["operation", "toolkit", "transport", "ms", "why empty"].map(str::to_owned).into(),
        rows: data.part(Part::Transport).map(cells).collect(),
        names: 2,
    }
}

/// Returns one table per operation: the gain of each direction of differential mode, by similarity.
pub fn ablations(data: &Data<'_>) -> Vec<Sheet> {
    let subject = |row: &Row| (name_of(row).to_owned(), row.n);
    distinct(data.part(Part::Ablation).map(subject)).into_iter().map(|(name, n)| ablation(data, &name, n)).collect()
}

fn ablation(data: &Data<'_>, name: &str, n: usize) -> Sheet {
    let rows: Vec<&Row> = data.part(Part::Ablation).filter(|row| name_of(row) == name && row.n == n).collect();
    let ways = distinct(rows.iter().map(|row| (&*row.engine, &*row.mode)));
    let similarities = distinct(rows.iter().filter_map(|row| row.similarity.as_deref()));
    let line = |similarity: &str| {
        let at = |&(engine, mode): &(&str, &str)| {
            rows.iter()
                .find(|row| row.engine == engine && row.mode == mode && row.similarity.as_deref() == Some(similarity))
        };
        let cell = |way: &(&str, &str)| at(way).map_or_else(|| Cell::new(""), |row| time_or_reason(row));
        std::iter::once(Cell::new(similarity)).chain(ways.iter().map(cell)).collect()
    };
    let title =
        |&(engine, mode): &(&str, &str)| if engine == OURS { mode.to_owned() } else { format!("{engine}, {mode}") };
    Sheet {
        caption: format!("{}, {n} items: milliseconds", name.to_lowercase().replace("echo", "calls of echo ")),
        header: std::iter::once("difference from the previous message".to_owned())
            .chain(ways.iter().map(title))
            .collect(),
        rows: similarities.into_iter().map(line).collect(),
        names: 1,
    }
}

fn time_or_reason(row: &Row) -> Cell {
    row.ms().map_or_else(|| Cell::new(row.reason.clone().unwrap_or_default()), Cell::number)
}

/// Returns the winner of each row.
pub fn wins(standings: &[Standing]) -> Sheet {
    let cells = |standing: &Standing| {
        let (best, factor) = (&standing.best, standing.factor());
        let winner = if standing.is_lost() { &*best.engine } else { OURS };
        let mark = if standing.is_lost() { Emphasis::Lost } else { Emphasis::Best };
        vec![
            Cell::new(&*standing.row),
            Cell::new(winner),
            Cell::number(standing.ours),
            Cell::new(&*best.engine),
            Cell::number(best.number),
            Cell { text: number(factor), mark },
        ]
    };
    Sheet {
        caption: "Every row in which deltasoap in regular mode and another have a number".to_owned(),
        header: ["row", "best", "deltasoap", "best of the others", "its number", "times as good"]
            .map(str::to_owned)
            .into(),
        rows: standings.iter().map(cells).collect(),
        names: 1,
    }
}

/// Returns toolkits and their versions, or the reasons why they are missing.
pub fn engines(data: &Data<'_>) -> Sheet {
    let cells = |engine: &crate::suite::record::EngineNote| {
        let texts = [engine.name.clone(), engine.version.clone().unwrap_or_default(), engine.description.clone()];
        texts.into_iter().chain([engine.reason.clone().unwrap_or_default()]).map(Cell::new).collect()
    };
    Sheet {
        caption: "Toolkits".to_owned(),
        header: ["toolkit", "name and version", "description", "why it is missing"].map(str::to_owned).into(),
        rows: data.environment.engines.iter().map(cells).collect(),
        names: 1,
    }
}

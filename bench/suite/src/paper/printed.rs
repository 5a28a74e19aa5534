//! The printed numbers of the papers: `bench/papers/`, compiled in.

use anyhow::{Context, Result};
use deltasoap_report::{Basis, Claim, Printed, Sizes, Test};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A number in a paper's text.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    key: String,
    /// The place in the paper.
    pub place: String,
    /// A description of the number.
    pub what: String,
    /// The number, or the lower end of a range.
    pub value: f64,
    /// The upper end of a range.
    pub to: Option<f64>,
}

impl Number {
    /// Returns the printed number or range.
    pub fn printed(&self) -> Printed {
        self.to.map_or(Printed::Number(self.value), |to| Printed::Range(self.value, to))
    }

    /// Returns both ends of a range.
    pub fn range(&self) -> (f64, f64) {
        (self.value, self.to.unwrap_or(self.value))
    }

    /// Returns the claim that our number equals this one, according to `test`.
    pub fn claim(&self, paper: &str, sizes: Sizes, test: Test) -> Claim {
        Claim {
            key: self.key.clone(),
            paper: paper.to_owned(),
            place: self.place.clone(),
            statement: self.what.clone(),
            printed: self.printed(),
            sizes,
            basis: Basis::Times,
            test,
            because: None,
        }
    }
}

/// *Differential Deserialization for Optimized SOAP Performance*.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DifferentialDeserialization {
    /// The title.
    pub title: String,
    /// Authors and venue.
    pub source: String,
    table2: Table2,
    table3: Grid<Table3Row>,
    number: Vec<Number>,
}

/// *Lightweight Checkpointing for Faster SOAP Deserialization*.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LightweightCheckpointing {
    /// The title.
    pub title: String,
    /// Authors and venue.
    pub source: String,
    table1: Grid<Table1Row>,
    number: Vec<Number>,
}

/// *Differential Serialization for Optimized SOAP Performance*.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DifferentialSerialization {
    /// The title.
    pub title: String,
    /// Authors and venue.
    pub source: String,
    number: Vec<Number>,
}

/// *Toward Characterizing the Performance of SOAP Toolkits*.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CharacterizingPerformance {
    /// The title.
    pub title: String,
    /// Authors and venue.
    pub source: String,
    /// Table 1.
    pub table1: TimeTable,
    /// Table 2.
    pub table2: TimeTable,
    /// Table 3.
    pub table3: TimeTable,
    number: Vec<Number>,
}

/// Times of toolkits for operations, by size.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeTable {
    /// Number of items; 0 if there are none.
    pub sizes: Vec<usize>,
    row: Vec<TimeRow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeRow {
    toolkit: String,
    operation: String,
    seconds: Vec<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table2 {
    sizes: Vec<usize>,
    row: Vec<Table2Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table2Row {
    mode: String,
    values: String,
    ms: Vec<f64>,
}

/// A table by percentage and size, with columns by partitions and portions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Grid<R> {
    partitions: Vec<usize>,
    portions: Vec<u32>,
    row: Vec<R>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table3Row {
    percent: u32,
    size: usize,
    ms: Vec<Vec<f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table1Row {
    percent: u32,
    size: usize,
    better: Vec<Vec<f64>>,
}

/// The position of a cell in Table 3 of one paper, or Table 1 of the other.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// Percentage of values that change.
    pub percent: u32,
    /// Number of elements in the array.
    pub size: usize,
    /// Number of partitions.
    pub partitions: usize,
    /// Portion size or interrupt frequency in bytes.
    pub portion: u32,
}

impl DifferentialDeserialization {
    /// Reads the numbers.
    ///
    /// # Errors
    /// When the file is malformed.
    pub fn load() -> Result<Self> {
        parse(include_str!("../../../papers/differential-deserialization.toml"))
    }

    /// Returns the milliseconds of a mode from Table 2, for values of a kind. Returns `None` for a
    /// size that is not in the table.
    pub fn table2(&self, mode: &str, values: &str, size: usize) -> Option<f64> {
        let column = self.table2.sizes.iter().position(|known| *known == size)?;
        let row = self.table2.row.iter().find(|row| row.mode == mode && row.values == values)?;
        row.ms.get(column).copied()
    }

    /// Returns milliseconds from Table 3.
    pub fn table3(&self, cell: Cell) -> Option<f64> {
        let row = self.table3.row.iter().find(|row| row.percent == cell.percent && row.size == cell.size)?;
        self.table3.pick(&row.ms, cell)
    }

    /// Returns a number of the text.
    ///
    /// # Errors
    /// When there is none with this key.
    pub fn number(&self, key: &str) -> Result<&Number> {
        number(&self.number, key)
    }
}

impl LightweightCheckpointing {
    /// Reads the numbers.
    ///
    /// # Errors
    /// When the file is malformed.
    pub fn load() -> Result<Self> {
        parse(include_str!("../../../papers/lightweight-checkpointing.toml"))
    }

    /// Returns from Table 1 by how many percent lightweight checkpoints are better than none.
    pub fn table1(&self, cell: Cell) -> Option<f64> {
        let row = self.table1.row.iter().find(|row| row.percent == cell.percent && row.size == cell.size)?;
        self.table1.pick(&row.better, cell)
    }

    /// Returns a number of the text.
    ///
    /// # Errors
    /// When there is none with this key.
    pub fn number(&self, key: &str) -> Result<&Number> {
        number(&self.number, key)
    }
}

impl DifferentialSerialization {
    /// Reads the numbers.
    ///
    /// # Errors
    /// When the file is malformed.
    pub fn load() -> Result<Self> {
        parse(include_str!("../../../papers/differential-serialization.toml"))
    }

    /// Returns a number of the text.
    ///
    /// # Errors
    /// When there is none with this key.
    pub fn number(&self, key: &str) -> Result<&Number> {
        number(&self.number, key)
    }
}

impl CharacterizingPerformance {
    /// Reads the numbers.
    ///
    /// # Errors
    /// When the file is malformed.
    pub fn load() -> Result<Self> {
        parse(include_str!("../../../papers/characterizing-performance.toml"))
    }

    /// Returns a number of the text.
    ///
    /// # Errors
    /// When there is none with this key.
    pub fn number(&self, key: &str) -> Result<&Number> {
        number(&self.number, key)
    }
}

impl TimeTable {
    /// Returns the operations in table order, each once.
    pub fn operations(&self) -> Vec<&str> {
        self.row.iter().fold(Vec::new(), |mut operations, row| {
            if !operations.contains(&&*row.operation) {
                operations.push(&row.operation);
            }
            operations
        })
    }

    /// Returns the milliseconds of a toolkit; `None` if it is not in the table.
    pub fn ms(&self, toolkit: &str, operation: &str, size: usize) -> Option<f64> {
        let column = self.sizes.iter().position(|known| *known == size)?;
        let row = self.row.iter().find(|row| row.toolkit == toolkit && row.operation == operation)?;
        row.seconds.get(column).map(|seconds| seconds * 1e3)
    }
}

impl<R> Grid<R> {
    fn pick(&self, values: &[Vec<f64>], cell: Cell) -> Option<f64> {
        let group = self.partitions.iter().position(|known| *known == cell.partitions)?;
        let column = self.portions.iter().position(|known| *known == cell.portion)?;
        values.get(group)?.get(column).copied()
    }
}

fn number<'a>(numbers: &'a [Number], key: &str) -> Result<&'a Number> {
    numbers.iter().find(|number| number.key == key).with_context(|| format!("no number {key:?} in bench/papers"))
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    toml::from_str(text).context("a file of bench/papers is malformed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_complete() {
        let one = DifferentialDeserialization::load().unwrap();
        assert_eq!((one.table2.row.len(), one.table3.row.len()), (18, 24));
        assert!(one.table2.row.iter().all(|row| row.ms.len() == one.table2.sizes.len()));
        assert!(one.table3.row.iter().all(|row| row.ms.iter().map(Vec::len).eq([4; 4])));
        let third = CharacterizingPerformance::load().unwrap();
        for table in [&third.table1, &third.table2, &third.table3] {
            assert!(table.row.iter().all(|row| row.seconds.len() == table.sizes.len()));
        }
        let other = LightweightCheckpointing::load().unwrap();
        assert_eq!(other.table1.row.len(), 16);
        assert!(other.table1.row.iter().all(|row| row.better.iter().map(Vec::len).eq([4; 4])));
    }

    #[test]
    fn cells_are_found_where_they_stand() {
        let one = DifferentialDeserialization::load().unwrap();
        assert_eq!(one.table2("regular", "hard", 100_000), Some(288.0));
        assert_eq!(one.table2("xor", "ints", 1000), Some(0.04));
        assert_eq!(one.table2("regular", "hard", 5), None);
        let cell = Cell { percent: 50, size: 25_000, partitions: 200, portion: 1024 };
        assert_eq!(one.table3(cell), Some(61.8));
        assert_eq!(one.table3(Cell { partitions: 3, ..cell }), None);
        let third = CharacterizingPerformance::load().unwrap();
        assert!((third.table3.ms(".NET", "sendInts", 50_000).unwrap() - 546.7).abs() < 1e-9);
        assert_eq!(third.table2.operations(), ["echoDoubles", "sendDoubles"]);
        assert_eq!(third.table2.ms("gSOAP", "echoDoubles", 7), None);
        let other = LightweightCheckpointing::load().unwrap();
        assert_eq!(other.table1(Cell { percent: 75, size: 25_000, partitions: 200, portion: 32 }), Some(11.7));
        assert_eq!(other.table1(Cell { percent: 100, size: 100_000, partitions: 500, portion: 512 }), Some(-12.0));
    }

    #[test]
    fn numbers_are_found_by_their_keys() {
        let one = DifferentialDeserialization::load().unwrap();
        assert!((one.number("switches-t500").unwrap().value - 661.0).abs() < 1e-9);
        assert!(one.number("nothing").is_err());
    }
}

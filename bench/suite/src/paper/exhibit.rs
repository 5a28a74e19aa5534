//! A table or figure of a paper, drawn from our data, and how far its shape agrees.

use comfy_table::Table;
use serde::Serialize;

use super::printed::Number;
use crate::report::{align, new_table};

/// A table or figure.
#[derive(Debug)]
pub struct Exhibit {
    /// Title of the paper.
    pub paper: String,
    /// As in "Table 3".
    pub name: &'static str,
    /// What is shown.
    pub caption: String,
    /// Our numbers, and the paper's where it prints them.
    pub grids: Vec<Grid>,
    /// Our numbers as pictures.
    pub charts: Vec<Chart>,
    /// What agrees.
    pub verdicts: Vec<Verdict>,
}

/// Numbers in rows and columns.
#[derive(Debug)]
pub struct Grid {
    /// What the numbers are.
    pub title: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// Cells, as wide as the header.
    pub rows: Vec<Vec<String>>,
    /// Columns that name the row.
    pub names: usize,
}

/// Numbers as a picture.
#[derive(Debug)]
pub struct Chart {
    /// What is shown.
    pub title: String,
    /// What the height is.
    pub unit: String,
    /// Names of the groups of bars, or of the points of a curve.
    pub groups: Vec<String>,
    /// In each group a bar, or a point: name and heights.
    pub series: Vec<(String, Vec<f64>)>,
    /// How it is drawn.
    pub style: Style,
}

/// How a chart is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Style {
    /// Bars in groups, from zero.
    Bars,
    /// A curve a series over these numbers, one for each group; both scales are logarithmic, and what is not positive is left out.
    Curves(Vec<f64>),
}

/// Whether a number of ours has the shape of one of theirs.
#[derive(Debug, Serialize)]
pub struct Verdict {
    /// What is compared.
    pub claim: String,
    /// Where the paper says so.
    pub place: String,
    /// The paper's number, if it prints one.
    pub theirs: Option<f64>,
    /// Our number.
    pub ours: f64,
    /// When it counts as agreeing.
    pub rule: String,
    /// True if it agrees.
    pub agrees: bool,
}

/// When a number of ours agrees.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// It is at least this.
    AtLeast(f64),
    /// It differs from theirs by at most this.
    Within(f64),
    /// It is at most so many times theirs, and theirs at most so many times it.
    Factor(f64),
    /// It has the sign of theirs.
    Sign,
}

impl Verdict {
    /// Compares a number that the paper prints.
    pub fn printed(number: &Number, ours: f64, rule: Rule) -> Self {
        Verdict {
            claim: number.what.clone(),
            place: number.place.clone(),
            theirs: Some(number.value),
            ours,
            rule: rule.to_string(),
            agrees: rule.holds(ours, number.value),
        }
    }

    /// Judges a number that is computed of both sides' data, or of ours alone.
    pub fn computed(claim: impl Into<String>, place: impl Into<String>, ours: f64, rule: Rule) -> Self {
        let (claim, place) = (claim.into(), place.into());
        Verdict { claim, place, theirs: None, ours, rule: rule.to_string(), agrees: rule.holds(ours, f64::NAN) }
    }
}

impl Rule {
    fn holds(self, ours: f64, theirs: f64) -> bool {
        match self {
            Rule::AtLeast(bound) => ours >= bound,
            Rule::Within(distance) => (ours - theirs).abs() <= distance,
            Rule::Factor(factor) => ours <= theirs * factor && theirs <= ours * factor,
            Rule::Sign => (ours > 0.0) == (theirs > 0.0),
        }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Rule::AtLeast(bound) => write!(f, "at least {bound}"),
            Rule::Within(distance) => write!(f, "within {distance}"),
            Rule::Factor(factor) => write!(f, "within a factor of {factor}"),
            Rule::Sign => f.write_str("same sign"),
        }
    }
}

impl Exhibit {
    /// The exhibit for a terminal; Markdown as well.
    pub fn text(&self) -> String {
        let mut text = format!("## {}, {}\n\n{}\n", self.paper, self.name, self.caption);
        for grid in &self.grids {
            text += &format!("\n{}\n\n{}\n", grid.title, grid.table());
        }
        if !self.verdicts.is_empty() {
            text += &format!("\n{}\n", verdict_grid(&self.verdicts).table());
        }
        text
    }
}

impl Grid {
    fn table(&self) -> Table {
        let header: Vec<&str> = self.header.iter().map(String::as_str).collect();
        let mut table = new_table(&header);
        table.add_rows(&self.rows);
        align(&mut table, self.names);
        table
    }
}

/// Verdicts as a table.
pub fn verdict_grid(verdicts: &[Verdict]) -> Grid {
    let row = |verdict: &Verdict| {
        vec![
            verdict.claim.clone(),
            verdict.place.clone(),
            verdict.theirs.map_or_else(String::new, number),
            number(verdict.ours),
            verdict.rule.clone(),
            if verdict.agrees { "yes".to_owned() } else { "no".to_owned() },
        ]
    };
    Grid {
        title: "Does the shape agree?".to_owned(),
        header: ["compared", "place", "paper", "ours", "agrees if", "agrees"].map(str::to_owned).into(),
        rows: verdicts.iter().map(row).collect(),
        names: 2,
    }
}

/// A number with three digits that mean something.
pub fn number(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "none".to_owned(),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 || size == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_hold_as_they_say() {
        assert!(Rule::AtLeast(0.8).holds(0.8, f64::NAN) && !Rule::AtLeast(0.8).holds(f64::NAN, f64::NAN));
        assert!(Rule::Within(5.0).holds(36.0, 40.0) && !Rule::Within(5.0).holds(34.0, 40.0));
        assert!(Rule::Factor(2.0).holds(20.5, 41.0) && !Rule::Factor(2.0).holds(20.0, 41.0));
        assert!(!Rule::Factor(2.0).holds(83.0, 41.0));
        assert!(Rule::Sign.holds(3.0, 40.0) && !Rule::Sign.holds(-3.0, 40.0));
    }

    #[test]
    fn numbers_have_three_digits() {
        let shown: Vec<String> = [288.4, 28.84, 2.884, 0.2884, 0.02884, 0.0, -12.34].map(number).into();
        assert_eq!(shown, ["288", "28.8", "2.88", "0.29", "0.0288", "0.00", "-12.3"]);
    }

    #[test]
    fn an_exhibit_shows_grids_and_verdicts() {
        let exhibit = Exhibit {
            paper: "Paper".to_owned(),
            name: "Table 9",
            caption: "Caption.".to_owned(),
            grids: vec![Grid {
                title: "ms".to_owned(),
                header: vec!["row".to_owned(), "1000".to_owned()],
                rows: vec![vec!["CRC32".to_owned(), "0.18".to_owned()]],
                names: 1,
            }],
            charts: vec![],
            verdicts: vec![Verdict::computed("ranks", "Table 9", 0.9, Rule::AtLeast(0.8))],
        };
        let text = exhibit.text();
        for part in ["## Paper, Table 9", "| CRC32 |", "0.18", "at least 0.8", " yes |"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

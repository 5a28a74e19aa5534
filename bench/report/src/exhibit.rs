//! A table or figure of a paper, drawn from our data, with verdicts on the claims that the paper
//! makes there.

use crate::claim::{self, Verdict};
use crate::plot::Chart;
use crate::table::Grid;

/// A table or figure.
#[derive(Debug, Clone)]
pub struct Exhibit {
    /// Title of the paper, authors and venue.
    pub paper: String,
    /// The name, such as "Table 3".
    pub name: &'static str,
    /// The caption.
    pub caption: String,
    /// Our numbers, and the paper's where it prints them.
    pub grids: Vec<Grid>,
    /// Charts of our numbers.
    pub charts: Vec<Chart>,
    /// The verdicts on its claims.
    pub verdicts: Vec<Verdict>,
}

/// The heading above verdicts.
pub const VERDICTS: &str = "Does it agree?";

impl Exhibit {
    /// Creates an exhibit with a caption only, of a paper with this title and source.
    pub fn new((title, source): (&str, &str), name: &'static str, caption: impl Into<String>) -> Self {
        Exhibit {
            paper: format!("{title} ({source})"),
            name,
            caption: caption.into(),
            grids: vec![],
            charts: vec![],
            verdicts: vec![],
        }
    }

    /// Formats the exhibit for a terminal, as Markdown.
    pub fn text(&self) -> String {
        let mut text = format!("## {}, {}\n\n{}\n", self.paper, self.name, self.caption);
        for grid in &self.grids {
            text += &format!("\n{}\n\n{}\n", grid.title, grid.markdown());
        }
        if !self.verdicts.is_empty() {
            text += &format!("\n{VERDICTS}\n\n{}\n", claim::grid(VERDICTS, &self.verdicts).markdown());
        }
        text
    }
}

//! Tables whose cells can be marked, as HTML.

use super::page::escape;
use crate::paper::exhibit::Grid;

/// A table.
#[derive(Debug)]
pub struct Sheet {
    /// What it shows.
    pub caption: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// Rows as wide as the header.
    pub rows: Vec<Vec<Cell>>,
    /// Columns that name the row.
    pub names: usize,
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// What stands in it.
    pub text: String,
    /// What is to be seen at once.
    pub mark: Mark,
}

/// What is to be seen at once. Each has a sign of its own besides the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Nothing.
    None,
    /// The best of its kind.
    Best,
    /// Ours, and another is better.
    Lost,
}

impl Cell {
    /// A plain cell.
    pub fn new(text: impl Into<String>) -> Self {
        Cell { text: text.into(), mark: Mark::None }
    }

    /// A number; nothing where there is none.
    pub fn number(value: f64) -> Self {
        Cell::new(number(value))
    }

    fn html(&self) -> String {
        let text = escape(&self.text);
        match self.mark {
            Mark::None => text,
            Mark::Best => format!("<b class=\"best\">{text}<span class=\"sign\"> \u{2605}</span></b>"),
            Mark::Lost => format!("<b class=\"lost\">{text}<span class=\"sign\"> lost</span></b>"),
        }
    }
}

/// A number with three digits that mean something; nothing where it is none.
pub fn number(value: f64) -> String {
    if value.is_finite() { crate::paper::exhibit::number(value) } else { String::new() }
}

impl From<&Grid> for Sheet {
    fn from(grid: &Grid) -> Self {
        let row = |cells: &Vec<String>| cells.iter().map(Cell::new).collect();
        let rows = grid.rows.iter().map(row).collect();
        Sheet { caption: grid.title.clone(), header: grid.header.clone(), rows, names: grid.names }
    }
}

impl Sheet {
    /// The table within something that scrolls where the screen is narrow.
    pub fn html(&self) -> String {
        let caption = escape(&self.caption);
        let header: String =
            self.header.iter().map(|name| format!("<th scope=\"col\">{}</th>", escape(name))).collect();
        let rows: String = self.rows.iter().map(|cells| self.row(cells)).collect();
        format!(
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table><caption>{caption}</caption>\
             <thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>"
        )
    }

    fn row(&self, cells: &[Cell]) -> String {
        let cell = |(column, cell): (usize, &Cell)| match column < self.names {
            true => format!("<th scope=\"row\">{}</th>", cell.html()),
            false => format!("<td>{}</td>", cell.html()),
        };
        format!("<tr>{}</tr>", cells.iter().enumerate().map(cell).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_escaped_and_marked() {
        let best = Cell { mark: Mark::Best, ..Cell::number(12.345) };
        let lost = Cell { mark: Mark::Lost, ..Cell::new("<1>") };
        let sheet = Sheet {
            caption: "a \"b\"".to_owned(),
            header: vec!["x".to_owned(); 4],
            rows: vec![vec![Cell::new("name"), best, lost, Cell::number(f64::NAN)]],
            names: 1,
        };
        let html = sheet.html();
        for part in [
            "<th scope=\"row\">name</th>",
            "<b class=\"best\">12.3",
            "&lt;1&gt;<span class=\"sign\"> lost",
            "<td></td>",
            "aria-label=\"a &quot;b&quot;\"",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }
}

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
    let size = value.abs();
    match size {
        _ if !size.is_finite() => String::new(),
        _ if size == 0.0 || size >= 0.1 => crate::paper::exhibit::number(value),
        _ => format!("{value:.*}", (2.0 - size.log10().floor()).clamp(0.0, 12.0) as usize),
    }
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
        let name =
            |(column, name): (usize, &String)| format!("<th scope=\"col\"{}>{}</th>", self.class(column), escape(name));
        let header: String = self.header.iter().enumerate().map(name).collect();
        let rows: String = self.rows.iter().map(|cells| self.row(cells)).collect();
        format!(
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table><caption>{caption}</caption>\
             <thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>"
        )
    }

    /// Names and reasons are text, all else is numbers.
    fn class(&self, column: usize) -> &'static str {
        let is_reason = self.header.get(column).is_some_and(|name| name.starts_with("why") || name == "value");
        if column < self.names || is_reason { " class=\"text\"" } else { "" }
    }

    fn row(&self, cells: &[Cell]) -> String {
        let cell = |(column, cell): (usize, &Cell)| match column < self.names {
            true => format!("<th scope=\"row\">{}</th>", cell.html()),
            false => format!("<td{}>{}</td>", self.class(column), cell.html()),
        };
        format!("<tr>{}</tr>", cells.iter().enumerate().map(cell).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_have_digits_too() {
        let texts = [0.0, 0.000_123_456, 0.0213, 0.25, 1234.5, f64::NAN].map(number);
        assert_eq!(texts, ["0.00", "0.000123", "0.0213", "0.25", "1234", ""]);
    }

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

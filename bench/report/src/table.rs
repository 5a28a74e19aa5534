//! Tables: plain ones for terminals, Markdown and pages, and ones with marked cells for pages.

use comfy_table::presets::{ASCII_MARKDOWN, UTF8_HORIZONTAL_ONLY};
use comfy_table::{CellAlignment, Table, TableStyle};

use crate::html::escape;
use crate::number;

/// A table of plain text.
#[derive(Debug, Clone)]
pub struct Grid {
    /// The title.
    pub title: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// Rows with as many cells as the header.
    pub rows: Vec<Vec<String>>,
    /// Number of columns that name the row.
    pub names: usize,
}

impl Grid {
    /// Creates a table without rows. The first `names` columns name the row, the others are
    /// numbers.
    pub fn new(title: impl Into<String>, header: &[&str], names: usize) -> Self {
        let header = header.iter().map(|&name| name.to_owned()).collect();
        Grid { title: title.into(), header, rows: Vec::new(), names }
    }

    /// Returns the table with these rows after its own.
    #[must_use]
    pub fn with<R>(mut self, rows: impl IntoIterator<Item = R>) -> Self
    where
        R: IntoIterator<Item: Into<String>>,
    {
        rows.into_iter().for_each(|row| self.push(row));
        self
    }

    /// Adds a row, with as many cells as the header.
    pub fn push(&mut self, row: impl IntoIterator<Item: Into<String>>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }

    /// Returns the table as Markdown, without its title; readable in a terminal.
    pub fn markdown(&self) -> String {
        self.drawn(ASCII_MARKDOWN)
    }

    /// Returns the table for a terminal, without its title; names of columns may have lines.
    pub fn terminal(&self) -> String {
        self.drawn(UTF8_HORIZONTAL_ONLY)
    }

    fn drawn(&self, style: TableStyle) -> String {
        let mut table = Table::new();
        table.load_style(style).set_header(&self.header).add_rows(&self.rows);
        let numbers = table.column_iter_mut().skip(self.names);
        numbers.for_each(|column| column.set_cell_alignment(CellAlignment::Right));
        table.to_string()
    }
}

/// A table for a page.
#[derive(Debug, Clone)]
pub struct Sheet {
    /// The caption.
    pub caption: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// Rows with as many cells as the header.
    pub rows: Vec<Vec<Cell>>,
    /// Number of columns that name the row.
    pub names: usize,
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The text.
    pub text: String,
    /// The highlighting.
    pub mark: Emphasis,
}

/// Highlighting of a cell. Each kind has a sign or a word in addition to its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emphasis {
    /// Nothing.
    None,
    /// The best of its kind.
    Best,
    /// Our value, if another is better.
    Lost,
    /// Good; the text says so.
    Good,
    /// Bad; the text says so.
    Bad,
}

impl Cell {
    /// Creates a plain cell.
    pub fn new(text: impl Into<String>) -> Self {
        Cell { text: text.into(), mark: Emphasis::None }
    }

    /// Creates a cell with a number; empty if it is not a number.
    pub fn number(value: f64) -> Self {
        Cell::new(number(value))
    }

    fn html(&self) -> String {
        let text = escape(&self.text);
        match self.mark {
            Emphasis::None => text,
            Emphasis::Best => format!("<b class=\"best\">{text}<span class=\"sign\"> \u{2605}</span></b>"),
            Emphasis::Lost => format!("<b class=\"lost\">{text}<span class=\"sign\"> lost</span></b>"),
            Emphasis::Good => format!("<b class=\"best\">{text}</b>"),
            Emphasis::Bad => format!("<b class=\"lost\">{text}</b>"),
        }
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
    /// Returns the table in a container that scrolls on narrow screens.
    pub fn html(&self) -> String {
        let caption = escape(&self.caption);
        let classes: Vec<&str> = (0..self.header.len()).map(|column| self.class(column)).collect();
        let name = |(name, class): (&String, &&str)| format!("<th scope=\"col\"{class}>{}</th>", escape(name));
        let header: String = self.header.iter().zip(&classes).map(name).collect();
        let rows: String = self.rows.iter().map(|cells| self.row(cells, &classes)).collect();
        format!(
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table><caption><span>{caption}</span></caption>\
             <thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>"
        )
    }

    /// Returns the CSS class: names, words and long cells are text, numbers are not.
    fn class(&self, column: usize) -> &'static str {
        /// Maximum characters of a number with its interval.
        const LONG: usize = 40;
        /// Maximum characters of words in a line.
        const LINE: usize = 20;
        const WORDS: [&str; 5] = ["why", "agrees", "value", "place", "sizes"];
        let cells = || self.rows.iter().filter_map(|row| row.get(column));
        let has_numbers =
            || cells().any(|cell| cell.text.is_empty() || cell.text.contains(|c: char| c.is_ascii_digit()));
        let is_text = column < self.names
            || WORDS.iter().any(|word| self.header[column].starts_with(word))
            || !(self.rows.is_empty() || has_numbers());
        match cells().map(|cell| cell.text.chars().count()).max().unwrap_or(0) {
            most if most > LONG => " class=\"text long\"",
            most if is_text && most > LINE => " class=\"text lines\"",
            _ if is_text => " class=\"text\"",
            _ => "",
        }
    }

    fn row(&self, cells: &[Cell], classes: &[&str]) -> String {
        let cell = |(column, (cell, class)): (usize, (&Cell, &&str))| match column < self.names {
            true => format!("<th scope=\"row\"{class}>{}</th>", cell.html()),
            false => format!("<td{class}>{}</td>", cell.html()),
        };
        format!("<tr>{}</tr>", cells.iter().zip(classes).enumerate().map(cell).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_markdown() {
        let grid = Grid::new("ms", &["row", "1000"], 1).with([["CRC32", "0.18"]]);
        assert!(grid.markdown().contains("| CRC32 | 0.18 |"), "{}", grid.markdown());
    }

    #[test]
    fn a_grid_in_a_terminal_has_lines_in_its_header() {
        let text = Grid::new("", &["stream", "regular\nms"], 1).with([["ints", "0.18"]]).terminal();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert!(lines[1].ends_with("regular") && lines[2].ends_with("ms"), "{text}");
        assert!(lines[4].starts_with("ints") && lines[4].ends_with("0.18"), "{text}");
    }

    #[test]
    fn long_cells_are_text() {
        let grid = Grid::new("x", &["toolkit", "ms", "note"], 1).with([["a", "0.1", &"b".repeat(41)]]);
        let html = Sheet::from(&grid).html();
        assert!(html.contains("<td>0.1</td><td class=\"text long\">bbb"), "{html}");
    }

    #[test]
    fn words_have_several_lines_where_numbers_have_one() {
        let row = ["a", "within a factor of 1.5 of 10.0", "0.0123 (0.0122 to 0.0130)"];
        let html = Sheet::from(&Grid::new("x", &["row", "agrees if", "ms"], 1).with([row])).html();
        assert!(html.contains("<td class=\"text lines\">within") && html.contains("<td>0.0123"), "{html}");
    }

    #[test]
    fn words_stand_at_the_left() {
        let grid = Grid::new("x", &["row", "lost to", "outcome", "ms"], 1);
        let html = Sheet::from(&grid.with([["a", "gsoap", "agrees", ""], ["b", "axis", "differs", "2"]])).html();
        assert!(html.contains("<td class=\"text\">gsoap</td><td class=\"text\">agrees</td><td></td>"), "{html}");
    }

    #[test]
    fn cells_are_escaped_and_marked() {
        let best = Cell { mark: Emphasis::Best, ..Cell::number(12.345) };
        let lost = Cell { mark: Emphasis::Lost, ..Cell::new("<1>") };
        let sheet = Sheet {
            caption: "a \"b\"".to_owned(),
            header: ["x", "x", "why", "x"].map(str::to_owned).into(),
            rows: vec![vec![Cell::new("name"), best, lost, Cell::number(f64::NAN)]],
            names: 1,
        };
        let html = sheet.html();
        for part in [
            "<th scope=\"row\" class=\"text\">name</th>",
            "<b class=\"best\">12.3",
            "<td class=\"text\"><b class=\"lost\">&lt;1&gt;<span class=\"sign\"> lost",
            "<td></td>",
            "aria-label=\"a &quot;b&quot;\"",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }
}

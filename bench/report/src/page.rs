//! A report as one self-contained HTML page: no script, no network, light or dark as the reader
//! prefers, usable with a keyboard and on a narrow screen.

use crate::claim;
use crate::exhibit::{Exhibit, VERDICTS};
use crate::html::escape;
use crate::palette;
use crate::plot::Chart;
use crate::table::{Grid, Sheet};

const STYLE: &str = include_str!("style.css");

/// A page under construction. It escapes all text.
#[derive(Debug)]
pub struct Page {
    title: String,
    warnings: Vec<String>,
    /// Anchors and titles of sections.
    sections: Vec<(String, String)>,
    body: String,
}

impl Page {
    /// Creates a page without sections.
    pub fn new(title: impl Into<String>) -> Self {
        Page { title: title.into(), warnings: Vec::new(), sections: Vec::new(), body: String::new() }
    }

    /// Begins a section that can be folded, with an entry in the table of contents.
    pub fn section(&mut self, title: &str) {
        let id = self.anchor(title);
        self.end_section();
        self.add(&format!("<details class=\"section\" id=\"{id}\" open><summary><h2>{}</h2></summary>", escape(title)));
        self.sections.push((id, title.to_owned()));
    }

    fn end_section(&mut self) {
        if !self.sections.is_empty() {
            self.add("</details>");
        }
    }

    /// Returns a link name of letters, digits and hyphens for a title, with a number if another
    /// section has the same.
    fn anchor(&self, title: &str) -> String {
        let id = slug(title);
        let is_taken = |id: &str| id.is_empty() || id == "main" || self.sections.iter().any(|(known, _)| known == id);
        if is_taken(&id) { format!("{id}-{}", self.sections.len() + 1) } else { id }
    }

    /// Adds a heading within a section.
    pub fn heading(&mut self, title: &str) {
        self.add(&format!("<h3>{}</h3>", escape(title)));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.add(&format!("<p>{}</p>", escape(text)));
    }

    /// Adds text with wrapped lines: a paragraph ends where a line ends with a full stop.
    pub fn prose(&mut self, text: &str) {
        text.split(".\n").for_each(|part| {
            let part = part.replace('\n', " ");
            self.paragraph(&if part.ends_with('.') { part } else { part + "." });
        });
    }

    /// Adds a warning, which stands at the top of the page: for example that the machine was busy,
    /// so that all times are doubtful.
    pub fn warning(&mut self, text: &str) {
        self.warnings.push(text.to_owned());
    }

    /// Adds a list.
    pub fn list<'t>(&mut self, items: impl IntoIterator<Item = &'t str>) {
        let items: String = items.into_iter().map(|item| format!("<li>{}</li>", escape(item))).collect();
        self.add(&format!("<ul>{items}</ul>"));
    }

    /// Adds a table.
    pub fn sheet(&mut self, sheet: &Sheet) {
        self.add(&sheet.html());
    }

    /// Adds a table of plain text.
    pub fn grid(&mut self, grid: &Grid) {
        self.sheet(&Sheet::from(grid));
    }

    /// Adds collapsed tables.
    pub fn folded(&mut self, title: &str, sheets: &[Sheet]) {
        self.add(&format!("<details><summary>{}</summary>", escape(title)));
        sheets.iter().for_each(|sheet| self.sheet(sheet));
        self.add("</details>");
    }

    /// Adds a chart with a text alternative. If it has nothing to draw, the page says so.
    pub fn chart(&mut self, chart: &Chart) {
        if chart.names().is_empty() {
            self.add(&format!("<p>{}: not measured.</p>", escape(&chart.title)));
            return;
        }
        let (title, label) = (escape(&chart.title), escape(&chart.label()));
        self.add(&format!(
            "<figure class=\"plot\"><figcaption>{title}</figcaption>{}\
             <div class=\"scroll\" role=\"img\" tabindex=\"0\" aria-label=\"{label}\">{}</div></figure>",
            chart.legend(),
            chart.svg()
        ));
    }

    /// Adds a list of links to other places of this page, by name: see [`Page::mark`].
    pub fn links<'t>(&mut self, items: impl IntoIterator<Item = (&'t str, &'t str)>) {
        let item = |(name, text)| format!("<li><a href=\"#{}\">{}</a></li>", slug(name), escape(text));
        let items: String = items.into_iter().map(item).collect();
        self.add(&format!("<ul>{items}</ul>"));
    }

    /// Adds a target for [`Page::links`]; its name must be unique.
    pub fn mark(&mut self, name: &str) {
        self.add(&format!("<a id=\"{}\"></a>", slug(name)));
    }

    /// Adds a table or figure of a paper, under a heading.
    pub fn exhibit(&mut self, exhibit: &Exhibit) {
        self.heading(exhibit.name);
        self.paragraph(&exhibit.caption);
        exhibit.charts.iter().for_each(|chart| self.chart(chart));
        exhibit.grids.iter().for_each(|grid| self.grid(grid));
        if !exhibit.verdicts.is_empty() {
            self.sheet(&claim::sheet(VERDICTS, &exhibit.verdicts));
        }
    }

    /// Returns the finished page.
    pub fn finish(mut self) -> String {
        self.end_section();
        let title = escape(&self.title);
        let link = |(id, name): &(String, String)| format!("<li><a href=\"#{id}\">{}</a></li>", escape(name));
        let links: String = self.sections.iter().map(link).collect();
        let contents = match self.sections.len() {
            0 | 1 => String::new(),
            _ => format!("<nav aria-label=\"Sections\"><ul>{links}</ul></nav>"),
        };
        let warning = |text: &String| format!("<p>{}</p>", escape(text));
        let warnings = match self.warnings.is_empty() {
            true => String::new(),
            false => {
                let all: String = self.warnings.iter().map(warning).collect();
                format!("<div class=\"warning\" role=\"note\" aria-label=\"Warning\">{all}</div>")
            }
        };
        let colours = palette::style();
        format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\
             <title>{title}</title><link rel=\"icon\" href=\"data:,\"><style>{colours}{STYLE}</style></head><body>\
             <a class=\"skip\" href=\"#main\">To the content</a><header><h1>{title}</h1>{warnings}{contents}</header>\
             <main id=\"main\">{}</main></body></html>\n",
            self.body
        )
    }

    fn add(&mut self, html: &str) {
        self.body.push_str(html);
    }
}

/// Returns letters and digits in lower case, with hyphens between words.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::{Basis, Claim, Printed, Registered, Sizes};
    use crate::plot::{Line, Mark};
    use crate::table::Cell;
    use crate::test::{Evidence, Test};

    const EVIL: &str = "<script>alert(1)</script>\" onload=\"alert(2)";

    /// Returns a page in which every text is `text`.
    fn page_of(text: &str) -> String {
        let own = || text.to_owned();
        let grid = Grid { title: own(), header: vec![own()], rows: vec![vec![own()]], names: 1 };
        let claim = Claim {
            key: own(),
            paper: own(),
            place: own(),
            statement: own(),
            printed: Printed::Text,
            sizes: Sizes::None,
            basis: Basis::Times,
            test: Test::AtLeast(0.8),
            because: Some(own()),
        };
        let verdict = Registered::new(claim, &[], |data: &f64, _: &[usize]| Ok(Evidence::from(*data))).judge(&[0.5]);
        let line = Line { name: own(), points: vec![(1.0, 1.0)], mark: Mark::Both };
        let charts = vec![
            Chart::bars(own(), own(), own(), vec![own()], vec![(own(), vec![1.0])]),
            Chart::lines(own(), own(), own(), vec![line]),
        ];
        let mut page = Page::new(own());
        page.section(text);
        page.section(text);
        page.warning(text);
        page.list([text]);
        page.mark(text);
        page.links([(text, text)]);
        page.exhibit(&Exhibit {
            paper: own(),
            name: "Table 1",
            caption: own(),
            grids: vec![grid.clone()],
            charts,
            verdicts: vec![verdict],
        });
        page.folded(text, &[Sheet { rows: vec![vec![Cell::new(text)]], ..Sheet::from(&grid) }]);
        page.finish()
    }

    #[test]
    fn texts_are_no_markup() {
        let html = page_of(EVIL);
        assert!(!html.contains("<script") && !html.contains("\" onload=\""), "{html}");
        assert!(html.matches("&lt;script").count() >= 20, "{html}");
    }

    #[test]
    fn a_chart_of_nothing_is_no_chart() {
        let mut page = Page::new("A page".to_owned());
        page.chart(&Chart::lines("A & B".to_owned(), "items".to_owned(), "ms".to_owned(), vec![]));
        let html = page.finish();
        assert!(html.contains("<p>A &amp; B: not measured.</p>") && !html.contains("<svg"), "{html}");
    }

    #[test]
    fn wrapped_lines_are_paragraphs() {
        let mut page = Page::new("A page");
        page.prose("One line.\nAnother, which\ngoes on.\nThe last");
        assert!(page.finish().contains("<p>One line.</p><p>Another, which goes on.</p><p>The last.</p>"));
    }

    #[test]
    fn the_page_is_whole_and_needs_nothing_else() {
        let html = page_of("A & B");
        for part in [
            "<!doctype html>",
            "<h1>A &amp; B</h1>",
            "<a href=\"#a-b\">A &amp; B</a>",
            "<a href=\"#a-b-2\">A &amp; B</a>",
            "<h3>Table 1</h3>",
            "<details class=\"section\" id=\"a-b\" open><summary><h2>A &amp; B</h2></summary>",
            "</h1><div class=\"warning\" role=\"note\" aria-label=\"Warning\"><p>A &amp; B</p></div>",
            "<figcaption>A &amp; B</figcaption><div class=\"scroll\" role=\"img\" tabindex=\"0\" aria-label=\"A &amp; B: ",
            "<th scope=\"row\" class=\"text\">A &amp; B</th>",
            "<b class=\"lost\">differs</b>",
            "prefers-color-scheme:dark",
            "</html>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert_eq!(html.matches("<details").count(), html.matches("</details>").count(), "{html}");
        let outside = ["src=", "href=\"http", "url(", "@import", "<script"];
        assert!(outside.iter().all(|part| !html.contains(part)), "{html}");
    }
}

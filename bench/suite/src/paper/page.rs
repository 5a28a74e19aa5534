//! All exhibits as one HTML page that needs nothing else.

use anyhow::Result;

use super::exhibit::{Exhibit, Grid, verdict_grid};
use super::plot;

const STYLE: &str = "body{font:15px/1.45 sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}\
    table{border-collapse:collapse;margin:.6rem 0}td,th{border:1px solid #ccc;padding:.15rem .5rem;text-align:right}\
    td.name,th.name{text-align:left}svg{max-width:100%;height:auto}.yes{color:#060}.no{color:#a00}";

/// Writes the page.
///
/// # Errors
/// When a chart cannot be drawn.
pub fn html(exhibits: &[Exhibit], environment: &str) -> Result<String> {
    let mut html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>The papers' tables</title>\
         <style>{STYLE}</style><h1>The papers' tables and figures, from our data</h1><p>{}</p>",
        escape(environment)
    );
    for exhibit in exhibits {
        section(&mut html, exhibit)?;
    }
    html.push_str("</html>\n");
    Ok(html)
}

fn section(html: &mut String, exhibit: &Exhibit) -> Result<()> {
    let (paper, name, caption) = (escape(&exhibit.paper), exhibit.name, escape(&exhibit.caption));
    html.push_str(&format!("<h2>{name}</h2><p><i>{paper}</i>. {caption}</p>"));
    for chart in &exhibit.charts {
        html.push_str(&plot::svg(chart)?);
    }
    exhibit.grids.iter().for_each(|grid| table(html, grid));
    if !exhibit.verdicts.is_empty() {
        table(html, &verdict_grid(&exhibit.verdicts));
    }
    Ok(())
}

fn table(html: &mut String, grid: &Grid) {
    html.push_str(&format!("<p>{}</p><table>", escape(&grid.title)));
    row(html, "th", grid.names, &grid.header);
    grid.rows.iter().for_each(|cells| row(html, "td", grid.names, cells));
    html.push_str("</table>");
}

fn row(html: &mut String, tag: &str, names: usize, cells: &[String]) {
    html.push_str("<tr>");
    for (column, cell) in cells.iter().enumerate() {
        let class = match cell.as_str() {
            "yes" | "no" => cell,
            _ if column < names => "name",
            _ => "number",
        };
        html.push_str(&format!("<{tag} class=\"{class}\">{}</{tag}>", escape(cell)));
    }
    html.push_str("</tr>");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::exhibit::{Chart, Rule, Style, Verdict};

    #[test]
    fn texts_are_no_markup() {
        let evil = || "<script>alert(1)</script>".to_owned();
        let grid = Grid { title: evil(), header: vec![evil()], rows: vec![vec![evil()]], names: 1 };
        let series = vec![(evil(), vec![1.0])];
        let chart = Chart { title: evil(), unit: evil(), groups: vec![evil()], series, style: Style::Bars };
        let verdicts = vec![Verdict::computed("<script>", "<script>", 0.5, Rule::AtLeast(0.8))];
        let (grids, charts) = (vec![grid], vec![chart]);
        let exhibit = Exhibit { paper: evil(), name: "Table 1", caption: evil(), grids, charts, verdicts };
        let html = html(&[exhibit], &evil()).unwrap();
        assert!(!html.contains("<script"), "{html}");
        assert!(html.matches("&lt;script").count() >= 10, "{html}");
    }

    #[test]
    fn the_page_is_whole_and_holds_everything() {
        let exhibit = Exhibit {
            paper: "A & B".to_owned(),
            name: "Table 1",
            caption: "n < 3".to_owned(),
            grids: vec![Grid {
                title: "ms".to_owned(),
                header: vec!["name".to_owned(), "1".to_owned()],
                rows: vec![vec!["row".to_owned(), "2.5".to_owned()]],
                names: 1,
            }],
            charts: vec![Chart {
                title: "chart".to_owned(),
                unit: "ms".to_owned(),
                groups: vec!["g".to_owned()],
                series: vec![("s".to_owned(), vec![1.0])],
                style: Style::Bars,
            }],
            verdicts: vec![Verdict::computed("claim", "Table 1", 0.5, Rule::AtLeast(0.8))],
        };
        let html = html(&[exhibit], "a machine").unwrap();
        let parts =
            ["<i>A &amp; B</i>", "n &lt; 3", "<svg", "<td class=\"name\">row</td>", "<td class=\"number\">2.5</td>"];
        for part in parts.into_iter().chain(["<td class=\"no\">no</td>", "a machine", "</html>"]) {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}

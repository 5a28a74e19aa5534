//! Tables for terminals.

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{CellAlignment, Table};
use deltasoap_cost::Model;
use deltasoap_cost::fit::regression::{Coefficient, Regression};
use deltasoap_report::Grid;

/// A table as text: the first column to the left, all others to the right.
pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_header(headings.to_vec());
    table.add_rows(rows.iter().cloned());
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table.to_string()
}

/// Nanoseconds for people.
pub fn time(nanoseconds: f64) -> String {
    match nanoseconds.abs() {
        it if it >= 1e9 => format!("{:.2} s", nanoseconds / 1e9),
        it if it >= 1e6 => format!("{:.2} ms", nanoseconds / 1e6),
        it if it >= 1e3 => format!("{:.2} µs", nanoseconds / 1e3),
        _ => format!("{nanoseconds:.0} ns"),
    }
}

/// A part of one in percent.
pub fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// A table with a heading above it.
#[derive(Debug, Clone)]
pub struct Sheet {
    pub title: String,
    pub headings: Vec<&'static str>,
    pub rows: Vec<Vec<String>>,
}

impl Sheet {
    /// As text.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.title, table(&self.headings, &self.rows))
    }

    /// For a page.
    pub fn grid(&self) -> Grid {
        let header = self.headings.iter().map(|&heading| heading.to_owned()).collect();
        Grid { title: self.title.clone(), header, rows: self.rows.clone(), names: 1 }
    }
}

/// The paper's Tables 1 to 3 from a model, and the coefficients of predictions. Times are in microseconds.
pub fn sheets(model: &Model) -> Vec<Sheet> {
    vec![arrays(model), texts(model), composites(model), features(model)]
}

fn arrays(model: &Model) -> Sheet {
    let mut rows = Vec::new();
    for (activity, fitted) in &model.activities {
        for (class, line) in &fitted.arrays {
            let mut row = vec![format!("{class}, {activity}")];
            row.extend(line.coefficients.iter().map(coefficient));
            row.extend(quality(line));
            rows.push(row);
        }
    }
    let title = "Table 1: array length as the regressor (µs)".to_owned();
    Sheet { title, headings: vec!["", "c0", "c1", "R²", "F", "F critical", "outliers"], rows }
}

fn texts(model: &Model) -> Sheet {
    let mut rows = Vec::new();
    for (activity, fitted) in &model.activities {
        for segment in fitted.texts.iter().flat_map(|texts| &texts.segments) {
            let mut row = vec![format!("{activity}"), format!("{} to {}", segment.from, segment.to)];
            row.extend(segment.line.coefficients.iter().map(coefficient));
            row.extend(quality(&segment.line));
            rows.push(row);
        }
    }
    let title = "Table 2: string length as the regressor (µs)".to_owned();
    Sheet { title, headings: vec!["", "l", "c0", "c1", "R²", "F", "F critical", "outliers"], rows }
}

fn composites(model: &Model) -> Sheet {
    let mut rows = Vec::new();
    for (activity, fitted) in &model.activities {
        for (length, regression) in &fitted.composites {
            let mut row = vec![format!("{activity}"), length.to_string()];
            row.extend(regression.coefficients.iter().map(coefficient));
            row.extend(quality(regression));
            rows.push(row);
        }
    }
    let title = "Table 3: composite types (µs)".to_owned();
    let headings = vec!["", "l", "c0", "int", "double", "string", "R²", "F", "F critical", "outliers"];
    Sheet { title, headings, rows }
}

fn features(model: &Model) -> Sheet {
    let mut rows = Vec::new();
    let activities = model.activities.iter().map(|(activity, fitted)| (activity.to_string(), fitted));
    let in_full = model.in_full.iter().map(|(activity, fitted)| (format!("{activity} in full"), fitted));
    for (activity, fitted) in activities.chain(in_full) {
        let fit = &fitted.features.fit;
        let all = fit.coefficients.iter();
        rows.extend(all.map(|it| vec![format!("{activity}: {}", it.name), coefficient(it)]));
        rows.push(vec![format!("{activity}: scatter"), percent(fitted.features.scatter)]);
    }
    Sheet { title: "What predictions are made of (µs each)".to_owned(), headings: vec!["", "cost"], rows }
}

fn coefficient(it: &Coefficient) -> String {
    format!("{:.3e} ± {:.1e}", it.value / 1e3, it.margin / 1e3)
}

fn quality(fit: &Regression) -> [String; 4] {
    let (r, f, critical) = (fit.r_squared, fit.f, fit.f_critical);
    [format!("{r:.4}"), format!("{f:.4e}"), format!("{critical:.4}"), fit.outliers.len().to_string()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_that_fits() {
        let texts = [5.4, 1234.0, 5.678e6, 2e9].map(time);
        assert_eq!(texts, ["5 ns", "1.23 µs", "5.68 ms", "2.00 s"]);
        assert_eq!(percent(0.1234), "12.3 %");
    }
}

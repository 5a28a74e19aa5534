//! Tables 1 to 3 from a model, and as printed.

use deltasoap_cost::Model;
use deltasoap_cost::fit::regression::{Coefficient, Regression};
use deltasoap_cost::paper::Printed;
use deltasoap_report::Grid;

/// Returns the paper's Tables 1 to 3 from a model, and the coefficients of predictions. Times are
/// in microseconds.
pub fn tables(model: &Model) -> [Grid; 4] {
    [arrays(model), texts(model), composites(model), features(model)]
}

fn arrays(model: &Model) -> Grid {
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
    grid(title, &["", "c0", "c1", "R²", "F", "F critical", "outliers"], rows)
}

fn texts(model: &Model) -> Grid {
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
    grid(title, &["", "l", "c0", "c1", "R²", "F", "F critical", "outliers"], rows)
}

fn composites(model: &Model) -> Grid {
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
    grid(title, &["", "l", "c0", "int", "double", "string", "R²", "F", "F critical", "outliers"], rows)
}

fn features(model: &Model) -> Grid {
    let mut rows = Vec::new();
    let activities = model.activities.iter().map(|(activity, fitted)| (activity.to_string(), fitted));
    let in_full = model.in_full.iter().map(|(activity, fitted)| (format!("{activity} in full"), fitted));
    for (activity, fitted) in activities.chain(in_full) {
        let fit = &fitted.features.fit;
        let all = fit.coefficients.iter();
        rows.extend(all.map(|it| vec![format!("{activity}: {}", it.name), coefficient(it)]));
        rows.push(vec![format!("{activity}: scatter"), format!("{:.1} %", fitted.features.scatter * 100.0)]);
    }
    grid("Coefficients of predictions (µs each)".to_owned(), &["", "cost"], rows)
}

fn coefficient(it: &Coefficient) -> String {
    format!("{:.3e} ± {:.1e}", it.value / 1e3, it.margin / 1e3)
}

fn quality(fit: &Regression) -> [String; 4] {
    let (r, f, critical) = (fit.r_squared, fit.f, fit.f_critical);
    [format!("{r:.4}"), format!("{f:.4e}"), format!("{critical:.4}"), fit.outliers.len().to_string()]
}

fn grid(title: String, header: &[&str], rows: Vec<Vec<String>>) -> Grid {
    Grid { title, header: header.iter().map(|&name| name.to_owned()).collect(), rows, names: 1 }
}

/// Returns the tables as printed, in the paper's milliseconds.
pub(crate) fn printed_tables(printed: &Printed) -> [Grid; 3] {
    let title = |number| format!("Table {number} as printed (ms; {})", printed.machine);
    let one = printed.table1.iter().map(|it| vec![it.0.clone(), it.1.to_string(), it.2.to_string(), it.3.to_string()]);
    let two = printed.table2.iter();
    let two = two.map(|it| vec![it.0.clone(), it.1.clone(), it.2.to_string(), it.3.to_string(), it.4.to_string()]);
    let three = printed.table3.iter().map(|it| {
        let numbers = [it.2, it.3, it.4, it.5, it.6].map(|number| number.to_string());
        let f = format!("{} ({:.3e} by R²)", it.7, Printed::f_of(it.6));
        [it.0.clone(), it.1.to_string()].into_iter().chain(numbers).chain([f]).collect()
    });
    [
        grid(title(1), &["", "c0", "c1", "R²"], one.collect()),
        grid(title(2), &["", "l", "c0", "c1", "R²"], two.collect()),
        grid(title(3), &["", "l", "c0", "int", "double", "string", "R²", "F"], three.collect()),
    ]
}

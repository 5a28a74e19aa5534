//! The page of `deltasoap cost fit --html`, opened as a file.

use crate::tests::Test;
use crate::visit::{DESKTOP, Visit};
use anyhow::Result;

/// All tests, by their claims.
pub const TESTS: [(&str, Test); 2] = [
    ("the cost page has the paper's figures and tables", contents),
    ("every figure of the cost page is drawn", figures),
];

fn contents(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(DESKTOP, "")?;
    visit.check_text("h1", &["What messages cost"])?;
    let figures: Vec<String> = (3..=14).map(|number| format!("Figure {number}:")).collect();
    visit.check_text("main", &figures.iter().map(String::as_str).collect::<Vec<_>>())?;
    let tables = ["Table 1:", "Table 1 as printed", "Table 2:", "Table 2 as printed", "Table 3:", "Table 3 as printed"];
    visit.check_text("main", &tables)?;
    // The exponents of the paper's F values were lost in print.
    visit.check_text("main", &["without their exponents", "7.528 (7."])?;
    visit.screenshot("cost", true)
}

fn figures(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(DESKTOP, "")?;
    visit.check("document.querySelectorAll('.plot .scroll svg').length >= 12")?;
    visit.check(
        "[...document.querySelectorAll('.plot')].every((plot) => {
            const drawn = plot.querySelector('.scroll');
            const { width, height } = drawn.querySelector('svg').getBoundingClientRect();
            return width > 300 && height > 100 && drawn.ariaLabel.startsWith('Figure')
                && plot.querySelectorAll('circle, polyline, rect').length > 2;
        })",
    )
}

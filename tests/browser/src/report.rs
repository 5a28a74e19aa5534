//! The report of the benchmark suite, opened as a file: no server, no network.

use crate::tests::Test;
use crate::visit::{DESKTOP, PHONE, Screen, Visit};
use anyhow::Result;

/// All tests, by their claims.
pub const TESTS: [(&str, Test); 3] = [
    ("the report has the paper's tables, figures and all rows", contents),
    ("every plot of the report is drawn", plots),
    ("sections of the report fold", folding),
];

const DARK: Screen = Screen { is_dark: true, ..DESKTOP };

fn contents(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(DESKTOP, "")?;
    visit.check_text("h1", &["SOAP toolkits"])?;
    let exhibits =
        ["Table 1", "Table 2", "Table 3", "Figure 1", "Figure 2", "Figure 3", "Figure 4", "Figure 5", "Grid 2004"];
    visit.check_text("main", &exhibits)?;
    visit.check_text("main", &["deltasoap", "gsoap", "axisc++", "not built", "Bias"])?;
    visit
        .check("[...document.querySelectorAll('nav a')].every((link) => document.querySelector(link.hash) !== null)")?;
    visit.screenshot("report", true)?;
    visit.click("nav a[href='#rows-that-we-lose']")?;
    visit.wait("location.hash === '#rows-that-we-lose'")
}

fn plots(visit: &mut Visit<'_>) -> Result<()> {
    for screen in [DESKTOP, DARK] {
        visit.open(screen, "")?;
        visit.check("document.querySelectorAll('.plot .scroll svg').length >= 7")?;
        visit.check(
            "[...document.querySelectorAll('.plot .scroll svg')].every((plot) => {
                const { width, height } = plot.getBoundingClientRect();
                return width > 300 && height > 100 && plot.querySelectorAll('circle').length > 1;
            })",
        )?;
    }
    visit.screenshot("report-dark", false)
}

fn folding(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(PHONE, "")?;
    visit.check("document.querySelectorAll('details').length > 5")?;
    visit.click("details:not([open]) > summary")?;
    visit.wait("document.querySelector('details:not(.section)').open")?;
    visit.screenshot("report-phone", false)?;
    visit.click(".section > summary")?;
    visit.wait("!document.querySelector('.section').open")
}

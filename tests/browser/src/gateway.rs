//! The page of `deltasoap gateway`, which is Swagger UI.

use crate::tests::Test;
use crate::visit::{DESKTOP, Screen, Visit};
use anyhow::Result;

/// All tests, by their claims.
pub const TESTS: [(&str, Test); 2] = [
    ("a gateway's page lists the operations", operations),
    ("an operation is called from a gateway's page, in the dark too", call),
];

const DARK: Screen = Screen { is_dark: true, ..DESKTOP };

const LISTED: &str = "document.querySelectorAll('.opblock').length > 10";

fn operations(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(DESKTOP, "/")?;
    visit.wait(LISTED)?;
    visit.check_text("#page", &["OAS 3.1", "/operations/echoDoubles", "/operations/echoStruct", "POST"])?;
    visit.check("document.title === 'Bench'")?;
    visit.screenshot("gateway", true)?;
    visit.focus(".operation-filter-input")?;
    visit.type_text("STRUCT")?;
    visit.wait("document.querySelectorAll('.opblock').length < 10 && document.body.innerText.includes('/operations/echoStruct')")
}

fn call(visit: &mut Visit<'_>) -> Result<()> {
    for screen in [DESKTOP, DARK] {
        visit.open(screen, "/")?;
        visit.wait(LISTED)?;
        visit.click("[id$=echoStruct] .opblock-summary-control")?;
        visit.wait("document.querySelector('.opblock-body textarea')?.value.includes('name')")?;
        visit.click(".opblock-body button.execute")?;
        visit.wait(
            "document.querySelector('.live-responses-table tbody .response-col_status')?.innerText.startsWith('200')",
        )?;
        visit.check_text(".live-responses-table .highlight-code", &["\"name\""])?;
    }
    visit.screenshot("gateway-call", false)
}

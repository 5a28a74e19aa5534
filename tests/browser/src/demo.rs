//! The page of `deltasoap demo`, opened as a file.

use crate::tests::Test;
use crate::visit::{DESKTOP, Visit};
use anyhow::Result;

/// All tests, by their claims.
pub const TESTS: [(&str, Test); 1] = [("the demo's page begins with the result as a picture", picture)];

fn picture(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(DESKTOP, "")?;
    visit.check("document.querySelector('main').firstElementChild.matches('.plot')")?;
    visit.check("document.querySelector('.plot').getBoundingClientRect().bottom <= innerHeight")?;
    visit.screenshot("demo", true)
}

//! What people read: standard output, and errors with their causes.

use anyhow::Result;
use serde_json::Value as Json;
use std::error::Error;
use std::fmt::Display;
use std::io::{self, Write as _};

/// Prints a line. Who reads may have seen enough, as `head` has: that is an error here, and none for the command.
pub fn print_line(line: impl Display) -> Result<()> {
    Ok(writeln!(io::stdout(), "{line}")?)
}

/// Prints JSON for people.
pub fn print_json(json: &Json) -> Result<()> {
    print_line(serde_json::to_string_pretty(json)?)
}

/// An error with its causes, none of which is said twice: many errors say their cause themselves.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(current) = cause {
        let text = current.to_string();
        if !said.contains(&text) {
            said = format!("{said}: {text}");
        }
        cause = current.source();
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context as _, anyhow};

    #[test]
    fn causes_are_said_once() {
        let twice: Result<()> = Err(anyhow!("no entry")).context("no file: no entry").context("no WSDL");
        let error = twice.expect_err("an error");
        assert_eq!(with_causes(error.as_ref()), "no WSDL: no file: no entry");
    }
}

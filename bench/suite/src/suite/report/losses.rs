//! The reasons why deltasoap loses rows: `bench/definitions/losses.toml`, compiled in.

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::suite::definition::matches;

/// Reasons, by row.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Losses {
    loss: Vec<Loss>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Loss {
    row: String,
    to: Option<String>,
    why: String,
}

impl Losses {
    /// Reads the reasons.
    ///
    /// # Errors
    /// When the file is malformed.
    pub fn load() -> Result<Self> {
        toml::from_str(include_str!("../../../../definitions/losses.toml"))
            .context("bench/definitions/losses.toml is malformed")
    }

    /// Returns why a row is lost to a toolkit: the first matching reason.
    pub fn why(&self, row: &str, to: &str) -> Option<&str> {
        let is_meant = |loss: &&Loss| matches(&loss.row, row) && loss.to.as_ref().is_none_or(|name| name == to);
        self.loss.iter().find(is_meant).map(|loss| &*loss.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_found_by_row_and_winner() {
        let losses = Losses::load().unwrap();
        assert!(losses.why("calls/echoVoid/0: time", "gsoap").is_some());
        assert!(losses.why("calls/echoVoid/0: time", "cxf").is_none());
        assert!(losses.why("process/encode-structs/100000: memory", "gsoap").is_some());
    }
}

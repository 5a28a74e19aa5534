//! Why deltasoap loses rows: `bench/definitions/losses.toml`, compiled in.

use anyhow::{Context, Result};
use serde::Deserialize;

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

    /// Why a row is lost to a toolkit: the first reason that is there.
    pub fn why(&self, row: &str, to: &str) -> Option<&str> {
        let is_meant = |loss: &&Loss| matches(&loss.row, row) && loss.to.as_ref().is_none_or(|name| name == to);
        self.loss.iter().find(is_meant).map(|loss| &*loss.why)
    }
}

/// Whether a text is as a pattern says, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut left) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(place) = left.find(part) else { return false };
        left = &left[place + part.len()..];
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match() {
        for (pattern, text) in [("a", "a"), ("*", ""), ("a*", "abc"), ("*c", "abc"), ("a*c*e", "abcde"), ("a*a", "aa")]
        {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a", "ab"), ("a*a", "a"), ("*b", "abc"), ("a*x*e", "abcde")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn reasons_are_found_by_row_and_winner() {
        let losses = Losses::load().unwrap();
        assert!(losses.why("calls/echoVoid/0: time", "gsoap").is_some());
        assert!(losses.why("calls/echoVoid/0: time", "cxf").is_none());
        assert!(losses.why("process/encode-structs/100000: memory", "gsoap").is_some());
    }
}

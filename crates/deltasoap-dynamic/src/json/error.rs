//! JSON that does not match a schema.

use super::path::Path;
use std::fmt;

/// JSON that is not a value of the schema. Contains the position, and what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError(Box<Inner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    path: String,
    pointer: String,
    expected: String,
    found: String,
    /// Why the value is not accepted; empty if that is obvious.
    reason: String,
}

impl JsonError {
    #[cold]
    pub(crate) fn new(path: &Path<'_>, expected: impl Into<String>, found: impl Into<String>) -> Self {
        let (expected, found, reason) = (expected.into(), found.into(), String::new());
        JsonError(Box::new(Inner { path: path.to_string(), pointer: path.pointer(), expected, found, reason }))
    }

    /// Adds the reason why the value is not accepted.
    pub(crate) fn because(mut self, reason: impl Into<String>) -> Self {
        self.0.reason = reason.into();
        self
    }

    /// Returns the position in `jq` syntax: `.order.item[2]`; empty for the whole value.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Returns the position as a JSON pointer (RFC 6901): `/order/item/2`; empty for the whole
    /// value.
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }

    /// Returns the expected value.
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// Returns the value found.
    pub fn found(&self) -> &str {
        &self.0.found
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { path, expected, found, reason, .. } = &*self.0;
        let path = if path.is_empty() { "." } else { path };
        write!(f, "{path}: expected {expected}, found {found}")?;
        if reason.is_empty() { Ok(()) } else { write!(f, ": {reason}") }
    }
}

impl std::error::Error for JsonError {}

/// Returns a readable description of a JSON value.
pub(crate) fn kind(json: &serde_json::Value) -> String {
    use serde_json::Value::{Array, Bool, Null, Number, Object, String};
    match json {
        Null => "null".to_owned(),
        Bool(it) => format!("the boolean {it}"),
        Number(it) => format!("the number {}", excerpt(&it.to_string())),
        String(it) => format!("the string {:?}", excerpt(it)),
        Array(items) => format!("an array of {}", items.len()),
        Object(_) => "an object".to_owned(),
    }
}

fn excerpt(text: &str) -> String {
    const MAX_CHARACTERS: usize = 60;
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

//! Values that a column cannot hold.

use deltasoap_core::PartUri;
use deltasoap_dynamic::JsonError;

/// The reason why a message adds no row.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct AppendError {
    /// The place in the message, as in the errors of JSON: `.order.item[3].price`.
    pub path: String,
    /// What is wrong there.
    pub reason: Misfit,
}

/// Why a column cannot hold a value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// The value is beyond the range or the digits of its column.
    #[error("{value} does not fit into a column of {column}")]
    Range {
        /// The start of the value.
        value: String,
        /// The type of the column.
        column: &'static str,
    },
    /// The bytes are in another part of the message's package, which the capture does not have.
    #[error("its bytes are in the part {0}, which is missing")]
    MissingPart(PartUri),
    /// The column of one batch would have more than 2 GiB.
    #[error("the column is full: 2 GiB in a batch")]
    Full,
    /// The value does not have the shape that its schema defines.
    #[error("a value of another shape than its schema")]
    Shape,
    /// It cannot be written as JSON.
    #[error("no JSON: {0}")]
    Json(Box<JsonError>),
}

impl AppendError {
    /// Adds a step to the front of the path.
    pub(crate) fn within(mut self, key: &str) -> Self {
        self.path.insert_str(0, key);
        self.path.insert(0, '.');
        self
    }

    /// Adds the index of an item to the front of the path.
    pub(crate) fn at(mut self, index: usize) -> Self {
        self.path.insert_str(0, &format!("[{index}]"));
        self
    }
}

impl From<Misfit> for AppendError {
    fn from(reason: Misfit) -> Self {
        AppendError { path: String::new(), reason }
    }
}

impl Misfit {
    /// Returns the error for a value that its column cannot hold.
    #[cold]
    pub(crate) fn range(value: &dyn std::fmt::Display, column: &'static str) -> Self {
        const SHOWN: usize = 60;
        Misfit::Range { value: value.to_string().chars().take(SHOWN).collect(), column }
    }
}

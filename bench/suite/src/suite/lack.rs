//! Why there is nothing to measure of a toolkit.

use std::time::Duration;

/// Why a toolkit has no number in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lack {
    /// It is not there, cannot do that, or is not let.
    Absent(String),
    /// It has failed: its process may be of no use any more.
    Failed(String),
}

impl Lack {
    /// For an error with all its causes.
    pub fn failed(error: &anyhow::Error) -> Self {
        Lack::Failed(format!("{error:#}"))
    }

    /// For a run that nobody is going to wait for.
    pub fn too_long(expected: Duration, most: Duration) -> Self {
        let (expected, most) = (expected.as_secs_f64(), most.as_secs());
        Lack::Absent(format!(
            "a run would take {expected:.0} s by those of fewer items, and {most} s are the most here"
        ))
    }

    /// The words for the row.
    pub fn reason(self) -> String {
        match self {
            Lack::Absent(reason) | Lack::Failed(reason) => reason,
        }
    }
}

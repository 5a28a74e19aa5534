//! Printed reports: a table for people, or a JSON object per line for programs.

mod json;
mod send;
mod similar;
mod table;

pub use json::print as print_json;
pub use send::{change, print_json as print_send_json, table as send_table};
pub use similar::{Counts, print_json as print_stream_json, table as stream_table};
pub use table::{REFERENCE, list, table};

use crate::measure::Figures;
use crate::workload::Workload;

/// The result of an engine in a workload.
#[derive(Debug, Clone)]
pub struct Row<'w> {
    /// The workload.
    pub workload: &'w Workload,
    /// The engine's name.
    pub engine: String,
    /// Number of elements, or of bytes.
    pub n: usize,
    /// The measurement, or the reason why there is none.
    pub outcome: Result<Figures, String>,
}

impl Row<'_> {
    /// Returns true if both are about the same work.
    fn is_same_work(&self, other: &Row<'_>) -> bool {
        self.workload.name == other.workload.name && self.n == other.n
    }
}

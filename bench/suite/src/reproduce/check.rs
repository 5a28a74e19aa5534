//! Whether another machine comes to the same.

use std::path::Path;

use anyhow::{Context, Result};
use deltasoap_report::agreement::{compare, counts, grid};

use super::index::{self, Index};

/// Prints how the verdicts compare with those of another record; false if counts or bytes differ.
///
/// # Errors
/// When there is no such record.
pub fn run(index: &Index<'_>, other: &Path, is_json: bool) -> Result<bool> {
    let there = index::read(other).with_context(|| format!("cannot compare with {}", other.display()))?;
    let all = compare(&index.recorded()?, &there);
    if is_json {
        for agreement in &all {
            println!("{}", serde_json::to_string(agreement)?);
        }
    } else {
        println!("\n{}\n\n{}", grid(&all).markdown(), counts(&all));
    }
    let failures: Vec<_> = all.iter().filter(|it| it.is_failure()).collect();
    for it in &failures {
        eprintln!("error: {}, {}: counts or bytes differ from those of {}", it.paper, it.key, other.display());
    }
    Ok(failures.is_empty())
}

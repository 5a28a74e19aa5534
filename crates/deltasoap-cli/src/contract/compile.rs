//! `compile`: a WSDL as a file that loads at once.

use super::import;
use crate::cli::Compile;
use crate::output::print_line;
use anyhow::{Context as _, Result, ensure};
use std::path::Path;

/// Writes the compiled description.
pub fn compile(arguments: &Compile) -> Result<()> {
    let import = import(&arguments.description)?;
    let file = import.compile();
    let output = &arguments.output;
    let is_itself = is_same_file(Path::new(&arguments.description.wsdl), output);
    ensure!(!is_itself, "{} is the WSDL itself: name another file with --output", output.display());
    std::fs::write(&arguments.output, &file).with_context(|| arguments.output.display().to_string())?;
    let documents = import.documents().len();
    print_line(format_args!("{}: {} bytes, from {documents} documents", arguments.output.display(), file.len()))
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

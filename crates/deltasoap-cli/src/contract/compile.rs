//! `compile`: a WSDL as a file that loads at once.

use super::import;
use crate::cli::Compile;
use crate::output::print_line;
use anyhow::{Context as _, Result};

/// Writes the compiled description.
pub fn compile(arguments: &Compile) -> Result<()> {
    let import = import(&arguments.description)?;
    let file = import.compile();
    std::fs::write(&arguments.output, &file).with_context(|| arguments.output.display().to_string())?;
    let documents = import.documents().len();
    print_line(format_args!("{}: {} bytes, from {documents} documents", arguments.output.display(), file.len()))
}

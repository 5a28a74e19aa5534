//! `compile`: writes a WSDL as a file that loads quickly.

use super::import;
use crate::cli::Compile;
use crate::files;
use crate::output::print_line;
use anyhow::Result;

/// Writes the compiled WSDL.
pub fn compile(arguments: &Compile) -> Result<()> {
    let import = import(&arguments.description)?;
    let file = import.compile();
    files::write_output(&arguments.output, &file, &import)?;
    let documents = import.documents().len();
    print_line(format_args!("{}: {} bytes, from {documents} documents", arguments.output.display(), file.len()))
}

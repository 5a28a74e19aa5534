//! `deltasoap generate`: Rust for a WSDL.

use anyhow::{Context, Result};
use clap::Args;
use deltasoap_codegen::Builder;
use std::path::PathBuf;

/// What to generate from, and where to.
#[derive(Debug, Args)]
pub struct Generate {
    /// A file, a directory or a zip archive, or a URL
    pub wsdl: String,
    /// The file that is written; standard output by default
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

pub fn run(arguments: &Generate) -> Result<()> {
    let generated = Builder::new(&arguments.wsdl).module_file().generate()?;
    match &arguments.output {
        None => print!("{}", generated.code),
        Some(path) => std::fs::write(path, generated.code).with_context(|| path.display().to_string())?,
    }
    Ok(())
}

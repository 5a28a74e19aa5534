//! `deltasoap generate`: Rust for a WSDL.

use crate::cli::Description;
use crate::contract::importer;
use anyhow::{Context, Result};
use clap::Args;
use deltasoap_codegen::Builder;
use std::path::PathBuf;

/// What to generate from, and where to.
#[derive(Debug, Args)]
pub struct Generate {
    #[command(flatten)]
    pub description: Description,
    /// The file that is written; standard output by default
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

pub fn run(arguments: &Generate) -> Result<()> {
    let generated = Builder::new(&arguments.description.wsdl)
        .importer(importer(&arguments.description)?)
        .module_file()
        .generate()?;
    match &arguments.output {
        None => print!("{}", generated.code),
        Some(path) => std::fs::write(path, generated.code).with_context(|| path.display().to_string())?,
    }
    Ok(())
}

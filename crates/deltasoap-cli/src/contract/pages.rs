//! `completions` and `man`: generated from the definitions of the command line.

use crate::cli::{Arguments, Completions, Man};
use crate::output::exact_stdout;
use anyhow::{Context as _, Result};
use clap::CommandFactory;
use std::io::Write as _;

/// Prints the script for a shell.
pub fn completions(arguments: &Completions) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "deltasoap", &mut script);
    Ok(exact_stdout().write_all(&script)?)
}

/// Prints the command's manual page, or writes one for each command.
pub fn man(arguments: &Man) -> Result<()> {
    match &arguments.dir {
        Some(folder) => {
            std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be created", folder.display()))?;
            Ok(clap_mangen::generate_to(Arguments::command(), folder)?)
        }
        None => Ok(clap_mangen::Man::new(Arguments::command()).render(&mut exact_stdout())?),
    }
}

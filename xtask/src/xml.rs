//! `cargo xtask xml`: compares the XML reader with expat and libxml2, over the W3C's suite and over
//! mutated messages; and canonical forms with those of libxml2.
//!
//! The comparison is a separate program, `tests/xml`, which runs both parsers in Python: expat is
//! part of it, libxml2 comes with lxml. Canonical forms of elements need more of libxml2 than lxml
//! shows, so that is the system's library.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::shell::Profile;
use crate::{debian, python, shell};

#[derive(clap::Args)]
pub struct Arguments {
    /// Number of mutated documents
    #[arg(long, default_value_t = 100_000)]
    mutations: u64,
    /// Number of documents whose canonical forms are compared
    #[arg(long, default_value_t = 10_000)]
    canonical: u64,
    /// Seed of the mutations
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A folder with more documents to mutate, in addition to the project's own (repeatable)
    #[arg(long, value_name = "FOLDER")]
    seeds: Vec<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let lock = shell::root().join("tests/xml/requirements.txt");
    let python = python::environment("xml", &lock)?;
    debian::install(&["libxml2-dev"])?;
    let mut test = shell::ours("deltasoap-xml-test", Profile::Fast);
    test.arg("--mutations").arg(arguments.mutations.to_string()).arg("--seed").arg(arguments.seed.to_string());
    test.arg("--canonical").arg(arguments.canonical.to_string());
    for folder in &arguments.seeds {
        let folder = folder.canonicalize().with_context(|| format!("no folder {}", folder.display()))?;
        test.arg("--seeds").arg(folder);
    }
    let status = test.arg("--python").arg(python).status().context("cannot start cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

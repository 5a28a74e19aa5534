//! `generate`: generates Rust or Python for a WSDL.

use super::{contract, policy_warnings, report_notes};
use crate::cli::Generate;
use crate::files;
use crate::output::{exact_stdout, report};
use anyhow::{Context as _, Result};
use deltasoap_codegen::{Builder, Generated, Python};
use deltasoap_wsdl::NoteKind;
use std::io::Write as _;
use std::process::ExitCode;

/// Generates code, prints or writes it, and reports what is missing. It fails if operations are
/// missing: `--operation` selects the others.
pub fn generate(arguments: &Generate) -> Result<ExitCode> {
    let source = &arguments.description.wsdl;
    let contract = contract(&arguments.description)?;
    let import = contract.description();
    let builder = Builder::new(source).module_file();
    let builder = builder.operations(&arguments.operations).types(&arguments.types);
    let builder = builder.build_client(!arguments.no_client).build_server(!arguments.no_server);
    let builder = builder.unknown_enum_values(arguments.unknown_enum_values).serde(arguments.serde);
    let style = python(arguments);
    let builder = style.into_iter().fold(builder, Builder::python);
    let Generated { code, omitted, .. } = builder.generate_for(import).with_context(|| source.clone())?;
    let is_empty = match style {
        None => !code.contains("pub "),
        Some(_) => !code.contains("\nclass ") && !code.contains(": TypeAlias = "),
    };
    match &arguments.output {
        None => exact_stdout().write_all(code.as_bytes())?,
        Some(path) => files::write_output(path, code.as_bytes(), import)?,
    }
    if is_empty {
        report("warning: there is nothing to generate: no operations with a SOAP binding, and no types");
    }
    let read = [NoteKind::Invalid, NoteKind::Tolerated];
    let missing = import.notes().iter().filter(|note| !read.contains(&note.kind));
    missing.for_each(|note| report(format_args!("warning: {note}")));
    report_notes(&contract, &read);
    omitted.iter().for_each(|it| report(format_args!("error: left out: {it}")));
    policy_warnings(&contract.operations()).iter().for_each(|warning| report(format_args!("warning: {warning}")));
    Ok(if omitted.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns what Python is generated; `None` for Rust.
fn python(arguments: &Generate) -> Option<Python> {
    match (arguments.pydantic, arguments.stub) {
        _ if !arguments.python => None,
        (true, _) => Some(Python::Pydantic),
        (_, true) => Some(Python::Stub),
        (false, false) => Some(Python::Dataclasses),
    }
}

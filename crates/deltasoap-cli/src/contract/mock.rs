//! `mock`: a stand-in for the service of a WSDL.

use super::documents::{Documents, builder_from_files};
use super::security::secures_messages;
use super::{INTERPRETATION_NOTES, MAX_DEVIATIONS, import_with, policy_warnings, report_notes, warn_of_all};
use crate::cli::{self, ToleranceName};
use crate::listening::listen;
use crate::output::{print_line, report};
use crate::services::processors;
use anyhow::{Context as _, Result, ensure};
use deltasoap::engine::{Deviation, DeviationKind, Tolerance};
use deltasoap_dynamic::{Contract, Mock, Validation};
use deltasoap_http::{SoapService, SoapServiceBuilder, shutdown_signal};
use deltasoap_wsdl::Import;
use std::path::{Path, PathBuf};

/// Serves a WSDL until the process is told to stop.
pub async fn mock(arguments: &cli::Mock) -> Result<()> {
    let documents = Documents::default();
    let cli::Description { wsdl, loading } = &arguments.description;
    let contract = Contract::from(import_with(wsdl, loading, |client| documents.kept_by(client))?);
    let operations = contract.operations();
    let usable = operations.iter().filter(|operation| operation.method().is_ok()).count();
    ensure!(usable > 0, "{} has no operation that can be served", arguments.description.wsdl);
    let unusable = operations.iter().filter_map(|operation| operation.method().err());
    unusable.for_each(|error| report(format_args!("warning: {error}")));
    report_notes(&contract, &INTERPRETATION_NOTES);
    policy_warnings(&operations).iter().for_each(|warning| report(format_args!("warning: {warning}")));
    if operations.iter().any(|operation| secures_messages(&operation.policies())) {
        report("warning: the policies of the WSDL require security, which the mock neither checks nor adds");
    }
    let validation = validation(arguments);
    let validator = contract.clone();
    let described = described(&arguments.description.wsdl, contract.description(), &documents);
    let mut mock = Mock::new(contract);
    for (other, first) in mock.indistinguishable() {
        report(format_args!(
            "warning: requests of {other} have the same element and action as those of {first}, and are answered like them"
        ));
    }
    if let Some(replies) = &arguments.replies {
        // Recorded answers are decoded at least as tolerantly as clients decode them.
        let tolerance = Tolerance::Unknown.max(arguments.tolerance.into());
        mock = mock.tolerance(tolerance).recorded(replies).context("the replies cannot be used")?;
        warn_of_all(mock.deviations().map(warning), MAX_DEVIATIONS, "deviations from the WSDL");
    }
    let is_described = described.is_some();
    let builder = described.unwrap_or_else(SoapService::builder).name("Mock");
    let builder = builder.references(!arguments.copies).tolerance(arguments.tolerance.into());
    let builder = builder.validate(validator, validation);
    serve(arguments, mock.mount(builder).build()?, is_described).await
}

/// Describes what a recorded answer has beyond the WSDL, and what happens to it.
fn warning((path, deviation): (&Path, &Deviation)) -> String {
    use DeviationKind::{BesideNil, Namesake, UnknownAttribute, UnknownElement};
    let becomes = match deviation.kind {
        UnknownElement | Namesake | UnknownAttribute | BesideNil => ", which is not sent",
        _ => "",
    };
    format!("{}: {deviation}{becomes}", path.display())
}

/// Returns how invalid requests are handled: what is tolerated on purpose is at most reported.
fn validation(arguments: &cli::Mock) -> Validation {
    match arguments.validation {
        Some(name) => name.into(),
        None if arguments.tolerance == ToleranceName::Strict => Validation::Refuse,
        None => Validation::Report,
    }
}

/// Creates a service that serves the WSDL with all its imports, if they are available and can be
/// served.
pub(super) fn described(source: &str, import: &Import, documents: &Documents) -> Option<SoapServiceBuilder> {
    let with_documents = || match file(Path::new(source)) {
        Some(_) => builder_from_files(import),
        None => documents.described(source),
    };
    let can_be_served = with_documents()?.build().is_ok();
    if can_be_served { with_documents() } else { None }
}

/// Returns the file of the WSDL: the path itself, or the only WSDL in that directory.
fn file(path: &Path) -> Option<PathBuf> {
    let has_extension = |path: &Path, wanted| path.extension().is_some_and(|it| it.eq_ignore_ascii_case(wanted));
    if !path.is_dir() {
        return (path.is_file() && !has_extension(path, "zip")).then(|| path.to_owned());
    }
    let files = path.read_dir().ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files = files.filter(|path| has_extension(path, "wsdl"));
    files.next().filter(|_| files.next().is_none())
}

async fn serve(arguments: &cli::Mock, service: SoapService, is_described: bool) -> Result<()> {
    let server = listen(arguments.listen, arguments.takeover).await?;
    let address = server.local_addr()?;
    print_line(format_args!("listening on http://{address}/"))?;
    if is_described {
        print_line(format_args!("WSDL at http://{address}/?wsdl"))?;
    }
    Ok(server.worker_threads(processors()).serve_with_shutdown(service, shutdown_signal()).await?)
}

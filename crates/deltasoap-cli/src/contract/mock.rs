//! `mock`: a service that is not there.

use super::{contract, print_line};
use crate::cli;
use anyhow::{Context as _, Result, ensure};
use deltasoap_dynamic::Mock;
use deltasoap_http::{Server, SoapService};
use std::path::Path;

/// Serves a WSDL until interrupted.
pub async fn mock(arguments: &cli::Mock) -> Result<()> {
    let contract = contract(&arguments.description)?;
    let operations = contract.operations();
    let usable = operations.iter().filter(|operation| operation.method().is_ok()).count();
    ensure!(usable > 0, "{} has no operation that can be served", arguments.description.wsdl);
    let unusable = operations.iter().filter_map(|operation| operation.method().err());
    unusable.for_each(|error| eprintln!("warning: {error}"));
    let mut mock = Mock::new(contract);
    if let Some(replies) = &arguments.replies {
        mock = mock.recorded(replies).context("the replies cannot be used")?;
    }
    let mut builder = SoapService::builder().name("Mock");
    let text = description(&arguments.description.wsdl);
    if let Some(text) = &text {
        builder = builder.wsdl(text);
    }
    serve(arguments, mock.mount(builder).build()?, text.is_some()).await
}

/// The WSDL's text, if it is one file.
fn description(source: &str) -> Option<String> {
    let path = Path::new(source);
    let is_archive = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("zip"));
    if path.is_file() && !is_archive { std::fs::read_to_string(path).ok() } else { None }
}

async fn serve(arguments: &cli::Mock, service: SoapService, is_described: bool) -> Result<()> {
    let server = Server::bind(arguments.listen).await.with_context(|| {
        format!(
            "cannot listen on {}; is another server running there? --listen takes another address",
            arguments.listen
        )
    })?;
    let address = server.local_addr()?;
    print_line(format_args!("listening on http://{address}/"))?;
    if is_described {
        print_line(format_args!("description at http://{address}/?wsdl"))?;
    }
    let handle = server.handle();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            handle.shutdown();
        }
    });
    server.serve(service).await?;
    Ok(())
}

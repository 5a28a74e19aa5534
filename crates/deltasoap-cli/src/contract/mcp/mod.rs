//! `mcp`: a server of the Model Context Protocol, so that language models call a service.
//!
//! It has three tools, whatever the size of the WSDL: `search` finds operations, `describe` shows
//! the types of one, `call` calls it ([`tools`]). Answers are cut to a size that fits a model's
//! context ([`trim`]). The protocol itself is that of the crate rmcp.

mod secrets;
mod tools;
mod trim;

use super::access::{credentials, transport};
use super::call::service_url;
use super::{INTERPRETATION_NOTES, contract, operation, report_notes};
use crate::cli::{Description, Mcp};
use crate::output::{one_line, print_line, report};
use anyhow::{Context as _, Result, bail};
use deltasoap_dynamic::{DynamicClient, Operation};
use deltasoap_wsdl::fetch::shown;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use secrets::Secrets;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tools::{Service, Tool};

/// Serves a WSDL's operations to language models: on standard input and output, or over HTTP.
pub async fn mcp(arguments: &Mcp) -> Result<()> {
    let contract = contract(&arguments.description)?;
    report_notes(&contract, &INTERPRETATION_NOTES);
    let operations = contract.operations();
    if operations.is_empty() {
        bail!("{} has no operations with a SOAP binding", shown(&arguments.description.wsdl));
    }
    let allowed = allowed(arguments, &contract, &operations)?;
    let access = &arguments.description.loading.access;
    let credentials = credentials(access)?;
    let mut client = DynamicClient::with_transport(contract, transport(access)?);
    if let Some(url) = &arguments.endpoint {
        client = client.endpoint(url.clone());
    }
    let (tolerance, timeout) = (arguments.tolerance.into(), Duration::from_secs(arguments.timeout));
    let client = client.configure(move |builder| {
        let builder = builder.tolerance(tolerance).timeout(timeout);
        match &credentials {
            Some(credentials) => builder.credentials(credentials.clone()),
            None => builder,
        }
    });
    let service = Service {
        client,
        allowed,
        headers: access.headers.clone(),
        max_answer: arguments.max_answer as usize,
        secrets: Secrets::of(access, arguments.endpoint.as_deref())?,
    };
    serve(Handler { service: Arc::new(service), name: title(&operations) }, arguments.listen).await
}

/// Returns the operations that the model may call, by their full names. Those that the arguments do
/// not name must look as if they only read, and their URL must be one that `call` would go to.
fn allowed(
    arguments: &Mcp,
    contract: &deltasoap_dynamic::Contract,
    operations: &[Operation],
) -> Result<BTreeSet<String>> {
    let Description { wsdl, loading } = &arguments.description;
    let named = arguments.allow.iter().map(|name| operation(contract, wsdl, name).map(|it| it.full_name()));
    let named: BTreeSet<String> = named.collect::<Result<_>>()?;
    let is_wanted = |it: &&Operation| {
        let is_read = !arguments.only && tools::seems_to_read(it.name());
        named.contains(&it.full_name()) || arguments.allow_all || is_read
    };
    let mut allowed = BTreeSet::new();
    for operation in operations.iter().filter(is_wanted) {
        match service_url(wsdl, loading, arguments.endpoint.as_deref(), operation) {
            Ok(_) => drop(allowed.insert(operation.full_name())),
            Err(why) => report(format_args!("warning: {} is not offered: {why:#}", operation.full_name())),
        }
    }
    Ok(allowed)
}

/// Returns what the model is told that the tools are for.
fn title(operations: &[Operation]) -> String {
    let names: BTreeSet<_> =
        operations.iter().filter_map(Operation::service).map(|it| it.name.local.to_string()).collect();
    let names = names.into_iter().take(MAX_NAMED_SERVICES).collect::<Vec<_>>().join(", ");
    if names.is_empty() { "a SOAP service".to_owned() } else { one_line(&names) }
}

/// Number of services whose names are part of the server's description.
const MAX_NAMED_SERVICES: usize = 5;

async fn serve(handler: Handler, listen: Option<SocketAddr>) -> Result<()> {
    match listen {
        None => {
            let running = handler.serve(stdio()).await.context("the client did not begin a session")?;
            running.waiting().await.context("the session ended early")?;
        }
        Some(address) => serve_http(handler, address).await?,
    }
    Ok(())
}

/// Serves streamable HTTP at `/mcp`. Requests must name this machine as their host, and must not
/// come from the page of another one.
async fn serve_http(handler: Handler, address: SocketAddr) -> Result<()> {
    let listener =
        tokio::net::TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
    let address = listener.local_addr()?;
    let configuration = StreamableHttpServerConfig::default().enforce_origin_validation();
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, configuration);
    print_line(format_args!("listening on http://{address}/mcp"))?;
    let router = axum::Router::new().nest_service("/mcp", service);
    axum::serve(listener, router).with_graceful_shutdown(deltasoap_http::shutdown_signal()).await?;
    Ok(())
}

/// The handler of one session.
#[derive(Clone)]
struct Handler {
    service: Arc<Service>,
    /// Name of what is served.
    name: String,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let instructions = format!(
            "Calls {}, a SOAP service. `search` for an operation, `describe` it, then `call` it with a request in \
             JSON; `select` keeps answers small.",
            self.name
        );
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("deltasoap", env!("CARGO_PKG_VERSION")))
            .with_instructions(instructions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(Tool::ALL.map(Tool::declared).to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = Tool::named(&request.name) else {
            return Err(ErrorData::invalid_params(format!("there is no tool {:?}", request.name), None));
        };
        let outcome = self.service.run(tool, request.arguments.unwrap_or_default()).await;
        let text = |text: &str| vec![ContentBlock::text(self.service.secrets.hidden(text))];
        Ok(match outcome {
            Ok(answer) => CallToolResult::success(text(&answer)),
            Err(error) => CallToolResult::error(text(&error)),
        }
        .into())
    }
}

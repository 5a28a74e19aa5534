//! `serve`: our server of `suite.wsdl`, in a separate process.
//!
//! Unlike `deltasoap serve`, it can switch off one direction of differential mode without the
//! other.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use deltasoap::tls::{Identity, ServerTls};
use deltasoap::transport::Compression;
use deltasoap::{Server, SoapService};
use tokio::runtime::Builder;

use super::calls::Mode;
use super::operations;

const WSDL: &str = include_str!("../../../definitions/suite.wsdl");

/// Idle timeout of a connection: a client waits while others are measured. Other servers get the
/// same value.
const IDLE_TIMEOUT: Duration = Duration::from_secs(3600);

/// Options of the server.
#[derive(Debug, clap::Args)]
pub struct ServeArguments {
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Directions that use differential mode
    #[arg(long, value_enum, default_value = "both")]
    mode: Mode,
    /// Compress answers with gzip if the client accepts it
    #[arg(long)]
    gzip: bool,
    /// Use TLS, with the certificates of this PEM file
    #[arg(long, requires = "tls_key", value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// The certificate's private key, a PEM file
    #[arg(long, requires = "tls_cert", value_name = "FILE")]
    tls_key: Option<PathBuf>,
}

/// Serves until the process is killed.
///
/// # Errors
/// When it cannot listen, or a file cannot be read.
pub fn run(arguments: &ServeArguments) -> Result<ExitCode> {
    // As in `deltasoap serve`: tasks in the global queue are not delayed.
    let runtime = Builder::new_multi_thread().enable_all().global_queue_interval(1).build()?;
    runtime.block_on(serve(arguments))?;
    Ok(ExitCode::SUCCESS)
}

async fn serve(arguments: &ServeArguments) -> Result<()> {
    let server =
        Server::bind(arguments.listen).await.with_context(|| format!("cannot listen on {}", arguments.listen))?;
    let server = server.header_read_timeout(IDLE_TIMEOUT);
    let (address, service) = (server.local_addr()?, service(arguments)?);
    let (scheme, server) = match (&arguments.tls_cert, &arguments.tls_key) {
        (Some(certificate), Some(key)) => ("https", server.tls(ServerTls::new(identity(certificate, key)?))?),
        _ => ("http", server),
    };
    println!("listening on {scheme}://{address}/bench");
    Ok(server.serve(service).await?)
}

fn service(arguments: &ServeArguments) -> Result<SoapService> {
    let (differential, templating) = (arguments.mode.differential(), arguments.mode.templating());
    let compression = if arguments.gzip { Compression::ALWAYS } else { Compression::OFF };
    let builder = SoapService::builder().name("Suite").wsdl(WSDL);
    let builder = builder.differential(differential).templating(templating).compression(compression);
    Ok(operations::serve(builder).build()?)
}

fn identity(certificate: &Path, key: &Path) -> Result<Identity> {
    let read = |file: &Path| std::fs::read(file).with_context(|| format!("cannot read {}", file.display()));
    Identity::from_pem(read(certificate)?, read(key)?).context("the files are not a certificate and its private key")
}

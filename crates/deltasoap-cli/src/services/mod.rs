//! The demo's services, one a module, and the router that they are mounted in.

pub mod bench;
mod metrics;
pub mod tr069;
pub mod vsphere;

use crate::cli::Serve;
use anyhow::{Context as _, Result};
use axum::Router;
use deltasoap::{Differential, Templating};
use deltasoap_http::{Compression, Identity, Server, ServerTls, ServiceBuilder, Sharing, SoapService};
use std::path::Path;

/// All services.
pub struct Services {
    pub tr069: SoapService,
    pub vsphere: SoapService,
    pub bench: SoapService,
}

/// Where each service is mounted.
pub const PATHS: [&str; 3] = ["/bench", "/tr069", "/vsphere"];

impl Services {
    /// Builds services that read requests and write responses so; reads the recorded vSphere sessions.
    pub fn new(differential: Differential, templating: Templating, sharing: Sharing) -> Result<Self> {
        Self::of(&|| SoapService::builder().differential(differential).templating(templating).sharing(sharing))
    }

    /// Builds services with the defaults, whose responses are compressed so.
    fn compressed(compression: Compression) -> Result<Self> {
        Self::of(&|| SoapService::builder().compression(compression))
    }

    fn of(builder: &dyn Fn() -> ServiceBuilder) -> Result<Self> {
        Ok(Services {
            tr069: tr069::service(builder())?,
            vsphere: vsphere::service(builder())?,
            bench: bench::service(builder())?,
        })
    }

    /// A router with every service under its path.
    pub fn router(&self) -> Router {
        Router::new()
            .route_service("/bench", self.bench.clone())
            .route_service("/tr069", self.tr069.clone())
            .route_service("/vsphere", self.vsphere.clone())
    }
}

/// Serves until interrupted.
pub async fn serve(arguments: &Serve) -> Result<()> {
    let recorder = metrics::install()?;
    let services = Services::compressed(arguments.gzip_from.map_or(Compression::OFF, Compression::from_bytes))?;
    let server = bind(arguments).await?;
    let (scheme, address) = (if arguments.tls_cert.is_some() { "https" } else { "http" }, server.local_addr()?);
    for path in PATHS {
        println!("listening on {scheme}://{address}{path}");
    }
    println!("metrics at {scheme}://{address}{}", metrics::PATH);
    let handle = server.handle();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            handle.shutdown();
        }
    });
    let router = services.router().merge(metrics::router(recorder));
    server.serve(router.into_service()).await?;
    Ok(())
}

async fn bind(arguments: &Serve) -> Result<Server> {
    let server = Server::bind(arguments.listen)
        .await
        .with_context(|| format!("cannot listen on {}; is another server running there?", arguments.listen))?;
    match (&arguments.tls_cert, &arguments.tls_key) {
        (Some(certificate), Some(key)) => Ok(server.tls(ServerTls::new(identity(certificate, key)?))?),
        _ => Ok(server),
    }
}

fn identity(certificate: &Path, key: &Path) -> Result<Identity> {
    let read = |file: &Path| std::fs::read(file).with_context(|| format!("cannot read {}", file.display()));
    let identity = Identity::from_pem(read(certificate)?, read(key)?);
    identity.with_context(|| format!("{} and {} do not hold an identity", certificate.display(), key.display()))
}

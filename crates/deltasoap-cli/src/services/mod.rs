//! The demo's services, one a module, and the router that they are mounted in.

pub mod bench;
mod metrics;
pub mod tr069;
pub mod vsphere;

use crate::cli::Serve;
use anyhow::{Context as _, Result};
use axum::Router;
use deltasoap::{Differential, Templating};
use deltasoap_http::{Server, Sharing, SoapService};

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
        let builder = || SoapService::builder().differential(differential).templating(templating).sharing(sharing);
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
    let (differential, templating) = match arguments.regular {
        true => (Differential::OFF, Templating::OFF),
        false => (Differential::default(), Templating::default()),
    };
    let services = Services::new(differential, templating, Sharing::default())?;
    let server = Server::bind(arguments.listen)
        .await
        .with_context(|| format!("cannot listen on {}; is another server running there?", arguments.listen))?;
    let address = server.local_addr()?;
    for path in PATHS {
        println!("listening on http://{address}{path}");
    }
    println!("metrics at http://{address}{}", metrics::PATH);
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

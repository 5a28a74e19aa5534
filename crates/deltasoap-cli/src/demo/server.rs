//! A server in this process, on loopback.

use crate::services::Services;
use anyhow::{Context as _, Result};
use deltasoap_http::{Server, ServerHandle};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::task::JoinHandle;

/// A server with the demo's services.
pub struct DemoServer {
    pub services: Services,
    address: SocketAddr,
    handle: ServerHandle,
    serving: JoinHandle<io::Result<()>>,
}

impl DemoServer {
    /// Starts a server on a free port.
    pub async fn start(services: Services) -> Result<Self> {
        let server = Server::bind((Ipv4Addr::LOCALHOST, 0)).await.context("cannot listen on 127.0.0.1")?;
        let (address, handle) = (server.local_addr()?, server.handle());
        let serving = tokio::spawn(server.serve(services.router().into_service()));
        Ok(DemoServer { services, address, handle, serving })
    }

    /// Returns the URL of the service mounted at `path`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Stops the server.
    pub async fn stop(self) -> Result<()> {
        self.handle.shutdown();
        Ok(self.serving.await??)
    }
}

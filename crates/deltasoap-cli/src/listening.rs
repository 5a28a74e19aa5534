//! Where servers listen: on an address, which they may share with their successors, or on a socket that
//! systemd holds while they are replaced.

use crate::cli::Takeover;
use anyhow::{Context, Result, ensure};
use deltasoap_http::Server;
use std::net::SocketAddr;

/// Listens on the socket that systemd passes on (`LISTEN_FDS`), or else on an address.
pub async fn listen(address: SocketAddr, takeover: Takeover) -> Result<Server> {
    if let Some(server) = inherited()? {
        return Ok(server);
    }
    let server = match takeover.reuse_port {
        false => Server::bind(address).await,
        true => reusing_port(address),
    };
    server.context("--listen takes another address")
}

#[cfg(unix)]
fn reusing_port(address: SocketAddr) -> std::io::Result<Server> {
    Server::bind_reusing_port(address)
}

#[cfg(not(unix))]
fn reusing_port(_: SocketAddr) -> std::io::Result<Server> {
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "--reuse-port is for Unix"))
}

/// Returns the server on the first socket that systemd passes on, if it does.
fn inherited() -> Result<Option<Server>> {
    let taken = listenfd::ListenFd::from_env().take_tcp_listener(0);
    let Some(listener) = taken.context("LISTEN_FDS: the first socket is not one that listens on TCP")? else {
        return Ok(None);
    };
    // systemd passes on connections too, with `Accept=yes`.
    ensure!(
        socket2::SockRef::from(&listener).is_listener().unwrap_or(true),
        "LISTEN_FDS: the first socket does not listen; set Accept=no in the socket unit"
    );
    listener.set_nonblocking(true)?;
    Ok(Some(Server::from_listener(tokio::net::TcpListener::from_std(listener)?)))
}

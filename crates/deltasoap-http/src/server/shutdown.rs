//! The signals by which a process is told to stop.

/// Completes when the process is told to stop: by SIGTERM, which service managers and containers
/// send, or by an interrupt (Ctrl-C). For
/// [`Server::serve_with_shutdown`](crate::Server::serve_with_shutdown), and for other servers that
/// take such a future, as axum does.
///
/// From the first time that it is polled, these signals no longer end the process by themselves. If
/// the system does not report signals, this is logged, and the future never completes.
pub async fn shutdown_signal() {
    if let Err(error) = told_to_stop().await {
        tracing::error!(%error, "signals to stop are not received");
        std::future::pending::<()>().await;
    }
}

#[cfg(unix)]
async fn told_to_stop() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminated, mut interrupted) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminated.recv() => {}
        _ = interrupted.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
async fn told_to_stop() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

//! The signal that tells a server to read its files again (SIGHUP).

use std::io;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that have not been dealt with. Where there are none, none ever comes.
pub struct Hangups {
    #[cfg(unix)]
    signals: Signal,
}

impl Hangups {
    /// From here on, the signal does not end the process. So this comes before the process says that
    /// it serves.
    pub fn watch() -> io::Result<Self> {
        Ok(Hangups {
            #[cfg(unix)]
            signals: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        if self.signals.recv().await.is_some() {
            return;
        }
        std::future::pending::<()>().await;
    }
}

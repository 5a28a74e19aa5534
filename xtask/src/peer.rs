//! A limit on the time of a peer.

use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use deltasoap_streams::peer::PeerProcess;

/// Ends the process after this time, unless the returned sender is dropped before.
pub fn limit(peer: &PeerProcess, time: Duration) -> Sender<()> {
    let (sender, receiver) = mpsc::channel();
    let process = peer.id().to_string();
    thread::spawn(move || {
        if receiver.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            // An error only means that the process has already ended.
            let _ = Command::new("kill").args(["-9", &process]).status();
        }
    });
    sender
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_streams::peer::PeerError;
    use std::path::Path;

    #[test]
    fn a_process_that_takes_too_long_is_ended() {
        let mut peer = PeerProcess::start(Path::new("/bin/cat")).unwrap();
        let limit = limit(&peer, Duration::from_millis(50));
        thread::sleep(Duration::from_millis(500));
        drop(limit);
        assert!(matches!(peer.hello(), Err(PeerError::Pipe { .. } | PeerError::Exited { .. })));
    }

    #[test]
    fn a_limit_that_is_dropped_ends_nothing() {
        let mut peer = PeerProcess::start(Path::new("/bin/cat")).unwrap();
        drop(limit(&peer, Duration::from_millis(50)));
        thread::sleep(Duration::from_millis(200));
        assert!(matches!(peer.hello(), Err(PeerError::Unexpected { answer }) if answer == "hello\n"));
    }
}

//! Bounds on what devices can make a server hold.

use std::time::Duration;

/// Bounds on sessions. Beyond them a session ends, and its device may begin another; memory is at
/// most about `sessions` times what one of them holds: its Inform, its driver, and the messages on
/// their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Sessions at one time. An Inform beyond that is answered with the fault 8004. Default 10,000.
    pub sessions: usize,
    /// How long a session waits for the CPE's next message. Default 60 s: TR-069 has CPEs wait 30 s
    /// at least for an answer.
    pub idle: Duration,
    /// How long the CPE waits while user code decides on the next request or the end. Beyond that
    /// the session ends with 204. Default 25 s, less than CPEs wait.
    pub decision: Duration,
    /// Messages of the CPE in a session. Default 10,000.
    pub messages: u32,
    /// Bytes of all messages of the CPE in a session. Default 64 MiB.
    pub bytes: u64,
    /// Bytes of one message of the CPE. Default 16 MiB; TR-069 asks for 32 KiB at least.
    pub message_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            sessions: 10_000,
            idle: Duration::from_secs(60),
            decision: Duration::from_secs(25),
            messages: 10_000,
            bytes: 64 << 20,
            message_bytes: 16 << 20,
        }
    }
}

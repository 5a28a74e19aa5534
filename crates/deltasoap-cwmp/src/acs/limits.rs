//! Limits on the resources that devices can make a server use.

use std::time::Duration;

/// Limits on sessions. A session that exceeds one ends, and its device may begin another. Memory is
/// bounded by about `sessions` times the size of one session: its Inform, its driver, and the
/// messages in transit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of concurrent sessions. Further Informs are answered with the fault 8004.
    /// Default 10,000.
    pub sessions: usize,
    /// Maximum time that a session waits for the CPE's next message. Default 60 s: TR-069 has CPEs
    /// wait at least 30 s for an answer.
    pub idle: Duration,
    /// Maximum time that the CPE waits while user code decides on the next request or the end.
    /// After that the session ends with 204. Default 25 s, less than CPEs wait.
    pub decision: Duration,
    /// Maximum number of messages from the CPE in a session. Default 10,000.
    pub messages: u32,
    /// Maximum size of all messages from the CPE in a session, in bytes. Default 64 MiB.
    pub bytes: u64,
    /// Maximum size of one message from the CPE, in bytes. Default 16 MiB; TR-069 requires at least
    /// 32 KiB.
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

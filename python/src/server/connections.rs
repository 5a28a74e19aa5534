//! The connections of servers in Python, by the addresses of their clients.
//!
//! ASGI and WSGI do not say which requests come on one connection. While it is open, no other one
//! has its address and port; after that, the entry is dropped once it was idle for a while, so that
//! hardly another client meets the memory of the one before.

use deltasoap_http::Connection;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of connections that are remembered.
const MAX_CONNECTIONS: usize = 1024;

/// Time without a request after which a connection is forgotten.
const IDLE: Duration = Duration::from_secs(30);

/// Connections by host and port.
#[derive(Default)]
pub(crate) struct Connections(Mutex<HashMap<(String, u16), (Connection, Instant)>>);

impl Connections {
    /// Returns the connection from an address.
    pub(crate) fn of(&self, host: &str, port: u16) -> Connection {
        let now = Instant::now();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (host.to_owned(), port);
        let is_idle = |last: Instant| now.saturating_duration_since(last) > IDLE;
        match all.get_mut(&key) {
            Some((connection, last)) if !is_idle(*last) => {
                *last = now;
                return connection.clone();
            }
            _ => {}
        }
        if all.len() >= MAX_CONNECTIONS {
            all.retain(|_, (_, last)| !is_idle(*last));
        }
        if all.len() >= MAX_CONNECTIONS {
            let oldest = all.iter().min_by_key(|(_, (_, last))| *last).map(|(key, _)| key.clone());
            oldest.and_then(|key| all.remove(&key));
        }
        let connection = Connection::new();
        all.insert(key, (connection.clone(), now));
        connection
    }
}

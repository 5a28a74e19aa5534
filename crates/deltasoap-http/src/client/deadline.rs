//! The deadline of a call, for work that belongs to the call but follows its answer.

use super::builder::Client;
use super::error::{CallError, TimeoutError};
use super::options::CallOptions;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

impl<S> Client<S> {
    /// Returns the deadline of a call with these options that begins now.
    pub fn deadline(&self, options: &CallOptions) -> Deadline {
        Deadline::after(options.timeout.or(self.settings.timeout))
    }
}

/// The time limit of a call and everything that belongs to it. A call whose [types are known only
/// at run time](Client::call_element) ends with its message; a caller that also reads parts of the
/// answer bounds that by the same deadline.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    limit: Option<Duration>,
    end: Option<Instant>,
}

impl Deadline {
    fn after(limit: Option<Duration>) -> Self {
        Deadline { limit, end: limit.and_then(|limit| Instant::now().checked_add(limit)) }
    }

    /// Returns the deadline of work that begins now, with the same limit: for what follows a call
    /// whose own time did not [count](Client::call_element_overlaid) as a whole.
    #[must_use]
    pub fn restarted(self) -> Self {
        Deadline::after(self.limit)
    }

    /// Runs a future that belongs to the call.
    ///
    /// # Errors
    /// Returns [`CallError::Timeout`] if the deadline passes before it completes.
    pub async fn within<T>(self, work: impl Future<Output = T>) -> Result<T, CallError> {
        match self.end {
            None => Ok(work.await),
            Some(end) => timeout_at(end, work).await.map_err(|_| CallError::Timeout(TimeoutError::default())),
        }
    }
}

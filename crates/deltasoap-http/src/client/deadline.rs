//! The deadline of a call, for work that belongs to the call but follows its answer.

use super::builder::Client;
use super::error::{CallError, TimeoutError};
use super::options::CallOptions;
use tokio::time::{Instant, timeout_at};

impl<S> Client<S> {
    /// Returns the deadline of a call with these options that begins now.
    pub fn deadline(&self, options: &CallOptions) -> Deadline {
        let time = options.timeout.or(self.settings.timeout);
        Deadline(time.and_then(|time| Instant::now().checked_add(time)))
    }
}

/// The time limit of a call and everything that belongs to it. A call whose [types are known only
/// at run time](Client::call_element) ends with its message; a caller that also reads parts of the
/// answer bounds that by the same deadline.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// Runs a future that belongs to the call.
    ///
    /// # Errors
    /// Returns [`CallError::Timeout`] if the deadline passes before it completes.
    pub async fn within<T>(self, work: impl Future<Output = T>) -> Result<T, CallError> {
        match self.0 {
            None => Ok(work.await),
            Some(end) => timeout_at(end, work).await.map_err(|_| CallError::Timeout(TimeoutError::default())),
        }
    }
}

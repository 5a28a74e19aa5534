//! The end of a call's time, for work that belongs to the call but follows its answer.

use super::builder::Client;
use super::error::CallError;
use super::options::CallOptions;
use tokio::time::{Instant, timeout_at};

impl<S> Client<S> {
    /// When a call with these options has to be over, if it begins now.
    pub fn deadline(&self, options: &CallOptions) -> Deadline {
        let time = options.timeout.or(self.settings.timeout);
        Deadline(time.and_then(|time| Instant::now().checked_add(time)))
    }
}

/// When a call has to be over, with everything that belongs to it. A call that is [described only
/// at run time](Client::call_element) ends with its message; whoever also reads parts of the answer
/// for it bounds that by the same time.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// Runs what belongs to the call.
    ///
    /// # Errors
    /// [`CallError::Timeout`] when the call's time is over before its end.
    pub async fn within<T>(self, work: impl Future<Output = T>) -> Result<T, CallError> {
        match self.0 {
            None => Ok(work.await),
            Some(end) => timeout_at(end, work).await.map_err(|_| CallError::Timeout),
        }
    }
}

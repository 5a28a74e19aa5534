//! The policy for sending a request again.

use super::error::CallError;
use crate::transport::Unsent;
use http::header::RETRY_AFTER;
use http::{HeaderMap, Response, StatusCode};
use std::error::Error as StdError;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime};

/// The number of retries of a call, and the pauses between them; see
/// [`ClientBuilder::retries`](crate::ClientBuilder::retries).
///
/// By default a request is sent again only if the server has not processed it: because no connection
/// could be opened, or the server says so in HTTP/2. (A connection of the pool that the server had
/// already closed counts as that too, and costs no attempt.) After the first byte, the server may have
/// acted on the request. Then only calls that are declared
/// [idempotent](crate::CallOptions::idempotent) are retried: when the connection breaks, an attempt
/// takes too long, or the server answers with status 503.
///
/// The pause doubles each time, and is shortened by up to a half at random, so that clients do not
/// return all at once. A server's `Retry-After` takes precedence; if it is longer than the longest
/// pause, the call ends with the answer. The [timeout](crate::ClientBuilder::timeout) of a call
/// covers all its attempts together. Requests that are streamed or have parts cannot be sent twice:
/// they are sent again only if nothing of them was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    limit: u32,
    pause: Duration,
    longest: Duration,
    attempt: Option<Duration>,
}

impl Default for Retries {
    /// Two more attempts, the first after 100 ms; pauses of up to 5 s.
    fn default() -> Self {
        Retries { limit: 2, pause: Duration::from_millis(100), longest: Duration::from_secs(5), attempt: None }
    }
}

impl Retries {
    /// No retries.
    pub const OFF: Retries = Retries { limit: 0, pause: Duration::ZERO, longest: Duration::ZERO, attempt: None };

    /// Allows up to this many attempts after the first; otherwise the defaults.
    pub fn up_to(attempts: u32) -> Self {
        Retries { limit: attempts, ..Self::default() }
    }

    /// Sets the pause before the second attempt, and the longest one. Default 100 ms and 5 s.
    #[must_use]
    pub fn pauses(mut self, first: Duration, longest: Duration) -> Self {
        (self.pause, self.longest) = (first, longest);
        self
    }

    /// Sets the maximum time of one attempt of an idempotent call until its response begins, after
    /// which another attempt can be made. Default: the timeout of the call.
    #[must_use]
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.attempt = Some(timeout);
        self
    }
}

/// The attempts of one call.
#[derive(Debug)]
pub(super) struct Attempts {
    retries: Retries,
    is_idempotent: bool,
    /// Number of finished attempts.
    made: u32,
}

impl Attempts {
    pub(super) fn new(retries: Retries, is_idempotent: bool) -> Self {
        Attempts { retries, is_idempotent, made: 0 }
    }

    /// Returns true if there are no attempts left.
    pub(super) fn are_over(&self) -> bool {
        self.made == self.retries.limit
    }

    /// Returns the maximum time of the next attempt.
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.retries.attempt.filter(|_| self.is_idempotent)
    }

    /// Returns the time to wait before another attempt; `None` if there is none.
    pub(super) fn pause<B>(&mut self, outcome: &Result<Response<B>, CallError>) -> Option<Duration> {
        let is_worth_it = match outcome {
            Ok(response) => self.is_idempotent && response.status() == StatusCode::SERVICE_UNAVAILABLE,
            Err(CallError::Http(_) | CallError::Timeout(_)) if self.is_idempotent => true,
            Err(error) => is_unsent(error),
        };
        if !is_worth_it || self.are_over() {
            return None;
        }
        let own = self.retries.pause.saturating_mul(1 << self.made.min(20)).min(self.retries.longest);
        self.made += 1;
        let asked = outcome.as_ref().ok().and_then(|response| retry_after(response.headers(), SystemTime::now()));
        match asked {
            Some(asked) => (asked <= self.retries.longest).then_some(asked),
            None => Some(shortened(own, RandomState::new().hash_one(self.made))),
        }
    }
}

/// Returns the pause, shortened by at most a half.
fn shortened(pause: Duration, random: u64) -> Duration {
    let part = (random >> 40) as f64 / (1_u64 << 24) as f64;
    pause.mul_f64(1.0 - part / 2.0)
}

/// Returns true if the server has not processed the request.
fn is_unsent(error: &CallError) -> bool {
    let mut cause: Option<&(dyn StdError + 'static)> = match error {
        CallError::Http(error) => Some(&**error),
        _ => None,
    };
    while let Some(error) = cause {
        if error.is::<Unsent>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Returns the time that the server asks to wait (RFC 9110, 10.2.3).
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => Some(httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::TimeoutError;
    use super::*;

    type Outcome = Result<Response<()>, CallError>;

    fn status(status: u16, retry_after: Option<&str>) -> Outcome {
        let mut response = Response::builder().status(status);
        if let Some(text) = retry_after {
            response = response.header(RETRY_AFTER, text);
        }
        Ok(response.body(()).expect("a response"))
    }

    fn unsent() -> Outcome {
        Err(CallError::Http(Box::new(Unsent("refused".into()))))
    }

    fn broken() -> Outcome {
        Err(CallError::Http("reset".into()))
    }

    fn is_tried(outcome: &Outcome, is_idempotent: bool) -> bool {
        Attempts::new(Retries::default(), is_idempotent).pause(outcome).is_some()
    }

    #[test]
    fn only_what_is_safe_is_tried_again() {
        assert!(is_tried(&unsent(), false) && is_tried(&unsent(), true));
        for outcome in
            [broken(), Err(CallError::Timeout(TimeoutError::default())), status(503, None), status(503, Some("1"))]
        {
            assert!(!is_tried(&outcome, false) && is_tried(&outcome, true), "{outcome:?}");
        }
        for outcome in [status(200, None), status(500, None), status(503, Some("60"))] {
            assert!(!is_tried(&outcome, false) && !is_tried(&outcome, true), "{outcome:?}");
        }
        assert!(Attempts::new(Retries::OFF, true).pause(&unsent()).is_none());
    }

    #[test]
    fn pauses_double_up_to_a_bound() {
        let (first, longest) = (Duration::from_millis(100), Duration::from_millis(500));
        let mut attempts = Attempts::new(Retries::up_to(6).pauses(first, longest), false);
        let pauses: Vec<_> = std::iter::from_fn(|| attempts.pause(&unsent())).collect();
        assert_eq!(pauses.len(), 6);
        for (pause, most) in pauses.iter().zip([100, 200, 400, 500, 500, 500]) {
            let most = Duration::from_millis(most);
            assert!(*pause <= most && *pause >= most / 2, "{pause:?}");
        }
    }

    #[test]
    fn servers_may_say_when() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let asked = |text: &'static str| {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, http::HeaderValue::from_static(text))]);
            retry_after(&headers, now).map(|time| time.as_secs())
        };
        assert_eq!(asked("120"), Some(120));
        assert_eq!(asked("Sun, 06 Nov 1994 08:49:47 GMT"), Some(10));
        assert_eq!(asked("Sun, 06 Nov 1994 08:49:07 GMT"), Some(0), "it is over");
        assert_eq!((asked("soon"), asked("-1")), (None, None));
    }
}

//! Requests whose handler runs while they arrive.
//!
//! [`Arrival`] reads until there are items of the operation's list, or the message is complete. It
//! is lent to the handler with the items, and returns when the handler drops them. If the handler
//! succeeded, the rest is read and checked before the response is sent: as for other requests, only
//! valid messages get a response.

use super::context::Context;
use super::dispatch::Dispatch;
use super::heavy::Pace;
use super::operation::{Operation, Outcome};
use super::receive::{Failure, Received, Receiving, Refusal, RequestInfo, next_frame};
use super::service::Inner;
use super::writing::Writing;
use crate::attachments::Attachments;
use crate::drain::drain;
use crate::error::BoxError;
use crate::items::{ItemSource, WINDOW};
use crate::media::MediaType;
use bytes::Bytes;
use deltasoap_core::soap::{Fault, Head, Version};
use futures_util::future::BoxFuture;
use http_body::Body;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// A complete request, or the beginning of one.
#[allow(clippy::large_enum_variant, reason = "most requests come whole, and are not to be moved to the heap for it")]
pub(super) enum Reception {
    Whole(Received),
    /// A request whose operation takes items while they arrive; some have arrived.
    Begun(Box<Arrival>),
}

/// Reads a request up to its first items if its operation takes them while they arrive; otherwise
/// reads the whole request.
///
/// # Errors
/// As [`receive`](super::receive::receive).
pub(super) async fn receive_items<B>(
    service: &Arc<Inner>,
    media: &MediaType,
    info: RequestInfo,
    pace: Pace,
    body: B,
) -> Result<Reception, Refusal>
where
    B: Body<Data = Bytes, Error = BoxError> + Send + 'static,
{
    let mut receiving = Receiving::new(service, info, pace);
    receiving.expect(media);
    let mut arrival = Arrival {
        service: Arc::clone(service),
        receiving,
        announced: body.size_hint().lower(),
        body: Box::pin(body),
        unread: Bytes::new(),
        leaves_a_rest: false,
        fallback: media.version(),
        progress: Progress::Reading,
    };
    if arrival.more().await == Ok(true) {
        return Ok(Reception::Begun(Box::new(arrival)));
    }
    arrival.drain().await;
    let Arrival { receiving, fallback, progress, .. } = arrival;
    if let Progress::Failed(refusal) = progress {
        return Err(*refusal);
    }
    let whole = receiving.conclude(service, Attachments::default());
    whole.map(Reception::Whole).ok_or_else(|| Refusal::without_body(fallback))
}

/// A request that is still arriving.
pub(super) struct Arrival {
    service: Arc<Inner>,
    receiving: Receiving,
    body: Pin<Box<dyn Body<Data = Bytes, Error = BoxError> + Send>>,
    /// Bytes that have arrived but are not read yet.
    unread: Bytes,
    /// The length that the body announced, in bytes.
    announced: u64,
    /// True if the rest may still be arriving after a failure.
    leaves_a_rest: bool,
    /// The version to assume for a message that does not specify one.
    fallback: Version,
    progress: Progress,
}

#[derive(Debug)]
enum Progress {
    Reading,
    Whole,
    Failed(Box<Refusal>),
}

impl Arrival {
    pub(super) fn head(&self) -> &Head {
        self.receiving.head()
    }

    /// Returns the operation that takes the items.
    pub(super) fn operation(&self) -> &Arc<Operation> {
        match self.dispatch().operation() {
            Some(operation) => operation,
            None => unreachable!("items of no operation"),
        }
    }

    fn dispatch(&self) -> &Dispatch {
        self.receiving.dispatch()
    }

    /// Reads on until there are items or the message has ended; returns false if it has ended. The
    /// items before an error come first, so the result does not depend on how the bytes were split.
    ///
    /// # Errors
    /// When the message is invalid or does not arrive; also on each later call.
    async fn more(&mut self) -> Result<bool, Fault> {
        match &self.progress {
            Progress::Reading => {}
            Progress::Whole => return Ok(false),
            Progress::Failed(refusal) => return Err(refusal.fault.clone()),
        }
        match self.read_on().await {
            Ok(true) => Ok(true),
            Ok(false) => {
                self.progress = Progress::Whole;
                self.receiving.count(&self.service);
                Ok(false)
            }
            Err(failure) => {
                let has_items = self.receiving.take_items_before(&failure);
                let fault = self.fail(failure);
                if has_items { Ok(true) } else { Err(fault) }
            }
        }
    }

    async fn read_on(&mut self) -> Result<bool, Failure> {
        // A wait for more may have been cancelled after something was read.
        if self.receiving.take_items()? == Some(true) {
            return Ok(true);
        }
        loop {
            while !self.unread.is_empty() {
                let window = self.unread.split_to(self.unread.len().min(WINDOW));
                self.receiving.push(window).await?;
                match self.receiving.take_items()? {
                    Some(true) => return Ok(true),
                    Some(false) => {}
                    None => self.check_announced()?,
                }
            }
            match next_frame(self.body.as_mut(), self.receiving.timeout()).await? {
                Some(frame) => self.unread = frame.into_data().unwrap_or_default(),
                None => break,
            }
        }
        self.receiving.finish(None).await?;
        self.receiving.take_rest()?;
        Ok(false)
    }

    /// Refuses a request that is too long, if its operation needs it whole.
    fn check_announced(&self) -> Result<(), Failure> {
        let limit = self.service.options.limits.message;
        let is_over = self.announced > limit && self.dispatch().has_begun();
        if is_over { Err(Failure::TooLarge("message", limit)) } else { Ok(()) }
    }

    /// Stores a failure immediately: a caller that waits for more may stop waiting at any time.
    fn fail(&mut self, failure: Failure) -> Fault {
        self.leaves_a_rest = failure.leaves_a_rest();
        let refusal = self.receiving.refuse(self.fallback, failure);
        let fault = refusal.fault.clone();
        self.progress = Progress::Failed(Box::new(refusal));
        self.receiving.count(&self.service);
        fault
    }

    /// Reads what a refused client still sends, so that the client reads the answer.
    async fn drain(&mut self) {
        if self.leaves_a_rest {
            drain(self.body.as_mut()).await;
        }
    }

    /// Lends the rest of the request to its handler.
    pub(super) fn lend(self: Box<Self>) -> (Lent, Lender) {
        let lender = Lender::default();
        (Lent { arrival: Some(self), lender: lender.clone() }, lender)
    }

    /// Counts what was read if the rest will not be read.
    fn count_left(&self) {
        if matches!(self.progress, Progress::Reading) {
            self.receiving.count(&self.service);
        }
        self.receiving.count_call(&self.service);
    }

    /// Reads the rest after the handler, if the handler succeeded.
    ///
    /// # Errors
    /// When the message is invalid or did not arrive, whatever the handler did with it.
    pub(super) async fn settle(mut self: Box<Self>, succeeded: bool) -> Result<(), Refusal> {
        if succeeded {
            while let Ok(true) = self.more().await {}
        } else if matches!(self.progress, Progress::Reading) {
            self.leaves_a_rest = true;
        }
        self.drain().await;
        self.count_left();
        match self.progress {
            Progress::Failed(refusal) => Err(*refusal),
            Progress::Reading | Progress::Whole => Ok(()),
        }
    }
}

/// An arrival that a handler holds.
pub(super) struct Lent {
    arrival: Option<Box<Arrival>>,
    lender: Lender,
}

impl Lent {
    /// Starts the handler with the items.
    pub(super) fn start(self, context: Context, writing: Writing) -> BoxFuture<'static, Outcome> {
        let starter = self.arrival.as_ref().and_then(|arrival| arrival.dispatch().starter());
        match starter {
            Some(start) => start(context, writing, Box::new(self)),
            None => unreachable!("items of no call"),
        }
    }
}

impl ItemSource<Fault> for Lent {
    fn more(&mut self) -> BoxFuture<'_, Result<bool, Fault>> {
        Box::pin(async {
            let Some(arrival) = &mut self.arrival else { return Ok(false) };
            let _reading = Reading::begin(&self.lender);
            arrival.more().await
        })
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.lender.state().arrival = self.arrival.take();
    }
}

/// Waits for a lent arrival.
#[derive(Clone, Default)]
pub(super) struct Lender(Arc<Mutex<Loan>>);

#[derive(Default)]
struct Loan {
    /// The returned arrival.
    arrival: Option<Box<Arrival>>,
    /// True while the handler waits for more of the message.
    is_reading: bool,
    /// Time at which the last read ended.
    read_at: Option<Instant>,
}

/// An arrival that nobody settles was passed on by its handler: it is counted when it is dropped.
impl Drop for Loan {
    fn drop(&mut self) {
        if let Some(arrival) = self.arrival.take() {
            arrival.count_left();
        }
    }
}

impl Lender {
    fn state(&self) -> MutexGuard<'_, Loan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a handler, for at most `limit` between two reads; reading itself has its own
    /// limits. Returns `None` if the handler took too long.
    pub(super) async fn wait<T>(&self, limit: Option<Duration>, running: impl Future<Output = T>) -> Option<T> {
        let Some(limit) = limit else { return Some(running.await) };
        let mut running = std::pin::pin!(running);
        let mut since = Instant::now();
        loop {
            if let Ok(outcome) = timeout(limit.saturating_sub(since.elapsed()), running.as_mut()).await {
                return Some(outcome);
            }
            let Loan { is_reading, read_at, .. } = *self.state();
            match read_at.filter(|at| *at > since) {
                _ if is_reading => {
                    since = Instant::now();
                    tokio::task::yield_now().await;
                }
                Some(at) => since = at,
                None => return None,
            }
        }
    }

    /// Reads the rest of the message after the handler, if the handler succeeded and dropped the
    /// items. A handler that has passed the items on is responsible for the rest.
    ///
    /// # Errors
    /// When the message is invalid or did not arrive.
    pub(super) async fn settle(&self, succeeded: bool) -> Result<(), Refusal> {
        let arrival = self.state().arrival.take();
        match arrival {
            Some(arrival) => arrival.settle(succeeded).await,
            None => Ok(()),
        }
    }
}

/// Marks that the handler waits for more of the message.
struct Reading<'a>(&'a Lender);

impl<'a> Reading<'a> {
    fn begin(lender: &'a Lender) -> Self {
        lender.state().is_reading = true;
        Reading(lender)
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        (state.is_reading, state.read_at) = (false, Some(Instant::now()));
    }
}

//! Bodies on their way: what passes is counted and its beginning or all of it kept, and nothing may
//! stand still for too long.

use bytes::Bytes;
use deltasoap_http::BoxError;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// The body of a response of the proxy.
pub type ResponseBody = UnsyncBoxBody<Bytes, BoxError>;

/// Returns a body in one piece.
pub(crate) fn full(bytes: impl Into<Bytes>) -> ResponseBody {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// What is known of a body that passes.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    /// Its first bytes.
    pub(crate) kept: Vec<u8>,
    /// Its bytes so far.
    pub(crate) len: u64,
    pub(crate) end: Option<End>,
}

/// How a body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Complete,
    /// Its sender was too slow.
    Slow,
    /// Its sender broke it off.
    Broken,
    /// Its receiver wanted no more.
    Unread,
}

/// What is known of a body, for those who wait for its end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch(Arc<Mutex<Passed>>);

impl Watch {
    pub(crate) fn see(&self) -> MutexGuard<'_, Passed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the body has begun and not ended.
    pub(crate) fn is_running(&self) -> bool {
        self.see().end.is_none()
    }
}

/// A body that is watched while it passes.
pub(crate) struct Watched<B: Body> {
    body: Pin<Box<B>>,
    watch: Watch,
    /// Maximum number of bytes that are kept.
    keep: usize,
    idle: Idle,
    /// Called once, at the end.
    at_end: Option<AtEnd>,
}

pub(crate) type AtEnd = Box<dyn FnOnce() + Send>;

impl<B: Body> Watched<B> {
    pub(crate) fn new(body: B, watch: Watch, keep: usize, idle: Duration) -> Self {
        Watched { body: Box::pin(body), watch, keep, idle: Idle::new(idle), at_end: None }
    }

    pub(crate) fn at_end(mut self, call: impl FnOnce() + Send + 'static) -> Self {
        self.at_end = Some(Box::new(call));
        self
    }

    fn end(&mut self, end: End) {
        self.watch.see().end.get_or_insert(end);
        if let Some(call) = self.at_end.take() {
            call();
        }
    }
}

impl<B: Body> fmt::Debug for Watched<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").field("watch", &self.watch).finish_non_exhaustive()
    }
}

impl<B: Body<Data = Bytes, Error: Into<BoxError>>> Body for Watched<B> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.body.as_mut().poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                self.idle.moved();
                if let Some(data) = frame.data_ref() {
                    let keep = self.keep;
                    let mut passed = self.watch.see();
                    passed.len += data.len() as u64;
                    let room = keep.saturating_sub(passed.kept.len()).min(data.len());
                    passed.kept.extend_from_slice(&data[..room]);
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => {
                self.end(End::Broken);
                Poll::Ready(Some(Err(error.into())))
            }
            Poll::Ready(None) => {
                self.end(End::Complete);
                Poll::Ready(None)
            }
            Poll::Pending if self.idle.is_over(context) => {
                self.end(End::Slow);
                Poll::Ready(Some(Err("nothing arrived for too long".into())))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A receiver that knows the length need not ask for the end.
impl<B: Body> Drop for Watched<B> {
    fn drop(&mut self) {
        if self.at_end.is_some() || self.watch.is_running() {
            self.end(if self.body.is_end_stream() { End::Complete } else { End::Unread });
        }
    }
}

/// The time in which nothing arrived.
struct Idle {
    time: Duration,
    /// Made when something has to be waited for.
    sleep: Option<Pin<Box<Sleep>>>,
    is_waiting: bool,
}

impl Idle {
    fn new(time: Duration) -> Self {
        Idle { time: time.min(DAY), sleep: None, is_waiting: false }
    }

    fn moved(&mut self) {
        self.is_waiting = false;
    }

    fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        let until = Instant::now() + self.time;
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        if !std::mem::replace(&mut self.is_waiting, true) {
            sleep.as_mut().reset(until);
        }
        sleep.as_mut().poll(context).is_ready()
    }
}

/// The longest time in which nothing may arrive.
const DAY: Duration = Duration::from_secs(86_400);
/// How often that time may pass until a body that is needed as a whole has arrived.
const WHOLE: u32 = 20;

/// Why a body was not read as a whole.
#[derive(Debug)]
pub(crate) enum ReadError {
    TooLarge,
    Slow,
    Broken(BoxError),
}

/// Reads a body as a whole.
///
/// # Errors
/// Returns an error if it has more than `limit` bytes, stands still for too long, takes more than
/// twenty times that time, or breaks off.
pub(crate) async fn read<B>(body: B, limit: usize, idle: Duration) -> Result<Bytes, ReadError>
where
    B: Body<Data = Bytes, Error: Into<BoxError>>,
{
    if body.size_hint().lower() > limit as u64 {
        return Err(ReadError::TooLarge);
    }
    let deadline = tokio::time::Instant::now() + idle.min(DAY) * WHOLE;
    let mut body = std::pin::pin!(body);
    let (mut first, mut all) = (Bytes::new(), Vec::new());
    loop {
        let until = deadline.min(tokio::time::Instant::now() + idle.min(DAY));
        let frame = tokio::time::timeout_at(until, body.as_mut().frame()).await.map_err(|_| ReadError::Slow)?;
        let Some(frame) = frame else { break };
        let Ok(data) = frame.map_err(|error| ReadError::Broken(error.into()))?.into_data() else { continue };
        if first.len() + all.len() + data.len() > limit {
            return Err(ReadError::TooLarge);
        }
        match (first.is_empty(), all.is_empty()) {
            // Most bodies come in one piece, which is not copied.
            (true, true) => first = data,
            (false, _) => {
                all.extend_from_slice(&std::mem::take(&mut first));
                all.extend_from_slice(&data);
            }
            _ => all.extend_from_slice(&data),
        }
    }
    Ok(if all.is_empty() { first } else { all.into() })
}

/// A body that is slowed down, or breaks off.
pub(crate) struct Troubled {
    body: ResponseBody,
    /// Bytes until it breaks off.
    left: Option<u64>,
    /// Bytes a second.
    pace: Option<u64>,
    /// What waits for its time.
    pending: Bytes,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Troubled {
    pub(crate) fn new(body: ResponseBody, left: Option<u64>, pace: Option<u64>) -> Self {
        Troubled { body, left, pace, pending: Bytes::new(), sleep: None }
    }

    /// Returns the next piece of what waits, and sets the time of the one after it.
    fn piece(&mut self) -> Bytes {
        let Some(pace) = self.pace.map(|pace| pace.max(1)) else { return std::mem::take(&mut self.pending) };
        let size = usize::try_from(pace / PIECES).unwrap_or(usize::MAX).clamp(1, self.pending.len().max(1));
        let piece = self.pending.split_to(size.min(self.pending.len()));
        let time = Duration::from_secs_f64(piece.len() as f64 / pace as f64);
        self.sleep = Some(Box::pin(tokio::time::sleep(time)));
        piece
    }
}

/// Pieces a second, of a body that is slowed down.
const PIECES: u64 = 20;

impl Body for Troubled {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(sleep) = &mut self.sleep {
            if sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.sleep = None;
        }
        if self.left == Some(0) {
            return Poll::Ready(Some(Err("the answer is cut off on purpose".into())));
        }
        if self.pending.is_empty() {
            match std::task::ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.pending = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                // A body without bytes is cut off too.
                None if self.left.is_some() => {
                    return Poll::Ready(Some(Err("the answer is cut off on purpose".into())));
                }
                other => return Poll::Ready(other),
            }
            if let Some(left) = self.left {
                let kept = usize::try_from(left).unwrap_or(usize::MAX).min(self.pending.len());
                self.pending.truncate(kept);
                self.left = Some(left - kept as u64);
            }
        }
        let piece = self.piece();
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_none() && self.pending.is_empty() && self.sleep.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use http_body_util::StreamBody;

    fn pieces(pieces: &'static [&'static str]) -> ResponseBody {
        let frames = pieces.iter().map(|piece| Ok::<_, BoxError>(Frame::data(Bytes::from_static(piece.as_bytes()))));
        StreamBody::new(stream::iter(frames)).boxed_unsync()
    }

    #[tokio::test]
    async fn what_passes_is_counted_and_kept() {
        let watch = Watch::default();
        let body = Watched::new(pieces(&["abc", "def"]), watch.clone(), 4, Duration::from_secs(9));
        assert_eq!(body.collect().await.expect("a body").to_bytes(), "abcdef");
        let passed = watch.see();
        assert_eq!((&passed.kept[..], passed.len, passed.end), (&b"abcd"[..], 6, Some(End::Complete)));
    }

    #[tokio::test(start_paused = true)]
    async fn what_stands_still_ends() {
        let body = || StreamBody::new(stream::pending::<Result<Frame<Bytes>, BoxError>>());
        let watch = Watch::default();
        let watched = Watched::new(body(), watch.clone(), 4, Duration::from_secs(9));
        assert!(watched.collect().await.is_err());
        assert_eq!(watch.see().end, Some(End::Slow));
        assert!(matches!(read(body(), 4, Duration::from_secs(9)).await, Err(ReadError::Slow)));
    }

    #[tokio::test]
    async fn wholes_are_bounded() {
        assert_eq!(read(pieces(&["abc", "def"]), 6, Duration::from_secs(9)).await.expect("6 bytes"), "abcdef");
        let result = read(pieces(&["abc", "def"]), 5, Duration::from_secs(9)).await;
        assert!(matches!(result, Err(ReadError::TooLarge)));
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_are_cut_and_slowed() {
        let mut cut = Troubled::new(pieces(&["abc", "def"]), Some(4), None);
        let mut got = Vec::new();
        let error = loop {
            match cut.frame().await.expect("no end") {
                Ok(frame) => got.extend_from_slice(&frame.into_data().expect("data")),
                Err(error) => break error,
            }
        };
        assert_eq!(got, b"abcd");
        assert!(error.to_string().contains("on purpose"));
        let begun = Instant::now();
        let slow = Troubled::new(pieces(&["0123456789", "0123456789"]), None, Some(10));
        assert_eq!(slow.collect().await.expect("a body").to_bytes().len(), 20);
        let time = begun.elapsed();
        assert!(time >= Duration::from_secs(1) && time < Duration::from_secs(3), "{time:?}");
    }
}

//! Bodies that are compressed while they are sent.
//!
//! When the body itself has to wait for more, everything compressed so far is flushed, so that
//! items of a list arrive as soon as those of an uncompressed one. A body that shrinks to almost
//! nothing is diluted with empty blocks, since receivers would take it for a decompression bomb.

use super::{Body, failed};
use crate::coding::{AdaptiveState, Codec, Encoder, FREE, Next, RATIO};
use bytes::{Buf, Bytes};
use deltasoap_core::Error;
use http_body::{Body as _, Frame};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Length of a frame, except the last and those before a pause.
const FRAME: usize = 16 << 10;
/// Maximum number of bytes compressed without a yield, and in one step.
const TURN: usize = 256 << 10;
/// Number of bytes that may be compressed to any length.
const UNDILUTED: u64 = FREE - TURN as u64;
/// Maximum number of bytes compressed for each byte written, at the end of each step beyond
/// [`UNDILUTED`].
/// The bytes sent at any time decode to at most one step more, which keeps them within a receiver's
/// `RATIO`, or within `FREE`.
const DENSEST: u64 = RATIO / 4 * 3;
const _: () = assert!(DENSEST * FREE <= RATIO * UNDILUTED);

/// A body that is compressed frame by frame. Its own frames are released one after the other.
#[derive(Debug)]
pub(super) struct Deflated {
    body: Body,
    codec: Codec,
    /// Receives the measurements.
    adaptive: AdaptiveState,
    state: State,
    /// The rest of the current frame.
    input: Bytes,
    output: Vec<u8>,
    /// Bytes compressed since the last yield.
    turn: usize,
    /// True if something was compressed since the last pause.
    is_behind: bool,
    /// True if the body was pending once. It is polled again before that counts as a pause: the
    /// sources of a runtime are pending when their budget is used up.
    has_yielded: bool,
    done: Done,
}

#[derive(Debug)]
enum State {
    Fresh,
    Running(Encoder),
    /// The compressed data is being flushed.
    Pausing(Encoder),
    /// The body has ended, but the stream has not.
    Ending(Encoder),
    Done,
    /// A clone of a stream that has begun.
    Without,
}

/// Measurements so far.
#[derive(Debug, Default)]
struct Done {
    /// Number of bytes before and after compression.
    before: u64,
    after: u64,
    /// The start time and the time that the encoder took, if they are measured.
    since: Option<Instant>,
    coding: Duration,
    /// The start of the current pause of the body, and the length of earlier ones.
    pause: Option<Instant>,
    paused: Duration,
}

impl Done {
    /// Returns true if receivers would reject what was written so far.
    fn is_dense(&self) -> bool {
        self.before > UNDILUTED && self.before > DENSEST * self.after
    }
}

impl Deflated {
    pub(super) fn new(body: Body, codec: Codec, adaptive: AdaptiveState) -> Self {
        let (input, output, done) = Default::default();
        Deflated {
            body,
            codec,
            adaptive,
            state: State::Fresh,
            input,
            output,
            turn: 0,
            is_behind: false,
            has_yielded: false,
            done,
        }
    }

    /// Returns true if a clone can be read as well as the original.
    pub(super) fn is_repeatable(&self) -> bool {
        matches!(self.state, State::Fresh) && self.body.is_repeatable()
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Returns the next frame.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            if self.turn >= TURN {
                self.turn = 0;
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            match std::mem::replace(&mut self.state, State::Done) {
                State::Done => return Poll::Ready(None),
                State::Without => return Poll::Ready(Some(Err(failed("a body that is being compressed was cloned")))),
                State::Fresh => self.state = State::Running(self.begin()?),
                State::Running(encoder) if self.input.is_empty() => match self.poll_input(context)? {
                    Poll::Ready(true) => self.state = State::Running(encoder),
                    Poll::Ready(false) => self.state = State::Ending(encoder),
                    Poll::Pending if self.is_behind && self.has_yielded => self.state = State::Pausing(encoder),
                    Poll::Pending => {
                        if self.is_behind {
                            self.has_yielded = true;
                            context.waker().wake_by_ref();
                        }
                        self.state = State::Running(encoder);
                        return Poll::Pending;
                    }
                },
                State::Running(mut encoder) => {
                    self.step(&mut encoder, Next::Input)?;
                    self.state = if self.done.is_dense() { State::Pausing(encoder) } else { State::Running(encoder) };
                }
                State::Pausing(mut encoder) => {
                    if self.step(&mut encoder, Next::Pause)? {
                        (self.is_behind, self.has_yielded) = (false, false);
                        self.dilute(&encoder);
                        self.state = State::Running(encoder);
                        if self.input.is_empty() && !self.output.is_empty() {
                            return self.frame();
                        }
                    } else {
                        self.state = State::Pausing(encoder);
                    }
                }
                State::Ending(mut encoder) => {
                    if self.step(&mut encoder, Next::End)? {
                        self.tell();
                        return self.frame();
                    }
                    self.state = State::Ending(encoder);
                }
            }
            if self.output.len() >= FRAME {
                return self.frame();
            }
        }
    }

    fn frame(&mut self) -> Poll<Option<Result<Bytes, Error>>> {
        Poll::Ready(Some(Ok(std::mem::take(&mut self.output).into())))
    }

    fn begin(&mut self) -> Result<Encoder, Error> {
        self.done.since = self.now();
        let encoder = Encoder::new(self.codec, self.body.size_hint().exact()).map_err(|_| uncompressed())?;
        self.done.coding = elapsed(self.done.since);
        Ok(encoder)
    }

    /// Reads another frame of the body. Returns false at its end.
    fn poll_input(&mut self, context: &mut Context<'_>) -> Poll<Result<bool, Error>> {
        // An empty rest would keep the memory of the last frame, which some bodies wait for.
        self.input = Bytes::new();
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            self.done.pause = self.done.pause.or_else(|| self.now());
            return Poll::Pending;
        };
        self.has_yielded = false;
        self.done.paused += elapsed(self.done.pause.take());
        let Some(frame) = frame.transpose()?.map(Frame::into_data) else { return Poll::Ready(Ok(false)) };
        self.input = frame.unwrap_or_default();
        Poll::Ready(Ok(true))
    }

    /// Compresses as much as there is room for. Returns true once the following pause or end is
    /// written.
    fn step(&mut self, encoder: &mut Encoder, next: Next) -> Result<bool, Error> {
        let start = self.now();
        let written = self.output.len();
        self.output.reserve(FRAME - written);
        let input = if next == Next::Input { &self.input[..self.input.len().min(TURN)] } else { &[] };
        let (taken, is_written) = encoder.step(input, &mut self.output, next).map_err(|_| uncompressed())?;
        self.input.advance(taken);
        self.turn += taken;
        self.is_behind |= taken > 0;
        self.done.before += taken as u64;
        self.done.after += (self.output.len() - written) as u64;
        self.done.coding += elapsed(start);
        Ok(is_written)
    }

    /// Returns the time, if it is measured.
    fn now(&self) -> Option<Instant> {
        self.adaptive.is_interested().then(Instant::now)
    }

    /// Adds the empty blocks that receivers need to accept what was written.
    fn dilute(&mut self, encoder: &Encoder) {
        while self.done.is_dense() {
            self.output.extend_from_slice(encoder.empty_block());
            self.done.after += encoder.empty_block().len() as u64;
        }
    }

    fn tell(&self) {
        let Done { before, after, since, coding, paused, .. } = self.done;
        self.adaptive.note(self.codec, (before, after), coding, elapsed(since).saturating_sub(paused));
    }
}

fn elapsed(since: Option<Instant>) -> Duration {
    since.map_or(Duration::ZERO, |since| since.elapsed())
}

fn uncompressed() -> Error {
    failed("the body could not be compressed")
}

/// A stream that has begun cannot be repeated: a clone of it fails when it is sent.
impl Clone for Deflated {
    fn clone(&self) -> Self {
        let is_fresh = matches!(self.state, State::Fresh);
        let state = if is_fresh { State::Fresh } else { State::Without };
        Deflated { state, ..Deflated::new(self.body.clone(), self.codec, self.adaptive.clone()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coding::{Bound, ContentCoding, Inflated};
    use crate::error::BoxError;
    use deltasoap::Soap;
    use deltasoap::stream::Streamed;
    use deltasoap_core::Overlay;
    use deltasoap_core::soap::Envelope;
    use futures_util::StreamExt;
    use futures_util::stream::{iter, pending, poll_fn};
    use http_body_util::{BodyExt, StreamBody};
    use std::convert::Infallible;
    use std::task::Waker;
    use tokio::sync::mpsc;

    #[derive(Soap)]
    #[soap(message, namespace = "urn:t")]
    struct Numbers {
        item: Streamed<f64>,
    }

    const CODINGS: &[ContentCoding] = &[
        ContentCoding::Gzip,
        #[cfg(feature = "zstd")]
        ContentCoding::Zstd,
    ];

    /// Creates a body whose items come from a channel.
    fn fed(coding: ContentCoding) -> (mpsc::UnboundedSender<f64>, Body) {
        let (feed, mut items) = mpsc::unbounded_channel();
        let items = poll_fn(move |context| items.poll_recv(context)).map(Ok::<_, Infallible>);
        let numbers = Numbers { item: Streamed::default() };
        let overlay = Overlay::open(&Envelope::new(&numbers), 1 << 10).expect("a message");
        (feed, Body::fed(overlay, items).coded(Codec { coding, level: 1 }, AdaptiveState::default()))
    }

    fn poll(body: &mut Body) -> Poll<Option<Bytes>> {
        let polled = Pin::new(body).poll_frame(&mut Context::from_waker(Waker::noop()));
        polled.map(|frame| frame.map(|frame| frame.expect("no error").into_data().expect("data")))
    }

    /// Returns what a receiver can decode from these frames.
    fn readable(coding: ContentCoding, frames: &[Bytes]) -> String {
        let frames = iter(frames.to_vec()).map(|frame| Ok::<_, BoxError>(Frame::data(frame))).chain(pending());
        let bound = Bound { gzip: crate::coding::GzipLimits::default(), name: "message", received: 1 << 20 };
        let mut inflated = Box::pin(Inflated::new(StreamBody::new(frames), coding, bound));
        let mut text = Vec::new();
        while let Poll::Ready(Some(frame)) = inflated.as_mut().poll_frame(&mut Context::from_waker(Waker::noop())) {
            text.extend_from_slice(&frame.expect("no error").into_data().expect("data"));
        }
        String::from_utf8(text).expect("UTF-8")
    }

    #[test]
    fn what_is_ready_is_sent_before_a_pause_and_once() {
        for &coding in CODINGS {
            let (feed, mut body) = fed(coding);
            let mut frames = Vec::new();
            let mut rest = |body: &mut Body| {
                let before = frames.len();
                // The body may yield once.
                for _ in 0..2 {
                    while let Poll::Ready(Some(frame)) = poll(body) {
                        assert!(!frame.is_empty());
                        frames.push(frame);
                    }
                }
                (readable(coding, &frames), frames.len() - before)
            };
            for item in [1.5, 2.5, 3.5] {
                rest(&mut body);
                assert_eq!(rest(&mut body).1, 0, "nothing came");
                feed.send(item).expect("the body is there");
                let (text, count) = rest(&mut body);
                assert!(text.ends_with(&format!("<item>{item}</item>")) && count == 1, "{coding:?}: {text}");
            }
            drop(feed);
            let (text, _) = rest(&mut body);
            assert!(
                text.contains("<item>3.5</item></ns:Numbers>") && text.ends_with("Envelope>"),
                "{coding:?}: {text}"
            );
        }
    }

    #[tokio::test]
    async fn items_that_are_ready_are_compressed_together() {
        for &coding in CODINGS {
            let (feed, body) = fed(coding);
            (0..10_000).for_each(|item| feed.send(f64::from(item)).expect("the body is there"));
            drop(feed);
            let frames: Vec<_> = body.into_data_stream().map(|frame| frame.expect("no error")).collect().await;
            let (last, full) = frames.split_last().expect("frames");
            assert!(full.iter().all(|frame| frame.len() == FRAME) && last.len() <= FRAME, "{coding:?}");
            assert!(readable(coding, &frames).contains("<item>9999</item></ns:Numbers>"));
        }
    }
}

//! Bodies that are compressed while they are sent.

use super::{Body, failed};
use crate::coding::{Encoder, Learned, Way};
use bytes::{Buf, Bytes};
use deltasoap_core::Error;
use http_body::{Body as _, Frame};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

/// Bytes of a frame, except the last.
const FRAME: usize = 16 << 10;
/// Bytes compressed without a yield.
const TURN: usize = 256 << 10;
/// A body that is compressed frame by frame. Its own frames are released one after the other.
#[derive(Debug)]
pub(super) struct Deflated {
    body: Body,
    way: Way,
    /// Is told how it went.
    learned: Option<Arc<Learned>>,
    state: State,
    /// The rest of the current frame.
    input: Bytes,
    output: Vec<u8>,
    /// Bytes compressed since the last yield.
    turn: usize,
    /// Bytes before and after so far, and the time for them, if somebody is to be told.
    done: (u64, u64, Duration),
}

#[derive(Debug)]
enum State {
    Fresh,
    Running(Encoder),
    /// The body has ended, but the stream has not.
    Ending(Encoder),
    Done,
    /// A clone of a stream that had begun.
    Without,
}

impl Deflated {
    pub(super) fn new(body: Body, way: Way, learned: Option<Arc<Learned>>) -> Self {
        let (input, output, done) = Default::default();
        Deflated { body, way, learned, state: State::Fresh, input, output, turn: 0, done }
    }

    /// True if a clone can be read as well as the original.
    pub(super) fn is_repeatable(&self) -> bool {
        matches!(self.state, State::Fresh) && self.body.is_repeatable()
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// The next frame.
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
                State::Running(encoder) if self.input.is_empty() => {
                    self.state = ready!(self.poll_input(encoder, context))?;
                }
                State::Running(mut encoder) => {
                    self.step(&mut encoder, false)?;
                    self.state = State::Running(encoder);
                }
                State::Ending(mut encoder) => {
                    if self.step(&mut encoder, true)? {
                        self.tell();
                        return Poll::Ready(Some(Ok(std::mem::take(&mut self.output).into())));
                    }
                    self.state = State::Ending(encoder);
                }
            }
            if self.output.len() >= FRAME {
                return Poll::Ready(Some(Ok(std::mem::take(&mut self.output).into())));
            }
        }
    }

    fn begin(&mut self) -> Result<Encoder, Error> {
        let start = self.now();
        let encoder = Encoder::new(self.way, self.body.size_hint().exact()).map_err(|_| uncompressed())?;
        self.count(start, 0, 0);
        Ok(encoder)
    }

    /// Reads another frame of the body.
    fn poll_input(&mut self, encoder: Encoder, context: &mut Context<'_>) -> Poll<Result<State, Error>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            self.state = State::Running(encoder);
            return Poll::Pending;
        };
        let Some(frame) = frame.transpose()?.map(Frame::into_data) else {
            return Poll::Ready(Ok(State::Ending(encoder)));
        };
        self.input = frame.unwrap_or_default();
        Poll::Ready(Ok(State::Running(encoder)))
    }

    /// Compresses as much as there is room for; true at the end of the stream.
    fn step(&mut self, encoder: &mut Encoder, is_last: bool) -> Result<bool, Error> {
        let start = self.now();
        let before = self.output.len();
        self.output.reserve(FRAME - before);
        let input = &self.input[..self.input.len().min(TURN)];
        let (taken, is_ended) = encoder.step(input, &mut self.output, is_last).map_err(|_| uncompressed())?;
        self.input.advance(taken);
        self.turn += taken;
        self.count(start, taken, self.output.len() - before);
        Ok(is_ended)
    }

    fn now(&self) -> Option<Instant> {
        self.learned.as_ref().map(|_| Instant::now())
    }

    fn count(&mut self, start: Option<Instant>, taken: usize, written: usize) {
        let (before, after, time) = &mut self.done;
        (*before, *after) = (*before + taken as u64, *after + written as u64);
        *time += start.map_or(Duration::ZERO, |start| start.elapsed());
    }

    fn tell(&self) {
        let (before, after, time) = self.done;
        self.learned.iter().for_each(|learned| learned.note(self.way, before, after, time));
    }
}

fn uncompressed() -> Error {
    failed("the body could not be compressed")
}

/// A stream that has begun cannot be repeated: a clone of it fails when it is sent.
impl Clone for Deflated {
    fn clone(&self) -> Self {
        let is_fresh = matches!(self.state, State::Fresh);
        let state = if is_fresh { State::Fresh } else { State::Without };
        Deflated { state, ..Deflated::new(self.body.clone(), self.way, self.learned.clone()) }
    }
}

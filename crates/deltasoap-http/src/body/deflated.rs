//! Bodies in gzip, compressed while they are sent.

use super::{Body, failed};
use bytes::{Buf, Bytes};
use deltasoap_core::Error;
use flate2::{Compress, Compression, FlushCompress, Status};
use http_body::{Body as _, Frame};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Bytes of a frame, except the last.
const FRAME: usize = 16 << 10;
/// Bytes compressed without a yield.
const TURN: usize = 256 << 10;
/// The window, as a power of two.
const WINDOW: u8 = 15;

/// A body that is compressed frame by frame. Its own frames are released one after the other.
#[derive(Debug)]
pub(super) struct Deflated {
    body: Body,
    level: u32,
    state: State,
    /// The rest of the current frame.
    input: Bytes,
    output: Vec<u8>,
    /// Bytes compressed since the last yield.
    turn: usize,
}

#[derive(Debug)]
enum State {
    Fresh,
    Running(Compress),
    /// The body has ended, but the stream has not.
    Ending(Compress),
    Done,
    /// A clone of a stream that had begun.
    Without,
}

impl Deflated {
    pub(super) fn new(body: Body, level: u32) -> Self {
        Deflated { body, level, state: State::Fresh, input: Bytes::new(), output: Vec::new(), turn: 0 }
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
                State::Fresh => self.state = State::Running(Compress::new_gzip(Compression::new(self.level), WINDOW)),
                State::Running(compress) if self.input.is_empty() => {
                    self.state = ready!(self.poll_input(compress, context))?;
                }
                State::Running(mut compress) => {
                    self.step(&mut compress, FlushCompress::None)?;
                    self.state = State::Running(compress);
                }
                State::Ending(mut compress) => match self.step(&mut compress, FlushCompress::Finish)? {
                    Status::StreamEnd => return Poll::Ready(Some(Ok(std::mem::take(&mut self.output).into()))),
                    Status::Ok | Status::BufError => self.state = State::Ending(compress),
                },
            }
            if self.output.len() >= FRAME {
                return Poll::Ready(Some(Ok(std::mem::take(&mut self.output).into())));
            }
        }
    }

    /// Reads another frame of the body.
    fn poll_input(&mut self, compress: Compress, context: &mut Context<'_>) -> Poll<Result<State, Error>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            self.state = State::Running(compress);
            return Poll::Pending;
        };
        let Some(frame) = frame.transpose()?.map(Frame::into_data) else {
            return Poll::Ready(Ok(State::Ending(compress)));
        };
        self.input = frame.unwrap_or_default();
        Poll::Ready(Ok(State::Running(compress)))
    }

    /// Compresses as much as there is room for.
    fn step(&mut self, compress: &mut Compress, flush: FlushCompress) -> Result<Status, Error> {
        self.output.reserve(FRAME - self.output.len());
        let before = compress.total_in();
        let input = &self.input[..self.input.len().min(TURN)];
        let status = compress.compress_vec(input, &mut self.output, flush);
        let taken = (compress.total_in() - before) as usize;
        self.input.advance(taken);
        self.turn += taken;
        status.map_err(|_| failed("the body could not be compressed"))
    }
}

/// A stream that has begun cannot be repeated: a clone of it fails when it is sent.
impl Clone for Deflated {
    fn clone(&self) -> Self {
        let is_fresh = matches!(self.state, State::Fresh);
        let state = if is_fresh { State::Fresh } else { State::Without };
        Deflated { state, ..Deflated::new(self.body.clone(), self.level) }
    }
}

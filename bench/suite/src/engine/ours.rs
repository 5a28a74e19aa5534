//! deltasoap itself, used as a server or a client would.

use std::num::NonZeroUsize;

use anyhow::{Context, Result};
use deltasoap::Error;
use deltasoap::engine::decode::Decoder;
use deltasoap::engine::{Buffer, DecodeOptions, Differential, Hint, Template, Templating};
use deltasoap::soap::Envelope;

use super::floor::{Compare, Copy};
use super::{Engine, Session, timed};
use crate::allocator;
use crate::encoded::with_shared_sample;
use crate::messages::with_sample;
use crate::payload::{Payload, Sample, Visitor, decode};
use crate::ring::Ring;
use crate::workload::{Action, Workload};

/// Size of the chunks in which a message arrives when memory is measured: the part of a message
/// that a server holds at a time.
const CHUNK: usize = 64 * 1024;

/// deltasoap in this process. The floors belong to it too: they show what this process's memory
/// allows.
#[derive(Debug, Default)]
pub struct Deltasoap {
    /// Size of the chunks that a message is fed in; `None` for whole messages.
    pub chunk: Option<NonZeroUsize>,
}

impl Engine for Deltasoap {
    fn name(&self) -> &str {
        "deltasoap"
    }

    fn offers(&self, _: &Workload) -> bool {
        true
    }

    fn prepare<'a>(&'a mut self, workload: &Workload, n: usize) -> Result<Box<dyn Session + 'a>> {
        let chunk = self.chunk.map(usize::from);
        let hint = workload.sent.and_then(|sent| with_sample(sent, n, Send));
        let mut session = with_sample(workload.values, n, Open { action: workload.action, chunk, hint });
        session.run(1)?;
        Ok(session)
    }
}

/// Prepares the same workload with shared values; returns `None` if it has none.
///
/// # Errors
/// When the first run fails.
pub fn prepare_shared(workload: &Workload, n: usize) -> Result<Option<Box<dyn Session>>> {
    let opened = with_shared_sample(workload.values, n, Open { action: workload.action, chunk: None, hint: None });
    opened.map(|mut session| session.run(1).map(|_| session)).transpose()
}

/// Writes a sample through a template; returns the result as a hint.
struct Send;

impl Visitor for Send {
    type Output = Option<Hint>;

    fn visit<T: Payload>(self, sample: Sample<T>) -> Self::Output {
        let mut template = Template::new(Templating::default());
        template.encode(&Envelope::new(&sample.values).encoding(T::ENCODING)).ok()?;
        template.hint()
    }
}

/// Opens a session on a sample.
struct Open {
    action: Action,
    chunk: Option<usize>,
    hint: Option<Hint>,
}

impl Visitor for Open {
    type Output = Box<dyn Session>;

    fn visit<T: Payload>(self, sample: Sample<T>) -> Self::Output {
        match self.action {
            Action::Decode => Box::new(Decode::new(sample, self.chunk, self.hint)),
            Action::Encode => Box::new(Encode { sample, buffer: Buffer::new() }),
            Action::Compare => Box::new(Compare::new(&sample.message)),
            Action::Copy => Box::new(Copy::new(&sample.message)),
        }
    }
}

/// Returns a decoder that compares nothing.
fn regular_decoder() -> Decoder {
    Decoder::new(DecodeOptions { differential: Differential::OFF, ..DecodeOptions::default() })
}

struct Decode<T> {
    sample: Sample<T>,
    ring: Ring,
    chunk: Option<usize>,
    decoder: Decoder,
    /// The hint from sending just before each message arrived.
    hint: Option<Hint>,
    /// The result of the last run.
    value: Option<T>,
}

impl<T: Payload> Decode<T> {
    fn new(sample: Sample<T>, chunk: Option<usize>, hint: Option<Hint>) -> Self {
        let ring = Ring::new(&sample.message);
        Decode { sample, ring, chunk, decoder: regular_decoder(), hint, value: None }
    }
}

impl<T: Payload> Session for Decode<T> {
    fn bytes(&self) -> usize {
        self.ring.message_len()
    }

    /// The time includes dropping the previous run's value, as in the peer protocol.
    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        let Decode { ring, chunk, decoder, hint, value, .. } = self;
        let mut run_once = || {
            let message = ring.next();
            let (ns, result) = timed(|| {
                drop(value.take());
                decoder.set_hint(hint.clone());
                decode(decoder, message, *chunk)
            });
            *value = Some(result?);
            Ok(ns)
        };
        (0..count).map(|_| run_once()).collect()
    }

    fn check(&mut self) -> Result<()> {
        self.sample.check_values(self.value.as_ref().context("nothing was decoded")?)
    }

    /// Measures the first message of a new decoder.
    fn peak_bytes(&mut self) -> Result<u64> {
        let message = self.ring.next();
        let decode_first = || -> Result<T, Error> {
            let mut decoder = regular_decoder();
            decoder.set_hint(self.hint.clone());
            decode(&mut decoder, message, Some(self.chunk.unwrap_or(CHUNK)))
        };
        let (result, peak) = allocator::peak_of(decode_first);
        self.sample.check_values(&result?)?;
        Ok(peak)
    }
}

struct Encode<T> {
    sample: Sample<T>,
    buffer: Buffer,
}

impl<T: Payload> Encode<T> {
    fn encode(&self, buffer: Buffer) -> Result<Buffer, Error> {
        Envelope::new(&self.sample.values).encoding(T::ENCODING).write(buffer)
    }
}

impl<T: Payload> Session for Encode<T> {
    fn bytes(&self) -> usize {
        self.buffer.len()
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        let run_once = |_| {
            let buffer = std::mem::take(&mut self.buffer);
            let (ns, result) = timed(|| self.encode(buffer));
            self.buffer = result?;
            Ok(ns)
        };
        (0..count).map(run_once).collect()
    }

    fn check(&mut self) -> Result<()> {
        self.sample.check_bytes(self.buffer.as_slice())?;
        self.sample.check_message(self.buffer.as_slice())
    }

    /// Measures the first message written into a new buffer.
    fn peak_bytes(&mut self) -> Result<u64> {
        let (result, peak) = allocator::peak_of(|| self.encode(Buffer::new()));
        self.sample.check_message(result?.as_slice())?;
        Ok(peak)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::Definitions;

    fn check(chunk: Option<NonZeroUsize>, n: usize) {
        for workload in Definitions::load().unwrap().workloads {
            let mut engine = Deltasoap { chunk };
            let mut session = engine.prepare(&workload, n).unwrap();
            session.check().unwrap_or_else(|error| panic!("{} {n}: {error:#}", workload.name));
            assert_eq!(session.run(3).unwrap().len(), 3);
            session.check().unwrap_or_else(|error| panic!("{} {n}: {error:#}", workload.name));
            session.peak_bytes().unwrap();
            assert!(session.bytes() > 100);
        }
    }

    #[test]
    fn shared_values_are_done_right() {
        let workloads = Definitions::load().unwrap().workloads;
        let sessions = workloads.iter().filter_map(|workload| prepare_shared(workload, 3000).unwrap());
        let mut count = 0;
        for mut session in sessions {
            session.check().unwrap();
            session.peak_bytes().unwrap();
            count += 1;
        }
        assert_eq!(count, 3);
    }

    #[test]
    fn every_workload_is_done_right() {
        for n in [0, 1, 10, 1000] {
            check(None, n);
        }
    }

    #[test]
    fn every_workload_is_done_right_in_small_chunks() {
        for n in [0, 1, 10, 1000] {
            check(NonZeroUsize::new(7), n);
        }
    }
}

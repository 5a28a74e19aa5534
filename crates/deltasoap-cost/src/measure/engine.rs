//! Toolkits that can be measured, and ours, in this process.
//!
//! deltasoap is measured with dynamic values whose schema is built at run time: the paper's 1330
//! composite types need no generated code, and predictions from a WSDL use the same kind of values.
//! Types with `#[derive(Soap)]` are faster.
//!
//! The costs of a toolkit that is compiled at run time depend on what has run before: a call that
//! has seen one class is compiled for that class. So peers are warmed up with everything that is
//! measured, before the calibration and before predictions are compared with measurements, and are
//! restarted every few rounds.

use super::sink::Link;
use super::{Clock, Times, process_time};
use crate::CostError;
use crate::calibration::{Activity, Mode, Toolkit};
use crate::predict::Sample;
use crate::usage::{Feature, Usage};
use crate::workload::{Body, Message, Workload, variants_of};
use deltasoap_core::decode::{Cursor, DecodeOptions, Decoder, Step};
use deltasoap_core::schema::View;
use deltasoap_core::soap::{EnvelopeReader, Head, Receiver};
use deltasoap_core::{Buffer, Differential, Error, ErrorKind, Memory, Outgoing, Template, Templating, Value};
use std::io;
use std::time::Duration;

/// A toolkit that can be measured.
pub trait Engine {
    /// Returns the name and version of the toolkit.
    fn toolkit(&self) -> Toolkit;

    /// Returns why a workload cannot be measured, in any activity; `None` if it can.
    fn refuses(&self, workload: &Workload) -> Option<String>;

    /// Warms up a JIT-compiled toolkit with these workloads before anything is measured. What is
    /// compiled depends on what has run, so the warm-up should be the same before measurements that
    /// are compared. It also depends on chance, so such a toolkit restarts at each call but the
    /// first.
    ///
    /// # Errors
    /// When the toolkit fails.
    fn warm_up(&mut self, _: &[Workload]) -> Result<(), CostError> {
        Ok(())
    }

    /// Returns the processor time so far of everything that belongs to the measurement.
    fn spent(&self) -> Duration {
        process_time()
    }

    /// Prepares a job that repeats an activity with a message; `None` if the toolkit does not
    /// support it.
    ///
    /// # Errors
    /// When the toolkit fails.
    fn prepare(
        &mut self,
        workload: &Workload,
        activity: Activity,
        mode: Mode,
    ) -> Result<Option<Box<dyn Job + '_>>, CostError>;

    /// Prepares a job with an operation's message. If values change, ours alternates with the next
    /// message.
    ///
    /// # Errors
    /// When the toolkit fails, or the message cannot be written or read back.
    fn prepare_sample<'s>(
        &'s mut self,
        sample: &'s Sample,
        activity: Activity,
        mode: Mode,
    ) -> Result<Option<Box<dyn Job + 's>>, CostError>;
}

/// A repeated activity with a message.
pub trait Job {
    /// Runs the activity `count` times; returns the times of one run.
    ///
    /// # Errors
    /// When the toolkit fails.
    fn run(&mut self, count: usize) -> Result<Times, CostError>;

    /// Returns the size of the message in bytes.
    fn bytes(&self) -> usize;
}

/// This toolkit, in this process.
#[derive(Debug)]
pub struct Deltasoap;

impl Deltasoap {
    /// Returns our name and version, with a mark for unoptimized builds.
    pub fn identity() -> Toolkit {
        let build = if cfg!(debug_assertions) { " (debug)" } else { "" };
        Toolkit { name: "deltasoap".to_owned(), version: format!("{}{build}", env!("CARGO_PKG_VERSION")) }
    }
}

impl Engine for Deltasoap {
    fn toolkit(&self) -> Toolkit {
        Deltasoap::identity()
    }

    fn refuses(&self, _: &Workload) -> Option<String> {
        None
    }

    fn prepare(
        &mut self,
        workload: &Workload,
        activity: Activity,
        mode: Mode,
    ) -> Result<Option<Box<dyn Job + '_>>, CostError> {
        // Messages without a predecessor are read and written in full, in differential mode too.
        let is_in_full = mode == Mode::Differential && !workload.is_compared();
        let is_read_so = is_in_full && activity == Activity::Deserialize;
        let message = Message::varied(workload, is_read_so)?;
        let mode = if is_in_full && !is_read_so { Mode::Regular } else { mode };
        job((message, workload.clone()), activity, mode).map(Some)
    }

    fn prepare_sample<'s>(
        &'s mut self,
        sample: &'s Sample,
        activity: Activity,
        mode: Mode,
    ) -> Result<Option<Box<dyn Job + 's>>, CostError> {
        match mode {
            Mode::Regular => job(Varied::new(sample)?, activity, mode).map(Some),
            Mode::Differential => job(sample, activity, mode).map(Some),
        }
    }
}

/// Prepares a job.
fn job<'s>(subject: impl Subject + 's, activity: Activity, mode: Mode) -> Result<Box<dyn Job + 's>, CostError> {
    Ok(match activity {
        Activity::Serialize => Box::new(Write::new(subject, mode, None)?),
        Activity::Send => {
            let link = Link::new().map_err(|error| failed(&subject.name(), &error))?;
            Box::new(Write::new(subject, mode, Some(link))?)
        }
        Activity::Deserialize => Box::new(Read::new(subject, mode)?),
    })
}

fn failed(what: &impl ToString, reason: &impl ToString) -> CostError {
    CostError::Engine { what: what.to_string(), reason: reason.to_string() }
}

/// The subject of a measurement: one message, or several in turn.
pub(crate) trait Subject {
    /// Returns the message of a turn.
    fn body(&self, turn: usize) -> Body<'_>;

    /// Returns the number of messages.
    fn count(&self) -> usize;

    /// Returns the name used in errors.
    fn name(&self) -> String;
}

impl Subject for (Message, Workload) {
    fn body(&self, turn: usize) -> Body<'_> {
        self.0.body(turn)
    }

    fn count(&self) -> usize {
        self.0.values.len()
    }

    fn name(&self) -> String {
        self.1.to_string()
    }
}

impl Subject for &Sample {
    fn body(&self, turn: usize) -> Body<'_> {
        self.body_in_turn(turn)
    }

    fn count(&self) -> usize {
        if self.is_changing() { 2 } else { 1 }
    }

    fn name(&self) -> String {
        self.operation.full_name()
    }
}

/// An operation's message, and others of the same size with other values.
struct Varied<'s> {
    sample: &'s Sample,
    values: Vec<Value>,
}

impl<'s> Varied<'s> {
    fn new(sample: &'s Sample) -> Result<Self, CostError> {
        let values = sample.variants(variants_of(sample.encode()?.len()));
        Ok(Varied { sample, values })
    }
}

impl Subject for Varied<'_> {
    fn body(&self, turn: usize) -> Body<'_> {
        Body { value: &self.values[turn % self.values.len()], ..self.sample.body() }
    }

    fn count(&self) -> usize {
        self.values.len()
    }

    fn name(&self) -> String {
        self.sample.operation.full_name()
    }
}

/// Checks that an operation's message can be written and read back.
///
/// # Errors
/// When it cannot.
pub(crate) fn check_sample(sample: &Sample, activity: Activity, mode: Mode) -> Result<(), CostError> {
    job(sample, activity, mode).map(drop)
}

/// Returns true if the message is compared with its predecessor in differential mode. Some never
/// are: their values may have several positions, or they contain nothing that reading could resume
/// from. The decoder and the template decide: they do not compare what they do not support.
pub(crate) fn is_compared(sample: &Sample, activity: Activity) -> bool {
    match activity {
        Activity::Deserialize => {
            let twice = Read::new(sample, Mode::Differential).and_then(|mut read| read.read().map(|()| read));
            twice.is_ok_and(|read| read.memory.is_some_and(|memory| memory.stats().compared > 0))
        }
        Activity::Serialize | Activity::Send => {
            let twice = Write::new(sample, Mode::Differential, None).and_then(|mut write| {
                write.write()?;
                write.write().map(|()| write)
            });
            twice.is_ok_and(|write| write.template.is_some_and(|template| template.stats().first < 2))
        }
    }
}

/// Serializes, and sends if there is a connection.
struct Write<S> {
    subject: S,
    link: Option<Link>,
    /// The template that messages are written against in differential mode.
    template: Option<Template>,
    buffer: Buffer,
    turn: usize,
    bytes: usize,
}

impl<S: Subject> Write<S> {
    fn new(subject: S, mode: Mode, link: Option<Link>) -> Result<Self, CostError> {
        let template = (mode == Mode::Differential).then(|| Template::new(Templating::default()));
        let bytes = subject.body(0).encode(Buffer::new()).map_err(|error| failed(&subject.name(), &error))?.len();
        Ok(Write { subject, link, template, buffer: Buffer::new(), turn: 0, bytes })
    }

    fn write(&mut self) -> Result<(), CostError> {
        let body = self.subject.body(self.turn);
        self.turn += 1;
        let done = match &mut self.template {
            Some(template) => against(template, &body).and_then(|written| send(self.link.as_mut(), written.frames())),
            None => {
                let written = body.encode(std::mem::take(&mut self.buffer)).map_err(io::Error::other);
                written.and_then(|written| {
                    self.buffer = written;
                    send(self.link.as_mut(), &[self.buffer.as_slice()])
                })
            }
        };
        done.map_err(|error| failed(&self.subject.name(), &error))
    }

    /// Sends each message separately, like messages that get a response. Messages queued after
    /// unread ones cost less, and how much less depends on the length of the queue.
    fn send_each(&mut self, count: usize) -> Result<Times, CostError> {
        one_by_one(self, count, Self::write, Self::settle)
    }

    fn settle(&self) -> Result<(), CostError> {
        let settled = self.link.as_ref().map_or(Ok(()), Link::settle);
        settled.map_err(|error| failed(&self.subject.name(), &error))
    }
}

/// Times `timed`, but not `between`, which runs after each call. Returns the medians of both
/// clocks, minus the overhead of the clocks: now and then the receiver is still busy with the
/// previous message.
fn one_by_one<T>(
    subject: &mut T,
    count: usize,
    mut timed: impl FnMut(&mut T) -> Result<(), CostError>,
    between: impl Fn(&T) -> Result<(), CostError>,
) -> Result<Times, CostError> {
    let overhead = Clock::overhead();
    let one = |_| {
        let clock = Clock::start();
        timed(subject)?;
        let times = clock.stop(1);
        between(subject)?;
        Ok(times)
    };
    let all = (0..count).map(one).collect::<Result<Vec<_>, CostError>>()?;
    Ok(Times::median(&all).without(overhead))
}

fn against(template: &mut Template, body: &Body<'_>) -> io::Result<Outgoing> {
    let written = template.encode(&body.envelope());
    written.map_err(io::Error::other)
}

fn send(link: Option<&mut Link>, frames: &[impl AsRef<[u8]>]) -> io::Result<()> {
    let Some(link) = link else { return Ok(()) };
    frames.iter().try_for_each(|frame| link.send(frame.as_ref()))
}

impl<S: Subject> Job for Write<S> {
    fn run(&mut self, count: usize) -> Result<Times, CostError> {
        if self.link.is_some() {
            return self.send_each(count);
        }
        let clock = Clock::start();
        (0..count).try_for_each(|_| self.write())?;
        Ok(clock.stop(count))
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Deserializes.
struct Read<S> {
    subject: S,
    decoder: Decoder,
    memory: Option<Box<Memory<Value>>>,
    mode: Mode,
    texts: Vec<Vec<u8>>,
    turn: usize,
}

impl<S: Subject> Read<S> {
    /// Reads each message once, and checks the result.
    fn new(subject: S, mode: Mode) -> Result<Self, CostError> {
        let differential = match mode {
            Mode::Regular => Differential::OFF,
            Mode::Differential => Differential { adaptive: false, ..Differential::default() },
        };
        let decoder = Decoder::new(DecodeOptions { differential, ..DecodeOptions::default() });
        let text = |at| subject.body(at).encode(Buffer::new()).map(Buffer::into_vec);
        let texts = (0..subject.count()).map(text).collect::<Result<_, Error>>();
        let texts = texts.map_err(|error| failed(&subject.name(), &error))?;
        let mut job = Read { subject, decoder, memory: None, mode, texts, turn: 0 };
        for _ in 0..job.texts.len() {
            job.read()?;
            job.check()?;
        }
        Ok(job)
    }

    fn read(&mut self) -> Result<(), CostError> {
        let memory = match self.mode {
            Mode::Regular => Box::new(Memory::new(Value::Absent)),
            Mode::Differential => self.memory.take().unwrap_or_else(|| Box::new(Memory::new(Value::Absent))),
        };
        let view = self.subject.body(self.turn).view;
        let mut reader = EnvelopeReader::new(Taking { memory, view });
        let text = &self.texts[self.turn % self.texts.len()];
        self.turn += 1;
        self.decoder.decode(&mut reader, text).map_err(|error| failed(&self.subject.name(), &error))?;
        self.memory = Some(reader.into_parts().1.memory);
        Ok(())
    }

    /// Checks that the result is written as the input was. Trees may get other prefixes, so only
    /// their length is compared.
    fn check(&self) -> Result<(), CostError> {
        let body = self.subject.body(self.turn - 1);
        let text = &self.texts[(self.turn - 1) % self.texts.len()];
        let value = self.memory.as_ref().map_or(&Value::Absent, |memory| memory.value());
        let again =
            Body { value, ..body }.encode(Buffer::new()).map_err(|error| failed(&self.subject.name(), &error))?;
        let has_trees = Usage::from_body(&body).count(Feature::Node) > 0.0;
        if again.as_slice() == text || has_trees && !again.is_empty() {
            return Ok(());
        }
        Err(failed(&self.subject.name(), &"the decoded value differs from the encoded one"))
    }
}

impl<S: Subject> Job for Read<S> {
    fn run(&mut self, count: usize) -> Result<Times, CostError> {
        let clock = Clock::start();
        (0..count).try_for_each(|_| self.read())?;
        Ok(clock.stop(count))
    }

    fn bytes(&self) -> usize {
        self.texts[0].len()
    }
}

/// Accepts the body's element with any name.
struct Taking<'a> {
    memory: Box<Memory<Value>>,
    view: View<'a>,
}

impl Receiver for Taking<'_> {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.memory.decode(cursor, self.view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty measurement yields less than half of the clocks' overhead.
    #[test]
    fn nothing_takes_no_time() {
        let (mut count, settled) = (0, std::cell::Cell::new(0));
        let nothing = |count: &mut i32| {
            *count += 1;
            Ok(())
        };
        let times = one_by_one(&mut count, 400, nothing, |_| {
            settled.set(settled.get() + 1);
            Ok(())
        });
        let (times, overhead) = (times.expect("no error"), Clock::overhead());
        assert!(times.cost() < overhead.cost() / 2.0, "{times:?} {overhead:?}");
        assert_eq!((count, settled.get()), (400, 400));
    }
}

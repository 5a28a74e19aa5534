//! A lane: one way of writing the messages of a case, in order.

use std::hint::black_box;
use std::net::SocketAddr;

use anyhow::{Result, ensure};
use deltasoap::engine::encode::differential::EncodeStats;

use super::overlaid::Overlaid;
use super::script::{Script, Start};
use super::shape::{Shape, check_message, memory_of};
use super::shared::Shared;
use super::writer::{Adaptive, Regular, Templated, Writer, Written};
use super::{Action, Case, Mode};
use crate::allocator;
use crate::engine::{Session, timed};
use crate::socket::{Link, Receiver};

/// Number of messages per run if one takes so little time that reading the clock would distort it.
const REPEATED: usize = 32;

/// Values, or a template's memory, of fewer bytes take little time.
const LARGE: usize = 64 << 10;

/// Opens a lane on items of a shape.
///
/// # Errors
/// When there is no server at the address, or the first message cannot be written.
pub fn open<S: Shape>(case: &Case, mode: Mode, server: Option<SocketAddr>) -> Result<Box<dyn Session>> {
    let script = Script::<S>::new(case);
    let options = case.templating();
    match mode {
        Mode::Floor => Ok(Box::new(Floor::new(&memory_of::<S>(&script.first)))),
        Mode::Regular => Lane::boxed(case, mode, script, server, |items| Regular::<S>::new(items)),
        Mode::Tracked => {
            Lane::boxed(case, mode, script, server, move |items| Templated::<S, _>::tracked(items, options))
        }
        Mode::Shared => Lane::boxed(case, mode, script, server, move |items| Shared::<S>::new(items, options)),
        Mode::Adaptive => Lane::boxed(case, mode, script, server, move |items| Adaptive::<S>::new(items, options)),
        Mode::Overlaid => Ok(Box::new(Overlaid::<S>::new(case, script, server)?)),
        Mode::Compared => {
            Lane::boxed(case, mode, script, server, move |items| Templated::<S, _>::compared(items, options))
        }
    }
}

/// Creates a writer of items that has written nothing.
type Make<S, W> = Box<dyn Fn(&[<S as Shape>::Item]) -> W>;

struct Lane<S: Shape, W> {
    script: Script<S>,
    writer: W,
    make: Make<S, W>,
    /// The connection for messages, if they are sent.
    link: Option<Link>,
    /// True if messages equal those of a naive writer, byte for byte.
    is_exact: bool,
    /// Number of messages per run.
    repeat: usize,
    /// Size of the last message.
    bytes: usize,
    /// The statistics of the timed runs.
    counts: Option<EncodeStats>,
}

impl<S: Shape, W: Writer<S> + 'static> Lane<S, W> {
    fn boxed(
        case: &Case,
        mode: Mode,
        script: Script<S>,
        server: Option<SocketAddr>,
        make: impl Fn(&[S::Item]) -> W + 'static,
    ) -> Result<Box<dyn Session>> {
        let link = server.map(Link::connect).transpose()?;
        let is_short = mode != Mode::Regular || case.n < 1000;
        let repeat = if case.action == Action::ContentMatch && link.is_none() && is_short { REPEATED } else { 1 };
        // An element without children has two spellings.
        let is_exact = (mode == Mode::Regular || case.is_exact()) && case.n > 0;
        let writer = make(&script.first);
        let mut lane = Lane { script, writer, make: Box::new(make), link, is_exact, repeat, bytes: 0, counts: None };
        lane.write_aside()?;
        Ok(Box::new(lane))
    }

    /// Prepares a timed message: undoes the last one, and applies the change.
    fn prepare(&mut self) -> Result<()> {
        match self.script.start {
            Start::Last => {}
            Start::First => self.send_first_again()?,
            Start::Anew => {
                self.writer.forget(Start::Anew);
                self.send_first_again()?;
            }
            Start::Nothing => self.writer.forget(Start::Nothing),
        }
        self.script.next().for_each(|(place, item)| self.writer.set(place, item));
        Ok(())
    }

    fn send_first_again(&mut self) -> Result<()> {
        self.script.back().for_each(|(place, item)| self.writer.set(place, item));
        self.write_aside()
    }

    /// Writes a message that is not sent.
    fn write_aside(&mut self) -> Result<()> {
        let written = self.writer.write()?;
        self.writer.take_back(written);
        Ok(())
    }

    /// The timed work.
    fn work(&mut self) -> Result<Written> {
        for _ in 1..self.repeat {
            self.write_aside()?;
        }
        let written = black_box(self.writer.write()?);
        if let Some(link) = &mut self.link {
            link.send(&written.pieces())?;
        }
        Ok(written)
    }

    fn timed_work(&mut self) -> Result<u64> {
        self.prepare()?;
        let before = self.writer.stats();
        let (ns, written) = timed(|| self.work());
        let written = written?;
        if let (Some(before), Some(after)) = (before, self.writer.stats()) {
            *self.counts.get_or_insert_default() += after - before;
        }
        self.bytes = written.len();
        self.writer.take_back(written);
        Ok(ns)
    }

    fn check_message(&self, message: &[u8]) -> Result<()> {
        check_message::<S>(message, self.script.current(), self.is_exact)
    }

    /// Sends a message to a server that keeps it, and checks it there.
    fn check_sent(&mut self) -> Result<()> {
        let receiver = Receiver::start()?;
        let link = Link::connect(receiver.address())?;
        let usual = self.link.replace(link);
        self.prepare()?;
        let written = self.work()?;
        self.writer.take_back(written);
        self.link = usual;
        self.check_message(&receiver.message()?)
    }
}

impl<S: Shape, W: Writer<S> + 'static> Session for Lane<S, W> {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn messages_per_run(&self) -> usize {
        self.repeat
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        (0..count).map(|_| self.timed_work()).collect()
    }

    /// Checks three messages, since values alternate.
    fn check(&mut self) -> Result<()> {
        for _ in 0..3 {
            self.prepare()?;
            let written = self.writer.write()?;
            let message = written.pieces().concat();
            self.writer.take_back(written);
            self.check_message(&message)?;
        }
        if self.link.is_some() { self.check_sent() } else { Ok(()) }
    }

    /// Measures the first message, including what is kept for the next one.
    fn peak_bytes(&mut self) -> Result<u64> {
        let mut fresh = (self.make)(&self.script.first);
        let (written, peak) = allocator::peak_of(|| fresh.write());
        written.map(|_| peak)
    }

    fn templates(&self) -> Option<EncodeStats> {
        self.counts
    }
}

/// Compares the memory of the values with equal memory.
struct Floor {
    values: [Vec<u8>; 2],
    is_equal: bool,
}

impl Floor {
    fn new(memory: &[u8]) -> Self {
        Floor { values: [memory.to_vec(), memory.to_vec()], is_equal: true }
    }

    fn compare(&mut self) {
        self.is_equal &= black_box(&self.values[0]) == black_box(&self.values[1]);
    }
}

impl Session for Floor {
    fn bytes(&self) -> usize {
        self.values[0].len()
    }

    fn messages_per_run(&self) -> usize {
        if self.bytes() < LARGE { REPEATED } else { 1 }
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        let repeat = self.messages_per_run();
        Ok((0..count).map(|_| timed(|| (0..repeat).for_each(|_| self.compare())).0).collect())
    }

    fn check(&mut self) -> Result<()> {
        ensure!(self.is_equal, "equal memory compares as different");
        Ok(())
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        Ok(0)
    }
}

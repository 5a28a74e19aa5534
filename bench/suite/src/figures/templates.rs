//! Goals on what services write: values that change in length, small values, numbers between zero
//! and one, very long arrays.
//!
//! "Full" is our own serialization of the same values into a reused buffer, unless a goal says
//! otherwise.

use std::fmt::Debug;
use std::hint::black_box;

use anyhow::{Context, Result, ensure};
use deltasoap::Message;
use deltasoap::engine::Buffer;
use deltasoap::engine::encode::differential::{Templates, Templating};
use deltasoap::soap::{Envelope, decode_request};
use deltasoap_streams::prng::{SEED, SplitMix64};
use deltasoap_streams::vsphere;

use super::goal::Goal;
use super::real::{AlarmResponse, StatusResponse};
use super::{Effort, Task};
use crate::engine::{Session, timed};
use crate::measure::{Figures, measure};
use crate::messages::SendDoubles;
use crate::send::{self, Action, Case, Field, Mode};
use crate::statistics::Interval;
use crate::stream::inform;
use crate::workload::Values;

/// Nanoseconds per uniform double in full when the goal was set, and the target speedup.
const UNIFORM: (f64, f64) = (53.0, 2.0);
/// Maximum time per item relative to an array with a tenth of the items.
const LONG: f64 = 1.3;

/// Returns the goals.
pub fn tasks(effort: Effort) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (percent, bound) in [(25, 0.35), (50, 0.60), (75, 0.85)] {
        tasks.extend(
            [Mode::Tracked, Mode::Compared].map(|mode| any_width(effort, (Field::Exact, mode), percent, bound)),
        );
    }
    for field in [Field::Maximal, Field::Learned(95)] {
        tasks.extend([25, 50, 75, 100].map(|percent| any_width(effort, (field, Mode::Adaptive), percent, 1.0)));
    }
    tasks.push(small(effort, "EntityStatus", || Ok(decode_request::<StatusResponse>(vsphere::status())?.1)));
    tasks.push(small(effort, "AlarmState[]", || Ok(decode_request::<AlarmResponse>(vsphere::alarms())?.1)));
    tasks.push(small(effort, "Inform", || Ok(decode_request::<inform::Inform>(inform::one())?.1)));
    tasks.push(task("real: uniform doubles in [0, 1), in full".to_owned(), move || uniform(effort)));
    let long = effort.n * 10;
    tasks.push(task(format!("real: {long} doubles into a new buffer, an item"), move || long_array(effort)));
    tasks
}

fn task(name: String, measure: impl FnOnce() -> Result<Goal> + 'static) -> Task {
    Task { name, measure: Box::new(measure) }
}

/// A goal on doubles of which some get other random bits, and so another length.
fn any_width(effort: Effort, (field, mode): (Field, Mode), percent: u32, bound: f64) -> Task {
    let width = match field {
        Field::Exact => String::new(),
        other => format!(", {} fields", other.name()),
    };
    task(format!("real: template, any width, {percent} % of doubles{width}, {}", mode.name()), move || {
        let case = Case::new(Action::Redrawn { field }, Values::Hard, effort.n).changed(percent);
        let mut sessions = [send::open(&case, mode, None)?, send::open(&case, Mode::Regular, None)?];
        let [ours, full] = pair(measure(&mut sessions, effort.sample_size, || ())?)?;
        let detail = format!("{:.3} ms, full {:.3}", ms(&ours), ms(&full));
        let times = ours.interval.by(full.interval);
        Ok(Goal::at_most(bound, "× full", times.median, detail).within(times))
    })
}

/// A goal on a value that is written repeatedly.
fn small<T: Message + PartialEq + Debug + 'static>(
    effort: Effort,
    name: &str,
    value: impl FnOnce() -> Result<T> + 'static,
) -> Task {
    task(format!("real: template, {name}, identical"), move || {
        let full = Writing::new(value()?, None)?;
        let bytes = full.expected.len();
        let template = Writing::new(full.clone_of_value()?, Some(Templates::new(Templating::default())))?;
        let mut sessions: [Box<dyn Session>; 2] = [Box::new(template), Box::new(full)];
        let [ours, full] = pair(measure(&mut sessions, effort.sample_size, || ())?)?;
        let detail = format!("{:.0} ns, full {:.0}, {bytes} bytes", ours.interval.median, full.interval.median);
        let times = full.interval.by(ours.interval);
        Ok(Goal::at_least(2.0, "times as fast as full", times.median, detail).within(times))
    })
}

fn uniform(effort: Effort) -> Result<Goal> {
    let (before, times) = UNIFORM;
    let mut random = SplitMix64::new(SEED);
    // 53 random bits after the binary point.
    let item = (0..effort.n).map(|_| random.uniform()).collect();
    let mut sessions: [Box<dyn Session>; 1] = [Box::new(Writing::new(SendDoubles { item }, None)?)];
    let figures = measure(&mut sessions, effort.sample_size, || ())?;
    let ns = figures.first().context("no figures")?.interval.times(1.0 / effort.n as f64);
    let detail = format!("{:.2} times as fast as {before} ns, as it was", before / ns.median);
    Ok(Goal::at_most(before / times, "ns an item", ns.median, detail).within(ns))
}

/// Neither array has a buffer from an earlier message.
fn long_array(effort: Effort) -> Result<Goal> {
    let case = |n| Case::new(Action::First, Values::Hard, n);
    let mut sessions =
        [send::open(&case(effort.n * 10), Mode::Regular, None)?, send::open(&case(effort.n), Mode::Regular, None)?];
    let [long, short] = pair(measure(&mut sessions, effort.sample_size, || ())?)?;
    let [of_long, of_short]: [Interval; 2] =
        [long.interval.times(1.0 / (10 * effort.n) as f64), short.interval.times(1.0 / effort.n as f64)];
    let detail = format!("{:.1} ns an item, of {} doubles {:.1}", of_long.median, effort.n, of_short.median);
    let times = of_long.by(of_short);
    Ok(Goal::at_most(LONG, "× an item of a tenth of them", times.median, detail).within(times))
}

fn pair(figures: Vec<Figures>) -> Result<[Figures; 2]> {
    figures.try_into().ok().context("a lane without figures")
}

fn ms(figures: &Figures) -> f64 {
    figures.interval.median / 1e6
}

/// Writes a value repeatedly, in full or as clients and services do.
struct Writing<T> {
    value: T,
    template: Option<Templates>,
    buffer: Buffer,
    /// The message in full.
    expected: Vec<u8>,
}

impl<T: Message> Writing<T> {
    fn new(value: T, template: Option<Templates>) -> Result<Self> {
        let expected = full(&value, Buffer::new())?.as_slice().to_vec();
        Ok(Writing { value, template, buffer: Buffer::new(), expected })
    }

    /// Returns an equal value in separate memory.
    fn clone_of_value(&self) -> Result<T> {
        Ok(decode_request::<T>(&self.expected)?.1)
    }

    fn write(&mut self) -> Result<()> {
        match &mut self.template {
            None => self.buffer = black_box(full(&self.value, std::mem::take(&mut self.buffer))?),
            Some(template) => drop(black_box(template.encode(&Envelope::new(&self.value))?)),
        }
        Ok(())
    }
}

fn full<T: Message>(value: &T, buffer: Buffer) -> Result<Buffer> {
    Ok(Envelope::new(value).write(buffer)?)
}

impl<T: Message> Session for Writing<T> {
    fn bytes(&self) -> usize {
        self.expected.len()
    }

    /// Small messages take less time than reading the clock.
    fn messages_per_run(&self) -> usize {
        (64_usize << 10).div_ceil(self.expected.len())
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        let messages = self.messages_per_run();
        let mut once = || {
            let (ns, result) = timed(|| (0..messages).try_for_each(|_| self.write()));
            result.map(|()| ns)
        };
        (0..count).map(|_| once()).collect()
    }

    fn check(&mut self) -> Result<()> {
        let written = match &mut self.template {
            None => self.buffer.as_slice().to_vec(),
            Some(template) => {
                let outgoing = template.encode(&Envelope::new(&self.value))?;
                outgoing.frames().iter().flat_map(|frame| frame.to_vec()).collect()
            }
        };
        ensure!(written == self.expected, "the message differs from the one in full");
        Ok(())
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        Ok(0)
    }
}

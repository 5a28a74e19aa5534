//! Decoding with a WSDL, compared with decoding into types: the same messages, alternating, both in
//! regular mode.

use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use deltasoap::engine::decode::Decoder;
use deltasoap::engine::{Buffer, DecodeOptions, Differential, Memory};
use deltasoap::soap::Envelope;
use deltasoap::types::Value;

use super::super::goal::Goal;
use super::super::{Effort, Task};
use super::Body;
use crate::engine::Session;
use crate::engine::timed;
use crate::measure::measure;
use crate::messages::with_sample;
use crate::payload::{Payload, Sample, Visitor, decode};
use crate::ring::Ring;
use crate::workload::Values;

/// The decoded shapes, and the maximum ratio of times for dynamic values.
const SHAPES: [(&str, Values, f64); 4] = [
    ("ints", Values::Ints, 2.5),
    ("hard doubles", Values::Hard, 2.5),
    ("strings", Values::Strings, 2.5),
    ("structs", Values::Structs, 4.0),
];

/// Returns a goal on each shape.
pub fn tasks(effort: Effort) -> Vec<Task> {
    let task = |(name, values, bound)| Task {
        name: format!("wsdl dynamic decode, {name}"),
        measure: Box::new(move || with_sample(values, effort.n, Both { effort, bound })),
    };
    SHAPES.map(task).into()
}

struct Both {
    effort: Effort,
    bound: f64,
}

impl Visitor for Both {
    type Output = Result<Goal>;

    fn visit<T: Payload>(self, sample: Sample<T>) -> Result<Goal> {
        let sample = Rc::new(sample);
        let mut sessions: [Box<dyn Session>; 2] = [Box::new(typed(&sample)), Box::new(dynamic(&sample)?)];
        let figures = measure(&mut sessions, self.effort.sample_size, || ())?;
        let [typed, dynamic] = [&figures[0], &figures[1]].map(|it| it.ns_median as f64 / 1e6);
        let detail = format!("{dynamic:.3} ms, typed {typed:.3}");
        Ok(Goal::at_most(self.bound, "× typed", dynamic / typed, detail))
    }
}

fn typed<T: Payload>(sample: &Rc<Sample<T>>) -> Decoding<T> {
    let kept = sample.clone();
    let read = Box::new(|decoder: &mut Decoder, message: &[u8]| Ok(decode::<T>(decoder, message, None)?));
    Decoding::new(&sample.message, read, Box::new(move |value| kept.check_values(value)))
}

fn dynamic<T: Payload>(sample: &Rc<Sample<T>>) -> Result<Decoding<Value>> {
    let body = Rc::new(Body::of("bench.wsdl", &T::ELEMENT)?);
    let (kept, written) = (sample.clone(), body.clone());
    let read = Box::new(move |decoder: &mut Decoder, message: &[u8]| {
        Ok(body.decode(decoder, Memory::new(Value::Absent), message)?.into_value())
    });
    let check = move |value: &Value| {
        let message = Envelope::element(&written.name, value, written.view()).write(Buffer::new())?;
        kept.check_message(message.as_slice())
    };
    Ok(Decoding::new(&sample.message, read, Box::new(check)))
}

type Read<V> = Box<dyn Fn(&mut Decoder, &[u8]) -> Result<V>>;
type Check<V> = Box<dyn Fn(&V) -> Result<()>>;

/// One way of decoding a message.
struct Decoding<V> {
    ring: Ring,
    decoder: Decoder,
    read: Read<V>,
    check: Check<V>,
    /// The result of the last run.
    value: Option<V>,
}

impl<V> Decoding<V> {
    fn new(message: &[u8], read: Read<V>, check: Check<V>) -> Self {
        let options = DecodeOptions { differential: Differential::OFF, ..DecodeOptions::default() };
        Decoding { ring: Ring::new(message), decoder: Decoder::new(options), read, check, value: None }
    }

    fn once(&mut self) -> Result<u64> {
        let Decoding { ring, decoder, read, value, .. } = self;
        let message = ring.next();
        let (ns, result) = timed(|| {
            drop(value.take());
            read(decoder, message)
        });
        *value = Some(result?);
        Ok(ns)
    }
}

impl<V> Session for Decoding<V> {
    fn bytes(&self) -> usize {
        self.ring.message_len()
    }

    /// The time includes dropping the previous value.
    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        (0..count).map(|_| self.once()).collect()
    }

    fn check(&mut self) -> Result<()> {
        if self.value.is_none() {
            self.once()?;
        }
        (self.check)(self.value.as_ref().context("nothing was decoded")?)
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        let (result, peak) = crate::allocator::peak_of(|| self.once());
        ensure!(result? > 0, "no time");
        Ok(peak)
    }
}

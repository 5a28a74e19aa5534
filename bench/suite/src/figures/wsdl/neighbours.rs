//! Recorded vSphere responses read as dynamic values: those with the markup of their predecessor.
//!
//! The whole stream is played as it was recorded. Only those messages are timed that differ from
//! their predecessor only in text and attribute values.

use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use deltasoap::engine::decode::Decoder;
use deltasoap::engine::{Buffer, DecodeOptions, Differential, Memory};
use deltasoap::schema::QName;
use deltasoap::soap::Envelope;
use deltasoap::types::Value;
use deltasoap_streams::vsphere::fetch_pairs;

use super::super::goal::Goal;
use super::super::{Effort, Task};
use super::Body;
use crate::engine::Session;
use crate::engine::timed;
use crate::measure::measure;

const BOUND: f64 = 2.0;

/// Returns the goal.
pub fn task(effort: Effort) -> Task {
    let measure = move || {
        let body = Body::of("vsphere-fetch.wsdl", &QName::new("urn:vim25", "FetchResponse"))?;
        let stream = Rc::new(Responses::recorded());
        let session = |differential| Playing::new(&body, &stream, differential);
        let mut sessions: [Box<dyn Session>; 2] =
            [Box::new(session(Differential::default())), Box::new(session(Differential::OFF))];
        let figures = measure(&mut sessions, effort.sample_size, || ())?;
        let [differential, regular] = [&figures[0], &figures[1]].map(|it| it.ns_median as f64 / 1e3);
        let (timed, all) = (stream.timed(), stream.0.len());
        let detail = format!("{differential:.1} µs a message, regular {regular:.1}; {timed} of {all} responses");
        Ok(Goal::at_least(BOUND, "times as fast as regular", regular / differential, detail))
    };
    Task { name: "wsdl vSphere FetchResponse neighbours".to_owned(), measure: Box::new(measure) }
}

/// Responses in order; true for those with the markup of their predecessor.
struct Responses(Vec<(&'static [u8], bool)>);

impl Responses {
    fn recorded() -> Self {
        let mut before = Vec::new();
        let responses = fetch_pairs().map(|(_, response)| {
            let skeleton = skeleton(response);
            let is_alike = skeleton == before;
            before = skeleton;
            (response, is_alike)
        });
        Responses(responses.collect())
    }

    fn timed(&self) -> usize {
        self.0.iter().filter(|(_, is_alike)| *is_alike).count()
    }
}

/// Returns a message without its text and attribute values.
fn skeleton(message: &[u8]) -> Vec<u8> {
    let (mut skeleton, mut is_tag, mut quote) = (Vec::new(), false, None);
    for &byte in message {
        match (byte, quote) {
            (_, Some(open)) => quote = quote.filter(|_| byte != open),
            (b'"' | b'\'', None) if is_tag => quote = Some(byte),
            (b'<', None) => is_tag = true,
            (b'>', None) => is_tag = false,
            _ if is_tag => skeleton.push(byte),
            _ => {}
        }
    }
    skeleton
}

/// A decoder that plays the stream repeatedly.
struct Playing {
    body: Body,
    stream: Rc<Responses>,
    decoder: Decoder,
    memory: Memory<Value>,
    is_kept: bool,
}

impl Playing {
    fn new(body: &Body, stream: &Rc<Responses>, differential: Differential) -> Self {
        let options = DecodeOptions { differential, ..DecodeOptions::default() };
        let (body, stream, memory) = (body.clone(), stream.clone(), Memory::new(Value::Absent));
        Playing { body, stream, decoder: Decoder::new(options), memory, is_kept: differential != Differential::OFF }
    }

    /// Returns the time of the messages that count.
    fn play(&mut self) -> Result<u64> {
        let stream = self.stream.clone();
        let mut total = 0;
        for &(message, is_timed) in &stream.0 {
            let ns = self.read(message)?;
            total += if is_timed { ns } else { 0 };
        }
        Ok(total)
    }

    fn read(&mut self, message: &[u8]) -> Result<u64> {
        let kept = std::mem::replace(&mut self.memory, Memory::new(Value::Absent));
        let memory = if self.is_kept { kept } else { Memory::new(Value::Absent) };
        let (ns, result) = timed(|| self.body.decode(&mut self.decoder, memory, message));
        self.memory = result?;
        Ok(ns)
    }

    fn written(&self) -> Result<Buffer> {
        Ok(Envelope::element(&self.body.name, self.memory.value(), self.body.view()).write(Buffer::new())?)
    }
}

impl Session for Playing {
    fn bytes(&self) -> usize {
        self.stream.0.iter().map(|(message, _)| message.len()).sum()
    }

    fn messages_per_run(&self) -> usize {
        self.stream.timed().max(1)
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        (0..count).map(|_| self.play()).collect()
    }

    /// Checks that each message gives the same as with a new decoder.
    fn check(&mut self) -> Result<()> {
        let stream = self.stream.clone();
        for &(message, _) in &stream.0 {
            self.read(message)?;
            let mut alone = Playing::new(&self.body, &stream, Differential::OFF);
            alone.read(message)?;
            ensure!(self.written()?.as_slice() == alone.written()?.as_slice(), "a response was read otherwise");
        }
        stream.0.first().map(drop).context("no responses")
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skeletons_tell_markup_apart_and_nothing_else() {
        let one = skeleton(b"<a t=\"x>\"><b>1</b></a>");
        assert_eq!(one, skeleton(b"<a t=\"\"><b>22</b></a>"));
        assert_ne!(one, skeleton(b"<a t=\"\"><b>1</b><b>1</b></a>"));
    }

    #[test]
    fn some_recorded_responses_are_alike() {
        assert!(Responses::recorded().timed() > 20);
    }
}

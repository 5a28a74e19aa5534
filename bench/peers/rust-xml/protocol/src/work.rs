//! A prepared workload.

use std::time::Instant;

use crate::{Message, Result, memory};

/// Number of copies of a message, so that no run finds its message in the cache because of the
/// previous run.
const COPIES: usize = 16;

/// The prepared work behind `prepare`, `run` and `output`.
pub trait Work {
    /// Does one timed run.
    fn once(&mut self) -> Result<()>;

    /// Returns the checksum of the last run's values, or of its decoded output.
    fn checksum(&mut self) -> Result<String>;

    /// Returns the size of the message in timed runs.
    fn bytes(&self) -> usize;

    /// Returns the last encoded message.
    fn output(&self) -> Option<&[u8]>;

    /// Returns the resident memory before the first run.
    fn baseline(&self) -> u64;
}

/// Returns the nanoseconds of each run, and their peak memory.
pub fn run(work: &mut dyn Work, count: usize) -> Result<(Vec<u64>, u64)> {
    memory::reset_peak();
    let mut times = Vec::new();
    for _ in 0..count {
        let start = Instant::now();
        work.once()?;
        times.push(start.elapsed().as_nanos() as u64);
    }
    Ok((times, memory::peak().saturating_sub(work.baseline())))
}

pub struct Decode<M> {
    copies: Vec<Vec<u8>>,
    next: usize,
    values: Option<M>,
    baseline: u64,
}

impl<M: Message> Decode<M> {
    pub fn new(message: Vec<u8>) -> Result<Self> {
        let copies = vec![message; COPIES];
        let mut decode = Decode { copies, next: 0, values: None, baseline: memory::resident() };
        decode.once()?;
        Ok(decode)
    }
}

impl<M: Message> Work for Decode<M> {
    /// Drops the values of the previous run first.
    fn once(&mut self) -> Result<()> {
        self.values = None;
        self.values = Some(M::decode(&self.copies[self.next % COPIES])?);
        self.next += 1;
        Ok(())
    }

    fn checksum(&mut self) -> Result<String> {
        self.values.as_ref().map(M::checksum).ok_or_else(|| "nothing was decoded".to_owned())
    }

    fn bytes(&self) -> usize {
        self.copies[0].len()
    }

    fn output(&self) -> Option<&[u8]> {
        None
    }

    fn baseline(&self) -> u64 {
        self.baseline
    }
}

pub struct Encode<M> {
    values: M,
    output: String,
    baseline: u64,
}

impl<M: Message> Encode<M> {
    pub fn new(message: &[u8]) -> Result<Self> {
        let values = M::decode(message)?;
        let mut encode = Encode { values, output: String::new(), baseline: memory::resident() };
        encode.once()?;
        Ok(encode)
    }
}

impl<M: Message> Work for Encode<M> {
    fn once(&mut self) -> Result<()> {
        self.output.clear();
        self.values.encode(&mut self.output)
    }

    fn checksum(&mut self) -> Result<String> {
        M::decode(self.output.as_bytes()).map(|values| values.checksum())
    }

    fn bytes(&self) -> usize {
        self.output.len()
    }

    fn output(&self) -> Option<&[u8]> {
        Some(self.output.as_bytes())
    }

    fn baseline(&self) -> u64 {
        self.baseline
    }
}

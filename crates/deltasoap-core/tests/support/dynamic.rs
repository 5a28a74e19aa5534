//! Messages of dynamic values, each compared with the result of a decoder that has read no other.

use deltasoap_core::decode::{Cursor, Decoder, Step};
use deltasoap_core::schema::View;
use deltasoap_core::soap::{EnvelopeReader, Head, Receiver};
use deltasoap_core::{DecodeOptions, Differential, DifferentialStats, Error, ErrorKind, Memory, Value};

struct Taker<'v> {
    view: View<'v>,
    memory: Memory<Value>,
}

impl Receiver for Taker<'_> {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.memory.decode(cursor, self.view)
    }
}

/// A stream of messages, each of which is also read by a separate decoder.
pub struct Stream<'v> {
    view: View<'v>,
    decoder: Decoder,
    memory: Memory<Value>,
}

impl<'v> Stream<'v> {
    pub fn new(view: View<'v>, differential: Differential) -> Self {
        let options = DecodeOptions { differential, ..DecodeOptions::default() };
        Stream { view, decoder: Decoder::new(options), memory: Memory::new(Value::Absent) }
    }

    /// Takes the time of each message from a function.
    #[allow(dead_code, reason = "not all tests that share this need it")]
    pub fn set_clock(&mut self, pace: fn(u64, bool) -> std::time::Duration) {
        self.memory.set_clock(pace);
    }

    /// Uses another decoder for the following messages, with the same memory. Returns the previous
    /// one.
    pub fn change_decoder(&mut self, decoder: Decoder) -> Decoder {
        std::mem::replace(&mut self.decoder, decoder)
    }

    pub fn read(&mut self, message: &str, chunk: usize) -> Result<Value, Error> {
        let memory = std::mem::replace(&mut self.memory, Memory::new(Value::Absent));
        let mut reader = EnvelopeReader::new(Taker { view: self.view, memory });
        self.decoder.reset();
        let mut chunks = message.as_bytes().chunks(chunk);
        let result = chunks.try_for_each(|chunk| self.decoder.push(&mut reader, chunk));
        let result = result.and_then(|()| self.decoder.finish(&mut reader));
        let (head, taker) = reader.into_parts();
        self.memory = taker.memory;
        result.map(|()| {
            assert!(head.version.is_some());
            self.memory.value().clone()
        })
    }

    /// Reads a message, and compares the result with that of the message alone.
    pub fn next(&mut self, message: &str, chunk: usize) -> Option<Value> {
        let alone = Stream::new(self.view, Differential::OFF).read(message, usize::MAX);
        assert_eq!(self.read(message, chunk), alone, "{message}");
        alone.ok()
    }

    pub fn stats(&self) -> DifferentialStats {
        self.memory.stats()
    }
}

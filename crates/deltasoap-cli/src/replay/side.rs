//! One way of decoding a stream: a decoder, and a memory for the messages of each type.

use super::types::{Track, Types};
use bytes::Bytes;
use deltasoap::Error;
use deltasoap::engine::decode::{Cursor, Decoder, Step};
use deltasoap::engine::{Buffer, Checkpoints, DecodeOptions, Deviation, DifferentialStats, ErrorKind};
use deltasoap::schema::QName;
use deltasoap::soap::{EnvelopeReader, Head, Receiver};
use std::time::{Duration, Instant};

/// A stream's decoder and memories: what a server keeps for a connection.
pub struct Side<'a> {
    decoder: Decoder,
    types: &'a Types,
    /// For each type, once a message of it was decoded.
    tracks: Vec<Option<Box<dyn Track>>>,
    /// Maximum number of bytes that each track held.
    peaks: Vec<u64>,
    /// True if the last value is kept for the next message.
    is_kept: bool,
}

/// The result of decoding a message.
#[derive(Debug)]
pub struct Decoded {
    /// Index of the message's type; `None` if its body was not reached or its type is unknown.
    pub kind: Option<usize>,
    /// Time spent decoding, including the release of the previous value.
    pub time: Duration,
    /// Ok if the message was decoded.
    pub result: Result<(), Error>,
}

impl<'a> Side<'a> {
    /// Creates a side that has decoded no message.
    pub fn new(types: &'a Types, options: DecodeOptions) -> Self {
        Side {
            decoder: Decoder::new(options),
            types,
            tracks: (0..types.len()).map(|_| None).collect(),
            peaks: vec![0; types.len()],
            is_kept: options.differential.checkpoints != Checkpoints::Off,
        }
    }

    /// Decodes the next message.
    pub fn decode(&mut self, message: &Bytes) -> Decoded {
        // The previous value is released before the message is decoded or during that; the time
        // counts either way.
        let begin = Instant::now();
        if !self.is_kept {
            self.tracks.iter_mut().flatten().for_each(|track| track.renew());
        }
        let mut reader = EnvelopeReader::new(Dispatch { types: self.types, tracks: &mut self.tracks, chosen: None });
        let message = message.clone();
        let result = self.decoder.decode_bytes(&mut reader, message);
        let time = begin.elapsed();
        let kind = reader.receiver.chosen;
        self.note_peak(kind);
        Decoded { kind, time, result }
    }

    /// Returns what the last message had beyond its schema.
    pub fn deviations(&self) -> &[Deviation] {
        self.decoder.deviations()
    }

    /// Returns the last value of a type, encoded; `None` before the first message.
    pub fn written(&self, kind: usize) -> Option<Result<Buffer, Error>> {
        Some(self.track(kind)?.written())
    }

    /// Returns true once a message of a type was decoded.
    pub fn has_met(&self, kind: usize) -> bool {
        self.track(kind).is_some()
    }

    /// Returns the counters of differential decoding for the messages of a type; the memory is the
    /// maximum.
    pub fn stats(&self, kind: usize) -> DifferentialStats {
        let stats = self.track(kind).map(Track::stats).unwrap_or_default();
        DifferentialStats { memory: self.peaks[kind], ..stats }
    }

    fn note_peak(&mut self, kind: Option<usize>) {
        let Some(kind) = kind else { return };
        let memory = self.track(kind).map_or(0, |track| track.stats().memory);
        self.peaks[kind] = self.peaks[kind].max(memory);
    }

    fn track(&self, kind: usize) -> Option<&dyn Track> {
        self.tracks.get(kind)?.as_deref()
    }
}

/// Finds the type of a message by the body's element, and that type's track.
struct Dispatch<'s> {
    types: &'s Types,
    tracks: &'s mut [Option<Box<dyn Track>>],
    chosen: Option<usize>,
}

impl Receiver for Dispatch<'_> {
    fn open_body(&mut self, _: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        self.chosen = self.types.find(namespace, local);
        match self.chosen {
            Some(kind) => {
                self.tracks[kind].get_or_insert_with(|| self.types[kind].start());
                Ok(())
            }
            None => Err(ErrorKind::UnknownOperation(QName::owned(namespace, local).to_string())),
        }
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        match self.chosen.and_then(|kind| self.tracks[kind].as_mut()) {
            Some(track) => track.decode(cursor),
            None => unreachable!("a body that was not opened"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::engine::Differential;
    use deltasoap_streams::arrays;

    #[test]
    fn messages_of_several_types_take_turns() {
        let types = Types::compiled_in();
        for differential in [Differential::OFF, Differential::default()] {
            let mut side = Side::new(&types, DecodeOptions { differential, ..DecodeOptions::default() });
            for n in [1, 2, 3] {
                let ints = side.decode(&Bytes::from(arrays::message_ints(&arrays::ints(n))));
                let doubles = side.decode(&Bytes::from(arrays::message_doubles(&arrays::hard_doubles(n))));
                assert!(ints.result.is_ok() && doubles.result.is_ok());
                let kind = doubles.kind.expect("a known type");
                let written = side.written(kind).expect("a value").expect("text");
                assert_eq!(String::from_utf8_lossy(written.as_slice()).matches("<item>").count(), n);
                assert_ne!(ints.kind, doubles.kind);
            }
        }
    }

    #[test]
    fn unknown_types_and_faults_are_told_apart() {
        let types = Types::compiled_in();
        let mut side = Side::new(&types, DecodeOptions::default());
        let unknown = side.decode(&Bytes::from(arrays::message_ints(&[1]).replace("sendInts", "other")));
        assert_eq!(unknown.kind, None);
        let error = unknown.result.expect_err("an unknown type");
        assert_eq!(*error.kind(), ErrorKind::UnknownOperation("{urn:bench}other".to_owned()));
        let fault = side.decode(&Bytes::from(arrays::message_ints(&[1]).replace(">1<", ">x<")));
        assert!(fault.kind.is_some() && fault.result.is_err());
    }
}

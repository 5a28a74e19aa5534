//! One way of decoding a stream: a decoder, and a memory for the messages of each type.

use super::types::{Track, Types};
use bytes::Bytes;
use deltasoap::decode::{Cursor, Decoder, Step};
use deltasoap::soap::{EnvelopeReader, Head, Receiver};
use deltasoap::{Buffer, Checkpoints, DecodeOptions, Deviation, DifferentialStats, Error, ErrorKind, QName};
use std::time::{Duration, Instant};

/// A stream's decoder and memories: what a server keeps of a connection.
pub struct Side<'a> {
    decoder: Decoder,
    types: &'a Types,
    /// For each type, once there was a message of it.
    tracks: Vec<Option<Box<dyn Track>>>,
    /// The most bytes that each track held.
    peaks: Vec<u64>,
    /// True if the last value is kept for the next message.
    is_kept: bool,
}

/// What came of a message.
#[derive(Debug)]
pub struct Decoded {
    /// The message's type, by its index; `None` if its body was not reached or is of no known type.
    pub kind: Option<usize>,
    /// Time spent decoding, the release of the value before included.
    pub time: Duration,
    /// Whether it was read.
    pub result: Result<(), Error>,
}

impl<'a> Side<'a> {
    /// A side in front of a stream's first message.
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
        // Whether a value is released before the next message or while that is read, it takes as
        // long: it counts either way.
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

    /// What the last message had beyond its schema.
    pub fn deviations(&self) -> &[Deviation] {
        self.decoder.deviations()
    }

    /// The last value of a type, written; `None` before the first message.
    pub fn written(&self, kind: usize) -> Option<Result<Buffer, Error>> {
        Some(self.track(kind)?.written())
    }

    /// True once there was a message of a type.
    pub fn has_met(&self, kind: usize) -> bool {
        self.track(kind).is_some()
    }

    /// What differential decoding did for the messages of a type; the memory is the most that there
    /// was.
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

/// Finds the type by the body's element, and its track.
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
    use deltasoap::Differential;
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

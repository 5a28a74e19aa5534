//! Writes responses: against the templates of earlier ones where such can be kept, else in full.
//!
//! Whose templates is decided as for requests: see [`memory`](super::memory). They are taken out while a response is written,
//! and put back at once, since they copy what is still being sent before they change it.

use super::answer::Answer;
use super::memory::{Place, TemplatePlace};
use super::record::Record;
use super::respond::whole;
use crate::body::Body;
use deltasoap_core::schema::Use;
use deltasoap_core::soap::{Version, encode_message};
use deltasoap_core::{Buffer, EncodeStats, Error, Message, Templating};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How a response is to be written.
#[derive(Debug)]
pub(crate) struct Writing {
    pub(crate) version: Version,
    pub(crate) encoding: Use,
    pub(crate) record: Arc<Record>,
    /// Where templates come from and go to; `None` for a response that stands alone.
    pub(crate) place: Option<Place>,
    pub(crate) templating: Templating,
}

impl Writing {
    /// Writes a response.
    ///
    /// # Errors
    /// When the value holds text that XML cannot carry.
    pub(crate) fn write<T: Message>(mut self, answer: &Answer<T>) -> Result<Body, Error> {
        let place = self.place.take().filter(|_| !self.record.sizes().are_small());
        let (body, stats) = match place {
            Some(place) => self.write_on(place.for_templates(&self.record, self.version), answer)?,
            None => self.write_in_full(answer)?,
        };
        self.record.count_encoded(&stats);
        Ok(body)
    }

    fn write_on<T: Message>(&self, place: TemplatePlace, answer: &Answer<T>) -> Result<(Body, EncodeStats), Error> {
        let mut templates = place.take(self.templating);
        let before = templates.stats();
        let written = templates.encode(self.version, self.encoding, &answer.headers, &answer.body);
        let stats = templates.stats() - before;
        let outgoing = written?;
        let is_small = self.record.sizes().note(outgoing.len());
        if !is_small {
            place.put(templates);
        }
        Ok((outgoing.into(), stats))
    }

    fn write_in_full<T: Message>(&self, answer: &Answer<T>) -> Result<(Body, EncodeStats), Error> {
        let sizes = self.record.sizes();
        let buffer = Buffer::with_capacity(sizes.expected());
        let buffer = encode_message(self.version, self.encoding, &answer.headers, &answer.body, buffer)?;
        sizes.note(buffer.len());
        let stats = in_full(buffer.len());
        Ok((whole(buffer), stats))
    }
}

/// What is counted for a response without templates.
fn in_full(len: usize) -> EncodeStats {
    let mut stats = EncodeStats::default();
    (stats.messages, stats.first) = (1, 1);
    (stats.bytes, stats.written) = (len as u64, len as u64);
    stats
}

/// The sizes of an operation's responses, so that buffers need not grow, and that small ones are not remembered.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    last: AtomicUsize,
    /// The largest one, less an eighth for each since.
    high: AtomicUsize,
}

/// Most bytes that are set aside for a response before it is written: they are zeroed, which a small response behind a
/// large one should not pay for. Larger ones double their buffer from here.
const EXPECTED: usize = 1 << 20;
/// Bytes beyond the last response that the next may have.
const SLACK: usize = 512;
/// Responses below so many bytes are written in full: keeping templates for each connection costs more than it saves.
const SMALL: usize = 512;

impl Sizes {
    fn expected(&self) -> usize {
        self.last.load(Relaxed).min(EXPECTED) + SLACK
    }

    /// Notes a response's size; true if those of late are small.
    fn note(&self, len: usize) -> bool {
        self.last.store(len, Relaxed);
        let high = self.high.load(Relaxed);
        self.high.store(len.max(high - high / 8), Relaxed);
        self.are_small()
    }

    /// True if the responses of late are small; not if there was none.
    fn are_small(&self) -> bool {
        (1..SMALL).contains(&self.high.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_made_as_large_as_the_last_response_and_no_larger_than_the_bound() {
        let sizes = Sizes::default();
        assert_eq!(sizes.expected(), SLACK);
        sizes.note(1000);
        assert_eq!(sizes.expected(), 1000 + SLACK);
        sizes.note(usize::MAX);
        assert_eq!(sizes.expected(), (1 << 20) + SLACK);
    }

    #[test]
    fn a_small_response_now_and_then_does_not_make_an_operation_small() {
        let sizes = Sizes::default();
        assert!(!sizes.are_small(), "nothing is known yet");
        assert!(sizes.note(SMALL - 1));
        for len in [SMALL * 2, 10, 10, SMALL * 2, 10] {
            assert!(!sizes.note(len));
        }
        assert!((0..10).map(|_| sizes.note(10)).last().expect("ten"));
        assert!(!sizes.note(SMALL));
    }
}

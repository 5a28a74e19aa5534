//! The templates of one operation.

use super::payoff::{MANY, Payoff, SHORT};
use super::similarity::similarity;
use super::{EncodeStats, Hint, MatchKind, Outgoing, RunPool, Template, Templating};
use crate::encode::Encoder;
use crate::soap::Envelope;
use crate::{Buffer, Error};
use std::time::Instant;

/// Bounds of the length of a message's beginning that is compared with each template: a part of the
/// message, but not too much.
const BEGINNING: std::ops::RangeInclusive<usize> = 512..=4096;
const PART: usize = 16;
/// A template with at least this similarity is used at once.
const SIMILAR: f32 = 0.95;
/// A template with less similarity is left to messages that it suits better, as long as another one
/// can be added.
const DISSIMILAR: f32 = 0.8;
/// After messages in full, one is written against a template only if it is at least this similar to
/// a template or to the last message that was looked at.
const ALIKE: f32 = 0.6;

/// Minimum number of bytes by which a message may exceed the last one without its buffer growing.
const SLACK: usize = 512;

/// Several templates for the messages of one operation (*Differential Serialization*, section 6).
/// Each message is written against the most similar one, so that callers which alternate between a
/// few different messages rewrite none of them.
///
/// There is one template as long as it does well. If message after message has to be rewritten,
/// templates are added, up to [`Templating::templates`]. If that does not help, or messages are too
/// short for it, they are written in full ([`Templating::adaptive`]).
#[derive(Debug, Clone)]
pub struct Templates {
    options: Templating,
    pool: Option<RunPool>,
    /// The templates, most recently used first.
    set: Vec<Template>,
    stats: EncodeStats,
    payoff: Payoff,
    /// Bytes of the last message.
    bytes: usize,
    /// True if the last message was written without a template.
    is_full: bool,
    /// Beginning of the last message that suited no template.
    unsuited: Vec<u8>,
}

impl Templates {
    /// Creates a set without templates.
    pub fn new(options: Templating) -> Self {
        let (set, stats, payoff, unsuited) = Default::default();
        Templates { options, pool: None, set, stats, payoff, bytes: 0, is_full: false, unsuited }
    }

    /// Creates a set without templates; future ones take over arrays that other templates of the
    /// pool hold.
    pub fn with_pool(options: Templating, pool: RunPool) -> Self {
        Templates { pool: Some(pool), ..Self::new(options) }
    }

    /// Sets the pool of templates to share with, or `None`. Chunks that are already shared stay
    /// shared.
    pub fn set_pool(&mut self, pool: Option<RunPool>) {
        self.set.iter_mut().for_each(|template| template.set_pool(pool.clone()));
        self.pool = pool;
    }

    /// Writes a message. Do not use one set for messages of different types: they would take each
    /// other's templates.
    ///
    /// # Errors
    /// Returns an error if the value holds text that XML cannot carry, or does not match its
    /// schema.
    pub fn encode(&mut self, envelope: &Envelope<'_>) -> Result<Outgoing, Error> {
        self.is_full = self.options.adaptive && self.payoff.wants_full();
        if self.is_full {
            return self.write_in_full(envelope);
        }
        let start = self.start();
        let same = self.set.iter().position(|template| template.is_of(envelope));
        let Some(chosen) = same.or_else(|| self.choose(|encoder| envelope.encode_without_headers(encoder))) else {
            self.is_full = true;
            self.payoff.add_search(start.map(|start| start.elapsed()).unwrap_or_default());
            return self.write_in_full(envelope);
        };
        self.set[..=chosen].rotate_right(1);
        let before = self.set[0].stats();
        let result = self.set[0].encode(envelope);
        let done = self.set[0].stats() - before;
        self.stats += done;
        if let Ok(message) = &result {
            self.bytes = message.len();
            let time = start.map(|start| start.elapsed());
            match message.kind() {
                MatchKind::FirstTime => self.payoff.add_time(message.len(), time),
                _ => self.payoff.add_against(message.len(), done.written, time),
            }
            if self.options.adaptive && self.payoff.wants_measure(self.bytes) {
                self.measure(envelope);
            }
        }
        result
    }

    /// Returns the lists of the last message, as a hint for decoding its answer. `None` without
    /// lists that hold `float` or `double`, and if the message was written without a template.
    pub fn hint(&self) -> Option<Hint> {
        self.set.first().filter(|_| !self.is_full)?.hint()
    }

    /// Returns the counters.
    pub fn stats(&self) -> EncodeStats {
        self.stats
    }

    /// Returns the memory of the templates in bytes. Memory shared by several counts for each.
    pub fn memory(&self) -> usize {
        self.set.iter().map(Template::memory).sum()
    }

    /// Returns the options.
    pub fn options(&self) -> &Templating {
        &self.options
    }

    /// Returns the number of templates.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Returns true if there are no templates.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Returns the current time, if the next message should be timed.
    fn start(&self) -> Option<Instant> {
        (self.options.adaptive && self.payoff.wants_time(self.bytes)).then(Instant::now)
    }

    /// Measures the time of writing a message in full, in addition to the one written against a
    /// template. A short message is written several times, since the first one has to load code and
    /// data into the processor's caches.
    fn measure(&mut self, envelope: &Envelope<'_>) {
        let write = || {
            let start = Instant::now();
            let message = envelope
                .write_parted(self.buffer())
                .map(|message| Outgoing::in_full(message, &mut EncodeStats::default()));
            std::hint::black_box(&message);
            start.elapsed()
        };
        let times = if self.bytes < SHORT { 4 } else { 1 };
        let time = (0..times).map(|_| write()).min().unwrap_or_default();
        self.payoff.measure(self.bytes, time);
    }

    /// Returns a buffer that is probably large enough for the next message.
    fn buffer(&self) -> Buffer {
        Buffer::with_capacity(self.bytes + (self.bytes / 8).max(SLACK))
    }

    fn write_in_full(&mut self, envelope: &Envelope<'_>) -> Result<Outgoing, Error> {
        let start = self.start();
        let message = envelope.write_parted(self.buffer())?;
        self.bytes = message.bytes.len();
        let message = Outgoing::in_full(message, &mut self.stats);
        self.payoff.add_full(self.bytes, start.map(|start| start.elapsed()));
        Ok(message)
    }

    /// Returns the index of the template to write against, which may be a new one; `None` if
    /// messages were written in full, and this one does not look as if a template would pay.
    fn choose(&mut self, write: impl FnOnce(&mut Encoder)) -> Option<usize> {
        let may_add = self.set.len() < self.options.templates.max(1);
        match self.set.len() {
            0 => Some(self.add()),
            1 if self.payoff.new < MANY => Some(0),
            1 if may_add => Some(self.add()),
            _ => self.most_alike(write, may_add),
        }
    }

    fn most_alike(&mut self, write: impl FnOnce(&mut Encoder), may_add: bool) -> Option<usize> {
        let len = (self.bytes / PART).clamp(*BEGINNING.start(), *BEGINNING.end());
        let beginning = Encoder::beginning(len, write);
        let (mut best, mut best_similarity) = (0, -1.0);
        for (index, template) in self.set.iter().enumerate() {
            let similarity = similarity(&beginning, template.pieces());
            if similarity > best_similarity {
                (best, best_similarity) = (index, similarity);
            }
            if similarity >= SIMILAR {
                break;
            }
        }
        let is_trial = self.options.adaptive && self.payoff.is_trial();
        if best_similarity >= if is_trial { ALIKE } else { DISSIMILAR } {
            return Some(best);
        }
        if is_trial {
            let earlier = std::mem::replace(&mut self.unsuited, beginning);
            if similarity(&self.unsuited, std::iter::once(&*earlier)) < ALIKE {
                return None;
            }
        }
        // The least recently used template is the smallest loss.
        Some(if may_add { self.add() } else { self.set.len() - 1 })
    }

    /// Adds an empty template and returns its index.
    fn add(&mut self) -> usize {
        self.payoff.new = 0;
        let mut template = Template::new(self.options);
        template.set_pool(self.pool.clone());
        self.set.push(template);
        self.set.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Child, Node, QName, Typed};
    use proptest::prelude::*;

    /// The way in which the next message is to be written.
    #[derive(Debug, Clone, Copy)]
    enum Way {
        AsBefore,
        InFull,
        Trial,
    }

    fn ways() -> impl Strategy<Value = Way> {
        prop_oneof![Just(Way::AsBefore), Just(Way::InFull), Just(Way::Trial)]
    }

    /// Returns a tree of one of several kinds.
    fn tree(kind: usize, value: u8) -> Node {
        let name = |name: String| QName::owned("urn:t", name);
        let leaf = |n: usize| {
            let text = if n.is_multiple_of(3) { "x".repeat(usize::from(value)) } else { n.to_string() };
            Child::Element(Node::with_text(name(format!("k{kind}n{n}")), format!("v{text}")))
        };
        let children = (0..5 + 20 * kind).map(leaf).collect();
        Node { children, ..Node::new(name("tree".to_owned())) }
    }

    proptest! {
        #[test]
        fn any_order_of_ways_gives_the_bytes_of_messages_in_full(
            templates in 1..4usize,
            messages in prop::collection::vec((ways(), 0..4usize, 0..4u8), 1..40),
        ) {
            let mut templates = Templates::new(Templating { templates, ..Templating::default() });
            let name = QName::new("urn:t", "operation");
            for (way, kind, value) in messages {
                match way {
                    Way::AsBefore => {}
                    Way::InFull => templates.payoff = Payoff::indebted(),
                    Way::Trial => templates.payoff = Payoff::on_trial(),
                }
                let tree = tree(kind, value);
                let envelope = Envelope::element(&name, &tree, Node::view());
                let sent = templates.encode(&envelope).expect("sent");
                prop_assert_eq!(sent.to_vec(), envelope.to_vec().expect("written"));
                prop_assert!(!matches!(way, Way::InFull) || sent.kind() == MatchKind::FirstTime);
            }
        }
    }

    /// Messages like no other are not tried. One that is like the last that was looked at gets a
    /// template, and the next one is written against it.
    #[test]
    fn after_messages_in_full_a_template_is_tried_for_alike_ones() {
        let mut templates = Templates::new(Templating::default());
        let name = QName::new("urn:t", "operation");
        let mut kept = |kind| {
            templates.payoff = Payoff::on_trial();
            let tree = tree(kind, 1);
            let sent = templates.encode(&Envelope::element(&name, &tree, Node::view())).expect("sent");
            (sent.kind(), templates.len())
        };
        // The first two templates are made without a look.
        assert_eq!([1, 2].map(&mut kept), [(MatchKind::FirstTime, 1), (MatchKind::FirstTime, 2)]);
        assert_eq!([3, 4, 5].map(&mut kept), [(MatchKind::FirstTime, 2); 3]);
        assert_eq!([5, 5].map(&mut kept), [(MatchKind::FirstTime, 3), (MatchKind::Content, 3)]);
        assert_eq!(kept(1), (MatchKind::Content, 3));
    }
}

//! The templates of one operation.

use super::alike::likeness;
use super::effort::{Effort, MANY, SHORT};
use super::{EncodeStats, Hint, MatchKind, Outgoing, RunPool, Template, Templating};
use crate::content::Encode;
use crate::encode::Encoder;
use crate::schema::{QName, Use, View};
use crate::soap::{Draft, HeaderBlock, Version};
use crate::{Buffer, Error, Message};
use std::time::Instant;

/// Bytes of a message's beginning that are compared with each template's: a part of the message,
/// and not too many.
const BEGINNING: std::ops::RangeInclusive<usize> = 512..=4096;
const PART: usize = 16;
/// A template this much alike is taken at once.
const ALIKE: f32 = 0.95;
/// One less alike than this is left to messages that it suits better, as long as there may be
/// another.
const UNLIKE: f32 = 0.8;

/// Several templates for the messages of one operation (*Differential Serialization*, section 6):
/// each message is written against the one that is most alike, so that callers which alternate
/// between a few different messages rewrite none of them.
///
/// There is one template as long as it does well. Where message after message has to be rewritten
/// there are more, up to [`Templating::templates`], and where none of that helps, or messages are
/// too short for it, they are written in full ([`Templating::adaptive`]).
#[derive(Debug, Clone)]
pub struct Templates {
    options: Templating,
    pool: Option<RunPool>,
    /// The one used last comes first.
    set: Vec<Template>,
    stats: EncodeStats,
    effort: Effort,
    /// Bytes of the last message.
    bytes: usize,
    /// True if the last message was written without a template.
    is_full: bool,
    /// True if values that several places share are copied.
    is_copying: bool,
}

impl Templates {
    /// No templates yet.
    pub fn new(options: Templating) -> Self {
        let (set, stats, effort) = Default::default();
        Templates { options, pool: None, set, stats, effort, bytes: 0, is_full: false, is_copying: false }
    }

    /// No templates yet; those to come take over arrays that other templates of the pool hold.
    pub fn with_pool(options: Templating, pool: RunPool) -> Self {
        Templates { pool: Some(pool), ..Self::new(options) }
    }

    /// From now on shares with the templates of another pool, or with none. What is shared already
    /// stays shared.
    pub fn set_pool(&mut self, pool: Option<RunPool>) {
        self.set.iter_mut().for_each(|template| template.set_pool(pool.clone()));
        self.pool = pool;
    }

    /// Whether values that several places share ([`Shared`](crate::Shared)) are written once, and
    /// referred to, in SOAP encoding; else they are copied, and a cycle is an error. Default: yes.
    pub fn set_references(&mut self, on: bool) {
        self.is_copying = !on;
    }

    /// Writes a message. Messages of different types do not belong into one set: they would take
    /// each other's templates.
    ///
    /// # Errors
    /// Returns an error if the value holds text that XML cannot carry.
    pub fn encode<T: Message>(
        &mut self,
        version: Version,
        encoding: Use,
        headers: &[HeaderBlock],
        body: &T,
    ) -> Result<Outgoing, Error> {
        self.encode_element(version, encoding, headers, &T::ELEMENT, (body, T::view()))
    }

    /// Like [`encode`](Self::encode), with a body element of any name, its value with the view that
    /// it is written with: for dynamic values.
    ///
    /// # Errors
    /// Same as [`encode`](Self::encode), and when the value is of another shape than its schema.
    pub fn encode_element<T: Encode>(
        &mut self,
        version: Version,
        encoding: Use,
        headers: &[HeaderBlock],
        name: &QName,
        body: (&T, View<'_>),
    ) -> Result<Outgoing, Error> {
        let (value, view) = body;
        let references = !self.is_copying;
        self.write(&Draft { version, encoding, headers, name, value, view, references })
    }

    /// Returns the lists of the last message, as a hint for reading what is answered to it. `None`
    /// without lists that hold `float` or `double`, and when the message was written without a
    /// template.
    pub fn hint(&self) -> Option<Hint> {
        self.set.first().filter(|_| !self.is_full)?.hint()
    }

    /// What was done so far.
    pub fn stats(&self) -> EncodeStats {
        self.stats
    }

    /// Returns the bytes of memory that the templates take. What several share counts for each.
    pub fn memory(&self) -> usize {
        self.set.iter().map(Template::memory).sum()
    }

    /// How messages are written.
    pub fn options(&self) -> &Templating {
        &self.options
    }

    /// Returns the number of templates.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Returns true if there is none.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    fn write(&mut self, draft: &Draft<'_>) -> Result<Outgoing, Error> {
        self.is_full = self.options.adaptive && self.effort.wants_full();
        if self.is_full {
            return self.write_in_full(draft);
        }
        let start = self.start();
        let chosen = match self.set.iter().position(|template| template.is_of(draft.value)) {
            Some(same) => same,
            None => self.choose(|encoder| draft.write(encoder)),
        };
        self.set[..=chosen].rotate_right(1);
        let before = self.set[0].stats();
        let result = self.set[0].write(draft);
        let done = self.set[0].stats() - before;
        self.stats += done;
        if let Ok(message) = &result {
            self.bytes = message.len();
            let time = start.map(|start| start.elapsed());
            match message.kind() {
                MatchKind::FirstTime => self.effort.add_time(message.len(), time),
                _ => self.effort.add_against(message.len(), done.written, time),
            }
            if self.options.adaptive && self.effort.wants_measure(self.bytes) {
                self.measure(draft);
            }
        }
        result
    }

    /// Now, if the next message shall be timed.
    fn start(&self) -> Option<Instant> {
        (self.options.adaptive && self.effort.wants_time(self.bytes)).then(Instant::now)
    }

    /// Writes a message in full, beside the one that was written against a template, to learn what
    /// that takes; some times if it is short, for the first one has to bring code and data to the
    /// processor.
    fn measure(&mut self, draft: &Draft<'_>) {
        let write = || {
            let start = Instant::now();
            let message =
                draft.encode(self.buffer()).map(|message| Outgoing::in_full(message, &mut EncodeStats::default()));
            std::hint::black_box(&message);
            start.elapsed()
        };
        let times = if self.bytes < SHORT { 4 } else { 1 };
        let time = (0..times).map(|_| write()).min().unwrap_or_default();
        self.effort.measure(self.bytes, time);
    }

    /// Likely enough for the next message.
    fn buffer(&self) -> Buffer {
        Buffer::with_capacity(self.bytes + self.bytes / 8)
    }

    fn write_in_full(&mut self, draft: &Draft<'_>) -> Result<Outgoing, Error> {
        let start = self.start();
        let message = draft.encode(self.buffer())?;
        self.bytes = message.len();
        let message = Outgoing::in_full(message, &mut self.stats);
        self.effort.add_full(self.bytes, start.map(|start| start.elapsed()));
        Ok(message)
    }

    /// Returns the place of the template to write against; perhaps a new one's.
    fn choose(&mut self, write: impl FnOnce(&mut Encoder)) -> usize {
        let may_add = self.set.len() < self.options.templates.max(1);
        match self.set.len() {
            0 => self.add(),
            1 if self.effort.new < MANY || !may_add => 0,
            1 => self.add(),
            _ => self.most_alike(write, may_add),
        }
    }

    fn most_alike(&mut self, write: impl FnOnce(&mut Encoder), may_add: bool) -> usize {
        let len = (self.bytes / PART).clamp(*BEGINNING.start(), *BEGINNING.end());
        let beginning = Encoder::beginning(len, write);
        let (mut best, mut likeness_of_best) = (0, -1.0);
        for (index, template) in self.set.iter().enumerate() {
            let likeness = likeness(&beginning, template.pieces());
            if likeness > likeness_of_best {
                (best, likeness_of_best) = (index, likeness);
            }
            if likeness >= ALIKE {
                break;
            }
        }
        match likeness_of_best < UNLIKE {
            true if may_add => self.add(),
            // It is lost least there.
            true => self.set.len() - 1,
            false => best,
        }
    }

    /// Adds a template of nothing, whose place this gives.
    fn add(&mut self) -> usize {
        self.effort.new = 0;
        let mut template = Template::new(self.options);
        template.set_pool(self.pool.clone());
        self.set.push(template);
        self.set.len() - 1
    }
}

//! The template of a message.

use super::against::{Against, Written};
use super::outgoing::Frames;
use super::tape::{Chunk, Kind, Names};
use super::{EncodeStats, Hint, MatchKind, Outgoing, RunPool, Stamp, Templating};
use crate::encode::Encoder;
use crate::schema::QName;
use crate::soap::{Body, Envelope, Form};
use crate::{Buffer, Error};
use bytes::Bytes;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The message last sent, and the positions of its values (*Differential Serialization*, section
/// 3.1). The next message is written against it, so that only the differences are written.
///
/// The messages should belong to one operation. Others are written correctly too, but nearly in
/// full; [`Templates`](crate::Templates) holds several for messages that alternate.
///
/// ```
/// use deltasoap::Soap;
/// use deltasoap::engine::{MatchKind, Template, Templating};
/// use deltasoap::soap::Envelope;
///
/// #[derive(Soap)]
/// #[soap(namespace = "urn:lab", message)]
/// struct Report {
///     station: String,
///     level: Vec<f64>,
/// }
///
/// let mut template = Template::new(Templating::default());
/// let mut report = Report { station: "north".to_owned(), level: vec![0.5; 1000] };
/// let first = template.encode(&Envelope::new(&report))?;
/// assert_eq!(first.kind(), MatchKind::FirstTime);
///
/// report.level[7] = 1.5;
/// let before = template.stats();
/// let second = template.encode(&Envelope::new(&report))?;
/// assert_eq!(second.kind(), MatchKind::PerfectStructural);
/// assert_eq!((template.stats() - before).written, 3);
///
/// // What was handed out stays as it is, for as long as it is held.
/// assert_ne!(first.to_vec(), second.to_vec());
/// assert_eq!(second.frames().concat().len(), second.len());
/// # Ok::<(), deltasoap::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Template {
    options: Templating,
    pool: Option<RunPool>,
    stats: EncodeStats,
    form: Option<Form>,
    chunks: Vec<Arc<Chunk>>,
    names: Names,
    /// The message as it was last handed out, if nothing has changed since.
    frames: Option<Frames>,
    /// The state of the value that the message was written from, and its element, if the value
    /// tracks its changes. The template holds no header blocks, which are inserted into the
    /// message.
    stamp: Option<(Stamp, QName)>,
    /// Number of bytes before the `Body` element.
    head: usize,
    /// See [`Outgoing::inclusive_prefixes`]. Those of all messages so far: what is followed is not
    /// declared again.
    unused_prefixes: Arc<BTreeSet<String>>,
    memory: usize,
}

impl Template {
    /// Creates an empty template.
    pub fn new(options: Templating) -> Self {
        let (stats, form, chunks, names, unused_prefixes) = Default::default();
        Template {
            options,
            pool: None,
            stats,
            form,
            chunks,
            names,
            frames: None,
            stamp: None,
            head: 0,
            unused_prefixes,
            memory: 0,
        }
    }

    /// Creates an empty template, which takes over arrays that other templates of the pool hold.
    pub fn with_pool(options: Templating, pool: RunPool) -> Self {
        Template { pool: Some(pool), ..Self::new(options) }
    }

    /// Sets the pool of templates to share with, or `None`. Chunks that are already shared stay
    /// shared.
    pub fn set_pool(&mut self, pool: Option<RunPool>) {
        self.pool = pool;
    }

    /// Writes a message: in full if it is the first, otherwise by changing what differs from the
    /// last one. A tracked value must be written with the same view each time: its state does not
    /// include the view.
    ///
    /// # Errors
    /// Returns an error if the value holds text that XML cannot carry, or does not match its
    /// schema. The next message is then written in full.
    pub fn encode(&mut self, envelope: &Envelope<'_>) -> Result<Outgoing, Error> {
        if self.options.is_off() || envelope.namespace.is_some() {
            return self.write_in_full(envelope);
        }
        let Ok(header) = envelope.header_element() else { return self.write_in_full(envelope) };
        let message = self.encode_body(envelope);
        let Some(message) = message else { return self.write_in_full(envelope) };
        Ok(self.hand_out(message, header))
    }

    /// Writes a message without its header; `None` if it cannot be written against a template.
    fn encode_body(&mut self, envelope: &Envelope<'_>) -> Option<(Frames, MatchKind)> {
        let form = envelope.form();
        let stamp = if envelope.prefixes.is_empty() { stamp_of(envelope) } else { None };
        if let Some(frames) = self.unchanged(stamp.as_ref(), &form) {
            return Some((frames, MatchKind::Content));
        }
        if self.form.as_ref() != Some(&form) {
            self.chunks.clear();
            self.form = Some(form);
        }
        self.stamp = stamp;
        let (chunks, names) = (std::mem::take(&mut self.chunks), std::mem::take(&mut self.names));
        let mut against = Against::new(self.options, chunks, names, self.stats).with_pool(self.pool.clone());
        against.frames = self.frames.take();
        let mut encoder = Encoder::with_template(against);
        envelope.encode_without_headers(&mut encoder);
        encoder.finish_template().map(|written| self.keep(written))
    }

    /// Returns the lists of the last message, as a hint for decoding its answer. `None` without
    /// lists that hold `float` or `double`.
    pub fn hint(&self) -> Option<Hint> {
        Hint::from_chunks(&self.chunks)
    }

    /// Returns the counters.
    pub fn stats(&self) -> EncodeStats {
        self.stats
    }

    /// Returns the memory of the template in bytes. Shared memory counts in each template.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Returns the options.
    pub fn options(&self) -> &Templating {
        &self.options
    }

    /// Returns true if the template was written from this value in its current state.
    pub(super) fn is_of(&self, envelope: &Envelope<'_>) -> bool {
        let stamp = stamp_of(envelope);
        stamp.is_some() && stamp == self.stamp
    }

    /// Returns the message's bytes.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks.iter().map(|chunk| chunk.bytes())
    }

    /// Returns the message, if the value reports that its state is unchanged.
    fn unchanged(&self, stamp: Option<&(Stamp, QName)>, form: &Form) -> Option<Frames> {
        let is_same = stamp.is_some() && stamp == self.stamp.as_ref() && self.form.as_ref() == Some(form);
        self.frames.clone().filter(|_| is_same)
    }

    /// Stores a written message in the template, and returns it for sending.
    fn keep(&mut self, written: Written) -> (Frames, MatchKind) {
        let Written { chunks, names, stats, kind, frames, unused_prefixes } = written;
        (self.chunks, self.names, self.stats) = (chunks, names, stats);
        self.head = start_of_second(&self.chunks);
        if !unused_prefixes.is_subset(&self.unused_prefixes) {
            Arc::make_mut(&mut self.unused_prefixes).extend(unused_prefixes);
        }
        if let Some(frames) = frames {
            self.frames = Some(frames.clone());
            return (frames, kind);
        }
        let frames = self.chunks.iter().filter(|chunk| !chunk.bytes().is_empty()).map(frame);
        let frames = Frames::new(frames);
        self.frames = Some(frames.clone());
        let chunks: usize = self.chunks.iter().map(|chunk| chunk.memory()).sum();
        self.memory = chunks + self.names.memory() + size_of::<Self>();
        if self.memory > self.options.bytes {
            self.forget();
        }
        (frames, kind)
    }

    /// Returns the message for sending, with its header.
    fn hand_out(&mut self, (frames, kind): (Frames, MatchKind), header: Option<Vec<u8>>) -> Outgoing {
        let message = Outgoing::new(frames, kind, self.head, Arc::clone(&self.unused_prefixes));
        let message = match header {
            Some(header) => {
                self.stats.written += header.len() as u64;
                message.with_header(header)
            }
            None => message,
        };
        self.stats.count(kind, message.len());
        message
    }

    fn write_in_full(&mut self, envelope: &Envelope<'_>) -> Result<Outgoing, Error> {
        self.forget();
        Ok(Outgoing::in_full(envelope.write_parted(Buffer::new())?, &mut self.stats))
    }

    fn forget(&mut self) {
        self.chunks = Vec::new();
        self.names = Names::default();
        (self.frames, self.stamp, self.memory) = (None, None, 0);
    }
}

/// Returns the state of a body's value and its element, if the value tracks its changes.
fn stamp_of(envelope: &Envelope<'_>) -> Option<(Stamp, QName)> {
    match envelope.body {
        Body::Element { name, value, .. } => value.stamp().map(|stamp| (stamp, name.clone())),
        Body::Fault(_) => None,
    }
}

/// Returns the number of bytes before the second start tag of a message, that of its `Body`.
fn start_of_second(chunks: &[Arc<Chunk>]) -> usize {
    let (mut before, mut starts) = (0, 0);
    for chunk in chunks {
        let Chunk::Tape(tape) = &**chunk else { break };
        for entry in tape.entries.iter().filter(|entry| entry.kind == Kind::Start) {
            starts += 1;
            if starts == 2 {
                return before + entry.pos();
            }
        }
        before += tape.bytes.len();
    }
    before
}

/// Returns a chunk as a piece of a message, sharing its memory.
fn frame(chunk: &Arc<Chunk>) -> Bytes {
    struct Held(Arc<Chunk>);

    impl AsRef<[u8]> for Held {
        fn as_ref(&self) -> &[u8] {
            self.0.bytes()
        }
    }

    Bytes::from_owner(Held(Arc::clone(chunk)))
}

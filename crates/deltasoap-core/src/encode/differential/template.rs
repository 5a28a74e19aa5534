//! The template of a message.

use super::against::{Against, Written};
use super::outgoing::Frames;
use super::tape::{Chunk, Names};
use super::{EncodeStats, Hint, MatchKind, Outgoing, RunPool, Stamp, Templating};
use crate::content::Encode;
use crate::encode::Encoder;
use crate::schema::{QName, Use, View};
use crate::soap::{Draft, HeaderBlock, Version};
use crate::{Buffer, Error, Message};
use bytes::Bytes;
use std::sync::Arc;

/// The message last sent, and the positions of its values (*Differential Serialization*, section
/// 3.1). The next message is written against it, so that only the differences are written.
///
/// The messages should belong to one operation. Others are written correctly too, but nearly in
/// full; [`Templates`](crate::Templates) holds several for messages that alternate.
///
/// ```
/// use deltasoap::schema::Use;
/// use deltasoap::soap::Version;
/// use deltasoap::{MatchKind, Soap, Template, Templating};
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
/// let first = template.encode(Version::Soap11, Use::Literal, &[], &report)?;
/// assert_eq!(first.kind(), MatchKind::FirstTime);
///
/// report.level[7] = 1.5;
/// let before = template.stats();
/// let second = template.encode(Version::Soap11, Use::Literal, &[], &report)?;
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
    form: Option<(Version, Use)>,
    chunks: Vec<Arc<Chunk>>,
    names: Names,
    /// The message as it was last handed out, if nothing has changed since.
    frames: Option<Frames>,
    /// The state of the value that the message was written from, and its element, if the value
    /// tracks its changes and there were no headers.
    stamp: Option<(Stamp, QName)>,
    memory: usize,
    /// True if values shared by several places are copied.
    is_copying: bool,
}

impl Template {
    /// Creates an empty template.
    pub fn new(options: Templating) -> Self {
        let (stats, form, chunks, names) = Default::default();
        Template {
            options,
            pool: None,
            stats,
            form,
            chunks,
            names,
            frames: None,
            stamp: None,
            memory: 0,
            is_copying: false,
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

    /// Sets whether values shared by several places ([`Shared`](crate::Shared)) are written once
    /// and referred to in SOAP encoding. Otherwise they are copied, and a cycle is an error.
    /// Default: true.
    pub fn set_references(&mut self, on: bool) {
        self.is_copying = !on;
    }

    /// Writes a message: in full if it is the first, otherwise by changing what differs from the
    /// last one.
    ///
    /// # Errors
    /// Returns an error if the value holds text that XML cannot carry. The next message is then
    /// written in full.
    pub fn encode<T: Message>(
        &mut self,
        version: Version,
        encoding: Use,
        headers: &[HeaderBlock],
        body: &T,
    ) -> Result<Outgoing, Error> {
        self.encode_element(version, encoding, headers, &T::ELEMENT, (body, T::view()))
    }

    /// Like [`encode`](Self::encode), with a body element of any name, from a value and its view.
    /// Used for dynamic values. A tracked value must be written with the same view each time: its
    /// state does not include the view.
    ///
    /// # Errors
    /// Same as [`encode`](Self::encode), and if the value does not match its schema.
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

    /// Writes a message against the last one.
    pub(super) fn write(&mut self, draft: &Draft<'_>) -> Result<Outgoing, Error> {
        if self.options.is_off() {
            return self.write_in_full(draft);
        }
        let form = (draft.version, draft.encoding);
        let stamp = draft.value.stamp().filter(|_| draft.headers.is_empty()).map(|stamp| (stamp, draft.name.clone()));
        if let Some(frames) = self.unchanged(stamp.as_ref(), form) {
            return Ok(self.hand_out(frames, MatchKind::Content));
        }
        if self.form.replace(form) != Some(form) {
            self.chunks.clear();
        }
        self.stamp = stamp;
        let (chunks, names) = (std::mem::take(&mut self.chunks), std::mem::take(&mut self.names));
        let mut against = Against::new(self.options, chunks, names, self.stats).with_pool(self.pool.clone());
        against.frames = self.frames.take();
        let mut encoder = Encoder::with_template(against);
        draft.write(&mut encoder);
        match encoder.finish_template() {
            Some(written) => Ok(self.keep(written)),
            None => self.write_in_full(draft),
        }
    }

    /// Returns true if the template was written from this value in its current state.
    pub(super) fn is_of(&self, value: &dyn Encode) -> bool {
        let stamp = value.stamp();
        stamp.is_some() && stamp == self.stamp.as_ref().map(|(stamp, _)| *stamp)
    }

    /// Returns the message's bytes.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks.iter().map(|chunk| chunk.bytes())
    }

    /// Returns the message, if the value reports that its state is unchanged.
    fn unchanged(&self, stamp: Option<&(Stamp, QName)>, form: (Version, Use)) -> Option<Frames> {
        let is_same = stamp.is_some() && stamp == self.stamp.as_ref() && self.form == Some(form);
        self.frames.clone().filter(|_| is_same)
    }

    /// Stores a written message in the template, and returns it for sending.
    fn keep(&mut self, written: Written) -> Outgoing {
        let Written { chunks, names, stats, kind, frames } = written;
        (self.chunks, self.names, self.stats) = (chunks, names, stats);
        if let Some(frames) = frames {
            self.frames = Some(frames.clone());
            return self.hand_out(frames, kind);
        }
        let frames = self.chunks.iter().filter(|chunk| !chunk.bytes().is_empty()).map(frame);
        let frames = Frames::new(frames);
        self.frames = Some(frames.clone());
        let chunks: usize = self.chunks.iter().map(|chunk| chunk.memory()).sum();
        self.memory = chunks + self.names.memory() + size_of::<Self>();
        if self.memory > self.options.bytes {
            self.forget();
        }
        self.hand_out(frames, kind)
    }

    fn hand_out(&mut self, frames: Frames, kind: MatchKind) -> Outgoing {
        self.stats.count(kind, frames.len());
        Outgoing::new(frames, kind)
    }

    fn write_in_full(&mut self, draft: &Draft<'_>) -> Result<Outgoing, Error> {
        self.forget();
        Ok(Outgoing::in_full(draft.encode(Buffer::new())?, &mut self.stats))
    }

    fn forget(&mut self) {
        self.chunks = Vec::new();
        self.names = Names::default();
        (self.frames, self.stamp, self.memory) = (None, None, 0);
    }
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

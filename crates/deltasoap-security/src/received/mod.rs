//! A message that arrives: its head as a tree, and the canonical bytes of what is signed.
//!
//! ```text
//! bytes ── Walk ──┬── head: everything before the body, as a tree with positions
//!                 │      └── checked at once: tokens, signatures, digests of header blocks
//!                 └── body: canonicalized and hashed while it arrives, for the digests that the
//!                           signatures in the head contain
//! ```
//!
//! The tokens are those of the same reader that decodes messages. What is signed counts by its
//! place in the message: the body is the one that the decoder reads, a header block is a child of
//! the header. So a signed element that was moved elsewhere proves nothing (signature wrapping),
//! and an id that occurs twice is refused.

mod canonical;
mod collect;
mod tree;

pub(crate) use canonical::{Part, canonical_parts};
pub(crate) use collect::EncryptedData;
pub(crate) use tree::{Tree, ids_of};

use crate::algorithms::DigestAlgorithm;
use crate::algorithms::Hasher;
use crate::error::SecurityError;
use crate::ns;
use collect::{Collector, bindings};
use deltasoap_core::soap::Version;
use deltasoap_xml::c14n::{Canonicalizer, Method};
use deltasoap_xml::{Event, Feed, Instructions, Limits, Reader, Stop, Window, XmlError};
use std::collections::BTreeSet;

/// Maximum bytes before the body.
pub(crate) const MAX_HEAD: usize = 1 << 20;
/// Maximum number of encrypted parts of a message.
pub(crate) const MAX_ENCRYPTED: usize = 64;
/// Maximum number of references to the body or to something in it. Each one may canonicalize and
/// hash the whole body.
const MAX_TARGETS: usize = 16;

/// What is known when the body's start tag was read.
#[derive(Debug, Default)]
pub(crate) struct MessageHead {
    pub(crate) version: Version,
    /// The message up to the body's start tag, which is not part of it, in UTF-8.
    pub(crate) bytes: Vec<u8>,
    /// The elements of the head. The envelope is the first one.
    pub(crate) tree: Tree,
    /// The ids of the body.
    pub(crate) body_ids: Vec<String>,
    /// The elements with encrypted data, and the prefixes in their scope with their namespaces; at
    /// most [`MAX_ENCRYPTED`].
    pub(crate) encrypted: Vec<(usize, Vec<(String, String)>)>,
}

/// What is to be found in the body.
#[derive(Debug, Default)]
pub(crate) struct BodyPlan {
    pub(crate) targets: Vec<Target>,
    /// Ids of signed elements of the head, which nothing in the body may have.
    pub(crate) taken_ids: BTreeSet<String>,
    /// Ids of encrypted data, which is collected.
    pub(crate) encrypted: BTreeSet<String>,
}

/// A reference to the body, or to something in it.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) id: String,
    pub(crate) method: Method,
    pub(crate) algorithm: DigestAlgorithm,
    pub(crate) digest: Vec<u8>,
}

/// Checks the head of a message. Returns what has to be found in its body.
pub(crate) type CheckHead<'c> = dyn FnMut(&MessageHead) -> Result<BodyPlan, SecurityError> + 'c;

/// Reads a message as it arrives.
#[derive(Debug)]
pub(crate) struct Walk {
    feed: Feed,
    walker: Walker,
}

impl Walk {
    pub(crate) fn new(limits: Limits) -> Self {
        Walk { feed: Feed::new(limits), walker: Walker::new(limits) }
    }

    /// Sets the encoding that the media type names.
    pub(crate) fn set_encoding(&mut self, encoding: deltasoap_xml::Encoding) {
        self.feed.set_encoding(encoding);
    }

    /// Takes the next bytes. Malformed documents are left to the decoder, which reports where the
    /// fault is; they fail in [`finish`](Self::finish).
    ///
    /// # Errors
    /// Returns the error of `check`, or the reason why a body cannot be verified.
    pub(crate) fn push(&mut self, bytes: &[u8], check: &mut CheckHead<'_>) -> Result<(), SecurityError> {
        let Walk { feed, walker } = self;
        if !walker.is_broken {
            let pushed: Result<(), Box<XmlError>> = feed.push(bytes, |window| walker.step(window, check));
            walker.is_broken |= pushed.is_err();
        }
        walker.error.clone().map_or(Ok(()), Err)
    }

    /// Ends the message: compares the digests.
    ///
    /// # Errors
    /// Returns an error if the message is incomplete, or a digest does not match.
    pub(crate) fn finish(&mut self, check: &mut CheckHead<'_>) -> Result<(), SecurityError> {
        let Walk { feed, walker } = self;
        if !walker.is_broken {
            let finished: Result<(), Box<XmlError>> = feed.finish(|window| walker.step(window, check));
            walker.is_broken |= finished.is_err();
        }
        walker.error.clone().map_or(Ok(()), Err)?;
        if walker.is_broken || walker.state != State::After {
            return Err(SecurityError::Malformed("the message is not well-formed or has no body".to_owned()));
        }
        walker.check_digests()
    }

    /// Returns the offset of the body's start tag, in bytes of UTF-8, once it was read.
    pub(crate) fn body_start(&self) -> Option<u64> {
        self.walker.body_start
    }

    /// Returns true if the document is malformed, or no message.
    pub(crate) fn is_broken(&self) -> bool {
        self.walker.is_broken
    }

    /// Returns true after the body.
    pub(crate) fn is_after_body(&self) -> bool {
        self.walker.state == State::After
    }

    /// Compares the digests, after the body.
    ///
    /// # Errors
    /// Returns an error if one does not match.
    pub(crate) fn check_digests(&mut self) -> Result<(), SecurityError> {
        self.walker.check_digests()
    }

    /// Returns the encoding of the document, once it is known.
    pub(crate) fn encoding(&self) -> Option<deltasoap_xml::Encoding> {
        self.feed.encoding()
    }

    /// Returns the encrypted data in the body that is complete, once.
    pub(crate) fn take_encrypted(&mut self) -> Vec<EncryptedData> {
        self.walker.collector.take()
    }

    /// Returns the place up to which everything was read and is not part of incomplete encrypted
    /// data, in bytes of UTF-8.
    pub(crate) fn position(&self) -> u64 {
        self.walker.collector.open_since().unwrap_or(self.walker.position)
    }

    /// Returns true if all encrypted data that the head refers to was found.
    pub(crate) fn has_all_encrypted(&self) -> bool {
        self.walker.collector.is_complete()
    }

    /// Returns true if all content of the body is encrypted.
    pub(crate) fn is_body_encrypted(&self) -> bool {
        self.walker.collector.is_body_encrypted()
    }
}

#[derive(Debug)]
struct Walker {
    reader: Reader,
    state: State,
    /// The document's offset at which the head's bytes begin: after a byte order mark.
    origin: Option<u64>,
    /// Elements of the head that are open.
    open: Vec<usize>,
    head: MessageHead,
    taken_ids: BTreeSet<String>,
    targets: Vec<Awaited>,
    body_start: Option<u64>,
    collector: Collector,
    /// The place after what was read.
    position: u64,
    /// True if the document is malformed, or no message.
    is_broken: bool,
    error: Option<SecurityError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Body,
    After,
}

/// A target, until its digest is complete.
#[derive(Debug)]
struct Awaited {
    target: Target,
    canonicalizer: Canonicalizer,
    hasher: Hasher,
    progress: Progress,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Waiting,
    Inside,
    Done,
}

impl Walker {
    fn new(limits: Limits) -> Self {
        Walker {
            reader: Reader::new(limits, Instructions::Refuse),
            state: State::Head,
            origin: None,
            open: Vec::new(),
            head: MessageHead::default(),
            taken_ids: BTreeSet::new(),
            targets: Vec::new(),
            body_start: None,
            collector: Collector::default(),
            position: 0,
            is_broken: false,
            error: None,
        }
    }

    fn step(&mut self, window: &mut Window<'_>, check: &mut CheckHead<'_>) -> Result<(), Option<Box<XmlError>>> {
        let from = window.pos;
        self.origin.get_or_insert(window.base + from as u64);
        loop {
            if self.state == State::Body {
                self.pass(window);
            }
            let event = match self.reader.next(window) {
                Ok(Event::Done) => return Ok(()),
                Ok(event) => event,
                Err(Stop::Pending) => {
                    self.position = window.base + window.pos as u64;
                    self.keep(&window.bytes[from..window.pos]);
                    window.halted |= self.error.is_some();
                    return Err(None);
                }
                Err(Stop::Error(error)) => return Err(Some(error)),
            };
            self.position = window.base + window.pos as u64;
            let outcome = match self.state {
                State::Head if self.is_body(event) => {
                    let start = (self.reader.tag_offset() - window.base) as usize;
                    self.keep(&window.bytes[from..start]);
                    self.begin_body(event, check)
                }
                State::Head => self.head_event(event, window),
                State::Body => self.body_event(event),
                State::After => Ok(()),
            };
            if let Err(error) = outcome {
                self.error.get_or_insert(error);
            }
            if self.error.is_some() || self.is_broken {
                window.halted = true;
                return Ok(());
            }
        }
    }

    /// Keeps bytes of the head.
    fn keep(&mut self, bytes: &[u8]) {
        if self.state != State::Head {
            return;
        }
        if self.head.bytes.len() + bytes.len() > MAX_HEAD {
            let error = format!("the message has more than {MAX_HEAD} bytes before its body");
            self.error.get_or_insert(SecurityError::Malformed(error));
            return;
        }
        self.head.bytes.extend_from_slice(bytes);
    }

    fn is_body(&self, event: Event<'_>) -> bool {
        let (names, name) = (self.reader.names(), self.reader.name());
        event == Event::Start
            && self.reader.depth() == 2
            && names.local(name) == "Body"
            && Version::from_namespace(names.namespace(name)).is_some()
    }

    fn head_event(&mut self, event: Event<'_>, window: &Window<'_>) -> Result<(), SecurityError> {
        let origin = self.origin.unwrap_or_default();
        match event {
            Event::Start => {
                let start = (self.reader.tag_offset() - origin) as usize;
                let parent = self.open.last().copied();
                if parent.is_none() {
                    let namespace = self.reader.names().namespace(self.reader.name());
                    let version = Version::from_namespace(namespace);
                    self.is_broken |= version.is_none();
                    self.head.version = version.unwrap_or_default();
                }
                let element = self.head.tree.add(&self.reader, parent, start)?;
                if self.head.tree.get(element).is(ns::XENC, "EncryptedData")
                    && self.head.encrypted.len() < MAX_ENCRYPTED
                {
                    self.head.encrypted.push((element, bindings(&self.reader)));
                }
                self.open.push(element);
            }
            Event::End => {
                let end = (window.base + window.pos as u64 - origin) as usize;
                if let Some(element) = self.open.pop() {
                    self.head.tree.end(element, end);
                }
            }
            Event::Text(text) => self.head_text(text),
            Event::Char(c) => self.head_text(c.encode_utf8(&mut [0; 4])),
            Event::Done => {}
        }
        Ok(())
    }

    fn head_text(&mut self, text: &str) {
        if let Some(&element) = self.open.last() {
            self.head.tree.push_text(element, text);
        }
    }

    /// Checks the head, and begins what is signed in the body.
    fn begin_body(&mut self, event: Event<'_>, check: &mut CheckHead<'_>) -> Result<(), SecurityError> {
        self.state = State::Body;
        self.body_start = Some(self.reader.tag_offset());
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        self.head.body_ids = ids_of(&self.reader).map(str::to_owned).collect();
        let BodyPlan { targets, taken_ids, encrypted } = check(&self.head)?;
        if targets.len() > MAX_TARGETS {
            let error = format!("signatures have more than {MAX_TARGETS} references to the body");
            return Err(SecurityError::Malformed(error));
        }
        self.taken_ids = taken_ids;
        self.collector = Collector::new(encrypted);
        self.targets =
            targets.into_iter().map(|target| Awaited::new(target, &self.head.tree, &mut self.reader)).collect();
        self.body_event(event)
    }

    fn body_event(&mut self, event: Event<'_>) -> Result<(), SecurityError> {
        if event == Event::Start {
            self.begin_targets()?;
        }
        let Walker { targets, reader, .. } = self;
        for awaited in targets.iter_mut().filter(|awaited| awaited.progress == Progress::Inside) {
            let Awaited { canonicalizer, hasher, progress, .. } = awaited;
            let taken = canonicalizer.event(event, reader, &mut |piece| hasher.update(piece));
            taken.map_err(|error| SecurityError::Check(error.to_string()))?;
            if canonicalizer.is_done() {
                *progress = Progress::Done;
            }
        }
        if self.collector.is_used() {
            self.collector.event(event, &self.reader, self.position)?;
        }
        if event == Event::End && self.reader.depth() == 1 {
            self.state = State::After;
        }
        Ok(())
    }

    /// Begins the targets that the start tag just read has the id of.
    fn begin_targets(&mut self) -> Result<(), SecurityError> {
        let Walker { targets, reader, taken_ids, .. } = self;
        for id in ids_of(reader) {
            if taken_ids.contains(id) {
                return Err(twice(id));
            }
            for awaited in targets.iter_mut().filter(|awaited| awaited.target.id == id) {
                if awaited.progress != Progress::Waiting {
                    return Err(twice(id));
                }
                awaited.progress = Progress::Inside;
            }
        }
        for awaited in targets.iter_mut().filter(|awaited| awaited.progress == Progress::Waiting) {
            awaited.canonicalizer.around(reader);
        }
        Ok(())
    }

    /// Passes content that is its own canonical form, if a single target takes it and no other one
    /// may begin in it.
    fn pass(&mut self, window: &mut Window<'_>) {
        if self.collector.is_used() {
            return;
        }
        let Walker { targets, reader, .. } = self;
        if targets.iter().any(|awaited| awaited.progress == Progress::Waiting) {
            return;
        }
        let mut inside = targets.iter_mut().filter(|awaited| awaited.progress == Progress::Inside);
        if let (Some(awaited), None) = (inside.next(), inside.next()) {
            let Awaited { canonicalizer, hasher, .. } = awaited;
            canonicalizer.pass(reader, window, &mut |piece| hasher.update(piece));
        }
    }

    fn check_digests(&mut self) -> Result<(), SecurityError> {
        for Awaited { target, hasher, progress, .. } in self.targets.drain(..) {
            if progress != Progress::Done {
                return Err(SecurityError::Check(format!("nothing in the message has the signed id {:?}", target.id)));
            }
            if hasher.finish() != target.digest {
                return Err(SecurityError::Check(format!(
                    "the digest of the signed element {:?} of the body does not match",
                    target.id
                )));
            }
        }
        Ok(())
    }
}

impl Awaited {
    fn new(target: Target, head: &Tree, reader: &mut Reader) -> Self {
        let mut canonicalizer = Canonicalizer::new(target.method.clone());
        canonicalizer.prepare(reader);
        if let Some(envelope) = head.root() {
            envelope.xml_attributes().for_each(|(local, value)| canonicalizer.inherit(local, value));
        }
        Awaited { hasher: target.algorithm.hasher(), target, canonicalizer, progress: Progress::Waiting }
    }
}

fn twice(id: &str) -> SecurityError {
    SecurityError::Malformed(format!("the signed id {id:?} occurs twice"))
}

//! The envelope: reads `Header` blocks as trees, identifies the content of the `Body` and hands it
//! to a [`Receiver`].

use super::{HeaderBlock, Version};
use crate::decode::{Cursor, Opened, Root, Step, Stop, Tag, skip_element};
use crate::schema::View;
use crate::{Content, Error, ErrorKind, Node, Typed, ns};

/// The version and headers of a message, known when the body is opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    /// The version of SOAP; `None` until the envelope's start tag is read.
    pub version: Option<Version>,
    /// Header blocks in document order.
    pub headers: Vec<HeaderBlock>,
}

impl Head {
    /// Returns the version of the message; 1.1 until it is known.
    pub fn version(&self) -> Version {
        self.version.unwrap_or_default()
    }

    /// Returns the first header block with this name.
    pub fn header(&self, namespace: &str, local: &str) -> Option<&HeaderBlock> {
        self.headers.iter().find(|block| block.node.name.is(namespace, local))
    }
}

/// Receives a message's body.
pub trait Receiver {
    /// Called when the body's element is opened. Its name determines the content.
    ///
    /// # Errors
    /// Returns an error if no content has that name.
    fn open_body(&mut self, head: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind>;

    /// Called when the body is empty, as in a message without parts.
    ///
    /// # Errors
    /// Returns an error if no message has an empty body.
    fn empty_body(&mut self, head: &Head) -> Result<(), ErrorKind> {
        let _ = head;
        Err(ErrorKind::Envelope("the Body is empty"))
    }

    /// Returns true if the body may hold several elements, once its first is open. Then none of
    /// them is compared with an earlier message, since one may refer to content of another.
    fn takes_several(&self) -> bool {
        false
    }

    /// Called when another element is opened after the body's first: a second part. This happens
    /// only if the receiver [takes several](Self::takes_several). Elements that are targets of
    /// references are not reported here: they are skipped, and read where they are referred to.
    ///
    /// # Errors
    /// Returns an error if no content has that name.
    fn open_another(&mut self, head: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        self.open_body(head, namespace, local)
    }

    /// Reads the last opened element; see [`Content::decode`].
    ///
    /// # Errors
    /// Same as [`Content::decode`].
    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step;

    /// Called at the end of the body, after one element or several.
    ///
    /// # Errors
    /// Returns an error if a part is missing.
    fn close_body(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

/// The outermost decoding routine for messages.
#[derive(Debug)]
pub struct EnvelopeReader<R> {
    /// The receiver of the body.
    pub receiver: R,
    head: Head,
    /// Byte offsets of the header blocks in the message.
    places: Vec<u64>,
    /// True if the envelope declares SOAP encoding.
    is_encoded: bool,
}

/// Before the envelope.
const START: u8 = 0;
/// Between the envelope's children.
const ENVELOPE: u8 = 1;
/// Between header blocks.
const HEADER: u8 = 2;
/// Inside a header block.
const BLOCK: u8 = 3;
/// Inside the body, outside its element.
const BODY: u8 = 4;
/// Inside the body's element.
const ENTRY: u8 = 5;
/// Inside an element after the body.
const TRAILER: u8 = 6;
/// After the envelope.
const AFTER: u8 = 7;
/// Inside an element of the body that is only the target of references.
const INDEPENDENT: u8 = 8;

/// Flags in the frame's `field`: the elements seen so far.
const SEEN_HEADER: u32 = 1;
const SEEN_BODY: u32 = 2;
const SEEN_ENTRY: u32 = 4;

impl<R: Receiver> EnvelopeReader<R> {
    /// Creates a reader for one message.
    pub fn new(receiver: R) -> Self {
        EnvelopeReader { receiver, head: Head::default(), places: Vec::new(), is_encoded: false }
    }

    /// Returns the version and headers read so far.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Returns the head and the receiver.
    pub fn into_parts(self) -> (Head, R) {
        (self.head, self.receiver)
    }

    fn open_envelope(&mut self, cursor: &mut Cursor<'_>) -> Step {
        cursor.next_tag()?;
        let (names, name) = (cursor.names(), cursor.name());
        if names.local(name) != "Envelope" {
            return Err(cursor.error_at_tag(ErrorKind::Envelope("the root element is not a SOAP Envelope")));
        }
        self.head.version = Version::from_namespace(names.namespace(name));
        if self.head.version.is_none() {
            let found = names.namespace(name).to_owned();
            return Err(cursor.error_at_tag(ErrorKind::VersionMismatch(found)));
        }
        self.is_encoded = self.says_encoded(cursor);
        Ok(())
    }

    /// Opens the next child of the envelope. Returns the state to continue in.
    fn open_part(&mut self, cursor: &mut Cursor<'_>, me: usize) -> Step<u8> {
        let tag = cursor.next_tag()?;
        let seen = cursor.frame(me).field;
        if tag != Tag::Start {
            return if seen & SEEN_BODY != 0 {
                Ok(AFTER)
            } else {
                Err(cursor.error_at_end(ErrorKind::Envelope("the Envelope has no Body")))
            };
        }
        let version = self.head.version();
        let is = |local| cursor.names().is(cursor.name(), version.namespace(), local);
        let (state, now) = if is("Header") && seen == 0 {
            (HEADER, SEEN_HEADER)
        } else if is("Body") && seen & SEEN_BODY == 0 {
            (BODY, SEEN_BODY)
        } else if version == Version::Soap11 && seen & SEEN_BODY != 0 && !is("Body") && !is("Header") {
            (TRAILER, 0)
        } else {
            return Err(cursor.error_at_tag(ErrorKind::Envelope("expected at most one Header, then one Body")));
        };
        cursor.frame(me).field |= now;
        let is_header = state == HEADER;
        let is_encoded = self.is_encoded || state == BODY && self.says_encoded(cursor);
        if state == BODY && is_encoded {
            cursor.set_encoded();
        }
        if state == BODY {
            cursor.count_trees_anew();
        }
        if state != TRAILER && seen == 0 {
            cursor.keep_opening(Opened { version, is_header, is_encoded });
        }
        Ok(state)
    }

    /// Starts a message: continues in the header or the body if the message begins like the last
    /// one, and reads the envelope's start tag otherwise. Returns the state to continue in.
    fn start(&mut self, cursor: &mut Cursor<'_>, me: usize) -> Step<u8> {
        let Some(Opened { version, is_header, is_encoded }) = cursor.skip_opening() else {
            self.open_envelope(cursor)?;
            return Ok(ENVELOPE);
        };
        self.head.version = Some(version);
        self.is_encoded = is_encoded;
        let (state, seen) = if is_header { (HEADER, SEEN_HEADER) } else { (BODY, SEEN_BODY) };
        cursor.frame(me).field = seen;
        if state == BODY && is_encoded {
            cursor.set_encoded();
        }
        Ok(state)
    }

    /// Returns true if the start tag just read declares section-5 encoding (SOAP 1.1, 4.1.1).
    fn says_encoded(&self, cursor: &Cursor<'_>) -> bool {
        let (reader, names, soap) = (cursor.reader(), cursor.names(), self.head.version().namespace());
        let mut attributes = (0..reader.attribute_count()).map(|index| reader.attribute(index));
        let style = attributes.find(|(name, _)| names.is(*name, soap, "encodingStyle"));
        let is_encoding = |uri: &str| uri == ns::SOAP11_ENCODING || uri == ns::SOAP12_ENCODING;
        style.is_some_and(|(_, uris)| uris.split_ascii_whitespace().any(is_encoding))
    }

    /// Returns true if the start tag just read opens an independent element: a target of references
    /// in the body that is not a part of it (SOAP 1.1, sections 5.1 and 5.6).
    fn is_independent(&self, cursor: &Cursor<'_>, is_first: bool) -> bool {
        let (reader, names) = (cursor.reader(), cursor.names());
        let is_root = |(name, _): &(_, &str)| {
            names.is(*name, ns::SOAP11_ENCODING, "root") || names.is(*name, ns::SOAP12_ENCODING, "root")
        };
        let root = (0..reader.attribute_count()).map(|index| reader.attribute(index)).find(is_root);
        match root.map(|(_, text)| text.trim_ascii()) {
            Some("0" | "false") => true,
            Some(_) => false,
            None => !is_first && cursor.has_id(),
        }
    }

    fn open_block(&mut self, cursor: &mut Cursor<'_>) -> Step<u8> {
        if cursor.next_tag()? != Tag::Start {
            return Ok(ENVELOPE);
        }
        let limit = cursor.limits().headers;
        if self.head.headers.len() >= limit {
            return Err(cursor.limit_error("headers", limit));
        }
        self.head.headers.push(HeaderBlock { node: Node::default() });
        self.places.push(cursor.reader().tag_offset());
        Ok(BLOCK)
    }

    fn open_entry(&mut self, cursor: &mut Cursor<'_>, me: usize) -> Step<u8> {
        let tag = cursor.next_tag()?;
        let is_first = cursor.frame(me).field & SEEN_ENTRY == 0;
        if tag == Tag::Start {
            if self.says_encoded(cursor) {
                cursor.set_encoded();
            }
            cursor.note_entry()?;
            if self.is_independent(cursor, is_first) {
                return Ok(INDEPENDENT);
            }
        }
        let (names, name) = (cursor.names(), cursor.name());
        let (namespace, local) = (names.namespace(name), names.local(name));
        let opened = match (tag, is_first) {
            (Tag::Start, true) => self.receiver.open_body(&self.head, namespace, local),
            (Tag::Start, false) if self.receiver.takes_several() => {
                self.receiver.open_another(&self.head, namespace, local)
            }
            (Tag::Start, false) => Err(ErrorKind::Envelope("the Body holds more than one element")),
            (_, true) => self.receiver.empty_body(&self.head),
            (_, false) => self.receiver.close_body(),
        };
        opened.map_err(|kind| match (self.block_of(&kind), tag) {
            (Some(index), _) => self.error_in_header(kind, index),
            (None, Tag::Start) => cursor.error_at_tag(kind),
            (None, Tag::End | Tag::Done) => cursor.error_at_end(kind),
        })?;
        cursor.frame(me).field |= SEEN_ENTRY;
        if self.receiver.takes_several() {
            cursor.compare_nothing();
        }
        Ok(if tag == Tag::Start { ENTRY } else { ENVELOPE })
    }
}

impl<R> EnvelopeReader<R> {
    /// Returns the header block that an error is about: one that must be understood and is not, or
    /// one with a malformed `mustUnderstand`.
    #[cold]
    fn block_of(&self, kind: &ErrorKind) -> Option<usize> {
        let version = self.head.version();
        self.head.headers.iter().position(|block| match (kind, block.mandatory(version)) {
            (ErrorKind::MustUnderstand(name), Ok(true)) => block.node.name.to_string() == *name,
            (kind, Err(malformed)) => *kind == malformed,
            _ => false,
        })
    }

    /// Creates an error at a header block. In UTF-16 its byte offset is that of the current window,
    /// if the block came before the window.
    #[cold]
    fn error_in_header(&self, kind: ErrorKind, index: usize) -> Stop {
        let blocks = &self.head.headers;
        let name = &blocks[index].node.name;
        let same = |blocks: &[HeaderBlock]| blocks.iter().filter(|block| block.node.name == *name).count();
        let mut path = format!("/Envelope/Header/{}", name.local);
        if same(blocks) > 1 {
            path += &format!("[{}]", same(&blocks[..=index]));
        }
        let mut error = Error::at(kind, self.places.get(index).copied().unwrap_or_default());
        error.set_path(path);
        Stop::Error(error)
    }
}

impl<R: Receiver> Root for EnvelopeReader<R> {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        let (me, _) = cursor.enter();
        loop {
            let state = cursor.frame(me).state;
            let next = match state {
                START => self.start(cursor, me)?,
                ENVELOPE => self.open_part(cursor, me)?,
                HEADER => self.open_block(cursor)?,
                BLOCK => {
                    let Some(block) = self.head.headers.last_mut() else { unreachable!("a block that was opened") };
                    block.node.decode(cursor, any())?;
                    HEADER
                }
                BODY => self.open_entry(cursor, me)?,
                ENTRY => {
                    self.receiver.decode_body(cursor)?;
                    BODY
                }
                TRAILER => {
                    skip_element(cursor)?;
                    ENVELOPE
                }
                INDEPENDENT => {
                    cursor.pass_over();
                    skip_element(cursor)?;
                    BODY
                }
                _ => {
                    cursor.next_tag()?;
                    return Ok(());
                }
            };
            cursor.frame(me).state = next;
        }
    }
}

fn any() -> View<'static> {
    Node::view()
}

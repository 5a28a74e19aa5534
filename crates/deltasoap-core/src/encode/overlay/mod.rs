//! Chunk overlaying: a message with a list of any length, written through one chunk of memory.
//!
//! A template needs memory for the whole message. A message that is sent once, or is too large to
//! be kept, does not need that: its list is written a portion at a time, each portion over the one
//! before (*Differential Serialization*, HPDC 2004, section 3.3). The items come from an iterator,
//! so that not even they need to be in memory.
//!
//! The idea: the message is written once without these items, and the place where they belong
//! noted, with the declarations in scope there. Before it is the head, after it the tail.
//! Flat items share their markup: it is learned from the first one, and copied for the others, as
//! in [`flat`](super::flat) arrays.
//!
//! In the paper the markup of a portion stays where it is, and values alone are written over those
//! before, in fields of equal width. That is not done here, because nothing is gained: the markup
//! from one value to the next is copied by one store of 32 bytes, and blanking out what a value
//! leaves of its field takes the same. For doubles in fields that hold each of them, rewriting the
//! values took 0.9 to 1.2 times as long as writing all anew, with messages 1.2 (17 digits) to 2.6
//! times (one digit) as long.

mod items;
mod split;
mod streamed;

pub(crate) use split::Splits;
pub use streamed::{Streamed, StreamedArray};

use super::Encoder;
use crate::schema::Use;
use crate::soap::{Draft, HeaderBlock, Version};
use crate::{Buffer, Error, Message, Typed};
use deltasoap_xml::Located;
use items::{Ahead, Items};
use split::Split;
use std::collections::VecDeque;
use std::fmt;

/// Scratch after a chunk: values are formatted in blocks that are longer than what they need.
const SCRATCH: usize = 512;

/// A message on its way out, one chunk at a time. Its memory is that of a chunk and of the message
/// without its items, whatever the number of items.
///
/// The body has one field that is [`Streamed`], or a [`StreamedArray`]; the items are written
/// there, after those that the field holds itself. The chunks put together are the same message,
/// byte for byte, as if all items had been in the field. In a `StreamedArray` the size is written
/// if the iterator knows it exactly.
///
/// ```
/// use deltasoap::schema::Use;
/// use deltasoap::soap::Version;
/// use deltasoap::{Overlay, Soap, Streamed};
///
/// #[derive(Soap)]
/// #[soap(namespace = "urn:lab", message)]
/// struct Report {
///     station: String,
///     level: Streamed<f64>,
/// }
///
/// let report = Report { station: "north".to_owned(), level: Streamed::default() };
/// let levels = (0..100_000).map(f64::from);
/// let mut overlay = Overlay::new(Version::Soap11, Use::Literal, &[], &report, levels, 32 << 10)?;
/// let mut bytes = 0;
/// while let Some(chunk) = overlay.next_chunk()? {
///     bytes += chunk.len();
/// }
/// assert!(bytes > 100_000);
/// # Ok::<(), deltasoap::Error>(())
/// ```
pub struct Overlay<I: Iterator> {
    head: Vec<u8>,
    items: Items<I>,
    tail: Vec<u8>,
    next: Part,
    chunk: Buffer,
    /// Bytes of a chunk.
    size: usize,
    /// Bytes of all chunks before.
    sent: u64,
    /// Items may be fed later: where there are none, the list has not ended.
    is_open: bool,
}

/// Items that are fed one by one, and written with the next chunk: see [`Overlay::open`].
#[derive(Debug)]
pub struct Feed<T>(VecDeque<T>);

impl<T> Iterator for Feed<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.pop_front()
    }

    /// Nobody knows how many there will be.
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), None)
    }
}

impl<T: Typed> Overlay<Feed<T>> {
    /// Begins a message whose items are [fed](Self::feed) while it is written, until
    /// [`end`](Self::end). In other respects as [`new`](Self::new).
    ///
    /// # Errors
    /// Same as [`new`](Self::new).
    pub fn open<B: Message>(
        version: Version,
        encoding: Use,
        headers: &[HeaderBlock],
        body: &B,
        size: usize,
    ) -> Result<Self, Error> {
        Self::opened((version, encoding, true), headers, body, size)
    }

    /// Like [`open`](Self::open), for readers that know no references; see
    /// [`encode_without_references`](crate::soap::encode_without_references).
    ///
    /// # Errors
    /// Same as [`new`](Self::new).
    pub fn open_without_references<B: Message>(
        version: Version,
        encoding: Use,
        headers: &[HeaderBlock],
        body: &B,
        size: usize,
    ) -> Result<Self, Error> {
        Self::opened((version, encoding, false), headers, body, size)
    }

    fn opened<B: Message>(how: How, headers: &[HeaderBlock], body: &B, size: usize) -> Result<Self, Error> {
        let items = Ahead::new(Feed(VecDeque::new()), false);
        Ok(Overlay { is_open: true, ..Self::with(how, headers, body, (items, true), size)? })
    }

    /// Adds an item, to be written with the next chunk. Chunks are empty while there are no items
    /// and no end.
    pub fn feed(&mut self, item: T) {
        self.items.source().0.push_back(item);
    }

    /// Items that are not written yet, but for one that may be in preparation.
    pub fn waiting(&mut self) -> usize {
        self.items.source().0.len()
    }

    /// Says that there are no more items.
    pub fn end(&mut self) {
        self.is_open = false;
    }
}

/// How a message is written: its version, its encoding, and whether values that several places
/// share are written once.
type How = (Version, Use, bool);

/// What comes next.
#[derive(Debug, Clone)]
enum Part {
    Head,
    Items,
    Tail,
    Nothing,
    Failed(Error),
}

impl<T: Typed, I: Iterator<Item = T>> Overlay<I> {
    /// Begins a message in chunks of at most `size` bytes; longer only where the head, or an item
    /// longer than those before, does not fit.
    ///
    /// # Errors
    /// Returns an error if the body has no streamed field or several of them, when the field is of
    /// another type than the items, or when a text in the body or in a header block is one that XML
    /// cannot carry.
    pub fn new<B: Message>(
        version: Version,
        encoding: Use,
        headers: &[HeaderBlock],
        body: &B,
        items: impl IntoIterator<IntoIter = I>,
        size: usize,
    ) -> Result<Self, Error> {
        Self::begun((version, encoding, true), headers, body, items, size)
    }

    /// Like [`new`](Self::new), for readers that know no references; see
    /// [`encode_without_references`](crate::soap::encode_without_references).
    ///
    /// # Errors
    /// Same as [`new`](Self::new).
    pub fn new_without_references<B: Message>(
        version: Version,
        encoding: Use,
        headers: &[HeaderBlock],
        body: &B,
        items: impl IntoIterator<IntoIter = I>,
        size: usize,
    ) -> Result<Self, Error> {
        Self::begun((version, encoding, false), headers, body, items, size)
    }

    fn begun<B: Message>(
        how: How,
        headers: &[HeaderBlock],
        body: &B,
        items: impl IntoIterator<IntoIter = I>,
        size: usize,
    ) -> Result<Self, Error> {
        let mut items = Ahead::new(items.into_iter(), true);
        let has_items = items.peek().is_some();
        Self::with(how, headers, body, (items, has_items), size)
    }

    /// Begins a message whose list has items, or may be without.
    fn with<B: Message>(
        (version, encoding, references): How,
        headers: &[HeaderBlock],
        body: &B,
        (items, has_items): (Ahead<I>, bool),
        size: usize,
    ) -> Result<Self, Error> {
        let mut encoder = Encoder::new();
        encoder.splits = Some(Splits::new(has_items, items.exact_size()));
        let (name, value, view) = (&B::ELEMENT, body, B::view());
        Draft { version, encoding, headers, name, value, view, references }.write(&mut encoder);
        let Split { at, field, encoder: inner } = encoder.splits.take().unwrap_or_default().only::<T>()?;
        let mut head = encoder.finish()?.into_vec();
        let tail = head.split_off(at);
        let (items, chunk) = (Items::new(items, field, inner), Buffer::new());
        Ok(Overlay { head, items, tail, next: Part::Head, chunk, size, sent: 0, is_open: false })
    }

    /// Returns the next chunk, in the memory of the one before; `None` after the last one. No
    /// chunk is empty.
    ///
    /// # Errors
    /// Returns an error if an item holds text that XML cannot carry, or when the iterator gives
    /// another number of items than it said it would. The chunks so far are no message then, and no
    /// more will come: each further call gives the error again.
    pub fn next_chunk(&mut self) -> Result<Option<&[u8]>, Error> {
        let mut chunk = std::mem::take(&mut self.chunk);
        let written = self.write_chunk(&mut chunk);
        self.chunk = chunk;
        Ok(written?.then(|| self.chunk.as_slice()))
    }

    /// Like [`next_chunk`](Self::next_chunk), into a buffer of the caller's, whose content is
    /// replaced. False, and an empty buffer, after the last chunk, and where items are still to be
    /// [fed](Overlay::feed).
    ///
    /// # Errors
    /// Same as [`next_chunk`](Self::next_chunk).
    pub fn write_chunk(&mut self, chunk: &mut Buffer) -> Result<bool, Error> {
        chunk.clear();
        if chunk.capacity() == 0 {
            *chunk = Buffer::with_capacity(self.size.saturating_add(SCRATCH));
        }
        if let Err(mut error) = self.write_parts(chunk) {
            *error.offset_mut() += self.sent;
            self.next = Part::Failed(error);
        }
        if let Part::Failed(error) = &self.next {
            return Err(error.clone());
        }
        self.sent += chunk.len() as u64;
        Ok(!chunk.is_empty())
    }

    /// Writes parts for as long as there is room.
    fn write_parts(&mut self, chunk: &mut Buffer) -> Result<(), Error> {
        loop {
            match self.next {
                Part::Head => {
                    chunk.push(&std::mem::take(&mut self.head));
                    self.next = Part::Items;
                }
                Part::Items => {
                    if !self.items.write(chunk, self.size)? || self.is_open {
                        return Ok(());
                    }
                    self.next = Part::Tail;
                }
                Part::Tail => {
                    if !has_room(chunk, self.tail.len(), self.size) {
                        return Ok(());
                    }
                    chunk.push(&self.tail);
                    self.next = Part::Nothing;
                }
                Part::Nothing | Part::Failed(_) => return Ok(()),
            }
        }
    }
}

impl<I: Iterator> fmt::Debug for Overlay<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overlay { next, size, sent, .. } = self;
        f.debug_struct("Overlay").field("next", next).field("size", size).field("sent", sent).finish_non_exhaustive()
    }
}

/// Returns true if so many bytes more fit a chunk, or if they are the first.
fn has_room(chunk: &Buffer, more: usize, size: usize) -> bool {
    chunk.is_empty() || chunk.len().saturating_add(more) <= size
}

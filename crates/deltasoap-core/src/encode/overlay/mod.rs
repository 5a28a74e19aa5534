//! Chunk overlaying: a message with a list of any length, written through one chunk of memory.
//!
//! A template needs memory for the whole message. A message that is sent once, or is too large to
//! be kept, does not need that: its list is written a portion at a time, each over the previous one
//! (*Differential Serialization*, HPDC 2004, section 3.3). The items come from an iterator, so they
//! need not be in memory either.
//!
//! The list is found in two ways. Typed messages have a field of a type for it ([`Streamed`]). In a
//! dynamic message it is any list that a path leads to ([`ListPlace`]): the encoder recognizes its
//! value by the address.
//!
//! The message is written once without these items, and their position is noted, with the
//! declarations in scope there. The part before it is the head, the part after it the tail. Flat
//! items share their markup: it is learned from the first one, and copied for the others, as in
//! [`flat`](super::flat) arrays.
//!
//! In the paper the markup of a portion stays in place, and only values are written over the
//! previous ones, in fields of equal width. This implementation does not do that, because nothing
//! is gained: the markup from one value to the next is copied by one store of 32 bytes, and
//! blanking the unused part of a field takes the same time. For doubles in fields that hold each of
//! them, rewriting the values took 0.9 to 1.2 times as long as writing everything, with messages
//! 1.2 (17 digits) to 2.6 times (one digit) as long.

mod items;
mod split;
mod streamed;

pub(crate) use split::Splits;
#[cfg(feature = "values")]
pub(crate) use split::{is_at, note};
#[cfg(feature = "values")]
pub(crate) use streamed::encode_array;
pub use streamed::{Streamed, StreamedArray};

use super::Encoder;
use crate::content::{Content, Typed};
use crate::schema::{ElementRef, Schema};
use crate::soap::Envelope;
#[cfg(feature = "values")]
use crate::value::{ListPlace, Value};
use crate::{Buffer, Error};
use deltasoap_xml::Located;
use items::{Items, Lookahead};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Scratch space after a chunk: values are formatted in blocks that are longer than they need.
const SCRATCH: usize = 512;

/// An outgoing message, produced one chunk at a time. It uses the memory of one chunk and of the
/// message without its items, regardless of the number of items.
///
/// The body has one field that is [`Streamed`], or a [`StreamedArray`]; in a message whose type is
/// known only at run time, it is [any list](Overlay::described). The items are written there, after
/// those that the field itself holds. The concatenated chunks are byte for byte the same message as
/// if all items had been in the field. The size of an array is written if the iterator knows it
/// exactly.
///
/// Items share nothing with each other: a value that several of them share is written with each.
///
/// ```
/// use deltasoap::Soap;
/// use deltasoap::soap::Envelope;
/// use deltasoap::stream::{Overlay, Streamed};
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
/// let mut overlay = Overlay::new(&Envelope::new(&report), levels, 32 << 10)?;
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
    next: Stage,
    chunk: Buffer,
    /// Bytes of a chunk.
    size: usize,
    /// Bytes of all previous chunks.
    sent: u64,
    /// True if items may be fed later: an empty iterator does not end the list.
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

    /// The number of items is unknown.
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), None)
    }
}

impl<T: Typed> Overlay<Feed<T>> {
    /// Begins a message whose items are [fed](Self::feed) while it is written, until
    /// [`end`](Self::end). Otherwise like [`new`](Self::new).
    ///
    /// # Errors
    /// Same as [`new`](Self::new).
    pub fn open(envelope: &Envelope<'_>, size: usize) -> Result<Self, Error> {
        Self::fed(envelope, Place::of::<T>(), size)
    }
}

#[cfg(feature = "values")]
impl Overlay<Feed<Value>> {
    /// Like [`open`](Self::open), for a [list of a dynamic message](Overlay::described).
    ///
    /// # Errors
    /// Same as [`described`](Overlay::described).
    pub fn open_described(envelope: &Envelope<'_>, list: &ListPlace<'_>, size: usize) -> Result<Self, Error> {
        Self::fed(envelope, Place::at(list), size)
    }
}

impl<T: Content> Overlay<Feed<T>> {
    fn fed(envelope: &Envelope<'_>, place: Place, size: usize) -> Result<Self, Error> {
        let items = Lookahead::new(Feed(VecDeque::new()), false);
        Ok(Overlay { is_open: true, ..Self::with(envelope, place, (items, true), size)? })
    }

    /// Adds an item, to be written with the next chunk. Chunks are empty while there are no items
    /// and the list has not ended.
    pub fn feed(&mut self, item: T) {
        self.items.source().0.push_back(item);
    }

    /// Returns the number of items not written yet, except one that may be in preparation.
    pub fn waiting(&mut self) -> usize {
        self.items.source().0.len()
    }

    /// Ends the list: there are no more items.
    pub fn end(&mut self) {
        self.is_open = false;
    }
}

/// The list that items are written to.
struct Place {
    /// The static type of the items, or the address of a dynamic list.
    item: Option<ElementRef>,
    address: Option<usize>,
    schema: Arc<Schema>,
}

impl Place {
    /// Returns the only streamed list, whose items are of type `T`.
    fn of<T: Typed>() -> Self {
        Place { item: Some(T::REFERENCE), address: None, schema: Arc::default() }
    }

    #[cfg(feature = "values")]
    fn at(list: &ListPlace<'_>) -> Self {
        Place { item: None, address: Some(list.address()), schema: Arc::clone(list.schema()) }
    }
}

/// The next step.
#[derive(Debug, Clone)]
enum Stage {
    Head,
    Items,
    Tail,
    Nothing,
    Failed(Error),
}

impl<T: Typed, I: Iterator<Item = T>> Overlay<I> {
    /// Begins a message in chunks of at most `size` bytes. A chunk is longer only if the head, or
    /// an item longer than all previous ones, does not fit.
    ///
    /// # Errors
    /// Returns an error if the body has no streamed field or several of them, if the field has
    /// another type than the items, or if a text in the body or in a header block cannot be
    /// represented in XML.
    pub fn new(envelope: &Envelope<'_>, items: impl IntoIterator<IntoIter = I>, size: usize) -> Result<Self, Error> {
        Self::begin(envelope, Place::of::<T>(), items, size)
    }
}

#[cfg(feature = "values")]
impl<I: Iterator<Item = Value>> Overlay<I> {
    /// Like [`new`](Self::new), for a list of a message whose type is known only at run time: a
    /// repeated field or a SOAP array, which need not be streamed by its type. `list` is its place
    /// in the value of the envelope's body.
    ///
    /// ```
    /// # use deltasoap_core::schema::{Builtin, ComplexElement, Compositor, Element, Field, Schema, SimpleElement};
    /// # use deltasoap_core::soap::Envelope;
    /// # use deltasoap_core::{ListPath, Overlay, QName, Record, Simple, Value};
    /// # use std::sync::Arc;
    /// # let mut schema = Schema::new();
    /// # let (name, base) = (Builtin::Int.name(), Builtin::Int);
    /// # let simple = SimpleElement { name, base, enumeration: Default::default(), default: None, packed: None };
    /// # let int = schema.add(Element::Simple(simple));
    /// # let level = QName::new("", "level");
    /// # let level = Field { name: level, element: int, min: 0, max: None, nillable: false, inline: false };
    /// # let content = schema.add(Element::Complex(ComplexElement {
    /// #     name: QName::new("urn:lab", "Report"), compositor: Compositor::Sequence, fields: vec![level].into(),
    /// #     attributes: Default::default(), text: None, open: false, any_attribute: false, choices: Default::default(),
    /// # }));
    /// # let schema = Arc::new(schema);
    /// let (name, view) = (QName::new("urn:lab", "Report"), schema.view(content));
    /// let report = Value::Record(Box::new(Record { fields: vec![Value::Absent], ..Record::default() }));
    /// let levels = (0..100_000).map(|n| Value::Simple(Simple::Int(n)));
    ///
    /// let list = ListPath::find(view, "level")?.place(&report, &schema, content)?;
    /// let mut overlay = Overlay::described(&Envelope::element(&name, &report, view), &list, levels, 32 << 10)?;
    /// let mut bytes = 0;
    /// while let Some(chunk) = overlay.next_chunk()? {
    ///     bytes += chunk.len();
    /// }
    /// assert!(bytes > 100_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the list is not in the value of the envelope's body, or if something in
    /// the body or in a header block cannot be written.
    pub fn described(
        envelope: &Envelope<'_>,
        list: &ListPlace<'_>,
        items: impl IntoIterator<IntoIter = I>,
        size: usize,
    ) -> Result<Self, Error> {
        Self::begin(envelope, Place::at(list), items, size)
    }
}

impl<T: Content, I: Iterator<Item = T>> Overlay<I> {
    fn begin(
        envelope: &Envelope<'_>,
        place: Place,
        items: impl IntoIterator<IntoIter = I>,
        size: usize,
    ) -> Result<Self, Error> {
        let mut items = Lookahead::new(items.into_iter(), true);
        let has_items = items.peek().is_some();
        Self::with(envelope, place, (items, has_items), size)
    }

    /// Begins a message with items, and a flag that is true if there are any.
    fn with(
        envelope: &Envelope<'_>,
        place: Place,
        (items, has_items): (Lookahead<I>, bool),
        size: usize,
    ) -> Result<Self, Error> {
        let mut encoder = Encoder::new();
        encoder.splits = Some(Splits::new(has_items, items.exact_size(), place.address));
        envelope.encode(&mut encoder);
        let split = encoder.splits.take().unwrap_or_default().only(place.item)?;
        let mut head = encoder.finish()?.into_vec();
        let tail = head.split_off(split.at);
        let (items, chunk) = (Items::new(items, split, place.schema), Buffer::new());
        Ok(Overlay { head, items, tail, next: Stage::Head, chunk, size, sent: 0, is_open: false })
    }

    /// Returns the next chunk, in the memory of the previous one; `None` after the last one. No
    /// chunk is empty.
    ///
    /// # Errors
    /// Returns an error if an item holds text that XML cannot carry, or if the iterator returns
    /// another number of items than it reported. The chunks so far are then an incomplete message,
    /// and no more will come: each further call returns the error again.
    pub fn next_chunk(&mut self) -> Result<Option<&[u8]>, Error> {
        let mut chunk = std::mem::take(&mut self.chunk);
        let written = self.write_chunk(&mut chunk);
        self.chunk = chunk;
        Ok(written?.then(|| self.chunk.as_slice()))
    }

    /// Like [`next_chunk`](Self::next_chunk), into the caller's buffer, whose content is replaced.
    /// Returns false, with an empty buffer, after the last chunk, and while items are still to be
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
            self.next = Stage::Failed(error);
        }
        if let Stage::Failed(error) = &self.next {
            return Err(error.clone());
        }
        self.sent += chunk.len() as u64;
        Ok(!chunk.is_empty())
    }

    /// Writes parts of the message as long as there is room.
    fn write_parts(&mut self, chunk: &mut Buffer) -> Result<(), Error> {
        loop {
            match self.next {
                Stage::Head => {
                    chunk.push(&std::mem::take(&mut self.head));
                    self.next = Stage::Items;
                }
                Stage::Items => {
                    if !self.items.write(chunk, self.size)? || self.is_open {
                        return Ok(());
                    }
                    self.next = Stage::Tail;
                }
                Stage::Tail => {
                    if !has_room(chunk, self.tail.len(), self.size) {
                        return Ok(());
                    }
                    chunk.push(&self.tail);
                    self.next = Stage::Nothing;
                }
                Stage::Nothing | Stage::Failed(_) => return Ok(()),
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

/// Returns true if `more` bytes fit the chunk, or if they are the first.
fn has_room(chunk: &Buffer, more: usize, size: usize) -> bool {
    chunk.is_empty() || chunk.len().saturating_add(more) <= size
}

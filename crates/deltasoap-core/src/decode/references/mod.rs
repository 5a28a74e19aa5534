//! References: elements that stand for others (SOAP 1.1, section 5.2.1: `href` and `id`; SOAP 1.2
//! part 2, section 3.1.5: `ref` and `id` of the encoding's namespace).
//!
//! The referenced element can be anywhere in the message: before the reference, after it, after the
//! whole operation, or around it. So a message with references is read in two steps, and all other
//! messages pay nothing:
//!
//! ```text
//!   <op>  <a>1</a>  <b id="x">..</b>  <c>..  <d href="#y"/>  ...  </op>  <multiRef id="y">..</multiRef>
//!   ─────────────────>                                                                     read as it arrives
//!                   └── an id: bytes are kept from here on
//!                                            └── a reference: reading waits until the message is complete
//!                   └───────────────────────────────────────────────────────────────────>  index: the position of each id
//!                                            └──> reading continues; a reference causes a detour to its target
//! ```
//!
//! *Keeping bytes late loses nothing*: a reference points to an element that was kept, or to one
//! that is still to come.
//!
//! *A detour* puts the referenced element in the place of the referring one: the reader continues
//! at its start tag, with the declarations in scope there and no others
//! ([`Enclosing`](deltasoap_xml::Enclosing)), and comes back after its end tag. The routines notice
//! nothing; depth, and so the limit on it, counts as if the element stood there. By then the
//! message is complete, so no routine pauses within a detour, and the way back may be a local
//! variable.
//!
//! *Cycles* end because a reference to an element that is being read is an error, except where a
//! type can express it ([`Shared`](crate::Shared)). *Bombs* end because what detours read is
//! counted ([`Limits::referred`](crate::Limits)).
//!
//! Referenced elements are read from their bytes, at the place of the reference. A pass over trees
//! would double memory and the routines, and patching values later would need paths into all of
//! them.
//!
//! A *tree* follows references where SOAP encoding is in force: `encodingStyle` on the envelope,
//! the body or the operation, or a fault. A reference that leads nowhere, or back to the tree
//! itself, stays as it is.
//!
//! *Upper bounds*: the bytes from the first id on are kept. Detours read at most as many bytes as
//! the message has, and `Limits::referred` more. A chain of references is walked once: each element
//! on the way learns where it leads.
//!
//! *Errors* are reported in the order of reading, where a referenced element is read at the place
//! of the reference. What ends a message early (`Limits::message`, malformed UTF-16) comes before
//! faults after a reference, because reading waits for the message's end.
//!
//! *Cost for messages without references*, in instructions (callgrind), relative to the engine
//! without references: 0.05 to 0.07 % for reading lists of doubles and structs, 0.6 % for trees,
//! 1.1 % for trees in SOAP encoding, whose start tags have attributes to be examined; 0.01 % for
//! writing. Data that only messages with references need is boxed, since a decoder that reads one
//! message is moved about as often as it reads.
//!
//! # Differential decoding
//!
//! Types with shared values, arrays of several dimensions, and bodies of several elements, of which
//! one may refer to another, are not compared. Other messages are compared until a reference, an
//! `offset`, a `position`, or an array in another form than declared is found. Then the message is
//! reread from its operation's start tag in regular mode, and the next message is compared with it
//! as a whole (`Template::is_whole`): it is skipped if it is identical up to its end, including the
//! elements referred to, and if all declarations around the operation are the same, on the same
//! elements. If that fails in a stream, the stream is read in regular mode for a while. Such
//! messages are not kept beside those of other kinds. The papers' policies keep no bytes to reread:
//! they drop their checkpoints and continue over the old value.
//!
//! Comparing element by element would gain little. An old element could stay if the element it
//! refers to has the same bytes and declarations, and so on in turn. To know that, the message must
//! be indexed, which reads all of it. In 1,000 structs by reference, as Axis 1.x writes them, of
//! which 25 % change, the index takes 37 % of the instructions of decoding, the elements after the
//! operation 32 %, and the operation with all its detours 31 % (callgrind on
//! `deltasoap-bench figures --quick --size 1000 --only "as Axis writes them, 25"`). If every detour
//! to an unchanged struct were free, decoding would be less than 1.5 times as fast. Besides, Axis
//! numbers ids and prefixes in the order of writing, so that one more struct changes the bytes of
//! all that follow. Compared as a whole, equal messages are read four times as fast as in regular
//! mode; if 1, 5 or 25 % of the structs change, decoding is 0.9 to 1.1 times as fast (10,000
//! structs, a busy machine; `deltasoap-bench figures --only "references as Axis"`).

mod follow;
mod index;
pub(in crate::decode) mod marks;

pub(crate) use follow::Sharing;

use super::{Root, State, Step};
use crate::schema::View;
use crate::{Error, Shared};
use deltasoap_xml::{Bookmark, Detected, Encoding, Window};
use follow::ActiveDetour;
use index::Index;
use std::any::{Any, TypeId};
use std::collections::HashMap;

/// The state of a decode's references. Most messages have none: fields that only messages with
/// references need are boxed, so that they do not make a decoder more expensive to create and move.
#[derive(Debug, Default)]
pub(crate) struct References {
    /// The message's bytes (UTF-8), from the first element that has an id or refers to another.
    kept: Vec<u8>,
    /// The position of the first kept byte.
    base: u64,
    /// The reader's state after the start tag at `base`.
    first: Option<Box<Bookmark>>,
    /// The position at which reading waits, after the start tag of an element that refers.
    waiting: Option<Box<(Bookmark, u64)>>,
    /// The index of ids; set once the message is complete.
    index: Option<Box<Index>>,
    /// The active detours, outermost first.
    detours: Vec<ActiveDetour>,
    /// Number of bytes read on detours.
    read: u64,
    /// Values that several references share.
    shared: Option<Box<SharedValues>>,
    /// True if SOAP encoding is in force: trees can then contain references too.
    pub(crate) is_encoded: bool,
    encoding: Detected,
}

/// A referenced element, the type that it is read as, and its schema.
type SharedKey = (usize, TypeId, usize);

type SharedValues = HashMap<SharedKey, Box<dyn Any + Send + Sync>>;

impl References {
    pub(crate) fn reset(&mut self) {
        if self.first.is_some() || self.is_encoded {
            *self = References::default();
        }
    }

    /// Returns true where ids are not content: in SOAP encoding, and in a message whose elements
    /// refer to others.
    pub(crate) fn have_meaning(&self) -> bool {
        self.is_encoded || self.index.is_some()
    }

    /// Returns true while the rest of the message is only kept.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Returns true while bytes are kept: then the message must be read as it arrives.
    pub(crate) fn is_keeping(&self) -> bool {
        self.first.is_some() && self.index.is_none()
    }

    /// Adds the new bytes of a window to the bytes kept so far, if any.
    #[inline]
    pub(crate) fn keep(&mut self, window: &Window<'_>) {
        if self.is_keeping() {
            let end = self.base + self.kept.len() as u64;
            let known = end.saturating_sub(window.base) as usize;
            self.kept.extend_from_slice(window.bytes.get(known..).unwrap_or_default());
        }
    }

    /// Starts keeping bytes, from the start tag just read.
    fn begin(&mut self, window: &Window<'_>, start: u64, bookmark: Bookmark) {
        self.base = start;
        self.encoding = window.encoding;
        self.kept.extend_from_slice(&window.bytes[(start - window.base) as usize..]);
        self.first = Some(Box::new(bookmark));
    }

    /// Returns the shared value of an element, if a reference has requested it.
    pub(crate) fn shared<T: Send + Sync + 'static>(&self, target: usize, view: View<'_>) -> Option<&Shared<T>> {
        self.shared.as_ref()?.get(&key::<T>(target, view))?.downcast_ref()
    }

    /// Stores the shared value of an element.
    pub(crate) fn share<T: Send + Sync + 'static>(&mut self, target: usize, view: View<'_>, shared: Shared<T>) {
        self.shared.get_or_insert_default().insert(key::<T>(target, view), Box::new(shared));
    }
}

fn key<T: 'static>(target: usize, view: View<'_>) -> SharedKey {
    (target, TypeId::of::<T>(), std::ptr::from_ref(view.element).addr())
}

/// Continues where reading has waited for the message to be complete.
///
/// # Errors
/// The first error found, at a position in received bytes. `received` is the number of received
/// bytes.
pub(crate) fn resolve(root: &mut impl Root, state: &mut State, received: u64) -> Result<(), Error> {
    let Some(waiting) = state.references.waiting.take() else { return Ok(()) };
    let (bookmark, position) = *waiting;
    let References { base, encoding, .. } = state.references;
    let kept = std::mem::take(&mut state.references.kept);
    let start = Window { bytes: &kept, pos: 0, base, last: true, encoding, mark: None, halted: false };
    if let Some(first) = state.references.first.take() {
        state.reader.go_back(*first);
    }
    let mut index = Index::new(&mut state.reader, start, &state.limits);
    state.reader.go_back(bookmark);
    let window = Window { pos: (position - base) as usize, ..start };
    // The current tag, which refers, is still to be read.
    index.have_been_read((state.reader.tag_offset() - base) as usize);
    state.references.index = Some(Box::new(index));
    let result = read(root, state, window).map_err(|error| translated(error, &start, received));
    state.references = References::default();
    result
}

fn read(root: &mut impl Root, state: &mut State, window: Window<'_>) -> Result<(), Error> {
    use super::{Cursor, Stop};
    let result: Step = root.decode(&mut Cursor::new(window, state));
    let mut error = match result {
        Ok(()) => return Ok(()),
        Err(Stop::Error(error)) => error,
        Err(Stop::Pending | Stop::Switch) => unreachable!("a routine needs more than the whole message"),
    };
    error.set_path(state.path());
    Err(error)
}

/// Translates an error's position to received bytes, from the number of received bytes that the
/// rest of the message took: the kept bytes extend to its end.
#[cold]
fn translated(error: Error, kept: &Window<'_>, received: u64) -> Error {
    if kept.encoding.encoding == Encoding::Utf8 {
        return error;
    }
    let at = error.offset().saturating_sub(kept.base).min(kept.bytes.len() as u64) as usize;
    let after = kept.encoding.encoding.length_of(&kept.bytes[at..]);
    error.moved_to(received.saturating_sub(after))
}

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

mod follow;
mod index;
pub(in crate::decode) mod marks;

pub(crate) use follow::Standing;

use super::{Root, State, Step};
use crate::schema::View;
use crate::{Error, Shared};
use deltasoap_xml::{Bookmark, Detected, Encoding, Window};
use follow::Level;
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
    levels: Vec<Level>,
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
    let behind = kept.encoding.encoding.length_of(&kept.bytes[at..]);
    error.moved_to(received.saturating_sub(behind))
}

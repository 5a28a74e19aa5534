//! References: elements that stand for others (SOAP 1.1, section 5.2.1: `href` and `id`; SOAP 1.2
//! part 2, section 3.1.5: `ref` and `id` of the encoding's namespace).
//!
//! What an element refers to can stand anywhere in the message: in front of it, behind it, behind
//! the whole operation, or around it. So a message with references is read in two steps, and all
//! others pay nothing:
//!
//! ```text
//!   <op>  <a>1</a>  <b id="x">..</b>  <c>..  <d href="#y"/>  ...  </op>  <multiRef id="y">..</multiRef>
//!   ─────────────────>                                                                     read as it comes
//!                   └── an id: bytes are kept from here on
//!                                            └── a reference: reading waits until the message is whole
//!                   └───────────────────────────────────────────────────────────────────>  index: where each id stands
//!                                            └──> reading goes on; at a reference it takes a detour to what it points to
//! ```
//!
//! *Nothing is lost by keeping late*: a reference points to an element that was kept, or to one
//! that is still to come.
//!
//! *A detour* puts the element that is referred to in the place of the one that refers: the reader
//! goes on at the other's start tag, with the declarations in scope there, and no others
//! ([`Enclosing`](deltasoap_xml::Enclosing)), and comes back behind its end tag. The routines
//! notice nothing; depth, and so the limit on it, counts as if the element stood there. By then the
//! message is whole, so that no routine pauses within a detour, and the way back may be a local
//! variable.
//!
//! *Cycles* have an end because a reference to an element that is being read is an error, except
//! where a type can express it ([`Shared`](crate::Shared)). *Bombs* have one because what detours
//! read is counted ([`Limits::referred`](crate::Limits)).

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

/// What a decode knows about the references of its message. Most messages have none: what is only
/// there for these is boxed, so that a decoder is made and moved at no more cost.
#[derive(Debug, Default)]
pub(crate) struct References {
    /// The message's bytes (UTF-8) from the first element with an id, or that refers, on.
    kept: Vec<u8>,
    /// The position of the first of them.
    base: u64,
    /// Behind the start tag at `base`.
    first: Option<Box<Bookmark>>,
    /// Reading waits at this position, behind the start tag of an element that refers.
    waiting: Option<Box<(Bookmark, u64)>>,
    /// Where each id stands; there once the message is whole.
    index: Option<Box<Index>>,
    /// The detours being taken, outermost first.
    levels: Vec<Level>,
    /// Bytes read on detours.
    read: u64,
    /// Values that several references share.
    shared: Option<Box<SharedValues>>,
    /// SOAP encoding is in force: also trees have references.
    pub(crate) is_encoded: bool,
    encoding: Detected,
}

/// An element that is referred to, as a type, with a description.
type SharedKey = (usize, TypeId, usize);

type SharedValues = HashMap<SharedKey, Box<dyn Any + Send + Sync>>;

impl References {
    pub(crate) fn reset(&mut self) {
        if self.first.is_some() || self.is_encoded {
            *self = References::default();
        }
    }

    /// True where ids are no content: in SOAP encoding, and in a message whose elements refer to
    /// others.
    pub(crate) fn have_meaning(&self) -> bool {
        self.is_encoded || self.index.is_some()
    }

    /// True while the rest of the message is only kept.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// True while bytes are kept: then the message must be read as it comes.
    pub(crate) fn is_keeping(&self) -> bool {
        self.first.is_some() && self.index.is_none()
    }

    /// Keeps what a window adds to the bytes kept so far, if any are.
    #[inline]
    pub(crate) fn keep(&mut self, window: &Window<'_>) {
        if self.is_keeping() {
            let end = self.base + self.kept.len() as u64;
            let known = end.saturating_sub(window.base) as usize;
            self.kept.extend_from_slice(window.bytes.get(known..).unwrap_or_default());
        }
    }

    /// Begins to keep bytes, from the start tag just read on.
    fn begin(&mut self, window: &Window<'_>, start: u64, bookmark: Bookmark) {
        self.base = start;
        self.encoding = window.encoding;
        self.kept.extend_from_slice(&window.bytes[(start - window.base) as usize..]);
        self.first = Some(Box::new(bookmark));
    }

    /// The value that an element is shared as, if a reference has asked for it.
    pub(crate) fn shared<T: Send + Sync + 'static>(&self, target: usize, view: View<'_>) -> Option<&Shared<T>> {
        self.shared.as_ref()?.get(&key::<T>(target, view))?.downcast_ref()
    }

    /// Notes the value that an element is shared as.
    pub(crate) fn share<T: Send + Sync + 'static>(&mut self, target: usize, view: View<'_>, shared: Shared<T>) {
        self.shared.get_or_insert_default().insert(key::<T>(target, view), Box::new(shared));
    }
}

fn key<T: 'static>(target: usize, view: View<'_>) -> SharedKey {
    (target, TypeId::of::<T>(), std::ptr::from_ref(view.element).addr())
}

/// Goes on where reading has waited for the message to be whole.
///
/// # Errors
/// The first fault that is met, at a position in received bytes. `received` is how many there are.
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
    // The tag at hand, which refers, is still to be read.
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
        Err(Stop::Pending | Stop::Switch) => unreachable!("a routine that wants more than the whole message"),
    };
    error.set_path(state.path());
    Err(error)
}

/// An error's position in received bytes, from how many of them the rest of the message took: the
/// kept bytes reach to its end.
#[cold]
fn translated(error: Error, kept: &Window<'_>, received: u64) -> Error {
    if kept.encoding.encoding == Encoding::Utf8 {
        return error;
    }
    let at = error.offset().saturating_sub(kept.base).min(kept.bytes.len() as u64) as usize;
    let behind = kept.encoding.encoding.length_of(&kept.bytes[at..]);
    error.moved_to(received.saturating_sub(behind))
}

//! Leaf checkpoints: decoding can resume at every leaf, at the cost of storing its position.
//!
//! ```text
//! begin      is the operation's prologue that of the old message? then fast mode, else regular mode, noted (recorder)
//! mend       a small message that differs in a few texts: these are put into the old value
//! session    compare (image) up to a difference
//! route      find the last place before it (table); lead the routines there
//!            regular mode over the old value, each new element noted (recorder, edits)
//! patch      flat items that differ: reread in place, in one loop
//! resync     at each start tag: was that element at this place (template)? then fast mode from its end on
//! shift      several items in a row differ: were some inserted or removed?
//! bounds     limits on the cost of all this; beyond them, regular mode
//! size       an array's size is ignored in comparisons
//! merge      at the end: the old table, updated with what was reread
//! ```
//!
//! No state is saved: the state at a place consists of the path to it, which the table provides,
//! and of the value, which is present.
//!
//! # What is kept
//!
//! ```text
//! Memory<T>
//!   value ────────── of the last message; the next one is read over it
//!   Template
//!     image ──────── its bytes: large received buffers as they are, small ones joined
//!     table ──────── the positions of its elements
//!       nodes        elements read by the general routines, in document order:
//!                    position, parent, field, occurrence
//!       runs         flat items: markup, and a position of four bytes each
//!     prologue ───── all that decides how bytes are read: the operation's start tag,
//!                    the declarations around it, limits, schema
//! ```
//!
//! # How a message is compared
//!
//! ```text
//! header ── regular mode ── start tag of the operation: prologue equal? ── no ──> regular mode,
//!                                                 │ yes                          noted
//!      ┌───────────────── fast mode <─────────────┤
//!      │ compare new bytes with the image         │
//!      │                                          │ start tag equal to the old one's: resync
//!  difference, or end                             │
//!      │                                          │
//!      v                                          │
//!   aim: last place before it ──> seek: back to ──┴── regular mode over the old value
//!   (binary search in the         where the paths │
//!   table)                        part, then down └── flat items: patch, in one loop
//! ```
//!
//! *Over an old value* (`Cursor::is_over`), an occurrence is read in place of the old one, fields
//! that are passed over become vacant, and everything ahead stays. When the operation ends, the
//! edits are merged into the table. The new image replaces the old one once the whole message is
//! known to be valid; an invalid message leaves nothing to compare with.
//!
//! # Why skipping is correct
//!
//! Decoding is a function of the decoder's state and the bytes that follow. Fast mode skips equal
//! bytes, so it must begin in an equal state. Before a child, the state consists of:
//!
//! - the open elements and the declarations in scope: equal, because the prologue and every start
//!   tag on the path are equal byte for byte;
//! - the fields and occurrences on the path: those of the node, and the routine that would have
//!   read the element has already applied the schema's rules (order, missing fields, choices);
//! - the limits' counters: depth follows from the path, text is zero between elements, the
//!   message's length is counted by the feed, and bindings and nodes of trees are added up, old and
//!   new. If their sum might exceed the limit, the message is reread in regular mode, which alone
//!   can decide.
//!
//! `bounds` explains why a comparison terminates.
//!
//! # What is reread as a whole
//!
//! - elements with groups, or with choices between groups
//! - elements whose fields come in any order, if some field repeats or there are more than 64
//! - trees, and elements whose attributes differ
//! - messages with references, and those whose arrays omit items, unless the whole message is the
//!   same
//! - messages that are not in UTF-8
//!
//! The tests read documents both ways: random schemas, values, edits, spellings and damage, chunks
//! of every size, all policies. The same harness is a fuzz target.

mod begin;
mod bounds;
mod edits;
mod image;
mod mend;
mod merge;
mod patch;
mod protocol;
mod recorder;
mod resync;
mod route;
mod session;
mod shift;
mod size;
mod table;
mod template;
mod trees;

pub(crate) use begin::Begin;
pub(crate) use image::{Chunk, Image};
pub use mend::Mend;
pub(crate) use mend::{Mending, SMALL};
pub use patch::Patch;
pub(crate) use patch::patch;
pub(crate) use protocol::{Advance, AnyOrder, Descent, Patched, StartTag};
pub(crate) use session::Session;
pub(crate) use shift::Shift;
pub(crate) use table::{Run, Touched};
pub(crate) use template::Template;
#[cfg(test)]
pub(crate) use template::template_without_image;

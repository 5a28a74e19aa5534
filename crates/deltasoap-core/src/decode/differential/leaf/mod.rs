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
//! and of the value, which is present. ARCHITECTURE.md, "Differential decoding", has the picture
//! and explains why skipping is correct.

mod begin;
mod bounds;
mod edits;
mod image;
mod mend;
mod merge;
mod patch;
mod recorder;
mod resync;
mod route;
mod session;
mod shift;
mod size;
mod table;
mod template;
mod trees;
mod words;

pub(crate) use begin::Begin;
pub(crate) use image::{Chunk, Image};
pub use mend::Mend;
pub(crate) use mend::{Mending, SMALL};
pub use patch::Patch;
pub(crate) use patch::patch;
pub(crate) use session::Session;
pub(crate) use shift::Shift;
pub(crate) use table::{Run, Touched};
pub(crate) use template::Template;
#[cfg(test)]
pub(crate) use template::template_without_image;
pub(crate) use words::{Advance, AnyOrder, Descent, Patched, StartTag};

//! Decoding: bytes in, values out, resumable at every byte.
//!
//! The routines are driven by a schema. There is one for each schema class ([`complex`], [`text`],
//! [`mod@array`], [`simple`]) and one for each common deviation of real messages (`nil`, `skip`). A
//! routine keeps its progress in a [`Frame`] on the matching stack and nowhere else. When the bytes
//! run out, it returns [`Stop::Pending`], and so do its callers. When more bytes arrive, the driver
//! calls the outermost routine again, and each routine continues from its frame (*re-descent*). A
//! chunk boundary, and later a checkpoint, is therefore just a saved stack.
//!
//! Arrays of flat values take a shortcut: [`flat`] learns the markup between the leaves of one item
//! and only compares it for the following items, so that only the values are parsed. Anything that
//! deviates goes through the general routines, which alone decide what is an error.
//!
//! # From bytes to a value
//!
//! | step | what happens |
//! |---|---|
//! | `driver.rs`, `Decoder::push` | takes a chunk, calls the outermost routine with a window |
//! | `soap/reader.rs` | reads envelope and header blocks; `opening.rs` skips a known beginning |
//! | `differential/memory.rs`, `Memory::decode` | compare, mend, note, or only read? |
//! | `differential/mixed.rs` | of several kinds of message, selects the one to compare with |
//! | `differential/leaf/session.rs`, `advance` | fast mode: compares bytes up to a difference |
//! | `differential/leaf/route.rs`, `aim`, `descend` | leads to the element before the difference |
//! | `complex/mod.rs`, `array/mod.rs` | read children: which field is it, is it allowed here? |
//! | `complex/follow.rs`, `predicted.rs` | predicted children are compared, not tokenized |
//! | `flat/mod.rs`, `run` | reads lists of flat items in one loop |
//! | `simple.rs`; `deltasoap-xml/src/lexical/` | a leaf's text becomes a value |
//! | `differential/hooks.rs`, `leaf/resync.rs` | at an old start tag: back to fast mode |
//! | `differential/leaf/merge.rs` | at the end, builds the table of this message for the next one |
//!
//! # Rules
//!
//! A frame consists of a few `Copy` words: state, field, count, depth, a position. Everything else
//! that accumulates is an append-only log whose length is recorded in a frame: open elements and
//! namespace declarations (in the reader), fields seen (where fields come in any order). So the
//! state of a decode is a short stack and a few lengths. Other modules rely on this:
//!
//! 1. A decode starts from a vacant value and keeps its progress in frames alone. No local variable
//!    survives a call that can pause.
//! 2. Everything that accumulates is a log that can be truncated.
//! 3. Scopes are interned: equal `ScopeId`s of one reader mean equal bindings, also across
//!    messages.
//! 4. The size in `arrayType` is a claim by the sender, and nothing depends on it (see
//!    [`mod@array`]).
//! 5. `xsi:type`, `xsi:nil` and the tag of a choice are markup: they decide which routine runs.
//! 6. Messages with references are compared as a whole, to the end of the message, or not at all:
//!    equal bytes may refer to an element that differs (see `references`).
//! 7. An error reports the first fault in document order, however the message was cut into chunks.

pub mod array;
pub mod complex;
mod cursor;
pub mod differential;
mod driver;
pub mod flat;
mod frame;
pub(crate) mod items;
mod nil;
mod open;
mod opening;
mod predicted;
pub(crate) mod references;
pub mod simple;
mod skip;
mod state;
pub mod text;
mod tolerance;

pub use complex::{DecodeFields, Names};
pub use cursor::{Cursor, Tag};
use differential::Differential;
#[cfg(feature = "values")]
pub use driver::value_from_slice;
pub use driver::{DecodeOptions, Decoder, ElementRoot, Root, from_slice};
pub use flat::FlatSource;
pub use frame::Frame;
pub use items::take_finished;
pub(crate) use opening::Opened;
pub use predicted::{Leaf, ShapeId};
pub use skip::skip_element;
pub use state::State;
pub(crate) use state::{Expected, OpenText};
pub use tolerance::{Deviation, DeviationKind, Tolerance};

pub(crate) use driver::decode_once;
pub(crate) use predicted::{decides_type, is_type_or_nil};
pub(crate) use references::Sharing;

pub(crate) use nil::{
    expect_end, named_type, nil_attribute, nil_value, other_attribute, report_beside_nil, undeclared_type,
};

use crate::Error;
use deltasoap_xml::{Stop as XmlStop, XmlError};

/// The reason why a routine returned before it was done.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// The window's bytes are used up; call again with more.
    Pending,
    /// Fast mode takes over, or decoding continues elsewhere: the driver proceeds.
    Switch,
    /// The message is invalid.
    Error(Error),
}

/// The result of a routine.
pub type Step<T = ()> = Result<T, Stop>;

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

impl From<XmlStop> for Stop {
    fn from(stop: XmlStop) -> Self {
        match stop {
            XmlStop::Pending => Stop::Pending,
            XmlStop::Error(error) => Stop::Error(error.into()),
        }
    }
}

impl From<Box<XmlError>> for Stop {
    fn from(error: Box<XmlError>) -> Self {
        Stop::Error(error.into())
    }
}

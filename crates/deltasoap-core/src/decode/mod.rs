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
pub(crate) use references::Standing;

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

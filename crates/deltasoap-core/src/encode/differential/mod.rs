//! Differential serialization: what equals the message sent before stays as it is, what differs is
//! rewritten.
//!
//! A [`Template`] is the message last sent: its bytes in chunks, where its elements and leaves
//! stand, and what values the leaves had. The next message of the operation is written *against*
//! it: the same routines walk the value, and where they would write what stands there already,
//! nothing is written. [`Templates`] holds several for one operation and takes the one that is most
//! alike. Source: Abu-Ghazaleh, Lewis, Govindaraju, *Differential Serialization for Optimized SOAP
//! Performance*, HPDC-13, 2004, section 3.

mod against;
mod alike;
mod edit;
mod effort;
mod follow;
mod hint;
mod options;
mod outgoing;
mod pace;
mod pool;
mod run;
mod stamp;
mod stats;
mod tape;
mod template;
mod templates;

pub(super) use against::{Against, Role};
pub use hint::Hint;
pub use options::{Templating, Width};
pub use outgoing::Outgoing;
pub use pool::RunPool;
pub(crate) use run::{Found, Texts, differs};
pub use stamp::{Changes, Stamp};
pub use stats::{EncodeStats, MatchKind};
pub use template::Template;
pub use templates::Templates;

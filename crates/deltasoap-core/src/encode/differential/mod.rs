//! Differential serialization: the parts of a message that equal the previous message are kept, and
//! only the differences are written.
//!
//! A [`Template`] is the message last sent: its bytes in chunks, the positions of its elements and
//! leaves, and the values of the leaves. The next message of the operation is written *against* it:
//! the same routines traverse the value, and write nothing if the template already holds it.
//! [`Templates`] holds several for one operation and uses the most similar one. Source:
//! Abu-Ghazaleh, Lewis, Govindaraju, *Differential Serialization for Optimized SOAP Performance*,
//! HPDC-13, 2004, section 3.

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

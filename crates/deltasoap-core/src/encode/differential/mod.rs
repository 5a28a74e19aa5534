//! Differential serialization: the parts of a message that equal the previous message are kept, and
//! only the differences are written.
//!
//! A [`Template`] is the message last sent: its bytes in chunks, the positions of its elements and
//! leaves, and the values of the leaves. The next message of the operation is written *against* it:
//! the same routines traverse the value, and write nothing if the template already holds it.
//! [`Templates`] holds several for one operation and uses the most similar one. Source:
//! Abu-Ghazaleh, Lewis, Govindaraju, *Differential Serialization for Optimized SOAP Performance*,
//! HPDC-13, 2004, section 3.
//!
//! The receiver cannot tell: without stuffing ([`Width`]), the bytes are those of a message in
//! full.
//!
//! # What is kept
//!
//! ```text
//! Template
//!   chunks     Arc<Chunk> ─┬─ Arc<Chunk> ──────────┬─ Arc<Chunk> ──────────┬─ Arc<Chunk>
//!                          │                       │                       │
//!              tape        │ run                   │ run                   │ tape
//!   bytes      <a><n>17</n>│<x>1.5</x> <x>2</x>    │<x>0.25</x><x>7</x>    │</a>
//!              │  │  │ │   │   ^          ^        │   ^          ^        │ │
//!   entries    S  S  L E  R│                       │                       │ E
//!   values           17  id│epoch                  │                       │  bits of leaves
//!                          │positions 3, 14        │positions 3, 14        │  starts of texts
//!                          │lens      3,  1        │lens      4,  1        │  if stuffed
//!                          │images  1.5,  2        │images 0.25,  7        │  bits
//!                          └──── form ─────────────┘
//!                                markup of an item, types of its leaves, widths: once a run
//!   names      QName <-> number
//!   frames     Bytes, one a chunk ──> Outgoing ──> http::Body ──> socket
//!   stamp      the tracked value it was made from, and in which state
//! ```
//!
//! An entry (kind, flags, name, position) describes a start tag (S), the text of a leaf (L), an end
//! tag (E), or the run that follows (R). The paper's DUT table has five fields for each value:
//!
//! | DUT entry | general content (`tape`) | flat arrays (`run`) |
//! |---|---|---|
//! | type, widest value | code of the entry's image; the type's width | those of the column |
//! | dirty bit | in tracked values, or found by comparing | a bit of `TrackedVec`, or the same |
//! | location | `pos`, 4 bytes | `positions`, 4 bytes |
//! | serialized length | up to the end tag's `pos` | the width; `lens`, 2 bytes, if stuffed |
//! | field width | up to what follows the end tag | up to the next position, less markup |
//! | (the last value) | 8 bytes, or the text | `images`, 1 to 8 bytes, or the text |
//!
//! So a double in an array costs 12 bytes besides its text, 14 if it is stuffed; an `int` 8 or 10;
//! a string 4 or 6, since its text is its image. A leaf elsewhere costs three entries of 8 bytes
//! and, unless it is a text, 8 for its bits.
//!
//! # How a message is written
//!
//! | step | what happens |
//! |---|---|
//! | `templates.rs` | selects the most similar template, or none |
//! | `soap/envelope.rs` | writes the envelope and the header blocks through encoder calls |
//! | `Content::encode` (derived, or that of `Value`) | a call for each tag, attribute and text |
//! | `follow/starts.rs` | a start tag: is its element here, a little later, or missing? |
//! | `follow/tracked.rs` | tracked content that reports no change is stepped over |
//! | `follow/leaves.rs` | a leaf: an equal value stays, another one is written over it |
//! | `edit.rs` | a text that needs more or less room: its chunk is rebuilt |
//! | `follow/lists.rs`, `run/update.rs` | flat items: `changes` finds, `patch` and `merge` write |
//! | `follow/ends.rs` | an end tag: drops old children that did not come again |
//! | `outgoing.rs` | the chunks are frames that the socket takes without a copy |
//!
//! # Why it is correct
//!
//! The encoding of an element is a function of its value, its description and the declarations in
//! scope, which are those of its ancestors' start tags. An element is followed only if its start
//! tag equals the old one or differs in attributes that declare nothing. One whose tag declares
//! something else is rewritten with its content. So the scope within a followed element is the old
//! one, and a new element in it gets prefixes that mean the same. The bytes of a leaf are a
//! function of its type and bits: types that write other texts for the same bits have other image
//! codes (`Image::code`). A template made in another version of SOAP or another encoding is not
//! followed. If a chunk would exceed 4 GiB, a text cannot be written, or there are too many names,
//! the template is dropped and the message is written in full: only that decides what is an error,
//! and where.
//!
//! The tests compare with messages in full, byte for byte, after random sequences of updates of
//! random schemas, with buffers in flight, chunks of 256 bytes and all widths. Stuffed messages are
//! read by our decoder and by another parser. The same harness is a fuzz target.

mod against;
mod edit;
mod follow;
mod hint;
mod options;
mod outgoing;
mod payoff;
mod pool;
mod run;
mod short_lists;
mod similarity;
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
pub(crate) use run::{TextMatch, Texts, differs};
pub use stamp::{Changes, Stamp};
pub use stats::{EncodeStats, MatchKind};
pub use template::Template;
pub use templates::Templates;

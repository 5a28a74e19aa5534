//! Reports of measurements, for the benchmarks and for the commands that measure.
//!
//! A [`page`] is one self-contained HTML file: no script, no network, light or dark as the reader
//! prefers. It holds [`table`]s and [`plot`]s. An [`exhibit`] is a table or figure of a paper,
//! drawn from our data, with a verdict on each [`claim`] that the paper makes there: a claim has
//! its numbers and sizes, and a [`test`](mod@test) that can fail. [`agreement`] compares the
//! verdicts of two machines. Nothing is measured here.

pub mod agreement;
pub mod claim;
pub mod exhibit;
pub mod factors;
mod html;
pub mod number;
pub mod page;
mod palette;
pub mod plot;
pub mod statistics;
pub mod table;
pub mod test;

pub use agreement::{Agreement, Recorded};
pub use claim::{Basis, Claim, Outcome, Printed, Registered, Sizes, Verdict};
pub use exhibit::Exhibit;
pub use number::{number, size_names};
pub use page::Page;
pub use plot::{Body, Chart, Line, Mark};
pub use statistics::Interval;
pub use table::{Cell, Emphasis, Grid, Sheet};
pub use test::{Evidence, Test};

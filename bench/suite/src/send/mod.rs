//! The workloads `send-*`: messages similar to their predecessor, alternately through templates and
//! in full.
//!
//! A [`Case`] is a workload with all its parameters: kind and number of items, which of them change
//! and how, chunks. [`shape`] creates the items, [`script`] defines the change between two
//! messages, and a [`lane`] is one way of writing them: in a template whose values track changes
//! ([`Mode::Tracked`]) or are compared ([`Mode::Compared`]), or that shares the content of another
//! one ([`Mode::Shared`]), through a single chunk ([`Mode::Overlaid`]), or in full
//! ([`Mode::Regular`]). With a [`Sink`](crate::socket::Sink), the time ends when the system
//! has the last byte.

mod lane;
mod lists;
mod overlaid;
mod script;
mod select;
pub mod shape;
mod shared;
mod writer;

use std::net::SocketAddr;

use anyhow::Result;
use deltasoap::engine::encode::differential::{Templating, Width};

use crate::engine::Session;
use crate::measure::{Figures, SampleSize, measure};
use crate::workload::Values;
use shape::{Doubles, Ints, Strings, Structs};

pub use lists::StreamedDoubles;
pub use select::{SendKind, bounds, cases, stuffed};

/// The change of values between two messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// No change.
    ContentMatch,
    /// Some values change without changing the length of their text.
    Structural,
    /// Some values change, with random lengths.
    Redrawn {
        /// Width of each leaf's field.
        field: Field,
    },
    /// Some values of maximum length change, without changing their length.
    Rewritten,
    /// Some values grow from this width to the maximum.
    Shift {
        /// Initial characters of an item.
        width: usize,
    },
    /// All values change, in fields wider than they are.
    Stuffed {
        /// Number of characters of an item.
        width: usize,
        /// Number of characters of the previous item; if it is longer, end tags move.
        over: usize,
        /// Width of each leaf's field.
        field: Field,
    },
    /// There is no previous message.
    First,
    /// The only previous message is of another operation, with the same values.
    Shared,
    /// All values change, and there is one chunk.
    Overlaid,
}

/// [`Width`] as part of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// The width of the value.
    Exact,
    /// The width that suffices for this percentage of the first values.
    Learned(u8),
    /// This many characters per leaf.
    Given(u16),
    /// The maximum width of the type.
    Maximal,
}

impl Field {
    /// Returns the name in reports.
    pub fn name(self) -> String {
        match self {
            Field::Exact => "exact".to_owned(),
            Field::Learned(percent) => format!("learned ({percent} %)"),
            Field::Given(characters) => characters.to_string(),
            Field::Maximal => "maximal".to_owned(),
        }
    }

    fn width(self) -> Width {
        match self {
            Field::Exact => Width::Exact,
            Field::Learned(percent) => Width::Learned(f32::from(percent) / 100.0),
            Field::Given(characters) => Width::Fixed(characters),
            Field::Maximal => Width::Maximal,
        }
    }
}

/// A measured case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Case {
    /// The change between two messages.
    pub action: Action,
    /// The kind of items.
    pub values: Values,
    /// Number of items in the array.
    pub n: usize,
    /// Percentage of items that change.
    pub percent: u32,
    /// Number of parts of the array that have that percentage in their middle.
    pub partitions: usize,
    /// Size of a template's chunk in bytes.
    pub chunk: usize,
}

/// The default chunk size: the papers' larger one.
pub const CHUNK: usize = 32 << 10;

impl Case {
    /// Creates a case in which everything changes, in one part, in chunks of 32 KiB.
    pub fn new(action: Action, values: Values, n: usize) -> Self {
        let percent = if matches!(action, Action::ContentMatch | Action::Shared) { 0 } else { 100 };
        Case { action, values, n, percent, partitions: 1, chunk: CHUNK }
    }

    /// Sets the percentage of changes.
    pub fn changed(self, percent: u32) -> Self {
        Case { percent, ..self }
    }

    fn templating(&self) -> Templating {
        let width = match self.action {
            Action::Stuffed { field, .. } | Action::Redrawn { field } => field.width(),
            _ => Width::Exact,
        };
        Templating {
            chunk: self.chunk,
            split: 2 * self.chunk,
            reserve: self.chunk / 16,
            width,
            ..Templating::default()
        }
    }

    /// Returns true if messages equal those written in full, byte for byte.
    fn is_exact(&self) -> bool {
        self.templating().width == Width::Exact
    }

    /// Returns the modes to compare.
    pub fn modes(&self) -> Vec<Mode> {
        match self.action {
            Action::Overlaid => vec![Mode::Overlaid, Mode::Tracked, Mode::Compared, Mode::Regular],
            Action::First => vec![Mode::Compared, Mode::Regular],
            Action::Shared => vec![Mode::Shared, Mode::Compared, Mode::Regular],
            Action::ContentMatch => vec![Mode::Tracked, Mode::Compared, Mode::Regular, Mode::Floor],
            _ => vec![Mode::Tracked, Mode::Compared, Mode::Regular],
        }
    }
}

/// A way of writing messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// Through a template, with values that track changes.
    Tracked,
    /// Through a template, with values that are compared with the last ones.
    Compared,
    /// Through a compared template that shares with that of another operation.
    Shared,
    /// Like clients and services: through templates, or in full if that is faster.
    Adaptive,
    /// Through a single chunk.
    Overlaid,
    /// In full, into a reused buffer.
    Regular,
    /// No writing: the memory of the values is compared with equal memory.
    Floor,
}

impl Mode {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Tracked => "tracked",
            Mode::Compared => "compared",
            Mode::Shared => "shared",
            Mode::Adaptive => "adaptive",
            Mode::Overlaid => "overlaid",
            Mode::Regular => "regular",
            Mode::Floor => "floor-compare",
        }
    }
}

/// The outcome of a case: the figures of each mode.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The measured case.
    pub case: Case,
    /// In the order of reports.
    pub figures: Vec<(Mode, Figures)>,
}

impl Outcome {
    /// Returns the figures of a mode, if it was measured.
    pub fn of(&self, mode: Mode) -> Option<&Figures> {
        self.figures.iter().find(|(of, _)| *of == mode).map(|(_, figures)| figures)
    }

    /// Returns the median time of one mode divided by that of another; NaN if one is missing.
    pub fn ratio(&self, mode: Mode, reference: Mode) -> f64 {
        let median = |mode| self.of(mode).map_or(f64::NAN, |figures| figures.ns_median.max(1) as f64);
        median(mode) / median(reference)
    }
}

/// Checks and times a case in some modes. Messages are sent to the server if there is an address,
/// and the floor is skipped.
///
/// # Errors
/// When a message is wrong, or cannot be sent.
pub fn run(
    case: Case,
    modes: &[Mode],
    server: Option<SocketAddr>,
    sample_size: SampleSize,
    tick: impl FnMut(),
) -> Result<Outcome> {
    let modes: Vec<Mode> = modes.iter().copied().filter(|&mode| server.is_none() || mode != Mode::Floor).collect();
    let mut sessions = modes.iter().map(|&mode| open(&case, mode, server)).collect::<Result<Vec<_>>>()?;
    let figures = measure(&mut sessions, sample_size, tick)?;
    Ok(Outcome { case, figures: modes.into_iter().zip(figures).collect() })
}

/// Opens a session that writes the messages of a case in one mode.
///
/// # Errors
/// When there is no server at the address, or the first message cannot be written.
pub fn open(case: &Case, mode: Mode, server: Option<SocketAddr>) -> Result<Box<dyn Session>> {
    match case.values {
        Values::Ints => lane::open::<Ints>(case, mode, server),
        Values::Structs => lane::open::<Structs>(case, mode, server),
        Values::Strings | Values::Encoded | Values::Repeated => lane::open::<Strings>(case, mode, server),
        Values::Easy | Values::Hard | Values::Events | Values::Base64 | Values::Doubles64 => {
            lane::open::<Doubles>(case, mode, server)
        }
    }
}

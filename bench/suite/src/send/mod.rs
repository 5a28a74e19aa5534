//! The workloads `send-*`: messages that resemble the one sent before, through templates and in
//! full by turns.
//!
//! A [`Case`] is a workload with everything that can be chosen: kind and number of items, which of
//! them change and how, chunks. [`shape`] makes the items, [`script`] says what happens between two
//! messages, and a [`lane`] is one way of writing them: in a template that is told what changed
//! ([`Mode::Tracked`]) or compares ([`Mode::Compared`]) or takes over what another one holds
//! ([`Mode::Shared`]), through a single chunk ([`Mode::Overlaid`]), or in full ([`Mode::Regular`]).
//! With a [`socket`], the time ends when the last byte was handed to the system.

mod lane;
mod lists;
mod overlaid;
mod script;
mod select;
pub mod shape;
mod shared;
pub mod socket;
mod writer;

use std::net::SocketAddr;

use anyhow::Result;
use deltasoap::encode::differential::{Templating, Width};

use crate::engine::Session;
use crate::measure::{Figures, Plan, measure};
use crate::workload::Values;
use shape::{Doubles, Ints, Strings, Structs};

pub use lists::StreamedDoubles;
pub use select::{SendKind, bounds, cases, stuffed};

/// What happens to the values between two messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// Nothing.
    ContentMatch,
    /// Some change and keep the lengths of their texts.
    Structural,
    /// Some change, and their lengths as it happens.
    Redrawn {
        /// Room for each leaf.
        field: Field,
    },
    /// Some change and keep their lengths, of values as long as can be.
    Rewritten,
    /// Some grow from this width to the longest.
    Shift {
        /// Characters of an item before.
        width: usize,
    },
    /// All change, in fields that are wider than they are.
    Stuffed {
        /// Characters of an item.
        width: usize,
        /// Characters of the item that stood there before; where there are more, end tags move.
        over: usize,
        /// Room for each leaf.
        field: Field,
    },
    /// There was no message before.
    First,
    /// There was no message before, but one of another operation with the same values.
    Shared,
    /// All change, and there is one chunk.
    Overlaid,
}

/// [`Width`] as part of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// What a value needs.
    Exact,
    /// What so many per cent of the first values needed.
    Learned(u8),
    /// So many characters a leaf.
    Given(u16),
    /// What the widest value of the type needs.
    Maximal,
}

impl Field {
    /// The name in reports.
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
            Field::Given(characters) => Width::Given(characters),
            Field::Maximal => Width::Maximal,
        }
    }
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Case {
    /// What happens between two messages.
    pub action: Action,
    /// The kind of items.
    pub values: Values,
    /// Items in the array.
    pub n: usize,
    /// Percentage of items that change.
    pub percent: u32,
    /// Parts of the array that have that percentage in their middle.
    pub partitions: usize,
    /// Bytes of a template's chunk.
    pub chunk: usize,
}

/// A chunk of this size unless another one is asked for; the papers' larger one.
pub const CHUNK: usize = 32 << 10;

impl Case {
    /// Everything changes, in one part, in chunks of 32 KiB.
    pub fn new(action: Action, values: Values, n: usize) -> Self {
        let percent = if matches!(action, Action::ContentMatch | Action::Shared) { 0 } else { 100 };
        Case { action, values, n, percent, partitions: 1, chunk: CHUNK }
    }

    /// The same with another share of changes.
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

    /// Whether messages are the same as if written in full, byte for byte.
    fn is_exact(&self) -> bool {
        self.templating().width == Width::Exact
    }

    /// The ways of writing it that are compared.
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
    /// Through a template, values that tell what changed.
    Tracked,
    /// Through a template, values that are compared with the last ones.
    Compared,
    /// The same, and another operation's template shares what it has.
    Shared,
    /// As clients and services do: through templates, and in full where that is faster.
    Adaptive,
    /// Through a single chunk.
    Overlaid,
    /// In full, into a buffer that is used again.
    Regular,
    /// Not at all: the memory of the values is compared with equal memory.
    Floor,
}

impl Mode {
    /// The name in reports.
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

/// What came out of a case: the figures of each mode.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What was measured.
    pub case: Case,
    /// In the order of reports.
    pub figures: Vec<(Mode, Figures)>,
}

impl Outcome {
    /// The figures of a mode, if it was measured.
    pub fn of(&self, mode: Mode) -> Option<&Figures> {
        self.figures.iter().find(|(of, _)| *of == mode).map(|(_, figures)| figures)
    }

    /// Median time of one mode by that of another; not a number where one of them is missing.
    pub fn ratio(&self, mode: Mode, reference: Mode) -> f64 {
        let median = |mode| self.of(mode).map_or(f64::NAN, |figures| figures.ns_median.max(1) as f64);
        median(mode) / median(reference)
    }
}

/// Checks and times a case in some modes. With the address of a server, messages go there, and the
/// floor is left out.
///
/// # Errors
/// When a message is wrong, or cannot be sent.
pub fn run(case: Case, modes: &[Mode], server: Option<SocketAddr>, plan: Plan, tick: impl FnMut()) -> Result<Outcome> {
    let modes: Vec<Mode> = modes.iter().copied().filter(|&mode| server.is_none() || mode != Mode::Floor).collect();
    let mut sessions = modes.iter().map(|&mode| open(&case, mode, server)).collect::<Result<Vec<_>>>()?;
    let figures = measure(&mut sessions, plan, tick)?;
    Ok(Outcome { case, figures: modes.into_iter().zip(figures).collect() })
}

/// A session that writes the messages of a case in one way.
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

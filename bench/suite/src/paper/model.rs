//! Artificial measurements to test claims with: as printed by the papers, or random.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::printed::{Cell, DifferentialDeserialization, LightweightCheckpointing};
use super::scope::SIZES;
use super::sends::Sender;
use super::setting::{Point, Setting};
use super::study::Data;
use crate::options::{Match, Policy};
use crate::report::Counts;
use crate::send::{Action, Case, Field, Mode, bounds};
use crate::stream::{Kind, Recipe};
use crate::workload::Values;

/// A paper whose measurements are derived from its printed numbers.
#[derive(Debug, Clone, Copy)]
pub enum Paper {
    Deserialization,
    Checkpointing,
    Serialization,
}

impl Paper {
    /// In the order of the command.
    pub const ALL: [Paper; 3] = [Paper::Deserialization, Paper::Checkpointing, Paper::Serialization];

    /// Replaces missing measurements by the paper's numbers.
    pub fn fill(self, data: &mut Data) {
        match self {
            Paper::Deserialization => {
                let printed = DifferentialDeserialization::load().unwrap();
                data.points.fill(|recipe, setting| deserialized(&printed, recipe, setting));
                data.fresh.fill(|recipe, setting, _| deserialized(&printed, recipe, setting));
                let kinds = [Kind::Ints, Kind::Easy, Kind::Hard].into_iter();
                let times = kinds.flat_map(|kind| SIZES.map(|n| ((kind, n), regular(&printed, kind, n))));
                data.gsoap = Ok(times.collect());
            }
            Paper::Checkpointing => {
                let printed = LightweightCheckpointing::load().unwrap();
                data.points.fill(|recipe, setting| checkpointed(&printed, recipe, setting));
            }
            Paper::Serialization => data.sends.fill(sent),
        }
    }
}

/// Fills in random times and counts from a thousandth to a thousand.
pub fn chaos(data: &mut Data, seed: u64) {
    let point = |recipe: Recipe, setting: Setting, message: usize| {
        let of = |what: &str| drawn(&(recipe, setting, message, what, seed));
        let counts = Counts { to_regular: of("switches"), ..counts(of("regular").min(100.0), of("memory") * 1e6) };
        Point { ms: of("ms"), counts: Some(counts) }
    };
    data.points.fill(|recipe, setting| point(recipe, setting, 0));
    data.fresh.fill(point);
    data.sends.fill(|case, sender| drawn(&(case, sender, seed)));
    let kinds = [Kind::Ints, Kind::Easy, Kind::Hard].into_iter();
    data.gsoap = Ok(kinds.flat_map(|kind| SIZES.map(|n| ((kind, n), drawn(&(kind, n, seed))))).collect());
}

fn drawn(key: &impl Hash) -> f64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    10_f64.powf((hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64 * 6.0 - 3.0)
}

fn counts(regular_percent: f64, memory: f64) -> Counts {
    Counts {
        fast_bytes: 100.0 - regular_percent,
        regular_bytes: regular_percent,
        memory: memory as u64,
        ..Counts::default()
    }
}

fn values(kind: Kind) -> &'static str {
    match kind {
        Kind::Ints | Kind::UnreadInts => "ints",
        Kind::Easy | Kind::UnreadEasy => "easy",
        _ => "hard",
    }
}

fn regular(printed: &DifferentialDeserialization, kind: Kind, n: usize) -> f64 {
    let is_dummy = matches!(kind, Kind::UnreadInts | Kind::UnreadEasy | Kind::UnreadHard);
    printed.table2(if is_dummy { "dummy" } else { "regular" }, values(kind), n).unwrap_or(1.0)
}

/// Returns Table 2 for identical messages, Table 3 for others; where everything is read again, the
/// rows of Table 3 in which all values change.
fn deserialized(printed: &DifferentialDeserialization, recipe: Recipe, setting: Setting) -> Point {
    let regular = regular(printed, recipe.kind, recipe.n);
    let matcher = match setting.matcher {
        Match::Xor => "xor",
        Match::Adler32 => "adler32",
        Match::Crc32 => "crc32",
        _ => "compare",
    };
    let is_first = setting.condition == super::setting::Condition::AlwaysFirst;
    let percent = if is_first { 100 } else { recipe.percent };
    let cell = Cell { percent, size: recipe.n, partitions: recipe.partitions, portion: setting.portion };
    let ms = match (setting.policy, percent) {
        (Policy::Off, _) => Some(regular),
        (_, 0) => printed.table2(matcher, values(recipe.kind), recipe.n),
        _ => printed.table3(cell),
    };
    let (switches, percent) = match (recipe.partitions, setting.portion) {
        (100, 4096) => (243.0, 36.34),
        (500, 4096) => (661.0, 81.75),
        (100, 1024) => (0.0, 27.7),
        _ => (0.0, 24.44),
    };
    let counts = Counts { to_regular: switches, ..counts(percent, 0.0) };
    // N = 256 is only in Figure 3, without a number: it lies between 32 and 512.
    Point { ms: ms.unwrap_or(regular * 1.3), counts: Some(counts) }
}

/// Returns Table 1 for lightweight checkpoints; the others are slower by the text's numbers.
fn checkpointed(printed: &LightweightCheckpointing, recipe: Recipe, setting: Setting) -> Point {
    let regular = recipe.n as f64;
    // Figure 3 has 50 partitions, which Table 1 lacks.
    let partitions = if recipe.partitions == 50 { 100 } else { recipe.partitions };
    let cell = Cell { percent: recipe.percent, size: recipe.n, partitions, portion: setting.portion };
    let lightweight = regular / printed.table1(cell).map_or(1.0 - 0.131, |better| 1.0 + better / 100.0);
    let is_small = setting.portion <= 128;
    let (more, memory) = match setting.policy {
        Policy::Differential => (if is_small { 0.6 } else { 0.13 }, 10.0),
        Policy::Full => (if is_small { 1.2 } else { 0.17 }, 100.0 / 3.0),
        _ => (0.0, 1.0),
    };
    // "Particularly as the number of created checkpoints increases".
    let growth = f64::from(recipe.percent) / 1000.0 + recipe.partitions as f64 / 1e4 + recipe.n as f64 / 1e6;
    let ms = if setting.policy == Policy::Off { regular } else { lightweight * (1.0 + more * (0.9 + growth)) };
    Point { ms, counts: Some(counts(50.0, 1e6 * memory)) }
}

/// Returns the text's numbers about the figures, relative to full serialization, which takes a
/// microsecond per item and as much for the envelope.
fn sent(case: Case, sender: Sender) -> f64 {
    let full = 1.0 + case.n as f64;
    let content = full / if case.values == Values::Structs { 7.0 } else { 10.0 };
    let rewritten = 0.8 * full;
    let part = content + (rewritten - content) * f64::from(case.percent) / 100.0;
    match (sender, case.action) {
        (Sender::Peer("gsoap"), _) => full * 1.2,
        (Sender::Peer(_), _) => full * 2.0,
        (Sender::Ours(Mode::Regular), _) => full,
        (_, Action::ContentMatch) => content,
        (_, Action::First) => full * 1.05,
        (_, Action::Shift { width }) if width == bounds(case.values).0 => rewritten * 4.5,
        (_, Action::Shift { .. }) => rewritten * (1.0 + f64::from(case.percent) / 100.0),
        (_, Action::Stuffed { width, over, .. }) if over > width => rewritten * 2.0,
        (_, Action::Stuffed { field: Field::Exact, .. }) => rewritten,
        (_, Action::Stuffed { .. }) => rewritten * 1.25,
        _ => part,
    }
}

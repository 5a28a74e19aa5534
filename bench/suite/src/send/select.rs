//! Selects the cases of a workload and the command line.

use serde::Deserialize;

use super::shape::{Doubles, Ints, Shape, Strings, Structs};
use super::{Action, CHUNK, Case, Field};
use crate::options::{RunArguments, Stuffing};
use crate::workload::Values;

/// The change between two messages of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SendKind {
    /// No change.
    ContentMatch,
    /// Some values change without changing their length.
    Structural,
    /// Some values grow.
    Shift,
    /// Fields are wider than values.
    Stuffed,
    /// There is no previous message.
    First,
    /// The only previous message is of another operation.
    Shared,
    /// All values change, in one chunk.
    Overlaid,
}

/// Returns all cases of a workload with these values.
pub fn cases(kind: SendKind, values: &[Values], arguments: &RunArguments) -> Vec<Case> {
    let is_asked = |values: &&Values| arguments.send.values.is_empty() || arguments.send.values.contains(values);
    let mut cases = Vec::new();
    for &values in values.iter().filter(is_asked) {
        for &n in &arguments.sizes {
            cases.extend(of_values(kind, values, n, arguments));
        }
    }
    let chunk = arguments.chunk.map_or(CHUNK, usize::from);
    cases.into_iter().map(|case| Case { chunk, ..case }).collect()
}

fn of_values(kind: SendKind, values: Values, n: usize, arguments: &RunArguments) -> Vec<Case> {
    let case = |action| Case::new(action, values, n);
    match kind {
        SendKind::ContentMatch => vec![case(Action::ContentMatch)],
        SendKind::First => vec![case(Action::First)],
        SendKind::Shared => vec![case(Action::Shared)],
        SendKind::Overlaid => vec![case(Action::Overlaid)],
        SendKind::Structural => shares(case(Action::Structural), arguments, &[25, 50, 75, 100]),
        SendKind::Shift => start_widths(values, &arguments.send.widths)
            .into_iter()
            .flat_map(|width| shares(case(Action::Shift { width }), arguments, &[100]))
            .collect(),
        SendKind::Stuffed => {
            let all = [Stuffing::Exact, Stuffing::Intermediate, Stuffing::Maximal, Stuffing::TagShift];
            let asked = &arguments.send.stuffings;
            let stuffings = if asked.is_empty() { &all } else { &asked[..] };
            stuffings.iter().map(|&stuffing| case(stuffed(values, stuffing))).collect()
        }
    }
}

/// Returns the case with each percentage of changes and each number of partitions.
fn shares(case: Case, arguments: &RunArguments, default: &[u32]) -> Vec<Case> {
    let percents = if arguments.changed.is_empty() { default } else { &arguments.changed };
    let with = |percent: u32| {
        arguments.partitions.iter().map(move |partitions| Case { percent, partitions: partitions.get(), ..case })
    };
    percents.iter().flat_map(|&percent| with(percent)).collect()
}

/// Returns the widths from which a value of the type can grow.
fn start_widths(values: Values, widths: &[usize]) -> Vec<usize> {
    let (shortest, longest) = bounds(values);
    let mut widths: Vec<usize> =
        widths.iter().map(|width| width.max(&shortest)).filter(|width| **width < longest).copied().collect();
    widths.dedup();
    widths
}

/// Returns the shortest values in the paper's fields.
pub fn stuffed(values: Values, stuffing: Stuffing) -> Action {
    let (shortest, longest) = bounds(values);
    let intermediate = match values {
        // Two ints take at most 11 characters each.
        Values::Structs => 36 - 2 * 11,
        Values::Ints => 6,
        _ => 18,
    };
    let (field, over) = match stuffing {
        Stuffing::Exact => (Field::Exact, shortest),
        Stuffing::Intermediate => (Field::Given(intermediate), shortest),
        Stuffing::Maximal => (Field::Maximal, shortest),
        Stuffing::TagShift => (Field::Maximal, longest),
    };
    Action::Stuffed { width: shortest, over, field }
}

/// Returns the characters of the shortest and of the longest item.
pub fn bounds(values: Values) -> (usize, usize) {
    match values {
        Values::Ints => (Ints::SHORTEST, Ints::LONGEST),
        Values::Structs => (Structs::SHORTEST, Structs::LONGEST),
        Values::Strings | Values::Encoded | Values::Repeated => (Strings::SHORTEST, Strings::LONGEST),
        Values::Easy | Values::Hard | Values::Events | Values::Base64 | Values::Doubles64 => {
            (Doubles::SHORTEST, Doubles::LONGEST)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_grow_from_widths_that_their_type_has() {
        let widths = |values| start_widths(values, &[1, 18, 36]);
        assert_eq!(widths(Values::Hard), [1, 18]);
        assert_eq!(widths(Values::Ints), [1]);
        assert_eq!(widths(Values::Structs), [3, 18, 36]);
    }

    #[test]
    fn end_tags_move_where_longer_values_stood() {
        let over = |stuffing| match stuffed(Values::Structs, stuffing) {
            Action::Stuffed { width: 3, over, field } => (over, field),
            other => panic!("{other:?}"),
        };
        assert_eq!(over(Stuffing::Intermediate), (3, Field::Given(14)));
        assert_eq!(over(Stuffing::TagShift), (46, Field::Maximal));
    }
}

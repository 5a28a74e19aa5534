//! The changes between two sends, outside the measured time: the values before and after.

use deltasoap_streams::similar::Changes;

use super::shape::{Shape, items_of_width};
use super::{Action, Case};

/// The values of a workload's messages.
pub struct Script<S: Shape> {
    /// The values of the first message.
    pub first: Vec<S::Item>,
    /// The alternating values of the changed places.
    after: [Vec<S::Item>; 2],
    /// The places that change.
    places: Vec<usize>,
    /// The state before the change.
    pub start: Start,
    /// Index of the next one in `after`.
    turn: usize,
}

/// The template that a timed message starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// The template as the last timed message left it.
    Last,
    /// The last template, after the first message was sent again.
    First,
    /// A new template of the first message.
    Anew,
    /// No template.
    Nothing,
}

impl<S: Shape> Script<S> {
    /// Creates the values of a case.
    pub fn new(case: &Case) -> Self {
        let (first, after, start) = values::<S>(case);
        let changes = Changes { percent: case.percent, partitions: case.partitions };
        Script { places: changes.ranges(first.len()).flatten().collect(), first, after, start, turn: 0 }
    }

    /// Returns the changes that make the next message: place and new item.
    pub fn next(&mut self) -> impl Iterator<Item = (usize, &S::Item)> {
        let after = &self.after[self.turn];
        self.turn = 1 - self.turn;
        self.places.iter().map(move |&place| (place, &after[place]))
    }

    /// Returns the changes that undo the last ones.
    pub fn back(&self) -> impl Iterator<Item = (usize, &S::Item)> {
        self.places.iter().map(|&place| (place, &self.first[place]))
    }

    /// Returns all values of the message made by the last [`next`](Self::next).
    pub fn current(&self) -> Vec<S::Item> {
        let after = &self.after[1 - self.turn];
        let mut current = self.first.clone();
        self.places.iter().for_each(|&place| current[place] = after[place].clone());
        current
    }
}

type Values<S> = (Vec<<S as Shape>::Item>, [Vec<<S as Shape>::Item>; 2], Start);

fn values<S: Shape>(case: &Case) -> Values<S> {
    let n = case.n;
    let with = |other: fn(&S::Item) -> S::Item, first: Vec<S::Item>, start| {
        let others = first.iter().map(other).collect();
        // The first message is sent before the values alternate.
        (first.clone(), [others, first], start)
    };
    let by_turns = |first, start| with(S::sibling, first, start);
    let grown = |from: usize, to: usize, start| {
        let after = items_of_width::<S>(n, to);
        (items_of_width::<S>(n, from), [after.clone(), after], start)
    };
    match case.action {
        Action::ContentMatch | Action::Structural => by_turns(S::ordinary(n), Start::Last),
        Action::Overlaid => with(S::renewed, S::ordinary(n), Start::Last),
        Action::Redrawn { .. } => {
            let first = S::ordinary(n);
            (first.clone(), [S::others(n), first], Start::Last)
        }
        Action::Rewritten => by_turns(items_of_width::<S>(n, S::LONGEST), Start::Last),
        Action::First | Action::Shared => by_turns(S::ordinary(n), Start::Nothing),
        Action::Shift { width } => grown(width, S::LONGEST, Start::Anew),
        Action::Stuffed { width, over, .. } if width == over => by_turns(items_of_width::<S>(n, width), Start::Last),
        Action::Stuffed { width, over, .. } => grown(over, width, Start::First),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::send::Field;
    use crate::send::shape::{Doubles, Structs};
    use crate::workload::Values;

    fn script(action: Action, percent: u32) -> Script<Doubles> {
        Script::new(&Case::new(action, Values::Hard, 8).changed(percent))
    }

    fn differing(script: &mut Script<Doubles>, before: &[f64]) -> Vec<usize> {
        let changes: Vec<(usize, f64)> = script.next().map(|(place, item)| (place, *item)).collect();
        changes.into_iter().filter(|(place, item)| before[*place] != *item).map(|(place, _)| place).collect()
    }

    #[test]
    fn every_message_differs_from_the_one_before_in_its_share() {
        let mut script = script(Action::Structural, 25);
        let mut before = script.first.clone();
        for _ in 0..4 {
            assert_eq!(differing(&mut script, &before), [3, 4]);
            before = script.current();
        }
        assert_eq!(script.start, Start::Last);
    }

    #[test]
    fn every_leaf_of_an_overlaid_message_is_another_one() {
        let second = |action| {
            let mut script = Script::<Structs>::new(&Case::new(action, Values::Structs, 8));
            let pairs: Vec<_> = script.first.clone().into_iter().zip(script.next().map(|(_, item)| *item)).collect();
            let differing = |((x, y, v), other): ((i32, i32, f64), (i32, i32, f64))| {
                [x != other.0, y != other.1, v.to_bits() != other.2.to_bits()]
            };
            pairs.into_iter().map(differing).collect::<Vec<_>>()
        };
        assert_eq!(second(Action::Overlaid), [[true; 3]; 8]);
        assert_eq!(second(Action::Structural), [[false, false, true]; 8]);
    }

    #[test]
    fn values_grow_and_shrink_from_the_first_message_again_and_again() {
        let stuffed = Action::Stuffed { width: 1, over: 24, field: Field::Maximal };
        for (action, start) in [(Action::Shift { width: 1 }, Start::Anew), (stuffed, Start::First)] {
            let mut script = script(action, 100);
            let first = script.first.clone();
            for _ in 0..3 {
                assert_eq!(differing(&mut script, &first).len(), 8);
                assert!(script.back().all(|(place, item)| first[place] == *item));
            }
            assert_eq!(script.start, start);
        }
    }

    #[test]
    fn the_same_message_again_has_no_changes() {
        assert_eq!(Script::<Doubles>::new(&Case::new(Action::ContentMatch, Values::Hard, 8)).next().count(), 0);
    }
}

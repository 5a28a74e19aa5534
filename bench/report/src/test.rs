//! Tests of claims: they decide whether our numbers agree with the paper's. Each of them can fail.
//!
//! The order of many cells is compared within groups, since differences between groups (a size, a
//! share of changes) would give any two tables the same order. It must also beat chance and trivial
//! models ([`factors`]).

use std::fmt;

use crate::factors;
use crate::number;
use crate::statistics::{Compared, Group, mean, rank_correlation_within};

/// A condition on our numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// Each number lies in this range, ends included.
    Range {
        /// The minimum.
        low: f64,
        /// The maximum.
        high: f64,
    },
    /// Each number is within a factor of the printed one, in either direction.
    Factor {
        /// The paper's number, above zero.
        printed: f64,
        /// The factor, above one.
        factor: f64,
    },
    /// Each number is within a distance of the printed one.
    Near {
        /// The paper's number.
        printed: f64,
        /// The maximum distance.
        distance: f64,
    },
    /// Each number is at least this.
    AtLeast(f64),
    /// Each number is at most this.
    AtMost(f64),
    /// The first and the last number of a series each lie in a range, ends included.
    Ends {
        /// Range of the first.
        first: (f64, f64),
        /// Range of the last.
        last: (f64, f64),
    },
    /// Each number of a series is greater than its predecessor.
    Ascending,
    /// The last number of a series is at least this multiple of the first.
    Growth {
        /// The minimum multiple.
        least: f64,
    },
    /// The last number of a series differs from the first by at most this percentage.
    Level {
        /// Percent of the first.
        percent: f64,
    },
    /// The mean rank correlation within groups is at least `least`, exceeds what 95 of 100 random
    /// orders of the columns reach, and exceeds that of the best one-factor model by [`MARGIN`].
    Ranks {
        /// The minimum.
        least: f64,
    },
    /// Two mean correlations within groups are at least `least` and above chance: that of the
    /// ranks, and that of the remainder after the effect of each factor is removed. No model
    /// without interaction of the factors agrees, however well it orders the cells.
    Interplay {
        /// The minimum.
        least: f64,
    },
    /// The mean distance of the cells' logarithms from theirs is at most this share of that of the
    /// best one-factor model.
    Closer {
        /// The share, below one.
        share: f64,
    },
    /// At least this share of all cells differ from theirs by at most a factor.
    Cells {
        /// The factor, above one.
        factor: f64,
        /// The share, from 0 to 1.
        share: f64,
    },
}

/// The input of a test.
#[derive(Debug, Clone, PartialEq)]
pub enum Evidence {
    /// Our numbers, in order.
    Numbers(Vec<f64>),
    /// Cells of a table, ours and theirs, in groups.
    Cells(Vec<Group>),
}

/// The result of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    /// The deciding number; of several, the one that agrees least.
    pub value: f64,
    /// The value of chance or a trivial model that the number must exceed.
    pub bar: Option<f64>,
    /// True if the numbers agree.
    pub agrees: bool,
}

/// Required distance of a rank correlation from that of the best one-factor model.
pub const MARGIN: f64 = 0.05;

/// Minimum number of cells in a group for a test of their order: of six, one random order in twenty
/// reaches 0.83.
const MIN_CELLS: usize = 6;

impl From<f64> for Evidence {
    fn from(number: f64) -> Self {
        Evidence::Numbers(vec![number])
    }
}

impl Test {
    /// Applies the test. Returns `None` if there are no numbers, one is not finite, there are too
    /// few, or they are of the wrong kind for this test.
    pub fn judge(&self, evidence: &Evidence) -> Option<Finding> {
        match (self, evidence) {
            (Test::Ranks { least }, Evidence::Cells(groups)) => ranks(groups, *least),
            (Test::Interplay { least }, Evidence::Cells(groups)) => interplay(groups, *least),
            (Test::Closer { share }, Evidence::Cells(groups)) => closer(groups, *share),
            (Test::Cells { factor, share }, Evidence::Cells(groups)) => cells(groups, *factor, *share),
            (_, Evidence::Numbers(numbers)) => {
                let is_usable = !numbers.is_empty() && numbers.iter().all(|number| number.is_finite());
                if is_usable { self.judge_numbers(numbers) } else { None }
            }
            _ => None,
        }
    }

    fn judge_numbers(&self, numbers: &[f64]) -> Option<Finding> {
        let (first, last) = (*numbers.first()?, *numbers.last()?);
        let decided = |value: f64, agrees: bool| Some(Finding { value, bar: None, agrees });
        match *self {
            Test::Range { low, high } => {
                let beyond = |number: f64| (low - number).max(number - high);
                let worst = worst(numbers, beyond);
                decided(worst, beyond(worst) <= 0.0)
            }
            Test::Factor { printed, factor } => {
                let beyond = |number: f64| if number > 0.0 { (number / printed).ln().abs() } else { f64::INFINITY };
                let worst = worst(numbers, beyond);
                decided(worst, beyond(worst) <= factor.ln())
            }
            Test::Near { printed, distance } => {
                let worst = worst(numbers, |number| (number - printed).abs());
                decided(worst, (worst - printed).abs() <= distance)
            }
            Test::AtLeast(bound) => {
                let least = worst(numbers, |number| -number);
                decided(least, least >= bound)
            }
            Test::AtMost(bound) => {
                let most = worst(numbers, |number| number);
                decided(most, most <= bound)
            }
            _ if numbers.len() < 2 || numbers.iter().any(|number| *number <= 0.0) => None,
            Test::Ends { first: low_end, last: high_end } => {
                // Distance from the range, in widths of the range.
                let beyond = |number: f64, (low, high): (f64, f64)| (low - number).max(number - high) / (high - low);
                let (at_first, at_last) = (beyond(first, low_end), beyond(last, high_end));
                decided(if at_first > at_last { first } else { last }, at_first.max(at_last) <= 0.0)
            }
            Test::Ascending => {
                let steps: Vec<f64> = numbers.windows(2).map(|pair| pair[1] / pair[0]).collect();
                let least = worst(&steps, |step| -step);
                decided(least, least > 1.0)
            }
            Test::Growth { least } => decided(last / first, last / first >= least),
            Test::Level { percent } => decided(last / first, (last / first - 1.0).abs() * 100.0 <= percent),
            Test::Ranks { .. } | Test::Interplay { .. } | Test::Closer { .. } | Test::Cells { .. } => None,
        }
    }
}

/// Returns the number with the greatest `badness`.
fn worst(numbers: &[f64], badness: impl Fn(f64) -> f64) -> f64 {
    numbers.iter().copied().max_by(|one, other| badness(*one).total_cmp(&badness(*other))).unwrap_or(f64::NAN)
}

fn ranks(groups: &[Group], least: f64) -> Option<Finding> {
    let chance = factors::by_chance(has_order(groups)?, rank_correlation_within);
    exceeds(rank_correlation_within(groups), least, chance.max(factors::best_order(groups) + MARGIN))
}

fn interplay(groups: &[Group], least: f64) -> Option<Finding> {
    let lesser = |groups: &[Group]| rank_correlation_within(groups).min(factors::interplay(groups));
    has_order(is_positive(groups)?)?;
    exceeds(lesser(groups), least, factors::by_chance(groups, lesser))
}

fn exceeds(value: f64, least: f64, bar: f64) -> Option<Finding> {
    Some(Finding { value, bar: Some(bar), agrees: value >= least && value > bar })
}

fn closer(groups: &[Group], share: f64) -> Option<Finding> {
    let value = factors::distance(is_positive(groups)?)?;
    Some(Finding { value, bar: None, agrees: value <= share })
}

fn cells(groups: &[Group], factor: f64, share: f64) -> Option<Finding> {
    let near = |cell: &Compared| f64::from(u8::from((cell.ours / cell.theirs).ln().abs() <= factor.ln()));
    let value = mean(&is_positive(groups)?.iter().flatten().map(near).collect::<Vec<_>>());
    Some(Finding { value, bar: None, agrees: value >= share })
}

/// Returns the groups, if there are any and each has an order.
fn has_order(groups: &[Group]) -> Option<&[Group]> {
    let is_finite = |cell: &Compared| cell.ours.is_finite() && cell.theirs.is_finite();
    let has_order = |group: &Group| group.len() >= MIN_CELLS && group.iter().all(is_finite);
    Some(groups).filter(|groups| !groups.is_empty() && groups.iter().all(has_order))
}

/// Returns the groups, if they have cells, all of them positive.
fn is_positive(groups: &[Group]) -> Option<&[Group]> {
    let has_logarithm = |number: f64| number.is_finite() && number > 0.0;
    let is_positive = |cell: &Compared| has_logarithm(cell.ours) && has_logarithm(cell.theirs);
    Some(groups)
        .filter(|groups| groups.iter().any(|group| !group.is_empty()) && groups.iter().flatten().all(is_positive))
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |(low, high): (f64, f64)| format!("{} to {}", number(low), number(high));
        match *self {
            Test::Range { low, high } => f.write_str(&range((low, high))),
            Test::Factor { printed, factor } => write!(f, "within a factor of {factor} of {}", number(printed)),
            Test::Near { printed, distance } => write!(f, "{} \u{B1} {}", number(printed), number(distance)),
            Test::AtLeast(bound) => write!(f, "at least {}", number(bound)),
            Test::AtMost(bound) => write!(f, "at most {}", number(bound)),
            Test::Ends { first, last } => write!(f, "first {}, last {}", range(first), range(last)),
            Test::Ascending => f.write_str("each is greater than the one before"),
            Test::Growth { least } => write!(f, "last by first at least {}", number(least)),
            Test::Level { percent } => write!(f, "last within {} % of the first", number(percent)),
            Test::Ranks { least } => {
                write!(
                    f,
                    "at least {}, above chance, and above the best model of one factor by {MARGIN}",
                    number(least)
                )
            }
            Test::Interplay { least } => write!(f, "at least {}, and above chance", number(least)),
            Test::Closer { share } => {
                write!(f, "at most {} of what the best model of one factor is off", number(share))
            }
            Test::Cells { factor, share } => {
                write!(f, "at least {:.0} % of cells within a factor of {factor}", share * 100.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(numbers: &[f64]) -> Evidence {
        Evidence::Numbers(numbers.to_vec())
    }

    /// A table of two rows and twelve columns, twice, in which ours is `of` theirs.
    fn table(of: impl Fn(usize, f64) -> f64) -> Evidence {
        let cell = |i: usize| {
            let theirs = (i / 100 * 100 + i % 100 * 7 % 24 + 1) as f64;
            Compared { ours: of(i, theirs), theirs, place: [i % 2, i % 100 / 2 % 3, i % 100 / 6] }
        };
        let group = |start: usize| (start..start + 24).map(cell).collect();
        Evidence::Cells(vec![group(0), group(100)])
    }

    /// For each test, numbers that agree and numbers that differ, with the deciding value.
    #[test]
    fn each_test_can_agree_and_can_differ() {
        let cases = [
            (Test::Range { low: 1.24, high: 1.76 }, numbers(&[1.3, 1.76]), numbers(&[1.3, 2.02, 1.1]), 2.02),
            (Test::Factor { printed: 10.0, factor: 2.0 }, numbers(&[5.0, 20.0]), numbers(&[9.0, 4.9]), 4.9),
            (Test::Factor { printed: 10.0, factor: 2.0 }, numbers(&[10.0]), numbers(&[20.1]), 20.1),
            (Test::Near { printed: -14.2, distance: 5.0 }, numbers(&[-18.0, -10.0]), numbers(&[-14.0, 3.0]), 3.0),
            (Test::AtLeast(3.8), numbers(&[3.8, 46.0]), numbers(&[46.0, 3.7]), 3.7),
            (Test::AtMost(1.5), numbers(&[0.2, 1.5]), numbers(&[1.6, 0.3]), 1.6),
            (Test::Ends { first: (1.0, 1.2), last: (1.3, 1.5) }, numbers(&[1.1, 9.0, 1.4]), numbers(&[1.3, 1.4]), 1.3),
            (Test::Ascending, numbers(&[1.0, 2.0, 3.0]), numbers(&[1.0, 4.0, 3.0]), 0.75),
            (Test::Growth { least: 1.3 }, numbers(&[1.0, 0.5, 1.4]), numbers(&[1.0, 5.0, 1.2]), 1.2),
            (Test::Level { percent: 10.0 }, numbers(&[10.0, 20.0, 10.9]), numbers(&[10.0, 12.0]), 1.2),
            (Test::Ends { first: (1.0, 1.2), last: (1.3, 1.5) }, numbers(&[1.2, 1.3]), numbers(&[1.1, 1.6]), 1.6),
            (Test::Ranks { least: 0.5 }, table(|_, theirs| theirs * 3.0), table(|_, theirs| -theirs), -1.0),
            (Test::Interplay { least: 0.5 }, table(|_, theirs| theirs * 3.0), table(|_, theirs| 1.0 / theirs), -1.0),
            (Test::Cells { factor: 1.5, share: 0.7 }, table(|_, theirs| theirs * 1.4), table(|_, t| t * 1.6), 0.0),
        ];
        for (test, agreeing, differing, value) in cases {
            assert!(test.judge(&agreeing).is_some_and(|finding| finding.agrees), "{test}");
            let finding = test.judge(&differing).unwrap_or_else(|| panic!("{test}"));
            assert!(!finding.agrees && (finding.value - value).abs() < 1e-9, "{test}: {finding:?}");
        }
    }

    /// Two tables that both grow by group, but are unrelated within groups.
    #[test]
    fn an_order_of_groups_alone_is_no_agreement() {
        let noise = [3.0, 7.0, 1.0, 8.0, 2.0, 6.0, 5.0, 4.0];
        let test = Test::Ranks { least: 0.2 };
        let finding = test.judge(&table(|i, _| (i / 100) as f64 * 50.0 + noise[i % 4 + (i / 2) % 4])).unwrap();
        assert!(!finding.agrees && finding.bar.unwrap() > 0.2, "{finding:?}");
    }

    /// Models that know their numbers only by the levels of one factor, or one per group, do not
    /// agree.
    #[test]
    fn a_trivial_model_is_no_agreement() {
        let one_factor = |i: usize, _: f64| [2.0, 3.0, 1.0, 4.0][i % 100 / 6];
        let agrees = |test: &Test, table: &Evidence| test.judge(table).unwrap().agrees;
        let (ranks, interplay, closer) =
            (Test::Ranks { least: 0.2 }, Test::Interplay { least: 0.2 }, Test::Closer { share: 0.9 });
        for test in [&ranks, &interplay, &closer] {
            assert!(agrees(test, &table(|i, theirs| theirs * [1.05, 1.0][i % 2])), "{test}");
            assert!(!agrees(test, &table(one_factor)), "{test}");
        }
        let middle = |_: usize, theirs: f64| if theirs > 100.0 { 112.0 } else { 12.0 };
        assert!(!agrees(&closer, &table(middle)) && !agrees(&closer, &table(|_, theirs| theirs * 3.0)));
    }

    #[test]
    fn what_is_no_evidence_is_not_judged() {
        let ranks = Test::Ranks { least: 0.5 };
        let cell = |number: f64| Compared { ours: number, theirs: number, place: [0; 3] };
        let few = Evidence::Cells(vec![vec![cell(1.0), cell(2.0)]]);
        for (test, evidence) in [
            (&ranks, numbers(&[1.0])),
            (&ranks, few),
            (&ranks, Evidence::Cells(vec![])),
            (&Test::AtLeast(1.0), numbers(&[])),
            (&Test::AtLeast(1.0), numbers(&[2.0, f64::NAN])),
            (&Test::Ascending, numbers(&[2.0])),
            (&Test::Ends { first: (1.0, 1.2), last: (1.3, 1.5) }, numbers(&[1.1])),
            (&Test::Closer { share: 0.9 }, table(|_, _| 0.0)),
            (&Test::Interplay { least: 0.5 }, table(|_, theirs| -theirs)),
            (&Test::Closer { share: 0.9 }, Evidence::Cells(vec![vec![]])),
            (&Test::AtMost(1.0), table(|_, theirs| theirs)),
            (&Test::Cells { factor: 2.0, share: 0.5 }, table(|_, _| 0.0)),
        ] {
            assert_eq!(test.judge(&evidence), None, "{test}: {evidence:?}");
        }
    }

    #[test]
    fn rules_say_what_they_ask_for() {
        assert_eq!(Test::Range { low: 1.24, high: 1.76 }.to_string(), "1.24 to 1.76");
        assert_eq!(Test::Factor { printed: 41.0, factor: 2.0 }.to_string(), "within a factor of 2 of 41.0");
        assert_eq!(
            Test::Cells { factor: 1.5, share: 0.7 }.to_string(),
            "at least 70 % of cells within a factor of 1.5"
        );
    }
}

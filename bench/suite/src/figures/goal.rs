//! A goal and its measurement.

use deltasoap_report::Grid;
use serde::Serialize;

use crate::statistics::Interval;

/// A measured goal.
#[derive(Debug, Default, Serialize)]
pub struct Goal {
    /// The measured quantity.
    pub name: String,
    /// The target as text.
    pub goal: String,
    /// The number that is judged; `None` if it could not be measured.
    pub measured: Option<f64>,
    /// The 95 percent confidence interval, if known.
    pub interval: Option<[f64; 2]>,
    /// An explanation of the number, or the reason why it is missing.
    pub detail: String,
    /// True if the goal is reached; `None` for numbers that are reported without a goal.
    pub reached: Option<bool>,
}

impl Goal {
    /// Creates a goal of at most `bound`.
    pub fn at_most(bound: f64, unit: &str, measured: f64, detail: String) -> Self {
        let goal = format!("at most {bound} {unit}");
        Goal { goal, measured: finite(measured), detail, reached: Some(measured <= bound), ..Goal::default() }
    }

    /// Creates a goal of at least `bound`.
    pub fn at_least(bound: f64, unit: &str, measured: f64, detail: String) -> Self {
        let goal = format!("at least {bound} {unit}");
        Goal { goal, measured: finite(measured), detail, reached: Some(measured >= bound), ..Goal::default() }
    }

    /// Creates a number without a goal.
    pub fn reported(unit: &str, measured: f64, detail: String) -> Self {
        Goal { goal: format!("reported, {unit}"), measured: finite(measured), detail, ..Goal::default() }
    }

    /// Creates a goal whose number could not be measured.
    pub fn unknown(goal: &str, reason: String) -> Self {
        Goal { goal: goal.to_owned(), detail: reason, ..Goal::default() }
    }

    /// Adds the interval of the number.
    pub fn within(self, Interval { low, high, .. }: Interval) -> Self {
        Goal { interval: Some([low, high]), ..self }
    }

    /// Sets the name.
    pub fn named(self, name: String) -> Self {
        Goal { name, ..self }
    }

    fn cells(&self) -> [String; 6] {
        let measured = self.measured.map_or_else(String::new, |measured| format!("{measured:.3}"));
        let interval = self.interval.map_or_else(String::new, |[low, high]| format!("{low:.3} to {high:.3}"));
        let reached = match self.reached {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "",
        };
        [self.name.clone(), self.goal.clone(), self.detail.clone(), measured, interval, reached.to_owned()]
    }
}

fn finite(measured: f64) -> Option<f64> {
    Some(measured).filter(|measured| measured.is_finite())
}

/// Formats goals as a table, with the number of those reached.
pub fn table(goals: &[Goal]) -> String {
    let header = ["figure", "goal", "detail", "measured", "95 %", "reached"];
    let table = Grid::new("", &header, 3).with(goals.iter().map(Goal::cells)).markdown();
    let judged = goals.iter().filter_map(|goal| goal.reached);
    let (reached, all) = judged.fold((0, 0), |(reached, all), yes| (reached + usize::from(yes), all + 1));
    format!("{table}\n{reached} of {all} goals are reached")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_judged() {
        let goals = [
            Goal::at_most(2.0, "× floor", 2.0, "0.5 ms".to_owned()).named("one".to_owned()),
            Goal::at_least(2.0, "× regular", 1.9, String::new())
                .within(Interval { low: 1.75, median: 1.9, high: 2.125 })
                .named("two".to_owned()),
            Goal::reported("bytes", 7.0, String::new()),
            Goal::unknown("at most 1", "no valgrind".to_owned()),
        ];
        assert_eq!(goals.each_ref().map(|goal| goal.reached), [Some(true), Some(false), None, None]);
        let table = table(&goals);
        assert!(table.contains("1 of 2 goals are reached") && table.contains("no valgrind"), "{table}");
        assert!(table.contains("at most 2 × floor") && table.contains("2.000"), "{table}");
        assert!(table.contains("1.750 to 2.125"), "{table}");
    }

    #[test]
    fn what_is_no_number_reaches_nothing() {
        let goal = Goal::at_most(2.0, "", f64::NAN, String::new());
        assert_eq!((goal.reached, goal.measured), (Some(false), None));
    }
}

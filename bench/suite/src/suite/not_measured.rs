//! Reasons why a toolkit has nothing to measure.

use std::time::Duration;

use crate::engine::WrongValues;

/// The reason why a toolkit has no number in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotMeasured {
    /// It is missing, does not support the work, or is excluded.
    Absent(String),
    /// It failed: its process may be unusable.
    Failed(String),
}

impl NotMeasured {
    /// Creates the reason from an error with all its causes. Wrong values only mean that the
    /// toolkit does not support this work.
    pub fn failed(error: &anyhow::Error) -> Self {
        let reason = format!("{error:#}");
        if error.downcast_ref::<WrongValues>().is_some() {
            NotMeasured::Absent(reason)
        } else {
            NotMeasured::Failed(reason)
        }
    }

    /// Creates the reason for a run that would take too long.
    pub fn too_long(expected: Duration, most: Duration) -> Self {
        let (expected, most) = (expected.as_secs_f64(), most.as_secs_f64());
        NotMeasured::Absent(format!(
            "a run would take {expected:.1} s as predicted from fewer items; the limit is {most:.1} s"
        ))
    }

    /// Returns the text for the row.
    pub fn reason(self) -> String {
        match self {
            NotMeasured::Absent(reason) | NotMeasured::Failed(reason) => reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, anyhow};

    use super::*;

    #[test]
    fn wrong_values_are_no_failure() {
        let wrong = WrongValues::unless_same("1", "2").context("decode-hard").unwrap_err();
        assert_eq!(
            NotMeasured::failed(&wrong),
            NotMeasured::Absent("decode-hard: wrong values: their checksum is 1, not 2".to_owned())
        );
        assert_eq!(NotMeasured::failed(&anyhow!("it ended")), NotMeasured::Failed("it ended".to_owned()));
        assert!(WrongValues::unless_same("1", "1").is_ok());
    }

    #[test]
    fn a_reason_tells_how_long() {
        let reason = NotMeasured::too_long(Duration::from_secs(120), Duration::from_secs(10)).reason();
        assert!(reason.contains("120.0 s") && reason.contains("10.0 s"), "{reason}");
    }
}

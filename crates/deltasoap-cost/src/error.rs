//! Errors, and how to resolve them.

use crate::calibration::Difference;
use crate::fit::regression::{Coefficient, EXPLAINED, Quality};
use crate::measure::BackgroundLoad;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// A cost that cannot be calculated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CostError {
    /// A file cannot be read or written.
    #[error("the file {} cannot be used", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file that is not a calibration.
    #[error("{} is not a calibration", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
    /// A calibration with a point that no calibration measures, or with invalid times.
    #[error("{}: {point} is not a point of a calibration, or its times are invalid", path.display())]
    UnknownPoint {
        /// The file.
        path: PathBuf,
        /// The point's message.
        point: String,
    },
    /// The calibration belongs to another machine or toolkit.
    #[error("the calibration does not match: {}; measure again", join(.0))]
    Different(Vec<Difference>),
    /// A regression has fewer points than it needs.
    #[error("{what}: {found} points are too few, {needed} are needed; measure more of this series")]
    TooFewPoints {
        /// The regression.
        what: String,
        /// Number of points found.
        found: usize,
        /// Number of points needed.
        needed: usize,
    },
    /// A regression cannot separate its regressors.
    #[error("{what}: the points do not distinguish {regressor} from the other regressors")]
    Collinear {
        /// The regression.
        what: String,
        /// One of the dependent regressors.
        regressor: String,
    },
    /// A regression explains too little, or has a negative cost for additional work: the
    /// measurements do not reflect the cost of the messages.
    #[error(
        "{what}: the times are noise: {}; measure again with more messages (`cost measure --rounds`, without `--few`) on an idle machine{}",
        figures(quality, falling.as_ref()),
        busy.map_or_else(String::new, |busy| format!(" ({busy} while this was measured)"))
    )]
    Noise {
        /// The regression.
        what: String,
        /// How much the regression explains.
        quality: Quality,
        /// A coefficient whose whole interval is below zero though it cannot be negative.
        falling: Option<Coefficient>,
        /// The load of other programs, if high enough to be the cause.
        busy: Option<BackgroundLoad>,
    },
    /// A point or a regressor is not a finite number.
    #[error("{what}: a value is not a finite number")]
    NotFinite {
        /// The regression.
        what: String,
    },
    /// A path that no message has.
    #[error("no message has {path}; {}", listed(known))]
    UnknownPath {
        /// The path.
        path: String,
        /// Known paths.
        known: Vec<String>,
    },
    /// A type that requires itself.
    #[error("the type of {path} requires itself, so no message can contain it")]
    Endless {
        /// Path at which the type recurs.
        path: String,
    },
    /// The message is too large for a prediction.
    #[error("the message would have more than {limit} {what}; give smaller lengths")]
    TooLarge {
        /// The limit.
        limit: usize,
        /// The limited quantity.
        what: &'static str,
    },
    /// A WSDL operation that cannot be used.
    #[error("{0}")]
    Operation(String),
    /// The calibration has no series for a feature of the message.
    #[error("the calibration has no series for {0}, nor for a substitute")]
    NotMeasured(String),
    /// The toolkit cannot read or write its own message.
    #[error("{what} cannot be measured: {reason}")]
    Engine {
        /// The workload.
        what: String,
        /// The cause.
        reason: String,
    },
    /// An invalid parameter of a plan.
    #[error("{name} must be {expected}, not {found}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// The valid values.
        expected: &'static str,
        /// The given value.
        found: f64,
    },
    /// More requests than the system can serve.
    #[error(
        "{rate:.1} requests per second exceed the capacity of the {station}: it saturates at {capacity:.1} per second"
    )]
    Saturated {
        /// The given requests per second.
        rate: f64,
        /// The first station to saturate.
        station: String,
        /// Maximum requests per second of that station.
        capacity: f64,
    },
}

impl CostError {
    /// Adds the load of other programs during the measurements to the error.
    pub(crate) fn measured_while(self, found: Option<BackgroundLoad>) -> Self {
        match self {
            CostError::Noise { what, quality, falling, .. } => CostError::Noise { what, quality, falling, busy: found },
            other => other,
        }
    }
}

fn figures(quality: &Quality, falling: Option<&Coefficient>) -> String {
    let Quality { r_squared, f, f_critical } = quality;
    let explained = format!(
        "R² is {r_squared:.4} (at least {EXPLAINED} is needed), F is {f:.4} (more than {f_critical:.4} is needed)"
    );
    match falling {
        None => explained,
        Some(Coefficient { name, value, margin }) => {
            format!("{name} is {value:.1} ± {margin:.1} ns (more work cannot cost less), {explained}")
        }
    }
}

fn join(differences: &[Difference]) -> String {
    differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn listed(paths: &[String]) -> String {
    match paths {
        [] => "none of them has a part whose length is open".to_owned(),
        paths => format!("there are {}", paths.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_print_their_source_or_return_it() {
        let source = serde_json::from_str::<u8>("x").expect_err("no number");
        for error in [
            CostError::Format { path: "cost.json".into(), source },
            CostError::File { path: "cost.json".into(), source: io::ErrorKind::NotFound.into() },
        ] {
            assert_says_each_once(&error);
        }
    }

    /// Asserts that no error of a chain has the text of its source.
    #[track_caller]
    fn assert_says_each_once(error: &(dyn std::error::Error + 'static)) {
        let chain: Vec<_> =
            std::iter::successors(Some(error), |&error| error.source()).map(ToString::to_string).collect();
        for texts in chain.windows(2) {
            assert!(!texts[0].contains(&texts[1]), "{chain:?}");
        }
    }
}

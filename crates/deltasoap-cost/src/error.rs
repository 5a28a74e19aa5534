//! What can go wrong, and what to do about it.

use crate::calibration::Difference;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a cost cannot be told.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CostError {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is none of calibration.
    #[error("{} is no calibration: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// A calibration with a point that is never measured.
    #[error("{}: {point} is no point of a calibration, or its times are none", path.display())]
    UnknownPoint {
        /// The file.
        path: PathBuf,
        /// The point's message.
        point: String,
    },
    /// The calibration was made elsewhere.
    #[error("the calibration is of something else: {}; measure anew", join(.0))]
    Different(Vec<Difference>),
    /// A regression has less points than it needs.
    #[error("{what}: {found} points are too few, {needed} are needed; measure more of this series")]
    TooFewPoints {
        /// The regression.
        what: String,
        /// Points there are.
        found: usize,
        /// Points there should be.
        needed: usize,
    },
    /// A regression cannot tell its regressors apart.
    #[error("{what}: the points do not tell {regressor} apart from the other regressors")]
    Collinear {
        /// The regression.
        what: String,
        /// One of those that depend on each other.
        regressor: String,
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
        /// Paths that could have been meant.
        known: Vec<String>,
    },
    /// A type that requires itself.
    #[error("{path} has no end: its type requires itself, so that no message of it can be written")]
    Endless {
        /// Where the type is met again.
        path: String,
    },
    /// More than a prediction is made for.
    #[error("the lengths make a message of more than {most} {what}; give smaller ones")]
    TooLarge {
        /// The bound.
        most: usize,
        /// Of what there would be more.
        what: &'static str,
    },
    /// A description whose operation cannot be used.
    #[error("{0}")]
    Operation(String),
    /// The calibration has no series for what the message holds.
    #[error("the calibration has no series for {0}, nor for anything that stands in for it")]
    NotMeasured(String),
    /// The toolkit cannot read or write its own message.
    #[error("{what} cannot be measured: {reason}")]
    Engine {
        /// The workload.
        what: String,
        /// Why.
        reason: String,
    },
    /// A parameter of a plan that means nothing.
    #[error("{name} must be {expected}, not {found}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it was.
        found: f64,
    },
    /// More requests than the system can serve.
    #[error("{rate:.1} requests a second are more than {station} can serve: it is saturated at {most:.1} a second")]
    Saturated {
        /// Requests a second that were asked for.
        rate: f64,
        /// The station that is full first.
        station: String,
        /// Requests a second that it can serve.
        most: f64,
    },
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

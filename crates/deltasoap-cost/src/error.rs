//! What can go wrong, and what to do about it.

use crate::calibration::Difference;
use crate::fit::regression::{Coefficient, EXPLAINED, Quality};
use crate::measure::Busy;
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
    /// A regression explains too little, or says that more work costs less: what was measured is
    /// not the cost of the messages.
    #[error(
        "{what}: the times are noise: {}; measure again with more messages (`cost measure --rounds`, without `--few`) on an idle machine{}",
        figures(quality, falling.as_ref()),
        busy.map_or_else(String::new, |busy| format!(" ({busy} while this was measured)"))
    )]
    Noise {
        /// The regression.
        what: String,
        /// How much it explains.
        quality: Quality,
        /// A coefficient that cannot be below zero, and is with its whole interval.
        falling: Option<Coefficient>,
        /// What other programs did meanwhile, where that was enough to explain it.
        busy: Option<Busy>,
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

impl CostError {
    /// The same, with what other programs did while the points were measured.
    pub(crate) fn measured_while(self, found: Option<Busy>) -> Self {
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

//! The messages again, with lists that know which of their items changed.

use deltasoap::{Soap, TrackedVec};

use crate::messages::Mio;

/// `sendInts`
#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sendInts")]
pub struct TrackedInts {
    /// The items.
    pub item: TrackedVec<i32>,
}

/// `sendDoubles`
#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sendDoubles")]
pub struct TrackedDoubles {
    /// The items.
    pub item: TrackedVec<f64>,
}

/// `sendStrings`
#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sendStrings")]
pub struct TrackedStrings {
    /// The items.
    pub item: TrackedVec<String>,
}

/// `sendMios`
#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sendMios")]
pub struct TrackedMios {
    /// The items.
    pub item: TrackedVec<Mio>,
}

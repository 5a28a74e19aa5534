//! The messages with other lists: ones that track which of their items changed, and ones whose
//! items come one by one.

use deltasoap::Soap;
use deltasoap::stream::Streamed;
use deltasoap::types::TrackedVec;

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

/// `sendInts`
#[derive(Debug, Default, Soap)]
#[soap(namespace = "urn:bench", element = "sendInts")]
pub struct StreamedInts {
    item: Streamed<i32>,
}

/// `sendDoubles`
#[derive(Debug, Default, Soap)]
#[soap(namespace = "urn:bench", element = "sendDoubles")]
pub struct StreamedDoubles {
    item: Streamed<f64>,
}

/// `sendStrings`
#[derive(Debug, Default, Soap)]
#[soap(namespace = "urn:bench", element = "sendStrings")]
pub struct StreamedStrings {
    item: Streamed<String>,
}

/// `sendMios`
#[derive(Debug, Default, Soap)]
#[soap(namespace = "urn:bench", element = "sendMios")]
pub struct StreamedMios {
    item: Streamed<Mio>,
}

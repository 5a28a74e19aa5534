//! The type of errors that pass through all layers.

/// Any error that can cross threads, as tower and hyper report them.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

//! Limits on received compressed bodies.

use super::options::GzipLimits;
use deltasoap_core::Limits;

/// Limits on a coded body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound {
    pub(crate) gzip: GzipLimits,
    /// The name of the limit on received bytes, and its value.
    pub(crate) name: &'static str,
    pub(crate) received: u64,
}

impl Bound {
    /// Creates the limits on a standalone message, or on a package with the limit `total`.
    pub(crate) fn new(gzip: GzipLimits, is_package: bool, message: &Limits, total: u64) -> Self {
        let (name, received) = if is_package { ("total", total) } else { ("message", message.message) };
        Bound { gzip, name, received }
    }
}

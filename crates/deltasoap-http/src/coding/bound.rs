//! Limits on received compressed bodies.

use super::options::GzipLimits;
use crate::attachments::AttachmentLimits;
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
    /// Creates the limits on a standalone message, or on one in a package.
    pub(crate) fn new(gzip: GzipLimits, is_package: bool, message: &Limits, package: &AttachmentLimits) -> Self {
        let (name, received) = if is_package { ("total", package.total) } else { ("message", message.message) };
        Bound { gzip, name, received }
    }
}

//! Settings: which messages are sent compressed, and bounds on compressed messages that are received.

use crate::Body;
use http_body::Body as _;

/// Which messages are sent in gzip, and at which level.
///
/// Without the feature `gzip`, none are. Packages of parts are never compressed: most of their bytes are
/// images and the like, which do not shrink.
///
/// Compression takes many times longer than writing a message. It is useful if the network is slower than
/// that: beyond the data centre, and not for messages that fit in a packet or two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compression {
    /// Minimum size of a compressed message in bytes; `None` if none is compressed. A message of unknown length counts as long.
    from: Option<u64>,
    level: u32,
}

impl Compression {
    /// None.
    pub const OFF: Compression = Compression { from: None, level: 6 };
    /// All except empty bodies.
    pub const ALWAYS: Compression = Compression::from_bytes(0);

    /// Messages of at least this many bytes.
    pub const fn from_bytes(bytes: u64) -> Self {
        Compression { from: Some(bytes), level: 6 }
    }

    /// The level: from 1, the fastest, to 9, the smallest; 0 stores the bytes unchanged. A larger number counts as 9.
    /// Default 6.
    #[must_use]
    pub const fn level(mut self, level: u32) -> Self {
        self.level = if level > 9 { 9 } else { level };
        self
    }

    /// True if no message is compressed.
    pub(crate) fn is_off(&self) -> bool {
        self.from.is_none()
    }

    /// Without the feature `gzip` no body is compressed.
    ///
    /// # Errors
    /// The body as it was.
    #[cfg(not(feature = "gzip"))]
    pub(crate) fn compress(&self, body: Body) -> Result<Body, Body> {
        Err(body)
    }

    /// The body in gzip, if such a body is to be compressed.
    ///
    /// # Errors
    /// The body as it was, if not.
    #[cfg(feature = "gzip")]
    pub(crate) fn compress(&self, body: Body) -> Result<Body, Body> {
        let Some(from) = self.from.filter(|_| !body.is_end_stream() && !body.is_package()) else { return Err(body) };
        match body.size_hint().exact() {
            Some(size) if size < from => Err(body),
            _ => Ok(body.gzip(self.level)),
        }
    }
}

impl Default for Compression {
    fn default() -> Self {
        Self::OFF
    }
}

/// Bounds on bodies in gzip, in addition to those on their output, which is bounded like any other message.
///
/// The input bytes have the same bound: `message` of [`Limits`](deltasoap_core::Limits), for packages `total` of
/// [`AttachmentLimits`](crate::AttachmentLimits).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GzipLimits {
    /// Output bytes for each input byte, over the stream so far; at least 1. Default 200: repetitive XML reaches
    /// 100, and gzip 1032.
    pub ratio: u64,
    /// Output bytes that are allowed whatever the ratio. Default 1 MiB.
    pub free: u64,
}

impl Default for GzipLimits {
    fn default() -> Self {
        GzipLimits { ratio: 200, free: 1 << 20 }
    }
}

//! Settings: which messages are sent compressed, and bounds on compressed messages that are received.

use super::choice::{Learned, Way};
use crate::Body;
use http_body::Body as _;
use std::sync::Arc;

/// A content coding (RFC 9110, 8.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentCoding {
    /// `gzip` (RFC 1952).
    Gzip,
    /// `zstd` (RFC 8878), with a window of at most 8 MiB (RFC 9659).
    #[cfg(feature = "zstd")]
    Zstd,
}

impl ContentCoding {
    /// Its name in headers.
    pub fn name(self) -> &'static str {
        match self {
            ContentCoding::Gzip => "gzip",
            #[cfg(feature = "zstd")]
            ContentCoding::Zstd => "zstd",
        }
    }

    /// The level for one that was asked for.
    fn level(self, asked: Option<u32>) -> u32 {
        match self {
            ContentCoding::Gzip => asked.unwrap_or(6).min(9),
            // Beyond 19, windows are larger than RFC 9659 allows.
            #[cfg(feature = "zstd")]
            ContentCoding::Zstd => asked.unwrap_or(3).clamp(1, 19),
        }
    }
}

/// A set of content codings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Codings {
    pub(crate) gzip: bool,
    pub(crate) zstd: bool,
}

impl Codings {
    pub(crate) const NONE: Codings = Codings { gzip: false, zstd: false };

    pub(crate) fn only(coding: ContentCoding) -> Self {
        Codings { gzip: coding == ContentCoding::Gzip, zstd: coding != ContentCoding::Gzip }
    }

    pub(crate) fn contains(self, coding: ContentCoding) -> bool {
        match coding {
            ContentCoding::Gzip => self.gzip,
            #[cfg(feature = "zstd")]
            ContentCoding::Zstd => self.zstd,
        }
    }

    /// The preferred coding if it is one of these, else another one of them.
    fn pick(self, preferred: ContentCoding) -> Option<ContentCoding> {
        let others = [
            ContentCoding::Gzip,
            #[cfg(feature = "zstd")]
            ContentCoding::Zstd,
        ];
        std::iter::once(preferred).chain(others).find(|coding| self.contains(*coding))
    }
}

/// Which messages are sent compressed, and how: in gzip, or with the feature `zstd` in zstd.
///
/// Without the feature `gzip`, none are. Packages of parts are never compressed: most of their bytes are
/// images and the like, which do not shrink.
///
/// Compression takes many times longer than writing a message. It is useful if the network is slower than
/// that: beyond the data centre, and not for messages that fit in a packet or two. [`ADAPTIVE`](Self::ADAPTIVE) finds that out.
///
/// A message beyond 1 MiB that shrinks to less than a two-hundredth, as a list of equal values does, is refused by receivers with the
/// default [`GzipLimits`], whatever the rule: raise their `ratio` where such messages are sent.
///
/// The length of a compressed message reveals how far its parts repeat each other, even where it is encrypted: do not compress
/// messages that contain a secret next to text of a third party. Hence the default, [`OFF`](Self::OFF).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compression {
    rule: Rule,
    level: Option<u32>,
    coding: ContentCoding,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Off,
    /// Messages of this many bytes or more, and those of unknown length.
    From(u64),
    Adaptive,
}

impl Compression {
    /// None.
    pub const OFF: Compression = Compression::by(Rule::Off);
    /// All except empty bodies.
    pub const ALWAYS: Compression = Compression::by(Rule::From(0));
    /// Those that arrive sooner that way, as far as is known.
    ///
    /// The throughput of each connection is measured, where the network or the receiver is what writing waits for, and so is
    /// what compression makes of the messages of each operation. From both follows whether a message is
    /// compressed, by which coding and at which level. As long as the throughput is unknown, messages are sent as they are: at the
    /// start of a connection, if no message is too long for the system's buffers, and for transports in memory. So are
    /// messages below 2800 bytes.
    ///
    /// Responses are compressed for clients that accept it. A client compresses requests by this rule once the server has said that it
    /// reads a coding, with `Accept-Encoding` in a response (RFC 7694), as [`SoapService`](crate::SoapService) does in answers to requests that are long
    /// enough. It does so no more once a compressed request was refused with status 415.
    pub const ADAPTIVE: Compression = Compression::by(Rule::Adaptive);

    /// Messages of at least this many bytes. A message of unknown length counts as long.
    pub const fn from_bytes(bytes: u64) -> Self {
        Compression::by(Rule::From(bytes))
    }

    const fn by(rule: Rule) -> Self {
        Compression { rule, level: None, coding: ContentCoding::Gzip }
    }

    /// The level, from 1, the fastest, to the smallest: 9 for gzip, for which 0 stores the bytes unchanged; 19 for zstd. A larger number
    /// counts as that. Default 6 for gzip and 3 for zstd; [`ADAPTIVE`](Self::ADAPTIVE) has its own.
    #[must_use]
    pub const fn level(mut self, level: u32) -> Self {
        self.level = Some(level);
        self
    }

    /// The coding. A response has it if the client accepts no other rather; requests have it unless the rule is
    /// [`ADAPTIVE`](Self::ADAPTIVE), which chooses among those that are accepted. Default gzip.
    #[must_use]
    pub const fn coding(mut self, coding: ContentCoding) -> Self {
        self.coding = coding;
        self
    }

    /// True if no message is compressed.
    pub(crate) fn is_off(&self) -> bool {
        self.rule == Rule::Off
    }

    /// True if it depends on the connection.
    pub(crate) fn is_adaptive(&self) -> bool {
        self.rule == Rule::Adaptive && cfg!(feature = "gzip")
    }

    /// What requests may be in without a word of the server.
    #[cfg(feature = "client")]
    pub(crate) fn own_coding(&self) -> Codings {
        if self.is_off() { Codings::NONE } else { Codings::only(self.coding) }
    }

    /// The body in one of the codings, if it is to be compressed, and in which.
    ///
    /// # Errors
    /// The body as it was, if not.
    pub(crate) fn compress(
        &self,
        body: Body,
        accepted: Codings,
        outlook: Outlook,
    ) -> Result<(Body, ContentCoding), Body> {
        if body.is_end_stream() || body.is_package() || cfg!(not(feature = "gzip")) {
            return Err(body);
        }
        let length = body.size_hint().exact();
        let (way, learned) = match (self.rule, outlook) {
            (Rule::Off, _) => (None, None),
            (Rule::From(least), _) if length.is_some_and(|length| length < least) => (None, None),
            (Rule::From(_), _) => {
                (accepted.pick(self.coding).map(|coding| Way { coding, level: coding.level(self.level) }), None)
            }
            (Rule::Adaptive, Outlook { rate: Some(rate), learned: Some(learned) }) => {
                (learned.choose(length, rate, accepted), Some(learned))
            }
            (Rule::Adaptive, _) => (None, None),
        };
        match way {
            Some(way) => Ok((body.coded(way, learned), way.coding)),
            None => Err(body),
        }
    }
}

impl Default for Compression {
    fn default() -> Self {
        Self::OFF
    }
}

/// What is known of the way that a message will take, for [`Compression::ADAPTIVE`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Outlook {
    /// Bytes a second.
    pub(crate) rate: Option<f64>,
    /// What became of messages like it.
    pub(crate) learned: Option<Arc<Learned>>,
}

/// Bounds on compressed bodies, in addition to those on their output, which is bounded like any other message.
///
/// They hold for gzip and, with the feature `zstd`, for zstd, where a window beyond 8 MiB is refused too (RFC 9659).
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

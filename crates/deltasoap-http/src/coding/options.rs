//! Settings: which messages are sent compressed, and bounds on compressed messages that are
//! received.

use super::choice::{Outlook, Way};
use crate::Body;
use http_body::Body as _;

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
/// Without the feature `gzip`, none are. Packages of parts are never compressed: most of their
/// bytes are images and the like, which do not shrink.
///
/// Compression takes many times longer than writing a message. It is useful if the network is
/// slower than that: beyond the data centre, and not for messages that fit in a packet or two.
/// [`ADAPTIVE`](Self::ADAPTIVE) finds that out.
///
/// A message that would shrink to almost nothing, as a list of equal values does, is diluted with
/// empty blocks while it is sent, so that receivers with the default [`GzipLimits`] take it: beyond
/// 1 MiB it has at least a two-hundredth of its length.
///
/// Where a message that is written while it is sent waits for more items, what is ready is sent,
/// also if it is compressed.
///
/// The length of a compressed message reveals how far its parts repeat each other, even where it is
/// encrypted: do not compress messages that contain a secret next to text of a third party. Hence
/// the default, [`OFF`](Self::OFF).
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
    /// The throughput of each connection is measured, where the network or the receiver is what
    /// writing waits for, and so is what compression makes of the messages of each operation. From
    /// both follows whether a message is compressed, by which coding and at which level. As long as
    /// the throughput is unknown, messages are sent as they are: at the start of a connection, if
    /// no message is too long for the system's buffers, and for transports in memory. So are
    /// messages below 2800 bytes. What is measured is forgotten after a minute. Where no more of
    /// the messages arrives than without compression, since it is the receiver that is slow, or the
    /// sender's processor, the next 64 messages or so are sent as they are.
    ///
    /// Responses are compressed for clients that accept it. A client compresses requests by this
    /// rule once the server has said that it reads a coding, with `Accept-Encoding` in a response
    /// (RFC 7694), as [`SoapService`](crate::SoapService) does in answers to requests that are long
    /// enough, and as long as that connection is open; over [`Frames`](crate::transport::Frames),
    /// where its connections are not measured, never. A request that is refused with status 415 is
    /// sent once more as it was, if it can be: streams cannot. What the refusal says in
    /// `Accept-Encoding` holds from then on; if it says nothing, or names the coding that was
    /// refused, no more requests are compressed. After status 413, those with the same action are
    /// not.
    ///
    /// A compressed message, also a list that is used while it arrives, passes the limits of a
    /// receiver with our defaults if the plain one does, but for a minimum rate
    /// ([`body_rate`](crate::ServiceBuilder::body_rate)): it counts the bytes that are sent.
    pub const ADAPTIVE: Compression = Compression::by(Rule::Adaptive);

    /// Messages of at least this many bytes. A message of unknown length counts as long.
    pub const fn from_bytes(bytes: u64) -> Self {
        Compression::by(Rule::From(bytes))
    }

    const fn by(rule: Rule) -> Self {
        Compression { rule, level: None, coding: ContentCoding::Gzip }
    }

    /// The level, from 1, the fastest, to the smallest: 9 for gzip, for which 0 stores the bytes
    /// unchanged; 19 for zstd. A larger number counts as that. Default 6 for gzip and 3 for zstd;
    /// [`ADAPTIVE`](Self::ADAPTIVE) has its own.
    #[must_use]
    pub const fn level(mut self, level: u32) -> Self {
        self.level = Some(level);
        self
    }

    /// The coding. A response has it if the client accepts no other rather; requests have it unless
    /// the rule is [`ADAPTIVE`](Self::ADAPTIVE), which chooses among those that are accepted.
    /// Default gzip.
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
        let own = |coding: ContentCoding| Way { coding, level: coding.level(self.level) };
        let (way, outlook) = match self.rule {
            Rule::Off => (None, Outlook::default()),
            Rule::From(least) if length.is_some_and(|length| length < least) => (None, Outlook::default()),
            Rule::From(_) => (accepted.pick(self.coding).map(own), Outlook::default()),
            Rule::Adaptive => (outlook.choose(length, accepted), outlook),
        };
        match way {
            Some(way) => Ok((body.coded(way, outlook), way.coding)),
            None => Err(body),
        }
    }
}

impl Default for Compression {
    fn default() -> Self {
        Self::OFF
    }
}

/// Bounds on compressed bodies, in addition to those on their output, which is bounded like any
/// other message.
///
/// They hold for gzip and, with the feature `zstd`, for zstd, where a window beyond 8 MiB is
/// refused too (RFC 9659). The input bytes may exceed those of the output so far by `message` of
/// [`Limits`](deltasoap_core::Limits), for packages by `total` of
/// [`AttachmentLimits`](crate::AttachmentLimits); a `Content-Length` counts at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GzipLimits {
    /// Output bytes for each input byte, over the stream so far; at least 1. Default 200:
    /// repetitive XML reaches 100, and gzip 1032. What is sent here never exceeds the default, see
    /// [`Compression`].
    pub ratio: u64,
    /// Output bytes that are allowed whatever the ratio. Default 1 MiB.
    pub free: u64,
}

/// The default `ratio` and `free` of receivers, within which everything is that is sent.
pub(crate) const RATIO: u64 = 200;
pub(crate) const FREE: u64 = 1 << 20;

impl Default for GzipLimits {
    fn default() -> Self {
        GzipLimits { ratio: RATIO, free: FREE }
    }
}

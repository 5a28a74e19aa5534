//! Settings: which messages are sent compressed, and limits on received compressed messages.

use super::adaptive::{AdaptiveState, Codec};

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
    /// Returns its name in headers.
    pub fn name(self) -> &'static str {
        match self {
            ContentCoding::Gzip => "gzip",
            #[cfg(feature = "zstd")]
            ContentCoding::Zstd => "zstd",
        }
    }

    /// Returns the effective level for a requested one.
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

    /// Returns the preferred coding if it is in the set, otherwise another one of the set.
    fn pick(self, preferred: ContentCoding) -> Option<ContentCoding> {
        let others = [
            ContentCoding::Gzip,
            #[cfg(feature = "zstd")]
            ContentCoding::Zstd,
        ];
        std::iter::once(preferred).chain(others).find(|coding| self.contains(*coding))
    }
}

/// Selects which messages are sent compressed, and how: in gzip, or with the feature `zstd` in
/// zstd.
///
/// Without the feature `gzip`, none are. Packages of parts are never compressed: most of their
/// bytes are images and the like, which do not shrink.
///
/// Compression takes many times longer than writing a message. It is useful if the network is
/// slower than that: beyond the data centre, and not for messages that fit in a packet or two.
/// [`ADAPTIVE`](Self::ADAPTIVE) measures this.
///
/// A message that would shrink to almost nothing, such as a list of equal values, is diluted with
/// empty blocks while it is sent, so that receivers with the default [`GzipLimits`] accept it:
/// beyond 1 MiB it has at least a two-hundredth of its length.
///
/// If a message that is written while it is sent waits for more items, the ready ones are sent,
/// even if it is compressed.
///
/// The length of a compressed message reveals how far its parts repeat each other, even if it is
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
    /// Compresses nothing.
    pub const OFF: Compression = Compression::by(Rule::Off);
    /// Compresses everything except empty bodies.
    pub const ALWAYS: Compression = Compression::by(Rule::From(0));
    /// Compresses the messages that are expected to arrive sooner that way.
    ///
    /// The throughput of each connection is measured while writing waits for the network or the
    /// receiver, and so is the effect of compression on the messages of each operation. Both
    /// determine whether a message is compressed, by which coding and at which level. As long as
    /// the throughput is unknown, messages are sent uncompressed: at the start of a connection, if
    /// no message is too long for the system's buffers, and for transports in memory. So are
    /// messages below 2800 bytes. Measurements are forgotten after a minute. If messages do not
    /// arrive faster than without compression, because the receiver or the sender's processor is
    /// slow, the next 64 messages or so are sent uncompressed.
    ///
    /// Responses are compressed for clients that accept it. A client compresses requests by this
    /// rule once the server has announced a coding, with `Accept-Encoding` in a response (RFC
    /// 7694), as [`SoapService`](crate::SoapService) does in answers to requests that are long
    /// enough, and as long as that connection is open; never over
    /// [`Frames`](crate::transport::Frames), whose connections are not measured. A request that is
    /// refused with status 415 is sent once more uncompressed, if it can be: streams cannot. The
    /// `Accept-Encoding` of the refusal applies from then on; if there is none, or it names the
    /// refused coding, no more requests are compressed. After status 413, requests with the same
    /// action are no longer compressed.
    ///
    /// A compressed message, including a list that is used while it arrives, passes the limits of a
    /// receiver with our defaults if the plain one does, except for a minimum rate
    /// ([`body_rate`](crate::SoapServiceBuilder::body_rate)): it counts the bytes that are sent.
    pub const ADAPTIVE: Compression = Compression::by(Rule::Adaptive);

    /// Compresses messages of at least this many bytes. A message of unknown length counts as long.
    pub const fn from_bytes(bytes: u64) -> Self {
        Compression::by(Rule::From(bytes))
    }

    const fn by(rule: Rule) -> Self {
        Compression { rule, level: None, coding: ContentCoding::Gzip }
    }

    /// Sets the level, from 1 (fastest) to the maximum (smallest): 9 for gzip, for which 0 stores
    /// the bytes unchanged; 19 for zstd. Larger numbers are clamped. Default 6 for gzip and 3 for
    /// zstd; [`ADAPTIVE`](Self::ADAPTIVE) has its own.
    #[must_use]
    pub const fn level(mut self, level: u32) -> Self {
        self.level = Some(level);
        self
    }

    /// Sets the coding. A response uses it unless the client prefers another one; requests use it
    /// unless the rule is [`ADAPTIVE`](Self::ADAPTIVE), which chooses among the accepted ones.
    /// Default gzip.
    #[must_use]
    pub const fn coding(mut self, coding: ContentCoding) -> Self {
        self.coding = coding;
        self
    }

    /// Returns true if no message is compressed.
    pub(crate) fn is_off(&self) -> bool {
        self.rule == Rule::Off
    }

    /// Returns true if the decision depends on the connection.
    pub(crate) fn is_adaptive(&self) -> bool {
        self.rule == Rule::Adaptive && cfg!(feature = "gzip")
    }

    /// Returns the codings that requests may use without an announcement by the server.
    #[cfg(feature = "client")]
    pub(crate) fn own_coding(&self) -> Codings {
        if self.is_off() { Codings::NONE } else { Codings::only(self.coding) }
    }

    /// Returns how a body is compressed, and what learns from it; `None` if it is not. `length` is
    /// that of the body, if known.
    pub(crate) fn codec(
        &self,
        length: Option<u64>,
        accepted: Codings,
        adaptive: AdaptiveState,
    ) -> Option<(Codec, AdaptiveState)> {
        let own = |coding: ContentCoding| Codec { coding, level: coding.level(self.level) };
        match self.rule {
            Rule::Off => None,
            Rule::From(min) if length.is_some_and(|length| length < min) => None,
            Rule::From(_) => Some((own(accepted.pick(self.coding)?), AdaptiveState::default())),
            Rule::Adaptive => Some((adaptive.choose(length, accepted)?, adaptive)),
        }
    }
}

impl Default for Compression {
    fn default() -> Self {
        Self::OFF
    }
}

/// Limits on compressed bodies, in addition to those on their output, which is limited like any
/// other message.
///
/// They apply to gzip and, with the feature `zstd`, to zstd, where a window beyond 8 MiB is
/// rejected too (RFC 9659). The input bytes may exceed those of the output so far by `message` of
/// [`Limits`](deltasoap_core::Limits), for packages by `total` of
/// [`AttachmentLimits`](crate::AttachmentLimits); a `Content-Length` counts immediately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GzipLimits {
    /// Maximum number of output bytes for each input byte, over the stream so far; at least 1.
    /// Default 200: repetitive XML reaches 100, and gzip 1032. Messages sent by this library never
    /// exceed the default, see [`Compression`].
    pub ratio: u64,
    /// Output bytes that are allowed whatever the ratio. Default 1 MiB.
    pub free: u64,
}

/// The default `ratio` and `free` of receivers; sent messages stay within them.
pub(crate) const RATIO: u64 = 200;
pub(crate) const FREE: u64 = 1 << 20;

impl Default for GzipLimits {
    fn default() -> Self {
        GzipLimits { ratio: RATIO, free: FREE }
    }
}

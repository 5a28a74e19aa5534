//! The identity of a distributed trace in HTTP headers (W3C Trace Context, level 1).

use http::HeaderMap;
#[cfg(feature = "opentelemetry")]
use http::HeaderName;
use std::fmt;

/// The identity of a trace: 16 bytes, not all zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceId(u128);

impl TraceId {
    #[cfg(feature = "opentelemetry")]
    pub(super) fn new(number: u128) -> Self {
        TraceId(number)
    }

    #[cfg(feature = "opentelemetry")]
    pub(super) fn number(self) -> u128 {
        self.0
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The header `traceparent`: a trace, the span in it that sends the request, and flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceParent {
    pub(crate) trace_id: TraceId,
    /// Not 0.
    pub(super) span_id: u64,
    /// The lowest bit is set if the sender records the trace.
    pub(super) flags: u8,
}

impl TraceParent {
    pub(crate) const HEADER: &str = "traceparent";
    #[cfg(feature = "opentelemetry")]
    pub(super) const NAME: HeaderName = HeaderName::from_static(Self::HEADER);

    /// Returns the parent that a request names; `None` if there is none, or several, or an invalid
    /// one, which all begin a new trace (sections 3.2.1 and 4.2).
    pub(crate) fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let mut named = headers.get_all(Self::HEADER).iter();
        let (only, None) = (named.next()?, named.next()) else { return None };
        Self::parse(only.as_bytes())
    }

    /// Reads the value of the header. Of a version after 0, only the fields of version 0 are read,
    /// which may be followed by `-` and more (section 4.3).
    fn parse(text: &[u8]) -> Option<Self> {
        let (text, rest) = text.split_at_checked(55)?;
        let version = hex(&text[..2])?;
        let is_separated = [2, 35, 52].iter().all(|at| text[*at] == b'-');
        let is_ended = if version == 0 { rest.is_empty() } else { rest.first().is_none_or(|next| *next == b'-') };
        if version == 0xff || !is_separated || !is_ended {
            return None;
        }
        let (trace, span, flags) = (hex(&text[3..35])?, hex(&text[36..52])?, hex(&text[53..])?);
        let parent = TraceParent {
            trace_id: TraceId(trace),
            span_id: u64::try_from(span).ok()?,
            flags: u8::try_from(flags).ok()?,
        };
        (trace != 0 && span != 0).then_some(parent)
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{:016x}-{:02x}", self.trace_id, self.span_id, self.flags)
    }
}

/// Reads up to 32 hexadecimal digits, which must be in lower case.
fn hex(digits: &[u8]) -> Option<u128> {
    digits.iter().try_fold(0, |number: u128, digit| {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u128::from(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

    fn parse(text: &str) -> Option<TraceParent> {
        TraceParent::parse(text.as_bytes())
    }

    #[test]
    fn valid_ones_are_read_and_written_unchanged() {
        let parent = parse(VALID).expect("valid");
        assert_eq!(parent.trace_id.to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!((parent.span_id, parent.flags), (0x00f0_67aa_0ba9_02b7, 1));
        assert_eq!(parent.to_string(), VALID);
    }

    #[test]
    fn invalid_ones_are_ignored() {
        for (from, to) in [
            ("0af7651916cd43dd8448eb211c80319c", "00000000000000000000000000000000"),
            ("00f067aa0ba902b7", "0000000000000000"),
            ("0af7", "0AF7"),
            ("00-0af7", "ff-0af7"),
            ("00-0af7", "0g-0af7"),
            ("c-00f0", "c_00f0"),
            ("-01", "-0"),
            ("-01", "-01-extra"),
            ("-01", "-01 "),
            ("-01", "-+1"),
            ("00-0af7", " 00-0af7"),
            ("9c-00", "ä-00"),
        ] {
            let text = VALID.replacen(from, to, 1);
            assert_ne!(text, VALID);
            assert_eq!(parse(&text), None, "{text}");
        }
        assert_eq!(parse(""), None);
    }

    #[test]
    fn later_versions_may_be_longer() {
        let later = VALID.replacen("00-", "cc-", 1);
        let expected = parse(VALID);
        assert_eq!(parse(&later), expected);
        assert_eq!(parse(&format!("{later}-what-comes-later")), expected);
        assert_eq!(parse(&format!("{later}.what")), None);
    }

    #[test]
    fn two_parents_are_none() {
        let mut headers = HeaderMap::new();
        assert_eq!(TraceParent::from_headers(&headers), None);
        headers.append(TraceParent::HEADER, VALID.parse().expect("a value"));
        assert_eq!(TraceParent::from_headers(&headers), parse(VALID));
        headers.append(TraceParent::HEADER, VALID.parse().expect("a value"));
        assert_eq!(TraceParent::from_headers(&headers), None);
    }
}

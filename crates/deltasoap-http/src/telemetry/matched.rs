//! How messages match earlier ones, as logs name it.

use deltasoap_core::{DifferentialStats, EncodeStats, MatchKind};

/// Returns how a received message matched an earlier one, from the counts of it alone: `content` if
/// nothing of it had to be read, `partial` if some of it was skipped, else `full`.
pub(crate) fn read_match(stats: &DifferentialStats) -> &'static str {
    match (stats.fast_bytes, stats.regular_bytes) {
        (1.., 0) => "content",
        (1.., _) => "partial",
        _ => "full",
    }
}

/// Returns how a written message matches earlier ones, from the counts of it alone: the name of a
/// [`MatchKind`].
pub(crate) fn written_match(stats: &EncodeStats) -> Option<&'static str> {
    let kind = match (stats.content, stats.perfect, stats.partial, stats.first) {
        (1.., ..) => MatchKind::Content,
        (_, 1.., ..) => MatchKind::PerfectStructural,
        (_, _, 1.., _) => MatchKind::PartialStructural,
        (.., 1..) => MatchKind::FirstTime,
        _ => return None,
    };
    Some(kind.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn received_messages_match_by_the_bytes_that_were_read() {
        let of = |fast_bytes, regular_bytes| {
            read_match(&DifferentialStats { fast_bytes, regular_bytes, ..DifferentialStats::default() })
        };
        assert_eq!([of(9, 0), of(9, 1), of(0, 9), of(0, 0)], ["content", "partial", "full", "full"]);
    }

    #[test]
    fn written_messages_match_by_their_kind() {
        let of = |content, perfect, partial, first| {
            let mut stats = EncodeStats::default();
            (stats.content, stats.perfect, stats.partial, stats.first) = (content, perfect, partial, first);
            written_match(&stats)
        };
        let kinds = [of(1, 0, 0, 0), of(0, 1, 0, 0), of(0, 0, 1, 0), of(0, 0, 0, 1)];
        assert_eq!(kinds, ["content", "perfect", "partial", "first"].map(Some));
        assert_eq!(of(0, 0, 0, 0), None);
    }
}

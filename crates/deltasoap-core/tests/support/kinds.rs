//! A naive reference for the kind of match of a message, determined from its bytes and those of the
//! previous message.

use deltasoap_core::MatchKind;

/// Returns the valid kinds for a message written in full after another, with exact widths.
pub fn exact(before: Option<&str>, now: &str) -> &'static [MatchKind] {
    use MatchKind::{Content, FirstTime, PartialStructural, PerfectStructural};
    let Some(before) = before else { return &[FirstTime] };
    if before == now {
        return &[Content];
    }
    if head(before) != head(now) {
        return &[PerfectStructural, PartialStructural, FirstTime];
    }
    let (before, now) = (Pieces(before), Pieces(now));
    let pairs = || before.zip(now);
    if before.count() != now.count() || pairs().any(|(before, now)| before.len() != now.len()) {
        return &[PartialStructural];
    }
    match pairs().all(|(before, now)| before == now || !before.starts_with('<')) {
        true => &[PerfectStructural],
        // Names or attributes with the same length as before.
        false => &[PerfectStructural, PartialStructural],
    }
}

/// Returns the valid kinds if values have room: the message in full does not show what fits.
pub fn stuffed(before: Option<&str>, now: &str) -> &'static [MatchKind] {
    match exact(before, now) {
        only @ [MatchKind::FirstTime | MatchKind::Content] => only,
        all if all.contains(&MatchKind::FirstTime) => all,
        _ => &[MatchKind::PerfectStructural, MatchKind::PartialStructural],
    }
}

/// Returns the message up to the end of the operation's start tag.
fn head(message: &str) -> &str {
    let body = message.find("Body>").map_or(0, |body| body + "Body>".len());
    let end = message[body..].find('>').map_or(message.len(), |end| body + end);
    &message[..end]
}

/// Iterates over tags and texts in turn.
#[derive(Clone, Copy)]
struct Pieces<'a>(&'a str);

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.0.is_empty() {
            return None;
        }
        let end = match self.0.starts_with('<') {
            true => tag_len(self.0),
            false => self.0.find('<').unwrap_or(self.0.len()),
        };
        let (piece, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(piece)
    }
}

/// Returns the length of a tag, whose attribute values may contain `>`.
fn tag_len(text: &str) -> usize {
    let mut is_quoted = false;
    let end = text.bytes().position(|byte| {
        is_quoted ^= byte == b'"';
        byte == b'>' && !is_quoted
    });
    end.map_or(text.len(), |end| end + 1)
}

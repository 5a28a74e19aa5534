//! Finds the most similar of several templates: compares the beginning of a message with theirs,
//! piece by piece.
//!
//! The beginning is a sixteenth of the message, 512 to 4,096 bytes. If one of the templates was
//! made from the value to be sent, it is used without a search.

/// Number of pieces to look ahead for one that is missing in the other message.
const AHEAD: usize = 2;

/// Returns the part of a message's beginning that occurs in a template in the same order, from 0 to
/// 1.
pub(super) fn similarity<'t>(message: &[u8], template: impl Iterator<Item = &'t [u8]>) -> f32 {
    let mut theirs = template.flat_map(pieces).fuse().peekable();
    let (mut same, mut all) = (0u32, 0u32);
    let mut ahead: std::collections::VecDeque<&[u8]> = std::collections::VecDeque::new();
    // The last piece may be truncated.
    let ours = pieces(message).collect::<Vec<_>>();
    for piece in &ours[..ours.len().saturating_sub(1)] {
        all += 1;
        while ahead.len() <= AHEAD
            && let Some(next) = theirs.next()
        {
            ahead.push_back(next);
        }
        let found = ahead.iter().position(|other| other == piece);
        same += u32::from(found.is_some());
        ahead.drain(..ahead.len().min(found.unwrap_or(0) + 1));
    }
    same as f32 / all.max(1) as f32
}

/// Splits bytes into tags, each with the text after it.
fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&byte| byte == b'<').filter(|piece| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(message: &str, template: &str) -> f32 {
        similarity(message.as_bytes(), [template.as_bytes()].into_iter())
    }

    #[test]
    fn what_is_the_same_counts() {
        let message = "<a><b>1</b><b>2</b><b>3</b></a>";
        assert_eq!(like(message, message), 1.0);
        assert_eq!(like(message, ""), 0.0);
        assert!(like(message, "<a><b>1</b><b>2</b><b>4</b></a>") > like(message, "<a><b>5</b><b>6</b><b>4</b></a>"));
        assert!(like(message, "<a><c/><b>1</b><b>2</b><b>3</b></a>") > 0.9, "one that is missing does no harm");
    }
}

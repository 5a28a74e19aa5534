//! A captured message, before it is decoded.

use crate::Reason;
use bytes::Bytes;

pub use crate::direction::Direction;

/// What a source holds at one place.
#[derive(Debug)]
pub enum Item {
    /// A message.
    Capture(Capture),
    /// Something that should hold a message, and does not.
    Unreadable {
        /// Where it is.
        place: String,
        /// Why it holds none.
        reason: Reason,
    },
}

/// A captured message.
#[derive(Debug, Default)]
pub struct Capture {
    /// Where it is: the file, the entry in it, and the line: `day.tar!acs/1.xml`, `log.jsonl:17`.
    pub place: String,
    /// When it was sent, in microseconds since 1970.
    pub time: Option<i64>,
    /// Who sent it. Messages of one sender are compared with each other.
    pub sender: Option<String>,
    /// The direction, if something other than the message itself shows it.
    pub direction: Option<Direction>,
    /// The HTTP status of a response.
    pub status: Option<u16>,
    /// The name of its operation, if it is known.
    pub operation: Option<String>,
    /// True if it answers the capture before it.
    pub is_answer: bool,
    /// The message, as [`message_in`](crate::message_in) reads it.
    pub content: Bytes,
}

impl Capture {
    /// Takes the direction and the status from the head of a message over HTTP.
    pub(crate) fn with_head(mut self) -> Self {
        let line = self.content.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let line = std::str::from_utf8(&line[..line.len().min(4096)]).unwrap_or_default();
        if let Some(rest) = line.strip_prefix("HTTP/") {
            self.direction = Some(Direction::Response);
            self.status = rest.split_ascii_whitespace().nth(1).and_then(|status| status.parse().ok());
        } else if line.trim_end().rsplit_once(' ').is_some_and(|(_, version)| version.starts_with("HTTP/1.")) {
            self.direction = Some(Direction::Request);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_tells_the_direction_and_the_status() {
        let of = |content: &'static str| {
            let capture = Capture { content: Bytes::from_static(content.as_bytes()), ..Capture::default() }.with_head();
            (capture.direction, capture.status)
        };
        assert_eq!(of("HTTP/1.1 500 Oh\r\n\r\n<x/>"), (Some(Direction::Response), Some(500)));
        assert_eq!(of("POST / HTTP/1.1\r\n\r\n<x/>"), (Some(Direction::Request), None));
        assert_eq!(of("<x/>"), (None, None));
    }
}

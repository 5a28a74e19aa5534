//! Which way a message went.

/// The direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// To the service.
    Request,
    /// To the client.
    Response,
}

impl Direction {
    /// Returns its name: `request` or `response`.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Request => "request",
            Direction::Response => "response",
        }
    }

    /// Returns the direction with a name.
    pub fn named(name: &str) -> Option<Self> {
        [Direction::Request, Direction::Response].into_iter().find(|it| it.name().eq_ignore_ascii_case(name))
    }
}

//! Position of a walk in a message.

/// The path of element names from the body's element on, separated by `/`; `@` precedes an
/// attribute's name. Empty for the message itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ElementPath {
    path: String,
}

impl ElementPath {
    /// Returns the path as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.path
    }

    /// Enters a part of the current one; returns what [`ElementPath::leave`] needs.
    pub(crate) fn enter(&mut self, name: &str) -> usize {
        let outside = self.path.len();
        if outside > 0 {
            self.path.push('/');
        }
        self.path.push_str(name);
        outside
    }

    /// Returns to where [`ElementPath::enter`] was called.
    pub(crate) fn leave(&mut self, outside: usize) {
        self.path.truncate(outside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_left_as_it_was_entered() {
        let mut path = ElementPath::default();
        let message = path.enter("item");
        let item = path.enter("@code");
        assert_eq!(path.as_str(), "item/@code");
        path.leave(item);
        assert_eq!(path.as_str(), "item");
        path.leave(message);
        assert_eq!(path.as_str(), "");
    }
}

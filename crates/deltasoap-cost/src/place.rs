//! Position of a walk in a message.

/// The path of element names from the body's element on, separated by `/`; `@` precedes an
/// attribute's name. Empty for the message itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    path: String,
}

impl Place {
    /// Returns the path as text.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Enters a part of the current one; returns what [`Place::leave`] needs.
    pub(crate) fn enter(&mut self, name: &str) -> usize {
        let outside = self.path.len();
        if outside > 0 {
            self.path.push('/');
        }
        self.path.push_str(name);
        outside
    }

    /// Returns to where [`Place::enter`] was called.
    pub(crate) fn leave(&mut self, outside: usize) {
        self.path.truncate(outside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_left_as_it_was_entered() {
        let mut place = Place::default();
        let message = place.enter("item");
        let item = place.enter("@code");
        assert_eq!(place.path(), "item/@code");
        place.leave(item);
        assert_eq!(place.path(), "item");
        place.leave(message);
        assert_eq!(place.path(), "");
    }
}

//! Where in a message a walk is.

/// The names of the elements from the body's on, with `/` between them; `@` in front of an
/// attribute's. Empty for the message itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    path: String,
}

impl Place {
    /// The path as text.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Goes on to a part within the one at hand; gives what [`Place::leave`] goes back to.
    pub(crate) fn enter(&mut self, name: &str) -> usize {
        let outside = self.path.len();
        if outside > 0 {
            self.path.push('/');
        }
        self.path.push_str(name);
        outside
    }

    /// Goes back to where [`Place::enter`] was called.
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

//! Positions in a JSON value: kept on the stack, and only formatted for an error.

use std::fmt::{self, Write as _};

/// A place in a JSON value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'p> {
    Root,
    Key(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl<'p> Path<'p> {
    pub(crate) fn key(&'p self, key: &'p str) -> Self {
        Path::Key(self, key)
    }

    pub(crate) fn index(&'p self, index: usize) -> Self {
        Path::Index(self, index)
    }

    /// Returns the position as a JSON pointer (RFC 6901).
    pub(crate) fn pointer(&self) -> String {
        match self {
            Path::Root => String::new(),
            Path::Key(parent, key) => format!("{}/{}", parent.pointer(), key.replace('~', "~0").replace('/', "~1")),
            Path::Index(parent, index) => {
                let mut pointer = parent.pointer();
                // Writing to a string does not fail.
                let _ = write!(pointer, "/{index}");
                pointer
            }
        }
    }
}

impl fmt::Display for Path<'_> {
    /// Formats the position in `jq` syntax: `.order.item[2]["@id"]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Key(parent, key) => {
                parent.fmt(f)?;
                let is_plain = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                    && !key.starts_with(|c: char| c.is_ascii_digit());
                if is_plain { write!(f, ".{key}") } else { write!(f, "[{key:?}]") }
            }
            Path::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_jq() {
        let order = Path::Root.key("order");
        let item = order.key("item");
        let second = item.index(1);
        assert_eq!(second.key("@id").to_string(), r#".order.item[1]["@id"]"#);
        assert_eq!(second.key("a/b~c").pointer(), "/order/item/1/a~1b~0c");
    }
}

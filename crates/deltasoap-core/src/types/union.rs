//! Unions of simple types (XSD 1.0 part 2, 2.5.1.3): code shared by all unions.

use crate::lexical::LexicalError;

/// Returns the width of the widest member, if all members have a bound.
pub const fn widest(widths: &[Option<usize>]) -> Option<usize> {
    let mut widest = 0;
    let mut index = 0;
    while index < widths.len() {
        match widths[index] {
            Some(width) if width > widest => widest = width,
            Some(_) => {}
            None => return None,
        }
        index += 1;
    }
    Some(widest)
}

/// Returns the error for a text that no member accepts.
#[cold]
pub fn refused(name: &'static str) -> LexicalError {
    LexicalError { expected: name, reason: "not of any member type of the union" }
}

#[cfg(test)]
mod tests {
    use super::widest;

    #[test]
    fn widths() {
        assert_eq!(widest(&[]), Some(0));
        assert_eq!(widest(&[Some(3), Some(11), Some(5)]), Some(11));
        assert_eq!(widest(&[Some(3), None, Some(5)]), None);
    }
}

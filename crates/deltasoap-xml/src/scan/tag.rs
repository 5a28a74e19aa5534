//! A quote-aware, resumable search for the end of a start tag, without reading the tag.

/// The state of a search for the end of a start tag.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TagScan {
    /// The quote that the search is inside of, 0 for none.
    quote: u8,
}

impl TagScan {
    /// Searches the next bytes of a start tag for the `>` that ends the tag, or a `<`, which no
    /// start tag may contain. Returns its index; `None` if it is not among these bytes, and the
    /// search can continue with the bytes that follow.
    pub fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            at += match self.quote {
                0 => bytes[at..].iter().position(|b| matches!(b, b'>' | b'<' | b'"' | b'\''))?,
                quote => memchr::memchr2(quote, b'<', &bytes[at..])?,
            };
            match bytes[at] {
                b'>' | b'<' => return Some(at),
                quote if self.quote == 0 => self.quote = quote,
                _ => self.quote = 0,
            }
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(bytes: &[u8]) -> Option<usize> {
        let mut quote = None;
        for (at, &b) in bytes.iter().enumerate() {
            match quote {
                _ if b == b'<' => return Some(at),
                None if b == b'>' => return Some(at),
                None if b == b'"' || b == b'\'' => quote = Some(b),
                Some(q) if b == q => quote = None,
                _ => {}
            }
        }
        None
    }

    proptest! {
        #[test]
        fn equals_the_naive_search_however_cut(text in "[ab<>\"']{0,40}", cut in 0usize..40) {
            let bytes = text.as_bytes();
            let (head, tail) = bytes.split_at(cut.min(bytes.len()));
            let mut scan = TagScan::default();
            let found = scan.find(head).or_else(|| scan.find(tail).map(|at| at + head.len()));
            prop_assert_eq!(found, naive(bytes));
        }
    }
}

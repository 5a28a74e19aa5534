//! `xsd:list`: items separated by white space; and `NMTOKENS`, `IDREFS` and `ENTITIES`, which have
//! at least one item.

use super::string::scan_text;
use super::{Entity, IdRef, Lexical, LexicalError, NmToken, WhiteSpace, space};
use crate::{Buffer, Escape};

/// A list of values of a simple type, separated by white space (XSD 1.0 part 2, 2.5.1.2). Text
/// items cannot contain white space: written and read again, they would become several items.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct List<T>(pub Vec<T>);

impl<T: Lexical> Lexical for List<T> {
    const XSD_NAME: &'static str = "list";
    const WHITE_SPACE: WhiteSpace = WhiteSpace::Collapse;
    const MAX_WIDTH: Option<usize> = None;

    fn vacant() -> Self {
        List(Vec::new())
    }

    fn parse(text: &str) -> Result<Self, LexicalError> {
        space::items(text).map(T::parse).collect::<Result<_, _>>().map(List)
    }

    fn scan(bytes: &[u8]) -> Option<(Self, usize)> {
        let text = scan_text(bytes)?;
        Some((Self::parse(text).ok()?, text.len()))
    }

    fn format(&self, out: &mut Buffer, escape: Escape) {
        for (index, item) in self.0.iter().enumerate() {
            out.push_block(b" ", usize::from(index > 0));
            item.format(out, escape);
        }
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> Self {
        List(items)
    }
}

macro_rules! list {
    ($(#[$doc:meta])* $name:ident of $item:ident, $xsd:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub Vec<$item>);

        impl Lexical for $name {
            const XSD_NAME: &'static str = $xsd;
            const WHITE_SPACE: WhiteSpace = WhiteSpace::Collapse;
            const MAX_WIDTH: Option<usize> = None;

            /// Returns a list without items: a value of the Rust type, though not of the XSD type.
            fn vacant() -> Self {
                $name(Vec::new())
            }

            fn parse(text: &str) -> Result<Self, LexicalError> {
                let items = space::items(text).map($item::parse).collect::<Result<Vec<_>, _>>();
                let items = items.map_err(|error| LexicalError::new::<Self>(error.reason))?;
                if items.is_empty() { Err(LexicalError::new::<Self>("no items")) } else { Ok($name(items)) }
            }

            fn scan(bytes: &[u8]) -> Option<(Self, usize)> {
                let text = scan_text(bytes)?;
                Some((Self::parse(text).ok()?, text.len()))
            }

            fn format(&self, out: &mut Buffer, escape: Escape) {
                for (index, item) in self.0.iter().enumerate() {
                    out.push_block(b" ", usize::from(index > 0));
                    item.format(out, escape);
                }
            }

            fn clear(&mut self) {
                self.0.clear();
            }
        }
    };
}

list!(
    /// `NMTOKENS`: a list of [`NmToken`].
    NmTokens of NmToken, "NMTOKENS"
);
list!(
    /// `IDREFS`: a list of [`IdRef`].
    IdRefs of IdRef, "IDREFS"
);
list!(
    /// `ENTITIES`: a list of [`Entity`].
    Entities of Entity, "ENTITIES"
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::testing::{assert_invalid, assert_valid};

    #[test]
    fn forms() {
        let tokens = |items: &[&str]| NmTokens(items.iter().map(|item| NmToken::parse(item).expect("valid")).collect());
        assert_valid(&[
            ("a", tokens(&["a"])),
            (" 1 \n-x\t:y ", tokens(&["1", "-x", ":y"])),
            ("a b", tokens(&["a", "b"])),
        ]);
        assert_invalid::<NmTokens>(&["", " ", "a, b", "a #"]);
        assert_invalid::<IdRefs>(&["", "a 1", "a:b"]);
        assert_invalid::<Entities>(&["", "1"]);
        assert_valid(&[("1 -2", List(vec![1, -2])), (" \n", List::<i32>(Vec::new())), ("\t7", List(vec![7]))]);
        assert_invalid::<List<i32>>(&["1,2", "1 x"]);
        assert_eq!(IdRefs::parse("a b").map(|refs| refs.0.len()), Ok(2));
    }
}

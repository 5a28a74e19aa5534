//! `NMTOKENS`, `IDREFS` and `ENTITIES`: items between white space, at least one.

use super::string::scan_text;
use super::{Entity, IdRef, Lexical, LexicalError, NmToken, WhiteSpace, space};
use crate::{Buffer, Escape};

macro_rules! list {
    ($(#[$doc:meta])* $name:ident of $item:ident, $xsd:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub Vec<$item>);

        impl Lexical for $name {
            const XSD_NAME: &'static str = $xsd;
            const WHITE_SPACE: WhiteSpace = WhiteSpace::Collapse;
            const MAX_WIDTH: Option<usize> = None;

            /// Without items: a value of the Rust type, though not of the XSD type.
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
        assert_eq!(IdRefs::parse("a b").map(|refs| refs.0.len()), Ok(2));
    }
}

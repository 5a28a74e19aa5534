//! The types derived from `string`, and `anyURI`, `QName` and `NOTATION`: text that has passed a
//! check.

use super::string::scan_text;
use super::{Lexical, LexicalError, WhiteSpace, chars, space};
use crate::{Buffer, Escape};
use std::fmt;

/// Defines a newtype of text: its name, the XSD type's name, the white space facet, and a check of
/// the text after white space handling.
macro_rules! text {
    ($(#[$doc:meta])* $name:ident, $xsd:literal, $space:ident, $check:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Converts the value into its text.
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl Lexical for $name {
            const XSD_NAME: &'static str = $xsd;
            const WHITE_SPACE: WhiteSpace = WhiteSpace::$space;
            const MAX_WIDTH: Option<usize> = None;

            fn vacant() -> Self {
                $name(String::new())
            }

            fn parse(text: &str) -> Result<Self, LexicalError> {
                let text = space::handle(text, Self::WHITE_SPACE);
                $check(&text).map_err(LexicalError::new::<Self>)?;
                Ok($name(text.into_owned()))
            }

            #[inline]
            fn scan(bytes: &[u8]) -> Option<(Self, usize)> {
                let mut value = Self::vacant();
                let used = value.scan_into(bytes)?;
                Some((value, used))
            }

            #[inline]
            fn scan_into(&mut self, bytes: &[u8]) -> Option<usize> {
                let text = scan_text(bytes).filter(|text| space::is_handled(text, Self::WHITE_SPACE))?;
                $check(text).ok()?;
                self.0.clear();
                self.0.push_str(text);
                Some(text.len())
            }

            #[inline]
            fn format(&self, out: &mut Buffer, escape: Escape) {
                out.push_text(&self.0, escape);
            }

            fn clear(&mut self) {
                self.0.clear();
            }
        }

        impl TryFrom<&str> for $name {
            type Error = LexicalError;

            /// Like [`Lexical::parse`]: white space is handled as the type requires.
            fn try_from(text: &str) -> Result<Self, LexicalError> {
                Self::parse(text)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text!(
    /// `normalizedString`: text without tab, line feed and carriage return.
    NormalizedString, "normalizedString", Replace, any_text
);
text!(
    /// `token`: text with single spaces between words and none at the ends.
    Token, "token", Collapse, any_text
);
text!(
    /// `language`: a language tag as in `en` or `de-CH-1996` (RFC 3066).
    Language, "language", Collapse, language
);
text!(
    /// `Name`: an XML name, colons allowed.
    Name, "Name", Collapse, name
);
text!(
    /// `NCName`: an XML name without a colon.
    NcName, "NCName", Collapse, ncname
);
text!(
    /// `NMTOKEN`: name characters in any order.
    NmToken, "NMTOKEN", Collapse, nmtoken
);
text!(
    /// `ID`: a name that identifies its element. The reader of the document must check that it is
    /// unique.
    Id, "ID", Collapse, ncname
);
text!(
    /// `IDREF`: the name of an element elsewhere in the document.
    IdRef, "IDREF", Collapse, ncname
);
text!(
    /// `ENTITY`: the name of an unparsed entity. SOAP messages have no DTD that could declare one.
    Entity, "ENTITY", Collapse, ncname
);
text!(
    /// `anyURI`: a reference to a resource. XSD 1.0 allows any characters, to be escaped when the
    /// URI is used, so every text is valid.
    AnyUri, "anyURI", Collapse, any_text
);
text!(
    /// `QName` as written: an optional prefix and a local name. The namespace of the prefix depends
    /// on the place in the document; it is not resolved here.
    QName, "QName", Collapse, qname
);
text!(
    /// `NOTATION` as written: like [`QName`].
    Notation, "NOTATION", Collapse, qname
);

/// The common methods of `QName` and `NOTATION`.
macro_rules! names {
    ($($name:ident),*) => {$(
        impl $name {
            /// Creates a name whose prefix is chosen later, as `{namespace}local`, which no text of
            /// a message can be. The writer of a dynamic value declares a prefix for it. `None` if
            /// the local part is not a name.
            pub fn expanded(namespace: &str, local: &str) -> Option<Self> {
                match namespace {
                    _ if !chars::is_ncname(local) => None,
                    "" => Some($name(local.to_owned())),
                    namespace => Some($name(format!("{{{namespace}}}{local}"))),
                }
            }

            /// Returns the namespace and the local part of a name that is
            /// [`expanded`](Self::expanded).
            pub fn parts(&self) -> Option<(&str, &str)> {
                self.0.strip_prefix('{')?.rsplit_once('}')
            }

            /// Returns the part before the colon, if there is one.
            pub fn prefix(&self) -> Option<&str> {
                if self.parts().is_some() { None } else { split_prefix(&self.0).0 }
            }

            /// Returns the part after the colon, or the whole name.
            pub fn local(&self) -> &str {
                self.parts().map_or_else(|| split_prefix(&self.0).1, |(_, local)| local)
            }
        }
    )*};
}

names!(QName, Notation);

fn split_prefix(text: &str) -> (Option<&str>, &str) {
    match text.split_once(':') {
        Some((prefix, local)) => (Some(prefix), local),
        None => (None, text),
    }
}

/// The result of a check, with the reason if it fails.
type Verdict = Result<(), &'static str>;

fn verdict(passed: bool, reason: &'static str) -> Verdict {
    if passed { Ok(()) } else { Err(reason) }
}

fn any_text(text: &str) -> Verdict {
    verdict(chars::find_illegal(text).is_none(), "a character that XML does not allow")
}

fn name(text: &str) -> Verdict {
    verdict(chars::is_name(text), "not an XML name")
}

fn ncname(text: &str) -> Verdict {
    verdict(chars::is_ncname(text), "not an XML name without a colon")
}

fn nmtoken(text: &str) -> Verdict {
    verdict(!text.is_empty() && text.chars().all(chars::is_name_char), "not made of name characters")
}

fn qname(text: &str) -> Verdict {
    let (prefix, local) = split_prefix(text);
    verdict(prefix.is_none_or(chars::is_ncname) && chars::is_ncname(local), "not a qualified name")
}

/// `[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*`, the pattern of XSD 1.0 part 2, 3.3.3.
fn language(text: &str) -> Verdict {
    let mut tags = text.split('-');
    let sized = |tag: &str| (1..=8).contains(&tag.len());
    let first = tags.next().is_some_and(|tag| sized(tag) && tag.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let others = tags.all(|tag| sized(tag) && tag.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    verdict(first && others, "not a language tag")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::testing::{assert_invalid, laws, scan_agrees, text_of};
    use proptest::prelude::*;

    fn reads<T: Lexical + PartialEq + fmt::Debug + AsRef<str>>(forms: &[(&str, &str)]) {
        for (text, value) in forms {
            let parsed = T::parse(text).expect(text);
            assert_eq!(parsed.as_ref(), *value, "{text:?}");
            laws(&parsed);
            scan_agrees::<T>(text);
        }
    }

    #[test]
    fn white_space_by_type() {
        reads::<NormalizedString>(&[(" a\t b\r\n", " a  b  "), ("a  b", "a  b"), ("", "")]);
        reads::<Token>(&[(" a\t b\r\n", "a b"), ("", ""), ("a b", "a b"), ("\u{a0}", "\u{a0}")]);
        reads::<AnyUri>(&[(" http://a/b?c=d ", "http://a/b?c=d"), ("", ""), ("\u{e9} %", "\u{e9} %")]);
        assert_invalid::<Token>(&["\0", "\u{fffe}"]);
    }

    #[test]
    fn languages() {
        reads::<Language>(&[
            ("en", "en"),
            (" en-GB ", "en-GB"),
            ("de-CH-1996", "de-CH-1996"),
            ("i-navajo", "i-navajo"),
        ]);
        assert_invalid::<Language>(&[
            "",
            "e1",
            "-",
            "en-",
            "-en",
            "en--GB",
            "abcdefghi",
            "en_GB",
            "en-abcdefghi",
            "\u{e9}",
        ]);
    }

    #[test]
    fn names() {
        reads::<Name>(&[("a:b", "a:b"), (" _x.1-2\n", "_x.1-2"), (":", ":")]);
        assert_invalid::<Name>(&["", "1a", "a b", "-a"]);
        reads::<NcName>(&[("ab", "ab"), ("\u{e9}t\u{e9}", "\u{e9}t\u{e9}")]);
        assert_invalid::<NcName>(&["", "a:b", ":"]);
        assert_invalid::<Id>(&["", "a:b", "1"]);
        assert_invalid::<IdRef>(&["#id1"]);
        assert_invalid::<Entity>(&["&e;"]);
        reads::<NmToken>(&[("1-a:.", "1-a:."), (" x", "x")]);
        assert_invalid::<NmToken>(&["", "a b", "a,b"]);
    }

    #[test]
    fn qualified_names() {
        reads::<QName>(&[("a", "a"), ("xsd:int", "xsd:int"), (" s:x ", "s:x")]);
        reads::<Notation>(&[("n:gif", "n:gif")]);
        assert_invalid::<QName>(&["", ":", ":a", "a:", "a:b:c", "1:a", "a b", "{urn:x}y"]);
        let name = QName::try_from("xsd:int").expect("valid");
        assert_eq!((name.prefix(), name.local()), (Some("xsd"), "int"));
        let name = Notation::try_from("gif").expect("valid");
        assert_eq!((name.prefix(), name.local()), (None, "gif"));
    }

    #[test]
    fn format_escapes() {
        assert_eq!(text_of(&AnyUri::try_from("http://a?b&c").expect("valid")), "http://a?b&amp;c");
    }

    proptest! {
        #[test]
        fn scan_and_parse_agree(text in "[ \t\na-c:.1]{0,12}|[ -;=-~&&[^&]]{0,20}|\\PC{0,6}") {
            if !text.contains(['&', '<']) {
                scan_agrees::<NormalizedString>(&text);
                scan_agrees::<Token>(&text);
                scan_agrees::<Language>(&text);
                scan_agrees::<Name>(&text);
                scan_agrees::<NcName>(&text);
                scan_agrees::<NmToken>(&text);
                scan_agrees::<QName>(&text);
                scan_agrees::<AnyUri>(&text);
            }
        }
    }
}

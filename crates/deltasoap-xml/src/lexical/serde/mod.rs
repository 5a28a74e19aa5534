//! serde for values of the built-in types.
//!
//! A value is the string that it is in XML, so that nothing is lost: dates, decimals, bytes. A list
//! is a sequence. For numbers of the language, [`number`] has what their own implementations lack.

use super::{
    AnyUri, Base64, ByteOrder, Date, DateTime, Decimal, Duration, Entities, Entity, GDay, GMonth, GMonthDay, GYear,
    GYearMonth, Hex, Id, IdRef, IdRefs, Language, Lexical, LexicalError, List, Name, NcName, NegativeInteger, NmToken,
    NmTokens, NonNegativeInteger, NonPositiveInteger, NormalizedString, Notation, PackedNumber, PackedText,
    PositiveInteger, QName, Time, Token,
};
use crate::{Buffer, Escape};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

pub mod number;

/// Implements both traits for types that are a string: `$value` and `$write` give its text.
macro_rules! string {
    ($value:ident => $write:expr; $($name:ident $(<$($parameter:ident: $bound:ident),+>)?),* $(,)?) => {$(
        impl $(<$($parameter: $bound),+>)? Serialize for $name $(<$($parameter),+>)? {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let $value = self;
                serializer.serialize_str(&$write)
            }
        }

        impl<'de, $($($parameter: $bound),+)?> Deserialize<'de> for $name $(<$($parameter),+>)? {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Text(PhantomData))
            }
        }
    )*};
}

/// Implements both traits for lists that have at least one item.
macro_rules! list {
    ($($name:ident),* $(,)?) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let items = Vec::deserialize(deserializer)?;
                if items.is_empty() { Err(D::Error::custom(LexicalError::new::<Self>("no items"))) } else { Ok($name(items)) }
            }
        }
    )*};
}

string! { value => text_of(value);
    Base64, Date, DateTime, Decimal, Duration, GDay, GMonth, GMonthDay, GYear, GYearMonth, Hex, NegativeInteger,
    NonNegativeInteger, NonPositiveInteger, PackedText<T: PackedNumber, O: ByteOrder>, PositiveInteger, Time,
}
string! { value => value.as_str();
    AnyUri, Entity, Id, IdRef, Language, Name, NcName, NmToken, NormalizedString, Notation, QName, Token,
}
list! { Entities, IdRefs, NmTokens }

impl<T: Serialize> Serialize for List<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(List)
    }
}

/// Returns the text of a value that [`format`](Lexical::format) never escapes.
fn text_of<T: Lexical>(value: &T) -> String {
    let mut text = Buffer::new();
    value.format(&mut text, Escape::Text);
    String::from_utf8_lossy(text.as_slice()).into_owned()
}

/// Parses the text of a value.
struct Text<T>(PhantomData<T>);

impl<T: Lexical> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the text of a value of type xsd:{}", T::XSD_NAME)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::parse(text).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeOwned;
    use serde_json::{from_str, to_string};

    fn assert_json<T: Lexical + Serialize + DeserializeOwned + PartialEq + fmt::Debug>(text: &str) {
        let value = T::parse(text).expect("valid");
        let json = to_string(&value).expect("serializes");
        assert_eq!(json, format!("\"{text}\""));
        assert_eq!(from_str::<T>(&json).expect("deserializes"), value);
    }

    #[test]
    fn values_are_their_texts() {
        assert_json::<Decimal>("250.00");
        assert_json::<NonNegativeInteger>("12345678901234567890123");
        assert_json::<DateTime>("2026-11-28T10:00:00.5Z");
        assert_json::<Duration>("P1Y2M");
        assert_json::<Base64>("AAEC");
        assert_json::<Hex>("0AFF");
        assert_json::<Token>("a b");
        assert_json::<AnyUri>("urn:a&b");
    }

    #[test]
    fn lists_are_sequences() {
        let list = List(vec![Token::parse("a").expect("valid"), Token::parse("b").expect("valid")]);
        assert_eq!(to_string(&list).expect("serializes"), r#"["a","b"]"#);
        assert_eq!(from_str::<List<Token>>(r#"["a","b"]"#).expect("deserializes"), list);
        assert_eq!(from_str::<NmTokens>(r#"["a"]"#).expect("deserializes").0.len(), 1);
    }

    #[test]
    fn invalid_texts_are_errors_that_name_the_type() {
        let error = |json: &str| from_str::<Decimal>(json).expect_err("invalid").to_string();
        assert!(error(r#""1,5""#).starts_with("not a valid decimal"), "{}", error(r#""1,5""#));
        assert!(error("7").contains("expected the text of a value of type xsd:decimal"), "{}", error("7"));
        assert!(from_str::<NmTokens>("[]").expect_err("empty").to_string().contains("no items"));
        assert!(from_str::<PositiveInteger>(r#""0""#).is_err());
    }
}

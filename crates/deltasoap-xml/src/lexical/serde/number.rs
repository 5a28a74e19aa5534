//! Numbers that formats such as JSON cannot hold: for `#[serde(with = "...")]`.
//!
//! JSON has no infinity and no not-a-number, which serde_json writes as `null`, and num-bigint
//! writes the digits of its numbers in base 2³². Here floating point numbers are numbers, or the
//! texts `INF`, `-INF` and `NaN`; whole numbers are numbers below 2⁵³, else texts, since other
//! readers of JSON round them. Both forms are read for all numbers, so that a member of an untagged
//! enum reads what it wrote.
//!
//! serde_json rounds some floating point numbers when it reads them, unless its feature
//! `float_roundtrip` or `arbitrary_precision` is enabled.
//!
//! ```
//! use deltasoap_xml::lexical::BigInt;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct Reading {
//!     #[serde(with = "deltasoap_xml::lexical::number")]
//!     levels: Vec<f64>,
//!     #[serde(with = "deltasoap_xml::lexical::number")]
//!     count: Option<BigInt>,
//! }
//!
//! let reading = Reading { levels: vec![0.5, f64::INFINITY], count: Some("9007199254740993".parse()?) };
//! let json = serde_json::to_string(&reading)?;
//! assert_eq!(json, r#"{"levels":[0.5,"INF"],"count":"9007199254740993"}"#);
//! assert_eq!(serde_json::from_str::<Reading>(&json)?, reading);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::super::{BigInt, Lexical, List};
use super::text_of;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// Writes a number, or a container of numbers.
///
/// # Errors
/// Returns an error if the format cannot hold the value.
pub fn serialize<T: Number, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.serialize_number(serializer)
}

/// Reads a number, or a container of numbers.
///
/// # Errors
/// Returns an error if the value is neither a number of the type nor its text.
pub fn deserialize<'de, T: Number, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize_number(deserializer)
}

/// A number, or a container of numbers.
pub trait Number: Sized {
    /// See [`serialize`].
    ///
    /// # Errors
    /// Same as [`serialize`].
    fn serialize_number<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// See [`deserialize`].
    ///
    /// # Errors
    /// Same as [`deserialize`].
    fn deserialize_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

/// A number as a type with serde's own traits, for containers.
#[derive(Debug)]
pub struct AsNumber<T>(pub T);

impl<T: Number> Serialize for AsNumber<&T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize_number(serializer)
    }
}

impl<'de, T: Number> Deserialize<'de> for AsNumber<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize_number(deserializer).map(AsNumber)
    }
}

/// The largest whole number that every reader of JSON distinguishes from its neighbours.
const EXACT: i64 = (1 << 53) - 1;

macro_rules! floats {
    ($($float:ident $serialize:ident $deserialize:ident),*) => {$(
        impl Number for $float {
            fn serialize_number<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if self.is_finite() || !serializer.is_human_readable() {
                    return serializer.$serialize(*self);
                }
                serializer.serialize_str(&text_of(self))
            }

            fn deserialize_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if !deserializer.is_human_readable() {
                    return $float::deserialize(deserializer);
                }
                deserializer.deserialize_any(NumberOrText(PhantomData))
            }
        }

        impl FromNumber for $float {
            #[allow(clippy::cast_possible_truncation, reason = "the nearest float is meant")]
            #[allow(clippy::cast_lossless, reason = "one macro for both types")]
            fn from_float(value: f64) -> Option<Self> {
                Some(value as $float)
            }

            fn is_overflow(&self) -> bool {
                self.is_infinite()
            }
        }
    )*};
}

floats! { f32 serialize_f32 deserialize_f32, f64 serialize_f64 deserialize_f64 }

macro_rules! integers {
    ($($integer:ident),*) => {$(
        impl Number for $integer {
            fn serialize_number<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let is_exact = i64::try_from(*self).is_ok_and(|value| (-EXACT..=EXACT).contains(&value));
                if is_exact || !serializer.is_human_readable() {
                    return self.serialize(serializer);
                }
                serializer.serialize_str(&text_of(self))
            }

            fn deserialize_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if !deserializer.is_human_readable() {
                    return $integer::deserialize(deserializer);
                }
                deserializer.deserialize_any(NumberOrText(PhantomData))
            }
        }

        impl FromNumber for $integer {}
    )*};
}

integers! { i8, i16, i32, i64, u8, u16, u32, u64 }

impl Number for BigInt {
    fn serialize_number<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self) {
            Ok(value) if serializer.is_human_readable() && (-EXACT..=EXACT).contains(&value) => {
                serializer.serialize_i64(value)
            }
            _ => serializer.serialize_str(&text_of(self)),
        }
    }

    fn deserialize_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return deserializer.deserialize_str(NumberOrText(PhantomData));
        }
        deserializer.deserialize_any(NumberOrText(PhantomData))
    }
}

impl FromNumber for BigInt {}

macro_rules! sequences {
    ($($name:ident),*) => {$(
        impl<T: Number> Number for $name<T> {
            fn serialize_number<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(sequences!(@items self $name).iter().map(AsNumber))
            }

            fn deserialize_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let items = Vec::<AsNumber<T>>::deserialize(deserializer)?;
                Ok(items.into_iter().map(|item| item.0).collect::<Vec<T>>().into())
            }
        }
    )*};
    (@items $self:ident Vec) => { $self };
    (@items $self:ident $name:ident) => { $self.0 };
}

sequences! { List, Vec }

impl<T: Number> Number for Option<T> {
    fn serialize_number<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_ref().map(AsNumber).serialize(serializer)
    }

    fn deserialize_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<AsNumber<T>>::deserialize(deserializer)?.map(|value| value.0))
    }
}

impl<T: Number> Number for Box<T> {
    fn serialize_number<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize_number(serializer)
    }

    fn deserialize_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize_number(deserializer).map(Box::new)
    }
}

/// A number that another kind of number may give.
trait FromNumber: Lexical {
    fn from_float(_: f64) -> Option<Self> {
        None
    }

    /// Returns true if a number was too large.
    fn is_overflow(&self) -> bool {
        false
    }
}

/// Reads a number, or its text.
struct NumberOrText<T>(PhantomData<T>);

/// serde_json's key of a number, if its feature `arbitrary_precision` is enabled:
/// `deltasoap-dynamic` enables it. Such a number is a map of one entry, except where a certain type
/// is asked for.
const TOKEN: &str = "$serde_json::private::Number";

impl<'de, T: FromNumber> Visitor<'de> for NumberOrText<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number of type xsd:{}, or its text", T::XSD_NAME)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        T::from_float(value).ok_or_else(|| E::invalid_type(Unexpected::Float(value), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        match map.next_key::<String>()? {
            Some(key) if key == TOKEN => {
                let value: T = self.visit_str(&map.next_value::<String>()?)?;
                if value.is_overflow() { Err(A::Error::custom("number out of range")) } else { Ok(value) }
            }
            _ => Err(A::Error::invalid_type(Unexpected::Map, &self)),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::parse(text).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_str, to_string};

    fn json<T: Number>(value: &T) -> String {
        to_string(&AsNumber(value)).expect("serializes")
    }

    fn read<T: Number>(json: &str) -> Result<T, serde_json::Error> {
        from_str::<AsNumber<T>>(json).map(|value| value.0)
    }

    #[test]
    fn floats_that_json_lacks_are_texts() {
        let values = vec![Some(1.5), None, Some(f64::INFINITY), Some(f64::NEG_INFINITY)];
        assert_eq!(json(&values), r#"[1.5,null,"INF","-INF"]"#);
        assert_eq!(read::<Vec<Option<f64>>>(&json(&values)).expect("reads"), values);
        assert!(read::<f32>(&json(&f32::NAN)).expect("reads").is_nan());
        assert_eq!(read::<f64>("7").expect("reads"), 7.0);
        assert_eq!(read::<f32>("0.1").expect("reads"), 0.1);
        assert!(read::<f64>("1e999").expect_err("too large").to_string().contains("out of range"));
        for wrong in ["true", "{}", r#"{"a": 1}"#, "[1]"] {
            let error = read::<f64>(wrong).expect_err("no number").to_string();
            assert!(error.contains("a number of type xsd:double"), "{error}");
        }
    }

    /// A union of two types, as generated code has it.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Level {
        #[serde(with = "crate::lexical::number")]
        Whole(i32),
        #[serde(with = "crate::lexical::number")]
        Real(f64),
        Text(String),
    }

    #[test]
    fn members_of_unions_are_read_as_they_were_written() {
        for (level, json) in
            [(Level::Whole(-7), "-7"), (Level::Real(0.5), "0.5"), (Level::Text("low".to_owned()), r#""low""#)]
        {
            assert_eq!(to_string(&level).expect("serializes"), json);
            assert_eq!(from_str::<Level>(json).expect("deserializes"), level);
        }
    }

    #[test]
    fn whole_numbers_keep_their_digits() {
        let large = "123456789012345678901234567890";
        assert_eq!(json(&BigInt::from(EXACT)), "9007199254740991");
        assert_eq!(json(&BigInt::from(EXACT + 1)), r#""9007199254740992""#);
        assert_eq!(json(&[i64::MIN, 5].to_vec()), r#"["-9223372036854775808",5]"#);
        assert_eq!(read::<Vec<i64>>(r#"["-9223372036854775808",5]"#).expect("reads"), [i64::MIN, 5]);
        assert_eq!(read::<u64>(&json(&u64::MAX)).expect("reads"), u64::MAX);
        assert!(read::<u64>("-1").is_err());
        assert_eq!(read::<BigInt>(&format!("\"{large}\"")).expect("reads").to_string(), large);
        assert_eq!(read::<Box<BigInt>>("-5").expect("reads"), Box::new(BigInt::from(-5)));
        assert!(read::<BigInt>("1.5").is_err());
        assert!(read::<BigInt>(r#""1.5""#).is_err());
    }
}

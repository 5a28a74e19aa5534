//! Parses JSON from text. Objects with duplicate keys are refused: `serde_json` alone would take
//! the last one, and a value would be lost silently.

use super::path::Path;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value as Json};
use std::fmt;

/// The key by which `serde_json` passes on a number with all its digits, as an object of one text.
const NUMBER: &str = "$serde_json::private::Number";

/// Parses JSON.
///
/// ```
/// use deltasoap_dynamic::json;
///
/// assert!(json::parse(r#"{"a": 1, "b": {"a": 2}}"#).is_ok());
/// let error = json::parse(r#"{"items": [{"a": 1, "a": 2}]}"#).unwrap_err();
/// assert_eq!(error.to_string(), r#".items[0]: the key "a" appears twice at line 1 column 23"#);
/// ```
///
/// # Errors
/// If the text is not JSON, or an object has a duplicate key. The error gives the key and its
/// position.
pub fn parse(text: &str) -> Result<Json, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let json = Distinct(&Path::Root).deserialize(&mut reader)?;
    reader.end()?;
    Ok(json)
}

/// Reads a value at this position, with distinct keys in its objects.
#[derive(Clone, Copy)]
struct Distinct<'p>(&'p Path<'p>);

impl<'de> DeserializeSeed<'de> for Distinct<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Json, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Distinct<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        // JSON has no infinities.
        Ok(Number::from_f64(number).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(Json::String(text))
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut read = Vec::new();
        while let Some(item) = items.next_element_seed(Distinct(&self.0.index(read.len())))? {
            read.push(item);
        }
        Ok(Json::Array(read))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Json, A::Error> {
        let mut read = Map::new();
        while let Some(key) = object.next_key::<String>()? {
            if read.is_empty() && key == NUMBER {
                let digits: String = object.next_value()?;
                return digits.parse::<Number>().map(Json::Number).map_err(A::Error::custom);
            }
            if read.contains_key(&key) {
                let place = self.0.to_string();
                let place = if place.is_empty() { "." } else { &place };
                return Err(A::Error::custom(format!("{place}: the key {key:?} appears twice")));
            }
            let value = object.next_value_seed(Distinct(&self.0.key(&key)))?;
            read.insert(key, value);
        }
        Ok(Json::Object(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_there_twice_are_refused() {
        for text in
            ["null", "[]", "1.50", "12345678901234567890123456789", r#"[{"a": 1}, {"a": [true, "x", -1, 1e400]}]"#]
        {
            let expected: Json = serde_json::from_str(text).expect("JSON");
            assert_eq!(parse(text).expect(text), expected);
        }
        for (text, expected) in [
            (r#"{"a": 1, "b": 2, "a": 1}"#, ".: the key \"a\" appears twice at line 1"),
            (
                "{\"b\":\n[0, {\"@x y\": {\"\\u0061\": 1,\n\"a\": {}}}]}",
                ".b[1][\"@x y\"]: the key \"a\" appears twice at line 3",
            ),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        assert!(parse("{").is_err() && parse("{} x").is_err());
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}

//! serde for the types of values, which generated code is made of.
//!
//! A container looks like its content, and what serde's data model lacks has a form of its own:
//!
//! | type | form |
//! |---|---|
//! | `Nillable` | `null` for nil; in an `Option`, use [`present`] |
//! | `SoapArray`, `Tracked`, `TrackedVec`, `TrackedArray` | their content |
//! | `MultiArray` | a map of `sizes` and `items` |
//! | `Shared` | its value, if it has only one handle |
//! | `Binary`, `Packed` | base64, or a map of `part` to the URI of another part |
//! | `Simple`, `AnySimple` | a map of `type`, as in `double`, and `text` |
//! | `QName` | `{namespace}local` |
//! | `Node` | a map of `name`, `attributes`, `bindings`, `children` |
//! | `Empty` | an empty map |

use super::{
    AnySimple, Binary, Empty, MultiArray, Nillable, NonCanonical, Packed, PartUri, Shared, Simple, SoapArray, Tracked,
    TrackedArray, TrackedVec, is_name,
};
use crate::lexical::number::{AsNumber, Number};
use crate::lexical::{Base64, ByteOrder, PackedNumber, PackedText, is_ncname};
use crate::ns;
use crate::schema::{Bindings, Builtin, NamePart, QName};
use compact_str::CompactString;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

/// For `#[serde(deserialize_with = "...")]` on an optional field that may be nil: what is there is
/// never absent, so `null` is `Some(Nillable::Nil)`.
///
/// # Errors
/// Returns the error of the value.
pub fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// [`present`] and [`number`](crate::lexical::number) for the same field.
pub mod present_number {
    pub use crate::lexical::number::serialize;
    use crate::lexical::number::{Number, deserialize as deserialize_number};
    use serde::Deserializer;

    /// Reads a value that is never absent.
    ///
    /// # Errors
    /// Returns the error of the value.
    pub fn deserialize<'de, T: Number, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        deserialize_number(deserializer).map(Some)
    }
}

impl<T: Serialize> Serialize for Nillable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nillable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Nillable::from)
    }
}

impl<T: Number> Number for Nillable<T> {
    fn serialize_number<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().map(AsNumber).serialize(serializer)
    }

    fn deserialize_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize_number(deserializer).map(Nillable::from)
    }
}

/// Implements the traits for types that look like the value that they contain.
macro_rules! transparent {
    ($($name:ident of $inner:ty: $make:expr, $get:expr);* $(;)?) => {$(
        impl<T: Serialize> Serialize for $name<T> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let get: fn(&Self) -> &$inner = $get;
                get(self).serialize(serializer)
            }
        }

        impl<'de, T: Deserialize<'de>> Deserialize<'de> for $name<T> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$inner>::deserialize(deserializer).map($make)
            }
        }

        impl<T: Number> Number for $name<T> {
            fn serialize_number<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let get: fn(&Self) -> &$inner = $get;
                get(self).serialize_number(serializer)
            }

            fn deserialize_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$inner>::deserialize_number(deserializer).map($make)
            }
        }
    )*};
}

transparent! {
    SoapArray of Vec<T>: SoapArray, |array| &array.0;
    Tracked of T: Tracked::new, |tracked| tracked;
    TrackedArray of TrackedVec<T>: TrackedArray, |array| &array.0;
}

impl<T: Serialize> Serialize for TrackedVec<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for TrackedVec<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(TrackedVec::from)
    }
}

impl<T: Number> Number for TrackedVec<T> {
    fn serialize_number<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.as_slice().iter().map(AsNumber))
    }

    fn deserialize_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize_number(deserializer).map(TrackedVec::from)
    }
}

/// The form of an array of several dimensions.
#[derive(Serialize, Deserialize)]
struct Sized<N, I> {
    sizes: N,
    items: I,
}

impl<N: AsRef<[usize]>, I> Sized<N, I> {
    fn array<T, const RANK: usize, E: Error>(self, items: impl FnOnce(I) -> Vec<T>) -> Result<MultiArray<T, RANK>, E> {
        let sizes = <[usize; RANK]>::try_from(self.sizes.as_ref())
            .map_err(|_| E::invalid_length(self.sizes.as_ref().len(), &format!("{RANK} sizes").as_str()))?;
        MultiArray::new(sizes, items(self.items))
            .ok_or_else(|| E::custom("the number of items does not match the sizes"))
    }
}

impl<T: Serialize, const RANK: usize> Serialize for MultiArray<T, RANK> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Sized { sizes: &self.sizes()[..], items: self.items() }.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>, const RANK: usize> Deserialize<'de> for MultiArray<T, RANK> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Sized::<Vec<usize>, Vec<T>>::deserialize(deserializer)?.array(|items| items)
    }
}

impl<T: Number, const RANK: usize> Number for MultiArray<T, RANK> {
    fn serialize_number<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let items: Vec<AsNumber<&T>> = self.items().iter().map(AsNumber).collect();
        Sized { sizes: &self.sizes()[..], items }.serialize(serializer)
    }

    fn deserialize_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Sized::<Vec<usize>, Vec<AsNumber<T>>>::deserialize(deserializer)?;
        read.array(|items| items.into_iter().map(|item| item.0).collect())
    }
}

thread_local! {
    /// The depth of the shared value that is written.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// The largest number of shared values within each other.
const MAX_DEPTH: usize = 128;

/// Writes the value. serde has no references, so a value with several handles, of which a cycle is
/// one case, is an error: a short message can refer to a long value many times, and copies of it
/// could need more memory than there is. The handles of a clone count too.
impl<T: Serialize + 'static> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_shared() {
            return Err(S::Error::custom("serde has no references: this value is shared by several places"));
        }
        let value = self.get().ok_or_else(|| S::Error::custom("this shared value was dropped"))?;
        let _within = Within::enter().map_err(S::Error::custom)?;
        value.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de> + 'static> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Shared::new)
    }
}

/// A shared value while it is written.
struct Within;

impl Within {
    fn enter() -> Result<Self, &'static str> {
        match DEPTH.get() {
            MAX_DEPTH => Err("more than 128 shared values within each other"),
            depth => {
                DEPTH.set(depth + 1);
                Ok(Within)
            }
        }
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// The form of bytes: text, or a reference to them.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Located<T> {
    Inside(T),
    Outside { part: PartUri },
}

impl Serialize for Binary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Binary::Bytes(bytes) => Located::Inside(Base64(bytes.to_vec())).serialize(serializer),
            Binary::Part(part) => Located::<Base64>::Outside { part: part.clone() }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Binary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Located::<Base64>::deserialize(deserializer)? {
            Located::Inside(bytes) => Binary::Bytes(bytes.0.into()),
            Located::Outside { part } => Binary::Part(part),
        })
    }
}

impl<T: PackedNumber, O: ByteOrder> Serialize for Packed<T, O> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Packed::Values(values) => Located::Inside(values).serialize(serializer),
            Packed::Part(part) => Located::<PackedText<T, O>>::Outside { part: part.clone() }.serialize(serializer),
        }
    }
}

impl<'de, T: PackedNumber, O: ByteOrder> Deserialize<'de> for Packed<T, O> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Located::<PackedText<T, O>>::deserialize(deserializer)? {
            Located::Inside(values) => Packed::Values(values),
            Located::Outside { part } => Packed::Part(part),
        })
    }
}

/// Implements both traits for types that are a string.
macro_rules! string {
    ($($name:ident: $write:expr, $read:expr, $expected:literal);* $(;)?) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let write: fn(&Self) -> String = $write;
                serializer.serialize_str(&write(self))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let read: fn(&str) -> Option<Self> = $read;
                let text = String::deserialize(deserializer)?;
                read(&text).ok_or_else(|| D::Error::invalid_value(serde::de::Unexpected::Str(&text), &$expected))
            }
        }
    )*};
}

string! {
    PartUri: |uri| uri.as_str().to_owned(), |text| Some(PartUri::new(text)), "a URI";
    QName: QName::to_string, QName::from_expanded, "{namespace}local";
    NamePart: |part| part.as_str().to_owned(), |text| Some(NamePart::from(text)), "a part of a name";
    Builtin: |builtin| builtin.local().to_owned(), Builtin::from_local, "the name of a built-in type of XSD";
}

/// The form of a simple value whose type is not known beforehand.
#[derive(Serialize, Deserialize)]
struct NamedText {
    #[serde(rename = "type")]
    builtin: Builtin,
    text: String,
}

impl Serialize for Simple {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = match self {
            Simple::NonCanonical(given) => given.text.clone(),
            other => other.to_string(),
        };
        NamedText { builtin: self.builtin(), text }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Simple {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let NamedText { builtin, text } = NamedText::deserialize(deserializer)?;
        let parse = if text.starts_with('{') && is_name(builtin) { Simple::named } else { Simple::parse };
        let value = parse(builtin, &text).map_err(D::Error::custom)?;
        let is_canonical = value.to_string() == text;
        Ok(if is_canonical { value } else { Simple::NonCanonical(Box::new(NonCanonical { value, text })) })
    }
}

impl Serialize for AnySimple {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AnySimple {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Simple::deserialize(deserializer).map(AnySimple)
    }
}

impl Serialize for Bindings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

/// Refuses prefixes that XML does not allow: written as they are, they would change the markup.
impl<'de> Deserialize<'de> for Bindings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bindings = Vec::<(String, String)>::deserialize(deserializer)?;
        let mut seen = HashSet::new();
        for (prefix, namespace) in &bindings {
            let is_name = prefix.is_empty() || (is_ncname(prefix) && !matches!(prefix.as_str(), "xml" | "xmlns"));
            let is_free = !matches!(namespace.as_str(), ns::XML | ns::XMLNS);
            let is_declared = prefix.is_empty() || !namespace.is_empty();
            if !(is_name && is_free && is_declared && seen.insert(prefix.as_str())) {
                return Err(D::Error::custom(format_args!("{prefix:?} cannot be a prefix of {namespace:?} here")));
            }
        }
        Ok(Bindings::from(bindings))
    }
}

/// Reads the attributes of a tree. Refuses those that XML does not allow: declarations of
/// namespaces, and a name that occurs twice.
pub(crate) fn attributes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(QName, CompactString)>, D::Error> {
    let attributes = Vec::<(QName, CompactString)>::deserialize(deserializer)?;
    let mut seen = HashSet::new();
    for (name, _) in &attributes {
        let is_declaration = name.namespace == *ns::XMLNS || (name.namespace.is_empty() && name.local == *"xmlns");
        if is_declaration || !seen.insert(name) {
            return Err(D::Error::custom(format_args!("the attribute {name} is not allowed here")));
        }
    }
    Ok(attributes)
}

impl Serialize for Empty {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_map(Some(0))?.end()
    }
}

impl<'de> Deserialize<'de> for Empty {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EmptyMap)
    }
}

/// Reads a map without entries.
struct EmptyMap;

impl<'de> Visitor<'de> for EmptyMap {
    type Value = Empty;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an empty map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Empty, A::Error> {
        match map.next_entry::<IgnoredAny, IgnoredAny>()? {
            None => Ok(Empty),
            Some(_) => Err(A::Error::custom("an element without content has no entries")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::{BigInt, Token};
    use crate::{Child, Lexical, Node};
    use serde::de::DeserializeOwned;
    use serde_json::{from_value, json, to_value};
    use std::fmt::Debug;

    #[track_caller]
    fn assert_json<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, expected: serde_json::Value) {
        assert_eq!(to_value(value).expect("serializes"), expected);
        assert_eq!(from_value::<T>(expected).expect("deserializes"), *value);
    }

    /// A field that is absent, nil, or there.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Reading {
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
        unit: Option<Nillable<String>>,
        #[serde(default, skip_serializing_if = "Option::is_none", with = "present_number")]
        level: Option<Nillable<f64>>,
    }

    #[test]
    fn absent_and_nil_stay_distinct() {
        let nil = Reading { unit: Some(Nillable::Nil), level: Some(Nillable::Nil) };
        assert_json(&nil, json!({ "unit": null, "level": null }));
        assert_json(&Reading { unit: None, level: None }, json!({}));
        let value = Reading { unit: Some(String::new().into()), level: Some(f64::INFINITY.into()) };
        assert_json(&value, json!({ "unit": "", "level": "INF" }));
    }

    #[test]
    fn containers_look_like_their_content() {
        assert_json(&SoapArray(vec![Nillable::Value(1), Nillable::Nil]), json!([1, null]));
        let tracked = to_value(Tracked::new(TrackedVec::from(vec![1, 2]))).expect("serializes");
        assert_eq!(tracked, json!([1, 2]));
        assert_eq!(from_value::<TrackedArray<i32>>(json!([7])).expect("deserializes").0[0], 7);
        let numbers = AsNumber(&SoapArray(vec![BigInt::from(5)]));
        assert_eq!(to_value(numbers).expect("serializes"), json!([5]));
    }

    #[test]
    fn arrays_of_several_dimensions_check_their_sizes() {
        let matrix = MultiArray::new([2, 3], vec![1, 2, 3, 4, 5, 6]).expect("six items");
        assert_json(&matrix, json!({ "sizes": [2, 3], "items": [1, 2, 3, 4, 5, 6] }));
        for (wrong, reason) in [
            (json!({ "sizes": [2, 2], "items": [1] }), "the number of items does not match the sizes"),
            (json!({ "sizes": [usize::MAX, 2], "items": [] }), "the number of items does not match the sizes"),
            (json!({ "sizes": [1], "items": [1] }), "invalid length 1, expected 2 sizes"),
        ] {
            let error = from_value::<MultiArray<i32, 2>>(wrong).expect_err("wrong sizes").to_string();
            assert_eq!(error, reason);
        }
    }

    #[test]
    fn bytes_are_base64_or_a_reference() {
        assert_json(&Binary::from(vec![0, 1, 2]), json!("AAEC"));
        assert_json(&Binary::part("a@b"), json!({ "part": "cid:a@b" }));
        let packed: Packed<i16> = vec![1].into();
        assert_json(&packed, json!("AQA="));
    }

    #[test]
    fn simple_values_name_their_types() {
        assert_json(&Simple::Int(7), json!({ "type": "int", "text": "7" }));
        let token = Simple::Token(Token::parse("a < b").expect("valid"));
        assert_json(&AnySimple(token), json!({ "type": "token", "text": "a < b" }));
        let name = Simple::named(Builtin::QName, "{urn:p}x").expect("a name");
        assert_json(&AnySimple(name), json!({ "type": "QName", "text": "{urn:p}x" }));
        let given = NonCanonical { value: Simple::Int(7), text: "007".to_owned() };
        assert_json(&Simple::NonCanonical(Box::new(given)), json!({ "type": "int", "text": "007" }));
        let error = from_value::<Simple>(json!({ "type": "int", "text": "x" })).expect_err("no int");
        assert!(error.to_string().starts_with("not a valid int"), "{error}");
    }

    #[test]
    fn trees() {
        let mut note = Node::with_text(QName::new("urn:x", "note"), "see ");
        note.attributes.push((QName::new("", "id"), "7".into()));
        note.children.push(Child::Element(Node::new(QName::new("", "b"))));
        let expected = json!({
            "name": "{urn:x}note",
            "attributes": [["id", "7"]],
            "children": ["see ", { "name": "b" }],
        });
        assert_json(&note, expected);
        assert_json(&Empty, json!({}));
        assert!(from_value::<Empty>(json!({ "a": 1 })).is_err());
    }

    /// Nothing that is read can change the markup around it.
    #[test]
    fn trees_that_xml_does_not_allow_are_refused() {
        let xmlns = "{http://www.w3.org/2000/xmlns/}x";
        for tree in [
            json!({ "name": "a", "bindings": [["x=\"1\"/><evil/><b q", "u"]] }),
            json!({ "name": "a", "bindings": [["p", "u"], ["p", "v"]] }),
            json!({ "name": "a", "bindings": [["xmlns", "u"]] }),
            json!({ "name": "a", "bindings": [["p", ""]] }),
            json!({ "name": "a", "attributes": [["i", "1"], ["i", "2"]] }),
            json!({ "name": "a", "attributes": [["xmlns", "u"]] }),
            json!({ "name": "a", "attributes": [[xmlns, "u"]] }),
            json!({ "name": "a b" }),
            json!({ "name": "a", "attributes": [["b=\"1\"><c", "u"]] }),
        ] {
            assert!(from_value::<Node>(tree.clone()).is_err(), "{tree}");
        }
        assert!(from_value::<Node>(json!({ "name": "a", "bindings": [["p", "u"], ["", "v"]] })).is_ok());
    }

    /// An item of a list.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Link {
        next: Option<Shared<Link>>,
        other: Option<Shared<Link>>,
    }

    fn leaf() -> Link {
        Link { next: None, other: None }
    }

    #[test]
    fn shared_values_are_trees() {
        let link = Link { next: Some(leaf().into()), other: Some(leaf().into()) };
        let expected = json!({ "next": { "next": null, "other": null }, "other": { "next": null, "other": null } });
        assert_json(&link, expected);
    }

    #[test]
    fn shared_values_that_are_no_trees_are_errors() {
        let twice = Shared::new(leaf());
        let both = Shared::new(Link { next: Some(twice.clone()), other: Some(twice) });
        let cycle = Shared::cyclic(|link| Link { next: Some(link), other: None });
        for shared in [&both, &cycle] {
            let error = to_value(shared).expect_err("no tree").to_string();
            assert_eq!(error, "serde has no references: this value is shared by several places");
        }
        let clone = Shared::new(leaf());
        assert!(to_value([clone.clone(), clone]).is_err(), "copies of a long value could be many");
        let long = (0..=MAX_DEPTH).fold(leaf(), |link, _| Link { next: Some(link.into()), other: None });
        let error = to_value(long).expect_err("deep").to_string();
        assert_eq!(error, "more than 128 shared values within each other");
        // An error leaves nothing behind.
        assert!(to_value(Shared::new(leaf())).is_ok());
    }
}

//! The content of an operation's element.

use std::fmt;

use protocol::Checksum;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The declaration of the operation's prefix, which is written as an attribute, and not read.
#[derive(Default)]
pub struct Namespace;

impl Serialize for Namespace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("urn:bench")
    }
}

/// Defines an operation's element: the declaration, and one field.
macro_rules! content {
    ($name:ident, $(#[$default:meta])? $field:ident: $type:ty, $self:ident $sum:ident $add:expr) => {
        #[derive(Deserialize, Serialize)]
        pub struct $name {
            #[serde(rename = "@xmlns:ns", skip_deserializing)]
            ns: Namespace,
            $(#[$default])?
            $field: $type,
        }

        impl $name {
            pub fn add_to(&$self, $sum: &mut Checksum) {
                $add
            }
        }
    };
}

content!(Ints, #[serde(default)] item: Vec<i32>, self sum self.item.iter().for_each(|&item| sum.int(item)));
content!(Doubles, #[serde(default)] item: Vec<Double>, self sum self.item.iter().for_each(|item| sum.double(item.0)));
content!(Strings, #[serde(default)] item: Vec<String>, self sum self.item.iter().for_each(|item| sum.string(item)));
content!(Mios, #[serde(default)] item: Vec<Mio>, self sum self.item.iter().for_each(|item| item.add_to(sum)));
content!(Events, #[serde(default)] item: Vec<Event>, self sum self.item.iter().for_each(|item| item.add_to(sum)));
content!(Bytes, data: Base64, self sum sum.bytes(&self.data.0));
content!(Doubles64, data: DoublesAsBase64, self sum self.data.0.iter().for_each(|&item| sum.double(item)));

/// A mesh interface object.
#[derive(Deserialize, Serialize)]
pub struct Mio {
    x: i32,
    y: i32,
    v: Double,
}

impl Mio {
    fn add_to(&self, sum: &mut Checksum) {
        sum.int(self.x);
        sum.int(self.y);
        sum.double(self.v.0);
    }
}

/// A simple event.
#[derive(Deserialize, Serialize)]
pub struct Event {
    id: i32,
    value: Double,
    message: String,
}

impl Event {
    fn add_to(&self, sum: &mut Checksum) {
        sum.int(self.id);
        sum.double(self.value.0);
        sum.string(&self.message);
    }
}

/// A double that is written with the fewest digits that identify it. serde itself uses `Display`,
/// which writes up to three hundred zeros, and names of infinities that are invalid in XSD.
#[derive(Deserialize)]
pub struct Double(f64);

impl Serialize for Double {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            f64::INFINITY => serializer.serialize_str("INF"),
            f64::NEG_INFINITY => serializer.serialize_str("-INF"),
            finite => serializer.serialize_str(zmij::Buffer::new().format(finite)),
        }
    }
}

/// Octets, as base64 in the message.
pub struct Base64(Vec<u8>);

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Octets).map(Base64)
    }
}

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64_simd::STANDARD.encode_to_string(&self.0))
    }
}

/// Doubles, as base64 of their bits in the message.
pub struct DoublesAsBase64(Vec<f64>);

impl<'de> Deserialize<'de> for DoublesAsBase64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let octets = deserializer.deserialize_str(Octets)?;
        let (doubles, rest) = octets.as_chunks();
        if !rest.is_empty() {
            return Err(D::Error::custom("these are no doubles"));
        }
        Ok(DoublesAsBase64(doubles.iter().map(|&octets| f64::from_le_bytes(octets)).collect()))
    }
}

impl Serialize for DoublesAsBase64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let octets: Vec<u8> = self.0.iter().flat_map(|double| double.to_le_bytes()).collect();
        serializer.serialize_str(&base64_simd::STANDARD.encode_to_string(&octets))
    }
}

/// Reads base64 from the borrowed text.
struct Octets;

impl Visitor<'_> for Octets {
    type Value = Vec<u8>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("base64")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
        base64_simd::STANDARD.decode_to_vec(text).map_err(E::custom)
    }
}

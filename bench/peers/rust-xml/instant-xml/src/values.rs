//! The content of an operation's element.

use std::fmt::Write;

use instant_xml::{Deserializer, Error, FromXml, Id, Kind, Serializer, ToXml, display_to_xml};
use protocol::Checksum;

/// A mesh interface object.
#[derive(FromXml, ToXml)]
#[xml(rename = "item")]
pub struct Mio {
    x: i32,
    y: i32,
    v: Double,
}

impl Mio {
    pub fn add_to(&self, sum: &mut Checksum) {
        sum.int(self.x);
        sum.int(self.y);
        sum.double(self.v.0);
    }
}

/// A simple event.
#[derive(FromXml, ToXml)]
#[xml(rename = "item")]
pub struct Event {
    id: i32,
    value: Double,
    message: String,
}

impl Event {
    pub fn add_to(&self, sum: &mut Checksum) {
        sum.int(self.id);
        sum.double(self.value.0);
        sum.string(&self.message);
    }
}

/// Defines a scalar that is read from the borrowed text.
macro_rules! scalar {
    ($name:ty, $read:expr) => {
        impl<'xml> FromXml<'xml> for $name {
            fn matches(id: Id<'_>, field: Option<Id<'_>>) -> bool {
                field == Some(id)
            }

            fn deserialize(
                into: &mut Self::Accumulator,
                field: &'static str,
                deserializer: &mut Deserializer<'_, 'xml>,
            ) -> Result<(), Error> {
                if into.is_some() {
                    return Err(Error::DuplicateValue(field));
                }
                let read: fn(&str) -> Option<Self> = $read;
                let text = deserializer.take_str()?.unwrap_or_default();
                *into = Some(read(&text).ok_or_else(|| Error::UnexpectedValue(text.into_owned()))?);
                Ok(())
            }

            type Accumulator = Option<Self>;
            const KIND: Kind = Kind::Scalar;
        }
    };
}

/// A double that is written with the fewest digits that identify it. instant-xml itself uses
/// `Display`, which writes up to three hundred zeros, and names of infinities that are invalid in
/// XSD.
pub struct Double(pub f64);

scalar!(Double, |text| text.trim().parse().ok().map(Double));

impl ToXml for Double {
    fn serialize<W: Write + ?Sized>(&self, field: Option<Id<'_>>, serializer: &mut Serializer<'_, W>) -> Result<(), Error> {
        match self.0 {
            f64::INFINITY => display_to_xml(&"INF", field, serializer),
            f64::NEG_INFINITY => display_to_xml(&"-INF", field, serializer),
            finite => display_to_xml(&zmij::Buffer::new().format(finite), field, serializer),
        }
    }
}

/// Octets, as base64 in the message.
pub struct Base64(pub Vec<u8>);

scalar!(Base64, |text| base64_simd::STANDARD.decode_to_vec(text).ok().map(Base64));

impl ToXml for Base64 {
    fn serialize<W: Write + ?Sized>(&self, field: Option<Id<'_>>, serializer: &mut Serializer<'_, W>) -> Result<(), Error> {
        display_to_xml(&base64_simd::STANDARD.encode_to_string(&self.0), field, serializer)
    }
}

/// Doubles, as base64 of their bits in the message.
pub struct DoublesAsBase64(pub Vec<f64>);

impl DoublesAsBase64 {
    fn read(text: &str) -> Option<Self> {
        let octets = base64_simd::STANDARD.decode_to_vec(text).ok()?;
        let (doubles, rest) = octets.as_chunks();
        rest.is_empty().then(|| DoublesAsBase64(doubles.iter().map(|&octets| f64::from_le_bytes(octets)).collect()))
    }
}

scalar!(DoublesAsBase64, DoublesAsBase64::read);

impl ToXml for DoublesAsBase64 {
    fn serialize<W: Write + ?Sized>(&self, field: Option<Id<'_>>, serializer: &mut Serializer<'_, W>) -> Result<(), Error> {
        let octets: Vec<u8> = self.0.iter().flat_map(|double| double.to_le_bytes()).collect();
        display_to_xml(&base64_simd::STANDARD.encode_to_string(&octets), field, serializer)
    }
}

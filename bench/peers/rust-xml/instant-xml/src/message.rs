//! The messages: envelope, body and operation with their namespaces.
//!
//! Everything is derived except the writing of an operation's element: it declares that its content
//! has no namespace, so that the items need not repeat it, as the derived code would.

use std::fmt::Write;

use instant_xml::ser::Context;
use instant_xml::{Error, FromXml, Id, Serializer, ToXml};
use protocol::{Checksum, Message, Result};

use crate::values::{Base64, Double, DoublesAsBase64, Event, Mio};

const SOAP: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const BENCH: &str = "urn:bench";

/// Defines an operation: the element's type with its one field, and the envelope around it.
macro_rules! message {
    ($name:ident, $element:tt, $field:ident: $type:ty, $self:ident $sum:ident $add:expr) => {
        #[derive(FromXml)]
        #[xml(rename = $element, ns(BENCH))]
        pub struct $name {
            #[xml(ns(""))]
            $field: $type,
        }

        impl ToXml for $name {
            fn serialize<W: Write + ?Sized>(
                &self,
                _: Option<Id<'_>>,
                serializer: &mut Serializer<'_, W>,
            ) -> std::result::Result<(), Error> {
                let element = serializer.write_start($element, BENCH, Some(Context::<0>::default()))?;
                serializer.end_start()?;
                self.$field.serialize(Some(Id { ns: "", name: stringify!($field) }), serializer)?;
                serializer.write_close(element)
            }
        }

        const _: () = {
            #[derive(FromXml)]
            #[xml(ns(SOAP))]
            struct Envelope {
                body: Body,
            }

            #[derive(FromXml)]
            #[xml(ns(SOAP))]
            struct Body {
                operation: $name,
            }

            impl Message for $name {
                fn decode(message: &[u8]) -> Result<Self> {
                    let text = std::str::from_utf8(message).map_err(|error| error.to_string())?;
                    let envelope: Envelope = instant_xml::from_str(text).map_err(|error| error.to_string())?;
                    Ok(envelope.body.operation)
                }

                fn encode(&self, out: &mut String) -> Result<()> {
                    out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
                    let envelope = Written { body: WrittenBody { operation: self } };
                    instant_xml::to_writer(&envelope, out).map_err(|error| error.to_string())
                }

                fn add_to(&$self, $sum: &mut Checksum) {
                    $add
                }
            }
        };
    };
}

/// An envelope around borrowed values.
#[derive(ToXml)]
#[xml(rename = "Envelope", ns(SOAP, ns = BENCH))]
struct Written<'a, T: ToXml> {
    body: WrittenBody<'a, T>,
}

#[derive(ToXml)]
#[xml(rename = "Body", ns(SOAP))]
struct WrittenBody<'a, T: ToXml> {
    operation: &'a T,
}

message!(SendInts, "sendInts", item: Vec<i32>, self sum self.item.iter().for_each(|&item| sum.int(item)));
message!(SendDoubles, "sendDoubles", item: Vec<Double>, self sum self.item.iter().for_each(|item| sum.double(item.0)));
message!(SendStrings, "sendStrings", item: Vec<String>, self sum self.item.iter().for_each(|item| sum.string(item)));
message!(SendMios, "sendMios", item: Vec<Mio>, self sum self.item.iter().for_each(|item| item.add_to(sum)));
message!(SendEvents, "sendEvents", item: Vec<Event>, self sum self.item.iter().for_each(|item| item.add_to(sum)));
message!(SendBase64, "sendBase64", data: Base64, self sum sum.bytes(&self.data.0));
message!(SendDoubles64, "sendBase64", data: DoublesAsBase64, self sum self.data.0.iter().for_each(|&item| sum.double(item)));

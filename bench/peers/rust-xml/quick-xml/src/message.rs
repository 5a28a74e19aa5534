//! The messages: envelope, body and operation as derived types. serde does not support namespaces:
//! reading uses local names, and prefixes and declarations are written as if they were names and
//! attributes.

use protocol::{Checksum, Message, Result};
use serde::{Deserialize, Serialize};

use crate::values::{Bytes, Doubles, Doubles64, Events, Ints, Mios, Strings};

macro_rules! message {
    ($name:ident, $element:literal, $prefixed:literal, $content:ident) => {
        /// The values of this operation.
        #[derive(Deserialize)]
        pub struct $name($content);

        const _: () = {
            #[derive(Deserialize)]
            struct Envelope {
                #[serde(rename = "Body")]
                body: Body,
            }

            #[derive(Deserialize)]
            struct Body {
                #[serde(rename = $element)]
                operation: $content,
            }

            #[derive(Serialize)]
            #[serde(rename = "soap:Envelope")]
            struct Written<'a> {
                #[serde(rename = "@xmlns:soap")]
                soap: &'static str,
                #[serde(rename = "soap:Body")]
                body: WrittenBody<'a>,
            }

            #[derive(Serialize)]
            struct WrittenBody<'a> {
                #[serde(rename = $prefixed)]
                operation: &'a $content,
            }

            impl Message for $name {
                fn decode(message: &[u8]) -> Result<Self> {
                    let text = std::str::from_utf8(message).map_err(|error| error.to_string())?;
                    let envelope: Envelope = quick_xml::de::from_str(text).map_err(|error| error.to_string())?;
                    Ok($name(envelope.body.operation))
                }

                fn encode(&self, out: &mut String) -> Result<()> {
                    out.push_str(DECLARATION);
                    let written = Written { soap: SOAP, body: WrittenBody { operation: &self.0 } };
                    quick_xml::se::to_writer(out, &written).map(drop).map_err(|error| error.to_string())
                }

                fn add_to(&self, sum: &mut Checksum) {
                    self.0.add_to(sum);
                }
            }
        };
    };
}

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
const SOAP: &str = "http://schemas.xmlsoap.org/soap/envelope/";

message!(SendInts, "sendInts", "ns:sendInts", Ints);
message!(SendDoubles, "sendDoubles", "ns:sendDoubles", Doubles);
message!(SendStrings, "sendStrings", "ns:sendStrings", Strings);
message!(SendMios, "sendMios", "ns:sendMios", Mios);
message!(SendEvents, "sendEvents", "ns:sendEvents", Events);
message!(SendBase64, "sendBase64", "ns:sendBase64", Bytes);
message!(SendDoubles64, "sendBase64", "ns:sendBase64", Doubles64);

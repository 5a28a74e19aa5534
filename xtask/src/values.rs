//! Values of the benchmark's workloads, their messages and their checksums, as
//! `bench/peers/PROTOCOL.md` defines them.

use deltasoap_streams::arrays::{self, Event, Mio};
use deltasoap_streams::checksum;

/// The values of one message.
pub enum Values {
    Ints(Vec<i32>),
    Doubles(Vec<f64>),
    Strings(Vec<String>),
    Mios(Vec<Mio>),
    Events(Vec<Event>),
    Base64(Vec<u8>),
    Doubles64(Vec<f64>),
    Composite(Vec<i32>, Vec<f64>, Vec<String>),
    /// An operation in SOAP encoding, and the values that it sends.
    Encoded(&'static str, Vec<String>),
}

impl Values {
    pub fn message(&self) -> String {
        match self {
            Values::Ints(items) => arrays::message_ints(items),
            Values::Doubles(items) => arrays::message_doubles(items),
            Values::Strings(items) => arrays::message_strings(items),
            Values::Mios(items) => arrays::message_mios(items),
            Values::Events(items) => arrays::message_events(items),
            Values::Base64(data) => arrays::message_base64(data),
            Values::Doubles64(items) => arrays::message_doubles64(items),
            Values::Composite(ints, doubles, texts) => arrays::message_composite(ints, doubles, texts),
            Values::Encoded(operation, items) => arrays::message_encoded(operation, items),
        }
    }

    /// Returns the checksum as 16 hexadecimal digits.
    pub fn checksum(&self) -> String {
        match self {
            Values::Ints(items) => checksum::ints(items),
            Values::Doubles(items) | Values::Doubles64(items) => checksum::doubles(items),
            Values::Strings(items) | Values::Encoded(_, items) => checksum::strings(items),
            Values::Mios(items) => checksum::mios(items),
            Values::Events(items) => checksum::events(items),
            Values::Base64(data) => checksum::bytes(data),
            Values::Composite(ints, doubles, texts) => {
                let mut sum = checksum::Checksum::new();
                ints.iter().for_each(|&value| sum.int(value));
                doubles.iter().for_each(|&value| sum.double(value));
                texts.iter().for_each(|value| sum.string(value));
                sum.hex()
            }
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Values::Ints(items) => items.len(),
            Values::Doubles(items) | Values::Doubles64(items) => items.len(),
            Values::Strings(items) | Values::Encoded(_, items) => items.len(),
            Values::Mios(items) => items.len(),
            Values::Events(items) => items.len(),
            Values::Base64(data) => data.len(),
            Values::Composite(..) => 1,
        }
    }
}

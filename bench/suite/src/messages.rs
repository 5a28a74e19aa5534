//! The messages as Rust types, and the values they carry.
//!
//! Values come from [`deltasoap_streams::arrays`] and depend only on their number, so that every
//! toolkit gets the same ones. The message that a decoder reads is written by that module's naive
//! writers, not by the encoder under test.

use deltasoap::Soap;
use deltasoap::lexical::Base64;
use deltasoap::types::Packed;
use deltasoap_streams::arrays::{self, NAMESPACE};
use deltasoap_streams::checksum;

use crate::encoded::{SendEncodedStrings, SendRepeatedStrings};
use crate::payload::{Payload, Same, Sample, Visitor};
use crate::workload::Values;

/// `sendInts`
#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sendInts")]
pub struct SendInts {
    /// The items.
    pub item: Vec<i32>,
}

/// `sendDoubles`
#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sendDoubles")]
pub struct SendDoubles {
    /// The items.
    pub item: Vec<f64>,
}

/// `sendStrings`
#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sendStrings")]
pub struct SendStrings {
    /// The items.
    pub item: Vec<String>,
}

/// `sendMios`
#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sendMios")]
pub struct SendMios {
    /// The items.
    pub item: Vec<Mio>,
}

/// A mesh interface object: coordinates and a field value.
#[derive(Debug, Clone, Soap)]
#[soap(namespace = "urn:bench")]
pub struct Mio {
    x: i32,
    y: i32,
    v: f64,
}

/// `sendEvents`
#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sendEvents")]
pub struct SendEvents {
    /// The items.
    pub item: Vec<Event>,
}

/// A simple event.
#[derive(Debug, Clone, Soap)]
#[soap(namespace = "urn:bench")]
pub struct Event {
    id: i32,
    value: f64,
    message: String,
}

/// `sendBase64`
#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sendBase64")]
pub struct SendBase64 {
    data: Base64,
}

/// `sendBase64` with doubles.
#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sendBase64")]
pub struct SendDoubles64 {
    data: Packed<f64>,
}

/// Creates a sample of `n` values and passes it to `visitor`.
pub fn with_sample<V: Visitor>(values: Values, n: usize, visitor: V) -> V::Output {
    match values {
        Values::Ints => visitor.visit(Sample::new(SendInts::from(arrays::ints(n)), n)),
        Values::Easy => visitor.visit(Sample::new(SendDoubles::from(arrays::easy_doubles(n)), n)),
        Values::Hard => visitor.visit(Sample::new(SendDoubles::from(arrays::hard_doubles(n)), n)),
        Values::Strings => visitor.visit(Sample::new(SendStrings::from(arrays::strings(n)), n)),
        Values::Structs => visitor.visit(Sample::new(SendMios::from(arrays::mios(n)), n)),
        Values::Events => visitor.visit(Sample::new(SendEvents::from(arrays::events(n)), n)),
        Values::Doubles64 => visitor.visit(Sample::new(SendDoubles64::from(arrays::hard_doubles(n)), n)),
        Values::Base64 => visitor.visit(Sample::new(SendBase64 { data: Base64(arrays::bytes(n)) }, n)),
        Values::Encoded => visitor.visit(Sample::new(SendEncodedStrings::from(arrays::strings(n)), n)),
        Values::Repeated => visitor.visit(Sample::new(SendRepeatedStrings::from(arrays::repeated_strings(n)), n)),
    }
}

impl From<Vec<i32>> for SendInts {
    fn from(item: Vec<i32>) -> Self {
        SendInts { item }
    }
}

impl From<Vec<f64>> for SendDoubles {
    fn from(item: Vec<f64>) -> Self {
        SendDoubles { item }
    }
}

impl From<Vec<String>> for SendStrings {
    fn from(item: Vec<String>) -> Self {
        SendStrings { item }
    }
}

impl From<Vec<arrays::Mio>> for SendMios {
    fn from(mios: Vec<arrays::Mio>) -> Self {
        SendMios { item: mios.into_iter().map(Mio::from).collect() }
    }
}

impl From<arrays::Mio> for Mio {
    fn from((x, y, v): arrays::Mio) -> Self {
        Mio { x, y, v }
    }
}

impl Payload for SendInts {
    fn naive(&self) -> String {
        arrays::message_ints(&self.item)
    }

    fn checksum(&self) -> String {
        checksum::ints(&self.item)
    }
}

impl Same for SendInts {
    fn is_same(&self, other: &Self) -> bool {
        self.item == other.item
    }
}

impl Payload for SendDoubles {
    fn naive(&self) -> String {
        arrays::message_doubles(&self.item)
    }

    fn checksum(&self) -> String {
        checksum::doubles(&self.item)
    }
}

impl Same for SendDoubles {
    fn is_same(&self, other: &Self) -> bool {
        let bits = |doubles: &Self| doubles.item.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        bits(self) == bits(other)
    }
}

impl Payload for SendStrings {
    fn naive(&self) -> String {
        arrays::message_strings(&self.item)
    }

    fn checksum(&self) -> String {
        checksum::strings(&self.item)
    }
}

impl Same for SendStrings {
    fn is_same(&self, other: &Self) -> bool {
        self.item == other.item
    }
}

/// Returns the objects as [`deltasoap_streams`] represents them.
pub fn tuples(mios: &[Mio]) -> Vec<arrays::Mio> {
    mios.iter().map(|mio| (mio.x, mio.y, mio.v)).collect()
}

impl Payload for SendMios {
    fn naive(&self) -> String {
        arrays::message_mios(&tuples(&self.item))
    }

    fn checksum(&self) -> String {
        checksum::mios(&tuples(&self.item))
    }
}

impl Same for SendMios {
    fn is_same(&self, other: &Self) -> bool {
        let bits = |mios: &Self| mios.item.iter().map(|mio| (mio.x, mio.y, mio.v.to_bits())).collect::<Vec<_>>();
        bits(self) == bits(other)
    }
}

impl From<Vec<arrays::Event>> for SendEvents {
    fn from(events: Vec<arrays::Event>) -> Self {
        SendEvents { item: events.into_iter().map(Event::from).collect() }
    }
}

impl From<arrays::Event> for Event {
    fn from((id, value, message): arrays::Event) -> Self {
        Event { id, value, message }
    }
}

/// Returns the events as [`deltasoap_streams`] represents them.
pub fn event_tuples(events: &[Event]) -> Vec<arrays::Event> {
    events.iter().map(|event| (event.id, event.value, event.message.clone())).collect()
}

impl Payload for SendEvents {
    fn naive(&self) -> String {
        arrays::message_events(&event_tuples(&self.item))
    }

    fn checksum(&self) -> String {
        checksum::events(&event_tuples(&self.item))
    }
}

impl Same for SendEvents {
    fn is_same(&self, other: &Self) -> bool {
        let bits = |events: &Self| {
            let of = |event: &Event| (event.id, event.value.to_bits(), event.message.clone());
            events.item.iter().map(of).collect::<Vec<_>>()
        };
        bits(self) == bits(other)
    }
}

impl Payload for SendBase64 {
    fn naive(&self) -> String {
        arrays::message_base64(&self.data.0)
    }

    fn checksum(&self) -> String {
        checksum::bytes(&self.data.0)
    }
}

impl Same for SendBase64 {
    fn is_same(&self, other: &Self) -> bool {
        self.data == other.data
    }
}

impl From<Vec<f64>> for SendDoubles64 {
    fn from(doubles: Vec<f64>) -> Self {
        SendDoubles64 { data: doubles.into() }
    }
}

impl SendDoubles64 {
    /// Returns the doubles; messages of the workloads have no MIME parts.
    fn values(&self) -> &[f64] {
        self.data.values().unwrap_or_default()
    }
}

impl Payload for SendDoubles64 {
    fn naive(&self) -> String {
        arrays::message_doubles64(self.values())
    }

    fn checksum(&self) -> String {
        checksum::doubles(self.values())
    }
}

impl Same for SendDoubles64 {
    fn is_same(&self, other: &Self) -> bool {
        arrays::doubles_to_bytes(self.values()) == arrays::doubles_to_bytes(other.values())
    }
}

// The attributes of the derive macro accept only literals.
const _: () = assert!(matches!(NAMESPACE.as_bytes(), b"urn:bench"));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::Definitions;

    fn doubles(item: Vec<f64>) -> Sample<SendDoubles> {
        let n = item.len();
        Sample::new(SendDoubles { item }, n)
    }

    #[test]
    fn zero_and_minus_zero_are_different_values() {
        let sample = doubles(vec![0.0]);
        assert!(sample.check_values(&SendDoubles { item: vec![0.0] }).is_ok());
        assert!(sample.check_values(&SendDoubles { item: vec![-0.0] }).is_err());
        assert!(sample.check_values(&SendDoubles { item: vec![] }).is_err());
    }

    #[test]
    fn a_message_is_checked_by_what_it_carries() {
        let sample = doubles(vec![0.1, 1e300]);
        let other_spelling = arrays::message_doubles(&[0.1, 1e300]).replace("<item>1e300", "<item>10E+299");
        assert!(sample.check_message(other_spelling.as_bytes()).is_ok());
        assert!(sample.check_message(arrays::message_doubles(&[0.1]).as_bytes()).is_err());
        assert!(sample.check_message(&sample.message[1..]).is_err());
    }

    #[test]
    fn bytes_are_the_naive_writers_but_for_doubles() {
        let sample = doubles(vec![1e300, 1e15]);
        let other_spelling = arrays::message_doubles(&[1e300, 1e15]).replace("e300", "e+300").replace("15<", "15.0<");
        assert!(sample.check_bytes(&sample.message).is_ok());
        assert!(sample.check_bytes(other_spelling.as_bytes()).is_ok());
        assert!(sample.check_bytes(other_spelling.replace("e+300", "e+301").as_bytes()).is_err());
        let ints = Sample::new(SendInts { item: vec![1] }, 1);
        assert!(ints.check_bytes(arrays::message_ints(&[1]).replace("1<", "1.0<").as_bytes()).is_err());
    }

    #[test]
    fn the_definitions_name_the_operations_of_the_types() {
        struct Operation;
        impl Visitor for Operation {
            type Output = String;
            fn visit<T: Payload>(self, sample: Sample<T>) -> String {
                assert_eq!(sample.n, 2);
                String::from(T::ELEMENT.local)
            }
        }
        for workload in Definitions::load().unwrap().workloads {
            assert_eq!(with_sample(workload.values, 2, Operation), workload.operation, "{}", workload.name);
        }
    }
}

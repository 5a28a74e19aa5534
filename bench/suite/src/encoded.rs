//! Messages in SOAP encoding with an array of strings, which may repeat.
//!
//! Each exists twice: with plain strings, where equal ones are written as often as they occur in
//! the array, and with [`Shared`] ones, where each is written once and referenced elsewhere.

use std::collections::HashMap;

use deltasoap::schema::Use;
use deltasoap::types::Shared;
use deltasoap::{Soap, SoapArray};
use deltasoap_streams::{arrays, checksum};

use crate::payload::{Payload, Same, Sample, Visitor};
use crate::workload::Values;

/// The name of rows in which our strings are [`Shared`].
pub const SHARED: &str = "shared";

/// An item of such an array.
pub trait Text: Sized {
    /// Creates the items for these texts.
    fn of(texts: Vec<String>) -> SoapArray<Self>;

    /// Returns the item's text.
    fn text(&self) -> String;
}

impl Text for String {
    fn of(texts: Vec<String>) -> SoapArray<Self> {
        SoapArray(texts)
    }

    fn text(&self) -> String {
        self.clone()
    }
}

impl Text for Shared<String> {
    /// Equal texts become one value.
    fn of(texts: Vec<String>) -> SoapArray<Self> {
        let mut known: HashMap<String, Self> = HashMap::new();
        let mut one = |text: String| known.entry(text.clone()).or_insert_with(|| Shared::new(text)).clone();
        SoapArray(texts.into_iter().map(&mut one).collect())
    }

    fn text(&self) -> String {
        self.get().map(|text| text.clone()).unwrap_or_default()
    }
}

/// Returns the texts of items.
pub fn texts<T: Text>(items: &[T]) -> Vec<String> {
    items.iter().map(Text::text).collect()
}

/// Defines a message that sends such an array.
macro_rules! sent {
    ($($name:ident = $element:literal: $item:ty, $what:literal;)*) => {$(
        #[doc = $what]
        #[derive(Debug, Clone, Soap)]
        #[soap(element = $element, namespace = "urn:bench", all)]
        pub struct $name {
            /// The items.
            pub item: SoapArray<$item>,
        }

        impl From<Vec<String>> for $name {
            fn from(texts: Vec<String>) -> Self {
                $name { item: Text::of(texts) }
            }
        }

        impl Same for $name {
            fn is_same(&self, other: &Self) -> bool {
                self.item.0 == other.item.0
            }
        }

        impl Payload for $name {
            const ENCODING: Use = Use::Encoded;

            fn naive(&self) -> String {
                arrays::message_encoded($element, &texts(&self.item))
            }

            fn checksum(&self) -> String {
                checksum::strings(&texts(&self.item))
            }
        }
    )*};
}

sent! {
    SendEncodedStrings = "sendEncodedStrings": String, "Different strings.";
    SendRepeatedStrings = "sendRepeatedStrings": String, "Strings that repeat, as copies.";
    SendEncodedShared = "sendEncodedStrings": Shared<String>, "Different strings, each a value that could be shared.";
    SendRepeatedShared = "sendRepeatedStrings": Shared<String>, "Strings that repeat, each once.";
}

/// Creates a sample of `n` shared strings and passes it to `visitor`; returns `None` for values
/// that are never shared.
pub fn with_shared_sample<V: Visitor>(values: Values, n: usize, visitor: V) -> Option<V::Output> {
    match values {
        Values::Encoded => Some(visitor.visit(Sample::new(SendEncodedShared::from(arrays::strings(n)), n))),
        Values::Repeated => Some(visitor.visit(Sample::new(SendRepeatedShared::from(arrays::repeated_strings(n)), n))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::decode_alone;
    use deltasoap::engine::Buffer;
    use deltasoap::soap::Envelope;

    fn written<T: Payload>(message: &T) -> String {
        let written = Envelope::new(message).encoding(T::ENCODING).write(Buffer::new()).unwrap();
        String::from_utf8(written.as_slice().to_vec()).unwrap()
    }

    #[test]
    fn strings_that_repeat_are_written_once_where_they_are_shared() {
        let texts = vec!["one".to_owned(), "two".to_owned(), "one".to_owned()];
        let shared = written(&SendRepeatedShared::from(texts.clone()));
        assert_eq!((shared.matches("one").count(), shared.matches("href=").count()), (1, 2), "{shared}");
        let plain = written(&SendRepeatedStrings::from(texts.clone()));
        assert_eq!((plain.matches("one").count(), plain.matches("href=").count()), (2, 0), "{plain}");
        for message in [shared, plain] {
            let read: SendRepeatedStrings = decode_alone(message.as_bytes()).unwrap();
            assert_eq!(read.item.0, texts);
        }
    }

    #[test]
    fn different_strings_stand_where_they_belong() {
        let texts = vec!["one".to_owned(), "two".to_owned()];
        assert_eq!(written(&SendEncodedShared::from(texts.clone())), written(&SendEncodedStrings::from(texts)));
    }
}

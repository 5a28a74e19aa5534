//! The operations of `suite-encoded.wsdl`: arrays of strings in SOAP encoding, which may repeat.
//!
//! deltasoap needs a type to share repeated strings: [`Shared`]. Distinct ones are plain strings.

use anyhow::Result;
use deltasoap::schema::{Style, Use};
use deltasoap::server::{Operation as Served, SoapServiceBuilder};
use deltasoap::types::Shared;
use deltasoap::{Fault, Lease, Soap, SoapArray};
use deltasoap_streams::arrays::{DIFFERENT_STRINGS, message_encoded, repeated_strings, strings};
use deltasoap_streams::checksum;

use super::calls::{Answer, Calls, Setup};
use super::definition::{Action, Operation};
use super::values::{MAX_ITEMS, number, number_sum, wide};
use crate::encoded::{SendEncodedStrings, SendRepeatedShared, Text, texts};
use crate::engine::Session;

/// Returns the strings that a service creates: "Message #i" and dots, cycling through `different`
/// ones.
fn generated<T: Text + Clone>(n: usize, different: usize) -> SoapArray<T> {
    let some = T::of((1..=n.min(different)).map(|i| wide(number(i))).collect());
    if n <= different { some } else { SoapArray(some.0.iter().cycle().take(n).cloned().collect()) }
}

/// Returns the number of distinct strings among `n` if none repeats.
fn all(n: usize) -> usize {
    n
}

/// Returns the number of distinct strings if they repeat.
fn few(_: usize) -> usize {
    DIFFERENT_STRINGS
}

/// Returns the checksum of [`generated`].
fn generated_sum(n: usize, different: usize) -> String {
    checksum::strings(&generated::<String>(n, different).0)
}

/// Creates a module for each type of items: messages, handlers, calls.
macro_rules! encoded {
    ($($module:ident = $items:literal: $item:ty, $send:ty, $texts:path, $different:path,
        [$sent:literal, $receive:literal, $received:literal];)*) => {
        /// Adds the operations to a service.
        pub fn serve(builder: SoapServiceBuilder) -> SoapServiceBuilder {
            $(let builder = $module::serve(builder);)*
            builder
        }

        /// Opens calls of an operation with `n` items by our client. Returns `None` if there is no
        /// such operation.
        ///
        /// # Errors
        /// When the first call fails.
        pub fn open(operation: &Operation, n: usize, setup: &Setup) -> Result<Option<Box<dyn Session>>> {
            let setup = Setup { encoding: Use::Encoded, ..setup.clone() };
            match operation.items() {
                $($items => $module::open(operation.action, n, &setup),)*
                _ => Ok(None),
            }
        }

        /// Returns the message that shows a peer what to send, and the checksum of the expected
        /// response. Returns `None` if there is no such operation.
        pub fn request(operation: &Operation, n: usize) -> Option<(Vec<u8>, String)> {
            match (operation.items(), operation.action) {
                $(($items, Action::Send) => {
                    Some((message_encoded(&operation.name, &$texts(n)).into_bytes(), number_sum(n)))
                })*
                $(($items, Action::Receive) => Some((Vec::new(), generated_sum(n, $different(n)))),)*
                _ => None,
            }
        }

        $(mod $module {
            use super::*;

            #[derive(Debug, Soap)]
            #[soap(namespace = "urn:bench", element = $sent, all)]
            pub struct Sent { count: i32 }

            #[derive(Debug, Clone, Soap)]
            #[soap(namespace = "urn:bench", element = $receive, all)]
            pub struct Receive { count: i32 }

            #[derive(Debug, Soap)]
            #[soap(namespace = "urn:bench", element = $received, all)]
            pub struct Received { item: SoapArray<$item> }

            impl Answer for Sent {
                fn checksum(&self) -> String {
                    checksum::ints(&[self.count])
                }
            }

            impl Answer for Received {
                fn checksum(&self) -> String {
                    checksum::strings(&texts(&self.item))
                }
            }

            pub fn serve(builder: SoapServiceBuilder) -> SoapServiceBuilder {
                let sent = Served::new(async |request: Lease<$send>| Ok::<_, Fault>(Sent { count: number(request.item.len()) }));
                let received = Served::new(async |request: Lease<Receive>| {
                    let count = usize::try_from(request.count).map_err(|_| Fault::sender("the count is negative"))?;
                    Ok::<_, Fault>(Received { item: generated(count.min(MAX_ITEMS), $different(count)) })
                });
                let encoded = |operation: Served| operation.encoding(Use::Encoded).style(Style::Rpc);
                builder.add_operation(encoded(sent)).add_operation(encoded(received))
            }

            pub fn open(action: Action, n: usize, setup: &Setup) -> Result<Option<Box<dyn Session>>> {
                Ok(match action {
                    Action::Send => {
                        let ring = vec![(<$send>::from($texts(n)), number_sum(n))];
                        Some(Box::new(Calls::<$send, Sent>::open(setup, ring)?))
                    }
                    Action::Receive => {
                        let ring = vec![(Receive { count: number(n) }, generated_sum(n, $different(n)))];
                        Some(Box::new(Calls::<Receive, Received>::open(setup, ring)?))
                    }
                    Action::Void | Action::Echo => None,
                })
            }
        })*
    };
}

encoded! {
    distinct = "EncodedStrings": String, SendEncodedStrings, strings, all,
        ["sendEncodedStringsResponse", "receiveEncodedStrings", "receiveEncodedStringsResponse"];
    repeated = "RepeatedStrings": Shared<String>, SendRepeatedShared, repeated_strings, few,
        ["sendRepeatedStringsResponse", "receiveRepeatedStrings", "receiveRepeatedStringsResponse"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_that_repeat_come_from_few_values() {
        let generated: SoapArray<Shared<String>> = generated(5, 2);
        assert_eq!(
            texts(&generated),
            texts(&super::generated::<String>(4, 2).0.into_iter().chain([wide(1)]).collect::<Vec<_>>())
        );
        assert!(Shared::ptr_eq(&generated[0], &generated[4]) && !Shared::ptr_eq(&generated[0], &generated[1]));
    }

    #[test]
    fn what_comes_back_is_the_items_or_their_number() {
        let operation = |name: &str| {
            let definition = super::super::definition::Definition::load().unwrap();
            definition.operation.into_iter().find(|operation| operation.name == name).unwrap()
        };
        let (message, sum) = request(&operation("sendRepeatedStrings"), 1001).unwrap();
        assert!(message.starts_with(b"<?xml") && sum == number_sum(1001));
        let (message, sum) = request(&operation("receiveRepeatedStrings"), 1001).unwrap();
        assert!(message.is_empty() && sum == generated_sum(1001, 1000) && sum != generated_sum(1001, 1001));
        assert!(request(&operation("sendStrings"), 1).is_none());
    }
}

// Reads a message as the type with a number, writes it, and reads the result.

use deltasoap::Message;
use deltasoap::engine::Buffer;
use deltasoap::schema::Use;
use deltasoap::soap::{decode_request, Envelope};
use std::fmt::Debug;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let number: usize = arguments.next().and_then(|number| number.parse().ok()).expect("a number");
    let message = std::fs::read(arguments.next().expect("a file")).expect("a file");
    if let Err(why) = TYPES[number](&message) {
        eprintln!("{}", why.replace('\n', " "));
        std::process::exit(1);
    }
}

fn round_trip<T: Message + Debug>(message: &[u8]) -> Result<(), String> {
    let encoding = match String::from_utf8_lossy(message).contains("http://schemas.xmlsoap.org/soap/encoding/") {
        true => Use::Encoded,
        false => Use::Literal,
    };
    let (head, value) = decode_request::<T>(message).map_err(|error| format!("cannot be read: {error}"))?;
    let envelope = Envelope::new(&value).version(head.version()).encoding(encoding).headers(&head.headers);
    let written = envelope.write(Buffer::new());
    let written = written.map_err(|error| format!("cannot be written: {error}"))?;
    let again = decode_request::<T>(written.as_slice()).map_err(|error| format!("not good once written: {error}"));
    let (again_head, again) = again?;
    let (value, again) = (told(&value), told(&again));
    match again == value && again_head.headers.len() == head.headers.len() {
        true => Ok(()),
        false => Err(format!("another value once written: {again} for {value}")),
    }
}

/// Formats a value without the prefixes that its trees have in scope: those are the writer's.
fn told(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    let mut parts = text.split("bindings: [");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |told, part| told + part.split_once("], children: ").map_or(part, |(_, rest)| rest))
}

//! Kinds of messages: an operation of `testdata/wsdl/bench.wsdl` with a number of items, and the
//! expected answer.
//!
//! Each kind is a ring of messages with different values. Every connection sends it in order, so
//! that a service that compares messages finds exactly as much in common as `--changed` says. A
//! ring is so large that a connection hardly ever wraps around, since a service may remember
//! hundreds of messages.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result, ensure};
use deltasoap::lexical::Base64;
use deltasoap::{Error, Soap};
use deltasoap_streams::arrays;
use deltasoap_streams::checksum;
use deltasoap_streams::prng::SplitMix64;
use deltasoap_streams::similar::{self, Changes};

use crate::messages::{Mio, tuples};
use crate::payload::decode_alone;

/// Memory of the messages of a ring, within bounds.
const RING_BYTES: usize = 32 << 20;
const MIN_MESSAGES: usize = 4;
const MAX_MESSAGES: usize = 8192;
/// Number of messages if all are equal: enough that none is in the cache only because it was just
/// sent.
const EQUAL: usize = 16;

/// A kind of message and its share of the load: `OPERATION[:ITEMS][=SHARE]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// The kind.
    pub kind: MessageKind,
    /// Its weight relative to the others.
    pub weight: f64,
}

/// A kind of message: `OPERATION[:ITEMS]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageKind {
    /// The server's action with the items.
    action: Action,
    /// Number of items, or of base64 bytes; zero for `echoVoid`.
    n: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Void,
    Echo(Items),
    Send(Items),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Items {
    Ints,
    Doubles,
    Strings,
    Mios,
    Base64,
}

const ITEMS: [(&str, Items); 5] = [
    ("Ints", Items::Ints),
    ("Doubles", Items::Doubles),
    ("Strings", Items::Strings),
    ("Mios", Items::Mios),
    ("Base64", Items::Base64),
];

impl FromStr for Share {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (kind, weight) = text.split_once('=').unwrap_or((text, "1"));
        let weight: f64 = weight.parse().context("the share is not a number")?;
        ensure!(weight > 0.0 && weight.is_finite(), "the share is not positive");
        Ok(Share { kind: kind.parse()?, weight })
    }
}

impl FromStr for MessageKind {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, items) = text.split_once(':').unwrap_or((text, "100"));
        let n = items.parse().context("the number of items is not a number")?;
        if name == "echoVoid" {
            ensure!(!text.contains(':'), "echoVoid has no items");
            return Ok(MessageKind { action: Action::Void, n: 0 });
        }
        let of = |prefix| name.strip_prefix(prefix).and_then(items_named);
        let action = of("echo").map(Action::Echo).or_else(|| of("send").map(Action::Send));
        Ok(MessageKind { action: action.with_context(|| format!("no operation is named {name:?}"))?, n })
    }
}

fn items_named(name: &str) -> Option<Items> {
    ITEMS.iter().find(|(known, _)| *known == name).map(|(_, items)| *items)
}

impl fmt::Display for MessageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.operation())?;
        if self.action == Action::Void { Ok(()) } else { write!(f, ":{}", self.n) }
    }
}

impl MessageKind {
    /// Returns the operation's name.
    pub fn operation(&self) -> String {
        match self.action {
            Action::Void => "echoVoid".to_owned(),
            Action::Echo(items) => format!("echo{items:?}"),
            Action::Send(items) => format!("send{items:?}"),
        }
    }

    /// Returns the kind's ring of messages. `changed` percent of the items change from each message
    /// to the next.
    pub fn ring(&self, changed: u32) -> Vec<Message> {
        let (items, is_echo) = match self.action {
            Action::Void => return vec![Message::new(void(), read_void, String::new())],
            Action::Echo(items) => (items, true),
            Action::Send(items) => (items, false),
        };
        items.ring(self.n, changed).into_iter().map(|(text, sum)| self.message(items, is_echo, text, sum)).collect()
    }

    /// Returns this kind's message for a message that sends the items.
    fn message(&self, items: Items, is_echo: bool, text: String, sum: String) -> Message {
        if is_echo {
            let text = text.replace(&format!("send{items:?}"), &self.operation());
            Message::new(text, items.echoed(), sum)
        } else {
            Message::new(text, items.counted(), self.n.to_string())
        }
    }
}

/// A message and its expected answer.
#[derive(Debug)]
pub struct Message {
    /// The envelope.
    pub text: String,
    /// Reads an answer.
    read: Read,
    /// The expected result of reading.
    expected: String,
}

/// Returns a digest of an answer: a checksum, or the number of items.
type Read = fn(&[u8]) -> Result<String, Error>;

impl Message {
    fn new(text: String, read: Read, expected: String) -> Self {
        Message { text, read, expected }
    }

    /// Returns true if this is an answer to the message, with the right values.
    pub fn is_answered_by(&self, body: &[u8]) -> bool {
        (self.read)(body).is_ok_and(|found| found == self.expected)
    }
}

fn void() -> String {
    arrays::message_ints(&[]).replace("sendInts", "echoVoid")
}

impl Items {
    /// Returns messages that send `n` items, each with the checksum of the items.
    fn ring(self, n: usize, percent: u32) -> Vec<(String, String)> {
        let changes = Changes { percent, partitions: 1 };
        match self {
            Items::Ints => ring(
                arrays::ints(n),
                changes,
                similar::int(n),
                (|of| arrays::message_ints(of), |of| checksum::ints(of)),
            ),
            Items::Doubles => ring(
                arrays::hard_doubles(n),
                changes,
                similar::hard_double,
                (|of| arrays::message_doubles(of), |of| checksum::doubles(of)),
            ),
            Items::Strings => ring(
                arrays::strings(n),
                changes,
                similar::string,
                (|of| arrays::message_strings(of), |of| checksum::strings(of)),
            ),
            Items::Mios => ring(
                arrays::mios(n),
                changes,
                similar::mio(n),
                (|of| arrays::message_mios(of), |of| checksum::mios(of)),
            ),
            Items::Base64 => {
                let draw = |random: &mut SplitMix64| random.below(256) as u8;
                ring(arrays::bytes(n), changes, draw, (|of| arrays::message_base64(of), |of| checksum::bytes(of)))
            }
        }
    }

    fn echoed(self) -> Read {
        match self {
            Items::Ints => |body| Ok(checksum::ints(&decode_alone::<EchoIntsResponse>(body)?.item)),
            Items::Doubles => |body| Ok(checksum::doubles(&decode_alone::<EchoDoublesResponse>(body)?.item)),
            Items::Strings => |body| Ok(checksum::strings(&decode_alone::<EchoStringsResponse>(body)?.item)),
            Items::Mios => |body| Ok(checksum::mios(&tuples(&decode_alone::<EchoMiosResponse>(body)?.item))),
            Items::Base64 => |body| Ok(checksum::bytes(&decode_alone::<EchoBase64Response>(body)?.data.0)),
        }
    }

    fn counted(self) -> Read {
        match self {
            Items::Ints => |body| Ok(decode_alone::<SendIntsResponse>(body)?.count.to_string()),
            Items::Doubles => |body| Ok(decode_alone::<SendDoublesResponse>(body)?.count.to_string()),
            Items::Strings => |body| Ok(decode_alone::<SendStringsResponse>(body)?.count.to_string()),
            Items::Mios => |body| Ok(decode_alone::<SendMiosResponse>(body)?.count.to_string()),
            Items::Base64 => |body| Ok(decode_alone::<SendBase64Response>(body)?.count.to_string()),
        }
    }
}

/// The functions that write items and calculate their checksum.
type Written<E> = (fn(&[E]) -> String, fn(&[E]) -> String);

fn ring<E: Clone + PartialEq>(
    first: Vec<E>,
    changes: Changes,
    draw: impl FnMut(&mut SplitMix64) -> E,
    (message, sum): Written<E>,
) -> Vec<(String, String)> {
    let size = message(&first).len();
    let messages = if changes.count(first.len()) == 0 { EQUAL } else { (RING_BYTES / size).min(MAX_MESSAGES) };
    let ring = similar::changed(&first, changes, messages.max(MIN_MESSAGES), draw);
    ring.iter().map(|items| (message(items), sum(items))).collect()
}

fn read_void(body: &[u8]) -> Result<String, Error> {
    decode_alone::<EchoVoidResponse>(body).map(|EchoVoidResponse {}| String::new())
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "echoVoidResponse")]
struct EchoVoidResponse {}

macro_rules! responses {
    ($($name:ident = $element:literal { $field:ident: $type:ty })*) => {$(
        #[derive(Debug, Soap)]
        #[soap(namespace = "urn:bench", element = $element)]
        struct $name {
            $field: $type,
        }
    )*};
}

responses! {
    EchoIntsResponse = "echoIntsResponse" { item: Vec<i32> }
    EchoDoublesResponse = "echoDoublesResponse" { item: Vec<f64> }
    EchoStringsResponse = "echoStringsResponse" { item: Vec<String> }
    EchoMiosResponse = "echoMiosResponse" { item: Vec<Mio> }
    EchoBase64Response = "echoBase64Response" { data: Base64 }
    SendIntsResponse = "sendIntsResponse" { count: i32 }
    SendDoublesResponse = "sendDoublesResponse" { count: i32 }
    SendStringsResponse = "sendStringsResponse" { count: i32 }
    SendMiosResponse = "sendMiosResponse" { count: i32 }
    SendBase64Response = "sendBase64Response" { count: i32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> MessageKind {
        text.parse().unwrap()
    }

    #[test]
    fn kinds_are_written_as_they_are_read() {
        for text in ["echoVoid", "echoInts:7", "sendDoubles:156000", "echoStrings:1", "sendMios:3", "echoBase64:100"] {
            assert_eq!(kind(text).to_string(), text);
        }
        assert_eq!(kind("echoInts").to_string(), "echoInts:100");
        for text in ["", "echo", "echoLongs", "fail", "echoVoid:1", "sendInts:x", "sendInts:-1"] {
            assert!(text.parse::<MessageKind>().is_err(), "{text}");
        }
        assert_eq!("echoVoid=99".parse::<Share>().unwrap().weight, 99.0);
        assert!("echoVoid=0".parse::<Share>().is_err() && "echoVoid=NaN".parse::<Share>().is_err());
    }

    #[test]
    fn a_ring_holds_more_messages_than_a_service_knows_again() {
        let len = |text: &str, changed| kind(text).ring(changed).len();
        assert_eq!([len("sendInts:3", 100), len("sendInts:3", 0), len("echoVoid", 100)], [MAX_MESSAGES, EQUAL, 1]);
        assert!((200..400).contains(&len("sendStrings:1000", 100)));
        assert!((MIN_MESSAGES..10).contains(&len("sendDoubles:156000", 100)));
    }

    #[test]
    fn an_echo_answers_a_message_if_it_has_the_values() {
        for text in ["echoInts:5", "echoDoubles:5", "echoStrings:5", "echoMios:5", "echoBase64:5", "echoInts:0"] {
            let (kind, operation) = (kind(text), kind(text).operation());
            let ring = kind.ring(100);
            let answer = |index: usize| ring[index].text.replace(&operation, &format!("{operation}Response"));
            assert!(ring[0].is_answered_by(answer(0).as_bytes()), "{}", answer(0));
            assert_eq!(ring[0].is_answered_by(answer(1).as_bytes()), text == "echoInts:0", "{text}");
            assert!(!ring[0].is_answered_by(ring[0].text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_count_answers_a_message() {
        let counted = |count| arrays::message_ints(&[count]).replace("sendInts", "sendMiosResponse");
        let message = &kind("sendMios:4").ring(100)[0];
        assert!(message.is_answered_by(counted(4).replace("item", "count").as_bytes()));
        assert!(!message.is_answered_by(counted(3).replace("item", "count").as_bytes()));
        assert!(kind("echoVoid").ring(100)[0].is_answered_by(void().replace("Void", "VoidResponse").as_bytes()));
    }

    #[test]
    fn as_many_items_change_as_asked_for() {
        let differing = |changed| {
            let ring = kind("sendStrings:100").ring(changed);
            let [one, other] = [&ring[0].text, &ring[1].text].map(|text| text.split("<item>").collect::<Vec<_>>());
            one.iter().zip(&other).filter(|(one, other)| one != other).count()
        };
        assert_eq!([differing(0), differing(25), differing(100)], [0, 25, 100]);
    }
}

//! Which messages of a stream are compared, for typed values: kinds among strangers, lengths around the least that is worth while.

use deltasoap::decode::Decoder;
use deltasoap::soap::{EnvelopeReader, RequestReceiver};
use deltasoap::{DecodeOptions, DifferentialStats, Memory, Soap};
use std::fmt::Write;
use std::time::Duration;

#[derive(Debug, Soap)]
#[soap(message, namespace = "urn:s")]
struct Items {
    item: Vec<String>,
}

/// A message with so many items: of a kind they are the same in each message but for one, of strangers all are others.
fn message(kind: Option<usize>, number: usize, items: usize) -> String {
    let mut text =
        String::from("<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><Items xmlns='urn:s'>");
    for item in 0..items {
        let _ = match kind {
            Some(kind) if item != items / 2 => write!(text, "<item xmlns=''>{kind}-{item:05}</item>"),
            _ => write!(text, "<item xmlns=''>x{:07}</item>", number * 1009 + item),
        };
    }
    text + "</Items></e:Body></e:Envelope>"
}

/// Reads a stream. Comparing takes a tenth of regular mode's time, as far as the memory knows.
fn read(messages: impl Iterator<Item = String>) -> DifferentialStats {
    let mut decoder = Decoder::new(DecodeOptions::default());
    let mut memory = Box::<Memory<Items>>::default();
    memory.set_pace(|bytes, was_compared| Duration::from_nanos(bytes * if was_compared { 1 } else { 10 }));
    for message in messages {
        let mut reader = EnvelopeReader::new(RequestReceiver::new(memory));
        decoder.decode(&mut reader, message.as_bytes()).expect("a good message");
        memory = reader.into_parts().1.into_memory();
    }
    memory.stats()
}

fn share(stats: &DifferentialStats) -> f64 {
    stats.fast_bytes as f64 / (stats.fast_bytes + stats.regular_bytes) as f64
}

/// Whatever the period is and wherever in it the kind comes, it is found within some periods.
#[test]
fn a_kind_among_strangers_is_found() {
    for period in 2..=9 {
        for place in 0..period {
            let kind = |number: usize| (number % period == place).then_some(1);
            let stats = read((0..60 * period).map(|number| message(kind(number), number, 40)));
            let most = 0.9 / period as f64;
            assert!(share(&stats) > most * 0.6, "{place} of {period}: {stats:?}");
        }
    }
}

/// Bytes of an operation's content, with the end of its envelope.
fn len(items: usize) -> usize {
    let text = message(None, 0, items);
    text.len() - text.find("<item").expect("an item")
}

#[test]
fn a_shorter_message_by_turns_keeps_no_longer_one_from_being_compared() {
    let (short, long) = (15, 25);
    assert!((430..512).contains(&len(short)) && (700..850).contains(&len(long)), "{} {}", len(short), len(long));
    let items = |number: usize| if number.is_multiple_of(2) { short } else { long };
    let alike = read((0..400).map(|number| message(Some(number % 2), number, items(number))));
    assert!(alike.compared > 190, "{alike:?}");
    let unlike = read((0..2000).map(|number| message(None, number, items(number))));
    assert!(unlike.checkpoints < 9000 && unlike.compared < 50, "{unlike:?}");
}

#[test]
fn one_short_message_changes_nothing_for_long() {
    assert!((520..640).contains(&len(18)), "{}", len(18));
    let items = |number: usize| if number == 20 { 3 } else { 18 };
    let stats = read((0..200).map(|number| message(Some(1), number, items(number))));
    assert!(stats.compared > 170, "{stats:?}");
}

#[test]
fn messages_around_the_least_length_are_seldom_noted() {
    let items = |number: usize| 15 + number * 7 % 5;
    assert!(len(15) < 490 && len(19) > 560);
    let stats = read((0..4000).map(|number| message(None, number, items(number))));
    assert!(stats.checkpoints < 4000, "{stats:?}");
}

//! Selection of the messages of a stream that are compared, for typed values: similar messages
//! among others, short ones in between, useless notes.

use deltasoap::engine::decode::Decoder;
use deltasoap::engine::{DecodeOptions, DifferentialStats, Memory};
use deltasoap::soap::{EnvelopeReader, RequestReceiver};
use deltasoap::{Message, Soap};
use std::fmt::Write;
use std::time::Duration;

#[derive(Debug, Soap)]
#[soap(message, namespace = "urn:s")]
struct Items {
    item: Vec<String>,
}

#[derive(Debug, Soap)]
#[soap(message, name = "Items", namespace = "urn:s")]
struct Stamped {
    #[soap(attribute)]
    at: Option<String>,
    item: Vec<String>,
}

#[derive(Debug, Soap)]
#[soap(message, namespace = "urn:s")]
struct Text {
    #[soap(text)]
    text: String,
}

const HEAD: &str = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>";
const TAIL: &str = "</e:Body></e:Envelope>";

/// Returns a message of `items` items. Messages of one kind differ in one item; without a kind all
/// items differ.
fn message(kind: Option<usize>, number: usize, items: usize) -> String {
    let mut text = format!("{HEAD}<Items xmlns='urn:s'>");
    for item in 0..items {
        let _ = match kind {
            Some(kind) if item != items / 2 => write!(text, "<item xmlns=''>{kind}-{item:05}</item>"),
            _ => write!(text, "<item xmlns=''>x{:07}</item>", number * 1009 + item),
        };
    }
    text + "</Items>" + TAIL
}

/// Returns a message whose newest item comes first, so that equal items move from message to
/// message.
fn feed(number: usize, items: usize) -> String {
    let items = (number..number + items).rev().map(|item| format!("<item xmlns=''>entry {item:07}</item>"));
    format!("{HEAD}<Items xmlns='urn:s'>{}</Items>{TAIL}", items.collect::<String>())
}

/// The time that a message takes, as reported to the memory.
type Pace = fn(bytes: u64, was_compared: bool) -> Duration;

const FAST: Pace = |bytes, was_compared| Duration::from_nanos(bytes * if was_compared { 1 } else { 10 });
const SLOW: Pace = |bytes, was_compared| Duration::from_nanos(bytes * if was_compared { 30 } else { 10 });

/// Reads a stream.
fn read_as<T: Message>(pace: Pace, messages: impl Iterator<Item = String>) -> DifferentialStats {
    let mut decoder = Decoder::new(DecodeOptions::default());
    let mut memory = Box::<Memory<T>>::default();
    memory.set_clock(pace);
    for message in messages {
        let mut reader = EnvelopeReader::new(RequestReceiver::new(memory));
        decoder.decode(&mut reader, message.as_bytes()).expect("a good message");
        memory = reader.into_parts().1.into_memory();
    }
    memory.stats()
}

fn read(messages: impl Iterator<Item = String>) -> DifferentialStats {
    read_as::<Items>(FAST, messages)
}

fn share(stats: &DifferentialStats) -> f64 {
    stats.fast_bytes as f64 / (stats.fast_bytes + stats.regular_bytes) as f64
}

/// The kind is found within some periods, whatever the period and its place in it.
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

/// Returns the length of an operation's content, with the end of its envelope.
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
    let unlike = read_as::<Items>(SLOW, (0..2000).map(|number| message(None, number, items(number))));
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
    let stats = read_as::<Items>(SLOW, (0..4000).map(|number| message(None, number, items(number))));
    assert!(stats.checkpoints < 4000, "{stats:?}");
}

/// Messages in between that are too short to be compared, or without content.
#[test]
fn messages_that_are_not_compared_change_nothing_for_those_that_are() {
    let alone = read((0..3000).map(|number| feed(number, 100)));
    assert!(share(&alone) > 0.85, "{alone:?}");
    let empty = |content: &str| format!("{HEAD}<Items xmlns='urn:s'{content}{TAIL}");
    for between in [feed(0, 1), empty("/>"), empty("></Items>")] {
        for every in [2, 20, 100, 400] {
            let is_between = |number: usize| number % every == every - 1;
            let stats =
                read((0..3000).map(|number| if is_between(number) { between.clone() } else { feed(number, 100) }));
            assert!(share(&stats) > 0.85 && stats.compared as usize > 2900 - 3000 / every, "{every}: {stats:?}");
        }
    }
}

/// Returns a message with `content` bytes of content, a few of which differ.
fn sized(number: usize, content: usize) -> String {
    const SAME: &str = "<item xmlns=''>same</item>";
    let mut text = format!("<item xmlns=''>{number:05}</item>");
    while text.len() + 2 * SAME.len() < content {
        text += SAME;
    }
    let rest = content - text.len() - "<item xmlns=''></item>".len();
    format!("{HEAD}<Items xmlns='urn:s'>{text}<item xmlns=''>{}</item></Items>{TAIL}", "p".repeat(rest))
}

#[test]
fn comparisons_that_take_longer_end() {
    for content in [430, 480, 490, 500, 511, 512, 530, 1000] {
        let alone = read_as::<Items>(SLOW, (0..2000).map(|number| sized(number, content)));
        assert!(alone.compared < 40, "{content}: {alone:?}");
        let short = |number: usize| number.is_multiple_of(2);
        let by_turns = (0..4000).map(|number| sized(number, if short(number) { 400 } else { content }));
        let by_turns = read_as::<Items>(SLOW, by_turns);
        assert!(by_turns.compared < 40, "{content}: {by_turns:?}");
    }
}

#[test]
fn what_cannot_be_compared_is_not_noted_without_end() {
    let stamped = |number: usize| {
        message(Some(1), number, 40)
            .replace("<Items xmlns='urn:s'>", &format!("<Items xmlns='urn:s' at='{number:06}'>"))
    };
    let prologues = |number: usize| match number % 2 {
        0 => message(Some(1), number, 40),
        _ => message(Some(1), number, 40).replace("e:", "s:").replace(":e=", ":s="),
    };
    let stats = [read_as::<Stamped>(FAST, (0..2000).map(stamped)), read((0..2000).map(prologues))];
    for stats in stats {
        assert!(stats.checkpoints < 2000 && stats.compared == 0, "{stats:?}");
    }
    let text = |number: usize| format!("{HEAD}<Text xmlns='urn:s'>{number:07}{}</Text>{TAIL}", "t".repeat(3000));
    let mut held = 0;
    for stats in (1..40).map(|messages| read_as::<Text>(FAST, (0..10 * messages).map(text))) {
        held += u32::from(stats.memory > 2000);
    }
    assert!(held < 8, "{held}");
}

/// Useful comparisons continue, however little of a message was in the one before.
#[test]
fn messages_that_are_less_than_half_alike_are_compared_beside_short_ones() {
    let pace: Pace = |bytes, was_compared| Duration::from_nanos(bytes * if was_compared { 6 } else { 10 });
    let alike = |number: usize| {
        let new = (0..55).map(|item| format!("<item xmlns=''>x{:07}</item>", number * 1009 + item));
        let known = (0..45).map(|item| format!("<item xmlns=''>k{item:07}</item>"));
        format!("{HEAD}<Items xmlns='urn:s'>{}</Items>{TAIL}", new.chain(known).collect::<String>())
    };
    for every in [5, 20] {
        let next = |number: usize| if number.is_multiple_of(every) { feed(number, 1) } else { alike(number) };
        let stats = read_as::<Items>(pace, (0..2000).map(next));
        assert!(stats.compared as usize > 1900 - 2000 / every, "{every}: {stats:?}");
    }
}

/// A message with a different prologue only affects itself and the next message.
#[test]
fn a_message_that_does_not_fit_now_and_then_changes_nothing_for_the_others() {
    for every in [5, 10, 50] {
        let next = |number: usize| {
            let text = message(Some(1), number, 40);
            match number.is_multiple_of(every) {
                true => text.replace("<Items xmlns='urn:s'>", "<Items xmlns='urn:s' at='now'>"),
                false => text,
            }
        };
        let stats = read_as::<Stamped>(FAST, (0..2000).map(next));
        assert!(stats.compared as usize > 1900 - 2 * 2000 / every, "{every}: {stats:?}");
    }
}

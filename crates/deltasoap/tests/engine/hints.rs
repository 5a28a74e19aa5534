//! Sent messages as hints for responses: they save work and never change a result.

use deltasoap::engine::decode::Decoder;
use deltasoap::engine::{DecodeOptions, Hint, Limits, Template, Templating, Width};
use deltasoap::schema::Use;
use deltasoap::soap::{Envelope, EnvelopeReader, Reply, ReplyReceiver, Version};
use deltasoap::{Error, Message, Soap, SoapArray};
use proptest::prelude::*;

#[derive(Debug, Clone, PartialEq, Soap)]
struct Count(i32);

#[derive(Debug, Clone, PartialEq, Soap)]
struct Row {
    on: bool,
    count: Count,
    name: String,
    level: f64,
}

/// A message that is sent and comes back.
#[derive(Debug, Clone, Default, PartialEq, Soap)]
#[soap(message, namespace = "urn:hints")]
struct Lists {
    doubles: Vec<f64>,
    rows: Vec<Row>,
    floats: SoapArray<f32>,
    longs: SoapArray<i64>,
    bytes: Vec<u8>,
    more: Vec<f64>,
}

/// The same message, read as other types.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(message, element = "Lists", namespace = "urn:hints")]
struct Others {
    doubles: Vec<f32>,
    rows: Vec<OtherRow>,
    floats: SoapArray<f64>,
    longs: SoapArray<f64>,
    bytes: Vec<i16>,
    more: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
struct OtherRow {
    on: String,
    count: u64,
    name: String,
    level: f32,
}

/// All values as bits.
trait Bits {
    fn bits(&self) -> String;
}

impl Bits for Lists {
    fn bits(&self) -> String {
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let floats: Vec<_> = self.floats.iter().map(|value| value.to_bits()).collect();
        let levels: Vec<_> = self.rows.iter().map(|row| row.level.to_bits()).collect();
        format!("{:?} {:?} {floats:?} {levels:?} {self:?}", bits(&self.doubles), bits(&self.more))
    }
}

impl Bits for Others {
    fn bits(&self) -> String {
        let floats: Vec<_> = self.doubles.iter().map(|value| value.to_bits()).collect();
        format!("{floats:?} {self:?}")
    }
}

fn hint_of(lists: &Lists, encoding: Use, options: Templating) -> Option<Hint> {
    let mut template = Template::new(options);
    template.encode(&Envelope::new(lists).encoding(encoding)).expect("XML");
    template.hint()
}

fn written(lists: &Lists, encoding: Use) -> Vec<u8> {
    Envelope::new(lists).version(Version::Soap12).encoding(encoding).to_vec().expect("XML")
}

/// Reads a message in chunks; returns the value and the number of leaves that the hint gave.
fn read<T: Message>(message: &[u8], chunk: usize, limits: Limits, hint: Option<&Hint>) -> (Result<T, Error>, u64) {
    let mut reader = EnvelopeReader::new(ReplyReceiver::<T>::default());
    let mut decoder = Decoder::new(DecodeOptions { limits, ..DecodeOptions::default() });
    decoder.set_hint(hint.cloned());
    let mut chunks = message.chunks(chunk);
    let result = chunks.try_for_each(|chunk| decoder.push(&mut reader, chunk));
    let result = result.and_then(|()| decoder.finish(&mut reader)).and_then(|()| reader.receiver.into_reply());
    let result = result.map(|reply| match reply {
        Reply::Response(value) => value,
        Reply::Fault(fault) => panic!("not a fault: {fault:?}"),
    });
    (result, decoder.stats().hinted_leaves)
}

fn same_as_without<T: Message + Bits>(message: &[u8], limits: Limits, hint: Option<&Hint>) {
    for chunk in [usize::MAX, 700, 16] {
        let bits =
            |(result, _): (Result<T, Error>, u64)| result.map(|value| value.bits()).map_err(|error| error.to_string());
        assert_eq!(bits(read(message, chunk, limits, hint)), bits(read(message, chunk, limits, None)), "by {chunk}");
    }
}

fn double() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        (-100i32..100).prop_map(f64::from),
        (0i32..10_000).prop_map(|value| f64::from(value) / 8.0),
        prop::sample::select(vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e16, f64::MIN_POSITIVE]),
    ]
}

fn row() -> impl Strategy<Value = Row> {
    (any::<bool>(), any::<i32>(), "[a-c<&]{0,3}", double()).prop_map(|(on, count, name, level)| Row {
        on,
        count: Count(count),
        name,
        level,
    })
}

fn list<T: std::fmt::Debug>(item: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<T>> {
    prop::collection::vec(item, 0..270)
}

prop_compose! {
    fn lists()(
        doubles in list(double()),
        rows in list(row()),
        floats in list(any::<u32>().prop_map(f32::from_bits)),
        longs in list((any::<i64>(), 0..64u32).prop_map(|(value, by)| value >> by)),
        bytes in list(any::<u8>()),
        more in list(double()),
    ) -> Lists {
        Lists { doubles, rows, floats: floats.into(), longs: longs.into(), bytes, more }
    }
}

/// Differences between the sent message and the response.
#[derive(Debug, Clone)]
enum Edit {
    Change(usize),
    Remove(usize, usize),
    Insert(usize, usize),
    Swap,
    Scale,
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        any::<usize>().prop_map(Edit::Change),
        (any::<usize>(), 1..12usize).prop_map(|(at, count)| Edit::Remove(at, count)),
        (any::<usize>(), 1..12usize).prop_map(|(at, count)| Edit::Insert(at, count)),
        Just(Edit::Swap),
        Just(Edit::Scale),
    ]
}

fn apply(lists: &mut Lists, edit: &Edit) {
    fn cut<T: Clone>(list: &mut Vec<T>, edit: &Edit) {
        let at = |at: usize| at % list.len().max(1);
        match *edit {
            Edit::Remove(place, count) => _ = list.drain(at(place)..(at(place) + count).min(list.len())),
            Edit::Insert(place, count) if !list.is_empty() => {
                let (place, item) = (at(place), list[0].clone());
                list.splice(place..place, vec![item; count]);
            }
            _ => {}
        }
    }
    cut(&mut lists.doubles, edit);
    cut(&mut lists.rows, edit);
    cut(&mut lists.floats, edit);
    cut(&mut lists.longs, edit);
    match edit {
        Edit::Change(at) => {
            let count = lists.doubles.len().max(1);
            lists.doubles.iter_mut().skip(at % count).step_by(3).for_each(|value| *value += 1.0);
            lists.rows.iter_mut().skip(at % 5).take(3).for_each(|row| row.level = -row.level);
        }
        Edit::Swap => std::mem::swap(&mut lists.doubles, &mut lists.more),
        Edit::Scale => lists.doubles.iter_mut().for_each(|value| *value *= 0.5),
        _ => {}
    }
}

fn encoding() -> impl Strategy<Value = Use> {
    prop::sample::select(vec![Use::Literal, Use::Encoded])
}

fn templating() -> impl Strategy<Value = Templating> {
    let widths = vec![Width::Exact, Width::Maximal, Width::Fixed(9), Width::Learned(0.5)];
    let chunks = prop::sample::select(vec![300, 32 << 10]);
    (prop::sample::select(widths), chunks).prop_map(|(width, chunk)| Templating {
        width,
        chunk,
        split: 2 * chunk,
        ..Templating::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_hint_never_changes_a_result(
        sent in lists(),
        edits in prop::collection::vec(edit(), 0..4),
        (one, other) in (encoding(), encoding()),
        options in templating(),
        damage in prop::option::of((any::<usize>(), any::<u8>())),
        tight in any::<bool>(),
    ) {
        let hint = hint_of(&sent, one, options);
        let mut received = sent;
        edits.iter().for_each(|edit| apply(&mut received, edit));
        let mut message = written(&received, other);
        if let Some((at, byte)) = damage {
            let at = at % message.len();
            message[at] = byte;
        }
        let limits = Limits { text: if tight { 5 } else { Limits::default().text }, ..Limits::default() };
        same_as_without::<Lists>(&message, limits, hint.as_ref());
        same_as_without::<Others>(&message, limits, hint.as_ref());
    }
}

fn numbers(count: usize, step: f64) -> Lists {
    Lists { doubles: (0..count).map(|n| n as f64 * step).collect(), ..Lists::default() }
}

fn found(message: &[u8], hint: &Hint) -> u64 {
    let (result, found) = read::<Lists>(message, 5000, Limits::default(), Some(hint));
    result.expect("good");
    found
}

#[test]
fn an_echo_is_found_whatever_its_markup() {
    let sent = numbers(1000, 0.1);
    let message = String::from_utf8(written(&sent, Use::Literal)).expect("UTF-8");
    let other = message.replace("<doubles>", "<doubles\n>").replace("</doubles>", "</doubles> ");
    let other = other.replace("<ns:", "<other:").replace("</ns:", "</other:").replace("xmlns:ns=", "xmlns:other=");
    for options in [Templating::default(), Templating { width: Width::Maximal, ..Templating::default() }] {
        let hint = hint_of(&sent, Use::Literal, options).expect("a list");
        for message in [&message, &other] {
            let found = found(message.as_bytes(), &hint);
            // The leaves of an item that was split are looked up twice.
            assert!((990..=1010).contains(&found), "{found} of 999");
        }
    }
}

#[test]
fn what_was_inserted_or_removed_is_stepped_over() {
    let sent = numbers(1000, 0.1);
    let hint = hint_of(&sent, Use::Literal, Templating::default()).expect("a list");
    for (range, count) in [(500..500, 5), (300..306, 0), (0..3, 0), (0..0, 8)] {
        let mut received = sent.clone();
        received.doubles.splice(range, vec![0.3; count]);
        let found = found(&written(&received, Use::Literal), &hint);
        assert!(found > 950, "{found} of {}", received.doubles.len());
    }
}

#[test]
fn other_lists_are_found_too() {
    let sent = Lists { more: numbers(500, 0.2).doubles, ..numbers(500, 0.1) };
    let hint = hint_of(&sent, Use::Literal, Templating::default()).expect("lists");
    let received = Lists { doubles: sent.more.clone(), more: sent.doubles.clone(), ..sent };
    let found = found(&written(&received, Use::Literal), &hint);
    assert!(found > 900, "{found} of 1000");
}

#[test]
fn a_useless_hint_is_given_up() {
    let hint = hint_of(&numbers(10_000, 0.1), Use::Literal, Templating::default()).expect("a list");
    assert!(found(&written(&numbers(10_000, 0.3), Use::Literal), &hint) < 100);
    assert_eq!(found(&written(&numbers(10_000, 1e-7 / 3.0), Use::Literal), &hint), 0);
}

#[test]
fn a_hint_holds_for_one_message() {
    let sent = numbers(1000, 0.1);
    let message = written(&sent, Use::Literal);
    let mut decoder = Decoder::new(DecodeOptions::default());
    decoder.set_hint(hint_of(&sent, Use::Literal, Templating::default()));
    for _ in 0..2 {
        let mut reader = EnvelopeReader::new(ReplyReceiver::<Lists>::default());
        decoder.decode(&mut reader, &message).expect("good");
        assert_eq!(decoder.stats().hinted_leaves, 999);
    }
}

#[test]
fn there_is_no_hint_without_lists_of_numbers() {
    let hint = |lists: &Lists| hint_of(lists, Use::Literal, Templating::default()).is_some();
    assert!(!hint(&numbers(5, 0.1)) && hint(&numbers(500, 0.1)));
    assert!(Template::new(Templating::default()).hint().is_none());
}

//! Templates of tracked values: each message equals the value, whatever other receivers got it
//! meanwhile.

mod reports;

use crate::sender::Flight;
use deltasoap::engine::{Buffer, MatchKind, Template, Templating, Width};
use deltasoap::soap::Envelope;
use deltasoap::types::Tracked;
use deltasoap::{Message, Nillable, Soap};
use reports::sent::Inner;
use reports::{Random, inner, report, send_to_several_places, sender};

fn all() -> impl Iterator<Item = Templating> {
    let widths = [Width::Exact, Width::Learned(0.8), Width::Fixed(12), Width::Maximal];
    widths.into_iter().flat_map(|width| {
        [(256, 300, 0), (4096, 8192, 200)].map(|(chunk, split, reserve)| Templating {
            chunk,
            split,
            reserve,
            width,
            ..Templating::default()
        })
    })
}

#[test]
fn values_are_sent_to_several_places() {
    for (seed, options) in all().enumerate() {
        let stats = send_to_several_places(options, &mut Random::stream(3, seed as u64), 40, |_| {});
        assert_eq!(stats.messages, 40);
    }
}

#[test]
fn what_was_not_touched_is_not_looked_at() {
    let mut sender = sender(Templating { chunk: 512, ..Templating::default() });
    let mut value = report();
    assert_eq!(sender.send(&value), MatchKind::FirstTime);
    assert_eq!(sender.send(&value), MatchKind::Content);
    value.levels.set(123, 7.25);
    let before = sender.stats();
    assert_eq!(sender.send(&value), MatchKind::PartialStructural);
    assert_eq!((sender.stats() - before).leaves, 1);
    value.levels.set(123, 8.25);
    assert_eq!(sender.send(&value), MatchKind::PerfectStructural);
    value.levels.set(123, 8.25);
    assert_eq!(sender.send(&value), MatchKind::Content);
}

/// If a message cannot be written, no recorded change is lost.
#[test]
fn a_fault_between_two_changes() {
    for options in all() {
        let (mut sender, mut value) = (sender(options), report());
        sender.send(&value);
        value.levels.set(5, -1.0);
        let word = std::mem::replace(&mut value.words[7], "\u{1}".to_owned());
        sender.send_in(&value, Flight::Landed).expect_err("no character of XML");
        value.words[7] = word;
        assert_eq!(sender.send(&value), MatchKind::FirstTime);
        assert_eq!(sender.send(&value), MatchKind::Content);
    }
}

/// A value that was absent in between, because the element was nil or contained an untracked value,
/// is written again.
#[test]
fn what_stands_in_place_of_a_tracked_value() {
    #[derive(Soap)]
    #[soap(namespace = "urn:t", element = "report")]
    struct Seldom {
        inner: Nillable<Tracked<Inner>>,
    }

    #[derive(Soap)]
    #[soap(namespace = "urn:t", element = "report")]
    struct Plain {
        inner: Nillable<Inner>,
    }

    fn bytes<T: Message>(template: &mut Template, value: &T) -> Vec<u8> {
        let full = Envelope::new(value).write(Buffer::new()).expect("writable");
        let sent = template.encode(&Envelope::new(value)).expect("writable").to_vec();
        assert_eq!(String::from_utf8_lossy(&sent), String::from_utf8_lossy(full.as_slice()));
        sent
    }

    let mut template = Template::new(Templating::default());
    let mut seldom = Seldom { inner: Nillable::Value(inner(3)) };
    let plain = |n| Plain { inner: Nillable::Value(inner(n).into_inner()) };
    let first = bytes(&mut template, &seldom);
    let Nillable::Value(value) = std::mem::replace(&mut seldom.inner, Nillable::Nil) else {
        return;
    };
    bytes(&mut template, &seldom);
    seldom.inner = Nillable::Value(value);
    assert_eq!(bytes(&mut template, &seldom), first);
    for n in [5, 4, 3] {
        bytes(&mut template, &plain(n));
        assert_eq!(bytes(&mut template, &seldom), first);
    }
}

//! Random streams of dynamic values sent by templates: for property tests and for the fuzzer.

use crate::generate;
use crate::sender::{Flight, Sender};
use crate::updates;
use deltasoap_core::schema::{Schema, Use, View};
use deltasoap_core::soap::Version;
use deltasoap_core::{EncodeStats, Error, QName, Templating, Value, Width};
use deltasoap_test_support::Entropy;

/// Entropy for the schema, the first value, the updates and the way in which all that is sent.
pub struct Sources<'a> {
    pub schema: &'a [u8],
    pub value: &'a [u8],
    pub updates: &'a [u8],
    pub sending: &'a [u8],
}

/// Maximum number of messages in a stream.
const MESSAGES: usize = 24;

/// Sends a random stream by one template. Returns the template's counters.
pub fn check_one(sources: &Sources<'_>) -> EncodeStats {
    let (schema, root) = generate::schema(&mut Entropy(sources.schema));
    let view = schema.view(root);
    let mut sending = Entropy(sources.sending);
    let mut sender = Sender::new(view, templating(&mut sending));
    let values = vec![generate::value(&mut Entropy(sources.value), view)];
    send_all(&mut sender, values, view, Entropy(sources.updates), sending);
    sender.stats()
}

/// Sends a few values in turn by a set of templates.
pub fn check_several(sources: &Sources<'_>) -> EncodeStats {
    let (schema, root): (Schema, _) = generate::schema(&mut Entropy(sources.schema));
    let view = schema.view(root);
    let (mut sending, mut value) = (Entropy(sources.sending), Entropy(sources.value));
    let mut sender = Sender::of_several(view, templating(&mut sending));
    let values = (0..sending.below(3) + 2).map(|_| generate::value(&mut value, view)).collect();
    send_all(&mut sender, values, view, Entropy(sources.updates), sending);
    sender.stats()
}

/// Sends values of two slightly different schemas by one template.
#[allow(dead_code, reason = "not for all tests that share this")]
pub fn check_schemas(sources: &Sources<'_>) -> EncodeStats {
    let mut sending = Entropy(sources.sending);
    let mut changed = sources.schema.to_vec();
    for _ in 0..sending.below(3) + 1 {
        if let Some(place) = sources.schema.len().checked_sub(1) {
            changed[sending.below(place + 1)] = sending.below(256) as u8;
        }
    }
    let schemas = [sources.schema, &changed].map(|entropy| generate::schema(&mut Entropy(entropy)));
    let views = schemas.each_ref().map(|(schema, root)| schema.view(*root));
    let mut values = views.map(|view| generate::value(&mut Entropy(sources.value), view));
    let options = Templating { templates: 1, ..templating(&mut sending) };
    let mut sender = Sender::of_several(views[0], options);
    // An unchanged text of a different type counts as a change.
    sender.is_lenient = true;
    let mut entropy = Entropy(sources.updates);
    for message in 0..MESSAGES {
        let chosen = message % 2 * usize::from(sending.below(4) > 0);
        sender.view = views[chosen];
        send(&mut sender, &values[chosen], &mut sending);
        for _ in 0..entropy.below(3) {
            updates::update(&mut values[chosen], views[chosen], &mut entropy);
        }
    }
    sender.land();
    sender.stats()
}

/// Sends some values in turn, and changes each after it was sent.
pub fn send_all(
    sender: &mut Sender<'_, Value>,
    mut values: Vec<Value>,
    view: View<'_>,
    mut entropy: Entropy<'_>,
    mut sending: Entropy<'_>,
) {
    for _ in 0..MESSAGES {
        let is_last = entropy.0.is_empty();
        let chosen = sending.below(values.len());
        send(sender, &values[chosen], &mut sending);
        for _ in 0..entropy.below(4) {
            updates::update(&mut values[chosen], view, &mut entropy);
        }
        if is_last {
            break;
        }
    }
    sender.land();
}

/// Sends a value; sometimes with another head, after a value that cannot be sent, or while others
/// are in flight.
fn send(sender: &mut Sender<'_, Value>, value: &Value, sending: &mut Entropy<'_>) {
    match sending.below(32) {
        10 => drop(sender.send_in(value, Flight::Landed)),
        11 => sender.style.version = [Version::Soap11, Version::Soap12][sending.below(2)],
        12 => sender.style.encoding = [Use::Literal, Use::Encoded][sending.below(2)],
        13 => sender.style.headers = updates::headers(sending),
        14 => sender.style.name = QName::owned("urn:op", format!("operation{}", sending.below(3))),
        15 => send_spoilt(sender, value, sending),
        16 => sender.style.is_canonical = !sender.style.is_canonical,
        _ => {}
    }
    let flight = [Flight::Landed, Flight::Landed, Flight::Held, Flight::Frames][sending.below(4)];
    let sent = sender.send_in(value, flight);
    let may_fail = sender.is_lenient || sender.style.is_canonical && has_no_canonical_form(&sent);
    assert!(sent.is_ok() || may_fail, "a value of its schema: {sent:?}");
    if sending.below(6) == 5 {
        sender.land();
    }
}

/// Returns true if a namespace of the schema is a relative URI.
fn has_no_canonical_form<T>(sent: &Result<T, Error>) -> bool {
    sent.as_ref().is_err_and(|error| error.to_string().contains("no canonical form"))
}

fn send_spoilt(sender: &mut Sender<'_, Value>, value: &Value, sending: &mut Entropy<'_>) {
    let mut spoilt = value.clone();
    if updates::spoil(&mut spoilt, sending) {
        sender.send_in(&spoilt, Flight::Landed).expect_err("a character that XML cannot carry");
    }
}

/// Options of a template: widths, chunks, limits.
pub fn templating(entropy: &mut Entropy<'_>) -> Templating {
    let chunk = [256, 300, 512, 1000, 32 << 10][entropy.below(5)];
    Templating {
        adaptive: entropy.below(8) == 7,
        templates: entropy.below(4) + 1,
        chunk,
        split: chunk * [2, 1, 3][entropy.below(3)] + entropy.below(64),
        reserve: [32, 0, 100, 256][entropy.below(4)].min(chunk),
        width: width(entropy),
        bytes: [256 << 20, 256 << 20, 256 << 20, 4000][entropy.below(4)],
    }
}

fn width(entropy: &mut Entropy<'_>) -> Width {
    match entropy.below(8) {
        4 => Width::Maximal,
        5 => Width::Fixed([1, 5, 18, 300][entropy.below(4)]),
        6 | 7 => Width::Learned([0.0, 0.5, 0.9, 1.0][entropy.below(4)]),
        _ => Width::Exact,
    }
}

//! Differential serialization of important shapes: arrays over many chunks, values that grow and
//! shrink, errors in between.

use crate::sender::{Flight, Sender};
use deltasoap_core::MatchKind::{Content as Same, FirstTime, PartialStructural, PerfectStructural};
use deltasoap_core::schema::{
    Attribute, Builtin, ComplexElement, Compositor, Element, ElementRef, Field, OpenElement, Schema, SimpleElement, Use,
};
use deltasoap_core::soap::{Envelope, HeaderBlock, Version};
use deltasoap_core::{
    Child, Content, Node, QName, Record, Simple, SoapArray, Template, Templating, Typed, Value, Width,
};
use std::time::{Duration, Instant};

const WIDTHS: [Width; 5] = [Width::Exact, Width::Learned(0.9), Width::Fixed(1), Width::Fixed(18), Width::Maximal];

/// Chunks so small that a few items fill one, with and without reserve; and the usual ones.
fn all() -> impl Iterator<Item = Templating> {
    let sizes = [(256, 256, 0), (256, 512, 64), (1000, 1500, 100)];
    let small = sizes.into_iter().flat_map(|(chunk, split, reserve)| {
        WIDTHS.map(|width| Templating { chunk, split, reserve, width, ..Templating::default() })
    });
    small.chain([Templating::default()])
}

fn exact() -> impl Iterator<Item = Templating> {
    all().filter(|options| options.width == Width::Exact)
}

fn doubles(options: Templating) -> Sender<'static, SoapArray<f64>> {
    Sender::new(SoapArray::<f64>::view(), options)
}

/// Doubles of 1, 3, 18 and 24 characters.
const LENGTHS: [f64; 4] = [1.0, 2.5, 0.123_456_789_012_345_68, -2.225_073_858_507_201_4e-308];

fn array(count: usize, item: impl Fn(usize) -> f64) -> SoapArray<f64> {
    (0..count).map(item).collect()
}

#[test]
fn kinds_of_matches() {
    for options in exact() {
        let mut sender = doubles(options);
        let short = array(700, |i| f64::from(i as u32 % 9) + 0.5);
        let other = array(700, |i| f64::from((i as u32 + 1) % 9) + 0.5);
        assert_eq!(sender.send(&short), FirstTime);
        assert_eq!(sender.send(&short), Same);
        assert_eq!(sender.send(&other), PerfectStructural);
        assert_eq!(sender.send(&array(700, |i| if i == 350 { 0.25 } else { other[i] })), PartialStructural);
        assert_eq!(sender.send(&other), PartialStructural);
        assert_eq!(sender.send(&array(701, |i| *other.get(i).unwrap_or(&0.5))), PartialStructural);
        assert_eq!(sender.send(&array(699, |i| other[i])), PartialStructural);
        assert_eq!(sender.send(&other), PartialStructural);
        assert_eq!(sender.send(&other), Same);
        let stats = sender.stats();
        assert_eq!((stats.messages, stats.content, stats.perfect, stats.partial, stats.first), (9, 2, 1, 5, 1));
    }
}

#[test]
fn only_what_changed_is_written() {
    for options in exact() {
        let mut sender = doubles(options);
        let value = |changed: usize| array(3000, |i| if i == changed { 7.5 } else { 3.5 });
        sender.send(&value(usize::MAX));
        let before = sender.stats();
        sender.send(&value(1500));
        let stats = sender.stats() - before;
        assert_eq!((stats.leaves, stats.perfect, stats.moved), (1, 1, 0), "{options:?}");
        assert!(stats.written < 100, "{stats:?}");
    }
}

/// A value that fits its room moves nothing; a shorter one moves its end tag.
#[test]
fn room_for_the_widest_value() {
    for (chunk, width) in [256, 4096].into_iter().flat_map(|chunk| [(chunk, Width::Maximal), (chunk, Width::Fixed(24))])
    {
        let mut sender = doubles(Templating { chunk, width, ..Templating::default() });
        sender.send(&array(500, |_| 1.0));
        for turn in 0..8 {
            assert_eq!(sender.send(&array(500, |i| LENGTHS[(i + turn) % 4])), PerfectStructural);
        }
        let stats = sender.stats();
        assert_eq!((stats.moved, stats.shifts), (0, 0), "{stats:?}");
        assert!(stats.tag_moves > 0, "{stats:?}");
    }
}

#[test]
fn values_grow_and_shrink() {
    for options in all() {
        let mut sender = doubles(options);
        for turn in [0, 1, 3, 0, 2, 3, 1, 0] {
            sender.send(&array(300, |_| LENGTHS[turn]));
        }
        for turn in 0..12 {
            let item = |i: usize| LENGTHS[if (i + turn) % 7 < 2 { (i + turn) % 4 } else { 1 }];
            sender.send(&array(300, item));
        }
    }
}

/// Every single place, which includes the first and the last value of every chunk.
#[test]
fn one_value_grows_and_shrinks_at_every_place() {
    for options in all().filter(|options| options.chunk == 256) {
        let mut sender = doubles(options);
        for place in 0..64 {
            sender.send(&array(64, |i| if i == place { LENGTHS[3] } else { 1.0 }));
        }
        for (place, other) in (0..64).flat_map(|place| [(place, 60), (place, place + 1)]) {
            let is_long = |i: usize| i == place || i == other;
            sender.send(&array(64, |i| if is_long(i) { LENGTHS[2] } else { 2.5 }));
        }
    }
}

#[test]
fn arrays_grow_and_shrink() {
    for options in all() {
        let mut sender = doubles(options);
        for count in [3, 0, 1, 500, 499, 501, 2, 501, 0, 0, 900, 10, 1000, 1001, 100, 1] {
            sender.send(&array(count, |i| f64::from(i as u32) * 0.75));
            sender.send(&array(count, |i| f64::from(i as u32) * 0.75 + f64::from(i % 5 == 0)));
        }
    }
}

#[test]
fn items_come_and_go_in_the_middle() {
    for options in all() {
        let mut sender = Sender::<SoapArray<String>>::new(SoapArray::<String>::view(), options);
        let mut items: Vec<String> = (0..120).map(|i| "word & ".repeat(i % 9)).collect();
        for turn in 0..60_usize {
            let at = turn * 37 % items.len();
            match turn % 5 {
                0 => items.insert(at, format!("new {turn}")),
                1 => drop(items.remove(at)),
                2 => drop(items.drain(at..(at + 20).min(items.len()))),
                3 => drop(items.splice(at..at, (0..20).map(|i| format!("<{i}>")))),
                _ => items.rotate_left(at),
            }
            sender.send(&items.clone().into());
        }
    }
}

#[test]
fn texts_of_any_length() {
    for options in all().step_by(4) {
        let mut sender = Sender::<SoapArray<String>>::new(SoapArray::<String>::view(), options);
        for len in [0, 1, 300, 0, 100_000, 99_999, 100_001, 5, 70_000, 0] {
            let long = "x & y <".chars().cycle().take(len).collect::<String>();
            sender.send(&vec!["first".to_owned(), long.clone(), String::new(), "last".to_owned()].into());
            sender.send(&vec!["first".to_owned(), String::new(), long, "other".to_owned()].into());
        }
    }
}

#[test]
fn numbers_are_told_apart_by_their_bits() {
    let mut sender = doubles(Templating::default());
    assert_eq!(sender.send(&array(3, |_| f64::NAN)), FirstTime);
    assert_eq!(sender.send(&array(3, |_| f64::NAN)), Same);
    assert_eq!(sender.send(&array(3, |_| f64::INFINITY)), PerfectStructural);
    assert_eq!(sender.send(&array(3, |_| 0.0)), PartialStructural);
    assert_eq!(sender.send(&array(3, |_| -0.0)), PartialStructural);
}

#[test]
fn a_message_in_flight_stays_as_it_is() {
    for options in all() {
        let mut sender = doubles(options);
        for turn in 0..30_usize {
            let flight = [Flight::Held, Flight::Frames, Flight::Landed][turn % 3];
            let value = array(200 + turn % 4, |i| LENGTHS[(i * turn / 50) % 4]);
            sender.send_in(&value, flight).expect("writable");
        }
        sender.land();
    }
}

/// Sending a message again while it is in flight copies only what changes.
#[test]
fn what_does_not_change_in_flight_is_not_copied() {
    let mut sender = doubles(Templating { chunk: 1024, ..Templating::default() });
    let value = |first: f64| array(2000, |i| if i == 0 { first } else { 1.5 });
    sender.send_in(&value(1.5), Flight::Held).expect("writable");
    sender.send_in(&value(1.5), Flight::Held).expect("writable");
    sender.send_in(&value(2.5), Flight::Held).expect("writable");
    let stats = sender.stats();
    assert!(stats.copies <= 2, "{stats:?}");
    sender.land();
}

#[test]
fn behind_a_fault_the_next_message_is_right() {
    for options in all() {
        let mut sender = Sender::<SoapArray<String>>::new(SoapArray::<String>::view(), options);
        let value = |bad: usize| (0..80).map(move |i| if i == bad { "\u{1}".to_owned() } else { format!("{i}") });
        let good: SoapArray<String> = value(usize::MAX).collect();
        sender.send(&good);
        for bad in [0, 40, 79] {
            sender.send_in(&value(bad).collect(), Flight::Landed).expect_err("no character of XML");
            assert_eq!(sender.send(&good), FirstTime);
            assert_eq!(sender.send(&good), Same);
        }
    }
}

#[test]
fn another_head_is_another_message() {
    let block = |text: &str| HeaderBlock { node: Node::with_text(QName::new("urn:h", "h"), text) };
    for options in all() {
        let mut sender = doubles(options);
        let mut value = array(100, |i| f64::from(i as u32));
        for (turn, version) in [Version::Soap11, Version::Soap12, Version::Soap11].into_iter().enumerate() {
            sender.style.version = version;
            for encoding in [Use::Literal, Use::Encoded, Use::Literal] {
                sender.style.encoding = encoding;
                for headers in [vec![], vec![block("a")], vec![block("b")], vec![block("bb"), block("c")]] {
                    sender.style.headers = headers;
                    sender.send(&value);
                    value[turn * 7] += 0.5;
                    sender.send(&value);
                }
            }
        }
    }
}

#[test]
fn what_takes_too_much_is_not_kept() {
    let mut sender = doubles(Templating { bytes: 20_000, ..Templating::default() });
    for count in [100, 100_000, 100, 100, 5000, 100] {
        sender.send(&array(count, |_| 1.5));
        assert!(sender.memory() <= 20_000, "{} bytes", sender.memory());
    }
    let stats = sender.stats();
    assert!(stats.content >= 1, "{stats:?}");
}

/// Alternating messages soon find their own templates.
#[test]
fn each_message_has_its_template() {
    for options in exact() {
        let options = Templating { adaptive: false, templates: 3, ..options };
        let mut sender = Sender::of_several(SoapArray::<f64>::view(), options);
        let values = [array(500, |_| 1.5), array(700, |i| f64::from(i as u32)), array(40, |_| -1.0)];
        for value in values.iter().cycle().take(30) {
            sender.send(value);
        }
        for value in values.iter().cycle().take(12) {
            assert_eq!(sender.send(value), Same);
        }
        for turn in 0..12 {
            let mut value = values[turn % 3].clone();
            value[1] += 1.0;
            assert_ne!(sender.send(&value), FirstTime);
        }
    }
}

/// Trees that have nothing in common are written in full, mostly. What is sent is the same either
/// way; the sender checks that.
#[test]
fn trees_without_similarity_are_written_in_full() {
    let mut sender = Sender::<Node>::switching(Node::view());
    let tree = |seed: usize| {
        let child = |n: usize| Child::Element(Node::with_text(QName::owned("", format!("c{}", seed * 7 + n)), "text"));
        Node { children: (0..20 + seed % 30).map(child).collect(), ..Node::new(QName::owned("", format!("t{seed}"))) }
    };
    let in_full = (0..500).filter(|&seed| sender.send(&tree(seed)) == FirstTime).count();
    assert!(in_full > 300, "{in_full} of 500");
}

/// The most expensive updates of an array: every value longer, shorter, every second item removed,
/// restored, and one inserted at the front.
fn time_of_updates(count: usize, options: Templating) -> Duration {
    let mut template = Template::new(options);
    let (long, short) = (array(count, |_| LENGTHS[3]), array(count, |_| LENGTHS[0]));
    let half: SoapArray<f64> = array(count / 2, |i| LENGTHS[i % 2]);
    let mixed = array(count, |i| LENGTHS[i % 4]);
    let one_more = array(count + 1, |i| LENGTHS[if i == 0 { 3 } else { (i - 1) % 4 }]);
    let (name, view) = (QName::new("", "r"), SoapArray::<f64>::view());
    let begin = Instant::now();
    for value in [&short, &long, &short, &mixed, &half, &mixed, &one_more, &mixed, &long] {
        let sent = template.encode(&Envelope::element(&name, value, view));
        drop(sent.expect("writable"));
    }
    begin.elapsed()
}

/// Eight times the items take eight times the time, although every chunk is shifted, split and
/// passed.
#[test]
fn updates_take_linear_time() {
    for options in all().step_by(3) {
        let short = time_of_updates(8000, options).max(Duration::from_millis(10));
        let long = time_of_updates(64_000, options);
        assert!(long < 40 * short, "eight times the items took {long:?} after {short:?} with {options:?}");
    }
}

fn simple(schema: &mut Schema, base: Builtin) -> ElementRef {
    schema.add(Element::Simple(SimpleElement {
        name: base.name(),
        base,
        enumeration: Default::default(),
        default: None,
        packed: None,
    }))
}

fn field(name: &'static str, element: ElementRef, min: u32, max: Option<u32>) -> Field {
    Field { name: QName::new("", name), element, min, max, nillable: false, inline: false }
}

fn complex(compositor: Compositor, fields: Vec<Field>, attributes: Vec<Attribute>) -> Element {
    let (name, fields, attributes) = (QName::new("urn:t", "T"), fields.into(), attributes.into());
    Element::Complex(ComplexElement {
        name,
        compositor,
        fields,
        attributes,
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    })
}

fn int(value: i32) -> Value {
    Value::Simple(Simple::Int(value))
}

fn word(value: &str) -> Value {
    Value::Simple(Simple::String(value.to_owned()))
}

fn record(fields: Vec<Value>, attribute: Option<i32>) -> Value {
    Value::Record(Box::new(Record { fields, attributes: vec![attribute.map(Simple::Int)], others: Default::default() }))
}

/// Items with an attribute, a choice between `a` and `b`, an optional `c` and a nillable `d`.
fn items() -> (Schema, ElementRef) {
    let mut schema = Schema::new();
    let (int, text) = (simple(&mut schema, Builtin::Int), simple(&mut schema, Builtin::String));
    let members = vec![field("a", int, 1, Some(1)), field("b", text, 1, Some(1))];
    let choice = schema.add(complex(Compositor::Choice, members, Vec::new()));
    let group = Field { inline: true, ..field("group", choice, 1, Some(1)) };
    let fields = vec![group, field("c", text, 0, Some(1)), Field { nillable: true, ..field("d", int, 1, Some(1)) }];
    let attributes = vec![Attribute { name: QName::new("", "id"), element: int, required: false, default: None }];
    let item = schema.add(complex(Compositor::Sequence, fields, attributes));
    let list = schema.add(complex(Compositor::Sequence, vec![field("item", item, 0, None)], Vec::new()));
    (schema, list)
}

fn item(n: usize, turn: usize) -> Value {
    let number = n as i32 * 7;
    let is = |every: usize| (n + turn).is_multiple_of(every);
    let chosen =
        Record { fields: vec![Value::Absent, word("text")], attributes: Vec::new(), others: Default::default() };
    let other = Record { fields: vec![int(number), Value::Absent], attributes: Vec::new(), others: Default::default() };
    let group = Value::Record(Box::new(if is(3) { chosen } else { other }));
    let optional = if is(4) { Value::Absent } else { word("optional") };
    let nillable = if is(5) { Value::Nil } else { int(number) };
    record(vec![group, optional, nillable], (!is(7)).then_some(n as i32))
}

fn list(items: Vec<Value>) -> Value {
    Value::Record(Box::new(Record {
        fields: vec![Value::List(items)],
        attributes: Vec::new(),
        others: Default::default(),
    }))
}

#[test]
fn optional_elements_choices_nil_and_attributes_come_and_go() {
    let (schema, root) = items();
    for (options, encoding) in all().flat_map(|options| [(options, Use::Literal), (options, Use::Encoded)]) {
        let mut sender = Sender::<Value>::new(schema.view(root), options);
        sender.style.encoding = encoding;
        for turn in [0, 1, 2, 0, 7, 60, 61, 0] {
            sender.send(&list((0..40).map(|n| item(n, turn)).collect()));
        }
        for place in (0..40).step_by(3) {
            let turn = |n: usize| usize::from(n == place) * (place + 1);
            sender.send(&list((0..40).map(|n| item(n, turn(n))).collect()));
        }
    }
}

#[test]
fn trees_of_any_name_come_and_go() {
    let mut schema = Schema::new();
    let (int, any) = (simple(&mut schema, Builtin::Int), schema.add(Element::Any));
    let wildcard = Field { inline: true, ..field("any", any, 0, None) };
    let fields = vec![field("a", int, 1, Some(1)), wildcard, field("b", int, 1, Some(1))];
    let root = schema.add(complex(Compositor::Sequence, fields, Vec::new()));
    let tree = |n: usize, text: &str| {
        let name = QName::owned(["", "urn:x"][n % 2], format!("u{}", n % 3));
        Value::Tree(Box::new(Node::with_text(name, text)))
    };
    for options in all() {
        let mut sender = Sender::<Value>::new(schema.view(root), options);
        for turn in 0..12 {
            let trees = (0..(turn * 5) % 7).map(|n| tree(n, if n == turn / 2 { "one" } else { "another" })).collect();
            let fields = vec![int_value(turn), Value::List(trees), int_value(1)];
            sender.send(&Value::Record(Box::new(Record {
                fields,
                attributes: Vec::new(),
                others: Default::default(),
            })));
        }
    }
}

fn int_value(value: usize) -> Value {
    int(value as i32)
}

#[test]
fn a_template_of_another_schema_is_no_template() {
    let (schema, root) = items();
    let mut other = Schema::new();
    let text = simple(&mut other, Builtin::String);
    let other_root = other.add(complex(Compositor::Sequence, vec![field("item", text, 0, None)], Vec::new()));
    let (view, other_view) = (schema.view(root), other.view(other_root));
    for options in all() {
        let mut sender = Sender::<Value>::new(view, options);
        for turn in 0..4 {
            sender.view = view;
            sender.send(&list((0..10).map(|n| item(n, turn)).collect()));
            sender.view = other_view;
            sender.send(&list(vec![word("one"); 10]));
        }
    }
}

/// Items that have an attribute and an empty child in addition to a number; those of the other
/// schema have only the number.
#[test]
fn items_of_another_schema_lose_what_has_no_text() {
    let list_of = |with_child: bool, with_attribute: bool| {
        let mut schema = Schema::new();
        let int = simple(&mut schema, Builtin::Int);
        let empty = schema.add(complex(Compositor::Sequence, Vec::new(), Vec::new()));
        let fields = [field("a", int, 1, Some(1)), field("e", empty, 0, Some(1))];
        let id = Attribute { name: QName::new("", "id"), element: int, required: false, default: None };
        let (fields, attributes) = (fields[..1 + usize::from(with_child)].to_vec(), vec![id; with_attribute.into()]);
        let item = schema.add(complex(Compositor::Sequence, fields, attributes));
        let list = schema.add(complex(Compositor::Sequence, vec![field("item", item, 0, None)], Vec::new()));
        (schema, list)
    };
    let (plain, plain_root) = list_of(false, false);
    let of = |fields: Vec<Value>, attributes: Vec<Option<Simple>>| {
        list(vec![Value::Record(Box::new(Record { fields, attributes, others: Default::default() })); 10])
    };
    for (with_child, with_attribute) in [(true, false), (false, true), (true, true)] {
        let (rich, rich_root) = list_of(with_child, with_attribute);
        let child =
            Value::Record(Box::new(Record { fields: Vec::new(), attributes: Vec::new(), others: Default::default() }));
        let fields = [int(5), child][..1 + usize::from(with_child)].to_vec();
        for options in all() {
            let mut sender = Sender::<Value>::new(rich.view(rich_root), options);
            sender.send(&of(fields.clone(), vec![Some(Simple::Int(1)); with_attribute.into()]));
            sender.view = plain.view(plain_root);
            sender.send(&of(vec![int(5)], Vec::new()));
        }
    }
}

/// In a tree, the room of a number's field is white space.
#[test]
fn trees_in_place_of_typed_elements_get_no_white_space() {
    let (mut typed, mut open) = (Schema::new(), Schema::new());
    let (number, text) = (simple(&mut typed, Builtin::Int), simple(&mut typed, Builtin::String));
    let fields = vec![field("n", number, 1, Some(1)), field("s", text, 1, Some(1)), field("m", number, 1, Some(1))];
    let inner = typed.add(complex(Compositor::Sequence, fields, Vec::new()));
    let typed_root = typed.add(complex(Compositor::Sequence, vec![field("x", inner, 1, Some(1))], Vec::new()));
    let any = open.add(Element::Any);
    let open_root = open.add(complex(Compositor::Sequence, vec![field("x", any, 1, Some(1))], Vec::new()));
    let of = |value| {
        Value::Record(Box::new(Record { fields: vec![value], attributes: Vec::new(), others: Default::default() }))
    };
    let numbers = |s: &str, m| of(record(vec![int(7), word(s), int(m)], None));
    let tree = |n: &str, s: &str, m: &str| {
        let texts = [("n", n), ("s", s), ("m", m)].into_iter();
        let children = texts.map(|(name, text)| Child::Element(Node::with_text(QName::new("", name), text)));
        of(Value::Tree(Box::new(Node { children: children.collect(), ..Node::default() })))
    };
    for options in all().filter(|options| options.width != Width::Exact) {
        for (n, s, m) in [("7", "one", "12"), ("8", "two", "123"), ("77", "t", "1"), ("7", "three letters", "12")] {
            // A set of templates, because equal texts of different types count as changes.
            let mut sender =
                Sender::<Value>::of_several(typed.view(typed_root), Templating { templates: 1, ..options });
            sender.send(&numbers("three letters", 123_456));
            sender.send(&numbers("one", 12));
            sender.view = open.view(open_root);
            sender.send(&tree(n, s, m));
            sender.send(&tree("1", "2", "3"));
        }
    }
}

/// A body that may have several types names its own in both encodings; otherwise it would be read
/// as a tree.
#[test]
fn a_body_of_an_open_type_tells_its_type() {
    let mut schema = Schema::new();
    let number = simple(&mut schema, Builtin::Int);
    let point = complex(Compositor::Sequence, vec![field("n", number, 1, Some(1))], Vec::new());
    let point = schema.add(point);
    let name = QName::new("urn:t", "T");
    let root = schema.add(Element::Open(OpenElement::new(None, vec![(name.clone(), point)])));
    for options in all() {
        for encoding in [Use::Literal, Use::Encoded] {
            let mut sender = Sender::<Value>::new(schema.view(root), options);
            sender.style.encoding = encoding;
            sender.witness = Some(|sent, _| assert!(String::from_utf8_lossy(sent).contains(":T\"")));
            for n in [1, 22, 22, 333] {
                sender.send(&Value::typed(
                    name.clone(),
                    Value::Record(Box::new(Record {
                        fields: vec![int(n)],
                        attributes: Vec::new(),
                        others: Default::default(),
                    })),
                ));
            }
        }
    }
}

#[test]
fn a_value_of_another_shape_is_an_error() {
    let (schema, root) = items();
    let view = schema.view(root);
    for options in all() {
        let mut sender = Sender::<Value>::new(view, options);
        let good = list((0..10).map(|n| item(n, 0)).collect());
        sender.send(&good);
        for bad in [list(vec![item(0, 0), word("no record")]), list(vec![record(vec![int(1)], None)]), int(1)] {
            sender.send_in(&bad, Flight::Landed).expect_err("another shape");
            sender.send(&good);
        }
        sender.send(&Value::vacant(view));
    }
}

//! Templates of typed messages: each message equals the message written in full.

use crate::sender::{Flight, Sender};
use deltasoap::engine::{Buffer, MatchKind, Template, Templates, Templating, Typed, Width};
use deltasoap::lexical::{Base64, BigEndian};
use deltasoap::schema::{QName, Use};
use deltasoap::soap::{Envelope, HeaderBlock, Version};
use deltasoap::types::{AnySimple, Child, Empty, Node, Packed, Simple};
use deltasoap::{Binary, Message, Nillable, Soap, SoapArray};
use deltasoap_streams::prng::SplitMix64;

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Point {
        #[soap(attribute)]
        id: Option<u32>,
        x: f64,
        y: Option<f64>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(namespace = "urn:flat", qualified)]
    struct Flat {
        a: i32,
        b: String,
        c: f64,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Price {
        #[soap(attribute)]
        currency: Option<String>,
        #[soap(text)]
        amount: f64,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    enum Shape {
        Circle(f64),
        Polygon(Point),
        Inner(SoapArray<i32>),
        Nothing,
    }

    #[derive(Debug, Clone, Copy, PartialEq, Soap)]
    enum Kind {
        A,
        Longer,
        LongestOfAll,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    enum Code {
        A,
        Longer,
        #[soap(other)]
        Other(String),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Tree {
        name: String,
        next: Option<Box<Tree>>,
        children: Vec<Tree>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(message, namespace = "urn:t")]
    struct Request {
        #[soap(attribute)]
        version: Option<String>,
        number: u64,
        kind: Kind,
        codes: Vec<Code>,
        doubles: Vec<f64>,
        points: Vec<Point>,
        flats: Vec<Flat>,
        array: SoapArray<Flat>,
        numbers: Option<SoapArray<f64>>,
        words: SoapArray<Nillable<String>>,
        notes: Vec<Nillable<String>>,
        note: Option<Nillable<Flat>>,
        price: Price,
        #[soap(inline)]
        shapes: Vec<Shape>,
        boxed: Option<Shape>,
        any: Vec<AnySimple>,
        name: Option<QName>,
        tree: Option<Box<Tree>>,
        node: Option<Node>,
        empty: Option<Empty>,
        data: Option<Base64>,
        list: Option<Packed<f64>>,
        shorts: Vec<Packed<i16, BigEndian>>,
        binaries: Vec<Binary>,
        picture: Vec<Picture>,
        #[soap(inline)]
        last: Shape,
    }

    /// Bytes with an attribute.
    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Picture {
        #[soap(attribute)]
        kind: Option<u32>,
        #[soap(text)]
        data: Binary,
    }
}

fn request() -> Request {
    let numbers = || (0..40).map(|n| f64::from(n) * 0.25);
    Request {
        version: Some("1".to_owned()),
        number: 17,
        kind: Kind::Longer,
        codes: vec![Code::A, Code::Other("b & c".to_owned()), Code::Longer],
        doubles: numbers().collect(),
        points: (0..20).map(point).collect(),
        flats: (0..30).map(flat).collect(),
        array: (0..30).map(flat).collect(),
        numbers: Some(numbers().collect()),
        words: vec![Nillable::Nil, Nillable::Value("word".to_owned())].into(),
        notes: vec![Nillable::Value("a note".to_owned()), Nillable::Nil],
        note: Some(Nillable::Value(flat(3))),
        price: Price { currency: Some("EUR".to_owned()), amount: 9.99 },
        shapes: vec![Shape::Circle(1.5), Shape::Nothing, Shape::Polygon(point(1))],
        boxed: Some(Shape::Circle(2.5)),
        any: vec![AnySimple(Simple::Int(5)), AnySimple::from("text")],
        name: Some(QName::new("urn:q", "local")),
        tree: Some(Box::new(tree(3))),
        node: Some(node("urn:n", "text")),
        empty: Some(Empty),
        data: Some(Base64(vec![1, 2, 3])),
        list: Some(numbers().collect::<Vec<f64>>().into()),
        shorts: vec![vec![1, -2, 3].into(), Packed::part("a@b"), Packed::default()],
        binaries: vec![vec![1, 2, 3].into(), Binary::part("a@b"), Binary::default()],
        picture: vec![
            Picture { kind: None, data: Binary::part("a@b") },
            Picture { kind: Some(1), data: vec![1].into() },
        ],
        last: Shape::Nothing,
    }
}

fn point(n: u32) -> Point {
    let is = |every: u32| n.is_multiple_of(every);
    Point { id: is(3).then_some(n), x: f64::from(n) / 3.0, y: is(2).then_some(f64::from(n)) }
}

fn flat(n: u32) -> Flat {
    Flat { a: n as i32, b: format!("flat & {n}"), c: f64::from(n) / 8.0 }
}

fn tree(depth: usize) -> Tree {
    let children = (0..depth).map(tree).collect();
    Tree { name: format!("depth {depth}"), next: depth.checked_sub(1).map(|depth| Box::new(tree(depth))), children }
}

fn node(namespace: &'static str, text: &str) -> Node {
    let mut node = Node::new(QName::new(namespace, "any"));
    let inner = Node::with_text(QName::new("", "inner"), text);
    node.attributes.push((QName::new(namespace, "a"), text.into()));
    node.children = vec![Child::Element(inner.clone()), Child::Text(" mixed ".into()), Child::Element(inner)];
    node
}

type Random = SplitMix64;
type Update = fn(&mut Request, &mut Random);

/// Differences between messages.
const UPDATES: [Update; 41] = [
    |_, _| {},
    |all, random| all.number = number(random),
    |all, random| all.number = 10 + number(random) % 90,
    |all, random| all.version = random.one_in(2).then(|| text(random)),
    |all, random| all.kind = [Kind::A, Kind::Longer, Kind::LongestOfAll][index(random, 3)],
    |all, random| edit(&mut all.codes, random, |item, random| *item = code(random)),
    |all, random| edit(&mut all.doubles, random, |item, random| *item = double(random)),
    |all, random| all.doubles.iter_mut().for_each(|item| *item = double(random)),
    |all, random| all.doubles.resize(index(random, 2000), 0.1),
    |all, random| all.doubles.truncate(index(random, 60)),
    |all, random| edit(&mut all.points, random, |item, random| *item = point(number(random) as u32 % 1000)),
    |all, random| edit(&mut all.points, random, |item, random| item.y = random.one_in(2).then_some(1.0)),
    |all, random| edit(&mut all.flats, random, |item, random| *item = flat(number(random) as u32)),
    |all, random| edit(&mut all.flats, random, |item, random| item.b = text(random)),
    |all, random| all.flats = (0..number(random) as u32 % 300).map(flat).collect(),
    |all, random| edit(&mut all.array, random, |item, random| item.c = double(random)),
    |all, random| all.array = (0..number(random) as u32 % 300).map(flat).collect(),
    |all, random| all.numbers = random.one_in(2).then(|| (0..index(random, 100)).map(|n| n as f64).collect()),
    |all, random| edit(&mut all.words, random, |item, random| *item = nillable(random)),
    |all, random| edit(&mut all.notes, random, |item, random| *item = nillable(random)),
    |all, _| all.note = Some(Nillable::Nil),
    |all, random| all.note = random.one_in(2).then(|| Nillable::Value(flat(number(random) as u32))),
    |all, random| all.price.amount = double(random),
    |all, random| all.price.currency = random.one_in(2).then(|| text(random)),
    |all, random| edit(&mut all.shapes, random, |item, random| *item = shape(random)),
    |all, random| all.boxed = random.one_in(3).then(|| shape(random)),
    |all, random| all.last = shape(random),
    |all, random| edit(&mut all.any, random, |item, random| *item = any(random)),
    |all, random| all.name = Some(QName::new(["urn:q", "urn:t", ""][index(random, 3)], "local")),
    |all, random| all.tree = random.one_in(2).then(|| Box::new(tree(index(random, 5)))),
    |all, random| all.node = random.one_in(2).then(|| node(["urn:n", "urn:t", ""][index(random, 3)], &text(random))),
    |all, random| all.empty = random.one_in(2).then_some(Empty),
    |all, random| all.data = random.one_in(2).then(|| Base64(text(random).into_bytes())),
    |all, random| all.list = Some((0..index(random, 50)).map(|_| double(random)).collect::<Vec<f64>>().into()),
    |all, random| edit(&mut all.shorts, random, |item, random| *item = shorts(random)),
    |all, random| all.shorts = (0..index(random, 9)).map(|_| shorts(random)).collect(),
    |all, random| edit(&mut all.binaries, random, |item, random| *item = binary(random)),
    |all, random| all.binaries = (0..index(random, 9)).map(|_| binary(random)).collect(),
    |all, random| edit(&mut all.picture, random, |item, random| item.data = binary(random)),
    |all, random| edit(&mut all.picture, random, |item, random| item.kind = random.one_in(2).then_some(7)),
    |all, _| *all = request(),
];

fn binary(random: &mut Random) -> Binary {
    match random.below(3) {
        0 => Binary::part(&format!("{}@b", random.below(20))),
        1 => Binary::part("a@b"),
        _ => text(random).into_bytes().into(),
    }
}

fn shorts(random: &mut Random) -> Packed<i16, BigEndian> {
    match random.below(4) {
        0 => Packed::part(&format!("{}@b", random.below(20))),
        _ => (0..index(random, 50)).map(|_| random.next_u64() as i16).collect::<Vec<_>>().into(),
    }
}

fn index(random: &mut Random, bound: usize) -> usize {
    random.below(bound as u32) as usize
}

fn number(random: &mut Random) -> u64 {
    random.next_u64() >> index(random, 64)
}

fn double(random: &mut Random) -> f64 {
    match random.below(4) {
        0 => f64::from(random.below(10)),
        1 => f64::from(random.below(1000)) / 8.0,
        2 => f64::from_bits(random.next_u64() & !(1 << 62)),
        _ => [0.0, -0.0, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE][index(random, 5)],
    }
}

fn text(random: &mut Random) -> String {
    let len = [0, 1, 5, 20, 300, 3000][index(random, 6)];
    "some & text <".chars().cycle().take(index(random, len + 1)).collect()
}

fn nillable(random: &mut Random) -> Nillable<String> {
    if random.one_in(3) { Nillable::Nil } else { Nillable::Value(text(random)) }
}

fn code(random: &mut Random) -> Code {
    match random.below(3) {
        0 => Code::A,
        1 => Code::Longer,
        _ => Code::Other(text(random)),
    }
}

fn shape(random: &mut Random) -> Shape {
    match random.below(4) {
        0 => Shape::Circle(double(random)),
        1 => Shape::Polygon(point(random.below(100))),
        2 => Shape::Inner((0..random.below(9) as i32).collect()),
        _ => Shape::Nothing,
    }
}

fn any(random: &mut Random) -> AnySimple {
    match random.below(3) {
        0 => AnySimple(Simple::Int(random.below(100) as i32)),
        1 => AnySimple(Simple::Double(double(random))),
        _ => AnySimple::from(text(random).as_str()),
    }
}

/// Changes some items; or inserts or removes one, or reverses all.
fn edit<T: Clone>(items: &mut Vec<T>, random: &mut Random, change: fn(&mut T, &mut Random)) {
    if items.is_empty() {
        return;
    }
    let at = index(random, items.len());
    match random.below(8) {
        0 => items.insert(at, items[at].clone()),
        1 => drop(items.remove(at)),
        2 => items.rotate_left(at),
        3 => items.iter_mut().skip(at).step_by(3).for_each(|item| change(item, random)),
        _ => change(&mut items[at], random),
    }
}

fn all() -> impl Iterator<Item = Templating> {
    let widths = [Width::Exact, Width::Learned(0.8), Width::Fixed(12), Width::Maximal];
    widths.into_iter().flat_map(|width| {
        [(256, 300, 0), (32 << 10, 64 << 10, 2 << 10)].map(|(chunk, split, reserve)| Templating {
            chunk,
            split,
            reserve,
            width,
            ..Templating::default()
        })
    })
}

fn sender<T: Message + std::fmt::Debug>(options: Templating) -> Sender<'static, T> {
    let mut sender = Sender::<T>::new(T::view(), options);
    sender.style.name = T::ELEMENT;
    sender
}

fn styles() -> [(Version, Use); 3] {
    [(Version::Soap11, Use::Literal), (Version::Soap11, Use::Encoded), (Version::Soap12, Use::Encoded)]
}

#[test]
fn each_update_alone() {
    for (options, style) in all().zip(styles().into_iter().cycle()) {
        let mut sender = sender::<Request>(options);
        (sender.style.version, sender.style.encoding) = style;
        let mut random = Random::new(7);
        for update in UPDATES {
            let mut value = request();
            sender.send(&value);
            update(&mut value, &mut random);
            sender.send(&value);
        }
    }
}

#[test]
fn many_updates_one_after_the_other() {
    for (seed, options) in all().enumerate() {
        let mut sender = sender::<Request>(options);
        let (mut random, mut value) = (Random::stream(1, seed as u64), request());
        for turn in 0..100 {
            (sender.style.version, sender.style.encoding) = styles()[turn / 34];
            for _ in 0..random.below(4) {
                UPDATES[index(&mut random, UPDATES.len())](&mut value, &mut random);
            }
            let flight = [Flight::Landed, Flight::Held, Flight::Frames][index(&mut random, 3)];
            sender.send_in(&value, flight).expect("writable");
            if random.one_in(10) {
                sender.land();
            }
        }
        sender.land();
    }
}

#[test]
fn several_requests_in_turn() {
    for (seed, options) in all().enumerate() {
        let mut sender = Sender::<Request>::of_several(Request::view(), options);
        sender.style.name = Request::ELEMENT;
        let mut random = Random::stream(2, seed as u64);
        let mut values = [request(), request(), request()];
        for turn in 0..40 {
            let value = &mut values[index(&mut random, 3)];
            UPDATES[index(&mut random, UPDATES.len())](value, &mut random);
            sender.style.headers = match turn % 10 {
                9 => vec![HeaderBlock { node: node("urn:h", &text(&mut random)) }],
                _ => Vec::new(),
            };
            sender.send(value);
        }
    }
}

#[test]
fn a_message_without_change_is_the_same_message() {
    for (options, style) in all().flat_map(|options| styles().map(|style| (options, style))) {
        let mut sender = sender::<Request>(options);
        (sender.style.version, sender.style.encoding) = style;
        assert_eq!(sender.send(&request()), MatchKind::FirstTime);
        assert_eq!(sender.send(&request()), MatchKind::Content);
    }
}

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(message)]
    struct Other {
        number: u64,
        doubles: Vec<f64>,
    }
}

/// One template may get messages of any type, although it is useful for one only.
#[test]
fn messages_of_two_types() {
    let mut template = Template::new(Templating::default());
    let mut templates = Templates::new(Templating::default());
    let other = Other { number: 17, doubles: request().doubles };
    for _ in 0..3 {
        check(&mut template, &mut templates, &request());
        check(&mut template, &mut templates, &other);
    }
}

fn check<T: Message>(template: &mut Template, templates: &mut Templates, value: &T) {
    let full = Envelope::new(value).to_vec().expect("writable");
    let sent = template.encode(&Envelope::new(value)).expect("writable");
    assert_eq!(sent.to_vec(), full);
    let sent = templates.encode(&Envelope::new(value)).expect("writable");
    assert_eq!(sent.to_vec(), full);
}

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(rename_all = "lowercase")]
    enum Part {
        X,
        I(i32),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(message)]
    struct Parts {
        #[soap(inline)]
        parts: Vec<Part>,
        i: Vec<i32>,
    }
}

/// Items that stood between other elements are not merged with them.
#[test]
fn elements_between_items_go_away() {
    let parts = [Part::X, Part::I(1), Part::X, Part::I(2), Part::X, Part::I(3)];
    let mixed = Parts { parts: parts.to_vec(), i: Vec::new() };
    let alone = Parts { parts: Vec::new(), i: vec![1, 2, 3] };
    for options in all() {
        let mut sender = sender::<Parts>(options);
        for value in [&mixed, &alone, &mixed, &mixed, &alone, &alone] {
            sender.send(value);
        }
    }
}

/// Callers that alternate between a few messages soon rewrite none of them.
#[test]
fn messages_that_alternate_get_a_template_each() {
    let other =
        |first: u64| Other { number: first, doubles: (0..500).map(|n| (first * 1000 + n) as f64 + 0.5).collect() };
    for count in 2..=4 {
        let mut templates = Templates::new(Templating { adaptive: false, ..Templating::default() });
        for turn in 0..40 {
            let value = other(turn % count);
            let sent = templates.encode(&Envelope::new(&value)).expect("writable");
            let full = Envelope::new(&value).write(Buffer::new()).expect("writable");
            assert_eq!(sent.to_vec(), full.as_slice());
            assert!(turn < 20 || sent.kind() == MatchKind::Content, "{count} messages, turn {turn}: {:?}", sent.kind());
        }
        assert_eq!(templates.len() as u64, count);
    }
}

/// Messages that have nothing in common are written in full most of the time.
#[test]
fn messages_without_likeness_are_written_in_full() {
    let mut templates = Templates::new(Templating { templates: 1, ..Templating::default() });
    let mut random = SplitMix64::new(7);
    for _ in 0..300 {
        let mut word = || format!("{:x}", random.next_u64() >> (random.next_u64() % 60));
        let words = Words { word: (0..40).map(|_| word()).collect() };
        let sent = templates.encode(&Envelope::new(&words)).expect("writable");
        let full = Envelope::new(&words).write(Buffer::new()).expect("writable");
        assert_eq!(sent.to_vec(), full.as_slice());
    }
    let stats = templates.stats();
    assert_eq!(stats.messages, 300);
    assert_eq!(stats.first + stats.partial + stats.perfect + stats.content, 300);
}

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(message)]
    struct Words {
        word: Vec<String>,
    }
}

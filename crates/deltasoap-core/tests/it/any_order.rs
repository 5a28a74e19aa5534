//! Structs whose fields come in any order (`xs:all`, and all of SOAP encoding), compared with the
//! previous message.

use crate::streams::{self, Stream};
use deltasoap_checkpoints::{Bases, Matcher, Portions, State};
use deltasoap_core::decode::Decoder;
use deltasoap_core::schema::{
    ArrayElement, Builtin, ComplexElement, Compositor, Element, ElementRef, Field, Schema, SimpleElement,
};
use deltasoap_core::{Checkpoints, DecodeOptions, Differential, DifferentialStats, QName, Tolerance, Value};
use deltasoap_test_support::Chance;

const EXACT: Differential = Differential { checkpoints: Checkpoints::Leaf, ..Differential::OFF };

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

pub fn complex(schema: &mut Schema, compositor: Compositor, fields: Vec<Field>) -> ElementRef {
    schema.add(Element::Complex(ComplexElement {
        name: QName::new("urn:t", "T"),
        compositor,
        fields: fields.into(),
        attributes: Default::default(),
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    }))
}

fn field(name: &'static str, element: ElementRef, min: u32, max: Option<u32>) -> Field {
    Field { name: QName::new("", name), element, min, max, nillable: false, inline: false }
}

/// A struct of six fields in any order: numbers, an array of numbers, an array of structs, a list's
/// wrapper, and an inner struct of the same kind.
fn described(schema: &mut Schema, chance: &mut Chance, depth: usize) -> ElementRef {
    let int = schema.add(Element::Simple(SimpleElement {
        name: Builtin::Int.name(),
        base: Builtin::Int,
        enumeration: Default::default(),
        default: None,
        packed: None,
    }));
    let array = |schema: &mut Schema, item| {
        schema.add(Element::Array(ArrayElement {
            name: QName::new("urn:t", "A"),
            item_name: QName::new("", "item"),
            item,
            item_type: QName::new("urn:t", "I"),
            nillable: false,
            dimensions: 1,
        }))
    };
    let numbers = array(schema, int);
    let mut kinds = vec![int, int, numbers];
    if depth > 0 {
        let inner = described(schema, chance, depth - 1);
        let inners = array(schema, inner);
        let list = complex(schema, Compositor::Sequence, vec![field("x", inner, 0, None)]);
        kinds.extend([inner, inners, list]);
    }
    let fields = NAMES.map(|name| field(name, kinds[chance.below(kinds.len())], u32::from(chance.one_in(3)), Some(1)));
    complex(schema, Compositor::All, fields.into())
}

/// A message as a tree, so that it is easy to change.
#[derive(Clone)]
enum Part {
    Text(String),
    Struct(Vec<(&'static str, Part)>),
    Items(&'static str, Vec<Part>),
}

fn part(schema: &Schema, element: ElementRef, chance: &mut Chance) -> Part {
    let view = schema.view(element);
    match view.element {
        Element::Array(array) => {
            Part::Items("item", (0..chance.below(6)).map(|_| part(schema, array.item, chance)).collect())
        }
        Element::Complex(all) if all.compositor == Compositor::All => {
            let mut fields: Vec<_> =
                NAMES.into_iter().zip(&all.fields[..]).filter(|(_, it)| it.min > 0 || !chance.one_in(4)).collect();
            if chance.one_in(3) {
                let at = chance.below(fields.len().max(1));
                fields.rotate_left(at);
            }
            Part::Struct(fields.into_iter().map(|(name, field)| (name, part(schema, field.element, chance))).collect())
        }
        Element::Complex(list) => {
            Part::Items("x", (0..chance.below(4)).map(|_| part(schema, list.fields[0].element, chance)).collect())
        }
        _ => Part::Text(chance.below(2000).to_string()),
    }
}

/// Changes a part somewhere: a text, the order of fields, or which fields and items are present.
fn change(part: &mut Part, chance: &mut Chance) {
    match part {
        Part::Text(text) if chance.one_in(12) => *text = "no number".to_owned(),
        Part::Text(text) => *text = chance.below(200_000).to_string(),
        Part::Items(_, items) if items.is_empty() => {}
        Part::Items(_, items) => {
            let at = chance.below(items.len());
            match chance.below(6) {
                0 => drop(items.remove(at)),
                1 => items.insert(at, items[at].clone()),
                _ => change(&mut items[at], chance),
            }
        }
        Part::Struct(fields) if fields.is_empty() => {}
        Part::Struct(fields) => {
            let (at, other) = (chance.below(fields.len()), chance.below(fields.len()));
            match chance.below(12) {
                0 => fields.swap(at, other),
                1 => drop(fields.remove(at)),
                // A field that occurs twice.
                2 => fields.insert(other, fields[at].clone()),
                3 => {
                    let field = fields.remove(at);
                    fields.push(field);
                }
                _ => change(&mut fields[at].1, chance),
            }
        }
    }
}

fn write(part: &Part, out: &mut String) {
    match part {
        Part::Text(text) => out.push_str(text),
        Part::Struct(fields) => fields.iter().for_each(|(name, part)| element(name, part, out)),
        Part::Items(name, items) => items.iter().for_each(|part| element(name, part, out)),
    }
}

fn element(name: &str, part: &Part, out: &mut String) {
    out.push_str(&format!("<{name}>"));
    write(part, out);
    out.push_str(&format!("</{name}>"));
}

fn document(part: &Part) -> String {
    let mut out = String::new();
    element("r", part, &mut out);
    out
}

/// Reads a random stream in chunks, next to a decoder that compares nothing.
fn check(seed: u64, differential: Differential) -> DifferentialStats {
    let mut chance = Chance::seeded(seed);
    let mut schema = Schema::new();
    let root = described(&mut schema, &mut chance, 2);
    let mut stream = Stream::<Value>::new(schema.view(root), DecodeOptions { differential, ..Default::default() });
    let mut message = part(&schema, root, &mut chance);
    for _ in 0..8 {
        let chunk = [usize::MAX, usize::MAX, 1, 7, 40][chance.below(5)];
        let before = message.clone();
        let is_read = stream.next(document(&message).as_bytes(), chunk).is_ok();
        if !is_read && chance.one_in(2) {
            message = before;
        }
        (0..chance.below(4)).for_each(|_| change(&mut message, &mut chance));
    }
    stream.stats()
}

#[test]
fn fields_move_come_and_go_anywhere() {
    let mut stats = DifferentialStats::default();
    for seed in 0..600 {
        stats += check(seed, EXACT);
        check(seed, Differential { adaptive: true, ..EXACT });
    }
    assert!(stats.to_fast > 400 && stats.fast_bytes > stats.regular_bytes, "{stats:?}");
}

/// Portions of a few bytes up to a few fields, with checkpoints of each form.
#[test]
fn policies_follow_fields_that_move_come_and_go() {
    for state in State::ALL {
        let mut stats = DifferentialStats::default();
        for seed in 0..150 {
            let mut chance = Chance::seeded(seed);
            let size = [1, 5, 16, 40, 120][chance.below(5)];
            let bases = if chance.one_in(2) { Bases::First } else { Bases::Interrupts };
            let portions = Portions { state, size, bases, probe: chance.one_in(2), ..Portions::default() };
            stats += check(seed, Differential { checkpoints: portions.into(), adaptive: false });
        }
        assert!(stats.to_fast > 150 && stats.fast_bytes > stats.regular_bytes, "{state:?} {stats:?}");
    }
}

/// Three messages with an array of structs in SOAP encoding; some values differ in the second and
/// third.
fn encoded_structs(state: State, bases: Bases, fields: &[usize]) -> DifferentialStats {
    const COUNT: usize = 12;
    let mut schema = Schema::new();
    let described = texts(&mut schema);
    let item = complex(&mut schema, Compositor::All, described);
    let root = schema.add(Element::Array(ArrayElement {
        name: QName::new("urn:t", "A"),
        item_name: QName::new("", "item"),
        item,
        item_type: QName::new("urn:t", "T"),
        nillable: false,
        dimensions: 1,
    }));
    let document = |version: usize| {
        let value = |item: usize, name: usize| {
            format!("{}{}", "text ".repeat(20), if item == 7 && name == 3 { version } else { 0 })
        };
        let one = |item: usize, name: usize| format!("<{0}>{1}</{0}>", NAMES[name], value(item, name));
        let item = |item: usize| fields.iter().map(|&name| one(item, name)).collect::<String>();
        format!("<r>{}</r>", (0..COUNT).map(|at| format!("<item>{}</item>", item(at))).collect::<String>())
    };
    let portions = Portions { state, matcher: Matcher::Crc32, bases, size: 64, ..Portions::default() };
    let differential = Differential { checkpoints: portions.into(), adaptive: false };
    let options = DecodeOptions { differential, ..Default::default() };
    let mut stream = Stream::<Value>::new(schema.view(root), options);
    for version in [1, 2, 3] {
        stream.next(document(version).as_bytes(), usize::MAX).expect("a valid message");
    }
    stream.stats()
}

/// A struct longer than a few portions has a group, whatever the order of its fields, and whichever
/// are present.
#[test]
fn lightweight_checkpoints_have_groups_in_structs_in_any_order() {
    for fields in [&[0, 1, 2, 3, 4, 5][..], &[5, 2, 3, 1, 0, 4], &[0, 3, 5]] {
        let full = encoded_structs(State::Full, Bases::Interrupts, fields);
        for bases in [Bases::Interrupts, Bases::First] {
            let light = encoded_structs(State::Lightweight, bases, fields);
            let what = format!("{fields:?} {bases:?}\n{full:?}\n{light:?}");
            assert!(4 * light.memory < full.memory, "{what}");
            assert!(light.fast_bytes >= full.fast_bytes && light.regular_bytes <= full.regular_bytes, "{what}");
        }
    }
}

/// If a sequence may come in any order, every message is read in full: nothing is compared,
/// whatever the checkpoints, and no field is read twice.
#[test]
fn a_sequence_in_any_order_is_not_compared() {
    let text = |name: &str, text: &str| format!("<{name}>{}{text}</{name}>", "text ".repeat(20));
    let document = |last: [(&str, &str); 2]| {
        let first: String = NAMES[..4].iter().map(|name| text(name, "")).collect();
        format!("<r>{first}{}</r>", last.map(|(name, of)| text(name, of)).concat())
    };
    let [one, other, twice] =
        [[("e", "1"), ("f", "1")], [("f", "2"), ("e", "2")], [("e", "3"), ("b", "3")]].map(document);
    for differential in [1, 16, 64].into_iter().flat_map(streams::all) {
        let read = |tolerance| {
            let mut schema = Schema::new();
            let fields = texts(&mut schema);
            let root = complex(&mut schema, Compositor::Sequence, fields);
            let options = DecodeOptions { tolerance, differential, ..Default::default() };
            let mut stream = Stream::<Value>::new(schema.view(root), options);
            let read =
                [&one, &twice, &one, &other, &one, &one].map(|it| stream.next(it.as_bytes(), usize::MAX).is_ok());
            (read, stream.stats())
        };
        let (in_any_order, stats) = read(Tolerance::AnyOrder);
        assert_eq!(in_any_order, [true, false, true, true, true, true]);
        assert_eq!((stats.compared, stats.to_fast, stats.fast_bytes), (0, 0, 0), "{differential:?} {stats:?}");
        // The same messages in strict mode, in which one is out of order.
        let (in_order, stats) = read(Tolerance::Strict);
        assert_eq!(in_order, [true, false, true, false, true, true]);
        assert!(stats.compared > 0, "{differential:?} {stats:?}");
    }
}

/// Optional texts.
fn texts(schema: &mut Schema) -> Vec<Field> {
    let text = schema.add(Element::Simple(SimpleElement {
        name: Builtin::String.name(),
        base: Builtin::String,
        enumeration: Default::default(),
        default: None,
        packed: None,
    }));
    NAMES.iter().map(|&name| field(name, text, 0, Some(1))).collect()
}

/// Reads a stream of two documents with numbers in any order. Returns the results, and the
/// counters.
fn pair(fields: &[(&'static str, u32)], documents: [&str; 3]) -> (Vec<bool>, DifferentialStats) {
    let mut schema = Schema::new();
    let int = schema.add(Element::Simple(SimpleElement {
        name: Builtin::Int.name(),
        base: Builtin::Int,
        enumeration: Default::default(),
        default: None,
        packed: None,
    }));
    let fields = fields.iter().map(|&(name, min)| field(name, int, min, Some(1))).collect();
    let root = complex(&mut schema, Compositor::All, fields);
    let options = DecodeOptions { differential: EXACT, ..Default::default() };
    let mut stream = Stream::<Value>::new(schema.view(root), options);
    let read = documents.map(|document| stream.next(document.as_bytes(), usize::MAX).is_ok());
    (read.into(), stream.stats())
}

#[test]
fn what_is_skipped_may_not_hold_a_field_again() {
    let first = "<r><a>1</a><b>2</b><c>3</c></r>";
    let (read, _) = pair(&[("a", 0), ("b", 0), ("c", 0)], [first, "<r><a>5</a><c>4</c><b>2</b><c>3</c></r>", first]);
    assert_eq!(read, [true, false, true]);
}

#[test]
fn a_field_that_is_gone_is_missed() {
    let first = "<r><a>1</a><b>2</b><c>3</c></r>";
    let (read, _) = pair(&[("a", 0), ("b", 1), ("c", 0)], [first, "<r><a>5</a><c>3</c></r>", first]);
    assert_eq!(read, [true, false, true]);
}

#[test]
fn equal_structs_are_skipped_whole() {
    let first = "<r><a>1</a><b>2</b><c>3</c></r>";
    let (_, stats) = pair(&[("a", 0), ("b", 1), ("c", 0)], [first, first, first]);
    assert_eq!((stats.compared, stats.to_regular), (2, 2), "{stats:?}");
    assert_eq!(stats.regular_bytes, "<a>1</a><b>2</b><c>3</c>".len() as u64, "{stats:?}");
}

/// Returns the time of a second message with `structs` structs, in each of which one field differs.
fn time(compositor: Compositor, structs: usize) -> std::time::Duration {
    let mut schema = Schema::new();
    let int = schema.add(Element::Simple(SimpleElement {
        name: Builtin::Int.name(),
        base: Builtin::Int,
        enumeration: Default::default(),
        default: None,
        packed: None,
    }));
    let fields = vec![field("a", int, 1, Some(1)), field("b", int, 0, Some(1)), field("c", int, 0, Some(1))];
    let item = complex(&mut schema, compositor, fields);
    let root = complex(&mut schema, Compositor::Sequence, vec![field("x", item, 0, None)]);
    let document = |version: usize| {
        let item = |at: usize| format!("<x><a>1000000000</a><b>{}</b><c>{at}</c></x>", at % 7 + version);
        format!("<r>{}</r>", (0..structs).map(item).collect::<String>())
    };
    let mut decoder = Decoder::new(DecodeOptions { differential: EXACT, ..Default::default() });
    let mut operation = crate::streams::Operation::<Value>::new(schema.view(root));
    decoder.decode(&mut operation, document(0).as_bytes()).unwrap();
    let (second, start) = (document(1), std::time::Instant::now());
    decoder.decode(&mut operation, second.as_bytes()).unwrap();
    start.elapsed()
}

/// The edits before an element are not searched again for each struct.
#[test]
fn time_grows_with_the_message() {
    let (few, many) = (time(Compositor::All, 2_000), time(Compositor::All, 32_000));
    assert!(many < few * 16 * 4, "{few:?} {many:?}");
}

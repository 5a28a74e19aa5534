//! Tables: lists of plain structs, stored as columns. They give the same results as lists of
//! records and as typed structs.

use super::values::{complex, field, read, simple, write};
use crate::edits;
use crate::streams::{self, Stream};
use deltasoap::Soap;
use deltasoap_core::decode::{Decoder, ElementRoot};
use deltasoap_core::schema::{Builtin, Compositor, ElementRef, Field, Schema, Use, View};
use deltasoap_core::soap::Envelope;
use deltasoap_core::{
    Checkpoints, Column, Content, DecodeOptions, Differential, DifferentialStats, QName, Record, Simple, Table,
    Template, Templating, Tolerance, Typed, UnevenColumns, Value,
};
use proptest::prelude::*;
use std::fmt::Debug;
use std::time::Duration;

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
const EXACT: Differential = Differential { checkpoints: Checkpoints::Leaf, ..Differential::OFF };

/// `item` any number of times, a struct of these types in fields `a`, `b`, `c`; then an optional
/// number `n`.
fn rows(compositor: Compositor, bases: &[Builtin]) -> (Schema, ElementRef) {
    let mut schema = Schema::new();
    let fields = bases.iter().zip(["a", "b", "c"]);
    let fields = fields.map(|(&base, name)| field(name, simple(&mut schema, base), 1, Some(1))).collect();
    let item = schema.add(complex(compositor, fields, Vec::new()));
    let int = simple(&mut schema, Builtin::Int);
    let fields = vec![field("item", item, 0, None), field("n", int, 0, Some(1))];
    let root = schema.add(complex(Compositor::Sequence, fields, Vec::new()));
    (schema, root)
}

/// Returns the struct of the items of [`rows`].
fn item_of(view: View<'_>) -> (&Field, View<'_>) {
    let field = &view.complex().expect("complex").fields[0];
    (field, view.follow(field.element))
}

fn items(value: &Value) -> &Value {
    let Value::Record(record) = value else { panic!("no record") };
    &record.fields[0]
}

/// The same types as Rust structs.
#[derive(Soap, Debug, Clone, PartialEq)]
struct Item {
    a: i32,
    b: String,
    c: f64,
}

#[derive(Soap, Debug, Clone, PartialEq)]
#[soap(element = "r")]
struct Rows {
    item: Vec<Item>,
    n: Option<i32>,
}

const MIXED: [Builtin; 3] = [Builtin::Int, Builtin::String, Builtin::Double];

/// A table is written like the list that it equals, also by templates, and is read back as itself.
#[test]
fn tables_are_written_as_lists() {
    let types = [
        MIXED,
        [Builtin::UnsignedByte, Builtin::Boolean, Builtin::DateTime],
        [Builtin::Float, Builtin::Long, Builtin::UnsignedShort],
        [Builtin::String, Builtin::String, Builtin::Byte],
    ];
    for (compositor, bases) in
        [Compositor::Sequence, Compositor::All].into_iter().flat_map(|it| types.map(|of| (it, of)))
    {
        let (schema, root) = rows(compositor, &bases);
        let view = schema.view(root);
        let (decl, content) = item_of(view);
        let value = |base, digit: usize| {
            let text = match base {
                Builtin::DateTime => format!("200{digit}-01-02T03:04:05Z"),
                Builtin::String => format!("a < {}", "x".repeat(digit)),
                _ => (digit % 2).to_string(),
            };
            Value::Simple(Simple::parse(base, &text).expect("valid for the type"))
        };
        let mut templates =
            [Use::Literal, Use::Encoded].map(|encoding| (encoding, Template::new(Templating::default())));
        let long: Vec<usize> = (0..300).map(|index| index % 7).collect();
        let mut changed = long.clone();
        (changed[3], changed[200]) = (6, 6);
        changed.remove(100);
        for (turn, digits) in [&[1, 0, 1][..], &[1, 1, 1], &[0], &[], &long, &changed, &long[..5]].iter().enumerate() {
            let row = |&digit: &usize| {
                let fields = bases.iter().map(|&base| value(base, digit)).collect();
                Value::Record(Box::new(Record { fields, ..Record::default() }))
            };
            let around = |items| {
                let fields = vec![items, Value::Absent];
                Value::Record(Box::new(Record { fields, ..Record::default() }))
            };
            let mut table = Value::List(digits.iter().map(row).collect());
            let list = around(table.clone());
            table.gather(decl, content);
            assert!(matches!(&table, Value::Table(table) if table.len() == digits.len()));
            let table = around(table);
            assert_eq!(table, list);
            assert_eq!(list, table);
            assert_eq!(format!("{table:?}"), format!("{list:?}"));
            let text = write(&list, view);
            assert_eq!(write(&table, view), text);
            for (encoding, template) in &mut templates {
                let send = |template: &mut Template, value: &Value| {
                    let name = QName::new("", "r");
                    let sent = template.encode(&Envelope::element(&name, value, view).encoding(*encoding));
                    sent.expect("writable").to_vec()
                };
                let alone = send(&mut Template::new(Templating::default()), &list);
                assert_eq!(send(&mut Template::new(Templating::default()), &table), alone);
                // One template writes both in turn.
                for value in if turn % 2 == 0 { [&list, &table] } else { [&table, &list] } {
                    assert_eq!(send(template, value), alone);
                }
            }
            let back = read(view, &text).expect("valid");
            assert_eq!(back, table);
            assert!(digits.is_empty() || matches!(items(&back), Value::Table(_)));
            let Value::Record(mut record) = table else { panic!("no record") };
            assert_eq!(record.fields[0].spread().map(|items| items.len()), Some(digits.len()));
            assert_eq!(Value::Record(record), list);
        }
    }
}

/// A list of other than plain structs, or with content that no row can hold, stays as it is.
#[test]
fn other_lists_are_no_tables() {
    let mut schema = Schema::new();
    let (int, token) = (simple(&mut schema, Builtin::Int), simple(&mut schema, Builtin::Token));
    let once = |name, element| field(name, element, 1, Some(1));
    let mut of = |fields| schema.add(complex(Compositor::Sequence, fields, Vec::new()));
    let plain = of(vec![once("a", int), once("b", int)]);
    let others = [
        of(vec![]),
        of(vec![once("a", int), once("b", token)]),
        of(vec![once("a", int), field("b", int, 0, Some(1))]),
        of(vec![once("a", int), field("b", int, 1, None)]),
        of(vec![once("a", int), once("b", plain)]),
        of(vec![once("a", int), Field { nillable: true, ..once("b", int) }]),
    ];
    let default = schema.view(int).element.clone().with_default("7");
    let default = schema.add(default);
    let with_default = schema.add(complex(Compositor::Sequence, vec![once("a", default)], Vec::new()));
    let choice = schema.add(complex(Compositor::Choice, vec![once("a", int)], Vec::new()));
    let many = |element| field("item", element, 0, None);
    for element in others.into_iter().chain([with_default, choice, int]) {
        assert_eq!(Table::for_field(&many(element), schema.view(element)), None);
    }
    let view = schema.view(plain);
    assert!(Table::for_field(&many(plain), view).is_some());
    assert_eq!(Table::for_field(&field("item", plain, 1, Some(1)), view), None);
    assert_eq!(Table::for_field(&Field { nillable: true, ..many(plain) }, view), None);
    let number = |number| Value::Simple(Simple::Int(number));
    let record = |fields| Value::Record(Box::new(Record { fields, ..Record::default() }));
    let good = record(vec![number(1), number(2)]);
    let long = Value::Simple(Simple::Long(2));
    for bad in [
        Value::Nil,
        number(1),
        record(vec![number(1)]),
        record(vec![number(1), long]),
        record(vec![Value::Nil, number(1)]),
    ] {
        let list = Value::List(vec![good.clone(), bad]);
        let mut gathered = list.clone();
        gathered.gather(&many(plain), view);
        assert!(matches!(gathered, Value::List(_)), "{gathered:?}");
        let mut table = Value::List(vec![good.clone(), good.clone()]);
        table.gather(&many(plain), view);
        assert_ne!(table, list);
        assert_ne!(list, table);
    }
}

#[test]
fn a_table_has_columns_of_one_length() {
    let (one, two) = (Column::Int(vec![1]), Column::Double(vec![0.5, 1.5]));
    let name = |name| QName::new("", name);
    let uneven = Table::new([(name("a"), one), (name("b"), two.clone())]);
    assert_eq!(uneven, Err(UnevenColumns { lengths: vec![1, 2] }));
    assert_eq!(Table::new([]).map_err(|error| error.to_string()), Err("a table without columns".to_owned()));
    let mut table = Table::new([(name("b"), two.clone())]).expect("a table");
    assert!(
        table.set(1, 0, &Simple::Double(2.5))
            && !table.set(1, 0, &Simple::Int(1))
            && !table.set(2, 0, &Simple::Double(1.0))
    );
    assert_eq!((table.len(), table.row(2), table.column("a")), (2, None, None));
    assert_eq!(table.column("b"), Some(&Column::Double(vec![0.5, 2.5])));
    // A table of types other than those of its field is treated like its rows: it cannot be
    // written.
    let (schema, root) = rows(Compositor::Sequence, &[Builtin::Int, Builtin::Int]);
    let fields = vec![Value::Table(Box::new(table)), Value::Absent];
    let around = Record { fields, ..Record::default() };
    let mut spread = around.clone();
    spread.fields[0].spread();
    let text = |record: Record| write(&Value::Record(Box::new(record)), schema.view(root));
    assert_eq!(text(around), text(spread));
}

fn message(items: &[String], after: &str) -> String {
    format!("<r xmlns:i='{XSI}'>{}{after}</r>", items.concat())
}

fn plain(number: usize) -> String {
    format!("<item><a>{number}</a><b>text {number}</b><c>{number}.5</c></item>")
}

/// Reads a stream in chunks of several sizes, with all policies and on all levels of tolerance. The
/// result must be the same as for each document alone, as records.
fn read_all<T: Content + Debug>(view: View<'_>, documents: &[String]) -> DifferentialStats {
    let run = |differential, tolerance, chunk| {
        let options = DecodeOptions { differential, tolerance, ..DecodeOptions::default() };
        let mut stream = Stream::<T>::new(view, options);
        documents.iter().for_each(|document| drop(stream.next(document.as_bytes(), chunk)));
        stream.stats()
    };
    for differential in streams::all(24) {
        run(differential, Tolerance::Strict, usize::MAX);
    }
    for tolerance in [Tolerance::Unknown, Tolerance::AnyOrder, Tolerance::Strict] {
        for chunk in [1, 5, 17, 100] {
            run(EXACT, tolerance, chunk);
        }
        run(Differential::default(), tolerance, usize::MAX);
    }
    run(EXACT, Tolerance::Strict, usize::MAX)
}

/// Content that a table cannot hold turns it into a list, even in the middle of an item; the next
/// message may create a table again.
#[test]
fn tables_become_lists_where_a_row_is_none() {
    let odd = [
        "<item i:nil='true'/>",
        "<item i:nil='maybe'/>",
        "<item><a>1</a><b i:nil='true'/><c>2</c></item>",
        "<item><a>1</a><b i:nil='false'>x</b><c i:nil='1'></c></item>",
        "<item><a>1</a><b i:nil='x'>x</b><c>1</c></item>",
        "<item><a>1</a><c>2</c></item>",
        "<item><a i:nil='true'/><b>x</b></item>",
        "<item><c i:nil='true'/><b>x</b></item>",
        "<item></item>",
        "<item/>",
        "<item><c>2</c><b>x</b><a>1</a></item>",
        "<item><c>2</c><a>1</a></item>",
        "<item><a>1</a><b>x</b><c>2</c><c>3</c></item>",
        "<item><a>1</a><b>x</b><d>0</d><c>2</c></item>",
        "<item i:type='t'><a>1</a><b>x</b><c>2</c></item>",
        "<item x='1'><a>1</a><b>x</b><c>2</c></item>",
        "<item><a>1</a><b><![CDATA[x]]>&amp;<!-- -->y</b><c>2</c></item>",
        "<item><a>1</a><b>x</b><c>two</c></item>",
        "<item><a>1</a><b>x</b><c>2</c></item><item><a>1</a><b>y</b><c i:nil='true'/></item>",
    ];
    for compositor in [Compositor::Sequence, Compositor::All] {
        let (schema, root) = rows(compositor, &MIXED);
        let view = schema.view(root);
        for odd in odd {
            let rows = |count: usize| (0..count).map(plain).collect::<Vec<_>>();
            let with = |count: usize, places: &[usize]| {
                let mut rows = rows(count);
                places.iter().for_each(|&place| rows[place] = odd.to_owned());
                message(&rows, "<n>1</n>")
            };
            let few = [with(4, &[]), with(4, &[2]), with(4, &[2]), with(4, &[]), with(4, &[0]), with(3, &[0, 2])];
            read_all::<Value>(view, &few);
            let many = [
                with(40, &[]),
                with(40, &[20]),
                with(40, &[20, 30]),
                with(40, &[]),
                with(39, &[39 - 1]),
                with(40, &[0]),
            ];
            read_all::<Value>(view, &many);
        }
        let value = read(view, &message(&[plain(1), odd[2].to_owned()], "")).expect("valid");
        assert!(matches!(items(&value), Value::List(items) if items.len() == 2));
        let value = read(view, &message(&[plain(1), plain(2)], "")).expect("valid");
        assert!(matches!(items(&value), Value::Table(items) if items.len() == 2));
    }
}

/// A decoder without shortcuts creates records: tables are compared with these.
#[test]
fn a_decoder_without_shortcuts_makes_records() {
    let (schema, root) = rows(Compositor::Sequence, &MIXED);
    let document = message(&(0..10).map(plain).collect::<Vec<_>>(), "");
    let mut values = [Decoder::new, Decoder::without_shortcuts].map(|decoder| {
        let mut root = ElementRoot::<Value>::new(schema.view(root));
        decoder(DecodeOptions::default()).decode(&mut root, document.as_bytes()).expect("valid");
        root.value
    });
    assert_eq!(values[0], values[1]);
    assert!(matches!(items(&values[0]), Value::Table(_)) && matches!(items(&values[1]), Value::List(_)));
    let Value::Record(record) = &mut values[0] else { panic!("no record") };
    record.fields[0].spread();
    assert_eq!(values[0], values[1]);
}

/// Rows are patched in place, realigned if some were inserted or removed, and mended in small
/// messages.
#[test]
fn rows_are_patched_realigned_and_mended() {
    let (schema, root) = rows(Compositor::Sequence, &MIXED);
    let view = schema.view(root);
    let rows: Vec<String> = (0..200).map(plain).collect();
    let mut changed = rows.clone();
    for row in [0, 7, 8, 9, 100, 199] {
        changed[row] = format!("<item><a>-{row}</a><b>another</b><c>{row}e3</c></item>");
    }
    let mut shorter = changed.clone();
    shorter.drain(20..23);
    let mut longer = shorter.clone();
    longer.splice(50..50, (1000..1005).map(plain));
    let documents = [&rows, &changed, &shorter, &longer, &longer, &rows].map(|rows| message(rows, ""));
    let stats = read_all::<Value>(view, &documents);
    assert!(stats.leaves > 6 && stats.realigned >= 2, "{stats:?}");
    assert_eq!(stats.leaves, read_all::<Rows>(Rows::view(), &documents).leaves);

    let small = |text: &str| edits::enveloped(&message(&[plain(1).replace("text 1", text)], ""), "");
    let documents = ["text 1", "text 2", "text 3", "", "another text", "x &amp; y", "z", "zz"].map(small);
    let options = DecodeOptions { differential: Differential::default(), ..DecodeOptions::default() };
    let mut stream = Stream::<Value>::of_messages(view, options);
    stream.set_clock(|bytes, was_compared| Duration::from_nanos(if was_compared { bytes / 4 } else { bytes }));
    documents.iter().for_each(|document| drop(stream.next(document.as_bytes(), usize::MAX).expect("valid")));
    assert!(stream.stats().mended >= 3, "{:?}", stream.stats());
}

/// An item in one of many notations: mostly plain.
fn item() -> impl Strategy<Value = String> {
    let number = prop_oneof![Just("1"), Just("22"), Just("-3"), Just(" 4 "), Just("x"), Just("")];
    let number =
        prop_oneof![8 => (0..100_i32).prop_map(|number| number.to_string()), 1 => number.prop_map(str::to_owned)];
    let text = prop_oneof![Just("a"), Just("bc"), Just(""), Just("&lt;"), Just("<![CDATA[x]]>"), Just("a longer text")];
    let shape = prop_oneof![
        12 => Just("<item><a>A</a><b>B</b><c>C</c></item>"),
        1 => Just("<item>\n <a>A</a>\n <b>B</b>\n <c>C</c>\n</item>"),
        1 => Just("<item x='1'><a>A</a><b >B</b><c>C</c></item>"),
        1 => Just("<!-- --><item><a>A</a><b>B</b><c>C</c></item>"),
        1 => Just("<item i:type='t'><a>A</a><b>B</b><c>C</c></item>"),
        1 => Just("<item><a>A</a><b>B</b></item>"),
        1 => Just("<item><c>C</c><a>A</a><b>B</b></item>"),
        1 => Just("<item><a>A</a><b>B</b><d/><c>C</c></item>"),
    ];
    let nil = prop_oneof![
        20 => Just(""),
        1 => Just("<item i:nil='true'/>"),
        1 => Just("<item><a>1</a><b i:nil='true'/><c>2</c></item>"),
    ];
    (shape, number.clone(), text, number, nil).prop_map(|(shape, a, b, c, nil)| match nil {
        "" => shape.replace('A', &a).replace('B', b).replace('C', &c),
        nil => nil.to_owned(),
    })
}

/// Documents, each of which differs in some items.
fn documents() -> impl Strategy<Value = Vec<String>> {
    let edit = (0..4_u8, any::<prop::sample::Index>(), item());
    let edits = prop::collection::vec(prop::collection::vec(edit, 0..5), 1..7);
    (prop::collection::vec(item(), 0..60), edits).prop_map(|(mut rows, edits)| {
        let mut documents = vec![message(&rows, "")];
        for edits in edits {
            for (kind, at, item) in edits {
                let at = at.index(rows.len() + 1);
                match kind {
                    0 => rows.insert(at, item),
                    1 if at < rows.len() => drop(rows.remove(at)),
                    _ if at < rows.len() => rows[at] = item,
                    _ => rows.push(item),
                }
            }
            documents.push(message(&rows, if rows.len() % 3 == 0 { "<n>3</n>" } else { "" }));
        }
        documents
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// Each document gives the same result as alone, as records, and as a typed value; or the same
    /// error.
    #[test]
    fn random_streams_of_rows(
        documents in documents(),
        chunk in prop::sample::select(vec![usize::MAX, usize::MAX, 1, 10, 61]),
        tolerance in prop::sample::select(vec![Tolerance::Strict, Tolerance::Unknown, Tolerance::AnyOrder]),
        is_all in any::<bool>(),
    ) {
        let (schema, root) = rows(if is_all { Compositor::All } else { Compositor::Sequence }, &MIXED);
        let view = schema.view(root);
        for differential in [Differential::OFF, EXACT, Differential::default()].into_iter().chain(streams::all(16)) {
            let options = DecodeOptions { differential, tolerance, ..DecodeOptions::default() };
            let mut rows = Stream::<Value>::new(view, options);
            documents.iter().for_each(|document| drop(rows.next(document.as_bytes(), chunk)));
        }
        if is_all {
            return Ok(());
        }
        let mut decoders = [Decoder::new(DecodeOptions::default()), Decoder::new(DecodeOptions::default())];
        for document in documents.iter().filter(|document| !document.contains("nil='true'")) {
            let (mut typed, mut root) = (ElementRoot::<Rows>::new(Rows::view()), ElementRoot::<Value>::new(view));
            let expected = decoders[0].decode(&mut typed, document.as_bytes());
            let found = decoders[1].decode(&mut root, document.as_bytes());
            prop_assert_eq!(&found, &expected);
            if found.is_ok() {
                prop_assert_eq!(root.value, as_value(&typed.value));
            }
        }
    }
}

fn as_value(rows: &Rows) -> Value {
    let record = |fields| Value::Record(Box::new(Record { fields, ..Record::default() }));
    let row = |Item { a, b, c }: &Item| {
        let values = [Simple::Int(*a), Simple::String(b.clone()), Simple::Double(*c)];
        record(values.map(Value::Simple).into())
    };
    let number = rows.n.map_or(Value::Absent, |n| Value::Simple(Simple::Int(n)));
    record(vec![Value::List(rows.item.iter().map(row).collect()), number])
}

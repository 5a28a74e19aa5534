//! Messages whose types are known at run time, with items that come while they are written: the
//! chunks have the same bytes as the message with all items in its value.

use crate::values::{complex, field, simple};
use deltasoap_core::schema::{
    ArrayElement, Branch, Builtin, Choice, ComplexElement, Compositor, Element, ElementRef, Field, OpenElement, Schema,
    Use,
};
use deltasoap_core::soap::{Envelope, Version};
use deltasoap_core::{
    Column, Error, ErrorKind, ListPath, ListPathError, Node, Overlay, QName, Record, Shared, Simple, Value, ns,
};
use proptest::prelude::*;
use std::sync::Arc;

static BODY: QName = QName::new("urn:t", "send");

fn record(fields: Vec<Value>) -> Value {
    Value::Record(Box::new(Record { fields, ..Record::default() }))
}

fn int(number: i32) -> Value {
    Value::Simple(Simple::Int(number))
}

fn text(text: &str) -> Value {
    Value::Simple(Simple::String(text.to_owned()))
}

/// A kind of messages with a list.
struct Shape {
    schema: Arc<Schema>,
    content: ElementRef,
    path: &'static str,
    /// Returns a message with this list.
    message: fn(Value) -> Value,
    /// Returns an item by a number.
    item: fn(i32) -> Value,
    is_array: bool,
}

impl Shape {
    fn new(
        build: fn(&mut Schema) -> ElementRef,
        path: &'static str,
        message: fn(Value) -> Value,
        item: fn(i32) -> Value,
    ) -> Self {
        let mut schema = Schema::new();
        let content = build(&mut schema);
        let schema = Arc::new(schema);
        let list = ListPath::find(schema.view(content), path).expect(path);
        let is_array = list.item().min == 0 && list.item().name.local == "entry";
        Shape { schema, content, path, message, item, is_array }
    }
}

/// A list with a field before and one after it.
fn between(schema: &mut Schema, list: Field) -> ElementRef {
    let (string, number) = (simple(schema, Builtin::String), simple(schema, Builtin::Int));
    let fields = vec![field("before", string, 1, Some(1)), list, field("after", number, 0, None)];
    schema.add(complex(Compositor::Sequence, fields, Vec::new()))
}

fn in_between(list: Value) -> Value {
    record(vec![text("a & b"), list, Value::Column(Column::Int(vec![1, 2]))])
}

fn row(schema: &mut Schema) -> ElementRef {
    let (number, double) = (simple(schema, Builtin::Int), simple(schema, Builtin::Double));
    let fields = vec![field("id", number, 1, Some(1)), field("value", double, 1, Some(1))];
    schema.add(complex(Compositor::Sequence, fields, Vec::new()))
}

fn a_row(number: i32) -> Value {
    record(vec![int(number), Value::Simple(Simple::Double(f64::from(number) / 7.0))])
}

fn array(schema: &mut Schema, item: ElementRef, item_type: QName, nillable: bool) -> ElementRef {
    schema.add(Element::Array(ArrayElement {
        name: QName::new("urn:t", "ArrayOf"),
        item_name: QName::new("", "entry"),
        item_type,
        item,
        nillable,
        dimensions: 1,
    }))
}

/// A choice of a number and a text, without an element of its own.
fn number_or_text(schema: &mut Schema) -> Field {
    let (number, string) = (simple(schema, Builtin::Int), simple(schema, Builtin::String));
    let fields = vec![field("number", number, 1, Some(1)), field("text", string, 1, Some(1))];
    let choice = schema.add(complex(Compositor::Choice, fields, Vec::new()));
    Field { inline: true, ..field("", choice, 0, None) }
}

fn strings() -> Shape {
    Shape::new(
        |schema| {
            let string = simple(schema, Builtin::String);
            between(schema, field("item", string, 0, None))
        },
        "item",
        in_between,
        |number| text(["", "plain", "<&>\"", "é😀", " \n"][number.unsigned_abs() as usize % 5]),
    )
}

fn shapes() -> Vec<Shape> {
    vec![
        strings(),
        Shape::new(
            |schema| {
                let double = simple(schema, Builtin::Double);
                between(schema, field("item", double, 0, None))
            },
            "item",
            in_between,
            |number| Value::Simple(Simple::Double(f64::from(number) / 3.0)),
        ),
        Shape::new(
            |schema| {
                let number = simple(schema, Builtin::Int);
                between(schema, Field { nillable: true, ..field("item", number, 0, None) })
            },
            "item",
            in_between,
            |number| if number % 3 == 0 { Value::Nil } else { int(number) },
        ),
        // Plain structs in a container.
        Shape::new(
            |schema| {
                let (row, number) = (row(schema), simple(schema, Builtin::Int));
                let fields = vec![field("row", row, 0, None), field("total", number, 1, Some(1))];
                let page = schema.add(complex(Compositor::Sequence, fields, Vec::new()));
                between(schema, field("page", page, 0, Some(1)))
            },
            "page/row",
            |list| in_between(record(vec![list, int(7)])),
            a_row,
        ),
        // Structs with lists in them, and with parts that may be absent.
        Shape::new(
            |schema| {
                let (row, string) = (row(schema), simple(schema, Builtin::String));
                let fields = vec![field("note", string, 0, Some(1)), field("row", row, 0, None)];
                let item = schema.add(complex(Compositor::Sequence, fields, Vec::new()));
                between(schema, field("item", item, 0, None))
            },
            "item",
            in_between,
            |number| {
                let note = if number % 2 == 0 { text("n") } else { Value::Absent };
                record(vec![note, Value::List((0..number.rem_euclid(4)).map(a_row).collect())])
            },
        ),
        Shape::new(
            |schema| {
                let number = simple(schema, Builtin::Int);
                let array = array(schema, number, Builtin::Int.name(), true);
                between(schema, field("items", array, 0, Some(1)))
            },
            "items",
            in_between,
            |number| if number % 5 == 0 { Value::Nil } else { int(number) },
        ),
        // An array of structs that is the body's element itself.
        Shape::new(
            |schema| {
                let row = row(schema);
                array(schema, row, QName::new("urn:t", "Row"), false)
            },
            "",
            |list| list,
            a_row,
        ),
        Shape::new(
            |schema| {
                let choice = number_or_text(schema);
                between(schema, choice)
            },
            "$choice",
            in_between,
            |number| match number % 2 {
                0 => record(vec![int(number), Value::Absent]),
                _ => record(vec![Value::Absent, text("t")]),
            },
        ),
        Shape::new(
            |schema| {
                let any = schema.add(Element::Any);
                between(schema, Field { inline: true, ..field("", any, 0, None) })
            },
            "$any",
            in_between,
            |number| {
                let node = format!("<p:a xmlns:p='urn:p' n='{number}'><b/>t</p:a>");
                Value::Tree(Box::new(Node::parse(node.as_bytes()).expect("a tree")))
            },
        ),
        // A type that contains itself has a list at each level.
        Shape::new(
            |schema| {
                let (number, own) = (simple(schema, Builtin::Int), schema.next_ref());
                let fields = vec![field("item", number, 0, None), field("inner", own, 0, Some(1))];
                schema.add(complex(Compositor::Sequence, fields, Vec::new()))
            },
            "inner/item",
            |list| record(vec![Value::List(vec![int(1)]), record(vec![list, record(vec![Value::Absent; 2])])]),
            int,
        ),
        // Items of a type, or of one derived from it.
        Shape::new(
            |schema| {
                let (base, number) = (row(schema), simple(schema, Builtin::Int));
                let derived = complex(Compositor::Sequence, vec![field("id", number, 1, Some(1))], Vec::new());
                let derived = schema.add(derived);
                let open = schema.add(Element::Open(OpenElement {
                    base: Some(base),
                    types: vec![(QName::new("urn:t", "Short"), derived)].into(),
                }));
                between(schema, field("item", open, 0, None))
            },
            "item",
            in_between,
            |number| match number % 2 {
                0 => a_row(number),
                _ => Value::typed(QName::new("urn:t", "Short"), record(vec![int(number)])),
            },
        ),
    ]
}

/// The layout of a message: version, encoding and the size of a chunk.
type Layout = (Version, Use, usize);

fn layout() -> impl Strategy<Value = Layout> {
    let versions = prop::sample::select(vec![Version::Soap11, Version::Soap12]);
    let encodings = prop::sample::select(vec![Use::Literal, Use::Encoded]);
    (versions, encodings, prop_oneof![Just(0), 1..2000usize])
}

fn envelope<'a>((version, encoding, _): Layout, value: &'a Value, shape: &'a Shape) -> Envelope<'a> {
    Envelope::element(&BODY, value, shape.schema.view(shape.content)).version(version).encoding(encoding)
}

fn whole(layout: Layout, value: &Value, shape: &Shape) -> String {
    String::from_utf8(envelope(layout, value, shape).to_vec().expect("plain text")).expect("UTF-8")
}

/// Returns the concatenated chunks of a message whose further items come from an iterator.
fn overlaid(layout: Layout, value: &Value, shape: &Shape, items: impl Iterator<Item = Value>) -> Result<String, Error> {
    let path = ListPath::find(shape.schema.view(shape.content), shape.path).expect("a list");
    let place = path.place(value, &shape.schema, shape.content).expect("a place");
    let mut overlay = Overlay::described(&envelope(layout, value, shape), &place, items, layout.2)?;
    let mut all = Vec::new();
    while let Some(chunk) = overlay.next_chunk()? {
        assert!(!chunk.is_empty());
        all.extend_from_slice(chunk);
    }
    Ok(String::from_utf8(all).expect("UTF-8"))
}

/// Like [`overlaid`], with items that are fed in groups of some sizes.
fn fed(layout: Layout, value: &Value, shape: &Shape, items: Vec<Value>, group: usize) -> String {
    let path = ListPath::find(shape.schema.view(shape.content), shape.path).expect("a list");
    let place = path.place(value, &shape.schema, shape.content).expect("a place");
    let mut overlay = Overlay::open_described(&envelope(layout, value, shape), &place, layout.2).expect("a message");
    let (mut all, mut items) = (Vec::new(), items.into_iter().peekable());
    while items.peek().is_some() {
        items.by_ref().take(group).for_each(|item| overlay.feed(item));
        while let Some(chunk) = overlay.next_chunk().expect("plain text") {
            all.extend_from_slice(chunk);
        }
    }
    overlay.end();
    while let Some(chunk) = overlay.next_chunk().expect("plain text") {
        all.extend_from_slice(chunk);
    }
    String::from_utf8(all).expect("UTF-8")
}

/// Removes the size of an array, which is not known while items are fed.
fn without_size(message: &str, size: usize) -> String {
    message.replace(&format!("[{size}]"), "[]").replace(&format!("arraySize=\"{size}\""), "arraySize=\"*\"")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn chunks_are_the_message_with_all_items(
        layout in layout(),
        shape in 0..shapes().len(),
        numbers in prop::collection::vec(any::<i32>(), 0..40),
        held in 0..4usize,
        is_absent in any::<bool>(),
        group in 1..5usize,
    ) {
        let shape = &shapes()[shape];
        let items: Vec<Value> = numbers.into_iter().map(shape.item).collect();
        let (first, rest) = items.split_at(held.min(items.len()));
        let expected = whole(layout, &(shape.message)(Value::List(items.clone())), shape);
        let list = if first.is_empty() && is_absent { Value::Absent } else { Value::List(first.to_vec()) };
        let value = (shape.message)(list);
        prop_assert_eq!(overlaid(layout, &value, shape, rest.iter().cloned()).expect("plain text"), &*expected);
        // If it is not known whether there are items, an element without content has two tags.
        if !items.is_empty() {
            let expected = if shape.is_array { without_size(&expected, items.len()) } else { expected };
            prop_assert_eq!(fed(layout, &value, shape, rest.to_vec(), group), expected);
        }
    }
}

/// Items that the message holds in a column precede those that come.
#[test]
fn a_column_is_continued() {
    let shape = strings();
    let layout = (Version::Soap11, Use::Literal, 100);
    let value = (shape.message)(Value::Column(Column::String(vec!["a".to_owned(), "b".to_owned()])));
    let expected = (shape.message)(Value::List(["a", "b", "c"].map(text).to_vec()));
    let written = overlaid(layout, &value, &shape, [text("c")].into_iter()).expect("plain text");
    assert_eq!(written, whole(layout, &expected, &shape));
}

#[test]
fn an_item_that_cannot_be_written_ends_the_message() {
    let shape = strings();
    let value = (shape.message)(Value::Absent);
    let layout = (Version::Soap11, Use::Literal, 10);
    for bad in [text("\u{0}"), record(Vec::new())] {
        let items = [text("a"), bad, text("b")];
        let error = overlaid(layout, &value, &shape, items.into_iter()).expect_err("it cannot be written");
        assert!(matches!(error.kind(), ErrorKind::Unwritable(_)), "{error}");
    }
}

#[test]
fn lists_without_a_place_are_told() {
    let (mut schema, string) = (Schema::new(), ElementRef::Index(0));
    assert_eq!(simple(&mut schema, Builtin::String), string);
    let lists = vec![field("item", string, 0, None), field("other", string, 0, Some(1))];
    let either = schema.add(complex(Compositor::Choice, lists.clone(), Vec::new()));
    let branch = |fields| Branch { fields, required: Default::default(), choices: Default::default() };
    let groups = Element::Complex(ComplexElement {
        name: QName::new("urn:t", "Groups"),
        compositor: Compositor::Sequence,
        fields: vec![field("item", string, 0, None), field("a", string, 0, Some(1)), field("b", string, 0, Some(1))]
            .into(),
        attributes: Default::default(),
        text: None,
        open: false,
        any_attribute: false,
        choices: vec![Choice { first: 0, branches: vec![branch(2), branch(1)].into(), is_optional: true }].into(),
    });
    let groups = schema.add(groups);
    let fields = vec![field("either", either, 0, Some(1)), field("groups", groups, 0, Some(1))];
    let content = schema.add(complex(Compositor::Sequence, fields, Vec::new()));
    let schema = Arc::new(schema);
    let is_there = |path: &str, either: Value, groups: Value| {
        let list = ListPath::find(schema.view(content), path).expect("a list");
        match list.place(&record(vec![either, groups]), &schema, content) {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(error, ListPathError::NoPlace(path.to_owned()));
                false
            }
        }
    };
    let nothing = || Value::Absent;
    assert!(is_there("either/item", record(vec![nothing(), nothing()]), nothing()));
    assert!(!is_there("either/item", record(vec![nothing(), text("o")]), nothing()));
    assert!(!is_there("either/item", nothing(), nothing()) && !is_there("either/item", Value::Nil, nothing()));
    assert!(!is_there("either/item", record(vec![Value::Nil, nothing()]), nothing()));
    assert!(is_there("groups/item", nothing(), record(vec![nothing(), text("a"), nothing()])));
    assert!(!is_there("groups/item", nothing(), record(vec![nothing(), nothing(), text("b")])));
}

/// The place must be in the message that is written.
#[test]
fn a_list_of_another_message_is_refused() {
    let shape = strings();
    let (one, other) = ((shape.message)(Value::Absent), (shape.message)(Value::Absent));
    let path = ListPath::find(shape.schema.view(shape.content), shape.path).expect("a list");
    let place = path.place(&other, &shape.schema, shape.content).expect("a place");
    let layout = (Version::Soap11, Use::Literal, 10);
    let error = Overlay::open_described(&envelope(layout, &one, &shape), &place, 10).expect_err("no such list");
    assert!(matches!(error.kind(), ErrorKind::Unwritable(_)), "{error}");
}

/// A value that several items share is written with each; one that contains itself cannot be.
#[test]
fn shared_items_are_copies() {
    let build = |schema: &mut Schema| {
        let (row, shared) = (row(schema), schema.next_ref());
        schema.add(Element::Shared(row));
        between(schema, field("item", shared, 0, None))
    };
    let shape = Shape::new(build, "item", in_between, a_row);
    let value = (shape.message)(Value::Absent);
    let layout = (Version::Soap11, Use::Encoded, 1000);
    let shared = Shared::new(a_row(1));
    let items = vec![Value::Shared(shared.clone()), Value::Shared(shared)];
    let copies = items.iter().map(|_| Value::Shared(Shared::new(a_row(1)))).collect();
    let expected = whole(layout, &(shape.message)(Value::List(copies)), &shape);
    assert!(!expected.contains("href") && expected.contains(ns::XSI));
    assert_eq!(overlaid(layout, &value, &shape, items.into_iter()).expect("plain text"), expected);
}

//! Dynamic values: read and written with schemas built at run time.

use deltasoap_core::decode::{DecodeOptions, Decoder, ElementRoot, Stop, value_from_slice};
use deltasoap_core::encode::Encoder;
use deltasoap_core::schema::{
    ArrayElement, Attribute, Branch, Builtin, Choice, ComplexElement, Compositor, Element, ElementRef, Field,
    OpenElement, Required, Schema, SimpleElement, UnionElement, View,
};
use deltasoap_core::{Content, Error, ErrorKind, Node, QName, Record, Simple, Value, ns};
use std::borrow::Cow;

pub(super) fn simple(schema: &mut Schema, base: Builtin) -> ElementRef {
    schema.add(Element::Simple(SimpleElement {
        name: base.name(),
        base,
        enumeration: Default::default(),
        default: None,
        packed: None,
    }))
}

pub(super) fn field(name: &'static str, element: ElementRef, min: u32, max: Option<u32>) -> Field {
    Field { name: QName::new("", name), element, min, max, nillable: false, inline: false }
}

pub(super) fn complex(compositor: Compositor, fields: Vec<Field>, attributes: Vec<Attribute>) -> Element {
    Element::Complex(ComplexElement {
        name: QName::new("urn:t", "T"),
        compositor,
        fields: fields.into(),
        attributes: attributes.into(),
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    })
}

/// `<list>` of `<item><x/><y/><v/></item>`.
fn mios() -> (Schema, ElementRef) {
    let mut schema = Schema::new();
    let (int, double) = (simple(&mut schema, Builtin::Int), simple(&mut schema, Builtin::Double));
    let once = |name, element| field(name, element, 1, Some(1));
    let fields = vec![once("x", int), once("y", int), once("v", double)];
    let mio = schema.add(complex(Compositor::Sequence, fields, Vec::new()));
    let list = schema.add(complex(Compositor::Sequence, vec![field("item", mio, 0, None)], Vec::new()));
    (schema, list)
}

pub(super) fn read(view: View<'_>, text: &str) -> Result<Value, Error> {
    let whole = read_cut(view, text, text.len().max(1));
    for chunk in [1, 2, 3, 7, 64] {
        assert_eq!(read_cut(view, text, chunk), whole, "in chunks of {chunk}");
    }
    whole
}

fn read_cut(view: View<'_>, text: &str, chunk: usize) -> Result<Value, Error> {
    let mut root = ElementRoot::<Value>::new(view);
    let mut decoder = Decoder::new(DecodeOptions::default());
    for chunk in text.as_bytes().chunks(chunk) {
        decoder.push(&mut root, chunk)?;
    }
    decoder.finish(&mut root)?;
    Ok(root.value)
}

pub(super) fn write(value: &Value, view: View<'_>) -> String {
    let mut encoder = Encoder::new();
    encoder.start(&QName::new("", "r"));
    value.encode(&mut encoder, view);
    encoder.end();
    String::from_utf8(encoder.finish().expect("writable").into_vec()).expect("UTF-8")
}

#[test]
fn a_long_flat_array_comes_back_as_it_was() {
    let (schema, list) = mios();
    let view = schema.view(list);
    let item = |i: usize| format!("<item><x>{i}</x><y>-{i}</y><v>{i}.5</v></item>");
    let text = format!("<r>{}</r>", (1..501).map(item).collect::<String>());
    let value = read(view, &text).expect("valid");
    assert_eq!(write(&value, view), text);
    let Some(Value::Table(items)) = value.field(view, "item") else { panic!("{value:?}") };
    assert_eq!(items.len(), 500);
    assert_eq!(items.column("v").and_then(|column| column.get(6)), Some(Simple::Double(7.5)));
    let mut items = Value::Table(items.clone());
    let item_view = view.follow(view.complex().expect("complex").fields[0].element);
    let item = items.spread().map(|items| items.swap_remove(6)).expect("a list");
    assert_eq!(item.field(item_view, "v"), Some(&Value::Simple(Simple::Double(7.5))));
}

#[test]
fn deviations_in_the_middle_of_a_flat_array_change_nothing() {
    let (schema, list) = mios();
    let view = schema.view(list);
    let plain = |i: usize| format!("<item><x>{i}</x><y>{i}</y><v>{i}</v></item>");
    let odd = [
        "<item><x>7</x><!-- a comment --><y>7</y><v>7</v></item>",
        "<item> <x> 7 </x>\n<y>7</y><v>7</v>\t</item>",
        "<item><x><![CDATA[7]]></x><y>&#55;</y><v>7.0e0</v></item>",
        "<item xmlns:a='urn:a'><x>7</x><y a:b='c'>7</y><v>7</v></item  >",
        "<!-- > --><item><x>7</x><y>7</y><v>7</v></item>",
    ];
    for odd in odd {
        let parts = |odd: &str| {
            let mut parts: Vec<String> = (0..40).map(plain).collect();
            parts[20] = odd.to_owned();
            format!("<r>{}</r>", parts.concat())
        };
        let expected = read(view, &parts(&plain(7))).expect("valid");
        assert_eq!(read(view, &parts(odd)).expect("valid"), expected, "{odd}");
    }
}

#[test]
fn an_error_names_place_and_fault() {
    let (schema, list) = mios();
    let view = schema.view(list);
    let item = "<item><x>1</x><y>2</y><v>3</v></item>";
    let text = format!("<r>{}<item><x>1</x><y>two</y><v>3</v></item></r>", item.repeat(9));
    let error = read(view, &text).expect_err("two is no int");
    assert_eq!(error.path(), "/r/item[10]/y");
    assert_eq!(error.offset() as usize, text.find("two").expect("there"));
    assert!(matches!(error.kind(), ErrorKind::Lexical(_)), "{error}");

    let text = format!("<r>{}<item><x>1</x><v>3</v></item></r>", item.repeat(3));
    let error = read(view, &text).expect_err("y is missing");
    assert_eq!(error.path(), "/r/item[4]/v");
    assert!(matches!(error.kind(), ErrorKind::UnexpectedElement { .. }), "{error}");
}

#[test]
fn every_built_in_type_is_read_and_written() {
    for &builtin in Builtin::ALL {
        let mut schema = Schema::new();
        let reference = simple(&mut schema, builtin);
        let view = schema.view(reference);
        let text = sample(builtin);
        let value = read(view, &format!("<r>{text}</r>")).unwrap_or_else(|error| panic!("{builtin:?}: {error}"));
        assert_eq!(write(&value, view), format!("<r>{text}</r>"), "{builtin:?}");
    }
}

/// A canonical lexical form of the type.
fn sample(builtin: Builtin) -> &'static str {
    match builtin {
        Builtin::Boolean => "true",
        Builtin::Float | Builtin::Double | Builtin::Decimal => "1.5",
        Builtin::NonPositiveInteger | Builtin::NegativeInteger => "-5",
        Builtin::Date => "2026-11-21",
        Builtin::Time => "10:20:30",
        Builtin::DateTime => "2026-11-21T10:20:30Z",
        Builtin::Duration => "P1DT2H",
        Builtin::GYear => "2026",
        Builtin::GYearMonth => "2026-11",
        Builtin::GMonth => "--11",
        Builtin::GMonthDay => "--11-21",
        Builtin::GDay => "---21",
        Builtin::Base64Binary => "AAEC",
        Builtin::HexBinary => "0001FF",
        Builtin::QName | Builtin::Notation => "xml:lang",
        Builtin::Byte
        | Builtin::Short
        | Builtin::Int
        | Builtin::Long
        | Builtin::UnsignedByte
        | Builtin::UnsignedShort
        | Builtin::UnsignedInt
        | Builtin::UnsignedLong
        | Builtin::Integer
        | Builtin::NonNegativeInteger
        | Builtin::PositiveInteger => "5",
        _ => "word",
    }
}

#[test]
fn an_empty_element_is_not_filled_with_what_follows() {
    let mut schema = Schema::new();
    let int = simple(&mut schema, Builtin::Int);
    let list = schema.add(complex(Compositor::Sequence, vec![field("x", int, 0, None)], Vec::new()));
    let error = read(schema.view(list), "<r><x/>5</r>").expect_err("empty is no int");
    assert_eq!(error.path(), "/r/x[1]");
}

#[test]
fn choices_attributes_nil_and_absence_are_told_apart() {
    let mut schema = Schema::new();
    let (int, text) = (simple(&mut schema, Builtin::Int), simple(&mut schema, Builtin::String));
    let attributes = vec![Attribute { name: QName::new("", "id"), element: int, required: true, default: None }];
    let fields = vec![field("a", int, 1, Some(1)), field("b", text, 1, Some(1))];
    let choice = schema.add(complex(Compositor::Choice, fields, Vec::new()));
    let group = Field { inline: true, ..field("group", choice, 1, Some(1)) };
    let fields = vec![group, field("c", text, 0, Some(1)), Field { nillable: true, ..field("d", text, 0, Some(1)) }];
    let root = schema.add(complex(Compositor::Sequence, fields, attributes));
    let view = schema.view(root);
    let xsi = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
    for text in [
        "<r id=\"1\"><a>1</a></r>".to_owned(),
        "<r id=\"1\"><b>x</b><c></c></r>".to_owned(),
        format!("<r id=\"-1\"><b></b><d {xsi} xsi:nil=\"true\"/></r>"),
        "<r id=\"2\"><a>1</a><c>&lt;</c><d>e</d></r>".to_owned(),
    ] {
        let value = read(view, &text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(write(&value, view), text);
    }
    for (bad, path) in [
        ("<r><a>1</a></r>", "/r"),
        ("<r id=\"x\"><a>1</a></r>", "/r"),
        ("<r id=\"1\"></r>", "/r"),
        ("<r id=\"1\"><a>1</a><b>2</b></r>", "/r/b"),
        ("<r id=\"1\"><c/><a>1</a></r>", "/r/c"),
        ("<r id=\"1\"><a>1</a>text</r>", "/r"),
    ] {
        let error = read(view, bad).expect_err(bad);
        assert!(error.path().starts_with(path), "{bad}: {error}");
    }
}

/// A schema of `((a, b?, (c | (d, e{1,2}))?)*, z?)`, where the repeated part is a group.
fn grouped() -> (Schema, ElementRef) {
    let mut schema = Schema::new();
    let int = simple(&mut schema, Builtin::Int);
    let fields = vec![
        field("a", int, 1, Some(1)),
        field("b", int, 0, Some(1)),
        field("c", int, 0, Some(1)),
        field("d", int, 0, Some(1)),
        field("e", int, 0, Some(2)),
    ];
    let branch = |fields, required: &[u32]| {
        let required = required.iter().map(|&field| Required { field, min: 1 }).collect::<Vec<_>>();
        Branch { fields, required: required.into(), choices: Vec::new().into() }
    };
    let branches = vec![branch(1, &[0]), branch(2, &[0, 1])].into();
    let choices = vec![Choice { first: 2, branches, is_optional: true }].into();
    let Element::Complex(group) = complex(Compositor::Sequence, fields, Vec::new()) else { unreachable!("complex") };
    let group = schema.add(Element::Complex(ComplexElement { choices, ..group }));
    let group = Field { inline: true, ..field("a", group, 0, None) };
    let fields = vec![group, field("z", int, 0, Some(1))];
    let root = schema.add(complex(Compositor::Sequence, fields, Vec::new()));
    (schema, root)
}

#[test]
fn groups_that_are_repeated_are_a_list_of_records() {
    let (schema, root) = grouped();
    let view = schema.view(root);
    for (text, expected) in [
        ("<r/>", vec![]),
        ("<r><a>1</a></r>", vec![vec!["a"]]),
        ("<r><a>1</a><a>2</a><b>3</b><a>4</a></r>", vec![vec!["a"], vec!["a", "b"], vec!["a"]]),
        ("<r><a>1</a><c>2</c><a>3</a><d>4</d><e>5</e><e>6</e><z>7</z></r>", vec![vec!["a", "c"], vec!["a", "d", "e"]]),
    ] {
        let value = read(view, text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(write(&value, view), text);
        let Value::Record(record) = &value else { panic!("no record") };
        let Value::List(groups) = &record.fields[0] else { panic!("no list") };
        let group = view.follow(view.complex().expect("complex").fields[0].element);
        let there = |value: &Value| {
            let names = ["a", "b", "c", "d", "e"].into_iter();
            let is_there = |name: &&str| {
                !matches!(value.field(group, name), None | Some(Value::Absent))
                    && value.field(group, name) != Some(&Value::List(vec![]))
            };
            names.filter(is_there).collect::<Vec<_>>()
        };
        assert_eq!(groups.iter().map(there).collect::<Vec<_>>(), expected, "{text}");
    }
}

/// The error is at the same place, wherever the message is cut.
#[test]
fn groups_that_are_not_whole_are_errors() {
    let (schema, root) = grouped();
    let view = schema.view(root);
    for (bad, path, expected) in [
        ("<r><b>1</b></r>", "/r/b", "unexpected element <b>, expected <a>"),
        ("<r><a>1</a><b>1</b><b>2</b></r>", "/r/b", "unexpected element <b>"),
        ("<r><a>1</a><c>1</c><b>2</b></r>", "/r/b", "unexpected element <b>"),
        ("<r><a>1</a><a>1</a><d>1</d><z>2</z></r>", "/r/z", "unexpected element <z>, expected <e>"),
        ("<r><a>1</a><d>1</d></r>", "/r", "missing element <e>"),
        ("<r><a>1</a><a>1</a><d>1</d><a>2</a></r>", "/r/a", "unexpected element <a>, expected <e>"),
        ("<r><a>1</a><y/></r>", "/r/y", "unexpected element <y>"),
        ("<r><a>1</a><a>x</a></r>", "/r/a", "int"),
        ("<r><a>1</a>text</r>", "/r", "character data"),
    ] {
        let error = read(view, bad).expect_err(bad);
        assert!(error.path().starts_with(path) && error.to_string().contains(expected), "{bad}: {error}");
    }
}

/// (g, h{2,3}) | i{2}, then z; and i{2,3} | z alone.
#[test]
fn fields_of_a_branch_occur_as_often_as_they_must() {
    let mut schema = Schema::new();
    let int = simple(&mut schema, Builtin::Int);
    let fields = vec![
        field("g", int, 0, Some(1)),
        field("h", int, 0, Some(3)),
        field("i", int, 0, Some(2)),
        field("z", int, 0, Some(1)),
    ];
    let branch = |fields, required: Vec<Required>| Branch { fields, required: required.into(), choices: vec![].into() };
    let needs = |field, min| Required { field, min };
    let branches = vec![branch(2, vec![needs(0, 1), needs(1, 2)]), branch(1, vec![needs(0, 2)])].into();
    let choices = vec![Choice { first: 0, branches, is_optional: false }].into();
    let Element::Complex(groups) = complex(Compositor::Sequence, fields, Vec::new()) else { unreachable!("complex") };
    let groups = schema.add(Element::Complex(ComplexElement { choices, ..groups }));
    let fields = vec![field("i", int, 2, Some(3)), field("z", int, 1, Some(1))];
    let elements = schema.add(complex(Compositor::Choice, fields, Vec::new()));
    let (groups, elements) = (schema.view(groups), schema.view(elements));
    for (view, good) in [
        (groups, "<r><g>1</g><h>2</h><h>3</h></r>"),
        (groups, "<r><g>1</g><h>2</h><h>3</h><h>4</h><z>5</z></r>"),
        (groups, "<r><i>1</i><i>2</i><z>3</z></r>"),
        (elements, "<r><i>1</i><i>2</i><i>3</i></r>"),
        (elements, "<r><z>1</z></r>"),
    ] {
        assert_eq!(write(&read(view, good).unwrap_or_else(|error| panic!("{good}: {error}")), view), good);
    }
    for (view, bad, path, expected) in [
        (groups, "<r><g>1</g><h>2</h></r>", "/r", "missing element <h>"),
        (groups, "<r><g>1</g><h>2</h><z>3</z></r>", "/r/z", "unexpected element <z>, expected <h>"),
        (groups, "<r><g>1</g><z>3</z></r>", "/r/z", "unexpected element <z>, expected <h>"),
        (groups, "<r><i>1</i></r>", "/r", "missing element <i>"),
        (groups, "<r><i>1</i><z>2</z></r>", "/r/z", "unexpected element <z>, expected <i>"),
        (groups, "<r><i>1</i><i>2</i><i>3</i></r>", "/r/i", "unexpected element <i>"),
        (groups, "<r><g>1</g><h>1</h><h>2</h><h>3</h><h>4</h></r>", "/r/h", "unexpected element <h>"),
        (groups, "<r><z>1</z></r>", "/r/z", "unexpected element <z>, expected one of <g> or <i>"),
        (elements, "<r><i>1</i></r>", "/r", "missing element <i>"),
    ] {
        let error = read(view, bad).expect_err(bad);
        assert!(error.path().starts_with(path) && error.to_string().contains(expected), "{bad}: {error}");
    }
}

/// A value that has elements of two branches is not written.
#[test]
fn groups_of_two_branches_are_not_written() {
    let (schema, root) = grouped();
    let view = schema.view(root);
    let mut value = read(view, "<r><a>1</a><c>2</c></r>").expect("valid");
    let Value::Record(record) = &mut value else { panic!("no record") };
    let Value::List(groups) = &mut record.fields[0] else { panic!("no list") };
    let Value::Record(group) = &mut groups[0] else { panic!("no group") };
    group.fields[3] = Value::Simple(Simple::Int(1));
    let mut encoder = Encoder::new();
    encoder.start(&QName::new("", "r"));
    value.encode(&mut encoder, view);
    encoder.end();
    assert!(encoder.finish().expect_err("two branches").to_string().contains("several branches"));
}

#[test]
fn wildcards_keep_what_no_field_names() {
    let mut schema = Schema::new();
    let (int, any) = (simple(&mut schema, Builtin::Int), schema.add(Element::Any));
    let wildcard = |name, max| Field { inline: true, ..field(name, any, 0, max) };
    let fields = vec![wildcard("first", Some(1)), field("a", int, 1, Some(1)), wildcard("rest", None)];
    let root = schema.add(complex(Compositor::Sequence, fields, Vec::new()));
    let view = schema.view(root);
    let xsi = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
    for text in [
        "<r><a>1</a></r>".to_owned(),
        "<r><u id=\"1\">x<v/></u><a>1</a><w/><a>not a number</a></r>".to_owned(),
        format!("<r><a>1</a><u {xsi} xsi:nil=\"true\"/><v>2</v></r>"),
    ] {
        let value = read(view, &text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(write(&value, view), text);
    }
    for bad in ["<r><u/></r>", "<r><u/><v/><a>1</a></r>", "<r><a>x</a></r>"] {
        read(view, bad).expect_err(bad);
    }
}

fn enumerated(schema: &mut Schema, base: Builtin, values: &[&'static str]) -> ElementRef {
    let enumeration = values.iter().map(|value| Cow::Borrowed(*value)).collect();
    schema.add(Element::Simple(SimpleElement {
        name: QName::new("urn:t", "Enumerated"),
        base,
        enumeration,
        default: None,
        packed: None,
    }))
}

#[test]
fn enumerated_values_are_compared_by_value() {
    let mut schema = Schema::new();
    let decimal = enumerated(&mut schema, Builtin::Decimal, &["1.0", "2"]);
    let token = enumerated(&mut schema, Builtin::Token, &["a & b", "c"]);
    for (reference, good, bad) in [(decimal, ["1", "2.00"], "3"), (token, [" a  &amp; b ", "c"], "d")] {
        let view = schema.view(reference);
        for text in good {
            assert!(read(view, &format!("<r>{text}</r>")).is_ok(), "{text}");
        }
        let error = read(view, &format!("<r>{bad}</r>")).expect_err(bad);
        assert!(matches!(error.kind(), ErrorKind::UnexpectedValue { .. }), "{error}");
    }
    let attributes = vec![Attribute { name: QName::new("", "a"), element: token, required: false, default: None }];
    let root = schema.add(complex(Compositor::Sequence, Vec::new(), attributes));
    assert!(read(schema.view(root), "<r a='a &amp; b'/>").is_ok());
    let error = read(schema.view(root), "<r a='d'/>").expect_err("another value");
    let expected = "one of \"a & b\", \"c\" (".to_owned();
    assert!(error.to_string().contains(&expected), "{error}");
}

#[test]
fn errors_list_enumerated_values_and_how_many_more_there_are() {
    let mut schema = Schema::new();
    let values: Vec<&'static str> = vec!["v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11"];
    let (few, many) =
        (enumerated(&mut schema, Builtin::Int, &["1", "2"]), enumerated(&mut schema, Builtin::Token, &values));
    let error =
        |element, text: &str| read(schema.view(element), &format!("<r>{text}</r>")).expect_err(text).to_string();
    assert!(error(few, "3").contains("value \"3\", expected one of \"1\", \"2\" ("), "{}", error(few, "3"));
    assert!(error(few, "x").contains("value \"x\", expected one of \"1\", \"2\" ("), "{}", error(few, "x"));
    let text = error(many, "v12");
    assert!(text.contains("\"v8\", \"v9\" and 2 more (") && !text.contains("v11"), "{text}");
}

#[test]
fn enumerated_values_are_values_not_texts() {
    let mut schema = Schema::new();
    let cases = [
        (Builtin::DateTime, "2020-01-01T12:00:00Z", vec!["2020-01-01T13:00:00+01:00"], "2020-01-01T12:00:00"),
        (Builtin::Time, "12:00:00Z", vec!["13:00:00+01:00", "12:00:00.0Z"], "12:00:01Z"),
        (Builtin::Duration, "PT36H", vec!["P1DT12H"], "P2D"),
        (Builtin::Decimal, "1.0", vec!["1", "1.00"], "1.01"),
        (Builtin::String, "a", vec!["a"], "A"),
    ];
    for (base, allowed, same, other) in cases {
        let element = enumerated(&mut schema, base, &[allowed]);
        let is_read = |text: &str| read(schema.view(element), &format!("<r>{text}</r>")).is_ok();
        assert!(same.iter().all(|text| is_read(text)), "{allowed}");
        assert!(!is_read(other), "{allowed} is not {other}");
    }
    let element = enumerated(&mut schema, Builtin::Double, &["NaN"]);
    let value = value_from_slice(b"<r>NaN</r>", &QName::new("", "r"), schema.view(element)).expect("not-a-number");
    assert!(matches!(value, Value::Simple(Simple::Double(value)) if value.is_nan()));
}

#[test]
fn names_without_a_prefix_yet_get_one_where_they_are_written() {
    let mut schema = Schema::new();
    let notation = simple(&mut schema, Builtin::Notation);
    let name = simple(&mut schema, Builtin::QName);
    let attributes = vec![Attribute { name: QName::new("", "a"), element: name, required: false, default: None }];
    let root = schema.add(complex(Compositor::Sequence, vec![field("n", notation, 1, Some(1))], attributes));
    let text = deltasoap_core::lexical::Notation::expanded("urn:n", "gif").expect("a name");
    let attribute = deltasoap_core::lexical::QName::expanded("urn:a", "b").expect("a name");
    assert_eq!((attribute.prefix(), attribute.local(), attribute.parts()), (None, "b", Some(("urn:a", "b"))));
    let value = Value::Record(Box::new(Record {
        fields: vec![Value::Simple(Simple::Notation(text))],
        attributes: vec![Some(Simple::QName(attribute))],
        others: Default::default(),
    }));
    let mut encoder = Encoder::new();
    encoder.start(&QName::new("", "r"));
    value.encode(&mut encoder, schema.view(root));
    encoder.end();
    let written = encoder.finish().expect("a message");
    let node = Node::parse(written.as_slice()).expect("well-formed");
    let child = node.elements().next().expect("an element");
    let name_in = |path: &[&Node], text: &str| Node::resolve_in(path, text);
    assert_eq!(node.resolve(node.attribute("", "a").expect("an attribute")), Some(QName::new("urn:a", "b")));
    assert_eq!(name_in(&[&node, child], &child.text()), Some(QName::new("urn:n", "gif")));
    assert!(read(schema.view(root), "<r><n>{urn:n}gif</n></r>").is_err());
}

#[test]
fn a_union_has_the_first_member_that_accepts_the_text() {
    let mut schema = Schema::new();
    let word = enumerated(&mut schema, Builtin::Token, &["none", "all"]);
    let members = vec![word, simple(&mut schema, Builtin::Int)].into();
    let union = schema.add(Element::Union(UnionElement {
        name: QName::new("urn:t", "U"),
        members,
        list: false,
        default: None,
    }));
    let view = schema.view(union);
    assert_eq!(read(view, "<r> 12 </r>"), Ok(Value::Simple(Simple::Int(12))));
    let value = read(view, "<r>n<!-- -->one</r>").expect("a word");
    assert!(matches!(value, Value::Simple(Simple::Token(_))), "{value:?}");
    assert!(matches!(read(view, "<r>some</r>").expect_err("neither").kind(), ErrorKind::UnexpectedValue { .. }));
}

#[test]
fn a_union_keeps_the_texts_of_its_values() {
    let mut schema = Schema::new();
    let members = [Builtin::Int, Builtin::Boolean, Builtin::Duration, Builtin::HexBinary, Builtin::Token];
    let members = members.map(|base| simple(&mut schema, base)).to_vec().into();
    let union = schema.add(Element::Union(UnionElement {
        name: QName::new("urn:t", "U"),
        members,
        list: false,
        default: None,
    }));
    let attribute = |name, required| Attribute { name: QName::new("", name), element: union, required, default: None };
    let fields = vec![field("u", union, 0, None)];
    let root = schema.add(complex(Compositor::Sequence, fields, vec![attribute("a", false)]));
    let view = schema.view(root);
    for text in ["7", "007", "+7", "true", "P1D", "PT36H", "0A", "0a", "a word"] {
        let message = format!("<r a=\"{text}\"><u>{text}</u></r>");
        let value = read(view, &message).expect("valid");
        assert_eq!(write(&value, view), message);
        assert_eq!(read(view, &message.replace(text, &format!(" {text}\n"))), Ok(value));
    }
    let Ok(Value::Simple(Simple::NonCanonical(given))) = read(schema.view(union), "<r> 007 </r>") else {
        panic!("a text")
    };
    assert_eq!((&given.value, given.text.as_str()), (&Simple::Int(7), "007"));
}

#[test]
fn arrays_can_be_repeated() {
    let mut schema = Schema::new();
    let int = simple(&mut schema, Builtin::Int);
    let name = QName::new("urn:t", "Ints");
    let (item_name, item_type) = (QName::new("", "i"), Builtin::Int.name());
    let array = schema.add(Element::Array(ArrayElement {
        name,
        item_name,
        item: int,
        item_type,
        nillable: false,
        dimensions: 1,
    }));
    let root = schema.add(complex(Compositor::Sequence, vec![field("a", array, 0, None)], Vec::new()));
    let view = schema.view(root);
    let value = read(view, "<r><a><i>1</i><i>2</i></a><a/><a><i>3</i></a></r>").expect("valid");
    let int = |n| Value::Simple(Simple::Int(n));
    let lists = [vec![int(1), int(2)], vec![], vec![int(3)]];
    assert_eq!(value.field(view, "a"), Some(&Value::List(lists.map(Value::List).into())));
}

#[test]
fn texts_are_shown_as_they_are() {
    let value = Simple::parse(Builtin::AnyUri, "http://a?b&c").expect("valid");
    assert_eq!(value.to_string(), "http://a?b&c");
    assert_eq!(Simple::parse(Builtin::NormalizedString, "&amp;<>").expect("valid").to_string(), "&amp;<>");
}

/// A schema that requires itself twice has no values, but looking at it must end.
#[test]
fn a_schema_that_requires_itself_is_not_flat() {
    let mut schema = Schema::new();
    let own = schema.next_ref();
    let fields = vec![field("a", own, 1, Some(1)), field("b", own, 1, Some(1))];
    schema.add(complex(Compositor::Sequence, fields, Vec::new()));
    let root = schema.add(complex(Compositor::Sequence, vec![field("x", own, 0, None)], Vec::new()));
    assert!(read(schema.view(root), "<r><x><a/><b/></x></r>").is_err());
}

#[test]
fn a_value_of_another_shape_is_an_error() {
    let (schema, list) = mios();
    let view = schema.view(list);
    let item = view.follow(view.complex().expect("complex").fields[0].element);
    let shapes = [Value::List(vec![Value::Nil]), Value::Simple(Simple::Int(1))];
    for (value, view) in [(&shapes[0], view), (&shapes[1], view), (&shapes[0], item)] {
        let mut encoder = Encoder::new();
        encoder.start(&QName::new("", "r"));
        value.encode(&mut encoder, view);
        encoder.end();
        let error = encoder.finish().map(|_| ()).expect_err("another shape");
        assert!(error.to_string().contains("does not match its schema"), "{error}");
    }
}

#[test]
fn stops_compare() {
    assert_ne!(Stop::Pending, Stop::Error(Error::at(ErrorKind::UnexpectedText, 0)));
}

/// A schema that requires itself twice has no values, but examining it must terminate.
#[test]
fn a_long_union_takes_linear_time() {
    let mut schema = Schema::new();
    let (int, text) = (simple(&mut schema, Builtin::Int), simple(&mut schema, Builtin::String));
    let members = vec![int, text];
    let union = schema.add(Element::Union(UnionElement {
        list: false,
        name: QName::new("urn:t", "U"),
        members: members.into(),
        default: None,
    }));
    let view = schema.view(union);
    let document = |len: usize| format!("<r>{}</r>", "x".repeat(len));
    let time = |len: usize| {
        let (document, begin) = (document(len), std::time::Instant::now());
        read_cut(view, &document, 256).expect("valid");
        begin.elapsed()
    };
    let short = time(1 << 18).max(std::time::Duration::from_millis(1));
    let long = time(1 << 21);
    assert!(long < 40 * short, "eight times the text took {long:?} after {short:?}");
}

fn defaulted(schema: &mut Schema, base: Builtin, text: &'static str) -> ElementRef {
    let plain = simple(schema, base);
    let element = schema.view(plain).element.clone().with_default(text);
    schema.add(element)
}

#[test]
fn empty_elements_have_their_default() {
    let mut schema = Schema::new();
    let (int, string) = (simple(&mut schema, Builtin::Int), simple(&mut schema, Builtin::String));
    let members = vec![int, string].into();
    let name = QName::new("urn:t", "U");
    let union = schema.add(Element::Union(UnionElement { name, members, list: false, default: Some("5".into()) }));
    let cases = [
        (defaulted(&mut schema, Builtin::Int, " 7 "), Simple::Int(7)),
        (defaulted(&mut schema, Builtin::String, " a b "), Simple::String(" a b ".to_owned())),
        (
            defaulted(&mut schema, Builtin::Base64Binary, "AQID"),
            Simple::parse(Builtin::Base64Binary, "AQID").expect("bytes"),
        ),
        (defaulted(&mut schema, Builtin::HexBinary, "0AFF"), Simple::parse(Builtin::HexBinary, "0AFF").expect("bytes")),
        (union, Simple::Int(5)),
    ];
    for (reference, expected) in cases {
        let view = schema.view(reference);
        for empty in ["<r/>", "<r></r>", "<r><!-- nothing --></r>", "<r><![CDATA[]]></r>"] {
            assert_eq!(read(view, empty), Ok(Value::Simple(expected.clone())), "{empty} as {expected}");
        }
    }
}

/// Existing content does not take the default: text that is white space, and nil.
#[test]
fn white_space_and_nil_have_no_default() {
    let mut schema = Schema::new();
    let (word, int) = (defaulted(&mut schema, Builtin::String, "word"), defaulted(&mut schema, Builtin::Int, "7"));
    assert_eq!(read(schema.view(word), "<r> </r>"), Ok(Value::Simple(Simple::String(" ".to_owned()))));
    assert_eq!(read(schema.view(word), "<r>&#32;</r>"), Ok(Value::Simple(Simple::String(" ".to_owned()))));
    read(schema.view(int), "<r> </r>").expect_err("white space is no number");
    let nil = "<r xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='1'/>";
    assert_eq!(read(schema.view(int), nil), Ok(Value::Nil));
}

#[test]
fn absent_attributes_have_their_default() {
    let mut schema = Schema::new();
    let int = simple(&mut schema, Builtin::Int);
    let attribute = |name, required, default: Option<&'static str>| Attribute {
        name: QName::new("", name),
        element: int,
        required,
        default: default.map(Cow::Borrowed),
    };
    let attributes =
        vec![attribute("a", false, Some("5")), attribute("b", false, None), attribute("c", true, Some("6"))];
    let root = schema.add(complex(Compositor::Sequence, Vec::new(), attributes));
    let attributes = |text: &str| match read(schema.view(root), text) {
        Ok(Value::Record(record)) => record.attributes,
        other => panic!("{text}: {other:?}"),
    };
    let five = Some(Simple::Int(5));
    assert_eq!(attributes("<r c='1'/>"), [five, None, Some(Simple::Int(1))]);
    assert_eq!(attributes("<r a='2' b='3' c='1'/>"), [2, 3, 1].map(|number| Some(Simple::Int(number))));
    let error = read(schema.view(root), "<r a='1'/>").expect_err("a required attribute has no default");
    assert!(matches!(error.kind(), ErrorKind::MissingAttribute { .. }), "{error}");
}

/// A type that accepts any attribute, with one of its own.
fn open_for_attributes(schema: &mut Schema, text: Option<ElementRef>) -> ElementRef {
    let int = simple(schema, Builtin::Int);
    let attributes = vec![Attribute { name: QName::new("", "a"), element: int, required: false, default: None }];
    let Element::Complex(plain) = complex(Compositor::Sequence, Vec::new(), attributes) else { unreachable!() };
    schema.add(Element::Complex(ComplexElement { text, any_attribute: true, ..plain }))
}

fn others_of(value: &Value) -> Vec<(String, &str)> {
    let Value::Record(record) = value else { panic!("{value:?}") };
    record.others.iter().map(|(name, text)| (name.to_string(), text.as_str())).collect()
}

#[test]
fn attributes_that_no_name_is_given_for_are_kept_where_any_may_stand() {
    let mut schema = Schema::new();
    let string = simple(&mut schema, Builtin::String);
    for text in [None, Some(string)] {
        let root = open_for_attributes(&mut schema, text);
        let view = schema.view(root);
        let message = "<r xmlns:p='urn:p' xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' \
                       xmlns:i='http://www.w3.org/2001/XMLSchema-instance' p:b='&lt; 1' a='5' b='2' s:mustUnderstand='1' \
                       i:schemaLocation='x y' xml:lang='en' id='i1' i:nil='false'/>";
        let value = read(view, message).expect("valid");
        let lang = "{http://www.w3.org/XML/1998/namespace}lang".to_owned();
        let named = |name: &str| name.to_owned();
        let expected = vec![(named("b"), "2"), (named("id"), "i1"), (lang, "en"), (named("{urn:p}b"), "< 1")];
        assert_eq!(others_of(&value), expected);
        let Value::Record(record) = &value else { unreachable!() };
        assert_eq!(record.attributes, [Some(Simple::Int(5))]);
        assert_eq!(read(view, &write(&value, view)), Ok(value));
    }
}

#[test]
fn attributes_without_a_place_cannot_be_written() {
    let mut schema = Schema::new();
    let open = open_for_attributes(&mut schema, None);
    let closed = schema.add(complex(Compositor::Sequence, Vec::new(), Vec::new()));
    let written = |root, namespace: &'static str, local: &'static str| {
        let others = [(QName::new(namespace, local), "1".to_owned())].into();
        let mut encoder = Encoder::new();
        encoder.start(&QName::new("", "r"));
        let attributes = vec![None; usize::from(root == open)];
        let value = Value::Record(Box::new(Record { fields: Vec::new(), attributes, others }));
        value.encode(&mut encoder, schema.view(root));
        encoder.end();
        encoder.finish().map(|written| String::from_utf8_lossy(written.as_slice()).into_owned())
    };
    assert_eq!(written(open, "", "b").expect("any attribute is allowed"), "<r b=\"1\"/>");
    for (root, namespace, local) in [
        (open, "", "a"),
        (open, "", "xmlns"),
        (open, deltasoap_core::ns::XMLNS, "p"),
        (open, deltasoap_core::ns::XSI, "nil"),
        (open, deltasoap_core::ns::SOAP12, "mustUnderstand"),
        (closed, "", "b"),
    ] {
        let error = written(root, namespace, local).expect_err(local);
        assert!(matches!(error.kind(), ErrorKind::Unwritable(_)), "{error}");
    }
}

#[test]
fn nil_elements_keep_the_attributes_that_they_may_have() {
    let mut schema = Schema::new();
    let int = simple(&mut schema, Builtin::Int);
    let attribute = |name, required| Attribute { name: QName::new("", name), element: int, required, default: None };
    let attributes = vec![attribute("a", true), attribute("b", false)];
    let closed = schema.add(complex(Compositor::Sequence, vec![field("x", int, 1, Some(1))], attributes));
    let string = simple(&mut schema, Builtin::String);
    let open = open_for_attributes(&mut schema, Some(string));
    let any = schema.add(Element::Any);
    let nil = |attributes: &str| {
        format!(
            "<r xmlns:i='http://www.w3.org/2001/XMLSchema-instance' xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' \
             xmlns:p='urn:p' i:nil='true' i:type='p:T' s:mustUnderstand='1' {attributes}/>"
        )
    };
    for (root, attributes, expected) in [
        (int, "a='1'", vec![]),
        (closed, "", vec![]),
        (closed, "c='1'", vec![]),
        (closed, "b='no number' c='1'", vec![("b", "no number")]),
        (open, "p:b='2' a='1' c='&lt;'", vec![("a", "1"), ("c", "<"), ("{urn:p}b", "2")]),
        (any, "c='1'", vec![("c", "1"), ("{http://www.w3.org/2001/XMLSchema-instance}type", "{urn:p}T")]),
    ] {
        let view = schema.view(root);
        let value = read(view, &nil(attributes)).expect("nil");
        assert!(value.is_nil());
        match &value {
            Value::NilWith(found) => {
                let found: Vec<_> = found.iter().map(|(name, text)| (name.to_string(), text.as_str())).collect();
                assert!(found.iter().map(|(name, text)| (name.as_str(), *text)).eq(expected), "{found:?}");
            }
            value => assert!(*value == Value::Nil && expected.is_empty(), "{value:?}"),
        }
        assert_eq!(read(view, &write(&value, view)), Ok(value));
        let filled = nil(attributes).replace("/>", "><y/></r>");
        let error = read(view, &filled).expect_err("content in a nil element");
        assert!(matches!(error.kind(), ErrorKind::Nil(_)), "{error}");
    }
    for (root, name) in [(int, "a"), (closed, "c"), (any, "xmlns")] {
        let value = Value::NilWith(Box::new([(QName::new("", name), String::new())].into()));
        let mut encoder = Encoder::new();
        encoder.start(&QName::new("", "r"));
        value.encode(&mut encoder, schema.view(root));
        encoder.end();
        assert!(matches!(encoder.finish().expect_err(name).kind(), ErrorKind::Unwritable(_)));
    }
}

/// The type that an array names applies to items which name none, whatever came before, and
/// wherever the message is cut.
#[test]
fn arrays_name_the_type_of_their_items() {
    let mut schema = Schema::new();
    let (int, text) = (simple(&mut schema, Builtin::Int), simple(&mut schema, Builtin::String));
    let types = vec![(Builtin::Int.name(), int), (Builtin::String.name(), text)];
    let any = schema.add(Element::Open(OpenElement::new(None, types)));
    let shared = schema.add(Element::Shared(any));
    for item in [any, shared] {
        let array = schema.add(Element::Array(ArrayElement {
            name: QName::new("urn:t", "A"),
            item_name: QName::new("", "item"),
            item,
            item_type: QName::new(ns::XSD, "anyType"),
            nillable: false,
            dimensions: 1,
        }));
        let document = |array_type: &str, items: &str| {
            format!(
                "<r xmlns:x='{}' xmlns:i='{}' xmlns:c='{}' c:arrayType='{array_type}'>{items}</r>",
                ns::XSD,
                ns::XSI,
                ns::SOAP11_ENCODING
            )
        };
        let read = |document: &str| {
            let value = crate::laws::read(schema.view(array), document.as_bytes(), Default::default());
            value.map_err(|error| error.to_string())
        };
        let named = read(&document("x:int[2]", "<item>1</item><item i:type='x:string'>2</item>")).expect("values");
        assert_eq!(
            named,
            read(&document("x:anyType[2]", "<item i:type='x:int'>1</item><item i:type='x:string'>2</item>"))
                .expect("values")
        );
        let error = read(&document("x:int[1]", "<item>zz</item>")).expect_err("no number");
        assert!(error.contains("int"), "{error}");
        assert!(read(&document("x:nothing[1]", "<item>zz</item>")).expect("a tree").contains("Tree"));
        let mut stream = crate::streams::Stream::<Value>::new(schema.view(array), DecodeOptions::default());
        for (array_type, items) in [
            ("x:int[2]", "<item>1</item><item>2</item>"),
            ("x:int[2]", "<item>1</item><item>3</item>"),
            ("x:string[2]", "<item>1</item><item>3</item>"),
            ("x:anyType[2]", "<item>1</item><item>3</item>"),
            ("x:anyType[2]", "<item i:type='x:int'>1</item><item>3</item>"),
        ] {
            stream.next(document(array_type, items).as_bytes(), 7).expect("values");
        }
    }
}

/// Small messages whose trees differ in an attribute that names their type are reread.
#[test]
fn types_that_messages_choose_are_not_mended() {
    let mut schema = Schema::new();
    let int = simple(&mut schema, Builtin::Int);
    let open = schema.add(Element::Open(OpenElement::new(None, vec![(QName::new("urn:t", "D9"), int)])));
    let root = schema.add(complex(Compositor::Sequence, vec![field("v", open, 1, Some(1))], Vec::new()));
    let mut stream = crate::streams::Stream::<Value>::of_messages(schema.view(root), DecodeOptions::default());
    for type_name in ["t:e", "t:f", "t:g", "t:D9", "t:e", "t:D9"] {
        let message = format!(
            "<s:Envelope xmlns:s='{}' xmlns:i='{}' xmlns:t='urn:t'><s:Body><o:operation xmlns:o='urn:op'>\
             <v i:type='{type_name}'>7</v></o:operation></s:Body></s:Envelope>",
            ns::SOAP11,
            ns::XSI
        );
        stream.next(message.as_bytes(), usize::MAX).expect("a value");
    }
}

//! Operations whose element is of each class: unchanged content of the next message is kept,
//! whatever the element is.

use crate::dynamic::Stream;
use deltasoap_checkpoints::{Portions, State};
use deltasoap_core::schema::{
    ArrayElement, Attribute, Builtin, ComplexElement, Compositor, Element, ElementRef, Field, Schema, SimpleElement,
    UnionElement, Use, View,
};
use deltasoap_core::soap::{Envelope, Version};
use deltasoap_core::{Buffer, Checkpoints, Differential, QName, Template, Templating, Value};
use std::borrow::Cow;

fn simple(schema: &mut Schema, base: Builtin, values: &[&'static str]) -> ElementRef {
    let enumeration = values.iter().map(|value| Cow::Borrowed(*value)).collect();
    schema.add(Element::Simple(SimpleElement { name: base.name(), base, enumeration, default: None, packed: None }))
}

fn policies() -> impl Iterator<Item = Differential> {
    let papers = State::ALL.map(|state| Portions { state, size: 32, ..Portions::default() }.into());
    let checkpoints = std::iter::once(Checkpoints::Leaf).chain(papers);
    checkpoints.flat_map(|checkpoints| [false, true].map(|adaptive| Differential { checkpoints, adaptive }))
}

/// Reads operations with these start tags and contents, each of them three times, with every policy
/// and in pieces, and writes the result through a template. Returns how many were compared by leaf
/// checkpoints that never give up.
fn all_stay(schema: &Schema, root: ElementRef, operations: &[(&str, &str)]) -> u64 {
    let (view, mut compared) = (schema.view(root), 0);
    for policy in policies() {
        for chunk in [usize::MAX, 7] {
            let mut stream = Stream::new(view, policy);
            let mut template = Template::new(Templating::default());
            for operation in operations.iter().flat_map(|operation| [operation; 3]) {
                if let Some(value) = stream.next(&message(operation), chunk) {
                    writes_alike(&mut template, &value, view);
                }
            }
            let is_leaf = policy.checkpoints == Checkpoints::Leaf && !policy.adaptive;
            compared += if is_leaf { stream.stats().compared } else { 0 };
        }
    }
    compared
}

fn message((attributes, content): &(&str, &str)) -> String {
    let soap = "http://schemas.xmlsoap.org/soap/envelope/";
    format!("<e:Envelope xmlns:e=\"{soap}\"><e:Body><r{attributes}>{content}</r></e:Body></e:Envelope>")
}

/// Checks that a template writes the same as without one.
fn writes_alike(template: &mut Template, value: &Value, view: View<'_>) {
    let (version, encoding, name) = (Version::Soap11, Use::Literal, QName::new("urn:t", "r"));
    let written = template.encode(&Envelope::element(&name, value, view).version(version).encoding(encoding)).unwrap();
    let alone = Envelope::element(&name, value, view).version(version).encoding(encoding).write(Buffer::new()).unwrap();
    let bytes: Vec<u8> = written.frames().iter().flat_map(|frame| frame.iter().copied()).collect();
    assert!(bytes == alone.as_slice(), "{value:?}");
}

/// Texts too long to be mended, so that they are compared.
fn long(letter: &str) -> String {
    letter.repeat(9000)
}

#[test]
fn simple_elements() {
    let mut schema = Schema::new();
    let text = simple(&mut schema, Builtin::String, &[]);
    let (a, b) = (long("a"), long("ab"));
    all_stay(
        &schema,
        text,
        &[("", "some"), ("", "same"), ("", "longer"), ("", ""), ("", "&lt;"), ("", &a), ("", &b), ("", "x")],
    );
    let state = simple(&mut schema, Builtin::String, &["on", "off"]);
    all_stay(&schema, state, &[("", "on"), ("", "off"), ("", " on "), ("", "up"), ("", "off")]);
    let bytes = simple(&mut schema, Builtin::Base64Binary, &[]);
    all_stay(&schema, bytes, &[("", "AAAA"), ("", "AAAB"), ("", &long("AAAA")), ("", &long("AAAC")), ("", "AA==")]);
    let number = simple(&mut schema, Builtin::Int, &[]);
    all_stay(&schema, number, &[("", "1"), ("", "2"), ("", " 3 "), ("", "x"), ("", "-2147483648")]);
}

#[test]
fn unions() {
    let mut schema = Schema::new();
    let members = vec![simple(&mut schema, Builtin::Int, &[]), simple(&mut schema, Builtin::String, &[])].into();
    let union = schema.add(Element::Union(UnionElement {
        name: QName::new("urn:t", "U"),
        members,
        list: false,
        default: None,
    }));
    all_stay(&schema, union, &[("", "1"), ("", "one"), ("", &long("1")), ("", &long("o")), ("", "2")]);
}

#[test]
fn simple_content() {
    let mut schema = Schema::new();
    let (int, text) = (simple(&mut schema, Builtin::Int, &[]), simple(&mut schema, Builtin::String, &[]));
    let name = QName::new("urn:t", "T");
    let field = Field { name: QName::new("", ""), element: text, min: 1, max: Some(1), nillable: false, inline: true };
    let attribute = Attribute { name: QName::new("", "k"), element: int, required: false, default: None };
    let (fields, attributes) = (vec![field].into(), vec![attribute].into());
    let complex = ComplexElement {
        name,
        compositor: Compositor::Sequence,
        fields,
        attributes,
        text: Some(text),
        open: false,
        any_attribute: false,
        choices: Default::default(),
    };
    let root = schema.add(Element::Complex(complex));
    let (a, b) = (long("a"), long("ab"));
    let operations = [
        (" k='1'", "some"),
        (" k='1'", "same"),
        (" k='2'", "same"),
        ("", "same"),
        (" k='1'", &a),
        (" k='1'", &b),
        ("", ""),
    ];
    all_stay(&schema, root, &operations);
}

#[test]
fn trees() {
    let mut schema = Schema::new();
    let any = schema.add(Element::Any);
    let nested = format!("<c>{}</c><d k='1'/>", long("a"));
    let other = format!("<c>{}</c><d k='2'/>", long("b"));
    let operations = [
        ("", "text"),
        ("", "<a>1</a><b/>"),
        ("", "<a>2</a><b/>"),
        (" k='1'", "<a>2</a><b/>"),
        ("", &nested),
        ("", &other),
    ];
    all_stay(&schema, any, &operations);
}

#[test]
fn arrays() {
    let mut schema = Schema::new();
    let any = schema.add(Element::Any);
    let int = simple(&mut schema, Builtin::Int, &[]);
    for item in [int, any] {
        let (name, item_name) = (QName::new("urn:t", "A"), QName::new("", "i"));
        let item_type = Builtin::Int.name();
        let array = ArrayElement { name, item_name, item, item_type, nillable: false, dimensions: 1 };
        let root = schema.add(Element::Array(array));
        let (ones, twos) = ("<i>1</i>".repeat(1000), "<i>2</i>".repeat(1000));
        let operations =
            [("", "<i>1</i><i>2</i>"), ("", "<i>1</i><i>3</i>"), ("", ""), ("", &ones), ("", &twos), ("", "<i>1</i>")];
        assert!(all_stay(&schema, root, &operations) > 0);
    }
}

#[test]
fn choices() {
    let mut schema = Schema::new();
    let (int, any) = (simple(&mut schema, Builtin::Int, &[]), schema.add(Element::Any));
    let once = |name, element| Field {
        name: QName::new("", name),
        element,
        min: 0,
        max: Some(1),
        nillable: true,
        inline: false,
    };
    let name = QName::new("urn:t", "C");
    let (fields, attributes) = (vec![once("x", int), once("y", any)].into(), Vec::new().into());
    let complex = ComplexElement {
        name,
        compositor: Compositor::Choice,
        fields,
        attributes,
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    };
    let root = schema.add(Element::Complex(complex));
    let compared = all_stay(
        &schema,
        root,
        &[("", "<x>1</x>"), ("", "<x>2</x>"), ("", "<y>2</y>"), ("", "<y><z/></y>"), ("", "<x>3</x>")],
    );
    assert!(compared > 0);
}

/// The message after a nil operation may be truncated, or have content: decoding does not resume in
/// a value that has none.
#[test]
fn nil_operations() {
    let mut schema = Schema::new();
    let int = simple(&mut schema, Builtin::Int, &[]);
    let fields =
        vec![Field { name: QName::new("", "a"), element: int, min: 0, max: None, nillable: false, inline: false }];
    let root = schema.add(Element::Complex(ComplexElement {
        name: QName::new("urn:t", "T"),
        compositor: Compositor::Sequence,
        fields: fields.into(),
        attributes: Cow::Borrowed(&[]),
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    }));
    let nil = " xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='1'";
    let operations = [(nil, ""), (nil, "<a>1</a>"), (nil, ""), (nil, " "), (nil, "<b"), ("", "<a>1</a>"), (nil, "")];
    all_stay(&schema, root, &operations);
    // In pairs, so that each follows one that was read to its end.
    for (one, other) in operations.iter().flat_map(|one| operations.iter().map(move |other| (one, other))) {
        all_stay(&schema, root, &[*one, *other, *one]);
    }
}

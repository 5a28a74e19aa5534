//! Predicted markup: what the decoder learns from a message, valid or not, must be correct for the
//! next.

use crate::repeats;
use deltasoap::Soap;
use deltasoap_core::decode::{Decoder, ElementRoot, from_slice};
use deltasoap_core::schema::{
    Attribute, Builtin, ComplexElement, Compositor, Element, ElementRef, Field, OpenElement, Schema, SimpleElement,
};
use deltasoap_core::{DecodeOptions, Differential, Limits, QName, Typed, Value};
use proptest::prelude::*;

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

fn simple(base: Builtin) -> Element {
    Element::Simple(SimpleElement {
        name: base.name(),
        base,
        enumeration: Default::default(),
        default: None,
        packed: None,
    })
}

fn complex(fields: Vec<Field>, attributes: Vec<Attribute>) -> Element {
    Element::Complex(ComplexElement {
        name: QName::new("urn:t", "T"),
        compositor: Compositor::Sequence,
        fields: fields.into(),
        attributes: attributes.into(),
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    })
}

fn field(name: &'static str, element: ElementRef, (min, max): (u32, Option<u32>)) -> Field {
    Field { name: QName::new("", name), element, min, max, nillable: false, inline: false }
}

/// Reads documents with one decoder, and compares each result with a decoder that learns nothing.
/// Returns the number of invalid documents.
fn read_all(schema: &Schema, root: ElementRef, limits: Limits, documents: &[String]) -> usize {
    let options = DecodeOptions { limits, differential: Differential::OFF, ..DecodeOptions::default() };
    let mut decoder = Decoder::new(options);
    let read = |decoder: &mut Decoder, document: &str| {
        let mut root = ElementRoot::<Value>::new(schema.view(root));
        decoder.decode(&mut root, document.as_bytes()).map(|()| root.value)
    };
    let faults = documents.iter().enumerate().filter(|(index, document)| {
        let expected = read(&mut Decoder::without_shortcuts(options), document);
        assert_eq!(read(&mut decoder, document), expected, "document {index}: {document}");
        expected.is_err()
    });
    faults.count()
}

/// The type that a leaf names is checked in each message, even if its tag is known.
#[test]
fn a_leaf_of_a_type_without_a_declaration_is_at_fault_each_time() {
    let mut schema = Schema::new();
    let int = schema.add(simple(Builtin::Int));
    let root = schema.add(complex(vec![field("a", int, (0, Some(1)))], vec![]));
    let document = |attribute| format!("<r xmlns:xsi='{XSI}'><a{attribute}>2</a></r>");
    let types = [
        "",
        "",
        " xsi:type='xsi:int'",
        " xsi:type='no:int'",
        " xsi:type='no:int'",
        " xsi:type='a b'",
        " xsi:type='a b'",
    ];
    assert_eq!(read_all(&schema, root, Limits::default(), &types.map(document)), 4);
}

/// Which error of a tag is reported does not depend on whether the tag is known.
#[test]
fn tags_with_several_faults_give_the_same_error_each_time() {
    let mut schema = Schema::new();
    let int = schema.add(simple(Builtin::Int));
    let inner = schema.add(complex(vec![field("a", int, (0, Some(1)))], vec![]));
    let types = vec![(QName::new("urn:t", "T"), inner)];
    let open = schema.add(Element::Open(OpenElement::new(Some(inner), types)));
    let root = schema.add(complex(vec![field("o", open, (0, Some(1))), field("c", inner, (0, Some(1)))], vec![]));
    for attributes in [
        "x:type='no:x' x:nil='bad'",
        "x:nil='bad' x:type='no:x'",
        "x:type='no:x' x:nil='true'",
        "x:type='t:T' x:nil='bad'",
        "x:type='t:T' x:nil='1' x:nil='0'",
    ] {
        for name in ["o", "c"] {
            let document = format!("<r xmlns:x='{XSI}' xmlns:t='urn:t'><{name} {attributes}></{name}></r>");
            let faults =
                read_all(&schema, root, Limits::default(), &std::array::from_fn::<_, 5, _>(|_| document.clone()));
            // If the type cannot be chosen, its name is not checked beside nil.
            assert!(faults == 5 || name == "c" && faults == 0, "{name} {attributes}: {faults}");
        }
    }
}

/// Findings about the attributes of one tag do not apply to another tag of the same field, however
/// many tags there were.
#[test]
fn attributes_are_those_of_the_tag_at_hand() {
    let mut schema = Schema::new();
    let int = schema.add(simple(Builtin::Int));
    let attribute = Attribute { name: QName::new("", "x"), element: int, required: true, default: None };
    let inner = schema.add(complex(vec![field("a", int, (0, Some(1)))], vec![attribute]));
    let root = schema.add(complex(vec![field("c", inner, (1, Some(1)))], vec![]));
    let document = |attributes: &str| format!("<r xmlns:xsi='{XSI}'><c{attributes}><a>1</a></c></r>");
    for fault in ["", " xsi:nil='true' x='3'", " x='none'"] {
        for others in 0..16 {
            let mut documents: Vec<_> = (0..others).map(|value| document(&format!(" x='{value}'"))).collect();
            documents.extend([fault, " x='99'", fault, " x='98' ", fault].map(document));
            assert!(read_all(&schema, root, Limits::default(), &documents) <= 3);
        }
    }
}

/// A known tag may have any plain values; the markup between them is the same.
#[test]
fn values_of_known_tags_may_differ() {
    let mut schema = Schema::new();
    let (int, text) = (schema.add(simple(Builtin::Int)), schema.add(simple(Builtin::String)));
    let attribute =
        |name, element| Attribute { name: QName::new("", name), element, required: false, default: Some("7".into()) };
    let inner =
        schema.add(complex(vec![field("a", int, (0, Some(1)))], vec![attribute("x", int), attribute("y", text)]));
    let root = schema.add(complex(vec![field("c", inner, (1, None)), field("d", inner, (0, Some(1)))], vec![]));
    let attributes = [
        "x='1' y='one'",
        "x='12' y=''",
        "x='12' y='a > b'",
        "x='12' y='a &gt; b'",
        "x='12' y='a < b'",
        "x='12' y='a\tb\n'",
        "x='12' y='\u{e4}\u{1F600}'",
        "x='12' y='\u{1}'",
        "x='12' y='\"'",
        "x='12' y=\"'\"",
        "x=' 12 ' y='one'",
        "x='none' y='one'",
        "x='3'  y='one'",
        "y='one' x='3'",
        "y='two' x='4'",
        "x='3'",
        "x='3' y='one' z='1'",
        "x='3' y='one' id='1'",
        "x='3' y='one' x='4'",
        "x='3' y='0123456789012345678901234567890123456789012345678'",
        "x='3' y='01234567890123456789012345678901234567890123456789'",
        "x='3' y='012345678901234567890123456789012345678901234567890'",
        "x='3' i:nil='false'",
        "x='3' i:nil='true'",
        "x='3' i:nil='1'",
        "x='3' i:type='t:T'",
        "x='3' i:type='i:U'",
        "x='3' y='one'/><c x='3' y='one'",
        "x='3' y='one",
    ];
    let limits = Limits { attribute_value: 50, ..Limits::default() };
    let document = |attributes: [&str; 3]| {
        let [one, two, three] = attributes.map(|it| format!(" {it}><a>1</a>"));
        format!("<r xmlns:i='{XSI}' xmlns:t='urn:t'><c{one}</c><c{two}</c><d{three}</d></r>")
    };
    let mut documents = Vec::new();
    for one in attributes {
        for two in attributes {
            documents.extend([document([one, two, one]), document([two; 3])]);
        }
    }
    let faults = read_all(&schema, root, limits, &documents);
    assert!((200..1300).contains(&faults), "{faults} of {}", documents.len());
}

#[derive(Debug, PartialEq, Soap)]
struct Rows {
    c: Vec<Row>,
}

#[derive(Debug, PartialEq, Soap)]
struct Row {
    #[soap(attribute)]
    x: Option<i32>,
    a: Option<i32>,
}

/// The values of `xsi:nil` and `xsi:type` are part of a known tag, since they decide how the
/// content is read.
#[test]
fn values_that_decide_how_content_is_read_are_part_of_known_tags() {
    let options = DecodeOptions { differential: Differential::OFF, ..DecodeOptions::default() };
    let mut decoder = Decoder::new(options);
    let read = |decoder: &mut Decoder, document: &str| {
        let mut root = ElementRoot::<Rows>::new(Rows::view());
        decoder.decode(&mut root, document.as_bytes()).map(|()| root.value)
    };
    let attributes =
        ["i:nil='false' x='1'", "i:nil='true' x='1'", "i:nil='no' x='1'", "i:type='t:A' x='1'", "i:type='no:A' x='1'"];
    for one in attributes {
        for two in attributes {
            let row = |attributes: &str| format!("<c {attributes}><a>1</a></c>");
            let rows = [row(one), row(one), row(two)].concat();
            let document = format!("<r xmlns:i='{XSI}' xmlns:t='urn:t'>{rows}</r>");
            let expected = read(&mut Decoder::without_shortcuts(options), &document);
            assert_eq!(read(&mut decoder, &document), expected, "{document}");
        }
    }
}

/// An end tag is longer than its start tag, and may be the only one beyond the limit.
#[test]
fn end_tags_count_against_the_limit_on_markup() {
    let mut schema = Schema::new();
    let int = schema.add(simple(Builtin::Int));
    let next = schema.next_ref();
    let fields =
        vec![field("leaf", int, (0, Some(1))), field("b", next, (0, Some(1))), field("ends", next, (0, Some(1)))];
    let root = schema.add(complex(fields, vec![]));
    let limits = Limits { markup: 6, ..Limits::default() };
    let documents = ["<r><b></b></r>", "<r><b></b></r>", "<r><leaf>1</leaf></r>", "<r><ends></ends></r>"];
    let documents: Vec<_> = documents.iter().chain(&documents).map(|it| (*it).to_owned()).collect();
    assert_eq!(read_all(&schema, root, limits, &documents), 4);
}

/// Once a decoder has forgotten names, its known tags are invalid.
#[test]
fn what_is_known_goes_with_the_names_that_are_forgotten() {
    let mut schema = Schema::new();
    let int = schema.add(simple(Builtin::Int));
    let inner = schema.add(complex(vec![field("a", int, (0, None)), field("b", int, (0, Some(1)))], vec![]));
    let fields = vec![field("c", inner, (0, None)), field("d", inner, (0, Some(1)))];
    let Element::Complex(root) = complex(fields, vec![]) else { unreachable!("a complex element") };
    let root = schema.add(Element::Complex(ComplexElement { open: true, ..root }));
    let usual = "<r><c><a>1</a><b>2</b></c><c><a>1</a><b>2</b></c><d><b>3</b></d></r>";
    let swapped = "<r><d><b>1</b></d></r>";
    let others = |from: u32| {
        let names: String = (from..from + 4200).map(|number| format!("<n{number}/>")).collect();
        format!("<r>{names}</r>")
    };
    let mut documents = Vec::new();
    for round in 0..3 {
        documents.extend([
            usual.to_owned(),
            usual.to_owned(),
            others(round * 9000),
            swapped.to_owned(),
            usual.to_owned(),
        ]);
    }
    assert_eq!(read_all(&schema, root, Limits::default(), &documents), 0);
}

/// Values of attributes are part of known tags, but are forgotten before the next message, which
/// may come from another client.
#[test]
fn values_of_attributes_are_forgotten() {
    let mut schema = Schema::new();
    let text = schema.add(simple(Builtin::String));
    let attribute = Attribute { name: QName::new("", "x"), element: text, required: false, default: None };
    let inner = schema.add(complex(vec![field("a", text, (0, Some(1)))], vec![attribute]));
    let root = schema.add(complex(vec![field("c", inner, (0, None))], vec![]));
    let mut decoder = Decoder::new(DecodeOptions::default());
    let mut read = |value: &str| {
        let document = format!("<r>{}</r>", format!("<c x='{value}'><a>text-{value}</a></c>").repeat(3));
        let mut root = ElementRoot::<Value>::new(schema.view(root));
        decoder.decode(&mut root, document.as_bytes()).expect("a valid document");
        decoder.reset();
        format!("{decoder:?}")
    };
    for value in ["one-secret", "another-secret"] {
        assert!(!read(value).contains("secret"));
    }
}

/// Destructors of thread-local values may read documents, before and after the thread's own decoder
/// is dropped.
#[test]
fn documents_are_read_while_a_thread_ends() {
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            assert_eq!(from_slice::<i32>(b"<a>1</a>", &QName::new("", "a")), Ok(1));
        }
    }
    thread_local! {
        static BEFORE: Last = const { Last };
        static BEHIND: Last = const { Last };
    }
    let thread = std::thread::spawn(|| {
        BEFORE.with(|_| ());
        drop(Last);
        BEHIND.with(|_| ());
    });
    thread.join().expect("no panic");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, ..ProptestConfig::default() })]
    #[test]
    fn decoders_that_learn_give_what_others_give(seed: u64) {
        repeats::check(seed).map_err(TestCaseError::fail)?;
    }
}

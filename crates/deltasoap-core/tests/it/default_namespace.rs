//! Default namespaces: which messages have one, and that these mean the same as with prefixes.

use crate::dynamic::Stream;
use crate::generate;
use deltasoap_core::encode::Encoder;
use deltasoap_core::schema::{
    ArrayElement, Attribute, Builtin, ComplexElement, Compositor, Element, ElementRef, Field, Schema, SimpleElement,
    UnionElement, Use, View,
};
use deltasoap_core::soap::Envelope;
use deltasoap_core::{Buffer, Content, Differential, Node, QName, Record, Simple, Typed, Value, ns};
use deltasoap_streams::prng::SplitMix64;
use deltasoap_test_support::Entropy;
use proptest::prelude::*;
use std::collections::BTreeSet;

const ROOT: QName = QName::new("urn:op", "operation");

fn simple(schema: &mut Schema, base: Builtin) -> ElementRef {
    schema.add(Element::Simple(SimpleElement {
        name: base.name(),
        base,
        enumeration: Default::default(),
        default: None,
        packed: None,
    }))
}

fn field(namespace: &'static str, local: &'static str, element: ElementRef) -> Field {
    Field { name: QName::new(namespace, local), element, min: 0, max: None, nillable: false, inline: false }
}

fn complex(fields: Vec<Field>) -> ComplexElement {
    ComplexElement {
        name: QName::new("urn:op", "T"),
        compositor: Compositor::Sequence,
        fields: fields.into(),
        attributes: Default::default(),
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    }
}

fn attribute(namespace: &'static str, element: ElementRef) -> Attribute {
    Attribute { name: QName::new(namespace, "a"), element, required: false, default: None }
}

fn written(value: &Value, view: View<'_>, encoding: Use) -> String {
    let message = Envelope::element(&ROOT, value, view).encoding(encoding).write(Buffer::new());
    String::from_utf8(message.expect("writable").into_vec()).expect("UTF-8")
}

fn body(message: &str) -> &str {
    let (_, rest) = message.split_once("<soap:Body>").expect("a body");
    rest.split_once("</soap:Body>").expect("its end").0
}

/// A message whose operation always has a prefix.
fn prefixed(value: &Value, view: View<'_>) -> String {
    let mut encoder = Encoder::new();
    let name = |local| QName::new(ns::SOAP11, local);
    encoder.start_with_prefix(&name("Envelope"), "soap");
    if view.has_nillable() {
        encoder.declare(ns::XSI, "xsi");
    }
    encoder.start(&name("Body"));
    encoder.start(&ROOT);
    value.encode(&mut encoder, view);
    (0..3).for_each(|_| encoder.end());
    String::from_utf8(encoder.finish().expect("writable").into_vec()).expect("UTF-8")
}

/// The content that another parser finds: names with their namespaces, attributes in any order,
/// texts.
fn seen_by_others(document: &str) -> String {
    fn see(node: roxmltree::Node<'_, '_>, out: &mut String) {
        let attributes: BTreeSet<_> = node.attributes().map(|it| (it.namespace(), it.name(), it.value())).collect();
        let name = node.tag_name();
        *out += &format!("<{{{}}}{} {attributes:?}>", name.namespace().unwrap_or_default(), name.name());
        for child in node.children() {
            if child.is_element() { see(child, out) } else { *out += &format!("{:?}", child.text()) }
        }
        out.push_str("</>");
    }
    let document = roxmltree::Document::parse(document).expect("well-formed");
    let mut out = String::new();
    see(document.root_element(), &mut out);
    out
}

#[test]
fn elements_of_the_operations_namespace_have_no_prefix() {
    let mut schema = Schema::new();
    let text = simple(&mut schema, Builtin::Int);
    let lang = Attribute { name: QName::new(ns::XML, "lang"), ..attribute("", text) };
    let inner = complex(vec![field("urn:op", "x", text), field("urn:other", "y", text)]);
    let inner = schema.add(Element::Complex(ComplexElement { attributes: vec![lang].into(), ..inner }));
    let root = schema.add(Element::Complex(complex(vec![field("urn:op", "inner", inner)])));
    let number = |number| Value::List(vec![Value::Simple(Simple::Int(number))]);
    let record = |fields: Vec<Value>, attributes: Vec<Option<Simple>>| {
        Value::Record(Box::new(Record { fields, attributes, others: Default::default() }))
    };
    let inner = record(vec![number(1), number(2)], vec![Some(Simple::Int(3))]);
    let value = record(vec![Value::List(vec![inner])], Vec::new());
    let view = schema.view(root);
    let expected = r#"<operation xmlns="urn:op"><inner xml:lang="3"><x>1</x><ns:y xmlns:ns="urn:other">2</ns:y></inner></operation>"#;
    assert_eq!(body(&written(&value, view, Use::Literal)), expected);
    // In SOAP section 5 encoding, values contain names too.
    assert!(body(&written(&value, view, Use::Encoded)).starts_with("<ns:operation xmlns:ns=\"urn:op\" "));
}

/// If one name needs a prefix, at any depth, all names keep theirs.
#[test]
fn what_a_default_namespace_could_change_keeps_prefixes() {
    let mut schema = Schema::new();
    let (text, name) = (simple(&mut schema, Builtin::String), simple(&mut schema, Builtin::QName));
    let any_simple = SimpleElement {
        name: QName::new(ns::XSD, "anySimpleType"),
        base: Builtin::String,
        enumeration: Default::default(),
        default: None,
        packed: None,
    };
    let plain = complex(vec![field("urn:op", "x", text)]);
    let one = |field| Element::Complex(complex(vec![field]));
    let with = |attribute| Element::Complex(ComplexElement { attributes: vec![attribute].into(), ..plain.clone() });
    let union = |member| {
        Element::Union(UnionElement {
            name: QName::default(),
            members: vec![member].into(),
            default: None,
            list: false,
        })
    };
    let array = ArrayElement {
        name: QName::new("urn:op", "A"),
        item_name: QName::new("urn:op", "item"),
        item: text,
        item_type: QName::new("urn:op", "T"),
        nillable: false,
        dimensions: 1,
    };
    let any = schema.add(Element::Any);
    let inline = |element| Field { inline: true, ..field("", "", element) };
    let text_of = |text| Element::Complex(ComplexElement { text: Some(text), ..complex(vec![inline(text)]) });
    let cases = [
        (true, Element::Complex(plain.clone())),
        (true, with(attribute("", text))),
        (true, union(text)),
        (true, text_of(text)),
        (false, one(field("", "x", text))),
        (false, one(field("urn:op", "x", any))),
        (false, one(inline(any))),
        (false, one(field("urn:op", "x", name))),
        (false, with(attribute("urn:op", text))),
        (false, with(attribute("", name))),
        (false, union(name)),
        (false, text_of(name)),
        (false, Element::Array(array)),
        (false, Element::Simple(any_simple)),
    ];
    for (expected, element) in cases {
        let shown = format!("{element:?}");
        let inner = schema.add(element);
        let middle = schema.add(Element::Shared(inner));
        let root = schema.add(Element::Complex(complex(vec![field("urn:op", "inner", middle)])));
        for reference in [inner, root] {
            assert_eq!(schema.view(reference).takes_default_namespace(), expected, "{shown}");
        }
    }
    assert!(!Node::view().takes_default_namespace());
    assert!(String::view().takes_default_namespace());
}

/// A tree may be used where the schema has none; its names stay unchanged.
#[test]
fn what_the_description_does_not_have_keeps_its_names() {
    let mut schema = Schema::new();
    let text = simple(&mut schema, Builtin::String);
    let root = schema.add(Element::Complex(complex(vec![Field { max: Some(1), ..field("urn:op", "x", text) }])));
    for tree in [
        "<x xmlns='urn:op'><a xmlns=''><b/><o:c xmlns:o='urn:op'/></a><d/></x>",
        "<o:x xmlns:o='urn:op' xmlns='urn:y'><a/><o:d/><e xmlns='' o:f='1'/></o:x>",
        "<o:x xmlns:o='urn:op'><a xmlns:q='urn:op' q:f='1'/><o:b/></o:x>",
    ] {
        let node = Node::parse(tree.as_bytes()).expect("well-formed");
        let fields = vec![Value::Tree(Box::new(node.clone()))];
        let value = Value::Record(Box::new(Record { fields, attributes: Vec::new(), others: Default::default() }));
        let message = written(&value, schema.view(root), Use::Literal);
        let body = body(&message);
        assert!(body.starts_with("<operation xmlns=\"urn:op\"><x"), "{body}");
        let again = Node::parse(body.as_bytes()).expect("well-formed");
        assert!(again.elements().all(|it| it.is_equivalent(&node)), "{body}");
        let expected = format!("<p:operation xmlns:p='urn:op'>{tree}</p:operation>");
        assert_eq!(seen_by_others(body), seen_by_others(&expected));
    }
}

/// The random schemas below include both kinds.
#[test]
fn random_schemas_take_default_namespaces() {
    let mut random = SplitMix64::new(1);
    let takes = |len: &usize| {
        let entropy: Vec<u8> = (0..len % 60).map(|_| random.next_u64() as u8).collect();
        let (schema, root) = generate::schema(&mut Entropy(&entropy));
        let view = schema.view(root);
        view.takes_default_namespace() && view.complex().is_some_and(|complex| complex.fields.len() > 1)
    };
    let count = (0..1000).filter(takes).count();
    assert!((100..900).contains(&count), "{count}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_but_prefixes_differs(
        schema in prop::collection::vec(any::<u8>(), 0..60),
        value in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let (schema, root) = generate::schema(&mut Entropy(&schema));
        let view = schema.view(root);
        let value = generate::value(&mut Entropy(&value), view);
        let (ours, other) = (written(&value, view, Use::Literal), prefixed(&value, view));
        prop_assert_eq!(body(&ours).contains("<operation xmlns=\"urn:op\""), view.takes_default_namespace());
        prop_assert!(body(&ours).len() <= body(&other).len(), "{} {}", ours, other);
        prop_assert_eq!(seen_by_others(&ours), seen_by_others(&other));
        // Both are read by one decoder, which compares them, and each alone.
        let mut stream = Stream::new(view, Differential::default());
        for message in [&ours, &other, &ours, &ours] {
            let read = stream.next(message, usize::MAX);
            prop_assert_eq!(format!("{:?}", read), format!("{:?}", Some(&value)), "{}", message);
        }
    }
}

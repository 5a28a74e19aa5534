//! Schema features beyond plain structs: derived types, wildcards, elements of other types,
//! repeated elements, lists.

use crate::support::{decode, encode, fault, round_trip};
use deltasoap::engine::encode::Encoder;
use deltasoap::engine::{Content, ErrorKind, Typed};
use deltasoap::lexical::List;
use deltasoap::schema::{QName, Use};
use deltasoap::soap::Envelope;
use deltasoap::types::Node;
use deltasoap::{Message, Soap};

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(namespace = "urn:f")]
    struct Base {
        id: i32,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(namespace = "urn:f", name = "circle")]
    struct Circle {
        id: i32,
        radius: f64,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(derived, namespace = "urn:f", name = "Base")]
    enum AnyBase {
        #[soap(base)]
        Base(Base),
        Circle(Box<Circle>),
        #[soap(other)]
        Other(Node),
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Figures {
        figure: Vec<AnyBase>,
    }
}

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
const XSD: &str = "http://www.w3.org/2001/XMLSchema";

#[test]
fn the_type_is_told_where_it_is_not_the_base() {
    let figures = Figures {
        figure: vec![
            AnyBase::Base(Base { id: 1 }),
            AnyBase::Circle(Box::new(Circle { id: 2, radius: 0.5 })),
            AnyBase::Base(Base { id: 3 }),
        ],
    };
    let xml = encode(&figures);
    assert!(xml.contains("<figure><id>1</id></figure>"), "{xml}");
    assert_eq!(xml.matches(":circle\"").count(), 1, "{xml}");
    assert_eq!(decode::<Figures>(&xml), Ok(figures));
}

#[test]
fn other_types_are_kept_as_trees() {
    let xml = format!(
        "<r xmlns:xsi='{XSI}' xmlns:u='urn:u'><figure xsi:type='u:circle'><side>2</side></figure>\
         <figure xmlns:f='urn:f' xsi:type='f:Base'><id>7</id></figure></r>"
    );
    let figures = decode::<Figures>(&xml).expect("good");
    assert!(matches!(&figures.figure[0], AnyBase::Other(tree) if tree.element("", "side").is_some()));
    assert_eq!(figures.figure[1], AnyBase::Base(Base { id: 7 }));
    let again = decode::<Figures>(&encode(&figures)).expect("good");
    match (&figures.figure[0], &again.figure[0]) {
        (AnyBase::Other(before), AnyBase::Other(after)) => assert!(before.is_equivalent(after), "{after:?}"),
        other => panic!("{other:?}"),
    }
}

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(derived)]
    enum Strict {
        Circle(Circle),
    }
}

#[test]
fn an_abstract_type_needs_a_known_name() {
    assert!(matches!(fault::<Strict>("<r><id>1</id><radius>2</radius></r>"), ErrorKind::Type { .. }));
    let other = format!("<r xmlns:xsi='{XSI}' xsi:type='circle'><id>1</id><radius>2</radius></r>");
    assert!(matches!(fault::<Strict>(&other), ErrorKind::Type { .. }));
    let undeclared = format!("<r xmlns:xsi='{XSI}' xsi:type='f:circle'/>");
    assert!(matches!(fault::<Strict>(&undeclared), ErrorKind::Type { .. }));
}

#[test]
fn in_soap_encoding_the_type_is_told_once() {
    let mut encoder = Encoder::new();
    encoder.set_encoding(Use::Encoded);
    encoder.start(&QName::new("", "r"));
    AnyBase::Circle(Box::new(Circle { id: 1, radius: 2.0 })).encode(&mut encoder, AnyBase::view());
    encoder.end();
    let xml = String::from_utf8(encoder.finish().expect("good").into_vec()).expect("UTF-8");
    assert_eq!(xml.matches(":circle\"").count(), 1, "{xml}");
    assert!(matches!(decode::<AnyBase>(&xml), Ok(AnyBase::Circle(_))));
}

/// The name of the body's element does not determine which of the types it has, unlike for other
/// types.
#[test]
fn in_soap_encoding_a_body_tells_its_type() {
    let circle = AnyBase::Circle(Box::new(Circle { id: 1, radius: 2.0 }));
    let name = QName::new("urn:f", "figure");
    let envelope = Envelope::element(&name, &circle, AnyBase::view()).encoding(Use::Encoded);
    let message = String::from_utf8(envelope.to_vec().expect("good")).expect("UTF-8");
    let start = message.find("<ns:figure").expect("an element");
    let end = message.find("</soap:Body>").expect("a body");
    let declared = format!("<r xmlns:ns='urn:f' xmlns:xsi='{XSI}' xmlns:soap='s' xmlns:xsd='{XSD}'>");
    let content = message[start..end].replacen("<ns:figure", "<figure", 1).replace("</ns:figure>", "</figure>");
    let figures = decode::<Figures>(&format!("{declared}{content}</r>")).expect("good");
    assert_eq!(figures.figure, [circle], "{message}");
}

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(rename_all = "camelCase")]
    struct Wild {
        first: i32,
        #[soap(inline)]
        rest: Vec<Node>,
        last: Option<String>,
    }
}

#[test]
fn elements_that_nothing_names_are_kept() {
    let xml = r#"<r><first>1</first><a b="c">t</a><d><e/></d><last>x</last></r>"#;
    let wild = decode::<Wild>(xml).expect("good");
    assert_eq!((wild.rest.len(), wild.last.as_deref()), (2, Some("x")));
    assert_eq!(encode(&wild), xml);
}

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(transparent, element = "circle", namespace = "urn:e")]
    struct CircleElement(Circle);

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(transparent, element = "count", namespace = "urn:e")]
    struct Count(i32);
}

#[test]
fn an_element_of_a_type_that_others_have_too() {
    assert_eq!(CircleElement::ELEMENT, QName::new("urn:e", "circle"));
    assert_eq!(CircleElement::TYPE_NAME, Circle::TYPE_NAME);
    round_trip(&CircleElement(Circle { id: 1, radius: 2.0 }), "<r><id>1</id><radius>2</radius></r>");
    round_trip(&Count(7), "<r>7</r>");
}

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Again {
        a: i32,
        b: Option<i32>,
        #[soap(again, name = "a")]
        a2: Vec<i32>,
    }
}

#[test]
fn elements_may_come_again() {
    round_trip(&Again { a: 1, b: Some(2), a2: vec![3, 4] }, "<r><a>1</a><b>2</b><a>3</a><a>4</a></r>");
    round_trip(&Again { a: 1, b: None, a2: vec![3] }, "<r><a>1</a><a>3</a></r>");
    round_trip(&Again { a: 1, b: None, a2: vec![] }, "<r><a>1</a></r>");
}

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Lists {
        #[soap(attribute)]
        widths: Option<List<u8>>,
        names: List<String>,
    }
}

#[test]
fn lists_are_items_between_white_space() {
    let lists = Lists { widths: Some(List(vec![1, 2])), names: List(vec!["a".into(), "b".into()]) };
    round_trip(&lists, r#"<r widths="1 2"><names>a b</names></r>"#);
    round_trip(&Lists { widths: None, names: List(vec![]) }, "<r><names></names></r>");
    assert!(matches!(fault::<Lists>("<r widths='1 300'><names/></r>"), ErrorKind::Lexical(_)));
}

//! Enums: choices, inline and not, enumerations, unions.

use crate::support::{decode, encode, fault, round_trip, unexpected};
use deltasoap::engine::{ErrorKind, Lexical, Typed};
use deltasoap::schema::{Element, QName, Use};
use deltasoap::{Soap, SoapArray};

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Point {
        x: i32,
        y: i32,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(rename_all = "camelCase")]
    enum Shape {
        Dot(Point),
        #[soap(name = "line-width")]
        Width(f64),
        FullPage,
        Nested(Box<Shape>),
    }
}

const DOT: &str = "<dot><x>1</x><y>2</y></dot>";

fn dot() -> Shape {
    Shape::Dot(Point { x: 1, y: 2 })
}

#[test]
fn a_choice_with_an_element_of_its_own() {
    round_trip(&dot(), &format!("<r>{DOT}</r>"));
    round_trip(&Shape::Width(0.5), "<r><line-width>0.5</line-width></r>");
    round_trip(&Shape::FullPage, "<r><fullPage/></r>");
    round_trip(&Shape::Nested(Box::new(Shape::FullPage)), "<r><nested><fullPage/></nested></r>");
    assert!(matches!(fault::<Shape>("<r/>"), ErrorKind::MissingElement { .. }));
    assert!(matches!(fault::<Shape>("<r><square/></r>"), ErrorKind::UnexpectedElement { .. }));
    let both = "<r><fullPage/><line-width>1</line-width></r>";
    assert!(matches!(fault::<Shape>(both), ErrorKind::UnexpectedElement { found, .. } if found == "line-width"));
    assert_eq!(fault::<Shape>("<r><fullPage><a/></fullPage></r>"), unexpected("a", "the end of the element"));
}

types! {
    #[derive(Debug, PartialEq, Soap)]
    struct Drawing {
        title: String,
        #[soap(inline)]
        frame: Shape,
        #[soap(inline)]
        mark: Option<Mark>,
        #[soap(inline)]
        parts: Vec<Part>,
        end: Option<i32>,
    }

    #[derive(Debug, PartialEq, Soap)]
    enum Mark {
        #[soap(name = "markedBy")]
        By(String),
        #[soap(name = "unmarked")]
        Not,
    }

    #[derive(Debug, PartialEq, Soap)]
    enum Part {
        #[soap(name = "text")]
        Text(String),
        #[soap(inline)]
        Number(Number),
    }

    #[derive(Debug, PartialEq, Soap)]
    enum Number {
        #[soap(name = "int")]
        Int(i32),
        #[soap(name = "dbl")]
        Dbl(f64),
    }
}

types! {
    #[derive(Debug, PartialEq, Soap)]
    enum Branch {
        #[soap(name = "one")]
        One(i32),
        #[soap(name = "some", max = 2)]
        Some(Vec<i32>),
    }
}

#[test]
fn a_chosen_element_that_comes_too_often_is_named() {
    assert_eq!(decode("<r><some>1</some><some>2</some></r>"), Ok(Branch::Some(vec![1, 2])));
    let expected = |xml| match fault::<Branch>(xml) {
        ErrorKind::UnexpectedElement { expected, .. } => expected,
        other => panic!("{other:?}"),
    };
    assert_eq!(expected("<r><some>1</some><some>2</some><some>3</some></r>"), "<some> at most 2 times");
    assert_eq!(expected("<r><one>1</one><one>2</one></r>"), "only one of <one> or <some>");
    assert_eq!(expected("<r><some>1</some><one>2</one></r>"), "only one of <one> or <some>");
}

#[test]
fn inline_choices() {
    let least = Drawing { title: String::new(), frame: dot(), mark: None, parts: Vec::new(), end: None };
    round_trip(&least, &format!("<r><title></title>{DOT}</r>"));
    let most = Drawing {
        title: "t".to_owned(),
        frame: Shape::FullPage,
        mark: Some(Mark::By("me".to_owned())),
        parts: vec![
            Part::Number(Number::Int(1)),
            Part::Text("a".to_owned()),
            Part::Number(Number::Dbl(0.5)),
            Part::Number(Number::Int(2)),
        ],
        end: Some(0),
    };
    let xml = "<r><title>t</title><fullPage/><markedBy>me</markedBy>\
               <int>1</int><text>a</text><dbl>0.5</dbl><int>2</int><end>0</end></r>";
    round_trip(&most, xml);
    round_trip(&Drawing { mark: Some(Mark::Not), ..least }, &format!("<r><title></title>{DOT}<unmarked/></r>"));
    assert_eq!(
        fault::<Drawing>("<r><title/></r>"),
        ErrorKind::MissingElement { expected: "frame".to_owned(), skipped: None }
    );
    let twice = "<r><title/><fullPage/><fullPage/></r>";
    assert!(matches!(fault::<Drawing>(twice), ErrorKind::UnexpectedElement { found, .. } if found == "fullPage"));
    let late = "<r><title/><fullPage/><int>1</int><unmarked/></r>";
    assert!(matches!(fault::<Drawing>(late), ErrorKind::UnexpectedElement { found, .. } if found == "unmarked"));
}

types! {
    #[derive(Debug, PartialEq, Soap)]
    #[soap(namespace = "urn:c", qualified)]
    enum Repeated {
        #[soap(name = "one")]
        One(i32),
        #[soap(name = "many")]
        Many(Vec<Point>),
    }
}

#[test]
fn a_variant_may_repeat() {
    let many = Repeated::Many((0..40).map(|x| Point { x, y: -x }).collect());
    assert_eq!(decode::<Repeated>(&encode(&many)).as_ref(), Ok(&many));
    assert_eq!(decode("<r/>"), Ok(Repeated::Many(Vec::new())));
    round_trip(&Repeated::One(1), r#"<r><ns:one xmlns:ns="urn:c">1</ns:one></r>"#);
    let twice = r#"<r xmlns:ns="urn:c"><ns:one>1</ns:one><ns:one>1</ns:one></r>"#;
    assert!(matches!(fault::<Repeated>(twice), ErrorKind::UnexpectedElement { .. }));
}

types! {
    #[derive(Debug, Clone, Copy, PartialEq, Soap)]
    #[soap(choice, rename_all = "lowercase")]
    enum Switch {
        On,
        Off,
    }
}

#[test]
fn unit_variants_as_a_choice() {
    round_trip(&Switch::Off, "<r><off/></r>");
    assert!(matches!(Switch::element(), Element::Complex(_)));
}

types! {
    #[derive(Debug, Clone, Copy, PartialEq, Soap)]
    #[soap(namespace = "urn:c", rename_all = "kebab-case")]
    enum Color {
        Red,
        DarkBlue,
        #[soap(name = "black & white")]
        Both,
        #[soap(name = "")]
        None,
    }

    #[derive(Debug, PartialEq, Soap)]
    struct Colors {
        #[soap(attribute)]
        main: Option<Color>,
        c: Vec<Color>,
    }
}

#[test]
fn enumerations() {
    let value = Colors { main: Some(Color::Both), c: vec![Color::Red, Color::DarkBlue, Color::Both, Color::None] };
    let xml = r#"<r main="black &amp; white"><c>red</c><c>dark-blue</c><c>black &amp; white</c><c></c></r>"#;
    round_trip(&value, xml);
    let xml = r#"<r main="black &#38; white"><c>r<!-- -->ed</c><c> dark-blue
        </c><c>black  &amp; white</c><c/></r>"#;
    assert_eq!(decode(xml), Ok(value));
    let expected = "one of \"red\", \"dark-blue\", \"black & white\", \"\" ({urn:c}Color)".to_owned();
    let unknown = ErrorKind::UnexpectedValue { found: "green".to_owned(), expected };
    assert_eq!(fault::<Color>("<r> green</r>"), unknown);
    assert_eq!(fault::<Colors>("<r main='green'/>"), unknown);
}

types! {
    #[derive(Debug, Clone, PartialEq, Eq, Hash, Soap)]
    #[soap(namespace = "urn:c", rename_all = "kebab-case")]
    enum AnyColor {
        Red,
        #[soap(other)]
        Unknown(String),
        DarkBlue,
    }

    #[derive(Debug, PartialEq, Soap)]
    struct AnyColors {
        #[soap(attribute)]
        main: Option<AnyColor>,
        c: Vec<AnyColor>,
    }
}

#[test]
fn other_texts_are_kept() {
    let unknown = |text: &str| AnyColor::Unknown(text.to_owned());
    let value = AnyColors {
        main: Some(unknown("gr<een")),
        c: vec![AnyColor::Red, unknown(" light  &\tblue"), AnyColor::DarkBlue, unknown("")],
    };
    let xml = "<r main=\"gr&lt;een\"><c>red</c><c> light  &amp;\tblue</c><c>dark-blue</c><c></c></r>";
    round_trip(&value, xml);
    assert_eq!(decode("<r><c> red </c><c/></r>"), Ok(AnyColors { main: None, c: vec![AnyColor::Red, unknown("")] }));
    let Element::Simple(simple) = AnyColor::element() else { panic!("a simple type") };
    assert!(simple.enumeration.is_empty());
    assert_eq!((AnyColor::MAX_WIDTH, AnyColor::vacant()), (None, AnyColor::Red));
    assert_eq!(AnyColor::scan(b"dark-blue</c>"), Some((AnyColor::DarkBlue, 9)));
    assert_eq!(AnyColor::scan(b"green</c>"), None);
}

#[test]
fn the_schema_of_an_enumeration() {
    let Element::Simple(simple) = Color::element() else { panic!("a simple type") };
    assert_eq!(simple.name, QName::new("urn:c", "Color"));
    assert_eq!(&simple.enumeration[..], ["red", "dark-blue", "black & white", ""]);
    assert_eq!(Color::MAX_WIDTH, Some(13));
    assert_eq!(Color::scan(b"dark-blue</c>"), Some((Color::DarkBlue, 9)));
    for text in [&b"black & white<"[..], b"red", b" red<", b"redd<"] {
        assert_eq!(Color::scan(text), None);
    }
}

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(union)]
    enum Size {
        Points(i32),
        Named(NamedSize),
        Other(String),
    }

    #[derive(Debug, Clone, Copy, PartialEq, Soap)]
    #[soap(rename_all = "lowercase")]
    enum NamedSize {
        Small,
        Large,
    }

    #[derive(Debug, PartialEq, Soap)]
    #[soap(union)]
    enum Bounded {
        Points(i32),
        Named(NamedSize),
    }

    #[derive(Debug, PartialEq, Soap)]
    struct Sizes {
        size: Vec<Size>,
    }
}

#[test]
fn unions_take_the_first_member_that_fits() {
    let sizes = [Size::Points(12), Size::Named(NamedSize::Large), Size::Other("x<y".to_owned()), Size::Points(-1)];
    let value = Sizes { size: sizes.to_vec() };
    let xml = "<r><size>12</size><size>large</size><size>x&lt;y</size><size>-1</size></r>";
    round_trip(&value, xml);
    let xml = "<r><size> 12 </size><size> large</size><size>x&lt;y</size><size>-&#49;</size></r>";
    assert_eq!(decode(xml), Ok(value));
    assert_eq!((Size::MAX_WIDTH, Bounded::MAX_WIDTH), (None, i32::MAX_WIDTH));
    let ErrorKind::Lexical(error) = fault::<Bounded>("<r>huge</r>") else { panic!("a lexical error") };
    assert_eq!(error.expected, "Bounded");
    let Element::Union(union) = Size::element() else { panic!("a union") };
    assert_eq!(union.members.len(), 3);
}

types! {
    #[derive(Debug, PartialEq, Soap)]
    #[soap(namespace = "urn:c", element = "draw")]
    struct Call {
        shape: Shape,
        colors: SoapArray<Color>,
        size: Option<Size>,
    }
}

#[test]
fn encoded_messages_name_the_types() {
    use deltasoap::soap::Envelope;
    let call = Call { shape: dot(), colors: vec![Color::Red].into(), size: Some(Size::Points(1)) };
    let message = Envelope::new(&call).encoding(Use::Encoded).write(deltasoap::engine::Buffer::new());
    let xml = String::from_utf8(message.expect("writable").into_vec()).expect("UTF-8");
    for part in [":Color[1]\"", "xsi:type=\"Shape\"", "<x xsi:type=\"xsd:int\">1</x>", "xsi:type=\"Size\">1</size>"] {
        assert!(xml.contains(part), "{part} in {xml}");
    }
    assert!(!xml.contains("draw xsi:type"), "{xml}");
}

//! Structs: occurrence, order, names, attributes, text, arrays, recursion.

use crate::support::{decode, encode, fault, missing, round_trip, unexpected};
use deltasoap::engine::decode::{Decoder, Root};
use deltasoap::engine::{Checkpoints, DecodeOptions, Differential, ErrorKind, Memory, Typed};
use deltasoap::lexical::Base64;
use deltasoap::schema::{Builtin, Element, QName};
use deltasoap::soap::{EnvelopeReader, RequestReceiver};
use deltasoap::types::Empty;
use deltasoap::{Message, Nillable, Soap, SoapArray};
use deltasoap_checkpoints::{Portions, State};

types! {
    #[derive(Debug, Clone, Default, PartialEq, Soap)]
    struct Point {
        x: i32,
        y: i32,
    }
}

fn point(x: i32, y: i32) -> Point {
    Point { x, y }
}

types! {
    #[derive(Debug, PartialEq, Soap)]
    struct Presence {
        once: String,
        optional: Option<String>,
        nillable: Nillable<String>,
        both: Option<Nillable<String>>,
        many: Vec<Nillable<i32>>,
        mark: Option<Empty>,
    }
}

#[test]
fn absent_nil_and_empty_are_told_apart() {
    let absent = Presence {
        once: String::new(),
        optional: None,
        nillable: Nillable::Nil,
        both: None,
        many: Vec::new(),
        mark: None,
    };
    let nil = r#"xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true""#;
    round_trip(&absent, &format!("<r><once></once><nillable {nil}/></r>"));
    let there = Presence {
        once: "a".to_owned(),
        optional: Some(String::new()),
        nillable: Nillable::Value(String::new()),
        both: Some(Nillable::Nil),
        many: vec![Nillable::Value(1), Nillable::Nil],
        mark: Some(Empty),
    };
    round_trip(
        &there,
        &format!(
            "<r><once>a</once><optional></optional><nillable></nillable><both {nil}/>\
             <many>1</many><many {nil}/><mark/></r>"
        ),
    );
    let xml =
        format!("<r><once/><optional/><nillable/><both {nil}></both><many>1</many><many {nil}/><mark></mark></r>");
    assert_eq!(decode(&xml), Ok(Presence { once: String::new(), ..there }));
    assert!(matches!(fault::<Presence>(&format!("<r><once {nil}/></r>")), ErrorKind::Nil(_)));
    assert!(matches!(fault::<Presence>("<r><once/><nillable/><mark>x</mark></r>"), ErrorKind::UnexpectedText));
}

types! {
    #[derive(Debug, Default, PartialEq, Soap)]
    #[soap(all, nillable)]
    struct Accessors {
        number: Option<f64>,
        #[soap(name = "t")]
        text: Option<String>,
        point: Option<Box<Point>>,
        array: Option<SoapArray<i32>>,
        list: Vec<Nillable<i32>>,
        kept: Option<Nillable<i32>>,
        one: One,
    }

    #[derive(Debug, Default, PartialEq, Soap)]
    struct One {
        #[soap(nillable)]
        nil: Option<i32>,
        not: Option<i32>,
    }
}

#[test]
fn nil_is_absent_where_the_type_says_so() {
    let xsi = "xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'";
    let nil = |names: &[&str]| {
        let element = |name: &&str| format!("<{name} xsi:nil='true'></{name}>");
        format!("<r {xsi}><one/>{}</r>", names.iter().map(element).collect::<String>())
    };
    assert_eq!(decode(&nil(&["number", "t", "point", "array"])), Ok(Accessors::default()));
    assert_eq!(encode(&Accessors::default()), "<r><one/></r>");
    let there = Accessors {
        number: Some(0.5),
        text: Some(String::new()),
        point: Some(Box::new(point(1, 2))),
        array: Some(vec![1].into()),
        list: vec![Nillable::Nil, Nillable::Value(1)],
        kept: Some(Nillable::Nil),
        one: One { nil: None, not: Some(1) },
    };
    let xml = "<one><nil xsi:nil='1'/><not>1</not></one><list xsi:nil='1'/><list>1</list><kept xsi:nil='1'/><array xsi:nil='0'><item>1</item></array><t xsi:nil='false'/><point><x>1</x><y>2</y></point>\
               <number>0.5</number>";
    assert_eq!(decode(&format!("<r {xsi}>{xml}</r>")), Ok(there));
    let one = "<one><not xsi:nil='1'/></one>";
    for wrong in ["<t xsi:nil='true'>x</t>", "<t xsi:nil='true'><x/></t>", "<t xsi:nil='maybe'/>", one] {
        let error = fault::<Accessors>(&format!("<r {xsi}>{wrong}</r>"));
        assert!(matches!(error, ErrorKind::Nil(_) | ErrorKind::UnexpectedText), "{wrong}: {error:?}");
    }
    let twice = fault::<Accessors>(&nil(&["t", "t"]));
    assert!(matches!(twice, ErrorKind::UnexpectedElement { .. }), "{twice:?}");
}

#[test]
fn a_sequence_has_an_order() {
    round_trip(&point(1, -2), "<r><x>1</x><y>-2</y></r>");
    assert_eq!(fault::<Point>("<r><y>1</y><x>2</x></r>"), unexpected("y", "<x>"));
    assert_eq!(fault::<Point>("<r><x>1</x></r>"), missing("y"));
    assert_eq!(fault::<Point>("<r><x>1</x><x>1</x><y>2</y></r>"), unexpected("x", "<y>, and <x> only once"));
    assert_eq!(fault::<Point>("<r><x>1</x><y>2</y><z/></r>"), unexpected("z", "the end of the element"));
    assert!(matches!(fault::<Point>("<r><x>1</x><y>z</y></r>"), ErrorKind::Lexical(_)));
}

types! {
    #[derive(Debug, PartialEq, Soap)]
    #[soap(all)]
    struct AnyOrder {
        a: i32,
        b: Option<i32>,
        c: Vec<i32>,
    }
}

#[test]
fn all_has_none() {
    let value = AnyOrder { a: 1, b: Some(2), c: vec![3, 4] };
    round_trip(&value, "<r><a>1</a><b>2</b><c>3</c><c>4</c></r>");
    assert_eq!(decode("<r><c>3</c><b>2</b><c>4</c><a>1</a></r>"), Ok(value));
    assert_eq!(fault::<AnyOrder>("<r><c>3</c></r>"), missing("a"));
    assert_eq!(fault::<AnyOrder>("<r><a>3</a><b>1</b><a>1</a></r>"), unexpected("a", "<a> only once"));
}

types! {
    #[derive(Debug, PartialEq, Soap)]
    #[soap(open)]
    struct Open {
        a: i32,
        b: Option<i32>,
    }
}

#[test]
fn unknown_elements_are_passed_over_where_the_type_is_open() {
    let xml = "<r><z><a>9</a></z><a>1</a><y/><b>2</b><x>text<b/></x></r>";
    assert_eq!(decode(xml), Ok(Open { a: 1, b: Some(2) }));
    assert_eq!(fault::<Open>("<r><z/></r>"), missing("a"));
    assert_eq!(fault::<AnyOrder>(xml), unexpected("z", "<a> or <b> or <c>"));
}

types! {
    #[derive(Debug, PartialEq, Soap)]
    #[soap(name = "T", namespace = "urn:t", qualified, rename_all = "camelCase", element = "root", item_name = "t")]
    struct Named {
        first_name: i32,
        #[soap(unqualified)]
        plain: i32,
        #[soap(namespace = "urn:u", name = "Other-Name")]
        other: i32,
        r#type: i32,
        #[soap(attribute)]
        the_id: i32,
        #[soap(attribute, qualified)]
        mark: Option<bool>,
    }

    #[derive(Debug, PartialEq, Soap)]
    #[soap(namespace = "urn:t", message)]
    struct Flagged;
}

#[test]
fn names_and_namespaces() {
    assert_eq!(Named::TYPE_NAME, QName::new("urn:t", "T"));
    assert_eq!(Named::ITEM_NAME, "t");
    assert_eq!(Named::ELEMENT, QName::new("urn:t", "root"));
    assert_eq!(Flagged::ELEMENT, QName::new("urn:t", "Flagged"));
    let value = Named { first_name: 1, plain: 2, other: 3, r#type: 4, the_id: 5, mark: Some(true) };
    let xml = r#"<r t:mark="1" xmlns:t="urn:t" theId="5"><t:firstName>1</t:firstName><plain>2</plain>
        <Other-Name xmlns="urn:u">3</Other-Name><type xmlns="urn:t">4</type></r>"#;
    assert_eq!(decode::<Named>(&encode(&value)).as_ref(), Ok(&value));
    assert_eq!(decode(xml), Ok(value));
    let unqualified = r#"<r theId="5"><firstName>1</firstName></r>"#;
    assert_eq!(fault::<Named>(unqualified), unexpected("firstName", LIST));
}

const LIST: &str = "<{urn:t}firstName> or <plain> or <{urn:u}Other-Name> or <{urn:t}type>";

types! {
    #[derive(Debug, PartialEq, Soap)]
    struct WithAttributes {
        #[soap(attribute)]
        id: String,
        #[soap(attribute)]
        count: Option<u8>,
        #[soap(attribute, default = true)]
        on: bool,
        #[soap(attribute, namespace = "http://www.w3.org/XML/1998/namespace")]
        lang: Option<String>,
        x: Option<i32>,
    }
}

#[test]
fn attributes() {
    let value =
        WithAttributes { id: "a<\"b".to_owned(), count: Some(7), on: false, lang: Some("nb".to_owned()), x: Some(1) };
    round_trip(&value, r#"<r id="a&lt;&quot;b" count="7" on="false" xml:lang="nb"><x>1</x></r>"#);
    let xml = r#"<r xml:lang="nb" other="1" on=" 0 " count=" 7" id='a&lt;"b'><x>1</x></r>"#;
    assert_eq!(decode(xml), Ok(value));
    let least = WithAttributes { id: String::new(), count: None, on: true, lang: None, x: None };
    assert_eq!(decode(r#"<r id=""/>"#), Ok(least));
    let missing = ErrorKind::MissingAttribute { expected: "id".to_owned() };
    assert_eq!(fault::<WithAttributes>("<r on='1'/>"), missing);
    assert!(matches!(fault::<WithAttributes>("<r id='' count='256'/>"), ErrorKind::Lexical(_)));
}

types! {
    #[derive(Debug, PartialEq, Soap)]
    struct Measure {
        #[soap(attribute)]
        unit: Option<String>,
        #[soap(text)]
        value: f64,
    }

    #[derive(Debug, PartialEq, Soap)]
    struct Blob {
        #[soap(attribute)]
        id: u8,
        #[soap(text)]
        bytes: Base64,
    }

    #[derive(Debug, PartialEq, Soap)]
    struct Measures {
        m: Vec<Measure>,
        blob: Blob,
    }
}

#[test]
fn simple_content() {
    let measure = |unit: Option<&str>, value| Measure { unit: unit.map(str::to_owned), value };
    round_trip(&measure(Some("m"), 1.5), r#"<r unit="m">1.5</r>"#);
    let m = vec![measure(None, 1.0), measure(Some("s"), 2.0)];
    let value = Measures { m, blob: Blob { id: 1, bytes: Base64(b"hello".to_vec()) } };
    round_trip(&value, r#"<r><m>1</m><m unit="s">2</m><blob id="1">aGVsbG8=</blob></r>"#);
    let xml = r#"<r><m> &#49;</m><m unit="s">2<!-- s --></m><blob id="1">aGV<![CDATA[sb]]>G8=</blob></r>"#;
    assert_eq!(decode(xml), Ok(value));
    assert!(matches!(fault::<Measure>("<r>one</r>"), ErrorKind::Lexical(_)));
    assert!(matches!(fault::<Measure>("<r><value>1</value></r>"), ErrorKind::UnexpectedElement { .. }));
    assert!(matches!(fault::<Blob>("<r>aGVsbG8=</r>"), ErrorKind::MissingAttribute { .. }));
}

types! {
    #[derive(Debug, PartialEq, Soap)]
    struct Defaults {
        #[soap(default = 5)]
        five: i32,
        #[soap(default)]
        zero: Point,
        #[soap(default = Some(point(1, 1)))]
        point: Option<Point>,
    }
}

#[test]
fn defaults_stand_for_absent_elements_only() {
    let absent = Defaults { five: 5, zero: point(0, 0), point: Some(point(1, 1)) };
    assert_eq!(decode("<r/>"), Ok(absent));
    let there = Defaults { five: 6, zero: point(2, 3), point: Some(point(4, 5)) };
    round_trip(&there, "<r><five>6</five><zero><x>2</x><y>3</y></zero><point><x>4</x><y>5</y></point></r>");
}

types! {
    #[derive(Debug, Default, PartialEq, Soap)]
    struct Tree {
        name: String,
        left: Option<Box<Self>>,
        children: Vec<Tree>,
    }
}

#[test]
fn recursion() {
    let leaf = |name: &str| Tree { name: name.to_owned(), ..Tree::default() };
    let tree = Tree { left: Some(Box::new(leaf("b"))), children: vec![leaf("c"), leaf("d")], ..leaf("a") };
    round_trip(
        &tree,
        "<r><name>a</name><left><name>b</name></left>\
         <children><name>c</name></children><children><name>d</name></children></r>",
    );
}

types! {
    #[derive(Debug, PartialEq, Soap)]
    struct Arrays {
        ints: SoapArray<i32>,
        points: SoapArray<Point>,
        maybe: Option<SoapArray<Nillable<String>>>,
    }
}

#[test]
fn soap_arrays() {
    let value = Arrays {
        ints: vec![1, 2, 3].into(),
        points: vec![point(1, 2), point(3, 4)].into(),
        maybe: Some(vec![Nillable::Nil, Nillable::Value(String::new())].into()),
    };
    let xml = encode(&value);
    assert!(xml.contains(":int[3]\"><item>1</item><item>2</item>"), "{xml}");
    assert_eq!(decode(&xml).as_ref(), Ok(&value));
    let xml = r#"<r><ints xmlns:e="http://schemas.xmlsoap.org/soap/encoding/"
        xmlns:d="http://www.w3.org/2001/XMLSchema" e:arrayType="d:int[9]"><a>1</a><b>2</b> <a> 3</a></ints><points/></r>"#;
    let read = Arrays { ints: vec![1, 2, 3].into(), points: SoapArray::default(), maybe: None };
    assert_eq!(decode(xml), Ok(read));
}

types! {
    #[derive(Debug, PartialEq, Soap)]
    struct Page<T> {
        first: T,
        rest: Vec<T>,
        next: Option<Box<Self>>,
    }
}

#[test]
fn type_parameters() {
    let last = Page { first: point(3, 3), rest: Vec::new(), next: None };
    let page = Page { first: point(1, 1), rest: vec![point(2, 2)], next: Some(Box::new(last)) };
    let xy = |n| format!("<x>{n}</x><y>{n}</y>");
    let (one, two, three) = (xy(1), xy(2), xy(3));
    round_trip(&page, &format!("<r><first>{one}</first><rest>{two}</rest><next><first>{three}</first></next></r>"));
    round_trip(&Page { first: 1, rest: vec![2], next: None }, "<r><first>1</first><rest>2</rest></r>");
}

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(namespace = "urn:t")]
    struct Serial(String);

    #[derive(Debug, PartialEq, Soap)]
    struct Device {
        #[soap(attribute)]
        serial: Serial,
        other: Vec<Serial>,
    }
}

#[test]
fn tuple_structs_restrict_simple_types() {
    assert_eq!(Serial::TYPE_NAME, QName::new("urn:t", "Serial"));
    let Element::Simple(simple) = Serial::element() else { panic!("a simple type") };
    assert_eq!((simple.base, simple.name.clone()), (Builtin::String, Serial::TYPE_NAME));
    let serial = |text: &str| Serial(text.to_owned());
    let value = Device { serial: serial("a"), other: vec![serial("b"), serial("c<")] };
    round_trip(&value, r#"<r serial="a"><other>b</other><other>c&lt;</other></r>"#);
}

types! {
    #[derive(Debug, PartialEq, Soap)]
    #[soap(crate = "crate::runtime")]
    struct Elsewhere {
        a: i32,
    }
}

#[test]
fn the_runtime_may_have_another_path() {
    round_trip(&Elsewhere { a: 1 }, "<r><a>1</a></r>");
}

#[test]
fn empty_structs() {
    round_trip(&Flagged, "<r/>");
    assert_eq!(decode("<r> <!-- nothing --> </r>"), Ok(Flagged));
    assert_eq!(fault::<Flagged>("<r><a/></r>"), unexpected("a", "the end of the element"));
}

/// Defines a struct of 70 optional fields in any order: more than the bits of a word.
macro_rules! wide {
    ($($field:ident)*) => {
        #[derive(Debug, Default, PartialEq, Soap)]
        #[soap(all)]
        struct Wide {
            $(#[soap(default)] $field: i32,)*
            last: i32,
        }
        const WIDE: &[&str] = &[$(stringify!($field)),*];
    };
}

wide! {
    a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 c0 c1 c2 c3 c4 c5 c6 c7 c8 c9
    d0 d1 d2 d3 d4 d5 d6 d7 d8 d9 e0 e1 e2 e3 e4 e5 e6 e7 e8 e9 f0 f1 f2 f3 f4 f5 f6 f7 f8 f9
    g0 g1 g2 g3 g4 g5 g6 g7 g8
}

#[test]
fn many_fields_in_any_order() {
    let elements = WIDE.iter().rev().enumerate().map(|(value, name)| format!("<{name}>{value}</{name}>"));
    let xml = format!("<r><last>-1</last>{}</r>", elements.collect::<String>());
    let wide: Wide = decode(&xml).expect("all fields once");
    assert_eq!((wide.last, wide.g8, wide.g7, wide.b0, wide.a0), (-1, 0, 1, 58, 68));
    assert_eq!(decode::<Wide>(&encode(&wide)).as_ref(), Ok(&wide));
    assert_eq!(fault::<Wide>(&xml.replace("<last>-1</last>", "")), missing("last"));
    let twice = xml.replace("</r>", "<g8>1</g8></r>");
    assert_eq!(fault::<Wide>(&twice), unexpected("g8", "<g8> only once"));
}

/// Ignored content is not lost silently.
#[test]
fn attributes_that_no_field_names_are_counted() {
    #[derive(Debug, PartialEq, Soap)]
    struct Known {
        #[soap(attribute)]
        id: i32,
        text: String,
    }
    let ignored = |attributes: &str, of_text: &str| {
        let xml = format!(
            "<r xmlns:i='http://www.w3.org/2001/XMLSchema-instance' xmlns:x='urn:x' id='1' {attributes}><text {of_text}>t</text></r>"
        );
        let (value, stats) = crate::support::decode_cut::<Known>(xml.as_bytes(), []).expect("a good document");
        assert_eq!(value, Known { id: 1, text: "t".to_owned() });
        stats.deviations
    };
    assert_eq!(ignored("", ""), 0);
    assert_eq!(ignored("i:nil='false' xml:space='default' i:schemaLocation='urn:x x.xsd'", "i:type='x:any'"), 1);
    assert_eq!(ignored("", "id='a' xml:lang='en'"), 2);
    assert_eq!(ignored("more='1' x:id='2'", "x:unit='m'"), 3);
}

types! {
    #[derive(Debug, Clone, Copy, PartialEq, Soap)]
    #[soap(rename_all = "lowercase")]
    enum Color {
        Red,
        Green,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(union)]
    enum Size {
        Number(i32),
        Word(String),
    }

    /// The value of an empty element, or of an absent attribute.
    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(element = "r")]
    struct Texts {
        #[soap(attribute, default_text = "5")]
        id: i32,
        #[soap(attribute, default_text = "green")]
        mark: Option<Color>,
        #[soap(default_text = "7")]
        count: i32,
        #[soap(default_text = "a b")]
        word: Option<String>,
        #[soap(default_text = "green")]
        color: Color,
        #[soap(default_text = "12")]
        size: Option<Size>,
        #[soap(default_text = "AQID")]
        bytes: Option<deltasoap::Binary>,
        #[soap(default_text = "word")]
        words: Vec<String>,
        #[soap(default_text = "x")]
        nillable: Option<Nillable<String>>,
        #[soap(default = 3, default_text = "4")]
        both: i32,
        #[soap(default_text = "8")]
        amount: Option<Amount>,
        pairs: Vec<Pair>,
    }

    /// Text with attributes: the element determines the value of empty text, not this type.
    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Amount {
        #[soap(attribute)]
        unit: Option<String>,
        #[soap(text)]
        value: i32,
    }

    #[derive(Debug, PartialEq, Soap)]
    #[soap(transparent, element = "r", name = "Amounts", default_text = "9")]
    struct NineOf(Amount);

    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Pair {
        #[soap(default_text = "none")]
        name: String,
        value: i32,
    }

    #[derive(Debug, PartialEq, Soap)]
    #[soap(transparent, element = "r", default_text = "9")]
    struct Nine(i32);
}

const FULL: &str = "<r id=\"1\" mark=\"red\"><count>1</count><word>x</word><color>red</color><size>3</size><bytes>AQ==</bytes>\
    <words>x</words><words>y</words><nillable>z</nillable><both>1</both><amount unit=\"m\">1</amount><pairs><name>n</name><value>1</value></pairs>\
    <pairs><name>m</name><value>2</value></pairs><pairs><name>l</name><value>3</value></pairs></r>";

const EMPTY: &str = "<r><count/><word></word><color><!-- --></color><size/><bytes/><words/><words></words><nillable/><both/><amount unit=\"m\"></amount>\
    <pairs><name></name><value>1</value></pairs><pairs><name/><value>2</value></pairs>\
    <pairs><name></name><value>3</value></pairs></r>";

#[test]
fn default_texts_stand_for_what_is_empty() {
    let full: Texts = decode(FULL).expect("valid");
    round_trip(&full, FULL);
    let none = "none".to_owned();
    let empty = Texts {
        id: 5,
        mark: Some(Color::Green),
        count: 7,
        word: Some("a b".to_owned()),
        color: Color::Green,
        size: Some(Size::Number(12)),
        bytes: Some(vec![1, 2, 3].into()),
        words: vec!["word".to_owned(); 2],
        nillable: Some(Nillable::Value("x".to_owned())),
        both: 4,
        amount: Some(Amount { unit: Some("m".to_owned()), value: 8 }),
        pairs: [1, 2, 3].map(|value| Pair { name: none.clone(), value }).into(),
    };
    assert_eq!(decode(EMPTY), Ok(empty));
    let absent = EMPTY.replace("<word></word>", "").replace("<words/><words></words>", "").replace("<both/>", "");
    let absent: Texts = decode(&absent).expect("valid");
    assert_eq!((absent.word, absent.words.len(), absent.both), (None, 0, 3));
    assert_eq!(decode("<r></r>"), Ok(Nine(9)));
    assert_eq!(decode("<r>8</r>"), Ok(Nine(8)));
    let nine = NineOf(Amount { unit: Some("m".to_owned()), value: 9 });
    assert_eq!(decode("<r unit=\"m\"><!-- --></r>"), Ok(nine));
    assert!(
        matches!(fault::<Amount>("<r unit=\"m\"/>"), ErrorKind::Lexical(_)),
        "another element of the same type has no default"
    );
    assert_eq!(fault::<Nine>("<r> </r>"), fault::<Nine>("<r>\t</r>"));
}

/// Every policy gives the same result as a decoder that has seen no other message.
#[test]
fn default_texts_come_and_go_between_messages() {
    let documents = [
        FULL.to_owned(),
        FULL.replace("<word>x</word>", "<word></word>"),
        FULL.replace("<words>x</words>", "<words></words>").replace("<name>m</name>", "<name></name>"),
        FULL.to_owned(),
        EMPTY.to_owned(),
        EMPTY.replacen("<name></name>", "<name>n</name>", 1).replace("<words></words>", "<words>w</words>"),
        EMPTY.replace("<r>", "<r id=\"2\">"),
        FULL.replace(" mark=\"red\"", ""),
        FULL.replace("<count>1</count>", "<count></count>"),
        FULL.replace("m\">1</amount>", "m\"></amount>"),
        FULL.replace("m\">1</amount>", "ft\"></amount>"),
        FULL.to_owned(),
    ];
    let papers = State::ALL.map(|state| Portions { state, size: 24, ..Portions::default() }.into());
    let policies = std::iter::once(Checkpoints::Leaf).chain(papers);
    for (checkpoints, chunk) in policies.flat_map(|it| [1, 7, 64, usize::MAX].map(|chunk| (it, chunk))) {
        let differential = Differential { checkpoints, ..Differential::OFF };
        let mut decoder = Decoder::new(DecodeOptions { differential, ..DecodeOptions::default() });
        let mut memory = Box::<Memory<Texts>>::default();
        for document in &documents {
            let mut reader = EnvelopeReader::new(RequestReceiver::new(std::mem::take(&mut memory)));
            read_in_chunks(&mut decoder, &mut reader, &in_envelope(document), chunk);
            memory = reader.into_parts().1.into_memory();
            let expected = decode::<Texts>(document).expect("valid");
            assert_eq!(*memory.value(), expected, "{checkpoints:?}, chunks of {chunk}: {document}");
        }
        assert!(memory.stats().compared > 0, "{checkpoints:?}, chunks of {chunk}: {:?}", memory.stats());
    }
}

fn in_envelope(document: &str) -> String {
    let soap = "http://schemas.xmlsoap.org/soap/envelope/";
    format!("<e:Envelope xmlns:e=\"{soap}\"><e:Body>{document}</e:Body></e:Envelope>")
}

fn read_in_chunks(decoder: &mut Decoder, root: &mut impl Root, message: &str, chunk: usize) {
    decoder.reset();
    for chunk in message.as_bytes().chunks(chunk.min(message.len())) {
        decoder.push(root, chunk).expect("valid");
    }
    decoder.finish(root).expect("valid");
}

types! {
    #[derive(Debug, PartialEq, Soap)]
    #[soap(transparent, name = "Ids", namespace = "urn:ids", item_name = "ids")]
    struct Ids(deltasoap::lexical::List<u8>);

    #[derive(Debug, PartialEq, Soap)]
    #[soap(transparent, name = "Other", namespace = "urn:ids")]
    struct Other(Pair);
}

#[test]
fn transparent_structs_have_names_of_their_own() {
    let name = |of: &'static deltasoap::schema::Element| of.type_name().map(ToString::to_string);
    assert_eq!(name(Ids::element()), Some(Ids::TYPE_NAME.to_string()));
    assert_eq!((Ids::TYPE_NAME, Ids::ITEM_NAME), (QName::new("urn:ids", "Ids"), "ids"));
    assert_eq!(name(Other::element()), Some(QName::new("urn:ids", "Other").to_string()));
    assert_eq!((Nine::TYPE_NAME, Nine::ITEM_NAME), (i32::TYPE_NAME, i32::ITEM_NAME));
}

types! {
    #[derive(Debug, Clone, PartialEq, Soap)]
    struct Coded {
        #[soap(attribute)]
        code: QName,
        #[soap(attribute)]
        other: Option<QName>,
        #[soap(attribute, default_text = "{urn:d}standard")]
        kind: QName,
        #[soap(text)]
        name: QName,
    }
}

#[test]
fn names_in_attributes_and_beside_them_have_their_namespaces() {
    let coded = Coded {
        code: QName::new("urn:a", "x"),
        other: Some(QName::new("urn:b", "y")),
        kind: QName::new("urn:d", "standard"),
        name: QName::new("urn:a", "z"),
    };
    let text = r#"<r xmlns:p="urn:a" xmlns:q="urn:b" code="p:x" other=" q:y "><!-- -->p:z</r>"#;
    assert_eq!(decode(text), Ok(coded.clone()));
    assert_eq!(decode(&encode(&coded)), Ok(coded.clone()));
    let absent = Coded { code: QName::new("", "x"), other: None, ..coded };
    assert_eq!(decode(&encode(&absent)), Ok(absent));
    let undeclared = "a name whose prefix is declared".to_owned();
    assert_eq!(
        fault::<Coded>(r#"<r code="p:x">y</r>"#),
        ErrorKind::UnexpectedValue { found: "p:x".to_owned(), expected: undeclared }
    );
    assert!(matches!(fault::<Coded>(r#"<r code="{urn:a}x">y</r>"#), ErrorKind::Lexical(_)));
    assert!(matches!(fault::<Coded>("<r>y</r>"), ErrorKind::MissingAttribute { .. }));
}

types! {
    #[derive(Debug, Clone, Default, PartialEq, Soap)]
    #[soap(element = "l")]
    struct CodedList {
        item: Vec<Coded>,
    }
}

#[test]
fn names_in_attributes_follow_their_declarations_between_messages() {
    let messages = [("urn:a", "x"), ("urn:a", "x"), ("urn:b", "x"), ("urn:b", "y"), ("urn:b", "y"), ("urn:a", "y")];
    let papers = State::ALL.map(|state| Portions { state, size: 24, ..Portions::default() }.into());
    let policies = std::iter::once(Checkpoints::Leaf).chain(papers);
    for (checkpoints, chunk) in policies.flat_map(|it| [1, 7, 64, usize::MAX].map(|chunk| (it, chunk))) {
        let differential = Differential { checkpoints, ..Differential::OFF };
        let mut decoder = Decoder::new(DecodeOptions { differential, ..DecodeOptions::default() });
        let mut memory = Box::<Memory<CodedList>>::default();
        for (namespace, local) in messages {
            let items = format!(r#"<item code="p:{local}">p:n</item><item code="p:x">p:n</item>"#);
            let message =
                in_envelope(&format!("<l>{items}</l>")).replacen(" ", &format!(r#" xmlns:p="{namespace}" "#), 1);
            let mut reader = EnvelopeReader::new(RequestReceiver::new(std::mem::take(&mut memory)));
            read_in_chunks(&mut decoder, &mut reader, &message, chunk);
            memory = reader.into_parts().1.into_memory();
            let item = |local: &str| Coded {
                code: QName::owned(namespace, local),
                other: None,
                kind: QName::new("urn:d", "standard"),
                name: QName::owned(namespace, "n"),
            };
            assert_eq!(memory.value().item, [item(local), item("x")], "{checkpoints:?}, chunks of {chunk}");
        }
        assert!(memory.stats().compared > 0, "{checkpoints:?}, chunks of {chunk}: {:?}", memory.stats());
    }
}

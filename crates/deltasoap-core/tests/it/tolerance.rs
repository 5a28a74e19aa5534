//! Content that is accepted beyond the schema: disturbed documents give the same values as the
//! originals.

use crate::any_order::complex;
use crate::generate;
use crate::laws;
use crate::streams::Stream;
use deltasoap_core::decode::{Decoder, ElementRoot};
use deltasoap_core::encode::Encoder;
use deltasoap_core::schema::{
    Attribute, Builtin, ComplexElement, Compositor, Element, ElementRef, Field, Schema, SimpleElement, View,
};
use deltasoap_core::{
    Checkpoints, Child, DecodeOptions, Deviation, DeviationKind, Differential, Empty, Nillable, Node, QName, Tolerance,
    Typed, Value,
};
use deltasoap_test_support::Entropy;
use proptest::prelude::*;

use Tolerance::{AnyOrder, Strict, Unknown};

const LEVELS: [Tolerance; 3] = [Strict, Unknown, AnyOrder];

fn options(tolerance: Tolerance) -> DecodeOptions {
    DecodeOptions { tolerance, ..DecodeOptions::default() }
}

fn field(name: &'static str, element: ElementRef, min: u32, max: Option<u32>) -> Field {
    Field { name: QName::new("urn:t", name), element, min, max, nillable: false, inline: false }
}

fn simple(schema: &mut Schema, base: Builtin, values: &[&'static str]) -> ElementRef {
    let enumeration = values.iter().map(|&value| value.into()).collect();
    schema.add(Element::Simple(SimpleElement { name: base.name(), base, enumeration, default: None, packed: None }))
}

/// An order: a number, a state, items (a code, a count), and an optional note.
fn order() -> (Schema, ElementRef) {
    let mut schema = Schema::new();
    let int = simple(&mut schema, Builtin::Int, &[]);
    let text = simple(&mut schema, Builtin::String, &[]);
    let state = simple(&mut schema, Builtin::String, &["new", "old"]);
    let item = complex(
        &mut schema,
        Compositor::Sequence,
        vec![field("code", text, 1, Some(1)), field("count", int, 1, Some(1))],
    );
    let note = complex(&mut schema, Compositor::All, vec![field("by", text, 0, Some(1))]);
    let fields = vec![
        field("number", int, 1, Some(1)),
        field("state", state, 1, Some(1)),
        field("item", item, 0, None),
        field("note", note, 0, Some(1)),
    ];
    let root = complex(&mut schema, Compositor::Sequence, fields);
    (schema, root)
}

const NUMBER: &str = "<number>7</number>";
const STATE: &str = "<state>new</state>";
const ITEMS: &str = "<item><code>a</code><count>1</count></item><item><code>b</code><count>2</count></item>";
const NOTE: &str = "<note><by>me</by></note>";

fn document(parts: &[&str]) -> String {
    format!("<order xmlns='urn:t'>{}</order>", parts.concat())
}

/// Returns the value as text, or the error.
fn read(parts: &[&str], tolerance: Tolerance) -> Result<String, String> {
    let (schema, root) = order();
    laws::read(schema.view(root), document(parts).as_bytes(), options(tolerance)).map_err(|error| error.to_string())
}

fn deviations(parts: &[&str], tolerance: Tolerance) -> Vec<Deviation> {
    let (schema, root) = order();
    let mut decoder = Decoder::new(options(tolerance));
    let mut root = ElementRoot::<Value>::new(schema.view(root));
    decoder.decode(&mut root, document(parts).as_bytes()).expect("accepted");
    let sum: u64 = decoder.deviations().iter().map(|deviation| deviation.count).sum();
    assert_eq!(decoder.stats().deviations, sum);
    decoder.deviations().to_vec()
}

fn deviation(kind: DeviationKind, path: &str, name: &str, count: u64) -> Deviation {
    Deviation { kind, path: path.to_owned(), name: name.to_owned(), count }
}

#[test]
fn what_is_valid_has_no_deviations() {
    for tolerance in LEVELS {
        assert_eq!(read(&[NUMBER, STATE, ITEMS, NOTE], tolerance), read(&[NUMBER, STATE, ITEMS, NOTE], Strict));
        assert_eq!(deviations(&[NUMBER, STATE, ITEMS, NOTE], tolerance), []);
    }
}

#[test]
fn unknown_elements_are_skipped_and_reported() {
    const WITH: &str = "<item><code>a</code><new>1<x/></new><count>1</count></item>\
                        <item><new/><code>b</code><count>2</count><new/></item>";
    let parts = [NUMBER, "<new xmlns='urn:u'>x</new>", STATE, WITH, "<note><by>me</by><at/></note>", "<end/>"];
    let error = read(&parts, Strict).expect_err("unknown");
    assert!(error.contains("{urn:u}new"), "{error}");
    for tolerance in [Unknown, AnyOrder] {
        assert_eq!(read(&parts, tolerance), read(&[NUMBER, STATE, ITEMS, NOTE], Strict));
        let unknown = |path: &str, name: &str, count| deviation(DeviationKind::UnknownElement, path, name, count);
        let expected = [
            unknown("/order", "{urn:u}new", 1),
            unknown("/order/item", "{urn:t}new", 3),
            unknown("/order/note", "{urn:t}at", 1),
            unknown("/order", "{urn:t}end", 1),
        ];
        assert_eq!(deviations(&parts, tolerance), expected);
    }
}

/// A type whose namespace differs from that of the message would otherwise read nothing, silently.
#[test]
fn elements_that_only_lack_the_namespace_are_told_from_unknown_ones() {
    const BARE: &str = "<note><by xmlns=''>me</by><by xmlns='urn:u'/></note>";
    let found = deviations(&[NUMBER, "<number xmlns='urn:u'/>", STATE, BARE], Unknown);
    let namesake = |path: &str, name: &str| deviation(DeviationKind::Namesake, path, name, 1);
    let unknown = deviation(DeviationKind::UnknownElement, "/order", "{urn:u}number", 1);
    assert_eq!(found, [unknown, namesake("/order/note", "by"), namesake("/order/note", "{urn:u}by")]);
    assert_eq!(found[1].to_string(), "element skipped for its namespace: by in /order/note");
}

#[test]
fn missing_elements_are_explained_by_those_skipped_for_their_namespace() {
    let cut = |error: &str| error.split(", at byte").next().unwrap_or_default().to_owned();
    let error = |parts: &[&str]| cut(&read(parts, Unknown).expect_err("incomplete"));
    let elsewhere = "<number xmlns='urn:u'>7</number>";
    // Errors in another element, or of another field, are not explained by it.
    let item = "<item><code xmlns=''>a</code><code>a</code></item>";
    assert_eq!(
        error(&[NUMBER, STATE, "<item><code xmlns=''>a</code><code>a</code><count>1</count></item>", item]),
        "missing element <{urn:t}count>, in /order/item[2]"
    );
    assert_eq!(
        error(&[NUMBER, "<state xmlns=''>new</state>"]),
        "missing element <{urn:t}state>; <state> was skipped for its namespace: declare the elements of the type as \
         unqualified, or correct the sender, in /order"
    );
    assert_eq!(
        error(&[elsewhere, elsewhere]),
        "missing element <{urn:t}number>; <{urn:u}number> was skipped for its namespace: declare the type with that \
         namespace, or correct the sender, in /order"
    );
    let (schema, root) = choice();
    let read = |text: &str| laws::read(schema.view(root), text.as_bytes(), options(Unknown));
    assert_eq!(
        cut(&read("<r><a xmlns='urn:u'/></r>").expect_err("nothing chosen").to_string()),
        "missing element: one of <{urn:t}a> or <{urn:t}b>; <{urn:u}a> was skipped for its namespace: declare the type \
         with that namespace, or correct the sender, in /r"
    );
}

/// A choice of two texts.
fn choice() -> (Schema, ElementRef) {
    let mut schema = Schema::new();
    let text = simple(&mut schema, Builtin::String, &[]);
    let fields = vec![field("a", text, 1, Some(1)), field("b", text, 1, Some(1))];
    let root = complex(&mut schema, Compositor::Choice, fields);
    (schema, root)
}

/// Compared messages pass elements unseen, but their errors name them all the same.
#[test]
fn elements_skipped_for_their_namespace_are_named_wherever_a_message_is_gone_on_from() {
    const ELSEWHERE: [&str; 3] = ["<number xmlns=''>7</number>", "<state xmlns=''/>", "<item xmlns=''/>"];
    const BEHIND: &str = "<item><code xmlns=''/><code>a</code><count>1</count></item>";
    const WITHOUT: &str = "<item><code xmlns=''/></item>";
    let (schema, root) = order();
    let exact = Differential { adaptive: false, ..Differential::default() };
    let options = DecodeOptions { differential: exact, ..options(Unknown) };
    let [number, state, item] = ELSEWHERE;
    let messages: [&[&str]; 9] = [
        &[NUMBER, STATE, ITEMS, NOTE],
        &[number, NUMBER, STATE, ITEMS, NOTE],
        &[number, STATE, ITEMS, NOTE],
        &[NUMBER, number, STATE, item, ITEMS, NOTE],
        &[number, STATE, item, ITEMS, NOTE],
        &[NUMBER, state, STATE, BEHIND, BEHIND],
        &[NUMBER, state, STATE, BEHIND, WITHOUT],
        &[NUMBER, state, item],
        &[NUMBER, state, STATE, WITHOUT, BEHIND],
    ];
    for before in messages {
        for message in messages {
            for chunk in [1, 7, usize::MAX] {
                let mut stream = Stream::<Value>::new(schema.view(root), options);
                for parts in [before, before, message, message] {
                    let _ = stream.next(document(parts).as_bytes(), chunk);
                }
            }
        }
    }
}

/// An element that belongs to the type, but cannot be at this place, is not unknown: its value
/// would be lost.
#[test]
fn elements_out_of_order_are_read_in_any_order_only() {
    const ITEM: &str = "<item><count>1</count><code>a</code></item>";
    const OTHER: &str = "<item><code>b</code><count>2</count></item>";
    for parts in [&[STATE, NUMBER, ITEMS, NOTE], &[NOTE, ITEMS, STATE, NUMBER]] {
        assert!(read(parts, Unknown).is_err());
        assert_eq!(read(parts, AnyOrder), read(&[NUMBER, STATE, ITEMS, NOTE], Strict));
    }
    let parts = [NUMBER, ITEM, NOTE, OTHER, STATE];
    assert_eq!(read(&parts, AnyOrder), read(&[NUMBER, STATE, ITEMS, NOTE], Strict));
    let order = |path: &str, name: &str| deviation(DeviationKind::Order, path, name, 1);
    assert_eq!(deviations(&parts, AnyOrder), [order("/order", "{urn:t}item"), order("/order/item", "{urn:t}count")]);
}

/// The markup of an item in another order is not learned for other items of its type: it does not
/// identify the field of each text.
#[test]
fn items_that_are_all_in_the_same_other_order_are_read_by_name() {
    #[derive(deltasoap::Soap, Debug, PartialEq)]
    struct Point {
        x: i32,
        y: i32,
    }
    #[derive(deltasoap::Soap, Debug, PartialEq)]
    struct Points {
        point: Vec<Point>,
    }
    let document: String = (0..9).map(|at| format!("<point><y>{}</y><x>{at}</x></point>", at + 100)).collect();
    let document = format!("<r>{document}</r>");
    let expected = Points { point: (0..9).map(|x| Point { x, y: x + 100 }).collect() };
    for decoder in [Decoder::new, Decoder::without_shortcuts] {
        let mut root = ElementRoot::<Points>::new(Points::view());
        decoder(options(AnyOrder)).decode(&mut root, document.as_bytes()).expect("valid");
        assert_eq!(root.value, expected);
    }
}

#[test]
fn a_single_element_twice_is_an_error_on_every_level() {
    for parts in
        [&[NUMBER, NUMBER, STATE][..], &[NUMBER, STATE, NUMBER], &[STATE, NUMBER, STATE], &[NUMBER, STATE, NOTE, NOTE]]
    {
        for tolerance in LEVELS {
            let error = read(parts, tolerance).expect_err("twice");
            let last = parts.last().copied().unwrap_or_default();
            let is_named = ["number", "state", "note"].iter().any(|name| last.contains(name) && error.contains(name));
            assert!(is_named || tolerance != AnyOrder, "{error}");
        }
    }
}

#[test]
fn elements_of_another_namespace_are_read_in_any_order_only() {
    let bare = "<number xmlns=''>7</number>";
    let other = "<x:state xmlns:x='urn:other'>new</x:state>";
    let parts = [bare, other, ITEMS, NOTE];
    assert!(read(&parts, Unknown).is_err());
    assert_eq!(read(&parts, AnyOrder), read(&[NUMBER, STATE, ITEMS, NOTE], Strict));
    let expected = [("number", "/order"), ("{urn:other}state", "/order")]
        .map(|(name, path)| deviation(DeviationKind::Namespace, path, name, 1));
    assert_eq!(deviations(&parts, AnyOrder), expected);
    for twice in [[bare, NUMBER, STATE], [NUMBER, bare, STATE], [NUMBER, STATE, other], [bare, bare, STATE]] {
        let error = read(&twice, AnyOrder).expect_err("the same field twice");
        assert!(
            error.contains("only once") && error.contains(if twice[2] == other { "state" } else { "number" }),
            "{error}"
        );
    }
}

#[test]
fn required_elements_may_be_missing_where_an_empty_value_is_obvious() {
    assert!(read(&[STATE], Unknown).is_err());
    let value = read(&[STATE], AnyOrder).expect("a number has an obvious empty value");
    assert!(value.contains("Absent"), "{value}");
    assert_eq!(
        deviations(&[STATE], AnyOrder),
        [
            deviation(DeviationKind::Order, "/order", "{urn:t}state", 1),
            deviation(DeviationKind::Missing, "/order", "{urn:t}number", 1),
        ]
    );
    let error = read(&[NUMBER], AnyOrder).expect_err("a value of an enumeration has none");
    assert!(error.contains("{urn:t}state"), "{error}");
    let error = read(&[ITEMS], AnyOrder).expect_err("the number has an empty value, the state has none");
    assert!(error.contains("{urn:t}state") && !error.contains("number"), "{error}");
    let counts = "<item><code>a</code></item><item><code>b</code></item>";
    let missing = deviation(DeviationKind::Missing, "/order/item", "{urn:t}count", 2);
    assert_eq!(deviations(&[NUMBER, STATE, counts], AnyOrder), [missing]);
}

#[test]
fn required_elements_that_may_be_nil_may_be_missing() {
    #[derive(deltasoap::Soap, Debug, PartialEq)]
    enum State {
        New,
    }
    #[derive(deltasoap::Soap, Debug, PartialEq)]
    struct Order {
        number: i32,
        state: Nillable<State>,
    }
    #[derive(deltasoap::Soap, Debug, PartialEq)]
    struct Orders {
        order: Vec<Order>,
    }
    const LACKING: &str = "<r><order><number>1</number></order><order><number>2</number></order></r>";
    const WHOLE: &str = "<r><order><number>1</number><state>New</state></order><order><number>2</number></order></r>";
    let read = |tolerance, documents: &[&str]| {
        let exact = Differential { adaptive: false, ..Differential::default() };
        let mut stream =
            Stream::<Orders>::new(Orders::view(), DecodeOptions { differential: exact, ..options(tolerance) });
        documents.iter().all(|document| stream.next(document.as_bytes(), usize::MAX).is_ok())
    };
    assert!(!read(Unknown, &[LACKING]));
    assert!(read(AnyOrder, &[LACKING, LACKING, WHOLE, LACKING, WHOLE]));
    let mut decoder = Decoder::new(options(AnyOrder));
    let mut root = ElementRoot::<Orders>::new(Orders::view());
    decoder.decode(&mut root, LACKING.as_bytes()).expect("tolerated");
    let order = |number| Order { number, state: Nillable::Nil };
    assert_eq!(root.value, Orders { order: vec![order(1), order(2)] });
    assert_eq!(decoder.deviations(), [deviation(DeviationKind::Missing, "/r/order", "state", 2)]);
}

#[test]
fn what_may_be_empty_may_be_nil() {
    const NIL: &str = "<note xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='true'/>";
    for tolerance in LEVELS {
        assert!(read(&[NUMBER, STATE, NIL], tolerance).is_ok(), "dynamic values tell nil from empty");
    }
    // Rust types do not.
    let document = b"<e xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='true'/>";
    let read = |tolerance| {
        let mut decoder = Decoder::new(options(tolerance));
        let result = decoder.decode(&mut ElementRoot::<Empty>::new(Empty::view()), document);
        result.map(|()| decoder.deviations().to_vec())
    };
    assert!(read(Strict).is_err());
    for tolerance in [Unknown, AnyOrder] {
        assert_eq!(read(tolerance), Ok(vec![deviation(DeviationKind::Nil, "/e", "e", 1)]));
    }
}

/// `Nillable` cannot hold them.
#[test]
fn attributes_of_nil_elements_are_reported() {
    const DOCUMENT: &[u8] =
        b"<e xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='true' reason='none' i:schemaLocation='a b'/>";
    for tolerance in LEVELS {
        let mut decoder = Decoder::new(options(tolerance));
        let mut root = ElementRoot::<Nillable<String>>::new(<Nillable<String>>::view());
        decoder.decode(&mut root, DOCUMENT).unwrap();
        assert_eq!(root.value, Nillable::Nil);
        assert_eq!(decoder.deviations(), [deviation(DeviationKind::BesideNil, "/e", "reason", 1)]);
    }
}

#[test]
fn unknown_attributes_are_reported_on_every_level() {
    let mut schema = Schema::new();
    let int = simple(&mut schema, Builtin::Int, &[]);
    let attribute = Attribute { name: QName::new("", "id"), element: int, required: false, default: None };
    let root = schema.add(Element::Complex(ComplexElement {
        name: QName::new("urn:t", "T"),
        compositor: Compositor::Sequence,
        fields: vec![field("n", int, 0, None)].into(),
        attributes: vec![attribute].into(),
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    }));
    let document = b"<r id='1' x='2' xmlns:t='urn:t'><t:n unit='m'>1</t:n><t:n unit='m'>2</t:n></r>";
    for tolerance in LEVELS {
        let mut decoder = Decoder::new(options(tolerance));
        decoder.decode(&mut ElementRoot::<Value>::new(schema.view(root)), document).expect("accepted");
        let shown: Vec<String> = decoder.deviations().iter().map(ToString::to_string).collect();
        assert_eq!(shown[0], "unknown attribute x in /r");
        assert!(shown[1].starts_with("unknown attribute unit in /r/n"), "{shown:?}");
    }
}

/// A report is limited; the counters are not.
#[test]
fn reports_are_bounded() {
    let unknown: String = (0..300).map(|index| format!("<u{index}/>")).collect();
    let (schema, root) = order();
    let mut decoder = Decoder::new(options(Unknown));
    let mut value = ElementRoot::<Value>::new(schema.view(root));
    decoder.decode(&mut value, document(&[&unknown, NUMBER, STATE]).as_bytes()).expect("accepted");
    assert_eq!((decoder.deviations().len(), decoder.stats().deviations), (100, 300));
    decoder.decode(&mut value, document(&[NUMBER, STATE]).as_bytes()).expect("valid");
    assert_eq!((decoder.deviations().len(), decoder.stats().deviations), (0, 300));
}

/// A message is read as if it were alone, whatever came before; one in another order is skipped if
/// it is repeated exactly.
#[test]
fn messages_that_deviate_are_compared() {
    let (schema, root) = order();
    let exact = Differential { adaptive: false, ..Differential::default() };
    for tolerance in [Unknown, AnyOrder] {
        let options = DecodeOptions { differential: exact, ..options(tolerance) };
        let mut stream = Stream::<Value>::new(schema.view(root), options);
        let unknown = [NUMBER, "<new>1</new>", STATE, ITEMS, NOTE];
        let changed = [NUMBER, "<new>1</new>", "<state>old</state>", ITEMS, NOTE];
        let mut next = |parts: &[&str]| stream.next(document(parts).as_bytes(), usize::MAX);
        next(&unknown).expect("accepted");
        next(&changed).expect("accepted");
        next(&[NUMBER, "<new>22</new>", "<other/>", STATE, ITEMS, NOTE]).expect("accepted");
        let loose = [STATE, NUMBER, ITEMS, NOTE];
        let results: Vec<bool> = [&loose, &loose, &[NUMBER, STATE, ITEMS, NOTE], &loose, &[NOTE, STATE, NUMBER, ITEMS]]
            .map(|parts| next(parts).is_ok())
            .to_vec();
        assert_eq!(results.iter().all(|is_ok| *is_ok), tolerance == AnyOrder);
        let fast = stream.stats().fast_bytes;
        assert!(fast > 100, "{fast}");
    }
}

/// Inserts unknown elements among the children of structs, and moves children that can be
/// identified without their order.
struct Disturbance<'e> {
    entropy: Entropy<'e>,
    moves: bool,
}

impl Disturbance<'_> {
    fn disturb(&mut self, node: &mut Node, view: View<'_>) {
        let Element::Complex(complex) = view.content().element else { return };
        let is_plain = complex.compositor != Compositor::Choice
            && complex.text.is_none()
            && complex.choices.is_empty()
            && complex.fields.iter().all(|field| !field.inline);
        if !is_plain || node.attributes.iter().any(|(name, _)| &*name.local == "nil") {
            return;
        }
        for child in &mut node.children {
            let Child::Element(child) = child else { continue };
            let mut named = complex.fields.iter().filter(|field| field.name == child.name);
            if let (Some(field), None) = (named.next(), named.next()) {
                self.disturb(child, view.content().follow(field.element));
            }
        }
        if self.moves && are_told_by_name(complex) {
            self.shuffle(&mut node.children);
        }
        for _ in 0..self.entropy.below(3) {
            let mut unknown = Node::with_text(QName::new("urn:unknown", "u"), "1");
            unknown.children.push(Child::Element(Node::new(QName::new("", "f0"))));
            let place = self.entropy.below(node.children.len() + 1);
            node.children.insert(place, Child::Element(unknown));
        }
    }

    /// Elements of the same name keep their order.
    fn shuffle(&mut self, children: &mut [Child]) {
        let name = |child: &Child| match child {
            Child::Element(node) => Some(node.name.clone()),
            Child::Text(_) => None,
        };
        for _ in 0..children.len() {
            let at = self.entropy.below(children.len());
            if at > 0 && name(&children[at - 1]) != name(&children[at]) {
                children.swap(at - 1, at);
            }
        }
    }
}

fn are_told_by_name(complex: &ComplexElement) -> bool {
    let fields = &complex.fields;
    (0..fields.len()).all(|index| fields[..index].iter().all(|other| other.name != fields[index].name))
}

fn written(node: &Node) -> String {
    let mut encoder = Encoder::new();
    node.write(&mut encoder);
    String::from_utf8(encoder.finish().expect("writable").into_vec()).expect("UTF-8")
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The result is compared with the original value: comparing it only with other ways of
    /// decoding would prove nothing.
    #[test]
    fn disturbed_documents_give_the_value_that_was_written(
        schema in bytes(60), value in bytes(300), disturbance in bytes(200), moves in any::<bool>()
    ) {
        let (schema, root) = generate::schema(&mut Entropy(&schema));
        let view = schema.view(root);
        let value = generate::value(&mut Entropy(&value), view);
        let encoded = generate::encoded(&value, view);
        let mut node = Node::parse(encoded.as_bytes()).expect("well-formed");
        Disturbance { entropy: Entropy(&disturbance), moves }.disturb(&mut node, view);
        let document = written(&node);
        let tolerance = if moves { AnyOrder } else { Unknown };
        let found = laws::read(view, document.as_bytes(), options(tolerance));
        prop_assert_eq!(found, Ok(format!("{:?}", value)), "{}", document);
    }
}

/// Compared messages with deviations at their end, and where fields were passed unseen.
#[test]
fn deviations_show_wherever_a_message_is_gone_on_from() {
    let (schema, root) = order();
    let exact = Differential { adaptive: false, ..Differential::default() };
    let options = DecodeOptions { differential: exact, ..options(AnyOrder) };
    let mut stream = Stream::<Value>::new(schema.view(root), options);
    let short = "<item><code>a</code><count>1</count></item><item><code>b</code></item>";
    for parts in [
        &[NUMBER, STATE, ITEMS, NOTE][..],
        &[NUMBER, STATE, short, NOTE],
        &[NUMBER, STATE, ITEMS, NOTE],
        &["<number>8</number>", STATE, ITEMS, NOTE, "<number>9</number>"],
        &[NUMBER, STATE, ITEMS, NOTE],
        &[STATE],
        &[NUMBER, STATE],
        &[NUMBER],
        &[NUMBER, STATE, ITEMS, NOTE],
        &["<number>8</number>", STATE, ITEMS, "<note xmlns=''><by>me</by></note>"],
    ] {
        let _ = stream.next(document(parts).as_bytes(), usize::MAX);
    }
}

#[test]
fn what_is_read_again_is_reported_once() {
    let (schema, root) = order();
    let differential = Differential { checkpoints: Checkpoints::Leaf, adaptive: false };
    let mut decoder = Decoder::new(DecodeOptions { differential, ..options(AnyOrder) });
    let mut operation = crate::streams::Operation::<Value>::new(schema.view(root));
    let (unknown, item) = ("<u/>", "<item><code>a</code><count>1</count></item>");
    // In the second message an element is found out of order after an unknown one: the message is
    // reread from its start.
    let messages = [&[unknown, NUMBER, STATE, item][..], &[unknown, NUMBER, unknown, item, STATE]];
    for parts in messages {
        decoder.reset();
        decoder.decode(&mut operation, document(parts).as_bytes()).expect("tolerated");
    }
    assert_eq!(operation.memory.stats().restarted, 1);
    assert_eq!(decoder.deviations(), deviations(messages[1], AnyOrder));
    let all: u64 = messages.iter().flat_map(|parts| deviations(parts, AnyOrder)).map(|it| it.count).sum();
    assert_eq!(decoder.stats().deviations, all);
}

/// A wildcard takes no element that a field names, at any position.
#[test]
fn a_wildcard_takes_nothing_from_the_fields() {
    let mut schema = Schema::new();
    let int = simple(&mut schema, Builtin::Int, &[]);
    let any = schema.add(Element::Any);
    let any = Field { name: QName::new("", "any"), inline: true, ..field("any", any, 0, None) };
    let fields = vec![field("a", int, 1, Some(1)), field("b", int, 1, Some(1)), any];
    let root = complex(&mut schema, Compositor::Sequence, fields);
    let read = |content: &str, tolerance: Tolerance| {
        let text = format!("<order xmlns='urn:t'>{content}</order>");
        let mut decoder = Decoder::new(options(tolerance));
        let mut reader = ElementRoot::<Value>::new(schema.view(root));
        decoder.push(&mut reader, text.as_bytes()).and_then(|()| decoder.finish(&mut reader)).map(|()| reader.value)
    };
    let (a, b, q) = ("<a>1</a>", "<b>2</b>", "<q xmlns='urn:q'/>");
    let expected = read(&[a, b, q].concat(), Strict).expect("valid");
    for parts in [[q, a, b], [a, q, b], [b, q, a], [q, b, a], [b, a, q]] {
        assert_eq!(read(&parts.concat(), AnyOrder).as_ref(), Ok(&expected), "{parts:?}");
    }
    for twice in [[a, q, b, a].concat(), [q, a, b, b].concat()] {
        assert!(read(&twice, AnyOrder).is_err(), "{twice}");
    }
}

/// Elements that an open type skips at one level of tolerance are skipped at all levels.
#[test]
fn open_types_pass_over_what_has_come_in_another_namespace() {
    #[derive(deltasoap::Soap, Debug, PartialEq)]
    #[soap(open, namespace = "urn:t", qualified)]
    struct Open {
        state: String,
    }
    let document = "<r xmlns='urn:t'><state>a</state><x:state xmlns:x='urn:x'>b</x:state><state>c</state></r>";
    for tolerance in LEVELS {
        let mut root = ElementRoot::<Open>::new(Open::view());
        Decoder::new(options(tolerance)).decode(&mut root, document.as_bytes()).expect("open");
        assert_eq!(root.value, Open { state: "a".to_owned() }, "{tolerance:?}");
    }
}

/// `rpc:result` of SOAP 1.2 names the part that is the result; it is not a part itself, though a
/// part may have that name.
#[test]
fn the_name_of_the_result_is_no_part() {
    #[derive(deltasoap::Soap, Debug, PartialEq)]
    struct Response {
        result: i32,
    }
    let rpc = "http://www.w3.org/2003/05/soap-rpc";
    let document = format!("<r><x:result xmlns:x='{rpc}'>result</x:result><result>7</result></r>");
    for tolerance in LEVELS {
        let mut root = ElementRoot::<Response>::new(Response::view());
        Decoder::new(options(tolerance)).decode(&mut root, document.as_bytes()).expect("an answer");
        assert_eq!(root.value, Response { result: 7 }, "{tolerance:?}");
    }
}

/// If a group prevents fields from being read in any namespace, an element with a field's name is
/// an error.
#[test]
fn beside_groups_nothing_of_a_field_is_skipped() {
    let mut schema = Schema::new();
    let int = simple(&mut schema, Builtin::Int, &[]);
    let group =
        complex(&mut schema, Compositor::Sequence, vec![field("p", int, 1, Some(1)), field("q", int, 1, Some(1))]);
    let group = Field { name: QName::new("", "group"), inline: true, ..field("group", group, 0, None) };
    let fields = vec![field("k", int, 0, Some(1)), group, field("z", int, 0, Some(1))];
    let root = complex(&mut schema, Compositor::Sequence, fields);
    let read = |content: &str, tolerance: Tolerance| {
        let text = format!("<order xmlns='urn:t'>{content}</order>");
        let mut decoder = Decoder::new(options(tolerance));
        let mut reader = ElementRoot::<Value>::new(schema.view(root));
        decoder.push(&mut reader, text.as_bytes()).and_then(|()| decoder.finish(&mut reader))
    };
    let valid = "<k>1</k><p>2</p><q>3</q><p>4</p><q>5</q><z>9</z>";
    assert!(LEVELS.iter().all(|level| read(valid, *level).is_ok()));
    let bare = valid.replace("<k>", "<k xmlns=''>");
    assert!(read(&bare, Unknown).is_ok(), "an unknown element");
    assert!(read(&bare, AnyOrder).is_err());
    assert!(read(&valid.replace("<z>", "<y/><z>"), AnyOrder).is_ok());
}

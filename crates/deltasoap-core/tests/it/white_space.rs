//! White space of varying length around the tags of flat items, as written by senders that indent,
//! and by those that keep room for longer values. It changes no value and no error, in whatever way
//! a message is read.

use crate::streams::Stream;
use crate::{laws, streams};
use deltasoap_core::decode::{Decoder, ElementRoot};
use deltasoap_core::schema::{
    ArrayElement, Builtin, ComplexElement, Compositor, Element, ElementRef, Field, Schema, SimpleElement,
};
use deltasoap_core::{
    Checkpoints, DecodeOptions, Differential, DifferentialStats, Error, Limits, QName, Record, Simple, Value,
};
use proptest::prelude::*;
use proptest::sample::Index;
use roxmltree::{Document, Node};
use std::borrow::Cow;

/// Leaf checkpoints, for every message.
const LEAVES: Differential = Differential { checkpoints: Checkpoints::Leaf, ..Differential::OFF };

/// Kinds of items of an array.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Number,
    /// A number and a text.
    Pair,
}

impl Kind {
    fn schema(self) -> (Schema, ElementRef) {
        let mut schema = Schema::new();
        let [number, text] = [Builtin::Double, Builtin::String].map(|base| {
            schema.add(Element::Simple(SimpleElement {
                name: base.name(),
                base,
                enumeration: Default::default(),
                default: None,
                packed: None,
            }))
        });
        let (item, item_type) = match self {
            Kind::Number => (number, Builtin::Double.name()),
            Kind::Pair => (schema.add(pair(number, text)), QName::new("urn:t", "Pair")),
        };
        let (name, item_name) = (QName::new("urn:t", "Items"), QName::new("", "item"));
        let array = schema.add(Element::Array(ArrayElement {
            name,
            item_name,
            item,
            item_type,
            nillable: false,
            dimensions: 1,
        }));
        (schema, array)
    }
}

fn pair(number: ElementRef, text: ElementRef) -> Element {
    let field = |name, element| {
        let name = QName::new("", name);
        Field { name, element, min: 1, max: Some(1), nillable: false, inline: false }
    };
    Element::Complex(ComplexElement {
        name: QName::new("urn:t", "Pair"),
        compositor: Compositor::Sequence,
        fields: vec![field("a", number), field("b", text)].into(),
        attributes: Cow::Borrowed(&[]),
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    })
}

/// Values, and the white space around their tags.
#[derive(Debug, Clone, Default)]
struct Item {
    number: i16,
    text: usize,
    gaps: Gaps,
}

#[derive(Debug, Clone, Default)]
struct Gaps {
    within: [String; 3],
    after: String,
}

impl Item {
    fn write(&self, kind: Kind) -> String {
        let Gaps { within: [open, between, close], after } = &self.gaps;
        let (number, text) = (self.number, "x".repeat(self.text));
        match kind {
            Kind::Number => format!("<item>{number}</item>{after}"),
            Kind::Pair => format!("<item>{open}<a>{number}</a>{between}<b>{text}</b>{close}</item>{after}"),
        }
    }
}

/// A document, and the content before its first item.
#[derive(Debug, Clone)]
struct Items {
    kind: Kind,
    front: String,
    items: Vec<Item>,
}

impl Items {
    fn write(&self) -> String {
        let items: String = self.items.iter().map(|item| item.write(self.kind)).collect();
        format!("<r>{}{items}</r>", self.front)
    }
}

/// Returns the value of a document by its DOM; `None` if it is not an array of such items.
fn by_dom(document: &str, kind: Kind) -> Option<String> {
    let document = Document::parse(document).ok()?;
    let items = elements(document.root_element())?;
    let items = items.into_iter().map(|item| if kind == Kind::Pair { pair_by_dom(item) } else { number_by_dom(item) });
    items.collect::<Option<_>>().map(|items| format!("{:?}", Value::List(items)))
}

fn pair_by_dom(item: Node<'_, '_>) -> Option<Value> {
    let [a, b] = elements(item)?.try_into().ok()?;
    let names_fit = a.has_tag_name("a") && b.has_tag_name("b");
    let text = b.text().unwrap_or_default().to_owned();
    let fields = vec![number_by_dom(a)?, Value::Simple(Simple::String(text))];
    names_fit.then(|| Value::Record(Box::new(Record { fields, attributes: Vec::new(), others: Default::default() })))
}

fn number_by_dom(leaf: Node<'_, '_>) -> Option<Value> {
    Some(Value::Simple(Simple::Double(leaf.text()?.parse().ok()?)))
}

/// Returns the child elements; `None` if there is text between them, or a processing instruction.
fn elements<'a, 'd>(parent: Node<'a, 'd>) -> Option<Vec<Node<'a, 'd>>> {
    let is_white = |text: &str| text.bytes().all(|byte| b" \t\r\n".contains(&byte));
    let is_gap = |node: &Node<'_, '_>| node.is_comment() || node.is_text() && node.text().is_some_and(is_white);
    parent.children().filter(|node| !is_gap(node)).map(|node| node.is_element().then_some(node)).collect()
}

fn white() -> BoxedStrategy<String> {
    let white = prop_oneof![
        4 => Just(String::new()),
        4 => prop::sample::select(vec![" ", "\n", "\t", "\r\n", "\n    ", "\r\n\t"]).prop_map(str::to_owned),
        3 => " {1,9}",
        1 => " {30,70}",
        2 => "[ \t\r\n]{1,6}",
    ];
    white.boxed()
}

/// White space; sometimes something else, which only the general routines read, or which is
/// invalid. Boxed, because it is used in many places of a document: what proptest keeps for each
/// would fill the stack.
fn gap() -> BoxedStrategy<String> {
    let other = vec!["<!-- > -->", "<o/>", "<o> </o>", "&#32;", "<?p?>", "<![CDATA[ ]]>", "z"];
    let other = (white(), prop::sample::select(other), white());
    prop_oneof![60 => white(), 1 => other.prop_map(|(one, other, two)| format!("{one}{other}{two}"))].boxed()
}

fn gaps() -> impl Strategy<Value = Gaps> {
    ([gap(), gap(), gap()], gap()).prop_map(|(within, after)| Gaps { within, after })
}

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![Kind::Number, Kind::Pair])
}

fn item() -> impl Strategy<Value = Item> {
    (any::<i16>(), 0..4_usize, gaps()).prop_map(|(number, text, gaps)| Item { number, text, gaps })
}

/// A number in a field of six characters or a few more.
fn stuffed_item() -> impl Strategy<Value = Item> {
    (0..12_000_i16, prop_oneof![9 => Just(0_usize), 1 => 1..5_usize]).prop_map(|(number, more)| {
        let room = " ".repeat(6 + more - number.to_string().len());
        let within = [String::new(), room.clone(), String::new()];
        Item { number, text: 1, gaps: Gaps { within, after: room } }
    })
}

/// A number on its own line, indented.
fn indented_item() -> impl Strategy<Value = Item> {
    let within = ["\n    ", "\n    ", "\n  "].map(str::to_owned);
    let gaps = Gaps { within, after: "\n  ".to_owned() };
    any::<i16>().prop_map(move |number| Item { number, text: 2, gaps: gaps.clone() })
}

fn items(most: usize) -> impl Strategy<Value = Items> {
    (kind(), gap(), prop::collection::vec(item(), 0..most)).prop_map(|(kind, front, items)| Items {
        kind,
        front,
        items,
    })
}

/// The difference between one message and the previous one.
#[derive(Debug, Clone)]
enum Edit {
    Set(Item),
    Insert(Item),
    Remove,
    /// The values stay the same.
    Gaps(Gaps),
    Front(String),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        4 => prop_oneof![stuffed_item(), indented_item(), item()].prop_map(Edit::Set),
        1 => prop_oneof![stuffed_item(), item()].prop_map(Edit::Insert),
        1 => Just(Edit::Remove),
        2 => gaps().prop_map(Edit::Gaps),
        1 => gap().prop_map(Edit::Front),
    ]
}

fn apply(document: &mut Items, at: Index, edit: Edit) {
    let items = &mut document.items;
    match edit {
        Edit::Front(gap) => document.front = gap,
        Edit::Insert(item) => items.insert(at.index(items.len() + 1), item),
        _ if items.is_empty() => {}
        Edit::Set(item) => *at.get_mut(items) = item,
        Edit::Gaps(gaps) => at.get_mut(items).gaps = gaps,
        Edit::Remove => drop(items.remove(at.index(items.len()))),
    }
}

/// Items with the same markup, or each with different markup than the next.
fn first_items() -> impl Strategy<Value = Items> {
    let lists = prop_oneof![
        prop::collection::vec(stuffed_item(), 1..25),
        prop::collection::vec(indented_item(), 1..25),
        prop::collection::vec(item(), 1..12),
    ];
    (kind(), white(), lists).prop_map(|(kind, front, items)| Items { kind, front, items })
}

/// Documents, each a few edits away from the previous one.
fn stream() -> impl Strategy<Value = Vec<Items>> {
    let edits = prop::collection::vec((any::<Index>(), edit()), 0..5);
    (first_items(), prop::collection::vec(edits, 1..5)).prop_map(|(first, steps)| {
        let mut documents = vec![first];
        for step in steps {
            let mut document = documents[documents.len() - 1].clone();
            step.into_iter().for_each(|(at, edit)| apply(&mut document, at, edit));
            documents.push(document);
        }
        documents
    })
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    let size = prop_oneof![1..10_usize, 10..200_usize, Just(usize::MAX)];
    prop_oneof![Just(vec![usize::MAX]), prop::collection::vec(size, 1..8)]
}

/// Limits that a document may reach.
fn limits(document: &str, text: usize, message: Index) -> Limits {
    Limits { text, message: message.index(document.len() + 2) as u64, ..Limits::default() }
}

/// As many cases as `PROPTEST_CASES` specifies, or few: each one is read in many ways.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig { cases: if is_set { default.cases } else { 64 }, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn white_space_means_nothing(items in items(12)) {
        let document = items.write();
        let result = read(items.kind, document.as_bytes(), Limits::default());
        prop_assert_eq!(result.ok(), by_dom(&document, items.kind), "{}", document);
    }

    #[test]
    fn what_is_wrong_is_found_alike(
        items in items(20),
        damage in prop::collection::vec(any::<u8>(), 0..20),
        text in 0..6_usize,
        message in any::<Index>(),
    ) {
        let document = items.write();
        let damaged = laws::damaged(&document, &mut deltasoap_test_support::Entropy(&damage));
        let _ = read(items.kind, &damaged, Limits::default());
        let _ = read(items.kind, document.as_bytes(), Limits { text, ..Limits::default() });
        let _ = read(items.kind, document.as_bytes(), limits(&document, usize::MAX, message));
    }

    /// Each policy and matcher, each message in chunks of different lengths.
    #[test]
    fn streams_are_read_as_their_messages_are(documents in stream(), cuts in cuts(), portion in 8..80_u32) {
        let kind = documents[0].kind;
        let documents: Vec<String> = documents.iter().map(Items::write).collect();
        for differential in everything(portion) {
            let (results, _) = read_stream(kind, &documents, options(differential), &cuts);
            for (result, document) in results.into_iter().zip(&documents) {
                prop_assert_eq!(result.ok(), by_dom(document, kind), "{}", document);
            }
        }
    }

    #[test]
    fn streams_meet_limits_as_their_messages_do(
        documents in stream(),
        cuts in cuts(),
        portion in 8..80_u32,
        text in 0..6_usize,
        message in any::<Index>(),
    ) {
        let kind = documents[0].kind;
        let documents: Vec<String> = documents.iter().map(Items::write).collect();
        for differential in everything(portion) {
            let limits = limits(&documents[0], text, message);
            read_stream(kind, &documents, DecodeOptions { limits, differential, ..DecodeOptions::default() }, &cuts);
        }
    }
}

fn everything(portion: u32) -> impl Iterator<Item = Differential> {
    streams::all(portion).chain([LEAVES, Differential::default()])
}

fn options(differential: Differential) -> DecodeOptions {
    DecodeOptions { differential, ..DecodeOptions::default() }
}

/// Reads a document in every available way, without a memory.
fn read(kind: Kind, document: &[u8], limits: Limits) -> Result<String, Error> {
    let (schema, root) = kind.schema();
    laws::read(schema.view(root), document, DecodeOptions { limits, ..DecodeOptions::default() })
}

/// Reads a stream, and each document also alone, in chunks of the given lengths, repeatedly.
fn read_stream(
    kind: Kind,
    documents: &[String],
    options: DecodeOptions,
    cuts: &[usize],
) -> (Vec<Result<String, Error>>, DifferentialStats) {
    let (schema, root) = kind.schema();
    let mut stream = Stream::<Value>::new(schema.view(root), options);
    let mut cuts = cuts.iter().copied().cycle();
    let results = documents.iter().map(|document| stream.next_cut(document.as_bytes(), &mut cuts)).collect();
    (results, stream.stats())
}

/// Returns the number of items of a document that are read by the shortcut.
fn flat_items(kind: Kind, document: &str) -> u64 {
    let (schema, root) = kind.schema();
    let mut decoder = Decoder::new(DecodeOptions::default());
    let mut value = ElementRoot::<Value>::new(schema.view(root));
    decoder.decode(&mut value, document.as_bytes()).expect("valid");
    decoder.stats().flat_items
}

/// Items with numbers in fields of ten characters.
fn stuffed(numbers: impl IntoIterator<Item = i32>) -> String {
    let item = |number: i32| {
        let room = " ".repeat(10 - number.to_string().len());
        format!("<item><a>{number}</a>{room}<b>text</b>   </item>")
    };
    format!("<r>{}</r>", numbers.into_iter().map(item).collect::<String>())
}

/// The same items in lines, with each tag indented: `line` begins each line.
fn indented(numbers: impl IntoIterator<Item = i32>, line: &str) -> String {
    let item = |number: i32| format!("{line}<item>{line}{line}<a>{number}</a>{line}{line}<b>text</b>{line}</item>");
    format!("<r>{}\n</r>", numbers.into_iter().map(item).collect::<String>())
}

#[test]
fn items_with_white_space_take_the_shortcut() {
    let powers = || (0..1000).map(|i| 7_i32.pow(i % 10));
    assert_eq!(flat_items(Kind::Pair, &stuffed(powers())), 999);
    for line in ["\n", "\n  ", "\r\n\t", "\n                                        "] {
        assert_eq!(flat_items(Kind::Pair, &indented(powers(), line)), 999, "{line:?}");
        let numbers: String = powers().map(|number| format!("{line}<item>{number}</item>")).collect();
        assert_eq!(flat_items(Kind::Number, &format!("<r>{numbers}{line}</r>")), 999, "{line:?}");
    }
}

#[test]
fn white_space_may_differ_from_item_to_item() {
    const MIX: [&str; 8] = ["", " ", "\n", "\t", "\r\n", "\n  ", "                    ", " \t\r\n"];
    let item = |i: usize| {
        let [open, between, close, after] = [1, 3, 5, 7].map(|step| MIX[i * step % 8]);
        format!("<item>{open}<a>{i}</a>{between}<b>text</b>{close}</item>{after}")
    };
    let document = format!("<r>{}</r>", (0..1000).map(item).collect::<String>());
    assert_eq!(flat_items(Kind::Pair, &document), 999);
}

#[test]
fn a_changed_value_in_an_indented_message_is_read_alone() {
    let numbers = |turn: i32| (1000..1900).map(move |i| if i % 300 == 150 { 5000 + turn } else { i });
    let documents = [1, 2, 3, 4].map(|turn| indented(numbers(turn), "\n  "));
    assert_changes_are_read_alone(&documents);
}

/// Such items are not flat: only the general routines know where they begin.
#[test]
fn items_after_other_than_white_space_are_compared_too() {
    for other in ["&#32;", "&#xA;", "<!---->", "<![CDATA[ ]]>"] {
        let item = |i: i32| format!("{other} <item>{i}</item>");
        let document = |turn: i32| (0..300).map(|i| item(if i == 150 { 1000 + turn } else { i })).collect::<String>();
        let documents = [1, 2, 3, 4].map(|turn| format!("<r>{}</r>", document(turn)));
        for chunk in [usize::MAX, 700] {
            let (_, stats) = read_stream(Kind::Number, &documents, options(LEAVES), &[chunk]);
            assert_eq!(stats.compared, 3, "{other}: {stats:?}");
        }
        assert_eq!(flat_items(Kind::Number, &documents[0]), 0, "{other}");
    }
}

#[test]
fn a_value_in_its_room_moves_nothing() {
    let numbers = |turn: u32| (0..1000).map(move |i| if i % 300 == 150 { 10_i32.pow(turn) } else { i });
    let documents = [3, 0, 8, 5].map(|turn| stuffed(numbers(turn)));
    assert_changes_are_read_alone(&documents);
}

/// Three items of each document differ from those of the previous one: these are read, and nothing
/// else.
#[track_caller]
fn assert_changes_are_read_alone(documents: &[String; 4]) {
    for chunk in [usize::MAX, 4000] {
        let (_, stats) = read_stream(Kind::Pair, documents, options(LEAVES), &[chunk]);
        let (size, leaves) = (documents[0].len() as u64, 9);
        assert_eq!((stats.compared, stats.shifted, stats.leaves), (3, 0, leaves), "{stats:?}");
        assert!(stats.regular_bytes < size + leaves * 100, "{stats:?}");
    }
}

#[test]
fn every_cut() {
    let lists = [[1, 20, 333], [1, 2, 333], [1, 55_555, 4], [10, 55_555, 44]];
    for documents in [lists.map(stuffed), lists.map(|list| indented(list, "\r\n "))] {
        for chunk in 1..documents[0].len() {
            read_stream(Kind::Pair, &documents, options(LEAVES), &[chunk]);
        }
    }
}

/// Content after the last item is not part of it, whatever it is.
#[test]
fn the_end_of_the_last_item_moves() {
    let ends =
        ["", "   ", " ", "      ", "&#32;", "   &#32;", "\r\n", "<!-- -->", "  <!-- -->", "   ", "<![CDATA[ ]]>", ""];
    let mut documents = ends.map(|end| stuffed([1, 20, 333]).replace("</r>", &format!("{end}</r>")));
    for _ in 0..2 {
        for chunk in [usize::MAX, 1, 3, 40] {
            read_stream(Kind::Pair, &documents, options(LEAVES), &[chunk]);
        }
        documents.reverse();
    }
}

/// Far more white space than the limit on text.
const HUGE: usize = 300_000;

/// Documents with very much white space, each at another place: before, within, between and after
/// items.
fn huge() -> [String; 5] {
    let (few, much) = (stuffed([1, 20, 333, 4, 5]), " \r\n\t".repeat(HUGE / 4));
    let put = |what: &str, turn: usize| {
        let at = few.match_indices(what).nth(turn).map_or(0, |(at, _)| at);
        format!("{}{much}{}", &few[..at], &few[at..])
    };
    [put("<item>", 0), put("<b>", 3), put("<item>", 3), put("</r>", 0), few.clone()]
}

#[test]
fn huge_white_space_is_no_text() {
    let limits = Limits { text: 4, markup: 64, ..Limits::default() };
    for differential in everything(64) {
        let (results, _) = read_stream(
            Kind::Pair,
            &huge(),
            DecodeOptions { limits, differential, ..DecodeOptions::default() },
            &[10_000, usize::MAX, 777],
        );
        for (result, document) in results.into_iter().zip(huge()) {
            assert_eq!(result.expect("within limits"), by_dom(&document, Kind::Pair).expect("valid"));
        }
    }
    for document in huge() {
        assert!(flat_items(Kind::Pair, &document) >= 3);
    }
}

#[test]
fn huge_white_space_counts_against_the_limit_of_the_message() {
    let limits = Limits { message: HUGE as u64 / 2, ..Limits::default() };
    for differential in everything(64) {
        let options = DecodeOptions { limits, differential, ..DecodeOptions::default() };
        let (mut results, _) = read_stream(Kind::Pair, &huge(), options, &[10_000, usize::MAX, 777]);
        assert!(results.pop().is_some_and(|few| few.is_ok()));
        for result in results {
            let error = result.expect_err("beyond the limit");
            assert_eq!(error.offset(), limits.message, "{error}");
        }
    }
}

/// Searching for the end of white space again with every chunk would take hours here.
#[test]
fn huge_white_space_takes_linear_time_in_small_chunks() {
    for document in huge() {
        let (schema, root) = Kind::Pair.schema();
        let mut decoder = Decoder::new(DecodeOptions::default());
        let mut value = ElementRoot::<Value>::new(schema.view(root));
        document.as_bytes().chunks(3).try_for_each(|chunk| decoder.push(&mut value, chunk)).expect("valid");
        decoder.finish(&mut value).expect("valid");
        assert_eq!(Some(format!("{:?}", value.value)), by_dom(&document, Kind::Pair));
    }
}

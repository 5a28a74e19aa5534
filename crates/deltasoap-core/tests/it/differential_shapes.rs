//! Message shapes that are difficult for leaf checkpoints, one by one.

use crate::streams::{self, Operation, Stream};
use deltasoap_core::content::Shortcuts;
use deltasoap_core::decode::Decoder;
use deltasoap_core::schema::{
    ArrayElement, Attribute, Builtin, ComplexElement, Compositor, Element, ElementRef, Field, Schema, SimpleElement,
    UnionElement, View,
};
use deltasoap_core::{
    Column, Content, DecodeOptions, Differential, DifferentialStats, Limits, Memory, MultiArray, Nillable, QName,
    SoapArray, Typed, Value, decode, encode,
};
use std::borrow::Cow;
use std::fmt::Debug;

pub(crate) const EXACT: Differential =
    Differential { checkpoints: deltasoap_core::Checkpoints::Leaf, ..Differential::OFF };

/// Reads a stream of documents in chunks of several sizes, and with the policies of the papers.
/// Returns the counters of leaf checkpoints for whole documents.
fn read<T: Content + Debug>(view: View<'_>, documents: &[impl AsRef<[u8]>], limits: Limits) -> DifferentialStats {
    for differential in streams::all(24) {
        run::<T>(view, documents, DecodeOptions { limits, differential, ..DecodeOptions::default() }, usize::MAX);
    }
    let options = DecodeOptions { limits, differential: EXACT, ..DecodeOptions::default() };
    for chunk in [1, 5, 17, 100] {
        run::<T>(view, documents, options, chunk);
    }
    run::<T>(view, documents, options, usize::MAX)
}

fn run<T: Content + Debug>(
    view: View<'_>,
    documents: &[impl AsRef<[u8]>],
    options: DecodeOptions,
    chunk: usize,
) -> DifferentialStats {
    let mut stream = Stream::<T>::new(view, options);
    for document in documents {
        let _ = stream.next(document.as_ref(), chunk);
    }
    stream.stats()
}

fn typed<T: Typed + Debug>(documents: &[impl AsRef<[u8]>]) -> DifferentialStats {
    read::<T>(T::view(), documents, Limits::default())
}

/// Builds schemas.
#[derive(Default)]
pub(crate) struct Types(pub(crate) Schema);

impl Types {
    pub(crate) fn simple(&mut self, base: Builtin) -> ElementRef {
        self.0.add(Element::Simple(SimpleElement {
            name: base.name(),
            base,
            enumeration: Default::default(),
            default: None,
            packed: None,
        }))
    }

    fn complex(&mut self, compositor: Compositor, open: bool, fields: Vec<Field>) -> ElementRef {
        let (fields, attributes) = (fields.into(), Cow::Borrowed(&[][..]));
        let name = QName::new("urn:t", "T");
        self.0.add(Element::Complex(ComplexElement {
            name,
            compositor,
            fields,
            attributes,
            text: None,
            open,
            any_attribute: false,
            choices: Default::default(),
        }))
    }

    pub(crate) fn sequence(&mut self, fields: Vec<Field>) -> ElementRef {
        self.complex(Compositor::Sequence, false, fields)
    }
}

pub(crate) fn field(name: &'static str, element: ElementRef, min: u32, max: Option<u32>) -> Field {
    Field { name: QName::new("", name), element, min, max, nillable: false, inline: false }
}

fn array(items: &[&str]) -> String {
    format!("<r>{}</r>", items.concat())
}

fn items(values: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    values.into_iter().map(|value| format!("<item>{value}</item>")).collect()
}

#[test]
fn the_end_of_flat_items_is_where_the_next_element_begins() {
    let documents = [
        array(&[&items([10, 10, 179, 0, 0, 0])]),
        array(&[&items([10, 10, 179, 0, 0, 0])]),
        "<r><item>10</item><!-- a comment --><item>10</item>\r\n\t<item>20</item><item>17<!-- < -->9</item>\r\n\t\
         <item>0</item>\r\n\t<item>0</item> <item\n>110</item></r> "
            .to_owned(),
        array(&[&items([10, 20, 179, 0, 0, 110])]),
        array(&[&items([10, 20, 179, 0, 0, 110])]),
    ];
    let stats = typed::<SoapArray<i32>>(&documents);
    assert!(stats.compared == 4 && stats.to_fast > 3, "{stats:?}");
}

#[test]
fn arrays_in_an_array_get_items_in_front() {
    let part = |values: &[i32]| {
        let head = "xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' e:arrayType";
        format!("<item {head}='int[{}]'>{}</item>", values.len(), items(values))
    };
    let whole = |parts: &[&[i32]]| array(&[&parts.iter().map(|values| part(values)).collect::<String>()]);
    let documents = [
        whole(&[&[0], &[0, 0], &[1], &[]]),
        whole(&[&[0], &[0, 0], &[1], &[]]),
        whole(&[&[0, 0], &[0], &[0, 0], &[1]]),
        whole(&[&[0, 0], &[0], &[0, 0], &[1]]),
        whole(&[&[0, 0], &[5], &[0, 0], &[2]]),
        whole(&[&[5], &[0, 0], &[2], &[0, 0], &[0, 1], &[0, 2]]),
    ];
    let stats = typed::<SoapArray<SoapArray<i32>>>(&documents);
    assert!(stats.compared == 5 && stats.shifted > 0, "{stats:?}");
}

/// A user's type that does not override [`Content::REPLACES`]: it is made vacant before it is read.
#[derive(Debug, Clone, PartialEq, Default)]
struct Own(String);

impl Content for Own {
    fn vacant(_: View<'_>) -> Self {
        Own::default()
    }

    fn decode(&mut self, cursor: &mut decode::Cursor<'_>, view: View<'_>) -> decode::Step {
        self.0.decode(cursor, view)
    }

    fn encode(&self, encoder: &mut encode::Encoder, view: View<'_>) {
        self.0.encode(encoder, view);
    }
}

impl Shortcuts for Own {}

impl Typed for Own {
    const TYPE_NAME: QName = QName::new("urn:t", "Own");

    fn element() -> &'static Element {
        String::element()
    }
}

#[derive(Debug, Clone, PartialEq, deltasoap::Soap)]
#[soap(namespace = "urn:t")]
struct Owner {
    before: Vec<u32>,
    once: Own,
    perhaps: Option<Own>,
    often: Vec<Own>,
    array: SoapArray<Own>,
    after: Vec<u32>,
}

#[test]
fn content_that_is_made_vacant_is_not_met_half_way() {
    let message = |number: u32| {
        let numbers = |name: &str, count: u32| -> String {
            (0..count).map(|item| format!("<{name}>{}</{name}>", 1000 + item * number % 7)).collect()
        };
        let own = |name: &str| format!("<{name}>kept as it is</{name}>");
        format!(
            "<a>{}{}{}{}<array>{}</array>{}</a>",
            numbers("before", 20 - number % 3),
            own("once"),
            own("perhaps"),
            own("often").repeat(5),
            own("item").repeat(5),
            numbers("after", 20 + number % 2)
        )
    };
    let messages: Vec<String> = (0..12).map(message).collect();
    let mut stream = Stream::<Owner>::new(
        Owner::view(),
        DecodeOptions { limits: Limits::default(), differential: EXACT, ..DecodeOptions::default() },
    );
    stream.next(messages[0].as_bytes(), usize::MAX).expect("a valid message");
    typed::<Owner>(&messages);
}

#[test]
fn every_other_item_is_read_in_place() {
    let alternating = |k: usize| array(&[&items((0..20).map(|i| if i % 2 == 0 { k } else { 5 }))]);
    let documents = [alternating(1), alternating(2), alternating(3)];
    let stats = typed::<SoapArray<i32>>(&documents);
    assert!(stats.leaves == 18 && stats.to_regular == 6, "{stats:?}");
}

/// Two fields of the same name, a list between them, and a list with a maximum length.
#[test]
fn fields_of_one_name_and_bounded_lists() {
    let mut types = Types::default();
    let int = types.simple(Builtin::Int);
    let fields = vec![
        field("a", int, 0, Some(1)),
        field("b", int, 0, Some(3)),
        field("a", int, 0, Some(2)),
        field("c", int, 0, None),
    ];
    let root = types.sequence(fields);
    let bodies = [
        "<a>1</a><b>1</b><b>2</b><a>3</a><a>4</a><c>5</c><c>6</c><c>7</c>",
        "<a>1</a><b>1</b><b>2</b><a>3</a><a>4</a><c>5</c><c>6</c><c>7</c>",
        "<a>1</a><a>3</a><a>4</a><c>5</c><c>6</c><c>7</c>",
        "<b>1</b><a>3</a><c>5</c><c>6</c><c>8</c>",
        "<a>1</a><b>1</b><b>2</b><b>9</b><a>3</a><c>6</c><c>7</c>",
        "<a>1</a><b>1</b><b>2</b><b>9</b><b>9</b><a>3</a><c>6</c><c>7</c>",
        "<a>1</a><b>1</b><b>2</b><a>3</a><a>3</a><a>3</a><c>6</c><c>7</c>",
        "<a>1</a><b>1</b><b>2</b><a>3</a><a>4</a><c>5</c><c>6</c><c>7</c>",
        "<a>1</a><b>1</b><b>2</b><a>3</a><a>4</a><c>5</c><c>6</c><c>7</c>",
        "<a>2</a><b>1</b><b>2</b><a>3</a><a>5</a><c>5</c><c>6</c><c>7</c>",
    ];
    let stats = read::<Value>(types.0.view(root), &documents(&bodies), Limits::default());
    assert!(stats.compared > 5 && stats.to_fast > 4, "{stats:?}");
}

/// A repeated choice without its own element, whose members are arrays, structs and empty elements.
#[test]
fn repeated_choices() {
    let mut types = Types::default();
    let (int, string) = (types.simple(Builtin::Int), types.simple(Builtin::String));
    let pair = types.sequence(vec![field("x", int, 1, Some(1)), field("y", string, 0, Some(1))]);
    let list = types.sequence(vec![field("i", int, 0, None)]);
    let members = vec![field("i", int, 1, Some(1)), field("p", pair, 1, Some(1)), field("l", list, 1, Some(1))];
    let choice = types.complex(Compositor::Choice, false, members);
    let inline = Field { inline: true, ..field("", choice, 0, None) };
    let root = types.sequence(vec![inline, field("end", int, 0, Some(1))]);
    let bodies = [
        "<i>1</i><p><x>1</x><y>2</y></p><l><i>1</i><i>2</i><i>3</i></l><i>4</i><l/><end>1</end>",
        "<i>1</i><p><x>1</x><y>2</y></p><l><i>1</i><i>2</i><i>3</i></l><i>4</i><l/><end>1</end>",
        "<i>1</i><p><x>1</x><y>3</y></p><l><i>1</i><i>9</i><i>3</i></l><i>4</i><l/><end>1</end>",
        "<p><x>1</x><y>3</y></p><l><i>1</i><i>9</i><i>3</i></l><i>4</i><l></l><i>4</i><end>1</end>",
        "<p><x>1</x></p><p><x>1</x></p><i>4</i><l/><l/><l><i>1</i></l>",
        "<p><x>1</x></p><p><x>1</x></p><i>5</i><l/><l/><l><i>2</i></l>",
        "<l/><l/><p><x>1</x></p><p><x>1</x></p><i>4</i><l><i>2</i></l>",
        "<l/><l/><p><x>1</x></p><p><x>1</x></p><i>4</i><l><i>2</i></l>",
        "<l/><p/><p><x>1</x></p><i>4</i><l><i>2</i></l>",
        "<l/><l/><p><x>1</x></p><p><x>1</x></p><i>4</i><l><i>2</i></l>",
    ];
    let stats = read::<Value>(types.0.view(root), &documents(&bodies), Limits::default());
    assert!(stats.compared > 5 && stats.to_fast > 4, "{stats:?}");
}

/// Elements of any name, kept as trees: between named fields, one and many, and as members of a
/// choice.
#[test]
fn wildcards() {
    let mut types = Types::default();
    let (int, any) = (types.simple(Builtin::Int), types.0.add(Element::Any));
    let wildcard = |min, max| Field { inline: true, ..field("any", any, min, max) };
    let choice = types.complex(Compositor::Choice, false, vec![field("i", int, 1, Some(1)), wildcard(1, Some(1))]);
    let inner = types.complex(Compositor::All, false, vec![field("x", int, 0, Some(1)), wildcard(0, None)]);
    let group = Field { inline: true, ..field("", choice, 0, None) };
    let fields = vec![field("a", int, 0, Some(1)), wildcard(0, Some(1)), field("b", inner, 0, None), group];
    let root = types.sequence(fields);
    let bodies = [
        "<a>1</a><u p='1'>1</u><b><x>1</x><u>1</u><v/></b><i>1</i><w>2</w><i>3</i>",
        "<a>1</a><u p='1'>1</u><b><x>1</x><u>1</u><v/></b><i>1</i><w>2</w><i>3</i>",
        "<a>1</a><u p='2'>1</u><b><x>1</x><u>2</u><v/></b><i>1</i><w>3</w><i>4</i>",
        "<a>1</a><b><u>2</u><x>2</x><v/><u><x>3</x></u></b><b/><i>1</i><w>3</w><w/><i>4</i>",
        "<u><a>1</a></u><b><u>2</u><x>2</x><v/><u><x>3</x></u></b><b/><i>1</i><w>3</w><w/><i>4</i>",
        "<u><a>2</a></u><b><u>2</u><x>2</x><v/><u><x>4</x></u></b><b/><i>1</i><w>4</w><w/><i>4</i>",
        "<u xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='true'/><b/><b/><i>1</i><w>4</w><w/><i>x</i>",
        "<u><a>2</a></u><b><u>2</u><x>2</x><x>2</x></b><w/>",
        "<u><a>2</a></u><b><u>2</u><x>2</x></b><w/><w/><w/>",
        "<u><a>2</a></u><b><u>2</u><x>2</x></b><w/><w/><w/>",
    ];
    let stats = read::<Value>(types.0.view(root), &documents(&bodies), Limits::default());
    assert!(stats.compared > 5, "{stats:?}");
}

/// Elements that the schema does not name, before, between and after those it does.
#[test]
fn unknown_elements() {
    let mut types = Types::default();
    let int = types.simple(Builtin::Int);
    let inner = types.complex(Compositor::Sequence, true, vec![field("x", int, 0, None)]);
    let root = types.complex(Compositor::Sequence, true, vec![field("a", int, 0, None), field("b", inner, 0, None)]);
    let bodies = [
        "<u>1</u><a>1</a><u/><a>2</a><b><x>1</x><u>1</u></b><u><a>1</a></u>",
        "<u>1</u><a>1</a><u/><a>2</a><b><x>1</x><u>1</u></b><u><a>1</a></u>",
        "<u>2</u><a>1</a><u/><a>2</a><b><x>1</x><u>2</u></b><u><a>2</a></u>",
        "<u>2</u><a>1</a><u></u><a>2</a><b><u>2</u><x>1</x></b><b><x>1</x></b><u><a>2</a><a>2</a></u>",
        "<a>1</a><a>2</a><b><x>1</x></b><b><x>1</x></b>",
        "<a>1</a><v/><v/><v/><a>2</a><b><x>1</x></b><b><x>1</x></b>",
        "<a>1</a><v/><v/><w/><a>2</a><b><x>1</x></b><b><x>1</x></b><v>",
        "<a>1</a><v/><v/><w/><a>2</a><b><x>1</x></b><b><x>1</x></b><v></v>",
        "<a>1</a><v/><v/><w/><a>2</a><b><x>1</x></b><b><x>1</x></b><v>text &amp; text</v>",
        "<a>1</a><v/><v/><w/><a>2</a><b><x>1</x></b><b><x>1</x></b><v>text &amp; texts</v>",
    ];
    let stats = read::<Value>(types.0.view(root), &documents(&bodies), Limits::default());
    assert!(stats.compared > 5 && stats.to_fast > 4, "{stats:?}");
}

/// White space, comments, CDATA, references, empty-element tags: the same values in different
/// notations.
#[test]
fn other_words() {
    let plain = items(["ab", "cd", "", "ef", "gh", "ij"]);
    let forms = [
        plain.clone(),
        plain.clone(),
        plain.replace("<item></item>", "<item/>"),
        plain.replace("<item></item>", "<item />"),
        plain.replace("<item></item>", "<item\n></item >"),
        plain.replace("><", ">\n  <"),
        plain.replace("><", "><!-- <item>no</item> --><"),
        plain.replace("ef", "<![CDATA[ef]]>"),
        plain.replace("ef", "<![CDATA[]]>e<!-- -->f<![CDATA[]]>"),
        plain.replace("ef", "&#101;f"),
        plain.replace("ef", "&#102;f"),
        plain.replace("</item><item>", "</item><?pi?><item>"),
        plain.clone(),
        plain.replace("ab", "<![CDATA[ab]]"),
        plain.replace("gh", "<!-- g"),
        plain,
    ];
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    let stats = typed::<SoapArray<String>>(&documents(&forms));
    assert!(stats.compared == 10 && stats.to_fast > 10, "{stats:?}");
}

/// Limits also apply to skipped content, and an error is the one that regular mode finds.
#[test]
fn limits_reached_in_what_is_equal() {
    let documents: Vec<String> = [20, 20, 21, 19, 20, 40, 20]
        .iter()
        .map(|&count| array(&[&items((0..count).map(|i| format!("{i} text")))]))
        .collect();
    let size = documents[0].len() as u64;
    for message in [size - 1, size, size + 1, size + 30] {
        let limits = Limits { message, ..Limits::default() };
        read::<SoapArray<String>>(SoapArray::<String>::view(), &documents, limits);
    }
    for limits in [
        Limits { text: 6, ..Limits::default() },
        Limits { text: 7, ..Limits::default() },
        Limits { depth: 2, ..Limits::default() },
        Limits { depth: 1, ..Limits::default() },
        Limits { markup: 6, ..Limits::default() },
    ] {
        read::<SoapArray<String>>(SoapArray::<String>::view(), &documents, limits);
    }
}

/// Changes around the operation's element, and in the encoding of the document.
#[test]
fn frames_of_the_document() {
    let body = array(&[&items(0..30)]);
    let wide: Vec<u8> = [0xFF, 0xFE].into_iter().chain(body.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let changed = body.replace("<item>7</item>", "<item>77</item>");
    let documents: Vec<Vec<u8>> = vec![
        body.clone().into_bytes(),
        format!("\u{FEFF}{body}").into_bytes(),
        format!("\u{FEFF}{changed}").into_bytes(),
        format!("<?xml version='1.0'?>\n{body}").into_bytes(),
        wide,
        body.clone().into_bytes(),
        format!("<?xml version='1.0' encoding='latin1'?>{body}").into_bytes(),
        format!("<?xml version='1.0' encoding='latin1'?>{changed}").into_bytes(),
        body.clone().into_bytes(),
        format!("<!-- -->{changed}<!-- -->\n").into_bytes(),
        format!("{body} garbage").into_bytes(),
        body.clone().into_bytes(),
        format!("{body}<r/>").into_bytes(),
        format!("{changed}<!--").into_bytes(),
        body.replace("</r>", "").into_bytes(),
        body.replace("</r>", "</s>").into_bytes(),
        body.replace("<r>", "<s>").replace("</r>", "</s>").into_bytes(),
        body.replace("<r>", "<r >").into_bytes(),
        body.replace("<r>", "<r xmlns:a='b'>").into_bytes(),
        changed.into_bytes(),
        Vec::new(),
        body.into_bytes(),
    ];
    let stats = typed::<SoapArray<i32>>(&documents);
    assert!(stats.compared > 3 && stats.to_fast + stats.leaves > 1, "{stats:?}");
}

/// Long messages: several received buffers, some kept as received and some joined.
#[test]
fn images_of_several_parts() {
    let message = |seed: usize| array(&[&items((0..9000).map(|i| if i % 701 == seed { i } else { i * 7919 }))]);
    let documents = [message(1), message(1), message(2), message(700), message(2).replace("<item>0</item>", "")];
    let options = DecodeOptions { differential: EXACT, ..DecodeOptions::default() };
    let mut stream = Stream::<SoapArray<i64>>::new(SoapArray::<i64>::view(), options);
    for chunks in [[20_000, 100], [16_384, 16_384], [1, 60_000], [40_000, 3]] {
        for document in &documents {
            let _ = stream.next_cut(document.as_bytes(), &mut chunks.into_iter().cycle());
        }
    }
    let stats = stream.stats();
    assert!(stats.compared == 19 && stats.fast_bytes > 2 * stats.regular_bytes, "{stats:?}");
}

/// A message with differences everywhere costs about as much as in regular mode, which takes over.
#[test]
fn comparing_is_given_up_where_it_costs_too_much() {
    let mut types = Types::default();
    let int = types.simple(Builtin::Int);
    let item = types.sequence(vec![field("a", int, 0, Some(1)), field("b", int, 0, Some(1))]);
    let root = types.sequence(vec![field("i", item, 0, None)]);
    let message = |by: usize| {
        let items: String = (0..4000).map(|i| format!("<i><a>{}</a><b>{}</b></i>", i * by % 7, i * by % 5)).collect();
        format!("<r>{items}</r>")
    };
    let documents = [message(0), message(1), message(1), message(2)];
    let options = DecodeOptions { differential: EXACT, ..DecodeOptions::default() };
    let stats = run::<Value>(types.0.view(root), &documents, options, usize::MAX);
    assert!(stats.to_regular < 8000 && stats.fast_bytes < documents[0].len() as u64, "{stats:?}");
}

/// If decoding goes back to the operation, its start tag is reread with its attributes.
#[test]
fn comparing_is_given_up_behind_a_start_tag_with_attributes() {
    let mut types = Types::default();
    let int = types.simple(Builtin::Int);
    let attributes = vec![Attribute { name: QName::new("", "a"), element: int, required: true, default: None }].into();
    let (name, fields) = (QName::new("urn:t", "T"), vec![field("i", int, 0, None)].into());
    let root = ComplexElement {
        name,
        compositor: Compositor::Sequence,
        fields,
        attributes,
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    };
    let root = types.0.add(Element::Complex(root));
    let message = |space: &str| {
        let item = |i: usize| format!("<i>{}</i>{}", i % 7, if i.is_multiple_of(2) { space } else { "" });
        format!("<r a='5'>{}</r>", (0..2000).map(item).collect::<String>())
    };
    let documents = [message(""), message(" "), message(" "), message("\n"), message("")];
    let options = DecodeOptions { differential: EXACT, ..DecodeOptions::default() };
    for chunk in [usize::MAX, 100] {
        run::<Value>(types.0.view(root), &documents, options, chunk);
    }
}

fn documents(bodies: &[&str]) -> Vec<String> {
    bodies.iter().map(|body| format!("<r>{body}</r>")).collect()
}

/// Elements that are sometimes empty, and attributes that are sometimes missing: those with a
/// default have it in every way of reading.
#[test]
fn defaults_come_and_go() {
    let mut types = Types::default();
    let (int, string) = (types.simple(Builtin::Int), types.simple(Builtin::String));
    let mut with_default = |base, text: &'static str| {
        let plain = types.simple(base);
        let element = types.0.view(plain).element.clone().with_default(text);
        types.0.add(element)
    };
    let (count, word) = (with_default(Builtin::Int, "7"), with_default(Builtin::String, "a b"));
    let (bytes, token) = (with_default(Builtin::Base64Binary, "AQID"), with_default(Builtin::Token, "t"));
    let members = vec![int, string].into();
    let union = UnionElement { name: QName::new("urn:t", "U"), members, list: false, default: Some("12".into()) };
    let union = types.0.add(Element::Union(union));
    let pair = types.sequence(vec![field("n", count, 1, Some(1)), field("w", word, 1, Some(1))]);
    let attribute = |name, default: Option<&'static str>| Attribute {
        name: QName::new("", name),
        element: int,
        required: false,
        default: default.map(Cow::Borrowed),
    };
    let attributes = vec![attribute("a", Some("5")), attribute("b", None)].into();
    let name = QName::new("urn:t", "Text");
    let text = types.0.add(Element::Complex(ComplexElement {
        name,
        compositor: Compositor::Sequence,
        fields: Cow::Borrowed(&[]),
        attributes,
        text: Some(word),
        open: false,
        any_attribute: false,
        choices: Default::default(),
    }));
    let root = types.sequence(vec![
        field("n", count, 1, Some(1)),
        field("w", word, 0, Some(1)),
        field("t", token, 0, Some(1)),
        field("u", union, 0, Some(1)),
        field("bytes", bytes, 0, Some(1)),
        field("text", text, 0, Some(1)),
        field("ws", word, 0, None),
        field("ns", count, 0, None),
        field("pair", pair, 0, None),
    ]);
    let pairs = |words: &[&str]| -> String {
        words.iter().map(|word| format!("<pair><n>{}</n><w>{word}</w></pair>", word.len())).collect()
    };
    let full = format!(
        "<n>1</n><w>x</w><t>y</t><u>3</u><bytes>AQ==</bytes><text a='1' b='2'>x</text><ws>p</ws><ws>q</ws><ns>1</ns><ns>2</ns>{}",
        pairs(&["x", "y", "z", "w"])
    );
    let empty = full.replace("<n>1</n><w>x</w><t>y</t><u>3</u>", "<n></n><w></w><t></t><u></u>");
    let bare = "<n/><w><!-- nothing --></w><t><![CDATA[]]></t><u/><bytes/><text/><ws/><ws></ws><ns/><ns></ns>";
    let bodies = [
        full.clone(),
        full.replace("<w>x</w>", "<w></w>"),
        full.clone(),
        empty.clone(),
        empty.replace("<n></n>", "<n>3</n>"),
        full.replace("<n>1</n>", "<n/>").replace("<bytes>AQ==</bytes>", "<bytes></bytes>"),
        bare.to_owned(),
        bare.replace("<text/>", "<text b='3'></text>"),
        full.replace("<ws>q</ws>", "<ws></ws>").replace("<ns>1</ns>", "<ns></ns>"),
        full.replace("<text a='1' b='2'>x", "<text b='2'>"),
        format!("{bare}{}", pairs(&["x", "", "z", ""])),
        format!("{bare}{}", pairs(&["", "y", "", "w", "v"])),
        full.replace("<w>x</w>", "<w> </w>"),
        full.replace("<n>1</n>", "<n> </n>"),
        full.clone(),
    ];
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    let stats = read::<Value>(types.0.view(root), &documents(&bodies), Limits::default());
    assert!(stats.compared > 5 && stats.to_fast > 4, "{stats:?}");
}

/// The same texts stand for other names where their prefixes do.
#[test]
fn names_in_lists_and_unions_change_with_their_prefixes() {
    let mut types = Types::default();
    let members: Cow<'static, [ElementRef]> = vec![types.simple(Builtin::Int), types.simple(Builtin::QName)].into();
    let mut union = |list| {
        let name = QName::new("urn:t", "U");
        types.0.add(Element::Union(UnionElement { name, members: members.clone(), list, default: None }))
    };
    let (one, many) = (union(false), union(true));
    let within = types.0.add(Element::Complex(ComplexElement {
        name: QName::new("urn:t", "Within"),
        compositor: Compositor::Sequence,
        fields: vec![field("u", one, 0, None), field("l", many, 0, None)].into(),
        attributes: vec![Attribute { name: QName::new("", "a"), element: many, required: false, default: None }].into(),
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    }));
    let root = types.sequence(vec![field("in", within, 0, None), field("n", one, 1, Some(1))]);
    let body = |outer: &str, inner: &str, text: &str| {
        format!(
            "<in a='p:x 7 {text}' xmlns:p='{outer}'><u>p:x</u><u>{text}</u><l> p:x  {text}</l><l xmlns:p='{inner}'>p:x 07</l></in>\
             <in xmlns:p='{inner}'><u>p:y</u></in><n>5</n>"
        )
    };
    let bodies = [
        body("urn:a", "urn:b", "p:y"),
        body("urn:a", "urn:b", "p:y"),
        body("urn:c", "urn:b", "p:y"),
        body("urn:c", "urn:a", "p:y"),
        body("urn:c", "urn:a", "p:longer"),
        body("urn:c", "urn:a", "12"),
        body("urn:a", "urn:longer", "q:y"),
        body("urn:a", "urn:b", "p:y"),
    ];
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    let stats = read::<Value>(types.0.view(root), &documents(&bodies), Limits::default());
    assert!(stats.compared > 0, "{stats:?}");
}

/// Matrices and arrays of arrays, each written as itself and as the other, alternately.
#[test]
fn arrays_change_their_form() {
    let encoding = "xmlns:e='http://schemas.xmlsoap.org/soap/encoding/'";
    let row = |row: &[i32]| format!("<r e:arrayType='int[{}]'>{}</r>", row.len(), items(row));
    let nested = |rows: &[&[i32]]| {
        let content: String = rows.iter().map(|it| row(it)).collect();
        format!("<a {encoding} e:arrayType='int[][{}]'>{content}</a><n>{}</n>", rows.len(), rows.len())
    };
    let flat = |rows: &[&[i32]]| {
        let sizes = format!("{},{}", rows.len(), rows[0].len());
        format!("<a {encoding} e:arrayType='int[{sizes}]'>{}</a><n>{}</n>", items(rows.concat()), rows.len())
    };
    let one: &[&[i32]] = &[&[1, 2, 3], &[4, 5, 6]];
    let other: &[&[i32]] = &[&[1, 2, 3], &[4, 50, 6]];
    let narrow: &[&[i32]] = &[&[1, 2], &[3, 4], &[5, 6]];
    let bodies = [
        flat(one),
        flat(one),
        nested(one),
        nested(one),
        nested(other),
        flat(other),
        flat(one),
        nested(&[&[1, 2, 3], &[4]]),
        nested(narrow),
        flat(narrow),
        flat(narrow).replace("[3,2]", "[3,4]"),
        nested(one),
        flat(other),
        flat(other),
        nested(&[&[]]),
        flat(one),
    ];
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    let mut types = Types::default();
    let int = types.simple(Builtin::Int);
    let mut array = |item, dimensions| {
        let (name, item_name) = (QName::new("urn:t", "A"), QName::new("", "item"));
        let item_type = QName::new("urn:t", "I");
        types.0.add(Element::Array(ArrayElement { name, item_name, item, item_type, nillable: false, dimensions }))
    };
    let matrix = array(int, 2);
    let rows = array(int, 1);
    let rows = array(rows, 1);
    for content in [matrix, rows] {
        let root = types.sequence(vec![field("a", content, 1, Some(1)), field("n", int, 1, Some(1))]);
        read::<Value>(types.0.view(root), &documents(&bodies), Limits::default());
    }
    let of_typed: Vec<String> = bodies.iter().filter_map(|it| it.split("<n>").next()).map(str::to_owned).collect();
    let of_typed: Vec<String> = of_typed.iter().map(|it| it.replace("<a ", "<r ").replace("</a>", "</r>")).collect();
    typed::<MultiArray<i32, 2>>(&of_typed);
    typed::<SoapArray<SoapArray<i32>>>(&of_typed);
    typed::<SoapArray<Nillable<SoapArray<Nillable<i32>>>>>(&of_typed);
}

/// Arrays of numbers for which another form is the same value.
#[test]
fn the_form_of_an_array_is_not_its_value() {
    let mut types = Types::default();
    let int = types.simple(Builtin::Int);
    let mut array = |item, dimensions| {
        let (name, item_name) = (QName::new("urn:t", "A"), QName::new("", "item"));
        let item_type = QName::new("urn:t", "I");
        types.0.add(Element::Array(ArrayElement { name, item_name, item, item_type, nillable: true, dimensions }))
    };
    let cube = array(int, 3);
    let rows = array(int, 1);
    let rows = array(rows, 1);
    let rows = array(rows, 1);
    let open =
        |sizes: &str| format!("<r xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' e:arrayType='int{sizes}'>");
    let flat = format!("{}{}</r>", open("[2,1,2]"), items([1, 2, 3, 4]));
    let row = |row: [i32; 2]| format!("<i e:arrayType='int[2]'>{}</i>", items(row));
    let plane = |of: [i32; 2]| format!("<i e:arrayType='int[][1]'>{}</i>", row(of));
    let nested = format!("{}{}{}</r>", open("[][][2]"), plane([1, 2]), plane([3, 4]));
    for content in [cube, rows] {
        let view = types.0.view(content);
        let shown = [&flat, &nested].map(|document| {
            let mut stream = Stream::<Value>::new(view, DecodeOptions::default());
            stream.next(document.as_bytes(), 3).expect("valid")
        });
        assert_eq!(shown[0], shown[1]);
    }
}

/// One memory for values of schemas that are placed, one after the other, at the same address.
#[test]
fn schemas_in_the_place_of_others() {
    let document = "<r><n>1</n><n>2</n><m>3</m></r>";
    for differential in streams::all(8).chain([EXACT]) {
        let mut decoder = Decoder::new(DecodeOptions { differential, ..DecodeOptions::default() });
        let mut memory = Memory::new(Value::Absent);
        for base in [Builtin::Int, Builtin::Int, Builtin::Long, Builtin::String, Builtin::Int] {
            let mut types = Types::default();
            let simple = types.simple(base);
            let root = types.sequence(vec![field("n", simple, 0, None), field("m", simple, 0, Some(1))]);
            let view = types.0.view(root);
            let mut operation = Operation::new(view);
            operation.memory = memory;
            decoder.decode(&mut operation, document.as_bytes()).expect("valid");
            memory = operation.memory;
            let alone = decode::value_from_slice(document.as_bytes(), &QName::new("", "r"), view).expect("valid");
            assert_eq!(memory.value(), &alone, "{differential:?}, {base:?}");
        }
    }
}

/// Attributes that no schema names appear, disappear and change: no value contains remains of the
/// previous message.
#[test]
fn attributes_without_a_name_come_and_go() {
    let mut types = Types::default();
    let int = types.simple(Builtin::Int);
    let plain = |compositor, fields: Vec<Field>, text| ComplexElement {
        name: QName::new("urn:t", "T"),
        compositor,
        fields: fields.into(),
        attributes: vec![Attribute { name: QName::new("", "a"), element: int, required: false, default: None }].into(),
        text,
        open: false,
        any_attribute: true,
        choices: Default::default(),
    };
    let text = types.0.add(Element::Complex(plain(Compositor::Sequence, Vec::new(), Some(int))));
    let pair = vec![field("x", int, 1, Some(1)), field("y", int, 0, Some(1))];
    let pair = types.0.add(Element::Complex(plain(Compositor::Sequence, pair, None)));
    let all = vec![field("x", int, 0, Some(1)), field("y", int, 0, Some(1))];
    let all = types.0.add(Element::Complex(plain(Compositor::All, all, None)));
    let fields = vec![field("t", text, 0, None), field("p", pair, 0, None), field("all", all, 0, Some(1))];
    let root = types.0.add(Element::Complex(plain(Compositor::Sequence, fields, None)));
    let texts: String = (0..9).map(|i| format!("<t a='{i}' b='{i}'>{i}</t>")).collect();
    let pairs: String = (0..9).map(|i| format!("<p c='{i}'><x>{i}</x></p>")).collect();
    let message = |own: &str| format!("<r{own}>{texts}{pairs}<all d='1'><y>1</y><x>2</x></all></r>");
    let first = message("");
    let documents = [
        first.clone(),
        first.clone(),
        first.replace(" b='4'", " b='5'"),
        first.replace(" b='4'", ""),
        first.replace(" c='2'", " c='2' e='3' f='4'"),
        first.replace(" d='1'", ""),
        message(" b='1' c='2'"),
        message(" b='1' c='2'"),
        message(" c='2' b='1'"),
        message(" b='1'").replace("<x>4</x>", "<x>5</x>"),
        message(" a='7'"),
        message(" b='1'").replace("<x>8</x>", "<x>no</x>"),
        first,
    ];
    let stats = read::<Value>(types.0.view(root), &documents, Limits::default());
    assert!(stats.compared > 4 && stats.fast_bytes > 0, "{stats:?}");
}

/// Attributes of nil elements that appear, change and disappear between messages.
#[test]
fn attributes_of_nil_elements_come_and_go() {
    let mut types = Types::default();
    let int = types.simple(Builtin::Int);
    let pair = ComplexElement {
        name: QName::new("urn:t", "T"),
        compositor: Compositor::Sequence,
        fields: vec![field("x", int, 1, Some(1))].into(),
        attributes: vec![Attribute { name: QName::new("", "a"), element: int, required: false, default: None }].into(),
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    };
    let pair = types.0.add(Element::Complex(pair));
    let any = types.0.add(Element::Any);
    let fields = ["p", "q"].into_iter().zip([pair, any]);
    let fields = fields.map(|(name, element)| Field { nillable: true, ..field(name, element, 0, None) }).collect();
    let root = types.sequence(fields);
    let nil = "i:nil='true' a=";
    let message = |p: &str, q: &str| {
        let row = |name: &str, content: &str| -> String {
            (0..8).map(|i| if i == 4 { content.to_owned() } else { format!("<{name}><x>{i}</x></{name}>") }).collect()
        };
        format!("<r xmlns:i='http://www.w3.org/2001/XMLSchema-instance'>{}{}</r>", row("p", p), row("q", q))
    };
    let documents = [
        message(&format!("<p {nil}'1'/>"), &format!("<q {nil}'1'/>")),
        message(&format!("<p {nil}'1'/>"), &format!("<q {nil}'1'/>")),
        message(&format!("<p {nil}'2'/>"), &format!("<q {nil}'1'/>")),
        message(&format!("<p {nil}'2'/>"), &format!("<q {nil}'2'/>")),
        message(&format!("<p {nil}'2'></p>"), &format!("<q {nil}'2'></q>")),
        message(&format!("<p {nil}'2'></p>"), &format!("<q {nil}'2'>text</q>")),
        message(&format!("<p {nil}'2'></p>"), &format!("<q {nil}'2'></q>")),
        message("<p a='2'><x>1</x></p>", "<q a='2'>text</q>"),
        message("<p i:nil='true'/>", "<q i:nil='true'/>"),
        message(&format!("<p {nil}'1'/>"), &format!("<q {nil}'1'/>")),
    ];
    let stats = read::<Value>(types.0.view(root), &documents, Limits::default());
    assert!(stats.compared > 2, "{stats:?}");
}

/// An element in place of a list's first item is identified by the field before the list.
#[test]
fn another_element_in_place_of_a_list() {
    let mut types = Types::default();
    let int = types.simple(Builtin::Int);
    let row = types.sequence(vec![field("n", int, 1, Some(1)), field("i", int, 0, None)]);
    let root = types.sequence(vec![field("row", row, 0, None)]);
    let message =
        |rows: &[&str]| format!("<r>{}</r>", rows.iter().map(|it| format!("<row>{it}</row>")).collect::<String>());
    let row = "<n>1</n><i>1</i><i>2</i>";
    let documents = [
        message(&[row; 6]),
        message(&[row, row, row, row, row, "<n>1</n><n>1</n>"]),
        message(&[row; 6]),
        message(&[row, row, row, row, row, "<n>1</n><x/>"]),
    ];
    read::<Value>(types.0.view(root), &documents, Limits::default());
}

/// Numbers are read into columns. A nil item, which the schema does not allow but the decoder
/// accepts, turns the column into a list; the next message may create a column again.
#[test]
fn columns_become_lists_where_an_item_is_nil() {
    let nil = "<n xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='true'/>";
    let numbers = |values: std::ops::Range<i32>| values.map(|n| format!("<n>{n}</n>")).collect::<String>();
    let (few, many) = (numbers(0..6), numbers(100..160));
    let bodies = [
        format!("{many}<m>1</m>"),
        format!("{many}<m>1</m>"),
        format!("{many}{nil}<m>1</m>"),
        format!("{many}{nil}<m>2</m>"),
        format!("{few}{nil}{many}<m>2</m>"),
        format!("{few}{nil}{}<m>2</m>", many.replace("131", "13")),
        format!("{few}<n>7</n>{many}<m>2</m>"),
        format!("{few}<n>7</n>{many}<m>2</m>"),
        format!("{few}<n> 7 </n>{nil}{nil}<m>2</m>"),
        format!("<m>{}</m>", 3),
        format!("{few}<n>7</n><n>x</n><m>3</m>"),
        format!("{few}<n>7</n>{nil}<m>3</m>"),
        format!("{nil}<m>3</m>"),
        format!("{few}<m>3</m>"),
        format!("{few}<m>3</m>"),
    ];
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    for base in [Builtin::Int, Builtin::Double, Builtin::UnsignedByte, Builtin::Boolean] {
        let mut types = Types::default();
        let simple = types.simple(base);
        let root = types.sequence(vec![field("n", simple, 0, None), field("m", simple, 0, Some(1))]);
        let view = types.0.view(root);
        read::<Value>(view, &documents(&bodies), Limits::default());
        read::<Value>(view, &documents(&bodies[..2]), Limits::default());
        let small: Vec<&str> = bodies.iter().filter(|body| body.len() < 150).copied().collect();
        read::<Value>(view, &documents(&small), Limits::default());
    }
    let mut types = Types::default();
    let int = types.simple(Builtin::Int);
    let root = types.sequence(vec![field("n", int, 0, None), field("m", int, 0, Some(1))]);
    let view = types.0.view(root);
    let fields = |body: &str| {
        let document = documents(&[body]).remove(0);
        let value = decode::value_from_slice(document.as_bytes(), &QName::new("", "r"), view).expect("valid");
        let Value::Record(record) = value else { panic!("no record") };
        record.fields
    };
    assert!(matches!(&fields(bodies[0])[0], Value::Column(Column::Int(numbers)) if numbers.len() == 60));
    assert!(matches!(&fields(bodies[2])[0], Value::List(items) if items.len() == 61 && items[60] == Value::Nil));
    assert!(matches!(&fields(bodies[9])[0], Value::Column(none) if none.is_empty()));
}

//! Small messages of dynamic values: mended if they differ only in texts, always with the same
//! result as a separate decoder.

use crate::dynamic::Stream;
use deltasoap_checkpoints::{Portions, State};
use deltasoap_core::decode::Decoder;
use deltasoap_core::schema::{
    ArrayElement, Attribute, Builtin, ComplexElement, Compositor, Element, ElementRef, Field, Schema, SimpleElement,
};
use deltasoap_core::{Checkpoints, DecodeOptions, Differential, Limits, QName};
use proptest::prelude::*;
use std::borrow::Cow;

/// Every policy.
fn policies(size: u32) -> [Checkpoints; 5] {
    let [full, partial, light] = State::ALL.map(|state| Portions { state, size, ..Portions::default() }.into());
    [full, partial, light, Checkpoints::Leaf, Checkpoints::Off]
}

fn simple(schema: &mut Schema, base: Builtin, values: &[&'static str]) -> ElementRef {
    let enumeration = values.iter().map(|value| Cow::Borrowed(*value)).collect();
    schema.add(Element::Simple(SimpleElement { name: base.name(), base, enumeration, default: None, packed: None }))
}

fn field(name: &'static str, element: ElementRef, min: u32, max: Option<u32>, inline: bool) -> Field {
    Field { name: QName::new("", name), element, min, max, nillable: true, inline }
}

fn complex(compositor: Compositor, fields: Vec<Field>, attributes: Vec<Attribute>) -> Element {
    let name = QName::new("urn:t", "T");
    let (fields, attributes) = (fields.into(), attributes.into());
    Element::Complex(ComplexElement {
        name,
        compositor,
        fields,
        attributes,
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    })
}

/// `n` any number of times, `s`, `b`, `e`, `d` with a default, `a` of ints, `p` in any order, one
/// of `x` and `y`, names in `q`, and any element.
fn schema() -> (Schema, ElementRef) {
    let mut schema = Schema::new();
    let int = simple(&mut schema, Builtin::Int, &[]);
    let string = simple(&mut schema, Builtin::String, &[]);
    let bytes = simple(&mut schema, Builtin::Base64Binary, &[]);
    let state = simple(&mut schema, Builtin::String, &["on", "off"]);
    let qualified = simple(&mut schema, Builtin::QName, &[]);
    let default = schema.view(string).element.clone().with_default("nothing");
    let default = schema.add(default);
    let any = schema.add(Element::Any);
    let (name, item_name) = (QName::new("urn:t", "A"), QName::new("", "i"));
    let item_type = Builtin::AnyUri.name();
    let array = ArrayElement { name, item_name, item: any, item_type, nillable: false, dimensions: 1 };
    let array = schema.add(Element::Array(array));
    let once = |name, element| field(name, element, 0, Some(1), false);
    let attribute = Attribute { name: QName::new("", "k"), element: int, required: false, default: None };
    let unordered = complex(Compositor::All, vec![once("u", int), once("v", any)], vec![attribute]);
    let unordered = schema.add(unordered);
    let choice = schema.add(complex(Compositor::Choice, vec![once("x", string), once("y", any)], Vec::new()));
    let fields = vec![
        field("n", int, 0, None, false),
        once("s", string),
        once("b", bytes),
        once("e", state),
        once("a", array),
        once("p", unordered),
        field("one", choice, 0, Some(1), true),
        field("q", qualified, 0, None, false),
        once("d", default),
        field("t", any, 0, None, false),
        field("rest", any, 0, None, true),
    ];
    let body = schema.add(complex(Compositor::Sequence, fields, Vec::new()));
    (schema, body)
}

fn envelope(attributes: &str, content: &str) -> String {
    let soap = "http://schemas.xmlsoap.org/soap/envelope/";
    format!("<e:Envelope xmlns:e=\"{soap}\"{attributes}>\n<e:Body><r>{content}</r></e:Body></e:Envelope>")
}

/// Returns how many of these messages were mended, not counting the first two.
fn mended(contents: &[&str]) -> u64 {
    let (schema, body) = schema();
    let mut stream = Stream::new(schema.view(body), Differential::default());
    let messages: Vec<String> = contents.iter().map(|content| envelope("", content)).collect();
    let first = std::iter::repeat_n(&messages[0], 2);
    first.chain(&messages[1..]).for_each(|message| {
        stream.next(message, usize::MAX);
    });
    stream.stats().compared
}

#[test]
fn texts_and_attributes_of_trees() {
    let contents = [
        "<t a='1' b=\"x&amp;y\"> <c>some</c> text<d/><c e='\"'>more</c> </t><t>5</t>",
        "<t a='2' b=\"x&amp;y\"> <c>other</c> text<d/><c e='\"'>more</c> </t><t>5</t>",
        "<t a='2' b=\"\">\n<c>other</c> words<d/><c e='\"'>more</c></t><t>5</t>",
        "<t a='222' b=\"\">\n<c>other</c> words<d/><c e='>'>less</c></t><t>55</t>",
        "<t a='222' b=\"\">\n<c>other</c> words<d/><c e='>'>less</c></t><t>55</t>",
        "<t a='222' b=\"\"><c>other</c> words<d/>7<c e='>'></c></t><t></t>",
        "<t a='222' b=\"\"><c></c><d/><c e='>'>8</c></t><t></t>",
    ];
    assert_eq!(mended(&contents), 6);
}

#[test]
fn simple_elements() {
    let contents = [
        "<n>2</n><s>text</s><a><i>1</i><i k='v'>x</i></a>",
        "<n>-2147483648</n><s>text</s><a><i>1</i><i k='w'>xyz</i></a>",
        "<n> 7 </n><s>t\u{e9}xt</s><a><i>1</i><i k='w'>xyz</i></a>",
        "<n>7</n><s>t\u{e9}xt</s><a><i>1</i><i k='w'>xyz</i></a>",
    ];
    // The routines read white space around numbers.
    assert_eq!(mended(&contents), 2);
}

#[test]
fn fields_in_any_order() {
    let contents = [
        "<p k='1'><v a='1'/><u>1</u></p>",
        "<p k='1'><v a='1'/><u>20</u></p>",
        "<p k='1'><v a='22'/><u>2</u></p>",
        "<p k='1'><u>2</u><v a='22'/></p>",
    ];
    assert_eq!(mended(&contents), 2);
}

#[test]
fn an_empty_text_stands_for_the_default() {
    let contents = ["<d>x</d>", "<d>y</d>", "<d></d>", "<d>z</d>", "<d></d>", "<d/>", "<d>nothing</d>"];
    // Texts that become empty are read by the routines.
    assert_eq!(mended(&contents), 2);
}

#[test]
fn what_is_not_mended() {
    let contents = [
        ("<t a='1'/>", "<t a='&#x31;'/>"),
        ("<t a='1'/>", "<t a='1\t'/>"),
        ("<t a='1'/>", "<t a='1'></t>"),
        ("<t>1</t>", "<t>1&amp;</t>"),
        ("<t>1<!-- --></t>", "<t>2<!-- --></t>"),
        ("<t><!-- -->1</t>", "<t><!-- -->2</t>"),
        ("<t>1<![CDATA[<]]></t>", "<t>2<![CDATA[<]]></t>"),
        ("<t>1</t>", "<t>1]]></t>"),
        ("<t xmlns:p='u'>1</t>", "<t xmlns:p='v'>1</t>"),
        ("<t><c>1</c></t>", "<t><d>1</d></t>"),
        ("<n>1</n>", "<n>x</n>"),
        (
            "<s xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='0'/>",
            "<s xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='1'/>",
        ),
        ("<e>on</e>", "<e>off</e>"),
        ("<e>on</e>", "<e>of</e>"),
        ("<b>QUJD</b>", "<b>QUJE</b>"),
        ("<p k='1'><u>1</u><v>2</v></p>", "<p k='1'><v>2</v><u>1</u></p>"),
        ("<p k='1'><u>1</u></p>", "<p k='2'><u>1</u></p>"),
        ("<x>1</x>", "<x>2</x>"),
        ("<q>a</q>", "<q>b</q>"),
        ("<q xmlns:p='u'>p:a</q>", "<q xmlns:p='v'>p:a</q>"),
    ];
    for (one, other) in contents {
        assert_eq!(mended(&[one, other]), 0, "{other}");
        // The message that was read is then the one to compare with.
        assert!(mended(&[one, other, one, one]) >= 1, "{other}");
    }
}

/// Each element within the branch `c` corresponds to a field of the same number and type in the
/// surrounding element.
#[test]
fn within_choices() {
    let mut schema = Schema::new();
    let int = simple(&mut schema, Builtin::Int, &[]);
    let once = |name, element| field(name, element, 0, Some(1), false);
    let inner = schema.add(complex(Compositor::Sequence, vec![once("p", int), once("q", int)], Vec::new()));
    let outer = complex(Compositor::Sequence, vec![once("a", inner), once("b", int)], Vec::new());
    let outer = schema.add(outer);
    let choice = schema.add(complex(Compositor::Choice, vec![once("c", outer), once("d", int)], Vec::new()));
    let fields = vec![field("one", choice, 0, Some(1), true), once("e", int)];
    let body = schema.add(complex(Compositor::Sequence, fields, Vec::new()));
    let mut stream = Stream::new(schema.view(body), Differential::default());
    for (p, q, b, e) in
        [(1, 2, 3, 4), (1, 2, 3, 4), (1, 5, 3, 4), (6, 5, 3, 4), (6, 5, 7, 4), (6, 5, 7, 8), (6, 5, 7, 9)]
    {
        let content = format!("<c><a><p>{p}</p><q>{q}</q></a><b>{b}</b></c><e>{e}</e>");
        assert!(stream.next(&envelope("", &content), usize::MAX).is_some());
    }
    assert!(stream.stats().mended > 0, "beside the choice");
}

#[test]
fn messages_in_soap_encoding_follow_references() {
    let (schema, body) = schema();
    let content = "<t><c id='x'>1</c><d href='#x'/></t>";
    let encoded = " e:encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'";
    for checkpoints in policies(512) {
        let options = Differential { checkpoints, adaptive: false };
        let mut stream = Stream::new(schema.view(body), options);
        for attributes in ["", "", encoded, "", encoded, encoded] {
            stream.next(&envelope(attributes, content), usize::MAX);
        }
    }
}

/// In the second message the tree refers to an element outside the operation, whose bytes are those
/// of the first message.
#[test]
fn references_out_of_the_operation_are_followed_in_soap_encoding_alone() {
    let (schema, body) = schema();
    let content = "<t><d href='#x'/></t>";
    let encoded = " e:encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'";
    let message = |attributes| envelope(attributes, content).replace("</r>", "</r><m id='x'>5</m>");
    for checkpoints in policies(512) {
        let options = Differential { checkpoints, adaptive: false };
        let mut stream = Stream::new(schema.view(body), options);
        let values = ["", "", encoded, "", encoded].map(|attributes| stream.next(&message(attributes), usize::MAX));
        assert!(values[0] == values[1] && values[1] != values[2] && values[2] == values[4], "{checkpoints:?}");
    }
}

/// Decoders of all policies take turns with one memory: state kept by one is useless once another
/// has read a message.
#[test]
fn decoders_with_other_options_can_take_turns() {
    let (schema, body) = schema();
    let decoder = |checkpoints| {
        let differential = Differential { checkpoints, adaptive: false };
        Decoder::new(DecodeOptions { differential, ..DecodeOptions::default() })
    };
    let [one, two] = ["<n>1</n><n>2</n><s>one</s>", "<n>3</n><s>two</s>"].map(|content| envelope("", content));
    for (first, second) in policies(512).into_iter().flat_map(|first| policies(512).map(|second| (first, second))) {
        let mut stream = Stream::new(schema.view(body), Differential::OFF);
        stream.change_decoder(decoder(first));
        let mut other = decoder(second);
        for (turns, message) in [(0, &one), (0, &one), (1, &two), (1, &one), (1, &two), (0, &two), (1, &one), (1, &two)]
        {
            if turns == 1 {
                other = stream.change_decoder(other);
            }
            stream.next(message, usize::MAX);
        }
    }
}

/// A text whose first part is taken from the previous message is counted from its start.
#[test]
fn texts_in_which_reading_goes_on_meet_their_limit() {
    let (schema, body) = schema();
    let message = envelope("", " <s>b<!---->daa19111113</s>");
    let begun = &message[..message.find("---->").unwrap()];
    for checkpoints in [1, 2, 3, 4].into_iter().flat_map(policies) {
        let differential = Differential { checkpoints, adaptive: false };
        let limits = Limits { text: 11, ..Limits::default() };
        let mut stream = Stream::new(schema.view(body), Differential::OFF);
        stream.change_decoder(Decoder::new(DecodeOptions { limits, differential, ..DecodeOptions::default() }));
        for message in [begun, &message, &message] {
            assert!(stream.read(message, usize::MAX).is_err(), "{checkpoints:?}");
        }
    }
}

/// Content that one decoder has accepted is rejected by the next one if its limits are lower,
/// whatever is kept of the message.
#[test]
fn decoders_with_other_limits_can_take_turns() {
    let (schema, body) = schema();
    let message = envelope("", "<n>1</n><n>2</n><t><c>some text</c></t><s>a longer text</s>");
    for checkpoints in policies(512) {
        let differential = Differential { checkpoints, adaptive: false };
        let tight = Limits { text: 8, ..Limits::default() };
        let mut stream = Stream::new(schema.view(body), differential);
        let mut other = Decoder::new(DecodeOptions { limits: tight, differential, ..DecodeOptions::default() });
        let mut results = Vec::new();
        for _ in 0..8 {
            results.push(stream.read(&message, usize::MAX).is_ok());
            other = stream.change_decoder(other);
        }
        assert_eq!(results, [true, false].repeat(4), "{checkpoints:?}");
    }
}

/// The same bytes, in which a prefix has a different meaning.
#[test]
fn names_are_those_of_their_own_message() {
    let (schema, body) = schema();
    let mut stream = Stream::new(schema.view(body), Differential { adaptive: false, ..Differential::default() });
    for namespace in ["u", "u", "v", "v", "w", "u"] {
        let declaration = format!(" xmlns:p=\"{namespace}\"");
        stream.next(&envelope(&declaration, "<n>1</n><q>p:a</q><q>b</q>"), usize::MAX);
    }
}

#[test]
fn a_bad_end_leaves_nothing_behind() {
    let (schema, body) = schema();
    let mut stream = Stream::new(schema.view(body), Differential::default());
    let message = |text: &str| envelope("", &format!("<t>{text}</t>"));
    for text in ["1", "2", "3"] {
        stream.next(&message(text), usize::MAX);
    }
    for bad in [message("4").replace("</r>", "</q>"), message("4").replace("</e:Body>", "</e:Bod>"), message("4") + "x"]
    {
        stream.next(&bad, usize::MAX);
        stream.next(&message("5"), usize::MAX);
    }
}

/// Content of few kinds, so that messages often resemble the previous one.
fn content() -> impl Strategy<Value = String> {
    let texts =
        ["", "1", "12", "x", " ", "a&amp;b", "<![CDATA[<]]>", "1<!-- -->", "\u{e9}", "]]", "<c d='1'>2</c>", "\r"];
    let text = || prop::sample::select(texts.to_vec());
    let shape = prop::sample::select(vec![
        "<n>#</n>",
        "<n>1</n><n>#</n><s>#</s>",
        "<t a='#'>#</t>",
        "<t>#<b c='#'>#</b>#</t>",
        "<s>#</s><e>on</e><t x='#'/>",
        "<a><i>#</i><i z='#'/></a>",
        "<p k='#'><v>#</v></p>",
        "<y q='#'>#</y>",
        "<o>#</o><o>#<o>#</o></o>",
    ]);
    (shape, prop::collection::vec(text(), 5)).prop_map(|(shape, texts)| {
        let mut texts = texts.iter().cycle();
        shape.split('#').fold(String::new(), |all, part| {
            let text = if all.is_empty() { "" } else { texts.next().copied().unwrap_or_default() };
            all + text + part
        })
    })
}

proptest! {
    /// Any messages, in any chunks.
    #[test]
    fn the_result_is_that_of_a_decoder_alone(
        contents in prop::collection::vec((content(), 0_usize..4), 2..12),
        openings in prop::collection::vec(prop::sample::select(vec!["", "", "", " xmlns:f='u'"]), 12),
        chunk in prop::sample::select(vec![usize::MAX, usize::MAX, 200, 7]),
        adaptive in any::<bool>(),
    ) {
        let (schema, body) = schema();
        let mut stream = Stream::new(schema.view(body), Differential { adaptive, ..Differential::default() });
        for ((content, again), opening) in contents.iter().zip(openings) {
            let digits = ["1", "7", "23"];
            stream.next(&envelope(opening, content), chunk);
            for other in digits.iter().take(*again) {
                stream.next(&envelope(opening, &content.replace('1', other)), chunk);
            }
        }
    }
}

/// Recorded vSphere responses.
#[test]
fn recorded_responses() {
    let mut schema = Schema::new();
    let any = schema.add(Element::Any);
    let name = QName::new("urn:vim25", "returnval");
    let value = Field { name, ..field("returnval", any, 0, Some(1), false) };
    let body = schema.add(complex(Compositor::Sequence, vec![value], Vec::new()));
    let mut stream = Stream::new(schema.view(body), Differential::default());
    stream.set_clock(|bytes, was_compared| std::time::Duration::from_nanos(bytes * if was_compared { 1 } else { 10 }));
    let mut small = 0;
    let mut lap = |stream: &mut Stream<'_>| {
        for (_, response) in deltasoap_streams::vsphere::fetch_pairs() {
            let response = std::str::from_utf8(response).expect("UTF-8");
            stream.next(response, usize::MAX);
            small += u64::from(response.len() < 4096);
        }
        stream.stats()
    };
    let first = lap(&mut stream);
    assert!(first.compared > 120, "{first:?}");
    // The client repeats its requests.
    let both = lap(&mut stream);
    assert!(small > 400 && both.compared > 400, "{small} {both:?}");
}

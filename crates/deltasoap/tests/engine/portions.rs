//! Streams of typed messages, with every policy and matcher of the papers: each message is read as
//! if it came alone.

use deltasoap::engine::decode::Decoder;
use deltasoap::engine::{DecodeOptions, Differential, Memory};
use deltasoap::lexical::Base64;
use deltasoap::schema::QName;
use deltasoap::soap::{EnvelopeReader, RequestReceiver, decode_request};
use deltasoap::types::{AnySimple, Empty, Node};
use deltasoap::{Error, Nillable, Soap, SoapArray};
use deltasoap_checkpoints::{Bases, Matcher, Portions, State};

#[derive(Debug, Clone, PartialEq, Soap)]
struct Point {
    #[soap(attribute)]
    id: Option<u32>,
    x: f64,
    y: Option<f64>,
    #[soap(default = 7)]
    z: i32,
}

#[derive(Debug, Clone, PartialEq, Soap)]
struct Flat {
    a: i32,
    b: String,
}

#[derive(Debug, Clone, PartialEq, Soap)]
struct Price {
    #[soap(attribute)]
    currency: Option<String>,
    #[soap(text)]
    amount: f64,
}

#[derive(Debug, Clone, PartialEq, Soap)]
enum Shape {
    Circle(f64),
    Polygon(Point),
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(all)]
struct AnyOrder {
    one: Option<i32>,
    two: Flat,
    many: Vec<i32>,
}

/// A struct as in SOAP encoding: no field is a list.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(all)]
struct Encoded {
    first: String,
    second: Flat,
    third: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
struct Inner {
    points: Vec<Point>,
    flats: SoapArray<Flat>,
    note: Option<Nillable<String>>,
    price: Price,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(message)]
struct Request {
    #[soap(attribute)]
    version: Option<String>,
    number: u64,
    inner: Inner,
    #[soap(inline)]
    shapes: Vec<Shape>,
    order: Option<AnyOrder>,
    name: Option<QName>,
    any: Option<AnySimple>,
    tree: Option<Node>,
    empty: Option<Empty>,
    data: Option<Base64>,
    encoded: Vec<Encoded>,
    last: Vec<Inner>,
}

const POINTS: &str = "<points id='1'><x>1.5</x><y>2.5</y></points><points><x>3.5</x><z>9</z></points>\
    <points id='3'><x>4.5</x><y>1e3</y><z>1</z></points>";
const FLATS: &str = "<flats><item><a>1</a><b>one</b></item><item><a>2</a><b>two</b></item><item><a>3</a><b>three</b></item>\
    <item><a>4</a><b>four</b></item></flats>";

const ENCODED: &str = "<encoded><first>some text</first><second><a>6</a><b>six</b></second><third>1.25</third></encoded>\
    <encoded><third>1.75</third><first>other text</first><second><a>7</a><b>seven</b></second></encoded>";

fn inner(name: &str) -> String {
    format!("<{name}>{POINTS}{FLATS}<note>a note</note><price currency='EUR'>9.99</price></{name}>")
}

fn message() -> String {
    format!(
        "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/' \
         xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xmlns:xsd='http://www.w3.org/2001/XMLSchema'>\
         <e:Header><h xmlns='urn:h'>1</h></e:Header><e:Body><Request version='1'><number>17</number>{}<Circle>1.5</Circle>\
         <Polygon><x>0</x></Polygon><Nothing/><order><two><a>5</a><b>five</b></two><many>1</many><one>1</one><many>2</many>\
         </order><name xmlns:q='urn:q'>q:local</name><any xsi:type='xsd:int'>5</any><tree><a b='c'>text<d/></a></tree>\
         <empty/><data>QUJDREVG</data>{ENCODED}{}{}</Request></e:Body></e:Envelope>",
        inner("inner"),
        inner("last"),
        inner("last"),
    )
}

/// Changes from message to message: the replaced text, and its replacement.
const CHANGES: [(&str, &str); 36] = [
    ("", ""),
    (">17<", ">18<"),
    (" version='1'", ""),
    ("<number>", "<number >"),
    (" id='1'", ""),
    ("<z>9</z>", ""),
    ("<y>2.5</y>", ""),
    ("4.5", "4.75"),
    ("<item><a>2</a><b>two</b></item>", ""),
    ("<item><a>2</a>", "<item><a>22</a><b>new</b></item><item><a>2</a>"),
    (">three<", ">th&#114;ee<"),
    (">three<", ">thr<![CDATA[e]]>e<"),
    ("<note>a note</note>", "<note xsi:nil='true'/>"),
    ("<note>a note</note>", ""),
    (" currency='EUR'", ""),
    ("9.99", "10"),
    ("<Circle>1.5</Circle>", "<Nothing/>"),
    ("<Polygon><x>0</x></Polygon>", ""),
    ("<many>1</many>", "<many>1</many><many>11</many>"),
    ("<one>1</one>", ""),
    ("urn:q", "urn:other"),
    ("xsd:int", "xsd:string"),
    ("text<d/>", "more text<d>in it</d>"),
    ("<empty/>", ""),
    ("QUJDREVG", "QUJD"),
    (">some text<", ">another text<"),
    ("<third>1.25</third>", ""),
    ("<third>1.75</third><first>other text</first>", "<first>other text</first><third>1.75</third>"),
    (">other text<", ">the text<"),
    ("<b>seven</b>", ""),
    ("<third>1.75</third>", "<third>1.75</third><third>2</third>"),
    ("4.5", "no number"),
    ("</Request>", "<more/></Request>"),
    ("urn:h", "urn:another"),
    ("<Request version", "<Request xmlns:extra='urn:e' version"),
    ("<item><a>3", "<!-- a comment --> <item><a>3"),
];

fn all() -> impl Iterator<Item = Differential> {
    let pairs = State::ALL.into_iter().flat_map(|state| Matcher::ALL.map(|matcher| (state, matcher)));
    pairs.flat_map(|(state, matcher)| {
        let bases =
            if state == State::Lightweight { &[Bases::Interrupts, Bases::First][..] } else { &[Bases::Interrupts] };
        bases.iter().flat_map(move |&bases| {
            [4, 32, 150].map(|size| {
                let portions =
                    Portions { state, matcher, size, probe: size == 32, bases, audit: true, ..Portions::default() };
                Differential { checkpoints: portions.into(), adaptive: false }
            })
        })
    })
}

/// Reads the next message of a stream in chunks.
fn next(
    decoder: &mut Decoder,
    memory: Box<Memory<Request>>,
    message: &[u8],
    chunk: usize,
) -> (Box<Memory<Request>>, Result<(), Error>) {
    let mut reader = EnvelopeReader::new(RequestReceiver::new(memory));
    decoder.reset();
    let chunks = message.chunks(chunk).try_for_each(|chunk| decoder.push(&mut reader, chunk));
    let result = chunks.and_then(|()| decoder.finish(&mut reader));
    (reader.into_parts().1.into_memory(), result)
}

fn check(options: Differential, chunk: usize, changed: impl Fn(usize) -> String) {
    let mut decoder = Decoder::new(DecodeOptions { differential: options, ..DecodeOptions::default() });
    let mut memory = Box::<Memory<Request>>::default();
    for index in 0..2 * CHANGES.len() {
        let message = changed(index);
        let alone = decode_request::<Request>(message.as_bytes()).map(|(_, request)| request);
        let result;
        (memory, result) = next(&mut decoder, memory, message.as_bytes(), chunk);
        let within = result.map(|()| memory.value().clone());
        assert!(within == alone, "{options:?} {chunk} message {index}: {message}\n{within:?}\n{alone:?}");
    }
    assert!(memory.stats().fast_bytes > 0, "{options:?}");
}

#[test]
fn the_message_is_good() {
    assert_eq!(decode_request::<Request>(message().as_bytes()).map(|(_, request)| request.number), Ok(17));
}

#[test]
fn each_message_has_a_change_of_its_own() {
    for options in all() {
        for chunk in [usize::MAX, 50] {
            let which = |index: usize| CHANGES[index % CHANGES.len()];
            check(options, chunk, |index| message().replace(which(index).0, which(index).1));
        }
    }
}

#[test]
fn changes_come_first_in_one_place_then_in_another() {
    for options in all() {
        check(options, usize::MAX, |index| {
            let (from, to) = CHANGES[index * 7 % CHANGES.len()];
            let message = message();
            let half = message.len() / 2 + 100;
            let (head, tail) = message.split_at(half);
            if index % 2 == 0 {
                head.replacen(from, to, 1) + tail
            } else {
                head.to_owned() + &tail.replacen(from, to, 1)
            }
        });
    }
}

/// A change, and the text before which fast mode resumes. The paper has four switching points
/// (*Differential Deserialization*, section 3.3.1): just before a start tag, just before an end
/// tag, just after a tag, and just before character data.
const RESUMED: [(&str, &str, &str); 11] = [
    // Just after a start tag is just before the next one, or before character data; just after an
    // end tag, before the next tag.
    ("<inner>", "<inner\t>", "<points id='1'>"),
    ("<number>17", "<number >17", "17</number>"),
    ("</x><y>2.5", "</x ><y>2.5", "<y>2.5"),
    ("</note>", "</note >", "<price"),
    ("</price></inner>", "</price ></inner>", "</inner>"),
    ("</flats>", "</flats >", "<note>"),
    // There is none between text and its end tag: they are read in one step.
    (">17<", ">18<", "<inner>"),
    ("9.99<", "9.98<", "</inner>"),
    // Nor before the first text of an element with attributes.
    ("currency='EUR'>9.99", "currency='EUR' >9.99", "</inner>"),
    // Routines stop before white space and comments, and read these with the tag that follows.
    ("</number><inner>", "</number> \n<inner>", "<points id='1'>"),
    ("<flats><item>", "<flats><!-- a comment --><item>", "<a>1"),
];

#[test]
fn fast_mode_resumes_after_tags_and_before_texts() {
    for (from, to, resumed) in RESUMED {
        read_again(from, to, "", resumed);
    }
}

/// No checkpoint lies in an element whose fields come in any order if one of them is a list: its
/// progress is in no frame. The last one before it is within its start tag, which ends at the next
/// byte.
#[test]
fn fast_mode_resumes_after_an_element_whose_list_comes_back() {
    read_again("<two><a>", "<two ><a>", "><two", "<name");
}

/// With a checkpoint at every byte, a message in which `from` is replaced is read again from the
/// first byte that differs, after the `before` that contains it, up to `resumed`.
fn read_again(from: &str, to: &str, before: &str, resumed: &str) {
    for state in [State::Full, State::Differential] {
        let portions = Portions { state, size: 1, ..Portions::default() };
        let differential = Differential { checkpoints: portions.into(), adaptive: false };
        let mut decoder = Decoder::new(DecodeOptions { differential, ..DecodeOptions::default() });
        let (old, new) = (message(), message().replacen(from, to, 1));
        let (memory, first) = next(&mut decoder, Box::default(), old.as_bytes(), usize::MAX);
        let stats = memory.stats();
        let (memory, second) = next(&mut decoder, memory, new.as_bytes(), usize::MAX);
        let stats = memory.stats() - stats;
        let equal = old.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
        let read = new[equal..].find(resumed).map(|bytes| (before.len() + bytes) as u64);
        assert_eq!((first, second), (Ok(()), Ok(())), "{from}");
        assert!(new[..equal].ends_with(before), "{from}");
        assert_eq!((Some(stats.regular_bytes), stats.to_fast), (read, 1), "{state:?}: {from} to {to}");
    }
}

//! The content around an operation affects how it is read: prefixes that are declared elsewhere,
//! declarations that count against limits, trees that share what they take over. A message is
//! compared with another one only if all of this is equal.

use crate::support::decode_next;
use deltasoap::engine::decode::{Cursor, DecodeOptions, Decoder, Step};
use deltasoap::engine::{Checkpoints, Differential, ErrorKind, Limits, Memory, Typed};
use deltasoap::schema::QName;
use deltasoap::soap::{EnvelopeReader, Head, Receiver};
use deltasoap::types::{Node, Shared};
use deltasoap::{Message, Soap};
use std::fmt::Debug;

const LEAF: Differential = Differential { checkpoints: Checkpoints::Leaf, adaptive: false };
const SOAP: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const ENCODING: &str = "http://schemas.xmlsoap.org/soap/encoding/";

#[derive(Debug, Clone, PartialEq, Default, Soap)]
#[soap(message, element = "put", namespace = "urn:g")]
struct Put {
    first: Option<String>,
    tree: Option<Node>,
    more: Vec<Node>,
    name: Option<QName>,
    shared: Option<Shared<String>>,
}

/// The same type without fields that are never compared.
#[derive(Debug, Clone, PartialEq, Default, Soap)]
#[soap(message, element = "put", namespace = "urn:g")]
struct Plain {
    first: Option<String>,
    tree: Option<Node>,
    more: Vec<Node>,
    name: Option<QName>,
}

/// The parts of a message in SOAP encoding: attributes of envelope and body, header, content, what
/// follows the operation, what follows the body.
#[derive(Default, Clone, Copy)]
struct Parts<'p> {
    on_envelope: &'p str,
    on_body: &'p str,
    header: &'p str,
    content: &'p str,
    others: &'p str,
    trailer: &'p str,
}

impl Parts<'_> {
    fn message(self) -> String {
        let Parts { on_envelope, on_body, header, content, others, trailer } = self;
        format!(
            "<s:Envelope xmlns:s='{SOAP}' s:encodingStyle='{ENCODING}' {on_envelope}>{header}<s:Body {on_body}>\
             <g:put xmlns:g='urn:g'>{content}</g:put>{others}</s:Body>{trailer}</s:Envelope>"
        )
    }
}

/// Reads messages in sequence, and asserts that each gives the result of a new decoder.
#[track_caller]
fn read<T: Message + PartialEq + Debug>(messages: &[&str], limits: Limits) {
    let mut decoder = Decoder::new(DecodeOptions { differential: LEAF, limits, ..DecodeOptions::default() });
    let mut memory = Memory::<T>::default();
    for message in messages {
        let mut alone =
            Decoder::new(DecodeOptions { differential: Differential::OFF, limits, ..DecodeOptions::default() });
        let alone = decode_next::<T>(&mut alone, message.as_bytes(), usize::MAX, Box::default());
        let next = decode_next(&mut decoder, message.as_bytes(), usize::MAX, Box::new(memory));
        let expected = alone.map(Memory::into_value);
        assert_eq!(next.as_ref().map(Memory::value), expected.as_ref(), "{message}");
        memory = next.unwrap_or_default();
    }
}

fn regular(message: &str) -> Result<Plain, deltasoap::Error> {
    let mut alone = Decoder::new(DecodeOptions { differential: Differential::OFF, ..DecodeOptions::default() });
    decode_next(&mut alone, message.as_bytes(), usize::MAX, Box::default()).map(Memory::into_value)
}

#[test]
fn a_prefix_of_the_body_means_nothing_after_it() {
    let tree = Parts { content: "<tree><a href='#x'/></tree>", trailer: "<m id='x'><p:b/></m>", ..Parts::default() };
    let name = Parts { content: "<name href='#x'/>", trailer: "<m id='x'>p:local</m>", ..Parts::default() };
    for parts in [tree, name] {
        let on_envelope = Parts { on_envelope: "xmlns:p='urn:p'", ..parts }.message();
        let on_body = Parts { on_body: "xmlns:p='urn:p'", ..parts }.message();
        read::<Plain>(&[&on_envelope, &on_envelope, &on_body, &on_envelope, &on_envelope], Limits::default());
    }
}

#[test]
fn declarations_that_say_nothing_new_count() {
    let tree = Parts { content: "<tree><x/></tree>", ..Parts::default() };
    let referred = Parts { content: "<tree href='#x'/>", others: "<m id='x'><x/></m>", ..Parts::default() };
    for parts in [tree, referred] {
        let on_body = ["", "xmlns=''", "xmlns:p='urn:p'", &format!("xmlns:p='urn:p' xmlns:s='{SOAP}'")]
            .map(|on_body| Parts { on_envelope: "xmlns:p='urn:p'", on_body, ..parts }.message());
        for bindings_in_scope in 1..9 {
            let limits = Limits { bindings_in_scope, ..Limits::default() };
            for other in &on_body[1..] {
                read::<Plain>(&[&on_body[0], &on_body[0], other, &on_body[0]], limits);
            }
            read::<Plain>(&[&on_body[2], &on_body[3], &on_body[2]], limits);
        }
    }
}

/// The first tree of the operation shares what it takes over with a header block in one message,
/// but not in the next.
#[test]
fn trees_count_what_they_share_with_header_blocks() {
    let content = "<more><x/></more><more xmlns:q='urn:q'><x/></more>";
    let plain = Parts { on_envelope: "xmlns:a='urn:a' xmlns:h='urn:h'", content, ..Parts::default() };
    let referred = format!("<first href='#x'/>{content}");
    let referred = Parts { content: &referred, others: "<m id='x'>1</m>", ..plain };
    for parts in [plain, referred] {
        let [same, other] = ["", " xmlns:z='urn:z'"].map(|own| {
            let header = format!("<s:Header><h:h{own}/></s:Header>");
            Parts { header: &header, ..parts }.message()
        });
        for inherited_bindings in 3..30 {
            let limits = Limits { inherited_bindings, ..Limits::default() };
            read::<Plain>(&[&same, &other, &same], limits);
        }
    }
}

#[test]
fn prefixes_of_the_reference_mean_nothing_in_what_it_refers_to() {
    let (content, others) = ("<name href='#x' xmlns:p='urn:p'/>", "<m id='x'>p:local</m>");
    assert!(regular(&Parts { content, others, ..Parts::default() }.message()).is_err());
    let on_body = "xmlns:p='urn:p'";
    let name = regular(&Parts { content, others, on_body, ..Parts::default() }.message()).expect("declared").name;
    assert_eq!(name, Some(QName::new("urn:p", "local")));
}

/// The tree takes over what is in scope at its own position: neither the operation's prefix nor
/// that of the reference.
#[test]
fn trees_take_over_what_is_around_them() {
    let content = "<tree href='#x' xmlns:k='urn:k'/>";
    let parts = Parts { on_envelope: "xmlns:q='urn:q'", content, others: "<m id='x'><b/></m>", ..Parts::default() };
    let without = parts.message();
    let with = Parts { header: "<s:Header><q:h/></s:Header>", ..parts }.message();
    let tree = |message: &str| regular(message).expect("good").tree.expect("a tree");
    assert_eq!(tree(&with), tree(&without));
    let prefixes: Vec<_> = tree(&with).bindings.iter().map(|(prefix, _)| prefix.clone()).collect();
    assert_eq!(prefixes, ["q", "s"]);
    read::<Plain>(&[&with, &with, &without, &with], Limits::default());
}

/// A kept shared value of one message is not found in the next.
#[test]
fn shared_values_belong_to_one_message() {
    let message = Parts { content: "<shared>1</shared>", ..Parts::default() }.message();
    let mut decoder = Decoder::new(DecodeOptions { differential: LEAF, ..DecodeOptions::default() });
    let mut memory = Memory::<Put>::default();
    let mut next = || {
        let kept = std::mem::take(&mut memory);
        memory = decode_next(&mut decoder, message.as_bytes(), usize::MAX, Box::new(kept)).expect("good");
        memory.value().shared.clone().expect("a value")
    };
    let (one, other) = (next(), next());
    assert!(one == other && !Shared::ptr_eq(&one, &other));
}

/// After a short message, the next long one is still compared.
#[test]
fn long_and_short_messages_by_turns_are_compared() {
    let items: String = (0..50).map(|n| format!("<more><a>{n}</a></more>")).collect();
    let long = Parts { content: &items, ..Parts::default() }.message();
    let short = Parts { content: "<first>1</first>", ..Parts::default() }.message();
    let mut decoder = Decoder::new(DecodeOptions::default());
    let mut memory = Memory::<Plain>::default();
    memory.set_clock(|bytes, was_compared| std::time::Duration::from_nanos(bytes * if was_compared { 1 } else { 10 }));
    for message in [&long, &short].into_iter().cycle().take(100) {
        memory = decode_next(&mut decoder, message.as_bytes(), usize::MAX, Box::new(memory)).expect("good");
    }
    assert!(memory.stats().compared > 40, "{:?}", memory.stats());
}

/// Two elements in a body, each with its own memory.
#[derive(Default)]
struct Several {
    memories: [Memory<Plain>; 2],
    opened: usize,
}

impl Receiver for Several {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        self.opened += 1;
        Ok(())
    }

    fn takes_several(&self) -> bool {
        true
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.memories[self.opened - 1].decode(cursor, <Plain as Typed>::view())
    }
}

/// The second element refers into the first, which is unchanged; its trees share bindings with
/// those of the first.
#[test]
fn elements_of_one_body_refer_to_each_other() {
    let filling = "<first>word</first>".to_owned() + &"<more xmlns:q='urn:q'><b/></more>".repeat(9);
    let first = format!("{filling}<more><c id='x'>there</c></more>");
    let bodies = ["<tree><a href='#x'/></tree>", "<tree><a/></tree>", "<more><a href='#x'/></more><more><a/></more>"];
    let limits = Limits { inherited_bindings: 80, ..Limits::default() };
    let mut decoder = Decoder::new(DecodeOptions { differential: LEAF, limits, ..DecodeOptions::default() });
    let mut memories = <[Memory<Plain>; 2]>::default();
    for second in bodies.iter().cycle().take(9) {
        let others = format!("<g:put xmlns:g='urn:g'>{second}</g:put>");
        let message = Parts { content: &first, others: &others, ..Parts::default() }.message();
        let read = |decoder: &mut Decoder, memories| {
            let mut reader = EnvelopeReader::new(Several { memories, opened: 0 });
            decoder.decode(&mut reader, message.as_bytes()).map(|()| reader.into_parts().1.memories)
        };
        let alone = read(
            &mut Decoder::new(DecodeOptions { differential: LEAF, limits, ..DecodeOptions::default() }),
            Default::default(),
        );
        let next = read(&mut decoder, memories);
        let values = |memories: &[Memory<Plain>; 2]| memories.each_ref().map(|memory| memory.value().clone());
        assert_eq!(next.as_ref().map(values), alone.as_ref().map(values), "{message}");
        memories = next.unwrap_or_default();
    }
    assert!(memories[0].value().more.len() == 10 && memories[1].value().more.len() == 2, "the last message was read");
}

//! Envelopes: the rules of both versions; every recorded message is read and written again.

use deltasoap_core::decode::{Cursor, Decoder, Step};
use deltasoap_core::encode::Encoder;
use deltasoap_core::soap::{Envelope, EnvelopeReader, Fault, Head, HeaderBlock, Receiver, Version};
use deltasoap_core::{Content, DecodeOptions, Error, ErrorKind, Limits, Node, QName, Typed, ns};
use deltasoap_streams::envelopes::envelopes;

/// Accepts any body.
#[derive(Debug, Default, PartialEq)]
struct Any {
    body: Vec<Node>,
    is_empty: bool,
}

impl Receiver for Any {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        self.body.push(Node::default());
        Ok(())
    }

    fn takes_several(&self) -> bool {
        true
    }

    fn empty_body(&mut self, _: &Head) -> Result<(), ErrorKind> {
        self.is_empty = true;
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.body.last_mut().expect("an element was opened").decode(cursor, Node::view())
    }
}

/// Accepts only a named body.
struct Picky;

impl Receiver for Picky {
    fn open_body(&mut self, _: &Head, _: &str, local: &str) -> Result<(), ErrorKind> {
        if local == "known" { Ok(()) } else { Err(ErrorKind::UnknownOperation(local.to_owned())) }
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        deltasoap_core::decode::skip_element(cursor)
    }
}

fn read_cut<R: Receiver>(receiver: R, message: &[u8], chunk: usize, limits: Limits) -> Result<(Head, R), Error> {
    let mut decoder = Decoder::new(DecodeOptions { limits, ..DecodeOptions::default() });
    let mut reader = EnvelopeReader::new(receiver);
    for chunk in message.chunks(chunk) {
        decoder.push(&mut reader, chunk)?;
    }
    decoder.finish(&mut reader)?;
    Ok(reader.into_parts())
}

fn read(message: &str) -> Result<(Head, Any), Error> {
    let whole = read_cut(Any::default(), message.as_bytes(), message.len().max(1), Limits::default());
    for chunk in [1, 5] {
        let cut = read_cut(Any::default(), message.as_bytes(), chunk, Limits::default());
        assert_eq!(cut, whole, "in chunks of {chunk}: {message}");
    }
    whole
}

/// An envelope of a version; its prefix is `s:`.
fn envelope(version: Version, content: &str) -> String {
    format!("<s:Envelope xmlns:s='{}'>{content}</s:Envelope>", version.namespace())
}

const BOTH: [Version; 2] = [Version::Soap11, Version::Soap12];

#[test]
fn headers_come_first_and_in_order() {
    for version in BOTH {
        let text =
            envelope(version, "\n<s:Header> <a x='1'/><b xmlns='urn:b'>t</b></s:Header>\n<s:Body><c/></s:Body> ");
        let (head, any) = read(&text).expect("valid");
        assert_eq!(head.version, Some(version));
        let names: Vec<_> = head.headers.iter().map(|block| block.node.name.to_string()).collect();
        assert_eq!(names, ["a", "{urn:b}b"]);
        assert_eq!(head.header("urn:b", "b").map(|block| block.node.text()).as_deref(), Some("t"));
        assert_eq!(any.body[0].name, QName::new("", "c"));
    }
}

#[test]
fn an_empty_body_is_the_receivers_to_judge() {
    for version in BOTH {
        for body in ["<s:Body/>", "<s:Header/><s:Body> <!-- nothing --> </s:Body>"] {
            assert!(read(&envelope(version, body)).expect("valid").1.is_empty);
        }
        let text = envelope(version, "<s:Body/>");
        let error = read_cut(Picky, text.as_bytes(), 9, Limits::default()).map(|_| ()).expect_err("nothing known");
        assert_eq!(error.path(), "/Envelope/Body");
        assert!(matches!(error.kind(), ErrorKind::Envelope(_)));
    }
}

#[test]
fn what_an_envelope_may_not_hold() {
    for version in BOTH {
        for (content, path) in [
            ("", "/Envelope"),
            ("<s:Header/>", "/Envelope"),
            ("<s:Body/><s:Body/>", "/Envelope/Body"),
            ("<s:Header/><s:Header/><s:Body/>", "/Envelope/Header"),
            ("<s:Body/><s:Header/>", "/Envelope/Header"),
            ("<s:Body>text</s:Body>", "/Envelope/Body"),
            ("text<s:Body/>", "/Envelope"),
            ("<Body/>", "/Envelope/Body"),
            ("<x/><s:Body/>", "/Envelope/x"),
            ("<s:Header>text</s:Header><s:Body/>", "/Envelope/Header"),
            ("<?pi?><s:Body/>", "/Envelope"),
        ] {
            let error = read(&envelope(version, content)).expect_err(content);
            assert_eq!(error.path(), path, "{content}: {error}");
        }
    }
    assert!(read(&format!("<!DOCTYPE x>{}", envelope(Version::Soap11, "<s:Body/>"))).is_err());
    assert!(read(&format!("{}<x/>", envelope(Version::Soap11, "<s:Body/>"))).is_err());
}

#[test]
fn one_body_element_unless_the_receiver_takes_more() {
    let text = envelope(Version::Soap11, "<s:Body><known/><other/></s:Body>");
    assert_eq!(read(&text).expect("any").1.body.len(), 2);
    let error = read_cut(Picky, text.as_bytes(), 9, Limits::default()).map(|_| ()).expect_err("one only");
    assert_eq!((error.path(), error.offset() as usize), ("/Envelope/Body/other", text.find("<other").expect("there")));
}

#[test]
fn trailers_are_for_1_1_alone() {
    let content = "<s:Body><a/></s:Body><x><y>t</y></x> <z xmlns='urn:z'/>";
    assert!(read(&envelope(Version::Soap11, content)).is_ok());
    assert!(matches!(read(&envelope(Version::Soap12, content)).expect_err("1.2").kind(), ErrorKind::Envelope(_)));
}

#[test]
fn other_roots() {
    let error = read("<e:Envelope xmlns:e='urn:soap-2'><e:Body/></e:Envelope>").expect_err("no version");
    assert_eq!(error.kind(), &ErrorKind::VersionMismatch("urn:soap-2".to_owned()));
    assert_eq!(error.path(), "/Envelope");
    assert!(matches!(read("<Body/>").expect_err("no envelope").kind(), ErrorKind::Envelope(_)));
    assert!(matches!(read("<Envelope/>").expect_err("no namespace").kind(), ErrorKind::VersionMismatch(_)));
}

#[test]
fn an_unknown_body_is_refused_where_it_opens() {
    let text = envelope(Version::Soap12, "<s:Body><other/></s:Body>");
    let error = read_cut(Picky, text.as_bytes(), 1, Limits::default()).map(|_| ()).expect_err("unknown");
    assert_eq!(error.kind(), &ErrorKind::UnknownOperation("other".to_owned()));
    assert_eq!(error.offset() as usize, text.find("<other").expect("there"));
    let text = envelope(Version::Soap12, "<s:Body><known>t<u/></known></s:Body>");
    assert!(read_cut(Picky, text.as_bytes(), 1, Limits::default()).is_ok());
}

#[test]
fn header_blocks_are_bounded() {
    let blocks =
        |count: usize| envelope(Version::Soap11, &format!("<s:Header>{}</s:Header><s:Body/>", "<a/>".repeat(count)));
    assert_eq!(read(&blocks(1000)).expect("at the limit").0.headers.len(), 1000);
    let error = read(&blocks(1001)).expect_err("beyond");
    assert_eq!(error.kind(), &ErrorKind::Limit { name: "headers", limit: 1000 });
    assert!(error.to_string().starts_with("the limit `headers` of 1000 is exceeded, in /Envelope/Header/"), "{error}");
}

/// Messages extracted from programs, with a placeholder or an operator where only elements are
/// allowed.
const TEMPLATES: [&str; 5] = [
    "NavistAu+soap-server/tests/integration_test.rs.001.xml",
    "apache+axis-axis1-java/axis-rt-core/src/test/java/test/saaj/TestEnvelope.java.001.xml",
    "agsh+onvif/__tests__/digest.test.ts.000.xml",
    "agsh+onvif/src/onvif.ts.000.xml",
    "savonrb+savon/spec/integration/support/application.rb.000.xml",
];

#[test]
fn trees_have_a_maximum_number_of_nodes() {
    let limit = Limits::default().tree_nodes;
    assert_eq!(limit, Limits::server().tree_nodes);
    let limits = Limits { tree_nodes: 12, ..Limits::default() };
    let read = |header: usize, body: usize| {
        let tree = |nodes: usize| format!("<h a='' xmlns:b='u'>{}</h>", "<n/>".repeat(nodes));
        let text = format!("<s:Header>{}</s:Header><s:Body>{}</s:Body>", tree(header), tree(body));
        let message = envelope(Version::Soap11, &text);
        read_cut(Any::default(), message.as_bytes(), 7, limits).map(|_| ()).map_err(|error| error.kind().clone())
    };
    let beyond = Err(ErrorKind::Limit { name: "tree_nodes", limit: 12 });
    assert_eq!([read(9, 9), read(10, 9), read(9, 10)], [Ok(()), beyond.clone(), beyond]);
}

/// A block has a copy of all bindings in scope: a small message must not become a large tree.
#[test]
fn bindings_cannot_be_multiplied() {
    let declarations: String = (0..400).map(|n| format!(" xmlns:p{n}='u'")).collect();
    let message = |blocks: usize| {
        let blocks = "<a/>".repeat(blocks);
        envelope(Version::Soap11, &format!("<s:Header{declarations}>{blocks}</s:Header><s:Body/>"))
    };
    let (head, _) = read(&message(1000)).expect("blocks in one scope share their bindings");
    let bindings = |n: usize| &head.headers[n].node.bindings;
    assert_eq!(bindings(999).len(), 401);
    assert!(std::ptr::eq(&**bindings(0), &**bindings(999)));
    let distinct: String = (0..200).map(|n| format!("<a xmlns='v{n}'/>")).collect();
    let header = format!("<s:Header{declarations}>{distinct}</s:Header><s:Body/>");
    let error = read(&envelope(Version::Soap11, &header)).expect_err("beyond");
    assert_eq!(error.kind(), &ErrorKind::Limit { name: "inherited_bindings", limit: 65536 });
    let inner = format!("<s:Header><a{declarations}>{}</a></s:Header><s:Body/>", "<b xmlns='v'/>".repeat(1000));
    let (head, _) = read(&envelope(Version::Soap11, &inner)).expect("within");
    assert!(head.headers[0].node.elements().all(|b| b.bindings[..] == [(String::new(), "v".to_owned())]));
}

#[test]
fn depth_counts_everywhere() {
    let nested = |levels: usize| format!("{}{}", "<a>".repeat(levels), "</a>".repeat(levels));
    for version in BOTH {
        for (before, after, outside) in [("<s:Header>", "</s:Header><s:Body/>", 2), ("<s:Body>", "</s:Body>", 2)] {
            let message = |levels| envelope(version, &format!("{before}{}{after}", nested(levels)));
            assert!(read(&message(100 - outside)).is_ok());
            let error = read(&message(101 - outside)).expect_err("too deep");
            assert!(error.to_string().contains("depth"), "{error}");
        }
    }
    let trailer = |levels| envelope(Version::Soap11, &format!("<s:Body/>{}", nested(levels)));
    assert!(read(&trailer(99)).is_ok());
    assert!(read(&trailer(100)).is_err());
}

fn written(node: &Node) -> Vec<u8> {
    let mut encoder = Encoder::new();
    node.write(&mut encoder);
    encoder.finish().expect("writable").into_vec()
}

#[test]
fn every_recorded_message_is_read_and_written_again() {
    let mut count = 0;
    for recorded in envelopes() {
        count += 1;
        let whole = read_cut(Any::default(), recorded.content, recorded.content.len(), Limits::default());
        if TEMPLATES.contains(&recorded.path) {
            assert_eq!(whole.expect_err("no element").kind(), &ErrorKind::UnexpectedText);
            continue;
        }
        let (head, any) = whole.unwrap_or_else(|error| panic!("{}: {error}", recorded.path));
        let cut = read_cut(Any::default(), recorded.content, 1, Limits::default()).expect("like the whole");
        assert_eq!((&cut.0, &cut.1), (&head, &any), "{}", recorded.path);
        assert_eq!(head.version == Some(Version::Soap12), recorded.soap == "1.2", "{}", recorded.path);
        let local = any.body.first().map_or("-", |body| &body.name.local);
        assert_eq!(local, recorded.body, "{}", recorded.path);
        for node in head.headers.iter().map(|block| &block.node).chain(&any.body) {
            let again = Node::parse(&written(node)).expect("what was written is well-formed");
            assert!(node.is_equivalent(&again), "{}: {node:?} became {again:?}", recorded.path);
        }
    }
    assert_eq!(count, 182);
}

/// Compares texts and attributes of the tree with those that another parser finds.
#[test]
fn recorded_messages_hold_what_another_parser_finds() {
    for recorded in envelopes().filter(|recorded| !TEMPLATES.contains(&recorded.path)) {
        let Ok(text) = std::str::from_utf8(recorded.content) else { continue };
        // If references are followed, a tree differs from the message.
        if text.contains("href=\"#") {
            continue;
        }
        let Ok(document) = roxmltree::Document::parse(text) else { panic!("{}", recorded.path) };
        let (_, any) = read_cut(Any::default(), recorded.content, 7, Limits::default()).expect("valid");
        let body = document.root_element().children().rfind(|node| node.tag_name().name() == "Body").expect("a body");
        let theirs: Vec<_> = body.children().filter(roxmltree::Node::is_element).collect();
        assert_eq!(any.body.len(), theirs.len(), "{}", recorded.path);
        any.body.iter().zip(theirs).for_each(|(ours, theirs)| assert_same(ours, theirs, recorded.path));
    }
}

fn assert_same(ours: &Node, theirs: roxmltree::Node<'_, '_>, path: &str) {
    let name = theirs.tag_name();
    assert!(ours.name.is(name.namespace().unwrap_or(""), name.name()), "{path}: {:?}", ours.name);
    let attributes: Vec<_> = theirs.attributes().collect();
    assert_eq!(ours.attributes.len(), attributes.len(), "{path}");
    for attribute in attributes {
        let value = ours.attribute(attribute.namespace().unwrap_or(""), attribute.name());
        assert_eq!(value, Some(attribute.value()), "{path}");
    }
    let text: String = theirs.children().filter(roxmltree::Node::is_text).filter_map(|node| node.text()).collect();
    assert_eq!(ours.text(), text, "{path}");
    let elements: Vec<_> = theirs.children().filter(roxmltree::Node::is_element).collect();
    assert_eq!(ours.elements().count(), elements.len(), "{path}");
    ours.elements().zip(elements).for_each(|(ours, theirs)| assert_same(ours, theirs, path));
}

#[test]
fn version_namespaces() {
    for version in BOTH {
        assert_eq!(Version::from_namespace(version.namespace()), Some(version));
    }
    assert_eq!(Version::from_namespace(ns::XSD), None);
}

/// Canonical XML does not allow relative namespaces (section 1.3): whoever verified the signature
/// would refuse the message.
#[test]
fn relative_namespaces_have_no_canonical_form() {
    let block = |namespace| HeaderBlock { node: Node::new(QName::owned(namespace, "a")) };
    let error = block("#Foo").to_canonical().expect_err("a relative namespace");
    assert!(error.to_string().contains("no canonical form"), "{error}");
    for namespace in ["", "urn:foo", "http://foo.example/#Foo"] {
        block(namespace).to_canonical().expect("a canonical form");
    }
    let headers = [block("#Foo")];
    let value = Fault::sender("refused");
    let envelope = Envelope::fault(&value).headers(&headers);
    envelope.to_vec().expect("messages that are not signed may have any namespace");
    let error = envelope.canonical("body").to_vec().expect_err("a relative namespace");
    assert!(error.to_string().contains("no canonical form"), "{error}");
}

//! Messages as parsed by foreign parsers: roxmltree and quick-xml in this process, libxml2 in a
//! separate one.
//!
//! A message sent through a template must have the same tree as the full encoding, for each parser.
//! White space next to elements is ignored, since stuffing adds it. Very long messages are left
//! out. libxml2 gets a sample of the messages, since communication with the process takes time.

use quick_xml::NsReader;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use serde::Deserialize;
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// libxml2 gets one message in this many.
const SAMPLED: u64 = 16;
/// Longer messages are not parsed by others: their trees take long to build.
const MAX_MESSAGE_LEN: usize = 300_000;
/// Deeper trees are not sent to the process: their JSON could not be parsed.
const MAX_DEPTH: usize = 40;
/// The script that runs libxml2.
const SCRIPT: &str = include_str!("libxml2.py");

/// An element: names in Clark notation, attributes sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct Tree {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Node>,
}

/// The content of an element.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Node {
    Text(String),
    Element(Tree),
}

/// Numbers of compared messages: by parsers in this process, and by libxml2.
#[derive(Debug, Clone, Copy, Default)]
pub struct Compared {
    pub here: u64,
    pub libxml2: u64,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

#[derive(Default)]
struct State {
    compared: Compared,
    libxml2: Option<Libxml2>,
}

/// Starts libxml2 with the given Python, which must have lxml.
///
/// # Errors
/// Returns an error if it cannot be started.
pub fn start_libxml2(python: &str) -> std::io::Result<()> {
    let libxml2 = Libxml2::start(python)?;
    STATE.with_borrow_mut(|state| state.libxml2 = Some(libxml2));
    Ok(())
}

/// Returns the numbers of messages compared so far.
pub fn compared() -> Compared {
    STATE.with_borrow(|state| state.compared)
}

/// Compares a sent message with the full encoding, as parsed by all parsers.
///
/// # Panics
/// Panics if they differ.
pub fn compare(sent: &[u8], full: &str) {
    let sent = std::str::from_utf8(sent).expect("UTF-8");
    if sent.len() > MAX_MESSAGE_LEN {
        return;
    }
    let expected = by_roxmltree(full);
    assert_same("roxmltree", &by_roxmltree(sent), &expected);
    assert_same("quick-xml", &by_quick_xml(sent), &expected);
    STATE.with_borrow_mut(|state| {
        state.compared.here += 1;
        let is_sampled = state.compared.here % SAMPLED == 1 && expected.depth() <= MAX_DEPTH;
        if let Some(libxml2) = state.libxml2.as_mut().filter(|_| is_sampled) {
            assert_same("libxml2", &libxml2.read(sent), &expected);
            state.compared.libxml2 += 1;
        }
    });
}

#[track_caller]
fn assert_same(parser: &str, found: &Tree, expected: &Tree) {
    if found == expected {
        return;
    }
    let (found, expected) = (format!("{found:?}"), format!("{expected:?}"));
    let place = found.bytes().zip(expected.bytes()).take_while(|(one, other)| one == other).count();
    panic!("by {parser}, at {place}:\n expected: {}\n    found: {}", excerpt(&expected, place), excerpt(&found, place));
}

/// Returns the part of a long text around a position.
fn excerpt(text: &str, place: usize) -> String {
    let (start, end) = (place.saturating_sub(200), text.len().min(place + 200));
    String::from_utf8_lossy(&text.as_bytes()[start.min(end)..end]).into_owned()
}

fn by_roxmltree(text: &str) -> Tree {
    let document = roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("roxmltree: {error}: {text}"));
    from_roxmltree(document.root_element())
}

fn from_roxmltree(node: roxmltree::Node<'_, '_>) -> Tree {
    let attributes = node.attributes().map(|it| (clark(it.namespace(), it.name()), it.value().to_owned())).collect();
    let mut tree =
        Tree { name: clark(node.tag_name().namespace(), node.tag_name().name()), attributes, children: Vec::new() };
    for child in node.children() {
        match child.is_element() {
            true => tree.children.push(Node::Element(from_roxmltree(child))),
            false => tree.push_text(child.text().filter(|_| child.is_text()).unwrap_or_default()),
        }
    }
    tree.settled()
}

fn by_quick_xml(text: &str) -> Tree {
    let mut reader = NsReader::from_str(text);
    let mut open: Vec<Tree> = vec![Tree::default()];
    loop {
        let event = reader.read_event().unwrap_or_else(|error| panic!("quick-xml: {error}: {text}"));
        match event {
            Event::Start(tag) => open.push(started(&reader, &tag)),
            Event::Empty(tag) => close(&mut open, started(&reader, &tag)),
            Event::End(_) => {
                let tree = open.pop().unwrap_or_default();
                close(&mut open, tree);
            }
            Event::Text(piece) => last(&mut open).push_text(&piece.xml10_content()),
            Event::CData(piece) => last(&mut open).push_text(&piece.xml10_content()),
            Event::GeneralRef(reference) => {
                let name = reference.to_string();
                let c = reference.resolve_char_ref().expect("a character");
                let text = c
                    .map(String::from)
                    .or_else(|| quick_xml::escape::resolve_predefined_entity(&name).map(str::to_owned));
                last(&mut open).push_text(&text.expect("a known entity"));
            }
            Event::Eof => break,
            _ => {}
        }
    }
    match last(&mut open).children.drain(..).find(|it| matches!(it, Node::Element(_))) {
        Some(Node::Element(root)) => root,
        _ => panic!("quick-xml: no element: {text}"),
    }
}

fn last(open: &mut [Tree]) -> &mut Tree {
    open.last_mut().expect("the document is never closed")
}

fn close(open: &mut [Tree], tree: Tree) {
    last(open).children.push(Node::Element(tree.settled()));
}

fn started(reader: &NsReader<&[u8]>, tag: &BytesStart<'_>) -> Tree {
    let (namespace, local) = reader.resolver().resolve_element(tag.name());
    let name = clark(bound(&namespace).as_deref(), local.as_ref());
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.expect("an attribute");
        if attribute.key.as_namespace_binding().is_some() {
            continue;
        }
        let (namespace, local) = reader.resolver().resolve_attribute(attribute.key);
        let value = attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).expect("a value").into_owned();
        attributes.push((clark(bound(&namespace).as_deref(), local.as_ref()), value));
    }
    Tree { name, attributes, children: Vec::new() }
}

fn bound(namespace: &ResolveResult<'_>) -> Option<String> {
    match namespace {
        ResolveResult::Bound(namespace) => Some(namespace.as_ref().to_owned()),
        ResolveResult::Unbound => None,
        ResolveResult::Unknown(prefix) => panic!("quick-xml: unbound prefix {prefix}"),
    }
}

fn clark(namespace: Option<&str>, local: &str) -> String {
    match namespace {
        Some(namespace) if !namespace.is_empty() => format!("{{{namespace}}}{local}"),
        _ => local.to_owned(),
    }
}

impl Tree {
    fn push_text(&mut self, text: &str) {
        match self.children.last_mut() {
            _ if text.is_empty() => {}
            Some(Node::Text(before)) => before.push_str(text),
            _ => self.children.push(Node::Text(text.to_owned())),
        }
    }

    /// Sorts attributes, and removes white space next to elements.
    fn settled(mut self) -> Tree {
        self.attributes.sort();
        if self.children.iter().any(|it| matches!(it, Node::Element(_))) {
            self.children.retain(|it| !matches!(it, Node::Text(text) if text.trim_ascii().is_empty()));
        }
        self
    }

    fn depth(&self) -> usize {
        let elements = self.children.iter().filter_map(|it| match it {
            Node::Element(tree) => Some(tree.depth()),
            Node::Text(_) => None,
        });
        1 + elements.max().unwrap_or(0)
    }

    fn all_settled(mut self) -> Tree {
        for child in &mut self.children {
            if let Node::Element(tree) = child {
                *tree = std::mem::take(tree).all_settled();
            }
        }
        self.settled()
    }
}

/// A Python process that parses documents.
struct Libxml2 {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Libxml2 {
    fn start(python: &str) -> std::io::Result<Self> {
        let mut command = Command::new(python);
        command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let missing = || std::io::Error::other("a process without pipes");
        let input = process.stdin.take().ok_or_else(missing)?;
        let output = BufReader::new(process.stdout.take().ok_or_else(missing)?);
        let mut libxml2 = Libxml2 { process, input, output };
        libxml2.exchange("<a/>")?;
        Ok(libxml2)
    }

    fn read(&mut self, text: &str) -> Tree {
        let answer = self.exchange(text).expect("libxml2 has ended");
        let tree: Tree = serde_json::from_str(&answer)
            .unwrap_or_else(|_| panic!("libxml2: {}: {}", excerpt(&answer, 0), excerpt(text, 0)));
        tree.all_settled()
    }

    /// Sends a document and returns the answer.
    fn exchange(&mut self, text: &str) -> std::io::Result<String> {
        write!(self.input, "{}\n{text}", text.len())?;
        self.input.flush()?;
        let mut answer = String::new();
        if self.output.read_line(&mut answer)? == 0 {
            return Err(std::io::Error::other("no answer; does its Python have lxml?"));
        }
        Ok(answer)
    }
}

impl Drop for Libxml2 {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsers_agree_and_stuffing_does_not_count() {
        let full =
            "<a:r xmlns:a='urn:a' b='1&#10;2' a:c='&lt;'><x> 1 &amp; <![CDATA[<]]>&#x41;</x><y xmlns='urn:y'/></a:r>";
        let stuffed = full.replace("</x>", "</x>   ");
        compare(stuffed.as_bytes(), full);
    }

    #[test]
    #[should_panic = "by roxmltree"]
    fn other_values_count() {
        compare(b"<r><x>1</x></r>", "<r><x>2</x></r>");
    }

    #[test]
    #[should_panic = "by roxmltree"]
    fn white_space_in_leaves_counts() {
        compare(b"<r><x> </x></r>", "<r><x></x></r>");
    }
}

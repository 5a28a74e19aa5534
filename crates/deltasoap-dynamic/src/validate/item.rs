//! A message as a tree with the positions of its elements.

use crate::identity::Tree;
use deltasoap_core::{Error, ErrorKind, Limits, QName, ns};
use deltasoap_xml::{Event, Feed, Instructions, NameId, Reader, Stop, Window, XmlError};
use std::collections::HashMap;
use std::rc::Rc;

/// An element.
#[derive(Debug, Default)]
pub(super) struct Item {
    pub(super) name: QName,
    pub(super) attributes: Vec<(QName, String)>,
    /// All text directly in the element.
    pub(super) text: String,
    pub(super) children: Vec<Item>,
    /// The declared prefixes and their namespaces; inner ones come last.
    pub(super) scope: Rc<Vec<(String, String)>>,
    /// The offset of its start tag, in bytes.
    pub(super) offset: u64,
    /// Its number among the siblings of the same name, from 1; 0 if it is the only one.
    number: usize,
}

impl Item {
    /// Returns the steps that lead to an element below this one, including this one's name.
    pub(super) fn path_to(&self, target: &Item) -> Vec<String> {
        self.path_to_offset(target.offset)
    }

    /// Returns the steps that lead to the element whose tag starts at `offset`.
    pub(super) fn path_to_offset(&self, offset: u64) -> Vec<String> {
        let (mut path, mut at) = (vec![self.name.local.to_string()], self);
        while at.offset != offset {
            // Children are ordered by offset: the element is in the last child that begins before
            // it.
            let after = at.children.partition_point(|child| child.offset <= offset);
            let Some(child) = after.checked_sub(1).and_then(|place| at.children.get(place)) else { break };
            path.push(child.step());
            at = child;
        }
        path
    }

    /// Returns the element as a step of a path.
    pub(super) fn step(&self) -> String {
        match self.number {
            0 => self.name.local.to_string(),
            number => format!("{}[{number}]", self.name.local),
        }
    }

    pub(super) fn attribute(&self, namespace: &str, local: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name.is(namespace, local)).map(|(_, value)| value.as_str())
    }

    /// Resolves a name in the element; `None` for a prefix that is not declared.
    pub(super) fn resolve(&self, text: &str) -> Option<QName> {
        let text = text.trim_ascii();
        let (prefix, local) = text.split_once(':').unwrap_or(("", text));
        match self.scope.iter().rev().find(|(bound, _)| bound == prefix) {
            Some((_, namespace)) => Some(QName::owned(namespace.clone(), local)),
            None if prefix == "xml" => Some(QName::owned(ns::XML, local)),
            None => prefix.is_empty().then(|| QName::owned("", local)),
        }
    }

    pub(super) fn has_text(&self) -> bool {
        !self.text.trim_ascii().is_empty()
    }
}

impl Tree for Item {
    fn name(&self) -> &QName {
        &self.name
    }

    fn children(&self) -> &[Self] {
        &self.children
    }

    fn id(&self) -> u64 {
        self.offset
    }
}

/// Reads a message of at most `most` elements, attributes and declarations.
///
/// # Errors
/// If it is not well-formed, or has more.
pub(super) fn parse(message: &[u8], most: usize) -> Result<Item, Error> {
    let limits = Limits { tree_nodes: most, ..Limits::default() };
    let mut builder = Builder {
        reader: Reader::new(limits, Instructions::Skip),
        names: HashMap::new(),
        open: vec![Item::default()],
        nodes: 0,
        most,
        full_at: None,
    };
    let mut feed = Feed::new(limits);
    let read =
        feed.push(message, |window| builder.step(window)).and_then(|()| feed.finish(|window| builder.step(window)));
    match builder.full_at {
        Some(offset) => Err(Error::at(ErrorKind::Limit { name: "tree_nodes", limit: most as u64 }, offset)),
        None => read.map(|()| builder.into_root()).map_err(Error::from),
    }
}

struct Builder {
    reader: Reader,
    /// Names, shared by the elements that have them.
    names: HashMap<NameId, QName>,
    open: Vec<Item>,
    nodes: usize,
    most: usize,
    /// The offset at which the limit was exceeded: nothing is kept from there on.
    full_at: Option<u64>,
}

impl Builder {
    fn step(&mut self, window: &mut Window<'_>) -> Result<(), Option<Box<XmlError>>> {
        loop {
            match self.reader.next(window) {
                _ if self.full_at.is_some() => return Ok(()),
                Ok(Event::Start) => self.start(),
                Ok(Event::End) => self.end(),
                Ok(Event::Text(piece)) => push(&mut self.open, piece),
                Ok(Event::Char(c)) => push(&mut self.open, c.encode_utf8(&mut [0; 4])),
                Ok(Event::Done) => return Ok(()),
                Err(Stop::Pending) => return Err(None),
                Err(Stop::Error(error)) => return Err(Some(error)),
            }
        }
    }

    fn start(&mut self) {
        let declarations: Vec<_> =
            self.reader.declarations().map(|(prefix, uri)| (prefix.to_owned(), uri.to_owned())).collect();
        let (count, offset) = (self.reader.attribute_count(), self.reader.tag_offset());
        self.nodes += 1 + count + declarations.len();
        if self.nodes > self.most {
            self.full_at = Some(offset);
            return;
        }
        let mut scope = self.open.last().map(|parent| parent.scope.clone()).unwrap_or_default();
        if !declarations.is_empty() {
            Rc::make_mut(&mut scope).extend(declarations);
        }
        let mut attributes = Vec::with_capacity(count);
        for index in 0..count {
            let (name, value) = self.reader.attribute(index);
            attributes.push((named(&mut self.names, &self.reader, name), value.to_owned()));
        }
        let name = named(&mut self.names, &self.reader, self.reader.name());
        self.open.push(Item { name, attributes, offset, scope, ..Item::default() });
    }

    fn end(&mut self) {
        let Some(mut item) = self.open.pop() else { return };
        number(&mut item.children);
        if let Some(parent) = self.open.last_mut() {
            parent.children.push(item);
        }
    }

    fn into_root(mut self) -> Item {
        let document = self.open.pop().unwrap_or_default();
        document.children.into_iter().next().unwrap_or_default()
    }
}

fn push(open: &mut [Item], text: &str) {
    if let Some(item) = open.last_mut() {
        item.text.push_str(text);
    }
}

fn named(known: &mut HashMap<NameId, QName>, reader: &Reader, name: NameId) -> QName {
    let names = reader.names();
    known.entry(name).or_insert_with(|| QName::owned(names.namespace(name), names.local(name))).clone()
}

/// Numbers siblings if several have the same name.
fn number(children: &mut [Item]) {
    let mut counts = HashMap::<QName, usize>::new();
    for child in children.iter_mut() {
        let count = counts.entry(child.name.clone()).or_default();
        *count += 1;
        child.number = *count;
    }
    for child in children.iter_mut().filter(|child| counts[&child.name] == 1) {
        child.number = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_a_maximum_number_of_nodes() {
        let message = b"<a x='1' xmlns:n='urn:n'><b>text</b><n:c/></a>";
        let root = parse(message, 5).expect("five");
        assert_eq!((root.children.len(), root.children[0].text.as_str()), (2, "text"));
        assert_eq!(root.children[1].name, QName::new("urn:n", "c"));
        for most in 0..5 {
            let error = parse(message, most).expect_err("too many");
            assert_eq!(error.kind(), &ErrorKind::Limit { name: "tree_nodes", limit: most as u64 });
        }
        assert!(parse(b"<a><b></a>", 100).is_err());
        assert!(matches!(
            parse(b"<a><b/><b></a>", 2).map_err(|error| error.kind().clone()),
            Err(ErrorKind::Limit { .. })
        ));
    }
}

//! Whole documents as a list of nodes with owned names and text: for schemas, WSDL and tests, where
//! convenience matters more than speed.

use crate::{Event, Feed, Instructions, Limits, NameId, Reader, Stop, Window, XmlError};

/// An owned name with its namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Owned {
    /// Namespace URI; empty for none.
    pub namespace: String,
    /// Local part.
    pub local: String,
}

/// An attribute that is not a namespace declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Its name.
    pub name: Owned,
    /// Its normalised value.
    pub value: String,
}

/// A node of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A start tag, or the first half of an empty-element tag.
    Start {
        /// The name of the element.
        name: Owned,
        /// The attributes in tag order.
        attributes: Vec<Attribute>,
        /// The prefixes (empty for the default namespace) and URIs that the tag declares, in tag
        /// order.
        declarations: Vec<(String, String)>,
        /// The offset of its `<`, in bytes of UTF-8 ([`Reader::tag_offset`]).
        offset: u64,
    },
    /// All character data between two tags; never empty.
    Text(String),
    /// An end tag, or the second half of an empty-element tag.
    End,
}

/// Reads a whole document, in any [`Encoding`](crate::Encoding).
///
/// ```
/// use deltasoap_xml::{Instructions, Limits, Node, nodes};
///
/// let nodes = nodes(b"<a xmlns='urn:a'>x &amp; y</a>", Limits::default(), Instructions::Skip)?;
/// assert!(matches!(&nodes[0], Node::Start { name, .. } if name.namespace == "urn:a" && name.local == "a"));
/// assert_eq!(nodes[1..], [Node::Text("x & y".into()), Node::End]);
/// # Ok::<(), Box<deltasoap_xml::XmlError>>(())
/// ```
///
/// # Errors
/// The first error in the document.
pub fn nodes(bytes: &[u8], limits: Limits, instructions: Instructions) -> Result<Vec<Node>, Box<XmlError>> {
    let mut collector = Collector { reader: Reader::new(limits, instructions), nodes: Vec::new() };
    let mut feed = Feed::new(limits);
    feed.push(bytes, |window| collector.step(window))?;
    feed.finish(|window| collector.step(window))?;
    Ok(collector.nodes)
}

struct Collector {
    reader: Reader,
    nodes: Vec<Node>,
}

impl Collector {
    fn step(&mut self, window: &mut Window<'_>) -> Result<(), Option<Box<XmlError>>> {
        loop {
            match self.reader.next(window) {
                Ok(Event::Start) => self.start(),
                Ok(Event::End) => self.nodes.push(Node::End),
                Ok(Event::Text(piece)) => self.text(piece),
                Ok(Event::Char(c)) => self.text(c.encode_utf8(&mut [0; 4])),
                Ok(Event::Done) => return Ok(()),
                Err(Stop::Pending) => return Err(None),
                Err(Stop::Error(error)) => return Err(Some(error)),
            }
        }
    }

    fn start(&mut self) {
        let reader = &self.reader;
        let attribute = |index| {
            let (name, value) = reader.attribute(index);
            Attribute { name: self.owned(name), value: value.to_owned() }
        };
        let node = Node::Start {
            name: self.owned(reader.name()),
            attributes: (0..reader.attribute_count()).map(attribute).collect(),
            declarations: reader.declarations().map(|(p, uri)| (p.to_owned(), uri.to_owned())).collect(),
            offset: reader.tag_offset(),
        };
        self.nodes.push(node);
    }

    fn text(&mut self, piece: &str) {
        match self.nodes.last_mut() {
            Some(Node::Text(text)) => text.push_str(piece),
            _ => self.nodes.push(Node::Text(piece.to_owned())),
        }
    }

    fn owned(&self, name: NameId) -> Owned {
        let names = self.reader.names();
        Owned { namespace: names.namespace(name).to_owned(), local: names.local(name).to_owned() }
    }
}

//! A message that was read, with which the next one is compared.

use super::image::Image;
use super::protocol::StartTag;
use super::size::equals_except_size;
use super::table::{NONE, NodePosition, Table};
use super::trees::OperationTrees;
use crate::decode::Tolerance;
use crate::schema::Identity;
use crate::version::Version;
use crate::{Buffer, Escape, Limits};
use deltasoap_xml::{Reader, ScopeId};
use std::sync::{Arc, OnceLock};

/// The bytes of an operation, and the positions of its elements.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) table: Table,
    /// The message's bytes, set once it was read to its end.
    pub(crate) image: Arc<OnceLock<Image>>,
    pub(crate) prologue: Prologue,
    /// The position after the operation's start tag.
    pub(crate) start: u64,
    /// The position of its end tag.
    pub(crate) end: u64,
    /// The counts for its trees.
    pub(crate) trees: OperationTrees,
    /// True if the message is compared only as a whole, up to its end, and nothing is known of its
    /// elements. This applies to messages with references, or with items that specify their
    /// position, since a change in one place can change values in others; and to content without
    /// places at which decoding can resume.
    pub(crate) is_whole: bool,
}

/// Everything that determines how an operation's bytes are read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prologue {
    /// The reader's id, and the scopes of the open elements: for a quick comparison.
    scopes: (u64, Vec<ScopeId>),
    /// All declarations of the open elements, with the depth of each. Referenced elements can be
    /// outside of the operation, and limits count hidden declarations too.
    declared: Vec<(usize, String, String)>,
    /// The operation's start tag.
    tag: Vec<u8>,
    /// Number of open elements.
    depth: usize,
    rules: Rules,
    schema: Identity,
}

/// The part of the prologue that is not in the message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rules {
    /// True if SOAP encoding is in force: trees follow references.
    pub(crate) is_encoded: bool,
    pub(crate) limits: Limits,
    pub(crate) tolerance: Tolerance,
}

impl Prologue {
    /// Creates the prologue of the element whose start tag the reader has just read.
    pub(crate) fn new(reader: &Reader, tag: &[u8], rules: Rules, schema: Identity) -> Self {
        let owned = |(depth, prefix, uri): (usize, &str, &str)| (depth, prefix.to_owned(), uri.to_owned());
        let declared = reader.declared().map(owned).collect();
        let scopes = (reader.id(), reader.scopes().collect());
        Prologue { scopes, declared, tag: tag.to_vec(), depth: reader.depth(), rules, schema }
    }

    /// Returns true if the element whose start tag the reader has just read is read in the same
    /// way.
    pub(crate) fn fits(&mut self, reader: &Reader, tag: &[u8], rules: Rules, schema: Identity) -> bool {
        self.tag == tag
            && self.rules == rules
            && self.schema == schema
            && self.depth == reader.depth()
            && self.has_scope(reader)
    }

    /// Returns the operation's start tag.
    pub(crate) fn tag(&self) -> &[u8] {
        &self.tag
    }

    /// Returns the start tag of the envelope, or of the body in it, with a name.
    fn start_tag(&self, depth: usize, name: &str) -> Option<Vec<u8>> {
        let declared = self.declared.iter().filter(|(at, ..)| *at == depth);
        let mut tag = Buffer::new();
        [b"<", name.as_bytes()].iter().for_each(|part| tag.push(part));
        for (_, prefix, uri) in declared.clone() {
            let separator = if prefix.is_empty() { "" } else { ":" };
            [" xmlns", separator, prefix, "=\""].iter().for_each(|part| tag.push(part.as_bytes()));
            tag.push_text(uri, Escape::Attribute);
            tag.push(b"\"");
        }
        if depth == 0 && self.rules.is_encoded {
            let version = |uri: &String| Version::from_namespace(uri);
            let mut prefixed = declared.filter(|(_, prefix, _)| !prefix.is_empty());
            let (prefix, version) = prefixed.find_map(|(_, prefix, uri)| Some((prefix, version(uri)?)))?;
            let style = format!(" {prefix}:encodingStyle=\"{}\"", version.encoding_namespace());
            tag.push(style.as_bytes());
        }
        tag.push(b">");
        Some(tag.into_vec())
    }

    fn has_scope(&mut self, reader: &Reader) -> bool {
        if self.scopes.0 == reader.id() && reader.scopes().eq(self.scopes.1.iter().copied()) {
            return true;
        }
        let own = self.declared.iter().map(|(depth, prefix, uri)| (*depth, prefix.as_str(), uri.as_str()));
        let is_same = reader.declarations_in_scope() == self.declared.len() && reader.declared().eq(own);
        if is_same {
            self.scopes = (reader.id(), reader.scopes().collect());
        }
        is_same
    }

    fn bytes(&self) -> usize {
        let declared: usize =
            self.declared.iter().map(|(_, prefix, uri)| prefix.capacity() + uri.capacity() + 56).sum();
        declared + self.tag.capacity()
    }
}

/// An element of the previous message that begins like one of this message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Same {
    /// Position of its start tag.
    pub(crate) old: u64,
    /// Length of its start tag.
    pub(crate) len: usize,
    /// False if it is the start tag of an array with a different size.
    pub(crate) is_exact: bool,
}

/// Maximum number of bytes of an element that are compared before it is taken for the old one.
const COMPARED: u64 = 1024;

impl Template {
    /// Returns the number of bytes of the operation's content.
    pub(crate) fn len(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Returns the message's bytes; `None` if it turned out to be invalid after the operation.
    pub(crate) fn image(&self) -> Option<&Image> {
        self.image.get()
    }

    /// Checks whether the element or item at an old place begins with the bytes of a new one: with
    /// its start tag and, if it contains no elements, with all of its available bytes.
    pub(crate) fn compare(&self, place: NodePosition, tag: StartTag<'_>) -> Option<Same> {
        let image = self.image()?;
        let window = &tag.window[tag.start..];
        let node = self.table.node(place.node);
        let Some(run) = self.table.run_of(place.node) else {
            let position = u64::from(node.pos);
            let is_leaf = node.end == place.node + 1;
            let next = self.table.nodes.get(place.node as usize + 1).map_or(self.end, |next| u64::from(next.pos));
            let len = if is_leaf { (next - position).min(COMPARED) as usize } else { 0 };
            let len = len.max(tag.len).min(window.len());
            if image.equal_to(position, &window[..len]) >= len {
                return Some(Same { old: position, len: tag.len, is_exact: true });
            }
            let old_len = tag.is_array.then(|| equals_except_size(image.at(position), &window[..tag.len]))??;
            return Some(Same { old: position, len: old_len, is_exact: false });
        };
        let position = run.position(place.item as usize);
        let same = Same { old: position, len: tag.len, is_exact: true };
        (image.equal_to(position, &window[..tag.len]) >= tag.len).then_some(same)
    }

    /// Returns the number of bytes of an operation's content if `new` continues exactly as the old
    /// message did, to its end.
    pub(crate) fn repeated_by(&self, new: &[u8]) -> Option<usize> {
        let image = self.image()?;
        let len = usize::try_from(image.end() - self.start).ok().filter(|len| *len <= new.len())?;
        let is_same = image.equal_to(self.start, &new[..len]) == len;
        is_same.then_some((self.end - self.start) as usize)
    }

    /// Returns the SOAP message without its header: a memory that reads it knows what this template
    /// knows. `None` if that cannot be said of it.
    pub(crate) fn message(&self) -> Option<Vec<u8>> {
        // The operation is in a body, which is in an envelope.
        const DEPTH: usize = 3;
        if self.prologue.depth != DEPTH || self.prologue.tag.ends_with(b"/>") {
            return None;
        }
        let rest = self.image()?.from(self.start).collect::<Vec<_>>().concat();
        let (before, envelope) = last_end_tag(&rest)?;
        let (_, body) = last_end_tag(before)?;
        let mut message = self.prologue.start_tag(0, envelope)?;
        message.extend(self.prologue.start_tag(1, body)?);
        message.extend_from_slice(&self.prologue.tag);
        message.extend(rest);
        Some(message)
    }

    /// Records that fast mode enters at a place, `by` bytes further on.
    pub(crate) fn touch(&mut self, place: NodePosition, by: i64) {
        let run = self.table.node(place.node).run;
        if let Some(run) = self.table.runs.get_mut(run as usize) {
            run.touch(place.item as usize, by);
        }
    }

    /// Returns true if all positions are those of start tags, and nodes are in document order
    /// within their parents. Debug builds check this for each message.
    pub(crate) fn is_sound(&self) -> bool {
        let Some(image) = self.image() else { return false };
        let mut last = self.start;
        self.table.nodes.iter().enumerate().all(|(index, node)| {
            let is_tag = |position: u64| image.at(position).first() == Some(&b'<');
            let is_within =
                node.parent == NONE || (node.parent as usize) < index && self.table.end_of(node.parent) >= node.end;
            let ends = match self.table.runs.get(node.run as usize) {
                None => is_tag(u64::from(node.pos)).then_some(u64::from(node.pos)),
                Some(run) => run.is_sound(node.pos, |position| image.at(position).first().copied()),
            };
            let is_in_order = u64::from(node.pos) >= last;
            last = ends.unwrap_or(u64::MAX);
            is_within && is_in_order && last <= self.end && node.end as usize <= self.table.nodes.len()
        })
    }

    /// Returns the number of bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let image = self.image().map_or(0, Image::capacity);
        image + self.table.bytes() + self.prologue.bytes() + size_of::<Self>()
    }
}

/// Returns the name in the last end tag of a text, and what is before it.
fn last_end_tag(text: &[u8]) -> Option<(&[u8], &str)> {
    let start = memchr::memmem::rfind(text, b"</")?;
    let name = std::str::from_utf8(&text[start + 2..]).ok()?;
    Some((&text[..start], name.split_once('>')?.0.trim_end()))
}

/// Creates the template of a message that was not read to its end.
#[cfg(test)]
pub(crate) fn template_without_image() -> Template {
    let limits = Limits::default();
    let reader = Reader::new(limits, deltasoap_xml::Instructions::Refuse);
    let rules = Rules { is_encoded: false, limits, tolerance: Tolerance::Strict };
    let prologue = Prologue::new(&reader, b"<r>", rules, Identity::Static(0));
    let trees = OperationTrees::default();
    Template { table: Table::default(), image: Arc::default(), prologue, start: 3, end: 9, trees, is_whole: false }
}

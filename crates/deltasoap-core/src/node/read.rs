//! Reads trees.
//!
//! The tree itself records the progress: the open elements are the last children at each level. A
//! routine that pauses finds its way back along them. Content that repeats earlier content is read
//! without tokens: see [`tags`](super::tags).

use super::tags::Next;
use super::{Bindings, Child, Node};
use crate::decode::{Cursor, Step};
use crate::schema::owned;
use crate::schema::{NamePart, QName};
use deltasoap_xml::{Event, NameId, Names, Reader};

/// In an element's content.
const INSIDE: u8 = 0;
/// At a start tag that refers to an element that has not arrived yet.
const TAG: u8 = 1;

/// Reads an element whose start tag was just read, up to and including its end tag.
pub(super) fn decode(root: &mut Node, cursor: &mut Cursor<'_>) -> Step {
    let (me, fresh) = cursor.enter();
    let base = cursor.frame(me).depth as usize;
    if fresh {
        cursor.take_inline();
        cursor.keep_elsewhere();
        cursor.note_if_id()?;
        *root = Node::default();
        open_root(root, cursor)?;
        cursor.enter_tree();
    }
    let is_at_tag = cursor.frame(me).state == TAG;
    let depth = cursor.reader().depth() - usize::from(is_at_tag);
    go_on(root, cursor, me, depth - base)?;
    cursor.leave(me);
    Ok(())
}

/// Continues with the innermost open element, `levels` levels further in.
fn go_on(node: &mut Node, cursor: &mut Cursor<'_>, me: usize, levels: usize) -> Step {
    if levels > 0 {
        go_on(last_element(node), cursor, me, levels - 1)?;
    } else if cursor.frame(me).state == TAG {
        read_child(node, cursor, me)?;
    }
    read_content(node, cursor, me)
}

/// Reads the rest of an element's content, and its end tag.
fn read_content(node: &mut Node, cursor: &mut Cursor<'_>, me: usize) -> Step {
    loop {
        match cursor.next_in_tree(node) {
            Next::Child => {
                read_child(node, cursor, me)?;
                continue;
            }
            Next::End => return Ok(()),
            Next::Unknown => {}
        }
        match cursor.event()? {
            Event::Start => {
                cursor.learn_in_tree();
                read_child(node, cursor, me)?;
            }
            Event::End | Event::Done => {
                cursor.leave_in_tree();
                return Ok(());
            }
            Event::Text(text) => push_text(node, text),
            Event::Char(c) => push_text(node, c.encode_utf8(&mut [0; 4])),
        }
    }
}

/// Reads the child whose start tag was just read, or the one that it refers to.
fn read_child(node: &mut Node, cursor: &mut Cursor<'_>, me: usize) -> Step {
    cursor.frame(me).state = TAG;
    let back = cursor.visit_in_tree()?;
    cursor.frame(me).state = INSIDE;
    if back.is_none() {
        push_child(node, Child::Element(Node::default()));
        let child = last_element(node);
        open(child, cursor)?;
        return read_content(child, cursor, me);
    }
    // The message is complete by now, so nothing pauses here.
    let mut child = Node::default();
    decode(&mut child, cursor)?;
    cursor.come_back(back);
    cursor.hide_default_namespace(&mut child);
    push_child(node, Child::Element(child));
    Ok(())
}

impl Cursor<'_> {
    /// Hides the surrounding default namespace from a tree that was read elsewhere, if there was no
    /// default namespace there.
    fn hide_default_namespace(&mut self, tree: &mut Node) {
        if tree.bindings.iter().any(|(prefix, _)| prefix.is_empty()) {
            return;
        }
        // Trees in one scope share their bindings, so they share the extended bindings too.
        let hidden = &mut self.state().trees.hidden;
        if hidden.as_ref().is_none_or(|(bindings, _)| !bindings.is_same(&tree.bindings)) {
            let none = (String::new(), String::new());
            let own = std::iter::once(none).chain(tree.bindings.iter().cloned()).collect();
            *hidden = Some((tree.bindings.clone(), own));
        }
        if let Some((_, own)) = hidden {
            tree.bindings = own.clone();
        }
    }
}

fn last_element(node: &mut Node) -> &mut Node {
    match node.children.last_mut() {
        Some(Child::Element(last)) => last,
        _ => unreachable!("an open element is its parent's last child"),
    }
}

/// Opens the root of a tree, which gets all bindings in scope.
fn open_root(node: &mut Node, cursor: &mut Cursor<'_>) -> Step {
    let limit = cursor.limits().inherited_bindings;
    let bindings = cursor.bindings()?.ok_or_else(|| cursor.limit_error("inherited_bindings", limit))?;
    open(node, cursor)?;
    node.bindings = bindings;
    Ok(())
}

/// Fills in the name and attributes of the start tag just read. Works in place, since a node is too
/// large to be moved.
fn open(node: &mut Node, cursor: &mut Cursor<'_>) -> Step {
    let limit = cursor.limits().bindings_in_scope;
    if cursor.reader().declarations_in_scope() > limit {
        return Err(cursor.limit_error("bindings_in_scope", limit));
    }
    node.name = cursor.shared_name(cursor.accessor_name());
    if cursor.reader().attribute_count() > 0 {
        open_attributes(node, cursor);
    }
    if cursor.reader().tag_has_declarations() {
        node.bindings = own_bindings(cursor.reader());
    }
    cursor.count_in_tree(1 + node.attributes.len() + node.bindings.len())
}

fn open_attributes(node: &mut Node, cursor: &mut Cursor<'_>) {
    let count = cursor.reader().attribute_count();
    let known_id = (0..count).find(|&index| cursor.is_known_id(index));
    node.attributes.reserve_exact(count);
    for index in (0..count).filter(|&index| Some(index) != known_id) {
        let name = cursor.shared_name(cursor.reader().attribute(index).0);
        node.attributes.push((name, cursor.reader().attribute(index).1.into()));
    }
}

/// Names that trees were read with. Each is created once.
#[derive(Debug, Default)]
pub(crate) struct SharedNames {
    /// The reader's identity, and the number of times it has forgotten names.
    epoch: (u64, u64),
    /// Names by the reader's numbers.
    names: Vec<Option<QName>>,
    namespaces: Vec<Option<NamePart>>,
}

impl SharedNames {
    /// Forgets the names that the reader has forgotten.
    pub(crate) fn reset(&mut self, epoch: (u64, u64)) {
        if self.epoch != epoch {
            *self = SharedNames { epoch, ..SharedNames::default() };
        }
    }

    /// Returns the name with this number.
    #[inline]
    pub(crate) fn get(&mut self, names: &Names, id: NameId) -> QName {
        match self.names.get(id.index()) {
            Some(Some(name)) => name.clone(),
            _ => self.add(names, id),
        }
    }

    #[cold]
    fn add(&mut self, names: &Names, id: NameId) -> QName {
        let namespace = entry(&mut self.namespaces, names.namespace_id(id).index());
        let namespace = namespace.get_or_insert_with(|| names.namespace(id).into()).clone();
        let name = QName { namespace, local: names.local(id).into() };
        *entry(&mut self.names, id.index()) = Some(name.clone());
        name
    }
}

fn entry<T: Clone>(all: &mut Vec<Option<T>>, index: usize) -> &mut Option<T> {
    if all.len() <= index {
        all.resize(index + 1, None);
    }
    &mut all[index]
}

fn own_bindings(reader: &Reader) -> Bindings {
    reader.declarations().filter(|(prefix, _)| *prefix != "xml").map(owned).collect()
}

/// Appends a child. Most elements have one child, a text, and a vector would reserve space for
/// four.
fn push_child(node: &mut Node, child: Child) {
    if node.children.is_empty() {
        node.children.reserve_exact(1);
    }
    node.children.push(child);
}

pub(super) fn push_text(node: &mut Node, text: &str) {
    match node.children.last_mut() {
        Some(Child::Text(last)) => last.push_str(text),
        _ => push_child(node, Child::Text(text.into())),
    }
}

//! Predicted markup: elements of one type repeat the same tags in the same order.
//!
//! Flat items have their own loop ([`flat`](super::flat)). Every other element has a [`Shape`], one
//! per type and scope. The shape remembers the start tag of each field and which field came next:
//!
//! ```text
//! <config><cpu>..</cpu><memory>..</memory></config>      start -> <cpu> -> <memory> -> end
//!
//! at a child:  compare the next bytes with the start tags that followed last time
//!     leaf         parse the text, compare the end tag: no token, no frame
//!     other child  open it with the name and attributes it had last time; its own routine continues
//!     mismatch     the general routine reads the tag from its start, and the shape learns it
//! ```
//!
//! Why this is correct: a tag's meaning depends on its bytes and on the declarations in scope.
//! Which field it opens depends on the schema, on the previous field and on how often that field
//! occurred. A shape belongs to one schema element and one scope, and occurrences are checked
//! against the field's bounds. So the fast path accepts only what the general routine accepted in
//! an equal state, and it never reports an error: it falls back.
//!
//! Shapes outlive a message, since a service receives similar messages. They hold no attribute
//! values, except those of `xsi:type` and `xsi:nil`, which decide how the content is read: decoders
//! serve several clients. A shape starts to learn with its second element, so a message without
//! repetition copies no tags.
//!
//! Frames and open elements are the same with and without prediction. So it works with chunks cut
//! anywhere, within references, and while a message is recorded for the next one. It is off while
//! an old value is read over, and while a policy of another crate is active.
//!
//! Decoders do not share shapes. Names and scopes in a shape are numbers of one reader, and a
//! shared table would need a lock, or a copy for each message. Little would be gained: a service
//! pools its decoders, so it has only as many as it reads requests at once. Functions that read a
//! single message (`decode_request`, `from_slice`, `Node::parse`) use the decoder of their thread,
//! which already knows names and shapes.

use super::flat::FlatSource;
use super::references::marks;
use super::{Cursor, Expected, State, nil_value};
use crate::ns;
use crate::schema::{Builtin, ComplexElement, Compositor, Field, Identity, View};
use deltasoap_xml::lexical::Lexical;
use deltasoap_xml::{KnownTag, NameId, Names, Reader, ScopeId};
use foldhash::quality::RandomState;
use std::collections::HashMap;

/// Limits on the shapes of a decoder: their number, and their size in bytes (an estimate). A
/// decoder that reaches one stops learning, and drops all shapes after [`MAX_FULL`] more messages.
/// If it dropped them at once, it would learn the same shapes again and again.
const MAX_SHAPES: usize = 512;
const MAX_BYTES: usize = 128 << 10;
const MAX_FULL: u32 = 8;
/// Maximum number of times that a field's tag is replaced because its attributes changed.
const MAX_CHANGES: u8 = 8;
/// Number of times that the text of a leaf may need the general routines (references, CDATA,
/// comments) before prediction gives up on the leaf.
const MAX_MISSES: u8 = 8;

/// Bytes that a shape takes per field, without the tag.
const FIELD: usize = size_of::<Option<Box<Tag>>>() + size_of::<[u32; 2]>() + size_of::<bool>();

/// No field.
const NONE: u32 = u32::MAX;

/// The shapes of elements, by schema element and scope.
#[derive(Debug, Default)]
pub(crate) struct Predicted {
    shapes: Vec<Shape>,
    index: HashMap<Key, ShapeId, RandomState>,
    bytes: usize,
    /// Messages since a limit was reached.
    full: u32,
    /// The reader's epoch in which the interned names and scopes are valid.
    epoch: (u64, u64),
    is_off: bool,
    /// The last child that an element with a shape opened.
    opened: Option<Opened>,
}

/// A child's start tag.
#[derive(Debug, Clone, Copy)]
struct Opened {
    /// The parent's shape, and the child's field in it.
    around: ShapeId,
    field: usize,
    /// The tag's position in the message, to check that it is the current tag.
    offset: u64,
    /// True if no attribute makes it refer to another element, or be referred to.
    is_unmarked: bool,
}

type Key = (Identity, ScopeId);

/// The id of a shape, in the frame of a routine that has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShapeId(Option<std::num::NonZeroU32>);

/// The expected content of elements with one schema element in one scope.
#[derive(Debug)]
struct Shape {
    key: Key,
    /// False if the meaning of a tag depends on more than the previous field.
    is_fit: bool,
    /// True from the second element on.
    is_repeated: bool,
    /// The tag of each field.
    tags: Vec<Option<Box<Tag>>>,
    /// At `field + 1`, the two fields that followed it most recently; at 0, those that came first
    /// in the element.
    next: Vec<[u32; 2]>,
    /// Same index: true if a complete element ended there.
    ends: Vec<bool>,
}

/// A field's tag.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) known: KnownTag,
    /// True if its content is text of a simple type.
    pub(crate) is_leaf: bool,
    /// True if no attribute makes it refer to another element, or be referred to.
    pub(crate) is_unmarked: bool,
    /// The shape of its content.
    shape: ShapeId,
    /// The meaning of its attributes for the content, once it was read.
    attributes: Option<Attributes>,
    changes: u8,
    misses: u8,
}

/// The meaning of the attributes of a tag.
#[derive(Debug)]
pub(crate) struct Attributes {
    /// Attributes of the schema, with the index of each in the tag; `None` for those that have
    /// their default.
    pub(crate) known: Box<[(usize, Option<usize>)]>,
}

impl Tag {
    /// Returns the approximate memory in bytes.
    fn size(&self) -> usize {
        size_of::<Self>() + self.known.size()
    }
}

impl ShapeId {
    fn new(index: usize) -> Self {
        ShapeId(std::num::NonZeroU32::new(index as u32 + 1))
    }

    fn index(self) -> Option<usize> {
        self.0.map(|id| id.get() as usize - 1)
    }

    #[inline]
    pub(crate) fn is_some(self) -> bool {
        self.0.is_some()
    }
}

impl Predicted {
    pub(crate) fn switch_off(&mut self) {
        self.is_off = true;
    }

    /// Prepares for the next message.
    pub(crate) fn reset(&mut self, epoch: (u64, u64)) {
        self.opened = None;
        self.full += u32::from(self.is_full());
        if self.epoch != epoch || self.full >= MAX_FULL {
            self.shapes.clear();
            self.index.clear();
            (self.bytes, self.full, self.epoch) = (0, 0, epoch);
        }
    }

    fn is_full(&self) -> bool {
        self.shapes.len() >= MAX_SHAPES || self.bytes >= MAX_BYTES
    }

    fn shape(&self, id: ShapeId) -> Option<&Shape> {
        self.shapes.get(id.index()?)
    }

    fn tag(&mut self, id: ShapeId, field: usize) -> Option<&mut Tag> {
        self.shapes.get_mut(id.index()?)?.tags.get_mut(field)?.as_deref_mut()
    }

    /// Returns the shape of an element that starts, if its markup can be predicted.
    fn enter(&mut self, key: Key, offset: u64, complex: &ComplexElement) -> ShapeId {
        let hint = self.opened_tag(offset).map_or(ShapeId::default(), |tag| tag.shape);
        if self.shape(hint).is_some_and(|shape| shape.key == key) {
            return self.enter_again(hint);
        }
        let id = match self.index.get(&key) {
            Some(&id) => self.enter_again(id),
            None if self.is_full() => return ShapeId::default(),
            None => self.insert(key, complex),
        };
        if let Some(tag) = self.opened_tag(offset) {
            tag.shape = id;
        }
        id
    }

    /// Returns the current tag, at `offset`, if it is known.
    fn opened_tag(&mut self, offset: u64) -> Option<&mut Tag> {
        let opened = self.opened.filter(|opened| opened.offset == offset)?;
        self.tag(opened.around, opened.field)
    }

    /// Returns true if the current tag, at `offset`, is known to contain no reference and no id.
    #[inline]
    pub(crate) fn is_unmarked(&self, offset: u64) -> bool {
        self.opened.is_some_and(|opened| opened.is_unmarked && opened.offset == offset)
    }

    /// Returns the meaning of the current tag's attributes, if it is known.
    #[inline]
    pub(crate) fn attributes(&self, offset: u64) -> Option<&Attributes> {
        let opened = self.opened.filter(|opened| opened.is_unmarked && opened.offset == offset)?;
        self.shape(opened.around)?.tags.get(opened.field)?.as_deref()?.attributes.as_ref()
    }

    fn enter_again(&mut self, id: ShapeId) -> ShapeId {
        let Some(shape) = id.index().and_then(|index| self.shapes.get_mut(index)) else { return ShapeId::default() };
        shape.is_repeated = true;
        if shape.is_fit { id } else { ShapeId::default() }
    }

    fn insert(&mut self, key: Key, complex: &ComplexElement) -> ShapeId {
        let id = ShapeId::new(self.shapes.len());
        self.index.insert(key, id);
        let (tags, next, ends) = Default::default();
        self.shapes.push(Shape { key, is_fit: is_fit(complex), is_repeated: false, tags, next, ends });
        if is_fit(complex) { id } else { ShapeId::default() }
    }

    /// Compares the bytes at `at` with the tags of the fields that followed `after`. Returns the
    /// field, its tag and the tag's end.
    #[inline]
    pub(crate) fn find(&self, id: ShapeId, after: usize, bytes: &[u8], at: usize) -> Option<(usize, &Tag, usize)> {
        let shape = self.shape(id)?;
        shape.next.get(after)?.iter().find_map(|&field| {
            let tag = shape.tags.get(field as usize)?.as_deref()?;
            Some((field as usize, tag, tag.known.start(bytes, at)?))
        })
    }

    /// Records that a field's known start tag was opened.
    #[inline]
    pub(crate) fn open(&mut self, around: ShapeId, field: usize, offset: u64, is_unmarked: bool) {
        self.opened = Some(Opened { around, field, offset, is_unmarked });
    }

    /// Returns true if complete elements have ended after this field.
    #[inline]
    pub(crate) fn may_end(&self, id: ShapeId, after: usize) -> bool {
        self.shape(id).is_some_and(|shape| shape.ends.get(after) == Some(&true))
    }

    /// Records that a complete element ended after this field.
    pub(crate) fn learn_end(&mut self, id: ShapeId, after: usize) {
        let shape = id.index().and_then(|index| self.shapes.get_mut(index));
        if let Some(end) = shape.and_then(|shape| shape.ends.get_mut(after)) {
            *end = true;
        }
    }

    /// Records that the general routines must read a leaf's text.
    pub(crate) fn miss(&mut self, id: ShapeId, field: usize) {
        if let Some(tag) = self.tag(id, field) {
            tag.misses += 1;
            tag.is_leaf = tag.misses < MAX_MISSES;
        }
    }
}

/// Returns true if a tag's name and the previous field decide which field the tag opens.
fn is_fit(complex: &ComplexElement) -> bool {
    const MAX_FIELDS: usize = 256;
    let fields = &complex.fields[..];
    let is_new = |(index, field): (usize, &Field)| fields[..index].iter().all(|other| other.name != field.name);
    complex.compositor != Compositor::Choice
        && complex.choices.is_empty()
        && (1..=MAX_FIELDS).contains(&fields.len())
        && fields.iter().all(|field| !field.inline)
        && fields.iter().enumerate().all(is_new)
}

/// Returns true for attributes whose values are part of a known tag, since they decide how the
/// content is read: `xsi:type` and `xsi:nil`.
pub(crate) fn decides_type(names: &Names, name: NameId) -> bool {
    is_type_or_nil(names.namespace(name), names.local(name))
}

/// Like [`decides_type`], for the parts of a name.
pub(crate) fn is_type_or_nil(namespace: &str, local: &str) -> bool {
    (local == "type" || local == "nil") && namespace == ns::XSI
}

/// Returns true if the start tag just read has attributes other than `xsi:type`: a leaf's value may
/// depend on them.
fn has_values(reader: &Reader) -> bool {
    let mut names = (0..reader.attribute_count()).map(|index| reader.attribute(index).0);
    names.any(|name| !reader.names().is(name, ns::XSI, "type"))
}

/// Returns true unless the current start tag has an `xsi:type` that is not a valid name, or an
/// `xsi:nil` that is not a boolean; such an element is invalid.
fn has_valid_type_and_nil(reader: &Reader) -> bool {
    let names = reader.names();
    let mut attributes = (0..reader.attribute_count()).map(|index| reader.attribute(index));
    attributes.all(|(name, text)| {
        !decides_type(names, name)
            || match names.local(name) {
                "nil" => nil_value(text).is_some(),
                _ => reader.resolve(text.trim_ascii()).is_some(),
            }
    })
}

/// The text of a leaf, up to the leaf's end tag: a [`FlatSource`] of one value.
pub struct Leaf<'l> {
    bytes: &'l [u8],
    pos: usize,
    /// The position after the end tag, once the text was read.
    pub(crate) end: usize,
    tag: &'l KnownTag,
    text_limit: usize,
}

impl<'l> Leaf<'l> {
    #[inline(always)]
    pub(crate) fn new(bytes: &'l [u8], pos: usize, tag: &'l KnownTag, text_limit: usize) -> Self {
        Leaf { bytes, pos, end: pos, tag, text_limit }
    }

    /// Returns the position after the text, once it was read.
    pub(crate) fn text_end(&self) -> usize {
        self.pos
    }
}

impl FlatSource for Leaf<'_> {
    fn named_type(&mut self) -> Option<Builtin> {
        None
    }

    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &mut T) -> Option<()> {
        let used = value.scan_into(self.bytes.get(self.pos..)?)?;
        self.pos += used;
        self.end = self.tag.end(self.bytes, self.pos)?;
        (used <= self.text_limit).then_some(())
    }
}

impl Cursor<'_> {
    /// Returns the shape of the element whose start tag was just read.
    pub(crate) fn shape(&mut self, view: View<'_>, complex: &ComplexElement) -> ShapeId {
        let State { expected: Expected { shapes: predicted, .. }, reader, hooks, limits, .. } = self.state();
        if predicted.is_off || hooks.is_busy() || limits.text == 0 || reader.tag_is_empty() {
            return ShapeId::default();
        }
        predicted.enter((view.identity(), reader.scope()), reader.tag_offset(), complex)
    }

    /// Records the field that the start tag just read opened, and the tag itself. `after` is 0 for
    /// the first field, else the previous field's index plus one.
    pub(crate) fn learn_tag(
        &mut self,
        id: ShapeId,
        after: usize,
        field: usize,
        complex: &ComplexElement,
        is_leaf: bool,
    ) {
        let (window, State { expected: Expected { shapes: predicted, .. }, reader, .. }) = self.parts();
        let start = reader.tag_offset().checked_sub(window.base).map(|start| start as usize);
        let Some(found) = start.and_then(|start| window.bytes.get(start..window.pos)) else { return };
        let is_full = predicted.is_full();
        let Some(shape) = id.index().and_then(|index| predicted.shapes.get_mut(index)) else { return };
        if is_full || !shape.is_repeated {
            return;
        }
        if shape.next.is_empty() {
            shape.next.resize(complex.fields.len() + 1, [NONE; 2]);
            shape.ends.resize(complex.fields.len() + 1, false);
            shape.tags.resize_with(complex.fields.len(), || None);
            predicted.bytes += (complex.fields.len() + 1) * FIELD;
        }
        let next = &mut shape.next[after];
        if next[0] != field as u32 {
            *next = [field as u32, next[0]];
        }
        let slot = &mut shape.tags[field];
        let changes = match slot.as_deref() {
            // Later findings about the current tag belong to exactly this tag, not to another tag
            // of the same field.
            Some(tag) if tag.known.is(found) => return predicted.open(id, field, reader.tag_offset(), false),
            Some(tag) if tag.changes == MAX_CHANGES => return,
            Some(tag) => tag.changes + 1,
            None => 0,
        };
        // The general routines decide which error of a tag is reported, each time.
        if !has_valid_type_and_nil(reader) {
            return;
        }
        let Some(known) = reader.known_tag(found, decides_type) else { return };
        let is_unmarked = !marks::has_marks(reader);
        let is_leaf = is_leaf && !has_values(reader);
        let before = slot.as_ref().map_or(0, |tag| tag.size());
        let tag = slot.insert(Box::new(Tag {
            known,
            is_leaf,
            is_unmarked,
            shape: ShapeId::default(),
            attributes: None,
            changes,
            misses: 0,
        }));
        predicted.bytes = predicted.bytes + tag.size() - before;
        predicted.open(id, field, reader.tag_offset(), false);
    }

    /// Records the meaning of the attributes of the start tag just read, if the tag is known.
    pub(crate) fn learn_attributes(&mut self, attributes: impl FnOnce(&Reader) -> Attributes) {
        let State { expected: Expected { shapes: predicted, .. }, reader, .. } = self.state();
        if let Some(tag) = predicted.opened_tag(reader.tag_offset())
            && tag.attributes.is_none()
        {
            tag.attributes = Some(attributes(reader));
        }
    }
}

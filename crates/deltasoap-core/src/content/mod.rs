//! The two traits between the engine and the types it reads and writes.
//!
//! [`Content`] is the content of one element: a number, a struct, a SOAP array, a dynamic value.
//! [`Occurs`] is how often such an element occurs in its parent: exactly once, at most once
//! (`Option`), any number of times (`Vec`), or nil ([`Nillable`](crate::Nillable)). The derive
//! macro implements both by thin calls into the routines of [`decode`](crate::decode) and
//! [`encode`](crate::encode). All progress of a decode is kept in the cursor's frames. An
//! implementation must not keep progress in local variables across a call that can pause.
//!
//! Optimizations for common shapes are separate, in [`Shortcuts`] and [`ListShortcuts`]. A manual
//! implementation can leave them empty (`impl Shortcuts for MyType {}`).

pub mod compact;
mod shortcuts;

pub use shortcuts::{ListShortcuts, Shortcuts};

use crate::Lexical;
use crate::decode::flat::{Patch, Run};
use crate::decode::{Cursor, DecodeFields, Step};
use crate::encode::differential::Stamp;
use crate::encode::{EncodeFields, Encoder};
use crate::schema::{Builtin, Choice, Element, ElementRef, Field, QName, View};

/// A position after all others, where no old value exists.
pub const APPENDED: usize = usize::MAX;

/// The content of one element.
pub trait Content: Shortcuts + 'static {
    /// True if [`decode`](Self::decode) replaces any previous value. If false, the value must be
    /// vacant before.
    const REPLACES: bool = Self::COMPACT;

    /// Returns the value that decoding starts from.
    fn vacant(view: View<'_>) -> Self;

    /// Returns the value of an array item that a message omits (SOAP 1.1, section 5.4.2.1).
    fn omitted(view: View<'_>, is_nillable: bool) -> Self {
        let _ = is_nillable;
        Self::vacant(view)
    }

    /// Reads the content of an element whose start tag was just read, up to and including its end
    /// tag. After a pause, continues where the last call stopped.
    ///
    /// # Errors
    /// Returns [`Stop::Pending`](crate::decode::Stop::Pending) if more bytes are needed, otherwise
    /// the error found.
    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step;

    /// Writes the content: attributes, then (after [`Encoder::open_end`]) children or text.
    fn encode(&self, encoder: &mut Encoder, view: View<'_>);

    /// Writes the content without an element of its own. Only choices and trees support this
    /// ([`Field::inline`]); other types write nothing.
    fn encode_inline(&self, encoder: &mut Encoder, view: View<'_>) {
        let _ = (encoder, view);
    }
}

/// The encoding part of [`Content`] as an object: code that writes messages is compiled once, not
/// for each type.
pub trait Encode {
    /// See [`Content::encode`].
    fn encode(&self, encoder: &mut Encoder, view: View<'_>);

    /// See [`Content::encode_inline`].
    fn encode_inline(&self, encoder: &mut Encoder, view: View<'_>);

    /// See [`Shortcuts::stamp`].
    fn stamp(&self) -> Option<Stamp>;
}

impl<T: Content> Encode for T {
    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        T::encode(self, encoder, view);
    }

    fn encode_inline(&self, encoder: &mut Encoder, view: View<'_>) {
        T::encode_inline(self, encoder, view);
    }

    fn stamp(&self) -> Option<Stamp> {
        T::stamp(self)
    }
}

/// A type with a static schema: all types but dynamic values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no schema of its own",
    note = "derive `Soap` for it; `Option` and `Vec` say how often an element occurs and are not content themselves"
)]
pub trait Typed: Content {
    /// The name of the type, as in `xsi:type`.
    const TYPE_NAME: QName;

    /// The name of items of this type in SOAP arrays that do not specify another.
    const ITEM_NAME: &'static str = "item";

    /// Returns the type's description.
    fn element() -> &'static Element;

    /// True if nil is distinguished from content: [`Nillable`](crate::Nillable).
    const NILLABLE: bool = false;

    /// True for choices, and for trees, which can be any element. Only they can be
    /// [inline](Field::inline).
    const CHOICE: bool = false;

    /// A reference to the description, for `static` schemas.
    const REFERENCE: ElementRef = ElementRef::Static(Self::element);

    /// Returns a view of the description.
    fn view() -> View<'static> {
        View::of(Self::element())
    }
}

/// A simple type that is, or restricts, a built-in one, and that a new type can be derived from.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a simple type",
    note = "a tuple struct restricts a built-in type or an enumeration; use named fields for anything else"
)]
pub trait SimpleType: Typed + Lexical {
    /// The built-in type.
    const BASE: Builtin;
}

/// Content with an element of its own (a global element declaration, XSD 1.0 part 1, 3.3): a
/// message's body, a header block, a fault's detail.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no element name",
    note = "give it `#[soap(element = \"...\")]` or `#[soap(message)]`"
)]
pub trait Message: Typed {
    /// The element's name. An empty name means no element: the body of such a message is empty, or
    /// holds an element for each field.
    const ELEMENT: QName;

    /// True if the body holds an element for each field, without a wrapper element: see
    /// [`BodyParts`](crate::soap::BodyParts).
    const HAS_PARTS: bool = false;

    /// Makes room for a field, whose start tag was just read. Called only for messages that have
    /// parts.
    fn open_part(&mut self, part: usize, content: View<'_>) {
        let _ = (part, content);
    }

    /// Reads the last opened field; see [`Content::decode`]. Called only for messages that have
    /// parts.
    ///
    /// # Errors
    /// Same as [`Content::decode`].
    fn decode_part(&mut self, part: usize, cursor: &mut Cursor<'_>, content: View<'_>) -> Step {
        let _ = (part, cursor, content);
        Ok(())
    }
}

/// A message that calls an operation, with the type of the operation's response. Derived by
/// `#[soap(response = Type)]`.
///
/// A client returns [`Response`](Self::Response) for such a request, so the caller need not name
/// it. A message without this trait can still be sent; the caller then names the type of the
/// response. So can a message that several operations answer in different ways.
#[diagnostic::on_unimplemented(
    message = "the response to `{Self}` is not known",
    note = "give it `#[soap(response = ...)]`, or name the response's type in the call: `call_as::<Response>(...)`"
)]
pub trait RequestMessage: Message {
    /// The body of the operation's response.
    type Response: Message + Send + 'static;
}

/// A child element's value as a field of its parent: how often it occurs. Each such type has
/// [`ListShortcuts`] too.
// Not as a bound: compilers would report the lack of it for each item of this trait that is used.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of an element",
    label = "messages cannot contain this type",
    note = "a field is of a built-in type of XML Schema (`bool`, `i32`, `f64`, `String`, `lexical::DateTime` and others), a \
            type that derives `Soap`, or an `Option` or `Vec` of one; convert other types to one of these"
)]
pub trait Occurs: Sized {
    /// `minOccurs`.
    const MIN: u32;
    /// `maxOccurs`, `None` for unbounded.
    const MAX: Option<u32>;
    /// True if nil is distinguished from content.
    const NILLABLE: bool;
    /// The reference to the content's description.
    const REFERENCE: ElementRef;
    /// True if the content is a choice or a tree: only such fields can be [inline](Field::inline).
    const CHOICE: bool = false;

    /// True for an `Option` that does not distinguish nil from absent.
    const NIL_IS_ABSENT: bool = Self::MIN == 0 && matches!(Self::MAX, Some(1)) && !Self::NILLABLE && !Self::CHOICE;

    /// True for lists.
    const LIST: bool = Self::MAX.is_none();

    /// Returns a view of the content's description, for calls from typed code, which has no schema.
    #[inline]
    fn content_view() -> View<'static> {
        View::from_static(Self::REFERENCE)
    }

    /// Returns the value of a field that does not occur, which is also the value that decoding
    /// starts from.
    fn vacant(view: View<'_>) -> Self;

    /// Like [`vacant`](Self::vacant), for typed code.
    fn absent() -> Self {
        Self::vacant(Self::content_view())
    }

    /// Makes room for an occurrence, whose start tag was just read. It replaces the occurrence at
    /// `place`, or becomes the last one if there are fewer ([`APPENDED`]). Returns its position; 0
    /// if there can be only one.
    fn open(&mut self, place: usize, view: View<'_>) -> usize;

    /// Removes occurrences from a list and inserts vacant ones, to be read. Does nothing for types
    /// that are not lists. Returns the number of bytes moved.
    fn splice(&mut self, place: usize, removed: usize, inserted: usize, view: View<'_>) -> usize {
        let _ = (place, removed, inserted, view);
        0
    }

    /// Keeps the first `count` occurrences. If `count` is 0, the field becomes absent.
    fn keep(&mut self, count: usize, view: View<'_>);

    /// Returns true if the field is absent. `None` for types that cannot be absent, or that
    /// distinguish nil from absent: see [`DecodeFields::is_absent`].
    fn is_absent(&self) -> Option<bool> {
        None
    }

    /// Reads the content of the last opened occurrence, which is at [`Cursor::place`]; see
    /// [`Content::decode`].
    ///
    /// # Errors
    /// Same as [`Content::decode`].
    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step;

    /// Writes every occurrence as an element with the field's name.
    fn encode(&self, encoder: &mut Encoder, field: &Field, view: View<'_>);
}

/// Fields without an element around them: they are fields of the element that contains the group. A
/// group is a choice between groups ([`Choice`]), or a sequence that is a branch of such a choice.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a group of elements",
    note = "derive `Soap` for it with `#[soap(group)]`; only a choice can be optional"
)]
pub trait Group: DecodeFields + EncodeFields + Sized {
    /// The fields.
    const FIELDS: &'static [Field];
    /// The choices between them.
    const CHOICES: &'static [Choice];

    /// Returns the value that decoding starts from.
    fn vacant() -> Self;
}

/// An optional choice.
impl<G: Group> Group for Option<G> {
    const FIELDS: &'static [Field] = G::FIELDS;
    const CHOICES: &'static [Choice] = &[G::CHOICES[0].optional()];

    fn vacant() -> Self {
        None
    }
}

impl<G: Group> DecodeFields for Option<G> {
    fn open(&mut self, field: usize, place: usize, view: View<'_>) -> usize {
        self.get_or_insert_with(G::vacant).open(field, place, view)
    }

    fn splice(&mut self, field: usize, place: usize, removed: usize, inserted: usize, view: View<'_>) -> usize {
        self.as_mut().map_or(0, |group| group.splice(field, place, removed, inserted, view))
    }

    fn keep(&mut self, field: usize, count: usize, view: View<'_>) {
        self.iter_mut().for_each(|group| group.keep(field, count, view));
    }

    fn decode_field(&mut self, field: usize, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        self.get_or_insert_with(G::vacant).decode_field(field, cursor, view)
    }

    fn run(&mut self, field: usize, cursor: &mut Cursor<'_>, decl: &Field, view: View<'_>) -> Run {
        self.as_mut().map_or(Run::Items(0), |group| group.run(field, cursor, decl, view))
    }

    fn patch(&mut self, field: usize, cursor: &mut Cursor<'_>, view: View<'_>) -> Patch {
        let other = Patch::Other { field: 0, count: 0 };
        self.as_mut().map_or(other, |group| group.patch(field, cursor, view))
    }

    fn item_leaves(&self, field: usize, view: View<'_>) -> Option<usize> {
        self.as_ref()?.item_leaves(field, view)
    }

    fn vacate(&mut self, _: View<'_>) {
        *self = None;
    }
}

impl<G: Group> EncodeFields for Option<G> {
    fn encode_field(&self, index: usize, encoder: &mut Encoder, field: &Field, view: View<'_>) {
        self.iter().for_each(|group| group.encode_field(index, encoder, field, view));
    }
}

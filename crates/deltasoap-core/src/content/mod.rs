//! The two traits between the engine and the types it reads and writes.
//!
//! [`Content`] is what stands inside one element: a number, a struct, a SOAP array, a dynamic
//! value. [`Occurs`] is how often such an element stands in its parent: exactly once, at most once
//! (`Option`), any number of times (`Vec`), or nil ([`Nillable`](crate::Nillable)). The derive
//! macro implements both by thin calls into the routines of [`decode`](crate::decode) and
//! [`encode`](crate::encode); all progress of a decode lives in the cursor's frames, so an
//! implementation must keep none in local variables across a call that can pause.
//!
//! What makes common shapes fast is apart, in [`Shortcuts`] and [`ListShortcuts`]: an
//! implementation by hand leaves them empty (`impl Shortcuts for MyType {}`) and is right.

pub mod compact;
mod shortcuts;

pub use shortcuts::{ListShortcuts, Shortcuts};

use crate::Lexical;
use crate::decode::flat::{Patch, Run};
use crate::decode::{Cursor, DecodeFields, Step};
use crate::encode::differential::Stamp;
use crate::encode::{EncodeFields, Encoder};
use crate::schema::{Builtin, Choice, Element, ElementRef, Field, QName, View};

/// Stands for a place after all others, where no old value is.
pub const APPENDED: usize = usize::MAX;

/// The content of one element.
pub trait Content: Shortcuts {
    /// True if [`decode`](Self::decode) replaces whatever value it finds; else it must find a
    /// vacant one.
    const REPLACES: bool = Self::COMPACT;

    /// Returns the value that decoding starts from.
    fn vacant(view: View<'_>) -> Self;

    /// Returns the value of an array's item that a message leaves out (SOAP 1.1, section 5.4.2.1).
    fn omitted(view: View<'_>, is_nillable: bool) -> Self {
        let _ = is_nillable;
        Self::vacant(view)
    }

    /// Reads the content of an element whose start tag has just been read, up to and with its end
    /// tag; or goes on where the last call paused.
    ///
    /// # Errors
    /// [`Stop::Pending`](crate::decode::Stop::Pending) when more bytes are needed, else the fault
    /// found.
    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step;

    /// Writes the content: attributes, then (after [`Encoder::open_end`]) children or text.
    fn encode(&self, encoder: &mut Encoder, view: View<'_>);

    /// Writes the content where it has no element of its own: only choices and trees can stand
    /// so ([`Field::inline`]); nothing is written for other types.
    fn encode_inline(&self, encoder: &mut Encoder, view: View<'_>) {
        let _ = (encoder, view);
    }
}

/// [`Content`] as an object, as far as writing needs it: what writes messages is compiled once, not
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

impl Encode for &dyn Encode {
    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        (**self).encode(encoder, view);
    }

    fn encode_inline(&self, encoder: &mut Encoder, view: View<'_>) {
        (**self).encode_inline(encoder, view);
    }

    fn stamp(&self) -> Option<Stamp> {
        (**self).stamp()
    }
}

/// Types that know their own schema: all but dynamic values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no schema of its own",
    note = "derive `Soap` for it; `Option` and `Vec` say how often an element occurs and are not content themselves"
)]
pub trait Typed: Content {
    /// The name of the type, as in `xsi:type`.
    const TYPE_NAME: QName;

    /// The name that items of this type have in SOAP arrays that name no other.
    const ITEM_NAME: &'static str = "item";

    /// Returns the type's description.
    fn element() -> &'static Element;

    /// True if a nil element is kept apart from content: [`Nillable`](crate::Nillable).
    const NILLABLE: bool = false;

    /// True for choices, and for trees, which can be any element: only they can be
    /// [inline](Field::inline).
    const CHOICE: bool = false;

    /// A reference to the description, for `static` schemas.
    const REFERENCE: ElementRef = ElementRef::Static(Self::element);

    /// Returns a view of the description.
    fn view() -> View<'static> {
        View::of(Self::element())
    }
}

/// A simple type that is, or restricts, a built-in one: what a type of its own can be made from.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a simple type",
    note = "a tuple struct restricts a built-in type or an enumeration; use named fields for anything else"
)]
pub trait SimpleType: Typed + Lexical {
    /// The built-in type.
    const BASE: Builtin;
}

/// Content that has an element of its own (a global element declaration, XSD 1.0 part 1, 3.3): a
/// message's body, a header block, a fault's detail.
#[diagnostic::on_unimplemented(
    message = "`{Self}` names no element of its own",
    note = "give it `#[soap(element = \"...\")]` or `#[soap(message)]`"
)]
pub trait Message: Typed {
    /// The element's name. An empty one is that of no element: the body of such a message is empty,
    /// or holds an element for each field.
    const ELEMENT: QName;

    /// True if the body holds an element for each field, without one around them: see
    /// [`BodyParts`](crate::soap::BodyParts).
    const HAS_PARTS: bool = false;

    /// Of a message that has parts: makes room for a field, whose start tag was just read.
    fn open_part(&mut self, part: usize, content: View<'_>) {
        let _ = (part, content);
    }

    /// Of a message that has parts: reads the field last opened; see [`Content::decode`].
    ///
    /// # Errors
    /// Same as [`Content::decode`].
    fn decode_part(&mut self, part: usize, cursor: &mut Cursor<'_>, content: View<'_>) -> Step {
        let _ = (part, cursor, content);
        Ok(())
    }
}

/// A child element's value as a field of its parent: how often it occurs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of an element",
    note = "derive `Soap` for it; items of an `Option` or `Vec` must be types with a schema of their own"
)]
pub trait Occurs: ListShortcuts {
    /// `minOccurs`.
    const MIN: u32;
    /// `maxOccurs`, `None` for unbounded.
    const MAX: Option<u32>;
    /// True if `xsi:nil` is kept apart from content.
    const NILLABLE: bool;
    /// The reference to the content's description.
    const REFERENCE: ElementRef;
    /// True if the content is a choice or a tree: only such fields can be [inline](Field::inline).
    const CHOICE: bool = false;

    /// True for lists.
    const LIST: bool = Self::MAX.is_none();

    /// Returns a view of the content's description, for calls from typed code, which has no schema
    /// at hand.
    #[inline]
    fn content_view() -> View<'static> {
        View::of_static(Self::REFERENCE)
    }

    /// Returns the value of a field that does not occur; also what decoding starts from.
    fn vacant(view: View<'_>) -> Self;

    /// Returns the same for a value of typed code.
    fn absent() -> Self {
        Self::vacant(Self::content_view())
    }

    /// Makes room for an occurrence, whose start tag has just been read: in place of the one at
    /// `place`, or as the last one if there are not so many ([`APPENDED`]). Returns its place; 0
    /// where there can be only one.
    fn open(&mut self, place: usize, view: View<'_>) -> usize;

    /// Takes occurrences out of a list and puts vacant ones in, to be read; nothing for what is no
    /// list. Returns the bytes that were moved for it.
    fn splice(&mut self, place: usize, removed: usize, inserted: usize, view: View<'_>) -> usize {
        let _ = (place, removed, inserted, view);
        0
    }

    /// Keeps the first `count` occurrences. Without any, the field is as if it had not occurred.
    fn keep(&mut self, count: usize, view: View<'_>);

    /// Reads the content of the occurrence last opened, which is at [`Cursor::place`]; see
    /// [`Content::decode`].
    ///
    /// # Errors
    /// Same as [`Content::decode`].
    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step;

    /// Writes every occurrence as an element named as the field says.
    fn encode(&self, encoder: &mut Encoder, field: &Field, view: View<'_>);
}

/// Fields that have no element around them: they stand among those of the element that the group is
/// in. A group is a choice between groups ([`Choice`]), or a sequence that is a branch of such.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no group of elements",
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

/// A choice that need not be made.
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

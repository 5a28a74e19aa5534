//! Optimizations for common shapes, which a type provides by optional methods.
//!
//! Every method has a default that means "no shortcut here"; the general routines then do the work.
//! So no method decides a result: if a shortcut does not apply, the general routine takes over at
//! the byte where the shortcut began. The derive macro implements the methods for structs; dynamic
//! values decide by their schema. For other types, leave the implementation empty. The trait is not
//! sealed, since derived code implements it in other crates. Its methods name types that only the
//! engine creates, so only derived code can use them.
//!
//! A *flat* value has the same markup as all others of its type, so that only its leaves need to be
//! read or written.

use super::Content;
use crate::decode::differential::Mend;
use crate::decode::flat::{Patch, Run};
use crate::decode::{Cursor, FlatSource};
use crate::encode::FlatSink;
use crate::encode::differential::Stamp;
use crate::schema::{Field, View};

/// The shortcuts of [`Content`].
pub trait Shortcuts: Sized {
    /// True for types that [compile small](super::compact): lists of them have no specialized loop.
    const COMPACT: bool = false;

    /// True for values whose type is known only at run time: they may be [mended](Self::mend), and
    /// are [created](Self::fill_flat) in place.
    const DYNAMIC: bool = false;

    /// Replaces a text in the value of the previous message, which differs in texts only. Returns
    /// `None` if that is not possible; the value is then unspecified.
    fn mend(&mut self, view: View<'_>, mend: &Mend<'_>) -> Option<()> {
        let _ = (view, mend);
        None
    }

    /// Returns the state of a value that tracks its changes; `None` for all other values.
    fn stamp(&self) -> Option<Stamp> {
        None
    }

    /// Returns the number of leaves if every value of the type has the same shape: required simple
    /// elements only, at any depth. `None` for all other types. Arrays of such *flat* types are
    /// read and written at full speed.
    #[inline]
    fn flat_leaves(view: View<'_>) -> Option<usize> {
        let _ = view;
        None
    }

    /// Returns true if this value is written with the markup that all flat values of its type
    /// share. False for dynamic values that do not match their schema, and for those whose markup
    /// names their type.
    #[inline]
    fn is_flat(&self, view: View<'_>) -> bool {
        let _ = view;
        true
    }

    /// Reads all leaves of a flat value; returns `None` if the bytes deviate from the learned
    /// markup.
    #[inline]
    fn scan_flat<S: FlatSource>(&mut self, scan: &mut S, view: View<'_>) -> Option<()> {
        let _ = (scan, view);
        None
    }

    /// Returns a value for [`fill_flat`](Self::fill_flat) to overwrite.
    fn blank(view: View<'_>) -> Self
    where
        Self: Content,
    {
        Self::vacant(view)
    }

    /// Like [`scan_flat`](Self::scan_flat), over a [`blank`](Self::blank) value, which is
    /// unspecified if the bytes deviate.
    #[inline(always)]
    fn fill_flat<S: FlatSource>(&mut self, scan: &mut S, view: View<'_>) -> Option<()> {
        self.scan_flat(scan, view)
    }

    /// Returns the number of leading items that have these images
    /// ([`Lexical::count_same`](crate::Lexical::count_same)). Only for types with exactly one leaf;
    /// others return 0, so that their items are compared one by one.
    #[inline]
    fn count_same(items: &[Self], images: &[u8]) -> usize {
        let _ = (items, images);
        0
    }

    /// Passes all leaves of a flat value to a sink, in document order.
    #[inline]
    fn write_flat<S: FlatSink>(&self, sink: &mut S, view: View<'_>) {
        let _ = (sink, view);
    }
}

/// The shortcuts of [`Occurs`](super::Occurs).
// Compilers report the lack of this trait first. It names what the user knows.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of an element",
    label = "messages cannot contain this type",
    note = "a field is of a built-in type of XML Schema (`bool`, `i32`, `f64`, `String`, `lexical::DateTime` and others), a \
            type that derives `Soap`, or an `Option` or `Vec` of one; convert other types to one of these"
)]
pub trait ListShortcuts: Sized {
    /// Reads as many flat items as the window holds, if the type is a list of flat items.
    #[inline]
    fn run(&mut self, cursor: &mut Cursor<'_>, field: &Field, view: View<'_>) -> Run {
        let _ = (cursor, field, view);
        Run::Items(0)
    }

    /// Rereads in place the flat items that differ from those of the previous message. Only for
    /// lists.
    #[inline]
    fn patch(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Patch {
        let _ = (cursor, view);
        Patch::Other { field: 0, count: 0 }
    }

    /// Returns the number of leaves of one occurrence, if flat.
    fn item_leaves(view: View<'_>) -> Option<usize>;

    /// See [`Shortcuts::flat_leaves`]. Only for fields that occur exactly once.
    #[inline]
    fn flat_leaves(view: View<'_>) -> Option<usize> {
        let _ = view;
        None
    }

    /// See [`Shortcuts::is_flat`].
    #[inline]
    fn is_flat(&self, view: View<'_>) -> bool {
        let _ = view;
        true
    }

    /// See [`Shortcuts::scan_flat`].
    #[inline]
    fn scan_flat<S: FlatSource>(&mut self, scan: &mut S, view: View<'_>) -> Option<()> {
        let _ = (scan, view);
        None
    }

    /// See [`Shortcuts::write_flat`].
    #[inline]
    fn write_flat<S: FlatSink>(&self, sink: &mut S, view: View<'_>) {
        let _ = (sink, view);
    }

    /// Reads a leaf, an element whose only content is text of a simple type, as the next
    /// occurrence. Returns `None` if its text is not plain; the general routine then reads the
    /// element from its start.
    #[inline]
    fn scan_leaf<S: FlatSource>(&mut self, scan: &mut S, view: View<'_>) -> Option<()> {
        let _ = (scan, view);
        None
    }
}

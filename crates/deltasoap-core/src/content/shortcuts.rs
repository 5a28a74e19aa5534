//! What makes common shapes fast: optional answers that a type gives about itself.
//!
//! Every method has a default that says "no shortcut here", and the general routines then do the
//! work. So no answer decides a result: a shortcut that does not apply gives way at the byte where
//! it began. The derive macro answers for structs; dynamic values answer by their schema. For other
//! types, leave the implementation empty. The trait is not sealed, since derived code implements it
//! in other crates. Its methods name types that only the engine makes, so that nothing but derived
//! code has use for them.
//!
//! *Flat* is what the answers are about: a value that has the same markup as all others of its
//! type, so that only its leaves need be read or written.

use super::Content;
use crate::decode::differential::Mend;
use crate::decode::flat::{Patch, Run};
use crate::decode::{Cursor, FlatSource};
use crate::encode::FlatSink;
use crate::encode::differential::Stamp;
use crate::schema::{Field, View};

/// The shortcuts of [`Content`].
pub trait Shortcuts: Sized {
    /// True for types that [compile small](super::compact): lists of them have no loop of their
    /// own.
    const COMPACT: bool = false;

    /// True for values whose type is known at run time: they may be [mended](Self::mend), and are
    /// [made](Self::fill_flat) where they stand.
    const DYNAMIC: bool = false;

    /// Puts a text in the place of another one in the value of the message before, which differs in
    /// texts alone. `None` where that cannot be done; the value may be any then.
    fn mend(&mut self, view: View<'_>, mend: &Mend<'_>) -> Option<()> {
        let _ = (view, mend);
        None
    }

    /// Returns the state of a value that tracks its changes; `None` for all others.
    fn stamp(&self) -> Option<Stamp> {
        None
    }

    /// Returns the number of leaves if every value of the type has the same shape: required simple
    /// elements only, at any depth. `None` for all other types. Such *flat* types are read and
    /// written at full speed in arrays.
    #[inline]
    fn flat_leaves(view: View<'_>) -> Option<usize> {
        let _ = view;
        None
    }

    /// Returns true if this value is written with the markup that all flat values of its type
    /// share. Not so for dynamic values of another shape than their schema says, and for those that
    /// name their type in their markup.
    #[inline]
    fn is_flat(&self, view: View<'_>) -> bool {
        let _ = view;
        true
    }

    /// Reads all leaves of a flat value; `None` where the bytes deviate from the learned markup.
    #[inline]
    fn scan_flat<S: FlatSource>(&mut self, scan: &mut S, view: View<'_>) -> Option<()> {
        let _ = (scan, view);
        None
    }

    /// What [`fill_flat`](Self::fill_flat) is to write over.
    fn blank(view: View<'_>) -> Self
    where
        Self: Content,
    {
        Self::vacant(view)
    }

    /// Like [`scan_flat`](Self::scan_flat), over a [`blank`](Self::blank), which is worth nothing
    /// where the bytes deviate.
    #[inline(always)]
    fn fill_flat<S: FlatSource>(&mut self, scan: &mut S, view: View<'_>) -> Option<()> {
        self.scan_flat(scan, view)
    }

    /// Returns the number of of the first items have these images
    /// ([`Lexical::count_same`](crate::Lexical::count_same)): for types with one leaf and no more.
    /// Others say none, which only means that they are compared one by one.
    #[inline]
    fn count_same(items: &[Self], images: &[u8]) -> usize {
        let _ = (items, images);
        0
    }

    /// Hands all leaves of a flat value to a sink, in the order of the document.
    #[inline]
    fn write_flat<S: FlatSink>(&self, sink: &mut S, view: View<'_>) {
        let _ = (sink, view);
    }
}

/// The shortcuts of [`Occurs`](super::Occurs).
pub trait ListShortcuts: Sized {
    /// Reads as many flat items as the window holds, where the type is a list of such.
    #[inline]
    fn run(&mut self, cursor: &mut Cursor<'_>, field: &Field, view: View<'_>) -> Run {
        let _ = (cursor, field, view);
        Run::Items(0)
    }

    /// Reads flat items again, in place, that differ from those of the message before; only for
    /// lists.
    #[inline]
    fn patch(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Patch {
        let _ = (cursor, view);
        Patch::Other { field: 0, count: 0 }
    }

    /// Leaves of one occurrence, if flat.
    fn item_leaves(view: View<'_>) -> Option<usize>;

    /// See [`Shortcuts::flat_leaves`]: only for fields that occur exactly once.
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

    /// Reads a leaf, an element with text of a simple type alone, as the next occurrence. `None`
    /// where its text is not plain; the general routine reads the element from its start then.
    #[inline]
    fn scan_leaf<S: FlatSource>(&mut self, scan: &mut S, view: View<'_>) -> Option<()> {
        let _ = (scan, view);
        None
    }
}

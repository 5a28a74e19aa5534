//! Sources of the leaves of flat items.

use super::Known;
use super::markup::Gap;
use crate::decode::simple::{WholeLeaf, WholeText};
use crate::schema::Builtin;
use deltasoap_xml::lexical::Lexical;

/// A source of the leaves of a flat item, in order.
pub trait FlatSource {
    /// Returns the type that the markup before the next leaf names; for leaves that have recorded
    /// one.
    fn named_type(&mut self) -> Option<Builtin>;

    /// Reads a leaf and the markup between it and the next; `None` on any deviation.
    fn leaf<T: Lexical>(&mut self, value: &mut T) -> Option<()>;

    /// Like [`leaf`](Self::leaf), for a value that is read from its whole text.
    fn whole(&mut self, value: &mut dyn WholeText) -> Option<()> {
        self.leaf(&mut WholeLeaf(Some(value)))
    }
}

/// Reads a simple value as a leaf.
#[inline(always)]
pub fn leaf<T: Lexical, S: FlatSource>(value: &mut T, scan: &mut S) -> Option<()> {
    scan.leaf(value)
}

/// The leaves of items in a window.
#[derive(Debug, Clone)]
pub(in crate::decode) struct FlatScan<'a> {
    known: &'a Known,
    /// The markup between the leaves of an item, and the types that it names.
    parts: (std::slice::Iter<'a, Gap>, std::slice::Iter<'a, Builtin>),
    bytes: &'a [u8],
    pos: usize,
    between: std::slice::Iter<'a, Gap>,
    types: std::slice::Iter<'a, Builtin>,
    text_limit: usize,
}

impl<'a> FlatScan<'a> {
    /// Creates a scan of the item whose first leaf's text is at `pos`.
    #[inline(always)]
    pub(in crate::decode) fn new(bytes: &'a [u8], known: &'a Known, pos: usize, text_limit: usize) -> Self {
        let (between, types) = (known.markup.between.iter(), known.types.iter());
        FlatScan { known, parts: (between.clone(), types.clone()), bytes, pos, between, types, text_limit }
    }

    /// Returns the window.
    #[inline(always)]
    pub(in crate::decode) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the markup.
    #[inline(always)]
    pub(in crate::decode) fn known(&self) -> &'a Known {
        self.known
    }

    /// Returns the position after the last leaf read.
    #[inline(always)]
    pub(in crate::decode) fn pos(&self) -> usize {
        self.pos
    }

    /// Returns a scan of another item, whose first leaf's text is at `pos`.
    #[inline(always)]
    pub(in crate::decode) fn at(&self, pos: usize) -> Self {
        let (between, types) = self.parts.clone();
        FlatScan { pos, between, types, ..self.clone() }
    }

    /// Returns the bytes from the next leaf on.
    #[inline(always)]
    pub(in crate::decode) fn rest(&self) -> Option<&'a [u8]> {
        self.bytes.get(self.pos..)
    }

    /// Passes a leaf's text, and reads the markup after it.
    #[inline(always)]
    pub(in crate::decode) fn pass(&mut self, used: usize) -> Option<()> {
        self.pos += used;
        if let Some(gap) = self.between.next() {
            // Not `Gap::end`: an `Option` there costs the exact case some instructions per leaf.
            self.pos = match gap.exact_end(self.bytes, self.pos) {
                Some(end) => end,
                None => gap.end_with_white(self.bytes, self.pos)?,
            };
        }
        Some(())
    }
}

impl FlatSource for FlatScan<'_> {
    #[inline(always)]
    fn named_type(&mut self) -> Option<Builtin> {
        self.types.next().copied()
    }

    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &mut T) -> Option<()> {
        let used = value.scan_into(self.rest()?)?;
        if used > self.text_limit { None } else { self.pass(used) }
    }
}

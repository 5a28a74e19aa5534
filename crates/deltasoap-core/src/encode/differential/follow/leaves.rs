//! Leaves: texts of simple values, compared by the values' bits if they have an image.

use crate::Lexical;
use crate::encode::Encoder;
use crate::encode::differential::run;
use crate::encode::differential::tape::{BITS, Entry, Kind};
use crate::encode::differential::{MatchKind, Width};
use deltasoap_xml::lexical::Image;
use deltasoap_xml::{Buffer, Escape};

impl Encoder {
    pub(in crate::encode) fn leaf_against<T: Lexical>(&mut self, value: &T) {
        self.write_leaf(&Typed(value));
    }

    pub(in crate::encode) fn listed_against(&mut self, text: &str, max_width: Option<usize>) {
        self.write_leaf(&Listed { text, max_width });
    }

    pub(in crate::encode) fn text_against(&mut self, text: &str) {
        self.write_leaf(&TreeText(text));
    }

    #[inline]
    fn write_leaf<L: Leaf>(&mut self, leaf: &L) {
        if self.is_in_new() {
            return self.new_leaf(leaf);
        }
        match self.peek() {
            Some(entry) if entry.kind == Kind::Leaf => self.follow_leaf(entry, leaf),
            _ => {
                self.begin_new();
                self.new_leaf(leaf);
            }
        }
    }

    fn new_leaf<L: Leaf>(&mut self, leaf: &L) {
        self.note_text(leaf);
        leaf.format(&mut self.out);
        let width = self.template().options.width;
        self.template().room = leaf.room(width).unwrap_or(0);
    }

    fn note_text<L: Leaf>(&mut self, leaf: &L) {
        let pos = self.out.len();
        let has_bits = L::IMAGE.is_some();
        let against = self.template();
        against.entries.push(Entry::new(Kind::Leaf, pos, L::IMAGE.code(), if has_bits { BITS } else { 0 }));
        against.values.extend(has_bits.then(|| leaf.bits()));
    }

    #[inline]
    fn follow_leaf<L: Leaf>(&mut self, old: Entry, leaf: &L) {
        let against = self.template();
        let Some(current) = &mut against.current else { return };
        let tape = current.tape();
        let is_of_type = old.name == L::IMAGE.code();
        let text = tape.bytes_of(current.entry);
        let is_same = is_of_type
            && if old.has(BITS) {
                tape.values[current.value] == leaf.bits()
            } else {
                leaf.is_text(text, &mut against.text)
            };
        if is_same {
            current.step();
        } else {
            let len = text.len();
            self.change_leaf(old, len, is_of_type, leaf);
        }
    }

    /// Writes a leaf's text in place of the old one.
    fn change_leaf<L: Leaf>(&mut self, old: Entry, len: usize, is_of_type: bool, leaf: &L) {
        let against = self.template();
        let mut text = std::mem::take(&mut against.text);
        text.clear();
        leaf.format(&mut text);
        against.has_failed |= text.has_replaced();
        self.note_leaf(MatchKind::PerfectStructural);
        let value = self.current().value;
        if text.len() == len && is_of_type && !self.current().is_rebuilt {
            self.patch(old.pos(), text.as_slice());
            if let Some(tape) = self.own_tape().filter(|_| old.has(BITS)) {
                tape.values[value] = leaf.bits();
            }
            self.current().step();
        } else {
            let mark = self.current().mark();
            self.break_at(mark);
            self.note_text(leaf);
            self.out.push(text.as_slice());
            self.current().step();
            let after = self.current().mark();
            self.skip_to(after);
            let has_slack = leaf.room(self.template().options.width).is_some();
            self.note_growth(text.len() as isize - len as isize, has_slack);
        }
        self.template().text = text;
    }

    fn note_growth(&mut self, grown: isize, has_slack: bool) {
        let against = self.template();
        if has_slack {
            against.grown = grown;
        } else if grown != 0 {
            against.stats.shifts += 1;
            against.note(MatchKind::PartialStructural);
        }
    }
}

/// A text to be written.
trait Leaf {
    const IMAGE: Image;

    fn bits(&self) -> u64;

    /// Returns the minimum width of the field; `None` if slack is not allowed after its element.
    fn room(&self, width: Width) -> Option<usize>;

    fn is_text(&self, text: &[u8], scratch: &mut Buffer) -> bool;

    fn format(&self, out: &mut Buffer);
}

/// A value of a simple type.
struct Typed<'a, T>(&'a T);

impl<T: Lexical> Leaf for Typed<'_, T> {
    const IMAGE: Image = T::IMAGE;

    #[inline(always)]
    fn bits(&self) -> u64 {
        u64::from_le_bytes(self.0.image())
    }

    fn room(&self, width: Width) -> Option<usize> {
        (width != Width::Exact).then(|| run::room(width, T::MAX_WIDTH))
    }

    #[inline(always)]
    fn is_text(&self, text: &[u8], scratch: &mut Buffer) -> bool {
        self.0.is_text(text, scratch)
    }

    #[inline(always)]
    fn format(&self, out: &mut Buffer) {
        self.0.format(out, Escape::Text);
    }
}

/// A text from a list of texts.
struct Listed<'a> {
    text: &'a str,
    max_width: Option<usize>,
}

impl Leaf for Listed<'_> {
    const IMAGE: Image = Image::NONE;

    fn bits(&self) -> u64 {
        0
    }

    fn room(&self, width: Width) -> Option<usize> {
        (width != Width::Exact).then(|| run::room(width, self.max_width))
    }

    fn is_text(&self, text: &[u8], scratch: &mut Buffer) -> bool {
        TreeText(self.text).is_text(text, scratch)
    }

    fn format(&self, out: &mut Buffer) {
        out.push_text(self.text, Escape::Text);
    }
}

/// Text of a tree. No white space is added after its element, which may be between texts.
struct TreeText<'a>(&'a str);

impl Leaf for TreeText<'_> {
    const IMAGE: Image = Image::NONE;

    fn bits(&self) -> u64 {
        0
    }

    fn room(&self, _: Width) -> Option<usize> {
        None
    }

    fn is_text(&self, text: &[u8], scratch: &mut Buffer) -> bool {
        scratch.clear();
        scratch.push_text(self.0, Escape::Text);
        scratch.as_slice() == text && !scratch.has_replaced()
    }

    fn format(&self, out: &mut Buffer) {
        out.push_text(self.0, Escape::Text);
    }
}

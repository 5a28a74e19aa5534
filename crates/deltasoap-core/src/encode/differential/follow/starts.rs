//! Start tags: finds the element of the template that a new element corresponds to.
//!
//! Lists whose items come and go are aligned by name, a few siblings ahead.

use super::tag::Tag;
use crate::QName;
use crate::encode::Encoder;
use crate::encode::differential::against::{Pending, Role};
use crate::encode::differential::tape::{Entry, Kind, PLAIN};
use crate::encode::encoder::{NamePosition, Open};
use deltasoap_xml::Buffer;

/// Number of siblings to look ahead for an element.
const AHEAD: usize = 8;
/// Number of entries to look ahead.
const ENTRIES_AHEAD: usize = 128;

impl Encoder {
    /// Steps into an element of the template and returns true. Otherwise prepares to write its
    /// start tag, for a new element or for comparison.
    pub(in crate::encode) fn start_against(&mut self, name: &QName, has_bindings: bool) -> bool {
        if self.is_in_new() || !self.align(name) {
            self.begin_new();
            return false;
        }
        let current = self.current();
        let (entry, value) = (current.entry, current.value);
        let is_plain = current.next().is_some_and(|entry| entry.has(PLAIN));
        current.step();
        self.template().pending = Some(Pending { entry, value, stamp: None, outer: None });
        if !is_plain || has_bindings {
            self.divert();
            return false;
        }
        self.open.push(Open { name: (0, 0), declared: self.declared.len(), role: Role::Followed });
        self.in_tag = true;
        true
    }

    /// Notes the start tag that was just begun.
    pub(in crate::encode) fn note_start(&mut self, name: &QName) {
        let entry = self.template().entries.len();
        let is_followed = self.template().pending.is_some();
        let role = if is_followed { Role::Followed } else { Role::New { entry, is_saved: false } };
        let begin = self.open.last_mut().map_or(0, |open| {
            open.role = role;
            open.name.0 - 1
        });
        if !is_followed {
            let number = self.template().number(name);
            self.template().entries.push(Entry::new(Kind::Start, begin, number, 0));
        }
    }

    /// Ensures that the open start tag is written somewhere, so that more can be added to it.
    pub(in crate::encode) fn need_tag(&mut self) {
        let Some(against) = &self.against else { return };
        let Some(Pending { entry, outer: None, .. }) = against.pending else { return };
        let number = self.current().tape().entries[entry].name;
        let name = self.template().names.get(number).cloned().unwrap_or_default();
        self.divert();
        self.out.push(b"<");
        self.push_name(&name.namespace, &name.local, NamePosition::Element);
        let end = self.out.len();
        if let Some(open) = self.open.last_mut() {
            open.name = (1, end);
        }
    }

    /// Ends the open start tag of an element with content.
    pub(in crate::encode) fn open_end_against(&mut self) {
        if self.finish_tag(true) == Tag::Written {
            self.out.push(b">");
        }
    }

    /// Moves the template to an element's start tag, if it is next or a little later among its
    /// siblings; the siblings before it are removed.
    fn align(&mut self, name: &QName) -> bool {
        match self.peek() {
            Some(entry) if entry.kind == Kind::Start && self.template().names.is(entry.name, name) => true,
            Some(entry) if entry.kind != Kind::End => match self.siblings_until(name) {
                Some(count) => {
                    (0..count).for_each(|_| self.drop_next());
                    true
                }
                None => false,
            },
            _ => false,
        }
    }

    /// Returns the number of siblings before one with a name.
    fn siblings_until(&mut self, name: &QName) -> Option<usize> {
        let against = self.template();
        let current = against.current.as_ref()?;
        let (mut depth, mut siblings) = (0usize, 0);
        for entry in current.tape().entries[current.entry..].iter().take(ENTRIES_AHEAD) {
            match entry.kind {
                Kind::Start if depth == 0 && against.names.is(entry.name, name) => return Some(siblings),
                Kind::Start => depth += 1,
                Kind::End if depth == 0 => return None,
                Kind::End => depth -= 1,
                Kind::Leaf => {}
                Kind::Run => return None,
            }
            siblings += usize::from(depth == 0);
            if siblings > AHEAD {
                return None;
            }
        }
        None
    }

    /// Redirects the start tag into a buffer of its own.
    fn divert(&mut self) {
        let mut tag = std::mem::take(&mut self.template().tag);
        tag.clear();
        let outer = std::mem::replace(&mut self.out, tag);
        if let Some(pending) = &mut self.template().pending {
            pending.outer = Some(outer);
        }
    }

    /// Ends the redirection and returns the buffer with the start tag.
    pub(super) fn undivert(&mut self, outer: Option<Buffer>) -> Option<Buffer> {
        let tag = std::mem::replace(&mut self.out, outer?);
        self.template().has_failed |= tag.has_replaced();
        Some(tag)
    }
}

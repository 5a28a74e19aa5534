//! Writing of values shared by several places ([`Shared`](crate::Shared)).
//!
//! With SOAP encoding such a value is written once. In SOAP 1.1 it becomes an independent element
//! after the operation, and each place refers to it (section 5.1, rules 4 and 5). In SOAP 1.2 it is
//! written at the first place, and the other places refer to it (part 2, section 3.1.5). A value
//! with a single handle is written in place, like any other value: identity is checked only for
//! types that require it, and costs nothing elsewhere.
//!
//! Other handles of a value may be outside the message, as in a request that a service keeps while
//! its response is written. So a message in which a value with several handles occurred once is
//! rewritten with that value in place: the form of a message depends only on the message.
//!
//! Without SOAP encoding, or if references are [switched off](Encoder::set_references), each place
//! gets a copy. Cycles then cannot be written, nor values with too many copies.

use super::Encoder;
use super::overlay::Splits;
use super::parts::BinaryParts;
use crate::ns;
use crate::schema::{QName, Use};
use crate::version::Version;
use std::collections::{HashMap, HashSet};

/// An encoder's state of shared values.
#[derive(Debug, Default)]
pub(super) struct Identities {
    is_off: bool,
    /// Number of declarations in scope in the body, while one is written.
    body: Option<usize>,
    /// Values by address that were written, or are being written.
    ids: HashMap<usize, Referred>,
    /// Values with several handles, but one place in the message.
    alone: HashSet<usize>,
    /// The number of the first id.
    first: usize,
    /// One more than the highest number in an id of this form that belongs to a value itself. Trees
    /// keep the ids that they were read with.
    free: usize,
    /// The independent elements after the operation.
    independent: Vec<u8>,
    /// Values being written, outermost first.
    open: Vec<usize>,
    /// Values of which a copy was written, and the total bytes of all further copies.
    copied: HashSet<usize>,
    copies: usize,
}

/// A value that is written with an id.
#[derive(Debug)]
struct Referred {
    number: usize,
    places: usize,
}

/// The prefix of ids; a number follows.
const ID: &str = "id";
/// Maximum bytes of copies beyond the first of each value.
const MAX_COPIES: usize = 64 << 20;
/// Maximum nesting of shared values.
const MAX_DEPTH: usize = 1000;

impl Encoder {
    /// Sets whether shared values are written as references where SOAP encoding allows it, which is
    /// the default. Otherwise they are copied, for readers that do not support references.
    pub fn set_references(&mut self, on: bool) {
        self.identities.is_off = !on;
    }

    /// Notes an attribute of a value: ids assigned by the encoder must differ from it.
    pub(super) fn keep_id(&mut self, name: &QName, text: &str) {
        let number = || text.trim_ascii().strip_prefix(ID)?.parse::<u32>().ok();
        if self.is_id(name) {
            let free = number().map_or(0, |number| (number as usize).saturating_add(1));
            self.identities.free = self.identities.free.max(free);
        }
    }

    /// Returns true for an id of SOAP encoding.
    pub(super) fn is_id(&self, name: &QName) -> bool {
        self.encoding() == Use::Encoded && (name.is("", "id") || name.is(ns::SOAP12_ENCODING, "id"))
    }

    /// Called at the start of a message's body.
    pub(crate) fn begin_body(&mut self) {
        self.identities.body = Some(self.declared.len());
    }

    /// Called before the start tag of a message's body.
    pub(crate) fn note_body_start(&mut self) {
        self.body_start = self.out.len();
    }

    /// Returns the number of bytes before the body, in a message that was written in full.
    pub(crate) fn body_start(&self) -> usize {
        self.body_start
    }

    /// Called after the operation: writes the independent elements.
    pub(crate) fn end_body(&mut self) {
        let independent = std::mem::take(&mut self.identities.independent);
        self.out.push(&independent);
        self.identities.body = None;
    }

    /// Returns true if the message must be rewritten, since values with an id turned out to have
    /// one place in it, or another value has such an id. The encoder is then reset, except for that
    /// knowledge.
    pub(crate) fn starts_over(&mut self) -> bool {
        // Beginnings of messages, and messages without their items, do not show how often a value
        // occurs in total.
        let is_whole = self.splits.is_none() && self.max_bytes == usize::MAX;
        let lone = self.identities.ids.iter().filter(|(_, referred)| is_whole && referred.places == 1);
        let alone: HashSet<usize> = lone.map(|(&address, _)| address).collect();
        let first = if self.identities.ids.is_empty() { 0 } else { self.identities.free };
        if alone.is_empty() && first == self.identities.first || self.max_bytes != usize::MAX {
            return false;
        }
        let identities = Identities { is_off: self.identities.is_off, alone, first, ..Identities::default() };
        let parts = self.parts.take().map(BinaryParts::emptied);
        let (splits, renamed) = (self.splits.take().map(Splits::emptied), self.renamed.take());
        let canonical = self.canonical.take();
        *self = Encoder::with_buffer(std::mem::take(&mut self.out));
        (self.identities, self.parts, self.splits, self.renamed) = (identities, parts, splits, renamed);
        self.canonical = canonical;
        true
    }

    /// Writes the content of the element just opened, or a reference to it. The value is identified
    /// by its address; `is_shared` is true if there are other handles to it.
    pub(crate) fn shared(&mut self, (address, is_shared): (usize, bool), write: impl FnOnce(&mut Self)) {
        if self.is_full() || self.give_up_template() {
            return;
        }
        if self.identities.open.len() >= MAX_DEPTH {
            return self.fail("shared values are nested too deeply");
        }
        let has_references = self.encoding() == Use::Encoded && !self.identities.is_off;
        let is_shared = is_shared && !self.identities.alone.contains(&address);
        match self.identities.body.filter(|_| has_references && is_shared) {
            Some(body) => self.refer(address, body, write),
            None if is_shared => self.copy(address, write),
            None => self.within(address, write),
        }
    }

    /// Forgets the values of which copies were written. Must be called between values that share
    /// nothing.
    pub(super) fn forget_copies(&mut self) {
        self.identities.copied.clear();
        self.identities.copies = 0;
    }

    fn within(&mut self, address: usize, write: impl FnOnce(&mut Self)) {
        self.identities.open.push(address);
        write(self);
        self.identities.open.pop();
    }

    fn refer(&mut self, address: usize, body: usize, write: impl FnOnce(&mut Self)) {
        let ids = &mut self.identities.ids;
        let (number, is_new) = (self.identities.first + ids.len(), !ids.contains_key(&address));
        let referred = ids.entry(address).or_insert(Referred { number, places: 0 });
        referred.places += 1;
        let id = format!("{ID}{}", referred.number);
        let encoding = |local| QName::new(ns::SOAP12_ENCODING, local);
        match self.version() {
            Version::Soap12 if is_new => {
                self.given_attribute(&encoding("id"), &id);
                let given = self.given_at.replace(self.open.len());
                self.within(address, write);
                self.given_at = given;
            }
            Version::Soap12 => self.attribute(&encoding("ref"), &id),
            Version::Soap11 => {
                self.attribute(&QName::new("", "href"), &format!("#{id}"));
                if is_new {
                    self.independent(&id, body, |encoder| encoder.within(address, write));
                }
            }
        }
    }

    /// Writes an independent element, to be placed after the operation.
    fn independent(&mut self, id: &str, body: usize, write: impl FnOnce(&mut Self)) {
        let mut side = self.fork();
        side.declared.truncate(body);
        side.identities = std::mem::take(&mut self.identities);
        side.parts = self.parts.take();
        side.start(&QName::new("", "multiRef"));
        side.given_attribute(&QName::new("", "id"), id);
        side.attribute(&QName::new(ns::SOAP11_ENCODING, "root"), "0");
        side.attribute(&QName::new(ns::SOAP11, "encodingStyle"), ns::SOAP11_ENCODING);
        side.given_at = Some(side.open.len());
        write(&mut side);
        side.end();
        if let Err(error) = side.check() {
            self.error.get_or_insert(error);
        }
        self.parts = side.parts.take();
        self.note_unused_of(&mut side);
        self.identities = std::mem::take(&mut side.identities);
        self.identities.independent.extend_from_slice(side.out.as_slice());
    }

    /// Returns true if the encoder has written this attribute of SOAP encoding for the element just
    /// opened. The value may also have an attribute of this name: a tree, or a type that declares
    /// it.
    pub(super) fn was_given(&self, name: &QName) -> bool {
        let is_given = || match self.version() {
            Version::Soap12 => name.is(ns::SOAP12_ENCODING, "id"),
            Version::Soap11 => {
                name.is("", "id") || name.is(ns::SOAP11_ENCODING, "root") || name.is(ns::SOAP11, "encodingStyle")
            }
        };
        self.given_at == Some(self.open.len()) && is_given()
    }

    fn copy(&mut self, address: usize, write: impl FnOnce(&mut Self)) {
        if self.identities.open.contains(&address) {
            return self.fail("a cycle can only be written with references");
        }
        if self.identities.copies > MAX_COPIES {
            return self.fail("too many copies of shared values");
        }
        let (start, is_first) = (self.len(), self.identities.copied.insert(address));
        self.within(address, write);
        if !is_first {
            self.identities.copies += self.len() - start;
        }
    }
}

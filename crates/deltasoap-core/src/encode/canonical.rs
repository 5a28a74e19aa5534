//! Documents whose elements are written in canonical form.
//!
//! What signs a message hashes the canonical form of its elements (Exclusive XML Canonicalization
//! 1.0). The encoder's markup nearly is that form: a namespace is declared where it is first used,
//! values are escaped as in Canonical XML, nothing is optional. What differs is changed while it is
//! written:
//!
//! - Tags list declarations before attributes, both in canonical order ([`Encoder::sort_tag`]).
//! - There are no empty-element tags.
//! - An element that is signed uses no declaration of an element around it ([`Encoder::apart`]).
//! - A declaration stays where it is written even if only content uses it, such as the prefix of an
//!   `xsi:type`. Exclusive canonicalization drops those, except for prefixes that the signature
//!   lists as `InclusiveNamespaces`. So these are collected ([`Encoder::unused_prefixes`]).
//!
//! A template thus holds canonical bytes, and an unchanged part of a message is not canonicalized
//! again. The canonicalizer that reads foreign messages is the naive twin in the tests.

use super::encoder::Encoder;
use crate::ns;
use std::collections::BTreeSet;

/// The state of a document in canonical form.
#[derive(Debug, Clone, Default)]
pub(crate) struct Canonical {
    /// Prefixes that were declared where no name of the element uses them; `""` is the default
    /// namespace.
    unused: BTreeSet<String>,
}

impl Encoder {
    /// Sets whether the document is in canonical form. Must be called before the first element.
    pub(crate) fn set_canonical(&mut self, on: bool) {
        if self.canonical.is_some() != on {
            self.canonical = on.then(Box::default);
        }
    }

    /// Writes an element that uses no declaration of the elements around it.
    pub(crate) fn apart(&mut self, write: impl FnOnce(&mut Self)) {
        self.open_end();
        let around = std::mem::take(&mut self.declared);
        write(self);
        self.declared = around;
    }

    /// Returns the prefixes that were declared for content alone, in alphabetical order.
    pub(crate) fn unused_prefixes(&mut self) -> BTreeSet<String> {
        self.canonical.take().map(|canonical| canonical.unused).unwrap_or_default()
    }

    /// Notes a prefix that is declared, and that no name of the element needs.
    pub(super) fn note_unused(&mut self, prefix: &str) {
        if let Some(canonical) = &mut self.canonical
            && !canonical.unused.contains(prefix)
        {
            canonical.unused.insert(prefix.to_owned());
        }
    }

    /// Takes over what a fork has noted.
    pub(super) fn note_unused_of(&mut self, fork: &mut Encoder) {
        if let Some(canonical) = &mut self.canonical {
            canonical.unused.append(&mut fork.unused_prefixes());
        }
    }

    /// Brings the declarations and attributes of the open start tag into canonical order: the
    /// declarations by prefix, then the attributes by namespace and local name (Canonical XML 1.0,
    /// section 2.3).
    pub(super) fn sort_tag(&mut self) {
        let is_elsewhere = self.against.as_ref().is_some_and(|against| against.follows_plain_tag());
        let Some(open) = self.open.last().filter(|_| !is_elsewhere) else { return };
        let start = open.name.1;
        let mut items: Vec<_> = items(&self.out.as_slice()[start..]).map(|item| (self.rank(item), item)).collect();
        if items.is_sorted() {
            return;
        }
        items.sort_unstable();
        let sorted: Vec<u8> = items.iter().flat_map(|(_, item)| *item).copied().collect();
        self.out.truncate(start);
        self.out.push(&sorted);
    }

    /// Returns the place of a declaration or attribute in its tag: whether it is an attribute, the
    /// namespace, the local name or prefix.
    fn rank<'e>(&'e self, item: &'e [u8]) -> (bool, &'e [u8], &'e [u8]) {
        let name = item.trim_ascii_start().split(|&byte| byte == b'=').next().unwrap_or_default();
        let (prefix, local) = match name.iter().position(|&byte| byte == b':') {
            Some(colon) => (&name[..colon], &name[colon + 1..]),
            None => (&b""[..], name),
        };
        match (prefix, local) {
            (b"", b"xmlns") => (false, b"", b""),
            (b"xmlns", prefix) => (false, b"", prefix),
            (b"", local) => (true, b"", local),
            (b"xml", local) => (true, ns::XML.as_bytes(), local),
            (prefix, local) => (true, self.namespace_of(prefix), local),
        }
    }

    /// Returns the namespace that a prefix is bound to.
    fn namespace_of(&self, prefix: &[u8]) -> &[u8] {
        let declared = self.declared.iter().rfind(|declared| declared.prefix.as_bytes() == prefix);
        declared.map_or(b"", |declared| declared.namespace.as_bytes())
    }
}

/// Returns the declarations and attributes of a tag, each with the space before it.
fn items(tag: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = tag;
    std::iter::from_fn(move || {
        // The encoder writes values in double quotes, and none of these within.
        let end = memchr::memchr_iter(b'"', rest).nth(1)? + 1;
        let (item, after) = rest.split_at(end);
        rest = after;
        Some(item)
    })
}

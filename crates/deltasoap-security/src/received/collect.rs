//! Encrypted data in the body, as it arrives.

use super::Tree;
use crate::error::SecurityError;
use crate::ns;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use deltasoap_xml::{Event, Reader};
use std::collections::BTreeSet;

/// Bytes of base64 that are decoded at a time; a multiple of 4.
const DECODED: usize = 4096;

/// Collects the encrypted data that the head refers to.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    /// True if the head refers to encrypted data in the body.
    is_used: bool,
    /// The ids of encrypted data that was not found yet.
    awaited: BTreeSet<String>,
    open: Option<Box<EncryptedData>>,
    done: Vec<EncryptedData>,
    /// True if some encrypted data is directly in the body.
    has_encrypted: bool,
    /// True if something else is directly in the body.
    has_plain: bool,
}

/// A complete `EncryptedData` element of the body.
#[derive(Debug, Default)]
pub(crate) struct EncryptedData {
    /// The element, without the text of its `CipherValue`.
    pub(crate) tree: Tree,
    /// What that text decodes to.
    pub(crate) cipher: Vec<u8>,
    /// Place of the element in the message, in bytes of UTF-8.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The prefixes in scope, with their namespaces.
    pub(crate) bindings: Vec<(String, String)>,
    /// Elements that are open.
    open: Vec<usize>,
    /// Base64 that was not decoded yet.
    pending: Vec<u8>,
}

impl Collector {
    pub(crate) fn new(ids: BTreeSet<String>) -> Self {
        Collector { is_used: !ids.is_empty(), awaited: ids, ..Collector::default() }
    }

    /// Returns true if the head refers to encrypted data in the body.
    pub(crate) fn is_used(&self) -> bool {
        self.is_used
    }

    /// Takes an event of the body; `end` is the place after it.
    ///
    /// # Errors
    /// Returns an error if encrypted data cannot be read.
    pub(crate) fn event(&mut self, event: Event<'_>, reader: &Reader, end: u64) -> Result<(), SecurityError> {
        if let Some(open) = &mut self.open {
            if open.event(event, reader, end)? {
                self.done.extend(self.open.take().map(|it| *it));
            }
            return Ok(());
        }
        match event {
            Event::Start => self.start(reader),
            Event::Text(text) if reader.depth() == 2 => {
                self.has_plain |= !text.bytes().all(|byte| byte.is_ascii_whitespace());
                Ok(())
            }
            Event::Char(c) if reader.depth() == 2 => {
                self.has_plain |= !c.is_ascii_whitespace();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn start(&mut self, reader: &Reader) -> Result<(), SecurityError> {
        let is_direct = reader.depth() == 3;
        let (names, name) = (reader.names(), reader.name());
        let is_encrypted = names.local(name) == "EncryptedData" && names.namespace(name) == ns::XENC;
        let id = super::ids_of(reader).find(|id| self.awaited.contains(*id)).filter(|_| is_encrypted);
        let Some(id) = id.map(str::to_owned) else {
            self.has_plain |= is_direct;
            return Ok(());
        };
        self.has_encrypted |= is_direct;
        self.awaited.remove(&id);
        let mut open = Box::new(EncryptedData {
            start: reader.tag_offset(),
            bindings: bindings(reader),
            ..EncryptedData::default()
        });
        open.event(Event::Start, reader, 0)?;
        self.open = Some(open);
        Ok(())
    }

    /// Returns the encrypted data that is complete, once.
    pub(crate) fn take(&mut self) -> Vec<EncryptedData> {
        std::mem::take(&mut self.done)
    }

    /// Returns the place of encrypted data that is not complete.
    pub(crate) fn open_since(&self) -> Option<u64> {
        self.open.as_ref().map(|open| open.start)
    }

    /// Returns true if all encrypted data was found.
    pub(crate) fn is_complete(&self) -> bool {
        self.awaited.is_empty() && self.open.is_none()
    }

    /// Returns true if all that is directly in the body is encrypted.
    pub(crate) fn is_body_encrypted(&self) -> bool {
        self.has_encrypted && !self.has_plain
    }
}

/// Returns the prefixes in scope, with their namespaces.
pub(crate) fn bindings(reader: &Reader) -> Vec<(String, String)> {
    reader.bindings().map(|(prefix, namespace)| (prefix.to_owned(), namespace.to_owned())).collect()
}

impl EncryptedData {
    /// Takes an event. Returns true once the element is complete.
    fn event(&mut self, event: Event<'_>, reader: &Reader, end: u64) -> Result<bool, SecurityError> {
        match event {
            Event::Start => {
                let index = self.tree.add(reader, self.open.last().copied(), 0)?;
                if index > 0 && self.tree.get(index).is(ns::XENC, "EncryptedData") {
                    return Err(SecurityError::Malformed("encrypted data contains encrypted data".to_owned()));
                }
                self.open.push(index);
            }
            Event::End => {
                self.open.pop();
                if self.open.is_empty() {
                    (self.end, self.open) = (end, Vec::new());
                    return self.decode(true).map(|()| true);
                }
            }
            Event::Text(text) => self.text(text)?,
            Event::Char(c) => self.text(c.encode_utf8(&mut [0; 4]))?,
            Event::Done => {}
        }
        Ok(false)
    }

    fn text(&mut self, text: &str) -> Result<(), SecurityError> {
        let Some(&element) = self.open.last() else { return Ok(()) };
        if !self.tree.get(element).is(ns::XENC, "CipherValue") {
            self.tree.push_text(element, text);
            return Ok(());
        }
        for piece in text.as_bytes().chunks(DECODED) {
            self.pending.extend(piece.iter().filter(|byte| !byte.is_ascii_whitespace()));
            self.decode(false)?;
        }
        Ok(())
    }

    /// Decodes what is pending: all of it at the end, otherwise whole groups of characters, without
    /// the last one, which may be padded.
    fn decode(&mut self, is_end: bool) -> Result<(), SecurityError> {
        let len = match self.pending.len() {
            len if is_end => len,
            len if len > DECODED => (len - 1) / 4 * 4,
            _ => return Ok(()),
        };
        let malformed = |_| SecurityError::Malformed("encrypted data is not base64".to_owned());
        BASE64_STANDARD.decode_vec(&self.pending[..len], &mut self.cipher).map_err(malformed)?;
        self.pending.drain(..len);
        Ok(())
    }
}

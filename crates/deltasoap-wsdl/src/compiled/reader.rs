//! Reads compiled WSDLs from arbitrary bytes: nothing in them is trusted.

use super::Fault;
use super::stored::Stored;
use crate::Limits;
use deltasoap_core::schema::EnumerationValues;

/// Numbers of components, which references are checked against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) documents: u32,
    pub(super) types: u32,
    pub(super) elements: u32,
    pub(super) attributes: u32,
    /// Elements of the engine's schema.
    pub(super) described: u32,
}

/// The bytes that are still to be read.
pub(super) struct Reader<'b> {
    bytes: &'b [u8],
    texts: Vec<&'b str>,
    /// Bytes of text that may still be returned: a text is stored once and can be referenced any
    /// number of times.
    text_room: usize,
    /// List items that may still be read.
    item_room: usize,
    /// Nested lists that may still begin.
    depth: usize,
    /// Lists shared by types, so far.
    lists: Vec<EnumerationValues>,
    pub(super) counts: Counts,
}

impl<'b> Reader<'b> {
    /// Creates a reader and reads the texts.
    pub(super) fn new(bytes: &'b [u8], limits: &Limits) -> Result<Self, Fault> {
        let mut reader = Reader {
            bytes,
            texts: Vec::new(),
            text_room: limits.bytes,
            item_room: limits.components.saturating_mul(2),
            // The maximum depth of content models, and of what surrounds them.
            depth: limits.depth.saturating_mul(2).saturating_add(16),
            lists: Vec::new(),
            counts: Counts::default(),
        };
        reader.texts = reader.all_texts()?;
        Ok(reader)
    }

    fn all_texts(&mut self) -> Result<Vec<&'b str>, Fault> {
        let count = self.count()?;
        let lengths = self.items(count, Self::number)?;
        let mut texts = Vec::with_capacity(lengths.len());
        let total = lengths.iter().try_fold(0u64, |total, &length| total.checked_add(length));
        let total = total.and_then(|total| usize::try_from(total).ok()).ok_or(Fault::Truncated)?;
        let mut rest = std::str::from_utf8(self.take(total)?).map_err(|_| Fault::Content("a text is not in UTF-8"))?;
        for length in lengths {
            let inside = Fault::Content("a text ends within a character");
            let (text, tail) = rest.split_at_checked(length as usize).ok_or(inside)?;
            texts.push(text);
            rest = tail;
        }
        Ok(texts)
    }

    /// See [`Writer::list`](super::writer::Writer::list).
    pub(super) fn list(&mut self) -> Result<EnumerationValues, Fault> {
        let number = usize::read(self)?;
        if number > 0 {
            return self.lists.get(number - 1).cloned().ok_or(Fault::Content("a list of values is missing"));
        }
        let list = EnumerationValues::from(Vec::read(self)?);
        if !list.is_empty() {
            self.lists.push(list.clone());
        }
        Ok(list)
    }

    /// Returns true if nothing is left.
    pub(super) fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8], Fault> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(Fault::Truncated)?;
        self.bytes = rest;
        Ok(taken)
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Fault> {
        let (&first, rest) = self.bytes.split_first().ok_or(Fault::Truncated)?;
        self.bytes = rest;
        Ok(first)
    }

    #[inline]
    pub(super) fn number(&mut self) -> Result<u64, Fault> {
        match self.byte()? {
            byte if byte < 0x80 => Ok(u64::from(byte)),
            byte => self.longer_number(u64::from(byte & 0x7F)),
        }
    }

    fn longer_number(&mut self, first: u64) -> Result<u64, Fault> {
        let mut number = first;
        for shift in (7..64).step_by(7) {
            let byte = self.byte()?;
            if shift == 63 && byte > 1 {
                break;
            }
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Fault::Content("a number is too large"))
    }

    /// Reads the length of a list: each item takes at least one byte.
    pub(super) fn count(&mut self) -> Result<usize, Fault> {
        let count = self.number()?;
        self.bounded(count)
    }

    fn bounded(&mut self, count: u64) -> Result<usize, Fault> {
        let count = usize::try_from(count).map_err(|_| Fault::Truncated)?;
        if count > self.bytes.len() {
            return Err(Fault::Truncated);
        }
        self.item_room = self.item_room.checked_sub(count).ok_or(Fault::Limit("components"))?;
        Ok(count)
    }

    /// Reads a table of components whose number is known.
    pub(super) fn table<T>(
        &mut self,
        count: u32,
        read: impl FnMut(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let count = self.bounded(u64::from(count))?;
        self.items(count, read)
    }

    /// Reads the items of a list whose length [`count`](Self::count) returned.
    pub(super) fn items<T>(
        &mut self,
        count: usize,
        mut read: impl FnMut(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        // Longer lists get more memory only as items arrive.
        const AT_ONCE: usize = 4096;
        let mut items = Vec::with_capacity(count.min(AT_ONCE));
        for _ in 0..count {
            items.push(read(self)?);
        }
        Ok(items)
    }

    /// Reads one nesting level.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        self.depth = self.depth.checked_sub(1).ok_or(Fault::Limit("depth"))?;
        let result = read(self);
        self.depth += 1;
        result
    }

    pub(super) fn text(&mut self) -> Result<&'b str, Fault> {
        let number = self.number()?;
        let text = usize::try_from(number).ok().and_then(|number| self.texts.get(number).copied());
        let text = text.ok_or(Fault::Content("a text is missing"))?;
        self.text_room = self.text_room.checked_sub(text.len()).ok_or(Fault::Limit("bytes"))?;
        Ok(text)
    }

    /// Reads a reference to one of `count` components.
    #[inline]
    pub(super) fn reference(&mut self, count: u32) -> Result<u32, Fault> {
        let number = self.number()?;
        if number < u64::from(count) { Ok(number as u32) } else { Err(Fault::Content("a component is missing")) }
    }
}

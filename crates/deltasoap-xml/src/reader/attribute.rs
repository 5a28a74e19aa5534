//! The attributes of the current start tag, with values normalised (XML 3.3.3) into one reusable
//! arena.

use super::reference;
use super::scope::PrefixId;
use super::spelling::SpellingId;
use super::token_error::{TokenError, fault, over_limit};
use crate::chars::{PLAIN_VALUE, expected, floor_boundary, has, valid_prefix};
use crate::name::NameId;
use crate::{Limits, Names, XmlErrorKind};
use std::ops::Range;

/// An attribute that is not a namespace declaration.
#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    pub(crate) spelling: SpellingId,
    /// Set once the whole tag is read, because declarations may follow.
    pub(crate) name: NameId,
    /// Index of its name in the window.
    pub(crate) at: usize,
    pub(crate) value: Range<usize>,
}

/// A namespace declaration.
#[derive(Debug, Clone)]
pub(crate) struct Declaration {
    pub(crate) prefix: PrefixId,
    /// Index of its name in the window.
    pub(crate) at: usize,
    pub(crate) value: Range<usize>,
}

/// The content of the current start tag.
#[derive(Debug, Default)]
pub(crate) struct Attributes {
    pub(crate) values: String,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) declarations: Vec<Declaration>,
    /// By name id: the last tag that had an attribute of this name.
    seen: Vec<u64>,
    /// Number of the current tag, counting every attempt to read one.
    pub(crate) tag: u64,
}

impl Attributes {
    /// Prepares for another tag.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.attributes.clear();
        self.declarations.clear();
        self.tag += 1;
    }

    /// Copies the content of the current tag, without the state that detects duplicate names.
    pub(crate) fn copied(&self) -> Attributes {
        Attributes {
            values: self.values.clone(),
            attributes: self.attributes.clone(),
            declarations: self.declarations.clone(),
            ..Attributes::default()
        }
    }

    /// Restores the content of a tag. The tag number is not restored: numbers of tags read since
    /// are stored elsewhere.
    pub(crate) fn put_back(&mut self, Attributes { values, attributes, declarations, .. }: Attributes) {
        (self.values, self.attributes, self.declarations) = (values, attributes, declarations);
    }

    /// Forgets which names were seen, because name ids will be reassigned. Releases memory.
    pub(crate) fn forget_names(&mut self) {
        self.clear();
        self.seen.clear();
        self.seen.shrink_to(1 << 12);
        self.values.shrink_to(1 << 16);
        self.attributes.shrink_to(1 << 10);
        self.declarations.shrink_to(1 << 10);
    }

    /// Returns the number of attributes and declarations so far.
    pub(crate) fn len(&self) -> usize {
        self.attributes.len() + self.declarations.len()
    }

    /// Records that the current tag has an attribute of this name; returns false if it had one
    /// already.
    pub(crate) fn stamp(&mut self, name: NameId, names: &Names) -> bool {
        if self.seen.len() < names.len() {
            self.seen.resize(names.len(), 0);
        }
        std::mem::replace(&mut self.seen[name.0 as usize], self.tag) != self.tag
    }

    /// Reads the quoted value at `at` into the arena; returns its range there and the index after
    /// its closing quote.
    pub(crate) fn value(
        &mut self,
        bytes: &[u8],
        at: usize,
        limits: &Limits,
    ) -> Result<(Range<usize>, usize), TokenError> {
        let quote = match bytes.get(at) {
            None => return Err(TokenError::Incomplete),
            Some(&quote @ (b'"' | b'\'')) => quote,
            Some(_) => return Err(expected(bytes, at, "a quoted attribute value")),
        };
        let start = self.values.len();
        let end = self.until(quote, bytes, at + 1, limits)?;
        Ok((start..self.values.len(), end + 1))
    }

    /// Appends the normalised value from `start` on; returns the index of the quote that ends it.
    fn until(&mut self, quote: u8, bytes: &[u8], start: usize, limits: &Limits) -> Result<usize, TokenError> {
        let limit = limits.attribute_value;
        let mut at = start;
        loop {
            let run = &bytes[at..];
            let plain = run.iter().position(|&b| !has(b, PLAIN_VALUE)).unwrap_or(run.len());
            let (text, fail) = valid_prefix(&run[..plain], at, plain == run.len());
            self.values.push_str(text);
            at += text.len();
            if at - start > limit {
                return Err(over_limit(floor_boundary(bytes, start + limit), "attribute_value", limit));
            }
            if let Some(fail) = fail {
                return Err(fail);
            }
            match bytes.get(at) {
                None => return Err(TokenError::Incomplete),
                Some(&b) if b == quote => return Ok(at),
                Some(_) => at = self.special(bytes, at, start, limits)?,
            }
        }
    }

    /// Appends what the byte at `at`, which is not plain, stands for; returns the index after it.
    fn special(&mut self, bytes: &[u8], at: usize, start: usize, limits: &Limits) -> Result<usize, TokenError> {
        let (c, end) = match bytes[at] {
            b'&' => reference::read(bytes, at, limits.name)?,
            b'\t' | b'\n' => (' ', at + 1),
            b'\r' => (' ', line_end(bytes, at)?),
            b'<' => return Err(fault(at, XmlErrorKind::LessThanInAttribute)),
            quote @ (b'"' | b'\'') => (char::from(quote), at + 1),
            control => return Err(fault(at, XmlErrorKind::ForbiddenCharacter(char::from(control)))),
        };
        if end - start > limits.attribute_value {
            return Err(over_limit(at, "attribute_value", limits.attribute_value));
        }
        self.values.push(c);
        Ok(end)
    }
}

/// Returns the index after the line end that starts with the carriage return at `at` (XML 2.11).
pub(crate) fn line_end(bytes: &[u8], at: usize) -> Result<usize, TokenError> {
    match bytes.get(at + 1) {
        Some(b'\n') => Ok(at + 2),
        Some(_) => Ok(at + 1),
        None => Err(TokenError::Incomplete),
    }
}

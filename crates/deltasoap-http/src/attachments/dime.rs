//! DIME (Direct Internet Message Encapsulation, draft-nielsen-dime-02): length-prefixed records,
//! padded to four bytes.
//!
//! A part is a record, or a sequence of *chunks* if its length was not known when it began. All
//! chunks except the last have a flag; all except the first have neither ID nor type.

use super::error::AttachmentError;
use super::headers::PartHeaders;
use super::options::AttachmentLimits;
use super::parser::{Event, Input, StepResult};
use bytes::Bytes;
use deltasoap_core::PartUri;

/// Bytes of a record's fixed head.
const HEAD: usize = 12;

/// The interpretation of a record's type (section 3.2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypeFormat {
    /// The type of the previous chunk.
    Unchanged = 0,
    MediaType = 1,
    Uri = 2,
    Unknown = 3,
    /// There is no type, and no data.
    None = 4,
}

impl TypeFormat {
    fn from_bits(bits: u8) -> Option<Self> {
        use TypeFormat::{MediaType, None as NoType, Unchanged, Unknown, Uri};
        [Unchanged, MediaType, Uri, Unknown, NoType].into_iter().find(|format| *format as u8 == bits)
    }
}

/// The fixed head of a record (section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) is_first: bool,
    pub(super) is_last: bool,
    /// True if another chunk of the part follows.
    pub(super) is_chunk: bool,
    pub(super) format: TypeFormat,
    pub(super) options: usize,
    pub(super) id: usize,
    pub(super) kind: usize,
    pub(super) data: u32,
}

const VERSION: u8 = 1;

impl Head {
    /// Creates a record in the middle of a message, without any bytes yet.
    pub(super) fn new(format: TypeFormat) -> Self {
        Head { is_first: false, is_last: false, is_chunk: false, format, options: 0, id: 0, kind: 0, data: 0 }
    }

    fn read(bytes: &[u8; HEAD]) -> Result<Self, &'static str> {
        let short = |at: usize| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
        if bytes[0] >> 3 != VERSION {
            return Err("a record is not of DIME's version 1");
        }
        if bytes[1] & 0xF != 0 {
            return Err("a record has reserved bits set");
        }
        Ok(Head {
            is_first: bytes[0] & 4 != 0,
            is_last: bytes[0] & 2 != 0,
            is_chunk: bytes[0] & 1 != 0,
            format: TypeFormat::from_bits(bytes[1] >> 4).ok_or("a record's type is of an unknown format")?,
            options: short(2),
            id: short(4),
            kind: short(6),
            data: u32::from_be_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]),
        })
    }

    fn write(self, bytes: &mut Vec<u8>) {
        let flags = u8::from(self.is_first) << 2 | u8::from(self.is_last) << 1 | u8::from(self.is_chunk);
        bytes.extend_from_slice(&[VERSION << 3 | flags, (self.format as u8) << 4]);
        for len in [self.options, self.id, self.kind] {
            bytes.extend_from_slice(&(len as u16).to_be_bytes());
        }
        bytes.extend_from_slice(&self.data.to_be_bytes());
    }
}

/// Returns the number of padding bytes for a length.
pub(super) fn padding(len: u64) -> usize {
    (len.wrapping_neg() & 3) as usize
}

fn padded(len: usize) -> usize {
    len + padding(len as u64)
}

/// Returns the head, ID and type of a record, before its data. A value that is too long for a
/// 16-bit length is truncated.
pub(super) fn record(head: Head, id: &str, kind: &str) -> Vec<u8> {
    let (id, kind) = (truncated(id), truncated(kind));
    let mut bytes = Vec::with_capacity(HEAD + padded(id.len()) + padded(kind.len()));
    Head { options: 0, id: id.len(), kind: kind.len(), ..head }.write(&mut bytes);
    for text in [id, kind] {
        bytes.extend_from_slice(text.as_bytes());
        bytes.resize(padded(bytes.len()), 0);
    }
    bytes
}

/// Returns as many characters as have a 16-bit length.
fn truncated(text: &str) -> &str {
    let mut ends = (0..=text.len().min(usize::from(u16::MAX))).rev();
    let end = ends.find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// The parser of one message.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) input: Input,
    state: State,
    limits: AttachmentLimits,
    /// True between the first and the last chunk of a part.
    is_open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    /// Options, ID and type.
    Fields(Head),
    /// This many bytes of data remain, and the padding.
    Data(Head, u32),
    /// After the last record.
    Ended,
    /// All events have been returned.
    Behind,
}

impl Records {
    pub(super) fn new(limits: AttachmentLimits) -> Self {
        Records { input: Input::default(), state: State::Head, limits, is_open: false }
    }

    /// Returns the next event; `None` if more bytes are needed, or after the last record.
    pub(super) fn next(&mut self) -> Result<Option<Event>, AttachmentError> {
        loop {
            let found = match self.state {
                State::Head => self.head()?,
                State::Fields(head) => self.fields(head)?,
                State::Data(head, 0) => self.end(head)?,
                State::Data(head, left) => self.data(head, left)?,
                State::Ended => {
                    self.state = State::Behind;
                    StepResult::Event(Event::End)
                }
                State::Behind if self.input.rest.is_empty() => StepResult::Nothing,
                State::Behind => return Err(self.input.malformed("bytes follow the last record")),
            };
            match found {
                StepResult::Nothing => return Ok(None),
                StepResult::Next => {}
                StepResult::Event(event) => return Ok(Some(event)),
            }
        }
    }

    fn head(&mut self) -> Result<StepResult, AttachmentError> {
        let Some(bytes) = self.input.rest.first_chunk::<HEAD>() else { return self.input.more("the last record") };
        let head = Head::read(bytes).and_then(|head| self.checked(head));
        let head = head.map_err(|what| self.input.malformed(what))?;
        if head.options + head.id + head.kind > self.limits.headers {
            return Err(self.input.limit_error("headers", self.limits.headers as u64));
        }
        self.state = State::Fields(head);
        Ok(StepResult::Next)
    }

    /// Returns some of a record's data.
    fn data(&mut self, head: Head, left: u32) -> Result<StepResult, AttachmentError> {
        if self.input.rest.is_empty() {
            return self.input.more("the end of a record's data");
        }
        let data = self.input.take(left as usize);
        self.state = State::Data(head, left - data.len() as u32);
        Ok(StepResult::Event(Event::Data(data)))
    }

    /// Skips the padding and ends the record.
    fn end(&mut self, head: Head) -> Result<StepResult, AttachmentError> {
        let padding = padding(u64::from(head.data));
        if self.input.rest.len() < padding {
            return self.input.more("a record's padding");
        }
        self.input.take(padding);
        self.state = if head.is_last { State::Ended } else { State::Head };
        Ok(if head.is_chunk { StepResult::Next } else { StepResult::Event(Event::PartEnd) })
    }

    /// Checks whether a record may come here (sections 3.2.1 to 3.2.5).
    fn checked(&self, head: Head) -> Result<Head, &'static str> {
        let is_very_first = self.input.part == 0;
        let goes_on = head.format == TypeFormat::Unchanged;
        if head.is_first != is_very_first {
            return Err("the flag MB must be set on the first record, and on no other");
        }
        if goes_on != self.is_open {
            return Err("a chunk is missing, or continues no part");
        }
        if head.is_last && head.is_chunk {
            return Err("the last record announces another chunk");
        }
        let has_type = matches!(head.format, TypeFormat::MediaType | TypeFormat::Uri);
        if (head.kind > 0) != has_type || (goes_on && head.id > 0) {
            return Err("a record's type or ID does not fit its type format");
        }
        if head.format == TypeFormat::None && head.data > 0 {
            return Err("a record without a type has data");
        }
        Ok(head)
    }

    /// Reads options, ID and type, once they are available.
    fn fields(&mut self, head: Head) -> Result<StepResult, AttachmentError> {
        let len = padded(head.options) + padded(head.id) + padded(head.kind);
        if self.input.rest.len() < HEAD + len {
            return self.input.more("the end of a record's type");
        }
        let goes_on = std::mem::replace(&mut self.is_open, head.is_chunk);
        if !goes_on {
            self.input.begin_part(self.limits.parts)?;
        }
        self.input.take(HEAD + padded(head.options));
        let (id, kind) = (self.text(head.id), self.text(head.kind));
        self.state = State::Data(head, head.data);
        Ok(if goes_on { StepResult::Next } else { StepResult::Event(Event::Part(headers(id, kind))) })
    }

    fn text(&mut self, len: usize) -> String {
        let bytes: Bytes = self.input.take(padded(len));
        String::from_utf8_lossy(&bytes[..len]).into_owned()
    }
}

/// Converts the ID and type of a record to headers.
fn headers(id: String, kind: String) -> PartHeaders {
    let mut fields = vec![("Content-Type".to_owned(), kind)];
    let uri = PartUri::new(id);
    fields.push(match uri.content_id() {
        Some(id) => ("Content-ID".to_owned(), id.into_owned()),
        None => ("Content-Location".to_owned(), uri.as_str().to_owned()),
    });
    fields.retain(|(_, value)| !value.is_empty());
    PartHeaders::from_fields(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attachments::error::AttachmentErrorKind;
    use proptest::prelude::*;

    const HEAD_OF_ALL: Head = Head {
        is_first: true,
        is_last: true,
        is_chunk: false,
        format: TypeFormat::MediaType,
        options: 0,
        id: 0,
        kind: 0,
        data: 0,
    };

    fn events(message: &[u8], size: usize, limits: AttachmentLimits) -> Result<Vec<Event>, AttachmentErrorKind> {
        let mut records = Records::new(limits);
        let mut events: Vec<Event> = Vec::new();
        let mut chunks = message.chunks(size);
        loop {
            while let Some(event) = records.next().map_err(|error| match error.kind() {
                AttachmentErrorKind::Malformed(what) => AttachmentErrorKind::Malformed(what),
                AttachmentErrorKind::Ended(what) => AttachmentErrorKind::Ended(what),
                AttachmentErrorKind::Limit { name, limit } => AttachmentErrorKind::Limit { name, limit: *limit },
                other => panic!("{other}"),
            })? {
                match (events.last_mut(), event) {
                    (Some(Event::Data(before)), Event::Data(more)) => *before = [&before[..], &more].concat().into(),
                    (_, event) => events.push(event),
                }
            }
            match chunks.next() {
                Some(chunk) => records.input.push(Bytes::copy_from_slice(chunk)),
                None if records.input.is_last => return Ok(events),
                None => records.input.is_last = true,
            }
        }
    }

    #[test]
    fn texts_are_truncated_between_characters() {
        assert_eq!(truncated("cid:a"), "cid:a");
        assert_eq!(truncated(&"é".repeat(40_000)).len(), usize::from(u16::MAX) - 1);
        assert_eq!(truncated(&"a".repeat(70_000)).len(), usize::from(u16::MAX));
    }

    fn write(parts: &[(String, Vec<Vec<u8>>)]) -> Vec<u8> {
        let mut message = Vec::new();
        for (number, (id, chunks)) in parts.iter().enumerate() {
            for (index, chunk) in chunks.iter().enumerate() {
                let is_end = index + 1 == chunks.len();
                let (id, kind) = if index == 0 { (id.as_str(), "text/plain") } else { ("", "") };
                let format = if index == 0 { TypeFormat::MediaType } else { TypeFormat::Unchanged };
                let head = Head {
                    is_first: number + index == 0,
                    is_last: is_end && number + 1 == parts.len(),
                    is_chunk: !is_end,
                    format,
                    data: chunk.len() as u32,
                    ..HEAD_OF_ALL
                };
                message.extend(record(head, id, kind));
                message.extend_from_slice(chunk);
                message.resize(padded(message.len()), 0);
            }
        }
        message
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            parts in prop::collection::vec(
                ("[a-z:/]{1,9}", prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 1..4)),
                1..4,
            ),
            size in 1..40_usize,
        ) {
            let mut expected = Vec::new();
            for (id, chunks) in &parts {
                let uri = PartUri::new(id.as_str());
                let id = match uri.content_id() {
                    Some(id) => ("Content-ID".to_owned(), id.into_owned()),
                    None => ("Content-Location".to_owned(), id.clone()),
                };
                let kind = ("Content-Type".to_owned(), "text/plain".to_owned());
                expected.push(Event::Part(PartHeaders::from_fields(vec![kind, id])));
                expected.extend(Some(chunks.concat()).filter(|data| !data.is_empty()).map(|data| Event::Data(data.into())));
                expected.push(Event::PartEnd);
            }
            expected.push(Event::End);
            let message = write(&parts);
            let read = events(&message, size, AttachmentLimits::default());
            prop_assert!(matches!(&read, Ok(events) if *events == expected), "{read:?}");
            let cut = events(&message[..message.len() - 1], size, AttachmentLimits::default());
            prop_assert!(matches!(cut, Err(AttachmentErrorKind::Ended(_))));
        }

        #[test]
        fn anything_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100), size in 1..20_usize) {
            let _ = events(&bytes, size, AttachmentLimits::default());
        }
    }

    #[test]
    fn wrong_records_are_refused() {
        let good = record(HEAD_OF_ALL, "", "a/b");
        assert!(events(&good, 3, AttachmentLimits::default()).is_ok());
        let broken = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            matches!(events(&bytes, 100, AttachmentLimits::default()), Err(AttachmentErrorKind::Malformed(_)))
        };
        assert!(broken(0, 0x16), "version");
        assert!(broken(0, 0x0A), "no first record");
        assert!(broken(0, 0x0F), "the last goes on");
        assert!(broken(1, 0x11), "reserved");
        assert!(broken(1, 0x50), "format");
        assert!(broken(1, 0x00), "a chunk alone");
        assert!(broken(1, 0x30), "a type of none");
        let none = Head { format: TypeFormat::None, data: 4, ..HEAD_OF_ALL };
        assert!(events(&record(none, "", ""), 100, AttachmentLimits::default()).is_err());
        assert!(matches!(events(b"", 1, AttachmentLimits::default()), Err(AttachmentErrorKind::Ended(_))));
    }

    #[test]
    fn limits_hold() {
        let limits = AttachmentLimits { headers: 3, parts: 1, ..AttachmentLimits::default() };
        let name = |message: &[u8]| match events(message, 7, limits) {
            Err(AttachmentErrorKind::Limit { name, .. }) => name,
            other => panic!("{other:?}"),
        };
        assert_eq!(name(&record(HEAD_OF_ALL, "", "a/bc")), "headers");
        let unknown =
            |is_first, is_last| record(Head { is_first, is_last, format: TypeFormat::Unknown, ..HEAD_OF_ALL }, "", "");
        assert_eq!(name(&[unknown(true, false), unknown(false, true)].concat()), "parts");
    }
}

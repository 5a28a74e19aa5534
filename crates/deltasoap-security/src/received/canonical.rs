//! Canonical forms of elements of the head.

use super::MessageHead;
use crate::error::SecurityError;
use deltasoap_xml::c14n::{Canonicalizer, Method};
use deltasoap_xml::{Event, Instructions, Limits, Reader, Stop, Window};

/// An element of the head whose canonical form is needed.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// Index of the element.
    pub(crate) element: usize,
    pub(crate) method: Method,
    /// Index of an element within it to leave out: an enveloped signature.
    pub(crate) omitted: Option<usize>,
}

/// Maximum bytes of the canonical forms of one signature's parts of the head. They may be longer
/// than the head: a declaration is repeated wherever it is first used.
const MAX_CANONICAL: usize = 4 << 20;

/// Returns the canonical forms of some elements of a head, in the order of `parts`. Reads the head
/// once.
///
/// # Errors
/// Returns an error if an element has no canonical form, or they are longer than 4 MiB.
pub(crate) fn canonical_parts(head: &MessageHead, parts: &[Part]) -> Result<Vec<Vec<u8>>, SecurityError> {
    let mut reader = Reader::new(Limits { tree_nodes: usize::MAX, ..Limits::default() }, Instructions::Refuse);
    let mut window = Window { last: false, ..Window::whole(&head.bytes) };
    let mut pending: Vec<_> = parts.iter().map(|part| Pending::new(part, head, &mut reader)).collect();
    while pending.iter().any(|part| !part.canonicalizer.is_done()) {
        let event = match reader.next(&mut window) {
            Ok(Event::Done) | Err(Stop::Pending) => break,
            Ok(event) => event,
            Err(Stop::Error(error)) => return Err(SecurityError::Malformed(error.to_string())),
        };
        let at = reader.tag_offset() as usize;
        for part in &mut pending {
            part.take(event, at, window.pos, &reader)?;
        }
        if pending.iter().map(|part| part.out.len()).sum::<usize>() > MAX_CANONICAL {
            return Err(SecurityError::Malformed(format!("signed header blocks take more than {MAX_CANONICAL} bytes")));
        }
    }
    let unfinished = pending.iter().any(|part| !part.canonicalizer.is_done());
    if unfinished {
        return Err(SecurityError::Malformed("a signed header block is incomplete".to_owned()));
    }
    Ok(pending.into_iter().map(|part| part.out).collect())
}

struct Pending {
    canonicalizer: Canonicalizer,
    start: usize,
    omitted: Option<(usize, usize)>,
    is_begun: bool,
    out: Vec<u8>,
}

impl Pending {
    fn new(part: &Part, head: &MessageHead, reader: &mut Reader) -> Self {
        let canonicalizer = Canonicalizer::new(part.method.clone());
        canonicalizer.prepare(reader);
        let place = |index: usize| (head.tree.get(index).start, head.tree.get(index).end);
        Pending {
            canonicalizer,
            start: place(part.element).0,
            omitted: part.omitted.map(place),
            is_begun: false,
            out: Vec::new(),
        }
    }

    /// Takes an event; `at` is the place of the last tag, `end` that after the event.
    fn take(&mut self, event: Event<'_>, at: usize, end: usize, reader: &Reader) -> Result<(), SecurityError> {
        if event == Event::Start && !self.is_begun {
            self.is_begun = at == self.start;
            if !self.is_begun {
                self.canonicalizer.around(reader);
            }
        }
        let is_omitted = self.omitted.is_some_and(|(start, after)| {
            let is_tag = matches!(event, Event::Start | Event::End);
            let place = if is_tag { at } else { end - 1 };
            (start..after).contains(&place) && end <= after
        });
        if is_omitted && event == Event::Start && self.omitted.is_some_and(|(start, _)| at == start) {
            self.canonicalizer.omit(reader);
        }
        if self.is_begun && !is_omitted {
            let out = &mut self.out;
            let taken = self.canonicalizer.event(event, reader, &mut |piece| out.extend_from_slice(piece));
            taken.map_err(|error| SecurityError::Check(error.to_string()))?;
        }
        Ok(())
    }
}

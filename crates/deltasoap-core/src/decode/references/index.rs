//! The index of a message's ids.

use super::marks::marks_of;
use crate::{Error, ErrorKind, Limits};
use deltasoap_xml::{Enclosing, Event, Reader, Stop, Window};
use std::collections::HashMap;
use std::ops::Range;

/// All elements with an id in the kept bytes.
#[derive(Debug, Default)]
pub(super) struct Index {
    by_id: HashMap<Box<str>, usize>,
    targets: Vec<Target>,
    /// The error that ended the message early: elements that were not found may be after it.
    fault: Option<Error>,
    /// Number of searches for the targets of references so far.
    searches: u32,
}

/// An element with an id.
#[derive(Debug)]
pub(super) struct Target {
    /// Its start among the kept bytes.
    pub(super) start: usize,
    /// Start and end of its end tag; [`usize::MAX`] until it was read.
    close: usize,
    pub(super) end: usize,
    /// The declarations in scope around it; `None` if there are more than allowed.
    pub(super) enclosing: Option<Enclosing>,
    /// What it refers to itself.
    next: Next,
    /// True if its id occurs twice.
    is_twice: bool,
    /// The last search that has passed it.
    search: u32,
    /// True if a tree has taken over its id.
    pub(super) is_in_tree: bool,
}

/// Where an element with an id leads.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Next {
    /// Nowhere: it is a value itself.
    Value,
    /// To the element with this id.
    Id(Box<str>),
    /// The final result: an element, or the reason why there is none.
    Found(Result<usize, Unresolved>),
}

/// Reasons why a reference leads to no element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unresolved {
    /// No element has the id.
    Unknown,
    /// Several elements have the id.
    Ambiguous,
    /// It leads back to itself.
    Circular,
}

impl Index {
    /// Indexes all elements of a window, from the element on after whose start tag the reader was
    /// bookmarked. An invalid element is not an error yet: the routine that reads it will find the
    /// error, or another one before it.
    pub(super) fn new(reader: &mut Reader, mut window: Window<'_>, limits: &Limits) -> Self {
        let mut index = Index::default();
        // The tag is read again.
        let outside = reader.depth() - 1;
        reader.cut(outside);
        let mut open = Vec::new();
        let mut inherited = limits.inherited_bindings;
        loop {
            match reader.next(&mut window) {
                Ok(Event::Start) => open.push(index.open(reader, &window, limits, &mut inherited)),
                Ok(Event::End) => {
                    let close = (reader.tag_offset() - window.base) as usize;
                    index.close(open.pop().flatten(), close..window.pos);
                }
                Ok(Event::Text(_) | Event::Char(_)) => reader.forget_text(),
                Ok(Event::Done) | Err(Stop::Pending) => break,
                Err(Stop::Error(error)) => {
                    index.fault = Some(error.into());
                    break;
                }
            }
        }
        index
    }

    /// Adds the element just opened if it has an id, and returns its number.
    fn open(&mut self, reader: &Reader, window: &Window<'_>, limits: &Limits, room: &mut usize) -> Option<usize> {
        let marks = marks_of(reader, |_| true);
        let id = marks.id?;
        let number = self.targets.len();
        let start = (reader.tag_offset() - window.base) as usize;
        let enclosing = self.enclosing(reader, limits, room);
        let next = marks.reference.map_or(Next::Value, |id| Next::Id(id.into()));
        self.targets.push(Target {
            start,
            close: usize::MAX,
            end: usize::MAX,
            enclosing,
            next,
            is_twice: false,
            search: 0,
            is_in_tree: false,
        });
        match self.by_id.get(id) {
            Some(&first) => self.targets[first].is_twice = true,
            None => _ = self.by_id.insert(id.into(), number),
        }
        Some(number)
    }

    /// Returns the declarations in scope around the element just opened: mostly those of the
    /// previous target.
    fn enclosing(&self, reader: &Reader, limits: &Limits, room: &mut usize) -> Option<Enclosing> {
        let before = self.targets.last().and_then(|target| target.enclosing.as_ref());
        if let Some(same) = before.filter(|before| before.is(reader.outer_scope())) {
            return Some(same.clone());
        }
        if reader.declarations_in_scope() > limits.bindings_in_scope {
            return None;
        }
        let enclosing = reader.enclosing();
        *room = room.checked_sub(enclosing.declarations())?;
        Some(enclosing)
    }

    fn close(&mut self, number: Option<usize>, end_tag: Range<usize>) {
        if let Some(number) = number {
            let target = &mut self.targets[number];
            (target.close, target.end) = (end_tag.start, end_tag.end);
        }
    }

    /// Returns the start of the end tag of the element that begins at `start`, if the element was
    /// read to its end and has a separate end tag.
    pub(super) fn end_tag_of(&self, start: usize) -> Option<usize> {
        let number = self.targets.binary_search_by_key(&start, |target| target.start).ok()?;
        let close = self.targets[number].close;
        (start < close && close != usize::MAX).then_some(close)
    }

    /// Records that the elements before `to` have been read in place, and that trees among them
    /// have their ids.
    pub(super) fn have_been_read(&mut self, to: usize) {
        self.targets.iter_mut().take_while(|target| target.start < to).for_each(|target| target.is_in_tree = true);
    }

    pub(super) fn target(&self, number: usize) -> &Target {
        &self.targets[number]
    }

    /// Returns the element with an id, whatever it refers to itself.
    pub(super) fn with_id(&mut self, id: &str) -> Option<&mut Target> {
        let number = *self.by_id.get(id)?;
        self.targets.get_mut(number)
    }

    /// Returns the error that ended the message early.
    pub(super) fn fault(&self) -> Option<&Error> {
        self.fault.as_ref()
    }

    /// Returns the number of the element to which a reference finally leads. All elements on the
    /// way store it, so that a chain is followed only once.
    pub(super) fn find(&mut self, id: &str) -> Result<usize, Unresolved> {
        self.searches += 1;
        let mut path = Vec::new();
        let mut next = self.named(id);
        let found = loop {
            let at = match next {
                Ok(at) => at,
                Err(lost) => break Err(lost),
            };
            let target = &mut self.targets[at];
            if std::mem::replace(&mut target.search, self.searches) == self.searches {
                break Err(Unresolved::Circular);
            }
            next = match std::mem::replace(&mut target.next, Next::Value) {
                Next::Value => break Ok(at),
                Next::Found(found) => {
                    target.next = Next::Found(found);
                    break found;
                }
                Next::Id(id) => self.named(&id),
            };
            path.push(at);
        };
        path.into_iter().for_each(|passed| self.targets[passed].next = Next::Found(found));
        found
    }

    fn named(&self, id: &str) -> Result<usize, Unresolved> {
        let number = *self.by_id.get(id).ok_or(Unresolved::Unknown)?;
        let target = &self.targets[number];
        match target {
            Target { is_twice: true, .. } => Err(Unresolved::Ambiguous),
            // The message ended within the element.
            Target { end: usize::MAX, .. } if self.fault.is_some() => Err(Unresolved::Unknown),
            _ => Ok(number),
        }
    }
}

impl Unresolved {
    /// Returns the error, with a message for people.
    pub(super) fn kind(self, id: &str) -> ErrorKind {
        let why = match self {
            Unresolved::Unknown => "no element has this id",
            Unresolved::Ambiguous => "several elements have this id",
            Unresolved::Circular => "it leads back to itself",
        };
        ErrorKind::Reference(format!("#{id}: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_xml::{Detected, Instructions};

    #[test]
    fn elements_that_were_read_to_their_ends_have_end_tags() {
        let text = "<o><a id='a'>x<b id='b'/></a><c id='c'></c><d/><e id='e'><f id='f'>";
        let mut reader = Reader::new(Limits::default(), Instructions::default());
        let whole = Window {
            bytes: text.as_bytes(),
            pos: 0,
            base: 0,
            last: true,
            encoding: Detected::default(),
            mark: None,
            halted: false,
        };
        let mut window = whole;
        reader.next(&mut window).expect("a start tag");
        let index = Index::new(&mut reader, whole, &Limits::default());
        let end_tag = |tag: &str| index.end_tag_of(text.find(tag).expect("a tag"));
        assert_eq!([end_tag("<a"), end_tag("<c")], [text.find("</a"), text.find("</c")]);
        assert_eq!(["<o", "<b", "<d", "<e", "<f"].map(end_tag), [None; 5]);
        assert!(index.fault().is_some());
    }
}

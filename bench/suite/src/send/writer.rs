//! Ways of writing messages, behind one interface.

use anyhow::Result;
use deltasoap::encode::differential::{EncodeStats, Outgoing, Template, Templates, Templating};
use deltasoap::schema::Use;
use deltasoap::soap::{Version, encode_message};
use deltasoap::{Buffer, Message};

use super::script::Start;
use super::shape::Shape;

/// Values, and a way of writing them.
pub trait Writer<S: Shape> {
    /// Forgets what was written before, so far as the next message is to start without it.
    fn forget(&mut self, start: Start);

    /// Replaces an item.
    fn set(&mut self, place: usize, item: &S::Item);

    /// Writes a message.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write(&mut self) -> Result<Written>;

    /// Gives a message back, so that its memory can be used again.
    fn take_back(&mut self, written: Written);

    /// What was done so far, if templates do it.
    fn stats(&self) -> Option<EncodeStats>;
}

/// A message that was written.
pub enum Written {
    /// In one piece.
    Whole(Buffer),
    /// In a template's pieces.
    Frames(Outgoing),
}

impl Written {
    /// The pieces in order.
    pub fn pieces(&self) -> Vec<&[u8]> {
        match self {
            Written::Whole(buffer) => vec![buffer.as_slice()],
            Written::Frames(outgoing) => outgoing.frames().iter().map(|frame| &**frame).collect(),
        }
    }

    /// Bytes in all.
    pub fn len(&self) -> usize {
        match self {
            Written::Whole(buffer) => buffer.len(),
            Written::Frames(outgoing) => outgoing.len(),
        }
    }
}

/// In full, into one buffer.
pub struct Regular<S: Shape> {
    values: S::Plain,
    buffer: Buffer,
}

impl<S: Shape> Regular<S> {
    /// Writes these items.
    pub fn new(items: &[S::Item]) -> Self {
        Regular { values: S::Plain::from(items.to_vec()), buffer: Buffer::new() }
    }
}

impl<S: Shape> Writer<S> for Regular<S> {
    /// The buffer's memory is used again but where there is no message before.
    fn forget(&mut self, start: Start) {
        if start == Start::Nothing {
            self.buffer = Buffer::new();
        }
    }

    fn set(&mut self, place: usize, item: &S::Item) {
        S::set(&mut self.values, place, item);
    }

    fn write(&mut self) -> Result<Written> {
        let buffer = std::mem::take(&mut self.buffer);
        Ok(Written::Whole(encode_message(Version::Soap11, Use::Literal, &[], &self.values, buffer)?))
    }

    fn take_back(&mut self, written: Written) {
        if let Written::Whole(buffer) = written {
            self.buffer = buffer;
        }
    }

    fn stats(&self) -> Option<EncodeStats> {
        None
    }
}

/// Through a template: values that tell what changed, or that are compared with what was written
/// last.
pub struct Templated<S: Shape, M> {
    values: M,
    set: fn(&mut M, usize, &S::Item),
    template: Template,
    options: Templating,
}

impl<S: Shape> Templated<S, S::Plain> {
    /// Writes these items, compared.
    pub fn compared(items: &[S::Item], options: Templating) -> Self {
        let values = S::Plain::from(items.to_vec());
        Templated { values, set: S::set, template: Template::new(options), options }
    }
}

impl<S: Shape> Templated<S, S::Tracked> {
    /// Writes these items, tracked.
    pub fn tracked(items: &[S::Item], options: Templating) -> Self {
        let values = S::tracked(items.to_vec());
        Templated { values, set: S::set_tracked, template: Template::new(options), options }
    }
}

/// As clients and services write: through the templates of an operation, in full where that is
/// faster. There is one template: values come back by turns here, and others would know them again.
pub struct Adaptive<S: Shape> {
    values: S::Plain,
    templates: Templates,
    options: Templating,
}

impl<S: Shape> Adaptive<S> {
    /// Writes these items.
    pub fn new(items: &[S::Item], options: Templating) -> Self {
        let options = Templating { templates: 1, ..options };
        Adaptive { values: S::Plain::from(items.to_vec()), templates: Templates::new(options), options }
    }
}

impl<S: Shape> Writer<S> for Adaptive<S> {
    fn forget(&mut self, _: Start) {
        self.templates = Templates::new(self.options);
    }

    fn set(&mut self, place: usize, item: &S::Item) {
        S::set(&mut self.values, place, item);
    }

    fn write(&mut self) -> Result<Written> {
        Ok(Written::Frames(self.templates.encode(Version::Soap11, Use::Literal, &[], &self.values)?))
    }

    fn take_back(&mut self, _: Written) {}

    fn stats(&self) -> Option<EncodeStats> {
        Some(self.templates.stats())
    }
}

impl<S: Shape, M: Message> Writer<S> for Templated<S, M> {
    fn forget(&mut self, _: Start) {
        self.template = Template::new(self.options);
    }

    fn set(&mut self, place: usize, item: &S::Item) {
        (self.set)(&mut self.values, place, item);
    }

    fn write(&mut self) -> Result<Written> {
        Ok(Written::Frames(self.template.encode(Version::Soap11, Use::Literal, &[], &self.values)?))
    }

    /// Dropped: the template copies what is held.
    fn take_back(&mut self, _: Written) {}

    fn stats(&self) -> Option<EncodeStats> {
        Some(self.template.stats())
    }
}

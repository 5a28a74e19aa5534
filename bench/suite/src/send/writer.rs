//! Ways of writing messages, with a common interface.

use anyhow::Result;
use deltasoap::Message;
use deltasoap::engine::Buffer;
use deltasoap::engine::encode::differential::{EncodeStats, Outgoing, Template, Templates, Templating};
use deltasoap::soap::Envelope;

use super::script::Start;
use super::shape::Shape;

/// Values, and a way of writing them.
pub trait Writer<S: Shape> {
    /// Forgets earlier messages, as far as the next message must start without them.
    fn forget(&mut self, start: Start);

    /// Replaces an item.
    fn set(&mut self, place: usize, item: &S::Item);

    /// Writes a message.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write(&mut self) -> Result<Written>;

    /// Returns a message, so that its memory can be reused.
    fn take_back(&mut self, written: Written);

    /// Returns the statistics of templates, if there are any.
    fn stats(&self) -> Option<EncodeStats>;
}

/// A written message.
pub enum Written {
    /// A whole message.
    Whole(Buffer),
    /// The frames of a template.
    Frames(Outgoing),
}

impl Written {
    /// Returns the pieces in order.
    pub fn pieces(&self) -> Vec<&[u8]> {
        match self {
            Written::Whole(buffer) => vec![buffer.as_slice()],
            Written::Frames(outgoing) => outgoing.frames().iter().map(|frame| &**frame).collect(),
        }
    }

    /// Returns the total number of bytes.
    pub fn len(&self) -> usize {
        match self {
            Written::Whole(buffer) => buffer.len(),
            Written::Frames(outgoing) => outgoing.len(),
        }
    }
}

/// Writes in full, into one buffer.
pub struct Regular<S: Shape> {
    values: S::Plain,
    buffer: Buffer,
}

impl<S: Shape> Regular<S> {
    /// Creates a writer of these items.
    pub fn new(items: &[S::Item]) -> Self {
        Regular { values: S::Plain::from(items.to_vec()), buffer: Buffer::new() }
    }
}

impl<S: Shape> Writer<S> for Regular<S> {
    /// The buffer's memory is reused unless there is no previous message.
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
        Ok(Written::Whole(Envelope::new(&self.values).write(buffer)?))
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

/// Writes through a template: values track changes, or are compared with the last written ones.
pub struct Templated<S: Shape, M> {
    values: M,
    set: fn(&mut M, usize, &S::Item),
    template: Template,
    options: Templating,
}

impl<S: Shape> Templated<S, S::Plain> {
    /// Creates a writer of these items, compared.
    pub fn compared(items: &[S::Item], options: Templating) -> Self {
        let values = S::Plain::from(items.to_vec());
        Templated { values, set: S::set, template: Template::new(options), options }
    }
}

impl<S: Shape> Templated<S, S::Tracked> {
    /// Creates a writer of these items, tracked.
    pub fn tracked(items: &[S::Item], options: Templating) -> Self {
        let values = S::tracked(items.to_vec());
        Templated { values, set: S::set_tracked, template: Template::new(options), options }
    }
}

/// Writes like clients and services: through the templates of an operation, or in full if that is
/// faster. It uses only one template, since alternating values would match others.
pub struct Adaptive<S: Shape> {
    values: S::Plain,
    templates: Templates,
    options: Templating,
}

impl<S: Shape> Adaptive<S> {
    /// Creates a writer of these items.
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
        Ok(Written::Frames(self.templates.encode(&Envelope::new(&self.values))?))
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
        Ok(Written::Frames(self.template.encode(&Envelope::new(&self.values))?))
    }

    /// The message is dropped: the template copies what it still needs.
    fn take_back(&mut self, _: Written) {}

    fn stats(&self) -> Option<EncodeStats> {
        Some(self.template.stats())
    }
}

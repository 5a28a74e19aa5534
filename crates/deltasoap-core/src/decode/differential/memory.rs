//! The memory of one stream of messages: the last value, and what the decoder keeps to find what changed.

use super::DifferentialStats;
use super::leaf::{Begin, Template};
use crate::content::{Content, Typed};
use crate::decode::{Cursor, Step, Stop};
use crate::schema::{Compositor, View};

/// The value of the last message of a stream, and what the next one is compared with.
///
/// A memory serves messages of one type. It may be moved between decoders and between connections; what it holds is of
/// one client, so it must not be given to another unless the service allows that.
#[derive(Debug)]
pub struct Memory<T> {
    value: T,
    /// What the next message is compared with. The value is whole while there is one.
    template: Option<Box<Template>>,
    stats: DifferentialStats,
}

impl<T: Typed> Default for Memory<T> {
    fn default() -> Self {
        Memory::new(T::vacant(T::view()))
    }
}

impl<T> Memory<T> {
    /// A memory without a message. `value` is what it gives until there is one.
    pub fn new(value: T) -> Self {
        Memory { value, template: None, stats: DifferentialStats::default() }
    }

    /// The last message's value.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// The value for good; the next message has nothing to be compared with.
    pub fn into_value(self) -> T {
        self.value
    }

    /// Forgets the message, so that the next one is read in regular mode; frees all buffers.
    pub fn forget(&mut self) {
        self.template = None;
    }

    /// Bytes held beyond the value, buffers counted by their capacity.
    pub fn bytes(&self) -> usize {
        self.template.as_ref().map_or(0, |template| template.bytes())
    }

    /// What differential decoding did for this stream.
    pub fn stats(&self) -> DifferentialStats {
        DifferentialStats { memory: self.bytes() as u64, ..self.stats }
    }
}

impl<T: Content> Memory<T> {
    /// Reads the content of an operation's element whose start tag has just been read, up to and with its end tag; see
    /// [`Content::decode`].
    ///
    /// # Errors
    /// As [`Content::decode`]. The memory is without a message then.
    pub fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        let (me, fresh) = cursor.enter();
        if fresh && self.begin(cursor, view, me) {
            return Err(Stop::Switch);
        }
        self.value.decode(cursor, view)?;
        self.end(cursor);
        cursor.leave(me);
        Ok(())
    }

    /// Decides how the operation is read; true if it is compared with the message before.
    fn begin(&mut self, cursor: &mut Cursor<'_>, view: View<'_>, me: usize) -> bool {
        self.stats.messages += 1;
        let schema = std::ptr::from_ref(view.element).addr();
        let is_told_by_order = view.complex().is_none_or(|complex| complex.compositor != Compositor::All);
        let old = self.template.take();
        match is_told_by_order.then(|| cursor.begin_operation(old, schema, me + 1)) {
            Some(Begin::Compare) => true,
            Some(Begin::Read) | None => {
                self.value = T::vacant(view);
                false
            }
        }
    }

    fn end(&mut self, cursor: &mut Cursor<'_>) {
        let end = cursor.reader().tag_offset();
        let session = &mut cursor.state().session;
        if session.has_begun() {
            self.template = session.finish(end);
            self.stats += session.stats;
        }
    }
}

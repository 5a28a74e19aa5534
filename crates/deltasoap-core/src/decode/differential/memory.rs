//! The memory of one stream of messages: the last value, and what the decoder keeps to find what changed.

use super::DifferentialStats;
use crate::content::{Content, Typed};
use crate::decode::{Cursor, Step};
use crate::schema::View;

/// The value of the last message of a stream, and what the next one is compared with.
///
/// A memory serves messages of one type. It may be moved between decoders and between connections; what it holds is of
/// one client, so it must not be given to another unless the service allows that.
#[derive(Debug)]
pub struct Memory<T> {
    value: T,
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
        Memory { value, stats: DifferentialStats::default() }
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
        self.stats.memory = 0;
    }

    /// Bytes held beyond the value, buffers counted by their capacity.
    pub fn bytes(&self) -> usize {
        self.stats.memory as usize
    }

    /// What differential decoding did for this stream.
    pub fn stats(&self) -> &DifferentialStats {
        &self.stats
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
        if fresh {
            self.value = T::vacant(view);
            self.stats.messages += 1;
        }
        self.value.decode(cursor, view)?;
        cursor.leave(me);
        Ok(())
    }
}

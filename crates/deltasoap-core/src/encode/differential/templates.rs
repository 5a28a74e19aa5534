//! The templates of one operation.

use super::{EncodeStats, Outgoing, Template, Templating};
use crate::schema::Use;
use crate::soap::{HeaderBlock, Version};
use crate::{Error, Message};

/// Several templates for the messages of one operation (*Differential Serialization*, section 6): each message is written against
/// the one that is most alike, so that callers which alternate between two or three different messages rewrite none of them.
#[derive(Debug, Clone)]
pub struct Templates {
    template: Template,
}

impl Templates {
    /// No templates yet.
    pub fn new(options: Templating) -> Self {
        Templates { template: Template::new(options) }
    }

    /// Writes a message. Messages of different types do not belong into one set: they would be written in full each time.
    ///
    /// # Errors
    /// When the value holds text that XML cannot carry.
    pub fn encode<T: Message>(
        &mut self,
        version: Version,
        encoding: Use,
        headers: &[HeaderBlock],
        body: &T,
    ) -> Result<Outgoing, Error> {
        self.template.encode(version, encoding, headers, body)
    }

    /// What was done so far.
    pub fn stats(&self) -> EncodeStats {
        self.template.stats()
    }

    /// Bytes of memory that the templates take.
    pub fn memory(&self) -> usize {
        self.template.memory()
    }

    /// How messages are written.
    pub fn options(&self) -> &Templating {
        self.template.options()
    }
}

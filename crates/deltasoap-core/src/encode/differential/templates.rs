//! The templates of one operation.

use super::{EncodeStats, Outgoing, Template, Templating};
use crate::schema::{QName, Use, View};
use crate::soap::{HeaderBlock, Version};
use crate::{Content, Error, Message};

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
        self.encode_element(version, encoding, headers, &T::ELEMENT, (body, T::view()))
    }

    /// As [`encode`](Self::encode), with a body element of any name, its value with the view that it is written with: for
    /// dynamic values.
    ///
    /// # Errors
    /// As [`encode`](Self::encode), and when the value is of another shape than its schema.
    pub fn encode_element<T: Content>(
        &mut self,
        version: Version,
        encoding: Use,
        headers: &[HeaderBlock],
        name: &QName,
        body: (&T, View<'_>),
    ) -> Result<Outgoing, Error> {
        self.template.encode_element(version, encoding, headers, name, body)
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

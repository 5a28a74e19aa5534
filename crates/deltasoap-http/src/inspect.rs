//! Inspection: a function that receives each whole message before its value is used.
//!
//! Decoding reads a message as it arrives and keeps none of it. Some checks need all of its bytes:
//! the facets of a schema, or a signature. The bytes are kept until the message ends only if an
//! [`Inspector`] is set. They never exceed the limit on messages.

use crate::BoxError;
use crate::charset::Charset;
use bytes::{Bytes, BytesMut};
use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Messages longer than this are inspected on a thread that may block.
const LONG: usize = 64 << 10;

/// Inspects whole messages, and may reject them.
#[derive(Clone)]
pub(crate) struct Inspector(Arc<Inspect>);

type Inspect = dyn Fn(&[u8]) -> Result<(), BoxError> + Send + Sync;

impl Inspector {
    pub(crate) fn new(inspect: impl Fn(&[u8]) -> Result<(), BoxError> + Send + Sync + 'static) -> Self {
        Inspector(Arc::new(inspect))
    }
}

impl fmt::Debug for Inspector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Inspector")
    }
}

/// The inspection of one message, if there is an inspector.
#[derive(Debug)]
pub(crate) struct Inspection {
    inspector: Option<Inspector>,
    /// The first piece of the message. Most have only one, which is not copied.
    first: Bytes,
    /// The whole message, from its second piece on.
    joined: BytesMut,
}

impl Inspection {
    pub(crate) fn new(inspector: Option<&Inspector>) -> Self {
        Inspection { inspector: inspector.cloned(), first: Bytes::new(), joined: BytesMut::new() }
    }

    /// Keeps the next bytes of the message.
    pub(crate) fn add(&mut self, data: &Bytes) {
        if self.inspector.is_none() {
            return;
        }
        if self.first.is_empty() {
            self.first = data.clone();
            return;
        }
        if self.joined.is_empty() {
            self.joined.extend_from_slice(&self.first);
        }
        self.joined.extend_from_slice(data);
    }

    /// Inspects the message, which has arrived in full. A message whose encoding only `charset`
    /// names is inspected in UTF-8.
    ///
    /// # Errors
    /// Returns the inspector's error.
    pub(crate) async fn finish(&mut self, charset: &Charset) -> Result<(), BoxError> {
        let Some(Inspector(inspect)) = self.inspector.take() else { return Ok(()) };
        let (first, joined) = (std::mem::take(&mut self.first), std::mem::take(&mut self.joined));
        let message = charset.self_described(if joined.is_empty() { first } else { joined.freeze() });
        if message.len() <= LONG || Handle::try_current().is_err() {
            return inspect(&message);
        }
        match tokio::task::spawn_blocking(move || inspect(&message)).await {
            Ok(inspected) => inspected,
            Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
            Err(error) => Err(error.into()),
        }
    }
}

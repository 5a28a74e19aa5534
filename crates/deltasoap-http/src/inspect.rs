//! Inspection: functions that receive each whole message before its value is used.
//!
//! Decoding reads a message as it arrives and keeps none of it. Some checks need all of its bytes:
//! [validation](crate::validation) by a schema, or a signature. The bytes are kept until the
//! message ends only if there is such a check. They never exceed the limit on messages.

use crate::charset::Charset;
use crate::error::BoxError;
use crate::validation::{Finding, Invalid, Subject, Validating};
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

/// The checks of an endpoint that need whole messages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Checks {
    pub(crate) inspector: Option<Inspector>,
    pub(crate) validating: Option<Validating>,
}

impl Checks {
    pub(crate) fn is_empty(&self) -> bool {
        self.inspector.is_none() && self.validating.is_none()
    }

    fn run(&self, message: &[u8], subject: Subject, tree_nodes: usize) -> Result<Vec<Finding>, Rejection> {
        if let Some(Inspector(inspect)) = &self.inspector {
            inspect(message).map_err(Rejection::Refused)?;
        }
        let Some(validating) = &self.validating else { return Ok(Vec::new()) };
        validating.received(subject, message, tree_nodes).map_err(Rejection::Invalid)
    }
}

/// The reason that a whole message is rejected.
pub(crate) enum Rejection {
    /// The inspector refused it.
    Refused(BoxError),
    /// It violates its schema.
    Invalid(Invalid),
}

/// The inspection of one message, if there are checks.
#[derive(Debug)]
pub(crate) struct Inspection {
    checks: Checks,
    /// Maximum number of nodes of a message that is validated.
    tree_nodes: usize,
    /// The first piece of the message. Most have only one, which is not copied.
    first: Bytes,
    /// The whole message, from its second piece on.
    joined: BytesMut,
}

impl Inspection {
    pub(crate) fn new(checks: &Checks, tree_nodes: usize) -> Self {
        Inspection { checks: checks.clone(), tree_nodes, first: Bytes::new(), joined: BytesMut::new() }
    }

    /// Keeps the next bytes of the message.
    pub(crate) fn add(&mut self, data: &Bytes) {
        if self.checks.is_empty() {
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

    /// Inspects the message, which has arrived in full, and returns the findings of an invalid one
    /// that is accepted. A message whose encoding only `charset` names is inspected in UTF-8.
    ///
    /// # Errors
    /// Returns the reason that it is rejected.
    pub(crate) async fn finish(&mut self, charset: &Charset, subject: Subject) -> Result<Vec<Finding>, Rejection> {
        let checks = std::mem::take(&mut self.checks);
        if checks.is_empty() {
            return Ok(Vec::new());
        }
        let (first, joined) = (std::mem::take(&mut self.first), std::mem::take(&mut self.joined));
        let message = charset.self_described(if joined.is_empty() { first } else { joined.freeze() });
        let tree_nodes = self.tree_nodes;
        if message.len() <= LONG || Handle::try_current().is_err() {
            return checks.run(&message, subject, tree_nodes);
        }
        match tokio::task::spawn_blocking(move || checks.run(&message, subject, tree_nodes)).await {
            Ok(inspected) => inspected,
            Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
            Err(error) => Err(Rejection::Refused(error.into())),
        }
    }
}

//! Header blocks of answers that must be understood (SOAP 1.1, 4.2.3; SOAP 1.2 part 1, 2.4 and
//! 2.6). An answer with a block that is not understood is rejected before its body is read.

use super::addressing::check_answer;
use deltasoap_core::decode::{Cursor, Step};
use deltasoap_core::soap::addressing::Addressing;
use deltasoap_core::soap::{Head, Receiver};
use deltasoap_core::{ErrorKind, QName};

/// The header blocks that the caller understands.
#[derive(Debug, Clone, Default)]
pub(super) struct Understood {
    pub(super) names: Vec<QName>,
    /// True if all header blocks are understood.
    pub(super) all: bool,
    /// The id of the request that responses answer, in WS-Addressing; `None` without it.
    pub(super) answers: Option<Box<str>>,
}

impl Understood {
    /// Returns the union of both.
    pub(super) fn and(&self, mut other: Understood) -> Self {
        other.names.extend_from_slice(&self.names);
        let answers = other.answers.or_else(|| self.answers.clone());
        Understood { names: other.names, all: self.all || other.all, answers }
    }

    fn has(&self, name: &QName) -> bool {
        self.all || self.names.contains(name) || self.answers.is_some() && Addressing::defines(name)
    }
}

/// Accepts the bodies of messages whose mandatory header blocks are understood. Faults are accepted
/// with any header blocks: the call has failed in any case, and they give the reason.
pub(super) struct Checked<R> {
    receiver: R,
    understood: Understood,
    /// True if the body is a fault.
    pub(super) is_fault: bool,
}

impl<R> Checked<R> {
    pub(super) fn new(receiver: R, understood: Understood) -> Self {
        Checked { receiver, understood, is_fault: false }
    }

    pub(super) fn inner(&mut self) -> &mut R {
        &mut self.receiver
    }

    pub(super) fn into_inner(self) -> R {
        self.receiver
    }

    fn check(&self, head: &Head) -> Result<(), ErrorKind> {
        let version = head.version();
        for block in head.headers.iter().filter(|block| block.is_for_us(version)) {
            let name = &block.node.name;
            if block.mandatory(version)? && !self.understood.has(name) {
                return Err(ErrorKind::MustUnderstand(name.to_string()));
            }
        }
        self.understood.answers.as_deref().map_or(Ok(()), |id| check_answer(head, id))
    }
}

impl<R: Receiver> Receiver for Checked<R> {
    fn open_body(&mut self, head: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        self.is_fault = namespace == head.version().namespace() && local == "Fault";
        if !self.is_fault {
            self.check(head)?;
        }
        self.receiver.open_body(head, namespace, local)
    }

    fn empty_body(&mut self, head: &Head) -> Result<(), ErrorKind> {
        self.check(head)?;
        self.receiver.empty_body(head)
    }

    fn takes_several(&self) -> bool {
        self.receiver.takes_several()
    }

    fn open_another(&mut self, head: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        self.receiver.open_another(head, namespace, local)
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.receiver.decode_body(cursor)
    }

    fn close_body(&mut self) -> Result<(), ErrorKind> {
        self.receiver.close_body()
    }
}

//! Bodies that can be taken back until they are read.

use super::Body;
use super::failed;
use bytes::Bytes;
use deltasoap_core::Error;
use http_body::{Body as _, SizeHint};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A body that its sender can take back.
#[derive(Debug)]
pub(super) struct Lent {
    slot: Slot,
    /// The size hint of the body before it is read.
    pub(super) size: SizeHint,
    pub(super) is_end: bool,
    pub(super) is_repeatable: bool,
}

/// Holds a body until it is read.
#[derive(Debug, Clone)]
pub(crate) struct Slot(Arc<Mutex<Option<Body>>>);

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Option<Body>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the body, if nothing of it was read.
    pub(crate) fn take(&self) -> Option<Body> {
        self.lock().take()
    }
}

impl Lent {
    pub(super) fn new(body: Body) -> (Self, Slot) {
        let (size, is_end, is_repeatable) = (body.size_hint(), body.is_end_stream(), body.is_repeatable());
        let slot = Slot(Arc::new(Mutex::new(Some(body))));
        (Lent { slot: slot.clone(), size, is_end, is_repeatable }, slot)
    }

    /// See [`Body::whole`].
    pub(super) fn whole(&self) -> Option<Bytes> {
        self.slot.lock().as_ref()?.whole()
    }

    /// Returns the body, for its first reader.
    ///
    /// # Errors
    /// Returns an error if another clone was read.
    pub(super) fn take(&self) -> Result<Body, Error> {
        self.slot.take().ok_or_else(|| failed("the body was sent already and cannot be sent again"))
    }
}

/// Creates an independent copy, so that layers may keep one to send it again.
impl Clone for Lent {
    fn clone(&self) -> Self {
        let slot = Slot(Arc::new(Mutex::new(self.slot.lock().clone())));
        Lent { slot, ..*self }
    }
}

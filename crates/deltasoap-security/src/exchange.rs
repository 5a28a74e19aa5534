//! What ties a response to its request: the signatures that a response confirms, and whom it is
//! encrypted for.

use crate::keys::Certificate;
use std::sync::{Arc, Mutex, PoisonError};

/// The security of a request that was sent, against which its response is verified.
///
/// [`Protection::requesting`](crate::Protection::requesting) makes one, and
/// [`Requirements::begin_response`](crate::Requirements::begin_response) takes it.
#[derive(Debug, Clone, Default)]
pub struct Exchange(Arc<Mutex<Vec<Vec<u8>>>>);

impl Exchange {
    /// Notes the value of a signature that is sent.
    pub(crate) fn note(&self, signature: Vec<u8>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(signature);
    }

    /// Returns true if these are the values of the signatures that were sent, in any order.
    pub(crate) fn is_confirmed_by(&self, mut values: Vec<Vec<u8>>) -> bool {
        let mut sent = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        sent.sort_unstable();
        values.sort_unstable();
        sent == values
    }
}

/// The security of a request that was received, which the response refers to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    /// The values of its signatures.
    pub(crate) signatures: Vec<Vec<u8>>,
    /// The certificate of its signer.
    pub(crate) signer: Option<Certificate>,
}

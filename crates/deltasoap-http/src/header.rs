//! Typed header blocks.

use std::ops::Deref;

/// A header block as a typed value.
///
/// As an argument of a handler it is taken from the request, if it is for this service
/// ([`Context::header`](crate::Context::header)), and it is required: a request without it is
/// answered with a fault. `Option<Header<T>>` is `None` without it. As the result of a
/// [`HeaderProvider`](crate::HeaderProvider) it is added to a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Header<T>(pub T);

impl<T> Deref for Header<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

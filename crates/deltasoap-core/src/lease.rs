//! Leases: values on loan from the engine to a handler.
//!
//! A handler reads a request through a [`Lease`]. The lease dereferences to the value, but never
//! mutably, because the engine may continue to use the value as the memory of the last message.
//! When the lease is dropped, the value returns to its [`LeaseOwner`]. A handler that wants to keep
//! or change the value takes it with [`Lease::into_owned`].

use crate::Memory;
use std::ops::Deref;
use std::sync::Arc;

/// The owner that a leased value returns to.
pub trait LeaseOwner<T>: Send + Sync {
    /// Takes back a value that is no longer used, with the data that the decoder keeps for it.
    fn take_back(&self, memory: Box<Memory<T>>);
}

/// A value on loan.
pub struct Lease<T> {
    /// `None` only after the lease was dropped or turned into the value.
    memory: Option<Box<Memory<T>>>,
    owner: Option<Arc<dyn LeaseOwner<T>>>,
}

impl<T> Lease<T> {
    /// Creates a lease on a value without an owner: the value is dropped with the lease.
    pub fn new(value: T) -> Self {
        Lease { memory: Some(Box::new(Memory::new(value))), owner: None }
    }

    /// Creates a lease on a value that goes back to `owner`.
    pub fn with_owner(memory: Box<Memory<T>>, owner: Arc<dyn LeaseOwner<T>>) -> Self {
        Lease { memory: Some(memory), owner: Some(owner) }
    }

    /// Takes the value out of the lease; it does not return to its owner.
    pub fn into_owned(mut self) -> T {
        match self.memory.take() {
            Some(memory) => memory.into_value(),
            None => unreachable!("a lease has its value until it is dropped"),
        }
    }
}

impl<T> Deref for Lease<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.memory {
            Some(memory) => memory.value(),
            None => unreachable!("a lease has its value until it is dropped"),
        }
    }
}

impl<T> Drop for Lease<T> {
    fn drop(&mut self) {
        if let (Some(memory), Some(owner)) = (self.memory.take(), &self.owner) {
            owner.take_back(memory);
        }
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Lease<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Lease").field(&**self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    struct Shelf(Mutex<Vec<i32>>);

    impl LeaseOwner<i32> for Shelf {
        fn take_back(&self, memory: Box<Memory<i32>>) {
            self.0.lock().expect("not poisoned").push(memory.into_value());
        }
    }

    #[test]
    fn a_dropped_lease_returns_its_value_to_its_owner() {
        let shelf = Arc::new(Shelf(Mutex::default()));
        drop(Lease::with_owner(Box::new(Memory::new(1)), shelf.clone()));
        assert_eq!(Lease::with_owner(Box::new(Memory::new(2)), shelf.clone()).into_owned(), 2);
        assert_eq!(*shelf.0.lock().expect("not poisoned"), [1]);
    }
}

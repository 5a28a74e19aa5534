//! Leases: values on loan from the engine to a handler.
//!
//! A handler reads a request through a [`Lease`]. It dereferences to the value but never mutably, because the engine may
//! go on using the value as the memory of the last message; when the lease is dropped the value goes back to its
//! [`Home`]. A handler that wants to keep or change the value takes it with [`Lease::into_owned`].

use std::ops::Deref;
use std::sync::Arc;

/// Where a leased value goes back to.
pub trait Home<T>: Send + Sync {
    /// Takes a value back that nobody uses any more.
    fn take_back(&self, value: T);
}

/// A value on loan.
pub struct Lease<T> {
    /// Present until the lease is dropped or turned into the value.
    value: Option<Box<T>>,
    home: Option<Arc<dyn Home<Box<T>>>>,
}

impl<T> Lease<T> {
    /// A lease on a value that has no home: it is dropped with the lease.
    pub fn new(value: T) -> Self {
        Lease { value: Some(Box::new(value)), home: None }
    }

    /// A lease on a value that goes back to `home`.
    pub fn with_home(value: Box<T>, home: Arc<dyn Home<Box<T>>>) -> Self {
        Lease { value: Some(value), home: Some(home) }
    }

    /// Takes the value for good; it does not go back.
    pub fn into_owned(mut self) -> T {
        match self.value.take() {
            Some(value) => *value,
            None => unreachable!("a lease has its value until it is dropped"),
        }
    }
}

impl<T> Deref for Lease<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.value {
            Some(value) => value,
            None => unreachable!("a lease has its value until it is dropped"),
        }
    }
}

impl<T> Drop for Lease<T> {
    fn drop(&mut self) {
        if let (Some(value), Some(home)) = (self.value.take(), &self.home) {
            home.take_back(value);
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

    impl Home<Box<i32>> for Shelf {
        fn take_back(&self, value: Box<i32>) {
            self.0.lock().expect("not poisoned").push(*value);
        }
    }

    #[test]
    fn a_dropped_lease_brings_its_value_home_and_a_taken_one_does_not() {
        let shelf = Arc::new(Shelf(Mutex::default()));
        drop(Lease::with_home(Box::new(1), shelf.clone()));
        assert_eq!(Lease::with_home(Box::new(2), shelf.clone()).into_owned(), 2);
        assert_eq!(*shelf.0.lock().expect("not poisoned"), [1]);
    }
}

//! Pairs: one value for the regular service, and one for the differential service.

use std::ops::{Index, IndexMut};

/// How a service decodes and encodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Regular,
    Differential,
}

/// One value for each [`Way`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Both<T> {
    pub regular: T,
    pub differential: T,
}

impl<T> Both<T> {
    /// Applies a function to both values.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> Both<U> {
        Both { regular: f(&self.regular), differential: f(&self.differential) }
    }
}

impl<T> Index<Way> for Both<T> {
    type Output = T;

    fn index(&self, way: Way) -> &T {
        match way {
            Way::Regular => &self.regular,
            Way::Differential => &self.differential,
        }
    }
}

impl<T> IndexMut<Way> for Both<T> {
    fn index_mut(&mut self, way: Way) -> &mut T {
        match way {
            Way::Regular => &mut self.regular,
            Way::Differential => &mut self.differential,
        }
    }
}

//! Pairs: one value for the regular service, and one for the differential service.

use std::ops::{Index, IndexMut};

/// How a service decodes and encodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Regular,
    Differential,
}

/// One value for each [`Mode`].
#[derive(Debug, Clone, Copy, Default)]
pub struct PerMode<T> {
    pub regular: T,
    pub differential: T,
}

impl<T> PerMode<T> {
    /// Applies a function to both values.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> PerMode<U> {
        PerMode { regular: f(&self.regular), differential: f(&self.differential) }
    }
}

impl<T> Index<Mode> for PerMode<T> {
    type Output = T;

    fn index(&self, mode: Mode) -> &T {
        match mode {
            Mode::Regular => &self.regular,
            Mode::Differential => &self.differential,
        }
    }
}

impl<T> IndexMut<Mode> for PerMode<T> {
    fn index_mut(&mut self, mode: Mode) -> &mut T {
        match mode {
            Mode::Regular => &mut self.regular,
            Mode::Differential => &mut self.differential,
        }
    }
}

//! The bytes themselves: every change is detected, and every portion costs its size in memory.

use super::PortionMatcher;

/// Stores portions and compares their bytes.
#[derive(Debug, Default)]
pub(crate) struct Compare;

impl PortionMatcher for Compare {
    type Sum = Box<[u8]>;

    fn sum(&self, bytes: &[u8]) -> Box<[u8]> {
        bytes.into()
    }

    fn matches(&self, sum: &Box<[u8]>, bytes: &[u8]) -> bool {
        **sum == *bytes
    }

    fn held(sum: &Box<[u8]>) -> usize {
        sum.len()
    }

    fn write(sum: &Box<[u8]>, out: &mut Vec<u8>) {
        out.extend_from_slice(sum);
    }
}

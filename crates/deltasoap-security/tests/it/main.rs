//! Messages that are secured and verified, and attacks on them.

mod attacks;
mod round_trip;
mod support;

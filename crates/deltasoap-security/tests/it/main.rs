//! Messages that are secured and verified, and attacks on them.

mod attacks;
mod encryption;
mod policy;
mod round_trip;
mod saml;
mod support;

//! Messages that are secured and verified, and attacks on them.

mod attacks;
mod encryption;
mod round_trip;
mod saml;
mod support;

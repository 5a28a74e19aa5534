//! Security tokens and timestamps.

pub(crate) mod binary;
pub(crate) mod saml;
pub(crate) mod timestamp;
pub(crate) mod username;

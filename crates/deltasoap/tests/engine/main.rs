//! The engine with typed values: shortcut, limits, errors, section-5 encoding, real messages.

mod encoded;
mod errors;
mod leaves;
mod limits;
mod portions;
mod shortcut;
mod support;
mod tr069;

//! Byte kernels: search and comparison at memory speed. The only place where `unsafe` may live.

pub mod text;

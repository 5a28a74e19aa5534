//! Message streams for the demonstration, the tests and the benchmarks.
//!
//! Differential processing pays off where a message resembles the one before it. This crate
//! supplies such messages, compiled in, so that a fresh clone has them without a download:
//!
//! | module | contents | recorded, derived or synthetic |
//! |---|---|---|
//! | [`vsphere`] | 292 request and response pairs of vSphere's `Fetch` | recorded |
//! | [`tr069`] | `Inform` messages of any number of devices | derived from samples, by seed |
//! | [`arrays`] | arrays of numbers, strings, structs and bytes; their naive writers | synthetic |
//! | [`similar`] | rings of arrays, in which a share of the values changes each time | synthetic |
//! | [`envelopes`] | 182 single messages of many toolkits | recorded |
//!
//! [`checksum`] condenses decoded values into sixteen hexadecimal digits, so that programs in
//! several languages can prove that they read the same values; [`prng`] is the only source of
//! randomness, and [`statistics`] has the median of all reports. With the feature `peer`, `peer`
//! starts and asks other toolkits. Everything is reproducible: the same arguments give the same
//! bytes on every machine and in every version of this crate.
//!
//! It depends on no other crate of the project, so every crate of the workspace can test against
//! it. The data is in `testdata/` (`data/` in the package), with its sources and licences;
//! [`shapes`] describes the messages' types.
#![forbid(unsafe_code)]

pub mod arrays;
pub mod checksum;
pub mod envelopes;
#[cfg(feature = "peer")]
pub mod peer;
pub mod prng;
#[doc = include_str!("shapes.md")]
pub mod shapes {}
pub mod similar;
pub mod statistics;
pub mod tr069;
pub mod vsphere;

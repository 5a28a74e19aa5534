//! Schemas, values, other spellings and damage generated from the input: what the property tests of
//! `deltasoap-core` check.
//!
//! The input's quarters are the entropy for each.

#![no_main]

#[path = "../../crates/deltasoap-core/tests/support/generate.rs"]
mod generate;
#[path = "../../crates/deltasoap-core/tests/support/laws.rs"]
mod laws;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let (left, right) = input.split_at(input.len() / 2);
    let (schema, value) = left.split_at(left.len() / 4);
    let (wording, damage) = right.split_at(right.len() - right.len() / 16);
    laws::check(laws::Sources([schema, value, wording, damage]));
});

//! Streams of messages sent through templates: each must equal the full encoding of its value.
//!
//! The first byte of an input chooses between one template and a set of templates. The rest is
//! split at each byte 255: the entropy for schema, value, updates and how they are sent. The
//! property tests of `deltasoap-core` check the same.

#![no_main]

#[path = "../../crates/deltasoap-core/tests/support/edits.rs"]
#[allow(dead_code, reason = "shared with another target")]
mod edits;
#[path = "../../crates/deltasoap-core/tests/support/gaps.rs"]
mod gaps;
#[path = "../../crates/deltasoap-core/tests/support/generate.rs"]
#[allow(dead_code, reason = "shared with other targets")]
mod generate;
#[path = "../../crates/deltasoap-core/tests/support/kinds.rs"]
mod kinds;
#[path = "../../crates/deltasoap-core/tests/support/sender.rs"]
#[allow(dead_code, reason = "shared with tests")]
mod sender;
#[path = "../../crates/deltasoap-core/tests/support/template_streams.rs"]
mod template_streams;
#[path = "../../crates/deltasoap-core/tests/support/updates.rs"]
mod updates;

use libfuzzer_sys::fuzz_target;
use template_streams::Sources;

/// Separates two pieces.
const SEPARATOR: u8 = 0xFF;

fuzz_target!(|input: &[u8]| {
    let Some((&first, rest)) = input.split_first() else { return };
    let pieces: Vec<&[u8]> = rest.split(|&byte| byte == SEPARATOR).collect();
    let piece = |index: usize| pieces.get(index).copied().unwrap_or_default();
    let (schema, value, updates) = (piece(0), piece(1), piece(2));
    let sources = Sources { schema, value, updates, sending: piece(3) };
    match first % 4 {
        3 => template_streams::check_several(&sources),
        _ => template_streams::check_one(&sources),
    };
});

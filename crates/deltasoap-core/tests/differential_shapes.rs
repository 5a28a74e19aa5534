//! Shapes of messages that are hard on differential decoding, one by one.

#[path = "support/edits.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod edits;
#[path = "support/generate.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod generate;
#[path = "support/laws.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod laws;
#[path = "support/streams.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod streams;

use streams::Sources;

#[test]
fn debug_one() {
    let h = std::fs::read("/tmp/case").unwrap();
    let p: Vec<&[u8]> = h.split(|b| *b == b'\n').collect();
    let un = |i: usize| -> Vec<u8> {
        String::from_utf8_lossy(p[i]).split(',').filter_map(|s| s.trim().parse().ok()).collect()
    };
    let (a, b, c, d, e) = (un(0), un(1), un(2), un(3), un(4));
    let sources = Sources { schema: &a, value: &b, edits: &c, wording: &d, chunks: &e };
    let o = deltasoap_core::Differential {
        checkpoints: deltasoap_core::Checkpoints::Full,
        matcher: deltasoap_core::Matcher::Xor,
        portion: 1,
        adaptive: false,
        ..Default::default()
    };
    streams::check(&sources, std::iter::once(o));
}

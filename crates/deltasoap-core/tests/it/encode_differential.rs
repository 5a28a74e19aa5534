//! Differential serialization never changes a message: streams of values, sent by templates and in
//! full.

use crate::template_streams::{self, Sources};
use deltasoap_core::EncodeStats;
use deltasoap_streams::prng::SplitMix64;
use proptest::prelude::*;

fn bytes(len: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..len)
}

fn sources() -> impl Strategy<Value = [Vec<u8>; 4]> {
    [bytes(60), bytes(400), bytes(300), bytes(160)]
}

fn check(entropy: &[Vec<u8>; 4], how: fn(&Sources<'_>) -> EncodeStats) -> EncodeStats {
    let [schema, value, updates, sending] = entropy.each_ref().map(Vec::as_slice);
    how(&Sources { schema, value, updates, sending })
}

/// The streams exercise every kind of match.
#[test]
fn streams_reach_everything() {
    let mut random = SplitMix64::new(4);
    let mut entropy = |len: usize| (0..len).map(|_| random.next_u64() as u8).collect::<Vec<u8>>();
    let mut all = EncodeStats::default();
    for _ in 0..150 {
        let entropy = [60, 400, 300, 160].map(&mut entropy);
        all += check(&entropy, template_streams::check_one);
    }
    let EncodeStats { content, perfect, partial, leaves, moved, shifts, .. } = all;
    let EncodeStats { steals, tag_moves, elements, splits, copies, .. } = all;
    let counters = [content, perfect, partial, leaves, moved, shifts, steals, tag_moves, elements, splits, copies];
    assert!(counters.iter().all(|&counter| counter > 0), "{all:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_template_sends_what_is_written_in_full(entropy in sources()) {
        check(&entropy, template_streams::check_one);
    }

    #[test]
    fn several_templates_send_what_is_written_in_full(entropy in sources()) {
        check(&entropy, template_streams::check_several);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_template_of_one_schema_serves_another(entropy in sources()) {
        check(&entropy, template_streams::check_schemas);
    }
}

//! Differences of two contracts.

mod cases;
mod model;
mod models;
mod mutations;

use deltasoap_dynamic::Contract;
use deltasoap_dynamic::diff::{Diff, Side};

fn contract(text: &str) -> Contract {
    Contract::from_text(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Asserts that every message is valid for one contract and refused by the other.
fn proved(diff: &Diff, old: &Contract, new: &Contract, about: &str) {
    let verdicts = diff.changes.iter().flat_map(|change| [&change.clients, &change.servers]);
    for witness in verdicts.filter_map(|verdict| verdict.witness()).filter(|witness| !witness.is_http()) {
        let (valid, refused) = match witness.valid_for {
            Side::Old => (old, new),
            Side::New => (new, old),
        };
        let message = witness.message.as_bytes();
        assert!(valid.validate(message).is_empty() && !refused.validate(message).is_empty(), "{witness:?}\n{about}");
    }
}

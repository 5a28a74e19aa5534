//! The regressors of differential mode: comparisons, changes, and shifts.
//!
//! The cost of a leaf depends on its position: items of long lists are compared in bulk, others
//! element by element.

use super::{Feature, Usage};
use crate::workload::Class;
use std::collections::BTreeMap;

/// Lists with fewer items are written element by element in differential mode.
const SHORT: f64 = 256.0;

/// The changes in a part of a message since its predecessor.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Changed leaves, by class.
    pub leaves: BTreeMap<Class, f64>,
    /// Changed leaves whose text became longer or shorter.
    pub shifts: f64,
    /// Changed leaves in the first items of flat lists.
    pub firsts: f64,
}

impl Changes {
    /// Returns the changes if a share of a part's leaves changed, and shifted if `moves` is true.
    pub(super) fn from_share(part: &Usage, share: f64, moves: bool) -> Self {
        let leaves: BTreeMap<Class, f64> =
            Class::ALL.into_iter().map(|class| (class, part.leaves_of(class) * share)).collect();
        let shifts = if moves { leaves.values().sum() } else { 0.0 };
        Changes { leaves, shifts, firsts: 0.0 }
    }

    /// Returns the number of changed leaves of all classes.
    fn count(&self) -> f64 {
        self.leaves.values().sum()
    }
}

/// Returns the features of each part of a message in differential mode. Those of the message as a
/// whole are in its first part.
pub fn compared_parts(
    parts: &[(String, Usage)],
    bytes: usize,
    changes: impl Fn(&str, &Usage) -> Changes,
) -> Vec<(String, Usage)> {
    let (mut leaves, mut changed) = (0.0, 0.0);
    let mut compared = |(path, part): &(String, Usage)| {
        let changes = changes(path, part);
        (leaves, changed) = (leaves + part.leaves(), changed + changes.count());
        (path.clone(), compared_part(part, &changes))
    };
    let mut all: Vec<_> = parts.iter().map(&mut compared).collect();
    if let Some((_, message)) = all.first_mut() {
        message.add(Feature::Compared, bytes as f64);
        message.add(Feature::ChangedAny, f64::from(changed > 0.0));
        message.add(Feature::ChangedMost, (changed - leaves / 4.0).max(0.0));
    }
    all
}

/// Returns the features of a part of a message in differential mode.
fn compared_part(part: &Usage, changes: &Changes) -> Usage {
    let (mut usage, leaves, items, changed) = (Usage::default(), part.leaves(), part.items(), changes.count());
    usage.add(Feature::Message, part.count(Feature::Message));
    usage.add(Feature::Leaf, leaves);
    changes.leaves.iter().for_each(|(&class, &count)| usage.add(Feature::Changed(class), count));
    usage.add(Feature::Shift, changes.shifts);
    usage.add(Feature::ChangedFirst, changes.firsts);
    // Writing visits everything, including absent fields.
    use Feature as F;
    let walked = [F::Record, F::Absent, F::Row, F::ItemRecord, F::Node, F::Encoded, F::Typed];
    walked.into_iter().for_each(|feature| usage.add(feature, part.count(feature)));
    let kinds = match items {
        0.0 => Some((Feature::FieldLeaf, Feature::ChangedField)),
        // The first item of a list is counted as a field elsewhere.
        items if items + 1.0 < SHORT => Some((Feature::ShortLeaf, Feature::ChangedShort)),
        _ => None,
    };
    if let Some((leaf, change)) = kinds {
        usage.add(leaf, leaves);
        usage.add(change, changed);
    }
    usage
}

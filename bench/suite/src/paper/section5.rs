//! *Differential Deserialization*, section 5: the gain of its proposals. The paper gives no numbers
//! for them.
//!
//! The proposals are "comparing a few bytes at the beginning, middle, and/or end of message
//! portions" before the checksum, and tuning "message portion sizes". Each is measured alone, and
//! both together, compared with plain checkpoints.

use super::printed::DifferentialDeserialization as Printed;
use super::scope::{Scope, hard};
use super::setting::{Refinement, Setting};
use super::study::Study;
use crate::stream::Recipe;
use deltasoap_report::{Exhibit, Grid, number};

const PORTIONS: [u32; 3] = [32, 512, 4096];

/// Percentage of values that change, and number of parts of the array.
const CHANGES: [(u32, usize); 6] = [(0, 1), (25, 1), (25, 100), (25, 500), (50, 100), (100, 1)];

/// Returns the exhibit.
pub fn exhibit(study: Study<'_>, scope: &Scope, printed: &Printed) -> Exhibit {
    let n = scope.largest();
    let recipes = CHANGES.map(|(percent, partitions)| hard(n, percent, partitions));
    let header = ["P", "T", "N", "plain", "probes", "tuned", "both"].map(str::to_owned).into();
    let rows = recipes.iter().flat_map(|&recipe| PORTIONS.map(|portion| row(study, recipe, portion))).collect();
    let title = format!("Milliseconds for a message of {n} hard doubles; N is where tuning begins");
    let caption = "The proposals of the outlook, with full checkpoints and CRC-32. Probes compare three bytes of a portion before its sum is \
                   made; tuned portions follow the number of switches.";
    Exhibit {
        grids: vec![Grid { title, header, rows, names: 3 }],
        ..Exhibit::new((&printed.title, &printed.source), "Section 5", caption)
    }
}

fn refined(portion: u32, refinement: Refinement) -> Setting {
    Setting { refinement, ..Setting::full(portion) }
}

fn row(study: Study<'_>, recipe: Recipe, portion: u32) -> Vec<String> {
    let names = [recipe.percent.to_string(), recipe.partitions.to_string(), portion.to_string()];
    let ms = Refinement::ALL.map(|refinement| number(study.ms(recipe, refined(portion, refinement))));
    [&names[..], &ms].concat()
}

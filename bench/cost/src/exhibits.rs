//! The paper's tables and figures, each with its verdicts.

use deltasoap_cost::paper::Printed;
use deltasoap_cost::{Calibration, Model};
use deltasoap_report::{Exhibit, Verdict};

use crate::figures::{figures, intervals};
use crate::tables::{printed_tables, tables};

/// Names of the tables, in order.
const TABLES: [&str; 3] = ["Table 1", "Table 2", "Table 3"];

/// Names of the figures, without illustrations.
const FIGURES: [&str; 12] = [
    "Figure 3",
    "Figure 4",
    "Figure 5",
    "Figure 6",
    "Figure 7",
    "Figure 8",
    "Figure 9",
    "Figure 10",
    "Figure 11",
    "Figure 12",
    "Figure 13",
    "Figure 14",
];

/// Prefixes of claim keys, with the exhibits they belong to, for serializing and deserializing.
const PLACES: [(&str, [&str; 2]); 11] = [
    ("arrays:", ["Table 1", "Table 1"]),
    ("cut-offs:", ["Table 2", "Table 2"]),
    ("composites:", ["Table 3", "Table 3"]),
    ("by-length:", ["Figure 9", "Figure 10"]),
    ("fields:", ["Figure 9", "Figure 10"]),
    ("strings:", ["Figure 11", "Figure 12"]),
    ("constant:", ["Figure 13", "Figure 14"]),
    ("sum:", ["Figure 13", "Figure 14"]),
    ("intervals:", ["Table 3", "Table 3"]),
    ("widest:", ["Table 3", "Table 3"]),
    ("precise:", ["Section 3.4", "Section 3.4"]),
];

/// Returns the paper's tables beside the printed ones, its figures, and the coefficients of
/// predictions. Without a calibration and its model, only the printed tables and the verdicts.
pub fn exhibits(fitted: Option<(&Calibration, &Model)>, verdicts: &[Verdict], printed: &Printed) -> Vec<Exhibit> {
    let empty = |name, caption: &str| Exhibit {
        paper: printed.source.clone(),
        name,
        caption: caption.to_owned(),
        grids: vec![],
        charts: vec![],
        verdicts: vec![],
    };
    let mut ours = fitted.map(|(_, model)| tables(model).into_iter()).into_iter().flatten();
    let mut all = Vec::new();
    for (name, theirs) in TABLES.into_iter().zip(printed_tables(printed)) {
        let grids = ours.next().into_iter().chain([theirs]).collect();
        all.push(Exhibit { grids, ..empty(name, "") });
    }
    let charts = fitted.map(|(measured, model)| figures(measured, model)).unwrap_or_default();
    for name in FIGURES {
        let title = format!("{name}:");
        let charts = charts.iter().filter(|chart| chart.title.starts_with(&title)).cloned().collect();
        let grids = fitted.and_then(|(_, model)| intervals(model, name)).into_iter().collect();
        all.push(Exhibit { charts, grids, ..empty(name, "") });
    }
    let notes: Vec<&str> = printed.notes.iter().map(String::as_str).collect();
    all.push(Exhibit { grids: ours.collect(), ..empty("Section 3.4", &notes.join(" ")) });
    attach_verdicts(verdicts, &mut all);
    all
}

/// Adds the verdicts to their exhibits.
fn attach_verdicts(verdicts: &[Verdict], exhibits: &mut [Exhibit]) {
    for verdict in verdicts {
        let key = &verdict.claim.key;
        let place = PLACES.iter().find(|(beginning, _)| key.starts_with(beginning));
        let name = place.map(|(_, names)| names[usize::from(key.ends_with(": deserialize"))]);
        let exhibit = exhibits.iter_mut().find(|exhibit| Some(exhibit.name) == name);
        exhibit.into_iter().for_each(|exhibit| exhibit.verdicts.push(verdict.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdicts;
    use deltasoap_cost::paper::printed;
    use std::path::Path;

    const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/deltasoap-cli/tests/data/cost.json");

    #[test]
    fn every_table_and_figure_is_drawn_and_every_verdict_hangs_somewhere() {
        let (calibration, printed) = (Calibration::load(Path::new(SAMPLE)).unwrap(), printed().unwrap());
        let models = [Ok(Model::fit(&calibration).unwrap())];
        let verdicts = verdicts(&models, &Err("not predicted".to_owned()), &printed);
        let all = exhibits(models[0].as_ref().ok().map(|model| (&calibration, model)), &verdicts, &printed);
        assert_eq!(all.len(), TABLES.len() + FIGURES.len() + 1);
        for exhibit in &all {
            let wanted = if exhibit.name.starts_with("Table") { 2 } else { 1 };
            assert!(exhibit.grids.len() + exhibit.charts.len() >= wanted, "{}", exhibit.name);
        }
        let grids = |name: &str| all.iter().filter(|it| it.name == name).map(|it| it.grids.len()).sum::<usize>();
        assert_eq!(["Figure 8", "Figure 9", "Figure 10", "Figure 11"].map(grids), [0, 1, 1, 0]);
        let hung: usize = all.iter().map(|exhibit| exhibit.verdicts.len()).sum();
        assert_eq!(hung, verdicts.len());
    }

    #[test]
    fn what_is_printed_is_there_without_a_model() {
        let printed = printed().unwrap();
        let verdicts = verdicts(&[Err("noise".to_owned())], &Err("noise".to_owned()), &printed);
        let all = exhibits(None, &verdicts, &printed);
        assert!(all[..3].iter().all(|table| table.grids.len() == 1 && !table.verdicts.is_empty()));
    }
}

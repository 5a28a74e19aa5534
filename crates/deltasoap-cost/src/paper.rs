//! The numbers that Imre et al. print in their Tables 1 to 3, for comparison with ours.
//!
//! Their times are in milliseconds; ours are shown in microseconds. Their figures are drawings
//! without printed data.

use serde::{Deserialize, Serialize};

const PRINTED: &str = include_str!("paper.json");

/// The paper's tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Printed {
    /// Authors, title, venue.
    pub source: String,
    /// The authors' machine.
    pub machine: String,
    /// Printed values that cannot be correct.
    pub notes: Vec<String>,
    /// Table 1: type, platform and direction, c0, c1, R².
    pub table1: Vec<(String, f64, f64, f64)>,
    /// Table 2: platform and direction, interval of l, c0, c1, R².
    pub table2: Vec<(String, String, f64, f64, f64)>,
    /// Table 3.
    pub table3: Vec<CompositeRow>,
}

/// A row of Table 3: platform and direction, l, c0, c of int, double and string, R², F as printed.
pub type CompositeRow = (String, u32, f64, f64, f64, f64, f64, f64);

/// Returns the tables as printed.
///
/// # Errors
/// None for the included data.
pub fn printed() -> Result<Printed, serde_json::Error> {
    serde_json::from_str(PRINTED)
}

impl Printed {
    /// Returns the F value that follows from the R² of a row of Table 3, for 1330 points and three
    /// regressors.
    pub fn f_of(r_squared: f64) -> f64 {
        (r_squared / 3.0) / ((1.0 - r_squared) / 1326.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_whole() {
        let printed = printed().expect("the data");
        assert_eq!((printed.table1.len(), printed.table2.len(), printed.table3.len()), (12, 10, 12));
        assert!(printed.table3.iter().all(|row| row.6 > 0.8 && row.7 < 10.0));
    }

    /// The printed 7.528 must have been 7.528e3.
    #[test]
    fn the_exponents_of_f_are_lost() {
        let (r_squared, f) = (0.9445, 7.528);
        assert!((Printed::f_of(r_squared) / (f * 1e3) - 1.0).abs() < 0.01);
    }
}

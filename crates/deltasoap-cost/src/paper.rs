//! The numbers that Imre et al. print in their Tables 1 to 3, to stand beside ours.
//!
//! Their times are milliseconds; ours are shown in microseconds. Their figures are drawings, whose
//! data is not printed.

use serde::{Deserialize, Serialize};

const PRINTED: &str = include_str!("paper.json");

/// The paper's tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Printed {
    /// Authors, title, venue.
    pub source: String,
    /// What they ran on.
    pub machine: String,
    /// Where what is printed cannot be right.
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

/// The tables as printed.
///
/// # Errors
/// None for the data that is there.
pub fn printed() -> Result<Printed, serde_json::Error> {
    serde_json::from_str(PRINTED)
}

impl Printed {
    /// The F value of a row of Table 3 that its R² means, for 1330 points and three regressors.
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

    /// What is printed as 7.528 must have been 7.528e3.
    #[test]
    fn the_exponents_of_f_are_lost() {
        let (r_squared, f) = (0.9445, 7.528);
        assert!((Printed::f_of(r_squared) / (f * 1e3) - 1.0).abs() < 0.01);
    }
}

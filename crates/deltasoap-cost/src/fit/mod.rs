//! Fitting: from measurements to coefficients.

mod fields;
pub mod model;
pub mod regression;
pub mod segments;

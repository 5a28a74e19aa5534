//! Fitting: from measurements to coefficients.

pub mod model;
pub mod regression;
pub mod segments;

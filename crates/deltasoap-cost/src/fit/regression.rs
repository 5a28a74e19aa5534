//! Linear regression by least squares: coefficients with intervals, and measures of fit.
//!
//! The problem is solved by the singular value decomposition of the design matrix with its columns
//! scaled to length 1. So regressors of very different size (a constant and a length of 10,000) do
//! no harm, and dependent regressors are detected. Weights multiply the residuals: with the inverse
//! of the value as weight, residuals are relative.

use crate::CostError;
use nalgebra::{DMatrix, DVector};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};

/// Singular values below this fraction of the largest count as zero.
const SINGULAR: f64 = 1e-9;
/// The confidence level of intervals and tests.
pub const LEVEL: f64 = 0.95;
/// If less than this fraction of a direction remains without some points, the other points do not
/// determine it.
const UNSEEN: f64 = 0.1;
/// The fraction of the variance that a model must explain.
pub const EXPLAINED: f64 = 0.5;

/// A regression problem: a row of regressors for each value.
#[derive(Debug, Clone, Default)]
pub struct Problem {
    /// The name in errors.
    pub name: String,
    /// The regressors' names.
    pub regressors: Vec<String>,
    /// One row per point.
    pub rows: Vec<Vec<f64>>,
    /// One value per point.
    pub values: Vec<f64>,
    /// Weights that multiply the residuals, one per point; empty for 1 each.
    pub weights: Vec<f64>,
}

/// A fitted linear model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Regression {
    /// The coefficients, in the order of the regressors.
    pub coefficients: Vec<Coefficient>,
    /// The fraction of the variance that the model explains.
    pub r_squared: f64,
    /// Explained variance divided by unexplained variance, each per degree of freedom. Infinite if
    /// there is no unexplained variance.
    pub f: f64,
    /// The value that F exceeds by chance in 5 % of cases if the regressors explain nothing.
    pub f_critical: f64,
    /// Degrees of freedom: points minus coefficients.
    pub freedom: usize,
    /// Standard deviation of the (weighted) residuals.
    pub deviation: f64,
    /// Value minus fitted value of each point, unweighted.
    pub residuals: Vec<f64>,
    /// Points too far off for chance: their externally studentized residual exceeds the quantile of
    /// Student's t at level 5 % / (2 n). They are kept in the fit.
    pub outliers: Vec<usize>,
    /// Covariance of the coefficients.
    #[serde(skip)]
    pub covariance: DMatrix<f64>,
    /// Orthonormal columns that span the (weighted) regressors.
    #[serde(skip)]
    basis: DMatrix<f64>,
    /// The weighted residuals.
    #[serde(skip)]
    weighted: DVector<f64>,
}

/// A coefficient with its 95 % confidence interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coefficient {
    /// The regressor.
    pub name: String,
    /// The estimate.
    pub value: f64,
    /// Half the width of the interval.
    pub margin: f64,
}

impl Problem {
    /// Solves the problem.
    ///
    /// # Errors
    /// When there are too few points, values are not numbers, or regressors depend on each other.
    pub fn solve(&self) -> Result<Regression, CostError> {
        let (n, p) = (self.rows.len(), self.regressors.len());
        self.check()?;
        let (scaled, scales) = self.design();
        let weighted = DVector::from_iterator(n, (0..n).map(|at| self.values[at] * self.weight(at)));
        let svd = scaled.clone().svd(true, true);
        let most = svd.singular_values.max();
        if svd.singular_values.min() <= most * SINGULAR {
            return Err(self.collinear(svd.v_t.as_ref(), &svd.singular_values));
        }
        let (Some(u), Some(v_t)) = (&svd.u, &svd.v_t) else { return Err(self.not_finite()) };
        let inverse = DMatrix::from_diagonal(&svd.singular_values.map(|value| 1.0 / value));
        let solution = v_t.transpose() * &inverse * u.transpose() * &weighted;
        let left = &weighted - &scaled * &solution;
        let freedom = n - p;
        let deviation = (left.norm_squared() / freedom as f64).sqrt();
        let unscale = DMatrix::from_diagonal(&scales.map(|scale| 1.0 / scale));
        let root = &unscale * v_t.transpose() * inverse;
        let covariance = &root * root.transpose() * (deviation * deviation);
        let values = unscale * solution;
        let Quality { r_squared, f, f_critical } = self.explained(&left);
        Ok(Regression {
            coefficients: self.coefficients(&values, &covariance, freedom),
            r_squared,
            f,
            f_critical,
            freedom,
            deviation,
            residuals: (0..n).map(|at| left[at] / self.weight(at)).collect(),
            outliers: outliers(&left, u, deviation, freedom),
            covariance,
            basis: u.clone(),
            weighted: left,
        })
    }

    fn check(&self) -> Result<(), CostError> {
        let (n, p) = (self.rows.len(), self.regressors.len());
        if n < p + 2 {
            return Err(CostError::TooFewPoints { what: self.name.clone(), found: n, needed: p + 2 });
        }
        let numbers = self.rows.iter().flatten().chain(&self.values).chain(&self.weights);
        if numbers.into_iter().all(|number| number.is_finite()) { Ok(()) } else { Err(self.not_finite()) }
    }

    fn not_finite(&self) -> CostError {
        CostError::NotFinite { what: self.name.clone() }
    }

    fn weight(&self, at: usize) -> f64 {
        self.weights.get(at).copied().unwrap_or(1.0)
    }

    /// Returns the weighted rows with columns scaled to length 1, and the original lengths.
    fn design(&self) -> (DMatrix<f64>, DVector<f64>) {
        let (n, p) = (self.rows.len(), self.regressors.len());
        let mut design = DMatrix::from_fn(n, p, |row, column| self.rows[row][column] * self.weight(row));
        let scales = DVector::from_fn(p, |column, _| match design.column(column).norm() {
            0.0 => 1.0,
            length => length,
        });
        for (column, scale) in scales.iter().enumerate() {
            design.column_mut(column).unscale_mut(*scale);
        }
        (design, scales)
    }

    /// Names the regressor that contributes most to the dependency.
    fn collinear(&self, v_t: Option<&DMatrix<f64>>, singular: &DVector<f64>) -> CostError {
        let worst = v_t.map_or(0, |v_t| v_t.row(singular.imin()).transpose().iamax());
        CostError::Collinear { what: self.name.clone(), regressor: self.regressors[worst].clone() }
    }

    fn coefficients(&self, values: &DVector<f64>, covariance: &DMatrix<f64>, freedom: usize) -> Vec<Coefficient> {
        let quantile = two_sided(freedom);
        let coefficient = |(at, name): (usize, &String)| Coefficient {
            name: name.clone(),
            value: values[at],
            margin: quantile * covariance[(at, at)].max(0.0).sqrt(),
        };
        self.regressors.iter().enumerate().map(coefficient).collect()
    }

    /// Calculates R² and F about the (weighted) mean.
    fn explained(&self, left: &DVector<f64>) -> Quality {
        let n = self.rows.len();
        let weight = |at: usize| self.weight(at).powi(2);
        let total_weight: f64 = (0..n).map(weight).sum();
        let mean = (0..n).map(|at| weight(at) * self.values[at]).sum::<f64>() / total_weight;
        let total: f64 = (0..n).map(|at| weight(at) * (self.values[at] - mean).powi(2)).sum();
        Quality::new(total, left.norm_squared(), n, self.regressors.len())
    }
}

impl Regression {
    /// Returns the fitted value of a row.
    pub fn at(&self, row: &[f64]) -> f64 {
        self.coefficients.iter().zip(row).map(|(coefficient, x)| coefficient.value * x).sum()
    }

    /// Returns the standard error of the fitted value of a row, without the point's own variance.
    pub fn error_at(&self, row: &[f64]) -> f64 {
        let row = DVector::from_column_slice(row);
        (row.transpose() * &self.covariance * &row)[(0, 0)].max(0.0).sqrt()
    }

    /// Returns the (weighted) residuals of some points in a fit without these points: the errors of
    /// predictions that do not use them. With the points' residuals e and their part H of the hat
    /// matrix these are (I - H)⁻¹ e (Cook and Weisberg, *Residuals and Influence in Regression*,
    /// 1982), given along the axes of I - H. Axes along which the points alone determine at least
    /// nine tenths of the fit are omitted, since nothing else predicts them: the result has one
    /// number per remaining axis.
    pub fn left_out(&self, points: &[usize]) -> Vec<f64> {
        let basis = self.basis.select_rows(points);
        let left = DVector::from_iterator(points.len(), points.iter().map(|&at| self.weighted[at]));
        let seen = DMatrix::identity(points.len(), points.len()) - &basis * basis.transpose();
        let axes = seen.symmetric_eigen();
        let along = axes.eigenvectors.tr_mul(&left);
        let pairs = axes.eigenvalues.iter().zip(along.iter()).filter(|(part, _)| **part > UNSEEN);
        pairs.map(|(part, left)| left / part).collect()
    }

    /// Returns the coefficient of a regressor.
    pub fn coefficient(&self, name: &str) -> Option<&Coefficient> {
        self.coefficients.iter().find(|coefficient| coefficient.name == name)
    }

    /// Returns how much the model explains.
    pub fn quality(&self) -> Quality {
        Quality { r_squared: self.r_squared, f: self.f, f_critical: self.f_critical }
    }

    /// Rejects noise: a model that explains no more than chance does (F test at level 5 %) or less
    /// than [`EXPLAINED`], or that has a coefficient in `slopes` whose whole interval is below
    /// zero. `slopes` are the coefficients of regressors that add work.
    ///
    /// # Errors
    /// [`CostError::Noise`].
    pub fn check(&self, name: &str, slopes: &[Coefficient]) -> Result<(), CostError> {
        self.quality().check(name, slopes)
    }
}

/// How much of the values' variance a model explains.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quality {
    /// See [`Regression::r_squared`].
    pub r_squared: f64,
    /// See [`Regression::f`].
    pub f: f64,
    /// See [`Regression::f_critical`].
    pub f_critical: f64,
}

impl Quality {
    /// Calculates the quality of a model with `parameters` parameters, one of them a constant, from
    /// the sums of squares of the values about their mean and of the residuals.
    pub(super) fn new(total: f64, unexplained: f64, points: usize, parameters: usize) -> Self {
        let (model, freedom) = (parameters.max(2) - 1, points.saturating_sub(parameters).max(1));
        Quality {
            r_squared: if total > 0.0 { 1.0 - unexplained / total } else { 1.0 },
            f: ((total - unexplained) / model as f64) / (unexplained / freedom as f64),
            f_critical: f_critical(model, freedom),
        }
    }

    /// See [`Regression::check`].
    pub(super) fn check(self, name: &str, slopes: &[Coefficient]) -> Result<(), CostError> {
        let falling = slopes.iter().find(|slope| slope.value + slope.margin < 0.0);
        let explains = self.f > self.f_critical && self.r_squared >= EXPLAINED;
        if explains && falling.is_none() {
            return Ok(());
        }
        Err(CostError::Noise { what: name.to_owned(), quality: self, falling: falling.cloned(), busy: None })
    }
}

/// Returns the half width of a 95 % interval in standard errors.
pub(super) fn two_sided(freedom: usize) -> f64 {
    t_quantile(1.0 - (1.0 - LEVEL) / 2.0, freedom)
}

/// Returns a quantile of Student's t.
pub fn t_quantile(level: f64, freedom: usize) -> f64 {
    StudentsT::new(0.0, 1.0, freedom.max(1) as f64).map_or(f64::INFINITY, |t| t.inverse_cdf(level))
}

/// Returns the critical value of F at level 5 %.
pub fn f_critical(model: usize, freedom: usize) -> f64 {
    let f = FisherSnedecor::new(model.max(1) as f64, freedom.max(1) as f64);
    f.map_or(f64::INFINITY, |f| f.inverse_cdf(LEVEL))
}

fn outliers(left: &DVector<f64>, u: &DMatrix<f64>, deviation: f64, freedom: usize) -> Vec<usize> {
    let n = left.len();
    if freedom < 3 || deviation == 0.0 {
        return Vec::new();
    }
    let critical = t_quantile(1.0 - 0.05 / (2.0 * n as f64), freedom - 1);
    let is_outlier = |&at: &usize| {
        let leverage = u.row(at).norm_squared().min(1.0 - 1e-12);
        let internal = left[at] / (deviation * (1.0 - leverage).sqrt());
        let external = internal * ((freedom as f64 - 1.0) / (freedom as f64 - internal * internal).max(1e-12)).sqrt();
        external.abs() > critical
    };
    (0..n).filter(is_outlier).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(xs: &[f64], ys: &[f64]) -> Result<Regression, CostError> {
        Problem {
            name: "line".into(),
            regressors: vec!["c0".into(), "c1".into()],
            rows: xs.iter().map(|&x| vec![1.0, x]).collect(),
            values: ys.to_vec(),
            weights: vec![],
        }
        .solve()
    }

    /// The Norris data set of NIST's Statistical Reference Datasets (linear least squares, lower
    /// level of difficulty).
    #[test]
    fn norris_has_the_certified_values() {
        let x = [
            0.2, 337.4, 118.2, 884.6, 10.1, 226.5, 666.3, 996.3, 448.6, 777.0, 558.2, 0.4, 0.6, 775.5, 666.9, 338.0,
            447.5, 11.6, 556.0, 228.1, 995.8, 887.6, 120.2, 0.3, 0.3, 556.8, 339.1, 887.2, 999.0, 779.0, 11.1, 118.3,
            229.2, 669.1, 448.9, 0.5,
        ];
        let y = [
            0.1, 338.8, 118.1, 888.0, 9.2, 228.1, 668.5, 998.5, 449.1, 778.9, 559.2, 0.3, 0.1, 778.1, 668.8, 339.3,
            448.9, 10.8, 557.7, 228.3, 998.0, 888.8, 119.6, 0.3, 0.6, 557.6, 339.3, 888.0, 998.5, 778.9, 10.2, 117.6,
            228.9, 668.4, 449.2, 0.2,
        ];
        let fit = line(&x, &y).expect("a line");
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * b.abs();
        assert!(near(fit.coefficients[0].value, -0.262323073774029), "{fit:?}");
        assert!(near(fit.coefficients[1].value, 1.00211681802045), "{fit:?}");
        assert!(near(fit.deviation, 0.884796396144373), "{fit:?}");
        assert!(near(fit.r_squared, 0.999993745883712), "{fit:?}");
        assert!(near(fit.f, 5436385.54079785), "{fit:?}");
        assert!(near(fit.covariance[(0, 0)].sqrt(), 0.232818234301152), "{fit:?}");
        assert!(near(fit.covariance[(1, 1)].sqrt(), 0.429796848199937e-3), "{fit:?}");
    }

    /// The result equals the residuals of a fit to the other points.
    #[test]
    fn points_are_left_out_as_if_they_had_not_been_there() {
        let xs: Vec<f64> = (0..20).map(f64::from).collect();
        let ys: Vec<f64> = xs.iter().map(|x| 5.0 + 3.0 * x + (x * 1.7).sin()).collect();
        let whole = line(&xs, &ys).expect("a line");
        let points = [3, 4, 11];
        let others = |all: &[f64]| {
            let kept = all.iter().enumerate().filter(|(at, _)| !points.contains(at));
            kept.map(|(_, value)| *value).collect::<Vec<_>>()
        };
        let without = line(&others(&xs), &others(&ys)).expect("a line");
        let expected: f64 = points.iter().map(|&at| (ys[at] - without.at(&[1.0, xs[at]])).powi(2)).sum();
        let found = whole.left_out(&points);
        assert_eq!(found.len(), 3);
        assert!((found.iter().map(|it| it * it).sum::<f64>() - expected).abs() < 1e-9 * expected, "{found:?}");
        assert!(
            found.iter().map(|it| it * it).sum::<f64>() > points.iter().map(|&at| whole.residuals[at].powi(2)).sum()
        );
    }

    /// The other points do not predict a regressor that only these points have.
    #[test]
    fn what_points_alone_determine_is_not_left_out() {
        let own = |at: usize| if at < 3 { 1.0 } else { 0.0 };
        let problem = Problem {
            name: "own".into(),
            regressors: vec!["c0".into(), "c1".into(), "own".into()],
            rows: (0..20).map(|at| vec![1.0, at as f64, own(at)]).collect(),
            values: (0..20).map(|at| 2.0 * at as f64 + 50.0 * own(at) + [0.1, -0.2, 0.05][at % 3]).collect(),
            weights: vec![],
        };
        let found = problem.solve().expect("solved").left_out(&[0, 1, 2]);
        assert!(found.len() == 2 && found.iter().all(|left| left.abs() < 1.0), "{found:?}");
    }

    /// The value that Imre et al. print for their 1330 types (section 3.3).
    #[test]
    fn the_critical_value_is_the_papers() {
        assert!((f_critical(3, 1326) - 2.611613).abs() < 1e-5, "{}", f_critical(3, 1326));
        assert!((t_quantile(0.975, 10) - 2.228139).abs() < 1e-5);
    }

    #[test]
    fn bad_problems_are_refused() {
        let too_few = line(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]).expect_err("three points");
        assert!(too_few.to_string().contains("3 points are too few, 4 are needed"), "{too_few}");
        let same = line(&[5.0; 6], &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0]).expect_err("one place");
        assert!(matches!(same, CostError::Collinear { .. }), "{same}");
        let no_number = line(&[1.0, 2.0, 3.0, f64::NAN], &[1.0, 2.0, 3.0, 4.0]).expect_err("no number");
        assert!(matches!(no_number, CostError::NotFinite { .. }), "{no_number}");
    }

    #[test]
    fn what_is_far_off_is_said_and_kept() {
        let xs: Vec<f64> = (0..50).map(f64::from).collect();
        let mut ys: Vec<f64> = xs.iter().enumerate().map(|(at, x)| 3.0 + 2.0 * x + [0.1, -0.1, 0.05][at % 3]).collect();
        ys[20] += 5.0;
        let fit = line(&xs, &ys).expect("a line");
        assert_eq!(fit.outliers, [20]);
        assert_eq!(fit.residuals.len(), 50);
        assert!(fit.check("line", &fit.coefficients[1..]).is_ok());
    }

    /// Returns the error text if a line is rejected.
    fn refusal(xs: &[f64], ys: &[f64]) -> Option<String> {
        let fit = line(xs, ys).expect("a line");
        fit.check("line", &fit.coefficients[1..]).err().map(|error| error.to_string())
    }

    #[test]
    fn noise_is_refused() {
        let xs: Vec<f64> = (1..=8).map(f64::from).collect();
        let chance = refusal(&xs, &[50.0, 20.0, 60.0, 10.0, 55.0, 25.0, 58.0, 15.0]).expect("no line");
        assert!(chance.contains("R² is 0.0") && chance.contains("F is 0.") && chance.contains("5.9874"), "{chance}");
        assert!(chance.contains("idle machine") && chance.contains("--rounds"), "{chance}");
        let falling = refusal(&xs, &[80.0, 70.5, 60.0, 50.5, 40.0, 30.5, 20.0, 10.5]).expect("it falls");
        assert!(
            falling.contains("c1 is -10.0 ± 0.1 ns") && falling.contains("more work cannot cost less"),
            "{falling}"
        );
        let flat = refusal(&xs, &[5.0; 8]).expect("it does not rise");
        assert!(flat.contains("line:"), "{flat}");
        assert_eq!(refusal(&xs, &[11.0, 19.0, 31.0, 42.0, 49.0, 60.0, 71.0, 79.0]), None);
    }

    /// With many points F is significant even where almost nothing is explained.
    #[test]
    fn what_explains_less_than_half_is_refused() {
        let xs: Vec<f64> = (0..400).map(f64::from).collect();
        let ys: Vec<f64> = xs.iter().enumerate().map(|(at, x)| x + [400.0, -400.0][at % 2]).collect();
        let fit = line(&xs, &ys).expect("a line");
        assert!(fit.f > 2.0 * fit.f_critical && fit.r_squared < 0.2, "{fit:?}");
        assert!(refusal(&xs, &ys).is_some());
    }

    proptest! {
        /// The textbook sums for a line.
        #[test]
        fn a_line_is_that_of_the_textbook(points in prop::collection::vec((-1e3..1e3f64, -1e3..1e3f64), 5..40)) {
            let (xs, ys): (Vec<_>, Vec<_>) = points.into_iter().unzip();
            let n = xs.len() as f64;
            let (mx, my) = (xs.iter().sum::<f64>() / n, ys.iter().sum::<f64>() / n);
            let sxx: f64 = xs.iter().map(|x| (x - mx).powi(2)).sum();
            prop_assume!(sxx > 1.0);
            let slope = xs.iter().zip(&ys).map(|(x, y)| (x - mx) * (y - my)).sum::<f64>() / sxx;
            let fit = line(&xs, &ys).expect("a line");
            prop_assert!((fit.coefficients[1].value - slope).abs() < 1e-6 * (1.0 + slope.abs()));
            prop_assert!((fit.coefficients[0].value - (my - slope * mx)).abs() < 1e-6 * (1.0 + my.abs() + mx.abs() * slope.abs()));
            let error = fit.deviation * (1.0 / n + (3.0 - mx).powi(2) / sxx).sqrt();
            prop_assert!((fit.error_at(&[1.0, 3.0]) - error).abs() < 1e-6 * (1.0 + error));
        }

        /// Weighting by w equals multiplying rows and values by w.
        #[test]
        fn weights_multiply_rows(points in prop::collection::vec((0.0..1e3f64, -1e3..1e3f64, 0.1..10.0f64), 6..30)) {
            let rows: Vec<_> = points.iter().map(|&(x, _, _)| vec![1.0, x]).collect();
            let values: Vec<_> = points.iter().map(|&(_, y, _)| y).collect();
            let weights: Vec<_> = points.iter().map(|&(_, _, w)| w).collect();
            let regressors = vec!["a".to_owned(), "b".to_owned()];
            let multiplied = Problem {
                rows: points.iter().map(|&(x, _, w)| vec![w, x * w]).collect(),
                values: points.iter().map(|&(_, y, w)| y * w).collect(),
                regressors: regressors.clone(),
                ..Problem::default()
            };
            let weighted = Problem { rows, values, weights, regressors, ..Problem::default() };
            let (a, b) = (weighted.solve(), multiplied.solve());
            prop_assume!(a.is_ok());
            let (a, b) = (a.expect("solved"), b.expect("solved"));
            for (a, b) in a.coefficients.iter().zip(&b.coefficients) {
                prop_assert!((a.value - b.value).abs() < 1e-6 * (1.0 + a.value.abs()));
                prop_assert!((a.margin - b.margin).abs() < 1e-6 * (1.0 + a.margin.abs()));
            }
        }
    }
}

//! Segmented regression: whether a line breaks, and where.
//!
//! For each number of segments, dynamic programming over all break positions finds the best
//! partition (Bai and Perron, *Computation and analysis of multiple structural change models*, J.
//! Applied Econometrics 18, 2003, section 3). Each segment is a line of its own, so a break can be
//! a bend, a jump or both. The number of segments minimizes the criterion of Liu, Wu and Zidek (*On
//! segmented multivariate regressions*, Statistica Sinica 7, 1997):
//!
//! ```text
//! ln(S / (n - q)) + q · 0.299 · (ln n)^2.1 / n      S: sum of squared residuals; q = 3 · segments - 1: lines and breaks
//! ```
//!
//! Its penalty is much higher than that of Schwarz's criterion, which finds breaks in noise.
//! Invisible breaks are dropped: somewhere the two lines must differ from the one line through both
//! by more than 5 % of the cost. Residuals are relative, since the noise of times grows with them.

use super::regression::{Problem, Quality, Regression};
use crate::CostError;
use serde::Serialize;

/// Maximum number of segments.
const MAX_SEGMENTS: usize = 4;
/// Minimum number of points per segment.
pub(super) const MIN_POINTS: usize = 6;
/// Minimum change at a break, as a fraction of the cost.
const VISIBLE: f64 = 0.05;

/// A line on an interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Segment {
    /// Start of the interval: the first point.
    pub from: f64,
    /// End of the interval: the last point.
    pub to: f64,
    /// The line, with coefficients `c0` and `c1`.
    pub line: Regression,
}

/// Consecutive lines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Segmented {
    /// The segments, in ascending order; at least one.
    pub segments: Vec<Segment>,
    /// How much all lines together explain. A single line may be flat: short strings cost nearly
    /// the same.
    pub quality: Quality,
}

impl Segmented {
    /// Returns the break positions: the midpoint between the last point of a segment and the first
    /// point of the next.
    pub fn breaks(&self) -> Vec<f64> {
        self.segments.windows(2).map(|pair| (pair[0].to + pair[1].from) / 2.0).collect()
    }

    /// Returns the widest segment.
    pub fn widest(&self) -> &Segment {
        let width = |segment: &Segment| segment.to - segment.from;
        let wider = |one, other| if width(other) > width(one) { other } else { one };
        self.segments.iter().fold(&self.segments[0], wider)
    }

    /// Rejects noise, as [`Regression::check`] does; the slope is that of the widest segment.
    ///
    /// # Errors
    /// [`CostError::Noise`].
    pub fn check(&self, name: &str) -> Result<(), CostError> {
        self.quality.check(name, &self.widest().line.coefficients[1..])
    }

    /// Returns the fitted value at a position. The first and last lines extend beyond the ends.
    pub fn at(&self, x: f64) -> f64 {
        let breaks = self.breaks();
        let index = breaks.iter().filter(|&&place| x > place).count();
        self.segments[index].line.at(&[1.0, x])
    }
}

/// Fits as many lines as the points support. The points must be ordered by their first number.
///
/// # Errors
/// When there are fewer than six points, or values are not numbers.
pub fn fit_segments(name: &str, points: &[(f64, f64)]) -> Result<Segmented, CostError> {
    if points.len() < MIN_POINTS {
        return Err(CostError::TooFewPoints { what: name.to_owned(), found: points.len(), needed: MIN_POINTS });
    }
    let sums = Sums::new(points);
    let most = (points.len() / MIN_POINTS).clamp(1, MAX_SEGMENTS);
    let partitions = partitions(&sums, points.len(), most);
    let best = partitions.iter().min_by(|a, b| criterion(a, points.len()).total_cmp(&criterion(b, points.len())));
    let mut ends = best.map_or_else(|| vec![points.len()], |best| best.ends.clone());
    drop_invisible(&sums, points, &mut ends);
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let segments: Vec<Segment> =
        starts.zip(&ends).map(|(start, &end)| segment(name, &points[start..end])).collect::<Result<_, _>>()?;
    let quality = quality(&segments, points);
    Ok(Segmented { segments, quality })
}

fn quality(segments: &[Segment], points: &[(f64, f64)]) -> Quality {
    let mean = points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64;
    let total = points.iter().map(|point| (point.1 - mean).powi(2)).sum();
    let unexplained = segments.iter().flat_map(|segment| &segment.line.residuals).map(|left| left * left).sum();
    Quality::new(total, unexplained, points.len(), parameters(segments.len()))
}

/// Counts the parameters: two per line, and one per break.
fn parameters(segments: usize) -> usize {
    3 * segments - 1
}

/// The best partition of the points into a number of segments.
#[derive(Debug, Clone)]
struct Partition {
    /// The index after the last point of each segment.
    ends: Vec<usize>,
    /// Sum of squared relative residuals.
    left: f64,
}

fn criterion(partition: &Partition, n: usize) -> f64 {
    let (n, q) = (n as f64, parameters(partition.ends.len()) as f64);
    // Residuals at rounding level count as zero.
    (partition.left / (n - q).max(1.0)).max(1e-18).ln() + q * 0.299 * n.ln().powf(2.1) / n
}

/// Returns the best partitions into 1, 2, ... `most` segments.
fn partitions(sums: &Sums, n: usize, most: usize) -> Vec<Partition> {
    let alone = |end: usize| Partition { ends: vec![end], left: sums.left(0, end) };
    let mut level: Vec<Option<Partition>> = (0..=n).map(|end| (end >= MIN_POINTS).then(|| alone(end))).collect();
    let mut all: Vec<Partition> = level[n].clone().into_iter().collect();
    for _ in 1..most {
        level = (0..=n).map(|end| extended(sums, &level, end)).collect();
        all.extend(level[n].clone());
    }
    all
}

/// Returns the best partition of the first `end` points with one segment more than those of
/// `level`.
fn extended(sums: &Sums, level: &[Option<Partition>], end: usize) -> Option<Partition> {
    let total = |start: usize| Some((start, level[start].as_ref()?.left + sums.left(start, end)));
    let candidates = (0..(end + 1).saturating_sub(MIN_POINTS)).filter_map(total);
    let (start, left) = candidates.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let mut ends = level[start].as_ref()?.ends.clone();
    ends.push(end);
    Some(Partition { ends, left })
}

/// Removes breaks that change almost nothing.
fn drop_invisible(sums: &Sums, points: &[(f64, f64)], ends: &mut Vec<usize>) {
    let mut at = 0;
    while at + 1 < ends.len() {
        let start = if at == 0 { 0 } else { ends[at - 1] };
        if is_visible(sums, points, start, ends[at], ends[at + 1]) {
            at += 1;
        } else {
            ends.remove(at);
            at = at.saturating_sub(1);
        }
    }
}

fn is_visible(sums: &Sums, points: &[(f64, f64)], start: usize, cut: usize, end: usize) -> bool {
    let (one, left, right) = (sums.line(start, end), sums.line(start, cut), sums.line(cut, end));
    let value = |(c0, c1): (f64, f64), x: f64| c0 + c1 * x;
    [(left, start), (left, cut - 1), (right, cut), (right, end - 1)].into_iter().any(|(line, at)| {
        let (x, y) = points[at];
        (value(line, x) - value(one, x)).abs() > VISIBLE * y.abs()
    })
}

fn segment(name: &str, points: &[(f64, f64)]) -> Result<Segment, CostError> {
    let line = Problem {
        name: name.to_owned(),
        regressors: vec!["c0".to_owned(), "c1".to_owned()],
        rows: points.iter().map(|&(x, _)| vec![1.0, x]).collect(),
        values: points.iter().map(|&(_, y)| y).collect(),
        weights: Vec::new(),
    };
    Ok(Segment { from: points[0].0, to: points[points.len() - 1].0, line: line.solve()? })
}

/// Running sums, from which the line through any range of points follows in constant time.
struct Sums {
    /// Sums of weight, wx, wy, wxx, wxy, wyy, with w the inverse square of y, about the center of
    /// all points.
    sums: Vec<[f64; 6]>,
    middle: f64,
}

impl Sums {
    fn new(points: &[(f64, f64)]) -> Self {
        let middle = points.iter().map(|point| point.0).sum::<f64>() / points.len() as f64;
        let mut sums = vec![[0.0; 6]];
        for &(x, y) in points {
            let (x, w) = (x - middle, 1.0 / (y * y).max(f64::MIN_POSITIVE));
            let terms = [w, w * x, w * y, w * x * x, w * x * y, w * y * y];
            let last = sums[sums.len() - 1];
            sums.push(std::array::from_fn(|at| last[at] + terms[at]));
        }
        Sums { sums, middle }
    }

    fn of(&self, start: usize, end: usize) -> [f64; 6] {
        std::array::from_fn(|at| self.sums[end][at] - self.sums[start][at])
    }

    /// Returns intercept and slope of the best line through points `start..end`.
    fn line(&self, start: usize, end: usize) -> (f64, f64) {
        let [w, x, y, xx, xy, _] = self.of(start, end);
        let slope = (xy - x * y / w) / (xx - x * x / w).max(f64::MIN_POSITIVE);
        ((y - slope * x) / w - slope * self.middle, slope)
    }

    /// Returns the sum of squared relative residuals of that line.
    fn left(&self, start: usize, end: usize) -> f64 {
        let [w, x, y, xx, xy, yy] = self.of(start, end);
        let (sxx, sxy, syy) = (xx - x * x / w, xy - x * y / w, yy - y * y / w);
        if sxx <= 0.0 { syy.max(0.0) } else { (syy - sxy * sxy / sxx).max(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_streams::prng::SplitMix64;
    use proptest::prelude::*;

    /// Returns approximately normal relative noise with a standard deviation.
    fn noise(random: &mut SplitMix64, deviation: f64) -> f64 {
        let uniform = |random: &mut SplitMix64| f64::from(random.below(1 << 24)) / f64::from(1 << 24);
        let sum: f64 = (0..12).map(|_| uniform(random)).sum();
        1.0 + deviation * (sum - 6.0)
    }

    fn points(seed: u64, deviation: f64, cost: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let mut random = SplitMix64::new(seed);
        let place = |at: u32| f64::from(at * 100 + 1);
        (0..101).map(|at| (place(at), cost(place(at)) * noise(&mut random, deviation))).collect()
    }

    fn breaks(points: &[(f64, f64)]) -> Vec<f64> {
        fit_segments("synthetic", points).expect("fitted").breaks()
    }

    #[test]
    fn a_line_has_no_break() {
        let found = (0..200).filter(|&seed| !breaks(&points(seed, 0.01, |x| 300.0 + 0.5 * x)).is_empty()).count();
        assert!(found <= 4, "{found} of 200 lines broke");
        assert!(breaks(&points(0, 0.0, |x| 300.0 + 0.5 * x)).is_empty());
    }

    /// The shape of .NET's curve (Figure 5): flat up to a buffer size, then steeper.
    #[test]
    fn a_bend_is_found() {
        let cost = |x: f64| if x <= 2000.0 { 1000.0 + 0.01 * x } else { 1020.0 + 0.3 * (x - 2000.0) };
        for seed in 0..50 {
            let found = breaks(&points(seed, 0.01, cost));
            assert!(!found.is_empty() && found.iter().any(|place| (place - 2000.0).abs() < 400.0), "{seed}: {found:?}");
        }
    }

    /// The shape of deserialization (Figure 6): a jump where a buffer is full.
    #[test]
    fn jumps_are_found() {
        let cost =
            |x: f64| 500.0 + 0.1 * x + if x > 4096.0 { 300.0 } else { 0.0 } + if x > 8192.0 { 400.0 } else { 0.0 };
        for seed in 0..50 {
            let found = breaks(&points(seed, 0.005, cost));
            assert_eq!(found.len(), 2, "{seed}: {found:?}");
            assert!((found[0] - 4096.0).abs() < 150.0 && (found[1] - 8192.0).abs() < 150.0, "{seed}: {found:?}");
        }
    }

    #[test]
    fn the_curve_is_that_of_its_segments() {
        let fit = fit_segments("x", &points(1, 0.0, |x| if x < 5000.0 { 100.0 + x } else { 9000.0 + 2.0 * x }))
            .expect("fitted");
        assert_eq!(fit.segments.len(), 2);
        assert!((fit.at(1.0) - 101.0).abs() < 1e-6 && (fit.at(20_000.0) - 49_000.0).abs() < 1e-6);
        assert!(fit_segments("x", &[(1.0, 1.0); 5]).is_err());
        assert!(fit.check("x").is_ok());
    }

    #[test]
    fn noise_has_no_curve() {
        let refused = |points: &[(f64, f64)]| fit_segments("x", points).expect("fitted").check("x").is_err();
        let found = (0..50).filter(|&seed| !refused(&points(seed, 0.2, |_| 1000.0))).count();
        assert!(found <= 2, "{found} of 50 curves were found in noise");
        assert!(refused(&points(1, 0.01, |x| 20_000.0 - x)), "longer strings do not cost less");
        let flat_at_first = |x: f64| if x <= 6000.0 { 1000.0 } else { 1000.0 + 0.3 * (x - 6000.0) };
        assert!(!refused(&points(1, 0.01, flat_at_first)), "a part may be flat");
    }

    /// The naive twin: tries all partitions.
    fn naive(sums: &Sums, start: usize, n: usize, segments: usize) -> f64 {
        if segments == 1 {
            return if n - start >= MIN_POINTS { sums.left(start, n) } else { f64::INFINITY };
        }
        let cut = |end| sums.left(start, end) + naive(sums, end, n, segments - 1);
        (start + MIN_POINTS..n).map(cut).fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn partitions_are_the_best(values in prop::collection::vec(1.0..100.0f64, 18..30)) {
            let points: Vec<_> = values.iter().enumerate().map(|(at, &y)| (at as f64, y)).collect();
            let sums = Sums::new(&points);
            let most = (points.len() / MIN_POINTS).min(3);
            for (index, partition) in partitions(&sums, points.len(), most).iter().enumerate() {
                let best = naive(&sums, 0, points.len(), index + 1);
                prop_assert!((partition.left - best).abs() < 1e-6 * (1.0 + best), "{} {best}", partition.left);
            }
        }
    }
}

//! Predicts the duration of a run from runs with fewer items, so that runs that take too long are
//! not begun.

use std::time::Duration;

use super::row::Row;

/// Returns the time of a run with `n` items, from the fastest one in `rows` of the same work with
/// fewer. It grows at least linearly and at most quadratically with the number of items; in
/// between, as it grew from one size to the next. Returns `None` if nothing is known.
///
/// `work` is the part of row names before the size.
pub fn expected(rows: &[Row], work: &str, engine: &str, n: usize) -> Option<Duration> {
    let size_of = |row: &Row| row.row.strip_prefix(work)?.strip_prefix('/')?.parse::<usize>().ok();
    let is_meant = |row: &&Row| row.engine == engine && row.mode == "regular";
    let mut points: Vec<(f64, f64)> = rows
        .iter()
        .filter(is_meant)
        .filter_map(|row| Some((size_of(row).filter(|&size| size > 0 && size < n)? as f64, row.ns_min? as f64)))
        .collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let &(size, ns) = points.last()?;
    let before = points.len().checked_sub(2).map(|place| points[place]);
    let power = before.map_or(1.0, |(less, less_ns)| ((ns / less_ns).ln() / (size / less).ln()).clamp(1.0, 2.0));
    Some(Duration::from_nanos((ns * (n as f64 / size).powf(power)) as u64))
}

#[cfg(test)]
mod tests {
    use super::super::row::{Layer, Part, Subject};
    use super::*;

    fn row(n: usize, ms: u64) -> Row {
        let row = format!("calls/echoInts/{n}");
        let subject =
            Subject { row: &row, part: Part::Calls, operation: "echoInts", values: "ints", n, similarity: None };
        Row { ns_min: Some(ms * 1_000_000), ..subject.row("snail", Layer::Soap, "regular") }
    }

    #[test]
    fn time_grows_as_it_has_grown() {
        let ms = |rows: &[Row], n| expected(rows, "calls/echoInts", "snail", n).map(|time| time.as_millis());
        assert_eq!(ms(&[row(100, 2)], 1000), Some(20));
        assert_eq!(ms(&[row(1000, 200), row(100, 2)], 10_000), Some(20_000));
        // The first size may include a one-time cost.
        assert_eq!(ms(&[row(100, 2), row(1000, 2000)], 10_000), Some(200_000));
        // The fixed cost of a call hides the growth.
        assert_eq!(ms(&[row(10, 2), row(100, 2)], 1000), Some(20));
        assert_eq!(ms(&[row(1000, 200)], 1000), None);
        assert_eq!(expected(&[row(100, 2)], "calls/echoInt", "snail", 1000), None);
        assert_eq!(expected(&[row(100, 2)], "calls/echoInts", "hare", 1000), None);
    }
}

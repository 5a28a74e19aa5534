//! Tables for terminals.

use deltasoap_report::Grid;

/// Formats a table as text: the first column is left-aligned, all others are right-aligned.
pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    Grid::new("", headings, 1).with(rows.iter().cloned()).terminal()
}

/// Formats a table as text, with its title above it.
pub fn titled(grid: &Grid) -> String {
    format!("{}\n{}", grid.title, grid.terminal())
}

/// Formats nanoseconds with a suitable unit.
pub fn time(nanoseconds: f64) -> String {
    match nanoseconds.abs() {
        it if it >= 1e9 => format!("{:.2} s", nanoseconds / 1e9),
        it if it >= 1e6 => format!("{:.2} ms", nanoseconds / 1e6),
        it if it >= 1e3 => format!("{:.2} µs", nanoseconds / 1e3),
        _ => format!("{nanoseconds:.0} ns"),
    }
}

/// Formats a fraction as a percentage.
pub fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_that_fits() {
        let texts = [5.4, 1234.0, 5.678e6, 2e9].map(time);
        assert_eq!(texts, ["5 ns", "1.23 µs", "5.68 ms", "2.00 s"]);
        assert_eq!(percent(0.1234), "12.3 %");
    }
}

//! Formats numbers for tables and plots.

/// Formats a number with three significant digits; empty if it is not a number.
pub fn number(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if !size.is_finite() => String::new(),
        _ if size >= 100.0 => format!("{value:.0}"),
        _ if size >= 10.0 => format!("{value:.1}"),
        _ if size >= 0.1 || size == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.*}", (2.0 - size.log10().floor()).clamp(0.0, 12.0) as usize),
    }
}

/// Returns short names of sizes: `10K` for 10,000.
pub fn size_names(sizes: &[usize]) -> Vec<String> {
    let name = |&size: &usize| match size {
        0 => "0".to_owned(),
        _ if size % 1000 == 0 => format!("{}K", size / 1000),
        _ => size.to_string(),
    };
    sizes.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let shown = [288.4, 28.84, 2.884, 0.2884, 0.02884, 0.0, -12.34, 0.000_123_456, f64::NAN].map(number);
        assert_eq!(shown, ["288", "28.8", "2.88", "0.29", "0.0288", "0.00", "-12.3", "0.000123", ""]);
    }

    #[test]
    fn sizes_have_short_names() {
        assert_eq!(size_names(&[0, 200, 1000, 100_000]), ["0", "200", "1K", "100K"]);
    }
}

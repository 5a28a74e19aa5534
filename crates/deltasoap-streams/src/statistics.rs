//! The median, which all measurements of the project share.

/// Returns the median, the mean of the two middle numbers for an even count; `None` if there are no
/// numbers.
pub fn median(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = numbers.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(f64::midpoint(sorted[(sorted.len() - 1) / 2], upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_numbers_are_below_the_median() {
        assert_eq!(median([7.0]), Some(7.0));
        assert_eq!(median([9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 9.0, 2.0]), Some(3.0));
        assert_eq!(median([]), None);
    }
}

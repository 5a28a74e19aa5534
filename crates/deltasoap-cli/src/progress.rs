//! Progress on standard error.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const TEMPLATE: &str = "{msg:>10} [{bar:40}] {pos}/{len} messages, {per_sec}";

/// Creates a bar for `length` messages; hidden if standard error is not a terminal.
pub fn bar(label: &'static str, length: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    // The template is a constant that the tests cover.
    let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_message(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}

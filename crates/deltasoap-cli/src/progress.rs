//! Progress on standard error.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const TEMPLATE: &str = "{msg:>10} [{bar:40}] {pos}/{len} messages, {per_sec}";

#[cfg(any(test, feature = "archive"))]
const COUNTER: &str = "{msg:>10} {spinner} {pos} messages, {per_sec}";

/// Creates a bar for `length` messages; hidden if standard error is not a terminal.
pub fn bar(label: &'static str, length: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    // The template is a constant that the tests cover.
    let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_message(label)
}

/// Creates a counter of messages whose number is unknown; hidden if standard error is not a terminal.
#[cfg(feature = "archive")]
pub fn counter(label: &'static str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(COUNTER).unwrap_or_else(|_| ProgressStyle::default_spinner());
    bar.with_style(style).with_message(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_valid() {
        assert!(ProgressStyle::with_template(COUNTER).is_ok());
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}

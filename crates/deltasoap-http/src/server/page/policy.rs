//! The page's policy: it may use its own style and script, by their hashes, and send requests to
//! its origin.
//!
//! So text that got into the page unescaped would still not run, nor load or send anything
//! elsewhere. No other site can put the page in a frame and trick users into clicking its form.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// The page's style.
pub(super) const STYLE: &str = include_str!("page.css");

/// The page's script.
pub(super) const SCRIPT: &str = include_str!("page.js");

/// Returns the page's `Content-Security-Policy` (Content Security Policy Level 3).
pub(crate) fn content_security_policy() -> &'static str {
    static POLICY: LazyLock<String> = LazyLock::new(|| {
        let (style, script) = (hash(STYLE), hash(SCRIPT));
        format!(
            "default-src 'none'; style-src '{style}'; script-src '{script}'; connect-src 'self'; img-src data:; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
    });
    &POLICY
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_allows_the_script_and_no_other() {
        assert_eq!(hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        let policy = content_security_policy();
        assert!(policy.contains(&hash(SCRIPT)) && policy.contains(&hash(STYLE)));
        assert!(!policy.contains("unsafe") && !policy.contains('*'));
    }

    #[test]
    fn what_stands_in_the_page_does_not_end_there() {
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("<!--") && !STYLE.contains("</"));
        // The HTML parser normalises line ends. With other line ends the hashes would not match
        // what it sees.
        assert!(!SCRIPT.contains('\r') && !STYLE.contains('\r'));
    }
}

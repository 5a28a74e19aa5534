//! Regular expressions of XML Schema in the form of JSON Schema (ECMA-262).

use regex::Regex;

/// Returns a pattern as a regular expression of ECMA-262 that matches the same texts; `None` if it
/// has something that ECMA-262 lacks or reads differently: `\i`, `\c`, `\w`, `\p{...}`, subtraction
/// of classes.
pub(super) fn ecma(pattern: &str) -> Option<String> {
    let mut out = String::with_capacity(pattern.len() + 6);
    out.push_str("^(?:");
    let mut chars = pattern.chars().peekable();
    let mut is_in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => escaped(chars.next()?, is_in_class, &mut out)?,
            '[' if is_in_class => return None,
            '[' => {
                is_in_class = true;
                out.push('[');
            }
            ']' if is_in_class => {
                is_in_class = false;
                out.push(']');
            }
            // Ordinary characters in XML Schema.
            '^' | '$' if !is_in_class => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out.push_str(")$");
    // What is left is common to both, if it is well-formed.
    Regex::new(&out).ok().map(|_| out)
}

fn escaped(c: char, is_in_class: bool, out: &mut String) -> Option<()> {
    match c {
        'n' | 'r' | 't' | 'd' | 'D' | 's' | 'S' => out.extend(['\\', c]),
        // An escape that ECMA-262 has only in classes.
        '-' if !is_in_class => out.push('-'),
        '\\' | '|' | '.' | '?' | '*' | '+' | '(' | ')' | '{' | '}' | '-' | '[' | ']' | '^' | '$' => {
            out.extend(['\\', c]);
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_patterns_are_kept() {
        for (pattern, expected) in [
            (r"[A-Z]{1,3}-\d+", r"^(?:[A-Z]{1,3}-\d+)$"),
            (r"a|b", r"^(?:a|b)$"),
            (r"^\-[\-\]]$", r"^(?:\^-[\-\]]\$)$"),
        ] {
            assert_eq!(ecma(pattern).as_deref(), Some(expected), "{pattern}");
        }
    }

    #[test]
    fn what_others_read_differently_is_left_out() {
        for pattern in [r"\i\c*", r"\p{L}+", r"[a-z-[aeiou]]", r"\w", "(", "[a", r"\"] {
            assert_eq!(ecma(pattern), None, "{pattern}");
        }
    }
}

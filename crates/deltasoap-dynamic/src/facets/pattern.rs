//! Regular expressions of XML Schema (XSD 1.0 part 2, appendix F), by way of the `regex` crate.

use deltasoap_core::lexical::is_xml_char;
use regex::Regex;
use regex_syntax::hir::{Class, ClassUnicodeRange, Hir, HirKind};

/// A pattern that matches whole texts; `None` for one that has no equal here.
pub(crate) fn compiled(pattern: &str) -> Option<Regex> {
    Regex::new(&format!("^(?:{})$", translated(pattern))).ok()
}

/// The pattern in the other syntax. What differs: `^` and `$` are characters, `\i` and `\c` are those of names, `\w` is
/// wider, and `-[` takes characters out of a class.
fn translated(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    let mut depth = 0_usize;
    while let Some(c) = chars.next() {
        match c {
            '\\' => escaped(chars.next(), &mut out),
            '[' => {
                depth += 1;
                out.push('[');
                if chars.peek() == Some(&'^') {
                    chars.next();
                    out.push('^');
                }
            }
            ']' => {
                depth = depth.saturating_sub(1);
                out.push(']');
            }
            '-' if depth > 0 && chars.peek() == Some(&'[') => out.push_str("--"),
            '^' | '$' | '&' | '~' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn escaped(c: Option<char>, out: &mut String) {
    match c {
        Some('i') => out.push_str(r"[\p{L}\p{Nl}_:]"),
        Some('I') => out.push_str(r"[^\p{L}\p{Nl}_:]"),
        Some('c') => out.push_str(r"[\p{L}\p{N}\p{M}._:\-]"),
        Some('C') => out.push_str(r"[^\p{L}\p{N}\p{M}._:\-]"),
        Some('w') => out.push_str(r"[^\p{P}\p{Z}\p{C}]"),
        Some('W') => out.push_str(r"[\p{P}\p{Z}\p{C}]"),
        Some('s') => out.push_str(r"[ \t\n\r]"),
        Some('S') => out.push_str(r"[^ \t\n\r]"),
        Some(c) => {
            out.push('\\');
            out.push(c);
        }
        None => out.push_str(r"\\"),
    }
}

/// Most characters of a sample.
const MOST: usize = 4096;

/// A text that matches a pattern, with so many repetitions beyond the least.
pub(crate) fn sample(pattern: &str, extra: u32) -> Option<String> {
    let hir = regex_syntax::parse(&translated(pattern)).ok()?;
    let mut out = String::new();
    append(&hir, extra, &mut out);
    (out.len() <= MOST).then_some(out)
}

fn append(hir: &Hir, extra: u32, out: &mut String) {
    if out.len() > MOST {
        return;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => out.extend(one_of(class)),
        HirKind::Repetition(it) => {
            let most = it.max.unwrap_or(u32::MAX);
            let times = it.min.saturating_add(extra).min(most);
            (0..times.min(MOST as u32)).for_each(|_| append(&it.sub, extra, out));
        }
        HirKind::Capture(it) => append(&it.sub, extra, out),
        HirKind::Concat(all) => all.iter().for_each(|it| append(it, extra, out)),
        HirKind::Alternation(all) => all.first().into_iter().for_each(|it| append(it, extra, out)),
    }
}

/// A character of a class, a common one if there is one.
fn one_of(class: &Class) -> Option<char> {
    const COMMON: [char; 8] = ['A', 'a', '1', '0', 'x', '-', '_', ' '];
    let Class::Unicode(class) = class else { return None };
    let has = |c: char| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&c));
    let first = || class.ranges().iter().map(ClassUnicodeRange::start).find(|&c| is_xml_char(c));
    COMMON.into_iter().find(|&c| has(c)).or_else(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_texts_by_the_rules_of_xsd() {
        for (pattern, good, bad) in [
            (r"[A-Z]{1,3}-\d+", "AB-7", "AB-7x"),
            (r"\i\c*", "a:b-c", "-a"),
            ("a^b$", "a^b$", "ab"),
            ("[a-z-[aeiou]]+", "bcd", "bad"),
            ("a|b", "b", "ab"),
            ("[^&]*", "abc", "a&b"),
        ] {
            let compiled = compiled(pattern).expect(pattern);
            assert!(compiled.is_match(good) && !compiled.is_match(bad), "{pattern}");
            for extra in 0..3 {
                let sample = sample(pattern, extra).expect(pattern);
                assert!(compiled.is_match(&sample), "{pattern}: {sample}");
            }
        }
        assert!(compiled(r"\p{IsBasicLatin}").is_none());
    }
}

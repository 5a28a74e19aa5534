//! Regular expressions of XML Schema (XSD 1.0 part 2, appendix F), by the `regex` crate.

mod blocks;

use blocks::BLOCKS;
use deltasoap_core::lexical::is_xml_char;
use regex::Regex;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Maximum number of compiled patterns kept.
const KEPT: usize = 1_000;

/// A pattern that matches whole texts; `None` for one that the standard does not allow, or that is too large.
pub(crate) fn compiled(pattern: &str) -> Option<Regex> {
    static COMPILED: LazyLock<Mutex<HashMap<Box<str>, Option<Regex>>>> = LazyLock::new(Mutex::default);
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = compiled.get(pattern) {
        return known.clone();
    }
    let regex = translated(pattern).and_then(|pattern| Regex::new(&format!("^(?:{pattern})$")).ok());
    if compiled.len() >= KEPT {
        compiled.clear();
    }
    compiled.insert(pattern.into(), regex.clone());
    regex
}

/// The pattern in the syntax of `regex`. The main differences: `^` and `$` are characters, `\i` and `\c` are those of names, `\w` is
/// wider, Unicode blocks have names, and `-[` subtracts characters from a class.
fn translated(pattern: &str) -> Option<String> {
    let mut translator = Translator { rest: pattern.chars().peekable(), out: String::with_capacity(pattern.len()) };
    translator.alternatives(DEPTH)?;
    translator.rest.next().is_none().then_some(translator.out)
}

/// Maximum depth of nested groups and classes.
const DEPTH: usize = 100;

struct Translator<'p> {
    rest: Peekable<Chars<'p>>,
    out: String,
}

impl Translator<'_> {
    fn alternatives(&mut self, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        loop {
            match self.rest.peek() {
                None | Some(')') => return Some(()),
                Some('|') => self.copy(),
                Some(_) => {
                    self.atom(depth)?;
                    self.quantifier()?;
                }
            }
        }
    }

    fn copy(&mut self) {
        self.out.extend(self.rest.next());
    }

    fn take(&mut self, wanted: char) -> bool {
        self.rest.next_if_eq(&wanted).is_some()
    }

    fn atom(&mut self, depth: usize) -> Option<()> {
        match self.rest.next()? {
            '(' => {
                self.out.push_str("(?:");
                self.alternatives(depth)?;
                self.out.push(')');
                self.take(')').then_some(())
            }
            '[' => self.class(depth).map(|class| self.push(&class)),
            '\\' => self.escape().map(|class| self.push(&class)),
            '.' => {
                self.push(&negated(&of_chars("\n\r")));
                Some(())
            }
            '?' | '*' | '+' | '{' | '}' | ']' => None,
            c => {
                self.push(&one(c, c));
                Some(())
            }
        }
    }

    /// `?`, `*`, `+`, `{n}`, `{n,}`, `{n,m}`, once: the standard has no lazy quantifiers.
    fn quantifier(&mut self) -> Option<()> {
        match self.rest.peek() {
            Some('?' | '*' | '+') => self.copy(),
            Some('{') => {
                let text: String = self.rest.by_ref().take_while(|&c| c != '}').skip(1).collect();
                let (least, most) = text.split_once(',').unwrap_or((&text, &text));
                let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                if !is_number(least) || !(is_number(most) || most.is_empty() && text.contains(',')) {
                    return None;
                }
                let _ = write!(self.out, "{{{text}}}");
            }
            _ => return Some(()),
        }
        (!matches!(self.rest.peek(), Some('?' | '*' | '+' | '{'))).then_some(())
    }

    /// A class, after its `[`.
    fn class(&mut self, depth: usize) -> Option<ClassUnicode> {
        let depth = depth.checked_sub(1)?;
        let is_negated = self.take('^');
        let mut class = ClassUnicode::empty();
        let mut is_first = true;
        loop {
            let next = self.rest.next()?;
            match next {
                ']' if !is_first => return Some(if is_negated { negated(&class) } else { class }),
                '-' if self.rest.peek() == Some(&'[') && !is_first => {
                    self.rest.next();
                    let without = self.class(depth)?;
                    if is_negated {
                        class.negate();
                    }
                    class.difference(&without);
                    return self.take(']').then_some(class);
                }
                '[' | ']' => return None,
                next => class.union(&self.member(next)?),
            }
            is_first = false;
        }
    }

    /// A character, a range or an escape in a class.
    fn member(&mut self, first: char) -> Option<ClassUnicode> {
        let (start, class) = self.single(first)?;
        // What follows a range's `-` is its end, unless the class ends or is subtracted from there.
        let mut ahead = self.rest.clone();
        let is_range = ahead.next() == Some('-') && !matches!(ahead.next(), None | Some(']' | '['));
        match start {
            Some(start) if is_range => {
                self.rest.next();
                let end = self.rest.next()?;
                let (end, _) = self.single(end)?;
                end.filter(|&end| start <= end).map(|end| one(start, end))
            }
            _ => Some(class),
        }
    }

    /// One character, or the characters of a multi-character escape.
    fn single(&mut self, first: char) -> Option<(Option<char>, ClassUnicode)> {
        if first != '\\' {
            return Some((Some(first), one(first, first)));
        }
        let class = self.escape()?;
        let single = match class.ranges() {
            [range] if range.start() == range.end() => Some(range.start()),
            _ => None,
        };
        Some((single, class))
    }

    /// An escape, after its `\`.
    fn escape(&mut self) -> Option<ClassUnicode> {
        Some(match self.rest.next()? {
            'n' => of_chars("\n"),
            'r' => of_chars("\r"),
            't' => of_chars("\t"),
            c @ ('\\' | '|' | '.' | '-' | '^' | '?' | '*' | '+' | '{' | '}' | '(' | ')' | '[' | ']') => one(c, c),
            's' => of_chars(" \t\n\r"),
            'S' => negated(&of_chars(" \t\n\r")),
            'i' => initial(),
            'I' => negated(&initial()),
            'c' => name_chars(),
            'C' => negated(&name_chars()),
            'd' => known(r"\p{Nd}")?,
            'D' => negated(&known(r"\p{Nd}")?),
            'w' => known(r"[^\p{P}\p{Z}\p{C}]")?,
            'W' => known(r"[\p{P}\p{Z}\p{C}]")?,
            'p' => self.property()?,
            'P' => negated(&self.property()?),
            _ => return None,
        })
    }

    /// A category or a block, after its `\p`.
    fn property(&mut self) -> Option<ClassUnicode> {
        if !self.take('{') {
            return None;
        }
        let name: String = self.rest.by_ref().take_while(|&c| c != '}').collect();
        match name.strip_prefix("Is") {
            Some(block) => of_block(block),
            // Characters of XML are never surrogates.
            None if name == "Cs" => Some(ClassUnicode::empty()),
            None if CATEGORIES.contains(&&*name) => known(&format!(r"\p{{{name}}}")),
            None => None,
        }
    }

    fn push(&mut self, class: &ClassUnicode) {
        if class.ranges().is_empty() {
            return self.out.push_str(r"[^\s\S]");
        }
        self.out.push('[');
        for range in class.ranges() {
            let _ = write!(self.out, r"\x{{{:X}}}-\x{{{:X}}}", u32::from(range.start()), u32::from(range.end()));
        }
        self.out.push(']');
    }
}

/// The categories of Unicode that have names (appendix F.1.1).
const CATEGORIES: [&str; 36] = [
    "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Ps", "Pe", "Pi",
    "Pf", "Po", "Z", "Zs", "Zl", "Zp", "S", "Sm", "Sc", "Sk", "So", "C", "Cc", "Cf", "Co", "Cn",
];

fn of_block(name: &str) -> Option<ClassUnicode> {
    let known = BLOCKS.iter().filter(|(known, ..)| *known == name);
    let mut ranges = known.map(|&(_, start, end)| (start, end)).peekable();
    ranges.peek()?;
    // Blocks of surrogates hold no character.
    Some(ClassUnicode::new(
        ranges.filter_map(|(start, end)| Some(ClassUnicodeRange::new(char::from_u32(start)?, char::from_u32(end)?))),
    ))
}

/// A class in the syntax of the crate.
fn known(pattern: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(pattern).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        // A category of one character.
        HirKind::Literal(literal) => Some(of_chars(std::str::from_utf8(&literal.0).ok()?)),
        _ => None,
    }
}

fn one(start: char, end: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(start, end)])
}

fn of_chars(chars: &str) -> ClassUnicode {
    ClassUnicode::new(chars.chars().map(|c| ClassUnicodeRange::new(c, c)))
}

fn negated(class: &ClassUnicode) -> ClassUnicode {
    let mut class = class.clone();
    class.negate();
    class
}

/// The characters that may begin a name (XML 1.0, fifth edition, production 4).
fn initial() -> ClassUnicode {
    const RANGES: [(char, char); 16] = [
        (':', ':'),
        ('A', 'Z'),
        ('_', '_'),
        ('a', 'z'),
        ('\u{C0}', '\u{D6}'),
        ('\u{D8}', '\u{F6}'),
        ('\u{F8}', '\u{2FF}'),
        ('\u{370}', '\u{37D}'),
        ('\u{37F}', '\u{1FFF}'),
        ('\u{200C}', '\u{200D}'),
        ('\u{2070}', '\u{218F}'),
        ('\u{2C00}', '\u{2FEF}'),
        ('\u{3001}', '\u{D7FF}'),
        ('\u{F900}', '\u{FDCF}'),
        ('\u{FDF0}', '\u{FFFD}'),
        ('\u{10000}', '\u{EFFFF}'),
    ];
    ClassUnicode::new(RANGES.map(|(start, end)| ClassUnicodeRange::new(start, end)))
}

/// The characters of names (production 4a).
fn name_chars() -> ClassUnicode {
    let mut class = initial();
    class.union(&of_chars("-.\u{B7}"));
    for (start, end) in [('0', '9'), ('\u{300}', '\u{36F}'), ('\u{203F}', '\u{2040}')] {
        class.union(&one(start, end));
    }
    class
}

/// Maximum number of characters of a sample.
const MOST: usize = 4096;

/// A text that matches a pattern, with a number of repetitions beyond the minimum. Texts with different numbers usually differ.
pub(crate) fn sample(pattern: &str, extra: u32, number: usize) -> Option<String> {
    let hir = regex_syntax::parse(&translated(pattern)?).ok()?;
    let mut sample = Sample { extra, number, out: String::new() };
    sample.append(&hir);
    (sample.out.len() <= MOST).then_some(sample.out)
}

/// A text under construction.
struct Sample {
    extra: u32,
    /// The rest of the number: each place with several possibilities takes one digit of it.
    number: usize,
    out: String,
}

impl Sample {
    fn append(&mut self, hir: &Hir) {
        if self.out.len() > MOST {
            return;
        }
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => self.out.push_str(&String::from_utf8_lossy(&literal.0)),
            HirKind::Class(class) => {
                let all = some_of(class);
                let chosen = all.get(self.digit(all.len())).copied();
                self.out.extend(chosen);
            }
            HirKind::Repetition(it) => {
                let most = it.max.unwrap_or(u32::MAX);
                let times = it.min.saturating_add(self.extra).min(most);
                (0..times.min(MOST as u32)).for_each(|_| self.append(&it.sub));
            }
            HirKind::Capture(it) => self.append(&it.sub),
            HirKind::Concat(all) => all.iter().for_each(|it| self.append(it)),
            HirKind::Alternation(all) => {
                let chosen = self.digit(all.len());
                all.get(chosen).into_iter().for_each(|it| self.append(it));
            }
        }
    }

    /// The number's next digit, in this base.
    fn digit(&mut self, base: usize) -> usize {
        let digit = self.number % base.max(1);
        self.number /= base.max(1);
        digit
    }
}

/// Characters of a class, common ones first.
fn some_of(class: &Class) -> Vec<char> {
    const COMMON: [char; 8] = ['A', 'a', '1', '0', 'x', '-', '_', ' '];
    let Class::Unicode(class) = class else { return Vec::new() };
    let has = |c: &char| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(c));
    let others = ('B'..='Z').chain('b'..='z').chain('2'..='9').filter(|c| *c != 'x');
    let known: Vec<char> = COMMON.into_iter().chain(others).filter(has).collect();
    let first = || class.ranges().iter().map(ClassUnicodeRange::start).find(|&c| is_xml_char(c));
    if known.is_empty() { first().into_iter().collect() } else { known }
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
            ("[^a-z-[A]]+", "BCD", "BAD"),
            ("[a-c-]+", "a-c", "a-d"),
            ("[-a]", "-", "b"),
            ("a|b", "b", "ab"),
            ("[^&]*", "abc", "a&b"),
            ("a.c", "abc", "a\nc"),
            (r"\p{IsBasicLatin}+", "abc", "\u{E4}"),
            (r"\P{IsGreek}", "a", "\u{3B1}"),
            (r"[\w-[\d]]+", "abc", "ab1"),
            (r"\p{Zl}", "\u{2028}", " "),
            (r"\.\[\^", ".[^", "x[^"),
            ("(ab|c){2}", "abc", "ab"),
        ] {
            let compiled = compiled(pattern).expect(pattern);
            assert!(compiled.is_match(good) && !compiled.is_match(bad), "{pattern}");
            for (extra, number) in [(0, 0), (1, 0), (2, 0), (0, 1), (1, 37), (2, 12_345)] {
                let sample = sample(pattern, extra, number).expect(pattern);
                assert!(compiled.is_match(&sample), "{pattern}: {sample}");
            }
        }
    }

    #[test]
    fn patterns_that_the_standard_does_not_have_are_refused() {
        for pattern in [
            "a*?",
            r"\b",
            r"\p{IsNowhere}",
            r"\p{Greek}",
            "(a",
            "a)",
            "[",
            "[a",
            "[b-a]",
            "a{,2}",
            "a{x}",
            "*",
            r"\q",
            "[]",
        ] {
            assert!(compiled(pattern).is_none(), "{pattern}");
        }
        assert!(compiled(&"(".repeat(100_000)).is_none());
    }
}

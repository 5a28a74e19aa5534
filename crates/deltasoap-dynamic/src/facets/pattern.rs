//! Regular expressions of XML Schema (XSD 1.0 part 2, appendix F), implemented with the `regex`
//! crate.
//!
//! `regex` has no backtracking, so any text is matched in linear time. Samples come from
//! `regex-syntax`.

mod alphabet;
mod blocks;

use alphabet::Alphabet;
use blocks::BLOCKS;
use deltasoap_core::lexical::is_xml_char;
use regex::{Regex, bytes};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::iter::Peekable;
use std::ops::RangeInclusive;
use std::str::Chars;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Maximum number of compiled patterns kept.
const MAX_CACHED: usize = 1_000;

/// A pattern that matches whole texts.
#[derive(Debug, Clone)]
pub(crate) enum Pattern {
    /// Over the symbols of an alphabet.
    Symbols(Arc<Alphabet>, bytes::Regex),
    /// Over characters: for patterns that distinguish too many groups of characters for an
    /// alphabet.
    Characters(Regex),
}

/// The reason why a pattern cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// The standard does not allow it.
    Invalid,
    /// Its automaton takes more than 10 MiB.
    TooLarge,
}

impl Pattern {
    fn new(pattern: &str) -> Result<Self, Unusable> {
        let pattern = Translated::new(pattern).ok_or(Unusable::Invalid)?;
        match Alphabet::new(&pattern.classes) {
            Some(alphabet) => Self::of_symbols(&pattern, alphabet),
            None => Self::of_characters(&pattern),
        }
    }

    fn of_symbols(pattern: &Translated, alphabet: Alphabet) -> Result<Self, Unusable> {
        let text = pattern.written(|class, out| write_symbols(&alphabet.symbols(class), out));
        let regex = bytes::RegexBuilder::new(&format!("^(?:{text})$")).unicode(false).build();
        regex.map(|regex| Pattern::Symbols(Arc::new(alphabet), regex)).map_err(unusable)
    }

    fn of_characters(pattern: &Translated) -> Result<Self, Unusable> {
        let text = pattern.written(write_characters);
        Regex::new(&format!("^(?:{text})$")).map(Pattern::Characters).map_err(unusable)
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        match self {
            Pattern::Symbols(alphabet, regex) => regex.is_match(&alphabet.translate(text)),
            Pattern::Characters(regex) => regex.is_match(text),
        }
    }
}

fn unusable(error: regex::Error) -> Unusable {
    match error {
        regex::Error::CompiledTooBig(_) => Unusable::TooLarge,
        _ => Unusable::Invalid,
    }
}

/// Patterns with their compiled form.
type Compiled = HashMap<Box<str>, Result<Pattern, Unusable>>;

/// Compiles a pattern that matches whole texts.
///
/// # Errors
/// If the standard does not allow it, or it is too large.
pub(crate) fn compiled(pattern: &str) -> Result<Pattern, Unusable> {
    static COMPILED: LazyLock<Mutex<Compiled>> = LazyLock::new(Mutex::default);
    let lock = || COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lock().get(pattern) {
        return known.clone();
    }
    let new = Pattern::new(pattern);
    let mut compiled = lock();
    if compiled.len() >= MAX_CACHED {
        compiled.clear();
    }
    compiled.insert(pattern.into(), new.clone());
    new
}

/// A pattern in the syntax of `regex`. The main differences: `^` and `$` are characters, `\i` and
/// `\c` are those of names, `\w` is wider, Unicode blocks have names, and `-[` subtracts characters
/// from a class.
#[derive(Debug, Default)]
struct Translated {
    pieces: Vec<Piece>,
    /// The classes of characters, each once. A literal character is a class too.
    classes: Vec<ClassUnicode>,
}

#[derive(Debug)]
enum Piece {
    /// A character of the syntax.
    Syntax(char),
    /// The class with this number.
    Class(usize),
}

impl Translated {
    fn new(pattern: &str) -> Option<Self> {
        let rest = pattern.chars().peekable();
        let mut translator = Translator { rest, out: Translated::default(), numbers: HashMap::new() };
        translator.alternatives(MAX_DEPTH)?;
        translator.rest.next().is_none().then_some(translator.out)
    }

    /// Returns the pattern as text, with classes as `write` writes them.
    fn written(&self, write: impl Fn(&ClassUnicode, &mut String)) -> String {
        let written = |class| {
            let mut text = String::new();
            write(class, &mut text);
            text
        };
        let classes: Vec<_> = self.classes.iter().map(written).collect();
        self.pieces.iter().fold(String::new(), |mut text, piece| {
            match piece {
                Piece::Syntax(c) => text.push(*c),
                Piece::Class(number) => text.push_str(&classes[*number]),
            }
            text
        })
    }
}

fn write_characters(class: &ClassUnicode, out: &mut String) {
    if class.ranges().is_empty() {
        return out.push_str(r"[^\s\S]");
    }
    out.push('[');
    for range in class.ranges() {
        let _ = write!(out, r"\x{{{:X}}}-\x{{{:X}}}", u32::from(range.start()), u32::from(range.end()));
    }
    out.push(']');
}

fn write_symbols(symbols: &[RangeInclusive<u8>], out: &mut String) {
    if symbols.is_empty() {
        return out.push_str(r"[^\x00-\xFF]");
    }
    out.push('[');
    for run in symbols {
        let _ = write!(out, r"\x{:02X}-\x{:02X}", run.start(), run.end());
    }
    out.push(']');
}

/// Maximum depth of nested groups and classes.
const MAX_DEPTH: usize = 100;

struct Translator<'p> {
    rest: Peekable<Chars<'p>>,
    out: Translated,
    /// The index of each class.
    numbers: HashMap<Vec<(char, char)>, usize>,
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
        self.out.pieces.extend(self.rest.next().map(Piece::Syntax));
    }

    fn take(&mut self, expected: char) -> bool {
        self.rest.next_if_eq(&expected).is_some()
    }

    fn atom(&mut self, depth: usize) -> Option<()> {
        match self.rest.next()? {
            '(' => {
                self.syntax("(?:");
                self.alternatives(depth)?;
                self.syntax(")");
                self.take(')').then_some(())
            }
            '[' => self.class(depth).map(|class| self.push(class)),
            '\\' => self.escape().map(|class| self.push(class)),
            '.' => {
                self.push(negated(&of_chars("\n\r")));
                Some(())
            }
            '?' | '*' | '+' | '{' | '}' | ']' => None,
            c => {
                self.push(one(c, c));
                Some(())
            }
        }
    }

    /// Parses one of `?`, `*`, `+`, `{n}`, `{n,}`, `{n,m}`: the standard has no lazy quantifiers.
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
                self.syntax(&format!("{{{text}}}"));
            }
            _ => return Some(()),
        }
        (!matches!(self.rest.peek(), Some('?' | '*' | '+' | '{'))).then_some(())
    }

    /// Parses a class, after its `[`.
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

    /// Parses a character, a range or an escape in a class.
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

    /// Parses one character, or a multi-character escape.
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

    /// Parses an escape, after its `\`.
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
            // Not in the standard, but Xerces, libxml2 and xmlschema accept them: `\/`, `\@`.
            c if c.is_ascii_punctuation() => one(c, c),
            _ => return None,
        })
    }

    /// Parses a category or a block, after its `\p`.
    fn property(&mut self) -> Option<ClassUnicode> {
        if !self.take('{') {
            return None;
        }
        let name: String = self.rest.by_ref().take_while(|&c| c != '}').collect();
        match name.strip_prefix("Is") {
            Some(block) => of_block(block),
            // XML characters are never surrogates.
            None if name == "Cs" => Some(ClassUnicode::empty()),
            None if CATEGORIES.contains(&&*name) => known(&format!(r"\p{{{name}}}")),
            None => None,
        }
    }

    fn syntax(&mut self, text: &str) {
        self.out.pieces.extend(text.chars().map(Piece::Syntax));
    }

    fn push(&mut self, class: ClassUnicode) {
        let next = self.out.classes.len();
        let ranges = class.ranges().iter().map(|range| (range.start(), range.end())).collect();
        let number = *self.numbers.entry(ranges).or_insert(next);
        if number == next {
            self.out.classes.push(class);
        }
        self.out.pieces.push(Piece::Class(number));
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
    // Blocks of surrogates contain no character.
    Some(ClassUnicode::new(
        ranges.filter_map(|(start, end)| Some(ClassUnicodeRange::new(char::from_u32(start)?, char::from_u32(end)?))),
    ))
}

/// Returns a class that is written in the syntax of the `regex` crate.
fn known(pattern: &str) -> Option<ClassUnicode> {
    static KNOWN: LazyLock<Mutex<HashMap<String, Option<ClassUnicode>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(pattern.to_owned()).or_insert_with(|| parsed(pattern)).clone()
}

fn parsed(pattern: &str) -> Option<ClassUnicode> {
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

/// Returns the characters that may begin a name (XML 1.0, fifth edition, production 4).
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

/// Returns the characters of names (production 4a).
fn name_chars() -> ClassUnicode {
    let mut class = initial();
    class.union(&of_chars("-.\u{B7}"));
    for (start, end) in [('0', '9'), ('\u{300}', '\u{36F}'), ('\u{203F}', '\u{2040}')] {
        class.union(&one(start, end));
    }
    class
}

/// Maximum number of characters of a sample.
const MAX_LENGTH: usize = 4096;

/// Returns a text that matches a pattern, with a number of repetitions beyond the minimum. Texts
/// for different numbers usually differ.
pub(crate) fn sample(pattern: &str, extra: u32, number: usize) -> Option<String> {
    let hir = regex_syntax::parse(&Translated::new(pattern)?.written(write_characters)).ok()?;
    let mut sample = Sample { extra, number, out: String::new(), known: HashMap::new() };
    sample.append(&hir);
    (sample.out.len() <= MAX_LENGTH).then_some(sample.out)
}

/// A text under construction.
struct Sample {
    extra: u32,
    /// The rest of the number: each place with several possibilities takes one digit of it.
    number: usize,
    out: String,
    /// The characters to choose from, by the class's address.
    known: HashMap<*const Class, Vec<char>>,
}

impl Sample {
    fn append(&mut self, hir: &Hir) {
        if self.out.len() > MAX_LENGTH {
            return;
        }
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => self.out.push_str(&String::from_utf8_lossy(&literal.0)),
            HirKind::Class(class) => {
                let all = self.known.entry(std::ptr::from_ref(class)).or_insert_with(|| some_of(class));
                let digit = self.number % all.len().max(1);
                self.number /= all.len().max(1);
                self.out.extend(all.get(digit));
            }
            HirKind::Repetition(it) => {
                let most = it.max.unwrap_or(u32::MAX);
                let times = it.min.saturating_add(self.extra).min(most);
                self.repeat(&it.sub, times);
            }
            HirKind::Capture(it) => self.append(&it.sub),
            HirKind::Concat(all) => all.iter().for_each(|it| self.append(it)),
            HirKind::Alternation(all) => {
                let chosen = self.digit(all.len());
                all.get(chosen).into_iter().for_each(|it| self.append(it));
            }
        }
    }

    /// Repeats an expression. One that has added nothing cannot add anything any number of times.
    fn repeat(&mut self, hir: &Hir, times: u32) {
        for _ in 0..times {
            let before = self.out.len();
            self.append(hir);
            if self.out.len() == before || self.out.len() > MAX_LENGTH {
                break;
            }
        }
    }

    /// Returns the number's next digit, in this base.
    fn digit(&mut self, base: usize) -> usize {
        let digit = self.number % base.max(1);
        self.number /= base.max(1);
        digit
    }
}

/// Returns characters of a class, common ones first.
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
            (r"a\/[\@\_]", "a/@", "a"),
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
            assert!(compiled(pattern).err() == Some(Unusable::Invalid), "{pattern}");
        }
        assert_eq!(compiled(&"(".repeat(100_000)).err(), Some(Unusable::Invalid));
    }

    #[test]
    fn long_counts_of_large_classes_are_checked() {
        for (pattern, good) in [
            (r"\w{0,255}", "7"),
            (r"[\p{L} ]{1,255}", "a b"),
            (".{1,32767}", "7"),
            ("[0-9]{1,9999}", "7"),
            (r"\w{1,64}@(\w{1,64}\.){1,8}\w{2,6}", "a@b.cd"),
        ] {
            let compiled = compiled(pattern).expect(pattern);
            assert!(compiled.is_match(good) && !compiled.is_match("\n"), "{pattern}");
        }
        let length = compiled(r"\w{0,255}").expect("a pattern");
        assert!(length.is_match(&"\u{E4}".repeat(255)) && !length.is_match(&"\u{E4}".repeat(256)));
        assert_eq!(compiled("((a{1000}){1000}){1000}").err(), Some(Unusable::TooLarge));
    }

    /// Asserts that both ways to match a pattern agree.
    #[test]
    fn symbols_stand_for_characters() {
        let texts =
            ["", "a", "AB-7", "ab1", "a:b-c", "\u{E4}\u{3B1}", "a\nb", "^$", "\u{2028}", "\u{10FFFF}x", "-a.c&]", "  "];
        let patterns = [
            r"[A-Z]{1,3}-\d+",
            r"\i\c*",
            "[a-z-[aeiou]]+",
            "[^&]*",
            "a.c",
            r"\p{IsBasicLatin}+",
            r"\P{IsGreek}",
            r"[\w-[\d]]+",
            ".*",
            r"\s*",
            r"(\w|-)+(\d)?",
            "\u{E4}|\u{3B1}|[\u{3B1}-\u{3C9}]+|.x",
            r"\p{Cs}a?",
            "[^a]",
            "()",
            r"[\-\^]?\S*",
            "\u{E4}\u{3B1}",
        ];
        for pattern in patterns {
            let translated = Translated::new(pattern).expect(pattern);
            let alphabet = Alphabet::new(&translated.classes).expect("few classes");
            let symbols = Pattern::of_symbols(&translated, alphabet).expect(pattern);
            let characters = Pattern::of_characters(&translated).expect(pattern);
            for text in texts {
                assert_eq!(symbols.is_match(text), characters.is_match(text), "{pattern} {text:?}");
            }
        }
        let many: String = ('\u{4E00}'..'\u{4F00}').collect();
        let compiled = compiled(&many).expect("a long text");
        assert!(matches!(compiled, Pattern::Characters(_)) && compiled.is_match(&many));
    }

    #[test]
    fn samples_take_bounded_time() {
        let start = std::time::Instant::now();
        for extra in 0..5 {
            sample("((((a?){1000}){1000}){1000}){1000}", extra, 0);
            sample("((()|b){1000}){1000}", extra, 7);
        }
        for _ in 0..50 {
            sample(r"(\p{L}{100}){50}", 0, 0);
        }
        assert!(start.elapsed().as_secs() < 5);
    }
}

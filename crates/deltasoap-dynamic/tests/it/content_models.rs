//! Content models: random ones compared with regular expressions; accepted children are read.

use super::validation::{check, op};
use crate::support::{Codec, schema};

/// The next element does not always determine where an occurrence ends.
#[test]
fn counts_within_counts_are_exact() {
    let e = |name: &str, occurs: &str| format!("<xs:element name='{name}' type='xs:string' {occurs}/>");
    let (x, y) = (e("x", "minOccurs='2' maxOccurs='3'"), e("y", "minOccurs='0'"));
    let words = |words: &[&str]| -> Vec<String> {
        let element = |letter: char| format!("<{letter}/>");
        words.iter().map(|word| format!("<Op>{}</Op>", word.chars().map(element).collect::<String>())).collect()
    };
    let check_words = |content: &str, good: &[&str], bad: &[(&str, &str)]| {
        let (good, names): (Vec<_>, Vec<_>) = (words(good), bad.iter().map(|(word, _)| *word).collect());
        let bad = words(&names).into_iter().zip(bad.iter().map(|(_, expected)| *expected)).collect::<Vec<_>>();
        let good: Vec<&str> = good.iter().map(String::as_str).collect();
        let bad: Vec<(&str, &str)> = bad.iter().map(|(message, expected)| (message.as_str(), *expected)).collect();
        check(&op(content), &good, &bad);
    };
    let rounds = format!("<xs:sequence maxOccurs='2'>{x}{y}</xs:sequence>");
    check_words(
        &rounds,
        &["xx", "xxx", "xxxx", "xxxxx", "xxxxxx", "xxy", "xxyxxx", "xxxyxxxy", "xxxxy", "xxxxxy", "xxxxxxy"],
        &[
            ("", "<x> is missing"),
            ("x", "<x> is missing"),
            ("xxxxxxx", "expected <y>, or the end"),
            ("xxyx", "<x> is missing"),
            ("xxxxyxx", "nothing more is allowed here"),
            ("xxxxyxy", "nothing more is allowed here"),
            ("xyxx", "expected <x>"),
        ],
    );
    let deep = format!(
        "<xs:sequence><xs:sequence minOccurs='2' maxOccurs='3'><xs:sequence minOccurs='2' maxOccurs='2'>{x}{y}</xs:sequence>\
         {}</xs:sequence>{}</xs:sequence>",
        e("z", "minOccurs='0'"),
        e("end", "minOccurs='0'").replace("'end'", "'w'")
    );
    check_words(
        &deep,
        &["xxxxxxxx", "xxyxxxxxxw", "xxxxzxxxx", "xxxxxxxxxxxxxxxxxx", "xxxxzxxyxxyzxxxxxx"],
        &[
            ("xxxxxxx", "<x>"),
            ("xxxxxxxxxxxxxxxxxxx", "expected <y>"),
            ("xxzxxxxxx", "expected <x>"),
            ("xxxxz", "<x> is missing"),
        ],
    );
    let huge = format!(
        "<xs:sequence minOccurs='1000000' maxOccurs='4294967295'>{}{y}</xs:sequence>",
        e("x", "maxOccurs='4294967295'")
    );
    let many = "x".repeat(20_000);
    check_words(&huge, &[], &[(&many, "<x>")]);
    check_words(&huge.replace("'1000000'", "'20000'"), &[&many], &[(&many[1..], "<x>")]);
}

/// Compares content models in which every name occurs once with the same models as regular
/// expressions.
#[test]
fn content_models_take_what_regular_expressions_take() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..300 {
        let mut names = "abcdef".chars();
        let model = Model::random(&mut random, &mut names, 3);
        let contract = schema(&op(&format!("<xs:sequence>{}</xs:sequence>", model.xsd())));
        let pattern = regex::Regex::new(&format!("^(?:{})$", model.pattern())).expect("a pattern");
        for _ in 0..20 {
            let mut word = String::new();
            model.sample(&mut random, &mut word);
            if random.below(2) == 0 && !word.is_empty() {
                let at = random.below(word.len());
                match random.below(3) {
                    0 => _ = word.remove(at),
                    1 => word.insert(at, word.as_bytes()[random.below(word.len())].into()),
                    _ => word.truncate(at),
                }
            }
            let children: String = word.chars().map(|letter| format!("<{letter}/>")).collect();
            let found = contract.validate(format!("<Op xmlns='urn:t'>{children}</Op>").as_bytes());
            assert_eq!(found.is_empty(), pattern.is_match(&word), "{} {word}: {found:#?}", pattern.as_str());
        }
    }
}

/// Tests content models with names in several places, if the next element determines which of them
/// is meant: accepted children are read, field by field, and written again.
#[test]
fn what_content_models_take_is_read() {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut read = 0;
    for _ in 0..6_000 {
        let names: String = (0..8).map(|_| char::from(b"abc"[random.below(3)])).collect();
        let mut letters = names.chars();
        let mut parts: Vec<_> = (0..4).map(|_| Model::random(&mut random, &mut letters, 1)).collect();
        parts.iter_mut().for_each(|part| part.occur_plainly(&mut random));
        // The first two belong together, and occur once, often, or not at all.
        let (min, max) = [(0, Some(1)), (1, None), (0, None)][random.below(3)];
        let first = Model { min, max, term: Term::Sequence(parts.drain(..2).collect()) };
        parts.insert(0, first);
        let model = Model { min: 1, max: Some(1), term: Term::Sequence(parts) };
        let contract = schema(&op(&format!("<xs:sequence>{}</xs:sequence>", model.xsd())));
        if contract.notes().iter().any(|note| note.text.contains("is not deterministic")) {
            continue;
        }
        let pattern = regex::Regex::new(&format!("^(?:{})$", model.pattern())).expect("a pattern");
        let codec = Codec::of_element(&contract, "Op");
        for _ in 0..10 {
            let mut word = String::new();
            model.sample(&mut random, &mut word);
            // Some words are cut.
            if pattern.is_match(&word) {
                let children: String = word.chars().map(|letter| format!("<{letter}/>")).collect();
                let value = codec.read(&children);
                let json = codec.to_json(&value);
                let again = codec.read_json(&json).unwrap_or_else(|error| panic!("{}: {json}: {error}", model.xsd()));
                let written = codec.write(&again);
                let letters = written.match_indices(['<']).skip(1).filter_map(|(at, _)| {
                    let name = written[at + 1..].split(['/', '>', ' ']).next().unwrap_or_default();
                    name.rsplit(':').next().and_then(|name| name.chars().next())
                });
                let letters: String = letters.filter(char::is_ascii_lowercase).collect();
                assert_eq!(letters, word, "{} {written}", model.xsd());
                read += 1;
            }
        }
    }
    assert!(read > 500, "{read}");
}

/// A list of elements that must begin an optional sequence decides whether the sequence is there.
#[test]
fn lists_begin_optional_sequences() {
    let e = |name: &str, occurs: &str| format!("<xs:element name='{name}' type='xs:string' {occurs}/>");
    let list = format!(
        "<xs:sequence maxOccurs='unbounded'>{}{}{}</xs:sequence>",
        e("c", "minOccurs='0'"),
        e("a", ""),
        e("a", "")
    );
    let optional = format!("<xs:sequence minOccurs='0'>{list}{}</xs:sequence>", e("b", ""));
    let contract = schema(&op(&format!("<xs:sequence>{optional}{}{}</xs:sequence>", e("b", ""), e("c", ""))));
    let codec = Codec::of_element(&contract, "Op");
    for word in ["bc", "aabbc", "caabbc", "aacaabbc"] {
        let children: String = word.chars().map(|letter| format!("<{letter}/>")).collect();
        let found = contract.validate(format!("<Op xmlns='urn:t'>{children}</Op>").as_bytes());
        assert!(found.is_empty(), "{word}: {found:?}");
        let written = codec.write(&codec.read(&children));
        assert_eq!(written.matches("<ns:b>").count(), word.matches('b').count(), "{word}: {written}");
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

/// A content model over letters.
struct Model {
    min: usize,
    max: Option<usize>,
    term: Term,
}

enum Term {
    Letter(char),
    Sequence(Vec<Model>),
    Choice(Vec<Model>),
}

impl Model {
    fn random(random: &mut Random, names: &mut std::str::Chars<'_>, depth: usize) -> Model {
        let min = random.below(4);
        let max = [Some(1), Some(min + random.below(3)), None][random.below(3)].map(|max| max.max(min).max(1));
        let parts = |random: &mut Random, names: &mut std::str::Chars<'_>| {
            (0..=random.below(3)).map(|_| Model::random(random, names, depth - 1)).collect()
        };
        let term = match random.below(if depth == 0 { 1 } else { 3 }) {
            1 => Term::Sequence(parts(random, names)),
            2 => Term::Choice(parts(random, names)),
            _ => names.next().map_or_else(|| Term::Sequence(Vec::new()), Term::Letter),
        };
        Model { min, max, term }
    }

    /// Most particles occur once, or are optional.
    fn occur_plainly(&mut self, random: &mut Random) {
        const OCCURS: [(usize, Option<usize>); 5] = [(1, Some(1)), (1, Some(1)), (0, Some(1)), (0, Some(1)), (1, None)];
        (self.min, self.max) = OCCURS[random.below(OCCURS.len())];
        if let Term::Sequence(parts) | Term::Choice(parts) = &mut self.term {
            parts.iter_mut().for_each(|part| part.occur_plainly(random));
        }
    }

    fn xsd(&self) -> String {
        let max = self.max.map_or_else(|| "unbounded".to_owned(), |max| max.to_string());
        let occurs = format!("minOccurs='{}' maxOccurs='{max}'", self.min);
        let group = |name: &str, parts: &[Model]| {
            format!("<xs:{name} {occurs}>{}</xs:{name}>", parts.iter().map(Model::xsd).collect::<String>())
        };
        match &self.term {
            Term::Letter(letter) => format!("<xs:element name='{letter}' {occurs}/>"),
            Term::Sequence(parts) => group("sequence", parts),
            Term::Choice(parts) => group("choice", parts),
        }
    }

    fn pattern(&self) -> String {
        let parts = |parts: &[Model]| parts.iter().map(Model::pattern).collect::<Vec<_>>();
        let term = match &self.term {
            Term::Letter(letter) => letter.to_string(),
            Term::Sequence(inner) => parts(inner).concat(),
            Term::Choice(inner) => parts(inner).join("|"),
        };
        let max = self.max.map_or_else(String::new, |max| max.to_string());
        format!("(?:{term}){{{},{max}}}", self.min)
    }

    fn sample(&self, random: &mut Random, word: &mut String) {
        let most = self.max.map_or(self.min + 3, |max| max.min(self.min + 3));
        for _ in 0..self.min + random.below(most - self.min + 1) {
            match &self.term {
                _ if word.len() > 40 => return,
                Term::Letter(letter) => word.push(*letter),
                Term::Sequence(parts) => parts.iter().for_each(|part| part.sample(random, word)),
                Term::Choice(parts) => parts[random.below(parts.len())].sample(random, word),
            }
        }
    }
}

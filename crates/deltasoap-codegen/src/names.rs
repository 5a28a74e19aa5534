//! Converts XML names to Rust names.

use heck::{ToLowerCamelCase, ToShoutySnakeCase, ToSnakeCase, ToUpperCamelCase};
use proc_macro2::{Ident, Span};
use std::collections::{HashMap, HashSet};
use unicode_normalization::UnicodeNormalization;

/// Names of the prelude that generated code uses without a path.
const PRELUDE: [&str; 10] = ["String", "Vec", "Option", "Box", "Result", "Some", "None", "Ok", "Err", "Self"];

/// Names of crates at the start of generated paths.
const CRATES: [&str; 4] = ["deltasoap", "std", "core", "alloc"];

/// Keywords of editions that `syn` does not know: as identifiers they must be raw.
const NEWER_KEYWORDS: [&str; 1] = ["gen"];

/// Keywords that cannot be raw identifiers.
const NEVER_RAW: [&str; 5] = ["self", "super", "crate", "Self", "_"];

/// The names of one module, type or function; each is used once.
#[derive(Debug, Default, Clone)]
pub(crate) struct Scope {
    taken: HashSet<String>,
    /// The last number added to each name that was requested again.
    numbers: HashMap<String, u64>,
}

impl Scope {
    /// Creates a scope in which some names are taken.
    pub(crate) fn without(names: &[&str]) -> Self {
        Scope { taken: names.iter().map(|&name| name.to_owned()).collect(), numbers: HashMap::new() }
    }

    /// Returns a name for a type, trait or variant.
    pub(crate) fn type_name(&mut self, preferred_name: &str) -> String {
        let name = valid(&legible(preferred_name).to_upper_camel_case(), "N");
        let name = if PRELUDE.contains(&name.as_str()) { format!("{name}Type") } else { name };
        self.unique(name)
    }

    /// Returns a name for a variant that cannot be confused with a name of the prelude.
    pub(crate) fn variant_name(&mut self, preferred_name: &str) -> String {
        let name = valid(&legible(preferred_name).to_upper_camel_case(), "N");
        self.unique(if name == "Self" { "SelfValue".to_owned() } else { name })
    }

    /// Returns a name for a field, function or module; [`ident`] adds `r#` to keywords.
    pub(crate) fn value_name(&mut self, preferred_name: &str) -> String {
        let name = valid(&legible(preferred_name).to_snake_case(), "n");
        let is_special = NEVER_RAW.contains(&&*name) || CRATES.contains(&&*name);
        self.unique(if is_special { format!("{name}_") } else { name })
    }

    /// Returns the name, with a number if it is taken. Numbers are not tried again, so that many
    /// equal requests take linear time.
    ///
    /// To the compiler, names with the same normal form are the same name.
    fn unique(&mut self, name: String) -> String {
        let name = name.nfc().collect::<String>();
        if self.taken.insert(name.clone()) {
            return name;
        }
        let separator = if name.ends_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
        let number = self.numbers.entry(name.clone()).or_insert(1);
        loop {
            *number += 1;
            let numbered = format!("{name}{separator}{number}");
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// Keeps only characters that an identifier can contain; a name of symbols alone is spelled out.
fn legible(preferred_name: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || (!c.is_ascii() && c.is_alphabetic());
    if preferred_name.chars().any(is_word) {
        return preferred_name.chars().map(|c| if is_word(c) { c } else { ' ' }).collect();
    }
    let names: Vec<&str> = preferred_name.chars().take(4).map(symbol).collect();
    if names.is_empty() { "empty".to_owned() } else { names.join(" ") }
}

fn symbol(c: char) -> &'static str {
    match c {
        '+' => "plus",
        '-' => "minus",
        '*' => "star",
        '/' => "slash",
        '%' => "percent",
        '<' => "less",
        '>' => "greater",
        '=' => "equal",
        '!' => "not",
        '&' => "and",
        '|' => "or",
        '.' => "dot",
        ',' => "comma",
        '_' => "underscore",
        ' ' => "space",
        '?' => "question",
        _ => "symbol",
    }
}

/// Returns the name if it is valid; otherwise adds a prefix, and as a last resort keeps only ASCII.
fn valid(name: &str, prefix: &str) -> String {
    let is_ident = |name: &str| syn::parse_str::<Ident>(name).is_ok();
    let is_name = |name: &str| is_ident(name) || is_ident(&format!("r#{name}")) || NEVER_RAW.contains(&name);
    let with_prefix = format!("{prefix}{name}");
    let ascii: String = name.chars().filter(char::is_ascii).collect();
    [name, &with_prefix, &format!("{prefix}{ascii}")]
        .into_iter()
        .find(|name| is_name(name))
        .unwrap_or(prefix)
        .to_owned()
}

/// Returns an identifier, raw if it is a keyword.
pub(crate) fn ident(name: &str) -> Ident {
    match syn::parse_str::<Ident>(name) {
        Ok(ident) if !NEWER_KEYWORDS.contains(&name) => ident,
        Err(_) if NEVER_RAW.contains(&name) => Ident::new(&format!("{name}_"), Span::call_site()),
        _ => Ident::new_raw(name, Span::call_site()),
    }
}

/// Returns the name of a module for a namespace: the last meaningful part of the URI.
pub(crate) fn preferred_module_name(namespace: &str) -> String {
    let without_scheme = namespace.split_once("://").map_or(namespace, |(_, rest)| rest);
    let parts: Vec<&str> = without_scheme.split(['/', ':', '#', '?']).filter(|part| !part.is_empty()).collect();
    let is_version = |part: &str| part.trim_start_matches(['v', 'V']).starts_with(|c: char| c.is_ascii_digit());
    match parts.iter().rposition(|part| !is_version(part)) {
        _ if namespace.is_empty() => "unqualified".to_owned(),
        Some(telling) => parts[telling..].join(" "),
        None => format!("ns {without_scheme}"),
    }
}

/// A rule that converts Rust names to XML names, as in `#[soap(rename_all)]`.
pub(crate) struct Rename {
    /// The rule's name; `None` if names stay unchanged.
    pub(crate) name: Option<&'static str>,
    rule: fn(&str) -> String,
}

const RULES: [Rename; 5] = [
    Rename { name: None, rule: str::to_owned },
    Rename { name: Some("camelCase"), rule: |name| name.to_lower_camel_case() },
    Rename { name: Some("PascalCase"), rule: |name| name.to_upper_camel_case() },
    Rename { name: Some("UPPERCASE"), rule: str::to_uppercase },
    Rename { name: Some("SCREAMING_SNAKE_CASE"), rule: |name| name.to_shouty_snake_case() },
];

impl Rename {
    /// Returns the rule that yields most of these XML names from their Rust names.
    pub(crate) fn for_most<'n>(names: impl Iterator<Item = (&'n str, &'n str)> + Clone) -> &'static Rename {
        let misses = |rule: &Rename| names.clone().filter(|(rust, xml)| !rule.gives(rust, xml)).count();
        RULES.iter().min_by_key(|rule| misses(rule)).unwrap_or(&RULES[0])
    }

    /// Returns true if the rule converts the Rust name to the XML name.
    pub(crate) fn gives(&self, rust: &str, xml: &str) -> bool {
        (self.rule)(rust) == xml
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_whatever_they_were() {
        let mut scope = Scope::default();
        let names =
            ["getQuote", "GetQuote", "String", "Self", "2D", "", "+", "a-b.c", "Größe", "²", "\u{e31}", "x; drop"];
        for name in names {
            let (ty, value) = (scope.type_name(name), scope.value_name(name));
            assert!(syn::parse_str::<Ident>(&ty).is_ok(), "{name} -> {ty}");
            assert!(syn::parse_str::<Ident>(&ident(&value).to_string()).is_ok(), "{name} -> {value}");
        }
    }

    #[test]
    fn names_are_given_once() {
        let mut scope = Scope::default();
        assert_eq!(
            ["a", "A", "a1", "a1"].map(|preferred_name| scope.type_name(preferred_name)),
            ["A", "A2", "A1", "A1_2"]
        );
        let mut scope = Scope::without(&["new"]);
        assert_eq!(
            ["new", "type", "Type", "self"].map(|preferred_name| scope.value_name(preferred_name)),
            ["new2", "type", "type2", "self_"]
        );
        assert_eq!(["type", "gen"].map(|name| ident(name).to_string()), ["r#type", "r#gen"]);
    }

    #[test]
    fn names_that_the_compiler_takes_for_one_are_told_apart() {
        let mut scope = Scope::default();
        assert_eq!(
            ["\u{2126}", "\u{3A9}"].map(|preferred_name| scope.type_name(preferred_name)),
            ["\u{3A9}", "\u{3A9}2"]
        );
        assert_eq!(
            ["\u{1100}\u{1161}", "\u{AC00}"].map(|preferred_name| scope.value_name(preferred_name)),
            ["\u{AC00}", "\u{AC00}2"]
        );
    }

    #[test]
    fn modules_are_called_by_what_tells_namespaces_apart() {
        for (namespace, preferred_name) in [
            ("http://www.onvif.org/ver10/schema", "schema"),
            ("http://tempuri.org/", "tempuri.org"),
            ("urn:vim25", "vim25"),
            ("http://example.org/core/v1", "core v1"),
            ("http://example.org/core/2004/07", "core 2004 07"),
            ("", "unqualified"),
        ] {
            assert_eq!(preferred_module_name(namespace), preferred_name);
        }
    }

    #[test]
    fn rules_are_those_of_most_names() {
        let rule = |names: &[(&'static str, &'static str)]| Rename::for_most(names.iter().copied()).name;
        assert_eq!(rule(&[("ship_to", "shipTo"), ("id", "id")]), Some("camelCase"));
        assert_eq!(rule(&[("ship_to", "ShipTo"), ("id", "id")]), None);
        assert_eq!(rule(&[]), None);
    }
}

//! Converts Rust names to XML names.

use heck::{
    ToKebabCase, ToLowerCamelCase, ToShoutyKebabCase, ToShoutySnakeCase, ToSnakeCase, ToTrainCase, ToUpperCamelCase,
};
use syn::ext::IdentExt;
use syn::{Error, Ident, LitStr, Result};

/// Converts a Rust name to an XML name.
type Rule = fn(&str) -> String;

/// A rule of `rename_all`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rename(Rule);

/// The rules by name.
const RULES: &[(&str, Rule)] = &[
    ("camelCase", |name| name.to_lower_camel_case()),
    ("PascalCase", |name| name.to_upper_camel_case()),
    ("lowercase", str::to_lowercase),
    ("UPPERCASE", str::to_uppercase),
    ("snake_case", |name| name.to_snake_case()),
    ("SCREAMING_SNAKE_CASE", |name| name.to_shouty_snake_case()),
    ("kebab-case", |name| name.to_kebab_case()),
    ("SCREAMING-KEBAB-CASE", |name| name.to_shouty_kebab_case()),
    ("Train-Case", |name| name.to_train_case()),
];

impl Rename {
    /// Returns the rule with this name.
    pub(crate) fn from_lit(lit: &LitStr) -> Result<Self> {
        let name = lit.value();
        match RULES.iter().find(|(rule, _)| *rule == name) {
            Some((_, rule)) => Ok(Rename(*rule)),
            None => {
                let known = RULES.iter().map(|(rule, _)| *rule).collect::<Vec<_>>().join(", ");
                Err(Error::new(lit.span(), format!("unknown rule {name:?}, expected one of {known}")))
            }
        }
    }
}

/// Returns the XML name for a Rust name: converted by the rule, if there is one, and without `r#`.
pub(crate) fn xml_name(ident: &Ident, rename: Option<Rename>) -> String {
    let name = ident.unraw().to_string();
    match rename {
        Some(Rename(rule)) => rule(&name),
        None => name,
    }
}

/// Returns the value of a literal, which must be a name without a prefix (Namespaces in XML 1.0,
/// production `NCName`).
pub(crate) fn ncname(lit: &LitStr) -> Result<String> {
    let name = lit.value();
    // Combining characters, which Rust does not count as letters, are not checked.
    let is_start = |c: char| c.is_alphabetic() || c == '_' || !c.is_ascii();
    let is_inner = |c: char| is_start(c) || c.is_alphanumeric() || matches!(c, '-' | '.');
    let mut chars = name.chars();
    if chars.next().is_some_and(is_start) && chars.all(is_inner) {
        return Ok(name);
    }
    Err(Error::new(lit.span(), format!("{name:?} is not an XML name without a prefix")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::Span;

    fn lit(text: &str) -> LitStr {
        LitStr::new(text, Span::call_site())
    }

    fn renamed(rule: &str, name: &str) -> String {
        xml_name(&Ident::new(name, Span::call_site()), Rename::from_lit(&lit(rule)).ok())
    }

    #[test]
    fn rules() {
        for (rule, expected) in [
            ("camelCase", "parameterKeyList"),
            ("PascalCase", "ParameterKeyList"),
            ("kebab-case", "parameter-key-list"),
            ("Train-Case", "Parameter-Key-List"),
            ("SCREAMING_SNAKE_CASE", "PARAMETER_KEY_LIST"),
            ("lowercase", "parameter_key_list"),
        ] {
            assert_eq!(renamed(rule, "parameter_key_list"), expected);
        }
        assert_eq!(renamed("kebab-case", "DarkBlue"), "dark-blue");
        assert!(Rename::from_lit(&lit("Camel")).is_err());
    }

    #[test]
    fn raw_identifiers_lose_their_mark() {
        let raw = Ident::new_raw("type", Span::call_site());
        assert_eq!(xml_name(&raw, None), "type");
    }

    #[test]
    fn names_must_be_names() {
        for good in ["a", "_x", "Größe", "a-b.c1"] {
            assert!(ncname(&lit(good)).is_ok(), "{good}");
        }
        for bad in ["", "1a", "a b", "x:y", "<a", "-a"] {
            assert!(ncname(&lit(bad)).is_err(), "{bad}");
        }
    }
}

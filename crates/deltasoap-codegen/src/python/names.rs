//! Converts XML names to Python's.
//!
//! To Python, names with the same compatible normal form (NFKC) are the same name, and names in a
//! class that begin with two underscores are others outside.

use heck::ToShoutySnakeCase;
use proc_macro2::Ident;
use std::collections::{HashMap, HashSet};
use unicode_normalization::UnicodeNormalization;

/// Names that cannot be assigned.
const KEYWORDS: [&str; 36] = [
    "False",
    "None",
    "True",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "class",
    "continue",
    "def",
    "del",
    "elif",
    "else",
    "except",
    "finally",
    "for",
    "from",
    "global",
    "if",
    "import",
    "in",
    "is",
    "lambda",
    "nonlocal",
    "not",
    "or",
    "pass",
    "raise",
    "return",
    "try",
    "while",
    "with",
    "yield",
    "__debug__",
];

/// Classes and constants that are built in: a class of that name would hide them.
pub(super) const BUILTINS: [&str; 72] = [
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "BaseExceptionGroup",
    "BlockingIOError",
    "BrokenPipeError",
    "BufferError",
    "BytesWarning",
    "ChildProcessError",
    "ConnectionAbortedError",
    "ConnectionError",
    "ConnectionRefusedError",
    "ConnectionResetError",
    "DeprecationWarning",
    "EOFError",
    "Ellipsis",
    "EncodingWarning",
    "EnvironmentError",
    "Exception",
    "ExceptionGroup",
    "FileExistsError",
    "FileNotFoundError",
    "FloatingPointError",
    "FutureWarning",
    "GeneratorExit",
    "IOError",
    "ImportError",
    "ImportWarning",
    "IndentationError",
    "IndexError",
    "InterruptedError",
    "IsADirectoryError",
    "KeyError",
    "KeyboardInterrupt",
    "LookupError",
    "MemoryError",
    "ModuleNotFoundError",
    "NameError",
    "NotADirectoryError",
    "NotImplemented",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "PendingDeprecationWarning",
    "PermissionError",
    "ProcessLookupError",
    "PythonFinalizationError",
    "RecursionError",
    "ReferenceError",
    "ResourceWarning",
    "RuntimeError",
    "RuntimeWarning",
    "StopAsyncIteration",
    "StopIteration",
    "SyntaxError",
    "SyntaxWarning",
    "SystemError",
    "SystemExit",
    "TabError",
    "TimeoutError",
    "TypeError",
    "UnboundLocalError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeError",
    "UnicodeTranslateError",
    "UnicodeWarning",
    "UserWarning",
    "ValueError",
    "Warning",
    "ZeroDivisionError",
];

/// The names of a module, a class or an enumeration; each is used once.
#[derive(Debug, Default, Clone)]
pub(super) struct Scope {
    taken: HashSet<String>,
    /// The last number added to each name that was requested again.
    numbers: HashMap<String, u64>,
}

impl Scope {
    /// Creates a scope in which some names are taken.
    pub(super) fn without<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Scope { taken: names.into_iter().map(Into::into).collect(), numbers: HashMap::new() }
    }

    /// Takes a name that is valid.
    pub(super) fn take(&mut self, name: &str) {
        self.taken.insert(name.to_owned());
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.taken.contains(name)
    }

    /// Returns a name for a class or an alias.
    pub(super) fn class_name(&mut self, preferred_name: &str) -> String {
        self.unique(class_name(preferred_name))
    }

    /// Returns a name for a value of a class, an argument or a method: the XML name, if possible.
    pub(super) fn value_name(&mut self, preferred_name: &str) -> String {
        self.unique(value_name(preferred_name))
    }

    /// Returns a name for a value of an enumeration.
    pub(super) fn constant_name(&mut self, preferred_name: &str) -> String {
        let name: String = words(preferred_name).join(" ").to_shouty_snake_case();
        self.unique(identifier(&name, "VALUE"))
    }

    /// Returns a name that begins with an underscore.
    pub(super) fn private_name(&mut self, preferred_name: &str) -> String {
        self.unique(format!("_{}", preferred_name.trim_start_matches('_')))
    }

    /// Returns the name; one that is taken gets an underscore, or a number if that is taken too.
    /// Numbers are not tried again, so that many equal requests take linear time.
    fn unique(&mut self, name: String) -> String {
        if self.taken.insert(name.clone()) {
            return name;
        }
        let with_underscore = format!("{}_", name.trim_end_matches('_'));
        if self.taken.insert(with_underscore.clone()) {
            return with_underscore;
        }
        let number = self.numbers.entry(name.clone()).or_insert(1);
        loop {
            *number += 1;
            let numbered = format!("{name}_{number}");
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// Returns the name of a class: its words begin with capitals.
pub(super) fn class_name(preferred_name: &str) -> String {
    let name: String = words(preferred_name).iter().map(|word| capitalized(word)).collect();
    identifier(&name, "N")
}

/// Returns a name as it is, with underscores for what identifiers cannot contain.
pub(super) fn value_name(preferred_name: &str) -> String {
    identifier(&words(preferred_name).join("_"), "n")
}

/// Returns true if an XML name can be used as it is.
pub(super) fn is_identifier(name: &str) -> bool {
    value_name(name) == name
}

/// Splits a name at characters that identifiers cannot contain.
fn words(name: &str) -> Vec<String> {
    let name: String = name.nfkc().collect();
    let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric() || (!c.is_ascii() && c.is_alphanumeric());
    name.split(|c| !is_word(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn capitalized(word: &str) -> String {
    let mut rest = word.chars();
    let first = rest.next().map(|c| c.to_uppercase().collect::<String>());
    first.unwrap_or_default() + rest.as_str()
}

/// Makes an identifier that can be used in a class.
fn identifier(name: &str, prefix: &str) -> String {
    let name: String = name.nfkc().collect();
    let underscores = name.len() - name.trim_start_matches('_').len();
    let name = if underscores > 1 { &name[underscores - 1..] } else { &name };
    let ascii: String = name.chars().filter(char::is_ascii).collect();
    let numbered = |name: &str| if name.is_empty() { prefix.to_owned() } else { format!("{prefix}_{name}") };
    let candidates = [name.to_owned(), numbered(name), numbered(ascii.trim_start_matches('_'))];
    let name = candidates.into_iter().find(|name| is_name(name)).unwrap_or_else(|| prefix.to_owned());
    if KEYWORDS.contains(&&*name) { format!("{name}_") } else { name }
}

/// Returns true for names of Python. Its rule is the one that Rust follows: `XID_Start` and
/// `XID_Continue` of Unicode.
fn is_name(name: &str) -> bool {
    let is_ident = |name: &str| syn::parse_str::<Ident>(name).is_ok();
    // Keywords of Rust are no identifiers there.
    let is_start = name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
    is_ident(name) || (is_start && is_ident(&format!("x{name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_whatever_they_were() {
        let mut scope = Scope::default();
        let names =
            ["getQuote", "order-line", "class", "2D", "", "+", "__x", "__init__", "Größe", "²", "_value_1", "self"];
        assert_eq!(
            names.map(|name| scope.value_name(name)),
            [
                "getQuote",
                "order_line",
                "class_",
                "n_2D",
                "n",
                "n_",
                "_x",
                "_init__",
                "Größe",
                "n_2",
                "_value_1",
                "self"
            ]
        );
        let mut scope = Scope::without(["Any"]);
        assert_eq!(
            ["order", "orderLine", "order-line", "Any", "None", "OrderLine", "OrderLine"]
                .map(|it| scope.class_name(it)),
            ["Order", "OrderLine", "OrderLine_", "Any_", "None_", "OrderLine_2", "OrderLine_3"]
        );
        let mut scope = Scope::default();
        assert_eq!(
            ["OutOfStock", "a b", "", "{", "7", "7", "_", "mro"].map(|name| scope.constant_name(name)),
            ["OUT_OF_STOCK", "A_B", "VALUE", "VALUE_", "VALUE_7", "VALUE_7_", "VALUE_2", "MRO"]
        );
    }

    #[test]
    fn names_that_python_takes_for_one_are_told_apart() {
        let mut scope = Scope::default();
        assert_eq!(
            ["\u{2126}", "\u{3A9}", "\u{FB01}", "fi"].map(|name| scope.value_name(name)),
            ["\u{3A9}", "\u{3A9}_", "fi", "fi_"]
        );
    }
}

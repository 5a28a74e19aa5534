//! Errors of the generator.

use std::fmt;
use std::path::PathBuf;

/// Error of the generator.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The WSDL cannot be imported.
    Import(deltasoap_wsdl::Error),
    /// The WSDL has no operation of this name with a SOAP binding.
    NoOperation {
        /// The name.
        name: String,
        /// The names of the operations that there are, the most similar first.
        known: Vec<String>,
    },
    /// The WSDL defines no type or element of this name.
    NoType(String),
    /// The output is not valid Rust: a bug in the generator.
    Syntax(syn::Error),
    /// `OUT_DIR` is not set: the caller is not a build script, and no directory was given.
    NoOutDir,
    /// A file cannot be written.
    Write(PathBuf, std::io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Import(error) => error.fmt(f),
            Error::NoOperation { name, known } => {
                write!(f, "there is no operation {name} with a SOAP binding; {}", available(known))
            }
            Error::NoType(name) => write!(f, "there is no type or element {name}"),
            Error::Syntax(error) => write!(f, "the generated code is malformed: {error}"),
            Error::NoOutDir => {
                f.write_str("OUT_DIR is not set; outside of a build script, set the directory with `out_dir`")
            }
            Error::Write(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

/// Maximum number of names in a message.
const MAX_NAMES: usize = 10;

/// Says which names there are, up to some.
fn available(known: &[String]) -> String {
    let names = known.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match known.len() {
        0 => "the WSDL has none".to_owned(),
        count if count > MAX_NAMES => format!("available: {names}, and {} more", count - MAX_NAMES),
        _ => format!("available: {names}"),
    }
}

impl std::error::Error for Error {}

impl From<deltasoap_wsdl::Error> for Error {
    fn from(error: deltasoap_wsdl::Error) -> Self {
        Error::Import(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_print_their_source_or_return_it() {
        let syntax = syn::parse_str::<syn::File>("struct").err().expect("no name");
        let denied = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        for error in [Error::Syntax(syntax), Error::Write("shop.rs".into(), denied), Error::NoOutDir] {
            assert_says_each_once(&error);
        }
    }

    /// Asserts that no error of a chain has the text of its source.
    #[track_caller]
    fn assert_says_each_once(error: &(dyn std::error::Error + 'static)) {
        let chain: Vec<_> =
            std::iter::successors(Some(error), |&error| error.source()).map(ToString::to_string).collect();
        for texts in chain.windows(2) {
            assert!(!texts[0].contains(&texts[1]), "{chain:?}");
        }
    }
}

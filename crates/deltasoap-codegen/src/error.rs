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
    NoOperation(String),
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
            Error::NoOperation(name) => write!(f, "there is no operation {name} with a SOAP binding"),
            Error::NoType(name) => write!(f, "there is no type or element {name}"),
            Error::Syntax(error) => write!(f, "the generated code is malformed: {error}"),
            Error::NoOutDir => {
                f.write_str("OUT_DIR is not set; outside of a build script, set the directory with `out_dir`")
            }
            Error::Write(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Import(error) => Some(error),
            Error::Syntax(error) => Some(error),
            Error::Write(_, error) => Some(error),
            Error::NoOperation(_) | Error::NoType(_) | Error::NoOutDir => None,
        }
    }
}

impl From<deltasoap_wsdl::Error> for Error {
    fn from(error: deltasoap_wsdl::Error) -> Self {
        Error::Import(error)
    }
}

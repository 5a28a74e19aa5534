//! Lookup of an operation by its name.

use super::{Contract, Operation};
use deltasoap_core::soap::Version;
use deltasoap_wsdl::wsdl::name_matches;
use std::fmt;

/// Selects an operation. A name alone is enough if it is unambiguous.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    /// `Operation`, `Port.Operation` or `Service.Port.Operation`, separated by `.` or `/`. For
    /// overloaded operations, which have the same name in one port type, `Operation:Input` selects
    /// the one whose input has that name, as does `Operation(Input)`.
    pub name: String,
    /// The version of SOAP; by default that of the first matching port of the contract.
    pub version: Option<Version>,
}

impl From<&str> for Selector {
    fn from(name: &str) -> Self {
        Selector { name: name.to_owned(), version: None }
    }
}

impl Contract {
    /// Returns the operation with a name: `Operation`, `Port.Operation` or
    /// `Service.Port.Operation`, each with `:Input` if the name is overloaded; see
    /// [`Selector::name`].
    ///
    /// # Errors
    /// If there is none, or the name is ambiguous.
    pub fn operation(&self, name: &str) -> Result<Operation, LookupError> {
        self.select(&name.into())
    }

    /// Returns the operation that a selector selects. If several ports offer the same port type,
    /// the first is taken.
    ///
    /// # Errors
    /// As for [`operation`](Self::operation).
    pub fn select(&self, selector: &Selector) -> Result<Operation, LookupError> {
        let all = self.operations();
        let mut found: Vec<_> = all.iter().filter(|operation| matches(operation, &selector.name)).collect();
        if found.is_empty() {
            return Err(LookupError::unknown(&selector.name, &all));
        }
        if let Some(version) = selector.version {
            found.retain(|operation| operation.version() == version);
        }
        let Some(first) = found.first() else {
            return Err(LookupError::Version { name: selector.name.clone() });
        };
        if found.iter().any(|other| other.declared() != first.declared()) {
            let names = found.iter().map(|operation| operation.full_name()).collect();
            return Err(LookupError::Ambiguous { name: selector.name.clone(), names });
        }
        Ok((*first).clone())
    }
}

/// Returns true if a name is an operation's full name, or the last parts of it, with or without the
/// input that distinguishes overloaded operations.
fn matches(operation: &Operation, name: &str) -> bool {
    name_matches([operation.name(), &operation.distinct_name()], &operation.port_name(), name)
}

/// The reason why no operation was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookupError {
    /// There is no operation of this name.
    Unknown {
        /// The name.
        name: String,
        /// Operations with similar names, or the first operations if there are none.
        similar: Vec<String>,
    },
    /// Several operations have this name.
    Ambiguous {
        /// The name.
        name: String,
        /// Their full names.
        names: Vec<String>,
    },
    /// The operation is not offered in the requested version of SOAP.
    Version {
        /// The name.
        name: String,
    },
    /// The messages of the operation cannot be read and written.
    Unsupported {
        /// The name.
        name: String,
        /// The reason.
        reason: String,
    },
}

impl LookupError {
    fn unknown(name: &str, all: &[Operation]) -> Self {
        const MAX_NAMES: usize = 10;
        let lowercase = name.to_lowercase();
        let mut names: Vec<_> = all.iter().map(|operation| operation.name().to_owned()).collect();
        names.sort_unstable();
        names.dedup();
        let is_like =
            |other: &&String| other.to_lowercase().contains(&lowercase) || lowercase.contains(&other.to_lowercase());
        let like: Vec<_> = names.iter().filter(is_like).cloned().collect();
        let mut similar = if like.is_empty() { names } else { like };
        similar.truncate(MAX_NAMES);
        LookupError::Unknown { name: name.to_owned(), similar }
    }
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LookupError::Unknown { name, similar } if similar.is_empty() => {
                write!(f, "there is no operation {name}, nor any other with a SOAP binding")
            }
            LookupError::Unknown { name, similar } => {
                write!(f, "there is no operation {name}; available: {}", similar.join(", "))
            }
            LookupError::Ambiguous { name, names } => {
                write!(f, "several operations are called {name}; choose one: {}", names.join(", "))
            }
            LookupError::Version { name } => write!(f, "{name} has no port of that version of SOAP"),
            LookupError::Unsupported { name, reason } => write!(f, "{name} cannot be used: {reason}"),
        }
    }
}

impl std::error::Error for LookupError {}

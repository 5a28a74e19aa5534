//! What the configuration files of `deltasoap gateway` and `deltasoap proxy` have in common: TOML with
//! a [JSON schema](json_schema) for editors, [errors](ConfigError) that name file, line or key, and
//! [passwords](Secret) that are elsewhere.
//!
//! Paths in a file are relative to it: after reading, a program joins them with its folder.
//!
//! ```
//! use deltasoap_settings::{Secret, parse};
//!
//! #[derive(serde::Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Service {
//!     password: Secret,
//! }
//!
//! let service = parse::<Service>("password = { env = 'SHOP_PASSWORD' }")?;
//! assert!(matches!(service.password, Secret::Env(name) if name == "SHOP_PASSWORD"));
//! let error = parse::<Service>("pasword = 'x'").err().expect("an error").to_string();
//! assert!(error.contains("line 1, column 1") && error.contains("pasword"));
//! # Ok::<(), deltasoap_settings::ConfigError>(())
//! ```

#![forbid(unsafe_code)]

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Reads a configuration. The error of invalid TOML names line and column.
///
/// # Errors
/// If it is not TOML, or has other keys or values than the type.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, ConfigError> {
    toml::from_str(text).map_err(|error| ConfigError::Syntax(Box::new(error)))
}

/// Reads a configuration from a file.
///
/// # Errors
/// As for [`parse`], and if the file cannot be read.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, ConfigError> {
    let text = std::fs::read_to_string(path);
    parse(&text.map_err(|error| ConfigError::Unreadable { path: path.to_owned(), error })?)
}

/// Returns the JSON schema of a configuration.
pub fn json_schema<T: JsonSchema>(title: &str) -> serde_json::Value {
    let mut schema = schemars::schema_for!(T).to_value();
    schema["title"] = title.into();
    schema
}

/// Reads a file that a configuration names.
///
/// # Errors
/// If it cannot be read.
pub fn file(path: &Path) -> Result<Vec<u8>, ConfigError> {
    std::fs::read(path).map_err(|error| ConfigError::Unreadable { path: path.to_owned(), error })
}

/// Joins a WSDL with the folder of the configuration, unless it is a URL or missing.
pub fn wsdl_relative_to(wsdl: &mut String, folder: &Path) {
    if !wsdl.is_empty() && !wsdl.contains("://") {
        *wsdl = folder.join(&*wsdl).to_string_lossy().into_owned();
    }
}

/// Where a password is, so that it need not be in the configuration.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Secret {
    /// In this environment variable.
    Env(String),
    /// In this file, without the line end; relative to the configuration.
    File(PathBuf),
    /// The password itself, from the command line.
    #[serde(skip)]
    Text(String),
}

impl Secret {
    /// Reads the password for a key of the configuration, such as `security.password`.
    ///
    /// # Errors
    /// If the variable or the file cannot be read. The error names the key.
    pub fn read(&self, place: &str) -> Result<String, ConfigError> {
        match self {
            Secret::Env(name) => std::env::var(name)
                .map_err(|_| ConfigError::invalid(place, format!("the environment has no variable {name}"))),
            Secret::File(path) => {
                let unreadable =
                    |error| ConfigError::invalid(place, format!("{} cannot be read: {error}", path.display()));
                let text = std::fs::read_to_string(path).map_err(unreadable)?;
                Ok(text.trim_end_matches(['\r', '\n']).to_owned())
            }
            Secret::Text(text) => Ok(text.clone()),
        }
    }

    /// Joins the path of a file with the folder of the configuration.
    pub fn relative_to(&mut self, folder: &Path) {
        if let Secret::File(path) = self {
            *path = folder.join(&*path);
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Secret::Env(name) => f.debug_tuple("Env").field(name).finish(),
            Secret::File(path) => f.debug_tuple("File").field(path).finish(),
            Secret::Text(_) => f.debug_tuple("Text").finish_non_exhaustive(),
        }
    }
}

/// The reason why a configuration cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The file is not TOML, or has unknown keys, or values of other types.
    Syntax(Box<toml::de::Error>),
    /// A value is not possible.
    Invalid {
        /// The key, such as `service[0].route[1].operation`.
        place: String,
        /// The reason.
        reason: String,
    },
}

impl ConfigError {
    /// Creates the error of a value.
    pub fn invalid(place: impl Into<String>, reason: impl fmt::Display) -> Self {
        ConfigError::Invalid { place: place.into(), reason: reason.to_string() }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Unreadable { path, error } => write!(f, "{} cannot be read: {error}", path.display()),
            ConfigError::Syntax(error) => f.write_str(error.to_string().trim_end()),
            ConfigError::Invalid { place, reason } => write!(f, "{place}: {reason}"),
        }
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_read_and_not_shown() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("secret"), "pass:word\r\n").expect("it is written");
        let mut secret = Secret::File("secret".into());
        secret.relative_to(folder.path());
        assert_eq!(secret.read("password").expect("a password"), "pass:word");
        assert!(!format!("{:?}", Secret::Text("pass:word".to_owned())).contains("pass:word"));
    }

    #[test]
    fn errors_name_key_and_file() {
        let missing = Secret::File("/nowhere/secret".into()).read("service.password").expect_err("no file").to_string();
        assert!(missing.starts_with("service.password: /nowhere/secret cannot be read: "), "{missing}");
        let error = Secret::Env("DELTASOAP_NO_SUCH_VARIABLE".to_owned()).read("a.b").expect_err("no variable");
        assert_eq!(error.to_string(), "a.b: the environment has no variable DELTASOAP_NO_SUCH_VARIABLE");
        let folder = tempfile::tempdir().expect("a folder");
        let strange = folder.path().join("strange.toml");
        std::fs::write(&strange, b"a = \"\xff\"").expect("it is written");
        let error = read::<toml::Table>(&strange).expect_err("no UTF-8").to_string();
        assert!(error.contains("strange.toml cannot be read"), "{error}");
    }

    #[test]
    fn wsdls_are_relative_unless_they_are_urls() {
        for (wsdl, expected) in
            [("shop.wsdl", "etc/shop.wsdl"), ("http://a.example/?wsdl", "http://a.example/?wsdl"), ("", "")]
        {
            let mut relative = wsdl.to_owned();
            wsdl_relative_to(&mut relative, Path::new("etc"));
            assert_eq!(Path::new(&relative), Path::new(expected));
        }
    }
}

//! Locations of documents: paths, URLs and archive entries, and how references resolve against
//! them.

use super::{FetchError, Shown};
use std::borrow::Cow;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use url::Url;

/// Location of a document.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Location {
    /// A file.
    File(PathBuf),
    /// A document on the network: `http` or `https`.
    Web(Url),
    /// An entry of the imported archive.
    Entry(String),
    /// Text that the caller provides, or a built-in definition.
    Text(String),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::File(path) => write!(f, "{}", path.display()),
            Location::Web(url) => Shown(url).fmt(f),
            Location::Entry(name) | Location::Text(name) => f.write_str(name),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Location::File(_) => "File",
            Location::Web(_) => "Web",
            Location::Entry(_) => "Entry",
            Location::Text(_) => "Text",
        };
        f.debug_tuple(kind).field(&format_args!("{self}")).finish()
    }
}

impl Location {
    /// Returns the location as an absolute URL, if it has one.
    pub(crate) fn uri(&self) -> Option<String> {
        match self {
            Location::File(path) => Url::from_file_path(path).ok().map(String::from),
            Location::Web(url) => Some(url.to_string()),
            Location::Entry(_) | Location::Text(_) => None,
        }
    }

    /// Resolves a reference (`location`, `schemaLocation`) in the document at this location.
    ///
    /// # Errors
    /// Returns an error if the reference is of a kind that is not allowed here: the scheme must be
    /// `http` or `https`, or, in a file, `file`.
    pub fn join(&self, reference: &str) -> Result<Location, FetchError> {
        let reference = reference.trim();
        let reference = reference.split('#').next().unwrap_or_default();
        match (absolute(reference)?, self) {
            (Some(url), Location::File(_)) if url.scheme() == "file" => file_url(&url),
            (Some(url), _) if url.scheme() == "file" => {
                Err(FetchError::Forbidden(format!("{url}: only files may name files")))
            }
            (Some(url), _) => Ok(Location::Web(url)),
            (None, Location::File(path)) => Ok(Location::File(beside_file(path, reference))),
            (None, Location::Web(url)) => joined(url, reference),
            (None, Location::Entry(name)) => beside_entry(name, reference),
            (None, Location::Text(_)) => {
                Err(FetchError::Unavailable(format!("`{reference}` is relative to a document without a location")))
            }
        }
    }
}

/// Parses the reference if it is an absolute URL.
fn absolute(reference: &str) -> Result<Option<Url>, FetchError> {
    let Ok(url) = Url::parse(reference) else { return Ok(None) };
    match url.scheme() {
        "http" | "https" | "file" => Ok(Some(url)),
        // A drive letter, not a scheme.
        scheme if scheme.len() == 1 => Ok(None),
        scheme => Err(FetchError::Forbidden(format!("`{scheme}:` URLs are not followed"))),
    }
}

fn file_url(url: &Url) -> Result<Location, FetchError> {
    let no_path = || FetchError::Unavailable(format!("{url} is not the path of a file"));
    url.to_file_path().map(|path| Location::File(normal(&path))).map_err(|()| no_path())
}

fn joined(base: &Url, reference: &str) -> Result<Location, FetchError> {
    let bad = |error| FetchError::Unavailable(format!("`{reference}` is not a URL reference: {error}"));
    let url = base.join(reference).map_err(bad)?;
    match url.scheme() {
        "http" | "https" => Ok(Location::Web(url)),
        scheme => Err(FetchError::Forbidden(format!("`{scheme}:` URLs are not followed"))),
    }
}

/// Resolves a path relative to a file. Some authors write `\`, some `%20`: a file whose name has
/// these characters takes precedence.
fn beside_file(path: &Path, reference: &str) -> PathBuf {
    let folder = path.parent().unwrap_or(Path::new(""));
    let slashed = reference.replace('\\', "/");
    let plain = normal(&folder.join(&slashed));
    if plain.exists() { plain } else { normal(&folder.join(&*unescaped(&slashed))) }
}

fn beside_entry(name: &str, reference: &str) -> Result<Location, FetchError> {
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let slashes = reference.replace('\\', "/");
    let slashed = unescaped(&slashes);
    let mut parts: Vec<&str> = if slashed.starts_with('/') { Vec::new() } else { split(folder).collect() };
    for part in split(&slashed) {
        match part {
            ".." if parts.pop().is_none() => {
                return Err(FetchError::Forbidden(format!("`{reference}` is outside of the archive")));
            }
            ".." => {}
            part => parts.push(part),
        }
    }
    Ok(Location::Entry(parts.join("/")))
}

fn split(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

/// Decodes percent-encoding (RFC 3986, 2.1); text that would not be UTF-8 stays unchanged.
fn unescaped(text: &str) -> Cow<'_, str> {
    percent_encoding::percent_decode_str(text).decode_utf8().unwrap_or(Cow::Borrowed(text))
}

/// Removes `.` and, where the path still leads to the same file, `..`.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            component => out.push(component),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn web(url: &str) -> Location {
        Location::Web(Url::parse(url).unwrap())
    }

    #[test]
    fn references_are_relative_to_the_document() {
        let file = Location::File("a/b/c.wsdl".into());
        assert_eq!(file.join("../d.xsd"), Ok(Location::File("a/d.xsd".into())));
        assert_eq!(file.join(" ..\\x%20y.xsd "), Ok(Location::File("a/x y.xsd".into())));
        assert_eq!(file.join("file:///etc/d.xsd"), Ok(Location::File("/etc/d.xsd".into())));
        assert_eq!(file.join("http://h/x"), Ok(web("http://h/x")));
        assert_eq!(web("http://h/a/b?wsdl").join("?xsd=1#x"), Ok(web("http://h/a/b?xsd=1")));
        assert_eq!(Location::Entry("a/b.wsdl".into()).join("./../c.xsd"), Ok(Location::Entry("c.xsd".into())));
    }

    #[test]
    fn passwords_are_not_shown() {
        let location = web("http://user:secret@h/a");
        assert_eq!(location.to_string(), "http://h/a");
        assert_eq!(format!("{location:?}"), "Web(http://h/a)");
    }

    #[test]
    fn nothing_but_the_network_and_files_is_named() {
        let forbidden = |location: &Location, reference| {
            assert!(matches!(location.join(reference), Err(FetchError::Forbidden(_))), "{location} {reference}");
        };
        forbidden(&web("http://h/a"), "file:///etc/passwd");
        forbidden(&Location::Entry("a".into()), "file:///etc/passwd");
        forbidden(&Location::Entry("a/b".into()), "../../c");
        forbidden(&Location::File("a".into()), "ftp://h/a");
        forbidden(&web("http://h/a"), "jar:file:/x!/y");
    }
}

//! A WSDL on disk, with the documents next to and below it that it imports.

use super::document::resolve;
use crate::server::builder::BuildError;
use deltasoap_core::ns;
use deltasoap_xml::{Instructions, Limits, Node, nodes};
use percent_encoding::percent_decode_str;
use std::collections::{BTreeMap, btree_map};
use std::path::Path;

/// A WSDL's name, its text, and the text of the documents that it imports, by name.
pub(super) type WsdlFiles = (String, String, BTreeMap<String, String>);

/// Reads a WSDL and everything that it imports by relative locations within its folder. Other
/// locations are not followed. Names are paths in that folder, with `/`.
///
/// # Errors
/// When a file cannot be read, is not in UTF-8, or is not well-formed.
pub(super) fn read(path: &Path) -> Result<WsdlFiles, BuildError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let main = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut texts = BTreeMap::new();
    let mut ahead = vec![main.clone()];
    while let Some(name) = ahead.pop() {
        let btree_map::Entry::Vacant(place) = texts.entry(name) else { continue };
        let text = read_file(&folder.join(place.key()))?;
        ahead.extend(imported(place.key(), &text)?);
        place.insert(text);
    }
    let text = texts.remove(&main).unwrap_or_default();
    Ok((main, text, texts))
}

fn read_file(path: &Path) -> Result<String, BuildError> {
    std::fs::read_to_string(path).map_err(|error| BuildError::File {
        path: path.to_owned(),
        kind: error.kind(),
        reason: error.to_string(),
    })
}

/// Returns the names of a document's relative locations.
fn imported(name: &str, text: &str) -> Result<Vec<String>, BuildError> {
    let text = text.trim_start_matches('\u{FEFF}');
    let nodes = nodes(text.as_bytes(), Limits::default(), Instructions::Skip)
        .map_err(|error| BuildError::Document { name: name.to_owned(), error })?;
    let locations = nodes.iter().filter_map(|node| match node {
        Node::Start { name, attributes, .. } => {
            let wanted = match (name.namespace.as_str(), name.local.as_str()) {
                (super::document::WSDL, "import" | "include") => "location",
                (ns::XSD, "import" | "include" | "redefine") => "schemaLocation",
                _ => return None,
            };
            attributes.iter().find(|attribute| attribute.name.local == wanted).map(|attribute| attribute.value.trim())
        }
        _ => None,
    });
    let decoded = locations.filter_map(|location| percent_decode_str(location).decode_utf8().ok());
    Ok(decoded.filter(|location| is_relative(location)).filter_map(|location| resolve(name, &location)).collect())
}

/// Returns true for a relative path: not a URL of any scheme, nor an absolute path.
fn is_relative(location: &str) -> bool {
    !(location.is_empty() || location.starts_with('/') || location.contains([':', '\\', '?', '#']))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: &str = "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'><import location='parts/p.wsdl'/>\
        <import location='http://elsewhere/p.wsdl'/><import location='../outside.wsdl'/><import location='/etc/x'/>\
        <import location='file:///etc/x'/></definitions>";
    const PARTS: &str = "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'><import location='../main.wsdl'/><types>\
        <x:schema xmlns:x='http://www.w3.org/2001/XMLSchema'><x:import schemaLocation='../s.xsd'/></x:schema></types>\
        </definitions>";
    const SCHEMA: &str = "<schema xmlns='http://www.w3.org/2001/XMLSchema'><include schemaLocation='s.xsd'/></schema>";

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        folder
    }

    #[test]
    fn relative_imports_within_the_folder_are_followed() {
        let folder = folder(&[("main.wsdl", MAIN), ("parts/p.wsdl", PARTS), ("s.xsd", SCHEMA), ("other.xsd", SCHEMA)]);
        let (name, text, others) = read(&folder.path().join("main.wsdl")).expect("files");
        assert_eq!((name.as_str(), text.as_str()), ("main.wsdl", MAIN));
        assert_eq!(others.keys().collect::<Vec<_>>(), ["parts/p.wsdl", "s.xsd"]);
    }

    #[test]
    fn a_file_that_is_missing_or_broken_is_named() {
        let files = folder(&[("main.wsdl", MAIN)]);
        let error = read(&files.path().join("main.wsdl")).expect_err("a file is missing").to_string();
        assert!(error.contains("p.wsdl"), "{error}");
        let files = folder(&[("main.wsdl", "<a>")]);
        assert!(
            matches!(read(&files.path().join("main.wsdl")), Err(BuildError::Document { name, .. }) if name == "main.wsdl")
        );
    }
}

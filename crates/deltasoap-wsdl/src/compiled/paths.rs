//! Paths in compiled files. They reveal nothing about the machine that made the file, and do not
//! depend on it.
//!
//! Files are named relative to the import's root, in locations and in notes; URLs have no user and
//! no password.

use crate::fetch::Location;
use crate::{Note, Position};
use std::path::{MAIN_SEPARATOR, Path};
use url::Url;

/// Makes paths relative to a root.
#[derive(Debug)]
pub(super) struct RelativePaths {
    /// The root and the folders above it, innermost first, each with its relative path: `("/a/b/",
    /// "")`, `("/a/", "../")`.
    folders: Vec<(String, String)>,
}

/// Characters that can precede a path in a sentence.
const BEFORE_PATH: [char; 6] = [' ', '`', '\'', '"', '(', '\n'];

impl RelativePaths {
    pub(super) fn below(root: Option<&Path>) -> Self {
        let folders = root.into_iter().flat_map(Path::ancestors).filter(|folder| folder.file_name().is_some());
        let named = folders.enumerate().map(|(number, folder)| {
            let relative = format!("..{MAIN_SEPARATOR}").repeat(number);
            (format!("{}{MAIN_SEPARATOR}", folder.display()), relative)
        });
        RelativePaths { folders: named.collect() }
    }

    pub(super) fn location(&self, location: &Location) -> Location {
        match location {
            Location::File(path) => Location::File(self.text(&path.to_string_lossy()).into()),
            // The displayed form, which has no secrets.
            Location::Web(url) => Location::Web(Url::parse(&location.to_string()).unwrap_or_else(|_| url.clone())),
            other => other.clone(),
        }
    }

    pub(super) fn note(&self, note: &Note) -> Note {
        let Position { document, line, column } = &note.position;
        let position = Position { document: self.text(document), line: *line, column: *column };
        Note { kind: note.kind, text: self.text(&note.text), position }
    }

    /// Makes the paths in a text relative.
    fn text(&self, text: &str) -> String {
        let replaced = |text: String, (folder, relative): &(String, String)| replaced(&text, folder, relative);
        self.folders.iter().fold(text.to_owned(), replaced)
    }
}

/// Replaces `folder` by `relative` at the start of each path.
fn replaced(text: &str, folder: &str, relative: &str) -> String {
    let (mut out, mut left) = (String::with_capacity(text.len()), text);
    while let Some(at) = left.find(folder) {
        let (before, rest) = left.split_at(at);
        out.push_str(before);
        let begins = out.is_empty() || out.ends_with(BEFORE_PATH);
        out.push_str(if begins { relative } else { folder });
        left = &rest[folder.len()..];
    }
    out + left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_texts_are_relative() {
        let paths = RelativePaths::below(Some(Path::new("/a/b")));
        for (text, expected) in [
            ("/a/b/c.wsdl", "c.wsdl"),
            ("../d.xsd could not be loaded: /a/d.xsd: none", "../d.xsd could not be loaded: ../d.xsd: none"),
            ("`/a/b/c` and (/a/b/d)", "`c` and (d)"),
            ("http://a/b/c /b/a/b/c /a/bc /x", "http://a/b/c /b/a/b/c ../bc /x"),
        ] {
            assert_eq!(paths.text(text), expected);
        }
    }

    #[test]
    fn without_a_root_paths_stay_as_they_are() {
        for paths in [RelativePaths::below(None), RelativePaths::below(Some(Path::new("/")))] {
            assert_eq!(paths.text("/a/b: none"), "/a/b: none");
        }
    }

    #[test]
    fn urls_hold_no_secrets() {
        let location = Location::Web(Url::parse("http://ada:secret@h/a?wsdl").expect("a URL"));
        let Location::Web(url) = RelativePaths::below(None).location(&location) else { panic!("a URL") };
        assert_eq!(url.as_str(), "http://h/a?wsdl");
    }
}

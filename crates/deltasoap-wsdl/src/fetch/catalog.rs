//! Catalogs: map URLs and namespaces to files (OASIS XML Catalogs 1.1).
//!
//! All entries apply. A reference is looked up as written, then as an absolute URL, then by the
//! import's namespace; system identifiers, URIs and public identifiers are treated alike. A public
//! identifier may be written as `urn:publicid:`. Exact entries take precedence over prefixes, and
//! prefixes over suffixes; the longest match wins. If an entry delegates a prefix to another
//! catalog, only that catalog decides.

use super::Location;
use crate::document::{self, Node};
use crate::load::fault;
use crate::{Error, ErrorKind, Limits, Note, NoteKind, Position};
use deltasoap_xml::Names;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use url::Url;

/// Maximum number of catalogs that one leads to.
const MAX_CATALOGS: usize = 100;

const NAMESPACE: &str = "urn:oasis:names:tc:entity:xmlns:xml:catalog";
const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// The user's mapping of names to documents.
#[derive(Debug, Clone, Default)]
pub(crate) struct Catalog {
    /// In lookup order.
    tables: Vec<Table>,
    /// The catalogs that others delegate names to, with the catalogs that they name.
    delegated: HashMap<PathBuf, Vec<Table>>,
    /// The named catalogs that cannot be read.
    notes: Vec<Note>,
}

#[derive(Debug, Clone, Default)]
struct Table {
    exact: HashMap<String, Url>,
    /// Prefixes of names, and their replacements.
    prefixes: Vec<(String, Url)>,
    /// Suffixes of names.
    suffixes: Vec<(String, Url)>,
    /// Prefixes of names that are delegated to other catalogs.
    delegates: Vec<(String, PathBuf)>,
    /// True if the caller mapped the file directly, without a catalog.
    is_named: bool,
}

impl Catalog {
    /// Maps a URL or a namespace to a file. The path is canonical.
    pub(crate) fn map(&mut self, name: String, file: &Path) {
        if let Ok(target) = Url::from_file_path(file) {
            self.tables.push(Table { exact: HashMap::from([(name, target)]), is_named: true, ..Table::default() });
        }
    }

    /// Adds the entries of a catalog and of the catalogs that it names. A named catalog that cannot
    /// be read is skipped (OASIS XML Catalogs 1.1, 8).
    pub(crate) fn read(&mut self, path: &Path, limits: &Limits) -> Result<(), Error> {
        let mut count = 0;
        let first = read_one(path, limits)?;
        let tables = self.list(path, first, limits, &mut count)?;
        let mut ahead: Vec<PathBuf> = delegates(&tables);
        self.tables.extend(tables);
        while let Some(path) = ahead.pop() {
            if !self.delegated.contains_key(&path) {
                let first = self.read_named(&path, limits);
                let tables = self.list(&path, first, limits, &mut count)?;
                ahead.extend(delegates(&tables));
                self.delegated.insert(path, tables);
            }
        }
        Ok(())
    }

    /// Returns the tables of a catalog and of the catalogs that it names, in lookup order. `count`
    /// is the number of all catalogs so far.
    fn list(&mut self, path: &Path, first: Read, limits: &Limits, count: &mut usize) -> Result<Vec<Table>, Error> {
        let mut known = HashSet::from([path.to_owned()]);
        let (mut tables, mut ahead) = (vec![first.0], first.1);
        ahead.reverse();
        *count += 1;
        while let Some(path) = ahead.pop() {
            if !known.insert(path.clone()) {
                continue;
            }
            *count += 1;
            if *count > MAX_CATALOGS {
                let kind = ErrorKind::Limit { name: "catalogs", limit: MAX_CATALOGS as u64 };
                return Err(Error::new(kind, Some(whole(&path))));
            }
            let (table, next) = self.read_named(&path, limits);
            tables.push(table);
            ahead.extend(next.into_iter().rev());
        }
        Ok(tables)
    }

    /// Reads a catalog that another one names; returns nothing if it cannot be read.
    fn read_named(&mut self, path: &Path, limits: &Limits) -> Read {
        read_one(path, limits).unwrap_or_else(|error| {
            let position = error.position().cloned().unwrap_or_else(|| whole(path));
            let text = format!("a catalog is skipped: {}", error.kind());
            self.notes.push(Note { kind: NoteKind::Missing, text, position });
            Read::default()
        })
    }

    /// Returns a note for each catalog that was skipped.
    pub(crate) fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Returns the document that a name is mapped to.
    pub(crate) fn find(&self, name: &str) -> Option<Location> {
        let find = |name: &str| self.find_in(&self.tables, name, &mut HashSet::new());
        find(name).or_else(|| find(&unwrapped(name)?))
    }

    /// Looks a name up in tables. `delegated_to` holds the catalogs that the name was delegated to:
    /// none is searched twice, as the result would be the same.
    fn find_in<'c>(
        &'c self,
        tables: &'c [Table],
        name: &str,
        delegated_to: &mut HashSet<&'c Path>,
    ) -> Option<Location> {
        for table in tables {
            if let Some(found) = table.find(name) {
                return Some(found);
            }
            let mut fitting: Vec<_> = table.delegates.iter().filter(|(start, _)| name.starts_with(start)).collect();
            fitting.sort_by_key(|(start, _)| std::cmp::Reverse(start.len()));
            if !fitting.is_empty() {
                return fitting.into_iter().find_map(|(_, path)| {
                    let tables = self.delegated.get(path).filter(|_| delegated_to.insert(path))?;
                    self.find_in(tables, name, delegated_to)
                });
            }
        }
        None
    }

    /// Returns the folders of the files that the caller mapped directly, and the folders of all
    /// files that catalogs name.
    pub(crate) fn folders(&self) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
        let all = self.tables.iter().chain(self.delegated.values().flatten());
        let (named, others): (Vec<&Table>, Vec<&Table>) = all.partition(|table| table.is_named);
        let folders = |tables: Vec<&Table>| tables.into_iter().flat_map(Table::folders).collect();
        (folders(named), folders(others))
    }
}

fn delegates(tables: &[Table]) -> Vec<PathBuf> {
    tables.iter().flat_map(|table| &table.delegates).map(|(_, path)| path.clone()).collect()
}

/// The table of one file, and the catalogs that it names.
type Read = (Table, Vec<PathBuf>);

fn read_one(path: &Path, limits: &Limits) -> Result<Read, Error> {
    let failed = |why: String| Error::new(ErrorKind::Fetch(super::FetchError::Unavailable(why)), Some(whole(path)));
    let real = path.canonicalize().map_err(|error| failed(error.to_string()))?;
    let file = std::fs::File::open(&real).map_err(|error| failed(error.to_string()))?;
    let bytes = super::bounded(file, limits.document_bytes).map_err(|error| failed(error.to_string()))?;
    let base = Url::from_file_path(&real).map_err(|()| failed("not the path of a file".to_owned()))?;
    let mut names = Names::default();
    let document = document::read(&bytes, Location::File(path.to_owned()), &mut names, limits)
        .map_err(|error| fault(&error.0, error.1))?;
    let root = Node::new(&document, &names, 0, 0);
    if !(root.namespace() == NAMESPACE && root.local() == "catalog") {
        let what = format!("not an XML catalog: the root element is <{}>", root.name());
        return Err(Error::new(ErrorKind::Invalid(what), Some(whole(path))));
    }
    let (mut table, mut next) = (Table::default(), Vec::new());
    let base = base_of(root, &base);
    for entry in entries(root) {
        if entry.local() == "group" {
            let base = base_of(entry, &base);
            entries(entry).for_each(|entry| table.add(entry, &base, &mut next));
        } else {
            table.add(entry, &base, &mut next);
        }
    }
    Ok((table, next))
}

/// Returns the entries that the standard defines; elements of other namespaces are ignored (6.1).
fn entries(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    node.children().filter(|entry| entry.namespace() == NAMESPACE)
}

impl Table {
    fn add(&mut self, entry: Node<'_>, base: &Url, next: &mut Vec<PathBuf>) {
        let base = base_of(entry, base);
        let target = |attribute| entry.attribute(attribute).and_then(|target| base.join(target).ok());
        let (name, by) = match entry.local() {
            "system" => ("systemId", "uri"),
            "uri" => ("name", "uri"),
            "public" => ("publicId", "uri"),
            "rewriteSystem" => ("systemIdStartString", "rewritePrefix"),
            "rewriteURI" => ("uriStartString", "rewritePrefix"),
            "systemSuffix" => ("systemIdSuffix", "uri"),
            "uriSuffix" => ("uriSuffix", "uri"),
            "delegateSystem" => ("systemIdStartString", "catalog"),
            "delegateURI" => ("uriStartString", "catalog"),
            "delegatePublic" => ("publicIdStartString", "catalog"),
            "nextCatalog" => return next.extend(target("catalog").and_then(|target| target.to_file_path().ok())),
            _ => return,
        };
        let is_public = entry.local().ends_with("ublic");
        let written = |name: &str| if is_public { public(name) } else { name.to_owned() };
        let (Some(name), Some(target)) = (entry.attribute(name).map(written), target(by)) else { return };
        match by {
            "catalog" => self.delegates.extend(target.to_file_path().ok().map(|path| (name, path))),
            "uri" if entry.local().ends_with("Suffix") => self.suffixes.push((name, target)),
            "uri" => _ = self.exact.entry(name).or_insert(target),
            _ => self.prefixes.push((name, target)),
        }
    }

    /// Returns the folders of the targets: `/a` for both `file:///a/b` and `file:///a/`.
    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let targets = self.exact.values().chain(self.prefixes.iter().chain(&self.suffixes).map(|(_, target)| target));
        targets.filter_map(|target| target.join(".").ok()?.to_file_path().ok()?.canonicalize().ok())
    }

    fn find(&self, name: &str) -> Option<Location> {
        if let Some(target) = self.exact.get(name) {
            return location(target.clone());
        }
        let fitting = self.prefixes.iter().filter(|(prefix, _)| name.starts_with(prefix.as_str()));
        let Some((prefix, target)) = fitting.max_by_key(|(prefix, _)| prefix.len()) else {
            let fitting = self.suffixes.iter().filter(|(suffix, _)| name.ends_with(suffix.as_str()));
            return location(fitting.max_by_key(|(suffix, _)| suffix.len())?.1.clone());
        };
        location(Url::parse(&format!("{target}{}", &name[prefix.len()..])).ok()?)
    }
}

/// Normalizes the white space of a public identifier and unwraps it (OASIS XML Catalogs 1.1, 6.2
/// and 6.4).
fn public(name: &str) -> String {
    let name = name.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    unwrapped(&name).unwrap_or(name)
}

/// Returns the public identifier in a URN (RFC 3151); `None` for other names.
fn unwrapped(name: &str) -> Option<String> {
    const MARK: &str = "urn:publicid:";
    let (_, mut rest) = name.split_at_checked(MARK.len()).filter(|(mark, _)| mark.eq_ignore_ascii_case(MARK))?;
    let mut found = String::new();
    while let Some(next) = rest.chars().next() {
        let escaped = ["+", ":", "/", ";", "'", "?", "#", "%"].into_iter().find(|it| {
            rest.get(..3).is_some_and(|code| code.eq_ignore_ascii_case(&format!("%{:02X}", it.as_bytes()[0])))
        });
        rest = &rest[if escaped.is_some() { 3 } else { next.len_utf8() }..];
        match (escaped, next) {
            (Some(it), _) => found.push_str(it),
            (None, '+') => found.push(' '),
            (None, ':') => found.push_str("//"),
            (None, ';') => found.push_str("::"),
            (None, other) => found.push(other),
        }
    }
    Some(found)
}

fn location(target: Url) -> Option<Location> {
    match target.scheme() {
        "file" => target.to_file_path().ok().map(Location::File),
        "http" | "https" => Some(Location::Web(target)),
        _ => None,
    }
}

/// Returns the base URL of the references in an element (XML Base).
fn base_of(node: Node<'_>, base: &Url) -> Url {
    let own = node.attribute_in(XML, "base").and_then(|own| base.join(own).ok());
    own.unwrap_or_else(|| base.clone())
}

fn whole(path: &Path) -> Position {
    Position { document: path.display().to_string(), line: 0, column: 0 }
}

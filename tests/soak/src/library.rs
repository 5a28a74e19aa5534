//! External data: WSDLs and recorded messages in folders.

use crate::inferred::Shape;
use deltasoap_core::schema::{ElementRef, Schema};
use deltasoap_dynamic::Contract;
use deltasoap_test_support::Chance;
use deltasoap_wsdl::Importer;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Longer messages are ignored: a few of them would take much of the time.
const MAX_MESSAGE_LEN: u64 = 100_000;
/// Longer WSDLs are ignored: they take long to import.
const MAX_WSDL_LEN: u64 = 400_000;
/// Maximum number of cached contracts.
const MAX_CACHED: usize = 64;
/// Maximum number of messages that a schema is inferred from, and that a trial starts with.
const MAX_MESSAGES: usize = 8;

/// WSDLs, and recorded messages by the element in their bodies.
#[derive(Default)]
pub struct Library {
    /// Names for records, and the paths of the files.
    wsdls: BTreeMap<String, (PathBuf, PathBuf)>,
    /// Files with the messages of one folder whose bodies have the same element.
    streams: BTreeMap<String, Vec<PathBuf>>,
    contracts: HashMap<String, Option<Contract>>,
}

impl Library {
    /// Opens everything below some folders; each has a name that replaces its path in records.
    pub fn open(folders: &[(&str, PathBuf)]) -> Self {
        let mut library = Library::default();
        for (name, folder) in folders {
            for (path, relative) in files(folder) {
                let name = format!("{name}/{relative}");
                match path.extension().and_then(|it| it.to_str()) {
                    Some("wsdl") => drop(library.wsdls.insert(name, (path, folder.clone()))),
                    Some("xml") => library.add_message(&name, path),
                    _ => {}
                }
            }
        }
        library
    }

    fn add_message(&mut self, name: &str, path: PathBuf) {
        let Some(text) = read(&path) else { return };
        let Some(body) = body_element(&text) else { return };
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        self.streams.entry(format!("{folder}|{body}")).or_default().push(path);
    }

    /// Returns the numbers of WSDLs and of message streams.
    pub fn sizes(&self) -> (usize, usize) {
        (self.wsdls.len(), self.streams.len())
    }

    /// Returns the name of a random WSDL.
    pub fn any_wsdl(&self, chance: &mut Chance) -> Option<String> {
        self.wsdls.keys().nth(chance.below(self.wsdls.len())).cloned()
    }

    /// Returns the name of a random stream.
    pub fn any_stream(&self, chance: &mut Chance) -> Option<String> {
        self.streams.keys().nth(chance.below(self.streams.len())).cloned()
    }

    /// Imports a WSDL; `None` if that fails.
    pub fn contract(&mut self, name: &str) -> Option<Contract> {
        if let Some(known) = self.contracts.get(name) {
            return known.clone();
        }
        if self.contracts.len() >= MAX_CACHED {
            self.contracts.clear();
        }
        let (path, root) = self.wsdls.get(name)?;
        let importer = Importer::new().offline().root(root.clone());
        let contract = importer.path(path).ok().map(Contract::from);
        let contract = contract.filter(|contract| !contract.operations().is_empty());
        self.contracts.insert(name.to_owned(), contract.clone());
        contract
    }

    /// Returns a schema inferred from a stream's messages.
    pub fn inferred(&self, stream: &str, seed: u64) -> Option<(Schema, ElementRef)> {
        let texts = self.texts(stream);
        let mut shape = Shape::default();
        texts.iter().for_each(|text| shape.add_message(text));
        Some(shape.schema(&mut Chance::new(seed, 0)))
    }

    /// Returns messages of a stream, in order.
    pub fn messages(&self, stream: &str, chance: &mut Chance) -> Vec<String> {
        let mut texts = self.texts(stream);
        let start = chance.below(texts.len());
        texts.drain(..start);
        texts
    }

    fn texts(&self, stream: &str) -> Vec<String> {
        let Some(paths) = self.streams.get(stream) else { return Vec::new() };
        paths.iter().take(MAX_MESSAGES).filter_map(|path| read(path)).collect()
    }
}

/// Returns the files below a folder, sorted by name, and their names relative to it.
fn files(folder: &Path) -> impl Iterator<Item = (PathBuf, String)> {
    let is_short = |path: &Path, len: u64| match path.extension().and_then(|it| it.to_str()) {
        Some("wsdl") => len <= MAX_WSDL_LEN,
        _ => len <= MAX_MESSAGE_LEN,
    };
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    entries.filter_map(move |entry| {
        let is_taken = entry.file_type().is_file() && entry.metadata().is_ok_and(|it| is_short(entry.path(), it.len()));
        let relative = entry.path().strip_prefix(folder).ok()?.to_string_lossy().into_owned();
        is_taken.then(|| (entry.into_path(), relative))
    })
}

fn read(path: &Path) -> Option<String> {
    String::from_utf8(fs::read(path).ok()?).ok()
}

/// Returns the name of the first element in a message's body.
fn body_element(text: &str) -> Option<String> {
    let document = roxmltree::Document::parse(text).ok()?;
    let root = document.root_element();
    let is_envelope = root.tag_name().name() == "Envelope";
    let body = root.children().find(|it| it.tag_name().name() == "Body").filter(|_| is_envelope)?;
    let entry = body.first_element_child()?;
    Some(format!("{{{}}}{}", entry.tag_name().namespace().unwrap_or_default(), entry.tag_name().name()))
}

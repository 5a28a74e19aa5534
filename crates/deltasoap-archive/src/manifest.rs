//! The state of an archive: what is written completely.
//!
//! Messages are taken in chunks. The files of a chunk get their names when all of them are complete,
//! and then the manifest is replaced, which says that the chunk is there. A run that was killed
//! anywhere continues after the last chunk of the manifest, and writes the next one again: the same
//! files with the same content, because the boundaries of chunks depend only on the captures. A run that
//! was told to end is an exception: its last chunk ends there. The rows are the same then, in other files.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the file.
pub(crate) const NAME: &str = "archive.json";

/// The format of the manifest and of the tables.
const VERSION: u32 = 1;

/// What `archive.json` holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) version: u32,
    /// Everything that the output depends on, besides the captures.
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) sources: Vec<SourceState>,
    /// Number of chunks that are written.
    pub(crate) chunks: u64,
    /// The first item that is in no chunk: the source, and the position in it.
    pub(crate) source: usize,
    pub(crate) item: u64,
    /// The number of the next row of each table.
    pub(crate) next: BTreeMap<String, i64>,
    pub(crate) counts: Counts,
    /// True once all captures are in the tables.
    pub(crate) is_done: bool,
}

/// A source, as it was when the archive was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SourceState {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// A text that differs if an object of a store was replaced by one of the same size; empty for files.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) objects: String,
}

impl SourceState {
    /// Returns what is not there any more; `None` if it is the same source.
    fn difference(&self, now: &SourceState) -> Option<String> {
        let SourceState { name, bytes, objects } = self;
        if (name, bytes) != (&now.name, &now.bytes) {
            return Some(format!("the captures {name} of {bytes} bytes"));
        }
        // An archive of an earlier version does not know.
        let is_same = objects.is_empty() || *objects == now.objects;
        if is_same { None } else { Some(format!("other objects of {name}")) }
    }
}

/// What an archive holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Number of messages in the tables.
    pub messages: u64,
    /// Number of faults among them.
    pub faults: u64,
    /// Number of messages that have no rows of their own, because their values are those of the last
    /// one.
    #[serde(default)]
    pub repeated: u64,
    /// Number of messages in the table of errors.
    pub errors: u64,
    /// Total size of all messages in bytes, uncompressed.
    pub bytes: u64,
}

impl Manifest {
    pub(crate) fn new(options: BTreeMap<String, String>, sources: Vec<SourceState>) -> Self {
        Manifest {
            version: VERSION,
            options,
            sources,
            chunks: 0,
            source: 0,
            item: 0,
            next: BTreeMap::new(),
            counts: Counts::default(),
            is_done: false,
        }
    }

    /// Returns what differs from an archive that is begun now; `None` if it can be continued.
    pub(crate) fn difference(&self, now: &Manifest) -> Option<String> {
        if self.version != now.version {
            return Some(format!("version {} of the format", self.version));
        }
        let option = self.options.iter().find(|(name, value)| now.options.get(*name) != Some(value));
        if option.is_some_and(|(name, _)| name == "contract") {
            return Some("another WSDL".to_owned());
        }
        if let Some((name, value)) = option {
            return Some(format!("the option {name}={value}"));
        }
        let mut pairs = self.sources.iter().zip(&now.sources);
        match pairs.find_map(|(one, other)| one.difference(other)) {
            Some(what) => Some(what),
            None if self.sources.len() != now.sources.len() => {
                Some(format!("{} sources of captures", self.sources.len()))
            }
            None => None,
        }
    }
}

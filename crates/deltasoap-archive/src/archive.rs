//! Writes captures into tables, in chunks.

use crate::capture::{Capture, Direction, Item};
use crate::decode::{Decoded, Decoding, Hint, KeptSenders, Undecoded};
use crate::error::ArchiveError;
use crate::manifest::{Counts, Manifest, NAME};
use crate::message::{Message, message_within};
use crate::repeats::Repeats;
use crate::sources::{JsonColumns, Limits, Source, Sources};
use crate::store::{Compression, Store};
use crate::tables::{Entry, Finding, Tables};
use deltasoap_core::Tolerance;
use deltasoap_dynamic::Contract;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// How an archive is written.
#[derive(Debug, Clone)]
pub struct Options {
    /// True for one table for each operation and direction, with nested columns; false for one for
    /// each list, with plain columns.
    pub is_nested: bool,
    /// True if a message whose value is that of the last message of its sender, operation and
    /// direction adds no rows; the column `same_as` of the table `messages` then has the number of
    /// the message with the rows.
    pub deduplicate: bool,
    /// The compression of the tables.
    pub compression: Compression,
    /// What is accepted beyond the schema. Other messages go to the table of errors.
    pub tolerance: Tolerance,
    /// What bounds the memory for reading.
    pub limits: Limits,
    /// The properties of JSON lines.
    pub columns: JsonColumns,
    /// Number of bytes of messages after which a chunk ends. A run that is killed loses at most one.
    pub chunk_bytes: u64,
    /// Number of messages after which a chunk ends.
    pub chunk_messages: u64,
}

impl Default for Options {
    /// Plain tables, strict, 256 MiB and a million messages a chunk.
    fn default() -> Self {
        Options {
            is_nested: false,
            deduplicate: false,
            compression: Compression::default(),
            tolerance: Tolerance::Strict,
            limits: Limits::default(),
            columns: JsonColumns::default(),
            chunk_bytes: 256 << 20,
            chunk_messages: 1_000_000,
        }
    }
}

impl Options {
    /// Returns everything that the tables depend on besides the captures.
    fn as_map(&self, contract: &Contract) -> BTreeMap<String, String> {
        let JsonColumns { body, time, sender, direction, operation, status } = &self.columns;
        let all = [
            ("nested", self.is_nested.to_string()),
            ("deduplicate", self.deduplicate.to_string()),
            ("compression", self.compression.name().to_owned()),
            ("tolerance", format!("{:?}", self.tolerance)),
            ("limit-message", self.limits.message.to_string()),
            ("columns", [body, time, sender, direction, operation, status].map(String::as_str).join(",")),
            ("chunk-bytes", self.chunk_bytes.to_string()),
            ("chunk-messages", self.chunk_messages.to_string()),
            ("contract", fingerprint(&contract.description().compile())),
        ];
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// What a run has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// What the archive holds, including what earlier runs wrote.
    pub counts: Counts,
    /// True if an earlier run had begun it.
    pub is_continued: bool,
}

/// A directory of tables that is being written.
///
/// Dropped before [`run`](Self::run) has ended, or killed, it is continued by another one with the
/// same directory, captures and options.
pub struct Archive {
    store: Store,
    manifest: Manifest,
    sources: Sources,
    options: Options,
    decoding: Decoding,
    tables: Tables,
    repeats: Repeats,
    is_continued: bool,
    chunk: Chunk,
}

/// What is not in the manifest yet.
#[derive(Default)]
struct Chunk {
    bytes: u64,
    messages: u64,
    counts: Counts,
    /// The operation of the last request.
    asked: Option<String>,
}

impl std::fmt::Debug for Archive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Archive").field("manifest", &self.manifest).finish_non_exhaustive()
    }
}

impl Archive {
    /// Begins an archive in a directory that is empty or does not exist, or continues one.
    ///
    /// # Errors
    /// If the directory holds something else, or an archive of other captures or options, or cannot
    /// be written.
    pub fn open(root: &Path, contract: &Contract, sources: Sources, options: Options) -> Result<Self, ArchiveError> {
        Self::in_store(Store::new(root, options.compression), contract, sources, options)
    }

    pub(crate) fn in_store(
        store: Store,
        contract: &Contract,
        sources: Sources,
        options: Options,
    ) -> Result<Self, ArchiveError> {
        let states = sources.all.iter().map(Source::state).collect();
        let new = Manifest::new(options.as_map(contract), states);
        let known = known_manifest(&store.root)?;
        let is_continued = known.is_some();
        let manifest = match known {
            Some(known) => match known.difference(&new) {
                Some(what) => return Err(ArchiveError::Different { path: store.root, what }),
                None => known,
            },
            None => {
                fs::create_dir_all(&store.root).map_err(ArchiveError::at(&store.root))?;
                write_manifest(&store, &new)?;
                new
            }
        };
        let decoding = Decoding::new(contract, options.tolerance, KeptSenders::default());
        let next = manifest.next.clone();
        let mut tables = Tables::new(contract, store.clone(), &options, manifest.chunks, next);
        tables.declare(decoding.types());
        let chunk = Chunk { counts: manifest.counts.clone(), ..Chunk::default() };
        let repeats = Repeats::default();
        Ok(Archive { store, manifest, sources, options, decoding, tables, repeats, is_continued, chunk })
    }

    /// Returns the sources.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Writes all captures that are not in the tables yet. Calls `progress` after every message.
    ///
    /// # Errors
    /// If the tables cannot be written, or an object store fails. The archive can be continued then.
    pub fn run(self, progress: &mut dyn FnMut(&Counts)) -> Result<Summary, ArchiveError> {
        self.run_while(&mut |counts| {
            progress(counts);
            true
        })
    }

    /// Like [`run`](Self::run), and ends after the message for which `goes_on` returns false, and its
    /// answer. What was read is complete in the tables then, and the archive can be continued.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    pub fn run_while(mut self, goes_on: &mut dyn FnMut(&Counts) -> bool) -> Result<Summary, ArchiveError> {
        let sources = std::mem::take(&mut self.sources);
        let (limits, columns) = (self.options.limits, self.options.columns.clone());
        let (first, done) = (self.manifest.source, self.manifest.item);
        let (mut is_over, mut ended) = (false, None);
        for (index, source) in sources.all.iter().enumerate().skip(first) {
            if self.manifest.is_done || ended.is_some() {
                break;
            }
            let after = if index == first { done } else { 0 };
            let mut position = after;
            let name = source.name();
            let read = source.each_after(after, limits, &columns, &mut |item| {
                if is_over && !is_answer(&item) {
                    return Err(ArchiveError::Ended);
                }
                self.make_room(&item, index, position)?;
                position += 1;
                self.item(item, &name);
                self.tables.write_some()?;
                is_over = is_over || !goes_on(&self.chunk.counts);
                Ok(())
            });
            match read {
                Err(ArchiveError::Ended) => ended = Some((index, position)),
                other => other?,
            }
        }
        match ended {
            Some((source, position)) => self.end_chunk(source, position, false)?,
            None if !self.manifest.is_done => self.end_chunk(sources.all.len(), 0, true)?,
            None => {}
        }
        Ok(Summary { counts: self.manifest.counts, is_continued: self.is_continued })
    }

    /// Ends the chunk before an item, if it is large enough. An answer stays with its request, whose
    /// operation is that of a fault.
    fn make_room(&mut self, item: &Item, source: usize, position: u64) -> Result<(), ArchiveError> {
        let is_full =
            self.chunk.bytes >= self.options.chunk_bytes || self.chunk.messages >= self.options.chunk_messages;
        match is_answer(item) || !is_full {
            true => Ok(()),
            false => self.end_chunk(source, position, false),
        }
    }

    fn end_chunk(&mut self, source: usize, position: u64, is_done: bool) -> Result<(), ArchiveError> {
        let next = self.tables.end_chunk()?.clone();
        let counts = self.chunk.counts.clone();
        let manifest = Manifest {
            chunks: self.manifest.chunks + 1,
            source,
            item: position,
            next,
            counts: counts.clone(),
            is_done,
            ..self.manifest.clone()
        };
        write_manifest(&self.store, &manifest)?;
        self.manifest = manifest;
        self.repeats.clear();
        self.chunk = Chunk { counts, ..Chunk::default() };
        Ok(())
    }

    /// Adds a message to the tables, or to that of errors.
    fn item(&mut self, item: Item, source: &str) {
        self.chunk.messages += 1;
        let asked = self.chunk.asked.take();
        match item {
            Item::Unreadable { place, reason } => {
                let capture = Capture { place, ..Capture::default() };
                self.error(&capture, None, 0, Finding { reason: reason.into_owned(), ..Finding::default() });
            }
            Item::Capture(capture) => {
                let most = self.options.limits.message;
                let message = match message_within(capture.content.clone(), most) {
                    Ok(message) if message.bytes.len() as u64 > most => Err(format!("more than {most} bytes").into()),
                    other => other,
                };
                match message {
                    Ok(message) => self.message(&capture, &message, source, asked.filter(|_| capture.is_answer)),
                    Err(reason) => {
                        let finding = Finding { reason: reason.into_owned(), ..Finding::default() };
                        self.error(&capture, None, capture.content.len(), finding);
                    }
                }
            }
        }
    }

    fn message(&mut self, capture: &Capture, message: &Message, source: &str, asked: Option<String>) {
        let (id, size) = (self.next_id(), message.bytes.len());
        let operation = capture.operation.as_deref().or(asked.as_deref());
        let hint = Hint { operation, direction: capture.direction };
        let sender = match &capture.sender {
            Some(sender) => sender.clone(),
            None => format!("{source} {}", capture.direction.map_or("", Direction::name)),
        };
        let Archive { decoding, tables, repeats, options, .. } = self;
        let (types, decoded) = decoding.decode(&sender, message.bytes.clone(), hint);
        match decoded {
            Ok(Decoded::Message(kind, value)) => {
                let of = &types[kind];
                let (name, direction) = (of.operation.clone(), of.direction);
                if direction == Direction::Request {
                    self.chunk.asked = Some(name.clone());
                }
                let may_repeat = options.deduplicate && !message.has_parts();
                let same_as = if may_repeat { repeats.same_as(&sender, kind, value) } else { None };
                let added = match same_as {
                    Some(_) => Ok(()),
                    None => tables.message(id, kind, of, value, message),
                };
                match added {
                    Ok(()) => {
                        if may_repeat && same_as.is_none() {
                            repeats.keep(&sender, kind, id, value, size);
                        }
                        let (operation, direction) = (Some(&*name), Some(direction.name()));
                        tables.list(Entry { id, capture, operation, direction, size }, same_as);
                        self.chunk.counts.repeated += u64::from(same_as.is_some());
                        self.chunk.counts.messages += 1;
                        self.chunk.counts.bytes += size as u64;
                        self.chunk.bytes += size as u64;
                    }
                    Err(error) => {
                        let finding =
                            Finding { reason: error.reason.to_string(), path: Some(error.path), ..Finding::default() };
                        self.error(capture, Some((&name, Some(direction))), size, finding);
                    }
                }
            }
            Ok(Decoded::Fault(fault)) => {
                let known = types.iter().find(|of| operation.is_some_and(|name| of.is_of(name)));
                let known = known.map(|of| of.operation.as_str());
                tables.fault(id, known, &fault);
                tables.list(Entry { id, capture, operation: known, direction: Some("fault"), size }, None);
                self.chunk.counts.messages += 1;
                self.chunk.counts.faults += 1;
                self.chunk.counts.bytes += size as u64;
                self.chunk.bytes += size as u64;
            }
            Err(Undecoded { kind, error }) => {
                let of = kind.map(|kind| (types[kind].operation.clone(), types[kind].direction));
                if let Some((name, Direction::Request)) = &of {
                    self.chunk.asked = Some(name.clone());
                }
                let finding = Finding {
                    reason: error.kind().to_string(),
                    path: (!error.path().is_empty()).then(|| error.path().to_owned()),
                    offset: Some(error.offset()),
                    line: Some(error.line_and_column(&message.bytes)),
                };
                let of = of.as_ref().map(|(name, direction)| (name.as_str(), Some(*direction)));
                self.error(capture, of.or(operation.map(|name| (name, capture.direction))), size, finding);
            }
        }
    }

    /// Adds a message that cannot be decoded to the table of errors.
    fn error(&mut self, capture: &Capture, of: Option<(&str, Option<Direction>)>, size: usize, finding: Finding) {
        let id = self.next_id();
        let operation = of.map(|(name, _)| name).or(capture.operation.as_deref());
        let direction = of.and_then(|(_, direction)| direction).or(capture.direction).map(Direction::name);
        self.tables.error(Entry { id, capture, operation, direction, size }, &finding);
        self.chunk.counts.errors += 1;
        self.chunk.counts.bytes += size as u64;
        self.chunk.bytes += size as u64;
    }

    /// Returns the number of the next message, in whichever table it will be.
    fn next_id(&self) -> i64 {
        (self.chunk.counts.messages + self.chunk.counts.errors) as i64
    }
}

/// Returns a text that differs between contents.
fn fingerprint(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the manifest of an archive that was begun; `None` for an empty directory.
fn known_manifest(root: &Path) -> Result<Option<Manifest>, ArchiveError> {
    let path = root.join(NAME);
    match fs::read(&path) {
        Ok(content) => match serde_json::from_slice(&content) {
            Ok(manifest) => Ok(Some(manifest)),
            Err(error) => Err(ArchiveError::Manifest { path, error }),
        },
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(ArchiveError::at(&path)(error)),
        Err(_) => match root.read_dir() {
            // What a process left that was killed while it wrote its first manifest.
            Ok(mut entries) => match entries.all(|it| it.is_ok_and(|it| it.file_name() == "archive.tmp")) {
                true => Ok(None),
                false => Err(ArchiveError::NotEmpty(root.to_owned())),
            },
            Err(_) => Ok(None),
        },
    }
}

/// Returns true for the answer to the item before it.
fn is_answer(item: &Item) -> bool {
    matches!(item, Item::Capture(Capture { is_answer: true, .. }))
}

fn write_manifest(store: &Store, manifest: &Manifest) -> Result<(), ArchiveError> {
    let mut content = serde_json::to_vec_pretty(manifest)
        .map_err(|error| ArchiveError::Manifest { path: store.root.join(NAME), error })?;
    content.push(b'\n');
    store.replace(NAME, &content)
}

#[cfg(test)]
mod tests;

//! Files that appear complete or not at all.

use crate::error::ArchiveError;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::ZstdLevel;
use parquet::file::properties::WriterProperties;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The ending of files that are not complete.
pub(crate) const TEMPORARY: &str = "tmp";
/// Maximum number of rows of a row group.
const GROUP_ROWS: usize = 128 << 10;
/// Number of encoded bytes after which a row group ends.
const GROUP_BYTES: usize = 16 << 20;

/// How the pages of Parquet files are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// Not at all.
    None,
    /// Snappy: fast.
    Snappy,
    /// Zstandard: small.
    #[default]
    Zstd,
}

impl Compression {
    /// Returns its name: `none`, `snappy` or `zstd`.
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "none",
            Compression::Snappy => "snappy",
            Compression::Zstd => "zstd",
        }
    }
}

/// Writes the files of an archive.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    pub(crate) root: PathBuf,
    compression: Compression,
    /// Number of steps until the process is as good as killed; for tests.
    steps: Arc<AtomicU64>,
}

impl Store {
    pub(crate) fn new(root: &Path, compression: Compression) -> Self {
        Store { root: root.to_owned(), compression, steps: Arc::new(AtomicU64::new(u64::MAX)) }
    }

    /// Lets everything fail after this number of steps.
    #[cfg(test)]
    pub(crate) fn fail_after(&self, steps: u64) {
        self.steps.store(steps, Relaxed);
    }

    /// A point at which a process may end.
    fn step(&self) -> io::Result<()> {
        let left = self.steps.load(Relaxed).checked_sub(1).ok_or_else(|| io::Error::other("killed"))?;
        self.steps.store(left, Relaxed);
        Ok(())
    }

    /// Starts a Parquet file.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn table(&self, name: &str, chunk: u64, schema: &SchemaRef) -> Result<TableFile, ArchiveError> {
        let folder = self.root.join(name);
        let path = folder.join(format!("part-{chunk:05}.parquet"));
        let temporary = path.with_extension(TEMPORARY);
        self.step().and_then(|()| fs::create_dir_all(&folder)).map_err(ArchiveError::at(&folder))?;
        File::create(&temporary).map_err(ArchiveError::at(&temporary))?;
        let writer = ArrowWriter::try_new(Appended(temporary.clone()), schema.clone(), Some(self.properties()));
        let writer = writer.map_err(|error| ArchiveError::Table { path: path.clone(), error })?;
        Ok(TableFile { store: self.clone(), writer, temporary, path })
    }

    /// Replaces a small file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn replace(&self, name: &str, content: &[u8]) -> Result<(), ArchiveError> {
        let path = self.root.join(name);
        let temporary = path.with_extension(TEMPORARY);
        let write = || {
            self.step()?;
            let mut file = File::create(&temporary)?;
            file.write_all(content)?;
            file.sync_all()?;
            self.step()?;
            fs::rename(&temporary, &path)?;
            self.step()
        };
        write().map_err(ArchiveError::at(&path))
    }

    fn properties(&self) -> WriterProperties {
        let compression = match self.compression {
            Compression::None => parquet::basic::Compression::UNCOMPRESSED,
            Compression::Snappy => parquet::basic::Compression::SNAPPY,
            Compression::Zstd => parquet::basic::Compression::ZSTD(ZstdLevel::default()),
        };
        WriterProperties::builder()
            .set_compression(compression)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_created_by(format!("deltasoap {}", env!("CARGO_PKG_VERSION")))
            .build()
    }
}

/// A file that is open only while it is written to: a WSDL may have more tables than a process may
/// have open files.
struct Appended(PathBuf);

impl io::Write for Appended {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        OpenOptions::new().append(true).open(&self.0)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A Parquet file that is being written.
pub(crate) struct TableFile {
    store: Store,
    writer: ArrowWriter<Appended>,
    temporary: PathBuf,
    path: PathBuf,
}

impl TableFile {
    /// Appends rows.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn write(&mut self, rows: &RecordBatch) -> Result<(), ArchiveError> {
        self.store.step().map_err(ArchiveError::at(&self.path))?;
        let mut write = || {
            self.writer.write(rows)?;
            if self.writer.in_progress_size() > GROUP_BYTES { self.writer.flush() } else { Ok(()) }
        };
        write().map_err(|error| ArchiveError::Table { path: self.path.clone(), error })
    }

    /// Completes the file under its temporary name.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn complete(self) -> Result<Complete, ArchiveError> {
        let TableFile { store, writer, temporary, path } = self;
        store.step().map_err(ArchiveError::at(&path))?;
        writer.into_inner().map_err(|error| ArchiveError::Table { path: path.clone(), error })?;
        File::open(&temporary).and_then(|file| file.sync_all()).map_err(ArchiveError::at(&temporary))?;
        Ok(Complete { store, temporary, path })
    }
}

/// A file that is complete, and has not its name yet.
pub(crate) struct Complete {
    store: Store,
    temporary: PathBuf,
    path: PathBuf,
}

impl Complete {
    /// Gives the file its name.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub(crate) fn publish(self) -> Result<(), ArchiveError> {
        let Complete { store, temporary, path } = self;
        store.step().and_then(|()| fs::rename(&temporary, &path)).map_err(ArchiveError::at(&path))
    }
}

//! Why an archive cannot be written.

use std::io;
use std::path::{Path, PathBuf};

/// Why an archive cannot be written or continued. Messages that cannot be decoded are not such an
/// error: they have a table of their own.
///
/// Where the text of an error has that of its cause, this is no [`source`](std::error::Error::source): the texts of
/// a whole chain say everything once.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A table cannot be written.
    #[error("{}: {error}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// Why.
        error: parquet::errors::ParquetError,
    },
    /// Rows do not fit into their table.
    #[error("the table {table}: {error}")]
    Rows {
        /// The name of the table.
        table: String,
        /// Why.
        error: arrow_schema::ArrowError,
    },
    /// The directory holds something else.
    #[error("{} is not empty, and no archive: name another directory", .0.display())]
    NotEmpty(PathBuf),
    /// The archive was begun with other captures or options.
    #[error("{} was begun with {what}: use the same again, or name another directory", path.display())]
    Different {
        /// The directory.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// An object store has failed. The same captures and options continue the archive.
    #[error("{url} cannot be read to its end, and the same command continues")]
    Store {
        /// The object, without credentials.
        url: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Captures that an earlier run has read are gone.
    #[error("{place} was read further by an earlier run, and cannot be continued now: {reason}")]
    Shorter {
        /// The place after which nothing is found.
        place: String,
        /// Why.
        reason: String,
    },
    /// The run was told to end. No public function returns this.
    #[doc(hidden)]
    #[error("ended before all captures were read")]
    Ended,
    /// The file with the state of the archive is damaged.
    #[error("{} is damaged ({error}): remove the directory, or name another one", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// Why.
        error: serde_json::Error,
    },
}

impl ArchiveError {
    /// Returns a function that adds a path to an error.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> ArchiveError {
        move |error| ArchiveError::File { path: path.to_owned(), error }
    }
}

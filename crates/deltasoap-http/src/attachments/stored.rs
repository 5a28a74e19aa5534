//! Parts that arrived before they were requested: in memory, and beyond a limit in temporary files.

use super::headers::PartHeaders;
use super::options::AttachmentLimits;
use std::io::{self, SeekFrom};
use tokio::fs::File;
use tokio::io::{AsyncSeekExt, AsyncWriteExt};

/// Memory and file space used by the kept parts of one package.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Bytes in memory.
    memory: usize,
    /// Bytes in files.
    spilled: u64,
}

/// A part that waits until it is requested.
#[derive(Debug)]
pub(super) struct StoredPart {
    pub(super) headers: PartHeaders,
    pub(super) store: PartStore,
}

/// The bytes of a kept part.
#[derive(Debug)]
pub(super) enum PartStore {
    Memory(Vec<u8>),
    File(File),
}

/// An error that prevents a part from being kept.
#[derive(Debug)]
pub(super) enum StoreError {
    /// The limit on bytes in files is reached.
    Full,
    Io(io::Error),
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        StoreError::Io(error)
    }
}

impl PartStore {
    /// Adds bytes. They are copied, because they may be a small slice of a large buffer.
    pub(super) async fn add(
        &mut self,
        bytes: &[u8],
        usage: &mut Usage,
        limits: &AttachmentLimits,
    ) -> Result<(), StoreError> {
        if let PartStore::Memory(memory) = self {
            if usage.memory + bytes.len() <= limits.memory {
                usage.memory += bytes.len();
                memory.extend_from_slice(bytes);
                return Ok(());
            }
            let memory = std::mem::take(memory);
            usage.memory -= memory.len();
            *self = PartStore::File(temporary_file().await?);
            self.spill(&memory, usage, limits).await?;
        }
        self.spill(bytes, usage, limits).await
    }

    async fn spill(&mut self, bytes: &[u8], usage: &mut Usage, limits: &AttachmentLimits) -> Result<(), StoreError> {
        let PartStore::File(file) = self else { return Ok(()) };
        usage.spilled += bytes.len() as u64;
        if usage.spilled > limits.spilled {
            return Err(StoreError::Full);
        }
        Ok(file.write_all(bytes).await?)
    }

    /// Ends the part, so that it can be read from its start.
    pub(super) async fn finish(&mut self) -> io::Result<()> {
        if let PartStore::File(file) = self {
            file.flush().await?;
            file.seek(SeekFrom::Start(0)).await?;
        }
        Ok(())
    }

    /// Records that the part is taken, so that its memory is free for others.
    pub(super) fn release(&self, usage: &mut Usage) {
        if let PartStore::Memory(memory) = self {
            usage.memory = usage.memory.saturating_sub(memory.len());
        }
    }
}

#[cfg(not(feature = "spill"))]
async fn temporary_file() -> io::Result<File> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "the memory limit is reached; feature `spill` keeps parts in files"))
}

/// Creates a file without a name, which is deleted when it is closed.
#[cfg(feature = "spill")]
async fn temporary_file() -> io::Result<File> {
    let file = tokio::task::spawn_blocking(tempfile::tempfile).await.map_err(io::Error::other)??;
    Ok(File::from_std(file))
}

//! A service's memories across a restart: saved once its server has ended, and loaded before the next one
//! serves. [`memory`](super::memory) has the file; here its messages are decoded as if they arrived.

use super::SoapService;
use super::memory::{Cache, LoadMemoriesError, LoadedMemories, MemorySource, SavedMemory, memories, read};
use super::receive::{Receiving, RequestInfo};
use super::service::Inner;
use bytes::Bytes;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Maximum number of times that a saved message is read, before it is certain that comparing does not pay.
const ROUNDS: usize = 6;

impl SoapService {
    /// Saves what messages are compared with, for a service that starts later: the last messages of
    /// principals, or of operations with [`Sharing::Operation`](crate::Sharing::Operation). Returns
    /// their number. Connections do not survive a restart, so call this once the server has ended and
    /// theirs have gone to their owners.
    ///
    /// The file is there whole or not at all. It contains messages of clients, without their SOAP
    /// headers; on Unix, only the user of this process may read it. A service that requires WS-Security
    /// saves nothing: its messages may have been encrypted, and are nothing without their headers.
    ///
    /// ```no_run
    /// # async fn run(service: deltasoap_http::SoapService) -> Result<(), Box<dyn std::error::Error>> {
    /// use deltasoap_http::{Server, shutdown_signal};
    ///
    /// match service.load_memories("memories") {
    ///     Ok(loaded) => println!("{} memories, {} skipped", loaded.kept, loaded.skipped),
    ///     Err(error) => println!("no memories: {error}"),
    /// }
    /// Server::bind("0.0.0.0:8080").await?.serve_with_shutdown(service.clone(), shutdown_signal()).await?;
    /// service.save_memories("memories")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save_memories(&self, path: impl AsRef<Path>) -> io::Result<usize> {
        match &self.inner.cache {
            Some(cache) if self.inner.verify.is_none() => cache.save(path.as_ref()),
            _ => Ok(0),
        }
    }

    /// Loads what [`save_memories`](Self::save_memories) saved, before the first request, so that the
    /// first message of a stream is already compared with the last one before the restart.
    ///
    /// Each message is decoded as if it arrived, up to six times, so that the service finds out whether
    /// comparing pays; authentication, inspectors and handlers are not called, and statistics do not
    /// count it. Messages that no longer fit the service are skipped. This blocks, for some times as long
    /// as it takes to decode the messages. The file says which principal a message belongs to, so it is
    /// refused if others may write it (on Unix).
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, larger than the
    /// [bound](crate::MemoryBounds::total_bytes) on memories, or was written by another version of this
    /// crate, or if there was a request already. Nothing is loaded then.
    pub fn load_memories(&self, path: impl AsRef<Path>) -> Result<LoadedMemories, LoadMemoriesError> {
        let mut loaded = LoadedMemories::default();
        let Some(cache) = &self.inner.cache else { return Ok(loaded) };
        let file = read(path.as_ref(), cache.bound() as u64)?;
        let (seed, memories) = memories(&file)?;
        if !cache.adopt(seed) {
            return Err(LoadMemoriesError::InUse);
        }
        for memory in memories {
            let is_kept = self.inner.verify.is_none() && self.inner.load(&memory, cache);
            loaded.kept += usize::from(is_kept);
            loaded.skipped += usize::from(!is_kept);
        }
        Ok(loaded)
    }
}

impl Inner {
    /// Reads a saved message until it is compared with itself. Returns false if it never is.
    fn load(self: &Arc<Self>, memory: &SavedMemory<'_>, cache: &Arc<Cache>) -> bool {
        let message = Bytes::copy_from_slice(memory.message);
        for _ in 0..ROUNDS {
            let Some(source) = MemorySource::for_saved(memory, cache) else { return false };
            let info = RequestInfo { source: Some(source), action: None, notes: Arc::default() };
            match Receiving::new(self, info, self.heavy.pace(None)).keep(message.clone()) {
                Ok(false) => {}
                Ok(true) => return true,
                Err(_) => return false,
            }
        }
        false
    }
}

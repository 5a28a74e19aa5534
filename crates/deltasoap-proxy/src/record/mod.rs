//! Recordings: a [directory] of messages, and a [HAR file](har). One thread writes both, so that no
//! exchange waits for a disk. The number of exchanges that wait to be written is bounded: when it
//! is reached, further requests wait for some time, and are then not recorded.

pub(crate) mod directory;
mod har;

use crate::config::{ConfigError, RecordConfig};
use crate::message;
use crate::secrets;
use bytes::Bytes;
use directory::Directory;
use har::Har;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use http::{HeaderMap, Method, StatusCode};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, SystemTime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Maximum number of exchanges that wait to be written, or will.
const BACKLOG: usize = 256;

/// How long an exchange waits until it can be recorded.
const PATIENCE: Duration = Duration::from_secs(5);

/// An exchange as it passed.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) begun: SystemTime,
    pub(crate) wait: Duration,
    pub(crate) time: Duration,
    pub(crate) operation: Option<String>,
    /// The base URL of the target.
    pub(crate) target: Option<String>,
    /// The origin that the client sent to.
    pub(crate) origin: String,
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) status: StatusCode,
    pub(crate) request: Half,
    pub(crate) response: Half,
    /// True for an answer that the proxy made: it is no answer of the service.
    pub(crate) is_own: bool,
}

/// A request or a response.
#[derive(Debug)]
pub(crate) struct Half {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// A request or a response as it is recorded.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) media: String,
    pub(crate) body: Vec<u8>,
}

impl Half {
    /// Undoes the content coding, and leaves out secrets.
    ///
    /// # Errors
    /// Returns the reason why the body cannot be recorded.
    fn recorded(&self, limit: usize, keeps_secrets: bool) -> Result<Recorded, String> {
        let body = message::decoded(&self.headers, &self.body, limit)?;
        let media = self.headers.get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let media = media.unwrap_or_default();
        let body = match keeps_secrets {
            true => body.into_owned(),
            false => secrets::body(&body, boundary(&media).as_deref())?,
        };
        let undone = [CONTENT_ENCODING, TRANSFER_ENCODING, CONTENT_LENGTH];
        let headers = self.headers.iter().filter(|(name, _)| !undone.contains(name));
        let headers = headers
            .map(|(name, value)| (name.as_str().to_owned(), secrets::header(name, value, keeps_secrets).into_owned()));
        Ok(Recorded { headers: headers.collect(), media, body })
    }
}

/// Returns the boundary of a package.
fn boundary(media: &str) -> Option<String> {
    if !media.trim_start().to_ascii_lowercase().starts_with("multipart/") {
        return None;
    }
    message::parameter(media, "boundary")
}

enum Job {
    Exchange(Box<Taken>, OwnedSemaphorePermit),
    /// Answered when all earlier ones are written.
    Flush(oneshot::Sender<()>),
}

/// Writes exchanges. Clones write to the same files.
#[derive(Clone)]
pub(crate) struct Recorder {
    jobs: Sender<Job>,
    backlog: Arc<Semaphore>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl Recorder {
    /// Opens the files; `None` if nothing is recorded.
    pub(crate) fn new(config: &RecordConfig, limit: usize) -> Result<Option<Self>, ConfigError> {
        let unwritable = |place: &'static str| {
            move |error: io::Error| ConfigError::invalid(place, format!("it cannot be written: {error}"))
        };
        let directory = config.directory.as_deref().map(Directory::open).transpose();
        let directory = directory.map_err(unwritable("record.directory"))?;
        let har = config.har.as_deref().map(Har::create).transpose().map_err(unwritable("record.har"))?;
        if directory.is_none() && har.is_none() {
            return Ok(None);
        }
        let (jobs, received) = channel();
        let writer = Writer { directory, har, limit, keeps_secrets: config.secrets };
        let thread = std::thread::Builder::new().name("deltasoap-record".to_owned());
        thread.spawn(move || writer.run(&received)).map_err(unwritable("record"))?;
        Ok(Some(Recorder { jobs, backlog: Arc::new(Semaphore::new(BACKLOG)) }))
    }

    /// Waits until an exchange can be recorded; `None` if that takes too long.
    pub(crate) async fn room(&self) -> Option<OwnedSemaphorePermit> {
        let room = tokio::time::timeout(PATIENCE, Arc::clone(&self.backlog).acquire_owned()).await;
        if room.is_err() {
            tracing::warn!("an exchange is not recorded: too many wait to be written");
            metrics::counter!("deltasoap_proxy_unrecorded_total").increment(1);
        }
        room.ok()?.ok()
    }

    pub(crate) fn take(&self, taken: Taken, room: OwnedSemaphorePermit) {
        if self.jobs.send(Job::Exchange(Box::new(taken), room)).is_err() {
            tracing::error!("an exchange is not recorded: the thread that writes has ended");
        }
    }

    /// Waits until everything is written.
    pub(crate) async fn flush(&self) {
        let (done, written) = oneshot::channel();
        if self.jobs.send(Job::Flush(done)).is_ok() {
            // If the thread ends without an answer, there is nothing to wait for.
            let _ = written.await;
        }
    }
}

struct Writer {
    directory: Option<Directory>,
    har: Option<Har>,
    limit: usize,
    keeps_secrets: bool,
}

impl Writer {
    fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(job) = jobs.recv() {
            match job {
                Job::Exchange(taken, _room) => self.write(&taken),
                // Nobody may wait any longer.
                Job::Flush(done) => _ = done.send(()),
            }
        }
    }

    fn write(&mut self, taken: &Taken) {
        let recorded = |half: &Half, what: &str| {
            let recorded = half.recorded(self.limit, self.keeps_secrets);
            recorded
                .map_err(|reason| {
                    tracing::warn!(path = secrets::target(&taken.path, false), reason, "the {what} is not recorded");
                })
                .ok()
        };
        let (Some(request), Some(response)) =
            (recorded(&taken.request, "request"), recorded(&taken.response, "answer"))
        else {
            return;
        };
        let path = secrets::target(&taken.path, self.keeps_secrets);
        if let Some(directory) = self.directory.as_mut().filter(|_| !taken.is_own)
            && let Err(error) = directory.write(taken, &path, &request, &response)
        {
            tracing::error!(%error, "an exchange cannot be recorded");
        }
        if let Some(har) = &mut self.har
            && let Err(error) = har.write(taken, &path, &request, &response)
        {
            tracing::error!(%error, "an exchange cannot be added to the HAR file");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn codings_are_undone() {
        let headers = [("content-type", "text/xml"), ("content-length", "9"), ("cookie", "a=b")];
        let headers = headers.map(|(name, value)| (name.parse().expect("a name"), HeaderValue::from_static(value)));
        let half =
            Half { headers: headers.into_iter().collect(), body: Bytes::from_static(b"<a><Password>x</Password></a>") };
        let recorded = half.recorded(1000, false).expect("recorded");
        assert_eq!(recorded.body, b"<a><Password>(not recorded)</Password></a>");
        let cookie = ("cookie".to_owned(), secrets::HIDDEN.to_owned());
        assert_eq!(recorded.headers, [("content-type".to_owned(), "text/xml".to_owned()), cookie]);
        assert_eq!(half.recorded(1000, true).expect("recorded").body, half.body);
        assert_eq!(boundary("multipart/related; type=a; Boundary=\"x y\""), Some("x y".to_owned()));
    }
}

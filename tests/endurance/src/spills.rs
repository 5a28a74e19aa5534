//! Uploads whose parts the server must keep in temporary files, on a file system that is too small for
//! all of them at one time.
//!
//! An upload that finds no room gets a fault that says so. The server goes on, and its files leave
//! nothing: at the end an upload that needs nearly all of the room succeeds.

use anyhow::{Context, Result, ensure};
use deltasoap_load::{Failed, Failure, Target, Wire, runtime};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Size of the file system in MiB.
const ROOM: usize = 8;
/// Bytes of the part that has to be kept: two of them fit.
const KEPT: usize = 3 << 20;
/// Bytes of the part of the last upload: of one alone, nearly all fit.
const MOST: usize = 7 << 20;
/// Bytes of the part that the message refers to.
const WANTED: usize = 1000;
/// Uploads at one time.
const UPLOADS: usize = 4;
/// The pause of a client between uploads.
const PAUSE: Duration = Duration::from_millis(100);
/// A server that takes longer for an upload hangs.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// A small file system, until this value is dropped.
#[derive(Debug)]
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts the file system in a folder.
    ///
    /// # Errors
    /// If this process may not mount.
    pub fn mount(folder: &Path) -> Result<Self> {
        let path = folder.join("small");
        fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        let options = format!("size={ROOM}m");
        let status = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&path).status();
        ensure!(status.context("mount")?.success(), "--full-disk mounts a small file system, which needs root");
        Ok(SmallDisk(path))
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a server that is just being killed may have files open.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// What became of uploads.
#[derive(Debug, Default, Serialize)]
pub struct Spilled {
    /// Uploads that were answered rightly, and that were refused for lack of room.
    pub stored: u64,
    pub refused: u64,
    /// Refusals that were broken off while the client was still sending.
    pub broken_off: u64,
    pub complaints: Vec<String>,
}

impl Spilled {
    /// Returns what is wrong, also that nothing was stored or nothing refused.
    pub fn complaints(&self) -> Vec<String> {
        let one_sided = (self.stored == 0 || self.refused == 0)
            .then(|| format!("{} uploads were stored, {} refused: this tested nothing", self.stored, self.refused));
        self.complaints.iter().cloned().chain(one_sided).collect()
    }
}

/// Clients that upload, in a thread of their own.
#[derive(Debug)]
pub struct Spills {
    has_ended: Arc<AtomicBool>,
    thread: JoinHandle<Spilled>,
    target: Target,
}

impl Spills {
    /// Starts the clients.
    ///
    /// # Errors
    /// When the system refuses a necessary resource.
    pub fn start(target: &Target) -> Result<Self> {
        let has_ended = Arc::new(AtomicBool::new(false));
        let (ended, to, runtime) = (Arc::clone(&has_ended), target.clone(), runtime()?);
        let thread = thread::spawn(move || {
            runtime.block_on(async move {
                let (request, mut all) = (Arc::new(request(KEPT)), JoinSet::new());
                for _ in 0..UPLOADS {
                    all.spawn(upload_again_and_again(to.clone(), Arc::clone(&request), Arc::clone(&ended)));
                }
                let mut spilled = Spilled::default();
                while let Some(of_one) = all.join_next().await {
                    match of_one {
                        Ok(of_one) => spilled.add(of_one),
                        Err(error) => spilled.complaints.push(error.to_string()),
                    }
                }
                spilled
            })
        });
        Ok(Spills { has_ended, thread, target: target.clone() })
    }

    /// Ends the clients, and uploads what needs nearly all of the room.
    ///
    /// # Errors
    /// When the system refuses a necessary resource.
    pub fn end(self) -> Result<Spilled> {
        self.has_ended.store(true, Ordering::Relaxed);
        let mut spilled = self.thread.join().ok().context("the uploads panicked")?;
        let last = runtime()?.block_on(async { upload(&self.target, &request(MOST)).await });
        if last != Ok(Upload::Stored) {
            spilled.complaints.push(format!("the room of uploads is not free at the end: {last:?}"));
        }
        Ok(spilled)
    }
}

/// What became of an upload.
#[derive(Debug, PartialEq, Eq)]
enum Upload {
    Stored,
    Refused,
    BrokenOff,
}

impl Spilled {
    fn note(&mut self, outcome: Result<Upload, String>) {
        match outcome {
            Ok(Upload::Stored) => self.stored += 1,
            Ok(Upload::Refused) => self.refused += 1,
            Ok(Upload::BrokenOff) => self.broken_off += 1,
            Err(complaint) => self.complaints.push(complaint),
        }
        self.complaints.truncate(10);
    }

    fn add(&mut self, other: Spilled) {
        self.stored += other.stored;
        self.refused += other.refused;
        self.broken_off += other.broken_off;
        self.complaints.extend(other.complaints);
    }
}

async fn upload_again_and_again(target: Target, request: Arc<Vec<u8>>, ended: Arc<AtomicBool>) -> Spilled {
    let mut spilled = Spilled::default();
    while !ended.load(Ordering::Relaxed) {
        spilled.note(upload(&target, &request).await);
        sleep(PAUSE).await;
    }
    spilled
}

async fn upload(target: &Target, request: &[u8]) -> Result<Upload, String> {
    let uploading = async {
        let mut wire = Wire::connect(target).await?;
        let answer = wire.exchange(request).await?;
        Ok((answer.status, String::from_utf8_lossy(answer.body).into_owned()))
    };
    match timeout(MAX_WAIT, uploading).await {
        Err(_) => Err(format!("an upload got no answer in {} s", MAX_WAIT.as_secs())),
        Ok(Ok((status, body))) => judged(status, &body),
        Ok(Err(Failed { failure: Failure::Closed, .. })) => Ok(Upload::BrokenOff),
        Ok(Err(Failed { failure, detail })) => Err(format!("an upload: {}: {detail}", failure.name())),
    }
}

fn judged(status: u16, body: &str) -> Result<Upload, String> {
    match status {
        200 if body.contains(&format!("<count>{WANTED}</count>")) => Ok(Upload::Stored),
        500 if body.contains("a part could not be stored") => Ok(Upload::Refused),
        _ => Err(format!("an upload got status {status}: {}", body.chars().take(300).collect::<String>())),
    }
}

/// Returns a request whose message refers to the last part, so that the one before it must be kept.
fn request(kept: usize) -> Vec<u8> {
    let part = |kind: &str, id: &str| format!("--b\r\nContent-Type: {kind}\r\nContent-ID: <{id}>\r\n\r\n");
    let message = "<S:Envelope xmlns:S=\"http://schemas.xmlsoap.org/soap/envelope/\"><S:Body>\
                   <b:sendAttachment xmlns:b=\"urn:bench\"><name>spill</name><data>\
                   <x:Include xmlns:x=\"http://www.w3.org/2004/08/xop/include\" href=\"cid:wanted\"/>\
                   </data></b:sendAttachment></S:Body></S:Envelope>";
    let mut body = part("application/xop+xml; charset=UTF-8; type=\"text/xml\"", "root").into_bytes();
    body.extend_from_slice(message.as_bytes());
    for (id, len) in [("kept", kept), ("wanted", WANTED)] {
        body.extend_from_slice(b"\r\n");
        body.extend_from_slice(part("application/octet-stream", id).as_bytes());
        body.resize(body.len() + len, b'x');
    }
    body.extend_from_slice(b"\r\n--b--\r\n");
    let head = format!(
        "POST /bench HTTP/1.1\r\nHost: spills\r\nSOAPAction: \"\"\r\nContent-Length: {}\r\nContent-Type: multipart/related; \
         boundary=b; type=\"application/xop+xml\"; start=\"<root>\"; start-info=\"text/xml\"\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_is_stored_or_refused_and_all_else_is_wrong() {
        assert_eq!(judged(200, "<r><count>1000</count></r>"), Ok(Upload::Stored));
        assert_eq!(judged(500, "<f>a part could not be stored</f>"), Ok(Upload::Refused));
        assert!(judged(200, "<r><count>999</count></r>").is_err() && judged(500, "").is_err());
        let mut spilled = Spilled::default();
        spilled.note(Ok(Upload::Stored));
        assert_eq!(spilled.complaints().len(), 1, "nothing was refused");
        spilled.note(Ok(Upload::Refused));
        assert_eq!(spilled.complaints().len(), 0);
        spilled.note(judged(404, ""));
        assert_eq!(spilled.complaints().len(), 1);
    }
}

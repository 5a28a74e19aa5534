//! Clients that misbehave, as real ones do: their process dies, their network goes away, they are
//! slow, or what they send is broken. Each has a connection of its own for each request.
//!
//! What they do must not matter to others. If they are answered, the answer must be right, or a
//! refusal.

use crate::traffic::{Echo, Echoes};
use anyhow::{Context, Result};
use deltasoap_load::runtime;
use deltasoap_test_support::Chance;
use serde::Serialize;
use socket2::SockRef;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// A client that is not answered within this time has found a server that hangs.
const MAX_WAIT: Duration = Duration::from_secs(90);
/// Pause between two requests of a client, in milliseconds.
const PAUSE: (usize, usize) = (5, 50);
/// Wrong answers that are kept in full.
const MAX_COMPLAINTS: usize = 10;

/// How a client misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// It is killed while it sends.
    KilledSending,
    /// It is killed while it is answered.
    KilledReading,
    /// It ends its side of the connection after the request.
    HalfClosed,
    /// It sends in small pieces with pauses.
    Slow,
    /// It stops in the middle of the request, and waits.
    Stopped,
    /// Bytes of the request's body are wrong.
    WrongBytes,
    /// The request is shorter than announced.
    Truncated,
    /// It does not speak HTTP.
    Garbage,
}

const FAULTS: [Fault; 8] = [
    Fault::KilledSending,
    Fault::KilledReading,
    Fault::HalfClosed,
    Fault::Slow,
    Fault::Stopped,
    Fault::WrongBytes,
    Fault::Truncated,
    Fault::Garbage,
];

/// What bad clients did and found.
#[derive(Debug, Default, Serialize)]
pub struct Troubled {
    /// Requests of each kind, and how many of them were answered.
    pub requests: BTreeMap<Fault, (u64, u64)>,
    /// Wrong answers, and servers that hang.
    pub complaints: Vec<String>,
}

/// Clients that send a whole and valid request, if in another way.
const VALID: [Fault; 2] = [Fault::HalfClosed, Fault::Slow];

impl Troubled {
    /// Returns what is wrong: the complaints, and valid requests that get no answer.
    pub fn complaints(&self) -> Vec<String> {
        let unanswered = |fault: &Fault| {
            let (made, answered) = *self.requests.get(fault)?;
            (answered < made / 2).then(|| format!("{fault:?}: only {answered} of {made} valid requests were answered"))
        };
        self.complaints.iter().cloned().chain(VALID.iter().filter_map(unanswered)).collect()
    }

    fn note(&mut self, fault: Fault, outcome: Result<bool, String>) {
        let (made, answered) = self.requests.entry(fault).or_default();
        *made += 1;
        match outcome {
            Ok(is_answered) => *answered += u64::from(is_answered),
            Err(_) if self.complaints.len() >= MAX_COMPLAINTS => {}
            Err(complaint) => self.complaints.push(format!("a client of the kind {fault:?}: {complaint}")),
        }
    }

    fn add(&mut self, other: Troubled) {
        for (fault, (made, answered)) in other.requests {
            let sum = self.requests.entry(fault).or_default();
            *sum = (sum.0 + made, sum.1 + answered);
        }
        self.complaints.extend(other.complaints);
    }
}

/// Bad clients, in a thread of their own.
#[derive(Debug)]
pub struct Trouble {
    has_ended: Arc<AtomicBool>,
    thread: JoinHandle<Troubled>,
}

impl Trouble {
    /// Starts some clients.
    pub fn start(echoes: &Echoes, server: SocketAddr, clients: usize, seed: u64) -> Result<Self> {
        let has_ended = Arc::new(AtomicBool::new(false));
        let (ended, echoes, runtime) = (Arc::clone(&has_ended), echoes.clone(), runtime()?);
        let thread = thread::spawn(move || {
            runtime.block_on(async move {
                let mut all = JoinSet::new();
                for client in 0..clients {
                    let chance = Chance::new(seed, client as u64);
                    all.spawn(misbehave(echoes.clone(), server, chance, Arc::clone(&ended)));
                }
                let mut troubled = Troubled::default();
                while let Some(of_one) = all.join_next().await {
                    match of_one {
                        Ok(of_one) => troubled.add(of_one),
                        Err(error) => troubled.complaints.push(error.to_string()),
                    }
                }
                troubled
            })
        });
        Ok(Trouble { has_ended, thread })
    }

    /// Ends the clients; returns what they found.
    pub fn end(self) -> Result<Troubled> {
        self.has_ended.store(true, Ordering::Relaxed);
        self.thread.join().ok().context("the bad clients panicked")
    }
}

async fn misbehave(echoes: Echoes, server: SocketAddr, mut chance: Chance, ended: Arc<AtomicBool>) -> Troubled {
    let mut troubled = Troubled::default();
    while !ended.load(Ordering::Relaxed) {
        let fault = *chance.pick(&FAULTS);
        let outcome = timeout(MAX_WAIT, client(&echoes, server, fault, &mut chance)).await;
        let outcome = outcome.unwrap_or_else(|_| Err(format!("no answer in {} s", MAX_WAIT.as_secs())));
        troubled.note(fault, outcome);
        pause(&mut chance, PAUSE).await;
    }
    troubled
}

async fn pause(chance: &mut Chance, (low, high): (usize, usize)) {
    sleep(Duration::from_millis(chance.between(low, high) as u64)).await;
}

/// Makes one request. Returns true if it was answered, and rightly.
async fn client(echoes: &Echoes, server: SocketAddr, fault: Fault, chance: &mut Chance) -> Result<bool, String> {
    // The server may refuse or end any of these connections.
    let Ok(mut stream) = TcpStream::connect(server).await else { return Ok(false) };
    let answer = match fault {
        Fault::KilledSending => killed_sending(&mut stream, echoes.any(chance), chance).await.map(|()| None),
        Fault::KilledReading => killed_reading(&mut stream, echoes.long(chance), chance).await.map(|()| None),
        Fault::Stopped => stopped(&mut stream, echoes.any(chance), chance).await.map(|()| None),
        Fault::HalfClosed => {
            let echo = echoes.any(chance);
            half_closed(&mut stream, &echo.last_request).await.map(|answer| Some((Some(echo), answer)))
        }
        Fault::Slow => {
            let echo = echoes.short(chance);
            slow(&mut stream, echo, chance).await.map(|answer| Some((Some(echo), answer)))
        }
        Fault::WrongBytes => {
            let request = wrong_bytes(echoes.any(chance), chance);
            whole(&mut stream, &request).await.map(|answer| Some((None, answer)))
        }
        Fault::Truncated => {
            let request = &echoes.any(chance).last_request;
            let cut = chance.between(1, request.len() - 1);
            half_closed(&mut stream, &request[..cut]).await.map(|answer| Some((None, answer)))
        }
        Fault::Garbage => {
            let bytes = chance.between(1, 5000);
            half_closed(&mut stream, &chance.bytes(bytes)).await.map(|answer| Some((None, answer)))
        }
    };
    let Ok(Some((echo, bytes))) = answer else { return Ok(false) };
    judged(echoes, fault, echo, &bytes)
}

/// Judges an answer: it must be right, or a refusal. Nothing is no answer, nor is one that was broken
/// off.
fn judged(echoes: &Echoes, fault: Fault, echo: Option<&Echo>, bytes: &[u8]) -> Result<bool, String> {
    let Some((status, body)) = answer(bytes)? else { return Ok(false) };
    match (echo, fault) {
        (None, Fault::Truncated | Fault::Garbage) if status < 400 => Err(format!("answered with status {status}")),
        // A server may be busy (503), but has nothing to complain of.
        (Some(_), _) if status >= 500 && status != 503 => Err(format!("refused with status {status}")),
        (Some(echo), _) if status < 400 => {
            let checked = echoes.check(echo, status, &body).map(|()| true);
            checked.map_err(|failed| format!("{}: {}", failed.failure.name(), failed.detail))
        }
        _ => Ok(true),
    }
}

/// Closes a connection as the death of a process with unread data does.
fn kill(stream: &TcpStream) -> io::Result<()> {
    SockRef::from(stream).set_linger(Some(Duration::ZERO))
}

async fn killed_sending(stream: &mut TcpStream, echo: &Echo, chance: &mut Chance) -> io::Result<()> {
    let cut = chance.between(1, echo.request.len() - 1);
    stream.write_all(&echo.request[..cut]).await?;
    pause(chance, (0, 20)).await;
    kill(stream)
}

async fn killed_reading(stream: &mut TcpStream, echo: &Echo, chance: &mut Chance) -> io::Result<()> {
    stream.write_all(&echo.request).await?;
    let mut buffer = vec![0; chance.between(1, 200_000)];
    // A short read is enough.
    let _ = stream.read(&mut buffer).await?;
    kill(stream)
}

async fn stopped(stream: &mut TcpStream, echo: &Echo, chance: &mut Chance) -> io::Result<()> {
    let cut = chance.between(1, echo.request.len() - 1);
    stream.write_all(&echo.request[..cut]).await?;
    pause(chance, (1000, 5000)).await;
    Ok(())
}

async fn slow(stream: &mut TcpStream, echo: &Echo, chance: &mut Chance) -> io::Result<Vec<u8>> {
    let piece = echo.last_request.len() / 20 + 1;
    for piece in echo.last_request.chunks(piece) {
        stream.write_all(piece).await?;
        pause(chance, (5, 100)).await;
    }
    rest(stream).await
}

async fn half_closed(stream: &mut TcpStream, request: &[u8]) -> io::Result<Vec<u8>> {
    stream.write_all(request).await?;
    stream.shutdown().await?;
    rest(stream).await
}

async fn whole(stream: &mut TcpStream, request: &[u8]) -> io::Result<Vec<u8>> {
    stream.write_all(request).await?;
    rest(stream).await
}

async fn rest(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await?;
    Ok(bytes)
}

/// Returns a request with some other bytes in its body.
fn wrong_bytes(echo: &Echo, chance: &mut Chance) -> Vec<u8> {
    let mut request = echo.last_request.clone();
    let body = head_len(&request).unwrap_or(0);
    for _ in 0..chance.between(1, 5) {
        let at = chance.between(body, request.len() - 1);
        request[at] = chance.below(256) as u8;
    }
    request
}

fn head_len(message: &[u8]) -> Option<usize> {
    message.windows(4).position(|bytes| bytes == b"\r\n\r\n").map(|at| at + 4)
}

/// Returns status and body of an answer; `None` if there is none, or it was broken off.
pub fn answer(bytes: &[u8]) -> Result<Option<(u16, Vec<u8>)>, String> {
    let Some(head) = head_len(bytes) else { return Ok(None) };
    let (head, body) = bytes.split_at(head);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let status = head.strip_prefix("http/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let status = status.ok_or_else(|| format!("not HTTP: {:?}", head.lines().next()))?;
    if status == 100 {
        return answer(body);
    }
    let length = |line: &str| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok();
    let body = match head.lines().find_map(length) {
        _ if head.contains("transfer-encoding: chunked") => unchunked(body),
        Some(length) if body.len() > length => return Err("bytes after the answer".to_owned()),
        Some(length) => Some(body.to_vec()).filter(|body| body.len() == length),
        None => Some(body.to_vec()),
    };
    Ok(body.map(|body| (status, body)))
}

/// Returns the content of chunks; `None` if they were broken off.
fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|bytes| bytes == b"\r\n")?;
        let size = std::str::from_utf8(&rest[..line]).ok()?.split(';').next()?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        let start = line + 2;
        body.extend_from_slice(rest.get(start..start + size)?);
        rest = rest.get(start + size + 2..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_answers_are_complaints() {
        let echoes = Echoes::new(crate::traffic::Form::Json, SocketAddr::from(([127, 0, 0, 1], 1)));
        let judge = |fault, is_valid: bool, status: u16| {
            let echo = echoes.short(&mut Chance::seeded(1));
            let bytes = format!("HTTP/1.1 {status} x\r\nContent-Length: 2\r\n\r\n{{}}");
            judged(&echoes, fault, is_valid.then_some(echo), bytes.as_bytes())
        };
        assert!(judge(Fault::Truncated, false, 200).is_err() && judge(Fault::Garbage, false, 200).is_err());
        assert_eq!((judge(Fault::Truncated, false, 400), judge(Fault::WrongBytes, false, 200)), (Ok(true), Ok(true)));
        assert!(judge(Fault::Slow, true, 500).is_err() && judge(Fault::HalfClosed, true, 200).is_err());
        let mut troubled = Troubled::default();
        (0..4).for_each(|_| troubled.note(Fault::Slow, Ok(false)));
        assert_eq!(troubled.complaints().len(), 1);
        (0..4).for_each(|_| troubled.note(Fault::Slow, Ok(true)));
        assert_eq!(troubled.complaints(), [""; 0]);
    }

    #[test]
    fn answers_are_whole_or_none() {
        let text = |body: &str| body.as_bytes().to_vec();
        for (bytes, expected) in [
            ("", Ok(None)),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Ok(Some((200, text("ok"))))),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no", Ok(None)),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 400 Bad\r\n\r\nno", Ok(Some((400, text("no"))))),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n3;x=y\r\nay!\r\n0\r\n\r\n",
                Ok(Some((200, text("okay!")))),
            ),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", Ok(None)),
        ] {
            assert_eq!(answer(bytes.as_bytes()), expected, "{bytes}");
        }
        assert!(answer(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokay").is_err());
        assert!(answer(b"SSH-2.0\r\n\r\n").is_err());
    }
}

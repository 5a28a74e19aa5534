//! Up- and download of a large MTOM part: client and server in one process, over loopback, neither
//! of which holds the part.
//!
//! It runs in a separate process (the hidden command `mtom`), whose memory is that of the transfer
//! alone.

use std::env;
use std::io;
use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use deltasoap::attachments::{AttachmentError, Attachments, Mtom, Part};
use deltasoap::client::CallOptions;
use deltasoap::server::Reply;
use deltasoap::{Binary, Client, Context as Call, Fault, Lease, Server, Soap, SoapService};
use futures_util::{Stream, stream};
use serde::{Deserialize, Serialize};

use super::{server, usage::Usage};

/// What to transfer.
#[derive(Debug, clap::Args)]
pub struct MtomArguments {
    /// Size of the part in 10^6 bytes
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub megabytes: u64,
    /// Number of transfers in each direction
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub rounds: usize,
}

/// The results.
#[derive(Debug, Serialize, Deserialize)]
pub struct Transfer {
    /// 10^6 bytes per second to the server, in each round.
    pub up: Vec<f64>,
    /// 10^6 bytes per second to the client, in each round.
    pub down: Vec<f64>,
    /// Peak resident memory of client and server together in bytes.
    pub peak_bytes: u64,
}

/// Number of bytes that a stream yields at a time.
const PIECE: usize = 256 << 10;
/// One in this many bytes is added up, so that the transport dominates the time.
const STRIDE: usize = 4096;

/// Transfers a part in a separate process, on all cores.
///
/// # Errors
/// When that process fails.
pub fn measure(megabytes: u64) -> Result<Transfer> {
    let own = env::current_exe().context("the path of this program is unknown")?;
    let mut command = Command::new(own);
    command.args(["mtom", "--megabytes", &megabytes.to_string()]);
    let output = server::on_all_cores(move || command.output())?.context("cannot start this program again")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).context("unexpected output")
}

/// Runs the command `mtom`: prints a [`Transfer`].
///
/// # Errors
/// When a transfer fails, or bytes are missing.
pub fn run(arguments: &MtomArguments) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let transfer = runtime.block_on(transfer(arguments))?;
    println!("{}", serde_json::to_string(&transfer)?);
    Ok(())
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:store", message)]
struct Upload {
    content: Binary,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:store", message)]
struct Stored {
    bytes: u64,
    sum: u64,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:store", message)]
struct Download {
    bytes: u64,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:store", message)]
struct Downloaded {
    content: Binary,
}

async fn transfer(arguments: &MtomArguments) -> Result<Transfer> {
    let client = Client::builder(format!("http://{}/", serve().await?)).timeout(Duration::from_secs(600)).build()?;
    let len = arguments.megabytes * 1_000_000;
    let mut transfer = Transfer { up: Vec::new(), down: Vec::new(), peak_bytes: 0 };
    for _ in 0..arguments.rounds {
        transfer.up.push(rate(len, upload(&client, len).await?));
        transfer.down.push(rate(len, download(&client, len).await?));
    }
    transfer.peak_bytes = Usage::own()?.peak;
    Ok(transfer)
}

fn rate(len: u64, time: Duration) -> f64 {
    len as f64 / 1e6 / time.as_secs_f64()
}

async fn serve() -> Result<SocketAddr> {
    let service = SoapService::builder().operation(receive_upload).operation(send_download).build()?;
    let server = Server::bind("127.0.0.1:0").await?;
    let address = server.local_addr()?;
    tokio::spawn(server.serve(service));
    Ok(address)
}

async fn upload(client: &Client, len: u64) -> Result<Duration> {
    let (start, part) = (Instant::now(), part(len));
    let request = Upload { content: part.binary() };
    let options = CallOptions::new().mtom(Mtom::On).part(part);
    let stored = client.call_as_with::<Stored>(&request, options).await?.body;
    let time = start.elapsed();
    ensure!((stored.bytes, stored.sum) == (len, sum_of(len)), "the server got {} bytes, not {len}", stored.bytes);
    Ok(time)
}

async fn download(client: &Client, len: u64) -> Result<Duration> {
    let (start, request) = (Instant::now(), Download { bytes: len });
    let mut response = client.call_as_with::<Downloaded>(&request, CallOptions::new().mtom(Mtom::On)).await?;
    let (bytes, sum) = sum_bytes(&response.body.content, &mut response.attachments).await?;
    let time = start.elapsed();
    ensure!((bytes, sum) == (len, sum_of(len)), "the client got {bytes} bytes, not {len}");
    Ok(time)
}

/// Reads a part as it arrives.
async fn receive_upload(mut call: Call, upload: Lease<Upload>) -> Result<Stored, AttachmentError> {
    let (bytes, sum) = sum_bytes(&upload.content, call.attachments()).await?;
    Ok(Stored { bytes, sum })
}

/// Creates a part while it is sent.
async fn send_download(download: Lease<Download>) -> Result<Reply<Downloaded>, Fault> {
    let part = part(download.bytes);
    Ok(Reply::new(Downloaded { content: part.binary() }).with_part(part))
}

/// Returns the length of a part, and the sum of the bytes at multiples of [`STRIDE`].
async fn sum_bytes(content: &Binary, attachments: &mut Attachments) -> Result<(u64, u64), AttachmentError> {
    let Binary::Part(uri) = content else { return Ok((0, 0)) };
    let mut part = attachments.find(uri).await?;
    let (mut bytes, mut sum) = (0, 0);
    while let Some(chunk) = part.chunk().await? {
        let first = (STRIDE - bytes % STRIDE) % STRIDE;
        sum += chunk.iter().skip(first).step_by(STRIDE).map(|&byte| u64::from(byte)).sum::<u64>();
        bytes += chunk.len();
    }
    Ok((bytes as u64, sum))
}

fn part(len: u64) -> Part {
    Part::stream("content@store", "application/octet-stream", content(len)).with_len(len)
}

/// Returns the byte at a position within a chunk.
fn byte(index: usize) -> u8 {
    (index / STRIDE * 31 + index) as u8
}

/// Returns the expected sum of [`sum_bytes`].
fn sum_of(len: u64) -> u64 {
    (0..len).step_by(STRIDE).map(|at| u64::from(byte((at % PIECE as u64) as usize))).sum()
}

/// Returns a stream of this many bytes, whose chunks share memory.
fn content(len: u64) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let piece: Bytes = (0..PIECE).map(byte).collect::<Vec<_>>().into();
    stream::unfold((piece, len), async |(piece, left)| {
        let next = piece.slice(..piece.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
        let left = left - next.len() as u64;
        (!next.is_empty()).then(|| (Ok(next), (piece, left)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_comes_whole_both_ways() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let transfer = runtime.block_on(transfer(&MtomArguments { megabytes: 3, rounds: 2 })).unwrap();
        assert_eq!((transfer.up.len(), transfer.down.len()), (2, 2));
        assert!(transfer.peak_bytes > 0);
    }
}

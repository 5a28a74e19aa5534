//! A large part, streamed both ways with MTOM: uploaded and summed as it arrives, then downloaded.
//!
//! ```text
//! cargo run --release -p example-mtom -- [MEGABYTES]
//! ```
//!
//! Client and server run in one process and communicate over loopback. Neither holds the whole
//! part: one side generates the bytes as they are sent, the other sums them as they arrive. Prints
//! the throughput, and the process's peak memory.

use bytes::Bytes;
use deltasoap::attachments::{AttachmentError, Attachments, Mtom, Part};
use deltasoap::client::CallOptions;
use deltasoap::server::Reply;
use deltasoap::{Binary, Client, Context, Fault, Lease, Server, Soap, SoapService};
use futures_util::{Stream, stream};
use std::error::Error;
use std::io;
use std::time::{Duration, Instant};

#[derive(Debug, Soap)]
#[soap(namespace = "urn:store", message, response = Stored)]
struct Upload {
    name: String,
    content: Binary,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:store", message)]
struct Stored {
    bytes: u64,
    sum: u64,
    receipt: Binary,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:store", message, response = Downloaded)]
struct Download {
    bytes: u64,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:store", message)]
struct Downloaded {
    content: Binary,
}

const MEGABYTE: u64 = 1_000_000;
const PIECE: usize = 256 << 10;

/// Sums the part as it arrives.
async fn upload(mut context: Context, upload: Lease<Upload>) -> Result<Reply<Stored>, AttachmentError> {
    let (bytes, sum) = added_up(&upload.content, context.attachments()).await?;
    let receipt = Part::new("receipt@store", "text/plain", format!("{}: {bytes} bytes", upload.name));
    Ok(Reply::new(Stored { bytes, sum, receipt: receipt.binary() }).with_part(receipt))
}

/// Generates a part as it is sent.
async fn download(download: Lease<Download>) -> Result<Reply<Downloaded>, Fault> {
    let part = part(download.bytes);
    Ok(Reply::new(Downloaded { content: part.binary() }).with_part(part))
}

/// Returns the length of a value, and the sum of one byte in 4096: the transport is what is
/// measured.
async fn added_up(content: &Binary, attachments: &mut Attachments) -> Result<(u64, u64), AttachmentError> {
    let Binary::Part(uri) = content else { return Ok((0, 0)) };
    let mut part = attachments.find(uri).await?;
    let (mut bytes, mut sum) = (0, 0);
    while let Some(chunk) = part.chunk().await? {
        bytes += chunk.len() as u64;
        sum += chunk.iter().step_by(4096).map(|&byte| u64::from(byte)).sum::<u64>();
    }
    Ok((bytes, sum))
}

fn part(len: u64) -> Part {
    Part::stream("content@store", "application/octet-stream", content(len)).with_len(len)
}

/// Streams `len` bytes in pieces, which all share the memory of one piece.
fn content(len: u64) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let piece: Bytes = (0..PIECE).map(|index| (index * 31 / 7) as u8).collect::<Vec<_>>().into();
    stream::unfold((piece, len), async |(piece, left)| {
        let next = piece.slice(..piece.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
        let left = left - next.len() as u64;
        (!next.is_empty()).then(|| (Ok(next), (piece, left)))
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let megabytes: u64 = std::env::args().nth(1).map_or(Ok(1000), |text| text.parse())?;
    exchange(megabytes * MEGABYTE).await
}

/// Sends `len` bytes both ways, three times.
async fn exchange(len: u64) -> Result<(), Box<dyn Error>> {
    let service = SoapService::builder().operation(upload).operation(download).build()?;
    let server = Server::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", server.local_addr()?);
    tokio::spawn(server.serve(service));

    let client = Client::builder(url).timeout(Duration::from_secs(600)).build()?;
    for _ in 0..3 {
        let start = Instant::now();
        let part = part(len);
        let request = Upload { name: "content".to_owned(), content: part.binary() };
        let mut response = client.call_with(&request, CallOptions::new().mtom(Mtom::On).part(part)).await?;
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!(response.body.bytes, len);
        let receipt = response.attachments.bytes(&response.body.receipt).await?;
        print(&format!("up, {}", String::from_utf8_lossy(&receipt)), len, seconds);

        let start = Instant::now();
        let request = Download { bytes: len };
        let mut response = client.call_with(&request, CallOptions::new().mtom(Mtom::On)).await?;
        let (bytes, _) = added_up(&response.body.content, &mut response.attachments).await?;
        assert_eq!(bytes, len);
        print(&format!("down: {bytes} bytes"), len, start.elapsed().as_secs_f64());
    }
    println!("peak memory: {}", peak().unwrap_or_else(|| "not known".to_owned()));
    Ok(())
}

fn print(what: &str, len: u64, seconds: f64) {
    println!("{what}, {seconds:.2} s, {:.0} MB/s", len as f64 / MEGABYTE as f64 / seconds);
}

/// Returns the peak resident memory of the process, if the system reports it.
fn peak() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.trim_start_matches("VmHWM:").trim().to_owned())
}

#[cfg(test)]
mod tests {
    #[tokio::test]
    async fn a_part_goes_both_ways() -> Result<(), Box<dyn std::error::Error>> {
        super::exchange(3_000_017).await
    }
}

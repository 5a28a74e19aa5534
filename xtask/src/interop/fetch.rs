//! HTTP to a server on this machine.

use std::io::{Read, Write};
use std::net::TcpStream;

use anyhow::{Context, Result, bail};

/// Returns the body of the response to a GET of an `http` URL.
pub fn get(url: &str) -> Result<String> {
    exchange(url, |host, path| format!("GET /{path} HTTP/1.0\r\nHost: {host}\r\n\r\n"))
}

/// Returns the body of the response to a POST of a body of this type, which is also the type of the
/// response.
pub fn post(url: &str, media: &str, body: &str) -> Result<String> {
    exchange(url, |host, path| {
        format!(
            "POST /{path} HTTP/1.0\r\nHost: {host}\r\nContent-Type: {media}\r\nAccept: {media}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    })
}

/// Sends a request, given by host and path, and returns the body of the response.
fn exchange(url: &str, request: impl FnOnce(&str, &str) -> String) -> Result<String> {
    let rest = url.strip_prefix("http://").with_context(|| format!("{url} is not an http URL"))?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(host).with_context(|| format!("nothing listens at {host}"))?;
    // In HTTP/1.0 bodies end with the connection, and are not chunked.
    stream.write_all(request(host, path).as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    match answer.split_once("\r\n\r\n") {
        Some((head, body)) if head.split(' ').nth(1) == Some("200") => Ok(body.to_owned()),
        _ => bail!("unexpected answer of {url}: {answer:.200}"),
    }
}

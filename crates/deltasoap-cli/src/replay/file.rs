//! One message file: an envelope as it is, or an HTTP request or response that carries one.

use bytes::Bytes;
use std::fs;
use std::path::Path;

/// Why a file gives no message.
pub type Reason = &'static str;

/// Reads a file's message.
///
/// # Errors
/// Why there is none.
pub fn read(path: &Path) -> Result<Bytes, Reason> {
    body(Bytes::from(fs::read(path).map_err(|_| "cannot be read")?))
}

/// The message in a file's content. A document begins with `<`, with white space or with a mark of its encoding, HTTP with a
/// letter.
pub fn body(content: Bytes) -> Result<Bytes, Reason> {
    let body = if content.first().is_some_and(u8::is_ascii_alphabetic) { http_body(content)? } else { content };
    if body.iter().all(u8::is_ascii_whitespace) { Err("empty") } else { Ok(body) }
}

/// Header fields at most.
const FIELDS: usize = 100;

fn http_body(content: Bytes) -> Result<Bytes, Reason> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let (length, fields) = head(&content, &mut fields).ok_or("neither XML nor HTTP")?;
    let body = content.slice(length..);
    if value(fields, "content-encoding").is_some_and(|coding| !coding.eq_ignore_ascii_case(b"identity")) {
        return Err("compressed");
    }
    if value(fields, "transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case(b"chunked")) {
        return dechunked(&body).map(Bytes::from).ok_or("chunked, and cut off");
    }
    Ok(body)
}

/// Length and fields of the head of a request or a response.
fn head<'h, 'b>(
    content: &'b [u8],
    fields: &'h mut [httparse::Header<'b>; FIELDS],
) -> Option<(usize, &'h [httparse::Header<'b>])> {
    if content.starts_with(b"HTTP/") {
        let mut response = httparse::Response::new(fields);
        let length = complete(response.parse(content))?;
        return Some((length, response.headers));
    }
    let mut request = httparse::Request::new(fields);
    let length = complete(request.parse(content))?;
    Some((length, request.headers))
}

fn complete<T>(parsed: httparse::Result<T>) -> Option<T> {
    match parsed {
        Ok(httparse::Status::Complete(parsed)) => Some(parsed),
        Ok(httparse::Status::Partial) | Err(_) => None,
    }
}

fn value<'a>(fields: &[httparse::Header<'a>], name: &str) -> Option<&'a [u8]> {
    fields.iter().find(|field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value.trim_ascii())
}

/// The content of a body in chunks (RFC 9112, 7.1).
fn dechunked(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    loop {
        let (start, size) = complete(httparse::parse_chunk_size(body).map_err(|_| httparse::Error::Token))?;
        if size == 0 {
            return Some(content);
        }
        let chunk = body.get(start..)?;
        let size = usize::try_from(size).ok()?;
        content.extend_from_slice(chunk.get(..size)?);
        body = chunk[size..].strip_prefix(b"\r\n")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(content: &[u8]) -> Result<Vec<u8>, Reason> {
        body(Bytes::copy_from_slice(content)).map(|body| body.to_vec())
    }

    #[test]
    fn a_document_is_taken_as_it_is() {
        for document in [&b"<x/>"[..], b" <x/>", b"\xEF\xBB\xBF<x/>", b"\xFF\xFE<\0x\0/\0>\0"] {
            assert_eq!(message(document), Ok(document.to_vec()));
        }
    }

    #[test]
    fn http_gives_its_body() {
        let request = b"POST /acs HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n<x/>";
        let response = b"HTTP/1.1 200 OK\nContent-Type: text/xml\n\n<x/>";
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\n<x\r\n2;a=b\r\n/>\r\n0\r\n\r\n";
        for http in [&request[..], response, chunked] {
            assert_eq!(message(http), Ok(b"<x/>".to_vec()));
        }
    }

    #[test]
    fn what_holds_no_message_is_told_apart() {
        assert_eq!(message(b""), Err("empty"));
        assert_eq!(message(b"POST / HTTP/1.1\r\n\r\n"), Err("empty"));
        assert_eq!(message(b"once upon a time"), Err("neither XML nor HTTP"));
        assert_eq!(message(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nxyz"), Err("compressed"));
        let cut = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFF\r\n<x";
        assert_eq!(message(cut), Err("chunked, and cut off"));
        assert_eq!(read(Path::new("/no/such/file")), Err("cannot be read"));
    }
}

//! Message files. A file holds an envelope, or something that carries one: an HTTP request or
//! response; a package of parts (MIME, MTOM, DIME) after its `Content-Type` line or, for MIME,
//! without it; or any of these in gzip.
//!
//! Recorded files do not always equal what was sent: `curl -i` writes the heads of interim answers,
//! of redirects and of proxies before the last one, the version of HTTP/2 without a minor version,
//! and the body without chunks, and with `--compressed` also without gzip.

use bytes::Bytes;
use deltasoap_core::PartUri;
use deltasoap_http::{AttachmentLimits, Attachments, PartHeaders, self_described};
use flate2::bufread::GzDecoder;
use http_body_util::Full;
use std::borrow::Cow;
use std::io::Read;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Why a file has no message.
pub type Reason = Cow<'static, str>;

/// A message, and the parts that came with it.
#[derive(Debug, Default)]
pub struct Message {
    /// The envelope.
    pub bytes: Bytes,
    parts: Vec<(PartHeaders, Bytes)>,
}

impl Message {
    /// Returns true if parts came with the message.
    pub fn has_parts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Returns the bytes of the part that a URI refers to.
    pub fn part(&self, uri: &PartUri) -> Option<&Bytes> {
        self.parts.iter().find(|(headers, _)| headers.is_at(uri)).map(|(_, bytes)| bytes)
    }
}

/// Returns the message in a file's content. A document begins with `<`, white space or a byte order
/// mark, a package with `--`, HTTP and header lines with a letter.
///
/// # Errors
/// Returns the reason if there is none.
pub fn message(content: Bytes) -> Result<Message, Reason> {
    message_within(content, INFLATED)
}

/// Like [`message`], with another maximum for the number of bytes after decompression. It is 1 GiB
/// otherwise.
///
/// # Errors
/// Returns the reason if there is no message, or a larger one.
pub fn message_within(content: Bytes, most: u64) -> Result<Message, Reason> {
    let content = if content.starts_with(&GZIP) { inflated(&content, most)? } else { content };
    let (media_type, body) = match content.first() {
        Some(first) if first.is_ascii_alphabetic() => carried(&content, most)?,
        _ => (None, content),
    };
    let of_package = media_type.clone().filter(|media_type| is_of_a_package(media_type)).or_else(|| boundary(&body));
    let message = match (of_package, media_type) {
        (Some(media_type), _) => at_once(package(&media_type, body))?,
        (None, Some(media_type)) => Message { bytes: in_charset(&media_type, body)?, parts: Vec::new() },
        (None, None) => Message { bytes: body, parts: Vec::new() },
    };
    if message.bytes.iter().all(u8::is_ascii_whitespace) { Err("empty".into()) } else { Ok(message) }
}

/// The first bytes of each member of a gzip stream (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Maximum number of bytes after decompression.
const INFLATED: u64 = 1 << 30;

/// Decompresses all members of a gzip stream. flate2's own multi-member decoder is not used: it
/// takes other bytes after a member for a broken member.
fn inflated(content: &[u8], most: u64) -> Result<Bytes, Reason> {
    let (mut rest, mut inflated) = (content, Vec::new());
    loop {
        let room = most.saturating_add(1) - inflated.len() as u64;
        let mut member = GzDecoder::new(rest).take(room);
        member.read_to_end(&mut inflated).map_err(|error| format!("not valid gzip: {error}"))?;
        if inflated.len() as u64 > most {
            return Err(format!("more than {most} bytes in gzip").into());
        }
        rest = member.into_inner().into_inner();
        match rest {
            [] => return Ok(Bytes::from(inflated)),
            _ if rest.starts_with(&GZIP) => {}
            _ => return Err("gzip, with other bytes after its end".into()),
        }
    }
}

/// Decompresses the coding `deflate`, which is zlib (RFC 9110, 8.4.1.2). Some servers send it without
/// the header of zlib.
fn deflated(content: &[u8], most: u64) -> Result<Bytes, Reason> {
    let has_header = matches!(content, [first, second, ..]
        if first & 0x0f == 8 && u16::from_be_bytes([*first, *second]) % 31 == 0);
    match has_header {
        true => whole(Ok(flate2::bufread::ZlibDecoder::new(content)), "deflate", most),
        false => whole(Ok(flate2::bufread::DeflateDecoder::new(content)), "deflate", most),
    }
}

/// Reads a decoder to its end.
fn whole(decoder: std::io::Result<impl Read>, coding: &str, most: u64) -> Result<Bytes, Reason> {
    let mut content = Vec::new();
    decoder
        .and_then(|decoder| decoder.take(most.saturating_add(1)).read_to_end(&mut content))
        .map_err(|error| format!("not valid {coding}: {error}"))?;
    match content.len() as u64 > most {
        true => Err(format!("more than {most} bytes in {coding}").into()),
        false => Ok(Bytes::from(content)),
    }
}

fn is_of_a_package(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence.starts_with("multipart/") || essence == "application/dime"
}

/// Returns the media type of a MIME package that has lost its headers; the boundary is in its first
/// line.
fn boundary(body: &[u8]) -> Option<String> {
    let line = body.trim_ascii_start().strip_prefix(b"--")?.split(|&byte| byte == b'\n').next()?;
    let boundary = std::str::from_utf8(line).ok()?.trim_ascii_end();
    let is_good = !boundary.is_empty() && boundary.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    is_good.then(|| format!("multipart/related; boundary=\"{}\"", boundary.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// Parses a package into its root and its other parts.
async fn package(media_type: &str, body: Bytes) -> Result<Message, Reason> {
    let wrong = |error| Reason::Owned(format!("not a valid package: {error}"));
    // The whole package is in memory already.
    let limits = AttachmentLimits { memory: usize::MAX, whole: usize::MAX, ..AttachmentLimits::default() };
    let mut package = Attachments::open(media_type, Full::new(body), limits).map_err(wrong)?;
    let root = package.root().await.map_err(wrong)?;
    let media_type = root.headers().content_type().unwrap_or_default().to_owned();
    let mut message =
        Message { bytes: in_charset(&media_type, root.bytes().await.map_err(wrong)?)?, parts: Vec::new() };
    while let Some(part) = package.next().await.map_err(wrong)? {
        let headers = part.headers().clone();
        message.parts.push((headers, part.bytes().await.map_err(wrong)?));
    }
    Ok(message)
}

/// Decodes a message by the `charset` of its media type.
fn in_charset(media_type: &str, body: Bytes) -> Result<Bytes, Reason> {
    self_described(media_type, body).map_err(|error| error.to_string().into())
}

/// Runs a future that never waits.
fn at_once<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return done;
        }
    }
}

/// Maximum number of header fields.
const FIELDS: usize = 100;

/// Returns the media type and the body of an HTTP message, or of content with MIME header lines.
fn carried(content: &Bytes, most: u64) -> Result<(Option<String>, Bytes), Reason> {
    let content = last_answer(content);
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let Some((length, fields)) = head(&content, &mut fields) else {
        let (length, media_type) = mime_head(&content).ok_or("neither XML nor HTTP")?;
        return Ok((Some(media_type), content.slice(length..)));
    };
    let mut body = content.slice(length..);
    let is_chunked = value(fields, "transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case(b"chunked"));
    let coding = value(fields, "content-encoding").map(<[u8]>::to_ascii_lowercase).unwrap_or_default();
    let is_gzip = coding.ends_with(b"gzip") && body.starts_with(&GZIP);
    if is_chunked && !is_undone(&body) && !is_gzip {
        body = dechunked(&body).map(Bytes::from).ok_or("chunked and truncated")?;
    }
    match &coding[..] {
        b"" | b"identity" => {}
        _ if is_undone(&body) => {}
        b"gzip" | b"x-gzip" => body = inflated(&body, most)?,
        b"deflate" => body = deflated(&body, most)?,
        #[cfg(feature = "tables")]
        b"zstd" => body = whole(zstd::stream::read::Decoder::new(&body[..]), "zstd", most)?,
        _ => return Err(format!("in the content coding {}", String::from_utf8_lossy(&coding)).into()),
    }
    let media_type = value(fields, "content-type").map(|value| String::from_utf8_lossy(value).into_owned());
    Ok((media_type, body))
}

/// Returns the content from the last of several heads on.
fn last_answer(content: &Bytes) -> Bytes {
    const HTTP: &[u8] = b"HTTP/";
    let mut content = content.clone();
    while content.starts_with(HTTP)
        && let Some((length, _)) = head(&content, &mut [httparse::EMPTY_HEADER; FIELDS])
        && content[length..].starts_with(HTTP)
    {
        content = content.slice(length..);
    }
    content
}

/// Returns true if the body is a document or a MIME package already, neither chunked nor
/// compressed.
fn is_undone(body: &[u8]) -> bool {
    let body = body.trim_ascii_start();
    [&b"<"[..], b"--", b"\xEF\xBB\xBF<", b"\xFE\xFF", b"\xFF\xFE"].iter().any(|start| body.starts_with(start))
}

/// Returns the length and the media type of MIME header lines. A line that begins with white space
/// continues the one before (RFC 5322, 2.2.3).
fn mime_head(content: &[u8]) -> Option<(usize, String)> {
    let (mut length, mut fields) = (0, Vec::<(String, String)>::new());
    for line in content.split_inclusive(|&byte| byte == b'\n') {
        length += line.len();
        let line = std::str::from_utf8(line).ok()?;
        match (line.trim_end(), fields.last_mut()) {
            ("", _) => break,
            (line, Some((_, value))) if line.starts_with([' ', '\t']) => value.push_str(line),
            (line, _) => {
                let (name, value) = line.split_once(':').filter(|(name, _)| !name.contains(char::is_whitespace))?;
                fields.push((name.to_owned(), value.trim().to_owned()));
            }
        }
    }
    let media_type = fields.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    Some((length, media_type?.1))
}

/// Returns the length and the fields of the head of a request or a response.
fn head<'h, 'b>(
    content: &'b [u8],
    fields: &'h mut [httparse::Header<'b>; FIELDS],
) -> Option<(usize, &'h [httparse::Header<'b>])> {
    if content.starts_with(b"HTTP/") {
        let status_line = content.iter().position(|&byte| byte == b'\n')? + 1;
        let (length, fields) = complete(httparse::parse_headers(&content[status_line..], fields))?;
        return Some((status_line + length, fields));
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

/// Decodes a chunked body (RFC 9112, 7.1); `None` if it is not one.
pub fn dechunked(mut body: &[u8]) -> Option<Vec<u8>> {
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
    use std::io::Write as _;

    fn message(content: &[u8]) -> Result<Vec<u8>, Reason> {
        super::message(Bytes::copy_from_slice(content)).map(|message| message.bytes.to_vec())
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).and_then(|()| encoder.finish()).expect("gzip")
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
    fn what_curl_writes_gives_its_body() {
        let response = "HTTP/2 200 \r\ncontent-type: text/xml\r\n\r\n<x/>";
        for before in [
            "",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.0 200 Connection established\r\n\r\nHTTP/1.1 301 Moved\r\nContent-Length: 5\r\nLocation: /a\r\n\r\n",
        ] {
            assert_eq!(message(format!("{before}{response}").as_bytes()), Ok(b"<x/>".to_vec()));
        }
        for undone in ["Transfer-Encoding: chunked", "Content-Encoding: gzip", "Content-Encoding: br"] {
            for body in ["<x/>", "\r\n<x/>"] {
                let response = format!("HTTP/1.1 200 OK\r\n{undone}\r\n\r\n{body}");
                assert_eq!(message(response.as_bytes()), Ok(body.as_bytes().to_vec()), "{undone}");
            }
        }
    }

    #[test]
    fn chunks_are_undone_where_gzip_is_not() {
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n";
        assert_eq!(message(&[&head[..], &gzip(b"<x/>")].concat()), Ok(b"<x/>".to_vec()));
    }

    #[test]
    fn the_charset_counts() {
        let response = |charset: &str, body: &[u8]| {
            message(
                &[format!("HTTP/1.1 200 OK\nContent-Type: text/xml; charset={charset}\n\n").as_bytes(), body].concat(),
            )
        };
        assert_eq!(response("iso-8859-1", b"<x>\xE4</x>"), Ok("<x>ä</x>".into()));
        assert_eq!(response("windows-1252", b"<x>\x80</x>"), Ok("<x>€</x>".into()));
        let declared = b"<?xml version='1.0' encoding='iso-8859-1'?><x>\xE4</x>";
        assert_eq!(response("iso-8859-1", declared), Ok(declared.to_vec()));
        assert_eq!(response("utf-8", "<x>ä</x>".as_bytes()), Ok("<x>ä</x>".into()));
        let error = response("utf-16", b"<x/>").expect_err("another encoding");
        assert!(error.contains("charset=utf-16, but the message is in UTF-8"), "{error}");
        let part = b"--B\r\nContent-Type: text/xml; charset=iso-8859-1\r\n\r\n<x>\xE4</x>\r\n--B--\r\n";
        assert_eq!(message(part), Ok("<x>ä</x>".into()));
    }

    #[test]
    fn what_holds_no_message_is_told_apart() {
        let why = |content: &[u8]| message(content).expect_err("no message").into_owned();
        assert_eq!(why(b""), "empty");
        assert_eq!(why(b"POST / HTTP/1.1\r\n\r\n"), "empty");
        for neither in ["once upon a time", "once: upon\n\n<x/>"] {
            assert_eq!(why(neither.as_bytes()), "neither XML nor HTTP");
        }
        assert!(why(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nxyz").starts_with("not valid gzip"));
        assert_eq!(why(b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\nxyz"), "in the content coding br");
        assert!(why(&gzip(b"<x/>")[..20]).starts_with("not valid gzip"));
        for rest in [&b"y"[..], &[0; 512], &GZIP[..1]] {
            assert_eq!(why(&[&gzip(b"<x/>")[..], rest].concat()), "gzip, with other bytes after its end");
        }
        let cut = [&gzip(b"<x")[..], &gzip(b"/>")[..20]].concat();
        assert!(why(&cut).starts_with("not valid gzip"));
        assert!(why(b"--B\r\n\r\n<x/>\r\n").starts_with("not a valid package"));
        let cut = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFF\r\n<x";
        assert_eq!(why(cut), "chunked and truncated");
    }

    #[test]
    fn gzip_is_undone() {
        let http = [&b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"[..], &gzip(b"<x/>")].concat();
        for content in [gzip(b"<x/>"), http.clone(), gzip(&http)] {
            assert_eq!(message(&content), Ok(b"<x/>".to_vec()));
        }
        let members = [gzip(b""), gzip(b"<x"), gzip(b""), gzip(b"/>"), gzip(b"").repeat(10_000)].concat();
        assert_eq!(message(&members), Ok(b"<x/>".to_vec()));
    }

    #[test]
    fn other_codings_are_undone() {
        let http = |coding: &str, body: &[u8]| {
            [format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n").as_bytes(), body].concat()
        };
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(b"<x/>").expect("zlib");
        let zlib = zlib.finish().expect("zlib");
        // The header has two bytes, the checksum four.
        let raw = &zlib[2..zlib.len() - 4];
        for body in [&zlib, raw] {
            assert_eq!(message(&http("Deflate", body)), Ok(b"<x/>".to_vec()));
            let cut = message(&http("deflate", &body[..body.len() / 2])).expect_err("truncated");
            assert!(cut.starts_with("not valid deflate: "), "{cut}");
        }
        let bomb = |coding: &str, body: &[u8]| message_within(Bytes::from(http(coding, body)), 3);
        assert_eq!(bomb("deflate", &zlib).expect_err("too large"), "more than 3 bytes in deflate");
        #[cfg(feature = "tables")]
        {
            let zstd = zstd::encode_all(&b"<x/>"[..], 1).expect("zstd");
            assert_eq!(message(&http("zstd", &zstd)), Ok(b"<x/>".to_vec()));
            assert_eq!(bomb("zstd", &zstd).expect_err("too large"), "more than 3 bytes in zstd");
            let cut = message(&http("zstd", &zstd[..zstd.len() - 2])).expect_err("truncated");
            assert!(cut.starts_with("not valid zstd: "), "{cut}");
        }
    }

    #[test]
    fn packages_give_their_root_and_their_parts() {
        let parts = "--B\r\nContent-ID: <p@x>\r\n\r\nabc\r\n--B\r\nContent-ID: <r@x>\r\n\r\n<x/>\r\n--B--\r\n";
        let start = "Content-Type: multipart/related; boundary=B;";
        let http = format!("POST / HTTP/1.1\r\n{start} start=\"<r@x>\"\r\n\r\n{parts}");
        let folded = format!("MIME-Version: 1.0\n{start}\n\tstart=\"<r@x>\"\n\n{parts}");
        for content in [http.clone().into_bytes(), folded.into_bytes(), gzip(http.as_bytes())] {
            let message = super::message(Bytes::from(content)).expect("a message");
            assert_eq!(message.bytes, "<x/>");
            assert_eq!(message.part(&PartUri::new("cid:p@x")).expect("a part"), "abc");
            assert!(message.part(&PartUri::new("cid:q@x")).is_none());
        }
        // Without its headers the first part is the root.
        let lost = "\r\n--B\r\n\r\n<x/>\r\n--B\r\nContent-ID: <p@x>\r\n\r\nabc\r\n--B--";
        let message = super::message(Bytes::from(lost)).expect("a message");
        assert_eq!((&message.bytes[..], message.parts.len()), (&b"<x/>"[..], 1));
    }
}

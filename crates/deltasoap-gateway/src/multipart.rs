//! Attachments: requests in `multipart/form-data`, responses in `multipart/mixed`.
//!
//! In a form, the field `request` is the request's JSON, and every other field is a part that is
//! sent with the SOAP message. The JSON refers to it by `{"$part": "cid:NAME"}`; a part that
//! nothing refers to is an attachment. A response has the JSON first, and then the parts with their
//! content IDs.

use crate::problem::Problem;
use bytes::{BufMut, Bytes, BytesMut};
use deltasoap_http::{BoxError, Part};
use http_body_util::BodyExt;
use multer::{Constraints, Multipart, SizeLimit};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The field with the request's JSON.
const REQUEST: &str = "request";
/// Maximum number of parts of a request.
const MAX_PARTS: usize = 1000;

/// A request with parts.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) json: Bytes,
    pub(crate) parts: Vec<Part>,
}

/// Returns the boundary of a form; `None` for other media types.
pub(crate) fn boundary(content_type: &str) -> Option<String> {
    multer::parse_boundary(content_type).ok()
}

/// Reads a form, which may have this many bytes and take this many seconds.
///
/// # Errors
/// If it is malformed, too long, or has no request.
pub(crate) async fn read<B>(body: B, boundary: String, limit: usize, seconds: u64) -> Result<Form, Problem>
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let reading = fields(body, boundary, limit);
    match tokio::time::timeout(Duration::from_secs(seconds), reading).await {
        Ok(form) => form,
        Err(_) => Err(Problem::slow(seconds)),
    }
}

async fn fields<B>(body: B, boundary: String, limit: usize) -> Result<Form, Problem>
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let size = SizeLimit::new().whole_stream(limit as u64);
    let stream = body.into_data_stream();
    let mut form = Multipart::with_constraints(stream, boundary, Constraints::new().size_limit(size));
    let (mut json, mut parts) = (None, Vec::new());
    while let Some(field) = form.next_field().await.map_err(|error| refused(&error, limit))? {
        let Some(name) = field.name().map(ToOwned::to_owned) else {
            return Err(Problem::malformed("a field of the form has no name"));
        };
        let media = field.content_type().map(ToString::to_string);
        let bytes = field.bytes().await.map_err(|error| refused(&error, limit))?;
        match &*name {
            REQUEST if json.is_some() => return Err(Problem::malformed("the form has several fields named request")),
            REQUEST => json = Some(bytes),
            _ if parts.len() == MAX_PARTS => {
                return Err(Problem::malformed(format!("the form has more than {MAX_PARTS} parts")));
            }
            name => parts.push(Part::new(name, media.as_deref().unwrap_or("application/octet-stream"), bytes)),
        }
    }
    let json = json.ok_or_else(|| Problem::malformed("the form has no field named request"))?;
    Ok(Form { json, parts })
}

fn refused(error: &multer::Error, limit: usize) -> Problem {
    match error {
        multer::Error::StreamSizeExceeded { .. } | multer::Error::FieldSizeExceeded { .. } => Problem::too_large(limit),
        multer::Error::StreamReadFailed(_) => Problem::incomplete("the connection broke"),
        error => Problem::malformed(format!("the form is malformed: {error}")),
    }
}

/// A part of a response.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) id: String,
    pub(crate) media: String,
    pub(crate) bytes: Bytes,
}

/// Writes a response with parts; returns its media type too.
pub(crate) fn write(json: &[u8], parts: &[Sent]) -> (String, Bytes) {
    let boundary = free_boundary(json, parts);
    let size = parts.iter().map(|part| part.bytes.len() + 256).sum::<usize>() + json.len() + 256;
    let mut out = BytesMut::with_capacity(size);
    part(&mut out, &boundary, "application/json", None, json);
    for sent in parts {
        part(&mut out, &boundary, &sent.media, Some(&sent.id), &sent.bytes);
    }
    out.put_slice(format!("--{boundary}--\r\n").as_bytes());
    (format!("multipart/mixed; boundary={boundary}"), out.freeze())
}

fn part(out: &mut BytesMut, boundary: &str, media: &str, id: Option<&str>, bytes: &[u8]) {
    // Neither may end the header.
    let plain = |text: &str| text.replace(|c: char| c.is_control() || c == '<' || c == '>', "");
    out.put_slice(format!("--{boundary}\r\nContent-Type: {}\r\n", plain(media)).as_bytes());
    if let Some(id) = id {
        out.put_slice(format!("Content-ID: <{}>\r\n", plain(id)).as_bytes());
    }
    out.put_slice(b"\r\n");
    out.put_slice(bytes);
    out.put_slice(b"\r\n");
}

/// Returns a boundary that is in none of the parts.
fn free_boundary(json: &[u8], parts: &[Sent]) -> String {
    let random = RandomState::new();
    let mut number = 0_u64;
    loop {
        let boundary = format!("part-{:016x}{:016x}", random.hash_one(number), random.hash_one(!number));
        let mut all = std::iter::once(json).chain(parts.iter().map(|part| &part.bytes[..]));
        if all.all(|bytes| !contains(bytes, boundary.as_bytes())) {
            return boundary;
        }
        number += 1;
    }
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    memchr::memmem::find(bytes, wanted).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::Full;

    #[tokio::test]
    async fn forms_have_a_request_and_parts() {
        let text = "--b\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\nPNG\r\n\
                    --b\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n{}\r\n--b--\r\n";
        let form = read(Full::from(text), "b".to_owned(), 1000, 5).await.expect("a form");
        assert_eq!((&form.json[..], form.parts.len(), form.parts[0].content_id()), (&b"{}"[..], 1, "photo"));
        let small = read(Full::from(text), "b".to_owned(), 50, 5).await.expect_err("too large");
        assert_eq!(small.status, http::StatusCode::PAYLOAD_TOO_LARGE);
        for text in ["--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n{}\r\n--b--\r\n", "--b", ""] {
            let error = read(Full::from(text), "b".to_owned(), 1000, 5).await.expect_err(text);
            assert_eq!(error.status, http::StatusCode::BAD_REQUEST);
        }
    }

    #[test]
    fn responses_have_the_json_first() {
        let parts = [Sent { id: "a>\r\nX: y".to_owned(), media: "image/png".to_owned(), bytes: "PNG".into() }];
        let (media, bytes) = write(b"{}", &parts);
        let boundary = media.strip_prefix("multipart/mixed; boundary=").expect("a boundary");
        let expected = format!(
            "--{boundary}\r\nContent-Type: application/json\r\n\r\n{{}}\r\n\
             --{boundary}\r\nContent-Type: image/png\r\nContent-ID: <aX: y>\r\n\r\nPNG\r\n--{boundary}--\r\n"
        );
        assert_eq!(bytes, expected);
    }
}

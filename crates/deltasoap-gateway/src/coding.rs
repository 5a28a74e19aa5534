//! Compressed bodies of requests.
//!
//! A gzip body may have several members (RFC 1952, 2.2): all are read, and bytes after them that are
//! none are an error. Otherwise a list in lines would end at the end of the first one, and part of it
//! would be taken for the whole.

use crate::problem::Problem;
use async_compression::tokio::bufread::GzipDecoder;
#[cfg(feature = "zstd")]
use async_compression::tokio::bufread::ZstdDecoder;
use bytes::Bytes;
use deltasoap_http::BoxError;
use futures_util::TryStreamExt;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use std::io;
use tokio::io::AsyncRead;
use tokio_util::io::{ReaderStream, StreamReader};

/// The codings of requests that are read, as they are called in HTTP.
const CODINGS: &str = if cfg!(feature = "zstd") { "gzip, zstd" } else { "gzip" };

/// Bytes that are decompressed at a time.
const PIECE: usize = 16 << 10;

/// Returns a body without its compression.
///
/// # Errors
/// If the coding is none of those that are read.
pub(crate) fn decoded<B>(headers: &HeaderMap, body: B) -> Result<UnsyncBoxBody<Bytes, BoxError>, Problem>
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let codings: Vec<_> = headers.get_all(CONTENT_ENCODING).iter().map(|value| value.to_str().unwrap_or("?")).collect();
    let coding = codings.join(", ").trim().to_ascii_lowercase();
    if coding.is_empty() || coding == "identity" {
        return Ok(body.map_err(Into::into).boxed_unsync());
    }
    let frames = body.into_data_stream().map_err(|error| io::Error::other(error.into()));
    let compressed = StreamReader::new(Box::pin(frames));
    match &*coding {
        "gzip" | "x-gzip" => {
            let mut decoder = GzipDecoder::new(compressed);
            decoder.multiple_members(true);
            Ok(read(decoder))
        }
        #[cfg(feature = "zstd")]
        "zstd" => {
            let mut decoder = ZstdDecoder::new(compressed);
            decoder.multiple_members(true);
            Ok(read(decoder))
        }
        _ => Err(Problem::coding(&coding, CODINGS)),
    }
}

fn read(decoder: impl AsyncRead + Send + 'static) -> UnsyncBoxBody<Bytes, BoxError> {
    let malformed = |error: io::Error| -> BoxError { format!("the compressed body is malformed: {error}").into() };
    let frames = ReaderStream::with_capacity(decoder, PIECE).map_ok(Frame::data).map_err(malformed);
    StreamBody::new(frames).boxed_unsync()
}

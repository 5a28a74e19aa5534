//! The server side.

use super::body::{FramesBody, ReadHalf, Returned};
use super::head::Head;
use super::reader::Reader;
use super::writer::Writer;
use super::{FramesError, Served, Stream, Terms};
use bytes::Bytes;
use http::header::CONNECTION;
use http::{Method, Request, Response, Uri};
use http_body::Body;
use std::future::poll_fn;
use std::time::Duration;

/// Maximum number of bytes read and discarded after a response whose request was not read, so that
/// the client can read the response.
const DRAINED: usize = 64 << 10;
/// Maximum time to wait for them.
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// Serves a stream to its end.
///
/// # Errors
/// Returns an error if the stream breaks, or its data are not frames.
pub(super) async fn serve<T: Stream, S: Served<FramesBody>>(
    stream: T,
    service: S,
    mut terms: Terms,
) -> Result<(), FramesError> {
    let (read, write) = tokio::io::split(stream);
    let (mut reader, mut writer) = (Reader::new(Box::new(read) as ReadHalf), Writer::new(write));
    let begins = within(terms.head_timeout(), reader.preface());
    if !begins.await? {
        return Ok(());
    }
    loop {
        let timeout = terms.head_timeout();
        let head = tokio::select! {
            biased;
            () = terms.stopped() => None,
            head = within(timeout, reader.head()) => head?,
        };
        let Some(head) = head else { return Ok(()) };
        let (request, returned) = request(head, reader)?;
        let response = service.answer(request).await;
        let is_last = response.headers().contains_key(CONNECTION);
        respond(&mut writer, response).await?;
        match returned.await {
            Ok(Returned { reader: next, is_at_end: true }) if !is_last => reader = next,
            Ok(returned) => return drain(returned).await,
            Err(_) => return Ok(()),
        }
    }
}

async fn within<T>(time: Duration, reading: impl Future<Output = Result<T, FramesError>>) -> Result<T, FramesError> {
    tokio::time::timeout(time, reading).await.unwrap_or(Err(FramesError::Timeout))
}

type IncomingRequest = (Request<FramesBody>, tokio::sync::oneshot::Receiver<Returned>);

fn request(head: Bytes, mut reader: Reader<ReadHalf>) -> Result<IncomingRequest, FramesError> {
    let (head, length) = Head::<Uri>::read(head)?;
    reader.announce(length);
    let (body, returned) = FramesBody::for_request(reader);
    let mut request = Request::new(body);
    *request.method_mut() = Method::POST;
    *request.uri_mut() = head.start;
    *request.headers_mut() = head.fields;
    Ok((request, returned))
}

async fn respond<W, B>(writer: &mut Writer<W>, response: Response<B>) -> Result<(), FramesError>
where
    W: tokio::io::AsyncWrite + Unpin,
    B: Body<Data = Bytes, Error: Into<crate::error::BoxError>>,
{
    let (parts, body) = response.into_parts();
    let head = Head { start: parts.status, fields: parts.headers };
    writer.send(&head.write(body.size_hint().exact())?, body).await
}

/// Reads the rest of a request, within a limit, before the stream ends.
async fn drain(Returned { mut reader, is_at_end }: Returned) -> Result<(), FramesError> {
    let draining = async {
        let mut left = DRAINED;
        while let Some(data) = poll_fn(|context| reader.poll_data(context)).await? {
            let Some(rest) = left.checked_sub(data.len()) else { break };
            left = rest;
        }
        Ok(())
    };
    if is_at_end { Ok(()) } else { tokio::time::timeout(DRAIN_TIME, draining).await.unwrap_or(Ok(())) }
}

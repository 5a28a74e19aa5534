//! The client side, and its connections.

use super::body::{FramesBody, ReadHalf, Sending, WriteHalf};
use super::head::Head;
use super::reader::Reader;
use super::writer::Writer;
use super::{Connector, Frames, FramesError};
use crate::body::Body;
use crate::error::BoxError;
use crate::transport::Unsent;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::uri::Authority;
use http::{Request, Response, StatusCode, Uri};
use http_body::Body as _;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use tokio::io::split;
use tower::Service;

/// Sends requests in [`Frames`] over the connections of a connector, and keeps the connections for
/// later requests.
pub struct FramesPool<C> {
    connector: C,
    settings: Frames,
    idle: Arc<Mutex<Vec<Idle>>>,
}

/// A connection between two exchanges.
struct Idle {
    authority: Option<Authority>,
    reader: Reader<ReadHalf>,
    writer: Writer<WriteHalf>,
    since: Instant,
}

impl<C: Clone> Clone for FramesPool<C> {
    fn clone(&self) -> Self {
        FramesPool { connector: self.connector.clone(), settings: self.settings, idle: Arc::clone(&self.idle) }
    }
}

impl<C> fmt::Debug for FramesPool<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FramesPool").field("settings", &self.settings).finish_non_exhaustive()
    }
}

fn lock(idle: &Mutex<Vec<Idle>>) -> MutexGuard<'_, Vec<Idle>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<C: Connector> FramesPool<C> {
    pub(super) fn new(connector: C, settings: Frames) -> Self {
        FramesPool { connector, settings, idle: Arc::default() }
    }

    async fn exchange(self, request: Request<Body>) -> Result<Response<FramesBody>, BoxError> {
        let (mut reader, writer) = match self.take(request.uri().authority()) {
            Some(idle) => (idle.reader, idle.writer),
            None => self.connect(request.uri()).await?,
        };
        let authority = request.uri().authority().cloned();
        let mut sending = send(writer, request)?;
        let head = match answer(&mut reader, &mut sending).await {
            Err(FramesError::Body(error)) => return Err(error),
            head => head?,
        };
        let (head, length) = Head::<StatusCode>::read(head)?;
        reader.announce(length);
        let keep = move |reader, writer| self.put(Idle { authority, reader, writer, since: Instant::now() });
        let mut response = Response::new(FramesBody::for_response(reader, sending, Box::new(keep)));
        *response.status_mut() = head.start;
        *response.headers_mut() = head.fields;
        Ok(response)
    }

    async fn connect(&self, url: &Uri) -> Result<(Reader<ReadHalf>, Writer<WriteHalf>), BoxError> {
        let stream = self.connector.connect(url).await.map_err(|error| Unsent(error.into()))?;
        let (read, write) = split(stream);
        let mut writer = Writer::new(Box::new(write) as WriteHalf);
        writer.preface();
        Ok((Reader::new(Box::new(read)), writer))
    }

    /// Takes a waiting connection that is still open.
    fn take(&self, authority: Option<&Authority>) -> Option<Idle> {
        let mut idle = lock(&self.idle);
        idle.retain(|idle| idle.since.elapsed() < self.settings.idle_timeout);
        while let Some(index) = idle.iter().rposition(|idle| idle.authority.as_ref() == authority) {
            let mut idle = idle.swap_remove(index);
            if idle.reader.is_idle(&mut Context::from_waker(Waker::noop())) {
                return Some(idle);
            }
        }
        None
    }

    fn put(&self, connection: Idle) {
        let mut idle = lock(&self.idle);
        if idle.len() < self.settings.idle {
            idle.push(connection);
        }
    }
}

/// Begins to send a request.
fn send(mut writer: Writer<WriteHalf>, request: Request<Body>) -> Result<Sending, FramesError> {
    let (parts, body) = request.into_parts();
    let head = Head { start: parts.uri, fields: parts.headers }.write(body.size_hint().exact())?;
    Ok(Sending::Running(Box::pin(async move {
        writer.send(&head, body).await?;
        Ok(writer)
    })))
}

/// Reads the head of the response, while the request is still being sent.
async fn answer(reader: &mut Reader<ReadHalf>, sending: &mut Sending) -> Result<Bytes, FramesError> {
    let mut failed = None;
    let head = {
        let mut reading = std::pin::pin!(reader.head());
        std::future::poll_fn(|context| {
            match sending.poll(context) {
                // The request's own error; no answer can help.
                Poll::Ready(Err(error @ FramesError::Body(_))) => return Poll::Ready(Err(error)),
                // A server may have answered early, before it closed the connection.
                Poll::Ready(Err(error)) => failed = Some(error),
                Poll::Ready(Ok(())) | Poll::Pending => {}
            }
            reading.as_mut().poll(context)
        })
        .await
    };
    match (head, failed) {
        (Ok(Some(head)), _) => Ok(head),
        (_, Some(error)) | (Err(error), None) => Err(error),
        (Ok(None), None) => Err(FramesError::Ended),
    }
}

impl<C: Connector> Service<Request<Body>> for FramesPool<C> {
    type Response = Response<FramesBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<FramesBody>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.clone().exchange(request))
    }
}

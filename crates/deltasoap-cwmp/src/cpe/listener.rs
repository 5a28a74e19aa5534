//! The CPE's side of connection requests (section 3.2.2.1).

use deltasoap::Server;
use deltasoap::server::{Authenticate, DigestUsers, ServerHandle};
use deltasoap::transport::Body;
use futures_util::future::{Ready, ready};
use http::header::{ALLOW, HeaderValue, WWW_AUTHENTICATE};
use http::{Method, Request, Response, StatusCode};
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tower::Service;

/// Maximum number of connection requests that are accepted in a [`PERIOD`].
const MAX_REQUESTS: usize = 20;
const PERIOD: Duration = Duration::from_secs(60);

/// Listens for connection requests, until it is dropped.
///
/// A request with the right name and password, by Digest with MD5, is accepted immediately with
/// status 200; the caller then has to begin the session. Others get 401, another path 404. Beyond
/// 20 per minute, requests are refused with 503.
#[derive(Debug)]
pub struct ConnectionRequests {
    url: String,
    accepted: mpsc::Receiver<()>,
    handle: ServerHandle,
}

impl ConnectionRequests {
    /// Listens on an address, at a random path.
    ///
    /// # Errors
    /// Returns an error if listening on the address fails, or the system has no random numbers.
    pub async fn bind(address: &str, user: &str, password: &str) -> io::Result<Self> {
        let server = Server::bind(address).await?;
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let path = format!("/{:032x}", u128::from_le_bytes(random));
        let url = format!("http://{}{path}", server.local_addr()?);
        // One queued request is enough: several requests are answered by one session (section
        // 3.2.2).
        let (sender, accepted) = mpsc::channel(1);
        let users = DigestUsers::new("CPE", [(user, password)]).md5();
        let endpoint = Endpoint { path, users, sender, recent: Mutex::default() };
        let handle = server.handle();
        tokio::spawn(async move {
            if let Err(error) = server.serve(ListenerService(Arc::new(endpoint))).await {
                tracing::error!(%error, "connection requests are no longer accepted");
            }
        });
        Ok(ConnectionRequests { url, accepted, handle })
    }

    /// Returns the `ConnectionRequestURL`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits for an accepted request.
    pub async fn next(&mut self) {
        if self.accepted.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for ConnectionRequests {
    fn drop(&mut self) {
        self.handle.shutdown();
    }
}

#[derive(Clone)]
struct ListenerService(Arc<Endpoint>);

/// Checks incoming requests.
struct Endpoint {
    path: String,
    users: DigestUsers,
    sender: mpsc::Sender<()>,
    /// Times of the requests accepted within the period.
    recent: Mutex<Vec<Instant>>,
}

impl<B> Service<Request<B>> for ListenerService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ready(Ok(self.0.answer(request)))
    }
}

impl Endpoint {
    fn answer<B>(&self, request: Request<B>) -> Response<Body> {
        let (parts, _) = request.into_parts();
        if parts.uri.path() != self.path {
            return status(StatusCode::NOT_FOUND);
        }
        if parts.method != Method::GET {
            let mut response = status(StatusCode::METHOD_NOT_ALLOWED);
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET"));
            return response;
        }
        if let Err(denial) = self.users.authenticate(&parts, None) {
            let mut response = status(denial.status());
            if let Some(challenge) = denial.challenge() {
                response.headers_mut().insert(WWW_AUTHENTICATE, challenge.clone());
            }
            return response;
        }
        if !self.has_room() {
            return status(StatusCode::SERVICE_UNAVAILABLE);
        }
        // If there is no room, a request is queued already.
        let _ = self.sender.try_send(());
        status(StatusCode::OK)
    }

    /// Records a request, unless there were too many recently.
    fn has_room(&self) -> bool {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.retain(|when| when.elapsed() < PERIOD);
        let has_room = recent.len() < MAX_REQUESTS;
        if has_room {
            recent.push(Instant::now());
        }
        has_room
    }
}

fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::default());
    *response.status_mut() = status;
    response
}

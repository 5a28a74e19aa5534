//! Connection requests: how an ACS asks a CPE to begin a session (section 3.2.2).

use bytes::Bytes;
use deltasoap::client::{Credentials, HttpTransport};
use deltasoap::transport::{Body, BoxError};
use http::header::AUTHORIZATION;
use http::{Method, Request, Response, StatusCode, Uri};
use std::fmt;
use std::time::Duration;
use tower::{Service, ServiceExt};

/// Maximum time to wait for a CPE. It answers immediately, before it begins a session.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Asks a CPE to begin a session: sends an HTTP `GET` with Digest authentication to its
/// `ConnectionRequestURL`. The CPE then begins the session, with the event `6 CONNECTION REQUEST`,
/// within about 30 seconds (section 3.2.2.2).
///
/// A CPE may refuse requests that come too often (section 3.2.2.1), so retry a little later, not
/// immediately. Waits at most 30 s.
///
/// The URL comes from the device: use [`connection_request_over`] for a server in a network with
/// hosts that devices must not reach through it.
///
/// # Errors
/// Returns an error if the CPE does not accept the request; see [`ConnectionRequestError`].
pub async fn connection_request(url: &str, user: &str, password: &str) -> Result<(), ConnectionRequestError> {
    connection_request_over(HttpTransport::new(), url, user, password).await
}

/// Like [`connection_request`], over another transport: for example through a proxy, or with a
/// check of addresses (`HttpTransport::builder().check_addresses(…)`).
///
/// # Errors
/// See [`connection_request`].
pub async fn connection_request_over<S, B>(
    transport: S,
    url: &str,
    user: &str,
    password: &str,
) -> Result<(), ConnectionRequestError>
where
    S: Service<Request<Body>, Response = Response<B>> + Clone,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes>,
{
    let url: Uri = url.parse().map_err(|_| ConnectionRequestError::InvalidUrl)?;
    if url.scheme_str() != Some("http") || url.host().is_none() {
        return Err(ConnectionRequestError::InvalidUrl);
    }
    let credentials = Credentials::digest(user, password).map_err(|_| ConnectionRequestError::InvalidCredentials)?;
    let asking = ask(transport, &url, &credentials);
    tokio::time::timeout(TIMEOUT, asking).await.map_err(|_| ConnectionRequestError::Timeout)?
}

/// Sends the request twice: first without an answer to a challenge, then with it.
async fn ask<S, B>(transport: S, url: &Uri, credentials: &Credentials) -> Result<(), ConnectionRequestError>
where
    S: Service<Request<Body>, Response = Response<B>> + Clone,
    S::Error: Into<BoxError>,
{
    loop {
        let authorization = credentials.authorization(&Method::GET, url);
        let is_authorized = authorization.is_some();
        let mut request = Request::new(Body::default());
        *request.uri_mut() = url.clone();
        if let Some(authorization) = authorization {
            request.headers_mut().insert(AUTHORIZATION, authorization);
        }
        let sent = transport.clone().oneshot(request).await;
        let response = sent.map_err(|error| ConnectionRequestError::Transport(error.into()))?;
        let is_challenge = response.status() == StatusCode::UNAUTHORIZED && !is_authorized;
        if !(is_challenge && credentials.note_challenge(is_authorized, response.headers())) {
            return outcome(response.status());
        }
    }
}

/// Converts a CPE's status (section 3.2.2.1).
fn outcome(status: StatusCode) -> Result<(), ConnectionRequestError> {
    match status {
        StatusCode::OK | StatusCode::NO_CONTENT => Ok(()),
        StatusCode::UNAUTHORIZED => Err(ConnectionRequestError::Unauthorized),
        StatusCode::NOT_FOUND => Err(ConnectionRequestError::NotFound),
        StatusCode::SERVICE_UNAVAILABLE => Err(ConnectionRequestError::Unavailable),
        other => Err(ConnectionRequestError::Status(other)),
    }
}

/// Why a connection request was not accepted.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectionRequestError {
    /// The URL is not a plain HTTP URL, as it must be (section 3.2.2.1).
    InvalidUrl,
    /// The name or the password cannot be sent.
    InvalidCredentials,
    /// HTTP 401: the name or the password is wrong, or the CPE offers no Digest that is supported.
    Unauthorized,
    /// HTTP 404: the CPE has a different URL now.
    NotFound,
    /// HTTP 503: there were too many requests, or the CPE is in a session.
    Unavailable,
    /// Another status.
    Status(StatusCode),
    /// The CPE could not be reached.
    Transport(BoxError),
    /// The CPE did not answer in time.
    Timeout,
}

impl fmt::Display for ConnectionRequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ConnectionRequestError::InvalidUrl => "the connection request URL is not an http URL",
            ConnectionRequestError::InvalidCredentials => "name or password contains a character that cannot be sent",
            ConnectionRequestError::Unauthorized => "the CPE does not accept the name and the password",
            ConnectionRequestError::NotFound => "the CPE has no such connection request URL",
            ConnectionRequestError::Unavailable => "the CPE does not accept connection requests at this time",
            ConnectionRequestError::Status(status) => return write!(f, "the CPE answered with status {status}"),
            ConnectionRequestError::Transport(_) => "the CPE could not be reached",
            ConnectionRequestError::Timeout => "the CPE did not answer in time",
        })
    }
}

impl std::error::Error for ConnectionRequestError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ConnectionRequestError::Transport(error) => Some(&**error),
            _ => None,
        }
    }
}

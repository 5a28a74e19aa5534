//! A CPE: a device for tests, simulators and load tests. It is written from the text of TR-069,
//! independently of the server in this crate.
//!
//! [`Cpe::session`] runs a whole session, as described in section 3.7.1; [`parameters`] and
//! [`rpcs`] answer the ACS; [`state`] keeps what outlives a session; [`listener`] accepts
//! connection requests.

mod listener;
mod parameters;
mod rpcs;
mod session;
mod state;
mod wire;

pub use listener::ConnectionRequests;
pub use parameters::{Parameter, Parameters};

use crate::types::{DeviceId, EventStruct, Rpc, event};
use crate::{CwmpFault, Version};
use bytes::Bytes;
use deltasoap::client::{Credentials, HttpTransport};
use deltasoap::engine::Tolerance;
use deltasoap::transport::{Body, BoxError};
use deltasoap::types::Simple;
use http::{Request, Response, StatusCode, Uri};
use session::Outbound;
use state::State;
use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};
use tower::Service;
use wire::Wire;

/// A device that is managed by an ACS.
///
/// ```no_run
/// use deltasoap_cwmp::types::DeviceId;
/// use deltasoap_cwmp::{Cpe, Parameter};
/// use deltasoap::types::Simple;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let id = DeviceId {
///     manufacturer: "Example".to_owned(),
///     oui: "0123AB".to_owned(),
///     product_class: "Box".to_owned(),
///     serial_number: "1".to_owned(),
/// };
/// let mut cpe = Cpe::new("http://127.0.0.1:7547/", id)?;
/// cpe.parameters_mut().insert("Device.DeviceInfo.UpTime", Parameter::read_only(Simple::UnsignedInt(7)));
/// let report = cpe.session().await?;
/// println!("{} requests", report.answered.len());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Cpe<S = HttpTransport> {
    id: DeviceId,
    version: Version,
    tolerance: Tolerance,
    wire: Wire<S>,
    state: State,
    /// Requests for the next session.
    requests: VecDeque<Outbound>,
    /// Number of failed attempts of the session.
    retry_count: u32,
}

/// What happened in a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// The names of the requests that the ACS sent, in order.
    pub answered: Vec<String>,
    /// Results of the CPE's own requests, in order.
    pub requested: Vec<Result<(), CwmpFault>>,
    /// Number of HTTP requests, including those that were challenged.
    pub posts: u32,
}

/// Why a session failed. The CPE reports its events again in the next session, after
/// [`Cpe::retry_interval`].
#[derive(Debug)]
#[non_exhaustive]
pub enum SessionError {
    /// The ACS refused the session.
    Refused(CwmpFault),
    /// The ACS answered with this status.
    Status(StatusCode),
    /// The ACS sent something that cannot be decoded, or that is not allowed at that point.
    Invalid(String),
    /// The ACS could not be reached, or disconnected.
    Transport(BoxError),
    /// The ACS did not answer in time.
    Timeout,
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionError::Refused(fault) => write!(f, "the ACS refused the session: {fault}"),
            SessionError::Status(status) => write!(f, "the ACS answered with status {status}"),
            SessionError::Invalid(what) => write!(f, "the ACS sent an invalid message: {what}"),
            SessionError::Transport(_) => f.write_str("the ACS could not be reached"),
            SessionError::Timeout => f.write_str("the ACS did not answer in time"),
        }
    }
}

impl std::error::Error for SessionError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SessionError::Transport(error) => Some(&**error),
            _ => None,
        }
    }
}

/// The error for the URL of an ACS that is not absolute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidAcsUrl;

impl fmt::Display for InvalidAcsUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the URL of the ACS is not absolute")
    }
}

impl std::error::Error for InvalidAcsUrl {}

impl Cpe {
    /// Creates a device without parameters that is managed by the ACS at `url`.
    ///
    /// # Errors
    /// Returns an error if the URL is not absolute.
    pub fn new(url: &str, id: DeviceId) -> Result<Self, InvalidAcsUrl> {
        Self::over(HttpTransport::new(), url, id)
    }
}

impl<S> Cpe<S> {
    /// Like [`new`](Cpe::new), over another transport: one with other settings, or an
    /// [`Acs`](crate::Acs) in memory.
    ///
    /// # Errors
    /// Returns an error if the URL is not absolute.
    pub fn over(transport: S, url: &str, id: DeviceId) -> Result<Self, InvalidAcsUrl> {
        let url: Uri = url.parse().map_err(|_| InvalidAcsUrl)?;
        if url.authority().is_none() || url.scheme().is_none() {
            return Err(InvalidAcsUrl);
        }
        let (wire, state) = (Wire::new(transport, url), State::new(Parameters::default()));
        Ok(Cpe {
            id,
            version: Version::default(),
            tolerance: Tolerance::Strict,
            wire,
            state,
            requests: VecDeque::new(),
            retry_count: 0,
        })
    }

    /// Sets the version of CWMP. The default is 1.0, which every ACS supports.
    #[must_use]
    pub fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// Sets what the device accepts beyond the schema in requests of the ACS. The default is
    /// [`Tolerance::Strict`]: the device must not execute only a part of a request.
    #[must_use]
    pub fn tolerance(mut self, tolerance: Tolerance) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Sets the credentials of the device, for Basic or Digest (section 3.4.5).
    #[must_use]
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.wire.credentials = Some(credentials);
        self
    }

    /// Sets the maximum time that the ACS may take to answer. The default is 30 s, the minimum that
    /// TR-069 allows (section 3.4.1).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.wire.timeout = timeout;
        self
    }

    /// Sets the parameters of the device, also those after a factory reset.
    #[must_use]
    pub fn parameters(mut self, parameters: Parameters) -> Self {
        self.state = State::new(parameters);
        self
    }

    /// Returns the current parameters.
    pub fn current(&self) -> &Parameters {
        &self.state.parameters
    }

    /// Returns the parameters, for changes by the device itself.
    pub fn parameters_mut(&mut self) -> &mut Parameters {
        &mut self.state.parameters
    }

    /// Returns the events that the next session reports. A new device begins with `0 BOOTSTRAP` and
    /// `1 BOOT`.
    pub fn events(&self) -> &[EventStruct] {
        &self.state.events
    }

    /// Adds an event that the next session reports.
    pub fn add_event(&mut self, event: EventStruct) {
        self.state.note(event);
    }

    /// Adds a request that the next session sends, such as an `AutonomousTransferComplete`.
    pub fn request<R: Rpc + Sync>(&mut self, request: R) {
        self.requests.push_back(Outbound::new(request));
    }

    /// Returns the time to wait before a failed session is retried: a range to pick from at random,
    /// which depends on the number of failures (section 3.2.1.1, table 3). Zero after a success.
    pub fn retry_interval(&self) -> std::ops::RangeInclusive<Duration> {
        match self.retry_count {
            0 => Duration::ZERO..=Duration::ZERO,
            count => {
                let least = Duration::from_secs(5) * 2_u32.pow(count.min(10) - 1);
                least..=2 * least
            }
        }
    }

    /// Accepts connection requests at an address, with this name and password. Sets the parameters
    /// that report them and the URL. Port 0 stands for any free port.
    ///
    /// # Errors
    /// Returns an error if listening on the address fails.
    pub async fn listen(&mut self, address: &str, user: &str, password: &str) -> std::io::Result<ConnectionRequests> {
        let requests = ConnectionRequests::bind(address, user, password).await?;
        let settings = [
            ("ManagementServer.ConnectionRequestURL", requests.url()),
            ("ManagementServer.ConnectionRequestUsername", user),
            ("ManagementServer.ConnectionRequestPassword", password),
        ];
        for (path, value) in settings {
            let path = self.state.path(path);
            let parameter = Parameter::read_only(Simple::String(value.to_owned()));
            self.state.parameters.insert(path, parameter);
        }
        Ok(requests)
    }
}

impl<S, B> Cpe<S>
where
    S: Service<Request<Body>, Response = Response<B>> + Clone,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    /// Waits for a connection request, or for the time of a session that the ACS has scheduled,
    /// then runs a session. Returns what happened in it.
    ///
    /// # Errors
    /// Returns an error if the session fails.
    pub async fn session_on_demand(&mut self, requests: &mut ConnectionRequests) -> Result<Report, SessionError> {
        let due = self.state.note_scheduled();
        if self.state.events.is_empty() {
            let scheduled = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due.max(Instant::now()).into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = requests.next() => self.add_event(EventStruct::new(event::CONNECTION_REQUEST)),
                () = scheduled => {}
            }
            self.state.note_scheduled();
        }
        self.session().await
    }
}

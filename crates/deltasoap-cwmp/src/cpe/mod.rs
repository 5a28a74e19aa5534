//! A CPE: a device for tests, simulators and load. It is written from the text of TR-069, not from
//! the server beside it.
//!
//! [`Cpe::session`] is a whole session, as section 3.7.1 has it; [`parameters`] and [`rpcs`] answer
//! the ACS; [`state`] keeps what goes from one session to the next; [`listener`] takes connection
//! requests.

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
use deltasoap::http::{Body, BoxError, Credentials, HttpTransport};
use deltasoap::{Simple, Tolerance};
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
/// use deltasoap::Simple;
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
    /// How often the session was tried.
    retry_count: u32,
}

/// What happened in a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// The names of the requests that the ACS sent, in order.
    pub answered: Vec<String>,
    /// What the CPE's own requests came to, in order.
    pub requested: Vec<Result<(), CwmpFault>>,
    /// HTTP requests, those that were challenged included.
    pub posts: u32,
}

/// A session that failed. The CPE tells its events again in the next one, after
/// [`Cpe::retry_interval`].
#[derive(Debug)]
#[non_exhaustive]
pub enum SessionError {
    /// The ACS refused the session.
    Refused(CwmpFault),
    /// The ACS answered with this status.
    Status(StatusCode),
    /// The ACS sent what cannot be read, or what may not come there.
    Invalid(String),
    /// The ACS was not reached, or went away.
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

/// The URL of an ACS that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidAcsUrl;

impl fmt::Display for InvalidAcsUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the URL of the ACS is not absolute")
    }
}

impl std::error::Error for InvalidAcsUrl {}

impl Cpe {
    /// A device without parameters, which is to be managed by the ACS at a URL.
    ///
    /// # Errors
    /// When the URL is not absolute.
    pub fn new(url: &str, id: DeviceId) -> Result<Self, InvalidAcsUrl> {
        Self::over(HttpTransport::new(), url, id)
    }
}

impl<S> Cpe<S> {
    /// As [`new`](Cpe::new), over another transport: one with other settings, or an
    /// [`Acs`](crate::Acs) in memory.
    ///
    /// # Errors
    /// When the URL is not absolute.
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

    /// The version that the device speaks. Default 1.0, which every ACS knows.
    #[must_use]
    pub fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// What the device accepts in requests of the ACS beyond the schema. Default
    /// [`Tolerance::Strict`]: it must not carry out only a part of a request.
    #[must_use]
    pub fn tolerance(mut self, tolerance: Tolerance) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// How the device proves who it is, by Basic or Digest (section 3.4.5).
    #[must_use]
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.wire.credentials = Some(credentials);
        self
    }

    /// How long the ACS may take for an answer. Default 30 s, the least that TR-069 allows (section
    /// 3.4.1).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.wire.timeout = timeout;
        self
    }

    /// The parameters that the device has, and after a factory reset has again.
    #[must_use]
    pub fn parameters(mut self, parameters: Parameters) -> Self {
        self.state = State::new(parameters);
        self
    }

    /// The parameters as they are.
    pub fn current(&self) -> &Parameters {
        &self.state.parameters
    }

    /// The parameters, to be changed on the side of the device.
    pub fn parameters_mut(&mut self) -> &mut Parameters {
        &mut self.state.parameters
    }

    /// Events that the next session tells of. A new device begins with `0 BOOTSTRAP` and `1 BOOT`.
    pub fn events(&self) -> &[EventStruct] {
        &self.state.events
    }

    /// Adds an event that the next session tells of.
    pub fn note(&mut self, event: EventStruct) {
        self.state.note(event);
    }

    /// Adds a request that the next session sends, such as an `AutonomousTransferComplete`.
    pub fn request<R: Rpc + Sync>(&mut self, request: R) {
        self.requests.push_back(Outbound::new(request));
    }

    /// How long to wait before a failed session is tried again: a range to pick from at random, by
    /// how often it has failed (section 3.2.1.1, table 3). Zero after a success.
    pub fn retry_interval(&self) -> std::ops::RangeInclusive<Duration> {
        match self.retry_count {
            0 => Duration::ZERO..=Duration::ZERO,
            count => {
                let least = Duration::from_secs(5) * 2_u32.pow(count.min(10) - 1);
                least..=2 * least
            }
        }
    }

    /// Takes connection requests at an address: name and password, and where they are told as
    /// parameters, are set to these. The port 0 stands for any free one.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub async fn listen(&mut self, address: &str, user: &str, password: &str) -> std::io::Result<ConnectionRequests> {
        let requests = ConnectionRequests::bind(address, user, password).await?;
        let told = [
            ("ManagementServer.ConnectionRequestURL", requests.url()),
            ("ManagementServer.ConnectionRequestUsername", user),
            ("ManagementServer.ConnectionRequestPassword", password),
        ];
        for (path, value) in told {
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
    /// Waits for a connection request, or for a session that the ACS has asked for, and begins a
    /// session then. Gives what happened in it.
    ///
    /// # Errors
    /// When the session fails.
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
                () = requests.next() => self.note(EventStruct::new(event::CONNECTION_REQUEST)),
                () = scheduled => {}
            }
            self.state.note_scheduled();
        }
        self.session().await
    }
}

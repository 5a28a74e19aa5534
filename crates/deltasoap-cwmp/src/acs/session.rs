//! A session as user code sees it: a device, and methods that call it.

use super::table::Token;
use crate::message::{self, Headers};
use crate::types::*;
use crate::{CwmpFault, Version};
use deltasoap::http::Principal;
use deltasoap::soap::Fault;
use deltasoap::{Buffer, Lease, Message, QName};
use std::any::Any;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use tokio::sync::{mpsc, oneshot};

/// The device of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// What it says that it is. Without authentication anybody can say that.
    pub id: DeviceId,
    /// Who it is, where the server asks for that.
    pub principal: Option<Principal>,
    /// Where it connects from; it may connect from elsewhere in the same session.
    pub peer: Option<SocketAddr>,
    /// The version that it speaks.
    pub version: Version,
}

/// Why a session is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionEnd {
    /// Both sides had nothing more to say.
    Completed,
    /// The device has begun another one.
    Replaced,
    /// The device was silent for too long.
    Idle,
    /// User code took too long.
    Undecided,
    /// The device went away while it was answered, or what answered it panicked.
    Abandoned,
    /// The device sent what cannot be read, or what answers no request.
    Invalid,
    /// The device sent too much.
    TooLong,
}

/// Why a request has no response.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CallError {
    /// The device has answered with a fault.
    Fault(CwmpFault),
    /// The device has answered with a fault that has nothing of CWMP in it.
    Soap(Box<Fault>),
    /// The request holds text that XML cannot carry.
    Unwritable(deltasoap::Error),
    /// The session has ended before the device answered.
    Ended,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Fault(fault) => fault.fmt(f),
            CallError::Soap(fault) => fault.fmt(f),
            CallError::Unwritable(error) => write!(f, "the request cannot be written: {error}"),
            CallError::Ended => f.write_str("the session has ended"),
        }
    }
}

impl std::error::Error for CallError {}

/// What a device has answered: a response of the type that the request has, or why there is none.
pub(crate) type Delivery = Result<Box<dyn Any + Send>, CallError>;

/// A request on its way to the device.
pub(crate) struct Outgoing {
    pub(crate) id: String,
    /// The element that answers it.
    pub(crate) response: QName,
    pub(crate) hold_requests: bool,
    pub(crate) message: Buffer,
    pub(crate) reply: oneshot::Sender<Delivery>,
}

/// A session: sends requests to its device, one at a time. Each goes out in the response to the
/// device's next message, and waits for the one after it. Clones are the same session; calls on
/// several of them are sent in turn.
///
/// A call returns [`CallError::Ended`] when the session is over: because the future of
/// [`Handler::session`](crate::Handler::session) has ended, or for any other reason.
#[derive(Clone)]
pub struct Session {
    shared: Arc<Shared>,
}

struct Shared {
    device: Arc<Device>,
    inform: Lease<Inform>,
    requests: mpsc::Sender<Outgoing>,
    hold_requests: AtomicBool,
    /// Begins the IDs of the session, so that they are not those of another.
    prefix: String,
    number: AtomicU64,
}

impl Session {
    pub(crate) fn new(
        device: Arc<Device>,
        inform: Lease<Inform>,
        token: Token,
        hold_requests: bool,
    ) -> (Self, mpsc::Receiver<Outgoing>) {
        let (requests, receiver) = mpsc::channel(1);
        let hold_requests = AtomicBool::new(hold_requests);
        let (prefix, number) = (token.number().to_string(), AtomicU64::new(0));
        (Session { shared: Arc::new(Shared { device, inform, requests, hold_requests, prefix, number }) }, receiver)
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.shared.device
    }

    /// What the session was begun with.
    pub fn inform(&self) -> &Inform {
        &self.shared.inform
    }

    /// The value that the Inform has for a parameter, as text.
    pub fn informed(&self, parameter: &str) -> Option<String> {
        let found = self.inform().parameter_list.iter().find(|value| value.name == parameter);
        found.map(|value| value.value.text())
    }

    /// Whether the device is asked to send no requests of its own (`HoldRequests`, section 3.5),
    /// from the next request on. What it has held back it sends when the session's future has
    /// ended.
    pub fn hold_requests(&self, hold: bool) {
        self.shared.hold_requests.store(hold, Relaxed);
    }

    /// Sends a request, and waits for what the device answers.
    ///
    /// # Errors
    /// When the device answers with a fault, or the session ends before it answers.
    pub async fn call<R: Rpc>(&self, request: &R) -> Result<R::Response, CallError> {
        let (reply, answered) = oneshot::channel();
        let outgoing = self.outgoing(request, reply)?;
        self.shared.requests.send(outgoing).await.map_err(|_| CallError::Ended)?;
        let response = answered.await.map_err(|_| CallError::Ended)??;
        match response.downcast::<R::Response>() {
            Ok(response) => Ok(*response),
            Err(_) => unreachable!("the element of a response tells its type"),
        }
    }

    fn outgoing<R: Rpc>(&self, request: &R, reply: oneshot::Sender<Delivery>) -> Result<Outgoing, CallError> {
        let Shared { prefix, number, .. } = &*self.shared;
        let id = format!("{prefix}-{}", number.fetch_add(1, Relaxed));
        let hold_requests = self.shared.hold_requests.load(Relaxed);
        let headers = Headers { id: Some(id.clone()), hold_requests };
        let message = message::encode(self.device().version, &headers, request).map_err(CallError::Unwritable)?;
        Ok(Outgoing { id, response: R::Response::ELEMENT, hold_requests, message, reply })
    }

    /// Which requests the device takes (A.3.1.1).
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn get_rpc_methods(&self) -> Result<Vec<String>, CallError> {
        let response = self.call(&GetRpcMethods {}).await?;
        Ok(response.method_list.0.into_iter().map(|name| name.0).collect())
    }

    /// Values of parameters, by full paths, or by such that end with a dot for all below (A.3.2.2).
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn get_parameter_values<N: Into<Text>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Vec<ParameterValueStruct>, CallError> {
        let parameter_names = names.into_iter().map(Into::into).collect();
        Ok(self.call(&GetParameterValues { parameter_names }).await?.parameter_list.0)
    }

    /// Sets parameters, all of them or none (A.3.2.1). What is wrong with each of them is in
    /// [`CwmpFault::parameters`].
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn set_parameter_values(
        &self,
        values: impl IntoIterator<Item = ParameterValueStruct>,
        parameter_key: impl Into<String>,
    ) -> Result<Status, CallError> {
        let (parameter_list, parameter_key) = (values.into_iter().collect(), parameter_key.into());
        Ok(self.call(&SetParameterValues { parameter_list, parameter_key }).await?.status)
    }

    /// Which parameters and objects there are below a path, directly or at any depth (A.3.2.3).
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn get_parameter_names(
        &self,
        path: impl Into<String>,
        next_level: bool,
    ) -> Result<Vec<ParameterInfoStruct>, CallError> {
        let request = GetParameterNames { parameter_path: path.into(), next_level };
        Ok(self.call(&request).await?.parameter_list.0)
    }

    /// Attributes of parameters (A.3.2.5).
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn get_parameter_attributes<N: Into<Text>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Vec<ParameterAttributeStruct>, CallError> {
        let parameter_names = names.into_iter().map(Into::into).collect();
        Ok(self.call(&GetParameterAttributes { parameter_names }).await?.parameter_list.0)
    }

    /// Sets attributes of parameters (A.3.2.4).
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn set_parameter_attributes(
        &self,
        attributes: impl IntoIterator<Item = SetParameterAttributesStruct>,
    ) -> Result<(), CallError> {
        let parameter_list = attributes.into_iter().collect();
        self.call(&SetParameterAttributes { parameter_list }).await.map(drop)
    }

    /// Adds an instance of an object, whose path ends with a dot (A.3.2.6). Gives the number of the
    /// instance.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn add_object(
        &self,
        object_name: impl Into<String>,
        parameter_key: impl Into<String>,
    ) -> Result<(u32, Status), CallError> {
        let request = AddObject { object_name: object_name.into(), parameter_key: parameter_key.into() };
        let response = self.call(&request).await?;
        Ok((response.instance_number, response.status))
    }

    /// Deletes an instance of an object (A.3.2.7).
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn delete_object(
        &self,
        object_name: impl Into<String>,
        parameter_key: impl Into<String>,
    ) -> Result<Status, CallError> {
        let request = DeleteObject { object_name: object_name.into(), parameter_key: parameter_key.into() };
        Ok(self.call(&request).await?.status)
    }

    /// Has the device fetch a file (A.3.2.8). Unless the response says that it is done, a
    /// `TransferComplete` comes later.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn download(&self, download: &Download) -> Result<DownloadResponse, CallError> {
        self.call(download).await
    }

    /// Has the device send a file (A.4.1.5). Unless the response says that it is done, a
    /// `TransferComplete` comes later.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn upload(&self, upload: &Upload) -> Result<UploadResponse, CallError> {
        self.call(upload).await
    }

    /// Restarts the device after the session (A.3.2.9).
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn reboot(&self, command_key: impl Into<String>) -> Result<(), CallError> {
        self.call(&Reboot { command_key: command_key.into() }).await.map(drop)
    }

    /// Makes the device as it was made, after the session (A.4.1.6).
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn factory_reset(&self) -> Result<(), CallError> {
        self.call(&FactoryReset {}).await.map(drop)
    }

    /// Asks for a session in so many seconds (A.4.1.2).
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn schedule_inform(&self, delay_seconds: u32, command_key: impl Into<String>) -> Result<(), CallError> {
        self.call(&ScheduleInform { delay_seconds, command_key: command_key.into() }).await.map(drop)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("device", &self.device().id).finish_non_exhaustive()
    }
}

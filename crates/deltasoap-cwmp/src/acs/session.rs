//! A session for user code: a device, and methods that send requests to it.

use super::table::Token;
use crate::message::{self, Headers};
use crate::types::*;
use crate::{CwmpFault, Version};
use deltasoap::engine::Buffer;
use deltasoap::schema::QName;
use deltasoap::server::Principal;
use deltasoap::{Fault, Lease, Message};
use std::any::Any;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use tokio::sync::{mpsc, oneshot};

/// The device of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// The identity that the device claims. Without authentication anyone can claim it.
    pub id: DeviceId,
    /// The authenticated identity, if the server requires authentication.
    pub principal: Option<Principal>,
    /// The address that it connects from; it may change within a session.
    pub peer: Option<SocketAddr>,
    /// The version of CWMP that it uses.
    pub version: Version,
}

/// Why a session has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionEnd {
    /// Both sides had nothing more to send.
    Completed,
    /// The device has begun another session.
    Replaced,
    /// The device was silent for too long.
    Idle,
    /// User code took too long.
    Undecided,
    /// The device disconnected during an exchange, or the code that answered it panicked.
    Abandoned,
    /// The device sent a message that cannot be decoded, or that answers no request.
    Invalid,
    /// The device sent too many messages or too many bytes.
    TooLong,
}

/// Why a request has no response.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CallError {
    /// The device answered with a fault.
    Fault(CwmpFault),
    /// The device answered with a SOAP fault that has no CWMP fault in it.
    Soap(Box<Fault>),
    /// The request contains text that XML cannot represent.
    Unwritable(deltasoap::Error),
    /// The session ended before the device answered.
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

/// A device's answer: a response of the type that belongs to the request, or an error.
pub(crate) type Delivery = Result<Box<dyn Any + Send>, CallError>;

/// A request to be sent to the device.
pub(crate) struct Outgoing {
    pub(crate) id: String,
    /// The element of the response.
    pub(crate) response: QName,
    pub(crate) hold_requests: bool,
    pub(crate) message: Buffer,
    pub(crate) reply: oneshot::Sender<Delivery>,
}

/// A session, which sends requests to its device, one at a time. Each request goes out in the
/// response to the device's next message, and is answered by the message after that. Clones share
/// the session; their calls are sent one after another.
///
/// A call returns [`CallError::Ended`] when the session has ended: because the future of
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
    /// Prefix of the IDs of this session, which keeps them distinct from those of other sessions.
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

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.shared.device
    }

    /// Returns the Inform that began the session.
    pub fn inform(&self) -> &Inform {
        &self.shared.inform
    }

    /// Returns the value of a parameter in the Inform, as text.
    pub fn informed(&self, parameter: &str) -> Option<String> {
        let found = self.inform().parameter_list.iter().find(|value| value.name == parameter);
        found.map(|value| value.value.text())
    }

    /// Sets whether the device is asked to send no requests of its own (`HoldRequests`, section
    /// 3.5), from the next request on. The device sends requests that it held back when the
    /// session's future has ended.
    pub fn hold_requests(&self, hold: bool) {
        self.shared.hold_requests.store(hold, Relaxed);
    }

    /// Sends a request, and waits for the device's answer.
    ///
    /// # Errors
    /// Returns an error if the device answers with a fault, or the session ends before it answers.
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

    /// Returns the names of the requests that the device supports (A.3.1.1).
    ///
    /// # Errors
    /// See [`call`](Self::call).
    pub async fn get_rpc_methods(&self) -> Result<Vec<String>, CallError> {
        let response = self.call(&GetRpcMethods {}).await?;
        Ok(response.method_list.0.into_iter().map(|name| name.0).collect())
    }

    /// Returns the values of parameters, given as full paths, or as partial paths with a dot at the
    /// end for all parameters below (A.3.2.2).
    ///
    /// # Errors
    /// See [`call`](Self::call).
    pub async fn get_parameter_values<N: Into<Text>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Vec<ParameterValueStruct>, CallError> {
        let parameter_names = names.into_iter().map(Into::into).collect();
        Ok(self.call(&GetParameterValues { parameter_names }).await?.parameter_list.0)
    }

    /// Sets parameters, all of them or none (A.3.2.1). The error of each invalid parameter is in
    /// [`CwmpFault::parameters`].
    ///
    /// # Errors
    /// See [`call`](Self::call).
    pub async fn set_parameter_values(
        &self,
        values: impl IntoIterator<Item = ParameterValueStruct>,
        parameter_key: impl Into<String>,
    ) -> Result<Status, CallError> {
        let (parameter_list, parameter_key) = (values.into_iter().collect(), parameter_key.into());
        Ok(self.call(&SetParameterValues { parameter_list, parameter_key }).await?.status)
    }

    /// Returns the names of the parameters and objects below a path, directly or at any depth
    /// (A.3.2.3).
    ///
    /// # Errors
    /// See [`call`](Self::call).
    pub async fn get_parameter_names(
        &self,
        path: impl Into<String>,
        next_level: bool,
    ) -> Result<Vec<ParameterInfoStruct>, CallError> {
        let request = GetParameterNames { parameter_path: path.into(), next_level };
        Ok(self.call(&request).await?.parameter_list.0)
    }

    /// Returns the attributes of parameters (A.3.2.5).
    ///
    /// # Errors
    /// See [`call`](Self::call).
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
    /// See [`call`](Self::call).
    pub async fn set_parameter_attributes(
        &self,
        attributes: impl IntoIterator<Item = SetParameterAttributesStruct>,
    ) -> Result<(), CallError> {
        let parameter_list = attributes.into_iter().collect();
        self.call(&SetParameterAttributes { parameter_list }).await.map(drop)
    }

    /// Adds an instance of an object, whose path ends with a dot (A.3.2.6). Returns the number of
    /// the instance.
    ///
    /// # Errors
    /// See [`call`](Self::call).
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
    /// See [`call`](Self::call).
    pub async fn delete_object(
        &self,
        object_name: impl Into<String>,
        parameter_key: impl Into<String>,
    ) -> Result<Status, CallError> {
        let request = DeleteObject { object_name: object_name.into(), parameter_key: parameter_key.into() };
        Ok(self.call(&request).await?.status)
    }

    /// Makes the device download a file (A.3.2.8). Unless the response says that it is done, a
    /// `TransferComplete` follows.
    ///
    /// # Errors
    /// See [`call`](Self::call).
    pub async fn download(&self, download: &Download) -> Result<DownloadResponse, CallError> {
        self.call(download).await
    }

    /// Makes the device upload a file (A.4.1.5). Unless the response says that it is done, a
    /// `TransferComplete` follows.
    ///
    /// # Errors
    /// See [`call`](Self::call).
    pub async fn upload(&self, upload: &Upload) -> Result<UploadResponse, CallError> {
        self.call(upload).await
    }

    /// Restarts the device after the session (A.3.2.9).
    ///
    /// # Errors
    /// See [`call`](Self::call).
    pub async fn reboot(&self, command_key: impl Into<String>) -> Result<(), CallError> {
        self.call(&Reboot { command_key: command_key.into() }).await.map(drop)
    }

    /// Resets the device to its factory state, after the session (A.4.1.6).
    ///
    /// # Errors
    /// See [`call`](Self::call).
    pub async fn factory_reset(&self) -> Result<(), CallError> {
        self.call(&FactoryReset {}).await.map(drop)
    }

    /// Requests another session in `delay_seconds` seconds (A.4.1.2).
    ///
    /// # Errors
    /// See [`call`](Self::call).
    pub async fn schedule_inform(&self, delay_seconds: u32, command_key: impl Into<String>) -> Result<(), CallError> {
        self.call(&ScheduleInform { delay_seconds, command_key: command_key.into() }).await.map(drop)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("device", &self.device().id).finish_non_exhaustive()
    }
}

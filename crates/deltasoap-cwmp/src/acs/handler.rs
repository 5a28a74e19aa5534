//! The trait that users of the server implement.

use super::session::{Device, Session, SessionEnd};
use crate::types::*;
use crate::{CwmpFault, fault};
use futures_util::future::BoxFuture;
use std::sync::Arc;

/// Handles the devices of a server. A closure `async |session| …` is a handler that accepts every
/// device.
///
/// All futures run as part of an HTTP exchange: they are dropped when the device disconnects or
/// takes too long, and a panic in one ends the session with an internal error.
///
/// ```
/// use deltasoap_cwmp::types::{DeviceId, Inform, TransferComplete};
/// use deltasoap_cwmp::{Accepted, Acs, CwmpFault, Device, Handler, Session, fault};
/// use std::sync::Arc;
///
/// struct Fleet;
///
/// impl Handler for Fleet {
///     async fn inform(&self, device: &Device, _: &Inform) -> Result<Accepted, CwmpFault> {
///         // A device speaks for itself alone.
///         match &device.principal {
///             Some(principal) if *principal.0 == *device.id.serial_number => Ok(Accepted::default()),
///             _ => Err(CwmpFault::from_code(fault::ACS_REQUEST_DENIED)),
///         }
///     }
///
///     async fn session(self: Arc<Self>, session: Session) {
///         if session.inform().event.iter().any(|event| event.event_code == "0 BOOTSTRAP") {
///             let _ = session.reboot("first").await;
///         }
///     }
///
///     async fn transfer_complete(&self, device: &Device, transfer: TransferComplete) -> Result<(), CwmpFault> {
///         println!("{}: {}", device.id.serial_number, transfer.fault_struct.fault_code);
///         Ok(())
///     }
/// }
///
/// let acs = Acs::new(Fleet);
/// # let _ = acs;
/// ```
pub trait Handler: Send + Sync + 'static {
    /// Accepts a session, or refuses it with a fault: 8001, or 8005 to make the CPE send the
    /// request again (A.3.3.1). Accepts by default.
    fn inform(&self, device: &Device, inform: &Inform) -> impl Future<Output = Result<Accepted, CwmpFault>> + Send {
        let _ = (device, inform);
        std::future::ready(Ok(Accepted::default()))
    }

    /// Conducts a session: sends requests through the [`Session`], once the device has sent its
    /// own. When the future ends, so does the session. It is polled only while the device waits for
    /// an answer, so anything else that it awaits should not take long; see
    /// [`Limits::decision`](crate::Limits::decision).
    fn session(self: Arc<Self>, session: Session) -> impl Future<Output = ()> + Send + 'static;

    /// Called when a transfer has ended (A.3.3.2). Does nothing by default.
    fn transfer_complete(
        &self,
        device: &Device,
        message: TransferComplete,
    ) -> impl Future<Output = Result<(), CwmpFault>> + Send {
        let _ = (device, message);
        std::future::ready(Ok(()))
    }

    /// Called when a transfer that the ACS did not request has ended (A.3.3.3). Does nothing by
    /// default.
    fn autonomous_transfer_complete(
        &self,
        device: &Device,
        message: AutonomousTransferComplete,
    ) -> impl Future<Output = Result<(), CwmpFault>> + Send {
        let _ = (device, message);
        std::future::ready(Ok(()))
    }

    /// Called when the device requests a download (A.4.2.2). Not supported by default.
    fn request_download(
        &self,
        device: &Device,
        message: RequestDownload,
    ) -> impl Future<Output = Result<(), CwmpFault>> + Send {
        let _ = (device, message);
        std::future::ready(Err(CwmpFault::from_code(fault::ACS_METHOD_NOT_SUPPORTED)))
    }

    /// Called when a user was redirected to the device (A.4.2.1); returns the URL where the user
    /// continues. Not supported by default.
    fn kicked(&self, device: &Device, message: Kicked) -> impl Future<Output = Result<String, CwmpFault>> + Send {
        let _ = (device, message);
        std::future::ready(Err(CwmpFault::from_code(fault::ACS_METHOD_NOT_SUPPORTED)))
    }

    /// Called when deployment units were changed (A.3.3.4). Not supported by default.
    fn du_state_change_complete(
        &self,
        device: &Device,
        message: DuStateChangeComplete,
    ) -> impl Future<Output = Result<(), CwmpFault>> + Send {
        let _ = (device, message);
        std::future::ready(Err(CwmpFault::from_code(fault::ACS_METHOD_NOT_SUPPORTED)))
    }

    /// Called when deployment units were changed without a request of the ACS (A.3.3.5). Not
    /// supported by default.
    fn autonomous_du_state_change_complete(
        &self,
        device: &Device,
        message: AutonomousDuStateChangeComplete,
    ) -> impl Future<Output = Result<(), CwmpFault>> + Send {
        let _ = (device, message);
        std::future::ready(Err(CwmpFault::from_code(fault::ACS_METHOD_NOT_SUPPORTED)))
    }

    /// Returns the names of the requests that devices may send (A.3.1.1). The default is those that
    /// every server accepts.
    fn rpc_methods(&self) -> Vec<String> {
        ["Inform", "GetRPCMethods", "TransferComplete", "AutonomousTransferComplete"].map(str::to_owned).into()
    }

    /// Called when a session has ended, with the reason. Runs on the task that ended it, so it must
    /// not block. Does nothing by default.
    fn ended(&self, device: &Device, end: SessionEnd) {
        let _ = (device, end);
    }
}

/// Accepts every device, and conducts its session.
impl<F, R> Handler for F
where
    F: Fn(Session) -> R + Send + Sync + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    fn session(self: Arc<Self>, session: Session) -> impl Future<Output = ()> + Send + 'static {
        self(session)
    }
}

/// Acceptance of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accepted {
    /// Asks the device to send no requests of its own until it is told otherwise (`HoldRequests`,
    /// section 3.5), so that the server's requests come first.
    pub hold_requests: bool,
}

type Answer<'a, T> = BoxFuture<'a, Result<T, CwmpFault>>;

/// A type-erased [`Handler`].
pub(crate) trait Dynamic: Send + Sync {
    fn inform<'a>(&'a self, device: &'a Device, inform: &'a Inform) -> Answer<'a, Accepted>;
    fn session(&self, session: Session) -> BoxFuture<'static, ()>;
    fn methods(&self) -> GetRpcMethodsResponse;
    fn transfer_complete<'a>(
        &'a self,
        device: &'a Device,
        message: TransferComplete,
    ) -> Answer<'a, TransferCompleteResponse>;
    fn autonomous_transfer_complete<'a>(
        &'a self,
        device: &'a Device,
        message: AutonomousTransferComplete,
    ) -> Answer<'a, AutonomousTransferCompleteResponse>;
    fn request_download<'a>(
        &'a self,
        device: &'a Device,
        message: RequestDownload,
    ) -> Answer<'a, RequestDownloadResponse>;
    fn kicked<'a>(&'a self, device: &'a Device, message: Kicked) -> Answer<'a, KickedResponse>;
    fn du_state_change_complete<'a>(
        &'a self,
        device: &'a Device,
        message: DuStateChangeComplete,
    ) -> Answer<'a, DuStateChangeCompleteResponse>;
    fn autonomous_du_state_change_complete<'a>(
        &'a self,
        device: &'a Device,
        message: AutonomousDuStateChangeComplete,
    ) -> Answer<'a, AutonomousDuStateChangeCompleteResponse>;
    fn ended(&self, device: &Device, end: SessionEnd);
}

pub(crate) fn erased(handler: impl Handler) -> Box<dyn Dynamic> {
    Box::new(Erased(Arc::new(handler)))
}

struct Erased<H>(Arc<H>);

impl<H: Handler> Dynamic for Erased<H> {
    fn inform<'a>(&'a self, device: &'a Device, inform: &'a Inform) -> Answer<'a, Accepted> {
        Box::pin(self.0.inform(device, inform))
    }

    fn session(&self, session: Session) -> BoxFuture<'static, ()> {
        Box::pin(Arc::clone(&self.0).session(session))
    }

    fn methods(&self) -> GetRpcMethodsResponse {
        GetRpcMethodsResponse { method_list: self.0.rpc_methods().into_iter().map(Text).collect() }
    }

    fn transfer_complete<'a>(
        &'a self,
        device: &'a Device,
        message: TransferComplete,
    ) -> Answer<'a, TransferCompleteResponse> {
        Box::pin(async { self.0.transfer_complete(device, message).await.map(|()| TransferCompleteResponse {}) })
    }

    fn autonomous_transfer_complete<'a>(
        &'a self,
        device: &'a Device,
        message: AutonomousTransferComplete,
    ) -> Answer<'a, AutonomousTransferCompleteResponse> {
        let answering = self.0.autonomous_transfer_complete(device, message);
        Box::pin(async { answering.await.map(|()| AutonomousTransferCompleteResponse {}) })
    }

    fn request_download<'a>(
        &'a self,
        device: &'a Device,
        message: RequestDownload,
    ) -> Answer<'a, RequestDownloadResponse> {
        Box::pin(async { self.0.request_download(device, message).await.map(|()| RequestDownloadResponse {}) })
    }

    fn kicked<'a>(&'a self, device: &'a Device, message: Kicked) -> Answer<'a, KickedResponse> {
        Box::pin(async { self.0.kicked(device, message).await.map(|next_url| KickedResponse { next_url }) })
    }

    fn du_state_change_complete<'a>(
        &'a self,
        device: &'a Device,
        message: DuStateChangeComplete,
    ) -> Answer<'a, DuStateChangeCompleteResponse> {
        let answering = self.0.du_state_change_complete(device, message);
        Box::pin(async { answering.await.map(|()| DuStateChangeCompleteResponse {}) })
    }

    fn autonomous_du_state_change_complete<'a>(
        &'a self,
        device: &'a Device,
        message: AutonomousDuStateChangeComplete,
    ) -> Answer<'a, AutonomousDuStateChangeCompleteResponse> {
        let answering = self.0.autonomous_du_state_change_complete(device, message);
        Box::pin(async { answering.await.map(|()| AutonomousDuStateChangeCompleteResponse {}) })
    }

    fn ended(&self, device: &Device, end: SessionEnd) {
        self.0.ended(device, end);
    }
}

//! Files: downloads and uploads, and what became of them (A.3.2.8, A.3.3.2, A.3.3.3, A.4.1,
//! A.4.2.2).

use super::{Status, requests};
use deltasoap::lexical::DateTime;
use deltasoap::{Soap, SoapArray};

/// Has the device fetch a file (A.3.2.8).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct Download {
    /// Given back with what comes of the request, as in `TransferComplete`; may be empty.
    pub command_key: String,
    /// A number with a name, as in `1 Firmware Upgrade Image`.
    pub file_type: String,
    /// Where the file is.
    #[soap(name = "URL")]
    pub url: String,
    /// The user's name at the file server; empty for none.
    pub username: String,
    /// The password at the file server; empty for none.
    pub password: String,
    /// Bytes; 0 if not known.
    pub file_size: u32,
    /// The file's name on the device; empty for the device to choose.
    pub target_file_name: String,
    /// Seconds to wait after the session.
    pub delay_seconds: u32,
    /// Where a user's browser goes on after a success; empty in most cases.
    #[soap(name = "SuccessURL")]
    pub success_url: String,
    /// Where it goes on after a failure.
    #[soap(name = "FailureURL")]
    pub failure_url: String,
}

/// Whether the file was fetched (A.3.2.8).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct DownloadResponse {
    /// Done, or begun: then `TransferComplete` follows.
    pub status: Status,
    /// When the transfer began; the unknown time if it has not, or failed before.
    pub start_time: DateTime,
    /// When the transfer was complete and applied; the unknown time if it is not.
    pub complete_time: DateTime,
}

/// Has the device send a file (A.4.1.5).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct Upload {
    /// Given back with what comes of the request, as in `TransferComplete`; may be empty.
    pub command_key: String,
    /// A number with a name, as in `2 Vendor Log File`.
    pub file_type: String,
    /// Where the file goes.
    #[soap(name = "URL")]
    pub url: String,
    /// The user's name at the file server; empty for none.
    pub username: String,
    /// The password at the file server; empty for none.
    pub password: String,
    /// Seconds to wait after the session.
    pub delay_seconds: u32,
}

/// Whether the file was sent (A.4.1.5).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct UploadResponse {
    /// Done, or begun: then `TransferComplete` follows.
    pub status: Status,
    /// When the transfer began; the unknown time if it has not, or failed before.
    pub start_time: DateTime,
    /// When the transfer was complete and applied; the unknown time if it is not.
    pub complete_time: DateTime,
}

/// When a file may be fetched and applied (A.4.1.8, table 58).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "TimeWindowStruct", rename_all = "PascalCase", compact)]
pub struct TimeWindowStruct {
    /// Seconds from the request to the window's beginning.
    pub window_start: u32,
    /// Seconds from the request to the window's end.
    pub window_end: u32,
    /// `1 At Any Time` and others.
    pub window_mode: String,
    /// What to tell a user who has to confirm; may be empty.
    pub user_message: String,
    /// Tries after a failure; -1 for the device to choose.
    pub max_retries: i32,
}

/// Has the device fetch a file within time windows (A.4.1.8).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct ScheduleDownload {
    /// Given back with what comes of the request, as in `TransferComplete`; may be empty.
    pub command_key: String,
    /// A number with a name, as in `1 Firmware Upgrade Image`.
    pub file_type: String,
    /// Where the file is.
    #[soap(name = "URL")]
    pub url: String,
    /// The user's name at the file server; empty for none.
    pub username: String,
    /// The password at the file server; empty for none.
    pub password: String,
    /// Bytes; 0 if not known.
    pub file_size: u32,
    /// The file's name on the device; empty for the device to choose.
    pub target_file_name: String,
    /// One window or two.
    pub time_window_list: SoapArray<TimeWindowStruct>,
}

/// The file will be fetched; `TransferComplete` follows (A.4.1.8).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct ScheduleDownloadResponse {}

/// Takes transfers back that have not begun (A.4.1.9).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct CancelTransfer {
    /// The key of the requests that are meant.
    pub command_key: String,
}

/// The transfers will not take place (A.4.1.9).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct CancelTransferResponse {}

/// How far a transfer is (A.4.1.1, table 45).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2")]
pub enum TransferState {
    /// Not begun.
    #[soap(name = "1")]
    NotStarted,
    /// Under way.
    #[soap(name = "2")]
    InProgress,
    /// Complete, and about to be applied or told.
    #[soap(name = "3")]
    Completed,
}

/// A transfer that is not over (A.4.1.1, table 45).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "QueuedTransferStruct", rename_all = "PascalCase", compact)]
pub struct QueuedTransferStruct {
    /// The request's key.
    pub command_key: String,
    /// How far it is.
    pub state: TransferState,
}

/// A transfer that is not over (A.4.1.7, table 56).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(
    namespace = "urn:dslforum-org:cwmp-1-2",
    item_name = "AllQueuedTransferStruct",
    rename_all = "PascalCase",
    compact
)]
pub struct AllQueuedTransferStruct {
    /// The request's key; empty where the ACS did not ask for it.
    pub command_key: String,
    /// How far it is.
    pub state: TransferState,
    /// A download, or an upload.
    pub is_download: bool,
    /// A number with a name, as in `1 Firmware Upgrade Image`.
    pub file_type: String,
    /// Bytes; 0 if not known.
    pub file_size: u32,
    /// The file's name on the device; may be empty.
    pub target_file_name: String,
}

/// Asks for transfers that are not over (A.4.1.1); replaced by [`GetAllQueuedTransfers`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct GetQueuedTransfers {}

/// Transfers that the ACS has asked for (A.4.1.1).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetQueuedTransfersResponse {
    /// At most 16.
    pub transfer_list: SoapArray<QueuedTransferStruct>,
}

/// Asks for transfers that are not over (A.4.1.7).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct GetAllQueuedTransfers {}

/// Transfers, whoever has asked for them (A.4.1.7).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetAllQueuedTransfersResponse {
    /// At most 16.
    pub transfer_list: SoapArray<AllQueuedTransferStruct>,
}

/// What a transfer failed for, or that it did not (A.3.3.2, table 39).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(
    name = "TransferCompleteFaultStruct",
    namespace = "urn:dslforum-org:cwmp-1-2",
    rename_all = "PascalCase",
    compact
)]
pub struct FaultStruct {
    /// 0 for a success, else a code of [`fault`](crate::fault).
    pub fault_code: u32,
    /// A human-readable explanation; empty after a success.
    pub fault_string: String,
}

/// A transfer that the ACS has asked for is over (A.3.3.2).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct TransferComplete {
    /// The request's key.
    pub command_key: String,
    /// What it failed for, if it did.
    pub fault_struct: FaultStruct,
    /// When the transfer began; the unknown time if it has not, or failed before.
    pub start_time: DateTime,
    /// When the transfer was complete and applied; the unknown time if it is not.
    pub complete_time: DateTime,
}

/// The ACS knows (A.3.3.2).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct TransferCompleteResponse {}

/// A transfer that the ACS has not asked for is over (A.3.3.3).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct AutonomousTransferComplete {
    /// Where the transfer was announced; may be empty.
    #[soap(name = "AnnounceURL")]
    pub announce_url: String,
    /// Where the file is.
    #[soap(name = "TransferURL")]
    pub transfer_url: String,
    /// A download, or an upload.
    pub is_download: bool,
    /// A number with a name, as in `1 Firmware Upgrade Image`.
    pub file_type: String,
    /// Bytes; 0 if not known.
    pub file_size: u32,
    /// The file's name on the device; may be empty.
    pub target_file_name: String,
    /// What it failed for, if it did.
    pub fault_struct: FaultStruct,
    /// When the transfer began; the unknown time if it has not, or failed before.
    pub start_time: DateTime,
    /// When the transfer was complete and applied; the unknown time if it is not.
    pub complete_time: DateTime,
}

/// The ACS knows (A.3.3.3).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct AutonomousTransferCompleteResponse {}

/// An argument of a file type (A.4.2.2, table 63).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "ArgStruct", rename_all = "PascalCase", compact)]
pub struct ArgStruct {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// Asks the ACS for a `Download` (A.4.2.2).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct RequestDownload {
    /// A number with a name, as in `1 Firmware Upgrade Image`.
    pub file_type: String,
    /// What the file type needs besides.
    pub file_type_arg: SoapArray<ArgStruct>,
}

/// The ACS will see to it (A.4.2.2).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct RequestDownloadResponse {}

requests! {
    Download => DownloadResponse,
    Upload => UploadResponse,
    ScheduleDownload => ScheduleDownloadResponse,
    CancelTransfer => CancelTransferResponse,
    GetQueuedTransfers => GetQueuedTransfersResponse,
    GetAllQueuedTransfers => GetAllQueuedTransfersResponse,
    TransferComplete => TransferCompleteResponse,
    AutonomousTransferComplete => AutonomousTransferCompleteResponse,
    RequestDownload => RequestDownloadResponse,
}

impl Download {
    /// A file of a type from a URL, at once, and without anything else.
    pub fn new(file_type: impl Into<String>, url: impl Into<String>) -> Self {
        Download {
            command_key: String::new(),
            file_type: file_type.into(),
            url: url.into(),
            username: String::new(),
            password: String::new(),
            file_size: 0,
            target_file_name: String::new(),
            delay_seconds: 0,
            success_url: String::new(),
            failure_url: String::new(),
        }
    }
}

impl Upload {
    /// A file of a type to a URL, at once, and without anything else.
    pub fn new(file_type: impl Into<String>, url: impl Into<String>) -> Self {
        Upload {
            command_key: String::new(),
            file_type: file_type.into(),
            url: url.into(),
            username: String::new(),
            password: String::new(),
            delay_seconds: 0,
        }
    }
}

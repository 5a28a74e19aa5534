//! Files: downloads and uploads, and their results (A.3.2.8, A.3.3.2, A.3.3.3, A.4.1, A.4.2.2).

use super::{Status, requests};
use deltasoap::lexical::DateTime;
use deltasoap::{Soap, SoapArray};

/// Makes the device download a file (A.3.2.8).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct Download {
    /// Returned with the results of the request, as in `TransferComplete`; may be empty.
    pub command_key: String,
    /// A number and a name, such as `1 Firmware Upgrade Image`.
    pub file_type: String,
    /// URL of the file.
    #[soap(name = "URL")]
    pub url: String,
    /// User name for the file server; empty for none.
    pub username: String,
    /// Password for the file server; empty for none.
    pub password: String,
    /// Size in bytes; 0 if unknown.
    pub file_size: u32,
    /// The file's name on the device; empty to let the device choose.
    pub target_file_name: String,
    /// Seconds to wait after the session.
    pub delay_seconds: u32,
    /// URL where a user's browser continues after success; usually empty.
    #[soap(name = "SuccessURL")]
    pub success_url: String,
    /// URL where it continues after a failure.
    #[soap(name = "FailureURL")]
    pub failure_url: String,
}

/// Whether the file was downloaded (A.3.2.8).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct DownloadResponse {
    /// Done, or in progress: then `TransferComplete` follows.
    pub status: Status,
    /// Start of the transfer; the unknown time if it has not begun, or failed before that.
    pub start_time: DateTime,
    /// Time at which the transfer was complete and applied; the unknown time if it is not.
    pub complete_time: DateTime,
}

/// Makes the device upload a file (A.4.1.5).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct Upload {
    /// Returned with the results of the request, as in `TransferComplete`; may be empty.
    pub command_key: String,
    /// A number and a name, such as `2 Vendor Log File`.
    pub file_type: String,
    /// URL to upload to.
    #[soap(name = "URL")]
    pub url: String,
    /// User name for the file server; empty for none.
    pub username: String,
    /// Password for the file server; empty for none.
    pub password: String,
    /// Seconds to wait after the session.
    pub delay_seconds: u32,
}

/// Whether the file was uploaded (A.4.1.5).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct UploadResponse {
    /// Done, or in progress: then `TransferComplete` follows.
    pub status: Status,
    /// Start of the transfer; the unknown time if it has not begun, or failed before that.
    pub start_time: DateTime,
    /// Time at which the transfer was complete and applied; the unknown time if it is not.
    pub complete_time: DateTime,
}

/// A time window in which a file may be downloaded and applied (A.4.1.8, table 58).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "TimeWindowStruct", rename_all = "PascalCase", compact)]
pub struct TimeWindowStruct {
    /// Seconds from the request to the start of the window.
    pub window_start: u32,
    /// Seconds from the request to the end of the window.
    pub window_end: u32,
    /// `1 At Any Time` and others.
    pub window_mode: String,
    /// Message to a user who has to confirm; may be empty.
    pub user_message: String,
    /// Maximum number of retries; -1 to let the device choose.
    pub max_retries: i32,
}

/// Makes the device download a file within time windows (A.4.1.8).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct ScheduleDownload {
    /// Returned with the results of the request, as in `TransferComplete`; may be empty.
    pub command_key: String,
    /// A number and a name, such as `1 Firmware Upgrade Image`.
    pub file_type: String,
    /// URL of the file.
    #[soap(name = "URL")]
    pub url: String,
    /// User name for the file server; empty for none.
    pub username: String,
    /// Password for the file server; empty for none.
    pub password: String,
    /// Size in bytes; 0 if unknown.
    pub file_size: u32,
    /// The file's name on the device; empty to let the device choose.
    pub target_file_name: String,
    /// One or two windows.
    pub time_window_list: SoapArray<TimeWindowStruct>,
}

/// The download is scheduled; `TransferComplete` follows (A.4.1.8).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct ScheduleDownloadResponse {}

/// Cancels transfers that have not begun (A.4.1.9).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct CancelTransfer {
    /// The key of the requests to cancel.
    pub command_key: String,
}

/// The transfers are cancelled (A.4.1.9).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct CancelTransferResponse {}

/// The state of a transfer (A.4.1.1, table 45).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2")]
pub enum TransferState {
    /// Not begun.
    #[soap(name = "1")]
    NotStarted,
    /// In progress.
    #[soap(name = "2")]
    InProgress,
    /// Complete, and about to be applied or reported.
    #[soap(name = "3")]
    Completed,
}

/// A pending transfer (A.4.1.1, table 45).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "QueuedTransferStruct", rename_all = "PascalCase", compact)]
pub struct QueuedTransferStruct {
    /// The request's key.
    pub command_key: String,
    /// The state of the transfer.
    pub state: TransferState,
}

/// A pending transfer (A.4.1.7, table 56).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(
    namespace = "urn:dslforum-org:cwmp-1-2",
    item_name = "AllQueuedTransferStruct",
    rename_all = "PascalCase",
    compact
)]
pub struct AllQueuedTransferStruct {
    /// The request's key; empty if the ACS did not request it.
    pub command_key: String,
    /// The state of the transfer.
    pub state: TransferState,
    /// True for a download, false for an upload.
    pub is_download: bool,
    /// A number and a name, such as `1 Firmware Upgrade Image`.
    pub file_type: String,
    /// Size in bytes; 0 if unknown.
    pub file_size: u32,
    /// The file's name on the device; may be empty.
    pub target_file_name: String,
}

/// Asks for pending transfers (A.4.1.1); superseded by [`GetAllQueuedTransfers`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct GetQueuedTransfers {}

/// Pending transfers that the ACS requested (A.4.1.1).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetQueuedTransfersResponse {
    /// At most 16.
    pub transfer_list: SoapArray<QueuedTransferStruct>,
}

/// Asks for pending transfers (A.4.1.7).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct GetAllQueuedTransfers {}

/// All pending transfers, requested by the ACS or not (A.4.1.7).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetAllQueuedTransfersResponse {
    /// At most 16.
    pub transfer_list: SoapArray<AllQueuedTransferStruct>,
}

/// The error of a transfer, or success (A.3.3.2, table 39).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(
    name = "TransferCompleteFaultStruct",
    namespace = "urn:dslforum-org:cwmp-1-2",
    rename_all = "PascalCase",
    compact
)]
pub struct FaultStruct {
    /// 0 for success, otherwise a code of [`fault`](crate::fault).
    pub fault_code: u32,
    /// A human-readable explanation; empty for success.
    pub fault_string: String,
}

/// A transfer that the ACS requested has ended (A.3.3.2).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct TransferComplete {
    /// The request's key.
    pub command_key: String,
    /// The error, if it failed.
    pub fault_struct: FaultStruct,
    /// Start of the transfer; the unknown time if it has not begun, or failed before that.
    pub start_time: DateTime,
    /// Time at which the transfer was complete and applied; the unknown time if it is not.
    pub complete_time: DateTime,
}

/// Acknowledges the end of the transfer (A.3.3.2).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct TransferCompleteResponse {}

/// A transfer that the ACS did not request has ended (A.3.3.3).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct AutonomousTransferComplete {
    /// URL where the transfer was announced; may be empty.
    #[soap(name = "AnnounceURL")]
    pub announce_url: String,
    /// URL of the file.
    #[soap(name = "TransferURL")]
    pub transfer_url: String,
    /// True for a download, false for an upload.
    pub is_download: bool,
    /// A number and a name, such as `1 Firmware Upgrade Image`.
    pub file_type: String,
    /// Size in bytes; 0 if unknown.
    pub file_size: u32,
    /// The file's name on the device; may be empty.
    pub target_file_name: String,
    /// The error, if it failed.
    pub fault_struct: FaultStruct,
    /// Start of the transfer; the unknown time if it has not begun, or failed before that.
    pub start_time: DateTime,
    /// Time at which the transfer was complete and applied; the unknown time if it is not.
    pub complete_time: DateTime,
}

/// Acknowledges the end of the transfer (A.3.3.3).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct AutonomousTransferCompleteResponse {}

/// An argument of a file type (A.4.2.2, table 63).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "ArgStruct", rename_all = "PascalCase", compact)]
pub struct ArgStruct {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// Asks the ACS for a `Download` (A.4.2.2).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct RequestDownload {
    /// A number and a name, such as `1 Firmware Upgrade Image`.
    pub file_type: String,
    /// Additional arguments for the file type.
    pub file_type_arg: SoapArray<ArgStruct>,
}

/// The ACS will handle it (A.4.2.2).
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
    /// Creates a request to download a file of a type from a URL, immediately and without other
    /// settings.
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
    /// Creates a request to upload a file of a type to a URL, immediately and without other
    /// settings.
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

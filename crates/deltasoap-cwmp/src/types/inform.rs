//! The messages that begin a session (A.3.3.1).

use super::{ParameterValueStruct, requests};
use deltasoap::lexical::DateTime;
use deltasoap::{Soap, SoapArray};

/// Identifies a device (A.3.3.1, table 36): OUI, product class and serial number together are
/// unique.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Soap)]
#[soap(name = "DeviceIdStruct", namespace = "urn:dslforum-org:cwmp-1-2", rename_all = "PascalCase")]
pub struct DeviceId {
    /// The manufacturer's name, for display.
    pub manufacturer: String,
    /// Six upper-case hexadecimal digits that identify the manufacturer.
    #[soap(name = "OUI")]
    pub oui: String,
    /// The class of products within which the serial number is unique; may be empty.
    pub product_class: String,
    /// The serial number.
    pub serial_number: String,
}

/// The reason for a session (section 3.7.1.5).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "EventStruct", rename_all = "PascalCase")]
pub struct EventStruct {
    /// A code, such as `2 PERIODIC`.
    pub event_code: String,
    /// The key of the command that caused the event; empty for most events.
    pub command_key: String,
}

/// Begins a session (A.3.3.1).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase")]
pub struct Inform {
    /// The device.
    pub device_id: DeviceId,
    /// The reasons for the session.
    pub event: SoapArray<EventStruct>,
    /// Always 1.
    pub max_envelopes: u32,
    /// The device's clock.
    pub current_time: DateTime,
    /// Number of failed attempts of this session.
    pub retry_count: u32,
    /// Parameters that are always reported, and those that have changed.
    pub parameter_list: SoapArray<ParameterValueStruct>,
}

/// Accepts a session (A.3.3.1).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase")]
pub struct InformResponse {
    /// Always 1.
    pub max_envelopes: u32,
}

/// A user was redirected to the device's page (A.4.2.1).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct Kicked {
    /// The command's name.
    pub command: String,
    /// The page that the user came from.
    pub referer: String,
    /// An argument from the page.
    pub arg: String,
    /// The page that the user wants to see next.
    pub next: String,
}

/// Gives the page where the user continues (A.4.2.1).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct KickedResponse {
    /// A URL.
    #[soap(name = "NextURL")]
    pub next_url: String,
}

requests! { Inform => InformResponse, Kicked => KickedResponse }

impl EventStruct {
    /// Creates an event without a command key.
    pub fn new(code: impl Into<String>) -> Self {
        Self::with_command_key(code, "")
    }

    /// Creates an event that a command caused.
    pub fn with_command_key(code: impl Into<String>, key: impl Into<String>) -> Self {
        EventStruct { event_code: code.into(), command_key: key.into() }
    }
}

/// Event codes (section 3.7.1.5, table 8).
pub mod event {
    /// The first session ever, with this ACS, or after a factory reset.
    pub const BOOTSTRAP: &str = "0 BOOTSTRAP";
    /// The device has started.
    pub const BOOT: &str = "1 BOOT";
    /// The periodic interval has elapsed.
    pub const PERIODIC: &str = "2 PERIODIC";
    /// The time set by `ScheduleInform` has come.
    pub const SCHEDULED: &str = "3 SCHEDULED";
    /// A parameter with notification has changed.
    pub const VALUE_CHANGE: &str = "4 VALUE CHANGE";
    /// A user was redirected to the device's page.
    pub const KICKED: &str = "5 KICKED";
    /// A connection request was received.
    pub const CONNECTION_REQUEST: &str = "6 CONNECTION REQUEST";
    /// A transfer that the ACS requested is complete, or failed.
    pub const TRANSFER_COMPLETE: &str = "7 TRANSFER COMPLETE";
    /// A diagnostic test is complete.
    pub const DIAGNOSTICS_COMPLETE: &str = "8 DIAGNOSTICS COMPLETE";
    /// The device will call `RequestDownload`.
    pub const REQUEST_DOWNLOAD: &str = "9 REQUEST DOWNLOAD";
    /// A transfer that the ACS did not request is complete.
    pub const AUTONOMOUS_TRANSFER_COMPLETE: &str = "10 AUTONOMOUS TRANSFER COMPLETE";
    /// A `ChangeDUState` is complete.
    pub const DU_STATE_CHANGE_COMPLETE: &str = "11 DU STATE CHANGE COMPLETE";
    /// A deployment unit was changed without a request of the ACS.
    pub const AUTONOMOUS_DU_STATE_CHANGE_COMPLETE: &str = "12 AUTONOMOUS DU STATE CHANGE COMPLETE";
    /// The device woke up, or is about to.
    pub const WAKEUP: &str = "13 WAKEUP";
    /// The device restarted at the request of the ACS.
    pub const M_REBOOT: &str = "M Reboot";
    /// Accompanies [`SCHEDULED`].
    pub const M_SCHEDULE_INFORM: &str = "M ScheduleInform";
    /// Accompanies [`TRANSFER_COMPLETE`] after a download.
    pub const M_DOWNLOAD: &str = "M Download";
    /// Accompanies [`TRANSFER_COMPLETE`] after a scheduled download.
    pub const M_SCHEDULE_DOWNLOAD: &str = "M ScheduleDownload";
    /// Accompanies [`TRANSFER_COMPLETE`] after an upload.
    pub const M_UPLOAD: &str = "M Upload";
    /// Accompanies [`DU_STATE_CHANGE_COMPLETE`].
    pub const M_CHANGE_DU_STATE: &str = "M ChangeDUState";
}
